//! Runs of the binary that stop for a person, and the words by which they go on.

use crate::support::stage::{Ran, Stage};
use locum_agent::session::event::JournalLine;
use locum_agent::session::journal::Journal;
use locum_agent::session::state::SessionState;
use pretty_assertions::assert_eq;

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)"]
  - hold: "edit(src/held.txt)"
    reason: a person looks at this one
"#;

const SCRIPT: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "held\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
"#;

const QUESTION: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: ask_followup_question, args: { question: "Which?", follow_up: ["this"] } }]
      - expect: { contains: ["that one"] }
        calls: [{ tool: attempt_completion, args: { result: "took that one" } }]
"#;

fn stage() -> Stage {
    Stage::with(&[(".locum/policy.yml", POLICY), ("src/a.txt", "a\n"), ("script.yml", SCRIPT)])
}

/// Runs until the hold; returns the session, the hold and what was said.
fn paused(stage: &Stage) -> (String, String, Ran) {
    let ran = stage.play(SCRIPT, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let report = ran.json();
    (
        report["session"].as_str().unwrap().to_owned(),
        report["held"]["id"].as_str().unwrap().to_owned(),
        ran,
    )
}

#[test]
fn a_held_call_is_done_once_a_person_says_yes() {
    let stage = stage();
    let (session, hold, ran) = paused(&stage);
    let report = ran.json();
    assert_eq!(
        (report["outcome"].as_str(), report["refused_rules"][0]["line"].as_u64()),
        (Some("on-hold"), Some(6)),
        "{report:#}"
    );
    let again = stage.run(&["session", "resume", &session]);
    assert_eq!(again.code, Some(5), "{again:?}");
    assert!(
        again.out.contains(&format!("locum session approve {session} {hold}")),
        "{}",
        again.out
    );

    let wrong = stage.run(&["session", "approve", &session, "0123456789abcdef"]);
    assert!(wrong.code == Some(2) && wrong.err.contains(&hold), "{wrong:?}");
    let copied = format!("`{hold}`,");
    assert_eq!(stage.run(&["session", "approve", &session, &copied]).code, Some(0));
    let twice = stage.run(&["session", "approve", &session, &hold]);
    assert!(twice.code == Some(2) && twice.err.contains("decided already"), "{twice:?}");
    let done = stage.run(&["session", "resume", &session, "--output-format", "json"]);
    assert_eq!(
        (done.code, done.json()["approved"][0]["approval"]["hold"].as_str()),
        (Some(0), Some(hold.as_str())),
        "{done:?}"
    );
    assert_eq!(stage.read("checkout/src/held.txt"), "held\n");
    let shown = stage.run(&["session", "show", &session]);
    assert!(shown.out.contains("resumed after the decision"), "{}", shown.out);
    assert!(!shown.out.contains("killed"), "{}", shown.out);
    assert!(
        shown.out.contains(&format!("approved {hold}")) && shown.out.contains("approved by"),
        "{}",
        shown.out
    );
}

#[test]
fn words_and_limits_for_a_session_that_waits_are_answered_with_how_to_decide() {
    let stage = stage();
    let (session, hold, _) = paused(&stage);
    let resume = |more: &[&str]| stage.run(&[&["session", "resume", &session], more].concat());
    for more in [&["And the rest."][..], &["--max-turns", "+5"]] {
        let refused = resume(more);
        let decide = format!("hint: decide first: `locum session approve {session} {hold}` or");
        assert!(refused.code == Some(2) && refused.err.contains(&decide), "{refused:?}");
    }
    assert_eq!(stage.run(&["session", "approve", &session, &hold]).code, Some(0));
    let done = resume(&["And the rest."]);
    assert_eq!(done.code, Some(0), "{done:?}");

    let asked = stage.play(QUESTION, &["--output-format", "json"]).json();
    let [session, question] = [&asked["session"], &asked["question"]["id"]];
    let (session, question) = (session.as_str().unwrap(), question.as_str().unwrap());
    let refused = stage.run(&["session", "resume", session, "And the rest."]);
    let decide = format!("hint: decide first: `locum session answer {session} {question} TEXT`;");
    assert!(refused.code == Some(2) && refused.err.contains(&decide), "{refused:?}");
}

#[test]
fn always_proposes_a_change_of_the_policy_and_changes_nothing() {
    let stage = stage();
    let (session, hold, _) = paused(&stage);
    let approved = stage.run(&["session", "approve", &session, &hold, "--always"]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!(approved.err.contains("allows edit(src/held.txt) from now on"), "{approved:?}");
    assert_eq!(stage.read("checkout/.locum/policy.yml"), POLICY);
    assert_eq!(stage.run(&["session", "resume", &session]).code, Some(0));

    // What was printed is a patch: committed, the same run waits for nobody.
    stage.write("always.patch", &approved.out);
    stage.git(&["checkout", "-q", "."]);
    stage.git(&["apply", "../always.patch"]);
    assert_eq!(
        stage.read("checkout/.locum/policy.yml"),
        POLICY.replace(
            "  - hold: \"edit(src/held.txt)\"\n",
            "  - hold: \"edit(src/held.txt)\"\n    except: \"edit(src/held.txt)\"\n"
        )
    );
    stage.git(&["commit", "-qam", "nobody looks at this one"]);
    let ran = stage.play(SCRIPT, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn always_on_one_pattern_of_a_list_leaves_nothing_that_policy_check_warns_of() {
    let policy = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                  \"read(**)\"\n  - hold: [\"command(ls)\", \"command(wc:*)\"]\n";
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: execute_command, args: \
                  { command: ls } }]\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy), ("src/a.txt", "a\n")]);
    let ran = stage.play(script, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let session = ran.json()["session"].as_str().unwrap().to_owned();
    let approved = stage.run(&["session", "approve", &session, "all", "--always"]);
    stage.write("always.patch", &approved.out);
    stage.git(&["apply", "../always.patch"]);
    assert_eq!(
        stage.read("checkout/.locum/policy.yml"),
        policy.replace(
            "  - hold: [\"command(ls)\", \"command(wc:*)\"]\n",
            "  - hold: [\"command(wc:*)\"]\n  - allow: \"command(ls)\"\n"
        )
    );
    let checked = stage.run(&["policy", "check"]);
    assert!(checked.code == Some(0), "{checked:?}");
    assert!(!format!("{}{}", checked.out, checked.err).contains("warning"), "{checked:?}");
}

