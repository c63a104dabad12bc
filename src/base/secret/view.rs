//! `NormalizedText`: a text as a reader or a decoder would see it, each byte knowing where it came
//! from. Colours and invisible characters are left out, entities, percent and backslash escapes
//! decoded; `joined` and `without_tags` leave out what may stand between the parts of a secret,
//! `folded` ignores case. It changes nothing in the text itself.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

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
    /// a secret.
    pub fn joined(&self) -> Self {
        self.skipping(|rest| usize::from(rest.first().is_some_and(|byte| separates(*byte))))
    }

    /// Returns the view without tags, comments and links without words, which show nothing; `None`
    /// where it has none. What stands in angle brackets may be a secret itself.
    pub fn without_tags(&self) -> Option<Self> {
        let without = self.skipping(|rest| tag_length(rest).max(empty_link_length(rest)));
        (without.bytes.len() < self.bytes.len()).then_some(without)
    }

    /// Returns the view without what a function finds at its start: how many bytes.
    fn skipping(&self, length: impl Fn(&[u8]) -> usize) -> Self {
        let mut kept = Self::default();
        let mut at = 0;
        while let (Some(rest), Some(byte), Some(from)) =
            (self.bytes.get(at..), self.bytes.get(at), self.from.get(at))
        {
            match length(rest) {
                0 => {
                    kept.bytes.push(*byte);
                    kept.from.push(from.clone());
                    at += 1;
                }
                skipped => at += skipped,
            }
        }
        kept
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
        _ => Some(seen).filter(|seen| !shows_nothing(*seen)),
    };
    (length, seen)
}

/// Returns true for what shows nothing by itself, is drawn over the letter before it, or chooses
/// its form.
fn shows_nothing(letter: char) -> bool {
    is_invisible(letter)
        || (!letter.is_ascii() && is_combining_mark(letter))
        || (letter.is_control() && !letter.is_whitespace())
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

/// Most bytes of a tag, a comment or the address of a link.
const TAG_LIMIT_BYTES: usize = 64;

/// Returns how long a tag, with what is in it, or a comment at the start of a text is, or 0.
fn tag_length(text: &[u8]) -> usize {
    let text = text.get(..TAG_LIMIT_BYTES).unwrap_or(text);
    let Some(inner) = text.strip_prefix(b"<") else { return 0 };
    if let Some(comment) = inner.strip_prefix(b"!--") {
        let end = comment.windows(3).position(|end| end == b"-->");
        return end.map_or(0, |end| "<!---->".len() + end);
    }
    let name = inner.strip_prefix(b"/").unwrap_or(inner);
    let begins = |byte: &u8| byte.is_ascii_alphabetic() || b"!?>".contains(byte);
    if !name.first().is_some_and(begins) || name.len() == inner.len() && name.starts_with(b">") {
        return 0;
    }
    let end = inner.iter().position(|byte| b"<>".contains(byte));
    end.filter(|end| inner.get(*end) == Some(&b'>')).map_or(0, |end| end + 2)
}

/// Returns how long a link or an image without words at the start of a text is, or 0.
fn empty_link_length(text: &[u8]) -> usize {
    let text = text.get(..TAG_LIMIT_BYTES).unwrap_or(text);
    let link = text.strip_prefix(b"!").unwrap_or(text);
    let Some(address) = link.strip_prefix(b"[](") else { return 0 };
    let end = address.iter().position(|byte| *byte == b')');
    end.map_or(0, |end| text.len() - address.len() + end + 1)
}

fn separates(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(byte, 0x0b | b'*' | b'`' | b'~' | b'\\' | b'"' | b'\'' | b',' | b'|')
}
