//! One line of Markdown outside fenced code: what pings, closes, hides or leads elsewhere is made
//! harmless, what is in a code span stays. A backtick that opens nothing on its own line is
//! escaped, so that no span can reach into other lines.

use std::collections::{HashMap, VecDeque};

use crate::command::after_prefix;
use crate::sanitise::TextRules;
use crate::sanitise::links::{REMOVED, address_length, address_may_stay, target, target_may_stay};
use crate::sanitise::references::{
    WIDE_AT, at_sign, is_issue_address, keep_apart, keep_link_apart, starts_reference,
};
use locum_base::secret::view::{entity, is_invisible};

/// HTML that may stay, always without attributes.
const TAGS: &[&str] = &[
    "details", "summary", "b", "i", "em", "strong", "code", "kbd", "sub", "sup", "br", "del", "ins",
];

/// Commands of formulas that hide or colour text or lead elsewhere.
const FORMULA_COMMANDS: &[&str] = &[
    "color",
    "textcolor",
    "colorbox",
    "fcolorbox",
    "phantom",
    "hphantom",
    "vphantom",
    "href",
    "url",
    "style",
    "class",
    "unicode",
    "tiny",
    "rlap",
    "llap",
];

/// A tag is read up to this length.
const TAG_LIMIT_BYTES: usize = 240;

/// How a line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineMode {
    /// Backticks make code.
    Code,
    /// They do, but not across the bars of a table.
    Table,
    /// The line stands in raw HTML: backticks are only letters.
    Raw,
}

/// Writes a line to `out`. Returns by how many levels `<details>` was opened (or closed, if
/// negative).
pub(super) fn write_line(
    line: &str,
    spans: InlineMode,
    rules: &TextRules,
    out: &mut String,
) -> i32 {
    let mut writer = LineWriter {
        line,
        at: 0,
        runs: BacktickRuns::of(line, spans),
        comment_ends: true,
        in_address: false,
        details: 0,
        rules,
        out,
    };
    let command = command_start(line, &rules.prefix);
    while let Some(rest) = line.get(writer.at..).filter(|rest| !rest.is_empty()) {
        if command == Some(writer.at) {
            if rest.starts_with('@') {
                // A backslash in front of it would go where a text is filtered twice.
                writer.put(1, WIDE_AT);
                continue;
            }
            // In front of a letter it is seen; a number in place of the letter would become the
            // letter again where a text is filtered twice.
            writer.out.push('\\');
        }
        writer.step(rest);
    }
    writer.details
}

/// Returns the tag's canonical form and length when an allowed one starts here: `<details open>` ->
/// `<details>`.
pub(super) fn allowed_tag(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix('<')?;
    let (slash, name_on) = inner.strip_prefix('/').map_or(("", inner), |rest| ("/", rest));
    let name_length = name_on.bytes().take(12).take_while(u8::is_ascii_alphabetic).count();
    let name = name_on.get(..name_length)?.to_ascii_lowercase();
    let rest = name_on.get(name_length..)?;
    let end = rest
        .bytes()
        .take(TAG_LIMIT_BYTES)
        .position(|byte| matches!(byte, b'>' | b'<' | b'\n' | b'`'))?;
    let ends = rest.get(end..)?.starts_with('>') && rest.starts_with([' ', '\t', '/', '>']);
    (ends && TAGS.contains(&name.as_str()))
        .then(|| (format!("<{slash}{name}>"), 1 + slash.len() + name_length + end + 1))
}

/// Skips what makes a quote or a list item of a line.
pub(super) fn skip_containers(line: &str) -> &str {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '>']);
        let digits = trimmed.bytes().take(9).take_while(u8::is_ascii_digit).count();
        let marker = match trimmed.as_bytes().get(digits) {
            Some(b'-' | b'*' | b'+') if digits == 0 => 1,
            Some(b'.' | b')') if digits > 0 => digits + 1,
            Some(_) | None => 0,
        };
        let after = trimmed.get(marker..).unwrap_or_default();
        if marker == 0 || !after.starts_with([' ', '\t']) {
            return trimmed;
        }
        rest = after;
    }
}

/// Returns where a command for a program starts on the line: `/word`, or our own prefix as a word.
fn command_start(line: &str, prefix: &str) -> Option<usize> {
    // Other programs may count any blank as one.
    let rest = skip_containers(line).trim_start();
    let own = after_prefix(rest, prefix).is_some();
    let word = rest
        .strip_prefix('/')
        .filter(|word| word.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    let other = word.is_some_and(|word| {
        let after =
            word.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '-');
        !after.starts_with(['/', '.', '_'])
    });
    (own || other).then(|| line.len() - rest.len())
}

/// Where the runs of backticks of a line stand.
#[derive(Default)]
struct BacktickRuns {
    /// Starts by length and table cell, in order.
    places: HashMap<(usize, usize), VecDeque<usize>>,
    /// Bars between table cells.
    bars: Vec<usize>,
}

