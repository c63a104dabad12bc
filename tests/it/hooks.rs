//! Hooks of a repository's `.claude/settings.json`, through the binary.

use locum_agent::session::event::Event;
use pretty_assertions::assert_eq;

use crate::support::stage::{Ran, Stage};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(sh .claude/guard.sh)", "command(wc:*)"]
on_hold: pause
"#;

/// Is against what names a secret, asks for a person where a file is held, and writes to the
/// checkout.
const GUARD: &str = "question=$(cat)\necho left > src/left.txt\ncase \"$question\" in\n\
*secret*) echo \"secrets are for people\" >&2; exit 2 ;;\n\
*held*) echo '{ \"hookSpecificOutput\": { \"permissionDecision\": \"ask\", \
\"permissionDecisionReason\": \"look at it\" } }' ;;\n\
*odd*) echo odd >&2; exit 1 ;;\nesac\n";

fn settings(event: &str, matcher: &str, command: &str) -> String {
    format!(
        r#"{{ "hooks": {{ "{event}": [{{ "matcher": "{matcher}", "hooks": [
  {{ "type": "command", "command": "{command}" }}] }}] }} }}"#
    )
}

fn stage_of(policy: &str, settings: &str) -> Stage {
    Stage::with(&[
        (".locum/policy.yml", policy),
        (".claude/settings.json", settings),
        (".claude/guard.sh", GUARD),
        ("src/old.txt", "old\n"),
    ])
}

fn guarded() -> Stage {
    let command = r#"sh \"$CLAUDE_PROJECT_DIR\"/.claude/guard.sh"#;
    // What is judged is the command with the folder of the project as `.`.
    let policy = POLICY.replace("sh .claude/guard.sh", "sh ./.claude/guard.sh");
    stage_of(&policy, &settings("PreToolUse", "Edit|Write|Bash", command))
}

fn writes(stage: &Stage, paths: &[&str]) -> Ran {
    let call = |path: &&str| {
        format!(
            "      - calls: [{{ tool: write_to_file, args: {{ path: {path}, content: \"x\\n\" }} }}]\n"
        )
    };
    let calls: String = paths.iter().map(call).collect();
    let end = "      - calls: [{ tool: attempt_completion, args: { result: \"Done.\" } }]\n";
    let script = format!("version: 1\ntasks:\n  - turns:\n{calls}{end}");
    stage.play(&script, &["--output-format", "json"])
}

fn notes(ran: &Ran) -> String {
    ran.json()["notes"].to_string()
}

