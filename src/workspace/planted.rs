//! Protected files that a command made and that `git status` does not list, because git ignores
//! them: instructions of agents, settings of editors and shells.
//!
//! In: what git ignored before a command and after it. Out: the protected files among what it
//! ignores now and did not then. What a command made in a folder that was ignored before is build
//! output, whatever it is called (`node_modules` is full of such files); so is a folder that is
//! new and that rules from before the command ignore.

use std::collections::BTreeSet;

use crate::checkout::EntryKind;
use crate::closed::ClosedLook;
use crate::repo::Repo;
use crate::touched::Snapshot;
use locum_base::path::RepoPath;
use locum_policy::paths::protected;

/// The name of files that say what git ignores.
const IGNORE_FILE: &str = ".gitignore";

impl Repo {
    /// Returns the protected files that are ignored in the second snapshot and were not there in
    /// the first one. `touched` is what git lists as different.
    pub(crate) fn planted(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        touched: &BTreeSet<RepoPath>,
    ) -> BTreeSet<RepoPath> {
        let new: Vec<&RepoPath> = after.newly_ignored(before).collect();
        let rules = new.iter().copied().chain(touched);
        let rules: Vec<RepoPath> =
            rules.filter(|path| path.name() == Some(IGNORE_FILE)).map(RepoPath::parent).collect();
        let (mut found, mut closed) = (BTreeSet::new(), ClosedLook::new(Some(&before.closed)));
        for path in new {
            let by_new_rule = rules.iter().any(|folder| path.is_within(folder));
            if by_new_rule || is_protected(path) {
                self.note_protected(path, &mut found, &mut closed);
            }
        }
        found
    }

    /// Notes every protected file at or below a path; what a command closed is opened.
    pub(crate) fn note_protected(
        &self,
        path: &RepoPath,
        found: &mut BTreeSet<RepoPath>,
        closed: &mut ClosedLook<'_>,
    ) {
        let mut ahead = vec![path.clone()];
        while let Some(path) = ahead.pop() {
            self.open_if_new(&path, closed);
            match self.checkout.entry(&path).ok().flatten().map(|entry| entry.kind) {
                // What is still closed nobody reads either.
                Some(EntryKind::Folder) => {
                    let entries = self.checkout.listed(&path).entries;
                    ahead.extend(entries.into_iter().map(|(path, _)| path));
                }
                Some(_) if protected(&path).is_some() => {
                    found.insert(path);
                }
                Some(_) | None => {}
            }
        }
    }
}

/// Whether a path, or what would be in it, is protected.
fn is_protected(path: &RepoPath) -> bool {
    protected(path).is_some() || path.join("x").is_ok_and(|inside| protected(&inside).is_some())
}
