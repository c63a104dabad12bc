//! The proxy that commands are held to where the policy lists hosts: it lets them connect to these
//! and to no other.
//!
//! In: a listening socket, and who admits a destination. Out: the requested destinations, each with
//! its verdict. It speaks HTTP/1.1: `CONNECT` for what is encrypted, whole addresses for what is
//! not. The sandbox ensures that commands reach nothing but this proxy.

mod forward;
mod meter;
mod response;
mod tunnel;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};

use crate::network::proxy::meter::{REQUESTS_LIMIT, TrafficMeter};
use crate::network::proxy::response::{ProxyBody, text_response};
use crate::network::proxy::tunnel::Tunnel;
use crate::network::{Connector, NetworkError};
use locum_policy::intent::{Connection, Facts};
use locum_policy::urls::host::Host;
use locum_policy::urls::{Destination, Scheme, split_port};
use locum_policy::verdict::{Refusal, Verdict};
use locum_policy::{Permit, Policy};

/// Connections of one command at once; more wait.
const CONNECTIONS_AT_ONCE: usize = 64;

/// Longest wait for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest head of a request, in bytes.
const HEAD_LIMIT_BYTES: usize = 32 * 1024;

/// Different verdicts that are reported of one command; the rest is only counted.
const VERDICTS_KEPT: usize = 200;

/// Says whether a destination may be connected to.
pub(crate) type DestinationCheck =
    Arc<dyn Fn(Destination) -> Result<Permit<Connection>, Box<Refusal>> + Send + Sync>;

/// A proxy that admits some destinations; it serves any number of listening sockets.
#[derive(Clone)]
pub struct NetworkProxy {
    connector: Connector,
    admit: DestinationCheck,
}

/// A proxy at work on one listening socket. It ends, with every connection, when this is dropped.
pub(crate) struct RunningProxy {
    address: SocketAddr,
    accepting: JoinHandle<()>,
    verdicts: mpsc::UnboundedReceiver<Verdict>,
    meter: Arc<TrafficMeter>,
}

/// What a command asked the proxy for.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Traffic {
    /// Each different verdict, and how often it was given.
    pub verdicts: Vec<(Verdict, u32)>,
    /// Bytes sent to hosts.
    pub sent_bytes: u64,
    /// Bytes received from hosts.
    pub received_bytes: u64,
}

/// What every connection of one socket shares.
#[derive(Clone)]
struct ProxyState {
    proxy: NetworkProxy,
    meter: Arc<TrafficMeter>,
    verdicts: mpsc::UnboundedSender<Verdict>,
}

impl NetworkProxy {
    /// Returns the proxy of a browser: it reaches each host on which the policy allows at least one
    /// page under these facts.
    pub fn of_browser(connector: Connector, policy: &Policy, facts: &Facts) -> Self {
        let (policy, facts) = (policy.clone(), facts.clone());
        let admit = move |to| policy.admit(Connection::Browser(to), &facts);
        Self::new(connector, Arc::new(admit))
    }

    /// Returns a proxy that connects through `connector` to whatever `admit` lets pass.
    pub(crate) fn new(connector: Connector, admit: DestinationCheck) -> Self {
        Self { connector, admit }
    }

    /// Serves a port of its own on `127.0.0.1`. Has to be called inside a runtime.
    ///
    /// # Errors
    /// When no port can be had.
    pub(crate) fn on_loopback(&self) -> io::Result<RunningProxy> {
        self.on(std::net::TcpListener::bind(("127.0.0.1", 0))?)
    }

    /// Serves a socket that listens already, perhaps in another network namespace. Has to be called
    /// inside a runtime.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub(crate) fn on(&self, listener: std::net::TcpListener) -> io::Result<RunningProxy> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = TcpListener::from_std(listener)?;
        let (sender, verdicts) = mpsc::unbounded_channel();
        let meter = Arc::new(TrafficMeter::default());
        let state = ProxyState { proxy: self.clone(), meter: Arc::clone(&meter), verdicts: sender };
        Ok(RunningProxy {
            address,
            accepting: tokio::spawn(accept(listener, state)),
            verdicts,
            meter,
        })
    }
}

impl RunningProxy {
    /// Returns where it listens, as seen from the socket's own network.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it and returns what was requested of it.
    pub(crate) fn finish(mut self) -> Traffic {
        self.accepting.abort();
        let (sent_bytes, received_bytes) = self.meter.totals();
        let mut traffic = Traffic { verdicts: Vec::new(), sent_bytes, received_bytes };
        while let Ok(verdict) = self.verdicts.try_recv() {
            let room = traffic.verdicts.len() < VERDICTS_KEPT;
            match traffic.verdicts.iter_mut().find(|(known, _)| *known == verdict) {
                Some((_, count)) => *count = count.saturating_add(1),
                None if room => traffic.verdicts.push((verdict, 1)),
                None => {}
            }
        }
        traffic
    }
}

