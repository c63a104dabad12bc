//! The Action's route: an event's payload to what was published. Gate first, then one run for each
//! thing asked for.
//!
//! In: the job's context, inputs, payload, checkout, forge. Out: what happened, in order, for
//! outputs and the job summary. Policy, modes, settings and jobs come from the trusted ref: the
//! default branch, or a pull request's base.

mod answer;
mod carry;
mod decide;
mod gate;
mod order;
mod refs;

use std::path::PathBuf;

use futures::future::BoxFuture;

use crate::config::action_context::ActionContext;
use crate::config::action_inputs::ActionInputs;
use crate::config::environment::Environment;
use crate::run::action::carry::Carried;
use crate::run::action::gate::Admitted;
use crate::run::ceilings::Kept;
use crate::run::execute::{self, Beginning, Execution};
use crate::run::fault::Fault;
use crate::run::plan::RunPlan;
use crate::run::prepare::{self, Order, Prepared, UserFiles};
use crate::run::publish::{Destination, Published, Publisher};
use crate::run::request::{Answer, Refused, Wish};
use locum_agent::report::comment::Decide;
use locum_agent::report::markdown;
use locum_agent::session::event::JournalLine;
use locum_agent::session::id::SessionId;
use locum_agent::session::outcome::{Outcome, OutcomeWord};
use locum_agent::session::state::State;
use locum_base::clock::Clock;
use locum_forge::event::{self, EventError, EventKind, Trigger};
use locum_forge::posts::{OwnReaction, ReactionTarget};
use locum_forge::{Forge, PullRequest};
use locum_workspace::Workspace;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;
use locum_workspace::repo::CommitId;

/// What the Action's step has to work with.
pub struct Arrival<'a> {
    /// The job.
    pub job: &'a ActionContext,
    /// The inputs about this event.
    pub inputs: &'a ActionInputs,
    /// The environment.
    pub environment: &'a Environment,
    /// The event's payload.
    pub payload: &'a str,
    /// The checkout.
    pub workspace: &'a Workspace,
    /// The forge.
    pub forge: &'a dyn Forge,
    /// Where commits are fetched from and pushed to.
    pub remote: &'a Remote,
    /// The `git` binary.
    pub git: &'a GitBinary,
    /// Time.
    pub clock: &'a dyn Clock,
}

/// What came of one thing that was asked for.
pub enum ActionEnd {
    /// The event starts nothing, or nothing that anyone is told of.
    Skipped(String),
    /// It was refused, or a question about locum itself was answered, where it was asked.
    Answered {
        /// What was answered, in one line.
        what: String,
        /// True for a refusal.
        refused: bool,
    },
    /// A dry run.
    Planned(Box<RunPlan>),
    /// A run.
    Ran(Box<Ran>),
}

/// A run that ended.
pub struct Ran {
    /// What was settled before.
    pub plan: RunPlan,
    /// How it ended.
    pub outcome: Outcome,
    /// What was published.
    pub published: Published,
    /// The session's folder.
    pub folder: PathBuf,
    /// The changes as a patch, beside the journal; `None` when nothing changed.
    pub patch: Option<PathBuf>,
    /// Whether the settings make the step fail on this outcome.
    pub fails: bool,
}

/// What was found out about an event before anything runs.
struct Found {
    trigger: Trigger,
    pull_request: Option<PullRequest>,
    default_branch: String,
    trusted: CommitId,
}

