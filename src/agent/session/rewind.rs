//! Back to a checkpoint: the files of a session's checkout, and with its conversation a session of
//! its own that goes on from there.
//!
//! In: the journal of a session that is not at work, its repository, and a checkpoint's number.
//! Out: the files as they were then, and lines in the journal that say so. What the checkout held
//! before becomes a checkpoint first, so nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use crate::session::earlier::SessionFork;
use crate::session::event::{Event, JournalLine};
use crate::session::held_changes::named;
use crate::session::id::SessionId;
use crate::session::journal::{Journal, JournalError};
use crate::session::messages::PersonMessage;
use crate::session::recorded::TouchedPath;
use crate::session::state::SessionState;
use locum_base::path::RepoPath;
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// How the folder of a session begins that is being made inside another's.
const BRANCH_FOLDER: &str = "branch-";

/// A checkpoint of a run's own checkout.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Its number, counted from 1.
    pub number: usize,
    /// When it was made.
    pub at: Timestamp,
    /// The commit that holds it.
    pub commit: CommitId,
    /// The paths touched since the checkpoint before.
    pub touched: Vec<TouchedPath>,
    /// Where its line is in the journal.
    line: usize,
}

/// Why there is no way back.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    /// The session made no such checkpoint.
    #[error("the session has no checkpoint {number}: it made {made}")]
    Unknown {
        /// What was asked for.
        number: usize,
        /// How many there are.
        made: usize,
    },
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The commit is gone, or a file cannot be written.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// A file could not be written after others were.
    #[error(
        "{source}; other files are as they were at checkpoint {number} already, and checkpoint \
         {before} holds what all of them were before"
    )]
    Partly {
        /// Why not all of them are.
        source: RepoError,
        /// What was asked for.
        number: usize,
        /// The checkpoint that undoes it; 0 is where the run started.
        before: usize,
    },
}

/// A way back that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewound {
    /// The checkpoint that holds what the checkout was before; `None` where the last one did.
    pub before: Option<usize>,
    /// The paths that were looked at.
    pub paths: BTreeSet<RepoPath>,
    /// Those that are what git has of them, a pointer of Git LFS for one, and not their content.
    pub unfiltered: BTreeSet<RepoPath>,
}

/// Lists the checkpoints of a session's own checkout, oldest first. One that changed nothing is
/// none.
pub fn checkpoints(lines: &[JournalLine]) -> Vec<Checkpoint> {
    let mut found: Vec<Checkpoint> = Vec::new();
    for (line, JournalLine { at, event }) in lines.iter().enumerate() {
        let Event::Checkpointed { tree: None, commit, touched, uncommitted } = event else {
            continue;
        };
        if found.last().is_some_and(|last| last.commit == *commit) {
            continue;
        }
        found.push(Checkpoint {
            number: found.len() + 1,
            at: *at,
            commit: commit.clone(),
            touched: touched.iter().cloned().chain(uncommitted.iter().map(untouched)).collect(),
            line,
        });
    }
    found
}

/// Finds a checkpoint by its number.
///
/// # Errors
/// When the session has no such one.
pub fn checkpoint(lines: &[JournalLine], number: usize) -> Result<Checkpoint, RewindError> {
    let mut all = checkpoints(lines);
    let made = all.len();
    match number.checked_sub(1).filter(|at| *at < made) {
        Some(at) => Ok(all.swap_remove(at)),
        None => Err(RewindError::Unknown { number, made }),
    }
}

/// Brings the files of a session's checkout back to a checkpoint, or by 0 to where the run started,
/// and records that as one.
///
/// # Errors
/// When there is no such checkpoint, the session is at work, or git or a file fails. What the
/// checkout held is a checkpoint by then, and what became of a part of the files is another.
pub fn restore(
    folder: &Path,
    repo: &Repo,
    number: usize,
    by: &str,
    now: Timestamp,
) -> Result<Rewound, RewindError> {
    let mut journal = Journal::resume(folder)?;
    let state = SessionState::of(journal.past());
    let Some(start) = &state.start else {
        return Err(RewindError::Unknown { number, made: 0 });
    };
    let target = match number {
        0 => start.base.clone(),
        _ => checkpoint(journal.past(), number)?.commit,
    };
    let changed = state.tree(None);
    let paths = changed.touched.keys().chain(&changed.unsaved);
    // A session may have been killed before it noted what a command changed of these.
    let paths: BTreeSet<RepoPath> = paths.chain(changed.uncommitted.keys()).cloned().collect();
    // What a command changed first after that had somebody's work in it then.
    let mut later = BTreeMap::<String, BTreeSet<RepoPath>>::new();
    for (path, kept) in changed.uncommitted.iter().filter(|(_, kept)| kept.number > number) {
        later.entry(kept.commit.0.clone()).or_default().insert(path.clone());
    }
    let made = checkpoints(journal.past()).len();
    let mut save = |label: &str| -> Result<bool, RewindError> {
        let commit = repo.checkpoint(start.id.as_str(), &start.base, &paths, label)?;
        let last = checkpoints(journal.past()).pop();
        if last.is_some_and(|last| last.commit == commit) {
            return Ok(false);
        }
        let touched = touched(repo, &start.base, &paths)?;
        let uncommitted = BTreeSet::new();
        let event = Event::Checkpointed { tree: None, commit, touched, uncommitted };
        journal.append(&JournalLine { at: now, event })?;
        Ok(true)
    };
    let before = save(&format!("before going back to checkpoint {number}"))?;
    let held = made + usize::from(before);
    let restored = restore_each(repo, &target, &paths, &later);
    let saved = save(&format!("back to checkpoint {number}"));
    let (what, restored) = match (restored, saved) {
        (Ok(unfiltered), saved) => {
            saved?;
            ("the files", Ok(unfiltered))
        }
        // Nothing has changed.
        (Err(error), Ok(false)) => return Err(error.into()),
        (Err(error), _) => ("some files, but not all,", Err(error)),
    };
    let text = format!(
        "I brought {what} of the checkout back to checkpoint {number}. Read a file again before \
         you edit it."
    );
    let id = format!("{:020}-rewind", now.as_nanosecond());
    let message = PersonMessage { id, by: by.to_owned(), text, images: Vec::new() };
    journal.append(&JournalLine { at: now, event: Event::MessageReceived { message } })?;
    match restored {
        Err(source) => Err(RewindError::Partly { source, number, before: held }),
        Ok(unfiltered) => Ok(Rewound { before: before.then_some(held), paths, unfiltered }),
    }
}

