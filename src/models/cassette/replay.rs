//! `ReplayModel`: a model that gives the replies of a cassette, and no other.
//!
//! In: a cassette's text, the fields it may differ in. Out: for each request the recorded reply;
//! or, where the request is not the one that was recorded, the first difference. It keeps no state:
//! the same request always gets the same reply.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{self, BoxStream, StreamExt};

use crate::cassette::{
    CASSETTE_VERSION, Capacities, CassetteHeader, RecordedExchange, RecordedResponse, RequestField,
    RequestPart, SHOWN_BYTES, parts,
};
use crate::{Delta, Model, ModelError, ModelRequest};
use locum_base::chat::Reply;
use locum_base::text::{counted, head};

/// A model that plays a cassette.
#[derive(Clone, Debug)]
pub struct ReplayModel {
    name: String,
    capacities: Capacities,
    /// What was said at each turn, in order: a turn is requested again after its conversation was
    /// compacted.
    exchanges: BTreeMap<(u32, u32, String), Vec<RecordedExchange>>,
    tolerated: BTreeSet<RequestField>,
}

impl ReplayModel {
    /// Reads a cassette. Requests may differ from the recorded ones in the fields `tolerated`.
    ///
    /// # Errors
    /// Names the line that is not one of a cassette.
    pub fn parse(
        name: &str,
        text: &str,
        tolerated: impl IntoIterator<Item = RequestField>,
    ) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let header = lines
            .next()
            .and_then(|(_, line)| serde_json::from_str::<serde_json::Value>(line).ok())
            .unwrap_or_default();
        match header.get("cassette").and_then(serde_json::Value::as_u64) {
            Some(version) if version == u64::from(CASSETTE_VERSION) => {}
            Some(version) => {
                return Err(format!(
                    "is a cassette of version {version}; this program reads version \
                     {CASSETTE_VERSION}: record it again"
                ));
            }
            None => return Err("is not a cassette: its first line has no `cassette`".to_owned()),
        }
        let CassetteHeader { capacities, .. } =
            serde_json::from_value(header).map_err(|err| format!("line 1: {err}"))?;
        let mut exchanges: BTreeMap<_, Vec<RecordedExchange>> = BTreeMap::new();
        for (at, line) in lines {
            let exchange: RecordedExchange =
                serde_json::from_str(line).map_err(|err| format!("line {}: {err}", at + 1))?;
            exchanges
                .entry((exchange.task, exchange.turn, exchange.mode.clone()))
                .or_default()
                .push(exchange);
        }
        Ok(Self {
            name: name.to_owned(),
            capacities,
            exchanges,
            tolerated: tolerated.into_iter().collect(),
        })
    }

    /// Returns what the recorded models could take.
    pub fn capacities(&self) -> &Capacities {
        &self.capacities
    }

    fn reply(&self, request: &ModelRequest<'_>) -> Result<Vec<Delta>, ModelError> {
        let place = format!("task {}, turn {}", request.task, request.turn.saturating_add(1));
        let fault = |message: String| ModelError::Script {
            model: self.name.clone(),
            message: format!("{place}: {message}"),
        };
        let found = self.exchanges.get(&(request.task.0, request.turn, request.mode.to_owned()));
        let nothing = || fault(format!("nothing was recorded there for mode `{}`", request.mode));
        let asked = parts(request);
        let mut difference = None;
        // A resumed run requested its last reply again: the later one counts.
        for exchange in found.ok_or_else(nothing)?.iter().rev() {
            match (self.difference(&exchange.asked, &asked), &exchange.said) {
                (None, RecordedResponse::Reply(reply)) => {
                    return Ok(deltas(reply, &exchange.pictures));
                }
                (None, RecordedResponse::TooLong(message)) => {
                    return Err(ModelError::TooLong {
                        model: self.name.clone(),
                        message: message.clone(),
                    });
                }
                (Some(found), _) => difference = difference.or(Some(found)),
            }
        }
        Err(difference.map_or_else(nothing, fault))
    }

    /// Returns the first difference that is not tolerated.
    fn difference(
        &self,
        recorded: &[RequestPart],
        asked: &[(RequestField, String)],
    ) -> Option<String> {
        let counts = |field: RequestField| !self.tolerated.contains(&field);
        let recorded: Vec<&RequestPart> =
            recorded.iter().filter(|part| counts(part.field)).collect();
        let asked: Vec<&(RequestField, String)> =
            asked.iter().filter(|(field, _)| counts(*field)).collect();
        for (at, (field, text)) in asked.iter().enumerate() {
            let Some(part) = recorded.get(at).filter(|part| part.field == *field) else {
                return Some(format!(
                    "`{}` holds something that was not recorded: `{}`",
                    field.as_str(),
                    head(text.trim(), SHOWN_BYTES)
                ));
            };
            let now = RequestPart::of(*field, text);
            if now.hash != part.hash {
                return Some(difference_text(part, &now, text));
            }
        }
        recorded.get(asked.len()).map(|part| {
            format!("`{}` lacks what was recorded: `{}`", part.field.as_str(), part.shown)
        })
    }
}

