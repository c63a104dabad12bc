//! `local`: writes what would be posted into a folder.
