//! What a private repository adds to the risks of a policy.
//!
//! In: the event and the policy. Out: nothing, or the refusal.

use crate::run::request::{RefusalNotice, RequestRefusal};
use locum_forge::event::Trigger;
use locum_policy::Policy;
use locum_policy::lint::risks::exposed_where_private;

/// Source that only members see is worth taking, whether or not the policy says so: the rule of two
/// counts it.
///
/// # Errors
/// The first risk that the policy does not accept.
pub(crate) fn check_private(trigger: &Trigger, policy: &Policy) -> Result<(), RequestRefusal> {
    let exposed = if trigger.is_private { exposed_where_private(policy) } else { Vec::new() };
    let Some(exposure) = exposed.first() else { return Ok(()) };
    let modes = exposure.modes.join("`, `");
    let why = format!(
        "the repository is private, so in mode `{modes}`, {}; say `source: private` in the policy \
         and accept the risk there, or `source: public`",
        exposure.what
    );
    Err(RequestRefusal { why, rule: "source", notice: RefusalNotice::Posted })
}
