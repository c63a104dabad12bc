//! What `locum doctor` reads off the workflows of a repository: what they set up, and which words
//! their jobs ask for.

use crate::doctor::{POLICY, WORKFLOW, problems, ran, set_up};
use crate::support::stage::ACTION;
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
