//! The way to a model: through a proxy that the environment names, to a server whose certificate
//! somebody vouches for, with the key for nobody but the server.

use std::net::SocketAddr;

use base64::Engine as _;
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::models::tunnel::{Gate, Proxy, TlsFront};
use crate::support::model_server::{Answer, Asked, ModelServer};
use crate::support::stage::{Ran, Stage};

/// A host that only a proxy knows.
const HOST: &str = "models.example";
/// This machine, for whoever connects, and not for whoever asks whether an address stays on it.
const HERE: &str = "0.0.0.0";
const KEY: &str = "sk-of-the-test-0123456789";
const PASSWORD: &str = "hunter2-of-the-proxy";
const WRITTEN_PASSWORD: &str = "hunter2%2Dof%2Dthe%2Dproxy";
const POLICY: &str =
    "version: 1\nmodes: { default: code, allow: [code] }\nrules: [{ allow: \"read(**)\" }]\n";

/// A model that says it is done, behind TLS, and a checkout.
struct Scene {
    stage: Stage,
    server: ModelServer,
    front: TlsFront,
}

impl Scene {
    fn at(host: &str) -> Self {
        let profile = "models: { profiles: { m: { model: m, context_window: 9000 } } }\n";
        let stage = Stage::with(&[(".locum/policy.yml", POLICY), (".locum/config.yml", profile)]);
        let server = ModelServer::start(vec![Answer::calls(&[(
            "attempt_completion",
            json!({ "result": "r" }),
        )])]);
        let front = TlsFront::before(plain(&server), host);
        stage.write("authorities/authority.pem", &front.authority);
        Self { stage, server, front }
    }

    /// Runs with these variables; returns how it ended and the requests that the model got.
    fn run(&mut self, base_url: &str, variables: &[(&str, &str)]) -> (Ran, Vec<Asked>) {
        let before = self.server.asked().len();
        let mut command = self.stage.locum(&["run", "do it"]);
        command
            .env("OPENAI_BASE_URL", base_url)
            .env("LOCUM_LOG", "trace")
            .envs(variables.iter().copied());
        let ran = Ran::from(command.output().unwrap());
        for secret in [KEY, PASSWORD, WRITTEN_PASSWORD] {
            assert!(
                !ran.err.contains(secret) && !ran.out.contains(secret),
                "{secret}: {}",
                ran.err
            );
        }
        (ran, self.server.asked().split_at(before).1.to_vec())
    }

    fn authority(&self) -> String {
        self.stage.path("authorities/authority.pem").to_str().unwrap().to_owned()
    }
}

fn plain(server: &ModelServer) -> SocketAddr {
    server.base_url.trim_start_matches("http://").trim_end_matches("/v1").parse().unwrap()
}

/// A proxy's address as a variable holds it.
fn named(proxy: &Proxy, scheme: &str) -> String {
    format!("{scheme}://me:{WRITTEN_PASSWORD}@127.0.0.1:{}", proxy.port)
}

