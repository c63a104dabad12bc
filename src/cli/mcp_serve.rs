//! `locum mcp serve`: this program as an MCP server over standard input and output. Its tools are
//! subcommands that only look, and answer in their JSON; with `--runs` also one that runs a task.
//!
//! In: lines of requests until the input ends. Out: a line for each answer. A client's words are
//! arguments of those subcommands behind `--`, never flags. While a task runs, other requests are
//! answered; it ends with the server.

use std::cell::RefCell;
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;

use clap::Parser;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::cli::args::Cli;
use crate::cli::mcp_args::ServeArgs;
use crate::cli::mcp_run::{self, Incoming, TaskRun, result};
use crate::cli::mcp_sessions;
use crate::cli::output::Output;
use crate::cli::stop_signal::{self, StopSignal};
use crate::cli::{CommandContext, ExitStatus, dispatch};
use crate::run::error::RunError;
use locum_agent::tools::mcp::message::{self, McpMessage, VERSION, VERSIONS, code};
use locum_base::json::{field, text};
use locum_base::secret::plain::PlainValues;

/// Longest request, in bytes.
const LINE_LIMIT_BYTES: u64 = 1024 * 1024;

/// The subcommand whose answers are held to this repository.
const SESSION: &str = "session";

/// Most intents of one question.
const INTENTS_LIMIT: usize = 100;

/// What a tool takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Intents,
    Session,
}

/// A tool that only looks: its name, what it is for, what it takes, and the subcommand it is.
const TOOLS: &[(&str, &str, Takes, &[&str])] = &[
    (
        "policy_explain",
        "Explain what the policy of this repository decides on intents such as `edit(src/lib.rs)` or \
         `command(cargo test)`, and why.",
        Takes::Intents,
        &["policy", "explain", "--json"],
    ),
    (
        "policy_check",
        "Check the policy of this repository: mistakes, rules without effect, and accepted \
         risks.",
        Takes::Nothing,
        &["policy", "check", "--json"],
    ),
    (
        "modes_list",
        "List the modes of this repository.",
        Takes::Nothing,
        &["modes", "list", "--json"],
    ),
    (
        "mcp_list",
        "List the MCP servers of this repository and whether a run may use them.",
        Takes::Nothing,
        &["mcp", "list", "--json"],
    ),
    (
        "session_list",
        "List the newest 20 sessions of this repository: task, outcome, cost.",
        Takes::Nothing,
        &[SESSION, "list", mcp_sessions::LOOKED_AT, "--json"],
    ),
    (
        "session_show",
        "Show what a session of this repository did: each turn, call and decision, its outcome and \
         its cost.",
        Takes::Session,
        &[SESSION, "show", "--json"],
    ),
];

/// Answers requests until the input ends or a signal comes.
///
/// # Errors
/// When the input cannot be read.
pub(super) fn run(
    args: &ServeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let runtime = stop_signal::runtime()?;
    let stopped = StopSignal::install(&runtime);
    let (sender, mut incoming) = unbounded_channel();
    read_lines(sender.clone());
    let mut server = McpServer { context, sender: args.runs.then_some(sender), run: None };
    loop {
        // Subcommands run outside of the runtime, as they do by themselves.
        let next = runtime.block_on(async {
            tokio::select! {
                next = incoming.recv() => next.unwrap_or(Incoming::End),
                () = stopped.clone().received() => Incoming::End,
            }
        });
        let said = match next {
            Incoming::Line(line) => server.answer(&line),
            Incoming::Step(line) => server.run.as_mut().and_then(|run| run.step(&line)),
            Incoming::RunEnd => server.run.take().and_then(TaskRun::end),
            Incoming::TooLong => {
                let message = format!("the request has more than {LINE_LIMIT_BYTES} bytes");
                Some(message::error(&Value::Null, code::INVALID, &message))
            }
            Incoming::Failed(error) => {
                return Err(RunError::internal(format!("standard input: {error}")));
            }
            Incoming::End => return Ok(ExitStatus::Done),
        };
        if let Some(line) = said {
            output.line(line);
            if !output.hand_on() {
                return Ok(ExitStatus::Done);
            }
        }
    }
}

