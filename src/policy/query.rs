//! `PolicyQuery`: a question for `locum policy explain`: an intent as text, or a tool call as a
//! model writes it, with facts of its own.
//!
//! In: one text: an intent (`edit(src/x.rs)`), or a JSON object that holds an intent or a call in
//! one of the shapes that models' protocols have. Out: the question, or what is wrong with the
//! text. Whether a call means anything is asked of the tools, not here.

use serde_json::{Map, Value};

use crate::actors::Tier;
use crate::command::Script;
use crate::intent::{Intent, PUBLICATIONS, TriggerKind};
use crate::memory::is_entry_name;
use crate::pattern::{Pattern, suggestion};
use crate::query_text::SearchQuery;
use crate::rule::{TIERS, TRIGGERS};
use crate::urls::{Destination, WebUrl};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_files::rejection::Rejection;

/// Keys that only a call has.
const CALL_KEYS: &[&str] =
    &["name", "arguments", "input", "function", "type", "id", "call_id", "index", "status"];
/// What protocols call a tool call.
const CALL_TYPES: &[&str] = &["function", "function_call", "tool_call", "tool_use"];

/// What is asked, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyQuery {
    /// What would be done.
    pub act: QueriedAct,
    /// The name the asker gave it, as JSON; comes back with the answer.
    pub id: Option<Value>,
    /// The mode it would be done in, where the question names one.
    pub mode: Option<String>,
    /// How the run was started, where the question says how.
    pub trigger: Option<TriggerKind>,
    /// Who started it, where the question says who.
    pub tier: Option<Tier>,
    /// The job it would be done in, where the question names one.
    pub job: Option<String>,
}

/// What would be done.
#[derive(Clone, Debug, PartialEq)]
pub enum QueriedAct {
    /// One thing, in the policy's words.
    Intent(Intent),
    /// A tool call, as a model writes it.
    Call(ToolCall),
}

impl PolicyQuery {
    /// Reads a question.
    ///
    /// # Errors
    /// What is wrong with the text: neither an intent nor a JSON object, unknown keys or words, two
    /// things asked at once.
    pub fn parse(text: &str) -> Result<Self, Rejection> {
        let text = text.trim();
        if !text.starts_with(['{', '"', '[']) {
            return Ok(Self::about(QueriedAct::Intent(parse_intent(text)?)));
        }
        match serde_json::from_str(text)
            .map_err(|error| Rejection::from(format!("it is not valid JSON: {error}")))?
        {
            Value::String(words) => Ok(Self::about(QueriedAct::Intent(parse_intent(&words)?))),
            Value::Object(fields) => Self::of(fields),
            other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                Err(format!("{} is neither an intent nor an object", kind_of(&other)).into())
            }
        }
    }

    /// Returns true when it brings no circumstances of its own.
    pub fn is_free(&self) -> bool {
        self.mode.is_none() && self.trigger.is_none() && self.tier.is_none() && self.job.is_none()
    }

    /// Returns a question that names nothing besides what would be done.
    pub fn about(act: QueriedAct) -> Self {
        Self { act, id: None, mode: None, trigger: None, tier: None, job: None }
    }

    fn of(mut fields: Map<String, Value>) -> Result<Self, Rejection> {
        let before: &[&str] = &["intent", "call", "tool_call"];
        let after: &[&str] = &["mode", "trigger", "tier", "job"];
        known(&fields, &[before, CALL_KEYS, after].concat(), "a question")?;
        let mode = optional_text(&mut fields, "mode")?;
        let job = optional_text(&mut fields, "job")?;
        let trigger = optional_word(&mut fields, "trigger", TRIGGERS)?;
        let tier = optional_word(&mut fields, "tier", TIERS)?;
        let id = id_in(&fields);
        let intent = optional_text(&mut fields, "intent")?;
        let call = fields.remove("call").or_else(|| fields.remove("tool_call"));
        let act = match (intent, call, is_call(&fields)) {
            (Some(words), None, false) => QueriedAct::Intent(parse_intent(&words)?),
            (None, Some(Value::Object(call)), false) => QueriedAct::Call(read_call(call)?),
            (None, Some(other), false) => {
                return Err(format!("`call` must be an object, not {}", kind_of(&other)).into());
            }
            (None, None, true) => QueriedAct::Call(read_call(fields)?),
            (None, None, false) => {
                return Err(Rejection::from("it asks nothing")
                    .hint("write an `intent`, or a tool call with `name` and `arguments`"));
            }
            (Some(_), _, _) | (None, Some(_), true) => {
                return Err("it asks more than one thing".into());
            }
        };
        let id = id.or_else(|| {
            if let QueriedAct::Call(call) = &act {
                Some(call.id.clone()).filter(|id| !id.is_empty()).map(Value::from)
            } else {
                None
            }
        });
        Ok(Self { act, id, mode, trigger, tier, job })
    }
}

