//! What a run does when the model does its part.

use crate::session::fixture::{Fixture, POLICY, turns};
use locum_agent::session::event::Event;
use pretty_assertions::assert_eq;

#[test]
fn a_change_is_made_recorded_and_reported() {
    let fixture = Fixture::new(&turns(
        r#"
- calls: [{ tool: read_file, args: { path: src/a.txt } }]
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "new\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "b is there" } }]
"#,
    ));
    let ran = fixture.run();
    assert_eq!(
        (ran.word(), ran.outcome.summary.as_str(), ran.reason()),
        ("done", "b is there", "")
    );
    assert_eq!(ran.changed(), ["src/b.txt"]);
    assert_eq!(fixture.file("src/b.txt").as_deref(), Some("new\n"));
    assert!(ran.outcome.checkpoint.is_some());
    let spent = ran.outcome.spent;
    assert_eq!((spent.turns, spent.tool_calls, spent.files, spent.diff_lines), (3, 3, 1, 1));
    assert!(ran.outcome.spent_is_estimate, "a script counts no tokens");
    assert_eq!(ran.outcome.tasks.len(), 1);
    assert_eq!(
        (ran.outcome.tasks[0].title.as_str(), ran.outcome.tasks[0].completed),
        ("Do the thing.", Some(true))
    );
}

#[test]
fn nothing_changed_is_said_so_where_something_could_have_been() {
    let script =
        turns(r#"- calls: [{ tool: attempt_completion, args: { result: "all is well" } }]"#);
    assert_eq!(Fixture::new(&script).run().word(), "nothing-to-do");
    let asked = Fixture::new(&script).in_mode("ask").run();
    assert_eq!((asked.word(), asked.outcome.summary.as_str()), ("done", "all is well"));
}

#[test]
fn a_refused_call_is_answered_listed_and_done_without() {
    let fixture = Fixture::new(&turns(
        r#"
- calls:
    - { tool: write_to_file, args: { path: src/secret.txt, content: "x" } }
    - { tool: write_to_file, args: { path: src/b.txt, content: "x\n" } }
- expect: { contains: ["nobody changes this one"] }
  calls: [{ tool: attempt_completion, args: { result: "secret left alone" } }]
"#,
    ));
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]));
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
    assert_eq!(ran.outcome.refusals.len(), 1);
    let refused = &ran.outcome.refusals[0];
    let rule = refused.refusal.verdicts[0].rule().unwrap();
    assert_eq!(
        (refused.mode.as_str(), rule.pattern.as_str(), rule.line.is_some()),
        ("code", "edit(src/secret.txt)", true)
    );
}

/// One command whose change is allowed, one whose change is not.
const TWO_COPIES: &str = r#"
- calls: [{ tool: execute_command, args: { command: "sh -c 'cp src/a.txt src/c.txt'" } }]
- calls: [{ tool: execute_command, args: { command: "sh -c 'cp src/a.txt src/secret.txt'" } }]
- expect: { contains: ["policy does not allow"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;

#[test]
fn what_a_command_changed_is_judged_too() {
    for fixture in
        [Fixture::new(&turns(TWO_COPIES)), Fixture::new(&turns(TWO_COPIES)).without_layer()]
    {
        let ran = fixture.run();
        assert_eq!(
            (ran.word(), ran.changed()),
            ("done", vec!["src/c.txt"]),
            "{:?}",
            ran.answers("execute_command")
        );
        assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
        assert_eq!(ran.outcome.commands.len(), 2);
        assert_eq!(ran.outcome.refusals.len(), 1);
    }
}

#[test]
fn what_the_policy_does_not_allow_is_kept_with_the_session() {
    let fixture = Fixture::new(&turns(TWO_COPIES));
    std::fs::write(fixture.root.join("src/secret.txt"), "not committed\n").unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.outcome.refusals.len()), ("done", 1));
    assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("not committed\n"));
    let kept = std::fs::read_dir(fixture.journal.join("layers/run/kept")).unwrap();
    let calls: Vec<_> = kept.map(|call| call.unwrap().path()).collect();
    let kept = std::fs::read_to_string(calls[0].join("src/secret.txt")).unwrap();
    assert_eq!((calls.len(), Some(kept)), (1, fixture.file("src/a.txt")));
}

