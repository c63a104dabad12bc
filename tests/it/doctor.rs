//! `locum doctor`: it says "ready" only where a run can start.

use std::os::unix::fs::chown;

use crate::support::stage::{ACTION, Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// What a model needs, so that nothing else is missing.
const KEYS: [(&str, &str); 2] = [("LOCUM_MODEL", "gpt-4.1"), ("OPENAI_API_KEY", "k")];

pub(crate) fn ran(stage: &Stage, words: &[&str]) -> Ran {
    stage.locum(words).envs(KEYS).output().unwrap().into()
}

/// The problems of one place, each as text.
pub(crate) fn problems(stage: &Stage, place: &str) -> Vec<String> {
    let report = ran(stage, &["doctor", "--json"]).json();
    let listed = report[place].as_array().unwrap();
    listed.iter().map(|problem| problem.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_laptop_is_ready_only_where_a_run_can_start() {
    for (config, expected) in [
        ("mode: code\n", ""),
        ("mode: coder\n", "there is no mode `coder`; did you mean `code`?"),
        ("policy: nope.yml\n", "config.yml:1: `policy` names `nope.yml`: no such file"),
        ("policy: /etc/p.yml\n", "path `/etc/p.yml` is absolute"),
        ("context_files: [NOPE.md]\n", "NOPE.md: no such file in commit"),
        ("mcp: { s: { args: [a] } }\n", "it has neither `command` nor `url`"),
    ] {
        let stage = Stage::with(&[(".locum/config.yml", config)]);
        let run = ran(&stage, &["run", "hi", "--dry-run"]);
        let found = problems(&stage, "laptop");
        if expected.is_empty() {
            assert_eq!((run.code, found), (Some(0), Vec::new()));
            continue;
        }
        assert_eq!(run.code, Some(2), "{config}: {run:?}");
        assert!(found.len() == 1 && found[0].contains(expected), "{config}: {found:?}");
    }
}

#[test]
fn every_mistake_of_a_commit_is_told_once() {
    let stage = Stage::with(&[(".locum/policy.yml", "version: 1\ncomands: {}\n")]);
    let found = problems(&stage, "laptop");
    assert!(found.len() == 1 && found[0].contains(":2:1: unknown key `comands`"), "{found:?}");
    let stage = Stage::with(&[(".locum/modes.yml", "customModes: 3\n")]);
    assert_eq!(problems(&stage, "laptop").len(), 1);
}

#[test]
fn a_folder_that_cannot_hold_sessions_is_a_problem() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    stage.write("file", "");
    let with = |variable: &str, folder: &str| -> Ran {
        let mut command = stage.locum(&["doctor", "--json"]);
        command.envs(KEYS).env(variable, stage.path(folder)).output().unwrap().into()
    };
    let good = with("LOCUM_STATE_DIR", "state/of/mine");
    assert_eq!((good.code, &good.json()["laptop"]), (Some(0), &Value::Array(Vec::new())));
    assert!(!stage.path("state/of").exists(), "nothing is written");
    let bad = with("LOCUM_STATE_DIR", "file/of/mine");
    let told = bad.json()["laptop"].to_string();
    assert!(bad.code == Some(2) && told.contains("cannot be made in"), "{bad:?}");
}

#[test]
fn without_a_home_everything_else_is_still_told() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let without = |words: &[&str]| -> Ran {
        let mut command = stage.locum(words);
        for variable in ["HOME", "LOCUM_STATE_DIR", "XDG_STATE_HOME"] {
            command.env_remove(variable);
        }
        command.envs(KEYS).output().unwrap().into()
    };
    let report = without(&["doctor", "--json"]);
    let found = report.json();
    assert_eq!((report.code, &found["sessions"]), (Some(2), &Value::Null), "{report:?}");
    assert!(found["laptop"].to_string().contains("no place for sessions"), "{report:?}");
    assert_eq!(found["policy"], "built-in policy");
    let explained = without(&["policy", "explain", "read(a)"]);
    assert_eq!((explained.code, explained.err.as_str()), (Some(0), ""), "{explained:?}");
}

#[test]
fn a_policy_that_cannot_be_read_is_not_the_built_in_one() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    stage.write("checkout/.locum/policy.yml/file", "");
    let found = ran(&stage, &["doctor", "--json"]).json();
    assert_eq!(
        (&found["policy"], &found["commands_run"]),
        (&"cannot be read".into(), &false.into())
    );
    assert!(found["commands"].as_str().unwrap().contains("not a regular file"), "{found}");
}

