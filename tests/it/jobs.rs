//! Jobs, through the binary: fixed steps, a task, steps with a task for when one fails; listing
//! them and when they are due.

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::stage::{Ran, Stage};

const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(touch:*)", "command(cat:*)", "command(false)"]
  - deny: "command(rm:*)"
"#;

const MEND: &str = r#"
version: 1
tasks:
  - contains: mend it
    turns:
      - expect: { contains: ["Exit code: 1"] }
        calls: [{ tool: write_to_file, args: { path: src/mended.txt, content: "mended\n" } }]
      - calls: [{ tool: attempt_completion, args: { result: "Mended." } }]
"#;

fn stage() -> Stage {
    Stage::with(&[
        (".locum/policy.yml", POLICY),
        (
            ".locum/config.yml",
            "models: { profiles: { fixed: { provider: scripted, model: .locum/mend.yml } } }\n",
        ),
        (".locum/mend.yml", MEND),
        (
            ".locum/jobs/steps.yml",
            "version: 1\ndescription: leaves a stamp\nschedule: 30 3 * * *\nsteps:\n  - run: \
             touch src/a.txt\n  - run: touch src/b.txt\n",
        ),
        (
            ".locum/jobs/fails.yml",
            "version: 1\nsteps:\n  - run: touch src/a.txt\n  - run: 'false'\n  - run: touch \
             src/never.txt\n",
        ),
        (".locum/jobs/refused.yml", "version: 1\nsteps: [{ run: rm src/lib.txt }]\n"),
        (".locum/jobs/mended.yml", "version: 1\nsteps: [{ run: 'false' }]\ntask: mend it\n"),
        (
            ".locum/jobs/fine.yml",
            "version: 1\nsteps: [{ tool: read_file, args: { path: src/lib.txt } }]\ntask: never \
             asked\n",
        ),
        ("src/lib.txt", "text\n"),
    ])
}

fn run(stage: &Stage, name: &str) -> Ran {
    stage.run(&["job", "run", name, "--output-format", "json"])
}

#[test]
fn fixed_steps_run_without_a_model() {
    let stage = stage();
    let ran = run(&stage, "steps");
    assert_eq!((ran.code, ran.json()["outcome"].as_str()), (Some(0), Some("done")), "{ran:?}");
    assert_eq!(stage.names("checkout/src"), ["a.txt", "b.txt", "lib.txt"]);
    assert_eq!(ran.json()["commands"].as_array().unwrap().len(), 2);
    let (spent, title) = (&ran.json()["spent"], &ran.json()["tasks"][0]["title"]);
    assert_eq!((&spent["turns"], &spent["is_estimate"]), (&json!(0), &json!(false)), "{ran:?}");
    assert_eq!(title, "Job `steps`: 2 fixed steps.");
    let text = stage.run(&["job", "run", "steps"]).out;
    assert!(text.contains("Cost: $0.00, 0 s\n  No model was asked."), "{text}");
    assert!(!text.contains("stimated"), "{text}");
}

#[test]
fn the_end_of_a_failed_steps_output_stands_in_every_report() {
    let stage = stage();
    let lines: String = (1..=300).map(|line| format!("line {line} of the tests\n")).collect();
    let job = "version: 1\nsteps: [{ run: cat src/log.txt src/absent.txt }]\n";
    stage.write("checkout/src/log.txt", &lines);
    stage.write("checkout/.locum/jobs/log.yml", job);
    stage.commit("a log");
    for format in ["text", "json"] {
        let ran = stage.run(&["job", "run", "log", "--output-format", format]);
        let end = "cat: src/absent.txt: No such file or directory";
        assert!(ran.code == Some(3) && ran.out.contains(end), "{ran:?}");
        assert!(ran.out.contains("step 1 (`cat src/log.txt src/absent.txt`) failed: "), "{ran:?}");
    }
}

#[test]
fn a_step_that_fails_ends_the_job_and_says_which() {
    let stage = stage();
    let ran = run(&stage, "fails");
    assert_eq!((ran.code, ran.json()["outcome"].as_str()), (Some(3), Some("failed")), "{ran:?}");
    assert!(ran.json()["reason"].as_str().unwrap().contains("step 2 (`false`) failed"), "{ran:?}");
    assert_eq!(stage.names("checkout/src"), ["a.txt", "lib.txt"]);
}

