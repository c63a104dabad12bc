//! `search_files`: finds a regular expression in the files below a folder.
//!
//! All files are listed first, in parallel, and put in order of path; then they are searched in
//! parallel in that order until enough is found. What is returned is therefore always the same: the
//! first results in order of path.

use std::fmt::{self, Display, Write as _};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde_json::{Value, json};

use crate::tools::aliases::decisive::DecisiveParameters;
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::kept_output::{OUTPUT_SCHEME, output_number, read_output};
use crate::tools::peer_words::{FOLDER, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::pattern::FilePattern;
use crate::tools::search::walk;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;

/// Most matching lines shown.
pub const RESULT_LIMIT: usize = 300;

/// Longest line shown, in characters.
pub const LINE_LIMIT_CHARS: usize = 500;

/// Characters of a long line shown before its first match.
const BEFORE_MATCH_CHARS: usize = 100;

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
    place: SearchedPlace,
    pattern: String,
    matcher: RegexMatcher,
    files: Option<FilePattern>,
}

/// What is searched.
#[derive(Clone, Debug)]
enum SearchedPlace {
    /// A folder or a file of the checkout.
    Files(ResolvedPath),
    /// An answer of a tool that the session keeps whole.
    Output(u32),
}

impl fmt::Display for SearchedPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files(place) => write!(formatter, "{}", place.asked),
            Self::Output(number) => write!(formatter, "{OUTPUT_SCHEME}{number}"),
        }
    }
}

/// The lines of one file that match, with those around them.
struct FileHits<P> {
    path: P,
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
    const DESCRIPTION: &'static str = "Search files below a folder by regular expression (Rust \
        syntax, line by line), with a line of context. Ignored files are left out.";
    const REQUIRED: &'static [&'static str] = &["path", "regex"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            FOLDER,
            &[
                ("pattern", "regex"),
                ("query", "regex"),
                ("glob", "file_pattern"),
                ("include", "file_pattern"),
                ("include_pattern", "file_pattern"),
                ("file_path", "path"),
                ("filePath", "path"),
            ],
        ],
        decisive: &[DECISIVE],
        hook_names: &["Grep"],
        ..PeerWords::NONE
    };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Folder or file; `.` for all" },
            "regex": { "type": "string" },
            "file_pattern": { "type": ["string", "null"], "description": "Only files like `*.rs` or `src/**/*.{ts,tsx}`" }
        })
    }

    /// Checks the arguments and compiles the patterns.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let path =
            arguments.optional_text("path", "the folder, relative to the repository root")?;
        let place = match path.as_deref().and_then(output_number) {
            Some(number) => SearchedPlace::Output(number?),
            None => SearchedPlace::Files(ResolvedPath::find_or_root(path.as_deref(), context)?),
        };
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
        match &self.place {
            SearchedPlace::Files(place) => vec![Intent::Read(place.real.clone())],
            SearchedPlace::Output(_) => vec![Intent::Session],
        }
    }

    fn headline(&self) -> String {
        format!("search {} for {}", self.place, self.pattern)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let place = match &self.place {
            SearchedPlace::Files(place) => place,
            SearchedPlace::Output(number) => {
                let text = read_output(*number, context)?;
                let mut lines = MatchedLines::of(&self.matcher);
                let searched = searcher().search_slice(&self.matcher, text.as_bytes(), &mut lines);
                searched.map_err(|error| CallError(format!("Cannot search it: {error}.")))?;
                let hits: Vec<_> = lines.of_file(&self.place).into_iter().collect();
                return Ok(Observation::said(render(&hits)));
            }
        };
        let folder = OpenedFolder::open("search", place, permit, context)?;
        let files = self.files.as_ref();
        let paths = folder.files(|_, path| {
            files.is_none_or(|files| files.matches(&path, folder.path())).then_some(path)
        });
        let lines = render(&self.search(&folder, &paths, context));
        Ok(Observation::said(format!("{lines}{}", folder.unnamed_note())))
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
    ) -> Vec<FileHits<RepoPath>> {
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
    ) -> Option<FileHits<RepoPath>> {
        let mut lines = MatchedLines::of(&self.matcher);
        match folder.read_into(path, WHOLE_LIMIT_BYTES, buffer) {
            Ok(()) => searcher.search_slice(&self.matcher, buffer, &mut lines).ok()?,
            Err(FileError::TooLarge { .. }) => searcher
                .search_file(&self.matcher, &folder.open_file(path).ok()?, &mut lines)
                .ok()?,
            Err(_unreadable) => return None,
        }
        lines.of_file(path.clone())
    }
}

struct MatchedLines<'m> {
    matcher: &'m RegexMatcher,
    lines: Vec<HitLine>,
    count: usize,
}

impl<'m> MatchedLines<'m> {
    fn of(matcher: &'m RegexMatcher) -> Self {
        Self { matcher, lines: Vec::new(), count: 0 }
    }

    /// Returns what was found in a file; `None` where nothing was.
    fn of_file<P>(self, path: P) -> Option<FileHits<P>> {
        let Self { lines, count, .. } = self;
        (count > 0).then_some(FileHits { path, lines, count })
    }

    fn push(&mut self, number: Option<u64>, bytes: &[u8], matches: bool) {
        let found = if matches { self.matcher.find(bytes).ok().flatten() } else { None };
        let text = shorten(bytes, found.map_or(0, |found| found.start()));
        self.lines.push(HitLine { number: number.unwrap_or_default(), text, matches });
    }
}

impl Sink for MatchedLines<'_> {
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

fn render<P: Display>(files: &[FileHits<P>]) -> String {
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

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[DecisiveParameters {
    names: "multiline invert_match v fixed_strings literal whole_word w",
    instead: "Say it in `regex`, which is looked for in each line.",
    ..DecisiveParameters::NONE
}];

#[cfg(test)]
mod tests;
