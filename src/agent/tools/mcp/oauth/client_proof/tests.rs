//! What proves who a client is: what an assertion says, that its signature holds, and which way is
//! taken for which authorization server.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use pretty_assertions::assert_eq;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};

use super::ClientProof;
use crate::tools::mcp::definition::oauth::{ClientAuthentication, OauthClient};
use crate::tools::mcp::oauth::metadata::AuthorizationServer;
use crate::tools::mcp::signing_key::test_keys::{EC_PUBLIC, RSA_PKCS8, decoded, ec_key, pem};
use crate::tools::mcp::signing_key::{SigningAlgorithm, SigningKey};
use locum_base::secret::Secret;
use locum_policy::urls::WebUrl;

fn server(more: Value) -> AuthorizationServer {
    let mut said = json!({
        "issuer": "https://login.example/tenant/",
        "token_endpoint": "https://login.example/token"
    });
    said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    AuthorizationServer::parse(&said, &WebUrl::parse("https://login.example/tenant")).unwrap()
}

fn client(authentication: ClientAuthentication) -> OauthClient {
    OauthClient {
        id: "ci".to_owned(),
        authentication,
        secret_env: "KEY".to_owned(),
        secret: Secret::new("a secret"),
        issuer: None,
        scopes: Vec::new(),
    }
}

fn signing(key_id: Option<&str>, algorithm: Option<SigningAlgorithm>) -> OauthClient {
    let key_id = key_id.map(str::to_owned);
    client(ClientAuthentication::SignedAssertion { key_id, algorithm })
}

/// Returns the header, the claims, what is signed, and the signature.
fn parts(proof: &ClientProof) -> (Value, Value, String, Vec<u8>) {
    assert_eq!(proof.header, None);
    let [(kind, said), (name, assertion)] = proof.fields.as_slice() else { panic!("{proof:?}") };
    assert_eq!((*kind, *name), ("client_assertion_type", "client_assertion"));
    assert_eq!(said.expose(), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    let (message, signature) = assertion.expose().rsplit_once('.').unwrap();
    let (header, claims) = message.split_once('.').unwrap();
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
    let json = |text: &str| serde_json::from_slice(&bytes(text)).unwrap();
    (json(header), json(claims), message.to_owned(), bytes(signature))
}

#[test]
fn an_assertion_is_for_one_server_and_a_minute_and_its_signature_holds() {
    let key = SigningKey::parse(&ec_key()).unwrap();
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    let made =
        |client: &OauthClient| ClientProof::by_key(client, &key, &server(json!({})), now).unwrap();
    let proof = made(&signing(Some("key \"1\""), None));
    let (header, claims, message, signature) = parts(&proof);
    assert_eq!(header, json!({ "kid": "key \"1\"", "alg": "ES256", "typ": "JWT" }));
    let expected = json!({
        "iss": "ci", "sub": "ci", "aud": "https://login.example/tenant/",
        "iat": 1_700_000_000, "exp": 1_700_000_060, "jti": claims["jti"]
    });
    assert_eq!(claims, expected);
    assert_eq!(claims["jti"].as_str().unwrap().len(), 22);
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(EC_PUBLIC));
    assert_eq!(public.verify(message.as_bytes(), &signature), Ok(()));
    let (header, other, ..) = parts(&made(&signing(None, None)));
    assert_eq!(header, json!({ "alg": "ES256", "typ": "JWT" }), "no key is named unasked");
    assert_ne!(other["jti"], claims["jti"], "each is for one request");
    assert!(!format!("{proof:?}").contains("eyJ"), "{proof:?}");
}

#[test]
fn the_algorithm_is_one_that_key_definition_and_server_have_in_common() {
    let rsa = SigningKey::parse(&pem("PRIVATE KEY", &decoded(RSA_PKCS8))).unwrap();
    let ec = SigningKey::parse(&ec_key()).unwrap();
    let listed = |names: &[&str]| {
        json!({
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_basic"],
            "token_endpoint_auth_signing_alg_values_supported": names
        })
    };
    let asked = Some(SigningAlgorithm::Ps256);
    for (key, algorithm, said, expected) in [
        (&ec, None, json!({}), Ok("ES256")),
        (&ec, None, listed(&["RS256", "ES256"]), Ok("ES256")),
        (&rsa, None, json!({}), Ok("RS256")),
        (&rsa, None, listed(&["PS256", "RS256"]), Ok("RS256")),
        (&rsa, None, listed(&["ES256", "PS256"]), Ok("PS256")),
        (&rsa, asked, listed(&["PS256", "RS256"]), Ok("PS256")),
        (
            &rsa,
            asked,
            listed(&["RS256"]),
            Err("`https://login.example/tenant/` takes signatures by `RS256`, and the client \
                 signs by `PS256`"),
        ),
        (&rsa, None, listed(&["ES256"]), Err("and the client signs by `RS256`, `PS256`")),
        (&ec, None, listed(&[]), Err("takes signatures by none")),
        (
            &ec,
            None,
            json!({ "token_endpoint_auth_methods_supported": ["client_secret_basic"] }),
            Err("takes no assertion that a client signs (`private_key_jwt`); it takes \
                 `client_secret_basic`"),
        ),
    ] {
        let client = signing(None, algorithm);
        let made = ClientProof::by_key(&client, key, &server(said.clone()), Timestamp::UNIX_EPOCH);
        match (made, expected) {
            (Ok(proof), Ok(name)) => assert_eq!(parts(&proof).0["alg"], name, "{said}"),
            (Err(why), Err(told)) => assert!(why.contains(told), "{told}: {why}"),
            (made, expected) => panic!("{said}: {made:?}, not {expected:?}"),
        }
    }
}

#[test]
fn a_secret_goes_where_the_server_takes_it_and_never_to_one_that_takes_keys_only() {
    let methods = |names: &[&str]| json!({ "token_endpoint_auth_methods_supported": names });
    let client = client(ClientAuthentication::Secret);
    for (said, expected) in [
        (json!({}), Ok(true)),
        (methods(&["client_secret_post", "client_secret_basic"]), Ok(true)),
        (methods(&["private_key_jwt", "client_secret_post"]), Ok(false)),
        (
            methods(&["private_key_jwt"]),
            Err("takes no client's secret; it takes `private_key_jwt`: name a key with \
                 `oauth.private_key_env`"),
        ),
        (methods(&["none"]), Err("takes no client's secret; it takes `none`")),
    ] {
        match (ClientProof::by_secret(&client, &server(said)), expected) {
            (Ok(proof), Ok(in_header)) => {
                assert_eq!(
                    (proof.header.is_some(), proof.fields.is_empty()),
                    (in_header, in_header)
                )
            }
            (Err(why), Err(told)) => assert!(why.ends_with(told), "{told}: {why}"),
            (made, expected) => panic!("{made:?}, not {expected:?}"),
        }
    }
}
