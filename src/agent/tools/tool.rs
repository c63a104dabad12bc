//! `Tool`: what every tool has to say and do. Each type named in the table of tools implements it;
//! a tool that lacks a part does not build.

use std::fmt::Debug;

use serde_json::Value;

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::{CallError, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_policy::kind::RuleKind;

/// What calls of a tool act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// Nothing: they look at the checkout.
    Reads,
    /// The files their arguments name.
    Edits,
    /// More than files: they run a command, or ask a host or a server.
    Runs,
    /// The session: what it does next.
    Steers,
}

/// What is particular to the answers of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerTraits {
    /// Whether a long one is shortened, and kept whole beside the journal: nothing else shows it in
    /// parts.
    pub(crate) shortened: bool,
    /// Whether it may be anyone's text: a page, an answer of a server.
    pub(crate) from_outside: bool,
    /// Whether another number makes it another answer, as the part of a page that a window shows.
    /// Other answers count what goes by anyway: times, identifiers.
    pub(crate) numbers_count: bool,
}

impl AnswerTraits {
    /// Shown whole, the repository's own, and the same with other numbers.
    pub(crate) const PLAIN: Self =
        Self { shortened: false, from_outside: false, numbers_count: false };
}

/// What has to be there for a tool that is shown to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolNeed {
    /// A skill of the mode.
    Skills,
    /// A slash command that models may call.
    Commands,
    /// A model that may be asked.
    Experts,
    /// An image model that may be used.
    ImageModel,
    /// A search engine.
    SearchEngine,
    /// A browser.
    Browser,
    /// An MCP server whose tools have no names of their own.
    Servers,
    /// A resource of an MCP server.
    Resources,
    /// A prompt of an MCP server.
    Prompts,
    /// A command in the background, now or before.
    BackgroundCommand,
}

/// A part of a call that is not done, and about which no policy is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// What it would be, as an intent is written: `read(../x)`.
    pub intent: String,
    /// Why it is not done: a sentence.
    pub why: String,
}

/// A checked call of one tool.
pub(crate) trait Tool: Clone + Debug + Sized {
    /// What its calls act on.
    const EFFECT: ToolEffect;

    /// Description that models read.
    const DESCRIPTION: &'static str;

    /// The parameters that have to be given.
    const REQUIRED: &'static [&'static str];

    /// What other agents call its parameters.
    const PEERS: PeerWords = PeerWords::NONE;

    /// What is particular to its answers.
    const ANSWERS: AnswerTraits = AnswerTraits::PLAIN;

    /// The kind of rule it needs; that of its group where it says none.
    const RULE: Option<RuleKind> = None;

    /// What has to be there for it; without, no model is shown it.
    const NEEDS: Option<ToolNeed> = None;

    /// Returns a JSON Schema for each parameter, by name.
    fn properties() -> Value;

    /// Checks the arguments; changes nothing.
    ///
    /// # Errors
    /// A sentence for the model.
    fn parse(arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError>;

    /// Returns everything it would do, which the policy decides on.
    fn intents(&self) -> Vec<Intent>;

    /// Returns what it does, for readers: `edit src/lib.rs`. Only a first line is shown.
    fn headline(&self) -> String;

    /// Does it.
    ///
    /// # Errors
    /// What the model is told of a call that failed.
    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError>;

    /// Returns the same call without what is refused, where the rest makes sense alone; `refused`
    /// says why an intent is. What is left out is named in its answer.
    fn without(&self, _refused: &dyn Fn(&Intent) -> Option<String>) -> Option<Self> {
        None
    }

    /// Returns what it names and does not do, each with why not: that is no intent, and the rest is
    /// done without it.
    fn left_out(&self) -> Vec<LeftOut> {
        Vec::new()
    }

    /// Returns true when this call changes nothing and steers nothing.
    fn only_reads(&self) -> bool {
        Self::EFFECT == ToolEffect::Reads
    }

    /// Returns what the one file it edits would hold after it; `None` where it edits no file or
    /// several, and where it would fail.
    fn content_after(&self, _before: Option<&[u8]>) -> Option<Vec<u8>> {
        None
    }

    /// Returns the files that arguments name for an edit, right or wrong as they may be otherwise.
    fn edited(mut arguments: CallFields, context: ToolContext<'_>) -> Vec<ResolvedPath> {
        match Self::EFFECT {
            ToolEffect::Edits => arguments.place("path", "the file", context).into_iter().collect(),
            ToolEffect::Reads | ToolEffect::Runs | ToolEffect::Steers => Vec::new(),
        }
    }
}
