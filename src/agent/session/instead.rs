//! Which tool does what a refused command was for, in one sentence for the model.
//!
//! In: the call, the policy's verdict on it, and the tools its model is shown. Out: a sentence, or
//! nothing. A tool that is not shown is not named. Which rule comes nearest the policy says itself.

use crate::tools::dispatch::CheckedCall;
use locum_base::tool::ToolName;
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::intent::{Act, Facts, Intent};
use locum_policy::lint::instead::{self, RefusedUse};
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

/// Returns what to use in place of a refused call, as a sentence.
pub(crate) fn of(
    call: &CheckedCall,
    refusal: &Refusal,
    (policy, facts): (&Policy, &Facts),
    shown: &dyn Fn(ToolName) -> bool,
) -> Option<String> {
    let script = call.intents().into_iter().find_map(|intent| {
        if let Intent::Command(script) = intent { Some(script) } else { None }
    })?;
    if refusal.decision != Decision::Deny {
        return None;
    }
    let verdict = policy.decide(&Intent::Command(script.clone()), facts);
    let part = instead::refused_use(policy, &script, facts, &verdict);
    let mut said: Vec<&str> =
        purpose(&script, &part).and_then(|one| sentence(one, shown)).into_iter().collect();
    if script.text().contains("$?") {
        said.push("The exit code is shown with every result.");
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// Returns what to do for a purpose, where a tool that is shown serves it.
fn sentence(purpose: CommandPurpose, shown: &dyn Fn(ToolName) -> bool) -> Option<&'static str> {
    let serves: &[(ToolName, &str)] = match purpose {
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
            &[(ToolName::ApplyPatch, "`apply_patch` deletes and moves files.")]
        }
        CommandPurpose::FetchPage => &[(ToolName::WebFetch, "`web_fetch` gets pages.")],
        CommandPurpose::Publish => {
            return Some("The run itself commits and publishes the files you changed.");
        }
        CommandPurpose::ShortenOutput => {
            return Some("Long output is shortened by itself: run the command without this.");
        }
    };
    serves.iter().find(|(tool, _)| shown(*tool)).map(|(_, text)| *text)
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
    let second = words.iter().skip(1).find(|word| !word.starts_with('-')).map(String::as_str);
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
        "git" => match second? {
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
