//! What the proxy lets pass, and what not: asked as programs ask it, with one server in place of
//! the whole internet.

use std::net::SocketAddr;
use std::sync::{Arc, mpsc};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{DestinationCheck, NetworkProxy, RunningProxy, Traffic, variables};
use crate::network::Connector;
use crate::samples::{PUBLIC, RecordingTransport};
use locum_policy::Policy;
use locum_policy::intent::{Connection, Facts};
use locum_policy::verdict::Decision;
use pretty_assertions::assert_eq;

const POLICY: &str = "
version: 1
network: { allow: [docs.rs, '*.example.com', 'http://plain.example', \
                      'private.example', '93.184.216.34'] }
rules: [{ deny: 'fetch(bad.example.com)' }]
";

/// A proxy, the addresses it would have connected to, and a server behind them all that sends
/// everything back.
struct ProxyFixture {
    serving: RunningProxy,
    connected: mpsc::Receiver<SocketAddr>,
}

impl ProxyFixture {
    async fn new() -> Self {
        let server = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = server.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = server.accept().await.unwrap();
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    let _ended = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        Self::before(address, &[("private.example", &[&[PUBLIC, "10.0.0.7"]])])
    }

    fn before(server: SocketAddr, names: &[(&str, &[&[&str]])]) -> Self {
        let (transport, connected) = RecordingTransport::new(server, names);
        let policy = Policy::parse(POLICY, "policy.yml").unwrap();
        let admit: DestinationCheck =
            Arc::new(move |to| policy.admit(Connection::Command(to), &Facts::default()));
        Self {
            serving: NetworkProxy::new(Connector::new(Arc::new(transport)), admit)
                .on_loopback()
                .unwrap(),
            connected,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.serving.address()).await.unwrap()
    }

    /// Sends a request and returns the status and the whole answer.
    async fn ask(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Opens a tunnel, says something in it and returns what comes back.
    async fn say(&self, target: &str, words: &[u8]) -> Vec<u8> {
        let mut stream = self.connect().await;
        stream
            .write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");
        let mut last = [0; 4];
        while &last != b"\r\n\r\n" {
            last.rotate_left(1);
            stream.read_exact(&mut last[3..]).await.unwrap();
        }
        stream.write_all(words).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer).await;
        answer
    }

    fn finish(self) -> (Traffic, Vec<String>) {
        (
            self.serving.finish(),
            self.connected.try_iter().map(|address| address.to_string()).collect(),
        )
    }
}

/// Returns the first words of a client of TLS that asks for this host.
fn greeting(host: &str) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let config =
        config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
    let mut client =
        rustls::ClientConnection::new(Arc::new(config), host.to_owned().try_into().unwrap())
            .unwrap();
    let mut words = Vec::new();
    client.write_tls(&mut words).unwrap();
    words
}

fn connect(target: &str) -> String {
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n")
}

#[tokio::test]
async fn lets_an_encrypted_connection_to_a_listed_host_pass() {
    let fixture = ProxyFixture::new().await;
    for (target, host) in [
        ("docs.rs:443", "docs.rs"),
        ("a.b.example.com:443", "a.b.example.com"),
        ("93.184.216.34:443", PUBLIC),
    ] {
        let words = greeting(host);
        assert_eq!(fixture.say(target, &words).await, words, "{target}");
    }
    let (traffic, connected) = fixture.finish();
    assert_eq!(connected, ["93.184.216.34:443"; 3]);
    assert!(
        traffic.sent_bytes > 300 && traffic.sent_bytes == traffic.received_bytes,
        "{traffic:?}"
    );
    let summary = |(verdict, count): &(locum_policy::verdict::Verdict, u32)| {
        (verdict.decision, verdict.intent.clone(), *count)
    };
    let expected = ["docs.rs", "a.b.example.com", PUBLIC]
        .map(|host| (Decision::Allow, format!("connect({host}:443)"), 1));
    assert_eq!(traffic.verdicts.iter().map(summary).collect::<Vec<_>>(), expected);
    assert_eq!(traffic.verdicts[0].0.rule().unwrap().line_number(), 3);
}

