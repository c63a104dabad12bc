//! What a task mentions: `@src/lib.rs`, `@src/lib.rs:10-20`, `@"a b.md"`, `@https://...`, `#12`,
//! `@agent-docs`, `@ask-gpt`. In: the text of whoever asks; out: the mentions in order. Looks
//! nothing up: whether the file exists is the run's question.
//!
//! Code, quotes (`> ...`), e-mail addresses and what has a backslash before it are not mentions:
//! quoted text was written by others.

/// Most mentions of one task; more are reported and not looked up.
pub const MENTIONS_LIMIT: usize = 20;

/// Longest mention, in bytes; what is longer is cut there and found not to be there.
const WORD_LIMIT_BYTES: usize = 2048;

/// Something a task names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// As it was written.
    pub written: String,
    /// What is mentioned.
    pub target: MentionTarget,
}

/// Perhaps a file or folder of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionedPath {
    /// Its path as written.
    pub path: String,
    /// First and last line, counted from 1; the last may be left out.
    pub lines: Option<(usize, usize)>,
    /// True when it can be nothing but a path, so that one that does not exist is worth a note.
    pub is_sure: bool,
}

/// What a mention is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MentionTarget {
    /// Perhaps a file or folder of the repository.
    Path(MentionedPath),
    /// An address on the web.
    Url(String),
    /// An issue or pull request of the repository.
    Issue(u64),
    /// An agent: a mode.
    Agent(String),
    /// A model that is to be asked.
    Model(String),
}

/// Returns what a text mentions, each thing once.
pub fn parse(text: &str) -> Vec<Mention> {
    let plain = without_code(text);
    let mut found: Vec<Mention> = Vec::new();
    let mut at = 0;
    while let Some(mark) =
        plain.get(at..).and_then(|rest| rest.find(['@', '#'])).map(|offset| at + offset)
    {
        at = mark + 1;
        let before = plain.get(..mark).and_then(|before| before.chars().next_back());
        if !before.is_none_or(|letter| letter.is_whitespace() || "([{<\"',;:|*".contains(letter)) {
            continue;
        }
        let rest = plain.get(mark..).unwrap_or_default();
        let mention = if rest.starts_with('@') { named(rest) } else { numbered(rest) };
        if let Some(mention) = mention {
            at = mark + mention.written.len();
            if found.iter().all(|known| known.target != mention.target) {
                found.push(mention);
            }
        }
    }
    found
}

/// Reads `#12`.
fn numbered(text: &str) -> Option<Mention> {
    let digits: String = text.chars().skip(1).take_while(char::is_ascii_digit).collect();
    let after = text.get(1 + digits.len()..)?.chars().next();
    let ends =
        after.is_none_or(|letter| !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '/'));
    let number = digits
        .parse()
        .ok()
        .filter(|number| *number > 0 && ends && digits.len() <= 9 && !digits.starts_with('0'))?;
    Some(Mention { written: format!("#{digits}"), target: MentionTarget::Issue(number) })
}

/// Reads what follows an `@`.
fn named(text: &str) -> Option<Mention> {
    let rest = text.get(1..)?;
    if let Some(quoted) = rest.strip_prefix('"') {
        let path = quoted.split(['"', '\n']).next().filter(|path| {
            !path.is_empty() && quoted.get(path.len()..).is_some_and(|end| end.starts_with('"'))
        })?;
        let after = quoted.get(path.len() + 1..).unwrap_or_default();
        let (lines, length) = lines_at(after).unwrap_or_default();
        let written = text.get(..path.len() + 3 + length)?.to_owned();
        return Some(Mention {
            written,
            target: MentionTarget::Path(MentionedPath {
                path: path.to_owned(),
                lines,
                is_sure: true,
            }),
        });
    }
    let word = word_of(rest);
    let target = if is_url(word) {
        MentionTarget::Url(word.to_owned())
    } else if let Some(agent) = word
        .strip_prefix("run-agent-")
        .or_else(|| word.strip_prefix("agent-"))
        .filter(|name| is_name(name))
    {
        MentionTarget::Agent(agent.to_owned())
    } else if let Some(model) = word.strip_prefix("ask-").filter(|name| is_name(name)) {
        MentionTarget::Model(model.strip_prefix("model-").unwrap_or(model).to_owned())
    } else {
        path_of(word)?
    };
    Some(Mention { written: format!("@{word}"), target })
}

