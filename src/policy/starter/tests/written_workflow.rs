//! The workflow that is written: what it listens to, what it is given and what its jobs may do.

use pretty_assertions::assert_eq;

use super::scan;
use super::workflows::ci;
use crate::Policy;
use crate::starter::workflow::{
    ActionReference, WORKFLOW_FILE, WorkflowForm, WorkflowModel, workflow,
};
use crate::starter::{StarterChoices, propose};
use locum_files::yaml::YamlDocument;

#[test]
fn a_workflow_listens_to_what_the_policy_starts_and_to_nothing_else() {
    let proposal = propose(&scan(&[("Cargo.toml", "")]), &StarterChoices::default()).unwrap();
    let model = model();
    let written = |triggers: &str| {
        let policy = Policy::parse(&format!("version: 1\ntriggers: {triggers}\n"), "p").unwrap();
        workflow(
            WORKFLOW_FILE,
            &proposal,
            policy.settings(),
            (&model, &action()),
            WorkflowForm::OneJob,
        )
    };
    let parts = [
        "  issue_comment:",
        "  pull_request_review:",
        "  issues:\n    types: [opened]",
        "  issues:\n    types: [labeled]",
        "  issues:\n    types: [assigned, edited]",
        "  pull_request:\n    types: [labeled]",
        "  pull_request:\n    types: [opened, ready_for_review, reopened]",
        "  pull_request:\n    types: [opened, synchronize]",
        "  workflow_run:",
        "    workflows: [\"CI\"] # name the workflows",
        "    workflows: [\"Tests\", \"Lint\"]",
        "      actions: write # to read the output of failed jobs",
        "  push:\n    branches: [\"**\"]",
        "  push:\n    branches: [\"release/*\"]",
        "  release:\n    types: [published]",
        "  merge_group:\n    types: [checks_requested]",
        "  repository_dispatch:\n    types: [\"tidy\"]",
        "  workflow_dispatch:",
        "  schedule:",
        "  pull_request:\n    types: [opened, labeled]",
        "      checks: read # to see what else failed",
        "      checks: write # to show results as check runs",
    ];
    let at = |places: &[usize]| places.iter().map(|place| parts[*place]).collect::<Vec<_>>();
    for (triggers, expected) in [
        ("{ comment: { prefix: /do, tiers: [maintainer] } }", at(&[0, 1, 2])),
        ("{ label: { name: x, tiers: [maintainer] } }", at(&[3, 5])),
        ("{ assign: { login: x }, schedule: { dashboard: true } }", at(&[4])),
        ("{ pull_request: { tiers: [maintainer] } }", at(&[6])),
        ("{ pull_request: [{ on: opened }, { on: [synchronize, opened] }] }", at(&[7])),
        ("{ label: { name: x }, pull_request: { on: opened } }", at(&[3, 19])),
        ("{ ci_failure: {} }", at(&[8, 9, 11, 20])),
        ("{ ci_failure: {} }\npublish: { allow: [check] }", at(&[8, 9, 11, 21])),
        ("{ push: { job: x } }\npublish: { allow: [comment, check] }", at(&[12, 21])),
        ("{ ci_failure: { workflows: [Tests, Lint] } }", at(&[8, 10, 11, 20])),
        ("{ push: { job: x } }", at(&[12])),
        ("{ push: { job: x, branches: [\"release/*\"] } }", at(&[13])),
        ("{ release: { job: x } }", at(&[14])),
        ("{ merge_group: { job: x } }", at(&[15])),
        ("{ repository_dispatch: { types: [tidy] } }", at(&[16])),
        ("{ dispatch: { tiers: [maintainer] } }", at(&[17])),
        ("{ schedule: { jobs: [nightly] } }", at(&[18])),
    ] {
        let text = written(triggers);
        let document = YamlDocument::parse(&text);
        assert_eq!(document.mistakes, [], "{text}");
        let found: Vec<&str> = parts.into_iter().filter(|part| text.contains(part)).collect();
        assert_eq!(found, expected, "{triggers}: {text}");
        assert!(text.contains("model: ${{ vars.LOCUM_MODEL || 'anthropic:m' }}"), "{text}");
        assert!(text.contains("- run: cargo fetch\n"), "{text}");
    }
    assert!(written("{ comment: { prefix: /do, tiers: [maintainer] } }").contains("'/do'"));
}

/// Locum's own examples know no commit of a release: they are part of it.
fn action() -> ActionReference {
    ActionReference {
        repository: "OWNER/locum".to_owned(),
        commit: "0".repeat(40),
        version: Some("v0.1.0".to_owned()),
    }
}

#[test]
fn an_action_is_named_by_a_whole_commit() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for name in ["acme/locum", "acme/tools/locum"] {
        let read: ActionReference = format!("{name}@{commit}").parse().unwrap();
        assert_eq!((read.repository.as_str(), read.commit.as_str()), (name, commit));
    }
    for wrong in [
        "acme/locum",
        "acme/locum@v1",
        "acme/locum@0123456",
        "locum@0123456789abcdef0123456789abcdef01234567",
        "acme/@0123456789abcdef0123456789abcdef01234567",
        "a b/locum@0123456789abcdef0123456789abcdef01234567",
        "acme/locum@0123456789ABCDEF0123456789abcdef01234567",
        "acme/locum@0000000000000000000000000000000000000000",
    ] {
        assert!(wrong.parse::<ActionReference>().is_err(), "{wrong}");
    }
}

