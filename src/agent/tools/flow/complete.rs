//! `attempt_completion`: ends the task with its result, and with whether it succeeded.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools::aliases::decisive::DecisiveParameters;
use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::peer_words::PeerWords;
use crate::tools::{CallError, Control};
use locum_policy::intent::Intent;

/// How far a task came by its own account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionStatus {
    /// It is done.
    #[default]
    Done,
    /// A part of it is left.
    Partial,
    /// It could not be done.
    Failed,
}

/// What models write for each status, in lower case with single blanks between words.
const WRITTEN: [(CompletionStatus, &[&str]); 3] = [
    (
        CompletionStatus::Done,
        &["done", "success", "successful", "succeeded", "complete", "completed", "finished", "ok"],
    ),
    (
        CompletionStatus::Partial,
        &["partial", "partially", "partially done", "partially completed", "incomplete"],
    ),
    (
        CompletionStatus::Failed,
        &["failed", "failure", "fail", "error", "unsuccessful", "not done", "blocked"],
    ),
];

impl CompletionStatus {
    /// Whether it is the status that is left out where a journal says nothing.
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// Returns the word that models, journals and reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Failed => "failed",
        }
    }

    /// Returns what a model says of itself with it, as a part of a sentence.
    pub fn said(self) -> &'static str {
        match self {
            Self::Done => "the task is done",
            Self::Partial => "a part of the task is left",
            Self::Failed => "the task could not be done",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .collect();
        let text = words.join(" ");
        WRITTEN.iter().find(|(_, words)| words.contains(&text.as_str())).map(|(status, _)| *status)
    }
}

/// The tool that ends a task.
#[derive(Clone, Debug)]
pub struct AttemptCompletion;

impl SteeringTool for AttemptCompletion {
    const DESCRIPTION: &'static str = "End the task with its result. Call it alone, after every \
        other call succeeded and the work was verified, or when it cannot be done.";
    const REQUIRED: &'static [&'static str] = &["result"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[("summary", "result")]],
        decisive: &[DECISIVE],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "result": { "type": "string", "description": "What was done, what was found, what is left; final, without questions" },
            "status": { "enum": ["done", "partial", "failed"], "description": "Default done" },
            "reason": { "type": ["string", "null"], "description": "Why it is not done" }
        })
    }

    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let result = arguments.words("result", "what was done and found")?;
        let meaning = "`done`, `partial` or `failed`";
        let status = match arguments.optional_text("status", meaning)? {
            None => CompletionStatus::Done,
            Some(text) => CompletionStatus::parse(&text).ok_or_else(|| {
                let text = locum_base::text::head(&text, 40);
                CallError(format!("`status` is {meaning}, not `{text}`."))
            })?,
        };
        let reason = arguments.optional_text("reason", "why it is not `done`")?;
        let meaning = "`pass`, `fail` or `neutral`";
        let verdict =
            match arguments.optional_text("verdict", meaning)? {
                None => None,
                Some(text) => {
                    let verdict = CheckVerdict::parse(&text);
                    let text = locum_base::text::head(&text, 40);
                    Some(verdict.ok_or_else(|| {
                        CallError(format!("`verdict` is {meaning}, not `{text}`."))
                    })?)
                }
            };
        arguments.finish()?;
        let reason = reason
            .map(|reason| reason.trim().to_owned())
            .filter(|reason| status != CompletionStatus::Done && !reason.is_empty());
        let headline = match status {
            CompletionStatus::Done => "end the task".to_owned(),
            CompletionStatus::Partial | CompletionStatus::Failed => {
                format!("end the task as {}", status.as_str())
            }
        };
        Ok(SteeringCall {
            intent: Intent::Session,
            headline,
            said: "The task is ended.".to_owned(),
            control: Control::Complete { result, status, reason, verdict },
        })
    }
}

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "success succeeded successful complete completed",
        redundant: "true",
        is_off_decisive: true,
        instead: "Say it with `status`.",
    },
    DecisiveParameters {
        names: "outcome failed failure partial error",
        redundant: "done",
        instead: "Say it with `status`.",
        ..DecisiveParameters::NONE
    },
];

#[cfg(test)]
mod tests {
    use super::CompletionStatus::{self, Done, Failed, Partial};
    use super::WRITTEN;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_status_is_read_in_the_words_models_use_and_never_guessed() {
        for (text, expected) in [
            ("done", Some(Done)),
            (" Completed ", Some(Done)),
            ("SUCCESS", Some(Done)),
            ("partial", Some(Partial)),
            ("partially_done", Some(Partial)),
            ("Failed!", Some(Failed)),
            ("not-done", Some(Failed)),
            // What says both, or neither, is asked for again.
            ("done, but tests failed", None),
            ("not successful", None),
            ("", None),
        ] {
            assert_eq!(CompletionStatus::parse(text), expected, "{text:?}");
        }
        for (status, words) in WRITTEN {
            assert!(words.contains(&status.as_str()));
        }
    }
}
