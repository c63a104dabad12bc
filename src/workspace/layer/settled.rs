//! What is taken out of a layer once it was judged; what git ignores stays.
//!
//! In: a layer whose changes were brought, kept out or thrown away. Out: the same layer with what
//! later commands find in it. A `.gitignore` that was brought changes what git ignores: then what
//! stays is what git ignored when the layer was judged, and nothing goes that nobody judged.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::collections::BTreeSet;
use std::fs::{self, Metadata};

use rustix::io::Errno;

use super::{Layer, OPAQUE, is_whiteout, on_layer};
use crate::checkout::FileError;
use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;
use locum_sandbox::remove_all;

/// How a layer is settled.
struct Settling<'s> {
    repo: &'s Repo,
    layer: &'s Layer,
    /// The uppermost paths that stay; `None` for what git ignores now.
    staying: Option<&'s BTreeSet<RepoPath>>,
    /// Under which label it is kept what no [`RepoPath`] can express; `None` where all of it goes.
    label: Option<&'s str>,
}

impl Repo {
    /// Takes everything out of a layer that is judged, to throw it away: what git ignores stays.
    ///
    /// # Errors
    /// When the layer cannot be changed.
    pub fn settle(&self, layer: &Layer) -> Result<(), RepoError> {
        let settling = Settling { repo: self, layer, staying: None, label: None };
        settling.settle_below(&RepoPath::root())
    }

    /// Takes everything out of a layer that was judged and brought or kept out. `staying` is what
    /// [`Repo::staying`] was before that; `None` where nothing changed what git ignores. What no
    /// path can express is kept, below [`Layer::kept`] and `label`.
    ///
    /// # Errors
    /// When the layer cannot be changed.
    pub fn settle_judged(
        &self,
        layer: &Layer,
        staying: Option<&BTreeSet<RepoPath>>,
        label: &str,
    ) -> Result<(), RepoError> {
        let settling = Settling { repo: self, layer, staying, label: Some(label) };
        settling.settle_below(&RepoPath::root())
    }

    /// Returns the uppermost paths in a layer that stay in it by what git ignores now.
    ///
    /// # Errors
    /// When the layer cannot be read.
    pub fn staying(&self, layer: &Layer) -> Result<BTreeSet<RepoPath>, RepoError> {
        let (mut found, mut ahead) = (BTreeSet::new(), vec![RepoPath::root()]);
        while let Some(folder) = ahead.pop() {
            // What is too deep down to be looked at was not judged, and is kept out as a whole.
            let Ok(names) = layer.names(&folder) else { continue };
            for path in names.into_iter().flatten() {
                let facts = layer.facts(&path).map_err(|source| on_layer(&path, source))?;
                if self.is_left(layer, &path, &facts)? {
                    found.insert(path);
                } else if facts.is_dir() {
                    ahead.push(path);
                }
            }
        }
        Ok(found)
    }

    /// Whether a path stays in a layer, or a mark that it is gone.
    fn is_left(&self, layer: &Layer, path: &RepoPath, facts: &Metadata) -> Result<bool, RepoError> {
        Ok(self.stays(layer, path, facts.is_dir())?
            || is_whiteout(facts) && self.is_of_another_repository(path)?)
    }
}

impl Settling<'_> {
    fn settle_below(&self, folder: &RepoPath) -> Result<(), RepoError> {
        let layer = self.layer;
        let io = |path: &RepoPath| {
            let path = path.clone();
            move |source| on_layer(&path, source)
        };
        for name in layer.names(folder).map_err(io(folder))? {
            let path = match name {
                Ok(path) => path,
                Err(name) => {
                    let is_folder = fs::symlink_metadata(&name).map_err(io(folder))?.is_dir();
                    let settled = match self.label {
                        Some(label) => layer.keep_unnamed(&name, label),
                        None if is_folder => remove_all(&name),
                        None => fs::remove_file(name),
                    };
                    settled.map_err(io(folder))?;
                    continue;
                }
            };
            let (at, facts) = (layer.upper_at(&path), layer.facts(&path).map_err(io(&path))?);
            if self.stays(&path, &facts)? {
                continue;
            }
            if !facts.is_dir() {
                fs::remove_file(at).map_err(io(&path))?;
                continue;
            }
            match self.settle_below(&path) {
                Ok(()) => {}
                Err(error) if is_too_deep(&error) => {
                    let settled = match self.label {
                        Some(label) => layer.keep_whole(&path, label),
                        None => remove_all(&at),
                    };
                    settled.map_err(io(&path))?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if layer.is_opaque(&path) {
                rustix::fs::lremovexattr(&at, OPAQUE).map_err(|errno| io(&path)(errno.into()))?;
            }
            match rustix::fs::rmdir(&at) {
                // What git ignores is in it.
                Ok(()) | Err(Errno::NOTEMPTY) => {}
                Err(errno) => return Err(io(&path)(errno.into())),
            }
        }
        Ok(())
    }

    fn stays(&self, path: &RepoPath, facts: &Metadata) -> Result<bool, RepoError> {
        match self.staying {
            Some(staying) => Ok(staying.contains(path)),
            None => self.repo.is_left(self.layer, path, facts),
        }
    }
}

/// Whether something lies so deep down that the kernel takes no name for it from here.
fn is_too_deep(error: &RepoError) -> bool {
    matches!(error, RepoError::File(FileError::Io { source, .. })
        if Errno::from_io_error(source) == Some(Errno::NAMETOOLONG))
}
