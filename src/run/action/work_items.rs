//! From an admitted event to run requests: one for a task, one for each job that is due.

use crate::config::load::FlagValue;
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::{ActionEnv, due, refs};
use crate::run::error::{RunError, RunErrorKind};
use crate::run::first_message::FirstMessage;
use crate::run::job::{Job, JobWork, OnOpen};
use crate::run::plan::RunSubject;
use crate::run::request::{CommandFlags, RefusalNotice, RequestRefusal};
use crate::run::run_request::{Overrides, RunRequest};
use crate::run::task_material::{TaskAuthor, TaskMaterial};
use crate::run::unknown_job::unknown_job;
use locum_forge::alerts::AlertSource;
use locum_forge::event::{EventKind, EventSubject};
use locum_modes::prompts::checks::Check;
use locum_modes::prompts::task::seen_of_markdown;
use locum_policy::intent::{Facts, Restriction, TriggerKind};
use locum_policy::schema::{PublishForm, PublishForms};
use locum_workspace::repo::CommitId;

/// The mode that makes checks which name none.
const CHECK_MODE: &str = "review";

/// One thing to run.
pub(super) struct WorkItem {
    task: String,
    words: TaskAuthor,
    mode: Option<String>,
    /// The job it is, and what a run of it is about.
    job: Option<(String, RunSubject)>,
    work: Option<JobWork>,
    on_open: OnOpen,
    /// Whose open alerts it is about.
    alerts: Vec<AlertSource>,
    /// The check that it makes: what it is called by, and its name for people.
    check: Option<(String, String)>,
}

impl WorkItem {
    /// Returns the work of a check; `modes` are those that may run.
    pub(super) fn of_check(check: &Check, modes: &[String]) -> Self {
        let usual = modes.iter().find(|mode| *mode == CHECK_MODE);
        Self {
            task: check.task(),
            words: TaskAuthor::Asker,
            mode: check.mode.clone().or_else(|| usual.cloned()),
            job: None,
            work: None,
            on_open: OnOpen::Update,
            alerts: Vec::new(),
            check: Some((check.slug.clone(), check.name.clone())),
        }
    }

    /// Returns what the check is called by that it makes, if it makes one.
    pub(super) fn check(&self) -> Option<&str> {
        self.check.as_ref().map(|(slug, _)| slug.as_str())
    }

    /// Returns the name of that check for people.
    pub(super) fn check_name(&self) -> Option<String> {
        self.check.as_ref().map(|(_, name)| name.clone())
    }

    /// Returns what a run of it is about.
    pub(super) fn subject(&self, admitted: &AdmittedEvent<'_>) -> RunSubject {
        self.job.as_ref().map_or_else(|| subject(admitted), |(_, subject)| subject.clone())
    }

    /// Returns what it does about its pull request that is still open.
    pub(super) fn on_open(&self) -> OnOpen {
        self.on_open
    }

    /// Returns whose open alerts it is about.
    pub(super) fn alerts(&self) -> &[AlertSource] {
        &self.alerts
    }

    /// Returns the mode it asks for.
    pub(super) fn mode(&self) -> Option<&str> {
        self.mode.as_deref()
    }

    /// Returns the name of the job it is, if it is one.
    pub(super) fn job(&self) -> Option<&str> {
        self.job.as_ref().map(|(name, _)| name.as_str())
    }

    /// Returns what is to be done.
    pub(super) fn task(&self) -> &str {
        &self.task
    }
}

/// Returns why the slash command that someone calls cannot be run, to be reported where they asked.
///
/// # Errors
/// When the machine fails.
pub(super) fn unusable_command(
    admitted: &AdmittedEvent<'_>,
) -> Result<Option<RequestRefusal>, RunError> {
    match FirstMessage::read(&admitted.request.text, TaskAuthor::Asker, &admitted.config) {
        Ok(_) => Ok(None),
        Err(error) if error.kind == RunErrorKind::Internal => Err(error),
        Err(error) => {
            let hint = error.diagnostics.first().and_then(|one| one.hint.as_ref());
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let why = format!("{error}{hint}");
            Ok(Some(RequestRefusal { why, rule: "command", notice: RefusalNotice::Posted }))
        }
    }
}

