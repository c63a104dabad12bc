//! [`Position`]: a line and a column of a file.

use std::fmt;

/// Where something stands in a file; both count from 1, 0 means the whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, counted from 1.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Position {
    /// Returns the place at a line and column, as far as they can be counted.
    pub(crate) fn at(line: usize, column: usize) -> Self {
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column.saturating_add(1)).unwrap_or(u32::MAX),
        }
    }

    /// Returns the place right behind a text.
    pub fn behind(text: &str) -> Self {
        let last = text.rsplit('\n').next().unwrap_or_default();
        Self::at(text.matches('\n').count() + 1, last.chars().count())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}
