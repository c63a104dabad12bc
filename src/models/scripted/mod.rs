//! `Scripted`: replies from a file instead of a model, for jobs of fixed steps, demonstrations and
//! tests of modes and policies.
//!
//! In: a checked [`Script`] and requests. Out: the reply the script has for the task's mode, its
//! first message and the turn. It keeps no state: the same request always gets the same reply, so a
//! killed run resumes to the same end. Every request is checked for its shape and for what the
//! script expects of it.

mod expect;
pub mod script;

use futures::stream::{self, BoxStream, StreamExt};

use crate::accounting::{estimate_request, estimate_tokens};
use crate::conversation::check_conversation;
use crate::scripted::expect::check_expectation;
use crate::scripted::script::{Fault, Script, ScriptTask, ScriptTurn};
use crate::tokens::Tokenizer;
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::{Message, StopReason, Usage};
use locum_base::image::Image;

/// A model that replies from a script.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
}

impl Scripted {
    /// Takes a checked script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self { script }
    }

    fn reply(&self, request: &ModelRequest<'_>) -> Result<Vec<Delta>, ModelError> {
        check_conversation(request.messages)
            .map_err(|message| self.fault(format!("the request is malformed: {message}")))?;
        let (number, task) = self.find_task(request)?;
        let index = usize::try_from(request.turn).unwrap_or(usize::MAX);
        let place =
            || format!("task {number}{}, turn {}", described(task), index.saturating_add(1));
        let Some(turn) = task.turns.get(index) else {
            return Err(self.fault(format!(
                "{}: the script has only {} turns for this task",
                place(),
                task.turns.len()
            )));
        };
        check_expectation(&turn.expect, request)
            .map_err(|message| self.fault(format!("{}: {message}", place())))?;
        match &turn.fail {
            None => Ok(deltas(turn, request)),
            Some(Fault::Unavailable(message)) => Err(ModelError::Unavailable {
                model: self.label().to_owned(),
                message: message.clone(),
                retry_after: None,
            }),
            Some(Fault::Garbled(message)) => Err(ModelError::Garbled {
                model: self.label().to_owned(),
                message: message.clone(),
            }),
        }
    }

    fn find_task(&self, request: &ModelRequest<'_>) -> Result<(usize, &ScriptTask), ModelError> {
        let first = match request.messages.first() {
            Some(Message::User { text }) => text.as_str(),
            Some(Message::Assistant { .. } | Message::Tool { .. }) | None => "",
        };
        let fits = |task: &ScriptTask| {
            task.mode.as_deref().is_none_or(|mode| mode == request.mode)
                && task.contains.as_deref().is_none_or(|words| first.contains(words))
        };
        let found = self.script.tasks.iter().enumerate().find(|(_, task)| fits(task));
        let (at, task) = found.ok_or_else(|| {
            let known: Vec<String> = self
                .script
                .tasks
                .iter()
                .enumerate()
                .map(|(at, task)| format!("task {}{}", at + 1, described(task)))
                .collect();
            let opening = locum_base::text::head(first, 200);
            self.fault(format!(
                "no task fits mode `{}` and the message `{opening}`; the script has {}",
                request.mode,
                known.join(", ")
            ))
        })?;
        Ok((at + 1, task))
    }

    fn fault(&self, message: String) -> ModelError {
        ModelError::Script { model: self.script.file.clone(), message }
    }
}

impl Model for Scripted {
    fn label(&self) -> &str {
        &self.script.name
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let items: Vec<Result<Delta, ModelError>> = match self.reply(&request) {
            Ok(deltas) => deltas.into_iter().map(Ok).collect(),
            Err(err) => vec![Err(err)],
        };
        stream::iter(items).boxed()
    }
}

fn described(task: &ScriptTask) -> String {
    match (&task.mode, &task.contains) {
        (None, None) => String::new(),
        (Some(mode), None) => format!(" (mode `{mode}`)"),
        (None, Some(words)) => format!(" (contains `{words}`)"),
        (Some(mode), Some(words)) => format!(" (mode `{mode}`, contains `{words}`)"),
    }
}

fn deltas(turn: &ScriptTurn, request: &ModelRequest<'_>) -> Vec<Delta> {
    let mut deltas = Vec::with_capacity(turn.calls.len() + 4);
    if !turn.reasoning.is_empty() {
        deltas.push(Delta::Reasoning(turn.reasoning.clone()));
    }
    if !turn.say.is_empty() {
        deltas.push(Delta::Text(turn.say.clone()));
    }
    for (index, call) in turn.calls.iter().enumerate() {
        let id = format!("call-{}-{}-{}", request.task, request.turn.saturating_add(1), index + 1);
        deltas.push(Delta::Call {
            index,
            id: Some(id),
            name: Some(call.tool.clone()),
            arguments: call.arguments.clone(),
        });
    }
    deltas.extend(turn.images.iter().cloned().map(Delta::Image));
    deltas.push(Delta::Usage(turn.usage.unwrap_or_else(|| estimate(turn, request))));
    let natural = if turn.calls.is_empty() { StopReason::End } else { StopReason::ToolUse };
    deltas.push(Delta::Stop(turn.stop.unwrap_or(natural)));
    deltas
}

