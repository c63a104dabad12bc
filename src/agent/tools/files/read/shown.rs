//! What a model is shown of one file: its lines with their numbers, or what it is where it is not
//! text.
//!
//! In: a wanted file, its content, and how much of the answer it may take. Out: an observation that
//! begins with `File: path`, or a sentence for the model.

use std::borrow::Cow;
use std::convert::identity;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use tokio::task::spawn_blocking;

use crate::tools::files::is_binary;
use crate::tools::files::read::DEFAULT_LINES;
use crate::tools::files::read::large::{
    LINE_LIMIT_BYTES, LargeScan, LargeSlice, LineRange, SCAN_LIMIT_BYTES, ScanLimits, scan,
};
use crate::tools::files::read::view::{FileView, OutOfRange, is_cut, shown_chars};
use crate::tools::files::read::wanted::{FilePart, WantedFile};
use crate::tools::picture::show;
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::image::ImageKind;
use locum_base::text::head;
use locum_workspace::lfs_pointer::LfsPointer;

/// Most bytes of one line that are looked through in a file that is not read whole.
const LARGE_LINE_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// Most characters of one line shown by a call that names the first of them.
const LINE_PART_LIMIT_CHARS: usize = 12_000;

/// Most lines named that are too long to be shown whole.
const CUT_LINES_NAMED: usize = 5;

/// Stands for what a call that shows much has no room for.
pub(super) const NO_ROOM: &str = "Not shown: this answer is full; read the rest in another call.";

/// Bytes read at once of a file that is not read whole.
const BUFFER_BYTES: usize = 256 * 1024;

