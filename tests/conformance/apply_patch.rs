//! `apply_patch`: patches over several files, applied by the functions behind the tool.

use std::collections::BTreeMap;

use locum_agent::tools::files::apply_patch::{apply_asking, parse};
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

/// Judges one case: every file afterwards, or whether reading or applying the patch failed.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    let mut files = BTreeMap::new();
    for (path, text) in case.at("files").entries()? {
        files.insert(path.to_owned(), text.text()?.to_owned());
    }
    let found = match parse::parse(case.at("patch").text()?) {
        Err(_) => json!({ "success": false, "reason": "parse" }),
        // Peers take an exact place without a question.
        Ok(hunks) => match apply_asking(&hunks, ToOwned::to_owned, |path: &String| {
            Ok(files.get(path).cloned())
        }) {
            Err(_) => json!({ "success": false, "reason": "apply" }),
            Ok(applied) => {
                for change in applied.files {
                    match change.after {
                        Some(text) => files.insert(change.path, text),
                        None => files.remove(&change.path),
                    };
                }
                json!({ "success": true, "files": files })
            }
        },
    };
    let expected = case.at("expected").whole();
    // Lines keep the line ends and the indentation that the file has and the peer loses.
    let is_quirk = case.at("tag").text()? == "quirk";
    Ok(if found == *expected {
        Judged::Pass
    } else if is_quirk && without_outer_blanks(&found) == without_outer_blanks(expected) {
        Judged::Safer
    } else {
        Judged::Fail(format!("got {found}, expected {expected}"))
    })
}

/// Takes the blanks off both ends of every line of every file.
fn without_outer_blanks(result: &Value) -> Value {
    match result {
        Value::String(text) => text.lines().map(str::trim).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), without_outer_blanks(value))).collect()
        }
        other => other.clone(),
    }
}
