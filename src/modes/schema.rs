//! A mode file as written.
