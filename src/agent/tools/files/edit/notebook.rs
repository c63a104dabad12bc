//! Cells of a Jupyter notebook: one is replaced, put in or taken out, and everything else of the
//! file stays byte for byte.
//!
//! Cells are found in the text itself, so that order, blanks and escapes of what is not named stay.
//! New parts are written as `nbformat` writes them, with the file's own indentation. A replaced
//! code cell loses its outputs, which are those of other code.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::tools::files::apply_diff::{NearCopies, TargetText};
use crate::tools::files::known::content_hash;
use locum_base::text::head;

/// Most cells named in a message.
const NAMED_LIMIT: usize = 12;

/// Most bytes shown of a cell that is asked about.
const SHOWN_LIMIT_BYTES: usize = 200;

/// A change of one cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellEdit {
    /// The cell.
    pub cell: CellRef,
    /// What is to be done.
    pub action: CellAction,
}

/// Which cell is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellRef {
    /// The one with this `id`.
    Id(String),
    /// The one at this number, counted from 0.
    Number(usize),
    /// The one with this `id`, or where none has it, the one at the number that the id stands for.
    IdOrNumber(String, usize),
    /// None: the beginning of the notebook.
    Beginning,
}

/// What is done with a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellAction {
    /// It gets another source, and another type where one is given.
    Replace {
        /// The whole source.
        source: String,
        /// The type.
        kind: Option<CellKind>,
    },
    /// A new cell follows it.
    Insert {
        /// The whole source.
        source: String,
        /// The type.
        kind: CellKind,
    },
    /// It goes.
    Delete,
}

/// The type of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// Code.
    Code,
    /// Text.
    Markdown,
    /// Neither.
    Raw,
}

impl CellKind {
    /// Returns its name in a notebook.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

/// Why no cell was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotebookError {
    /// The file is something else.
    #[error("it is not a notebook of nbformat 4: {0}")]
    NotANotebook(String),
    /// There is no such cell.
    #[error("the notebook has no cell {wanted}; it has {}", cells(.ids))]
    NoCell {
        /// What was looked for.
        wanted: String,
        /// The cells there are: their ids or numbers.
        ids: Vec<String>,
    },
    /// Several cells have the id.
    #[error(
        "the cells {} have the id `{id}`; give `cell_number` for the one that is meant",
        .numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    )]
    Several {
        /// The id.
        id: String,
        /// Their numbers.
        numbers: Vec<usize>,
    },
    /// A number alone says which.
    #[error(
        "cell {number} is meant, and only a number says so. Send the same call again if that is \
         right{}. The cell:\n{shown}",
        .id.as_ref().map_or(String::new(), |id| format!(", or give `cell_id: {id}`"))
    )]
    Unconfirmed {
        /// The number.
        number: usize,
        /// The cell's id, where it has one.
        id: Option<String>,
        /// The begin of its source.
        shown: String,
    },
    /// It is that already.
    #[error("nothing would change: the cell has this source already")]
    Identical,
}

fn cells(ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED_LIMIT).map(|id| format!("`{id}`")).collect();
    match (ids.len(), ids.len().saturating_sub(NAMED_LIMIT)) {
        (0, _) => "none".to_owned(),
        (_, 0) => named.join(", "),
        (_, more) => format!("{} and {more} more", named.join(", ")),
    }
}

#[derive(Deserialize)]
struct Notebook<'t> {
    #[serde(borrow)]
    cells: &'t RawValue,
    nbformat: u32,
    #[serde(default)]
    nbformat_minor: u32,
}

/// What is read of a cell; every part is a slice of the file.
#[derive(Deserialize)]
struct Cell<'t> {
    #[serde(borrow, default)]
    id: Option<&'t RawValue>,
    #[serde(borrow)]
    cell_type: &'t RawValue,
    #[serde(borrow)]
    source: &'t RawValue,
    #[serde(borrow, default)]
    metadata: Option<&'t RawValue>,
    #[serde(borrow, default)]
    outputs: Option<&'t RawValue>,
    #[serde(borrow, default)]
    execution_count: Option<&'t RawValue>,
}

impl Cell<'_> {
    fn id(&self) -> Option<String> {
        serde_json::from_str(self.id?.get()).ok()
    }
}

