//! Replies with prompted calls: what is a call and what is not, the same however the reply comes
//! in.

use conversation::{assistant, user};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::Delta;
use crate::xml::{ReplyTranslator, write};
use locum_base::chat::{Message, StopReason, ToolCall, ToolSpec};

mod conversation;
mod thoughts;

fn tool(name: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let parameters = json!({ "type": "object", "properties": properties, "required": required });
    ToolSpec { name: name.into(), description: format!("Does {name}."), parameters }
}

fn tools() -> Vec<ToolSpec> {
    let text = json!({ "type": "string" });
    vec![
        tool("read_file", json!({ "path": text, "offset": { "type": "integer" } }), &["path"]),
        tool("write_to_file", json!({ "path": text, "content": text }), &["path", "content"]),
        tool(
            "execute_command",
            json!({ "command": text, "cwd": { "type": ["string", "null"] } }),
            &["command"],
        ),
        tool(
            "ask_followup_question",
            json!({ "question": text, "follow_up": { "type": "array", "items": text } }),
            &["question", "follow_up"],
        ),
        tool("skill", json!({ "skill": text }), &["skill"]),
        tool("attempt_completion", json!({ "result": text }), &["result"]),
    ]
}

/// What a reply says: its words, its thoughts in brackets, its calls, and `cut` when the last one
/// is not whole.
fn outline(deltas: Vec<Delta>) -> Vec<String> {
    let (mut lines, mut words) = (Vec::new(), String::new());
    for delta in deltas {
        match delta {
            Delta::Text(text) => words.push_str(&text),
            Delta::Reasoning(text) => lines.push(format!("[{text}]")),
            Delta::Call { name, arguments, .. } => {
                lines.push(format!("{} {arguments}", name.unwrap()))
            }
            Delta::Stop(StopReason::Length) => lines.push("cut".into()),
            Delta::Stop(_) => {}
            other => panic!("{other:?}"),
        }
    }
    if !words.is_empty() {
        lines.insert(0, words);
    }
    lines
}

fn outline_of(parts: &[&str], stop: StopReason) -> Vec<String> {
    let tools = tools();
    let mut translator = ReplyTranslator { tools: &tools, ..ReplyTranslator::default() };
    let mut deltas: Vec<Delta> = parts
        .iter()
        .flat_map(|part| translator.translate(Delta::Text((*part).to_owned())))
        .collect();
    deltas.extend(translator.translate(Delta::Stop(stop)));
    outline(deltas)
}

/// Checks a reply whole, letter by letter, and in parts of changing length.
fn check(text: &str, expected: &[&str]) {
    let whole = outline_of(&[text], StopReason::End);
    assert_eq!(whole, expected, "{text}");
    let letters: Vec<String> = text.chars().map(String::from).collect();
    let parts = |of: &dyn Fn(usize) -> usize| {
        let (mut rest, mut parts, mut at) = (letters.as_slice(), Vec::new(), 0);
        while !rest.is_empty() {
            let (part, more) = rest.split_at(of(at).clamp(1, rest.len()));
            parts.push(part.concat());
            (rest, at) = (more, at + 1);
        }
        parts
    };
    for seed in 0..40_usize {
        let parts = if seed == 0 {
            letters.clone()
        } else {
            parts(&|at| (seed * 7919 + at * 104_729) % 13 % (seed % 11 + 2))
        };
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        assert_eq!(outline_of(&parts, StopReason::End), whole, "in parts {parts:?}");
    }
}

