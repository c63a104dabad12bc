//! Bodies of `generateContent` requests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{Effort, NO_THINKING, OLD_SCHEMA, RequestOptions, UNSIGNED, old_form, render_body};
use crate::ModelRequest;
use locum_base::chat::{Message, OpaquePart, OpaqueState, ToolCall, ToolResult, ToolSpec};
use locum_base::image::{Image, ImageKind};
use locum_testing::images::{answer, png};

const OPTIONS: RequestOptions<'static> = RequestOptions {
    model: "m",
    by: "me",
    temperature: None,
    max_output_tokens: None,
    effort: None,
    thinking_tokens: None,
    images: &[],
    dialect: 0,
    stream: true,
};

fn written(messages: &[Message], options: RequestOptions<'_>) -> String {
    written_for(3, messages, options)
}

fn written_for(generation: u32, messages: &[Message], options: RequestOptions<'_>) -> String {
    let parameters = json!({ "type": "object", "additionalProperties": false, "properties": { "path": { "type": ["string", "null"] } } });
    let tools = [ToolSpec { name: "read_file".into(), description: "reads".into(), parameters }];
    let request =
        ModelRequest { system: "be brief", tools: &tools, ..ModelRequest::with(messages) };
    String::from_utf8(render_body(&request, options, generation).unwrap()).unwrap()
}

