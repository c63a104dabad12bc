//! `FilePattern`: a glob on file names or, with a `/` in it, on paths.

use globset::{GlobBuilder, GlobMatcher};

use locum_base::path::RepoPath;

/// Which files a list or a search is limited to.
#[derive(Clone, Debug)]
pub struct FilePattern {
    glob: GlobMatcher,
    on_path: bool,
}

impl FilePattern {
    /// Reads a glob in globset's syntax, where `*` and `?` match no `/`.
    ///
    /// # Errors
    /// When it is not a glob.
    pub fn parse(text: &str) -> Result<Self, globset::Error> {
        let text = text.trim().trim_start_matches("./");
        let glob = GlobBuilder::new(text).literal_separator(true).build()?;
        Ok(Self { glob: glob.compile_matcher(), on_path: text.contains('/') })
    }

    /// Returns true for a file below `folder` that fits. A pattern with a `/` may be meant from the
    /// root or from the folder.
    pub fn matches(&self, path: &RepoPath, folder: &RepoPath) -> bool {
        if !self.on_path {
            return path.name().is_some_and(|name| self.glob.is_match(name));
        }
        let below =
            path.as_str().strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
        self.glob.is_match(path.as_str()) || below.is_some_and(|below| self.glob.is_match(below))
    }
}
