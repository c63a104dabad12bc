//! Discussions, which GitHub's REST API does not know: comments and answers to them, what we wrote
//! there, and reactions.
//!
//! In: a discussion's number, and a comment's. Out: comments; or an answer below a comment, found
//! again by its marker and edited rather than repeated.

use futures::FutureExt as _;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::github::GitHub;
use crate::github::client::NAME;
use crate::github::comments::OWN_MARKER;
use crate::github::graph::PageInfo;
use crate::github::lists::too_long;
use crate::posts::{OwnReaction, ReactionTarget, Receipt};
use crate::{ForgeError, OwnComment, ThreadComment};
use locum_policy::intent::PublicationKind;

/// Pages of comments that are read, of 50 each with the last 100 answers to it.
const PAGES: usize = 10;

/// Answers to a comment that are read.
const ANSWERS: usize = 100;

const READ: &str = "query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { discussion(number: $number) {
    id
    comments(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { ...said replies(last: 100) { totalCount nodes { ...said } } }
    }
  } }
}
fragment said on DiscussionComment {
  id databaseId url body createdAt viewerDidAuthor authorAssociation
  author { login __typename } reactionGroups { content viewerHasReacted }
}";

const ADD: &str = "mutation($discussion: ID!, $to: ID!, $body: String!) {
  written: addDiscussionComment(input: { discussionId: $discussion, replyToId: $to, body: $body }) {
    comment { databaseId url }
  }
}";

const UPDATE: &str = "mutation($id: ID!, $body: String!) {
  written: updateDiscussionComment(input: { commentId: $id, body: $body }) {
    comment { databaseId url }
  }
}";

const REACT: &str = "mutation($id: ID!, $content: ReactionContent!) {
  addReaction(input: { subjectId: $id, content: $content }) { reaction { content } }
}";

const WITHDRAW: &str = "mutation($id: ID!, $content: ReactionContent!) {
  removeReaction(input: { subjectId: $id, content: $content }) { reaction { content } }
}";

/// Reactions by the names that the REST API has for them, and those of this one.
const REACTIONS: [(&str, &str); 8] = [
    ("+1", "THUMBS_UP"),
    ("-1", "THUMBS_DOWN"),
    ("laugh", "LAUGH"),
    ("hooray", "HOORAY"),
    ("confused", "CONFUSED"),
    ("heart", "HEART"),
    ("rocket", "ROCKET"),
    ("eyes", "EYES"),
];

#[derive(Deserialize)]
struct RepositoryData {
    repository: DiscussionData,
}

#[derive(Deserialize)]
struct DiscussionData {
    discussion: Option<DiscussionPage>,
}

#[derive(Deserialize)]
struct DiscussionPage {
    id: String,
    comments: CommentPage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentPage {
    page_info: PageInfo,
    nodes: Vec<TopComment>,
}

#[derive(Deserialize)]
struct TopComment {
    #[serde(flatten)]
    comment: Said,
    replies: Replies,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Replies {
    /// How many there are, also of those that are not listed.
    #[serde(default)]
    total_count: usize,
    nodes: Vec<Said>,
}

/// A comment, or an answer to one.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    id: String,
    database_id: Option<u64>,
    url: String,
    body: String,
    created_at: Option<Timestamp>,
    viewer_did_author: bool,
    author_association: Option<String>,
    author: Option<Author>,
    #[serde(default)]
    reaction_groups: Option<Vec<Reacted>>,
    /// The comment that stands above it, or itself.
    #[serde(skip)]
    top: String,
    /// Whether there are more answers to it than were read.
    #[serde(skip)]
    is_cut: bool,
}

#[derive(Clone, Deserialize)]
struct Author {
    login: String,
    #[serde(rename = "__typename")]
    kind: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reacted {
    content: String,
    viewer_has_reacted: bool,
}

#[derive(Deserialize)]
struct WrittenData {
    written: Written,
}

#[derive(Deserialize)]
struct Written {
    comment: WrittenComment,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenComment {
    database_id: Option<u64>,
    url: String,
}

impl Said {
    fn marker(&self) -> &str {
        self.body.lines().next().unwrap_or_default().trim_end()
    }

