//! The one engine behind the tools that change a part of a file: what is to be done with its text,
//! and what comes of it.
//!
//! In: the file's text and a [`FileChange`]. Out: the new text and what changed, or why nothing
//! did. What is found letter for letter comes first, a place that is not meant without doubt is
//! refused, and a number that alone says where is asked about. Pure; [`file_edit`] does it to a
//! file.

pub mod file_edit;
pub mod insertion;
pub mod notebook;
pub(crate) mod pattern;
pub mod replacement;
pub mod search;
pub mod template;
pub mod texts;

use serde::{Deserialize, Serialize};

use crate::tools::files::apply_diff::miss::SoughtText;
use crate::tools::files::apply_diff::{
    AppliedDiff, DiffError, NearCopies, TargetText, Tolerance, apply_with,
};
use crate::tools::files::edit::insertion::{Insertion, InsertionError, InsertionPlace};
use crate::tools::files::edit::notebook::{CellEdit, CellRef, NotebookError};
use crate::tools::files::edit::replacement::EditWork;
use crate::tools::files::edit::search::{SearchEdit, SearchError};
use crate::tools::files::edit::texts::{TextEdit, TextError};

/// What is to be done with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// SEARCH/REPLACE blocks, as written.
    Blocks(String),
    /// Texts to replace one after another, all or none.
    Texts(Vec<TextEdit>),
    /// Lines to put in.
    Insertion(Insertion),
    /// A text or a pattern to replace as often as it is said to stand there.
    Search(SearchEdit),
    /// A cell of a notebook to change.
    Cell(CellEdit),
}

impl FileChange {
    /// Finds mistakes that need no file to be seen.
    ///
    /// # Errors
    /// When a pattern or its replacement is wrong.
    pub fn check(&self) -> Result<(), SearchError> {
        match self {
            Self::Search(search) => search.check(),
            Self::Blocks(_) | Self::Texts(_) | Self::Insertion(_) | Self::Cell(_) => Ok(()),
        }
    }

    /// Whether it is answered by what the file holds, so that guesses would find out its content:
    /// of a part of a line, a pattern or a cell, that it is there.
    pub fn reads(&self) -> bool {
        match self {
            Self::Texts(_) | Self::Search(_) | Self::Cell(_) => true,
            Self::Blocks(_) | Self::Insertion(_) => false,
        }
    }

    /// Whether only what the file holds gives its place a meaning: a number.
    pub fn counts(&self) -> bool {
        match self {
            Self::Insertion(insertion) => {
                matches!(insertion.place, InsertionPlace::Before { lines: None, .. })
            }
            Self::Search(search) => search.within.is_some(),
            Self::Cell(cell) => {
                matches!(cell.cell, CellRef::Number(_) | CellRef::IdOrNumber(..))
            }
            Self::Blocks(_) | Self::Texts(_) => false,
        }
    }
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChangeError {
    /// The blocks do not fit.
    #[error(transparent)]
    Blocks(#[from] DiffError),
    /// One of the texts does not fit.
    #[error("{}{why}{}", of_several(*.number, *.count), behind_others(*.number))]
    Text {
        /// Which one, counted from 1.
        number: usize,
        /// How many there are.
        count: usize,
        /// What is wrong with it.
        why: TextError,
    },
    /// The lines cannot be put in.
    #[error(transparent)]
    Insertion(#[from] InsertionError),
    /// What is searched for is not there, or more often than was said.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The cell cannot be changed.
    #[error(transparent)]
    Notebook(#[from] NotebookError),
}

impl ChangeError {
    /// Whether it is a question: the same call sent again is done.
    pub fn is_question(&self) -> bool {
        match self {
            Self::Blocks(error) => matches!(error, DiffError::Unconfirmed(_)),
            Self::Text { why, .. } => why.is_question(),
            Self::Insertion(error) => error.is_question(),
            Self::Search(error) => matches!(error, SearchError::NearCopies { .. }),
            Self::Notebook(error) => matches!(error, NotebookError::Unconfirmed { .. }),
        }
    }
}

fn of_several(number: usize, count: usize) -> String {
    match count {
        1 => String::new(),
        _ => format!("edit {number} of {count} does not fit, and all are made or none: "),
    }
}

/// The file itself is as it was.
fn behind_others(number: usize) -> &'static str {
    match number {
        1 => "",
        _ => "\n(Lines of the file are shown as the edits before this one would leave them.)",
    }
}

/// Applies a change to a file's text.
///
/// # Errors
/// When it does not fit.
pub fn change(
    original: &str,
    change: &FileChange,
    near_copies: NearCopies,
) -> Result<AppliedDiff, ChangeError> {
    let tolerance = Tolerance { near_copies, ..Tolerance::default() };
    let sought = match change {
        FileChange::Blocks(diff) => return Ok(apply_with(original, diff, tolerance)?),
        FileChange::Insertion(_) => SoughtText::Anchor,
        FileChange::Texts(_) | FileChange::Search(_) | FileChange::Cell(_) => SoughtText::OldText,
    };
    let mut file = TargetText::new(original, tolerance, sought);
    match change {
        FileChange::Blocks(_) => {}
        FileChange::Texts(edits) => {
            let mut work = EditWork::default();
            for (at, edit) in edits.iter().enumerate() {
                let fault = |why| ChangeError::Text { number: at + 1, count: edits.len(), why };
                file.replace_text(edit, &mut work).map_err(fault)?;
            }
        }
        FileChange::Insertion(insertion) => file.insert(insertion)?,
        FileChange::Search(search) => file.search(search)?,
        FileChange::Cell(cell) => file.change_cell(cell)?,
    }
    Ok(file.applied())
}
