//! A call's arguments, taken one by one: each parameter is checked where it is used, and what is
//! left over is a mistake.
//!
//! In: the text a model wrote. Out: checked values, or one sentence that says what is expected.
//! Tolerated, because models write them and they can mean only one thing: JSON encoded twice,
//! numbers and booleans as strings, `null` for "not given".

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::tools::resolved_path::ResolvedPath;
use crate::tools::shown_text::shown_name;
use crate::tools::{CallError, ToolContext};
use locum_base::text::code_list;
use locum_base::tool::ToolName;
use locum_files::fields::nearest;

/// The arguments of one call that are not taken yet.
#[derive(Debug)]
pub struct CallFields {
    /// What the arguments belong to, for messages: `read_file`, `indentation`.
    owner: String,
    /// The name the model called the tool by.
    called: String,
    fields: Map<String, Value>,
    known: Vec<&'static str>,
}

impl CallFields {
    /// Reads the arguments of a call: a JSON object, or nothing.
    ///
    /// # Errors
    /// When the text is no JSON object.
    pub fn parse(tool: ToolName, text: &str) -> Result<Self, CallError> {
        let refused = |what: &str| {
            CallError(format!("The arguments of `{tool}` must be one JSON object, {what}."))
        };
        let mut value = if text.trim().is_empty() {
            Value::Object(Map::new())
        } else {
            serde_json::from_str(text)
                .map_err(|error| refused(&format!("but they are not valid JSON: {error}")))?
        };
        if let Value::String(inner) = &value {
            value = serde_json::from_str(inner).map_err(|_| refused("but they are a text"))?;
        }
        match value {
            Value::Object(fields) => Ok(Self::of(tool.to_string(), fields)),
            Value::Null => Ok(Self::of(tool.to_string(), Map::new())),
            other => Err(refused(&format!("but they are {}", kind_of(&other)))),
        }
    }

    fn of(owner: String, fields: Map<String, Value>) -> Self {
        Self { called: owner.clone(), owner, fields, known: Vec::new() }
    }

    /// Puts the arguments through a mapping.
    ///
    /// # Errors
    /// The mapping's.
    pub(crate) fn mapped(
        self,
        map: impl FnOnce(Map<String, Value>) -> Result<Map<String, Value>, CallError>,
    ) -> Result<Self, CallError> {
        Ok(Self { fields: map(self.fields)?, ..self })
    }

    /// Sets the name the model called the tool by, where that is another than the tool's.
    pub fn called(self, name: &str) -> Self {
        Self { called: name.to_owned(), ..self }
    }

    /// Returns the name the model called the tool by.
    pub fn name(&self) -> &str {
        &self.called
    }

    /// Takes a text that must be there.
    ///
    /// # Errors
    /// When it is missing or something else.
    pub fn text(&mut self, name: &'static str, meaning: &str) -> Result<String, CallError> {
        self.optional_text(name, meaning)?
            .ok_or_else(|| CallError(format!("`{}` needs `{name}`: {meaning}.", self.owner)))
    }

    /// Takes a text that must be there and not be blank.
    ///
    /// # Errors
    /// When it is missing, blank or something else.
    pub fn words(&mut self, name: &'static str, meaning: &str) -> Result<String, CallError> {
        let text = self.text(name, meaning)?;
        if text.trim().is_empty() {
            Err(CallError(format!("`{name}` of `{}` is empty: {meaning}.", self.owner)))
        } else {
            Ok(text)
        }
    }

