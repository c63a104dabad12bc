//! `apply_patch`: one patch over several files, applied wholly or not at all.
//!
//! [`apply`] is pure: the hunks and a way to read files in, what becomes of each file out. Every
//! file is computed before the first is written; where one chunk does not fit, nothing changes. A
//! later hunk sees what an earlier one made of the same file.

pub mod parse;
pub mod seek;
pub mod tool;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::tools::files::apply_patch::parse::{Hunk, PatchChunk};
use crate::tools::files::apply_patch::seek::seek;

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedFile<P> {
    /// Path of the file.
    pub path: P,
    /// What it held before; `None` when there was none.
    pub before: Option<String>,
    /// What it will hold; `None` when it goes.
    pub after: Option<String>,
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// A file to be changed or deleted is not there.
    #[error("`{path}` does not exist")]
    Missing {
        /// Path as the patch has it.
        path: String,
    },
    /// The target of a move already exists.
    #[error("`{path}` exists already; nothing is moved over it")]
    Occupied {
        /// Path as the patch has it.
        path: String,
    },
    /// A file cannot be read as text.
    #[error("`{path}` {why}")]
    Unreadable {
        /// Path as the patch has it.
        path: String,
        /// Why, to be read after the path.
        why: String,
    },
    /// The line after `@@` stands nowhere in the rest of the file.
    #[error("`{path}` has no line `{context}`{}", after(*.line))]
    NoContext {
        /// Path as the patch has it.
        path: String,
        /// The line looked for.
        context: String,
        /// The line looked after, counted from 1; 0 for the whole file.
        line: usize,
    },
    /// The lines of a chunk stand nowhere in the rest of the file.
    #[error("`{path}` has no such lines{}; chunks go from top to bottom:\n{}", after(*.line), .lines.join("\n"))]
    NoMatch {
        /// Path as the patch has it.
        path: String,
        /// The lines looked for.
        lines: Vec<String>,
        /// The line looked after, counted from 1; 0 for the whole file.
        line: usize,
    },
}

fn after(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" after line {line}") }
}

/// The files of a patch while it is applied: each as it was, and as it is by now.
struct PatchFiles<P, R> {
    seen: BTreeMap<P, (Option<String>, Option<String>)>,
    read: R,
}

/// Returns what each file becomes. `find` turns a path into what identifies the file, `read` gives
/// the text of a file, if there is one.
///
/// # Errors
/// The first hunk that does not fit; then nothing is to be changed.
pub fn apply<P: Clone + Ord>(
    hunks: &[Hunk],
    find: impl Fn(&str) -> P,
    read: impl FnMut(&P) -> Result<Option<String>, PatchError>,
) -> Result<Vec<PatchedFile<P>>, PatchError> {
    let mut files = PatchFiles { seen: BTreeMap::new(), read };
    for hunk in hunks {
        match hunk {
            Hunk::Add { path, content } => *files.now(&find(path))? = Some(content.clone()),
            Hunk::Delete { path } => {
                files
                    .now(&find(path))?
                    .take()
                    .ok_or_else(|| PatchError::Missing { path: path.clone() })?;
            }
            Hunk::Update { path, to, chunks } => {
                let (from, to) = (
                    find(path),
                    to.as_ref().map(|to| (find(to), to)).filter(|(to, _)| *to != find(path)),
                );
                let old = files
                    .now(&from)?
                    .clone()
                    .ok_or_else(|| PatchError::Missing { path: path.clone() })?;
                let new = updated(path, &old, chunks)?;
                let Some((to, name)) = to else {
                    *files.now(&from)? = Some(new);
                    continue;
                };
                let target = files.now(&to)?;
                if target.is_some() {
                    return Err(PatchError::Occupied { path: name.clone() });
                }
                *target = Some(new);
                *files.now(&from)? = None;
            }
        }
    }
    Ok(files
        .seen
        .into_iter()
        .map(|(path, (before, after))| PatchedFile { path, before, after })
        .collect())
}

impl<P: Clone + Ord, R: FnMut(&P) -> Result<Option<String>, PatchError>> PatchFiles<P, R> {
    /// Returns a file's current text; reads it on first use.
    fn now(&mut self, path: &P) -> Result<&mut Option<String>, PatchError> {
        let file = match self.seen.entry(path.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let before = (self.read)(path)?;
                new.insert((before.clone(), before))
            }
        };
        Ok(&mut file.1)
    }
}

/// Returns a file's text with the chunks applied, from top to bottom; it ends with a line end.
fn updated(path: &str, old: &str, chunks: &[PatchChunk]) -> Result<String, PatchError> {
    let ends_crlf = old.contains("\r\n");
    let mut lines: Vec<String> = old.split('\n').map(ToOwned::to_owned).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let mut at = 0;
    for chunk in chunks {
        if let Some(context) = &chunk.context {
            let found = seek(&lines, std::slice::from_ref(context), at, false);
            at = 1 + found.ok_or_else(|| PatchError::NoContext {
                path: path.to_owned(),
                context: context.clone(),
                line: at,
            })?;
        }
        if chunk.old.is_empty() {
            lines.extend(chunk.new.iter().map(|line| ended(line, ends_crlf)));
            continue;
        }
        let (start, removed, new) = placed(path, &lines, chunk, at)?;
        lines.splice(start..start + removed, new.iter().map(|line| ended(line, ends_crlf)));
        at = start + new.len();
    }
    let mut text = lines.join("\n");
    if !text.is_empty() || !lines.is_empty() {
        text.push('\n');
    }
    Ok(text)
}