/// Hands the lines of standard input on, from a thread that ends with the process.
fn read_lines(sender: UnboundedSender<Incoming>) {
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let next = match (&mut input).take(LINE_LIMIT_BYTES).read_until(b'\n', &mut line) {
                Err(error) => Incoming::Failed(error),
                Ok(0) => Incoming::End,
                Ok(count) => {
                    let is_cut = u64::try_from(count).is_ok_and(|count| count >= LINE_LIMIT_BYTES);
                    if is_cut && !line.ends_with(b"\n") {
                        Incoming::TooLong
                    } else {
                        Incoming::Line(line)
                    }
                }
            };
            let is_cut = matches!(next, Incoming::TooLong);
            let is_last = matches!(next, Incoming::End | Incoming::Failed(_));
            if sender.send(next).is_err() || is_last {
                return;
            }
            // The rest of the line is not a request of its own.
            if is_cut && let Err(error) = input.skip_until(b'\n') {
                let _ = sender.send(Incoming::Failed(error));
                return;
            }
        }
    });
}

/// What answers a client.
struct McpServer<'c> {
    context: &'c CommandContext,
    /// Where a run says what it does; `None` where no task may be run.
    sender: Option<UnboundedSender<Incoming>>,
    /// The run at work.
    run: Option<TaskRun>,
}

impl McpServer<'_> {
    /// Returns the answer to a line; `None` where it wants none, or a run gives it later. A client
    /// of version 2025-03-26 may send several requests in a list, and gets a list.
    fn answer(&mut self, line: &[u8]) -> Option<String> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        match serde_json::from_slice::<Value>(line) {
            Err(_) => Some(message::error(&Value::Null, code::PARSE, "this is not valid JSON")),
            Ok(Value::Array(values)) if values.is_empty() => {
                Some(message::error(&Value::Null, code::INVALID, "this list has no request"))
            }
            Ok(Value::Array(values)) => {
                let answers: Vec<String> =
                    values.into_iter().filter_map(|value| self.answer_one(value)).collect();
                (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
            }
            Ok(value) => self.answer_one(value),
        }
    }

    fn answer_one(&mut self, value: Value) -> Option<String> {
        if text(&value, "method") == "notifications/cancelled" {
            let cancelled = field(field(&value, "params"), "requestId");
            if let Some(run) = self.run.as_mut().filter(|run| run.id == *cancelled) {
                run.cancel();
            }
            return None;
        }
        if !text(&value, "method").is_empty()
            && !matches!(value.get("id"), None | Some(Value::String(_) | Value::Number(_)))
        {
            let message = "the `id` of a request is a text or a number";
            return Some(message::error(&Value::Null, code::INVALID, message));
        }
        match McpMessage::of(value) {
            Some(McpMessage::Request { id, method, params }) => match method.as_str() {
                "initialize" => Some(message::answer(&id, &greeting(&params))),
                "ping" => Some(message::answer(&id, &json!({}))),
                "tools/list" if !field(&params, "cursor").is_null() => {
                    let message = "there is no such page: the list has one, without a `cursor`";
                    Some(message::error(&id, code::PARAMETERS, message))
                }
                "tools/list" => Some(message::answer(&id, &json!({ "tools": self.tools() }))),
                "tools/call" => match self.called(&id, &params) {
                    Ok(result) => result.map(|result| message::answer(&id, &result)),
                    Err(wrong) => Some(message::error(&id, code::PARAMETERS, &wrong)),
                },
                other => {
                    let message = format!("there is no method `{other}`");
                    Some(message::error(&id, code::NO_METHOD, &message))
                }
            },
            Some(McpMessage::Notice { .. } | McpMessage::Answer { .. }) => None,
            None => Some(message::error(&Value::Null, code::INVALID, "this is not a request")),
        }
    }

    fn tools(&self) -> Vec<Value> {
        let looking = TOOLS.iter().map(|(name, about, takes, _)| {
            json!({
                "name": name,
                "description": about,
                "inputSchema": schema(*takes),
                "annotations": { "readOnlyHint": true },
            })
        });
        looking.chain(self.sender.is_some().then(mcp_run::tool)).collect()
    }

    /// Does what a tool is for. What is wrong with the arguments is a result, for the model to
    /// read, and so is what the subcommand itself finds wrong. `None` where a run was started.
    ///
    /// # Errors
    /// When there is no such tool.
    fn called(&mut self, id: &Value, params: &Value) -> Result<Option<Value>, String> {
        let name = text(params, "name");
        let given = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let wrong = |schema: &Value| {
            locum_agent::tools::mcp::schema::mismatch(schema, &given)
                .map(|wrong| Some(result(&wrong, true)))
        };
        if let (mcp_run::RUN_TASK, Some(sender)) = (name, &self.sender) {
            if let Some(wrong) = wrong(field(&mcp_run::tool(), "inputSchema")) {
                return Ok(wrong);
            }
            if self.run.is_some() {
                return Ok(Some(result("A task is running: wait for it, or cancel it.", true)));
            }
            let token = field(field(params, "_meta"), "progressToken");
            let started = TaskRun::start(id, token, &given, &self.context.folder, sender.clone());
            return Ok(match started {
                Ok(run) => {
                    self.run = Some(run);
                    None
                }
                Err(error) => Some(result(&format!("The run could not be started: {error}"), true)),
            });
        }
        let Some((_, _, takes, words)) = TOOLS.iter().find(|(known, ..)| *known == name) else {
            return Err(format!("there is no tool `{name}`"));
        };
        if let Some(wrong) = wrong(&schema(*takes)) {
            return Ok(wrong);
        }
        let arguments = match arguments(&given) {
            Ok(arguments) => arguments,
            Err(wrong) => return Ok(Some(result(&wrong, true))),
        };
        let of_sessions = words.first() == Some(&SESSION);
        if let Some(session) = given.get("session").and_then(Value::as_str).filter(|_| of_sessions)
            && let Err(error) = mcp_sessions::hold_to_repository(session, self.context)
        {
            return Ok(Some(result(&error.report(), true)));
        }
        let words = ["locum", "--quiet"].into_iter().chain(words.iter().copied());
        let line = words.map(str::to_owned).chain(arguments);
        let cli = match Cli::try_parse_from(line) {
            Ok(cli) => cli,
            Err(error) => return Ok(Some(result(&error.to_string(), true))),
        };
        let kept = CapturedOutput::default();
        let mut output = Output::to(Box::new(kept.clone()), Box::new(io::sink()));
        output.hide(PlainValues::new(self.context.environment.secrets()));
        let failed = match dispatch(cli.command, self.context, &mut output) {
            Ok(_) => None,
            Err(error) => Some(error.report()),
        };
        let is_error = failed.is_some();
        let text = failed.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&kept.0.borrow()).into_owned();
            let is_list = of_sessions && *takes == Takes::Nothing;
            let held = is_list.then(|| mcp_sessions::of_repository(&text, self.context));
            // What is no list of sessions is not shown.
            held.map_or(text, Option::unwrap_or_default)
        });
        Ok(Some(result(&text, is_error)))
    }
}

