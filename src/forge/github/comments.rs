//! What we have written, found again by its marker and edited rather than repeated.
//!
//! The marker is the first line of a text and names one run or thread. Anyone can write such a
//! line, and a token that may write can edit any comment. So a comment counts as ours only when we
//! can have written it: its author is the token's own login or, where an App's token cannot learn
//! its login, a bot. An edit that is refused is followed by a comment of our own.

use futures::FutureExt as _;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::github::answers::{Account, Issue, Post, ReadComment};
use crate::github::lists::PAGES;
use crate::github::{GitHub, receipt};
use crate::posts::Receipt;
use crate::{ForgeError, OwnComment, OwnIssue, Thread, ThreadComment};
use locum_policy::intent::PublicationKind;

/// How everything begins that we write.
pub(super) const OWN_MARKER: &str = "<!-- locum:v1 ";

/// Where comments of one kind are listed, created and edited.
pub(super) struct Endpoints {
    pub(super) list: String,
    pub(super) create: String,
    pub(super) edit: String,
}

impl GitHub {
    /// Asks once who the token belongs to; an App's token gets no answer.
    pub(super) async fn read_own_login(&self) -> Option<&str> {
        let ask = async {
            let account: Result<Account, ForgeError> = self.client.get("/user").await;
            account.ok().map(|account| account.login)
        };
        self.login.get_or_init(|| ask).await.as_deref()
    }

    /// Reads a list and returns what is ours and begins with the marker, oldest first; `of` gives
    /// text and author.
    pub(super) async fn ours<T: DeserializeOwned>(
        &self,
        list: &str,
        marker: &str,
        of: fn(&T) -> (&Option<String>, &Option<Account>),
    ) -> Result<Vec<T>, ForgeError> {
        let marked = |post: T| first_line(of(&post).0).starts_with(marker).then_some(post);
        let marked = self.client.list(list, marked).await?;
        Ok(self.only_ours(marked, of).await)
    }

    /// Leaves out what others have written.
    async fn only_ours<T>(
        &self,
        mut marked: Vec<T>,
        of: fn(&T) -> (&Option<String>, &Option<Account>),
    ) -> Vec<T> {
        if !marked.is_empty() {
            let own = self.read_own_login().await;
            marked.retain(|post| may_be_ours(own, of(post).1.as_ref()));
        }
        marked
    }

    /// Reads our comments on a thread; with `since`, those created since then.
    pub(super) async fn read_own_comments(
        &self,
        thread: Thread,
        marker: &str,
        since: Option<Timestamp>,
    ) -> Result<Vec<OwnComment>, ForgeError> {
        if thread.is_discussion {
            return self.read_own_in_discussion(thread.number, marker, since).await;
        }
        let mut found = Vec::new();
        for list in self.comment_lists(thread, since) {
            let ours = self.ours(&list, marker, post_of).await?;
            let recent = ours.into_iter().filter(|post| written_since(post, since));
            found.extend(
                recent.map(|post| OwnComment { id: post.id, body: post.body.unwrap_or_default() }),
            );
        }
        Ok(found)
    }

    /// Reads all comments on a thread; with `since`, those created since then.
    pub(super) async fn read_thread(
        &self,
        thread: Thread,
        since: Option<Timestamp>,
    ) -> Result<Vec<ThreadComment>, ForgeError> {
        if thread.is_discussion {
            return self.read_discussion(thread.number, since).await;
        }
        let mut found = Vec::new();
        let summaries = self.path(&format!("pulls/{}/reviews", thread.number));
        let summaries = thread.is_pull_request.then_some(summaries);
        for list in self.comment_lists(thread, since).chain(summaries) {
            // A review of comments alone has no words of its own.
            let says = |read: &ReadComment| {
                written_since(&read.post, since)
                    && read.post.body.as_deref().is_some_and(|body| !body.is_empty())
            };
            let recent = |read: ReadComment| Some(read).filter(says);
            found.extend(self.client.list(&list, recent).await?);
        }
        let own = if found.is_empty() { None } else { self.read_own_login().await };
        found.sort_by_key(|read| (read.post.created_at, read.post.id));
        Ok(found.into_iter().map(|read| thread_comment(read, own)).collect())
    }

    /// Returns the paths of the lists of comments on a thread, asking for those changed since then.
    fn comment_lists(
        &self,
        thread: Thread,
        since: Option<Timestamp>,
    ) -> impl Iterator<Item = String> {
        let number = thread.number;
        let lists = [
            Some(format!("issues/{number}/comments")),
            thread.is_pull_request.then(|| format!("pulls/{number}/comments")),
        ];
        let query = since.map_or_else(String::new, |since| {
            format!("?since={}", since.strftime("%Y-%m-%dT%H:%M:%SZ"))
        });
        lists.into_iter().flatten().map(move |list| self.path(&format!("{list}{query}")))
    }

