//! Judges one fetch the way the product does it: the tool's door, the policy, the connector. Names
//! resolve to what the case says, every connection leads to a server of the test, and what it was
//! meant for is kept: a case fails when a forbidden address was among them.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use base64::Engine as _;
use futures::future::BoxFuture;
use locum_agent::env::RunEnv;
use locum_agent::tools::{ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::secret::{Redactor, Secret};
use locum_base::tool::ToolName;
use locum_modes::builtin;
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::urls::address::special;
use locum_sandbox::Sandbox;
use locum_sandbox::network::{Connector, Transport};
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::Judged;
use crate::field::Field;

/// What the product was told is secret.
const SECRET: &str = "canary-7f3a9c51d2e84b60";

/// Time a fetch has in all; what never ends is cut there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Time after which a fetch was not bounded; far above what a loaded machine needs.
const BOUND: Duration = Duration::from_secs(30);

/// What a server gets rid of at most before a bounded reader has hung up: the product's own limit
/// and what lies in buffers.
const BOUND_BYTES: u64 = 64 << 20;

/// Headers that may be sent.
const HEADERS: &[&str] = &["accept", "accept-encoding", "connection", "host", "user-agent"];

/// What else is as good as the answer that is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlAlternative {
    CheckedAddress,
}

/// What a note asks for beside the answer. Headers are looked at in every case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlExtra {
    FixedHeaders,
    Bounded,
}

/// Judges one case: right answer, no connection to a forbidden address, no header too many.
pub(crate) fn judge(case: &Field<'_>, file: &Field<'_>) -> Result<Judged, String> {
    let allow = case.at("expect").word(&[("allow", true), ("deny", false)])?;
    let alternative = case.at("alt").given().map(|alt| {
        alt.word(&[("connects_only_to_checked_public_address", UrlAlternative::CheckedAddress)])
    });
    let notes = [
        ("headers sent are a fixed list", UrlExtra::FixedHeaders),
        ("bounded", UrlExtra::Bounded),
        ("bounded memory and time", UrlExtra::Bounded),
    ];
    let extra = case.at("note").given().map(|note| note.word(&notes)).transpose()?;
    let url = filled(case.at("url").text()?);
    let policies = file.at("policies").entries()?;
    let named = case.at("policy").text()?;
    let described = policies
        .iter()
        .find(|(name, _)| *name == named)
        .ok_or_else(|| format!("there is no policy `{named}`"))?;
    let policy = policy(&described.1)?;
    let world = UrlWorld::read(case, file)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let seen = runtime.block_on(fetch(&url, &policy, world));
    // A resolver that never answers is not waited for.
    runtime.shutdown_background();
    let seen = seen?;
    if let Some(forbidden) = seen.connects.iter().find(|address| special(address.ip()).is_some()) {
        return Ok(Judged::Fail(format!("connected to {forbidden}")));
    }
    if let Some(header) = seen.headers.iter().find(|header| !HEADERS.contains(&header.as_str())) {
        return Ok(Judged::Fail(format!("sent the header {header}")));
    }
    if extra == Some(UrlExtra::Bounded) && (seen.poured > BOUND_BYTES || seen.took > BOUND) {
        return Ok(Judged::Fail(format!("took {} bytes in {:?}", seen.poured, seen.took)));
    }
    Ok(match (allow, &seen.answer) {
        (true, Ok(_)) | (false, Err(_)) => Judged::Pass,
        (false, Ok(_))
            if alternative.transpose()? == Some(UrlAlternative::CheckedAddress)
                && !seen.connects.is_empty() =>
        {
            Judged::Pass
        }
        (_, answer) => {
            Judged::Fail(format!("{url}: expected {}, got {answer:?}", case.at("expect").text()?))
        }
    })
}

/// What a fetch did and what came of it.
struct SeenUrl {
    answer: Result<String, String>,
    connects: Vec<SocketAddr>,
    headers: Vec<String>,
    /// Bytes of bodies the servers got rid of.
    poured: u64,
    took: Duration,
}

async fn fetch(url: &str, policy: &Policy, world: UrlWorld) -> Result<SeenUrl, String> {
    let (connected, connects) = mpsc::channel();
    let (heads, headers) = mpsc::channel();
    let site = Arc::new(Site { world, heads, poured: AtomicU64::new(0) });
    let wire = Internet::new(&site, connected).await.map_err(|error| error.to_string())?;
    let begin = Instant::now();
    let answer = call(url, policy, wire).await?;
    let took = begin.elapsed();
    let poured = site.poured.load(Ordering::Relaxed);
    Ok(SeenUrl {
        answer,
        connects: connects.try_iter().collect(),
        headers: headers.try_iter().collect(),
        poured,
        took,
    })
}

