//! Messages in the shape of Anthropic's Messages API, which Roo Code, Kilo Code, Claude Code and
//! Kode keep their conversations in (<https://docs.claude.com/en/api/messages>).

use serde_json::{Value, json};

use locum_base::chat::{Message, ToolCall, ToolResult};
use locum_base::image::Image;
use locum_base::json;

/// Returns a message's role and content blocks.
pub(super) fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User { text } => ("user", vec![text_block(text)]),
        Message::Images { images } => ("user", images.iter().map(image_block).collect()),
        Message::Assistant { text, calls, .. } => {
            let said = (!text.is_empty() || calls.is_empty()).then(|| text_block(text));
            ("assistant", said.into_iter().chain(calls.iter().map(call_block)).collect())
        }
        Message::Tool { results } => ("user", results.iter().map(result_block).collect()),
    }
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image_block(image: &Image) -> Value {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    match image.content.bytes() {
        Some(bytes) => json!({
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.kind.media_type(),
                "data": STANDARD.encode(bytes),
            },
        }),
        None => text_block(&format!("[{image}, sha256 {}]", image.hash)),
    }
}

fn call_block(call: &ToolCall) -> Value {
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(call) })
}

/// Returns a call's arguments as an object; text that is not an object is kept under `arguments`.
pub(super) fn arguments(call: &ToolCall) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(object @ Value::Object(_)) => object,
        _ => json!({ "arguments": call.arguments }),
    }
}

fn result_block(result: &ToolResult) -> Value {
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.call_id });
    json::put(
        &mut block,
        "content",
        if result.images.is_empty() {
            Value::from(result.text.as_str())
        } else {
            let images = result.images.iter().map(image_block);
            std::iter::once(text_block(&result.text)).chain(images).collect()
        },
    );
    if result.is_error {
        json::put(&mut block, "is_error", Value::from(true));
    }
    block
}
