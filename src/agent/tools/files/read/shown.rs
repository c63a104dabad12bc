//! What a model is shown of one file: its lines with their numbers, or what it is where it is not
//! text.
//!
//! In: a wanted file, its content, and how much of the answer it may take. Out: an observation that
//! begins with `File: path`, or a sentence for the model.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use crate::tools::files::is_binary;
use crate::tools::files::read::large::{LINE_LIMIT_BYTES, lines_of_large};
use crate::tools::files::read::view::{FileView, OutOfRange, is_cut, shown_chars};
use crate::tools::files::read::wanted::{FilePart, WantedFile};
use crate::tools::files::read::{DEFAULT_LINES, pointer};
use crate::tools::picture::show;
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::image::ImageKind;

/// Most bytes of one line that are looked through in a file that is not read whole.
const LARGE_LINE_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// Most characters of one line shown by a call that names the first of them.
const LINE_PART_LIMIT_CHARS: usize = 12_000;

/// Most lines named that are too long to be shown whole.
const CUT_LINES_NAMED: usize = 5;

/// Bytes read at once of a file that is not read whole.
const BUFFER_BYTES: usize = 256 * 1024;

/// A file about to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownFile<'w> {
    pub(super) wanted: &'w WantedFile,
    /// Most bytes of it that are shown.
    pub(super) room_bytes: usize,
    /// What is said of it before its lines: a line, with its end.
    pub(super) about: &'w str,
}

