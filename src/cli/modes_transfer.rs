//! `locum modes import|export`: modes on their way between repositories, each with the files of its
//! rules folder.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::inspected::InspectedRepository;
use crate::cli::modes_args::{ExportForm, ExportModesArgs, ImportModesArgs};
use crate::cli::modes_change::find;
use crate::cli::modes_file::{TargetFile, replace, show_change};
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::files;
use crate::run::error::RunError;
use crate::run::user::named_file;
use locum_base::text::counted;
use locum_modes::edit::ModeEdit;
use locum_modes::schema;
use locum_modes::transfer::{self, RULES_FILES_LIMIT, RulesFile, TransferredMode};
use locum_modes::{Mode, ModeSource};

/// Folders of rules for one mode, without its slug; the first that has files is carried.
const RULES_FOLDERS: &[&str] =
    &[".locum/rules-", ".roo/rules-", ".roo-code/rules-", ".kilocode/rules-"];

/// Prints modes as a file that can be imported.
///
/// # Errors
/// When the mode does not exist, or it says more than a mode file can.
pub fn export(
    args: &ExportModesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let place = InspectedRepository::open(context, args.at.as_deref())?;
    let (merged, state) = place.merged_modes(output)?;
    let modes = merged.modes;
    let chosen: Vec<&Mode> = if args.slugs.is_empty() {
        modes.iter().filter(|mode| mode.source != ModeSource::Builtin).collect()
    } else {
        args.slugs.iter().map(|slug| find(&modes, slug)).collect::<Result<_, _>>()?
    };
    let mut carried = Vec::new();
    for mode in chosen {
        match schema::lost(mode) {
            Some(lost) if !args.slugs.is_empty() => {
                let what = format!(
                    "mode `{}` cannot be written as a mode file without losing {lost}",
                    mode.slug
                );
                let hint = format!("copy its file, {}", mode.source.file().unwrap_or_default());
                return Err(RunError::usage("SLUG", what).hint(hint));
            }
            Some(lost) => output.talk(format!(
                "warning: left out `{}`: a mode file cannot express {lost}",
                mode.slug
            )),
            None => carried.push((mode, rules_files(&place, &mode.slug)?)),
        }
    }
    let file = transfer::render(&carried).map_err(|error| RunError::internal(error.to_string()))?;
    let text = match args.format {
        ExportForm::Yaml => {
            transfer::to_yaml(&file).map_err(|error| RunError::internal(error.to_string()))?
        }
        ExportForm::Json => format!("{file:#}\n"),
    };
    match &args.output {
        Some(path) => {
            let path = context.folder.join(path);
            let name = path.display().to_string();
            replace(&name, &path, &text)?;
            output.line(format!("exported {} to {name}", counted(carried.len(), "mode")));
        }
        None => output.raw(text.as_bytes()),
    }
    Ok(state.status())
}

/// Takes over the modes of a file.
///
/// # Errors
/// Every mistake of the file; then nothing is written. When a file cannot be written.
pub fn import(
    args: &ImportModesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let path = context.folder.join(&args.from);
    let name = args.from.display().to_string();
    let text = named_file(&path)?
        .ok_or_else(|| {
            RunError::usage("FILE", format!("`{name}` does not exist"))
                .hint(context.looked_for_in())
        })?
        .text;
    let carried = transfer::parse(&text, &name)?;
    let root = InspectedRepository::open(context, None)?.root().to_owned();
    let mut file = TargetFile::open(&args.write, None, &root, context)?;
    let base = rules_base(&file, &root);
    let mut rules: Vec<ImportedRules> = Vec::new();
    for TransferredMode { mode, rules: files } in &carried {
        let record =
            serde_json::to_value(mode).map_err(|error| RunError::internal(error.to_string()))?;
        file.change(&ModeEdit::Put(record.as_object().cloned().unwrap_or_default()))?;
        if let Some(files) = files {
            rules.push(ImportedRules::of(&base, &mode.slug, files)?);
        }
    }
    if !args.write.dry_run {
        for rules in &rules {
            rules.write()?;
        }
    }
    let slugs: Vec<&str> = carried.iter().map(|carried| carried.mode.slug.as_str()).collect();
    file.write(&args.write, output)?;
    if args.write.json {
        let paths = |rules: &ImportedRules| json!({ "folder": rules.name, "files": rules.new, "removed": rules.old });
        let rules: Vec<Value> = rules.iter().map(paths).collect();
        output.json(&json!({ "modes": slugs, "file": file.name, "rules": rules, "written": !args.write.dry_run }));
        return Ok(ExitStatus::Done);
    }
    for rules in &rules {
        rules.show(args.write.dry_run, output);
    }
    if !args.write.dry_run {
        output.line(format!(
            "imported {} into {}: {}",
            counted(slugs.len(), "mode"),
            file.name,
            slugs.join(", ")
        ));
    }
    Ok(ExitStatus::Done)
}

