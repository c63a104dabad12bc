//! `TargetFile`: the mode file that a subcommand of `locum modes` changes. In: flags and a change;
//! out: the new text, checked, then written in one step or only shown. A file that would have a
//! mistake afterwards is not written.

use std::path::{Path, PathBuf};

use crate::cli::CommandContext;
use crate::cli::modes_args::WriteArgs;
use crate::cli::output::Output;
use crate::config::files;
use crate::run::error::RunError;
use crate::run::user::named_file;
use locum_files::diagnostic::Diagnostic;
use locum_files::yaml::{YamlDocument, YamlNode};
use locum_modes::edit::{self, ModeEdit};
use locum_modes::loader::Strictness;
use locum_modes::merge::{self, ModeText};
use locum_modes::{Mode, ModeSource, places};

/// Where a mode of a repository is put when nothing says otherwise.
const OWN_FILE: &str = ".locum/modes.yml";

/// A mode file that is to be changed.
pub struct TargetFile {
    /// Its name in messages.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What its modes are from.
    pub source: ModeSource,
    /// Its text as it is now; empty when it is not there.
    pub before: String,
    /// Its text after the changes so far.
    pub text: String,
}

impl TargetFile {
    /// Opens the file that flags name, else the one that defines `mode`, else the repository's own.
    ///
    /// # Errors
    /// When it cannot be read, or is not a mode file that can be changed.
    pub fn open(
        args: &WriteArgs,
        mode: Option<&Mode>,
        root: &Path,
        context: &CommandContext,
    ) -> Result<Self, RunError> {
        let defined_in = mode.map(|mode| &mode.source).filter(|source| source.file().is_some());
        let (path, source) = match (&args.file, args.user, defined_in) {
            (Some(file), _, _) => {
                let path = context.folder.join(file);
                let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                (path, ModeSource::Project { file })
            }
            (None, true, _) => {
                let folder = context.environment.config_folder();
                let folder = folder.ok_or_else(|| {
                    RunError::usage("--user", "the environment names no home").hint("set HOME")
                })?;
                let path = folder.join("modes.yml");
                let file = path.display().to_string();
                (path, ModeSource::Global { file })
            }
            (None, false, Some(source)) => {
                (root.join(source.file().unwrap_or_default()), source.clone())
            }
            (None, false, None) => {
                (root.join(OWN_FILE), ModeSource::Project { file: OWN_FILE.to_owned() })
            }
        };
        let name = source.file().unwrap_or_default().to_owned();
        if places::agent_folder(&name).is_some()
            || name == places::AGENTS_FILE
            || name.ends_with(".md")
        {
            let hint = "change the file by hand, or name a mode file with `--file`";
            return Err(RunError::usage(name, "this is an agent file, not a mode file").hint(hint));
        }
        let before = named_file(&path)?.map(|file| file.text).unwrap_or_default();
        Ok(Self { name, path, source, text: before.clone(), before })
    }

    /// Makes one more change, and checks what comes of it.
    ///
    /// # Errors
    /// When it cannot be made, or leaves a file with mistakes.
    pub fn change(&mut self, change: &ModeEdit) -> Result<(), RunError> {
        let text = edit::edit(&self.text, change).map_err(|error| {
            RunError::usage(self.name.clone(), error.to_string()).hint(error.hint())
        })?;
        let file = ModeText { source: self.source.clone(), text };
        merge::definitions(&file, Strictness::Strict).map_err(|errors| {
            let mut error = RunError::from(errors);
            error.diagnostics.push(Diagnostic::about(
                self.name.clone(),
                "not changed, because the file would have these mistakes",
            ));
            error
        })?;
        self.text = file.text;
        Ok(())
    }

    /// Returns true when the file's text holds a mode of this slug.
    pub fn holds(&self, slug: &str) -> bool {
        let file = ModeText { source: self.source.clone(), text: self.text.clone() };
        merge::definitions(&file, Strictness::Lenient)
            .is_ok_and(|found| found.modes.iter().any(|mode| mode.slug == slug))
    }

    /// Returns true for a file whose modes have `role` and `tools` in place of `roleDefinition` and
    /// `groups`, as one that is a list of them has.
    pub fn has_second_words(&self) -> bool {
        let read = YamlDocument::parse(&self.text).root;
        let Some(root) = read else { return false };
        let modes = root.get("customModes").unwrap_or(&root).list().unwrap_or_default();
        let is = |mode: &YamlNode, key: &str| mode.get(key).is_some();
        let second = |mode: &YamlNode| is(mode, "role") || is(mode, "tools");
        let first = |mode: &YamlNode| is(mode, "roleDefinition") || is(mode, "groups");
        modes.iter().any(second) && !modes.iter().any(first)
            || (modes.is_empty() && root.list().is_some())
    }

    /// Writes the changed text, or shows what would change, unless that is printed as JSON.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, args: &WriteArgs, output: &mut Output) -> Result<(), RunError> {
        if !args.dry_run {
            return replace_unchanged(&self.name, &self.path, (&self.before, &self.text));
        }
        if !args.json {
            show_change(&self.name, &self.before, &self.text, output);
        }
        Ok(())
    }
}

/// Writes a file in one step; no folder on the way to it may be a link.
///
/// # Errors
/// When the operating system reports an error, or something else stands in its place.
pub fn replace(name: &str, path: &Path, text: &str) -> Result<(), RunError> {
    files::replace(path, text).map_err(|error| RunError::usage(name, error.to_string()))
}

/// Replaces a file that still has the text it was read with.
///
/// # Errors
/// When another program changed it meanwhile, and as [`replace`].
pub fn replace_unchanged(name: &str, path: &Path, texts: (&str, &str)) -> Result<(), RunError> {
    files::replace_unchanged(path, texts).map_err(|error| RunError::usage(name, error.to_string()))
}

/// Shows what would change in a file.
pub fn show_change(name: &str, before: &str, after: &str, output: &mut Output) {
    // Bytes, as in every other comparison: each type that lines are compared as brings a copy of
    // every algorithm.
    let diff = similar::TextDiff::from_lines(before.as_bytes(), after.as_bytes());
    output.raw(diff.unified_diff().header(name, name).to_string().as_bytes());
}
