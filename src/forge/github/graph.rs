//! GitHub's GraphQL API, for what its REST API cannot do: threads of review comments, and
//! discussions (`discussions`).
//!
//! In: a query and its variables. Out: the data of the answer, or the first of its errors. They
//! wait and are repeated as requests to the REST API are, out of one budget with them.

use futures::future::BoxFuture;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::ForgeError;
use crate::github::GitHub;
use crate::github::client::{NAME, ReadWaits, RestClient};
use crate::github::limit::is_about_limit;
use crate::github::lists::too_long;
use crate::posts::Receipt;
use crate::threads::ReviewThread;
use locum_base::text::head;
use locum_policy::intent::PublicationKind;

/// Where the API is, below its start.
const PATH: &str = "/graphql";

/// Pages of threads that are read, of 50 each.
const PAGES: usize = 10;

/// The message of an error is shown up to this length.
const MESSAGE_LIMIT_BYTES: usize = 400;

const THREADS: &str = "query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 50, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved comments(first: 30) {
        nodes { databaseId viewerDidAuthor reactionGroups { content reactors { totalCount } } }
      } }
    }
  } }
}";

const RESOLVE: &str = "mutation($id: ID!) {
  resolveReviewThread(input: { threadId: $id }) { thread { isResolved } }
}";

/// A connection to the GraphQL API beside a REST API.
pub(super) struct GraphClient {
    client: RestClient,
}

#[derive(Deserialize)]
struct Answer<T> {
    data: Option<T>,
    #[serde(default)]
    errors: Vec<AnswerError>,
}

