//! `ModelScript`: the file of fixed replies, read and checked once.
//!
//! In: the file's name and text (YAML, `docs/scripts.md` has the format by example). Out: a
//! `ModelScript`, or every mistake at once with its line and column. What is said of each key here
//! is what `locum schema script` says of it. Reading the file from disk is the caller's part.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use locum_base::chat::{StopReason, Usage};
use locum_base::image::Image;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::Diagnostics;
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{
    AnyObject, AnyText, ExactNumber, ListOf, OneOf, OneOrMany, ParsedText, WholeNumber,
};
use locum_files::yaml::YamlDocument;

/// Most tasks of a script.
const TASKS_LIMIT: usize = 1000;
/// Most replies of a task.
const TURNS_LIMIT: usize = 20_000;
/// Most calls of a reply.
const CALLS_LIMIT: usize = 1000;
/// Most images of a reply.
const IMAGES_LIMIT: usize = 20;
/// An image, written in base64.
const IN_BASE64: ParsedText<Image> = ParsedText {
    parse: |text| {
        let bytes = STANDARD.decode(text.split_ascii_whitespace().collect::<String>());
        let bytes = bytes.map_err(|_| Rejection::from("it is not base64"))?;
        Image::measure(&bytes).map_err(|error| Rejection::from(format!("it {error}")))
    },
    write: None,
    pattern: "^[A-Za-z0-9+/\\s]+={0,2}\\s*$",
    example: "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=",
};
/// Any number of tokens.
const TOKENS: WholeNumber = WholeNumber { least: 0, most: u64::MAX };

/// A script without mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelScript {
    /// The file it came from, as shown in errors.
    pub file: String,
    /// Its name in messages; the file where it has none.
    pub name: String,
    /// Tasks; the first that fits a request answers it.
    pub tasks: Vec<ScriptTask>,
}

/// The replies of one task.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptTask {
    /// Only tasks in this mode; any mode when absent.
    pub mode: Option<String>,
    /// Only tasks whose first message contains this text; any when absent.
    pub contains: Option<String>,
    /// Its replies, in order.
    pub turns: Vec<ScriptTurn>,
}

/// One reply and what must be true of the request it answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptTurn {
    /// What must be true of the request.
    pub expect: Expectation,
    /// The fault played instead of a reply.
    pub fail: Option<ScriptedFailure>,
    /// Visible text of the reply.
    pub say: String,
    /// Readable part of the reasoning.
    pub reasoning: String,
    /// Tool calls, in order.
    pub calls: Vec<ScriptCall>,
    /// Images it gives.
    pub images: Vec<Image>,
    /// Tokens to report; estimated when absent.
    pub usage: Option<Usage>,
    /// Why the reply ends; decided by its calls when absent.
    pub stop: Option<StopReason>,
}

/// One tool call of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptCall {
    /// The tool's name, not checked: a script may play a model that calls tools which do not exist.
    pub tool: String,
    /// The arguments as the model would write them.
    pub arguments: String,
}

/// What must be true of the request a reply answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expectation {
    /// Each must occur in the messages that came since the last reply.
    pub contains: Vec<String>,
    /// None of these may occur there.
    pub not_contains: Vec<String>,
    /// Each of these tools must be offered.
    pub tools: Vec<String>,
    /// None of these tools may be offered.
    pub not_tools: Vec<String>,
}

/// A fault played instead of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedFailure {
    /// The provider does not answer; asked again, it still does not.
    Unavailable(String),
    /// The response is malformed.
    Garbled(String),
}

/// Every mistake of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", mistakes.iter().map(|mistake| line_of(file, mistake)).collect::<Vec<_>>().join("\n"))]
pub struct ScriptErrors {
    /// Path of the script.
    pub file: String,
    /// The mistakes, in order of place.
    pub mistakes: Vec<Diagnostic>,
}

fn line_of(file: &str, mistake: &Diagnostic) -> String {
    let hint = mistake.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!(
        "script `{file}`:{}:{}: {}{hint}",
        mistake.place.line, mistake.place.column, mistake.message
    )
}

impl ModelScript {
    /// Reads a script. Unknown keys, duplicate keys and wrong types are mistakes.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptErrors> {
        let document = YamlDocument::parse(text);
        let mut mistakes = Diagnostics(document.mistakes);
        let found = document
            .root
            .as_ref()
            .and_then(|root| Section::read(root, "script", &mut mistakes, read_script));
        match found {
            Some((name, tasks)) if mistakes.0.is_empty() => Ok(Self {
                file: file.to_owned(),
                name: name.unwrap_or_else(|| file.to_owned()),
                tasks,
            }),
            _ => {
                if mistakes.0.is_empty() {
                    mistakes.add(Position::default(), "the file is empty");
                }
                Err(ScriptErrors { file: file.to_owned(), mistakes: mistakes.finish(text) })
            }
        }
    }
}

/// Returns the JSON Schema of a script.
pub fn schema() -> serde_json::Value {
    Section::describe(read_script)
}

fn read_script(section: &mut Section<'_>) -> (Option<String>, Vec<ScriptTask>) {
    section.required("version", "Version of this format.", ExactNumber(1));
    let name =
        section.key("name", "What the script is for, shown instead of the file's name.", AnyText);
    let about = "Conversations; the first one that fits a request answers it.";
    let tasks = section.required(
        "tasks",
        about,
        ListOf { item: Mapping("task", read_task), least: 1, most: TASKS_LIMIT },
    );
    (name, tasks.unwrap_or_default())
}

