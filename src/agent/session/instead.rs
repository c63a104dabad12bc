//! Which tool does what a refused command was for, in one sentence for the model.
//!
//! In: the call, the policy's verdict on it, and the tools its model is shown. Out: a sentence, or
//! nothing. A tool that is not shown is not named, and neither is one that would be refused for the
//! same files. Which rule comes nearest the policy says itself.

use crate::tools::dispatch::CheckedCall;
use locum_base::tool::{ToolGroup, ToolName};
use locum_modes::{Mode, access};
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::command::examine::PathUse;
use locum_policy::command::tables::verbs;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::lint::instead::{self, RefusedUse};
use locum_policy::urls::WebUrl;
use locum_policy::verdict::{Decision, Refusal};

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandPurpose {
    ShowFile,
    SearchFiles,
    FindFiles,
    ListFolder,
    ChangeFile,
    WriteFile,
    MoveFiles,
    FetchPage,
    Publish,
    ShortenOutput,
}

/// What decides on a tool that is used in place of a command.
#[derive(Clone, Copy)]
pub(crate) struct InsteadRules<'r> {
    /// The policy.
    pub(crate) policy: &'r Policy,
    /// The facts of the task.
    pub(crate) facts: &'r Facts,
    /// The mode of the task.
    pub(crate) mode: &'r Mode,
}

impl InsteadRules<'_> {
    /// Returns true where a tool may do, on the files and addresses that the refused part of a
    /// script names, what that part was for.
    fn allow(&self, tool: ToolName, script: &Script, part: &RefusedUse) -> bool {
        intents(tool, script, part).is_some_and(|intents| {
            intents.iter().all(|intent| {
                access::check_intent(self.mode, tool, intent).is_ok()
                    && self.policy.decide(intent, self.facts).decision == Decision::Allow
            })
        })
    }
}

/// Returns what a tool would do on the same files and addresses, as far as they are known; `None`
/// where one of them is not in the repository.
fn intents(tool: ToolName, script: &Script, part: &RefusedUse) -> Option<Vec<Intent>> {
    let examined = script.examinations();
    let is_refused = |words: &[String]| matches!(part, RefusedUse::Program(of) if of == words);
    let is_known = examined.iter().any(|(simple, _)| is_refused(&simple.words));
    let (mut reads, mut edits) = script.redirected();
    for (simple, effects) in examined {
        if !is_known || is_refused(&simple.words) {
            reads.extend(effects.reads);
            edits.extend(effects.edits);
        }
    }
    if tool == ToolName::WebFetch {
        let RefusedUse::Program(words) = part else { return Some(Vec::new()) };
        let urls = words.iter().filter(|word| word.contains("://"));
        return Some(urls.map(|word| Intent::Fetch(WebUrl::parse(word))).collect());
    }
    let changes = tool.availability().group() == Some(ToolGroup::Edit);
    let (paths, intent): (_, fn(_) -> _) =
        if changes { (edits, Intent::Edit) } else { (reads, Intent::Read) };
    paths.iter().map(|path: &PathUse| path.inside().cloned().map(intent)).collect()
}

