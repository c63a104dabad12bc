//! Says why: the verdict on one intent with the rule that comes nearest to allowing it, the policy's own examples, what is
//! allowed in a mode, and rules that can never decide anything.
//!
//! In: intents, also as text (`edit(src/x.rs)`). Out: plain data; printing is done above.

use serde::Serialize;
use url::Url;

use crate::base::fields::Mistakes;
use crate::base::path::RepoPath;
use crate::base::section::Section;
use crate::base::shape::{At, Checked, Many, Told};
use crate::base::yaml::Place;
use crate::policy::Policy;
use crate::policy::command::Script;
use crate::policy::intent::{Facts, Intent};
use crate::policy::nearest::Nearest;
use crate::policy::pattern::{PUBLICATIONS, Pattern};
use crate::policy::rule::Written;
use crate::policy::verdict::{Decision, RuleRef, Verdict};

/// A verdict and what would have changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The allowing rule that comes nearest, where the verdict is not `Allow`, and why it did not do.
    pub nearest: Option<Nearest>,
}

/// What a policy says of itself: this intent is allowed, held or denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Example {
    text: String,
    place: Place,
    expected: Decision,
}

/// What an intent is and comes to is seen later, when the rules are there.
const EXAMPLE: Checked<String> = Checked {
    parse: |text| {
        let good = text.contains('(') && text.trim_end().ends_with(')');
        good.then(|| text.to_owned())
            .ok_or_else(|| Told::from(format!("`{text}` is not of the form `kind(...)`, for example `edit(src/x.rs)`")))
    },
    write: None,
    pattern: r"^[^]*\([^]*\)\s*$",
    example: "edit(src/lib.rs)",
};

/// Reads `examples`.
pub(crate) fn read_examples(section: &mut Section<'_>) -> Vec<Example> {
    let mut examples = Vec::new();
    for (key, expected) in [("allow", Decision::Allow), ("hold", Decision::Hold), ("deny", Decision::Deny)] {
        let about = format!("Intents, such as `edit(src/lib.rs)`, that come out as `{key}`.");
        let found = section.key(key, &about, Many(At(EXAMPLE))).unwrap_or_default();
        examples.extend(found.into_iter().map(|(text, place)| Example { text, place, expected }));
    }
    examples
}

/// A rule that cannot do what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The rule.
    pub rule: RuleRef,
    /// Why: a sentence without a full stop.
    pub message: String,
}

/// Reads an intent as a person writes it: `edit(src/x.rs)`, `command(cargo test)`, `publish(comment)`.
///
/// # Errors
/// A sentence saying what is wrong.
pub fn parse_intent(text: &str) -> Result<Intent, String> {
    let wrong = || format!("`{text}` is not of the form `kind(...)`, for example `edit(src/x.rs)`");
    let (kind, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
    let inner = rest.strip_suffix(')').ok_or_else(wrong)?;
    let path = || RepoPath::parse(inner).map_err(|error| error.to_string());
    let url = || {
        let full = if inner.contains("://") { inner.to_owned() } else { format!("https://{inner}") };
        Url::parse(&full).map_err(|error| format!("`{inner}` is not an address: {error}"))
    };
    match kind {
        "read" => path().map(Intent::Read),
        "edit" => path().map(Intent::Edit),
        "command" => Ok(Intent::Command(Script::parse(inner))),
        "fetch" => url().map(Intent::Fetch),
        "browse" => url().map(Intent::Browse),
        "mcp" => match inner.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Ok(Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() })
            }
            _ => Err(format!("`{inner}` is not of the form `server/tool`")),
        },
        "mode" => Ok(Intent::Mode(inner.to_owned())),
        "delegate" => Ok(Intent::Delegate(inner.to_owned())),
        "publish" => PUBLICATIONS
            .iter()
            .find(|(word, _)| *word == inner)
            .map(|(_, publication)| Intent::Publish(*publication))
            .ok_or_else(|| format!("`{inner}` cannot be published; one of: comment, review, commit, pull-request, label")),
        // The pattern reader knows the kinds and says which one is meant.
        _ => Err(Pattern::parse(text).err().unwrap_or_else(wrong)),
    }
}

impl Policy {
    /// Judges one intent and names the rule that comes nearest to allowing it.
    #[must_use]
    pub fn explain(&self, intent: &Intent, facts: &Facts) -> Explanation {
        let verdict = self.decide(intent, facts);
        let nearest = self.nearest(intent, facts, &verdict);
        Explanation { verdict, nearest }
    }

    /// Returns what is allowed in a mode, one line a kind of intent, for the prompt.
    #[must_use]
    pub fn summary_lines(&self, mode: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for decision in [Decision::Allow, Decision::Hold, Decision::Deny] {
            for (kind, title) in [
                ("read", "read"),
                ("edit", "edit"),
                ("command", "run"),
                ("fetch", "fetch"),
                ("browse", "browse"),
                ("mcp", "call"),
                ("mode", "switch to"),
                ("delegate", "delegate to"),
            ] {
                let texts = self.inner_texts(kind, decision, mode);
                if !texts.is_empty() {
                    let said = match decision {
                        Decision::Allow => "You may",
                        Decision::Hold => "A person must agree before you",
                        Decision::Deny => "You may not",
                    };
                    lines.push(format!("{said} {title}: {}", texts.join(", ")));
                }
            }
        }
        lines
    }

