//! Pull requests from branches of the repository itself, as they are looked through to find our
//! own.

/// Which pull requests are looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullRequestFilter<'a> {
    /// All that are open.
    Open,
    /// The 300 that were closed or changed last, merged ones too.
    Closed,
    /// Those from one branch, open or not.
    From(&'a str),
}

/// A pull request of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPullRequest {
    /// Number in the repository.
    pub number: u64,
    /// URL of its page.
    pub url: String,
    /// Title as it is now.
    pub title: String,
    /// Body as it is now, in Markdown.
    pub body: String,
    /// Branch that would be changed.
    pub head_branch: String,
    /// Commit of that branch.
    pub head_sha: String,
    /// Branch it would be merged into.
    pub base_branch: String,
    /// Whether it is neither merged nor closed.
    pub is_open: bool,
    /// Whether it was merged.
    pub is_merged: bool,
    /// Whether it is a draft.
    pub is_draft: bool,
    /// Whether we opened it.
    pub is_own: bool,
}
