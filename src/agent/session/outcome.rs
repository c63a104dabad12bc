//! `Outcome`: how a session ended, in one word and with everything a report needs.

use serde::{Deserialize, Serialize};

use crate::session::command_report::CommandReport;
use crate::session::hindrance::Hindrance;
use crate::session::id::SessionId;
use crate::session::tool_counts::ToolCounts;
use crate::tools::Todo;
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::flow::verdict::CheckVerdict;
use locum_base::chat::Usage;
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_policy::approval::Approval;
use locum_policy::budget::{Exhausted, Spent};
use locum_policy::command::tree::quoted;
use locum_policy::verdict::{Refusal, Verdict};
use locum_sandbox::exec::Exit;
use locum_workspace::diff::{ChangeKind, FileChange};
use locum_workspace::repo::CommitId;

/// Most paths in the command that gets what was not merged.
const KEPT_PATHS: usize = 50;

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the session that ended.
    pub session: SessionId,
    /// In one word.
    pub word: OutcomeWord,
    /// The root task's result in the model's words; empty when it has none.
    pub summary: String,
    /// Why it ended so, when it is not `done`: one sentence for readers.
    pub reason: Option<String>,
    /// Whether the machine was at fault, git or a disk: the session can be resumed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fault: bool,
    /// Whether a model was at fault, or the way to it: asked later, it may answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outage: bool,
    /// The limit of the budget that ended it, for `budget-exhausted` and `timed-out`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<Box<Exhausted>>,
    /// How the session had ended, where what became of its result is another word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_as: Option<OutcomeWord>,
    /// What stood in the way of publishing, once that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<Box<Hindrance>>,
    /// The question, for `needs-input`.
    pub question: Option<Question>,
    /// The call that waits for a decision, for `on-hold`.
    #[serde(default)]
    pub held: Option<Box<HeldCall>>,
    /// What else waits for a decision: sub-tasks in parallel may each wait for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_waiting: Vec<PendingDecision>,
    /// What readers have to know besides: that sub-tasks could not run in parallel, that somebody
    /// changed the checkout meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Held calls that were approved and performed, in order.
    #[serde(default)]
    pub approved: Vec<ApprovedCall>,
    /// Hash of the policy that judged it.
    #[serde(default)]
    pub policy_hash: String,
    /// Every task, in order of creation.
    pub tasks: Vec<TaskReport>,
    /// Every refusal, in order.
    pub refusals: Vec<RefusedCall>,
    /// Commands that were run and how they ended, in order.
    pub commands: Vec<CommandReport>,
    /// How often each tool was called.
    #[serde(default, skip_serializing_if = "ToolCounts::is_empty")]
    pub tools: ToolCounts,
    /// The policy's checks as they ran on what is there at the end; empty where none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckReport>,
    /// The last checks after edits (`commands.after_edit`) of files that did not change since,
    /// those that failed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit_checks: Vec<CheckReport>,
    /// True when files changed and no check ran after the last change: none of the policy's, and no
    /// command that tests, builds or lints.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// What the check comes to, for a run that makes one; `None` where its model did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<CheckVerdict>,
    /// The root task's checklist.
    pub todos: Vec<Todo>,
    /// What all its tasks spent together.
    pub spent: Spent,
    /// True when some tokens were estimated or had no price.
    pub spent_is_estimate: bool,
    /// Changed files, from base to now.
    pub changes: Vec<FileChange>,
    /// Files that were written, and are what they were at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewritten: Vec<RepoPath>,
    /// The commit the run started from.
    pub base: CommitId,
    /// The last checkpoint, if anything was written.
    pub checkpoint: Option<CommitId>,
    /// Other commits that are needed to go on: of sub-tasks in worktrees of their own, and of
    /// changes that wait for a decision.
    #[serde(rename = "apart", default, skip_serializing_if = "Vec::is_empty")]
    pub needed_commits: Vec<CommitId>,
}

impl Outcome {
    /// Returns everything that waits for a decision.
    pub fn pending(&self) -> impl Iterator<Item = PendingDecision> {
        let held = self.held.iter().cloned().map(PendingDecision::Hold);
        let asked = self.question.iter().cloned().map(PendingDecision::Question);
        held.chain(asked).chain(self.also_waiting.iter().cloned())
    }

    /// Returns the calls that wait for a decision.
    pub fn holds(&self) -> impl Iterator<Item = &HeldCall> {
        let others = self.also_waiting.iter().filter_map(PendingDecision::hold);
        self.held.as_deref().into_iter().chain(others)
    }

    /// Returns the questions that wait for an answer.
    pub fn questions(&self) -> impl Iterator<Item = &Question> {
        let others = self.also_waiting.iter().filter_map(PendingDecision::question);
        self.question.iter().chain(others)
    }

    /// Whether a person, the time or the budget stopped it: a person may let it go on.
    pub fn was_stopped(&self) -> bool {
        matches!(
            self.word,
            OutcomeWord::Cancelled | OutcomeWord::TimedOut | OutcomeWord::BudgetExhausted
        )
    }

