//! One page: requested once, over a connection to an address that was checked. Redirects are not
//! followed here.
//!
//! In: a permit and the address it covers. Out: the answer's head and as much of its body as is
//! kept, decompressed. What is sent is a fixed list: no cookie, no credential, nothing of the
//! machine.

use std::io::Write;

use flate2::write::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName,
    LOCATION, USER_AGENT,
};
use hyper::http::request;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use crate::network::{Connector, NetworkError};
use locum_policy::Permit;
use locum_policy::intent::Act;
use locum_policy::urls::{Scheme, WebUrl};

/// Most bytes of a body that are kept, decompressed; as many are read at most.
pub const PAGE_LIMIT_BYTES: usize = 8 << 20;

/// Longest head of an answer, in bytes, and most headers in it.
const HEAD_LIMIT_BYTES: usize = 64 * 1024;
const HEADERS_LIMIT: usize = 100;

/// The answer to the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPage {
    /// HTTP status code.
    pub status: u16,
    /// What it says it is: `text/html; charset=utf-8`; empty when it does not say.
    pub content_type: String,
    /// Where it sends the asker, as written.
    pub location: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// Whether there was more of it than is kept.
    pub is_cut: bool,
}

/// Why no answer was read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The address is not understood.
    #[error("this address cannot be fetched")]
    Address,
    /// No connection was made.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Its certificate does not hold.
    #[error("TLS certificate verification failed for `{host}`: {message}")]
    Proof {
        /// Name of the host.
        host: String,
        /// What is wrong with its certificate or name.
        message: String,
    },
    /// What it answers is not HTTP as it should be, or breaks off.
    #[error("the response of `{host}` cannot be read: {message}")]
    Answer {
        /// Name of the host.
        host: String,
        /// What is wrong with its answer.
        message: String,
    },
}

impl Connector {
    /// Requests a page.
    ///
    /// # Errors
    /// When no connection can be made, the host does not prove its name, or its answer cannot be
    /// read.
    pub async fn page(
        &self,
        permit: &Permit<impl Act>,
        url: &WebUrl,
    ) -> Result<WebPage, PageError> {
        let request = Request::get("/")
            .header(
                ACCEPT,
                "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.8, \
                 */*;q=0.1",
            )
            .header(ACCEPT_ENCODING, "gzip");
        let (host, response) = self.ask(permit, url, request, Bytes::new()).await?;
        page_of(&host, response).await
    }

    /// Sends one request over a connection of its own to the host of `url`, and returns the host's
    /// name with the head of its answer. The request's target, host and agent are filled in.
    pub(super) async fn ask(
        &self,
        permit: &Permit<impl Act>,
        url: &WebUrl,
        request: request::Builder,
        body: Bytes,
    ) -> Result<(String, Response<Incoming>), PageError> {
        let (address, destination) = url.url().zip(url.destination()).ok_or(PageError::Address)?;
        let host = destination.host.to_string();
        let stream = self.open(permit, destination).await?;
        let target = match address.query() {
            Some(query) => format!("{}?{query}", address.path()),
            None => address.path().to_owned(),
        };
        let port = destination.port != destination.scheme.default_port();
        let named = if port { format!("{host}:{}", destination.port) } else { host.clone() };
        let request = request
            .uri(target)
            .header(HOST, &named)
            .header(USER_AGENT, concat!("locum/", env!("CARGO_PKG_VERSION")))
            .header(CONNECTION, "close")
            .body(Full::new(body))
            .map_err(|error| PageError::Answer {
                host: named.clone(),
                message: error.to_string(),
            })?;
        let response = match destination.scheme {
            Scheme::Http => send(stream, &named, request).await?,
            Scheme::Https => {
                let unverified = |message: String| PageError::Proof { host: host.clone(), message };
                let trust = self.transport.tls_config().map_err(&unverified)?;
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
                    .map_err(|error| unverified(error.to_string()))?;
                let stream = TlsConnector::from(trust)
                    .connect(name, stream)
                    .await
                    .map_err(|error| unverified(error.to_string()))?;
                send(stream, &named, request).await?
            }
        };
        Ok((named, response))
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    host: &str,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, PageError> {
    let unread = |error: hyper::Error| {
        let cause =
            std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        PageError::Answer { host: host.to_owned(), message: format!("{error}{cause}") }
    };
    let mut client = http1::Builder::new();
    client.max_buf_size(HEAD_LIMIT_BYTES).max_headers(HEADERS_LIMIT);
    let (mut asker, connection) = client.handshake(TokioIo::new(stream)).await.map_err(unread)?;
    // Ends when the answer is read, or its reader is gone.
    tokio::spawn(connection);
    asker.send_request(request).await.map_err(unread)
}

async fn page_of(host: &str, response: Response<Incoming>) -> Result<WebPage, PageError> {
    let header = |name: HeaderName| {
        response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let (content_type, location, encoding) =
        (header(CONTENT_TYPE), header(LOCATION), header(CONTENT_ENCODING));
    let status = response.status().as_u16();
    let encoding = encoding.as_deref().unwrap_or("identity").trim().to_ascii_lowercase();
    let kept = BoundedBody::default();
    let kept = match encoding.as_str() {
        "identity" | "" => read(response, BodyReader::Plain(kept)).await,
        "gzip" | "x-gzip" => read(response, BodyReader::Gzip(Box::new(GzDecoder::new(kept)))).await,
        other => Err(format!("unexpected content encoding `{other}`")),
    };
    let kept = kept.map_err(|message| PageError::Answer { host: host.to_owned(), message })?;
    Ok(WebPage {
        status,
        content_type: content_type.unwrap_or_default(),
        location,
        body: kept.bytes,
        is_cut: kept.is_full,
    })
}

/// The start of a body; refuses what comes once it is full.
#[derive(Default)]
struct BoundedBody {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for BoundedBody {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = PAGE_LIMIT_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.is_full |= bytes.len() > room;
        if self.is_full { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

enum BodyReader {
    Plain(BoundedBody),
    Gzip(Box<GzDecoder<BoundedBody>>),
}

impl BodyReader {
    fn take(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(kept) => kept.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
        }
    }

    fn kept(&self) -> &BoundedBody {
        match self {
            Self::Plain(kept) => kept,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    /// Returns what was read to the end.
    fn finish(self) -> Result<BoundedBody, String> {
        match self {
            Self::Plain(kept) => Ok(kept),
            Self::Gzip(mut decoder) => match decoder.try_finish() {
                Err(error) if !decoder.get_ref().is_full => {
                    Err(format!("invalid gzip data: {error}"))
                }
                Ok(()) | Err(_) => Ok(std::mem::take(decoder.get_mut())),
            },
        }
    }
}

/// Reads a body until it ends or enough of it is kept; a compressed one is read no further than an
/// uncompressed one would be.
async fn read(
    mut response: Response<Incoming>,
    mut reader: BodyReader,
) -> Result<BoundedBody, String> {
    let mut read_bytes = 0_usize;
    while let Some(frame) = response.frame().await {
        let frame = frame.map_err(|error| format!("the connection breaks off: {error}"))?;
        let Some(bytes) = frame.data_ref() else { continue };
        read_bytes = read_bytes.saturating_add(bytes.len());
        match reader.take(bytes) {
            Ok(()) if read_bytes <= PAGE_LIMIT_BYTES => {}
            Err(error) if !reader.kept().is_full => {
                return Err(format!("invalid gzip data: {error}"));
            }
            Ok(()) | Err(_) => {
                return Ok(BoundedBody { bytes: reader.kept().bytes.clone(), is_full: true });
            }
        }
    }
    reader.finish()
}
