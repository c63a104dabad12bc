//! A text or a regular expression that is replaced exactly as often as the call says.
//!
//! The expressions are those of `search_files`, over the whole text: `^` and `$` match at lines,
//! `.` matches no line end. Pattern and text are bounded, and so is what is looked through: for
//! each match, an expression may look at what follows it once more.

use std::ops::Range;
use std::rc::Rc;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::tools::files::apply_diff::miss::listed;
use crate::tools::files::apply_diff::parse::DiffBlock;
use crate::tools::files::apply_diff::{BlockError, MISCOUNT_LINES, NearCopies, TargetText};
use crate::tools::files::edit::pattern::{compile, is_behind_last_line, is_named_edge};
use crate::tools::files::edit::replacement::{
    EditWork, NewLength, Replacement, ReplacementError, line_numbers, newlines, occurrences, same,
};
use crate::tools::files::edit::template::{Template, UnknownGroup};
use crate::tools::files::edit::texts::TextError;
use locum_base::text::counted;

/// Largest text that an expression is matched against, in bytes.
const TEXT_LIMIT_BYTES: usize = 1024 * 1024;

/// A text or a pattern, and what takes its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchEdit {
    /// The text or the pattern.
    pub search: String,
    /// What takes its place; empty to delete.
    pub replace: String,
    /// What `search` is.
    pub syntax: SearchSyntax,
    /// Whether upper and lower case are the same.
    pub ignore_case: bool,
    /// How many places are meant.
    pub places: MeantPlaces,
    /// The first and the last line to look at, counted from 1.
    pub within: Option<(usize, usize)>,
}

/// What a searched text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchSyntax {
    /// A text, letter for letter.
    Literal,
    /// A regular expression.
    Regex,
}

/// How many places are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeantPlaces {
    /// So many, neither more nor fewer.
    Exactly(usize),
    /// Each, of which there is at least one.
    Every,
}

/// Why nothing was replaced. Lines count from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// The pattern is no regular expression, or too large a one.
    #[error("`search` is not a regular expression that can be used: {0}")]
    Regex(String),
    /// The replacement names a group that the pattern lacks.
    #[error(transparent)]
    Group(#[from] UnknownGroup),
    /// The file is too large for a regular expression.
    #[error(
        "the file has more than {TEXT_LIMIT_BYTES} bytes, too many for a regular expression; \
         search for a text instead"
    )]
    TooLong,
    /// The pattern matches where there is nothing.
    #[error(
        "`search` matches the empty text, at line {0}; it must match what is to be replaced, or, with \
         `replace_all`, name the beginning or end of lines by `^` or `$`"
    )]
    Empty(usize),
    /// It is in too many places, or makes the file too large.
    #[error(transparent)]
    Places(#[from] ReplacementError),
    /// It is nowhere, or nowhere within the lines.
    #[error("`search` is not in the file{}", elsewhere(.outside))]
    Nowhere {
        /// The first line of each place outside of the lines that are named.
        outside: Vec<usize>,
    },
    /// It is in more or fewer places than meant.
    #[error(
        "`search` is in {}, at {}, and {meant} {} meant. Give `count: {found}` to change all of \
         them, or more of the text around the one that is meant",
        counted(*.found, "place"),
        listed(.lines),
        if *.meant == 1 { "is" } else { "are" }
    )]
    Count {
        /// The first line of each, once.
        lines: Vec<usize>,
        /// How many there are.
        found: usize,
        /// How many are meant.
        meant: usize,
    },
    /// The lines that are named leave out places nearby, so that their numbers may be off.
    #[error(
        "`search` is at {}, within the lines that are named, and nearby at {}, outside of them. \
         Send the same call again to change only those within, or leave `start_line` and \
         `end_line` out",
        listed(.within),
        listed(.outside)
    )]
    NearCopies {
        /// The places within.
        within: Vec<usize>,
        /// The places nearby.
        outside: Vec<usize>,
    },
    /// The text fits as that of an edit does not.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl From<BlockError> for SearchError {
    fn from(error: BlockError) -> Self {
        Self::Text(error.into())
    }
}

