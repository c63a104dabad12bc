//! A session that waits for a person, carried from one workflow run to the next: its journal as a
//! commit on a private ref of the repository, whose parents are the last checkpoint, the run's base
//! and the trusted commit.
//!
//! What counts is not what the ref holds but what our own comment names: the commit stands in its
//! second, hidden line. Who can push cannot swap the session, who can edit comments cannot make one
//! up. Deciding moves the ref on first, from exactly the commit that was looked at, so that of two
//! decisions one counts. Anyone who reads the repository can read the ref; a journal is redacted as
//! it is written.

use serde::{Deserialize, Serialize};

use crate::run::action::gate::{PROGRESS, thread_of};
use crate::run::action::{Arrival, Found, refs};
use crate::run::fault::Fault;
use crate::run::prepare::{Order, Prepared};
use locum_agent::report::markdown;
use locum_agent::session::hold;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::Outcome;
use locum_forge::OwnComment;
use locum_forge::posts::{OwnReaction, ReactionTarget};
use locum_policy::intent::{Act, Facts, Intent, Publication};
use locum_policy::{Permit, Policy};
use locum_workspace::carried::SESSION_REFS;
use locum_workspace::repo::CommitId;

/// A session with a larger journal is not carried.
pub(super) const CARRIED_LIMIT_BYTES: u64 = 20 * 1024 * 1024;

/// Sessions that one workflow run takes away at most.
const SWEPT_AT_ONCE: usize = 10;

/// What the next workflow run needs beside the journal; kept in the journal's first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Carried {
    /// What is run.
    pub(super) order: Order,
    /// The branch pull requests are made against.
    pub(super) base_branch: String,
    /// The hidden line of the run's comment.
    pub(super) marker: String,
    /// What the first command was written on.
    pub(super) reaction: Option<ReactionTarget>,
    /// The review comment that is answered in its thread.
    pub(super) reply_to: Option<u64>,
    /// Login of who asked.
    pub(super) requested_by: Option<String>,
    /// The issue opened for the decision, where the run has no other place.
    #[serde(default)]
    pub(super) thread: Option<u64>,
    /// What says that it was seen, until it is over.
    #[serde(default)]
    pub(super) seen: Vec<OwnReaction>,
}

impl Carried {
    /// Returns the issue or pull request where people decide.
    pub(super) fn thread(&self) -> Option<u64> {
        self.order.subject.thread().or(self.thread)
    }
}

/// Where a session waits, as our own comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waits {
    /// The session.
    pub(super) session: SessionId,
    /// The commit that holds it.
    pub(super) commit: CommitId,
    /// What waits: the name of a hold or question.
    pub(super) id: String,
}

impl Waits {
    /// Returns the hidden line.
    fn line(&self) -> String {
        markdown::marker(
            "session",
            &[("id", self.session.as_str()), ("commit", &self.commit.0), ("waits", &self.id)],
        )
    }

    /// Reads the second line of one of our comments; `None` when nothing waits there.
    fn parse(comment: &OwnComment) -> Option<Self> {
        let line = comment.body.lines().nth(1)?.trim_end();
        let value = |key: &str| {
            line.split(' ')
                .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                .map(str::to_owned)
        };
        let waits = Self {
            session: SessionId::parse(&value("id")?)?,
            commit: CommitId(value("commit")?),
            id: value("waits")?,
        };
        // Only a line that we would write ourselves, letter for letter.
        (waits.line() == line).then_some(waits)
    }
}

/// Finds what waits on the thread of an event under a name, or all that waits there.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn waiting(
    arrival: &Arrival<'_>,
    found: &Found,
    id: Option<&str>,
) -> Result<Vec<Waits>, Fault> {
    let Some(subject) = &found.trigger.subject else { return Ok(Vec::new()) };
    let ours = arrival
        .forge
        .own_comments(thread_of(subject), PROGRESS, None)
        .await
        .map_err(Fault::machine)?;
    Ok(ours
        .iter()
        .filter_map(Waits::parse)
        .filter(|waits| id.is_none_or(|id| waits.id == id))
        .collect())
}

