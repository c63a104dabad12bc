//! What a run used up, in a fold: one line for all of it, a table by task, and the names that find
//! the session.

use crate::report::figures;
use crate::report::sections::tasks::{TASK_LIMIT, name_within};
use crate::report::surface::{Surface, join};
use crate::session::outcome::{ChargedUsage, Outcome, TaskReport};
use crate::session::tool_counts::ToolCount;

/// How the line about the session begins, and what stands between it and its commit.
const SESSION: &str = "Session ";
const FROM: &str = ", from commit ";

/// Most tools that are named.
const TOOL_LIMIT: usize = 20;

/// Most characters of a task's title in a cell: a table has to fit a phone.
const CELL_LIMIT_CHARS: usize = 40;

/// A number of a row.
type Figure = fn(&ChargedUsage) -> Option<String>;

/// The columns beside the task, `in` and `out` of which count tokens; one without any number is
/// left out.
const COLUMNS: [(&str, Figure); 3] = [
    ("in", |charged| tokens(charged.usage.input)),
    ("out", |charged| tokens(charged.usage.output)),
    ("cost", |charged| {
        (charged.cost_usd > 0.0).then(|| figures::money(charged.cost_usd, charged.is_estimate))
    }),
];

/// Returns what was spent.
pub(super) fn cost(outcome: &Outcome, surface: Surface) -> String {
    let spent = &outcome.spent;
    let note = if outcome.spent_is_estimate {
        ". Partly estimated: the provider did not count, or the model has no price"
    } else {
        ""
    };
    let money = figures::money(spent.cost_usd, outcome.spent_is_estimate);
    let all = if outcome.asked_no_model() {
        "No model was asked.".to_owned()
    } else {
        format!(
            "{}, {}, {}{note}.",
            figures::count(spent.turns as usize, "turn"),
            figures::count(spent.tool_calls as usize, "tool call"),
            figures::usage(spent.usage),
        )
    };
    let session = format!(
        "{SESSION}{}{FROM}{}.",
        surface.code(&outcome.session.to_string()),
        surface.code(figures::short(&outcome.base))
    );
    let title = format!("Cost: {money}, {}", figures::duration(spent.seconds));
    let tools = by_tool(outcome, surface);
    surface.fold(&title, &join(&[all, by_task(&outcome.tasks, surface), tools, session]))
}

/// Returns how often each tool was called, the most frequent first; empty for no call.
fn by_tool(outcome: &Outcome, surface: Surface) -> String {
    let mut counts: Vec<(&String, &ToolCount)> = outcome.tools.0.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(count.calls));
    let shown = counts.iter().take(TOOL_LIMIT).map(|(name, count)| {
        let part = |number: u32, what: &str| (number > 0).then(|| format!("{number} {what}"));
        let parts = [part(count.failed, "failed"), part(count.refused, "refused")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let of = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("{} {}{of}", surface.code(name), count.calls)
    });
    let shown: Vec<String> = shown.collect();
    match (shown.is_empty(), counts.len().saturating_sub(TOOL_LIMIT)) {
        (true, _) => String::new(),
        (false, 0) => format!("Tools: {}.", shown.join(", ")),
        (false, more) => format!("Tools: {} and {more} more.", shown.join(", ")),
    }
}

/// Returns the commit that a run began with, as the last such line of its comment says: what a
/// model says stands before it.
pub(crate) fn commit_of(comment: &str) -> Option<&str> {
    let line = comment.lines().rev().find(|line| line.starts_with(SESSION))?;
    let (_, commit) = line.split_once(FROM)?;
    let commit = commit.strip_prefix('`')?.strip_suffix("`.")?;
    let is_commit = commit.len() >= 7 && commit.chars().all(|digit| digit.is_ascii_hexdigit());
    is_commit.then_some(commit)
}

/// Returns what each task used up as a table; empty for a single task.
fn by_task(tasks: &[TaskReport], surface: Surface) -> String {
    let [root, _, ..] = tasks else { return String::new() };
    let mut rows: Vec<(String, ChargedUsage)> = tasks
        .iter()
        .take(TASK_LIMIT)
        .map(|task| (name_within(task, surface, CELL_LIMIT_CHARS), task.own))
        .collect();
    if let Some(more) = tasks.get(TASK_LIMIT..).filter(|more| !more.is_empty()) {
        let mut rest = ChargedUsage::default();
        more.iter().for_each(|task| rest.add(task.own));
        rows.push((format!("and {} more", more.len()), rest));
    }
    rows.push((surface.strong("all"), root.with_sub_tasks));
    rows.retain(|(_, charged)| *charged != ChargedUsage::default());
    let has_number = |figure: Figure| rows.iter().any(|(_, charged)| figure(charged).is_some());
    let columns: Vec<(&str, Figure)> =
        COLUMNS.into_iter().filter(|(_, figure)| has_number(*figure)).collect();
    let head: Vec<&str> =
        std::iter::once("task").chain(columns.iter().map(|(title, _)| *title)).collect();
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(name, charged)| {
            let numbers = columns.iter().map(|(_, figure)| figure(charged).unwrap_or_default());
            std::iter::once(name.clone()).chain(numbers).collect()
        })
        .collect();
    surface.table(&head, &cells)
}

fn tokens(number: u64) -> Option<String> {
    (number > 0).then(|| figures::tokens(number))
}

#[cfg(test)]
mod tests {
    use super::commit_of;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_commit_of_a_run_is_the_one_of_the_last_line_about_a_session() {
        let comment = "Session `aa`, from commit `0000000`.\n\ntext\n\nSession `bb`, from commit \
                       `0123456789ab`.\n\n</details>\n\nAsked by @bob.";
        assert_eq!(commit_of(comment), Some("0123456789ab"));
        for none in
            ["", "Session `aa`.", "Session `aa`, from commit `main`.", "from commit `0123456`."]
        {
            assert_eq!(commit_of(none), None, "{none}");
        }
    }
}
