//! What every fuzz target calls with a text from a stranger, and what has to hold of it: no panic,
//! and what was read means the same when it is read again.

use locum_agent::tools::files::{apply_diff, apply_patch};
use locum_base::secret::{Redactor, Secret};
use locum_forge::sanitise::{self, TextRules};
use locum_forge::{command as comment, event as forge_event};
use locum_models::tokens::Tokenizer;
use locum_modes::{ModeSource, loader};
use locum_policy::Policy;
use locum_policy::command::steps::{ReportingScript, ShellDialect};
use locum_policy::command::{Script, ScriptExecution};
use locum_policy::intent::{Facts, Intent};
use locum_policy::urls::WebUrl;
use locum_policy::verdict::Decision;

/// A script: what runs is made of the words that were judged, and nothing is allowed that would not
/// run.
pub(crate) fn command(text: &str) {
    let script = Script::parse(text);
    let words = |script: &Script| {
        script.simple_commands().into_iter().map(|simple| simple.words.clone()).collect::<Vec<_>>()
    };
    match script.execution() {
        Some(ScriptExecution::Words(run)) => {
            assert!(script.problem().is_some() || !run.is_empty(), "{text:?}")
        }
        Some(ScriptExecution::Shell(rendered))
            if script.problem().is_none() && !text.contains("git") =>
        {
            let again = Script::parse(&rendered);
            assert!(
                again.problem().is_some_and(|why| why.contains("more than"))
                    || words(&again) == words(&script),
                "{text:?} became {rendered:?}"
            );
        }
        Some(ScriptExecution::Shell(_)) | None => {}
    }
    for dialect in [ShellDialect::Bash, ShellDialect::Posix] {
        // It comes back, and gives a script of which everything that was written is left.
        let reporting = ReportingScript::of(text, text, dialect);
        assert!(reporting.is_none_or(|found| found.text.len() > text.len()), "{text:?}");
    }
    let rules = "version: 1\nrules: [{ allow: ['read(**)', 'command-prefix(*)'] }]\ncommands: { \
                 expansions: allow, max_complexity: 1.0 }\n";
    let policy = Policy::parse(rules, "fuzz");
    assert!(policy.is_ok());
    let Ok(policy) = policy else { return };
    let facts = Facts { sandboxed: true, ..Facts::default() };
    let verdict = policy.decide(&Intent::Command(script.clone()), &facts);
    assert!(
        verdict.decision != Decision::Allow
            || script.execution().is_some()
            || text.trim().is_empty(),
        "{text:?}"
    );
}

/// A policy file: read or refused with places.
pub(crate) fn policy(text: &str) {
    if let Err(errors) = Policy::parse(text, "policy.yml") {
        assert!(!errors.to_string().is_empty());
    }
}

/// Diffs and patches of a model: the first line stands for a file.
pub(crate) fn diff(text: &str) {
    let (file, diff) = text.split_once('\n').unwrap_or((text, text));
    let _ = apply_diff::apply(&file.replace("\\n", "\n"), diff);
    let _ = apply_patch::parse::parse(text);
}

/// An event: its first line names it; and the same text as a comment.
pub(crate) fn event(text: &str) {
    let (name, payload) = text.split_once('\n').unwrap_or(("issue_comment", text));
    let _ = forge_event::parse(name, payload);
    let _ = comment::parse(text, "/locum");
}

/// An address: it is read one way, and what it was read as is read as itself. Its first line is the
/// address, the second one where an answer leads from there.
pub(crate) fn url(text: &str) {
    let (address, location) = text.split_once('\n').unwrap_or((text, text));
    let read = WebUrl::parse(address);
    for read in [read.join(location), read] {
        assert!(read.url().is_some() != read.problem().is_some(), "{text:?}");
        if let Some(url) = read.url() {
            let again = WebUrl::parse(url.as_str());
            assert!(
                again.url() == Some(url) && again.destination() == read.destination(),
                "{text:?}: {url}"
            );
        }
    }
}

/// A file of modes, of each kind that is read: the first line names it.
pub(crate) fn modes(text: &str) {
    let (file, text) = text.split_once('\n').unwrap_or((".locum/modes.yml", text));
    let source = ModeSource::Project { file: file.to_owned() };
    if let Err(errors) = loader::parse(text, &source) {
        assert!(!errors.to_string().is_empty());
    }
}

/// A value that must not leave.
pub(crate) const SECRET: &str = "q7RkW2pZx9Lm4TtVb8Ys";

/// A text on its way out: what was filtered is filtered already, and holds no secret.
pub(crate) fn text(text: &str) {
    let redactor = Redactor::new([Secret::new(SECRET)]);
    let rules = TextRules { prefix: "/locum".to_owned(), ..TextRules::default() };
    for filter in [sanitise::markdown, sanitise::title, sanitise::commit_message] {
        let once = filter(text, &rules, &redactor);
        assert!(!redactor.finds_secret(&once), "{text:?} became {once:?}");
        assert_eq!(filter(&once, &rules, &redactor), once, "{text:?}");
    }
    let tokens = Tokenizer::O200k.tokens(text);
    assert!(tokens <= text.len() as u64 && (tokens > 0 || text.is_empty()), "{text:?}");
    for filter in [sanitise::artifact, sanitise::log_safe] {
        let once = filter(text, &redactor);
        assert!(!redactor.finds_secret(&once), "{text:?} became {once:?}");
        assert_eq!(filter(&once, &redactor), once, "{text:?}");
    }
}