fn greeting(params: &Value) -> Value {
    let asked = text(params, "protocolVersion");
    let version = VERSIONS.iter().find(|known| **known == asked).unwrap_or(&VERSION);
    let own = json!({ "name": "locum", "version": env!("CARGO_PKG_VERSION") });
    json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": own })
}

fn schema(takes: Takes) -> Value {
    let (properties, required) = match takes {
        Takes::Nothing => (json!({}), json!([])),
        Takes::Intents => (
            json!({
                "intents": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": INTENTS_LIMIT },
                "mode": { "type": "string", "description": "Mode to assume" }
            }),
            json!(["intents"]),
        ),
        Takes::Session => (
            json!({
                "session": { "type": "string", "description": "ID, or the start of it" },
                "turn": { "type": "integer", "minimum": 1, "description": "This turn alone" },
                "refusals": { "type": "boolean", "description": "Only what was refused or held" }
            }),
            json!(["session"]),
        ),
    };
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Returns the arguments of a subcommand for those of a call that fit its schema.
fn arguments(given: &Value) -> Result<Vec<String>, String> {
    let named = |value: &Value| value.as_str().map(str::to_owned);
    let mode = given.get("mode").and_then(named).map(|mode| format!("--mode={mode}"));
    let turn = given.get("turn").and_then(Value::as_u64).map(|turn| format!("--turn={turn}"));
    let refusals = field(given, "refusals").as_bool().unwrap_or_default();
    let refusals = refusals.then(|| "--refusals".to_owned());
    let intents = given.get("intents").and_then(Value::as_array);
    let mut behind: Vec<String> = intents.into_iter().flatten().filter_map(named).collect();
    behind.extend(given.get("session").and_then(named));
    if behind.len() > INTENTS_LIMIT || behind.iter().any(|word| word == "-") {
        return Err(format!(
            "`intents` are at most {INTENTS_LIMIT}, each such as `edit(src/lib.rs)`"
        ));
    }
    let dashes = (!behind.is_empty()).then(|| "--".to_owned());
    Ok(mode.into_iter().chain(turn).chain(refusals).chain(dashes).chain(behind).collect())
}

/// Where the result of a subcommand is kept.
#[derive(Clone, Default)]
struct CapturedOutput(Rc<RefCell<Vec<u8>>>);

impl Write for CapturedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