#[derive(Deserialize)]
struct AnswerError {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct RepositoryData {
    repository: PullRequestData,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullRequestData {
    pull_request: ThreadsData,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadsData {
    review_threads: ThreadPage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadPage {
    page_info: PageInfo,
    nodes: Vec<ThreadNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageInfo {
    pub(super) has_next_page: bool,
    pub(super) end_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadNode {
    id: String,
    is_resolved: bool,
    comments: CommentNodes,
}

#[derive(Deserialize)]
struct CommentNodes {
    nodes: Vec<CommentNode>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    database_id: Option<u64>,
    viewer_did_author: bool,
    #[serde(default)]
    reaction_groups: Option<Vec<ReactionGroup>>,
}

#[derive(Deserialize)]
struct ReactionGroup {
    content: String,
    reactors: ReactorCount,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReactorCount {
    total_count: u64,
}

impl GraphClient {
    /// Prepares a connection beside that to the REST API. On Enterprise servers the latter starts
    /// at `/api/v3`, and the GraphQL API lies beside it.
    pub(super) fn beside(rest: &RestClient) -> Self {
        let api_url = rest.base_url();
        let start = match api_url.strip_suffix("/v3") {
            Some(start) if start.ends_with("/api") => start,
            Some(_) | None => api_url,
        };
        Self { client: rest.beside(start) }
    }

    /// Reads. Repeated as the reads of the REST API are.
    ///
    /// # Errors
    /// When the forge refuses, or does not know what is asked for.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
    ) -> Result<T, ForgeError> {
        self.read_waiting(ReadWaits::default(), query, variables).await
    }

    /// Reads what a run can go without: a limit is waited for a few seconds at most.
    ///
    /// # Errors
    /// As [`GraphClient::read`].
    pub(super) async fn read_soon<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
    ) -> Result<T, ForgeError> {
        self.read_waiting(ReadWaits::short(), query, variables).await
    }

    async fn read_waiting<T: DeserializeOwned>(
        &self,
        mut waits: ReadWaits,
        query: &str,
        variables: &Value,
    ) -> Result<T, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        loop {
            match self.client.send_once_as("POST", PATH, &body, Answer::<T>::into_data).await {
                Ok(data) => return Ok(data),
                Err(error) => self.client.wait_to_read(&mut waits, error).await?,
            }
        }
    }

    /// Changes what comes to the same when it is changed twice.
    ///
    /// # Errors
    /// As [`GraphClient::read`].
    pub(super) async fn change<T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
    ) -> Result<T, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        self.client.send_as("POST", PATH, &body, Answer::<T>::into_data).await
    }

    /// Creates something. Where it is not known whether it was created, it is looked for before it
    /// is sent again.
    ///
    /// # Errors
    /// As [`GraphClient::read`], and those of `find`.
    pub(super) async fn create<'f, T: DeserializeOwned>(
        &self,
        query: &str,
        variables: &Value,
        find: impl Fn() -> BoxFuture<'f, Result<Option<T>, ForgeError>>,
    ) -> Result<T, ForgeError> {
        let body = json!({ "query": query, "variables": variables });
        self.client.create_as(PATH, &body, Answer::<T>::into_data, find).await
    }
}

impl<T> Answer<T> {
    /// Returns what was asked for, or the error that comes with a status which says that all is
    /// well; one about a limit asks to wait so many seconds.
    fn into_data(self, wait_s: Option<u64>) -> Result<T, ForgeError> {
        match (self.errors.into_iter().next(), self.data) {
            (Some(error), _) => Err(error.into_error(wait_s)),
            (None, Some(data)) => Ok(data),
            (None, None) => Err(failed("it answered with neither data nor an error".to_owned())),
        }
    }
}

impl AnswerError {
    fn into_error(self, wait_s: Option<u64>) -> ForgeError {
        let Self { kind, message } = self;
        let message = head(&message, MESSAGE_LIMIT_BYTES).to_owned();
        let action = format!("POST {PATH}");
        match kind.as_str() {
            "FORBIDDEN" | "INSUFFICIENT_SCOPES" => {
                ForgeError::Forbidden { forge: NAME, action, message }
            }
            "NOT_FOUND" => ForgeError::NotFound { forge: NAME, what: message },
            kind if matches!(kind, "RATE_LIMIT" | "RATE_LIMITED") || is_about_limit(&message) => {
                ForgeError::RateLimited { forge: NAME, action, retry_after_s: wait_s }
            }
            _ => failed(message),
        }
    }
}

fn failed(message: String) -> ForgeError {
    ForgeError::Failed { forge: NAME, action: format!("POST {PATH}"), message }
}

impl ThreadNode {
    /// Returns the thread; `None` where the comment that opened it is gone.
    fn into_thread(self) -> Option<ReviewThread> {
        let (first, answers) = self.comments.nodes.split_first()?;
        let down =
            first.reaction_groups.iter().flatten().filter(|one| one.content == "THUMBS_DOWN");
        let answers = answers.iter().filter(|comment| !comment.viewer_did_author).count();
        Some(ReviewThread {
            first: first.database_id?,
            is_own: first.viewer_did_author,
            is_resolved: self.is_resolved,
            down_votes: down.map(|one| one.reactors.total_count).sum(),
            answers: u64::try_from(answers).unwrap_or(u64::MAX),
            id: self.id,
        })
    }
}

impl GitHub {
    /// Returns the variables that ask for a page of what is below a number of the repository.
    pub(super) fn page_of(&self, number: u64, after: Option<&str>) -> Value {
        let (owner, name) = self.repository.split_once('/').unwrap_or_default();
        json!({ "owner": owner, "name": name, "number": number, "after": after })
    }

    /// Reads the threads on lines of a pull request; more than 500 are an error.
    pub(super) async fn read_threads(&self, number: u64) -> Result<Vec<ReviewThread>, ForgeError> {
        let mut found = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let variables = self.page_of(number, after.as_deref());
            let RepositoryData { repository } = self.graph.read(THREADS, &variables).await?;
            let page = repository.pull_request.review_threads;
            found.extend(page.nodes.into_iter().filter_map(ThreadNode::into_thread));
            after = page.page_info.end_cursor.filter(|_| page.page_info.has_next_page);
            if after.is_none() {
                return Ok(found);
            }
        }
        let action = format!("read pull request #{number}");
        Err(too_long(action, PAGES * 50, "threads on lines"))
    }

    /// Marks a thread as resolved.
    pub(super) async fn resolve(&self, number: u64, thread: &str) -> Result<Receipt, ForgeError> {
        let _: Value = self.graph.change(RESOLVE, &json!({ "id": thread })).await?;
        let (publication, url) = (PublicationKind::Review, String::new());
        Ok(Receipt { publication, id: number, url, updated: true })
    }
}
