//! Trees with places, and every mistake that reading alone finds.

use super::{Position, YamlDocument, YamlNode, YamlValue};
use pretty_assertions::assert_eq;
use serde_json::json;

fn root(text: &str) -> YamlNode {
    let document = YamlDocument::parse(text);
    assert_eq!(document.mistakes, Vec::new(), "{text}");
    document.root.unwrap()
}

fn mistakes(text: &str) -> Vec<String> {
    YamlDocument::parse(text)
        .mistakes
        .iter()
        .map(|mistake| format!("{}: {}", mistake.place, mistake.message))
        .collect()
}

#[test]
fn reads_values_by_the_core_rules() {
    for (text, expected) in [
        ("a: 1\nb: [x, 'y', 2.5, true, ~]", json!({"a": 1, "b": ["x", "y", 2.5, true, null]})),
        ("\u{feff}{\"a\": {\"b\": []}}", json!({"a": {"b": []}})),
        (
            "a: on\nb: yes\nc: 10m\nd: 1.2.3\ne: '7'\nf: !!str 7",
            json!({"a":"on","b":"yes","c":"10m","d":"1.2.3","e":"7","f":"7"}),
        ),
        ("base: &x {k: 1}\nagain: *x", json!({"base": {"k": 1}, "again": {"k": 1}})),
        ("a: |\n  two\n  lines\n", json!({"a": "two\nlines\n"})),
    ] {
        assert_eq!(root(text).to_json(), expected, "{text}");
    }
    assert_eq!(YamlDocument::parse("# nothing\n"), YamlDocument::default());
}

#[test]
fn knows_line_and_column() {
    let tree = root("a:\n  - b: one\n    c: two\n");
    let item = &tree.get("a").unwrap().list().unwrap()[0];
    assert_eq!(item.get("c").unwrap().place, Position { line: 3, column: 8 });
    assert_eq!(item.entries().unwrap()[1].key_place, Position { line: 3, column: 5 });
    assert_eq!(item.get("b").unwrap().value, YamlValue::Text("one".to_owned()));
}

#[test]
fn reports_duplicates_all_at_once_and_keeps_reading() {
    assert_eq!(
        mistakes("a: 1\na: 2\nb: {c: 1, c: 2}\n"),
        ["2:1: duplicate key `a`", "3:11: duplicate key `c`"]
    );
    assert!(YamlDocument::parse("a: 1\na: 2\nb: 3").root.is_some());
}

#[test]
fn refuses_bombs_and_broken_texts() {
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", vec![below; 9].join(",")));
    }
    for (text, message) in [
        (bomb.as_str(), "more than 200000 values"),
        (&format!("{}{}", "[".repeat(70), "]".repeat(70)), "nested deeper than 64"),
        (&"x".repeat(5_000_000), "longer than"),
        ("a: &a [*a]", "still being defined"),
        ("a: 1\n---\nb: 2", "second document"),
        ("a: 1\n...\n---\nb: 2", "second document"),
        ("? [a, b]\n: c", "keys are text"),
        ("a: [1, 2", ""),
        ("a: *nowhere", ""),
    ] {
        let document = YamlDocument::parse(text);
        assert!(document.root.is_none(), "{text:.40}");
        assert!(
            document.mistakes.iter().any(|mistake| mistake.message.contains(message)),
            "{text:.40}: {:?}",
            document.mistakes
        );
    }
}

fn refused(name: &str, text: &str, place: (u32, u32), message: &str) {
    let document = YamlDocument::parse(text);
    let mistake = document
        .mistakes
        .first()
        .map(|mistake| (mistake.place.line, mistake.place.column, mistake.message.as_str()));
    assert!(
        mistake
            .is_some_and(|(line, column, text)| (line, column) == place && text.contains(message)),
        "{name}: {mistake:?}"
    );
    assert!(document.root.is_none(), "{name}");
}

