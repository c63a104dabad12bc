//! A new repository with one commit, for the demo.
//!
//! In: a folder that is empty or missing, and files. Out: a checkout on branch `main`. It never
//! touches a folder that holds something.

#![expect(clippy::disallowed_methods, reason = "writes the demo's files into a folder made for it")]

use std::path::Path;

use crate::repo::{CommitId, RepoError};
use locum_base::path::RepoPath;

/// Makes a repository in `folder` with these files in its first commit.
///
/// # Errors
/// When the folder holds something already, or a file or object cannot be written.
pub fn repository(
    folder: &Path,
    files: &[(&str, &str)],
    message: &str,
) -> Result<CommitId, SeedError> {
    std::fs::create_dir_all(folder)?;
    if std::fs::read_dir(folder)?.next().is_some() {
        return Err(SeedError::NotEmpty(folder.display().to_string()));
    }
    for (path, text) in files {
        let path = RepoPath::parse(path)?;
        std::fs::create_dir_all(folder.join(path.parent().as_str()))?;
        std::fs::write(folder.join(path.as_str()), text)?;
    }
    let git = git2::Repository::init_opts(
        folder,
        git2::RepositoryInitOptions::new().initial_head("main").external_template(false),
    )
    .map_err(RepoError::from)?;
    Ok(commit_all(&git, message)?)
}

fn commit_all(git: &git2::Repository, message: &str) -> Result<CommitId, RepoError> {
    let mut index = git.index()?;
    index.add_all(["*"], git2::IndexAddOption::DEFAULT, None)?;
    index.write()?;
    let tree = git.find_tree(index.write_tree()?)?;
    let author = git2::Signature::now("Locum demo", "demo@locum.invalid")?;
    let commit = git.commit(Some("HEAD"), &author, &author, message, &tree, &[])?;
    Ok(CommitId(commit.to_string()))
}

/// Why the new repository could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// The folder holds something.
    #[error("`{0}` is not empty")]
    NotEmpty(String),
    /// A file's name is none.
    #[error(transparent)]
    Path(#[from] locum_base::path::PathError),
    /// A file could not be written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Git reports an error.
    #[error(transparent)]
    Repo(#[from] RepoError),
}

#[cfg(test)]
mod tests {
    use super::{SeedError, repository};
    use pretty_assertions::assert_eq;

    #[test]
    fn makes_a_repository_only_where_there_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("demo");
        let commit = repository(
            &place,
            &[("src/lib.rs", "//! x\n"), (".locum/policy.yml", "version: 1\n")],
            "first",
        )
        .unwrap();
        let git = git2::Repository::open(&place).unwrap();
        let tree = git.head().unwrap().peel_to_tree().unwrap();
        assert_eq!(git.head().unwrap().target().unwrap().to_string(), commit.0);
        assert!(tree.get_path(std::path::Path::new(".locum/policy.yml")).is_ok());
        assert!(git.statuses(None).unwrap().is_empty());
        assert!(matches!(repository(&place, &[], "again"), Err(SeedError::NotEmpty(_))));
    }
}
