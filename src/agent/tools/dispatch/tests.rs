//! All tools through dispatch: schemas, intents, answers.

use super::{CheckedCall, spec, specs};
use crate::tools::fixture::ToolFixture;
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::{Control, Todo, TodoState};
use locum_base::tool::ToolName;
use locum_modes::file_regex::FileRegex;
use locum_policy::intent::{Act, Intent};
use locum_sandbox::exec::Exit;
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn every_tool_has_a_small_and_closed_schema() {
    for tool in ToolName::ALL {
        let spec = spec(*tool);
        assert_eq!(spec.name, tool.as_str());
        assert_eq!(spec.parameters["additionalProperties"], json!(false), "{tool}");
        for required in spec.parameters["required"].as_array().unwrap() {
            assert!(
                spec.parameters["properties"].get(required.as_str().unwrap()).is_some(),
                "{tool} {required}"
            );
        }
    }
    let size = serde_json::to_string(&specs(ToolName::ALL)).unwrap().len();
    assert!(size < 19_000, "{size} bytes");
}

#[test]
fn says_which_tools_there_are() {
    let fixture = ToolFixture::new(&[]);
    let offered = [ToolName::ReadFile, ToolName::AttemptCompletion];
    let refused = |name: &str| fixture.parse(name, "{}", &offered).unwrap_err().0;
    assert_eq!(refused("look"), "Unknown tool \"look\".");
    assert_eq!(
        refused(" batch"),
        "There is no tool \"batch\" here. Make the calls themselves, several of them in one reply."
    );
    assert_eq!(refused("execute_command"), "Tool \"execute_command\" is not allowed in code mode.");
}

#[test]
fn names_what_a_call_would_do_by_real_paths() {
    let fixture = ToolFixture::new(&[("real/a", "x")]);
    std::os::unix::fs::symlink("real", fixture.at("link")).unwrap();
    let call = |name: &str, arguments: serde_json::Value| {
        fixture.parse(name, &arguments.to_string(), ToolName::ALL).unwrap()
    };
    let path = |text: &str| locum_base::path::RepoPath::parse(text).unwrap();
    let read = call("read_file", json!({ "path": "link/a" }));
    assert_eq!(
        (read.intents(), read.headline(), read.only_reads()),
        (vec![Intent::Read(path("real/a"))], "read link/a".into(), true)
    );
    let write = call("write_to_file", json!({ "path": "link/b", "content": "" }));
    assert_eq!((write.intents(), write.only_reads()), (vec![Intent::Edit(path("real/b"))], false));
    let command = call("execute_command", json!({ "command": "echo a\necho b", "cwd": "link" }));
    assert_eq!(command.headline(), "run echo a...");
    assert!(
        matches!(command.intents().as_slice(), [Intent::Command(_), Intent::Read(folder)] if *folder == path("real"))
    );
    assert_eq!(
        call("new_task", json!({ "mode": "code", "message": "m" })).intents(),
        [Intent::Delegate("code".into())]
    );
    assert_eq!(
        call("switch_mode", json!({ "mode_slug": "ask", "reason": "r" })).intents(),
        [Intent::Mode("ask".into())]
    );
    assert_eq!(
        call("attempt_completion", json!({ "result": "done" })).intents(),
        [Intent::Session]
    );
    assert_eq!(
        call("write_file", json!({ "path": "b", "content": "" })).tool(),
        ToolName::WriteToFile
    );
}

#[test]
fn refuses_paths_outside_and_files_the_mode_may_not_edit() {
    let fixture = ToolFixture::new(&[("a", "x")]);
    std::os::unix::fs::symlink("/etc", fixture.at("out")).unwrap();
    for path in ["/etc/passwd", "../x", "out/passwd", ""] {
        let arguments = json!({ "path": path }).to_string();
        assert!(fixture.parse("read_file", &arguments, ToolName::ALL).is_err(), "{path}");
    }
    let inside = json!({ "path": fixture.root().canonicalize().unwrap().join("a") }).to_string();
    assert!(fixture.parse("read_file", &inside, ToolName::ALL).is_ok());
}

