//! What follows the runs of jobs: how they ended is remembered, their pull requests and the
//! dashboard say it, and a job that ends at a limit twice in a row is paused.
//!
//! In: how a run of a job ended. Out: the record on its ref, a comment, the dashboard. None of it
//! changes how the run ended: what fails here is a remark.

use std::cell::Cell;
use std::time::Duration;

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::claim::{self, ClaimAnswer, ClaimRequest};
use crate::run::action::work_items::WorkItem;
use crate::run::action::{ActionEnd, ActionEnv, FinishedRun};
use crate::run::error::RunError;
use crate::run::jobs::dashboard::{self, DashboardFacts, dashboard_marker};
use crate::run::jobs::state_ref::{JobStateRef, permit};
use crate::run::jobs::states::{JobGrade, JobLeftOut, JobResult, JobStates, LIMITS_IN_A_ROW};
use crate::run::plan::RunSubject;
use crate::run::publish::PublishResult;
use crate::run::publish::own_branch::PullRequestMarker;
use locum_agent::report::markdown::{code, inline, marker};
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_agent::session::word::Severity;
use locum_base::secret::Redactor;
use locum_base::text::{head, tail_lines};
use locum_forge::event::EventKind;
use locum_forge::posts::{Posting, Receipt};
use locum_forge::pull_requests::PullRequestFilter;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::intent::{Facts, TriggerKind};

/// Longest reason that is remembered, in bytes.
const REASON_LIMIT_BYTES: usize = 400;
/// Most of a failed command's output that is remembered.
const TAIL_LIMIT: (usize, usize) = (20, 2000);
/// How often the dashboard is tried for while another run changes it.
const TRIES: u32 = 10;
/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(3);

/// What is known of jobs while an event is carried out.
pub(super) struct JobBook<'e> {
    env: &'e ActionEnv<'e>,
    admitted: &'e AdmittedEvent<'e>,
    states: JobStates,
    /// False once what happens cannot be written down: then only this run knows it.
    remembers: bool,
    /// Why nothing is remembered, or the dashboard is not up to date.
    notes: Vec<String>,
}

/// An open pull request of a job.
struct OpenPullRequest {
    job: String,
    number: u64,
    url: String,
}

/// Does what follows the run of a job that went on after a person's decision.
pub(super) async fn after_decision(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    end: &mut ActionEnd,
) {
    if let ActionEnd::Ran(ran) = &*end
        && let RunSubject::Job { name, .. } = &ran.plan.subject
    {
        let name = name.clone();
        JobBook::open(env, admitted).await.end(&name, Ok(end)).await;
    }
}

impl<'e> JobBook<'e> {
    /// Reads what is remembered, where a job is to be run and not only shown.
    pub(super) async fn open_for(
        env: &'e ActionEnv<'e>,
        admitted: &'e AdmittedEvent<'e>,
        items: &[WorkItem],
    ) -> Option<Self> {
        let is_dry = env.inputs.dry_run || admitted.request.flags.dry_run;
        if is_dry || !items.iter().any(|item| item.job().is_some()) {
            return None;
        }
        Some(Self::open(env, admitted).await)
    }

    /// Reads what is remembered. What cannot be read is noted: the jobs run all the same.
    pub(super) async fn open(env: &'e ActionEnv<'e>, admitted: &'e AdmittedEvent<'e>) -> Self {
        let (states, notes) = match JobStateRef::new(env.kept_at()).load().await {
            Ok(states) => (states, Vec::new()),
            Err(error) => (JobStates::default(), vec![not_remembered(&error)]),
        };
        Self { env, admitted, states, remembers: notes.is_empty(), notes }
    }

    /// Returns why a job is not started: a schedule does not start one that is paused.
    pub(super) fn left_out(&self, job: &str) -> Option<String> {
        let since = self.states.paused_since(job).filter(|_| !self.is_by_hand())?;
        Some(format!(
            "job `{job}` is left out: it is paused since {} UTC, because {LIMITS_IN_A_ROW} of its \
             runs in a row ended at a limit of the budget; start it by hand, or resume it with \
             `locum job resume {job}`",
            since.strftime("%F %H:%M")
        ))
    }

    /// Does what comes before the run of a job: someone who starts it resumes it, and the box that
    /// started it is unticked.
    pub(super) async fn begin(&mut self, job: &str) {
        if self.is_by_hand() && self.states.paused_since(job).is_some() {
            self.change(&|states| {
                states.resume(job);
            })
            .await;
        }
        if self.is_by_box() {
            self.show(Some(job)).await;
        }
    }

