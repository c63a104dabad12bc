//! The HTTP client of a model: its proxy, its certificates, its headers, and what its errors mean.
//!
//! In: an address, a proxy, a key. Out: a client and headers, or why there are none. No redirect is
//! followed, so a key never reaches a host it was not meant for.

use std::error::Error;
use std::iter::successors;
use std::time::Duration;

use reqwest::Client;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::address::is_loopback;
use crate::proxy::ProxySettings;
use crate::resolve::ChosenModel;
use crate::transport::protocol::{Endpoint, KeyHeader};
use locum_base::secret::Secret;

/// Longest wait for a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Sends a JSON text to an address that is not a model's, and returns the status of the answer.
///
/// # Errors
/// When a header cannot be used, or no answer came in time.
pub async fn post(
    url: &Url,
    headers: &[(String, Secret)],
    body: String,
    timeouts: Duration,
) -> Result<u16, String> {
    let mut request = client(url, ProxySource::System)?
        .post(url.clone())
        .timeout(timeouts)
        .header(CONTENT_TYPE, "application/json")
        .body(body);
    for (name, value) in headers {
        let (name, mut value) = header(name, value.expose())?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    Ok(request.send().await.map_err(|err| described(&err))?.status().as_u16())
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let fault = |err: &dyn Error| format!("header `{name}`: {err}");
    let key = HeaderName::try_from(name).map_err(|err| fault(&err))?;
    Ok((key, HeaderValue::try_from(value).map_err(|err| fault(&err))?))
}

pub(super) fn headers(chosen: &ChosenModel, endpoint: &Endpoint) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let own = chosen.profile.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in endpoint.headers.iter().copied().chain(own) {
        let (name, value) = header(name, value)?;
        headers.insert(name, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if let Some(key) = &chosen.key {
        let (name, value) = match endpoint.key_header {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {}", key.expose())),
            KeyHeader::Named(name) => (HeaderName::from_static(name), key.expose().to_owned()),
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| "the key cannot be sent in a header".to_owned())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// How a connection finds its way.
#[derive(Clone, Copy)]
pub(crate) enum ProxySource<'p> {
    /// Through this proxy, or directly.
    Configured(Option<&'p ProxySettings>),
    /// As the variables of this process say.
    System,
}

pub(crate) fn client(url: &Url, way: ProxySource<'_>) -> Result<Client, String> {
    // The first caller in the process wins; a provider that is already installed is as good.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("locum/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    if url.scheme() == "http" {
        // ReplyParser the system's certificates is the dearest part of a client and of no use here.
        builder = builder.tls_certs_only([]);
    }
    // A proxy of the environment is for the world outside.
    builder = match way {
        ProxySource::System if !is_loopback(url) => builder,
        ProxySource::System | ProxySource::Configured(None) => builder.no_proxy(),
        ProxySource::Configured(Some(proxy)) => {
            let address =
                reqwest::Proxy::all(proxy.address.expose()).map_err(|err| described(&err))?;
            builder.no_proxy().proxy(address.no_proxy(reqwest::NoProxy::from_string(&proxy.except)))
        }
    };
    builder.build().map_err(|err| {
        let message = described(&err);
        lasting(&message).map_or_else(|| message.clone(), |hint| format!("{message}; {hint}"))
    })
}

/// Returns what to do about a connection fault that a retry will not fix.
pub(super) fn lasting(message: &str) -> Option<&'static str> {
    const LASTING: &[(&str, &str)] = &[
        (
            "invalid peer certificate",
            "`SSL_CERT_FILE` or `SSL_CERT_DIR` says whose certificates are trusted in place of \
             the system's",
        ),
        (
            "No CA certificates were loaded",
            "`SSL_CERT_FILE` or `SSL_CERT_DIR` stands in place of the system's certificates: is \
             it there?",
        ),
        (
            "proxy authorization required",
            "the address of the proxy needs a user name and a password before its host",
        ),
    ];
    LASTING.iter().find(|(fault, _)| message.contains(fault)).map(|(_, hint)| *hint)
}

/// Returns an error with its causes, without the address it happened at.
pub(crate) fn described(err: &reqwest::Error) -> String {
    let mut causes: Vec<String> =
        successors(err.source(), |cause| (*cause).source()).map(ToString::to_string).collect();
    causes.dedup();
    let what = if err.is_connect() {
        "cannot connect"
    } else if err.is_timeout() {
        "timed out"
    } else if err.is_builder() {
        "no connection can be made"
    } else {
        "the connection failed"
    };
    if causes.is_empty() { what.to_owned() } else { format!("{what}: {}", causes.join(": ")) }
}
