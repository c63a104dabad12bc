//! Readings of files: what is shown, what is not, and how a model reads on.

use crate::tools::files::FILE_LIMIT_BYTES;
use crate::tools::fixture::ToolFixture;
use pretty_assertions::assert_eq;
use serde_json::json;

fn read(fixture: &ToolFixture, path: &str, more: &serde_json::Value) -> String {
    let mut arguments = json!({ "path": path });
    for (key, value) in more.as_object().unwrap() {
        arguments[key] = value.clone();
    }
    fixture.call("read_file", &arguments.to_string()).text
}

#[test]
fn counts_lines_as_wc_does_and_calls_only_its_own_limits_a_truncation() {
    let text: String = (1..=182).map(|line| format!("l{line}\n")).collect();
    let fixture =
        ToolFixture::new(&[("a", &text), ("bare", "x\ny"), ("blank", "\n"), ("end", "x\n\n")]);
    assert!(read(&fixture, "a", &json!({})).ends_with("\n182 | l182"));
    assert_eq!(
        read(&fixture, "a", &json!({ "offset": 3, "limit": 2 })),
        "File: a\nLines 3-4 of 182.\n\n3 | l3\n4 | l4"
    );
    assert_eq!(read(&fixture, "a", &json!({ "offset": 182, "limit": 2 })), "File: a\n182 | l182");
    assert!(
        read(&fixture, "a", &json!({ "offset": 183 }))
            .contains("offset 183 is beyond file end (182 lines)")
    );
    assert_eq!(read(&fixture, "bare", &json!({})), "File: bare\n1 | x\n2 | y");
    assert_eq!(read(&fixture, "blank", &json!({})), "File: blank\n1 | ");
    assert_eq!(read(&fixture, "end", &json!({})), "File: end\n1 | x\n2 | ");
    let long: String = (1..=2500).map(|line| format!("l{line}\n")).collect();
    let fixture = ToolFixture::new(&[("a", &long)]);
    assert!(read(&fixture, "a", &json!({})).starts_with("File: a\nIMPORTANT: File content truncated.\nStatus: Showing lines 1-2000 of 2500 total lines.\n"));
}

#[test]
fn a_block_of_blank_lines_has_no_range_of_lines() {
    let fixture = ToolFixture::new(&[("blank", "\n\n\n"), ("mixed", "a\n\n\nb\n")]);
    let around = |path: &str, anchor_line: usize, max_lines: usize| {
        let indentation = json!({ "anchor_line": anchor_line, "max_lines": max_lines });
        read(&fixture, path, &json!({ "mode": "indentation", "indentation": indentation }))
    };
    let nothing = |path: &str, total: usize| {
        format!("File: {path}\nThe lines there are blank (total: {total} lines).")
    };
    assert_eq!(around("blank", 2, 9), nothing("blank", 3));
    assert_eq!(around("mixed", 3, 2), nothing("mixed", 4));
    assert!(around("mixed", 3, 1).ends_with("3 | \n\nIncluded ranges: 3-3 (total: 4 lines)"));
    assert!(around("mixed", 3, 9).ends_with("4 | b\n\nIncluded ranges: 4-4 (total: 4 lines)"));
}

#[test]
fn shows_lines_of_a_file_of_any_size() {
    let fixture = ToolFixture::new(&[]);
    let size = usize::try_from(FILE_LIMIT_BYTES).unwrap() + 11;
    std::fs::write(fixture.at("big"), "0123456789\n".repeat(size / 11 + 1)).unwrap();
    let size = std::fs::metadata(fixture.at("big")).unwrap().len();
    assert_eq!(
        read(&fixture, "big", &json!({ "offset": 900_000, "limit": 2 })),
        format!(
            "File: big\nLines 900000-900001 of a file of {size} bytes. More follows: use the read_file tool with offset=900002.\n\n900000 | 0123456789\n900001 | 0123456789"
        )
    );
    let shown = read(&fixture, "big", &json!({}));
    assert!(shown.len() < 50 * 1024 && shown.contains("Lines 1-2000 of"), "{}", shown.len());
    assert!(read(&fixture, "big", &json!({ "offset": 9_000_000 })).contains("is beyond file end"));
    std::fs::write(fixture.at("image"), vec![0; size as usize]).unwrap();
    assert!(read(&fixture, "image", &json!({})).contains("Binary file of"));
}

