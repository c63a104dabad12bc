//! `InitReport`: what `locum init` and `locum policy init` did and found, for people as it happens
//! and for programs as one object at the end.
//!
//! In: what was written, and how the success commands end. Out: lines, or JSON. Messages that are
//! no result go to standard error in both forms.

use serde::Serialize;
use serde_json::Value;

use crate::cli::output::Output;
use crate::cli::success_check::SuccessCheck;
use locum_forge::posts::Receipt;

/// How the result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReportForm {
    /// Lines, as things happen.
    #[default]
    Text,
    /// One object at the end.
    Json,
}

impl From<bool> for ReportForm {
    fn from(as_json: bool) -> Self {
        if as_json { Self::Json } else { Self::Text }
    }
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileState {
    /// It is new, or was overwritten.
    Written,
    /// It was changed, and keeps what was changed by hand.
    Updated,
    /// It is made by hand and stays as it is.
    Kept,
    /// It would be changed by `--update`.
    Outdated,
    /// It is as it would be written.
    Same,
}

/// A file, what became of it and what would change of it.
#[derive(Clone, Debug, Serialize)]
struct ReportedFile {
    path: String,
    state: FileState,
    /// A unified diff of what is not written; empty where nothing is left.
    #[serde(skip_serializing_if = "String::is_empty")]
    patch: String,
}

/// What the files were made from: flags, answers and earlier files, or what was proposed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReportedChoices {
    /// The secret that holds the key; `null` where the workflow's own token or the job's identity
    /// stands in for it.
    pub(super) secret: Option<&'static str>,
    /// Variables of the repository that the workflow reads in place of a key.
    pub(super) variables: Vec<String>,
    pub(super) model: String,
    pub(super) action: String,
    /// The least that somebody has to be to start a run.
    pub(super) start: &'static str,
    pub(super) label: Option<String>,
    pub(super) edits: Vec<String>,
    pub(super) jobs: Vec<&'static str>,
}

/// A program that tests and linters need and that is not on this machine.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MissingProgram {
    pub(super) program: String,
    pub(super) why: String,
}

/// Everything that was done and found.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct InitReport {
    #[serde(skip)]
    form: ReportForm,
    files: Vec<ReportedFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) choices: Option<ReportedChoices>,
    /// Lines for the end of `.gitignore`, without which a commit leaves files out.
    pub(super) unignore: Vec<String>,
    pub(super) missing_programs: Vec<MissingProgram>,
    /// What could not be read or is left out.
    pub(super) notes: Vec<String>,
    /// How the success commands end; left out where they were not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Value>,
    /// What is left for a maintainer to do.
    pub(super) next_steps: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pull_request: Option<Receipt>,
}

impl InitReport {
    /// Returns an empty report.
    pub(super) fn new(form: ReportForm) -> Self {
        Self { form, ..Self::default() }
    }

    /// Takes down a file, and says what became of it.
    pub(super) fn file(
        &mut self,
        (path, state): (&str, FileState),
        patch: String,
        output: &mut Output,
    ) {
        if self.form == ReportForm::Text {
            match state {
                FileState::Written => output.line(format_args!("wrote {path}")),
                FileState::Updated => output.line(format_args!("updated {path}")),
                FileState::Kept | FileState::Outdated => output.raw(patch.as_bytes()),
                FileState::Same => {}
            }
        }
        self.files.push(ReportedFile { path: path.to_owned(), state, patch });
    }

    /// Takes down what could not be read or is left out, and says it with what to do.
    pub(super) fn note(&mut self, notes: &[String], hint: &str, output: &mut Output) {
        for note in notes {
            output.talk(format_args!("note: {note}\n  hint: {hint}"));
            self.notes.push(note.clone());
        }
    }

    /// Takes down how the success commands end, and says it.
    pub(super) fn checked(&mut self, check: &SuccessCheck, output: &mut Output) {
        if self.form == ReportForm::Text {
            check.show(output);
        }
        self.check = Some(check.as_json());
    }

    /// Takes down the pull request, and says where it is.
    pub(super) fn opened(&mut self, receipt: Receipt, output: &mut Output) {
        if self.form == ReportForm::Text {
            let did = if receipt.updated { "updated" } else { "opened" };
            output.line(format_args!("{did} pull request #{}: {}", receipt.id, receipt.url));
        }
        self.pull_request = Some(receipt);
    }

    /// Prints the object, where that was asked for; else what is left to do.
    pub(super) fn end(self, output: &mut Output) {
        if self.form == ReportForm::Json {
            return output.json(&self);
        }
        if !self.next_steps.is_empty() {
            let steps = self.next_steps.iter().enumerate();
            let numbered: String =
                steps.map(|(at, step)| format!("\n{}. {step}", at + 1)).collect();
            output.talk(format_args!("Next steps:{numbered}"));
        }
    }
}
