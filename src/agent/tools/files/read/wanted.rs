//! One file that a call of `read_file` names, and the parts of it that are wanted.
//!
//! In: the arguments, of the call or of an entry of its `files`. Out: a checked `WantedFile`, or a
//! sentence for the model. A file that may not be read, or whose path is none, is kept with the
//! reason: the other files of the call are read all the same.

use std::fmt;

use crate::tools::arguments::CallFields;
use crate::tools::files::read::DEFAULT_LINES;
use crate::tools::files::read::indentation::{self, IndentationScope};
use crate::tools::files::read::large::LineRange;
use crate::tools::files::read::view::{self, FileView, OutOfRange};
use crate::tools::kept_output::{OUTPUT_SCHEME, output_number};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::shown_text::shown_name;
use crate::tools::tool::LeftOut;
use crate::tools::{CallError, ToolContext};
use locum_base::tool::ToolName;
use locum_modes::access;
use locum_policy::intent::Intent;

/// Most parts of one file that a call shows.
const RANGES_LIMIT: usize = 20;

/// A file, and what is wanted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedFile {
    pub(super) source: ReadSource,
    /// The parts, in the order they are shown; never empty.
    pub(super) parts: Vec<FilePart>,
    /// The first character of its only line that is wanted, from 1; `None` for whole lines.
    pub(super) column: Option<usize>,
    /// Whether the call says how many lines it wants.
    pub(super) is_limited: bool,
    /// Whether a document is shown as it is, and not its text.
    pub(super) is_raw: bool,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadSource {
    /// A file of the checkout.
    File(ResolvedPath),
    /// An answer of a tool that the session keeps whole.
    Output(u32),
    /// Nothing: why a path that is named beside others is not read.
    Unread {
        /// The path as it was written.
        path: String,
        /// A sentence.
        why: String,
    },
}

impl fmt::Display for ReadSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => write!(formatter, "{}", place.asked),
            Self::Output(number) => write!(formatter, "{OUTPUT_SCHEME}{number}"),
            Self::Unread { path, .. } => formatter.write_str(path),
        }
    }
}

impl ReadSource {
    /// Returns what reading it is to the policy; nothing for what is not read.
    pub(super) fn intent(&self) -> Option<Intent> {
        match self {
            Self::File(place) => Some(Intent::Read(place.real.clone())),
            Self::Output(_) => Some(Intent::Session),
            Self::Unread { .. } => None,
        }
    }

    /// Returns why it is not read, where it is not.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        let Self::Unread { path, why } = self else { return None };
        Some(LeftOut { intent: format!("read({path})"), why: why.clone() })
    }

    fn find(path: &str, context: ToolContext<'_>) -> Result<Self, CallError> {
        match output_number(path) {
            Some(number) => Ok(Self::Output(number?)),
            None => ResolvedPath::find(path, context).map(Self::File),
        }
    }

    /// As [`ReadSource::find`], for a file beside others: what keeps it from being read is kept.
    fn find_beside_others(path: &str, context: ToolContext<'_>) -> Self {
        let unread = |why: String| Self::Unread { path: path.to_owned(), why };
        match Self::find(path, context) {
            Ok(Self::File(place)) => {
                let intent = Intent::Read(place.real.clone());
                match access::check_intent(context.mode, ToolName::ReadFile, &intent) {
                    Ok(()) => Self::File(place),
                    Err(error) => unread(error.to_string()),
                }
            }
            Ok(source) => source,
            Err(error) => unread(error.0),
        }
    }
}

/// Whether a call names one file, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileCount {
    /// What is wrong with it is what is wrong with the call.
    One,
    /// What keeps one from being read leaves the others.
    Several,
}

/// The part of a file that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// `limit` lines from line `offset`, counted from 1.
    Slice {
        /// First line to show, from 1.
        offset: usize,
        /// Most lines to show.
        limit: usize,
    },
    /// What belongs together around a line.
    Indentation(IndentationScope),
}

impl FilePart {
    /// Returns the lines of a part that is named by them.
    pub(super) fn lines(&self) -> Option<LineRange> {
        match *self {
            Self::Slice { offset, limit } => Some(LineRange { offset, limit }),
            Self::Indentation(_) => None,
        }
    }

    /// Takes this part out of a file's text.
    ///
    /// # Errors
    /// When the file has no such line.
    pub fn of<'a>(&self, text: &'a str) -> Result<FileView<'a>, OutOfRange> {
        match self {
            Self::Slice { offset, limit } => view::slice(text, *offset, *limit),
            Self::Indentation(wanted) => indentation::around(text, wanted),
        }
    }
}

