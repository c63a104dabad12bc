//! From an admitted request to orders: one for a task, one for each job that is due.

use crate::config::load::FlagValue;
use crate::run::action::gate::Admitted;
use crate::run::action::{Arrival, Found};
use crate::run::fault::{Fault, FaultKind};
use crate::run::job::{Job, Schedule, Work};
use crate::run::opening::{Opening, Words};
use crate::run::plan::Subject;
use crate::run::prepare::{Cassettes, Order};
use crate::run::request::{Answer, Refused};
use crate::run::trusted::Trusted;
use locum_agent::session::id::SessionId;
use locum_forge::event::{EventKind, Subject as EventSubject};
use locum_modes::prompts::task::seen_of_markdown;
use locum_policy::intent::{Facts, Restriction};
use locum_policy::schema::Form;
use locum_workspace::repo::CommitId;

/// One thing to run.
pub(super) struct Asked {
    task: String,
    words: Words,
    mode: Option<String>,
    job: Option<String>,
    work: Option<Work>,
}

/// Returns why the slash command that someone calls cannot be run, so that they are told where they
/// asked.
///
/// # Errors
/// When the machine fails.
pub(super) fn unusable_command(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
) -> Result<Option<Refused>, Fault> {
    let trusted = Trusted { repo: &arrival.workspace.repo, commit: &found.trusted };
    match Opening::read(
        &admitted.request.text,
        Words::Asker,
        trusted,
        &[],
        &admitted.policy.settings().modes.allow,
    ) {
        Ok(_) => Ok(None),
        Err(fault) if fault.kind == FaultKind::Machine => Err(fault),
        Err(fault) => {
            let hint = fault
                .notes
                .first()
                .and_then(|note| note.hint.as_ref())
                .map(|hint| format!("; {hint}"))
                .unwrap_or_default();
            Ok(Some(Refused {
                why: format!("{fault}{hint}"),
                rule: "command",
                answer: Answer::Told,
            }))
        }
    }
}

/// Returns what is to be run: a job by name, the jobs that are due, or the task.
///
/// # Errors
/// When a job is not there or has mistakes, or there is no task.
pub(super) fn asked(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
) -> Result<Vec<Asked>, Fault> {
    let trusted = Trusted { repo: &arrival.workspace.repo, commit: &found.trusted };
    if let Some(name) = &admitted.request.job {
        let jobs = trusted.jobs()?;
        let job = jobs.into_iter().find(|job| job.name == *name);
        return job.map(|job| vec![of_job(job)]).ok_or_else(|| {
            Fault::setup("job", format!("there is no job `{name}` in commit {}", found.trusted.0))
        });
    }
    let prompt = match (&arrival.inputs.prompt, &arrival.inputs.prompt_file) {
        (Some(prompt), _) => Some(prompt.clone()),
        (None, Some(path)) => {
            let file = trusted.file(path)?;
            Some(
                file.ok_or_else(|| {
                    Fault::setup(
                        "prompt-file",
                        format!("`{path}` is not in commit {}", found.trusted.0),
                    )
                })?
                .text,
            )
        }
        (None, None) => None,
    };
    let text = admitted.request.text.trim();
    let mut words = Words::Asker;
    let task = match (text.is_empty(), prompt) {
        (false, _) => text.to_owned(),
        (true, Some(prompt)) => prompt,
        (true, None) if found.trigger.kind == EventKind::Schedule => {
            return due(arrival, found, admitted, trusted);
        }
        (true, None) => match &found.trigger.subject {
            Some(subject) => {
                words = Words::Program;
                let number = subject.number;
                let of_issue = || format!("Resolve issue #{number}: {}", subject.title);
                if subject.is_pull_request {
                    format!("Do what pull request #{number} needs.")
                } else {
                    of_issue()
                }
            }
            None => {
                return Err(Fault::setup("prompt", "there is no task")
                    .hint("give the input `prompt`, `prompt-file` or `job`"));
            }
        },
    };
    Ok(vec![Asked { task, words, mode: admitted.request.mode.clone(), job: None, work: None }])
}

/// Returns the listed jobs whose moment lies in the span this run of the workflow answers for.
fn due(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
    trusted: Trusted<'_>,
) -> Result<Vec<Asked>, Fault> {
    let own = found.trigger.schedule.as_deref().and_then(|cron| Schedule::parse(cron).ok());
    let span = own.and_then(|own| own.last_span(arrival.clock.now()));
    let Some((from, to)) = span else {
        return Err(Fault::setup("schedule", "the event's cron expression cannot be read"));
    };
    let listed = &admitted.policy.settings().triggers.schedule_jobs;
    let is_due = |job: &Job| {
        listed.contains(&job.name)
            && job.schedule.as_ref().is_some_and(|schedule| schedule.has_moment(from, to))
    };
    Ok(trusted.jobs()?.into_iter().filter(is_due).map(of_job).collect())
}

