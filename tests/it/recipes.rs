//! Each folder of `docs/recipes` does what its page says: the policy is clean, its event starts
//! what it should for whom it should, its job loads, and its script plays under the policy.

use crate::docs::root;
use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// An event of GitHub's, the flags that say what only the forge knows, and what is explained.
struct Case {
    recipe: &'static str,
    event: &'static str,
    payload: fn() -> Value,
    flags: &'static [&'static str],
    /// In the explanation; the exit code is 0.
    shown: &'static [&'static str],
    /// What nothing runs for.
    not_for: Other,
    /// In the workflow that `locum init` writes for it.
    listens: &'static [&'static str],
    /// The command that plays the script, its exit code, and the number of refused calls. There is
    /// no crate here, so that the check of one recipe fails.
    played: (&'static [&'static str], i32, usize),
}

enum Other {
    /// These flags in place of the first ones: the exit code, and why.
    Flags(&'static [&'static str], i32, &'static str),
    /// This event in place of the first one: why nothing is to do.
    Event(fn() -> Value, &'static str),
    /// A job, a time when it is due and one when it is not.
    Times { job: &'static str, due: &'static str, not_due: &'static str },
}

const CASES: &[Case] = &[
    Case {
        recipe: "dependency-updates",
        event: "schedule",
        payload: schedule,
        flags: &[],
        shown: &["so     would run", "tier   schedule"],
        not_for: Other::Times {
            job: "dependency-updates",
            due: "2026-11-23T04:20:00Z",
            not_due: "2026-11-24T04:20:00Z",
        },
        listens: &["  schedule:\n", "types: [opened, edited]"],
        played: (&["run", "--mode", "code", "Do it."], 7, 1),
    },
    Case {
        recipe: "flaky-tests",
        event: "issues",
        payload: || labeled("flaky"),
        flags: &["--tier", "collaborator"],
        shown: &["so     would run", "mode   debug"],
        not_for: Other::Flags(&["--tier", "stranger"], 4, "triggers.label.tiers"),
        listens: &["types: [opened, labeled]"],
        played: (&["run", "--mode", "debug", "Do it."], 0, 1),
    },
    Case {
        recipe: "triage",
        event: "issues",
        payload: || labeled("needs-triage"),
        flags: &["--tier", "stranger"],
        shown: &["so     would run", "mode   ask"],
        not_for: Other::Event(|| labeled("bug"), "the label is another one"),
        listens: &["types: [opened, labeled]"],
        played: (&["run", "--mode", "ask", "Do it."], 0, 0),
    },
    Case {
        recipe: "docs",
        event: "push",
        payload: || pushed("refs/heads/main"),
        flags: &["--tier", "maintainer", "--changed", "src/lib.rs"],
        shown: &["so     would run", "mode   docs"],
        not_for: Other::Flags(
            &["--tier", "maintainer", "--changed", "Cargo.toml"],
            0,
            "nothing was changed",
        ),
        listens: &["  push:\n    branches: [\"main\"]"],
        played: (&["run", "--mode", "docs", "Do it."], 0, 2),
    },
    Case {
        recipe: "review",
        event: "pull_request",
        payload: || vector("pull_request.opened"),
        flags: &["--tier", "contributor", "--now", "2019-05-15T16:00:00Z"],
        shown: &["so     would run", "mode   review"],
        not_for: Other::Flags(
            &["--tier", "stranger", "--now", "2019-05-15T16:00:00Z"],
            4,
            "triggers.pull_request.tiers",
        ),
        listens: &["types: [opened, ready_for_review, synchronize]", "checks: write"],
        played: (&["run", "--mode", "review", "Do it."], 0, 0),
    },
    Case {
        recipe: "ci-repair",
        event: "workflow_run",
        payload: failed_run,
        flags: &["--own-pull-request"],
        shown: &["so     would run", "mode   debug"],
        not_for: Other::Flags(&[], 0, "is not Locum's own"),
        listens: &["workflows: [\"CI\"]", "actions: write"],
        played: (&["run", "--mode", "debug", "Do it."], 0, 1),
    },
    Case {
        recipe: "release-notes",
        event: "release",
        payload: || vector("release.published"),
        flags: &["--tier", "maintainer"],
        shown: &["so     would run", "release-notes"],
        not_for: Other::Flags(&["--tier", "collaborator"], 4, "tiers"),
        listens: &["  release:\n    types: [published]"],
        played: (&["job", "run", "release-notes"], 0, 0),
    },
    Case {
        recipe: "backports",
        event: "push",
        payload: || pushed("refs/heads/release/1.x"),
        flags: &["--tier", "maintainer", "--changed", "BACKPORTS"],
        shown: &["so     would run", "mode   code"],
        not_for: Other::Flags(
            &["--tier", "maintainer", "--changed", "src/lib.rs"],
            0,
            "nothing was changed",
        ),
        listens: &["  push:\n    branches: [\"release/**\"]"],
        played: (&["run", "--mode", "code", "Do it."], 0, 1),
    },
    Case {
        recipe: "security-alerts",
        event: "schedule",
        payload: schedule,
        flags: &[],
        shown: &["so     would run", "tier   schedule"],
        not_for: Other::Times {
            job: "security-alerts",
            due: "2026-11-24T05:20:00Z",
            not_due: "2026-11-24T07:20:00Z",
        },
        listens: &["  schedule:\n"],
        played: (&["run", "--mode", "code", "Do it."], 0, 1),
    },
    Case {
        recipe: "migrations",
        event: "schedule",
        payload: schedule,
        flags: &[],
        shown: &["so     would run", "tier   schedule"],
        not_for: Other::Times {
            job: "migration",
            due: "2026-11-24T02:20:00Z",
            not_due: "2026-11-28T02:20:00Z",
        },
        listens: &["  schedule:\n"],
        played: (&["job", "run", "migration"], 0, 1),
    },
];

fn repository() -> Value {
    json!({ "full_name": "acme/app", "default_branch": "main", "private": false })
}

fn alice() -> Value {
    json!({ "login": "alice", "type": "User" })
}

fn schedule() -> Value {
    json!({ "schedule": "17 * * * *", "repository": repository(), "sender": alice() })
}

fn labeled(label: &str) -> Value {
    json!({
        "action": "labeled",
        "label": { "name": label },
        "issue": { "number": 7, "title": "A test fails", "body": "Now and then.", "state": "open", "locked": false, "user": { "login": "carol" } },
        "repository": repository(),
        "sender": alice(),
    })
}

/// An example of GitHub's.
fn vector(name: &str) -> Value {
    let file = root().join(format!("tests/vectors/events/{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn pushed(branch: &str) -> Value {
    let mut event = vector("push.new-branch");
    event["ref"] = json!(branch);
    event["repository"]["default_branch"] = json!("main");
    event
}

fn failed_run() -> Value {
    let mut event = vector("workflow_run.completed");
    event["workflow_run"]["conclusion"] = json!("failure");
    event["workflow_run"]["name"] = json!("CI");
    event["workflow"]["name"] = json!("CI");
    event["workflow_run"]["pull_requests"] = json!([{ "number": 8 }]);
    event
}

/// A repository with the files of a recipe where its page puts them.
fn stage(recipe: &str) -> Stage {
    let folder = root().join("docs/recipes").join(recipe);
    let walk = ignore::WalkBuilder::new(&folder).build().map(|entry| entry.unwrap().into_path());
    let mut files: Vec<(String, String)> = walk
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            (format!(".locum/{name}"), std::fs::read_to_string(path).unwrap())
        })
        .filter(|(name, _)| !name.ends_with("/README.md") && !name.ends_with("/try.yml"))
        .collect();
    assert!(!files.is_empty(), "{recipe}: no files");
    // Those that `locum init --job` writes are part of the program.
    let name = format!("jobs/{recipe}.yml");
    if let Ok(job) = std::fs::read_to_string(root().join("config").join(&name)) {
        files.push((format!(".locum/{name}"), job));
    }
    for (name, text) in [
        ("src/lib.rs", "pub fn parse(text: &str) -> usize { text.len() }\n"),
        ("ci/test.sh", "exit 0\n"),
        ("BACKPORTS", "1a2b3c4d fix: empty input is an error\n"),
    ] {
        files.push((name.to_owned(), text.to_owned()));
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Stage::with(&files)
}

fn explain(stage: &Stage, case: &Case, payload: &Value, flags: &[&str]) -> Ran {
    stage.write("event.json", &payload.to_string());
    let file = stage.path("event.json");
    let file = file.to_str().unwrap();
    let given = ["trigger", "explain", "--event-name", case.event, "--event", file];
    stage.run(&[given.as_slice(), flags].concat())
}

#[test]
fn every_folder_of_recipes_is_tested_here() {
    let entries = std::fs::read_dir(root().join("docs/recipes")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut found: Vec<String> =
        folders.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    found.sort();
    let mut tested: Vec<&str> = CASES.iter().map(|case| case.recipe).collect();
    tested.sort_unstable();
    assert_eq!(found, tested);
}

#[test]
fn the_policy_jobs_and_modes_of_a_recipe_are_clean() {
    for case in CASES {
        let stage = stage(case.recipe);
        for arguments in [
            &["policy", "check", "--deny-warnings"][..],
            &["policy", "test"],
            &["modes", "validate"],
            &["job", "list"],
        ] {
            let ran = stage.run(arguments);
            assert_eq!(ran.code, Some(0), "{} {arguments:?}: {ran:?}", case.recipe);
        }
    }
}

#[test]
fn init_writes_the_workflow_of_a_recipe_and_keeps_its_policy() {
    for case in CASES {
        let stage = stage(case.recipe);
        let policy = stage.read("checkout/.locum/policy.yml");
        let action = "acme/locum@0123456789012345678901234567890123456789";
        let ran = stage.run(&["init", "--yes", "--no-check", "--action", action]);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", case.recipe);
        assert_eq!(stage.read("checkout/.locum/policy.yml"), policy, "{}", case.recipe);
        let workflow = stage.read("checkout/.github/workflows/locum.yml");
        for listens in case.listens {
            assert!(workflow.contains(listens), "{}: {listens} in {workflow}", case.recipe);
        }
    }
}

#[test]
fn the_event_of_a_recipe_starts_it_for_whom_it_should_and_for_no_other() {
    for case in CASES {
        let stage = stage(case.recipe);
        let ran = explain(&stage, case, &(case.payload)(), case.flags);
        assert_eq!(ran.code, Some(0), "{}: {ran:?}", case.recipe);
        for shown in case.shown {
            assert!(ran.out.contains(shown), "{}: {shown} in {}", case.recipe, ran.out);
        }
        match case.not_for {
            Other::Flags(flags, code, why) => {
                let ran = explain(&stage, case, &(case.payload)(), flags);
                assert_eq!(ran.code, Some(code), "{}: {ran:?}", case.recipe);
                let ran_anyway = ran.out.contains("so     would run");
                assert!(
                    ran.out.contains(why) && !ran_anyway,
                    "{}: {why} in {}",
                    case.recipe,
                    ran.out
                );
            }
            Other::Event(payload, why) => {
                let ran = explain(&stage, case, &payload(), case.flags);
                assert!(ran.out.starts_with("nothing to do: "), "{}: {ran:?}", case.recipe);
                assert!(ran.out.contains(why), "{}: {why} in {}", case.recipe, ran.out);
            }
            Other::Times { job, due, not_due } => {
                for (at, is_due) in [(due, true), (not_due, false)] {
                    let ran = stage.run(&["job", "due", "--at", at, "--within-minutes", "60"]);
                    assert_eq!(ran.out.contains(job), is_due, "{}: {ran:?}", case.recipe);
                }
            }
        }
    }
}

#[test]
fn the_script_of_a_recipe_plays_under_its_policy() {
    for case in CASES {
        let stage = stage(case.recipe);
        let script =
            std::fs::read_to_string(root().join("docs/recipes").join(case.recipe).join("try.yml"));
        stage.write("try.yml", &script.unwrap());
        let (command, code, refused) = case.played;
        let (words, task): (Vec<&str>, Vec<&str>) =
            command.iter().copied().partition(|word| *word != "Do it.");
        let task: String = task.iter().map(|task| format!(" \"{task}\"")).collect();
        let shown = format!("`locum {} --script try.yml{task}`", words.join(" "));
        let page = root().join("docs/recipes").join(case.recipe).join("README.md");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(&shown), "{}: {shown}", case.recipe);
        let options = ["--script", "../try.yml", "--output-format", "json"];
        let ran = stage.run(&[command, options.as_slice()].concat());
        let refusals = ran.json()["refusals"].as_array().map_or(0, Vec::len);
        assert_eq!((ran.code, refusals), (Some(code), refused), "{}: {ran:?}", case.recipe);
    }
}