/// Puts a session that waits for a person onto its ref, which held `from`; returns the hidden line
/// for the run's comment.
///
/// # Errors
/// Why it cannot be carried, as part of a sentence.
pub(super) async fn keep(
    arrival: &Arrival<'_>,
    prepared: &Prepared,
    folder: &std::path::Path,
    outcome: &Outcome,
    (thread, from): (Result<u64, String>, Option<&CommitId>),
) -> Result<Option<String>, String> {
    let held = outcome.held.as_ref().map(|held| held.id.clone());
    let Some(id) = held.or_else(|| outcome.question.as_ref().map(|question| question.id.clone()))
    else {
        return Ok(None);
    };
    let thread = thread?;
    let journal = Journal::bytes(folder, CARRIED_LIMIT_BYTES).map_err(|error| error.to_string())?;
    let checkpoint = outcome.checkpoint.as_ref().unwrap_or(&outcome.base);
    let parents: Vec<&CommitId> = [checkpoint, &outcome.base, &prepared.plan.trusted]
        .into_iter()
        .chain(&outcome.apart)
        .collect();
    let repo = &arrival.workspace.repo;
    let commit = repo
        .carry(&[(JOURNAL_FILE, &journal)], &parents, &waits_words(&id, thread))
        .map_err(|error| error.to_string())?;
    let permit = permit(&prepared.policy, &prepared.plan.facts)?;
    let session = prepared.plan.session.clone();
    let moved = arrival
        .git
        .push_session(&permit, arrival.remote, session.as_str(), (from, Some(&commit)))
        .await;
    moved.map_err(|error| format!("the session cannot be kept in the repository: {error}"))?;
    Ok(Some(Waits { session, commit, id }.line()))
}

/// What the commit of a session says: it waits on this thread and on no other.
pub(super) fn waits_words(id: &str, thread: u64) -> String {
    format!("waits {id} on #{thread}\n")
}

/// Takes away what waited for longer than anything may: sessions nobody decided on, and claims
/// whose run was killed.
pub(super) async fn sweep(arrival: &Arrival<'_>, policy: &Policy, facts: &Facts) {
    let Ok(kept) = arrival.git.sessions(arrival.remote).await else { return };
    let now_s = arrival.clock.now().as_second();
    let is_over = |since_s: i64| now_s - since_s > hold::WAIT_LIMIT.as_secs();
    let old = kept.into_iter().filter(|(session, _)| {
        SessionId::parse(session).and_then(|id| id.made_at_s()).is_some_and(is_over)
    });
    for (session, tip) in old.take(SWEPT_AT_ONCE) {
        let name = format!("{SESSION_REFS}{session}");
        let fetched = arrival
            .git
            .fetch(arrival.remote, &format!("+{name}:{name}"), refs::depth_of(arrival, 1))
            .await;
        // A session may be older than what it waits for now.
        if fetched.is_err() || !arrival.workspace.repo.time_of(&tip).is_ok_and(is_over) {
            continue;
        }
        let Ok(permit) = permit(policy, facts) else { return };
        match arrival.git.push_session(&permit, arrival.remote, &session, (Some(&tip), None)).await
        {
            Ok(()) => tracing::info!(session, "a session that nobody decided on is removed"),
            Err(error) => {
                tracing::warn!(%error, session, "a session that is over stays on its ref")
            }
        }
    }
}

/// Takes a session off its ref, which held `from`. What cannot be taken off is only in the way of
/// nobody.
pub(super) async fn drop_off(arrival: &Arrival<'_>, prepared: &Prepared, from: &CommitId) {
    let session = prepared.plan.session.as_str();
    let done = match permit(&prepared.policy, &prepared.plan.facts) {
        Ok(permit) => arrival
            .git
            .push_session(&permit, arrival.remote, session, (Some(from), None))
            .await
            .map_err(|error| error.to_string()),
        Err(refusal) => Err(refusal),
    };
    if let Err(why) = done {
        tracing::warn!(%why, session, "the carried session stays on its ref");
    }
}