/// Restores files from a commit, and those of `exceptions` from commits of their own.
fn restore_each(
    repo: &Repo,
    target: &CommitId,
    paths: &BTreeSet<RepoPath>,
    exceptions: &BTreeMap<String, BTreeSet<RepoPath>>,
) -> Result<BTreeSet<RepoPath>, RepoError> {
    let mut rest = paths.clone();
    rest.retain(|path| !exceptions.values().any(|files| files.contains(path)));
    let mut unfiltered = repo.restore(target, &rest)?;
    for (commit, files) in exceptions {
        unfiltered.extend(repo.restore(&CommitId(commit.clone()), files)?);
    }
    Ok(unfiltered)
}

/// Says of which files the checkout has only what git keeps, since a command wrote over the rest.
pub fn without_content(paths: &BTreeSet<RepoPath>) -> String {
    format!(
        "Only what git keeps is in the checkout now, in place of the content, which a filter such \
         as Git LFS makes and no filter is run: {}. `git lfs pull`, or for another filter `git \
         checkout -- FILE`, brings the content.",
        named(paths)
    )
}

/// Returns the lines of a session until a checkpoint.
///
/// # Errors
/// When there is no such checkpoint.
pub fn until(lines: &[JournalLine], number: usize) -> Result<Vec<JournalLine>, RewindError> {
    let target = checkpoint(lines, number)?;
    Ok(lines.iter().take(target.line + 1).cloned().collect())
}

/// Makes a session that goes on from a checkpoint of another: it has the conversation until then,
/// and nothing that came later. The other stays as it is. It is made inside the other's folder, and
/// a session only once it is whole.
///
/// # Errors
/// When there is no such checkpoint, or the new session cannot be written.
pub fn branch(
    folder: &Path,
    repo: &Repo,
    number: usize,
    (id, into): (&SessionId, &Path),
    now: Timestamp,
) -> Result<(), RewindError> {
    let past = Journal::read(folder)?;
    let target = checkpoint(&past, number)?;
    let past = until(&past, number)?;
    let lines = past.len();
    let unfinished = folder.join(format!("{BRANCH_FOLDER}{id}"));
    Journal::copy_blobs(folder, &unfinished)?;
    repo.begin_checkpoints(id.as_str(), &target.commit)?;
    let mut journal = Journal::create(&unfinished)?;
    for mut line in past {
        match &mut line.event {
            Event::Started(start) => {
                let session = std::mem::replace(&mut start.id, id.clone());
                let fork = SessionFork { session, checkpoint: number, lines, at: now };
                start.fork = Some(Box::new(fork));
            }
            // What is to be kept for later runs is the other session's to keep.
            Event::Answered { observation, .. } => observation.memory = None,
            _ => {}
        }
        journal.append(&line)?;
    }
    Ok(journal.move_to(into)?)
}

fn untouched(path: &RepoPath) -> TouchedPath {
    TouchedPath { path: path.clone(), diff_lines: None, amount: None }
}

/// Returns what was touched, with its lines changed since the run's base.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn touched(
    repo: &Repo,
    base: &CommitId,
    paths: &BTreeSet<RepoPath>,
) -> Result<Vec<TouchedPath>, RepoError> {
    let changes = repo.changes(base, paths)?;
    let amounts: BTreeMap<&RepoPath, (u32, u32)> =
        changes.iter().map(|change| (&change.path, (change.added, change.removed))).collect();
    let touched = paths.iter().map(|path| {
        let amount = amounts.get(path).copied();
        let diff_lines = amount.map(|(added, removed)| added.saturating_add(removed));
        TouchedPath { path: path.clone(), diff_lines, amount }
    });
    Ok(touched.collect())
}