    /// Does what follows the run of a job, however it ended.
    pub(super) async fn end(&mut self, job: &str, end: Result<&mut ActionEnd, &RunError>) {
        let Some(result) = self.result_of(&end) else {
            let is_new = match &end {
                Ok(ActionEnd::Skipped(why)) => self.leave_out(job, why).await,
                Ok(_) | Err(_) => false,
            };
            if is_new || self.is_by_box() {
                self.show(None).await;
            }
            return;
        };
        let open = self.open_pull_requests().await;
        let pull_request = open.iter().find(|open| open.job == job).map(|open| open.number);
        let reported_on = self.states.of(job).and_then(|state| state.failure_reported_on);
        let reported_on = self.report_end(job, &result, (pull_request, reported_on)).await;
        let exists = |name: &str| {
            let AdmittedEvent { config, .. } = self.admitted;
            let is_sound = config.jobs().map(|jobs| jobs.iter().any(|job| job.name == name));
            let broken = config.broken_jobs();
            let is_broken = broken.map(|jobs| jobs.iter().any(|(broken, _)| broken == name));
            is_sound.unwrap_or(true) || is_broken.unwrap_or(true)
        };
        let pauses = Cell::new(false);
        self.change(&|states| {
            states.retain(exists);
            pauses.set(states.end(job, result.clone()));
            states.report_failure_on(job, reported_on);
        })
        .await;
        let pauses = pauses.get();
        self.show_with(None, &open).await;
        if pauses {
            self.report_pause(job, &result, pull_request).await;
        }
        if let Ok(ActionEnd::Ran(ran)) = end {
            if pauses {
                ran.publication.remarks.push(pause_words(job));
            }
            ran.publication.remarks.append(&mut self.notes);
        }
    }

    /// Remembers why a job that was due did not run; returns whether that is new.
    async fn leave_out(&mut self, job: &str, why: &str) -> bool {
        let why = why.strip_prefix(&left_out_words(job)).unwrap_or(why);
        let redactor = Redactor::new(self.env.environment.secrets());
        let why = head(&redactor.redact(why), REASON_LIMIT_BYTES).to_owned();
        let left_out = JobLeftOut { since: self.env.clock.now(), why };
        // Nothing is written where nothing changes: a schedule may come every few minutes.
        if !self.states.clone().leave_out(job, left_out.clone()) {
            return false;
        }
        self.change(&|states| {
            states.leave_out(job, left_out.clone());
        })
        .await;
        true
    }

    /// Remembers and shows which jobs cannot run, because their files have mistakes.
    pub(super) async fn leave_broken_out(&mut self, broken: &[(String, RunError)]) {
        let mut is_new = false;
        for (job, mistakes) in broken {
            is_new |= self.leave_out(job, &mistakes.to_string()).await;
        }
        if is_new {
            self.show(None).await;
        }
    }

    /// Whether somebody started it, and not the schedule or an event.
    fn is_by_hand(&self) -> bool {
        self.admitted.request.facts.trigger == TriggerKind::Dispatch
    }

    fn is_by_box(&self) -> bool {
        self.is_by_hand() && self.admitted.event.trigger.kind == EventKind::IssueEdited
    }

    /// Returns how a run ended; `None` where nothing ran.
    fn result_of(&self, end: &Result<&mut ActionEnd, &RunError>) -> Option<JobResult> {
        let (outcome, grade, reason, tail) = match end {
            Ok(ActionEnd::Ran(ran)) => {
                let FinishedRun { outcome, .. } = &**ran;
                let (reason, tail) = match &ran.publication.result {
                    // What a person closed is not opened again, and the page is where they look.
                    PublishResult::Diff(why) | PublishResult::Nowhere(why)
                        if grade(outcome.word) == JobGrade::Good && !why.is_empty() =>
                    {
                        (why.clone(), String::new())
                    }
                    _ => what_failed(outcome),
                };
                (outcome.word.as_str(), grade(outcome.word), reason, tail)
            }
            Ok(
                ActionEnd::Skipped(_)
                | ActionEnd::Answered { .. }
                | ActionEnd::Planned(_)
                | ActionEnd::Checked(_)
                | ActionEnd::Unusable(_),
            ) => return None,
            Err(error) => ("failed", JobGrade::Failed, error.to_string(), String::new()),
        };
        let redactor = Redactor::new(self.env.environment.secrets());
        Some(JobResult {
            outcome: outcome.to_owned(),
            grade,
            at: self.env.clock.now(),
            url: self.env.job.run_url().unwrap_or_default(),
            reason: head(&redactor.redact(&reason), REASON_LIMIT_BYTES).to_owned(),
            tail: tail_lines(&redactor.redact(&tail), TAIL_LIMIT.0, TAIL_LIMIT.1).to_owned(),
        })
    }

