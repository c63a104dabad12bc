//! `mode_tool_access`: which mode may call which tool on which file, decided by `modes::access` on
//! the modes a run would have.

use locum_modes::access::{self, AccessError, ToolChoice};
use locum_modes::{ModeSet, ModeSource, builtin, loader};
use serde_json::{Value, json};

use crate::Judged;

/// Judges one case: allowed or why not, and the very message for a file out of bounds.
pub(crate) fn judge(case: &Value, _set: &Value) -> Judged {
    let file = json!({ "customModes": case["custom_modes"] }).to_string();
    let custom =
        loader::parse(&file, &ModeSource::Project { file: ".roomodes".to_owned() }).unwrap();
    let modes = ModeSet::merge([builtin::modes(), custom]);
    let (disabled, included) = (words(&case["disabled_tools"]), words(&case["included_tools"]));
    let choice = ToolChoice { disabled: &disabled, included: &included };
    let text = |key: &str| case[key].as_str().unwrap();
    let decided =
        access::decide_access(&modes, text("mode"), text("tool"), &case["params"], choice);
    let found = match &decided {
        Ok(()) => json!({ "allowed": true, "reason": null }),
        Err(AccessError::UnknownTool { .. }) => {
            json!({ "allowed": false, "reason": "unknown_tool" })
        }
        Err(AccessError::NotAllowed { .. }) => {
            json!({ "allowed": false, "reason": "not_allowed_in_mode" })
        }
        Err(AccessError::FileRestriction(error)) => {
            json!({ "allowed": false, "reason": "file_restriction", "message": error.to_string() })
        }
    };
    let (expected, safer) = (&case["expected"], &case["safer"]);
    if agrees(&found, expected) {
        Judged::Pass
    } else if case["tag"] == "hole" && (agrees(&found, safer) || found["allowed"] == json!(false)) {
        Judged::Safer
    } else {
        Judged::Fail(format!("got {found}, expected {expected}"))
    }
}

fn agrees(found: &Value, expected: &Value) -> bool {
    ["allowed", "reason"].iter().all(|key| found[key] == expected[key])
        && (expected["message"].is_null() || found["message"] == expected["message"])
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}