    /// Edits our comment with this marker, else the one it takes the place of, or writes one.
    pub(super) async fn put_comment(
        &self,
        endpoints: &Endpoints,
        (marker, replaces): (&str, Option<&str>),
        body: &str,
    ) -> Result<Receipt, ForgeError> {
        let text = json!({ "body": body });
        let mut known = self.same_posts(&endpoints.list, marker).await?;
        if let Some(replaces) = replaces.filter(|_| known.is_empty()) {
            known = self.same_posts(&endpoints.list, replaces).await?;
        }
        for post in known {
            let path = format!("{}/{}", endpoints.edit, post.id);
            match self.client.send("PATCH", &path, &text).await {
                Ok(post) => return Ok(receipt(PublicationKind::Comment, post, true)),
                // Another author's after all, or gone: ours is the next one, or still to be
                // written.
                Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let find = || self.first_post(&endpoints.list, marker).boxed();
        let mut post: Post = self.client.create(&endpoints.create, &text, find).await?;
        if post.body.as_deref().is_some_and(|written| written != body) {
            // Another attempt of the same run wrote it.
            let path = format!("{}/{}", endpoints.edit, post.id);
            post = self.client.send("PATCH", &path, &text).await?;
        }
        Ok(receipt(PublicationKind::Comment, post, false))
    }

    /// Reads the first of ours that begins with exactly this line.
    pub(super) async fn first_post(
        &self,
        list: &str,
        marker: &str,
    ) -> Result<Option<Post>, ForgeError> {
        Ok(self.same_posts(list, marker).await?.into_iter().next())
    }

    /// Reads what of ours begins with exactly this line.
    pub(super) async fn same_posts(
        &self,
        list: &str,
        marker: &str,
    ) -> Result<Vec<Post>, ForgeError> {
        let mut ours = self.ours(list, marker, post_of).await?;
        ours.retain(|post| first_line(&post.body) == marker);
        Ok(ours)
    }

    /// Changes our issue with this number, else our open one with this marker, or opens one.
    pub(super) async fn put_issue(
        &self,
        number: Option<u64>,
        marker: &str,
        text: &Value,
    ) -> Result<Receipt, ForgeError> {
        let path = self.path("issues");
        let there = match number {
            Some(number) => Some(number),
            None => self.same_issue(&path, marker).await?.map(|same| same.number),
        };
        let issue: Issue = match there {
            Some(there) => self.client.send("PATCH", &format!("{path}/{there}"), text).await?,
            None => {
                self.client.create(&path, text, || self.same_issue(&path, marker).boxed()).await?
            }
        };
        let (publication, url) = (PublicationKind::Issue, issue.html_url.unwrap_or_default());
        Ok(Receipt { publication, id: issue.number, url, updated: there.is_some() })
    }

    /// Reads our open issue that begins with exactly this line.
    async fn same_issue(&self, path: &str, marker: &str) -> Result<Option<Issue>, ForgeError> {
        self.issue_among(&format!("{path}?state=open"), marker).await
    }

    /// Finds our issue that begins with exactly this line, open or not.
    pub(super) async fn find_own_issue(
        &self,
        marker: &str,
        number: Option<u64>,
    ) -> Result<Option<OwnIssue>, ForgeError> {
        if let Some(number) = number {
            let read: Result<Issue, ForgeError> =
                self.client.get(&self.path(&format!("issues/{number}"))).await;
            match read {
                Ok(issue) if first_line(&issue.body) == marker => {
                    let own = self.read_own_login().await;
                    if may_be_ours(own, issue.user.as_ref()) {
                        return Ok(Some(own_issue(issue)));
                    }
                }
                Ok(_) | Err(ForgeError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let list = self.path("issues?state=all");
        Ok(self.issue_among(&list, marker).await?.map(own_issue))
    }

    /// Looks through the issues of a list that changed last: a repository may have any number.
    async fn issue_among(&self, list: &str, marker: &str) -> Result<Option<Issue>, ForgeError> {
        let list = format!("{list}&sort=updated&direction=desc");
        let same = |issue: Issue| (first_line(&issue.body) == marker).then_some(issue);
        let same = self.client.list_first(PAGES, &list, same).await?;
        let ours = self.only_ours(same, issue_of).await;
        Ok(ours.into_iter().find(|issue| issue.pull_request.is_none()))
    }
}

/// Returns whether something with our marker can be ours: by its author's login or, where the token
/// does not learn its own, by being a bot's.
pub(super) fn may_be_ours(own: Option<&str>, author: Option<&Account>) -> bool {
    match (own, author) {
        (Some(own), Some(author)) => author.login.eq_ignore_ascii_case(own),
        (None, Some(author)) => author.kind.as_deref() == Some("Bot"),
        (_, None) => false,
    }
}

/// Returns whether a comment was written since then: the forge's own filter is about the last
/// change.
fn written_since(post: &Post, since: Option<Timestamp>) -> bool {
    post.created_at.is_none_or(|at| since.is_none_or(|since| at >= since))
}

pub(super) fn thread_comment(read: ReadComment, own: Option<&str>) -> ThreadComment {
    let ReadComment { post, author_association, path, line } = read;
    let is_own =
        first_line(&post.body).starts_with(OWN_MARKER) && may_be_ours(own, post.user.as_ref());
    let is_user = post.user.as_ref().is_some_and(|user| user.kind.as_deref() == Some("User"));
    ThreadComment {
        id: post.id,
        author: post.user.map_or_else(|| "ghost".to_owned(), |user| user.login),
        is_user,
        has_contributed: author_association.as_deref() == Some("CONTRIBUTOR"),
        written_at: post.created_at,
        place: path.map(|path| match line {
            Some(line) => format!("{path}:{line}"),
            None => path,
        }),
        is_own,
        body: post.body.unwrap_or_default(),
    }
}

fn own_issue(issue: Issue) -> OwnIssue {
    let (is_open, title) = (issue.state == "open", issue.title.unwrap_or_default());
    OwnIssue { number: issue.number, is_open, title }
}

fn issue_of(issue: &Issue) -> (&Option<String>, &Option<Account>) {
    (&issue.body, &issue.user)
}

fn post_of(post: &Post) -> (&Option<String>, &Option<Account>) {
    (&post.body, &post.user)
}

/// The first line of a text, where the marker stands.
fn first_line(body: &Option<String>) -> &str {
    body.as_deref().unwrap_or_default().lines().next().unwrap_or_default().trim_end()
}
