//! `Collector`: where traces of a run go, as OpenTelemetry's own variables say it.
//!
//! In: the settings that switch it on, the environment. Out: an address, headers, who the traces
//! are from. Only the environment says where: no file of a repository can send a trace anywhere. It
//! sends nothing.

use std::time::Duration;

use url::Url;

use crate::config::collector_headers::{HEADERS, headers, pairs};
use crate::config::environment::Environment;
use crate::config::settings::TelemetrySettings;
use locum_base::secret::Secret;

/// Where a collector listens by default (OTLP exporter specification).
const HOME: &str = "http://localhost:4318";
/// Longest wait for a collector at the end of a run.
const LONGEST: Duration = Duration::from_secs(10);
/// Wait for a collector where the environment does not say.
const WAIT: Duration = Duration::from_secs(5);

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// Address that spans are sent to.
    pub url: Url,
    /// Headers of the request.
    pub headers: Vec<(String, Secret)>,
    /// Who the traces are from.
    pub resource: Vec<(String, String)>,
    /// Whether texts of users, models and tools are in it.
    pub content: bool,
    /// What the run is part of, as W3C's `traceparent`; not checked.
    pub parent: Option<String>,
    /// Longest wait for it.
    pub timeout: Duration,
}

impl Collector {
    /// Reads the environment; `None` where traces are not switched on, or are switched off for
    /// everything on this machine.
    ///
    /// # Errors
    /// When the address cannot be read as one.
    pub fn read(
        settings: TelemetrySettings,
        environment: &Environment,
    ) -> Result<Option<Self>, String> {
        let first = |names: &[&str]| names.iter().find_map(|name| environment.get(name));
        if !settings.traces
            || environment
                .get("OTEL_SDK_DISABLED")
                .is_some_and(|word| word.eq_ignore_ascii_case("true"))
        {
            return Ok(None);
        }
        let (variable, address, path) = match environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        {
            Some(address) => ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", address, ""),
            None => (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                environment.get("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap_or(HOME),
                "/v1/traces",
            ),
        };
        let parsed = |text: &str| {
            Url::parse(text)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        // Without a host of its own, the address would take the path's first part for one.
        let url = parsed(address).and_then(|url| {
            if path.is_empty() {
                Some(url)
            } else {
                parsed(&format!("{}{path}", address.trim_end_matches('/')))
            }
        });
        let url = url.ok_or_else(|| format!("`{variable}` is not an http or https address"))?;
        let milliseconds =
            first(&["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"])
                .and_then(|text| text.parse().ok());
        let mut resource = pairs(environment.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        let service = environment.get("OTEL_SERVICE_NAME").map(str::to_owned);
        let named = resource
            .iter()
            .position(|(key, _)| key == "service.name")
            .map(|at| resource.remove(at).1);
        resource.insert(
            0,
            ("service.name".to_owned(), service.or(named).unwrap_or_else(|| "locum".to_owned())),
        );
        resource.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
        Ok(Some(Self {
            url,
            headers: headers(first(&HEADERS).unwrap_or_default()),
            resource,
            content: settings.content,
            parent: environment.get("TRACEPARENT").map(str::to_owned),
            timeout: milliseconds.map_or(WAIT, Duration::from_millis).min(LONGEST),
        }))
    }
}

#[cfg(test)]
mod tests;