/// A notebook's text, with its cells.
struct NotebookText<'t> {
    text: &'t str,
    /// The list of cells.
    list: &'t RawValue,
    cells: Vec<(&'t RawValue, Cell<'t>)>,
    /// Whether cells have an id.
    has_ids: bool,
}

impl TargetText<'_> {
    /// Changes a cell of a notebook.
    pub(super) fn change_cell(&mut self, edit: &CellEdit) -> Result<(), NotebookError> {
        let text = self.edited.lines().join("\n");
        let notebook = NotebookText::parse(&text)?;
        let at = notebook.find(&edit.cell)?;
        if self.tolerance.near_copies == NearCopies::Ask
            && let Some(number) = at.filter(|_| !notebook.has_id(&edit.cell))
            && let Some((_, cell)) = notebook.cells.get(number)
        {
            let source = source_lines(cell.source)?.concat();
            let shown = head(&source, SHOWN_LIMIT_BYTES).to_owned();
            return Err(NotebookError::Unconfirmed { number, id: cell.id(), shown });
        }
        let parts = match (&edit.action, at) {
            (CellAction::Replace { source, kind }, Some(at)) => {
                notebook.replaced(at, source, *kind)?
            }
            (CellAction::Insert { source, kind }, at) => vec![notebook.inserted(at, source, *kind)],
            (CellAction::Delete, Some(at)) => vec![notebook.deleted(at)],
            (CellAction::Replace { .. } | CellAction::Delete, None) => {
                return Err(notebook.no_cell("without `cell_id`"));
            }
        };
        let after = spliced(&text, parts);
        NotebookText::parse(&after)?;
        let lines = after.split('\n').map(str::to_owned).collect();
        if self.edited.replace(0..self.edited.lines().len(), lines) {
            Ok(())
        } else {
            Err(NotebookError::Identical)
        }
    }
}

/// A part of a text and what takes its place.
type Splice = (Range<usize>, String);

fn spliced(text: &str, mut parts: Vec<Splice>) -> String {
    parts.sort_by_key(|(range, _)| range.start);
    let mut after = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in parts {
        after.push_str(text.get(at..range.start).unwrap_or_default());
        after.push_str(&new);
        at = range.end;
    }
    after.push_str(text.get(at..).unwrap_or_default());
    after
}

impl<'t> NotebookText<'t> {
    fn parse(text: &'t str) -> Result<Self, NotebookError> {
        let wrong = |error: serde_json::Error| NotebookError::NotANotebook(error.to_string());
        let Notebook { cells: list, nbformat, nbformat_minor } =
            serde_json::from_str(text).map_err(wrong)?;
        if nbformat != 4 {
            let why = format!("`nbformat` is {nbformat}");
            return Err(NotebookError::NotANotebook(why));
        }
        let raw: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(wrong)?;
        let read = |raw: &'t RawValue| Ok((raw, serde_json::from_str(raw.get()).map_err(wrong)?));
        let cells = raw.into_iter().map(read).collect::<Result<_, NotebookError>>()?;
        Ok(Self { text, list, cells, has_ids: nbformat_minor >= 5 })
    }

    /// Returns the number of the cell that is meant; `None` for the beginning.
    fn find(&self, cell: &CellRef) -> Result<Option<usize>, NotebookError> {
        let id = match cell {
            CellRef::Beginning => return Ok(None),
            CellRef::Number(number) if *number < self.cells.len() => return Ok(Some(*number)),
            CellRef::Number(number) => return Err(self.no_cell(&number.to_string())),
            CellRef::IdOrNumber(_, number) if !self.has_id(cell) => {
                return self.find(&CellRef::Number(*number));
            }
            CellRef::Id(id) | CellRef::IdOrNumber(id, _) => id,
        };
        let found = self.with_id(id);
        match found.as_slice() {
            [] => Err(self.no_cell(&format!("`{id}`"))),
            [at] => Ok(Some(*at)),
            _ => Err(NotebookError::Several { id: id.clone(), numbers: found }),
        }
    }