/// The rules folder of one imported mode.
struct ImportedRules {
    /// The folder in messages.
    name: String,
    folder: PathBuf,
    files: Vec<RulesFile>,
    new: Vec<String>,
    /// Files that are there and will not be.
    old: Vec<String>,
}

impl ImportedRules {
    fn of(base: &(String, PathBuf), slug: &str, files: &[RulesFile]) -> Result<Self, RunError> {
        let (name, folder) =
            (format!("{}rules-{slug}", base.0), base.1.join(format!("rules-{slug}")));
        no_links(&name, &base.1, &format!("rules-{slug}"))?;
        for file in files {
            no_links(&name, &folder, file.path.as_str())?;
        }
        let there = files::below(&folder, RULES_FILES_LIMIT)
            .map_err(|error| RunError::usage(name.clone(), error.to_string()))?;
        let new: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
        let old = there.into_iter().filter(|path| !new.contains(path)).collect();
        Ok(Self { name, folder, files: files.to_vec(), new, old })
    }

    fn write(&self) -> Result<(), RunError> {
        for file in &self.files {
            replace(
                &format!("{}/{}", self.name, file.path),
                &self.folder.join(file.path.as_str()),
                &file.content,
            )?;
        }
        for path in &self.old {
            files::remove(&self.folder.join(path)).map_err(|error| {
                RunError::usage(format!("{}/{path}", self.name), error.to_string())
            })?;
        }
        Ok(())
    }

    fn show(&self, dry_run: bool, output: &mut Output) {
        for file in self.files.iter().filter(|_| dry_run) {
            let path = self.folder.join(file.path.as_str());
            let before = named_file(&path).ok().flatten().map(|file| file.text).unwrap_or_default();
            show_change(&format!("{}/{}", self.name, file.path), &before, &file.content, output);
        }
        for path in &self.old {
            output.line(format!(
                "{} {}/{path}",
                if dry_run { "would remove" } else { "removed" },
                self.name
            ));
        }
    }
}

/// Returns the folder that holds rules folders beside a mode file: `.locum` in a repository, the
/// user's own for the user's file.
fn rules_base(file: &TargetFile, root: &Path) -> (String, PathBuf) {
    match &file.source {
        ModeSource::Global { .. } | ModeSource::Organization { .. } | ModeSource::Builtin => {
            let folder = file.path.parent().unwrap_or(root).to_owned();
            (format!("{}/", folder.display()), folder)
        }
        ModeSource::Project { .. } => (".locum/".to_owned(), root.join(".locum")),
    }
}

/// Refuses a path on which a link stands: what is written would land elsewhere.
fn no_links(name: &str, folder: &Path, below: &str) -> Result<(), RunError> {
    let mut paths = vec![folder.to_owned()];
    for part in below.split('/') {
        paths.extend(paths.last().map(|path| path.join(part)));
    }
    for path in paths {
        if path.is_symlink() {
            let what = format!(
                "`{}` is a symbolic link, and Locum does not write through it",
                path.display()
            );
            return Err(RunError::usage(name, what).hint("replace it with a folder"));
        }
    }
    Ok(())
}

/// Reads the rules files of a mode that it carries.
fn rules_files(place: &InspectedRepository<'_>, slug: &str) -> Result<Vec<RulesFile>, RunError> {
    for folder in RULES_FOLDERS {
        let folder = format!("{folder}{slug}");
        let files = place.source().below(&folder)?;
        let carried: Vec<RulesFile> =
            files.into_iter().map(|(path, content)| RulesFile { path, content }).collect();
        if !carried.is_empty() {
            return Ok(carried);
        }
    }
    Ok(Vec::new())
}
