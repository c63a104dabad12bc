//! Sessions as records: found, shown in part, summed up, given to other agents' readers, removed.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const POLICY: &str = "version: 1\nmodes: { default: orchestrator, allow: [orchestrator, code, ask] }\n\
                      rules:\n  - allow: [\"read(**)\", \"edit(src/**)\", \"mode(code)\"]\n  - deny: \
                      [\"edit(secret/**)\"]\n";
const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: code
    turns:
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "one\n" } }]
        usage: { input: 100, output: 20 }
      - calls: [{ tool: write_to_file, args: { path: secret/b.txt, content: "no\n" } }]
        usage: { input: 200, output: 10 }
      - calls: [{ tool: attempt_completion, args: { result: "One is there." } }]
        usage: { input: 300, output: 10 }
  - turns:
      - calls: [{ tool: new_task, args: { mode: code, message: "Write one." } }]
        usage: { input: 50, output: 5 }
      - calls: [{ tool: attempt_completion, args: { result: "All done." } }]
        usage: { input: 60, output: 5 }
"#;

fn ran() -> (Stage, String) {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    let ran = stage.play(SCRIPT, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let session = stage.sessions().remove(0);
    (stage, session)
}

#[test]
fn a_part_of_a_session_is_shown() {
    let (stage, session) = ran();
    let show = |flags: &[&str]| stage.run(&[&["session", "show", &session], flags].concat());
    let whole = show(&[]).out;
    assert!(whole.contains("One is there.") && whole.contains("Write one."), "{whole}");
    assert!(whole.contains("write_to_file 2 (1 refused)"), "{whole}");

    let sub_task = show(&["--task", "1"]).out;
    assert!(sub_task.contains("src/a.txt") && !sub_task.contains("All done."), "{sub_task}");
    let turn = show(&["--task", "1", "--turn", "2"]).out;
    assert!(turn.contains("secret/b.txt") && !turn.contains("src/a.txt"), "{turn}");
    let refusals = show(&["--refusals"]).out;
    assert!(refusals.contains("edit(secret/**)"), "{refusals}");
    assert!(!refusals.contains("src/a.txt") && !refusals.contains("outcome:"), "{refusals}");
    let none = show(&["--refusals", "--task", "0"]);
    assert!(none.out.trim().is_empty() && none.err.contains("nothing was refused"), "{none:?}");
    let diff = show(&["--diff"]).out;
    assert!(diff.contains("+one") && !diff.contains("turn"), "{diff}");

    let events = |flags: &[&str]| {
        let shown = show(&[flags, &["--json"]].concat()).json();
        shown["events"].as_array().unwrap().clone()
    };
    assert!(events(&["--task", "1"]).iter().all(|event| event["task"] == 1));
    assert!(events(&[]).len() > events(&["--turn", "1"]).len());
    assert_eq!(show(&["--diff", "--json"]).json()["changes"][0]["path"], "src/a.txt");
    for (flags, words) in [
        (["--task", "2"], "the session has 2 tasks; there is no task 2"),
        (["--turn", "9"], "there is no turn 9"),
        (["--turn", "0"], "turns are counted from 1; the last one is 3"),
    ] {
        let ran = show(&flags);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{ran:?}");
    }
}

#[test]
fn sessions_are_found_and_their_costs_summed_up() {
    let (stage, session) = ran();
    let ran = stage.play(
        "version: 1\ntasks:\n  - turns:\n      - fail: { garbled: noise }\n",
        &["--mode", "ask"],
    );
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let list = |flags: &[&str]| {
        let listed = stage.run(&[&["session", "list", "--json"], flags].concat()).json();
        let names = listed.as_array().unwrap().iter().map(|row| row["session"].clone());
        names.collect::<Vec<Value>>()
    };
    assert_eq!(list(&[]).len(), 2);
    assert_eq!(list(&["--outcome", "done"]), [json!(session)]);
    assert_eq!(list(&["--repository", "CHECKOUT"]).len(), 2);
    assert_eq!(list(&["--repository", "elsewhere"]).len(), 0);
    assert_eq!(list(&["--min-cost-usd", "0.01"]).len(), 0);
    assert_eq!(list(&["--since", "1h"]).len(), 2);
    assert_eq!(list(&["--since", "2999-01-01"]).len(), 0);
    assert_eq!(list(&["--sort", "cost", "--limit", "1"]).len(), 1);
    let ran = stage.run(&["session", "list", "--outcome", "well"]);
    assert!(ran.code == Some(2) && ran.err.contains("possible values"), "{ran:?}");
    let ran = stage.run(&["session", "list", "--since", "soon"]);
    assert!(ran.code == Some(2) && ran.err.contains("an age (7d, 36h)"), "{ran:?}");

    let cost = |flags: &[&str]| stage.run(&[&["cost", "--json"], flags].concat()).json();
    let modes = cost(&["--by", "mode", "--since", "1d"]);
    let row = |name: &str| {
        let rows = modes["rows"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!((&row("code")["turns"], &row("code")["tokens"]["input"]), (&json!(3), &json!(600)));
    assert_eq!((&row("orchestrator")["turns"], &row("code")["sessions"]), (&json!(2), &json!(1)));
    assert_eq!(modes["total"]["tokens"]["input"], 710);
    assert_eq!(cost(&["--by", "actor"])["rows"][0]["name"], "local");
    assert_eq!(cost(&["--until", "2020-01-01"])["rows"], json!([]));
    let table = stage.run(&["cost", "--by", "session"]).out;
    assert!(table.contains(&session) && table.contains("total"), "{table}");
}

#[test]
fn a_session_is_given_to_other_readers_and_theirs_is_read() {
    let (stage, session) = ran();
    let export = |flags: &[&str]| stage.run(&[&["session", "export", &session], flags].concat());
    let document = export(&[]).out;
    assert!(document.starts_with(&format!("# Session {session}\n")), "{document}");
    assert!(document.contains("## Task 1 in mode code, for task 0"), "{document}");
    let ran = export(&["--format", "roo"]);
    assert!(ran.code == Some(2) && ran.err.contains("`--out DIR` writes them"), "{ran:?}");
    let ran = export(&["--format", "roo", "--out", "../roo"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 8), "{ran:?}");
    let again = export(&["--format", "roo", "--out", "../roo"]);
    assert!(again.code == Some(2) && again.err.contains("already exists"), "{again:?}");

    // The files of the root task come first.
    let path = ran.out.lines().nth(4).unwrap().to_owned();
    let imported = stage.run(&["session", "import", &path, "--json"]).json();
    let name = imported["session"].as_str().unwrap().to_owned();
    let shown = stage.run(&["session", "show", &name]);
    assert!(shown.out.contains("src/a.txt") && !shown.err.contains("continue it"), "{shown:?}");
    assert_eq!(
        stage.run(&["session", "list", "--outcome", "imported", "--json"]).json()[0]["turns"],
        3
    );
    let ran = stage.run(&["session", "resume", &name, "go on"]);
    assert!(ran.code == Some(2) && ran.err.contains("it cannot be resumed"), "{ran:?}");
    let total = stage.run(&["cost", "--json"]).json();
    assert_eq!(total["total"]["sessions"], 1, "what others spent is not counted");

    let ran = export(&["--format", "claude", "--out", "../claude"]);
    let imported = stage.run(&["session", "import", ran.out.trim()]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let shown = stage.run(&["session", "show", imported.out.trim(), "--task", "1"]).out;
    assert!(shown.contains("Write one."), "{shown}");
    stage.write("x.jsonl", "{\"type\":\"user\"}\nnonsense\n");
    let ran = stage.run(&["session", "import", "../x.jsonl"]);
    assert!(ran.code == Some(2) && ran.err.contains("the session:2: "), "{ran:?}");
    let ran = export(&["--format", "json", "--out", "../json"]);
    let ran = stage.run(&["session", "import", ran.out.trim()]);
    assert!(ran.code == Some(2) && ran.err.contains("already exists here"), "{ran:?}");
}

#[test]
fn what_an_imported_session_says_of_this_machine_is_not_acted_on() {
    let (stage, session) = ran();
    stage.write("precious/file", "mine\n");
    let exported = stage.run(&["session", "export", &session, "--format", "json"]).json();
    let caller = &exported["events"][0]["caller"];
    assert!(caller["folder"].is_string(), "{caller}");
    for id in ["0000aaaa", "0000bbbb"] {
        let mut exported = exported.clone();
        exported["events"][0]["id"] = json!(id);
        exported["events"][0]["caller"]["stands_for"] = json!(stage.path("checkout"));
        exported["events"][0]["caller"]["folder"] = json!(stage.path("precious"));
        stage.write(&format!("{id}.json"), &exported.to_string());
    }
    let ran = stage.run(&["session", "import", "../0000aaaa.json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The same in a journal that says it is one of ours.
    let folder = stage.path("state/locum/sessions/0000bbbb");
    std::fs::create_dir(&folder).unwrap();
    let read: Value = serde_json::from_str(&stage.read("0000bbbb.json")).unwrap();
    let lines = read["events"].as_array().unwrap().iter().map(|line| format!("{line}\n"));
    std::fs::write(folder.join("journal.jsonl"), lines.collect::<String>()).unwrap();
    for id in ["0000aaaa", "0000bbbb"] {
        let ran = stage.run(&["session", "prune", id, "--force"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(stage.sessions(), [session]);
    assert_eq!(stage.read("precious/file"), "mine\n");
}

#[test]
fn sessions_that_are_over_are_removed_with_their_refs() {
    let (stage, session) = ran();
    let question = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: ask_followup_question, \
                    args: { question: \"Which?\", follow_up: [a, b] } }]\n";
    let ran = stage.play(question, &["--mode", "ask"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let waiting = stage.sessions().into_iter().find(|name| *name != session).unwrap();
    let refs = |stage: &Stage| {
        let repo = git2::Repository::open(stage.path("checkout")).unwrap();
        repo.references_glob("refs/locum/*").unwrap().count()
    };
    assert_eq!(refs(&stage), 1);

    let prune = |flags: &[&str]| stage.run(&[&["session", "prune"], flags].concat());
    let ran = prune(&[]);
    assert!(ran.code == Some(2) && ran.err.contains("--older-than 30d"), "{ran:?}");
    assert_eq!(prune(&["--older-than", "1h", "--json"]).json()["removed"], json!([]));
    let shown = prune(&["--older-than", "2999-01-01", "--dry-run", "--json"]).json();
    assert_eq!(
        (&shown["removed"][0]["session"], &shown["removed"][0]["refs"]),
        (&json!(session), &json!(1))
    );
    assert_eq!(shown["stayed"], json!([{ "session": waiting, "why": "could go on" }]));
    assert_eq!((stage.sessions().len(), refs(&stage)), (2, 1), "nothing was removed");
    assert_eq!(prune(&["--keep", "2"]).code, Some(0));
    assert_eq!(stage.sessions().len(), 2);

    let ran = prune(&["--older-than", "2999-01-01"]);
    assert!(ran.code == Some(0) && ran.err.contains("`--force`"), "{ran:?}");
    assert_eq!((stage.sessions(), refs(&stage)), (vec![waiting.clone()], 0));
    let ran = prune(&[&waiting]);
    assert!(ran.code == Some(3) && ran.err.contains("could go on"), "{ran:?}");
    let ran = prune(&[&waiting, "--force"]);
    assert_eq!((ran.code, stage.sessions().len()), (Some(0), 0), "{ran:?}");
}

#[test]
fn a_session_that_says_how_it_goes_on_stays_and_the_setting_bounds_even_these() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    let ran = stage.play(SCRIPT, &["--max-turns", "1"]);
    assert!(ran.out.contains("To go on from there:"), "{ran:?}");
    let session = stage.sessions().remove(0);
    let prune = |flags: &[&str]| stage.run(&[&["session", "prune", "--json"], flags].concat());
    let shown = prune(&["--older-than", "2999-01-01"]).json();
    assert_eq!(shown["stayed"], json!([{ "session": session, "why": "could go on" }]));
    assert_eq!(prune(&[&session]).code, Some(3));

    let old = "01890000000070008000000000000000";
    let folder = |name: &str| stage.path("state/locum/sessions").join(name);
    std::fs::rename(folder(&session), folder(old)).unwrap();
    let journal = format!("state/locum/sessions/{old}/journal.jsonl");
    let at = regex::Regex::new(r#""at":"[^"]*""#).unwrap();
    let lines = stage.read(&journal);
    let lines = at.replace_all(&lines, r#""at":"2023-06-01T00:00:00Z""#).replace(&session, old);
    stage.write(&journal, &lines);
    stage.write("config/locum/config.yml", "session_retention_days: 30\n");
    assert_eq!(stage.play(SCRIPT, &[]).code, Some(0));
    assert_eq!(stage.sessions().len(), 1);
    assert!(!folder(old).exists());
}

#[test]
fn a_worktree_that_was_moved_with_its_session_keeps_it_and_is_still_worked_in() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    assert_eq!(stage.play(SCRIPT, &["--worktree"]).code, Some(0));
    let session = stage.sessions().remove(0);
    std::fs::rename(stage.path("state"), stage.path("moved")).unwrap();
    let run = |arguments: &[&str]| -> Ran {
        let mut command = stage.locum(arguments);
        command.env("XDG_STATE_HOME", stage.path("moved")).output().unwrap().into()
    };
    let shown = run(&["session", "prune", "--older-than", "2999-01-01", "--json"]).json();
    let why = "its worktree holds its changes";
    assert_eq!(shown["stayed"], json!([{ "session": session, "why": why }]));
    let file = stage.path(&format!("moved/locum/worktrees/{session}/files/src/a.txt"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    let diff = run(&["session", "diff", &session]);
    assert!(diff.code == Some(0) && diff.out.contains("+one"), "{diff:?}");
    let ran = run(&["session", "restore", &session, "0"]);
    assert_eq!((ran.code, file.exists()), (Some(0), false), "{ran:?}");
    assert_eq!(stage.names("state"), Vec::<String>::new());
}

#[test]
fn a_session_of_another_user_is_there_though_nobody_else_may_read_it() {
    let (stage, session) = ran();
    let folder = stage.path("state/locum/sessions").join(&session);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read_dir(&folder).is_ok() {
        return; // Whoever runs this test may read everything.
    }
    let listed = stage.run(&["session", "list", "--json"]).json();
    assert_eq!(
        (&listed[0]["session"], &listed[0]["outcome"]),
        (&json!(session), &json!("unreadable"))
    );
    let cost = stage.run(&["cost", "--json"]).json();
    assert_eq!(cost["unreadable"], json!([session]));
    let shown = stage.run(&["session", "prune", "--keep", "0", "--force", "--json"]).json();
    let why = "its folder cannot be opened";
    assert_eq!(shown["stayed"], json!([{ "session": session, "why": why }]));
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_journal_without_its_beginning_is_said_not_to_be_counted() {
    let (stage, session) = ran();
    let journal = format!("state/locum/sessions/{session}/journal.jsonl");
    let lines = stage.read(&journal);
    stage.write(&journal, lines.split_once('\n').unwrap().1);
    let cost = stage.run(&["cost", "--json"]).json();
    assert_eq!((&cost["unreadable"], &cost["rows"]), (&json!([session]), &json!([])));
}

#[test]
fn only_a_file_is_imported_nothing_that_is_read_without_end() {
    let stage = Stage::with(&[("a", "")]);
    let fifo = stage.path("fifo.json");
    assert!(stage.plain("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [fifo.to_str().unwrap(), "/dev/zero"] {
        let ran = stage.run(&["session", "import", path]);
        assert!(ran.code == Some(2) && ran.err.contains("not a regular file"), "{ran:?}");
    }
}

#[test]
fn a_run_removes_old_sessions_where_the_settings_say_so() {
    let (stage, session) = ran();
    // Long before this test: its journal says so, and so does its name.
    let old = "01890000000070008000000000000000";
    let sessions = stage.path("state/locum/sessions").join(&session);
    let folder = sessions.parent().unwrap().join(old);
    std::fs::create_dir(&folder).unwrap();
    let journal = std::fs::read_to_string(sessions.join("journal.jsonl")).unwrap();
    let at = regex::Regex::new(r#""at":"[^"]*""#).unwrap();
    let journal = at.replace_all(&journal, r#""at":"2023-06-01T00:00:00Z""#).replace(&session, old);
    std::fs::write(folder.join("journal.jsonl"), journal).unwrap();
    let names = || stage.sessions();
    stage.play(SCRIPT, &[]);
    assert_eq!(names().len(), 3, "without the setting all stay");
    stage.write("config/locum/config.yml", "session_retention_days: 30\n");
    stage.play(SCRIPT, &[]);
    let left = names();
    assert_eq!(left.len(), 3);
    assert!(!left.iter().any(|name| name == old) && left.contains(&session), "{left:?}");
}

#[test]
fn a_session_whose_own_worktree_has_changes_stays_and_goes_by_force_with_the_worktree() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    let ran = stage.play(SCRIPT, &["--worktree"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let session = stage.sessions().remove(0);
    let prune = |flags: &[&str]| stage.run(&[&["session", "prune", "--json"], flags].concat());
    // Without changes there is no worktree any more, and nothing that stays.
    let idle = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: attempt_completion, args: \
                { result: r } }]\n";
    let ran = stage.play(idle, &["--worktree", "--mode", "ask"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = prune(&["--older-than", "2999-01-01"]).json();
    let stayed = json!([{ "session": session, "why": "its worktree holds its changes" }]);
    assert_eq!((shown["removed"].as_array().unwrap().len(), &shown["stayed"]), (1, &stayed));
    let ran = prune(&[&session]);
    assert_eq!((ran.code, &ran.json()["stayed"]), (Some(3), &stayed), "{ran:?}");
    let file = |name: &str| stage.path(&format!("state/locum/worktrees/{name}/files/src/a.txt"));
    assert!(file(&session).exists());

    let shown = prune(&[&session, "--force", "--dry-run"]).json();
    assert_eq!(shown["removed"][0]["refs"], json!(1));
    assert!(file(&session).exists());
    let ran = prune(&[&session, "--force"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let left = (stage.sessions(), stage.names("state/locum/worktrees"));
    assert_eq!(left, (vec![], vec![]));
    assert_eq!(stage.git(&["for-each-ref", "refs/locum"]), "");
}

#[test]
fn the_setting_leaves_a_session_whose_own_worktree_has_changes() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    let ran = stage.play(SCRIPT, &["--worktree"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let session = stage.sessions().remove(0);
    // As old as its name and its journal say.
    let old = "01890000000070008000000000000000";
    for folder in ["sessions", "worktrees"] {
        let at = |name: &str| stage.path(&format!("state/locum/{folder}/{name}"));
        std::fs::rename(at(&session), at(old)).unwrap();
    }
    let journal = format!("state/locum/sessions/{old}/journal.jsonl");
    let at = regex::Regex::new(r#""at":"[^"]*""#).unwrap();
    let lines = stage.read(&journal);
    let lines = at.replace_all(&lines, r#""at":"2023-06-01T00:00:00Z""#).replace(&session, old);
    stage.write(&journal, &lines);
    stage.write("config/locum/config.yml", "session_retention_days: 30\n");
    let ran = stage.play(SCRIPT, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(stage.names("state/locum/worktrees"), [old]);
    assert!(stage.sessions().contains(&old.to_owned()), "{ran:?}");
    // Once the worktree is gone, so is what keeps the session.
    std::fs::remove_dir_all(stage.path(&format!("state/locum/worktrees/{old}"))).unwrap();
    let ran = stage.play(SCRIPT, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!stage.sessions().contains(&old.to_owned()), "{ran:?}");
}

#[test]
fn the_list_has_cache_figures_sizes_and_the_session_before() {
    let script = SCRIPT.replace("input: 100,", "input: 100, cached_read: 71, cached_write: 9,");
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    let ran = stage.play(&script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let first = stage.sessions().remove(0);
    // One that goes on with it begins with its conversation.
    let journal = |session: &str| format!("state/locum/sessions/{session}/journal.jsonl");
    let lines = stage.read(&journal(&first));
    let (begin, rest) = lines.split_once('\n').unwrap();
    let mut begin: Value = serde_json::from_str(begin).unwrap();
    begin["earlier"] = json!({ "session": first, "messages": [], "turns": 3 });
    let last = format!("{}x", first.get(..first.len() - 1).unwrap());
    stage.write(&journal(&last), &format!("{begin}\n{rest}"));
    let rows = stage.run(&["session", "list", "--json"]).json();
    let row = |name: &str| {
        let mut rows = rows.as_array().unwrap().iter();
        rows.find(|row| row["session"] == name).unwrap().clone()
    };
    assert_eq!((&row(&first)["parent"], &row(&last)["parent"]), (&json!(null), &json!(first)));
    let cached = ["tokens_in", "tokens_cached_read", "tokens_cached_write"];
    assert_eq!(cached.map(|key| row(&first)[key].clone()), [json!(710), json!(71), json!(9)]);
    let bytes = u64::try_from(lines.len()).unwrap();
    assert!(row(&first)["bytes"].as_u64().unwrap() >= bytes, "{rows:#}");
    let table = stage.run(&["session", "list"]).out;
    for words in ["CACHED", "SIZE", "PARENT", " 10% ", " KiB ", first.get(..11).unwrap()] {
        assert!(table.contains(words), "{words}: {table}");
    }
}
