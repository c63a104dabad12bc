//! Text of a Jupyter notebook: cells by number and by what an edit calls them, with their source
//! and the text of their outputs. Images and widgets are named, not shown.

use serde_json::Value;

use crate::document::{BoundedText, DocumentError};

/// Most bytes of the id of a cell, by the format.
const ID_LIMIT_BYTES: usize = 64;

/// Reads the text of a notebook.
pub(super) fn text(content: &[u8]) -> Result<String, DocumentError> {
    let notebook: Value = serde_json::from_slice(content).map_err(DocumentError::malformed)?;
    let cells = cells(&notebook).ok_or_else(|| DocumentError::malformed("it has no `cells`"))?;
    let language = notebook
        .pointer("/metadata/language_info/name")
        .or_else(|| notebook.pointer("/metadata/kernelspec/language"))
        .and_then(Value::as_str)
        .unwrap_or("code");
    let mut text = BoundedText::default();
    if cells.is_empty() {
        text.push("(no cells)");
    }
    for (at, cell) in cells.iter().enumerate() {
        text.push(&format!(
            "--- Cell {} of {} ({}): {} ---\n",
            at + 1,
            cells.len(),
            edited_as(at, cell),
            kind(cell, language)
        ));
        let source = cell.get("source").or_else(|| cell.get("input")).map(joined);
        text.push(&line(&source.unwrap_or_default()));
        for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
            text.push(&format!("Output:\n{}", line(&shown(output))));
        }
        text.push("\n");
        if text.is_full {
            break;
        }
    }
    Ok(text.finish())
}

/// Returns the cells; older notebooks have them in worksheets.
fn cells(notebook: &Value) -> Option<Vec<&Value>> {
    if let Some(cells) = notebook.get("cells").and_then(Value::as_array) {
        return Some(cells.iter().collect());
    }
    let sheets = notebook.get("worksheets")?.as_array()?;
    let of_sheet = |sheet| Value::get(sheet, "cells").and_then(Value::as_array);
    Some(sheets.iter().filter_map(of_sheet).flatten().collect())
}

/// Returns how an edit names a cell: by its id, or by its number, which counts from 0.
fn edited_as(at: usize, cell: &Value) -> String {
    let is_plain = |id: &&str| {
        let known = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
        (1..=ID_LIMIT_BYTES).contains(&id.len()) && id.bytes().all(known)
    };
    match cell.get("id").and_then(Value::as_str).filter(is_plain) {
        Some(id) => format!("cell_id {id}"),
        None => format!("cell_number {at}"),
    }
}

fn kind(cell: &Value, language: &str) -> String {
    let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("cell");
    if kind != "code" {
        return kind.to_owned();
    }
    let count = cell.get("execution_count").or_else(|| cell.get("prompt_number"));
    match count.and_then(Value::as_u64) {
        Some(count) => format!("{language}, In [{count}]"),
        None => language.to_owned(),
    }
}

/// Returns the text of an output.
fn shown(output: &Value) -> String {
    if let Some(text) = output.get("text") {
        return joined(text);
    }
    if let Some(traceback) = output.get("traceback").and_then(Value::as_array) {
        let lines: Vec<String> = traceback.iter().map(joined).collect();
        return without_escapes(&lines.join("\n"));
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else {
        return "(nothing that is text)".to_owned();
    };
    if let Some(plain) = data.get("text/plain") {
        let others: Vec<&str> =
            data.keys().map(String::as_str).filter(|kind| kind.starts_with("image/")).collect();
        let images =
            if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
        return format!("{}{images}", joined(plain));
    }
    let (kind, content) = match data.iter().next() {
        Some((kind, content)) => (kind.as_str(), joined(content)),
        None => ("nothing", String::new()),
    };
    if kind.starts_with("text/") { content } else { format!("({kind}, {} bytes)", content.len()) }
}

/// Returns a text that is one string or a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Ends a text with a line end, where it has a line.
fn line(text: &str) -> String {
    let text = text.trim_end_matches('\n');
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}

/// Takes the colours of a terminal out.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|letter: char| letter.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        plain.push_str(part.get(end..).unwrap_or_default());
    }
    plain
}

#[cfg(test)]
mod tests {
    use crate::document::DocumentKind;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn cells_and_outputs_are_named() {
        let notebook = json!({
            "metadata": { "language_info": { "name": "python" } }, "nbformat": 4,
            "cells": [
                { "id": "intro-1", "cell_type": "markdown", "source": ["# Title\n", "text"] },
                { "cell_type": "code", "execution_count": 3, "source": "plot()\n", "outputs": [
                    { "output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"] },
                    { "output_type": "display_data", "data": { "image/png": "aGk=",
                        "text/plain": "<Figure>" } },
                    { "output_type": "display_data", "data": { "image/svg+xml": ["<svg/>"] } },
                    { "output_type": "error", "ename": "E", "evalue": "v",
                        "traceback": ["\u{1b}[0;31mE\u{1b}[0m: v"] } ] },
                { "cell_type": "code", "source": [], "outputs": [] }
            ]
        });
        assert_eq!(
            DocumentKind::Notebook.text(notebook.to_string().as_bytes()).unwrap(),
            "--- Cell 1 of 3 (cell_id intro-1): markdown ---\n# Title\ntext\n\n\
             --- Cell 2 of 3 (cell_number 1): python, In [3] \
             ---\nplot()\nOutput:\na\nb\nOutput:\n<Figure> (image/png)\nOutput:\n(image/svg+xml, \
             6 bytes)\nOutput:\nE: v\n\n--- Cell 3 of 3 (cell_number 2): python ---"
        );
    }

    #[test]
    fn older_notebooks_are_read_and_what_is_none_is_said() {
        let older = json!({ "worksheets": [{ "cells": [
            { "cell_type": "code", "prompt_number": 1, "input": ["x = 1"], "outputs": [] } ] }] });
        assert_eq!(
            DocumentKind::Notebook.text(older.to_string().as_bytes()).unwrap(),
            "--- Cell 1 of 1 (cell_number 0): code, In [1] ---\nx = 1"
        );
        let empty = br#"{"cells": [], "nbformat": 4}"#;
        assert_eq!(DocumentKind::Notebook.text(empty).unwrap(), "(no cells)");
        let error = |text: &str| DocumentKind::Notebook.text(text.as_bytes()).unwrap_err();
        assert!(error("{").to_string().starts_with("the document is malformed: "));
        assert_eq!(error("{}").to_string(), "the document is malformed: it has no `cells`");
        let deep = format!("{{\"cells\":{}", "[".repeat(100_000));
        assert!(error(&deep).to_string().contains("recursion limit"));
    }
}
