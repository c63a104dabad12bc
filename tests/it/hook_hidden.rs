//! `locum hook`: hidden files are not reached by another name, repository or program, and nothing
//! is asked about that shows none of them.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::hook::decision;
use crate::support::stage::Stage;

/// Rules that leave everything to what is hidden.
const POLICY: &str = "version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ['read(**)', 'edit(**)', 'command(*)']
commands: { sandbox: required, expansions: allow }
";

fn check(stage: &Stage, cases: &[(&str, &str)]) {
    for (command, expected) in cases {
        let (word, why) = decision(stage, "claude", "Bash", &json!({ "command": command }));
        assert_eq!(word, *expected, "{command}: {why}");
    }
}

#[test]
fn a_hidden_file_is_not_reached_by_another_name_repository_or_program() {
    let stage = Stage::with(&[
        (".locum/policy.yml", POLICY),
        (".gitignore", "/src/.env\n"),
        // It is in every commit, and only names what is hidden.
        (".locumignore", "secrets/\n"),
        ("src/a.rs", "one\n"),
        ("docs/a.md", "one\n"),
    ]);
    stage.write("checkout/src/.env", "X=1\n");
    stage.write("checkout/other/a.txt", "one\n");
    stage.git_in("checkout/other", &["init", "-q"]);
    stage.write("outside", "s\n");
    std::os::unix::fs::symlink(stage.path("outside"), stage.path("checkout/src/out")).unwrap();
    check(
        &stage,
        &[
            ("rg one", "allow"),
            ("git diff", "allow"),
            ("git show HEAD", "allow"),
            ("git log -p -3", "allow"),
            // What a search passes over is said in the same script.
            ("echo '!.env' > .ignore && rg one", "ask"),
            ("echo x > out.txt && rg one", "allow"),
            ("rg -g '*' one", "ask"),
            ("rg -g '*.rs' -g '!docs' one", "allow"),
            // Programs that no table has.
            ("bat src/.env", "deny"),
            ("timeout 5 rg -g .env one", "deny"),
            ("bat src/a.rs", "allow"),
            ("bat src/new.rs", "allow"),
            ("bat src/out", "ask"),
            ("egrep -r one src", "ask"),
            ("egrep -r one docs", "allow"),
            // Under another name it may be read.
            ("mv src/.env src/b.txt", "ask"),
            ("mv src/a.rs src/b.rs", "allow"),
            // In another repository nobody looked.
            ("git -C other log -p", "ask"),
            ("git -C docs log -p", "allow"),
            ("cd other && git log -p", "ask"),
            ("cd docs && git log -p", "allow"),
            ("GIT_DIR=other/.git git log -p", "ask"),
            ("NO_COLOR=1 git log -p", "allow"),
            // What git is given first.
            ("git add -A && git diff --cached", "allow"),
            ("git add -f src && git diff --cached", "ask"),
        ],
    );
}

#[test]
fn a_type_of_files_includes_those_with_hidden_names() {
    let stage = Stage::with(&[(".locum/policy.yml", POLICY), ("src/a.sh", "one\n")]);
    check(&stage, &[("rg -t sh one", "allow"), ("rg one", "allow")]);
    // Files of the type `sh` may be called like that.
    stage.write("checkout/src/.env", "X=1\n");
    check(&stage, &[("rg -t sh one", "ask"), ("rg one", "allow")]);
}
