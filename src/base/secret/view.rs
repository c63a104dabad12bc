//! `NormalizedText`: a text as a reader or a decoder would see it, each byte knowing where it came
//! from. Colours and invisible characters are left out, entities, percent and backslash escapes
//! decoded; `joined` leaves out what may stand between the parts of a secret, `folded` ignores
//! case. It changes nothing in the text itself.

use std::ops::Range;

/// A text as it reads, with the way back to the text as written.
#[derive(Clone, Debug, Default)]
pub struct NormalizedText {
    bytes: Vec<u8>,
    /// For each byte, where the piece of text it came from starts and ends.
    from: Vec<Range<usize>>,
}

impl NormalizedText {
    /// Reads a text: without colours and invisible characters, escapes decoded.
    pub fn plain(text: &str) -> Self {
        let mut view =
            Self { bytes: Vec::with_capacity(text.len()), from: Vec::with_capacity(text.len()) };
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (length, seen) = piece(rest);
            if let Some(letter) = seen {
                let mut buffer = [0; 4];
                for byte in letter.encode_utf8(&mut buffer).bytes() {
                    view.bytes.push(byte);
                    view.from.push(at..at + length);
                }
            }
            at += length;
        }
        view
    }

    /// Returns the view without blanks, quotes and other marks that may stand between the parts of
    /// a secret, tags without attributes among them.
    pub fn joined(&self) -> Self {
        let mut joined = Self::default();
        let mut at = 0;
        while let (Some(byte), Some(from)) = (self.bytes.get(at), self.from.get(at)) {
            let tag = self.bytes.get(at..).map_or(0, tag_length);
            if tag == 0 && !separates(*byte) {
                joined.bytes.push(*byte);
                joined.from.push(from.clone());
            }
            at += tag.max(1);
        }
        joined
    }

    /// Returns the view in lower case.
    pub fn folded(mut self) -> Self {
        self.bytes.make_ascii_lowercase();
        self
    }

    /// Returns the bytes to search in.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the part of the text that a range of the view came from.
    pub fn source(&self, range: Range<usize>) -> Range<usize> {
        let start = self.from.get(range.start).map(|from| from.start);
        let end =
            range.end.checked_sub(1).and_then(|last| self.from.get(last)).map(|from| from.end);
        start.zip(end).map_or(0..0, |(start, end)| start..end)
    }
}

/// Returns true for characters that show nothing and carry hidden text or reorder what is shown.
pub fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a text without the escape sequences of terminals: colours, titles, links.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.find('\u{1b}').and_then(|at| rest.split_at_checked(at))
    {
        plain.push_str(before);
        rest = escape.get(escape_length(escape).max(1)..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// Returns how long a terminal's escape sequence at the start of the text is, or 0.
pub fn escape_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate();
    if bytes.next().is_none_or(|(_, byte)| byte != 0x1b) {
        return 0;
    }
    match bytes.next() {
        Some((_, b'[')) => bytes
            .take(64)
            .find(|(_, byte)| !(0x20..=0x3f).contains(byte))
            .map_or(2, |(at, byte)| if (0x40..=0x7e).contains(&byte) { at + 1 } else { at }),
        Some((_, b']')) => bytes
            .take(512)
            .find(|(_, byte)| matches!(byte, 0x07 | 0x1b | b'\n'))
            .map_or(2, |(at, byte)| match text.get(at..) {
                Some(end) if end.starts_with("\u{1b}\\") => at + 2,
                _ => at + usize::from(byte == 0x07),
            }),
        // A set of characters, as `tput sgr0` chooses one.
        Some((_, b'(' | b')')) if matches!(bytes.next(), Some((_, b'0' | b'A' | b'B'))) => 3,
        Some(_) | None => 1,
    }
}

/// Decodes one character reference at the start of the text: its length and its character.
pub fn entity(text: &str) -> Option<(usize, char)> {
    const LONGEST: usize = 24;
    let body = text.strip_prefix('&')?;
    let end = body.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = body.get(..end)?;
    let letter = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)?,
            None => number.parse().ok().and_then(char::from_u32)?,
        },
        None => named(name)?,
    };
    Some((end + 2, letter))
}

