//! A git repository of its own for a test: files are written, linked and committed with plain
//! paths, and everything it holds can be listed.
#![expect(clippy::disallowed_methods, reason = "makes the files that tests look at")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use git2::{IndexAddOption, Oid, Repository, RepositoryInitOptions, Signature};
use tempfile::TempDir;

/// A repository on branch `main` in a temporary folder, removed with this.
pub struct TestRepository {
    _folder: TempDir,
    root: PathBuf,
}

impl TestRepository {
    /// Makes one without a commit.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let git = init(&folder.path().canonicalize().unwrap().join("checkout"));
        let root = git.workdir().unwrap().canonicalize().unwrap();
        Self { _folder: folder, root }
    }

    /// Makes one with these files in its first commit.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let made = Self::empty();
        files.iter().for_each(|(at, text)| made.write(at, text));
        made.commit("first");
        made
    }

    /// Returns the checkout, absolute and free of links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, at: &str, content: impl AsRef<[u8]>) {
        let file = self.root.join(at);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// Removes a file or link.
    pub fn remove(&self, at: &str) {
        std::fs::remove_file(self.root.join(at)).unwrap();
    }

    /// Makes a symbolic link.
    pub fn link(&self, target: &str, at: &str) {
        std::os::unix::fs::symlink(target, self.root.join(at)).unwrap();
    }

    /// Sets the permission bits of a file.
    pub fn set_mode(&self, at: &str, mode: u32) {
        std::fs::set_permissions(self.root.join(at), PermissionsExt::from_mode(mode)).unwrap();
    }

    /// Commits every file to the branch, and returns the commit's id.
    pub fn commit(&self, message: &str) -> String {
        commit_all(&Repository::open(&self.root).unwrap(), message).to_string()
    }

    /// Returns every file, folder and link of the checkout in order, with content and executable
    /// bit.
    pub fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.root, &self.root, &mut found);
        found.sort();
        found
    }
}

/// Makes an empty repository whose branch is `main` and whose configuration is its own.
pub fn init(root: &Path) -> Repository {
    let mut options = RepositoryInitOptions::new();
    options.initial_head("main").mkpath(true).external_template(false);
    Repository::init_opts(root, &options).unwrap()
}

/// Commits every file of a checkout to its branch.
pub fn commit_all(git: &Repository, message: &str) -> Oid {
    let mut index = git.index().unwrap();
    index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
    index.update_all(["*"], None).unwrap();
    index.write().unwrap();
    let tree = git.find_tree(index.write_tree().unwrap()).unwrap();
    let author = Signature::now("Test", "test@example.com").unwrap();
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
