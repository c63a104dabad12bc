//! The sections of a report in Markdown: state line, checklist, result, refusals, commands, diff.
//! Each is bounded by itself, so that all of them together fit a comment; the diff takes what room
//! is left.

use crate::report::figures;
use crate::report::markdown::{code, contained, fenced, fold, inline};
use crate::session::outcome::{
    ChargedUsage, CheckReport, CommandReport, HeldCall, Outcome, Question, RefusedCall, TargetMode,
    TaskReport,
};
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::{Todo, TodoState};
use locum_base::chat::Usage;
use locum_policy::budget::{Budget, Spent};
use locum_policy::verdict::Verdict;
use locum_workspace::diff::FileChange;

/// Most characters of a result.
const RESULT_LIMIT_CHARS: usize = 11_000;
/// Most characters of a question.
const QUESTION_LIMIT_CHARS: usize = 2_000;
/// Most calls, and most questions, that wait for a decision.
pub const WAITING_LIMIT: usize = 3;
/// Most notes.
const NOTE_LIMIT: usize = 3;
/// Most characters of one.
const NOTE_LIMIT_CHARS: usize = 240;
/// Most characters of the diff of what was not merged.
pub(crate) const NOT_MERGED_LIMIT_CHARS: usize = 6_000;
/// Fewest characters in which it is worth being shown.
const NOT_MERGED_LEAST_CHARS: usize = 300;
/// Most characters of the command that gets it.
const COMMAND_LIMIT_CHARS: usize = 300;
/// Most sub-tasks of which something was not merged.
const KEPT_LIMIT: usize = 3;
/// Most suggested answers.
const SUGGESTION_LIMIT: usize = 6;
/// Most tasks in a list.
const TASK_LIMIT: usize = 25;
/// Most lines of a checklist.
const TODO_LIMIT: usize = 40;
/// Most refusals in a list.
const REFUSAL_LIMIT: usize = 12;
/// Most commands in a list.
const COMMAND_LIMIT: usize = 25;
/// Most verdicts of one refusal.
const VERDICT_LIMIT: usize = 3;
/// Most rows of the table of refusals.
const ROW_LIMIT: usize = 30;
/// Most characters of a held call's arguments.
const ARGUMENTS_LIMIT_CHARS: usize = 4_000;
/// Most characters of a held edit's diff.
const HELD_DIFF_LIMIT_CHARS: usize = 6_000;
/// Most checks in a list.
const CHECK_LIMIT: usize = 10;
/// Most characters of what a failed check wrote.
const OUTPUT_LIMIT_CHARS: usize = 5_000;
/// Most characters of one foreign phrase in an entry of a list.
const PHRASE_LIMIT_CHARS: usize = 160;

/// Most characters of one thing about the mode that a held call leads to.
const TARGET_LIMIT_CHARS: usize = 600;

/// The first line of a report: what state, which mode, how much of the budget, where the log is.
pub(crate) struct StateLine<'a> {
    pub(crate) state: &'a str,
    /// Whose no stands out.
    pub(crate) refused: &'a [RefusedCall],
    pub(crate) mode: &'a str,
    pub(crate) spent: &'a Spent,
    /// True when some of it is an estimate.
    pub(crate) is_estimate: bool,
    pub(crate) budget: &'a Budget,
    pub(crate) run_url: Option<&'a str>,
}

impl StateLine<'_> {
    pub(crate) fn render(&self) -> String {
        let mut parts = vec![format!("**locum: {}**", self.state)];
        parts.extend(figures::stands_out(self.refused).iter().map(|said| phrase(said)));
        parts.extend([
            format!("mode {}", phrase(self.mode)),
            format!("{}/{} turns", self.spent.turns, self.budget.turns),
            format!(
                "{} of {}",
                figures::money(self.spent.cost_usd, self.is_estimate),
                figures::money(self.budget.cost_usd, false)
            ),
        ]);
        if self.spent.seconds > 0 {
            parts.push(figures::duration(self.spent.seconds));
        }
        parts.extend(self.run_url.map(|url| format!("[log]({})", address(url))));
        parts.join(" · ")
    }
}

/// Returns who wrote something for whom, and where the log is.
pub fn written_by(requested_by: Option<&str>, run_url: Option<&str>) -> String {
    let by = requested_by.map_or_else(String::new, |login| {
        format!(", asked by {}", code(&figures::clip(login, 60)))
    });
    let log = run_url.map_or_else(String::new, |url| format!(" ([log]({}))", address(url)));
    format!("Written by locum{by}{log}.")
}

