//! `Verdict`: a decision and its typed cause; `Refusal`: what is reported when an act is not
//! allowed.
//!
//! Prose is rendered from the cause, here alone, and nothing reads it back.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use locum_base::path::RepoPath;

/// What the policy says; the strictest of several wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may happen.
    Allow,
    /// It needs approval first.
    Hold,
    /// It may not happen.
    Deny,
}

/// A decision on one intent and why.
///
/// A journal stores decision, intent, rule and the reason as text. Read back from there the cause
/// is [`Cause::Recorded`]: the text can be shown again, nothing is decided by it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "VerdictRecord", into = "VerdictRecord")]
#[must_use]
pub struct Verdict {
    /// Allow, hold or deny.
    pub decision: Decision,
    /// The intent in the policy's own words: `edit(src/lib.rs)`, `command(cargo test)`.
    pub intent: String,
    /// The check, setting or rule that decided.
    pub cause: Cause,
}

/// What decided. Code looks at the variant; the words in it are for readers and never parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A rule of the file.
    Rule {
        /// The pattern that matched.
        rule: RuleRef,
        /// The reason the rule gives, or a default for its decision.
        said: String,
    },
    /// A list of the settings that counts as a rule.
    Setting {
        /// The entry; line 0 where the whole list is meant.
        rule: RuleRef,
        /// The key of the settings.
        key: &'static str,
    },
    /// No rule matches, so it is denied.
    NoRule {
        /// What was looked for.
        intent: String,
    },
    /// A line of an ignore file hides the path.
    Ignored {
        /// The line of the ignore file.
        rule: RuleRef,
        /// The hidden path.
        path: RepoPath,
    },
    /// A rule allows the command, but not with this option or argument.
    Uncovered {
        /// The allowing rule.
        rule: RuleRef,
        /// The words of the command.
        command: String,
        /// What about it the rule does not cover.
        finding: String,
    },
    /// A file that a command reads or writes.
    Access {
        /// What the command does with it.
        access: Access,
        /// The file, relative to the repository.
        path: RepoPath,
        /// What decided on the file.
        cause: Box<Self>,
    },
    /// The command is more complex than `commands.max_complexity` lets pass without approval.
    Complexity {
        /// The measure and the limit, as text.
        said: String,
    },
    /// The command runs contained, so it needs no rule for its words.
    Contained {
        /// The hosts that it reaches, as the policy lists them.
        hosts: Vec<String>,
    },
    /// A built-in check that no rule overrides, or a fact that leaves nothing to refuse.
    Check {
        /// What the check found.
        said: String,
    },
    /// Read from a journal.
    Recorded {
        /// The rule that decided, if one did.
        rule: Option<RuleRef>,
        /// The reason as it was written then.
        said: String,
    },
}

/// What a command does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It reads the file.
    Read,
    /// It writes the file.
    Write,
}

impl Verdict {
    /// Returns a denial by a built-in check. `said` is one sentence without a full stop.
    pub fn denied(intent: String, said: String) -> Self {
        Self { decision: Decision::Deny, intent, cause: Cause::Check { said } }
    }

    /// Returns the rule that decided; `None` when no rule matched or a built-in check decided.
    pub fn rule(&self) -> Option<&RuleRef> {
        self.cause.rule()
    }

    /// Returns true when a `deny` rule decided. Elsewhere a denial only means that no rule allows
    /// it.
    pub fn is_by_deny_rule(&self) -> bool {
        self.cause.is_by_deny_rule(self.decision)
    }

    /// Returns the reason with what it is about, named once.
    fn said(&self) -> String {
        let reason = self.reason();
        if reason.contains(&self.intent) { reason } else { format!("{}: {reason}", self.intent) }
    }

    /// Returns true when a command is allowed because it runs contained.
    pub fn is_contained(&self) -> bool {
        matches!(self.cause, Cause::Contained { .. })
    }

    /// Returns true where it is denied because no rule matches, and for no other reason.
    pub fn is_by_default(&self) -> bool {
        let mut cause = &self.cause;
        while let Cause::Access { cause: of_file, .. } = cause {
            cause = of_file;
        }
        matches!(cause, Cause::NoRule { .. })
    }

    /// Returns the reason as one sentence without a full stop.
    pub fn reason(&self) -> String {
        self.cause.to_string()
    }
}

/// Verdicts are equal when they read the same: one that comes from a journal equals the one that
/// was written.
impl PartialEq for Verdict {
    fn eq(&self, other: &Self) -> bool {
        let same = self.decision == other.decision && self.intent == other.intent;
        same && self.rule() == other.rule() && self.reason() == other.reason()
    }
}

impl Eq for Verdict {}

impl Cause {
    /// Returns what is wrong with a command besides that no rule allows it.
    pub(crate) fn more_than_no_rule(self) -> Option<String> {
        match self {
            Self::NoRule { .. } => None,
            Self::Uncovered { finding, .. } => Some(finding),
            cause => Some(cause.to_string()),
        }
    }

    /// Returns the rule that decided.
    pub fn rule(&self) -> Option<&RuleRef> {
        match self {
            Self::Rule { rule, .. } | Self::Setting { rule, .. } => Some(rule),
            Self::Ignored { rule, .. } | Self::Uncovered { rule, .. } => Some(rule),
            Self::Access { cause, .. } => cause.rule(),
            Self::Recorded { rule, .. } => rule.as_ref(),
            Self::NoRule { .. }
            | Self::Complexity { .. }
            | Self::Contained { .. }
            | Self::Check { .. } => None,
        }
    }

    pub(super) fn is_by_deny_rule(&self, decision: Decision) -> bool {
        decision == Decision::Deny && matches!(self.origin(), Self::Rule { .. })
    }

