//! `MemoryRef`: the memory across runs on its ref, in this repository or at the remote of a job,
//! changed by one run at a time.
//!
//! In: a change of the record. Out: the record as it is then; a change is made again on what
//! another run wrote meanwhile. Each change is a commit on top of the last, so that the ref's
//! history says who wrote what.

use std::time::Duration;

use crate::run::error::RunError;
use crate::run::kept_file::{KeptAt, KeptFile};
use crate::run::memory::record::MemoryRecord;
use locum_base::clock::Clock;
use locum_base::path::RepoPath;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_workspace::carried::MEMORY_REF;
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// The record's name in the commits of the ref.
const RECORD_FILE: &str = "memory.json";
/// Largest record that is read: the entries and what is known of them.
const LIMIT_BYTES: u64 = 1024 * 1024;
/// How often a change is tried while others are quicker.
const TRIES: u32 = 20;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_millis(250);
/// What happens once an unusable record is removed.
const ONCE_DELETED: &str = "what it held is forgotten then";

/// The act of keeping an entry, or removing it.
pub struct KeepEntry(pub String);

impl Act for KeepEntry {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::MemoryWrite(self.0.clone())]
    }
}

/// Where the memory is kept.
#[derive(Clone, Copy)]
pub enum MemoryRef<'a> {
    /// In this repository.
    Local(&'a Repo),
    /// At a remote, from which it is fetched and to which it is pushed.
    Remote(KeptAt<'a>),
}

impl MemoryRef<'_> {
    /// Reads the record; an empty one where there is none.
    ///
    /// # Errors
    /// When the ref cannot be read, or holds something else.
    pub async fn load(&self) -> Result<MemoryRecord, RunError> {
        Ok(self.look().await?.1)
    }

    /// Changes the record, under a permit to write the entry.
    ///
    /// # Errors
    /// Why the change cannot be made, or the ref not written.
    pub async fn change(
        &self,
        permit: &Permit<KeepEntry>,
        clock: &dyn Clock,
        message: &str,
        change: impl Fn(&mut MemoryRecord) -> Result<(), String>,
    ) -> Result<(), RunError> {
        match self {
            Self::Local(repo) => change_local(repo, clock, message, change).await,
            Self::Remote(at) => {
                let pushed = async |tip: Option<&CommitId>, commit: &CommitId| match at
                    .git
                    .push_memory(permit, at.remote, (tip, commit))
                    .await
                {
                    Ok(()) => Ok(true),
                    Err(RepoError::PushRefused(why)) if self.tip().await?.as_ref() == tip => {
                        Err(RunError::usage("github-token", why)
                            .hint("give the job `permissions: { contents: write }`"))
                    }
                    Err(RepoError::PushRefused(_)) => Ok(false),
                    Err(error) => Err(RunError::internal(error)),
                };
                self.change_by(at.repo, (clock, message), change, pushed).await
            }
        }
    }

    /// Changes the record on what is there, again as often as somebody else was quicker; `moved`
    /// moves the ref, or returns false where it is elsewhere by now.
    async fn change_by(
        &self,
        repo: &Repo,
        (clock, message): (&dyn Clock, &str),
        change: impl Fn(&mut MemoryRecord) -> Result<(), String>,
        moved: impl AsyncFn(Option<&CommitId>, &CommitId) -> Result<bool, RunError>,
    ) -> Result<(), RunError> {
        for _ in 0..TRIES {
            let (tip, record) = self.look().await?;
            let Some(commit) = commit_of(repo, (tip.as_ref(), record), message, &change)? else {
                return Ok(());
            };
            if moved(tip.as_ref(), &commit).await? {
                return Ok(());
            }
            clock.sleep(PAUSE).await;
        }
        Err(RunError::internal(format!("`{MEMORY_REF}`: others changed it {TRIES} times")))
    }

    async fn look(&self) -> Result<(Option<CommitId>, MemoryRecord), RunError> {
        match self {
            Self::Local(repo) => look_local(repo),
            Self::Remote(at) => match file(*at).look().await? {
                Some((tip, text)) => Ok((Some(tip), parse(&text)?)),
                None => Ok((None, MemoryRecord::default())),
            },
        }
    }

    async fn tip(&self) -> Result<Option<CommitId>, RunError> {
        match self {
            Self::Local(repo) => repo.memory_tip().map_err(RunError::internal),
            Self::Remote(at) => file(*at).tip().await,
        }
    }
}

