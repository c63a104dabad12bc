//! A run on a clone of this very project: a real tree, the built-in policy, and the three forms of
//! a result that must agree.

use std::path::Path;

use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const DOC: &str = "docs/ARCHITECTURE.md";
const ADDED: &str = "<!-- a line of the test -->";

/// A checkout of this project as a runner makes it: a clone of the last commit where the sources
/// are a repository, else one made of the files.
fn clone() -> Stage {
    let stage = Stage::empty();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut clone = stage.plain("git");
    let source = format!("file://{}", sources.display());
    clone.args(["clone", "-q", "--depth", "1", &source]).arg(stage.path("checkout"));
    if !sources.join(".git").exists() || !clone.output().unwrap().status.success() {
        copy(sources, sources, &stage);
        stage.git(&["init", "-q", "-b", "main"]);
        stage.commit("first");
    }
    stage
}

fn copy(folder: &Path, root: &Path, stage: &Stage) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let inner = path.strip_prefix(root).unwrap();
        if entry.file_type().unwrap().is_dir() {
            if ![".git", "target"].map(Path::new).contains(&inner) {
                copy(&path, root, stage);
            }
        } else {
            stage.write(
                &format!("checkout/{}", inner.display()),
                &std::fs::read_to_string(&path).unwrap(),
            );
        }
    }
}

/// Reads, searches, edits one document, looks at the diff, completes.
fn script(stage: &Stage) -> String {
    let doc = stage.read(&format!("checkout/{DOC}"));
    let first = doc.lines().next().unwrap();
    let diff = format!("<<<<<<< SEARCH\n{first}\n=======\n{first}\n{ADDED}\n>>>>>>> REPLACE\n");
    let call = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let turn = |calls: &[Value]| json!({ "calls": calls });
    let code = [
        json!({ "calls": [
            call("read_file", json!({ "path": DOC })),
            call("search_files", json!({ "path": "src", "regex": "^pub enum ExitStatus", "file_pattern": "*.rs" })),
            call("list_files", json!({ "path": "src", "recursive": true })),
        ] }),
        json!({ "expect": { "contains": [first, "src/cli/mod.rs", "src/main.rs"] }, "calls": [call("apply_diff", json!({ "path": DOC, "diff": diff }))] }),
        turn(&[call("execute_command", json!({ "command": "git diff --stat" }))]),
        json!({ "expect": { "contains": ["1 file changed, 1 insertion(+)"] }, "calls": [call("attempt_completion", json!({ "result": "The line is there." }))] }),
    ];
    let root = [
        turn(&[call(
            "new_task",
            json!({ "mode": "code", "message": "Add a line to the document." }),
        )]),
        json!({ "expect": { "contains": ["The line is there."] }, "calls": [call("attempt_completion", json!({ "result": "One line was added." }))] }),
    ];
    json!({ "version": 1, "tasks": [{ "mode": "orchestrator", "turns": root }, { "mode": "code", "turns": code }] }).to_string()
}

fn play(stage: &Stage, format: &str) -> Ran {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/policy.yml");
    stage.play(&script(stage), &["--policy", policy.to_str().unwrap(), "--output-format", format])
}

/// What the report of the run must say; the rest of it is looked at where it is made.
fn essence(report: &Value) -> Value {
    let files: Vec<&Value> =
        report["changes"].as_array().unwrap().iter().map(|change| &change["path"]).collect();
    let refusals = report["refusals"].as_array().unwrap().len();
    json!([report["outcome"], report["exit_code"], report["summary"], files, refusals])
}

#[test]
fn edits_one_document_and_says_the_same_in_every_form() {
    let stage = clone();
    let (head, commit, before) = stage.checkout_state();
    assert_eq!(before, "", "a fresh clone is clean");
    let original = stage.read(&format!("checkout/{DOC}"));
    let expected = json!(["done", 0, "One line was added.", [DOC], 0]);

    let ran = play(&stage, "text");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.out.contains(&format!("+++ b/{DOC}")) && ran.out.contains(&format!("+{ADDED}")),
        "{}",
        ran.out
    );
    assert_eq!(stage.checkout_state(), (head, commit, format!(" M {DOC}\n")));
    let shown = stage.run(&["session", "show", &stage.sessions()[0]]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["Add a line to the document.", "git diff --stat", "One line was added.", ADDED] {
        assert!(shown.out.contains(part), "`{part}` is missing in {}", shown.out);
    }
    let shown = stage.run(&["session", "show", "--json", &stage.sessions()[0]]).json();
    assert_eq!(essence(&shown["outcome"]), expected);
    assert_eq!(shown["events"].as_array().unwrap().len(), stage.journal().len());

    stage.write(&format!("checkout/{DOC}"), &original);
    let ran = play(&stage, "json");
    assert_eq!((ran.code, essence(&ran.json())), (Some(0), expected.clone()), "{ran:?}");

    stage.write(&format!("checkout/{DOC}"), &original);
    let ran = play(&stage, "stream-json");
    let lines = ran.json_lines();
    let (last, events) = lines.split_last().unwrap();
    assert_eq!((ran.code, essence(last)), (Some(0), expected), "{ran:?}");
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"started"), Some(&"ended")));
    assert_eq!(stage.sessions().len(), 3, "a session a run");
}
