//! The outcome for programs: a JSON object whose keys are only ever added to.
//!
//! In: an outcome and what was published. Out: [`RunReport`], ready to be serialised.
//! Texts are as the session has them.

use serde::Serialize;

use crate::report::figures::{self, RefusedRule};
use crate::report::spent::{ChargedReport, SpentReport};
use crate::session::command_report::{BackgroundEnd, CommandReport};
use crate::session::hindrance::Hindrance;
use crate::session::outcome::{
    ApprovedCall, CheckEnd, CheckReport, HeldCall, Outcome, OutcomeWord, PendingDecision, Question,
    RefusedCall, TaskReport,
};
use crate::session::tool_counts::ToolCounts;
use crate::tools::Todo;
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::flow::verdict::CheckVerdict;
use locum_forge::posts::Receipt;
use locum_policy::budget::Exhausted;
use locum_policy::verdict::{Decision, RefusedBy, RuleRef, Verdict};
use locum_sandbox::exec::Exit;
use locum_sandbox::exec::steps::FailedStep;
use locum_workspace::diff::{ChangeKind, FileChange};

/// Version of the shape; raised only when a key changes its meaning or goes.
pub const VERSION: u32 = 1;

/// An outcome for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport<'a> {
    /// [`VERSION`].
    pub version: u32,
    /// The outcome in one word.
    pub outcome: OutcomeWord,
    /// What the program ends with.
    pub exit_code: u8,
    /// Name of the session.
    pub session: &'a str,
    /// The result in the model's words.
    pub summary: &'a str,
    /// Why it ended so, when it is not `done`.
    pub reason: Option<&'a str>,
    /// The limit that ended it, for `budget-exhausted` and `timed-out`: its key in the policy's
    /// `budget`, what it was, what was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhausted: Option<&'a Exhausted>,
    /// What stood in the way of publishing, what helps, and where the changes are meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hindrance: Option<&'a Hindrance>,
    /// The question, for `needs-input`.
    pub question: Option<&'a Question>,
    /// The call that waits for a decision, for `on-hold`.
    pub held: Option<&'a HeldCall>,
    /// What else waits for a decision, in sub-tasks that ran in parallel.
    #[serde(skip_serializing_if = "<[PendingDecision]>::is_empty")]
    pub also_waiting: &'a [PendingDecision],
    /// What readers have to know besides, as sentences.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: &'a [String],
    /// Held calls that were approved.
    pub approved: &'a [ApprovedCall],
    /// SHA-256 of the policy that judged it, ignore files included.
    pub policy_hash: &'a str,
    /// Every task, in order of creation.
    pub tasks: Vec<TaskEntry<'a>>,
    /// The root task's checklist.
    pub todos: &'a [Todo],
    /// Every refusal, in the order it happened.
    pub refusals: Vec<RefusalReport<'a>>,
    /// How often each rule or guard refused or held something.
    pub refused_rules: Vec<RefusedRule<'a>>,
    /// How often each tool was called, and of these calls those that failed or were refused.
    pub tools: &'a ToolCounts,
    /// Every command that ran, in order.
    pub commands: Vec<CommandEnd<'a>>,
    /// The policy's checks as they ran on what is there at the end.
    pub checks: Vec<CheckEntry<'a>>,
    /// The last checks after edits of files that did not change since, those that failed first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edit_checks: Vec<CheckEntry<'a>>,
    /// True when files changed and no check ran after the last change: none of the policy's, and no
    /// command that tests, builds or lints.
    pub unchecked: bool,
    /// What the check comes to, for a run that makes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<CheckVerdict>,
    /// Every changed file, with its diff.
    pub changes: Vec<ChangeReport<'a>>,
    /// What the whole run spent.
    pub spent: SpentReport,
    /// The commit the run started from.
    pub base: &'a str,
    /// The last checkpoint's commit.
    pub checkpoint: Option<&'a str>,
    /// What was published, in order.
    pub published: &'a [Receipt],
}

