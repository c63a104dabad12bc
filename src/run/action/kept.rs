//! A session that ended on a thread, kept so that a later comment goes on with its conversation:
//! its journal as a commit on a private ref, which our own comment names in its second, hidden
//! line.
//!
//! In: an ended session, and where its changes are by now. Out: that line. The commit says on which
//! thread it ended and which commit holds its changes, so that an edited comment changes neither; a
//! session that waits for a decision says something else in both (`carry`). Changes that are not
//! published hang on the commit as its first parent, without what was there on the way to them;
//! with a secret in them, nothing is kept. What cannot be kept ends no run: the next one starts
//! over.

use crate::run::action::{ActionEnv, SessionRun, carry};
use crate::run::marker::Marker;
use crate::run::publish::{PublishResult, Publisher};
use locum_agent::report::markdown;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::Outcome;
use locum_forge::commits::CommitAuthor;
use locum_workspace::carried::SESSION_REFS;
use locum_workspace::repo::{CommitId, NewCommit, RepoError};

/// A session with a larger journal is not kept.
pub(super) const KEPT_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// Where a session that ended is kept, as our own comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeptSession {
    /// Name of the session.
    pub(super) session: SessionId,
    /// The commit that holds it.
    pub(super) commit: CommitId,
}

impl KeptSession {
    /// Returns the full name of its ref.
    pub(super) fn ref_name(&self) -> String {
        format!("{SESSION_REFS}{}", self.session)
    }

    /// Returns the hidden line.
    pub(super) fn line(&self) -> String {
        let keys = [("id", self.session.as_str()), ("commit", &self.commit.0)];
        markdown::marker("conversation", &keys)
    }

    /// Reads the second line of a comment of ours; `None` unless we would write it ourselves,
    /// letter for letter.
    pub(super) fn parse(body: &str) -> Option<Self> {
        let line = body.lines().nth(1)?.trim_end();
        let marker = Marker::parse(line)?;
        let session = SessionId::parse(marker.get("id")?)?;
        let kept = Self { session, commit: CommitId(marker.get("commit")?.to_owned()) };
        (kept.line() == line).then_some(kept)
    }
}

/// What the commit of an ended session says: where it ended, and which commit holds its changes.
pub(super) fn ended_words(thread: u64, head: Option<&str>) -> String {
    let published = head.map_or_else(String::new, |head| format!(", published as {head}"));
    format!("ended on #{thread}{published}\n")
}

/// Reads the commit that holds a session's changes, if one does, from what its own commit says.
///
/// # Errors
/// When it did not end on this thread.
pub(super) fn head_in(words: &str, thread: u64) -> Result<Option<CommitId>, &'static str> {
    let head = words.trim_end().split_once(", published as ").map(|(_, head)| head);
    let is_hash = |head: &str| head.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !head.is_none_or(is_hash) || ended_words(thread, head) != words {
        return Err("ended on another issue or pull request");
    }
    Ok(head.map(|head| CommitId(head.to_owned())))
}

/// Puts a session that ended on a thread onto its ref. Returns the hidden line for the run's
/// comment; `None` where there is no conversation to go on with, or no room for it.
pub(super) async fn keep(
    env: &ActionEnv<'_>,
    session: &SessionRun,
    outcome: &Outcome,
    (publisher, result): (&Publisher<'_>, &PublishResult),
) -> Option<String> {
    let thread = session.carried.destination.thread?;
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

/// Takes the sessions off their refs that a run took the place of.
pub(super) async fn drop_superseded(
    env: &ActionEnv<'_>,
    session: &SessionRun,
    publisher: &Publisher<'_>,
) {
    if publisher.is_late() {
        return;
    }
    for KeptSession { session: superseded, commit } in &session.superseded {
        if let Err(why) = carry::drop_off(env, &session.run, (superseded, commit)).await {
            tracing::info!(%why, session = %superseded, "an earlier session stays on its ref");
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
    let work = (head.is_none() && !outcome.changes.is_empty()).then(|| work_commit(env, outcome));
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

/// Makes a commit of the changes in the checkout, which no branch holds.
pub(super) fn work_commit(env: &ActionEnv<'_>, outcome: &Outcome) -> Result<CommitId, RepoError> {
    let touched = outcome.changes.iter().map(|change| change.path.clone()).collect();
    let (parent, message) = (&outcome.base, "locum: not published\n");
    let author = CommitAuthor::default();
    let new = NewCommit { parent, touched: &touched, message, author: author.pair() };
    env.workspace.repo.commit(&new)
}

#[cfg(test)]
mod tests {
    use super::{KeptSession, ended_words, head_in};
    use locum_agent::session::id::SessionId;
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_the_line_that_we_write_says_where_a_session_is_kept() {
        let kept = KeptSession {
            session: SessionId::parse("0199aabb").unwrap(),
            commit: CommitId("0123456789abcdef0123456789abcdef01234567".to_owned()),
        };
        let line = kept.line();
        let first = "<!-- locum:v1 kind=progress run=1 -->";
        assert_eq!(KeptSession::parse(&format!("{first}\n{line}\r\ntext")), Some(kept));
        for body in [
            line.clone(),
            format!("{first}\n> {line}"),
            format!("{first}\n\n{line}"),
            format!("{first}\n{}", line.replace("commit=", "commit=x commit=")),
            format!("{first}\n{}", line.replace("kind=conversation", "kind=session")),
            format!("{first}\n{}", line.replace(" -->", " waits=0123456789abcdef -->")),
            format!("{first}\n{}", line.replace("id=0199aabb", "id=../../heads/main")),
        ] {
            assert_eq!(KeptSession::parse(&body), None, "{body}");
        }
    }

    #[test]
    fn a_commit_says_on_which_thread_a_session_ended_and_what_holds_its_changes() {
        let head = || Some(CommitId("0123".to_owned()));
        assert_eq!(head_in(&ended_words(7, Some("0123")), 7), Ok(head()));
        assert_eq!(head_in(&ended_words(7, None), 7), Ok(None));
        for words in [
            ended_words(8, None),
            "waits 0123 on #7\n".to_owned(),
            "ended on #7".to_owned(),
            "ended on #7, published as 0123\n\nmore\n".to_owned(),
        ] {
            assert!(head_in(&words, 7).is_err(), "{words}");
        }
    }
}
