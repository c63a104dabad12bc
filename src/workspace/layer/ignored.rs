//! Files that never arrive in the checkout: those that git ignores and that were there before, and
//! those of other repositories below it.
//!
//! In: a layer over a checkout. Out: which of these files are gone or different for the commands of
//! a run; of other repositories, also new ones. They are named to the model and to readers, and
//! what a command that failed removed of what git ignores comes back.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Layer, OPAQUE, is_opaque, is_whiteout, on_layer};
use crate::caches::is_tagged;
use crate::checkout::EntryKind;
use crate::opened;
use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;

/// Largest files of the same size whose bytes are compared.
const COMPARED_BYTES: u64 = 1 << 20;

/// Most files that are counted below one path.
const COUNTED_FILES: usize = 10_000;

/// Most paths of a layer that are looked at in one folder that git ignores, so that a command costs
/// no more where it was recreated with a hundred thousand files.
const PATHS_LIMIT: usize = 10_000;

/// Most paths that are looked at in all of them.
const ALL_PATHS_LIMIT: usize = 40_000;

/// Folders that are named.
const NAMED: usize = 5;

/// What is different in a layer and stays there, by path in the checkout: of what git ignores and
/// the checkout has, and of other repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredChanges {
    /// Files and folders that are gone.
    pub removed: BTreeSet<IgnoredPath>,
    /// Files that are different.
    pub changed: BTreeSet<IgnoredPath>,
    /// Files of other repositories that are new, different or gone.
    pub of_others: BTreeSet<IgnoredPath>,
    /// Uppermost paths in which there were more than are looked at: there may be more of each.
    cut: BTreeSet<PathBuf>,
    /// Paths that are still looked at.
    left: usize,
}

/// Such a file or folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IgnoredPath {
    /// The uppermost path that git ignores, which it is or lies in.
    ignored: PathBuf,
    path: PathBuf,
    /// Where the layer has it, or lacks it.
    upper: PathBuf,
    /// Where it is as it was.
    lower: PathBuf,
}

impl IgnoredChanges {
    /// Returns what is new here. Where not all was looked at, it is not known what is new of what
    /// git ignores: nothing of that is returned.
    pub fn since(&self, before: &Self) -> Self {
        let cut: BTreeSet<PathBuf> = self.cut.union(&before.cut).cloned().collect();
        let is_known = |path: &&IgnoredPath| !cut.contains(&path.ignored);
        let new = |all: &BTreeSet<IgnoredPath>, old: &BTreeSet<IgnoredPath>| {
            all.difference(old).filter(is_known).cloned().collect::<BTreeSet<_>>()
        };
        Self {
            removed: new(&self.removed, &before.removed),
            changed: new(&self.changed, &before.changed),
            of_others: self.of_others.difference(&before.of_others).cloned().collect(),
            cut,
            left: 0,
        }
    }

    /// Names the uppermost paths in which not all was looked at, although all was before; `None`
    /// where there are none.
    pub fn cut_since(&self, before: &Self) -> Option<String> {
        let new: Vec<&PathBuf> = self.cut.difference(&before.cut).collect();
        let names = new.iter().map(|path| format!("`{}`", path.to_string_lossy().escape_debug()));
        (!new.is_empty()).then(|| short(names))
    }

    /// Whether there may be more of other repositories than what is named.
    pub fn has_more_of_others(&self) -> bool {
        self.of_others.iter().any(|path| self.cut.contains(&path.ignored))
    }

