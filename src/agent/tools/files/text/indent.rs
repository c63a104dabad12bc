//! How deep new lines are indented where the text they replace was found without regard to blanks.
//!
//! In: the lines as given, as they stand in the file, and the new ones. Out: the new lines, each
//! with the file's own text where it stays, and otherwise as deep below the file's lines as it was
//! below those given. Where that cannot be said of every line, nothing comes out: broken
//! indentation is worse than a refusal.

use std::collections::BTreeMap;

use crate::tools::files::text::blank::{is_blank, trim};

/// Returns the new lines as they go into the file; `None` where their indentation is left open.
/// `given` and `found` are the same lines but for blanks and typographic signs.
pub fn reindented(given: &[&str], found: &[&str], new: &[&str]) -> Option<Vec<String>> {
    let pairs: Vec<IndentPair<'_>> = given
        .iter()
        .zip(found)
        .filter(|(given, _)| !trim(given).is_empty())
        .map(|(given, found)| (indent_of(given), indent_of(found)))
        .collect();
    let shift = IndentShift::of(&pairs);
    let kept = Kept::new(given, found, new);
    let mut lines = Vec::with_capacity(new.len());
    for (at, line) in new.iter().enumerate() {
        if let Some(text) = kept.text(at, line) {
            lines.push(text.to_owned());
            continue;
        }
        lines.push(match shift.as_ref()? {
            IndentShift::None => (*line).to_owned(),
            _ if is_absolute(given, found, new) => return None,
            _ if trim(line).is_empty() => String::new(),
            shift => {
                let own = indent_of(line);
                format!("{}{}", shift.apply(own)?, line.get(own.len()..).unwrap_or_default())
            }
        });
    }
    Some(lines)
}

/// The indentation of a line as given, and of the same line in the file.
type IndentPair<'a> = (&'a str, &'a str);

/// What turns the indentation of given lines into that of the file.
enum IndentShift<'a> {
    /// They are the same.
    None,
    /// The file's is this much deeper.
    Deeper(&'a str),
    /// The file's is this much less deep.
    Shallower(&'a str),
    /// Each has its own; others follow where all are in one proportion.
    Table { known: BTreeMap<&'a str, &'a str>, scale: Option<IndentScale> },
}

/// So many of one blank for so many of another.
#[derive(Clone, Copy)]
struct IndentScale {
    from: (char, usize),
    to: (char, usize),
}

impl<'a> IndentShift<'a> {
    /// Returns the one shift that explains every pair.
    fn of(pairs: &[IndentPair<'a>]) -> Option<Self> {
        if pairs.iter().all(|(given, found)| given == found) {
            return Some(Self::None);
        }
        let (given, found) = *pairs.first()?;
        if let Some(deeper) = found.strip_suffix(given)
            && pairs.iter().all(|(given, found)| found.strip_suffix(*given) == Some(deeper))
        {
            return Some(Self::Deeper(deeper));
        }
        if let Some(less) = given.strip_suffix(found)
            && pairs.iter().all(|(given, found)| given.strip_suffix(*found) == Some(less))
        {
            return Some(Self::Shallower(less));
        }
        let mut known = BTreeMap::new();
        for (given, found) in pairs {
            if *known.entry(*given).or_insert(*found) != *found {
                return None;
            }
        }
        let scale = IndentScale::of(&known);
        Some(Self::Table { known, scale })
    }

    fn apply(&self, indent: &str) -> Option<String> {
        match self {
            Self::None => Some(indent.to_owned()),
            // Blanks behind a tab are no depth, but one may stand before the `*` of a comment.
            Self::Deeper(by) if by.ends_with('\t') && indent.starts_with("  ") => None,
            Self::Deeper(by) => Some(format!("{by}{indent}")),
            Self::Shallower(by) => indent.strip_prefix(by).map(ToOwned::to_owned),
            Self::Table { known, scale } => known
                .get(indent)
                .map(|found| (*found).to_owned())
                .or_else(|| scale.as_ref()?.apply(indent)),
        }
    }
}

impl IndentScale {
    /// Returns the proportion that all pairs share; at least two tell it.
    fn of(known: &BTreeMap<&str, &str>) -> Option<Self> {
        let mut deep = known.iter().filter(|(given, _)| !given.is_empty());
        let (given, found) = deep.next()?;
        let scale = Self { from: run(given)?, to: run(found)? };
        let fits = |(given, found): (&&str, &&str)| scale.apply(given).as_deref() == Some(*found);
        (known.len() > 1 && known.iter().all(fits)).then_some(scale)
    }

    fn apply(&self, indent: &str) -> Option<String> {
        if indent.is_empty() {
            return Some(String::new());
        }
        let (letter, length) = run(indent)?;
        let length = length * self.to.1;
        let fits = letter == self.from.0 && length.is_multiple_of(self.from.1);
        fits.then(|| self.to.0.to_string().repeat(length / self.from.1))
    }
}

/// Returns the one blank an indentation consists of, and how many there are.
fn run(indent: &str) -> Option<(char, usize)> {
    let first = indent.chars().next()?;
    indent.chars().all(|letter| letter == first).then_some((first, indent.len()))
}

/// Returns true where the new lines seem to be indented as the file is, and not as the given lines:
/// those that stay have the file's indentation letter for letter, or all are as deep as the file's.
fn is_absolute(given: &[&str], found: &[&str], new: &[&str]) -> bool {
    let shifted = |line: &&str| {
        given
            .iter()
            .zip(found)
            .any(|(given, found)| found == line && indent_of(given) != indent_of(found))
    };
    let same = |line: &&&str| found.iter().any(|found| trim(found) == trim(line));
    let mut stay = new.iter().filter(|line| !trim(line).is_empty()).filter(same).peekable();
    let verbatim = stay.peek().is_some() && stay.all(shifted);
    let [given, found, new] = [given, found, new].map(least_indent);
    let deeper = found > given;
    verbatim
        || (new != given && (if deeper { new >= found } else { found < given && new <= found }))
}

fn least_indent(lines: &[&str]) -> usize {
    let lines = lines.iter().filter(|line| !trim(line).is_empty());
    lines.map(|line| indent_of(line).len()).min().unwrap_or_default()
}

/// Which new lines are lines of the file that stay: those that both texts begin and end with, and
/// between them those that can be only one line of the file.
struct Kept<'a> {
    head: usize,
    /// Of the new lines, the first of those both end with.
    tail: usize,
    /// What to add to reach the same line of the file.
    tail_found: usize,
    found: &'a [&'a str],
    between: BTreeMap<&'a str, Option<&'a str>>,
}

