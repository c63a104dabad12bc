//! Questions to other models: a permitted call puts one, the answer is written down, paid for by
//! the task, and becomes the call's result.
//!
//! In: a permitted `ask_expert_model`. Out: an event with the answer, then the call's. A session
//! that was killed between the two does not ask again. An expert sees the question alone and has no
//! tools; what it says is material.

use tracing::Instrument;

use crate::session::event::Event;
use crate::session::in_flight::{CompletedRequest, InFlightRequest, ReplyCost};
use crate::session::judged::PermittedCall;
use crate::session::live::Session;
use crate::session::request_terms::RequestTerms;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use crate::tools::dispatch::CheckedCall;
use crate::tools::flow::expert::AskExpertModel;
use locum_base::chat::{Message, StopReason};
use locum_base::id::TaskId;
use locum_base::text::ClippedText;
use locum_models::ModelRequest;
use locum_models::accounting;
use locum_modes::prompts::expert::{self, NoAnswer};

/// Bytes of an answer that are kept.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024;
/// Most tokens of the words of an answer.
const ANSWER_LIMIT_TOKENS: u32 = 8192;

impl<'a> Session<'a> {
    /// Asks the model that a permitted call names.
    pub(crate) fn ask_expert(&mut self, id: TaskId, permitted: PermittedCall) -> Result<(), Stop> {
        let PermittedCall { waiting, permit, .. } = permitted;
        let CheckedCall::AskExpertModel(AskExpertModel { question, expert }) = permit.act().clone()
        else {
            let not = Observation::failed("This question cannot be put.");
            return self.answer(id, &waiting, not);
        };
        if let Some(answer) = &waiting.consulted {
            let said = observation(&expert, answer, StopReason::End, None);
            return self.answer(id, &waiting, said);
        }
        let Some(model) = self.parts.models.experts.get(&expert).copied() else {
            let known: Vec<&str> = self.parts.models.experts.keys().map(String::as_str).collect();
            return self.answer_mistake(id, &waiting, expert::unknown(&expert, &known));
        };
        let estimate_tokens = accounting::estimate_ask(model.tokenizer, expert::SYSTEM, &question);
        let target = InFlightRequest { task: id, model, estimate_tokens };
        let in_flight = self.request(target, RequestTerms::of_words(ANSWER_LIMIT_TOKENS))?;
        let turn = self.task(id)?.consultation.questions;
        // What a script or cassette recognises the request by.
        let mode = format!("expert:{expert}");
        let question = self.parts.run.redactor.redact(&question);
        let answer = async move {
            let messages = [Message::User { text: question }];
            let request = ModelRequest {
                system: expert::SYSTEM,
                ..ModelRequest::new(&messages, id, &mode, turn)
            };
            in_flight.whole(request).await
        };
        let span = tracing::info_span!(parent: &self.turn_span(id), "expert");
        self.wait(id, answer.instrument(span), move |session, answered| {
            session.consulted(&waiting, expert, answered)
        });
        Ok(())
    }

    /// Writes an expert's answer down, charges it and gives it to the call.
    fn consulted(
        &mut self,
        waiting: &WaitingCall,
        expert: String,
        answered: CompletedRequest<'a>,
    ) -> Result<(), Stop> {
        let cut_at = answered.cut_at();
        let CompletedRequest { target, reply, lost, .. } = answered;
        let (id, redactor) = (target.task, self.parts.run.redactor);
        self.charge_lost(target, &lost)?;
        let reply = match reply {
            Ok(reply) => reply,
            Err(err) => {
                let text = format!("The expert `{expert}` gave no answer: {err}.");
                return self.answer(id, waiting, Observation::failed(redactor.redact(&text)));
            }
        };
        let tokenizer = target.model.tokenizer_by(reply.by.as_deref());
        let cost = ReplyCost::of(&reply, target, accounting::estimate_reply(tokenizer, &reply));
        let answer = redactor.redact(reply.text.trim());
        let answer = ClippedText::head_tail(&answer, ANSWER_LIMIT_BYTES).text;
        let said = observation(&expert, &answer, reply.stop, cut_at);
        self.emit(Event::Consulted {
            task: id,
            call: waiting.call.id.clone(),
            expert,
            answer,
            charge: cost.charge(),
        })?;
        self.answer(id, waiting, said)
    }
}

/// Returns what a call is answered: words, or why an answer that came whole and is paid for has
/// none. `cut_at` are the tokens of a reply that was cut at its limit.
fn observation(expert: &str, answer: &str, stop: StopReason, cut_at: Option<u32>) -> Observation {
    if answer.is_empty() {
        let why = match stop {
            StopReason::Length => NoAnswer::Limit(cut_at),
            StopReason::Filtered => NoAnswer::Filter,
            StopReason::End | StopReason::ToolUse => NoAnswer::NoWords,
        };
        return Observation::failed(expert::no_answer(expert, why));
    }
    let text = expert::answer(expert, answer);
    match stop {
        StopReason::Length => Observation::said(format!("{text}\n{}", expert::cut(cut_at))),
        StopReason::End | StopReason::ToolUse | StopReason::Filtered => Observation::said(text),
    }
}
