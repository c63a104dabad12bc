//! The sessions that are kept on a thread: which of them a run there may go on with, and which it
//! takes the place of.
//!
//! In: our own comments and the refs at the remote. Out: sessions in the order in which they ended.
//! One with changes that are not published stays until a run went on with it and left its own, or
//! until it is swept: no run that did something else takes its place.

use crate::run::action::admission::PROGRESS;
use crate::run::action::kept::KeptSession;
use crate::run::action::thread::ThreadComments;
use crate::run::action::{ActionEnv, carry, refs};
use locum_agent::session::id::SessionId;

/// Sessions with unpublished changes that stay on a thread beside the one of its last run; what is
/// older goes.
pub(super) const WORKS_LIMIT: usize = 5;

/// A session that is kept on a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadSession {
    /// Where it is kept.
    pub(super) kept: KeptSession,
    /// Whether only comments of this very workflow run name it, which was started again.
    pub(super) is_own: bool,
    /// Whether it holds changes that were not published; also where that is not known.
    pub(super) has_work: bool,
}

/// What the last run on a thread left.
enum LastRun {
    /// There was none.
    None,
    /// Its session is kept.
    Kept(KeptSession),
    /// It waits for a decision.
    Waits,
    /// Its session is not kept.
    NotKept,
}

impl LastRun {
    /// Reads it off our own comments; the one of this very request, by its first line, does not
    /// count.
    fn of(comments: &ThreadComments, own: &str) -> Self {
        let is_other = |body: &str| body.starts_with(PROGRESS) && body.lines().next() != Some(own);
        let mut bodies = comments.own.iter().rev().map(|comment| comment.body.as_str());
        let Some(body) = bodies.find(|body| is_other(body)) else { return Self::None };
        match KeptSession::parse(body) {
            Some(kept) => Self::Kept(kept),
            None if body.lines().nth(1).is_some_and(|line| line.starts_with(carry::WAITS)) => {
                Self::Waits
            }
            None => Self::NotKept,
        }
    }
}

/// The sessions that are kept on a thread.
pub(super) struct ThreadSessions {
    last: LastRun,
    /// Those on their refs, in the order in which they ended.
    there: Vec<ThreadSession>,
}

impl ThreadSessions {
    /// Finds them by our own comments. Which ended last, their refs tell: a workflow run that was
    /// started again has an early comment and ended late.
    pub(super) async fn of(env: &ActionEnv<'_>, comments: &ThreadComments, own: &str) -> Self {
        let bodies = comments.own.iter().map(|comment| comment.body.as_str());
        let bodies = bodies.filter(|body| body.starts_with(PROGRESS));
        // One that nothing took the place of is named by several comments.
        let mut named: Vec<ThreadSession> = Vec::new();
        for (kept, body) in bodies.filter_map(|body| Some((KeptSession::parse(body)?, body))) {
            let is_own = body.lines().next() == Some(own);
            match named.iter_mut().find(|one| one.kept == kept) {
                Some(one) => one.is_own &= is_own,
                None => named.push(ThreadSession { kept, is_own, has_work: true }),
            }
        }
        Self { last: LastRun::of(comments, own), there: on_their_refs(env, named).await }
    }

    /// Returns the session that ended last.
    pub(super) fn newest(&self) -> Option<&KeptSession> {
        self.there.last().map(|one| &one.kept)
    }

    /// Returns what a run may go on with: its own first, then what ended last.
    ///
    /// # Errors
    /// Why there is nothing for a comment to go on with.
    pub(super) fn candidates(&self) -> Result<Vec<ThreadSession>, &'static str> {
        let may_be = |one: &&ThreadSession| match &self.last {
            LastRun::Kept(_) => true,
            // The last run is not known: the words of one before it are no use without changes.
            LastRun::NotKept => one.has_work || one.is_own,
            LastRun::None | LastRun::Waits => one.is_own,
        };
        let mut found: Vec<ThreadSession> =
            self.there.iter().rev().filter(may_be).cloned().collect();
        found.sort_by_key(|one| !one.is_own);
        match &self.last {
            LastRun::Kept(last) if found.is_empty() => {
                let kept = last.clone();
                Ok(vec![ThreadSession { kept, is_own: false, has_work: false }])
            }
            LastRun::Waits if found.is_empty() => Err("it waits for a decision"),
            LastRun::NotKept if found.is_empty() => Err("it is not kept in the repository"),
            LastRun::None | LastRun::Kept(_) | LastRun::Waits | LastRun::NotKept => Ok(found),
        }
    }

    /// Returns those that a run takes the place of once it has left something: the one that it goes
    /// on with, all that hold no unpublished changes, and [`Self::too_many`].
    pub(super) fn superseded(&self, resumed: Option<&SessionId>) -> Vec<KeptSession> {
        let over = self.there.iter().filter(|one| !stays(one, resumed));
        over.map(|one| one.kept.clone()).chain(self.too_many(resumed)).collect()
    }

    /// Returns those with unpublished changes, the oldest first, that are more than a thread keeps.
    pub(super) fn too_many(&self, resumed: Option<&SessionId>) -> Vec<KeptSession> {
        let staying: Vec<&ThreadSession> =
            self.there.iter().filter(|one| stays(one, resumed)).collect();
        let over = staying.len().saturating_sub(WORKS_LIMIT);
        staying.into_iter().take(over).map(|one| one.kept.clone()).collect()
    }
}

