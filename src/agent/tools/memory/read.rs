//! `read_memory`: shows a note that earlier runs kept, or which notes there are.
//!
//! What a task may not read is not named to it either. A note is material: it comes in a fence,
//! with the session it is from and the tier of who started that.

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, known};
use crate::tools::dispatch::CheckedCall;
use crate::tools::memory::entry::{Memory, MemoryEntry};
use crate::tools::peer_words::{NOTE_NAME, PeerWords};
use crate::tools::shown_text::shown_name;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_modes::prompts::memory;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_policy::kind::RuleKind;
use locum_policy::verdict::Decision;

/// Notes about to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadMemory {
    /// The entry; `None` for the list of all.
    name: Option<String>,
    /// What is shown, by name.
    shown: Vec<(String, MemoryEntry)>,
}

impl Tool for ReadMemory {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Read a note that earlier runs in this repository kept for \
        later ones. Without a name, list the notes there are. A note may be wrong or out of date.";
    const REQUIRED: &'static [&'static str] = &[];
    const PEERS: PeerWords = PeerWords { renames: &[NOTE_NAME], ..PeerWords::NONE };
    const RULE: Option<RuleKind> = Some(RuleKind::MemoryRead);

    fn properties() -> Value {
        json!({
            "name": { "type": ["string", "null"], "description": "The note; null lists all" }
        })
    }

    /// Checks the arguments and finds the entries that the policy lets be read.
    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let name = arguments.optional_text("name", "the note to read")?;
        arguments.finish()?;
        let none = Memory::default();
        let entries = context.given.memory.unwrap_or(&none);
        let all = || entries.iter().map(|(name, entry)| (name.to_owned(), entry.clone()));
        let may_read = |name: &str| {
            let intent = Intent::MemoryRead(name.to_owned());
            let verdict = context.run.policy.decide(&intent, context.facts);
            verdict.decision == Decision::Allow
        };
        let Some(name) = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
        else {
            let shown = all().filter(|(name, _)| may_read(name)).collect();
            return Ok(Self { name: None, shown });
        };
        let shown: Vec<_> = all().filter(|(other, _)| *other == name).collect();
        if shown.is_empty() {
            let names: Vec<&str> =
                entries.iter().map(|(name, _)| name).filter(|name| may_read(name)).collect();
            let known = known(&name, &names, " in the memory");
            let name = shown_name(&name);
            return Err(CallError(format!("There is no note `{name}`. {known}")));
        }
        Ok(Self { name: Some(name), shown })
    }

    fn intents(&self) -> Vec<Intent> {
        if self.shown.is_empty() {
            return vec![Intent::Session];
        }
        self.shown.iter().map(|(name, _)| Intent::MemoryRead(name.clone())).collect()
    }

    fn headline(&self) -> String {
        match &self.name {
            Some(name) => format!("read the note {name}"),
            None => "list the notes of earlier runs".to_owned(),
        }
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let text = match (&self.name, self.shown.as_slice()) {
            (Some(name), [(_, entry)]) => {
                let origin = format!("written {} by {}", entry.at, entry.source);
                memory::note(name, &origin, &entry.text)
            }
            (_, shown) => memory::list(shown.iter().map(|(name, entry)| {
                let first = entry.text.trim().lines().next().unwrap_or_default();
                (name.as_str(), entry.source.to_string(), first)
            })),
        };
        Ok(Observation::said(text))
    }

    fn only_reads(&self) -> bool {
        true
    }
}