/// Returns the tasks as a nested checklist, sub-tasks below the task that requested them; empty for
/// a single task.
pub fn tasks(tasks: &[TaskReport]) -> String {
    if tasks.len() < 2 {
        return String::new();
    }
    let lines = listed(tasks, TASK_LIMIT, |task| {
        let (tick, note) = match task.reached() {
            Some(CompletionStatus::Done) => ("x", String::new()),
            other => (" ", format!(" ({})", figures::reached(other))),
        };
        let kept = if task.kept_ref.is_some() { " (not merged)" } else { "" };
        let indent = "  ".repeat(depth(task, tasks));
        format!(
            "{indent}- [{tick}] **{}**: {}{note}{kept}",
            phrase(&task.mode),
            phrase(&task.title)
        )
    });
    format!("**Tasks**\n\n{lines}")
}

/// Returns a checklist; empty when there is none.
pub fn todos(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return String::new();
    }
    let lines = listed(todos, TODO_LIMIT, |todo| {
        let (tick, note) = match todo.state {
            TodoState::Pending => (" ", ""),
            TodoState::Started => (" ", " (started)"),
            TodoState::Done => ("x", ""),
        };
        format!("- [{tick}] {}{note}", phrase(&todo.text))
    });
    format!("**Checklist**{}\n\n{lines}", figures::open_items(todos))
}

/// Returns the result in the model's words; empty when it has none.
pub fn result(summary: &str) -> String {
    let words = bounded(summary.trim(), RESULT_LIMIT_CHARS, contained);
    if words.is_empty() { words } else { format!("**Result**\n\n{words}") }
}

/// Returns why the session ended as it did and what is asked; empty when there is nothing to say.
pub fn reason(outcome: &Outcome) -> String {
    let mut paragraphs = Vec::new();
    paragraphs.extend(
        outcome
            .reason
            .as_deref()
            .map(|reason| format!("Why: {}", bounded(reason, 2 * PHRASE_LIMIT_CHARS, inline))),
    );
    let share = outcome.questions().take(WAITING_LIMIT).count().max(1);
    paragraphs.extend(outcome.questions().take(WAITING_LIMIT).map(|asked| question(asked, share)));
    paragraphs.join("\n\n")
}

/// Returns what readers have to know besides; empty when there is nothing.
pub fn notes(outcome: &Outcome) -> String {
    listed(&outcome.notes, NOTE_LIMIT, |note| {
        format!("- Note: {}", bounded(note, NOTE_LIMIT_CHARS, inline))
    })
}

/// Returns what sub-tasks changed that is not part of the result; empty when all of it is.
pub fn not_merged(tasks: &[TaskReport]) -> String {
    let kept: Vec<&TaskReport> = tasks.iter().filter(|task| task.kept_ref.is_some()).collect();
    if kept.is_empty() {
        return String::new();
    }
    let lines = listed(&kept, KEPT_LIMIT, |task| {
        // Half a command would get half of it.
        let command = task.kept_command().map(|command| code(&command));
        let command = command.filter(|command| figures::width(command) <= COMMAND_LIMIT_CHARS);
        let command = command.map(|command| format!("; in that checkout, {command} gets it"));
        format!(
            "- **{}**: {} ({}), kept on {}{}",
            phrase(&task.mode),
            phrase(&task.title),
            figures::changes(&task.changes),
            code_phrase(task.kept_ref.as_deref().unwrap_or_default()),
            command.unwrap_or_default(),
        )
    });
    format!("**Not merged**, so not part of the change:\n\n{lines}")
}

/// Returns the diffs of what was not merged in a fold, in at most `room_chars` characters; empty
/// where there are none or no room.
pub fn not_merged_diff(tasks: &[TaskReport], room_chars: usize) -> String {
    let changes =
        tasks.iter().filter(|task| task.kept_ref.is_some()).flat_map(|task| &task.changes);
    let changes: Vec<FileChange> =
        changes.filter(|change| !change.patch.is_empty()).cloned().collect();
    let title = "Not merged";
    let room_chars = room_chars.min(NOT_MERGED_LIMIT_CHARS).saturating_sub(fold(title, "").len());
    if changes.is_empty() || room_chars < NOT_MERGED_LEAST_CHARS {
        return String::new();
    }
    fold(title, &bounded(&figures::diff(&changes), room_chars, |text| fenced(text, "diff")))
}