/// Changes the record in this repository, as a person does by hand: that takes no permit.
///
/// # Errors
/// As [`MemoryRef::change`].
pub async fn change_local(
    repo: &Repo,
    clock: &dyn Clock,
    message: &str,
    change: impl Fn(&mut MemoryRecord) -> Result<(), String>,
) -> Result<(), RunError> {
    let moved = async |tip: Option<&CommitId>, commit: &CommitId| {
        repo.move_memory(tip, commit).map_err(RunError::internal)
    };
    MemoryRef::Local(repo).change_by(repo, (clock, message), change, moved).await
}

/// Makes the commit of a changed record; `None` where nothing changes.
fn commit_of(
    repo: &Repo,
    (tip, before): (Option<&CommitId>, MemoryRecord),
    message: &str,
    change: impl Fn(&mut MemoryRecord) -> Result<(), String>,
) -> Result<Option<CommitId>, RunError> {
    let mut record = before.clone();
    change(&mut record).map_err(|why| RunError::usage("memory", why))?;
    if record == before {
        return Ok(None);
    }
    let text = record.render().map_err(RunError::internal)?;
    let parents: Vec<&CommitId> = tip.into_iter().collect();
    let commit = repo.carry(&[(RECORD_FILE, text.as_bytes())], &parents, message);
    commit.map(Some).map_err(RunError::internal)
}

fn look_local(repo: &Repo) -> Result<(Option<CommitId>, MemoryRecord), RunError> {
    let Some(tip) = repo.memory_tip().map_err(RunError::internal)? else {
        return Ok((None, MemoryRecord::default()));
    };
    let path = RepoPath::parse(RECORD_FILE).map_err(RunError::internal)?;
    let file = repo.file_at(&tip, &path, LIMIT_BYTES);
    let file = file.map_err(|error| unusable(&error.to_string()))?;
    let file = file.ok_or_else(|| unusable("there is no record in it"))?;
    Ok((Some(tip), parse(&file.text)?))
}