/// What is known of the length of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownLength {
    /// It is all there.
    Whole,
    /// There is more of it than was kept.
    AtLeast,
}

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
        if let Some(LfsPointer { size_bytes, .. }) = LfsPointer::parse(content) {
            return said(format!(
                "Git LFS pointer: the content ({size_bytes} bytes) is not in this checkout."
            ));
        }
        if content.is_empty() {
            return said("The file is empty.".to_owned());
        }
        let text = String::from_utf8_lossy(content);
        let shown = self.text(&text)?;
        // Sent back, the signs would take the place of the bytes.
        let note = match text {
            Cow::Borrowed(_) => return Ok(shown),
            Cow::Owned(_) => {
                "The file is not UTF-8: each � stands for a byte or more that is not \
                shown. Edit tools leave it alone."
            }
        };
        Ok(Observation { text: format!("{}\n{note}", shown.text.trim_end_matches('\n')), ..shown })
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

    /// Shows lines of a file that is not read whole. What is looked through for them is taken off
    /// `scan_bytes`.
    ///
    /// # Errors
    /// When reading fails, or it has none of the lines.
    pub(super) async fn large(
        &self,
        size_bytes: u64,
        file: File,
        scan_bytes: &mut u64,
    ) -> Result<Observation, CallError> {
        let path = &self.wanted.source;
        let ranges: Vec<LineRange> = self.wanted.parts.iter().filter_map(FilePart::lines).collect();
        let limits = ScanLimits {
            scanned_bytes: *scan_bytes,
            kept_bytes: self.room_bytes,
            line_bytes: self.line_limit_bytes(),
        };
        // It may take seconds, in which others go on.
        let scanned = spawn_blocking(move || scan_text(file, &ranges, limits)).await;
        let scanned = scanned
            .map_err(io::Error::other)
            .and_then(identity)
            .map_err(|error| CallError(format!("Cannot read `{path}`: {error}.")))?;
        let Some(scanned) = scanned else {
            return Ok(Observation::said(format!(
                "File: {path}\nBinary file of {size_bytes} bytes; its content is not shown."
            )));
        };
        *scan_bytes = scan_bytes.saturating_sub(scanned.scanned_bytes);
        let mut slices = scanned.slices.iter();
        self.each_part(|part, room_bytes| {
            let wanted = part.lines().and_then(|range| Some((range.offset, slices.next()?)));
            let Some((offset, slice)) = wanted else {
                return Err(CallError(format!(
                    "File: {path}\nThe file has {size_bytes} bytes: give `offset` and `limit` \
                     instead of mode `indentation`."
                )));
            };
            self.large_slice(slice, offset, (size_bytes, room_bytes))
        })
    }

    fn large_slice(
        &self,
        slice: &LargeSlice,
        offset: usize,
        (size_bytes, room_bytes): (u64, usize),
    ) -> Result<String, CallError> {
        let total_lines = slice.skipped + slice.lines.len();
        if slice.is_too_far {
            return Err(CallError(format!(
                "File: {}\nError: line {offset} is not reached: one call looks through {} GiB of \
                 large files at most.",
                self.wanted.source,
                SCAN_LIMIT_BYTES >> 30
            )));
        }
        if slice.lines.is_empty() {
            return Err(self.failed(&OutOfRange::Offset { offset, total_lines }));
        }
        let mut view = FileView {
            first: slice.skipped + 1,
            lines: slice.lines.iter().map(String::as_str).collect(),
            total_lines,
            truncated: slice.more,
        };
        if let Some(column) = self.wanted.column {
            let known = if slice.is_cut { KnownLength::AtLeast } else { KnownLength::Whole };
            return self.line_part(&view, (column, known), room_bytes);
        }
        view.fit(room_bytes);
        let (first, last) = (view.first, view.last());
        let more = if view.truncated {
            format!(" More follows: use the read_file tool with offset={}.", last + 1)
        } else {
            String::new()
        };
        Ok(format!(
            "Lines {first}-{last} of a file of {size_bytes} bytes.{more}\n\n{}{}",
            view.render(),
            cut_lines(&view)
        ))
    }

    /// Shows the parts one after the other. Where there are several, one that does not exist is
    /// named in its place.
    fn each_part(
        &self,
        mut shown: impl FnMut(&FilePart, usize) -> Result<String, CallError>,
    ) -> Result<Observation, CallError> {
        let head = format!("File: {}\n", self.wanted.source);
        let (mut texts, mut left, mut found) = (Vec::new(), self.room_bytes, false);
        let count = self.wanted.parts.len();
        for (at, part) in self.wanted.parts.iter().enumerate() {
            if left == 0 {
                texts.push(NO_ROOM.to_owned());
                break;
            }
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

    /// Shows a part of the only line of a view: as much as there is room, a character at least.
    fn line_part(
        &self,
        view: &FileView<'_>,
        (column, known): (usize, KnownLength),
        room_bytes: usize,
    ) -> Result<String, CallError> {
        let (line, text) = (view.first, view.lines.first().copied().unwrap_or_default());
        let total = text.chars().count();
        let start = text.char_indices().nth(column - 1).map_or(text.len(), |(at, _)| at);
        let part = text.get(start..).unwrap_or_default();
        let part: String = head(part, room_bytes.max(char::MAX_LEN_UTF8))
            .chars()
            .take(LINE_PART_LIMIT_CHARS)
            .collect();
        if part.is_empty() {
            let why = match known {
                KnownLength::Whole => {
                    format!("Line {line} has {total} characters; `column` {column} is beyond them.")
                }
                KnownLength::AtLeast => format!(
                    "Line {line} is longer than the {} MiB of one line that are looked through, \
                     and `column` {column} is beyond them; a command reaches it.",
                    LARGE_LINE_LIMIT_BYTES >> 20
                ),
            };
            return Err(CallError(format!("File: {}\n{why}", self.wanted.source)));
        }
        let last = column + part.chars().count() - 1;
        let (all, is_last) = match known {
            KnownLength::Whole => (total.to_string(), last >= total),
            KnownLength::AtLeast => (format!("more than {total}"), false),
        };
        let more = if is_last {
            String::new()
        } else {
            format!(" To read on: offset={line} and column={}.", last + 1)
        };
        Ok(format!("Line {line}, characters {column}-{last} of {all}.{more}\n\n{line} | {part}"))
    }

    fn render(
        &self,
        part: &FilePart,
        mut view: FileView<'_>,
        room_bytes: usize,
    ) -> Result<String, CallError> {
        if let Some(column) = self.wanted.column {
            return self.line_part(&view, (column, KnownLength::Whole), room_bytes);
        }
        if view.range().is_none() {
            return Ok(format!("The lines there are blank (total: {} lines).", view.total_lines));
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

/// Takes lines out of a file that is text; `None` for another one.
fn scan_text(
    file: File,
    ranges: &[LineRange],
    limits: ScanLimits,
) -> io::Result<Option<LargeScan>> {
    let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
    let start = file.fill_buf()?;
    if is_binary(start) || ImageKind::of(start).is_some() {
        return Ok(None);
    }
    scan(file, ranges, limits).map(Some)
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
