//! Images that another model generates: a permitted call requests one, the result is stored next to
//! the journal and charged to the task, then it is written like any edit.
//!
//! In: a permitted `generate_image`. Out: an event with the image, then the effect. A session that
//! was killed between the two does not ask again; nor does a call that only puts elsewhere what
//! could not be written under its first name.

use sha2::{Digest, Sha256};
use tracing::Instrument;

use crate::session::event::Event;
use crate::session::in_flight::{CompletedRequest, InFlightRequest, ReplyCost};
use crate::session::judged::PermittedCall;
use crate::session::live::Session;
use crate::session::recorded::GeneratedImage;
use crate::session::request_terms::RequestTerms;
use crate::session::stop::Stop;
use crate::tools::Observation;
use crate::tools::dispatch::CheckedCall;
use locum_base::chat::Message;
use locum_base::id::TaskId;
use locum_base::image::Image;
use locum_base::text::ClippedText;
use locum_models::accounting;
use locum_models::{ImageRequest, ModelRequest};

/// Bytes that are kept of the text that comes with an image.
const TEXT_LIMIT_BYTES: usize = 4 * 1024;

impl<'a> Session<'a> {
    /// Requests the image for a permitted call; the call continues once the image exists.
    pub(crate) fn generate(&mut self, id: TaskId, permitted: PermittedCall) -> Result<(), Stop> {
        let PermittedCall { waiting, permit, .. } = &permitted;
        let CheckedCall::GenerateImage(call) = permit.act() else {
            return self.perform_alone(id, permitted);
        };
        let from = match self.task_env(id)?.with(|context| call.source(permit, context)) {
            Ok(from) => from,
            Err(error) => return self.answer(id, waiting, Observation::failed(error.0)),
        };
        let Some(image_model) = self.parts.models.image_model else {
            let text = "This run has no model that generates images.";
            return self.answer(id, waiting, Observation::failed(text));
        };
        let (prompt, kind) = (self.parts.run.redactor.redact(&call.prompt), call.kind);
        let request_hash = hash_of(&prompt, from.as_ref());
        let consultation = &self.task(id)?.consultation;
        let is_same = |unplaced: &&GeneratedImage| {
            let has_bytes = |image: &Image| image.content.bytes().is_some();
            unplaced.request_hash == request_hash && unplaced.image.as_ref().is_some_and(has_bytes)
        };
        if let Some(unplaced) = consultation.unplaced.as_ref().filter(is_same) {
            let generated = GeneratedImage { again: true, ..unplaced.clone() };
            return self.place_image(id, permitted, generated, ReplyCost::default());
        }
        let turn = consultation.images;
        let model = image_model.model;
        let estimate_tokens = accounting::estimate_ask(model.tokenizer, "", &prompt)
            .saturating_add(from.as_ref().map_or(0, tokens_of));
        let target = InFlightRequest { task: id, model, estimate_tokens };
        let in_flight = self.request(target, RequestTerms::default())?;
        let mode = format!("image:{}", image_model.name());
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
            let by = image_model.name().to_owned();
            let generated =
                GeneratedImage { by, request_hash, image: None, said: String::new(), again: false };
            session.generated(permitted, generated, answered)
        });
        Ok(())
    }

    /// Records the image model's answer for `generated`, charges it, and continues with the call.
    fn generated(
        &mut self,
        permitted: PermittedCall,
        generated: GeneratedImage,
        answered: CompletedRequest<'a>,
    ) -> Result<(), Stop> {
        let CompletedRequest { target, reply, lost, .. } = answered;
        let (id, redactor) = (target.task, self.parts.run.redactor);
        self.charge_lost(target, &lost)?;
        let mut reply = match reply {
            Ok(reply) => reply,
            Err(err) => {
                let text = redactor.redact(&format!("The image model gave nothing: {err}."));
                return self.answer(id, &permitted.waiting, Observation::failed(text));
            }
        };
        // What is generated on the way to an image comes before it.
        let image = reply.images.pop();
        let tokenizer = target.model.tokenizer_by(reply.by.as_deref());
        let output_tokens = accounting::estimate_reply(tokenizer, &reply)
            .saturating_add(image.as_ref().map_or(0, tokens_of));
        let cost = ReplyCost::of(&reply, target, output_tokens);
        let said = redactor.redact(reply.text.trim());
        let said = ClippedText::head_tail(&said, TEXT_LIMIT_BYTES).text;
        self.place_image(id, permitted, GeneratedImage { image, said, ..generated }, cost)
    }

    /// Records an image and continues with the call that requested it.
    fn place_image(
        &mut self,
        id: TaskId,
        permitted: PermittedCall,
        generated: GeneratedImage,
        cost: ReplyCost,
    ) -> Result<(), Stop> {
        let call = permitted.waiting.call.id.clone();
        self.emit(Event::ImageGenerated {
            task: id,
            call: call.clone(),
            generated,
            charge: cost.charge(),
        })?;
        let Some(waiting) = self.task(id)?.turn.call(&call).cloned() else { return Ok(()) };
        self.perform_alone(id, PermittedCall { waiting, ..permitted })
    }
}

fn tokens_of(image: &Image) -> u64 {
    u64::try_from(image.tokens()).unwrap_or(u64::MAX)
}

/// Returns what distinguishes one request from another: its prompt and the image it starts from.
fn hash_of(prompt: &str, from: Option<&Image>) -> String {
    let from = from.map_or("", |image| image.hash.as_str());
    format!("{:x}", Sha256::digest(format!("{from}\n{prompt}")))
}
