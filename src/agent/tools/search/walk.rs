//! Which files of the checkout a list or a search looks at: everything below a folder, less what
//! ignore files name and `.git`.
//!
//! The walk starts at the checkout's root and goes straight to the folder, so that ignore files
//! above it count and none outside the checkout does. Ignore files do not count for a folder that
//! is itself ignored: it was named on purpose.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use ignore::{DirEntry, WalkBuilder, WalkState};

use locum_base::path::RepoPath;
use locum_workspace::checkout::ReadableFolder;

/// Most threads, as ripgrep has it.
const THREAD_LIMIT: usize = 12;

/// Returns how many threads look through files.
pub fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THREAD_LIMIT)
}

/// A prepared walk over one folder.
pub struct FolderWalk {
    builder: WalkBuilder,
    root: PathBuf,
    /// Parts of the path from the walk's root to the folder.
    depth: usize,
    /// How many entries were come upon whose names are not paths.
    unnamed: Arc<AtomicUsize>,
    /// Whether links count as files.
    links: bool,
}

/// Which folders below the requested one are left out besides those that ignore files name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkippedFolders {
    /// Only git's own.
    Git,
    /// Hidden ones and those that hold what was built or fetched.
    Bulk,
}

/// Names of folders that hold what was built or fetched.
const BULK_FOLDERS: &[&str] = &[
    "node_modules",
    "__pycache__",
    "env",
    "venv",
    "dist",
    "out",
    "bundle",
    "vendor",
    "tmp",
    "temp",
    "deps",
    "pkg",
    "Pods",
];

impl FolderWalk {
    /// Prepares a walk over `folder` of the checkout at `root`.
    pub fn new(root: &Path, folder: &ReadableFolder<'_>, skip: SkippedFolders) -> Self {
        let walk = Self::from_root(root, folder.path(), skip);
        if folder.path().is_root() || walk.reaches_folder() {
            walk
        } else {
            Self::from_ignored(root, folder, skip)
        }
    }

    /// Prepares a walk over `folder` in a tree of files besides the checkout: nothing is left out
    /// there because an ignore file names it.
    pub(crate) fn of_built(folder: &ReadableFolder<'_>, skip: SkippedFolders) -> Self {
        Self::from_ignored(folder.root(), folder, skip)
    }

    /// Whether a walk from the root comes to a path, which no ignore file names then.
    pub(crate) fn finds(root: &Path, path: &RepoPath) -> bool {
        path.is_root() || Self::from_root(root, path, SkippedFolders::Git).reaches_folder()
    }

    /// Returns the root of the tree of files that it goes through.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Prepares a walk over the whole checkout at `root`, for names alone.
    pub fn of_checkout(root: &Path) -> Self {
        Self::from_root(root, &RepoPath::root(), SkippedFolders::Bulk)
    }

    /// Returns how to go through it; entries above the folder come first and are recognised by
    /// [`FolderWalk::path_of`].
    pub fn builder(&mut self) -> &mut WalkBuilder {
        &mut self.builder
    }

    /// Returns the depth of what lies directly in the folder, as the walk counts.
    pub fn first_depth(&self) -> usize {
        self.depth + 1
    }

    /// Counts there what it comes upon whose names are not paths.
    pub(crate) fn counting(self, unnamed: &Arc<AtomicUsize>) -> Self {
        Self { unnamed: Arc::clone(unnamed), ..self }
    }

    /// Takes links for files, wherever they lead.
    pub(crate) fn with_links(self) -> Self {
        Self { links: true, ..self }
    }

    /// Returns an entry's path in the checkout; `None` for the folder itself, what lies above it,
    /// and names that are not paths, which are counted. A file that was requested itself is an
    /// entry.
    pub fn path_of(&self, entry: &DirEntry) -> Option<RepoPath> {
        if entry.depth() < self.depth
            || (entry.depth() == self.depth && entry.file_type().is_none_or(|kind| kind.is_dir()))
        {
            return None;
        }
        let name = entry.path().strip_prefix(&self.root).ok()?.to_str();
        let path = name.and_then(|name| RepoPath::parse(name).ok());
        if path.is_none() {
            self.unnamed.fetch_add(1, Ordering::Relaxed);
        }
        path
    }

