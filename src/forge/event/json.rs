//! A JSON value that knows where it stands, so that every mistake of a payload names its place.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

/// A JSON value that knows where it stands.
pub(super) struct JsonNode<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
}

impl<'a> JsonNode<'a> {
    /// Returns a member; one that is null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<JsonNode<'a>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(JsonNode { value, path: self.path_of(key) })
    }

    pub(super) fn need(&self, key: &str) -> Result<JsonNode<'a>, String> {
        self.get(key).ok_or_else(|| format!("`{}` is missing", self.path_of(key)))
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { format!("$.{key}") } else { format!("{}.{key}", self.path) }
    }

    pub(super) fn text(&self, key: &str) -> Result<String, String> {
        self.text_or_none(key)?.ok_or_else(|| format!("`{}` is missing", self.path_of(key)))
    }

    pub(super) fn text_or_none(&self, key: &str) -> Result<Option<String>, String> {
        self.member(key, "text", |value| value.as_str().map(str::to_owned))
    }

    pub(super) fn number(&self, key: &str) -> Result<u64, String> {
        self.number_or_none(key)?.ok_or_else(|| format!("`{}` is missing", self.path_of(key)))
    }

    pub(super) fn number_or_none(&self, key: &str) -> Result<Option<u64>, String> {
        self.member(key, "a number", Value::as_u64)
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        self.member(key, "true or false", Value::as_bool)
    }

    pub(super) fn time(&self, key: &str) -> Result<Option<Timestamp>, String> {
        self.member(key, "a time", |value| value.as_str().and_then(|text| text.parse().ok()))
    }

    fn member<T>(
        &self,
        key: &str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(node) = self.get(key) else { return Ok(None) };
        read(node.value).map(Some).ok_or_else(|| format!("`{}` is not {what}", node.path))
    }

    /// Reads what a body was before an edit; `None` where the edit was about something else.
    pub(super) fn body_before(&self) -> Result<Option<String>, String> {
        let body = self.get("changes").and_then(|changes| changes.get("body"));
        body.map_or(Ok(None), |body| body.text_or_none("from"))
    }

    /// Reads an object of plain values as texts.
    pub(super) fn texts(&self) -> Result<BTreeMap<String, String>, String> {
        let members =
            self.value.as_object().ok_or_else(|| format!("`{}` is not an object", self.path))?;
        members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| match value {
                Value::String(text) => Ok((key.clone(), text.clone())),
                Value::Bool(_) | Value::Number(_) => Ok((key.clone(), value.to_string())),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    Err(format!("`{}` is not text", self.path_of(key)))
                }
            })
            .collect()
    }

    /// Reads the entries of a list; one that is absent is empty.
    pub(super) fn each<T>(
        &self,
        key: &str,
        read: impl Fn(&JsonNode<'_>) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let Some(node) = self.get(key) else { return Ok(Vec::new()) };
        let entries =
            node.value.as_array().ok_or_else(|| format!("`{}` is not a list", node.path))?;
        let entry =
            |(index, value)| read(&JsonNode { value, path: format!("{}[{index}]", node.path) });
        entries.iter().enumerate().map(entry).collect()
    }

    /// Reads the members that are texts, and leaves out the others.
    pub(super) fn plain_texts(&self) -> BTreeMap<String, String> {
        let members = self.value.as_object().into_iter().flatten();
        members.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    }
}
