//! Files of cases: what must come out of a policy, and under which circumstances.
//!
//! In: the text of a file. Out: cases with their places, or every mistake at once. They are
//! answered above, as any question is.

use crate::example::{EXPECTED, is_about_a_path};
use crate::query::PolicyQuery;
use crate::rule::{TIERS, TRIGGERS};
use crate::schema::PolicyErrors;
use crate::verdict::Decision;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::section::Section;
use locum_files::shape::{AnyObject, AnyText, AtLeastOne, Located, OneOf, Shape};
use locum_files::yaml::{YamlDocument, YamlNode, YamlValue};

/// Where a repository's cases stand.
pub const CASES_FILE: &str = ".locum/policy-tests.yml";

/// One case to be tried.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyCase {
    /// Where it stands.
    pub place: Position,
    /// What the maintainer calls it.
    pub name: Option<String>,
    /// What must come out.
    pub expected: Decision,
    /// As written: an intent, or a tool call as JSON.
    pub text: String,
    /// What is asked; `None` for an invalid path, which nothing allows.
    pub question: Option<PolicyQuery>,
}

/// Returns the JSON Schema of a file of cases.
pub fn schema() -> serde_json::Value {
    serde_json::json!({ "type": "array", "items": Section::describe(read_entry) })
}

/// Reads a file of cases: a list of entries, each with `allow`, `hold` or `deny` and the
/// circumstances they hold in.
///
/// # Errors
/// Every mistake of the file at once.
pub fn read_cases(text: &str, origin: &str) -> Result<Vec<PolicyCase>, PolicyErrors> {
    let document = YamlDocument::parse(text);
    let mut mistakes = Diagnostics(document.mistakes);
    let mut cases = Vec::new();
    match document.root.as_ref().map(|root| (root, root.list())) {
        Some((_, Some(entries))) => {
            for entry in entries {
                cases.extend(
                    Section::read(entry, "test", &mut mistakes, read_entry).into_iter().flatten(),
                );
            }
        }
        Some((root, None)) => mistakes.add_with_hint(
            root.place,
            format!("tests are a list of entries, not {}", root.kind()),
            "write `- allow: [\"edit(src/lib.rs)\"]`",
        ),
        None if mistakes.0.is_empty() => mistakes.add_with_hint(
            Position::default(),
            "the file is empty",
            "write `- allow: [\"edit(src/lib.rs)\"]`",
        ),
        None => {}
    }
    PolicyErrors::none_in(mistakes, text, origin).map(|()| cases)
}

fn read_entry(entry: &mut Section<'_>) -> Vec<PolicyCase> {
    let name = entry.key("name", "What the entry is about, shown with each of its cases.", AnyText);
    let mode =
        entry.key("mode", "The mode it is done in; the policy's default when absent.", AnyText);
    let trigger =
        entry.key("trigger", "How the run was started; `local` when absent.", OneOf(TRIGGERS));
    let tier = entry.key("tier", "Who started it; `maintainer` when absent.", OneOf(TIERS));
    let job = entry.key("job", "The job it is done in; none when absent.", AnyText);
    let mut cases = Vec::new();
    for (key, expected) in EXPECTED {
        let about =
            format!("Intents, or tool calls as models write them, that come out as `{key}`.");
        for (text, place) in
            entry.key(key, &about, AtLeastOne(Located(QueryText))).unwrap_or_default()
        {
            let question = match PolicyQuery::parse(&text) {
                Ok(question) if !question.is_free() => {
                    entry.wrong(
                        place,
                        Rejection::from("circumstances stand beside the list, not in its items"),
                    );
                    continue;
                }
                Ok(question) => Some(PolicyQuery {
                    mode: mode.clone(),
                    trigger,
                    tier,
                    job: job.clone(),
                    ..question
                }),
                Err(_) if *expected == Decision::Deny && is_about_a_path(&text) => None,
                Err(unread) => {
                    entry.wrong(place, unread);
                    continue;
                }
            };
            cases.push(PolicyCase {
                place,
                name: name.clone(),
                expected: *expected,
                text,
                question,
            });
        }
    }
    entry.at_least_one(&["allow", "hold", "deny"], "it tries nothing");
    cases
}

/// What is asked: words as they are, a mapping as JSON.
struct QueryText;

impl Shape for QueryText {
    type Value = String;

    fn read(&self, node: &YamlNode, what: &str, mistakes: &mut Diagnostics) -> Option<String> {
        match &node.value {
            YamlValue::Map(_) => Some(node.to_json().to_string()),
            YamlValue::Text(_)
            | YamlValue::Null
            | YamlValue::Bool(_)
            | YamlValue::Number(_)
            | YamlValue::List(_) => mistakes.text(node, what),
        }
    }

    fn schema(&self) -> serde_json::Value {
        serde_json::json!({ "anyOf": [AnyText.schema(), AnyObject.schema()] })
    }
}