fn named(name: &str) -> Option<char> {
    const NAMES: &[(&str, char)] = &[
        ("commat", '@'),
        ("num", '#'),
        ("sol", '/'),
        ("colon", ':'),
        ("period", '.'),
        ("lowbar", '_'),
        ("UnderBar", '_'),
        ("dash", '-'),
        ("hyphen", '-'),
        ("equals", '='),
        ("plus", '+'),
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("Tab", '\t'),
        ("NewLine", '\n'),
        ("excl", '!'),
        ("quest", '?'),
        ("semi", ';'),
        ("comma", ','),
        ("lpar", '('),
        ("rpar", ')'),
        ("lsqb", '['),
        ("lbrack", '['),
        ("rsqb", ']'),
        ("rbrack", ']'),
        ("bsol", '\\'),
        ("grave", '`'),
        ("ast", '*'),
        ("dollar", '$'),
        ("percnt", '%'),
        ("shy", '\u{ad}'),
        ("zwj", '\u{200d}'),
        ("zwnj", '\u{200c}'),
        ("lrm", '\u{200e}'),
        ("rlm", '\u{200f}'),
        ("verbar", '|'),
        ("vert", '|'),
        ("VerticalLine", '|'),
    ];
    /// Names of what shows nothing between two letters.
    const NOTHING: &[&str] = &[
        "NoBreak",
        "ApplyFunction",
        "af",
        "InvisibleTimes",
        "it",
        "InvisibleComma",
        "ic",
        "ZeroWidthSpace",
        "NegativeVeryThinSpace",
        "NegativeThinSpace",
        "NegativeMediumSpace",
        "NegativeThickSpace",
    ];
    /// Names of blanks.
    const BLANKS: &[&str] = &[
        "nbsp",
        "NonBreakingSpace",
        "ensp",
        "emsp",
        "emsp13",
        "emsp14",
        "numsp",
        "puncsp",
        "thinsp",
        "ThinSpace",
        "hairsp",
        "VeryThinSpace",
        "MediumSpace",
        "ThickSpace",
    ];
    if NOTHING.contains(&name) {
        return Some('\u{200b}');
    }
    if BLANKS.contains(&name) {
        return Some(' ');
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter)
}

/// Reads one piece: how many bytes of the text it takes and what a reader sees of it.
fn piece(rest: &str) -> (usize, Option<char>) {
    let Some(letter) = rest.chars().next() else { return (1, None) };
    let decoded = match letter {
        '\u{1b}' => return (escape_length(rest).max(1), None),
        '&' => entity(rest),
        '%' => hex_at(rest, 1, 2).map(|letter| (3, letter)),
        '\\' => backslash(rest),
        _ => None,
    };
    let (length, seen) = decoded.unwrap_or((letter.len_utf8(), letter));
    let seen = match seen {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(seen) - 0xfee0),
        // Such as the blank without a break, and that of Braille.
        _ if seen == '\u{2800}' || (seen.is_whitespace() && !seen.is_ascii()) => Some(' '),
        _ => Some(seen).filter(|seen| !is_invisible(*seen) && !is_mark(*seen)),
    };
    (length, seen)
}

/// Returns true for what is drawn over the letter before it, or chooses its form.
fn is_mark(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}

fn backslash(rest: &str) -> Option<(usize, char)> {
    match rest.as_bytes().get(1)? {
        b'u' => hex_at(rest, 2, 4).map(|letter| (6, letter)),
        b'x' => hex_at(rest, 2, 2).map(|letter| (4, letter)),
        _ => None,
    }
}

/// Reads an ASCII character written as `count` hexadecimal digits.
fn hex_at(rest: &str, at: usize, count: usize) -> Option<char> {
    let digits = rest
        .get(at..at + count)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).filter(char::is_ascii)
}

/// Returns how long a tag such as `<b>`, `</b>` or `<br/>` at the start of a text is, or 0.
fn tag_length(text: &[u8]) -> usize {
    const LONGEST: usize = 14;
    if text.first() != Some(&b'<') {
        return 0;
    }
    let Some(end) = text.iter().take(LONGEST).position(|byte| *byte == b'>') else { return 0 };
    let name = text.get(1..end).unwrap_or_default();
    let name = name.strip_prefix(b"/").unwrap_or(name);
    let name = name.strip_suffix(b"/").unwrap_or(name).trim_ascii_end();
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(u8::is_ascii_alphanumeric);
    if is_name { end + 1 } else { 0 }
}

fn separates(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, 0x0b | b'*' | b'`' | b'~' | b'\\' | b'"' | b'\'' | b',' | b'|')
}
