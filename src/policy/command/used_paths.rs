//! The paths that a script names: files of its redirections, and all that its commands read or
//! write.
//!
//! In: a script. Out: paths as they are written, seen from the folder that it runs in. Links are
//! for whoever runs it.

use crate::command::examine::{PathUse, path_use};
use crate::command::tree::Redirect;
use crate::command::{Script, loose};
use locum_base::path::RepoPath;

impl Script {
    /// Returns the files that redirections read and those they write.
    pub fn redirected(&self) -> (Vec<PathUse>, Vec<PathUse>) {
        let (mut reads, mut edits) = (Vec::new(), Vec::new());
        for redirect in self
            .redirects()
            .into_iter()
            .chain(loose::redirects(self.loose_commands().unwrap_or_default()))
        {
            match redirect {
                Redirect::Input { path, .. } => reads.extend(self.redirect_use(path)),
                Redirect::Output { path, .. } => edits.extend(self.redirect_use(path)),
                Redirect::WorkedOut { written, .. } => {
                    edits.extend(written.iter().filter_map(|path| self.redirect_use(path)));
                }
                Redirect::Duplicate { .. } | Redirect::Text(_) | Redirect::Template(_) => {}
            }
        }
        (reads, edits)
    }

    fn redirect_use(&self, path: &str) -> Option<PathUse> {
        let seen = self.seen_from_folder(&[path.to_owned()]);
        let path = seen.first().map_or(path, String::as_str);
        redirect_use(path, &self.folder).map(|used| used.settled(&self.neutral.root))
    }

    /// Returns every path of the repository that it names as read or written. The code that runs it
    /// resolves their links.
    pub fn paths(&self) -> Vec<RepoPath> {
        let (mut used, edits) = self.redirected();
        used.extend(edits);
        for (_, examined) in
            self.examinations().into_iter().chain(self.loose_examinations().unwrap_or_default())
        {
            used.extend(examined.reads.into_iter().chain(examined.edits));
        }
        let behind = self.behind_folder();
        let behind = behind.iter().flat_map(|inner| [vec![inner.folder.clone()], inner.paths()]);
        let behind: Vec<RepoPath> = behind.flatten().collect();
        let mut paths: Vec<RepoPath> = used
            .into_iter()
            .filter_map(|used| match used {
                PathUse::Inside(path) | PathUse::Perhaps(path) => Some(path),
                PathUse::Outside(_) | PathUse::Scratch(_) => None,
            })
            .collect();
        paths.extend(behind);
        paths.sort();
        paths.dedup();
        paths
    }
}

/// To a redirection, `-` is a file of that name.
fn redirect_use(path: &str, folder: &RepoPath) -> Option<PathUse> {
    if path == "-" {
        Some(folder.join(path).map_or_else(|_| PathUse::Outside(path.to_owned()), PathUse::Inside))
    } else {
        path_use(path, folder)
    }
}
