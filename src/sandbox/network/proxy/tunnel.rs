//! `Tunnel`: an encrypted connection of a command, passed on byte by byte.
//!
//! In: both ends. Out: nothing, or why its first bytes are denied. The first bytes have to be those
//! of TLS and to name the host that was admitted. Many hosts live at one address, and a tunnel to
//! one of them is not to be one to all.

use std::io;
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::network::proxy::meter::TrafficMeter;
use locum_policy::urls::Destination;
use locum_policy::urls::host::Host;

/// Longest wait for the greeting of a client.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest greeting of a client, in bytes.
const GREETING_LIMIT_BYTES: usize = 64 * 1024;

/// Bytes passed on at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// A connection that is about to be passed on.
pub(super) struct Tunnel {
    /// The client's end, once it has its answer.
    pub(super) client: OnUpgrade,
    /// Connection to the host.
    pub(super) upstream: TcpStream,
    /// Who was admitted.
    pub(super) destination: Destination,
}

impl Tunnel {
    /// Passes bytes on until one side ends.
    ///
    /// # Errors
    /// Why a greeting is denied: it is not for the host that was admitted.
    pub(super) async fn run(self, meter: &TrafficMeter) -> Result<(), String> {
        // What breaks off is not denied: the program on either side sees it.
        let Ok(client) = self.client.await else { return Ok(()) };
        let mut client = TokioIo::new(client);
        let greeting = match timeout(GREETING_TIMEOUT, greeting(&mut client)).await {
            Ok(Ok((name, greeting))) if is_for(name.as_deref(), &self.destination.host) => greeting,
            Ok(Ok((name, _))) => {
                let named = name.map_or("no host".to_owned(), |name| format!("`{name}`"));
                return Err(format!("the TLS greeting in the tunnel names {named}"));
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                return Err("the tunnel does not carry TLS".to_owned());
            }
            Ok(Err(_)) | Err(_) => return Ok(()),
        };
        let (from_client, to_client) = tokio::io::split(client);
        let (from_host, mut to_host) = self.upstream.into_split();
        if meter.sent(greeting.len()).is_err() || to_host.write_all(&greeting).await.is_err() {
            return Ok(());
        }
        let up = pump(from_client, to_host, |bytes| meter.sent(bytes));
        let down = pump(from_host, to_client, |bytes| meter.received(bytes));
        let _ended = tokio::try_join!(up, down);
        Ok(())
    }
}

/// Reads a client's greeting: the name it asks for, and the bytes it came in.
async fn greeting(client: &mut (impl AsyncRead + Unpin)) -> io::Result<(Option<String>, Vec<u8>)> {
    let mut acceptor = Acceptor::default();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = client.read(&mut chunk).await?;
        let read = chunk
            .get(..count)
            .filter(|read| !read.is_empty())
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.extend_from_slice(read);
        let mut rest = read;
        while !rest.is_empty() {
            acceptor.read_tls(&mut rest).map_err(|_| io::ErrorKind::InvalidData)?;
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => {
                return Ok((accepted.client_hello().server_name().map(str::to_owned), bytes));
            }
            Ok(None) if bytes.len() < GREETING_LIMIT_BYTES => {}
            Ok(None) | Err(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// A host given as an address is requested without a name.
fn is_for(name: Option<&str>, host: &Host) -> bool {
    match host {
        Host::Name(wanted) => name.is_some_and(|name| {
            Host::parse(name).is_ok_and(|host| host == Host::Name(wanted.clone()))
        }),
        Host::Address(_) => name.is_none(),
    }
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    count: impl Fn(usize) -> io::Result<()>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = from.read(&mut chunk).await?;
        let Some(bytes) = chunk.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return to.shutdown().await;
        };
        count(read)?;
        to.write_all(bytes).await?;
    }
}
