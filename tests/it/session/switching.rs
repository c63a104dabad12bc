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

/// A task in coordinator mode that chooses a mode.
fn choosing(slug: &str, reason: &str) -> String {
    format!(
        "  - mode: coordinator\n    turns:\n      - calls: [{{ tool: coordinate_mode, args: {{ \
         mode_slug: {slug}, reason: \"{reason}\" }} }}]\n"
    )
}

/// A run in ask mode that asks for code mode, and what the coordinator chooses.
fn decided(slug: &str, reason: &str) -> Ran {
    let asks = "- calls: [{ tool: request_mode_switch, args: { mode_slug: code, reason: x } }]";
    let script = format!("{}{}", choosing(slug, reason), turns(&format!("{asks}\n{END}")));
    Fixture::new(&script).in_mode("ask").run()
}

fn request(mode: &str, arguments: &str, policy: &str) -> Ran {
    let script =
        turns(&format!("- calls: [{{ tool: request_mode_switch, args: {arguments} }}]\n{END}"));
    Fixture::with_policy(&script, policy).in_mode(mode).run()
}

#[test]
fn a_named_mode_is_a_wish_and_its_tools_come_with_the_next_turn() {
    let script = turns(
        r#"
- expect: { tools: [request_mode_switch], not_tools: [switch_mode, coordinate_mode, write_to_file] }
  calls: [{ tool: request_mode_switch, args: { mode_slug: code, reason: "b is to be written" } }]
- expect: { contains: ["From the next turn on in code mode: Writes and changes code. The coordinator chose it: a file\nThere you may read `**`; edit `src/**`, `notes.md`, after approval `src/held.txt`; run `touch:*`"], tools: [write_to_file, request_mode_switch], not_tools: [switch_mode] }
  calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
- calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#,
    );
    let script = format!("{}{script}", choosing("code", "a file"));
    let ran = Fixture::new(&script).in_mode("ask").run();
    assert_eq!((ran.word(), ran.changed()), ("done", vec!["src/b.txt"]), "{}", ran.reason());
    let expected =
        ("ask".to_owned(), "code".to_owned(), "a file".to_owned(), "modes.allow".to_owned());
    assert_eq!(switches(&ran), [expected]);
    assert_eq!(
        (ran.outcome.tasks.len(), ran.outcome.tasks[0].turns),
        (2, 3),
        "the conversation is kept"
    );
    let ran = decided("null", "not asked for");
    assert_eq!(switches(&ran), []);
    assert!(ran.answers("request_mode_switch")[0].contains("refused another mode: not asked for"));
    let ran = decided("architect", "a plan first");
    assert_eq!(switches(&ran)[0].1, "architect", "the coordinator may know better");
}

#[test]
fn a_task_does_not_become_the_one_that_decides() {
    let ran = request("ask", "{ mode_slug: coordinator, reason: x }", POLICY);
    let answer = &ran.answers("request_mode_switch")[0];
    assert!(answer.contains("decides on requests like this one"), "{answer}");
    assert_eq!((switches(&ran), ran.outcome.tasks.len()), (vec![], 1));
}

#[test]
fn what_the_policy_does_not_let_follow_is_refused_with_the_reason() {
    let barred = POLICY.replace("modes: {", "modes: { transitions: { ask: [architect] },");
    let denied = format!("{POLICY}  - deny: \"mode(code)\"\n    reason: code is frozen\n");
    for (arguments, policy, reason, refusals) in [
        ("{ mode_slug: ask, reason: x }", POLICY, "Already in ask mode.", 0),
        (
            "{ mode_slug: none, reason: x }",
            POLICY,
            "Invalid mode: none. There are: architect, code,",
            0,
        ),
        (
            "{ mode_slug: code, reason: x }",
            &barred,
            "mode `ask` is followed only by architect (`modes.transitions`)",
            1,
        ),
        ("{ mode_slug: code, reason: x }", &denied, "code is frozen", 1),
        (
            "{ mode_slug: code, reason: x }",
            &POLICY
                .replace("architect, code,", "architect,")
                .replace("default: code", "default: ask"),
            "mode `code` is not in `modes.allow`",
            1,
        ),
        (
            "{ reason: x }",
            &POLICY.replace("modes: {", "modes: { transitions: { ask: [] },"),
            "no other mode may follow `ask`",
            1,
        ),
        ("{ mode_slug: code }", POLICY, "reason", 0),
    ] {
        let ran = request("ask", arguments, policy);
        let answer = &ran.answers("request_mode_switch")[0];
        assert!(answer.contains(reason), "{arguments}: {answer}");
        assert_eq!(switches(&ran), []);
        assert_eq!(ran.outcome.refusals.len(), refusals, "{arguments}: {answer}");
        assert_eq!(ran.outcome.tasks.len(), 1, "nobody is asked: {arguments}");
    }
}

