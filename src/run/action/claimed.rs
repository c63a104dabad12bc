//! One request whose subject is claimed: prepared with what was said on its thread, then carried
//! out, kept for another job or published from one.
//!
//! In: an admitted event and its work. Out: how the run ended, or why there was none.

use crate::config::action_inputs::{BundleInput, BundleStep};
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::bundle::{self, ReceivedBundle};
use crate::run::action::carry::CarriedState;
use crate::run::action::claim::Claim;
use crate::run::action::conversation::{self, ConversationWish, ThreadRun};
use crate::run::action::declined::Declined;
use crate::run::action::earlier::{self, Beginning, EarlierWork};
use crate::run::action::places::{progress_marker, reply_to};
use crate::run::action::rebase::{self, Rebase};
use crate::run::action::session_run::{ActionStart, SessionRun, carry_out};
use crate::run::action::work_items::{self, WorkItem};
use crate::run::action::{
    ActionEnd, ActionEnv, RunControl, alerts, images, place_of, refs, repair, reviewed, setup,
};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::plan::RunSubject;
use crate::run::publish::destination::PublishDestination;
use crate::run::request::RequestedAction;
use crate::run::run_request::{RunPurpose, RunRequest};
use locum_agent::session::id::SessionId;
use locum_forge::event::EventKind;

/// Runs one request whose subject is claimed.
pub(super) async fn run(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    item: WorkItem,
    control: RunControl<'_>,
    claim: &mut Claim<'_>,
) -> Result<ActionEnd, RunError> {
    let event = &admitted.event;
    let alerts = match alerts::materials(env, &item).await {
        Ok(alerts) => alerts,
        Err(Declined::Refused(why)) => return Ok(ActionEnd::Skipped(why)),
        Err(Declined::Failed(error)) => return Err(error),
    };
    let earlier = match earlier::find(env, admitted, &item).await? {
        Beginning::Anew => None,
        Beginning::With(earlier) => Some(earlier),
        Beginning::LeftOut(why) => return Ok(ActionEnd::Skipped(why)),
    };
    let branch = earlier.as_ref().map(|earlier| &earlier.branch);
    let base = refs::start(env, event, branch).await?;
    let material = earlier.as_ref().and_then(EarlierWork::material);
    let rebase = match admitted.request.action {
        RequestedAction::Rebase => {
            match rebase::begin(env, admitted, (earlier.as_ref(), &base), claim).await? {
                Rebase::Ended(end) => return Ok(end),
                Rebase::Conflicts(conflicts) => Some(conflicts),
            }
        }
        _ => None,
    };
    let base_branch = work_items::base_branch(env, admitted);
    // What a merge queue asks about is on no branch yet.
    let is_from_base = event.trigger.kind != EventKind::MergeGroup;
    let check = item.check_name();
    let compared_with = refs::named_base(env, event, (branch, &base)).await;
    let mut request = work_items::run_request(admitted, item, base, material);
    request.review_base = compared_with;
    request.materials.extend(alerts);
    let bundle = match &env.inputs.bundle {
        Some(BundleInput { step: BundleStep::Publish, file }) => {
            Some(ReceivedBundle::read(env, file, &request).await?)
        }
        Some(_) | None => None,
    };
    if let Some(bundle) = &bundle {
        (request.session, request.purpose) = (bundle.session.clone(), RunPurpose::Publish);
    }
    let is_anew = rebase.is_some() || env.inputs.bundle.is_some();
    let wish = if is_anew { ConversationWish::StartOver } else { control.wish };
    let merges = rebase.map(|rebase| rebase.give_to(&mut request));
    // Fixed work, a check and what is only published begin without what was said here.
    let is_of_thread = request.work.is_none() && bundle.is_none() && check.is_none();
    let ThreadRun { mut run, mut extras, request, past, before, superseded } = match is_of_thread {
        true => Box::pin(conversation::prepare(env, admitted, request, wish)).await?,
        false => ThreadRun::without(admitted, request, env.workspace)?,
    };
    let shown = match is_of_thread {
        true => images::show(env, admitted, &past.written, &mut run, &mut extras).await,
        false => Vec::new(),
    };
    if !env.inputs.writes_bundle() && check.is_none() {
        setup::settle(env, &place_of(admitted), &past.own).await;
    }
    run.plan.notes.extend(claim.note.clone());
    // Which session a bundle is of, is its word: none of this machine's is touched.
    let name = if bundle.is_some() { SessionId::fresh() } else { run.plan.session.clone() };
    let folder = execute::folder_of(&run.settings.session_folder()?, &name);
    let login = &event.trigger.actor.login;
    let reviewed = request.review_base.as_ref().filter(|_| event.pull_request.is_some());
    let reviewed = reviewed.map(reviewed::remark);
    let marker = progress_marker(env, &event.trigger);
    let carried = CarriedState {
        destination: PublishDestination {
            base_branch,
            is_from_base,
            replaces: reviewed::replaced(&past.own, &marker),
            marker,
            thread: request.subject.thread().filter(|_| check.is_none()),
            reply_to: reply_to(&event.trigger),
            in_discussion: matches!(request.subject, RunSubject::Discussion { .. }),
            requested_by: Some(login.clone())
                .filter(|login| !login.is_empty() && admitted.request.is_asked()),
            remarks: admitted
                .remarks
                .iter()
                .cloned()
                .chain(reviewed)
                .chain(bundle.as_ref().map(|bundle| bundle.remark(&admitted.event.trusted)))
                .collect(),
            asked: earlier::asked(env, &event.trigger),
            continues: earlier.map(|earlier| earlier.branch),
            merges,
            check,
            repairs: repair::repaired_checks(admitted),
        },
        // The materials are in the message the session begins with.
        request: RunRequest {
            task: run.redactor.redact(&request.task),
            materials: Vec::new(),
            ..request
        },
        repository: env.job.repository.clone(),
        seen: Vec::new(),
        images: shown,
    };
    let session =
        SessionRun { run, folder, carried, before, superseded, start: ActionStart::Fresh(extras) };
    match (&env.inputs.bundle, bundle) {
        (Some(_), Some(bundle)) => {
            return Box::pin(bundle::publish(env, event, session, (control, claim), bundle)).await;
        }
        (Some(BundleInput { file, .. }), None) => {
            return Box::pin(bundle::write(env, event, session, control, file)).await;
        }
        (None, _) => {}
    }
    // The states of all that waits for this one are as large as its own: it is on the heap.
    Box::pin(carry_out(env, event, session, control, claim)).await
}
