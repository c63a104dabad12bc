//! Shapes of numbers that several sections have.

use locum_files::shape::WholeNumber;

/// A count without a limit of its own.
pub(super) const ANY_COUNT: WholeNumber<u32> = WholeNumber { least: 0, most: u32::MAX };
