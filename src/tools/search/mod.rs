//! Tools that search.
