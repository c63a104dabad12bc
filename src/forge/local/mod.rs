//! `local`: writes what would be posted into a folder, one numbered file per posting; a comment or
//! pull request posted again changes its file.
//!
//! Comments and pull requests are Markdown as they would be posted (a pull request under a line of
//! JSON with its branches), reactions and labels are JSON. The user at the command line is asked
//! nothing: it is their own checkout.

#![expect(clippy::disallowed_methods, reason = "this forge is a folder")]

use std::fs;
use std::path::{Path, PathBuf};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::alerts::AlertSource;
use crate::checks::FailedCheck;
use crate::commits::{CommitAuthor, ForgeCommit};
use crate::event::{EventChecks, EventSubject};
use crate::posts::{OwnReaction, Posting, ReactionTarget, Receipt};
use crate::pull_requests::{ListedPullRequest, PullRequestFilter};
use crate::threads::ReviewThread;
use crate::{
    CommentableLines, Forge, ForgeError, ForgePermission, ListedCommit, OwnComment, OwnIssue,
    PlacedComment, PullRequest, Thread, ThreadComment,
};
use locum_policy::Permit;

/// Name in errors and receipts.
const NAME: &str = "local";

/// A folder that takes what would be posted.
pub struct LocalForge {
    folder: PathBuf,
}

impl LocalForge {
    /// Prepares the forge; the folder is made at the first posting.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    fn publish(&self, posting: &Posting) -> Result<Receipt, ForgeError> {
        fs::create_dir_all(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let (kind, page) = match posting {
            Posting::Comment { number, body, .. } => {
                (format!("comment-{number}"), Some(body.clone()))
            }
            Posting::Reply { comment, body, .. }
            | Posting::DiscussionReply { comment, body, .. } => {
                (format!("reply-{comment}"), Some(body.clone()))
            }
            Posting::Review { number, .. } => (format!("review-{number}"), None),
            Posting::Resolution { number, .. } => (format!("resolution-{number}"), None),
            Posting::PullRequest { head, base, title, body, draft } => {
                // The first line names the branch only, so that a new base or title changes the
                // same file.
                let (line, facts) =
                    (json!({ "head": head }), json!({ "base": base, "draft": draft }));
                let page = format!("<!-- {line} -->\n<!-- {facts} -->\n# {title}\n\n{body}");
                ("pull-request".to_owned(), Some(page))
            }
            Posting::Issue { title, body, .. } => {
                ("issue".to_owned(), Some(format!("{body}\n\n(title: {title})")))
            }
            Posting::Withdrawal(_) => ("withdrawal".to_owned(), None),
            Posting::Reaction { .. } => ("reaction".to_owned(), None),
            Posting::CheckRun(check) => {
                let is_plain = |letter: char| letter.is_ascii_alphanumeric();
                let name = check.name.replace(|letter| !is_plain(letter), "-");
                (format!("check-{name}"), None)
            }
            Posting::Rerun { run } => (format!("rerun-{run}"), None),
            Posting::Labels { number, .. } => (format!("labels-{number}"), None),
            Posting::ReviewRequest { number, .. } => (format!("review-request-{number}"), None),
            Posting::Assignees { number, .. } => (format!("assignees-{number}"), None),
            Posting::Milestone { number, .. } => (format!("milestone-{number}"), None),
        };
        let is_page = page.is_some();
        let ending = if is_page { "md" } else { "json" };
        let text = page.unwrap_or_else(|| as_json(posting));
        let files = self.files()?;
        // A page is found again by its first line, where its marker is.
        let is_same = |file: &Path| {
            let known = fs::read_to_string(file).ok();
            known.is_some_and(|known| {
                known == text || (is_page && known.lines().next() == text.lines().next())
            })
        };
        let same = files.iter().find(|(_, file)| is_of_kind(file, &kind) && is_same(file));
        let (id, file) = match same {
            Some((number, file)) => (*number, file.clone()),
            None => {
                let next = files.iter().map(|(number, _)| *number).max().unwrap_or(0) + 1;
                (next, self.folder.join(format!("{next:03}-{kind}.{ending}")))
            }
        };
        fs::write(&file, text).map_err(|error| failed(&file, &error))?;
        Ok(Receipt {
            publication: posting.publication(),
            id,
            url: file.display().to_string(),
            updated: same.is_some(),
        })
    }

    /// Returns the numbered files of the folder.
    fn files(&self) -> Result<Vec<(u64, PathBuf)>, ForgeError> {
        let entries = fs::read_dir(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let mut files: Vec<(u64, PathBuf)> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter_map(|file| {
                let number = file.file_name()?.to_str()?.split('-').next()?.parse().ok()?;
                Some((number, file))
            })
            .collect();
        files.sort();
        Ok(files)
    }

    fn unknown<T>(&self, what: &str) -> Result<T, ForgeError> {
        Err(ForgeError::NotFound {
            forge: NAME,
            what: format!("{what}: `{}` is only a folder", self.folder.display()),
        })
    }
}

impl Forge for LocalForge {
    fn name(&self) -> &'static str {
        NAME
    }

