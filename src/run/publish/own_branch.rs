//! `OwnBranch`: a branch that an earlier run pushed for the same subject, and how this run changes
//! it. `PullRequestMarker`: the hidden line by which the pull request from it is found.
//!
//! In: facts of a run; bodies of pull requests and messages of commits. Out: lines and trailers,
//! and what they say. Whose pull request it is, is the forge's to say: anyone can write a line.

use serde::{Deserialize, Serialize};

use crate::run::marker::Marker;
use crate::run::plan::RunSubject;
use locum_agent::report::branch;
use locum_agent::report::commit::SUBJECT_TRAILER;
use locum_agent::report::markdown::{marker, marker_value};
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_forge::PullRequest;
use locum_forge::sanitise::{self, TextRefusal};
use locum_workspace::repo::CommitId;

/// A branch that an earlier run pushed for the same subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnBranch {
    /// Its name, without `refs/heads/`.
    pub name: String,
    /// The commit it is at.
    pub tip: CommitId,
    /// How this run changes it.
    pub update: BranchUpdate,
    /// The open pull request from it; `None` where opening one failed.
    pub pull_request: Option<OwnPullRequest>,
}

/// The name of the branch of its own that the change of a run gets, before it is checked.
pub struct OwnBranchName<'a> {
    template: &'a str,
    name: String,
}

impl<'a> OwnBranchName<'a> {
    /// Fills in the template, which is that of the policy or of an input.
    pub fn of(template: &'a str, subject: &RunSubject, task: &str) -> Self {
        let title = subject.title().unwrap_or(task);
        Self { template, name: branch::name(template, &subject.branch_words(), title) }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Returns the name with a dash and a tail behind it, where that is one of ours and not that of
    /// the base.
    ///
    /// # Errors
    /// When no branch of ours can have it.
    pub fn checked(
        &self,
        tail: Option<&str>,
        (base, redactor): (&str, &Redactor),
    ) -> Result<String, TextRefusal> {
        let prefix = self.template.split(['{', '/']).next().unwrap_or_default();
        let name = tail.map_or_else(|| self.name.clone(), |tail| format!("{}-{tail}", self.name));
        sanitise::branch_name(&name, prefix, base, redactor)
    }
}

/// How a run changes a branch that an earlier one pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchUpdate {
    /// It starts from its tip and adds a commit.
    OnTop,
    /// It starts from the base and does the same work again: its commit takes the place of the one
    /// that is there, unless both make the same change.
    Replaced,
}

/// A base that a run brings into a branch, whose conflicts it resolves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BaseMerge {
    /// Name of the base, without `refs/heads/`.
    pub branch: String,
    /// The commit it is at.
    pub tip: CommitId,
    /// Files that both sides changed in ways that contradict each other.
    pub conflicts: Vec<RepoPath>,
}

impl BaseMerge {
    /// Returns the message of the merge.
    pub fn message(branch: &str, into: &str, session: Option<&str>) -> String {
        let trailer =
            session.map_or_else(String::new, |session| format!("\nLocum-Session: {session}\n"));
        format!("Merge {branch} into {into}\n{trailer}")
    }
}

/// An open pull request of our own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnPullRequest {
    /// Number on the forge.
    pub number: u64,
    /// URL of its page.
    pub url: String,
    /// True when it is a draft.
    pub is_draft: bool,
    /// Name of its change; `None` where it has more than one commit of ours.
    pub change: Option<String>,
}

/// The hidden first line of a pull request: which run it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestMarker {
    session: String,
    subject: String,
    asked: String,
    head: String,
    change: Option<String>,
}

impl PullRequestMarker {
    /// Returns the line of a run's pull request. `asked` names what asked, across attempts.
    pub fn new(
        session: &str,
        (subject, asked): (&str, &str),
        head: &CommitId,
        change: Option<&str>,
    ) -> Self {
        Self {
            session: marker_value(session),
            subject: marker_value(subject),
            asked: marker_value(asked),
            head: marker_value(&head.0),
            change: change.map(marker_value),
        }
    }

    /// Returns the line.
    pub fn line(&self) -> String {
        let mut keys = vec![
            ("session", self.session.as_str()),
            ("subject", &self.subject),
            ("asked", &self.asked),
            ("head", &self.head),
        ];
        keys.extend(self.change.iter().map(|change| ("change", change.as_str())));
        marker("pull-request", &keys)
    }

    /// Reads the first line of a pull request's body; `None` unless we would write it ourselves,
    /// letter for letter.
    pub fn parse(body: &str) -> Option<Self> {
        let line = body.lines().next()?.trim_end();
        let marker = Marker::parse(line)?;
        let value = |key: &str| marker.get(key).map(str::to_owned);
        let read = Self {
            session: value("session")?,
            subject: value("subject")?,
            asked: value("asked")?,
            head: value("head")?,
            change: value("change"),
        };
        (read.line() == line).then_some(read)
    }

    /// Returns whether it is about a subject.
    pub fn is_about(&self, subject: &str) -> bool {
        self.subject == marker_value(subject)
    }

    /// Returns whether it was asked for by this.
    pub fn is_asked_by(&self, asked: &str) -> bool {
        self.asked == marker_value(asked)
    }

    /// Returns whether our last push left its branch at this commit.
    pub fn is_at(&self, tip: &CommitId) -> bool {
        self.head == tip.0
    }

    /// Returns the name of its change.
    pub fn change(&self) -> Option<&str> {
        self.change.as_deref()
    }
}

/// Returns what a commit of ours is about, by the last paragraph of its message.
pub fn subject_of(message: &str) -> Option<&str> {
    let trailers = message.trim_end().rsplit("\n\n").next()?;
    trailers.lines().find_map(|line| line.strip_prefix(SUBJECT_TRAILER)?.strip_prefix(": "))
}

/// Returns whether a pull request is one that Locum opened: by its author and the hidden line of
/// its description.
pub fn is_ours(pull_request: &PullRequest) -> bool {
    pull_request.is_own && PullRequestMarker::parse(&pull_request.body).is_some()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{PullRequestMarker, subject_of};
    use locum_workspace::repo::CommitId;

    #[test]
    fn only_the_line_that_we_write_names_a_pull_request() {
        let head = CommitId("0123".to_owned());
        for change in [None, Some("abcd")] {
            let written = PullRequestMarker::new("s1", ("job-a b", "comment-5"), &head, change);
            let line = written.line();
            assert_eq!(PullRequestMarker::parse(&format!("{line}\r\nText")), Some(written.clone()));
            assert!(written.is_about("job-a b") && !written.is_about("job-a"));
            assert!(written.is_asked_by("comment-5") && written.is_at(&head));
            for other in [
                format!("x {line}"),
                format!("\n{line}"),
                line.replace("asked", "asked=x asked"),
                line.replace(" -->", " more=1 -->"),
                line.replace("pull-request", "progress"),
            ] {
                assert_eq!(PullRequestMarker::parse(&other), None, "{other}");
            }
        }
    }

    #[test]
    fn a_commit_says_in_its_last_paragraph_what_it_is_about() {
        let ours = "Fix\n\nText.\n\nLocum-Session: 1\nLocum-Subject: issue-7\n";
        assert_eq!(subject_of(ours), Some("issue-7"));
        assert_eq!(subject_of("Fix\n\nLocum-Subject: issue-7\n\nText.\n"), None);
        assert_eq!(subject_of(""), None);
    }
}
