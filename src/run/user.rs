//! `UserFolder`: the user's own configuration: settings, modes and slash commands that hold in
//! every repository.
//!
//! In: the folder the environment names. Out: texts. A run that an event started has none.

use std::path::{Path, PathBuf};

use crate::config::environment::Environment;
use crate::config::files;
use crate::config::load::{ConfigFile, FlagValue, Layers, load};
use crate::config::settings::Settings;
use crate::run::error::RunError;
use crate::run::source::{unreadable, wrong_ending, yaml_name};
use locum_modes::ModeSource;
use locum_modes::merge::ModeText;
use locum_modes::places::{ORGANIZATION_FILE, USER_FILES};
use locum_modes::prompts::PromptFile;
use locum_modes::prompts::commands;

/// Most slash commands of a user.
const FILES_LIMIT: usize = 500;

/// The folder of the user's own configuration.
#[derive(Clone, Debug, Default)]
pub struct UserFolder(Option<PathBuf>);

impl UserFolder {
    /// Returns the folder the environment names.
    pub fn of(environment: &Environment) -> Self {
        Self(environment.config_folder())
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn settings(&self) -> Result<Option<ConfigFile>, RunError> {
        self.file("config.yml")
    }

    /// Reads the files of modes, the organization's last.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn mode_texts(&self) -> Result<Vec<ModeText>, RunError> {
        let mut texts = Vec::new();
        for name in USER_FILES.iter().copied().chain([ORGANIZATION_FILE]) {
            let Some(ConfigFile { origin: file, text }) = self.file(name)? else { continue };
            let source = if name == ORGANIZATION_FILE {
                ModeSource::Organization { file }
            } else {
                ModeSource::Global { file }
            };
            texts.push(ModeText { source, text });
        }
        Ok(texts)
    }

    /// Reads the slash commands.
    ///
    /// # Errors
    /// When one cannot be read, or there are too many.
    pub fn commands(&self) -> Result<Vec<PromptFile>, RunError> {
        let Some(folder) = self.0.as_ref().map(|folder| folder.join(commands::USER_FOLDER)) else {
            return Ok(Vec::new());
        };
        let origin = folder.display().to_string();
        let paths =
            files::below(&folder, FILES_LIMIT).map_err(|error| unreadable(&origin, &error))?;
        let mut found = Vec::new();
        for path in paths.into_iter().filter(|path| path.ends_with(".md")) {
            let file = named_file(&folder.join(&path))?;
            found.extend(file.map(|file| PromptFile { path: file.origin, text: file.text }));
        }
        Ok(found)
    }

    fn file(&self, name: &str) -> Result<Option<ConfigFile>, RunError> {
        let Some(folder) = &self.0 else { return Ok(None) };
        let (path, file) = (folder.join(name), named_file(&folder.join(name))?);
        let other = yaml_name(name).map(|name| folder.join(name));
        match other.filter(|other| file.is_none() && other.is_file()) {
            Some(other) => {
                let (other, path) = (other.display().to_string(), path.display().to_string());
                Err(wrong_ending(&other, &path).hint(format!("rename it: `mv {other} {path}`")))
            }
            None => Ok(file),
        }
    }
}

/// Returns the settings that no repository has a say in: the user's file, the environment, flags.
///
/// # Errors
/// Every mistake of every layer.
pub fn own_settings(environment: &Environment, flags: &[FlagValue]) -> Result<Settings, RunError> {
    let user = UserFolder::of(environment).settings()?;
    Ok(load(&Layers { user: user.as_ref(), repository: None, environment, flags })?)
}

/// Reads a file of this machine by its path; `None` when it is not there.
///
/// # Errors
/// When it cannot be read.
pub fn named_file(path: &Path) -> Result<Option<ConfigFile>, RunError> {
    let origin = path.display().to_string();
    let text = files::read(path).map_err(|error| unreadable(&origin, &error))?;
    Ok(text.map(|text| ConfigFile { origin, text }))
}