#[test]
fn hostile_texts_are_refused_in_bounded_time_at_their_place() {
    let laughs: String = (1..10)
        .map(|level| {
            format!("l{level}: &l{level} [{}]\n", vec![format!("*l{}", level - 1); 10].join(", "))
        })
        .collect();
    refused("billion laughs", &format!("l0: &l0 lol\n{laughs}"), (6, 9), "more than 200000 values");
    refused(
        "quadratic blow-up",
        &format!("a: &a \"{}\"\nb: [{}]", "x".repeat(900_000), "*a, ".repeat(50_000)),
        (2, 33),
        "bytes of values",
    );
    let anchors: String = (0..5_000).map(|number| format!("- &a{number} x\n")).collect();
    refused("anchors", &anchors, (101, 9), "more than 100 anchors");
    let nested: String = (0..63).map(|number| format!("&n{number} [")).collect();
    refused(
        "nested anchors",
        &format!("{nested}{}{}", "\"".to_owned() + &"y".repeat(900_000) + "\"", "]".repeat(63)),
        (1, 320),
        "bytes of values",
    );
    refused("self", "a: &a { b: *a }", (1, 12), "still being defined");
    for (name, text, column) in [
        ("flow lists", "[".repeat(100_000), 256),
        ("flow mappings", "{a: ".repeat(100_000), 1021),
        ("block lists", "- ".repeat(100_000), 129),
        ("questions", "? ".repeat(100_000), 129),
    ] {
        refused(name, &text, (1, column), "nested deeper than 64");
    }
    let steps: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    refused("block mappings", &steps, (65, 65), "nested deeper than 64");
    refused("10 MB", &"# x\n".repeat(2_500_000), (0, 0), "longer than");
    refused(
        "one long value",
        &format!("a: \"{}\"", "x".repeat(1_100_000)),
        (1, 4),
        "longer than 1048576",
    );
    refused(
        "one long key",
        &format!("? \"{}\"\n: b", "x".repeat(1_100_000)),
        (1, 3),
        "longer than 1048576",
    );
    refused("many values", &"- b\n".repeat(300_000), (200_001, 3), "more than 200000 values");
}

#[test]
fn what_has_no_business_in_a_settings_file_is_refused_at_its_place() {
    for (name, text, place, message) in [
        ("nothing after NUL", "a: b\0c: d", (1, 5), "U+0000"),
        ("escape", "a: 1\nb: \u{1b}[31mred", (2, 4), "U+001B"),
        ("second byte order mark", "a: \u{feff}b", (1, 4), "U+FEFF"),
        ("text that shows in another order", "a: edit(\u{202e}crs)", (1, 9), "U+202E"),
        ("line break of another age", "a: 1\rb: 2", (1, 5), "U+000D"),
        ("unseen line break", "a: x\u{2028}b: 2", (1, 5), "U+2028"),
        ("not UTF-8", "a: 1\nb: \u{fffd}", (2, 4), "not UTF-8"),
        ("tag", "a: !!python/object:os.system x", (1, 30), "means nothing here"),
        ("tag of a list", "a: !x [b]", (1, 7), "means nothing here"),
        ("tag of a mapping", "!!set {b}", (1, 7), "means nothing here"),
        ("binary", "a: !!binary aGVsbG8=", (1, 13), "means nothing here"),
        ("tab", "a:\n\tb: 1", (2, 2), "tabs"),
        ("second document", "a: 1\n---\nb: 2", (2, 1), "second document"),
        ("broken", "a: [1,\nb: 2", (0, 0), ""),
    ] {
        let document = YamlDocument::parse(text);
        let mistake = document.mistakes.first().unwrap_or_else(|| panic!("{name}"));
        assert!(
            document.root.is_none() && mistake.message.contains(message),
            "{name}: {mistake:?}"
        );
        if place != (0, 0) {
            assert_eq!((mistake.place.line, mistake.place.column), place, "{name}: {mistake:?}");
        }
    }
}

#[test]
fn byte_order_mark_and_line_ends_of_windows_move_no_place() {
    assert_eq!(mistakes("\u{feff}a: 1\r\nb: 2\r\na: 3\r\n"), ["3:1: duplicate key `a`"]);
    assert_eq!(root("a: |\r\n  two\r\n  lines\r\n").to_json(), json!({"a": "two\nlines\n"}));
}
