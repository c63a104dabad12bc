//! GitHub through octocrab: who may, what a pull request is now, and every posting. The base URL is
//! the caller's, so Enterprise servers and local ones work.
//!
//! How our own comments are found again: `comments`.

mod alerts;
mod answers;
mod attachments;
mod check_runs;
mod checks;
mod client;
mod comments;
mod commits;
mod details;
mod discussions;
mod graph;
mod identity;
mod limit;
mod lists;
pub mod onboarding;
mod pulls;
mod recent;
mod repeat;
mod review;

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::OnceCell;

use crate::alerts::AlertSource;
use crate::checks::FailedCheck;
use crate::commits::{CommitAuthor, ForgeCommit};
use crate::event::{EventChecks, EventSubject};
use crate::github::answers::{Collaborator, Issue, Post, Pull, PullCommit, WorkflowRun};
use crate::github::client::{NAME, RestClient};
use crate::github::comments::{Endpoints, may_be_ours};
use crate::github::discussions::ReactionChange;
use crate::github::graph::GraphClient;
use crate::github::pulls::NewPull;
use crate::github::review::SubmittedReview;
use crate::posts::{OwnReaction, Posting, ReactionTarget, Receipt};
use crate::pull_requests::{ListedPullRequest, PullRequestFilter};
use crate::threads::ReviewThread;
use crate::{
    CommentableLines, Forge, ForgeError, ForgePermission, ListedCommit, OwnComment, OwnIssue,
    PlacedComment, PullRequest, ReadPatience, Thread, ThreadComment, is_app,
};
use locum_base::clock::Clock;
use locum_base::retry::RetryBudget;
use locum_base::secret::Secret;
use locum_policy::Permit;
use locum_policy::intent::PublicationKind;

/// A repository at GitHub or a server that speaks like it.
pub struct GitHub {
    client: RestClient,
    graph: GraphClient,
    /// `owner/name`.
    repository: String,
    /// Who we are, once asked; `None` when the forge does not say.
    login: OnceCell<Option<String>>,
    /// Who makes commits, once asked.
    author: OnceCell<CommitAuthor>,
    only_reads: bool,
}

impl GitHub {
    /// Prepares the forge; nothing is asked yet. `api_url` is where the API starts:
    /// `https://api.github.com`, `https://ghes.example/api/v3`.
    ///
    /// # Errors
    /// When `repository` is not `owner/name`.
    pub fn new(
        api_url: &str,
        repository: &str,
        token: Option<Secret>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ForgeError> {
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.chars().all(|letter| {
                    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
                })
        };
        if !repository.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name)) {
            return Err(ForgeError::Failed {
                forge: NAME,
                action: "start".to_owned(),
                message: format!("`{repository}` is not `owner/name`"),
            });
        }
        let client = RestClient::new(api_url, token, clock);
        Ok(Self {
            graph: GraphClient::beside(&client),
            client,
            repository: repository.to_owned(),
            login: OnceCell::new(),
            author: OnceCell::new(),
            only_reads: false,
        })
    }

    /// Refuses to publish anything from now on, whatever the token may do.
    #[must_use]
    pub fn reading_only(self) -> Self {
        Self { only_reads: true, ..self }
    }

    fn check_may_write(&self) -> Result<(), ForgeError> {
        if !self.only_reads {
            return Ok(());
        }
        let (action, message) = ("to publish".to_owned(), "this job only reads".to_owned());
        Err(ForgeError::Forbidden { forge: NAME, action, message })
    }

    /// Returns what all writes may wait together, for others that send to the same forge.
    pub fn retry_budget(&self) -> Arc<RetryBudget> {
        Arc::clone(&self.client.budget)
    }

    /// Returns the path of something in the repository.
    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.repository)
    }

    async fn publish(&self, posting: &Posting) -> Result<Receipt, ForgeError> {
        match posting {
            Posting::Reaction {
                target: ReactionTarget::DiscussionComment { discussion, comment },
                content,
            } => {
                let place = (*discussion, *comment);
                self.react_in_discussion(place, content, ReactionChange::Add).await
            }
            Posting::Reaction { target, content } => {
                let path = self.reactions(*target);
                let reaction: Post =
                    self.client.send("POST", &path, &json!({ "content": content })).await?;
                Ok(receipt(PublicationKind::Comment, reaction, false))
            }
            Posting::Withdrawal(OwnReaction {
                target: ReactionTarget::DiscussionComment { discussion, comment },
                id,
            }) => self.withdraw_in_discussion((*discussion, *comment), *id).await,
            Posting::Withdrawal(OwnReaction { target, id }) => {
                self.client.delete(&format!("{}/{id}", self.reactions(*target))).await?;
                let (publication, url) = (PublicationKind::Comment, String::new());
                Ok(Receipt { publication, id: *id, url, updated: true })
            }
            Posting::Comment { number, marker, body, replaces } => {
                let list = self.path(&format!("issues/{number}/comments"));
                let edit = self.path("issues/comments");
                let endpoints = Endpoints { create: list.clone(), list, edit };
                self.put_comment(&endpoints, (marker, replaces.as_deref()), body).await
            }
            Posting::DiscussionReply { number, comment, marker, body } => {
                self.put_discussion_reply((*number, *comment), marker, body).await
            }
            Posting::Reply { number, comment, marker, body } => {
                let list = self.path(&format!("pulls/{number}/comments"));
                let create = format!("{list}/{comment}/replies");
                let edit = self.path("pulls/comments");
                self.put_comment(&Endpoints { create, list, edit }, (marker, None), body).await
            }
            Posting::Review { number, commit, marker, body, comments } => {
                self.put_review(*number, marker, &SubmittedReview::new(commit, body, comments))
                    .await
            }
            Posting::Resolution { number, thread } => self.resolve(*number, thread).await,
            Posting::PullRequest { head, base, title, body, draft } => {
                let draft = *draft;
                self.put_pull_request(&NewPull { head, base, title, body, draft }).await
            }
            Posting::Issue { number, marker, title, body } => {
                self.put_issue(*number, marker, &json!({ "title": title, "body": body })).await
            }
            Posting::Labels { number, labels } => self.put_labels(*number, labels).await,
            Posting::ReviewRequest { number, reviewer } => {
                self.request_review(*number, reviewer).await
            }
            Posting::Assignees { number, logins } => self.assign(*number, logins).await,
            Posting::CheckRun(check) => self.put_check_run(check).await,
            Posting::Rerun { run } => self.rerun(*run).await,
            Posting::Milestone { number, title } => self.put_milestone(*number, title).await,
        }
    }

    /// Returns where the reactions on something are.
    fn reactions(&self, target: ReactionTarget) -> String {
        self.path(&match target {
            ReactionTarget::IssueComment(id) => format!("issues/comments/{id}/reactions"),
            ReactionTarget::ReviewComment(id) => format!("pulls/comments/{id}/reactions"),
            ReactionTarget::Issue(number) => format!("issues/{number}/reactions"),
            // The REST API has none; it is asked through `discussions`.
            ReactionTarget::DiscussionComment { comment, .. } => {
                format!("discussions/comments/{comment}/reactions")
            }
        })
    }
}