#[test]
fn a_checkout_of_another_user_or_without_files_is_called_that() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    stage.git(&["config", "core.bare", "true"]);
    for words in [&["init"][..], &["run", "hi"]] {
        let bare = ran(&stage, words);
        assert!(bare.code == Some(2) && bare.err.contains("clone it"), "{bare:?}");
    }
    for place in ["laptop", "action"] {
        let found = problems(&stage, place);
        assert!(found.len() == 1 && found[0].contains("is a bare repository"), "{found:?}");
    }
    stage.git(&["config", "core.bare", "false"]);
    // Only root can give a folder away.
    if chown(stage.path("checkout"), Some(65534), None).is_err() {
        return;
    }
    chown(stage.path("checkout/.git"), Some(65534), None).unwrap();
    let init = ran(&stage, &["init"]);
    assert!(init.code == Some(2) && init.err.contains("safe.directory"), "{init:?}");
    assert!(!init.err.contains("git init"), "{init:?}");
    for place in ["laptop", "action"] {
        let found = problems(&stage, place);
        assert!(found.len() == 1 && found[0].contains("safe.directory"), "{found:?}");
    }
}

pub(crate) const WORKFLOW: &str = "checkout/.github/workflows/locum.yml";
pub(crate) const POLICY: &str = "checkout/.locum/policy.yml";

/// A repository that `locum init` has set up, with what it wrote in its last commit.
pub(crate) fn set_up() -> Stage {
    let stage = Stage::with(&[("README.md", "# It\n"), ("src/a.txt", "a\n")]);
    let init = stage.run(&[
        "init",
        "--no-check",
        "--action",
        ACTION,
        "--provider",
        "openai",
        "--label",
        "locum",
    ]);
    assert_eq!(init.code, Some(0), "{init:?}");
    stage.commit("what init wrote");
    stage
}

