//! The text of a patch to its hunks: which files are added, deleted, changed or moved, and the
//! chunks of each change.
//!
//! The grammar is the one models were taught for the tool of this name: `*** Begin Patch`, file
//! headers, `@@` chunks, `*** End Patch`. Tolerated, because models write them: a here-document
//! around the patch, a first chunk without `@@`, empty lines as context.

use locum_base::path::RepoPath;

/// Most files one patch may name.
pub const FILES_LIMIT: usize = 200;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Stands below the last line of a file that no line end follows, as in git's diffs.
const NO_LINE_END: &str = "\\ No newline at end of file";

/// What a patch does to one file. Paths are as the model wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hunk {
    /// Creates a file or replaces it whole.
    Add {
        /// Path as the patch has it.
        path: String,
        /// Its whole content; ends with a line end unless it is empty or says otherwise.
        content: String,
    },
    /// Removes a file.
    Delete {
        /// Path as the patch has it.
        path: String,
    },
    /// Changes a file, and moves it where `to` says so.
    Update {
        /// Path as the patch has it.
        path: String,
        /// Where it goes.
        to: Option<String>,
        /// The changes, from top to bottom; at least one.
        chunks: Vec<PatchChunk>,
    },
}

impl Hunk {
    /// Returns the files it changes: the one named, and the one moved to.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let (path, to) = match self {
            Self::Add { path, .. } | Self::Delete { path } => (path, None),
            Self::Update { path, to, .. } => (path, to.as_deref()),
        };
        std::iter::once(path.as_str()).chain(to)
    }

    /// Whether it takes a name away or gives it to a file, and so is about what stands at the path
    /// itself: a link there is not followed.
    pub fn is_about_name(&self, name: &str) -> bool {
        match self {
            Self::Delete { path } => path == name,
            Self::Update { path, to: Some(to), .. } => path == name || to == name,
            Self::Add { .. } | Self::Update { to: None, .. } => false,
        }
    }

    /// Returns the same with paths that were relative to a folder; absolute ones stay.
    pub fn below(self, folder: &RepoPath) -> Self {
        let below = |path: String| {
            let is_whole = *folder == RepoPath::root() || path.starts_with('/');
            if is_whole { path } else { format!("{folder}/{path}") }
        };
        match self {
            Self::Add { path, content } => Self::Add { path: below(path), content },
            Self::Delete { path } => Self::Delete { path: below(path) },
            Self::Update { path, to, chunks } => {
                Self::Update { path: below(path), to: to.map(below), chunks }
            }
        }
    }
}

/// One run of lines to be replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchChunk {
    /// A line above the place, which narrows where to look.
    pub context: Option<String>,
    /// Lines further above, the outermost first: its class, where that one is a function.
    pub outer: Vec<String>,
    /// The lines as they are now; empty to add lines at the end.
    pub old: Vec<String>,
    /// The lines as they will be.
    pub new: Vec<String>,
    /// Whether `old` are the file's last lines.
    pub at_end: bool,
    /// Whether no line end follows the last of `new`.
    pub bare_end: bool,
}

/// Why a text is not a patch. Lines count from 1, in the patch without what is around it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchParseError {
    /// The first line is something else.
    #[error("the first line of the patch must be `{BEGIN}`")]
    NoBegin,
    /// The last line is something else.
    #[error("the last line of the patch must be `{END}`")]
    NoEnd,
    /// A line that is not a header stands where one is needed.
    #[error(
        "line {line} is `{text}`, where `{UPDATE}PATH`, `{ADD}PATH` or `{DELETE}PATH` is needed"
    )]
    NoHeader {
        /// The line as written.
        line: usize,
        /// What it says, cut.
        text: String,
    },
    /// A header names no file.
    #[error("line {line} names no file")]
    NoPath {
        /// The line as written.
        line: usize,
    },
    /// A change has no chunk, or a chunk no lines.
    #[error(
        "the change of `{path}` ends at line {line} without a line that starts with `-`, `+` or a \
         blank"
    )]
    NoLines {
        /// Path as the patch has it.
        path: String,
        /// Where a line was needed.
        line: usize,
    },
    /// A line of a change starts with something else.
    #[error(
        "line {line} of the change of `{path}` is `{text}`; lines of a file start with a blank \
         (kept), `-` (removed) or `+` (added)"
    )]
    NoMark {
        /// Path as the patch has it.
        path: String,
        /// The line as written.
        line: usize,
        /// What it says, cut.
        text: String,
    },
    /// It names too many files.
    #[error("the patch names more than {FILES_LIMIT} files; split it")]
    TooMany,
}

