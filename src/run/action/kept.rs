//! A session that ended on a thread, kept so that a later comment goes on with its conversation:
//! its journal as a commit on a private ref, which our own comment names in its second, hidden line.
//!
//! In: an ended session, and where its changes are by now. Out: that line. The commit says on which
//! thread it ended and which commit holds its changes, so that neither can be told otherwise; a
//! session that waits for a decision says something else in both (`carry`). Changes that are not
//! published hang on the commit as its first parent, without what was there on the way to them; with
//! a secret in them, nothing is kept. What cannot be kept ends no run: the next one begins anew.

use crate::run::action::{ActionEnv, SessionRun, carry};
use crate::run::publish::{AUTHOR, PublishResult, Publisher};
use locum_agent::report::markdown;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::Outcome;
use locum_workspace::repo::{CommitId, NewCommit};

/// A session with a larger journal is not kept.
const KEPT_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// Where a session that ended is kept, as our own comment says.
struct KeptSession {
    /// Name of the session.
    session: SessionId,
    /// The commit that holds it.
    commit: CommitId,
}

impl KeptSession {
    /// Returns the hidden line.
    fn line(&self) -> String {
        let keys = [("id", self.session.as_str()), ("commit", &self.commit.0)];
        markdown::marker("conversation", &keys)
    }
}

/// What the commit of an ended session says: where it ended, and which commit holds its changes.
fn ended_words(thread: u64, head: Option<&str>) -> String {
    let published = head.map_or_else(String::new, |head| format!(", published as {head}"));
    format!("ended on #{thread}{published}\n")
}

/// Puts a session that ended on a thread onto its ref. Returns the hidden line for the run's
/// comment; `None` where there is no conversation to go on with, or no room for it.
pub(super) async fn keep(
    env: &ActionEnv<'_>,
    session: &SessionRun,
    outcome: &Outcome,
    (publisher, result): (&Publisher<'_>, &PublishResult),
) -> Option<String> {
    let thread = session.run.plan.subject.thread()?;
    let has_ended = outcome.pending().next().is_none() && !outcome.fault;
    if !has_ended || outcome.spent.turns == 0 || publisher.is_late() {
        return None;
    }
    let head = result.head();
    let kept = match publisher.secret(outcome).filter(|_| head.is_none()) {
        Some(secret) => Err(secret),
        None => put(env, session, outcome, (thread, head)).await,
    };
    match kept {
        Ok(kept) => Some(kept.line()),
        Err(why) => {
            tracing::info!(why, "the conversation is not kept: the next comment begins anew");
            None
        }
    }
}

async fn put(
    env: &ActionEnv<'_>,
    session: &SessionRun,
    outcome: &Outcome,
    (thread, head): (u64, Option<&str>),
) -> Result<KeptSession, String> {
    let journal = Journal::bytes(&session.folder, KEPT_LIMIT_BYTES);
    let journal = journal.map_err(|error| error.to_string())?;
    let repo = &env.workspace.repo;
    let work = (head.is_none() && !outcome.changes.is_empty()).then(|| {
        let touched = outcome.changes.iter().map(|change| change.path.clone()).collect();
        let (parent, message) = (&outcome.base, "locum: not published\n");
        repo.commit(&NewCommit { parent, touched: &touched, message, author: AUTHOR })
    });
    let work = work.transpose().map_err(|error| error.to_string())?;
    let parents: Vec<&CommitId> = work.iter().flat_map(|work| [work, &outcome.base]).collect();
    let commit = repo
        .carry(&[(JOURNAL_FILE, &journal)], &parents, &ended_words(thread, head))
        .map_err(|error| error.to_string())?;
    let plan = &session.run.plan;
    let permit = carry::permit(&session.run.policy, &plan.facts)?;
    let moves = (session.start.claim(), Some(&commit));
    let moved = env.git.push_session(&permit, env.remote, plan.session.as_str(), moves).await;
    moved.map_err(|error| error.to_string())?;
    Ok(KeptSession { session: plan.session.clone(), commit })
}
