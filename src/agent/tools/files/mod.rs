//! Tools on files: read, list, write, edit, move, delete.

pub mod apply_diff;
pub mod apply_patch;
pub mod delete_file;
pub mod edit;
pub mod edit_tool;
pub mod generate;
pub mod insert_content;
pub mod known;
pub mod list;
pub mod move_file;
pub mod multi_edit;
pub mod notebook_edit;
pub mod overwrite;
pub mod read;
pub mod search_and_replace;
pub mod text;
pub mod write;

/// Largest file that is read or edited, in bytes.
pub const FILE_LIMIT_BYTES: u64 = 10 * 1024 * 1024;

/// Bytes at the start of a file in which a NUL makes it a binary one.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// Returns true when a file's content is not text.
pub fn is_binary(content: &[u8]) -> bool {
    content.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0)
}