#[test]
fn several_files_and_ranges_are_shown_in_one_answer() {
    let text: String = (1..=9).map(|line| format!("l{line}\n")).collect();
    let fixture = ToolFixture::new(&[("a", &text), ("b", "x\n")]);
    assert_eq!(
        read(&fixture, "a", &json!({ "line_ranges": ["1-2", "8-12", "5"] })),
        "File: a\nLines 1-2 of 9.\n\n1 | l1\n2 | l2\n\nLines 8-9 of 9.\n\n8 | l8\n9 | l9\n\nLines \
         5-5 of 9.\n\n5 | l5"
    );
    assert_eq!(
        read(&fixture, "a", &json!({ "line_ranges": ["9-", "20-30"] })),
        "File: a\nLines 9-9 of 9.\n\n9 | l9\n\nError: offset 20 is beyond file end (9 lines)"
    );
    let observation = fixture.call(
        "read_file",
        &json!({ "path": "a", "limit": 1, "files": [{ "path": "b" }, { "path": "none" },
            { "path": "../x" }, { "path": "a", "line_ranges": ["3-3"] }] })
        .to_string(),
    );
    assert_eq!(
        observation.text,
        "File: a\nLines 1-1 of 9.\n\n1 | l1\n\nFile: b\n1 | x\n\nFile: none\nCannot read `none`: \
         `none` does not exist.\n\nFile: ../x\nPath `../x` leaves the repository.\n\nFile: \
         a\nLines 3-3 of 9.\n\n3 | l3"
    );
    assert!(!observation.is_error);
    let seen: Vec<&str> = observation.seen.iter().map(|seen| seen.path.as_str()).collect();
    assert_eq!(seen, ["a", "b", "a"]);
    let outside = json!({ "path": "../x", "files": [{ "path": "/y" }] });
    let nothing = read(&fixture, "../x", &outside);
    assert!(
        nothing.starts_with("File: ../x\nPath `../x` leaves the repository.\n\nFile: /y\n"),
        "{nothing}"
    );
    let none = json!({ "path": "x", "files": [{ "path": "y" }] }).to_string();
    assert!(fixture.call("read_file", &none).is_error);
    let many: Vec<_> = (0..20).map(|_| json!({ "path": "a" })).collect();
    assert!(read(&fixture, "a", &json!({ "files": many })).contains("takes 20 files a call"));
}

#[test]
fn what_is_shown_together_has_a_bound_and_each_file_its_share() {
    let text: String = (1..=2000).map(|line| format!("{line:0>99}\n")).collect();
    let fixture = ToolFixture::new(&[("a", &text), ("b", "x\n")]);
    let mut many: Vec<_> = (0..18).map(|_| json!({ "path": "a" })).collect();
    many.push(json!({ "path": "b" }));
    let shown = read(&fixture, "a", &json!({ "files": many }));
    assert!(shown.len() < 110 * 1024, "{}", shown.len());
    assert!(shown.ends_with("File: b\n1 | x"), "{}", &shown[shown.len() - 100..]);
    assert_eq!(shown.matches("IMPORTANT: File content truncated.").count(), 19);
}