#[tokio::test]
async fn refuses_hosts_and_ports_that_are_not_listed_without_a_connection() {
    let fixture = ProxyFixture::new().await;
    for (target, message) in [
        ("evil.example:443", "not in `network.allow`"),
        ("docs.rs:22", "not in `network.allow`"),
        ("docs.rs.evil.example:443", "not in `network.allow`"),
        ("example.com:443", "not in `network.allow`"),
        ("bad.example.com:443", "denied by `fetch(bad.example.com)`"),
        ("plain.example:443", "not in `network.allow`"),
        ("localhost:443", "this machine"),
        ("169.254.169.254:80", "link-local"),
        ("[::ffff:127.0.0.1]:443", "in disguise"),
        ("private.example:443", "`private.example` resolves to 10.0.0.7, a private address"),
    ] {
        let answer = fixture.ask(&connect(target)).await;
        assert!(
            answer.starts_with("HTTP/1.1 403") && answer.contains(message),
            "{target}: {answer}"
        );
    }
    let (traffic, connected) = fixture.finish();
    assert_eq!(connected, Vec::<String>::new());
    assert_eq!(traffic.verdicts.len(), 10);
    assert!(
        traffic.verdicts.iter().all(|(verdict, _)| verdict.decision == Decision::Deny),
        "{traffic:?}"
    );
}

#[tokio::test]
async fn a_tunnel_is_for_the_host_it_was_admitted_for() {
    let fixture = ProxyFixture::new().await;
    assert_eq!(fixture.say("docs.rs:443", &greeting("evil.example")).await, b"");
    assert_eq!(fixture.say("docs.rs:443", &greeting("93.184.216.34")).await, b"");
    assert_eq!(fixture.say("docs.rs:443", b"SSH-2.0-locum\r\n").await, b"");
    let (traffic, _) = fixture.finish();
    let denied: Vec<String> = traffic
        .verdicts
        .iter()
        .filter(|(verdict, _)| verdict.decision == Decision::Deny)
        .map(|(verdict, _)| verdict.reason())
        .collect();
    assert_eq!(
        denied,
        [
            "the TLS greeting in the tunnel names `evil.example`",
            "the TLS greeting in the tunnel names no host",
            "the tunnel does not carry TLS"
        ]
    );
    assert_eq!(traffic.sent_bytes, 0);
}

#[tokio::test]
async fn forwards_what_is_not_encrypted_one_request_at_a_time() {
    let server = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let fixture = ProxyFixture::before(server.local_addr().unwrap(), &[]);
    let answers = async {
        let (mut stream, _) = server.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let count = stream.read(&mut request).await.unwrap();
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: x-hop\r\nX-Hop: 1\r\n\r\nhi",
            )
            .await
            .unwrap();
        String::from_utf8(request[..count].to_vec()).unwrap()
    };
    let request = "GET http://plain.example/a?b HTTP/1.1\r\nHost: \
                   evil.example\r\nProxy-Authorization: x\r\nConnection: X-Mine, close\r\nX-Mine: \
                   1\r\nAccept: */*\r\n\r\n";
    let (answer, seen) = tokio::join!(fixture.ask(request), answers);
    assert!(
        answer.starts_with("HTTP/1.1 200")
            && answer.ends_with("\r\n\r\nhi")
            && !answer.contains("x-hop"),
        "{answer}"
    );
    assert_eq!(seen, "GET /a?b HTTP/1.1\r\nhost: plain.example\r\naccept: */*\r\n\r\n");
    // A second request on a connection is not read.
    let two = "GET http://evil.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\nGET \
         http://plain.example/ HTTP/1.1\r\nHost: plain.example\r\n\r\n";
    let answer = fixture.ask(two).await;
    assert_eq!(
        (answer.matches("HTTP/1.1 403").count(), answer.matches("HTTP/1.1").count()),
        (1, 1),
        "{answer}"
    );
    let (_, connected) = fixture.finish();
    assert_eq!(connected, ["93.184.216.34:80"]);
}

