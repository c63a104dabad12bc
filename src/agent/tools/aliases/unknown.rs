//! Parameters that a tool does not have. They are ignored, and the answer says so, except the few
//! in [`DECISIVE`]: a call that gives one of those asks for another effect than the tool would have
//! without it.
//!
//! In: the tool, and a parameter as written. Out: whether it may be ignored, what to write instead
//! where it may not, and the note for the answer.

use serde_json::Value;

use crate::tools::arguments::quoted;
use locum_base::text::head;
use locum_base::tool::ToolName;
use locum_files::fields::nearest;

/// Most names in a note.
const NAMES_LIMIT: usize = 8;

/// Longest name in a note, in bytes.
const NAME_LIMIT_BYTES: usize = 40;

/// Parameters of other tools, with one meaning, that change what a call does.
#[derive(Debug)]
struct DecisiveParameters {
    /// The tools where this is so.
    tools: &'static [ToolName],
    /// Their names, with blanks between them; case, `_` and `-` make no difference.
    names: &'static str,
    /// Values, with blanks between them, that ask for what the tool does anyway.
    redundant: &'static str,
    /// Whether `false` is none of those.
    is_off_decisive: bool,
    /// What to write instead: whole sentences.
    instead: &'static str,
}

const ROW: DecisiveParameters = DecisiveParameters {
    tools: &[],
    names: "",
    redundant: "",
    is_off_decisive: false,
    instead: "",
};

const BLOCKS: &[ToolName] = &[ToolName::ApplyDiff, ToolName::MultiEdit];
const COMMAND: &[ToolName] = &[ToolName::ExecuteCommand];
const COMMAND_OUTPUT: &[ToolName] = &[ToolName::CommandOutput];
const COMPLETION: &[ToolName] = &[ToolName::AttemptCompletion];
const FETCH: &[ToolName] = &[ToolName::WebFetch];
const FILE: &[ToolName] = &[ToolName::WriteToFile, ToolName::ApplyDiff, ToolName::InsertContent];
const PARTS: &[ToolName] =
    &[ToolName::ApplyDiff, ToolName::MultiEdit, ToolName::SearchAndReplace, ToolName::NotebookEdit];
const PLACES: &[ToolName] = &[ToolName::DeleteFile, ToolName::MoveFile, ToolName::InsertContent];
const FILES: &[ToolName] = &[
    ToolName::WriteToFile,
    ToolName::ApplyDiff,
    ToolName::MultiEdit,
    ToolName::SearchAndReplace,
    ToolName::InsertContent,
    ToolName::NotebookEdit,
    ToolName::DeleteFile,
    ToolName::MoveFile,
    ToolName::ApplyPatch,
];
const EFFECTS: &[ToolName] = &[
    ToolName::WriteToFile,
    ToolName::ApplyDiff,
    ToolName::MultiEdit,
    ToolName::SearchAndReplace,
    ToolName::InsertContent,
    ToolName::NotebookEdit,
    ToolName::DeleteFile,
    ToolName::MoveFile,
    ToolName::ApplyPatch,
    ToolName::GenerateImage,
    ToolName::ExecuteCommand,
    ToolName::UseMcpTool,
];
const PATCH: &[ToolName] = &[ToolName::ApplyPatch];
const INSERT: &[ToolName] = &[ToolName::InsertContent];
const REPLACE: &[ToolName] = &[ToolName::SearchAndReplace];
const SEARCH: &[ToolName] = &[ToolName::SearchFiles];
const WRITE: &[ToolName] = &[ToolName::WriteToFile];

