//! Says why: the verdict on one intent with the rule that comes nearest to allowing it, the
//! policy's own examples, what is allowed in a mode, and rules that can never decide anything.
//!
//! In: intents, also as text (`edit(src/x.rs)`). Out: plain data; printing is done above.

use serde::Serialize;

use crate::Policy;
use crate::command::Script;
use crate::glob::PathGlob;
use crate::intent::{Facts, Intent};
use crate::nearest::Nearest;
use crate::pattern::{PUBLICATIONS, Pattern};
use crate::rule::{Rule, Written};
use crate::urls::{Destination, WebUrl};
use crate::verdict::{Decision, RuleRef, Verdict};
use locum_base::path::RepoPath;

/// A verdict and what would have changed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict.
    pub verdict: Verdict,
    /// The allowing rule that comes nearest, where the verdict is not `Allow`, and why it did not
    /// do.
    pub nearest: Option<Nearest>,
}

/// A rule that cannot do what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The rule.
    pub rule: RuleRef,
    /// Why: a sentence without a full stop.
    pub message: String,
}

/// Reads an intent as a person writes it: `edit(src/x.rs)`, `command(cargo test)`,
/// `publish(comment)`.
///
/// # Errors
/// A sentence saying what is wrong.
pub fn parse_intent(text: &str) -> Result<Intent, String> {
    let wrong = || format!("`{text}` is not of the form `kind(...)`, for example `edit(src/x.rs)`");
    let (kind, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
    let inner = rest.strip_suffix(')').ok_or_else(wrong)?;
    let path = || RepoPath::parse(inner).map_err(|error| error.to_string());
    let url = || {
        if inner.contains("://") {
            WebUrl::parse(inner)
        } else {
            WebUrl::parse(&format!("https://{inner}"))
        }
    };
    match kind {
        "read" => path().map(Intent::Read),
        "edit" => path().map(Intent::Edit),
        "command" => Ok(Intent::Command(Script::asked(inner))),
        "fetch" => Ok(Intent::Fetch(url())),
        "browse" => Ok(Intent::Browse(url())),
        "connect" => Destination::parse(inner).map(Intent::Connect),
        "mcp" => match inner.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Ok(Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() })
            }
            _ => Err(format!("`{inner}` is not of the form `server/tool`")),
        },
        "mode" => Ok(Intent::Mode(inner.to_owned())),
        "delegate" => Ok(Intent::Delegate(inner.to_owned())),
        "expert" => Ok(Intent::Expert(inner.to_owned())),
        "publish" => PUBLICATIONS
            .iter()
            .find(|(word, _)| *word == inner)
            .map(|(_, publication)| Intent::Publish(*publication))
            .ok_or_else(|| {
                format!(
                    "`{inner}` cannot be published; one of: comment, review, commit, \
                     pull-request, label"
                )
            }),
        // The pattern reader knows the kinds and says which one is meant.
        _ => Err(Pattern::parse(text).err().unwrap_or_else(wrong)),
    }
}

/// A kind of use that tools are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    /// Reading files.
    Read,
    /// Changing files.
    Edit,
    /// Running commands.
    Command,
    /// Calling tools of MCP servers.
    Mcp,
    /// Reading pages of the web.
    Fetch,
    /// Asking another model.
    Expert,
}

impl Policy {
    /// Judges one intent and names the rule that comes nearest to allowing it.
    #[must_use]
    pub fn explain(&self, intent: &Intent, facts: &Facts) -> Explanation {
        let verdict = self.decide(intent, facts);
        let nearest = self.nearest(intent, facts, &verdict);
        Explanation { verdict, nearest }
    }

    /// Returns true when some rule could allow or hold a use of this kind under these facts. Where
    /// none could, there is no point in offering the tools for it.
    #[must_use]
    pub fn may_use(&self, kind: UseKind, facts: &Facts) -> bool {
        if matches!(kind, UseKind::Edit | UseKind::Fetch | UseKind::Mcp)
            && facts.restriction.read_only
        {
            return false;
        }
        let is_kind = |written: &Written| match (&written.pattern, kind) {
            (Pattern::Read(_), UseKind::Read)
            | (Pattern::Edit(_), UseKind::Edit)
            | (Pattern::Command(_), UseKind::Command)
            | (Pattern::Mcp(_), UseKind::Mcp)
            | (Pattern::Fetch(_), UseKind::Fetch)
            | (Pattern::Expert(_), UseKind::Expert) => true,
            (
                Pattern::Read(_)
                | Pattern::Edit(_)
                | Pattern::Command(_)
                | Pattern::Fetch(_)
                | Pattern::Browse(_)
                | Pattern::Mcp(_)
                | Pattern::Mode(_)
                | Pattern::Delegate(_)
                | Pattern::Expert(_)
                | Pattern::Publish(_),
                _,
            ) => false,
        };
        let may = |rule: &&Rule| rule.decision != Decision::Deny && rule.narrowing.holds(facts);
        self.judge.rules().iter().filter(may).any(|rule| rule.patterns.iter().any(is_kind))
    }