#[test]
fn a_file_in_place_of_a_folder_that_stays_does_not_end_the_run() {
    let script = turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- expect: { contains: ["nobody changes this one"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let policy = POLICY.replace("edit(src/**)", "edit(src)");
    let step = "#!/bin/sh\nrm -rf src; echo x > src; echo note > notes.md\n";
    // Without a layer nothing is made in the root.
    for (layered, ended) in [(true, ("done", vec!["notes.md"])), (false, ("nothing-to-do", vec![]))]
    {
        let fixture = Fixture::with_policy(&script, &policy);
        let fixture = if layered { fixture } else { fixture.without_layer() };
        std::fs::write(fixture.root.join("step.sh"), step).unwrap();
        let ran = fixture.run();
        assert_eq!((ran.word(), ran.changed()), ended, "{}", ran.reason());
        assert_eq!(fixture.file("src/secret.txt").as_deref(), Some("secret\n"));
        assert_eq!(fixture.file("src/a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    }
}

#[test]
fn a_file_takes_the_place_of_a_folder_of_which_nothing_stays() {
    let fixture = Fixture::new(&turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ));
    std::fs::create_dir_all(fixture.root.join("src/d/empty")).unwrap();
    let step = "#!/bin/sh\nrm -rf src/d; echo x > src/d\n";
    std::fs::write(fixture.root.join("step.sh"), step).unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/d"]), "{}", ran.reason());
    assert_eq!(fixture.file("src/d").as_deref(), Some("x\n"));
}

#[test]
fn what_a_person_changes_while_a_command_runs_stays() {
    let fixture = Fixture::new(&turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- expect: { contains: ["Somebody else changed `src/c.txt`"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ))
    .meanwhile(|event| matches!(event, Event::Promoting { .. }), ("src/c.txt", "by a person\n"));
    let script = "#!/bin/sh\ncp src/a.txt src/c.txt; cp src/a.txt src/d.txt\n";
    std::fs::write(fixture.root.join("step.sh"), script).unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/d.txt"]));
    assert_eq!(fixture.file("src/c.txt").as_deref(), Some("by a person\n"));
    let note = ran.outcome.notes.concat();
    let kept = note.split_once("What the command wrote is in `").unwrap().1.trim_end_matches("`.");
    let kept = std::fs::read_to_string(format!("{kept}/src/c.txt")).unwrap();
    assert!(
        note.contains("changed `src/c.txt` while") && kept == "one\ntwo\nthree\n",
        "{note}: {kept}"
    );
}

#[test]
fn what_a_person_removes_while_a_command_rewrites_it_stays_removed() {
    let fixture = Fixture::new(&turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- expect: { contains: ["Somebody else changed `src/a.txt` while"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ));
    let script = "#!/bin/sh\necho more >> src/a.txt; echo new > src/d.txt\n";
    std::fs::write(fixture.root.join("step.sh"), script).unwrap();
    let removed = fixture.root.join("src/a.txt");
    let ran = fixture
        .watched(move |event| {
            if matches!(event, Event::Promoting { .. }) {
                std::fs::remove_file(&removed).unwrap();
            }
        })
        .run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/d.txt"]), "{}", ran.reason());
}

#[test]
fn build_output_stays_out_of_the_checkout_and_is_there_for_the_next_command() {
    let fixture = Fixture::with_policy(
        &turns(
            r#"
- calls: [{ tool: execute_command, args: { command: "./step.sh" } }]
- calls:
    - { tool: read_file, args: { path: built/deep/o } }
    - { tool: execute_command, args: { command: "cat o", cwd: built/deep } }
- expect: { contains: ["object"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
        ),
        &POLICY.replace("command(false)", "command(cat:*)"),
    );
    let script = "#!/bin/sh\nmkdir -p built/deep; echo object > built/deep/o; echo x > src/c.txt\n";
    std::fs::write(fixture.root.join("step.sh"), script).unwrap();
    std::fs::write(fixture.root.join(".git/info/exclude"), "/built/\n").unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/c.txt"]), "{}", ran.reason());
    for answers in [ran.answers("read_file"), ran.answers("execute_command")] {
        assert!(answers.last().unwrap().contains("object"), "{answers:?}");
    }
    assert!(!fixture.root.join("built").exists());
}

#[test]
fn uncommitted_work_of_others_that_is_too_large_is_never_written_over_by_putting_back() {
    let fixture = Fixture::new(&turns(
        r#"
- calls: [{ tool: execute_command, args: { command: "sh -c 'cp src/a.txt src/secret.txt'" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ))
    .without_layer();
    let secret = std::fs::File::create(fixture.root.join("src/secret.txt")).unwrap();
    secret.set_len(17 << 20).unwrap();
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed().len(), ran.outcome.refusals.len()), ("failed", 0, 1));
    assert!(
        ran.reason().contains("`src/secret.txt`") && ran.reason().contains("in no commit"),
        "{}",
        ran.reason()
    );
}

#[test]
fn a_sub_task_runs_in_its_own_mode_and_context_and_its_result_comes_back() {
    let script = r#"
  - mode: orchestrator
    turns:
      - calls:
          - { tool: new_task, args: { mode: code, message: "Write b." } }
          - { tool: new_task, args: { mode: ask, message: "Look at b." } }
      - expect: { contains: ["b is written", "src/b.txt", "b looks fine"] }
        calls: [{ tool: attempt_completion, args: { result: "both done" } }]
  - mode: code
    contains: Write b.
    turns:
      - expect: { contains: ["Write b."], not_contains: ["Do the thing"], tools: [write_to_file], not_tools: [new_task, switch_mode] }
        calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "b is written" } }]
  - mode: ask
    turns:
      - expect: { not_tools: [write_to_file] }
        calls: [{ tool: read_file, args: { path: src/b.txt } }]
      - calls: [{ tool: attempt_completion, args: { result: "b looks fine" } }]
"#;
    let ran = Fixture::new(script).in_mode("orchestrator").run();
    assert_eq!((ran.word(), ran.outcome.summary.as_str(), ran.reason()), ("done", "both done", ""));
    let tasks: Vec<_> = ran
        .outcome
        .tasks
        .iter()
        .map(|task| (task.parent.map(|id| id.0), task.mode.as_str(), task.title.as_str()))
        .collect();
    assert_eq!(
        tasks,
        [
            (None, "orchestrator", "Do the thing."),
            (Some(0), "code", "Write b."),
            (Some(0), "ask", "Look at b.")
        ]
    );
    assert_eq!(ran.outcome.spent.turns, 6, "what sub-tasks spend the run has spent");
}

#[test]
fn a_failed_sub_task_is_the_parents_to_deal_with() {
    let script = r#"
  - mode: orchestrator
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Fail." } }]
      - expect: { contains: ["did not succeed", "no turn"] }
        calls: [{ tool: attempt_completion, args: { result: "the sub-task failed" } }]
  - mode: code
    turns:
      - calls: [{ tool: read_file, args: { path: src/a.txt } }]
      - fail: { garbled: "no turn" }
"#;
    let ran = Fixture::new(script).in_mode("orchestrator").run();
    assert_eq!(
        (ran.word(), ran.outcome.summary.as_str()),
        ("nothing-to-do", "the sub-task failed"),
        "{}",
        ran.reason()
    );
    assert_eq!(ran.outcome.tasks[1].completed, Some(false));
}

#[test]
fn sub_tasks_keep_to_the_policys_limits() {
    let policy = crate::session::fixture::POLICY.replace(
        "modes: { default: code,",
        "modes: { delegation: { from: [orchestrator], depth: 1, tasks: 1, parallel: 1 }, default: \
         code,",
    );
    let script = r#"
  - contains: Do the thing
    turns:
      - calls: [{ tool: new_task, args: { mode: orchestrator, message: "Deeper." } }]
      - calls: [{ tool: new_task, args: { mode: ask, message: "Second." } }]
      - expect: { contains: ["used up"] }
        calls: [{ tool: attempt_completion, args: { result: "r" } }]
  - contains: Deeper
    turns:
      - expect: { not_tools: [new_task] }
        calls: [{ tool: attempt_completion, args: { result: "deep" } }]
"#;
    let ran = Fixture::with_policy(script, &policy).in_mode("orchestrator").run();
    assert_eq!((ran.word(), ran.outcome.tasks.len()), ("done", 2), "{}", ran.reason());
}

#[test]
fn a_mode_is_switched_where_the_policy_lets_it_be() {
    let switch = |policy: &str| {
        let script = turns(
            r#"
- calls: [{ tool: switch_mode, args: { mode_slug: code, reason: "now write" } }]
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
        );
        Fixture::with_policy(&script, policy).in_mode("architect").run()
    };
    let direct =
        switch(&crate::session::fixture::POLICY.replace("modes: {", "modes: { switching: direct,"));
    assert_eq!(
        (direct.word(), direct.outcome.tasks[0].mode.as_str()),
        ("done", "code"),
        "{}",
        direct.reason()
    );
    let coordinator = switch(crate::session::fixture::POLICY);
    assert_eq!(
        (coordinator.word(), coordinator.outcome.tasks[0].mode.as_str()),
        ("refused", "architect")
    );
    let barred = switch(
        &crate::session::fixture::POLICY
            .replace("modes: {", "modes: { switching: direct, transitions: { architect: [ask] },"),
    );
    assert_eq!((barred.word(), barred.outcome.tasks[0].mode.as_str()), ("refused", "architect"));
    assert!(barred.answers("switch_mode")[0].contains("followed only by ask"));
}

#[test]
fn the_checklist_of_the_root_task_is_reported() {
    let ran = Fixture::new(&turns(
        r#"
- calls: [{ tool: update_todo_list, args: { todos: "- [x] look\n- [ ] leave" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ))
    .run();
    let texts: Vec<&str> = ran.outcome.todos.iter().map(|todo| todo.text.as_str()).collect();
    assert_eq!(texts, ["look", "leave"]);
}

#[test]
fn a_call_that_would_write_a_secret_is_not_performed() {
    let fixture = Fixture::new(&turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "key = hunter2hunter2\n" } }]
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "key = from the environment\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ));
    let ran = fixture.run();
    assert_eq!(
        (ran.word(), fixture.file("src/b.txt").as_deref()),
        ("done", Some("key = from the environment\n"))
    );
    assert!(ran.answers("write_to_file")[0].contains("hold a secret"));
}

#[test]
fn reads_of_one_turn_are_answered_in_order_and_no_secret_comes_through() {
    let fixture = Fixture::new(&turns(
        r#"
- say: "the key is hunter2hunter2"
  calls:
    - { tool: read_file, args: { path: src/a.txt } }
    - { tool: read_file, args: { path: missing.txt } }
    - { tool: list_files, args: { path: src } }
- calls: [{ tool: attempt_completion, args: { result: "hunter2hunter2" } }]
"#,
    ));
    let ran = fixture.run();
    assert_eq!(ran.answers("read_file").len(), 2);
    assert!(ran.answers("list_files")[0].contains("a.txt"));
    let journal = std::fs::read_to_string(fixture.journal.join("journal.jsonl")).unwrap();
    assert!(!journal.contains("hunter2"), "{journal}");
}