#[tokio::test]
async fn refuses_what_is_no_request_to_a_proxy() {
    let fixture = ProxyFixture::new().await;
    for request in [
        "GET / HTTP/1.1\r\nHost: docs.rs\r\nConnection: close\r\n\r\n",
        "GET https://docs.rs/ HTTP/1.1\r\nHost: docs.rs\r\nConnection: close\r\n\r\n",
        "GET ftp://plain.example/ HTTP/1.1\r\nHost: docs.rs\r\nConnection: close\r\n\r\n",
        "GET http://u:p@plain.example/ HTTP/1.1\r\nHost: docs.rs\r\nConnection: close\r\n\r\n",
        "CONNECT docs.rs HTTP/1.1\r\nHost: docs.rs\r\n\r\n",
        "CONNECT u@docs.rs:443 HTTP/1.1\r\nHost: docs.rs\r\n\r\n",
        "CONNECT 0x7f.1:443 HTTP/1.1\r\nHost: docs.rs\r\n\r\n",
        "CONNECT docs.rs:443\0 HTTP/1.1\r\n\r\n",
        "GET http://plain.example/\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ] {
        let answer = fixture.ask(request).await;
        assert!(
            answer.is_empty()
                || answer.starts_with("HTTP/1.1 400")
                || answer.starts_with("HTTP/1.1 403"),
            "{request:?}: {answer}"
        );
    }
    assert_eq!(fixture.finish().1, Vec::<String>::new());
}

#[tokio::test]
async fn what_is_connected_to_was_checked() {
    let server = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let fixture = ProxyFixture::before(
        server.local_addr().unwrap(),
        &[("docs.rs", &[&[PUBLIC], &["127.0.0.1"]])],
    );
    let _first = tokio::join!(fixture.ask("CONNECT docs.rs:443 HTTP/1.1\r\n\r\n"), async {
        drop(server.accept().await.unwrap())
    });
    let second = fixture.ask(&connect("docs.rs:443")).await;
    assert!(
        second.starts_with("HTTP/1.1 403") && second.contains("a loopback address"),
        "{second}"
    );
    assert_eq!(fixture.finish().1, ["93.184.216.34:443"]);
}

#[tokio::test]
async fn ends_with_its_connections_and_leads_programs_to_itself() {
    let fixture = ProxyFixture::new().await;
    let variables = variables(fixture.serving.address());
    let address = fixture.serving.address();
    for name in ["HTTP_PROXY", "https_proxy", "ALL_PROXY"] {
        assert_eq!(variables[name], format!("http://{address}"));
    }
    assert_eq!(variables["no_proxy"], "localhost,127.0.0.1,::1");
    let mut idle = fixture.connect().await;
    drop(fixture);
    assert_eq!(idle.read(&mut [0; 1]).await.unwrap_or(0), 0);
    tokio::task::yield_now().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_browser_is_held_to_the_rules_about_pages_and_not_to_those_of_commands() {
    let policy = "version: 1\nnetwork: { allow: ['http://plain.example'] }\nrules:\n  - allow: \
                  ['browse(http://shop.example/things/**)', 'browse(http://localhost)']\n";
    let policy = Policy::parse(policy, "policy.yml").unwrap();
    let nothing = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let (transport, connected) = RecordingTransport::new(nothing, &[]);
    let connector = Connector::new(Arc::new(transport));
    let proxy = NetworkProxy::of_browser(connector, &policy, &Facts::default());
    let fixture = ProxyFixture { serving: proxy.on_loopback().unwrap(), connected };
    for (address, status) in [
        ("http://shop.example/things/1", "502"),
        ("http://plain.example/", "403"),
        ("http://localhost/", "403"),
        ("http://other.example/", "403"),
    ] {
        let request = format!("GET {address} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = fixture.ask(&request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{address}: {answer}");
    }
    let (_, connected) = fixture.finish();
    assert_eq!(connected, [format!("{PUBLIC}:80")]);
}
