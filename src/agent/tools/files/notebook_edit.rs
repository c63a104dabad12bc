//! `notebook_edit`: one cell of a Jupyter notebook replaced, put in or taken out.

use serde_json::{Value, json};

use crate::tools::CallError;
use crate::tools::aliases::decisive::{FILE_EDIT, PART_OF_FILE, TRIED_OUT};
use crate::tools::arguments::CallFields;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::notebook::{CellAction, CellEdit, CellKind, CellRef};
use crate::tools::files::edit_tool::EditTool;
use crate::tools::peer_words::{PATH, PeerWords};
use locum_base::tool::ToolName;

/// The tool that changes a cell of a notebook.
#[derive(Clone, Debug)]
pub struct NotebookEdit;

impl EditTool for NotebookEdit {
    const NAME: ToolName = ToolName::NotebookEdit;
    const DESCRIPTION: &'static str = "Change one cell of a Jupyter notebook (.ipynb): replace its \
        source, insert a new cell after it, or delete it. Outputs of a replaced cell are cleared.";
    const REQUIRED: &'static [&'static str] = &["path"];
    const FILE: &'static str = "the notebook, relative to the repository root";
    const PEERS: PeerWords = PeerWords {
        renames: &[
            PATH,
            &[
                ("source", "new_source"),
                ("cell_index", "cell_number"),
                ("index", "cell_number"),
                ("kind", "cell_type"),
                ("mode", "edit_mode"),
            ],
        ],
        decisive: &[PART_OF_FILE, FILE_EDIT, TRIED_OUT],
        hook_names: &["NotebookEdit", "Edit"],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string" },
            "cell_id": { "type": "string", "description": "A new cell without it comes first" },
            "cell_number": { "type": "integer", "description": "From 0, where cells have no id" },
            "new_source": { "type": "string" },
            "cell_type": { "type": "string", "enum": ["code", "markdown", "raw"] },
            "edit_mode": { "type": "string", "enum": ["replace", "insert", "delete"], "description": "Default: replace" }
        })
    }

    fn change(arguments: &mut CallFields) -> Result<FileChange, CallError> {
        cell_edit(arguments).map(FileChange::Cell)
    }
}

/// Takes the cell and what is to be done with it.
fn cell_edit(arguments: &mut CallFields) -> Result<CellEdit, CallError> {
    let id = arguments.optional_text("cell_id", "the cell's id")?;
    let number = arguments.optional_number("cell_number", 0, "the cell's number, from 0")?;
    let source = arguments.optional_text("new_source", "the whole source of the cell")?;
    let kind = arguments.optional_text("cell_type", "`code`, `markdown` or `raw`")?;
    let mode = arguments.optional_text("edit_mode", "`replace`, `insert` or `delete`")?;
    let wrong = |what: &str| CallError(format!("`notebook_edit` {what}."));
    let cell = match (id, number) {
        (Some(_), Some(_)) => return Err(wrong("takes `cell_id` or `cell_number`, not both")),
        // What Claude Code calls a cell without an id.
        (Some(id), None) => match id.strip_prefix("cell-").and_then(|it| it.parse().ok()) {
            Some(number) => CellRef::IdOrNumber(id, number),
            None => CellRef::Id(id),
        },
        (None, Some(number)) => CellRef::Number(number),
        (None, None) => CellRef::Beginning,
    };
    let kind = match kind.as_deref() {
        None => None,
        Some("code") => Some(CellKind::Code),
        Some("markdown") => Some(CellKind::Markdown),
        Some("raw") => Some(CellKind::Raw),
        Some(_) => return Err(wrong("knows the `cell_type`s `code`, `markdown` and `raw`")),
    };
    let needed = || wrong("needs `new_source`, the whole source of the cell");
    let action = match mode.as_deref() {
        None | Some("replace") => CellAction::Replace { source: source.ok_or_else(needed)?, kind },
        Some("insert") => CellAction::Insert {
            source: source.ok_or_else(needed)?,
            kind: kind.ok_or_else(|| wrong("needs the `cell_type` of a new cell"))?,
        },
        Some("delete") => CellAction::Delete,
        Some(_) => return Err(wrong("knows the `edit_mode`s `replace`, `insert` and `delete`")),
    };
    if cell == CellRef::Beginning && !matches!(action, CellAction::Insert { .. }) {
        return Err(wrong("needs `cell_id`, the cell that is meant, or its `cell_number`"));
    }
    Ok(CellEdit { cell, action })
}

