//! A transport for tests: names resolve to what the test says, and every connection leads to one
//! server of the test, whatever was checked.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use futures::future::BoxFuture;
use tokio::net::TcpStream;

use locum_sandbox::network::Transport;

/// What every other name resolves to.
pub const PUBLIC: &str = "93.184.216.34";

/// Resolves names as a test says, and records what would be connected to.
pub struct RecordingTransport {
    names: BTreeMap<String, Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
    server: SocketAddr,
    connected: mpsc::Sender<SocketAddr>,
}

impl RecordingTransport {
    /// Returns a transport and where it reports what it would have connected to. A name has one
    /// answer a question; the last one stays.
    pub fn new(
        server: SocketAddr,
        names: &[(&str, &[&[&str]])],
    ) -> (Self, mpsc::Receiver<SocketAddr>) {
        let (connected, seen) = mpsc::channel();
        let answer =
            |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        let names = names
            .iter()
            .map(|(name, answers)| ((*name).to_owned(), answers.iter().map(answer).collect()))
            .collect();
        (Self { names, asked: AtomicUsize::new(0), server, connected }, seen)
    }
}

/// Serves answers, byte for byte, by the start of the request; keeps the requests. Runs until the
/// test ends.
pub fn serve(answers: Vec<(&'static str, Vec<u8>)>) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut chunk = [0; 1024];
            // Who begins with a greeting of TLS is answered at once.
            while !request.starts_with(&[0x16]) && !request.windows(4).any(|end| end == b"\r\n\r\n")
            {
                match stream.read(&mut chunk) {
                    Ok(count) if count > 0 => request.extend_from_slice(&chunk[..count]),
                    _ => break,
                }
            }
            let request = String::from_utf8_lossy(&request).into_owned();
            let answer = answers
                .iter()
                .find(|(start, _)| request.starts_with(start))
                .map(|(_, answer)| answer.as_slice());
            let _sent = stream.write_all(
                answer.unwrap_or(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
            );
            let _heard = sender.send(request);
        }
    });
    (address, requests)
}

impl Transport for RecordingTransport {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let found = self
            .names
            .get(name)
            .map(|answers| answers.get(asked).or(answers.last()).cloned().unwrap_or_default());
        Box::pin(async move { Ok(found.unwrap_or_else(|| vec![PUBLIC.parse().unwrap()])) })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        self.connected.send(address).unwrap();
        Box::pin(TcpStream::connect(self.server))
    }

    fn tls_config(&self) -> Result<Arc<rustls::ClientConfig>, String> {
        let builder = rustls::ClientConfig::builder_with_provider(Arc::new(
            rustls::crypto::ring::default_provider(),
        ));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        Ok(Arc::new(
            builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth(),
        ))
    }
}
