//! Open alerts, each in a line: what it is, where, and where GitHub shows it.

use serde::Deserialize;

use crate::ForgeError;
use crate::alerts::{ALERTS_LIMIT, AlertSource, LINE_LIMIT_BYTES};
use crate::github::GitHub;
use locum_base::text::head;

#[derive(Deserialize)]
struct ScanningAlert {
    number: u64,
    html_url: Option<String>,
    rule: ScanningRule,
    most_recent_instance: Option<ScanningInstance>,
}

#[derive(Deserialize)]
struct ScanningRule {
    id: Option<String>,
    severity: Option<String>,
    security_severity_level: Option<String>,
}

#[derive(Deserialize)]
struct ScanningInstance {
    location: Option<ScanningPlace>,
    message: Option<ScanningMessage>,
}

#[derive(Deserialize)]
struct ScanningPlace {
    path: Option<String>,
    start_line: Option<u64>,
}

#[derive(Deserialize)]
struct ScanningMessage {
    text: Option<String>,
}

#[derive(Deserialize)]
struct DependencyAlert {
    number: u64,
    html_url: Option<String>,
    dependency: Dependency,
    security_advisory: Advisory,
    security_vulnerability: Option<Vulnerability>,
}

#[derive(Deserialize)]
struct Dependency {
    package: Option<Package>,
    manifest_path: Option<String>,
}

#[derive(Deserialize)]
struct Package {
    ecosystem: String,
    name: String,
}

#[derive(Deserialize)]
struct Advisory {
    ghsa_id: String,
    summary: String,
    severity: String,
}

#[derive(Deserialize)]
struct Vulnerability {
    vulnerable_version_range: Option<String>,
    first_patched_version: Option<PatchedVersion>,
}

#[derive(Deserialize)]
struct PatchedVersion {
    identifier: String,
}

impl GitHub {
    /// Reads the latest open alerts of a source, one line each.
    pub(super) async fn read_alerts(&self, source: AlertSource) -> Result<Vec<String>, ForgeError> {
        let name = source.as_str();
        let path = self.path(&format!("{name}/alerts?state=open&per_page={ALERTS_LIMIT}"));
        let mut lines: Vec<String> = match source {
            AlertSource::CodeScanning => {
                let alerts: Vec<ScanningAlert> = self.client.get(&path).await?;
                alerts.into_iter().map(of_scanning).collect()
            }
            AlertSource::Dependabot => {
                let alerts: Vec<DependencyAlert> = self.client.get(&path).await?;
                alerts.into_iter().map(of_dependency).collect()
            }
        };
        lines.truncate(ALERTS_LIMIT);
        Ok(lines)
    }
}

fn of_scanning(alert: ScanningAlert) -> String {
    let ScanningAlert { number, html_url, rule, most_recent_instance } = alert;
    let severity = rule.security_severity_level.or(rule.severity).unwrap_or_default();
    let (place, message) = most_recent_instance
        .map(|instance| (instance.location, instance.message))
        .unwrap_or_default();
    let line = place.as_ref().and_then(|place| place.start_line);
    let path = place.and_then(|place| place.path).unwrap_or_default();
    let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
    let message = message.and_then(|message| message.text).unwrap_or_default();
    let what = rule.id.unwrap_or_default();
    in_a_line(&[&format!("#{number}"), &what, &severity, &place, &message], html_url)
}

fn of_dependency(alert: DependencyAlert) -> String {
    let DependencyAlert { number, html_url, dependency, security_advisory, .. } = alert;
    let package = dependency
        .package
        .map(|package| format!("{} {}", package.ecosystem, package.name))
        .unwrap_or_default();
    let (range, patched) = alert
        .security_vulnerability
        .map(|known| (known.vulnerable_version_range, known.first_patched_version))
        .unwrap_or_default();
    let patched = patched.map_or_else(
        || "no version mends it".to_owned(),
        |version| format!("mended in {}", version.identifier),
    );
    let Advisory { ghsa_id, summary, severity } = security_advisory;
    let place = dependency.manifest_path.unwrap_or_default();
    let range = range.unwrap_or_default();
    let number = format!("#{number}");
    let parts = [&number, &ghsa_id, &severity, &package, &range, &patched, &place, &summary];
    in_a_line(&parts.map(String::as_str), html_url)
}

fn in_a_line(parts: &[&str], url: Option<String>) -> String {
    let url = url.unwrap_or_default();
    let parts = parts.iter().copied().chain([url.as_str()]).filter(|part| !part.is_empty());
    let whole = parts.collect::<Vec<_>>().join(" · ");
    let words: Vec<&str> = whole.split_whitespace().collect();
    head(&words.join(" "), LINE_LIMIT_BYTES).to_owned()
}
