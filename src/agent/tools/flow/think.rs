//! `think`: a thought that the model writes down. Nothing is read, decided or done; the journal
//! keeps the thought with the call, and transcripts show how it begins.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Longest thought, in bytes.
const THOUGHT_LIMIT_BYTES: usize = 32 * 1024;

/// A thought about to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Think;

impl Tool for Think {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Write a thought down before a step that is hard to undo or \
        to get right. It reads and changes nothing.";
    const REQUIRED: &'static [&'static str] = &["thought"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[("thoughts", "thought"), ("thinking", "thought")]],
        ..PeerWords::NONE
    };

    fn properties() -> Value {
        json!({ "thought": { "type": "string", "description": "What you weigh and conclude" } })
    }

    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let thought = arguments.words("thought", "what you weigh and conclude")?;
        arguments.finish()?;
        if thought.len() > THOUGHT_LIMIT_BYTES {
            return Err(CallError(format!(
                "`thought` of `think` has more than {THOUGHT_LIMIT_BYTES} bytes. Write the \
                 conclusion alone."
            )));
        }
        Ok(Self)
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Session]
    }

    fn headline(&self) -> String {
        "think".to_owned()
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        Ok(Observation::said("Noted."))
    }

    fn only_reads(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::THOUGHT_LIMIT_BYTES;
    use crate::tools::fixture::ToolFixture;
    use locum_base::tool::ToolName;
    use locum_policy::intent::{Act, Intent};
    use serde_json::json;

    #[test]
    fn a_thought_is_noted_and_asks_for_nothing() {
        let fixture = ToolFixture::new(&[]);
        for (name, arguments) in [
            ("think", json!({ "thought": "The test is wrong." })),
            ("Think", json!({ "thought": "x".repeat(THOUGHT_LIMIT_BYTES) })),
            ("think", json!({ "thoughts": "a", "nextThoughtNeeded": true })),
        ] {
            let call = fixture.parse(name, &arguments.to_string(), ToolName::ALL).unwrap();
            assert_eq!((call.intents(), call.headline()), (vec![Intent::Session], "think".into()));
            assert!(call.only_reads());
            let seen = fixture.call(name, &arguments.to_string());
            assert_eq!((seen.text.as_str(), seen.is_error), ("Noted.", false));
        }
    }

    #[test]
    fn a_thought_has_words_and_an_end() {
        let fixture = ToolFixture::new(&[]);
        for (thought, message) in [
            (json!(null), "`think` needs `thought`"),
            (json!(" \n"), "`thought` of `think` is empty"),
            (json!(["a"]), "`thought` of `think` must be a text"),
            (json!("x".repeat(THOUGHT_LIMIT_BYTES + 1)), "has more than 32768 bytes"),
        ] {
            let seen = fixture.call("think", &json!({ "thought": thought }).to_string());
            assert!(seen.is_error && seen.text.contains(message), "{message}: {}", seen.text);
        }
    }

    #[test]
    fn a_thought_is_understood_where_it_is_not_offered_unless_the_mode_denies_it() {
        let mut fixture = ToolFixture::new(&[]);
        let thought = json!({ "thought": "a" }).to_string();
        assert!(fixture.parse("think", &thought, &[]).is_ok());
        fixture.mode.tool_limits.never = vec![ToolName::Think];
        let refused = fixture.parse("think", &thought, &[]).unwrap_err().0;
        assert_eq!(refused, "Tool \"think\" is not allowed in code mode.");
    }
}
