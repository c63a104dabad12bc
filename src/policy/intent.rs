//! `Intent`: one thing an act would do to the world, in terms the policy has rules for.

use std::fmt;

use crate::actors::Tier;
use crate::command::Script;
use crate::query_text::SearchQuery;
use crate::urls::{Destination, WebUrl};
use locum_base::path::RepoPath;

/// One thing an act would do to the world. Paths are real paths: links are resolved before an
/// intent is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Reads (lists, searches) a file or folder.
    Read(RepoPath),
    /// Creates, changes, moves or removes a file.
    Edit(RepoPath),
    /// Runs a script of commands.
    Command(Script),
    /// Gets a page or file from the network.
    Fetch(WebUrl),
    /// Asks a search engine of the web.
    Search(SearchQuery),
    /// Opens a page in a browser.
    Browse(WebUrl),
    /// Lets a browser connect to a host, whatever of it is asked for.
    Visit(Destination),
    /// Lets a command connect to a host.
    Connect(Destination),
    /// Starts an MCP server, or connects to it, and asks what tools it has.
    Server(String),
    /// Connects to a host for an MCP server that is a service: to the service itself, or to what
    /// gives out its tokens.
    Service {
        /// The server's name in the settings.
        server: String,
        /// Where the connection goes.
        destination: Destination,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The server's name in the settings.
        server: String,
        /// The tool's name as the server gives it.
        tool: String,
    },
    /// Publishes something where others see it.
    Publish(PublicationKind),
    /// Hands work to a sub-task in this mode.
    Delegate(String),
    /// Asks another model, by the name of its profile.
    Expert(String),
    /// Reads an entry of the memory across runs, by its name.
    MemoryRead(String),
    /// Writes or removes an entry of the memory across runs, by its name.
    MemoryWrite(String),
    /// Runs in this mode, or switches to it.
    Mode(String),
    /// Stays within the session: keeps its checklist, asks the maintainers, ends a task with a
    /// result. Allowed by the built-in rule `session`, since nothing outside changes; what becomes
    /// of a question or a result is judged when published.
    Session,
}

impl fmt::Display for Intent {
    /// Writes the intent as a policy would name it: `edit(src/lib.rs)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(formatter, "read({path})"),
            Self::Edit(path) => write!(formatter, "edit({path})"),
            Self::Command(script) => write!(formatter, "command({})", script.with_folder()),
            Self::Fetch(url) => write!(formatter, "fetch({url})"),
            Self::Search(query) => write!(formatter, "search({})", query.text()),
            Self::Browse(url) => write!(formatter, "browse({url})"),
            Self::Visit(destination) => write!(formatter, "browse({destination})"),
            Self::Connect(destination) | Self::Service { destination, .. } => {
                write!(formatter, "connect({destination})")
            }
            Self::Server(server) => write!(formatter, "mcp({server})"),
            Self::Mcp { server, tool } => write!(formatter, "mcp({server}/{tool})"),
            Self::Publish(publication) => write!(formatter, "publish({publication})"),
            Self::Delegate(mode) => write!(formatter, "delegate({mode})"),
            Self::Expert(profile) => write!(formatter, "expert({profile})"),
            Self::MemoryRead(name) => write!(formatter, "memory(read/{name})"),
            Self::MemoryWrite(name) => write!(formatter, "memory(write/{name})"),
            Self::Mode(mode) => write!(formatter, "mode({mode})"),
            Self::Session => formatter.write_str("session"),
        }
    }
}

/// What kind of thing is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublicationKind {
    /// A comment on an issue or pull request, and the reaction on the comment that asked.
    Comment,
    /// Review comments on lines of a pull request.
    Review,
    /// A commit on a branch that is pushed.
    Commit,
    /// A pull request.
    PullRequest,
    /// A label.
    Label,
    /// An issue, where maintainers decide on what a scheduled run waits for.
    Issue,
    /// What a commit's checks show: check runs of our own, and failed jobs that are run again.
    Check,
}

/// Words for what is published, as written in policies.
pub const PUBLICATIONS: &[(&str, PublicationKind)] = &[
    ("comment", PublicationKind::Comment),
    ("review", PublicationKind::Review),
    ("commit", PublicationKind::Commit),
    ("pull-request", PublicationKind::PullRequest),
    ("label", PublicationKind::Label),
    ("issue", PublicationKind::Issue),
    ("check", PublicationKind::Check),
];

impl fmt::Display for PublicationKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(word_of(PUBLICATIONS, self))
    }
}

/// Returns the word that stands for a value in a list of words.
pub(crate) fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, one)| one == value).map_or("?", |(word, _)| word)
}

/// Something the program wants to do, described by its intents.
pub trait Act {
    /// Returns everything this act would do. An act without intents is never allowed.
    fn intents(&self) -> Vec<Intent>;
}

/// A connection that a program in the sandbox requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A command, or an MCP server.
    Command(Destination),
    /// A browser.
    Browser(Destination),
}

impl Act for Connection {
    fn intents(&self) -> Vec<Intent> {
        vec![match self {
            Self::Command(destination) => Intent::Connect(destination.clone()),
            Self::Browser(destination) => Intent::Visit(destination.clone()),
        }]
    }
}

/// What a decision may depend on besides the intent: who asked, how, and in which mode the agent
/// runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// The slug of the mode the act is done in.
    pub mode: String,
    /// How the run was started.
    pub trigger: TriggerKind,
    /// What the forge reports about the account that started it.
    pub tier: Tier,
    /// The job that is run, if any.
    pub job: Option<String>,
    /// The check that is made, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Whether commands run inside a sandbox on this machine.
    #[serde(default)]
    pub sandboxed: bool,
    /// Whether commands run in namespaces and write to a layer here, so that all they can do is
    /// held or judged afterwards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contained: bool,
    /// What this run may not do although the rules would let it.
    #[serde(default, skip_serializing_if = "Restriction::is_none")]
    pub restriction: Restriction,
    /// Whether the run has met text that may be anyone's: an issue, a page, an answer of a server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside_text: bool,
}

/// What one run may not do although the rules would let it. It can only take away.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Restriction {
    /// Nothing may be written, no command run that does more than read, nothing published but
    /// what is said: comments, reviews and check runs.
    pub read_only: bool,
    /// Nevertheless, any command may run where it is contained. What it writes stays out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub contained: bool,
    /// Only files that match one of these globs may be edited; empty means no such limit.
    pub paths: Vec<String>,
}

impl Restriction {
    /// Returns true when nothing is taken away.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// How a run was started.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// A user on the command line.
    #[default]
    Local,
    /// `/locum ...` in a comment.
    Comment,
    /// A label put on an issue.
    Label,
    /// An issue assigned to a login that the policy names.
    Assign,
    /// `workflow_dispatch`.
    Dispatch,
    /// A cron schedule of the workflow.
    Schedule,
    /// A pull request was opened, pushed to, made ready or labelled.
    PullRequest,
    /// A check of a pull request failed.
    CiFailure,
    /// A branch was pushed to.
    Push,
    /// A release was published.
    Release,
    /// A merge queue asks for checks.
    MergeGroup,
    /// `repository_dispatch`.
    RepositoryDispatch,
}