    /// Whether the session can be resumed as it is or with more to spend: by whom its report says
    /// how, and what removes old sessions keeps it.
    pub fn can_be_resumed(&self) -> bool {
        self.may_go_on() || self.was_stopped()
    }

    /// Whether what was done took no model, as a job's fixed steps take none.
    pub fn asked_no_model(&self) -> bool {
        self.spent.turns == 0 && self.spent.usage == Usage::default() && self.spent.tool_calls > 0
    }

    /// Returns the check that failed or did not run, if one did not succeed.
    pub fn failed_check(&self) -> Option<&CheckReport> {
        self.checks.iter().find(|check| !check.succeeded())
    }

    /// Whether the session may go on: after a decision of a person, or once git or the disk works
    /// again. Until then it needs its layers and worktrees.
    pub fn may_go_on(&self) -> bool {
        self.fault || matches!(self.word, OutcomeWord::OnHold | OutcomeWord::NeedsInput)
    }
}

/// One word for how a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeWord {
    /// The task is done by the model's account.
    Done,
    /// It completed and no file changed, although it could have changed one or had one changed.
    NothingToDo,
    /// A part of the task is left, by the model's account.
    Partial,
    /// The task is done by the model's account, and a check of the policy did not succeed.
    ChecksFailed,
    /// A question must be answered first.
    NeedsInput,
    /// A rule says hold.
    OnHold,
    /// The policy or a maintainer refused the run itself, or every edit.
    Refused,
    /// A limit of the budget is reached.
    BudgetExhausted,
    /// The wall time is over.
    TimedOut,
    /// It could not be done.
    Failed,
    /// It was stopped from outside.
    Cancelled,
    /// The session ended well, and something of it could not be published where it belongs.
    NotPublished,
}

/// A question to the maintainers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What an answer names: a hash of the call that asks.
    #[serde(default)]
    pub id: String,
    /// The task that asks.
    #[serde(default)]
    pub task: TaskId,
    /// The call that waits for the answer.
    #[serde(default)]
    pub call: String,
    /// The question as the model wrote it.
    pub text: String,
    /// Answers that the model suggests.
    pub suggestions: Vec<String>,
}

/// A call that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    /// What an approval names: a hash of the call, its arguments and what was held of it.
    pub id: String,
    /// The task that wants it.
    pub task: TaskId,
    /// Id of the call in the model's reply.
    pub call: String,
    /// Mode of the task.
    pub mode: String,
    /// The tool as the model wrote it.
    pub tool: String,
    /// One line for readers.
    pub headline: String,
    /// The arguments as the model wrote them, clipped.
    pub arguments: String,
    /// What was held, each with its rule.
    pub verdicts: Vec<Verdict>,
    /// What an edit would change, clipped; `None` for other calls and where it is not known.
    pub diff: Option<String>,
    /// The mode that a task would begin or go on in; `None` for other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetMode>,
    /// What a note for later runs would say, whole; empty where it would be removed. `None` for
    /// other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A mode that a held call leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetMode {
    /// Its name in commands and files.
    pub slug: String,
    /// Display name.
    pub name: String,
    /// One line on what it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who the model is in it.
    pub role: String,
    /// The tools of its groups, before the policy takes some away.
    pub tools: Vec<String>,
    /// What mode and policy together let it do.
    pub rights: String,
    /// Who chose it and why, where that was not the call itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
}

/// What a session waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PendingDecision {
    /// An approval or a denial.
    Hold(Box<HeldCall>),
    /// An answer to the model's question.
    Question(Question),
}

impl PendingDecision {
    /// Returns its name.
    pub fn id(&self) -> &str {
        match self {
            Self::Hold(held) => &held.id,
            Self::Question(question) => &question.id,
        }
    }

    /// Returns the call that waits, and its task.
    pub fn call(&self) -> (TaskId, &str) {
        match self {
            Self::Hold(held) => (held.task, &held.call),
            Self::Question(question) => (question.task, &question.call),
        }
    }

    /// Returns the call that is approved or denied.
    pub fn hold(&self) -> Option<&HeldCall> {
        if let Self::Hold(held) = self { Some(held) } else { None }
    }

    /// Returns the question that is answered.
    pub fn question(&self) -> Option<&Question> {
        if let Self::Question(question) = self { Some(question) } else { None }
    }
}

/// A held call that was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedCall {
    /// The task that wanted it.
    pub task: TaskId,
    /// One line for readers.
    pub headline: String,
    /// Who approved it, and what exactly.
    pub approval: Approval,
}

/// What requests to models used up: those of a task, of a task with its sub-tasks, of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChargedUsage {
    /// Replies of models, answers of experts among them.
    pub turns: u32,
    /// Tokens, with those of replies that broke off and of summaries.
    pub usage: Usage,
    /// US dollars by the price table.
    pub cost_usd: f64,
    /// True when some tokens were estimated or had no price.
    pub is_estimate: bool,
}