impl BacktickRuns {
    fn of(line: &str, spans: InlineMode) -> Self {
        let mut runs = Self::default();
        if spans == InlineMode::Raw {
            return runs;
        }
        let bytes = line.as_bytes();
        let mut at = 0;
        let mut escaped = false;
        while let Some(byte) = bytes.get(at) {
            let length = run_length(bytes, at).max(1);
            match byte {
                b'`' => runs.places.entry((length, runs.bars.len())).or_default().push_back(at),
                b'|' if spans == InlineMode::Table && !escaped => runs.bars.push(at),
                _ => {}
            }
            escaped = *byte == b'\\';
            at += length;
        }
        runs
    }

    /// Finds the next run of this length in the same cell.
    fn next(&mut self, from: usize, length: usize) -> Option<usize> {
        let cell = self.bars.partition_point(|bar| *bar < from);
        let places = self.places.get_mut(&(length, cell))?;
        while places.front().is_some_and(|place| *place < from) {
            places.pop_front();
        }
        places.front().copied()
    }
}

fn run_length(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|byte| **byte == b'`').count()
}

/// A line being written.
struct LineWriter<'a> {
    line: &'a str,
    at: usize,
    runs: BacktickRuns,
    /// False once the end of an HTML comment was looked for in vain.
    comment_ends: bool,
    /// True from a bare address to the next blank: GitHub takes all of it for the address,
    /// backticks included.
    in_address: bool,
    details: i32,
    rules: &'a TextRules,
    out: &'a mut String,
}

impl LineWriter<'_> {
    /// Writes the next piece of the line.
    fn step(&mut self, rest: &str) {
        let Some(letter) = rest.chars().next() else { return };
        let before = self.out.chars().next_back();
        self.in_address =
            !letter.is_ascii_whitespace() && (self.in_address || begins_address(rest));
        match letter {
            '`' => self.backticks(rest),
            '\\' => self.backslash(rest),
            '<' => self.angle(rest),
            '&' => self.reference(rest),
            '@' => self
                .put(1, at_sign(before, rest.get(1..).unwrap_or_default(), &self.rules.mentions)),
            '!' if rest.starts_with("![") => {
                self.out.push_str("! ");
                self.at += 1;
            }
            ']' => self.bracket(rest),
            ':' if rest.starts_with("://") && ends_with_scheme(self.out) => {
                self.put_str(1, "\\:");
            }
            '#' if !self.rules.closing && starts_reference(before, rest) => {
                keep_apart(self.out);
                self.put(1, '#');
            }
            _ if letter.is_ascii_alphanumeric()
                && !before.is_some_and(|before| before.is_ascii_alphanumeric()) =>
            {
                self.word(rest, letter)
            }
            _ => self.put(letter.len_utf8(), letter),
        }
    }

    fn put(&mut self, length: usize, letter: char) {
        self.out.push(letter);
        self.at += length;
    }

    fn put_str(&mut self, length: usize, text: &str) {
        self.out.push_str(text);
        self.at += length;
    }

    /// Code up to the next run of as many backticks, or escaped backticks.
    fn backticks(&mut self, rest: &str) {
        let length = run_length(rest.as_bytes(), 0);
        match self.runs.next(self.at + length, length) {
            Some(end) => {
                if self.out.ends_with('\\') || self.in_address {
                    self.out.push(' ');
                    self.in_address = false;
                }
                let span = self.line.get(self.at..end + length).unwrap_or_default();
                self.put_str(span.len(), span);
            }
            None => self.put_str(length, &"\\`".repeat(length)),
        }
    }

    /// A backslash and what it escapes.
    fn backslash(&mut self, rest: &str) {
        let after = rest.get(1..).unwrap_or_default();
        match after.chars().next() {
            // The mark itself is made harmless at the next step.
            Some('@') => self.at += 1,
            Some('#')
                if after.get(1..).is_some_and(|rest| {
                    rest.starts_with(|letter: char| letter.is_ascii_digit())
                }) =>
            {
                self.at += 1
            }
            Some('<') => self.put_str(2, "&lt;"),
            Some('&') => self.put_str(2, "&amp;"),
            Some(mark) if mark.is_ascii_punctuation() => {
                self.put(1, '\\');
                self.put(1, mark);
            }
            Some(_) if starts_formula_command(after) => self.put_str(1, "\\\\"),
            Some(_) | None => self.put(1, '\\'),
        }
    }

    /// A comment, an address in angle brackets, a tag, or a plain `<`.
    fn angle(&mut self, rest: &str) {
        if let Some(inner) = rest.strip_prefix("<!--").filter(|_| self.comment_ends) {
            if let Some(end) = comment_end(inner) {
                self.at += 4 + end;
                if !self.out.ends_with(char::is_whitespace) {
                    self.out.push(' ');
                }
                return;
            }
            self.comment_ends = false;
        }
        if let Some(address) = angle_address(rest) {
            let stays = address_may_stay(address, &self.rules.hosts)
                && target_may_stay(address, &self.rules.hosts);
            let written = if stays { format!("<{address}>") } else { REMOVED.to_owned() };
            return self.put_str(address.len() + 2, &written);
        }
        if let Some((tag, length)) = allowed_tag(rest) {
            self.details += i32::from(tag == "<details>") - i32::from(tag == "</details>");
            return self.put_str(length, &tag);
        }
        let opens = rest.get(1..).is_some_and(|rest| {
            rest.starts_with(|letter: char| {
                letter.is_ascii_alphabetic() || matches!(letter, '/' | '!' | '?')
            })
        });
        if opens { self.put_str(1, "&lt;") } else { self.put(1, '<') }
    }

    /// A character reference: decoded when it encodes what is looked for here, so that the next
    /// reading sees it.
    fn reference(&mut self, rest: &str) {
        match entity(rest) {
            Some((length, letter)) if is_invisible(letter) => self.at += length,
            Some((length, letter)) if letter.is_whitespace() => self.put(length, ' '),
            Some((length, letter))
                if letter.is_ascii_alphanumeric()
                    || matches!(letter, '@' | '#' | '/' | ':' | '.' | '-' | '_') =>
            {
                self.put(length, letter)
            }
            Some(_) | None => self.put(1, '&'),
        }
    }

    /// The end of a link's text: a definition is shown, a target kept without its title or taken
    /// away.
    fn bracket(&mut self, rest: &str) {
        if rest.starts_with("]:") {
            return self.put_str(2, "]\\:");
        }
        let Some(bracket) = rest.strip_prefix(']').filter(|after| after.starts_with('(')) else {
            return self.put(1, ']');
        };
        match target(bracket) {
            Some(target) if target_may_stay(target.address, &self.rules.hosts) => {
                if !self.rules.closing && is_issue_address(target.address) {
                    keep_link_apart(self.out);
                }
                let address = without_mentions(target.address);
                let pointed = address.contains([' ', '(', ')']);
                let written =
                    if pointed { format!("](<{address}>)") } else { format!("]({address})") };
                self.put_str(1 + target.length, &written);
                // To GitHub it is a bare address where no bracket was opened.
                self.in_address = is_bare_address(target.address);
            }
            Some(target) => self.put_str(1 + target.length, &format!("] {REMOVED}")),
            None => self.put_str(2, "]\\("),
        }
    }

    /// The start of a word: an address, a reference to an issue, or only a letter.
    fn word(&mut self, rest: &str, letter: char) {
        if !self.rules.closing && starts_reference(None, rest) {
            keep_apart(self.out);
        }
        let Some(length) = address_length(rest) else { return self.put(letter.len_utf8(), letter) };
        let address = rest.get(..length).unwrap_or_default();
        if !address_may_stay(address, &self.rules.hosts) {
            return self.put_str(length, REMOVED);
        }
        self.out.push_str(&without_mentions(address));
        self.in_address = true;
        self.at += length;
    }
}

