//! Bodies of Responses requests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{NO_ENCRYPTED, RequestOptions, render_body};
use crate::ModelRequest;
use crate::profile::Effort;
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
    let tools = [ToolSpec {
        name: "read_file".into(),
        description: "reads".into(),
        parameters: json!({ "type": "object" }),
    }];
    let request =
        ModelRequest { system: "be brief", tools: &tools, ..ModelRequest::with(messages) };
    String::from_utf8(render_body(&request, options).unwrap()).unwrap()
}

fn conversation(by: &str) -> Vec<Message> {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3BhcXVl" });
    let parts = vec![
        OpaquePart::Own(reasoning),
        OpaquePart::Text { bytes: 2, seal: json!({ "phase": "commentary" }) },
        OpaquePart::Call { seal: Value::Null },
        OpaquePart::Call { seal: Value::Null },
    ];
    vec![
        Message::User { text: "go".into() },
        Message::Assistant {
            text: "so".into(),
            reasoning: "hm".into(),
            calls: vec![call("a", r#"{ "path": 1 }"#), call("b", "{ broken")],
            opaque: Some(OpaqueState { by: by.into(), parts }),
        },
        Message::Tool {
            results: ["a", "b"]
                .map(|id| ToolResult {
                    call_id: id.into(),
                    text: format!("result {id}"),
                    ..ToolResult::default()
                })
                .to_vec(),
        },
    ]
}

#[test]
fn images_stand_in_the_answer() {
    let mut messages = conversation("me");
    messages[2] = Message::Tool { results: vec![answer("a"), answer("b")] };
    let seen = written(&messages, RequestOptions { images: &ImageKind::ALL, ..OPTIONS });
    let expected = concat!(
        r#"{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"File: a"},"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="},"#,
        r#"{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlhAgADAAAAAAA="},"#,
        r#"{"type":"input_text","text":"(An image stood here that is gone. Look at it again to see it.)"}]},"#,
    );
    assert!(seen.contains(expected), "{seen}");
    let unseen = written(&messages, OPTIONS);
    assert!(
        unseen.contains("(An image stands here that this model cannot be shown.)")
            && !unseen.contains("iVBOR"),
        "{unseen}"
    );
}

#[test]
fn has_one_shape() {
    assert_eq!(
        written(
            &conversation("me"),
            RequestOptions { effort: Some(Effort::High), max_output_tokens: Some(9), ..OPTIONS }
        ),
        concat!(
            r#"{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":9,"#,
            r#""reasoning":{"effort":"high"},"#,
            r#""tools":[{"type":"function","name":"read_file","description":"reads","parameters":{"type":"object"},"strict":false}],"#,
            r#""instructions":"be brief","#,
            r#""input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]},"#,
            r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"b3BhcXVl"},"#,
            r#"{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"so"}]},"#,
            r#"{"type":"function_call","call_id":"a","name":"read_file","arguments":"{ \"path\": 1 }"},"#,
            r#"{"type":"function_call","call_id":"b","name":"read_file","arguments":"{\"not_an_object\":\"{ broken\"}"},"#,
            r#"{"type":"function_call_output","call_id":"a","output":"result a"},"#,
            r#"{"type":"function_call_output","call_id":"b","output":"result b"}]}"#,
        )
    );
}

#[test]
fn reasoning_goes_back_to_its_own_model_alone() {
    for body in [
        written(&conversation("another"), OPTIONS),
        written(&conversation("me"), RequestOptions { dialect: NO_ENCRYPTED, ..OPTIONS }),
    ] {
        assert!(
            !body.contains("b3BhcXVl")
                && !body.contains("commentary")
                && body.contains(r#""text":"so""#),
            "{body}"
        );
    }
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
    let expected = r#"{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}]}"#;
    assert!(sent(&ImageKind::ALL).contains(expected), "{}", sent(&ImageKind::ALL));
    assert!(sent(&[]).contains("cannot be shown"), "{}", sent(&[]));
}

#[test]
fn what_a_model_invented_goes_back_in_a_form_that_is_taken() {
    let (fits, longer) = ("a".repeat(64), "a".repeat(65));
    let mut messages = conversation("another");
    if let Message::Assistant { calls, .. } = &mut messages[1] {
        calls[0] = ToolCall {
            id: longer.clone(),
            name: "multi_tool_use.parallel".into(),
            arguments: "{}".into(),
        };
        calls[1] = ToolCall { id: fits.clone(), name: String::new(), arguments: "{}".into() };
    }
    if let Message::Tool { results } = &mut messages[2] {
        (results[0].call_id, results[1].call_id) = (longer, fits.clone());
    }
    let body: Value = serde_json::from_str(&written(&messages, OPTIONS)).unwrap();
    let sent = |at: usize, key: &str| body["input"][at][key].as_str().unwrap();
    assert_eq!((sent(2, "name"), sent(3, "name")), ("multi_tool_use_parallel", "unnamed"));
    assert!(sent(2, "call_id").len() <= 64, "{body}");
    assert_eq!(sent(3, "call_id"), fits);
    for at in [2, 3] {
        assert_eq!(sent(at, "call_id"), sent(at + 2, "call_id"), "{body}");
    }
}