    /// Returns what decided in the end: of a file that a command uses, what decided on the file.
    pub fn origin(&self) -> &Self {
        match self {
            Self::Access { cause, .. } => cause.origin(),
            other => other,
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rule { said, .. }
            | Self::Complexity { said }
            | Self::Check { said }
            | Self::Recorded { said, .. } => formatter.write_str(said),
            Self::Setting { key, .. } => write!(formatter, "listed in `{key}`"),
            Self::Contained { hosts } => {
                let reach = match hosts.as_slice() {
                    [] => "has no way out".to_owned(),
                    hosts => {
                        let named = hosts.iter().take(HOSTS_LIMIT).cloned().collect::<Vec<_>>();
                        let more = match hosts.len() - named.len() {
                            0 => String::new(),
                            more => format!(" and {more} more"),
                        };
                        format!("reaches no host but {}{more}", named.join(", "))
                    }
                };
                write!(
                    formatter,
                    "contained: it {reach}, and every file it writes is judged afterwards"
                )
            }
            Self::NoRule { intent } => write!(formatter, "no rule allows `{intent}`"),
            Self::Ignored { rule, path } => {
                write!(formatter, "`{path}` is hidden by `{}` in {}", rule.pattern, rule.place())
            }
            Self::Uncovered { command, finding, .. } => write!(formatter, "`{command}`: {finding}"),
            Self::Access { access, path, cause } => {
                let verb = match access {
                    Access::Read => "reads",
                    Access::Write => "writes",
                };
                write!(formatter, "it {verb} `{path}`: {cause}")
            }
        }
    }
}

/// A verdict as journals hold it.
#[derive(Serialize, Deserialize)]
struct VerdictRecord {
    decision: Decision,
    intent: String,
    rule: Option<RuleRef>,
    reason: String,
}

impl From<Verdict> for VerdictRecord {
    fn from(verdict: Verdict) -> Self {
        let (rule, reason) = (verdict.rule().cloned(), verdict.reason());
        Self { decision: verdict.decision, intent: verdict.intent, rule, reason }
    }
}

impl From<VerdictRecord> for Verdict {
    fn from(record: VerdictRecord) -> Self {
        let cause = Cause::Recorded { rule: record.rule, said: record.reason };
        Self { decision: record.decision, intent: record.intent, cause }
    }
}

/// Where a rule stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRef {
    /// The pattern as written.
    pub pattern: String,
    /// The file it stands in, as named at load.
    pub origin: String,
    /// Its line, counted from 1; `None` of a setting, which has none. It is written as a number,
    /// 0 for none.
    #[serde(with = "line_number")]
    pub line: Option<NonZeroU32>,
}

impl RuleRef {
    /// Returns the one on a line of a file; 0 is none.
    pub fn at(pattern: impl Into<String>, origin: impl Into<String>, line: u32) -> Self {
        Self { pattern: pattern.into(), origin: origin.into(), line: NonZeroU32::new(line) }
    }

    /// Returns that of a setting, which has no line.
    pub fn setting(key: impl Into<String>, origin: impl Into<String>) -> Self {
        Self { pattern: key.into(), origin: origin.into(), line: None }
    }

    /// Returns its line for JSON, 0 for none.
    pub fn line_number(&self) -> u32 {
        self.line.map_or(0, NonZeroU32::get)
    }

    /// Returns where it stands, `file:line`; of a setting, which has no line, the file alone.
    pub fn place(&self) -> String {
        let Self { origin, line, .. } = self;
        line.map_or_else(|| origin.clone(), |line| format!("{origin}:{line}"))
    }
}

/// A line as a number, 0 for none.
mod line_number {
    use std::num::NonZeroU32;

    use serde::{Deserialize as _, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(
        line: &Option<NonZeroU32>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(line.map_or(0, NonZeroU32::get))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Option<NonZeroU32>, D::Error> {
        u32::deserialize(deserializer).map(NonZeroU32::new)
    }
}

/// Most hosts that a reason names.
const HOSTS_LIMIT: usize = 5;

/// Returns the word for a decision that refuses.
fn refused_as(decision: Decision) -> &'static str {
    match decision {
        Decision::Hold => "held",
        Decision::Allow | Decision::Deny => "denied",
    }
}

fn said(verdicts: &[Verdict]) -> String {
    verdicts.iter().map(Verdict::said).collect::<Vec<_>>().join("; ")
}

/// Why an act is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {}", refused_as(*decision), said(verdicts))]
pub struct Refusal {
    /// `Hold` or `Deny`.
    pub decision: Decision,
    /// The verdicts that are not `Allow`, in order of the act's intents.
    pub verdicts: Vec<Verdict>,
    /// What would be allowed instead, where that can be said.
    pub hint: Option<String>,
    /// Who said no in the end.
    #[serde(default, skip_serializing_if = "RefusedBy::is_policy")]
    pub by: RefusedBy,
}

/// Who or what refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedBy {
    /// The policy, a mode or a guard.
    #[default]
    Policy,
    /// A person, of something that was held.
    Person {
        /// Their login, or the user at the command line.
        login: String,
        /// Their reason; empty where they gave none.
        reason: String,
    },
    /// What keeps secrets from being written or run.
    Secret,
}

impl RefusedBy {
    fn is_policy(&self) -> bool {
        *self == Self::Policy
    }
}

impl Refusal {
    /// Returns the same as a person's no: what would be allowed instead is not theirs to say.
    #[must_use]
    pub fn by_person(self, login: &str, reason: &str) -> Self {
        let (login, reason) = (login.to_owned(), reason.to_owned());
        Self {
            decision: Decision::Deny,
            hint: None,
            by: RefusedBy::Person { login, reason },
            ..self
        }
    }
}
