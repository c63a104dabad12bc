//! `Place`: where the inspecting subcommands (`config`, `modes`, `models`, `policy`) read the
//! repository's files: the working tree, so that an edit can be looked at before it is committed,
//! or a commit by `--at`, which is what a run reads.

use std::path::{Path, PathBuf};

use crate::cli::Context;
use crate::cli::failure::{Failure, Mistake};
use crate::config::environment::Environment;
use crate::config::files::{self, FileFault};
use crate::config::load::{ConfigFile, FlagValue, Layers, load};
use crate::config::settings::Settings;
use crate::config::source::ConfigErrors;
use crate::run::fault::Fault;
use crate::run::trusted::{CONFIG_FILE, FILES_LIMIT, Trusted};
use locum_base::path::RepoPath;
use locum_files::diagnostic::Diagnostic;
use locum_modes::loader::ModeErrors;
use locum_modes::merge::{self, Merged, ModeText};
use locum_modes::places::{
    AGENT_FOLDERS, AGENTS_FILE, ORGANIZATION_FILE, PROJECT_FILES, USER_FILES, may_define,
};
use locum_modes::prompts::PromptFile;
use locum_modes::prompts::commands::{self, CommandSet};
use locum_modes::prompts::rules::{self, RuleFile};
use locum_modes::prompts::skills::{self, SkillSet};
use locum_modes::{ModeSet, ModeSource};
use locum_policy::ignore::{IGNORE_FILES, IgnoreFiles};
use locum_workspace::repo::{CommitId, Repo};

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
            None => Ok(Self::WorkingTree(
                repo.map_or_else(|_| context.folder.clone(), |repo| repo.root().to_owned()),
            )),
            Some(revision) => {
                let fault = |error: locum_workspace::repo::RepoError| {
                    Failure::usage("--at", error.to_string())
                };
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
            Self::WorkingTree(root) => {
                files::read(&root.join(path)).map_err(|fault| unreadable(path, &fault))?
            }
            Self::Commit(repo, commit) => {
                Trusted { repo, commit }.file(path)?.map(|file| file.text)
            }
        };
        Ok(text.map(|text| ConfigFile { origin: path.to_owned(), text }))
    }

    /// Reads every text file below a folder of the repository, with its path below that folder.
    ///
    /// # Errors
    /// When one cannot be read or is no text, or there are too many.
    pub fn below(&self, folder: &str) -> Result<Vec<(RepoPath, String)>, Failure> {
        let mut found = Vec::new();
        for path in self.names_below(folder)? {
            let Some(file) = self.file(&format!("{folder}/{path}"))? else { continue };
            found.push((
                RepoPath::parse(&path)
                    .map_err(|error| Failure::usage(folder, error.to_string()))?,
                file.text,
            ));
        }
        Ok(found)
    }

    /// Returns the path below the folder of every file below it.
    fn names_below(&self, folder: &str) -> Result<Vec<String>, Failure> {
        match self {
            Self::WorkingTree(root) => files::below(&root.join(folder), FILES_LIMIT)
                .map_err(|fault| unreadable(folder, &fault)),
            Self::Commit(repo, commit) => {
                let fault = |error: String| Failure::usage(folder, error);
                let root = RepoPath::parse(folder).map_err(|error| fault(error.to_string()))?;
                let paths = repo
                    .list_at(commit, &root, FILES_LIMIT)
                    .map_err(|error| fault(error.to_string()))?;
                Ok(paths
                    .iter()
                    .filter_map(|path| path.as_str().strip_prefix(folder)?.strip_prefix('/'))
                    .map(str::to_owned)
                    .collect())
            }
        }
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
    pub fn settings(
        &self,
        environment: &Environment,
        flags: &[FlagValue],
    ) -> Result<Settings, Failure> {
        let user = user_file(environment, "config.yml")?;
        let repository = self.file(CONFIG_FILE)?;
        Ok(load(&Layers {
            user: user.as_ref(),
            repository: repository.as_ref(),
            environment,
            flags,
        })?)
    }

    /// Returns every mode: built-in, the user's, the repository's.
    ///
    /// # Errors
    /// Every mistake of every file.
    pub fn modes(&self, environment: &Environment) -> Result<ModeSet, Failure> {
        Ok(self.merged_modes(environment)?.modes)
    }

    /// Returns the text of every file that may define modes: the user's, the repository's.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn mode_texts(&self, environment: &Environment) -> Result<Vec<ModeText>, Failure> {
        let mut texts = user_modes(environment)?;
        match self {
            Self::Commit(repo, commit) => texts.extend(Trusted { repo, commit }.mode_files()?),
            Self::WorkingTree(root) => {
                let mut paths: Vec<String> =
                    PROJECT_FILES.iter().map(|path| (*path).to_owned()).collect();
                paths.push(AGENTS_FILE.to_owned());
                for folder in AGENT_FOLDERS {
                    let names = files::below(&root.join(folder.path), FILES_LIMIT)
                        .map_err(|fault| unreadable(folder.path, &fault))?;
                    paths.extend(
                        names
                            .into_iter()
                            .map(|name| format!("{}/{name}", folder.path))
                            .filter(|path| may_define(path)),
                    );
                }
                for path in paths {
                    let text = |file: ConfigFile| ModeText {
                        source: ModeSource::Project { file: file.origin },
                        text: file.text,
                    };
                    texts.extend(self.file(&path)?.map(text));
                }
            }
        }
        Ok(texts)
    }

    /// Reads the rules files of a mode.
    ///
    /// # Errors
    /// When one cannot be read, or there are too many.
    pub fn rules(&self, slug: &str) -> Result<Vec<RuleFile>, Failure> {
        let slugs = [slug.to_owned()];
        if let Self::Commit(repo, commit) = self {
            return Ok(Trusted { repo, commit }.rules(&slugs)?);
        }
        let places = rules::places(&slugs);
        let mut found = Vec::new();
        for folder in &places.folders {
            let files = self
                .below(folder)?
                .into_iter()
                .map(|(path, text)| RuleFile { path: format!("{folder}/{path}"), text });
            found.extend(files.filter(|file| rules::is_rules_file(&file.path, slug)));
        }
        for path in &places.files {
            found.extend(
                self.file(path)?.map(|file| RuleFile { path: file.origin, text: file.text }),
            );
        }
        Ok(found)
    }

    /// Returns every slash command: the repository's, then the user's own.
    ///
    /// # Errors
    /// When a file cannot be read, or there are too many.
    pub fn commands(&self, environment: &Environment) -> Result<CommandSet, Failure> {
        let mut texts = self.texts(commands::FOLDERS, &commands::is_command_file)?;
        texts.extend(user_commands(environment)?);
        Ok(CommandSet::read(&texts))
    }

    /// Returns the skills of these modes, those with mistakes among them.
    ///
    /// # Errors
    /// When a file cannot be read, or there are too many.
    pub fn skills(&self, slugs: &[String]) -> Result<SkillSet, Failure> {
        let folders = skills::folders(slugs);
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        Ok(SkillSet::read(&self.texts(&folders, &skills::is_skill_file)?))
    }

    /// Reads those files below some folders that are wanted.
    fn texts(
        &self,
        folders: &[&str],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<PromptFile>, Failure> {
        let mut found = Vec::new();
        for folder in folders {
            let paths =
                self.names_below(folder)?.into_iter().map(|path| format!("{folder}/{path}"));
            for path in paths.filter(|path| wanted(path)) {
                found.extend(
                    self.file(&path)?.map(|file| PromptFile { path: file.origin, text: file.text }),
                );
            }
        }
        Ok(found)
    }

    /// Returns every mode: built-in, the user's, the repository's; and what in their files should
    /// be told.
    ///
    /// # Errors
    /// Every mistake of every file.
    pub fn merged_modes(&self, environment: &Environment) -> Result<Merged, Failure> {
        let strictness = self.settings(environment, &[])?.values.mode_files;
        merge::merge(&self.mode_texts(environment)?, strictness).map_err(Failure::from)
    }
}

