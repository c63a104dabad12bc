//! `Event`: one line of the journal. Everything a session knows can be computed from its events.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::session::earlier::{EarlierConversation, SessionFork};
use crate::session::id::{IMPORTED, SessionId};
use crate::session::messages::PersonMessage;
use crate::session::outcome::{CheckReport, Outcome};
use crate::session::promotion::Promotion;
use crate::session::recorded::{
    CompactionKind, FileBefore, GeneratedImage, HookReport, ParallelCall, RecordedDecision,
    ReplyCharge, TouchedPath,
};
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::hooks::HookEvent;
use crate::tools::{Observation, Todo};
use locum_base::chat::Reply;
use locum_base::id::TaskId;
use locum_base::image::Image;
use locum_base::path::RepoPath;
use locum_modes::prompts::place::RunPlace;
use locum_policy::approval::Approval;
use locum_policy::budget::Budget;
use locum_policy::intent::Facts;
use locum_policy::verdict::{Refusal, RuleRef, Verdict};
use locum_workspace::diff::FileChange;
use locum_workspace::merge::Conflict;
use locum_workspace::repo::CommitId;

/// The journal's format; a reader refuses a later one.
pub const JOURNAL_VERSION: u32 = 3;

/// What a session is to do: complete, so that it can be resumed from its journal alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Format of the journal.
    pub version: u32,
    /// Name of the session, also of its folder.
    pub id: SessionId,
    /// The task in the words of who asked.
    pub task: String,
    /// First message of the root task: the task together with its material.
    pub message: String,
    /// Images that the root task is shown with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The conversation that it goes on with; the first message follows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<EarlierConversation>>,
    /// The session that it was made of, and where in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Box<SessionFork>>,
    /// The mode of the root task.
    pub mode: String,
    /// Who asked and how; `mode` in it is the root task's.
    pub facts: Facts,
    /// What may be spent: the policy's budget, tightened by flags and inputs.
    pub budget: Budget,
    /// The commit the run started from.
    pub base: CommitId,
    /// Hash of the policy that judges it.
    pub policy_hash: String,
    /// Labels of the models for root task and sub-tasks.
    pub models: (String, String),
    /// Labels of the models of modes that have one of their own, by slug.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mode_models: BTreeMap<String, String>,
    /// Label of the model that sums conversations up, where it is one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condense_model: Option<String>,
    /// What prompts say of the place the run works in.
    #[serde(default, skip_serializing_if = "RunPlace::is_empty")]
    pub place: RunPlace,
    /// Anything else a resume needs, by the caller's own keys (flags, event, profile names).
    pub caller: serde_json::Value,
}

