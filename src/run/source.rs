//! `FileSource`: where the files of a repository that judge and shape a run are read. That is a
//! commit for a run, or the working tree, so that an edit can be inspected before it is committed.
//!
//! In: the repository and a commit, or a folder. Out: texts; each file is interpreted elsewhere. A
//! run never reads the checkout's own copies.

use std::path::{Path, PathBuf};

use crate::config::files::{self, FileFault};
use crate::config::load::ConfigFile;
use crate::run::error::RunError;
use locum_agent::tools::mcp::definition::{self, ServerFile};
use locum_base::path::RepoPath;
use locum_modes::ModeSource;
use locum_modes::merge::ModeText;
use locum_modes::places::{AGENT_FOLDERS, AGENTS_FILE, PROJECT_FILES, may_define};
use locum_modes::prompts::PromptFile;
use locum_modes::prompts::rules::{self, RulesFiles};
use locum_modes::prompts::skills::{self, SkillSet};
use locum_policy::ignore::{IGNORE_FILES, IgnoreFiles};
use locum_workspace::checkout::FileError;
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// Where a repository keeps its jobs.
pub const JOBS_FOLDER: &str = ".locum/jobs";

/// Largest file read from a commit, in bytes.
const FILE_LIMIT_BYTES: u64 = 1024 * 1024;
/// Most jobs and most rules files of one repository.
const FILES_LIMIT: usize = 500;

/// Where the files of a repository are read.
#[derive(Clone)]
pub enum FileSource<'a> {
    /// Below this folder, as they are now.
    WorkingTree(PathBuf),
    /// In this commit.
    Commit(&'a Repo, CommitId),
}

impl std::fmt::Display for FileSource<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WorkingTree(root) => write!(formatter, "`{}`", root.display()),
            Self::Commit(_, commit) => write!(formatter, "commit {commit}"),
        }
    }
}

/// Returns why a path that a repository names leads out of its working tree.
fn outside(root: &Path, path: &str) -> Option<String> {
    if let Err(error) = RepoPath::parse(path) {
        return Some(error.to_string());
    }
    let (file, root) = (root.join(path).canonicalize().ok()?, root.canonicalize().ok()?);
    (!file.starts_with(root)).then(|| "it leads out of the repository".to_owned())
}

