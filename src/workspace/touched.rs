//! What a command changed in the checkout: git's view of it before and after, compared.
//!
//! In: two snapshots. Out: the files that are different between them. A file that was dirty before
//! and was left alone is not touched; ignored files count only where they are protected, and names
//! that are no [`RepoPath`] never do. A snapshot costs one `git status`, a walk through git's index
//! and through the folders that git does not ignore, and one look at each dirty file; a program
//! that changes a file and sets its times back is still seen, by the time of its inode.

use std::collections::{BTreeMap, BTreeSet};

use git2::{Delta, DiffOptions, IndexEntryExtendedFlag, IndexEntryFlag};

use crate::file_stamp::FileStamp;
use crate::git_binary::GitBinary;
use crate::guarded::Guarded;
use crate::repo::{CommitId, Repo, RepoError};
use locum_base::path::RepoPath;

/// The checkout as git sees it at one moment: the commit, and every changed or untracked file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    head: Option<CommitId>,
    pub(crate) dirty: BTreeMap<RepoPath, Option<FileStamp>>,
    /// Files that git ignores, and folders with all that is in them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) ignored: BTreeSet<RepoPath>,
    /// What git does not show and no command may change; `None` where nobody looked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) guarded: Option<Guarded>,
}

impl Repo {
    /// Looks at the checkout; before the first command that may write, and after each.
    ///
    /// # Errors
    /// When `git status` fails.
    pub async fn snapshot(&self, git: &GitBinary) -> Result<Snapshot, RepoError> {
        let status = git.status().await?;
        let mut snapshot = parse_status(&status);
        self.look_further(&mut snapshot, &repositories_in(&status));
        self.keep_guarded(&mut snapshot);
        let unwatched = self.unwatched_changes(snapshot.head.as_ref());
        snapshot.dirty.extend(unwatched.into_iter().map(|path| (path, None)));
        for (path, stamp) in &mut snapshot.dirty {
            // A path behind a link that is new is not there any more as git knows it.
            *stamp =
                self.checkout.beneath.stat(path).ok().flatten().map(|stat| FileStamp::of(&stat));
        }
        Ok(snapshot)
    }

    /// Returns the files that are different in two snapshots; also those that differ between their
    /// commits.
    ///
    /// # Errors
    /// When a commit cannot be read.
    pub fn touched(
        &self,
        before: &Snapshot,
        after: &Snapshot,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let mut touched = before.difference(after);
        if let (Some(old), Some(new)) = (&before.head, &after.head)
            && old != new
        {
            touched.extend(self.paths_between(old, new)?);
        }
        touched.extend(self.planted(before, after, &touched));
        touched.extend(self.guarded_difference(before, after));
        Ok(touched)
    }

    /// Returns the changed files among those marked `assume-unchanged` or `skip-worktree`, which
    /// `git status` leaves out. None where the index has a form that only git itself reads.
    fn unwatched_changes(&self, head: Option<&CommitId>) -> Vec<RepoPath> {
        let Ok(mut index) = self.git.index() else { return Vec::new() };
        if index.read(false).is_err() {
            return Vec::new();
        }
        let unwatched = index.iter().filter_map(|entry| {
            let extended = IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended);
            let is_left_out = extended.is_skip_worktree();
            let is_unwatched =
                is_left_out || IndexEntryFlag::from_bits_truncate(entry.flags).is_valid();
            let path = repo_path(&entry.path).filter(|_| is_unwatched)?;
            let is_there = || self.checkout.entry(&path).is_ok_and(|entry| entry.is_some());
            (!is_left_out || is_there()).then_some(path)
        });
        let is_changed = |path: &RepoPath| {
            head.is_none_or(|head| {
                let changes = self.changes(head, &BTreeSet::from([path.clone()]));
                !changes.is_ok_and(|changes| changes.is_empty())
            })
        };
        unwatched.filter(is_changed).collect()
    }

    fn paths_between(
        &self,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<BTreeSet<RepoPath>, RepoError> {
        let mut options = DiffOptions::new();
        options.ignore_submodules(true);
        let diff = self.git.diff_tree_to_tree(
            Some(&self.tree_of(old)?),
            Some(&self.tree_of(new)?),
            Some(&mut options),
        )?;
        let changed = diff.deltas().filter(|delta| delta.status() != Delta::Unmodified);
        let files = changed
            .flat_map(|delta| [delta.old_file().path_bytes(), delta.new_file().path_bytes()]);
        Ok(files.flatten().filter_map(repo_path).collect())
    }
}