/// Says where a part differs from the recorded one, and whether lines came, went or changed there.
fn difference_text(recorded: &RequestPart, now: &RequestPart, text: &str) -> String {
    let same =
        recorded.lines.iter().zip(&now.lines).take_while(|(one, other)| one == other).count();
    let rest = |lines: &[u32]| lines.len().saturating_sub(same);
    let ends = recorded
        .lines
        .iter()
        .rev()
        .zip(now.lines.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let ends = ends.min(rest(&recorded.lines)).min(rest(&now.lines));
    let (gone, came) = (rest(&recorded.lines) - ends, rest(&now.lines) - ends);
    let line = text.lines().nth(same).map(|line| format!("`{}`", head(line, SHOWN_BYTES)));
    let shown = recorded.shown.lines().nth(same);
    // What is kept of a part ends somewhere in a line.
    let cut =
        if recorded.shown.lines().count() == same + 1 && recorded.shown.len() + 4 > SHOWN_BYTES {
            "..."
        } else {
            ""
        };
    let was = shown.map(|line| format!(", recorded was `{line}{cut}`")).unwrap_or_default();
    let lost = shown.map(|line| format!(" (`{line}{cut}`)")).unwrap_or_default();
    let what = match (gone, came, line) {
        (_, 0, Some(line)) => {
            format!("{} went{lost}; {line} follows now", counted(gone, "recorded line"))
        }
        (_, _, None) => format!("it ends there now; {} went{lost}", counted(gone, "recorded line")),
        (0, _, Some(line)) => format!("{} came: it reads {line}", counted(came, "line")),
        (1, 1, Some(line)) => format!("now it reads {line}{was}"),
        (_, _, Some(line)) => {
            format!("now it reads {line}{was} ({} in place of {gone})", counted(came, "line"))
        }
    };
    let field = now.field.as_str();
    format!(
        "`{field}` is not what was recorded, from line {} on: {what}; `--replay-tolerate {field}` \
         lets it differ",
        same + 1
    )
}

fn deltas(reply: &Reply, pictures: &[String]) -> Vec<Delta> {
    let said = |text: &String| (!text.is_empty()).then(|| text.clone());
    let mut deltas: Vec<Delta> = reply.by.clone().map(Delta::By).into_iter().collect();
    deltas.extend(said(&reply.reasoning).map(Delta::Reasoning));
    deltas.extend(said(&reply.text).map(Delta::Text));
    deltas.extend(reply.calls.iter().enumerate().map(|(index, call)| Delta::Call {
        index,
        id: Some(call.id.clone()),
        name: Some(call.name.clone()),
        arguments: call.arguments.clone(),
    }));
    let bytes = |at: usize| pictures.get(at).and_then(|picture| STANDARD.decode(picture).ok());
    deltas.extend(reply.images.iter().enumerate().map(|(at, image)| {
        let image = image.clone();
        Delta::Image(bytes(at).map_or(image.clone(), |bytes| image.with_content(&bytes)))
    }));
    deltas.extend(reply.opaque.clone().map(Delta::Opaque));
    deltas.extend(reply.usage.map(Delta::Usage));
    deltas.push(Delta::Stop(reply.stop));
    deltas
}

impl Model for ReplayModel {
    fn label(&self) -> &str {
        &self.name
    }

    fn stream<'a>(&'a self, request: ModelRequest<'a>) -> BoxStream<'a, Result<Delta, ModelError>> {
        match self.reply(&request) {
            Ok(deltas) => stream::iter(deltas.into_iter().map(Ok)).boxed(),
            Err(err) => stream::iter([Err(err)]).boxed(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test reads what was recorded")]
mod tests;
