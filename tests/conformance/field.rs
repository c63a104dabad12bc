//! `Field`: a place in a file of vectors, which remembers what was looked at.
//!
//! In: a JSON document. Out: values of the kind that is asked for, or what is wrong with them as a
//! sentence; and, when a judge is done, the places nobody looked at. A judge that does not know a
//! field has not judged the case.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

/// Places of one document that were looked at.
#[derive(Default)]
pub(crate) struct Looked {
    /// Single values, and lists and objects as far as what they hold was asked for.
    single: RefCell<BTreeSet<String>>,
    /// Values that were taken with everything below them.
    whole: RefCell<BTreeSet<String>>,
}

/// A place in a document. A place that is not there counts as `null`.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    value: &'a Value,
    path: String,
    looked: &'a Looked,
}

impl Looked {
    /// Returns the places of `value`, which stands at `path`, that nobody looked at.
    pub(crate) fn missed(&self, path: &str, value: &Value) -> Vec<String> {
        if self.whole.borrow().contains(path) {
            return Vec::new();
        }
        match value {
            Value::Object(object) if !object.is_empty() => object
                .iter()
                .flat_map(|(key, value)| self.missed(&below(path, key), value))
                .collect(),
            Value::Array(items) if !items.is_empty() => {
                let indexed = items.iter().enumerate();
                indexed
                    .flat_map(|(at, value)| self.missed(&below(path, &at.to_string()), value))
                    .collect()
            }
            _ if self.single.borrow().contains(path) => Vec::new(),
            _ => vec![path.to_owned()],
        }
    }
}

impl<'a> Field<'a> {
    /// Returns the document itself, or a part of it that is counted by its own.
    pub(crate) fn root(value: &'a Value, looked: &'a Looked) -> Self {
        Self { value, path: String::new(), looked }
    }

    /// Returns the place below this one.
    pub(crate) fn at(&self, key: &str) -> Self {
        let value = self.value.get(key).unwrap_or(&Value::Null);
        if self.value.is_object() || self.value.is_null() {
            self.look();
        }
        Self { value, path: below(&self.path, key), looked: self.looked }
    }

    /// Whether there is something but `null`.
    pub(crate) fn is_given(&self) -> bool {
        if self.value.is_null() {
            self.look();
        }
        !self.value.is_null()
    }

    /// Returns this place if there is something.
    pub(crate) fn given(&self) -> Option<Self> {
        self.is_given().then(|| self.clone())
    }

    /// Returns a text.
    pub(crate) fn text(&self) -> Result<&'a str, String> {
        self.single(self.value.as_str(), "a text")
    }

    /// Returns true or false.
    pub(crate) fn flag(&self) -> Result<bool, String> {
        self.single(self.value.as_bool(), "true or false")
    }

    /// Returns a whole number.
    pub(crate) fn count(&self) -> Result<u64, String> {
        self.single(self.value.as_u64(), "a whole number")
    }

    /// Returns a whole number of lines, bytes and the like.
    pub(crate) fn size(&self) -> Result<usize, String> {
        usize::try_from(self.count()?).map_err(|error| format!("`{}`: {error}", self.path))
    }

    /// Returns a number.
    pub(crate) fn number(&self) -> Result<f64, String> {
        self.single(self.value.as_f64(), "a number")
    }

    /// Returns what a word stands for.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, String> {
        let text = self.text()?;
        let known = words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning);
        known.ok_or_else(|| format!("`{}` is `{text}`, which this judge cannot express", self.path))
    }

    /// Returns the places in a list.
    pub(crate) fn items(&self) -> Result<Vec<Self>, String> {
        let items = self.single(self.value.as_array(), "a list")?;
        let places = items.iter().enumerate();
        let place = |(at, value): (usize, &'a Value)| Self {
            value,
            path: below(&self.path, &at.to_string()),
            looked: self.looked,
        };
        Ok(places.map(place).collect())
    }

    /// Returns the texts in a list.
    pub(crate) fn texts(&self) -> Result<Vec<&'a str>, String> {
        self.items()?.iter().map(Self::text).collect()
    }

    /// Returns names and places of an object.
    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Self)>, String> {
        let object = self.single(self.value.as_object(), "an object")?;
        Ok(object.keys().map(|key| (key.as_str(), self.at(key))).collect())
    }

    /// Whether every entry of this object is in what was found, which may hold more.
    pub(crate) fn is_part_of(&self, found: &Value) -> Result<bool, String> {
        self.whole();
        let object = self.single(self.value.as_object(), "an object")?;
        Ok(object.iter().all(|(key, value)| found.get(key) == Some(value)))
    }

    /// Returns the value with everything below it, which is used as it is.
    pub(crate) fn whole(&self) -> &'a Value {
        self.looked.whole.borrow_mut().insert(self.path.clone());
        self.value
    }

    /// Says that this is for people and nothing a judge could check.
    pub(crate) fn is_prose(&self) {
        self.whole();
    }

    fn single<T>(&self, found: Option<T>, wanted: &str) -> Result<T, String> {
        self.look();
        found.ok_or_else(|| format!("`{}` is not {wanted}", self.path))
    }

    fn look(&self) {
        self.looked.single.borrow_mut().insert(self.path.clone());
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::{Field, Looked};
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn what_nobody_looked_at_is_named() {
        let case = json!({ "id": "x", "issue": { "state": "open", "draft": true }, "config": {}, "setup": [{ "do": "mkdir", "mode": 7 }], "note": null });
        let looked = Looked::default();
        let field = Field::root(&case, &looked);
        assert_eq!(
            looked.missed("", &case),
            ["id", "issue.state", "issue.draft", "config", "setup.0.do", "setup.0.mode", "note"]
        );
        assert_eq!(field.at("id").text(), Ok("x"));
        assert_eq!(field.at("issue").at("state").text(), Ok("open"));
        assert!(!field.at("config").at("limit").is_given() && !field.at("note").is_given());
        assert_eq!(field.at("setup").items().unwrap()[0].at("do").word(&[("mkdir", 1)]), Ok(1));
        assert_eq!(looked.missed("", &case), ["issue.draft", "setup.0.mode"]);
        field.at("setup").is_prose();
        assert_eq!(looked.missed("", &case), ["issue.draft"]);
    }

    #[test]
    fn a_value_of_another_kind_is_refused_and_stays_unread_below() {
        let case = json!({ "issue": "open", "level": "maybe", "bytes": -1 });
        let looked = Looked::default();
        let field = Field::root(&case, &looked);
        assert!(!field.at("issue").at("state").is_given());
        assert_eq!(looked.missed("", &case), ["issue", "level", "bytes"]);
        assert_eq!(
            field.at("level").word(&[("must", ())]),
            Err("`level` is `maybe`, which this judge cannot express".to_owned())
        );
        assert_eq!(field.at("bytes").count(), Err("`bytes` is not a whole number".to_owned()));
        assert_eq!(field.at("missing").text(), Err("`missing` is not a text".to_owned()));
    }
}
