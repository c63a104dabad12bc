//! Pictures that another model draws: a permitted call asks for one, what comes is kept beside the
//! journal and paid for by the task, then it is written like any edit.
//!
//! In: a permitted `generate_image`. Out: an event with the picture, then the effect. A session
//! that was killed between the two does not ask again; nor does a call that only puts elsewhere
//! what could not be written under its first name.

use std::fmt::Write as _;

use futures::FutureExt;
use sha2::{Digest, Sha256};
use tracing::Instrument;

use crate::session::Session;
use crate::session::TaskModel;
use crate::session::calls::Permitted;
use crate::session::event::{Event, Painting};
use crate::session::stop::Stop;
use crate::session::task::WaitingCall;
use crate::session::work::{Done, Work};
use crate::tools::Observation;
use crate::tools::dispatch::Call;
use locum_base::chat::{Message, Usage};
use locum_base::id::TaskId;
use locum_base::image::Image;
use locum_base::text::Clipped;
use locum_models::accounting;
use locum_models::retry::Completed;
use locum_models::{ModelRequest, PictureWish};
use locum_modes::prompts::painter;

/// Bytes that are kept of what is said beside a picture.
const WORDS_LIMIT_BYTES: usize = 4 * 1024;

/// Who draws.
#[derive(Clone, Copy)]
pub struct Painter<'a> {
    /// The names of its profile and of those that stand in for it.
    pub names: &'a [String],
    /// The model.
    pub model: TaskModel<'a>,
}

impl Painter<'_> {
    fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }
}

impl<'a> Session<'a> {
    /// Has the picture drawn that a permitted call asks for, and goes on with the call once it is
    /// there.
    pub(crate) fn draw(
        &mut self,
        id: TaskId,
        permitted: Permitted,
    ) -> Result<Option<Work<'a>>, Stop> {
        let Call::GenerateImage(call) = permitted.permit.act() else {
            return self.perform_alone(id, permitted);
        };
        let tools = self.tools(id)?;
        let visible = tools.readable();
        let source = call.source(&permitted.permit, tools.context(&visible));
        let (from, painter) = match (source, self.parts.painter) {
            (Ok(from), Some(painter)) => (from, painter),
            (Err(error), _) => return self.not_drawn(id, &permitted.waiting, error.0),
            (Ok(_), None) => {
                return self.not_drawn(
                    id,
                    &permitted.waiting,
                    "Nobody draws pictures in this run.".to_owned(),
                );
            }
        };
        let (prompt, kind) = (self.parts.redactor.redact(call.prompt()), call.kind());
        let wish = hash_of(&prompt, from.as_ref());
        let task = self.task(id)?;
        let is_there = |painting: &Painting| {
            painting.image.as_ref().is_some_and(|image| image.content.bytes().is_some())
        };
        if let Some(painting) =
            task.unplaced.clone().filter(|painting| painting.wish == wish && is_there(painting))
        {
            self.emit(drawn(
                id,
                &permitted.waiting,
                Painting { again: true, ..painting },
                Paid::default(),
            ))?;
            return self.place_picture(id, permitted);
        }
        let shown_tokens =
            from.as_ref().map_or(0, |image| u64::try_from(image.tokens()).unwrap_or(u64::MAX));
        let estimate_tokens = accounting::estimate_ask(painter.model.tokenizer, "", &prompt)
            .saturating_add(shown_tokens);
        self.afford(
            task,
            Usage { input: estimate_tokens, ..Usage::default() },
            painter.model.price,
        )?;
        let (turn, asking, permitted) =
            (task.painted, self.asking(id, painter.model, estimate_tokens), Box::new(permitted));
        let mode = format!("image:{}", painter.name());
        Ok(Some(
            async move {
                let messages = [Message::User { text: prompt }];
                // Image models have no use for a system prompt, and some refuse it.
                let request = ModelRequest {
                    picture: Some(PictureWish { kind, from: from.as_ref() }),
                    ..ModelRequest::new(&messages, id, &mode, turn)
                };
                let answer = asking.whole(request).await;
                (id, Done::Painted { permitted, wish, answer, estimate_tokens })
            }
            .instrument(tracing::info_span!(parent: &self.turn_span(id), "picture"))
            .boxed_local(),
        ))
    }

    /// Writes down what was drawn, charges it, and goes on with the call.
    pub(crate) fn painted(
        &mut self,
        id: TaskId,
        permitted: Permitted,
        wish: String,
        completed: Completed,
        estimate_tokens: u64,
    ) -> Result<Option<Work<'a>>, Stop> {
        let Some(painter) = self.parts.painter else { return Ok(None) };
        self.charge_lost(id, painter.model, &completed.lost, estimate_tokens)?;
        let mut reply = match completed.reply {
            Ok(reply) => reply,
            Err(err) => {
                let text = self
                    .parts
                    .redactor
                    .redact(&format!("The model that draws gave nothing: {err}."));
                return self.not_drawn(id, &permitted.waiting, text);
            }
        };
        let price = painter.model.price_of(&reply);
        // What is drawn on the way to a picture comes before it.
        let image = reply.images.pop();
        let words =
            accounting::estimate_reply(painter.model.tokenizer_by(reply.by.as_deref()), &reply);
        let output = words.saturating_add(
            image.as_ref().map_or(0, |image| u64::try_from(image.tokens()).unwrap_or(u64::MAX)),
        );
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input: estimate_tokens,
            output,
            ..Usage::default()
        });
        let paid = Paid {
            usage,
            estimated: reply.usage.is_none() || price.is_none(),
            cost_usd: price.map_or(0.0, |price| accounting::cost(usage, price)),
        };
        let said = Clipped::head_tail(
            self.parts.redactor.redact(reply.text.trim()).as_str(),
            WORDS_LIMIT_BYTES,
        )
        .text;
        let painting = Painting { by: painter.name().to_owned(), wish, image, said, again: false };
        self.emit(drawn(id, &permitted.waiting, painting, paid))?;
        self.place_picture(id, permitted)
    }

    /// Goes on with a call whose picture is in the journal.
    fn place_picture(
        &mut self,
        id: TaskId,
        permitted: Permitted,
    ) -> Result<Option<Work<'a>>, Stop> {
        let waiting = self.task(id)?.waiting_call(&permitted.waiting.call.id).cloned();
        waiting
            .map_or(Ok(None), |waiting| self.perform_alone(id, Permitted { waiting, ..permitted }))
    }

    /// Answers a call for which there is no picture.
    pub(crate) fn not_painted(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        painting: &Painting,
    ) -> Result<Option<Work<'a>>, Stop> {
        self.not_drawn(id, waiting, painter::no_picture(&painting.by, &painting.said))
    }

    fn not_drawn(
        &mut self,
        id: TaskId,
        waiting: &WaitingCall,
        text: String,
    ) -> Result<Option<Work<'a>>, Stop> {
        self.answered(id, waiting, Observation::failed(text), None, false).map(|()| None)
    }
}

/// What a picture cost.
#[derive(Default)]
struct Paid {
    usage: Usage,
    estimated: bool,
    cost_usd: f64,
}

fn drawn(id: TaskId, waiting: &WaitingCall, painting: Painting, paid: Paid) -> Event {
    let Paid { usage, estimated, cost_usd } = paid;
    Event::Painted { task: id, call: waiting.call.id.clone(), painting, usage, estimated, cost_usd }
}

/// Returns what tells one wish from another: by its words and by what it starts from.
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
