//! The pull request that lets Locum start in a repository, and the events that lately happened
//! there.
//!
//! In: files, a title and a text that a person asked for at the command line; no model and no
//! policy had a part in it, so no permit is wanted. Out: one pull request, the same each time.
//! Nothing but its own branch is written.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::ForgeError;
use crate::github::GitHub;
use crate::github::answers::{CreatedCommit, ExistingCommit, GitObject, Reference};
use crate::github::client::NAME;
use crate::github::pulls::NewPull;
use crate::posts::Receipt;

/// The branch of the pull request. It belongs to Locum: what else is on it is replaced.
pub const ONBOARDING_BRANCH: &str = "locum/init";

/// A pull request with the files that let Locum start.
#[derive(Clone, Debug)]
pub struct Onboarding<'a> {
    /// Its title, which is the commit's subject as well.
    pub title: &'a str,
    /// Its text.
    pub body: &'a str,
    /// Paths and texts.
    pub files: &'a [(&'a str, &'a str)],
}

/// An event as GitHub lists it, in the form of the workflow event of that name.
#[derive(Clone, Debug)]
pub struct RecentEvent {
    /// The name of the workflow event, such as `issue_comment`.
    pub name: &'static str,
    /// Who caused it.
    pub actor: String,
    /// Its payload.
    pub payload: Value,
}

#[derive(Deserialize)]
struct RepositoryFacts {
    full_name: String,
    default_branch: String,
}

#[derive(Deserialize)]
struct ListedEvent {
    #[serde(rename = "type")]
    kind: String,
    actor: Option<ListedActor>,
    #[serde(default)]
    payload: Value,
}

#[derive(Deserialize)]
struct ListedActor {
    login: String,
}

impl GitHub {
    /// Opens the pull request, or brings the open one up to date. The commit is made on the tip of
    /// the default branch.
    ///
    /// # Errors
    /// When the token may not write code, workflows or pull requests, or the forge fails.
    pub async fn onboard(&self, onboarding: &Onboarding<'_>) -> Result<Receipt, ForgeError> {
        self.check_may_write()?;
        let base = self.facts().await?.default_branch;
        let tip = self.reference(&base).await?.ok_or_else(|| ForgeError::NotFound {
            forge: NAME,
            what: format!("the branch `{base}`"),
        })?;
        let on: ExistingCommit = self.client.get(&self.path(&format!("git/commits/{tip}"))).await?;
        let entries: Vec<Value> = onboarding
            .files
            .iter()
            .map(|(path, text)| {
                json!({ "path": path, "mode": "100644", "type": "blob", "content": text })
            })
            .collect();
        let body = json!({ "base_tree": on.tree.sha, "tree": entries });
        let tree: GitObject = self.client.send("POST", &self.path("git/trees"), &body).await?;
        let body = json!({ "message": onboarding.title, "tree": tree.sha, "parents": [tip] });
        let made: CreatedCommit =
            self.client.send("POST", &self.path("git/commits"), &body).await?;
        if self.reference(ONBOARDING_BRANCH).await?.is_some() {
            let path = self.path(&format!("git/refs/heads/{ONBOARDING_BRANCH}"));
            let body = json!({ "sha": made.sha, "force": true });
            let _moved: IgnoredAny = self.client.send("PATCH", &path, &body).await?;
        } else {
            let name = format!("refs/heads/{ONBOARDING_BRANCH}");
            let body = json!({ "ref": name, "sha": made.sha });
            let _made: IgnoredAny = self.client.send("POST", &self.path("git/refs"), &body).await?;
        }
        self.put_pull_request(&NewPull {
            head: ONBOARDING_BRANCH,
            base: &base,
            title: onboarding.title,
            body: onboarding.body,
            draft: false,
        })
        .await
    }

    /// Reads what happened in the repository lately, latest first: at most `limit` events (100 at
    /// most), and of those the ones that are workflow events. GitHub lists public events of the
    /// last 30 days. Source: <https://docs.github.com/en/rest/activity/events>
    ///
    /// # Errors
    /// When the forge refuses or fails.
    pub async fn recent_events(&self, limit: usize) -> Result<Vec<RecentEvent>, ForgeError> {
        let facts = self.facts().await?;
        let listed: Vec<ListedEvent> =
            self.client.get(&self.path(&format!("events?per_page={}", limit.min(100)))).await?;
        Ok(listed.into_iter().filter_map(|event| as_workflow_event(event, &facts)).collect())
    }

    async fn facts(&self) -> Result<RepositoryFacts, ForgeError> {
        let path = self.path("");
        self.client.get(path.trim_end_matches('/')).await
    }

    async fn reference(&self, branch: &str) -> Result<Option<String>, ForgeError> {
        match self.client.get::<Reference>(&self.path(&format!("git/ref/heads/{branch}"))).await {
            Ok(reference) => Ok(Some(reference.object.sha)),
            Err(ForgeError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns a listed event as its workflow event. Lists leave out what a payload says of the
/// repository and of who caused it.
fn as_workflow_event(event: ListedEvent, facts: &RepositoryFacts) -> Option<RecentEvent> {
    let name = match event.kind.as_str() {
        "IssueCommentEvent" => "issue_comment",
        "IssuesEvent" => "issues",
        "PullRequestEvent" => "pull_request",
        "PullRequestReviewEvent" => "pull_request_review",
        "PullRequestReviewCommentEvent" => "pull_request_review_comment",
        "PushEvent" => "push",
        "ReleaseEvent" => "release",
        _ => return None,
    };
    let actor = event.actor.map(|actor| actor.login).unwrap_or_default();
    let mut payload = event.payload;
    let object = payload.as_object_mut()?;
    // What the list calls `created` is a workflow's `submitted`.
    if name == "pull_request_review" {
        object.insert("action".to_owned(), json!("submitted"));
    }
    let repository =
        json!({ "full_name": facts.full_name, "default_branch": facts.default_branch });
    object.insert("repository".to_owned(), repository);
    let kind = if actor.ends_with("[bot]") { "Bot" } else { "User" };
    object.insert("sender".to_owned(), json!({ "login": actor, "type": kind }));
    Some(RecentEvent { name, actor, payload })
}