/// What is wrong with a patch that has nothing between its first line and its last.
pub const NO_FILE: &str = "the patch names no file; start with `*** Update File: PATH`, \
                           `*** Add File: PATH` or `*** Delete File: PATH`";

/// Reads a patch. One that names no file has no hunks and changes nothing.
///
/// # Errors
/// The first thing that is not as the grammar has it.
pub fn parse(patch: &str) -> Result<Vec<Hunk>, PatchParseError> {
    let lines = between_markers(patch)?;
    let mut reader = PatchReader { lines: &lines, at: 0 };
    let mut hunks = Vec::new();
    while let Some(line) = reader.next() {
        if line.trim().is_empty() {
            continue;
        }
        hunks.push(reader.hunk(line)?);
        if hunks.iter().flat_map(Hunk::paths).count() > FILES_LIMIT {
            return Err(PatchParseError::TooMany);
        }
    }
    Ok(hunks)
}

/// Returns the lines after the first and before the last, without a here-document around them.
fn between_markers(patch: &str) -> Result<Vec<&str>, PatchParseError> {
    let mut lines: Vec<&str> = patch.trim().lines().collect();
    let is_heredoc = |line: &str| {
        ["<<EOF", "<<'EOF'", "<<\"EOF\""].iter().any(|start| line.trim_end().ends_with(start))
    };
    if lines.len() >= 4
        && lines.first().copied().is_some_and(is_heredoc)
        && lines.last().is_some_and(|last| last.trim() == "EOF")
    {
        lines.pop();
        lines.remove(0);
    }
    if lines.first().is_none_or(|first| first.trim() != BEGIN) {
        return Err(PatchParseError::NoBegin);
    }
    if lines.len() < 2 || lines.pop().is_none_or(|last| last.trim() != END) {
        return Err(PatchParseError::NoEnd);
    }
    lines.remove(0);
    Ok(lines)
}

/// The lines of a patch that are not read yet.
struct PatchReader<'a> {
    lines: &'a [&'a str],
    at: usize,
}

