//! `write_to_file` as a call: what it writes, keeps and takes off, and what it refuses.

use super::{bare, unfence};
use crate::tools::Observation;
use crate::tools::files::known::{KnownFiles, SeenFile};
use crate::tools::fixture::ToolFixture;
use locum_base::path::RepoPath;
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn takes_off_a_wrapping_fence_only() {
    for (content, expected) in [
        ("```rust\nfn a() {}\n```", Some("fn a() {}\n")),
        ("```\na\n```\n", Some("a\n")),
        ("```\n```", Some("")),
        ("```\na", None),
        ("a\n```", None),
        ("x = ```a```", None),
        ("```sh\na\n```\nand\n```sh\nb\n```\n", None),
    ] {
        assert_eq!(unfence(content), expected, "{content}");
    }
}

#[test]
fn takes_off_numbers_when_every_line_has_one() {
    let path = |name: &str| RepoPath::parse(name).unwrap();
    for (name, content, expected) in [
        ("a.rs", "1 | a\n2 |   b\n", Some("a\n  b\n")),
        ("a.rs", "1 | a\nb\n", None),
        ("a.rs", "", None),
        ("a.md", "```\na\n```", None),
        ("a.qmd", "```\na\n```", None),
        ("a.md.j2", "```\na\n```", None),
        ("a.py", "```py\na\n```", Some("a\n")),
        ("a.py", "```py\n1 | a\n```", Some("a\n")),
        // Numbers that do not count the lines are the file's own.
        ("a.txt", "1 | 2\n3 | 4\n", None),
        ("a.txt", "5 |x\n", None),
    ] {
        let bare = bare(&path(name), content).map(|(bare, _)| bare);
        assert_eq!(bare.as_deref(), expected, "{name} {content}");
    }
}

#[test]
fn what_a_file_has_itself_is_written() {
    let fixture = ToolFixture::new(&[("rows", "1 | a\n2 | b\n"), ("fenced", "```\na\n```\n")]);
    for (path, content) in
        [("rows", "1 | a\n2 | b\n3 | c\n"), ("fenced", "```\nb\n```\n"), ("new", "1 | 2\n")]
    {
        write(&fixture, path, content);
        let expected = if path == "new" { "2\n" } else { content };
        assert_eq!(std::fs::read_to_string(fixture.at(path)).unwrap(), expected, "{path}");
    }
}

fn write(fixture: &ToolFixture, path: &str, content: &str) -> Observation {
    let arguments = json!({ "path": path, "content": content }).to_string();
    fixture.call("write_to_file", &arguments)
}

/// Does a call, lets the model know what it showed, and has it reply.
fn noted(fixture: &mut ToolFixture, call: impl Fn(&ToolFixture) -> Observation) -> Observation {
    let done = call(fixture);
    let known = fixture.known.get_or_insert_default();
    known.note(&done.seen, done.unconfirmed.as_ref());
    known.replied();
    done
}

#[test]
fn says_what_it_replaced_and_what_it_did_not_write() {
    let fixture = ToolFixture::new(&[("a", "1\n2\n3\n")]);
    for (path, content, expected) in [
        (
            "new",
            "x\n",
            "Created `new` (1 line). It holds exactly what was sent; no need to read it again.",
        ),
        (
            "a",
            "x\ny\n",
            "Replaced the content of `a` (2 lines; 3 before). It holds exactly what was \
             sent; no need to read it again.",
        ),
        (
            "a",
            "```\nx\n```\n",
            "Replaced the content of `a` (1 line; 2 before). The code fence around it \
             was not written. It holds the rest as it was sent; no need to read it again.",
        ),
        (
            "a",
            "1 | x\n",
            "Replaced the content of `a` (1 line; 1 before). The line numbers in front \
             of its lines were not written. It holds the rest as it was sent; no need to read it \
             again.",
        ),
    ] {
        assert_eq!(write(&fixture, path, content).text, expected);
    }
}

#[test]
fn line_ends_and_a_byte_order_mark_are_kept_where_no_other_were_sent() {
    let fixture = ToolFixture::new(&[("a", "\u{feff}1\r\n2\r\n"), ("b", "1\n2\n")]);
    for (path, sent, written, said) in [
        ("a", "x\ny\n", "\u{feff}x\r\ny\r\n", "It keeps the CRLF line ends and the byte order"),
        ("a", "x\n", "\u{feff}x\r\n", "It holds the rest as it was sent"),
        ("b", "x\ny\n", "x\ny\n", "It holds exactly what was sent"),
        ("b", "x\r\n", "x\r\n", "It holds exactly what was sent"),
    ] {
        let done = write(&fixture, path, sent);
        assert!(done.text.contains(said), "{}", done.text);
        assert_eq!(fixture.content(path), written, "{path} {sent:?}");
    }
}

#[test]
fn a_file_that_is_too_large_to_be_read_is_not_replaced() {
    let fixture = ToolFixture::new(&[("a", "1\n")]);
    for (size, is_replaced) in [(10 * 1024 * 1024, true), (10 * 1024 * 1024 + 1, false)] {
        std::fs::write(fixture.at("a"), "x".repeat(size)).unwrap();
        let done = write(&fixture, "a", "new\n");
        assert_eq!(!done.is_error, is_replaced, "{}", done.text);
        assert_eq!(fixture.content("a") == "new\n", is_replaced);
    }
    assert!(!write(&fixture, "new", "x\n").is_error);
}