#[test]
fn the_action_is_ready_only_where_its_workflow_can_start_a_run() {
    let stage = set_up();
    let (workflow, policy) = (stage.read(WORKFLOW), stage.read(POLICY));
    let action = || problems(&stage, "action");
    assert_eq!(action(), Vec::<String>::new());
    let step = format!("- uses: {ACTION}");
    for (from, to, expected) in [
        ("jobs:\n", "jobs: [\n", "not YAML that GitHub can read"),
        (
            step.as_str(),
            "# - uses: none/locum@1\n      - run: 'true'",
            "no workflow that uses Locum",
        ),
        ("actions/checkout@", "actions/cache@", "add `actions/checkout` to job `locum`"),
        ("contents: write", "contents: read", "lack `contents: write`, which `publish.allow`"),
        ("      pull-requests: write", "      #", "lack `pull-requests: write`"),
        ("      issues: write", "      #", "lack `issues: write`"),
        (
            "          api-key: ",
            "          # ",
            "no key for the model: add the input `api-key: ${{ secrets.OPENAI",
        ),
        ("${{ secrets.OPENAI_API_KEY }}", "sk-live", "the key stands in the file"),
        (
            "${{ secrets.OPENAI_API_KEY }}",
            "${{ secrets.ANTHROPIC_API_KEY }}",
            "is a key of anthropic, and the model `openai-responses:",
        ),
        (
            "          api-key: ",
            "          apikey: ",
            "`apikey` is no input of the Action; did you mean `api-key`?",
        ),
        (
            "          api-key: ",
            "          mode: coder\n          api-key: ",
            "there is no mode `coder`; did you mean `code`?",
        ),
        (
            "          api-key: ",
            "          job: nightly\n          api-key: ",
            "there is no job `nightly`",
        ),
        (
            "runs-on: ubuntu-24.04",
            "runs-on: windows-latest",
            "runs on `windows-latest`, and the Action runs on Linux",
        ),
        ("runs-on: ubuntu-24.04", "runs-on: [self-hosted, macOS]", "runs on `macOS`"),
        (
            "body, '/locum'",
            "body, '/bot'",
            "asks for the prefix `/bot`, and the policy's is `/locum`",
        ),
        ("label.name == 'locum'", "label.name == 'bot'", "asks for the label `bot`"),
    ] {
        let changed = workflow.replace(from, to);
        assert_ne!(changed, workflow, "{from}");
        stage.write(WORKFLOW, &changed);
        stage.commit("a change");
        let found = action();
        assert!(found.iter().any(|problem| problem.contains(expected)), "{expected}: {found:?}");
        let placed = found.iter().filter(|problem| problem.contains("/locum.yml:")).count();
        assert!(expected.starts_with("no workflow") || placed > 0, "{found:?}");
    }
    stage.write(WORKFLOW, &workflow);
    stage.write(POLICY, &policy.replace("prefix: /locum", "prefix: /bot"));
    stage.commit("another prefix");
    assert!(action()[0].contains("asks for the prefix `/locum`, and the policy's is `/bot`"));
    let nightly = policy.replacen("triggers:", "triggers:\n  schedule: { jobs: [nightly] }", 1);
    assert_ne!(nightly, policy);
    stage.write(POLICY, &nightly);
    stage.commit("a job");
    let found = action().join("\n");
    assert!(found.contains("there is no `.locum/jobs/nightly.yml`"), "{found}");
}

#[test]
fn the_action_is_not_ready_where_an_ignore_file_or_a_policy_stops_every_run() {
    let stage = set_up();
    stage.write("checkout/.locumignore", "[z-a]\n");
    let workflow = stage.read(WORKFLOW);
    let step = format!("- uses: {ACTION}\n        with:\n");
    stage
        .write(WORKFLOW, &workflow.replace(&step, &format!("{step}          policy: other.yml\n")));
    stage.commit("two mistakes");
    let told = problems(&stage, "action").join("\n");
    assert!(told.contains(".locumignore:1"), "{told}");
    assert!(told.contains("`policy` names `other.yml`"), "{told}");
}

#[test]
fn what_a_workflow_leaves_to_expressions_and_to_others_is_no_problem() {
    let stage = set_up();
    let workflow = stage.read(WORKFLOW);
    for (from, to) in [
        ("runs-on: ubuntu-24.04", "runs-on: ${{ vars.RUNNER }}"),
        ("          api-key: ", "          base-url: ${{ vars.URL }}\n          # "),
        ("          api-key: ", "        env:\n          OPENAI_API_KEY: "),
        ("          api-key: ", "          API-Key: "),
        ("          api-key: ", "          mode: ${{ inputs.mode }}\n          api-key: "),
        ("body, '/locum'", "body, '/Locum'"),
        ("body, '/locum'", "body, '/locum fix'"),
        ("body, '/locum'", "body, vars.WORD"),
        ("permissions: {}", "permissions: write-all"),
        ("      contents: write", "      contents: write\n      checks: read"),
    ] {
        let changed = workflow.replace(from, to);
        assert_ne!(changed, workflow, "{from}");
        stage.write(WORKFLOW, &changed);
        stage.commit("a change");
        assert_eq!(problems(&stage, "action"), Vec::<String>::new(), "{to}");
    }
    // Two workflows share the events, and the second job needs neither key nor condition.
    let half = workflow.replace("  issues:\n", "  watch:\n").replace("'/locum'", "'/other'");
    let half = half.replace("'locum'", "'other'");
    stage.write("checkout/.github/workflows/locum.yml", &half);
    stage.write("checkout/.github/workflows/other.yml", &workflow);
    stage.write("checkout/.github/workflows/broken.yml", "jobs: [\n");
    stage.commit("two workflows");
    assert_eq!(problems(&stage, "action"), Vec::<String>::new());
    let two = Stage::with(&[("README.md", "# It\n"), ("src/a.txt", "a\n")]);
    let init = two.run(&["init", "--no-check", "--two-jobs", "--action", ACTION]);
    assert_eq!(init.code, Some(0), "{init:?}");
    two.commit("two jobs");
    assert_eq!(problems(&two, "action"), Vec::<String>::new());
}

