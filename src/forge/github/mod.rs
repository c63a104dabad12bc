//! GitHub through octocrab: who may, what a pull request is now, and every posting. The base URL is
//! the caller's, so Enterprise servers and local ones work.
//!
//! A comment is found again by its marker: the first line of its body, which names one run or
//! thread. Anyone can write such a line, and a token that may write can edit anyone's comment, so a
//! comment counts as ours only when we can have written it: its author is the token's own login,
//! or, where the forge does not tell an App's token who it is, a bot. An edit that is refused is
//! followed by a comment of our own.

mod commits;
mod review;
mod wire;

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::commits::ForgeCommit;
use crate::event::Subject;
use crate::github::review::review_of;
use crate::github::wire::{Call, NAME, Wire, number, text};
use crate::posts::{OwnReaction, Posting, ReactionTarget, Receipt};
use crate::{CommentableLines, Forge, ForgeError, OwnComment, Permission, PullRequest, Thread};
use locum_base::clock::Clock;
use locum_base::secret::Secret;
use locum_policy::Permit;
use locum_policy::intent::Publication;

/// Items on one page of a list: the most GitHub gives.
const PAGE: usize = 100;

/// Pages read of one list.
const PAGES: usize = 30;

/// A repository at GitHub or a server that speaks like it.
pub struct GitHub {
    wire: Wire,
    /// `owner/name`.
    repository: String,
    /// Who we are, once asked; `None` when the forge does not say.
    login: OnceCell<Option<String>>,
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
        Ok(Self {
            wire: Wire::new(api_url, token, clock),
            repository: repository.to_owned(),
            login: OnceCell::new(),
        })
    }

    /// Returns the path of something in the repository.
    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{rest}", self.repository)
    }

    async fn ask_permission(&self, login: &str) -> Result<Permission, ForgeError> {
        let path = self.path(&format!("collaborators/{}/permission", segment(login)));
        let answer = match self.wire.ask(Call::get(path.clone())).await {
            Err(ForgeError::NotFound { .. }) => return Ok(Permission::None),
            other => other?,
        };
        let word = text(&answer, "/permission").unwrap_or_default();
        Permission::from_words(word, text(&answer, "/role_name")).ok_or_else(|| {
            ForgeError::Failed {
                forge: NAME,
                action: format!("GET {path}"),
                message: format!("unknown permission `{word}`"),
            }
        })
    }

    async fn read_pull_request(&self, number: u64) -> Result<PullRequest, ForgeError> {
        let path = self.path(&format!("pulls/{number}"));
        let answer = self.wire.ask(Call::get(path.clone())).await?;
        let text = |pointer: &str| text(&answer, pointer).map(str::to_owned);
        let need = |pointer: &str| text(pointer).ok_or_else(|| missing(&path, pointer));
        // Names can be given to another repository; ids cannot. A head whose repository is gone
        // counts as foreign.
        let (head, base) = (answer.pointer("/head/repo/id"), answer.pointer("/base/repo/id"));
        Ok(PullRequest {
            number,
            title: text("/title").unwrap_or_default(),
            body: text("/body").unwrap_or_default(),
            is_open: need("/state")? == "open",
            head_branch: need("/head/ref")?,
            head_sha: need("/head/sha")?,
            base_branch: need("/base/ref")?,
            base_sha: need("/base/sha")?,
            is_fork: head
                .and_then(Value::as_u64)
                .is_none_or(|head| Some(head) != base.and_then(Value::as_u64)),
        })
    }

    async fn read_issue(&self, number: u64) -> Result<Subject, ForgeError> {
        let path = self.path(&format!("issues/{number}"));
        let answer = self.wire.ask(Call::get(path.clone())).await?;
        let text = |pointer: &str| text(&answer, pointer).map(str::to_owned);
        Ok(Subject {
            number,
            title: text("/title").unwrap_or_default(),
            body: text("/body").unwrap_or_default(),
            author: text("/user/login").unwrap_or_else(|| "ghost".to_owned()),
            is_pull_request: answer.pointer("/pull_request").is_some_and(Value::is_object),
            is_open: text("/state").ok_or_else(|| missing(&path, "/state"))? == "open",
            is_locked: answer.pointer("/locked").and_then(Value::as_bool).unwrap_or(false),
            head_sha: None,
        })
    }

    /// Asks once who the token belongs to; an App's token is not told.
    async fn own_login(&self) -> Option<&str> {
        let ask = async {
            let answer = self.wire.ask(Call::get("/user".to_owned())).await;
            answer.ok().and_then(|answer| text(&answer, "/login").map(str::to_owned))
        };
        self.login.get_or_init(|| ask).await.as_deref()
    }

    /// Returns true for a comment that we can have written.
    async fn can_be_ours(&self, comment: &Value) -> bool {
        match self.own_login().await {
            Some(own) => {
                text(comment, "/user/login").is_some_and(|login| login.eq_ignore_ascii_case(own))
            }
            None => text(comment, "/user/type") == Some("Bot"),
        }
    }

    /// Reads a list of comments page by page and returns ours that begin with the marker, oldest
    /// first.
    async fn ours(&self, list: &str, marker: &str) -> Result<Vec<Value>, ForgeError> {
        let mut found = Vec::new();
        let joint = if list.contains('?') { '&' } else { '?' };
        for page in 1..=PAGES {
            let answer = self
                .wire
                .ask(Call::get(format!("{list}{joint}per_page={PAGE}&page={page}")))
                .await?;
            let Value::Array(comments) = answer else { return Err(missing(list, "a list")) };
            let is_last = comments.len() < PAGE;
            for comment in comments {
                let first = text(&comment, "/body")
                    .and_then(|body| body.lines().next())
                    .unwrap_or_default();
                if first.trim_end().starts_with(marker) && self.can_be_ours(&comment).await {
                    found.push(comment);
                }
            }
            if is_last {
                break;
            }
        }
        Ok(found)
    }

    async fn publish(&self, posting: &Posting) -> Result<Receipt, ForgeError> {
        match posting {
            Posting::Reaction { target, content } => self.react(*target, content).await,
            Posting::Withdrawal(OwnReaction { target, id }) => {
                let path = format!("{}/{id}", self.reactions(*target));
                self.wire.ask(Call::delete(path)).await?;
                Ok(Receipt { publication: Publication::Comment, id: *id, url: String::new(), updated: true })
            }
            Posting::Comment { number, marker, body } => {
                let list = self.path(&format!("issues/{number}/comments"));
                self.put_comment(&Place { create: list.clone(), list, edit: self.path("issues/comments") }, marker, body).await
            }
            Posting::Reply { number, comment, marker, body } => {
                let list = self.path(&format!("pulls/{number}/comments"));
                let create = format!("{list}/{comment}/replies");
                self.put_comment(&Place { create, list, edit: self.path("pulls/comments") }, marker, body).await
            }
            Posting::Review { number, commit, marker, body, comments } => {
                self.put_review(*number, marker, &review_of(commit, body, comments)).await
            }
            Posting::PullRequest { head, base, title, body, draft } => {
                self.put_pull_request(&json!({ "head": head, "base": base, "title": title, "body": body, "draft": draft })).await
            }
            Posting::Issue { marker, title, body } => self.put_issue(marker, &json!({ "title": title, "body": body })).await,
            Posting::Labels { number, labels } => {
                let path = self.path(&format!("issues/{number}/labels"));
                self.wire.ask(Call::post(path, json!({ "labels": labels }))).await?;
                Ok(Receipt { publication: Publication::Label, id: *number, url: String::new(), updated: false })
            }
        }
    }

    /// Returns where the reactions on something are.
    fn reactions(&self, target: ReactionTarget) -> String {
        self.path(&match target {
            ReactionTarget::IssueComment(id) => format!("issues/comments/{id}/reactions"),
            ReactionTarget::ReviewComment(id) => format!("pulls/comments/{id}/reactions"),
            ReactionTarget::Issue(number) => format!("issues/{number}/reactions"),
        })
    }

    async fn react(&self, target: ReactionTarget, content: &str) -> Result<Receipt, ForgeError> {
        let path = self.reactions(target);
        let answer = self.wire.ask(Call::post(path.clone(), json!({ "content": content }))).await?;
        receipt(Publication::Comment, &path, &answer, false)
    }

    /// Edits our comment with this marker, or writes one.
    async fn put_comment(
        &self,
        place: &Place,
        marker: &str,
        body: &str,
    ) -> Result<Receipt, ForgeError> {
        let whole_line = |comment: &Value| starts_with_line(comment, marker);
        for comment in self.ours(&place.list, marker).await?.into_iter().filter(whole_line) {
            let path = format!(
                "{}/{}",
                place.edit,
                number(&comment, "/id").ok_or_else(|| missing(&place.list, "/id"))?
            );
            match self.wire.ask(Call::patch(path.clone(), json!({ "body": body }))).await {
                Ok(answer) => return receipt(Publication::Comment, &path, &answer, true),
                // Somebody else's after all, or gone: ours is the next one, or still to be written.
                Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        match self.wire.ask(Call::post(place.create.clone(), json!({ "body": body }))).await {
            Ok(answer) => receipt(Publication::Comment, &place.create, &answer, false),
            // The comment may have been written before the answer was lost.
            Err(error @ ForgeError::Failed { .. }) => {
                match self.ours(&place.list, marker).await?.into_iter().find(whole_line) {
                    Some(comment) if text(&comment, "/body") == Some(body) => {
                        receipt(Publication::Comment, &place.create, &comment, false)
                    }
                    Some(_) | None => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Changes our open issue with this marker, or opens one.
    async fn put_issue(&self, marker: &str, issue: &Value) -> Result<Receipt, ForgeError> {
        let path = self.path("issues");
        let ours = self.ours(&format!("{path}?state=open"), marker).await?;
        let same = ours
            .iter()
            .find(|known| starts_with_line(known, marker) && known.get("pull_request").is_none());
        let answer = match same.and_then(|same| number(same, "/number")) {
            Some(number) => {
                self.wire.ask(Call::patch(format!("{path}/{number}"), issue.clone())).await?
            }
            None => self.wire.ask(Call::post(path.clone(), issue.clone())).await?,
        };
        let number = number(&answer, "/number").ok_or_else(|| missing(&path, "/number"))?;
        Ok(Receipt {
            publication: Publication::Issue,
            id: number,
            url: url_of(&answer),
            updated: same.is_some(),
        })
    }

    /// Changes the open pull request from the same branch, or opens one. Whether it is a draft is
    /// decided when it is opened.
    async fn put_pull_request(&self, pull_request: &Value) -> Result<Receipt, ForgeError> {
        let (owner, _) = self.repository.split_once('/').unwrap_or_default();
        let head = format!("{owner}:{}", text(pull_request, "/head").unwrap_or_default());
        let query: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("state", "open")
            .append_pair("head", &head)
            .finish();
        let path = self.path("pulls");
        let open = self.wire.ask(Call::get(format!("{path}?{query}"))).await?;
        // Servers that don't know the filter answer with everything.
        let same = open.as_array().into_iter().flatten().find(|open| {
            let own = open
                .pointer("/head/repo/full_name")
                .and_then(Value::as_str)
                .is_some_and(|name| name.eq_ignore_ascii_case(&self.repository));
            own && open.pointer("/head/ref") == pull_request.get("head")
        });
        let answer = match same.and_then(|same| number(same, "/number")) {
            Some(number) => {
                let change = json!({ "title": pull_request.get("title"), "body": pull_request.get("body"), "base": pull_request.get("base") });
                self.wire.ask(Call::patch(format!("{path}/{number}"), change)).await?
            }
            None => self.wire.ask(Call::post(path.clone(), pull_request.clone())).await?,
        };
        let number = number(&answer, "/number").ok_or_else(|| missing(&path, "/number"))?;
        Ok(Receipt {
            publication: Publication::PullRequest,
            id: number,
            url: url_of(&answer),
            updated: same.is_some(),
        })
    }
}

impl Forge for GitHub {
    fn name(&self) -> &'static str {
        NAME
    }

    fn permission<'a>(&'a self, login: &'a str) -> BoxFuture<'a, Result<Permission, ForgeError>> {
        self.ask_permission(login).boxed()
    }

    fn pull_request(&self, number: u64) -> BoxFuture<'_, Result<PullRequest, ForgeError>> {
        self.read_pull_request(number).boxed()
    }

    fn commentable_lines(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<CommentableLines, ForgeError>> {
        self.read_lines(number).boxed()
    }

    fn issue(&self, number: u64) -> BoxFuture<'_, Result<Subject, ForgeError>> {
        self.read_issue(number).boxed()
    }

    fn own_login(&self) -> BoxFuture<'_, Option<String>> {
        self.own_login().map(|login| login.map(str::to_owned)).boxed()
    }

    fn own_comments<'a>(
        &'a self,
        thread: Thread,
        marker: &'a str,
        since: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<Vec<OwnComment>, ForgeError>> {
        async move {
            let number = thread.number;
            let places = [
                Some(format!("issues/{number}/comments")),
                thread.is_pull_request.then(|| format!("pulls/{number}/comments")),
            ];
            let query = since.map_or_else(String::new, |since| {
                format!("?since={}", since.strftime("%Y-%m-%dT%H:%M:%SZ"))
            });
            // `since` is about the last change; what counts is when a comment was written.
            let created = |comment: &Value| {
                let at = text(comment, "/created_at").and_then(|at| at.parse::<Timestamp>().ok());
                at.is_none_or(|at| since.is_none_or(|since| at >= since))
            };
            let mut found = Vec::new();
            for place in places.into_iter().flatten() {
                let ours = self.ours(&self.path(&format!("{place}{query}")), marker).await?;
                found
                    .extend(ours.iter().filter(|comment| created(comment)).filter_map(own_comment));
            }
            Ok(found)
        }
        .boxed()
    }

    fn commit(&self, permit: Permit<ForgeCommit>) -> BoxFuture<'_, Result<String, ForgeError>> {
        async move { self.make_commit(permit.act()).await }.boxed()
    }

    fn post(&self, permit: Permit<Posting>) -> BoxFuture<'_, Result<Receipt, ForgeError>> {
        async move { self.publish(permit.act()).await }.boxed()
    }
}

