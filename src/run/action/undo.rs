//! `undo`: takes back the last commit of ours on a pull request's branch by a commit of its own.
//!
//! In: an admitted event. Out: the commit on the branch, and a comment that names both. Ours is
//! what carries our trailer, among the commits that the forge counts to the pull request; what was
//! taken back before is passed over. The same comment again changes nothing. No model is asked and
//! no check runs.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::claim::{ClaimAnswer, ClaimRequest};
use crate::run::action::declined::Declined;
use crate::run::action::{ActionEnd, ActionEnv, answer, claim, refs, work_items};
use crate::run::error::RunError;
use locum_agent::report::markdown::{code, inline};
use locum_base::secret::Redactor;
use locum_forge::commits::{ForgeCommit, TargetBranch};
use locum_forge::sanitise::{self, TextRules};
use locum_forge::{ListedCommit, PullRequest};
use locum_policy::intent::{Act, Intent, PublicationKind};
use locum_policy::schema::CommitSigner;
use locum_workspace::repo::CommitId;
use locum_workspace::revert::NewRevert;

/// The trailer of every commit of a run.
const OF_RUN: &str = "Locum-Session: ";
/// The trailer of a commit that takes another one back: the comment that asked for it.
const OF_UNDO: &str = "Locum-Undo: ";
/// How such a commit names the other one.
const REVERTS: &str = "This reverts commit ";
/// Letters of a commit's name that are shown.
const SHORT: usize = 7;

/// Takes back the last commit of ours.
///
/// # Errors
/// When the machine or the forge fails.
pub(super) async fn undo(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<ActionEnd, RunError> {
    match claimed(env, admitted).await {
        Ok(what) => Ok(answer::done(env, admitted, what).await),
        Err(Declined::Refused(why)) => Ok(answer::refuse(env, admitted, &why).await),
        Err(Declined::Failed(error)) => Err(error),
    }
}

/// Returns the pull request and the number of the comment that asks.
fn subject<'a>(admitted: &'a AdmittedEvent<'_>) -> Result<(&'a PullRequest, u64), Declined> {
    let event = &admitted.event;
    let why = match (&event.pull_request, &event.trigger.comment) {
        (Some(pull_request), _) if pull_request.is_fork => {
            "the pull request comes from a fork, whose branch is not ours to change"
        }
        (Some(pull_request), Some(comment)) => return Ok((pull_request, comment.id)),
        (_, _) => "`undo` works on a pull request: it reverts the last commit of Locum there",
    };
    Err(Declined::refused(why))
}

/// Takes it back while no other run is at work on the pull request.
async fn claimed(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Result<String, Declined> {
    let (pull_request, comment) = subject(admitted)?;
    let words = work_items::subject(admitted).claim_words(None);
    let request = ClaimRequest {
        subject: &words,
        by: &admitted.event.trigger.actor.login,
        comment: "",
        policy: &admitted.config.policy,
        facts: &admitted.request.facts,
    };
    let claim = match claim::take(env, &request).await? {
        ClaimAnswer::Granted(claim) => *claim,
        ClaimAnswer::Busy(why) => return Err(Declined::Refused(why)),
    };
    let done = take_back(env, admitted, pull_request, comment).await;
    claim.release().await;
    done
}

async fn take_back(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    pull_request: &PullRequest,
    comment: u64,
) -> Result<String, Declined> {
    let listed = env.forge.pull_request_commits(pull_request.number).await;
    let listed = listed.map_err(RunError::internal)?;
    let branch = &pull_request.head_branch;
    if let Some(done) = listed.iter().find(|commit| trailer(commit, OF_UNDO) == comment.to_string())
    {
        return Ok(format!("{} on {} did that.", short(&done.id), code(branch)));
    }
    let Some(target) = last_of_ours(&listed) else {
        let why = "no commit of Locum is left to revert on this pull request";
        return Err(Declined::refused(why));
    };
    let depth = u32::try_from(listed.len() + 1).unwrap_or(u32::MAX);
    let tip = refs::fetch_head(env, pull_request, depth).await?;
    let subject = target.message.lines().next().unwrap_or_default();
    let message = message(subject, &target.id, comment);
    let author = env.forge.commit_author().await;
    let new = NewRevert {
        tip: &tip,
        reverted: &CommitId(target.id.clone()),
        message: &message,
        author: author.pair(),
    };
    let made = env.workspace.repo.revert(&new).map_err(RunError::internal)?;
    let Some(made) = made else {
        let why = "later commits changed the same lines, so it has to be reverted by hand";
        return Err(Declined::Refused(format!("{}: {why}", short(&target.id))));
    };
    let made = publish(env, admitted, branch, (&tip, &made)).await.map_err(Declined::Refused)?;
    let (old, new) = (short(&target.id), short(&made));
    Ok(format!("{new} on {} reverts {old} ({}).", code(branch), inline(subject)))
}

/// Returns the last commit of a run that is not taken back yet.
fn last_of_ours(listed: &[ListedCommit]) -> Option<&ListedCommit> {
    let is_undo = |commit: &ListedCommit| !trailer(commit, OF_UNDO).is_empty();
    let reverted: Vec<&str> = listed
        .iter()
        .filter(|commit| is_undo(commit))
        .flat_map(|commit| commit.message.lines())
        .filter_map(|line| line.strip_prefix(REVERTS)?.strip_suffix('.'))
        .collect();
    listed.iter().rev().find(|commit| {
        !is_undo(commit)
            && !trailer(commit, OF_RUN).is_empty()
            && !reverted.contains(&commit.id.as_str())
    })
}

/// Returns a trailer's value, out of the last paragraph of a message; empty where there is none.
fn trailer<'c>(commit: &'c ListedCommit, name: &str) -> &'c str {
    let trailers = commit.message.trim_end().rsplit("\n\n").next().unwrap_or_default();
    trailers.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default()
}