#[test]
fn a_step_is_judged_like_any_call() {
    let stage = stage();
    let ran = run(&stage, "refused");
    assert_eq!(
        (ran.code, ran.json()["refusals"].as_array().unwrap().len()),
        (Some(3), 1),
        "{ran:?}"
    );
    assert_eq!(stage.names("checkout/src"), ["lib.txt"]);
}

#[test]
fn the_network_can_be_open_to_one_job_alone() {
    let policy = "version: 1\ncommands: { network: policy }\nnetwork: { allow: good.example, jobs: \
                  [open] }\nmodes: { default: code, allow: [code] }\nrules: [{ allow: [\"read(**)\", \
                  \"command(printenv:*)\"] }]\n";
    let steps = "version: 1\nsteps: [{ run: printenv HTTPS_PROXY }]\n";
    let stage = Stage::with(&[
        (".locum/policy.yml", policy),
        (".locum/jobs/open.yml", steps),
        (".locum/jobs/closed.yml", steps),
        (".locum/jobs/offline.yml", "version: 1\nsteps: [{ run: printenv CARGO_NET_OFFLINE }]\n"),
    ]);
    for (job, code, outcome) in
        [("open", 0, "nothing-to-do"), ("closed", 3, "failed"), ("offline", 0, "nothing-to-do")]
    {
        let ran = run(&stage, job);
        let found = (ran.code, ran.json()["outcome"].as_str().map(str::to_owned));
        assert_eq!(found, (Some(code), Some(outcome.to_owned())), "{job}: {ran:?}");
    }
}

#[test]
fn the_task_is_asked_only_when_a_step_fails() {
    let stage = stage();
    let mended = run(&stage, "mended");
    assert_eq!(
        (mended.code, mended.json()["summary"].as_str()),
        (Some(0), Some("Mended.")),
        "{mended:?}"
    );
    assert_eq!(stage.read("checkout/src/mended.txt"), "mended\n");
    let fine = run(&stage, "fine");
    assert_eq!(
        (fine.code, fine.json()["outcome"].as_str()),
        (Some(0), Some("nothing-to-do")),
        "{fine:?}"
    );
}

#[test]
fn an_unknown_job_and_a_job_with_mistakes_are_told() {
    let stage = stage();
    let unknown = run(&stage, "step");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("there is no job `step`") && unknown.err.contains("steps"),
        "{unknown:?}"
    );
    stage.write("checkout/.locum/jobs/broken.yml", "version: 1\nstep: []\n");
    stage.commit("broken");
    let broken = run(&stage, "steps");
    assert_eq!(broken.code, Some(2));
    assert!(broken.err.contains(".locum/jobs/broken.yml:2:1: unknown key `step`"), "{broken:?}");
}

