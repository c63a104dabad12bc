//! `mode_validation`: mode files of the peers, read by `modes::loader` under the name they have in
//! a repository.

use std::collections::BTreeSet;

use locum_modes::loader::{self, ModeErrors};
use locum_modes::schema::ModeView;
use locum_modes::{Mode, ModeSource};
use serde_json::{Value, json};

use crate::Judged;

/// Judges one case: the modes as read, or where in the data the mistakes are.
pub(crate) fn judge(case: &Value, _set: &Value) -> Judged {
    let file = case["file"].as_str().unwrap().to_owned();
    let source = if file == ".roomodes" {
        ModeSource::Project { file }
    } else {
        ModeSource::Global { file }
    };
    let found = answer(&loader::parse(case["text"].as_str().unwrap(), &source));
    let expected = &case["expected"];
    let wanted = json!({
        "valid": expected["valid"],
        "stage": expected["error_stage"],
        "paths": paths(expected["issues"].as_array().unwrap().iter().map(|issue| issue["path"].as_str().unwrap().to_owned())),
        "modes": expected["modes"].as_array().unwrap().iter().map(without_empty_options).collect::<Vec<_>>(),
    });
    if found == wanted {
        Judged::Pass
    } else {
        Judged::Fail(format!("got {found}, expected {wanted}"))
    }
}

fn answer(read: &Result<Vec<Mode>, ModeErrors>) -> Value {
    match read {
        Ok(modes) => {
            json!({ "valid": true, "stage": null, "paths": [], "modes": modes.iter().map(file_form).collect::<Vec<_>>() })
        }
        Err(ModeErrors(errors)) if errors.iter().all(|error| error.path.is_empty()) => {
            json!({ "valid": false, "stage": "parse", "paths": [], "modes": [] })
        }
        Err(ModeErrors(errors)) => {
            json!({ "valid": false, "stage": "schema", "paths": paths(errors.iter().map(|error| error.path.clone())), "modes": [] })
        }
    }
}

fn paths(paths: impl Iterator<Item = String>) -> Vec<String> {
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What `locum modes show --json` prints, without what the peers do not have.
fn file_form(mode: &Mode) -> Value {
    let mut view = serde_json::to_value(ModeView::from(mode)).unwrap();
    view.as_object_mut().unwrap().retain(|key, _| key != "tools" && key != "file");
    view
}

/// `[read, {}]` says the same as `read`.
fn without_empty_options(mode: &Value) -> Value {
    let mut mode = mode.clone();
    for group in mode["groups"].as_array_mut().unwrap() {
        if group[1] == json!({}) {
            *group = group[0].clone();
        }
    }
    mode
}