impl Snapshot {
    /// Returns the files that had changes that are in no commit.
    pub fn dirty(&self) -> impl Iterator<Item = &RepoPath> {
        self.dirty.keys()
    }

    /// Returns true when a path held what is in no commit: changes, or what git does not keep.
    pub fn is_dirty(&self, path: &RepoPath) -> bool {
        let is_guarded = || self.guarded.as_ref().is_some_and(|guarded| guarded.holds(path));
        self.dirty.contains_key(path) || is_guarded()
    }

    /// Returns true when a path can be put back to what it held, although that is in no commit.
    pub fn keeps(&self, path: &RepoPath) -> bool {
        self.guarded.as_ref().is_some_and(|guarded| guarded.keeps(path))
    }

    /// Returns what is ignored and was not in a snapshot before.
    pub(crate) fn newly_ignored(&self, before: &Self) -> impl Iterator<Item = &RepoPath> {
        self.ignored.iter().filter(|path| !before.is_dirty(path) && !before.ignores(path))
    }

    /// Returns the files whose state differs: dirty in one only, or dirty in both and not the same.
    fn difference(&self, after: &Self) -> BTreeSet<RepoPath> {
        let differs = |path: &&RepoPath| {
            self.dirty.get(*path) != after.dirty.get(*path) && !self.ignores(path)
        };
        self.dirty.keys().chain(after.dirty.keys()).filter(differs).cloned().collect()
    }

    fn ignores(&self, path: &RepoPath) -> bool {
        !self.dirty.contains_key(path)
            && std::iter::successors(Some(path.clone()), |path| Some(path.parent()))
                .take_while(|path| !path.is_root())
                .any(|path| self.ignored.contains(&path))
    }
}

/// Reads the second porcelain format of `git status -z`; the stamps are left empty.
fn parse_status(status: &[u8]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for entry in status.split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(entry);
        if let Some(head) = text.strip_prefix("# branch.oid ") {
            snapshot.head = (head != "(initial)").then(|| CommitId(head.to_owned()));
        }
        // The path comes last, after as many fields as the kind of entry has.
        let fields = match entry.first() {
            Some(b'1') => 8,
            Some(b'u') => 10,
            Some(b'?' | b'!') => 1,
            _ => continue,
        };
        let path = entry.splitn(fields + 1, |byte| *byte == b' ').nth(fields);
        let Some(path) = path else { continue };
        if entry.starts_with(b"!") {
            snapshot.ignored.extend(repo_path(path.strip_suffix(b"/").unwrap_or(path)));
        } else if let Some(path) = repo_path(path).filter(|_| !path.ends_with(b"/")) {
            snapshot.dirty.insert(path, None);
        }
    }
    snapshot
}

/// Reads which untracked folders git takes for repositories of their own: it lists no file of them.
fn repositories_in(status: &[u8]) -> BTreeSet<RepoPath> {
    let entries = status.split(|byte| *byte == 0);
    entries.filter_map(|entry| repo_path(entry.strip_prefix(b"? ")?.strip_suffix(b"/")?)).collect()
}