#[test]
fn a_file_that_ends_with_yaml_is_not_passed_over() {
    let strict = "version: 1\nrules:\n  - allow: \"read(**)\"\n";
    let explain = &["policy", "explain", "--mode", "code", "edit(a)"][..];
    for (path, text, commands) in [
        ("policy", strict, &[explain, &["policy", "check"], &["run", "hi", "--dry-run"]][..]),
        ("config", "mode: code\n", &[explain, &["config", "show"], &["run", "hi", "--dry-run"]]),
        ("modes", "modes: []\n", &[&["modes", "list"], &["run", "hi", "--dry-run"]]),
        ("jobs/x", "version: 1\ntask: hi\n", &[&["job", "list"], &["policy", "check"]]),
        ("policy-tests", "cases: []\n", &[&["policy", "test"], &["policy", "check"]]),
    ] {
        let wrong = format!(".locum/{path}.yaml");
        let stage = Stage::with(&[(&wrong, text)]);
        for words in commands {
            let found = ran(&stage, words);
            let told = format!("error: {wrong}: nothing reads this file: its name has to be");
            assert!(found.code == Some(2) && found.err.contains(&told), "{words:?}: {found:?}");
            let cure = format!("`git mv {wrong} .locum/{path}.yml`");
            assert!(found.err.contains(&cure), "{words:?}: {found:?}");
        }
        stage.git(&["mv", &wrong, &format!(".locum/{path}.yml")]);
        stage.commit("the right name");
        for words in commands {
            let found = ran(&stage, words);
            assert!(!found.err.contains("nothing reads"), "{words:?}: {found:?}");
        }
    }
    let stage = Stage::with(&[("README.md", "# It\n")]);
    stage.write("checkout/.locum/policy.yaml", strict);
    let found = ran(&stage, &["run", "hi", "--dry-run"]);
    assert!(found.code == Some(2) && found.err.contains("nothing reads this file"), "{found:?}");
    assert!(problems(&stage, "laptop")[0].contains("policy.yaml: nothing reads this file"));
    let named = ran(&stage, &["run", "hi", "--dry-run", "--policy", ".locum/policy.yaml"]);
    assert_eq!(named.code, Some(0), "{named:?}");
    stage.commit("the wrong name");
    assert!(
        problems(&stage, "action").iter().any(|one| one.contains("`git mv .locum/policy.yaml"))
    );
}

