//! The body of a `generateContent` request.
//!
//! In: a request and the options of profile and server. Out: JSON bytes whose keys always come in
//! one order with the conversation last. Parts that were signed go back with their signature; calls
//! that another model made go with a word that lets them pass. It sends nothing.

use std::slice;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::ModelRequest;
use crate::gemini::{LITTLE_THINKING, NO_THINKING, OLD_SCHEMA, UNSIGNED, thinking};
use crate::profile::Effort;
use crate::transport::images::{Base64, EncodedImage, SentImage, sent_images};
use crate::transport::json::CallArguments;
use crate::transport::parts::{ReplyPart, reply_parts};
use crate::transport::protocol::RequestOptions;
use locum_base::chat::{Message, ToolCall, ToolResult, ToolSpec};
use locum_base::image::ImageKind;

/// Replaces the signature of a call that this model did not make (Gemini API, "Thought signatures":
/// calls carried over from elsewhere).
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

/// How hard to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum GeminiThinking {
    /// In a word.
    #[serde(rename = "thinkingLevel")]
    Level(&'static str),
    /// As a number of tokens.
    #[serde(rename = "thinkingBudget")]
    Budget(u32),
}

/// Returns the body of a request.
///
/// # Errors
/// When a tool's schema cannot be written as JSON.
pub(super) fn render_body(
    request: &ModelRequest<'_>,
    mut options: RequestOptions<'_>,
    generation: u32,
) -> Result<Vec<u8>, serde_json::Error> {
    if options.has(UNSIGNED) {
        options.by = "";
    }
    let declarations: Vec<Value> =
        request.tools.iter().map(|tool| declaration(tool, options.has(OLD_SCHEMA))).collect();
    let by_effort = options.effort.map(|effort| {
        thinking(if options.has(LITTLE_THINKING) { Effort::Low } else { effort }, generation)
    });
    let thinks = options.thinking_tokens.map(GeminiThinking::Budget).or(by_effort);
    let thinks = thinks.filter(|_| !options.has(NO_THINKING));
    let config = GenerationConfig {
        temperature: options.temperature,
        max_output_tokens: options.max_output_tokens,
        thinking_config: thinks.map(|how| GeminiThinkingConfig {
            how,
            include_thoughts: how != GeminiThinking::Budget(0),
        }),
        response_modalities: request.picture.map(|_| ["TEXT", "IMAGE"]),
    };
    let mut contents = contents(request.messages, options, generation);
    if let (Some(last), Some(from)) =
        (contents.last_mut(), request.picture.and_then(|picture| picture.from))
    {
        last.parts.extend(sent_images(slice::from_ref(from), &ImageKind::ALL).map(image_part));
    }
    serde_json::to_vec(&GeminiBody {
        generation_config: Some(config).filter(|config| *config != GenerationConfig::default()),
        tools: if declarations.is_empty() {
            Vec::new()
        } else {
            vec![ToolDeclarations { function_declarations: declarations }]
        },
        system_instruction: Some(request.system)
            .filter(|system| !system.is_empty())
            .map(|text| SystemInstruction { parts: [SystemText { text }] }),
        contents,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<GenerationConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolDeclarations>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    contents: Vec<GeminiContent<'a>>,
}

#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<GeminiThinkingConfig>,
    /// What a reply may hold besides words (Gemini API, "Image generation").
    #[serde(skip_serializing_if = "Option::is_none")]
    response_modalities: Option<[&'static str; 2]>,
}

#[derive(PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiThinkingConfig {
    #[serde(flatten)]
    how: GeminiThinking,
    include_thoughts: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolDeclarations {
    function_declarations: Vec<Value>,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: [SystemText<'a>; 1],
}

#[derive(Serialize)]
struct SystemText<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    role: &'static str,
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum GeminiPart<'a> {
    Own(&'a Value),
    Known(SignedPart<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedPart<'a> {
    #[serde(flatten)]
    content: PartContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum PartContent<'a> {
    Text(&'a str),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
    InlineData(InlineBytes<'a>),
}

impl<'a> PartContent<'a> {
    fn signed(self, thought_signature: Option<&'a str>) -> GeminiPart<'a> {
        GeminiPart::Known(SignedPart { content: self, thought_signature })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineBytes<'a> {
    mime_type: &'static str,
    data: Base64<'a>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    args: CallArguments<'a>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    name: &'a str,
    response: ResponseOutcome<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartContent<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ResponseOutcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// Returns the conversation as contents whose roles alternate. Since the third generation a call
/// without a signature is refused.
fn contents<'a>(
    messages: &'a [Message],
    options: RequestOptions<'_>,
    generation: u32,
) -> Vec<GeminiContent<'a>> {
    let mut contents: Vec<GeminiContent<'a>> = Vec::with_capacity(messages.len());
    // The calls of the last reply, each with the provider's own id where it gave one.
    let mut asked: Vec<(&ToolCall, Option<&str>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            Message::User { text } => ("user", vec![PartContent::Text(text).signed(None)]),
            Message::Images { images } => {
                ("user", sent_images(images, options.images).map(image_part).collect())
            }
            Message::Assistant { text, calls, opaque, .. } => {
                let parts = reply_parts(text, calls, opaque.as_ref(), options.by);
                asked = parts
                    .iter()
                    .filter_map(|part| {
                        if let ReplyPart::Call(call, seal) = part {
                            Some((*call, word(seal, "id")))
                        } else {
                            None
                        }
                    })
                    .collect();
                let is_own = opaque.as_ref().is_some_and(|opaque| opaque.by == options.by);
                ("model", model_parts(parts, generation >= 3 && !is_own))
            }
            Message::Tool { results } => {
                ("user", answers(results, &asked, options.images, generation))
            }
        };
        match contents.last_mut() {
            Some(last) if last.role == role => last.parts.extend(parts),
            Some(_) | None => contents.push(GeminiContent { role, parts }),
        }
    }
    contents
}

fn model_parts<'a>(parts: Vec<ReplyPart<'a>>, mut wants_signature: bool) -> Vec<GeminiPart<'a>> {
    let mut wire: Vec<GeminiPart<'a>> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            ReplyPart::Own(own) => wire.push(GeminiPart::Own(own)),
            ReplyPart::Text(text, seal) => {
                let thought_signature = word(seal, "thoughtSignature");
                if !text.is_empty() || thought_signature.is_some() {
                    wire.push(PartContent::Text(text).signed(thought_signature));
                }
            }
            ReplyPart::Call(call, seal) => {
                let carried = std::mem::take(&mut wants_signature).then_some(NOT_SIGNED_HERE);
                let name = if call.name.is_empty() { "unnamed" } else { call.name.as_str() };
                let args = CallArguments::new(&call.arguments);
                let call = FunctionCall { id: word(seal, "id"), name, args };
                let signature = word(seal, "thoughtSignature").or(carried);
                wire.push(PartContent::FunctionCall(call).signed(signature));
            }
        }
    }
    if wire.is_empty() {
        wire.push(PartContent::Text("(nothing was said)").signed(None));
    }
    wire
}

/// Returns the answers to calls; what of their images does not stand in them, as in generations
/// before the third, follows them.
fn answers<'a>(
    results: &'a [ToolResult],
    asked: &[(&'a ToolCall, Option<&'a str>)],
    kinds: &'static [ImageKind],
    generation: u32,
) -> Vec<GeminiPart<'a>> {
    let (mut parts, mut beside) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        let mut inside = Vec::new();
        for shown in sent_images(&result.images, kinds) {
            match shown {
                SentImage::Image(picture) if generation >= 3 => inside.push(inline(picture)),
                SentImage::Note(_) | SentImage::Image(_) => beside.push(image_part(shown)),
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
    parts: Vec<PartContent<'a>>,
) -> GeminiPart<'a> {
    let found = asked.iter().find(|(call, _)| call.id == result.call_id);
    let name = found
        .map(|(call, _)| call.name.as_str())
        .filter(|name| !name.is_empty())
        .unwrap_or("unnamed");
    let response = if result.is_error {
        ResponseOutcome::Error(&result.text)
    } else {
        ResponseOutcome::Output(&result.text)
    };
    let id = found.and_then(|(_, id)| *id);
    PartContent::FunctionResponse(FunctionResponse { id, name, response, parts }).signed(None)
}

fn image_part(shown: SentImage<'_>) -> GeminiPart<'_> {
    let content = match shown {
        SentImage::Note(text) => PartContent::Text(text),
        SentImage::Image(picture) => inline(picture),
    };
    content.signed(None)
}

fn inline(picture: EncodedImage<'_>) -> PartContent<'_> {
    PartContent::InlineData(InlineBytes {
        mime_type: picture.kind.media_type(),
        data: Base64(picture.bytes),
    })
}

fn word<'a>(seal: &'a Value, key: &str) -> Option<&'a str> {
    seal.get(key).and_then(Value::as_str)
}

fn declaration(tool: &ToolSpec, is_old: bool) -> Value {
    let (key, parameters) = if is_old {
        ("parameters", old_form(&tool.parameters))
    } else {
        ("parametersJsonSchema", tool.parameters.clone())
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