/// Returns a question and its suggested answers; `share` of them have the room of one.
pub fn question(question: &Question, share: usize) -> String {
    let text = bounded(&question.text, QUESTION_LIMIT_CHARS / share, contained);
    let suggestions = listed(&question.suggestions, SUGGESTION_LIMIT, |suggestion| {
        format!("- {}", phrase(suggestion))
    });
    if suggestions.is_empty() { text } else { format!("{text}\n\n{suggestions}") }
}

/// Returns the calls that wait for a decision: what each would do, by which rule it is held, its
/// arguments and, for an edit, the diff. Empty when none waits.
pub fn held(outcome: &Outcome) -> String {
    let holds = || outcome.holds().take(WAITING_LIMIT);
    let share = holds().count().max(1);
    join(&holds().map(|held| held_call(held, share)).collect::<Vec<_>>())
}

fn held_call(held: &HeldCall, share: usize) -> String {
    let mut lines = vec![
        format!(
            "**Waits for a person**: {} in mode {}",
            code_phrase(&held.headline),
            phrase(&held.mode)
        ),
        String::new(),
    ];
    lines.extend(verdict_lines(&held.verdicts, "- "));
    let facts = held.target.iter().flat_map(target_facts);
    lines.extend(
        facts.map(|(what, text)| {
            format!("- {what}: {}", bounded(&text, TARGET_LIMIT_CHARS, inline))
        }),
    );
    let shown =
        bounded(&held.arguments, ARGUMENTS_LIMIT_CHARS / share, |text| fenced(text, "json"));
    let arguments =
        fold(&format!("Arguments of {}", figures::clip(&held.tool, PHRASE_LIMIT_CHARS)), &shown);
    let diff = held.diff.as_deref().map_or_else(String::new, |diff| {
        fold(
            "What it would change",
            &bounded(diff, HELD_DIFF_LIMIT_CHARS / share, |text| fenced(text, "diff")),
        )
    });
    join(&[lines.join("\n"), arguments, diff])
}

/// Returns what a maintainer has to know of a mode that a held call leads to, with what each thing
/// is.
pub(crate) fn target_facts(target: &TargetMode) -> Vec<(&'static str, String)> {
    let about = target.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
    let mut facts = vec![("mode", format!("{} ({}){about}", target.name, target.slug))];
    facts.extend(target.chosen.clone().map(|chosen| ("why", chosen)));
    facts.push(("may", target.rights.clone()));
    facts.push(("tools", target.tools.join(", ")));
    facts.push(("role", target.role.clone()));
    facts
}

/// Returns the held calls that were approved, one entry each; empty when there are none.
pub fn approved(outcome: &Outcome) -> String {
    listed(&outcome.approved, REFUSAL_LIMIT, |call| {
        format!(
            "- {}, approved by {} (hold `{}`)",
            code_phrase(&call.headline),
            code_phrase(&call.approval.by),
            call.approval.hold
        )
    })
}

/// Returns the refusals and holds as a table: decision, rule, place, how often; empty when there
/// are none.
pub(crate) fn refusal_table(outcome: &Outcome) -> String {
    let rows = figures::refused_rules(outcome);
    if rows.is_empty() {
        return String::new();
    }
    let mut lines = vec!["| | rule | place | times |".to_owned(), "|---|---|---|---:|".to_owned()];
    let cell = |text: &str| {
        if text.is_empty() { "none fits".to_owned() } else { code_phrase(text).replace('|', "\\|") }
    };
    for row in rows.iter().take(ROW_LIMIT) {
        let place = row.place();
        let place = if place.is_empty() {
            phrase(&row.reason).replace('|', "\\|")
        } else {
            code_phrase(&place)
        };
        lines.push(format!(
            "| {} | {} | {place} | {} |",
            figures::decision(row.decision),
            cell(row.rule.unwrap_or_default()),
            row.count
        ));
    }
    if rows.len() > ROW_LIMIT {
        lines.push(format!("\nand {} more", rows.len() - ROW_LIMIT));
    }
    format!("**Refused and held**\n\n{}", lines.join("\n"))
}

/// Returns every refusal with rule and line; those that are the same are one entry.
pub fn refusals(refusals: &[RefusedCall]) -> String {
    listed(&figures::grouped(refusals), REFUSAL_LIMIT, |(call, count)| refusal(call, *count))
}

/// Returns every command and how it ended.
pub fn commands(commands: &[CommandReport]) -> String {
    listed(commands, COMMAND_LIMIT, |command| {
        format!("- {}: {}", code_phrase(&command.command), figures::ended(command, code_phrase))
    })
}

