//! A comment that decides on what a run stopped for: the session is fetched, checked, claimed, and
//! resumes at exactly that call.
//!
//! In: an admitted event whose comment approves, denies or answers. Out: the run that resumed; or a
//! refusal, posted on the thread, with the reason: nothing of that name, another policy, new
//! commits, decided already, too late.

use jiff::Timestamp;

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::carry::{self, CARRIED_LIMIT_BYTES, CarriedState, TakenBy, WaitingSession};
use crate::run::action::claim::{Claim, ClaimAnswer, ClaimRequest};
use crate::run::action::declined::Declined;
use crate::run::action::places::comment_target;
use crate::run::action::{
    ActionEnd, ActionEnv, ActionStart, RunControl, SessionRun, answer, carry_out, claim, images,
    outdated,
};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::prepare::{self, PreparedRun};
use crate::run::proposed_rule::ProposedRule;
use crate::run::publish::destination::PublishDestination;
use crate::run::request::{DecisionRequest, DecisionTarget, RefusalNotice, RequestRefusal};
use crate::run::source::FileSource;
use crate::run::trusted::{ConfigOrigin, TrustedConfig};
use crate::run::user::UserFolder;
use locum_agent::report::waiting::WAITING_LIMIT;
use locum_agent::session::event::SessionStart;
use locum_agent::session::hold;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::{HeldCall, PendingDecision};
use locum_agent::session::recorded::{PersonDecision, RecordedDecision};
use locum_agent::session::state::SessionState;
use locum_agent::session::word::OutcomeReaction;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_policy::actors::Tier;

/// Resumes the session that a comment decides on.
///
/// # Errors
/// When the set-up is wrong or the machine fails.
pub(super) async fn decide(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    decision: &DecisionRequest,
    control: RunControl<'_>,
) -> Result<ActionEnd, RunError> {
    match take(env, admitted, decision).await {
        Ok((session, mut claim, proposed)) => {
            if let Some(rule) = proposed {
                let (policy, facts) = (&admitted.config.policy, &admitted.request.facts);
                answer::post(env, &admitted.event, policy, facts, &rule.comment()).await;
            }
            let ended = carry_out(env, &admitted.event, session, control, &mut claim);
            let ended = Box::pin(ended).await;
            claim.release().await;
            ended
        }
        Err(Declined::Failed(error)) => Err(error),
        Err(Declined::Refused(why)) => {
            let refused = RequestRefusal { why, rule: "decide", notice: RefusalNotice::Posted };
            Ok(answer::refusal(env, &admitted.event, &admitted.config.policy, &refused).await)
        }
    }
}

