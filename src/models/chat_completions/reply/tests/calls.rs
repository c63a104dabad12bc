//! Tool calls of compatible servers, however their pieces are numbered and named.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::{END, delta, read_reply};
use crate::transport::response::testing::events;

fn calls(pieces: &[&str]) -> Vec<String> {
    let mut frames: Vec<String> =
        pieces.iter().map(|piece| delta(&format!(r#"{{"tool_calls":{piece}}}"#))).collect();
    frames.push(END.to_owned());
    read_reply(&events(&frames.iter().map(String::as_str).collect::<Vec<_>>())).unwrap().calls
}

#[test]
fn reads_parallel_calls_however_they_are_numbered() {
    let standard = [
        r#"[{"index":0,"id":"a","type":"function","function":{"name":"read_file","arguments":""}}]"#,
        r#"[{"index":1,"id":"b","type":"function","function":{"name":"list_files","arguments":"{\"p"}}]"#,
        r#"[{"index":0,"function":{"arguments":"{\"path\""}},{"index":1,"function":{"arguments":"\":2}"}}]"#,
        r#"[{"index":0,"function":{"arguments":":1}"}}]"#,
    ];
    let both = [r#"a read_file {"path":1}"#, r#"b list_files {"p":2}"#];
    assert_eq!(calls(&standard), both);
    let by_id = [
        r#"[{"id":"a","function":{"name":"read_file","arguments":"{\"path\""}},{"id":"b","function":{"name":"list_files","arguments":""}}]"#,
        r#"[{"id":"b","function":{"arguments":"{\"p\":2}"}}]"#,
        r#"[{"id":"a","function":{"arguments":":1}"}}]"#,
    ];
    assert_eq!(calls(&by_id), both);
    let every_call_is_zero = [
        r#"[{"index":0,"id":"a","function":{"name":"read_file","arguments":"{\"path\":1}"}}]"#,
        r#"[{"index":0,"id":"b","function":{"name":"list_files","arguments":"{\"p\""}}]"#,
        r#"[{"index":0,"function":{"arguments":":2}"}}]"#,
    ];
    assert_eq!(calls(&every_call_is_zero), both);
    let by_order = [
        r#"[{"function":{"name":"read_file","arguments":"{}"}},{"function":{"name":"read_file","arguments":"{\"p\""}}]"#,
        r#"[{"function":{"arguments":":2}"}}]"#,
    ];
    assert_eq!(calls(&by_order), [" read_file {}", r#" read_file {"p":2}"#]);
    let by_place = [
        r#"[{"function":{"name":"a"}},{"function":{"name":"b"}}]"#,
        r#"[{"function":{"arguments":"1"}},{"function":{"arguments":"2"}}]"#,
    ];
    assert_eq!(calls(&by_place), [" a 1", " b 2"]);
}

#[test]
fn reads_calls_however_they_are_written() {
    for (pieces, call) in [
        (
            &[r#"[{"index":0,"id":"a","function":{"name":"f","arguments":{"path":"x","n":1}}}]"#][..],
            r#"a f {"path":"x","n":1}"#,
        ),
        (&[r#"[{"index":"0","id":7,"function":{"name":"f","arguments":null}}]"#], "7 f "),
        (&[r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#], "a f {}"),
        (&[r#"[{"index":0,"id":"a","name":"f","arguments":"{}"}]"#], "a f {}"),
        (
            &[
                r#"[{"index":0,"function":{"name":"f"}}]"#,
                r#"[{"index":0,"id":"late","function":{"arguments":"{}"}}]"#,
            ],
            "late f {}",
        ),
        (
            &[
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]"#,
            ],
            "a f {}",
        ),
        (
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read"}}]"#,
                r#"[{"index":0,"function":{"name":"_file","arguments":"{}"}}]"#,
            ],
            "a read_file {}",
        ),
        (&[r#"[{"index":3,"id":"a","function":{"name":"f","arguments":"{}"}},{}]"#], "a f {}"),
    ] {
        assert_eq!(calls(pieces), [call], "{pieces:?}");
    }
    let legacy = events(&[
        &delta(r#"{"function_call":{"name":"f","arguments":"{"}}"#),
        &delta(r#"{"function_call":{"arguments":"}"}}"#),
        END,
    ]);
    assert_eq!(read_reply(&legacy).unwrap().calls, [" f {}"]);
}

#[test]
fn a_call_whose_pieces_have_ids_of_their_own_is_one() {
    let whole = r#"u1 f {"a":1}"#;
    for pieces in [
        // vLLM and mlx-openai-server with gpt-oss: the name comes once.
        [
            r#"[{"index":0,"id":"u1","function":{"name":"f"}}]"#,
            r#"[{"index":0,"id":"u2","function":{"arguments":"{\"a\""}}]"#,
            r#"[{"index":0,"id":"u3","function":{"arguments":":1}"}}]"#,
        ],
        // The name in every piece.
        [
            r#"[{"index":0,"id":"u1","function":{"name":"f","arguments":""}}]"#,
            r#"[{"index":0,"id":"u2","function":{"name":"f","arguments":"{\"a\""}}]"#,
            r#"[{"index":0,"id":"u3","function":{"name":"f","arguments":":1}"}}]"#,
        ],
        // Nothing more after the arguments.
        [
            r#"[{"index":0,"id":"u1","function":{"name":"f","arguments":"{\"a\":1"}}]"#,
            r#"[{"index":0,"id":"u2","function":{"name":"f","arguments":"}"}}]"#,
            r#"[{"index":0,"id":"u3","function":{"name":"f","arguments":""}}]"#,
        ],
        // No number either.
        [
            r#"[{"id":"u1","function":{"name":"f"}}]"#,
            r#"[{"id":"u2","function":{"arguments":"{\"a\""}}]"#,
            r#"[{"id":"u3","function":{"arguments":":1}"}}]"#,
        ],
    ] {
        assert_eq!(calls(&pieces), [whole], "{pieces:?}");
    }
    let of_one_tool = [
        r#"[{"index":0,"id":"u1","function":{"name":"f","arguments":"{\"a\":1}"}}]"#,
        r#"[{"index":0,"id":"u2","function":{"name":"f","arguments":""}}]"#,
        r#"[{"index":0,"id":"u3","function":{"arguments":"{}"}}]"#,
    ];
    assert_eq!(calls(&of_one_tool), [whole, "u2 f {}"]);
    let numbered = [
        r#"[{"index":0,"id":"u1","function":{"name":"f","arguments":"{\"a\":1}"}}]"#,
        r#"[{"index":1,"id":"u2","function":{"name":"f","arguments":""}}]"#,
    ];
    assert_eq!(calls(&numbered), [whole, "u2 f "]);
}

#[test]
fn a_tool_named_after_whole_arguments_is_the_next_call() {
    // Gemini: every call has the number 0 and no id.
    let piece = |id: &str, name: &str, arguments: &str| {
        let function = json!({ "name": name, "arguments": arguments });
        json!([{ "index": 0, "id": id, "type": "function", "function": function }]).to_string()
    };
    for (pieces, expected) in [
        (
            [piece("", "f", r#"{"a":1}"#), piece("", "g", "{}"), piece("", "g", r#"{"b":2}"#)],
            &[r#" f {"a":1}"#, " g {}", r#" g {"b":2}"#][..],
        ),
        (
            [piece("x", "f", "{}"), piece("x", "g", ""), piece("x", "g", "{}")],
            &["x f {}", "x g {}"],
        ),
        (
            [piece("x", "f", "{"), piece("x", "f", "}"), piece("x", "f", r#"{"b":2}"#)],
            &["x f {}", r#"x f {"b":2}"#],
        ),
        // The name in every piece of one call, and the whole call once more.
        ([piece("", "f", ""), piece("", "f", "{"), piece("", "f", "}")], &[" f {}"]),
        ([piece("", "f", "{"), piece("", "f", "}"), piece("", "f", "")], &[" f {}"]),
        ([piece("x", "f", "{"), piece("x", "f", "}"), piece("x", "f", "{}")], &["x f {}"]),
    ] {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(calls(&pieces), expected, "{pieces:?}");
    }
    let together = r#"[{"index":0,"id":"","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"","function":{"name":"g","arguments":"{}"}}]"#;
    assert_eq!(calls(&[together]), [" f {}", " g {}"]);
}
