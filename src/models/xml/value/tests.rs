//! Values between tags, read and written.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{read, write};

#[test]
fn texts_are_what_was_written_between_the_tags() {
    let schema = json!({ "type": "string" });
    for (name, raw, value) in [
        ("path", " src/a.rs ", "src/a.rs"),
        ("path", "\n  src/a.rs\n", "src/a.rs"),
        ("path", "\r\nsrc/a.rs\r\n", "src/a.rs"),
        ("content", "\nfn main() {}\n", "fn main() {}\n"),
        ("content", "\nfn main() {}\n  ", "fn main() {}\n"),
        ("content", "fn main() {}", "fn main() {}"),
        ("content", "", ""),
        ("content", "\n", ""),
        ("content", "\n<p>a &amp; b</p>\n", "<p>a &amp; b</p>\n"),
        ("content", "\nTom &amp; Jerry\n", "Tom &amp; Jerry\n"),
        ("content", "\nVec&lt;u8&gt;\n", "Vec<u8>\n"),
        ("content", "\n<![CDATA[a & b ]] <c>\n]]>\n", "a & b ]] <c>\n"),
        ("content", "\n<x><![CDATA[y]]></x>\n", "<x><![CDATA[y]]></x>\n"),
        ("diff", "\n-a\n+b\n", "-a\n+b"),
        ("command", "cargo test &amp;&amp; ls", "cargo test && ls"),
        ("command", "a && echo '&lt;'", "a && echo '&lt;'"),
        ("command", "echo &amp;lt;", "echo &lt;"),
        ("patch", "<![CDATA[a]]]]><![CDATA[>b]]>", "a]]>b"),
    ] {
        assert_eq!(read(name, raw, Some(&schema)), Value::from(value), "{raw:?}");
    }
}

#[test]
fn other_values_are_json_or_tags_in_tags() {
    let text = json!({ "type": "string" });
    for (raw, schema, value) in [
        (" 12 ", json!({ "type": "integer" }), json!(12)),
        ("many", json!({ "type": "integer" }), json!("many")),
        ("true", json!({ "type": "boolean" }), json!(true)),
        ("12", json!({ "type": ["string", "null"] }), json!("12")),
        ("null", json!({ "type": ["integer", "null"] }), Value::Null),
        (r#"["a", "b"]"#, json!({ "type": "array", "items": text }), json!(["a", "b"])),
        (r#"[&quot;a&quot;]"#, json!({ "type": "array", "items": text }), json!(["a"])),
        (
            "\n<suggest>Yes</suggest>\n<suggest mode=\"code\">No, &amp; why</suggest>\n",
            json!({ "type": "array", "items": text }),
            json!(["Yes", "No, & why"]),
        ),
        ("just this", json!({ "type": "array", "items": text }), json!(["just this"])),
        ("", json!({ "type": "array" }), json!([])),
        (
            "<item><path>a</path><line>3</line></item><item><path>b</path></item>",
            json!({ "type": "array", "items": { "type": "object", "properties": { "line": { "type": "integer" } } } }),
            json!([{ "path": "a", "line": 3 }, { "path": "b" }]),
        ),
        (r#"{"anchor_line": 3}"#, json!({ "type": "object" }), json!({ "anchor_line": 3 })),
        (
            "<anchor_line>3</anchor_line>",
            json!({ "type": "object", "properties": { "anchor_line": { "type": "integer" } } }),
            json!({ "anchor_line": 3 }),
        ),
        ("<a>1</a><a>2</a>", json!({ "type": "object" }), json!({ "a": ["1", "2"] })),
        ("<a>1</b>", json!({ "type": "object" }), json!("<a>1</b>")),
        (r#"{"a": 1}"#, json!({}), json!({ "a": 1 })),
        ("5", json!({}), json!("5")),
    ] {
        assert_eq!(read("p", raw, Some(&schema)), value, "{raw:?}");
    }
}

#[test]
fn nesting_has_an_end() {
    let deep = format!("{}{}", "<a>".repeat(5000), "</a>".repeat(5000));
    assert!(read("p", &deep, Some(&json!({ "type": "object" }))).is_object());
}

#[test]
fn what_is_written_reads_back_as_it_was() {
    let schema = json!({ "type": "string" });
    for name in ["content", "path", "diff"] {
        for text in [
            "",
            " ",
            "\n",
            "a",
            " a ",
            "a\n",
            "\na",
            "a\nb",
            "a\nb\n",
            "\n\n",
            "</content>",
            "</path>\n</read_file>",
            "<read_file>",
            "a]]>b",
            "&amp;",
            "&lt;b&gt;",
            "a & b",
            "<![CDATA[x]]>",
            "]]>",
            "a\r\n",
            "\r\na\r\nb\r\n",
            "  <x>\n",
            "a\n  ",
            "]]]]><![CDATA[>",
        ] {
            let written = write("read_file", name, &Value::from(text));
            assert_eq!(
                read(name, &written, Some(&schema)),
                Value::from(text),
                "{name} {text:?}: {written:?}"
            );
        }
    }
    assert_eq!(write("t", "p", &json!(["a", 1])), r#"["a",1]"#);
}