/// Calls the tool as a session does; the outer error says that there was nothing to call it in.
async fn call(
    url: &str,
    policy: &Policy,
    wire: Internet,
) -> Result<Result<String, String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    seed::repository(folder.path(), &[("a", "a")], "first").map_err(|error| error.to_string())?;
    let checkout = Checkout::open(folder.path()).map_err(|error| error.to_string())?;
    let repo = Repo::open(folder.path()).map_err(|error| error.to_string())?;
    let mode = builtin::modes()
        .into_iter()
        .find(|mode| mode.slug == "code")
        .ok_or("there is no mode `code`")?;
    let facts = Facts { mode: mode.slug.clone(), ..Facts::default() };
    let (env, sandbox) = (BTreeMap::new(), Sandbox::around_nothing());
    let redactor = Redactor::new([Secret::new(SECRET)]);
    let connector = Connector::new(Arc::new(wire)).within(PATIENCE);
    let run = RunEnv::bare(policy, &env, &sandbox, &redactor, &connector);
    let workspace = Workspace { checkout, repo };
    let context = ToolContext::bare(run, &workspace, &mode, &facts, &|_| false);
    let call = ToolCall {
        id: "1".into(),
        name: "web_fetch".into(),
        arguments: json!({ "url": url }).to_string(),
    };
    let permit = dispatch::parse(&call, ToolName::ALL, context)
        .map_err(|error| error.0)
        .and_then(|call| policy.admit(call, &facts).map_err(|refusal| refusal.to_string()));
    let permit = match permit {
        Ok(permit) => permit,
        Err(refused) => return Ok(Err(refused)),
    };
    let observation = dispatch::perform(permit, context).await;
    Ok(if observation.is_error {
        Err(observation.text)
    } else {
        Ok(observation.text.chars().take(200).collect())
    })
}

fn policy(described: &Field<'_>) -> Result<Policy, String> {
    let (schemes, hosts) = (described.at("schemes").texts()?, described.at("hosts").texts()?);
    let ports = described
        .at("ports")
        .items()?
        .iter()
        .map(Field::count)
        .collect::<Result<Vec<u64>, String>>()?;
    let mut rules = Vec::new();
    for scheme in schemes {
        for host in &hosts {
            rules.extend(ports.iter().map(|port| format!("fetch({scheme}://{host}:{port})")));
        }
    }
    Policy::parse(&json!({ "version": 1, "rules": [{ "allow": rules }] }).to_string(), "policy.yml")
        .map_err(|errors| errors.to_string())
}

fn filled(text: &str) -> String {
    let hex = SECRET.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let base64 = base64::engine::general_purpose::STANDARD.encode(SECRET);
    text.replace("${SECRET_B64}", &base64)
        .replace("${SECRET_HEX}", &hex)
        .replace("${SECRET}", SECRET)
}

/// What a case says of the internet.
struct UrlWorld {
    /// Answers of the resolver, one a look-up, the last one for ever; `None` never answers.
    names: BTreeMap<String, Option<Vec<Vec<IpAddr>>>>,
    /// What every other name stands for.
    public: IpAddr,
    /// Where an address leads on to.
    redirects: Vec<(String, String)>,
    /// Every host that is named: all of them can prove their names.
    hosts: Vec<String>,
    body: Body,
}

/// What every host answers that does not lead on.
#[derive(Clone, Copy)]
enum Body {
    Short,
    /// One byte after the other, without end.
    Drip,
    /// So many letters.
    Letters(u64),
    /// So many zeros, compressed.
    Zeros(u64),
}

