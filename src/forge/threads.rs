//! Threads of comments on lines of a pull request, as the forge keeps them: open or resolved,
//! answered, voted down.

/// A thread on lines of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewThread {
    /// Name at the forge, by which it is resolved.
    pub id: String,
    /// Id of the comment that opened it.
    pub first: u64,
    /// Whether we wrote that comment.
    pub is_own: bool,
    /// Whether somebody marked it as resolved.
    pub is_resolved: bool,
    /// How many voted the first comment down.
    pub down_votes: u64,
    /// How many comments of others follow it.
    pub answers: u64,
}
