//! A command as other agents' tools have it: a list of words, a time limit in milliseconds; and how
//! they wait for the output of one in the background.
//!
//! In: arguments of `execute_command` or `command_output` as written. Out: the same with a script
//! and seconds, or a sentence for the model where the effect would be another.

use serde_json::{Map, Value};

use crate::tools::CallError;
use crate::tools::aliases::decisive::DecisiveParameters;
use crate::tools::aliases::{CalledTool, is_true, number, parsed};
use locum_policy::command::tree;

/// How long `TaskOutput` waits unless it says otherwise, in milliseconds.
const TASK_OUTPUT_WAIT_MS: u64 = 30_000;

/// Parameters of `execute_command` that may not be ignored.
pub(crate) const DECISIVE: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "stdin std_in standard_input input input_data stdin_text chars",
        instead: "A command reads no input: write it into the script, as `<<'EOF'`.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "args arguments argv params parameters options flags",
        instead: "`command` holds the whole command line.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "env environment env_vars environment_variables variables",
        instead: "Write them in front of the command, as `NAME=value command`.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "sudo as_root root admin elevated privileged user username run_as \
                run_as_user uid group",
        instead: "Commands run with the rights of this run alone.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "host hostname remote machine container image pod",
        redundant: "localhost 127.0.0.1",
        instead: "Commands run in this checkout.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "shell interpreter executable",
        redundant: "true bash sh /bin/bash /bin/sh /usr/bin/bash /usr/bin/sh",
        instead: "Scripts are written for `bash`; call another interpreter in them.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "wait blocking wait_for_completion",
        redundant: "true",
        is_off_decisive: true,
        instead: "`background: true` starts a command that is not waited for.",
    },
    DecisiveParameters {
        names: "output_file output_path stdout_file redirect_to",
        instead: "Write `> FILE` behind the command.",
        ..DecisiveParameters::NONE
    },
];

/// Takes a command as a list of words, and a time limit in milliseconds.
pub(crate) fn command(
    of: CalledTool<'_>,
    fields: &mut Map<String, Value>,
) -> Result<(), CallError> {
    if let Some(Value::Array(words)) = fields.get("command").cloned().map(parsed) {
        let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
        let words = words.filter(|words| !words.is_empty()).ok_or_else(|| {
            CallError("`command` of `execute_command` is a list, but not of words.".to_owned())
        })?;
        let script = match words.as_slice() {
            ["bash" | "sh" | "/bin/bash" | "/bin/sh", "-c" | "-lc", script] => (*script).to_owned(),
            words => words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
        };
        fields.insert("command".to_owned(), script.into());
    }
    let in_ms = ["Bash", "shell", "local_shell", "container.exec"];
    let milliseconds = fields.remove("timeout_ms").or_else(|| {
        let of_peer = in_ms.iter().any(|name| name.eq_ignore_ascii_case(of.called.trim()));
        of_peer.then(|| fields.remove("timeout")).flatten()
    });
    if let Some(value) = milliseconds {
        fields.insert("timeout".to_owned(), seconds(&value)?.max(1).into());
    }
    Ok(())
}

/// Takes how long to wait for output: in milliseconds, and for `TaskOutput` whether at all.
pub(crate) fn output(of: CalledTool<'_>, fields: &mut Map<String, Value>) -> Result<(), CallError> {
    let milliseconds = if of.called.trim().eq_ignore_ascii_case("TaskOutput") {
        let waits = fields.remove("block").is_none_or(|value| is_true(&value));
        let limit = fields.remove("timeout").unwrap_or_else(|| TASK_OUTPUT_WAIT_MS.into());
        waits.then_some(limit)
    } else {
        fields.remove("yield_time_ms")
    };
    if let Some(value) = milliseconds {
        fields.entry("wait").or_insert(seconds(&value)?.into());
    }
    Ok(())
}

/// Reads milliseconds as seconds, rounded up.
fn seconds(milliseconds: &Value) -> Result<u64, CallError> {
    let seconds = number(milliseconds).map(|milliseconds| milliseconds.div_ceil(1000));
    seconds.ok_or_else(|| {
        CallError("The time limit must be a whole number of milliseconds.".to_owned())
    })
}

/// Writes a word for a shell, in quotes where it needs them.
fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_./-:=,@+%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        tree::quoted(word)
    }
}
