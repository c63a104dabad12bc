//! A review of a pull request: the changes of a run as suggestions on its lines, what it found as
//! comments there, and the text above.
//!
//! In: changes from the pull request's head, the result, the lines that can be commented on. Out:
//! comments, and the changes that no suggestion can carry, shown as a diff. A file is suggested
//! whole or not at all.

use crate::report::figures;
use crate::report::findings::{self, COMMENT_LIMIT, COMMENT_LIMIT_CHARS, Finding};
use crate::report::markdown::{fenced, visible};
use crate::report::sections::{self, changed, checks};
use crate::report::surface::{Surface, join};
use crate::session::outcome::CheckReport;
use locum_forge::CommentableLines;
use locum_forge::posts::LineComment;
use locum_workspace::diff::{ChangeKind, FileChange};

/// Most characters of the diff in the review's text.
const DIFF_LIMIT_CHARS: usize = 40_000;

/// What a review says above its comments.
#[derive(Clone, Copy, Debug)]
pub struct ReviewFacts<'a> {
    /// The hidden first line.
    pub marker: &'a str,
    /// Login of who asked.
    pub requested_by: Option<&'a str>,
    /// Page of the workflow run.
    pub run_url: Option<&'a str>,
    /// The policy's `publish.success` commands as run with the changes made.
    pub checks: &'a [CheckReport],
    /// How many of the comments suggest a change.
    pub suggested: usize,
    /// The findings among them.
    pub found: &'a [Finding],
}

/// What became of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuggestedChanges {
    /// Comments that suggest them.
    pub comments: Vec<LineComment>,
    /// Changes that no suggestion can carry.
    pub rest: Vec<FileChange>,
}

/// Returns changes as suggestions on the lines they replace.
pub fn suggestions(changes: &[FileChange], lines: &CommentableLines) -> SuggestedChanges {
    let mut found = SuggestedChanges::default();
    for change in changes {
        match suggested(change, lines) {
            Some(comments) if found.comments.len() + comments.len() <= COMMENT_LIMIT => {
                found.comments.extend(comments)
            }
            Some(_) | None => found.rest.push(change.clone()),
        }
    }
    found
}

/// Returns the review's text.
pub fn body(facts: &ReviewFacts<'_>, rest: &[FileChange]) -> String {
    let mut paragraphs = Vec::new();
    let mut said = Vec::new();
    if facts.suggested > 0 {
        said.push(format!(
            "{} on the lines below",
            figures::count(facts.suggested, "suggested change")
        ));
    }
    if !facts.found.is_empty() {
        said.push(findings::counted(facts.found));
    }
    if !said.is_empty() {
        paragraphs.push(format!(
            "{}. Nothing was pushed. The comment of the run has the result.",
            said.join(", ")
        ));
    }
    if !facts.checks.is_empty() {
        paragraphs.push(format!(
            "With the changes made: {}",
            checks::check_line(facts.checks, Surface::Markdown)
        ));
        paragraphs.push(checks::output(facts.checks, Surface::Markdown));
    }
    if !rest.is_empty() {
        paragraphs.push("What cannot be suggested on lines of this pull request:".to_owned());
        paragraphs.extend(changed::diff(rest, Surface::Markdown, DIFF_LIMIT_CHARS));
    }
    paragraphs.push(sections::written_by(facts.requested_by, facts.run_url));
    format!("{}\n{}", facts.marker, join(&paragraphs))
}

/// Returns a file's change as suggestions; `None` when a part of it cannot be one.
fn suggested(change: &FileChange, lines: &CommentableLines) -> Option<Vec<LineComment>> {
    let path = change.path.as_str();
    let spans = lines.get(path)?;
    if change.kind != ChangeKind::Modified
        || change.withheld
        || change.patch.lines().any(|line| line.starts_with("old mode "))
    {
        return None;
    }
    let parts = parts_of(&change.patch)?;
    let comments: Option<Vec<LineComment>> = parts.iter().map(|part| part.comment(path)).collect();
    comments.filter(|comments| {
        let shown = |comment: &LineComment| {
            spans.iter().any(|(first, last)| *first <= comment.first && comment.last <= *last)
        };
        !comments.is_empty()
            && comments.iter().all(|comment| {
                shown(comment) && figures::width(&comment.body) <= COMMENT_LIMIT_CHARS
            })
    })
}

/// Lines next to each other that change.
#[derive(Debug, Default)]
struct ChangedLines<'a> {
    /// Number of the first old line, or of the one that would follow.
    at: u32,
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

impl ChangedLines<'_> {
    /// A suggestion replaces lines, so what is only new takes a neighbour along.
    fn comment(&self, path: &str) -> Option<LineComment> {
        let count = u32::try_from(self.removed.len()).ok()?;
        let (first, last, text) = match (count, self.before, self.after) {
            (1.., _, _) => (self.at, self.at.checked_add(count - 1)?, self.added.clone()),
            (0, Some(before), _) => {
                (self.at.checked_sub(1)?, self.at - 1, [&[before], self.added.as_slice()].concat())
            }
            (0, None, Some(after)) => {
                (self.at, self.at, [self.added.as_slice(), &[after]].concat())
            }
            (0, None, None) => return None,
        };
        let text: String = text.iter().map(|line| format!("{line}\n")).collect();
        // What would be spelled out to be seen is not what would be committed.
        (visible(&text) == text).then(|| LineComment {
            path: path.to_owned(),
            first,
            last,
            body: fenced(&text, "suggestion"),
        })
    }
}

