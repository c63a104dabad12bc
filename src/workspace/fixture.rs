//! A small repository of its own for each test of this floor.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git2::{IndexAddOption, Repository, RepositoryInitOptions, Signature};
use tempfile::TempDir;

use crate::repo::{CommitId, Repo};
use locum_base::path::RepoPath;

/// A repository with one commit: `src/lib.rs`, `run.sh` (executable), `link` to it, `latin` (no
/// UTF-8), `old/only`.
pub(super) struct Fixture {
    _folder: TempDir,
    pub(super) root: PathBuf,
    pub(super) repo: Repo,
    pub(super) base: CommitId,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkout");
        let git = init(&root);
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(root.join("old")).unwrap();
        std::fs::write(root.join("src/lib.rs"), "one\ntwo\nthree\n").unwrap();
        std::fs::write(root.join("run.sh"), "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(root.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("src/lib.rs", root.join("link")).unwrap();
        std::fs::write(root.join("latin"), b"caf\xe9\n").unwrap();
        std::fs::write(root.join("old/only"), "x\n").unwrap();
        std::fs::write(root.join(".gitignore"), "/ignored/\n").unwrap();
        commit_all(&git, "first");
        let repo = Repo::open(&root).unwrap();
        let base = repo.commit_of("HEAD").unwrap();
        let root = repo.root().to_owned();
        Self { _folder: folder, root, repo, base }
    }

    pub(super) fn write(&self, at: &str, content: impl AsRef<[u8]>) {
        let file = self.root.join(at);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    pub(super) fn remove(&self, at: &str) {
        std::fs::remove_file(self.root.join(at)).unwrap();
    }

    pub(super) fn link(&self, target: &str, at: &str) {
        std::os::unix::fs::symlink(target, self.root.join(at)).unwrap();
    }

    pub(super) fn set_mode(&self, at: &str, mode: u32) {
        std::fs::set_permissions(self.root.join(at), PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Every file and link of the checkout with its content and executable bit, in order.
    pub(super) fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.root, &self.root, &mut found);
        found.sort();
        found
    }
}

pub(super) fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

pub(super) fn paths(texts: &[&str]) -> BTreeSet<RepoPath> {
    texts.iter().map(|text| path(text)).collect()
}

/// Makes an empty repository whose branch is `main` and whose configuration is its own.
pub(super) fn init(root: &Path) -> Repository {
    let mut options = RepositoryInitOptions::new();
    options.initial_head("main").mkpath(true);
    Repository::init_opts(root, &options).unwrap()
}

/// Commits every file of a checkout to its branch.
pub(super) fn commit_all(git: &Repository, message: &str) -> git2::Oid {
    let mut index = git.index().unwrap();
    index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
    index.write().unwrap();
    let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
    let author = Signature::now("Test", "test@example.org").unwrap();
    let parent = git.head().ok().map(|head| head.peel_to_commit().unwrap());
    git.commit(Some("HEAD"), &author, &author, message, &tree, &parent.iter().collect::<Vec<_>>())
        .unwrap()
}

fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let metadata = std::fs::symlink_metadata(&file).unwrap();
        if metadata.is_symlink() {
            found.push(format!("{name} -> {}", std::fs::read_link(&file).unwrap().display()));
        } else if metadata.is_dir() {
            if name != ".git" {
                found.push(format!("{name}/"));
                list(root, &file, found);
            }
        } else {
            let mark = if metadata.permissions().mode() & 0o100 == 0 { "" } else { "*" };
            found.push(format!("{name}{mark}: {}", std::fs::read(&file).unwrap().escape_ascii()));
        }
    }
}
