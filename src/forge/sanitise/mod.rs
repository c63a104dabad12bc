//! Text that leaves: normalised, redacted, neutralised (no pings, no closing keywords, no hidden
//! text), cut, in that order.
//!
//! In: a text as a model, a command or a report wrote it, and what may stay in it. Out: the text as
//! it may be published at its destination, or the refusal to publish it. Filtering a filtered text
//! changes nothing. It does not decide whether anything is published: the policy does.

mod inline;
mod links;
mod markdown;
mod references;
mod visible;

pub use crate::sanitise::markdown::CodeFence;

use regex::Regex;

use locum_base::secret::Redactor;

/// GitHub refuses a comment body of more characters than this.
pub const BODY_LIMIT_CHARS: usize = 65_536;

/// GitHub refuses a title of more characters than this.
pub const TITLE_LIMIT_CHARS: usize = 256;

/// Branch names longer than this are refused: file systems have no room for them.
pub const BRANCH_LIMIT_BYTES: usize = 200;

/// A text is read again until nothing changes, so often at most; then it is shown as code.
const PASSES: usize = 6;

/// What may stay in a text.
#[derive(Clone, Debug, Default)]
pub struct TextRules {
    /// Logins that may be mentioned, without `@`.
    pub mentions: Vec<String>,
    /// Whether `closes #1` may stay.
    pub closing: bool,
    /// Hosts links may point to, `*.example.com` for all below one; empty means any.
    pub hosts: Vec<String>,
    /// The word commands start with, so that own output never triggers.
    pub prefix: String,
    /// Hidden lines of our own that stay: exactly these, each on a line of its own. Every other
    /// HTML comment goes.
    pub markers: Vec<String>,
}