/// The parameters that are refused. `docs/tools.md` lists them for readers.
const DECISIVE: &[DecisiveParameters] = &[
    DecisiveParameters {
        tools: FILE,
        names: "append prepend insert insert_line insert_text search replace replace_all \
                old_string old_str old_text new_string new_str new_text edits patch",
        instead: "`apply_diff` changes a part of a file, in one way a call; `write_to_file` \
                  writes a whole one.",
        ..ROW
    },
    DecisiveParameters {
        tools: WRITE,
        names: "insert_at insert_after insert_before position line line_number start_line \
                end_line line_range offset diff",
        instead: "It writes whole files; `apply_diff` changes a part of one.",
        ..ROW
    },
    DecisiveParameters {
        tools: WRITE,
        names: "mode write_mode file_mode open_mode operation action",
        redundant: "w wt wb w+ write overwrite replace create 644 0644",
        instead: "It writes whole files; `apply_diff` changes a part of one.",
        ..ROW
    },
    DecisiveParameters {
        tools: WRITE,
        names: "overwrite allow_overwrite overwrite_existing replace_existing",
        redundant: "true",
        is_off_decisive: true,
        instead: "It replaces a file that exists; `list_files` shows whether there is one.",
    },
    DecisiveParameters {
        tools: WRITE,
        names: "create_only only_create if_not_exists no_overwrite no_clobber",
        instead: "It replaces a file that exists; `list_files` shows whether there is one.",
        ..ROW
    },
    DecisiveParameters {
        tools: WRITE,
        names: "encoding content_encoding base64 is_base64",
        redundant: "utf-8 utf8 ascii us-ascii text plain",
        instead: "`content` is written as it is, in UTF-8.",
        ..ROW
    },
    DecisiveParameters {
        tools: PARTS,
        names: "content",
        instead: "It changes a part of a file; `write_to_file` writes a whole one.",
        ..ROW
    },
    DecisiveParameters {
        tools: BLOCKS,
        names: "regex use_regex is_regex regexp",
        instead: "The text to replace is taken letter for letter.",
        ..ROW
    },
    DecisiveParameters {
        tools: BLOCKS,
        names: "whole_word whole_words match_whole_word ignore_case case_insensitive i flags",
        instead: "The text to replace is taken letter for letter; `search_and_replace` takes \
                  regular expressions.",
        ..ROW
    },
    DecisiveParameters {
        tools: BLOCKS,
        names: "case_sensitive match_case",
        redundant: "true",
        is_off_decisive: true,
        instead: "The text to replace is taken letter for letter; `search_and_replace` has \
                  `ignore_case`.",
    },
    DecisiveParameters {
        tools: BLOCKS,
        names: "expected_replacements count max_replacements max_count replace_count limit \
                occurrence occurrences nth instance",
        redundant: "1",
        instead: "Give more of the text around the place that is meant; `search_and_replace` has \
                  `count`.",
        ..ROW
    },
    DecisiveParameters {
        tools: REPLACE,
        names: "whole_word whole_words match_whole_word word w",
        instead: "Say it in `search` with `use_regex`: `\\bword\\b`.",
        ..ROW
    },
    DecisiveParameters {
        tools: REPLACE,
        names: "case_sensitive match_case",
        redundant: "true",
        is_off_decisive: true,
        instead: "Give `ignore_case: true`.",
    },
    DecisiveParameters {
        tools: REPLACE,
        names: "multiline dotall dot_all single_line flags regex_flags",
        instead: "`^` and `$` match at lines; say anything else in `search`, as `(?s)` or `(?i)`.",
        ..ROW
    },
    DecisiveParameters {
        tools: REPLACE,
        names: "max_replacements max_count replace_count limit occurrence occurrences nth \
                instance first_only",
        instead: "`count` is how many places there are, and all of them are replaced. Give more of \
                  the text around the one that is meant.",
        ..ROW
    },
    DecisiveParameters {
        tools: REPLACE,
        names: "file_pattern glob include files recursive operations",
        instead: "It changes one file; make a call for each.",
        ..ROW
    },
    DecisiveParameters {
        tools: INSERT,
        names: "position placement where side insert_position",
        redundant: "before",
        instead: "Lines go before `line`. To put them after a line, name the next one.",
        ..ROW
    },
    DecisiveParameters {
        tools: INSERT,
        names: "after after_line insert_after before before_line insert_before at_end",
        instead: "Lines go before `line`. To put them after a line, name the next one.",
        ..ROW
    },
    DecisiveParameters {
        tools: PLACES,
        names: "recursive force overwrite replace replace_line replace_lines overwrite_line \
                end_line copy keep_original",
        instead: "One file is moved or deleted, and never over another; lines are put in and \
                  none is replaced.",
        ..ROW
    },
    DecisiveParameters {
        tools: PATCH,
        names: "reverse revert undo",
        instead: "Write the patch as the change that you want.",
        ..ROW
    },
    DecisiveParameters {
        tools: PATCH,
        names: "strip base_dir root",
        redundant: ". ./",
        instead: "Paths of a patch are relative to the repository root.",
        ..ROW
    },
    DecisiveParameters {
        tools: FILES,
        names: "check backup create_backup make_backup",
        instead: "An edit is made at once and without a copy; git has what was committed.",
        ..ROW
    },
    DecisiveParameters {
        tools: EFFECTS,
        names: "dry_run preview check_only validate_only preview_only simulate what_if \
                no_op",
        instead: "Nothing is tried out here: a call is made, or it is not.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "stdin std_in standard_input input input_data stdin_text chars",
        instead: "A command reads no input: write it into the script, as `<<'EOF'`.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND_OUTPUT,
        names: "stdin input chars",
        instead: "A command in the background reads no input: end it with `stop_command`, and \
                  start it with its input in the script, as `<<'EOF'`.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "args arguments argv params parameters options flags",
        instead: "`command` holds the whole command line.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "env environment env_vars environment_variables variables",
        instead: "Write them in front of the command, as `NAME=value command`.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "sudo as_root root admin elevated privileged user username run_as \
                run_as_user uid group",
        instead: "Commands run with the rights of this run alone.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "host hostname remote machine container image pod",
        redundant: "localhost 127.0.0.1",
        instead: "Commands run in this checkout.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "shell interpreter executable",
        redundant: "true bash sh /bin/bash /bin/sh /usr/bin/bash /usr/bin/sh",
        instead: "Scripts are written for `bash`; call another interpreter in them.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "wait blocking wait_for_completion",
        redundant: "true",
        is_off_decisive: true,
        instead: "`background: true` starts a command that is not waited for.",
    },
    DecisiveParameters {
        tools: COMMAND,
        names: "output_file output_path stdout_file redirect_to",
        instead: "Write `> FILE` behind the command.",
        ..ROW
    },
    DecisiveParameters {
        tools: FETCH,
        names: "method http_method body data json form payload",
        redundant: "get",
        instead: "It reads pages, with `GET` and without a body.",
        ..ROW
    },
    DecisiveParameters {
        tools: FETCH,
        names: "params query query_params",
        instead: "Write them into `url`.",
        ..ROW
    },
    DecisiveParameters {
        tools: SEARCH,
        names: "multiline invert_match v fixed_strings literal whole_word w",
        instead: "Say it in `regex`, which is looked for in each line.",
        ..ROW
    },
    DecisiveParameters {
        tools: COMPLETION,
        names: "success succeeded successful complete completed",
        redundant: "true",
        is_off_decisive: true,
        instead: "Say it with `status`.",
    },
    DecisiveParameters {
        tools: COMPLETION,
        names: "outcome failed failure partial error",
        redundant: "done",
        instead: "Say it with `status`.",
        ..ROW
    },
];