    /// Says on the open pull request of a job that the job failed, or works again. Returns where
    /// it says that the job failed.
    async fn report_end(
        &self,
        job: &str,
        result: &JobResult,
        (open, reported_on): (Option<u64>, Option<u64>),
    ) -> Option<u64> {
        let number = open?;
        let log = log_link(result);
        let body = match (result.grade, dashboard::failure(result)) {
            (JobGrade::Failed | JobGrade::AtLimit, why) => format!(
                "**Job {}: {}**{log}\n\n{}\n\nThis pull request stays as it is.",
                code(job),
                inline(result.heading()),
                why.unwrap_or_default()
            ),
            (JobGrade::Good, _) if reported_on == Some(number) => format!(
                "**Job {}: {}**{log}\n\nIts run before failed; this one did not.",
                code(job),
                inline(result.heading())
            ),
            (JobGrade::Good | JobGrade::Waiting, _) => return reported_on,
        };
        let marker = marker("job", &[("name", job)]);
        let failed = matches!(result.grade, JobGrade::Failed | JobGrade::AtLimit);
        let receipt = self.comment(job, (number, marker), &body).await;
        receipt.filter(|_| failed).map(|_| number)
    }

    /// Says once, in a comment of its own, that a job is paused: on its pull request, else on the
    /// dashboard.
    async fn report_pause(&self, job: &str, result: &JobResult, pull_request: Option<u64>) {
        let shown = self.states.dashboard.filter(|_| self.has_dashboard());
        let Some(number) = pull_request.or(shown) else { return };
        let body = format!(
            "**Job {} is paused.**{} {}.",
            code(job),
            log_link(result),
            inline(&pause_words(job))
        );
        let at = result.at.as_second().to_string();
        let marker = marker("job-paused", &[("name", job), ("since", &at)]);
        self.comment(job, (number, marker), &body).await;
    }

    fn has_dashboard(&self) -> bool {
        self.admitted.config.policy.settings().triggers.dashboard
    }

    /// Brings the dashboard up to date.
    async fn show(&mut self, starting: Option<&str>) {
        if self.has_dashboard() {
            let open = self.open_pull_requests().await;
            self.show_with(starting, &open).await;
        }
    }

    async fn show_with(&mut self, starting: Option<&str>, open: &[OpenPullRequest]) {
        if !self.has_dashboard() {
            return;
        }
        // Of two runs that end at once, the later one shows what both did.
        for _ in 0..TRIES {
            let request = ClaimRequest {
                subject: "dashboard",
                by: &self.admitted.event.trigger.actor.login,
                comment: "",
                policy: &self.admitted.config.policy,
                facts: &self.admitted.request.facts,
            };
            let claim = match claim::take(self.env, &request).await {
                Ok(ClaimAnswer::Granted(claim)) => claim,
                Ok(ClaimAnswer::Busy(_)) => {
                    self.env.clock.sleep(PAUSE).await;
                    continue;
                }
                Err(error) => return self.notes.push(not_shown(&error)),
            };
            let shown = self.write_dashboard(starting, open).await;
            claim.release().await;
            if let Err(why) = shown {
                self.notes.push(why);
            }
            return;
        }
        self.notes.push(not_shown(&"other runs are changing it"));
    }

    async fn write_dashboard(
        &mut self,
        starting: Option<&str>,
        open: &[OpenPullRequest],
    ) -> Result<(), String> {
        if self.remembers
            && let Ok(states) = JobStateRef::new(self.env.kept_at()).load().await
        {
            self.states = states;
        }
        let marker = dashboard_marker();
        let found = self.env.forge.own_issue(&marker, self.states.dashboard).await;
        let found = found.map_err(|error| not_shown(&error))?;
        let number = match &found {
            // Whoever closes it does not want it.
            Some(issue) if !issue.is_open => issue.number,
            _ => {
                let config = &self.admitted.config;
                let triggers = &config.policy.settings().triggers;
                let pull_requests: Vec<(String, u64, String)> =
                    open.iter().map(|it| (it.job.clone(), it.number, it.url.clone())).collect();
                let body = dashboard::render(&DashboardFacts {
                    jobs: config.jobs().map_err(|error| not_shown(&error))?,
                    broken: config.broken_jobs().map_err(|error| not_shown(&error))?,
                    scheduled: &triggers.schedule_jobs,
                    states: &self.states,
                    pull_requests: &pull_requests,
                    starting,
                    has_boxes: !triggers.dispatch_tiers.is_empty(),
                    now: self.env.clock.now(),
                });
                let title = found.as_ref().map_or(dashboard::TITLE, |issue| issue.title.as_str());
                let (title, number) = (title.to_owned(), found.as_ref().map(|issue| issue.number));
                let body = self.sanitised(&marker, &body);
                let posting = Posting::Issue { number, marker, title, body };
                self.post("", posting).await.map_err(|why| not_shown(&why))?.id
            }
        };
        if self.states.dashboard != Some(number) {
            self.change(&|states| states.dashboard = Some(number)).await;
        }
        Ok(())
    }

