//! Folders of caches that commands leave in a layer: nobody's work, so they stay there as what git
//! ignores does, and nothing is said of them.
//!
//! In: a folder of a layer. Out: whether it says of itself that it is a cache: by a
//! `CACHEDIR.TAG` (<https://bford.info/cachedir/>), by a `.gitignore` of its own that ignores all
//! of it, or by its name. A folder in which git has files is none.
#![expect(clippy::disallowed_methods, reason = "layers lie outside the checkout")]

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::layer::Layer;
use crate::repo::{Repo, RepoError};
use locum_base::path::RepoPath;

/// Folders of caches that are made again in no time, and that may be everywhere.
pub(crate) const CACHES: &[&str] = &["__pycache__"];

/// What a `CACHEDIR.TAG` begins with.
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// Bytes that are read of a `.gitignore` that ignores everything.
const IGNORE_BYTES: u64 = 1024;

impl Repo {
    /// Whether a path in a layer is none of the checkout's: git ignores it and has nothing there,
    /// it belongs to another repository, or it is a cache.
    ///
    /// # Errors
    /// When git's index cannot be read.
    pub(crate) fn stays(
        &self,
        layer: &Layer,
        path: &RepoPath,
        is_folder: bool,
    ) -> Result<bool, RepoError> {
        if self.stays_in_layer(path, is_folder)? {
            return Ok(true);
        }
        Ok(is_folder && is_cache(layer, path) && !self.has_files_in(path)?)
    }

    fn has_files_in(&self, folder: &RepoPath) -> Result<bool, RepoError> {
        Ok(self.git.index()?.find_prefix(format!("{folder}/")).is_ok())
    }
}

fn is_cache(layer: &Layer, path: &RepoPath) -> bool {
    if path.name().is_some_and(|name| CACHES.contains(&name)) {
        return true;
    }
    let folder = layer.upper_at(path);
    is_tagged(&folder) || ignores_all(&beginning(&folder.join(".gitignore"), IGNORE_BYTES))
}

/// Whether a folder says by its name or a tag in it that it can be made again. A `.gitignore` of
/// its own says less: environments of Python have one.
pub(crate) fn is_tagged(folder: &Path) -> bool {
    if folder.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache)) {
        return true;
    }
    beginning(&folder.join("CACHEDIR.TAG"), SIGNATURE.len() as u64) == SIGNATURE
}

fn ignores_all(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let mut rules =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    rules.next() == Some("*") && rules.next().is_none()
}

/// Returns how a regular file begins; nothing where there is none.
fn beginning(file: &Path, bytes: u64) -> Vec<u8> {
    let mut read = Vec::new();
    let is_file = file.symlink_metadata().is_ok_and(|facts| facts.is_file());
    if let Some(opened) = is_file.then(|| File::open(file).ok()).flatten()
        && opened.take(bytes).read_to_end(&mut read).is_err()
    {
        read.clear();
    }
    read
}
