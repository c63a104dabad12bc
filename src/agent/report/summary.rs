//! The outcome for a terminal, and for the job summary of Actions.
//!
//! In: an outcome. Out: plain text without control characters, or Markdown of at most a mebibyte.

use crate::report::comment::Progress;
use crate::report::markdown::visible;
use crate::report::sections::StateLine;
use crate::report::{figures, hindrance, sections};
use crate::session::outcome::{CheckReport, HeldCall, Outcome, RefusedCall, TaskReport};
use locum_policy::budget::Budget;
use locum_policy::verdict::Verdict;

/// GitHub drops a job summary of more bytes than this ("Job summary isolation and limits",
/// <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands>).
pub(crate) const SUMMARY_LIMIT_BYTES: usize = 1024 * 1024;

/// Returns the outcome for a terminal: state, tasks, result, refusals, commands, changes, what was
/// spent. The diff follows the list of changed files when `diff` asks for it.
pub fn terminal(outcome: &Outcome, diff: DiffSection) -> String {
    let mut blocks = vec![format!("outcome: {}", outcome.word.as_str())];
    blocks.extend(outcome.reason.as_ref().map(|reason| format!("why: {}", visible(reason))));
    blocks.extend(outcome.questions().map(|question| {
        let suggestions: String = question
            .suggestions
            .iter()
            .map(|suggestion| format!("\n  - {}", line(suggestion)))
            .collect();
        format!(
            "question: {}{suggestions}\nanswer it: locum session answer {} {} TEXT",
            visible(&question.text),
            outcome.session,
            question.id
        )
    }));
    blocks.extend(outcome.holds().map(|held| waits(outcome, held)));
    blocks.push(block("notes", &outcome.notes.iter().map(|note| line(note)).collect::<Vec<_>>()));
    blocks.push(block("tasks", &tasks(&outcome.tasks)));
    blocks.push(block(
        &format!("checklist{}", figures::open_items(&outcome.todos)),
        &outcome
            .todos
            .iter()
            .map(|todo| format!("[{}] {}", todo.state.mark(), line(&todo.text)))
            .collect::<Vec<_>>(),
    ));
    if !outcome.summary.trim().is_empty() {
        blocks.push(block(
            "result",
            &visible(outcome.summary.trim()).lines().map(str::to_owned).collect::<Vec<_>>(),
        ));
    }
    let approved = outcome.approved.iter();
    let approved = approved.map(|call| {
        format!(
            "{}: approved by {} (hold {})",
            line(&call.headline),
            line(&call.approval.by),
            call.approval.hold
        )
    });
    blocks.push(block("approved", &approved.collect::<Vec<_>>()));
    blocks.push(block(
        "refused",
        &figures::grouped(&outcome.refusals).into_iter().flat_map(refusal).collect::<Vec<_>>(),
    ));
    let commands = outcome
        .commands
        .iter()
        .map(|command| format!("{}: {}", line(&command.command), figures::ended(command, line)));
    blocks.push(block("commands", &commands.collect::<Vec<_>>()));
    blocks.push(block("checks", &outcome.checks.iter().flat_map(check).collect::<Vec<_>>()));
    blocks.push(figures::unchecked(outcome).to_owned());
    let changes = outcome.changes.iter();
    let changes = changes.map(|change| {
        format!(
            "{} {} {}",
            figures::change_letter(change.kind),
            change.path,
            figures::amount(change)
        )
    });
    blocks.push(block("changes", &changes.collect::<Vec<_>>()));
    blocks.push(hindrance::lines(outcome).join("\n"));
    match diff {
        DiffSection::Shown => blocks.push(visible(figures::diff(&outcome.changes).trim_end())),
        DiffSection::LeftOut => {}
    }
    blocks.push(format!("spent: {}", figures::spent(&outcome.spent, outcome.spent_is_estimate)));
    blocks.push(format!("session: {}", outcome.session));
    sections::join(&blocks)
}