fn read_task(section: &mut Section<'_>) -> ScriptTask {
    let mode = section.key("mode", "Only tasks in this mode; any when absent.", AnyText);
    let contains = section.key(
        "contains",
        "Only tasks whose first message contains this text; any when absent.",
        AnyText,
    );
    let turns = section.required(
        "turns",
        "Replies, in order.",
        ListOf { item: Mapping("turn", read_turn), least: 1, most: TURNS_LIMIT },
    );
    ScriptTask { mode, contains, turns: turns.unwrap_or_default() }
}

/// What a reply may hold; a fault holds none of it.
const REPLY_KEYS: [&str; 6] = ["say", "reasoning", "calls", "images", "usage", "stop"];

fn read_turn(section: &mut Section<'_>) -> ScriptTurn {
    let expect = section.key(
        "expect",
        "What must be true of the request.",
        Mapping("expect", read_expectation),
    );
    let fail = section.key(
        "fail",
        "A fault instead of a reply; it stays however often the request is tried.",
        Mapping("fail", read_fault),
    );
    let say = section.key("say", "Visible words.", AnyText);
    let reasoning = section.key("reasoning", "Reasoning, shown apart.", AnyText);
    let calls = ListOf { item: Mapping("call", read_call), least: 0, most: CALLS_LIMIT };
    let calls = section.key("calls", "Tool calls, in order.", calls);
    let images = ListOf { item: IN_BASE64, least: 0, most: IMAGES_LIMIT };
    let images = section.key("images", "Images it gives, each in base64.", images);
    let usage = section.key(
        "usage",
        "Tokens to report; estimated when absent.",
        Mapping("usage", read_usage),
    );
    let stop = OneOf(&[
        ("end", StopReason::End),
        ("tool_use", StopReason::ToolUse),
        ("length", StopReason::Length),
        ("filtered", StopReason::Filtered),
    ]);
    let stop = section.key("stop", "Why the reply ends; follows from `calls` when absent.", stop);
    if section.has("fail") && REPLY_KEYS.iter().any(|key| section.has(key)) {
        section.wrong(
            section.place_of("fail"),
            Rejection::from("a turn with `fail` has no reply").hint("take out what else it says"),
        );
    }
    section.at_least_one(
        &["say", "reasoning", "calls", "images", "usage", "stop", "fail"],
        "the turn is empty: give it `say`, `calls` or `fail`",
    );
    ScriptTurn {
        expect: expect.unwrap_or_default(),
        fail: fail.flatten(),
        say: say.unwrap_or_default(),
        reasoning: reasoning.unwrap_or_default(),
        calls: calls.unwrap_or_default(),
        images: images.unwrap_or_default(),
        usage,
        stop,
    }
}

fn read_expectation(section: &mut Section<'_>) -> Expectation {
    let mut texts =
        |key, about: &str| section.key(key, about, OneOrMany(AnyText)).unwrap_or_default();
    Expectation {
        contains: texts("contains", "Each must occur in what came since the last reply."),
        not_contains: texts("not_contains", "None of these may occur there."),
        tools: texts("tools", "Each of these tools must be offered."),
        not_tools: texts("not_tools", "None of these tools may be offered."),
    }
}

fn read_fault(section: &mut Section<'_>) -> Option<ScriptedFailure> {
    let unavailable =
        section.key("unavailable", "The provider does not answer, in these words.", AnyText);
    let garbled = section.key("garbled", "What comes back is no reply, in these words.", AnyText);
    section.exactly_one(&["unavailable", "garbled"]);
    unavailable.map(ScriptedFailure::Unavailable).or(garbled.map(ScriptedFailure::Garbled))
}

fn read_call(section: &mut Section<'_>) -> ScriptCall {
    let tool = section.required("tool", "The tool's name; there need not be such a tool.", AnyText);
    let args = section.key("args", "The arguments.", AnyObject);
    let raw = section.key(
        "raw",
        "The arguments as a careless model would write them, JSON or not.",
        AnyText,
    );
    if section.has("args") && section.has("raw") {
        section.wrong(
            section.place_of("raw"),
            Rejection::from("a call has `args` or `raw`, not both"),
        );
    }
    let arguments = args.map(|args| args.to_string()).or(raw).unwrap_or_else(|| "{}".to_owned());
    ScriptCall { tool: tool.unwrap_or_default(), arguments }
}

fn read_usage(section: &mut Section<'_>) -> Usage {
    Usage {
        input: section
            .required("input", "Tokens read, those of the provider's cache among them.", TOKENS)
            .unwrap_or_default(),
        output: section
            .required("output", "Tokens written, reasoning among them.", TOKENS)
            .unwrap_or_default(),
        cached_read: section
            .key("cached_read", "Tokens read from the provider's cache.", TOKENS)
            .unwrap_or_default(),
        cached_write: section
            .key("cached_write", "Tokens written to the provider's cache.", TOKENS)
            .unwrap_or_default(),
        reasoning: section.key("reasoning", "Tokens of reasoning.", TOKENS).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