/// Returns the word at the start of a text, without the punctuation of the sentence around it; a
/// blank after a backslash belongs to it.
fn word_of(text: &str) -> &str {
    let text = locum_base::text::head(text, WORD_LIMIT_BYTES);
    let mut escaped = false;
    let end = text.find(|letter: char| {
        let ends = letter.is_whitespace() && !escaped || letter.is_control();
        escaped = letter == '\\' && !escaped;
        ends
    });
    let mut word = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    loop {
        let opened =
            |open: char, close: char| word.matches(open).count() >= word.matches(close).count();
        let cut = match word.chars().next_back() {
            Some('.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '>' | '*' | '|' | '}') => true,
            Some(')') => !opened('(', ')'),
            Some(']') => !opened('[', ']'),
            Some(_) | None => false,
        };
        match word.get(..word.len().saturating_sub(1)).filter(|_| cut) {
            Some(shorter) => word = shorter,
            None => return word,
        }
    }
}

fn is_url(word: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| {
        word.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':'))
}

fn path_of(word: &str) -> Option<MentionTarget> {
    let split = word
        .find("#L")
        .or_else(|| word.rfind(':'))
        .and_then(|at| Some((word.get(..at)?, lines_at(word.get(at..)?)?)));
    let (path, lines) = match split {
        Some((path, (lines, length))) if path.len() + length == word.len() => (path, lines),
        Some(_) | None => (word, None),
    };
    let path = path.replace("\\ ", " ");
    let is_sure =
        path.trim_start_matches("./").contains('/') && !path.contains("//") || has_ending(&path);
    let below = path.trim_start_matches('/');
    let says_something = below.contains(char::is_alphanumeric) && !below.starts_with('@');
    says_something
        .then(|| MentionTarget::Path(MentionedPath { path: below.to_owned(), lines, is_sure }))
}

fn has_ending(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

/// Reads `:10`, `:10-20`, `#L10`, `#L10-L20` at the start of a text: the lines, and how many bytes
/// say so.
fn lines_at(text: &str) -> Option<(Option<(usize, usize)>, usize)> {
    let start = text.strip_prefix("#L").or_else(|| text.strip_prefix(':'))?;
    let (first, rest) = number_at(start)?;
    let to = rest.strip_prefix("-L").or_else(|| rest.strip_prefix('-')).and_then(number_at);
    let (last, rest) = to.unwrap_or((first, rest));
    Some((Some((first, last.max(first))), text.len() - rest.len()))
}

fn number_at(text: &str) -> Option<(usize, &str)> {
    let length = text.chars().take_while(char::is_ascii_digit).count();
    let number = text.get(..length)?.parse().ok().filter(|number| *number > 0)?;
    Some((number, text.get(length..)?))
}

/// Returns the text with blanks in place of fenced code, code spans and quoted lines; places stay
/// where they are.
fn without_code(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut fence: Option<(char, usize)> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let letter = start.chars().next().filter(|letter| matches!(letter, '`' | '~'));
        let length =
            letter.map_or(0, |letter| start.chars().take_while(|other| *other == letter).count());
        match (fence, letter) {
            (None, Some(letter)) if length >= 3 => {
                fence = Some((letter, length));
                blank(line, &mut plain);
            }
            (Some((open, opened)), _) => {
                let closes = letter == Some(open)
                    && length >= opened
                    && start.trim_end().chars().all(|other| other == open);
                fence = fence.filter(|_| !closes);
                blank(line, &mut plain);
            }
            (None, _) if start.starts_with('>') => blank(line, &mut plain),
            (None, _) => without_spans(line, &mut plain),
        }
    }
    plain
}

fn without_spans(line: &str, plain: &mut String) {
    let mut rest = line;
    while let Some(open) = rest.find('`') {
        let ticks = rest
            .get(open..)
            .map_or(0, |ticks| ticks.chars().take_while(|letter| *letter == '`').count());
        let inside = open + ticks;
        let close = closing(rest.get(inside..).unwrap_or_default(), ticks);
        plain.push_str(rest.get(..open).unwrap_or_default());
        let end = close.map_or(inside, |close| inside + close + ticks);
        blank(rest.get(open..end).unwrap_or_default(), plain);
        rest = rest.get(end..).unwrap_or_default();
    }
    plain.push_str(rest);
}

