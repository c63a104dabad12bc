//! A search over source code by words: which files answer a query best, and which of their lines.
//!
//! In: texts of files, words of a query. Out: the words of each file in a form that can be kept,
//! files in their order, and chunks cut along definitions. It reads and writes no file, and shows
//! nothing that the caller did not hand over: what is kept holds hashes of words, no text.

pub mod answer;
pub mod chunk;
pub mod kept;
pub mod meaning;
pub mod query;
pub mod vectors;
pub mod words;
