//! What a review at the command line looks at: the branch and what is not committed.

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

const POLICY: &str = "version: 1\nmodes: { default: review, allow: [review] }\nrules:\n  - allow: \
                      \"read(**)\"\n";

/// A branch one commit ahead of `main`, which has moved on as well, and a file that is in no
/// commit.
fn stage() -> Stage {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/a.txt", "one\n")]);
    stage.git(&["branch", "-M", "main"]);
    stage.git(&["checkout", "-q", "-b", "feat"]);
    stage.write("checkout/src/b.txt", "of the branch\n");
    stage.commit("second");
    stage.git(&["checkout", "-q", "main"]);
    stage.write("checkout/src/other.txt", "of main\n");
    stage.commit("third");
    stage.git(&["checkout", "-q", "feat"]);
    stage.write("checkout/src/new.txt", "in no commit\n");
    stage
}

fn script(expect: &str) -> String {
    format!(
        r#"
version: 1
tasks:
  - mode: review
    turns:
      - {expect}
        calls:
          - {{ tool: show_changes, args: {{}} }}
          - {{ tool: show_changes, args: {{ path: src/b.txt }} }}
          - {{ tool: show_changes, args: {{ path: . }} }}
      - calls: [{{ tool: attempt_completion, args: {{ result: r }} }}]
"#
    )
}

/// What `show_changes` answered.
fn shown(stage: &Stage) -> [String; 3] {
    let answers = stage.answers().into_iter().filter(|(tool, _)| tool == "show_changes");
    answers.map(|(_, text)| text).collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn a_review_looks_at_the_branch_and_at_what_is_not_committed() {
    for base in [["--base", "main"].as_slice(), &[]] {
        let stage = stage();
        let seen = r#"expect: { contains: ["the change under review", "+of the branch", "+in no commit"], not_contains: ["of main"] }"#;
        let ran = stage.play(&script(seen), &[&["--mode", "review"], base].concat());
        assert_eq!(ran.code, Some(0), "{base:?}: {ran:?}");
        let [all, one, ..] = shown(&stage);
        assert!(all.contains("2 files, +2 -0"), "{all}");
        assert!(one.starts_with("diff --git a/src/b.txt"), "{one}");
    }
}

#[test]
fn on_the_default_branch_only_what_is_not_committed_is_under_review() {
    let stage = stage();
    stage.git(&["checkout", "-q", "main"]);
    let seen =
        r#"expect: { contains: ["+in no commit"], not_contains: ["of main", "of the branch"] }"#;
    let ran = stage.play(&script(seen), &["--mode", "review"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn where_nothing_differs_no_path_is_named_for_the_whole_checkout() {
    let stage = stage();
    std::fs::remove_file(stage.path("checkout/src/new.txt")).unwrap();
    stage.git(&["checkout", "-q", "main"]);
    let seen = r#"expect: { not_contains: ["the change under review"] }"#;
    let ran = stage.play(&script(seen), &["--mode", "review"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let main = stage.git(&["rev-parse", "main"]);
    let [_, _, whole] = shown(&stage);
    assert_eq!(whole, format!("Nothing differs from commit {}.", main.trim()));
}

#[test]
fn a_worktree_of_the_base_has_nothing_of_the_branch_to_review() {
    let stage = stage();
    let seen = r#"expect: { not_contains: ["the change under review"] }"#;
    let ran = stage.play(&script(seen), &["--mode", "review", "--base", "main", "--worktree"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_a_review_finds_is_written_as_sarif_also_in_files_of_no_commit() {
    let stage = stage();
    let result = r#""- **blocker**, high confidence: `src/new.txt:1` is in no commit\n- src/b.txt:9 is not there\n- **nit** src/b.txt:1 is short""#;
    let script = script("").replace("result: r ", &format!("result: {result} "));
    let script = script.replace("      - \n        calls:", "      - calls:");
    let file = stage.path("found.sarif");
    let flags = ["--mode", "review", "--sarif", file.to_str().unwrap()];
    let ran = stage.play(&script, &flags);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let log: serde_json::Value = serde_json::from_str(&stage.read("found.sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let found: Vec<_> =
        results.iter().map(|one| (one["ruleId"].clone(), one["rank"].clone())).collect();
    let expected = [("locum/blocker", 90.0), ("locum/nit", 50.0)];
    let expected = expected.map(|(rule, rank)| (rule.into(), rank.into()));
    assert_eq!(found, expected, "{results:#?}");

    let flags = ["--mode", "review", "--sarif", "/no/such/folder/found.sarif"];
    let ran = stage.play(&script, &flags);
    assert_eq!(ran.code, Some(2), "before a model is asked: {ran:?}");
}
