//! Which mode a task goes on in: what is asked for, what the policy says first, what the
//! coordinator decides.

use crate::session::fixture::{Fixture, POLICY, Ran, turns};
use locum_agent::session::event::Event;
use locum_agent::session::outcome::TaskReport;
use pretty_assertions::assert_eq;

const END: &str = r#"- calls: [{ tool: attempt_completion, args: { result: "r" } }]"#;

/// Every switch: from, to, reason, rule.
fn switches(ran: &Ran) -> Vec<(String, String, String, String)> {
    let switch = |event: &Event| match event {
        Event::ModeSwitched { from, to, reason, rule, .. } => Some((
            from.clone(),
            to.clone(),
            reason.clone(),
            rule.as_ref().map(|rule| rule.pattern.clone()).unwrap_or_default(),
        )),
        _other => None,
    };
    ran.lines.iter().filter_map(|line| switch(&line.event)).collect()
}

fn request(mode: &str, arguments: &str, policy: &str) -> Ran {
    let script =
        turns(&format!("- calls: [{{ tool: request_mode_switch, args: {arguments} }}]\n{END}"));
    Fixture::with_policy(&script, policy).in_mode(mode).run()
}

#[test]
fn a_named_mode_is_switched_to_and_its_tools_come_with_the_next_turn() {
    let fixture = Fixture::new(&turns(
        r#"
- expect: { tools: [request_mode_switch], not_tools: [switch_mode, coordinate_mode, write_to_file] }
  calls: [{ tool: request_mode_switch, args: { mode_slug: code, reason: "b is to be written" } }]
- expect: { contains: ["From the next turn on in code mode"], tools: [write_to_file, request_mode_switch], not_tools: [switch_mode] }
  calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    ))
    .in_mode("ask");
    let ran = fixture.run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    let expected = (
        "ask".to_owned(),
        "code".to_owned(),
        "b is to be written".to_owned(),
        "modes.allow".to_owned(),
    );
    assert_eq!(switches(&ran), [expected]);
    assert_eq!(
        (ran.outcome.tasks.len(), ran.outcome.tasks[0].turns),
        (1, 3),
        "the conversation is kept"
    );
}

#[test]
fn what_the_policy_does_not_let_follow_is_refused_with_the_reason() {
    let barred = POLICY.replace("modes: {", "modes: { transitions: { ask: [architect] },");
    for (arguments, policy, reason) in [
        ("{ mode_slug: ask, reason: x }", POLICY, "Already in ask mode."),
        (
            "{ mode_slug: none, reason: x }",
            POLICY,
            "Invalid mode: none. There are: architect, code,",
        ),
        (
            "{ mode_slug: code, reason: x }",
            &barred,
            "The policy lets mode `ask` be followed only by: architect.",
        ),
        (
            "{ mode_slug: code, reason: x }",
            &POLICY
                .replace("architect, code,", "architect,")
                .replace("default: code", "default: ask"),
            "The policy does not allow mode `code`",
        ),
        (
            "{ reason: x }",
            &POLICY.replace("modes: {", "modes: { transitions: { ask: [] },"),
            "lets no other mode follow `ask`",
        ),
        ("{ mode_slug: code }", POLICY, "reason"),
    ] {
        let ran = request("ask", arguments, policy);
        let answer = &ran.answers("request_mode_switch")[0];
        assert!(answer.contains(reason), "{arguments}: {answer}");
        assert_eq!(switches(&ran), []);
    }
}

#[test]
fn one_mode_that_fits_needs_no_coordinator() {
    let ran = request(
        "ask",
        "{ reason: plan it }",
        &POLICY.replace("modes: {", "modes: { transitions: { ask: [architect] },"),
    );
    assert_eq!(
        switches(&ran),
        [("ask".into(), "architect".into(), "plan it".into(), "modes.transitions".into())]
    );
    assert_eq!(ran.outcome.tasks.len(), 1);
}

