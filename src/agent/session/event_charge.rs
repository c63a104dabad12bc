//! What an event says that was spent.

use crate::session::event::Event;
use crate::session::outcome::ChargedUsage;
use crate::session::recorded::ReplyCharge;
use crate::tools::ModelUse;
use locum_base::id::TaskId;

impl Event {
    /// Says what another model did for a call, and what that cost.
    pub(crate) fn model_used(task: TaskId, call: String, model_use: ModelUse) -> Self {
        let ModelUse { by, what, usage } = model_use;
        let charge = ReplyCharge {
            usage: usage.usage,
            estimated: usage.is_estimate,
            cost_usd: usage.cost_usd,
        };
        Self::ModelUsed { task, call, by, what, charge }
    }

    /// Returns what it charges to its task; `None` for what no model was asked.
    pub fn charged(&self) -> Option<ChargedUsage> {
        let (turns, charge) = if let Self::Replied { reply, charge, priced, .. } = self {
            if reply.fixed {
                return None;
            }
            (1, ReplyCharge { estimated: charge.estimated || !priced, ..*charge })
        } else if let Self::Consulted { charge, .. } = self {
            (1, *charge)
        } else if let Self::ImageGenerated { generated, charge, .. } = self {
            if generated.again {
                return None;
            }
            (1, *charge)
        } else if let Self::ReplyLost { charge, .. }
        | Self::Compacted { charge, .. }
        | Self::ModelUsed { charge, .. } = self
        {
            (0, *charge)
        } else {
            return None;
        };
        let ReplyCharge { usage, estimated, cost_usd } = charge;
        Some(ChargedUsage { turns, usage, cost_usd, is_estimate: estimated })
    }
}