/// Returns an address in which no `@` mentions an account, whether it leads to GitHub or is only
/// text.
fn without_mentions(address: &str) -> String {
    let is_bare = is_bare_address(address);
    let mut written = String::with_capacity(address.len());
    for letter in address.chars() {
        let before = written.chars().next_back();
        let is_harmless = before
            .is_some_and(|before| before.is_ascii_alphanumeric() || (before == '/' && is_bare));
        if letter == '@' && !is_harmless {
            written.push_str("%40");
        } else {
            written.push(letter);
        }
    }
    written
}

/// Returns true for what GitHub makes a link of without brackets.
fn is_bare_address(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    address.contains("://") || address.contains("www.")
}

/// Returns true for `1https`, which is one word to us, and to GitHub an address after a digit.
fn ends_with_scheme(written: &str) -> bool {
    let before = written.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let word = written.get(before.len()..).unwrap_or_default();
    before.ends_with(|letter: char| letter.is_ascii_digit())
        && ["http", "https", "ftp"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns true where GitHub may begin an address, whatever stands in front of it.
fn begins_address(rest: &str) -> bool {
    rest.starts_with("://") || rest.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("www."))
}

/// Returns the length up to the end of a comment, the end included.
pub(super) fn comment_end(text: &str) -> Option<usize> {
    let plain = text.find("-->").map(|at| at + 3);
    let odd = text.find("--!>").map(|at| at + 4);
    plain.into_iter().chain(odd).min()
}

fn angle_address(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('<')?;
    let end = inner
        .bytes()
        .take(2048)
        .position(|byte| matches!(byte, b'>' | b'<' | b' ' | b'\t' | b'`'))?;
    let address = inner.get(..end).filter(|_| inner.as_bytes().get(end) == Some(&b'>'))?;
    let scheme = address
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'))
        .count();
    (scheme >= 2 && address.get(scheme..).is_some_and(|rest| rest.starts_with(':')))
        .then_some(address)
}

fn starts_formula_command(text: &str) -> bool {
    let name = text.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
    FORMULA_COMMANDS.contains(&name)
        && text.get(name.len()..).is_some_and(|rest| rest.trim_start().starts_with(['{', '[']))
}
