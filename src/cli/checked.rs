//! What the `validate` subcommands found in files, shown the same way whatever the files define.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use crate::run::user::named_file;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_files::excerpt::Excerpt;
use locum_modes::prompts::PromptFile;

/// What a check of one file found.
#[derive(Serialize)]
pub struct FileCheck {
    file: String,
    /// The names the file defines, below what they name.
    #[serde(flatten)]
    defines: BTreeMap<&'static str, Vec<String>>,
    mistakes: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// One mistake or warning.
#[derive(Serialize)]
struct Finding {
    /// Counted from 1; 0 for the file as a whole.
    line: u32,
    /// Counted from 1; 0 for the file as a whole.
    column: u32,
    /// The key it is about; may be empty.
    path: String,
    /// What is wrong, and where.
    message: String,
    /// What to change in the file.
    hint: Option<String>,
    /// The line it is on, for people.
    #[serde(skip)]
    excerpt: Option<Excerpt>,
}

impl From<Diagnostic> for Finding {
    fn from(mistake: Diagnostic) -> Self {
        let Diagnostic { place, path, message, hint, excerpt, origin: _ } = mistake;
        Self { line: place.line, column: place.column, path, message, hint, excerpt }
    }
}

/// Shows what was found, each name behind the mark; `none` where no file exists. Ends with 2 when
/// one file has a mistake.
pub fn show(
    all: &[FileCheck],
    none: &str,
    mark: &str,
    as_json: bool,
    output: &mut Output,
) -> ExitStatus {
    if as_json {
        output.json(&all);
    } else {
        all.iter().for_each(|checked| checked.show(mark, output));
        if all.is_empty() {
            output.line(none);
        }
    }
    if all.iter().all(|checked| checked.mistakes.is_empty()) {
        ExitStatus::Done
    } else {
        ExitStatus::Usage
    }
}

impl FileCheck {
    /// Returns what was found in a file: what it defines, `modes` and their names, or mistakes.
    pub fn new(
        file: String,
        (what, names): (&'static str, Vec<String>),
        mistakes: Vec<Diagnostic>,
        warnings: Vec<Diagnostic>,
    ) -> Self {
        let findings = |found: Vec<Diagnostic>| found.into_iter().map(Finding::from).collect();
        Self {
            file,
            defines: BTreeMap::from([(what, names)]),
            mistakes: findings(mistakes),
            warnings: findings(warnings),
        }
    }

    /// Returns the same under another name of the file.
    pub fn named(self, file: String) -> Self {
        Self { file, ..self }
    }

    /// Returns true where the file defines something, or something is wrong with it.
    pub fn says_something(&self) -> bool {
        self.defines.values().any(|names| !names.is_empty())
            || !self.mistakes.is_empty()
            || !self.warnings.is_empty()
    }

    fn show(&self, mark: &str, output: &mut Output) {
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
            let line = finding.excerpt.as_ref().map(|line| format!("\n{line}")).unwrap_or_default();
            let hint =
                finding.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            visible(&format!("{word}: {place}: {path}{}{line}{hint}", finding.message))
        };
        for mistake in &self.mistakes {
            output.message(&said("error", mistake));
        }
        for warning in &self.warnings {
            output.message(&said("warning", warning));
        }
        for (what, names) in self.defines.iter().filter(|_| self.mistakes.is_empty()) {
            let names: Vec<String> = names.iter().map(|name| format!("{mark}{name}")).collect();
            let names = if names.is_empty() { format!("no {what}") } else { names.join(", ") };
            output.line(visible(&format!("{}: {names}", self.file)));
        }
    }
}

/// Reads a file a user named: the longest end of its path that is a place of such files, else the
/// path as written; and its text.
///
/// # Errors
/// When it does not exist or cannot be read.
pub fn named(
    context: &CommandContext,
    shown: &Path,
    is_place: impl Fn(&str) -> bool,
) -> Result<PromptFile, RunError> {
    let path = context.folder.join(shown);
    let file = named_file(&path)?.ok_or_else(|| {
        RunError::usage("FILE", format!("`{}` does not exist", shown.display()))
            .hint(context.looked_for_in())
    })?;
    let parts: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let ends = (0..parts.len()).map(|from| parts.get(from..).unwrap_or_default().join("/"));
    let known = ends.into_iter().find(|end| is_place(end));
    let path = known.unwrap_or_else(|| shown.display().to_string());
    Ok(PromptFile { path, text: file.text })
}

/// Reads and checks the files that are named, each of which must be one of its kind. Each is
/// returned with its path as it was named.
///
/// # Errors
/// A file that does not exist, or is of another kind.
pub fn read_named<F>(
    context: &CommandContext,
    files: &[PathBuf],
    is_place: fn(&str) -> bool,
    read: impl Fn(&[PromptFile]) -> Vec<F>,
    wrong: impl Fn(&Path) -> RunError,
) -> Result<Vec<(String, F)>, RunError> {
    let mut found = Vec::new();
    for file in files {
        let of_kind = read(&[named(context, file, is_place)?]);
        if of_kind.is_empty() {
            return Err(wrong(file));
        }
        found.extend(of_kind.into_iter().map(|one| (file.display().to_string(), one)));
    }
    Ok(found)
}
