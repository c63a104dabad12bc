//! Images that another model generates: a permitted call asks for one, what comes is kept beside
//! the journal and paid for by the task, then it is written like any edit.
//!
//! In: a permitted `generate_image`. Out: an event with the image, then the effect. A session that
//! was killed between the two does not ask again; nor does a call that only puts elsewhere what
//! could not be written under its first name.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use tracing::Instrument;

use crate::session::event::{Event, GeneratedImage};
use crate::session::in_flight::{CompletedRequest, InFlightRequest, ReplyCost};
use crate::session::judged::PermittedCall;
use crate::session::live::Session;
use crate::session::stop::Stop;
use crate::session::task::turn::WaitingCall;
use crate::tools::Observation;
use crate::tools::dispatch::CheckedCall;
use locum_base::chat::Message;
use locum_base::id::TaskId;
use locum_base::image::Image;
use locum_base::text::ClippedText;
use locum_models::accounting;
use locum_models::{ImageRequest, ModelRequest};
use locum_modes::prompts::painter;

/// Bytes that are kept of what is said beside an image.
const TEXT_LIMIT_BYTES: usize = 4 * 1024;

impl<'a> Session<'a> {
    /// Has the image generated that a permitted call asks for; the call goes on once it is there.
    pub(crate) fn generate(&mut self, id: TaskId, permitted: PermittedCall) -> Result<(), Stop> {
        let PermittedCall { waiting, permit } = &permitted;
        let CheckedCall::GenerateImage(call) = permit.act() else {
            return self.perform_alone(id, permitted);
        };
        let from = match self.task_env(id)?.with(|context| call.source(permit, context)) {
            Ok(from) => from,
            Err(error) => return self.answer(id, waiting, Observation::failed(error.0)),
        };
        let Some(painter) = self.parts.models.painter else {
            let text = "This run has no model that generates images.";
            return self.answer(id, waiting, Observation::failed(text));
        };
        let (prompt, kind) = (self.parts.run.redactor.redact(call.prompt()), call.kind());
        let wish = hash_of(&prompt, from.as_ref());
        let consultation = &self.task(id)?.consultation;
        let is_same = |unplaced: &&GeneratedImage| {
            let has_bytes = |image: &Image| image.content.bytes().is_some();
            unplaced.wish == wish && unplaced.image.as_ref().is_some_and(has_bytes)
        };
        if let Some(unplaced) = consultation.unplaced.as_ref().filter(is_same) {
            let painting = GeneratedImage { again: true, ..unplaced.clone() };
            return self.place_image(id, permitted, painting, ReplyCost::default());
        }
        let turn = consultation.images;
        let model = painter.model;
        let estimate_tokens = accounting::estimate_ask(model.tokenizer, "", &prompt)
            .saturating_add(from.as_ref().map_or(0, tokens_of));
        let in_flight = self.request(InFlightRequest { task: id, model, estimate_tokens }, 0)?;
        let mode = format!("image:{}", painter.name());
        let answer = async move {
            let messages = [Message::User { text: prompt }];
            let request = ModelRequest {
                // Models that generate images have no use for one, and some refuse it.
                system: "",
                picture: Some(ImageRequest { kind, from: from.as_ref() }),
                ..ModelRequest::new(&messages, id, &mode, turn)
            };
            in_flight.whole(request).await
        };
        let span = tracing::info_span!(parent: &self.turn_span(id), "picture");
        self.wait(id, answer.instrument(span), move |session, answered| {
            let by = painter.name().to_owned();
            let painting =
                GeneratedImage { by, wish, image: None, said: String::new(), again: false };
            session.generated(permitted, painting, answered)
        });
        Ok(())
    }

    /// Takes in what the image model gave for `painting`, charges it, and goes on with the call.
    fn generated(
        &mut self,
        permitted: PermittedCall,
        painting: GeneratedImage,
        answered: CompletedRequest<'a>,
    ) -> Result<(), Stop> {
        let CompletedRequest { asked, reply, lost } = answered;
        let (id, redactor) = (asked.task, self.parts.run.redactor);
        self.charge_lost(asked, &lost)?;
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(err) => {
                let text = redactor.redact(&format!("The image model gave nothing: {err}."));
                return self.answer(id, &permitted.waiting, Observation::failed(text));
            }
        };
        // What is generated on the way to an image comes before it.
        let image = reply.images.pop();
        let tokenizer = asked.model.tokenizer_by(reply.by.as_deref());
        let output_tokens = accounting::estimate_reply(tokenizer, &reply)
            .saturating_add(image.as_ref().map_or(0, tokens_of));
        let cost = ReplyCost::of(&reply, asked, output_tokens);
        let said = redactor.redact(reply.text.trim());
        let said = ClippedText::head_tail(&said, TEXT_LIMIT_BYTES).text;
        self.place_image(id, permitted, GeneratedImage { image, said, ..painting }, cost)
    }

    /// Writes an image down and goes on with the call that asked for it.
    fn place_image(
        &mut self,
        id: TaskId,
        permitted: PermittedCall,
        painting: GeneratedImage,
        cost: ReplyCost,
    ) -> Result<(), Stop> {
        let call = permitted.waiting.call.id.clone();
        self.emit(Event::Painted {
            task: id,
            call: call.clone(),
            painting,
            usage: cost.usage,
            estimated: cost.is_estimate(),
            cost_usd: cost.usd,
        })?;
        let Some(waiting) = self.task(id)?.turn.call(&call).cloned() else { return Ok(()) };
        self.perform_alone(id, PermittedCall { waiting, ..permitted })
    }

    /// Answers a call for which there is no image.
    pub(crate) fn no_image(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        painting: &GeneratedImage,
    ) -> Result<(), Stop> {
        let text = painter::no_picture(&painting.by, &painting.said);
        self.answer(id, waiting, Observation::failed(text))
    }
}

fn tokens_of(image: &Image) -> u64 {
    u64::try_from(image.tokens()).unwrap_or(u64::MAX)
}

/// Returns what tells one request from another: by its words and by what it starts from.
fn hash_of(prompt: &str, from: Option<&Image>) -> String {
    let from = from.map_or("", |image| image.hash.as_str());
    Sha256::digest(format!("{from}\n{prompt}")).iter().fold(
        String::with_capacity(64),
        |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        },
    )
}
