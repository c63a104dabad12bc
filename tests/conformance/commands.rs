//! Judges one command string the way `execute_command` does: parsed, decided under the file's
//! policy, executed from the tree.

use std::collections::BTreeMap;
use std::time::Duration;

use locum_policy::Policy;
use locum_policy::command::{Execution, Script};
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::exec::{self, CommandRun};
use locum_sandbox::{Reach, Sandbox, Writes};
use serde_json::Value;

use crate::Judged;

/// What `expect: allow` cases stand for is a runner with a sandbox; `sandbox_only` cases are tried
/// without one.
pub(crate) fn judge(case: &Value, document: &Value) -> Judged {
    let policy = policy_of(document);
    let expect = case["expect"].as_str().unwrap();
    let facts =
        Facts { mode: "code".to_owned(), sandboxed: expect != "sandbox_only", ..Facts::default() };
    let script = Script::parse(case["command"].as_str().unwrap());
    let verdict = policy.decide(&Intent::Command(script.clone()), &facts);
    let allowed = verdict.decision == Decision::Allow;
    let right = match expect {
        "allow" => allowed,
        "deny" | "sandbox_only" => {
            !allowed
                || runs_glob_literally(case, &script)
                || (case["alt"] == "killed_by_limit" && is_killed(case, &policy, script))
        }
        "no_canary" => !allowed || starts_no_configured_program(&script),
        other => return Judged::Fail(format!("unknown expectation {other}")),
    };
    if right {
        Judged::Pass
    } else {
        Judged::Fail(format!(
            "{}: {expect}, got {:?}: {}",
            case["command"],
            verdict.decision,
            verdict.reason()
        ))
    }
}

/// The file's list of commands as a policy; what commands read is allowed as far as it is not
/// protected.
fn policy_of(document: &Value) -> Policy {
    let rules: Vec<String> = document["policy"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| format!("command({})", rule.as_str().unwrap()))
        .collect();
    let text = serde_json::json!({ "version": 1, "rules": [{ "allow": "read(**)" }, { "allow": rules }], "commands": { "max_complexity": 1.0 } });
    Policy::parse(&text.to_string(), "vectors").unwrap()
}

fn runs_glob_literally(case: &Value, script: &Script) -> bool {
    case["alt"] == "argv_exec_literal" && matches!(script.execution(), Some(Execution::Words(_)))
}

/// Runs the command in an empty folder under a short limit: it has to be over soon after.
fn is_killed(case: &Value, policy: &Policy, script: Script) -> bool {
    let folder = tempfile::tempdir().unwrap();
    for step in case["setup"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|step| step.as_str()?.strip_prefix("mkfifo "))
    {
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            folder.path().join(step),
            rustix::fs::Mode::from(0o600),
        )
        .unwrap();
    }
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    let Ok(permit) = policy.admit(OneCommand(script.clone()), &facts) else { return true };
    let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let sandbox = Sandbox::around_nothing();
    let run = CommandRun {
        script: &script,
        folder: folder.path().to_owned(),
        env: &env,
        timeout: Duration::from_millis(200),
        output_bytes: 1024,
        redactor: &locum_base::secret::Redactor::default(),
        sandbox: &sandbox,
        reach: Reach {
            root: folder.path(),
            git: &[],
            writes: Writes::Entries,
            git_settings: false,
            visible: &|_| true,
            policy: None,
        },
        proxy: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let output = runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(10), exec::run(&permit, run)).await
    });
    matches!(output, Ok(Ok(output)) if output.output.text.len() < 4096)
}

struct OneCommand(Script);

impl Act for OneCommand {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Command(self.0.clone())]
    }
}

fn starts_no_configured_program(script: &Script) -> bool {
    match script.execution() {
        Some(Execution::Words(words)) => ["core.fsmonitor=false", "core.pager=cat", "--no-pager"]
            .iter()
            .all(|wanted| words.iter().any(|word| word == wanted)),
        Some(Execution::Shell(_)) | None => false,
    }
}
