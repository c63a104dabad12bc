//! Services that want a token: where it is asked for, what goes there, and what is kept from whom.

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pretty_assertions::assert_eq;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

use super::service_fixture::{ServiceFixture, ServiceRequest, reply, said, standings};
use crate::tools::mcp::signing_key::test_keys::{EC_PUBLIC, EC_SEC1, decoded};

const POLICY: &str = "
version: 1
network: { allow: ['http://elsewhere.example'] }
mcp: { loopback: { docs: ['localhost:4040', '127.0.0.1:4050'] } }
rules: [{ allow: 'mcp(docs/*)' }]
";

const DOCS: &str = r#"{ "mcpServers": { "docs": {
    "type": "http", "url": "http://localhost:4040/mcp",
    "oauth": { "clientId": "ci", "clientSecretEnv": "KEY" }
} } }"#;

/// What the parts of a sign-in say.
#[derive(Clone)]
struct SignIn {
    challenge: &'static str,
    resource: Value,
    issuer: Value,
    token: Value,
    status: u16,
}

fn sign_in() -> SignIn {
    SignIn {
        challenge: "Bearer error=\"invalid_token\", \
                    resource_metadata=\"http://localhost:4040/meta\", scope=\"read\"",
        resource: json!({
            "resource": "http://localhost:4040/mcp",
            "authorization_servers": ["http://127.0.0.1:4050/tenant"],
            "scopes_supported": ["read", "write"]
        }),
        issuer: json!({
            "issuer": "http://127.0.0.1:4050/tenant",
            "token_endpoint": "http://127.0.0.1:4050/token"
        }),
        token: json!({ "access_token": "token-number-one", "token_type": "bearer" }),
        status: 200,
    }
}

impl SignIn {
    fn answer(&self, request: &ServiceRequest) -> Response {
        let json = |value: &Value| reply(200, "application/json", value.to_string());
        match (request.verb.as_str(), request.path.as_str()) {
            ("GET", "/meta" | "/.well-known/oauth-protected-resource/mcp") => json(&self.resource),
            ("GET", "/.well-known/oauth-authorization-server/tenant") => json(&self.issuer),
            ("POST", "/token") => reply(self.status, "application/json", self.token.to_string()),
            ("POST", "/mcp") if request.header("authorization") != "Bearer token-number-one" => {
                let mut response = reply(401, "text/plain", "who are you");
                let challenge = self.challenge.parse().unwrap();
                response.headers_mut().insert("www-authenticate", challenge);
                response
            }
            ("POST", "/mcp") if request.method() == "tools/call" => {
                let echo = request.header("authorization");
                reply(200, "application/json", request.answer(said(echo)))
            }
            ("POST", "/mcp") => request.plain(&["say"]),
            _ => reply(404, "text/plain", "nothing"),
        }
    }

    fn serve(self) -> ServiceFixture {
        ServiceFixture::new(POLICY, move |request| self.answer(request))
    }

    /// Returns how the server stands, and every request.
    fn outcome(self) -> (String, Vec<ServiceRequest>) {
        let service = self.serve();
        let standing = standings(&service.open(DOCS)).concat();
        (standing, service.requests())
    }
}

/// Whether the secret is in a request, in any of the two forms.
fn holds_secret(request: &ServiceRequest) -> bool {
    let all = format!("{request:?}");
    all.contains("the-key-of-the-service") || request.header("authorization").starts_with("Basic")
}

