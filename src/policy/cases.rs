//! A policy's tests: its own `examples`, and files of cases that say what must come out, and when.
//!
//! In: the text of a file. Out: cases with their places, or every mistake at once. They are
//! answered above, as any question is.

use crate::explain::parse_intent;
use crate::intent::Facts;
use crate::question::Question;
use crate::rule::{TIERS, TRIGGERS};
use crate::schema::PolicyErrors;
use crate::verdict::{Decision, Verdict};
use crate::{Policy, errors};
use locum_files::fields::Mistakes;
use locum_files::section::Section;
use locum_files::shape::{At, AtLeastOne, Checked, Many, Object, Shape, Text, Told, Word};
use locum_files::yaml::{Document, Node, Place, Value};

/// Where a repository's cases stand.
pub const CASES_FILE: &str = ".locum/policy-tests.yml";

/// The three keys that hold what is tried.
const EXPECTED: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("hold", Decision::Hold), ("deny", Decision::Deny)];

/// One thing that is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Where it stands.
    pub place: Place,
    /// What the maintainer calls it.
    pub name: Option<String>,
    /// What must come out.
    pub expected: Decision,
    /// As written: an intent, or a tool call as JSON.
    pub text: String,
    /// What is asked; `None` for a path that is none, which nothing allows.
    pub question: Option<Question>,
}

/// An entry of the policy's own `examples`: this intent is allowed, held or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The intent as written.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    /// What must come out.
    pub expected: Decision,
}

/// What an intent is and comes to is seen later, when the rules are there.
const EXAMPLE: Checked<String> = Checked {
    parse: |text| {
        let good = text.contains('(') && text.trim_end().ends_with(')');
        good.then(|| text.to_owned()).ok_or_else(|| {
            Told::from(format!(
                "`{text}` is not of the form `kind(...)`, for example `edit(src/x.rs)`"
            ))
        })
    },
    write: None,
    pattern: r"^[^]*\([^]*\)\s*$",
    example: "edit(src/lib.rs)",
};

/// What came out for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Whether it came out as it must.
    pub passed: bool,
    /// The verdict that was expected or, where there is none, the one in the policy's own mode;
    /// `None` for a path that is none.
    pub verdict: Option<Verdict>,
}

impl Policy {
    /// Reads a policy file as [`Policy::parse`] does, but leaves its examples to be tried one by
    /// one.
    ///
    /// # Errors
    /// Every other mistake of the file at once.
    pub fn parse_untried(text: &str, origin: &str) -> Result<Self, PolicyErrors> {
        let (policy, mistakes) = Self::read(text, origin);
        if mistakes.0.is_empty() { Ok(policy) } else { Err(errors(mistakes.finish(text), origin)) }
    }

    /// Returns the policy's own examples.
    #[must_use]
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Tries an example: it must come out for some mode that may run, or some narrowing that the
    /// rules name, so that narrowed rules can be exampled too.
    ///
    /// # Errors
    /// When it is no intent.
    pub fn try_example(&self, example: &Example) -> Result<Tried, String> {
        let intent = match parse_intent(&example.text) {
            Ok(intent) => intent,
            Err(_) if example.expected == Decision::Deny && is_about_a_path(&example.text) => {
                return Ok(Tried { passed: true, verdict: None });
            }
            Err(message) => return Err(message),
        };
        let mut first = None;
        for facts in self.example_facts() {
            let verdict = self.decide(&intent, &facts);
            if verdict.decision == example.expected {
                return Ok(Tried { passed: true, verdict: Some(verdict) });
            }
            first = first.or(Some(verdict));
        }
        Ok(Tried { passed: false, verdict: first })
    }

    pub(super) fn check_example(&self, example: &Example, mistakes: &mut Mistakes) {
        let verdict = match self.try_example(example) {
            Ok(Tried { passed: false, verdict: Some(verdict) }) => verdict,
            Ok(_) => return,
            Err(message) => return mistakes.add(example.place, message),
        };
        let line = verdict
            .rule()
            .map(|rule| format!(" (`{}`, line {})", rule.pattern, rule.line))
            .unwrap_or_default();
        let was = format!("{:?}", verdict.decision).to_lowercase();
        let wanted = format!("{:?}", example.expected).to_lowercase();
        mistakes.add_with_hint(
            example.place,
            format!(
                "example `{}` is not `{wanted}` but `{was}`: {}{line}",
                example.text,
                verdict.reason()
            ),
            "change the rules or the example",
        );
    }

