//! `multi_edit`: old and new texts of one file, of which all are made or none.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::file_edit::FileEdit;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::tool::ToolName;
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Edits of a file about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiEdit(FileEdit);

impl Tool for MultiEdit {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Change an existing file by several replacements, one after \
        another; all are made or none. Each `old_string` must stand in one place, letter for \
        letter.";
    const REQUIRED: &'static [&'static str] = &["path", "edits"];

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

    /// Checks the arguments and the mode's restriction.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place =
            arguments.place("path", "the file, relative to the repository root", context)?;
        let change: Option<FileChange> = arguments.mapped_value("edits");
        let change = change.ok_or_else(|| {
            CallError("`multi_edit` needs `edits`: a list of old and new texts.".to_owned())
        })?;
        arguments.finish()?;
        Ok(Self(FileEdit::checked(ToolName::MultiEdit, place, change, context)?))
    }

    fn intents(&self) -> Vec<Intent> {
        self.0.intents()
    }

    fn headline(&self) -> String {
        self.0.headline()
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        self.0.perform(permit, context)
    }

    fn content_after(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        self.0.content_after(before)
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
