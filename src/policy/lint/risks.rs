//! Risks by the rule of two that a policy takes or would take: what `exposure` finds, for the
//! maintainers who answer for it.

use crate::Policy;
use crate::exposure::{Exposure, accepted, exposures, with_text};
use crate::intent::TriggerKind;
use crate::schema::{PolicySpec, SourceVisibility};

/// A risk that the policy takes, in its maintainer's words.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AcceptedRisk {
    /// The modes it is about.
    pub modes: Vec<String>,
    /// The three properties that come together, as text.
    pub what: String,
    /// Why that is fine.
    pub reason: String,
}

impl std::fmt::Display for AcceptedRisk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { modes, what, reason } = self;
        write!(formatter, "accepted risk: in mode {}, {what}: {reason}", modes.join(", "))
    }
}

/// Returns the risks that `modes.accept_risk` accepts.
pub fn accepted_risks(policy: &Policy) -> Vec<AcceptedRisk> {
    let spec = policy.settings();
    let mut found: Vec<AcceptedRisk> = Vec::new();
    for Exposure { modes, what, .. } in exposures(spec, policy.judge.rules()) {
        for mode in modes {
            let Some(reason) = accepted(spec, &mode) else { continue };
            match found.iter_mut().find(|one| one.what == what && one.reason == reason) {
                Some(one) => one.modes.push(mode),
                None => found.push(AcceptedRisk {
                    modes: vec![mode],
                    what: what.clone(),
                    reason: reason.to_owned(),
                }),
            }
        }
    }
    found
}

/// Returns what comes together, in modes whose risk is not accepted, when the forge says that only
/// members see the source and the policy does not say who does.
pub fn exposed_where_private(policy: &Policy) -> Vec<Exposure> {
    let spec = policy.settings();
    if spec.source.is_some() {
        return Vec::new();
    }
    let private = PolicySpec { source: Some(SourceVisibility::Private), ..spec.clone() };
    let unaccepted =
        |exposure: &Exposure| exposure.modes.iter().any(|mode| accepted(spec, mode).is_none());
    exposures(&private, policy.judge.rules()).into_iter().filter(unaccepted).collect()
}

/// Returns why a run with this trigger, which brings no strangers' text, may not be shown any.
pub fn refuses_text(policy: &Policy, trigger: TriggerKind) -> Option<String> {
    with_text(policy.settings(), policy.judge.rules(), trigger)
}