/// Reads the mode files of the user's own configuration.
///
/// # Errors
/// When one cannot be read.
pub fn user_modes(environment: &Environment) -> Result<Vec<ModeText>, Failure> {
    let global = USER_FILES.iter().map(|name| (*name, false)).chain([(ORGANIZATION_FILE, true)]);
    let mut texts = Vec::new();
    for (name, of_organization) in global {
        let Some(ConfigFile { origin: file, text }) = user_file(environment, name)? else {
            continue;
        };
        let source = if of_organization {
            ModeSource::Organization { file }
        } else {
            ModeSource::Global { file }
        };
        texts.push(ModeText { source, text });
    }
    Ok(texts)
}

/// Reads the slash commands of the user's own configuration.
///
/// # Errors
/// When one cannot be read, or there are too many.
pub fn user_commands(environment: &Environment) -> Result<Vec<PromptFile>, Failure> {
    let Some(folder) = environment.config_folder().map(|folder| folder.join(commands::USER_FOLDER))
    else {
        return Ok(Vec::new());
    };
    let origin = folder.display().to_string();
    let paths = files::below(&folder, FILES_LIMIT).map_err(|fault| unreadable(&origin, &fault))?;
    let mut found = Vec::new();
    for path in paths.into_iter().filter(|path| path.ends_with(".md")) {
        let file = named_file(&folder.join(&path))?;
        found.extend(file.map(|file| PromptFile { path: file.origin, text: file.text }));
    }
    Ok(found)
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
    match fault {
        FileFault::NotText(place) => {
            Failure::usage(format!("{origin}:{place}"), "is not UTF-8 text")
                .hint("save it as UTF-8")
        }
        FileFault::NotAFile | FileFault::TooLarge(_) | FileFault::TooMany(_) | FileFault::Io(_) => {
            Failure::usage(origin, fault.to_string())
        }
    }
}

impl From<ConfigErrors> for Failure {
    fn from(errors: ConfigErrors) -> Self {
        let mistake = |error: crate::config::source::ConfigError| Mistake {
            place: error.place,
            what: error.message,
            hint: error.hint,
            excerpt: error.excerpt,
        };
        Self {
            status: super::ExitStatus::Usage,
            mistakes: errors.0.into_iter().map(mistake).collect(),
        }
    }
}

impl From<ModeErrors> for Failure {
    fn from(errors: ModeErrors) -> Self {
        Self {
            status: super::ExitStatus::Usage,
            mistakes: errors.0.into_iter().map(Mistake::from).collect(),
        }
    }
}

impl From<Diagnostic> for Mistake {
    fn from(error: Diagnostic) -> Self {
        let (place, what) = (error.location(), error.what());
        Self { place, what, hint: error.hint, excerpt: error.excerpt }
    }
}