impl SessionStart {
    /// Returns true for a session that was imported to be read.
    pub fn is_imported(&self) -> bool {
        self.caller.get(IMPORTED).is_some()
    }
}

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The session began; always the first line.
    Started(Box<SessionStart>),
    /// A killed session was resumed.
    Resumed {
        /// Whether the checkout's files may be anyone's by now.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        outside_text: bool,
    },
    /// A person let a session go on that was stopped, or that was killed, perhaps with more to
    /// spend.
    Continued {
        /// Who: the user at the command line.
        by: String,
        /// What the root task may spend in all.
        budget: Budget,
        /// What they want besides: a task that ended takes it up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
        /// Images that belong to these words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// A person wrote to the session while it worked.
    MessageReceived {
        /// Their words, and who they are.
        message: PersonMessage,
    },
    /// A task read what a person wrote.
    MessageRead {
        /// The task that reads it.
        task: TaskId,
        /// Name of the message.
        message: String,
        /// The text as its model reads it.
        text: String,
        /// The images its model is shown after it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// A task began, the root task or a sub-task.
    TaskStarted {
        /// Number of the new task.
        task: TaskId,
        /// The task that requested it; `None` for the root task.
        parent: Option<TaskId>,
        /// The call of the parent that requested it.
        parent_call: Option<String>,
        /// Slug of the mode it begins in.
        mode: String,
        /// What the call names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What it is to do.
        message: String,
        /// Checklist it begins with.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        todos: Vec<Todo>,
        /// What it may spend.
        budget: Budget,
        /// The commit its own worktree begins with; `None` where it works in its parent's checkout.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<CommitId>,
    },
    /// Parallel sub-tasks are about to start, each in a worktree of its own.
    #[serde(rename = "forked")]
    ParallelStarted {
        /// Who starts them.
        task: TaskId,
        /// The calls that ask for them, in order.
        calls: Vec<ParallelCall>,
        /// What each of them begins with.
        from: CommitId,
    },
    /// The changes of a sub-task in its own worktree came to its parent, or stay where they are
    /// kept.
    #[serde(rename = "brought")]
    WorkMerged {
        /// The sub-task whose changes are merged.
        task: TaskId,
        /// Files that changed where its parent works.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taken: Vec<RepoPath>,
        /// What stood in the way; nothing was taken over then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conflicts: Vec<Conflict>,
        /// The ref the changes are kept on when they were not taken over.
        #[serde(rename = "kept", default, skip_serializing_if = "Option::is_none")]
        kept_ref: Option<String>,
    },
    /// What an ended sub-task changed, compared with what it began with.
    WorkMeasured {
        /// The sub-task.
        task: TaskId,
        /// Each file that it changed; with its patch where the change was not merged.
        changes: Vec<FileChange>,
    },
    /// Something happened that readers of the outcome have to know.
    Noted {
        /// In which task.
        task: TaskId,
        /// As sentences.
        text: String,
    },
    /// The model replied to a request.
    Replied {
        /// In which task.
        task: TaskId,
        /// The reply, without secrets.
        reply: Reply,
        /// What it cost.
        #[serde(flatten)]
        charge: ReplyCharge,
        /// True when the model has a price.
        priced: bool,
        /// Calls whose arguments held a secret, which was taken out of them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withheld: Vec<String>,
    },
    /// Another model answered a question that a call put to it.
    Consulted {
        /// In which task.
        task: TaskId,
        /// Id of the call that asks the expert.
        call: String,
        /// The name of the profile that was asked.
        expert: String,
        /// The expert's answer; empty where its reply had no words.
        answer: String,
        /// What it cost.
        #[serde(flatten)]
        charge: ReplyCharge,
    },
    /// An image model generated an image for a call, or said why not; the bytes are stored
    /// separately.
    #[serde(rename = "painted")]
    ImageGenerated {
        /// In which task.
        task: TaskId,
        /// Id of the call that requests the image.
        call: String,
        /// The image, or why there is none.
        #[serde(flatten)]
        generated: GeneratedImage,
        /// What it cost.
        #[serde(flatten)]
        charge: ReplyCharge,
    },
    /// Another model did something for a call: it embedded texts, or searched the web.
    ModelUsed {
        /// In which task.
        task: TaskId,
        /// Id of the call it was for.
        call: String,
        /// The name of the profile, or of the model, that was asked.
        by: String,
        /// What it did: `12 texts embedded`.
        what: String,
        /// What it cost.
        #[serde(flatten)]
        charge: ReplyCharge,
    },
    /// An attempt to get a reply broke after the provider had taken the request: nothing of it was
    /// used, and the provider counts it.
    ReplyLost {
        /// In which task.
        task: TaskId,
        /// What it cost.
        #[serde(flatten)]
        charge: ReplyCharge,
    },
    /// The context of a task was shortened; the journal keeps what was left out.
    #[serde(rename = "shortened")]
    Compacted {
        /// The task whose context it is.
        task: TaskId,
        /// By a summary, or without one.
        how: CompactionKind,
        /// Messages at its beginning that are left out.
        left_out: usize,
        /// Text that replaces them.
        text: String,
        /// What it cost.
        #[serde(flatten)]
        charge: ReplyCharge,
    },
    /// The session said something to the model: a reminder, a correction, an answer.
    Reminded {
        /// In which task.
        task: TaskId,
        /// Message to the model.
        text: String,
        /// True when the model had made a mistake (no tool called, unknown tool, bad arguments).
        mistake: bool,
        /// What it was about, where a task is reminded of it only once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<String>,
    },
    /// A call was judged.
    Judged {
        /// In which task.
        task: TaskId,
        /// Id of the judged call.
        call: String,
        /// One line for readers.
        headline: String,
        /// The script it would run, if it would run one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// One verdict per intent of the call.
        verdicts: Vec<Verdict>,
        /// The approval that let held intents pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<Approval>,
    },
    /// Hooks of the repository were asked.
    HooksRan {
        /// In which task.
        task: TaskId,
        /// Id of the call they were asked about.
        call: String,
        /// Where in the file they stand.
        event_name: HookEvent,
        /// Each hook, in order.
        hooks: Vec<HookReport>,
        /// True when the call is not performed, or the task does not end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stops: bool,
    },
    /// A maintainer decided on what the session had stopped for; it resumes there.
    Decided {
        /// In which task.
        task: TaskId,
        /// The call that waited.
        call: String,
        /// The decision, with author and time.
        decision: RecordedDecision,
    },
    /// A permitted call with effects is about to be performed. Flushed before the effect.
    Performing {
        /// In which task.
        task: TaskId,
        /// Id of the call about to be performed.
        call: String,
        /// What the files it would edit held before, so that an effect cut off midway can be undone
        /// and done again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        before: Vec<FileBefore>,
        /// For commands: the checkout before it, stored next to the journal under this hash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<String>,
    },
    /// What a command wrote was judged and is about to be brought from its layer into the checkout,
    /// or kept out of it.
    Promoting {
        /// In which task.
        task: TaskId,
        /// Id of the call of the command.
        call: String,
        /// What becomes of it all.
        promotion: Box<Promotion>,
    },
    /// A call has its answer.
    Answered {
        /// In which task.
        task: TaskId,
        /// Id of the answered call.
        call: String,
        /// The tool's name as the model wrote it.
        tool: String,
        /// What the model reads as the answer.
        observation: Observation,
        /// Why it was refused, if it was, or why a part of what it did was undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Box<Refusal>>,
        /// True when the model made a mistake: unknown tool, bad arguments, the same call again and
        /// again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        mistake: bool,
    },
    /// The policy's checks are about to run, because the root task says that it is done.
    Checking {
        /// The root task.
        task: TaskId,
        /// Id of the call that would end it.
        call: String,
        /// The commands, in order.
        commands: Vec<String>,
        /// The checkout before them, stored next to the journal under this hash, where they write
        /// to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<String>,
    },
    /// The policy's checks ended, and nothing of what they wrote is left.
    Checked {
        /// The root task.
        task: TaskId,
        /// Id of the call that would end it.
        call: String,
        /// Each check that ran, the one that failed last.
        checks: Vec<CheckReport>,
        /// True when the model gets the failed check as the answer, and the task goes on.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        handed_back: bool,
    },
    /// The checklist of a task changed.
    TodosChanged {
        /// In which task.
        task: TaskId,
        /// The whole checklist, which replaces the last.
        todos: Vec<Todo>,
    },
    /// A task continues in another mode.
    ModeSwitched {
        /// The task that switches.
        task: TaskId,
        /// Slug of the mode before.
        from: String,
        /// Slug of the mode after.
        to: String,
        /// Why: the model's reason, or the coordinator's.
        reason: String,
        /// What in the policy lets it be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleRef>,
        /// Milliseconds since the reply that asked for it, without the time the session lay dead.
        #[serde(default)]
        took_ms: u64,
    },
    /// The files written so far are safe on the session's private ref.
    Checkpointed {
        /// The task whose own worktree it is of; `None` for the run's checkout.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TaskId>,
        /// Commit that holds the snapshot.
        commit: CommitId,
        /// The paths touched since the checkpoint before.
        touched: Vec<TouchedPath>,
        /// Files with changes of somebody else that are in no commit, as they are before a command
        /// changes them.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        uncommitted: BTreeSet<RepoPath>,
    },
    /// A task ended and its result went to its parent.
    TaskEnded {
        /// The task that ended.
        task: TaskId,
        /// Its result in the model's words, or why it failed.
        result: String,
        /// True when it reached its goal by its own account.
        completed: bool,
        /// How far it came by its own account, where that is not all the way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<CompletionStatus>,
        /// Why it did not reach its goal, in the model's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What a check comes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<CheckVerdict>,
    },
    /// MCP servers said what tools they have: a hash of each, by server and tool. No others are
    /// offered in this session.
    ServersListed {
        /// Hashes by server, then by tool.
        servers: BTreeMap<String, BTreeMap<String, String>>,
    },
    /// An MCP server did something unrequested: it ended, or has other tools.
    ServerNoted {
        /// Name of the server in the definitions.
        server: String,
        /// What it did, as text.
        what: String,
    },
    /// The session ended; a decision may resume it.
    Ended(Box<Outcome>),
}

/// A journal line: an event and when it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalLine {
    /// When it was written.
    pub at: Timestamp,
    /// The event itself.
    #[serde(flatten)]
    pub event: Event,
}