#[test]
fn the_example_is_what_a_rust_repository_gets() {
    let proposal =
        propose(&scan(&[("Cargo.toml", ""), ("Cargo.lock", "")]), &StarterChoices::default())
            .unwrap();
    let policy = include_str!("../../../../config/examples/policy.yml");
    let policy = Policy::parse(policy, "p").unwrap();
    let model = WorkflowModel {
        model: "openai-responses:gpt-6.1-terra".to_owned(),
        base_url: None,
        key: Some("${{ secrets.OPENAI_API_KEY }}".to_owned()),
        permission: None,
        variables: Vec::new(),
        login: String::new(),
    };
    assert_eq!(
        workflow(
            WORKFLOW_FILE,
            &proposal,
            policy.settings(),
            (&model, &action()),
            WorkflowForm::OneJob
        ),
        include_str!("../../../../config/examples/workflow.yml")
    );
    let two = workflow(
        WORKFLOW_FILE,
        &proposal,
        policy.settings(),
        (&model, &action()),
        WorkflowForm::TwoJobs,
    );
    assert_eq!(two, include_str!("../../../../config/examples/workflow-two-jobs.yml"));
    let (work, publish) = two.split_once("  publish:\n").unwrap();
    assert!(!work.contains(": write #") && work.contains("secrets."), "{work}");
    assert!(publish.contains("contents: write #") && !publish.contains("secrets."), "{publish}");
    let model = WorkflowModel { permission: Some("models: read # to ask".to_owned()), ..model };
    let text = "version: 1\ntriggers: { ci_failure: {} }\npublish: { allow: [comment] }\n";
    let comments = Policy::parse(text, "p").unwrap();
    let two = workflow(
        WORKFLOW_FILE,
        &proposal,
        comments.settings(),
        (&model, &action()),
        WorkflowForm::TwoJobs,
    );
    let (work, publish) = two.split_once("  publish:\n").unwrap();
    assert!(!work.contains(": write #") && work.contains("models: read"), "{work}");
    assert!(work.contains("actions: read # to read the output"), "{work}");
    assert!(publish.contains("contents: read #") && !publish.contains("models:"), "{publish}");
}

#[test]
fn an_identity_in_place_of_a_key_is_the_working_jobs_alone() {
    let proposal =
        propose(&scan(&[("Cargo.toml", ""), ("Cargo.lock", "")]), &StarterChoices::default())
            .unwrap();
    let policy = Policy::parse("version: 1\ntriggers: { dispatch: {} }\n", "p").unwrap();
    let model = WorkflowModel {
        model: "bedrock:m".to_owned(),
        base_url: None,
        key: None,
        permission: Some("id-token: write # to show who it is".to_owned()),
        variables: vec!["AWS_REGION".to_owned()],
        login: "      - uses: a/login@1\n".to_owned(),
    };
    for form in [WorkflowForm::OneJob, WorkflowForm::TwoJobs] {
        let text = workflow(WORKFLOW_FILE, &proposal, policy.settings(), (&model, &action()), form);
        assert_eq!(YamlDocument::parse(&text).mistakes, [], "{text}");
        let (work, publish) = text.split_once("  publish:\n").unwrap_or((&text, ""));
        let parts = [
            "      id-token: write # to show who it is\n",
            "    env: # variables of the repository, no secrets\n      AWS_REGION: ${{ \
             vars.AWS_REGION }}\n",
            "- run: cargo fetch --locked\n      - uses: a/login@1\n",
        ];
        for part in parts {
            assert!(work.contains(part) && !publish.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("api-key"), "{text}");
    }
}

#[test]
fn the_checkout_has_what_the_tests_need() {
    let steps = "      - uses: actions/checkout@v4\n        with: { submodules: recursive, lfs: true, fetch-depth: 0, token: x }\n\
                 \x20     - run: go test ./...\n";
    let workflow_of_ci = ci(steps);
    let files =
        [("go.mod", ""), ("a.go", ""), (".github/workflows/ci.yml", workflow_of_ci.as_str())];
    let proposal = propose(&scan(&files), &StarterChoices::default()).unwrap();
    let inputs: Vec<&str> = proposal.checkout.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(inputs, ["submodules", "lfs", "fetch-depth"]);
    let policy = Policy::parse(&proposal.policy, "p").unwrap();
    let action: ActionReference = format!("o/locum@{}", "1".repeat(40)).parse().unwrap();
    let model = model();
    let text = workflow(
        WORKFLOW_FILE,
        &proposal,
        policy.settings(),
        (&model, &action),
        WorkflowForm::OneJob,
    );
    let lines = "          persist-credentials: false\n          submodules: \"recursive\"\n          lfs: \"true\"\n          fetch-depth: \"0\"\n";
    assert!(text.contains(lines) && !text.contains("token: x"), "{text}");
}

fn model() -> WorkflowModel {
    WorkflowModel {
        model: "anthropic:m".to_owned(),
        base_url: None,
        key: Some("${{ secrets.K }}".to_owned()),
        permission: None,
        variables: Vec::new(),
        login: String::new(),
    }
}
