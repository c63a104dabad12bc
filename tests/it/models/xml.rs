//! Models that call tools in words, with every protocol and through the binary: described, called,
//! answered, recorded, played again.

use locum_agent::session::event::Event;
use locum_base::chat::{Message, StopReason, ToolCall, ToolResult};
use locum_models::profile::{Profile, Provider, ToolProtocol};
use locum_models::xml::write;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::models::protocol::{ALL, profile, stream, words};
use crate::models::{ask_model, model_of};
use crate::support::model_server::{Answer, ModelServer};
use crate::support::stage::Stage;

/// A reply of words, in pieces of three letters where a protocol has pieces.
fn saying(provider: Provider, text: &str) -> Answer {
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(3).map(|piece| piece.iter().collect::<String>());
    let (said, rest): (Vec<_>, Vec<_>) =
        words(provider).into_iter().partition(|event| event.contains("\"hi\""));
    let (first, last) = if provider == Provider::Openai || provider == Provider::Gemini {
        rest.split_at(0)
    } else {
        rest.split_at(1)
    };
    let quoted = |piece: String| Value::from(piece).to_string();
    let said: Vec<String> =
        pieces.map(|piece| said.first().unwrap().replace("\"hi\"", &quoted(piece))).collect();
    stream(&[first, &said, last].concat())
}

