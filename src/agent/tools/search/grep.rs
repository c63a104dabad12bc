//! `search_files`: finds a regular expression in the files below a folder.
//!
//! All files are listed first, in parallel, and put in order of path; then they are searched in
//! parallel in that order until enough is found. What is returned is therefore always the same: the
//! first results in order of path.

use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::pattern::FilePattern;
use crate::tools::search::walk;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;

/// Most matching lines shown.
pub const RESULT_LIMIT: usize = 300;

/// Longest line shown, in characters.
pub const LINE_LIMIT_CHARS: usize = 500;

/// Most bytes shown.
pub const SHOWN_LIMIT_BYTES: usize = 64 * 1024;

/// Most bytes of one line held while searching; a file with a longer one is left out.
const HEAP_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Largest file that is read whole before it is searched, which is faster than in pieces; one
/// buffer a thread.
const WHOLE_LIMIT_BYTES: u64 = 1024 * 1024;

/// A search about to run.
#[derive(Clone, Debug)]
pub struct SearchFiles {
    place: ResolvedPath,
    pattern: String,
    matcher: RegexMatcher,
    files: Option<FilePattern>,
}

/// The lines of one file that match, with those around them.
struct FileHits {
    path: RepoPath,
    lines: Vec<HitLine>,
    count: usize,
}

struct HitLine {
    number: u64,
    text: String,
    matches: bool,
}

impl Tool for SearchFiles {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Search file contents below a folder by regular expression \
        (Rust syntax, line by line); shows each match with a line of context. Files named by \
        ignore files are left out.";
    const REQUIRED: &'static [&'static str] = &["path", "regex"];

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Folder or file, relative to the repository root; `.` for all" },
            "regex": { "type": "string" },
            "file_pattern": { "type": ["string", "null"], "description": "Only files like this, e.g. `*.rs` or `src/**/*.{ts,tsx}`" }
        })
    }

    /// Checks the arguments and compiles the patterns.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place = arguments.optional_place(
            "path",
            "the folder, relative to the repository root",
            context,
        )?;
        let pattern = arguments.text("regex", "the regular expression")?;
        let files = arguments.optional_text("file_pattern", "a glob such as `*.rs`")?;
        arguments.finish()?;
        if pattern.is_empty() {
            return Err(CallError(
                "`regex` of `search_files` is empty; it would match every line.".to_owned(),
            ));
        }
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .build(&pattern);
        let matcher = matcher.map_err(|error| {
            CallError(format!(
                "`regex` of `search_files` is not a valid Rust regular expression: {error}"
            ))
        })?;
        let files = files
            .filter(|glob| !matches!(glob.trim(), "" | "*" | "**" | "**/*"))
            .map(|glob| FilePattern::parse(&glob))
            .transpose()
            .map_err(|error| {
                CallError(format!("`file_pattern` of `search_files` is not a glob: {error}."))
            })?;
        Ok(Self { place, pattern, matcher, files })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("search {} for {}", self.place.asked, self.pattern)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let folder = OpenedFolder::open("search", &self.place, permit, context)?;
        let files = self.files.as_ref();
        let paths = folder.files(|_, path| {
            files.is_none_or(|files| files.matches(&path, folder.path())).then_some(path)
        });
        Ok(Observation::said(render(&self.search(&folder, &paths, context))))
    }
}