/// Carries out what an event asks for.
///
/// # Errors
/// When the set-up is wrong or the machine fails; what is wrong with the event itself is an
/// [`ActionEnd`].
pub async fn run(
    arrival: &Arrival<'_>,
    cancelled: impl Fn() -> BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &State),
) -> Result<Vec<ActionEnd>, Fault> {
    let trigger = match event::parse(&arrival.job.event_name, arrival.payload) {
        Ok(trigger) => trigger,
        Err(error @ EventError::Ignored { .. }) => {
            return Ok(vec![ActionEnd::Skipped(error.to_string())]);
        }
        Err(error @ EventError::Malformed { .. }) => {
            return Err(Fault::setup(
                arrival.job.event_path.display().to_string(),
                error.to_string(),
            ));
        }
    };
    let found = match gate::find(arrival, trigger).await? {
        Ok(found) => found,
        Err(refused) => return Ok(vec![ActionEnd::Skipped(refused.to_string())]),
    };
    let admitted = match gate::admit(arrival, &found).await? {
        Ok(admitted) => admitted,
        Err((refused, policy)) => {
            return Ok(vec![refuse(arrival, &found, refused, policy.as_ref()).await]);
        }
    };
    match &admitted.request.wish {
        Wish::Run => {}
        Wish::Help | Wish::Status => {
            return answer::wish(arrival, &found, &admitted).await.map(|end| vec![end]);
        }
        Wish::Decide(said) => {
            return decide::decide(arrival, &found, &admitted, said, cancelled(), watch)
                .await
                .map(|end| vec![end]);
        }
    }
    if let Some(refused) = order::unusable_command(arrival, &found, &admitted)? {
        return Ok(vec![refuse(arrival, &found, refused, Some(&admitted.policy)).await]);
    }
    let mut ends = Vec::new();
    for asked in order::asked(arrival, &found, &admitted)? {
        ends.push(one(arrival, &found, &admitted, asked, cancelled(), watch).await?);
    }
    carry::sweep(arrival, &admitted.policy, &admitted.request.facts).await;
    if ends.is_empty() {
        ends.push(ActionEnd::Skipped("no job is due".to_owned()));
    }
    Ok(ends)
}

async fn refuse(
    arrival: &Arrival<'_>,
    found: &Found,
    refused: Refused,
    policy: Option<&locum_policy::Policy>,
) -> ActionEnd {
    match (refused.answer, policy) {
        (Answer::Told, Some(policy)) => {
            answer::refusal(arrival, found, policy, &refused).await;
            ActionEnd::Answered { what: refused.to_string(), refused: true }
        }
        (Answer::Told | Answer::Silent, _) => ActionEnd::Skipped(refused.to_string()),
    }
}

/// Runs one thing that was asked for and publishes its outcome.
async fn one(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
    asked: order::Asked,
    cancelled: BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &State),
) -> Result<ActionEnd, Fault> {
    let session = SessionId::fresh();
    let base = refs::start(arrival, found).await?;
    let order = order::order(found, admitted, asked, session, base);
    let kept = order.clone();
    let prepared =
        prepare::prepare(order, arrival.workspace, &UserFiles::default(), arrival.environment)?;
    if arrival.inputs.dry_run || admitted.request.flags.dry_run {
        return Ok(ActionEnd::Planned(Box::new(prepared.plan)));
    }
    let sessions = prepared
        .settings
        .session_folder()
        .map_err(|error| Fault::setup(error.place, error.message))?;
    let folder = execute::folder_of(&sessions, &prepared.plan.session);
    let reaction = reaction_target(&found.trigger);
    // The materials are in the message the session begins with.
    let kept = Order { task: prepared.redactor.redact(&kept.task), materials: Vec::new(), ..kept };
    let carried = Carried {
        order: kept,
        base_branch: order::base_branch(arrival, found, admitted),
        marker: marker(arrival, &found.trigger),
        reaction,
        reply_to: reply_to(&found.trigger),
        requested_by: Some(found.trigger.actor.login.clone()).filter(|login| !login.is_empty()),
        thread: None,
        seen: Vec::new(),
    };
    let course = Course { reaction, carried, beginning: Beginning::Fresh, from: None };
    carry_out(arrival, prepared, folder, course, cancelled, watch).await
}

/// How a session is carried out and published.
struct Course {
    /// What the reactions of this workflow run are put on.
    reaction: Option<ReactionTarget>,
    /// What is known of the run's place.
    carried: Carried,
    /// Whether it begins or goes on.
    beginning: Beginning,
    /// What the session's ref at the remote holds.
    from: Option<CommitId>,
}

