//! Arguments of `locum session`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::cli::moment::{MOMENT, Moment};
use crate::cli::run_args::OutputFormat;
use crate::run::error::RunError;
use crate::run::session_record::{IMPORTED, RUNNING, UNFINISHED, UNREADABLE};
use locum_agent::session::outcome::OutcomeWord;
use locum_policy::budget::raise::{NewLimit, NewLimits};

/// What to do with sessions.
#[derive(Clone, Debug, Subcommand)]
pub enum SessionCommand {
    /// List the sessions of this machine, newest first.
    List(SessionListArgs),
    /// Show what happened in a session, all of it or a part.
    Show(SessionShowArgs),
    /// List the checkpoints of a session: the states of its files that one can go back to.
    Checkpoints(SessionCheckpointsArgs),
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
    /// Write a session in the layout of another agent, as Markdown or as JSON.
    ///
    /// The readers of Roo Code, Kilo Code, Claude Code and Kode show it. What was redacted in the
    /// session stays so.
    Export(SessionExportArgs),
    /// Make a session here of one of Roo Code, Kilo Code, Claude Code or Kode, to be read.
    ///
    /// It cannot be resumed, and `locum cost` does not count it.
    Import(SessionImportArgs),
    /// Remove sessions that are over, with what git keeps of them.
    ///
    /// Their checkpoints (`refs/locum/ID`) go too; commits and checkouts stay. A session at work
    /// stays, as does one that could go on (see `--force`). With `session_retention_days` in the
    /// settings, each run removes older ones by itself.
    Prune(SessionPruneArgs),
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
    /// Show those whose checkout or repository has this in its path or name.
    #[arg(long, value_name = "TEXT")]
    pub repository: Option<String>,
    /// Show those that ended so; repeat for more.
    #[arg(long, value_name = "WORD", value_parser = state_words())]
    pub outcome: Vec<String>,
    /// Show those that cost at least this many US dollars.
    #[arg(long, value_name = "USD")]
    pub min_cost_usd: Option<f64>,
    /// Show those that began since then: a day (`2026-01-31`), a moment or an age (`7d`).
    #[arg(long, value_name = MOMENT)]
    pub since: Option<Moment>,
    /// Order them.
    #[arg(long, value_name = "ORDER", default_value = "newest")]
    pub sort: SessionOrder,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl SessionListArgs {
    /// Returns true when some sessions may be left out.
    pub fn filters(&self) -> bool {
        self.repository.is_some()
            || !self.outcome.is_empty()
            || self.min_cost_usd.is_some()
            || self.since.is_some()
    }
}

/// The order of a list of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SessionOrder {
    /// The newest first.
    #[default]
    Newest,
    /// The most expensive first.
    Cost,
}

fn state_words() -> PossibleValuesParser {
    let words = OutcomeWord::ALL.into_iter().map(OutcomeWord::as_str);
    PossibleValuesParser::new(words.chain([RUNNING, UNFINISHED, UNREADABLE, IMPORTED]))
}

/// `locum session checkpoints`.
#[derive(Clone, Debug, Args)]
pub struct SessionCheckpointsArgs {
    /// Session ID, or the start of it.
    pub id: String,
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
    /// Show what happened in this task alone; repeat for more. The root task is 0.
    #[arg(long, value_name = "N")]
    pub task: Vec<u32>,
    /// Show this turn alone, of each task that has it; repeat for more. The first is 1.
    #[arg(long, value_name = "N")]
    pub turn: Vec<u32>,
    /// Show only what was refused or held, with the rule that did.
    #[arg(long, conflicts_with = "diff")]
    pub refusals: bool,
    /// Show only the diff of what the session changed.
    #[arg(long, conflicts_with_all = ["task", "turn"])]
    pub diff: bool,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session export`.
#[derive(Clone, Debug, Args)]
pub struct SessionExportArgs {
    /// Session ID, or the start of it.
    pub id: String,
    /// Write this layout.
    #[arg(long, value_name = "LAYOUT", default_value = "markdown")]
    pub format: ExportWord,
    /// Write files below this folder, over none that is there; the text goes to stdout otherwise.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub out: Option<PathBuf>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
}

/// A layout of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportWord {
    /// Folders of Roo Code: `tasks/ID/` for each task. Needs `--out`.
    Roo,
    /// Folders of Kilo Code. Needs `--out`.
    Kilo,
    /// Lines of Claude Code and Kode.
    Claude,
    /// A document for people.
    Markdown,
    /// The journal, for programs and `session import`.
    Json,
}

/// `locum session import`.
#[derive(Clone, Debug, Args)]
pub struct SessionImportArgs {
    /// Folder of a task of Roo Code or Kilo Code, a `.jsonl` file of Claude Code or Kode, or what
    /// `session export --format json` wrote.
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub path: PathBuf,
    /// Put the session below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// `locum session prune`.
#[derive(Clone, Debug, Args)]
pub struct SessionPruneArgs {
    /// Session IDs, or the starts of them, instead of an age.
    #[arg(conflicts_with = "keep")]
    pub ids: Vec<String>,
    /// Remove those that last did something before then: an age (`30d`), a day or a moment.
    #[arg(long, value_name = MOMENT, conflicts_with = "ids")]
    pub older_than: Option<Moment>,
    /// Keep this many of the newest in any case.
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Also remove, in this checkout, the refs of sessions whose folder is gone.
    #[arg(long, requires = "older_than")]
    pub refs: bool,
    /// Also remove those that could go on: unfinished and stopped ones, those that wait for a
    /// person, and those of `locum run --worktree` with changes, which go with the worktree.
    #[arg(long)]
    pub force: bool,
    /// Show what would be removed, and remove nothing.
    #[arg(long)]
    pub dry_run: bool,
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
