//! `PublishRules`: the policy's section `publish` as written, with its defaults.
//!
//! In: nothing but its readers' values. Out: what a change becomes and who is concerned by it.

use std::collections::BTreeMap;

use crate::intent::PublicationKind;
use crate::pull_request::PullRequestDetails;

/// What is published and how.
#[derive(Clone, Debug)]
pub struct PublishRules {
    /// Kinds of publication allowed.
    pub allow: Vec<PublicationKind>,
    /// What a change becomes.
    pub publish_as: PublishAs,
    /// Template of the branch name: `{subject}` (`issue-12`, `job-docs`) and `{slug}` are filled
    /// in.
    pub branch: String,
    /// Whether pull requests start as drafts.
    pub draft: bool,
    /// What pull requests are given when they are opened.
    pub details: PullRequestDetails,
    /// Commands that must exit with 0 before a change is published as ready; else it is a draft and
    /// says so.
    pub success: Vec<String>,
    /// Whether `Closes #N` is written into the pull request of an issue.
    pub close_issues: bool,
    /// Who makes the commits that are published.
    pub sign: CommitSigner,
    /// Who is mentioned in the comment of a run that is over.
    pub notify: Notify,
}

/// Who is mentioned in the comment of a run that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// Who asked for the run.
    #[default]
    Asker,
    /// Nobody: the comment mentions no one.
    Nobody,
}

/// Who makes the commits that are published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommitSigner {
    /// Git, without a signature.
    #[default]
    Git,
    /// The forge, which signs them; what it does not sign is not published.
    Api,
}

impl Default for PublishRules {
    fn default() -> Self {
        Self {
            allow: vec![PublicationKind::Comment],
            publish_as: PublishAs::default(),
            branch: "locum/{subject}-{slug}".to_owned(),
            draft: true,
            details: PullRequestDetails::default(),
            success: Vec::new(),
            close_issues: false,
            sign: CommitSigner::Git,
            notify: Notify::Asker,
        }
    }
}

/// What a change becomes, by the mode of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishAs {
    /// In modes that are not named.
    pub otherwise: PublishForms,
    /// In these modes, by slug.
    pub modes: BTreeMap<String, PublishForm>,
}

impl PublishAs {
    /// Returns what a change becomes in a mode.
    pub fn in_mode(&self, mode: &str) -> PublishForms {
        self.modes.get(mode).map_or(self.otherwise, |form| PublishForms::of(*form))
    }
}

/// What a change becomes, by what the run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishForms {
    /// In runs for an issue, by hand and in jobs.
    pub issues: PublishForm,
    /// In runs on a pull request.
    pub pull_requests: PublishForm,
}

impl Default for PublishForms {
    fn default() -> Self {
        Self::of(PublishForm::PullRequest)
    }
}

impl PublishForms {
    /// Returns what one word means in both places: a pull request gets no second one, and only a
    /// pull request can be reviewed.
    pub fn of(form: PublishForm) -> Self {
        match form {
            PublishForm::PullRequest => {
                Self { issues: PublishForm::PullRequest, pull_requests: PublishForm::Commit }
            }
            PublishForm::Review => {
                Self { issues: PublishForm::Comment, pull_requests: PublishForm::Review }
            }
            PublishForm::Commit | PublishForm::Comment => {
                Self { issues: form, pull_requests: form }
            }
        }
    }
}

/// What a change becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishForm {
    /// A branch of its own and a pull request.
    PullRequest,
    /// A commit: on a pull request's own branch, elsewhere on a branch of its own; no pull request
    /// is opened.
    Commit,
    /// A review of the pull request whose comments suggest the change; nothing is pushed.
    Review,
    /// A comment that holds the diff.
    Comment,
}
