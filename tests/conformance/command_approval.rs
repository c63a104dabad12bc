//! Judges one command under Roo's lists, imported: what nobody allowed is what a person would have
//! been asked about.

use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::import::{Peer, import};
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use serde_json::Value;

use crate::Judged;

pub(crate) fn judge(case: &Value, _document: &Value) -> Judged {
    let settings =
        serde_json::json!({ "allowedCommands": case["allowed"], "deniedCommands": case["denied"] });
    let words = ["auto_approve", "ask_user", "auto_deny"];
    compare(case, words, Peer::Roo, &settings, Script::parse(case["command"].as_str().unwrap()))
}

/// Imports the settings and decides; `words` are the peer's for allow, ask and deny.
pub(crate) fn compare(
    case: &Value,
    words: [&str; 3],
    peer: Peer,
    settings: &Value,
    script: Script,
) -> Judged {
    let imported = match import(peer, &settings.to_string(), "settings.json") {
        Ok(imported) => imported,
        Err(errors) => return Judged::Fail(format!("{errors}")),
    };
    let policy = Policy::parse(&imported.policy, "imported").unwrap();
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let verdict = policy.decide(&Intent::Command(script), &facts);
    let got = match verdict.decision {
        Decision::Allow => 0,
        Decision::Deny if verdict.is_by_deny_rule() => 2,
        Decision::Hold | Decision::Deny => 1,
    };
    let expected = words.iter().position(|word| case["expected"] == *word).unwrap();
    let safer = words.iter().position(|word| case["safer"] == *word);
    if safer.is_some_and(|safer| got >= safer) {
        Judged::Safer
    } else if got == expected {
        Judged::Pass
    } else {
        Judged::Fail(format!(
            "{}: expected {expected}, got {got}: {}",
            case["command"],
            verdict.reason()
        ))
    }
}