    /// Returns rules that can never decide anything, because another says the same for more, or a stricter one covers them.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let rules = self.judge.rules();
        for rule in rules {
            for written in &rule.patterns {
                if let Some(except) = rule.except.iter().find(|except| except.pattern.covers(&written.pattern)) {
                    warnings.push(self.warning(written, format!("never matches: its own `except` `{}` covers it", except.text)));
                    continue;
                }
                let found = rules
                    .iter()
                    .filter(|one| one.decision >= rule.decision && one.except.is_empty() && !rule.protected)
                    .filter(|one| one.narrowing.is_empty() || one.narrowing == rule.narrowing)
                    .flat_map(|one| one.patterns.iter().map(move |pattern| (one, pattern)))
                    .filter(|(_, pattern)| pattern.place != written.place && pattern.pattern.covers(&written.pattern))
                    .find(|(one, pattern)| {
                        let same = pattern.pattern == written.pattern && one.decision == rule.decision && one.narrowing == rule.narrowing;
                        !(same && pattern.place > written.place)
                    });
                if let Some((one, pattern)) = found {
                    let how = if one.decision == rule.decision { "says nothing new" } else { "never decides" };
                    warnings.push(self.warning(written, format!("{how}: `{}` on line {} covers it", pattern.text, pattern.place.line)));
                }
            }
            for except in &rule.except {
                if !rule.patterns.iter().any(|written| written.pattern.covers(&except.pattern)) && !has_wildcard_path(&except.pattern) {
                    warnings.push(self.warning(except, "carves out nothing: no pattern of its rule covers it".to_owned()));
                }
            }
        }
        warnings
    }

    /// Returns what to tell a model whose act was refused: what would be allowed instead.
    pub(crate) fn hint(&self, intent: &Intent, facts: &Facts) -> Option<String> {
        let kind = kind_word(intent);
        let allowed = self.inner_texts(kind, Decision::Allow, &facts.mode);
        if allowed.is_empty() { None } else { Some(format!("allowed here: {kind} {}", allowed.join(", "))) }
    }

    pub(crate) fn check_examples(&self, examples: Vec<Example>, mistakes: &mut Mistakes) {
        for Example { text, place, expected } in examples {
            self.check_example(&text, place, expected, mistakes);
        }
    }

    /// An example must hold for some narrowing that the rules name, so that narrowed rules can be exampled too.
    fn check_example(&self, text: &str, place: Place, expected: Decision, mistakes: &mut Mistakes) {
        let intent = match parse_intent(text) {
            Ok(intent) => intent,
            Err(_) if expected == Decision::Deny && (text.starts_with("read(") || text.starts_with("edit(")) => return,
            Err(message) => return mistakes.add(place, message),
        };
        let facts = self.example_facts();
        if facts.iter().any(|facts| self.decide(&intent, facts).decision == expected) {
            return;
        }
        let Some(verdict) = facts.first().map(|facts| self.decide(&intent, facts)) else { return };
        let line = verdict.rule.as_ref().map(|rule| format!(" (`{}`, line {})", rule.pattern, rule.line)).unwrap_or_default();
        let was = format!("{:?}", verdict.decision).to_lowercase();
        let wanted = format!("{expected:?}").to_lowercase();
        mistakes.add_with_hint(
            place,
            format!("example `{text}` is not `{wanted}` but `{was}`: {}{line}", verdict.reason),
            "change the rules or the example",
        );
    }

    /// Facts under which examples are tried: every mode allowed, as a maintainer on the command line, in a sandbox.
    fn example_facts(&self) -> Vec<Facts> {
        let spec = self.settings();
        let modes =
            std::iter::once(spec.modes.default.clone()).chain(spec.modes.allow.iter().filter(|mode| **mode != spec.modes.default).cloned());
        let mut all: Vec<Facts> = modes.map(|mode| Facts { mode, sandboxed: true, ..Facts::default() }).collect();
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

    fn inner_texts(&self, kind: &str, decision: Decision, mode: &str) -> Vec<String> {
        let rules = self.judge.rules().iter().filter(|rule| rule.decision == decision);
        let here = rules.filter(|rule| rule.narrowing.modes.is_empty() || rule.narrowing.modes.iter().any(|one| one == mode));
        let written = here.flat_map(|rule| &rule.patterns);
        written.filter_map(|written| inner(&written.text, kind)).map(|inner| format!("`{inner}`")).collect()
    }

    fn warning(&self, written: &Written, message: String) -> Warning {
        Warning { rule: written.reference(self.origin()), message }
    }
}

fn has_wildcard_path(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Read(glob) | Pattern::Edit(glob) => glob.has_wildcard(),
        Pattern::Fetch(_) | Pattern::Browse(_) => true,
        Pattern::Command(_) | Pattern::Mcp(_) | Pattern::Mode(_) | Pattern::Delegate(_) | Pattern::Publish(_) => false,
    }
}

fn kind_word(intent: &Intent) -> &'static str {
    match intent {
        Intent::Read(_) => "read",
        Intent::Edit(_) => "edit",
        Intent::Command(_) => "command",
        Intent::Fetch(_) => "fetch",
        Intent::Browse(_) => "browse",
        Intent::Mcp { .. } => "mcp",
        Intent::Publish(_) => "publish",
        Intent::Delegate(_) => "delegate",
        Intent::Mode(_) => "mode",
        Intent::Session => "session",
    }
}

fn inner<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    text.trim().strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')
}
