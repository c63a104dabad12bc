//! The memory across runs, as models use it: notes that earlier runs kept, read and written one by
//! one under `memory(...)` rules. Where the notes lie between runs is not known here.

pub mod entry;
pub mod read;
pub mod write;

#[cfg(test)]
mod tests;