impl SearchFiles {
    /// Searches the files in order. Files are handed out one after another: once enough is found in
    /// those that are finished, those under way complete an unbroken first part of the list.
    fn search(
        &self,
        folder: &OpenedFolder<'_>,
        paths: &[RepoPath],
        context: ToolContext<'_>,
    ) -> Vec<FileHits> {
        let visible = context.visible;
        let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            let (mut searcher, mut buffer) = (searcher(), Vec::new());
            let mut hits = Vec::new();
            while found.load(Ordering::Relaxed) <= RESULT_LIMIT {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(place) else { break };
                if let Some(file) = self
                    .search_file(folder, path, &mut searcher, &mut buffer)
                    .filter(|_| visible(path))
                {
                    found.fetch_add(file.count, Ordering::Relaxed);
                    hits.push(file);
                }
            }
            hits
        };
        let threads = walk::threads().min(paths.len().div_ceil(16)).max(1);
        let mut hits = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut hits = work();
            hits.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
            hits
        });
        hits.sort_by(|left, right| left.path.cmp(&right.path));
        hits
    }

    /// Searches one file; a file that cannot be read, or is binary, has no results, as in ripgrep.
    fn search_file(
        &self,
        folder: &OpenedFolder<'_>,
        path: &RepoPath,
        searcher: &mut Searcher,
        buffer: &mut Vec<u8>,
    ) -> Option<FileHits> {
        let mut lines = MatchedLines { lines: Vec::new(), count: 0 };
        match folder.read_into(path, WHOLE_LIMIT_BYTES, buffer) {
            Ok(()) => searcher.search_slice(&self.matcher, buffer, &mut lines).ok()?,
            Err(FileError::TooLarge { .. }) => searcher
                .search_file(&self.matcher, &folder.open_file(path).ok()?, &mut lines)
                .ok()?,
            Err(_unreadable) => return None,
        }
        (lines.count > 0).then(|| FileHits {
            path: path.clone(),
            lines: lines.lines,
            count: lines.count,
        })
    }
}

struct MatchedLines {
    lines: Vec<HitLine>,
    count: usize,
}

impl MatchedLines {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        // A character has four bytes at most: what is cut here would not be shown.
        let text = String::from_utf8_lossy(bytes.get(..LINE_LIMIT_CHARS * 4 + 4).unwrap_or(bytes));
        self.lines.push(HitLine {
            number: number.unwrap_or_default(),
            text: shorten(text.trim_end_matches(['\n', '\r'])),
            matches,
        });
    }
}

impl Sink for MatchedLines {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.push(found.line_number(), found.bytes(), true);
        self.count += 1;
        Ok(self.count <= RESULT_LIMIT)
    }

    fn context(
        &mut self,
        _searcher: &Searcher,
        context: &SinkContext<'_>,
    ) -> Result<bool, io::Error> {
        self.push(context.line_number(), context.bytes(), false);
        Ok(true)
    }
}

fn searcher() -> Searcher {
    SearcherBuilder::new()
        .line_number(true)
        .before_context(1)
        .after_context(1)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(HEAP_LIMIT_BYTES))
        .build()
}

fn shorten(line: &str) -> String {
    match line.char_indices().nth(LINE_LIMIT_CHARS) {
        Some((end, _)) => format!("{} [truncated...]", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn render(files: &[FileHits]) -> String {
    let total: usize = files.iter().map(|file| file.count).sum();
    let mut body = String::new();
    let mut shown = 0;
    'files: for file in files {
        let before = body.len();
        let _ = write!(body, "\n# {}\n", file.path);
        let start = shown;
        for group in file.lines.chunk_by(|left, right| left.number + 1 >= right.number) {
            if shown >= RESULT_LIMIT || body.len() > SHOWN_LIMIT_BYTES {
                if shown == start {
                    body.truncate(before);
                }
                break 'files;
            }
            for line in group {
                if line.matches && shown >= RESULT_LIMIT {
                    break;
                }
                shown += usize::from(line.matches);
                let _ = writeln!(body, "{:>3} | {}", line.number, line.text);
            }
            body.push_str("----\n");
        }
    }
    let head = match (total, shown) {
        (0, _) => return "No results found.".to_owned(),
        (1, 1) => "Found 1 result.".to_owned(),
        (total, shown) if total > RESULT_LIMIT => {
            format!(
                "Showing first {shown} of {RESULT_LIMIT}+ results. Use a more specific search if \
                 necessary."
            )
        }
        (total, shown) if total > shown => format!(
            "Showing first {shown} of {total} results. Use a more specific search if necessary."
        ),
        (total, _) => format!("Found {total} results."),
    };
    format!("{head}\n{body}")
}

#[cfg(test)]
mod tests;
