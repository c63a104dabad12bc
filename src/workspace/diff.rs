//! Unified diffs of the files a run touched, and their size in lines. Pure: content in, text out.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use crate::stored::Stored;
use locum_base::path::RepoPath;

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// Largest content, before and after together, of which a line by line diff is made, in bytes.
const DIFF_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// Time after which the shortest difference is no longer looked for and a longer one is taken.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes in which a NUL makes a file binary, as git does.
const BINARY_PROBE_BYTES: usize = 8000;

/// A change to one file, from the run's base to now.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileChange {
    /// The file.
    pub path: RepoPath,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
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
    #[must_use]
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
#[must_use]
pub fn between(path: &RepoPath, before: Option<&[u8]>, after: &[u8]) -> Option<FileChange> {
    let file = |content: &[u8]| Stored::File { content: content.to_vec(), executable: false };
    compare(path, before.map(file).as_ref(), Some(&file(after)))
}

/// Compares a path before and after; `None` when it is the same.
pub(super) fn compare(
    path: &RepoPath,
    before: Option<&Stored>,
    after: Option<&Stored>,
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
        (Some(Stored::File { .. }), Some(Stored::Link { .. }))
        | (Some(Stored::Link { .. }), Some(Stored::File { .. })) => {
            append(&mut change, before, None);
            append(&mut change, None, after);
        }
        _ => append(&mut change, before, after),
    }
    Some(change)
}

/// Adds one section of git's format to a change.
fn append(change: &mut FileChange, before: Option<&Stored>, after: Option<&Stored>) {
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
    let (old, new) =
        (before.map(content_of).unwrap_or_default(), after.map(content_of).unwrap_or_default());
    let old_label = if before.is_some() { label(&old_name) } else { "/dev/null".to_owned() };
    let new_label = if after.is_some() { label(&new_name) } else { "/dev/null".to_owned() };
    if old != new {
        let lines = if is_binary(old) || is_binary(new) {
            change.binary_bytes = after.and_then(|_| u64::try_from(new.len()).ok());
            Lines {
                text: format!("Binary files {old_label} and {new_label} differ\n"),
                added: 0,
                removed: 0,
            }
        } else if old.len() + new.len() > DIFF_LIMIT_BYTES {
            let (added, removed) = (count_lines(new), count_lines(old));
            Lines {
                text: format!("Files {old_label} and {new_label} differ, too large to show\n"),
                added,
                removed,
            }
        } else {
            diff_lines(old, new, &format!("--- {old_label}\n+++ {new_label}\n"))
        };
        patch.push_str(&lines.text);
        change.added = change.added.saturating_add(lines.added);
        change.removed = change.removed.saturating_add(lines.removed);
    }
    change.patch.push_str(&patch);
}

/// Lines that are new in a file, and how many there are of both kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// Number, from 1, and text of each new line; every line where old and new cannot be compared.
    pub text: Vec<(usize, String)>,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
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

struct Lines {
    text: String,
    added: u32,
    removed: u32,
}

fn diff_lines(old: &[u8], new: &[u8], header: &str) -> Lines {
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(old, new);
    let count = |tag| {
        u32::try_from(diff.iter_all_changes().filter(|change| change.tag() == tag).count())
            .unwrap_or(u32::MAX)
    };
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let text = format!("{header}{}", diff.unified_diff().context_radius(CONTEXT_LINES));
    Lines { text, added, removed }
}

fn count_lines(content: &[u8]) -> u32 {
    let whole = content.iter().filter(|byte| **byte == b'\n').count();
    let open = usize::from(!content.is_empty() && !content.ends_with(b"\n"));
    u32::try_from(whole + open).unwrap_or(u32::MAX)
}

fn content_of(stored: &Stored) -> &[u8] {
    match stored {
        Stored::File { content, .. } => content,
        Stored::Link { target } => target,
    }
}

fn mode_of(stored: &Stored) -> &'static str {
    match stored {
        Stored::File { executable: false, .. } => "100644",
        Stored::File { executable: true, .. } => "100755",
        Stored::Link { .. } => "120000",
    }
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
mod tests {
    use pretty_assertions::assert_eq;

    use super::{ChangeKind, FileChange, compare, content_of};
    use crate::stored::Stored;
    use locum_base::path::RepoPath;

    fn file(content: &str) -> Option<Stored> {
        Some(Stored::File { content: content.into(), executable: false })
    }