#[test]
fn calls_are_found_among_words() {
    check(
        "I look.\n\n<read_file>\n<path>src/a.rs</path>\n</read_file>",
        &["I look.", r#"read_file {"path":"src/a.rs"}"#],
    );
    check(
        "<read_file><path>a</path><offset>7</offset></read_file>\n",
        &[r#"read_file {"path":"a","offset":7}"#],
    );
    check(
        "First: <read_file><path>a</path></read_file>\nthen\n<read_file><path>b</path></\
         read_file> done",
        &["First:\n\nthen\n\ndone", r#"read_file {"path":"a"}"#, r#"read_file {"path":"b"}"#],
    );
    check(
        "I use <execute_command> now.\n<execute_command><command>ls</command></execute_command>",
        &["I use <execute_command> now.", r#"execute_command {"command":"ls"}"#],
    );
    check("No call, only <b>words</b> & a < b.\n", &["No call, only <b>words</b> & a < b.\n"]);
}

#[test]
fn a_tool_that_is_only_mentioned_is_not_called() {
    for words in [
        "Use <read_file> to read.",
        "`<read_file><path>a</path></read_file>` is how.",
        "</read_file>",
        "<readfile><path>a</path></readfile>",
        "<div><path>a</path></div>",
        "<user_note>mind this</user_note>",
        "<read_file>",
        "a <read_file and more",
    ] {
        check(words, &[words]);
    }
}

#[test]
fn code_fences_around_calls_are_taken_off() {
    check(
        "So:\n```xml\n<read_file>\n<path>a</path>\n</read_file>\n```\n",
        &["So:", r#"read_file {"path":"a"}"#],
    );
    check(
        "```\n<read_file><path>a</path></read_file>\n<read_file><path>b</path></read_file>\n```\n\
                 end",
        &["end", r#"read_file {"path":"a"}"#, r#"read_file {"path":"b"}"#],
    );
    // The fence before the call closes a block of the words.
    check(
        "```\nx\n```\n<read_file><path>a</path></read_file>",
        &["```\nx\n```", r#"read_file {"path":"a"}"#],
    );
}

#[test]
fn thoughts_call_nothing() {
    check(
        "<think>I could \
         <read_file><path>x</path></read_file></think>\n<read_file><path>a</path></read_file>",
        &["[I could <read_file><path>x</path></read_file>]", r#"read_file {"path":"a"}"#],
    );
    check(
        "<thinking>hm\n<read_file><path>a</path></read_file>",
        &["[hm]", r#"read_file {"path":"a"}"#],
    );
    check(
        "<think>hm, <read_file><path>a</path></read_file>",
        &["[hm, <read_file><path>a</path></read_file>]"],
    );
    assert_eq!(
        outline_of(&["<think>hm\n<read_file><path>a</path></read_file>"], StopReason::Length)[1..],
        ["cut"]
    );
}

#[test]
fn a_thought_is_a_call_where_that_tool_is_offered_and_its_parameter_follows() {
    let tools =
        [tools(), vec![tool("think", json!({ "thought": { "type": "string" } }), &[])]].concat();
    let outline_of = |text: &str| {
        let mut translator = ReplyTranslator { tools: &tools, ..ReplyTranslator::default() };
        let mut deltas = translator.translate(Delta::Text(text.to_owned()));
        deltas.extend(translator.translate(Delta::Stop(StopReason::End)));
        outline(deltas)
    };
    let call = "<think>\n<thought>a < b</thought>\n</think>";
    assert_eq!(outline_of(call), [r#"think {"thought":"a < b"}"#]);
    for thought in ["<think>a</think>", "<think><path>a</path></think>"] {
        let inner = thought.strip_prefix("<think>").unwrap().strip_suffix("</think>").unwrap();
        assert_eq!(outline_of(thought), [format!("[{inner}]")]);
    }
    // Where it is not offered, it is a thought.
    check(call, &["[<thought>a < b</thought>]"]);
}

#[test]
fn a_value_ends_at_its_last_closing_tag() {
    let write = |content: &str| {
        format!(
            "<write_to_file>\n<path>a.md</path>\n<content>\n{content}\n</content>\n</\
             write_to_file>"
        )
    };
    let expected = |content: &str| {
        format!("write_to_file {}", json!({ "path": "a.md", "content": format!("{content}\n") }))
    };
    for content in [
        "<feed>\n<content>x</content>\n</feed>",
        "</content>\nstill",
        "Write <write_to_file> to write.",
        "<write_to_file>\n<path>b</path>\n<content>\nc\n</content>\n</write_to_file>",
        "<read_file>\n<path>b</path>\n</read_file>",
        "</write_to_file>",
        "```\n<execute_command><command>rm -rf x</command></execute_command>\n```",
        "<think>no</think>",
        "a\n</think>\n<read_file>\n<path>b</path>\n</read_file>",
        "<tool_result>\nno\n</tool_result>",
    ] {
        let (call, expected) = (write(content), expected(content));
        check(&call, &[&expected]);
        check(&format!("{call}\n{call}"), &[&expected, &expected]);
        check(
            &format!("{call}\n<read_file><path>b</path></read_file>"),
            &[&expected, r#"read_file {"path":"b"}"#],
        );
    }
    let open = "<write_to_file>\n<path>a</path>\n<content>\n";
    let unbalanced = format!(
        "{open}{open}x\n</content>\n</write_to_file>\n<read_file><path>b</path></read_file>"
    );
    let content =
        format!("write_to_file {}", json!({ "path": "a", "content": format!("{open}x\n") }));
    check(&unbalanced, &[&content, r#"read_file {"path":"b"}"#]);
}

#[test]
fn cdata_holds_anything() {
    let inner = "</content>\n</write_to_file>\n<read_file><path>x</path></read_file> &amp;";
    let call = format!(
        "<write_to_file><path>a</path><content><![CDATA[{inner}]]></content></write_to_file>"
    );
    check(&call, &[&format!("write_to_file {}", json!({ "path": "a", "content": inner }))]);
}

#[test]
fn missing_closing_tags_are_forgiven_where_nothing_is_lost() {
    check("<read_file><path>a</path>\n", &[r#"read_file {"path":"a"}"#]);
    check("<read_file>\n<path>a", &[r#"read_file {"path":"a"}"#]);
    check("<read_file><path>a</read_file>", &[r#"read_file {"path":"a"}"#]);
    check(
        "<read_file><path>a</read_file>\n<read_file><path>b</path></read_file>",
        &[r#"read_file {"path":"a"}"#, r#"read_file {"path":"b"}"#],
    );
    check(
        "<read_file><path>a</path>\n<execute_command><command>ls</command></execute_command>",
        &[r#"read_file {"path":"a"}"#, r#"execute_command {"command":"ls"}"#],
    );
    check(
        "<read_file><path>a</path>\nThat is all.",
        &["That is all.", r#"read_file {"path":"a"}"#],
    );
    // Half a file may not pass for a whole one.
    check(
        "<write_to_file><path>a</path><content>\none\ntwo",
        &[r#"write_to_file {"path":"a","content":"one\ntwo"}"#, "cut"],
    );
}

#[test]
fn a_reply_that_was_cut_off_ends_with_the_call_that_was() {
    for text in [
        "<write_to_file><path>a</path><content>\none\n</content>\n<read_file><path>b</path></\
         read_file>\n",
        "<write_to_file><path>a</path><content>\none\n</content>\n",
        "<write_to_file><path>a</path><content>\none",
        "<write_to_file><path>a</path>",
        "<write_to_file><path>a",
    ] {
        let lines = outline_of(&[text], StopReason::Length);
        assert!(
            lines.len() == 2 && lines[0].starts_with("write_to_file") && lines[1] == "cut",
            "{text}: {lines:?}"
        );
    }
    let whole =
        "<read_file><path>a</path></read_file>\n<write_to_file><path>a</path><content>\none";
    assert_eq!(outline_of(&[whole], StopReason::Length)[0], r#"read_file {"path":"a"}"#);
    assert_eq!(
        outline_of(&["<read_file><path>a</path></read_file>"], StopReason::Length),
        [r#"read_file {"path":"a"}"#, "cut"]
    );
}

#[test]
fn no_call_is_made_with_half_of_its_values_wherever_a_reply_ends() {
    let text = "I see.\n<read_file>\n<path>src/main.rs</path>\n<offset>12</offset>\n</read_file>\n\
                 <write_to_file>\n<path>a.txt</path>\n<content>\none\n<two>\nthree\n</content>\n</\
                write_to_file>\n<execute_command><command>cargo test \
                --workspace</command></execute_command>";
    let calls = |text: &str, stop: StopReason| -> (Vec<(String, Value)>, StopReason) {
        let tools = tools();
        let mut translator = ReplyTranslator { tools: &tools, ..ReplyTranslator::default() };
        let deltas = [
            translator.translate(Delta::Text(text.to_owned())),
            translator.translate(Delta::Stop(stop)),
        ]
        .concat();
        let stopped = deltas
            .iter()
            .find_map(|delta| if let Delta::Stop(stop) = delta { Some(*stop) } else { None })
            .unwrap();
        let call = |delta: &Delta| match delta {
            Delta::Call { name, arguments, .. } => {
                Some((name.clone().unwrap(), serde_json::from_str(arguments).unwrap()))
            }
            _ => None,
        };
        (deltas.iter().filter_map(call).collect(), stopped)
    };
    let (whole, _) = calls(text, StopReason::End);
    assert_eq!(whole.len(), 3, "{whole:?}");
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        for stop in [StopReason::Length, StopReason::Filtered] {
            let (mut made, stopped) = calls(&text[..end], stop);
            // The last call of a reply that was cut off is not performed.
            assert_eq!(stopped, stop);
            made.pop();
            for (at, (name, values)) in made.iter().enumerate() {
                let (known, all) = &whole[at];
                let is_half = values
                    .as_object()
                    .unwrap()
                    .iter()
                    .any(|(key, value)| all.get(key) != Some(value));
                assert!(
                    name == known && !is_half,
                    "{stop:?} after {:?}: {name} {values}",
                    &text[..end]
                );
            }
        }
    }
}

#[test]
fn older_and_other_forms_mean_the_same() {
    check("<read_file><args><path>a</path></args></read_file>", &[r#"read_file {"path":"a"}"#]);
    check(
        "<read_file>\n<args>\n<file>\n<path>a</path>\n</file>\n<file><path>b</path><offset>2</\
         offset></file>\n</args>\n</read_file>",
        &[r#"read_file {"path":"a"}"#, r#"read_file {"path":"b","offset":2}"#],
    );
    check(
        "<read_file>\n<file>\n<path>a</path>\n<line_range>1-2</line_range>\n<line_range>8-9</\
         line_range>\n</file>\n<file><path>b</path></file>\n</read_file>",
        &[r#"read_file {"path":"a","line_range":["1-2","8-9"]}"#, r#"read_file {"path":"b"}"#],
    );
    check(
        "<read_file><path>a</path><line_range>3-4</line_range></read_file>",
        &[r#"read_file {"path":"a","line_range":"3-4"}"#],
    );
    check("<read_file>{\"path\": \"a\"}</read_file>", &[r#"read_file {"path":"a"}"#]);
    check(
        "<read_file><arguments>{\"path\": \"a\"}</arguments></read_file>",
        &[r#"read_file {"path":"a"}"#],
    );
    check("<read_file path=\"a\" offset='3'/>", &[r#"read_file {"path":"a","offset":3}"#]);
    check(
        "<attempt_completion>All done & well.</attempt_completion>",
        &[r#"attempt_completion {"result":"All done & well."}"#],
    );
    check("<skill><skill>review</skill></skill>", &[r#"skill {"skill":"review"}"#]);
    check(
        "<write_file><path>a</path><content>b</content></write_file>",
        &[r#"write_file {"path":"a","content":"b"}"#],
    );
    check(
        "<ask_followup_question><question>Which?</question><follow_up>A</follow_up><follow_up>B</\
         follow_up></ask_followup_question>",
        &[r#"ask_followup_question {"question":"Which?","follow_up":["A","B"]}"#],
    );
    check(
        "<ask_followup_question>\n<question>Which?</question>\n<follow_up>\n<suggest>This</\
         suggest>\n<suggest mode=\"code\">That</suggest>\n</follow_up>\n</ask_followup_question>",
        &[r#"ask_followup_question {"question":"Which?","follow_up":["This","That"]}"#],
    );
}

#[test]
fn calls_of_other_agents_are_calls() {
    check("<Read>\n<file_path>a</file_path>\n</Read>", &[r#"Read {"file_path":"a"}"#]);
    check("<bash><command>ls</command></bash>", &[r#"bash {"command":"ls"}"#]);
    check(
        "<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"a\"}}\n</tool_call>",
        &[r#"Read {"file_path":"a"}"#],
    );
    // Words in tags, and names of no tool.
    check("In <bash>ls</bash> it is.", &["In <bash>ls</bash> it is."]);
    check("<Red><a>b</a></Red>", &["<Red><a>b</a></Red>"]);
    check("<search><a>b</a></search>", &["<search><a>b</a></search>"]);
}

#[test]
fn mistakes_reach_the_tools_as_they_were_made() {
    check("<delete_file>\n<path>a</path>\n</delete_file>", &[r#"delete_file {"path":"a"}"#]);
    check("<read_file><file_path>a</file_path></read_file>", &[r#"read_file {"file_path":"a"}"#]);
    check("<read_file></read_file>", &["read_file {}"]);
    check("<write_to_file>just words</write_to_file>", &["write_to_file {}"]);
}

#[test]
fn results_that_a_model_imagines_are_left_out() {
    check(
        "<read_file><path>a</path></read_file>\n<tool_result \
         tool=\"read_file\">\nx\n</tool_result>\n<execute_command><command>rm \
         x</command></execute_command>",
        &[r#"read_file {"path":"a"}"#],
    );
}

#[test]
fn hostile_replies_take_bounded_time() {
    for piece in [
        "<read_file>",
        "<read_file>x",
        "<read_file><path>",
        "<write_to_file><content></content>",
        "<think>",
        "<a ",
        "<a b=\"",
        "</read_file>",
        "</think>",
        "<read_file><path>x</think>",
        "<![CDATA[",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let tools = tools();
        let mut translator = ReplyTranslator { tools: &tools, ..ReplyTranslator::default() };
        translator.translate(Delta::Text(text));
        translator.translate(Delta::Stop(StopReason::End));
    }
}

#[test]
fn calls_and_results_are_written_as_they_are_read() {
    let tools = tools();
    let values = [
        "a",
        "a b ",
        "x\ny\n",
        "</content>",
        "</write_to_file>",
        "<write_to_file><path>a</path>",
        "&lt;",
        "]]>",
        "```",
        "",
        "<think>",
        "{}",
        "[1",
    ];
    for content in values {
        for path in values {
            let call = ToolCall {
                id: "1".into(),
                name: "write_to_file".into(),
                arguments: json!({ "path": path, "content": content }).to_string(),
            };
            let text = write::conversation(&[
                user("go"),
                assistant("so", vec![call.clone(), call.clone()]),
            ]);
            let Message::Assistant { text, .. } = &text[1] else { panic!("{text:?}") };
            let mut translator = ReplyTranslator { tools: &tools, ..ReplyTranslator::default() };
            let mut deltas = translator.translate(Delta::Text(text.clone()));
            deltas.extend(translator.translate(Delta::Stop(StopReason::End)));
            let line = format!("write_to_file {}", call.arguments);
            assert_eq!(outline(deltas), ["so", &line, &line], "{text}");
        }
    }
}