#[test]
fn broken_settings_are_a_problem_beside_everything_else() {
    let told = ".locum/config.yml:1:1: unknown key `mod`";
    let stage = Stage::with(&[(".locum/config.yml", "mod: code\n")]);
    let table = ran(&stage, &["doctor"]);
    assert_eq!(table.code, Some(2), "{table:?}");
    for part in ["PART ", "\ngit ", "\nsettings ", "\nlaptop ", "\nAction "] {
        assert!(table.out.contains(part), "{part}: {table:?}");
    }
    assert!(table.out.contains(told) && table.err.is_empty(), "{table:?}");
    for place in ["settings_problems", "laptop", "action"] {
        let found = problems(&stage, place);
        assert_eq!(found.iter().filter(|one| one.contains(told)).count(), 1, "{place}: {found:?}");
    }
    assert_eq!(ran(&stage, &["doctor", "--check", "--json"]).code, Some(2));
    // Mistakes that are not committed yet are told, too.
    let stage = Stage::with(&[(".locum/config.yml", "mode: code\n")]);
    assert_eq!(ran(&stage, &["doctor", "--json"]).json().get("settings_problems"), None);
    assert_eq!(problems(&stage, "laptop"), Vec::<String>::new());
    stage.write("checkout/.locum/config.yml", "mod: code\n");
    assert!(problems(&stage, "laptop")[0].contains(told));
    // The user's own.
    let mut command = stage.locum(&["doctor", "--json"]);
    let own: Ran = command.envs(KEYS).env("LOCUM_MODE_FILES", "odd").output().unwrap().into();
    for place in ["settings_problems", "laptop"] {
        let found = own.json()[place].to_string();
        assert!(found.contains("cannot be `odd`") && found.contains(told), "{place}: {own:?}");
    }
}

#[test]
fn a_mode_that_an_event_of_the_policy_starts_is_told_with_its_line() {
    let stage = set_up();
    let policy = stage.read("checkout/.locum/policy.yml");
    let begin = policy.lines().position(|line| line.starts_with("triggers:")).unwrap();
    let with = |mode: &str| {
        let mut lines: Vec<&str> = policy.lines().collect();
        let entry = format!("  push: {{ task: Look, tiers: [maintainer], mode: {mode} }}");
        lines.insert(begin + 1, &entry);
        stage.write("checkout/.locum/policy.yml", &lines.join("\n"));
        stage.commit("another event");
        problems(&stage, "action")
    };
    let (found, line) = (with("coder"), begin + 2);
    let told = format!(".locum/policy.yml:{line}:50: `triggers.push` names mode `coder`, which");
    assert!(found.iter().any(|one| one.starts_with(&told)), "{found:?}");
    assert!(with("code").iter().all(|one| !one.contains("names mode")));
}

#[test]
fn notes_name_what_a_run_would_lack_and_cost_no_exit_code() {
    let policy = |success: &str| {
        format!(
            "version: 1\nrules:\n  - allow: [\"read(**)\", \"command(no-such-a:*)\", \
             \"command(no-such-b:*)\", \"command(./node_modules/.bin/vitest:*)\", \
             \"command(npm test)\"]\npublish:\n  allow: [comment, pull-request]\n  success: {success}\n"
        )
    };
    let stage = set_up();
    stage.write("checkout/web/package.json", "{\"scripts\": {\"test\": \"true\"}}\n");
    stage.write(POLICY, &policy("[]"));
    stage.commit("a package");
    let found = problems(&stage, "notes");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("`locum init` proposes `cd web && npm test`"), "{found:?}");
    assert!(found[1].contains("add `node_modules/` to `.gitignore`"), "{found:?}");
    let shown = ran(&stage, &["doctor"]).out;
    let line = "no-such-a, no-such-b: the policy allows them; install what you use\n";
    assert!(shown.contains(line), "{shown}");
    let built = "./node_modules/.bin/vitest: a build or an install step makes them\n";
    assert!(shown.contains(built), "{shown}");
    // The workflow was written for a repository without tests, and `cd` is no program to install.
    stage.write(POLICY, &policy("[cd web && npm test]"));
    stage.write("checkout/.gitignore", "node_modules/\n");
    stage.commit("a success command");
    let found = problems(&stage, "notes");
    assert!(found.len() == 1 && found[0].contains("no step of `.github/"), "{found:?}");
    assert!(!ran(&stage, &["doctor"]).out.contains("`cd` is not installed"));
    let workflow = stage.read(WORKFLOW);
    let step = format!("- uses: {ACTION}");
    stage.write(WORKFLOW, &workflow.replace(&step, &format!("- run: npm ci\n      {step}")));
    stage.commit("a step");
    let report = ran(&stage, &["doctor", "--json"]);
    assert_eq!(report.json()["notes"], Value::Null, "{report:?}");
}

