//! Jobs that a starter brings along: they fit the repository, and nobody else may do what they may.

use pretty_assertions::assert_eq;

use super::scan;
use crate::intent::Facts;
use crate::query::parse_intent;
use crate::starter::jobs::{JOBS, JobRecipe};
use crate::starter::workflow::{
    ActionReference, WORKFLOW_FILE, WorkflowForm, WorkflowModel, workflow,
};
use crate::starter::{StarterChoices, StarterProposal, propose};
use crate::verdict::Decision;
use crate::{Policy, lint};

const UPDATES: JobRecipe = JobRecipe::DependencyUpdates;

fn with(files: &[(&str, &str)], jobs: &[JobRecipe]) -> StarterProposal {
    let choices = StarterChoices { jobs: jobs.to_vec(), ..StarterChoices::default() };
    propose(&scan(files), &choices).unwrap_or_else(|errors| panic!("{errors}"))
}

fn decision(policy: &Policy, intent: &str, job: Option<&str>) -> Decision {
    let facts = Facts {
        mode: "code".to_owned(),
        sandboxed: true,
        job: job.map(str::to_owned),
        ..Facts::default()
    };
    policy.decide(&parse_intent(intent).unwrap(), &facts).decision
}

#[test]
fn a_rust_repository_gets_the_recipe_as_it_stands() {
    let files = [("Cargo.toml", ""), ("Cargo.lock", ""), ("src/lib.rs", "")];
    let proposal = with(&files, &[UPDATES]);
    let [job] = proposal.jobs.as_slice() else { panic!("{:?}", proposal.jobs) };
    assert_eq!(job.text, include_str!("../../../../config/jobs/dependency-updates.yml"));
}

#[test]
fn the_job_of_each_ecosystem_may_update_and_no_other_run_may() {
    let package = r#"{"scripts": {"test": "x"}}"#;
    for (files, commands, lock, host) in [
        (
            &[("Cargo.toml", ""), ("Cargo.lock", "")][..],
            &["cargo update"][..],
            "Cargo.lock",
            "index.crates.io",
        ),
        (
            &[("package.json", package), ("package-lock.json", "")],
            &["npm update"],
            "package-lock.json",
            "registry.npmjs.org",
        ),
        (
            &[("package.json", package), ("pnpm-lock.yaml", "")],
            &["rm -rf node_modules", "pnpm update --no-save"],
            "pnpm-lock.yaml",
            "registry.npmjs.org",
        ),
        (
            &[("package.json", package), ("yarn.lock", "")],
            &["yarn upgrade"],
            "yarn.lock",
            "registry.yarnpkg.com",
        ),
    ] {
        let files = [files, &[("src/a.txt", "")]].concat();
        let proposal = with(&files, &[UPDATES]);
        let text = &proposal.policy;
        // Where nothing contains commands, the words of the rules decide.
        let by_words = text.replace("contained: allow", "contained: words");
        for text in [text, &by_words] {
            let policy = Policy::parse(text, "p").unwrap();
            assert_eq!(lint::warnings(&policy), Vec::new(), "{text}");
            let edit = format!("edit({lock})");
            let job = Some("dependency-updates");
            assert_eq!(decision(&policy, &edit, job), Decision::Allow, "{edit}: {text}");
            assert_ne!(decision(&policy, &edit, None), Decision::Allow, "{edit}: {text}");
            for command in commands {
                let intent = format!("command({command})");
                assert_eq!(decision(&policy, &intent, job), Decision::Allow, "{intent}: {text}");
            }
        }
        let job = &proposal.jobs[0].text;
        for command in commands {
            assert!(job.contains(&format!("  - run: {command}\n")), "{job}");
        }
        let policy = Policy::parse(text, "p").unwrap();
        for test in &policy.settings().publish.success {
            assert!(job.contains(&format!("  - run: {test}\n")), "{test}: {job}");
        }
        assert!(!job.contains("cargo") || lock == "Cargo.lock", "{job}");
        let network = format!("allow: [{host}");
        let hosts = text.split_once("network: policy").map(|(_, rest)| rest);
        assert!(hosts.is_some_and(|hosts| hosts.contains(&network)), "{text}");
        // Without the job there is nothing of it.
        let plain = with(&files, &[]).policy;
        assert!(!plain.contains("dependency-updates") && plain.contains("network: off"));
    }
}