/// Returns the name that the asker gave a question, whatever else is wrong with it.
pub fn id_of(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok()? {
        Value::Object(fields) => id_in(&fields),
        _other => None,
    }
}

fn id_in(fields: &Map<String, Value>) -> Option<Value> {
    let named = fields.get("id").or_else(|| fields.get("call_id"))?;
    (!named.is_null()).then(|| named.clone())
}

/// Reads an intent as a maintainer writes it: `edit(src/x.rs)`, `command(cargo test)`,
/// `publish(comment)`.
///
/// # Errors
/// A sentence saying what is wrong.
pub fn parse_intent(text: &str) -> Result<Intent, String> {
    let wrong = || format!("`{text}` is not of the form `kind(...)`, for example `edit(src/x.rs)`");
    let (kind, rest) = text.trim().split_once('(').ok_or_else(wrong)?;
    let open = || format!("`{text}` has no `)` at its end");
    let inner = rest.strip_suffix(')').ok_or_else(open)?;
    let path = || RepoPath::parse(inner).map_err(|error| error.to_string());
    let url = || {
        if inner.contains("://") {
            WebUrl::parse(inner)
        } else {
            WebUrl::parse(&format!("https://{inner}"))
        }
    };
    match kind {
        "read" => path().map(Intent::Read),
        "edit" => path().map(Intent::Edit),
        "command" => Ok(Intent::Command(Script::asked(inner))),
        "fetch" => Ok(Intent::Fetch(url())),
        "search" => Ok(Intent::Search(SearchQuery::new(inner, None))),
        "browse" => Ok(Intent::Browse(url())),
        "connect" => Destination::parse(inner).map(Intent::Connect),
        "mcp" => match inner.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                Ok(Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() })
            }
            _ => Err(format!("`{inner}` is not of the form `server/tool`")),
        },
        "mode" => Ok(Intent::Mode(inner.to_owned())),
        "delegate" => Ok(Intent::Delegate(inner.to_owned())),
        "expert" => Ok(Intent::Expert(inner.to_owned())),
        "memory" => match inner.split_once('/') {
            Some(("read", name)) if is_entry_name(name) => Ok(Intent::MemoryRead(name.to_owned())),
            Some(("write", name)) if is_entry_name(name) => {
                Ok(Intent::MemoryWrite(name.to_owned()))
            }
            _ => Err(format!("`{inner}` is not of the form `read/NAME` or `write/NAME`")),
        },
        "publish" => PUBLICATIONS
            .iter()
            .find(|(word, _)| *word == inner)
            .map(|(_, publication)| Intent::Publish(*publication))
            .ok_or_else(|| {
                let words: Vec<&str> = PUBLICATIONS.iter().map(|(word, _)| *word).collect();
                format!("`{inner}` cannot be published; one of: {}", words.join(", "))
            }),
        // The pattern reader knows the kinds and says which one is meant.
        _ => Err(Pattern::parse(text).err().unwrap_or_else(wrong)),
    }
}

fn is_call(fields: &Map<String, Value>) -> bool {
    ["name", "arguments", "input", "function"].iter().any(|key| fields.contains_key(*key))
}

