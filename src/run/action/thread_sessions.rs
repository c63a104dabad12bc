//! The sessions that are kept on a thread: which of them a run there may go on with, and which it
//! takes the place of.
//!
//! In: our own comments and the refs at the remote. Out: sessions in the order in which they ended.
//! One with changes that are not published stays until a run went on with it and left its own, or
//! until it is swept: no run that did something else takes its place. One that could not be looked
//! at stays as well, and makes no other one go.

use std::path::Path;

use crate::run::action::admission::PROGRESS;
use crate::run::action::kept::KeptSession;
use crate::run::action::thread::ThreadComments;
use crate::run::action::{ActionEnv, carry, refs};
use locum_agent::session::id::SessionId;
use locum_workspace::repo::{CommitId, Repo, RepoError};

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
    /// Whether it holds changes that were not published.
    pub(super) changes: KeptChanges,
}

/// Whether a session holds changes that were not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeptChanges {
    /// It does.
    Unpublished,
    /// It does not.
    Nothing,
    /// It could not be looked at.
    Unknown,
}

impl ThreadSession {
    /// Returns whether its ref was listed and its commit looked at.
    fn is_known(&self) -> bool {
        self.changes != KeptChanges::Unknown
    }

    /// Returns whether it holds changes that were not published, as far as is known.
    pub(super) fn has_work(&self) -> bool {
        self.changes != KeptChanges::Nothing
    }
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
                None => {
                    named.push(ThreadSession { kept, is_own, changes: KeptChanges::Unknown });
                }
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
            LastRun::NotKept => one.has_work() || one.is_own,
            LastRun::None | LastRun::Waits => one.is_own,
        };
        let mut found: Vec<ThreadSession> =
            self.there.iter().rev().filter(may_be).cloned().collect();
        found.sort_by_key(|one| !one.is_own);
        match &self.last {
            LastRun::Kept(last) if found.is_empty() => {
                let kept = last.clone();
                Ok(vec![ThreadSession { kept, is_own: false, changes: KeptChanges::Nothing }])
            }
            LastRun::Waits if found.is_empty() => Err("it waits for a decision"),
            LastRun::NotKept if found.is_empty() => Err("it is not kept in the repository"),
            LastRun::None | LastRun::Kept(_) | LastRun::Waits | LastRun::NotKept => Ok(found),
        }
    }

    /// Returns those that a run takes the place of once it has left something: the one that it goes
    /// on with, which it has looked at by then, all that are known to hold no unpublished changes,
    /// and [`Self::too_many`].
    pub(super) fn superseded(&self, resumed: Option<&SessionId>) -> Vec<KeptSession> {
        let over = self.there.iter().filter(|one| !stays(one, resumed));
        over.map(|one| one.kept.clone()).chain(self.too_many(resumed)).collect()
    }

    /// Returns those with unpublished changes, the oldest first, that are more than a thread keeps.
    /// What could not be looked at does not count.
    pub(super) fn too_many(&self, resumed: Option<&SessionId>) -> Vec<KeptSession> {
        let staying = self.there.iter().filter(|one| one.is_known() && stays(one, resumed));
        let staying: Vec<&ThreadSession> = staying.collect();
        let over = staying.len().saturating_sub(WORKS_LIMIT);
        staying.into_iter().take(over).map(|one| one.kept.clone()).collect()
    }
}

/// Whether a session stays where a run goes on with this one or none.
fn stays(one: &ThreadSession, resumed: Option<&SessionId>) -> bool {
    one.has_work() && Some(&one.kept.session) != resumed
}

/// Returns those of these sessions that are on their refs, as they ended, the last one last; those
/// that could not be looked at before them, and all of them where the refs cannot be asked for.
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
    let mut ended = Vec::new();
    for one in sessions {
        let (name, commit) = (one.kept.ref_name(), &one.kept.commit);
        if !known.iter().any(|(known, tip)| *known == name && tip == commit) {
            continue;
        }
        // Changes that are not published are its parent.
        let depth = refs::depth_of(env, 3);
        let fetched = env.git.fetch(env.remote, &format!("+{name}:{name}"), depth).await;
        let seen = fetched.and_then(|()| look_at(env.workspace.repo.root(), commit));
        let (time_s, changes) = match seen {
            Ok((time_s, changes)) => (Some(time_s), changes),
            Err(error) => {
                tracing::info!(%error, session = %one.kept.session, "a kept session is not known");
                (None, KeptChanges::Unknown)
            }
        };
        ended.push((time_s, ThreadSession { changes, ..one }));
    }
    // Of the same second, the later comment counts.
    ended.sort_by_key(|(time_s, _)| *time_s);
    ended.into_iter().map(|(_, one)| one).collect()
}