#[test]
fn text_in_the_place_of_a_binary_file_is_asked_about() {
    let mut fixture = ToolFixture::new(&[("a.pdf", ""), ("b.txt", "1\n"), ("c.ipynb", "")]);
    std::fs::write(fixture.at("a.pdf"), "%PDF-1.4\nno NUL at all\n").unwrap();
    let notebook = r#"{ "cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {} }"#;
    std::fs::write(fixture.at("c.ipynb"), notebook).unwrap();
    std::fs::write(fixture.at("d.bin"), b"a\0b\n").unwrap();
    for (path, content, is_asked) in [
        ("a.pdf", "text\n", true),
        ("d.bin", "text\n", true),
        ("c.ipynb", "text\n", true),
        ("b.txt", "text\n", false),
    ] {
        let seen = SeenFile::new(
            &RepoPath::parse(path).unwrap(),
            &std::fs::read(fixture.at(path)).unwrap(),
        );
        fixture.known.get_or_insert_default().note(&[seen], None);
        let done = noted(&mut fixture, |fixture| write(fixture, path, content));
        assert_eq!(done.is_error, is_asked, "{path} {}", done.text);
        assert_eq!(done.text.contains("send the same call once more"), is_asked);
        assert!(!noted(&mut fixture, |fixture| write(fixture, path, content)).is_error);
        assert_eq!(fixture.content(path), content);
    }
    // A notebook that is written as what it is.
    std::fs::write(fixture.at("c.ipynb"), notebook).unwrap();
    let read = r#"{"path": "c.ipynb", "mode": "raw"}"#;
    noted(&mut fixture, |fixture| fixture.call("read_file", read));
    assert!(!write(&fixture, "c.ipynb", &notebook.replace('5', "4")).is_error);
}

#[test]
fn a_file_that_was_not_read_or_has_changed_since_is_not_overwritten() {
    let mut fixture = ToolFixture::new(&[("a", "1\n2\n"), ("empty", "")]);
    fixture.known = Some(KnownFiles::default());
    let refused = write(&fixture, "a", "x\n");
    assert!(refused.is_error && refused.touched.is_empty(), "{refused:?}");
    assert!(
        refused.text.contains("exists (2 lines), and you have not read it. Call `read_file`"),
        "{}",
        refused.text
    );
    for allowed in [("new", "x\n"), ("empty", "x\n"), ("a", "1\n2\n")] {
        assert!(!write(&fixture, allowed.0, allowed.1).is_error, "{allowed:?}");
    }
    noted(&mut fixture, |fixture| fixture.call("read_file", r#"{"path": "a"}"#));
    assert!(!noted(&mut fixture, |fixture| write(fixture, "a", "x\n")).is_error);
    assert!(!noted(&mut fixture, |fixture| write(fixture, "a", "y\n")).is_error);
    std::fs::write(fixture.at("a"), "by somebody else\n").unwrap();
    let refused = write(&fixture, "a", "x\n");
    assert!(
        refused.is_error
            && refused.text.contains("since you last read or wrote it. Call `read_file`"),
        "{}",
        refused.text
    );
    assert_eq!(fixture.content("a"), "by somebody else\n");
}

#[test]
fn what_leaves_most_of_a_file_out_is_refused_until_it_is_sent_again() {
    let long = "line\n".repeat(182);
    let mut fixture = ToolFixture::new(&[("a", long.as_str())]);
    noted(&mut fixture, |fixture| fixture.call("read_file", r#"{"path": "a"}"#));
    let lazy = "def f():\n    # ... existing code ...\n";
    for _ in 0..2 {
        let refused = noted(&mut fixture, |fixture| write(fixture, "a", lazy));
        assert!(
            refused.is_error
                && refused.text.contains("`# ... existing code ...` stands for text of `a`"),
            "{}",
            refused.text
        );
    }
    let short = "def f(): pass\n";
    let refused = noted(&mut fixture, |fixture| write(fixture, "a", short));
    assert!(
        refused.is_error
            && refused.text.contains(
                "has 182 lines, and this would leave 1. To change a part of it use `apply_diff`"
            ),
        "{}",
        refused.text
    );
    assert!(noted(&mut fixture, |fixture| write(fixture, "a", "other\n")).is_error);
    assert!(noted(&mut fixture, |fixture| write(fixture, "a", short)).is_error);
    assert!(!noted(&mut fixture, |fixture| write(fixture, "a", short)).is_error);
    assert_eq!(fixture.content("a"), short);
}

#[test]
fn what_is_created_through_a_link_is_named_itself() {
    let fixture = ToolFixture::new(&[("sub/a", "x\n")]);
    std::os::unix::fs::symlink("target", fixture.at("dang")).unwrap();
    std::os::unix::fs::symlink("sub", fixture.at("folder")).unwrap();
    for (path, expected) in [
        ("dang", "Created `target`, where `dang` leads (1 line)"),
        ("folder/b", "Created `sub/b`, where `folder/b` leads (1 line)"),
        ("c", "Created `c` (1 line)"),
    ] {
        let arguments = serde_json::json!({ "path": path, "content": "x\n" });
        let done = fixture.call("write_to_file", &arguments.to_string());
        assert!(done.text.starts_with(expected), "{}", done.text);
    }
    assert!(fixture.at("dang").is_symlink());
}
