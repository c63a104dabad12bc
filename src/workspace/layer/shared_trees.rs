//! `SharedTrees`: what commands find in a folder that a worktree shares with the checkout it stands
//! for: several trees of files, one seen through the other.
//!
//! In: the folders as the kernel lays them over each other. Out: which of them has what commands
//! find at a path: the uppermost, unless a mark or something else in its place hides it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Layer, is_opaque, is_whiteout};
use crate::checkout::Checkout;
use locum_base::path::RepoPath;
use locum_sandbox::SharedFolder;

/// Which of the trees is the worktree itself: only what commands wrote lies over it.
const OWN: usize = 1;

/// A folder that a worktree shares, in all trees of files that are seen there.
#[derive(Debug)]
pub(super) struct SharedTrees {
    folder: RepoPath,
    /// The uppermost first: what commands wrote, the worktree, and what lies below. Each has the
    /// folder at its own path.
    trees: Vec<Arc<Checkout>>,
}

/// Where commands find what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoundIn {
    /// In one of the trees.
    Tree(usize),
    /// In none: something in one of them hides what others may have.
    Hidden,
    /// In none of them.
    Nowhere,
}

/// What one tree has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// A file, a folder or a link.
    There,
    /// A mark that it is gone, or something else in the place of a folder above.
    Hides,
    /// Nothing.
    Nothing,
}

impl SharedTrees {
    /// Opens the trees of shared folders; most of them have the same.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub(super) fn of(folders: &[SharedFolder]) -> io::Result<Vec<Self>> {
        let mut opened: BTreeMap<PathBuf, Arc<Checkout>> = BTreeMap::new();
        let mut found = Vec::new();
        for folder in folders {
            let mut trees = Vec::new();
            for place in std::iter::once(&folder.upper).chain(&folder.lower) {
                let root = root_of(place, &folder.path);
                let tree = match opened.get(root) {
                    Some(tree) => Arc::clone(tree),
                    None => Arc::new(Checkout::open(root)?),
                };
                opened.insert(root.to_owned(), Arc::clone(&tree));
                trees.push(tree);
            }
            found.push(Self { folder: folder.path.clone(), trees });
        }
        Ok(found)
    }

    /// Returns the tree in which commands find what is at a path; `None` where they find nothing.
    pub(super) fn tree_of(&self, path: &RepoPath) -> Option<&Checkout> {
        match self.find(path) {
            FoundIn::Tree(number) => self.trees.get(number).map(|tree| &**tree),
            FoundIn::Hidden | FoundIn::Nowhere => None,
        }
    }

    /// Whether commands find something else at a path than the worktree has, or nothing.
    pub(super) fn covers(&self, path: &RepoPath) -> bool {
        match self.find(path) {
            FoundIn::Tree(number) => number != OWN,
            FoundIn::Hidden => true,
            FoundIn::Nowhere => false,
        }
    }

    /// Returns the trees besides the worktree, the uppermost first.
    pub(super) fn others(&self) -> impl Iterator<Item = &Checkout> {
        let numbered = self.trees.iter().enumerate();
        numbered.filter(|(number, _)| *number != OWN).map(|(_, tree)| &**tree)
    }

    fn find(&self, path: &RepoPath) -> FoundIn {
        for (number, tree) in self.trees.iter().enumerate() {
            match self.presence(tree, path) {
                Presence::There => return FoundIn::Tree(number),
                // The worktree itself says what is in the way there.
                Presence::Hides if number == OWN => return FoundIn::Tree(OWN),
                Presence::Hides => return FoundIn::Hidden,
                Presence::Nothing => {}
            }
        }
        FoundIn::Nowhere
    }

    fn presence(&self, tree: &Checkout, path: &RepoPath) -> Presence {
        let parts: Vec<&str> = path.parts().skip(self.folder.parts().count()).collect();
        let mut place = tree.absolute(&self.folder);
        let mut is_below_opaque = false;
        for (number, part) in parts.iter().enumerate() {
            let is_last = number + 1 == parts.len();
            place.push(part);
            match fs::symlink_metadata(&place) {
                Err(_) if is_below_opaque => return Presence::Hides,
                Err(_) => return Presence::Nothing,
                Ok(facts) if is_whiteout(&facts) => return Presence::Hides,
                Ok(facts) if !is_last && !facts.is_dir() => return Presence::Hides,
                Ok(_) => is_below_opaque |= !is_last && is_opaque(&place),
            }
        }
        Presence::There
    }
}

impl Layer {
    /// Returns the innermost shared folder that a path is in.
    pub(super) fn shared_at(&self, path: &RepoPath) -> Option<&SharedTrees> {
        let around = self.trees.iter().filter(|shared| path.is_within(&shared.folder));
        around.max_by_key(|shared| shared.folder.parts().count())
    }
}

/// Returns the root of a tree that has a folder with this path at `place`.
fn root_of<'p>(place: &'p Path, path: &RepoPath) -> &'p Path {
    place.ancestors().nth(path.parts().count()).unwrap_or(place)
}
