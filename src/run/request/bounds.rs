//! A trigger about a pull request of another base than the default branch: whoever opens one
//! chooses its base, and with it the policy, so the default branch's has to let it start as well.
//!
//! In: the trigger, both policies' settings and what is known. Out: the request, with no more than
//! either of both gives, or the refusal.

use crate::run::request::{self, RefusalNotice, Request, RequestFacts, RequestRefusal};
use locum_forge::event::Trigger;
use locum_policy::schema::Triggers;

/// What the policy of the default branch says of who may start what.
#[derive(Clone, Copy, Debug)]
pub struct TriggerBounds<'a> {
    /// Its triggers.
    pub triggers: &'a Triggers,
    /// Modes there are on the default branch.
    pub modes: &'a [String],
}

/// Decides whether a trigger may run, as [`request::decide`] does; where there are bounds, within
/// them.
///
/// # Errors
/// The first rule that refuses it.
pub fn decide(
    trigger: &Trigger,
    (triggers, bounds): (&Triggers, Option<TriggerBounds<'_>>),
    known: &RequestFacts<'_>,
) -> Result<Request, RequestRefusal> {
    let own = request::decide(trigger, Some(triggers), known);
    let Some(bounds) = bounds else { return own };
    // A mode of either branch is a mode: which of them may run is for the base to say.
    let modes = [known.modes, bounds.modes].concat();
    let known = RequestFacts { modes: &modes, ..known.clone() };
    let bounding = request::decide(trigger, Some(bounds.triggers), &known);
    match (own, bounding) {
        (Ok(own), Ok(bounding)) => Ok(narrowed(own, &bounding)),
        (Ok(_), Err(refused)) => {
            let why = format!("{}, by the policy of the default branch", refused.why);
            Err(RequestRefusal { why, ..refused })
        }
        // Whom the default branch does not let ask gets no answer, whatever the base says.
        (Err(_), Err(refused)) if refused.notice == RefusalNotice::Silent => Err(refused),
        (Err(refused), _) => Err(refused),
    }
}

/// Returns a request that may do only what both may.
fn narrowed(own: Request, bounding: &Request) -> Request {
    let may_run = |request: &Request| !request.read_only || request.contained;
    let read_only = own.read_only || bounding.read_only;
    let contained = read_only && may_run(&own) && may_run(bounding);
    Request { read_only, contained, ..own }
}