    fn is_ours(&self) -> bool {
        self.viewer_did_author && self.marker().starts_with(OWN_MARKER)
    }

    fn is_since(&self, since: Option<Timestamp>) -> bool {
        self.created_at.is_none_or(|at| since.is_none_or(|since| at >= since))
    }

    fn into_comment(self) -> Option<ThreadComment> {
        let is_own = self.is_ours();
        let (author, kind) = match self.author {
            Some(Author { login, kind }) => (login, kind),
            None => ("ghost".to_owned(), String::new()),
        };
        Some(ThreadComment {
            id: self.database_id?,
            author,
            is_user: kind == "User",
            has_contributed: self.author_association.as_deref() == Some("CONTRIBUTOR"),
            written_at: self.created_at,
            place: None,
            is_own,
            body: self.body,
        })
    }
}

impl WrittenData {
    fn receipt(self, updated: bool) -> Receipt {
        let WrittenComment { database_id, url } = self.written.comment;
        let (publication, id) = (PublicationKind::Comment, database_id.unwrap_or_default());
        Receipt { publication, id, url, updated }
    }
}

impl GitHub {
    /// Reads all that was said in a discussion, and the discussion's own id.
    async fn said(&self, number: u64) -> Result<(String, Vec<Said>), ForgeError> {
        let mut found = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let variables = self.page_of(number, after.as_deref());
            let RepositoryData { repository } = self.graph.read(READ, &variables).await?;
            let unknown =
                || ForgeError::NotFound { forge: NAME, what: format!("discussion #{number}") };
            let DiscussionPage { id, comments } = repository.discussion.ok_or_else(unknown)?;
            for TopComment { comment, replies } in comments.nodes {
                let top = comment.id.clone();
                let is_cut = replies.total_count > replies.nodes.len();
                let all = std::iter::once(Said { is_cut, ..comment }).chain(replies.nodes);
                found.extend(all.map(|said| Said { top: top.clone(), ..said }));
            }
            after = comments.page_info.end_cursor.filter(|_| comments.page_info.has_next_page);
            if after.is_none() {
                return Ok((id, found));
            }
        }
        Err(too_long(format!("read discussion #{number}"), PAGES * 50, "comments"))
    }

    /// Reads what was written in a discussion, oldest first; with `since`, since then.
    pub(super) async fn read_discussion(
        &self,
        number: u64,
        since: Option<Timestamp>,
    ) -> Result<Vec<ThreadComment>, ForgeError> {
        let (_, said) = self.said(number).await?;
        let recent = said.into_iter().filter(|one| one.is_since(since));
        let mut comments: Vec<ThreadComment> = recent.filter_map(Said::into_comment).collect();
        comments.sort_by_key(|comment| (comment.written_at, comment.id));
        Ok(comments)
    }

    /// Reads our own comments in a discussion whose first line starts with a marker, oldest first.
    pub(super) async fn read_own_in_discussion(
        &self,
        number: u64,
        marker: &str,
        since: Option<Timestamp>,
    ) -> Result<Vec<OwnComment>, ForgeError> {
        let comments = self.read_discussion(number, since).await?;
        let ours = comments.into_iter().filter(|one| one.is_own && one.body.starts_with(marker));
        Ok(ours.map(|ThreadComment { id, body, .. }| OwnComment { id, body }).collect())
    }