#[test]
fn parts_of_long_lines_share_the_room_of_a_call() {
    let fixture = ToolFixture::new(&[("a", &"\u{10ffff}".repeat(20_000)), ("b", "x\n")]);
    let part = json!({ "path": "a", "column": 3 });
    let mut many: Vec<_> = (0..18).map(|_| part.clone()).collect();
    many.push(json!({ "path": "b" }));
    let shown = read(&fixture, "a", &json!({ "column": 1, "files": many }));
    assert!(shown.len() < 110 * 1024, "{}", shown.len());
    assert_eq!(shown.matches(" of 20000. To read on: offset=1 and column=").count(), 19);
    assert!(shown.ends_with("File: b\n1 | x"), "{}", &shown[shown.len() - 100..]);
    // Lines that are shown whole fill it, too: each part shows one at least.
    let wide = format!("{}\n", "語".repeat(1900)).repeat(30);
    let fixture = ToolFixture::new(&[("a", &wide)]);
    let ranges: Vec<_> = (1..=20).map(|line| format!("{line}-{line}")).collect();
    let many: Vec<_> = (0..19).map(|_| json!({ "path": "a", "line_ranges": ranges })).collect();
    let shown = read(&fixture, "a", &json!({ "line_ranges": ranges, "files": many }));
    assert!(shown.len() < 110 * 1024, "{}", shown.len());
    assert!(shown.contains("this answer is full"));
}

#[test]
fn a_notebook_that_has_no_reader_or_is_broken_is_shown_as_text() {
    let fixture = ToolFixture::new(&[("a.ipynb", "{\"cells\": [\n"), ("b.pdf", "%PDF-1.4\nx")]);
    // The process that would read it is this test program, which gives no answer.
    let shown = read(&fixture, "a.ipynb", &json!({}));
    assert!(shown.starts_with("File: a.ipynb\nShown as it is, not by its cells: "), "{shown}");
    assert!(shown.ends_with("\n\n1 | {\"cells\": ["), "{shown}");
    let pdf = read(&fixture, "b.pdf", &json!({}));
    assert!(pdf.starts_with("Cannot read `b.pdf`: "), "{pdf}");
}

#[test]
fn lines_in_the_middle_of_a_file_of_three_gibibytes_are_shown() {
    use std::os::unix::fs::FileExt as _;
    let fixture = ToolFixture::new(&[("big", &"first\n".repeat(2000))]);
    let file = std::fs::File::options().write(true).open(fixture.at("big")).unwrap();
    file.set_len(3 << 30).unwrap();
    file.write_all_at(b"\nmiddle\nnext\n", 1 << 29).unwrap();
    let shown = read(&fixture, "big", &json!({ "offset": 2002, "limit": 2 }));
    assert_eq!(
        shown,
        "File: big\nLines 2002-2003 of a file of 3221225472 bytes. More follows: use the \
         read_file tool with offset=2004.\n\n2002 | middle\n2003 | next"
    );
    let beyond = json!({ "line_ranges": ["2-2", "2005-2006", "2002-2002"] });
    assert_eq!(
        read(&fixture, "big", &beyond),
        "File: big\nLines 2-2 of a file of 3221225472 bytes. More follows: use the read_file tool \
         with offset=3.\n\n2 | first\n\nError: line 2005 is not reached: one call looks through \
         1 GiB of large files at most.\n\nLines 2002-2002 of a file of 3221225472 bytes. More \
         follows: use the read_file tool with offset=2003.\n\n2002 | middle"
    );
    // The limit is one of the call, not of each file.
    let twice = json!({ "offset": 2005, "files": [{ "path": "big", "offset": 2 }] });
    assert_eq!(read(&fixture, "big", &twice).matches("is not reached").count(), 2);
}

#[test]
fn a_large_file_that_a_command_left_is_read_in_parts() {
    let mut fixture = ToolFixture::new(&[(".gitignore", "out/\n")]);
    let folder = tempfile::tempdir().unwrap();
    let layer = locum_workspace::layer::Layer::open(&folder.path().join("layer")).unwrap();
    let upper = layer.folders().upper.to_owned();
    std::fs::create_dir_all(upper.join("out")).unwrap();
    std::fs::write(upper.join("out/log"), "0123456789\n".repeat(1_000_000)).unwrap();
    fixture.layer = Some(layer);
    let shown = read(&fixture, "out/log", &json!({ "line_ranges": ["7-7", "999999-2000000"] }));
    assert!(shown.contains("Lines 7-7 of a file of 11000000 bytes."), "{shown}");
    assert!(shown.ends_with("999999 | 0123456789\n1000000 | 0123456789"), "{shown}");
}

