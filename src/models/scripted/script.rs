//! `Script`: the file of fixed replies, read and checked once.
//!
//! In: the file's name and text (YAML, `docs/scripts.md` has the format by example). Out: a `Script`, or the mistake with its line
//! and column. Reading the file from disk is the caller's part.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_yaml::{Location, Spanned};

use crate::base::chat::{StopReason, Usage};
use crate::base::excerpt::Excerpt;
use crate::base::yaml::Place;

/// Largest script accepted, in bytes.
pub const SCRIPT_LIMIT_BYTES: usize = 4 * 1024 * 1024;
/// The version of the format this program reads.
const SCRIPT_VERSION: u32 = 1;

/// A checked script.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The file it came from, as shown in errors.
    pub file: String,
    /// Its name for people; the file where it has none.
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
    pub fail: Option<Fault>,
    /// Visible words.
    pub say: String,
    /// Reasoning.
    pub reasoning: String,
    /// Tool calls, in order.
    pub calls: Vec<ScriptCall>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The provider does not answer; asked again, it still does not.
    Unavailable(String),
    /// What comes back is no reply.
    Garbled(String),
}

/// A mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("script `{file}`:{line}:{column}: {message}")]
pub struct ScriptError {
    /// The file.
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// Column, counted from 1.
    pub column: u64,
    /// What is wrong.
    pub message: String,
    /// The line it is on.
    pub excerpt: Option<Excerpt>,
}