/// Returns how far a session came that has no outcome, for a terminal: tasks and what was spent.
pub fn so_far(progress: &Progress) -> String {
    let spent =
        format!("spent so far: {}", figures::spent(&progress.spent, progress.spent_is_estimate));
    sections::join(&[block("tasks", &tasks(&progress.tasks)), spent])
}

/// Whether a summary holds the diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffSection {
    /// The diff is shown.
    Shown,
    /// The diff is left out.
    LeftOut,
}

/// Returns the job summary. `landing` says in Markdown of our own where the changes went; empty
/// when there is nothing to say.
pub fn job_summary(outcome: &Outcome, budget: &Budget, mode: &str, landing: &str) -> String {
    let state = StateLine {
        state: outcome.word.heading(),
        refused: &outcome.refusals,
        mode,
        spent: &outcome.spent,
        is_estimate: outcome.spent_is_estimate,
        budget,
        run_url: None,
    };
    let mut paragraphs = vec![
        state.render(),
        sections::reason(outcome),
        sections::held(outcome),
        sections::notes(outcome),
        sections::tasks(&outcome.tasks),
        sections::not_merged(&outcome.tasks),
        sections::not_merged_diff(&outcome.tasks, sections::NOT_MERGED_LIMIT_CHARS),
        sections::todos(&outcome.todos),
        sections::result(&outcome.summary),
        sections::checks(outcome),
        landing.to_owned(),
        hindrance::markdown(outcome),
        sections::refusal_table(outcome),
    ];
    paragraphs.extend(sections::folds(outcome));
    let used_bytes: usize = paragraphs.iter().map(|text| text.len() + 2).sum();
    // A character has at most four bytes.
    paragraphs.extend(sections::diff(
        &outcome.changes,
        SUMMARY_LIMIT_BYTES.saturating_sub(used_bytes) / 4,
    ));
    let mut text = sections::join(&paragraphs);
    text.push('\n');
    text
}

fn tasks(tasks: &[TaskReport]) -> Vec<String> {
    let several = tasks.len() > 1;
    let entry = |task: &TaskReport| {
        let state = figures::reached(task.reached());
        let indent = "  ".repeat(sections::depth(task, tasks));
        // What a run of one task spent stands below.
        let own =
            if several { format!(" · {}", figures::charged(&task.own)) } else { String::new() };
        let took =
            if several { format!(", {}", figures::duration(task.seconds)) } else { String::new() };
        let changed = if task.changes.is_empty() {
            String::new()
        } else {
            format!(", {}", figures::changes(&task.changes))
        };
        let all = if task.own == task.with_sub_tasks {
            String::new()
        } else {
            format!("; with sub-tasks {}", figures::charged(&task.with_sub_tasks))
        };
        let turns = figures::count(task.turns as usize, "turn");
        let (mode, title) = (line(&task.mode), line(&task.title));
        let entry = format!("{indent}{mode}: {title} ({state}, {turns}{took}{changed}{own}{all})");
        let kept = task
            .kept_ref
            .as_ref()
            .map(|kept_ref| format!("{indent}  not merged: its changes are kept on {kept_ref}"));
        let command = task.kept_command();
        let command = command.map(|command| format!("{indent}  get them: {}", visible(&command)));
        let kept = kept.into_iter().chain(command);
        std::iter::once(entry).chain(kept).collect::<Vec<String>>()
    };
    tasks.iter().flat_map(entry).collect()
}

/// What a maintainer has to decide, and how.
fn waits(outcome: &Outcome, held: &HeldCall) -> String {
    let mut lines = vec![format!("{} (mode {})", line(&held.headline), line(&held.mode))];
    lines.extend(held.verdicts.iter().map(verdict_line));
    lines.extend(held.target.iter().flat_map(|target| {
        sections::target_facts(target).into_iter().map(|(what, text)| {
            let text = visible(&text).split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{what}: {text}")
        })
    }));
    lines.push(format!("arguments: {}", line(&held.arguments)));
    lines.extend(held.diff.iter().flat_map(|diff| {
        visible(diff.trim_end()).lines().map(|text| format!("  {text}")).collect::<Vec<_>>()
    }));
    let session = &outcome.session;
    lines.push(format!("decide: locum session approve {session} {}", held.id));
    lines.push(format!("or:     locum session deny {session} {}", held.id));
    lines.push(format!("then:   locum session resume {session}"));
    block("waits for a person", &lines)
}

