//! Tools on files: read, list, write, apply_diff.