/// Returns where a run of exactly this many backticks begins.
fn closing(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('`') {
        let start = at + found;
        let length = text.get(start..)?.chars().take_while(|letter| *letter == '`').count();
        if length == ticks {
            return Some(start);
        }
        at = start + length;
    }
    None
}

fn blank(text: &str, plain: &mut String) {
    for letter in text.chars() {
        if letter == '\n' {
            plain.push('\n');
        } else {
            plain.extend(std::iter::repeat_n(' ', letter.len_utf8()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MentionTarget, MentionedPath, parse};
    use pretty_assertions::assert_eq;

    /// Parses a text; each mention as one word.
    fn check(text: &str, expected: &[&str]) {
        let word = |target: &MentionTarget| match target {
            MentionTarget::Path(MentionedPath { path, lines, is_sure }) => {
                let lines =
                    lines.map(|(first, last)| format!(" {first}-{last}")).unwrap_or_default();
                format!("path {path}{lines}{}", if *is_sure { "" } else { "?" })
            }
            MentionTarget::Url(url) => format!("url {url}"),
            MentionTarget::Issue(number) => format!("issue {number}"),
            MentionTarget::Agent(name) => format!("agent {name}"),
            MentionTarget::Model(name) => format!("model {name}"),
        };
        let mentions = parse(text);
        assert_eq!(
            mentions.iter().map(|mention| word(&mention.target)).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
        assert!(
            mentions.iter().all(|mention| text.contains(&mention.written)),
            "{text}: {mentions:?}"
        );
    }

    #[test]
    fn finds_files_folders_and_lines() {
        check("Look at @src/lib.rs.", &["path src/lib.rs"]);
        check(
            "(@src/) and @/src/a.rs:10-20, @b.rs#L3-L9; @c.rs:7",
            &["path src/", "path src/a.rs 10-20", "path b.rs 3-9", "path c.rs 7-7"],
        );
        check(
            "@\"docs/my file.md\":4 and @docs/my\\ file.md",
            &["path docs/my file.md 4-4", "path docs/my file.md"],
        );
        check("@README @Makefile", &["path README?", "path Makefile?"]);
        check("@a.rs:9-3 @a.rs:0 @a.rs:x", &["path a.rs 9-9", "path a.rs:0?", "path a.rs:x?"]);
        check("twice @a.rs and @a.rs", &["path a.rs"]);
        check("@docs/f(x).md (see @docs/g.md)", &["path docs/f(x).md", "path docs/g.md"]);
    }

    #[test]
    fn finds_the_other_kinds() {
        check(
            "see @https://docs.rs/serde/?a=1#b, #12 and (#13)",
            &["url https://docs.rs/serde/?a=1#b", "issue 12", "issue 13"],
        );
        check(
            "@run-agent-docs @agent-review: @ask-gpt-5 @ask-model-o3",
            &["agent docs", "agent review", "model gpt-5", "model o3"],
        );
    }

    #[test]
    fn leaves_alone_what_is_no_mention() {
        for text in [
            "mail me@example.com or a.b@c.de",
            "`@src/lib.rs` and ``a ` @x``",
            "```\n@src/lib.rs #12\n```",
            "~~~~\n@a.rs\n~~~\n@b.rs\n~~~~",
            "> @src/lib.rs said somebody",
            "\\@src/lib.rs and \\#12",
            "#12abc #0 #012 x#12 a/b#12 #12-3 # 12 ##12",
            "@ @@ @. @, @\"\" @\"never closed",
            "",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn an_open_backtick_hides_nothing() {
        check("a ` stray and @a.rs", &["path a.rs"]);
        check("```\ncode\n```\n@a.rs", &["path a.rs"]);
    }

    #[test]
    fn long_texts_take_linear_time() {
        for piece in ["@", "#1 ", "@a.rs ", "`", "`` ` ", "@\"", "> ", "@(((", "@a\\ "] {
            let _ = parse(&piece.repeat(60_000 / piece.len()));
        }
    }
}
