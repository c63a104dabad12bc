//! Findings as remarks of a check run on lines.
//!
//! In: findings. Out: annotations, the worst first, whose texts are not yet cleaned.

use crate::report::findings::Finding;
use locum_forge::posts::{CheckAnnotation, CheckLevel};
use locum_policy::schema::review::{CONFIDENCES, SEVERITIES, Severity};

/// Returns one annotation for each finding.
pub fn annotations(found: &[Finding]) -> Vec<CheckAnnotation> {
    let mut annotations: Vec<CheckAnnotation> = found.iter().map(annotation).collect();
    annotations.sort_by_key(|annotation| std::cmp::Reverse(annotation.level));
    annotations
}

fn annotation(finding: &Finding) -> CheckAnnotation {
    let level = match finding.severity {
        Severity::Blocker => CheckLevel::Failure,
        Severity::ShouldFix => CheckLevel::Warning,
        Severity::Nit => CheckLevel::Notice,
    };
    let severity = SEVERITIES.iter().find(|(_, severity)| *severity == finding.severity);
    let confidence = CONFIDENCES.iter().find(|(_, confidence)| *confidence == finding.confidence);
    let words = severity.zip(confidence).map(|((severity, _), (confidence, _))| {
        format!("{}, {confidence} confidence", severity.replace('-', " "))
    });
    CheckAnnotation {
        path: finding.path.clone(),
        first: finding.first,
        last: finding.last,
        level,
        title: words,
        message: Some(finding.body.clone()),
    }
}
