//! A file's text while it is edited: its lines, where given lines stand in it, how deep new ones
//! are indented, and what became of it. Pure; apply_diff, apply_patch and write_to_file share it.

pub mod blank;
pub mod echo;
pub(crate) mod excerpt;
pub mod indent;
pub(crate) mod kept_ends;
pub mod lines;
pub mod omission;
pub mod placeholder;
pub mod stand;
