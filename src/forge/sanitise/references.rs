//! Words that make the forge act: mentions that ping, and closing keywords in front of an issue.

/// The words that close an issue when a reference follows:
/// <https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue>.
const CLOSING: &[&str] =
    &["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// Put between a closing word and its reference, so that they no longer act as one.
const APART: &str = "\u{b7} ";

/// Looks like `@` and mentions no user, in code, HTML and plain text alike.
pub(super) const WIDE_AT: char = '\u{ff20}';

/// How far back a closing word is looked for, blanks not counted.
const REACH_LETTERS: usize = 240;

/// Returns the `@` to write in front of `rest`: itself where it mentions no user or may.
pub(super) fn at_sign(before: Option<char>, rest: &str, may_mention: &[String]) -> char {
    let pings = rest.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && !before.is_some_and(|letter| letter.is_ascii_alphanumeric());
    if !pings {
        return '@';
    }
    let name = rest
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-' && letter != '/')
        .next()
        .unwrap_or_default();
    if may_mention.iter().any(|known| known.eq_ignore_ascii_case(name)) { '@' } else { WIDE_AT }
}

/// Returns true when an issue reference starts here: `#1`, `GH-1`, or the address of an issue or
/// pull request.
pub(super) fn starts_reference(before: Option<char>, rest: &str) -> bool {
    let digit = |text: Option<&str>| {
        text.is_some_and(|text| text.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    if rest.starts_with('#') {
        return digit(rest.get(1..));
    }
    let fresh = !before.is_some_and(|letter| letter.is_ascii_alphanumeric());
    fresh
        && (rest.get(..3).is_some_and(|head| head.eq_ignore_ascii_case("gh-"))
            && digit(rest.get(3..))
            || is_issue_address(rest))
}

/// Returns true for the address of an issue, pull request or discussion.
pub(super) fn is_issue_address(text: &str) -> bool {
    let scheme = ["https://", "http://"].iter().find(|scheme| {
        text.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    });
    let Some(rest) = scheme.and_then(|scheme| text.get(scheme.len()..)) else { return false };
    let address = rest
        .split(|letter: char| {
            letter.is_whitespace() || matches!(letter, '<' | '>' | '"' | ')' | ']')
        })
        .next()
        .unwrap_or_default();
    let mut parts = address.split('/').skip(3);
    let kind = parts
        .next()
        .is_some_and(|kind| matches!(kind, "issues" | "pull" | "pulls" | "discussions"));
    kind && parts
        .next()
        .is_some_and(|number| number.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Separates a closing word at the end of `out` from the reference that is about to be written.
pub(super) fn keep_apart(out: &mut String) {
    let tail = tail(out, out.len());
    let mut word_end = tail.len() - repository_length(tail);
    if closing_word_ends(tail.get(..word_end).unwrap_or_default()) {
        word_end += out.len() - tail.len();
        out.insert_str(word_end, APART);
    }
}

/// Does the same where the reference is the target of a link whose text is already written: `fixes
/// [that](address)`.
pub(super) fn keep_link_apart(out: &mut String) {
    let Some(bracket) =
        tail(out, out.len()).rfind('[').map(|at| at + out.len() - tail(out, out.len()).len())
    else {
        return;
    };
    if closing_word_ends(tail(out, bracket)) {
        out.insert_str(bracket, APART);
    }
}

/// Returns the text with mentions and closing words made harmless, for places without Markdown.
pub(super) fn plain(text: &str, may_mention: &[String], may_close: bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (at, letter) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let before = out.chars().next_back();
        if letter == '@' {
            out.push(at_sign(before, rest.get(1..).unwrap_or_default(), may_mention));
            continue;
        }
        if !may_close
            && matches!(letter, '#' | 'g' | 'G' | 'h' | 'H')
            && starts_reference(before, rest)
        {
            keep_apart(&mut out);
        }
        out.push(letter);
    }
    out
}

fn tail(text: &str, end: usize) -> &str {
    let before = text.get(..end).unwrap_or_default();
    let letters = before.char_indices().rev().filter(|(_, letter)| !letter.is_whitespace());
    let from = letters.take(REACH_LETTERS).last().map_or(0, |(at, _)| at);
    before.get(from..).unwrap_or_default()
}

/// Returns the length of `owner/name` at the end of the text, or 0.
fn repository_length(text: &str) -> usize {
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name = text.trim_end_matches(is_part);
    let Some(owner_end) = name.strip_suffix('/').filter(|_| name.len() < text.len()) else {
        return 0;
    };
    let before = owner_end.trim_end_matches(is_part);
    if before.len() < owner_end.len() { text.len() - before.len() } else { 0 }
}

/// Returns true when the text ends in a closing word and nothing but marks and blanks.
fn closing_word_ends(text: &str) -> bool {
    let mut text = text;
    loop {
        let trimmed = text.trim_end_matches(|letter: char| {
            letter.is_whitespace()
                || matches!(letter, ':' | '*' | '_' | '~' | '(' | '[' | '\\' | '"' | '\'')
        });
        let trimmed = trimmed.strip_suffix("&nbsp;").unwrap_or(trimmed);
        let trimmed = match trimmed.strip_suffix('>') {
            Some(open) => open.rfind('<').and_then(|at| open.get(..at)).unwrap_or(open),
            None => trimmed.strip_suffix('<').unwrap_or(trimmed),
        };
        if trimmed.len() == text.len() {
            break;
        }
        text = trimmed;
    }
    let before = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let word = text.get(before.len()..).unwrap_or_default();
    let fresh = !before.ends_with(|letter: char| letter.is_alphanumeric());
    fresh && CLOSING.iter().any(|closing| closing.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::plain;
    use pretty_assertions::assert_eq;

    fn check(text: &str, expected: &str) {
        assert_eq!(plain(text, &["alice".to_owned()], false), expected);
        assert_eq!(plain(expected, &["alice".to_owned()], false), expected, "twice");
    }

    #[test]
    fn closing_words_are_set_apart_from_their_reference() {
        for word in [
            "close", "Closes", "CLOSED", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
        ] {
            check(&format!("{word} #1"), &format!("{word} \u{b7} #1"));
        }
        check("fixed: #1", "fixed: \u{b7} #1");
        check("fixes\n#1", "fixes\n\u{b7} #1");
        check("resolves acme/app#3", "resolves \u{b7} acme/app#3");
        check("fix GH-12", "fix \u{b7} GH-12");
        let far = " ".repeat(300);
        check(&format!("closes{far}#7"), &format!("closes{far}\u{b7} #7"));
        check("**fixes** #1", "**fixes** \u{b7} #1");
        check("<b>fixes</b> #1", "<b>fixes</b> \u{b7} #1");
        check(
            "closes https://github.com/acme/app/issues/3",
            "closes \u{b7} https://github.com/acme/app/issues/3",
        );
    }

    #[test]
    fn other_words_and_references_stay() {
        for text in [
            "see #1",
            "prefixes #1",
            "fixes the bug of #1",
            "fixes 3 tests",
            "closes https://docs.rs/x",
            "a fix, see acme/app#3",
        ] {
            check(text, text);
        }
        assert_eq!(plain("fixes #1", &[], true), "fixes #1");
    }

    #[test]
    fn only_listed_people_are_mentioned() {
        check("@octocat", "\u{ff20}octocat");
        check("x,@octocat.", "x,\u{ff20}octocat.");
        check("@acme/team", "\u{ff20}acme/team");
        check("_@octocat_", "_\u{ff20}octocat_");
        check("@alice and @Alice", "@alice and @Alice");
        check("@alicex", "\u{ff20}alicex");
        check("a.b@example.com @ home", "a.b@example.com @ home");
    }
}
