//! What is read of a patch, and what is refused with its line.

use super::{Hunk, PatchChunk, PatchParseError, parse};
use pretty_assertions::assert_eq;

fn patch(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

fn lines(text: &[&str]) -> Vec<String> {
    text.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn reads_every_kind_of_hunk() {
    let text = patch(
        "*** Add File: a/new.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: \
         b.txt\n*** Move to: c.txt\n@@ fn b()\n x\n\n-y\n+z\n*** End of File",
    );
    let chunk = PatchChunk {
        context: Some("fn b()".into()),
        outer: vec![],
        old: lines(&["x", "", "y"]),
        new: lines(&["x", "", "z"]),
        at_end: true,
        ..PatchChunk::default()
    };
    let expected = vec![
        Hunk::Add { path: "a/new.txt".into(), content: "one\n\n".into() },
        Hunk::Delete { path: "old.txt".into() },
        Hunk::Update { path: "b.txt".into(), to: Some("c.txt".into()), chunks: vec![chunk] },
    ];
    assert_eq!(parse(&text), Ok(expected.clone()));
    assert_eq!(parse(&format!("<<'EOF'\n{text}EOF")), Ok(expected));
}

#[test]
fn a_first_chunk_needs_no_mark_and_blank_lines_may_part_files() {
    let hunks =
        parse(&patch("*** Update File: a\n-x\n+y\n@@\n-v\n+w\n\n*** Delete File: b")).unwrap();
    assert_eq!(hunks.len(), 2);
    let Some(Hunk::Update { chunks, .. }) = hunks.first() else { panic!("{hunks:?}") };
    assert_eq!(chunks.len(), 2);
}

#[test]
fn blank_lines_before_and_between_chunks_are_no_lines_of_a_file() {
    let chunk = |old: &[&str], new: &[&str]| PatchChunk {
        old: lines(old),
        new: lines(new),
        ..PatchChunk::default()
    };
    for (body, expected) in [
        ("\n@@\n-1\n+x", vec![chunk(&["1"], &["x"])]),
        ("\n  \n@@\n-1\n+x", vec![chunk(&["1"], &["x"])]),
        ("\n-1\n+x", vec![chunk(&["1"], &["x"])]),
        ("@@\n-1\n+x\n*** End of File\n\n@@\n-2\n+y", {
            let first = PatchChunk { at_end: true, ..chunk(&["1"], &["x"]) };
            vec![first, chunk(&["2"], &["y"])]
        }),
        // What is only added goes below the blank line, and not to the end of the file.
        ("\n+x", vec![chunk(&[""], &["", "x"])]),
        // One with a mark is a line of the file.
        (" \n-1\n+x", vec![chunk(&["", "1"], &["", "x"])]),
        ("@@\n\n-1\n+x", vec![chunk(&["", "1"], &["", "x"])]),
    ] {
        let hunks = parse(&patch(&format!("*** Update File: a\n{body}"))).unwrap();
        let update = Hunk::Update { path: "a".into(), to: None, chunks: expected };
        assert_eq!(hunks, [update], "{body:?}");
    }
    let moved = parse(&patch("*** Update File: a\n*** Move to: b\n\n@@\n-1\n+x")).unwrap();
    assert!(matches!(&moved[..], [Hunk::Update { to: Some(to), .. }] if to == "b"));
    let only_blank = parse(&patch("*** Update File: a\n\n"));
    assert!(matches!(only_blank, Err(PatchParseError::NoLines { .. })), "{only_blank:?}");
}

#[test]
fn a_patch_without_files_has_no_hunks() {
    for text in ["*** Begin Patch\n*** End Patch", "*** Begin Patch\n\n \n*** End Patch\n"] {
        assert_eq!(parse(text), Ok(Vec::new()), "{text:?}");
    }
    assert_eq!(parse("*** Begin Patch"), Err(PatchParseError::NoEnd));
}

#[test]
fn says_which_line_is_wrong() {
    let no_mark =
        |line, text: &str| PatchParseError::NoMark { path: "a".into(), line, text: text.into() };
    for (text, expected) in [
        (String::new(), PatchParseError::NoBegin),
        ("*** Begin Patch".into(), PatchParseError::NoEnd),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y".into(), PatchParseError::NoEnd),
        (
            patch("*** Rename File: a"),
            PatchParseError::NoHeader { line: 2, text: "*** Rename File: a".into() },
        ),
        (patch("*** Add File:"), PatchParseError::NoPath { line: 2 }),
        (patch("*** Update File: a"), PatchParseError::NoLines { path: "a".into(), line: 2 }),
        (
            patch("*** Update File: a\n@@\n@@\n-x"),
            PatchParseError::NoLines { path: "a".into(), line: 3 },
        ),
        (patch("*** Update File: a\n@@\n-x\n~y"), no_mark(5, "~y")),
        (patch("*** Update File: a\nx"), no_mark(3, "x")),
    ] {
        assert_eq!(parse(&text), Err(expected), "{text}");
    }
    let many: String = (0..201).map(|number| format!("*** Delete File: {number}\n")).collect();
    assert_eq!(parse(&patch(&many)), Err(PatchParseError::TooMany));
}