#[test]
fn which_mode_may_follow_which_is_one_table_for_every_way_to_switch() {
    let table = "ask: [architect, code], code: [review], architect: []";
    let coordinated = POLICY.replace("modes: {", &format!("modes: {{ transitions: {{ {table} }},"));
    let alone = coordinated.replace(" coordinator,", "");
    let direct = coordinated.replace("modes: {", "modes: { switching: direct,");
    for (from, to, follows) in [
        ("ask", "code", true),
        ("ask", "architect", true),
        ("ask", "debug", false),
        ("code", "review", true),
        ("code", "ask", false),
        ("architect", "code", false),
        // A mode that is not in the table is followed by any.
        ("debug", "code", true),
        ("review", "ask", true),
    ] {
        for (policy, tool) in [
            (&coordinated, "request_mode_switch"),
            (&alone, "request_mode_switch"),
            (&direct, "switch_mode"),
        ] {
            let script = format!(
                "{}{}",
                choosing(to, "chosen"),
                turns(&format!(
                    "- calls: [{{ tool: {tool}, args: {{ mode_slug: {to}, reason: x }} }}]\n{END}"
                ))
            );
            let ran = Fixture::with_policy(&script, policy).in_mode(from).run();
            let found: Vec<String> = switches(&ran).into_iter().map(|(_, to, ..)| to).collect();
            let expected = if follows { vec![to.to_owned()] } else { Vec::new() };
            assert_eq!(found, expected, "{from} -> {to} by {tool}");
            assert_eq!(
                ran.outcome.refusals.len(),
                usize::from(!follows),
                "{from} -> {to} by {tool}"
            );
        }
    }
}

#[test]
fn the_coordinator_decides_also_where_one_mode_fits() {
    let policy = POLICY.replace("modes: {", "modes: { transitions: { ask: [architect] },");
    let asks = turns(&format!(
        "- calls: [{{ tool: request_mode_switch, args: {{ reason: plan it }} }}]\n{END}"
    ));
    let script = format!("{}{asks}", choosing("architect", "a plan"));
    let ran = Fixture::with_policy(&script, &policy).in_mode("ask").run();
    assert_eq!(
        switches(&ran),
        [("ask".into(), "architect".into(), "a plan".into(), "modes.transitions".into())]
    );
    assert_eq!(ran.outcome.tasks.len(), 2);
    let ran = request("ask", "{ reason: plan it }", &policy.replace(" coordinator,", ""));
    assert_eq!(
        switches(&ran),
        [("ask".into(), "architect".into(), "plan it".into(), "modes.transitions".into())],
        "without a coordinator the policy decides"
    );
}

