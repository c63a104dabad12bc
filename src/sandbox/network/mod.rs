//! The network: the one place that turns a permitted destination into a connection, and the proxy
//! that holds commands to theirs.
//!
//! In: a permit and the destination it covers. Out: a connection to an address that was checked, or
//! why there is none. A name is resolved here, and only here. Every address it resolves to has to
//! be public, and exactly these are connected to. A port of this machine is reached for an MCP
//! server alone, where the policy lists it.

pub mod exchange;
pub mod offline;
pub mod page;
pub mod proxy;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::TcpStream;
use tokio::time::timeout;

use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::urls::address::special;
use locum_policy::urls::host::Host;
use locum_policy::urls::{Destination, WebUrl};

/// Longest wait for the addresses of a name, and for a connection to one of them.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for a whole page, however many hosts lead to it.
const WHOLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Addresses of one name that are tried.
const ADDRESSES_TRIED: usize = 4;

/// How names become addresses and addresses connections. The machine's own in a run; tests watch
/// what would be connected to.
pub trait Transport: Send + Sync {
    /// Returns every address of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;

    /// Connects to an address.
    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;

    /// Returns what certificates of hosts are verified with.
    ///
    /// # Errors
    /// When there is nothing to verify them with.
    fn tls_config(&self) -> Result<Arc<rustls::ClientConfig>, String>;
}

/// The machine's own resolver and sockets. Variables that name a proxy are not looked at: what a
/// proxy connects to cannot be checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SystemTransport;

impl Transport for SystemTransport {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            // The dot at its end keeps the machine's search domains out of it.
            let found = tokio::net::lookup_host((format!("{name}."), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }

    fn tls_config(&self) -> Result<Arc<rustls::ClientConfig>, String> {
        use rustls_platform_verifier::BuilderVerifierExt;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(BuilderVerifierExt::with_platform_verifier)
            .map_err(|error| error.to_string())?;
        Ok(Arc::new(config.with_no_client_auth()))
    }
}

/// Why no connection was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// The permit was given for something else.
    #[error("`{0}` is not covered by the permit")]
    NotPermitted(String),
    /// The name resolves to an address that is never connected to.
    #[error("`{name}` resolves to {address}, {what}")]
    Forbidden {
        /// The name, or the address as written.
        name: String,
        /// Address that the name resolved to.
        address: IpAddr,
        /// Kind of address, as text.
        what: &'static str,
    },
    /// The name has no address.
    #[error("cannot resolve `{name}`: {message}")]
    Unresolved {
        /// Name that does not resolve.
        name: String,
        /// What the resolver said.
        message: String,
    },
    /// Nothing answers there.
    #[error("cannot connect to `{destination}`: {message}")]
    Unreachable {
        /// Host and port.
        destination: String,
        /// What the operating system said.
        message: String,
    },
}

/// Opens connections to destinations that a permit covers.
#[derive(Clone)]
pub struct Connector {
    transport: Arc<dyn Transport>,
    step: Duration,
    whole: Duration,
}

impl Default for Connector {
    fn default() -> Self {
        Self::new(Arc::new(SystemTransport))
    }
}

impl Connector {
    /// Returns a connector that resolves and connects so.
    pub fn new(transport: Arc<dyn Transport>) -> Self {
        Self { transport, step: STEP_TIMEOUT, whole: WHOLE_TIMEOUT }
    }

    /// Returns the same connector with less patience.
    pub fn within(self, whole: Duration) -> Self {
        Self { step: self.step.min(whole), whole: self.whole.min(whole), ..self }
    }

    /// Returns the longest wait for a whole page.
    pub fn whole(&self) -> Duration {
        self.whole
    }

