//! `coordinate_mode`: decides in which mode a task continues that requested another one.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::flow::steering::{SteeringCall, SteeringTool};
use crate::tools::peer_words::{MODE_SLUG, PeerWords};
use crate::tools::{CallError, Control};
use locum_policy::intent::Intent;

/// The tool that answers a request for another mode.
#[derive(Clone, Debug)]
pub struct CoordinateMode;

impl SteeringTool for CoordinateMode {
    const DESCRIPTION: &'static str = "Decide on the request for another mode.";
    const REQUIRED: &'static [&'static str] = &["mode_slug", "reason"];
    const PEERS: PeerWords = PeerWords { renames: &[MODE_SLUG], ..PeerWords::NONE };

    fn properties() -> Value {
        json!({
            "mode_slug": { "type": ["string", "null"], "description": "The mode the task goes on in; null refuses the request" },
            "reason": { "type": "string", "description": "What decided it" }
        })
    }

    /// Checks the arguments. Whether the mode was one to choose is the session's to say.
    fn parse(mut arguments: CallFields) -> Result<SteeringCall, CallError> {
        let slug = arguments.optional_text("mode_slug", "the mode the task goes on in, or null")?;
        let reason = arguments.words("reason", "what decided it")?;
        arguments.finish()?;
        let slug = slug.map(|slug| slug.trim().to_owned()).filter(|slug| !slug.is_empty());
        Ok(SteeringCall {
            intent: Intent::Session,
            headline: match &slug {
                Some(slug) => format!("choose {slug} mode"),
                None => "refuse another mode".to_owned(),
            },
            said: "The request is decided.".to_owned(),
            control: Control::CoordinateMode { slug, reason },
        })
    }
}
