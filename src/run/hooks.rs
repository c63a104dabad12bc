//! The hooks of a repository's settings for Claude Code, read where everything else is that judges
//! a run.
//!
//! In: the files of a commit, or of the working tree. Out: hooks and what has no effect, or every
//! mistake; which commands no rule allows. Nothing is run.

use crate::run::error::RunError;
use crate::run::source::FileSource;
use locum_agent::tools::hooks::{HOOKS_FILE, HookDefinition, HookFile};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::lint::warning::Warning;
use locum_policy::query::parse_intent;
use locum_policy::verdict::{Decision, RuleRef};

/// Reads the hooks; none where there is no such file.
///
/// # Errors
/// Every mistake of the file.
pub fn read(source: &FileSource<'_>) -> Result<HookFile, RunError> {
    let Some(file) = source.file(HOOKS_FILE)? else { return Ok(HookFile::default()) };
    let read = HookFile::parse(&file.origin, &file.text);
    if read.mistakes.is_empty() {
        Ok(read)
    } else {
        Err(RunError::file(&file.origin, read.mistakes))
    }
}

/// Returns a warning for each hook whose command the policy allows in no mode that may run. It is
/// judged as on a machine with the whole sandbox.
pub fn unallowed(policy: &Policy, hooks: &[HookDefinition]) -> Vec<Warning> {
    hooks.iter().filter_map(|hook| why_not(policy, hook)).collect()
}

fn why_not(policy: &Policy, hook: &HookDefinition) -> Option<Warning> {
    let command = &hook.command;
    let why = match parse_intent(&format!("command({command})")) {
        Err(why) => why,
        Ok(intent) => {
            let modes = policy.settings().modes.allow.iter();
            let verdicts = modes.map(|mode| {
                let mode = mode.clone();
                let facts = Facts { mode, sandboxed: true, contained: true, ..Facts::default() };
                policy.decide(&intent, &facts)
            });
            let verdicts: Vec<_> = verdicts.collect();
            if verdicts.iter().any(|verdict| verdict.decision == Decision::Allow) {
                return None;
            }
            verdicts.first()?.reason()
        }
    };
    let is_guard = hook.event.guards();
    let effect = if is_guard { "everything that it guards is refused" } else { "it does not run" };
    let (origin, line) = hook.place.rsplit_once(':')?;
    let rule = RuleRef::at("hooks", origin, line.parse().unwrap_or_default());
    let event = hook.event.as_str();
    let message = format!("the hook `{command}` of {event} may run in no mode, so {effect}: {why}");
    Some(Warning { rule, message })
}
