//! Sets of characters as JavaScript names them. In: a class escape or a set written out; out:
//! ranges, and their text in the dialect of `fancy-regex`, every character by its number.

/// A range of characters, both ends included.
pub(super) type Range = (u32, u32);

const LAST_CHAR: u32 = 0x10_FFFF;
const DIGIT: &[Range] = &[(0x30, 0x39)];
const WORD: &[Range] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
pub(super) const LINE_END: &[Range] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];
const SPACE: &[Range] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// Returns the set that a letter after a backslash names, and whether its opposite is meant.
pub(super) fn named(letter: char) -> Option<(&'static [Range], bool)> {
    match letter {
        'd' => Some((DIGIT, false)),
        'D' => Some((DIGIT, true)),
        'w' => Some((WORD, false)),
        'W' => Some((WORD, true)),
        's' => Some((SPACE, false)),
        'S' => Some((SPACE, true)),
        _ => None,
    }
}

/// Returns the text of a set. An empty one matches nothing, its opposite anything.
pub(super) fn class_text(ranges: &[Range], negated: bool) -> String {
    let (ranges, negated): (&[Range], bool) =
        if ranges.is_empty() { (&[(0, LAST_CHAR)], !negated) } else { (ranges, negated) };
    let range = |(from, to): &Range| {
        if to > from {
            format!("{}-{}", hex_escape(*from), hex_escape(*to))
        } else {
            hex_escape(*from)
        }
    };
    format!("[{}{}]", if negated { "^" } else { "" }, ranges.iter().map(range).collect::<String>())
}

/// Returns the text of one character, or `None` for half a surrogate pair.
pub(super) fn char_text(code: u32) -> Option<String> {
    let char = char::from_u32(code)?;
    Some(if char.is_ascii_alphanumeric() || char == '/' || char == '_' {
        char.to_string()
    } else {
        hex_escape(code)
    })
}

/// Returns every character that is in none of the ranges, which are in order.
pub(super) fn complement(ranges: &[Range]) -> Vec<Range> {
    let mut rest = Vec::new();
    let mut from = 0;
    for (start, end) in ranges {
        if *start > from {
            rest.push((from, start - 1));
        }
        from = end + 1;
    }
    rest.push((from, LAST_CHAR));
    rest
}

fn hex_escape(code: u32) -> String {
    format!("\\x{{{code:X}}}")
}
