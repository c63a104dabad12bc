//! What `locum doctor` reads off the workflows of a repository: what they set up, and which words
//! their jobs ask for.

use crate::doctor::{POLICY, WORKFLOW, problems, ran, set_up};
use crate::support::stage::{ACTION, Stage};
use pretty_assertions::assert_eq;

#[test]
fn each_tool_chain_of_the_success_commands_is_looked_for_in_the_workflow() {
    let stage = set_up();
    stage.write("checkout/web/package.json", "{\"scripts\": {\"test\": \"true\"}}\n");
    stage.write("checkout/api/requirements.txt", "pytest\n");
    stage.write("checkout/api/setup.py", "");
    stage.write("checkout/.gitignore", "node_modules/\n__pycache__/\n");
    let policy = |success: &str| {
        format!(
            "version: 1\nrules:\n  - allow: [\"read(**)\", \"command(npm:*)\"]\npublish:\n  \
             allow: [comment, pull-request]\n  success: {success}\n"
        )
    };
    let workflow = stage.read(WORKFLOW);
    let own = format!("- uses: {ACTION}");
    let notes = |steps: &[&str], success: &str| {
        stage.write(POLICY, &policy(success));
        let steps: String = steps.iter().map(|step| format!("- {step}\n      ")).collect();
        stage.write(WORKFLOW, &workflow.replace(&own, &format!("{steps}{own}")));
        stage.git(&["add", "--all"]);
        stage.git(&["commit", "--quiet", "--allow-empty", "--message", "a change"]);
        ran(&stage, &["doctor", "--json"]).json()["notes"].to_string()
    };
    let (both, node) = ("[cd web && npm test, cd api && pytest]", "[cd web && npm test]");
    let (npm, pip) = ("run: npm ci", "run: pip install -r api/requirements.txt");
    let lacks_python = |found: &str| {
        found.contains("no step of `.github/workflows/locum.yml`")
            && found.contains("`cd api && pip install -r requirements.txt`")
            && !found.contains("npm")
    };
    let found = notes(&[npm], both);
    assert!(lacks_python(&found), "{found}");
    // What only sets up a tool chain, brings a tool or signs in installs nothing for tests.
    for step in [
        "uses: actions/setup-python@v6",
        "run: pip install --upgrade pip",
        "run: pipx install poetry",
        "uses: aws-actions/configure-aws-credentials@v6",
    ] {
        let found = notes(&[step, npm], both);
        assert!(lacks_python(&found), "{step}: {found}");
    }
    let found = notes(&[], both);
    assert!(found.contains("npm install") && found.contains("pip install"), "{found}");
    for (steps, success) in [
        (&[npm, pip][..], both),
        // Nothing is tested with Python.
        (&[npm], node),
        // What these do is not known.
        (&[npm, "run: make ready"], both),
        (&[npm, "run: sudo apt-get install -y python3-pytest"], both),
        (&["uses: acme/prepare@v1"], both),
    ] {
        assert_eq!(notes(steps, success), "null", "{steps:?}");
    }
}

#[test]
fn a_label_that_starts_nothing_is_told_whatever_listens_to_other_events() {
    let stage = set_up();
    let workflow = stage.read(WORKFLOW);
    stage.write(WORKFLOW, &workflow.replace("label.name == 'locum'", "label.name == 'bot'"));
    let (head, jobs) = workflow.split_once("\njobs:").unwrap();
    let other = format!("name: other\non:\n  pull_request:\njobs:{jobs}");
    assert!(head.contains("\non:"), "{head}");
    let without_if: String = other
        .lines()
        .filter(|line| !line.contains("label.name"))
        .map(|line| format!("{line}\n"))
        .collect();
    stage.write("checkout/.github/workflows/other.yml", &without_if);
    stage.commit("two workflows");
    let told = problems(&stage, "action").join("\n");
    assert!(told.contains("asks for the label `bot`"), "{told}");
}

#[test]
fn inputs_are_read_as_the_action_reads_them() {
    let stage = set_up();
    let workflow = stage.read(WORKFLOW);
    let told = |input: &str| {
        let own = format!("          {input}\n          api-key: ");
        stage.write(WORKFLOW, &workflow.replacen("          api-key: ", &own, 1));
        stage.git(&["add", "--all"]);
        stage.git(&["commit", "--quiet", "--allow-empty", "--message", "a change"]);
        problems(&stage, "action")
    };
    for (input, expected) in [
        ("allow-fork: always", "input `allow-fork`: cannot be `always`; one of: never or review"),
        ("dry-run: maybe", "input `dry-run`: cannot be `maybe`"),
        ("allow-bots: '*'", "input `allow-bots`"),
        ("bundle: both", "input `bundle`"),
        ("fail-on: nope", "input `fail-on`"),
        ("max-cost-usd: lots", "input `max-cost-usd`"),
        ("timeout-minutes: soon", "input `timeout-minutes`"),
    ] {
        let found = told(input);
        assert!(found.len() == 1 && found[0].contains(expected), "{input}: {found:?}");
        assert!(found[0].starts_with(".github/workflows/locum.yml:"), "{found:?}");
    }
    for input in [
        "allow-fork: review",
        "dry-run: 'true'",
        "fail-on: failed,timed-out",
        "max-cost-usd: 1.5",
        "max-turns: ${{ vars.TURNS }}",
        "allow-fork: ''",
    ] {
        assert_eq!(told(input), Vec::<String>::new(), "{input}");
    }
}