fn check(report: &CheckReport) -> Vec<String> {
    let mut lines =
        vec![format!("{}: {}", line(&report.command), line(&figures::check_end(&report.end)))];
    lines.extend(visible(&report.output).lines().map(|text| format!("  | {text}")));
    lines
}

fn verdict_line(verdict: &Verdict) -> String {
    format!("  {}", figures::verdict(verdict, line, line))
}

fn refusal((call, count): (&RefusedCall, usize)) -> Vec<String> {
    let (headline, mode) = (line(&call.headline), line(&call.mode));
    let mut lines = vec![format!("{headline} (mode {mode}){}", figures::times(count))];
    lines.extend(figures::denied(call).map(|said| format!("  {}", line(&said))));
    lines.extend(call.refusal.verdicts.iter().map(verdict_line));
    lines.extend(call.refusal.hint.as_ref().map(|hint| format!("  instead: {}", line(hint))));
    lines
}

fn block(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        String::new()
    } else {
        format!(
            "{title}:\n{}",
            lines
                .iter()
                .map(|line| format!("  {line}").trim_end().to_owned())
                .collect::<Vec<_>>()
                .join("\n")
        )
    }
}

fn line(text: &str) -> String {
    figures::clip(&visible(text).split_whitespace().collect::<Vec<_>>().join(" "), 300)
}

#[cfg(test)]
mod tests {
    use super::{DiffSection, SUMMARY_LIMIT_BYTES, job_summary, terminal, verdict_line};
    use crate::report::sample;
    use locum_policy::budget::Budget;
    use locum_policy::verdict::Verdict;

    #[test]
    fn shows_everything_on_a_terminal() {
        insta::assert_snapshot!("terminal", terminal(&sample::outcome(), DiffSection::Shown));
        insta::assert_snapshot!(
            "terminal_question",
            terminal(&sample::question(), DiffSection::LeftOut)
        );
        insta::assert_snapshot!(
            "terminal_checks_failed",
            terminal(&sample::checks_failed(), DiffSection::LeftOut)
        );
        insta::assert_snapshot!("terminal_held", terminal(&sample::held(), DiffSection::LeftOut));
    }

    #[test]
    fn shows_everything_in_the_job_summary() {
        insta::assert_snapshot!(
            "job_summary",
            job_summary(
                &sample::outcome(),
                &Budget::default(),
                "orchestrator",
                "Published as pull request #12."
            )
        );
        insta::assert_snapshot!(
            "job_summary_held",
            job_summary(&sample::held(), &Budget::default(), "code", "")
        );
    }

    #[test]
    fn what_a_mode_refuses_is_not_laid_to_the_rules() {
        let verdict = Verdict::denied(
            "edit(a.rs)".to_owned(),
            "mode 'Docs' can only edit Markdown".to_owned(),
        );
        assert_eq!(
            verdict_line(&verdict),
            "  denied edit(a.rs): mode 'Docs' can only edit Markdown"
        );
    }

    #[test]
    fn no_text_reaches_the_terminal_as_a_control_sequence() {
        let text = terminal(&sample::filled_with("\u{1b}[2J\u{7}\u{9b}", 100), DiffSection::Shown);
        assert!(text.chars().all(|letter| !letter.is_control() || letter == '\n'), "{text:?}");
    }

    #[test]
    fn the_job_summary_stays_below_its_limit() {
        let outcome = sample::with_diff_lines(200_000);
        let text = job_summary(&outcome, &Budget::default(), "code", "");
        assert!(
            text.len() <= SUMMARY_LIMIT_BYTES && text.contains("Shortened: "),
            "{}",
            text.len()
        );
    }
}