fn elsewhere(lines: &[usize]) -> String {
    match lines {
        [] => String::new(),
        lines => format!(" within the lines that are named; it is at {}", listed(lines)),
    }
}

/// What is looked for, and what takes its place.
enum Sought {
    Text { search: String, replace: String },
    Pattern { pattern: Regex, template: Template },
}

impl SearchEdit {
    /// Finds mistakes that need no file to be seen.
    ///
    /// # Errors
    /// When the pattern or its replacement is wrong.
    pub fn check(&self) -> Result<(), SearchError> {
        self.sought().map(|_| ())
    }

    fn sought(&self) -> Result<Sought, SearchError> {
        let [search, replace] =
            [&self.search, &self.replace].map(|text| text.replace("\r\n", "\n"));
        let (pattern, template) = match (self.syntax, self.ignore_case) {
            (SearchSyntax::Literal, false) => return Ok(Sought::Text { search, replace }),
            (SearchSyntax::Literal, true) => (
                compile(&regex::escape(&search), true).map_err(SearchError::Regex)?,
                Template::literal(&replace),
            ),
            (SearchSyntax::Regex, ignore_case) => {
                let pattern = compile(&search, ignore_case).map_err(SearchError::Regex)?;
                let template = Template::parse(&replace, |name| match name.parse::<usize>() {
                    Ok(number) => (number < pattern.captures_len()).then_some(number),
                    Err(_) => pattern.capture_names().position(|known| known == Some(name)),
                })?;
                (pattern, template)
            }
        };
        Ok(Sought::Pattern { pattern, template })
    }

    /// Returns every place.
    fn places(
        &self,
        sought: &Sought,
        text: &str,
        work: &mut EditWork,
    ) -> Result<Vec<Range<usize>>, SearchError> {
        let pattern = match sought {
            Sought::Text { search, .. } => {
                let all = self.places != MeantPlaces::Exactly(1);
                return Ok(occurrences(text, search, all, work)?);
            }
            Sought::Pattern { .. } if text.len() > TEXT_LIMIT_BYTES => {
                return Err(SearchError::TooLong);
            }
            Sought::Pattern { pattern, .. } => pattern,
        };
        work.scan(text.len())?;
        let mut found = Vec::new();
        for place in pattern.find_iter(text) {
            let at = place.start();
            if place.is_empty() && is_behind_last_line(text, at) {
                continue;
            }
            let may_be_empty = self.places == MeantPlaces::Every;
            if place.is_empty() && !(may_be_empty && is_named_edge(pattern, text, at)) {
                let line = 1 + newlines(text.get(..at).unwrap_or_default());
                return Err(SearchError::Empty(line));
            }
            work.place()?;
            // A text ends where it ends; how far an expression looked is not known.
            if self.syntax == SearchSyntax::Regex {
                work.scan(text.len() - place.end())?;
            }
            found.push(place.range());
        }
        Ok(found)
    }
}

impl Sought {
    /// Returns what is to stand in each place.
    fn replacements(
        &self,
        text: &str,
        found: Vec<Range<usize>>,
    ) -> Result<Vec<Replacement>, SearchError> {
        let (pattern, template) = match self {
            Self::Text { replace, .. } => return Ok(same(text, found, replace)?),
            Self::Pattern { pattern, template } => (pattern, template),
        };
        let mut length = NewLength::of(text);
        let mut replacements = Vec::new();
        for range in found {
            // What matched here matches here again.
            let captures = pattern.captures_at(text, range.start);
            let group = |number: usize| Some(captures.as_ref()?.get(number)?.range());
            length.replace(range.len(), template.size(group))?;
            let new = Rc::from(template.fill(text, group));
            replacements.push(Replacement { range, new });
        }
        length.check()?;
        Ok(replacements)
    }
}