#[test]
fn a_no_and_an_answer_go_to_the_model() {
    let stage = stage();
    let (session, hold, _) = paused(&stage);
    assert_eq!(
        stage.run(&["session", "deny", &session, &hold, "--reason", "leave it"]).code,
        Some(0)
    );
    let done = stage.run(&["session", "resume", &session, "--output-format", "json"]);
    assert_eq!(
        (done.code, done.json()["outcome"].as_str()),
        (Some(4), Some("refused")),
        "{done:?}"
    );
    assert!(done.json()["changes"].as_array().unwrap().is_empty());

    let asked = stage.play(QUESTION, &["--output-format", "json"]);
    let (session, question) =
        (asked.json()["session"].clone(), asked.json()["question"]["id"].clone());
    let (session, question) = (session.as_str().unwrap(), question.as_str().unwrap());
    assert_eq!(
        (asked.code, stage.run(&["session", "answer", session, question, "that one"]).code),
        (Some(5), Some(0))
    );
    let done = stage.run(&["session", "resume", session]);
    assert!(done.code == Some(0) && done.out.contains("took that one"), "{done:?}");
}

#[test]
fn what_a_call_leaves_out_stays_in_its_result_whatever_a_person_says() {
    let policy = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: 'read(**)'\n  - hold: \
                  'read(held/**)'\n  - deny: 'read(kept/**)'\n";
    let script = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: read_file, args: { path: src/a.txt, files: [{ path: held/b.txt }, { path: kept/c.txt }] } }]
      - calls: [{ tool: attempt_completion, args: { result: "read" } }]