/// A run in which the root task hands work to a sub-task in one mode, which asks for another.
fn sub_task(given: &str, wanted: &str, policy: &str) -> Ran {
    let script = format!(
        r#"
{}  - contains: "Part of it."
    turns:
      - calls: [{{ tool: request_mode_switch, args: {{ mode_slug: {wanted}, reason: "x" }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "p" }} }}]
  - contains: "Do the thing."
    turns:
      - calls: [{{ tool: new_task, args: {{ mode: {given}, message: "Part of it." }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#,
        choosing(wanted, "it is wanted")
    );
    Fixture::with_policy(&script, policy).in_mode("orchestrator").run()
}

#[test]
fn a_sub_task_gains_nothing_by_a_switch() {
    let same_rules = POLICY.replace("    modes: [architect]\n", "");
    let delegating =
        same_rules.replace("modes: {", "modes: { delegation: { from: [orchestrator, debug] },");
    let watched = format!("{same_rules}  - deny: edit(src/x.txt)\n    modes: [code]\n");
    for (given, wanted, policy, reason) in [
        ("code", "debug", &same_rules, None),
        ("code", "ask", &same_rules, None),
        ("code", "architect", &same_rules, None),
        ("debug", "code", &delegating, None),
        ("ask", "code", &same_rules, Some("it has `write_to_file`")),
        ("ask", "architect", &same_rules, Some("it has `write_to_file`")),
        ("ask", "review", &same_rules, Some("it has `execute_command`")),
        ("architect", "code", &same_rules, Some("it has `execute_command`")),
        ("code", "architect", &POLICY.to_owned(), Some("by `edit(**/*.md)` (policy.yml:8)")),
        ("code", "debug", &delegating, Some("it may start sub-tasks")),
        ("code", "debug", &watched, Some("by `edit(src/x.txt)`")),
        ("debug", "code", &watched, None),
    ] {
        let ran = sub_task(given, wanted, policy);
        let answer = &ran.answers("request_mode_switch")[0];
        match reason {
            None => assert_eq!(switches(&ran).len(), 1, "{given} -> {wanted}: {answer}"),
            Some(reason) => {
                assert!(
                    answer.contains(&format!("this task was given to mode `{given}`"))
                        && answer.contains(reason),
                    "{given} -> {wanted}: {answer}"
                );
                assert_eq!((switches(&ran), ran.outcome.refusals.len()), (vec![], 1));
                assert_eq!(
                    ran.outcome.refusals[0].refusal.verdicts[0].intent,
                    format!("mode({wanted})")
                );
            }
        }
    }
    // What was given counts, not where the task has come to since.
    let script = format!(
        r#"
  - mode: coordinator
    contains: "It asks for `ask`."
    turns:
      - calls: [{{ tool: coordinate_mode, args: {{ mode_slug: ask, reason: "looks" }} }}]
{}  - contains: "Part of it."
    turns:
      - calls: [{{ tool: request_mode_switch, args: {{ mode_slug: ask, reason: "x" }} }}]
      - calls: [{{ tool: request_mode_switch, args: {{ mode_slug: code, reason: "x" }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "p" }} }}]
  - contains: "Do the thing."
    turns:
      - calls: [{{ tool: new_task, args: {{ mode: code, message: "Part of it." }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: "r" }} }}]
"#,
        choosing("code", "back")
    );
    let ran = Fixture::with_policy(&script, &same_rules).in_mode("orchestrator").run();
    let to: Vec<String> = switches(&ran).into_iter().map(|(_, to, ..)| to).collect();
    assert_eq!(to, ["ask", "code"], "{:?}", ran.answers("request_mode_switch"));
}

#[test]
fn a_root_task_may_gain() {
    assert_eq!(switches(&decided("code", "c")).len(), 1);
}

#[test]
fn what_is_denied_an_edit_bars_only_the_next_request() {
    let script = format!(
        "{}{}",
        choosing("ask", "to look"),
        turns(&format!(
            r#"- calls: [{{ tool: write_to_file, args: {{ path: src/b.txt, content: "b" }} }}]
- calls: [{{ tool: request_mode_switch, args: {{ mode_slug: ask, reason: "to look" }} }}]
- expect: {{ contains: ["cannot change files"] }}
  calls: [{{ tool: request_mode_switch, args: {{ mode_slug: ask, reason: "to look" }} }}]
{END}"#
        ))
    );
    let ran = Fixture::new(&script).in_mode("architect").run();
    assert_eq!(switches(&ran).len(), 1, "{:?}", ran.answers("request_mode_switch"));
}

#[test]
fn work_does_not_go_round_over_a_switch() {
    let policy = POLICY.replace(
        "modes: {",
        "modes: { switching: direct, delegation: { from: [orchestrator, code], depth: 9 },",
    );
    let script = r#"
  - contains: "A part."
    turns:
      - calls: [{ tool: switch_mode, args: { mode_slug: orchestrator, reason: "x" } }]
      - calls: [{ tool: new_task, args: { mode: code, message: "A part." } }, { tool: new_task, args: { mode: ask, message: "Other words." } }]
      - calls: [{ tool: attempt_completion, args: { result: "p" } }]
  - contains: "Other words."
    turns:
      - calls: [{ tool: attempt_completion, args: { result: "o" } }]
  - contains: "Do the thing."
    turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "A part." } }]
      - calls: [{ tool: attempt_completion, args: { result: "r" } }]
"#;
    let ran = Fixture::with_policy(script, &policy).in_mode("orchestrator").run();
    let answers = ran.answers("new_task");
    assert!(answers.iter().any(|answer| answer.contains("exactly this already")), "{answers:?}");
    assert_eq!(ran.outcome.tasks.len(), 2 + usize::from(switches(&ran).len() == 1), "{answers:?}");
}

/// A run in which several modes fit and the coordinator says `decision`.
fn coordinated(decision: &str, policy: &str) -> (Fixture, Ran) {
    let script = format!(
        r#"
  - mode: coordinator
    contains: "b is missing"
    turns:
      - expect:
          contains: ["`ask` asks to go on", "- `code`", "It may read `**`; edit `src/**`, `notes.md`", "edit `**/*.md`, after approval `src/held.txt` (only paths that match `\\.md$`); run no commands", "Do the thing."]
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
    assert_eq!(ran.outcome.tasks.len(), 1);
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
    let script = format!("{}{script}", choosing("code", "it writes"));
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

#[test]
fn a_switch_says_how_long_it_took_with_the_coordinators_decision() {
    let ran = decided("code", "a file");
    let is_reply = |event: &Event| matches!(event, Event::Replied { task, .. } if task.0 == 0);
    let at = |is: &dyn Fn(&Event) -> bool| {
        let at = ran.lines.iter().position(|line| is(&line.event));
        at.unwrap_or_else(|| panic!("{}", ran.reason()))
    };
    let (replied, switched) =
        (at(&is_reply), at(&|event| matches!(event, Event::ModeSwitched { .. })));
    let Event::ModeSwitched { took_ms, .. } = &ran.lines[switched].event else { panic!() };
    let passed = ran.lines[switched - 1].at.duration_since(ran.lines[replied].at).as_millis();
    assert_eq!(i128::from(*took_ms), passed);
    assert!(passed > 2000, "the coordinator's own turn counts: {passed}");
}