fn conversation(by: &str) -> Vec<Message> {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    let parts = vec![
        OpaquePart::Text { bytes: 2, seal: Value::Null },
        OpaquePart::Call { seal: json!({ "id": "fc", "thoughtSignature": "c2ln" }) },
        OpaquePart::Call { seal: Value::Null },
    ];
    let results = [("a", false), ("b", true)].map(|(id, is_error)| ToolResult {
        call_id: id.into(),
        text: format!("result {id}"),
        is_error,
        ..ToolResult::default()
    });
    vec![
        Message::User { text: "go".into() },
        Message::Assistant {
            text: "so".into(),
            reasoning: "hm".into(),
            calls: vec![call("a", r#"{"path":"x"}"#), call("b", "{ broken")],
            opaque: Some(OpaqueState { by: by.into(), parts }),
        },
        Message::Tool { results: results.to_vec() },
        Message::User { text: "on".into() },
    ]
}

#[test]
fn images_stand_in_the_answer_or_beside_it() {
    const SEEING: RequestOptions<'static> = RequestOptions { images: &[ImageKind::Png], ..OPTIONS };
    let mut messages = conversation("me");
    messages[2] = Message::Tool { results: vec![answer("a")] };
    let image = r#"{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}}"#;
    let words = r#"{"text":"(An image stands here that this model cannot be shown.)"},{"text":"(An image stood here that is gone. Look at it again to see it.)"}"#;
    let answered =
        r#"{"functionResponse":{"id":"fc","name":"read_file","response":{"output":"File: a"}"#;
    let inside = written(&messages, SEEING);
    assert!(
        inside.contains(&[answered, r#","parts":["#, image, "]}},", words].concat()),
        "{inside}"
    );
    let beside = written_for(2, &messages, SEEING);
    assert!(beside.contains(&[answered, "}},", image, ",", words].concat()), "{beside}");
    let unseen = written(&messages, OPTIONS);
    assert!(
        unseen.contains("(An image stands here that this model cannot be shown.)")
            && !unseen.contains("iVBOR"),
        "{unseen}"
    );
}

#[test]
fn has_one_shape() {
    let options = RequestOptions {
        effort: Some(Effort::Low),
        temperature: Some(0.5),
        max_output_tokens: Some(9),
        ..OPTIONS
    };
    assert_eq!(
        written(&conversation("me"), options),
        concat!(
            r#"{"generationConfig":{"temperature":0.5,"maxOutputTokens":9,"thinkingConfig":{"thinkingLevel":"low","includeThoughts":true}},"#,
            r#""tools":[{"functionDeclarations":[{"name":"read_file","description":"reads","#,
            r#""parametersJsonSchema":{"type":"object","additionalProperties":false,"properties":{"path":{"type":["string","null"]}}}}]}],"#,
            r#""systemInstruction":{"parts":[{"text":"be brief"}]},"#,
            r#""contents":[{"role":"user","parts":[{"text":"go"}]},"#,
            r#"{"role":"model","parts":[{"text":"so"},"#,
            r#"{"functionCall":{"id":"fc","name":"read_file","args":{"path":"x"}},"thoughtSignature":"c2ln"},"#,
            r#"{"functionCall":{"name":"read_file","args":{"not_an_object":"{ broken"}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"fc","name":"read_file","response":{"output":"result a"}}},"#,
            r#"{"functionResponse":{"name":"read_file","response":{"error":"result b"}}},{"text":"on"}]}]}"#,
        )
    );
}

#[test]
fn calls_of_another_model_pass_without_its_signature() {
    let signatures = |body: &str| -> Vec<Value> {
        let body: Value = serde_json::from_str(body).unwrap();
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        parts
            .iter()
            .filter(|part| part.get("functionCall").is_some())
            .map(|part| part["thoughtSignature"].clone())
            .collect()
    };
    let carried = [json!("skip_thought_signature_validator"), Value::Null];
    assert_eq!(signatures(&written(&conversation("another"), OPTIONS)), carried);
    assert_eq!(
        signatures(&written(&conversation("me"), RequestOptions { dialect: UNSIGNED, ..OPTIONS })),
        carried
    );
    assert_eq!(
        signatures(&written_for(2, &conversation("another"), OPTIONS)),
        [Value::Null, Value::Null]
    );
}

#[test]
fn the_older_form_says_what_it_can() {
    let schema = json!({ "type": "object", "$schema": "x", "additionalProperties": false, "properties": {
        "path": { "type": ["string", "null"], "description": "where" },
        "lines": { "type": "array", "items": { "type": "integer", "exclusiveMinimum": 0 } } } });
    assert_eq!(
        old_form(&schema),
        json!({ "type": "object", "properties": {
            "path": { "nullable": true, "type": "string", "description": "where" },
            "lines": { "type": "array", "items": { "type": "integer" } } } })
    );
    assert!(
        written(&conversation("me"), RequestOptions { dialect: OLD_SCHEMA, ..OPTIONS })
            .contains(r#""parameters":{"type":"object","properties""#)
    );
}

#[test]
fn a_longer_conversation_begins_with_the_shorter_one() {
    let messages = conversation("me");
    let shorter = written(&messages[..1], OPTIONS);
    assert!(written(&messages, OPTIONS).starts_with(shorter.strip_suffix("]}").unwrap()));
}

#[test]
fn images_that_come_with_words_stand_beside_them() {
    let image = Image::parse(&png(2, 3)).unwrap();
    let messages = [Message::User { text: "look".into() }, Message::Images { images: vec![image] }];
    let sent = |images| written(&messages, RequestOptions { images, ..OPTIONS });
    let expected = concat!(
        r#"[{"role":"user","parts":[{"text":"look"},"#,
        r#"{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}}]}]"#,
    );
    assert!(sent(&ImageKind::ALL).contains(expected), "{}", sent(&ImageKind::ALL));
    assert!(sent(&[]).contains("cannot be shown"), "{}", sent(&[]));
}

#[test]
fn a_number_of_tokens_to_think_is_sent_as_it_is() {
    let options = RequestOptions { thinking_tokens: Some(9000), ..OPTIONS };
    let sent = |dialect| {
        written_for(
            2,
            &[Message::User { text: "go".into() }],
            RequestOptions { dialect, ..options },
        )
    };
    assert!(sent(0).contains(r#""thinkingBudget":9000"#), "{}", sent(0));
    assert!(!sent(NO_THINKING).contains("thinkingBudget"));
}
