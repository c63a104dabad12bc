//! Judges one command under Kode's permission rules, imported.

use locum_policy::command::Script;
use locum_policy::import::Peer;
use serde_json::Value;

use crate::{Judged, command_approval};

pub(crate) fn judge(case: &Value, _document: &Value) -> Judged {
    let settings = serde_json::json!({
        "permissions": { "allow": case["allow"], "deny": case["deny"], "ask": case["ask"], "defaultMode": case["mode"] }
    });
    let script =
        Script::parse(case["command"].as_str().unwrap()).below(case["cwd"].as_str().unwrap());
    command_approval::compare(case, ["allow", "ask", "deny"], Peer::Kode, &settings, script)
}
