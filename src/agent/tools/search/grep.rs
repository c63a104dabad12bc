//! `search_files`: finds a regular expression in the files below a folder.
//!
//! All files are listed first, in parallel, and put in order of path; then they are searched in
//! that order until enough is found or the time is over ([`LineSearch`]). What is returned is
//! therefore always the same: the first results in order of path.

use std::convert::identity;
use std::fmt::{self, Display, Write as _};
use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::tools::aliases::decisive::DecisiveParameters;
use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::kept_output::{OUTPUT_SCHEME, output_number, read_output};
use crate::tools::peer_words::{FOLDER, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::line_search::{
    LineHits, LinePattern, LineSearch, RESULT_LIMIT, WHOLE_LIMIT_BYTES,
};
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::pattern::FilePattern;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::path::RepoPath;
use locum_base::text::code_list;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Most bytes shown.
pub const SHOWN_LIMIT_BYTES: usize = 64 * 1024;

/// Longest that one call searches.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Most files that an answer names because a line of theirs is too long.
const NAMED_LIMIT: usize = 5;

/// A search about to run.
#[derive(Clone, Debug)]
pub struct SearchFiles {
    place: SearchedPlace,
    pattern: String,
    lines: LinePattern,
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
        let lines = LinePattern::compile(&pattern).map_err(|why| {
            CallError(format!(
                "`regex` of `search_files` is not a valid Rust regular expression, or too large: {why}. \
                 A count of `\\w` or `.` takes much: `[A-Za-z0-9_]` takes less."
            ))
        })?;
        let files = files
            .filter(|glob| !matches!(glob.trim(), "" | "*" | "**" | "**/*"))
            .map(|glob| FilePattern::parse(&glob))
            .transpose()
            .map_err(|error| {
                CallError(format!("`file_pattern` of `search_files` is not a glob: {error}."))
            })?;
        Ok(Self { place, pattern, lines, files })
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
            SearchedPlace::Output(number) => return self.search_output(*number, context).await,
        };
        let folder = OpenedFolder::open("search", place, permit, context)?;
        let files = self.files.as_ref();
        let paths = folder.files(|_, path| {
            files.is_none_or(|files| files.matches(&path, folder.path())).then_some(path)
        });
        let lines = self.search(&folder, &paths, context, sleep(TIME_LIMIT)).await;
        Ok(Observation::said(format!("{lines}{}", folder.unnamed_note())))
    }
}

impl SearchFiles {
    /// Searches files until `deadline`; returns what was found, and what was not looked at.
    async fn search(
        &self,
        folder: &OpenedFolder<'_>,
        paths: &[RepoPath],
        context: ToolContext<'_>,
        deadline: impl Future<Output = ()>,
    ) -> String {
        let visible = context.visible;
        let mut search = LineSearch::default();
        let is_late = tokio::select! {
            biased;
            () = deadline => true,
            () = search.run(&self.lines, folder, paths, visible) => false,
        };
        let left_out = if is_late { paths.get(search.done..).unwrap_or_default() } else { &[] };
        let left_out: Vec<&RepoPath> = left_out.iter().filter(|path| visible(path)).collect();
        format!("{}{}{}", render(&search.hits), long_note(&search.long), late_note(&left_out))
    }

    /// Searches an answer that is kept.
    async fn search_output(
        &self,
        number: u32,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let (text, pattern) = (read_output(number, context)?, self.lines.clone());
        let searched = spawn_blocking(move || pattern.search_text(text.as_bytes()));
        let searched = timeout(TIME_LIMIT, searched).await.map_err(|_| {
            CallError(format!("Cannot search it within {} s.", TIME_LIMIT.as_secs()))
        })?;
        let hits = searched
            .map_err(io::Error::other)
            .and_then(identity)
            .map_err(|error| CallError(format!("Cannot search it: {error}.")))?;
        let hits = (hits.count > 0).then_some((&self.place, hits));
        Ok(Observation::said(render(hits.as_slice())))
    }
}

/// Says, to be put behind an answer, which files have too long a line; empty for none.
fn long_note(files: &[RepoPath]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let named = code_list(files.iter().take(NAMED_LIMIT));
    let more = match files.len().saturating_sub(NAMED_LIMIT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "\n\n(Not searched, as a line of it has more than {} MiB: {named}{more}.)",
        WHOLE_LIMIT_BYTES >> 20
    )
}

/// Says, to be put behind an answer, what was not searched in time; empty for nothing.
fn late_note(files: &[&RepoPath]) -> String {
    let Some(first) = files.first() else { return String::new() };
    format!(
        "\n\n(Stopped after {} s: {} not searched, in order of path from `{first}` on. Search a \
         smaller folder, or for a simpler expression.)",
        TIME_LIMIT.as_secs(),
        match files.len() {
            1 => "1 file was".to_owned(),
            count => format!("{count} files were"),
        }
    )
}

fn render<P: Display>(files: &[(P, LineHits)]) -> String {
    let total: usize = files.iter().map(|(_, hits)| hits.count).sum();
    let mut body = String::new();
    let mut shown = 0;
    'files: for (path, hits) in files {
        let before = body.len();
        let _ = write!(body, "\n# {path}\n");
        let start = shown;
        for group in hits.lines.chunk_by(|left, right| left.number + 1 >= right.number) {
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
