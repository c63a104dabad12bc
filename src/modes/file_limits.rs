//! `FileLimits`: which files a mode may read and edit, and why it may not touch one. In: a path;
//! out: the limit that keeps the mode from it. The restrictions of its groups come on top, in
//! `access`.

use serde::Serialize;

use crate::file_regex::FileRegex;

/// Which files a mode may read and edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileLimits {
    /// Where there are any, a file that is read or edited has to match one of them.
    #[serde(rename = "allowedFilePaths", skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<FileRegex>,
    /// A file that matches one of them is neither read nor edited.
    #[serde(rename = "disallowedFilePaths", skip_serializing_if = "Vec::is_empty")]
    pub disallowed: Vec<FileRegex>,
    /// Where there are any, an edited file has to match one of them.
    #[serde(rename = "fileRestrictions", skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<FileRegex>,
}

/// What a mode does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// It is shown its content, or its name.
    Read,
    /// It creates, changes or deletes it.
    Edit,
}

/// What it is for a file to match a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLimit {
    /// Only such files.
    Only,
    /// Never such files.
    Never,
}

/// A file a mode may not touch. The message names mode, pattern, description and path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Tool '{tool}' in mode '{mode}' {} files matching pattern: {pattern}{}. Got: {path}", phrase(*.limit, *.used), description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default())]
pub struct FileRestrictionError {
    /// Name of the tool.
    pub tool: Box<str>,
    /// Display name of the mode.
    pub mode: String,
    /// Pattern of the restriction.
    pub pattern: Box<str>,
    /// What it is to match the pattern.
    pub limit: FileLimit,
    /// What the tool wanted with the file.
    pub used: FileUse,
    /// What the pattern means.
    pub description: Option<String>,
    /// The requested path.
    pub path: String,
}

/// Returns what a limit says a mode may do with the files it is about.
pub(crate) fn phrase(limit: FileLimit, used: FileUse) -> &'static str {
    match (limit, used) {
        (FileLimit::Only, FileUse::Read) => "can only read",
        (FileLimit::Only, FileUse::Edit) => "can only edit",
        (FileLimit::Never, FileUse::Read) => "cannot read",
        (FileLimit::Never, FileUse::Edit) => "cannot edit",
    }
}

impl FileLimits {
    /// Returns the limit that keeps a mode from a file, and its pattern.
    pub(crate) fn refusing(&self, used: FileUse, path: &str) -> Option<(FileLimit, String)> {
        let lists = [Some(&self.allowed), Some(&self.edited).filter(|_| used == FileUse::Edit)];
        let missed = |list: &&Vec<FileRegex>| {
            !list.is_empty() && !list.iter().any(|regex| regex.matches(path))
        };
        if let Some(list) = lists.into_iter().flatten().find(missed) {
            return Some((FileLimit::Only, joined(list)));
        }
        // NOTE: a search that was given up counts as a match, so that it never lets a path through.
        let named = self.disallowed.iter().find(|regex| regex.may_match(path))?;
        Some((FileLimit::Never, named.source().to_owned()))
    }

    /// Returns every limit on one use, each with its patterns.
    pub(crate) fn of(&self, used: FileUse) -> Vec<(FileLimit, String)> {
        let only = [Some(&self.allowed), Some(&self.edited).filter(|_| used == FileUse::Edit)];
        let only = only.into_iter().flatten().map(|list| (FileLimit::Only, list));
        only.chain([(FileLimit::Never, &self.disallowed)])
            .filter(|(_, list)| !list.is_empty())
            .map(|(limit, list)| (limit, joined(list)))
            .collect()
    }

    /// Returns true when everything these limits keep from is kept from by the others, as far as
    /// the texts of the patterns show it.
    pub(crate) fn are_kept_by(&self, others: &Self) -> bool {
        let only = |own: &[FileRegex], others: &[FileRegex]| {
            own.is_empty() || (!others.is_empty() && others.iter().all(|other| own.contains(other)))
        };
        only(&self.allowed, &others.allowed)
            && only(&self.edited, &others.edited)
            && self.disallowed.iter().all(|regex| others.disallowed.contains(regex))
    }
}

fn joined(patterns: &[FileRegex]) -> String {
    patterns.iter().map(FileRegex::source).collect::<Vec<_>>().join(" or ")
}
