//! What edits in other agents' words do to a file, beside those that leave it as it is.

use crate::tools::files::known::{KnownFiles, SeenFile};
use crate::tools::fixture::ToolFixture;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::Policy;
use locum_policy::intent::{Act, Facts};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const FILE: &str = "one\ntwo two\nthree\n";

/// Performs a call; returns the file after it and the answer.
fn done(name: &str, arguments: &Value) -> (String, String) {
    let fixture = ToolFixture::new(&[("src/a", FILE)]);
    let answer = fixture.call(name, &arguments.to_string());
    assert_eq!(answer.is_error, fixture.content("src/a") == FILE, "{}", answer.text);
    (fixture.content("src/a"), answer.text)
}

#[test]
fn an_edit_of_a_peer_changes_what_it_would_change_there() {
    for (name, arguments, expected) in [
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": [
            { "old_string": "one", "new_string": "1" },
            { "old_string": "two", "new_string": "2", "replace_all": true },
            { "old_string": "1\n2", "new_string": "1\n\n2" } ] }),
            "1\n\n2 2\nthree\n",
        ),
        (
            "edit_file",
            json!({ "file_path": "src/a", "old_string": "two", "new_string": "2",
            "expected_replacements": 2 }),
            "one\n2 2\nthree\n",
        ),
        (
            "Edit",
            json!({ "file_path": "src/a", "old_string": "hre", "new_string": "re" }),
            "one\ntwo two\ntree\n",
        ),
        (
            "insert_content",
            json!({ "path": "src/a", "line": 2, "content": "x\n" }),
            "one\nx\ntwo two\nthree\n",
        ),
        (
            "insert_content",
            json!({ "path": "src/a", "line": 0, "content": "x" }),
            "one\ntwo two\nthree\nx\n",
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "src/a", "insert_line": 0, "new_str": "x" }),
            "x\none\ntwo two\nthree\n",
        ),
        (
            "str_replace_based_edit_tool",
            json!({ "command": "insert", "path": "src/a", "insert_line": 1,
            "insert_text": "x\n" }),
            "one\nx\ntwo two\nthree\n",
        ),
        (
            "shell",
            json!({ "command": "apply_patch <<EOF\n*** Begin Patch\n*** Update File: src/a\n@@\n\
                -one\n+$1 `x`\n*** End Patch\nEOF" }),
            "$1 `x`\ntwo two\nthree\n",
        ),
    ] {
        let (after, answer) = done(name, &arguments);
        assert_eq!(after, expected, "{name} {arguments}: {answer}");
    }
}

#[test]
fn an_edit_of_a_peer_that_does_not_fit_leaves_the_file_as_it_is() {
    for (name, arguments, expected) in [
        (
            "MultiEdit",
            json!({ "file_path": "src/a", "edits": [
            { "old_string": "one", "new_string": "1" },
            { "old_string": "two", "new_string": "2" } ] }),
            "edit 2 of 2 does not fit, and all are made or none: the old text stands in several \
             places, at line 2",
        ),
        (
            "str_replace_editor",
            json!({ "command": "insert", "path": "src/a", "insert_line": 4, "new_str": "x" }),
            "the file has 3 lines, and the text was to go before line 5",
        ),
        (
            "insert_content",
            json!({ "path": "src/a", "line": "77", "content": "x" }),
            "the file has 3 lines, and the text was to go before line 77; 0 puts it behind",
        ),
        (
            "insert_content",
            json!({ "path": "src/b", "line": 1, "content": "x" }),
            "does not exist; write_to_file creates files",
        ),
    ] {
        let (_, answer) = done(name, &arguments);
        assert!(answer.contains(expected), "{name} {arguments}: {answer}");
    }
}

