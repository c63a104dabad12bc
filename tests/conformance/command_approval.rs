//! Judges one command under Roo's lists, imported: what nobody allowed is what a person would have
//! been asked about.

use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::import::{ImportSource, Peer, import_all};
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    let settings = json!({ "allowedCommands": case.at("allowed").whole(), "deniedCommands": case.at("denied").whole() });
    let words = ["auto_approve", "ask_user", "auto_deny"];
    compare(case, words, Peer::Roo, &settings, Script::parse(case.at("command").text()?))
}

/// Imports the settings and decides; `words` are the peer's for allow, ask and deny.
pub(crate) fn compare(
    case: &Field<'_>,
    words: [&str; 3],
    peer: Peer,
    settings: &Value,
    script: Script,
) -> Result<Judged, String> {
    case.at("note").is_prose();
    let [allow, ask, deny] = words;
    let ranks = [(allow, 0), (ask, 1), (deny, 2)];
    let expected = case.at("expected").word(&ranks)?;
    let safer = case.at("safer").given().map(|safer| safer.word(&ranks)).transpose()?;
    let root = script.root().map(|root| format!("/{root}")).unwrap_or_default();
    let text = settings.to_string();
    let sources = [ImportSource { origin: "settings.json", text: &text }];
    let imported =
        import_all(peer, &sources, &[root.as_str()]).map_err(|errors| errors.to_string())?;
    let policy =
        Policy::parse(&imported.policy, "imported").map_err(|errors| errors.to_string())?;
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let verdict = policy.decide(&Intent::Command(script), &facts);
    let got = match verdict.decision {
        Decision::Allow => 0,
        Decision::Deny if verdict.is_by_deny_rule() => 2,
        Decision::Hold | Decision::Deny => 1,
    };
    Ok(if safer.is_some_and(|safer| got >= safer) {
        Judged::Safer
    } else if got == expected {
        Judged::Pass
    } else {
        let got = words.get(got).copied().unwrap_or_default();
        let (command, expected) = (case.at("command").text()?, case.at("expected").text()?);
        Judged::Fail(format!("{command:?}: expected {expected}, got {got}: {}", verdict.reason()))
    })
}