    /// Takes a text that may be left out.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_text(
        &mut self,
        name: &'static str,
        meaning: &str,
    ) -> Result<Option<String>, CallError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(name, "a text", meaning, &other)),
        }
    }

    /// Takes a whole number of at least `least` that may be left out.
    ///
    /// # Errors
    /// When it is smaller or something else.
    pub fn optional_number(
        &mut self,
        name: &'static str,
        least: usize,
        meaning: &str,
    ) -> Result<Option<usize>, CallError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number = number
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| *number >= least);
        number.map(Some).ok_or_else(|| {
            self.wrong(name, &format!("a whole number of at least {least}"), meaning, &value)
        })
    }

    /// Takes a yes or no; `default` when left out.
    ///
    /// # Errors
    /// When it is something else.
    pub fn flag(
        &mut self,
        name: &'static str,
        default: bool,
        meaning: &str,
    ) -> Result<bool, CallError> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(name, "true or false", meaning, &other)),
        }
    }

    /// Returns the members of an object, none for an argument that is not given.
    ///
    /// # Errors
    /// When it is no object.
    pub fn object(&mut self, name: &'static str, meaning: &str) -> Result<Self, CallError> {
        match self.take(name).map(unwrap_text) {
            None => Ok(Self::of(name.to_owned(), Map::new())),
            Some(Value::Object(fields)) => Ok(Self::of(name.to_owned(), fields)),
            Some(other) => Err(self.wrong(name, "an object", meaning, &other)),
        }
    }

    /// Takes a list of objects, none where it is not given; one object is a list of one.
    ///
    /// # Errors
    /// When it is something else.
    pub fn objects(&mut self, name: &'static str, meaning: &str) -> Result<Vec<Self>, CallError> {
        let items = match self.take(name).map(unwrap_text) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(one @ Value::Object(_)) => vec![one],
            Some(other) => return Err(self.wrong(name, "a list", meaning, &other)),
        };
        let field = |item| match item {
            Value::Object(fields) => Ok(Self::of(name.to_owned(), fields)),
            other => Err(self.wrong(name, "a list of objects", meaning, &other)),
        };
        items.into_iter().map(field).collect()
    }

    /// Takes a list of texts, none where it is not given; one text is a list of one.
    ///
    /// # Errors
    /// When it is something else.
    pub fn texts(&mut self, name: &'static str, meaning: &str) -> Result<Vec<String>, CallError> {
        let items = match self.take(name).map(unwrap_text) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        };
        let text = |item| match item {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            other => Err(self.wrong(name, "a list of texts", meaning, &other)),
        };
        items.into_iter().map(text).collect()
    }

    /// Takes a value of any kind that may be left out; a list or an object written as text is that
    /// list or object.
    pub fn optional_value(&mut self, name: &'static str) -> Option<Value> {
        self.take(name).map(unwrap_text)
    }

    /// Takes what a mapping put in the place of a text; `None` where it is something else, which is
    /// left.
    pub(crate) fn mapped_value<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        let value = self.fields.get(name).filter(|value| value.is_object())?;
        let value = serde_json::from_value(value.clone()).ok()?;
        self.take(name);
        Some(value)
    }

    /// Takes a path and follows its links; the root where it may be left out and is.
    ///
    /// # Errors
    /// When it is missing, is not a path inside the repository or leads out of it.
    pub fn place(
        &mut self,
        name: &'static str,
        meaning: &str,
        context: ToolContext<'_>,
    ) -> Result<ResolvedPath, CallError> {
        let text = self.text(name, meaning)?;
        ResolvedPath::find(&text, context)
    }

    /// As [`CallFields::place`], for a path that may be left out.
    ///
    /// # Errors
    /// As [`CallFields::place`].
    pub fn optional_place(
        &mut self,
        name: &'static str,
        meaning: &str,
        context: ToolContext<'_>,
    ) -> Result<ResolvedPath, CallError> {
        ResolvedPath::find_or_root(self.optional_text(name, meaning)?.as_deref(), context)
    }

    /// Returns everything that was not taken, where a schema from outside says what there may be.
    pub fn into_fields(self) -> Map<String, Value> {
        self.fields
    }

    /// Refuses what was not taken.
    ///
    /// # Errors
    /// Names the first parameter that does not exist and those that do.
    pub fn finish(self) -> Result<(), CallError> {
        let Some((unknown, _)) = self.fields.iter().find(|(_, value)| !value.is_null()) else {
            return Ok(());
        };
        let near = nearest(unknown, &self.known);
        let near = near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default();
        Err(CallError(format!(
            "`{}` has no parameter `{}`; it takes {}.{near}",
            self.owner,
            shown_name(unknown),
            code_list(&self.known)
        )))
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.fields.remove(name).filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, expected: &str, meaning: &str, got: &Value) -> CallError {
        CallError(format!(
            "`{name}` of `{}` must be {expected} ({meaning}), not {}.",
            self.owner,
            kind_of(got)
        ))
    }
}

