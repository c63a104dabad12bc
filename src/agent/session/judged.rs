//! What is known of a call before it is performed: why it is not fit to be judged, that it is
//! permitted, or why it is not performed.

use crate::session::repetition::REPEAT_LIMIT;
use crate::session::task::TaskState;
use crate::session::task::turn::WaitingCall;
use crate::session::task::unfit::UnfitCall;
use crate::tools::Observation;
use crate::tools::dispatch::CheckedCall;
use locum_base::tool::ToolName;
use locum_modes::prompts::reminders;
use locum_policy::Permit;
use locum_policy::intent::{Act, Intent};
use locum_policy::verdict::{Cause, Decision, Refusal, RefusedBy, Verdict};

/// Answers a call that would write a secret, or what looks like one.
const WITHHELD: &str = "This call was not performed: its arguments hold a secret, or what looks \
                        exactly like one. Do it without that text.";

/// Most refusals of one call that are told one by one.
const REASONS_TOLD: usize = 10;

/// A call that was permitted and waits to be performed.
pub(crate) struct PermittedCall {
    /// The call as the model wrote it, and what is known of it.
    pub(crate) waiting: WaitingCall,
    /// Proof that the policy allowed the call.
    pub(crate) permit: Permit<CheckedCall>,
    /// What of the call as the model wrote it the policy refused: the rest is what was permitted.
    pub(crate) refused: Option<Box<Refusal>>,
}

/// What became of a call that was judged.
pub(crate) enum JudgedCall {
    /// It waits to be performed.
    Permitted(Box<PermittedCall>),
    /// It is answered with why not.
    NotPerformed(Box<WaitingCall>, Box<Observation>),
}

/// Returns true for a call that starts a sub-task.
pub(crate) fn starts_task(waiting: &WaitingCall) -> bool {
    ToolName::called(&waiting.call.name) == Some(ToolName::NewTask)
}

/// Returns why a call is not even looked at, as its answer.
pub(crate) fn unfit(task: &TaskState, waiting: &WaitingCall) -> Option<Observation> {
    let text = match task.nudges.unfit(&task.turn, waiting)? {
        UnfitCall::Cut => reminders::CALL_CUT.to_owned(),
        UnfitCall::Filtered => reminders::CALL_FILTERED.to_owned(),
        UnfitCall::Withheld => {
            let said = "the call holds a secret, or what looks exactly like one".to_owned();
            let verdicts = vec![Verdict::denied(waiting.call.name.clone(), said)];
            let (decision, by) = (Decision::Deny, RefusedBy::Secret);
            let refused = Some(Box::new(Refusal { decision, verdicts, hint: None, by }));
            return Some(Observation { refused, ..Observation::mistake(WITHHELD.to_owned()) });
        }
        UnfitCall::Repeated(cycle) => reminders::repeated(cycle, REPEAT_LIMIT),
        UnfitCall::CompletesTooEarly => reminders::COMPLETION_TOO_EARLY.to_owned(),
        UnfitCall::CompletesBesideFailure => reminders::COMPLETION_BESIDE_FAILURE.to_owned(),
        UnfitCall::CompletesWithQuestion => reminders::COMPLETION_ASKS.to_owned(),
    };
    Some(Observation::mistake(text))
}

/// Returns the script a call would run, if it would run one.
pub(crate) fn script_of(call: &CheckedCall) -> Option<String> {
    call.intents().into_iter().find_map(|intent| {
        if let Intent::Command(script) = intent { Some(script.text().to_owned()) } else { None }
    })
}

/// Returns a call without what was refused of it, where the rest makes sense alone. What waits for
/// a maintainer stays where the run can wait.
pub(crate) fn rest_of(call: &CheckedCall, refusal: &Refusal, pauses: bool) -> Option<CheckedCall> {
    let is_lost = |verdict: &&Verdict| !pauses || verdict.decision == Decision::Deny;
    call.without(&|intent| {
        let text = intent.to_string();
        let mut lost = refusal.verdicts.iter().filter(is_lost);
        let verdict = lost.find(|verdict| verdict.intent == text)?;
        Some(reminders::left_out(&reasons([verdict])))
    })
}

/// Returns what of a call was refused and is not part of its rest.
pub(crate) fn lost(refusal: &Refusal, rest: &CheckedCall) -> Option<Box<Refusal>> {
    let kept: Vec<String> = rest.intents().iter().map(Intent::to_string).collect();
    let of_lost = refusal.verdicts.iter().filter(|verdict| !kept.contains(&verdict.intent));
    let verdicts: Vec<Verdict> = of_lost.cloned().collect();
    let decision = verdicts.iter().map(|verdict| verdict.decision).max()?;
    Some(Box::new(Refusal { decision, verdicts, ..refusal.clone() }))
}

/// Returns one refusal of a whole call: of its rest, and of what was left out before.
pub(crate) fn whole(rest: Refusal, left_out: Option<Box<Refusal>>) -> Refusal {
    let Some(left_out) = left_out else { return rest };
    let decision = rest.decision.max(left_out.decision);
    let verdicts = left_out.verdicts.into_iter().chain(rest.verdicts).collect();
    Refusal { decision, verdicts, ..rest }
}

/// Returns what was refused and why, each with its rule, as part of a sentence. Of many, the first
/// are told and the others counted.
pub(crate) fn reasons<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> String {
    let reason = |verdict: &Verdict| {
        let rule = verdict
            .rule()
            .map(|rule| format!(" (rule `{}`, {})", rule.pattern, rule.place()))
            .unwrap_or_default();
        // What no rule allows, the reason names by itself.
        let what = match &verdict.cause {
            Cause::NoRule { intent } if *intent == verdict.intent => String::new(),
            _ => format!("`{}`: ", verdict.intent),
        };
        format!("{what}{}{rule}", verdict.reason())
    };
    let mut verdicts = verdicts.into_iter();
    let told: Vec<String> = verdicts.by_ref().take(REASONS_TOLD).map(reason).collect();
    match verdicts.count() {
        0 => told.join("; "),
        others => format!("{}; and {others} more", told.join("; ")),
    }
}
