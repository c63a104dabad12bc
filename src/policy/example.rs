//! `Example`: an entry of a policy's own `examples`, and whether it comes out as it must.
//!
//! In: the `examples` of a policy file; later an example, the rules and the settings. Out: the
//! verdict it was tried with, or the mistake to report. Files of tests are read by `cases`.

use crate::intent::Facts;
use crate::judge::Judge;
use crate::query::parse_intent;
use crate::schema::PolicySpec;
use crate::verdict::{Decision, Verdict};
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::section::Section;
use locum_files::shape::{Located, OneOrMany, ParsedText};

/// The three keys that hold what is tried.
pub(crate) const EXPECTED: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("hold", Decision::Hold), ("deny", Decision::Deny)];

/// An entry of the policy's own `examples`: this intent is allowed, held or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The intent as written.
    pub text: String,
    /// Where it stands.
    pub place: Position,
    /// What must come out.
    pub expected: Decision,
}

/// The result of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleResult {
    /// Whether it came out as it must.
    pub passed: bool,
    /// The verdict that was expected or, where there is none, the one in the policy's own mode;
    /// `None` for a path that is invalid.
    pub verdict: Option<Verdict>,
}

/// What an intent is and comes to is seen later, when the rules are there.
const EXAMPLE: ParsedText<String> = ParsedText {
    parse: |text| {
        let good = text.contains('(') && text.trim_end().ends_with(')');
        good.then(|| text.to_owned()).ok_or_else(|| {
            Rejection::from(format!(
                "`{text}` is not of the form `kind(...)`, for example `edit(src/x.rs)`"
            ))
        })
    },
    write: None,
    pattern: r"^[\s\S]*\([\s\S]*\)\s*$",
    example: "edit(src/lib.rs)",
};

impl Example {
    /// Tries it: it must come out for some mode that may run, or some narrowing that the rules
    /// name, so that narrowed rules can have examples too.
    ///
    /// # Errors
    /// When it is not an intent.
    pub(crate) fn attempt(
        &self,
        judge: &Judge,
        spec: &PolicySpec,
    ) -> Result<ExampleResult, String> {
        let intent = match parse_intent(&self.text) {
            Ok(intent) => intent,
            Err(_) if self.expected == Decision::Deny && is_about_a_path(&self.text) => {
                return Ok(ExampleResult { passed: true, verdict: None });
            }
            Err(message) => return Err(message),
        };
        let mut first = None;
        for facts in facts_to_try(judge, spec) {
            let verdict = judge.decide(&intent, &facts, spec);
            if verdict.decision == self.expected {
                return Ok(ExampleResult { passed: true, verdict: Some(verdict) });
            }
            first = first.or(Some(verdict));
        }
        Ok(ExampleResult { passed: false, verdict: first })
    }

    /// Adds a mistake where it does not come out.
    pub(crate) fn check(&self, judge: &Judge, spec: &PolicySpec, mistakes: &mut Diagnostics) {
        let verdict = match self.attempt(judge, spec) {
            Ok(ExampleResult { passed: false, verdict: Some(verdict) }) => verdict,
            Ok(_) => return,
            Err(message) => return mistakes.add(self.place, message),
        };
        let line = verdict
            .rule()
            .map(|rule| match rule.line {
                None => format!(" (`{}`)", rule.pattern),
                Some(line) => format!(" (`{}`, line {line})", rule.pattern),
            })
            .unwrap_or_default();
        let was = format!("{:?}", verdict.decision).to_lowercase();
        let wanted = format!("{:?}", self.expected).to_lowercase();
        let (text, reason) = (&self.text, verdict.reason());
        mistakes.add_with_hint(
            self.place,
            format!("example `{text}` is not `{wanted}` but `{was}`: {reason}{line}"),
            "change the rules or the example",
        );
    }
}

/// Reads the `examples` of a policy.
pub(crate) fn read_examples(section: &mut Section<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    for (key, expected) in EXPECTED {
        let about = format!("Intents, such as `edit(src/lib.rs)`, that come out as `{key}`.");
        let found = section.key(key, &about, OneOrMany(Located(EXAMPLE))).unwrap_or_default();
        examples.extend(found.into_iter().map(|(text, place)| Example {
            text,
            place,
            expected: *expected,
        }));
    }
    examples
}

/// A path that leads out of the repository is invalid, so no rule allows it.
pub(crate) fn is_about_a_path(text: &str) -> bool {
    text.starts_with("read(") || text.starts_with("edit(")
}

/// Every mode allowed, as a maintainer on the command line, in a sandbox; then what rules narrow
/// themselves to.
fn facts_to_try(judge: &Judge, spec: &PolicySpec) -> Vec<Facts> {
    let modes = std::iter::once(spec.modes.default.clone())
        .chain(spec.modes.allow.iter().filter(|mode| **mode != spec.modes.default).cloned());
    let plain =
        modes.map(|mode| Facts { mode, sandboxed: true, contained: true, ..Facts::default() });
    let narrowed = judge.rules().iter().filter(|rule| !rule.narrowing.is_empty());
    plain.chain(narrowed.map(|rule| rule.narrowing.facts(&spec.modes.default))).collect()
}