"#;
    for (word, expected) in
        [("approve", ["1 | a", "1 | b"]), ("deny", ["a person's yes", "said no"])]
    {
        let stage = Stage::with(&[
            (".locum/policy.yml", policy),
            ("src/a.txt", "a\n"),
            ("held/b.txt", "b\n"),
            ("kept/c.txt", "c\n"),
        ]);
        let report = stage.play(script, &["--output-format", "json"]).json();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let (session, hold) = (text(&report["session"]), text(&report["held"]["id"]));
        assert_eq!(stage.run(&["session", word, &session, &hold]).code, Some(0));
        let done = stage.run(&["session", "resume", &session, "--output-format", "json"]);
        let answers = stage.answers();
        let (_, answer) = answers.first().unwrap();
        for part in expected.into_iter().chain(["Left out", "read(kept/**)"]) {
            assert!(answer.contains(part), "{word}: {answer}");
        }
        let rules = done.json()["refused_rules"].to_string();
        assert!(rules.contains("read(kept/**)"), "{word}: {rules}");
        assert_eq!(rules.contains("read(held/**)"), word == "deny", "{rules}");
    }
}

#[test]
fn a_session_goes_on_under_no_other_policy_and_no_other_ignore_files() {
    for (path, text) in [
        (".locum/policy.yml", POLICY.replace("edit(src/**)", "edit(**)")),
        (".locumignore", "src/b.txt\n".to_owned()),
    ] {
        let stage = stage();
        let (session, hold, _) = paused(&stage);
        assert_eq!(stage.run(&["session", "approve", &session, &hold]).code, Some(0));
        stage.write(&format!("checkout/{path}"), &text);
        stage.git(&["add", path]);
        stage.git(&["commit", "-q", "-m", "other rules"]);
        let refused = stage.run(&["session", "resume", &session]);
        assert!(
            refused.code == Some(2) && refused.err.contains("ran under policy"),
            "{path}: {refused:?}"
        );
        assert_eq!(stage.names("checkout/src"), ["a.txt"], "{path}");
    }
}