#[test]
fn a_client_signs_in_by_its_own_credentials_and_its_token_stays_with_the_service() {
    let service = sign_in().serve();
    let servers = service.open(DOCS);
    assert_eq!(standings(&servers), ["docs: ready"]);
    let answer = service.call(&servers, "docs", "say").unwrap();
    assert_eq!(answer["content"][0]["text"], "Bearer ***", "the model does not see it");
    let requests = service.requests();
    let token: Vec<&ServiceRequest> = requests.iter().filter(|one| one.path == "/token").collect();
    let [token] = token.as_slice() else { panic!("{requests:?}") };
    assert_eq!(
        token.text,
        "grant_type=client_credentials&resource=http%3A%2F%2Flocalhost%3A4040%2Fmcp&scope=read"
    );
    assert_eq!(token.header("content-type"), "application/x-www-form-urlencoded");
    // `ci:the-key-of-the-service`
    assert_eq!(token.header("authorization"), "Basic Y2k6dGhlLWtleS1vZi10aGUtc2VydmljZQ==");
    for request in &requests {
        assert_eq!(holds_secret(request), request.path == "/token", "{request:?}");
        let has_token = request.header("authorization").starts_with("Bearer");
        assert!(!has_token || request.path == "/mcp", "{request:?}");
    }
    let addresses = service.connected();
    assert!(addresses.iter().all(|one| one == "127.0.0.1:4040" || one == "127.0.0.1:4050"));
}

#[test]
fn what_the_parts_say_decides_how_a_token_is_asked_for() {
    let mut usual = sign_in();
    usual.challenge = "Bearer";
    usual.issuer["token_endpoint_auth_methods_supported"] = json!(["client_secret_post"]);
    let (standing, requests) = usual.outcome();
    assert_eq!(standing, "docs: ready");
    let token = requests.iter().find(|one| one.path == "/token").unwrap();
    assert!(
        token
            .text
            .ends_with("&scope=read%20write&client_id=ci&client_secret=the-key-of-the-service"),
        "{}",
        token.text
    );
    assert_eq!(token.header("authorization"), "");

    let service = sign_in().serve();
    let scoped = DOCS.replace("\"KEY\"", "\"KEY\", \"scopes\": [\"admin\"]");
    assert_eq!(standings(&service.open(&scoped)), ["docs: ready"]);
    let requests = service.requests();
    let token = requests.iter().find(|one| one.path == "/token").unwrap();
    assert!(token.text.ends_with("&scope=admin"), "{}", token.text);
}

#[test]
fn no_other_part_is_asked_than_the_policy_and_the_service_name() {
    let with = |change: fn(&mut SignIn)| {
        let mut changed = sign_in();
        change(&mut changed);
        changed
    };
    for (changed, why) in [
        (
            with(|it| it.challenge = "Bearer resource_metadata=\"http://elsewhere.example/meta\""),
            "which is not its own",
        ),
        (
            with(|it| it.resource["resource"] = json!("http://localhost:4041/mcp")),
            "is about `http://localhost:4041/mcp`, not about",
        ),
        (
            with(|it| it.resource["resource"] = json!("http://localhost:4040/mc")),
            "is about `http://localhost:4040/mc`, not about",
        ),
        (with(|it| it.resource = json!({})), "is about ``"),
        (
            with(|it| it.resource["authorization_servers"] = json!(["http://127.0.0.1:4051"])),
            "`mcp.loopback` does not list it for `docs`",
        ),
        (
            with(|it| it.resource["authorization_servers"] = json!(["https://unnamed.example"])),
            "is not in `network.allow`",
        ),
        (
            with(|it| it.resource["authorization_servers"] = json!(["http://elsewhere.example"])),
            "the connection would not be encrypted",
        ),
        (with(|it| it.resource["authorization_servers"] = json!([])), "does not say who"),
        (
            with(|it| it.issuer["issuer"] = json!("http://127.0.0.1:4050/other")),
            "says that it is `http://127.0.0.1:4050/other`",
        ),
        (
            with(|it| it.issuer["token_endpoint"] = json!("http://elsewhere.example/token")),
            "the connection would not be encrypted",
        ),
        (
            with(|it| it.issuer["token_endpoint"] = json!("https://unnamed.example/token")),
            "is not in `network.allow`",
        ),
        (
            with(|it| it.issuer["grant_types_supported"] = json!(["authorization_code"])),
            "gives none for a client's own credentials",
        ),
        (
            with(|it| {
                it.issuer["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"])
            }),
            "takes no client's secret",
        ),
    ] {
        let (standing, requests) = changed.outcome();
        assert!(standing.contains(why), "{why}: {standing}");
        assert!(!requests.iter().any(holds_secret), "{why}: {requests:?}");
    }
}

