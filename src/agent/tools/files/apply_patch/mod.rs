//! `apply_patch`: one patch over several files, applied wholly or not at all.
//!
//! [`apply`] is pure: the hunks and a way to read files in, what becomes of each file out. Every
//! file is computed before the first is written; where one chunk does not fit, or fits in more than
//! one place, nothing changes. A later hunk sees what an earlier one made of the same file.

pub mod parse;
pub mod placement;
pub mod tool;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::tools::files::apply_diff::miss::listed;
use crate::tools::files::apply_patch::parse::{Hunk, PatchChunk};
use crate::tools::files::apply_patch::placement::{Misplaced, Placements, placements};
use crate::tools::files::text::excerpt::{
    LIKE_LIMIT_BYTES, LINE_LIMIT_BYTES, SENT_LIMIT_BYTES, excerpt,
};
use crate::tools::files::text::indent;
use crate::tools::files::text::kept_ends::with_kept_ends;
use crate::tools::files::text::lines::{ChangedRange, EditedLines};
use crate::tools::files::text::placeholder::first_placeholder;
use crate::tools::files::text::stand::Likeness;
use locum_base::text::head;

/// What becomes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedFile<P> {
    /// Path of the file.
    pub path: P,
    /// What it held before; `None` when there was none.
    pub before: Option<String>,
    /// What it will hold; `None` when it goes.
    pub after: Option<String>,
    /// Where it differs from what it held; empty for one that comes whole or goes.
    pub changed: Vec<ChangedRange>,
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
    /// A file is added more than once.
    #[error("`{path}` is added twice; one content would be lost")]
    AddedTwice {
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
    #[error("`{path}` has no line `{}`{}", named(.context), after(*.line))]
    NoContext {
        /// Path as the patch has it.
        path: String,
        /// The line looked for.
        context: String,
        /// The line looked after, counted from 1; 0 for the whole file.
        line: usize,
    },
    /// A chunk names a line and only adds others.
    #[error(
        "`{path}`: the chunk below `@@ {}` only adds lines and does not say where. Repeat the \
         line that they follow, with a blank in front of it:\n{}",
        named(.context),
        sent(.lines)
    )]
    OnlyAdds {
        /// Path as the patch has it.
        path: String,
        /// The line above the chunk.
        context: String,
        /// The lines to be added.
        lines: Vec<String>,
    },
    /// The lines of a chunk stand nowhere in the rest of the file.
    #[error(
        "`{path}` has no such lines{}; chunks go from top to bottom:\n{}",
        after(*.line),
        sent(.lines)
    )]
    NoMatch {
        /// Path as the patch has it.
        path: String,
        /// The lines looked for.
        lines: Vec<String>,
        /// The line looked after, counted from 1; 0 for the whole file.
        line: usize,
    },
    /// The lines of a chunk stand in several places.
    #[error(
        "`{path}` has these lines at {}{}. Add lines that stay, or `@@` and a line above the \
         place, until one is left:\n{}",
        listed(.places),
        if *.exact { "" } else { ", blanks left out of account" },
        sent(.lines)
    )]
    Several {
        /// Path as the patch has it.
        path: String,
        /// The lines looked for.
        lines: Vec<String>,
        /// The first line of each place, counted from 1.
        places: Vec<usize>,
        /// Whether they stand in each letter for letter.
        exact: bool,
    },
    /// The lines of a chunk stand in one place letter for letter, and in others with other blanks
    /// or signs, which may be meant if the patch lost some on its way here.
    #[error(
        "`{path}` has these lines at line {line}, and with other blanks at {}. Send the same call \
         again to change line {line}, or add lines that stay, or `@@` and a line above the place, \
         until one is left:\n{}",
        listed(.alike),
        sent(.lines)
    )]
    Alike {
        /// Path as the patch has it.
        path: String,
        /// The lines looked for.
        lines: Vec<String>,
        /// The first line of the place that has them, counted from 1.
        line: usize,
        /// The first lines of the others.
        alike: Vec<usize>,
    },
    /// The lines of a chunk are indented otherwise than the file, and how deep the new ones go is
    /// unclear.
    #[error(
        "the lines of `{path}` from line {line} are indented otherwise than in the patch, so how \
         deep the new lines go is unclear; copy them as they are, blanks included:\n{}",
        found(.lines)
    )]
    Indentation {
        /// Path as the patch has it.
        path: String,
        /// The first line of the place, counted from 1.
        line: usize,
        /// The file's lines there.
        lines: Vec<String>,
    },
    /// A new line stands for text left out.
    #[error(
        "`{line}` for `{path}` stands for text that would be lost; write all the lines that are to \
         be there, or smaller chunks. If the words are meant as they are, word them otherwise"
    )]
    Placeholder {
        /// Path as the patch has it.
        path: String,
        /// The line.
        line: String,
    },
}