    /// Returns what is allowed in a mode, one line a kind of intent, for the prompt. Kinds that the
    /// mode has no tool for are left out.
    #[must_use]
    pub fn summary_lines(&self, mode: &str, has_tool_for: impl Fn(UseKind) -> bool) -> Vec<String> {
        let kinds = [
            ("read", "read", Some(UseKind::Read)),
            ("edit", "edit", Some(UseKind::Edit)),
            ("command", "run", Some(UseKind::Command)),
            ("fetch", "fetch", Some(UseKind::Fetch)),
            ("browse", "browse", None),
            ("mcp", "call", Some(UseKind::Mcp)),
            ("mode", "switch to", None),
            ("delegate", "delegate to", None),
            ("expert", "ask the expert", Some(UseKind::Expert)),
        ];
        let mut lines = Vec::new();
        for decision in [Decision::Allow, Decision::Hold, Decision::Deny] {
            for (kind, title, _) in
                kinds.iter().filter(|(_, _, used)| used.is_none_or(&has_tool_for))
            {
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

    /// Returns rules that can never decide anything, because another says the same for more, or a
    /// stricter one covers them.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let rules = self.judge.rules();
        for rule in rules {
            for written in &rule.patterns {
                if let Some(except) =
                    rule.except.iter().find(|except| except.pattern.covers(&written.pattern))
                {
                    warnings.push(self.warning(
                        written,
                        format!("never matches: its own `except` `{}` covers it", except.text),
                    ));
                    continue;
                }
                let found = rules
                    .iter()
                    .filter(|one| {
                        one.decision >= rule.decision && one.except.is_empty() && !rule.protected
                    })
                    .filter(|one| one.narrowing.is_empty() || one.narrowing == rule.narrowing)
                    .flat_map(|one| one.patterns.iter().map(move |pattern| (one, pattern)))
                    .filter(|(_, pattern)| {
                        pattern.place != written.place && pattern.pattern.covers(&written.pattern)
                    })
                    .find(|(one, pattern)| {
                        let same = pattern.pattern == written.pattern
                            && one.decision == rule.decision
                            && one.narrowing == rule.narrowing;
                        !(same && pattern.place > written.place)
                    });
                if let Some((one, pattern)) = found {
                    let how = if one.decision == rule.decision {
                        "says nothing new"
                    } else {
                        "never decides"
                    };
                    warnings.push(self.warning(
                        written,
                        format!(
                            "{how}: `{}` on line {} covers it",
                            pattern.text, pattern.place.line
                        ),
                    ));
                }
            }
            for except in &rule.except {
                if !rule.patterns.iter().any(|written| written.pattern.covers(&except.pattern))
                    && !has_wildcard_path(&except.pattern)
                {
                    warnings.push(self.warning(
                        except,
                        "carves out nothing: no pattern of its rule covers it".to_owned(),
                    ));
                }
            }
        }
        warnings.extend(self.idle_rules());
        warnings.sort_by_key(|warning| warning.rule.line);
        warnings
    }

    /// Returns what to tell a model whose act was refused: what would be allowed instead.
    pub(crate) fn hint(&self, intent: &Intent, facts: &Facts) -> Option<String> {
        let kind = kind_word(intent);
        let allowed = self.inner_texts(kind, Decision::Allow, &facts.mode);
        if allowed.is_empty() {
            None
        } else {
            Some(format!("allowed here: {kind} {}", allowed.join(", ")))
        }
    }

    fn inner_texts(&self, kind: &str, decision: Decision, mode: &str) -> Vec<String> {
        let rules = self.judge.rules().iter().filter(|rule| rule.decision == decision);
        let here = rules.filter(|rule| {
            rule.narrowing.modes.is_empty() || rule.narrowing.modes.iter().any(|one| one == mode)
        });
        let written = here.flat_map(|rule| &rule.patterns);
        written
            .filter_map(|written| inner(&written.text, kind))
            .map(|inner| format!("`{inner}`"))
            .collect()
    }

    fn warning(&self, written: &Written, message: String) -> Warning {
        Warning { rule: written.reference(self.origin()), message }
    }
}

fn has_wildcard_path(pattern: &Pattern) -> bool {
    matches!(pattern, Pattern::Fetch(_) | Pattern::Browse(_))
        || pattern.paths().is_some_and(PathGlob::has_wildcard)
}

fn kind_word(intent: &Intent) -> &'static str {
    match intent {
        Intent::Read(_) => "read",
        Intent::Edit(_) => "edit",
        Intent::Command(_) => "command",
        Intent::Fetch(_) => "fetch",
        Intent::Browse(_) => "browse",
        Intent::Connect(_) => "connect",
        Intent::Server(_) | Intent::Mcp { .. } => "mcp",
        Intent::Publish(_) => "publish",
        Intent::Delegate(_) => "delegate",
        Intent::Expert(_) => "expert",
        Intent::Mode(_) => "mode",
        Intent::Session => "session",
    }
}

fn inner<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    text.trim().strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')
}