    fn attachment<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Vec<u8>, ForgeError>> {
        let what = address.to_owned();
        futures::future::ready(Err(ForgeError::NotFound { forge: NAME, what })).boxed()
    }

    fn permission<'a>(
        &'a self,
        _login: &'a str,
    ) -> BoxFuture<'a, Result<ForgePermission, ForgeError>> {
        futures::future::ready(Ok(ForgePermission::Admin)).boxed()
    }

    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<PullRequest, ForgeError>> {
        futures::future::ready(self.unknown(&format!("pull request {number}"))).boxed()
    }

    fn pull_requests<'a>(
        &'a self,
        _filter: PullRequestFilter<'a>,
    ) -> BoxFuture<'a, Result<Vec<ListedPullRequest>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn commentable_lines(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<CommentableLines, ForgeError>> {
        futures::future::ready(self.unknown(&format!("lines of pull request {number}"))).boxed()
    }

    fn commit_author(&self) -> BoxFuture<'_, CommitAuthor> {
        futures::future::ready(CommitAuthor::default()).boxed()
    }

    fn review_threads(&self, _number: u64) -> BoxFuture<'_, Result<Vec<ReviewThread>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn pull_request_commits(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<Vec<ListedCommit>, ForgeError>> {
        futures::future::ready(self.unknown(&format!("commits of pull request {number}"))).boxed()
    }

    fn issue(&self, number: u64) -> BoxFuture<'_, Result<EventSubject, ForgeError>> {
        futures::future::ready(self.unknown(&format!("issue {number}"))).boxed()
    }

    fn own_issue<'a>(
        &'a self,
        _marker: &'a str,
        _number: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<OwnIssue>, ForgeError>> {
        futures::future::ready(Ok(None)).boxed()
    }

    fn own_login(&self) -> BoxFuture<'_, Option<String>> {
        futures::future::ready(None).boxed()
    }

    fn own_comments<'a>(
        &'a self,
        _thread: Thread,
        _marker: &'a str,
        _since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Vec<OwnComment>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn thread_comments(
        &self,
        _thread: Thread,
        _since: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<Vec<ThreadComment>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn recent_comments(
        &self,
        _since: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<PlacedComment>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn own_reactions(
        &self,
        _target: ReactionTarget,
    ) -> BoxFuture<'_, Result<Vec<(OwnReaction, String)>, ForgeError>> {
        futures::future::ready(Ok(Vec::new())).boxed()
    }

    fn failed_checks<'a>(
        &'a self,
        checks: &'a EventChecks,
    ) -> BoxFuture<'a, Result<Vec<FailedCheck>, ForgeError>> {
        futures::future::ready(self.unknown(&format!("the checks {}", checks.id))).boxed()
    }

    fn check_ends<'a>(
        &'a self,
        _commit: &'a str,
        checks: &'a EventChecks,
    ) -> BoxFuture<'a, Result<Vec<Option<String>>, ForgeError>> {
        futures::future::ready(self.unknown(&format!("the checks {}", checks.id))).boxed()
    }

    fn alerts(&self, source: AlertSource) -> BoxFuture<'_, Result<Vec<String>, ForgeError>> {
        futures::future::ready(self.unknown(&format!("alerts of {}", source.as_str()))).boxed()
    }

    fn workflow_run_end<'a>(
        &'a self,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ForgeError>> {
        futures::future::ready(self.unknown(&format!("workflow run {run}"))).boxed()
    }

    fn commit(&self, permit: Permit<ForgeCommit>) -> BoxFuture<'_, Result<String, ForgeError>> {
        futures::future::ready(self.unknown(&format!("the branch `{}`", permit.act().branch)))
            .boxed()
    }

    fn post(&self, permit: Permit<Posting>) -> BoxFuture<'_, Result<Receipt, ForgeError>> {
        futures::future::ready(self.publish(permit.act())).boxed()
    }
}

fn as_json(posting: &Posting) -> String {
    serde_json::to_value(posting).map(|value: Value| format!("{value:#}\n")).unwrap_or_default()
}

/// Returns true for `012-comment-7.md` and the kind `comment-7`.
fn is_of_kind(file: &Path, kind: &str) -> bool {
    file.file_stem()
        .and_then(|stem| stem.to_str())
        .and_then(|stem| stem.split_once('-'))
        .is_some_and(|(_, rest)| rest == kind)
}

fn failed(place: &Path, error: &std::io::Error) -> ForgeError {
    ForgeError::Failed {
        forge: NAME,
        action: format!("write `{}`", place.display()),
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