#[test]
fn a_repository_without_a_lock_file_is_told_which_are_known() {
    // Yarn 2 and uv would need more than the sandbox lets them change.
    for files in [
        &[("src/a.rs", "")][..],
        &[("yarn.lock", ""), (".yarnrc.yml", "")],
        &[("pyproject.toml", ""), ("uv.lock", "")],
    ] {
        let choices = StarterChoices { jobs: vec![UPDATES], ..StarterChoices::default() };
        let errors = propose(&scan(files), &choices).map(|_| ()).unwrap_err().to_string();
        assert!(errors.contains("no lock file") && errors.contains("Cargo.lock"), "{errors}");
    }
}

#[test]
fn each_job_comes_with_what_the_workflow_needs_for_it() {
    let model = WorkflowModel {
        model: "m".to_owned(),
        base_url: None,
        key: Some("k".to_owned()),
        permission: None,
        variables: Vec::new(),
        login: String::new(),
    };
    let action: ActionReference =
        "a/locum@0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let files = [("Cargo.toml", ""), ("Cargo.lock", ""), ("HISTORY.md", "")];
    let written = |jobs: &[JobRecipe], form| {
        let proposal = with(&files, jobs);
        let policy = Policy::parse(&proposal.policy, "p").unwrap();
        (workflow(WORKFLOW_FILE, &proposal, policy.settings(), (&model, &action), form), proposal)
    };
    for form in [WorkflowForm::OneJob, WorkflowForm::TwoJobs] {
        let (plain, _) = written(&[], form);
        let of = [
            (UPDATES, &["  schedule:\n", "      job:\n"][..]),
            (JobRecipe::SecurityAlerts, &["  schedule:\n", "security-events: read # to "]),
            (
                JobRecipe::ReleaseNotes,
                &["  release:\n    types: [published]\n", "fetch-depth: 0", "      job:\n"],
            ),
        ];
        for (job, parts) in of {
            let (text, proposal) = written(&[job], form);
            for part in parts {
                assert!(text.contains(part) && !plain.contains(part), "{part}: {text}");
            }
            assert_eq!(proposal.jobs.len(), 1);
        }
    }
    let (_, proposal) = written(&[JobRecipe::ReleaseNotes], WorkflowForm::OneJob);
    let text = &proposal.jobs[0].text;
    assert!(text.contains("into HISTORY.md") && !text.contains("CHANGELOG"), "{text}");
}

#[test]
fn only_the_job_edits_a_changelog_that_nobody_may_edit_otherwise() {
    let notes = [JobRecipe::ReleaseNotes];
    let policy = |files: &[(&str, &str)], edits: &[&str]| {
        let choices = StarterChoices {
            jobs: notes.to_vec(),
            edits: edits.iter().map(|edit| (*edit).to_owned()).collect(),
            ..StarterChoices::default()
        };
        let text = propose(&scan(files), &choices).unwrap().policy;
        let policy = Policy::parse(&text, "p").unwrap();
        assert_eq!(lint::warnings(&policy), Vec::new(), "{text}");
        policy
    };
    let files = [("src/a.rs", ""), ("CHANGES.md", "")];
    let open = policy(&files, &[]);
    assert_eq!(decision(&open, "edit(CHANGES.md)", None), Decision::Allow);
    let closed = policy(&files, &["src/**"]);
    assert_eq!(decision(&closed, "edit(CHANGES.md)", None), Decision::Deny);
    assert_eq!(decision(&closed, "edit(CHANGES.md)", Some("release-notes")), Decision::Allow);
}

#[test]
fn jobs_are_written_in_one_order_and_each_has_its_place() {
    let files = [("Cargo.toml", ""), ("Cargo.lock", "")];
    let all: Vec<JobRecipe> = JOBS.iter().rev().map(|(_, recipe, _)| *recipe).collect();
    let proposal = with(&files, &all);
    let names: Vec<&str> = proposal.jobs.iter().map(|job| job.name).collect();
    assert_eq!(names, ["dependency-updates", "release-notes", "security-alerts"]);
    for job in &proposal.jobs {
        assert_eq!(job.recipe.path(), format!(".locum/jobs/{}.yml", job.name));
        assert!(job.text.starts_with(&format!("# {}\n", job.recipe.path())), "{}", job.text);
        assert_eq!(JobRecipe::of_name(job.name), Some(job.recipe));
    }
    assert!(
        proposal.policy.contains("  schedule: { jobs: [dependency-updates, security-alerts] }")
    );
    assert_eq!(with(&files, &all.into_iter().rev().collect::<Vec<_>>()).policy, proposal.policy);
}