    /// Connects to a destination that the permit covers, at an address that was checked.
    ///
    /// # Errors
    /// When the permit covers something else, the name has an address that is not public, has none,
    /// or nothing answers.
    pub async fn open(
        &self,
        permit: &Permit<impl Act>,
        destination: &Destination,
    ) -> Result<TcpStream, NetworkError> {
        let covers = |intent: &Intent| match intent {
            Intent::Connect(permitted)
            | Intent::Visit(permitted)
            | Intent::Service { destination: permitted, .. } => permitted == destination,
            Intent::Fetch(url) => url.destination() == Some(destination),
            Intent::Search(query) => {
                query.engine().and_then(WebUrl::destination) == Some(destination)
            }
            _ => false,
        };
        let intents = permit.act().intents();
        if !intents.iter().any(covers) {
            return Err(NetworkError::NotPermitted(destination.to_string()));
        }
        // Only the policy's own word for a service opens this machine, and only as it is written:
        // a name that somebody resolves to it stays refused.
        let is_service = |intent: &Intent| matches!(intent, Intent::Service { destination: permitted, .. } if permitted == destination);
        let addresses = if destination.host.is_loopback() && intents.iter().any(is_service) {
            vec![this_machine(&destination.host)]
        } else {
            self.checked(&destination.host).await?
        };
        let mut message = "it has no address".to_owned();
        for address in addresses.into_iter().take(ADDRESSES_TRIED) {
            let address = SocketAddr::new(address, destination.port);
            match self.wait(self.transport.connect(address)).await {
                Ok(stream) => return Ok(stream),
                Err(error) => message = error,
            }
        }
        Err(NetworkError::Unreachable { destination: destination.to_string(), message })
    }

    /// Waits for one step on the way to a connection.
    async fn wait<T>(&self, step: BoxFuture<'_, io::Result<T>>) -> Result<T, String> {
        match timeout(self.step, step).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no answer within {} s", self.step.as_secs_f64())),
        }
    }

    /// Resolves a host. One address that is not public refuses them all: who answers so is not to
    /// be trusted with the others.
    async fn checked(&self, host: &Host) -> Result<Vec<IpAddr>, NetworkError> {
        let addresses = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let found = match self.wait(self.transport.resolve(name)).await {
                    Ok(found) if found.is_empty() => Err("it has no address".to_owned()),
                    found => found,
                };
                found.map_err(|message| NetworkError::Unresolved { name: name.clone(), message })?
            }
        };
        match addresses.iter().find_map(|address| Some((*address, special(*address)?))) {
            Some((address, what)) => {
                Err(NetworkError::Forbidden { name: host.to_string(), address, what })
            }
            None => Ok(addresses),
        }
    }
}

/// Returns the address of this machine that a host stands for; `localhost` is not looked up.
fn this_machine(host: &Host) -> IpAddr {
    match host {
        Host::Address(address) => *address,
        Host::Name(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Connector;
    use crate::samples::{PUBLIC, RecordingTransport, serve};
    use locum_policy::Policy;
    use locum_policy::intent::{Connection, Facts};
    use locum_policy::urls::Destination;

    /// Connects to a listed host whose name resolves to these addresses; true when anything was
    /// connected to.
    fn reaches(answer: &[&str]) -> bool {
        let (server, _) = serve(Vec::new());
        let (transport, connected) = RecordingTransport::new(server, &[("docs.rs", &[answer])]);
        let policy =
            Policy::parse("version: 1\nnetwork: { allow: [docs.rs] }\n", "policy.yml").unwrap();
        let destination = Destination::parse("docs.rs").unwrap();
        let permit =
            policy.admit(Connection::Command(destination.clone()), &Facts::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let opened = runtime
            .block_on(Connector::new(Arc::new(transport)).open(&permit, &destination))
            .is_ok();
        let other = Destination::parse("evil.example").unwrap();
        let (elsewhere, _) = RecordingTransport::new(server, &[]);
        assert!(
            runtime.block_on(Connector::new(Arc::new(elsewhere)).open(&permit, &other)).is_err(),
            "a permit covers what it was given for"
        );
        opened || connected.try_iter().count() > 0
    }

    #[test]
    fn what_a_name_stands_for_has_to_be_public() {
        assert!(reaches(&[PUBLIC]) && !reaches(&[]));
        for answer in
            ["127.0.0.1", "169.254.169.254", "10.0.0.1", "fd00:ec2::254", "::ffff:127.0.0.1"]
        {
            assert!(!reaches(&[answer]), "{answer}");
            assert!(!reaches(&[PUBLIC, answer]), "{answer} beside a public one");
        }
    }
}
