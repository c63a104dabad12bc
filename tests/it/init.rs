//! `locum init`: what it writes, what it says, and what it leaves alone.

use pretty_assertions::assert_eq;

use crate::support::stage::{ACTION, Ran, Stage};

fn init(stage: &Stage, flags: &[&str]) -> Ran {
    stage.run(&[&["init", "--action", ACTION], flags].concat())
}

#[test]
fn a_folder_that_git_ignores_is_said_with_the_line_that_brings_it_back() {
    let stage = Stage::with(&[("src/a.rs", ""), (".gitignore", "/*\n!/src\n")]);
    let ran = init(&stage, &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let hint = "add to the end of `.gitignore`:\n    !/.locum/\n    !/.github/\n";
    assert!(ran.err.contains("note: git ignores what was written"), "{ran:?}");
    assert!(ran.err.contains(hint), "{ran:?}");
    stage.write("checkout/.gitignore", "/*\n!/src\n!/.locum/\n!/.github/\n");
    let ran = init(&stage, &["--force"]);
    assert!(!ran.err.contains("git ignores"), "{ran:?}");
    assert!(stage.git(&["status", "--porcelain"]).contains("?? .locum/"));
}

#[test]
fn the_last_words_list_the_settings_at_github() {
    let stage = Stage::with(&[("src/a.rs", "")]);
    let ran = init(&stage, &["--provider", "anthropic"]);
    for part in [
        "named `ANTHROPIC_API_KEY`",
        "turn on \"Allow GitHub Actions to create and approve pull requests\"",
        "Commit both files to the default branch, and write `/locum`",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let ran = init(&stage, &["--force", "--provider", "github"]);
    assert!(ran.err.contains("There is no key to store"), "{}", ran.err);
}

/// A project whose tests are a target of its Makefile.
fn project(recipe: &str) -> Stage {
    let makefile = format!("test:\n\t{recipe}\n");
    Stage::with(&[("src/a.sh", "true\n"), ("Makefile", &makefile)])
}

#[test]
fn the_success_command_runs_once_in_the_sandbox_and_leaves_nothing() {
    for stage in Stage::in_both_worlds(|| project("test -f src/a.sh && touch src/left")) {
        let ran = init(&stage, &[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.out.contains("check: `make test` passes in the sandbox\n"), "{ran:?}");
        assert_eq!(stage.names("checkout/src"), ["a.sh"]);
        assert_eq!(stage.run(&["session", "list"]).out, "", "it is no session of the user's");
    }
}

#[test]
fn a_success_command_that_fails_is_said_with_what_it_needs_and_what_is_a_draft() {
    for (recipe, why, cure) in [
        (
            "echo no more; exit 3",
            "does not pass: the command itself fails (exit code 2)",
            "run `make test` yourself",
        ),
        (
            "echo 'Ran 0 tests in 0.000s'",
            "shows nothing: it ran no test (exit code 0)",
            "name the command that runs your tests in place of `make test`",
        ),
        (
            "echo 'curl: (6) Could not resolve host: x.example'; exit 6",
            "it wants the network",
            "fetch what it needs before",
        ),
        ("no-such-program", "a program that it starts is not installed", "install the program"),
        (
            "echo \"ModuleNotFoundError: No module named 'x'\"; exit 1",
            "dependencies are not installed",
            "install what it needs before",
        ),
    ] {
        let stage = project(recipe);
        let ran = init(&stage, &[]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.out.contains(why) && ran.err.contains(cure), "{recipe}: {ran:?}");
        let is_draft = ran.err.contains("every pull request that a run opens is a draft");
        assert_eq!(is_draft, !why.starts_with("shows nothing"), "{ran:?}");
        assert_eq!(stage.names("checkout/.locum"), ["policy.yml"], "it is written all the same");
    }
    let stage = project("exit 1");
    let ran = init(&stage, &["--no-check"]);
    assert!(!ran.out.contains("check:") && !ran.err.contains("check:"), "{ran:?}");
    let empty = Stage::empty();
    locum_testing::repository::init(&empty.path("checkout"));
    empty.write("checkout/Makefile", "test:\n\ttrue\n");
    let ran = init(&empty, &[]);
    assert!(
        ran.out.contains("`make test` not tried here: the repository has no commit"),
        "{ran:?}"
    );
}

#[test]
fn a_later_init_shows_a_difference_and_writes_nothing() {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    let policy = "checkout/.locum/policy.yml";
    let first = init(&stage, &["--no-check", "--provider", "gemini"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let same = init(&stage, &["--no-check"]);
    assert_eq!((same.code, same.out.as_str()), (Some(0), ""), "{same:?}");
    assert!(same.err.contains("Nothing to change"), "{same:?}");
    // The repository gets another folder, and tests.
    stage.write("checkout/lib/b.sh", "true\n");
    stage.write("checkout/Makefile", "test:\n\ttrue\n");
    let before = stage.read(policy);
    let shown = init(&stage, &["--no-check"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for part in ["--- a/.locum/policy.yml", "+      - \"edit(lib/**)\"", "+    - \"make test\""] {
        assert!(shown.out.contains(part), "{part}: {shown:?}");
    }
    assert!(shown.err.contains("Nothing is written. `locum init --update`"), "{shown:?}");
    assert!(!shown.out.contains("gpt-"), "the provider stays: {shown:?}");
    assert_eq!(stage.read(policy), before);
    let updated = init(&stage, &["--no-check", "--update"]);
    assert_eq!(updated.out, "updated .locum/policy.yml\n", "{updated:?}");
    assert!(stage.read(policy).contains("edit(lib/**)"));
}

#[test]
fn what_was_changed_by_hand_is_never_lost() {
    let stage = Stage::with(&[("src/a.sh", "true\n"), ("Makefile", "build:\n\ttrue\n")]);
    let policy = "checkout/.locum/policy.yml";
    init(&stage, &["--no-check"]);
    stage.commit("as init wrote it");
    let by_hand = stage
        .read(policy)
        .replace("cost_usd: 2.00", "cost_usd: 7.00")
        .replace("      - \"command(make build)\" # a target of Makefile\n", "");
    stage.write(policy, &by_hand);
    stage.write("checkout/lib/b.sh", "true\n");
    let updated = init(&stage, &["--no-check", "--update"]);
    assert_eq!(updated.out, "updated .locum/policy.yml\n", "{updated:?}");
    let now = stage.read(policy);
    assert!(now.contains("cost_usd: 7.00") && now.contains("edit(lib/**)"), "{now}");
    assert!(!now.contains("command(make build)"), "what was cut stays cut: {now}");
    assert_eq!(stage.run(&["policy", "check"]).code, Some(0));
    // Of a policy that nobody knows the beginning of, nothing is changed.
    let own = "version: 1\nrules:\n  - allow: \"read(**)\"\n";
    let stage = Stage::with(&[("src/a.sh", "true\n"), (".locum/policy.yml", own)]);
    let shown = init(&stage, &["--no-check"]);
    assert!(shown.out.contains("-  - allow: \"read(**)\"\n"), "{shown:?}");
    let updated = init(&stage, &["--no-check", "--update"]);
    assert!(updated.err.contains("kept .locum/policy.yml: it is made by hand"), "{updated:?}");
    assert_eq!(stage.read(policy), own);
}

#[test]
fn every_question_has_a_flag() {
    let stage = Stage::with(&[("src/a.sh", "true\n"), ("tests/b.sh", "true\n")]);
    let flags = ["--no-check", "--start", "collaborator", "--label", "robot"];
    let ran = init(&stage, &[flags.as_slice(), &["--edit", "src/**", "--edit", "*.sh"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let policy = stage.read("checkout/.locum/policy.yml");
    for part in
        ["tiers: [maintainer, collaborator]", "label: { name: \"robot\"", "\"edit(src/**)\""]
    {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(!policy.contains("edit(tests/**)"), "{policy}");
    let workflow = stage.read("checkout/.github/workflows/locum.yml");
    assert!(workflow.contains("github.event.label.name == 'robot'"), "{workflow}");
    assert!(ran.err.contains("gh label create 'robot'"), "{ran:?}");
    // A later one needs no flag again.
    let again = stage.run(&["init", "--no-check"]);
    assert_eq!(again.out, "", "{again:?}");
    let wrong = init(&stage, &["--no-check", "--edit", "a b"]);
    assert!(wrong.code == Some(2) && wrong.err.contains("not a glob of files"), "{wrong:?}");
}

#[test]
fn a_check_that_is_asked_for_decides_the_exit_code() {
    let failing = [("make test", "exit 3", Some(2)), ("make test", "true", Some(0))];
    for (command, recipe, expected) in failing {
        let stage = project(recipe);
        let first = init(&stage, &["--check"]);
        assert_eq!(first.code, expected, "{command}: {first:?}");
        // Nothing is written any more; it is tried all the same.
        assert_eq!(init(&stage, &["--check"]).code, expected);
        assert_eq!(init(&stage, &["--force"]).code, Some(0), "by default it is a finding");
    }
    // What could not be tried does not pass, either.
    let empty = Stage::empty();
    locum_testing::repository::init(&empty.path("checkout"));
    empty.write("checkout/Makefile", "test:\n\ttrue\n");
    let ran = init(&empty, &["--check"]);
    assert!(ran.code == Some(2) && ran.out.contains("not tried here"), "{ran:?}");
    // There is nothing to try.
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    let ran = init(&stage, &["--check"]);
    assert!(ran.code == Some(0) && ran.err.contains("no command shows"), "{ran:?}");
}

#[test]
fn doctor_tries_each_success_command_where_it_is_asked() {
    let policy = "version: 1\nrules:\n  - allow: [\"read(**)\", \"command(make:*)\"]\n\
                  publish:\n  success: [make one, make two]\n";
    let coloured = r"[\033[1;31mERROR\033[m] \033]8;;http://a.b\033\\No module named x\033]8;;\007";
    let makefile = format!("one:\n\t@printf '{coloured}\\n'; exit 1\ntwo:\n\ttouch left\n");
    let makefile = makefile.as_str();
    let stage = Stage::with(&[(".locum/policy.yml", policy), ("Makefile", makefile)]);
    let doctor = |stage: &Stage, flags: &[&str]| -> Ran {
        let keys = [("LOCUM_MODEL", "gpt-4.1"), ("OPENAI_API_KEY", "k")];
        stage.locum(&[&["doctor"], flags].concat()).envs(keys).output().unwrap().into()
    };
    let cheap = doctor(&stage, &["--json"]);
    assert_eq!((cheap.code, &cheap.json()["check"]), (Some(0), &serde_json::Value::Null));
    let ran = doctor(&stage, &["--check", "--json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let check = &ran.json()["check"];
    assert_eq!(check["passes"], false);
    let [one, two] = [&check["commands"][0], &check["commands"][1]];
    assert_eq!((&one["exit_code"], &one["lacks"]), (&2.into(), &"dependencies".into()), "{ran:?}");
    assert!(one["hint"].as_str().unwrap().contains("install what it needs"), "{ran:?}");
    assert_eq!(two["succeeded"], true, "one that fails says nothing of the next: {ran:?}");
    let output = one["output"].as_str().unwrap();
    assert_eq!(output.lines().next(), Some("[ERROR] No module named x"), "{ran:?}");
    let problem = "the success command `make one` does not pass: dependencies are not installed";
    assert!(ran.json()["laptop"][0].as_str().unwrap().starts_with(problem), "{ran:?}");
    let text = doctor(&stage, &["--check"]);
    let shown = "\n    [ERROR] No module named x\n";
    for part in [problem, shown, "\ncheck: `make one` does not pass", "\ncheck: `make two` passes"]
    {
        assert!(text.out.contains(part), "{part}: {text:?}");
    }
    assert_eq!(stage.names("checkout").iter().filter(|name| *name == "left").count(), 0);
    stage.write("checkout/Makefile", "one:\n\ttrue\ntwo:\n\ttrue\n");
    stage.commit("it is repaired");
    assert_eq!(doctor(&stage, &["--check"]).code, Some(0));
}

/// A Rust project with a lock file and tests of its own.
fn rust_project() -> Stage {
    Stage::with(&[
        ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n"),
        ("src/lib.rs", "pub fn one() -> u8 { 1 }\n"),
        ("CHANGELOG.md", "# Changes\n"),
    ])
}

#[test]
fn jobs_come_with_trigger_rules_and_workflow_and_later_inits_keep_them() {
    let stage = rust_project();
    let jobs =
        ["--job", "dependency-updates", "--job", "release-notes", "--job", "security-alerts"];
    let ran = init(&stage, &[&["--no-check"], jobs.as_slice()].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("wrote .locum/jobs/dependency-updates.yml\n"), "{ran:?}");
    assert!(ran.err.contains("`locum job run dependency-updates --dry-run`"), "{ran:?}");
    let names = ["dependency-updates.yml", "release-notes.yml", "security-alerts.yml"];
    assert_eq!(stage.names("checkout/.locum/jobs"), names);
    let workflow = stage.read("checkout/.github/workflows/locum.yml");
    for part in ["  schedule:\n", "  release:\n", "security-events: read", "fetch-depth: 0"] {
        assert!(workflow.contains(part), "{part}: {workflow}");
    }
    stage.commit("as init wrote it");
    for arguments in [
        &["policy", "check", "--deny-warnings"][..],
        &["policy", "test"],
        &["job", "list"],
        &["job", "run", "dependency-updates", "--dry-run"],
    ] {
        let ran = stage.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    }
    let due = stage.run(&["job", "due", "--at", "2026-11-23T04:20:00Z", "--within-minutes", "60"]);
    assert!(due.out.contains("dependency-updates") && !due.out.contains("release-notes"));
    // No flag is needed again, and what is added keeps what was there.
    let again = stage.run(&["init", "--no-check"]);
    assert_eq!((again.code, again.out.as_str()), (Some(0), ""), "{again:?}");
    let by_hand = stage.read("checkout/.locum/jobs/security-alerts.yml").replace("0 5 *", "0 6 *");
    stage.write("checkout/.locum/jobs/security-alerts.yml", &by_hand);
    stage.write("checkout/lib/b.rs", "pub fn two() -> u8 { 2 }\n");
    let updated = init(&stage, &["--no-check", "--update"]);
    assert_eq!(updated.out, "updated .locum/policy.yml\n", "{updated:?}");
    assert_eq!(stage.read("checkout/.locum/jobs/security-alerts.yml"), by_hand);
    assert!(stage.read("checkout/.locum/policy.yml").contains("jobs: [dependency-updates]"));
}

#[test]
fn a_job_that_is_not_known_or_does_not_fit_is_said_with_those_that_do() {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    let near = init(&stage, &["--no-check", "--job", "dependency-update"]);
    assert_eq!(near.code, Some(2), "{near:?}");
    for part in ["dependency-updates, release-notes, security-alerts", "tip: "] {
        assert!(near.err.contains(part), "{part}: {near:?}");
    }
    let unfit = init(&stage, &["--no-check", "--job", "dependency-updates"]);
    assert!(unfit.code == Some(2) && unfit.err.contains("knows no lock file"), "{unfit:?}");
    assert_eq!(stage.names("checkout/.locum"), [""; 0], "nothing is written");
    let plain = init(&stage, &["--no-check"]);
    assert_eq!(
        (plain.code, stage.names("checkout/.locum")),
        (Some(0), vec!["policy.yml".to_owned()])
    );
    let alerts = init(&stage, &["--force", "--no-check", "--job", "security-alerts"]);
    assert!(!alerts.err.contains("locum job run"), "the Action alone reads alerts: {alerts:?}");
    stage.git(&["clean", "-q", "-d", "-f"]);
    init(&stage, &["--no-check"]);
    // A job may be added to what an earlier one wrote.
    stage.commit("as init wrote it");
    let added = init(&stage, &["--no-check", "--update", "--job", "release-notes"]);
    let expected = "wrote .locum/jobs/release-notes.yml\nupdated .locum/policy.yml\nupdated \
                    .github/workflows/locum.yml\n";
    assert_eq!((added.code, added.out.as_str()), (Some(0), expected), "{added:?}");
}

#[test]
fn what_was_done_and_found_is_one_object_for_programs() {
    let stage = project("exit 3");
    let ran = init(&stage, &["--json", "--check", "--provider", "gemini", "--label", "robot"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let object = ran.json();
    let files = serde_json::json!([
        { "path": ".locum/policy.yml", "state": "written" },
        { "path": ".github/workflows/locum.yml", "state": "written" },
    ]);
    assert_eq!(object["files"], files);
    let choices = serde_json::json!({
        "secret": "GEMINI_API_KEY", "variables": [], "model": "gemini:gemini-3.8-flash",
        "action": ACTION,
        "start": "maintainer", "label": "robot", "edits": ["src/**"], "jobs": [],
    });
    assert_eq!(object["choices"], choices);
    let check = &object["check"];
    assert_eq!(check["passes"], false);
    assert_eq!(check["commands"][0]["command"], "make test");
    assert_eq!(check["commands"][0]["exit_code"], 2, "{check}");
    assert!(check["commands"][0]["hint"].is_string() && check["problem"].is_null(), "{check}");
    assert!(object["next_steps"].as_array().unwrap().len() > 4, "{object}");
    // A later one says what is the same, and what would change.
    stage.write("checkout/lib/b.sh", "true\n");
    let later = init(&stage, &["--json", "--no-check"]).json();
    let states = [&later["files"][0]["state"], &later["files"][1]["state"]];
    assert_eq!(states, ["outdated", "same"]);
    assert!(later["files"][0]["patch"].as_str().unwrap().contains("+      - \"edit(lib/**)\""));
    let updated = init(&stage, &["--json", "--no-check", "--update"]).json();
    assert_eq!(updated["files"][0]["state"], "updated");
    let other = project("true");
    let policy = other.run(&["policy", "init", "--json"]);
    let written = serde_json::json!([{ "path": ".locum/policy.yml", "state": "written" }]);
    assert_eq!((policy.code, &policy.json()["files"]), (Some(0), &written));
    let twice = other.run(&["policy", "init", "--json"]);
    assert_eq!(twice.code, Some(2));
    assert_eq!(twice.json()["error"]["mistakes"][0]["message"], "already exists");
}

#[test]
fn an_empty_repository_is_told_that_runs_may_edit_nothing_yet() {
    let begin = "Runs may edit nothing yet, as no source was found here: name what they may edit \
                 with `locum init --update --edit";
    let empty = Stage::with(&[(".gitignore", "x\n")]);
    let ran = init(&empty, &["--no-check"]);
    assert!(ran.err.contains(begin), "{ran:?}");
    let named = init(&empty, &["--no-check", "--update", "--edit", "src/**"]);
    assert_eq!(named.out, "updated .locum/policy.yml\n", "{named:?}");
    assert!(empty.read("checkout/.locum/policy.yml").contains("\"edit(src/**)\""));
    let text = init(&Stage::with(&[("README.md", "# It\n")]), &["--no-check"]);
    assert!(text.err.contains("Runs may edit no source yet"), "{text:?}");
    let source = init(&Stage::with(&[("src/a.sh", "true\n")]), &["--no-check"]);
    assert!(!source.err.contains("Runs may edit"), "{source:?}");
}

#[test]
fn a_workflow_of_somebody_else_is_never_said_to_be_as_init_writes_it() {
    let (path, foreign) = (".github/workflows/locum.yml", "on: push\njobs: {}\n");
    let stage = Stage::with(&[("src/a.sh", "true\n"), (path, foreign)]);
    let ran = init(&stage, &["--no-check"]);
    assert!(ran.out.starts_with("wrote .locum/policy.yml\n"), "{ran:?}");
    assert!(ran.err.contains("Nothing else is written.\n"), "{ran:?}");
    for part in ["does not use the Action, so nothing starts", "Commit `.locum/policy.yml` to the"]
    {
        assert!(ran.err.contains(part), "{part}: {ran:?}");
    }
    for part in ["Nothing is written", "The workflow asks", "both files", "and write `/locum`"] {
        assert!(!ran.err.contains(part), "{part}: {ran:?}");
    }
    // One that took the place of what init wrote.
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    init(&stage, &["--no-check"]);
    stage.commit("as init wrote it");
    stage.write(&format!("checkout/{path}"), foreign);
    let ran = init(&stage, &["--no-check"]);
    let told = "`.github/workflows/locum.yml` was changed by hand, and nothing new would come";
    assert!(ran.err.contains(told) && ran.err.contains("Nothing to change.\n"), "{ran:?}");
    assert!(!ran.err.contains("as `locum init` would write"), "{ran:?}");
    let files = init(&stage, &["--no-check", "--json"]).json()["files"].clone();
    assert_eq!((&files[0]["state"], &files[1]["state"]), (&"same".into(), &"kept".into()));
}

#[test]
fn the_action_may_have_any_name_and_is_known_again() {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    let (_, commit) = ACTION.split_once('@').unwrap();
    let action = format!("acme/agent@{commit}");
    let ran = stage.run(&["init", "--no-check", "--label", "x", "--action", &action]);
    assert!(ran.err.contains("The workflow asks") && !ran.err.contains("does not use"), "{ran:?}");
    stage.commit("as init wrote it");
    let told = stage.run(&["doctor", "--json"]).json().to_string();
    assert!(!told.contains("no workflow that uses Locum"), "{told}");
    // What is written anew uses what was used before.
    let ran = stage.run(&["init", "--no-check", "--force", "--label", "y"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(stage.read("checkout/.github/workflows/locum.yml").contains(&action));
}

#[test]
fn a_workflow_that_is_not_yaml_is_said_to_be_passed_over() {
    let stage = Stage::with(&[("go.mod", ""), (".github/workflows/ci.yml", "jobs: [\n")]);
    let told = "note: `.github/workflows/ci.yml` is passed over: it is not YAML, line 1:";
    let ran = init(&stage, &["--no-check"]);
    assert!(ran.err.contains(told) && ran.err.contains("hint: mend it, then run"), "{ran:?}");
    let json = init(&stage, &["--no-check", "--json"]).json();
    assert_eq!(json["notes"].as_array().unwrap().len(), 1, "{json}");
    let policy = stage.run(&["policy", "init", "--force"]);
    assert!(policy.err.contains(told), "{policy:?}");
}

#[test]
fn packages_of_a_monorepo_are_tried_and_what_is_left_is_a_next_step() {
    let makefile = "test:\n\ttest -f a.sh\n";
    let stage = Stage::with(&[
        ("one/Makefile", makefile),
        ("one/a.sh", ""),
        ("two/Makefile", makefile),
        ("two/a.sh", ""),
        ("web/package.json", "{}"),
    ]);
    let ran = init(&stage, &[]);
    for folder in ["one", "two"] {
        let passes = format!("check: `cd {folder} && make test` passes in the sandbox\n");
        assert!(ran.out.contains(&passes), "{ran:?}");
    }
    assert!(ran.err.contains("No test was found in `web`"), "{ran:?}");
    assert!(!ran.err.contains("No test was found in `one`"), "{ran:?}");
    assert!(ran.err.contains("add `node_modules/` to `.gitignore`"), "{ran:?}");
    let checked = stage.run(&["policy", "check", "--deny-warnings"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    stage.write("checkout/.gitignore", "node_modules\n");
    let ran = init(&stage, &["--force", "--no-check"]);
    assert!(!ran.err.contains("to `.gitignore`"), "{ran:?}");
}

#[test]
fn tests_of_python_are_read_to_know_what_runs_them() {
    for (test, success) in [
        ("def test_a():\n    assert 1\n", "    - \"pytest\"\n"),
        ("import unittest\n", "    - \"python -m unittest discover -s tests\"\n"),
        ("x = 1\n", "Name yours"),
    ] {
        let project = [("pyproject.toml", "[project]\nname = \"a\"\n"), ("tests/test_a.py", test)];
        let ran = Stage::with(&project).run(&["policy", "init", "--stdout"]);
        assert!(ran.out.contains(success), "{success}: {ran:?}");
    }
}

#[test]
fn flags_that_contradict_each_other_and_empty_names_are_refused() {
    let stage = Stage::with(&[("src/a.sh", "true\n")]);
    let both = init(&stage, &["--check", "--no-check"]);
    assert!(both.code == Some(2) && both.err.contains("cannot be used with"), "{both:?}");
    for name in ["", " ", "anthropic:"] {
        let ran = init(&stage, &["--no-check", "--model", name]);
        assert!(ran.code == Some(2) && ran.err.contains("not the name of a model"), "{ran:?}");
    }
    assert!(!stage.path("checkout/.locum").exists());
    let ran = init(&stage, &["--no-check", "--model", "gpt-4.1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let updated = init(&stage, &["--no-check", "--update"]);
    assert!(updated.code == Some(0) && updated.err.contains("Nothing to change."), "{updated:?}");
}
