//! Arguments of `locum session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::run_args::OutputFormat;

/// `locum session`.
#[derive(Clone, Debug, Args)]
pub struct SessionArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionCommand,
}

/// What to do with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this machine, the newest first.
    List(SessionListArgs),
    /// Show what happened in a session.
    Show(SessionShowArgs),
    /// Resume a session that was killed, or whose pending call or question was decided.
    Resume(SessionResumeArgs),
    /// Approve the pending call; it is performed once when the session resumes.
    Approve(SessionApproveArgs),
    /// Reject the pending call; the model is informed when the session resumes.
    Deny(SessionDenyArgs),
    /// Answer the pending question.
    Answer(SessionAnswerArgs),
}

/// `locum session approve`.
#[derive(Clone, Debug, Args)]
pub struct SessionApproveArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// The hold's ID, as the outcome shows it.
    pub hold: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session deny`.
#[derive(Clone, Debug, Args)]
pub struct SessionDenyArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// The hold's ID, as the outcome shows it.
    pub hold: String,
    /// Why, for the model.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session answer`.
#[derive(Clone, Debug, Args)]
pub struct SessionAnswerArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// The question's ID, as the outcome shows it.
    pub question: String,
    /// The answer.
    pub text: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session list`.
#[derive(Clone, Debug, Args)]
pub struct SessionListArgs {
    /// Show at most this many.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session show`.
#[derive(Clone, Debug, Args)]
pub struct SessionShowArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON: the outcome and every event.
    #[arg(long)]
    pub json: bool,
}

/// `locum session resume`.
#[derive(Clone, Debug, Args)]
pub struct SessionResumeArgs {
    /// The session's ID, or the start of it.
    pub id: String,
    /// Look below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Format of the result on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
}
