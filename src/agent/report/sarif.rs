//! Findings as SARIF 2.1.0, which code scanning reads.
//!
//! In: runs that ended, each with what it found on lines. Out: one log as JSON, whose texts are not
//! yet cleaned. It decides nothing: every finding is in it, whatever its severity.
//!
//! Source: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::report::findings::Finding;
use crate::report::review;
use crate::session::outcome::Outcome;
use locum_forge::CommentableLines;
use locum_forge::posts::LineComment;
use locum_policy::schema::review::{CONFIDENCES, Confidence, SEVERITIES, Severity};

/// Where the schema of the format is.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Name of our fingerprint: the file, the severity and the text of the line.
const FINGERPRINT: &str = "locumFinding/v1";

/// A run that ended.
#[derive(Clone, Debug)]
pub struct SarifRun<'a> {
    /// Mode of the root task.
    pub mode: &'a str,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// What it found.
    pub found: Vec<LocatedFinding>,
}

/// Returns the log of some runs. `version` is that of this program.
pub fn log(runs: &[SarifRun<'_>], version: &str) -> Value {
    let runs: Vec<Value> = runs.iter().map(|run| of_run(run, version)).collect();
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": runs })
}

/// A finding, with the text that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedFinding {
    /// What is reported.
    pub finding: Finding,
    /// The text of its last line; `None` where it is not known.
    pub line: Option<String>,
    /// How many lines the file has.
    pub file_lines: u32,
}

fn of_run(run: &SarifRun<'_>, version: &str) -> Value {
    let SarifRun { mode, outcome, found } = run;
    let suggested = suggested(outcome, found);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let results: Vec<Value> = found
        .iter()
        .map(|one| {
            let digest = fingerprint(one);
            let count = seen.entry(digest.clone()).or_default();
            *count += 1;
            result(one, &format!("{digest}:{count}"), &suggested)
        })
        .collect();
    let rules: Vec<Value> =
        SEVERITIES.iter().map(|(word, severity)| rule(word, *severity)).collect();
    let mut invocation = json!({
        "executionSuccessful": outcome.word.exit_code() == 0,
        "exitCode": outcome.word.exit_code(),
        "exitCodeDescription": outcome.word.as_str(),
    });
    if let (Some(reason), Some(members)) = (&outcome.reason, invocation.as_object_mut()) {
        let notices = json!([{ "level": "error", "message": { "text": reason } }]);
        members.insert("toolExecutionNotifications".to_owned(), notices);
    }
    json!({
        "tool": { "driver": { "name": "Locum", "version": version, "rules": rules } },
        "automationDetails": { "id": format!("locum/{mode}/") },
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
    })
}

/// Returns what a severity means as a rule.
fn rule(word: &str, severity: Severity) -> Value {
    let (text, problem) = match severity {
        Severity::Nit => ("A matter of taste", "recommendation"),
        Severity::ShouldFix => ("Worth a change", "warning"),
        Severity::Blocker => ("Stands in the way of merging", "error"),
    };
    json!({
        "id": rule_id(word),
        "name": word,
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": level(severity) },
        "properties": { "problem.severity": problem, "tags": ["review"] },
    })
}

fn rule_id(severity: &str) -> String {
    format!("locum/{severity}")
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Nit => "note",
        Severity::ShouldFix => "warning",
        Severity::Blocker => "error",
    }
}

fn result(one: &LocatedFinding, fingerprint: &str, suggested: &[LineComment]) -> Value {
    let finding = &one.finding;
    let severity = SEVERITIES.iter().position(|(_, severity)| *severity == finding.severity);
    let word = severity.and_then(|at| SEVERITIES.get(at)).map_or("", |(word, _)| word);
    let confidence = CONFIDENCES.iter().find(|(_, known)| *known == finding.confidence);
    // Of 100; the format leaves open what the numbers mean.
    let rank = match finding.confidence {
        Confidence::Low => 25.0,
        Confidence::Medium => 50.0,
        Confidence::High => 90.0,
    };
    let artifact = json!({ "uri": uri(&finding.path), "uriBaseId": "%SRCROOT%" });
    let region = json!({ "startLine": finding.first, "endLine": finding.last });
    let mut result = json!({
        "ruleId": rule_id(word),
        "ruleIndex": severity,
        "level": level(finding.severity),
        "rank": rank,
        "message": { "text": finding.body, "markdown": finding.body },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact, "region": region } }],
        "partialFingerprints": { FINGERPRINT: fingerprint },
        "properties": { "severity": word, "confidence": confidence.map(|(word, _)| word) },
    });
    let fixes: Vec<Value> = suggested
        .iter()
        .filter(|change| {
            change.path == finding.path
                && change.first <= finding.last
                && finding.first <= change.last
        })
        .map(|change| {
            let deleted = json!({ "startLine": change.first, "endLine": change.last });
            let replacement =
                json!({ "deletedRegion": deleted, "insertedContent": { "text": change.body } });
            json!({
                "description": { "text": "What the run changed there." },
                "artifactChanges": [
                    { "artifactLocation": artifact, "replacements": [replacement] },
                ],
            })
        })
        .collect();
    if let (false, Some(members)) = (fixes.is_empty(), result.as_object_mut()) {
        members.insert("fixes".to_owned(), json!(fixes));
    }
    result
}

