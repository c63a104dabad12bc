//! Shapes of numbers that several sections have.

use locum_files::shape::SmallCount;

/// A count without a limit of its own.
pub(super) const ANY_COUNT: SmallCount = SmallCount { least: 0, most: u32::MAX };
