//! Diffs as `git apply` takes them.

use pretty_assertions::assert_eq;

use super::{ChangeKind, FileChange, compare};
use crate::stored::StoredFile;
use git2::FileMode;
use locum_base::path::RepoPath;

fn file(content: &str) -> Option<StoredFile> {
    Some(StoredFile { mode: FileMode::Blob, content: content.into() })
}

fn tool(content: &str) -> Option<StoredFile> {
    Some(StoredFile { mode: FileMode::BlobExecutable, content: content.into() })
}

fn link(target: &str) -> Option<StoredFile> {
    Some(StoredFile { mode: FileMode::Link, content: target.into() })
}

fn check(
    at: &str,
    before: Option<StoredFile>,
    after: Option<StoredFile>,
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
            .map(|after| after.content.len() as u64),
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
    let added = "diff --git a/f b/f\nnew file mode 100644\nBinary files /dev/null and b/f differ\n";
    check("f", None, file("\0"), Some((ChangeKind::Added, 0, 0, added)));
    let latin = Some(StoredFile { mode: FileMode::Blob, content: b"caf\xe9\n".to_vec() });
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