/// Finds, checks, decides and claims, in this order; the checkout is touched last.
async fn take<'a>(
    env: &ActionEnv<'a>,
    admitted: &AdmittedEvent<'_>,
    decision: &DecisionRequest,
) -> Result<(SessionRun, Claim<'a>, Option<ProposedRule>), Declined> {
    let event = &admitted.event;
    let waiting = carry::waiting(env, event, decision.target.first()).await?;
    let own = TakenBy::of(env, event);
    let waits = one_of(waiting, decision).map_err(Declined::Refused)?;
    let fetched = carry::fetch(env, (&waits.session, &waits.commit)).await?;
    let before = fetched.1.as_ref().filter(|taken| **taken != own);
    let thread = event.trigger.subject.as_ref().map(|subject| subject.number);
    let (words, _) = env.workspace.repo.message_of(&waits.commit).map_err(RunError::internal)?;
    if words != carry::waits_words(&waits.ids, thread.unwrap_or_default()) {
        let why = "the session waits on another issue or pull request";
        return Err(Declined::refused(why));
    }
    let journal = journal_of(env, &waits)?;
    let (start, carried) = checked(admitted, &waits, &journal).map_err(Declined::Refused)?;
    if let Some(why) = outdated::why(admitted, &start) {
        // What a run shows that went on by a decision stays.
        if fetched.1.is_none() {
            outdated::close(env, admitted, &waits, &why).await;
        }
        return Err(Declined::Refused(why));
    }
    let mut run = prepare(env, admitted, &carried)?;
    if run.plan.policy.hash != admitted.config.policy.hash() {
        return Err(Declined::refused("the session was judged by another policy"));
    }
    let sessions = run.settings.session_folder().map_err(RunError::from)?;
    let folder = execute::folder_of(&sessions, &run.plan.session);
    Journal::put(&folder, journal.as_bytes()).map_err(RunError::internal)?;
    let state = SessionState::of(&Journal::read(&folder).map_err(RunError::internal)?);
    if let Some(start) = &state.start {
        images::bring_back(env, &folder, &start.images, &carried.images).await;
    }
    let ids = named(decision, &state, event.trigger.happened_at).map_err(Declined::Refused)?;
    check_may_approve(decision, &state, &ids, admitted.request.facts.tier)
        .map_err(Declined::Refused)?;
    let proposed = if decision.always { proposed(env, admitted, &state, &ids)? } else { None };
    for (place, id) in ids.into_iter().enumerate() {
        let decided = RecordedDecision {
            id,
            by: event.trigger.actor.login.clone(),
            word: decision.word.clone(),
            note: if place == 0 { decision.note.clone() } else { String::new() },
        };
        hold::decide(&folder, decided, env.clock.now())
            .map_err(|why| Declined::Refused(why.to_string()))?;
    }
    let claim = claim_subject(env, admitted, &run, &carried).await;
    let claim = claim.map_err(|error| match (error, before) {
        (Declined::Refused(why), Some(taken)) => {
            Declined::Refused(format!("{}; {why}", taken.sentence()))
        }
        (error, _) => error,
    })?;
    run.plan.notes.extend(claim.note.clone());
    let moved = match before {
        Some(taken) => check_over(env, admitted, (&waits, taken), &claim).await,
        None => Ok(()),
    };
    let moved = match moved {
        Ok(()) => {
            let moved = carry::claim(env, &run, &waits, &fetched, &own).await;
            moved.map_err(Declined::Refused)
        }
        Err(error) => Err(error),
    };
    let moved = moved.and_then(|tip| Ok(bring_back(env, &run, &state).map(|()| tip)?));
    let tip = match moved {
        Ok(tip) => tip,
        Err(error) => {
            claim.release().await;
            return Err(error);
        }
    };
    if let Some(taken) = before {
        let poster = env.poster(&run.policy, &run.plan.facts);
        if let Some(target) = comment_target(&event.trigger, taken.comment) {
            poster.show(target, OutcomeReaction::Confused.as_str()).await;
        }
    }
    let destination = PublishDestination { thread, ..carried.destination };
    let carried = CarriedState { destination, ..carried };
    let earlier = state.start.and_then(|start| start.earlier);
    let (waited, by) = (waits.line(), own.line());
    let start = ActionStart::Resumed { claim: tip, waited, by, earlier };
    let (before, superseded) = (None, Vec::new());
    Ok((SessionRun { run, folder, carried, before, superseded, start }, claim, proposed))
}

