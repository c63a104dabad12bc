//! `InspectedRepository`: where the inspecting subcommands (`config`, `modes`, `models`, `policy`)
//! read the repository's files. That is the working tree, so that an edit can be looked at before
//! it is committed, or by `--at` a commit, which is what a run reads.

use std::path::{Path, PathBuf};

use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::environment::Environment;
use crate::config::settings::Settings;
use crate::run::error::RunError;
use crate::run::kept_folder::without_dots;
use crate::run::source::FileSource;
use crate::run::trusted::ConfigOrigin;
use crate::run::uncommitted;
use crate::run::user::UserFolder;
use locum_agent::report::figures;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_modes::ModeSet;
use locum_modes::merge::{self, MergedModes};
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// The repository that is inspected, as it is now or at a commit.
pub struct InspectedRepository<'a> {
    root: PathBuf,
    at: Option<(Repo, CommitId)>,
    environment: &'a Environment,
}

impl<'a> InspectedRepository<'a> {
    /// Opens the working tree around the folder, or the commit a revision names.
    ///
    /// # Errors
    /// When a revision is given and the repository or the revision does not exist.
    pub fn open(context: &'a CommandContext, at: Option<&str>) -> Result<Self, RunError> {
        let repo = Repo::open(&context.folder);
        let root =
            repo.as_ref().map_or_else(|_| context.folder.clone(), |repo| repo.root().to_owned());
        let wrong = |error: RepoError| {
            RunError::usage("--at", error.to_string())
                .hint("name a commit, branch or tag of this repository, such as `HEAD`")
        };
        let at = match at {
            None => None,
            Some(revision) => {
                let repo = repo.map_err(wrong)?;
                let commit = repo.commit_of(revision).map_err(wrong)?;
                Some((repo, commit))
            }
        };
        Ok(Self { root, at, environment: &context.environment })
    }

    /// Returns the root of the checkout, or the folder outside one.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the absolute paths of the root: first the one without links, then those by which the
    /// folder is named, on the command line or by the shell, where these lead there.
    pub fn names_of_root(&self, context: &CommandContext) -> Vec<String> {
        let real = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let shell = context.environment.get("PWD").map(Path::new).filter(|it| it.is_absolute());
        let by_shell = shell.map(|folder| match &context.global.repo {
            Some(repo) => folder.join(repo),
            None => folder.to_owned(),
        });
        let mut names = vec![real.clone()];
        for folder in by_shell.into_iter().chain([context.folder.clone()]) {
            let folder = without_dots(&folder);
            let leads_there =
                |name: &&Path| name.canonicalize().is_ok_and(|resolved| resolved == real);
            for name in folder.ancestors().filter(leads_there) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        names.iter().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// Says where the working tree differs from the commit that a run reads; `None` where it does
    /// not, and where a commit is inspected. `policy` is where the policy is.
    pub fn uncommitted(&self, policy: Option<&str>) -> Option<String> {
        if self.at.is_some() {
            return None;
        }
        let repo = Repo::open(&self.root).ok()?;
        let commit = repo.commit_of("HEAD").ok()?;
        uncommitted::note(&uncommitted::uncommitted(&repo, &commit, policy), &commit)
    }

    /// Returns where files are read.
    pub fn source(&self) -> FileSource<'_> {
        match &self.at {
            None => FileSource::WorkingTree(self.root.clone()),
            Some((repo, commit)) => FileSource::Commit(repo, commit.clone()),
        }
    }

    /// Returns where configuration is read: the files, the user's own, the environment.
    pub fn origin(&self) -> ConfigOrigin<'_> {
        let (source, environment) = (self.source(), self.environment);
        ConfigOrigin { source, user: UserFolder::of(environment), environment }
    }

    /// Returns the settings.
    ///
    /// # Errors
    /// Every mistake of every layer.
    pub fn settings(&self) -> Result<Settings, RunError> {
        self.origin().settings(&[])
    }

    /// Returns every mode: built-in, the user's, the repository's.
    ///
    /// # Errors
    /// Every mistake of every file.
    pub fn modes(&self) -> Result<ModeSet, RunError> {
        let strictness = self.settings()?.values.mode_files;
        Ok(merge::merge(&self.origin().mode_texts()?, strictness)?.modes)
    }

    /// Returns the modes of all files that can be read, and says which file cannot be: what is not
    /// about modes works without it.
    ///
    /// # Errors
    /// When settings have mistakes, or files cannot be read.
    pub fn usable_modes(&self, output: &mut Output) -> Result<ModeSet, RunError> {
        Ok(self.merged_modes(output)?.0.modes)
    }

    /// Returns the modes of all files that can be read, with warnings about them, and whether that
    /// is every file; says which file cannot be read, and where its first mistake is.
    ///
    /// # Errors
    /// When settings have mistakes, or files cannot be read.
    pub fn merged_modes(
        &self,
        output: &mut Output,
    ) -> Result<(MergedModes, ModeFilesState), RunError> {
        let strictness = self.settings()?.values.mode_files;
        let (merged, mistakes) = merge::merge_usable(&self.origin().mode_texts()?, strictness);
        let mut files: Vec<(&Diagnostic, usize)> = Vec::new();
        for mistake in &mistakes {
            match files.iter_mut().find(|(first, _)| first.origin == mistake.origin) {
                Some((_, count)) => *count += 1,
                None => files.push((mistake, 1)),
            }
        }
        for (first, count) in &files {
            let more = match count {
                1 => String::new(),
                count => format!(" (and {})", figures::count(count - 1, "more mistake")),
            };
            output.talk(visible(&format!(
                "warning: {}{more}: the modes of this file are left out; no run starts with \
                 it\nhint: see `locum modes validate`",
                first.headline()
            )));
        }
        let state = if files.is_empty() { ModeFilesState::Whole } else { ModeFilesState::Broken };
        Ok((merged, state))
    }
}

/// Whether every mode file could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeFilesState {
    /// Every one.
    Whole,
    /// One has mistakes, and its modes are left out.
    Broken,
}

impl ModeFilesState {
    /// Returns how a command ends that shows modes.
    pub fn status(self) -> ExitStatus {
        match self {
            Self::Whole => ExitStatus::Done,
            Self::Broken => ExitStatus::Usage,
        }
    }
}
