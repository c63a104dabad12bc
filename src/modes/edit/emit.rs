//! Values as block YAML. In: a value and how far it stands in; out: its lines, which read back as
//! the same value.

use serde_json::Value;

use locum_files::yaml::{self, YamlDocument};

/// Returns `key: value` at an indentation, with a line end.
pub(super) fn entry(key: &str, value: &Value, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            let inner: String =
                entries.iter().map(|(key, value)| entry(&scalar(key), value, indent + 2)).collect();
            format!("{blanks}{key}:\n{inner}")
        }
        Value::Array(values) if !values.is_empty() => {
            let items: String = values.iter().map(|value| item(value, indent + 2)).collect();
            format!("{blanks}{key}:\n{items}")
        }
        Value::String(text) if is_block(text) => {
            format!("{blanks}{key}: {}", block(text, indent + 2))
        }
        other => format!("{blanks}{key}: {}\n", flow(other)),
    }
}

/// Returns `- value` at an indentation, with a line end.
pub(super) fn item(value: &Value, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            let inner: String =
                entries.iter().map(|(key, value)| entry(&scalar(key), value, indent + 2)).collect();
            let first = inner.get(indent + 2..).unwrap_or_default();
            format!("{blanks}- {first}")
        }
        Value::String(text) if is_block(text) => format!("{blanks}- {}", block(text, indent + 2)),
        other => format!("{blanks}- {}\n", flow(other)),
    }
}

/// Returns a value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", scalar(key), flow(value)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Returns a text on one line: plain where it reads back as itself, else in quotes.
fn scalar(text: &str) -> String {
    let is_word = |letter: char| {
        letter.is_alphanumeric()
            || matches!(letter, ' ' | '-' | '_' | '.' | '/' | '(' | ')' | ';' | '+' | '$' | '^')
    };
    let starts_well = text.starts_with(|first: char| {
        first.is_alphanumeric() || matches!(first, '/' | '.' | '(' | '^' | '$' | '_')
    });
    let reads_back = || {
        let root = YamlDocument::parse(text).root;
        root.is_some_and(|root| root.value == yaml::YamlValue::Text(text.to_owned()))
    };
    if starts_well && !text.ends_with(' ') && text.chars().all(is_word) && reads_back() {
        return text.to_owned();
    }
    if text.chars().any(yaml::is_unwanted) {
        let escaped = |letter: char| {
            if yaml::is_unwanted(letter) {
                format!("\\u{:04x}", u32::from(letter))
            } else {
                letter.to_string()
            }
        };
        return Value::from(text).to_string().chars().map(escaped).collect();
    }
    format!("'{}'", text.replace('\'', "''"))
}

fn is_block(text: &str) -> bool {
    let is_odd = |letter: char| letter != '\n' && yaml::is_unwanted(letter);
    text.contains('\n') && !text.starts_with([' ', '\n']) && !text.chars().any(is_odd)
}

fn block(text: &str, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    let body = text.trim_end_matches('\n');
    let ends = text.len() - body.len();
    let mark = match ends {
        0 => "|-",
        1 => "|",
        _ => "|+",
    };
    let lines: String = body
        .split('\n')
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{blanks}{line}\n") })
        .collect();
    format!("{mark}\n{lines}{}", "\n".repeat(ends.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::{entry, item};
    use locum_files::yaml::YamlDocument;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        for value in [
            json!("plain words"),
            json!("it's: quoted # not a comment"),
            json!("yes"),
            json!("true"),
            json!("12"),
            json!("~"),
            json!(""),
            json!(" a "),
            json!("- a"),
            json!("a: b"),
            json!("\\.md$"),
            json!("^(?!.*x).*$"),
            json!("tab\there"),
            json!("one\ntwo\n\n  three"),
            json!("one\ntwo\n"),
            json!("one\ntwo\n\n\n"),
            json!("\nleading"),
            json!("  leading\nb"),
            json!("trailing \nb"),
            json!("#x\n---\n...\n"),
            json!("🏗️ Architect"),
            json!("\u{feff}x\u{2028}"),
            json!([]),
            json!({}),
            json!(["read", ["edit", { "fileRegex": "\\.md$", "description": "it's, \"here\"" }]]),
            json!({ "a b": 1, "c": { "d": ["x\ny", null, true] }, "yes": "no" }),
        ] {
            let text = format!("{}{}", entry("k", &value, 0), entry("after", &json!(1), 0));
            let read = YamlDocument::parse(&text);
            assert_eq!(read.mistakes, [], "{text}");
            assert_eq!(read.root.unwrap().to_json(), json!({ "k": value, "after": 1 }), "{text}");
            let text = format!("k:\n{}{}", item(&value, 2), item(&json!("z"), 2));
            assert_eq!(
                YamlDocument::parse(&text).root.map(|root| root.to_json()),
                Some(json!({ "k": [value, "z"] })),
                "{text}"
            );
        }
    }
}