/// Reads a call in any of its shapes: name and arguments side by side, below `function`, or as
/// `input`.
fn read_call(mut fields: Map<String, Value>) -> Result<ToolCall, Rejection> {
    known(&fields, CALL_KEYS, "a tool call")?;
    if let Some(kind) = optional_text(&mut fields, "type")?
        && !CALL_TYPES.contains(&kind.as_str())
    {
        return Err(unknown("type", &kind, CALL_TYPES));
    }
    let id = match id_in(&fields) {
        Some(Value::String(id)) => id,
        Some(id) => id.to_string(),
        None => String::new(),
    };
    let mut inner = match fields.remove("function") {
        None => fields,
        Some(_) if is_call(&fields) => {
            return Err("a tool call has its name and arguments beside `function` and in it".into());
        }
        Some(Value::Object(function)) => {
            known(&function, &["name", "arguments"], "`function`")?;
            function
        }
        Some(other) => {
            return Err(format!("`function` must be an object, not {}", kind_of(&other)).into());
        }
    };
    let name = optional_text(&mut inner, "name")?.ok_or("the tool call has no `name`")?;
    let arguments = match (inner.remove("arguments"), inner.remove("input")) {
        (Some(_), Some(_)) => return Err("a tool call has either `arguments` or `input`".into()),
        (Some(arguments), None) | (None, Some(arguments)) => arguments,
        (None, None) => Value::Null,
    };
    let arguments = match arguments {
        Value::String(text) => text,
        Value::Null => String::new(),
        arguments @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_)) => {
            arguments.to_string()
        }
    };
    Ok(ToolCall { id, name, arguments })
}

fn known(fields: &Map<String, Value>, keys: &[&str], what: &str) -> Result<(), Rejection> {
    let Some(unknown) = fields.keys().find(|key| !keys.contains(&key.as_str())) else {
        return Ok(());
    };
    let hint = suggestion(unknown, keys, "known here");
    Err(Rejection::from(format!("{what} has no key `{unknown}`")).hint(hint))
}

fn optional_text(fields: &mut Map<String, Value>, key: &str) -> Result<Option<String>, Rejection> {
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(format!("`{key}` must be a text, not {}", kind_of(&other)).into()),
    }
}

fn optional_word<T: Copy>(
    fields: &mut Map<String, Value>,
    key: &str,
    words: &[(&str, T)],
) -> Result<Option<T>, Rejection> {
    let Some(text) = optional_text(fields, key)? else { return Ok(None) };
    let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.map(Some).ok_or_else(|| {
        unknown(key, &text, &words.iter().map(|(word, _)| *word).collect::<Vec<_>>())
    })
}

