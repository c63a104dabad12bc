//! Arguments of `locum session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::run_args::OutputFormat;

/// What to do with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this machine, newest first.
    List(SessionListArgs),
    /// Show what happened in a session.
    Show(SessionShowArgs),
    /// Resume a session that was killed or waited for a decision.
    Resume(SessionResumeArgs),
    /// Approve the pending call.
    ///
    /// The call is performed once when the session resumes.
    Approve(SessionApproveArgs),
    /// Reject the pending call.
    ///
    /// The model is informed when the session resumes.
    Deny(SessionDenyArgs),
    /// Answer the pending question.
    Answer(SessionAnswerArgs),
}

/// `locum session approve`.
#[derive(Clone, Debug, Args)]
pub struct SessionApproveArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// ID of the hold, as shown in the outcome.
    pub hold: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session deny`.
#[derive(Clone, Debug, Args)]
pub struct SessionDenyArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// ID of the hold, as shown in the outcome.
    pub hold: String,
    /// Give the model this reason.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session answer`.
#[derive(Clone, Debug, Args)]
pub struct SessionAnswerArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// ID of the question, as shown in the outcome.
    pub question: String,
    /// Answer to give.
    pub text: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// `locum session list`.
#[derive(Clone, Debug, Args)]
pub struct SessionListArgs {
    /// Show at most this many sessions.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session show`.
#[derive(Clone, Debug, Args)]
pub struct SessionShowArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print the outcome and every event as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session resume`.
#[derive(Clone, Debug, Args)]
pub struct SessionResumeArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Wait for another run in this checkout instead of ending with an error.
    #[arg(long)]
    pub wait: bool,
    /// Set the format of the result on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
}