#[test]
fn a_guard_blocks_what_it_is_against_and_lets_the_rest_pass() {
    let stage = guarded();
    let ran = writes(&stage, &["src/secret.txt", "src/plain.txt", "src/odd.txt"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let answers = stage.answers();
    assert!(
        answers[0].1.contains("(.claude/settings.json:2) is against it: secrets are for people"),
        "{}",
        answers[0].1
    );
    assert_eq!(stage.names("checkout/src"), ["odd.txt", "old.txt", "plain.txt"]);
    let report = ran.json();
    let refused = &report["refusals"][0];
    assert_eq!(refused["call"], "write src/secret.txt", "{report:#}");
    assert!(notes(&ran).contains("of PreToolUse (.claude/settings.json:2) failed: exit 1: odd."));
    let ran = stage.journal().into_iter().filter(|l| matches!(l.event, Event::HooksRan { .. }));
    assert_eq!(ran.count(), 3);
}

#[test]
fn hooks_come_from_the_trusted_commit_and_not_from_the_checkout() {
    // The file in the checkout turns the guard off, and does not count.
    let stage = guarded();
    stage.write("checkout/.claude/settings.json", "{}");
    let ran = writes(&stage, &["src/secret.txt", "src/plain.txt"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.names("checkout/src"), ["old.txt", "plain.txt"]);

    // A guard that is in the checkout alone is none.
    let stage = stage_of(POLICY, "{}");
    let guard = settings("PreToolUse", "*", "sh .claude/guard.sh");
    stage.write("checkout/.claude/settings.json", &guard);
    writes(&stage, &["src/secret.txt"]);
    assert_eq!(stage.names("checkout/src"), ["old.txt", "secret.txt"]);

    // A guard that was changed in the checkout is not the one that is trusted.
    let stage = guarded();
    stage.write("checkout/.claude/guard.sh", "exit 0\n");
    let ran = writes(&stage, &["src/plain.txt"]);
    assert_eq!(stage.names("checkout/src"), ["old.txt"]);
    assert!(
        notes(&ran).contains("`.claude/guard.sh` is not as the trusted commit has it"),
        "{ran:?}"
    );
}

#[test]
fn a_guard_that_may_not_or_cannot_run_blocks_and_names_the_way_out() {
    let no_rule = settings("PreToolUse", "Write", "sh tools/guard.sh");
    let no_file = settings("PreToolUse", "Write", "sh .claude/guard.sh");
    let policy = |commands: &str| format!("{POLICY}commands: {{ {commands} }}\n");
    for (settings, commands, said) in [
        (&no_rule, "", Some("the policy refuses it: ")),
        (&no_file, "", None),
        (&no_rule, "hooks: off", None),
    ] {
        let stage = stage_of(&policy(commands), settings);
        let ran = writes(&stage, &["src/plain.txt"]);
        let is_there = stage.names("checkout/src").contains(&"plain.txt".to_owned());
        assert_eq!(is_there, said.is_none(), "{commands} {ran:?}");
        let answer = &stage.answers()[0].1;
        let checked = stage.run(&["policy", "check"]);
        let warned = "the hook `sh tools/guard.sh` of PreToolUse may run in no mode, so everything \
                      that it guards is refused";
        let is_warned = checked.out.contains(warned);
        assert!(is_warned == said.is_some() && checked.code == Some(0), "{checked:?}");
        if let Some(said) = said {
            let way_out = "`commands: { hooks: off }` in the policy lets runs go without hooks";
            assert!(answer.contains(said) && answer.contains(way_out), "{answer}");
            assert!(notes(&ran).contains("so what it guards was not done"), "{ran:?}");
        }
    }
    // Its program is missing.
    let stage = stage_of(
        &POLICY.replace("command(wc:*)", "command(no-such-program)"),
        &settings("PreToolUse", "Write", "no-such-program"),
    );
    writes(&stage, &["src/plain.txt"]);
    assert_eq!(stage.names("checkout/src"), ["old.txt"]);
    assert!(stage.answers()[0].1.contains("guards it and did not run"), "{:?}", stage.answers());
}

#[test]
fn a_guard_whose_decision_cannot_be_read_blocks_and_one_without_json_does_not() {
    let deny = r#"{ "decision": "block", "reason": "no" }"#;
    // The reason quotes what the model wrote, and is longer than is kept.
    let long = "printf '{ \"decision\": \"block\", \"reason\": \"'\nhead -c 1200000 /dev/zero | tr \
                '\\0' x\necho '\" }'\n";
    for (guard, said) in [
        (long.to_owned(), Some("its output begins like JSON, and ")),
        (format!("echo '{deny}'\necho more\n"), Some("is not one JSON object")),
        (format!("echo '{deny}'\n"), Some("is against it: no")),
        ("echo looks fine\n".to_owned(), None),
    ] {
        let stage = stage_of(POLICY, &settings("PreToolUse", "Write", "sh .claude/guard.sh"));
        stage.write("checkout/.claude/guard.sh", &guard);
        stage.commit("guard");
        let ran = writes(&stage, &["src/plain.txt"]);
        let is_there = stage.names("checkout/src").contains(&"plain.txt".to_owned());
        assert_eq!(is_there, said.is_none(), "{guard}: {ran:?}");
        let answer = &stage.answers()[0].1;
        assert!(answer.contains(said.unwrap_or_default()), "{guard}: {answer}");
        let is_noted = notes(&ran).contains("cannot be read, so what it guards was not done");
        let is_read = said.is_none_or(|said| said.starts_with("is against"));
        assert_eq!(is_noted, !is_read, "{guard}: {ran:?}");
    }
}

#[test]
fn a_broken_file_is_an_error_before_anything_runs() {
    for (settings, said) in [
        ("{\n  \"hooks\": {\n", "error: .claude/settings.json:"),
        ("{ \"hooks\":\n 3 }", "error: .claude/settings.json:2:2: `hooks` must be a mapping"),
    ] {
        let stage = stage_of(POLICY, settings);
        let ran = writes(&stage, &["src/plain.txt"]);
        assert_eq!((ran.code, stage.sessions().len()), (Some(2), 0), "{ran:?}");
        assert!(ran.err.contains(said) && ran.err.contains("hooks: off"), "{}", ran.err);
        let checked = stage.run(&["policy", "check"]);
        assert!(checked.code == Some(2) && checked.err.contains(said), "{checked:?}");
        let stage = stage_of(&format!("{POLICY}commands: {{ hooks: off }}\n"), settings);
        assert_eq!(writes(&stage, &["src/plain.txt"]).code, Some(0));
        assert_eq!(stage.run(&["policy", "check"]).code, Some(0));
    }
    let stage = stage_of(POLICY, &settings("PreCompact", "*", "ls"));
    let checked = stage.run(&["policy", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let said = "warning: .claude/settings.json:1: hooks of `PreCompact` are not run here";
    assert!(checked.out.contains(said), "{checked:?}");
}

#[test]
fn a_guard_that_asks_holds_the_call_where_the_run_can_wait_and_blocks_elsewhere() {
    let stage = guarded();
    let ran = writes(&stage, &["src/held.txt"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let report = ran.json();
    let (session, hold) = (report["session"].as_str(), report["held"]["id"].as_str());
    let (session, hold) = (session.unwrap(), hold.unwrap());
    assert_eq!(stage.names("checkout/src"), ["old.txt"]);
    assert_eq!(stage.run(&["session", "approve", session, hold]).code, Some(0));
    let done = stage.run(&["session", "resume", session]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(stage.names("checkout/src"), ["held.txt", "old.txt"]);

    let policy = POLICY.replace("on_hold: pause", "on_hold: refuse");
    let stage = stage_of(&policy, &settings("PreToolUse", "Write", "sh .claude/guard.sh"));
    writes(&stage, &["src/held.txt"]);
    assert_eq!(stage.names("checkout/src"), ["old.txt"]);
    assert!(
        stage.answers()[0].1.contains("asks for a person: look at it"),
        "{:?}",
        stage.answers()
    );
}

#[test]
fn a_hook_keeps_the_task_from_ending_a_few_times_and_no_longer() {
    let completion = |result: &str| {
        format!(
            "      - calls: [{{ tool: attempt_completion, args: {{ result: \"{result}\" }} }}]\n"
        )
    };
    let script = |results: &[&str]| {
        let turns: String = results.iter().map(|result| completion(result)).collect();
        format!("version: 1\ntasks:\n  - turns:\n{turns}")
    };
    let settings = settings("Stop", "", "sh .claude/stop.sh");
    let policy = POLICY.replace("guard.sh", "stop.sh");
    for (hook, results, asked, noted) in [
        ("exit 0\n", vec!["one"], 1, false),
        (
            "if grep -q '\"stop_hook_active\":true'; then exit 0; fi; echo test it >&2; exit 2\n",
            vec!["one", "two"],
            2,
            false,
        ),
        ("echo never >&2; exit 2\n", vec!["one", "two", "three"], 3, true),
    ] {
        let stage = stage_of(&policy, &settings);
        stage.write("checkout/.claude/stop.sh", hook);
        stage.commit("stop");
        let ran = stage.play(&script(&results), &["--output-format", "json"]);
        assert!(matches!(ran.code, Some(0 | 3)), "{hook} {ran:?}");
        let hooks = stage.journal().into_iter().filter(
            |line| matches!(&line.event, Event::HooksRan { hooks, .. } if !hooks.is_empty()),
        );
        assert_eq!(hooks.count(), asked, "{hook}");
        assert_eq!(notes(&ran).contains("The task ended although the hook"), noted, "{ran:?}");
    }
}
