//! `MarkdownTable`: a table as rows of Markdown, or as texts one after another where it only
//! arranges them.
//!
//! In: cells, row by row. Out: lines. Cells that span rows or columns leave empty ones beside them.

/// Elements that no table of data holds.
const ARRANGED: &[&str] =
    &["table", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "form", "article", "section"];

/// Longest text of a cell of data, in bytes and in lines.
const CELL_LIMIT_BYTES: usize = 2000;
const CELL_LINES_LIMIT: usize = 20;

/// Columns in which cells that span others leave empty ones, and how many of a table.
const SPANNED_COLUMNS: usize = 16;
const SPANNED_LIMIT: usize = 10_000;

/// Most rows that a cell spans.
const ROWS_SPANNED_LIMIT: usize = 1000;

/// Returns whether the table that begins here holds data: cells without parts of a page in them.
pub(super) fn holds_data(after: &str) -> bool {
    let is_tag = |tail: &str, name: &str| {
        let next = tail.get(name.len()..).and_then(|rest| rest.chars().next());
        tail.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            && next.is_none_or(|next| !next.is_ascii_alphanumeric())
    };
    let tails = after.match_indices('<').map(|(at, _)| after.get(at + 1..).unwrap_or_default());
    for tail in tails {
        if is_tag(tail, "/table") {
            return true;
        }
        if ARRANGED.iter().any(|name| is_tag(tail, name)) {
            return false;
        }
    }
    false
}

/// What a table comes to.
pub(super) enum TableContent {
    /// Rows of Markdown.
    Rows(String),
    /// Texts, one after another.
    Texts(Vec<String>),
}

#[derive(Debug, Default)]
struct TableRow {
    cells: Vec<String>,
    is_head: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct MarkdownTable {
    rows: Vec<TableRow>,
    row: Vec<String>,
    /// Whether all cells of the row are heads of columns.
    is_head: bool,
    /// Whether the row is in the table's head.
    in_head: bool,
    /// Columns and rows that the open cell takes.
    spans: (usize, usize),
    /// How many rows each column is taken for.
    taken: Vec<usize>,
    /// How many cells were left empty.
    spanned: usize,
}

impl MarkdownTable {
    /// Ends the row, and says where a part of the table begins or ends whether it is the head.
    pub(super) fn close_row(&mut self, in_head: Option<bool>) {
        for column in self.taken.iter_mut().skip(self.row.len()) {
            *column = column.saturating_sub(1);
        }
        let cells = std::mem::take(&mut self.row);
        if cells.iter().any(|cell| !cell.is_empty()) {
            let is_head = self.is_head || self.in_head;
            self.rows.push(TableRow { cells, is_head });
        }
        self.in_head = in_head.unwrap_or(self.in_head);
    }

    /// Opens a cell.
    pub(super) fn open_cell(&mut self, is_head: bool, spans: (usize, usize)) {
        self.is_head = is_head && (self.is_head || self.row.is_empty());
        self.spans = spans;
    }

    /// Takes the text of the cell.
    pub(super) fn cell(&mut self, text: String) {
        while let Some(taken) = self.taken.get_mut(self.row.len()).filter(|taken| **taken > 0) {
            *taken -= 1;
            if self.spanned >= SPANNED_LIMIT {
                break;
            }
            self.spanned += 1;
            self.row.push(String::new());
        }
        let start = self.row.len();
        self.row.push(text);
        for _ in 1..self.spans.0 {
            if self.row.len() >= SPANNED_COLUMNS || self.spanned >= SPANNED_LIMIT {
                break;
            }
            self.spanned += 1;
            self.row.push(String::new());
        }
        let rows = self.spans.1.clamp(1, ROWS_SPANNED_LIMIT) - 1;
        let end = self.row.len();
        if rows > 0 && end <= SPANNED_COLUMNS {
            self.taken.resize(self.taken.len().max(end), 0);
            self.taken.iter_mut().take(end).skip(start).for_each(|taken| *taken = rows);
        }
    }

    /// Returns what it comes to.
    pub(super) fn finish(mut self) -> TableContent {
        self.close_row(None);
        let columns = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or_default();
        let is_long = |cell: &String| {
            cell.len() > CELL_LIMIT_BYTES || cell.lines().count() > CELL_LINES_LIMIT
        };
        if columns < 2 || self.rows.iter().flat_map(|row| &row.cells).any(is_long) {
            let texts = self.rows.into_iter().flat_map(|row| row.cells);
            return TableContent::Texts(texts.filter(|text| !text.is_empty()).collect());
        }
        let line = |cells: &[String], columns: usize| {
            let mut line = "|".to_owned();
            for at in 0..columns {
                let cell = cells.get(at).map(|cell| on_one_line(cell)).unwrap_or_default();
                line.push_str(&format!(" {cell} |"));
            }
            line + "\n"
        };
        let (heads, rows) = match self.rows.split_first() {
            Some((first, rows)) if first.is_head => (first.cells.as_slice(), rows),
            _ => (&[][..], self.rows.as_slice()),
        };
        let mut text = line(heads, columns) + "|" + &"---|".repeat(columns) + "\n";
        rows.iter().for_each(|row| text.push_str(&line(&row.cells, row.cells.len())));
        TableContent::Rows(text)
    }
}

/// Returns a cell's text as it stands in a row.
fn on_one_line(cell: &str) -> String {
    let lines: Vec<&str> = cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("<br>").replace('|', "\\|")
}