#[test]
fn a_refused_or_odd_token_ends_the_try_and_tells_no_secret() {
    let with = |change: fn(&mut SignIn)| {
        let mut changed = sign_in();
        change(&mut changed);
        changed
    };
    for (changed, why) in [
        (
            with(|it| {
                it.status = 400;
                it.token = json!({ "error": "invalid_client" });
            }),
            "none is given out (status 400): invalid_client",
        ),
        (with(|it| it.token = json!({ "access_token": "x" })), "no bearer token"),
        (
            with(|it| it.token = json!({ "access_token": "a\r\nb", "token_type": "Bearer" })),
            "no bearer token",
        ),
        (
            with(|it| it.token["access_token"] = json!("token-number-two")),
            "it answered with status 401: who are you",
        ),
        (
            with(|it| it.token["access_token"] = json!("x".repeat(100_000))),
            "is not asked for one: the response of `127.0.0.1:4050` cannot be read",
        ),
    ] {
        let (standing, requests) = changed.outcome();
        assert!(standing.contains(why), "{why}: {standing}");
        assert!(!standing.contains("the-key") && !standing.contains("token-number"), "{standing}");
        let tokens = requests.iter().filter(|one| one.path == "/token").count();
        assert_eq!(tokens, 1, "one try a request: {why}");
    }
}

/// Returns what is signed, the claims in it and the signature, of a request for a token.
fn assertion_of(request: &ServiceRequest) -> (String, Value, Vec<u8>) {
    let kind = "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer";
    let before = format!("&scope=read&client_assertion_type={kind}&client_assertion=");
    let (_, assertion) = request.text.split_once(&before).unwrap();
    let (message, signature) = assertion.rsplit_once('.').unwrap();
    let (_, claims) = message.split_once('.').unwrap();
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    (message.to_owned(), serde_json::from_slice(&bytes(claims)).unwrap(), bytes(signature))
}

#[test]
fn a_client_with_a_key_signs_in_by_an_assertion_that_only_the_place_of_tokens_gets() {
    let mut parts = sign_in();
    parts.issuer["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
    let service = parts.serve();
    let signed = DOCS.replace(
        "\"clientSecretEnv\": \"KEY\"",
        "\"privateKeyEnv\": \"SIGNING_KEY\", \"keyId\": \"1\"",
    );
    assert_eq!(standings(&service.open(&signed)), ["docs: ready"]);
    let requests = service.requests();
    let token: Vec<&ServiceRequest> = requests.iter().filter(|one| one.path == "/token").collect();
    let [token] = token.as_slice() else { panic!("{requests:?}") };
    let (message, claims, signature) = assertion_of(token);
    assert_eq!((&claims["iss"], &claims["sub"]), (&json!("ci"), &json!("ci")));
    assert_eq!(claims["aud"], "http://127.0.0.1:4050/tenant");
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(EC_PUBLIC));
    assert_eq!(public.verify(message.as_bytes(), &signature), Ok(()));
    assert_eq!(token.header("authorization"), "");
    for request in &requests {
        let all = format!("{request:?}");
        assert!(!all.contains("PRIVATE KEY") && !all.contains(&EC_SEC1[..40]), "{all}");
        assert_eq!(all.contains(&message), request.path == "/token", "{all}");
    }
}