/// Returns a line with the carriage return that the lines of its file have.
fn ended(line: &str, crlf: bool) -> String {
    if crlf && !line.ends_with('\r') { format!("{line}\r") } else { line.to_owned() }
}

/// Returns where a chunk goes: the first line, how many are replaced, and by what.
fn placed<'a>(
    path: &str,
    lines: &[String],
    chunk: &'a PatchChunk,
    at: usize,
) -> Result<(usize, usize, &'a [String]), PatchError> {
    if let Some(start) = seek(lines, &chunk.old, at, chunk.at_end) {
        return Ok((start, chunk.old.len(), &chunk.new));
    }
    // Models write the empty line that follows the last line end as a line of its own.
    if let [old @ .., last] = chunk.old.as_slice()
        && last.is_empty()
        && let Some(start) = seek(lines, old, at, chunk.at_end)
    {
        let new = chunk
            .new
            .split_last()
            .filter(|(last, _)| last.is_empty())
            .map_or(chunk.new.as_slice(), |(_, rest)| rest);
        return Ok((start, old.len(), new));
    }
    Err(PatchError::NoMatch { path: path.to_owned(), lines: chunk.old.clone(), line: at })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{PatchError, PatchedFile, apply, parse};
    use pretty_assertions::assert_eq;

    fn patched(files: &[(&str, &str)], body: &str) -> Result<Vec<PatchedFile<String>>, PatchError> {
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        let hunks = parse::parse(&format!("*** Begin Patch\n{body}\n*** End Patch")).unwrap();
        apply(&hunks, ToOwned::to_owned, |path| {
            Ok(files.get(path.as_str()).map(|text| (*text).to_owned()))
        })
    }

    fn only(files: &[(&str, &str)], body: &str) -> Option<String> {
        patched(files, body).ok()?.pop()?.after
    }

    #[test]
    fn changes_files() {
        for (before, body, expected) in [
            ("a\nb\n", "@@\n-b\n+B\n+C", "a\nB\nC\n"),
            ("f\nx\ng\nx\n", "@@ g\n-x\n+y", "f\nx\ng\ny\n"),
            ("a\nb", "@@\n-b\n+c", "a\nc\n"),
            ("a\n", "@@\n+z", "a\nz\n"),
            ("x\r\ny\r\n", "@@\n-x\n+z", "z\r\ny\r\n"),
            ("x\na\nx\n", "@@\n-x\n+y\n*** End of File", "x\na\ny\n"),
            ("a\nb\nx\n", "@@\n a\n-b\n+c\n\n@@\n x\n+d", "a\nc\nx\nd\n"),
            ("", "@@\n+a", "a\n"),
            ("a\n", "@@\n-a", ""),
        ] {
            assert_eq!(
                only(&[("f", before)], &format!("*** Update File: f\n{body}")).as_deref(),
                Some(expected),
                "{body}"
            );
        }
    }

    #[test]
    fn a_later_hunk_sees_what_an_earlier_one_made() {
        let body = "*** Update File: f\n@@\n-a\n+b\n*** Update File: f\n*** Move to: \
                    g\n@@\n-b\n+c\n*** Add File: f\n+new";
        let change = |path: &str, before: Option<&str>, after: &str| PatchedFile {
            path: path.to_owned(),
            before: before.map(ToOwned::to_owned),
            after: Some(after.to_owned()),
        };
        assert_eq!(
            patched(&[("f", "a\n")], body),
            Ok(vec![change("f", Some("a\n"), "new\n"), change("g", None, "c\n")])
        );
    }

    #[test]
    fn nothing_changes_where_one_hunk_does_not_fit() {
        for body in [
            "*** Update File: none\n@@\n-a\n+b",
            "*** Delete File: none",
            "*** Update File: f\n*** Move to: g\n@@\n-a\n+b",
            "*** Update File: f\n@@ nowhere\n-a\n+b",
            "*** Update File: f\n@@\n-b\n+c\n@@\n-a\n+d",
            "*** Delete File: f\n*** Update File: f\n@@\n-a\n+b",
        ] {
            assert!(
                patched(&[("f", "a\nb\n"), ("g", "")], &format!("*** Add File: new\n+x\n{body}"))
                    .is_err(),
                "{body}"
            );
        }
        let text = patched(&[("f", "a\nb\n")], "*** Update File: f\n@@\n-b\n+c\n@@\n-a\n+d")
            .unwrap_err()
            .to_string();
        assert_eq!(text, "`f` has no such lines after line 2; chunks go from top to bottom:\na");
    }
}