#[cfg(test)]
mod tests {
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \
        \"execution_count\": 1,\n   \"id\": \"a1\",\n   \"metadata\": {},\n   \
        \"outputs\": [],\n   \"source\": [\n    \"1\"\n   ]\n  }\n ],\n \
        \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n";

    #[test]
    fn a_cell_is_changed_by_the_names_of_claude_code() {
        let fixture = ToolFixture::new(&[("n.ipynb", NOTEBOOK)]);
        let arguments =
            json!({ "notebook_path": "n.ipynb", "cell_id": "a1", "new_source": "x = 2\nx" });
        let done = fixture.call("NotebookEdit", &arguments.to_string());
        assert!(done.text.contains(" |     \"x\""), "{}", done.text);
        let expected = NOTEBOOK
            .replace("\"execution_count\": 1", "\"execution_count\": null")
            .replace("    \"1\"", "    \"x = 2\\n\",\n    \"x\"");
        assert_eq!(fixture.content("n.ipynb"), expected);
        let arguments = json!({ "path": "n.ipynb", "cell_number": 0, "edit_mode": "delete",
            "new_source": "" });
        assert!(!fixture.call("notebook_edit", &arguments.to_string()).is_error);
        assert!(fixture.content("n.ipynb").starts_with("{\n \"cells\": [],\n"));
    }

    #[test]
    fn a_name_that_stands_for_a_number_is_a_cells_own_first() {
        let cell = |id: &str, source: &str| json!({ "cell_type": "raw", "id": id, "metadata": {}, "source": source });
        let cells = [cell("cell-1", "a"), cell("b", "b"), cell("c", "c")];
        let notebook =
            json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
        for (id, changed) in [("cell-1", 0), ("cell-2", 2)] {
            let fixture = ToolFixture::new(&[("n.ipynb", &notebook.to_string())]);
            let arguments = json!({ "path": "n.ipynb", "cell_id": id, "new_source": "x" });
            let done = fixture.call("notebook_edit", &arguments.to_string());
            let mut expected = notebook.clone();
            expected["cells"][changed]["source"] = json!("x");
            assert_eq!(fixture.content("n.ipynb"), expected.to_string(), "{}", done.text);
        }
    }

    #[test]
    fn what_is_wrong_with_a_call_is_said_and_nothing_is_changed() {
        let fixture = ToolFixture::new(&[("n.ipynb", NOTEBOOK), ("a.py", "1\n")]);
        for (arguments, expected) in [
            (json!({ "new_source": "x" }), "needs `cell_id`"),
            (json!({ "cell_id": "a1" }), "needs `new_source`"),
            (json!({ "cell_id": "a1", "cell_number": 0, "new_source": "x" }), "not both"),
            (json!({ "cell_id": "b", "new_source": "x" }), "has no cell `b`; it has `a1`"),
            (json!({ "cell_id": "cell-7", "new_source": "x" }), "has no cell 7"),
            (json!({ "edit_mode": "insert", "new_source": "x" }), "the `cell_type` of a new cell"),
            (json!({ "cell_id": "a1", "edit_mode": "merge", "new_source": "x" }), "`edit_mode`s"),
            (json!({ "cell_id": "a1", "cell_type": "text", "new_source": "x" }), "`cell_type`s"),
            (json!({ "path": "a.py", "cell_id": "a", "new_source": "x" }), "is not a notebook"),
        ] {
            let mut arguments = arguments;
            arguments.as_object_mut().unwrap().entry("path").or_insert(json!("n.ipynb"));
            let done = fixture.call("notebook_edit", &arguments.to_string());
            assert!(done.is_error && done.text.contains(expected), "{arguments}: {}", done.text);
        }
        assert_eq!(fixture.content("n.ipynb"), NOTEBOOK);
    }
}
