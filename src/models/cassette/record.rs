//! `RecordingModel`: a model whose replies are written to a cassette as they are given.
//!
//! In: a model, an open [`CassetteWriter`]. Out: the same deltas; a line in the cassette for each
//! whole reply, and for each answer that a conversation is too long, without secrets. A reply that
//! cannot be recorded is an error: a gap would only show when the cassette is replayed.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use crate::cassette::{
    CASSETTE_VERSION, Capacities, CassetteHeader, RecordedExchange, RecordedResponse, RequestPart,
    parts,
};
use crate::retry::assembly::ReplyAssembly;
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::secret::Redactor;

/// A cassette open for appending.
#[derive(Debug)]
pub struct CassetteWriter {
    file: std::fs::File,
    name: String,
    redactor: Redactor,
}

impl CassetteWriter {
    /// Opens a cassette to add to; one that is not there begins with its first line, which says
    /// what the models can take.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn open(path: &Path, redactor: Redactor, capacities: Capacities) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let is_new = file.metadata()?.len() == 0;
        let tape = Self { file, name: path.display().to_string(), redactor };
        if is_new {
            tape.write(&serde_json::to_value(CassetteHeader {
                cassette: CASSETTE_VERSION,
                capacities,
            })?)?;
        }
        Ok(tape)
    }

    fn write(&self, line: &Value) -> std::io::Result<()> {
        // One write per line: parallel models do not mix their lines.
        (&self.file).write_all(format!("{line}\n").as_bytes())
    }

    fn add(&self, mut exchange: RecordedExchange) -> std::io::Result<()> {
        // Base64 of an image is not text in which a secret could be found; an image model is sent
        // none.
        let pictures = std::mem::take(&mut exchange.pictures);
        let mut line = serde_json::to_value(exchange)?;
        redact(&mut line, &self.redactor);
        if let Some(fields) = line.as_object_mut().filter(|_| !pictures.is_empty()) {
            fields.insert("pictures".to_owned(), pictures.into());
        }
        self.write(&line)
    }
}

/// A model whose replies are written to a cassette.
pub struct RecordingModel {
    model: Box<dyn Model>,
    tape: Arc<CassetteWriter>,
}

impl RecordingModel {
    /// Records a model.
    pub fn new(model: Box<dyn Model>, tape: Arc<CassetteWriter>) -> Self {
        Self { model, tape }
    }

    fn write(&self, request: &ModelRequest<'_>, said: RecordedResponse) -> Result<(), ModelError> {
        let images = match &said {
            RecordedResponse::Reply(reply) if request.picture.is_some() => reply.images.as_slice(),
            RecordedResponse::Reply(_) | RecordedResponse::TooLong(_) => &[],
        };
        let exchange = RecordedExchange {
            pictures: images
                .iter()
                .filter_map(|image| image.content.bytes())
                .map(|bytes| STANDARD.encode(bytes))
                .collect(),
            task: request.task.0,
            turn: request.turn,
            mode: request.mode.to_owned(),
            model: self.model.label().to_owned(),
            asked: parts(request)
                .iter()
                .map(|(field, text)| RequestPart::of(*field, text))
                .collect(),
            said,
        };
        self.tape.add(exchange).map_err(|err| ModelError::Script {
            model: self.tape.name.clone(),
            message: format!("the reply cannot be recorded: {err}"),
        })
    }
}

impl Model for RecordingModel {
    fn label(&self) -> &str {
        self.model.label()
    }

    fn may_reply(&self, request: &ModelRequest<'_>) -> bool {
        self.model.may_reply(request)
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        let state = (self.model.stream(request), ReplyAssembly::default());
        stream::unfold(Some(state), move |state| async move {
            let (mut deltas, mut assembly) = state?;
            let item = deltas.next().await?;
            let delta = match &item {
                Ok(delta) => delta,
                Err(ModelError::TooLong { message, .. }) => {
                    let written = self.write(&request, RecordedResponse::TooLong(message.clone()));
                    return Some((written.and(item), None));
                }
                Err(_) => return Some((item, None)),
            };
            // What is too large is refused by whoever assembles the reply.
            let fits = assembly.add(delta.clone()).is_ok();
            if assembly.is_stopped() && fits {
                let written = assembly
                    .finish(&request)
                    .map_or(Ok(()), |reply| self.write(&request, RecordedResponse::Reply(reply)));
                return Some((written.and(item), None));
            }
            Some((item, Some((deltas, assembly))))
        })
        .boxed()
    }
}

fn redact(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            if redactor.finds_secret(text) {
                *text = redactor.redact(text);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| redact(value, redactor)),
        Value::Object(object) => object.values_mut().for_each(|value| redact(value, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
