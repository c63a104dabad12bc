//! The policy's checks (`publish.success`), run when the root task says that it is done.
//!
//! In: a completion, the policy's commands and what the run changed. Out: the completion's answer.
//! A failed check is handed back to the model, a few times at most; then the task ends and the
//! outcome says what failed. Nothing that a check writes stays. Checks that were cut off are run
//! again from the first one, because only what they left could tell, and that is thrown away.

use std::collections::BTreeSet;

use crate::session::checked::{ChecksUnderWay, DecidedCompletion};
use crate::session::event::Event;
use crate::session::live::Session;
use crate::session::named_command::{self, NamedCommand, NamedRun};
use crate::session::no_tests;
use crate::session::outcome::{CheckEnd, CheckReport};
use crate::session::parts::CheckTiming;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::session::task_env::TaskEnv;
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::{Control, Observation};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::text::tail_lines;
use locum_models::ModelRequest;
use locum_modes::prompts::reminders;
use locum_modes::{Mode, ToolGroup};
use locum_sandbox::exec::Exit;
use locum_workspace::touched::Snapshot;

/// Times a failed check is handed back to the model.
const HANDED_BACK_LIMIT: u32 = 2;

/// Most lines kept of what a failed check wrote, the last ones.
const OUTPUT_LIMIT_LINES: usize = 60;

/// Most bytes of them.
const OUTPUT_LIMIT_BYTES: usize = 4 * 1024;

/// Label of the copies of what checks changed in the checkout.
const CHECKS_LABEL: &str = "checks";

/// Most hidden files named with a failed check.
const HIDDEN_NAMED: usize = 5;

/// A completion whose checks run, and its answer if they succeed.
struct CheckedCompletion {
    waiting: WaitingCall,
    observation: Observation,
    status: CompletionStatus,
}

/// What checks led to.
#[derive(Default)]
struct CheckRun {
    reports: Vec<CheckReport>,
    /// Files they changed in the checkout, where there is no layer.
    touched: BTreeSet<RepoPath>,
    /// Why that is not known of one of them.
    unjudged: Option<String>,
}

impl<'a> Session<'a> {
    /// Ends a task, or answers why not yet. The checks run before the root task ends, unless it
    /// failed or changed nothing.
    pub(crate) fn complete(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        observation: Observation,
    ) -> Result<(), Stop> {
        let status = match &observation.control {
            Some(Control::Complete { status, .. }) => *status,
            Some(_) | None => CompletionStatus::Done,
        };
        if self.may_hooks_stop(id, waiting, status)? {
            return self.complete_unless_stopped(id, waiting, observation);
        }
        let is_root = self.task(id)?.parent.is_none();
        let are_due = is_root
            && status != CompletionStatus::Failed
            && !self.parts.run.policy.settings().publish.success.is_empty();
        if !are_due {
            return self.answer(id, waiting, observation);
        }
        let completion = CheckedCompletion { waiting: waiting.clone(), observation, status };
        let decided = self.state.checked.decided.clone();
        if let Some(decided) = decided.filter(|decided| decided.call == waiting.call.id) {
            return self.answer_checked(id, completion, &decided);
        }
        self.save_unsaved(None)?;
        // What the checks said stays true until something changes. Where the task counts as done,
        // they are asked again: one of them may only fail now and then.
        let is_known = status != CompletionStatus::Done && !self.state.checked.reports.is_empty();
        let is_asked = self.parts.checks == CheckTiming::Always
            || self.state.tree.touched.values().any(Option::is_some);
        if is_known || !is_asked {
            return self.answer(id, waiting, completion.observation);
        }
        let cut_off = self.state.checked.under_way.clone();
        if self.begin_layer(id)? {
            match &cut_off {
                Some(_) => self.settle_checks(id)?,
                None => self.leave_unjudged(id)?,
            }
            self.note_unpublished(id)?;
            if cut_off.is_none() {
                self.announce_checks(id, waiting, None)?;
            }
            return self.run_checks(id, completion, None);
        }
        if let Some(hash) = cut_off.and_then(|checks| checks.snapshot) {
            let before = self.kept_snapshot(&hash)?;
            return self.look_after(id, before, move |session, (before, now)| {
                session.put_back(id, &before, &now)?;
                session.run_checks(id, completion, Some(before))
            });
        }
        self.look(id, move |session, mut now| {
            session.record_dirty(id, &mut now)?;
            let hash = session.keep_snapshot(&now)?;
            session.announce_checks(id, &completion.waiting, Some(hash))?;
            session.run_checks(id, completion, Some(now))
        })
    }

    /// Takes back what checks changed in the checkout that were cut off because the session stops.
    pub(crate) fn take_back_checks(&mut self) -> Result<(), Stop> {
        let root = TaskId::default();
        let Some(ChecksUnderWay { snapshot: Some(hash) }) = self.state.checked.under_way.clone()
        else {
            return Ok(());
        };
        let before = self.kept_snapshot(&hash)?;
        let completion = self.task(root)?.first_unanswered();
        let call = completion.map(|waiting| waiting.call.id.clone()).unwrap_or_default();
        self.look_after(root, before, move |session, (before, now)| {
            session.put_back(root, &before, &now)?;
            // Whatever changes from here on is not theirs.
            let (checks, handed_back) = (Vec::new(), false);
            session.emit(Event::Checked { task: root, call, checks, handed_back })
        })
    }