/// Says what a name may have been meant as, or which names there are; `place` says where there are
/// none.
pub fn known(name: &str, names: &[&str], place: &str) -> String {
    match nearest(name, names) {
        Some(near) => format!("Did you mean `{near}`?"),
        None if names.is_empty() => format!("There are none{place}."),
        None => format!("There are: {}.", code_list(names)),
    }
}

fn unwrap_text(value: Value) -> Value {
    match &value {
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(|inner: &Value| inner.is_array() || inner.is_object())
            .unwrap_or(value),
        _ => value,
    }
}

fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the bounds are checked in the same line"
    )]
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

/// Says what kind of value was given, as part of a sentence.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "this number",
        Value::String(_) => "this text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::CallFields;
    use locum_base::tool::ToolName;
    use pretty_assertions::assert_eq;

    fn arguments(text: &str) -> CallFields {
        CallFields::parse(ToolName::ReadFile, text).unwrap()
    }

    #[test]
    fn accepts_what_can_mean_only_one_thing() {
        for text in [
            r#"{"n": 3}"#,
            r#"{"n": "3"}"#,
            r#"{"n": 3.0}"#,
            r#""{\"n\": 3}""#,
            r#"{"n": 3, "other": null}"#,
        ] {
            let mut arguments = arguments(text);
            assert_eq!(arguments.optional_number("n", 1, "count"), Ok(Some(3)), "{text}");
            assert_eq!(arguments.finish(), Ok(()), "{text}");
        }
        assert_eq!(arguments("").optional_text("path", "file"), Ok(None));
        assert_eq!(arguments(r#"{"r": "True"}"#).flag("r", false, "deep"), Ok(true));
        assert!(arguments(r#"{"l": "[1]"}"#).optional_value("l").unwrap().is_array());
    }

    #[test]
    fn says_what_is_wrong_in_one_sentence() {
        let broken =
            |text: &str| CallFields::parse(ToolName::ReadFile, text).unwrap_err().to_string();
        assert_eq!(
            broken("[1]"),
            "The arguments of `read_file` must be one JSON object, but they are a list."
        );
        assert_eq!(
            broken(r#"{"a": "#),
            "The arguments of `read_file` must be one JSON object, but they are not valid JSON: \
             EOF while parsing a value at line 1 column 6."
        );
        let error = |result: Result<usize, super::CallError>| result.unwrap_err().to_string();
        assert_eq!(
            error(arguments(r#"{"n": 0}"#).optional_number("n", 1, "first line").map(|_| 0)),
            "`n` of `read_file` must be a whole number of at least 1 (first line), not this \
             number."
        );
        assert_eq!(
            error(arguments("{}").text("path", "the file to read").map(|_| 0)),
            "`read_file` needs `path`: the file to read."
        );
        let mut with_unknown = arguments(r#"{"path": "a", "limits": 2}"#);
        with_unknown.text("path", "the file").unwrap();
        with_unknown.optional_number("limit", 1, "lines").unwrap();
        let long = format!(r#"{{"{}": 1}}"#, "x".repeat(100_000));
        assert!(arguments(&long).finish().unwrap_err().0.len() < 400);
        assert_eq!(
            with_unknown.finish().unwrap_err().0,
            "`read_file` has no parameter `limits`; it takes `path`, `limit`. Did you mean `limit`?"
        );
    }
}
