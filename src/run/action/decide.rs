//! A comment that decides on what a run stopped for: the session is fetched, checked, claimed, and
//! goes on at exactly that call.
//!
//! In: an admitted event whose comment says yes, no or answers. Out: the run that went on; or a
//! refusal, told on the thread, with the reason: nothing of that name, another policy, new commits,
//! decided already, too late.

use futures::future::BoxFuture;

use crate::run::action::carry::{self, CARRIED_LIMIT_BYTES, Carried, Waits};
use crate::run::action::gate::Admitted;
use crate::run::action::{ActionEnd, Arrival, Course, Found, answer, carry_out, reaction_target};
use crate::run::execute::{self, Beginning};
use crate::run::fault::Fault;
use crate::run::prepare::{self, Prepared, UserFiles};
use crate::run::request::{Answer, Refused, Said};
use locum_agent::session::event::{Decided, JournalLine};
use locum_agent::session::hold;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::state::State;
use locum_base::path::RepoPath;
use locum_workspace::repo::CommitId;

/// Goes on with the session that a comment decides on.
///
/// # Errors
/// When the set-up is wrong or the machine fails.
pub(super) async fn decide(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
    said: &Said,
    cancelled: BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &State),
) -> Result<ActionEnd, Fault> {
    match take(arrival, found, admitted, said).await? {
        Ok(taken) => go_on(arrival, found, taken, cancelled, watch).await,
        Err(why) => {
            let refused = Refused { why, rule: "decide", answer: Answer::Told };
            answer::refusal(arrival, found, &admitted.policy, &refused).await;
            Ok(ActionEnd::Answered { what: refused.to_string(), refused: true })
        }
    }
}

/// A session that is ours to go on with.
struct Taken {
    carried: Carried,
    prepared: Prepared,
    folder: std::path::PathBuf,
    claim: CommitId,
}

/// Finds, checks, decides and claims, in this order; the checkout is touched last.
async fn take(
    arrival: &Arrival<'_>,
    found: &Found,
    admitted: &Admitted,
    said: &Said,
) -> Result<Result<Taken, String>, Fault> {
    let waits = match one_of(carry::waiting(arrival, found, said.id.as_deref()).await?, said) {
        Ok(waits) => waits,
        Err(why) => return Ok(Err(why)),
    };
    let tip = match carry::fetch(arrival, found, &waits).await? {
        Ok(tip) => tip,
        Err(why) => return Ok(Err(why)),
    };
    let thread = found.trigger.subject.as_ref().map_or(0, |subject| subject.number);
    let (words, _) = arrival.workspace.repo.message_of(&waits.commit).map_err(Fault::machine)?;
    if words != carry::waits_words(&waits.id, thread) {
        return Ok(Err("the session waits on another issue or pull request".to_owned()));
    }
    let journal = match journal_of(arrival, &waits)? {
        Ok(journal) => journal,
        Err(why) => return Ok(Err(why)),
    };
    let (carried, hash) = match checked(found, admitted, &waits, &journal) {
        Ok(checked) => checked,
        Err(why) => return Ok(Err(why)),
    };
    let prepared = prepare::prepare(
        carried.order.clone(),
        arrival.workspace,
        &UserFiles::default(),
        arrival.environment,
    )?;
    if prepared.plan.policy.hash != hash {
        return Ok(Err("the session was judged by another policy".to_owned()));
    }
    let sessions = prepared
        .settings
        .session_folder()
        .map_err(|error| Fault::setup(error.place, error.message))?;
    let folder = execute::folder_of(&sessions, &prepared.plan.session);
    Journal::put(&folder, journal.as_bytes()).map_err(Fault::machine)?;
    let state = State::of(&Journal::read(&folder).map_err(Fault::machine)?);
    let decision = Decided {
        id: waits.id.clone(),
        by: found.trigger.actor.login.clone(),
        word: said.word.clone(),
    };
    if let Err(why) = hold::decide(&folder, decision, arrival.clock.now()) {
        return Ok(Err(why.to_string()));
    }
    let facts = &prepared.plan.facts;
    let claim = match carry::claim(arrival, found, &prepared.policy, facts, &waits, &tip).await {
        Ok(claim) => claim,
        Err(why) => return Ok(Err(why)),
    };
    bring_back(arrival, &prepared, &state)?;
    Ok(Ok(Taken { carried, prepared, folder, claim }))
}