/// Returns lines of the patch, as far as they are repeated.
fn sent(lines: &[String]) -> String {
    excerpt(&lines.join("\n"), None, SENT_LIMIT_BYTES)
}

/// Returns lines of the file, as far as they are shown.
fn found(lines: &[String]) -> String {
    excerpt(&lines.join("\n"), None, LIKE_LIMIT_BYTES)
}

/// Returns a line of the patch, as far as it is repeated.
fn named(line: &str) -> &str {
    head(line, LINE_LIMIT_BYTES)
}

fn after(line: usize) -> String {
    if line == 0 { String::new() } else { format!(" after line {line}") }
}

/// The files of a patch while it is applied: each as it was, and as it is by now.
struct PatchFiles<P, R> {
    seen: BTreeMap<P, (Option<String>, Option<EditedLines>)>,
    read: R,
}

/// What a patch makes of files, and what is to be asked before they are changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedPatch<P> {
    /// What becomes of each file.
    pub files: Vec<PatchedFile<P>>,
    /// Chunks that went where their lines stand letter for letter while other places are alike.
    pub questions: Vec<PatchError>,
}

/// Returns what each file becomes. `find` turns a path into what identifies the file, `read` gives
/// the text of a file, if there is one.
///
/// # Errors
/// The first hunk that does not fit, or the first question; then nothing is to be changed.
pub fn apply<P: Clone + Ord>(
    hunks: &[Hunk],
    find: impl Fn(&str) -> P,
    read: impl FnMut(&P) -> Result<Option<String>, PatchError>,
) -> Result<Vec<PatchedFile<P>>, PatchError> {
    let AppliedPatch { files, questions } = apply_asking(hunks, find, read)?;
    questions.into_iter().next().map_or(Ok(files), Err)
}

/// As [`apply`], where the caller asks the questions.
///
/// # Errors
/// The first hunk that does not fit; then nothing is to be changed.
pub fn apply_asking<P: Clone + Ord>(
    hunks: &[Hunk],
    find: impl Fn(&str) -> P,
    read: impl FnMut(&P) -> Result<Option<String>, PatchError>,
) -> Result<AppliedPatch<P>, PatchError> {
    let mut questions = Vec::new();
    let mut files = PatchFiles { seen: BTreeMap::new(), read };
    let mut added = BTreeSet::new();
    for hunk in hunks {
        match hunk {
            Hunk::Add { path, content } => {
                if !added.insert(find(path)) {
                    return Err(PatchError::AddedTwice { path: path.clone() });
                }
                files.now(&find(path))?;
                let before = files.before(&find(path));
                let (content, _) = with_kept_ends(before.map(str::as_bytes), content);
                let text = EditedLines::new(&content);
                *files.now(&find(path))? = Some(text);
            }
            Hunk::Delete { path } => {
                added.remove(&find(path));
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
                let text = files
                    .now(&from)?
                    .as_mut()
                    .ok_or_else(|| PatchError::Missing { path: path.clone() })?;
                questions.extend(update(path, text, chunks)?);
                let Some((to, name)) = to else { continue };
                let new = text.clone();
                let target = files.now(&to)?;
                if target.is_some() {
                    return Err(PatchError::Occupied { path: name.clone() });
                }
                *target = Some(new);
                *files.now(&from)? = None;
            }
        }
    }
    let seen = files.seen.into_iter().map(|(path, (before, after))| PatchedFile {
        path,
        before,
        changed: after.as_ref().map_or_else(Vec::new, |text| text.changed().to_vec()),
        after: after.map(|text| text.text()),
    });
    Ok(AppliedPatch { files: seen.collect(), questions })
}

