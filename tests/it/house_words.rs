//! Holds the sources to types where something is decided: what says why is for people, and is never
//! read back.

use std::collections::BTreeSet;

use regex::Regex;

use crate::house::{Source, sources};

/// Files that may look into a sentence that says why, and what it is there.
const READ_WORDS: &[(&str, &str)] = &[
    ("src/agent/tools/browser/action.rs", "an error of the browser"),
    ("src/agent/tools/browser/page.rs", "an error of the browser"),
    ("src/agent/tools/web/search.rs", "where a line of a server ends"),
    ("src/forge/github/client.rs", "what the forge answered"),
    ("src/models/transport/client.rs", "an error of TLS"),
    ("src/modes/prompts/task.rs", "a message of a person"),
    ("src/policy/verdict.rs", "whether a sentence names its intent already"),
    ("src/run/action/jobs.rs", "a line of our own comment, which is shown again"),
    ("src/run/publish/cure.rs", "what the forge and git said, for advice alone"),
    ("src/workspace/git_binary/push.rs", "what git wrote"),
    ("src/workspace/git_binary/retry.rs", "what git wrote"),
];

/// What decides has a type; the sentence that is rendered from it is for people.
#[test]
fn nothing_is_decided_by_the_words_of_a_reason() {
    let mut broken = Vec::new();
    let mut read = BTreeSet::new();
    let words_read = words_read();
    let is_test = |file: &Source| file.is_test() || file.path.ends_with("tests.rs");
    for file in sources().iter().filter(|file| !is_test(file)) {
        for (number, line) in file.code().filter(|(_, line)| words_read.is_match(line)) {
            match READ_WORDS.iter().find(|(path, _)| *path == file.path) {
                Some((path, _)) => drop(read.insert(*path)),
                None => broken.push(format!("{}:{number}: {}", file.path, line.trim())),
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let idle = READ_WORDS.iter().filter(|(path, _)| !read.contains(path));
    assert_eq!(idle.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new(), "these read none");
}

/// Returns what is in a line that looks into what says why, or compares it with a sentence.
fn words_read() -> Regex {
    let name = r"\b(why|said|what|reason|message|complaint|hint|last_mistake)(\(\))?";
    let text = r"(\.(as_str|as_ref|as_deref|trim)\(\))*";
    let looks = r"\.(contains|starts_with|ends_with|matches|strip_\w+|split\w*|eq)\(|\.find\([^|]";
    let compares = r" [=!]= \*?(Some\()?&?(\w+::)*([A-Z][A-Z_]+\b|\x22)";
    Regex::new(&format!("{name}{text}({looks}|{compares})")).unwrap()
}

#[test]
fn a_line_that_reads_a_reason_is_found_and_others_are_not() {
    let words_read = words_read();
    for line in [
        "why.ends_with(\" runs it\")",
        "|| why.contains(\"is set up\") && !has_runner",
        "let is_absent = why.ends_with(\"did not start\");",
        ".any(|part| why.contains(part));",
        "(None, Some((note, why == SAME_COMMENT)))",
        "task.nudges.last_mistake.as_deref() == Some(reminders::COMPLETION_ASKS);",
        "verdict.reason().starts_with(\"no rule\")",
        "if said == \"done\" {",
    ] {
        assert!(words_read.is_match(line), "{line}");
    }
    for line in [
        "why: why.clone(),",
        "let why = tool.line.why.clone();",
        "stayed.why == Stays::AtWork",
        "known.reason == row.reason",
        "reasons.contains(&reason)",
        "said.find(|(name, _)| *name == key)",
    ] {
        assert!(!words_read.is_match(line), "{line}");
    }
}