/// A run in which several modes fit and the coordinator says `decision`.
fn coordinated(decision: &str, policy: &str) -> (Fixture, Ran) {
    let script = format!(
        r#"
  - mode: coordinator
    contains: "b is missing"
    turns:
      - expect:
          contains: ["`ask` asks to go on", "- `code`", "Do the thing."]
          tools: [coordinate_mode, read_file]
          not_tools: [switch_mode, request_mode_switch, new_task, write_to_file]
        calls: [{{ tool: read_file, args: {{ path: src/a.txt }} }}]
      - calls: [{decision}]
  - contains: "Do the thing."
    turns:
      - calls: [{{ tool: request_mode_switch, args: {{ reason: "b is missing" }} }}]
      - calls: [{{ tool: write_to_file, args: {{ path: src/b.txt, content: "b\n" }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#
    );
    let fixture = Fixture::with_policy(&script, policy).in_mode("ask");
    let ran = fixture.run();
    (fixture, ran)
}

#[test]
fn where_several_modes_fit_the_coordinator_chooses() {
    let (_fixture, ran) = coordinated(
        r#"{ tool: coordinate_mode, args: { mode_slug: code, reason: "a file has to be written" } }"#,
        POLICY,
    );
    assert_eq!(
        (ran.word(), ran.changed()),
        ("done", vec!["src/b.txt"]),
        "{:?}",
        ran.answers("request_mode_switch")
    );
    assert_eq!(
        switches(&ran),
        [("ask".into(), "code".into(), "a file has to be written".into(), "modes.allow".into())]
    );
    let tasks: Vec<(&str, Option<bool>)> =
        ran.outcome.tasks.iter().map(|task| (task.mode.as_str(), task.completed)).collect();
    assert_eq!(tasks, [("code", Some(true)), ("coordinator", Some(true))]);
}

#[test]
fn a_refusal_of_the_coordinator_is_an_error_with_its_reason() {
    for (decision, words) in [
        (
            r#"{ tool: coordinate_mode, args: { mode_slug: null, reason: "nobody asked for b" } }"#,
            "refused another mode: nobody asked for b",
        ),
        (
            r#"{ tool: attempt_completion, args: { result: "I do not know" } }"#,
            "decided nothing: I do not know",
        ),
        (
            r#"{ tool: coordinate_mode, args: { mode_slug: ask, reason: "stay" } }"#,
            "Already in ask mode.",
        ),
    ] {
        let (_fixture, ran) = coordinated(decision, POLICY);
        let answer = &ran.answers("request_mode_switch")[0];
        assert!(answer.contains(words), "{answer}");
        assert_eq!((switches(&ran), ran.changed()), (vec![], vec![]));
    }
    let nobody = POLICY.replace(" coordinator,", "");
    let (_fixture, ran) = coordinated("{ tool: none }", &nobody);
    assert!(
        ran.answers("request_mode_switch")[0].contains("Several modes may follow: "),
        "without a coordinator a mode has to be named"
    );
}

#[test]
fn a_restriction_that_blocks_a_call_names_the_modes_that_may_and_bars_those_that_may_not() {
    let script = turns(
        r#"
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- expect: { contains: ["can only edit files matching pattern", "Modes that may: `code`, `debug`; request_mode_switch leads there."] }
  calls: [{ tool: request_mode_switch, args: { mode_slug: review, reason: "try there" } }]
- expect: { contains: ["cannot change files"] }
  calls: [{ tool: request_mode_switch, args: { mode_slug: code, reason: "write it" } }]
- calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::new(&script).in_mode("architect").run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    let ran = Fixture::new(&turns(&format!(
        "- calls: [{{ tool: execute_command, args: {{ command: ls }} }}]\n{END}"
    )))
    .in_mode("ask")
    .run();
    let answer = &ran.answers("execute_command")[0];
    assert!(
        answer.contains("not allowed in ask mode")
            && answer.contains("Modes that may: `code`, `debug`; request_mode_switch"),
        "{answer}"
    );
}

#[test]
fn switched_off_nothing_is_offered_suggested_or_done() {
    let policy = POLICY.replace("modes: {", "modes: { switching: off,");
    let script = turns(
        r#"
- expect: { not_tools: [switch_mode, request_mode_switch, coordinate_mode] }
  calls: [{ tool: switch_mode, args: { mode_slug: code, reason: x } }, { tool: request_mode_switch, args: { mode_slug: code, reason: x } }]
- expect: { contains: ["not allowed in architect mode"], not_contains: ["Modes that may"] }
  calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let ran = Fixture::with_policy(&script, &policy).in_mode("architect").run();
    assert_eq!((ran.word(), switches(&ran)), ("nothing-to-do", vec![]), "{}", ran.reason());
}

#[test]
fn a_decision_killed_at_any_line_is_made_once() {
    let decision = r#"{ tool: coordinate_mode, args: { mode_slug: code, reason: "write" } }"#;
    let (whole, expected) = coordinated(decision, POLICY);
    // The time of a kill is not counted.
    let tasks = |ran: &Ran| {
        let tasks = ran.outcome.tasks.iter().cloned();
        tasks.map(|task| TaskReport { seconds: 0, ..task }).collect::<Vec<_>>()
    };
    for lines in 1..expected.lines.len() {
        let mut killed = Fixture::new("").in_mode("ask");
        killed.script.clone_from(&whole.script);
        assert!(killed.run_killed_at(lines).is_none(), "line {lines}");
        let resumed = killed.resume();
        assert_eq!(
            (resumed.word(), resumed.changed(), switches(&resumed)),
            (expected.word(), expected.changed(), switches(&expected))
        );
        assert_eq!(tasks(&resumed), tasks(&expected), "line {lines}");
    }
}
