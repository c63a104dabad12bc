//! `update_todo_list`: replaces the task's checklist.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::peer_words::PeerWords;
use crate::tools::{CallError, Control, Todo, TodoState};
use locum_base::text::single_blanks;
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
    const PEERS: PeerWords = PeerWords {
        renames: &[&[("plan", "todos"), ("items", "todos"), ("todo_list", "todos")]],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "todos": { "type": "string", "description": "The whole list, one step a line: `- [ ] to do`, `- [-] under way`, `- [x] done`" }
        })
    }

    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let list = arguments.optional_value("todos").ok_or_else(|| {
            CallError(
                "`update_todo_list` needs `todos`: the whole checklist, one `- [ ] step` a line."
                    .to_owned(),
            )
        })?;
        arguments.finish()?;
        let todos = read(&list)?;
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

/// Reads a checklist as a text, or as a list of steps: texts, or objects with a text and a status.
///
/// # Errors
/// When something of it is not a step, or there are more than [`TODO_LIMIT`].
pub fn read(list: &Value) -> Result<Vec<Todo>, CallError> {
    match list {
        Value::String(text) => parse(text),
        Value::Array(items) => {
            let mut todos = Vec::new();
            for item in items {
                todos.extend(step(item)?);
            }
            bounded(todos)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Err(CallError(
            "`todos` must be the whole checklist, one `- [ ] step` a line.".to_owned(),
        )),
    }
}

/// Reads a checklist: `- [ ]`, `- [x]`, `- [-]` or `- [~]` and a text, one a line. Other lines are
/// not part of it. Where no line has a mark, each is a step to do, but for headings. A blank text
/// is an empty list.
///
/// # Errors
/// When there is text but no step, or more than [`TODO_LIMIT`] of them.
pub fn parse(text: &str) -> Result<Vec<Todo>, CallError> {
    let mut todos: Vec<Todo> = text.lines().filter_map(parse_line).collect();
    if todos.is_empty() {
        todos.extend(text.lines().filter_map(plain_line));
    }
    if todos.is_empty() && !text.trim().is_empty() {
        return Err(CallError(
            "`todos` holds no checklist line; write one step a line as `- [ ] step`.".to_owned(),
        ));
    }
    bounded(todos)
}

fn bounded(todos: Vec<Todo>) -> Result<Vec<Todo>, CallError> {
    if todos.len() > TODO_LIMIT {
        return Err(CallError(format!(
            "`todos` has {} lines, more than the {TODO_LIMIT} that are kept; join small steps.",
            todos.len()
        )));
    }
    Ok(todos)
}

/// Reads one step of a list; `None` for one that was given up.
fn step(item: &Value) -> Result<Option<Todo>, CallError> {
    let wrong = |what: String| CallError(format!("A step of `todos` {what}."));
    let Value::Object(fields) = item else {
        let text = item.as_str().ok_or_else(|| wrong("is not a text".to_owned()))?;
        return Ok(parse_line(text).or_else(|| plain_line(text)));
    };
    let text = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)?.as_str());
    let words = text(&["content", "text", "step", "task", "title", "description"]);
    let words = words.map(str::trim).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| wrong("has no text".to_owned()))?;
    let status = text(&["status", "state"]).unwrap_or("pending");
    let state = match status.to_lowercase().replace(['-', ' '], "_").as_str() {
        "pending" | "todo" | "to_do" | "open" | "not_started" => TodoState::Pending,
        "in_progress" | "started" | "active" | "under_way" => TodoState::Started,
        "completed" | "complete" | "done" | "finished" => TodoState::Done,
        "cancelled" | "canceled" => return Ok(None),
        _ => {
            let known = "it is `pending`, `in_progress` or `completed`";
            return Err(wrong(format!("has the status `{status}`; {known}")));
        }
    };
    let text = single_blanks(words);
    Ok(Some(Todo { text, state }))
}

/// Reads a line without a mark: behind a bullet or a number, or bare.
fn plain_line(line: &str) -> Option<Todo> {
    let line = line.trim();
    if line.starts_with('#') {
        return None;
    }
    let line = line.strip_prefix(['-', '*']).unwrap_or(line);
    let line = match line.trim_start_matches(|letter: char| letter.is_ascii_digit()) {
        rest if rest.len() < line.len() => rest.strip_prefix(['.', ')']).unwrap_or(line),
        _ => line,
    };
    let text = line.trim();
    (!text.is_empty()).then(|| Todo { text: text.to_owned(), state: TodoState::Pending })
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
    use super::{TODO_LIMIT, parse, read};
    use crate::tools::TodoState::{Done, Pending, Started};
    use pretty_assertions::assert_eq;
    use serde_json::json;

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
    fn takes_the_lists_that_other_agents_send() {
        let list = json!([
            { "content": "a", "status": "completed", "activeForm": "Doing a" },
            { "step": "b", "status": "in_progress" },
            { "text": "c\nd", "state": "todo", "priority": "urgent" },
            { "content": "given up", "status": "cancelled" },
            "e",
            "- [x] f",
        ]);
        let steps: Vec<_> =
            read(&list).unwrap().into_iter().map(|todo| (todo.text, todo.state)).collect();
        let expected = [("a", Done), ("b", Started), ("c d", Pending), ("e", Pending), ("f", Done)];
        assert_eq!(steps, expected.map(|(text, state)| (text.to_owned(), state)));
        for wrong in [
            json!([{ "content": "a", "status": "maybe" }]),
            json!([{ "status": "pending" }]),
            json!([3]),
            json!({ "a": 1 }),
            json!(vec!["a"; TODO_LIMIT + 1]),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn empties_the_list_only_for_a_blank_text() {
        assert_eq!(parse(" \n"), Ok(vec![]));
        let plain = parse("# plan\n1. look\n2) fix it\n- 3 tests\n").unwrap();
        let texts: Vec<&str> = plain.iter().map(|todo| todo.text.as_str()).collect();
        assert_eq!(texts, ["look", "fix it", "3 tests"]);
        assert!(parse("# nothing but a heading").is_err());
        assert!(parse(&"- [ ] a\n".repeat(TODO_LIMIT)).is_ok());
        assert!(parse(&"- [ ] a\n".repeat(TODO_LIMIT + 1)).is_err());
    }
}