fn own_comment(comment: &Value) -> Option<OwnComment> {
    Some(OwnComment { id: number(comment, "/id")?, body: text(comment, "/body")?.to_owned() })
}

/// Returns true for something whose text begins with exactly this line.
fn starts_with_line(posted: &Value, marker: &str) -> bool {
    text(posted, "/body")
        .and_then(|body| body.lines().next())
        .is_some_and(|line| line.trim_end() == marker)
}

/// Where comments of one kind are listed, created and edited.
struct Place {
    list: String,
    create: String,
    edit: String,
}

fn receipt(
    publication: Publication,
    path: &str,
    answer: &Value,
    updated: bool,
) -> Result<Receipt, ForgeError> {
    let id = number(answer, "/id").ok_or_else(|| missing(path, "/id"))?;
    Ok(Receipt { publication, id, url: url_of(answer), updated })
}

fn url_of(answer: &Value) -> String {
    text(answer, "/html_url").unwrap_or_default().to_owned()
}

fn missing(path: &str, what: &str) -> ForgeError {
    ForgeError::Failed {
        forge: NAME,
        action: path.to_owned(),
        message: format!("the answer has no `{what}`"),
    }
}

/// Writes a name as one segment of a path.
fn segment(name: &str) -> String {
    url::form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests;
