//! `texts`: what leaves must have the properties each case names. The filter is called as the
//! publisher calls it: by destination.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fancy_regex::Regex;
use locum_agent::report::actions;
use locum_base::secret::{Redactor, Secret};
use locum_forge::sanitise::{self, TextRules};
use serde_json::Value;

use crate::Judged;

pub(crate) fn judge(case: &Value, document: &Value) -> Judged {
    let fakes = fakes(document);
    let expand = |text: &Value| expand(text.as_str().unwrap(), &fakes);
    let sent = expand(&case["text"]);
    let published = publish(case, document, &sent, &fakes);
    if case["expect"] == "refuse" {
        return published.map_or(Judged::Pass, |text| Judged::Fail(format!("not refused: {text}")));
    }
    let Some(text) = published else { return Judged::Fail("refused".to_owned()) };
    let mut views = vec![text.clone()];
    if case["post_normalise"] == true {
        let decoded = decode(&text);
        views.extend([decoded.split_whitespace().collect(), decoded]);
    }
    let outside = outside_code(&text, case);
    let mut problems = Vec::new();
    for literal in list(&case["absent_literals"]) {
        let literal = expand(literal);
        problems.extend(
            views
                .iter()
                .filter(|view| view.contains(&literal))
                .map(|view| format!("`{literal}` is still in `{view}`")),
        );
    }
    for pattern in list(&case["absent"]) {
        problems.extend(finds(pattern, &text).then(|| format!("{pattern} matches `{text}`")));
    }
    for pattern in list(&case["absent_outside_code"]) {
        problems.extend(finds(pattern, &outside).then(|| format!("{pattern} matches `{outside}`")));
    }
    for part in list(&case["present"]) {
        let part = expand(part);
        problems.extend((!text.contains(&part)).then(|| format!("`{part}` is lost from `{text}`")));
    }
    if text.chars().count() > sanitise::BODY_LIMIT_CHARS
        && case["note"].as_str().is_some_and(|note| note.contains("65536"))
    {
        problems.push("too long".to_owned());
    }
    if problems.is_empty() { Judged::Pass } else { Judged::Fail(problems.join("; ")) }
}

