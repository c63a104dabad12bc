//! The memory across runs, as models use it: notes that earlier runs kept. Where the notes lie
//! between runs is not known here.

pub mod entry;
