//! `apply_patch`: patches over several files, applied by the functions behind the tool.

use std::collections::BTreeMap;

use locum_agent::tools::files::apply_patch::{apply, parse};
use serde_json::{Value, json};

use crate::Judged;

/// Judges one case: every file afterwards, or whether reading or applying the patch failed.
pub(crate) fn judge(case: &Value, _set: &Value) -> Judged {
    let mut files: BTreeMap<String, String> =
        serde_json::from_value(case["files"].clone()).unwrap();
    let found = match parse::parse(case["patch"].as_str().unwrap()) {
        Err(_) => json!({ "success": false, "reason": "parse" }),
        Ok(hunks) => match apply(&hunks, ToOwned::to_owned, |path| Ok(files.get(path).cloned())) {
            Err(_) => json!({ "success": false, "reason": "apply" }),
            Ok(changes) => {
                for change in changes {
                    match change.after {
                        Some(text) => files.insert(change.path, text),
                        None => files.remove(&change.path),
                    };
                }
                json!({ "success": true, "files": files })
            }
        },
    };
    if found == case["expected"] {
        Judged::Pass
    } else {
        Judged::Fail(format!("got {found}, expected {}", case["expected"]))
    }
}
