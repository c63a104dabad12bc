//! `search_and_replace`: a text or a regular expression replaced as often as the call says.

use serde_json::{Value, json};

use crate::tools::CallError;
use crate::tools::aliases::decisive::{DecisiveParameters, FILE_EDIT, PART_OF_FILE, TRIED_OUT};
use crate::tools::arguments::CallFields;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::search::{MeantPlaces, SearchEdit, SearchSyntax};
use crate::tools::files::edit_tool::EditTool;
use crate::tools::peer_words::{PATH, PeerWords};
use locum_base::tool::ToolName;

/// The tool that replaces a text or a pattern.
#[derive(Clone, Debug)]
pub struct SearchAndReplace;

impl EditTool for SearchAndReplace {
    const NAME: ToolName = ToolName::SearchAndReplace;
    const DESCRIPTION: &'static str = "Replace a text, or a regular expression (Rust syntax), in exactly `count` places of a file.";
    const REQUIRED: &'static [&'static str] = &["path", "search", "replace"];
    const PEERS: PeerWords = PeerWords {
        renames: &[
            PATH,
            &[
                ("old_string", "search"),
                ("old_str", "search"),
                ("new_string", "replace"),
                ("new_str", "replace"),
                ("regex", "use_regex"),
                ("is_regex", "use_regex"),
                ("expected_replacements", "count"),
                ("replaceAll", "replace_all"),
                ("case_insensitive", "ignore_case"),
            ],
        ],
        lists_files: true,
        hook_names: &["Edit", "MultiEdit"],
        decisive: &[PART_OF_FILE, DECISIVE, FILE_EDIT, TRIED_OUT],
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string" },
            "search": { "type": "string" },
            "replace": { "type": "string", "description": "With `use_regex`, `$1` and `${name}` are groups" },
            "count": { "type": "integer", "description": "Default: 1" },
            "replace_all": { "type": "boolean" },
            "use_regex": { "type": "boolean" },
            "ignore_case": { "type": "boolean" },
            "start_line": { "type": "integer" },
            "end_line": { "type": "integer" }
        })
    }

    fn change(arguments: &mut CallFields) -> Result<FileChange, CallError> {
        search_edit(arguments).map(FileChange::Search)
    }
}

/// Takes what is searched for and what takes its place.
fn search_edit(arguments: &mut CallFields) -> Result<SearchEdit, CallError> {
    let search = arguments.text("search", "the text or pattern to replace")?;
    let replace = arguments.text("replace", "what takes its place")?;
    let count = arguments.optional_number("count", 1, "how many places have to be there")?;
    let every = arguments.flag("replace_all", false, "every place is meant")?;
    let is_regex = arguments.flag("use_regex", false, "`search` is a regular expression")?;
    let ignore_case = arguments.flag("ignore_case", false, "case makes no difference")?;
    let first = arguments.optional_number("start_line", 1, "the first line to look at")?;
    let last = arguments.optional_number("end_line", 1, "the last line to look at")?;
    let within = match (first, last) {
        (None, None) => None,
        (first, last) => Some((first.unwrap_or(1), last.unwrap_or(usize::MAX))),
    };
    if let Some((first, last)) = within.filter(|(first, last)| first > last) {
        return Err(CallError(format!(
            "`start_line` {first} of `search_and_replace` is behind `end_line` {last}."
        )));
    }
    let places = match (count, every) {
        (None, true) => MeantPlaces::Every,
        (Some(_), true) => {
            return Err(CallError(
                "`count` and `replace_all` of `search_and_replace` say different things; give one."
                    .to_owned(),
            ));
        }
        (count, false) => MeantPlaces::Exactly(count.unwrap_or(1)),
    };
    let syntax = if is_regex { SearchSyntax::Regex } else { SearchSyntax::Literal };
    Ok(SearchEdit { search, replace, syntax, ignore_case, places, within })
}

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[
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

#[cfg(test)]
mod tests {
    use crate::tools::files::known::KnownFiles;
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    const FILE: &str = "let a = 1;\nlet b = a;\nlet c = 3;\n";

    #[test]
    fn a_text_or_a_pattern_is_replaced_as_often_as_the_call_says() {
        for (arguments, expected) in [
            (json!({ "search": "= a", "replace": "= 2" }), FILE.replace("= a", "= 2")),
            (json!({ "search": "let", "replace": "var", "count": 3 }), FILE.replace("let", "var")),
            (
                json!({ "search": "let", "replace": "var", "replace_all": "true" }),
                FILE.replace("let", "var"),
            ),
            (
                json!({ "search": r"^LET (\w)", "replace": "$1:", "count": "3",
                    "use_regex": true, "ignore_case": true }),
                FILE.replace("let a", "a:").replace("let b", "b:").replace("let c", "c:"),
            ),
            // As Claude Code's and Roo's edits name them.
            (json!({ "old_string": "= a", "new_string": "" }), FILE.replace("= a", "")),
        ] {
            let fixture = ToolFixture::new(&[("a", FILE)]);
            let mut arguments = arguments;
            arguments["path"] = json!("a");
            let done = fixture.call("search_and_replace", &arguments.to_string());
            assert!(!done.is_error && done.text.contains("it reads now:"), "{}", done.text);
            assert_eq!(fixture.content("a"), expected, "{arguments}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_call_is_said_and_nothing_is_changed() {
        let mut fixture = ToolFixture::new(&[("a", FILE)]);
        for (arguments, expected) in [
            (
                json!({ "search": "let", "replace": "var" }),
                "3 places, at lines 1, 2 and 3, and 1 is",
            ),
            (json!({ "search": "var", "replace": "x", "count": 2 }), "`search` is not in the file"),
            (json!({ "search": "a(", "replace": "x", "use_regex": true }), "error: unclosed group"),
            (json!({ "search": "a", "replace": "$3", "use_regex": true }), "the group `3`"),
            (json!({ "search": "a", "replace": "b", "count": 0 }), "a whole number of at least 1"),
            (json!({ "search": "a", "replace": "b", "start_line": 3, "end_line": 2 }), "is behind"),
            (json!({ "search": "a", "replace": "b", "count": 2, "replace_all": true }), "give one"),
            (json!({ "search": "a" }), "needs `replace`"),
            (json!({ "search": "a", "replace": "b", "dry_run": true }), "no parameter `dry_run`"),
        ] {
            let mut arguments = arguments;
            arguments["path"] = json!("a");
            let done = fixture.call("search_and_replace", &arguments.to_string());
            assert!(done.is_error && done.text.contains(expected), "{arguments}: {}", done.text);
        }
        // Lines mean nothing to a model that has not seen them.
        fixture.known = Some(KnownFiles::default());
        let arguments = json!({ "path": "a", "search": "= a", "replace": "", "start_line": 2 });
        let done = fixture.call("search_and_replace", &arguments.to_string());
        assert!(done.is_error && done.text.contains("you have not read `a`"), "{}", done.text);
        assert_eq!(fixture.content("a"), FILE);
    }
}
