//! The pattern that names a held call and nothing else.
//!
//! In: an intent and what decided on it. Out: a pattern as text, which reads back as exactly what
//! was meant; `None` where the language has no word for it alone.

use crate::Policy;
use crate::command::Script;
use crate::command::examine::CommandEffects;
use crate::glob::LetterCase;
use crate::intent::{Facts, Intent};
use crate::lint::nearest::{self, IntentPart};
use crate::pattern::{CommandForm, CommandPattern, Pattern, PatternSubject};
use crate::verdict::{Access, Cause, RuleRef, Verdict};
use crate::written::pattern_words;
use locum_base::secret::view::is_invisible;

/// Longest pattern that is written, in bytes: longer ones nobody reads.
const PATTERN_LIMIT_BYTES: usize = 400;

/// Returns which part of an intent a rule holds, as patterns.
pub(super) fn held_patterns(intent: &Intent, cause: &Cause, rule: &RuleRef) -> Option<Vec<String>> {
    let Intent::Command(script) = intent else { return Some(vec![of_intent(intent)?]) };
    if let Cause::Access { access, path, .. } = cause {
        let used = match access {
            Access::Read => Intent::Read(path.clone()),
            Access::Write => Intent::Edit(path.clone()),
        };
        return Some(vec![of_intent(&used)?]);
    }
    let holding = Pattern::parse(&rule.pattern).ok()?;
    let mut found = Vec::new();
    for (words, effects) in commands(script)? {
        collect(holding.command()?, &words, &effects, &mut found);
    }
    let mut patterns: Vec<String> =
        found.iter().map(|words| of_words(words)).collect::<Option<_>>()?;
    patterns.sort();
    patterns.dedup();
    (!patterns.is_empty()).then_some(patterns)
}

/// Returns which part of an intent no rule allows, as a pattern.
pub(super) fn missing_pattern(
    policy: &Policy,
    intent: &Intent,
    facts: &Facts,
    verdict: &Verdict,
) -> Option<String> {
    let Intent::Command(script) = intent else { return of_intent(intent) };
    match nearest::refused_part(policy, script, facts, verdict).part {
        IntentPart::Words(words) if script.problem().is_none() => of_words(&words),
        IntentPart::Words(_) => None,
        IntentPart::Intent(used) => of_intent(&used),
    }
}

/// Returns the commands of a script with what they would do.
fn commands(script: &Script) -> Option<Vec<(Vec<String>, CommandEffects)>> {
    let examined = match script.problem() {
        None => script.examinations(),
        Some(_) => script.loose_examinations().ok()?,
    };
    Some(examined.into_iter().map(|(simple, effects)| (simple.words.clone(), effects)).collect())
}

/// Collects what a pattern holds of a command and of all that it starts.
fn collect(
    holding: &CommandPattern,
    words: &[String],
    effects: &CommandEffects,
    found: &mut Vec<Vec<String>>,
) {
    if holding.matches(words, LetterCase::Ignored) {
        found.push(words.to_vec());
    }
    for started in &effects.starts {
        collect(holding, &started.words, &started.effects, found);
    }
}

fn of_words(words: &[String]) -> Option<String> {
    let text = format!("command({})", pattern_words(words));
    let wanted = PatternSubject::Command(CommandPattern {
        words: words.to_vec(),
        open: false,
        form: CommandForm::Words,
    });
    let reads_back = Pattern::parse(&text).is_ok_and(|read| read.subject == wanted);
    (reads_back && is_plain(&text)).then_some(text)
}

fn of_intent(intent: &Intent) -> Option<String> {
    let wildcard = |text: &str| text.contains(['*', '?', '[', '{', '!']);
    let text = match intent {
        Intent::Read(path) | Intent::Edit(path) if path.is_root() || wildcard(path.as_str()) => {
            return None;
        }
        Intent::Fetch(address) | Intent::Browse(address) => {
            let (url, to) = address.url().zip(address.destination())?;
            let path = url.path().trim_end_matches('/');
            // A pattern without a path means every page of the host.
            if path.is_empty() {
                return None;
            }
            let scheme = match to.scheme.as_str() {
                "https" => String::new(),
                other => format!("{other}://"),
            };
            let port = match to.port {
                port if port == to.scheme.default_port() => String::new(),
                port => format!(":{port}"),
            };
            let kind = if matches!(intent, Intent::Fetch(_)) { "fetch" } else { "browse" };
            format!("{kind}({scheme}{}{port}{path})", to.host)
        }
        Intent::Search(query) if query.text().contains(['*', '?']) => return None,
        Intent::Mcp { server, tool } if wildcard(server) || wildcard(tool) => return None,
        Intent::Mode(name)
        | Intent::Delegate(name)
        | Intent::Expert(name)
        | Intent::MemoryRead(name)
        | Intent::MemoryWrite(name)
            if wildcard(name) =>
        {
            return None;
        }
        Intent::Command(_)
        | Intent::Visit(_)
        | Intent::Connect(_)
        | Intent::Server(_)
        | Intent::Service { .. }
        | Intent::Session => return None,
        Intent::Read(_)
        | Intent::Edit(_)
        | Intent::Search(_)
        | Intent::Mcp { .. }
        | Intent::Mode(_)
        | Intent::Delegate(_)
        | Intent::Expert(_)
        | Intent::MemoryRead(_)
        | Intent::MemoryWrite(_)
        | Intent::Publish(_) => intent.to_string(),
    };
    let is_about = Pattern::parse(&text).is_ok_and(|read| read.matches(intent, LetterCase::Exact));
    (is_about && is_plain(&text)).then_some(text)
}

/// Whether a pattern can be read by people: short, on one line, with nothing unseen.
fn is_plain(text: &str) -> bool {
    text.len() <= PATTERN_LIMIT_BYTES
        && !text.chars().any(|letter| letter.is_control() || is_invisible(letter))
}
