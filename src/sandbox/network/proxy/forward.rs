//! Requests in the clear: sent to the host again, on a connection of their own, so that each one is
//! judged by itself.
//!
//! In: a request with a whole address, and a connection to its host. Out: the host's answer. What
//! belongs to the connection with the proxy stays behind.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::network::proxy::meter::TrafficMeter;
use crate::network::proxy::response::{ProxyBody, text_response};
use locum_policy::urls::{Destination, Scheme};

/// Headers that are about one connection and not about the request.
const OF_THE_CONNECTION: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Asks the host and returns its answer.
pub(super) async fn forward(
    request: Request<Incoming>,
    destination: &Destination,
    upstream: TcpStream,
    meter: &Arc<TrafficMeter>,
) -> Response<ProxyBody> {
    match ask(request, destination, upstream, meter).await {
        Ok(response) => response,
        Err(error) => text_response(
            StatusCode::BAD_GATEWAY,
            format!("`{destination}` did not answer: {error}"),
        ),
    }
}

async fn ask(
    request: Request<Incoming>,
    destination: &Destination,
    upstream: TcpStream,
    meter: &Arc<TrafficMeter>,
) -> hyper::Result<Response<ProxyBody>> {
    let (mut asker, connection) = http1::handshake(TokioIo::new(upstream)).await?;
    // Ends when the answer is read, or its reader is gone.
    tokio::spawn(connection);
    let (mut head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse::<Uri>().unwrap_or_default();
    strip(&mut head.headers);
    if let Ok(host) = HeaderValue::try_from(host_header(destination)) {
        head.headers.insert(HOST, host);
    }
    let body = CountedBody { inner: body, meter: Arc::clone(meter), count: TrafficMeter::sent };
    let (mut head, body) = asker.send_request(Request::from_parts(head, body)).await?.into_parts();
    strip(&mut head.headers);
    let body = CountedBody { inner: body, meter: Arc::clone(meter), count: TrafficMeter::received };
    Ok(Response::from_parts(head, body.boxed()))
}

fn host_header(destination: &Destination) -> String {
    if destination.port == Scheme::Http.default_port() {
        destination.host.to_string()
    } else {
        format!("{}:{}", destination.host, destination.port)
    }
}

/// Takes out what is about the connection, and what `Connection` says is.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_THE_CONNECTION {
        headers.remove(*name);
    }
}

/// A body that is counted as it passes.
struct CountedBody {
    inner: Incoming,
    meter: Arc<TrafficMeter>,
    /// How its bytes are counted.
    count: fn(&TrafficMeter, usize) -> io::Result<()>,
}

impl hyper::body::Body for CountedBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(context);
        polled.map(|frame| {
            let frame = match frame? {
                Ok(frame) => frame,
                Err(error) => return Some(Err(error.into())),
            };
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            Some((self.count)(&self.meter, bytes).map(|()| frame).map_err(Into::into))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
