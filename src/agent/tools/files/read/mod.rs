//! `read_file`: shows a file or a part of it with line numbers.

pub mod indentation;
pub mod large;
pub mod view;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::known::SeenFile;
use crate::tools::files::read::indentation::IndentationScope;
use crate::tools::files::read::large::{LINE_LIMIT_BYTES, lines_of_large};
use crate::tools::files::read::view::{FileView, OutOfRange, is_cut, shown_chars};
use crate::tools::files::{FILE_LIMIT_BYTES, is_binary};
use crate::tools::kept_output::{OUTPUT_SCHEME, output_number, read_output};
use crate::tools::picture::show;
use crate::tools::search::near_names::{WantedEntry, did_you_mean};
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::image::ImageKind;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;

/// Lines shown unless the call asks for less.
pub const DEFAULT_LINES: usize = 2000;

/// Most bytes of a file shown by one call; another call can read the rest.
pub const SHOWN_LIMIT_BYTES: usize = 48 * 1024;

/// The same of an answer that was shortened because it is longer than this.
const OUTPUT_SHOWN_LIMIT_BYTES: usize = 16 * 1024;

/// Most bytes of one line that are looked through in a file that is not read whole.
const LARGE_LINE_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// Most characters of one line shown by a call that names the first of them.
const LINE_PART_LIMIT_CHARS: usize = 12_000;

/// Most lines named that are too long to be shown whole.
const CUT_LINES_NAMED: usize = 5;

/// A file about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    source: ReadSource,
    part: FilePart,
    /// The first character of its only line that is wanted, from 1; `None` for whole lines.
    column: Option<usize>,
    /// Whether the call says how many lines it wants.
    is_limited: bool,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ReadSource {
    /// A file of the checkout.
    File(ResolvedPath),
    /// An answer of a tool that the session keeps whole.
    Output(u32),
}

impl fmt::Display for ReadSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => write!(formatter, "{}", place.asked),
            Self::Output(number) => write!(formatter, "{OUTPUT_SCHEME}{number}"),
        }
    }
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

impl Tool for ReadFile {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Read a text file with line numbers, whole or in part, or \
        look at an image. Mode `indentation` shows the complete block around one line.";
    const REQUIRED: &'static [&'static str] = &["path"];

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Relative to the repository root" },
            "mode": { "type": "string", "enum": ["slice", "indentation"], "description": "Default `slice`" },
            "offset": { "type": "integer", "description": "First line, default 1" },
            "limit": { "type": "integer", "description": "Most lines, default 2000" },
            "column": { "type": "integer", "description": "Shows line `offset` from this character" },
            "indentation": {
                "type": "object",
                "properties": {
                    "anchor_line": { "type": "integer", "description": "A line of the block, default `offset`" },
                    "max_levels": { "type": "integer", "description": "0 for all" },
                    "include_siblings": { "type": "boolean" },
                    "include_header": { "type": "boolean", "description": "Default true" },
                    "max_lines": { "type": "integer" }
                },
                "additionalProperties": false
            }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let path = arguments.text("path", "the file, relative to the repository root")?;
        let source = match output_number(&path) {
            Some(number) => ReadSource::Output(number?),
            None => ReadSource::File(ResolvedPath::find(&path, context)?),
        };
        let mode = arguments.optional_text("mode", "`slice` or `indentation`")?;
        let offset = arguments.optional_number("offset", 1, "first line")?.unwrap_or(1);
        let limit = arguments.optional_number("limit", 1, "most lines")?;
        let column = arguments.optional_number("column", 1, "first character of line `offset`")?;
        let is_limited = limit.is_some();
        let limit = if column.is_some() { 1 } else { limit.unwrap_or(DEFAULT_LINES) };
        let wanted = arguments.object("indentation", "where and how far in mode `indentation`")?;
        arguments.finish()?;
        let around = parse_around(wanted, offset, limit)?;
        let part = match mode.as_deref() {
            None | Some("slice") => FilePart::Slice { offset, limit },
            Some("indentation") if column.is_none() => FilePart::Indentation(around),
            Some("indentation") => {
                return Err(CallError(
                    "`column` of `read_file` shows a part of one line; leave `mode` out."
                        .to_owned(),
                ));
            }
            Some(other) => {
                return Err(CallError(format!(
                    "`mode` of `read_file` is `slice` or `indentation`, not `{other}`."
                )));
            }
        };
        Ok(Self { source, part, column, is_limited })
    }

    fn intents(&self) -> Vec<Intent> {
        match &self.source {
            ReadSource::File(place) => vec![Intent::Read(place.real.clone())],
            ReadSource::Output(_) => vec![Intent::Session],
        }
    }

    fn headline(&self) -> String {
        format!("read {}", self.source)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let place = match &self.source {
            ReadSource::File(place) => place,
            ReadSource::Output(number) => return self.read_output(*number, context),
        };
        let path = &place.asked;
        let unread = |error: FileError| match error {
            FileError::NotAFile { what: "a directory", .. } => CallError(format!(
                "Cannot read `{path}` because it is a directory; list_files shows what is in it."
            )),
            error @ FileError::Missing(_) => {
                let near = did_you_mean(path, WantedEntry::File, context);
                CallError(format!("Cannot read `{path}`: {error}.{near}"))
            }
            error => CallError(format!("Cannot read `{path}`: {error}.")),
        };
        let real = &place.real;
        let layer = context.layer.filter(|layer| layer.covers(real));
        if let Some(layer) = layer {
            let content = match layer.entry(real) {
                None => Err(FileError::Missing(real.clone())),
                Some(_) => layer.read(permit, real, FILE_LIMIT_BYTES),
            };
            return self.show(&content.map_err(unread)?, context);
        }
        let content = match (context.checkout.read(permit, real, FILE_LIMIT_BYTES), self.part) {
            (Err(FileError::TooLarge { size_bytes, .. }), FilePart::Slice { offset, limit }) => {
                let file = context.checkout.open_file(permit, real).map_err(unread)?;
                return self.large(file, size_bytes, offset, limit);
            }
            (content, _) => content.map_err(unread)?,
        };
        let seen = vec![SeenFile::new(real, &content)];
        Ok(Observation { seen, ..self.show(&content, context)? })
    }
}