    /// Edits our answer with this marker, or writes one below a comment.
    pub(super) async fn put_discussion_reply(
        &self,
        (number, comment): (u64, u64),
        marker: &str,
        body: &str,
    ) -> Result<Receipt, ForgeError> {
        let (discussion, said) = self.said(number).await?;
        if let Some(own) = said.iter().find(|one| one.is_ours() && one.marker() == marker) {
            let variables = json!({ "id": own.id, "body": body });
            let written: WrittenData = self.graph.change(UPDATE, &variables).await?;
            return Ok(written.receipt(true));
        }
        let asks = said.iter().find(|one| one.database_id == Some(comment));
        let asks = asks.ok_or_else(|| ForgeError::NotFound {
            forge: NAME,
            what: format!("comment {comment} of discussion #{number}"),
        })?;
        // Ours may be among those that were not read. What answers an answer comes after it, and
        // the last ones were read.
        if asks.is_cut {
            let items = format!("answers to comment {comment}");
            return Err(too_long(format!("answer in discussion #{number}"), ANSWERS, &items));
        }
        let variables = json!({ "discussion": discussion, "to": asks.top, "body": body });
        let find = || {
            async move {
                let (_, said) = self.said(number).await?;
                let own = said.into_iter().find(|one| one.is_ours() && one.marker() == marker);
                let found =
                    own.map(|Said { database_id, url, .. }| WrittenComment { database_id, url });
                Ok(found.map(|comment| WrittenData { written: Written { comment } }))
            }
            .boxed()
        };
        let written = self.graph.create(ADD, &variables, find).await?;
        Ok(written.receipt(false))
    }

    /// Puts a reaction on a comment of a discussion, or takes it back.
    pub(super) async fn react_in_discussion(
        &self,
        (number, comment): (u64, u64),
        name: &str,
        change: ReactionChange,
    ) -> Result<Receipt, ForgeError> {
        let at = REACTIONS.iter().position(|(known, _)| *known == name);
        let known = at.and_then(|at| Some((at, REACTIONS.get(at)?.1)));
        let (at, content) = known.ok_or_else(|| unknown(name))?;
        let asks = self.said_in(number, comment).await?;
        let query = match change {
            ReactionChange::Add => REACT,
            ReactionChange::Withdraw => WITHDRAW,
        };
        let variables = json!({ "id": asks.id, "content": content });
        let _: Value = self.graph.change(query, &variables).await?;
        let (publication, url) = (PublicationKind::Comment, asks.url);
        let (id, updated) = (number_of(at), change == ReactionChange::Withdraw);
        Ok(Receipt { publication, id, url, updated })
    }

    /// Takes back one of our reactions, by its number among all there are.
    pub(super) async fn withdraw_in_discussion(
        &self,
        place: (u64, u64),
        id: u64,
    ) -> Result<Receipt, ForgeError> {
        let named = (0..).zip(REACTIONS).find(|(at, _)| number_of(*at) == id);
        let name = named.map(|(_, (name, _))| name).ok_or_else(|| unknown(&id.to_string()))?;
        self.react_in_discussion(place, name, ReactionChange::Withdraw).await
    }

    /// Reads our reactions on a comment of a discussion, each with its name.
    pub(super) async fn reactions_in_discussion(
        &self,
        (number, comment): (u64, u64),
        target: ReactionTarget,
    ) -> Result<Vec<(OwnReaction, String)>, ForgeError> {
        let groups = self.said_in(number, comment).await?.reaction_groups.unwrap_or_default();
        let is_ours = |content: &str| {
            groups.iter().any(|one| one.viewer_has_reacted && one.content == content)
        };
        let ours = (0..).zip(REACTIONS).filter(|(_, (_, content))| is_ours(content));
        Ok(ours
            .map(|(at, (name, _))| (OwnReaction { target, id: number_of(at) }, name.to_owned()))
            .collect())
    }

    async fn said_in(&self, number: u64, comment: u64) -> Result<Said, ForgeError> {
        let (_, said) = self.said(number).await?;
        said.into_iter().find(|one| one.database_id == Some(comment)).ok_or_else(|| {
            let what = format!("comment {comment} of discussion #{number}");
            ForgeError::NotFound { forge: NAME, what }
        })
    }
}

/// What is done to a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReactionChange {
    /// It is put there.
    Add,
    /// It is taken back.
    Withdraw,
}

/// Reactions have no number of their own here; zero names none.
fn number_of(at: usize) -> u64 {
    u64::try_from(at).unwrap_or_default() + 1
}

fn unknown(name: &str) -> ForgeError {
    ForgeError::NotFound { forge: NAME, what: format!("the reaction `{name}`") }
}
