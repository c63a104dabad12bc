//! Where traces go, by the environment.

use std::time::Duration;

use pretty_assertions::assert_eq;

use super::Collector;
use crate::config::environment::Environment;
use crate::config::settings::TelemetrySettings;
use locum_base::secret::Secret;

const ON: TelemetrySettings = TelemetrySettings { traces: true, content: false };

fn read(settings: TelemetrySettings, pairs: &[(&str, &str)]) -> Result<Option<Collector>, String> {
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
        assert!(error.contains("OTEL_EXPORTER_OTLP_ENDPOINT") && !error.contains("ftp"), "{error}");
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
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc%3D, x-tenant = one,broken"),
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
    assert_eq!((collector.timeout, collector.parent.is_some()), (Duration::from_secs(10), true));
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
