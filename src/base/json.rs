//! JSON values of foreign shape, read and written without a panic.

use serde_json::Value;

/// Returns a field of an object; null where it has none, or is no object.
pub fn field<'v>(value: &'v Value, key: &str) -> &'v Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// Returns a field's text; empty where it is none.
pub fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    field(value, key).as_str().unwrap_or_default()
}

/// Sets a field of an object; of anything else nothing.
pub fn put(value: &mut Value, key: &str, field: impl Into<Value>) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.to_owned(), field.into());
    }
}