impl UrlWorld {
    fn read(case: &Field<'_>, file: &Field<'_>) -> Result<Self, String> {
        let told = file.at("default_dns").text()?;
        let public = told
            .strip_prefix("every other name resolves to ")
            .and_then(|address| address.parse().ok());
        let mut names = BTreeMap::new();
        for (name, said) in case.at("dns").given().map_or(Ok(Vec::new()), |dns| dns.entries())? {
            let silent = said.whole() == "timeout";
            names.insert(name.to_owned(), if silent { None } else { Some(answers(&said)?) });
        }
        let url = case.at("url").text()?.to_owned();
        let mut redirects = Vec::new();
        for hop in
            case.at("redirects").given().map_or(Ok(Vec::new()), |redirects| redirects.items())?
        {
            match hop.texts()?.as_slice() {
                [from, to] => redirects.push(((*from).to_owned(), (*to).to_owned())),
                other => return Err(format!("a redirect of {} addresses", other.len())),
            }
        }
        let urls = std::iter::once(&url).chain(redirects.iter().flat_map(|(from, to)| [from, to]));
        let named = urls.filter_map(|url| url::Url::parse(url).ok()?.domain().map(str::to_owned));
        let names_in_certificates = named.filter(|host| {
            host.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-'))
        });
        let hosts = names_in_certificates.chain(std::iter::once("docs.rs".to_owned())).collect();
        let body = case.at("body").given().map_or(Ok(Body::Short), |body| Body::read(&body))?;
        Ok(Self {
            names,
            public: public.ok_or_else(|| format!("`{told}` cannot be expressed"))?,
            redirects,
            hosts,
            body,
        })
    }
}

impl Body {
    fn read(body: &Field<'_>) -> Result<Self, String> {
        let bytes = || body.at("bytes").count();
        match body.at("kind").text()? {
            "drip" => Ok(Self::Drip),
            "stream_bytes" => Ok(Self::Letters(bytes()?)),
            "gzip_zero_bytes" => Ok(Self::Zeros(bytes()?)),
            other => Err(format!("a body of the kind `{other}` cannot be expressed")),
        }
    }
}

/// Reads the answers of one name.
fn answers(said: &Field<'_>) -> Result<Vec<Vec<IpAddr>>, String> {
    let address = |text: &str| text.parse::<IpAddr>().map_err(|error| format!("`{text}`: {error}"));
    said.items()?.iter().map(|answer| answer.texts()?.into_iter().map(address).collect()).collect()
}

/// The whole internet of a case.
struct Internet {
    site: Arc<Site>,
    asked: AtomicUsize,
    plain: SocketAddr,
    encrypted: SocketAddr,
    trust: Arc<ClientConfig>,
    connected: mpsc::Sender<SocketAddr>,
}

impl Internet {
    async fn new(site: &Arc<Site>, connected: mpsc::Sender<SocketAddr>) -> io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let named = rcgen::generate_simple_self_signed(site.world.hosts.clone())
            .map_err(io::Error::other)?;
        let mut roots = RootCertStore::empty();
        roots.add(named.cert.der().clone()).map_err(io::Error::other)?;
        let trust = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions();
        let server =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(named.signing_key.serialize_der()));
        let server = server
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![named.cert.der().clone()], key);
        let acceptor = TlsAcceptor::from(Arc::new(server.map_err(io::Error::other)?));
        Ok(Self {
            plain: site.serve(None).await?,
            encrypted: site.serve(Some(acceptor)).await?,
            site: Arc::clone(site),
            asked: AtomicUsize::new(0),
            trust: Arc::new(
                trust
                    .map_err(io::Error::other)?
                    .with_root_certificates(roots)
                    .with_no_client_auth(),
            ),
            connected,
        })
    }
}

impl Transport for Internet {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            match self.site.world.names.get(name) {
                None => Ok(vec![self.site.world.public]),
                Some(None) => std::future::pending().await,
                Some(Some(answers)) => {
                    let asked = self.asked.fetch_add(1, Ordering::Relaxed);
                    Ok(answers.get(asked).or(answers.last()).cloned().unwrap_or_default())
                }
            }
        })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        let noted = self.connected.send(address).map_err(io::Error::other);
        let server = if address.port() == 443 { self.encrypted } else { self.plain };
        Box::pin(async move {
            noted?;
            TcpStream::connect(server).await
        })
    }

    fn tls_config(&self) -> Result<Arc<ClientConfig>, String> {
        Ok(Arc::clone(&self.trust))
    }
}

/// What answers for every host of a case.
struct Site {
    world: UrlWorld,
    heads: mpsc::Sender<String>,
    poured: AtomicU64,
}

