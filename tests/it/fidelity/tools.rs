//! Changes of a file as the tools take them that replace texts, put lines in, change the cells of
//! notebooks and write whole files.

use locum_agent::tools::files::apply_diff::NearCopies;
use locum_agent::tools::files::edit::insertion::{Insertion, InsertionPlace};
use locum_agent::tools::files::edit::notebook::{CellAction, CellEdit, CellRef};
use locum_agent::tools::files::edit::search::{MeantPlaces, SearchEdit, SearchSyntax};
use locum_agent::tools::files::edit::texts::TextEdit;
use locum_agent::tools::files::edit::{FileChange as EngineChange, change};
use locum_agent::tools::files::write;
use locum_base::path::RepoPath;
use serde_json::{Value, json};

use super::{Change, Fate, FileChange, Replay, reason_of_change};

/// Sends a change to the engine, which asks where it may be wrong.
fn sent(before: &str, edit: &EngineChange) -> Replay {
    match change(before, edit, NearCopies::Ask) {
        Ok(applied) => Ok(applied.content),
        Err(error) => Err(reason_of_change(&error)),
    }
}

/// All changes of a file by one call of `multi_edit`.
pub(super) fn by_texts(before: &str, changes: &[Change]) -> Replay {
    let edit = |change: &Change| TextEdit {
        old: change.old.join("\n"),
        new: change.new.join("\n"),
        all: false,
    };
    sent(before, &EngineChange::Texts(changes.iter().map(edit).collect()))
}

fn search(change: &Change) -> SearchEdit {
    SearchEdit {
        search: change.old.join("\n"),
        replace: change.new.join("\n"),
        syntax: SearchSyntax::Literal,
        ignore_case: false,
        places: MeantPlaces::Exactly(1),
        within: None,
    }
}

/// Each change of a file by a call of `search_and_replace`.
pub(super) fn by_search(before: &str, changes: &[Change]) -> Replay {
    changes.iter().try_fold(before.to_owned(), |text, change| {
        sent(&text, &EngineChange::Search(search(change)))
    })
}

/// The same with regular expressions.
pub(super) fn by_regex(before: &str, changes: &[Change]) -> Replay {
    changes.iter().try_fold(before.to_owned(), |text, change| {
        let literal = search(change);
        let edit = SearchEdit {
            search: regex::escape(&literal.search),
            replace: literal.replace.replace('$', "$$"),
            syntax: SearchSyntax::Regex,
            ..literal
        };
        sent(&text, &EngineChange::Search(edit))
    })
}

/// One change by a call of `search_and_replace` that names the lines to look at.
pub(super) fn within(before: &str, change: &Change, lines: (usize, usize)) -> Replay {
    sent(before, &EngineChange::Search(SearchEdit { within: Some(lines), ..search(change) }))
}

/// Lines put in by a call of `insert_content`: `insertion` holds them and those they go before.
pub(super) fn inserted(
    before: &str,
    line: usize,
    above: Option<&[String]>,
    insertion: &Change,
) -> Replay {
    let count = insertion.new.len() - insertion.old.len();
    let text = insertion.new[..count].join("\n");
    let lines = above.map(|lines| lines.join("\n"));
    let text = format!("{text}\n");
    let place = InsertionPlace::Before { line, lines };
    sent(before, &EngineChange::Insertion(Insertion { place, text }))
}

/// Writes a notebook as `nbformat` does.
fn notebook(cells: &[(String, Vec<String>)]) -> String {
    let cell = |(id, lines): &(String, Vec<String>)| {
        let source = lines.join("\n");
        let source: Vec<&str> = source.split_inclusive('\n').collect();
        json!({ "cell_type": "code", "execution_count": null, "id": id, "metadata": {},
            "outputs": [], "source": source })
    };
    let cells: Vec<Value> = cells.iter().map(cell).collect();
    let notebook = json!({ "cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
    let mut text = Vec::new();
    let indent = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, indent);
    serde::Serialize::serialize(&notebook, &mut writer).unwrap();
    String::from_utf8(text).unwrap() + "\n"
}

/// The changes of a file as those of a notebook: each change is one of a cell, and what stays
/// between them are other cells. One call of `notebook_edit` a change.
pub(super) fn by_notebook(file: &FileChange) -> Fate {
    let (mut old, mut new, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0;
    let stays = |lines: &[String], old: &mut Vec<_>, new: &mut Vec<_>| {
        let cell = (format!("c{}", old.len()), lines.to_vec());
        old.push(cell.clone());
        new.push(cell);
    };
    for change in &file.changes {
        stays(&file.old[at..change.start], &mut old, &mut new);
        let id = format!("c{}", old.len());
        old.push((id.clone(), change.old.clone()));
        new.push((id.clone(), change.new.clone()));
        changed.push((id, change.new.join("\n"), change.old.join("\n")));
        at = change.start + change.old.len();
    }
    stays(&file.old[at..], &mut old, &mut new);
    let before = notebook(&old);
    let done = changed.into_iter().filter(|(_, new, old)| new != old).try_fold(
        before,
        |text, (id, source, _)| {
            let action = CellAction::Replace { source, kind: None };
            sent(&text, &EngineChange::Cell(CellEdit { cell: CellRef::Id(id), action }))
        },
    );
    match done {
        Ok(text) if text == notebook(&new) => Fate::Same,
        Ok(_) => Fate::OtherText,
        Err(why) => Fate::Refused(why),
    }
}

/// What `write_to_file` writes for a content.
pub(super) fn written(content: &str) -> String {
    let path = RepoPath::parse("src/file.txt").unwrap();
    write::bare(&path, content).map_or_else(|| content.to_owned(), |(bare, _)| bare)
}