#[test]
fn a_text_in_the_place_of_nothing_makes_a_new_file() {
    for (name, arguments) in [
        ("Edit", json!({ "file_path": "new/b", "old_string": "", "new_string": "x\n" })),
        ("edit", json!({ "filePath": "new/b", "oldString": "", "newString": "x\n" })),
        (
            "MultiEdit",
            json!({ "file_path": "new/b", "edits": [{ "old_string": "", "new_string": "x\n" }] }),
        ),
    ] {
        let fixture = ToolFixture::new(&[("src/a", "one\n")]);
        let done = fixture.call(name, &arguments.to_string());
        assert_eq!(done.text, "Created `new/b` (1 line).", "{name}");
        assert_eq!(fixture.content("new/b"), "x\n", "{name}");
        // Where there is a file, its content is not replaced.
        let arguments = arguments.to_string().replace("new/b", "src/a");
        let done = fixture.call(name, &arguments);
        assert!(done.text.contains("the text to replace is empty"), "{name}: {}", done.text);
        assert_eq!(fixture.content("src/a"), "one\n", "{name}");
    }
}

#[test]
fn lines_are_counted_only_in_a_file_that_was_read() {
    let insert = |known: KnownFiles, line: usize| {
        let mut fixture = ToolFixture::new(&[("src/a", FILE)]);
        fixture.known = Some(known);
        let arguments = json!({ "path": "src/a", "line": line, "content": "x" });
        let answer = fixture.call("insert_content", &arguments.to_string());
        (answer.is_error, answer.text)
    };
    let mut read = KnownFiles::default();
    read.note(&[SeenFile::new(&RepoPath::parse("src/a").unwrap(), FILE.as_bytes())], None);
    let (refused, text) = insert(read, 2);
    assert!(refused && text.contains("only a number says so"), "{text}");
    assert!(!insert(KnownFiles::default(), 0).0);
    let (refused, text) = insert(KnownFiles::default(), 2);
    assert!(refused && text.contains("you have not read"), "{text}");
}

#[test]
fn a_call_of_a_peer_is_judged_as_the_tool_it_means() {
    let policy = "version: 1\nrules:\n  - allow: ['read(**)', 'edit(src/**)', 'command(*)']\n  \
                  - deny: 'edit(src/kept)'\n";
    let policy = Policy::parse(policy, "policy.yml").unwrap();
    let patch = |path: &str| format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
    let calls = |path: &str| {
        [
            (
                "MultiEdit",
                json!({ "path": path, "edits": [{ "old_string": "a", "new_string": "b" }] }),
            ),
            ("insert_content", json!({ "path": path, "line": 0, "content": "x" })),
            ("str_replace_editor", json!({ "command": "create", "path": path, "file_text": "x" })),
            (
                "str_replace_editor",
                json!({ "command": "insert", "path": path, "insert_line": 0, "new_str": "x" }),
            ),
            ("shell", json!({ "command": ["apply_patch", patch(path)] })),
            ("Bash", json!({ "command": format!("apply_patch <<EOF\n{}\nEOF", patch(path)) })),
        ]
    };
    let fixture = ToolFixture::new(&[("src/a", FILE), ("src/kept", FILE)]);
    let facts = Facts { mode: "code".to_owned(), ..Facts::default() };
    for (path, expected) in [("src/a", true), ("src/kept", false), ("a", false)] {
        for (name, arguments) in calls(path) {
            let call = fixture.parse(name, &arguments.to_string(), ToolName::ALL).unwrap();
            assert!(
                call.intents().iter().any(|intent| intent.to_string() == format!("edit({path})"))
            );
            assert_eq!(policy.admit(call, &facts).is_ok(), expected, "{name} {arguments}");
        }
    }
}

