//! Parameters that a tool does not have and that may not be ignored: a call that gives one asks for
//! another effect than the tool would have without it. Here are those of several tools; those of
//! one stand with it. `docs/tools.md` lists them for readers.

/// Parameters of other tools, with one meaning, that change what a call does.
#[derive(Debug)]
pub(crate) struct DecisiveParameters {
    /// Their names, with blanks between them; case, `_` and `-` make no difference.
    pub(crate) names: &'static str,
    /// Values, with blanks between them, that ask for what the tool does anyway.
    pub(crate) redundant: &'static str,
    /// Whether `false` is none of those.
    pub(crate) is_off_decisive: bool,
    /// What to write instead: whole sentences.
    pub(crate) instead: &'static str,
}

/// Lists of such parameters; the first row with a name counts.
pub(crate) type DecisiveLists = &'static [&'static [DecisiveParameters]];

impl DecisiveParameters {
    /// No names, and no value that asks for what the tool does anyway.
    pub(crate) const NONE: Self =
        Self { names: "", redundant: "", is_off_decisive: false, instead: "" };
}

/// Parameters of tools that write files in another way.
pub(crate) const WHOLE_OR_PART: &[DecisiveParameters] = &[DecisiveParameters {
    names: "append prepend insert insert_line insert_text search replace replace_all \
                old_string old_str old_text new_string new_str new_text edits patch",
    instead: "`apply_diff` changes a part of a file, in one way a call; `write_to_file` \
                  writes a whole one.",
    ..DecisiveParameters::NONE
}];

/// Parameters that write a whole file.
pub(crate) const PART_OF_FILE: &[DecisiveParameters] = &[DecisiveParameters {
    names: "content",
    instead: "It changes a part of a file; `write_to_file` writes a whole one.",
    ..DecisiveParameters::NONE
}];

/// Parameters of a search that is not letter for letter.
pub(crate) const LETTER_FOR_LETTER: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "regex use_regex is_regex regexp",
        instead: "The text to replace is taken letter for letter.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "whole_word whole_words match_whole_word ignore_case case_insensitive i flags",
        instead: "The text to replace is taken letter for letter; `search_and_replace` takes \
                  regular expressions.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "case_sensitive match_case",
        redundant: "true",
        is_off_decisive: true,
        instead: "The text to replace is taken letter for letter; `search_and_replace` has \
                  `ignore_case`.",
    },
    DecisiveParameters {
        names: "expected_replacements count max_replacements max_count replace_count limit \
                occurrence occurrences nth instance",
        redundant: "1",
        instead: "Give more of the text around the place that is meant; `search_and_replace` has \
                  `count`.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters that would do more to a file, or to others.
pub(crate) const ONE_FILE: &[DecisiveParameters] = &[DecisiveParameters {
    names: "recursive force overwrite replace replace_line replace_lines overwrite_line \
                end_line copy keep_original",
    instead: "One file is moved or deleted, and never over another; lines are put in and \
                  none is replaced.",
    ..DecisiveParameters::NONE
}];

/// Parameters of edits that are tried, or leave a copy.
pub(crate) const FILE_EDIT: &[DecisiveParameters] = &[DecisiveParameters {
    names: "check backup create_backup make_backup",
    instead: "An edit is made at once and without a copy; git has what was committed.",
    ..DecisiveParameters::NONE
}];

/// Parameters of calls that are only tried out.
pub(crate) const TRIED_OUT: &[DecisiveParameters] = &[DecisiveParameters {
    names: "dry_run preview check_only validate_only preview_only simulate what_if \
                no_op",
    instead: "Nothing is tried out here: a call is made, or it is not.",
    ..DecisiveParameters::NONE
}];

/// Parameters of one tool.
pub(crate) const WRITE: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "insert_at insert_after insert_before position line line_number start_line \
                end_line line_range offset diff",
        instead: "It writes whole files; `apply_diff` changes a part of one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "mode write_mode file_mode open_mode operation action",
        redundant: "w wt wb w+ write overwrite replace create 644 0644",
        instead: "It writes whole files; `apply_diff` changes a part of one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "overwrite allow_overwrite overwrite_existing replace_existing",
        redundant: "true",
        is_off_decisive: true,
        instead: "It replaces a file that exists; `list_files` shows whether there is one.",
    },
    DecisiveParameters {
        names: "create_only only_create if_not_exists no_overwrite no_clobber",
        instead: "It replaces a file that exists; `list_files` shows whether there is one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "encoding content_encoding base64 is_base64",
        redundant: "utf-8 utf8 ascii us-ascii text plain",
        instead: "`content` is written as it is, in UTF-8.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters of one tool.
pub(crate) const REPLACE: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "whole_word whole_words match_whole_word word w",
        instead: "Say it in `search` with `use_regex`: `\\bword\\b`.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "case_sensitive match_case",
        redundant: "true",
        is_off_decisive: true,
        instead: "Give `ignore_case: true`.",
    },
    DecisiveParameters {
        names: "multiline dotall dot_all single_line flags regex_flags",
        instead: "`^` and `$` match at lines; say anything else in `search`, as `(?s)` or `(?i)`.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "max_replacements max_count replace_count limit occurrence occurrences nth \
                instance first_only",
        instead: "`count` is how many places there are, and all of them are replaced. Give more of \
                  the text around the one that is meant.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "file_pattern glob include files recursive operations",
        instead: "It changes one file; make a call for each.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters of one tool.
pub(crate) const INSERT: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "position placement where side insert_position",
        redundant: "before",
        instead: "Lines go before `line`. To put them after a line, name the next one.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "after after_line insert_after before before_line insert_before at_end",
        instead: "Lines go before `line`. To put them after a line, name the next one.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters of one tool.
pub(crate) const PATCH: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "reverse revert undo",
        instead: "Write the patch as the change that you want.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "strip base_dir root",
        redundant: ". ./",
        instead: "Paths of a patch are relative to the repository root.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters of one tool.
pub(crate) const COMMAND_OUTPUT: &[DecisiveParameters] = &[DecisiveParameters {
    names: "stdin input chars",
    instead: "A command in the background reads no input: end it with `stop_command`, and \
                  start it with its input in the script, as `<<'EOF'`.",
    ..DecisiveParameters::NONE
}];

/// Parameters of one tool.
pub(crate) const FETCH: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "method http_method body data json form payload",
        redundant: "get",
        instead: "It reads pages, with `GET` and without a body.",
        ..DecisiveParameters::NONE
    },
    DecisiveParameters {
        names: "params query query_params",
        instead: "Write them into `url`.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters of one tool.
pub(crate) const SEARCH: &[DecisiveParameters] = &[DecisiveParameters {
    names: "multiline invert_match v fixed_strings literal whole_word w",
    instead: "Say it in `regex`, which is looked for in each line.",
    ..DecisiveParameters::NONE
}];

/// Parameters of one tool.
pub(crate) const COMPLETION: &[DecisiveParameters] = &[
    DecisiveParameters {
        names: "success succeeded successful complete completed",
        redundant: "true",
        is_off_decisive: true,
        instead: "Say it with `status`.",
    },
    DecisiveParameters {
        names: "outcome failed failure partial error",
        redundant: "done",
        instead: "Say it with `status`.",
        ..DecisiveParameters::NONE
    },
];

/// Parameters of one tool.
pub(crate) const COMMAND: &[DecisiveParameters] = &[
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