/// Returns the changes of a run to files that it found something in, as lines and the text in their
/// place.
fn suggested(outcome: &Outcome, found: &[LocatedFinding]) -> Vec<LineComment> {
    let lines: CommentableLines =
        found.iter().map(|one| (one.finding.path.clone(), vec![(1, one.file_lines)])).collect();
    let comments = review::suggestions(&outcome.changes, &lines).comments;
    let plain = comments.into_iter().filter_map(|comment| {
        let (_, text) = comment.body.split_once('\n')?;
        let (text, _) = text.rsplit_once('\n').unwrap_or_default();
        Some(LineComment { body: text.to_owned(), ..comment })
    });
    plain.collect()
}

/// Returns what a finding is known by from one run to the next, whatever its words are then.
fn fingerprint(one: &LocatedFinding) -> String {
    let finding = &one.finding;
    let line = one.line.as_deref().map(str::trim).filter(|line| !line.is_empty());
    let text = line.map_or_else(|| finding.known_by(None).words, str::to_owned);
    let hash = Sha256::digest(format!("{}\0{:?}\0{text}", finding.path, finding.severity));
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a path as a relative reference.
fn uri(path: &str) -> String {
    path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
        uri
    })
}

#[cfg(test)]
mod tests {
    use super::{LocatedFinding, SarifRun, log};
    use crate::report::findings::Finding;
    use crate::report::sample;
    use crate::session::outcome::{Outcome, OutcomeWord};
    use locum_base::path::RepoPath;
    use locum_policy::schema::review::{Confidence, Severity};
    use locum_workspace::diff::between;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    fn located(line: u32, text: &str, severity: Severity) -> LocatedFinding {
        let finding = Finding {
            path: "src/a b.rs".to_owned(),
            first: line,
            last: line,
            severity,
            confidence: Confidence::High,
            body: format!("**it** is wrong in line {line}"),
        };
        LocatedFinding { finding, line: Some(text.to_owned()), file_lines: 3 }
    }

    fn of(outcome: &Outcome, found: Vec<LocatedFinding>) -> Value {
        log(&[SarifRun { mode: "review", outcome, found }], "0.1.0")
    }

    fn outcome() -> Outcome {
        let path = RepoPath::parse("src/a b.rs").unwrap();
        let change = between(&path, Some(b"one\n two\nthree\n"), b"one\n 2\nthree\n").unwrap();
        Outcome {
            changes: vec![change],
            word: OutcomeWord::Done,
            reason: None,
            ..sample::outcome()
        }
    }

    #[test]
    fn a_finding_has_level_place_confidence_and_the_change_that_was_made_there() {
        let found = vec![located(2, " two", Severity::Blocker), located(3, "x", Severity::Nit)];
        let log = of(&outcome(), found);
        let run = &log["runs"][0];
        assert_eq!(
            (&log["version"], &run["automationDetails"]["id"]),
            (&json!("2.1.0"), &json!("locum/review/"))
        );
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 2, "{results:#?}");
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
        let first = &results[0];
        assert_eq!((&first["ruleId"], &first["level"]), (&json!("locum/blocker"), &json!("error")));
        assert_eq!(first["properties"]["confidence"], "high");
        let place = &first["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/a%20b.rs");
        assert_eq!(place["region"], json!({ "startLine": 2, "endLine": 2 }));
        let change = &first["fixes"][0]["artifactChanges"][0]["replacements"];
        let expected = json!([{
            "deletedRegion": { "startLine": 2, "endLine": 2 }, "insertedContent": { "text": " 2" },
        }]);
        assert_eq!(change, &expected);
        assert!(results[1].get("fixes").is_none(), "{results:#?}");
    }

    #[test]
    fn a_finding_is_known_again_where_its_line_moved_and_its_words_changed() {
        let prints = |found: Vec<LocatedFinding>| -> Vec<String> {
            let log = of(&outcome(), found);
            let results = log["runs"][0]["results"].as_array().unwrap();
            let print =
                |result: &Value| result["partialFingerprints"]["locumFinding/v1"].to_string();
            results.iter().map(print).collect()
        };
        let one = prints(vec![located(2, " two", Severity::Nit)]);
        assert_eq!(one, prints(vec![located(3, "two", Severity::Nit)]));
        assert_ne!(one, prints(vec![located(2, "other", Severity::Nit)]));
        let twice =
            prints(vec![located(2, "two", Severity::Nit), located(2, "two", Severity::Nit)]);
        assert!(twice[0] == one[0] && twice[1] != one[0], "two on one line are two: {twice:?}");
    }

    #[test]
    fn a_run_that_failed_says_so() {
        let failed = Outcome {
            word: OutcomeWord::Failed,
            reason: Some("the model gave up".to_owned()),
            ..outcome()
        };
        let log = of(&failed, Vec::new());
        let invocation = &log["runs"][0]["invocations"][0];
        assert_eq!(
            (&invocation["executionSuccessful"], &invocation["exitCode"]),
            (&json!(false), &json!(3))
        );
        assert_eq!(
            invocation["toolExecutionNotifications"][0]["message"]["text"],
            "the model gave up"
        );
        assert_eq!(log["runs"][0]["results"], json!([]));
    }
}