impl ReadFile {
    /// Reads an answer that the session keeps whole.
    fn read_output(&self, number: u32, context: ToolContext<'_>) -> Result<Observation, CallError> {
        let text = read_output(number, context)?;
        let view = self.part.of(text.strip_suffix('\n').unwrap_or(&text));
        let view = view.map_err(|error| CallError(format!("File: {}\n{error}", self.source)))?;
        self.render(view)
    }

    /// Shows a file's content, or says what it is.
    fn show(&self, content: &[u8], context: ToolContext<'_>) -> Result<Observation, CallError> {
        let path = &self.source;
        let said = |what: String| Ok(Observation::said(format!("File: {path}\n{what}")));
        if ImageKind::of(content).is_some() {
            return Ok(show(&format!("File: {path}"), content, context));
        }
        if content.starts_with(b"%PDF-") {
            return said(format!(
                "PDF document of {} bytes; its content is not shown.",
                content.len()
            ));
        }
        if is_binary(content) {
            return said(format!(
                "Binary file of {} bytes; its content is not shown.",
                content.len()
            ));
        }
        if let Some(size) = lfs_size(content) {
            return said(format!(
                "Git LFS pointer: the content ({size} bytes) is not in this checkout."
            ));
        }
        if content.is_empty() {
            return said("The file is empty.".to_owned());
        }
        let content = String::from_utf8_lossy(content);
        // A final line end ends the last line; it does not start another.
        let view = self.part.of(content.strip_suffix('\n').unwrap_or(&content));
        let view = view.map_err(|error| CallError(format!("File: {path}\n{error}")))?;
        self.render(view)
    }

    /// Shows lines of a file that is not read whole.
    fn large(
        &self,
        file: File,
        size_bytes: u64,
        offset: usize,
        limit: usize,
    ) -> Result<Observation, CallError> {
        let path = &self.source;
        let failed = |error: io::Error| CallError(format!("Cannot read `{path}`: {error}."));
        let mut file = BufReader::with_capacity(64 * 1024, file);
        let start = file.fill_buf().map_err(failed)?;
        if is_binary(start) || ImageKind::of(start).is_some() || start.starts_with(b"%PDF-") {
            return Ok(Observation::said(format!(
                "File: {path}\nBinary file of {size_bytes} bytes; its content is not shown."
            )));
        }
        let line_limit_bytes = self.column.map_or(LINE_LIMIT_BYTES, |column| {
            column
                .saturating_add(LINE_PART_LIMIT_CHARS)
                .saturating_mul(4)
                .min(LARGE_LINE_LIMIT_BYTES)
        });
        let limits = (SHOWN_LIMIT_BYTES, line_limit_bytes);
        let slice = lines_of_large(file, offset, limit, limits).map_err(failed)?;
        if slice.lines.is_empty() {
            let total_lines = slice.skipped;
            let error = OutOfRange::Offset { offset, total_lines };
            return Err(CallError(format!("File: {path}\n{error}")));
        }
        let view = FileView {
            first: slice.skipped + 1,
            lines: slice.lines.iter().map(String::as_str).collect(),
            total_lines: slice.skipped + slice.lines.len(),
            truncated: slice.more,
        };
        if let Some(column) = self.column {
            return self.line_part(&view, column);
        }
        let (first, last) = (view.first, view.last());
        let more = if slice.more {
            format!(" More follows: use the read_file tool with offset={}.", last + 1)
        } else {
            String::new()
        };
        Ok(Observation::said(format!(
            "File: {path}\nLines {first}-{last} of a file of {size_bytes} bytes.{more}\n\n{}{}",
            view.render(),
            cut_lines(&view)
        )))
    }

