//! Judges one fetch the way the product does it: the tool's door, the policy, the connector. Names
//! resolve to what the case says, every connection leads to a server of the test, and what it was
//! meant for is kept: a case fails when a forbidden address was among them.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use base64::Engine as _;
use futures::future::BoxFuture;
use locum_agent::tools::{Sight, ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::secret::{Redactor, Secret};
use locum_base::tool::ToolName;
use locum_modes::builtin;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::schema::CommandLimits;
use locum_policy::urls::address::special;
use locum_sandbox::Sandbox;
use locum_sandbox::network::{Connector, Transport};
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::Judged;

/// What the product was told is secret.
const SECRET: &str = "canary-7f3a9c51d2e84b60";

/// Time a fetch has in all; what never ends is cut there.
const PATIENCE: Duration = Duration::from_secs(3);

/// What every name stands for that the case says nothing about.
const PUBLIC: &str = "93.184.216.34";

/// Headers that may be sent.
const HEADERS: &[&str] = &["accept", "accept-encoding", "connection", "host", "user-agent"];

/// Judges one case: right answer, no connection to a forbidden address, no header too many.
pub(crate) fn judge(case: &Value, document: &Value) -> Judged {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let judged = runtime.block_on(fetch(case, document));
    // A resolver that never answers is not waited for.
    runtime.shutdown_background();
    judged
}

async fn fetch(case: &Value, document: &Value) -> Judged {
    let (connected, seen) = mpsc::channel();
    let (heads, requests) = mpsc::channel();
    let wire = Internet::new(case, connected, heads).await;
    let answer = call(
        &filled(&case["url"]),
        &policy(&document["policies"][case["policy"].as_str().unwrap()]),
        wire,
    )
    .await;
    let connects: Vec<SocketAddr> = seen.try_iter().collect();
    if let Some(forbidden) = connects.iter().find(|address| special(address.ip()).is_some()) {
        return Judged::Fail(format!("connected to {forbidden}"));
    }
    let sent: Vec<String> = requests.try_iter().collect();
    if let Some(header) = sent.iter().find(|header| !HEADERS.contains(&header.as_str())) {
        return Judged::Fail(format!("sent the header {header}"));
    }
    match (case["expect"].as_str().unwrap(), &answer) {
        ("allow", Ok(_)) | ("deny", Err(_)) => Judged::Pass,
        ("deny", Ok(_))
            if case["alt"] == "connects_only_to_checked_public_address" && !connects.is_empty() =>
        {
            Judged::Pass
        }
        (expected, _) => {
            Judged::Fail(format!("{}: expected {expected}, got {answer:?}", case["url"]))
        }
    }
}

/// Calls the tool as a session does.
async fn call(url: &str, policy: &Policy, wire: Internet) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    seed::repository(folder.path(), &[("a", "a")], "first").unwrap();
    let (checkout, repo) =
        (Checkout::open(folder.path()).unwrap(), Repo::open(folder.path()).unwrap());
    let mode = builtin::modes().into_iter().find(|mode| mode.slug == "code").unwrap();
    let facts = Facts { mode: mode.slug.clone(), ..Facts::default() };
    let context = ToolContext {
        checkout: &checkout,
        repo: &repo,
        mode: &mode,
        commands: &CommandLimits::default(),
        env: &BTreeMap::new(),
        sandbox: &Sandbox::around_nothing(),
        redactor: &Redactor::new([Secret::new(SECRET)]),
        visible: &|_| false,
        policy,
        facts: &facts,
        connector: &Connector::new(Arc::new(wire)).within(PATIENCE),
        skills: None,
        sight: Sight::Blind,
        servers: None,
        painters: &[],
    };
    let call = ToolCall {
        id: "1".into(),
        name: "web_fetch".into(),
        arguments: json!({ "url": url }).to_string(),
    };
    let call = dispatch::parse(&call, ToolName::ALL, context).map_err(|error| error.0)?;
    let permit = policy.admit(call, &facts).map_err(|refusal| refusal.to_string())?;
    let observation = dispatch::perform(permit, context).await;
    if observation.is_error {
        Err(observation.text)
    } else {
        Ok(observation.text.chars().take(200).collect())
    }
}

fn policy(described: &Value) -> Policy {
    let texts = |key: &str| -> Vec<String> {
        described[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap().to_owned())
            .collect()
    };
    let ports: Vec<u64> =
        described["ports"].as_array().unwrap().iter().map(|port| port.as_u64().unwrap()).collect();
    let mut rules = Vec::new();
    for scheme in texts("schemes") {
        for host in texts("hosts") {
            rules.extend(ports.iter().map(|port| format!("fetch({scheme}://{host}:{port})")));
        }
    }
    Policy::parse(&json!({ "version": 1, "rules": [{ "allow": rules }] }).to_string(), "policy.yml")
        .unwrap()
}

fn filled(text: &Value) -> String {
    let hex = SECRET.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let base64 = base64::engine::general_purpose::STANDARD.encode(SECRET);
    text.as_str()
        .unwrap()
        .replace("${SECRET_B64}", &base64)
        .replace("${SECRET_HEX}", &hex)
        .replace("${SECRET}", SECRET)
}

/// The whole internet of a case.
struct Internet {
    /// Answers of the resolver, one a look-up, the last one for ever; `None` never answers.
    names: BTreeMap<String, Option<Vec<Vec<IpAddr>>>>,
    asked: AtomicUsize,
    plain: SocketAddr,
    encrypted: SocketAddr,
    trust: Arc<ClientConfig>,
    connected: mpsc::Sender<SocketAddr>,
}

