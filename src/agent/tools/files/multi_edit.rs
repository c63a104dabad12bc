//! `multi_edit`: old and new texts of one file, of which all are made or none.

use serde_json::{Value, json};

use crate::tools::CallError;
use crate::tools::aliases::decisive::{FILE_EDIT, LETTER_FOR_LETTER, PART_OF_FILE, TRIED_OUT};
use crate::tools::arguments::CallFields;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit_tool::EditTool;
use crate::tools::peer_words::{PATH, PeerWords};
use locum_base::tool::ToolName;

/// The tool that replaces texts of a file, all or none.
#[derive(Clone, Debug)]
pub struct MultiEdit;

impl EditTool for MultiEdit {
    const NAME: ToolName = ToolName::MultiEdit;
    const DESCRIPTION: &'static str = "Change an existing file by several replacements, one after \
        another; all are made or none. Each `old_string` must stand in one place, letter for \
        letter.";
    const REQUIRED: &'static [&'static str] = &["path", "edits"];
    const PEERS: PeerWords = PeerWords {
        renames: &[PATH],
        decisive: &[PART_OF_FILE, LETTER_FOR_LETTER, FILE_EDIT, TRIED_OUT],
        hook_names: &["MultiEdit", "Edit"],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string" },
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "old_string": { "type": "string" },
                        "new_string": { "type": "string" },
                        "replace_all": { "type": "boolean" }
                    },
                    "required": ["old_string", "new_string"]
                }
            }
        })
    }

    fn change(arguments: &mut CallFields) -> Result<FileChange, CallError> {
        arguments.mapped_value("edits").ok_or_else(|| {
            CallError("`multi_edit` needs `edits`: a list of old and new texts.".to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::json;

    #[test]
    fn all_edits_are_made_or_none() {
        let fixture = ToolFixture::new(&[("a", "one\ntwo\ntwo\n")]);
        let call = |edits: &[(&str, &str, bool)]| {
            let edit = |(old, new, all): &(&str, &str, bool)| json!({ "old_string": old, "new_string": new, "replace_all": all });
            let edits: Vec<_> = edits.iter().map(edit).collect();
            fixture.call("multi_edit", &json!({ "path": "a", "edits": edits }).to_string())
        };
        for (edits, expected) in [
            (
                &[("one", "1", false), ("two", "2", false)][..],
                "edit 2 of 2 does not fit, and all are made or none: the old text stands in \
                 several places, at lines 2 and 3. Give more",
            ),
            (&[("one", "1", false), ("three", "3", false)], "no lines of the file match"),
        ] {
            let done = call(edits);
            assert!(done.is_error && done.text.contains(expected), "{}", done.text);
            assert_eq!(fixture.content("a"), "one\ntwo\ntwo\n");
        }
        let done = call(&[("one", "1", false), ("two", "2", true)]);
        assert!(done.text.ends_with("it reads now:\n1 | 1\n2 | 2\n3 | 2"), "{}", done.text);
        assert_eq!(fixture.content("a"), "1\n2\n2\n");
    }
}
