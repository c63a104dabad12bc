//! Bodies of Messages requests.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{BARE_THINKING, LATE_INPUT, PLAIN, RequestOptions, UNCACHED, render_body};
use crate::ModelRequest;
use crate::profile::Effort;
use locum_base::chat::{Message, OpaquePart, OpaqueState, ToolCall, ToolResult, ToolSpec};
use locum_base::image::{Image, ImageKind};
use locum_testing::images::{answer, png};

const OPTIONS: RequestOptions<'static> = RequestOptions {
    model: "m",
    by: "me",
    temperature: None,
    max_output_tokens: Some(9000),
    effort: None,
    thinking_tokens: None,
    images: &[],
    dialect: UNCACHED | LATE_INPUT | BARE_THINKING,
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

fn body(messages: &[Message], options: RequestOptions<'_>) -> Value {
    serde_json::from_str(&written(messages, options)).unwrap()
}

fn user(text: &str) -> Message {
    Message::User { text: text.into() }
}

fn called(calls: &[(&str, &str)], opaque: Option<OpaqueState>) -> Message {
    let call = |(id, arguments): &(&str, &str)| ToolCall {
        id: (*id).into(),
        name: "read_file".into(),
        arguments: (*arguments).into(),
    };
    Message::Assistant {
        text: String::new(),
        reasoning: "hm".into(),
        calls: calls.iter().map(call).collect(),
        opaque,
    }
}

fn answered(ids: &[&str]) -> Message {
    let result = |id: &&str| ToolResult {
        call_id: (*id).into(),
        text: format!("result {id}"),
        ..ToolResult::default()
    };
    Message::Tool { results: ids.iter().map(result).collect() }
}

fn thought(by: &str) -> Option<OpaqueState> {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
    Some(OpaqueState {
        by: by.into(),
        parts: vec![OpaquePart::Own(thinking), OpaquePart::Call { seal: Value::Null }],
    })
}

#[test]
fn images_stand_in_the_answer() {
    let messages =
        [user("go"), called(&[("a", "{}")], None), Message::Tool { results: vec![answer("a")] }];
    let seen = written(&messages, RequestOptions { images: &ImageKind::ALL, ..OPTIONS });
    let expected = concat!(
        r#""content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"File: a"},"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}},"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAgADAAAAAAA="}},"#,
        r#"{"type":"text","text":"(An image stood here that is gone. Look at it again to see it.)"}]}]"#,
    );
    assert!(seen.contains(expected), "{seen}");
    let unseen = written(&messages, OPTIONS);
    assert!(
        unseen.contains(
            r#"{"type":"text","text":"(An image stands here that this model cannot be shown.)"}"#
        ) && !unseen.contains("iVBOR"),
        "{unseen}"
    );
}