    /// Returns the open pull requests of jobs; none where they cannot be listed.
    async fn open_pull_requests(&self) -> Vec<OpenPullRequest> {
        let listed = self.env.forge.pull_requests(PullRequestFilter::Open).await;
        let listed = listed.unwrap_or_else(|error| {
            tracing::warn!(%error, "the pull requests of jobs are not looked for");
            Vec::new()
        });
        let Ok(jobs) = self.admitted.config.jobs() else { return Vec::new() };
        let of_job = |name: &str| RunSubject::job_words(name);
        listed
            .into_iter()
            .filter(|pull| pull.is_own)
            .filter_map(|pull| {
                let marker = PullRequestMarker::parse(&pull.body)?;
                let job = jobs.iter().find(|job| marker.is_about(&of_job(&job.name)))?;
                Some(OpenPullRequest { job: job.name.clone(), number: pull.number, url: pull.url })
            })
            .collect()
    }

    /// Changes what is remembered; where that cannot be written, only this run knows it.
    async fn change(&mut self, change: &dyn Fn(&mut JobStates)) {
        let AdmittedEvent { request, config, .. } = self.admitted;
        let Some(permit) = permit(&config.policy, &request.facts) else {
            self.remembers = false;
            return change(&mut self.states);
        };
        let store = JobStateRef::new(self.env.kept_at());
        match store.change(&permit, self.env.clock, change).await {
            Ok(states) => self.states = states,
            Err(error) => {
                change(&mut self.states);
                self.remembers = false;
                self.notes.push(not_remembered(&error));
            }
        }
    }

    async fn comment(
        &self,
        job: &str,
        (number, marker): (u64, String),
        body: &str,
    ) -> Option<Receipt> {
        let body = self.sanitised(&marker, &format!("{marker}\n{body}"));
        let posted =
            self.post(job, Posting::Comment { number, marker, body, replaces: None }).await;
        posted.map_err(|why| tracing::warn!(why, "what became of a job was not posted")).ok()
    }

    fn sanitised(&self, marker: &str, body: &str) -> String {
        let triggers = &self.admitted.config.policy.settings().triggers;
        let rules = TextRules {
            markers: vec![marker.to_owned()],
            prefix: triggers.prefix().to_owned(),
            ..TextRules::default()
        };
        sanitise::markdown(body, &rules, &Redactor::new(self.env.environment.secrets()))
    }

    async fn post(&self, job: &str, posting: Posting) -> Result<Receipt, String> {
        let AdmittedEvent { request, config, .. } = self.admitted;
        let facts = match job {
            "" => request.facts.clone(),
            job => Facts { job: Some(job.to_owned()), ..request.facts.clone() },
        };
        let poster = self.env.poster(&config.policy, &facts);
        poster.post(posting).await.map_err(|why| why.to_string())
    }
}

/// Returns what an outcome means for a job.
fn grade(word: OutcomeWord) -> JobGrade {
    match (word, word.severity()) {
        (OutcomeWord::BudgetExhausted | OutcomeWord::TimedOut, _) => JobGrade::AtLimit,
        (OutcomeWord::Cancelled, _) | (_, Severity::Waits) => JobGrade::Waiting,
        (_, Severity::Good) => JobGrade::Good,
        (_, Severity::Bad) => JobGrade::Failed,
    }
}

/// Returns why a run failed, in a line, and the end of what the failed check or step wrote.
fn what_failed(outcome: &Outcome) -> (String, String) {
    let said = outcome.reason.as_deref().unwrap_or_default();
    let (reason, rest) = said.split_once('\n').unwrap_or((said, ""));
    match outcome.failed_check() {
        Some(check) => {
            let failure = check.failure().unwrap_or_default();
            let reason = if reason.is_empty() { failure } else { reason.to_owned() };
            (reason, check.output.clone())
        }
        None => (reason.to_owned(), rest.to_owned()),
    }
}

/// How the reason begins for which a job is not started.
pub(super) fn left_out_words(job: &str) -> String {
    format!("job `{job}` is left out: ")
}

fn pause_words(job: &str) -> String {
    format!(
        "{LIMITS_IN_A_ROW} of its runs in a row ended at a limit of the budget, so the schedule no \
         longer starts job `{job}`; give it a larger budget or less to do, then start it by hand or \
         with `locum job resume {job}`"
    )
}

fn log_link(result: &JobResult) -> String {
    if result.url.is_empty() { String::new() } else { format!(" · [log]({})", result.url) }
}

fn not_remembered(error: &RunError) -> String {
    format!("how jobs end is not remembered: {}", error.report().replace('\n', "; "))
}

fn not_shown(why: &dyn std::fmt::Display) -> String {
    format!("the dashboard is not up to date: {why}")
}