#[test]
fn jobs_are_listed_and_due_at_their_moment_only() {
    let stage = stage();
    let list = stage.run(&["job", "list", "--json"]);
    assert_eq!((list.code, list.json().as_array().unwrap().len()), (Some(0), 5), "{list:?}");
    let due = |at: &str| {
        stage
            .run(&["job", "due", "--at", at, "--within-minutes", "30", "--json"])
            .json()
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(
        (due("2026-03-04T03:45:00Z"), due("2026-03-04T03:29:00Z"), due("2026-03-04T04:01:00Z")),
        (1, 0, 0)
    );
}

#[test]
fn steps_that_their_mode_cannot_take_are_refused_before_the_night() {
    let stage = stage();
    stage.write(
        "checkout/.locum/jobs/nightly.yml",
        "version: 1\nmode: ask\nsteps:\n  - run: touch src/a.txt\n",
    );
    stage.write(
        "checkout/.locum/policy.yml",
        &POLICY.replace("allow: [code]", "allow: [code, ask]"),
    );
    stage.commit("a job");
    let error = "error: .locum/jobs/nightly.yml: step 1 calls `execute_command`, which mode `ask` \
                 does not offer\nhint: name a mode of the job that does, as in `mode: code`\n";
    for words in [
        ["job", "list"].as_slice(),
        &["policy", "check"],
        &["job", "run", "nightly"],
        &["job", "run", "nightly", "--dry-run"],
    ] {
        let ran = stage.run(words);
        assert!(ran.code == Some(2) && ran.err.contains(error), "{words:?}: {ran:?}");
    }
    stage.write("checkout/.locum/jobs/nightly.yml", "version: 1\nsteps: [{ run: ls }]\n");
    stage.commit("its mode is code");
    for words in [["job", "list"], ["policy", "check"]] {
        assert_eq!(stage.run(&words).code, Some(0), "{words:?}");
    }
}

#[test]
fn a_plan_needs_no_model() {
    let stage = Stage::with(&[
        (".locum/policy.yml", POLICY),
        (".locum/jobs/task.yml", "version: 1\ntask: think\n"),
    ]);
    for words in [["run", "fix it", "--dry-run"].as_slice(), &["job", "run", "task", "--dry-run"]] {
        let ran = stage.run(words);
        assert!(
            ran.code == Some(0)
                && ran.out.contains("models    none")
                && ran.out.contains("no run can start yet: no model is configured; set"),
            "{ran:?}"
        );
    }
    assert_eq!(stage.run(&["run", "fix it"]).code, Some(2));
}

#[test]
fn a_pull_request_of_a_job_is_named_by_its_description() {
    let policy = format!("{POLICY}publish: {{ allow: [commit, pull-request, label] }}\n");
    let stage = Stage::with(&[
        (".locum/policy.yml", policy.as_str()),
        (
            ".locum/jobs/stamp.yml",
            "version: 1\ndescription: Leaves a stamp\nsteps: [{ run: touch src/b.txt }]\ntask: \
             never asked\n",
        ),
        (".locum/jobs/bare.yml", "version: 1\nsteps: [{ run: touch src/c.txt }]\n"),
        (
            ".locum/config.yml",
            "models: { profiles: { fixed: { provider: scripted, model: .locum/mend.yml } } }\n",
        ),
        (".locum/mend.yml", MEND),
        ("src/lib.txt", "text\n"),
    ]);
    for (name, title, branch) in [
        ("stamp", "Leaves a stamp", "locum/job-stamp-leaves-a-stamp"),
        ("bare", "Job bare", "locum/job-bare"),
    ] {
        let folder = format!("out-{name}");
        let ran = stage.run(&[
            "job",
            "run",
            name,
            "--publish",
            "local",
            "--publish-dir",
            &format!("../{folder}"),
        ]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let names = stage.names(&folder);
        let texts: Vec<String> =
            names.iter().map(|file| stage.read(&format!("{folder}/{file}"))).collect();
        let all = texts.join("\n");
        assert!(all.contains(title) && all.contains(branch), "{names:?}: {all}");
        assert!(!all.contains("fixed steps. When one fails"), "{all}");
    }
}

#[test]
fn a_job_whose_result_cannot_be_published_says_so_and_publishes_it_when_it_is_resumed() {
    let policy = format!("{POLICY}publish: {{ allow: [commit, pull-request] }}\n");
    let stage = Stage::with(&[
        (".locum/policy.yml", policy.as_str()),
        (".locum/jobs/stamp.yml", "version: 1\nsteps: [{ run: touch src/b.txt }]\n"),
        ("src/lib.txt", "text\n"),
    ]);
    stage.write("blocked", "");
    let out = ["--publish", "local", "--publish-dir", "../blocked/out"];
    let ran = stage.run(&[&["job", "run", "stamp", "--output-format", "json"], &out[..]].concat());
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &report["outcome"], &report["exit_code"]),
        (Some(8), &"not-published".into(), &8.into()),
        "{ran:?}"
    );
    let hindrance = &report["hindrance"];
    assert!(hindrance["why"].as_str().unwrap().contains("blocked/out"), "{report:#}");
    assert!(hindrance["pushed"]["name"].as_str().unwrap().starts_with("locum/job-stamp"));
    let patch = std::fs::read_to_string(hindrance["patch"].as_str().unwrap()).unwrap();
    assert!(patch.contains("src/b.txt"), "{patch}");
    let session = report["session"].as_str().unwrap();
    assert!(stage.run(&["session", "list"]).out.contains("not-published"));

    std::fs::remove_file(stage.path("blocked")).unwrap();
    let ran = stage.run(&["session", "resume", session]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("outcome: done") && ran.out.contains("published: "), "{ran:?}");
    assert!(!stage.run(&["session", "list"]).out.contains("not-published"));
}

