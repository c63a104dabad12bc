//! `LiveStatus`: what stands below the lines of a run on a terminal, while it is at work.
//!
//! In: each event as it happens, the time, and the latest output of commands. Out: a few lines:
//! what runs and for how long, the end of its output, the checklist, what was spent. No colours, no
//! control characters, no line wider than the terminal.

use jiff::Timestamp;

use crate::report::activity::Activities;
use crate::report::comment::Progress;
use crate::report::figures;
use crate::report::markdown::visible;
use crate::session::event::{Event, JournalLine};
use crate::session::state::SessionState;
use crate::tools::{Todo, TodoState};
use locum_base::secret::view::without_escapes;
use locum_base::text::counted;

/// Most commands and edits that are shown at once.
const ACTIVITIES_LIMIT: usize = 3;
/// Most lines of output that are shown.
pub const OUTPUT_LIMIT_LINES: usize = 5;
/// Most lines of the checklist that are shown.
const TODOS_LIMIT: usize = 5;
/// Narrowest terminal that lines are cut for, in characters.
const WIDTH_LEAST: usize = 20;

/// A line of the status, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// What it shows.
    pub kind: StatusKind,
    /// The line.
    pub text: String,
}

/// What a line of the status shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusKind {
    /// What runs now.
    Now,
    /// Output of a command.
    Output,
    /// A line of the checklist.
    Todo,
    /// What was spent.
    Spent,
}

/// What a run does now and how far it is.
#[derive(Clone, Debug, Default)]
pub struct LiveStatus {
    now: Activities,
    progress: Progress,
    /// What the model is asked as: `task 1 · code`.
    asked: String,
    is_over: bool,
}

impl LiveStatus {
    /// Takes in an event, given the state it led to.
    pub fn take_in(&mut self, line: &JournalLine, state: &SessionState) {
        self.now.take_in(line, state);
        self.progress = Progress::of(state, line.at);
        self.is_over = matches!(line.event, Event::Ended(_));
        let task = line.event.task().and_then(|task| state.task(task));
        let task = task.filter(|task| task.ended.is_none()).or_else(|| state.at_work().last());
        if let Some(task) = task {
            self.asked = format!("task {} · {}", task.id, task.mode);
        }
    }

    /// Returns whether a command or an edit is under way.
    pub fn is_acting(&self) -> bool {
        !self.now.is_empty()
    }

    /// Returns the lines at a time, each at most `width` characters.
    pub fn lines(&self, now: Timestamp, output: &[String], width: usize) -> Vec<StatusLine> {
        let width = width.max(WIDTH_LEAST);
        let line = |kind: StatusKind, text: &str| StatusLine {
            kind,
            text: figures::clip(&visible(text).replace('\n', " "), width),
        };
        let mut lines: Vec<StatusLine> = self
            .now
            .iter()
            .take(ACTIVITIES_LIMIT)
            .map(|activity| {
                let elapsed = elapsed(activity.since, now);
                // What runs may be long; the time has to be seen.
                let room = width.saturating_sub(elapsed.len() + 3);
                let what = figures::clip(&visible(&activity.what).replace('\n', " "), room);
                line(StatusKind::Now, &format!("{what} · {elapsed}"))
            })
            .collect();
        if self.is_acting() {
            let from = output.len().saturating_sub(OUTPUT_LIMIT_LINES);
            let shown = output.iter().skip(from);
            let shown = shown.map(|text| without_escapes(text));
            lines.extend(shown.map(|text| line(StatusKind::Output, &format!("│ {text}"))));
        } else if self.is_over {
            lines.push(line(StatusKind::Now, "the session has ended; its result is published"));
        } else {
            let elapsed = elapsed(self.progress.at, now);
            let text = format!("{} · waits for the model · {elapsed}", self.asked);
            lines.push(line(StatusKind::Now, text.trim_start_matches(" · ")));
        }
        lines.extend(shown(&self.progress.todos).map(|todo| line(StatusKind::Todo, &todo.line())));
        lines.push(line(StatusKind::Spent, &self.spent(now)));
        lines
    }

