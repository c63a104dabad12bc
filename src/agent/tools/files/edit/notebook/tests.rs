//! Changes of cells: what they write, what stays byte for byte, what is refused.

use super::{CellAction, CellEdit, CellKind, CellRef};
use crate::tools::files::apply_diff::NearCopies;
use crate::tools::files::edit::{FileChange, change};
use pretty_assertions::assert_eq;

const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "one",
   "metadata": {},
   "source": [
    "# Title\n",
    "caf\u00e9"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "two",
   "metadata": {
    "tags": []
   },
   "outputs": [
    {"name": "stdout"}
   ],
   "source": [
    "a = 1\n",
    "b = 2"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

fn id(id: &str) -> CellRef {
    CellRef::Id(id.to_owned())
}

fn replace(source: &str) -> CellAction {
    CellAction::Replace { source: source.to_owned(), kind: None }
}

fn changed(text: &str, cell: CellRef, action: CellAction) -> Result<String, String> {
    change(text, &FileChange::Cell(CellEdit { cell, action }), NearCopies::Ask)
        .map(|applied| applied.content)
        .map_err(|error| error.to_string())
}

#[test]
fn a_replaced_cell_loses_its_outputs_and_all_else_stays_byte_for_byte() {
    let after = changed(NOTEBOOK, id("two"), replace("a = 1\nprint(\"é\")\n")).unwrap();
    let expected = NOTEBOOK
        .replace("\"execution_count\": 3", "\"execution_count\": null")
        .replace("[\n    {\"name\": \"stdout\"}\n   ]", "[]")
        .replace("\"b = 2\"", "\"print(\\\"é\\\")\\n\"");
    assert_eq!(after, expected);
    // A line that stays is written as it was, with its escapes.
    let after = changed(NOTEBOOK, id("one"), replace("# Heading\ncafé")).unwrap();
    assert_eq!(after, NOTEBOOK.replace("# Title", "# Heading"));
    let windows = NOTEBOOK.replace('\n', "\r\n");
    let after = changed(&windows, id("one"), replace("# Heading\ncafé")).unwrap();
    assert_eq!(after, windows.replace("# Title", "# Heading"));
}

#[test]
fn cells_are_put_in_taken_out_and_turned_into_others() {
    let insert = |kind| CellAction::Insert { source: "x".to_owned(), kind };
    let after = changed(NOTEBOOK, id("one"), insert(CellKind::Code)).unwrap();
    let start = NOTEBOOK.find(",\n  {\n   \"cell_type\": \"code\"").unwrap();
    let cell = &after[start..start + after.len() - NOTEBOOK.len()];
    let new_id = cell.split("\"id\": \"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(
        cell,
        format!(
            ",\n  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \
             \"{new_id}\",\n   \"metadata\": {{}},\n   \"outputs\": [],\n   \"source\": [\n    \
             \"x\"\n   ]\n  }}"
        )
    );
    // What was put in goes again without a trace.
    assert_eq!(changed(&after, id(new_id), CellAction::Delete).as_deref(), Ok(NOTEBOOK));
    let first = changed(NOTEBOOK, CellRef::Beginning, insert(CellKind::Markdown)).unwrap();
    assert!(first.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n   \"id\""));
    let new_id = first.split("\"id\": \"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(changed(&first, id(new_id), CellAction::Delete).as_deref(), Ok(NOTEBOOK));
    let to_text = CellAction::Replace { source: "a".to_owned(), kind: Some(CellKind::Markdown) };
    let text = changed(NOTEBOOK, id("two"), to_text).unwrap();
    assert!(
        text.contains(
            "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"two\",\n   \"metadata\": {\n    \
             \"tags\": []\n   },\n   \"source\": [\n    \"a\"\n   ]\n  }\n ],"
        ),
        "{text}"
    );
    let empty =
        "{\n \"cells\": [],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 4\n}";
    let one = changed(empty, CellRef::Beginning, insert(CellKind::Raw)).unwrap();
    assert_eq!(
        one,
        empty.replace(
            "[]",
            "[\n  {\n   \"cell_type\": \"raw\",\n   \"metadata\": {},\n   \"source\": [\n    \
             \"x\"\n   ]\n  }\n ]"
        )
    );
    // On one line, as other programs write them.
    let line = r#"{"cells":[{"cell_type":"code","source":"a","metadata":{}}],"nbformat":4}"#;
    let done = |cell, action| {
        change(line, &FileChange::Cell(CellEdit { cell, action }), NearCopies::Take)
            .map(|applied| applied.content)
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        done(CellRef::Number(0), replace("b\nc")).unwrap(),
        line.replace("\"a\"", "\"b\\nc\"")
    );
    assert_eq!(
        done(CellRef::Number(0), CellAction::Delete).unwrap(),
        r#"{"cells":[],"nbformat":4}"#
    );
    assert_eq!(
        done(CellRef::Number(0), insert(CellKind::Markdown)).unwrap(),
        line.replace("}],", r#"},{"cell_type":"markdown","metadata":{},"source":["x"]}],"#)
    );
}

#[test]
fn what_is_no_such_cell_is_refused_and_a_number_is_asked_about() {
    let twice = NOTEBOOK.replace("\"two\"", "\"one\"");
    let older = NOTEBOOK.replace("\"nbformat\": 4", "\"nbformat\": 3");
    let broken = NOTEBOOK.replace("\"nbformat\": 4,", "\"nbformat\": 4");
    for (text, cell, action, expected) in [
        (NOTEBOOK, id("none"), CellAction::Delete, "has no cell `none`; it has `one`, `two`"),
        (NOTEBOOK, CellRef::Number(2), CellAction::Delete, "no cell 2; it has `one`, `two`"),
        (NOTEBOOK, CellRef::Beginning, CellAction::Delete, "no cell without `cell_id`"),
        (NOTEBOOK, id("one"), replace("# Title\ncafé"), "the cell has this source already"),
        (&twice, id("one"), CellAction::Delete, "the cells 0, 1 have the id `one`"),
        (&older, id("one"), CellAction::Delete, "`nbformat` is 3"),
        (&broken, id("one"), CellAction::Delete, "not a notebook of nbformat 4: expected `,`"),
        ("print(1)\n", id("one"), CellAction::Delete, "not a notebook"),
        (
            NOTEBOOK,
            CellRef::Number(1),
            CellAction::Delete,
            "Send the same call again if that is right, or give `cell_id: two`. The cell:\na = 1",
        ),
    ] {
        let refused = changed(text, cell.clone(), action.clone()).unwrap_err();
        assert!(refused.contains(expected), "{cell:?} {action:?}: {refused}");
    }
}