#[test]
fn without_a_key_that_the_server_takes_nothing_is_signed() {
    let by = |variable: &str| {
        DOCS.replace("clientSecretEnv", "privateKeyEnv").replace("\"KEY\"", variable)
    };
    let wrong = "\"SIGNING_KEY\", \"signingAlgorithm\": \"RS256\"";
    let (basic, other) = (json!(["client_secret_basic"]), json!("http://127.0.0.1:4050/other"));
    for (definition, methods, issuer, why) in [
        (
            by("\"KEY\""),
            None,
            None,
            ".mcp.json:1: `oauth`: the private key in `KEY` is no PEM text",
        ),
        (by(wrong), None, None, "`SIGNING_KEY` is an EC key, which cannot sign with RS256"),
        (by("\"NONE\""), None, None, "`NONE` has no value"),
        (by("\"SIGNING_KEY\""), Some(basic), None, "takes no assertion that a client signs"),
        (by("\"SIGNING_KEY\""), None, Some(other), "says that it is"),
        (
            by("\"SIGNING_KEY\", \"issuer\": \"https://login.example\""),
            None,
            None,
            "which `oauth.issuer` does",
        ),
    ] {
        let mut parts = sign_in();
        if let Some(methods) = methods {
            parts.issuer["token_endpoint_auth_methods_supported"] = methods;
        }
        if let Some(issuer) = issuer {
            parts.issuer["issuer"] = issuer;
        }
        let service = parts.serve();
        let standing = standings(&service.open(&definition)).concat();
        assert!(standing.contains(why), "{why}: {standing}");
        assert!(!standing.contains("the-key-of-the-service"), "{standing}");
        let requests = service.requests();
        assert!(!requests.iter().any(|one| one.path == "/token"), "{why}: {requests:?}");
    }
}

#[test]
fn an_error_that_repeats_the_assertion_is_shown_without_it() {
    let service = ServiceFixture::new(POLICY, move |request| match request.path.as_str() {
        "/token" => {
            let (_, assertion) = request.text.split_once("client_assertion=").unwrap();
            let said = json!({ "error": format!("no: {assertion}") });
            reply(400, "application/json", said.to_string())
        }
        _ => sign_in().answer(request),
    });
    let signed = DOCS.replace("clientSecretEnv", "privateKeyEnv").replace("KEY", "SIGNING_KEY");
    let standing = standings(&service.open(&signed)).concat();
    assert!(standing.contains("none is given out (status 400): no: ***"), "{standing}");
    assert!(!standing.contains("eyJ"), "{standing}");
}

#[test]
fn without_a_client_nothing_is_asked_for() {
    let service = sign_in().serve();
    let plain = r#"{ "mcpServers": { "docs": { "url": "http://localhost:4040/mcp" } } }"#;
    let standing = standings(&service.open(plain)).concat();
    assert!(standing.contains("it answered with status 401: who are you"), "{standing}");
    assert_eq!(service.requests().len(), 1);
}

#[test]
fn only_the_issuer_of_the_definition_learns_the_secret() {
    for (issuer, is_ready) in [
        ("http://127.0.0.1:4050/tenant", true),
        ("http://127.0.0.1:4050/tenant/", true),
        ("http://127.0.0.1:4050/other", false),
        ("http://localhost:4040", false),
    ] {
        let service = sign_in().serve();
        let pinned = format!("\"clientSecretEnv\": \"KEY\", \"issuer\": \"{issuer}\"");
        let standing =
            standings(&service.open(&DOCS.replace("\"clientSecretEnv\": \"KEY\"", &pinned)))
                .concat();
        assert_eq!(standing == "docs: ready", is_ready, "{issuer}: {standing}");
        let asked = service.requests().iter().any(holds_secret);
        assert_eq!(asked, is_ready, "{issuer}");
        assert!(is_ready || standing.contains("`oauth.issuer`"), "{standing}");
    }
}

#[test]
fn a_token_that_could_stand_for_what_hides_it_is_none() {
    for token in ["*", "a*b", "a b", ""] {
        let token = json!({ "access_token": token, "token_type": "bearer" });
        let (standing, _) = SignIn { token, ..sign_in() }.outcome();
        assert!(standing.contains("no bearer token"), "{standing}");
    }
}
