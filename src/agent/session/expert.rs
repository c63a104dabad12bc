//! Questions to other models: a permitted call puts one, the answer is written down, paid for by
//! the task, and becomes the call's result.
//!
//! In: a permitted `ask_expert_model`. Out: an event with the answer, then the call's. A session
//! that was killed between the two does not ask again. An expert sees the question alone and has no
//! tools; what it says is material.

use futures::FutureExt;
use tracing::Instrument;

use crate::session::Session;
use crate::session::event::Event;
use crate::session::spans::call_span;
use crate::session::stop::Stop;
use crate::session::task::WaitingCall;
use crate::session::work::{Done, Work};
use crate::tools::dispatch::{self, Call};
use crate::tools::{Control, Observation};
use locum_base::chat::{Message, Usage};
use locum_base::id::TaskId;
use locum_base::text::Clipped;
use locum_models::ModelRequest;
use locum_models::accounting;
use locum_models::retry::Completed;
use locum_models::tokens::Tokenizer;
use locum_modes::prompts::expert;
use locum_policy::Permit;

/// Bytes of an answer that are kept.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024;
/// Most tokens of an answer.
const ANSWER_LIMIT_TOKENS: u32 = 8192;

/// Returns the name under which an expert is asked: what a script or cassette tells its requests
/// by.
fn mode_of(expert: &str) -> String {
    format!("expert:{expert}")
}

impl<'a> Session<'a> {
    /// Asks the model that a permitted call names.
    pub(crate) fn ask_expert(
        &mut self,
        id: TaskId,
        waiting: WaitingCall,
        permit: Permit<Call>,
    ) -> Result<Option<Work<'a>>, Stop> {
        if let (Some(answer), Call::AskExpertModel(call)) = (&waiting.consulted, permit.act()) {
            let text = expert::answer(call.expert(), answer);
            return self
                .answered(id, &waiting, Observation::said(text), None, false)
                .map(|()| None);
        }
        let tools = self.tools(id)?;
        let visible = tools.readable();
        let span = call_span(&self.turn_span(id), &waiting, &permit);
        let observation =
            dispatch::perform(permit, tools.context(&visible)).instrument(span).now_or_never();
        let control = observation.and_then(|observation| observation.control);
        let Some(Control::AskExpert { question, expert }) = control else {
            return self
                .answered(
                    id,
                    &waiting,
                    Observation::failed("This question cannot be put."),
                    None,
                    false,
                )
                .map(|()| None);
        };
        let Some(asked) = self.parts.experts.get(&expert).copied() else {
            let known: Vec<&str> = self.parts.experts.keys().map(String::as_str).collect();
            let text = expert::unknown(&expert, &known);
            return self
                .answered(id, &waiting, Observation::failed(text), None, true)
                .map(|()| None);
        };
        let task = self.task(id)?;
        let estimate_tokens = accounting::estimate_ask(asked.tokenizer, expert::SYSTEM, &question);
        self.afford(task, Usage { input: estimate_tokens, ..Usage::default() }, asked.price)?;
        let (turn, asking, waiting) =
            (task.consulted, self.asking(id, asked, estimate_tokens), Box::new(waiting));
        let question = self.parts.redactor.redact(&question);
        Ok(Some(
            async move {
                let (messages, mode) = ([Message::User { text: question }], mode_of(&expert));
                let request = ModelRequest {
                    system: expert::SYSTEM,
                    max_output_tokens: Some(ANSWER_LIMIT_TOKENS),
                    ..ModelRequest::new(&messages, id, &mode, turn)
                };
                let answer = asking.whole(request).await;
                (id, Done::Consulted { waiting, expert, answer, estimate_tokens })
            }
            .instrument(tracing::info_span!(parent: &self.turn_span(id), "expert"))
            .boxed_local(),
        ))
    }

    /// Writes an expert's answer down, charges it and gives it to the call.
    pub(crate) fn consulted(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        expert: String,
        completed: Completed,
        estimate_tokens: u64,
    ) -> Result<(), Stop> {
        let Completed { reply: answer, lost } = completed;
        if let Some(asked) = self.parts.experts.get(&expert).copied() {
            self.charge_lost(id, asked, &lost, estimate_tokens)?;
        }
        let reply = match answer {
            Ok(reply) => reply,
            Err(err) => {
                let text = self
                    .parts
                    .redactor
                    .redact(&format!("The expert `{expert}` gave no answer: {err}."));
                return self.answered(id, waiting, Observation::failed(text), None, false);
            }
        };
        let asked = self.parts.experts.get(&expert);
        let price = asked.and_then(|asked| asked.price_of(&reply));
        let tokenizer =
            asked.map_or_else(Tokenizer::default, |asked| asked.tokenizer_by(reply.by.as_deref()));
        let output = accounting::estimate_reply(tokenizer, &reply);
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input: estimate_tokens,
            output,
            ..Usage::default()
        });
        let cost_usd = price.map_or(0.0, |price| accounting::cost(usage, price));
        let estimated = reply.usage.is_none() || price.is_none();
        let answer = Clipped::head_tail(
            self.parts.redactor.redact(reply.text.trim()).as_str(),
            ANSWER_LIMIT_BYTES,
        )
        .text;
        let text = expert::answer(&expert, &answer);
        self.emit(Event::Consulted {
            task: id,
            call: waiting.call.id.clone(),
            expert,
            answer,
            usage,
            estimated,
            cost_usd,
        })?;
        self.answered(id, waiting, Observation::said(text), None, false)
    }
}