/// A task of the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskEntry<'a> {
    /// Number in the session; the root task's is 0.
    pub task: u32,
    /// The task that requested it.
    pub parent: Option<u32>,
    /// Slug of the mode it ended in.
    pub mode: &'a str,
    /// The first line of what it was to do.
    pub title: &'a str,
    /// True once it reached its goal by its own account, `null` while it runs or when it was cut
    /// off.
    pub completed: Option<bool>,
    /// How far it came: `done`, `partial` or `failed`, `null` as above.
    pub status: Option<CompletionStatus>,
    /// Model replies it took.
    pub turns: u32,
    /// The ref its changes are kept on, where they were not taken over.
    #[serde(rename = "kept", skip_serializing_if = "Option::is_none")]
    pub kept_ref: Option<&'a str>,
    /// The command that gets these changes into a checkout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_command: Option<String>,
    /// Wall time in seconds, with that of its sub-tasks.
    pub seconds: u64,
    /// What it changed, of a sub-task that ended or whose work was not merged; with the diff where
    /// it was not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeReport<'a>>,
    /// Commands that a sub-task and its own sub-tasks ran, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandEnd<'a>>,
    /// What its own requests used up.
    pub own: ChargedReport,
    /// The same with those of its sub-tasks.
    pub with_sub_tasks: ChargedReport,
}

/// A call that was denied or held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusalReport<'a> {
    /// Number of the task.
    pub task: u32,
    /// Mode of the task.
    pub mode: &'a str,
    /// The call in one line.
    pub call: &'a str,
    /// `hold` or `deny`.
    pub decision: Decision,
    /// One verdict per intent of the call.
    pub verdicts: Vec<VerdictReport<'a>>,
    /// What would be allowed instead.
    pub hint: Option<&'a str>,
    /// Who refused: `policy`, `secret`, or `person` with their login and reason.
    pub by: &'a RefusedBy,
    /// True where the call was performed, and only files that it wrote were not let in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) performed: bool,
}

/// A verdict that is not `allow`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictReport<'a> {
    /// Allow, hold or deny.
    pub decision: Decision,
    /// The intent in the policy's words.
    pub intent: &'a str,
    /// The pattern that decided; `null` when no rule matched.
    pub rule: Option<&'a str>,
    /// The file of the rule.
    pub file: Option<&'a str>,
    /// The line of the rule.
    pub line: Option<u32>,
    /// The reason as one sentence.
    pub reason: String,
    /// True for a command that is allowed because it runs contained.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) contained: bool,
}

/// A command and how it ended: one of `exit_code`, `signal`, `timed_out` is set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandEnd<'a> {
    /// The command as it was run.
    pub command: &'a str,
    /// Exit code; absent where it was killed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// True when it took too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) timed_out: bool,
    /// For one in the background: what ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) background: Option<BackgroundEnd>,
    /// Its parts that did not end with 0, where it has several.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) failed_steps: &'a [FailedStep],
    /// Programs that were not found or could not be run.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) not_started: &'a [String],
}

/// A check of the policy: as a command, or with `problem` where it did not run cleanly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckEntry<'a> {
    /// How the command ended; none of its keys is set where it did not start.
    #[serde(flatten)]
    pub command: CommandEnd<'a>,
    /// True when it ended with 0, ran a test where it is to, and left nothing behind.
    pub succeeded: bool,
    /// Why it did not start, that it ran no test, or what it left behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<&'a str>,
    /// The last lines it wrote, where it failed.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub output: &'a str,
}

/// A changed file and its diff.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeReport<'a> {
    /// Path in the repository.
    pub path: &'a str,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Number of lines added.
    pub added: u32,
    /// Number of lines removed.
    pub removed: u32,
    /// Bytes of the file now, where it is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_bytes: Option<u64>,
    /// The unified diff of this file.
    pub patch: &'a str,
}

