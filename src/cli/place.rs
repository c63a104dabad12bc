//! `Place`: where the inspecting subcommands (`config`, `modes`, `models`, `policy`) read the repository's files: the working tree, so
//! that an edit can be looked at before it is committed, or a commit by `--at`, which is what a run reads.

use std::path::{Path, PathBuf};

use crate::cli::Context;
use crate::cli::failure::{Failure, Mistake};
use crate::config::environment::Environment;
use crate::config::files::{self, FileFault};
use crate::config::load::{ConfigFile, FlagValue, Layers, load};
use crate::config::settings::Settings;
use crate::config::source::ConfigErrors;
use crate::modes::loader::{self, ModeErrors};
use crate::modes::{ModeSet, ModeSource, builtin};
use crate::policy::ignore::{IGNORE_FILES, IgnoreFiles};
use crate::run::fault::Fault;
use crate::run::trusted::{CONFIG_FILE, Trusted};
use crate::workspace::repo::{CommitId, Repo};

/// Where files are read.
pub enum Place {
    /// Below this folder, as they are now.
    WorkingTree(PathBuf),
    /// In this commit.
    Commit(Box<Repo>, CommitId),
}

impl Place {
    /// Opens the working tree around the folder, or the commit a revision names.
    ///
    /// # Errors
    /// When a revision is given and there is no repository or no such revision.
    pub fn open(context: &Context, at: Option<&str>) -> Result<Self, Failure> {
        let repo = Repo::open(&context.folder);
        match at {
            None => Ok(Self::WorkingTree(repo.map_or_else(|_| context.folder.clone(), |repo| repo.root().to_owned()))),
            Some(revision) => {
                let fault = |error: crate::workspace::repo::RepoError| Failure::usage("--at", error.to_string());
                let repo = repo.map_err(fault)?;
                let commit = repo.commit_of(revision).map_err(fault)?;
                Ok(Self::Commit(Box::new(repo), commit))
            }
        }
    }

    /// Reads a file of the repository; `None` when it is not there.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<ConfigFile>, Failure> {
        let text = match self {
            Self::WorkingTree(root) => files::read(&root.join(path)).map_err(|fault| unreadable(path, &fault))?,
            Self::Commit(repo, commit) => Trusted { repo, commit }.file(path)?.map(|file| file.text),
        };
        Ok(text.map(|text| ConfigFile { origin: path.to_owned(), text }))
    }

    /// Returns what the repository's ignore files hide.
    ///
    /// # Errors
    /// When one cannot be read; every mistake of the first that has any.
    pub fn ignored(&self) -> Result<IgnoreFiles, Failure> {
        let mut ignored = IgnoreFiles::default();
        for name in IGNORE_FILES {
            if let Some(file) = self.file(name)? {
                ignored.add(name, &file.text).map_err(|mistakes| Fault::file(name, mistakes))?;
            }
        }
        Ok(ignored)
    }

    /// Returns the settings with the repository's file as it is here.
    ///
    /// # Errors
    /// Every mistake of every layer.
    pub fn settings(&self, environment: &Environment, flags: &[FlagValue]) -> Result<Settings, Failure> {
        let user = user_file(environment, "config.yml")?;
        let repository = self.file(CONFIG_FILE)?;
        Ok(load(&Layers { user: user.as_ref(), repository: repository.as_ref(), environment, flags })?)
    }

    /// Returns every mode: built-in, the user's, the repository's.
    ///
    /// # Errors
    /// Every mistake of every file.
    pub fn modes(&self, environment: &Environment) -> Result<ModeSet, Failure> {
        let mut files: Vec<(ConfigFile, ModeSource)> = Vec::new();
        files.extend(user_file(environment, "modes.yml")?.map(|file| (file.clone(), ModeSource::Global { file: file.origin })));
        for path in loader::PROJECT_FILES {
            files.extend(self.file(path)?.map(|file| (file.clone(), ModeSource::Project { file: file.origin })));
        }
        let mut layers = vec![builtin::modes()];
        let mut mistakes = Vec::new();
        for (file, source) in &files {
            match loader::parse(&file.text, source) {
                Ok(modes) => layers.push(modes),
                Err(errors) => mistakes.extend(Failure::from(errors).mistakes),
            }
        }
        if mistakes.is_empty() { Ok(ModeSet::merge(layers)) } else { Err(Failure { status: super::ExitStatus::Usage, mistakes }) }
    }
}

/// Returns the settings that no repository has a word in: the user's file, the environment, flags.
///
/// # Errors
/// Every mistake of every layer.
pub fn own_settings(environment: &Environment, flags: &[FlagValue]) -> Result<Settings, Failure> {
    let user = user_file(environment, "config.yml")?;
    Ok(load(&Layers { user: user.as_ref(), repository: None, environment, flags })?)
}

/// Reads a file of the user's own configuration; `None` when it is not there.
///
/// # Errors
/// When it cannot be read.
pub fn user_file(environment: &Environment, name: &str) -> Result<Option<ConfigFile>, Failure> {
    let Some(folder) = environment.config_folder() else { return Ok(None) };
    named_file(&folder.join(name))
}

/// Reads a file a person named; `None` when it is not there.
///
/// # Errors
/// When it cannot be read.
pub fn named_file(path: &Path) -> Result<Option<ConfigFile>, Failure> {
    let origin = path.display().to_string();
    let text = files::read(path).map_err(|fault| unreadable(&origin, &fault))?;
    Ok(text.map(|text| ConfigFile { origin, text }))
}

fn unreadable(origin: &str, fault: &FileFault) -> Failure {
    Failure::usage(origin, fault.to_string())
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        let mistake = |error: crate::config::source::ConfigError| Mistake { place: error.place, what: error.message, hint: error.hint };
        Self { status: super::ExitStatus::Usage, mistakes: errors.0.into_iter().map(mistake).collect() }
    }
}

impl From<ModeErrors> for Failure {
    fn from(errors: ModeErrors) -> Self {
        let place = |origin: String, line: u32, column: u32| if line == 0 { origin } else { format!("{origin}:{line}:{column}") };
        let mistake = |error: loader::ModeError| Mistake {
            place: place(error.origin, error.line, error.column),
            what: if error.path.is_empty() { error.message } else { format!("`{}`: {}", error.path, error.message) },
            hint: error.hint,
        };
        Self { status: super::ExitStatus::Usage, mistakes: errors.0.into_iter().map(mistake).collect() }
    }
}
