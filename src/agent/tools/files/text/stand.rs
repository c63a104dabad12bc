//! Where in a file given lines stand: letter for letter, or leaving blanks and typographic signs
//! out of account. Which of several places is meant is for the caller to decide.

use std::borrow::Cow;
use std::ops::Range;

use crate::tools::files::text::blank::{is_blank, trim};

/// What may differ between lines that are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// Nothing.
    Exact,
    /// Blanks at the ends of lines.
    TrailingBlanks,
    /// Blanks at both ends of lines.
    Indentation,
    /// How many blanks stand anywhere, and typographic quotes, dashes, dots and blanks.
    Signs,
}

impl Likeness {
    /// From the strictest to the loosest.
    pub const ALL: [Self; 4] = [Self::Exact, Self::TrailingBlanks, Self::Indentation, Self::Signs];

    fn of(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => Cow::Borrowed(line),
            Self::TrailingBlanks => Cow::Borrowed(line.trim_end_matches(is_blank)),
            Self::Indentation => Cow::Borrowed(trim(line)),
            Self::Signs => Cow::Owned(plain(line)),
        }
    }
}

/// Returns every line of `lines`, counted from 0, at which `wanted` stands within `bounds`. Blank
/// lines alone stand nowhere but letter for letter.
pub fn places(
    lines: &[String],
    wanted: &[&str],
    likeness: Likeness,
    bounds: Range<usize>,
) -> Vec<usize> {
    let loose = likeness != Likeness::Exact;
    if wanted.is_empty() || (loose && wanted.iter().all(|line| trim(line).is_empty())) {
        return Vec::new();
    }
    let Some(last) = lines.len().min(bounds.end).checked_sub(wanted.len()) else {
        return Vec::new();
    };
    let wanted: Vec<Cow<'_, str>> = wanted.iter().map(|line| likeness.of(line)).collect();
    let stands = |at: &usize| {
        let window = lines.get(*at..).unwrap_or_default();
        window.iter().zip(&wanted).all(|(line, wanted)| likeness.of(line) == *wanted)
    };
    (bounds.start..=last).filter(stands).collect()
}

/// Returns a line with the quotes, dashes and dots of a keyboard, single blanks and none at its
/// ends.
pub fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut gap = false;
    for letter in line.chars() {
        if is_blank(letter) {
            gap = !out.is_empty();
            continue;
        }
        if gap {
            out.push(' ');
            gap = false;
        }
        match letter {
            '\u{201c}'..='\u{201f}' => out.push('"'),
            '\u{2018}'..='\u{201b}' => out.push('\''),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '\u{2026}' => out.push_str("..."),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Likeness, places};
    use pretty_assertions::assert_eq;

    #[test]
    fn each_likeness_sees_what_the_stricter_ones_see_and_more() {
        let cases: &[(&str, &str, [&[usize]; 4])] = &[
            ("a|b|a|b", "a|b", [&[0, 2], &[0, 2], &[0, 2], &[0, 2]]),
            ("a |b|a|b", "a|b", [&[2], &[0, 2], &[0, 2], &[0, 2]]),
            ("\ta|  b|a|b ", "a|b", [&[], &[2], &[0, 2], &[0, 2]]),
            ("say \u{201c}hi\u{201d}\u{2026}|x", "say  \"hi\"...", [&[], &[], &[], &[0]]),
            ("a\u{a0}\u{2014} b", "a - b", [&[], &[], &[], &[0]]),
            ("a||b", "|b", [&[1], &[1], &[1], &[1]]),
            ("| ", "", [&[0], &[], &[], &[]]),
            ("a b|c", "a|b c", [&[], &[], &[], &[]]),
            ("Word", "word", [&[], &[], &[], &[]]),
            ("a", "a|b", [&[], &[], &[], &[]]),
        ];
        for (file, wanted, expected) in cases {
            let lines: Vec<String> = file.split('|').map(ToOwned::to_owned).collect();
            let wanted: Vec<&str> = wanted.split('|').collect();
            let found =
                Likeness::ALL.map(|likeness| places(&lines, &wanted, likeness, 0..lines.len()));
            assert_eq!(found.each_ref().map(Vec::as_slice), *expected, "{file} / {wanted:?}");
        }
    }

    #[test]
    fn looks_within_bounds_only() {
        let lines: Vec<String> = "a|b|a|b|a".split('|').map(ToOwned::to_owned).collect();
        let found = |bounds| places(&lines, &["a", "b"], Likeness::Exact, bounds);
        assert_eq!(
            [found(1..4), found(0..3), found(1..3), found(4..9)],
            [vec![2], vec![0], vec![], vec![]]
        );
    }
}
