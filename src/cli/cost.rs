//! `locum cost`: what sessions spent together, by who asked, mode, model, repository, session or
//! day.
//!
//! In: the journals of this machine. Out: sums of what each request cost at the time it came, so
//! that a session that went on for days counts on each of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::moment::{MOMENT, Moment};
use crate::cli::output::Output;
use crate::cli::session::folder::sessions_folder;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::session_record::SessionRecord;
use locum_agent::report::charges::{SessionCharge, charges};
use locum_agent::report::figures;
use locum_base::chat::Usage;
use locum_base::clock::Clock;

/// `locum cost`.
#[derive(Clone, Debug, Args)]
pub struct CostArgs {
    /// Count what was spent since then: a day (`2026-01-31`), a moment or an age (`7d`).
    #[arg(long, value_name = MOMENT)]
    pub since: Option<Moment>,
    /// Count what was spent before then.
    #[arg(long, value_name = MOMENT)]
    pub until: Option<Moment>,
    /// Sum up by this.
    #[arg(long, value_name = "WHAT", default_value = "model")]
    pub by: CostKey,
    /// Count sessions whose checkout or repository has this in its path or name.
    #[arg(long, value_name = "TEXT")]
    pub repository: Option<String>,
    /// Look for sessions below this folder.
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub session_dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// What costs are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CostKey {
    /// Login of who asked, or how the run was started (`local`, `schedule`).
    Actor,
    /// Mode of the task.
    Mode,
    /// Model that was asked.
    Model,
    /// Checkout, or repository of a run of the Action.
    Repository,
    /// Session.
    Session,
    /// Day, in UTC.
    Day,
}

impl CostKey {
    fn of(self, record: &SessionRecord, charge: &SessionCharge) -> String {
        match self {
            Self::Actor => record.actor(),
            Self::Mode => charge.mode.clone(),
            Self::Model => charge.model.clone(),
            Self::Repository => record.repository().unwrap_or("-").to_owned(),
            Self::Session => record.name.clone(),
            Self::Day => charge.at.strftime("%Y-%m-%d").to_string(),
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Actor => "ACTOR",
            Self::Mode => "MODE",
            Self::Model => "MODEL",
            Self::Repository => "REPOSITORY",
            Self::Session => "SESSION",
            Self::Day => "DAY",
        }
    }
}

/// What was spent together.
#[derive(Clone, Debug, Default, Serialize)]
struct CostRow {
    /// What it was spent by; empty for the total.
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    sessions: usize,
    /// Replies of models.
    turns: u32,
    tokens: Usage,
    cost_usd: f64,
    /// True when some of it was estimated or had no price.
    is_estimate: bool,
    #[serde(skip)]
    last_session: Option<usize>,
}

impl CostRow {
    fn add(&mut self, session: usize, charge: &SessionCharge) {
        let charged = charge.charged;
        // Sessions come one after the other.
        self.sessions += usize::from(self.last_session != Some(session));
        self.last_session = Some(session);
        self.turns = self.turns.saturating_add(charged.turns);
        self.tokens.add(charged.usage);
        self.cost_usd += charged.cost_usd;
        self.is_estimate |= charged.is_estimate;
    }

    fn cells(&self) -> [String; 6] {
        [
            self.name.clone(),
            self.sessions.to_string(),
            self.turns.to_string(),
            figures::tokens(self.tokens.input),
            figures::tokens(self.tokens.output),
            figures::money(self.cost_usd, self.is_estimate),
        ]
    }
}

/// The sums for programs.
#[derive(Serialize)]
struct CostReport<'a> {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The most expensive first; days in order.
    rows: &'a [CostRow],
    total: &'a CostRow,
    /// Sessions whose journals cannot be read, which are not counted.
    unreadable: &'a [String],
}

/// Sums up what sessions spent.
///
/// # Errors
/// When the folder of sessions cannot be read.
pub fn run(
    args: &CostArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let sessions = sessions_folder(context, args.session_dir.as_deref())?;
    let now = SystemClock::start().now();
    let (since, until) = (args.since.map(|at| at.at(now)), args.until.map(|at| at.at(now)));
    let in_time = |charge: &SessionCharge| {
        since.is_none_or(|since| charge.at >= since) && until.is_none_or(|until| charge.at < until)
    };
    let mut rows: BTreeMap<String, CostRow> = BTreeMap::new();
    let mut total = CostRow::default();
    let mut unreadable = Vec::new();
    for (number, record) in SessionRecord::all(&sessions)?.enumerate() {
        // Without its beginning, nothing says what it was.
        if record.journal.is_none() || (record.state().is_none() && !record.lines().is_empty()) {
            unreadable.push(record.name);
            continue;
        }
        let other = args.repository.as_ref().is_some_and(|part| !record.is_of_repository(part));
        if other || record.is_imported() {
            continue;
        }
        for charge in charges(record.lines()).iter().filter(|charge| in_time(charge)) {
            let name = args.by.of(&record, charge);
            rows.entry(name).or_default().add(number, charge);
            total.add(number, charge);
        }
    }
    let name = |(name, row): (String, CostRow)| CostRow { name, ..row };
    let mut rows: Vec<CostRow> = rows.into_iter().map(name).collect();
    if args.by != CostKey::Day {
        rows.sort_by(|one, other| other.cost_usd.total_cmp(&one.cost_usd));
    }
    if args.json {
        let report =
            CostReport { since, until, rows: &rows, total: &total, unreadable: &unreadable };
        output.json(&report);
        return Ok(ExitStatus::Done);
    }
    if rows.is_empty() {
        output.talk(format!("no session below `{}` spent anything then", sessions.display()));
    } else {
        let sum = CostRow { name: "total".to_owned(), ..total };
        output.table(
            [args.by.heading(), "SESSIONS", "TURNS", "TOKENS IN", "TOKENS OUT", "COST"],
            rows.iter().chain([&sum]).map(CostRow::cells),
        );
    }
    for name in unreadable {
        output.talk(format!("not counted: the journal of session {name} cannot be read"));
    }
    Ok(ExitStatus::Done)
}
