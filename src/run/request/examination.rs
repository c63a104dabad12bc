//! `TriggerExamination`: every check of a trigger, in order, and what came of them.

use crate::run::request::{RefusalNotice, Request, RequestRefusal, silent};

/// What was found out about a trigger.
#[derive(Clone, Debug)]
pub struct TriggerExamination {
    /// Every check that could be made, in order.
    pub checks: Vec<RequestCheck>,
    /// The request, or the first refusal.
    pub request: Result<Request, RequestRefusal>,
}

/// One check of a trigger, passed or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestCheck {
    /// What has to be so.
    pub claim: &'static str,
    /// Who says whether it is.
    pub authority: CheckAuthority,
    /// Why it is not.
    pub refused: Option<RequestRefusal>,
}

/// Who says whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckAuthority {
    /// The event's payload says so.
    Event,
    /// The policy says so.
    Policy,
    /// The forge, when it is asked.
    Forge,
}

impl TriggerExamination {
    /// Adds a check that is made last, where a request came of the others.
    #[must_use]
    pub fn then(
        mut self,
        claim: &'static str,
        authority: CheckAuthority,
        check: impl FnOnce(&Request) -> Result<(), RequestRefusal>,
    ) -> Self {
        let Ok(request) = &self.request else { return self };
        let refused = check(request).err();
        self.checks.push(RequestCheck { claim, authority, refused: refused.clone() });
        Self { request: refused.map_or(self.request, Err), checks: self.checks }
    }
}

/// The checks of a trigger as they are made.
#[derive(Default)]
pub(super) struct RequestChecks(Vec<RequestCheck>);

impl RequestChecks {
    pub(super) fn take<T>(
        &mut self,
        claim: &'static str,
        authority: CheckAuthority,
        result: Result<T, RequestRefusal>,
    ) -> Option<T> {
        let (value, refused) = match result {
            Ok(value) => (Some(value), None),
            Err(refused) => (None, Some(refused)),
        };
        self.0.push(RequestCheck { claim, authority, refused });
        value
    }

    /// Makes every refusal one that only the log shows: nobody asked.
    pub(super) fn keep_silent(&mut self) {
        for refused in self.0.iter_mut().filter_map(|check| check.refused.as_mut()) {
            refused.notice = RefusalNotice::Silent;
        }
    }

    pub(super) fn first(&self) -> Option<&RequestRefusal> {
        self.0.iter().find_map(|check| check.refused.as_ref())
    }

    pub(super) fn passed(self, request: Request) -> TriggerExamination {
        TriggerExamination { checks: self.0, request: Ok(request) }
    }

    pub(super) fn refused(self) -> TriggerExamination {
        let first = self.first().cloned().unwrap_or_else(|| silent("policy", "nothing allows it"));
        TriggerExamination { checks: self.0, request: Err(first) }
    }
}
