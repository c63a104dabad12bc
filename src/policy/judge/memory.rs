//! Rules about the memory across runs.
//!
//! In: an intent to write an entry. Out: a verdict. What rules allow is held where anyone but a
//! maintainer had a word in the run: no rule takes that back.

use crate::intent::Intent;
use crate::judge::{Evaluation, Ruling};
use crate::memory::needs_maintainer;
use crate::verdict::Decision;

impl Evaluation<'_> {
    /// Rules decide; what they allow a maintainer has to agree to, unless the run is theirs alone.
    pub(super) fn memory_write(&self, intent: &Intent) -> Ruling {
        let ruling = self.by_rules(intent);
        match needs_maintainer(self.facts).filter(|_| ruling.decision == Decision::Allow) {
            Some(why) => {
                let remark = format!(", but a maintainer has to agree: {why}");
                Ruling { decision: Decision::Hold, ..ruling.remark(&remark) }
            }
            None => ruling,
        }
    }
}
