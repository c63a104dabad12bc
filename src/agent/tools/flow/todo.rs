//! `update_todo_list`: replaces the task's checklist.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::{CallError, Control, Todo, TodoState};
use locum_policy::intent::Intent;

/// Most lines of a checklist.
pub const TODO_LIMIT: usize = 100;

/// The tool that replaces the checklist.
#[derive(Clone, Debug)]
pub struct UpdateTodoList;

impl SteeringTool for UpdateTodoList {
    const DESCRIPTION: &'static str = "Replace the checklist of this task; people follow the work \
        by it. Use it for work of several steps and whenever a step ends.";
    const REQUIRED: &'static [&'static str] = &["todos"];

    fn properties() -> Value {
        json!({
            "todos": { "type": "string", "description": "The whole list, one step a line: `- [ ] to do`, `- [-] under way`, `- [x] done`" }
        })
    }

    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let text = arguments.text("todos", "the whole checklist, one `- [ ] step` a line")?;
        arguments.finish()?;
        let todos = parse(&text)?;
        let count = |state: TodoState| todos.iter().filter(|todo| todo.state == state).count();
        let said = format!(
            "Checklist: {} done, {} under way, {} to do.",
            count(TodoState::Done),
            count(TodoState::Started),
            count(TodoState::Pending)
        );
        Ok(SteeringCall {
            intent: Intent::Session,
            headline: "update the checklist".to_owned(),
            said,
            control: Control::Todos { todos },
        })
    }
}

/// Reads a checklist: `- [ ]`, `- [x]`, `- [-]` or `- [~]` and a text, one a line. Other lines are
/// not part of it; a blank text is an empty list.
///
/// # Errors
/// When there is text but no such line, or more than [`TODO_LIMIT`] of them.
pub fn parse(text: &str) -> Result<Vec<Todo>, CallError> {
    let todos: Vec<Todo> = text.lines().filter_map(parse_line).collect();
    if todos.is_empty() && !text.trim().is_empty() {
        return Err(CallError(
            "`todos` holds no checklist line; write one step a line as `- [ ] step`.".to_owned(),
        ));
    }
    if todos.len() > TODO_LIMIT {
        return Err(CallError(format!(
            "`todos` has {} lines, more than the {TODO_LIMIT} that are kept; join small steps.",
            todos.len()
        )));
    }
    Ok(todos)
}

fn parse_line(line: &str) -> Option<Todo> {
    let line = line.trim();
    let line = line.strip_prefix(['-', '*']).map_or(line, str::trim_start);
    let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
    let state = match mark.trim() {
        "" => TodoState::Pending,
        "x" | "X" => TodoState::Done,
        "-" | "~" => TodoState::Started,
        _ => return None,
    };
    let text = text.trim();
    (!text.is_empty()).then(|| Todo { text: text.to_owned(), state })
}

#[cfg(test)]
mod tests {
    use super::{TODO_LIMIT, parse};
    use crate::tools::TodoState::{Done, Pending, Started};
    use pretty_assertions::assert_eq;

    #[test]
    fn reads_every_kind_of_line() {
        let text = "# plan\n- [ ] a\n* [x] b [c]\n  - [X] d\n[-] e\n- [~] f\n- [?] g\n- [ \
                    ]\nplain\n-[ ] h\n";
        let read: Vec<_> =
            parse(text).unwrap().into_iter().map(|todo| (todo.text, todo.state)).collect();
        let expected = [
            ("a", Pending),
            ("b [c]", Done),
            ("d", Done),
            ("e", Started),
            ("f", Started),
            ("h", Pending),
        ];
        assert_eq!(read, expected.map(|(text, state)| (text.to_owned(), state)));
    }

    #[test]
    fn empties_the_list_only_for_a_blank_text() {
        assert_eq!(parse(" \n"), Ok(vec![]));
        assert!(parse("do this, then that").is_err());
        assert!(parse(&"- [ ] a\n".repeat(TODO_LIMIT)).is_ok());
        assert!(parse(&"- [ ] a\n".repeat(TODO_LIMIT + 1)).is_err());
    }
}
