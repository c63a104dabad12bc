//! `apply_patch` as a call: what it writes, moves and removes, and what it refuses.
#![expect(clippy::disallowed_methods, reason = "a test changes a file as somebody else would")]

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::tools::files::known::KnownFiles;
use crate::tools::fixture::ToolFixture;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::file_regex::FileRegex;
use locum_policy::intent::{Act, Intent};

fn arguments(body: &str) -> String {
    json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch") }).to_string()
}

const MOVE: &str = "*** Add File: new\n+n\n*** Update File: a.md\n*** Move to: \
                    sub/b.md\n@@\n-x\n+y\n*** Delete File: gone";

#[test]
fn writes_moves_and_removes_and_says_so() {
    let fixture = ToolFixture::new(&[("a.md", "x\n"), ("gone", "g\n")]);
    let done = fixture.call("apply_patch", &arguments(MOVE));
    assert_eq!(
        done.text,
        "Applied, no need to read again:\nD a.md\nD gone\nA new\nA sub/b.md\n1 | y"
    );
    assert_eq!(
        done.touched,
        ["a.md", "gone", "new", "sub/b.md"].map(|path| RepoPath::parse(path).unwrap())
    );
    assert_eq!((fixture.content("new"), fixture.content("sub/b.md")), ("n\n".into(), "y\n".into()));
    assert!(!fixture.at("a.md").exists() && !fixture.at("gone").exists());
    let again = fixture.call("apply_patch", &arguments(MOVE));
    assert!(
        again.is_error && again.touched.is_empty() && again.text.contains("`a.md` does not exist"),
        "{}",
        again.text
    );
}

#[test]
fn a_file_that_is_added_over_another_keeps_its_line_ends() {
    let fixture = ToolFixture::new(&[("a", "\u{feff}x\r\n"), ("b", "x\r\n"), ("c", "x\n")]);
    let done = fixture.call(
        "apply_patch",
        &arguments(
            "*** Add File: a\n+y\n*** Delete File: b\n*** Add File: b\n+y\n*** Add File: c\n+y",
        ),
    );
    let [a, b, c] = ["a", "b", "c"].map(|path| fixture.content(path));
    assert_eq!([&*a, &*b, &*c], ["\u{feff}y\r\n", "y\r\n", "y\n"], "{}", done.text);
    assert_eq!(
        done.text,
        "Applied, no need to read again:\nM a (with the CRLF line ends and the byte order mark of \
         the file before)\nM b (with the CRLF line ends of the file before)\nM c"
    );
}

#[test]
fn a_patch_that_does_not_fit_is_answered_without_long_lines() {
    let long = format!("{}\nshort\n", "x".repeat(200_000));
    let fixture = ToolFixture::new(&[("a", long.as_str())]);
    let sent = "y".repeat(200_000);
    for body in [
        format!("*** Update File: a\n@@\n-{sent}\n+x"),
        format!("*** Update File: a\n@@ {sent}\n-short\n+x"),
    ] {
        let done = fixture.call("apply_patch", &arguments(&body));
        assert!(done.is_error && done.text.len() < 16 * 1024, "{}", done.text.len());
    }
}

#[test]
fn a_file_that_moves_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = ToolFixture::new(&[("a.sh", "x\n"), ("b.sh", "x\n")]);
    for (from, to) in [("a.sh", "z.sh"), ("b.sh", "a/z.sh")] {
        let file = fixture.at(from);
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o755)).unwrap();
        let body = format!("*** Update File: {from}\n*** Move to: {to}\n@@\n-x\n+y");
        let done = fixture.call("apply_patch", &arguments(&body));
        let moved = std::fs::metadata(fixture.at(to)).unwrap();
        assert!(!done.is_error && !fixture.at(from).exists(), "{}", done.text);
        assert_eq!((moved.permissions().mode() & 0o777, moved.len()), (0o755, 2), "{to}");
    }
}

#[test]
fn nothing_is_written_where_a_part_does_not_fit() {
    let fixture = ToolFixture::new(&[("a", "x\n"), ("image", "\0")]);
    for body in [
        "*** Update File: a\n@@\n-z\n+y",
        "*** Update File: image\n@@\n-x\n+y",
        "*** Delete File: none",
    ] {
        let done =
            fixture.call("apply_patch", &arguments(&format!("*** Add File: new\n+n\n{body}")));
        assert!(done.is_error && done.text.starts_with("Nothing was changed"), "{}", done.text);
        assert!(!fixture.at("new").exists());
    }
}

#[test]
fn an_empty_patch_says_what_to_write() {
    let fixture = ToolFixture::new(&[("a", "x\n")]);
    let done = fixture.parse("apply_patch", &arguments(""), ToolName::ALL).unwrap_err();
    assert!(done.0.starts_with("Nothing was changed: the patch names no file; start with"));
}

#[test]
fn an_exact_place_among_places_with_other_blanks_is_taken_when_it_is_sent_again() {
    let call = |fixture: &mut ToolFixture, body: &str| {
        fixture.known.get_or_insert_default();
        let done = fixture.call("apply_patch", &arguments(body));
        fixture.known.get_or_insert_default().note(&done.seen, done.unconfirmed.as_ref());
        (done.is_error, done.text)
    };
    let replied = |fixture: &mut ToolFixture| {
        fixture.known.get_or_insert_default().replied();
    };
    let mut fixture = ToolFixture::new(&[("a", "  x\nx\n"), ("b", "  x\nx\nx\n")]);
    let patch = "*** Update File: a\n@@\n-x\n+y";
    let (is_error, text) = call(&mut fixture, patch);
    assert!(
        is_error && text.contains("at line 2, and with other blanks at line 1. Send the same"),
        "{text}"
    );
    // Twice in one reply, the question was not read.
    assert!(call(&mut fixture, patch).0);
    replied(&mut fixture);
    // Another change is another question.
    assert!(call(&mut fixture, "*** Update File: a\n@@\n-x\n+z").0);
    assert_eq!(fixture.content("a"), "  x\nx\n");
    assert!(!call(&mut fixture, patch).0);
    assert_eq!(fixture.content("a"), "  x\ny\n");
    // Several exact places stay refused.
    let several = "*** Update File: b\n@@\n-x\n+y";
    assert!(call(&mut fixture, several).0);
    replied(&mut fixture);
    let (is_error, text) = call(&mut fixture, several);
    assert!(is_error && text.contains("these lines at lines 2 and 3. Add"), "{text}");
}