    /// Shows a part of the only line of a view.
    fn line_part(&self, view: &FileView<'_>, column: usize) -> Result<Observation, CallError> {
        let (line, text) = (view.first, view.lines.first().copied().unwrap_or_default());
        let total = text.chars().count();
        let part: String = text.chars().skip(column - 1).take(LINE_PART_LIMIT_CHARS).collect();
        if part.is_empty() {
            return Err(CallError(format!(
                "File: {}\nLine {line} has {total} characters; `column` {column} is beyond them.",
                self.source
            )));
        }
        let last = column + part.chars().count() - 1;
        let more = if last < total {
            format!(" To read on: offset={line} and column={}.", last + 1)
        } else {
            String::new()
        };
        Ok(Observation::said(format!(
            "File: {}\nLine {line}, characters {column}-{last} of {total}.{more}\n\n{line} | {part}",
            self.source
        )))
    }

    fn render(&self, mut view: FileView<'_>) -> Result<Observation, CallError> {
        if let Some(column) = self.column {
            return self.line_part(&view, column);
        }
        let wanted = view.lines.len();
        view.fit(match self.source {
            ReadSource::File(_) => SHOWN_LIMIT_BYTES,
            ReadSource::Output(_) => OUTPUT_SHOWN_LIMIT_BYTES,
        });
        let (first, last, total) = (view.first, view.last(), view.total_lines);
        let is_as_wanted = self.is_limited && view.lines.len() == wanted;
        let header = if view.truncated && last < total && is_as_wanted {
            format!("Lines {first}-{last} of {total}.\n\n")
        } else if view.truncated && last < total {
            format!(
                "IMPORTANT: File content truncated.\nStatus: Showing lines {first}-{last} of \
                 {total} total lines.\nTo read more: Use the read_file tool with offset={} and \
                 limit={}.\n\n",
                last + 1,
                DEFAULT_LINES.min(total - last)
            )
        } else {
            String::new()
        };
        let footer = match self.part {
            FilePart::Slice { .. } => String::new(),
            FilePart::Indentation(_) => {
                format!("\n\nIncluded ranges: {first}-{last} (total: {total} lines)")
            }
        };
        let cut = cut_lines(&view);
        let text = format!("File: {}\n{header}{}{cut}{footer}", self.source, view.render());
        Ok(Observation::said(text))
    }
}

/// Names the lines that are too long to be shown whole, and how they are read on.
fn cut_lines(view: &FileView<'_>) -> String {
    let long: Vec<String> = view
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_cut(line))
        .map(|(at, line)| {
            let (number, total) = (view.first + at, line.chars().count());
            let column = shown_chars(line) + 1;
            format!("line {number} ({total} characters; offset={number}, column={column})")
        })
        .collect();
    if long.is_empty() {
        return String::new();
    }
    let more = long.len().saturating_sub(CUT_LINES_NAMED);
    let named = long.iter().take(CUT_LINES_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(
        "\n\nCut at the end, marked by `...`: {named}{more}. To read one on, give `offset` and \
         `column`."
    )
}

/// Returns the size of the content a Git LFS pointer stands for, as it says.
fn lfs_size(content: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(content.get(..content.len().min(1024))?).ok()?;
    let rest = text.strip_prefix("version https://git-lfs.github.com/spec/")?;
    rest.contains("\noid sha256:").then_some(())?;
    rest.lines().find_map(|line| line.strip_prefix("size "))
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they are about")]
mod tests;
