//! Judges what an ignore file hides the way the product does: `read_file` through the tools' door
//! for a path, `execute_command`'s script for a command, the list of protected paths for a write;
//! each decided by a policy that allows everything the case names, so that only the ignore file can
//! refuse.

use std::collections::BTreeMap;

use locum_agent::tools::{Sight, ToolContext, dispatch};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_base::tool::ToolName;
use locum_modes::builtin;
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::ignore::IgnoreFiles;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::paths::protected;
use locum_policy::schema::CommandLimits;
use locum_policy::verdict::{Decision, Verdict};
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;
use serde_json::{Value, json};

use crate::Judged;

/// Judges one case.
pub(crate) fn judge(case: &Value, _document: &Value) -> Judged {
    if case["kind"] == "write_protected" {
        let path = RepoPath::parse(case["path"].as_str().unwrap()).unwrap();
        let is_protected = protected(&path).is_some();
        return weigh(
            case,
            "protected",
            is_protected,
            is_protected,
            format!("{path}: protected: {is_protected}"),
        );
    }
    let intents = match intents(case) {
        Ok(intents) => intents,
        Err(why) => return weigh(case, "allowed", false, true, why),
    };
    let worst = |policy: &Policy| {
        intents
            .iter()
            .map(|intent| policy.decide(intent, &facts()))
            .max_by_key(|verdict| verdict.decision)
            .unwrap()
    };
    let open = policy(case);
    let mut ignored = IgnoreFiles::default();
    ignored.add(".rooignore", case["ignore"].as_str().unwrap_or_default()).unwrap();
    let verdict = worst(&open.clone().with_ignored(ignored));
    let allowed = verdict.decision == Decision::Allow;
    if let Some(missing) = unnamed(case, &verdict) {
        return Judged::Fail(missing);
    }
    // Refused without an ignore file too: stricter for a reason of its own.
    let stricter = !allowed && worst(&open).decision != Decision::Allow;
    weigh(case, "allowed", allowed, stricter, format!("{}: {}", verdict.intent, verdict.reason()))
}

/// Compares the answer with the peer's, then with the safer one; `stricter` says that a refusal has
/// another, good reason.
fn weigh(case: &Value, key: &str, answer: bool, stricter: bool, told: String) -> Judged {
    if case["expected"][key] == answer {
        Judged::Pass
    } else if stricter
        || case["safer"][key] == answer
        || (case["tag"] == "quirk" && key == "allowed" && !answer)
    {
        Judged::Safer
    } else {
        Judged::Fail(told)
    }
}

/// A refusal names the word that is refused, and where it is hidden.
fn unnamed(case: &Value, verdict: &Verdict) -> Option<String> {
    let word = case["expected"]["blocked_argument"].as_str()?;
    let named = verdict.reason().contains(word.trim_start_matches("./"));
    (verdict.decision != Decision::Allow && !named)
        .then(|| format!("{}: `{word}` is not named: {}", verdict.intent, verdict.reason()))
}

/// What the product asks the policy for: the path as the tools resolve it, or the script.
fn intents(case: &Value) -> Result<Vec<Intent>, String> {
    if let Some(command) = case["command"].as_str() {
        return Ok(vec![Intent::Command(Script::parse(command))]);
    }
    let folder = tempfile::tempdir().unwrap();
    seed::repository(folder.path(), &[("a", "a")], "first").unwrap();
    let root = std::fs::canonicalize(folder.path()).unwrap();
    let checkout = Checkout::open(&root).unwrap();
    let modes = builtin::modes();
    let context = ToolContext {
        checkout: &checkout,
        repo: &Repo::open(&root).unwrap(),
        mode: modes.iter().find(|mode| mode.slug == "code").unwrap(),
        commands: &CommandLimits::default(),
        env: &BTreeMap::new(),
        sandbox: &locum_sandbox::Sandbox::around_nothing(),
        redactor: &Redactor::default(),
        visible: &|_: &RepoPath| true,
        policy: &Policy::builtin(),
        facts: &locum_policy::intent::Facts::default(),
        connector: &locum_sandbox::network::Connector::default(),
        skills: None,
        sight: Sight::Blind,
        servers: None,
        painters: &[],
    };
    let path = case["path"].as_str().unwrap().replace("<ROOT>", root.to_str().unwrap());
    let call = ToolCall {
        id: "1".into(),
        name: "read_file".into(),
        arguments: json!({ "path": path }).to_string(),
    };
    dispatch::parse(&call, ToolName::ALL, context)
        .map(|call| call.intents())
        .map_err(|error| error.0)
}

/// Allows everything, and by name what is otherwise protected.
fn policy(case: &Value) -> Policy {
    let words = case["command"]
        .as_str()
        .into_iter()
        .flat_map(|command| command.split(['|', ';', '&', '\n']));
    let programs = words.clone().filter_map(|command| command.split_whitespace().next());
    let mut allow: Vec<String> = programs.map(|program| format!("command({program}:*)")).collect();
    allow.push("read(**)".to_owned());
    let names = case["path"]
        .as_str()
        .into_iter()
        .chain(words.flat_map(str::split_whitespace))
        .filter_map(|word| RepoPath::parse(word).ok());
    let named: Vec<String> =
        names.filter(|path| !path.is_root()).map(|path| format!("read({path})")).collect();
    let mut rules = vec![json!({ "allow": allow })];
    if !named.is_empty() {
        rules.push(json!({ "allow": named, "protected": true }));
    }
    let document = |rules: &[Value]| {
        json!({ "version": 1, "rules": rules, "commands": { "max_complexity": 1.0 } }).to_string()
    };
    // Not every word of a command can stand in a rule.
    Policy::parse(&document(&rules), "vectors")
        .or_else(|_| Policy::parse(&document(&rules[..1]), "vectors"))
        .unwrap()
}

fn facts() -> Facts {
    Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() }
}