/// Returns the one session that is meant.
fn one_of(mut waiting: Vec<Waits>, said: &Said) -> Result<Waits, String> {
    match (waiting.len(), &said.id) {
        (1, _) => Ok(waiting.remove(0)),
        (0, Some(id)) => Err(format!("nothing waits here under the name `{id}`")),
        (0, None) => Err("no question waits here".to_owned()),
        (count, _) => {
            Err(format!("{count} runs wait here; say which, by the name in the run's comment"))
        }
    }
}

fn journal_of(arrival: &Arrival<'_>, waits: &Waits) -> Result<Result<String, String>, Fault> {
    let path = RepoPath::parse(JOURNAL_FILE).map_err(Fault::machine)?;
    let file = arrival.workspace.repo.file_at(&waits.commit, &path, CARRIED_LIMIT_BYTES);
    Ok(match file {
        Ok(Some(file)) => Ok(file.text),
        Ok(None) => Err("the kept session has no journal".to_owned()),
        Err(error) => Err(format!("the kept session cannot be read: {error}")),
    })
}

/// Checks that the session is about this thread, and that what it was judged by and started from is
/// what is there now.
fn checked(
    found: &Found,
    admitted: &Admitted,
    waits: &Waits,
    journal: &str,
) -> Result<(Carried, String), String> {
    let start = Journal::start_in(journal)
        .map_err(|why| format!("the kept session cannot be read: {why}"))?;
    let carried: Carried = serde_json::from_value(start.caller.clone())
        .map_err(|error| format!("the kept session cannot go on here: {error}"))?;
    if start.id != waits.session
        || carried.order.session != waits.session
        || carried.order.base != start.base
    {
        return Err("the kept session is not the one that the run's comment names".to_owned());
    }
    let thread = found.trigger.subject.as_ref().map(|subject| subject.number);
    if carried.order.subject.thread().is_some_and(|own| Some(own) != thread) {
        return Err("the session belongs to another issue or pull request".to_owned());
    }
    if start.policy_hash != admitted.policy.hash() {
        return Err(format!(
            "the policy, or an ignore file, is another one since ({} then, {} now); ask for the \
             task again",
            locum_base::text::head(&start.policy_hash, 12),
            locum_base::text::head(admitted.policy.hash(), 12)
        ));
    }
    match &found.pull_request {
        Some(now) if now.head_sha != start.base.0 => {
            Err("the pull request has new commits since; ask for the task again".to_owned())
        }
        Some(_) | None => Ok((carried, start.policy_hash.clone())),
    }
}

/// Brings the checkout to where the session stopped.
fn bring_back(arrival: &Arrival<'_>, prepared: &Prepared, state: &State) -> Result<(), Fault> {
    let repo = &arrival.workspace.repo;
    repo.switch_to(&prepared.plan.base).map_err(Fault::machine)?;
    let Some(checkpoint) = &state.tree.checkpoint else { return Ok(()) };
    let touched = state.tree.touched.keys().cloned().collect();
    repo.take_up(prepared.plan.session.as_str(), checkpoint, &touched).map_err(Fault::machine)
}

async fn go_on(
    arrival: &Arrival<'_>,
    found: &Found,
    taken: Taken,
    cancelled: BoxFuture<'static, ()>,
    watch: &mut dyn FnMut(&JournalLine, &State),
) -> Result<ActionEnd, Fault> {
    let Taken { carried, prepared, folder, claim } = taken;
    let carried =
        Carried { thread: found.trigger.subject.as_ref().map(|subject| subject.number), ..carried };
    let course = Course {
        reaction: reaction_target(&found.trigger),
        carried,
        beginning: Beginning::Resumed,
        from: Some(claim),
    };
    carry_out(arrival, prepared, folder, course, cancelled, watch).await
}
