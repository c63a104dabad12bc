//! The tasks of a run and its checklist: open while it works, folded when it is over.

use crate::report::figures;
use crate::report::surface::Surface;
use crate::session::outcome::{Outcome, OutcomeWord, TaskReport};
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::{Todo, TodoState};

/// Most tasks in a list.
pub(super) const TASK_LIMIT: usize = 25;
/// Most characters of a task's title.
const TITLE_LIMIT_CHARS: usize = 60;
/// Most lines of a checklist.
const TODO_LIMIT: usize = 40;

/// Returns mode and title of a task: `code: Fix the rounding`.
pub(super) fn name(task: &TaskReport, surface: Surface) -> String {
    name_within(task, surface, TITLE_LIMIT_CHARS)
}

/// Returns mode and title of a task, of the title `limit_chars` characters at most.
pub(super) fn name_within(task: &TaskReport, surface: Surface, limit_chars: usize) -> String {
    let mode = surface.strong(&surface.words(&task.mode));
    format!("{mode}: {}", surface.words_within(&task.title, limit_chars))
}

/// Returns the tasks of a run that is over in a fold, sub-tasks below the task that requested
/// them; empty for a single task.
pub(super) fn tasks(outcome: &Outcome, surface: Surface) -> String {
    let tasks = &outcome.tasks;
    if tasks.len() < 2 {
        return String::new();
    }
    let done = tasks.iter().filter(|task| task.reached() == Some(CompletionStatus::Done)).count();
    let short = if done == tasks.len() { String::new() } else { format!(", {done} done") };
    let title = format!("{}{short}", figures::count(tasks.len(), "task"));
    let lines = surface.listed(tasks, TASK_LIMIT, |task| {
        let mut about = Vec::new();
        if task.reached() != Some(CompletionStatus::Done) {
            about.push(figures::reached(task.reached()).to_owned());
        }
        if task.kept_ref.is_some() {
            about.push("not merged".to_owned());
        }
        about.push(figures::count(task.turns as usize, "turn"));
        about.push(figures::duration(task.seconds));
        if !task.changes.is_empty() {
            about.push(figures::changes(&task.changes));
        }
        let (mark, name) = (mark(task, "❌"), name(task, surface));
        format!("{}- {mark} {name} ({})", indent(task, tasks), about.join(", "))
    });
    surface.fold(&title, &lines)
}

/// Returns the tasks of a run at work; empty for a single task.
pub(crate) fn tasks_at_work(tasks: &[TaskReport], surface: Surface) -> String {
    if tasks.len() < 2 {
        return String::new();
    }
    let lines = surface.listed(tasks, TASK_LIMIT, |task| {
        format!("{}- {} {}", indent(task, tasks), mark(task, "⏳"), name(task, surface))
    });
    format!("{}\n\n{lines}", surface.strong("Tasks"))
}

/// Returns the checklist of a run at work; empty when there is none.
pub(crate) fn checklist(todos: &[Todo], surface: Surface) -> String {
    if todos.is_empty() {
        return String::new();
    }
    format!("{} ({})\n\n{}", surface.strong("Checklist"), done_of(todos), items(todos, surface))
}

/// Returns the checklist in a fold, of a run that ended before it was through with its work: one
/// that is done has nothing left to tick off.
pub(super) fn checklist_at_end(outcome: &Outcome, surface: Surface) -> String {
    let is_through = matches!(
        outcome.word,
        OutcomeWord::Done
            | OutcomeWord::NothingToDo
            | OutcomeWord::ChecksFailed
            | OutcomeWord::NotPublished
    );
    if outcome.todos.is_empty() || is_through {
        return String::new();
    }
    let title = format!("Checklist: {}", done_of(&outcome.todos));
    surface.fold(&title, &items(&outcome.todos, surface))
}

fn done_of(todos: &[Todo]) -> String {
    let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
    format!("{done} of {} done", todos.len())
}

fn items(todos: &[Todo], surface: Surface) -> String {
    surface.listed(todos, TODO_LIMIT, |todo| {
        let (tick, note) = match todo.state {
            TodoState::Pending => (" ", ""),
            TodoState::Started => (" ", " (started)"),
            TodoState::Done => ("x", ""),
        };
        format!("- [{tick}] {}{note}", surface.words(&todo.text))
    })
}

fn mark(task: &TaskReport, unfinished: &'static str) -> &'static str {
    match task.reached() {
        Some(CompletionStatus::Done) => "✅",
        Some(CompletionStatus::Partial) => "🟡",
        Some(CompletionStatus::Failed) => "❌",
        None => unfinished,
    }
}

fn indent(task: &TaskReport, tasks: &[TaskReport]) -> String {
    let mut depth = 0;
    let mut parent = task.parent;
    while let Some(id) = parent.filter(|_| depth < tasks.len()) {
        depth += 1;
        parent = tasks.iter().find(|other| other.task == id).and_then(|other| other.parent);
    }
    "  ".repeat(depth)
}
