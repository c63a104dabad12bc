//! Plain readings of JSON values whose type servers disagree about.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

/// Arguments of a call as an object, see [`as_object`]; as they were written where they are one.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum CallArguments<'a> {
    /// Letter for letter.
    Written(&'a RawValue),
    /// Inside an object.
    Wrapped(Value),
}

impl<'a> CallArguments<'a> {
    /// Takes what a model wrote.
    pub(crate) fn new(written: &'a str) -> Self {
        let object = Some(written)
            .filter(|written| is_braced(written))
            .and_then(|written| serde_json::from_str(written).ok());
        object.map_or_else(|| Self::Wrapped(as_object(written)), Self::Written)
    }

    /// Takes what a model wrote for a server that wants the object as a text.
    pub(crate) fn text(written: &'a str) -> Cow<'a, str> {
        let is_object = is_braced(written) && serde_json::from_str::<IgnoredAny>(written).is_ok();
        if is_object { Cow::Borrowed(written) } else { Cow::Owned(as_object(written).to_string()) }
    }
}

fn is_braced(written: &str) -> bool {
    written.trim_start().starts_with('{')
}

/// Reads a count that may be written as a float or as text.
pub(crate) fn read_number(value: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a whole number in range"
    )]
    let from_float = |number: f64| {
        (number.fract() == 0.0 && (0.0..9.0e15).contains(&number)).then_some(number as u64)
    };
    value
        .as_u64()
        .or_else(|| value.as_f64().and_then(from_float))
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// Reads a count at the end of a path of keys; 0 where there is none.
pub(crate) fn count_at(value: &Value, path: &[&str]) -> u64 {
    path.iter().try_fold(value, |value, key| value.get(key)).and_then(read_number).unwrap_or(0)
}

/// Reads a text that says something.
pub(crate) fn read_text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads arguments: a text, or an object that is written out; empty where there are none.
pub(crate) fn read_arguments(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(value @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_))) => {
            value.to_string()
        }
    }
}

/// Returns true for a value that says anything at all.
pub(crate) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    }
}

/// Returns the object that a model's arguments encode. Servers that take objects, and those that
/// parse the text when they lay out the conversation, fail the whole request for one broken call of
/// the past. In that case what the model wrote is kept inside an object.
fn as_object(written: &str) -> Value {
    match serde_json::from_str(written) {
        Ok(object @ Value::Object(_)) => object,
        Ok(_) | Err(_) => serde_json::json!({ "not_an_object": written }),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::{CallArguments, as_object, count_at, read_arguments};

    #[test]
    fn reads_counts_however_they_are_written() {
        for (value, count) in [
            (json!(3), 3),
            (json!(3.0), 3),
            (json!("3"), 3),
            (json!(-3), 0),
            (json!(1.5), 0),
            (json!(null), 0),
        ] {
            assert_eq!(count_at(&json!({ "a": { "b": value } }), &["a", "b"]), count);
        }
    }

    #[test]
    fn arguments_are_text_and_go_back_as_an_object() {
        assert_eq!(read_arguments(Some(&json!({ "b": 1, "a": 2 }))), r#"{"b":1,"a":2}"#);
        assert_eq!(read_arguments(Some(&json!("{\"a\""))), "{\"a\"");
        assert_eq!(as_object(r#"{"b":1,"a":2}"#), json!({ "b": 1, "a": 2 }));
        for broken in ["{\"a\"", "", "[1]", "words"] {
            assert_eq!(as_object(broken), json!({ "not_an_object": broken }));
            assert!(matches!(CallArguments::new(broken), CallArguments::Wrapped(_)), "{broken}");
            assert_eq!(CallArguments::text(broken), json!({ "not_an_object": broken }).to_string());
        }
        let written = " { \"a\": 1.0 }";
        assert_eq!(
            (
                serde_json::to_string(&CallArguments::new(written)).unwrap().as_str(),
                &*CallArguments::text(written)
            ),
            (written.trim(), written)
        );
    }
}