impl<P: Clone + Ord, R: FnMut(&P) -> Result<Option<String>, PatchError>> PatchFiles<P, R> {
    /// Returns what a file held before the patch, once it was read.
    fn before(&self, path: &P) -> Option<&str> {
        self.seen.get(path)?.0.as_deref()
    }

    /// Returns a file's current text; reads it on first use.
    fn now(&mut self, path: &P) -> Result<&mut Option<EditedLines>, PatchError> {
        let file = match self.seen.entry(path.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let before = (self.read)(path)?;
                let now = before.as_deref().map(EditedLines::new);
                new.insert((before, now))
            }
        };
        Ok(&mut file.1)
    }
}

/// Applies chunks to a file, and returns what is to be asked. A file whose last line they touch
/// ends with a line end then, unless they say otherwise.
fn update(
    path: &str,
    text: &mut EditedLines,
    chunks: &[PatchChunk],
) -> Result<Vec<PatchError>, PatchError> {
    let path = || path.to_owned();
    let known = |line: &str| text.lines().iter().any(|known| known.trim() == line);
    for chunk in chunks {
        let new = chunk.new.iter().map(String::as_str);
        let loses = chunk.new.len() < chunk.old.len();
        if let Some(line) = first_placeholder(new, known, loses) {
            return Err(PatchError::Placeholder { path: path(), line: line.to_owned() });
        }
    }
    let of_file = |error: Misplaced| error.of(path(), chunks);
    let Placements { placed, questions } = placements(text, chunks).map_err(of_file)?;
    for (placed, chunk) in placed.iter().zip(chunks).rev() {
        let (given, found) = (
            chunk.old.get(..placed.range.len()).unwrap_or_default(),
            text.lines().get(placed.range.clone()).unwrap_or_default(),
        );
        let new = chunk.new.get(..chunk.new.len() - placed.unwritten).unwrap_or_default();
        let lines = if placed.likeness == Likeness::Exact {
            new.to_vec()
        } else {
            let [given, found, new] = [given, found, new]
                .map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
            indent::reindented(&given, &found, &new).ok_or_else(|| PatchError::Indentation {
                path: path(),
                line: placed.range.start + 1,
                lines: found.iter().map(|line| (*line).to_owned()).collect(),
            })?
        };
        let at_end = placed.range.end >= text.lines().len() - usize::from(text.is_ended());
        if at_end {
            // A blank line that is added is no end of the line before it.
            text.set_ended(true);
        }
        text.replace(placed.range.clone(), lines);
        if at_end {
            text.set_ended(!chunk.bare_end);
        }
    }
    Ok(questions.into_iter().map(of_file).collect())
}

impl Misplaced {
    /// Says it of a file.
    fn of(self, path: String, chunks: &[PatchChunk]) -> PatchError {
        let chunk = |at: usize| chunks.get(at).cloned().unwrap_or_default();
        match self {
            Self::NoContext { chunk: at, line } => {
                PatchError::NoContext { path, context: chunk(at).context.unwrap_or_default(), line }
            }
            Self::OnlyAdds { chunk: at } => {
                let PatchChunk { context, new, .. } = chunk(at);
                PatchError::OnlyAdds { path, context: context.unwrap_or_default(), lines: new }
            }
            Self::Nowhere { chunk: at, line } => {
                PatchError::NoMatch { path, lines: chunk(at).old, line }
            }
            Self::Several { chunk: at, places, exact } => {
                PatchError::Several { path, lines: chunk(at).old, places, exact }
            }
            Self::Alike { chunk: at, line, alike } => {
                PatchError::Alike { path, lines: chunk(at).old, line, alike }
            }
        }
    }
}

#[cfg(test)]
mod tests;
