//! `Tunnel`: what stands between a program and the world: a server behind TLS whose certificate was
//! made for the test, and a proxy in front of it.
//!
//! In: where a plain server listens. Out: the certificate's maker as a file would hold it, the
//! proxy's port, and the head of every request the proxy got, which is all that it can see of what
//! goes through.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use base64::Engine as _;
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

/// A server behind TLS.
pub(crate) struct TlsFront {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Who vouches for it, as PEM.
    pub(crate) authority: String,
}

/// A proxy that is listening.
pub(crate) struct Proxy {
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
    heads: Receiver<String>,
}

/// What a proxy does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gate {
    /// Passes it on to this address, whatever the request names.
    Open(SocketAddr),
    /// Answers with this status.
    Closed(u16),
    /// Never answers.
    Silent,
}

impl TlsFront {
    /// Puts TLS in front of a plain server; the certificate is for `host`.
    pub(crate) fn before(plain: SocketAddr, host: &str) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").unwrap(), plain, &[host])
    }

    /// The same where somebody listens already, with a certificate for each of these hosts.
    pub(crate) fn at(listener: TcpListener, plain: SocketAddr, hosts: &[&str]) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).unwrap();
        let issuer = rcgen::Issuer::new(params, key);
        let own_key = rcgen::KeyPair::generate().unwrap();
        let own = rcgen::CertificateParams::new(
            hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>(),
        )
        .unwrap()
        .signed_by(&own_key, &issuer)
        .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth();
        let own_key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own_key.serialize_der()));
        let acceptor = TlsAcceptor::from(Arc::new(
            server.with_single_cert(vec![own.der().clone()], own_key).unwrap(),
        ));
        let address = listener.local_addr().unwrap();
        thread::spawn(move || serve_tls(listener, plain, &acceptor));
        let base64 = base64::engine::general_purpose::STANDARD.encode(authority.der());
        let lines: Vec<&str> =
            base64.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        Self {
            address,
            authority: format!(
                "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
                lines.join("\n")
            ),
        }
    }
}

impl Proxy {
    /// Starts a proxy.
    pub(crate) fn start(gate: Gate) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heads) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), tell) = (stream, tell.clone()) else { return };
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    if reader.fill_buf().is_ok_and(|bytes| bytes.first() == Some(&5)) {
                        let _ = tell.send(shake_hands(&mut reader));
                        pass(gate, "", reader);
                    } else if let Some(head) = read_head(&mut reader) {
                        let _ = tell.send(head.clone());
                        pass(gate, &head, reader);
                    }
                });
            }
        });
        Self { port, heads }
    }

    /// Returns the heads of the requests since the last time.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.try_iter().collect()
    }

    /// Waits for a request and returns its head.
    pub(crate) fn next_head(&self) -> String {
        self.heads.recv().unwrap()
    }
}

fn serve_tls(listener: TcpListener, plain: SocketAddr, acceptor: &TlsAcceptor) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    listener.set_nonblocking(true).unwrap();
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust the certificate leaves.
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut plain = tokio::net::TcpStream::connect(plain).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut plain).await;
            });
        }
    });
}

fn read_head(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|count| *count > 0)?;
    }
    Some(head)
}

/// Speaks SOCKS 5 (RFC 1928, RFC 1929) up to where the bytes of the connection begin; returns who
/// asks, and for which host.
fn shake_hands(reader: &mut BufReader<TcpStream>) -> String {
    let mut writer = reader.get_ref().try_clone().unwrap();
    let [_, methods] = take(reader);
    take_text(reader, methods);
    writer.write_all(&[5, 2]).unwrap();
    let [_, length] = take(reader);
    let name = take_text(reader, length);
    let [length] = take(reader);
    let password = take_text(reader, length);
    writer.write_all(&[1, 0]).unwrap();
    let [_, _, _, _, length] = take(reader);
    let host = take_text(reader, length);
    let _port: [u8; 2] = take(reader);
    writer.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
    format!("{name} {password} {host}")
}

fn take<const COUNT: usize>(reader: &mut BufReader<TcpStream>) -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    reader.read_exact(&mut bytes).unwrap();
    bytes
}

fn take_text(reader: &mut BufReader<TcpStream>, length: u8) -> String {
    let mut bytes = vec![0; usize::from(length)];
    reader.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn pass(gate: Gate, head: &str, mut reader: BufReader<TcpStream>) {
    let mut writer = reader.get_ref().try_clone().unwrap();
    match gate {
        Gate::Silent => drop(reader.read(&mut [0])),
        Gate::Closed(status) => drop(
            writer
                .write_all(format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n").as_bytes()),
        ),
        Gate::Open(address) => {
            let mut out = TcpStream::connect(address).unwrap();
            if head.starts_with("CONNECT ") {
                writer.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            } else {
                // The head of a request that is passed on; nothing where a connection is.
                out.write_all(head.as_bytes()).unwrap();
            }
            let mut back = out.try_clone().unwrap();
            thread::spawn(move || {
                let _ = std::io::copy(&mut back, &mut writer);
                let _ = writer.shutdown(Shutdown::Both);
            });
            let _ = std::io::copy(&mut reader, &mut out);
            let _ = out.shutdown(Shutdown::Both);
        }
    }
}
