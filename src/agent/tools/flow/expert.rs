//! `ask_expert_model`: asks another model one question.

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::PeerWords;
use crate::tools::tool::{Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_policy::kind::RuleKind;

/// Longest question, in bytes.
const QUESTION_LIMIT_BYTES: usize = 64 * 1024;

/// A question about to be put to another model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskExpertModel {
    /// What is asked.
    pub question: String,
    /// Who is asked.
    pub expert: String,
}

impl Tool for AskExpertModel {
    const EFFECT: ToolEffect = ToolEffect::Steers;
    const DESCRIPTION: &'static str = "Ask another model one question and get its answer. It sees \
        nothing of this task and has no tools: the question holds everything it needs, code and \
        errors included. It costs from this task's budget.";
    const REQUIRED: &'static [&'static str] = &["question", "expert"];
    const PEERS: PeerWords =
        PeerWords { renames: &[&[("expert_model", "expert")]], ..PeerWords::NONE };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::Experts);
    const RULE: Option<RuleKind> = Some(RuleKind::Expert);

    fn properties() -> Value {
        json!({
            "question": { "type": "string", "description": "What it is told: background, what was tried, what to answer" },
            "expert": { "type": "string", "description": "Which model: one of the experts named in the prompt" }
        })
    }

    /// Checks the arguments. Whether there is such an expert is the session's to say.
    fn parse(mut arguments: CallFields, _: ToolContext<'_>) -> Result<Self, CallError> {
        let question =
            arguments.words("question", "what to ask, with everything the expert needs")?;
        let expert = arguments.words("expert", "the expert to ask")?.trim().to_owned();
        arguments.finish()?;
        if question.len() > QUESTION_LIMIT_BYTES {
            return Err(CallError(format!(
                "`question` of `ask_expert_model` has more than {QUESTION_LIMIT_BYTES} bytes. Ask \
                 about a part."
            )));
        }
        Ok(Self { question, expert })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Expert(self.expert.clone())]
    }

    fn headline(&self) -> String {
        format!("ask the expert {}", self.expert)
    }

    async fn perform(
        &self,
        _: &Permit<CheckedCall>,
        _: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        Ok(Observation::said("The question is put."))
    }
}
