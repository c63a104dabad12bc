//! The tool `apply_diff`: SEARCH/REPLACE blocks, or one old and new text as other agents send it.

use serde_json::{Value, json};

use crate::tools::CallError;
use crate::tools::aliases::decisive::{
    FILE_EDIT, LETTER_FOR_LETTER, PART_OF_FILE, TRIED_OUT, WHOLE_OR_PART,
};
use crate::tools::arguments::CallFields;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit_tool::EditTool;
use crate::tools::peer_words::{PATH, PeerWords};
use locum_base::tool::ToolName;

/// The tool that replaces blocks of lines.
#[derive(Clone, Debug)]
pub struct ApplyDiff;

impl EditTool for ApplyDiff {
    const NAME: ToolName = ToolName::ApplyDiff;
    const DESCRIPTION: &'static str = "Change an existing file by one or more blocks, \
        each:\n<<<<<<< SEARCH\n:start_line:12\n-------\nthe lines to replace, exactly as they are \
        now\n=======\nthe new lines\n>>>>>>> REPLACE\nMarkers stand alone on their lines. Write \\ \
        before a line of the file that looks like a marker.";
    const REQUIRED: &'static [&'static str] = &["path", "diff"];
    const PEERS: PeerWords = PeerWords {
        renames: &[PATH],
        lists_files: true,
        hook_names: &["Edit", "MultiEdit"],
        decisive: &[WHOLE_OR_PART, PART_OF_FILE, LETTER_FOR_LETTER, FILE_EDIT, TRIED_OUT],
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string", "description": "Relative to the repository root" },
            "diff": { "type": "string", "description": "The blocks" }
        })
    }

    fn change(arguments: &mut CallFields) -> Result<FileChange, CallError> {
        match arguments.mapped_value("diff") {
            Some(change) => Ok(change),
            None => Ok(FileChange::Blocks(arguments.text("diff", "the SEARCH/REPLACE blocks")?)),
        }
    }
}