    /// Whether nothing is different of what git ignores.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Names files and folders, those of one folder as it, with how many files they are:
/// "node_modules (212 files), .env".
pub fn named(paths: &BTreeSet<IgnoredPath>) -> String {
    let mut folders: Vec<(&Path, Vec<&IgnoredPath>)> = Vec::new();
    for path in paths {
        match folders.last_mut() {
            Some((folder, inside)) if *folder == path.ignored => inside.push(path),
            Some(_) | None => folders.push((&path.ignored, vec![path])),
        }
    }
    let name = |(folder, inside): &(&Path, Vec<&IgnoredPath>)| {
        let shown = if let [only] = inside.as_slice() { &only.path } else { *folder };
        let shown = shown.to_string_lossy();
        let is_folder = |path: &IgnoredPath| path.lower.is_dir() && !path.lower.is_symlink();
        if let [only] = inside.as_slice()
            && !is_folder(only)
        {
            return format!("`{}`", shown.escape_debug());
        }
        let count = inside.iter().fold(0, |count, path| count + files_in(&path.lower, count));
        let count = match count {
            COUNTED_FILES.. => format!("more than {} files", COUNTED_FILES - 1),
            1 => "1 file".to_owned(),
            count => format!("{count} files"),
        };
        format!("`{}` ({count})", shown.escape_debug())
    };
    short(folders.iter().map(name))
}

/// Joins names, of many the first.
fn short(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut names: Vec<String> = names.take(NAMED).collect();
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// A path of a layer with what lies under it.
struct Place {
    ignored: PathBuf,
    path: PathBuf,
    upper: PathBuf,
    lowers: Vec<PathBuf>,
    /// Whether a folder above hides what lies under it.
    hidden: bool,
    /// Whether files are named that are new.
    names_new: bool,
}

impl Place {
    fn inner(&self, name: &std::ffi::OsStr, hidden: bool) -> Self {
        Self {
            ignored: self.ignored.clone(),
            path: self.path.join(name),
            upper: self.upper.join(name),
            lowers: self.lowers.iter().map(|lower| lower.join(name)).collect(),
            hidden,
            names_new: self.names_new,
        }
    }

    /// Returns what lies under it and where; `None` where it is new.
    fn lower(&self) -> Option<(&Path, Metadata)> {
        let found = |lower: &'_ PathBuf| fs::symlink_metadata(lower).ok();
        let there = |facts: &Metadata| !is_whiteout(facts);
        self.lowers
            .iter()
            .find_map(|lower| found(lower).filter(there).map(|facts| (lower.as_path(), facts)))
    }
}

impl Repo {
    /// Returns what is different in a layer of what git ignores and the checkout has, and of other
    /// repositories.
    ///
    /// # Errors
    /// When the layer cannot be read.
    pub fn ignored_changes(&self, layer: &Layer) -> Result<IgnoredChanges, RepoError> {
        let mut found = IgnoredChanges::default();
        self.walk_ignored(layer, &mut found)?;
        Ok(found)
    }

    fn walk_ignored(&self, layer: &Layer, found: &mut IgnoredChanges) -> Result<(), RepoError> {
        let mut left = ALL_PATHS_LIMIT;
        for path in self.ignored_paths_in(layer)? {
            let names_new = self.is_of_another_repository(&path)?;
            match self.checkout.entry(&path) {
                Ok(Some(_)) => {}
                Ok(None) if names_new => {}
                // What lies behind a link of the checkout was none of it.
                Ok(None) | Err(_) => continue,
            }
            let ignored = PathBuf::from(path.as_str());
            let (upper, lowers) = (layer.upper_at(&path), vec![self.checkout.absolute(&path)]);
            let place =
                Place { path: ignored.clone(), ignored, upper, lowers, hidden: false, names_new };
            let here = look_at(&place, &mut left).map_err(|source| on_layer(&path, source))?;
            found.cut.extend(here.cut);
            if names_new {
                found.of_others.extend(here.removed.into_iter().chain(here.changed));
            } else {
                found.removed.extend(here.removed);
                found.changed.extend(here.changed);
            }
        }
        for shared in layer.shared() {
            let ignored = PathBuf::from(shared.path.as_str());
            let (upper, lowers) = (shared.upper.clone(), shared.lower.clone());
            let (path, hidden, names_new) = (ignored.clone(), false, false);
            let place = Place { path, ignored, upper, lowers, hidden, names_new };
            let here = look_at(&place, &mut left);
            let here = here.map_err(|source| on_layer(&shared.path, source))?;
            found.removed.extend(here.removed);
            found.changed.extend(here.changed);
            found.cut.extend(here.cut);
        }
        Ok(())
    }

    /// Returns the uppermost paths in a layer that stay in it, besides git's own.
    fn ignored_paths_in(&self, layer: &Layer) -> Result<Vec<RepoPath>, RepoError> {
        let (mut found, mut ahead) = (Vec::new(), vec![RepoPath::root()]);
        while let Some(folder) = ahead.pop() {
            // What is too deep down to be looked at is nothing that the checkout has.
            let Ok(names) = layer.names(&folder) else { continue };
            for path in names.into_iter().flatten().filter(|path| path.name() != Some(".git")) {
                let Ok(facts) = layer.facts(&path) else { continue };
                // A mark stands for a folder, too.
                let was_folder = || {
                    let entry = self.checkout.entry(&path);
                    matches!(entry, Ok(Some(entry)) if entry.kind == EntryKind::Folder)
                };
                let is_folder = facts.is_dir() || is_whiteout(&facts) && was_folder();
                if self.stays(layer, &path, is_folder)? {
                    found.push(path);
                } else if facts.is_dir() {
                    ahead.push(path);
                }
            }
        }
        Ok(found)
    }
}

impl Layer {
    /// Lets commands see again what is `removed`; returns what stays removed, because its folder
    /// was recreated `before` and lacked other files already.
    ///
    /// # Errors
    /// When the layer cannot be changed.
    pub fn undo_removals(
        &self,
        removed: &BTreeSet<IgnoredPath>,
        before: &IgnoredChanges,
    ) -> io::Result<BTreeSet<IgnoredPath>> {
        let mut left = BTreeSet::new();
        for path in removed {
            match fs::symlink_metadata(&path.upper) {
                Ok(facts) if is_whiteout(&facts) => {
                    fs::remove_file(&path.upper)?;
                    continue;
                }
                // A folder above was shown again.
                Ok(_) => continue,
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Err(_) => {}
            }
            let above = path.upper.ancestors().skip(1);
            let depth = path.path.components().count();
            let Some(anew) = above.take(depth).find(|folder| is_opaque(folder)) else { continue };
            if before.removed.iter().any(|earlier| earlier.upper.starts_with(anew)) {
                left.insert(path.clone());
                continue;
            }
            rustix::fs::lremovexattr(anew, OPAQUE)?;
        }
        Ok(left)
    }
}

/// Looks at an uppermost path, as far as its limit and what is `left` of the one of all allow.
fn look_at(place: &Place, left: &mut usize) -> io::Result<IgnoredChanges> {
    let allowed = PATHS_LIMIT.min(*left);
    let mut found = IgnoredChanges { left: allowed, ..IgnoredChanges::default() };
    at(place, &mut found)?;
    *left -= allowed - found.left;
    Ok(found)
}

fn at(place: &Place, found: &mut IgnoredChanges) -> io::Result<()> {
    if found.left == 0 {
        found.cut.insert(place.ignored.clone());
        return Ok(());
    }
    found.left -= 1;
    let was = place.lower();
    if was.is_none() && !place.names_new {
        return Ok(());
    }
    let is = match fs::symlink_metadata(&place.upper) {
        Ok(is) => is,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some((lower, was)) = was else { return new_at(place, &is, found) };
    if is.is_dir() && was.is_dir() {
        return in_folder(place, lower, found);
    }
    if is_whiteout(&is) {
        found.removed.insert(found_at(place, lower));
    } else if !is_same((&place.upper, &is), (lower, &was)) {
        found.changed.insert(found_at(place, lower));
    }
    Ok(())
}

/// Names a file that is new, or those in a folder that is.
fn new_at(place: &Place, is: &Metadata, found: &mut IgnoredChanges) -> io::Result<()> {
    if is.is_dir() {
        opened::open(&place.upper)?;
        for entry in fs::read_dir(&place.upper)? {
            inner_at(place, &entry?.file_name(), false, found)?;
        }
    } else if is.is_file() || is.is_symlink() {
        found.changed.insert(found_at(place, &place.upper));
    }
    Ok(())
}

/// Looks at what lies in a folder, besides git's own of another repository.
fn inner_at(
    place: &Place,
    name: &std::ffi::OsStr,
    hidden: bool,
    found: &mut IgnoredChanges,
) -> io::Result<()> {
    if place.names_new && name == ".git" {
        return Ok(());
    }
    at(&place.inner(name, hidden), found)
}

fn in_folder(place: &Place, lower: &Path, found: &mut IgnoredChanges) -> io::Result<()> {
    opened::open(&place.upper)?;
    let hidden = place.hidden || is_opaque(&place.upper);
    // Caches that only have other content are left out.
    let mut all = place.lowers.iter().chain([&place.upper]);
    if !hidden && all.any(|folder| is_tagged(folder)) {
        return Ok(());
    }
    for entry in fs::read_dir(&place.upper)? {
        inner_at(place, &entry?.file_name(), hidden, found)?;
    }
    if hidden {
        for entry in fs::read_dir(lower)? {
            let inner = place.inner(&entry?.file_name(), hidden);
            if fs::symlink_metadata(&inner.upper).is_err()
                && let Some((lower, _)) = inner.lower()
            {
                found.removed.insert(found_at(&inner, lower));
            }
        }
    }
    Ok(())
}

fn found_at(place: &Place, lower: &Path) -> IgnoredPath {
    IgnoredPath {
        ignored: place.ignored.clone(),
        path: place.path.clone(),
        upper: place.upper.clone(),
        lower: lower.to_owned(),
    }
}

/// Whether two files or links are the same, as far as that costs little to know.
fn is_same((upper, is): (&Path, &Metadata), (lower, was): (&Path, &Metadata)) -> bool {
    if is.is_symlink() || was.is_symlink() {
        return is.is_symlink()
            && was.is_symlink()
            && fs::read_link(upper).ok() == fs::read_link(lower).ok();
    }
    if !is.is_file() || !was.is_file() || is.len() != was.len() {
        return false;
    }
    (is.mtime(), is.mtime_nsec()) == (was.mtime(), was.mtime_nsec())
        || is.len() <= COMPARED_BYTES
            && matches!((fs::read(upper), fs::read(lower)), (Ok(is), Ok(was)) if is == was)
}

/// Counts the files at or below a path, beside `counted` of others, up to a limit for all.
fn files_in(path: &Path, counted: usize) -> usize {
    let (mut count, mut ahead) = (0, vec![path.to_owned()]);
    while let Some(path) = ahead.pop().filter(|_| counted + count < COUNTED_FILES) {
        if !fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_dir()) {
            count += 1;
            continue;
        }
        ahead.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    count
}