    /// Returns what was spent until now.
    fn spent(&self, now: Timestamp) -> String {
        let Progress { todos, spent, at, spent_is_estimate, .. } = &self.progress;
        let seconds = spent.seconds.saturating_add(seconds_between(*at, now));
        let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
        let done = (!todos.is_empty()).then(|| format!("{done}/{} done", todos.len()));
        let parts = [
            done,
            Some(figures::duration(seconds)),
            Some(counted(spent.turns as usize, "turn")),
            Some(figures::money(spent.cost_usd, *spent_is_estimate)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Returns the lines of a checklist around the first that is not done.
fn shown(todos: &[Todo]) -> impl Iterator<Item = &Todo> {
    let open = todos.iter().position(|todo| todo.state != TodoState::Done);
    let open = open.unwrap_or(todos.len());
    let from = open.saturating_sub(1).min(todos.len().saturating_sub(TODOS_LIMIT));
    todos.iter().skip(from).take(TODOS_LIMIT)
}

fn elapsed(since: Timestamp, now: Timestamp) -> String {
    figures::duration(seconds_between(since, now))
}

fn seconds_between(since: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.duration_since(since).as_secs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{LiveStatus, StatusKind, shown};
    use crate::report::live_status::StatusLine;
    use crate::session::event::{Event, JournalLine};
    use crate::session::state::SessionState;
    use crate::tools::{Todo, TodoState};
    use jiff::Timestamp;
    use locum_base::id::TaskId;
    use locum_policy::budget::Budget;
    use pretty_assertions::assert_eq;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn todo(text: &str, state: TodoState) -> Todo {
        Todo { text: text.to_owned(), state }
    }

    /// A run at its work, and what is shown of it.
    struct Followed(SessionState, LiveStatus);

    impl Followed {
        fn take(&mut self, second: i64, event: Event) {
            let line = JournalLine { at: at(second), event };
            self.0.apply(&line);
            self.1.take_in(&line, &self.0);
        }

        fn shown(&self, second: i64, output: &[&str], width: usize) -> Vec<String> {
            let output: Vec<String> = output.iter().map(|line| (*line).to_owned()).collect();
            let lines = self.1.lines(at(second), &output, width);
            lines.into_iter().map(|StatusLine { text, .. }| text).collect()
        }
    }

    fn begun() -> Followed {
        let mut run = Followed(SessionState::default(), LiveStatus::default());
        run.take(
            10,
            Event::TaskStarted {
                task: TaskId(0),
                parent: None,
                parent_call: None,
                mode: "code".to_owned(),
                message: "fix it".to_owned(),
                title: None,
                todos: vec![todo("read", TodoState::Done), todo("fix", TodoState::Started)],
                budget: Budget::default(),
                tree: None,
            },
        );
        run
    }

    #[test]
    fn a_model_at_thought_is_shown_with_its_time_the_checklist_and_the_cost() {
        let run = begun();
        assert_eq!(
            run.shown(75, &[], 80),
            [
                "task 0 · code · waits for the model · 1 min 5 s",
                "- [x] read",
                "- [-] fix",
                "1/2 done · 1 min 5 s · 0 turns · $0.00"
            ]
        );
    }

    #[test]
    fn a_command_is_shown_with_the_end_of_its_output_which_stays_inert() {
        let mut run = begun();
        let commands = vec!["cargo test --workspace".to_owned()];
        let (task, call) = (TaskId(0), "c".to_owned());
        run.take(20, Event::Checking { task, call, commands, snapshot: None });
        let output = ["1", "2", "3", "4", "5", "\u{1b}[1m6\u{1b}[2J\u{7}"];
        assert_eq!(
            run.shown(32, &output, 24).get(..6).unwrap(),
            ["cargo test --wor… · 12 s", "│ 2", "│ 3", "│ 4", "│ 5", "│ 6(U+0007)"]
        );
        assert!(run.shown(32, &output, 24).iter().all(|line| line.chars().count() <= 24));
    }

    #[test]
    fn of_a_long_checklist_what_is_open_is_shown() {
        let todos: Vec<Todo> = (0..20)
            .map(|at| {
                todo(&at.to_string(), if at < 9 { TodoState::Done } else { TodoState::Pending })
            })
            .collect();
        let of = |todos: &[Todo]| {
            shown(todos).map(|todo| todo.text.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(&todos), "8 9 10 11 12");
        assert_eq!(of(todos.get(..9).unwrap()), "4 5 6 7 8");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn the_last_line_is_what_was_spent() {
        let lines = begun().1.lines(at(11), &[], 80);
        assert_eq!(lines.last().map(|line| line.kind), Some(StatusKind::Spent));
    }
}