#[test]
fn has_one_shape() {
    let messages = [
        user("go"),
        called(&[("a", r#"{"path":"x","line":1.0}"#), ("b", "{ broken")], None),
        Message::Tool {
            results: vec![
                ToolResult {
                    call_id: "a".into(),
                    text: "result a".into(),
                    ..ToolResult::default()
                },
                ToolResult {
                    call_id: "b".into(),
                    text: String::new(),
                    is_error: true,
                    ..ToolResult::default()
                },
            ],
        },
        user("hurry"),
    ];
    assert_eq!(
        written(
            &messages,
            RequestOptions { dialect: BARE_THINKING, temperature: Some(0.5), ..OPTIONS }
        ),
        concat!(
            r#"{"model":"m","max_tokens":9000,"stream":true,"temperature":0.5,"#,
            r#""tools":[{"name":"read_file","description":"reads","input_schema":{"type":"object"},"eager_input_streaming":true}],"#,
            r#""system":[{"type":"text","text":"be brief","cache_control":{"type":"ephemeral"}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read_file","input":{"path":"x","line":1.0}},"#,
            r#"{"type":"tool_use","id":"b","name":"read_file","input":{"not_an_object":"{ broken"}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"result a"},"#,
            r#"{"type":"tool_result","tool_use_id":"b","is_error":true},"#,
            r#"{"type":"text","text":"hurry","cache_control":{"type":"ephemeral"}}]}]}"#,
        )
    );
}

#[test]
fn the_cache_is_asked_for_what_the_request_before_wrote() {
    let mut messages = vec![user("go")];
    let marked = |messages: &[Message]| -> Vec<usize> {
        let body = body(messages, RequestOptions { dialect: LATE_INPUT, ..OPTIONS });
        let has = |message: &Value| {
            message["content"]
                .as_array()
                .unwrap()
                .iter()
                .any(|block| block.get("cache_control").is_some())
        };
        body["messages"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .filter(|(_, message)| has(message))
            .map(|(at, _)| at)
            .collect()
    };
    let mut before = marked(&messages);
    for turn in 0..5 {
        let id = format!("c{turn}");
        messages.extend([called(&[(&id, "{}")], None), answered(&[&id])]);
        let now = marked(&messages);
        assert!(
            now.len() <= 3 && before.last().is_some_and(|last| now.contains(last)),
            "{before:?} {now:?}"
        );
        before = now;
    }
}

/// What a server's cache does with requests: an entry is written at every mark, and from every
/// mark it looks for one at most 20 blocks back (Claude API, "Prompt caching"). Returns how
/// many blocks of the conversation each request found there.
fn found_in_cache(requests: &[Value]) -> Vec<usize> {
    const LOOK_BACK: usize = 20;
    let mut entries: Vec<Vec<Value>> = Vec::new();
    let mut found = Vec::new();
    for request in requests {
        let blocks: Vec<&Value> = request["messages"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap())
            .collect();
        let plain = |block: &Value| {
            let mut block = block.clone();
            block.as_object_mut().unwrap().remove("cache_control");
            block
        };
        let bare: Vec<Value> = blocks.iter().map(|block| plain(block)).collect();
        let marks: Vec<usize> = (1..=blocks.len())
            .filter(|end| blocks[end - 1].get("cache_control").is_some())
            .collect();
        assert!(
            marks.len() <= 3,
            "one more stands on the system prompt, and there are four: {marks:?}"
        );
        let looked = marks.iter().flat_map(|end| end.saturating_sub(LOOK_BACK)..=*end).rev();
        found.push(
            looked
                .filter(|end| entries.iter().any(|entry| *entry == bare[..*end]))
                .max()
                .unwrap_or(0),
        );
        entries.extend(marks.iter().map(|end| bare[..*end].to_vec()));
    }
    found
}

#[test]
fn many_calls_in_one_reply_do_not_hide_what_is_cached() {
    let mut messages = vec![user("go")];
    let (mut requests, mut ends) = (Vec::new(), Vec::new());
    for (turn, calls) in [1, 30, 2, 40, 40, 1, 30].into_iter().enumerate() {
        let options = RequestOptions { dialect: LATE_INPUT, ..OPTIONS };
        requests.push(body(&messages, options));
        ends.push(
            requests[turn]["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| message["content"].as_array().unwrap().len())
                .sum(),
        );
        let ids: Vec<String> = (0..calls).map(|at| format!("c{turn}-{at}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let pairs: Vec<(&str, &str)> = ids.iter().map(|id| (*id, "{}")).collect();
        messages.extend([called(&pairs, None), answered(&ids)]);
        if turn == 3 {
            messages.push(user("and this"));
        }
    }
    let before: Vec<usize> =
        std::iter::once(0).chain(ends[..ends.len() - 1].iter().copied()).collect();
    assert_eq!(
        found_in_cache(&requests),
        before,
        "each request finds all that the one before it held"
    );
}

#[test]
fn thinking_is_returned_unchanged_to_its_own_model_and_to_no_other() {
    let options = RequestOptions { effort: Some(Effort::High), temperature: Some(0.5), ..OPTIONS };
    let messages = |by: &str| [user("go"), called(&[("a", "{}")], thought(by)), answered(&["a"])];
    let own = body(&messages("me"), options);
    assert_eq!(
        own["messages"][1]["content"][0],
        json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" })
    );
    assert_eq!(
        (&own["thinking"], own.get("temperature")),
        (&json!({ "type": "enabled", "budget_tokens": 7976 }), None)
    );
    let other = body(&messages("another"), options);
    assert_eq!(other["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(other.get("thinking"), None, "a model cannot think on where another began");
    let again = [messages("another").as_slice(), &[user("more")]].concat();
    assert_eq!(
        body(&again, options).get("thinking"),
        None,
        "what is said with the answers begins nothing new"
    );
    let anew = [messages("another").as_slice(), &[called(&[], None), user("more")]].concat();
    assert!(body(&anew, options).get("thinking").is_some());
    let plain =
        body(&messages("me"), RequestOptions { dialect: PLAIN | options.dialect, ..options });
    assert_eq!(plain["messages"][1]["content"][0]["type"], "tool_use");
}

#[test]
fn thinks_as_hard_as_it_is_told() {
    let body = |model, effort, limit_tokens| {
        let max_output_tokens = Some(limit_tokens);
        body(&[user("go")], RequestOptions { model, effort, max_output_tokens, ..OPTIONS })
    };
    let adaptive = |model, effort| body(model, effort, 9000);
    let high = adaptive("claude-sonnet-5", Some(Effort::High));
    assert_eq!(high["thinking"], json!({ "type": "adaptive" }));
    let longest = adaptive("claude-sonnet-5", Some(Effort::Xhigh));
    assert_eq!(longest["output_config"], json!({ "effort": "xhigh" }));
    assert_eq!(
        (
            adaptive("claude-opus-5-5", None).get("output_config"),
            &adaptive("claude-opus-5-5", Some(Effort::None))["output_config"]
        ),
        (None, &json!({ "effort": "low" }))
    );
    assert_eq!(body("m", Some(Effort::Low), 9000)["thinking"]["budget_tokens"], 4096);
    assert_eq!(
        body("m", Some(Effort::High), 2000).get("thinking"),
        None,
        "there is no room for thoughts and words"
    );
    assert_eq!(
        (
            body("m", None, 9000).get("thinking"),
            &body("claude-sonnet-5", Some(Effort::None), 9000)["thinking"]
        ),
        (None, &json!({ "type": "disabled" }))
    );
}

#[test]
fn thoughts_are_asked_for_in_words_and_may_be_dropped_where_they_are_bound() {
    let thinking = |model| {
        let dialect = UNCACHED | LATE_INPUT;
        let options = RequestOptions { model, effort: Some(Effort::High), dialect, ..OPTIONS };
        written(&[user("go")], options)
    };
    assert!(
        thinking("claude-sonnet-5")
            .contains(r#""thinking":{"type":"adaptive","display":"summarized"},"#)
    );
    let bound = r#""thinking":{"type":"adaptive","display":"summarized","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"#;
    assert!(thinking("claude-opus-5-5").contains(bound));
}

#[test]
fn a_number_of_tokens_to_think_leaves_room_for_words() {
    let thinking = |tokens, most| {
        let model = "claude-opus-4-5";
        let options = RequestOptions { model, thinking_tokens: Some(tokens), ..OPTIONS };
        written(&[user("go")], RequestOptions { max_output_tokens: most, ..options })
    };
    let asked = |tokens| format!(r#""thinking":{{"type":"enabled","budget_tokens":{tokens}}},"#);
    assert!(thinking(9000, Some(32_000)).contains(&asked(9000)));
    assert!(thinking(9000, Some(8000)).contains(&asked(8000 - 1024)));
}

#[test]
fn names_of_calls_are_fitting_and_none_comes_twice() {
    let messages = [
        user("go"),
        called(&[("a:1", "{}"), ("b", "{}")], None),
        answered(&["a:1", "b"]),
        called(&[("b", "{}")], None),
        answered(&["b"]),
    ];
    let body = body(&messages, OPTIONS);
    let ids = |at: usize, key: &str| -> Vec<String> {
        body["messages"][at]["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block[key].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        (ids(1, "id"), ids(2, "tool_use_id")),
        (vec!["a_1".into(), "b".into()], vec!["a_1".into(), "b".into()])
    );
    assert_eq!(
        (ids(3, "id"), ids(4, "tool_use_id")),
        (vec!["b_2".to_owned()], vec!["b_2".to_owned()])
    );
}

#[test]
fn nothing_is_sent_empty() {
    let silent = Message::Assistant {
        text: " \n".into(),
        reasoning: String::new(),
        calls: vec![],
        opaque: None,
    };
    let body = body(&[user(""), silent, user("on")], OPTIONS);
    assert_eq!(body["messages"][0]["content"][0]["text"], "(nothing was said)");
    assert_eq!(body["messages"][1]["content"][0]["text"], "(nothing was said)");
}

#[test]
fn a_longer_conversation_begins_with_the_shorter_one() {
    let messages = [
        user("go"),
        called(&[("a", "{}")], thought("me")),
        answered(&["a"]),
        called(&[("b", "{}")], None),
        answered(&["b"]),
    ];
    let shorter = written(&messages[..3], OPTIONS);
    assert!(written(&messages, OPTIONS).starts_with(shorter.strip_suffix("]}").unwrap()));
}

#[test]
fn images_that_come_with_words_stand_beside_them() {
    let image = Image::parse(&png(2, 3)).unwrap();
    let messages = [Message::User { text: "look".into() }, Message::Images { images: vec![image] }];
    let sent = |images| body(&messages, RequestOptions { images, ..OPTIONS })["messages"].clone();
    let source = json!({ "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=" });
    let text = json!({ "type": "text", "text": "look" });
    let image = json!({ "type": "image", "source": source });
    assert_eq!(sent(&ImageKind::ALL), json!([{ "role": "user", "content": [text, image] }]));
    let note = sent(&[])[0]["content"][1]["text"].to_string();
    assert!(note.contains("cannot be shown"), "{note}");
}