/// Reads the changed parts of a patch of one file; `None` for one that is not all lines.
fn parts_of(patch: &str) -> Option<Vec<ChangedLines<'_>>> {
    let mut parts: Vec<ChangedLines<'_>> = Vec::new();
    let mut open: Option<ChangedLines<'_>> = None;
    let mut before: Option<&str> = None;
    let mut next = 0;
    // Carriage returns stay in their lines, where they are seen.
    for line in patch.split_terminator('\n').skip_while(|line| !line.starts_with("@@ ")) {
        let (sign, text) = (line.chars().next()?, line.get(1..)?);
        match sign {
            '@' => {
                parts.extend(open.take());
                let old =
                    line.strip_prefix("@@ -")?.split([',', ' ']).next()?.parse::<u32>().ok()?;
                // An empty old span names the line before it.
                next = if line.split(' ').nth(1)?.ends_with(",0") { old + 1 } else { old };
                before = None;
            }
            '-' | '+' => {
                let part = open.get_or_insert_with(|| ChangedLines {
                    at: next,
                    before,
                    ..ChangedLines::default()
                });
                if sign == '-' {
                    part.removed.push(text);
                    next += 1;
                } else {
                    part.added.push(text);
                }
            }
            ' ' => {
                parts.extend(open.take().map(|part| ChangedLines { after: Some(text), ..part }));
                before = Some(text);
                next += 1;
            }
            // A line end that comes or goes cannot be suggested.
            _ => return None,
        }
    }
    parts.extend(open);
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::suggestions;
    use locum_base::path::RepoPath;
    use locum_forge::CommentableLines;
    use locum_workspace::diff::between;
    use pretty_assertions::assert_eq;

    const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

    fn shown() -> CommentableLines {
        CommentableLines::from([
            ("src/a.rs".to_owned(), vec![(1, 5), (8, 10)]),
            ("src/b.rs".to_owned(), vec![]),
        ])
    }

    fn suggested(new: &str) -> Vec<(u32, u32, String)> {
        let change =
            between(&RepoPath::parse("src/a.rs").unwrap(), Some(OLD.as_bytes()), new.as_bytes())
                .unwrap();
        let found = suggestions(&[change], &shown());
        assert_eq!(
            found.comments.is_empty(),
            !found.rest.is_empty(),
            "a file is suggested whole or not at all"
        );
        found
            .comments
            .into_iter()
            .map(|comment| (comment.first, comment.last, comment.body))
            .collect()
    }

    #[test]
    fn a_change_becomes_suggestions_on_the_lines_it_replaces() {
        let check = |new: &str, expected: &[(u32, u32, &str)]| {
            let expected: Vec<_> = expected
                .iter()
                .map(|(first, last, text)| (*first, *last, (*text).to_owned()))
                .collect();
            assert_eq!(suggested(new), expected, "{new}");
        };
        check(&OLD.replace("two\nthree", "2\n2b\n3"), &[(2, 3, "```suggestion\n2\n2b\n3\n```")]);
        check(&OLD.replace("two\n", ""), &[(2, 2, "```suggestion\n```")]);
        check(&OLD.replace("two\n", "two\nnew\n"), &[(2, 2, "```suggestion\ntwo\nnew\n```")]);
        check(&format!("zero\n{OLD}"), &[(1, 1, "```suggestion\nzero\none\n```")]);
        check(&OLD.replace("two", "```"), &[(2, 2, "````suggestion\n```\n````")]);
        check(
            &OLD.replace("one\n", "1\n").replace("nine", "9"),
            &[(1, 1, "```suggestion\n1\n```"), (9, 9, "```suggestion\n9\n```")],
        );
    }

    #[test]
    fn what_the_pull_request_does_not_show_is_no_suggestion() {
        // Outside, half outside, a hidden letter, a carriage return, a line end that goes.
        for new in [
            OLD.replace("six", "6"),
            OLD.replace("five\nsix", "5\n6"),
            OLD.replace("one\n", "1\n").replace("seven", "7"),
            OLD.replace("two", "t\u{200b}wo"),
            OLD.replace("two", "two\r"),
            OLD.trim_end().to_owned(),
        ] {
            assert_eq!(suggested(&new), [], "{new:?}");
        }
        let elsewhere =
            between(&RepoPath::parse("src/c.rs").unwrap(), Some(b"a\n"), b"b\n").unwrap();
        let added = between(&RepoPath::parse("src/b.rs").unwrap(), None, b"b\n").unwrap();
        assert_eq!(
            suggestions(&[elsewhere.clone(), added.clone()], &shown()).rest,
            [elsewhere, added]
        );
    }
}
