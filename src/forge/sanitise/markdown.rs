//! The blocks of a Markdown text: which lines are code and which are not, written so that every
//! reader of Markdown agrees.
//!
//! Only fences that open plainly count as code; their content is kept under their indentation, so
//! that no list can end inside them; what is left open is closed at the end. Everything else goes
//! through `inline`.

use crate::sanitise::TextRules;
use crate::sanitise::inline::{InlineMode, allowed_tag, comment_end, skip_containers, write_line};

/// Returns the text with everything outside code made harmless.
pub(super) fn neutralise(text: &str, rules: &TextRules) -> String {
    let mut blocks = Blocks { out: String::with_capacity(text.len() + 64), ..Blocks::default() };
    let mut tables = TableScan::default();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        if blocks.fence.is_none()
            && let Some(skipped) = blocks.hidden(rest, line, rules)
        {
            at += skipped;
            continue;
        }
        let in_table = blocks.fence.is_none() && tables.holds(text, at);
        blocks.line(rest, in_table, rules);
        at += line.len();
        if rest.len() > line.len() {
            blocks.out.push('\n');
            at += 1;
        }
    }
    blocks.close()
}

/// Code between two fences, as every part of this program reads it.
#[derive(Clone, Copy, Debug)]
pub struct CodeFence {
    letter: char,
    length: usize,
    /// Blanks in front of it, and so in front of every line of it.
    column: usize,
}

impl CodeFence {
    /// Returns the fence that a line opens, also behind list markers.
    pub fn opened_by(line: &str) -> Option<Self> {
        opening(line).map(|opening| opening.fence)
    }

    /// Whether a line of its code ends it.
    pub fn is_closed_by(&self, line: &str) -> bool {
        let (column, content) = indentation(line);
        let marks = content.trim_end();
        column <= self.column + 3
            && marks.len() >= self.length
            && marks.chars().all(|letter| letter == self.letter)
    }

    /// Whether it stands in the first column, where it ends every list and quote before it.
    pub fn is_outermost(&self) -> bool {
        self.column == 0
    }

    /// Whether a line is its code whatever list it stands in, or none: for a fence with blanks
    /// alone in front of it, few enough to be no indented code.
    pub fn holds(&self, line: &str) -> bool {
        self.column <= 3 && indentation(line).0 >= self.column
    }

    /// Returns the line that closes it.
    pub fn closing(&self) -> String {
        " ".repeat(self.column) + &self.letter.to_string().repeat(self.length)
    }
}

#[derive(Default)]
struct Blocks {
    out: String,
    fence: Option<CodeFence>,
    /// True from a line that starts with a tag to the next blank line: there backticks are only
    /// letters.
    raw: bool,
    /// How many `<details>` are open.
    details: i32,
    /// True once the end of a comment was looked for in vain.
    comments_never_end: bool,
    /// The own markers written so far.
    markers: usize,
}

impl Blocks {
    /// Leaves out a comment at the start of a line, unless it is a marker of ours. Returns how much
    /// of the text is dealt with.
    fn hidden(&mut self, rest: &str, line: &str, rules: &TextRules) -> Option<usize> {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let inner = line.get(indent..)?.strip_prefix("<!--").filter(|_| indent <= 3)?;
        if rules.markers.iter().any(|marker| marker == line)
            && self.markers < rules.markers.len()
            && !inner.strip_suffix("-->")?.contains("--")
        {
            self.markers += 1;
            self.out.push_str(line);
            let newline = usize::from(rest.len() > line.len());
            self.out.push_str(rest.get(line.len()..line.len() + newline)?);
            return Some(line.len() + newline);
        }
        if self.comments_never_end {
            return None;
        }
        let Some(end) = comment_end(rest.get(indent + 4..)?) else {
            self.comments_never_end = true;
            return None;
        };
        let length = indent + 4 + end;
        // A line of which nothing else is left goes with it.
        let after = rest.get(length..)?;
        let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
        let newline = after.get(blank..)?.starts_with('\n');
        Some(length + if newline { blank + 1 } else { 0 })
    }

    /// Writes the first line of `rest`.
    fn line(&mut self, rest: &str, in_table: bool, rules: &TextRules) {
        let line = rest.split('\n').next().unwrap_or_default();
        if let Some(fence) = self.fence {
            return self.code(line, fence);
        }
        if let Some(opening) = opening(line) {
            return self.open(&opening, rest);
        }
        let content = skip_containers(line);
        if content.trim().is_empty() {
            self.raw = false;
        } else if allowed_tag(content).is_some() {
            self.raw = true;
        }
        let spans = match (self.raw, in_table) {
            (true, _) => InlineMode::Raw,
            (false, true) => InlineMode::Table,
            (false, false) => InlineMode::Code,
        };
        self.details = (self.details + write_line(line, spans, rules, &mut self.out)).max(0);
    }