impl TargetText<'_> {
    /// Replaces a text or a pattern in as many places as are meant.
    pub(super) fn search(&mut self, edit: &SearchEdit) -> Result<(), SearchError> {
        let [search, replace] =
            [&edit.search, &edit.replace].map(|text| text.replace("\r\n", "\n"));
        let block = DiffBlock { start_line: 0, search, replace };
        self.check_texts(&block)?;
        let text = self.edited.lines().join("\n");
        let sought = edit.sought()?;
        let found = edit.places(&sought, &text, &mut EditWork::default())?;
        let is_text = edit.syntax == SearchSyntax::Literal && !edit.ignore_case;
        let is_single = edit.places == MeantPlaces::Exactly(1);
        if found.is_empty() && is_text && is_single && edit.within.is_none() {
            return Ok(self.replace_lines(&block)?);
        }
        let (within, outside) = apart(edit, &text, found);
        let numbers = |of: &[Range<usize>]| line_numbers(&text, of.iter());
        if within.is_empty() {
            return Err(SearchError::Nowhere { outside: numbers(&outside) });
        }
        let meant = match edit.places {
            MeantPlaces::Exactly(meant) => meant,
            MeantPlaces::Every => within.len(),
        };
        if within.len() != meant {
            let lines = numbers(&within);
            return Err(SearchError::Count { lines, found: within.len(), meant });
        }
        if let ([one], true) = (within.as_slice(), is_single) {
            let spans_lines = text.get(one.clone()).is_some_and(|text| text.contains('\n'));
            let lines = self.alike(&text, one.clone());
            if edit.within.is_none() && (is_text || spans_lines) && !lines.is_empty() {
                return Err(TextError::Several { lines, exact: false }.into());
            }
        }
        self.check_near(edit, &numbers(&within), numbers(&outside))?;
        let replacements = sought.replacements(&text, within)?;
        let is_same = |it: &Replacement| text.get(it.range.clone()) == Some(&*it.new);
        if replacements.iter().all(is_same) {
            return Err(BlockError::Identical.into());
        }
        self.replace_found(&text, &replacements);
        Ok(())
    }

    /// Asks about lines that are named where places are so near to them that the numbers may be
    /// off.
    fn check_near(
        &self,
        edit: &SearchEdit,
        within: &[usize],
        mut outside: Vec<usize>,
    ) -> Result<(), SearchError> {
        let Some((first, last)) = edit.within else { return Ok(()) };
        outside.retain(|line| {
            line.saturating_add(MISCOUNT_LINES) >= first
                && *line <= last.saturating_add(MISCOUNT_LINES)
        });
        if outside.is_empty() || self.tolerance.near_copies == NearCopies::Take {
            return Ok(());
        }
        Err(SearchError::NearCopies { within: within.to_vec(), outside })
    }
}

/// Parts the places within the lines that are named from the others.
fn apart(
    edit: &SearchEdit,
    text: &str,
    found: Vec<Range<usize>>,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let Some((first, last)) = edit.within else { return (found, Vec::new()) };
    let mut line = 1;
    let mut counted_to = 0;
    found.into_iter().partition(|range| {
        line += newlines(text.get(counted_to..range.start).unwrap_or_default());
        counted_to = range.start;
        let inner = text.get(range.clone()).unwrap_or_default();
        let height = newlines(inner.strip_suffix('\n').unwrap_or(inner));
        first <= line && line + height <= last
    })
}

#[cfg(test)]
mod tests {
    use super::{MeantPlaces, SearchEdit, SearchSyntax};
    use crate::tools::files::apply_diff::NearCopies;
    use crate::tools::files::edit::{FileChange, change};
    use pretty_assertions::assert_eq;

