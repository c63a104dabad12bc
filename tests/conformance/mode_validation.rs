//! `mode_validation`: mode files of the peers, read by `modes::loader` under the name they have in
//! a repository.

use std::collections::BTreeSet;

use locum_modes::loader::{self, ModeErrors};
use locum_modes::schema::ModeView;
use locum_modes::{Mode, ModeSource};
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

/// Judges one case: the modes as read, or where in the data the mistakes are.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    let file = case.at("file").text()?;
    let is_project = case.at("file").word(&[(".roomodes", true), ("custom_modes.yaml", false)])?;
    let file = file.to_owned();
    let source =
        if is_project { ModeSource::Project { file } } else { ModeSource::Global { file } };
    let found = answer(&loader::parse(case.at("text").text()?, &source))?;
    let expected = case.at("expected");
    let mut places = Vec::new();
    for issue in expected.at("issues").items()? {
        places.push(issue.at("path").text()?.to_owned());
        // Each program has words of its own.
        issue.at("message").is_prose();
    }
    let wanted = json!({
        "valid": expected.at("valid").whole(),
        "stage": expected.at("error_stage").whole(),
        "paths": paths(places.into_iter()),
        "modes": expected.at("modes").items()?.iter().map(|mode| without_empty_options(mode.whole())).collect::<Vec<_>>(),
    });
    Ok(if found == wanted {
        Judged::Pass
    } else {
        Judged::Fail(format!("got {found}, expected {wanted}"))
    })
}

fn answer(read: &Result<Vec<Mode>, ModeErrors>) -> Result<Value, String> {
    Ok(match read {
        Ok(modes) => {
            let modes = modes.iter().map(file_form).collect::<Result<Vec<_>, _>>()?;
            json!({ "valid": true, "stage": null, "paths": [], "modes": modes })
        }
        Err(ModeErrors(errors)) if errors.iter().all(|error| error.path.is_empty()) => {
            json!({ "valid": false, "stage": "parse", "paths": [], "modes": [] })
        }
        Err(ModeErrors(errors)) => {
            json!({ "valid": false, "stage": "schema", "paths": paths(errors.iter().map(|error| error.path.clone())), "modes": [] })
        }
    })
}

fn paths(paths: impl Iterator<Item = String>) -> Vec<String> {
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

/// What `locum modes show --json` prints, without what the peers do not have: the newest version of
/// the one reads a group `browser`, and gives nothing for it.
fn file_form(mode: &Mode) -> Result<Value, String> {
    let mut view = serde_json::to_value(ModeView::from(mode)).map_err(|error| error.to_string())?;
    if let Some(view) = view.as_object_mut() {
        view.retain(|key, _| key != "tools" && key != "file");
        let groups = view.get_mut("groups").and_then(Value::as_array_mut);
        groups.into_iter().for_each(|groups| groups.retain(|group| group != "browser"));
    }
    Ok(view)
}

/// `[read, {}]` says the same as `read`.
fn without_empty_options(mode: &Value) -> Value {
    let mut mode = mode.clone();
    for group in mode.get_mut("groups").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some([name, options]) = group.as_array().map(Vec::as_slice)
            && *options == json!({})
        {
            *group = name.clone();
        }
    }
    mode
}