/// Returns when a session ended, in seconds since 1970, and what it left. The repository is opened
/// here: one that was open before still sees commits cut short to which more was fetched since.
fn look_at(root: &Path, commit: &CommitId) -> Result<(i64, KeptChanges), RepoError> {
    let repo = Repo::open(root)?;
    let (_, work) = repo.message_of(commit)?;
    let changes = if work.is_some() { KeptChanges::Unpublished } else { KeptChanges::Nothing };
    Ok((repo.time_of(commit)?, changes))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{KeptChanges, LastRun, ThreadSession, ThreadSessions, WORKS_LIMIT, look_at};
    use crate::run::action::kept::KeptSession;
    use locum_agent::session::id::SessionId;
    use locum_workspace::repo::{CommitId, Repo};
    use locum_workspace::seed;
    use pretty_assertions::assert_eq;

    const WORK: KeptChanges = KeptChanges::Unpublished;
    const BARE: KeptChanges = KeptChanges::Nothing;
    const UNKNOWN: KeptChanges = KeptChanges::Unknown;

    fn kept(number: usize) -> KeptSession {
        let session = SessionId::parse(&format!("0199aab{number}")).unwrap();
        KeptSession { session, commit: CommitId(format!("{number}")) }
    }

    fn sessions(last: LastRun, there: &[(bool, KeptChanges)]) -> ThreadSessions {
        let one = |(number, (is_own, changes)): (usize, &(bool, KeptChanges))| ThreadSession {
            kept: kept(number),
            is_own: *is_own,
            changes: *changes,
        };
        ThreadSessions { last, there: there.iter().enumerate().map(one).collect() }
    }

    fn numbers(found: Vec<KeptSession>) -> Vec<String> {
        found.into_iter().map(|one| one.commit.0).collect()
    }

    #[test]
    fn what_is_not_published_stays_unless_a_run_goes_on_with_it() {
        let there = sessions(LastRun::Kept(kept(1)), &[(false, WORK), (false, BARE)]);
        assert_eq!(numbers(there.superseded(None)), ["1"]);
        assert_eq!(numbers(there.superseded(Some(&kept(0).session))), ["0", "1"]);
        assert_eq!(numbers(there.superseded(Some(&kept(1).session))), ["1"]);
        // Not without end.
        let many = sessions(LastRun::Kept(kept(1)), &[(false, WORK); WORKS_LIMIT + 2]);
        assert_eq!(numbers(many.superseded(None)), ["0", "1"]);
        assert_eq!(numbers(many.superseded(Some(&kept(3).session))), ["3", "0"]);
        assert_eq!(numbers(many.too_many(Some(&kept(3).session))), ["0"]);
    }

    #[test]
    fn what_could_not_be_looked_at_stays() {
        let there = sessions(LastRun::Kept(kept(1)), &[(false, UNKNOWN), (false, BARE)]);
        assert_eq!(numbers(there.superseded(None)), ["1"]);
        // Looked at, the same one goes.
        let known = sessions(LastRun::Kept(kept(1)), &[(false, BARE), (false, BARE)]);
        assert_eq!(numbers(known.superseded(None)), ["0", "1"]);
        // So does one that the run went on with, which has read it.
        assert_eq!(numbers(there.superseded(Some(&kept(0).session))), ["0", "1"]);
        // However many there are, none goes, nor does one that is known for their sake.
        let mut many = vec![(false, UNKNOWN); WORKS_LIMIT + 2];
        many.extend([(false, WORK); WORKS_LIMIT]);
        let unknown = sessions(LastRun::NotKept, &many);
        assert_eq!(numbers(unknown.superseded(None)), Vec::<String>::new());
        assert_eq!(numbers(unknown.too_many(None)), Vec::<String>::new());
        many.push((false, WORK));
        let one_more = sessions(LastRun::NotKept, &many);
        assert_eq!(numbers(one_more.superseded(None)), [(WORKS_LIMIT + 2).to_string()]);
    }

    #[test]
    #[expect(clippy::disallowed_types, reason = "a test cuts the history of a clone short")]
    fn a_session_in_a_shallow_clone_is_looked_at_once_more_of_it_was_fetched() {
        use std::process::Command;

        let folder = tempfile::tempdir().unwrap();
        let [origin, clone] = ["origin", "clone"].map(|name| folder.path().join(name));
        let git = |place: &Path, words: &[&str]| {
            let output = Command::new("git").arg("-C").arg(place).args(words).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        let base = seed::repository(&origin, &[("a", "1\n")], "base").unwrap();
        let repo = Repo::open(&origin).unwrap();
        let files = [("journal.jsonl", b"{}\n".as_slice())];
        let session = |parents: &[&CommitId]| repo.carry(&files, parents, "ended on #7\n").unwrap();
        let (work, bare) = (session(&[&base]), session(&[]));
        git(&origin, &["update-ref", "refs/locum/sessions/1", work.0.as_str()]);
        git(folder.path(), &["init", "-q", "clone"]);
        let url = format!("file://{}", origin.display());
        let spec = "+refs/locum/sessions/1:refs/locum/sessions/1";
        let fetch = |depth: &str| {
            git(&clone, &["fetch", "-q", "--depth", depth, url.as_str(), spec]);
        };
        let changes = |place: &Path, commit: &CommitId| {
            look_at(place, commit).ok().map(|(_, changes)| changes)
        };
        fetch("1");
        assert_eq!(changes(&clone, &work), Some(BARE), "its parent is cut off");
        fetch("3");
        assert_eq!(changes(&clone, &work), Some(WORK));
        assert_eq!((changes(&clone, &bare), changes(&origin, &bare)), (None, Some(BARE)));
    }

    #[test]
    fn what_a_run_goes_on_with_is_its_own_then_what_ended_last() {
        let found = |there: &ThreadSessions| -> Result<Vec<String>, &'static str> {
            Ok(numbers(there.candidates()?.into_iter().map(|one| one.kept).collect()))
        };
        let all = |numbers: &[&str]| -> Result<Vec<String>, &'static str> {
            Ok(numbers.iter().map(|one| (*one).to_owned()).collect())
        };
        let two = [(false, WORK), (false, BARE)];
        let there = sessions(LastRun::Kept(kept(1)), &two);
        assert_eq!(found(&there), all(&["1", "0"]));
        let own = sessions(LastRun::Kept(kept(1)), &[(true, BARE), (false, WORK)]);
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
