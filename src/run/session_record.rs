//! `SessionRecord`: a session as its journal tells it. Lists, sums of costs and removal start from
//! it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use crate::run::error::RunError;
use locum_agent::session::event::JournalLine;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::state::SessionState;
use locum_policy::rule::trigger_word;
use locum_workspace::worktree::files_of;

/// Folder of the worktrees of runs, beside that of their sessions.
pub const WORKTREES_FOLDER: &str = "worktrees";

/// The word for a session at work.
pub const RUNNING: &str = "running";
/// The word for a session that was killed.
pub const UNFINISHED: &str = "unfinished";
/// The word for a session whose journal cannot be read.
pub const UNREADABLE: &str = "unreadable";

/// The word for a session of another agent, or of another machine.
pub const IMPORTED: &str = "imported";

/// Returns the names of every session, the oldest first: they sort by time.
///
/// # Errors
/// When the folder cannot be read.
pub fn names(sessions: &Path) -> Result<Vec<String>, RunError> {
    let entries = match std::fs::read_dir(sessions) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries
            .map_err(|error| RunError::usage(sessions.display().to_string(), error.to_string()))?,
    };
    let named = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        // One that is being removed has another name.
        let id = SessionId::parse(&name)?;
        let is_session = match entry.path().join(JOURNAL_FILE).metadata() {
            Ok(journal) => journal.is_file(),
            // One of another user cannot be entered, and is there all the same.
            Err(error) => {
                error.kind() == std::io::ErrorKind::PermissionDenied && id.made_at_s().is_some()
            }
        };
        is_session.then_some(name)
    };
    let mut names: Vec<String> = entries.flatten().filter_map(named).collect();
    names.sort_unstable();
    Ok(names)
}

/// Returns the outcome's word of a session, or why it has none; `state` is `None` where the journal
/// cannot be read.
pub fn word_of(folder: &Path, state: Option<&SessionState>) -> &'static str {
    let Some(state) = state else { return UNREADABLE };
    if state.start.as_ref().is_some_and(|start| start.is_imported()) {
        return IMPORTED;
    }
    if Journal::is_held(folder) {
        return RUNNING;
    }
    state.outcome.as_ref().map_or(UNFINISHED, |outcome| outcome.word.as_str())
}

/// Where a session ran and who asked for it, as what started it keeps that in the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct SessionCaller {
    /// Root of the checkout of a run at the command line, or of its worktree.
    folder: Option<String>,
    /// Root of the checkout that this is a worktree of.
    stands_for: Option<String>,
    /// The repository of a run of the Action, `owner/name`.
    repository: Option<String>,
    /// Login of who asked.
    requested_by: Option<String>,
}

impl SessionCaller {
    fn of(state: &SessionState) -> Self {
        let caller = state.start.as_ref().map(|start| Self::deserialize(&start.caller));
        caller.and_then(Result::ok).unwrap_or_default()
    }
}

/// A session as its journal tells it.
pub struct SessionRecord {
    /// Name of the session.
    pub name: String,
    /// The folder it lies in.
    pub folder: PathBuf,
    /// Its journal; `None` where that cannot be read.
    pub journal: Option<(Vec<JournalLine>, SessionState)>,
    caller: SessionCaller,
}

impl SessionRecord {
    /// Reads a session.
    pub fn read(sessions: &Path, name: &str) -> Self {
        let folder = sessions.join(name);
        let journal = Journal::read(&folder).ok().map(|lines| {
            let state = SessionState::of(&lines);
            (lines, state)
        });
        let caller = journal.as_ref().map(|(_, state)| SessionCaller::of(state));
        Self { name: name.to_owned(), folder, journal, caller: caller.unwrap_or_default() }
    }

    /// Reads every session, the oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn all(sessions: &Path) -> Result<impl DoubleEndedIterator<Item = Self>, RunError> {
        let names = names(sessions)?;
        Ok(names.into_iter().map(move |name| Self::read(sessions, &name)))
    }

    /// Returns what its events lead to; `None` where it has none.
    pub fn state(&self) -> Option<&SessionState> {
        self.journal.as_ref().map(|(_, state)| state).filter(|state| state.start.is_some())
    }

    /// Returns its lines.
    pub fn lines(&self) -> &[JournalLine] {
        self.journal.as_ref().map_or(&[], |(lines, _)| lines)
    }

    /// Returns the outcome's word, or why it has none.
    pub fn word(&self) -> &'static str {
        word_of(&self.folder, self.journal.as_ref().map(|(_, state)| state))
    }

    /// Returns true for one that was imported to be read.
    pub fn is_imported(&self) -> bool {
        let start = self.state().and_then(|state| state.start.as_ref());
        start.is_some_and(|start| start.is_imported())
    }

    /// Returns when it began, or was made of another.
    pub fn started(&self) -> Option<Timestamp> {
        let fork = self.state().and_then(|state| state.start.as_ref()?.fork.as_ref());
        fork.map(|fork| fork.at).or_else(|| self.lines().first().map(|line| line.at))
    }

    /// Returns the checkout of a run at the command line, for one in a worktree that it is a
    /// worktree of; for a run of the Action, the repository (`owner/name`).
    pub fn repository(&self) -> Option<&str> {
        self.root().or(self.caller.repository.as_deref())
    }

    /// Returns true where this is in the path or name of its repository, in any case of letters.
    pub fn is_of_repository(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        self.repository().is_some_and(|name| name.to_lowercase().contains(&part))
    }

    /// Returns the checkout that a run at the command line worked in or took its worktree from. An
    /// imported session has none: what its file says of this machine is not to be acted on.
    pub fn checkout(&self) -> Option<&Path> {
        self.root().filter(|_| !self.is_imported()).map(Path::new)
    }

    /// Returns the root of the checkout that a run at the command line is about.
    fn root(&self) -> Option<&str> {
        self.caller.stands_for.as_deref().or(self.caller.folder.as_deref())
    }

    /// Returns what was made for the worktree of the run alone, its files and what git keeps beside
    /// them, where such folders are made; `None` once it is gone. Its name says whose it is, not
    /// the path in the journal: the folder of state may have been moved.
    pub fn worktree(&self) -> Option<PathBuf> {
        let made = self.folder.parent()?.parent()?.join(WORKTREES_FOLDER).join(&self.name);
        (!self.is_imported() && files_of(&made).is_dir()).then_some(made)
    }

    /// Returns who asked: a login, or how it was started (`local`, `schedule`).
    pub fn actor(&self) -> String {
        let login = self.caller.requested_by.clone();
        let trigger = || self.state()?.start.as_ref().map(|start| start.facts.trigger);
        login.or_else(|| trigger().map(|kind| trigger_word(kind).to_owned())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locum_agent::session::event::Event;

    #[test]
    fn what_is_being_removed_is_no_session() {
        let sessions = tempfile::tempdir().unwrap();
        for name in [".removed-one", "two"] {
            drop(Journal::create(&sessions.path().join(name)).unwrap());
        }
        assert_eq!(names(sessions.path()), Ok(vec!["two".to_owned()]));
    }

    #[test]
    fn a_session_at_work_is_told_from_one_that_was_killed() {
        let sessions = tempfile::tempdir().unwrap();
        let word = || SessionRecord::read(sessions.path(), "one").word();
        let mut journal = Journal::create(&sessions.path().join("one")).unwrap();
        let at = Timestamp::from_second(1_700_000_000).unwrap();
        journal.append(&JournalLine { at, event: Event::Resumed { outside_text: false } }).unwrap();
        assert_eq!(word(), RUNNING);
        drop(journal);
        assert_eq!(word(), UNFINISHED);
    }
}
