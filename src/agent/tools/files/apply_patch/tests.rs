//! Patches applied to texts, and why some are not.

use std::collections::BTreeMap;

use super::{AppliedPatch, ChangedRange, PatchError, PatchedFile, apply, apply_asking, parse};
use pretty_assertions::assert_eq;

fn patched(files: &[(&str, &str)], body: &str) -> Result<Vec<PatchedFile<String>>, PatchError> {
    let hunks = parse::parse(&format!("*** Begin Patch\n{body}\n*** End Patch")).unwrap();
    apply(&hunks, ToOwned::to_owned, reader(files))
}

fn asking(files: &[(&str, &str)], body: &str) -> Result<AppliedPatch<String>, PatchError> {
    let hunks = parse::parse(&format!("*** Begin Patch\n{body}\n*** End Patch")).unwrap();
    apply_asking(&hunks, ToOwned::to_owned, reader(files))
}

fn reader(files: &[(&str, &str)]) -> impl FnMut(&String) -> Result<Option<String>, PatchError> {
    let files: BTreeMap<String, String> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    move |path| Ok(files.get(path).cloned())
}

fn only(files: &[(&str, &str)], body: &str) -> Option<String> {
    patched(files, body).ok()?.pop()?.after
}

#[test]
fn lines_that_stand_elsewhere_with_other_blanks_are_asked_about() {
    let file = "a {\n        go();\n}\nb {\n    go();\n}\n";
    for (body, line, other) in
        [("@@\n-    go();\n+    went();", 5, 2), ("@@\n-        go();\n+    went();", 2, 5)]
    {
        let body = format!("*** Update File: a\n{body}");
        assert_eq!(
            patched(&[("a", file)], &body).unwrap_err().to_string().lines().next().unwrap(),
            format!(
                "`a` has these lines at line {line}, and with other blanks at line {other}. \
                 Send the same call again to change line {line}, or add lines that stay, or \
                 `@@` and a line above the place, until one is left:"
            )
        );
        let taken = asking(&[("a", file)], &body).unwrap();
        let after = taken.files[0].after.as_deref().unwrap();
        let changed = after.lines().position(|it| it.trim() == "went();").unwrap();
        assert_eq!((changed + 1, taken.questions.len()), (line, 1));
    }
    for body in ["@@ b {\n-    go();\n+    went();", "@@\n b {\n-    go();\n+    went();"] {
        let changed = only(&[("a", file)], &format!("*** Update File: a\n{body}"));
        assert_eq!(changed.unwrap(), file.replace("b {\n    go", "b {\n    went"));
    }
}

#[test]
fn changes_files() {
    for (before, body, expected) in [
        ("a\nb\n", "@@\n-b\n+B\n+C", "a\nB\nC\n"),
        ("f\nx\ng\nx\n", "@@ g\n-x\n+y", "f\nx\ng\ny\n"),
        ("a\nb", "@@\n-b\n+c", "a\nc\n"),
        ("a\n", "@@\n+z", "a\nz\n"),
        ("x\r\ny\r\n", "@@\n-x\n+z", "z\r\ny\r\n"),
        ("x\na\nx\n", "@@\n-x\n+y\n*** End of File", "x\na\ny\n"),
        ("a\nb\nx\n", "@@\n a\n-b\n+c\n\n@@\n x\n+d", "a\nc\nx\nd\n"),
        ("", "@@\n+a", "a\n"),
        ("a\n", "@@\n-a", ""),
        // Lines that are not named stay byte for byte.
        ("a\nb", "@@\n-a\n+c", "c\nb"),
        ("a\r\nb\nc\n", "@@\n-b\n+d", "a\r\nd\nc\n"),
        ("\u{feff}a\n", "@@\n-a\n+b", "\u{feff}b\n"),
        // The end of the last line is said as in git's diffs.
        ("a\nb", "@@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file", "a\nc"),
        ("a\nb\n", "@@\n-b\n+c\n\\ No newline at end of file", "a\nc"),
        ("a\nb", "@@\n-b\n\\ No newline at end of file\n+c", "a\nc\n"),
        ("a\nb", "@@\n-b\n\\ No newline at end of file\n+b\n+", "a\nb\n\n"),
        ("a\nb", "@@\n b\n+c\n+\n", "a\nb\nc\n\n"),
        ("b\na\nb", "@@\n+x\n b\n\\ No newline at end of file", "b\na\nx\nb"),
        // Blanks that differ are the file's where a line stays.
        ("a  \n\tb\n", "@@\n a\n-  b\n+  c", "a  \n\tc\n"),
        // The order of chunks, and what is said of lines above, tell places apart.
        ("x\na\nx\nb\n", "@@\n-a\n+c\n@@\n-x\n+y", "x\nc\ny\nb\n"),
        ("x\na\nx\n", "@@\n-x\n+y\n@@\n-a\n+c", "y\nc\nx\n"),
        ("g\nx\nf\nx\n", "@@ f\n-x\n+y", "g\nx\nf\ny\n"),
        ("g:\n  x\n\nf:\n  x\n", "@@ g:\n-  x\n+  y", "g:\n  y\n\nf:\n  x\n"),
        (
            "A:\n f:\n  x\nB:\n g:\n  x\n f:\n  x\n",
            "@@ B:\n@@  f:\n-  x\n+  y",
            "A:\n f:\n  x\nB:\n g:\n  x\n f:\n  y\n",
        ),
        // A beginning of the line, and numbers of other programs' diffs.
        (
            "class A(X):\n def f():\n  x\nclass AB:\n def f():\n  x\n",
            "@@ class A\n@@  def f\n-  x\n+  y",
            "class A(X):\n def f():\n  y\nclass AB:\n def f():\n  x\n",
        ),
        ("f\nx\ng\nx\n", "@@ -4,1 +4,1 @@ g\n-x\n+y", "f\nx\ng\ny\n"),
        ("a\nx\n", "@@ -2 +2,1 @@\n-x\n+y", "a\ny\n"),
        ("A\n{\nf\nx\n}\nB\n{\nf\nx\n}\n", "@@ B\n@@ f\n-x\n+y", "A\n{\nf\nx\n}\nB\n{\nf\ny\n}\n"),
        (
            "A:\n f:\n  x\n g:\n  x\n",
            "@@ A:\n-  x\n+  y\n@@\n-  x\n+  z",
            "A:\n f:\n  y\n g:\n  z\n",
        ),
    ] {
        assert_eq!(
            only(&[("f", before)], &format!("*** Update File: f\n{body}")).as_deref(),
            Some(expected),
            "{body}"
        );
    }
}