impl FileSource<'_> {
    /// Reads a file of the repository; `None` when it is not there.
    ///
    /// # Errors
    /// When the path leads out of the repository, the file is too large, or it cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<ConfigFile>, RunError> {
        tracing::trace!(path, source = %self, "read a file");
        let text = match self {
            Self::WorkingTree(root) => {
                files::read(&root.join(path)).map_err(|error| unreadable(path, &error))?
            }
            Self::Commit(repo, commit) => {
                let wrong =
                    |error: &dyn std::fmt::Display| RunError::usage(path, error.to_string());
                let repo_path = RepoPath::parse(path).map_err(|error| wrong(&error))?;
                repo.file_at(commit, &repo_path, FILE_LIMIT_BYTES)
                    .map_err(|error| wrong(&error))?
                    .map(|file| file.text)
            }
        };
        Ok(text.map(|text| ConfigFile { origin: path.to_owned(), text }))
    }

    /// Reads a file of Locum's own, whose name ends with `.yml`; `None` when it is not there.
    ///
    /// # Errors
    /// As [`FileSource::file`], and when the same name with `.yaml` is there in its place.
    pub fn own_file(&self, path: &str) -> Result<Option<ConfigFile>, RunError> {
        let file = self.regular_file(path)?;
        if file.is_none() {
            self.misnamed(path)?;
        }
        Ok(file)
    }

    /// Reads a file that must be a regular one of UTF-8 text if it is there at all: where it is
    /// passed over, more is allowed or seen.
    ///
    /// # Errors
    /// As [`FileSource::file`]; also for a link, on the way too, and for a folder.
    pub fn regular_file(&self, path: &str) -> Result<Option<ConfigFile>, RunError> {
        let text = match self {
            Self::WorkingTree(root) => {
                let names = Path::new(path).ancestors().filter(|at| !at.as_os_str().is_empty());
                if let Some(link) = names.into_iter().find(|at| root.join(at).is_symlink()) {
                    let named = match link.to_string_lossy() {
                        link if link == path => String::new(),
                        link => format!("`{link}` "),
                    };
                    return Err(no_regular_file(path, &format!("{named}is a symbolic link")));
                }
                return self.file(path);
            }
            Self::Commit(repo, commit) => RepoPath::parse(path)
                .map_err(|error| error.to_string())
                .inspect(|_| tracing::trace!(path, source = %self, "read a file"))
                .and_then(|at| {
                    let text = repo.text_at(commit, &at, FILE_LIMIT_BYTES);
                    text.map_err(|error| match error {
                        RepoError::File(FileError::NotText(_)) => "is not UTF-8 text".to_owned(),
                        RepoError::File(FileError::NotAFile { path, what }) if path == at => {
                            format!("is {what}")
                        }
                        error => error.to_string(),
                    })
                })
                .map_err(|error| no_regular_file(path, &error))?,
        };
        Ok(text.map(|text| ConfigFile { origin: path.to_owned(), text }))
    }

    /// Refuses a file that was meant for one of Locum's own and ends with `.yaml`: what it says
    /// would be passed over without a word.
    ///
    /// # Errors
    /// When there is one.
    pub fn misnamed(&self, path: &str) -> Result<(), RunError> {
        let Some(other) = yaml_name(path) else { return Ok(()) };
        match self.file(&other) {
            Ok(None) => Ok(()),
            Ok(Some(_)) | Err(_) => Err(wrong_ending(&other, path)),
        }
    }

    /// Reads every text file below a folder of the repository, with its path below that folder.
    ///
    /// # Errors
    /// When one cannot be read or is not text, or there are too many.
    pub fn below(&self, folder: &str) -> Result<Vec<(RepoPath, String)>, RunError> {
        let mut found = Vec::new();
        for file in self.texts(&[folder], &|_| true)? {
            let path = file.path.get(folder.len() + 1..).unwrap_or_default();
            let path = RepoPath::parse(path)
                .map_err(|error| RunError::usage(folder, error.to_string()))?;
            found.push((path, file.text));
        }
        Ok(found)
    }

    /// Reads those files below some folders that are wanted.
    ///
    /// # Errors
    /// When one cannot be read or is not text, or there are too many.
    pub fn texts(
        &self,
        folders: &[&str],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<PromptFile>, RunError> {
        let mut found = Vec::new();
        for folder in folders {
            for path in self.paths_below(folder)?.into_iter().filter(|path| wanted(path)) {
                found.extend(
                    self.file(&path)?.map(|file| PromptFile { path: file.origin, text: file.text }),
                );
            }
        }
        Ok(found)
    }

    /// Returns the path of every file below a folder.
    pub(super) fn paths_below(&self, folder: &str) -> Result<Vec<String>, RunError> {
        match self {
            Self::WorkingTree(root) => {
                let names = files::below(&root.join(folder), FILES_LIMIT)
                    .map_err(|error| unreadable(folder, &error))?;
                Ok(names.into_iter().map(|name| format!("{folder}/{name}")).collect())
            }
            Self::Commit(repo, commit) => {
                let wrong =
                    |error: &dyn std::fmt::Display| RunError::usage(folder, error.to_string());
                let root = RepoPath::parse(folder).map_err(|error| wrong(&error))?;
                let paths =
                    repo.list_at(commit, &root, FILES_LIMIT).map_err(|error| wrong(&error))?;
                Ok(paths.iter().map(|path| path.as_str().to_owned()).collect())
            }
        }
    }

    /// Reads every file that may define modes.
    ///
    /// # Errors
    /// As [`FileSource::texts`].
    pub fn mode_texts(&self) -> Result<Vec<ModeText>, RunError> {
        let mut texts = Vec::new();
        for path in PROJECT_FILES.iter().copied().chain([AGENTS_FILE]) {
            texts.extend(self.own_file(path)?.map(|file| (file.origin, file.text)));
        }
        let folders: Vec<&str> = AGENT_FOLDERS.iter().map(|folder| folder.path).collect();
        let agents = self.texts(&folders, &may_define)?;
        texts.extend(agents.into_iter().map(|file| (file.path, file.text)));
        let text = |(file, text)| ModeText { source: ModeSource::Project { file }, text };
        Ok(texts.into_iter().map(text).collect())
    }

    /// Reads the rules files of these modes, and those that the settings name.
    ///
    /// # Errors
    /// As [`FileSource::texts`], and when there is no file of a name.
    pub fn rules(&self, slugs: &[String], named: &[String]) -> Result<RulesFiles, RunError> {
        let places = rules::places(slugs);
        let folders: Vec<&str> = places.folders.iter().map(String::as_str).collect();
        let of_a_mode = |path: &str| slugs.iter().any(|slug| rules::is_rules_file(path, slug));
        let shown = |file: ConfigFile| PromptFile { path: file.origin, text: file.text };
        let mut files = RulesFiles { placed: self.texts(&folders, &of_a_mode)?, named: Vec::new() };
        for path in &places.files {
            files.placed.extend(self.file(path)?.map(shown));
        }
        for path in named {
            if let Self::WorkingTree(root) = self
                && let Some(why) = outside(root, path)
            {
                return Err(RunError::usage(path, why).hint("`context_files` names it"));
            }
            let file = self.file(path)?.ok_or_else(|| {
                RunError::usage(path, format!("no such file in {self}"))
                    .hint("`context_files` names it: commit it, or take it out there")
            })?;
            files.named.push(shown(file));
        }
        Ok(files)
    }

    /// Reads the skills of these modes, those with mistakes among them.
    ///
    /// # Errors
    /// As [`FileSource::texts`].
    pub fn skills(&self, slugs: &[String]) -> Result<SkillSet, RunError> {
        let folders = skills::folders(slugs);
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        Ok(SkillSet::read(&self.texts(&folders, &skills::is_skill_file)?))
    }

    /// Reads the files of other agents that define MCP servers, the weaker first.
    ///
    /// # Errors
    /// As [`FileSource::file`]; mistakes are in what is returned.
    pub fn server_files(&self) -> Result<Vec<(String, ServerFile)>, RunError> {
        let mut files = Vec::new();
        for path in definition::FILES {
            let parsed = |file: ConfigFile| (file.origin, ServerFile::parse(path, &file.text));
            files.extend(self.file(path)?.map(parsed));
        }
        Ok(files)
    }

    /// Reads the ignore files of the root.
    ///
    /// # Errors
    /// As [`FileSource::file`]; also every mistake of the first ignore file that has any.
    pub fn ignored(&self) -> Result<IgnoreFiles, RunError> {
        let mut ignored = IgnoreFiles::default();
        for name in IGNORE_FILES {
            if let Some(file) = self.regular_file(name)? {
                ignored.add(name, &file.text).map_err(|mistakes| RunError::file(name, mistakes))?;
            }
        }
        Ok(ignored)
    }
}

