//! The repository that tests of this crate begin with.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::PathBuf;

use locum_testing::repository::TestRepository;

use crate::repo::{CommitId, Repo};
use locum_base::path::RepoPath;

/// A repository with one commit: `src/lib.rs`, `run.sh` (executable), `link` to it, `latin` (no
/// UTF-8), `old/only`.
pub(super) struct RepoFixture {
    files: TestRepository,
    pub(super) root: PathBuf,
    pub(super) repo: Repo,
    pub(super) base: CommitId,
}

impl RepoFixture {
    pub(super) fn new() -> Self {
        let files = TestRepository::empty();
        files.write("src/lib.rs", "one\ntwo\nthree\n");
        files.write("run.sh", "#!/bin/sh\n");
        files.set_mode("run.sh", 0o755);
        files.link("src/lib.rs", "link");
        files.write("latin", b"caf\xe9\n");
        files.write("old/only", "x\n");
        files.write(".gitignore", "/ignored/\n");
        let base = CommitId(files.commit("first"));
        let root = files.root().to_owned();
        Self { repo: Repo::open(&root).unwrap(), files, root, base }
    }

    /// Commits a submodule that is not checked out, and returns the commit.
    pub(super) fn commit_submodule(&self, at: &str) -> CommitId {
        let git = git2::Repository::open(&self.root).unwrap();
        let mut index = git.index().unwrap();
        let commit = git2::Oid::from_str(&self.base.0).unwrap();
        let link: u32 = git2::FileMode::Commit.into();
        let entry = index.get_path(std::path::Path::new("latin"), 0).unwrap();
        let path = at.as_bytes().to_vec();
        index.add(&git2::IndexEntry { mode: link, id: commit, path, ..entry }).unwrap();
        index.write().unwrap();
        let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
        let author = git2::Signature::now("Test", "test@example.com").unwrap();
        let parent = git.find_commit(commit).unwrap();
        let made = git.commit(Some("HEAD"), &author, &author, "submodule", &tree, &[&parent]);
        CommitId(made.unwrap().to_string())
    }
}

impl Deref for RepoFixture {
    type Target = TestRepository;

    fn deref(&self) -> &TestRepository {
        &self.files
    }
}

pub(super) fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

pub(super) fn paths(texts: &[&str]) -> BTreeSet<RepoPath> {
    texts.iter().map(|text| path(text)).collect()
}
