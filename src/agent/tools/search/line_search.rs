//! `LineSearch`: finds an expression in the lines of files, on threads that the run can leave.
//!
//! In: files in order of path. Out: the lines of each that match, with those around them, and how
//! far it came. Whoever drops a search under way does not wait for it: its threads stop at the next
//! file, or at the next part of a long one.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::tools::files::edit::pattern::{NEST_LIMIT, PATTERN_LIMIT_BYTES};
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::walk;
use locum_base::path::RepoPath;

/// Largest that an expression may be when it is compiled; each `\w` takes some 45 KB. A search ends
/// in time anyhow, unlike an edit.
const COMPILED_LIMIT_BYTES: usize = 10 * 1024 * 1024;

/// Most memory of a thread for what was found out about an expression.
const CACHE_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// Matching lines after which no more are looked for.
pub(super) const RESULT_LIMIT: usize = 300;

/// Longest line shown, in characters.
pub(super) const LINE_LIMIT_CHARS: usize = 500;

/// Characters of a long line shown before its first match.
const BEFORE_MATCH_CHARS: usize = 100;

/// Largest file that is read whole before it is searched, which is faster than in pieces, and the
/// longest line of a larger one; one buffer a thread.
pub(super) const WHOLE_LIMIT_BYTES: usize = 1024 * 1024;

/// Files that are open at a time for the threads, and as many again for the next turn.
const BATCH_FILES: usize = 64;

/// An expression, ready to be looked for in lines.
#[derive(Clone, Debug)]
pub(super) struct LinePattern {
    matcher: RegexMatcher,
    line_end: LineTerminator,
}

impl LinePattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// With the place of a mistake, or what is too large.
    pub(super) fn compile(pattern: &str) -> Result<Self, String> {
        if pattern.len() > PATTERN_LIMIT_BYTES {
            return Err(format!("it has more than {PATTERN_LIMIT_BYTES} bytes"));
        }
        let build = |line_end: LineTerminator| {
            let mut builder = RegexMatcherBuilder::new();
            builder
                .multi_line(true)
                .size_limit(COMPILED_LIMIT_BYTES)
                .dfa_size_limit(CACHE_LIMIT_BYTES)
                .nest_limit(NEST_LIMIT);
            if line_end.is_crlf() {
                builder.crlf(true);
            } else {
                builder.line_terminator(Some(line_end.as_byte()));
            }
            builder.build(pattern).map(|matcher| Self { matcher, line_end })
        };
        // One that names `\r` looks for the ends of lines itself.
        let built = match build(LineTerminator::crlf()) {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotAllowed(_) | ErrorKind::Banned(_)) =>
            {
                build(LineTerminator::byte(b'\n'))
            }
            built => built,
        };
        built.map_err(|error| error.to_string())
    }

    /// Searches a text.
    ///
    /// # Errors
    /// When the search gives up.
    pub(super) fn search_text(&self, text: &[u8]) -> io::Result<LineHits> {
        let mut lines = MatchedLines::of(&self.matcher);
        self.searcher().search_slice(&self.matcher, text, &mut lines)?;
        Ok(lines.hits)
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(self.line_end)
            .line_number(true)
            .before_context(1)
            .after_context(1)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(WHOLE_LIMIT_BYTES))
            .build()
    }
}

/// The lines of one text that match, with those around them.
#[derive(Default)]
pub(super) struct LineHits {
    pub(super) lines: Vec<HitLine>,
    /// How many of them match.
    pub(super) count: usize,
}

/// A line that is shown.
pub(super) struct HitLine {
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) matches: bool,
}

/// A search of files, and how far it is.
#[derive(Default)]
pub(super) struct LineSearch {
    /// The files with lines that match.
    pub(super) hits: Vec<(RepoPath, LineHits)>,
    /// The files that have a longer line than is searched.
    pub(super) long: Vec<RepoPath>,
    /// How many of the paths were looked at.
    pub(super) done: usize,
    found: usize,
}

impl LineSearch {
    /// Searches files in order, until enough is found in those that are `visible`. The next files
    /// are opened while threads search the ones before.
    pub(super) async fn run(
        &mut self,
        pattern: &LinePattern,
        folder: &OpenedFolder<'_>,
        paths: &[RepoPath],
        visible: &(dyn Fn(&RepoPath) -> bool + Sync),
    ) {
        let left = LeftMark::default();
        let mut before: Option<BatchSearch> = None;
        for paths in paths.chunks(BATCH_FILES) {
            let opened = paths.iter().map(|path| (path.clone(), folder.open_file(path).ok()));
            let next = Batch { files: opened.collect(), next: AtomicUsize::new(0) };
            if let Some(before) = before.take() {
                self.take_in(before, visible).await;
                if self.found > RESULT_LIMIT {
                    return;
                }
            }
            before = Some(next.start(pattern, &left));
        }
        if let Some(last) = before {
            self.take_in(last, visible).await;
        }
    }

    async fn take_in(&mut self, batch: BatchSearch, visible: &(dyn Fn(&RepoPath) -> bool + Sync)) {
        let mut searched = Vec::new();
        for thread in batch.threads {
            searched.extend(thread.await.unwrap_or_default());
        }
        searched.sort_by_key(|(at, _)| *at);
        for (at, found) in searched {
            let Some((path, _)) = batch.files.files.get(at) else { continue };
            if !visible(path) {
                continue;
            }
            match found {
                FileSearch::Hits(hits) => {
                    self.found += hits.count;
                    self.hits.push((path.clone(), hits));
                }
                FileSearch::LongLine => self.long.push(path.clone()),
            }
        }
        self.done += batch.files.files.len();
    }
}