impl Forge for GitHub {
    fn name(&self) -> &'static str {
        NAME
    }

    fn failed_checks<'a>(
        &'a self,
        checks: &'a EventChecks,
    ) -> BoxFuture<'a, Result<Vec<FailedCheck>, ForgeError>> {
        self.read_failed_checks(checks).boxed()
    }

    fn check_ends<'a>(
        &'a self,
        commit: &'a str,
        checks: &'a EventChecks,
    ) -> BoxFuture<'a, Result<Vec<Option<String>>, ForgeError>> {
        self.read_check_ends(commit, checks).boxed()
    }

    fn alerts(&self, source: AlertSource) -> BoxFuture<'_, Result<Vec<String>, ForgeError>> {
        self.read_alerts(source).boxed()
    }

    fn attachment<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Vec<u8>, ForgeError>> {
        self.client.attachment(address).boxed()
    }

    fn permission<'a>(
        &'a self,
        login: &'a str,
    ) -> BoxFuture<'a, Result<ForgePermission, ForgeError>> {
        async move {
            let path = self.path(&format!("collaborators/{}/permission", segment(login)));
            let Collaborator { permission, role_name } = match self.client.get(&path).await {
                // It answers that an app "is not a user", whatever it may do.
                Err(ForgeError::NotFound { .. }) if !is_app(login) => {
                    return Ok(ForgePermission::None);
                }
                other => other?,
            };
            ForgePermission::from_words(&permission, role_name.as_deref()).ok_or_else(|| {
                ForgeError::Failed {
                    forge: NAME,
                    action: format!("GET {path}"),
                    message: format!("unknown permission `{permission}`"),
                }
            })
        }
        .boxed()
    }

    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<PullRequest, ForgeError>> {
        async move {
            let pull: Pull = self.client.get(&self.path(&format!("pulls/{number}"))).await?;
            // Names can be given to another repository; ids cannot. A head whose repository is gone
            // counts as foreign.
            let base = pull.base.repo.and_then(|base| base.id);
            let own = self.read_own_login().await;
            Ok(PullRequest {
                number,
                is_own: may_be_ours(own, pull.user.as_ref()),
                author: pull.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
                labels: pull.labels.into_iter().map(|label| label.name).collect(),
                title: pull.title.unwrap_or_default(),
                body: pull.body.unwrap_or_default(),
                is_open: pull.state == "open",
                head_pushed_at: pull.head.repo.as_ref().and_then(|head| head.pushed_at),
                is_fork: pull
                    .head
                    .repo
                    .and_then(|head| head.id)
                    .is_none_or(|head| Some(head) != base),
                head_branch: pull.head.name,
                head_sha: pull.head.sha,
                base_branch: pull.base.name,
            })
        }
        .boxed()
    }

    fn pull_requests<'a>(
        &'a self,
        filter: PullRequestFilter<'a>,
    ) -> BoxFuture<'a, Result<Vec<ListedPullRequest>, ForgeError>> {
        self.read_pull_requests(filter).boxed()
    }

    fn commentable_lines(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<CommentableLines, ForgeError>> {
        self.read_lines(number).boxed()
    }

    fn commit_author(&self) -> BoxFuture<'_, CommitAuthor> {
        async move { self.author.get_or_init(|| self.read_author()).await.clone() }.boxed()
    }

    fn review_threads(&self, number: u64) -> BoxFuture<'_, Result<Vec<ReviewThread>, ForgeError>> {
        self.read_threads(number).boxed()
    }

    fn pull_request_commits(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<Vec<ListedCommit>, ForgeError>> {
        async move {
            let list = self.path(&format!("pulls/{number}/commits"));
            let listed = |PullCommit { sha, commit }: PullCommit| {
                Some(ListedCommit { id: sha, message: commit.message })
            };
            self.client.list(&list, listed).await
        }
        .boxed()
    }

    fn issue(&self, number: u64) -> BoxFuture<'_, Result<EventSubject, ForgeError>> {
        async move {
            let issue: Issue = self.client.get(&self.path(&format!("issues/{number}"))).await?;
            Ok(EventSubject {
                number,
                title: issue.title.unwrap_or_default(),
                body: issue.body.unwrap_or_default(),
                author: issue.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
                is_discussion: false,
                is_pull_request: issue.pull_request.is_some(),
                is_open: issue.state == "open",
                is_locked: issue.locked,
                head_sha: None,
            })
        }
        .boxed()
    }

    fn own_issue<'a>(
        &'a self,
        marker: &'a str,
        number: Option<u64>,
    ) -> BoxFuture<'a, Result<Option<OwnIssue>, ForgeError>> {
        self.find_own_issue(marker, number).boxed()
    }

    fn own_login(&self) -> BoxFuture<'_, Option<String>> {
        self.read_own_login().map(|login| login.map(str::to_owned)).boxed()
    }

    fn own_comments<'a>(
        &'a self,
        thread: Thread,
        marker: &'a str,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Vec<OwnComment>, ForgeError>> {
        self.read_own_comments(thread, marker, since).boxed()
    }

    fn thread_comments(
        &self,
        thread: Thread,
        since: Option<Timestamp>,
    ) -> BoxFuture<'_, Result<Vec<ThreadComment>, ForgeError>> {
        self.read_thread(thread, since).boxed()
    }

    fn recent_comments(
        &self,
        since: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<PlacedComment>, ForgeError>> {
        self.read_recent(since).boxed()
    }

    fn own_reactions(
        &self,
        target: ReactionTarget,
    ) -> BoxFuture<'_, Result<Vec<(OwnReaction, String)>, ForgeError>> {
        match target {
            ReactionTarget::DiscussionComment { discussion, comment } => {
                self.reactions_in_discussion((discussion, comment), target).boxed()
            }
            ReactionTarget::IssueComment(_)
            | ReactionTarget::ReviewComment(_)
            | ReactionTarget::Issue(_) => self.reactions_of_ours(target).boxed(),
        }
    }

    fn workflow_run_end<'a>(
        &'a self,
        run: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, ForgeError>> {
        async move {
            let path = self.path(&format!("actions/runs/{}", segment(run)));
            let run: WorkflowRun = self.client.get(&path).await?;
            let unknown = || "completed".to_owned();
            Ok((run.status == "completed").then(|| run.conclusion.unwrap_or_else(unknown)))
        }
        .boxed()
    }

    fn set_patience(&self, patience: ReadPatience) {
        self.client.set_patience(patience);
    }

    fn commit(&self, permit: Permit<ForgeCommit>) -> BoxFuture<'_, Result<String, ForgeError>> {
        async move {
            self.check_may_write()?;
            self.make_commit(permit.act()).await
        }
        .boxed()
    }

    fn post(&self, permit: Permit<Posting>) -> BoxFuture<'_, Result<Receipt, ForgeError>> {
        async move {
            self.check_may_write()?;
            self.publish(permit.act()).await
        }
        .boxed()
    }
}

fn receipt(publication: PublicationKind, post: Post, updated: bool) -> Receipt {
    Receipt { publication, id: post.id, url: post.html_url.unwrap_or_default(), updated }
}

/// Writes a name as one segment of a path.
fn segment(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_tests;