fn conversation() -> [Message; 3] {
    let call =
        ToolCall { id: "c".into(), name: "read_file".into(), arguments: r#"{"path":"a"}"#.into() };
    [
        Message::User { text: "go".into() },
        Message::Assistant {
            text: "I look.".into(),
            reasoning: String::new(),
            calls: vec![call],
            opaque: None,
        },
        Message::Tool {
            results: vec![ToolResult {
                call_id: "c".into(),
                text: "one".into(),
                ..ToolResult::default()
            }],
        },
    ]
}

#[test]
fn every_protocol_carries_calls_in_words() {
    let told = [
        "I look.\n\n<read_file>\n<path>a</path>\n</read_file>",
        "<tool_result tool=\"read_file\">\none\n</tool_result>",
    ];
    for provider in ALL {
        let mut server = ModelServer::start(vec![saying(
            provider,
            "So:\n<read_file>\n<path>b</path>\n</read_file>",
        )]);
        let model = model_of(&Profile {
            tool_protocol: Some(ToolProtocol::Xml),
            ..profile(provider, &server.base_url)
        });
        let reply = ask_model(&*model, &conversation()).0.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop), ("So:", StopReason::ToolUse), "{provider:?}");
        let call = ToolCall {
            id: "call-0-1-1".into(),
            name: "read_file".into(),
            arguments: r#"{"path":"b"}"#.into(),
        };
        assert_eq!(reply.calls, [call], "{provider:?}");
        let body = server.asked()[0].json();
        assert_eq!(body.get("tools").filter(|tools| **tools != json!([])), None, "{provider:?}");
        let tools = [locum_base::chat::ToolSpec {
            name: "read_file".into(),
            description: "reads".into(),
            parameters: json!({ "type": "object" }),
        }];
        let system = format!("be brief\n\n{}", write::section(&tools));
        let messages = match provider {
            Provider::Openai
            | Provider::Scripted
            | Provider::Bedrock
            | Provider::Vertex
            | Provider::Azure => {
                assert_eq!(body["messages"][0], json!({ "role": "system", "content": system }));
                assert_eq!(body["messages"][2]["content"], told[0]);
                assert_eq!(body["messages"][3], json!({ "role": "user", "content": told[1] }));
                body["messages"].as_array().unwrap().len() - 1
            }
            Provider::OpenaiResponses => {
                assert_eq!(body["instructions"], system);
                assert!(
                    body["input"][1].to_string().contains(&Value::from(told[0]).to_string()),
                    "{body}"
                );
                assert!(
                    body["input"][2].to_string().contains(&Value::from(told[1]).to_string()),
                    "{body}"
                );
                body["input"].as_array().unwrap().len()
            }
            Provider::Anthropic => {
                assert!(
                    body["system"].to_string().contains(&Value::from(system).to_string()),
                    "{body}"
                );
                assert_eq!(
                    body["messages"][1],
                    json!({ "role": "assistant", "content": [{ "type": "text", "text": told[0] }] })
                );
                assert_eq!(body["messages"][2]["content"][0]["text"], told[1]);
                body["messages"].as_array().unwrap().len()
            }
            Provider::Gemini => {
                assert_eq!(body["systemInstruction"]["parts"], json!([{ "text": system }]));
                assert_eq!(
                    body["contents"][1],
                    json!({ "role": "model", "parts": [{ "text": told[0] }] })
                );
                assert_eq!(
                    body["contents"][2],
                    json!({ "role": "user", "parts": [{ "text": told[1] }] })
                );
                body["contents"].as_array().unwrap().len()
            }
        };
        assert_eq!(messages, 3, "{provider:?}");
    }
}

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: \
                      [\"read(**)\", \"edit(src/**)\"]\n";
const CONFIG: &str =
    "models: { profiles: { m: { model: small, context_window: 100000, tool_protocol: xml } } }\n";

#[test]
fn a_run_whose_model_has_no_calls_of_its_own() {
    let stage = Stage::with(&[
        (".locum/policy.yml", POLICY),
        (".locum/config.yml", CONFIG),
        ("src/a.txt", "old\n"),
    ]);
    let replies = [
        "I read it first.\n\n```xml\n<read_file>\n<path>src/a.txt</path>\n</read_file>\
        \n<erase_file>\n<path>x</path>\n</erase_file>\n```",
        "<write_to_file>\n<path>src/a.txt</path>\n<content>\n<content>new</content>\n</content>\
        \n</write_to_file>\n<write_to_file>\n<path>b.txt</path>\n<content>\nx\n</content>\n</\
         write_to_file>",
        "<attempt_completion>\n<result>It is new.</result>\n</attempt_completion>",
    ];
    let mut server = ModelServer::start(replies.map(Answer::words).to_vec());
    let mut command =
        stage.locum(&["run", "make it new", "--record", "../run.cassette", "--model", "m"]);
    command
        .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
        .env("OPENAI_BASE_URL", &server.base_url);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(stage.read("checkout/src/a.txt"), "<content>new</content>\n");
    let asked = server.asked();
    let said = |request: usize| asked[request].json()["messages"].as_array().unwrap().clone();
    let (first, last) = (said(0), said(2));
    let prompt = first[0]["content"].as_str().unwrap();
    let (before, date) = prompt.split_once("; today is ").unwrap();
    let after = date.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
    insta::assert_snapshot!("prompt_in_words", format!("{before}; today is DATE{after}"));
    assert_eq!(asked[0].json().get("tools"), None);
    assert_eq!(last[..2], first[..], "what was sent stays as it was");
    let answers = last[3]["content"].as_str().unwrap();
    assert!(
        answers.contains("<tool_result tool=\"read_file\" call=\"1\">\n")
            && answers.contains("1 | old"),
        "{answers}"
    );
    assert!(
        answers.contains(
            "<tool_result tool=\"erase_file\" call=\"2\" failed=\"true\">\nUnknown tool \
             \"erase_file\"."
        ),
        "{answers}"
    );
    let answers = last[5]["content"].as_str().unwrap();
    assert!(
        answers.contains("call=\"2\" failed=\"true\">\n") && answers.contains("edit(b.txt)"),
        "{answers}"
    );
    let names: Vec<String> = stage.answers().into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(
        names,
        ["erase_file", "read_file", "write_to_file", "write_to_file", "attempt_completion"]
    );
    let estimates = stage
        .journal()
        .into_iter()
        .any(|line| matches!(&line.event, Event::Replied { charge, .. } if charge.estimated));
    assert!(!estimates, "the server counted");
    stage.git(&["checkout", "-q", "--", "."]);
    let played = stage.run(&["run", "make it new", "--replay", "../run.cassette"]);
    assert_eq!(
        (played.code, stage.read("checkout/src/a.txt").as_str()),
        (Some(0), "<content>new</content>\n"),
        "{}",
        played.err
    );
}

#[test]
fn a_draft_in_thoughts_without_an_opening_tag_is_not_written() {
    let stage = Stage::with(&[
        (".locum/policy.yml", POLICY),
        (".locum/config.yml", CONFIG),
        ("src/a.txt", "old\n"),
    ]);
    let write = |path: &str, content: &str| {
        format!(
            "<write_to_file>\n<path>{path}</path>\n<content>\n{content}\n</content>\n\
             </write_to_file>"
        )
    };
    let (draft, file) = (write("src/draft.txt", "bad"), write("src/b.txt", "</think>"));
    let replies = [
        format!("I could write a draft:\n{draft}\nNo, that is wrong.\n</think>\n\n{file}"),
        "I am done.\n</think>\n\n<attempt_completion>\n<result>It is there.</result>\n\
         </attempt_completion>"
            .to_owned(),
    ];
    let server = ModelServer::start(replies.iter().map(|reply| Answer::words(reply)).collect());
    let mut command = stage.locum(&["run", "write it", "--model", "m"]);
    command
        .env("OPENAI_API_KEY", "sk-of-the-test-0123456789")
        .env("OPENAI_BASE_URL", &server.base_url);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<String> = stage.answers().into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(names, ["write_to_file", "attempt_completion"]);
    assert_eq!(stage.read("checkout/src/b.txt"), "</think>\n");
}
