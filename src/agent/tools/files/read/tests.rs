//! Readings of files: what is shown, what is not, and how a model reads on.

use super::FILE_LIMIT_BYTES;
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
        ToolFixture::new(&[("lfs", pointer), ("long", &long), ("doc.pdf", "%PDF-1.7\nx\n")]);
    assert_eq!(
        read(&fixture, "lfs", &json!({})),
        "File: lfs\nGit LFS pointer: the content (12345 bytes) is not in this checkout."
    );
    assert!(read(&fixture, "long", &json!({})).ends_with("x...\n\nCut at the end, marked by `...`: line 2 (5000 characters; offset=2, column=1998). To read one on, give `offset` and `column`."));
    assert_eq!(
        read(&fixture, "doc.pdf", &json!({})),
        "File: doc.pdf\nPDF document of 11 bytes; its content is not shown."
    );
}

#[test]
fn long_lines_of_wide_letters_stay_within_the_bound() {
    let text = format!("{}\n", "語".repeat(3000)).repeat(40);
    let fixture = ToolFixture::new(&[("a", &text)]);
    let shown = read(&fixture, "a", &json!({}));
    assert!(shown.len() < 50 * 1024 && shown.contains("To read more"), "{}", shown.len());
}
