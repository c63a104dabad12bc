//! `KeptOutput`: where the whole of an answer is that the model was shown a part of.
//!
//! In: what a session kept beside its journal. Out: the number it is read by. The session keeps it,
//! `read_file` opens it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What stands in front of the number of an answer that is kept whole.
pub const OUTPUT_SCHEME: &str = "output://";

/// An answer that is kept whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutput {
    /// The number that it is read by, from 1.
    pub number: u32,
    /// What it is found by beside the journal.
    pub hash: String,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Reads answers that are kept whole, by their numbers.
pub type OutputReader = Arc<dyn Fn(u32) -> Option<String> + Send + Sync>;