fn unknown(key: &str, text: &str, words: &[&str]) -> Rejection {
    Rejection::from(format!("`{key}` cannot be `{text}`")).hint(suggestion(text, words, "one of"))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{PolicyQuery, QueriedAct, id_of};
    use crate::actors::Tier;
    use crate::intent::TriggerKind;

    #[test]
    fn a_call_is_the_same_in_every_shape() {
        for text in [
            r#"{"name": "read_file", "arguments": {"path": "a"}}"#,
            r#"{"name": "read_file", "arguments": "{\"path\":\"a\"}"}"#,
            r#"{"type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}}"#,
            r#"{"function": {"name": "read_file", "arguments": {"path": "a"}}, "index": 0}"#,
            r#"{"type": "tool_use", "name": "read_file", "input": {"path": "a"}}"#,
            r#"{"type": "function_call", "status": "completed", "name": "read_file", "arguments": "{\"path\":\"a\"}"}"#,
            r#"{"call": {"name": "read_file", "arguments": {"path": "a"}}}"#,
            r#"{"tool_call": {"type": "tool_use", "name": "read_file", "input": {"path": "a"}}, "mode": null}"#,
        ] {
            let QueriedAct::Call(call) = PolicyQuery::parse(text).unwrap().act else {
                panic!("{text}")
            };
            assert_eq!(
                (call.name.as_str(), call.arguments.as_str()),
                ("read_file", r#"{"path":"a"}"#),
                "{text}"
            );
        }
    }

    #[test]
    fn a_question_brings_its_circumstances_and_its_name() {
        let text = r#"{"intent": "edit(a)", "mode": "code", "trigger": "comment", "tier": "bot", "job": "nightly", "id": "q1"}"#;
        let question = PolicyQuery::parse(text).unwrap();
        let found = (
            question.mode.as_deref(),
            question.trigger,
            question.tier,
            question.job.as_deref(),
            question.id.clone(),
        );
        assert_eq!(
            found,
            (
                Some("code"),
                Some(TriggerKind::Comment),
                Some(Tier::Bot),
                Some("nightly"),
                Some("q1".into())
            )
        );
        for (text, id) in [
            (r#"{"call": {"name": "x", "id": "toolu_1"}}"#, Some("toolu_1".into())),
            (r#"{"type": "function_call", "call_id": "c2", "name": "x"}"#, Some("c2".into())),
            (r#"{"id": 4, "name": "x"}"#, Some(4.into())),
            (r#"{"id": {"a": [1]}, "intent": "edit(a)"}"#, Some(serde_json::json!({"a": [1]}))),
            (r#"{"id": null, "intent": "edit(a)"}"#, None),
            (r#""edit(a)""#, None),
            (" edit(a) ", None),
        ] {
            assert_eq!(PolicyQuery::parse(text).unwrap().id, id, "{text}");
        }
    }

    #[test]
    fn a_question_that_is_none_has_the_name_it_was_given() {
        for (text, id) in [
            (r#"{"id": "s1", "intent": "bogus"}"#, Some("s1".into())),
            (r#"{"id": 2}"#, Some(2.into())),
            (r#"{"call_id": "c"}"#, Some("c".into())),
            ("[1]", None),
            ("{", None),
        ] {
            assert!(PolicyQuery::parse(text).is_err(), "{text}");
            assert_eq!(id_of(text), id, "{text}");
        }
    }

    #[test]
    fn what_is_no_question_is_told() {
        for (text, expected) in [
            ("", "not of the form"),
            ("edti(a)", "did you mean `edit`?"),
            ("{", "not valid JSON"),
            ("[1]", "a list is neither"),
            ("{}", "asks nothing"),
            (r#"{"intent": "edit(a)", "name": "x"}"#, "more than one"),
            (r#"{"call": {"name": "x"}, "arguments": {}}"#, "more than one"),
            (r#"{"call": "edit(a)"}"#, "`call` must be an object, not a text"),
            (r#"{"intent": ["edit(a)"]}"#, "`intent` must be a text, not a list"),
            (r#"{"arguments": {}}"#, "no `name`"),
            (r#"{"name": "x", "arguments": {}, "input": {}}"#, "either"),
            (r#"{"name": "x", "function": {"name": "y"}}"#, "beside `function`"),
            (r#"{"function": "x"}"#, "`function` must be an object"),
            (r#"{"function": {"name": "x", "args": 1}}"#, "no key `args`"),
            (r#"{"type": "text", "name": "x"}"#, "`type` cannot be `text`"),
        ] {
            let error = PolicyQuery::parse(text).unwrap_err();
            assert!(error.message.contains(expected), "{text}: {}", error.message);
        }
        for (text, hint) in [
            (r#"{"intnet": "edit(a)"}"#, "did you mean `intent`?"),
            (r#"{"intent": "edit(a)", "tier": "maintaner"}"#, "did you mean `maintainer`?"),
            (
                r#"{"intent": "edit(a)", "trigger": "cron"}"#,
                "one of: local, comment, label, assign, dispatch, schedule, pull_request, \
                 ci_failure, push, release, merge_group, repository_dispatch",
            ),
        ] {
            assert_eq!(PolicyQuery::parse(text).unwrap_err().hint.as_deref(), Some(hint), "{text}");
        }
    }
}