    /// Returns the numbers of the cells that have an id.
    fn with_id(&self, id: &str) -> Vec<usize> {
        let cells = self.cells.iter().enumerate();
        cells.filter(|(_, (_, cell))| cell.id().as_deref() == Some(id)).map(|(at, _)| at).collect()
    }

    /// Whether a cell is named by an id that there is.
    fn has_id(&self, cell: &CellRef) -> bool {
        match cell {
            CellRef::Id(id) | CellRef::IdOrNumber(id, _) => !self.with_id(id).is_empty(),
            CellRef::Number(_) | CellRef::Beginning => false,
        }
    }

    fn no_cell(&self, wanted: &str) -> NotebookError {
        let names = self.cells.iter().enumerate();
        let ids = names.map(|(at, (_, cell))| cell.id().unwrap_or_else(|| at.to_string()));
        NotebookError::NoCell { wanted: wanted.to_owned(), ids: ids.collect() }
    }

    /// Returns where a part lies in the text.
    fn range(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr().addr() - self.text.as_ptr().addr();
        start..start + part.get().len()
    }

    /// Returns what a line begins with before a part; `None` where the part begins no line.
    fn indent(&self, at: usize) -> Option<&'t str> {
        let before = self.text.get(..at)?;
        let line = before.get(before.rfind('\n')? + 1..)?;
        line.chars().all(|letter| matches!(letter, ' ' | '\t')).then_some(line)
    }

    /// Returns how the lines of cells are indented: the cell, what is in it, one step; `None` where
    /// all is on one line.
    fn depths(&self) -> Option<(String, String, String)> {
        let Some((raw, cell)) = self.cells.first() else {
            let inner = self.text.find('"').and_then(|at| self.indent(at))?;
            return Some((inner.repeat(2), inner.repeat(3), inner.to_owned()));
        };
        let outer = self.indent(self.range(raw).start)?;
        let key = self.range(cell.cell_type).start;
        let line = self.text.get(..key)?.rfind('\n')? + 1;
        let inner: String = self
            .text
            .get(line..key)?
            .chars()
            .take_while(|letter| matches!(letter, ' ' | '\t'))
            .collect();
        let step = inner.strip_prefix(outer)?.to_owned();
        (!step.is_empty()).then(|| (outer.to_owned(), inner, step))
    }

    fn replaced(
        &self,
        at: usize,
        source: &str,
        kind: Option<CellKind>,
    ) -> Result<Vec<Splice>, NotebookError> {
        let Some((raw, cell)) = self.cells.get(at) else {
            return Err(self.no_cell(&at.to_string()));
        };
        let old = source_lines(cell.source)?;
        let is_other = |kind: &CellKind| cell.cell_type.get() != format!("\"{}\"", kind.as_str());
        if let Some(kind) = kind.filter(is_other) {
            return Ok(vec![(self.range(raw), self.written(Some(cell), source, kind))]);
        }
        if old.concat() == source {
            return Err(NotebookError::Identical);
        }
        let new = self.written_source(Some(cell.source), source);
        let mut parts = vec![(self.range(cell.source), new)];
        let outputs = cell.outputs.filter(|outputs| outputs.get() != "[]");
        parts.extend(outputs.map(|outputs| (self.range(outputs), "[]".to_owned())));
        let count = cell.execution_count.filter(|count| count.get() != "null");
        parts.extend(count.map(|count| (self.range(count), "null".to_owned())));
        Ok(parts)
    }

    /// Puts a cell behind another, or at the beginning.
    fn inserted(&self, after: Option<usize>, source: &str, kind: CellKind) -> Splice {
        let cell = self.written(None, source, kind);
        let depths = self.depths();
        let between = depths.as_ref().map_or(",".to_owned(), |(outer, _, _)| format!(",\n{outer}"));
        let first = self.cells.first().map(|(raw, _)| self.range(raw).start);
        match (after.and_then(|at| self.cells.get(at)), first) {
            (Some((raw, _)), _) => {
                let end = self.range(raw).end;
                (end..end, format!("{between}{cell}"))
            }
            (None, Some(start)) => (start..start, format!("{cell}{between}")),
            (None, None) => {
                let new = match depths {
                    Some((outer, _, step)) => format!("[\n{outer}{cell}\n{step}]"),
                    None => format!("[{cell}]"),
                };
                (self.range(self.list), new)
            }
        }
    }

    fn deleted(&self, at: usize) -> Splice {
        let range = |at: usize| self.cells.get(at).map(|(raw, _)| self.range(raw));
        let before = at.checked_sub(1).and_then(range);
        match (before, range(at), range(at + 1)) {
            (Some(before), Some(own), _) => (before.end..own.end, String::new()),
            (None, Some(own), Some(next)) => (own.start..next.start, String::new()),
            (_, _, _) => (self.range(self.list), "[]".to_owned()),
        }
    }

    /// Writes a cell; `like` is the one it stands for, whose id and metadata it keeps.
    fn written(&self, like: Option<&Cell<'_>>, source: &str, kind: CellKind) -> String {
        let depths = self.depths();
        let empty = "{}".to_owned();
        let metadata = like.and_then(|cell| cell.metadata).map_or(empty, |it| it.get().to_owned());
        let id = match like {
            Some(cell) => cell.id.map(|id| id.get().to_owned()),
            None => self.has_ids.then(|| format!("\"{}\"", self.new_id(source))),
        };
        let is_code = kind == CellKind::Code;
        let keys = [
            ("cell_type", Some(format!("\"{}\"", kind.as_str()))),
            ("execution_count", is_code.then(|| "null".to_owned())),
            ("id", id),
            ("metadata", Some(metadata)),
            ("outputs", is_code.then(|| "[]".to_owned())),
            ("source", Some(self.written_source(None, source))),
        ];
        let keys = keys.into_iter().filter_map(|(key, value)| Some((key, value?)));
        match depths {
            Some((outer, inner, _)) => {
                let lines: Vec<String> =
                    keys.map(|(key, value)| format!("{inner}\"{key}\": {value}")).collect();
                format!("{{\n{}\n{outer}}}", lines.join(",\n"))
            }
            None => {
                let parts: Vec<String> =
                    keys.map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", parts.join(","))
            }
        }
    }

    /// Writes a source as the one it stands for is: as a list of lines, or as one text. Lines that
    /// stay are written as they are.
    fn written_source(&self, like: Option<&RawValue>, source: &str) -> String {
        let quoted = |line: &str| serde_json::Value::from(line).to_string();
        if like.is_some_and(|like| like.get().starts_with('"')) {
            return quoted(source);
        }
        let known: Vec<&RawValue> =
            like.and_then(|like| serde_json::from_str(like.get()).ok()).unwrap_or_default();
        // Of lines written in two ways, the first way counts.
        let known: BTreeMap<String, &RawValue> = known
            .into_iter()
            .rev()
            .filter_map(|raw| Some((serde_json::from_str(raw.get()).ok()?, raw)))
            .collect();
        let as_known =
            |line: &str| known.get(line).map_or_else(|| quoted(line), |raw| raw.get().to_owned());
        let lines: Vec<String> = source.split_inclusive('\n').map(as_known).collect();
        match self.depths() {
            _ if lines.is_empty() => "[]".to_owned(),
            Some((_, inner, step)) => {
                let item = format!("\n{inner}{step}");
                format!("[{item}{}\n{inner}]", lines.join(&format!(",{item}")))
            }
            None => format!("[{}]", lines.join(",")),
        }
    }

    /// Returns an id that no cell has, the same for the same notebook and source.
    fn new_id(&self, source: &str) -> String {
        let ids: Vec<String> = self.cells.iter().filter_map(|(_, cell)| cell.id()).collect();
        let mut salt = ids.len();
        loop {
            let hash = content_hash(format!("{salt}\n{source}").as_bytes());
            let id = head(&hash, 8).to_owned();
            if !ids.contains(&id) {
                return id;
            }
            salt += 1;
        }
    }
}

/// Returns the lines of a source, which is a list of texts or one text.
fn source_lines(source: &RawValue) -> Result<Vec<String>, NotebookError> {
    let one = |_| serde_json::from_str(source.get()).map(|text: String| vec![text]);
    serde_json::from_str(source.get())
        .or_else(one)
        .map_err(|error| NotebookError::NotANotebook(format!("a cell's source: {error}")))
}

#[cfg(test)]
mod tests;