    fn tool(content: &str) -> Option<Stored> {
        Some(Stored::File { content: content.into(), executable: true })
    }

    fn link(target: &str) -> Option<Stored> {
        Some(Stored::Link { target: target.into() })
    }

    fn check(
        at: &str,
        before: Option<Stored>,
        after: Option<Stored>,
        expected: Option<(ChangeKind, u32, u32, &str)>,
    ) {
        let path = RepoPath::parse(at).unwrap();
        let change = |(kind, added, removed, patch): (ChangeKind, u32, u32, &str)| FileChange {
            path: path.clone(),
            kind,
            added,
            removed,
            patch: patch.to_owned(),
            binary_bytes: after
                .as_ref()
                .filter(|_| patch.contains("Binary"))
                .map(|after| content_of(after).len() as u64),
            withheld: false,
        };
        assert_eq!(compare(&path, before.as_ref(), after.as_ref()), expected.map(change));
    }

    #[test]
    fn shows_changed_lines_with_three_around_them() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n \
                     4\n-5\n+five\n 6\n 7\n 8\n";
        check(
            "f",
            file(before),
            file(&before.replace('5', "five")),
            Some((ChangeKind::Modified, 1, 1, patch)),
        );
        check("f", file(before), file(before), None);
        check("f", None, None, None);
    }

    #[test]
    fn says_when_the_last_line_has_no_end() {
        let patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at \
                     end of file\n";
        check("f", file("a\n"), file("a"), Some((ChangeKind::Modified, 1, 1, patch)));
    }

    #[test]
    fn shows_new_and_gone_files_against_nothing() {
        let added = "diff --git a/f b/f\nnew file mode 100755\n--- /dev/null\n+++ b/f\n@@ -0,0 \
                     +1,2 @@\n+a\n+b\n";
        check("f", None, tool("a\nb\n"), Some((ChangeKind::Added, 2, 0, added)));
        let deleted = "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ \
                       -1 +0,0 @@\n-a\n";
        check("f", file("a\n"), None, Some((ChangeKind::Deleted, 0, 1, deleted)));
        check(
            "f",
            None,
            file(""),
            Some((ChangeKind::Added, 0, 0, "diff --git a/f b/f\nnew file mode 100644\n")),
        );
    }

    #[test]
    fn shows_modes_and_links() {
        let mode = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
        check("f", file("a"), tool("a"), Some((ChangeKind::Modified, 0, 0, mode)));
        let swapped = "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ \
                       -1 +0,0 @@\n-a\ndiff --git a/f b/f\nnew file mode 120000\n--- \
                       /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
        check("f", file("a\n"), link("x"), Some((ChangeKind::Modified, 1, 1, swapped)));
    }

    #[test]
    fn does_not_show_binary_content() {
        let patch = "diff --git a/f b/f\nBinary files a/f and b/f differ\n";
        check("f", file("a\0b"), file("a"), Some((ChangeKind::Modified, 0, 0, patch)));
        let added =
            "diff --git a/f b/f\nnew file mode 100644\nBinary files /dev/null and b/f differ\n";
        check("f", None, file("\0"), Some((ChangeKind::Added, 0, 0, added)));
        let latin = Some(Stored::File { content: b"caf\xe9\n".to_vec(), executable: false });
        let shown = "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 \
                     @@\n+caf\u{fffd}\n";
        check("f", None, latin, Some((ChangeKind::Added, 1, 0, shown)));
    }

    #[test]
    fn does_not_compare_huge_content_line_by_line() {
        let huge = "x\n".repeat(5_000_000);
        let patch = "diff --git a/f b/f\nFiles a/f and b/f differ, too large to show\n";
        check("f", file(&huge), file("y"), Some((ChangeKind::Modified, 1, 5_000_000, patch)));
    }

    #[test]
    fn marks_the_end_of_odd_names() {
        let patch = "diff --git a/a b b/a b\nnew file mode 100644\n--- /dev/null\n+++ b/a b\t\n@@ \
                     -0,0 +1 @@\n+x\n";
        check("a b", None, file("x\n"), Some((ChangeKind::Added, 1, 0, patch)));
        let quoted = "diff --git \"a/a\\\"b\" \"b/a\\\"b\"\nnew file mode 100644\n";
        check("a\"b", None, file(""), Some((ChangeKind::Added, 0, 0, quoted)));
    }
}
