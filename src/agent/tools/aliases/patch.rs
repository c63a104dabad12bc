//! A patch that is given to a shell, as Codex does: `apply_patch <<'EOF'`, or `apply_patch` with
//! the patch as its argument.
//!
//! In: arguments of a command. Out: those of `apply_patch`, with the patch letter for letter and
//! the folder it is of as a [`FolderPatch`], or a sentence for the model where the command does
//! something else beside it.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::parsed;
use crate::tools::files::apply_patch::tool::FolderPatch;

const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// Whether the command of a call applies a patch.
pub(crate) fn is_patch(fields: &Map<String, Value>) -> bool {
    let names = |text: &str| {
        let word = text.trim_start().split([' ', '\t', '\n']).next().unwrap_or_default();
        NAMES.contains(&word)
    };
    match ["command", "cmd"].iter().find_map(|name| fields.get(*name)).cloned().map(parsed) {
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, option, script] if is_script(option) => begins(script).any(names),
                [first, ..] => NAMES.contains(first),
                [] => false,
            }
        }
        Some(Value::String(script)) => begins(&script).any(names),
        Some(_) | None => false,
    }
}

/// Takes the patch out of a command, and the folder that its paths are relative to.
pub(crate) fn patch(fields: &mut Map<String, Value>) -> Result<(), CallError> {
    if let Some(command) = fields.remove("command").or_else(|| fields.remove("cmd")) {
        fields.insert("patch".to_owned(), of_command(command)?.into());
        for name in ["timeout", "timeout_ms", "timeout_seconds", "timeout_secs"] {
            fields.remove(name);
        }
    }
    let names = ["workdir", "cwd", "working_directory", "working_dir", "directory", "dir_path"];
    for name in names {
        match fields.remove(name) {
            None => {}
            Some(Value::String(folder)) if matches!(folder.trim(), "" | "." | "./") => {}
            Some(Value::String(folder)) => {
                let Some(Value::String(patch)) = fields.remove("patch") else {
                    return Err(CallError(format!("`{name}` is given without one `patch`.")));
                };
                let patch = serde_json::to_value(FolderPatch { folder, patch })
                    .map_err(|_| CallError("The patch is no text.".to_owned()))?;
                fields.insert("patch".to_owned(), patch);
            }
            Some(_) => {
                return Err(CallError(format!("`{name}` of `apply_patch` must name a folder.")));
            }
        }
    }
    Ok(())
}

fn of_command(command: Value) -> Result<String, CallError> {
    let patch = match parsed(command) {
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [_, option, script] if is_script(option) => of_script(script),
                [name, patch] if NAMES.contains(name) => Some((*patch).to_owned()),
                _ => None,
            }
        }
        Value::String(script) => of_script(&script),
        _ => None,
    };
    patch.ok_or_else(|| {
        CallError(
            "A patch goes alone, from `*** Begin Patch` to `*** End Patch`, as `patch` of \
             `apply_patch`; what else the command does goes into a call of its own."
                .to_owned(),
        )
    })
}

fn is_script(option: &str) -> bool {
    matches!(option, "-c" | "-lc")
}

/// Returns the commands of the first line, of which the last may take the patch.
fn begins(script: &str) -> impl Iterator<Item = &str> {
    script.trim().lines().next().unwrap_or_default().split("&&")
}

/// Returns the patch of a script that does nothing else: a here-document, or one quoted word in
/// which the shell changes nothing.
fn of_script(script: &str) -> Option<String> {
    let rest = NAMES.iter().find_map(|name| script.trim().strip_prefix(name))?.trim_start();
    if let Some(document) = rest.strip_prefix("<<") {
        let (delimiter, body) = document.split_once('\n')?;
        let delimiter = delimiter.trim().trim_matches(['\'', '"']);
        let (body, last) = body.rsplit_once('\n')?;
        let ends_once = !body.lines().any(|line| line == delimiter);
        return (!delimiter.is_empty() && last.trim() == delimiter && ends_once)
            .then(|| body.to_owned());
    }
    let within = |mark: char| rest.strip_prefix(mark)?.strip_suffix(mark);
    within('\'')
        .filter(|text| !text.contains('\''))
        .or_else(|| within('"').filter(|text| !text.contains(['"', '\\', '$', '`'])))
        .map(str::to_owned)
}