    /// Goes through the files in parallel; returns what `keep` makes of each, sorted.
    pub fn files<T: Ord + Send>(
        mut self,
        keep: impl Fn(&DirEntry, RepoPath) -> Option<T> + Sync,
    ) -> Vec<T> {
        let walker = self.builder.threads(threads()).build_parallel();
        let (sender, receiver) = mpsc::channel();
        walker.run(|| {
            let mut batch = ThreadBatch { kept: Vec::new(), sender: sender.clone() };
            let (walk, keep) = (&self, &keep);
            Box::new(move |entry| {
                if let Ok(entry) = entry
                    && entry
                        .file_type()
                        .is_some_and(|kind| kind.is_file() || (walk.links && kind.is_symlink()))
                    && let Some(path) = walk.path_of(&entry)
                {
                    batch.kept.extend(keep(&entry, path));
                }
                WalkState::Continue
            })
        });
        drop(sender);
        let mut kept: Vec<T> = receiver.into_iter().flatten().collect();
        // NOTE: the threads' lists are sorted already; merging runs is what this sort is fast at.
        kept.sort();
        kept
    }

    fn from_root(root: &Path, folder: &RepoPath, skip: SkippedFolders) -> Self {
        let parts: Vec<String> = folder.parts().map(ToOwned::to_owned).collect();
        let depth = parts.len();
        let mut builder = WalkBuilder::new(root);
        builder
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .follow_links(false);
        builder.filter_entry(move |entry| {
            let name = entry.file_name().to_str().unwrap_or_default();
            match entry.depth().checked_sub(1).map(|place| parts.get(place)) {
                None => true,
                Some(Some(wanted)) => wanted == name,
                Some(None) => !skips(skip, name, entry),
            }
        });
        Self { builder, root: root.to_owned(), depth, unnamed: Arc::default(), links: false }
    }

    fn from_ignored(root: &Path, folder: &ReadableFolder<'_>, skip: SkippedFolders) -> Self {
        let mut builder = WalkBuilder::new(folder.absolute());
        builder
            .hidden(false)
            .ignore(false)
            .git_ignore(false)
            .git_exclude(false)
            .git_global(false)
            .parents(false)
            .follow_links(false);
        builder.filter_entry(move |entry| {
            entry.depth() == 0
                || !skips(skip, entry.file_name().to_str().unwrap_or_default(), entry)
        });
        Self { builder, root: root.to_owned(), depth: 0, unnamed: Arc::default(), links: false }
    }

    fn reaches_folder(&self) -> bool {
        let mut builder = self.builder.clone();
        builder
            .max_depth(Some(self.depth))
            .build()
            .flatten()
            .any(|entry| entry.depth() == self.depth)
    }
}

/// What one thread keeps: sent in order when the thread is done.
struct ThreadBatch<T: Ord> {
    kept: Vec<T>,
    sender: mpsc::Sender<Vec<T>>,
}

impl<T: Ord> Drop for ThreadBatch<T> {
    fn drop(&mut self) {
        self.kept.sort_unstable();
        // The receiver outlives every thread of the walk.
        let _ = self.sender.send(std::mem::take(&mut self.kept));
    }
}

fn skips(skip: SkippedFolders, name: &str, entry: &DirEntry) -> bool {
    let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    match skip {
        SkippedFolders::Git => name == ".git",
        SkippedFolders::Bulk => {
            name == ".git"
                || (folder
                    && (name.starts_with('.')
                        || BULK_FOLDERS.contains(&name)
                        || is_build_output(entry.path())))
        }
    }
}

fn is_build_output(path: &Path) -> bool {
    path.ends_with("target/dependency") || path.ends_with("build/dependencies")
}
