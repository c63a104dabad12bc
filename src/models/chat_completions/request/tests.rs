//! Bodies of Chat Completions requests, and what refusals change in them.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{
    NEWER_LIMIT, NO_EFFORT, NO_STREAM_OPTIONS, NO_TEMPERATURE, RETURNS_REASONING, RequestOptions,
    SHORT_IDS, STRICT_CALLS, UNTHINKING, render_body,
};
use crate::ModelRequest;
use crate::catalogue::{HostWays, OutputLimit};
use crate::chat_completions::{ChatCompletions, dialect};
use crate::profile::Effort;
use crate::transport::protocol::{ModelDefaults, NO_IMAGES, Protocol};
use locum_base::chat::{Message, OpaquePart, OpaqueState, ToolCall, ToolResult, ToolSpec};
use locum_base::image::{Image, ImageKind};
use locum_testing::images::{answer, png};

const OPTIONS: RequestOptions<'static> = RequestOptions {
    model: "m",
    by: "me",
    temperature: None,
    effort: None,
    thinking_tokens: None,
    max_output_tokens: None,
    images: &ImageKind::ALL,
    dialect: 0,
    stream: true,
};

fn body(messages: &[Message], tools: &[ToolSpec], options: RequestOptions<'_>) -> String {
    let request = ModelRequest { system: "be brief", tools, ..ModelRequest::with(messages) };
    String::from_utf8(render_body(&request, options).unwrap()).unwrap()
}

