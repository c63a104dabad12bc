//! The tool `apply_diff`: SEARCH/REPLACE blocks, or one old and new text as other agents send it.

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

/// A diff about to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyDiff(FileEdit);

impl Tool for ApplyDiff {
    const EFFECT: ToolEffect = ToolEffect::Edits;
    const DESCRIPTION: &'static str = "Change an existing file by one or more blocks, \
        each:\n<<<<<<< SEARCH\n:start_line:12\n-------\nthe lines to replace, exactly as they are \
        now\n=======\nthe new lines\n>>>>>>> REPLACE\nMarkers stand alone on their lines. Write \\ \
        before a line of the file that looks like a marker.";
    const REQUIRED: &'static [&'static str] = &["path", "diff"];

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Relative to the repository root" },
            "diff": { "type": "string", "description": "The blocks" }
        })
    }

    /// Checks the arguments and the mode's restriction.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let place =
            arguments.place("path", "the file, relative to the repository root", context)?;
        let change = match arguments.mapped_value("diff") {
            Some(change) => change,
            None => FileChange::Blocks(arguments.text("diff", "the SEARCH/REPLACE blocks")?),
        };
        arguments.finish()?;
        Ok(Self(FileEdit::checked(ToolName::ApplyDiff, place, change, context)?))
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