#[test]
fn a_long_line_is_read_on_to_its_end() {
    let line: String = (0..50_006).map(|at| if at % 100 == 0 { 'é' } else { 'x' }).collect();
    let fixture = ToolFixture::new(&[("long", &format!("a\n{line}\nb\n"))]);
    let (mut column, mut whole) = (1, String::new());
    while column <= 50_006 {
        let text = read(&fixture, "long", &json!({ "offset": 2, "column": column }));
        let (head, part) = text.split_once("\n\n2 | ").unwrap();
        let last = column + part.chars().count() - 1;
        assert!(head.contains(&format!("Line 2, characters {column}-{last} of 50006.")), "{head}");
        assert!(text.len() < 16 * 1024 && (last == 50_006 || head.contains("To read on: ")));
        whole.push_str(part);
        column = last + 1;
    }
    assert_eq!(whole, line);
    let beyond = read(&fixture, "long", &json!({ "offset": 2, "column": 60_000 }));
    assert!(beyond.contains("Line 2 has 50006 characters"), "{beyond}");
}

#[test]
fn of_a_line_that_is_not_looked_through_to_its_end_no_length_is_named() {
    let fixture = ToolFixture::new(&[("a", "")]);
    std::fs::write(fixture.at("a"), "x".repeat(17 << 20)).unwrap();
    for (column, expected) in [
        (
            1,
            "Line 1, characters 1-12000 of more than 48004. To read on: offset=1 and column=12001.",
        ),
        (17 << 20, "Line 1 is longer than the 16 MiB of one line that are looked through, and"),
    ] {
        let text = read(&fixture, "a", &json!({ "offset": 1, "column": column }));
        assert!(text.contains(expected), "{text:.300}");
    }
}

#[test]
fn one_reading_has_a_bound_and_says_how_to_read_on() {
    let text: String = (1..=2000).map(|line| format!("{line:0>99}\n")).collect();
    let fixture = ToolFixture::new(&[("a", &text)]);
    let shown = read(&fixture, "a", &json!({}));
    assert!(shown.len() < 50 * 1024, "{}", shown.len());
    let last = shown.lines().last().unwrap().split_once(" |").unwrap().0.trim().to_owned();
    let next = last.parse::<usize>().unwrap() + 1;
    assert!(shown.contains(&format!("offset={next} and limit={}", 2000 - next + 1)), "{last}");
}

#[test]
fn says_what_is_not_shown() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let long = format!("a\n{}\n", "x".repeat(5000));
    let fixture =
        ToolFixture::new(&[("lfs", pointer), ("long", &long), ("doc.pdf", "%PDF-1.7\n\0x\n")]);
    assert_eq!(
        read(&fixture, "lfs", &json!({})),
        "File: lfs\nGit LFS pointer: the content (12345 bytes) is not in this checkout."
    );
    assert!(read(&fixture, "long", &json!({})).ends_with("x...\n\nCut at the end, marked by `...`: line 2 (5000 characters; offset=2, column=1998). To read one on, give `offset` and `column`."));
    assert_eq!(
        read(&fixture, "doc.pdf", &json!({ "mode": "raw" })),
        "File: doc.pdf\nBinary file of 12 bytes; its content is not shown."
    );
}

#[test]
fn long_lines_of_wide_letters_stay_within_the_bound() {
    let text = format!("{}\n", "語".repeat(3000)).repeat(40);
    let fixture = ToolFixture::new(&[("a", &text)]);
    let shown = read(&fixture, "a", &json!({}));
    assert!(shown.len() < 50 * 1024 && shown.contains("To read more"), "{}", shown.len());
}