/// Why a text is not published at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextRefusal {
    /// A change cannot be published with a part of it blacked out.
    #[error("the patch holds a secret")]
    SecretInPatch,
    /// The name cannot name a branch of ours.
    #[error("`{name}` cannot name a branch of ours: {why}")]
    Branch {
        /// The name, without what is not seen.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// Returns the text as it may be published as Markdown.
pub fn markdown(text: &str, rules: &TextRules, redactor: &Redactor) -> String {
    let clean = redactor.redact(&visible::visible(text));
    // What is far beyond the limit need not be read.
    let whole = settle(head_chars(&clean, 2 * BODY_LIMIT_CHARS), rules, redactor);
    if clean.len() == head_chars(&clean, 2 * BODY_LIMIT_CHARS).len()
        && width(&whole) <= BODY_LIMIT_CHARS
    {
        return whole;
    }
    let total = clean.chars().count();
    let mut keep = BODY_LIMIT_CHARS - 256;
    loop {
        let head = settle(at_line(head_chars(&whole, keep)), rules, redactor);
        let note = format!("\n\n*Cut here: the whole text has {total} characters.*");
        if width(&head) + width(&note) <= BODY_LIMIT_CHARS || keep < 256 {
            return head + &note;
        }
        keep = keep / 4 * 3;
    }
}

/// Returns the text as it may be published as a title: one line without Markdown.
pub fn title(text: &str, rules: &TextRules, redactor: &Redactor) -> String {
    let seen = visible::visible(text);
    let first_line = seen.trim().lines().next().unwrap_or_default();
    let words: Vec<&str> = first_line.split_whitespace().collect();
    let clean = redactor.redact(&words.join(" "));
    let plain = keep_checks_on(&references::plain(&clean, &rules.mentions, rules.closing));
    let kept = head_chars(&plain, TITLE_LIMIT_CHARS);
    if kept.len() == plain.len() {
        plain
    } else {
        format!("{}\u{2026}", head_chars(&plain, TITLE_LIMIT_CHARS - 1).trim_end())
    }
}

/// Returns the text as it may stand in a commit: no pings, no closing words, nothing that switches
/// checks off.
pub fn commit_message(text: &str, rules: &TextRules, redactor: &Redactor) -> String {
    let clean = redactor.redact(&visible::visible(text));
    keep_checks_on(&references::plain(&clean, &rules.mentions, rules.closing))
}

/// Returns the text as it may be kept where only redaction counts: journals, transcripts, uploaded
/// files.
pub fn artifact(text: &str, redactor: &Redactor) -> String {
    redactor.redact(text)
}

/// Returns the text as it may be printed to an Actions log: no line is a command to the runner.
///
/// The runner takes `::name::` at the start of a line, after any white space, and `##[name]`
/// anywhere in one:
/// <https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs>.
pub fn log_safe(text: &str, redactor: &Redactor) -> String {
    without_commands(&redactor.redact(&visible::visible(text)))
}

/// Returns the text with every command to the runner taken apart, and nothing else changed.
///
/// The runner reads lines as .NET does: a carriage return alone ends one, too, and a byte order
/// mark at the beginning of a stream is not a part of the first.
pub fn without_commands(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let is_blank = |letter: char| letter.is_whitespace() || letter == '\u{feff}';
    for line in text.replace("##[", "## [").split_inclusive(['\n', '\r']) {
        let content = line.trim_start_matches(is_blank);
        match content.strip_prefix("::") {
            Some(rest) => {
                safe.push_str(line.get(..line.len() - content.len()).unwrap_or_default());
                safe.push_str(": :");
                safe.push_str(rest);
            }
            None => safe.push_str(line),
        }
    }
    safe
}

/// Checks a patch that is about to be published.
///
/// # Errors
/// When it holds a secret: a patch is refused, never edited.
pub fn patch(text: &str, redactor: &Redactor) -> Result<(), TextRefusal> {
    if redactor.finds_secret(text) { Err(TextRefusal::SecretInPatch) } else { Ok(()) }
}

/// Checks the name of a branch that is about to be pushed. `prefix` is what all our branches start
/// with, `locum/`.
///
/// # Errors
/// When it is not a valid name, does not start with the prefix, is the default branch, or holds a
/// secret.
pub fn branch_name(
    name: &str,
    prefix: &str,
    default_branch: &str,
    redactor: &Redactor,
) -> Result<String, TextRefusal> {
    let odd = |letter: char| {
        letter.is_control()
            || letter.is_whitespace()
            || !letter.is_ascii()
            || r#"~^:?*[\"'`$;&|<>(){}"#.contains(letter)
    };
    let odd_part = |part: &str| {
        part.is_empty()
            || part.starts_with('.')
            || part.ends_with('.')
            || part.to_ascii_lowercase().ends_with(".lock")
    };
    let means_another = name.starts_with('-') || matches!(name, "HEAD" | "@");
    let reasons = [
        (name.is_empty() || name.len() > BRANCH_LIMIT_BYTES, "it is empty or too long"),
        (means_another || name.starts_with("refs/"), "it means something else to git"),
        (name == default_branch, "it is the default branch"),
        (
            name.contains(odd) || name.contains("..") || name.contains("@{"),
            "it holds characters that branch names may not have",
        ),
        (
            name.split('/').any(odd_part),
            "a part of it is empty, starts or ends with a dot, or ends with `.lock`",
        ),
        (
            name.strip_prefix(prefix).is_none_or(str::is_empty),
            "it does not start with the prefix of our branches",
        ),
        (redactor.finds_secret(name), "it holds a secret"),
    ];
    match reasons.into_iter().find(|(holds, _)| *holds) {
        None => Ok(name.to_owned()),
        Some((_, why)) => {
            let shown = redactor.redact(&visible::visible(name)).replace('\n', " ");
            Err(TextRefusal::Branch { name: head_chars(&shown, 80).to_owned(), why })
        }
    }
}

/// Neutralises until nothing changes; what never settles is shown as code.
fn settle(text: &str, rules: &TextRules, redactor: &Redactor) -> String {
    let mut current = text.to_owned();
    for _ in 0..PASSES {
        let next = redactor.redact(&markdown::neutralise(&current, rules));
        if next == current {
            return current;
        }
        current = next;
    }
    let longest = current.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", current.trim_end())
}

/// Breaks up words that switch checks off: `[skip ci]` and the like, and the `skip-checks` trailer.
fn keep_checks_on(text: &str) -> String {
    let words = Regex::new(
        r"(?i)\[\s*((?:skip|no)[\s_-]+[a-z]+|[a-z]+[\s_-]+skip)\s*\]|\*\*\*(no_ci)\*\*\*",
    );
    let trailer = Regex::new(r"(?im)^([ \t]*)(skip-checks|request-checks)([ \t]*:)");
    let text = words
        .map_or_else(|_| text.to_owned(), |words| words.replace_all(text, "($1$2)").into_owned());
    trailer.map_or_else(
        |_| text.clone(),
        |trailer| trailer.replace_all(&text, "$1($2)$3").into_owned(),
    )
}

/// Characters as the forge counts them: halves of surrogate pairs count too.
fn width(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

fn head_chars(text: &str, limit: usize) -> &str {
    let mut left = limit;
    for (at, letter) in text.char_indices() {
        if letter.len_utf16() > left {
            return text.get(..at).unwrap_or_default();
        }
        left -= letter.len_utf16();
    }
    text
}

/// Returns the text up to its last whole line, when that line is in its last quarter.
fn at_line(text: &str) -> &str {
    text.rfind('\n')
        .filter(|at| *at > text.len() / 4 * 3)
        .and_then(|at| text.get(..at))
        .unwrap_or(text)
}

#[cfg(test)]
mod differential;
#[cfg(test)]
mod tests;