/// Sends the text through the filter of its destination; `None` when it is refused.
fn publish(
    case: &Value,
    document: &Value,
    text: &str,
    fakes: &BTreeMap<String, String>,
) -> Option<String> {
    let option = |name: &str| match case["options"].get(name) {
        Some(value) => value.clone(),
        None => document["defaults"][name].clone(),
    };
    let texts = |value: Value| {
        list(&value).iter().map(|text| text.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let rules = TextRules {
        mentions: texts(option("allow_mentions")),
        closing: option("allow_closing") == true,
        hosts: texts(option("allowed_domains")),
        prefix: option("trigger").as_str().unwrap().to_owned(),
        markers: Vec::new(),
    };
    let redactor = Redactor::new([Secret::new(&fakes["KNOWN"])]);
    match case["dest"].as_str().unwrap() {
        "comment" => Some(sanitise::markdown(text, &rules, &redactor)),
        "title" => Some(sanitise::title(text, &rules, &redactor)),
        "commit_message" => Some(sanitise::commit_message(text, &rules, &redactor)),
        "actions_log" => Some(sanitise::log_safe(text, &redactor)),
        "artifact" => Some(sanitise::artifact(text, &redactor)),
        "output_file" => {
            let keys = keys_of(&actions::output("result", text));
            assert_eq!(
                keys,
                [("result".to_owned(), text.to_owned())],
                "one key, its value unchanged"
            );
            Some(text.to_owned())
        }
        "patch" => sanitise::patch(text, &redactor).ok().map(|()| text.to_owned()),
        "branch_name" => {
            let (prefix, default) = (option("branch_prefix"), option("default_branch"));
            sanitise::branch_name(
                text,
                prefix.as_str().unwrap(),
                default.as_str().unwrap(),
                &redactor,
            )
            .ok()
        }
        other => unreachable!("unknown destination {other}"),
    }
}

/// Reads a file of outputs as the runner does: `name=value` or `name<<END`, lines, `END`.
fn keys_of(file: &str) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    let mut lines = file.lines();
    while let Some(line) = lines.next() {
        match (line.split_once("<<"), line.split_once('=')) {
            (Some((name, end)), _) => keys.push((
                name.to_owned(),
                lines.by_ref().take_while(|line| *line != end).collect::<Vec<_>>().join("\n"),
            )),
            (None, Some((name, value))) => keys.push((name.to_owned(), value.to_owned())),
            (None, None) => {}
        }
    }
    keys
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn finds(pattern: &Value, text: &str) -> bool {
    Regex::new(pattern.as_str().unwrap()).unwrap().is_match(text).unwrap()
}

/// Leaves out fenced blocks and code spans, as the reference checker of the set does.
fn outside_code(text: &str, case: &Value) -> String {
    if list(&case["absent_outside_code"]).is_empty() {
        return String::new();
    }
    let fences =
        Regex::new(r"(?ms)^[ ]{0,3}(`{3,}|~{3,})[^\n]*\n.*?^[ ]{0,3}\1[`~]*[ \t]*$").unwrap();
    let spans = Regex::new(r"(?s)(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)").unwrap();
    spans.replace_all(&fences.replace_all(text, ""), "").into_owned()
}

/// Undoes what a reader's program undoes: invisible characters and numeric references.
fn decode(text: &str) -> String {
    let seen: String = text
        .chars()
        .filter(|letter| !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}'))
        .collect();
    let references = Regex::new(r"&#(\d+);").unwrap();
    references
        .replace_all(&seen, |found: &fancy_regex::Captures<'_, str>| {
            found[1].parse().ok().and_then(char::from_u32).map(String::from).unwrap_or_default()
        })
        .into_owned()
}

/// Puts the fakes together; they are kept in parts so that no scanner takes them for real.
fn fakes(document: &Value) -> BTreeMap<String, String> {
    let joined =
        |parts: &Value| list(parts).iter().map(|part| part.as_str().unwrap()).collect::<String>();
    let mut fakes: BTreeMap<String, String> = document["fakes"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, parts)| (name.clone(), joined(parts)))
        .collect();
    let (token, known) = (fakes["GHP"].clone(), fakes["KNOWN"].clone());
    let each =
        |text: &str, write: &dyn Fn(char) -> String| text.chars().map(write).collect::<String>();
    for (name, value) in [
        ("GHP_SPLIT_NL", format!("{}\n{}", &token[..20], &token[20..])),
        ("GHP_SPACED", token.chars().map(String::from).collect::<Vec<_>>().join(" ")),
        (
            "GHP_ZW",
            token
                .as_bytes()
                .chunks(4)
                .map(|part| String::from_utf8_lossy(part).into_owned())
                .collect::<Vec<_>>()
                .join("\u{200b}"),
        ),
        ("GHP_HTML", each(&token, &|letter| format!("&#{};", u32::from(letter)))),
        ("KNOWN_B64", STANDARD.encode(&known)),
        ("KNOWN_B64_OFFSET1", STANDARD.encode(format!("x{known}"))),
        ("KNOWN_HEX", each(&known, &|letter| format!("{:02x}", u32::from(letter)))),
        ("KNOWN_URL", each(&known, &|letter| format!("%{:02X}", u32::from(letter)))),
        ("KNOWN_REV", known.chars().rev().collect()),
        ("KNOWN_TAIL", known[7..].to_owned()),
    ] {
        fakes.insert(name.to_owned(), value);
    }
    fakes
}

fn expand(text: &str, fakes: &BTreeMap<String, String>) -> String {
    fakes.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{{{name}}}}}"), value)
    })
}
