//! Signing in to an MCP service through the binary: the client's key comes from a variable, the
//! service checks the assertion, and nothing that is kept or printed has a part of either.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pretty_assertions::assert_eq;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey,
};
use serde_json::{Value, json};

use crate::support::model_server::{Answer, Asked, ModelServer};
use crate::support::stage::{Ran, Stage};

/// Returns a key as PKCS#8 in base64, and its public half.
fn key() -> (String, Vec<u8>) {
    let (how, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let made = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(how, made.as_ref(), &random).unwrap();
    (STANDARD.encode(made.as_ref()), pair.public_key().as_ref().to_vec())
}

fn pem(letters: &str) -> String {
    let (first, second) = letters.split_at(64);
    format!("-----BEGIN PRIVATE KEY-----\n{first}\n{second}\n-----END PRIVATE KEY-----\n")
}

/// Returns the claims of a request for a token, where its signature holds.
fn claims_of(asked: &Asked, public: &[u8]) -> Option<Value> {
    let (_, assertion) = asked.body.split_once("&client_assertion=")?;
    let (message, signature) = assertion.rsplit_once('.')?;
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
    public.verify(message.as_bytes(), &bytes(signature)?).ok()?;
    serde_json::from_slice(&bytes(message.split_once('.')?.1)?).ok()
}

/// A service with one tool, which is also what gives out its tokens, to who has this key.
fn service(public: Vec<u8>) -> ModelServer {
    ModelServer::start_with(move |asked| {
        let origin = format!("http://{}", asked.header("host").unwrap_or_default());
        match asked.path.as_str() {
            "/.well-known/oauth-protected-resource/v1" => Answer::json(
                200,
                &json!({ "resource": format!("{origin}/v1"), "authorization_servers": [origin] }),
            ),
            "/.well-known/oauth-authorization-server" => Answer::json(
                200,
                &json!({
                    "issuer": origin,
                    "token_endpoint": format!("{origin}/token"),
                    "token_endpoint_auth_methods_supported": ["private_key_jwt"],
                    "token_endpoint_auth_signing_alg_values_supported": ["ES256"]
                }),
            ),
            "/token" => match claims_of(asked, &public) {
                Some(claims) if claims["aud"] == origin.as_str() && claims["sub"] == "ci" => {
                    let token =
                        json!({ "access_token": "token-number-one", "token_type": "Bearer" });
                    Answer::json(200, &token)
                }
                Some(_) | None => Answer::json(401, &json!({ "error": "invalid_client" })),
            },
            _ if asked.header("authorization") != Some("Bearer token-number-one") => {
                let mut answer = Answer::plain(401, "text/plain", "who are you");
                answer.headers.push(("www-authenticate".into(), "Bearer".into()));
                answer
            }
            _ => tool(&asked.json()),
        }
    })
}

fn tool(message: &Value) -> Answer {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } }),
        "tools/list" => {
            json!({ "tools": [{ "name": "ticket", "inputSchema": { "type": "object" } }] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "ticket 7 is open" }] }),
        _ => return Answer::plain(202, "text/plain", ""),
    };
    Answer::json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

/// A repository with that service, under a policy that lists the variable of its key, or none.
fn stage(server: &ModelServer, variables: &str) -> Stage {
    let port = server.base_url.trim_start_matches("http://").trim_end_matches("/v1");
    let policy = format!(
        "version: 1\nmodes: {{ default: code, allow: [code], accept_risk: {{ code: a test with nothing worth taking }} }}\n\
         mcp: {{ env: {{ docs: [{variables}] }}, loopback: {{ docs: ['{port}'] }} }}\n\
         rules: [{{ allow: ['mcp(docs/*)', 'read(**)'] }}]\n"
    );
    let config = format!(
        "mcp:\n  docs:\n    url: {}\n    oauth: {{ client_id: ci, private_key_env: DOCS_KEY }}\n",
        server.base_url
    );
    let calls = json!([{ "tool": "mcp--docs--ticket", "args": {} }]);
    let end = json!([{ "tool": "attempt_completion", "args": { "result": "Done." } }]);
    let script =
        json!({ "version": 1, "tasks": [{ "turns": [{ "calls": calls }, { "calls": end }] }] });
    let stage = Stage::with(&[(".locum/policy.yml", &policy), (".locum/config.yml", &config)]);
    stage.write("script.yml", &script.to_string());
    stage
}

fn run(stage: &Stage, key: &str) -> Ran {
    let script = stage.path("script.yml");
    let words = ["run", "Do the task.", "--output-format", "json", "--script"];
    let mut command = stage.locum(&[&words[..], &[script.to_str().unwrap()]].concat());
    command.env("DOCS_KEY", key).output().unwrap().into()
}

fn list(stage: &Stage, key: &str) -> String {
    let ran: Ran = stage.locum(&["mcp", "list"]).env("DOCS_KEY", key).output().unwrap().into();
    ran.out
}

/// Returns every file below a folder, as text.
fn everything(folder: &std::path::Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.map(|path| match path.is_dir() {
        true => everything(&path),
        false => String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
    });
    texts.collect()
}

#[test]
fn a_run_signs_in_with_its_key_and_keeps_no_part_of_it() {
    let (letters, public) = key();
    let mut server = service(public.clone());
    let stage = stage(&server, "DOCS_KEY");
    assert!(list(&stage, &pem(&letters)).contains("allowed"), "{}", list(&stage, &pem(&letters)));
    let ran = run(&stage, &pem(&letters));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers = stage.answers();
    assert!(answers[0].1.contains("ticket 7 is open"), "{answers:?}");
    let tokens: Vec<&Asked> = server.asked().iter().filter(|one| one.path == "/token").collect();
    let [token] = tokens.as_slice() else { panic!("{tokens:?}") };
    assert_eq!(claims_of(token, &public).unwrap()["iss"], "ci");
    let assertion = token.body.split_once("&client_assertion=").unwrap().1;
    let (_, signature) = assertion.rsplit_once('.').unwrap();
    let kept = format!("{}{}{}", ran.out, ran.err, everything(&stage.path("state")));
    for part in [&letters[..64], &letters[64..], "PRIVATE KEY", signature, "token-number-one"] {
        assert!(!kept.contains(part), "{part}");
    }
}

#[test]
fn a_key_that_cannot_be_had_or_read_is_named_with_its_place() {
    let (letters, public) = key();
    let mut server = service(public);
    for (variables, key, listed, noted) in [
        ("", pem(&letters), "`DOCS_KEY` has no value: list it in the policy", None),
        ("DOCS_KEY", String::new(), "`DOCS_KEY` has no value", None),
        (
            "DOCS_KEY",
            pem(&letters).replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
            "the private key in `DOCS_KEY` is encrypted",
            Some(
                "The MCP server `docs` did not start: .locum/config.yml:4: `oauth`: the private \
                  key in `DOCS_KEY` is encrypted, and nobody can be asked for its passphrase",
            ),
        ),
    ] {
        let stage = stage(&server, variables);
        let shown = list(&stage, &key);
        assert!(shown.contains("refused") && shown.contains(listed), "{listed}: {shown}");
        let ran = run(&stage, &key);
        assert!(noted.is_none_or(|noted| ran.out.contains(noted)), "{ran:?}");
        assert!(!ran.out.contains(&letters[..20]) && !ran.err.contains(&letters[..20]), "{ran:?}");
    }
    let tokens = server.asked().iter().filter(|one| one.path == "/token").count();
    assert_eq!(tokens, 0, "{:?}", server.asked());
}
