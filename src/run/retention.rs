//! Which sessions are over and old, and their removal: the folder of each with its journal, the
//! worktree that was made for it, and what git keeps of it.
//!
//! In: the folder of sessions and an age. Out: sessions removed, and why others stay. A session at
//! work is never removed; one that could go on only when that is asked for.

#![expect(clippy::disallowed_methods, reason = "sessions lie in the state directory")]

use std::path::Path;

use jiff::Timestamp;

use crate::run::error::RunError;
use crate::run::session_record::{SessionRecord, names};
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::Journal;
use locum_workspace::repo::{Repo, RepoError};

/// How the folder of a session begins while it is removed.
const GOING: &str = ".removed-";

/// Why a session stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// A process works on it.
    AtWork,
    /// It was killed and could go on, or waits for a person.
    CouldGoOn,
    /// A person, the time or the budget stopped it, and it could go on.
    Stopped,
    /// Its own worktree is still there, with what it changed.
    HasWorktree,
    /// Its journal cannot be read.
    Unreadable,
    /// Its folder may not be opened, as one of another user.
    Closed,
}

impl Stays {
    /// Says it in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AtWork => "at work",
            Self::CouldGoOn | Self::Stopped => "could go on",
            Self::HasWorktree => "its worktree holds its changes",
            Self::Unreadable => "its journal cannot be read",
            Self::Closed => "its folder cannot be opened",
        }
    }

    /// Returns true where a person may have it removed nevertheless.
    pub fn can_be_forced(self) -> bool {
        !matches!(self, Self::AtWork | Self::Closed)
    }
}

impl serde::Serialize for Stays {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A session that was removed, or would be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RemovedSession {
    /// Name of the session.
    pub session: String,
    /// Bytes of its folder.
    pub bytes: u64,
    /// Refs that git kept of it in its checkout; 0 where that is gone.
    pub refs: usize,
}

/// Returns why a session stays; `None` for one that is over.
pub fn stays(record: &SessionRecord) -> Option<Stays> {
    let denied = |error: &std::io::Error| error.kind() == std::io::ErrorKind::PermissionDenied;
    if std::fs::read_dir(&record.folder).as_ref().is_err_and(denied) {
        return Some(Stays::Closed);
    }
    if Journal::is_held(&record.folder) {
        return Some(Stays::AtWork);
    }
    if record.journal.is_none() {
        return Some(Stays::Unreadable);
    }
    if record.is_imported() {
        return None;
    }
    let outcome = record.state().and_then(|state| state.outcome.as_ref());
    if outcome.is_none_or(|outcome| outcome.may_go_on()) {
        return Some(Stays::CouldGoOn);
    }
    let has_worktree = record.worktree().map(|_| Stays::HasWorktree);
    let can_be_resumed = outcome.is_some_and(|outcome| outcome.can_be_resumed());
    has_worktree.or_else(|| can_be_resumed.then_some(Stays::Stopped))
}

/// Returns when a session last did something, which for an imported one is its import; `None` for
/// one whose journal says nothing.
pub fn last_at(record: &SessionRecord) -> Option<Timestamp> {
    let last = record.lines().last()?.at;
    Some(made_at(&record.name).map_or(last, |made| made.max(last)))
}

/// Returns when a session was made, as its name says.
fn made_at(name: &str) -> Option<Timestamp> {
    let seconds = SessionId::parse(name)?.made_at_s()?;
    Timestamp::from_second(seconds).ok()
}

/// Removes a session; with `dry_run` only says what that would remove.
///
/// # Errors
/// When its folder or its refs cannot be removed.
pub fn remove(record: &SessionRecord, dry_run: bool) -> Result<RemovedSession, RunError> {
    let failed = |error: &dyn std::fmt::Display| {
        RunError::internal(format!("{}: {error}", record.folder.display()))
    };
    let mut refs = 0;
    // A worktree has the refs of the checkout that it was taken from.
    if let Some(repo) = record.checkout().and_then(|folder| Repo::open(folder).ok()) {
        let name = record.name.as_str();
        refs = if dry_run {
            repo.refs_of_sessions().ok().and_then(|all| all.get(name).copied()).unwrap_or(0)
        } else {
            repo.forget_session(name).map_err(|error| failed(&error))?
        };
    }
    let bytes = size_bytes(&record.folder);
    if !dry_run {
        // Only its journal says which worktree it had: that goes before it.
        if let Some(worktree) = record.worktree() {
            locum_sandbox::remove_all(&worktree).map_err(|error| failed(&error))?;
        }
        // Half of a session is none: it goes in one step, and its bytes after that.
        let going = record.folder.with_file_name(format!("{GOING}{}", record.name));
        let moved = std::fs::rename(&record.folder, &going);
        let removed = moved.and_then(|()| locum_sandbox::remove_all(&going));
        // What another process removes at the same time is gone as well.
        if let Err(error) = removed
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(failed(&error));
        }
    }
    Ok(RemovedSession { session: record.name.clone(), bytes, refs })
}

/// Removes the refs that a checkout has of sessions whose folder is gone and that began before a
/// time. Returns their names, with how many refs each had.
///
/// # Errors
/// When git cannot list or remove them.
pub fn forget_gone(
    repo: &Repo,
    sessions: &Path,
    (before, dry_run): (Timestamp, bool),
) -> Result<Vec<RemovedSession>, RepoError> {
    let is_old = |name: &String| made_at(name).is_some_and(|made| made < before);
    let mut forgotten = Vec::new();
    let found = repo.refs_of_sessions()?.into_iter();
    let is_gone = |name: &String| is_old(name) && !sessions.join(name).exists();
    for (session, refs) in found.filter(|(name, _)| is_gone(name)) {
        if !dry_run {
            repo.forget_session(&session)?;
        }
        forgotten.push(RemovedSession { session, bytes: 0, refs });
    }
    Ok(forgotten)
}

/// Removes what is left of sessions whose removal was cut off.
pub fn finish_removals(sessions: &Path) {
    let entries = std::fs::read_dir(sessions).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(GOING)) {
        // It is tried again at the next occasion.
        let _ = locum_sandbox::remove_all(&entry.path());
    }
}

/// Removes the sessions that are over and last did something before a time, as the setting
/// `session_retention_days` wants it; what cannot be removed stays. Those that were stopped go with
/// them: nobody resumed them for so long, and the folder would grow without end. Returns how many
/// went.
pub fn retain(sessions: &Path, since: Timestamp) -> usize {
    finish_removals(sessions);
    // A name tells when its session began: later ones need no look at their journals.
    let begun_before = |name: &String| made_at(name).is_none_or(|made| made < since);
    let names = names(sessions).unwrap_or_default();
    let old = names.iter().filter(|name| begun_before(name)).filter(|name| {
        let record = SessionRecord::read(sessions, name);
        last_at(&record).is_some_and(|at| at < since)
            && stays(&record).is_none_or(|why| why == Stays::Stopped)
            && remove(&record, false).is_ok()
    });
    old.count()
}

/// Returns the bytes of every file in a folder, however deep.
pub fn size_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size_bytes(&entry.path()),
        Ok(_) => entry.metadata().map_or(0, |metadata| metadata.len()),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
