//! Pull requests: opened once for each branch, changed after that, and found again among all.

use futures::FutureExt as _;
use serde::Serialize;
use serde_json::json;

use crate::ForgeError;
use crate::github::GitHub;
use crate::github::answers::Pull;
use crate::github::comments::may_be_ours;
use crate::github::lists::PAGES;
use crate::posts::Receipt;
use crate::pull_requests::{ListedPullRequest, PullRequestFilter};
use locum_policy::intent::PublicationKind;

/// Pages of closed pull requests that are looked through, of 100 each.
const CLOSED_PAGES: usize = 3;

/// A pull request as it is opened.
#[derive(Serialize)]
pub(super) struct NewPull<'a> {
    pub(super) head: &'a str,
    pub(super) base: &'a str,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) draft: bool,
}

impl GitHub {
    /// Changes the open pull request from the same branch, or opens one. Whether it is a draft is
    /// decided when it is opened.
    pub(super) async fn put_pull_request(&self, new: &NewPull<'_>) -> Result<Receipt, ForgeError> {
        let path = self.path("pulls");
        let same = self.open_from(new.head).await?;
        let updated = same.is_some();
        let pull: Pull = match same {
            Some(same) => {
                let NewPull { title, body, base, .. } = new;
                let change = json!({ "title": title, "body": body, "base": base });
                self.client.send("PATCH", &format!("{path}/{}", same.number), &change).await?
            }
            None => self.client.create(&path, new, || self.open_from(new.head).boxed()).await?,
        };
        let (publication, url) = (PublicationKind::PullRequest, pull.html_url.unwrap_or_default());
        Ok(Receipt { publication, id: pull.number, url, updated })
    }

    /// Reads the open pull request from a branch of this repository.
    async fn open_from(&self, head: &str) -> Result<Option<Pull>, ForgeError> {
        let open: Vec<Pull> = self.client.get(&self.pulls_of("open", head)).await?;
        Ok(open.into_iter().find(|open| self.is_from(open, head)))
    }

    /// Reads pull requests from branches of this repository, latest first. Lists of them begin with
    /// those that were opened last; a repository may have any number.
    pub(super) async fn read_pull_requests(
        &self,
        filter: PullRequestFilter<'_>,
    ) -> Result<Vec<ListedPullRequest>, ForgeError> {
        let path = self.path("pulls");
        let is_wanted = |pull: Pull| {
            let is_wanted = match filter {
                PullRequestFilter::Open => pull.state == "open" && self.is_from(&pull, ""),
                PullRequestFilter::Closed => pull.state != "open" && self.is_from(&pull, ""),
                PullRequestFilter::From(branch) => self.is_from(&pull, branch),
            };
            is_wanted.then_some(pull)
        };
        let found = match filter {
            PullRequestFilter::Open => {
                self.client.list_first(PAGES, &format!("{path}?state=open"), is_wanted).await?
            }
            PullRequestFilter::Closed => {
                let path = format!("{path}?state=closed&sort=updated&direction=desc");
                self.client.list_first(CLOSED_PAGES, &path, is_wanted).await?
            }
            PullRequestFilter::From(branch) => {
                self.client.list_first(PAGES, &self.pulls_of("all", branch), is_wanted).await?
            }
        };
        let own = if found.is_empty() { None } else { self.read_own_login().await };
        let mut listed: Vec<_> = found.into_iter().map(|pull| listed(pull, own)).collect();
        listed.sort_by_key(|pull| std::cmp::Reverse(pull.number));
        Ok(listed)
    }

    /// Returns the path of the list of pull requests from one of our branches.
    fn pulls_of(&self, state: &str, branch: &str) -> String {
        let (owner, _) = self.repository.split_once('/').unwrap_or_default();
        let query: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("state", state)
            .append_pair("head", &format!("{owner}:{branch}"))
            .finish();
        self.path(&format!("pulls?{query}"))
    }

    /// Returns true for a pull request from a branch of this repository, any where none is named.
    /// Servers that don't know the filter answer with everything.
    fn is_from(&self, pull: &Pull, branch: &str) -> bool {
        let repository = pull.head.repo.as_ref().and_then(|repo| repo.full_name.as_deref());
        (branch.is_empty() || pull.head.name == branch)
            && repository.is_some_and(|name| name.eq_ignore_ascii_case(&self.repository))
    }
}

fn listed(pull: Pull, own: Option<&str>) -> ListedPullRequest {
    ListedPullRequest {
        number: pull.number,
        url: pull.html_url.unwrap_or_default(),
        title: pull.title.unwrap_or_default(),
        body: pull.body.unwrap_or_default(),
        head_branch: pull.head.name,
        head_sha: pull.head.sha,
        base_branch: pull.base.name,
        is_open: pull.state == "open",
        is_merged: pull.merged_at.is_some(),
        is_draft: pull.draft,
        is_own: may_be_ours(own, pull.user.as_ref()),
    }
}
