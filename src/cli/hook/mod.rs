//! `locum hook`: the policy answers another agent's question whether a tool call may run.
//!
//! In: what that agent writes to its hooks before a call, on standard input. Out: allow, ask or
//! deny in its own JSON, with the rule and its line. Nothing runs. What cannot be read, and a
//! policy with mistakes, never allow.

pub mod args;
mod dialect;
mod hidden_files;

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::cli::hook::args::HookArgs;
use crate::cli::hook::dialect::{HookedCall, Question, without_effect};
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_file::{chosen, parse};
use crate::cli::{CommandContext, ExitStatus, local_run};
use crate::run::error::RunError;
use crate::run::explain::{ExplainedQuery, Explainer};
use crate::run::kept_folder::without_dots;
use locum_agent::tools::dispatch;
use locum_base::tool::ToolName;
use locum_policy::intent::{Facts, Intent};
use locum_policy::query::{PolicyQuery, QueriedAct};
use locum_policy::verdict::Decision;

/// Longest question that is read, in bytes.
const QUESTION_LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// The mode whose rules count, where the policy allows it and no flag names another one.
const MODE: &str = "code";

/// An answer before it is put into words of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HookAnswer {
    /// The policy says nothing about such a tool: the agent's own rules decide.
    NoOpinion,
    /// The policy decided, or has to leave it to a person.
    Decided(Decision, String),
}

/// Runs the subcommand.
///
/// # Errors
/// None: every fault is an answer that does not allow.
pub(super) fn run(
    args: &HookArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    if args.settings {
        output.line(args.agent.settings());
        return Ok(ExitStatus::Done);
    }
    let mut written = Vec::new();
    let input = std::io::stdin().lock().take(QUESTION_LIMIT_BYTES).read_to_end(&mut written);
    let question = input.map_err(|error| format!("standard input: {error}"));
    let answer = match question.and_then(|_| args.agent.read(&written)) {
        Ok(None) => HookAnswer::NoOpinion,
        Ok(Some(call)) => answer(&call, args, context, output),
        Err(why) => HookAnswer::Decided(Decision::Hold, format!("not a question of a hook: {why}")),
    };
    if let Some(written) = args.agent.write(&answer) {
        output.line(written);
    }
    Ok(ExitStatus::Done)
}

fn answer(
    call: &HookedCall,
    args: &HookArgs,
    context: &CommandContext,
    output: &mut Output,
) -> HookAnswer {
    if without_effect(&call.tool) {
        return HookAnswer::NoOpinion;
    }
    // The agent's folder, which need not be the one that its hooks start in.
    let folder = call.folder.clone().unwrap_or_else(|| context.folder.clone());
    if !folder.is_dir() {
        let why = format!("the agent's folder `{}` is not there", folder.display());
        return HookAnswer::Decided(Decision::Hold, why);
    }
    let context = CommandContext { folder, ..context.clone() };
    let wrong = |error: RunError| {
        HookAnswer::Decided(
            Decision::Hold,
            format!("the policy cannot be asked: {}", error.report()),
        )
    };
    match explainer(args, &context, output) {
        Ok(explainer) => decided(call, &explainer, &context),
        Err(error) => wrong(error),
    }
}

fn decided(call: &HookedCall, explainer: &Explainer, context: &CommandContext) -> HookAnswer {
    let root = local_run::open(&context.folder).map(|it| it.checkout.root().to_owned());
    let Ok(root) = root else {
        return HookAnswer::Decided(Decision::Hold, "this folder is in no git checkout".to_owned());
    };
    let question = match call.question(&root, &context.folder) {
        Question::Intent(intent) => QueriedAct::Intent(intent),
        Question::Call(call) if ToolName::called(&call.name).is_none() => {
            let why = format!("the policy does not know the tool `{}`", call.name);
            return HookAnswer::Decided(Decision::Hold, why);
        }
        Question::Call(call) => QueriedAct::Call(call),
        Question::Outside(path) => {
            let why = format!("`{path}` is outside of the checkout, of which the policy speaks");
            return HookAnswer::Decided(Decision::Deny, why);
        }
    };
    let question = PolicyQuery::about(question);
    match explainer.answer(&question) {
        // Not the policy's decision: the agent's tool has arguments that none of ours has.
        Ok(answer) if answer.is_misread => HookAnswer::Decided(Decision::Hold, reason(&answer)),
        Ok(answer) if call.leaves_sandbox() => {
            let why = format!("{}; the call leaves the agent's own sandbox", reason(&answer));
            HookAnswer::Decided(answer.decision().max(Decision::Hold), why)
        }
        Ok(answer) if answer.decision() == Decision::Allow => {
            let shown =
                || hidden_files::objection(&question, &answer.scripts, explainer, &root, context);
            match unheld(&question, explainer).or_else(shown) {
                Some(why) => HookAnswer::Decided(Decision::Hold, why),
                None => HookAnswer::Decided(Decision::Allow, reason(&answer)),
            }
        }
        Ok(answer) => HookAnswer::Decided(answer.decision(), reason(&answer)),
        Err(why) => HookAnswer::Decided(Decision::Hold, why),
    }
}