#[test]
fn a_paused_job_is_shown_and_resumed_at_its_remote() {
    let stage = stage();
    let policy = stage.read("checkout/.locum/policy.yml");
    stage
        .write("checkout/.locum/policy.yml", &format!("{policy}publish: {{ allow: [comment] }}\n"));
    stage.commit("comments");
    let list = |stage: &Stage| stage.run(&["job", "list"]);
    assert!(!list(&stage).out.contains("STATE"), "there is no remote");
    let none = stage.run(&["job", "resume", "steps"]);
    assert!(none.code == Some(2) && none.err.contains("there is no remote `origin`"), "{none:?}");

    let remote = stage.path("remote.git");
    stage.git(&["clone", "-q", "--bare", ".", remote.to_str().unwrap()]);
    stage.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    assert!(list(&stage).out.contains("STATE"), "{:?}", list(&stage));
    let kept = r#"{"version":1,"jobs":{"steps":{"limits_in_a_row":2,"paused_since":"2026-01-02T03:04:00Z"}}}"#;
    stage.write("jobs.json", kept);
    let blob = stage.git_in("remote.git", &["hash-object", "-w", "../jobs.json"]);
    let info = format!("100644,{},jobs.json", blob.trim());
    stage.git_in("remote.git", &["update-index", "--add", "--cacheinfo", &info]);
    let tree = stage.git_in("remote.git", &["write-tree"]);
    let commit = stage.git_in("remote.git", &["commit-tree", tree.trim(), "-m", "jobs"]);
    stage.git_in("remote.git", &["update-ref", "refs/locum/jobs", commit.trim()]);

    assert!(list(&stage).out.contains("paused since 2026-01-02 03:04"), "{:?}", list(&stage));
    let json = stage.run(&["job", "list", "--json"]);
    assert!(json.out.contains("\"paused_since\": \"2026-01-02T03:04:00Z\""), "{json:?}");
    let unknown = stage.run(&["job", "resume", "stepz"]);
    assert!(
        unknown.code == Some(2) && unknown.err.contains("there is no job `stepz`"),
        "{unknown:?}"
    );
    let resumed = stage.run(&["job", "resume", "steps"]);
    assert_eq!(
        (resumed.code, resumed.out.trim()),
        (Some(0), "job `steps` runs again when it is due")
    );
    assert!(!list(&stage).out.contains("paused"), "{:?}", list(&stage));
    let again = stage.run(&["job", "resume", "steps"]);
    assert_eq!(again.out.trim(), "job `steps` is not paused");

    // Somebody wrote something else there.
    stage.git_in("remote.git", &["update-ref", "refs/locum/jobs", "HEAD"]);
    let broken = list(&stage);
    assert!(broken.code == Some(0) && broken.err.contains("it is unusable"), "{broken:?}");
}

#[test]
fn a_mode_that_does_not_exist_is_told_where_it_is_named() {
    let job = ".locum/jobs/x.yml";
    let stage = Stage::with(&[(job, "version: 1\nmode: coder\ntask: hi\n")]);
    let told = "error: .locum/jobs/x.yml:2:7: there is no mode `coder`\nhint: did you mean `code`?";
    for words in [&["job", "list"][..], &["policy", "check"], &["job", "run", "x", "--dry-run"]] {
        let ran = stage.run(words);
        assert!(ran.code == Some(2) && ran.err.contains(told), "{words:?}: {ran:?}");
    }
    let good = "version: 1\nmode: code\ntask: hi\n";
    stage.write(&format!("checkout/{job}"), good);
    stage.write("checkout/.locum/config.yml", "language: en\nmode: coder\n");
    stage.commit("a mode of the settings");
    for words in [&["job", "list"][..], &["policy", "check"], &["job", "run", "x", "--dry-run"]] {
        assert_eq!(stage.run(words).code, Some(0), "{words:?}");
    }
    let ran = stage.run(&["run", "hi", "--dry-run"]);
    let told = "error: .locum/config.yml:2: there is no mode `coder`";
    assert!(ran.code == Some(2) && ran.err.contains(told), "{ran:?}");
    stage.write("checkout/.locum/config.yml", "policy: /etc/p.yml\n");
    stage.commit("a policy of the machine");
    let ran = stage.run(&["run", "hi", "--dry-run"]);
    let told =
        "error: .locum/config.yml:1: `policy` names `/etc/p.yml`: path `/etc/p.yml` is absolute";
    assert!(ran.code == Some(2) && ran.err.contains(told), "{ran:?}");
    stage.write("checkout/.locum/config.yml", "language: en\n");
    stage.write(&format!("checkout/{job}"), &good.replace("mode:", "schedule: 0 0 30 2 *\nmode:"));
    stage.commit("a schedule that never comes");
    for words in [&["job", "list"][..], &["policy", "check"]] {
        let ran = stage.run(words);
        assert!(ran.code == Some(2) && ran.err.contains("x.yml:2:11: "), "{ran:?}");
        assert!(ran.err.contains("`0 0 30 2 *` never comes"), "{ran:?}");
    }
}