fn refused(before: &str, body: &str) -> String {
    patched(&[("f", before)], &format!("*** Update File: f\n{body}")).unwrap_err().to_string()
}

#[test]
fn a_chunk_that_only_adds_says_where_or_stands_at_the_end() {
    for (before, body, expected) in [
        ("A:\n x\nB:\n x\n", "@@ B:\n+ y", "A:\n x\nB:\n x\n y\n"),
        ("A:\n x\nA:\n x\n", "@@ A:\n+ y", "A:\n x\nA:\n x\n y\n"),
        ("A:\n x\nB:\n x\n", "@@ A:\n+y\n*** End of File", "A:\n x\nB:\n x\ny\n"),
        ("A:\n x\nB:\n x\n", "@@ A:\n  x\n+ y", "A:\n x\n y\nB:\n x\n"),
    ] {
        let after = only(&[("f", before)], &format!("*** Update File: f\n{body}"));
        assert_eq!(after.as_deref(), Some(expected), "{body}");
    }
    for body in ["@@ A:\n+ y", "@@ A:\n+ y\n@@ B:\n+ z", "@@ B:\n@@  f\n+  y"] {
        let text = refused("A:\n x\nB:\n f\n x\n", body);
        assert!(text.contains("only adds lines and does not say where"), "{body}: {text}");
    }
}

#[test]
fn lines_that_stand_in_several_places_are_refused() {
    for (before, body, places) in [
        ("x\na\nx\n", "@@\n-x\n+y", "lines 1 and 3"),
        ("x\na\nx\nb\nx\n", "@@\n-a\n+c\n@@\n-x\n+y", "lines 3 and 5"),
        ("  x\na\n\tx\n", "@@\n-x\n+y", "lines 1 and 3"),
        ("f\nx\nf\nx\n", "@@ f\n-x\n+y", "lines 2 and 4"),
        ("A:\n f:\n  x\n g:\n  x\nB:\n  x\n", "@@ A:\n-  x\n+  y", "lines 3 and 5"),
        ("A:\n f:\n  x\n g:\n  x\n  x\n", "@@  g:\n-  x\n+  y", "lines 5 and 6"),
        ("A:\n f:\n  x\n f:\n  x\n", "@@ A:\n@@  f:\n-  x\n+  y", "lines 3 and 5"),
    ] {
        let text = refused(before, body);
        assert!(text.starts_with(&format!("`f` has these lines at {places}")), "{text}");
    }
    let text = refused("A:\n f:\n  x\nB:\n  x\nC:\n f:\n  x\n", "@@ B:\n@@  f:\n-  x\n+  y");
    assert!(text.starts_with("`f` has no line ` f:`"), "{text}");
}