impl ShownFile<'_> {
    /// Shows a file's content, or says what it is.
    ///
    /// # Errors
    /// When it has none of the lines.
    pub(super) fn content(
        &self,
        content: &[u8],
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let path = &self.wanted.source;
        let said = |what: String| Ok(Observation::said(format!("File: {path}\n{what}")));
        if ImageKind::of(content).is_some() {
            return Ok(show(&format!("File: {path}"), content, context));
        }
        if is_binary(content) {
            return said(format!(
                "Binary file of {} bytes; its content is not shown.",
                content.len()
            ));
        }
        if let Some(size) = pointer::lfs_size(content) {
            return said(format!(
                "Git LFS pointer: the content ({size} bytes) is not in this checkout."
            ));
        }
        if content.is_empty() {
            return said("The file is empty.".to_owned());
        }
        self.text(&String::from_utf8_lossy(content))
    }

    /// Shows the wanted parts of a text.
    ///
    /// # Errors
    /// When it has none of the lines.
    pub(super) fn text(&self, text: &str) -> Result<Observation, CallError> {
        // A final line end ends the last line; it does not start another.
        let text = text.strip_suffix('\n').unwrap_or(text);
        self.each_part(|part, room_bytes| {
            let view = part.of(text).map_err(|error| self.failed(&error))?;
            self.render(part, view, room_bytes)
        })
    }

    /// Shows lines of a file that is not read whole; `open` opens it.
    ///
    /// # Errors
    /// When reading fails, or it has none of the lines.
    pub(super) fn large(
        &self,
        size_bytes: u64,
        open: impl Fn() -> Result<File, CallError>,
    ) -> Result<Observation, CallError> {
        let path = &self.wanted.source;
        let failed = |error: io::Error| CallError(format!("Cannot read `{path}`: {error}."));
        let mut file = BufReader::with_capacity(BUFFER_BYTES, open()?);
        let start = file.fill_buf().map_err(failed)?;
        if is_binary(start) || ImageKind::of(start).is_some() {
            return Ok(Observation::said(format!(
                "File: {path}\nBinary file of {size_bytes} bytes; its content is not shown."
            )));
        }
        self.each_part(|part, room_bytes| {
            let FilePart::Slice { offset, limit } = *part else {
                return Err(CallError(format!(
                    "File: {path}\nThe file has {size_bytes} bytes: give `offset` and `limit` \
                     instead of mode `indentation`."
                )));
            };
            let file = BufReader::with_capacity(BUFFER_BYTES, open()?);
            let limits = (room_bytes, self.line_limit_bytes());
            let slice = lines_of_large(file, offset, limit, limits).map_err(failed)?;
            let total_lines = slice.skipped + slice.lines.len();
            if slice.lines.is_empty() {
                return Err(self.failed(&OutOfRange::Offset { offset, total_lines }));
            }
            let view = FileView {
                first: slice.skipped + 1,
                lines: slice.lines.iter().map(String::as_str).collect(),
                total_lines,
                truncated: slice.more,
            };
            if let Some(column) = self.wanted.column {
                return self.line_part(&view, column);
            }
            let (first, last) = (view.first, view.last());
            let more = if slice.more {
                format!(" More follows: use the read_file tool with offset={}.", last + 1)
            } else {
                String::new()
            };
            Ok(format!(
                "Lines {first}-{last} of a file of {size_bytes} bytes.{more}\n\n{}{}",
                view.render(),
                cut_lines(&view)
            ))
        })
    }

    /// Shows the parts one after the other. Where there are several, one that does not exist is
    /// named in its place.
    fn each_part(
        &self,
        shown: impl Fn(&FilePart, usize) -> Result<String, CallError>,
    ) -> Result<Observation, CallError> {
        let head = format!("File: {}\n", self.wanted.source);
        let (mut texts, mut left, mut found) = (Vec::new(), self.room_bytes, false);
        let count = self.wanted.parts.len();
        for (at, part) in self.wanted.parts.iter().enumerate() {
            match shown(part, left / (count - at)) {
                Ok(text) => {
                    left = left.saturating_sub(text.len());
                    found = true;
                    texts.push(text);
                }
                Err(error) if count == 1 => return Err(error),
                Err(error) => {
                    texts.push(error.0.strip_prefix(&head).unwrap_or(&error.0).to_owned());
                }
            }
        }
        let text = format!("{head}{}{}", self.about, texts.join("\n\n"));
        if found { Ok(Observation::said(text)) } else { Err(CallError(text)) }
    }

    fn failed(&self, error: &OutOfRange) -> CallError {
        CallError(format!("File: {}\n{error}", self.wanted.source))
    }

    fn line_limit_bytes(&self) -> usize {
        self.wanted.column.map_or(LINE_LIMIT_BYTES, |column| {
            column
                .saturating_add(LINE_PART_LIMIT_CHARS)
                .saturating_mul(4)
                .min(LARGE_LINE_LIMIT_BYTES)
        })
    }

    /// Shows a part of the only line of a view.
    fn line_part(&self, view: &FileView<'_>, column: usize) -> Result<String, CallError> {
        let (line, text) = (view.first, view.lines.first().copied().unwrap_or_default());
        let total = text.chars().count();
        let part: String = text.chars().skip(column - 1).take(LINE_PART_LIMIT_CHARS).collect();
        if part.is_empty() {
            return Err(CallError(format!(
                "File: {}\nLine {line} has {total} characters; `column` {column} is beyond them.",
                self.wanted.source
            )));
        }
        let last = column + part.chars().count() - 1;
        let more = if last < total {
            format!(" To read on: offset={line} and column={}.", last + 1)
        } else {
            String::new()
        };
        Ok(format!("Line {line}, characters {column}-{last} of {total}.{more}\n\n{line} | {part}"))
    }

    fn render(
        &self,
        part: &FilePart,
        mut view: FileView<'_>,
        room_bytes: usize,
    ) -> Result<String, CallError> {
        if let Some(column) = self.wanted.column {
            return self.line_part(&view, column);
        }
        let wanted = view.lines.len();
        view.fit(room_bytes);
        let (first, last, total) = (view.first, view.last(), view.total_lines);
        let is_one_of_several = self.wanted.parts.len() > 1;
        let is_as_wanted = self.wanted.is_limited && view.lines.len() == wanted;
        let header = if is_as_wanted && (is_one_of_several || view.truncated && last < total) {
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
        let footer = match part {
            FilePart::Slice { .. } => String::new(),
            FilePart::Indentation(_) => {
                format!("\n\nIncluded ranges: {first}-{last} (total: {total} lines)")
            }
        };
        Ok(format!("{header}{}{}{footer}", view.render(), cut_lines(&view)))
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