/// Runs a session and publishes its outcome; keeps it in the repository when it waits for a person.
async fn carry_out(
    arrival: &Arrival<'_>,
    prepared: Prepared,
    folder: PathBuf,
    course: Course,
    cancelled: BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &State),
) -> Result<ActionEnd, Fault> {
    let Course { reaction, carried, beginning, from } = course;
    let run_url = arrival.job.run_url();
    let destination = Destination {
        forge: arrival.forge,
        remote: Some(arrival.remote),
        git: arrival.git,
        base_branch: &carried.base_branch,
        marker: &carried.marker,
        thread: carried.thread(),
        reaction,
        seen: &[],
        decided: None,
        reply_to: carried.reply_to,
        branch_template: arrival.inputs.branch_template.as_deref(),
        requested_by: carried.requested_by.as_deref(),
        run_url: run_url.as_deref(),
        decide: Decide::Nowhere(""),
    };
    let publisher =
        Publisher { prepared: &prepared, workspace: arrival.workspace, destination: &destination };
    let own = publisher.see().await;
    let (first, decided) = match beginning {
        Beginning::Fresh => (own, None),
        Beginning::Resumed => (None, own),
    };
    let seen: Vec<OwnReaction> = carried.seen.iter().copied().chain(first).collect();
    let caller = serde_json::to_value(Carried { seen: seen.clone(), ..carried.clone() })
        .map_err(Fault::machine)?;
    let execution = Execution {
        prepared: &prepared,
        workspace: arrival.workspace,
        folder: &folder,
        beginning,
        caller,
        kept: Kept::Remote { git: arrival.git, remote: arrival.remote },
        forge: Some(arrival.forge),
        clock: arrival.clock,
    };
    let follow = |line: &JournalLine, state: &State| watch(line, state);
    let outcome = execute::run_beside_progress(&execution, &publisher, cancelled, follow).await?;
    let thread = match carried.thread() {
        Some(thread) => Ok(thread),
        None if matches!(outcome.word, OutcomeWord::OnHold | OutcomeWord::NeedsInput) => {
            publisher.open_issue().await.map_err(no_place)
        }
        None => Err(String::new()),
    };
    let place = thread.clone().ok();
    let kept = carry::keep(arrival, &prepared, &folder, &outcome, (thread, from.as_ref())).await;
    let triggers = arrival.inputs.tighten(&prepared.policy.settings().triggers);
    let prefix = triggers.comment.map_or_else(String::new, |comment| comment.prefix);
    let decide = match &kept {
        Ok(Some(marker)) => Decide::Comment { prefix: &prefix, marker },
        Ok(None) => Decide::Nowhere(""),
        Err(why) => Decide::Nowhere(why),
    };
    let publisher = Publisher {
        prepared: &prepared,
        workspace: arrival.workspace,
        destination: &Destination { decide, seen: &seen, decided, thread: place, ..destination },
    };
    let mut published = publisher.publish(&outcome).await;
    if let (Err(why), None) = (&kept, place) {
        // No comment says it.
        published.notes.push(format!("the run cannot go on: {why}"));
    }
    if let (Some(from), Ok(None) | Err(_)) = (&from, &kept) {
        carry::drop_off(arrival, &prepared, from).await;
    }
    let touched = outcome.changes.iter().map(|change| change.path.clone()).collect();
    arrival.workspace.repo.restore(&outcome.base, &touched).map_err(Fault::machine)?;
    let fails = prepared.settings.fails_on(outcome.word);
    let patch = execute::write_patch(&folder, &outcome, &prepared.redactor)?;
    Ok(ActionEnd::Ran(Box::new(Ran {
        plan: prepared.plan,
        outcome,
        published,
        folder,
        patch,
        fails,
    })))
}

/// Returns the hidden line of the one comment for this command: the same for every attempt of a
/// workflow run.
fn marker(arrival: &Arrival<'_>, trigger: &Trigger) -> String {
    let asked = asked_by(trigger);
    markdown::marker("progress", &[("comment", &asked), ("run", &arrival.job.run_id)])
}

fn no_place(why: String) -> String {
    format!(
        "no issue or pull request started it, so people have no place to decide, and none could \
         be opened: {why}"
    )
}

/// Names what asked, for a hidden line.
fn asked_by(trigger: &Trigger) -> String {
    match (&trigger.comment, trigger.kind) {
        (Some(comment), _) => comment.id.to_string(),
        (None, EventKind::IssueAssigned) => "assigned".to_owned(),
        (None, _) => "label".to_owned(),
    }
}

fn reply_to(trigger: &Trigger) -> Option<u64> {
    trigger
        .comment
        .as_ref()
        .filter(|_| trigger.kind == EventKind::ReviewComment)
        .map(|comment| comment.id)
}

fn reaction_target(trigger: &Trigger) -> Option<ReactionTarget> {
    match trigger.kind {
        EventKind::IssueComment => {
            trigger.comment.as_ref().map(|comment| ReactionTarget::IssueComment(comment.id))
        }
        EventKind::ReviewComment => {
            trigger.comment.as_ref().map(|comment| ReactionTarget::ReviewComment(comment.id))
        }
        EventKind::IssueLabeled | EventKind::IssueAssigned => {
            trigger.subject.as_ref().map(|subject| ReactionTarget::Issue(subject.number))
        }
        EventKind::Dispatch | EventKind::Schedule => None,
    }
}
