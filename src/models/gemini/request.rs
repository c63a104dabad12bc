//! The body of a `generateContent` request.
//!
//! In: a request and the wishes of profile and server. Out: JSON bytes whose keys always come in
//! one order with the conversation last. Parts that were signed go back with their signature; calls
//! that another model made go with a word that lets them pass. It sends nothing.

use std::slice;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::ModelRequest;
use crate::transport::images::{Base64, Picture, Shown, shown};
use crate::transport::json::Arguments;
use crate::transport::parts::{Part, in_order};
use locum_base::chat::{Kept, Message, ToolCall, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// Stands for the signature of a call that this model did not make (Gemini API, "Thought
/// signatures": calls carried over from elsewhere).
const NOT_SIGNED_HERE: &str = "skip_thought_signature_validator";
/// Keys of JSON Schema that the older form knows.
const OLD_KEYS: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minimum",
    "maximum",
    "anyOf",
    "pattern",
    "minLength",
    "maxLength",
];

/// What a body depends on besides the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wishes<'a> {
    /// Whose kept parts are sent back.
    pub(super) by: &'a str,
    /// True for models that refuse a call without a signature.
    pub(super) wants_signatures: bool,
    /// Sampling temperature.
    pub(super) temperature: Option<f64>,
    /// Most tokens of the reply.
    pub(super) max_output_tokens: Option<u32>,
    /// How hard to think; the model's default when absent.
    pub(super) thinking: Option<Thinking>,
    /// How tools are described.
    pub(super) schema: Schema,
    /// The kinds of images it is shown.
    pub(super) images: &'static [ImageKind],
    /// True for models that take images in an answer; older ones take them beside it.
    pub(super) images_in_answers: bool,
}

/// How hard to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Thinking {
    /// In a word.
    #[serde(rename = "thinkingLevel")]
    Level(&'static str),
    /// In tokens.
    #[serde(rename = "thinkingBudget")]
    Budget(u32),
}

/// How tools are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Schema {
    /// In JSON Schema.
    Json,
    /// In the older form, which knows fewer words.
    Old,
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    wishes: Wishes<'_>,
) -> Result<Vec<u8>, serde_json::Error> {
    let declarations: Vec<Value> =
        request.tools.iter().map(|tool| declaration(tool, wishes.schema)).collect();
    let config = Config {
        temperature: wishes.temperature,
        max_output_tokens: wishes.max_output_tokens,
        thinking_config: wishes
            .thinking
            .map(|how| ThinkingConfig { how, include_thoughts: how != Thinking::Budget(0) }),
        response_modalities: request.picture.map(|_| ["TEXT", "IMAGE"]),
    };
    let mut contents = contents(request.messages, wishes);
    if let (Some(last), Some(from)) =
        (contents.last_mut(), request.picture.and_then(|picture| picture.from))
    {
        last.parts.extend(shown(slice::from_ref(from), &ImageKind::ALL).map(image_part));
    }
    serde_json::to_vec(&Body {
        generation_config: Some(config).filter(|config| *config != Config::default()),
        tools: if declarations.is_empty() {
            Vec::new()
        } else {
            vec![Tools { function_declarations: declarations }]
        },
        system_instruction: Some(request.system)
            .filter(|system| !system.is_empty())
            .map(|text| System { parts: [Text { text }] }),
        contents,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<Config>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    /// What a reply may hold besides words (Gemini API, "Image generation").
    #[serde(skip_serializing_if = "Option::is_none")]
    response_modalities: Option<[&'static str; 2]>,
}

#[derive(PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(flatten)]
    how: Thinking,
    include_thoughts: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools {
    function_declarations: Vec<Value>,
}

#[derive(Serialize)]
struct System<'a> {
    parts: [Text<'a>; 1],
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<WirePart<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WirePart<'a> {
    Own(&'a Value),
    Text(SignedText<'a>),
    Call(SignedCall<'a>),
    Answer(Answer<'a>),
    Image(InlineImage<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineImage<'a> {
    inline_data: Blob<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'static str,
    data: Base64<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedText<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedCall<'a> {
    function_call: FunctionCall<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: Arguments<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    function_response: FunctionResponse<'a>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: Outcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<InlineImage<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// Returns the conversation as contents whose roles alternate.
fn contents<'a>(messages: &'a [Message], wishes: Wishes<'a>) -> Vec<Content<'a>> {
    let mut contents: Vec<Content<'a>> = Vec::with_capacity(messages.len());
    // The calls of the last reply, each with the provider's own id where it gave one.
    let mut asked: Vec<(&ToolCall, Option<&str>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            Message::User { text } => {
                ("user", vec![WirePart::Text(SignedText { text, thought_signature: None })])
            }
            Message::Assistant { text, calls, kept, .. } => {
                let parts = in_order(text, calls, kept.as_ref(), wishes.by);
                asked = parts
                    .iter()
                    .filter_map(|part| {
                        if let Part::Call(call, seal) = part {
                            Some((*call, word(seal, "id")))
                        } else {
                            None
                        }
                    })
                    .collect();
                ("model", model_parts(parts, kept.as_ref(), wishes))
            }
            Message::Tool { results } => ("user", answers(results, &asked, wishes)),
        };
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            Some(_) | None => contents.push(Content { role, parts }),
        }
    }
    contents
}

fn model_parts<'a>(
    parts: Vec<Part<'a>>,
    kept: Option<&'a Kept>,
    wishes: Wishes<'_>,
) -> Vec<WirePart<'a>> {
    let is_own = kept.is_some_and(|kept| kept.by == wishes.by);
    let mut first_call = wishes.wants_signatures && !is_own;
    let mut wire: Vec<WirePart<'a>> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Own(own) => wire.push(WirePart::Own(own)),
            Part::Text(text, seal) => {
                let thought_signature = word(seal, "thoughtSignature");
                if !text.is_empty() || thought_signature.is_some() {
                    wire.push(WirePart::Text(SignedText { text, thought_signature }));
                }
            }
            Part::Call(call, seal) => {
                let carried = std::mem::take(&mut first_call).then_some(NOT_SIGNED_HERE);
                let name = if call.name.is_empty() { "unnamed" } else { call.name.as_str() };
                let function_call = FunctionCall {
                    id: word(seal, "id"),
                    name,
                    args: Arguments::new(&call.arguments),
                };
                wire.push(WirePart::Call(SignedCall {
                    function_call,
                    thought_signature: word(seal, "thoughtSignature").or(carried),
                }));
            }
        }
    }
    if wire.is_empty() {
        wire.push(WirePart::Text(SignedText {
            text: "(nothing was said)",
            thought_signature: None,
        }));
    }
    wire
}

/// Returns the answers to calls; what of their images does not stand in them follows them.
fn answers<'a>(
    results: &'a [ToolResult],
    asked: &[(&'a ToolCall, Option<&'a str>)],
    wishes: Wishes<'_>,
) -> Vec<WirePart<'a>> {
    let (mut parts, mut beside) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        let mut inside = Vec::new();
        for shown in shown(&result.images, wishes.images) {
            match shown {
                Shown::Picture(picture) if wishes.images_in_answers => inside.push(inline(picture)),
                Shown::Words(_) | Shown::Picture(_) => beside.push(image_part(shown)),
            }
        }
        parts.push(answer(result, asked, inside));
    }
    parts.extend(beside);
    parts
}