fn repo_path(bytes: &[u8]) -> Option<RepoPath> {
    RepoPath::parse(std::str::from_utf8(bytes).ok()?).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make the files they look at")]
#[expect(clippy::disallowed_types, reason = "a test has git write an index")]
mod tests {
    use std::collections::BTreeMap;

    use pretty_assertions::assert_eq;

    use super::{Snapshot, parse_status, repositories_in};
    use crate::fixture::{RepoFixture, path};
    use crate::git_binary::GitBinary;
    use crate::repo::CommitId;
    use locum_base::path::RepoPath;

    fn env() -> BTreeMap<String, String> {
        BTreeMap::from([("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())])
    }

    async fn touched_by(fixture: &RepoFixture, act: impl FnOnce(&RepoFixture)) -> Vec<String> {
        let git = GitBinary::new(&fixture.repo, &env());
        let before = fixture.repo.snapshot(&git).await.unwrap();
        act(fixture);
        let after = fixture.repo.snapshot(&git).await.unwrap();
        fixture.repo.touched(&before, &after).unwrap().iter().map(ToString::to_string).collect()
    }

    #[tokio::test]
    async fn sees_every_kind_of_change_and_no_other() {
        let fixture = RepoFixture::new();
        fixture.write("dirty", "mine");
        fixture.write("run.sh", "mine too");
        assert_eq!(touched_by(&fixture, |_| {}).await, Vec::<String>::new());
        let touched = touched_by(&fixture, |fixture| {
            fixture.write("src/lib.rs", "changed");
            fixture.write("new folder/a b", "new");
            fixture.write("ignored/build", "never counts");
            fixture.remove("latin");
            fixture.remove("link");
            fixture.link("latin", "link");
            std::fs::rename(fixture.root.join("old/only"), fixture.root.join("moved")).unwrap();
        });
        assert_eq!(
            touched.await,
            ["latin", "link", "moved", "new folder/a b", "old/only", "src/lib.rs"]
        );
    }

    #[tokio::test]
    async fn what_was_ignored_does_not_count_when_it_is_ignored_no_longer() {
        let fixture = RepoFixture::new();
        for file in ["ignored/build", "mine.log"] {
            fixture.write(file, "not the command's");
        }
        fixture.write(".gitignore", "ignored/\n*.log\n");
        let touched = touched_by(&fixture, |fixture| {
            fixture.write(".gitignore", "");
            fixture.write("new.log", "");
        });
        assert_eq!(touched.await, [".gitignore", "new.log"]);
    }

    #[tokio::test]
    async fn sees_new_and_changed_protected_files_though_git_ignores_them() {
        let fixture = RepoFixture::new();
        let ignored = "ignored/\nCLAUDE.local.md\n.vscode/\n.envrc\nbuilt/\n.venv/\n";
        fixture.write(".gitignore", ignored);
        fixture.write("ignored/AGENTS.md", "build output");
        fixture.write(".venv/bin/python", "a tool's");
        for file in ["old/CLAUDE.local.md", "old/.vscode/tasks.json", "CLAUDE.local.md", ".envrc"] {
            fixture.write(file, "a person's");
        }
        let touched = touched_by(&fixture, |fixture| {
            fixture.write("old/CLAUDE.local.md", "planted");
            fixture.write("old/.vscode/launch.json", "planted");
            fixture.remove("old/.vscode/tasks.json");
            fixture.write("CLAUDE.local.md", "a person's");
            fixture.write(".venv/bin/python", "a tool's, changed");
            fixture.write("ignored/AGENTS.md", "build output, changed");
            fixture.write("ignored/deep/CLAUDE.md", "build output");
            fixture.write("src/built/pkg/AGENTS.md", "build output");
            for file in ["src/CLAUDE.local.md", "src/.vscode/tasks.json", "src/.envrc", "x.log"] {
                fixture.write(file, "planted");
            }
            fixture.write("sub/.gitignore", "*\n");
            for file in ["sub/AGENTS.md", "sub/deep/er/CLAUDE.md", "sub/deep/harmless"] {
                fixture.write(file, "planted");
            }
        });
        assert_eq!(
            touched.await,
            [
                "old/.vscode/launch.json",
                "old/.vscode/tasks.json",
                "old/CLAUDE.local.md",
                "src/.envrc",
                "src/.vscode/tasks.json",
                "src/CLAUDE.local.md",
                "sub/AGENTS.md",
                "sub/deep/er/CLAUDE.md",
                "x.log",
            ]
        );
    }

    #[tokio::test]
    async fn puts_protected_files_back_that_git_ignores() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "*.local.md\n.claude/\n");
        fixture.write("src/CLAUDE.local.md", "mine");
        fixture.set_mode("src/CLAUDE.local.md", 0o600);
        fixture.write("src/.claude/settings.local.json", "{}");
        let git = GitBinary::new(&fixture.repo, &env());
        let before = fixture.repo.snapshot(&git).await.unwrap();
        fixture.remove("src/CLAUDE.local.md");
        fixture.write("src/.claude/settings.local.json", "{\"hooks\": {}}");
        for file in ["src/CLAUDE.local.md", "src/.claude/settings.local.json"] {
            assert!(before.keeps(&path(file)) && before.is_dirty(&path(file)), "{file}");
            assert!(fixture.repo.put_back(&before, &path(file)).unwrap(), "{file}");
        }
        assert!(!fixture.repo.put_back(&before, &path("src/lib.rs")).unwrap());
        let facts = std::fs::metadata(fixture.root.join("src/CLAUDE.local.md")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(&facts.permissions());
        assert_eq!((facts.len(), mode & 0o777), (4, 0o600));
        let after = fixture.repo.snapshot(&git).await.unwrap();
        assert_eq!(fixture.repo.touched(&before, &after).unwrap(), [].into());
    }

    fn nest(fixture: &RepoFixture, folder: &str) {
        for (file, text) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("config", "[core]\n\tbare = false\n"),
            ("objects/x", ""),
            ("refs/heads/x", ""),
        ] {
            fixture.write(&format!("{folder}/.git/{file}"), text);
        }
    }

    #[tokio::test]
    async fn sees_git_folders_that_a_command_leaves_and_every_file_beside_them() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "target/\n*.log\n");
        fixture.write("target/x", "built");
        nest(&fixture, "theirs");
        fixture.write("theirs/a", "a person's");
        fixture.write("theirs/b", "a person's");
        fixture.write("lib/.git", "gitdir: ../.git/modules/lib\n");
        let touched = touched_by(&fixture, |fixture| {
            nest(fixture, "src");
            nest(fixture, "inner/deep");
            nest(fixture, "target");
            nest(fixture, "target/build/dependency");
            for file in ["inner/deep/no/f", "inner/deep/AGENTS.md", "inner/deep/x.log", "theirs/a"]
            {
                fixture.write(file, "planted");
            }
            fixture.write("old/.git", "gitdir: ../elsewhere\n");
            fixture.write("bare/.git/config", "not a repository, and yet");
        });
        assert_eq!(
            touched.await,
            [
                "bare/.git",
                "inner/deep/.git",
                "inner/deep/AGENTS.md",
                "inner/deep/no/f",
                "old/.git",
                "src/.git",
                "target/.git",
                "theirs/a",
            ]
        );
        let touched = touched_by(&fixture, |fixture| {
            fixture.write("theirs/.git/config", "[core]\n\tfsmonitor = x\n");
            fixture.write("theirs/.git/hooks/post-commit", "x");
            fixture.write("theirs/.git/HEAD", "ref: refs/heads/other\n");
            fixture.write("lib/.git", "gitdir: ../elsewhere\n");
        });
        assert_eq!(
            touched.await,
            ["lib/.git", "theirs/.git/config", "theirs/.git/hooks/post-commit"]
        );
    }

    #[tokio::test]
    async fn takes_git_folders_back_as_a_whole() {
        let fixture = RepoFixture::new();
        let git = GitBinary::new(&fixture.repo, &env());
        nest(&fixture, "theirs");
        let before = fixture.repo.snapshot(&git).await.unwrap();
        nest(&fixture, "src");
        fixture.write("old/.git", "gitdir: x\n");
        fixture.write("src/new", "stays");
        let after = fixture.repo.snapshot(&git).await.unwrap();
        let touched = fixture.repo.touched(&before, &after).unwrap();
        assert_eq!(touched, ["old/.git", "src/.git", "src/new"].map(path).into());
        assert!(
            before.is_dirty(&path("theirs/.git/config")) && !before.is_dirty(&path("src/.git"))
        );
        let kept = tempfile::tempdir().unwrap();
        let taken = ["old/.git", "src/.git"].map(path).into();
        fixture.repo.take_back(&fixture.base, &taken, kept.path()).unwrap();
        let there = |file: &str| fixture.root.join(file).exists();
        assert_eq!(
            ["src/.git", "old/.git", "src/new", "old/only", "theirs/.git/HEAD"].map(there),
            [false, false, true, true, true]
        );
        let copy = kept.path().join("src/git-data-1");
        assert!(copy.join("config").exists() && !copy.join("HEAD").exists());
        let root = ["src/lib.rs", ".git"].map(path).into();
        assert!(fixture.repo.take_back(&fixture.base, &root, kept.path()).is_err());
        assert!(there(".git/HEAD"));
    }

    #[tokio::test]
    async fn sees_changes_that_git_was_told_not_to_look_for() {
        let fixture = RepoFixture::new();
        let mut index = fixture.repo.git.index().unwrap();
        let mut flagged = |file: &str, valid: bool| {
            let mut entry = index.get_path(std::path::Path::new(file), 0).unwrap();
            if valid {
                entry.flags |= 1 << 15
            } else {
                entry.flags_extended |= 1 << 14
            }
            index.add(&entry).unwrap();
        };
        for (file, valid) in
            [("src/lib.rs", true), ("run.sh", true), ("latin", false), ("old/only", true)]
        {
            flagged(file, valid);
        }
        index.write().unwrap();
        fixture.remove("latin");
        fixture.write("run.sh", "a person's");
        let before = fixture.repo.snapshot(&GitBinary::new(&fixture.repo, &env())).await.unwrap();
        assert_eq!(before.dirty().collect::<Vec<_>>(), [&path("run.sh")]);
        let touched = touched_by(&fixture, |fixture| {
            fixture.write("src/lib.rs", "changed");
            fixture.write("latin", "here again");
        });
        assert_eq!(touched.await, ["latin", "src/lib.rs"]);
    }

    #[tokio::test]
    async fn an_index_that_only_git_reads_is_no_reason_to_stop() {
        let fixture = RepoFixture::new();
        let git = |arguments: &[&str]| {
            let mut command = std::process::Command::new("git");
            let output = command.args(arguments).current_dir(&fixture.root).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        git(&["update-index", "--split-index"]);
        let touched = touched_by(&fixture, |fixture| fixture.write("src/lib.rs", "changed"));
        assert_eq!(touched.await, ["src/lib.rs"]);
    }

    #[tokio::test]
    async fn sees_changes_of_files_that_were_dirty_before() {
        let fixture = RepoFixture::new();
        for file in ["a", "b", "c", "d"] {
            fixture.write(file, "mine");
        }
        let touched = touched_by(&fixture, |fixture| {
            fixture.write("a", "same");
            fixture.set_mode("b", 0o755);
            fixture.remove("c");
        });
        assert_eq!(touched.await, ["a", "b", "c"]);
    }

    #[tokio::test]
    async fn sees_what_was_committed_meanwhile() {
        let fixture = RepoFixture::new();
        let touched = touched_by(&fixture, |fixture| {
            fixture.write("src/lib.rs", "changed");
            fixture.write("new", "new");
            fixture.remove("old/only");
            let mut index = fixture.repo.git.index().unwrap();
            index.remove_path(std::path::Path::new("old/only")).unwrap();
            index.write().unwrap();
            fixture.commit("by a command");
        });
        assert_eq!(touched.await, ["new", "old/only", "src/lib.rs"]);
    }

    #[tokio::test]
    async fn looks_without_writing_the_index() {
        let fixture = RepoFixture::new();
        let index = fixture.root.join(".git/index");
        fixture.write("src/lib.rs", "one\ntwo\nthree\n");
        let before = std::fs::read(&index).unwrap();
        assert_eq!(touched_by(&fixture, |_| {}).await, Vec::<String>::new());
        assert_eq!(std::fs::read(&index).unwrap(), before);
    }

    #[test]
    fn reads_gits_entries() {
        let status = b"# branch.oid 1234\0# branch.head main\0\
            1 .M N... 100644 100644 100644 aaaa bbbb a b\0\
            u UU N... 100644 100644 100644 100644 a b c both\0\
            ? new\xff\0? new 2\0? inner/\0! ignored\0! built/\0";
        let parsed = parse_status(status);
        assert_eq!(repositories_in(status), [path("inner")].into());
        assert_eq!(parsed.ignored, ["ignored", "built"].map(path).into());
        let paths: Vec<RepoPath> = parsed.dirty.keys().cloned().collect();
        assert_eq!(
            (parsed.head, paths),
            (Some(CommitId("1234".into())), ["a b", "both", "new 2"].map(path).to_vec())
        );
        assert_eq!(parse_status(b"# branch.oid (initial)\0"), Snapshot::default());
    }
}
