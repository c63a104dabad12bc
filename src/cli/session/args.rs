//! Arguments of `locum session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::run_args::OutputFormat;
use crate::run::error::RunError;
use locum_policy::budget::raise::{NewLimit, NewLimits};

/// What to do with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this machine, newest first.
    List(SessionListArgs),
    /// Show what happened in a session.
    Show(SessionShowArgs),
    /// List the checkpoints of a session: the states of its files that one can go back to.
    Checkpoints(SessionShowArgs),
    /// Show what a session changed, by checkpoints.
    ///
    /// Without numbers: from the commit it started at to its last checkpoint. With one: what that
    /// checkpoint changed. With two: from the first to the second; 0 is the commit it started at.
    Diff(SessionDiffArgs),
    /// Bring the files of a session back to a checkpoint.
    ///
    /// What they are now becomes a checkpoint first. Files the session never touched stay.
    Restore(SessionRestoreArgs),
    /// Resume a session that was killed or stopped, or that waited for a decision.
    ///
    /// A limit that was reached has to be raised: `--max-turns +20`.
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
    /// Send words to a session at work.
    ///
    /// The model reads them before its next turn.
    Send(SessionSendArgs),
}

/// `locum session approve`.
#[derive(Clone, Debug, Args)]
pub struct SessionApproveArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// IDs of the holds, as shown in the outcome, or `all`.
    #[arg(required = true)]
    pub hold: Vec<String>,
    /// Print a change of the policy by which such calls need no approval.
    ///
    /// It is checked, and changes nothing: apply it with `git apply`.
    #[arg(long)]
    pub always: bool,
    /// Send this note to the model with the approval.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub note: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session deny`.
#[derive(Clone, Debug, Args)]
pub struct SessionDenyArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// IDs of the holds, as shown in the outcome, or `all`.
    #[arg(required = true)]
    pub hold: Vec<String>,
    /// Give the model this reason.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub reason: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
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
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
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

/// `locum session show` and `locum session checkpoints`.
#[derive(Clone, Debug, Args)]
pub struct SessionShowArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session diff`.
#[derive(Clone, Debug, Args)]
pub struct SessionDiffArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Number of a checkpoint.
    #[arg(value_name = "N")]
    pub from: Option<usize>,
    /// Number of a later one to compare it with.
    #[arg(value_name = "M")]
    pub to: Option<usize>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session restore`.
#[derive(Clone, Debug, Args)]
pub struct SessionRestoreArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Number of the checkpoint; 0 is the commit it started at.
    #[arg(value_name = "N")]
    pub number: usize,
    /// Leave the conversation as it is. This is the default.
    #[arg(long, conflicts_with = "and_conversation")]
    pub files_only: bool,
    /// Also make a session whose conversation ends there, ready to be resumed.
    #[arg(long)]
    pub and_conversation: bool,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session send`.
#[derive(Clone, Debug, Args)]
pub struct SessionSendArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// What the model is to know or do.
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Show this PNG, JPEG, GIF or WebP image to the model with the words; repeat for more.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub image: Vec<PathBuf>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session resume`.
#[derive(Clone, Debug, Args)]
pub struct SessionResumeArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Say what it is to do besides; a session that ended takes it up, too.
    #[arg(value_name = "TEXT")]
    pub words: Option<String>,
    /// Show this PNG, JPEG, GIF or WebP image to the model with the words; repeat for more.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub image: Vec<PathBuf>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Go back to this checkpoint first, files and conversation, and go on as a new session.
    #[arg(long, value_name = "N")]
    pub from: Option<usize>,
    /// Wait for another run in this checkout instead of ending with an error.
    #[arg(long)]
    pub wait: bool,
    /// New limits of the run.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Set the format of the result on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output_format: OutputFormat,
    /// Print JSON: short for `--output-format json`.
    #[arg(long, conflicts_with = "output_format")]
    pub json: bool,
}

/// New limits of a run that goes on: each in all, or with a plus on top of what was used.
#[derive(Clone, Copy, Debug, Args)]
pub struct LimitArgs {
    /// Allow this many model replies in all, or `+N` more.
    #[arg(long, value_name = "[+]N")]
    pub max_turns: Option<NewLimit<u32>>,
    /// Allow this many tool calls in all, or `+N` more.
    #[arg(long, value_name = "[+]N")]
    pub max_tool_calls: Option<NewLimit<u32>>,
    /// Allow this many tokens in all, or `+N` more.
    #[arg(long, value_name = "[+]N")]
    pub max_tokens: Option<NewLimit<u64>>,
    /// Allow this many US dollars in all, or `+USD` more.
    #[arg(long, visible_alias = "budget", value_name = "[+]USD")]
    pub max_cost_usd: Option<NewLimit<f64>>,
    /// Allow this many minutes of wall time in all, or `+MINUTES` more.
    #[arg(long, value_name = "[+]MINUTES")]
    pub timeout_minutes: Option<NewLimit<u32>>,
    /// Allow this many changed files in all, or `+N` more.
    #[arg(long, value_name = "[+]N")]
    pub max_files: Option<NewLimit<u32>>,
    /// Allow this many changed lines in all, or `+N` more.
    #[arg(long, value_name = "[+]N")]
    pub max_diff_lines: Option<NewLimit<u32>>,
}

impl LimitArgs {
    /// Returns the limits that are given.
    ///
    /// # Errors
    /// When an amount of money is none.
    pub fn limits(&self) -> Result<NewLimits, RunError> {
        if let Some(NewLimit::InAll(usd) | NewLimit::More(usd)) = self.max_cost_usd
            && !(usd.is_finite() && usd >= 0.0)
        {
            let message = format!("`{usd}` is not an amount of US dollars");
            return Err(RunError::usage("--max-cost-usd", message).hint("for example `+1.50`"));
        }
        Ok(NewLimits {
            turns: self.max_turns,
            tool_calls: self.max_tool_calls,
            tokens: self.max_tokens,
            cost_usd: self.max_cost_usd,
            minutes: self.timeout_minutes,
            files: self.max_files,
            diff_lines: self.max_diff_lines,
        })
    }
}
