//! Judges one command under Kode's permission rules, imported.

use locum_policy::command::Script;
use locum_policy::import::Peer;
use serde_json::json;

use crate::field::Field;
use crate::{Judged, command_approval};

pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    let rules = |key: &str| case.at(key).whole();
    let settings = json!({ "permissions": { "allow": rules("allow"), "deny": rules("deny"), "ask": rules("ask"), "defaultMode": case.at("mode").text()? } });
    let script = Script::parse(case.at("command").text()?).below(case.at("cwd").text()?);
    command_approval::compare(case, ["allow", "ask", "deny"], Peer::Kode, &settings, script)
}
