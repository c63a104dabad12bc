//! Back to a checkpoint: files alone, or a new session with the conversation until then.

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;
use serde_json::json;

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                      [\"read(**)\", \"edit(src/**)\"]\n";
const SCRIPT: &str = r#"
version: 1
tasks:
  - turns:
      - calls: [{ tool: write_to_file, args: { path: src/a.txt, content: "one\n" } }]
      - calls: [{ tool: write_to_file, args: { path: src/b.txt, content: "two\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "Both are there." } }]
      - calls: [{ tool: attempt_completion, args: { result: "Went on." } }]
"#;

fn ran() -> (Stage, String) {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/start.txt", "start\n")]);
    let ran = stage.play(SCRIPT, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let session = stage.sessions().remove(0);
    (stage, session)
}

fn files(stage: &Stage) -> (Option<String>, Option<String>) {
    let read =
        |name: &str| std::fs::read_to_string(stage.path(&format!("checkout/src/{name}"))).ok();
    (read("a.txt"), read("b.txt"))
}

fn is(a: &str, b: Option<&str>) -> (Option<String>, Option<String>) {
    (Some(format!("{a}\n")), b.map(|b| format!("{b}\n")))
}

#[test]
fn files_go_back_and_nothing_is_lost() {
    let (stage, session) = ran();
    let listed = stage.run(&["session", "checkpoints", &session, "--json"]).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!((&listed[1]["files"], &listed[1]["lines"]), (&json!(["src/b.txt"]), &json!(1)));
    assert!(listed[0]["step"].as_str().unwrap().starts_with("task 0 turn "), "{listed}");

    let diff = |numbers: &[&str]| stage.run(&[&["session", "diff", &session], numbers].concat());
    let whole = diff(&[]);
    assert!(whole.out.contains("+one") && whole.out.contains("+two"), "{whole:?}");
    let second = diff(&["2"]);
    assert!(!second.out.contains("+one") && second.out.contains("+two"), "{second:?}");
    let back = diff(&["2", "0"]);
    assert!(back.out.contains("-one") && back.out.contains("-two"), "{back:?}");

    // What a person wrote meanwhile is a checkpoint of its own before the files go back.
    stage.write("checkout/src/b.txt", "mine\n");
    stage.write("checkout/src/c.txt", "not the run's\n");
    let restored = stage.run(&["session", "restore", &session, "1", "--json"]).json();
    assert_eq!((&restored["saved_as"], &restored["session"]), (&json!(3), &json!(null)));
    assert_eq!(files(&stage), is("one", None));
    assert_eq!(stage.read("checkout/src/c.txt"), "not the run's\n");
    let ran = stage.run(&["session", "restore", &session, "3", "--files-only"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(files(&stage), is("one", Some("mine")));

    for (arguments, words) in [
        (["session", "restore", &session, "9"], "the session has no checkpoint 9: it made 5"),
        (["session", "diff", &session, "7"], "the session has no checkpoint 7"),
        (["session", "restore", "0000", "1"], "there is no session `0000`"),
    ] {
        let ran = stage.run(&arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(words), "{ran:?}");
    }
    let ran = stage.run(&["session", "restore", &session, "0", "--and-conversation"]);
    assert!(ran.code == Some(2) && ran.err.contains("start the task again"), "{ran:?}");
    assert_eq!(files(&stage), is("one", Some("mine")));
    let ran = stage.run(&["session", "restore", &session, "0"]);
    assert_eq!((ran.code, files(&stage)), (Some(0), (None, None)), "{ran:?}");
}

#[test]
fn a_session_goes_on_from_a_checkpoint_as_another() {
    let (stage, session) = ran();
    let before = stage.read(&format!("state/locum/sessions/{session}/journal.jsonl"));
    let ran = stage.run(&["session", "resume", &session, "--from", "1", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("goes on from checkpoint 1"), "{ran:?}");
    let report = ran.json();
    assert_eq!(
        (&report["outcome"], &report["summary"]),
        (&json!("done"), &json!("Both are there."))
    );
    assert_ne!(report["session"], json!(session));
    // It wrote the second file again, after the files had gone back.
    assert_eq!(files(&stage), is("one", Some("two")));
    let after = stage.read(&format!("state/locum/sessions/{session}/journal.jsonl"));
    assert!(after.starts_with(&before), "the old session keeps what it was");
    assert_eq!(stage.sessions().len(), 2);
    // What it has of the other is counted there, and it says whose it is.
    let turns = |of: &str| {
        let cost = stage.run(&["cost", "--by", "session", "--json"]).json();
        let row = cost["rows"].as_array().unwrap().iter().find(|row| row["name"] == of).cloned();
        row.map_or(0, |row| row["turns"].as_u64().unwrap())
    };
    let new = report["session"].as_str().unwrap();
    assert!(turns(&session) > 0 && turns(new) > 0);
    let journal = stage.read(&format!("state/locum/sessions/{new}/journal.jsonl"));
    let replies = journal.matches("\"event\":\"replied\"").count();
    assert!(turns(new) < replies as u64, "{} of {replies}", turns(new));
    let listed = stage.run(&["session", "list", "--json"]).json();
    let row = listed.as_array().unwrap().iter().find(|row| row["session"] == new).unwrap();
    assert_eq!(row["parent"], json!(session));
    let shown = stage.run(&["session", "show", new]).out;
    let says = format!("of session {session}, with everything until its checkpoint 1");
    assert!(shown.contains(&says) && !shown.contains("killed"), "{shown}");
    let left = stage.names(&format!("state/locum/sessions/{session}"));
    assert!(left.iter().all(|name| !name.starts_with("branch-")), "{left:?}");

    let made = stage.run(&["session", "restore", &session, "1", "--and-conversation", "--json"]);
    let other = made.json()["session"].as_str().unwrap().to_owned();
    assert_eq!(files(&stage), is("one", None));
    let shown = stage.run(&["session", "checkpoints", &other, "--json"]).json();
    assert_eq!(shown.as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(turns(&other), 0, "no model was asked");
    // The old one, resumed with words, reads that its files went back.
    let ran = stage.run(&["session", "resume", &session, "go on", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let journal = stage.read(&format!("state/locum/sessions/{session}/journal.jsonl"));
    assert!(journal.contains("back to checkpoint 1"), "{journal}");
}

#[test]
fn a_session_that_cannot_go_on_from_a_checkpoint_leaves_everything_as_it_is() {
    let (stage, session) = ran();
    let journal = format!("state/locum/sessions/{session}/journal.jsonl");
    let before = (files(&stage), stage.read(&journal), stage.sessions());
    for arguments in [
        &["--from", "1", "go on", "--image", "none.png"][..],
        &["--from", "9"],
        &["--from", "1", "--image", "none.png"],
        &["--from", "1", "--max-turns", "1"],
        &["--from", "1", &"x".repeat(100_000)],
    ] {
        let ran = stage.run(&[&["session", "resume", &session], arguments].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.err);
        let after = (files(&stage), stage.read(&journal), stage.sessions());
        assert_eq!(after, before, "{arguments:?}");
    }
    let policy = stage.read("checkout/.locum/policy.yml");
    stage.write("checkout/.locum/policy.yml", &format!("{policy}  - deny: \"edit(x/**)\"\n"));
    stage.commit("another policy");
    let ran = stage.run(&["session", "resume", &session, "--from", "1"]);
    assert!(ran.code == Some(2) && ran.err.contains("ran under policy"), "{ran:?}");
    assert_eq!((files(&stage), stage.read(&journal), stage.sessions()), before);
}

#[test]
fn a_way_back_that_stops_half_way_says_so_to_the_person_and_to_the_model() {
    let (stage, session) = ran();
    let restore = |number: &str| stage.run(&["session", "restore", &session, number]);
    assert_eq!(restore("0").code, Some(0));
    stage.write("checkout/src/b.txt/mine", "in the way\n");
    let ran = restore("2");
    assert_eq!((ran.code, stage.read("checkout/src/a.txt").as_str()), (Some(2), "one\n"));
    for words in [
        "other files are as they were at checkpoint 2 already, and checkpoint 3 holds",
        "`locum session restore ID 3`",
    ] {
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let journal = || stage.read(&format!("state/locum/sessions/{session}/journal.jsonl"));
    let told = "I brought some files, but not all, of the checkout back to checkpoint 2.";
    assert!(journal().contains(told), "{}", journal());
    let ran = restore("3");
    assert_eq!((ran.code, stage.path("checkout/src/a.txt").exists()), (Some(0), false), "{ran:?}");
    assert_eq!(stage.read("checkout/src/b.txt/mine"), "in the way\n");

    // One that changes nothing says nothing of other files.
    stage.write("checkout/src/a.txt/mine", "in the way\n");
    let lines = journal().lines().count();
    let ran = restore("1");
    assert!(ran.code == Some(2) && !ran.err.contains("other files"), "{ran:?}");
    assert_eq!(journal().lines().count(), lines, "{ran:?}");
}

#[test]
fn a_diff_in_a_file_applies_whatever_is_in_it() {
    let content = r#""a\r\nform\u000cfeed \u001b[1mbold\u200b\r\nlast\n\n""#;
    let script = format!(
        "version: 1\ntasks:\n  - turns:\n      - calls: [{{ tool: read_file, args: {{ path: \
         src/odd.txt }} }}]\n      - calls: [{{ tool: write_to_file, args: {{ path: src/odd.txt, \
         content: {content} }} }}]\n      - calls: [{{ tool: attempt_completion, args: \
         {{ result: r }} }}]\n"
    );
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/odd.txt", "a\r\nb\r\n\n")]);
    let ran = stage.play(&script, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let session = stage.sessions().remove(0);
    let written = stage.read("checkout/src/odd.txt");
    assert!(written.contains("\u{1b}[1m"), "{written:?}");
    for command in
        [["session", "diff", &session].as_slice(), &["session", "show", &session, "--diff"]]
    {
        stage.write("changes.patch", &stage.run(command).out);
        stage.git(&["checkout", "--", "src/odd.txt"]);
        stage.git(&["apply", "../changes.patch"]);
        assert_eq!(stage.read("checkout/src/odd.txt"), written, "{command:?}");
    }
}

#[test]
fn a_checkout_that_was_moved_is_named_by_repo() {
    let (stage, session) = ran();
    let moved = stage.path("moved");
    std::fs::rename(stage.path("checkout"), &moved).unwrap();
    stage.git_in(".", &["init", "--quiet", "checkout-2"]);
    std::fs::rename(stage.path("checkout-2"), stage.path("other")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = stage.locum(arguments);
        crate::support::stage::Ran::from(command.current_dir(stage.path("tmp")).output().unwrap())
    };
    let gone = run(&["session", "restore", &session, "1"]);
    assert!(gone.err.contains("is gone from") && gone.err.contains("--repo DIR"), "{gone:?}");
    let other = stage.path("other");
    let wrong = run(&["--repo", other.to_str().unwrap(), "session", "restore", &session, "1"]);
    assert!(wrong.err.contains("lacks the commit"), "{wrong:?}");
    let repo = moved.to_str().unwrap();
    let diff = run(&["--repo", repo, "session", "diff", &session]);
    assert!(diff.out.contains("+two"), "{diff:?}");
    let restored = run(&["--repo", repo, "session", "restore", &session, "1"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(!moved.join("src/b.txt").exists() && moved.join("src/a.txt").exists());
    let resumed = run(&["--repo", repo, "session", "resume", &session, "Go on."]);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
}
