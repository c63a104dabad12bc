//! `request_mode_switch`: asks the coordinator for another mode.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::peer_words::{MODE_SLUG, PeerWords};
use crate::tools::{CallError, Control};
use locum_policy::intent::Intent;

/// The tool that asks for another mode.
#[derive(Clone, Debug)]
pub struct RequestModeSwitch;

impl SteeringTool for RequestModeSwitch {
    const DESCRIPTION: &'static str = "Ask to go on in another mode, when the task needs what this \
        mode cannot do. The conversation is kept.";
    const REQUIRED: &'static [&'static str] = &["reason"];
    const PEERS: PeerWords = PeerWords { renames: &[MODE_SLUG], ..PeerWords::NONE };

    fn properties() -> Value {
        json!({
            "reason": { "type": "string", "description": "What has to be done there" },
            "mode_slug": { "type": ["string", "null"], "description": "The mode, e.g. `code`; chosen for you when absent" }
        })
    }

    /// Checks the arguments. Which modes there are is the session's to say.
    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let reason = arguments.words("reason", "what has to be done in the other mode")?;
        let slug = arguments.optional_text("mode_slug", "the mode to go on in")?;
        arguments.finish()?;
        let slug = slug.map(|slug| slug.trim().to_owned()).filter(|slug| !slug.is_empty());
        Ok(SteeringCall {
            intent: Intent::Session,
            headline: format!("ask for {} mode", slug.as_deref().unwrap_or("another")),
            said: "The request is made.".to_owned(),
            control: Control::RequestSwitch { slug, reason },
        })
    }
}