#[test]
fn what_commands_built_before_a_hold_is_there_after_it() {
    let policy = "version: 1\nmodes: { default: code, allow: [code] }\ncommands: { contained: \
                  allow, outputs: [dist] }\nrules:\n  - allow: [\"read(**)\"]\n  - hold: \
                  \"edit(src/held.txt)\"\n";
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: execute_command, args: \
                  { command: \"mkdir dist; echo built > dist/x\" } }]\n      - calls: [{ tool: \
                  write_to_file, args: { path: src/held.txt, content: \"held\\n\" } }]\n      - \
                  calls: [{ tool: execute_command, args: { command: \"cat dist/x\" } }]\n      - \
                  expect: { contains: [\"built\"] }\n        calls: [{ tool: attempt_completion, \
                  args: { result: written } }]\n";
    let files = [
        (".locum/policy.yml", policy),
        ("src/a.txt", "a\n"),
        (".gitignore", "dist/\nscript.yml\n"),
    ];
    let stage = Stage::with(&files);
    let ran = stage.play(script, &["--output-format", "json"]);
    let report = ran.json();
    let [session, hold] = [&report["session"], &report["held"]["id"]];
    let (session, hold) = (session.as_str().unwrap(), hold.as_str().unwrap());
    assert!(!stage.path("checkout/dist").exists(), "the run is not over");
    assert_eq!(stage.run(&["session", "approve", session, hold]).code, Some(0));
    let done = stage.run(&["session", "resume", session]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(stage.read("checkout/dist/x"), "built\n");
    let layers = stage.path(&format!("state/locum/sessions/{session}/layers"));
    assert!(!layers.exists(), "nothing of a layer is left");
}

#[test]
fn held_changes_outlive_a_cleaning_of_git_until_they_are_decided_on_and_no_longer() {
    let command = "sh -c 'echo b > src/b.txt; echo held > src/held.txt'";
    let allowed = format!("\"edit(src/**)\", \"command({command})\"]");
    let policy = POLICY.replace("\"edit(src/**)\"]", &allowed);
    let script = format!(
        r#"
version: 1
tasks:
  - turns:
      - calls: [{{ tool: execute_command, args: {{ command: "{command}" }} }}]
      - calls: [{{ tool: attempt_completion, args: {{ result: r }} }}]
"#
    );
    for word in ["approve", "deny", "prune"] {
        let stage = Stage::with(&[(".locum/policy.yml", policy.as_str()), ("src/a.txt", "a\n")]);
        let ran = stage.play(&script, &["--output-format", "json"]);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        let report = ran.json();
        let [session, hold] = [&report["session"], &report["held"]["id"]];
        let (session, hold) = (session.as_str().unwrap(), hold.as_str().unwrap());
        let refs = || stage.git(&["for-each-ref", "--format=%(refname)", "refs/locum/trees"]);
        let own = format!("refs/locum/trees/{session}/aside-");
        assert!(refs().starts_with(&own) && refs().lines().count() == 1, "{}", refs());
        stage.git(&["reflog", "expire", "--expire=now", "--all"]);
        stage.git(&["gc", "-q", "--prune=now"]);
        if word == "prune" {
            let ran = stage.run(&["session", "prune", session, "--force"]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
        } else {
            assert_eq!(stage.run(&["session", word, session, hold]).code, Some(0));
            let done = stage.run(&["session", "resume", session]);
            assert_eq!(done.code, Some(0), "{word}: {done:?}");
        }
        assert_eq!(stage.path("checkout/src/held.txt").exists(), word == "approve");
        assert_eq!(refs(), "", "{word}");
    }
}

const STOPPED: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "b\n" } }]
      - calls: [{ tool: write_to_file, args: { path: src/c.txt, content: "c\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "both" } }]
"#;

#[test]
fn a_run_that_a_limit_stopped_says_how_it_goes_on_and_does() {
    let stage = stage();
    let ran = stage.play(STOPPED, &["--max-turns", "1"]);
    let session = stage.sessions().remove(0);
    let go_on = format!("\n  locum session resume {session} --max-turns +20\n");
    assert!(ran.code == Some(6) && ran.out.contains(&go_on), "{ran:?}");
    let again = stage.run(&["session", "resume", &session]);
    assert!(again.code == Some(6) && again.out.contains(&go_on), "{again:?}");
    let shown = stage.run(&["session", "show", &session, "--json"]);
    assert_eq!(shown.json()["outcome"]["exhausted"]["unit"], "turns", "{}", shown.out);

    let wrong = stage.run(&["session", "resume", &session, "--max-tokens", "+5000"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("--max-turns +20"), "{wrong:?}");
    let less = stage.run(&["session", "resume", &session, "--max-turns", "1"]);
    assert!(less.code == Some(2) && less.err.contains("is used up"), "{less:?}");
    let no_money = stage.run(&["session", "resume", &session, "--max-cost-usd", "NaN"]);
    assert!(no_money.code == Some(2) && no_money.err.contains("not an amount"), "{no_money:?}");
    let mut in_actions = stage.locum(&["session", "resume", &session, "--max-turns", "+100"]);
    let refused: Ran = in_actions.env("GITHUB_ACTIONS", "true").output().unwrap().into();
    assert!(
        refused.code == Some(2) && refused.err.contains("above the policy's `budget.turns` of 60"),
        "{refused:?}"
    );
    assert!(!stage.path("checkout/src/c.txt").exists());

    let done = stage.run(&["session", "resume", &session, "--max-turns", "+100"]);
    assert!(done.code == Some(0) && done.out.contains("outcome: done"), "{done:?}");
    assert_eq!(stage.names("checkout/src"), ["a.txt", "b.txt", "c.txt"]);
    let over = stage.run(&["session", "resume", &session, "--max-turns", "+1"]);
    assert!(over.code == Some(2) && over.err.contains("ended as `done`"), "{over:?}");
}

#[test]
fn budget_is_short_for_the_limit_of_dollars() {
    let stage = stage();
    let plan = stage.play(STOPPED, &["--budget", "1.25", "--dry-run"]);
    assert!(plan.code == Some(0) && plan.out.contains("$1.25"), "{plan:?}");
    let ran = stage.play(STOPPED, &["--budget=3", "--max-turns", "1"]);
    assert_eq!(ran.code, Some(6), "{ran:?}");
    let session = stage.sessions().remove(0);
    let dollars = |journal: &[JournalLine]| SessionState::of(journal).spending().0.cost_usd;
    assert_eq!(dollars(&stage.journal()).to_string(), "3");

    for (limit, expected) in [
        ("--budget=NaN", "not an amount"),
        ("--budget=-1", "not an amount"),
        ("--budget=+2", "--max-turns +20"),
    ] {
        let refused = stage.run(&["session", "resume", &session, limit]);
        assert!(refused.code == Some(2) && refused.err.contains(expected), "{refused:?}");
    }
    let above = ["session", "resume", &session, "--max-turns", "+1", "--budget", "500"];
    let mut in_actions = stage.locum(&above);
    let refused: Ran = in_actions.env("GITHUB_ACTIONS", "true").output().unwrap().into();
    let said = "above the policy's `budget.cost_usd` of 5";
    assert!(refused.code == Some(2) && refused.err.contains(said), "{refused:?}");

    for (turns, limit, expected) in [("+1", "500", "500"), ("+9", "+2", "2")] {
        let words = ["session", "resume", &session, "--max-turns", turns, "--budget", limit];
        stage.run(&words);
        assert_eq!(dollars(&stage.journal()).to_string(), expected, "{limit}");
    }
}

#[test]
fn a_stopped_run_whose_own_worktree_is_gone_gets_it_back() {
    let stage = stage();
    let script = STOPPED.replace("path: src/b.txt", "path: docs/b.txt");
    let ran = stage.play(&script, &["--max-turns", "1", "--worktree"]);
    let session = stage.sessions().remove(0);
    assert_eq!((ran.code, stage.names("state/locum/worktrees")), (Some(6), vec![]), "{ran:?}");
    let done = stage.run(&["session", "resume", &session, "--max-turns", "+9"]);
    assert!(done.code == Some(0) && done.out.contains("src/c.txt"), "{done:?}");
}

#[test]
fn a_run_s_own_worktree_stays_while_it_has_changes_of_a_person() {
    for is_changed in [true, false] {
        let stage = stage();
        let ran = stage.play(SCRIPT, &["--output-format", "json", "--worktree"]);
        assert_eq!(ran.code, Some(5), "{ran:?}");
        let session = stage.sessions().remove(0);
        let hold = ran.json()["held"]["id"].as_str().unwrap().to_owned();
        let file = format!("state/locum/worktrees/{session}/files/src/a.txt");
        assert_eq!(stage.read(&file), "a\n");
        if is_changed {
            stage.write(&file, "of a person\n");
        }
        assert_eq!(stage.run(&["session", "deny", &session, &hold]).code, Some(0));
        let resumed = stage.run(&["session", "resume", &session]);
        let stays = if is_changed { vec![session] } else { vec![] };
        assert_eq!(stage.names("state/locum/worktrees"), stays, "{resumed:?}");
        assert!(!is_changed || stage.read(&file) == "of a person\n");
    }
}

#[test]
fn a_session_at_work_is_not_resumed_beside_itself() {
    let stage = stage();
    let (session, _, _) = paused(&stage);
    let folder = stage.path("state/locum/sessions").join(&session);
    let held = Journal::resume(&folder).unwrap();
    let refused = stage.run(&["session", "resume", &session]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for words in ["is at work", "hint: wait until it has ended (`--wait`)"] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    drop(held);
    assert_eq!(stage.run(&["session", "resume", &session]).code, Some(5));
}

#[test]
fn nobody_is_asked_about_an_overwrite_that_would_not_be_made() {
    let stage = stage();
    stage.write("checkout/src/held.txt", "first\nsecond\n");
    stage.commit("a file that is held");
    // It is answered at once; once the file was read, a person decides.
    let script = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "held\n" } }]
      - expect: { contains: ["and you have not read it"] }
        calls: [{ tool: read_file, args: { path: src/held.txt } }]
      - calls: [{ tool: write_to_file, args: { path: src/held.txt, content: "first\nheld\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "written" } }]
"#;
    let ran = stage.play(script, &["--output-format", "json"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let report = ran.json();
    let (session, hold) =
        (report["session"].as_str().unwrap(), report["held"]["id"].as_str().unwrap());
    assert_eq!(stage.run(&["session", "approve", session, hold]).code, Some(0));
    let done = stage.run(&["session", "resume", session, "--output-format", "json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
}
