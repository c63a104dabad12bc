//! `locum session prune`: sessions that are over are removed, with what git keeps of them.

use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::session::args::SessionPruneArgs;
use crate::cli::session::folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus, local_run};
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::retention::{self, RemovedSession, Stays};
use crate::run::session_record::{SessionRecord, names};
use locum_agent::report::figures;
use locum_base::clock::Clock;

/// What became of the sessions that were looked at.
#[derive(Serialize)]
struct PruneReport {
    /// True when nothing was removed, only shown.
    dry_run: bool,
    /// Those that went, or would go.
    removed: Vec<RemovedSession>,
    /// Those that stay although they are old, or were named.
    stayed: Vec<StayedSession>,
}

/// A session that stays.
#[derive(Serialize)]
struct StayedSession {
    session: String,
    why: Stays,
}

/// Removes sessions.
///
/// # Errors
/// When nothing says which, a named one does not exist or stays, or one cannot be removed.
pub(super) fn run(
    args: &SessionPruneArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    if args.ids.is_empty() && args.older_than.is_none() && args.keep.is_none() {
        return Err(RunError::usage("ID", "nothing says which sessions to remove")
            .hint("for example `--older-than 30d`, `--keep 20`, or the ID of a session"));
    }
    let sessions = sessions_folder(context, args.session_dir.as_deref())?;
    if !args.dry_run {
        retention::finish_removals(&sessions);
    }
    let mut report = PruneReport { dry_run: args.dry_run, removed: Vec::new(), stayed: Vec::new() };
    for name in chosen(args, &sessions)? {
        let record = SessionRecord::read(&sessions, &name);
        let stays = retention::stays(&record).filter(|why| !(args.force && why.can_be_forced()));
        match stays {
            Some(why) => report.stayed.push(StayedSession { session: name, why }),
            None => report.removed.push(retention::remove(&record, args.dry_run)?),
        }
    }
    if let Some(before) = args.older_than.filter(|_| args.refs) {
        let before = before.at(SystemClock::start().now());
        let repo = local_run::open(&context.folder)?.repo;
        let gone = retention::forget_gone(&repo, &sessions, (before, args.dry_run));
        report.removed.extend(gone.map_err(RunError::internal)?);
    }
    let status = match (args.ids.is_empty(), report.stayed.is_empty()) {
        (false, false) => ExitStatus::Failed,
        _ => ExitStatus::Done,
    };
    if args.json {
        output.json(&report);
        return Ok(status);
    }
    for stayed in &report.stayed {
        output.talk(format!("{} stays: {}", stayed.session, stayed.why.as_str()));
    }
    if report.stayed.iter().any(|stayed| stayed.why.can_be_forced()) {
        output.talk("`--force` removes those that are not at work, too");
    }
    for RemovedSession { session, bytes, refs } in &report.removed {
        let (kib, refs) = (bytes.div_ceil(1024), figures::count(*refs, "ref"));
        output.line(format_args!("{session}  {kib} KiB, {refs}"));
    }
    let count = figures::count(report.removed.len(), "session");
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    output.talk(format!("{count} {verb}"));
    Ok(status)
}

/// Returns the names of the sessions that the flags mean, the oldest first.
fn chosen(args: &SessionPruneArgs, sessions: &std::path::Path) -> Result<Vec<String>, RunError> {
    if !args.ids.is_empty() {
        let name = |id: &String| {
            let folder = find(sessions, id)?;
            Ok(folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
        };
        return args.ids.iter().map(name).collect();
    }
    let mut names = names(sessions)?;
    names.truncate(names.len().saturating_sub(args.keep.unwrap_or_default()));
    if let Some(older_than) = args.older_than {
        let before = older_than.at(SystemClock::start().now());
        names.retain(|name| {
            let record = SessionRecord::read(sessions, name);
            retention::last_at(&record).is_none_or(|at| at < before)
        });
    }
    Ok(names)
}
