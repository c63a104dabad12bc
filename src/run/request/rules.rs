//! Which entry of the policy an event of the repository starts: `triggers.pull_request`,
//! `triggers.push` and their like.
//!
//! In: the event, the policy's entries, and which paths were changed where that is known. Out: the
//! first entry whose filters all fit, or why none does. It asks nobody.

use crate::run::publish::own_branch::is_ours;
use crate::run::request::who::is;
use crate::run::request::{JobFacts, RequestRefusal, silent};
use locum_base::path::RepoPath;
use locum_forge::PullRequest;
use locum_forge::checks::{is_failure, is_success};
use locum_forge::event::{EventHead, EventKind, Trigger};
use locum_policy::glob::{LetterCase, PathGlob};
use locum_policy::intent::TriggerKind;
use locum_policy::schema::Triggers;
use locum_policy::schema::events::EventRule;

/// What is known of an event besides its payload, as far as filters ask for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventFacts<'a> {
    /// What the job knows of itself.
    pub(super) job: &'a JobFacts<'a>,
    /// Paths that the pull request or push changes; `None` where nobody has looked.
    pub(super) changed_paths: Option<&'a [String]>,
    /// The pull request as it is now; `None` before the forge was asked.
    pub(super) pull_request: Option<&'a PullRequest>,
}

/// Returns the kind of entry that an event of this kind is matched with, and its key.
pub(crate) fn kind_of(kind: EventKind) -> Option<(TriggerKind, &'static str)> {
    Some(match kind {
        EventKind::PullRequest => (TriggerKind::PullRequest, "triggers.pull_request"),
        EventKind::ChecksEnded => (TriggerKind::CiFailure, "triggers.ci_failure"),
        EventKind::Push => (TriggerKind::Push, "triggers.push"),
        EventKind::Release => (TriggerKind::Release, "triggers.release"),
        EventKind::MergeGroup => (TriggerKind::MergeGroup, "triggers.merge_group"),
        EventKind::RepositoryDispatch => {
            (TriggerKind::RepositoryDispatch, "triggers.repository_dispatch")
        }
        _ => return None,
    })
}

/// Returns the first entry that fits an event; `None` where there is no entry of its kind.
///
/// # Errors
/// Why the first entry does not fit, where none does.
pub(super) fn find<'t>(
    trigger: &Trigger,
    triggers: &'t Triggers,
    (kind, key): (TriggerKind, &'static str),
    known: EventFacts<'_>,
) -> Result<Option<&'t EventRule>, RequestRefusal> {
    let mut first = None;
    for rule in triggers.rules_for(kind) {
        match fits(trigger, rule, known) {
            Ok(()) => return Ok(Some(rule)),
            Err(why) => first = first.or(Some(why)),
        }
    }
    first.map_or(Ok(None), |why| Err(silent(key, &why)))
}

/// Returns whether the checks that ended failed.
fn have_failed(trigger: &Trigger) -> bool {
    trigger.checks.as_ref().is_some_and(|checks| is_failure(&checks.conclusion))
}

/// Returns whether the checks that ended passed.
pub(crate) fn have_passed(trigger: &Trigger) -> bool {
    trigger.checks.as_ref().is_some_and(|checks| is_success(&checks.conclusion))
}

/// Checks every filter of an entry; what nobody has looked at yet fits.
fn fits(trigger: &Trigger, rule: &EventRule, known: EventFacts<'_>) -> Result<(), String> {
    let head = trigger.head.as_ref();
    if !rule.has_action(&trigger.action) {
        let key = if rule.kind == TriggerKind::RepositoryDispatch { "types" } else { "on" };
        return Err(format!("`{key}` does not name `{}`", trigger.action));
    }
    if rule.kind == TriggerKind::CiFailure && !have_failed(trigger) && !have_passed(trigger) {
        let conclusion = trigger.checks.as_ref().map_or("", |checks| checks.conclusion.as_str());
        return Err(format!("the checks did not fail: `{conclusion}`"));
    }
    if rule.kind == TriggerKind::PullRequest
        && !rule.drafts
        && head.is_some_and(|head| head.is_draft)
    {
        return Err("the pull request is a draft, and `draft` is not `true`".to_owned());
    }
    let author = trigger.subject.as_ref().map_or("", |subject| subject.author.as_str());
    if !rule.authors.is_empty() && !rule.authors.iter().any(|one| is(one, author)) {
        return Err(format!("`authors` does not name `{author}`"));
    }
    fits_workflow(trigger, rule)?;
    fits_branch(trigger, rule, known.job)?;
    fits_label(trigger, rule, known.pull_request)?;
    match known.changed_paths {
        Some(paths)
            if !rule.paths.is_empty() && !paths.iter().any(|path| any(&rule.paths, path)) =>
        {
            Err("nothing was changed that `paths` names".to_owned())
        }
        Some(_) | None => Ok(()),
    }
}

fn fits_workflow(trigger: &Trigger, rule: &EventRule) -> Result<(), String> {
    let name = trigger.checks.as_ref().map_or("", |checks| checks.name.as_str());
    if rule.workflows.is_empty() || rule.workflows.iter().any(|one| one == name) {
        return Ok(());
    }
    Err(format!("`workflows` does not name `{name}`"))
}

fn fits_branch(trigger: &Trigger, rule: &EventRule, job: &JobFacts<'_>) -> Result<(), String> {
    let Some(head) = &trigger.head else { return Ok(()) };
    let EventHead { branch, target, sha, .. } = head;
    let branch = target.as_ref().unwrap_or(branch);
    if rule.kind == TriggerKind::Push {
        if branch.is_empty() {
            return Err("the push is not to a branch".to_owned());
        }
        if sha.chars().all(|digit| digit == '0') {
            return Err(format!("the branch `{branch}` was deleted"));
        }
        if rule.branches.is_empty() && branch != job.default_branch_of(trigger) {
            return Err(format!(
                "without `branches` only the default branch counts, not `{branch}`"
            ));
        }
    }
    if rule.branches.is_empty() || any(&rule.branches, branch) {
        return Ok(());
    }
    Err(format!("`branches` does not name `{branch}`"))
}

fn fits_label(
    trigger: &Trigger,
    rule: &EventRule,
    pull_request: Option<&PullRequest>,
) -> Result<(), String> {
    if rule.kind == TriggerKind::CiFailure {
        let Some(pull_request) = pull_request else { return Ok(()) };
        if pull_request.is_fork {
            return Err(format!("pull request #{} comes from a fork", pull_request.number));
        }
        let has = |label: &String| pull_request.labels.contains(label);
        if is_ours(pull_request) || rule.label.as_ref().is_some_and(has) {
            return Ok(());
        }
        return Err(match &rule.label {
            Some(label) => format!(
                "pull request #{} is not Locum's own and has no label `{label}`",
                pull_request.number
            ),
            None => format!("pull request #{} is not Locum's own", pull_request.number),
        });
    }
    let Some(label) = &rule.label else { return Ok(()) };
    if trigger.action == "labeled" {
        return if trigger.label.as_ref() == Some(label) {
            Ok(())
        } else {
            Err(format!("the label that was put on is not `{label}`"))
        };
    }
    let labels = trigger.head.as_ref().map(|head| head.labels.as_slice()).unwrap_or_default();
    if labels.contains(label) {
        Ok(())
    } else {
        Err(format!("the pull request has no label `{label}`"))
    }
}

fn any(globs: &[PathGlob], text: &str) -> bool {
    RepoPath::parse(text)
        .is_ok_and(|path| globs.iter().any(|glob| glob.matches(&path, LetterCase::Exact)))
}