/// Files that are searched side by side; `None` for one that cannot be opened.
struct Batch {
    files: Vec<(RepoPath, Option<File>)>,
    next: AtomicUsize,
}

/// A batch under way.
struct BatchSearch {
    files: Arc<Batch>,
    threads: Vec<JoinHandle<Vec<(usize, FileSearch)>>>,
}

/// What is said of one file: one without hits is not mentioned.
enum FileSearch {
    Hits(LineHits),
    LongLine,
}

impl Batch {
    fn start(self, pattern: &LinePattern, left: &LeftMark) -> BatchSearch {
        let files = Arc::new(self);
        let threads = walk::threads().min(files.files.len().div_ceil(8)).max(1);
        let threads = (0..threads).map(|_| {
            let (files, pattern, left) = (Arc::clone(&files), pattern.clone(), Arc::clone(&left.0));
            spawn_blocking(move || files.search(&pattern, &left))
        });
        let threads = threads.collect();
        BatchSearch { files, threads }
    }

    /// Searches file after file, as long as others leave some.
    fn search(&self, pattern: &LinePattern, left: &AtomicBool) -> Vec<(usize, FileSearch)> {
        let (mut searcher, mut buffer) = (pattern.searcher(), Vec::new());
        let mut found = Vec::new();
        while !left.load(Ordering::Relaxed) {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((_, file)) = self.files.get(at) else { break };
            let Some(file) = file else { continue };
            let mut file = LeavableFile { file, left, has_failed: false };
            let searched = search_file(&mut file, pattern, &mut searcher, &mut buffer);
            found.extend(searched.map(|searched| (at, searched)));
        }
        found
    }
}

/// Searches one file; a file that cannot be read, or is binary, has no results, as in ripgrep.
fn search_file(
    file: &mut LeavableFile<'_>,
    pattern: &LinePattern,
    searcher: &mut Searcher,
    buffer: &mut Vec<u8>,
) -> Option<FileSearch> {
    let mut lines = MatchedLines::of(&pattern.matcher);
    buffer.clear();
    let limit_bytes = WHOLE_LIMIT_BYTES as u64;
    file.by_ref().take(limit_bytes + 1).read_to_end(buffer).ok()?;
    let searched = if buffer.len() <= WHOLE_LIMIT_BYTES {
        searcher.search_slice(&pattern.matcher, buffer, &mut lines)
    } else {
        file.file.rewind().ok()?;
        searcher.search_reader(&pattern.matcher, file.by_ref(), &mut lines)
    };
    match searched {
        Ok(()) => (lines.hits.count > 0).then_some(FileSearch::Hits(lines.hits)),
        Err(_) if file.has_failed => None,
        // It gives up where a line does not fit into its buffer.
        Err(_) => Some(FileSearch::LongLine),
    }
}

/// Is set once nobody waits for a search any more.
#[derive(Default)]
struct LeftMark(Arc<AtomicBool>);

impl Drop for LeftMark {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file that cannot be read any more once its search was left.
struct LeavableFile<'f> {
    file: &'f File,
    left: &'f AtomicBool,
    has_failed: bool,
}

impl Read for LeavableFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = if self.left.load(Ordering::Relaxed) {
            Err(io::Error::other("the search was left"))
        } else {
            self.file.read(buffer)
        };
        let is_interrupted = |error: &io::Error| error.kind() == io::ErrorKind::Interrupted;
        self.has_failed |= read.as_ref().is_err_and(|error| !is_interrupted(error));
        read
    }
}

struct MatchedLines<'m> {
    matcher: &'m RegexMatcher,
    hits: LineHits,
}

impl<'m> MatchedLines<'m> {
    fn of(matcher: &'m RegexMatcher) -> Self {
        Self { matcher, hits: LineHits::default() }
    }

    fn push(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        let found = if matches { self.matcher.find(bytes).ok().flatten() } else { None };
        let text = shorten(bytes, found.map_or(0, |found| found.start()));
        self.hits.lines.push(HitLine { number: number.unwrap_or_default(), text, matches });
    }
}

impl Sink for MatchedLines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.push(found.line_number(), found.bytes(), true);
        self.hits.count += 1;
        Ok(self.hits.count <= RESULT_LIMIT)
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

/// Returns a line, or the part of a long one around its first match, which begins at the byte
/// `match_start`.
fn shorten(line: &[u8], match_start: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    let total = text.chars().count();
    if total <= LINE_LIMIT_CHARS {
        return text.to_owned();
    }
    let before = String::from_utf8_lossy(line.get(..match_start).unwrap_or_default());
    let before = before.chars().count();
    let is_near = before + BEFORE_MATCH_CHARS <= LINE_LIMIT_CHARS;
    let skipped = if is_near { 0 } else { before - BEFORE_MATCH_CHARS };
    let skipped = skipped.min(total - LINE_LIMIT_CHARS);
    let part: String = text.chars().skip(skipped).take(LINE_LIMIT_CHARS).collect();
    let start =
        if skipped > 0 { format!("[from character {}] ", skipped + 1) } else { String::new() };
    let end = if skipped + LINE_LIMIT_CHARS < total { " [truncated...]" } else { "" };
    format!("{start}{part}{end}")
}