    fn announce_checks(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        snapshot: Option<String>,
    ) -> Result<(), Stop> {
        let commands = self.parts.run.policy.settings().publish.success.clone();
        self.emit(Event::Checking { task: id, call: waiting.call.id.clone(), commands, snapshot })
    }

    fn run_checks(
        &mut self,
        id: TaskId,
        completion: CheckedCompletion,
        before: Option<Snapshot>,
    ) -> Result<(), Stop> {
        let envs = self.checking_envs(id)?;
        let commands = self.parts.run.policy.settings().publish.success.clone();
        // Where they are tried, one that fails says nothing of the next.
        let goes_on = self.parts.checks == CheckTiming::Always;
        let checks = async move {
            let mut run = CheckRun::default();
            for command in &commands {
                let (report, observed) = check(&envs, command, before.as_ref()).await;
                run.touched.extend(observed.touched);
                run.unjudged = run.unjudged.or(observed.unjudged);
                let succeeded = report.succeeded();
                run.reports.push(report);
                if !succeeded && !goes_on {
                    break;
                }
            }
            (run, before)
        };
        self.wait(id, checks, move |session, (run, before)| {
            session.checked(id, completion, run, before)
        });
        Ok(())
    }

    /// Returns the surroundings of each mode that worked and may run commands: a check runs in the
    /// first of them that may run it.
    fn checking_envs(&mut self, id: TaskId) -> Result<Vec<TaskEnv<'a>>, Stop> {
        let runs = |mode: &&Mode| mode.groups.iter().any(|entry| entry.group == ToolGroup::Command);
        let worked = self.state.tasks.iter().map(|task| task.mode.clone());
        let mut slugs: Vec<String> = Vec::new();
        for slug in worked.chain([self.start().mode.clone()]) {
            if !slugs.contains(&slug) && self.parts.modes.find(&slug).as_ref().is_some_and(runs) {
                slugs.push(slug);
            }
        }
        let env = self.task_env(id)?;
        let in_mode = |slug: String| {
            let git_hidden = env.layer.is_some() && self.hides_history(id, &slug)?;
            let (mode, facts) = (self.mode(&slug)?, self.facts(&slug));
            Ok(TaskEnv { mode, facts, git_hidden, ..env.clone() })
        };
        slugs.into_iter().map(in_mode).collect()
    }

    /// Throws away what the checks wrote, writes down how they ended, and answers the completion.
    fn checked(
        &mut self,
        id: TaskId,
        completion: CheckedCompletion,
        run: CheckRun,
        before: Option<Snapshot>,
    ) -> Result<(), Stop> {
        let CheckRun { mut reports, touched, unjudged } = run;
        if let Some(why) = unjudged.filter(|_| before.is_some()) {
            // The checks are still under way: a session that is resumed looks again.
            return Err(Stop::fault(format!(
                "what the checks changed cannot be found out: {why}; nothing is published"
            )));
        }
        let left = match before {
            None => {
                self.settle_checks(id)?;
                Vec::new()
            }
            Some(before) => self.put_back_files(id, &before, touched)?,
        };
        if let (Some(last), Some(path)) = (reports.last_mut(), left.first()) {
            last.end = CheckEnd::Unclean(format!(
                "changed `{path}`, which has changes that are in no commit; it is left as it is now"
            ));
        }
        let failed = reports.iter().any(|report| ran_and_failed(&report.end));
        let handed_back = failed
            && completion.status == CompletionStatus::Done
            && self.state.checked.handed_back < HANDED_BACK_LIMIT
            && self.may_repair(id)?;
        let call = completion.waiting.call.id.clone();
        self.emit(Event::Checked { task: id, call: call.clone(), checks: reports, handed_back })?;
        self.answer_checked(id, completion, &DecidedCompletion { call, handed_back })
    }

    /// Whether budget is left for another turn of a task, and its model may have one.
    pub(crate) fn may_repair(&self, id: TaskId) -> Result<bool, Stop> {
        let task = self.task(id)?;
        let (budget, spent) = (&task.budgeting.budget, &task.budgeting.spent);
        let request =
            ModelRequest::new(&task.conversation.messages, id, &task.mode, task.turn.number);
        // This call, one that repairs, and the next completion.
        Ok(budget.turns > spent.turns.saturating_add(1)
            && budget.tool_calls > spent.tool_calls.saturating_add(2)
            && budget.ask_turn(spent, 0, 0.0).is_ok()
            && self.model_of(task).model.may_reply(&request))
    }

    fn answer_checked(
        &mut self,
        id: TaskId,
        completion: CheckedCompletion,
        decided: &DecidedCompletion,
    ) -> Result<(), Stop> {
        let CheckedCompletion { waiting, observation, .. } = completion;
        let failed = self.state.checked.reports.iter().find(|report| !report.succeeded());
        match failed.filter(|_| decided.handed_back) {
            Some(report) => {
                let last = self.state.checked.handed_back >= HANDED_BACK_LIMIT;
                let text = reminders::check_failed(&report.command, &report.output, last);
                self.answer(id, &waiting, Observation::failed(text))
            }
            None => self.answer(id, &waiting, observation),
        }
    }

    /// Takes what checks wrote out of the layer.
    fn settle_checks(&mut self, id: TaskId) -> Result<(), Stop> {
        match self.layer_left(id)? {
            Some(layer) => Ok(self.place(id)?.repo.settle(&layer)?),
            None => Ok(()),
        }
    }

    /// Takes back everything that is different from a look at the checkout.
    fn put_back(&mut self, id: TaskId, before: &Snapshot, now: &Snapshot) -> Result<(), Stop> {
        let touched = self.place(id)?.repo.touched(before, now)?;
        self.put_back_files(id, before, touched).map(drop)
    }

    /// Takes back what checks changed in the checkout, keeping a copy with the session; returns
    /// what cannot be taken back, because it had changes that are in no commit.
    fn put_back_files(
        &mut self,
        id: TaskId,
        before: &Snapshot,
        touched: BTreeSet<RepoPath>,
    ) -> Result<Vec<RepoPath>, Stop> {
        let (guarded, touched): (BTreeSet<RepoPath>, BTreeSet<RepoPath>) =
            touched.into_iter().partition(|path| before.keeps(path));
        self.put_back_guarded(id, before, &guarded, CHECKS_LABEL)?;
        self.keep_written(id, before, &touched, |_| false)?;
        let owned = &self.state.tree.touched;
        let is_lost = |path: &RepoPath| before.is_dirty(path) && !before.is_recorded(path);
        let (left, paths): (BTreeSet<RepoPath>, BTreeSet<RepoPath>) =
            touched.into_iter().partition(|path| is_lost(path) && !owned.contains_key(path));
        if !paths.is_empty() {
            self.take_back_paths(id, &paths, CHECKS_LABEL)?;
        }
        Ok(left.into_iter().collect())
    }
}