/// Returns the policy's checks and how they ended, with the last lines of those that failed; says
/// so where nothing ran after the last change. Empty where there is nothing to say.
pub fn checks(outcome: &Outcome) -> String {
    if outcome.checks.is_empty() {
        return figures::unchecked(outcome).to_owned();
    }
    format!("**Checks**\n\n{}", check_list(&outcome.checks))
}

/// Returns every check and how it ended, with the last lines of those that failed.
pub fn check_list(checks: &[CheckReport]) -> String {
    let lines = listed(checks, CHECK_LIMIT, |check| {
        let end = phrase(&figures::check_end(&check.end));
        format!("- {}: {end}", code_phrase(&check.command))
    });
    let said = checks.iter().find(|check| !check.output.is_empty()).map(|check| {
        let title = figures::clip(&check.command, PHRASE_LIMIT_CHARS);
        let text = bounded(&check.output, OUTPUT_LIMIT_CHARS, |text| fenced(text, "text"));
        fold(&format!("The last lines of {title}"), &text)
    });
    join(&[lines, said.unwrap_or_default()])
}

/// Returns the folds below a report: refusals, commands, what was spent.
pub(crate) fn folds(outcome: &Outcome) -> Vec<String> {
    let mut folds = Vec::new();
    if !outcome.refusals.is_empty() {
        folds.push(fold(
            &format!("Refused{}", figures::refusals(&outcome.refusals)),
            &refusals(&outcome.refusals),
        ));
    }
    if !outcome.approved.is_empty() {
        folds.push(fold(
            &format!("Approved by people: {}", figures::count(outcome.approved.len(), "call")),
            &approved(outcome),
        ));
    }
    if !outcome.commands.is_empty() {
        let failed = outcome.commands.iter().filter(|command| !figures::succeeded(command)).count();
        let failed =
            if failed == 0 { String::new() } else { format!(", {failed} not with exit 0") };
        let missing =
            outcome.commands.iter().filter(|command| !command.details.not_started.is_empty());
        let missing = match missing.count() {
            0 => String::new(),
            count => format!(", {count} without a program that did not start"),
        };
        folds.push(fold(
            &format!("{} run{failed}{missing}", figures::count(outcome.commands.len(), "command")),
            &commands(&outcome.commands),
        ));
    }
    folds.push(fold("Spent", &spent(outcome)));
    folds
}

/// Returns what was spent, one line per kind, and the names a reader needs to look further.
pub fn spent(outcome: &Outcome) -> String {
    let note = if outcome.spent_is_estimate {
        " (partly estimated: the provider did not count, or the model has no price)"
    } else {
        ""
    };
    let run = format!(
        "- {}{note}\n- session `{}` from commit `{}`",
        figures::spent(&outcome.spent, outcome.spent_is_estimate),
        outcome.session,
        figures::short(&outcome.base)
    );
    join(&[run, spent_by_task(&outcome.tasks)])
}

/// Returns what each task used up as a table; empty for a single task.
fn spent_by_task(tasks: &[TaskReport]) -> String {
    let [root, _, ..] = tasks else { return String::new() };
    let row = |name: &str, charged: &ChargedUsage, with_sub_tasks: &str| {
        let Usage { input, output, cached_read, cached_write, reasoning } = charged.usage;
        let [input, cached_read, cached_write, output, reasoning] =
            [input, cached_read, cached_write, output, reasoning].map(figures::tokens);
        let cost = figures::money(charged.cost_usd, charged.is_estimate);
        format!(
            "| {name} | {} | {input} | {cached_read} | {cached_write} | {output} | {reasoning} | \
             {cost} | {with_sub_tasks} |",
            charged.turns
        )
    };
    let task_row = |task: &TaskReport| {
        let name =
            format!("**{}**: {}", phrase(&task.mode), phrase(&task.title)).replace('|', "\\|");
        let all = if task.own == task.with_sub_tasks {
            String::new()
        } else {
            figures::charged(&task.with_sub_tasks)
        };
        row(&name, &task.own, &all)
    };
    let mut lines = vec![
        "| task | replies | tokens in | read from cache | written to cache | tokens out | \
         reasoning | cost | with its sub-tasks |"
            .to_owned(),
        "|---|---:|---:|---:|---:|---:|---:|---:|---|".to_owned(),
    ];
    lines.extend(tasks.iter().take(TASK_LIMIT).map(task_row));
    if let Some(more) = tasks.get(TASK_LIMIT..).filter(|more| !more.is_empty()) {
        let mut rest = ChargedUsage::default();
        more.iter().for_each(|task| rest.add(task.own));
        lines.push(row(&format!("and {} more", more.len()), &rest, ""));
    }
    lines.push(row("all", &root.with_sub_tasks, ""));
    lines.join("\n")
}

