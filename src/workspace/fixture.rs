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
