//! Judges what an ignore file hides the way the product does: `read_file` through the tools' door
//! for a path, `execute_command`'s script for a command, the list of protected paths for a write;
//! each decided by a policy that allows everything the case names, so that only the ignore file can
//! refuse.

use std::collections::BTreeMap;

use locum_agent::env::RunEnv;
use locum_agent::tools::{ToolContext, dispatch};
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
use locum_policy::verdict::{Decision, Verdict};
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;
use locum_workspace::seed;
use serde_json::{Value, json};

use crate::Judged;
use crate::field::Field;

/// Judges one case.
pub(crate) fn judge(case: &Field<'_>, _file: &Field<'_>) -> Result<Judged, String> {
    case.at("note").is_prose();
    match case.at("kind").text()? {
        "write_protected" => {
            let path =
                RepoPath::parse(case.at("path").text()?).map_err(|error| error.to_string())?;
            let is_protected = protected(&path).is_some();
            weigh(
                case,
                "protected",
                is_protected,
                is_protected,
                format!("{path}: protected: {is_protected}"),
            )
        }
        "path" => {
            let path = case.at("path").text()?;
            hidden(case, &path_intents(path)?, &open_policy(&[path], &[])?)
        }
        "command" => {
            let command = case.at("command").text()?;
            let simple: Vec<&str> = command.split(['|', ';', '&', '\n']).collect();
            let words: Vec<&str> =
                simple.iter().flat_map(|command| command.split_whitespace()).collect();
            let programs: Vec<&str> =
                simple.iter().filter_map(|command| command.split_whitespace().next()).collect();
            hidden(
                case,
                &Ok(vec![Intent::Command(Script::parse(command))]),
                &open_policy(&words, &programs)?,
            )
        }
        other => Err(format!("unknown kind `{other}`")),
    }
}

/// Decides what was asked for with the ignore file and without it; an error stands for a refusal
/// that needed no policy.
fn hidden(
    case: &Field<'_>,
    intents: &Result<Vec<Intent>, String>,
    open: &Policy,
) -> Result<Judged, String> {
    let ignore = case.at("ignore").given().map(|file| file.text()).transpose()?;
    let blocked =
        case.at("expected").at("blocked_argument").given().map(|word| word.text()).transpose()?;
    let intents = match intents {
        Ok(intents) => intents,
        Err(why) => return weigh(case, "allowed", false, true, why.clone()),
    };
    let worst = |policy: &Policy| {
        let verdicts = intents.iter().map(|intent| policy.decide(intent, &facts()));
        verdicts.max_by_key(|verdict| verdict.decision).ok_or("nothing was asked for")
    };
    let mut ignored = IgnoreFiles::default();
    ignored
        .add(".rooignore", ignore.unwrap_or_default())
        .map_err(|errors| format!("{errors:?}"))?;
    let verdict = worst(&open.clone().with_ignored(ignored))?;
    let allowed = verdict.decision == Decision::Allow;
    if let Some(missing) = blocked.and_then(|word| unnamed(word, &verdict)) {
        return Ok(Judged::Fail(missing));
    }
    // Refused without an ignore file too: stricter for a reason of its own.
    let stricter = !allowed && worst(open)?.decision != Decision::Allow;
    weigh(case, "allowed", allowed, stricter, format!("{}: {}", verdict.intent, verdict.reason()))
}

/// Compares the answer with the peer's, then with the safer one; `stricter` says that a refusal has
/// another, good reason.
fn weigh(
    case: &Field<'_>,
    key: &str,
    answer: bool,
    stricter: bool,
    told: String,
) -> Result<Judged, String> {
    let expected = case.at("expected").at(key).flag()?;
    let safer = case.at("safer").at(key).given().map(|safer| safer.flag()).transpose()?;
    let is_quirk = case.at("tag").text()? == "quirk";
    Ok(if expected == answer {
        Judged::Pass
    } else if stricter || safer == Some(answer) || (is_quirk && key == "allowed" && !answer) {
        Judged::Safer
    } else {
        Judged::Fail(told)
    })
}

/// A refusal names the word that is refused, and where it is hidden.
fn unnamed(word: &str, verdict: &Verdict) -> Option<String> {
    let named = verdict.reason().contains(word.trim_start_matches("./"));
    (verdict.decision != Decision::Allow && !named)
        .then(|| format!("{}: `{word}` is not named: {}", verdict.intent, verdict.reason()))
}

/// What the product asks the policy for when a tool is given this path, or why it does not even
/// ask.
fn path_intents(path: &str) -> Result<Result<Vec<Intent>, String>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    seed::repository(folder.path(), &[("a", "a")], "first").map_err(|error| error.to_string())?;
    let root = std::fs::canonicalize(folder.path()).map_err(|error| error.to_string())?;
    let checkout = Checkout::open(&root).map_err(|error| error.to_string())?;
    let mode = builtin::modes()
        .into_iter()
        .find(|mode| mode.slug == "code")
        .ok_or("there is no mode `code`")?;
    let repo = Repo::open(&root).map_err(|error| error.to_string())?;
    let (workspace, policy, facts) =
        (Workspace { checkout, repo }, Policy::builtin(), Facts::default());
    let (env, sandbox) = (BTreeMap::new(), Sandbox::around_nothing());
    let (redactor, connector) = (Redactor::default(), Connector::default());
    let run = RunEnv::bare(&policy, &env, &sandbox, &redactor, &connector);
    let context = ToolContext::bare(run, &workspace, &mode, &facts, &|_: &RepoPath| true);
    let path = path.replace("<ROOT>", &root.to_string_lossy());
    let call = ToolCall {
        id: "1".into(),
        name: "read_file".into(),
        arguments: json!({ "path": path }).to_string(),
    };
    Ok(dispatch::parse(&call, ToolName::ALL, context)
        .map(|call| call.intents())
        .map_err(|error| error.0))
}

/// Allows everything, and by name what is otherwise protected.
fn open_policy(words: &[&str], programs: &[&str]) -> Result<Policy, String> {
    let mut allow: Vec<String> =
        programs.iter().map(|program| format!("command({program}:*)")).collect();
    allow.push("read(**)".to_owned());
    let names = words.iter().filter_map(|word| RepoPath::parse(word).ok());
    let named: Vec<String> =
        names.filter(|path| !path.is_root()).map(|path| format!("read({path})")).collect();
    let open = json!({ "allow": allow });
    let all = if named.is_empty() {
        vec![open.clone()]
    } else {
        vec![open.clone(), json!({ "allow": named, "protected": true })]
    };
    let parse = |rules: &[Value]| {
        let document =
            json!({ "version": 1, "rules": rules, "commands": { "max_complexity": 1.0 } });
        Policy::parse(&document.to_string(), "vectors")
    };
    // Not every word of a command can stand in a rule.
    parse(&all).or_else(|_| parse(&[open])).map_err(|errors| errors.to_string())
}

fn facts() -> Facts {
    Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() }
}
