//! What the proxy itself answers a command.

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

/// Body of what is answered: the proxy's own, or that of a host.
pub(super) type ProxyBody = BoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// Returns a response with one sentence in it.
pub(super) fn text_response(status: StatusCode, sentence: String) -> Response<ProxyBody> {
    let body = Full::new(Bytes::from(format!("locum: {sentence}\n")))
        .map_err(|never| match never {})
        .boxed();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