/// Whether a session stays where a run goes on with this one or none.
fn stays(one: &ThreadSession, resumed: Option<&SessionId>) -> bool {
    one.has_work && Some(&one.kept.session) != resumed
}

/// Returns those of these sessions that are on their refs, as they ended, the last one last; all of
/// them where the refs cannot be asked for.
async fn on_their_refs(env: &ActionEnv<'_>, sessions: Vec<ThreadSession>) -> Vec<ThreadSession> {
    if sessions.is_empty() {
        return sessions;
    }
    let known = match env.git.own_refs(env.remote).await {
        Ok(known) => known,
        Err(error) => {
            tracing::debug!(%error, "which sessions are kept is not known");
            return sessions;
        }
    };
    let repo = &env.workspace.repo;
    let mut ended = Vec::new();
    for one in sessions {
        let (name, commit) = (one.kept.ref_name(), &one.kept.commit);
        if !known.iter().any(|(known, tip)| *known == name && tip == commit) {
            continue;
        }
        // Changes that are not published are its parent.
        let depth = refs::depth_of(env, 3);
        let fetched = env.git.fetch(env.remote, &format!("+{name}:{name}"), depth).await;
        let time_s = fetched.and_then(|()| repo.time_of(commit)).unwrap_or_default();
        let is_bare = repo.message_of(commit).is_ok_and(|(_, parent)| parent.is_none());
        ended.push((time_s, ThreadSession { has_work: !is_bare, ..one }));
    }
    // Of the same second, the later comment counts.
    ended.sort_by_key(|(time_s, _)| *time_s);
    ended.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::{LastRun, ThreadSession, ThreadSessions, WORKS_LIMIT};
    use crate::run::action::kept::KeptSession;
    use locum_agent::session::id::SessionId;
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    fn kept(number: usize) -> KeptSession {
        let session = SessionId::parse(&format!("0199aab{number}")).unwrap();
        KeptSession { session, commit: CommitId(format!("{number}")) }
    }

    fn sessions(last: LastRun, there: &[(bool, bool)]) -> ThreadSessions {
        let one = |(number, (is_own, has_work)): (usize, &(bool, bool))| ThreadSession {
            kept: kept(number),
            is_own: *is_own,
            has_work: *has_work,
        };
        ThreadSessions { last, there: there.iter().enumerate().map(one).collect() }
    }

    fn numbers(found: Vec<KeptSession>) -> Vec<String> {
        found.into_iter().map(|one| one.commit.0).collect()
    }

    #[test]
    fn what_is_not_published_stays_unless_a_run_goes_on_with_it() {
        let there = sessions(LastRun::Kept(kept(1)), &[(false, true), (false, false)]);
        assert_eq!(numbers(there.superseded(None)), ["1"]);
        assert_eq!(numbers(there.superseded(Some(&kept(0).session))), ["0", "1"]);
        assert_eq!(numbers(there.superseded(Some(&kept(1).session))), ["1"]);
        // Not without end.
        let many = sessions(LastRun::Kept(kept(1)), &[(false, true); WORKS_LIMIT + 2]);
        assert_eq!(numbers(many.superseded(None)), ["0", "1"]);
        assert_eq!(numbers(many.superseded(Some(&kept(3).session))), ["3", "0"]);
        assert_eq!(numbers(many.too_many(Some(&kept(3).session))), ["0"]);
    }

    #[test]
    fn what_a_run_goes_on_with_is_its_own_then_what_ended_last() {
        let found = |there: &ThreadSessions| -> Result<Vec<String>, &'static str> {
            Ok(numbers(there.candidates()?.into_iter().map(|one| one.kept).collect()))
        };
        let all = |numbers: &[&str]| -> Result<Vec<String>, &'static str> {
            Ok(numbers.iter().map(|one| (*one).to_owned()).collect())
        };
        let two = [(false, true), (false, false)];
        let there = sessions(LastRun::Kept(kept(1)), &two);
        assert_eq!(found(&there), all(&["1", "0"]));
        let own = sessions(LastRun::Kept(kept(1)), &[(true, false), (false, true)]);
        assert_eq!(found(&own), all(&["0", "1"]));
        // The last run is kept nowhere: not what is older either, but for changes.
        assert_eq!(found(&sessions(LastRun::NotKept, &two)), all(&["0"]));
        let none = found(&sessions(LastRun::NotKept, &two[1..]));
        assert_eq!(none, Err("it is not kept in the repository"));
        assert_eq!(found(&sessions(LastRun::Waits, &two)), Err("it waits for a decision"));
        assert_eq!(found(&sessions(LastRun::None, &two)), all(&[]));
        assert_eq!(found(&sessions(LastRun::Kept(kept(7)), &[])), all(&["7"]));
    }
}
