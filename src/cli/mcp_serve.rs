//! `locum mcp serve`: this program as an MCP server over standard input and output. Its tools are
//! subcommands that only look, and answer in their JSON.
//!
//! In: lines of requests until the input ends. Out: a line for each answer. A client's words are
//! arguments of those subcommands behind `--`, never flags; nothing is run, written or asked of a
//! network.

use std::cell::RefCell;
use std::io::{self, BufRead, Read, Write};
use std::rc::Rc;

use clap::Parser;
use serde_json::{Value, json};

use crate::cli::args::Cli;
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus, dispatch};
use crate::run::error::RunError;
use locum_agent::tools::mcp::message::{self, McpMessage, VERSION, VERSIONS, code};
use locum_base::secret::plain::PlainValues;

/// Longest request, in bytes.
const LINE_LIMIT_BYTES: u64 = 1024 * 1024;

/// Most intents of one question.
const INTENTS_LIMIT: usize = 100;

/// A tool that is offered: its name, what it is for, and the subcommand it is.
const TOOLS: &[(&str, &str, &[&str])] = &[
    (
        "policy_explain",
        "Explain what the policy of this repository decides on intents such as `edit(src/lib.rs)` or \
         `command(cargo test)`, and why.",
        &["policy", "explain", "--json"],
    ),
    (
        "policy_check",
        "Check the policy of this repository: mistakes, rules without effect, and accepted \
         risks.",
        &["policy", "check", "--json"],
    ),
    ("modes_list", "List the modes of this repository.", &["modes", "list", "--json"]),
    (
        "mcp_list",
        "List the MCP servers of this repository and whether a run may use them.",
        &["mcp", "list", "--json"],
    ),
];

/// Answers requests until the input ends.
///
/// # Errors
/// When the input cannot be read.
pub(super) fn run(context: &CommandContext, output: &mut Output) -> Result<ExitStatus, RunError> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = (&mut input).take(LINE_LIMIT_BYTES).read_until(b'\n', &mut line);
        if count.map_err(|error| RunError::internal(format!("standard input: {error}")))? == 0 {
            return Ok(ExitStatus::Done);
        }
        let is_whole = line.ends_with(b"\n")
            || u64::try_from(line.len()).unwrap_or(u64::MAX) < LINE_LIMIT_BYTES;
        if !is_whole {
            output.line(message::error(&Value::Null, code::INVALID, "the request is too long"));
            output.hand_on();
            return Ok(ExitStatus::Usage);
        }
        if let Some(answer) = answer(&line, context) {
            output.line(answer);
            if !output.hand_on() {
                return Ok(ExitStatus::Done);
            }
        }
    }
}

/// Returns the answer to a line; `None` where it wants none.
fn answer(line: &[u8], context: &CommandContext) -> Option<String> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Some(message::error(&Value::Null, code::PARSE, "this is not valid JSON"));
    };
    match McpMessage::of(value) {
        Some(McpMessage::Request { id, method, params }) => Some(match method.as_str() {
            "initialize" => message::answer(&id, &greeting(&params)),
            "ping" => message::answer(&id, &json!({})),
            "tools/list" => message::answer(
                &id,
                &json!({ "tools": TOOLS.iter().map(|(name, about, _)| tool(name, about)).collect::<Vec<_>>() }),
            ),
            "tools/call" => match called(&params, context) {
                Ok(result) => message::answer(&id, &result),
                Err(wrong) => message::error(&id, code::PARAMETERS, &wrong),
            },
            other => message::error(&id, code::NO_METHOD, &format!("there is no method `{other}`")),
        }),
        Some(McpMessage::Notice { .. } | McpMessage::Answer { .. }) => None,
        None => Some(message::error(&Value::Null, code::INVALID, "this is not a request")),
    }
}

fn greeting(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let version = VERSIONS.iter().find(|known| **known == asked).unwrap_or(&VERSION);
    let own = json!({ "name": "locum", "version": env!("CARGO_PKG_VERSION") });
    json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": own })
}

fn tool(name: &str, about: &str) -> Value {
    let schema = if name == "policy_explain" {
        json!({
            "type": "object",
            "properties": {
                "intents": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": INTENTS_LIMIT },
                "mode": { "type": "string", "description": "Mode to assume" }
            },
            "required": ["intents"],
            "additionalProperties": false
        })
    } else {
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    };
    json!({ "name": name, "description": about, "inputSchema": schema, "annotations": { "readOnlyHint": true } })
}

/// Does what a tool is for. What the subcommand itself finds wrong is a result, for the model to
/// read.
fn called(params: &Value, context: &CommandContext) -> Result<Value, String> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let Some((_, about, words)) = TOOLS.iter().find(|(known, _, _)| *known == name) else {
        return Err(format!("there is no tool `{name}`"));
    };
    let given = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
    let schema = tool(name, about).get("inputSchema").cloned().unwrap_or_default();
    if let Some(wrong) = locum_agent::tools::mcp::schema::mismatch(&schema, &given) {
        return Err(wrong);
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mode = given.get("mode").and_then(text).map(|mode| format!("--mode={mode}"));
    let intents: Vec<String> = given
        .get("intents")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(text)
        .collect();
    if intents.len() > INTENTS_LIMIT || intents.iter().any(|intent| intent == "-") {
        return Err(format!(
            "`intents` are at most {INTENTS_LIMIT}, each such as `edit(src/lib.rs)`"
        ));
    }
    let behind = (!intents.is_empty()).then(|| "--".to_owned());
    let line = ["locum", "--quiet"]
        .into_iter()
        .chain(words.iter().copied())
        .map(str::to_owned)
        .chain(mode)
        .chain(behind)
        .chain(intents);
    let cli = Cli::try_parse_from(line).map_err(|error| error.to_string())?;
    let kept = CapturedOutput::default();
    let mut output = Output::to(Box::new(kept.clone()), Box::new(io::sink()));
    output.hide(PlainValues::new(context.environment.secrets()));
    let failed = match dispatch(cli.command, context, &mut output) {
        Ok(_) => None,
        Err(error) => Some(error.report()),
    };
    let is_error = failed.is_some();
    let text = failed.unwrap_or_else(|| String::from_utf8_lossy(&kept.0.borrow()).into_owned());
    Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
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
