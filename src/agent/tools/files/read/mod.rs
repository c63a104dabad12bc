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
use crate::tools::files::near_names::did_you_mean;
use crate::tools::files::read::indentation::IndentationScope;
use crate::tools::files::read::large::lines_of_large;
use crate::tools::files::read::view::{FileView, LINE_LIMIT, OutOfRange, is_cut};
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

/// Most lines named that are too long to be shown whole.
const CUT_LINES_NAMED: usize = 5;

/// A file about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    source: ReadSource,
    part: FilePart,
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
        let limit = arguments.optional_number("limit", 1, "most lines")?;
        let is_limited = limit.is_some();
        let limit = limit.unwrap_or(DEFAULT_LINES);
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
        Ok(Self { source, part, is_limited })
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
                let near = did_you_mean(path, context);
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
        let text = context.given.outputs.and_then(|read| read(number));
        let text = text.ok_or_else(|| no_output(&self.source.to_string()))?;
        let view = self.part.of(&text);
        let view = view.map_err(|error| CallError(format!("File: {}\n{error}", self.source)))?;
        Ok(Observation::said(self.render(view)))
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
        Ok(Observation::said(self.render(view)))
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
        let slice = lines_of_large(file, offset, limit, SHOWN_LIMIT_BYTES).map_err(failed)?;
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

    fn render(&self, mut view: FileView<'_>) -> String {
        let wanted = view.lines.len();
        view.fit(SHOWN_LIMIT_BYTES);
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
        format!("File: {}\n{header}{}{cut}{footer}", self.source, view.render())
    }
}

fn no_output(path: &str) -> CallError {
    CallError(format!(
        "There is no `{path}` for this task; `{OUTPUT_SCHEME}` takes a number that stands in an \
         answer that was shortened."
    ))
}

/// Names the lines that are too long to be shown whole.
fn cut_lines(view: &FileView<'_>) -> String {
    let long: Vec<String> = view
        .lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_cut(line))
        .map(|(at, line)| format!("line {} ({} characters)", view.first + at, line.chars().count()))
        .collect();
    if long.is_empty() {
        return String::new();
    }
    let more = long.len().saturating_sub(CUT_LINES_NAMED);
    let named = long.iter().take(CUT_LINES_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(
        "\n\nShown only to character {LINE_LIMIT}, marked by `...`: {named}{more}. What follows is \
         in the file; search_files finds it."
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
mod tests {
    use super::FILE_LIMIT_BYTES;
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    fn read(fixture: &ToolFixture, path: &str, more: &serde_json::Value) -> String {
        let mut arguments = json!({ "path": path });
        for (key, value) in more.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        fixture.call("read_file", &arguments.to_string()).text
    }

    #[test]
    fn counts_lines_as_wc_does_and_calls_only_its_own_limits_a_truncation() {
        let text: String = (1..=182).map(|line| format!("l{line}\n")).collect();
        let fixture =
            ToolFixture::new(&[("a", &text), ("bare", "x\ny"), ("blank", "\n"), ("end", "x\n\n")]);
        assert!(read(&fixture, "a", &json!({})).ends_with("\n182 | l182"));
        assert_eq!(
            read(&fixture, "a", &json!({ "offset": 3, "limit": 2 })),
            "File: a\nLines 3-4 of 182.\n\n3 | l3\n4 | l4"
        );
        assert_eq!(
            read(&fixture, "a", &json!({ "offset": 182, "limit": 2 })),
            "File: a\n182 | l182"
        );
        assert!(
            read(&fixture, "a", &json!({ "offset": 183 }))
                .contains("offset 183 is beyond file end (182 lines)")
        );
        assert_eq!(read(&fixture, "bare", &json!({})), "File: bare\n1 | x\n2 | y");
        assert_eq!(read(&fixture, "blank", &json!({})), "File: blank\n1 | ");
        assert_eq!(read(&fixture, "end", &json!({})), "File: end\n1 | x\n2 | ");
        let long: String = (1..=2500).map(|line| format!("l{line}\n")).collect();
        let fixture = ToolFixture::new(&[("a", &long)]);
        assert!(read(&fixture, "a", &json!({})).starts_with("File: a\nIMPORTANT: File content truncated.\nStatus: Showing lines 1-2000 of 2500 total lines.\n"));
    }

    #[test]
    fn shows_lines_of_a_file_of_any_size() {
        let fixture = ToolFixture::new(&[]);
        let size = usize::try_from(FILE_LIMIT_BYTES).unwrap() + 11;
        std::fs::write(fixture.at("big"), "0123456789\n".repeat(size / 11 + 1)).unwrap();
        let size = std::fs::metadata(fixture.at("big")).unwrap().len();
        assert_eq!(
            read(&fixture, "big", &json!({ "offset": 900_000, "limit": 2 })),
            format!(
                "File: big\nLines 900000-900001 of a file of {size} bytes. More follows: use the read_file tool with offset=900002.\n\n900000 | 0123456789\n900001 | 0123456789"
            )
        );
        let shown = read(&fixture, "big", &json!({}));
        assert!(shown.len() < 96 * 1024 && shown.contains("Lines 1-2000 of"), "{}", shown.len());
        assert!(
            read(&fixture, "big", &json!({ "offset": 9_000_000 })).contains("is beyond file end")
        );
        std::fs::write(fixture.at("image"), vec![0; size as usize]).unwrap();
        assert!(read(&fixture, "image", &json!({})).contains("Binary file of"));
    }

    #[test]
    fn says_what_is_not_shown() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        let long = format!("a\n{}\n", "x".repeat(5000));
        let fixture =
            ToolFixture::new(&[("lfs", pointer), ("long", &long), ("doc.pdf", "%PDF-1.7\nx\n")]);
        assert_eq!(
            read(&fixture, "lfs", &json!({})),
            "File: lfs\nGit LFS pointer: the content (12345 bytes) is not in this checkout."
        );
        assert!(read(&fixture, "long", &json!({})).ends_with("x...\n\nShown only to character 2000, marked by `...`: line 2 (5000 characters). What follows is in the file; search_files finds it."));
        assert_eq!(
            read(&fixture, "doc.pdf", &json!({})),
            "File: doc.pdf\nPDF document of 11 bytes; its content is not shown."
        );
    }
}
