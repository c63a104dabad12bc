//! What ran to check the work: one line of checks, the last lines of one that failed, every
//! command.

use crate::report::figures;
use crate::report::surface::{PHRASE_LIMIT_CHARS, Surface, join};
use crate::session::command_report::CommandReport;
use crate::session::outcome::{CheckEnd, CheckReport, Outcome};
use locum_sandbox::exec::Exit;

/// Most checks in the line.
const CHECK_LIMIT: usize = 10;
/// Most commands in the line that stands in for it.
const RAN_LIMIT: usize = 4;
/// Most characters of what a failed check wrote.
const OUTPUT_LIMIT_CHARS: usize = 5_000;
/// Most commands in a list.
const COMMAND_LIMIT: usize = 25;

/// Returns the policy's checks and how they ended in one line; says so where no check ran after the
/// last change. Empty where there is nothing to say.
pub(crate) fn line(outcome: &Outcome, surface: Surface) -> String {
    join(&[check_line(&reported(outcome), surface), figures::unchecked(outcome).to_owned()])
}

/// Returns the checks that a report shows. Where the policy's own checks say how it is, of those
/// after edits only the failed ones stand with them.
pub(crate) fn reported(outcome: &Outcome) -> Vec<CheckReport> {
    let after_edits = outcome.edit_checks.iter();
    let after_edits = after_edits.filter(|check| outcome.checks.is_empty() || !check.succeeded());
    outcome.checks.iter().chain(after_edits).cloned().collect()
}

/// Returns checks and how they ended in one line: `✅ cargo fmt --check · ❌ cargo test (exit 101)`.
pub(crate) fn check_line(checks: &[CheckReport], surface: Surface) -> String {
    let check = |check: &CheckReport| {
        let command = surface.code(&check.command);
        match &check.end {
            CheckEnd::Exited(Exit::Code(0)) => format!("✅ {command}"),
            CheckEnd::NoTests => format!("⚠️ {command} (ran no test)"),
            end => format!("❌ {command} ({})", surface.words(&figures::check_end(end))),
        }
    };
    in_one_line(&checks.iter().map(check).collect::<Vec<_>>(), CHECK_LIMIT)
}

/// Returns the last run of each command in one line, where the policy names no checks.
pub(crate) fn last_runs(outcome: &Outcome, surface: Surface) -> String {
    let mut last: Vec<&CommandReport> = Vec::new();
    for command in &outcome.commands {
        last.retain(|other| other.command != command.command);
        last.push(command);
    }
    if last.is_empty() && !outcome.edit_checks.is_empty() {
        return String::new();
    }
    if last.is_empty() {
        // That no check ran is said already.
        let is_said = !figures::unchecked(outcome).is_empty();
        return if is_said { "" } else { "Nothing was run to check this change." }.to_owned();
    }
    let run = |command: &&CommandReport| {
        let mark = figures::mark(command);
        format!("{mark} {}", surface.code(&command.command))
    };
    // The latest say most about what is published.
    let runs: Vec<String> = last.iter().rev().map(run).collect();
    format!("Commands of the run: {}", in_one_line(&runs, RAN_LIMIT))
}

fn in_one_line(entries: &[String], limit: usize) -> String {
    let mut shown: Vec<String> = entries.iter().take(limit).cloned().collect();
    if entries.len() > limit {
        shown.push(format!("and {} more", entries.len() - limit));
    }
    shown.join(" · ")
}

/// Returns the last lines of the first check that failed, in a fold; empty where none wrote any.
pub(crate) fn output(checks: &[CheckReport], surface: Surface) -> String {
    let wrote = checks.iter().find(|check| !check.output.is_empty());
    wrote.map_or_else(String::new, |check| {
        let title = format!("Last lines of {}", figures::clip(&check.command, PHRASE_LIMIT_CHARS));
        surface.fold(&title, &surface.block(&check.output, "text", OUTPUT_LIMIT_CHARS))
    })
}

/// Returns every command and how it ended, in a fold; empty where none ran.
pub(crate) fn commands(commands: &[CommandReport], surface: Surface) -> String {
    if commands.is_empty() {
        return String::new();
    }
    let failed = commands.iter().filter(|command| !command.succeeded()).count();
    let failed = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    let partly = |command: &&CommandReport| {
        command.succeeded() && command.details.failures().next().is_some()
    };
    let partly = match commands.iter().filter(partly).count() {
        0 => String::new(),
        count => format!(", {count} with a part that failed"),
    };
    let missing = commands.iter().filter(|command| !command.details.not_started.is_empty());
    let missing = match missing.count() {
        0 => String::new(),
        count => format!(", {count} without a program that did not start"),
    };
    let title = format!("{}{failed}{partly}{missing}", figures::count(commands.len(), "command"));
    let lines = surface.listed(commands, COMMAND_LIMIT, |command| {
        let mark = figures::mark(command);
        let ended = command.ended(|text| surface.code(text));
        format!("- {mark} {}: {ended}", surface.code(&command.command))
    });
    surface.fold(&title, &lines)
}

#[cfg(test)]
mod tests {
    use super::check_line;
    use crate::report::surface::Surface;
    use crate::session::outcome::{CheckEnd, CheckReport};
    use locum_sandbox::exec::Exit;

    #[test]
    fn a_check_that_ran_no_test_has_no_check_mark_and_did_not_fail() {
        let ends =
            [CheckEnd::Exited(Exit::Code(0)), CheckEnd::NoTests, CheckEnd::Exited(Exit::Code(1))];
        let checks = ends.map(|end| CheckReport::new("go test ./...", end));
        assert_eq!(
            check_line(&checks, Surface::Markdown),
            "✅ `go test ./...` · ⚠️ `go test ./...` (ran no test) · ❌ `go test ./...` (exit 1)"
        );
        assert_eq!(checks.map(|check| check.failure().is_some()), [false, false, true]);
    }
}