    /// Facts under which examples are tried: every mode allowed, as a maintainer on the command
    /// line, in a sandbox.
    fn example_facts(&self) -> Vec<Facts> {
        let spec = self.settings();
        let modes = std::iter::once(spec.modes.default.clone())
            .chain(spec.modes.allow.iter().filter(|mode| **mode != spec.modes.default).cloned());
        let mut all: Vec<Facts> =
            modes.map(|mode| Facts { mode, sandboxed: true, ..Facts::default() }).collect();
        for rule in self.judge.rules().iter().filter(|rule| !rule.narrowing.is_empty()) {
            let narrowing = &rule.narrowing;
            all.push(Facts {
                mode: narrowing.modes.first().unwrap_or(&spec.modes.default).clone(),
                trigger: narrowing.triggers.first().copied().unwrap_or_default(),
                tier: narrowing.tiers.first().copied().unwrap_or_default(),
                job: narrowing.jobs.first().cloned(),
                sandboxed: true,
                ..Facts::default()
            });
        }
        all
    }
}

/// Reads the `examples` of a policy.
pub(super) fn read_examples(section: &mut Section<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    for (key, expected) in EXPECTED {
        let about = format!("Intents, such as `edit(src/lib.rs)`, that come out as `{key}`.");
        let found = section.key(key, &about, Many(At(EXAMPLE))).unwrap_or_default();
        examples.extend(found.into_iter().map(|(text, place)| Example {
            text,
            place,
            expected: *expected,
        }));
    }
    examples
}

/// Returns the JSON Schema of a file of cases.
#[must_use]
pub fn schema() -> serde_json::Value {
    serde_json::json!({ "type": "array", "items": Section::describe(read_entry) })
}

/// Reads a file of cases: a list of entries, each with `allow`, `hold` or `deny` and the
/// circumstances they hold in.
///
/// # Errors
/// Every mistake of the file at once.
pub fn read_cases(text: &str, origin: &str) -> Result<Vec<Case>, PolicyErrors> {
    let document = Document::parse(text);
    let mut mistakes = Mistakes(document.mistakes);
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
            Place::default(),
            "the file is empty",
            "write `- allow: [\"edit(src/lib.rs)\"]`",
        ),
        None => {}
    }
    if mistakes.0.is_empty() { Ok(cases) } else { Err(errors(mistakes.finish(text), origin)) }
}

fn read_entry(entry: &mut Section<'_>) -> Vec<Case> {
    let name = entry.key("name", "What the entry is about, shown with each of its cases.", Text);
    let mode = entry.key("mode", "The mode it is done in; the policy's default when absent.", Text);
    let trigger =
        entry.key("trigger", "How the run was started; `local` when absent.", Word(TRIGGERS));
    let tier = entry.key("tier", "Who started it; `maintainer` when absent.", Word(TIERS));
    let job = entry.key("job", "The job it is done in; none when absent.", Text);
    let mut cases = Vec::new();
    for (key, expected) in EXPECTED {
        let about =
            format!("Intents, or tool calls as models write them, that come out as `{key}`.");
        for (text, place) in entry.key(key, &about, AtLeastOne(At(Asked))).unwrap_or_default() {
            let question = match Question::parse(&text) {
                Ok(question) if !question.is_free() => {
                    entry.wrong(
                        place,
                        Told::from(
                            "circumstances stand beside the list, not in its items".to_owned(),
                        ),
                    );
                    continue;
                }
                Ok(question) => Some(Question {
                    mode: mode.clone(),
                    trigger,
                    tier,
                    job: job.clone(),
                    ..question
                }),
                Err(_) if *expected == Decision::Deny && is_about_a_path(&text) => None,
                Err(unread) => {
                    entry.wrong(place, Told { message: unread.message, hint: unread.hint });
                    continue;
                }
            };
            cases.push(Case { place, name: name.clone(), expected: *expected, text, question });
        }
    }
    entry.at_least_one(&["allow", "hold", "deny"], "it tries nothing");
    cases
}

/// What is asked: words as they are, a mapping as JSON.
struct Asked;

impl Shape for Asked {
    type Value = String;

    fn read(&self, node: &Node, what: &str, mistakes: &mut Mistakes) -> Option<String> {
        match &node.value {
            Value::Map(_) => Some(node.to_json().to_string()),
            Value::Text(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) => {
                mistakes.text(node, what)
            }
        }
    }

    fn schema(&self) -> serde_json::Value {
        serde_json::json!({ "anyOf": [Text.schema(), Object.schema()] })
    }

    fn written(&self, _: &String) -> Option<serde_json::Value> {
        None
    }
}

/// A path that leads out is none, and so is nothing that any rule allows.
fn is_about_a_path(text: &str) -> bool {
    text.starts_with("read(") || text.starts_with("edit(")
}
