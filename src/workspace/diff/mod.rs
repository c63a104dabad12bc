//! Unified diffs of the files a run touched, and their size in lines. Pure: content in, text out.

use std::time::Duration;

use git2::FileMode;
use similar::{ChangeTag, TextDiff};

use crate::stored::StoredFile;
use locum_base::path::RepoPath;

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// Largest content, before and after together, of which a line by line diff is made, in bytes.
const DIFF_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// Time after which the search for the shortest difference stops and a longer one is taken.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes in which a NUL makes a file binary, as git does.
const BINARY_PROBE_BYTES: usize = 8000;

/// A change to one file, from the run's base to now.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileChange {
    /// Path in the checkout.
    pub path: RepoPath,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Number of lines added.
    pub added: u32,
    /// Number of lines removed.
    pub removed: u32,
    /// The unified diff with git's header lines, as `git apply` takes it; a line saying so for
    /// binary and for huge files.
    pub patch: String,
    /// Bytes of the file now, where it is binary and the patch cannot show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_bytes: Option<u64>,
    /// True when the patch holds a secret and is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
}

impl FileChange {
    /// Returns the change without its patch, for one that holds a secret.
    pub fn without_patch(self) -> Self {
        let names = self.patch.lines().next().unwrap_or_default();
        Self {
            patch: format!("{names}\nNot shown: the change holds a secret.\n"),
            withheld: true,
            ..self
        }
    }
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// Compares a plain file's content before and after; `None` when it is the same.
pub fn between(path: &RepoPath, before: Option<&[u8]>, after: &[u8]) -> Option<FileChange> {
    let file = |content: &[u8]| StoredFile { mode: FileMode::Blob, content: content.to_vec() };
    compare(path, before.map(file).as_ref(), Some(&file(after)))
}

/// Compares a path before and after; `None` when it is the same.
pub(super) fn compare(
    path: &RepoPath,
    before: Option<&StoredFile>,
    after: Option<&StoredFile>,
) -> Option<FileChange> {
    if before == after {
        return None;
    }
    let kind = match (before, after) {
        (None, _) => ChangeKind::Added,
        (Some(_), Some(_)) => ChangeKind::Modified,
        (Some(_), None) => ChangeKind::Deleted,
    };
    let mut change = FileChange {
        path: path.clone(),
        kind,
        added: 0,
        removed: 0,
        patch: String::new(),
        binary_bytes: None,
        withheld: false,
    };
    match (before, after) {
        // A link that becomes a file, or the other way round, is one thing gone and another one
        // new.
        (Some(old), Some(new)) if (old.mode == FileMode::Link) != (new.mode == FileMode::Link) => {
            append(&mut change, before, None);
            append(&mut change, None, after);
        }
        _ => append(&mut change, before, after),
    }
    Some(change)
}

/// Adds one section of git's format to a change.
fn append(change: &mut FileChange, before: Option<&StoredFile>, after: Option<&StoredFile>) {
    let name = |side: &str| quoted(&format!("{side}/{}", change.path));
    let (old_name, new_name) = (name("a"), name("b"));
    let mut patch = format!("diff --git {old_name} {new_name}\n");
    match (before.map(mode_of), after.map(mode_of)) {
        (None, Some(new)) => patch.push_str(&format!("new file mode {new}\n")),
        (Some(old), None) => patch.push_str(&format!("deleted file mode {old}\n")),
        (Some(old), Some(new)) if old != new => {
            patch.push_str(&format!("old mode {old}\nnew mode {new}\n"))
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    let [old, new] = [before, after].map(|side| side.map_or(&[][..], |stored| &stored.content));
    let old_label = if before.is_some() { label(&old_name) } else { "/dev/null".to_owned() };
    let new_label = if after.is_some() { label(&new_name) } else { "/dev/null".to_owned() };
    if old != new {
        let (text, added, removed) = if is_binary(old) || is_binary(new) {
            change.binary_bytes = after.and_then(|_| u64::try_from(new.len()).ok());
            (format!("Binary files {old_label} and {new_label} differ\n"), 0, 0)
        } else if old.len() + new.len() > DIFF_LIMIT_BYTES {
            let text = format!("Files {old_label} and {new_label} differ, too large to show\n");
            (text, count_lines(new), count_lines(old))
        } else {
            let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
            let changes = |tag| {
                let tagged = diff.iter_all_changes().filter(|change| change.tag() == tag);
                u32::try_from(tagged.count()).unwrap_or(u32::MAX)
            };
            let lines = diff.unified_diff().context_radius(CONTEXT_LINES).to_string();
            let text = format!("--- {old_label}\n+++ {new_label}\n{lines}");
            (text, changes(ChangeTag::Insert), changes(ChangeTag::Delete))
        };
        patch.push_str(&text);
        change.added = change.added.saturating_add(added);
        change.removed = change.removed.saturating_add(removed);
    }
    change.patch.push_str(&patch);
}

/// Lines that are new in a file, and how many there are of both kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// Number, from 1, and text of each new line; every line where old and new cannot be compared.
    pub text: Vec<(usize, String)>,
    /// Number of lines added.
    pub added: u32,
    /// Number of lines removed.
    pub removed: u32,
}

/// Compares two contents for the lines that are new.
pub(super) fn new_lines(old: &[u8], new: &[u8]) -> NewLines {
    let line =
        |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\r']).to_owned();
    if is_binary(old) || is_binary(new) || old.len() + new.len() > DIFF_LIMIT_BYTES {
        let text = new
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(index, bytes)| (index + 1, line(bytes)))
            .collect();
        let counted = |content: &[u8]| {
            if is_binary(old) || is_binary(new) { 0 } else { count_lines(content) }
        };
        return NewLines { text, added: counted(new), removed: counted(old) };
    }
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
    let mut found = NewLines::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => {
                found.added = found.added.saturating_add(1);
                found
                    .text
                    .push((change.new_index().map_or(0, |index| index + 1), line(change.value())));
            }
            ChangeTag::Delete => found.removed = found.removed.saturating_add(1),
            ChangeTag::Equal => {}
        }
    }
    found
}

fn count_lines(content: &[u8]) -> u32 {
    let whole = content.iter().filter(|byte| **byte == b'\n').count();
    let open = usize::from(!content.is_empty() && !content.ends_with(b"\n"));
    u32::try_from(whole + open).unwrap_or(u32::MAX)
}

fn mode_of(stored: &StoredFile) -> String {
    format!("{:o}", u32::from(stored.mode))
}

fn is_binary(content: &[u8]) -> bool {
    content.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0)
}

/// Quotes a name as git does; a [`RepoPath`] holds no control characters.
fn quoted(name: &str) -> String {
    if name.contains(['"', '\\']) {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        name.to_owned()
    }
}

/// A name with a blank ends with a tab in these lines, so that readers find its end.
fn label(name: &str) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name.to_owned() }
}

#[cfg(test)]
mod tests;