/// Returns what to write instead of a parameter that is not known and may not be ignored.
pub(crate) fn instead_of(tool: ToolName, name: &str, value: &Value) -> Option<&'static str> {
    let name = plain(name);
    let is_of = |row: &&DecisiveParameters| {
        row.tools.contains(&tool) && row.names.split_whitespace().any(|one| plain(one) == name)
    };
    let row = DECISIVE.iter().find(is_of)?;
    let text = match value {
        Value::String(text) => text.trim().to_lowercase(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    };
    let is_redundant = row.redundant.split_whitespace().any(|one| one == text);
    let asks_for_nothing = if text == "false" { !row.is_off_decisive } else { is_nothing(value) };
    (!is_redundant && !asks_for_nothing).then_some(row.instead)
}

/// Says which arguments were ignored, and which parameters there are; nothing for none.
pub(crate) fn note(tool: ToolName, ignored: &[String], known: &[&str]) -> String {
    if ignored.is_empty() {
        return String::new();
    }
    let shown = |name: &String| head(&name.escape_debug().to_string(), NAME_LIMIT_BYTES).to_owned();
    let names: Vec<String> = ignored.iter().take(NAMES_LIMIT).map(shown).collect();
    let more = match ignored.len().saturating_sub(NAMES_LIMIT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let near = match names.as_slice() {
        [one] => nearest(one, known).map(|near| format!(" Did you mean `{near}`?")),
        _ => None,
    };
    format!(
        "\n\n(Ignored: {}{more}. `{tool}` takes {}.{})",
        quoted(&names),
        quoted(known),
        near.unwrap_or_default()
    )
}

/// Whether a value says nothing.
pub(crate) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is_on) => !is_on,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Returns a name as it is compared: `dryRun`, `dry-run` and `dry_run` are one.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| !"_-".contains(*letter)).flat_map(char::to_lowercase).collect()
}
