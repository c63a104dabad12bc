//! `FixedSteps`: a job's steps played as if a model had said them, one a turn; a real model takes
//! over when a step fails, if the job has a task for it.
//!
//! Stateless like every model: which step is next is read off the conversation, so that a killed
//! job resumes at its step.

use futures::StreamExt;
use futures::stream::{self, BoxStream};

use crate::run::job::FixedStep;
use locum_base::chat::{Message, StopReason, Usage};
use locum_models::{Delta, Model, ModelError, ModelRequest};

/// Most bytes of a failed step's answer in its error.
const ANSWER_LIMIT_BYTES: usize = 1200;

/// Plays a job's steps.
pub struct FixedSteps {
    steps: Vec<FixedStep>,
    then: Option<Box<dyn Model>>,
    label: String,
}

impl FixedSteps {
    /// Plays steps and nothing else: a step that fails ends the job as failed.
    pub fn alone(steps: Vec<FixedStep>) -> Self {
        Self { label: "fixed steps".to_owned(), steps, then: None }
    }

    /// Plays steps; when one fails, `then` takes over with everything that happened before it.
    pub fn before(steps: Vec<FixedStep>, then: Box<dyn Model>) -> Self {
        Self { label: format!("fixed steps, then {}", then.label()), steps, then: Some(then) }
    }

    /// Stands for a model that is not configured, where nothing is run.
    pub fn missing() -> Self {
        Self { label: "none".to_owned(), steps: Vec::new(), then: None }
    }

    fn next(&self, done: usize) -> Vec<Delta> {
        let (name, arguments) = match self.steps.get(done) {
            Some(step) => (step.tool.to_string(), step.arguments.to_string()),
            None => (
                "attempt_completion".to_owned(),
                serde_json::json!({ "result": self.result() }).to_string(),
            ),
        };
        let call = Delta::Call {
            index: 0,
            id: Some(format!("step-{}", done + 1)),
            name: Some(name),
            arguments,
        };
        vec![Delta::Fixed, call, Delta::Usage(Usage::default()), Delta::Stop(StopReason::ToolUse)]
    }

    fn result(&self) -> String {
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("- {}", step_words(step))).collect();
        format!("Every step was carried out:\n{}", steps.join("\n"))
    }
}

impl Model for FixedSteps {
    fn label(&self) -> &str {
        &self.label
    }

    /// The steps play once. What is answered to their end, a failed check, is for the model.
    fn may_reply(&self, request: &ModelRequest<'_>) -> bool {
        let played = u32::try_from(self.steps.len() + 1).unwrap_or(u32::MAX);
        match &self.then {
            _ if request.turn < played => true,
            Some(model) => {
                model.may_reply(&ModelRequest { turn: request.turn - played, ..*request })
            }
            None => false,
        }
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let answers: Vec<(bool, &str)> =
            request.messages.iter().flat_map(answers_of).take(self.steps.len() + 1).collect();
        let failed = answers.iter().position(|(failed, _)| *failed);
        match (failed, &self.then) {
            (None, _) => stream::iter(self.next(answers.len()).into_iter().map(Ok)).boxed(),
            (Some(at), Some(model)) => {
                let played = u32::try_from(at + 1).unwrap_or(u32::MAX);
                model.stream(ModelRequest { turn: request.turn.saturating_sub(played), ..request })
            }
            (Some(at), None) => {
                let words = self.steps.get(at).map(step_words).unwrap_or_default();
                let answer = answers.get(at).map_or("", |(_, text)| *text);
                let message = format!("step {} ({words}) failed: {}", at + 1, last_lines(answer));
                stream::iter([Err(ModelError::Script { model: self.label.clone(), message })])
                    .boxed()
            }
        }
    }
}

/// Returns the end of an answer, from a whole line on: what failed stands there.
fn last_lines(answer: &str) -> &str {
    let answer = answer.trim();
    let mut from = answer.len().saturating_sub(ANSWER_LIMIT_BYTES);
    while !answer.is_char_boundary(from) {
        from += 1;
    }
    let tail = answer.get(from..).unwrap_or(answer);
    match tail.split_once('\n') {
        Some((_, whole)) if from > 0 => whole,
        _ => tail,
    }
}

/// Returns the answers of a message, each with whether its step failed: the call did, or the
/// command it ran.
fn answers_of(message: &Message) -> Vec<(bool, &str)> {
    match message {
        Message::Tool { results } => results
            .iter()
            .map(|result| (result.is_error || result.command_failed, result.text.as_str()))
            .collect(),
        Message::User { .. } | Message::Images { .. } | Message::Assistant { .. } => Vec::new(),
    }
}

fn step_words(step: &FixedStep) -> String {
    let command = step.arguments.get("command").and_then(serde_json::Value::as_str);
    command.map_or_else(|| format!("`{}`", step.tool), |command| format!("`{command}`"))
}

#[cfg(test)]
mod tests {
    use super::{answers_of, last_lines};
    use locum_base::chat::{Message, ToolResult};
    use pretty_assertions::assert_eq;

    #[test]
    fn the_end_of_a_long_answer_is_kept_in_whole_lines() {
        let long = format!("{}\nFAILED test_a - ü\n1 failed\n", "é.".repeat(1000));
        assert_eq!(last_lines(&long), "FAILED test_a - ü\n1 failed");
        assert_eq!(last_lines(" one line "), "one line");
    }

    #[test]
    fn a_step_fails_with_its_call_or_with_its_command() {
        for (is_error, command_failed, failed) in
            [(false, false, false), (true, false, true), (false, true, true)]
        {
            let result = ToolResult {
                call_id: "step-1".to_owned(),
                text: "t".to_owned(),
                is_error,
                command_failed,
                ..ToolResult::default()
            };
            let message = Message::Tool { results: vec![result] };
            assert_eq!(
                answers_of(&message),
                [(failed, "t")],
                "is_error {is_error}, command_failed {command_failed}"
            );
        }
    }
}
