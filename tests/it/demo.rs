//! `locum demo`: the first thing a newcomer runs tells the whole story, and leaves nothing behind
//! that was not asked for.

use crate::support::stage::Stage;
use pretty_assertions::assert_eq;

/// What a reader must find in what the demo prints, in this order.
const STORY: &[&str] = &[
    "# Every step and the policy's decision on it",
    "task 1 · architect",
    "allow   edit(docs/plan.md)",
    "task 2 · code",
    "deny    command(cargo add regex)               .locum/policy.yml:17 command(cargo add:*) · \
     new dependencies need a person",
    "allow   command(cargo test --offline)",
    "exit    101",
    "task 3 · debug",
    "exit    101",
    "exit    0",
    "outcome done",
    "# What changed",
    "+            'm' => total += take(&mut number)? * 60,",
    "+    number.is_empty().then_some(total)",
    "# Would be posted: 002-pull-request.md",
    "# Would be posted: 001-comment-1.md",
    "**locum: done**",
    "denied `command(cargo add regex)`: new dependencies need a person (rule `command(cargo \
     add:*)` at `.locum/policy.yml:17`)",
];

fn assert_story(out: &str) {
    let mut rest = out;
    for part in STORY {
        let Some(at) = rest.find(part) else {
            panic!("`{part}` is missing, or not in its place, in:\n{out}")
        };
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn shows_a_whole_run_and_leaves_nothing_behind() {
    let stage = Stage::empty();
    let ran = stage.run(&["demo"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert_story(&ran.out);
    for folder in ["tmp", "state", "config", "checkout"] {
        assert_eq!(stage.names(folder), Vec::<String>::new(), "{folder}");
    }
}

#[test]
fn keeps_the_repository_where_it_is_told_to() {
    let stage = Stage::empty();
    let folder = stage.path("kept");
    let ran = stage.run(&["demo", "--dir", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert_story(&ran.out);

    let git = |arguments: &[&str]| stage.git_in("kept", arguments);
    assert_eq!(git(&["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    assert_eq!(
        git(&["log", "--format=%s", "main"]),
        "A crate that reads durations\n",
        "the branch the run began on is as it was"
    );
    assert_eq!(
        git(&["log", "-1", "--format=%s", "locum/issue-1-the-tests-fail"]),
        "Both faults of `seconds` are repaired\n"
    );
    assert_eq!(
        git(&["diff", "--name-only", "main", "locum/issue-1-the-tests-fail"]),
        "docs/plan.md\nsrc/lib.rs\n"
    );
    git(&["add", "-A"]);
    assert_eq!(
        git(&["diff", "--cached", "locum/issue-1-the-tests-fail"]),
        "",
        "the branch holds what the run left in the checkout"
    );

    let postings = stage.names("kept/.git/locum/postings");
    assert_eq!(postings, ["001-comment-1.md", "002-pull-request.md", "003-labels-2.json"]);
    let comment = stage.read("kept/.git/locum/postings/001-comment-1.md");
    assert!(
        comment.contains("**locum: done**") && comment.contains("new dependencies need a person"),
        "{comment}"
    );

    let again = stage.run(&["demo", "--dir", folder.to_str().unwrap()]);
    assert_eq!((again.code, again.out.as_str()), (Some(2), ""), "{}", again.err);
    assert!(again.err.starts_with("error: --dir: ") && again.err.contains("kept"), "{}", again.err);
}

#[test]
fn is_not_green_where_the_tests_cannot_run() {
    let stage = Stage::empty();
    stage.program("cargo", "exit 127");
    let ran = stage.run(&["demo"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("outcome failed"), "{}", ran.out);
}
