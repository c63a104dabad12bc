//! `locum session list`: the sessions of this machine, all or some of them.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::session::args::{SessionListArgs, SessionOrder};
use crate::cli::session::folder::sessions_folder;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::retention::size_bytes;
use crate::run::session_record::{SessionRecord, names};
use locum_agent::report::figures;
use locum_agent::session::event::SessionStart;
use locum_agent::session::id::SessionId;
use locum_base::clock::Clock;

/// Most letters of a parent's name in the table.
const PARENT_LETTERS: usize = 12;

/// A session as shown in the list.
#[derive(Clone, Debug, Default, Serialize)]
struct SessionRow {
    session: String,
    started: Option<String>,
    /// The outcome's word; `running` for a session at work; `unfinished` for one that was killed;
    /// `imported`; `unreadable`.
    state: String,
    /// The mode that the root task is in, or ended in.
    mode: String,
    turns: u32,
    /// Folder of the checkout; `null` where the session does not say.
    repository: Option<String>,
    /// Who asked: a login, or how it was started.
    actor: String,
    tokens_in: u64,
    tokens_out: u64,
    /// Of the tokens read, those that came from the provider's cache.
    tokens_cached_read: u64,
    /// Of the tokens read, those that were written to it.
    tokens_cached_write: u64,
    cost_usd: f64,
    /// True when some of it was estimated or had no price.
    is_estimate: bool,
    /// Bytes of its folder.
    bytes: u64,
    /// The session whose conversation it continues.
    parent: Option<String>,
    task: String,
}

impl SessionRow {
    fn of(record: &SessionRecord) -> Self {
        let row = Self {
            session: record.name.clone(),
            state: record.word().to_owned(),
            bytes: size_bytes(&record.folder),
            ..Self::default()
        };
        let Some((state, start)) =
            record.state().and_then(|state| Some((state, state.start.as_ref()?)))
        else {
            return row;
        };
        let (_, spent) = state.spending();
        Self {
            started: record.started().map(|at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()),
            mode: state.root().map_or(&start.mode, |root| &root.mode).clone(),
            repository: record.repository().map(str::to_owned),
            actor: record.actor(),
            turns: spent.turns,
            tokens_in: spent.usage.input,
            tokens_out: spent.usage.output,
            tokens_cached_read: spent.usage.cached_read,
            tokens_cached_write: spent.usage.cached_write,
            cost_usd: spent.cost_usd,
            is_estimate: state.spent_is_estimate(),
            parent: parent(start),
            task: figures::clip(start.task.trim().lines().next().unwrap_or_default(), 60),
            ..row
        }
    }

    fn cells(&self) -> [String; 11] {
        [
            self.session.clone(),
            self.started.clone().unwrap_or_default(),
            self.state.clone(),
            self.mode.clone(),
            self.turns.to_string(),
            self.cached_share(),
            figures::money(self.cost_usd, self.is_estimate),
            format!("{} KiB", self.bytes.div_ceil(1024)),
            figures::clip(self.parent.as_deref().unwrap_or_default(), PARENT_LETTERS),
            self.repository.as_deref().map(folder_name).unwrap_or_default().to_owned(),
            self.task.clone(),
        ]
    }

    /// Returns how much of what was read came from the cache; nothing where nothing was read.
    fn cached_share(&self) -> String {
        let percent = self.tokens_cached_read.saturating_mul(100).checked_div(self.tokens_in);
        percent.map(|percent| format!("{percent}%")).unwrap_or_default()
    }
}

/// Returns the session that another was made of or continues.
fn parent(start: &SessionStart) -> Option<String> {
    let fork = start.fork.as_ref().map(|fork| &fork.session);
    let earlier = || start.earlier.as_ref().map(|earlier| &earlier.session);
    fork.or_else(earlier).map(SessionId::to_string)
}

/// Lists the sessions that the flags let through.
///
/// # Errors
/// When the folder of sessions cannot be read.
pub(super) fn run(
    args: &SessionListArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let sessions = sessions_folder(context, args.session_dir.as_deref())?;
    let since = args.since.map(|since| since.at(SystemClock::start().now()));
    let names = names(&sessions)?;
    let records = names.iter().rev().map(|name| SessionRecord::read(&sessions, name));
    let (mut rows, found): (Vec<SessionRow>, usize) = match args.sort {
        SessionOrder::Newest if !args.filters() => {
            (records.take(args.limit).map(|record| SessionRow::of(&record)).collect(), names.len())
        }
        order => {
            let fitting = records.filter(|record| fits(record, args, since));
            let mut rows: Vec<SessionRow> = fitting.map(|record| SessionRow::of(&record)).collect();
            if order == SessionOrder::Cost {
                rows.sort_by(|one, other| other.cost_usd.total_cmp(&one.cost_usd));
            }
            let found = rows.len();
            (rows, found)
        }
    };
    rows.truncate(args.limit);
    if args.json {
        output.json(&rows);
        return Ok(ExitStatus::Done);
    }
    output.table(
        [
            "SESSION",
            "STARTED",
            "STATE",
            "MODE",
            "TURNS",
            "CACHED",
            "COST",
            "SIZE",
            "PARENT",
            "REPOSITORY",
            "TASK",
        ],
        rows.iter().map(SessionRow::cells),
    );
    if found > rows.len() {
        let more = found - rows.len();
        output.talk(format!("{more} more; `--limit` shows them"));
    }
    if found == 0 {
        let such = if args.filters() { "such session" } else { "session" };
        output.talk(format!("no {such} below `{}`", sessions.display()));
    }
    Ok(ExitStatus::Done)
}

fn fits(record: &SessionRecord, args: &SessionListArgs, since: Option<Timestamp>) -> bool {
    let repository = args.repository.as_ref().is_none_or(|part| record.is_of_repository(part));
    let outcome = args.outcome.is_empty() || args.outcome.iter().any(|word| word == record.word());
    let cost = args
        .min_cost_usd
        .is_none_or(|usd| record.state().is_some_and(|state| state.spending().1.cost_usd >= usd));
    let recent = since.is_none_or(|since| record.started().is_some_and(|at| at >= since));
    repository && outcome && cost && recent
}

fn folder_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(std::ffi::OsStr::to_str).unwrap_or(path)
}