#[test]
fn a_mode_edits_only_its_files_by_either_name() {
    let mut fixture = ToolFixture::new(&[("a.md", "x"), ("b.rs", "x")]);
    std::os::unix::fs::symlink("b.rs", fixture.at("link.md")).unwrap();
    fixture.mode.groups[1].file_regex = Some(FileRegex::parse(r"\.md$").unwrap());
    fixture.mode.groups[1].description = Some("Markdown only".into());
    for (path, allowed) in [("a.md", true), ("new.md", true), ("b.rs", false), ("link.md", false)] {
        for (name, content) in [("write_to_file", "content"), ("apply_diff", "diff")] {
            let parsed = fixture.parse(
                name,
                &json!({ "path": path, content: "" }).to_string(),
                ToolName::ALL,
            );
            assert_eq!(parsed.is_ok(), allowed, "{name} {path}");
        }
    }
    let error = fixture
        .parse("write_to_file", r#"{"path": "b.rs", "content": ""}"#, ToolName::ALL)
        .unwrap_err()
        .0;
    assert_eq!(
        error,
        r"Tool 'write_to_file' in mode 'Code' can only edit files matching pattern: \.md$ (Markdown only). Got: b.rs"
    );
}

#[test]
fn reads_writes_and_edits() {
    let fixture =
        ToolFixture::new(&[("run.sh", "one\ntwo\n"), ("empty", ""), ("image.png", "\0x")]);
    let call =
        |name: &str, arguments: serde_json::Value| fixture.call(name, &arguments.to_string());
    assert_eq!(
        call("read_file", json!({ "path": "run.sh" })).text,
        "File: run.sh\n1 | one\n2 | two"
    );
    let part = call("read_file", json!({ "path": "run.sh", "limit": 1 })).text;
    assert_eq!(part, "File: run.sh\nLines 1-1 of 2.\n\n1 | one");
    assert_eq!(
        call("read_file", json!({ "path": "empty" })).text,
        "File: empty\nThe file is empty."
    );
    assert!(
        call("read_file", json!({ "path": "image.png" }))
            .text
            .ends_with("Binary file of 2 bytes; its content is not shown.")
    );
    assert!(call("read_file", json!({ "path": "." })).text.contains("list_files"));
    let beyond = call("read_file", json!({ "path": "run.sh", "offset": 9 }));
    assert!(
        beyond.is_error && beyond.text.contains("beyond file end (2 lines)"),
        "{}",
        beyond.text
    );

    let written = call("write_to_file", json!({ "path": "new/deep/file", "content": "a\nb\n" }));
    assert!(written.text.starts_with("Created `new/deep/file` (2 lines)."), "{}", written.text);
    assert_eq!(written.touched, [locum_base::path::RepoPath::parse("new/deep/file").unwrap()]);
    assert_eq!(fixture.content("new/deep/file"), "a\nb\n");

    let diff = "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE";
    assert!(
        call("apply_diff", json!({ "path": "run.sh", "diff": diff }))
            .text
            .contains("lines 2-2 (+1 -1)")
    );
    assert_eq!(fixture.content("run.sh"), "one\n2\n");
    let again = call("apply_diff", json!({ "path": "run.sh", "diff": diff }));
    assert!(
        again.is_error
            && again.touched.is_empty()
            && again.text.contains("no lines of the file match"),
        "{}",
        again.text
    );
    assert!(
        call("apply_diff", json!({ "path": "none", "diff": diff })).text.contains("write_to_file")
    );
}

#[test]
fn commands_answer_with_how_they_ended() {
    let fixture = ToolFixture::new(&[("sub/a", "content")]);
    let call =
        |arguments: serde_json::Value| fixture.call("execute_command", &arguments.to_string());
    let done = call(json!({ "command": "cat a", "cwd": "sub" }));
    assert_eq!((done.exit, done.is_error), (Some(Exit::Code(0)), false));
    assert_eq!(done.text, "Exit code: 0\nWorking directory: sub\nOutput:\ncontent");
    assert!(done.touched.is_empty());
    let wrote = call(json!({ "command": "touch new", "cwd": "sub" }));
    assert_eq!(wrote.touched, [locum_base::path::RepoPath::parse("sub/new").unwrap()]);
    assert!(wrote.text.ends_with("(no output)\n\nFiles changed: sub/new"), "{}", wrote.text);
    assert_eq!(call(json!({ "command": "cat none" })).exit, Some(Exit::Code(1)));
    assert_eq!(call(json!({ "command": "sleep 60", "timeout": 1 })).exit, Some(Exit::TimedOut));
    assert!(call(json!({ "command": "echo a", "cwd": "none" })).text.contains("is not a folder"));
}

#[test]
fn steering_tools_ask_the_session() {
    let fixture = ToolFixture::new(&[]);
    let control = |name: &str, arguments: serde_json::Value| {
        fixture.call(name, &arguments.to_string()).control
    };
    let todos = vec![Todo { text: "a".into(), state: TodoState::Done }];
    assert_eq!(
        control("update_todo_list", json!({ "todos": "- [x] a" })),
        Some(Control::Todos { todos })
    );
    assert_eq!(
        control("switch_mode", json!({ "mode_slug": " ask ", "reason": "r" })),
        Some(Control::SwitchMode { slug: "ask".into(), reason: "r".into() })
    );
    assert_eq!(
        control("ask_followup_question", json!({ "question": "q", "follow_up": ["a"] })),
        Some(Control::Ask { question: "q".into(), suggestions: vec!["a".into()] })
    );
    assert_eq!(
        control("attempt_completion", json!({ "result": "r" })),
        Some(Control::Complete {
            result: "r".into(),
            status: CompletionStatus::Done,
            reason: None,
            verdict: None
        })
    );
    let failed = json!({ "result": "r", "status": "Failure", "reason": "no network " });
    assert_eq!(
        control("attempt_completion", failed),
        Some(Control::Complete {
            result: "r".into(),
            status: CompletionStatus::Failed,
            reason: Some("no network".into()),
            verdict: None
        })
    );
    let checked = json!({ "result": "r", "verdict": " Fail" });
    let Some(Control::Complete { verdict, .. }) = control("attempt_completion", checked) else {
        panic!("a check ends with its verdict");
    };
    assert_eq!(verdict, Some(CheckVerdict::Fail));
    for odd in ["passed", "", "ok"] {
        let odd = json!({ "result": "r", "verdict": odd });
        let verdict = control("attempt_completion", odd);
        let guessed =
            |control: &Control| matches!(control, Control::Complete { verdict: Some(_), .. });
        assert!(!verdict.as_ref().is_some_and(guessed), "{verdict:?}");
    }
    let odd = json!({ "result": "r", "status": "maybe" });
    assert_eq!(control("attempt_completion", odd), None);
}

#[test]
fn a_sub_task_takes_its_instructions_and_its_checklist() {
    let arguments = r#"{"mode": " code ", "message": "m", "todos": "- [x] a"}"#;
    let Ok(CheckedCall::NewTask(call)) =
        ToolFixture::new(&[]).parse("new_task", arguments, ToolName::ALL)
    else {
        panic!("not a sub-task");
    };
    let todos = vec![Todo { text: "a".into(), state: TodoState::Done }];
    assert_eq!((call.mode.as_str(), call.message.as_str(), call.todos), ("code", "m", todos));
}

#[test]
fn the_model_never_sees_a_secret() {
    let fixture = ToolFixture::new(&[("a", "key = unseen-secret-value\n")]);
    for (name, arguments) in
        [("read_file", r#"{"path": "a"}"#), ("search_files", r#"{"path": ".", "regex": "key"}"#)]
    {
        let text = fixture.call(name, arguments).text;
        assert!(text.contains("key = ***"), "{text}");
    }
    assert!(matches!(
        fixture.parse("read_file", r#"{"path": "a"}"#, ToolName::ALL),
        Ok(CheckedCall::ReadFile(_))
    ));
}

#[test]
fn a_file_that_may_not_be_read_is_changed_by_no_tool() {
    let mut fixture = ToolFixture::new(&[("a", "x\n"), ("n.ipynb", "{}")]);
    let calls = |path: &str| {
        let notebook = path.replace('a', "n.ipynb");
        let patch = |body: &str| format!("*** Begin Patch\n{body}\n*** End Patch");
        [
            ("write_to_file", json!({ "path": path, "content": "y\n" })),
            ("insert_content", json!({ "path": path, "line": 0, "content": "y" })),
            (
                "apply_diff",
                json!({ "path": path, "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE" }),
            ),
            ("search_and_replace", json!({ "path": path, "search": "x", "replace": "y" })),
            (
                "multi_edit",
                json!({ "path": path, "edits": [{ "old_text": "x", "new_text": "y" }] }),
            ),
            ("notebook_edit", json!({ "path": notebook, "cell_number": 1, "new_source": "y" })),
            ("apply_patch", json!({ "patch": patch(&format!("*** Update File: {path}\n@@\n+y")) })),
            ("apply_patch", json!({ "patch": patch(&format!("*** Delete File: {path}")) })),
            ("delete_file", json!({ "path": path })),
            ("move_file", json!({ "from": "other", "to": path })),
        ]
    };
    let reads = |fixture: &ToolFixture, path: &str| -> Vec<bool> {
        let parsed = calls(path).map(|(name, arguments)| {
            let call = fixture.parse(name, &arguments.to_string(), ToolName::ALL).unwrap();
            let at = |path: &str| locum_base::path::RepoPath::parse(path).unwrap();
            let wanted = [Intent::Read(at(path)), Intent::Read(at("n.ipynb"))];
            call.intents().iter().any(|intent| wanted.contains(intent))
        });
        parsed.to_vec()
    };
    fixture.hidden = vec!["a", "n.ipynb", "new"];
    assert_eq!(reads(&fixture, "a"), [true; 10]);
    // What a file will hold that is not there, who writes it knows.
    let by_content = [false, false, false, true, true, true, false, false, false, false];
    assert_eq!(reads(&fixture, "new"), by_content);
    fixture.hidden = Vec::new();
    assert_eq!(reads(&fixture, "a"), by_content);
}