impl WantedFile {
    /// Checks the arguments that name a file and its parts; leaves others to the caller.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(super) fn parse(
        fields: &mut CallFields,
        count: FileCount,
        context: ToolContext<'_>,
    ) -> Result<Self, CallError> {
        let path = fields.text("path", "the file, relative to the repository root")?;
        let source = match count {
            FileCount::One => ReadSource::find(&path, context)?,
            FileCount::Several => ReadSource::find_beside_others(&path, context),
        };
        let mode = fields.optional_text("mode", "`slice`, `indentation` or `raw`")?;
        let is_raw = mode.as_deref() == Some("raw");
        let offset = fields.optional_number("offset", 1, "first line")?;
        let limit = fields.optional_number("limit", 1, "most lines")?;
        let column = fields.optional_number("column", 1, "first character of line `offset`")?;
        let ranges = fields.texts("line_ranges", "parts such as `10-40`")?;
        let wanted = fields.object("indentation", "where and how far in mode `indentation`")?;
        if !ranges.is_empty() {
            let is_slice = matches!(mode.as_deref(), None | Some("slice" | "raw"));
            if offset.is_some() || limit.is_some() || column.is_some() || !is_slice {
                return Err(CallError(
                    "`line_ranges` of `read_file` stands alone: leave `offset`, `limit`, \
                     `column` and mode `indentation` out."
                        .to_owned(),
                ));
            }
            let (parts, is_limited) = (parse_ranges(&ranges)?, true);
            return Ok(Self { source, parts, column, is_limited, is_raw });
        }
        let (offset, is_limited) = (offset.unwrap_or(1), limit.is_some());
        let limit = if column.is_some() { 1 } else { limit.unwrap_or(DEFAULT_LINES) };
        let around = parse_around(wanted, offset, limit)?;
        let part = match mode.as_deref() {
            None | Some("slice" | "raw") => FilePart::Slice { offset, limit },
            Some("indentation") if column.is_none() => FilePart::Indentation(around),
            Some("indentation") => {
                return Err(CallError(
                    "`column` of `read_file` shows a part of one line; leave `mode` out."
                        .to_owned(),
                ));
            }
            Some(other) => {
                return Err(CallError(format!(
                    "`mode` of `read_file` is `slice`, `indentation` or `raw`, not `{}`.",
                    shown_name(other)
                )));
            }
        };
        Ok(Self { source, parts: vec![part], column, is_limited, is_raw })
    }
}

/// Reads ranges as models write them: `10-40`, `10` for one line, `10-` for all that follows.
fn parse_ranges(ranges: &[String]) -> Result<Vec<FilePart>, CallError> {
    if ranges.len() > RANGES_LIMIT {
        return Err(CallError(format!(
            "`line_ranges` of `read_file` takes {RANGES_LIMIT} parts of a file at most, not {}.",
            ranges.len()
        )));
    }
    ranges.iter().map(|range| parse_range(range)).collect()
}

fn parse_range(range: &str) -> Result<FilePart, CallError> {
    let wrong = || {
        CallError(format!(
            "`{}` in `line_ranges` of `read_file` is not a range of lines; write `10-40`.",
            shown_name(range)
        ))
    };
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let offset = number(first).ok_or_else(wrong)?;
    if last.trim().is_empty() {
        return Ok(FilePart::Slice { offset, limit: DEFAULT_LINES });
    }
    let last = number(last).filter(|last| *last >= offset).ok_or_else(wrong)?;
    Ok(FilePart::Slice { offset, limit: last - offset + 1 })
}

fn parse_around(
    mut wanted: CallFields,
    offset: usize,
    limit: usize,
) -> Result<IndentationScope, CallError> {
    let around = IndentationScope {
        anchor_line: wanted
            .optional_number("anchor_line", 1, "a line of the block")?
            .unwrap_or(offset),
        max_levels: wanted
            .optional_number("max_levels", 0, "enclosing levels, 0 for all")?
            .unwrap_or(0),
        include_siblings: wanted.flag(
            "include_siblings",
            false,
            "whether to show what lies beside the block",
        )?,
        include_header: wanted.flag(
            "include_header",
            true,
            "whether to show the comments above the block",
        )?,
        max_lines: wanted
            .optional_number("max_lines", 1, "most lines")?
            .map_or(limit, |lines| lines.min(limit)),
    };
    wanted.finish()?;
    Ok(around)
}