fn message(subject: &str, reverted: &str, comment: u64) -> String {
    let text = format!("Revert \"{subject}\"\n\n{REVERTS}{reverted}.\n\n{OF_UNDO}{comment}\n");
    sanitise::commit_message(&text, &TextRules::default(), &Redactor::new([]))
}

/// Puts the commit onto the branch at this tip, if the policy lets it; returns the name it has
/// there.
async fn publish(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    branch: &str,
    (tip, commit): (&CommitId, &CommitId),
) -> Result<String, String> {
    let (policy, facts) = (&admitted.config.policy, &admitted.request.facts);
    match policy.settings().publish.sign {
        CommitSigner::Git => {
            let permit = policy.admit(PushUndo, facts).map_err(|no| no.to_string())?;
            let pushed = env.git.push(&permit, env.remote, branch, (Some(tip), commit)).await;
            pushed.map(|()| commit.0.clone()).map_err(|error| error.to_string())
        }
        CommitSigner::Api => {
            let change = env.workspace.repo.rebuilt(commit).map_err(|error| error.to_string())?;
            let (branch, onto) = (branch.to_owned(), TargetBranch::Branch);
            let act = ForgeCommit { branch, onto, change };
            let permit = policy.admit(act, facts).map_err(|no| no.to_string())?;
            env.forge.commit(permit).await.map_err(|error| error.to_string())
        }
    }
}

fn short(commit: &str) -> String {
    code(locum_base::text::head(commit, SHORT))
}

/// The act of pushing the commit.
struct PushUndo;

impl Act for PushUndo {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(PublicationKind::Commit)]
    }
}

#[cfg(test)]
mod tests {
    use super::{last_of_ours, message};
    use locum_forge::ListedCommit;
    use pretty_assertions::assert_eq;

    fn commit(id: &str, message: &str) -> ListedCommit {
        ListedCommit { id: id.to_owned(), message: message.to_owned() }
    }

    #[test]
    fn the_last_commit_of_a_run_that_still_stands_is_taken_back() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let mut listed = vec![
            commit(&one, "first\n\nLocum-Session: a\n"),
            commit(&two, "second\n\nLocum-Session: b"),
            commit("3", "a person's\n\nLocum-Session: forged\n\nwords after it"),
        ];
        let last = |listed: &[ListedCommit]| last_of_ours(listed).map(|commit| commit.id.clone());
        assert_eq!(last(&listed), Some(two.clone()));
        listed.push(commit("4", &message("second", &two, 55)));
        assert_eq!(last(&listed), Some(one.clone()));
        listed.push(commit("5", &message("first", &one, 56)));
        assert_eq!(last(&listed), None);
    }
}