impl<'a> RunReport<'a> {
    /// Views an outcome for programs.
    pub fn new(outcome: &'a Outcome, published: &'a [Receipt]) -> Self {
        Self {
            version: VERSION,
            outcome: outcome.word,
            exit_code: outcome.word.exit_code(),
            session: outcome.session.as_str(),
            summary: &outcome.summary,
            reason: outcome.reason.as_deref(),
            exhausted: outcome.exhausted.as_deref(),
            hindrance: outcome.hindrance.as_deref(),
            question: outcome.question.as_ref(),
            held: outcome.held.as_deref(),
            also_waiting: &outcome.also_waiting,
            notes: &outcome.notes,
            approved: &outcome.approved,
            policy_hash: &outcome.policy_hash,
            tasks: outcome.tasks.iter().map(TaskEntry::new).collect(),
            todos: &outcome.todos,
            refusals: outcome.refusals.iter().map(RefusalReport::new).collect(),
            refused_rules: figures::refused_rules(outcome),
            tools: &outcome.tools,
            commands: outcome.commands.iter().map(CommandEnd::new).collect(),
            checks: outcome.checks.iter().map(CheckEntry::new).collect(),
            edit_checks: outcome.edit_checks.iter().map(CheckEntry::new).collect(),
            unchecked: outcome.unchecked,
            verdict: outcome.verdict,
            changes: outcome.changes.iter().map(ChangeReport::new).collect(),
            spent: SpentReport::new(&outcome.spent, outcome.spent_is_estimate),
            base: &outcome.base.0,
            checkpoint: outcome.checkpoint.as_ref().map(|commit| commit.0.as_str()),
            published,
        }
    }
}

impl<'a> TaskEntry<'a> {
    /// Views a task for programs.
    pub fn new(task: &'a TaskReport) -> Self {
        Self {
            task: task.task.0,
            parent: task.parent.map(|parent| parent.0),
            mode: &task.mode,
            title: &task.title,
            completed: task.completed,
            status: task.reached(),
            turns: task.turns,
            kept_ref: task.kept_ref.as_deref(),
            kept_command: task.kept_command(),
            seconds: task.seconds,
            changes: task.changes.iter().map(ChangeReport::new).collect(),
            commands: task.commands.iter().map(CommandEnd::new).collect(),
            own: ChargedReport::new(&task.own),
            with_sub_tasks: ChargedReport::new(&task.with_sub_tasks),
        }
    }
}

impl<'a> RefusalReport<'a> {
    fn new(call: &'a RefusedCall) -> Self {
        Self {
            task: call.task.0,
            mode: &call.mode,
            call: &call.headline,
            decision: call.refusal.decision,
            verdicts: call.refusal.verdicts.iter().map(VerdictReport::new).collect(),
            hint: call.refusal.hint.as_deref(),
            by: &call.refusal.by,
            performed: call.performed,
        }
    }
}

impl<'a> VerdictReport<'a> {
    /// Views a verdict for programs.
    pub fn new(verdict: &'a Verdict) -> Self {
        let rule = verdict.rule();
        Self {
            decision: verdict.decision,
            intent: &verdict.intent,
            rule: rule.map(|rule| rule.pattern.as_str()),
            file: rule.map(|rule| rule.origin.as_str()),
            line: rule.map(RuleRef::line_number),
            reason: verdict.reason(),
            contained: verdict.is_contained(),
        }
    }
}

impl<'a> CommandEnd<'a> {
    fn new(report: &'a CommandReport) -> Self {
        let is_ended_for_it =
            matches!(report.background, Some(BackgroundEnd::Stopped | BackgroundEnd::Task));
        Self {
            background: report.background,
            failed_steps: &report.details.failed_steps,
            not_started: &report.details.not_started,
            ..Self::of(&report.command, Some(report.exit).filter(|_| !is_ended_for_it))
        }
    }