#[test]
fn an_exact_place_is_taken_before_looser_ones_and_asked_about() {
    for (before, body, expected, asked) in [
        ("  x\nx\n", "@@\n-x\n+y", "  x\ny\n", 1),
        ("x\n  x\n", "@@\n-  x\n+  y", "x\n  y\n", 1),
        ("x\n\tx\nx  \n", "@@\n-\tx\n+\ty", "x\n\ty\nx  \n", 1),
        ("a {\n  }\n}\n", "@@\n-}\n+};", "a {\n  }\n};\n", 1),
        // Two chunks are two questions.
        ("  x\nx\na\n  z\nz\n", "@@\n-x\n+y\n@@\n-z\n+w", "  x\ny\na\n  z\nw\n", 2),
        // What is said of lines above leaves one place.
        ("  x\na\nx\n", "@@ a\n-x\n+y", "  x\na\ny\n", 0),
        ("x\nb\n", "@@\n-x\n+y", "y\nb\n", 0),
    ] {
        let applied = asking(&[("f", before)], &format!("*** Update File: f\n{body}")).unwrap();
        let after = applied.files[0].after.as_deref();
        assert_eq!((after, applied.questions.len()), (Some(expected), asked), "{body}");
    }
    // No place is exact, or several are.
    for (before, body) in [
        ("  x\n\tx\n", "@@\n-x\n+y"),
        ("  x\nx  \n", "@@\n-x\n+y"),
        ("x\na\nx\n  x\n", "@@\n-x\n+y"),
        // One chunk is exact, the other is not.
        ("  x\nx\na\n  z\n\tz\n", "@@\n-x\n+y\n@@\n-z\n+w"),
    ] {
        let refused = asking(&[("f", before)], &format!("*** Update File: f\n{body}"));
        assert!(matches!(refused, Err(PatchError::Several { .. })), "{before:?}: {refused:?}");
    }
}

#[test]
fn more_questions_than_a_few_are_a_refusal() {
    let file =
        |count: usize| -> String { (0..count).map(|at| format!("  x{at}.\nx{at}.\n")).collect() };
    let body =
        |count: usize| -> String { (0..count).map(|at| format!("\n@@\n-x{at}.\n+y")).collect() };
    let asked = |count: usize| {
        let body = format!("*** Update File: f{}", body(count));
        asking(&[("f", &file(count))], &body).map(|applied| applied.questions.len())
    };
    assert_eq!(asked(8), Ok(8));
    assert!(matches!(asked(9), Err(PatchError::Several { .. })));
}

#[test]
fn broken_indentation_and_text_left_out_are_refused() {
    let text = refused("a:\n    b\n  c\n", "@@\n a:\n b\n-c\n+d");
    assert!(text.contains("from line 1 are indented otherwise"), "{text}");
    let text = refused("a\nb\n", "@@\n a\n-b\n+# ... rest of file unchanged ...");
    assert!(text.contains("stands for text that would be lost"), "{text}");
}

#[test]
fn a_later_hunk_sees_what_an_earlier_one_made() {
    let body = "*** Update File: f\n@@\n-a\n+b\n*** Update File: f\n*** Move to: \
                g\n@@\n-b\n+c\n*** Add File: f\n+new";
    let change = |path: &str, before: Option<&str>, after: &str| PatchedFile {
        path: path.to_owned(),
        before: before.map(ToOwned::to_owned),
        after: Some(after.to_owned()),
        changed: Vec::new(),
    };
    assert_eq!(
        patched(&[("f", "a\n")], body),
        Ok(vec![
            change("f", Some("a\n"), "new\n"),
            PatchedFile {
                changed: vec![ChangedRange { line: 1, removed: 1, added: 1 }],
                ..change("g", None, "c\n")
            }
        ])
    );
}

#[test]
fn nothing_changes_where_one_hunk_does_not_fit() {
    for body in [
        "*** Update File: none\n@@\n-a\n+b",
        "*** Delete File: none",
        "*** Add File: h\n+x\n*** Add File: h\n+y",
        "*** Update File: f\n*** Move to: g\n@@\n-a\n+b",
        "*** Update File: f\n@@ nowhere\n-a\n+b",
        "*** Update File: f\n@@\n-b\n+c\n@@\n-a\n+d",
        "*** Delete File: f\n*** Update File: f\n@@\n-a\n+b",
    ] {
        assert!(
            patched(&[("f", "a\nb\n"), ("g", "")], &format!("*** Add File: new\n+x\n{body}"))
                .is_err(),
            "{body}"
        );
    }
    let text = patched(&[("f", "a\nb\n")], "*** Update File: f\n@@\n-b\n+c\n@@\n-a\n+d")
        .unwrap_err()
        .to_string();
    assert_eq!(text, "`f` has no such lines after line 2; chunks go from top to bottom:\na");
}
