//! `Collector`: where traces of a run go, as OpenTelemetry's own variables say it.
//!
//! In: the settings that switch it on, the environment. Out: an address, headers, who the traces
//! are from. Only the environment says where: no file of a repository can send a trace anywhere. It
//! sends nothing.

use std::time::Duration;

use url::Url;

use crate::config::environment::Environment;
use crate::config::settings::TelemetrySettings;
use locum_base::secret::Secret;

/// Where collectors listen that nobody named (OTLP exporter specification).
const HOME: &str = "http://localhost:4318";
/// Longest wait for a collector at the end of a run.
const LONGEST: Duration = Duration::from_secs(10);
/// Wait for a collector where the environment does not say.
const WAIT: Duration = Duration::from_secs(5);
/// Variables that hold headers, the stronger first.
const HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collector {
    /// The address.
    pub url: Url,
    /// Headers of the request.
    pub headers: Vec<(String, Secret)>,
    /// Who the traces are from.
    pub resource: Vec<(String, String)>,
    /// Whether texts of people, models and tools are told.
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
    /// When the address is none.
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
        let url = url.ok_or_else(|| format!("`{variable}` is no http or https address"))?;
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

/// Returns the values of headers for collectors: none of them may leave but there. What follows the
/// word for a kind of key, as in `Bearer KEY`, is one by itself too.
pub(super) fn secrets<'e>(get: impl Fn(&str) -> Option<&'e str>) -> Vec<Secret> {
    let values =
        HEADERS.iter().filter_map(|name| get(name)).flat_map(headers).map(|(_, value)| value);
    let with_key = |value: Secret| {
        let (kind, key) = value.expose().trim().split_once(char::is_whitespace).unwrap_or_default();
        let is_kind = kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !key.trim().is_empty();
        let key = is_kind.then(|| Secret::new(key.trim()));
        key.into_iter().chain([value])
    };
    values.flat_map(with_key).collect()
}

fn headers(text: &str) -> Vec<(String, Secret)> {
    pairs(text).into_iter().map(|(name, value)| (name, Secret::new(value))).collect()
}

/// Reads `key=value,key=value` with values in percent encoding (W3C Baggage); what is no pair is
/// left out.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        let value = percent_decoded(value.trim());
        Some((key.trim().to_owned(), value)).filter(|(key, _)| !key.is_empty())
    };
    text.split(',').filter_map(pair).collect()
}

pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|_| *first == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;

    use super::Collector;
    use crate::config::environment::Environment;
    use crate::config::settings::TelemetrySettings;
    use locum_base::secret::Secret;

    const ON: TelemetrySettings = TelemetrySettings { traces: true, content: false };

    fn read(
        settings: TelemetrySettings,
        pairs: &[(&str, &str)],
    ) -> Result<Option<Collector>, String> {
        Collector::read(settings, &Environment::from_pairs(pairs.iter().copied()))
    }

    #[test]
    fn is_off_unless_switched_on() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:1");
        assert_eq!(read(TelemetrySettings::default(), &[endpoint]), Ok(None));
        assert_eq!(read(ON, &[endpoint, ("OTEL_SDK_DISABLED", "true")]), Ok(None));
        assert!(read(ON, &[endpoint]).unwrap().is_some());
        for address in ["ftp://x", "not an address", "http://"] {
            let error = read(ON, &[("OTEL_EXPORTER_OTLP_ENDPOINT", address)]).unwrap_err();
            assert!(
                error.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && !error.contains("ftp"),
                "{error}"
            );
        }
    }

    #[test]
    fn reads_the_variables_as_every_exporter_does() {
        let url = |pairs: &[(&str, &str)]| read(ON, pairs).unwrap().unwrap().url.to_string();
        assert_eq!(url(&[]), "http://localhost:4318/v1/traces");
        assert_eq!(
            url(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://c.example/otlp/")]),
            "https://c.example/otlp/v1/traces"
        );
        assert_eq!(
            url(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c.example/t")]),
            "https://c.example/t"
        );
        let collector = read(
            ON,
            &[
                (
                    "OTEL_EXPORTER_OTLP_HEADERS",
                    "authorization=Basic%20abc%3D, x-tenant = one,broken",
                ),
                ("OTEL_SERVICE_NAME", "fixes"),
                ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=build"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "60000"),
                ("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            ],
        );
        let collector = collector.unwrap().unwrap();
        let header = |name: &str, value: &str| (name.to_owned(), Secret::new(value));
        assert_eq!(
            collector.headers,
            [header("authorization", "Basic abc="), header("x-tenant", "one")]
        );
        let resource: Vec<_> =
            collector.resource.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(
            resource,
            [
                ("service.name", "fixes"),
                ("team", "build"),
                ("service.version", env!("CARGO_PKG_VERSION"))
            ]
        );
        assert_eq!(
            (collector.timeout, collector.parent.is_some()),
            (Duration::from_secs(10), true)
        );
    }

    #[test]
    fn values_of_headers_are_secret() {
        let environment = Environment::from_pairs([(
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer%20let-me-in",
        )]);
        assert_eq!(
            environment.secrets(),
            [Secret::new("let-me-in"), Secret::new("Bearer let-me-in")],
            "the key alone is one too"
        );
        let plain = Environment::from_pairs([(
            "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "x-key=one%20,x-tenant=a%2Fb%20c",
        )]);
        assert_eq!(
            plain.secrets(),
            [Secret::new("one "), Secret::new("a/b c")],
            "words that are no kind of key stay together"
        );
    }
}
