//! Build output that is wanted in the checkout at the end, although git ignores it.

use crate::layer::{Layer, on_layer};
use crate::repo::{Repo, RepoError};
use crate::stored::OnDisk;
use locum_base::path::RepoPath;

impl Repo {
    /// Brings files that git ignores from a layer into the checkout, on behalf of whoever judged
    /// them: those that are `wanted`. What is gone in the layer stays in the checkout.
    ///
    /// # Errors
    /// When a file cannot be read or written; those before it are then there.
    pub fn bring_outputs(
        &self,
        layer: &Layer,
        wanted: impl Fn(&RepoPath) -> bool,
    ) -> Result<(), RepoError> {
        for path in self.ignored_files_in(layer)? {
            if wanted(&path)
                && let OnDisk::Stored(stored) = layer.stored(&path)?
            {
                self.checkout.put_stored(&path, Some(&stored))?;
            }
        }
        Ok(())
    }

    /// Returns the files in a layer that git ignores.
    fn ignored_files_in(&self, layer: &Layer) -> Result<Vec<RepoPath>, RepoError> {
        let mut found = Vec::new();
        let mut ahead = vec![(RepoPath::root(), false)];
        while let Some((folder, inside)) = ahead.pop() {
            let names = layer.names(&folder).map_err(|source| on_layer(&folder, source))?;
            for path in names.into_iter().flatten().filter(|path| path.name() != Some(".git")) {
                let facts = layer.facts(&path).map_err(|source| on_layer(&path, source))?;
                if facts.is_dir() && self.other_repository(&path)?.is_some() {
                    continue;
                }
                let ignored = inside || self.stays(layer, &path, facts.is_dir())?;
                if facts.is_dir() {
                    ahead.push((path, ignored));
                } else if ignored {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes a layer by hand")]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::fixture::RepoFixture;
    use crate::layer::Layer;

    #[test]
    fn what_is_wanted_of_what_git_ignores_is_brought_and_nothing_else() {
        let fixture = RepoFixture::new();
        fixture.write(".gitignore", "dist/\ntarget/\n*.log\n");
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::open(&folder.path().join("layer")).unwrap();
        for path in ["dist/a/x", "dist/.git/config", "target/y", "src/z.log", "src/new"] {
            let at = layer.folders().upper.join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, path).unwrap();
        }
        let wanted = |path: &locum_base::path::RepoPath| !path.as_str().starts_with("target");
        fixture.repo.bring_outputs(&layer, wanted).unwrap();
        let there = |path: &str| fixture.root.join(path).exists();
        assert_eq!(
            ["dist/a/x", "src/z.log", "dist/.git", "target", "src/new"].map(there),
            [true, true, false, false, false]
        );
    }
}
