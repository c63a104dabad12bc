//! What judges and shapes a run, read from the trusted ref and nowhere else: policy, modes,
//! settings, rules files, jobs.
//!
//! In: the repository and a commit. Out: texts, unparsed. The checkout's own copies are never read;
//! where they differ from the trusted ones, the caller is told, because people wonder why their
//! edit had no effect.

use crate::run::fault::Fault;
use crate::run::job::Job;
use locum_agent::tools::mcp::definition::{self, ServerFile};
use locum_base::path::RepoPath;
use locum_modes::ModeSource;
use locum_modes::merge::ModeText;
use locum_modes::places::{AGENT_FOLDERS, AGENTS_FILE, PROJECT_FILES, may_define};
use locum_modes::prompts::PromptFile;
use locum_modes::prompts::commands;
use locum_modes::prompts::rules::{self, RuleFile};
use locum_modes::prompts::skills::{self, SkillSet};
use locum_policy::ignore::{IGNORE_FILES, IgnoreFiles};
use locum_workspace::repo::{CommitId, Repo, TreeFile};

/// Where a repository keeps its policy unless told otherwise.
pub const POLICY_FILE: &str = ".locum/policy.yml";
/// Where a repository keeps its settings.
pub const CONFIG_FILE: &str = ".locum/config.yml";
/// Where a repository keeps its jobs.
pub const JOBS_FOLDER: &str = ".locum/jobs";

/// Largest file read from the trusted ref, in bytes.
pub const FILE_LIMIT_BYTES: u64 = 1024 * 1024;
/// Most jobs and most rules files of one repository.
pub const FILES_LIMIT: usize = 500;

/// Reads files of one commit.
#[derive(Clone, Copy)]
pub struct Trusted<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// The commit that is trusted.
    pub commit: &'a CommitId,
}