/// A task in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskReport {
    /// Number of the task.
    pub task: TaskId,
    /// The task that requested it.
    pub parent: Option<TaskId>,
    /// Slug of the mode it ended in.
    pub mode: String,
    /// The first line of what it was to do.
    pub title: String,
    /// True once it reached its goal by its own account, `None` while it runs or when it was cut
    /// off.
    pub completed: Option<bool>,
    /// How far it came by its own account; `None` where it gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CompletionStatus>,
    /// Model replies it took.
    pub turns: u32,
    /// What its own requests used up.
    #[serde(default)]
    pub own: ChargedUsage,
    /// The same with those of its sub-tasks.
    #[serde(default)]
    pub with_sub_tasks: ChargedUsage,
    /// Wall time in seconds, with that of its sub-tasks.
    #[serde(default)]
    pub seconds: u64,
    /// What it changed, of a sub-task that ended or whose work was not merged; with the patch where
    /// it was not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// Commands that a sub-task and its own sub-tasks ran, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandReport>,
    /// The ref its changes are kept on, where they were not taken over.
    #[serde(rename = "kept", default, skip_serializing_if = "Option::is_none")]
    pub kept_ref: Option<String>,
}

/// A refused call in a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// In which task.
    pub task: TaskId,
    /// In which mode.
    pub mode: String,
    /// One line for readers.
    pub headline: String,
    /// Why it was refused, with every verdict.
    pub refusal: Refusal,
    /// True where the call was performed, and only files that it wrote were kept out of the
    /// checkout or put back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub performed: bool,
}

impl TaskReport {
    /// Returns the command that gets what was not merged into a checkout, what it deletes too;
    /// `None` where all was, and where it would have too many paths.
    pub fn kept_command(&self) -> Option<String> {
        let kept_ref = self.kept_ref.as_ref()?;
        if !(1..=KEPT_PATHS).contains(&self.changes.len()) {
            return None;
        }
        let (gone, there): (Vec<&FileChange>, Vec<&FileChange>) =
            self.changes.iter().partition(|change| change.kind == ChangeKind::Deleted);
        let on = |command: String, changes: Vec<&FileChange>| {
            let paths =
                changes.iter().map(|change| format!(" {}", shell_word(change.path.as_str())));
            (!changes.is_empty()).then(|| command + &paths.collect::<String>())
        };
        // `git checkout` deletes nothing, and `git rm` only what git knows: not a new file of the
        // run. What has to go goes first, for a folder may take its place.
        let removes = on("rm -f --".to_owned(), gone);
        let gets = on(format!("git checkout {kept_ref} --"), there);
        Some(removes.into_iter().chain(gets).collect::<Vec<_>>().join(" && "))
    }
}

/// Returns a path as one word of a shell.
fn shell_word(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte);
    if path.bytes().all(is_plain) { path.to_owned() } else { quoted(path) }
}

/// One of the policy's checks (`publish.success` or `commands.after_edit`) and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The command as the policy has it.
    pub command: String,
    /// How it ended.
    pub end: CheckEnd,
    /// The last lines it wrote, where it failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Programs that it starts and that did not start, for the run that tried: no journal keeps
    /// them.
    #[serde(skip)]
    pub missing: Vec<String>,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnd {
    /// It ran: exit code, signal, or why it was killed.
    Exited(Exit),
    /// It exited with 0 and ran no test. It counts as one that succeeded, and is shown as what it
    /// is.
    NoTests,
    /// It did not start; says why.
    NotStarted(String),
    /// It ran and left something behind that could not be taken back; says what.
    Unclean(String),
}

impl CheckReport {
    /// Returns a report of a check of which nothing more is known.
    pub fn new(command: &str, end: CheckEnd) -> Self {
        Self { command: command.to_owned(), end, output: String::new(), missing: Vec::new() }
    }

    /// Returns true when the check ended well.
    pub fn succeeded(&self) -> bool {
        matches!(self.end, CheckEnd::Exited(Exit::Code(0)) | CheckEnd::NoTests)
    }

    /// Returns what went wrong, as a sentence without a full stop; `None` when nothing did.
    pub fn failure(&self) -> Option<String> {
        let Self { command, end, .. } = self;
        match end {
            CheckEnd::Exited(Exit::Code(0)) | CheckEnd::NoTests => None,
            CheckEnd::Exited(_) => Some(format!("the check `{command}` failed")),
            CheckEnd::NotStarted(why) => {
                Some(format!("the check `{command}` could not run: {why}"))
            }
            CheckEnd::Unclean(what) => Some(format!("the check `{command}` {what}")),
        }
    }
}

impl ChargedUsage {
    /// Adds another charge to this one.
    pub fn add(&mut self, other: Self) {
        self.turns = self.turns.saturating_add(other.turns);
        self.usage.add(other.usage);
        self.cost_usd += other.cost_usd;
        self.is_estimate |= other.is_estimate;
    }
}

impl TaskReport {
    /// Returns how far it came: by its own account, or `failed` where it was ended; `None` while it
    /// runs.
    pub fn reached(&self) -> Option<CompletionStatus> {
        let ended = |completed| {
            if completed { CompletionStatus::Done } else { CompletionStatus::Failed }
        };
        self.status.or(self.completed.map(ended))
    }
}
