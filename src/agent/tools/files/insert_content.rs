//! `insert_content`: lines put in before a line, or at the end of a file.

use serde_json::{Value, json};

use crate::tools::CallError;
use crate::tools::aliases::decisive::{
    DecisiveParameters, FILE_EDIT, ONE_FILE, TRIED_OUT, WHOLE_OR_PART,
};
use crate::tools::arguments::CallFields;
use crate::tools::files::edit::FileChange;
use crate::tools::files::edit::insertion::{Insertion, InsertionPlace};
use crate::tools::files::edit_tool::EditTool;
use crate::tools::peer_words::{PATH, PeerWords};
use locum_base::tool::ToolName;

/// The tool that puts lines into a file.
#[derive(Clone, Debug)]
pub struct InsertContent;

impl EditTool for InsertContent {
    const NAME: ToolName = ToolName::InsertContent;
    const DESCRIPTION: &'static str = "Put lines into an existing file without changing others: \
        before a line, or with `line: 0` at the end.";
    const REQUIRED: &'static [&'static str] = &["path", "line", "line_text", "content"];
    const PEERS: PeerWords = PeerWords {
        renames: &[PATH, &[("text", "content"), ("line_number", "line")]],
        lists_files: true,
        hook_names: &["Edit", "MultiEdit"],
        decisive: &[WHOLE_OR_PART, DECISIVE, ONE_FILE, FILE_EDIT, TRIED_OUT],
    };

    fn properties() -> Value {
        json!({
            "path": { "type": "string" },
            "line": { "type": "integer", "description": "The line they go before, as read_file numbers it; 0 for the end" },
            "line_text": { "type": "string", "description": "What that line holds now, or it and lines below it where it stands several times; empty for the end" },
            "content": { "type": "string" }
        })
    }

    fn change(arguments: &mut CallFields) -> Result<FileChange, CallError> {
        let insertion = match arguments.mapped_value("content") {
            Some(insertion) => insertion,
            None => insertion(arguments)?,
        };
        Ok(FileChange::Insertion(insertion))
    }
}

/// Takes the lines and their place.
fn insertion(arguments: &mut CallFields) -> Result<Insertion, CallError> {
    let meaning = "the line to put the lines before; 0 puts them at the end";
    let line = arguments
        .optional_number("line", 0, meaning)?
        .ok_or_else(|| CallError(format!("`insert_content` needs `line`: {meaning}.")))?;
    let lines = arguments.optional_text("line_text", "what that line holds now")?;
    let text = arguments.text("content", "the lines to put in")?;
    let names_line = lines.as_ref().is_some_and(|lines| !lines.trim().is_empty());
    let place = match line {
        0 if names_line => {
            return Err(CallError(
                "`line: 0` of `insert_content` is the end, where no line stands, and `line_text` \
                 names one; give the number of that line, or leave `line_text` empty."
                    .to_owned(),
            ));
        }
        0 => InsertionPlace::End,
        line => InsertionPlace::Before { line, lines },
    };
    Ok(Insertion { place, text })
}

/// Parameters that may not be ignored here.
const DECISIVE: &[DecisiveParameters] = &[
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

#[cfg(test)]
mod tests {
    use crate::tools::files::known::KnownFiles;
    use crate::tools::fixture::ToolFixture;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    fn refused(fixture: &ToolFixture, arguments: Value) -> String {
        let done = fixture.call("insert_content", &arguments.to_string());
        assert!(done.is_error && done.touched.is_empty(), "{done:?}");
        done.text
    }

    #[test]
    fn lines_go_before_the_line_that_is_named_and_the_answer_shows_them() {
        let fixture = ToolFixture::new(&[("a", "one\ntwo\n")]);
        let arguments = json!({ "path": "a", "line": 2, "line_text": "two", "content": "new\n" });
        assert_eq!(
            fixture.call("insert_content", &arguments.to_string()).text,
            "Changed `a`: lines 2-2 (+1 -0). No need to read it again; it reads now:\n1 | one\n2 | \
             new\n3 | two"
        );
        let arguments = json!({ "path": "a", "line": "0", "content": "last" });
        assert!(!fixture.call("insert_content", &arguments.to_string()).is_error);
        assert_eq!(fixture.content("a"), "one\nnew\ntwo\nlast\n");
    }

    #[test]
    fn a_number_alone_needs_a_file_that_was_read_and_the_call_sent_again() {
        let mut fixture = ToolFixture::new(&[("a", "one\ntwo\n")]);
        fixture.known = Some(KnownFiles::default());
        let arguments = json!({ "path": "a", "line": 2, "content": "new" });
        assert!(refused(&fixture, arguments.clone()).contains("you have not read `a`"));
        let noted = |fixture: &mut ToolFixture, name: &str, arguments: &Value| {
            let done = fixture.call(name, &arguments.to_string());
            let known = fixture.known.get_or_insert_default();
            known.note(&done.seen, done.unconfirmed.as_ref());
            known.replied();
            done
        };
        noted(&mut fixture, "read_file", &json!({ "path": "a" }));
        let asked = noted(&mut fixture, "insert_content", &arguments);
        assert!(asked.text.contains("only a number says so"), "{}", asked.text);
        // Another line is another question.
        let other = json!({ "path": "a", "line": 1, "content": "new" });
        assert!(fixture.call("insert_content", &other.to_string()).is_error);
        assert!(!noted(&mut fixture, "insert_content", &arguments).is_error);
        assert_eq!(fixture.content("a"), "one\nnew\ntwo\n");
    }

    #[test]
    fn what_is_wrong_with_a_call_is_said() {
        let fixture = ToolFixture::new(&[("a", "one\n"), ("image", "\0")]);
        for (arguments, expected) in [
            (json!({ "path": "b", "line": 1, "content": "x" }), "`b` does not exist"),
            (json!({ "path": "image", "line": 1, "content": "x" }), "a binary file"),
            (json!({ "path": "../a", "line": 1, "content": "x" }), "../a"),
            (json!({ "path": "a", "content": "x" }), "`insert_content` needs `line`"),
            (json!({ "path": "a", "line": -1, "content": "x" }), "a whole number of at least 0"),
            (json!({ "path": "a", "line": 1 }), "needs `content`"),
            (json!({ "path": "a", "line": 9, "content": "x" }), "the file has 1 line, and the"),
            (
                json!({ "path": "a", "line": 0, "line_text": "one", "content": "x" }),
                "`line_text` names one",
            ),
            (
                json!({ "path": "a", "line": 1, "content": "x", "position": "after" }),
                "has no parameter `position`",
            ),
            (json!({ "path": "a", "line": 0, "content": "" }), "there is no text to insert"),
            (
                json!({ "path": "a", "line": 1, "line_text": "x", "content": "y" }),
                "no lines near line 1 match `line_text`",
            ),
            (
                json!({ "path": "a", "line": 0, "content": "x", "overwrite_line": true }),
                "has no parameter `overwrite_line`",
            ),
        ] {
            let text = refused(&fixture, arguments.clone());
            assert!(text.contains(expected), "{arguments}: {text}");
        }
        assert_eq!(fixture.content("a"), "one\n");
    }
}