impl Trusted<'_> {
    /// Reads one file; `None` when it is not there.
    ///
    /// # Errors
    /// When the path is none, the file is too large, or git fails.
    pub fn file(&self, path: &str) -> Result<Option<TreeFile>, Fault> {
        let path = RepoPath::parse(path).map_err(|error| Fault::setup(path, error.to_string()))?;
        self.repo
            .file_at(self.commit, &path, FILE_LIMIT_BYTES)
            .map_err(|error| Fault::setup(path.as_str(), error.to_string()))
    }

    /// Reads every file that may define modes.
    ///
    /// # Errors
    /// As [`Trusted::file`].
    pub fn mode_files(&self) -> Result<Vec<ModeText>, Fault> {
        let mut files: Vec<TreeFile> = Vec::new();
        for path in PROJECT_FILES.iter().copied().chain([AGENTS_FILE]) {
            files.extend(self.file(path)?);
        }
        for folder in AGENT_FOLDERS {
            files.extend(self.below(folder.path, &may_define)?);
        }
        let text = |file: TreeFile| ModeText {
            source: ModeSource::Project { file: file.path.as_str().to_owned() },
            text: file.text,
        };
        Ok(files.into_iter().map(text).collect())
    }

    /// Reads the rules files of every mode that may run.
    ///
    /// # Errors
    /// As [`Trusted::file`].
    pub fn rules(&self, slugs: &[String]) -> Result<Vec<RuleFile>, Fault> {
        let places = rules::places(slugs);
        let mut files = Vec::new();
        for folder in &places.folders {
            files.extend(self.below(folder, &|path| {
                slugs.iter().any(|slug| rules::is_rules_file(path, slug))
            })?);
        }
        for file in &places.files {
            files.extend(self.file(file)?);
        }
        Ok(files
            .into_iter()
            .map(|file| RuleFile { path: file.path.as_str().to_owned(), text: file.text })
            .collect())
    }

    /// Reads every file of a slash command, the strongest folder first.
    ///
    /// # Errors
    /// As [`Trusted::file`].
    pub fn commands(&self) -> Result<Vec<PromptFile>, Fault> {
        let mut files = Vec::new();
        for folder in commands::FOLDERS {
            files.extend(self.below(folder, &commands::is_command_file)?);
        }
        Ok(files
            .into_iter()
            .map(|file| PromptFile { path: file.path.as_str().to_owned(), text: file.text })
            .collect())
    }

    /// Reads the skills of every mode that may run.
    ///
    /// # Errors
    /// As [`Trusted::file`]; also every mistake of the first of our own files that has any.
    pub fn skills(&self, slugs: &[String]) -> Result<SkillSet, Fault> {
        let mut texts = Vec::new();
        for folder in skills::folders(slugs) {
            texts.extend(self.below(&folder, &skills::is_skill_file)?);
        }
        let texts: Vec<PromptFile> = texts
            .into_iter()
            .map(|file| PromptFile { path: file.path.as_str().to_owned(), text: file.text })
            .collect();
        let set = SkillSet::read(&texts);
        match set.own_mistakes().first() {
            Some((origin, mistakes)) => Err(Fault::file(origin, mistakes.to_vec())),
            None => Ok(set),
        }
    }

    /// Reads the files of other agents that define MCP servers, the weaker first.
    ///
    /// # Errors
    /// As [`Trusted::file`]; mistakes are in what is returned.
    pub fn server_files(&self) -> Result<Vec<(String, ServerFile)>, Fault> {
        let mut files = Vec::new();
        for path in definition::FILES {
            files.extend(
                self.file(path)?
                    .map(|file| ((*path).to_owned(), ServerFile::parse(path, &file.text))),
            );
        }
        Ok(files)
    }

    /// Reads the ignore files of the root.
    ///
    /// # Errors
    /// As [`Trusted::file`]; also every mistake of the first ignore file that has any.
    pub fn ignored(&self) -> Result<IgnoreFiles, Fault> {
        let mut ignored = IgnoreFiles::default();
        for name in IGNORE_FILES {
            if let Some(file) = self.file(name)? {
                ignored.add(name, &file.text).map_err(|mistakes| Fault::file(name, mistakes))?;
            }
        }
        Ok(ignored)
    }

    /// Reads every job.
    ///
    /// # Errors
    /// As [`Trusted::file`]; also every mistake of the first job file that has any.
    pub fn jobs(&self) -> Result<Vec<Job>, Fault> {
        let read = |file: TreeFile| {
            let name = file.path.name()?.strip_suffix(".yml")?.to_owned();
            Some(
                Job::parse(&name, &file.text)
                    .map_err(|mistakes| Fault::file(file.path.as_str(), mistakes)),
            )
        };
        self.below(JOBS_FOLDER, &|_| true)?.into_iter().filter_map(read).collect()
    }

    fn below(&self, folder: &str, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<TreeFile>, Fault> {
        let root =
            RepoPath::parse(folder).map_err(|error| Fault::setup(folder, error.to_string()))?;
        let paths = self
            .repo
            .list_at(self.commit, &root, FILES_LIMIT)
            .map_err(|error| Fault::setup(folder, error.to_string()))?;
        paths
            .iter()
            .map(RepoPath::as_str)
            .filter(|path| wanted(path))
            .filter_map(|path| self.file(path).transpose())
            .collect()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes the checkout behind the commit")]
mod tests {
    use super::Trusted;
    use locum_base::path::RepoPath;
    use locum_workspace::repo::Repo;
    use locum_workspace::seed;

    #[test]
    fn ignore_files_are_those_of_the_trusted_commit() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = seed::repository(
            folder.path(),
            &[(".rooignore", "secrets/\n"), ("sub/.rooignore", "*\n")],
            "first",
        )
        .unwrap();
        std::fs::write(folder.path().join(".rooignore"), "").unwrap();
        let repo = Repo::open(folder.path()).unwrap();
        let ignored = Trusted { repo: &repo, commit: &trusted }.ignored().unwrap();
        for (path, hidden) in [("secrets/a", true), ("sub/a", false)] {
            assert_eq!(ignored.hidden(&RepoPath::parse(path).unwrap()).is_some(), hidden, "{path}");
        }
    }

    #[test]
    fn a_broken_ignore_file_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let trusted =
            seed::repository(folder.path(), &[(".locumignore", "a\n[z-a]\n")], "first").unwrap();
        let fault = Trusted { repo: &Repo::open(folder.path()).unwrap(), commit: &trusted }
            .ignored()
            .unwrap_err();
        assert_eq!(
            fault.notes.iter().map(|note| note.place.as_str()).collect::<Vec<_>>(),
            [".locumignore:2:1"]
        );
    }
}