impl<'a> PatchReader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// Returns the number of the line read last; the first one follows the begin marker.
    fn line(&self) -> usize {
        self.at + 1
    }

    fn hunk(&mut self, header: &str) -> Result<Hunk, PatchParseError> {
        if let Some(path) = named(header, ADD) {
            let path = self.path(path)?;
            let mut content = String::new();
            while let Some(line) = self.peek().and_then(|line| line.strip_prefix('+')) {
                content.push_str(line);
                content.push('\n');
                self.at += 1;
            }
            if self.peek().is_some_and(|line| line.trim_end() == NO_LINE_END) {
                content.pop();
                self.at += 1;
            }
            return Ok(Hunk::Add { path, content });
        }
        if let Some(path) = named(header, DELETE) {
            return Ok(Hunk::Delete { path: self.path(path)? });
        }
        let path = named(header, UPDATE)
            .ok_or_else(|| PatchParseError::NoHeader { line: self.line(), text: cut(header) })?;
        let path = self.path(path)?;
        let to = match self.peek().and_then(|line| named(line, MOVE)) {
            Some(to) => {
                self.at += 1;
                Some(self.path(to)?)
            }
            None => None,
        };
        let mut chunks = Vec::new();
        while let Some(line) = self.peek() {
            if line.starts_with("*** ") && line.trim_end() != END_OF_FILE {
                break;
            }
            if self.parts_chunks(line, chunks.is_empty()) {
                self.at += 1;
                continue;
            }
            chunks.push(self.chunk(&path, chunks.is_empty())?);
        }
        if chunks.is_empty() {
            Err(PatchParseError::NoLines { path, line: self.line() })
        } else {
            Ok(Hunk::Update { path, to, chunks })
        }
    }

    fn path(&self, text: &str) -> Result<String, PatchParseError> {
        let path = text.trim();
        if path.is_empty() {
            Err(PatchParseError::NoPath { line: self.line() })
        } else {
            Ok(path.to_owned())
        }
    }

    /// Whether the next line is a blank one between headers and chunks, and no line of a file.
    /// Above a first chunk without `@@` one without a mark is none either where lines that are
    /// looked for follow: the place would be another if it were left out above lines that are only
    /// added.
    fn parts_chunks(&self, line: &str, is_first: bool) -> bool {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        let next = rest.iter().find(|line| !line.trim().is_empty());
        let is_structure = |line: &&str| line.starts_with("*** ") || line.starts_with("@@");
        let is_sought = |line: &&str| line.starts_with([' ', '-']);
        line.trim().is_empty()
            && (next.is_none_or(is_structure)
                || (is_first && line.is_empty() && next.is_some_and(is_sought)))
    }

    fn chunk(&mut self, path: &str, first: bool) -> Result<PatchChunk, PatchParseError> {
        let mut chunk = PatchChunk::default();
        match self.peek().map(str::trim_end) {
            Some("@@") => self.at += 1,
            Some(line) if line.starts_with("@@ ") => {
                while let Some(line) = self.peek().and_then(|it| it.trim_end().strip_prefix("@@ "))
                {
                    if let Some(words) = heading(line) {
                        chunk.outer.extend(chunk.context.replace(words.to_owned()));
                    }
                    self.at += 1;
                }
            }
            Some(line) if !first && !line.starts_with("***") => {
                return Err(PatchParseError::NoMark {
                    path: path.to_owned(),
                    line: self.line() + 1,
                    text: cut(line),
                });
            }
            Some(_) | None => {}
        }
        let (mut count, mut new_is_last) = (0, false);
        while let Some(line) = self.peek() {
            if line.trim_end() == END_OF_FILE {
                if count == 0 {
                    break;
                }
                self.at += 1;
                chunk.at_end = true;
                return Ok(chunk);
            }
            if count > 0 && line.trim_end() == NO_LINE_END {
                chunk.at_end = true;
                chunk.bare_end = new_is_last;
                self.at += 1;
                continue;
            }
            let Some((old, new)) = marked(line) else { break };
            new_is_last = new.is_some();
            chunk.old.extend(old.map(ToOwned::to_owned));
            chunk.new.extend(new.map(ToOwned::to_owned));
            count += 1;
            self.at += 1;
        }
        let next_is_structure =
            self.peek().is_none_or(|line| line.starts_with("@@") || line.starts_with("***"));
        match (count, next_is_structure) {
            (0, true) => Err(PatchParseError::NoLines { path: path.to_owned(), line: self.line() }),
            (_, false) => {
                let text = self.peek().map(cut).unwrap_or_default();
                Err(PatchParseError::NoMark { path: path.to_owned(), line: self.line() + 1, text })
            }
            (_, true) => Ok(chunk),
        }
    }
}

/// Returns the words of a heading. Line numbers, as diffs of other programs have them, are none:
/// `-5,2 +5,3 @@ fn main()`.
fn heading(line: &str) -> Option<&str> {
    let is_span = |text: &str, sign: char| {
        let numbers = text.strip_prefix(sign).unwrap_or_default();
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
        numbers.split(',').all(is_number)
    };
    let Some((numbers, words)) = line.split_once(" @@") else { return Some(line) };
    match numbers.split_once(' ') {
        Some((old, new)) if is_span(old, '-') && is_span(new, '+') => {
            Some(words.trim()).filter(|words| !words.is_empty())
        }
        _ => Some(line),
    }
}

/// Returns what a line of a chunk means before and after the change; `None` when it is not such a
/// line.
fn marked(line: &str) -> Option<(Option<&str>, Option<&str>)> {
    match line.chars().next() {
        None => Some((Some(""), Some(""))),
        Some(' ') => line.get(1..).map(|text| (Some(text), Some(text))),
        Some('-') => line.get(1..).map(|text| (Some(text), None)),
        Some('+') => line.get(1..).map(|text| (None, Some(text))),
        Some(_) => None,
    }
}

fn named<'a>(line: &'a str, header: &str) -> Option<&'a str> {
    let line = line.trim();
    line.strip_prefix(header).or_else(|| (line == header.trim_end()).then_some(""))
}

fn cut(line: &str) -> String {
    locum_base::text::head(line.trim_end(), 80).to_owned()
}

#[cfg(test)]
mod tests;
