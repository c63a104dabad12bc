//! Every tool that edits, through the binary: native calls of the scripted model, and calls written
//! as XML. The same edits, judged by the same policy, with the same files at the end.

use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)"]
  - deny: ["edit(src/kept/**)"]
"#;

const CONFIG: &str = "models: { profiles: { m: { model: small, context_window: 100000, tool_protocol: xml, \
     included_tools: [multi_edit, insert_content, notebook_edit] } } }\n";

const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "a1",
   "metadata": {},
   "outputs": [],
   "source": [
    "1"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"#;

fn stage(config: &str) -> Stage {
    Stage::with(&[
        (".locum/policy.yml", POLICY),
        (".locum/config.yml", config),
        ("src/a.txt", "one\ntwo\nthree\n"),
        ("src/old.txt", "old\n"),
        ("src/gone.txt", "gone\n"),
        ("src/n.ipynb", NOTEBOOK),
        ("src/kept/k.txt", "kept\n"),
        ("other.txt", "other\n"),
    ])
}

/// What every run below leaves.
fn assert_edited(stage: &Stage) {
    assert_eq!(stage.read("checkout/src/a.txt"), "1\nnew\ntwo!\nthree!\n");
    assert_eq!(stage.read("checkout/src/moved/new.txt"), "old\n");
    assert_eq!(
        stage.read("checkout/src/n.ipynb"),
        NOTEBOOK
            .replace("\"execution_count\": 1", "\"execution_count\": null")
            .replace("    \"1\"", "    \"x\"")
    );
    let there = |path: &str| stage.path(path).exists();
    let paths = ["checkout/src/gone.txt", "checkout/src/old.txt", "checkout/src/kept/new.txt"];
    assert_eq!(paths.map(there), [false, false, false]);
    assert_eq!(
        [stage.read("checkout/src/kept/k.txt"), stage.read("checkout/other.txt")],
        ["kept\n", "other\n"]
    );
}

#[test]
fn native_calls_edit_what_the_policy_allows_on_both_ends_of_a_move() {
    let stage = stage("");
    let script = r#"version: 1
tasks:
  - turns:
      - calls:
          - { tool: multi_edit, args: { path: src/a.txt, edits: [{ old_string: one, new_string: "1" }, { old_string: two, new_string: 2 }] } }
          - { tool: multi_edit, args: { path: src/a.txt, edits: [{ old_string: one, new_string: "1" }, { old_string: four, new_string: "4" }] } }
          - { tool: MultiEdit, args: { file_path: src/a.txt, edits: [{ old_string: one, new_string: "1" }] } }
          - { tool: insert_content, args: { path: src/a.txt, line: 2, line_text: two, content: "new\n" } }
          - { tool: search_and_replace, args: { path: src/a.txt, search: "^(t\\w+)$", replace: "$1!", use_regex: true, count: 3 } }
          - { tool: search_and_replace, args: { path: src/a.txt, search: "^(t\\w+)$", replace: "$1!", use_regex: true, count: 2 } }
          - { tool: NotebookEdit, args: { notebook_path: src/n.ipynb, cell_id: a1, new_source: x } }
          - { tool: delete_file, args: { path: src/gone.txt } }
          - { tool: delete_file, args: { path: src/kept/k.txt } }
          - { tool: delete_file, args: { path: other.txt } }
          - { tool: delete_file, args: { path: .locum/policy.yml } }
          - { tool: move_file, args: { path: src/kept/k.txt, to: src/k.txt } }
          - { tool: move_file, args: { path: src/old.txt, to: src/kept/new.txt } }
          - { tool: move_file, args: { path: src/old.txt, to: ../new.txt } }
          - { tool: move_file, args: { source: src/old.txt, destination: src/moved/new.txt } }
      - calls: [{ tool: attempt_completion, args: { result: ok } }]
"#;
    let ran = stage.play(script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    for expected in [
        "Edit 2 of `edits` needs an old and a new text",
        "edit 2 of 2 does not fit, and all are made or none",
        "is in 2 places, at lines 3 and 4, and 3 are meant",
        "Deleted `src/gone.txt`.",
        "edit(src/kept/k.txt)",
        "edit(other.txt)",
        ".locum/policy.yml",
        "edit(src/kept/new.txt)",
        "../new.txt",
        "Moved `src/old.txt` to `src/moved/new.txt`.",
    ] {
        assert!(answers.iter().any(|it| it.contains(expected)), "{expected}: {answers:#?}");
    }
    assert_edited(&stage);
}

#[test]
fn calls_written_as_xml_make_the_same_edits() {
    let stage = stage(CONFIG);
    let replies = [
        "<multi_edit>\n<path>src/a.txt</path>\n<edits>[{\"old_string\": \"one\", \"new_string\": \
         \"1\"}]</edits>\n</multi_edit>\n<insert_content>\n<path>src/a.txt</path>\n<line>2</line>\
         \n<line_text>two</line_text>\n<content>\nnew\n</content>\n</insert_content>",
        "<search_and_replace>\n<path>src/a.txt</path>\n<search>^(t\\w+)$</search>\n<replace>$1!\
         </replace>\n<use_regex>true</use_regex>\n<count>2</count>\n</search_and_replace>\n\
         <notebook_edit>\n<path>src/n.ipynb</path>\n<cell_id>a1</cell_id>\n<new_source>x\
         </new_source>\n</notebook_edit>",
        "<delete_file>\n<path>src/gone.txt</path>\n</delete_file>\n<delete_file>\n<path>src/kept/\
         k.txt</path>\n</delete_file>\n<move_file>\n<path>src/old.txt</path>\n<to>src/moved/\
         new.txt</to>\n</move_file>",
        "<attempt_completion>\n<result>ok</result>\n</attempt_completion>",
    ];
    let server = ModelServer::start(replies.map(Answer::words).to_vec());
    let mut command = stage.locum(&["run", "edit", "--model", "m"]);
    command
        .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
        .env("OPENAI_BASE_URL", &server.base_url);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    assert!(answers.iter().any(|it| it.contains("edit(src/kept/k.txt)")), "{answers:#?}");
    assert_edited(&stage);
}

#[test]
fn a_question_is_answered_by_sending_the_call_again_in_a_later_reply() {
    let stage = stage("");
    let script = r#"version: 1
tasks:
  - turns:
      - calls: [{ tool: read_file, args: { path: src/a.txt } }, { tool: read_file, args: { path: src/n.ipynb } }]
      - calls: [{ tool: insert_content, args: { path: src/a.txt, line: 2, content: new } }]
      - calls: [{ tool: insert_content, args: { path: src/a.txt, line: 2, content: new } }]
      - calls: [{ tool: str_replace_based_edit_tool, args: { command: insert, path: src/a.txt, insert_line: 0, insert_text: "first\n" } }]
      - calls: [{ tool: notebook_edit, args: { path: src/n.ipynb, cell_number: 0, new_source: x } }]
      - calls: [{ tool: notebook_edit, args: { path: src/n.ipynb, cell_number: 0, new_source: x } }]
      - calls: [{ tool: attempt_completion, args: { result: ok } }]
"#;
    let ran = stage.play(script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers: Vec<String> = stage.answers().into_iter().map(|(_, text)| text).collect();
    let asked = answers.iter().filter(|it| it.contains("Send the same call again"));
    assert_eq!(asked.count(), 2, "{answers:#?}");
    assert_eq!(stage.read("checkout/src/a.txt"), "first\none\nnew\ntwo\nthree\n");
    assert!(stage.read("checkout/src/n.ipynb").contains("    \"x\""));
}

#[test]
fn models_are_offered_a_patch_where_they_were_trained_on_it() {
    let stage = stage("");
    for (model, is_offered) in
        [("gpt-5-codex", true), ("gpt-5-mini", true), ("gpt-4.1", true), ("gpt-4o", false)]
    {
        let mut command =
            stage.locum(&["run", "edit", "--dry-run", "--output-format", "json", "--model", model]);
        command.env("OPENAI_API_KEY", "sk-of-the-test-0123456789");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let tools = plan["tools"].as_array().unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool == name);
        assert_eq!(has("apply_patch"), is_offered, "{model}: {tools:?}");
        assert!(has("delete_file") && has("move_file") && has("search_and_replace"), "{tools:?}");
        assert!(!has("multi_edit") && !has("notebook_edit"), "{tools:?}");
    }
}