/// Runs one check in the first mode that may run it; returns also what is known of it.
async fn check(
    envs: &[TaskEnv<'_>],
    command: &str,
    before: Option<&Snapshot>,
) -> (CheckReport, Observation) {
    let mut why = "no mode of this run may run commands".to_owned();
    for env in envs {
        match named_command::run(env, NamedCommand { command, timeout: None, before }).await {
            Ok(ran) => {
                let mut report = report(command, &ran);
                if ran_and_failed(&report.end) {
                    report.output.push_str(&seen_as_empty(env));
                }
                return (report, ran.observation);
            }
            Err(refused) => why = refused,
        }
    }
    let end = CheckEnd::NotStarted(why);
    (CheckReport::new(command, end), Observation::default())
}

/// Names files of the repository that commands see as empty, which a check may fail for.
fn seen_as_empty(env: &TaskEnv<'_>) -> String {
    let readable = env.readable();
    let is_hidden = |path: &RepoPath| !readable(path);
    let hidden = env.place.repo.tracked(is_hidden, HIDDEN_NAMED).unwrap_or_default();
    if hidden.is_empty() {
        return String::new();
    }
    let names: Vec<String> = hidden.iter().map(|path| format!("`{path}`")).collect();
    format!("\n(The policy hides files: commands see as empty {}.)", names.join(", "))
}

/// Whether a check ran and does not show that the change is ready, so that it can be repaired.
fn ran_and_failed(end: &CheckEnd) -> bool {
    match end {
        CheckEnd::Exited(exit) => *exit != Exit::Code(0),
        CheckEnd::NoTests | CheckEnd::NotStarted(_) | CheckEnd::Unclean(_) => false,
    }
}

fn report(command: &str, ran: &NamedRun) -> CheckReport {
    let output = ran.output();
    let last = tail_lines(&output, OUTPUT_LIMIT_LINES, OUTPUT_LIMIT_BYTES);
    if ran.exit == Exit::Code(0) {
        // Of an output that is not whole, the part that is missing may show a test.
        let is_whole = ran.observation.lost_bytes == 0;
        if !is_whole || !no_tests::ran_none(&output) {
            return CheckReport::new(command, CheckEnd::Exited(ran.exit));
        }
        return CheckReport::new(command, CheckEnd::NoTests);
    }
    let details = &ran.observation.command;
    let end = if details.not_started.is_empty() {
        CheckEnd::Exited(ran.exit)
    } else {
        let names = details.programs(|program| format!("`{program}`"));
        CheckEnd::NotStarted(format!("{names} did not start"))
    };
    let (output, missing) = (last.to_owned(), details.not_started.clone());
    CheckReport { output, missing, ..CheckReport::new(command, end) }
}