/// Returns what a file of Locum's own would be called with the other ending of YAML; `None` for
/// other names.
pub(super) fn yaml_name(path: &str) -> Option<String> {
    path.strip_suffix(".yml").map(|stem| format!("{stem}.yaml"))
}

/// Returns the error of a file that ends with `.yaml` where another name is read.
pub(super) fn wrong_ending(found: &str, read: &str) -> RunError {
    let name = read.rsplit('/').next().unwrap_or(read);
    RunError::usage(found, format!("nothing reads this file: its name has to be `{name}`"))
        .hint(format!("rename it: `git mv {found} {read}`"))
}

/// Returns the error of a file that only counts as a regular file.
fn no_regular_file(path: &str, why: &str) -> RunError {
    RunError::usage(path, why).hint("commit it as a regular file of UTF-8 text, not as a link")
}

/// Returns the error of a file of this machine that cannot be read.
pub(crate) fn unreadable(origin: &str, error: &FileFault) -> RunError {
    match error {
        FileFault::NotText(place) => {
            RunError::usage(format!("{origin}:{place}"), "is not UTF-8 text")
                .hint("save it as UTF-8")
        }
        FileFault::NotAFile
        | FileFault::Changed
        | FileFault::TooLarge(_)
        | FileFault::TooMany(_)
        | FileFault::Io(_) => RunError::usage(origin, error.to_string()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes the checkout behind the commit")]
mod tests {
    use super::FileSource;
    use locum_base::path::RepoPath;
    use locum_files::diagnostic::Diagnostic;
    use locum_testing::repository::TestRepository;
    use locum_workspace::repo::{CommitId, Repo};
    use locum_workspace::seed;
    use pretty_assertions::assert_eq;

    #[test]
    fn ignore_files_are_those_of_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = seed::repository(
            folder.path(),
            &[(".rooignore", "secrets/\n"), ("sub/.rooignore", "*\n")],
            "first",
        )
        .unwrap();
        std::fs::write(folder.path().join(".rooignore"), "").unwrap();
        let repo = Repo::open(folder.path()).unwrap();
        let hidden = |source: &FileSource<'_>, path: &str| {
            source.ignored().unwrap().hidden(&RepoPath::parse(path).unwrap()).is_some()
        };
        let commit = FileSource::Commit(&repo, trusted);
        assert_eq!((hidden(&commit, "secrets/a"), hidden(&commit, "sub/a")), (true, false));
        let working_tree = FileSource::WorkingTree(folder.path().to_owned());
        assert!(!hidden(&working_tree, "secrets/a"));
    }

    #[test]
    fn ignore_file_with_a_mistake_is_reported_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let trusted =
            seed::repository(folder.path(), &[(".locumignore", "a\n[z-a]\n")], "first").unwrap();
        let repo = Repo::open(folder.path()).unwrap();
        let error = FileSource::Commit(&repo, trusted).ignored().unwrap_err();
        let places: Vec<String> = error.diagnostics.iter().map(Diagnostic::location).collect();
        assert_eq!(places, [".locumignore:2:1"]);
    }

    #[test]
    fn what_hides_or_forbids_is_a_regular_file_of_text_or_an_error() {
        let made = TestRepository::new(&[("a", "x")]);
        let said = |source: &FileSource<'_>, name: &str| {
            let error = if name == ".locumignore" {
                source.ignored().map(|_| ()).unwrap_err()
            } else {
                source.own_file(name).map(|_| ()).unwrap_err()
            };
            error.diagnostics.iter().map(Diagnostic::what).collect::<Vec<_>>().join("; ")
        };
        let check = |name: &str, [committed, here]: [&str; 2]| {
            let trusted = CommitId(made.commit("next"));
            let repo = Repo::open(made.root()).unwrap();
            let commit = FileSource::Commit(&repo, trusted);
            let tree = FileSource::WorkingTree(made.root().into());
            for (source, why) in [(commit, committed), (tree, here)] {
                assert!(said(&source, name).contains(why), "{source}: {}", said(&source, name));
            }
        };
        for (bytes, why) in
            [(&b"\xff\xfes\0\n\0"[..], "is not UTF-8 text"), (b"s\0\n\0", "holds U+0000")]
        {
            made.write(".locumignore", bytes);
            check(".locumignore", [why; 2]);
        }
        made.remove(".locumignore");
        made.link("a", ".locumignore");
        check(".locumignore", ["is a symbolic link"; 2]);
        made.remove(".locumignore");
        made.write(".locumignore/x", "");
        check(".locumignore", ["is a folder", "not a regular file"]);
        made.link("elsewhere", ".locum");
        check(".locum/policy.yml", ["`.locum` is a symbolic link"; 2]);
    }
}