/// Fetches the session our comment names. Returns the ref's commit: the session's own, or this same
/// workflow run's claim on it.
///
/// # Errors
/// When git fails; the inner error says why the session cannot be taken.
pub(super) async fn fetch(
    arrival: &Arrival<'_>,
    found: &Found,
    waits: &Waits,
) -> Result<Result<CommitId, String>, Fault> {
    let name = format!("{SESSION_REFS}{}", waits.session);
    let depth = refs::depth_of(arrival, 3);
    if let Err(error) = arrival.git.fetch(arrival.remote, &format!("+{name}:{name}"), depth).await {
        return Ok(Err(format!("the session is no longer kept in the repository: {error}")));
    }
    let repo = &arrival.workspace.repo;
    let tip = repo.commit_of(&name).map_err(Fault::machine)?;
    if tip == waits.commit {
        return Ok(Ok(tip));
    }
    let (message, parent) = repo.message_of(&tip).map_err(Fault::machine)?;
    if parent.as_ref() != Some(&waits.commit) {
        return Ok(Err(
            "the session in the repository is not the one that the run's comment names".to_owned(),
        ));
    }
    if message == claim_words(arrival, found) {
        return Ok(Ok(tip));
    }
    Ok(Err(format!("that was decided already ({})", message.trim())))
}

/// Moves the ref on, so that nobody else decides: from what was fetched to this workflow run's
/// claim.
///
/// # Errors
/// Why it cannot be had.
pub(super) async fn claim(
    arrival: &Arrival<'_>,
    found: &Found,
    policy: &Policy,
    facts: &Facts,
    waits: &Waits,
    tip: &CommitId,
) -> Result<CommitId, String> {
    if *tip != waits.commit {
        // A job that was started again: the claim is its own.
        return Ok(tip.clone());
    }
    let claim = arrival
        .workspace
        .repo
        .remark(tip, &claim_words(arrival, found))
        .map_err(|error| error.to_string())?;
    let permit = permit(policy, facts)?;
    let moved = arrival
        .git
        .push_session(&permit, arrival.remote, waits.session.as_str(), (Some(tip), Some(&claim)))
        .await;
    moved.map_err(|error| {
        format!("somebody else has just decided, or the session cannot be moved on: {error}")
    })?;
    Ok(claim)
}

/// Attempts of one workflow run follow each other; two runs may go on at once.
fn claim_words(arrival: &Arrival<'_>, found: &Found) -> String {
    let comment = found.trigger.comment.as_ref().map_or(0, |comment| comment.id);
    format!("taken by comment {comment} in workflow run {}\n", arrival.job.run_id)
}

/// The act of keeping a session in the repository: it belongs to the comment that asks.
struct Keeping;

impl Act for Keeping {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(Publication::Comment)]
    }
}

fn permit(policy: &Policy, facts: &Facts) -> Result<Permit<Keeping>, String> {
    policy.admit(Keeping, facts).map_err(|refusal| refusal.to_string())
}

#[cfg(test)]
mod tests {
    use super::Waits;
    use locum_agent::session::id::SessionId;
    use locum_forge::OwnComment;
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_the_line_that_we_write_says_where_a_session_waits() {
        let waits = Waits {
            session: SessionId::parse("0199aabb").unwrap(),
            commit: CommitId("0123456789abcdef0123456789abcdef01234567".to_owned()),
            id: "0123456789abcdef".to_owned(),
        };
        let read = |body: String| Waits::parse(&OwnComment { id: 1, body });
        let line = waits.line();
        assert_eq!(
            read(format!("<!-- locum:v1 kind=progress run=1 -->\n{line}\ntext")),
            Some(waits.clone())
        );
        for body in [
            line.clone(),
            format!("<!-- first -->\n> {line}"),
            format!("<!-- first -->\n\n{line}"),
            format!("<!-- first -->\n{}", line.replace("waits=", "waits=x waits=")),
            format!("<!-- first -->\n{}", line.replace("id=0199aabb", "id=../../heads/main")),
        ] {
            assert_eq!(read(body.clone()), None, "{body}");
        }
    }
}