    fn edit(search: &str, replace: &str) -> SearchEdit {
        SearchEdit {
            search: search.to_owned(),
            replace: replace.to_owned(),
            syntax: SearchSyntax::Literal,
            ignore_case: false,
            places: MeantPlaces::Exactly(1),
            within: None,
        }
    }

    fn regex(search: &str, replace: &str) -> SearchEdit {
        SearchEdit { syntax: SearchSyntax::Regex, ..edit(search, replace) }
    }

    fn times(count: usize, edit: SearchEdit) -> SearchEdit {
        SearchEdit { places: MeantPlaces::Exactly(count), ..edit }
    }

    fn within(first: usize, last: usize, edit: SearchEdit) -> SearchEdit {
        SearchEdit { within: Some((first, last)), ..edit }
    }

    fn searched(original: &str, edit: SearchEdit) -> Result<String, String> {
        change(original, &FileChange::Search(edit), NearCopies::Ask)
            .map(|applied| applied.content)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn as_many_places_as_are_meant_are_replaced() {
        let every = |edit| SearchEdit { places: MeantPlaces::Every, ..edit };
        let any_case = |edit| SearchEdit { ignore_case: true, ..edit };
        let many = "x\n".repeat(40);
        for (original, edit, expected) in [
            ("a b\nc\n", edit("b", "x"), "a x\nc\n"),
            ("a a\nb a\n", times(3, edit("a", "xy")), "xy xy\nb xy\n"),
            ("a a\nb a\n", every(edit("a", "")), " \nb \n"),
            ("A.b\naxb\n", any_case(edit("a.B", "$1")), "$1\naxb\n"),
            ("a\r\nb\r\n", edit("a\nb", "x\ny\nz"), "x\r\ny\r\nz\r\n"),
            ("  a\n  b\n", edit("a\nb\n", "a\nc\n"), "  a\n  c\n"),
            (
                "k = 1\nlong = 22\n",
                times(2, regex(r"^(\w+) = (\d+)$", "$2: $1")),
                "1: k\n22: long\n",
            ),
            ("a1\n", regex(r"(?P<n>\d)", "${n}0$$"), "a10$\n"),
            ("a\n\n\nb\n", regex(r"\n{3}", "\n"), "a\nb\n"),
            ("AB ab\n", times(2, any_case(regex("ab", "c"))), "c c\n"),
            ("e\u{301}é\n", regex("é", "e"), "e\u{301}e\n"),
            (&many, within(40, 41, edit("x\n", "y\n")), &format!("{}y\n", "x\n".repeat(39))),
        ] {
            let (edit, text) = (edit, original);
            // Lines that are named are asked about where others are near.
            let done = change(text, &FileChange::Search(edit.clone()), NearCopies::Take);
            let done = done.map(|applied| applied.content).map_err(|error| error.to_string());
            assert_eq!(done.as_deref(), Ok(expected), "{text:?} {edit:?}");
        }
    }

    #[test]
    fn more_or_fewer_places_are_refused_with_their_lines() {
        for (original, edit, expected) in [
            (
                "a\nb a\n",
                edit("a", "x"),
                "in 2 places, at lines 1 and 2, and 1 is meant. Give `count: 2`",
            ),
            ("a\nb\n", times(2, edit("a", "x")), "in 1 place, at line 1, and 2 are meant"),
            ("aaa\n", edit("aa", "x"), "in 2 places, at line 1, and 1 is meant"),
            ("a\n", times(2, edit("q", "x")), "`search` is not in the file"),
            ("a\n", edit("q", "x"), "no lines of the file match the old text"),
            ("a\n", regex("q", "x"), "`search` is not in the file"),
            ("a\n", edit("", "x"), "the text to replace is empty"),
            ("a\n", edit("a", "a"), "nothing would change"),
            ("a\n", regex("(a)", "$1"), "nothing would change"),
            ("a\nb\nc\n", edit("a\nb", "// ... existing code ..."), "text that would be lost"),
            (
                "a\nb\n",
                within(2, 2, edit("a", "x")),
                "within the lines that are named; it is at line 1",
            ),
            ("a\nb\na\n", within(3, 3, edit("a", "x")), "Send the same call again to change only"),
            ("a\n", regex("b*", "x"), "matches the empty text, at line 1"),
            (
                "if a {\n    go();\n}\n  if a {\n      go();\n  }\n",
                regex(r"if a \{\n    go\(\);\n\}", "stop();"),
                "at lines 1 and 4, blanks left out of account",
            ),
        ] {
            let refused = searched(original, edit.clone()).unwrap_err();
            assert!(refused.contains(expected), "{original:?} {edit:?}: {refused}");
        }
        let many = "a\n".repeat(10_001);
        let every = SearchEdit { places: MeantPlaces::Every, ..edit("a", "b") };
        assert!(searched(&many, every).unwrap_err().contains("more than 10000 places"));
    }

    #[test]
    fn a_wrong_pattern_is_shown_with_its_place_and_a_large_one_is_refused() {
        for (pattern, replace, expected) in [
            ("a(b", "x", "    a(b\n     ^\nerror: unclosed group"),
            ("(?=a)", "x", "look-around"),
            (r"(a)\1", "x", "backreferences are not supported"),
            (r"(\w{1,200}){1,200}", "x", "exceeds size limit"),
            ("(a)", "$2", "the group `2`, which the pattern has not"),
            (&"a".repeat(2049), "x", "more than 2048 bytes"),
        ] {
            let refused = regex(pattern, replace).check().unwrap_err().to_string();
            assert!(refused.contains(expected), "{pattern}: {refused}");
        }
        // What takes other engines time without end.
        let text = format!("{}!\n", "a".repeat(200_000));
        assert!(searched(&text, regex("(a+)+$", "x")).unwrap_err().contains("not in the file"));
        let long = "a\n".repeat(600_000);
        assert!(searched(&long, regex("b", "x")).unwrap_err().contains("too many for a regular"));
    }

    #[test]
    fn what_would_be_too_large_or_takes_too_long_is_refused_before_it_is_built() {
        let every = |edit| SearchEdit { places: MeantPlaces::Every, ..edit };
        let (line, huge) = ("a".repeat(100_000), "x".repeat(1_000_000));
        let lines = "a\n".repeat(10_000);
        let too_large = "the file would have more than 10485760 bytes";
        for (text, edit, expected) in [
            (&line, regex("(a+)", &"$1".repeat(10_000)), too_large),
            (&line, regex("a+", &"$&".repeat(106)), too_large),
            (&lines, every(edit("a", &huge)), too_large),
            (&lines, times(10_000, edit("a", &huge)), too_large),
            (&lines, every(regex("a", &huge)), too_large),
            // What is looked for after each match up to the end of the text.
            (&"A".repeat(200_000), every(regex("(?s).*[^A-Z]|[A-Z]", "b")), "too long for so many"),
        ] {
            let refused = searched(text, edit).unwrap_err();
            assert!(refused.contains(expected), "{refused:.400}");
        }
        // As much is not too much.
        let done = searched(&line, regex("a+", &"$&".repeat(104))).unwrap();
        assert_eq!(done.len(), 10_400_000);
        // The lines that are named alone grow.
        let text = format!("{}b\n{}", "a\n".repeat(50), "a\n".repeat(9_000));
        let grown = within(1, 1, every(edit("a", &huge)));
        let done = change(&text, &FileChange::Search(grown), NearCopies::Take).unwrap();
        assert_eq!(done.content.len(), text.len() - 1 + huge.len());
        // Many places in one line, and each in many lines.
        let done = searched(&"ab".repeat(5_000), every(regex("a", "x\ny"))).unwrap();
        assert_eq!(done, "x\nyb".repeat(5_000));
    }
}