fn answer<'a>(
    result: &'a ToolResult,
    asked: &[(&'a ToolCall, Option<&'a str>)],
    parts: Vec<InlineImage<'a>>,
) -> WirePart<'a> {
    let found = asked.iter().find(|(call, _)| call.id == result.call_id);
    let name = found
        .map(|(call, _)| call.name.as_str())
        .filter(|name| !name.is_empty())
        .unwrap_or("unnamed");
    let response =
        if result.is_error { Outcome::Error(&result.text) } else { Outcome::Output(&result.text) };
    WirePart::Answer(Answer {
        function_response: FunctionResponse {
            id: found.and_then(|(_, id)| *id),
            name,
            response,
            parts,
        },
    })
}

fn image_part(shown: Shown<'_>) -> WirePart<'_> {
    match shown {
        Shown::Words(text) => WirePart::Text(SignedText { text, thought_signature: None }),
        Shown::Picture(picture) => WirePart::Image(inline(picture)),
    }
}

fn inline(picture: Picture<'_>) -> InlineImage<'_> {
    InlineImage { inline_data: Blob { mime_type: picture.media_type(), data: picture.base64() } }
}

fn word<'a>(seal: &'a Value, key: &str) -> Option<&'a str> {
    seal.get(key).and_then(Value::as_str)
}

fn declaration(tool: &ToolSpec, schema: Schema) -> Value {
    let (key, parameters) = match schema {
        Schema::Json => ("parametersJsonSchema", tool.parameters.clone()),
        Schema::Old => ("parameters", old_form(&tool.parameters)),
    };
    let has_none =
        tool.parameters.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    let mut declaration = Map::from_iter([
        ("name".to_owned(), json!(tool.name)),
        ("description".to_owned(), json!(tool.description)),
    ]);
    if !has_none {
        declaration.insert(key.to_owned(), parameters);
    }
    Value::Object(declaration)
}

/// Returns a schema in the older form: what it has no word for is left out, and of several types
/// the first that is not null counts.
fn old_form(schema: &Value) -> Value {
    let Some(schema) = schema.as_object() else { return schema.clone() };
    let mut old = Map::new();
    for (key, value) in schema.iter().filter(|(key, _)| OLD_KEYS.contains(&key.as_str())) {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.iter().map(|(name, inner)| (name.clone(), old_form(inner))).collect()
            }
            ("items", inner) => old_form(inner),
            ("anyOf", Value::Array(list)) => list.iter().map(old_form).collect(),
            ("type", Value::Array(types)) => {
                if types.iter().any(|kind| kind == "null") {
                    old.insert("nullable".to_owned(), true.into());
                }
                types.iter().find(|kind| *kind != "null").cloned().unwrap_or_default()
            }
            (_, value) => value.clone(),
        };
        old.insert(key.clone(), value);
    }
    Value::Object(old)
}

#[cfg(test)]
mod tests;