/// Returns the diff in a fold of at most `room_chars` characters, cut at a line with a note that it
/// was. `None` when there is no room or no change.
pub fn diff(changes: &[FileChange], room_chars: usize) -> Option<String> {
    let whole = figures::diff(changes);
    let title = format!("Diff: {}", figures::changes(changes));
    let all_lines = whole.lines().count();
    let mut shown_lines = all_lines;
    if changes.is_empty() {
        return None;
    }
    while shown_lines > 0 {
        let part: String = whole.split_inclusive('\n').take(shown_lines).collect();
        let note = if shown_lines < all_lines {
            format!("Shortened: the first {shown_lines} of {all_lines} lines.\n\n")
        } else {
            String::new()
        };
        let text = fold(&title, &format!("{note}{}", fenced(&part, "diff")));
        let length = figures::width(&text);
        if length <= room_chars {
            return Some(text);
        }
        // Cut by the share that is too much, and always by one line at least.
        shown_lines = (shown_lines.saturating_mul(room_chars) / length).min(shown_lines - 1);
    }
    let text = format!("The diff ({}) is too long to be shown here.", figures::changes(changes));
    (figures::width(&text) <= room_chars).then_some(text)
}

/// Returns an address as it may stand in a Markdown link.
pub fn address(url: &str) -> String {
    url.chars()
        .filter(|letter| {
            letter.is_ascii_graphic() && !matches!(letter, '(' | ')' | '<' | '>' | '\\' | '`')
        })
        .collect()
}

/// Joins the paragraphs that are not empty.
pub fn join(paragraphs: &[String]) -> String {
    paragraphs
        .iter()
        .map(String::as_str)
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn refusal(call: &RefusedCall, count: usize) -> String {
    let (headline, mode) = (code_phrase(&call.headline), phrase(&call.mode));
    let mut lines = vec![format!("- {headline} in mode {mode}{}", figures::times(count))];
    lines.extend(figures::denied(call).map(|said| format!("  - {}", phrase(&said))));
    lines.extend(verdict_lines(&call.refusal.verdicts, "  - "));
    lines.extend(call.refusal.hint.as_ref().map(|hint| format!("  - instead: {}", phrase(hint))));
    lines.join("\n")
}

fn verdict_lines(verdicts: &[Verdict], bullet: &str) -> Vec<String> {
    let line =
        |verdict: &Verdict| format!("{bullet}{}", figures::verdict(verdict, code_phrase, phrase));
    let mut lines: Vec<String> = verdicts.iter().take(VERDICT_LIMIT).map(line).collect();
    if verdicts.len() > VERDICT_LIMIT {
        lines.push(format!("{bullet}and {} more", verdicts.len() - VERDICT_LIMIT));
    }
    lines
}

fn phrase(text: &str) -> String {
    bounded(text, PHRASE_LIMIT_CHARS, inline)
}

fn code_phrase(text: &str) -> String {
    bounded(text, PHRASE_LIMIT_CHARS, code)
}

/// Renders as much of a text as fits, halving it until the rendered form does: escaping makes text
/// longer.
fn bounded(text: &str, limit_chars: usize, render: impl Fn(&str) -> String) -> String {
    let mut keep = limit_chars;
    loop {
        let rendered = render(&figures::clip(text, keep));
        if figures::width(&rendered) <= limit_chars || keep == 0 {
            return rendered;
        }
        keep /= 2;
    }
}

fn listed<T>(items: &[T], limit: usize, entry: impl Fn(&T) -> String) -> String {
    let mut lines: Vec<String> = items.iter().take(limit).map(entry).collect();
    if items.len() > limit {
        lines.push(format!("- and {} more", items.len() - limit));
    }
    lines.join("\n")
}

/// Returns how many tasks stand between a task and the root.
pub fn depth(task: &TaskReport, tasks: &[TaskReport]) -> usize {
    let mut depth = 0;
    let mut parent = task.parent;
    while let Some(id) = parent.filter(|_| depth < tasks.len()) {
        depth += 1;
        parent = tasks.iter().find(|other| other.task == id).and_then(|other| other.parent);
    }
    depth
}