impl<'a> Kept<'a> {
    fn new(given: &[&'a str], found: &'a [&'a str], new: &[&str]) -> Self {
        let head = given.iter().zip(new).take_while(|(given, new)| given == new).count();
        let most = given.len().min(new.len()) - head;
        let ending = given.iter().rev().zip(new.iter().rev());
        let tail = ending.take_while(|(given, new)| given == new).count().min(most);
        let mut between = BTreeMap::new();
        for (given, found) in given.iter().zip(found).take(given.len() - tail).skip(head) {
            between
                .entry(*given)
                .and_modify(|known| {
                    if *known != Some(*found) {
                        *known = None;
                    }
                })
                .or_insert(Some(*found));
        }
        Self { head, tail: new.len() - tail, tail_found: found.len() - tail, found, between }
    }

    fn text(&self, at: usize, line: &str) -> Option<&'a str> {
        if at < self.head {
            self.found.get(at).copied()
        } else if at >= self.tail {
            self.found.get(at - self.tail + self.tail_found).copied()
        } else {
            self.between.get(line).copied().flatten()
        }
    }
}

fn indent_of(line: &str) -> &str {
    let end = line.len() - line.trim_start_matches(is_blank).len();
    line.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::reindented;
    use pretty_assertions::assert_eq;

    fn lines(text: &str) -> Vec<&str> {
        if text.is_empty() { Vec::new() } else { text.split('\n').collect() }
    }

    fn result(given: &str, found: &str, new: &str) -> Option<String> {
        reindented(&lines(given), &lines(found), &lines(new)).map(|lines| lines.join("\n"))
    }

    #[test]
    fn new_lines_keep_their_depth_relative_to_those_replaced() {
        for (given, found, new, expected) in [
            // One step deeper, or less deep, all along.
            ("a", "    a", "b\n    c", "    b\n        c"),
            (
                "def f:\n    a",
                "  def f:\n      a",
                "def f:\n    if b:\n        a",
                "  def f:\n      if b:\n          a",
            ),
            ("        a", "  a", "        b\n\n          c", "  b\n\n    c"),
            ("\ta", "\t\ta", "\tb\n\t\tc", "\t\tb\n\t\t\tc"),
            ("a", "\ta", "/*\n * b\n */\n\tc\na", "\t/*\n\t * b\n\t */\n\t\tc\n\ta"),
            ("    a\n  b", "  \t    a\n  \t  b", "    a\nc", "  \t    a\n  \tc"),
            // Other blanks, in proportion.
            (
                "f {\n  a\n    b\n}",
                "f {\n\ta\n\t\tb\n}",
                "f {\n  a\n    c\n      d\n}",
                "f {\n\ta\n\t\tc\n\t\t\td\n}",
            ),
            ("f {\n\ta\n}", "f {\n    a\n}", "f {\n\tb\n\t\tc\n}", "f {\n    b\n        c\n}"),
            // Lines that stay are the file's own, blanks and signs included.
            (
                "say \"hi\"\nb",
                "say \u{201c}hi\u{201d}\nb  ",
                "say \"hi\"\nc  ",
                "say \u{201c}hi\u{201d}\nc  ",
            ),
            ("a\n\nb", "a  \n  \nb", "a\n\nc", "a  \n  \nc"),
            ("a:\nb\nc\nd", "a:\n    b\n  c\nd", "a:\nb\nd", "a:\n    b\nd"),
            // Known depths alone.
            ("a:\n    b\n  c", "a:\n\t\tb\n\tc", "a:\n    x\n  c", "a:\n\t\tx\n\tc"),
        ] {
            assert_eq!(result(given, found, new).as_deref(), Some(expected), "{given} -> {new}");
        }
    }

    #[test]
    fn what_would_break_the_indentation_is_left_open() {
        for (given, found, new) in [
            // Two depths of the file are one of the lines given.
            (
                "class R:\n    def f:\n    a",
                "class R:\n    def f:\n        a",
                "class R:\n    def f:\n    b",
            ),
            ("a:\nb", "a:\n  b", "a:\nc"),
            // Less deep than the file can be.
            ("        a", "  a", "     b"),
            ("    a", "a", "  b"),
            // Given without indentation, but replaced by lines that have the file's.
            ("a", "    a", "    b"),
            ("a\nb", "    a\n    b", "    a\nc"),
            // Blanks in a file that is indented with tabs.
            ("a", "\ta", "    b\na"),
            ("a", "\ta", "if b:\n    c\na"),
            // A depth that says nothing of itself.
            ("a:\n   b\n     c", "a:\n\tb\n   c", "a:\n    d"),
        ] {
            assert_eq!(result(given, found, new), None, "{given} -> {new}");
        }
    }
}
