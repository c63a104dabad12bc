//! `read_file`: shows a file or a part of it with line numbers.

pub mod indentation;
pub mod view;

use std::fmt;

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::read::indentation::IndentationScope;
use crate::tools::files::read::view::{FileView, OutOfRange};
use crate::tools::files::{FILE_LIMIT_BYTES, is_binary};
use crate::tools::kept_output::OUTPUT_SCHEME;
use crate::tools::picture::show;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::image::ImageKind;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_workspace::checkout::FileError;

/// Lines shown unless the call asks for less.
pub const DEFAULT_LINES: usize = 2000;

/// Most bytes of a file shown by one call; another call can read the rest.
pub const SHOWN_LIMIT_BYTES: usize = 96 * 1024;

/// A file about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    source: ReadSource,
    part: FilePart,
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
            "offset": { "type": "integer", "minimum": 1, "description": "First line, default 1" },
            "limit": { "type": "integer", "minimum": 1, "description": "Most lines, default 2000" },
            "indentation": {
                "type": "object",
                "properties": {
                    "anchor_line": { "type": "integer", "minimum": 1, "description": "A line of the block, default `offset`" },
                    "max_levels": { "type": "integer", "minimum": 0, "description": "0 for all" },
                    "include_siblings": { "type": "boolean" },
                    "include_header": { "type": "boolean", "description": "Default true" },
                    "max_lines": { "type": "integer", "minimum": 1 }
                },
                "additionalProperties": false
            }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let path = arguments.text("path", "the file, relative to the repository root")?;
        let source = match path.trim().strip_prefix(OUTPUT_SCHEME) {
            Some(number) => ReadSource::Output(number.parse().map_err(|_| no_output(&path))?),
            None => ReadSource::File(ResolvedPath::find(&path, context)?),
        };
        let mode = arguments.optional_text("mode", "`slice` or `indentation`")?;
        let offset = arguments.optional_number("offset", 1, "first line")?.unwrap_or(1);
        let limit = arguments.optional_number("limit", 1, "most lines")?.unwrap_or(DEFAULT_LINES);
        let wanted = arguments.object("indentation", "where and how far in mode `indentation`")?;
        arguments.finish()?;
        let around = parse_around(wanted, offset, limit)?;
        let part = match mode.as_deref() {
            None | Some("slice") => FilePart::Slice { offset, limit },
            Some("indentation") => FilePart::Indentation(around),
            Some(other) => {
                return Err(CallError(format!(
                    "`mode` of `read_file` is `slice` or `indentation`, not `{other}`."
                )));
            }
        };
        Ok(Self { source, part })
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
            error => CallError(format!("Cannot read `{path}`: {error}.")),
        };
        let real = &place.real;
        let content = match context.layer.filter(|layer| layer.covers(real)) {
            Some(layer) if layer.entry(real).is_none() => Err(FileError::Missing(real.clone())),
            Some(layer) => layer.read(permit, real, FILE_LIMIT_BYTES),
            None => context.checkout.read(permit, real, FILE_LIMIT_BYTES),
        };
        let content = content.map_err(unread)?;
        if ImageKind::of(&content).is_some() {
            return Ok(show(&format!("File: {path}"), &content, context));
        }
        if is_binary(&content) {
            return Ok(Observation::said(format!(
                "File: {path}\nBinary file of {} bytes; its content is not shown.",
                content.len()
            )));
        }
        if content.is_empty() {
            return Ok(Observation::said(format!("File: {path}\nThe file is empty.")));
        }
        let content = String::from_utf8_lossy(&content);
        let view = self.part.of(&content);
        let view = view.map_err(|error| CallError(format!("File: {path}\n{error}")))?;
        Ok(Observation::said(self.render(view)))
    }
}

impl ReadFile {
    /// Reads an answer that the session keeps whole.
    fn read_output(&self, number: u32, context: ToolContext<'_>) -> Result<Observation, CallError> {
        let text = context.given.outputs.and_then(|read| read(number));
        let text = text.ok_or_else(|| no_output(&self.source.to_string()))?;
        let view = self.part.of(&text);
        let view = view.map_err(|error| CallError(format!("File: {}\n{error}", self.source)))?;
        Ok(Observation::said(self.render(view)))
    }

    fn render(&self, mut view: FileView<'_>) -> String {
        view.fit(SHOWN_LIMIT_BYTES);
        let (first, last, total) = (view.first, view.last(), view.total_lines);
        let header = if view.truncated && last < total {
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
        format!("File: {}\n{header}{}{footer}", self.source, view.render())
    }
}

fn no_output(path: &str) -> CallError {
    CallError(format!(
        "There is no `{path}` for this task; `{OUTPUT_SCHEME}` takes a number that stands in an \
         answer that was shortened."
    ))
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
