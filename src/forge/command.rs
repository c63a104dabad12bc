//! `/locum ...` in a comment: found only at the start of a line, outside code, quotes and HTML comments.

/// A command as written in a comment.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CommentCommand {
    /// The first word after the prefix when it is a verb or could be a mode; the caller knows the modes.
    pub verb: Option<String>,
    /// `--flag`, `--flag=value`, in order.
    pub flags: Vec<(String, Option<String>)>,
    /// The rest of the line and the lines after it.
    pub text: String,
}

/// Finds the command of a comment; the first one counts. `None` when there is none.
#[must_use]
pub fn parse(_body: &str, _prefix: &str) -> Option<CommentCommand> {
    todo!()
}