    fn open(&mut self, opening: &FenceOpening<'_>, rest: &str) {
        let after_text = !self.out.is_empty() && !self.out.ends_with("\n\n");
        if after_text && (self.raw || opening.needs_blank_line) {
            self.out.push('\n');
        }
        self.raw = false;
        self.out.push_str(opening.before);
        self.fence = Some(opening.fence);
        self.out.push_str(opening.fence.closing().trim_start());
        let drawn = !opening.language.eq_ignore_ascii_case("mermaid")
            || is_plain_drawing(rest, opening.fence);
        self.out.push_str(if drawn { opening.language } else { "text" });
    }

    /// Writes a line of code: under its fence's indentation, or as the fence that ends it.
    fn code(&mut self, line: &str, fence: CodeFence) {
        let (column, content) = indentation(line);
        let missing = fence.column.saturating_sub(column);
        if fence.is_closed_by(line) {
            self.fence = None;
            self.out.push_str(&fence.closing());
        } else if content.is_empty() {
            self.out.push_str(line);
        } else {
            self.out.extend(std::iter::repeat_n(' ', missing));
            self.out.push_str(line);
        }
    }

    /// Closes what is still open.
    fn close(mut self) -> String {
        if let Some(fence) = self.fence {
            if !self.out.ends_with('\n') {
                self.out.push('\n');
            }
            self.out.push_str(&fence.closing());
        }
        for _ in 0..self.details {
            self.out.push_str("\n\n</details>");
        }
        self.out
    }
}

/// Whether a diagram shows all it says, and neither leads nor loads anything from elsewhere.
fn is_plain_drawing(rest: &str, fence: CodeFence) -> bool {
    let code = rest.lines().skip(1).take_while(|line| !fence.is_closed_by(line));
    let within = ["%%", "://", "href", "@{", "<", "url("];
    let ahead = ["click ", "link ", "links ", "---"];
    code.map(|line| line.trim_start().to_ascii_lowercase()).all(|line| {
        !within.iter().any(|sign| line.contains(sign))
            && !ahead.iter().any(|sign| line.starts_with(sign))
    })
}

/// Returns the column at which a line's content begins, and that content.
fn indentation(line: &str) -> (usize, &str) {
    let content = line.trim_start_matches([' ', '\t']);
    let blanks = line.bytes().take(line.len() - content.len());
    let column =
        blanks.fold(0, |column, byte| if byte == b'\t' { column / 4 * 4 + 4 } else { column + 1 });
    (column, content)
}

/// A line that opens fenced code.
struct FenceOpening<'a> {
    /// Blanks and list markers in front of the fence.
    before: &'a str,
    fence: CodeFence,
    language: &'a str,
    /// True when it would go on with a paragraph if it followed one.
    needs_blank_line: bool,
}

/// Reads an opening fence: three blanks in front of it at most, or list markers with four blanks
/// after each at most.
fn opening(line: &str) -> Option<FenceOpening<'_>> {
    let bytes = line.as_bytes();
    let mut column = blanks(bytes, 0);
    if column > 3 {
        return None;
    }
    let mut needs_blank_line = false;
    loop {
        let digits =
            bytes.iter().skip(column).take(9).take_while(|byte| byte.is_ascii_digit()).count();
        let after = match bytes.get(column + digits)? {
            b'-' | b'*' | b'+' if digits == 0 => column + 1,
            b'.' | b')' if digits > 0 => column + digits + 1,
            b'`' | b'~' if digits == 0 => break,
            _ => return None,
        };
        needs_blank_line |= digits > 0;
        let gap = blanks(bytes, after);
        if !(1..=4).contains(&gap) {
            return None;
        }
        column = after + gap;
    }
    let letter = char::from(*bytes.get(column)?);
    let rest = line.get(column..)?;
    let length = rest.len() - rest.trim_start_matches(letter).len();
    let info = rest.get(length..)?;
    if length < 3 || (letter == '`' && info.contains('`')) {
        return None;
    }
    let word = info
        .trim()
        .split(|letter: char| {
            !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '+' | '#' | '.' | '-')
        })
        .next()
        .unwrap_or_default();
    // A map or a model can hide words, and a formula can hide what it shows.
    let language = match word.to_ascii_lowercase().as_str() {
        "math" => "latex",
        "stl" => "text",
        "geojson" | "topojson" => "json",
        _ => word.get(..word.len().min(32)).unwrap_or_default(),
    };
    Some(FenceOpening {
        before: line.get(..column)?,
        fence: CodeFence { letter, length, column },
        language,
        needs_blank_line,
    })
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    bytes.iter().skip(at).take_while(|byte| **byte == b' ').count()
}

/// Knows which lines may belong to a table: those in one block with a row of dashes.
#[derive(Default)]
struct TableScan {
    /// Where the block that was looked at last ends, and whether it holds a table.
    block_end: usize,
    holds: bool,
}

impl TableScan {
    fn holds(&mut self, text: &str, at: usize) -> bool {
        if at >= self.block_end {
            let mut end = at;
            self.holds = false;
            for line in text.get(at..).unwrap_or_default().split_inclusive('\n') {
                end += line.len();
                let content = skip_containers(line).trim();
                if line.trim().is_empty() {
                    break;
                }
                self.holds |= content.contains('-')
                    && content
                        .bytes()
                        .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'));
            }
            self.block_end = end;
        }
        self.holds
    }
}