#[test]
fn both_ends_of_a_move_are_judged_and_its_source_is_read() {
    let fixture = ToolFixture::new(&[("a.md", "x\n"), ("gone", "g\n")]);
    let call = fixture.parse("apply_patch", &arguments(MOVE), ToolName::ALL).unwrap();
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let edits = ["new", "a.md", "sub/b.md", "gone"].map(|name| Intent::Edit(path(name)));
    assert_eq!(call.intents(), [edits.as_slice(), &[Intent::Read(path("a.md"))]].concat());
}

#[test]
fn what_is_deleted_or_moved_is_the_name_and_not_what_a_link_leads_to() {
    let fixture = ToolFixture::new(&[("data", "d\n"), ("two", "t\n"), ("sub/b", "b\n")]);
    for (target, link) in [("data", "current"), ("two", "cur2"), ("none", "dang"), ("sub", "dir")] {
        std::os::unix::fs::symlink(target, fixture.at(link)).unwrap();
    }
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let delete = arguments("*** Delete File: current\n*** Delete File: dir/b");
    let call = fixture.parse("apply_patch", &delete, ToolName::ALL).unwrap();
    assert_eq!(call.intents(), ["current", "sub/b"].map(|name| Intent::Edit(path(name))));
    let done = fixture.call("apply_patch", &delete);
    assert_eq!(done.text, "Applied, no need to read again:\nD the link current\nD sub/b");
    assert_eq!((done.is_error, fixture.content("data").as_str()), (false, "d\n"));
    assert!(!fixture.at("current").is_symlink() && !fixture.at("sub/b").exists());
    for body in [
        "*** Update File: cur2\n*** Move to: renamed\n@@\n-t\n+T",
        "*** Update File: two\n*** Move to: cur2\n@@\n-t\n+T",
        "*** Update File: two\n*** Move to: dang\n@@\n-t\n+T",
        "*** Delete File: cur2\n*** Add File: cur2\n+x",
    ] {
        let done = fixture.call("apply_patch", &arguments(body));
        assert!(
            done.is_error && done.text.contains("is a link: a patch deletes it, or changes"),
            "{body}: {}",
            done.text
        );
        assert_eq!((done.touched.as_slice(), fixture.content("two").as_str()), (&[][..], "t\n"));
    }
    // Where it is only changed, what it leads to is.
    let change = arguments("*** Update File: cur2\n@@\n-t\n+T");
    assert!(!fixture.call("apply_patch", &change).is_error);
    assert!(fixture.at("cur2").is_symlink() && fixture.content("two") == "T\n");
    assert!(!fixture.call("apply_patch", &arguments("*** Delete File: dang")).is_error);
    assert!(!fixture.at("dang").is_symlink() && !fixture.at("none").exists());
}

#[test]
fn the_modes_files_are_asked_for_on_every_path() {
    let mut fixture = ToolFixture::new(&[("a.md", "x\n"), ("b.rs", "x\n")]);
    fixture.mode.groups[1].file_regex = Some(FileRegex::parse(r"\.md$").unwrap());
    let change = "@@\n-x\n+y";
    for (body, allowed) in [
        (format!("*** Update File: a.md\n{change}"), true),
        (format!("*** Update File: b.rs\n{change}"), false),
        (format!("*** Update File: a.md\n*** Move to: c.rs\n{change}"), false),
        (format!("*** Update File: b.rs\n*** Move to: c.md\n{change}"), false),
        ("*** Delete File: b.rs".into(), false),
        ("*** Add File: ../c.md\n+x".into(), false),
        ("*** Add File: d.md\n+x".into(), true),
    ] {
        assert_eq!(
            fixture.parse("apply_patch", &arguments(&body), ToolName::ALL).is_ok(),
            allowed,
            "{body}"
        );
    }
}

#[test]
fn a_file_that_changed_since_or_would_be_replaced_unread_is_left_alone() {
    let mut fixture = ToolFixture::new(&[("a", "x\ny\n"), ("b", "z\n")]);
    fixture.known = Some(KnownFiles::default());
    let call = |fixture: &ToolFixture, body: &str| fixture.call("apply_patch", &arguments(body));
    let done = call(&fixture, "*** Add File: b\n+new");
    assert!(
        done.is_error && done.text.contains("`b` exists (1 line), and you have not read it"),
        "{}",
        done.text
    );
    let change = "*** Update File: a\n@@\n-x\n+X";
    assert!(!call(&fixture, change).is_error);
    let seen = fixture.call("read_file", r#"{"path": "a"}"#).seen;
    fixture.known.get_or_insert_default().note(&seen, None);
    std::fs::write(fixture.at("a"), "x\nz\n").unwrap();
    let done = call(&fixture, change);
    assert!(
        done.is_error && done.text.contains("since you last read or wrote it"),
        "{}",
        done.text
    );
    let done = call(&fixture, "*** Delete File: a");
    assert!(done.is_error && fixture.at("a").exists(), "{}", done.text);
}