/// Returns the variables that lead programs to a proxy.
pub(crate) fn variables(address: SocketAddr) -> BTreeMap<String, String> {
    let proxy = format!("http://{address}");
    let near = "localhost,127.0.0.1,::1".to_owned();
    let leads = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, proxy.clone()));
    let both = leads.into_iter().chain([("NO_PROXY", near)]).flat_map(|(name, value)| {
        let lower = (name.to_ascii_lowercase(), value.clone());
        [(name.to_owned(), value), lower]
    });
    both.chain([("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned())]).collect()
}

impl Drop for RunningProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Takes connections until it is aborted; they end with it.
async fn accept(listener: TcpListener, state: ProxyState) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_AT_ONCE));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        // What fails here fails for one connection (it was reset) or until a file can be opened
        // again.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let state = state.clone();
        connections.spawn(async move {
            let _place = place;
            state.serve(stream).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

impl ProxyState {
    /// Answers the requests of one connection; after a `CONNECT` it becomes a tunnel.
    async fn serve(&self, stream: TcpStream) {
        let (sender, mut tunnels) = mpsc::channel::<Tunnel>(1);
        let service = service_fn(|request| {
            let sender = sender.clone();
            async move { Ok::<_, Infallible>(self.answer(request, &sender).await) }
        });
        let mut server = http1::Builder::new();
        // One request a connection: programs open another, and none waits for what never comes.
        server
            .keep_alive(false)
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_buf_size(HEAD_LIMIT_BYTES);
        let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
        // A client that breaks off, or speaks something else, has had its answer.
        let _ended = connection.await;
        if let Ok(tunnel) = tunnels.try_recv() {
            let destination = tunnel.destination.clone();
            if let Err(reason) = tunnel.run(&self.meter).await {
                self.record(&[denied(&destination, reason)]);
            }
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        tunnels: &mpsc::Sender<Tunnel>,
    ) -> Response<ProxyBody> {
        let (destination, upstream) = match self.admitted(&request).await {
            Ok(admitted) => admitted,
            Err((status, why)) => return text_response(status, why),
        };
        if request.method() != Method::CONNECT {
            return forward::forward(request, &destination, upstream, &self.meter).await;
        }
        let tunnel = Tunnel { client: hyper::upgrade::on(request), upstream, destination };
        match tunnels.try_send(tunnel) {
            Ok(()) => Response::new(Empty::new().map_err(|never| match never {}).boxed()),
            Err(_) => text_response(
                StatusCode::BAD_REQUEST,
                "this connection is a tunnel already".to_owned(),
            ),
        }
    }

    /// Connects to whom a request is for, or says why not.
    async fn admitted(
        &self,
        request: &Request<Incoming>,
    ) -> Result<(Destination, TcpStream), (StatusCode, String)> {
        if !self.meter.request() {
            let why = format!("a command makes at most {REQUESTS_LIMIT} requests");
            return Err((StatusCode::TOO_MANY_REQUESTS, why));
        }
        let destination = destination_of(request).map_err(|why| (StatusCode::BAD_REQUEST, why))?;
        let permit = (self.proxy.admit)(destination.clone()).map_err(|refusal| {
            self.record(&refusal.verdicts);
            let why = refusal.verdicts.first().map_or_else(String::new, Verdict::reason);
            let why = format!("the policy does not allow `{destination}`: {why}");
            (StatusCode::FORBIDDEN, why)
        })?;
        let opened = self.proxy.connector.open(&permit, &destination).await;
        if let Err(error @ (NetworkError::Forbidden { .. } | NetworkError::NotPermitted(_))) =
            &opened
        {
            self.record(&[denied(&destination, error.to_string())]);
            return Err((StatusCode::FORBIDDEN, error.to_string()));
        }
        self.record(permit.verdicts());
        let upstream = opened.map_err(|error| (StatusCode::BAD_GATEWAY, error.to_string()))?;
        Ok((destination, upstream))
    }

    fn record(&self, verdicts: &[Verdict]) {
        for verdict in verdicts {
            // The receiver is gone once the command has ended.
            let _heard = self.verdicts.send(verdict.clone());
        }
    }
}

/// Reads whom a request is for: `CONNECT host:port`, or `GET http://host/path`.
fn destination_of(request: &Request<Incoming>) -> Result<Destination, String> {
    let uri: &Uri = request.uri();
    let authority = uri.authority().map(|authority| authority.as_str());
    let (scheme, authority) =
        match (request.method() == Method::CONNECT, uri.scheme_str(), authority) {
            (true, None, Some(authority)) => (Scheme::Https, authority),
            (false, Some("http"), Some(authority)) => (Scheme::Http, authority),
            _ => {
                return Err("this is a proxy: it takes `CONNECT host:port`, and `http://` \
                            addresses written in full"
                    .to_owned());
            }
        };
    let (host, port) = split_port(authority)?;
    if scheme == Scheme::Https && port.is_none() {
        return Err("`CONNECT` names no port".to_owned());
    }
    Ok(Destination {
        host: Host::parse(host)?,
        port: port.unwrap_or(scheme.default_port()),
        scheme,
    })
}

fn denied(destination: &Destination, reason: String) -> Verdict {
    Verdict::denied(format!("connect({destination})"), reason)
}

#[cfg(test)]
mod tests;