impl Site {
    async fn serve(self: &Arc<Self>, tls: Option<TlsAcceptor>) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
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
        Ok(address)
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
        let request = String::from_utf8(request).map_err(io::Error::other)?;
        let mut lines = request.lines();
        let path =
            lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
        let headers: BTreeMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        headers
            .keys()
            .try_for_each(|name| self.heads.send(name.clone()))
            .map_err(io::Error::other)?;
        let url = format!("{scheme}://{}{path}", headers.get("host").map_or("", String::as_str));
        if let Some((_, to)) = self.world.redirects.iter().find(|(from, _)| *from == url) {
            let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
            return stream.write_all(head.as_bytes()).await;
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
        match self.world.body {
            Body::Short => {
                stream.write_all(format!("{head}Content-Length: 2\r\n\r\nok").as_bytes()).await
            }
            Body::Drip => {
                stream.write_all(format!("{head}\r\n").as_bytes()).await?;
                let mut every = tokio::time::interval(Duration::from_millis(100));
                loop {
                    every.tick().await;
                    stream.write_all(b".").await?;
                    stream.flush().await?;
                }
            }
            Body::Letters(bytes) => {
                stream
                    .write_all(format!("{head}Content-Length: {bytes}\r\n\r\n").as_bytes())
                    .await?;
                let chunk = [b'a'; CHUNK_BYTES];
                for _ in 0..bytes / CHUNK_BYTES as u64 {
                    self.pour(&mut stream, &chunk).await?;
                }
                let rest = bytes % CHUNK_BYTES as u64;
                self.pour(
                    &mut stream,
                    chunk.get(..usize::try_from(rest).unwrap_or(0)).unwrap_or_default(),
                )
                .await
            }
            Body::Zeros(bytes) => {
                stream
                    .write_all(format!("{head}Content-Encoding: gzip\r\n\r\n").as_bytes())
                    .await?;
                let zeros = Zeros::of(bytes)?;
                self.pour(&mut stream, &zeros.begin).await?;
                for _ in 0..zeros.times {
                    self.pour(&mut stream, &zeros.chunk).await?;
                }
                self.pour(&mut stream, &zeros.end).await
            }
        }
    }

    async fn pour(&self, stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
        stream.write_all(bytes).await?;
        self.poured.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

/// Bytes written at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Very many zeros as gzip: one compressed piece, as often as is needed, so that nobody has to
/// compress all of them.
struct Zeros {
    begin: Vec<u8>,
    chunk: Vec<u8>,
    times: u64,
    end: Vec<u8>,
}

impl Zeros {
    fn of(bytes: u64) -> io::Result<Self> {
        const PIECE: usize = 1 << 20;
        let piece = vec![0; PIECE];
        let deflated = |zeros: &[u8], flush| {
            let mut compress = flate2::Compress::new(flate2::Compression::best(), false);
            let mut out = Vec::with_capacity(zeros.len() / 64 + 64);
            compress.compress_vec(zeros, &mut out, flush).map(|_| out)
        };
        let rest = usize::try_from(bytes % PIECE as u64).unwrap_or(0);
        let last = piece.get(..rest).unwrap_or_default();
        let (mut sum, mut one) = (flate2::Crc::new(), flate2::Crc::new());
        one.update(&piece);
        let times = bytes / PIECE as u64;
        (0..times).for_each(|_| sum.combine(&one));
        sum.update(last);
        let mut end = deflated(last, flate2::FlushCompress::Finish).map_err(io::Error::other)?;
        end.extend(sum.sum().to_le_bytes());
        // The format keeps the length modulo 2^32.
        end.extend(((bytes & 0xffff_ffff) as u32).to_le_bytes());
        let begin = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff].to_vec();
        Ok(Self {
            begin,
            chunk: deflated(&piece, flate2::FlushCompress::Full).map_err(io::Error::other)?,
            times,
            end,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::Zeros;
    use pretty_assertions::assert_eq;

    #[test]
    fn zeros_are_what_gzip_says_they_are() {
        for bytes in [0, 7, 1 << 20, (5 << 20) + 3] {
            let zeros = Zeros::of(bytes).unwrap();
            let chunks = zeros.chunk.repeat(usize::try_from(zeros.times).unwrap());
            let mut read = Vec::new();
            flate2::read::GzDecoder::new([zeros.begin, chunks, zeros.end].concat().as_slice())
                .read_to_end(&mut read)
                .unwrap();
            assert_eq!((read.len() as u64, read.iter().all(|byte| *byte == 0)), (bytes, true));
        }
    }
}
