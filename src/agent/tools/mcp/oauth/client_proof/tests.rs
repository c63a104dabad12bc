//! What proves who a client is: which way is taken for which authorization server.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::ClientProof;
use crate::tools::mcp::definition::oauth::OauthClient;
use crate::tools::mcp::oauth::metadata::AuthorizationServer;
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

fn client() -> OauthClient {
    OauthClient {
        id: "ci".to_owned(),
        secret_env: "KEY".to_owned(),
        secret: Secret::new("a secret"),
        issuer: None,
        scopes: Vec::new(),
    }
}

#[test]
fn a_secret_goes_where_the_server_takes_it_and_to_no_other() {
    let methods = |names: &[&str]| json!({ "token_endpoint_auth_methods_supported": names });
    let client = client();
    for (said, expected) in [
        (json!({}), Ok(true)),
        (methods(&["client_secret_post", "client_secret_basic"]), Ok(true)),
        (methods(&["private_key_jwt", "client_secret_post"]), Ok(false)),
        (
            methods(&["private_key_jwt"]),
            Err("takes no client's secret; it takes `private_key_jwt`"),
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
