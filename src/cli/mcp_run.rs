//! `run_task` of `locum mcp serve`: a run of this program, in a process of its own.
//!
//! In: a task and a mode of the client, which are arguments and never flags. Out: progress, then
//! the run's report. Who may do what in it is the policy's to say, as in every run. It is cancelled
//! when the client says so, and when the server ends.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use locum_agent::tools::mcp::message;
use locum_base::json::{field, text};
use locum_sandbox::exec::own::OwnProcess;

/// The tool's name.
pub(super) const RUN_TASK: &str = "run_task";

/// What the server waits for.
pub(super) enum Incoming {
    /// A line of the client.
    Line(Vec<u8>),
    /// A line of the client that is longer than any may be.
    TooLong,
    /// The client says nothing more.
    End,
    /// The input cannot be read.
    Failed(io::Error),
    /// A line of the run.
    Step(String),
    /// The run said its last.
    RunEnd,
}

/// A run at work.
pub(super) struct TaskRun {
    /// The request that it answers.
    pub(super) id: Value,
    /// What its progress is sent with; null where none is wanted.
    token: Value,
    process: OwnProcess,
    /// How many calls were decided.
    calls: u64,
    /// The last line: the report, once it is over.
    last: String,
    is_cancelled: bool,
}

/// Returns the tool as it is listed.
pub(super) fn tool() -> Value {
    json!({
        "name": RUN_TASK,
        "description": "Run a task in this repository: an agent reads, edits and runs what the policy allows, and \
                        reports. One at a time; it can take many minutes.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "task": { "type": "string", "minLength": 1, "description": "What is to be done" },
                "mode": { "type": "string", "minLength": 1, "description": "Mode to begin in" }
            },
            "required": ["task"],
            "additionalProperties": false
        },
        "annotations": { "readOnlyHint": false, "destructiveHint": true, "openWorldHint": true }
    })
}

impl TaskRun {
    /// Starts a run; what it prints goes to `sender` line by line.
    pub(super) fn start(
        id: &Value,
        token: &Value,
        given: &Value,
        folder: &Path,
        sender: UnboundedSender<Incoming>,
    ) -> io::Result<Self> {
        let mode = field(given, "mode").as_str().map(|mode| format!("--mode={mode}"));
        let words = ["--quiet", "run", "--output-format", "stream-json"].map(str::to_owned);
        let task = ["--".to_owned(), text(given, "task").to_owned()];
        let arguments: Vec<String> = words.into_iter().chain(mode).chain(task).collect();
        let (process, output) = OwnProcess::start(&arguments, folder)?;
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                if sender.send(Incoming::Step(line)).is_err() {
                    return;
                }
            }
            // Where nobody listens any more, the server is over.
            let _ = sender.send(Incoming::RunEnd);
        });
        let (id, token) = (id.clone(), token.clone());
        Ok(Self { id, token, process, calls: 0, last: String::new(), is_cancelled: false })
    }

    /// Takes a line that it printed; returns the progress to be sent.
    pub(super) fn step(&mut self, line: &str) -> Option<String> {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        self.last = line.to_owned();
        if self.token.is_null() || text(&value, "event") != "judged" {
            return None;
        }
        self.calls += 1;
        let verdicts = field(&value, "verdicts").as_array();
        let refused = verdicts.into_iter().flatten().find(|it| text(it, "decision") != "allow");
        let refused =
            refused.map(|it| format!(" ({}: {})", text(it, "decision"), text(it, "reason")));
        let said = format!("{}{}", text(&value, "headline"), refused.unwrap_or_default());
        let progress =
            json!({ "progressToken": self.token, "progress": self.calls, "message": said });
        Some(message::notice("notifications/progress", &progress))
    }

    /// Takes its end; returns the answer, or nothing where the client wants none any more.
    pub(super) fn end(self) -> Option<String> {
        let is_good = self.process.wait();
        if self.is_cancelled {
            return None;
        }
        let report = match self.last.as_str() {
            "" => "The run ended without a report; standard error says why.",
            report => report,
        };
        Some(message::answer(&self.id, &result(report, !is_good)))
    }

    /// Cancels it: it ends by itself, and its session can be resumed.
    pub(super) fn cancel(&mut self) {
        self.is_cancelled = true;
        self.process.ask_to_end();
    }
}

/// Returns what a tool answers.
pub(super) fn result(text: &str, is_error: bool) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": is_error })
}
