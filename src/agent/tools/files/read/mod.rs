//! `read_file`: shows a file or a part of it with line numbers.

pub mod indentation;
pub mod view;

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::read::indentation::IndentationScope;
use crate::tools::files::read::view::{FileView, OutOfRange};
use crate::tools::files::{FILE_LIMIT_BYTES, is_binary};
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
    place: ResolvedPath,
    part: FilePart,
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
        let place =
            arguments.place("path", "the file, relative to the repository root", context)?;
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
        Ok(Self { place, part })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("read {}", self.place.asked)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let path = &self.place.asked;
        let unread = |error: FileError| match error {
            FileError::NotAFile { what: "a directory", .. } => CallError(format!(
                "Cannot read `{path}` because it is a directory; list_files shows what is in it."
            )),
            error => CallError(format!("Cannot read `{path}`: {error}.")),
        };
        let real = &self.place.real;
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
        format!("File: {}\n{header}{}{footer}", self.place.asked, view.render())
    }
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