fn estimate(turn: &ScriptTurn, request: &ModelRequest<'_>) -> Usage {
    let calls: usize = turn.calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum();
    let reasoning = estimate_tokens(turn.reasoning.len());
    let images = turn.images.iter().map(Image::tokens).sum::<usize>();
    let output = estimate_tokens(turn.say.len() + calls)
        + reasoning
        + u64::try_from(images).unwrap_or(u64::MAX);
    Usage {
        input: estimate_request(Tokenizer::Bytes, request),
        output,
        reasoning,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::stream::StreamExt;
    use pretty_assertions::assert_eq;

    use super::Scripted;
    use crate::scripted::script::Script;
    use crate::{Delta, Model, ModelError, ModelRequest};
    use locum_base::chat::{Message, StopReason, ToolCall, ToolResult, ToolSpec, Usage};
    use locum_base::id::TaskId;

    const SCRIPT: &str = r#"
version: 1
tasks:
  - mode: code
    contains: the parser
    turns:
      - say: looking
        calls: [{ tool: read_file, args: { path: a } }, { tool: list_files }]
      - expect: { contains: ["fn main"], not_contains: [refused], tools: [read_file], not_tools: [execute_command] }
        say: done
        usage: { input: 7, output: 3 }
  - mode: code
    turns:
      - fail: { unavailable: asleep }
      - fail: { garbled: noise }
  - mode: ask
    turns: [{ say: "answer", stop: length }]
"#;

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    fn answered(ids: &[&str], text: &str) -> Vec<Message> {
        let calls = ids
            .iter()
            .map(|id| ToolCall {
                id: (*id).into(),
                name: "read_file".into(),
                arguments: "{}".into(),
            })
            .collect();
        let results = ids
            .iter()
            .map(|id| ToolResult {
                call_id: (*id).into(),
                text: text.into(),
                ..ToolResult::default()
            })
            .collect();
        vec![
            user("fix the parser"),
            Message::Assistant { text: String::new(), reasoning: String::new(), calls, kept: None },
            Message::Tool { results },
        ]
    }

    fn play(mode: &str, messages: &[Message], turn: u32) -> Vec<Result<Delta, ModelError>> {
        let tools = [ToolSpec {
            name: "read_file".into(),
            description: String::new(),
            parameters: serde_json::json!({}),
        }];
        let model = Scripted::new(Script::parse("s.yml", SCRIPT).unwrap());
        let request = ModelRequest {
            system: "sys",
            messages,
            tools: &tools,
            max_output_tokens: None,
            temperature: None,
            task: TaskId(2),
            mode,
            turn,
            picture: None,
        };
        block_on(model.stream(request).collect())
    }

    fn fault(mode: &str, messages: &[Message], turn: u32) -> String {
        play(mode, messages, turn).pop().unwrap().unwrap_err().to_string()
    }

    #[test]
    fn chooses_the_reply_by_mode_message_and_turn() {
        let deltas = play("code", &[user("fix the parser")], 0);
        assert_eq!(deltas[0], Ok(Delta::Text("looking".into())));
        let call = |index, id: &str, name: &str, arguments: &str| {
            Ok(Delta::Call {
                index,
                id: Some(id.into()),
                name: Some(name.into()),
                arguments: arguments.into(),
            })
        };
        assert_eq!(deltas[1], call(0, "call-2-1-1", "read_file", r#"{"path":"a"}"#));
        assert_eq!(deltas[2], call(1, "call-2-1-2", "list_files", "{}"));
        assert_eq!(deltas[4], Ok(Delta::Stop(StopReason::ToolUse)));
        assert_eq!(play("ask", &[user("why")], 0).pop(), Some(Ok(Delta::Stop(StopReason::Length))));
        assert_eq!(
            play("code", &[user("fix the parser")], 0),
            deltas,
            "the same request gets the same reply"
        );
    }

    #[test]
    fn reports_the_usage_of_the_script_or_an_estimate() {
        let messages = answered(&["a"], "fn main");
        assert!(play("code", &messages, 1).contains(&Ok(Delta::Usage(Usage {
            input: 7,
            output: 3,
            ..Usage::default()
        }))));
        let estimated = play("code", &[user("fix the parser")], 0);
        assert!(
            matches!(&estimated[3], Ok(Delta::Usage(usage)) if usage.input > 0 && usage.output > 0),
            "{estimated:?}"
        );
    }

    #[test]
    fn plays_faults() {
        assert!(matches!(play("code", &[user("x")], 0)[0], Err(ModelError::Unavailable { .. })));
        assert!(matches!(play("code", &[user("x")], 1)[0], Err(ModelError::Garbled { .. })));
    }

    #[test]
    fn says_where_the_script_and_the_run_part() {
        let good = answered(&["a"], "fn main");
        for (mode, messages, turn, words) in [
            ("debug", vec![user("x")], 0, "no task fits mode `debug`"),
            ("ask", vec![user("x")], 1, "task 3 (mode `ask`), turn 2: the script has only 1 turns"),
            (
                "code",
                answered(&["a"], "nothing"),
                1,
                "turn 2: the last messages do not contain `fn main`",
            ),
            (
                "code",
                answered(&["a"], "fn main refused"),
                1,
                "turn 2: the last messages contain `refused`",
            ),
            ("code", good.get(..2).unwrap().to_vec(), 1, "the request is malformed"),
        ] {
            let fault = fault(mode, &messages, turn);
            assert!(
                fault.contains("`s.yml`") && fault.contains(words),
                "{fault}\nshould say {words}"
            );
        }
        assert!(play("code", &good, 1).iter().all(Result::is_ok));
    }
}
