//! What is kept out of the checkout: it stays in the folder of the session.
#![expect(clippy::disallowed_methods, reason = "a layer lies outside the checkout")]

use std::fs;
use std::io;
use std::path::PathBuf;

use super::{Layer, is_whiteout};
use locum_base::path::RepoPath;

impl Layer {
    /// Returns where what was kept out of the checkout lies.
    pub fn kept(&self) -> PathBuf {
        self.folder.join("kept")
    }

    /// Keeps what was written to a path out of the checkout, below [`Layer::kept`] and `label`.
    ///
    /// # Errors
    /// When it cannot be moved there.
    pub fn keep_out(&self, path: &RepoPath, label: &str) -> io::Result<()> {
        let from = self.upper.absolute(path);
        match fs::symlink_metadata(&from) {
            Ok(facts) if !is_whiteout(&facts) => {}
            // Of what was removed there is nothing to keep.
            Ok(_) | Err(_) => return Ok(()),
        }
        let to = self.kept().join(label).join(path.as_str());
        fs::create_dir_all(to.parent().unwrap_or(&self.folder))?;
        fs::rename(from, to)
    }

    /// Whether a path was kept out of the checkout under `label`.
    pub fn is_kept_out(&self, path: &RepoPath, label: &str) -> bool {
        fs::symlink_metadata(self.kept().join(label).join(path.as_str())).is_ok()
    }
}