#[test]
fn below_the_root_paths_of_the_policy_are_those_of_the_checkout() {
    let policy = "version: 1\nrules:\n  - allow: [\"command(./tools/check:*)\", \
                  \"command(./tools/none:*)\"]\n";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        ("tools/check", "true\n"),
        ("web/a.txt", "a\n"),
    ]);
    for folder in ["checkout", "checkout/web"] {
        let mut doctor = stage.locum(&["doctor", "--json"]);
        let doctor = doctor.envs(KEYS).current_dir(stage.path(folder));
        let report = Ran::from(doctor.output().unwrap());
        let unbuilt = report.json()["unbuilt_programs"].to_string();
        assert_eq!(unbuilt, "[\"./tools/none\"]", "{folder}: {report:?}");
    }
}

/// A user who owns the stage, and the group of its files.
const USER: u32 = 1000;

/// Runs the binary as an ordinary user with a group of their own.
fn as_user(stage: &Stage, group: u32, words: &[&str]) -> Ran {
    let mut command = stage.plain("setpriv");
    command.arg(format!("--reuid={USER}")).arg(format!("--regid={group}"));
    command.arg("--clear-groups").arg(stage.path("bin/locum")).args(words);
    command.envs(KEYS).current_dir(stage.path("checkout")).output().unwrap().into()
}

#[test]
fn a_checkout_of_another_group_has_no_layer_and_commands_write_there_all_the_same() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only an administrator can be another user");
        return;
    }
    let policy = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                  [\"read(**)\", \"edit(src/**)\", \"command(touch:*)\"]\ncommands: { contained: \
                  allow }\n";
    let stage = Stage::with(&[(".locum/policy.yml", policy), ("src/a.txt", "a\n")]);
    let script = "version: 1\ntasks:\n  - turns:\n      - calls: [{ tool: execute_command, args: { \
                  command: touch src/new.txt } }]\n      - calls: [{ tool: attempt_completion, \
                  args: { result: r } }]\n";
    stage.write("script.yml", script);
    stage.write("bin/.keep", "");
    // Copied by another program: a child of another test would hold it open for writing.
    let copy = |from: &str| stage.plain("cp").arg(from).arg(stage.path("bin/locum")).status();
    assert!(copy(env!("CARGO_BIN_EXE_locum")).unwrap().success());
    let owner = format!("{USER}:{USER}");
    let given = stage.plain("chown").args(["-R", &owner]).arg(stage.path("")).status();
    assert!(given.unwrap().success());
    let script = stage.path("script.yml");
    let played = ["run", "Do it.", "--script", script.to_str().unwrap()];
    let own = as_user(&stage, USER, &["doctor", "--json"]).json();
    if own["sandbox"]["namespaces"] != true {
        eprintln!("skipped: this machine gives an ordinary user no namespaces");
        return;
    }
    assert!(own["weaker"].is_null(), "{own}");
    for (group, said) in [(USER, None), (USER + 1, Some("the checkout's group is 1000"))] {
        let weaker = as_user(&stage, group, &["doctor", "--json"]).json()["weaker"].to_string();
        let plan = as_user(&stage, group, &["run", "x", "--dry-run"]);
        for text in [&weaker, &plan.out] {
            assert_eq!(text.contains("the checkout's group"), said.is_some(), "{group}: {text}");
            assert!(said.is_none_or(|said| text.contains(said)), "{group}: {text}");
        }
        let ran = as_user(&stage, group, &played);
        let file = stage.path("checkout/src/new.txt");
        assert_eq!((ran.code, file.exists()), (Some(0), true), "{group}: {ran:?}");
        std::fs::remove_file(file).unwrap();
    }
}
