//! One exchange of JSON over HTTP with a service, an MCP server or a search engine: a request, and
//! an answer that is read piece by piece.
//!
//! In: a permit, the address, headers of the caller. Out: the answer's head, and its body as it
//! comes. As with pages, the connection goes to an address that was checked, and redirects are not
//! followed: what is sent may hold a key, and goes nowhere else.

use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;

use crate::network::Connector;
use crate::network::page::PageError;
use locum_base::secret::Secret;
use locum_policy::Permit;
use locum_policy::intent::Act;
use locum_policy::urls::WebUrl;

/// The method of a request, with its body where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// Something is asked for by its address alone.
    Get,
    /// This JSON is sent.
    Post(String),
    /// This form is sent, encoded.
    Form(String),
    /// What was begun is over.
    Delete,
}

/// An answer on its way.
pub struct StreamedResponse {
    /// HTTP status code.
    pub status: u16,
    /// What it says it is, in small letters and without parameters; empty when it does not say.
    pub content_type: String,
    headers: hyper::HeaderMap,
    host: String,
    body: Incoming,
}

impl Connector {
    /// Sends one request to an address.
    ///
    /// # Errors
    /// When no connection can be made, the host does not prove its name, or its answer cannot be
    /// read.
    pub async fn exchange(
        &self,
        permit: &Permit<impl Act>,
        url: &WebUrl,
        verb: HttpMethod,
        headers: &[(String, Secret)],
    ) -> Result<StreamedResponse, PageError> {
        let (request, body) = match verb {
            HttpMethod::Get => (Request::get("/"), Bytes::new()),
            HttpMethod::Post(body) => {
                (Request::post("/").header(CONTENT_TYPE, "application/json"), Bytes::from(body))
            }
            HttpMethod::Form(body) => {
                let kind = "application/x-www-form-urlencoded";
                (Request::post("/").header(CONTENT_TYPE, kind), Bytes::from(body))
            }
            HttpMethod::Delete => (Request::delete("/"), Bytes::new()),
        };
        let request = headers
            .iter()
            .fold(request, |request, (name, value)| request.header(name, value.expose()));
        let (host, response) = self.ask(permit, url, request, body).await?;
        let (head, body) = response.into_parts();
        let content_type = head
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let content_type =
            content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        Ok(StreamedResponse {
            status: head.status.as_u16(),
            content_type,
            headers: head.headers,
            host,
            body,
        })
    }
}

impl StreamedResponse {
    /// Returns a header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Waits for the next piece of the body; `None` at its end.
    ///
    /// # Errors
    /// When it breaks off.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, PageError> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| PageError::Answer {
                host: self.host.clone(),
                message: format!("the connection breaks off: {error}"),
            })?;
            if let Ok(bytes) = frame.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Reads the rest of the body.
    ///
    /// # Errors
    /// When it breaks off, or is longer than that.
    pub async fn body_within(&mut self, limit_bytes: usize) -> Result<Vec<u8>, PageError> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > limit_bytes {
                let message = format!("it is longer than {limit_bytes} bytes");
                return Err(PageError::Answer { host: self.host.clone(), message });
            }
        }
        Ok(bytes)
    }
}

/// Returns a text as it stands in a form.
pub fn percent_encoded(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match plain(byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
