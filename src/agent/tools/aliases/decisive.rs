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