/// Returns what to use in place of a refused call, as a sentence.
pub(crate) fn of(
    call: &CheckedCall,
    refusal: &Refusal,
    rules: InsteadRules<'_>,
    shown: &dyn Fn(ToolName) -> bool,
) -> Option<String> {
    let script = call.intents().into_iter().find_map(|intent| {
        if let Intent::Command(script) = intent { Some(script) } else { None }
    })?;
    if refusal.decision != Decision::Deny {
        return None;
    }
    let InsteadRules { policy, facts, .. } = rules;
    let verdict = policy.decide(&Intent::Command(script.clone()), facts);
    let part = instead::refused_use(policy, &script, facts, &verdict);
    let serves = |tool: ToolName| shown(tool) && rules.allow(tool, &script, &part);
    let mut said: Vec<&str> =
        purpose(&script, &part).and_then(|one| sentence(one, &serves)).into_iter().collect();
    if script.text().contains("$?") {
        said.push("The exit code is shown with every result.");
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// Returns what to do for a purpose, where a tool may serve it.
fn sentence(purpose: CommandPurpose, may_serve: &dyn Fn(ToolName) -> bool) -> Option<&'static str> {
    let tools: &[(ToolName, &str)] = match purpose {
        CommandPurpose::ShowFile => &[(
            ToolName::ReadFile,
            "`read_file` shows a file, or the lines `offset` and `limit` name.",
        )],
        CommandPurpose::SearchFiles => {
            &[(ToolName::SearchFiles, "`search_files` searches the contents of files.")]
        }
        CommandPurpose::FindFiles => &[
            (ToolName::Glob, "`glob` finds files by name."),
            (ToolName::ListFiles, "`list_files` lists folders."),
        ],
        CommandPurpose::ListFolder => &[(ToolName::ListFiles, "`list_files` lists folders.")],
        CommandPurpose::ChangeFile => &[(ToolName::ApplyDiff, "`apply_diff` changes files.")],
        CommandPurpose::WriteFile => {
            &[(ToolName::WriteToFile, "`write_to_file` writes files, and makes their folders.")]
        }
        CommandPurpose::MoveFiles => {
            &[(ToolName::MoveFile, "`delete_file` deletes a file, `move_file` moves one.")]
        }
        CommandPurpose::FetchPage => &[(ToolName::WebFetch, "`web_fetch` gets pages.")],
        CommandPurpose::Publish => {
            return Some("The run itself commits and publishes the files you changed.");
        }
        CommandPurpose::ShortenOutput => {
            return Some("Long output is shortened by itself: run the command without this.");
        }
    };
    tools.iter().find(|(tool, _)| may_serve(*tool)).map(|(_, text)| *text)
}

/// Returns what the refused part of a script is for, where that is known.
fn purpose(script: &Script, part: &RefusedUse) -> Option<CommandPurpose> {
    let words = match part {
        RefusedUse::Writes => return Some(CommandPurpose::WriteFile),
        RefusedUse::Reads => return Some(CommandPurpose::ShowFile),
        RefusedUse::Program(words) => words,
    };
    let program = words.first()?.rsplit('/').next()?;
    let has = |option: &str| words.iter().skip(1).any(|word| word.starts_with(option));
    let first = script.simple_commands().first().map(|simple| simple.words.as_slice());
    let behind_pipe = script.text().contains('|') && first.is_some_and(|first| first != words);
    let writes = !script.redirected().1.is_empty()
        || (script.problem().is_some() && script.text().contains('>'));
    Some(match program {
        "head" | "tail" | "grep" | "less" | "more" | "cat" | "tee" if behind_pipe => {
            CommandPurpose::ShortenOutput
        }
        "cat" | "echo" | "printf" | "tee" | "touch" | "mkdir" if writes => {
            CommandPurpose::WriteFile
        }
        "tee" | "touch" | "mkdir" => CommandPurpose::WriteFile,
        "sed" | "perl" if has("-i") || has("--in-place") => CommandPurpose::ChangeFile,
        "patch" => CommandPurpose::ChangeFile,
        "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "sed" | "awk" => {
            CommandPurpose::ShowFile
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" => CommandPurpose::SearchFiles,
        "find" | "fd" => CommandPurpose::FindFiles,
        "ls" | "tree" => CommandPurpose::ListFolder,
        "rm" | "mv" | "cp" => CommandPurpose::MoveFiles,
        "curl" | "wget" => CommandPurpose::FetchPage,
        "gh" | "hub" => CommandPurpose::Publish,
        "git" => match verbs::verb(words)? {
            "add" | "commit" | "push" | "tag" => CommandPurpose::Publish,
            "grep" => CommandPurpose::SearchFiles,
            "ls-files" | "ls-tree" => CommandPurpose::FindFiles,
            "apply" | "am" => CommandPurpose::ChangeFile,
            "rm" | "mv" => CommandPurpose::MoveFiles,
            _ => return None,
        },
        _ => return None,
    })
}