/// Says what only the sandbox of our own runs would keep a call from.
fn unheld(question: &PolicyQuery, explainer: &Explainer) -> Option<String> {
    let has_returns = match &question.act {
        QueriedAct::Intent(Intent::Command(script)) => script.text().contains('\r'),
        QueriedAct::Intent(_) => false,
        QueriedAct::Call(call) => {
            let arguments: Option<Value> = serde_json::from_str(&call.arguments).ok();
            dispatch::meant(call) == Some(ToolName::ExecuteCommand)
                && arguments
                    .as_ref()
                    .and_then(|arguments| text(arguments, &["command", "cmd", "script"]))
                    .is_none_or(|script| script.contains('\r'))
        }
    };
    if has_returns {
        return Some("shells disagree about carriage returns in a script".to_owned());
    }
    match explainer.answer_without_sandbox(question) {
        Ok(answer) if answer.decision() == Decision::Allow => None,
        Ok(answer) => Some(reason(&answer)),
        Err(why) => Some(why),
    }
}

/// Says why: the rule that decided, with its line.
fn reason(answer: &ExplainedQuery) -> String {
    let Some(explanation) = answer.worst() else { return "nothing was asked".to_owned() };
    let verdict = &explanation.verdict;
    let mut text = format!("{}: {}", verdict.intent, verdict.reason());
    if let Some(rule) = verdict.rule() {
        text.push_str(&format!(" ({} {})", rule.place(), rule.pattern));
    } else if let Some(nearest) = &explanation.nearest {
        let (place, pattern) = (nearest.rule.place(), &nearest.rule.pattern);
        text.push_str(&format!("; nearest rule: {place} {pattern}: {}", nearest.why));
    }
    text
}

/// Prepares the policy of the working tree. Nothing contains the commands of another agent, so they
/// are judged by their words.
fn explainer(
    args: &HookArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Explainer, RunError> {
    let file = chosen(context, args.policy.as_deref(), "--policy", None)?;
    let from = InspectedRepository::open(context, None)?;
    let policy = parse(file.as_ref())?.with_ignored(from.source().ignored()?).without_sandbox();
    let modes = &policy.settings().modes;
    let usual = if modes.allow.iter().any(|slug| slug == MODE) { MODE } else { &modes.default };
    let mode = args.mode.clone().unwrap_or_else(|| usual.to_owned());
    let facts = Facts { mode, sandboxed: true, contained: false, ..Facts::default() };
    let workspace = local_run::open(&context.folder).ok();
    Ok(Explainer::new(policy, from.usable_modes(output)?, workspace, facts, Vec::new()))
}

/// Returns a path of the checkout: `None` for one that leads out of it, also through a link. What
/// does not exist yet counts by the folder it would be in.
pub(super) fn inside(path: &str, root: &Path, folder: &Path) -> Option<String> {
    let plain = without_dots(&folder.join(path));
    let there = plain.ancestors().find(|place| place.symlink_metadata().is_ok())?;
    let rest = plain.strip_prefix(there).ok()?;
    // A link to nothing leads nowhere that could be judged.
    let within = there.canonicalize().ok()?.join(rest);
    let within = within.strip_prefix(root.canonicalize().ok()?).ok()?.to_str()?.to_owned();
    Some(if within.is_empty() { ".".to_owned() } else { within })
}

/// Returns what an intent would be called where a tool has no counterpart here.
pub(super) fn mcp(tool: &str) -> Option<Intent> {
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    let named = !server.is_empty() && !tool.is_empty();
    named.then(|| Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() })
}

/// Returns a text field of a question.
pub(super) fn text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| value.get(name)?.as_str())
}