fn file(at: KeptAt<'_>) -> KeptFile<'_> {
    KeptFile {
        full_name: MEMORY_REF,
        file: RECORD_FILE,
        limit_bytes: LIMIT_BYTES,
        once_deleted: ONCE_DELETED,
        at,
    }
}

fn parse(text: &str) -> Result<MemoryRecord, RunError> {
    MemoryRecord::parse(text).map_err(|why| unusable(&why))
}

fn unusable(why: &str) -> RunError {
    RunError::usage(MEMORY_REF, format!("it is unusable: {why}"))
        .hint(format!("delete `{MEMORY_REF}`; {ONCE_DELETED}"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use jiff::Timestamp;
    use pretty_assertions::assert_eq;

    use super::{KeepEntry, MemoryRef, RECORD_FILE, change_local};
    use crate::run::kept_file::KeptAt;
    use crate::run::memory::record::MemoryRecord;
    use locum_agent::tools::memory::entry::{EntrySource, MemoryEntry};
    use locum_policy::intent::Facts;
    use locum_policy::{Permit, Policy};
    use locum_testing::clock::TestClock;
    use locum_workspace::git_binary::GitBinary;
    use locum_workspace::remote::Remote;
    use locum_workspace::repo::Repo;
    use locum_workspace::seed;

    fn set(record: &mut MemoryRecord, name: &str, text: &str) -> Result<(), String> {
        let source = EntrySource::Person { by: "ada".to_owned() };
        let entry = MemoryEntry { text: text.to_owned(), source, at: Timestamp::UNIX_EPOCH };
        record.entries.set(name, entry).map_err(|error| error.to_string())
    }

    fn names(record: &MemoryRecord) -> Vec<&str> {
        record.entries.iter().map(|(name, _)| name).collect()
    }

    fn permit(name: &str) -> Permit<KeepEntry> {
        let policy = "version: 1\nrules: [{ allow: 'memory(write/*)' }]\n";
        let policy = Policy::parse(policy, "policy.yml").unwrap();
        policy.admit(KeepEntry(name.to_owned()), &Facts::default()).unwrap()
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work)
    }

    fn repository() -> (tempfile::TempDir, Repo) {
        let folder = tempfile::tempdir().unwrap();
        seed::repository(folder.path(), &[("a", "a\n")], "first").unwrap();
        let repo = Repo::open(folder.path()).unwrap();
        (folder, repo)
    }

    #[test]
    fn a_change_is_made_again_on_what_somebody_else_wrote_meanwhile() {
        let (_folder, repo) = repository();
        let clock = TestClock::default();
        let others = Cell::new(2);
        block_on(change_local(&repo, &clock, "keep mine\n", |record| {
            if others.get() > 0 {
                others.set(others.get() - 1);
                let tip = repo.memory_tip().unwrap();
                let mut theirs = record.clone();
                set(&mut theirs, &format!("theirs-{}", others.get()), "x")?;
                let text = theirs.render()?;
                let parents: Vec<_> = tip.iter().collect();
                let files = [(RECORD_FILE, text.as_bytes())];
                let commit = repo.carry(&files, &parents, "theirs\n").unwrap();
                assert!(repo.move_memory(tip.as_ref(), &commit).unwrap());
            }
            set(record, "mine", "y")
        }))
        .unwrap();
        let record = block_on(MemoryRef::Local(&repo).load()).unwrap();
        assert_eq!(names(&record), ["mine", "theirs-0", "theirs-1"]);
    }

    #[test]
    fn what_changes_nothing_makes_no_commit_and_what_does_not_fit_is_an_error() {
        let (_folder, repo) = repository();
        let clock = TestClock::default();
        let change = |name: &'static str| {
            block_on(change_local(&repo, &clock, "x\n", |record| set(record, name, "x")))
        };
        change("one").unwrap();
        let tip = repo.memory_tip().unwrap();
        change("one").unwrap();
        let error = change("Not A Name").unwrap_err();
        assert!(error.to_string().contains("cannot be the name of a note"), "{error}");
        assert_eq!(repo.memory_tip().unwrap(), tip);
    }

    #[test]
    fn a_ref_that_holds_something_else_is_named_with_the_cure() {
        let (_folder, repo) = repository();
        let commit = repo.carry(&[(RECORD_FILE, b"{".as_slice())], &[], "x\n").unwrap();
        assert!(repo.move_memory(None, &commit).unwrap());
        let error = block_on(MemoryRef::Local(&repo).load()).unwrap_err();
        let report = error.report();
        for said in ["refs/locum/memory", "it is unusable", "hint: delete `refs/locum/memory`"] {
            assert!(report.contains(said), "{said}: {report}");
        }
    }

    #[test]
    fn two_runs_that_write_at_once_are_both_kept_at_the_remote() {
        let (folder, repo) = repository();
        let (_one_folder, one) = repository();
        let (_two_folder, two) = repository();
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let url = folder.path().to_str().unwrap();
        let remote = Remote::parse(url, None).unwrap();
        let [git, one_git, two_git] = [&repo, &one, &two].map(|repo| GitBinary::new(repo, &env));
        let clock = TestClock::default();
        let write = async |git: &GitBinary, repo: &Repo, name: &str| {
            let place = MemoryRef::Remote(KeptAt { git, remote: &remote, repo });
            place.change(&permit(name), &clock, "x\n", |record| set(record, name, "x")).await
        };
        block_on(async {
            let both = futures::join!(write(&one_git, &one, "one"), write(&two_git, &two, "two"));
            both.0.unwrap();
            both.1.unwrap();
            // The same once more makes no commit.
            write(&two_git, &two, "two").await.unwrap();
        });
        let record = block_on(MemoryRef::Local(&repo).load()).unwrap();
        assert_eq!(names(&record), ["one", "two"]);
        let at = KeptAt { git: &git, remote: &remote, repo: &repo };
        assert_eq!(block_on(MemoryRef::Remote(at).load()).unwrap(), record);
    }
}