impl Script {
    /// Reads a script. Unknown keys, duplicate keys and wrong types are mistakes.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        Self::read(file, text).map_err(|error| {
            let counted = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
            let place = Place { line: counted(error.line), column: counted(error.column) };
            ScriptError { excerpt: Excerpt::find(text, place), ..error }
        })
    }

    fn read(file: &str, text: &str) -> Result<Self, ScriptError> {
        if text.len() > SCRIPT_LIMIT_BYTES {
            return Err(mistake(file, None, format!("{} bytes are more than the {SCRIPT_LIMIT_BYTES} a script may have", text.len())));
        }
        let spec: ScriptSpec =
            serde_yaml::from_str(text).map_err(|err| mistake(file, err.location(), plain_message(err.without_snippet())))?;
        if spec.version.value != SCRIPT_VERSION {
            let message = format!("version {} is not known; this program reads version {SCRIPT_VERSION}", spec.version.value);
            return Err(mistake(file, Some(spec.version.referenced), message));
        }
        if spec.tasks.value.is_empty() {
            return Err(mistake(file, Some(spec.tasks.referenced), "`tasks` is empty: the script answers nothing"));
        }
        let tasks = spec.tasks.value.into_iter().map(|task| check_task(file, task)).collect::<Result<_, _>>()?;
        Ok(Self { file: file.to_owned(), name: spec.name.unwrap_or_else(|| file.to_owned()), tasks })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptSpec {
    version: Spanned<u32>,
    name: Option<String>,
    tasks: Spanned<Vec<Spanned<TaskSpec>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskSpec {
    mode: Option<String>,
    contains: Option<String>,
    turns: Vec<Spanned<TurnSpec>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnSpec {
    say: Option<String>,
    reasoning: Option<String>,
    #[serde(default)]
    calls: Vec<Spanned<CallSpec>>,
    usage: Option<UsageSpec>,
    stop: Option<StopReason>,
    #[serde(default)]
    expect: Expectation,
    fail: Option<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallSpec {
    tool: String,
    args: Option<Map<String, Value>>,
    raw: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageSpec {
    input: u64,
    output: u64,
    #[serde(default)]
    cached_read: u64,
    #[serde(default)]
    cached_write: u64,
    #[serde(default)]
    reasoning: u64,
}

fn check_task(file: &str, task: Spanned<TaskSpec>) -> Result<ScriptTask, ScriptError> {
    let TaskSpec { mode, contains, turns } = task.value;
    if turns.is_empty() {
        return Err(mistake(file, Some(task.referenced), "`turns` is empty: the task has no reply"));
    }
    let turns = turns.into_iter().map(|turn| check_turn(file, turn)).collect::<Result<_, _>>()?;
    Ok(ScriptTask { mode, contains, turns })
}

fn check_turn(file: &str, turn: Spanned<TurnSpec>) -> Result<ScriptTurn, ScriptError> {
    let place = turn.referenced;
    let TurnSpec { say, reasoning, calls, usage, stop, expect, fail } = turn.value;
    let speaks = say.is_some() || reasoning.is_some() || !calls.is_empty() || usage.is_some() || stop.is_some();
    match (&fail, speaks) {
        (Some(_), true) => return Err(mistake(file, Some(place), "a turn with `fail` has no reply: take out what else it says")),
        (None, false) => return Err(mistake(file, Some(place), "the turn is empty: give it `say`, `calls` or `fail`")),
        (Some(_), false) | (None, true) => {}
    }
    let calls = calls.into_iter().map(|call| check_call(file, call)).collect::<Result<_, _>>()?;
    let usage = usage.map(|usage| Usage {
        input: usage.input,
        output: usage.output,
        cached_read: usage.cached_read,
        cached_write: usage.cached_write,
        reasoning: usage.reasoning,
    });
    Ok(ScriptTurn { expect, fail, say: say.unwrap_or_default(), reasoning: reasoning.unwrap_or_default(), calls, usage, stop })
}

fn check_call(file: &str, call: Spanned<CallSpec>) -> Result<ScriptCall, ScriptError> {
    let place = call.referenced;
    let CallSpec { tool, args, raw } = call.value;
    let arguments = match (args, raw) {
        (Some(_), Some(_)) => return Err(mistake(file, Some(place), "a call has `args` or `raw`, not both")),
        (Some(args), None) => Value::Object(args).to_string(),
        (None, Some(raw)) => raw,
        (None, None) => "{}".to_owned(),
    };
    Ok(ScriptCall { tool, arguments })
}

fn mistake(file: &str, place: Option<Location>, message: impl Into<String>) -> ScriptError {
    let (line, column) = place.map_or((1, 1), |place| (place.line().max(1), place.column().max(1)));
    ScriptError { file: file.to_owned(), line, column, message: message.into(), excerpt: None }
}

/// Returns the reader's words without the place, which is said once, in front.
fn plain_message(err: &serde_yaml::Error) -> String {
    let message = err.to_string();
    let place = err.location().map(|place| format!(" at line {}, column {}", place.line(), place.column()));
    place.and_then(|place| message.strip_suffix(&place).map(str::to_owned)).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{Fault, Script, ScriptCall};
    use crate::base::chat::{StopReason, Usage};

    #[test]
    fn reads_every_key() {
        let text = r#"
version: 1
name: demo
tasks:
  - mode: code
    contains: fix
    turns:
      - say: reading
        reasoning: first look
        calls:
          - { tool: read_file, args: { path: a.rs, lines: [1, 2] } }
          - { tool: read_file, raw: "{ not json" }
          - tool: update_todo_list
        usage: { input: 10, output: 2, cached_read: 4 }
        stop: length
        expect: { contains: [a], not_contains: [b], tools: [read_file], not_tools: [execute_command] }
      - fail: { unavailable: the lights went out }
"#;
        let script = Script::parse("demo.yml", text).unwrap();
        let turn = &script.tasks[0].turns[0];
        assert_eq!(
            (script.name.as_str(), script.tasks[0].mode.as_deref(), script.tasks[0].contains.as_deref()),
            ("demo", Some("code"), Some("fix"))
        );
        assert_eq!(
            turn.calls,
            vec![
                ScriptCall { tool: "read_file".into(), arguments: r#"{"path":"a.rs","lines":[1,2]}"#.into() },
                ScriptCall { tool: "read_file".into(), arguments: "{ not json".into() },
                ScriptCall { tool: "update_todo_list".into(), arguments: "{}".into() },
            ]
        );
        assert_eq!(turn.usage, Some(Usage { input: 10, output: 2, cached_read: 4, ..Usage::default() }));
        assert_eq!((turn.stop, turn.expect.not_tools.as_slice()), (Some(StopReason::Length), ["execute_command".to_owned()].as_slice()));
        assert_eq!(script.tasks[0].turns[1].fail, Some(Fault::Unavailable("the lights went out".into())));
    }

    #[test]
    fn points_at_every_mistake() {
        for (text, place) in [
            ("version: 1\ntasks:\n  - turns:\n      - { sya: hello }\n", "s.yml`:4:11: "),
            ("version: 2\ntasks: [{ turns: [{ say: a }] }]\n", "s.yml`:1:10: version 2 is not known"),
            ("version: 1\ntasks: []\n", "s.yml`:2:8: `tasks` is empty"),
            ("version: 1\ntasks:\n  - turns: []\n", "s.yml`:3:5: `turns` is empty"),
            ("version: 1\ntasks:\n  - turns:\n      - {}\n", "s.yml`:4:9: the turn is empty"),
            ("version: 1\ntasks:\n  - turns:\n      - { say: a, fail: { garbled: b } }\n", "s.yml`:4:9: a turn with `fail`"),
            ("version: 1\ntasks:\n  - turns:\n      - calls:\n          - { tool: a, args: {}, raw: b }\n", "s.yml`:5:13: a call has"),
            ("version: 1\nversion: 1\n", "s.yml`:2:1: "),
            ("version: 1\ntasks:\n  - turns:\n      - { say: a, stop: never }\n", "s.yml`:4:"),
            ("- a\n", "s.yml`:1:1: "),
        ] {
            let fault = Script::parse("s.yml", text).unwrap_err().to_string();
            assert!(fault.contains(place), "{fault}\nshould say {place}");
        }
    }

    #[test]
    fn reads_every_example_of_the_documentation() {
        let page = include_str!("../../../docs/scripts.md");
        let examples: Vec<&str> = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
        assert_eq!(examples.len(), 3);
        for example in examples {
            Script::parse("docs/scripts.md", example).unwrap();
        }
        for key in ["say", "reasoning", "calls", "usage", "stop", "expect", "fail", "contains", "not_contains", "tools", "not_tools"] {
            assert!(page.contains(&format!("| `{key}` |")), "`{key}` is not explained");
        }
    }

    #[test]
    fn refuses_a_script_that_is_too_large() {
        let text = format!("version: 1\n#{}", "x".repeat(super::SCRIPT_LIMIT_BYTES));
        assert!(Script::parse("s.yml", &text).unwrap_err().message.contains("more than"));
    }
}
