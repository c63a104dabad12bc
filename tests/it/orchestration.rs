//! Tasks that go on in other modes and hand work to each other, through the binary.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use crate::support::model_server::{Answer, Asked, ModelServer};
use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const POLICY: &str = r#"
version: 1
modes:
  default: orchestrator
  allow: [orchestrator, architect, code, ask, coordinator]
  delegation: { from: [orchestrator], depth: 2, tasks: 20, parallel: 3 }
rules:
  - allow: ["read(**)"]
  - allow: ["edit(src/**)", "command(./step.sh)"]
    modes: [code]
  - allow: "edit(**/*.md)"
    modes: [architect]
"#;

fn stage() -> Stage {
    let stage = Stage::with(&[
        ("src/a.txt", "one\ntwo\nthree\n"),
        ("step.sh", "#!/bin/sh\necho stepped >> src/steps.txt\n"),
    ]);
    stage.git(&["update-index", "--chmod=+x", "step.sh"]);
    stage.git(&["commit", "-q", "-m", "a program"]);
    stage.git(&["checkout", "-q", "-f", "HEAD"]);
    stage.write("policy.yml", POLICY);
    stage
}

fn play(stage: &Stage, script: &str, arguments: &[&str]) -> Ran {
    let policy = stage.path("policy.yml");
    let given =
        ["--policy", policy.to_str().unwrap(), "--publish", "none", "--output-format", "json"];
    stage.play(script, &[given.as_slice(), arguments].concat())
}