fn of_job(job: Job) -> Asked {
    let words = if matches!(job.work, Work::Steps(_)) { Words::Program } else { Words::Asker };
    Asked {
        task: job.task_text(),
        words,
        mode: job.mode.clone(),
        job: Some(job.name.clone()),
        work: Some(job.work),
    }
}

/// Returns the order of one thing to run.
pub(super) fn order(
    found: &Found,
    admitted: &Admitted,
    asked: Asked,
    session: SessionId,
    base: CommitId,
) -> Order {
    let request = &admitted.request;
    let restriction =
        Restriction { read_only: request.read_only, paths: request.flags.paths.clone() };
    let flag = |flag: &str, key: &str, value: String| FlagValue {
        flag: flag.to_owned(),
        key: key.to_owned(),
        value,
    };
    let model = request.flags.model.clone().map(|model| flag("--model", "model", model));
    let budget =
        request.flags.budget_usd.map(|usd| flag("--budget", "budget.cost_usd", usd.to_string()));
    Order {
        session,
        task: asked.task,
        words: asked.words,
        materials: found
            .trigger
            .subject
            .as_ref()
            .map(|subject| materials(found, subject))
            .unwrap_or_default(),
        mode: asked.mode,
        facts: Facts { restriction, job: asked.job.clone(), ..request.facts.clone() },
        subject: subject(found, asked.job, own_pull_request(admitted)),
        work: asked.work,
        base,
        trusted: found.trusted.clone(),
        flags: model.into_iter().chain(budget).collect(),
        policy: None,
        script: None,
        cassettes: Cassettes::default(),
    }
}

/// Returns the branch pull requests are made against.
pub(super) fn base_branch(arrival: &Arrival<'_>, found: &Found, admitted: &Admitted) -> String {
    let of_head = found
        .pull_request
        .as_ref()
        .filter(|_| own_pull_request(admitted))
        .map(|pull_request| pull_request.head_branch.clone());
    of_head
        .or_else(|| arrival.inputs.base_branch.clone())
        .unwrap_or_else(|| found.default_branch.clone())
}

/// Whether changes to a pull request become one of their own: somebody asked for it, or the policy
/// says so.
fn own_pull_request(admitted: &Admitted) -> bool {
    admitted.request.flags.new_pull_request
        || admitted.policy.settings().publish.publish_as.pull_requests == Form::PullRequest
}

fn subject(found: &Found, job: Option<String>, own_pull_request: bool) -> Subject {
    if let Some(name) = job {
        return Subject::Job { name };
    }
    match (&found.pull_request, &found.trigger.subject) {
        (Some(pull_request), _) => Subject::PullRequest {
            number: pull_request.number,
            title: pull_request.title.clone(),
            head_branch: pull_request.head_branch.clone(),
            head_sha: pull_request.head_sha.clone(),
            is_fork: pull_request.is_fork,
            own_pull_request,
        },
        (None, Some(subject)) => {
            Subject::Issue { number: subject.number, title: subject.title.clone() }
        }
        (None, None) => Subject::Prompt,
    }
}

/// What the task is about, in the words of whoever wrote them: data, never instructions. As it was
/// at the time of the event.
fn materials(found: &Found, subject: &EventSubject) -> Vec<(String, String, String)> {
    let kind = if subject.is_pull_request { "pull request" } else { "issue" };
    let text = format!("{}\n\n{}", subject.title, seen_of_markdown(&subject.body));
    let mut materials = vec![(
        format!("{kind} #{}", subject.number),
        format!("written by {}", subject.author),
        text,
    )];
    if let Some((path, line)) =
        found.trigger.comment.as_ref().and_then(|comment| comment.place.as_ref())
    {
        let place = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
        materials.push((
            "the place the comment was written at".to_owned(),
            "the forge".to_owned(),
            place,
        ));
    }
    if let Some(pull_request) = &found.pull_request {
        let commits = format!(
            "base {} ({})\nhead {} ({})",
            pull_request.base_branch,
            found.trusted.0,
            pull_request.head_branch,
            pull_request.head_sha
        );
        materials.push((
            "the commits of the pull request".to_owned(),
            "the forge".to_owned(),
            commits,
        ));
    }
    materials
}