/// Returns what is to be run: a job by name, the jobs that are due, or the task.
///
/// # Errors
/// When a job does not exist or has mistakes, or there is no task.
pub(super) async fn work_items(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<Vec<WorkItem>, RunError> {
    let AdmittedEvent { event, request, config, .. } = admitted;
    if let Some(name) = &request.job {
        let job = config.jobs()?.iter().find(|job| job.name == *name);
        let item = |job: &Job| {
            let mut item = of_job(job);
            item.mode = request.mode.clone().or(item.mode);
            if event.pull_request.is_some() {
                item.job = Some((job.name.clone(), subject(admitted)));
            }
            vec![item]
        };
        return match job {
            Some(job) => Ok(item(job)),
            None => match config.broken_jobs()?.iter().find(|(broken, _)| broken == name) {
                Some((_, mistakes)) => Err(mistakes.clone()),
                None => Err(unknown_job("job", name, config.jobs()?)),
            },
        };
    }
    let text = request.text.trim();
    let (task, words) = match (prompt(env, admitted)?, &event.trigger.subject) {
        _ if !text.is_empty() => (text.to_owned(), TaskAuthor::Asker),
        (Some(prompt), _) => (prompt, TaskAuthor::Asker),
        (None, _) if event.trigger.kind == EventKind::Schedule => {
            return Ok(due::jobs(env, admitted).await?.into_iter().map(of_job).collect());
        }
        (None, Some(subject)) => (task_of(subject, request.facts.trigger), TaskAuthor::Program),
        (None, None) => {
            return Err(RunError::usage("prompt", "there is no task")
                .hint("give the input `prompt`, `prompt-file` or `job`"));
        }
    };
    Ok(vec![WorkItem {
        task,
        words,
        mode: request.mode.clone(),
        job: None,
        work: None,
        on_open: OnOpen::Update,
        alerts: Vec::new(),
        check: None,
    }])
}

/// Returns the task that the workflow gives by its inputs.
fn prompt(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Result<Option<String>, RunError> {
    let source = &admitted.config.origin.source;
    match (&env.inputs.prompt, &env.inputs.prompt_file) {
        (Some(prompt), _) => Ok(Some(prompt.clone())),
        (None, Some(path)) => match source.file(path)? {
            Some(file) => Ok(Some(file.text)),
            None => Err(RunError::usage("prompt-file", format!("`{path}` is not in {source}"))),
        },
        (None, None) => Ok(None),
    }
}

/// Returns the task where no one wrote one: the issue or pull request itself.
fn task_of(subject: &EventSubject, trigger: TriggerKind) -> String {
    let EventSubject { number, title, .. } = subject;
    if trigger == TriggerKind::PullRequest {
        format!("Look at pull request #{number} as your mode does: {title}")
    } else if trigger == TriggerKind::CiFailure {
        format!(
            "Checks of pull request #{number} failed. Find the cause from their output below, and \
             mend it."
        )
    } else if subject.is_pull_request {
        format!("Do what pull request #{number} needs.")
    } else if subject.is_discussion {
        format!("Answer discussion #{number}: {title}")
    } else {
        format!("Resolve issue #{number}: {title}")
    }
}

fn of_job(job: &Job) -> WorkItem {
    WorkItem {
        task: job.task_text(),
        words: job.words(),
        mode: job.mode.clone(),
        job: Some((job.name.clone(), job.subject())),
        work: Some(job.work.clone()),
        on_open: job.on_open,
        alerts: job.alerts.clone(),
        check: None,
    }
}

/// Returns the request to run one thing.
pub(super) fn run_request(
    admitted: &AdmittedEvent<'_>,
    item: WorkItem,
    base: CommitId,
    earlier: Option<TaskMaterial>,
) -> RunRequest {
    let AdmittedEvent { event, request, .. } = admitted;
    let about = item.subject(admitted);
    let check = item.check().map(str::to_owned);
    let restriction = Restriction {
        read_only: request.read_only || check.is_some(),
        contained: request.contained,
        paths: request.flags.paths.clone(),
    };
    let CommandFlags { model, budget_usd, .. } = &request.flags;
    let model = model.as_ref().map(|model| FlagValue::new("--model", "model", model));
    let budget = budget_usd.map(|usd| FlagValue::new("--budget", "budget.cost_usd", usd));
    RunRequest {
        words: item.words,
        materials: materials(admitted).into_iter().chain(earlier).collect(),
        mode: item.mode,
        facts: Facts {
            restriction,
            job: item.job.as_ref().map(|(name, _)| name.clone()),
            check,
            ..request.facts.clone()
        },
        subject: about,
        work: item.work,
        trusted: event.trusted.clone(),
        overrides: Overrides {
            flags: model.into_iter().chain(budget).collect(),
            ..Overrides::default()
        },
        ..RunRequest::new(item.task, base)
    }
}

/// Returns the branch pull requests are made against.
pub(super) fn base_branch(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> String {
    let event = &admitted.event;
    let of_head = event
        .pull_request
        .as_ref()
        .filter(|_| own_pull_request(admitted))
        .map(|pull_request| pull_request.head_branch.clone());
    of_head.unwrap_or_else(|| refs::start_branch(env, event).to_owned())
}

/// Returns whether changes to a pull request become one of their own: by request, or by the policy.
fn own_pull_request(admitted: &AdmittedEvent<'_>) -> bool {
    let forms = forms(admitted, admitted.request.mode.as_deref());
    admitted.request.flags.new_pull_request || forms.pull_requests == PublishForm::PullRequest
}

/// Returns what changes become in a mode; `None` is the policy's default one.
pub(super) fn forms(admitted: &AdmittedEvent<'_>, mode: Option<&str>) -> PublishForms {
    let settings = admitted.config.policy.settings();
    settings.publish.publish_as.in_mode(mode.unwrap_or(&settings.modes.default))
}

/// Returns what the event is about.
pub(super) fn subject(admitted: &AdmittedEvent<'_>) -> RunSubject {
    match (&admitted.event.pull_request, &admitted.event.trigger.subject) {
        (Some(pull_request), _) => RunSubject::PullRequest {
            number: pull_request.number,
            title: pull_request.title.clone(),
            head_branch: pull_request.head_branch.clone(),
            head_sha: pull_request.head_sha.clone(),
            is_fork: pull_request.is_fork,
            own_pull_request: own_pull_request(admitted),
        },
        (None, Some(subject)) if subject.is_discussion => {
            RunSubject::Discussion { number: subject.number, title: subject.title.clone() }
        }
        (None, Some(subject)) => {
            RunSubject::Issue { number: subject.number, title: subject.title.clone() }
        }
        (None, None) => RunSubject::Prompt,
    }
}

/// Leaves out what the issue or pull request says, where that stands in the conversation already.
pub(super) fn forget_subject(admitted: &AdmittedEvent<'_>, materials: &mut Vec<TaskMaterial>) {
    let subject = admitted.event.trigger.subject.as_ref().map(name_of);
    materials.retain(|material| Some(&material.what) != subject.as_ref());
}

fn name_of(subject: &EventSubject) -> String {
    format!("{} #{}", subject.kind(), subject.number)
}

/// Returns what the task is about, in the words of whoever wrote them: data, never instructions. As
/// it was at the time of the event.
fn materials(admitted: &AdmittedEvent<'_>) -> Vec<TaskMaterial> {
    let event = &admitted.event;
    // A job has its task; the dashboard that started it says nothing about that.
    let text = event.trigger.text.as_ref().map(|text| TaskMaterial {
        what: text.what.clone(),
        origin: format!("written by {}", text.author),
        text: text.text.clone(),
    });
    let pushed = event.trigger.head.as_ref().filter(|_| event.trigger.kind == EventKind::Push);
    let pushed = pushed.map(|head| TaskMaterial {
        what: "the push".to_owned(),
        origin: "the forge".to_owned(),
        text: format!(
            "branch {}\nfrom {}\nto {}",
            head.branch,
            head.before.as_deref().unwrap_or("nothing"),
            head.sha
        ),
    });
    let is_box = event.trigger.kind == EventKind::IssueEdited
        && admitted.request.facts.trigger == TriggerKind::Dispatch;
    let subject = event.trigger.subject.as_ref().filter(|_| !is_box);
    let Some(subject) = subject else { return text.into_iter().chain(pushed).collect() };
    let of_forge = |what: &str, text: String| TaskMaterial {
        what: what.to_owned(),
        origin: "the forge".to_owned(),
        text,
    };
    let mut materials = vec![TaskMaterial {
        what: name_of(subject),
        origin: format!("written by {}", subject.author),
        text: format!("{}\n\n{}", subject.title, seen_of_markdown(&subject.body)),
    }];
    let comment = event.trigger.comment.as_ref();
    if let Some((path, line)) = comment.and_then(|comment| comment.place.as_ref()) {
        let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
        materials.push(of_forge("the place the comment was written at", place));
    }
    if let Some(pull_request) = &event.pull_request {
        let commits = format!(
            "base {} ({})\nhead {} ({})",
            pull_request.base_branch,
            event.trusted,
            pull_request.head_branch,
            pull_request.head_sha
        );
        materials.push(of_forge("the commits of the pull request", commits));
    }
    materials.extend(text);
    materials
}