#[test]
fn every_variable_leads_through_its_proxy_which_sees_no_key() {
    let mut scene = Scene::at(HOST);
    let authority = scene.authority();
    let proxy = Proxy::start(Gate::Open(scene.front.address));
    let basic = base64::engine::general_purpose::STANDARD.encode(format!("me:{PASSWORD}"));
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        let variables = [
            (variable, named(&proxy, "http")),
            ("SSL_CERT_FILE", authority.clone()),
            ("OPENAI_API_KEY", KEY.to_owned()),
        ];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        let (ran, asked) = scene.run(&format!("https://{HOST}/v1"), &variables);
        assert_eq!((ran.code, asked.len()), (Some(0), 1), "{variable}: {}", ran.err);
        assert_eq!(asked[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert_eq!(
            asked[0].header("proxy-authorization"),
            None,
            "what the proxy is told is not for the server"
        );
        let heads = proxy.heads();
        assert!(
            heads.len() == 1 && heads[0].starts_with(&format!("CONNECT {HOST}:443 HTTP/1.1\r\n")),
            "{heads:?}"
        );
        assert!(heads[0].contains(&basic) && !heads[0].contains(KEY), "{heads:?}");
    }
    let socks = named(&proxy, "socks5h");
    let (ran, asked) = scene.run(
        &format!("https://{HOST}/v1"),
        &[("ALL_PROXY", &socks), ("SSL_CERT_FILE", &authority), ("OPENAI_API_KEY", KEY)],
    );
    assert_eq!(
        (ran.code, asked.len(), proxy.heads()),
        (Some(0), 1, vec![format!("me {PASSWORD} {HOST}")]),
        "{}",
        ran.err
    );
}

#[test]
fn hosts_that_are_excepted_are_reached_without_the_proxy() {
    let mut scene = Scene::at(HERE);
    let authority = scene.authority();
    let url = format!("https://{HERE}:{}/v1", scene.front.address.port());
    let proxy = Proxy::start(Gate::Open(scene.front.address));
    let address = named(&proxy, "http");
    for (variable, hosts, through) in [
        ("NO_PROXY", "x.example, 0.0.0.0", 0),
        ("no_proxy", "0.0.0.0/8", 0),
        ("NO_PROXY", "1.0.0.0/8", 1),
    ] {
        let variables = [
            ("HTTPS_PROXY", address.as_str()),
            ("SSL_CERT_FILE", &authority),
            ("OPENAI_API_KEY", KEY),
            (variable, hosts),
        ];
        let (ran, asked) = scene.run(&url, &variables);
        assert_eq!(
            (ran.code, asked.len(), proxy.heads().len()),
            (Some(0), 1, through),
            "{hosts}: {}",
            ran.err
        );
    }
}

#[test]
fn a_key_in_the_clear_is_shown_to_no_proxy() {
    let mut scene = Scene::at(HERE);
    let server = plain(&scene.server);
    let url = format!("http://{HERE}:{}/v1", server.port());
    let proxy = Proxy::start(Gate::Open(server));
    let address = named(&proxy, "http");
    let (ran, asked) = scene
        .run(&url, &[("HTTP_PROXY", &address), ("ALL_PROXY", &address), ("OPENAI_API_KEY", KEY)]);
    assert_eq!((ran.code, asked.len(), proxy.heads()), (Some(0), 1, vec![]), "{}", ran.err);
    assert!(ran.err.contains("unencrypted, and through no proxy"), "{}", ran.err);
    for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let (ran, asked) = scene.run(&url, &[(variable, &address)]);
        let heads = proxy.heads();
        assert_eq!(
            (ran.code, asked.len(), heads.len()),
            (Some(0), 1, 1),
            "without a key: {}",
            ran.err
        );
        assert!(
            heads[0].starts_with(&format!("POST {url}/chat/completions HTTP/1.1\r\n")),
            "{heads:?}"
        );
    }
}

#[test]
fn a_server_is_trusted_whose_certificate_a_named_authority_vouches_for() {
    let mut scene = Scene::at(HERE);
    let (file, folder) =
        (scene.authority(), scene.stage.path("authorities").to_str().unwrap().to_owned());
    let other = TlsFront::before(plain(&scene.server), HERE);
    scene.stage.write("other.pem", &other.authority);
    let other = scene.stage.path("other.pem").to_str().unwrap().to_owned();
    let url = format!("https://{HERE}:{}/v1", scene.front.address.port());
    for (variable, value, trusted) in [
        ("SSL_CERT_FILE", &file, true),
        ("SSL_CERT_DIR", &folder, true),
        ("SSL_CERT_FILE", &other, false),
        ("UNRELATED", &file, false),
    ] {
        let (ran, asked) = scene.run(&url, &[(variable, value), ("OPENAI_API_KEY", KEY)]);
        assert_eq!(
            (ran.code, asked.len()),
            if trusted { (Some(0), 1) } else { (Some(3), 0) },
            "{variable}={value}: {}",
            ran.err
        );
        if !trusted {
            assert!(
                ran.out.contains("cannot be reached: ")
                    && ran.out.contains("`SSL_CERT_FILE` or `SSL_CERT_DIR`"),
                "{}",
                ran.out
            );
            assert!(!ran.err.contains("tried again"), "{}", ran.err);
        }
    }
    let (ran, asked) = scene.run(&url, &[("SSL_CERT_FILE", "/nowhere"), ("OPENAI_API_KEY", KEY)]);
    assert_eq!((ran.code, asked.len()), (Some(2), 0), "{}", ran.err);
    assert!(ran.err.contains("`SSL_CERT_FILE` or `SSL_CERT_DIR` stands in place"), "{}", ran.err);
}

#[test]
fn a_proxy_that_lets_nobody_through_ends_the_run_at_once() {
    let mut scene = Scene::at(HOST);
    let url = format!("https://{HOST}/v1");
    let proxy = Proxy::start(Gate::Closed(407));
    let (ran, asked) =
        scene.run(&url, &[("HTTPS_PROXY", &named(&proxy, "http")), ("OPENAI_API_KEY", KEY)]);
    assert_eq!((ran.code, asked.len(), proxy.heads().len()), (Some(3), 0, 1), "{}", ran.err);
    assert!(
        ran.out.contains("proxy authorization required")
            && ran.out.contains("needs a user name and a password"),
        "{}",
        ran.out
    );
    let (ran, asked) =
        scene.run(&url, &[("HTTPS_PROXY", &named(&proxy, "htp")), ("OPENAI_API_KEY", KEY)]);
    assert_eq!((ran.code, asked.len(), proxy.heads().len()), (Some(2), 0, 0), "{}", ran.err);
    assert!(ran.err.contains("`HTTPS_PROXY` is `htp://***@127.0.0.1:"), "{}", ran.err);
}