#[test]
fn a_patch_is_relative_to_the_folder_it_is_given_with() {
    let patch = |path: &str| {
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n-one\n+1\n*** End Patch")
    };
    let fixture = || ToolFixture::new(&[("src/a", FILE), ("src/in/a", FILE), ("a", FILE)]);
    for (folder, path, changed) in [
        (".", "src/a", "src/a"),
        ("src", "a", "src/a"),
        ("./src/", "in/a", "src/in/a"),
        ("src/in", "../a", "src/a"),
        ("ROOT", "src/a", "src/a"),
        ("ROOT/", "a", "a"),
        ("ROOT/src", "a", "src/a"),
        ("ROOT/src", "ROOT/a", "a"),
    ] {
        let fixture = fixture();
        let root = fixture.root().display().to_string();
        let [folder, path] = [folder, path].map(|text| text.replace("ROOT", &root));
        for arguments in [
            json!({ "command": ["apply_patch", patch(&path)], "workdir": folder }),
            json!({ "cmd": format!("apply_patch <<'E'\n{}\nE", patch(&path)), "cwd": folder }),
        ] {
            let call = fixture.parse("shell", &arguments.to_string(), ToolName::ALL).unwrap();
            assert_eq!(call.intents()[0].to_string(), format!("edit({changed})"), "{arguments}");
        }
        let arguments = json!({ "patch": patch(&path), "workdir": folder });
        let answer = fixture.call("apply_patch", &arguments.to_string());
        assert!(answer.text.contains(changed), "{}", answer.text);
        for file in ["src/a", "src/in/a", "a"] {
            assert_eq!(fixture.content(file) == FILE, file != changed, "{folder} {path}: {file}");
        }
    }
    for (folder, path) in [
        ("/tmp", "src/a"),
        ("ROOT/..", "src/a"),
        ("ROOTS", "src/a"),
        ("..", "src/a"),
        ("src", "../../a"),
        ("src", "/etc/passwd"),
    ] {
        let fixture = fixture();
        let root = fixture.root().display().to_string();
        let arguments = json!({ "command": ["apply_patch", patch(path)],
            "workdir": folder.replace("ROOT", &root) });
        let refused = fixture.parse("shell", &arguments.to_string(), ToolName::ALL);
        assert!(refused.is_err(), "{folder} {path}: {refused:?}");
    }
}

#[test]
fn a_patch_given_to_a_shell_is_not_the_shells() {
    let fixture = ToolFixture::new(&[("src/a", FILE)]);
    let arguments = json!({ "command": ["apply_patch", "*** Begin Patch"] }).to_string();
    let refused = fixture.parse("shell", &arguments, &[ToolName::ExecuteCommand]).unwrap_err();
    assert_eq!(refused.0, "Tool \"apply_patch\" is not allowed in code mode.");
    let patch = "*** Begin Patch\n*** Update File: src/a\n@@\n-one\n+1\n*** End Patch";
    let arguments = json!({ "command": ["apply_patch", patch] }).to_string();
    assert!(fixture.parse("shell", &arguments, &[ToolName::ApplyDiff]).is_ok());
    assert!(fixture.parse("shell", &arguments, &[ToolName::WriteToFile]).is_err());
}

#[test]
fn an_edit_that_the_mode_denies_is_not_taken_for_blocks() {
    let mut fixture = ToolFixture::new(&[("src/a", FILE)]);
    let notebook = json!({ "path": "src/a", "cell_id": "a", "new_source": "x" }).to_string();
    let insert = json!({ "path": "src/a", "line": 0, "content": "x" }).to_string();
    let offered = [ToolName::ApplyDiff];
    assert!(fixture.parse("notebook_edit", &notebook, &offered).is_ok());
    fixture.mode.tool_limits.never = vec![ToolName::NotebookEdit];
    let refused = fixture.parse("NotebookEdit", &notebook, &offered).unwrap_err();
    assert_eq!(refused.0, "Tool \"notebook_edit\" is not allowed in code mode.");
    assert!(fixture.parse("insert_content", &insert, &offered).is_ok());
    fixture.mode.tool_limits.never = vec![ToolName::ApplyDiff];
    assert!(fixture.parse("insert_content", &insert, &offered).is_err());
}
