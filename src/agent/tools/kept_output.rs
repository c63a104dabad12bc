//! `KeptOutput`: where the whole of an answer is that the model was shown a part of.
//!
//! In: what a session kept beside its journal. Out: the number it is read by. The session keeps it,
//! `read_file` and `search_files` open it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tools::shown_text::shown_name;
use crate::tools::{CallError, ToolContext};

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

/// Returns the number in a path such as `output://3`; `None` for other paths.
///
/// # Errors
/// When no number stands there.
pub(crate) fn output_number(path: &str) -> Option<Result<u32, CallError>> {
    let number = path.trim().strip_prefix(OUTPUT_SCHEME)?;
    Some(number.parse().map_err(|_| no_output(shown_name(path))))
}

/// Reads an answer that the session keeps whole.
///
/// # Errors
/// When the task has none of that number.
pub(crate) fn read_output(number: u32, context: ToolContext<'_>) -> Result<String, CallError> {
    let text = context.given.outputs.and_then(|read| read(number));
    text.ok_or_else(|| no_output(&format!("{OUTPUT_SCHEME}{number}")))
}

fn no_output(path: &str) -> CallError {
    CallError(format!(
        "There is no `{path}` for this task; `{OUTPUT_SCHEME}` takes a number that stands in an \
         answer that was shortened."
    ))
}

/// Reads answers that are kept whole, by their numbers.
pub type OutputReader = Arc<dyn Fn(u32) -> Option<String> + Send + Sync>;
