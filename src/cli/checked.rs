//! What the `validate` subcommands found in files, shown the same way whatever the files define.

use std::path::Path;

use serde::Serialize;

use crate::cli::ExitStatus;
use crate::cli::output::Output;
use crate::run::error::RunError;
use crate::run::user::named_file;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;

/// What a check of one file found.
#[derive(Serialize)]
pub struct FileCheck<D> {
    /// Path of the file.
    pub file: String,
    /// What the file defines.
    #[serde(flatten)]
    pub defines: D,
    /// What is wrong with it.
    pub mistakes: Vec<Finding>,
    /// What it says without effect.
    pub warnings: Vec<Finding>,
}

/// One mistake or warning.
#[derive(Serialize)]
pub struct Finding {
    /// Counted from 1; 0 for the file as a whole.
    pub line: u32,
    /// Counted from 1; 0 for the file as a whole.
    pub column: u32,
    /// The key it is about; may be empty.
    pub path: String,
    /// What is wrong, and where.
    pub message: String,
    /// What to change in the file.
    pub hint: Option<String>,
}

impl From<Diagnostic> for Finding {
    fn from(mistake: Diagnostic) -> Self {
        let Diagnostic { place, path, message, hint, origin: _, excerpt: _ } = mistake;
        Self { line: place.line, column: place.column, path, message, hint }
    }
}

/// What is said of files without mistakes.
pub struct CheckWording<'t, D> {
    /// Line to print where no file exists.
    pub none: &'t str,
    /// What a file defines.
    pub words: &'t dyn Fn(&D) -> String,
}

/// Shows what was found; ends with 2 when one file has a mistake.
pub fn show<D: Serialize>(
    all: &[FileCheck<D>],
    wording: CheckWording<'_, D>,
    as_json: bool,
    output: &mut Output,
) -> ExitStatus {
    if as_json {
        output.json(&all);
    } else {
        for checked in all {
            checked.show(&(wording.words)(&checked.defines), output);
        }
        if all.is_empty() {
            output.line(wording.none);
        }
    }
    if all.iter().all(|checked| checked.mistakes.is_empty()) {
        ExitStatus::Done
    } else {
        ExitStatus::Usage
    }
}

impl<D> FileCheck<D> {
    fn show(&self, defines: &str, output: &mut Output) {
        let said = |word: &str, finding: &Finding| {
            let place = if finding.line == 0 {
                self.file.clone()
            } else {
                format!("{}:{}:{}", self.file, finding.line, finding.column)
            };
            let path = if finding.path.is_empty() {
                String::new()
            } else {
                format!("`{}`: ", finding.path)
            };
            let hint =
                finding.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            visible(&format!("{word}: {place}: {path}{}{hint}", finding.message))
        };
        for mistake in &self.mistakes {
            output.line(said("error", mistake));
        }
        for warning in &self.warnings {
            output.line(said("warning", warning));
        }
        if self.mistakes.is_empty() {
            output.line(visible(&format!("{}: {defines}", self.file)));
        }
    }
}

/// Reads a file a user named: the longest end of its path that is a place of such files, else the
/// path as written; and its text.
///
/// # Errors
/// When it does not exist or cannot be read.
pub fn named(
    path: &Path,
    shown: &Path,
    is_place: &dyn Fn(&str) -> bool,
) -> Result<(String, String), RunError> {
    let file = named_file(path)?
        .ok_or_else(|| RunError::usage("FILE", format!("`{}` does not exist", shown.display())))?;
    let parts: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let ends = (0..parts.len()).map(|from| parts.get(from..).unwrap_or_default().join("/"));
    let known = ends.into_iter().find(|end| is_place(end));
    Ok((known.unwrap_or_else(|| shown.display().to_string()), file.text))
}