    fn of(command: &'a str, exit: Option<Exit>) -> Self {
        let nothing = Self {
            command,
            exit_code: None,
            signal: None,
            timed_out: false,
            background: None,
            failed_steps: &[],
            not_started: &[],
        };
        let Some(exit) = exit else { return nothing };
        match exit {
            Exit::Code(code) => Self { exit_code: Some(code), ..nothing },
            Exit::Signal(signal) => Self { signal: Some(signal), ..nothing },
            Exit::TimedOut => Self { timed_out: true, ..nothing },
            Exit::TooManyProcesses => Self { signal: Some(9), ..nothing },
        }
    }
}

impl<'a> CheckEntry<'a> {
    /// Views a check for programs.
    pub fn new(report: &'a CheckReport) -> Self {
        let (exit, problem) = match &report.end {
            CheckEnd::Exited(exit) => (Some(*exit), None),
            CheckEnd::NoTests => (Some(Exit::Code(0)), Some("ran no test")),
            CheckEnd::NotStarted(problem) | CheckEnd::Unclean(problem) => {
                (None, Some(problem.as_str()))
            }
        };
        Self {
            command: CommandEnd::of(&report.command, exit),
            succeeded: report.succeeded(),
            problem,
            output: &report.output,
        }
    }
}

impl<'a> ChangeReport<'a> {
    fn new(change: &'a FileChange) -> Self {
        Self {
            path: change.path.as_str(),
            kind: change.kind,
            added: change.added,
            removed: change.removed,
            binary_bytes: change.binary_bytes,
            patch: &change.patch,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::Value;

    use super::RunReport;
    use crate::report::sample;
    use crate::session::event_schema;
    use locum_forge::posts::Receipt;
    use locum_policy::intent::PublicationKind;

    fn receipt() -> Receipt {
        Receipt {
            publication: PublicationKind::PullRequest,
            id: 12,
            url: "https://github.com/octo/repo/pull/12".to_owned(),
            updated: false,
        }
    }

    #[test]
    fn holds_the_whole_outcome() {
        let published = [receipt()];
        insta::assert_json_snapshot!(RunReport::new(&sample::outcome(), &published));
    }

    #[test]
    fn every_key_of_a_report_is_in_the_schema_of_events() {
        let schema = event_schema::schema();
        let lines = schema["oneOf"].as_array().unwrap();
        let schema = lines.iter().find(|line| line["properties"].get("outcome").is_some()).unwrap();
        let mut performed = sample::outcome();
        performed.refusals.iter_mut().for_each(|refused| refused.performed = true);
        for outcome in [
            performed,
            sample::checks_failed(),
            sample::filled_with("x", 200),
            sample::held_filled_with("x", 200),
        ] {
            let report = serde_json::to_value(RunReport::new(&outcome, &[receipt()])).unwrap();
            assert_eq!(unknown_keys(schema, &report, ""), Vec::<String>::new());
            let odd = Value::Object([("odd".to_owned(), report)].into_iter().collect());
            assert_eq!(unknown_keys(schema, &odd, ""), ["/odd"]);
        }
    }

    /// Names the keys that a schema with keys does not have.
    fn unknown_keys(schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let schema = schema.pointer("/anyOf/0").unwrap_or(schema);
        let items = value.as_array().into_iter().flatten();
        let mut found: Vec<String> =
            items.flat_map(|item| unknown_keys(&schema["items"], item, at)).collect();
        for (key, value) in value.as_object().into_iter().flatten() {
            let at = format!("{at}/{key}");
            match (schema.get("properties"), schema.get("additionalProperties")) {
                (Some(properties), _) => match properties.get(key) {
                    Some(below) => found.extend(unknown_keys(below, value, &at)),
                    None => found.push(at),
                },
                (None, Some(below)) => found.extend(unknown_keys(below, value, &at)),
                (None, None) => {}
            }
        }
        found
    }
}