const THREE: &str = r#"
version: 1
tasks:
  - mode: orchestrator
    turns:
      - calls:
          - { tool: update_todo_list, args: { todos: "- [-] three parts\n- [ ] the rest" } }
          - { tool: new_task, args: { mode: code, message: "Part one.", title: "The german part", priority: high } }
          - { tool: new_task, args: { mode: code, message: "Part two.", context: "The middle line is wrong." } }
          - { tool: new_task, args: { mode: code, message: "Part three." } }
      - expect: { contains: ["Sub-task 1 completed", "Sub-task 2 completed", "conflict with the current files", "src/a.txt", "ZWEI", "DEUX", "Sub-task 3 completed", "src/steps.txt"] }
        calls: [{ tool: new_task, args: { mode: code, message: "Both words into src/a.txt." } }]
      - calls:
          - { tool: update_todo_list, args: { todos: "- [x] three parts\n- [x] the rest" } }
          - { tool: attempt_completion, args: { result: "put together" } }
  - contains: Part one.
    turns:
      - expect: { contains: ["This is sub-task 1, `The german part`, priority high: one part of a larger task"] }
        calls: [{ tool: read_file, args: { path: src/a.txt } }, { tool: write_to_file, args: { path: src/a.txt, content: "one\nZWEI\nthree\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "german" } }]
  - contains: Part two.
    turns:
      - expect: { contains: ["The middle line is wrong.", "This is sub-task 2, priority normal: one part"] }
        calls: [{ tool: read_file, args: { path: src/a.txt } }, { tool: write_to_file, args: { path: src/a.txt, content: "one\nDEUX\nthree\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "french" } }]
  - contains: Part three.
    turns:
      - calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
      - expect: { contains: ["Exit code: 0", "src/steps.txt"] }
        calls: [{ tool: attempt_completion, args: { result: "stepped" } }]
  - contains: Both words
    turns:
      - calls: [{ tool: apply_diff, args: { path: src/a.txt, diff: "<<<<<<< SEARCH\nZWEI\n=======\nZWEI DEUX\n>>>>>>> REPLACE\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "both are there" } }]
"#;

#[test]
fn an_orchestrator_puts_together_what_three_sub_tasks_did_beside_each_other() {
    let stage = stage();
    let ran = play(&stage, THREE, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let titles = ran.json()["tasks"].as_array().unwrap()[1..3].to_vec();
    let titles: Vec<&str> = titles.iter().filter_map(|task| task["title"].as_str()).collect();
    assert_eq!(titles, ["The german part", "Part two."]);
    assert_eq!(stage.read("checkout/src/a.txt"), "one\nZWEI DEUX\nthree\n");
    assert_eq!(stage.read("checkout/src/steps.txt"), "stepped\n");
    assert_eq!(stage.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(
        stage.git(&["status", "--porcelain", "--untracked-files=all"]),
        " M src/a.txt\n?? src/steps.txt\n"
    );
    let kept = stage.git(&["for-each-ref", "--format=%(refname)", "refs/locum/trees"]);
    assert!(kept.trim().ends_with("/2"), "{kept}");
    assert_eq!(stage.git(&["show", &format!("{}:src/a.txt", kept.trim())]), "one\nDEUX\nthree\n");
    let session = &stage.sessions()[0];
    assert_eq!(
        stage
            .names(&format!("state/locum/sessions/{session}"))
            .iter()
            .filter(|name| *name == "trees")
            .count(),
        0
    );
    let shown = stage.run(&["session", "show", session]);
    for words in
        ["starts 3 parallel sub-tasks", "was not taken over (1 conflict)", "task 4 for task 0"]
    {
        assert!(shown.out.contains(words), "{}", shown.out);
    }
}

const FILTERED: &str = r#"
version: 1
tasks:
  - mode: orchestrator
    turns:
      - calls:
          - { tool: new_task, args: { mode: code, message: "Part one." } }
          - { tool: new_task, args: { mode: code, message: "Part two." } }
      - expect: { contains: ["Sub-task 1 completed", "Sub-task 2 completed"], not_contains: ["somebody else", "None of its changes"] }
        calls: [{ tool: attempt_completion, args: { result: "both" } }]
  - contains: Part two.
    turns:
      - calls: [{ tool: write_to_file, args: { path: src/new.txt, content: "new\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
  - mode: code
    turns:
      - calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
      - expect: { contains: ["it is REAL"] }
        calls: [{ tool: attempt_completion, args: { result: "stepped" } }]
"#;

#[test]
fn worktrees_have_files_of_a_git_filter_as_the_checkout_has_them() {
    let stage = stage();
    stage.git(&["config", "filter.case.clean", "tr A-Z a-z"]);
    stage.git(&["config", "filter.case.smudge", "tr a-z A-Z"]);
    for (path, text) in [
        (".gitattributes", "*.bin filter=case\nsrc/ends.txt text eol=crlf\n"),
        ("src/b.bin", "REAL\n"),
        ("src/ends.txt", "a\r\n"),
        ("step.sh", "#!/bin/sh\necho it is $(cat src/b.bin)\necho MORE >> src/b.bin\n"),
    ] {
        stage.write(&format!("checkout/{path}"), text);
    }
    let touch = |path: &str| {
        let file = std::fs::File::options().write(true).open(stage.path(path)).unwrap();
        let long_ago = Duration::from_secs(1_700_000_000);
        file.set_modified(SystemTime::UNIX_EPOCH + long_ago).unwrap();
    };
    touch("checkout/src/b.bin");
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-q", "-m", "a filter"]);
    assert_eq!(stage.git(&["show", "HEAD:src/b.bin"]), "real\n");
    // Git has to look at its content, and finds nothing changed.
    touch("checkout/src/ends.txt");

    let ran = play(&stage, FILTERED, &["--mode", "code", "--worktree"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.read("checkout/src/b.bin"), "REAL\n");
    let ran = play(&stage, FILTERED, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.json()["notes"].to_string().contains("one after another"), "{ran:?}");
    assert_eq!(stage.read("checkout/src/b.bin"), "REAL\nMORE\n");
    assert_eq!(stage.read("checkout/src/new.txt"), "new\n");
    assert_eq!(stage.git(&["for-each-ref", "refs/locum/trees"]), "");
}

#[test]
fn a_mode_is_asked_for_and_granted_refused_or_named_by_what_blocks() {
    let stage = stage();
    let script = r#"
version: 1
tasks:
  - mode: coordinator
    contains: It asks for `code`.
    turns:
      - calls: [{ tool: coordinate_mode, args: { mode_slug: code, reason: "b has to be written" } }]
  - mode: coordinator
    turns:
      - expect: { contains: ["asks to go on"], tools: [coordinate_mode], not_tools: [switch_mode] }
        calls: [{ tool: coordinate_mode, args: { mode_slug: architect, reason: "a plan is asked for" } }]
  - turns:
      - expect: { tools: [request_mode_switch], not_tools: [switch_mode, write_to_file] }
        calls: [{ tool: request_mode_switch, args: { reason: "a plan has to be written" } }]
      - expect: { contains: ["in architect mode"], tools: [write_to_file] }
        calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - expect: { contains: ["can only edit files matching pattern", "Modes that may: `code`"] }
        calls: [{ tool: request_mode_switch, args: { mode_slug: ask, reason: "to see" } }]
      - expect: { contains: ["cannot change files"] }
        calls: [{ tool: request_mode_switch, args: { mode_slug: code, reason: "b has to be written" } }]
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "planned and written" } }]
"#;
    let ran = play(&stage, script, &["--mode", "ask"]);
    assert_eq!((ran.code, stage.read("checkout/src/b.txt").as_str()), (Some(0), "b\n"), "{ran:?}");
    let shown = stage.run(&["session", "show", &stage.sessions()[0]]).out;
    for words in [
        "from mode ask to architect (modes.allow): a plan is asked for",
        "from mode architect to code",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
    let listed = stage.run(&["session", "list", "--json"]).json();
    assert_eq!(listed[0]["mode"], "code", "the mode it is in, not its first");
}

#[test]
fn delegation_goes_neither_round_nor_back_up() {
    let stage = stage();
    stage.write(
        "policy.yml",
        &POLICY.replace("from: [orchestrator], depth: 2", "from: [orchestrator, code], depth: 9"),
    );
    let script = r#"
version: 1
tasks:
  - mode: code
    turns:
      - calls:
          - { tool: new_task, args: { mode: orchestrator, message: "You do it." } }
          - { tool: new_task, args: { mode: code, message: "A part." } }
          - { tool: new_task, args: { mode: none, message: "x" } }
          - { tool: new_task, args: { mode: ask, message: "x", priority: soon } }
      - expect: { contains: ["handed this work down", "exactly this already", "is not in `modes.allow`", "must be `low`"] }
        calls: [{ tool: attempt_completion, args: { result: "nothing to hand on" } }]
  - turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "A part." } }]
      - expect: { contains: ["nothing to hand on"] }
        calls: [{ tool: attempt_completion, args: { result: "done" } }]
"#;
    let ran = play(&stage, script, &[]);
    assert_eq!((ran.code, ran.json()["tasks"].as_array().unwrap().len()), (Some(0), 2), "{ran:?}");
}

/// The mode a request is for, and whether a part of the work or a decision.
fn mode_of(asked: &Asked) -> String {
    let body = asked.body.as_str();
    let modes = ["orchestrator", "architect", "code", "ask", "coordinator"];
    modes
        .into_iter()
        .find(|mode| body.contains(&format!("(`{mode}`)\\n- Working directory")))
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn each_mode_is_offered_its_own_tools() {
    let stage = stage();
    let mut server = ModelServer::start_with(|asked| {
        let body = asked.json();
        let turns = body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count();
        let end = ("attempt_completion", json!({ "result": "done" }));
        let task = |mode: &str| {
            ("new_task", json!({ "mode": mode, "message": format!("Part for {mode}.") }))
        };
        match (mode_of(asked).as_str(), turns) {
            ("orchestrator", 0) => Answer::calls(&[task("code"), task("architect"), task("ask")]),
            ("code", 0) => {
                Answer::calls(&[("request_mode_switch", json!({ "reason": "fewer rights" }))])
            }
            ("coordinator", _) => Answer::calls(&[(
                "coordinate_mode",
                json!({ "mode_slug": null, "reason": "reading is enough" }),
            )]),
            _ => Answer::calls(&[end]),
        }
    });
    let policy = stage.path("policy.yml");
    let mut command = stage.locum(&[
        "run",
        "Do the task.",
        "--policy",
        policy.to_str().unwrap(),
        "--publish",
        "none",
    ]);
    command
        .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
        .env("OPENAI_BASE_URL", &server.base_url)
        .env("LOCUM_MODEL", "m");
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut offered: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for asked in server.asked() {
        let body: Value = asked.json();
        let names = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
            .collect();
        offered.insert(mode_of(asked), names);
    }
    let reads = [
        "read_file",
        "list_files",
        "glob",
        "list_code_definition_names",
        "search_files",
        "codebase_search",
    ];
    let common = ["update_todo_list", "ask_followup_question", "attempt_completion"];
    let expected: BTreeMap<String, Vec<String>> = [
        (
            "architect",
            [
                &reads,
                ["write_to_file", "apply_diff", "search_and_replace", "delete_file", "move_file"]
                    .as_slice(),
                &common,
                &["request_mode_switch"],
            ]
            .concat(),
        ),
        ("ask", [reads.as_slice(), &["show_changes"], &common, &["request_mode_switch"]].concat()),
        (
            "code",
            [
                &reads,
                [
                    "write_to_file",
                    "apply_diff",
                    "search_and_replace",
                    "delete_file",
                    "move_file",
                    "execute_command",
                ]
                .as_slice(),
                &common,
                &["request_mode_switch"],
            ]
            .concat(),
        ),
        (
            "coordinator",
            [reads.as_slice(), &["show_changes", "attempt_completion", "coordinate_mode"]].concat(),
        ),
        ("orchestrator", [common.as_slice(), &["new_task", "request_mode_switch"]].concat()),
    ]
    .into_iter()
    .map(|(mode, names)| (mode.to_owned(), names.into_iter().map(str::to_owned).collect()))
    .collect();
    assert_eq!(offered, expected);
}

#[test]
fn an_agent_for_sub_tasks_begins_no_run_and_keeps_its_own_limits() {
    let stage = stage();
    stage.write(
        "checkout/.kilo/agents/scout.md",
        "---\nmode: subagent\nsteps: 2\ntemperature: 0.1\ntools: { bash: false }\n---\nYou look \
         around.\n",
    );
    stage.commit("an agent");
    stage.write("policy.yml", &POLICY.replace("ask, coordinator]", "ask, coordinator, scout]"));
    let looks = "      - calls: [{ tool: read_file, args: { path: src/a.txt } }]\n";
    let script = format!(
        r#"
version: 1
tasks:
  - mode: scout
    turns:
{looks}{looks}{looks}
  - mode: orchestrator
    turns:
      - calls: [{{ tool: new_task, args: {{ mode: scout, message: "Look." }} }}, {{ tool: request_mode_switch, args: {{ mode_slug: scout, reason: x }} }}]
      - expect: {{ contains: ["Sub-task 1 did not succeed: in mode scout, after 2 turns and ", "budget of 2 turns is used up", "is for sub-tasks only"] }}
        calls: [{{ tool: attempt_completion, args: {{ result: "it took too long" }} }}]
"#
    );
    let ran = play(&stage, &script, &["--mode", "scout"]);
    assert!(ran.code == Some(2) && ran.err.contains("is for sub-tasks only"), "{ran:?}");
    let ran = play(&stage, &script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn variables_of_the_modes_before_stay_and_a_modes_own_win() {
    let mode = |slug: &str, variables: &str| {
        format!(
            "  - slug: {slug}\n    name: {slug}\n    roleDefinition: \"{slug} of {{{{team}}}} for \
             {{{{customer}}}} in {{{{year}}}}\"\n    groups: [read]\n    variables: {{ {variables} \
             }}\n"
        )
    };
    let modes = format!(
        "customModes:\n{}{}{}",
        mode("plan", "team: Core, year: 2026"),
        mode("build", "team: Build, customer: Acme"),
        mode("check", "year: 2027"),
    );
    let policy = "version: 1\nmodes: { default: plan, allow: [plan, build, check], switching: \
                  direct }\nrules:\n  - allow: \"read(**)\"\n";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        (".locum/modes.yml", modes.as_str()),
        (
            ".locum/config.yml",
            "models: { profiles: { m: { model: m, context_window: 100000 } } }\n",
        ),
    ]);
    let to = |slug: &str| {
        Answer::calls(&[("switch_mode", json!({ "mode_slug": slug, "reason": "next" }))])
    };
    let done = Answer::calls(&[("attempt_completion", json!({ "result": "Done." }))]);
    let mut server = ModelServer::start(vec![to("build"), to("check"), to("plan"), done]);
    let mut command = stage.locum(&["run", "Do it.", "--model", "m"]);
    command
        .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
        .env("OPENAI_BASE_URL", &server.base_url);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let roles = [
        "plan of Core for {{customer}} in 2026",
        "build of Build for Acme in 2026",
        "check of Build for Acme in 2027",
        "plan of Core for Acme in 2026",
    ];
    assert_eq!(server.asked().len(), roles.len());
    for (asked, role) in server.asked().iter().zip(roles) {
        let system = asked.json()["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(system.contains(role), "{role}: {system}");
    }
}