#[test]
fn a_workflow_that_cannot_keep_the_limits_of_the_policy_is_told() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let init = |policy: &str, flags: &[&str]| {
        stage.write(POLICY, policy);
        let words = ["init", "--no-check", "--action", ACTION, "--provider", "openai"];
        let made = stage.run(&[&words, flags].concat());
        stage.git(&["add", "--all"]);
        stage.git(&["commit", "--quiet", "--allow-empty", "--message", "a change"]);
        made
    };
    let told = |from: &str, to: &str| {
        let text = stage.read(WORKFLOW);
        assert!(text.contains(from), "{text}");
        stage.write(WORKFLOW, &text.replacen(from, to, 1));
        stage.commit("a change");
        let found = problems(&stage, "action");
        stage.write(WORKFLOW, &text);
        stage.commit("back");
        found
    };
    let policy = |triggers: &str, budget: &str| {
        format!(
            "version: 1\ntriggers: {triggers}\nrules: [{{ allow: \"read(**)\" }}]\nbudget: \
             {budget}\npublish: {{ allow: [comment] }}\n"
        )
    };
    let comment = "{ comment: { prefix: /locum, tiers: [maintainer] } }";
    let daily = policy(comment, "{ minutes: 60, daily: { runs: 3 } }");
    assert_eq!(init(&daily, &[]).code, Some(0));
    assert_eq!(problems(&stage, "action"), Vec::<String>::new());
    let text = stage.read(WORKFLOW);
    assert!(text.contains("timeout-minutes: 75\n"), "{text}");
    assert!(text.contains("contents: write # to keep count"), "{text}");
    for (from, to, expected) in [
        ("contents: write", "contents: read", "which `budget.daily` or `budget.per_thread` of"),
        ("timeout-minutes: 75", "timeout-minutes: 60", "is 60, and a run may take 60 minutes"),
        (
            "          api-key: ",
            "          bundle: write\n          api-key: ",
            "a job that may write nothing cannot keep count of it; let a run work and publish",
        ),
    ] {
        let found = told(from, to);
        assert!(found.len() == 1 && found[0].contains(expected), "{to}: {found:?}");
    }
    let lower = "timeout-minutes: 75";
    let fits = told(lower, "timeout-minutes: 61");
    assert_eq!(fits, Vec::<String>::new());
    let two = init(&daily, &["--two-jobs", "--force"]);
    assert_eq!(two.code, Some(0), "the policy is written anew: {two:?}");
    std::fs::remove_file(stage.path(WORKFLOW)).unwrap();
    let two = init(&daily, &["--two-jobs"]);
    assert!(two.code == Some(2) && two.err.contains("cannot keep count of it"), "{two:?}");
    assert!(!stage.path(WORKFLOW).exists());
    // Without a thread there is nothing to count.
    let thread = policy("{ schedule: { jobs: [tidy] } }", "{ per_thread: { runs: 3 } }");
    assert_eq!(init(&thread, &["--two-jobs"]).code, Some(0));
}

#[test]
fn a_workflow_has_what_jobs_of_the_repository_need() {
    let stage = Stage::with(&[("README.md", "# It\n"), ("CHANGELOG.md", "# C\n")]);
    let policy = "version: 1\ntriggers: { schedule: { jobs: [alerts] }, release: { job: \
                  release-notes } }\nrules: [{ allow: \"read(**)\" }]\npublish: { allow: \
                  [comment, pull-request] }\n";
    stage.write(POLICY, policy);
    let alerts = "version: 1\nschedule: '0 5 * * *'\nalerts: [code-scanning]\ntask: Mend.\n";
    stage.write("checkout/.locum/jobs/alerts.yml", alerts);
    stage.write("checkout/.locum/jobs/release-notes.yml", "version: 1\ntask: Write.\n");
    let words = ["init", "--no-check", "--action", ACTION, "--provider", "openai"];
    let made = stage.run(&words);
    assert_eq!(made.code, Some(0), "{made:?}");
    stage.commit("as init wrote it");
    let text = stage.read(WORKFLOW);
    assert!(text.contains("security-events: read") && text.contains("fetch-depth: 0"), "{text}");
    assert_eq!(problems(&stage, "action"), Vec::<String>::new());
}