/// Returns why somebody may not approve of a note for later runs: that takes a maintainer, whoever
/// may approve of other calls.
fn check_may_approve(
    decision: &DecisionRequest,
    state: &SessionState,
    ids: &[String],
    tier: Tier,
) -> Result<(), String> {
    let held = state.pending.iter().filter_map(PendingDecision::hold);
    let mut notes = held.filter(|hold| ids.contains(&hold.id) && hold.note.is_some());
    match notes.next() {
        Some(note) if decision.word == PersonDecision::Approve && tier != Tier::Maintainer => {
            Err(format!(
                "`{}` is a note for later runs, which a maintainer has to approve; you have tier \
                 `{}`",
                note.id,
                tier.as_str()
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the change of the policy by which nobody is asked again about what is approved.
fn proposed(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    state: &SessionState,
    ids: &[String],
) -> Result<Option<ProposedRule>, RunError> {
    let (config, Some(start)) = (&admitted.config, &state.start) else { return Ok(None) };
    let held = state.pending.iter().filter_map(PendingDecision::hold);
    let held: Vec<&HeldCall> = held.filter(|hold| ids.contains(&hold.id)).collect();
    let file = config.policy_file()?;
    let redactor = Redactor::new(env.environment.secrets());
    Ok(Some(ProposedRule::of(&held, start, (&config.policy, file.as_ref()), &redactor)))
}

/// Makes sure that the run is over by which a session went on before. Whoever has the claim on the
/// subject knows that no other run works there; the comment says whether that one ended by itself.
async fn check_over(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    (waits, taken): (&WaitingSession, &TakenBy),
    claim: &Claim<'_>,
) -> Result<(), Declined> {
    let waiting = carry::waiting(env, &admitted.event, None).await?;
    let is_there = waiting.iter().any(|one| one.commit == waits.commit);
    if claim.is_held() && is_there {
        return Ok(());
    }
    Err(Declined::Refused(taken.sentence()))
}

/// Claims what the session is about: another run may be at work there by now.
async fn claim_subject<'a>(
    env: &ActionEnv<'a>,
    admitted: &AdmittedEvent<'_>,
    run: &PreparedRun,
    carried: &CarriedState,
) -> Result<Claim<'a>, Declined> {
    let has_thread = run.plan.subject.thread().is_some();
    let words = run.plan.subject.claim_words(None);
    let request = ClaimRequest {
        subject: &words,
        by: &admitted.event.trigger.actor.login,
        comment: if has_thread { &carried.destination.marker } else { "" },
        policy: &run.policy,
        facts: &run.plan.facts,
    };
    match claim::take(env, &request).await? {
        ClaimAnswer::Granted(claim) => Ok(*claim),
        ClaimAnswer::Busy(why) => Err(Declined::Refused(why)),
    }
}

/// Prepares the run again, from the commit that was trusted when it began.
fn prepare(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    carried: &CarriedState,
) -> Result<PreparedRun, RunError> {
    let request = carried.request.clone();
    if request.trusted == admitted.event.trusted {
        return prepare::prepare(request, &admitted.config, env.workspace);
    }
    let origin = ConfigOrigin {
        source: FileSource::Commit(&env.workspace.repo, request.trusted.clone()),
        user: UserFolder::default(),
        environment: env.environment,
    };
    let config = TrustedConfig::load(origin, &[], None)?.tightened_by(env.inputs);
    let config = config.within(admitted.bounds.as_deref());
    prepare::prepare(request, &config, env.workspace)
}

/// Returns the one session that is meant; without a name, one that a run works on is meant only
/// where there is no other.
fn one_of(
    mut waiting: Vec<WaitingSession>,
    decision: &DecisionRequest,
) -> Result<WaitingSession, String> {
    if waiting.iter().any(|one| !one.is_at_work) {
        waiting.retain(|one| !one.is_at_work);
    }
    match (waiting.len(), decision.target.first()) {
        (1, _) => Ok(waiting.remove(0)),
        (0, Some(id)) => Err(format!("nothing waits here under the name `{id}`")),
        (0, None) => Err("nothing waits here".to_owned()),
        (count, _) => {
            Err(format!("{count} runs wait here; say which, by the name in the run's comment"))
        }
    }
}

/// Returns the names of what is decided on: as given, or all calls, or the only question that
/// waits. A yes to all is one to what its author has seen.
fn named(
    decision: &DecisionRequest,
    state: &SessionState,
    written_at: Option<Timestamp>,
) -> Result<Vec<String>, String> {
    match &decision.target {
        DecisionTarget::Named(ids) => return Ok(ids.clone()),
        DecisionTarget::AllHolds => {
            let holds = state.pending.iter().filter_map(PendingDecision::hold);
            let ids: Vec<String> = holds.map(|hold| hold.id.clone()).collect();
            if ids.is_empty() {
                return Err("no call waits here".to_owned());
            }
            if decision.word == PersonDecision::Approve {
                check_seen(ids.len(), state.last_at(), written_at)?;
            }
            return Ok(ids);
        }
        DecisionTarget::OnlyQuestion => {}
    }
    let questions: Vec<&str> =
        state.pending.iter().filter_map(|pending| Some(pending.question()?.id.as_str())).collect();
    match (questions.as_slice(), state.pending.as_slice()) {
        ([only], _) => Ok(vec![(*only).to_owned()]),
        ([], [only]) => Ok(vec![only.id().to_owned()]),
        ([], _) => Err("no question waits here".to_owned()),
        (several, _) => Err(format!(
            "{} questions wait here; say which, by the name in the run's comment",
            several.len()
        )),
    }
}

/// Returns why a yes to all calls is not one to these: the run's comment shows only the first of
/// them, or it stopped for them after the yes was written.
fn check_seen(
    holds: usize,
    stopped_at: Option<Timestamp>,
    written_at: Option<Timestamp>,
) -> Result<(), String> {
    if holds > WAITING_LIMIT {
        return Err(format!(
            "{holds} calls wait and the run's comment shows {WAITING_LIMIT} of them; approve calls \
             by their names"
        ));
    }
    match (stopped_at, written_at) {
        (Some(stopped), Some(written)) if stopped <= written => Ok(()),
        _ => Err("the run stopped for these calls after `approve all` was written; approve them \
                  by their names, or write it again"
            .to_owned()),
    }
}

fn journal_of(env: &ActionEnv<'_>, waits: &WaitingSession) -> Result<String, Declined> {
    let path = RepoPath::parse(JOURNAL_FILE).map_err(RunError::internal)?;
    match env.workspace.repo.file_at(&waits.commit, &path, CARRIED_LIMIT_BYTES) {
        Ok(Some(file)) => Ok(file.text),
        Ok(None) => Err(Declined::refused("the kept session has no journal")),
        Err(error) => Err(Declined::Refused(format!("the kept session cannot be read: {error}"))),
    }
}

/// Checks that the session is the one that the comment names, and about this thread.
fn checked(
    admitted: &AdmittedEvent<'_>,
    waits: &WaitingSession,
    journal: &str,
) -> Result<(Box<SessionStart>, CarriedState), String> {
    let event = &admitted.event;
    let start = Journal::start_in(journal)
        .map_err(|why| format!("the kept session cannot be read: {why}"))?;
    let carried: CarriedState = serde_json::from_value(start.caller.clone())
        .map_err(|error| format!("the kept session cannot go on here: {error}"))?;
    let request = &carried.request;
    if start.id != waits.session || request.session != waits.session || request.base != start.base {
        return Err("the kept session is not the one that the run's comment names".to_owned());
    }
    let thread = event.trigger.subject.as_ref().map(|subject| subject.number);
    if request.subject.thread().is_some_and(|own| Some(own) != thread) {
        return Err("the session belongs to another issue or pull request".to_owned());
    }
    Ok((start, carried))
}

/// Brings the checkout to where the session stopped.
fn bring_back(
    env: &ActionEnv<'_>,
    run: &PreparedRun,
    state: &SessionState,
) -> Result<(), RunError> {
    let repo = &env.workspace.repo;
    repo.switch_to(&run.plan.base).map_err(RunError::internal)?;
    let Some(checkpoint) = &state.tree.checkpoint else { return Ok(()) };
    let touched = state.tree.touched.keys().cloned().collect();
    repo.take_up(run.plan.session.as_str(), checkpoint, &touched).map_err(RunError::internal)
}

#[cfg(test)]
mod tests {
    use super::check_seen;
    use jiff::Timestamp;

    #[test]
    fn a_yes_to_all_covers_what_its_author_has_seen_and_nothing_else() {
        let at = |second| Some(Timestamp::from_second(second).unwrap());
        assert_eq!(check_seen(3, at(10), at(11)), Ok(()));
        for (holds, stopped, written) in
            [(4, at(10), at(11)), (1, at(11), at(10)), (1, None, at(10)), (1, at(10), None)]
        {
            assert!(check_seen(holds, stopped, written).is_err(), "{holds} {stopped:?}");
        }
    }
}