impl Internet {
    async fn new(
        case: &Value,
        connected: mpsc::Sender<SocketAddr>,
        heads: mpsc::Sender<String>,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let named = rcgen::generate_simple_self_signed(hosts(case)).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(named.cert.der().clone()).unwrap();
        let trust = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(named.signing_key.serialize_der()));
        let server = server.with_single_cert(vec![named.cert.der().clone()], key).unwrap();
        let site = Arc::new(Site { case: case.clone(), heads });
        Self {
            names: names(case),
            asked: AtomicUsize::new(0),
            plain: site.serve(None).await,
            encrypted: site.serve(Some(TlsAcceptor::from(Arc::new(server)))).await,
            trust: Arc::new(trust.with_root_certificates(roots).with_no_client_auth()),
            connected,
        }
    }
}

impl Transport for Internet {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            match self.names.get(name) {
                None => Ok(vec![PUBLIC.parse().unwrap()]),
                Some(None) => std::future::pending().await,
                Some(Some(answers)) => {
                    let asked = self.asked.fetch_add(1, Ordering::Relaxed);
                    Ok(answers.get(asked).or(answers.last()).cloned().unwrap_or_default())
                }
            }
        })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.connected.send(address).unwrap();
        Box::pin(TcpStream::connect(if address.port() == 443 {
            self.encrypted
        } else {
            self.plain
        }))
    }

    fn tls_config(&self) -> Result<Arc<ClientConfig>, String> {
        Ok(Arc::clone(&self.trust))
    }
}

fn names(case: &Value) -> BTreeMap<String, Option<Vec<Vec<IpAddr>>>> {
    let addresses = |answer: &Value| {
        answer
            .as_array()
            .unwrap()
            .iter()
            .map(|address| address.as_str().unwrap().parse().unwrap())
            .collect()
    };
    let answers =
        |answers: &Value| answers.as_array().map(|answers| answers.iter().map(addresses).collect());
    case["dns"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, said)| (name.clone(), answers(said)))
        .collect()
}

/// Every host of a case: all of them can prove their names.
fn hosts(case: &Value) -> Vec<String> {
    let hops =
        case["redirects"].as_array().into_iter().flatten().flat_map(|hop| hop.as_array().unwrap());
    let urls = std::iter::once(&case["url"])
        .chain(hops)
        .filter_map(|url| url::Url::parse(url.as_str().unwrap()).ok());
    let hosts = urls.filter_map(|url| url.domain().map(str::to_owned));
    let names = hosts.filter(|host| {
        host.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-'))
    });
    names.chain(std::iter::once("docs.rs".to_owned())).collect()
}

/// What every host of a case answers.
struct Site {
    case: Value,
    heads: mpsc::Sender<String>,
}

impl Site {
    async fn serve(self: &Arc<Self>, tls: Option<TlsAcceptor>) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let site = Arc::clone(self);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (site, tls) = (Arc::clone(&site), tls.clone());
                tokio::spawn(async move {
                    let _ended = match tls {
                        None => site.answer(stream, "http").await,
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => site.answer(stream, "https").await,
                            Err(error) => Err(error),
                        },
                    };
                });
            }
        });
        address
    }

    async fn answer(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        scheme: &str,
    ) -> io::Result<()> {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await?);
        }
        let request = String::from_utf8(request).unwrap();
        let mut lines = request.lines();
        let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        headers.keys().for_each(|name| self.heads.send(name.clone()).unwrap());
        let url = format!("{scheme}://{}{path}", headers["host"]);
        let hops = self.case["redirects"].as_array().into_iter().flatten();
        if let Some(hop) = hops.into_iter().find(|hop| hop[0] == url.as_str()) {
            let head = format!(
                "HTTP/1.1 302 Found\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
                hop[1].as_str().unwrap()
            );
            return stream.write_all(head.as_bytes()).await;
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
        let wanted = self.case["body"]["bytes"].as_u64().unwrap_or(0);
        match self.case["body"]["kind"].as_str() {
            None => stream.write_all(format!("{head}Content-Length: 2\r\n\r\nok").as_bytes()).await,
            Some("drip") => {
                stream.write_all(format!("{head}\r\n").as_bytes()).await?;
                let mut every = tokio::time::interval(Duration::from_millis(100));
                loop {
                    every.tick().await;
                    stream.write_all(b".").await?;
                    stream.flush().await?;
                }
            }
            Some("stream_bytes") => {
                stream
                    .write_all(format!("{head}Content-Length: {wanted}\r\n\r\n").as_bytes())
                    .await?;
                pour(&mut stream, &[b'a'; 64 * 1024], wanted).await
            }
            Some("gzip_zero_bytes") => {
                stream
                    .write_all(format!("{head}Content-Encoding: gzip\r\n\r\n").as_bytes())
                    .await?;
                let mut encoder =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
                io::Write::write_all(&mut encoder, &vec![0; 32 << 20]).unwrap();
                stream.write_all(&encoder.finish().unwrap()).await
            }
            Some(other) => {
                assert_eq!(other, "a body that is known");
                Ok(())
            }
        }
    }
}

async fn pour(stream: &mut (impl AsyncWrite + Unpin), chunk: &[u8], wanted: u64) -> io::Result<()> {
    for _ in 0..wanted / chunk.len() as u64 {
        stream.write_all(chunk).await?;
    }
    Ok(())
}