fn conversation() -> Vec<Message> {
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.into(),
        name: "read_file".into(),
        arguments: arguments.into(),
    };
    vec![
        Message::User { text: "go".into() },
        Message::Assistant {
            text: String::new(),
            reasoning: "hm".into(),
            calls: vec![call("a", r#"{"path":"x"}"#), call("b", "{ broken")],
            opaque: None,
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
        Message::Assistant {
            text: "so".into(),
            reasoning: String::new(),
            calls: vec![],
            opaque: None,
        },
        Message::User { text: "on".into() },
    ]
}

#[test]
fn images_follow_the_answers() {
    let mut messages = conversation();
    messages[2] = Message::Tool {
        results: vec![
            answer("a"),
            ToolResult { call_id: "b".into(), text: "b".into(), ..ToolResult::default() },
        ],
    };
    let seen = body(&messages, &[], OPTIONS);
    let expected = concat!(
        r#"{"role":"tool","tool_call_id":"a","content":"File: a"},{"role":"tool","tool_call_id":"b","content":"b"},"#,
        r#"{"role":"user","content":[{"type":"text","text":"The images of the answers above, in their order:"},"#,
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}},"#,
        r#"{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlhAgADAAAAAAA="}},"#,
        r#"{"type":"text","text":"(An image stood here that is gone. Look at it again to see it.)"}]},{"role":"assistant""#,
    );
    assert!(seen.contains(expected), "{seen}");
    let unseen = body(&messages, &[], RequestOptions { images: &[], ..OPTIONS });
    assert!(
        unseen.contains("(An image stands here that this model cannot be shown.)")
            && !unseen.contains("iVBOR"),
        "{unseen}"
    );
    let strict = body(&messages, &[], RequestOptions { dialect: STRICT_CALLS, ..OPTIONS });
    assert!(
        strict.contains(r#","content":[{"type":"text","text":"File: a"},{"type":"image_url""#)
            && !strict.contains("answers above"),
        "{strict}"
    );
}

#[test]
fn has_one_shape() {
    let tools = [ToolSpec {
        name: "read_file".into(),
        description: "reads".into(),
        parameters: json!({ "type": "object" }),
    }];
    assert_eq!(
        body(&conversation(), &tools, OPTIONS),
        concat!(
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"#,
            r#""tools":[{"type":"function","function":{"name":"read_file","description":"reads","parameters":{"type":"object"}}}],"#,
            r#""messages":[{"role":"system","content":"be brief"},{"role":"user","content":"go"},"#,
            r#"{"role":"assistant","content":null,"tool_calls":["#,
            r#"{"id":"a","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"x\"}"}},"#,
            r#"{"id":"b","type":"function","function":{"name":"read_file","arguments":"{\"not_an_object\":\"{ broken\"}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"a","content":"result a"},{"role":"tool","tool_call_id":"b","content":"result b"},"#,
            r#"{"role":"assistant","content":"so"},{"role":"user","content":"on"}]}"#,
        )
    );
}

#[test]
fn says_how_long_a_reply_may_be_in_the_servers_word() {
    let newer = NEWER_LIMIT | NO_STREAM_OPTIONS;
    let limited = RequestOptions { max_output_tokens: Some(9), ..OPTIONS };
    for (options, words) in [
        (limited, r#""max_tokens":9,"#),
        (
            RequestOptions { dialect: newer, ..limited },
            r#"{"model":"m","stream":true,"max_completion_tokens":9,"messages""#,
        ),
        (RequestOptions { temperature: Some(0.5), ..OPTIONS }, r#""temperature":0.5,"#),
    ] {
        let body = body(&conversation(), &[], options);
        assert!(body.contains(words), "{body}");
    }
}

#[test]
fn sends_reasoning_back_only_where_it_is_asked_for() {
    let with = body(&conversation(), &[], RequestOptions { dialect: RETURNS_REASONING, ..OPTIONS });
    assert!(with.contains(r#""content":null,"reasoning_content":"hm","tool_calls""#), "{with}");
    assert!(!body(&conversation(), &[], OPTIONS).contains("reasoning"));
    let mut thoughtless = conversation();
    if let Message::Assistant { reasoning, .. } = &mut thoughtless[1] {
        reasoning.clear();
    }
    let learned = RequestOptions { dialect: RETURNS_REASONING, ..OPTIONS };
    let without = body(&thoughtless, &[], learned);
    assert!(
        without.contains(r#""content":null,"reasoning_content":"","tool_calls""#),
        "a host misses it beside calls: {without}"
    );
    assert!(without.contains(r#"{"role":"assistant","content":"so"}"#), "{without}");
}

#[test]
fn what_is_known_of_a_host_is_its_first_dialect() {
    assert_eq!(dialect(&HostWays::default()), 0);
    let known = HostWays {
        output_limit: OutputLimit::MaxCompletionTokens,
        returns_reasoning: true,
        strict_calls: true,
        ..HostWays::default()
    };
    assert_eq!(dialect(&known), NEWER_LIMIT | RETURNS_REASONING | STRICT_CALLS);
}

#[test]
fn a_longer_conversation_begins_with_the_shorter_one() {
    let messages = conversation();
    let shorter = body(&messages[..3], &[], OPTIONS);
    let longer = body(&messages, &[], OPTIONS);
    assert!(longer.starts_with(shorter.strip_suffix("]}").unwrap()));
}

#[test]
fn learns_a_servers_dialect_from_its_refusals() {
    let chat = ChatCompletions(ModelDefaults::sample("m", None));
    for (status, words, learned) in [
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead.",
            Some(NEWER_LIMIT),
        ),
        (422, "body -> stream_options: Extra inputs are not permitted", Some(NO_STREAM_OPTIONS)),
        (
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model.",
            Some(NO_TEMPERATURE),
        ),
        (400, "Unrecognized request argument supplied: reasoning_effort", Some(NO_EFFORT)),
        (
            400,
            "Invalid content type. image_url is only supported by certain models.",
            Some(NO_IMAGES),
        ),
        (
            400,
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            Some(RETURNS_REASONING),
        ),
        (
            400,
            "Missing `reasoning_content` field in the assistant message at message index 2.",
            Some(RETURNS_REASONING),
        ),
        (
            400,
            "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
            Some(STRICT_CALLS),
        ),
        (400, "Unexpected role 'user' after role 'tool'", Some(STRICT_CALLS)),
        (
            400,
            "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with \
             maximum length 40, but got a string with length 46 instead.",
            Some(SHORT_IDS),
        ),
        (400, "Invalid 'messages[1].content': string too long.", None),
        (
            400,
            "Function tools with reasoning_effort are not supported for gpt-6 in \
             /v1/chat/completions. To use function tools, use /v1/responses or set \
             reasoning_effort to 'none'.",
            Some(UNTHINKING),
        ),
        (400, "max_tokens is too large: 9999", None),
        (400, "unknown model", None),
        (500, "unknown field stream_options", None),
    ] {
        assert_eq!(chat.corrected(0, status, words), learned, "{words}");
    }
    assert_eq!(chat.corrected(NEWER_LIMIT, 400, "unknown field max_completion_tokens"), Some(0));
}

#[test]
fn a_server_that_takes_tools_from_models_that_do_not_think_is_told_so() {
    let tools = [ToolSpec { name: "f".into(), description: String::new(), parameters: json!({}) }];
    let torn = RequestOptions { effort: Some(Effort::High), dialect: UNTHINKING, ..OPTIONS };
    assert!(body(&conversation(), &tools, torn).contains(r#""reasoning_effort":"none","#));
    assert!(body(&conversation(), &[], torn).contains(r#""reasoning_effort":"high","#));
    let refused_twice = RequestOptions { dialect: UNTHINKING | NO_EFFORT, ..torn };
    assert!(!body(&conversation(), &tools, refused_twice).contains("reasoning_effort"));
}

#[test]
fn what_a_gateway_hung_on_a_reply_goes_back_with_it() {
    let parts = vec![
        OpaquePart::Own(
            json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "b3BhcXVl" }] }),
        ),
        OpaquePart::Call {
            seal: json!({ "extra_content": { "google": { "thought_signature": "c2ln" } } }),
        },
    ];
    let call = ToolCall { id: "a".into(), name: "f".into(), arguments: "{}".into() };
    let opaque = |by: &str| Some(OpaqueState { by: by.into(), parts: parts.clone() });
    let reply = |by: &str| Message::Assistant {
        text: String::new(),
        reasoning: String::new(),
        calls: vec![call.clone()],
        opaque: opaque(by),
    };
    let own = body(&[reply("me")], &[], OPTIONS);
    for words in [
        r#""reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl"}]"#,
        r#""extra_content":{"google":"#,
    ] {
        assert!(own.contains(words), "{own}");
    }
    let other = body(&[reply("another")], &[], OPTIONS);
    assert!(!other.contains("b3BhcXVl") && !other.contains("c2ln"), "{other}");
}

#[test]
fn a_strict_host_gets_names_and_an_order_it_takes() {
    let mut messages = conversation();
    messages.insert(3, Message::User { text: "hurry".into() });
    let known = HostWays { strict_calls: true, ..HostWays::default() };
    let learned = RequestOptions { dialect: dialect(&known), ..OPTIONS };
    let body: Value = serde_json::from_str(&body(&messages, &[], learned)).unwrap();
    let roles: Vec<&str> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
    assert_eq!(body["messages"][4]["content"], "result b\n\nhurry");
    let id = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
    assert_eq!(body["messages"][3]["tool_call_id"], id);
    assert_ne!(body["messages"][4]["tool_call_id"], id);
}

#[test]
fn images_that_come_with_words_stand_beside_them() {
    let image = Image::parse(&png(2, 3)).unwrap();
    let messages = [Message::User { text: "look".into() }, Message::Images { images: vec![image] }];
    let sent = |images| body(&messages, &[], RequestOptions { images, ..OPTIONS });
    let expected = concat!(
        r#"{"role":"user","content":[{"type":"text","text":"look"},"#,
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA="}}]}"#,
    );
    assert!(sent(&ImageKind::ALL).contains(expected), "{}", sent(&ImageKind::ALL));
    assert!(sent(&[]).contains("cannot be shown"), "{}", sent(&[]));
}

#[test]
fn what_a_model_invented_goes_back_in_a_form_that_is_taken() {
    let vllm = |last: char| format!("chatcmpl-tool-{}{last}", "0123456789abcdef".repeat(2));
    let ids = [vllm('1'), vllm('2'), "functions.read_file:0".to_owned()];
    let names = ["multi_tool_use.parallel", "", "read_file"];
    let call = |(id, name): (&String, &str)| ToolCall {
        id: id.clone(),
        name: name.into(),
        arguments: "{}".into(),
    };
    let result = |id: &String| ToolResult { call_id: id.clone(), ..ToolResult::default() };
    let messages = [
        Message::Assistant {
            text: String::new(),
            reasoning: String::new(),
            calls: ids.iter().zip(names).map(call).collect(),
            opaque: None,
        },
        Message::Tool { results: ids.iter().map(result).collect() },
    ];
    let sent = |dialect| {
        let options = RequestOptions { dialect, ..OPTIONS };
        let body: Value = serde_json::from_str(&body(&messages, &[], options)).unwrap();
        let calls = body["messages"][1]["tool_calls"].as_array().unwrap();
        let names: Vec<&str> =
            calls.iter().map(|call| call["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["multi_tool_use_parallel", "unnamed", "read_file"]);
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        let sent: Vec<String> = calls.iter().map(|call| id(&call["id"])).collect();
        let answered: Vec<String> =
            (2..5_usize).map(|at| id(&body["messages"][at]["tool_call_id"])).collect();
        assert_eq!(answered, sent);
        sent
    };
    assert_eq!(sent(0), ids, "a server may read its own ids");
    let short = sent(SHORT_IDS);
    assert!(short.iter().all(|id| id.len() <= 40) && short[0] != short[1], "{short:?}");
    assert_eq!(short[2], ids[2], "one that fits stays");
}
