//! `switch_mode`: continues in another mode.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::peer_words::{MODE_SLUG, PeerWords};
use crate::tools::{CallError, Control};
use locum_policy::intent::Intent;

/// The tool that changes the mode.
#[derive(Clone, Debug)]
pub struct SwitchMode;

impl SteeringTool for SwitchMode {
    const DESCRIPTION: &'static str =
        "Continue this task in another mode, with that mode's tools. The conversation is kept.";
    const REQUIRED: &'static [&'static str] = &["mode_slug", "reason"];
    const PEERS: PeerWords = PeerWords { renames: &[MODE_SLUG], ..PeerWords::NONE };

    fn properties() -> Value {
        json!({
            "mode_slug": { "type": "string", "description": "The mode, e.g. `code`" },
            "reason": { "type": "string", "description": "Why that mode is needed" }
        })
    }

    /// Checks the arguments. Whether the mode exists is the session's to say.
    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let slug = arguments.words("mode_slug", "the mode to go on in")?.trim().to_owned();
        let reason =
            arguments.optional_text("reason", "why that mode is needed")?.unwrap_or_default();
        arguments.finish()?;
        Ok(SteeringCall {
            intent: Intent::Mode(slug.clone()),
            headline: format!("switch to {slug} mode"),
            said: format!("From now on in {slug} mode."),
            control: Control::SwitchMode { slug, reason },
        })
    }
}
