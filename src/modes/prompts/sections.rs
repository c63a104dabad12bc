//! The sections of a system prompt, each a function from facts to text. Fixed texts lie in
//! `config/prompts/`; what depends on the run is added here. A section with nothing to say is empty
//! and left out.

use crate::Mode;
use crate::access;
use crate::file_limits::FileLimit;
use crate::permissions::{PermissionAction, PermissionKind, PermissionRule, Permissions};
use crate::prompts::PromptFacts;
use crate::prompts::PromptFile;
use crate::prompts::commands::called;
use crate::prompts::{servers, skills};
use locum_base::text::code_list;
use locum_base::tool::ToolName;

/// Returns who the model is.
pub(crate) fn role(facts: &PromptFacts<'_>) -> String {
    let mode = facts.mode;
    let more = mode
        .system_prompt
        .as_deref()
        .map(|text| format!("\n\n{}", text.trim()))
        .unwrap_or_default();
    mode.filled(&format!("{}{more}", mode.role_definition.trim()))
}

/// Returns the text that a repository has in place of most of the prompt, its variables filled in.
pub(crate) fn replacing(facts: &PromptFacts<'_>, text: &str) -> String {
    let variables = [
        ("{{mode}}", facts.mode.slug.as_str()),
        ("{{language}}", facts.language.unwrap_or("English")),
        ("{{operatingSystem}}", facts.system),
        ("{{shell}}", "sh"),
        ("{{workspace}}", "."),
    ];
    facts.mode.filled(
        &variables.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value)),
    )
}

/// Returns the rules of every run; those of a decision are few.
pub(crate) fn run_rules(facts: &PromptFacts<'_>) -> &'static str {
    if has(facts, ToolName::CoordinateMode) {
        include_str!("../../../config/prompts/run-decide.md")
    } else {
        include_str!("../../../config/prompts/run.md")
    }
}

/// Returns the skills the model may read.
pub(crate) fn skills(facts: &PromptFacts<'_>) -> String {
    if facts.skills.is_empty() || !has(facts, ToolName::Skill) {
        return String::new();
    }
    format!("{}{}", include_str!("../../../config/prompts/skills.md"), skills::listed(facts.skills))
}

/// Returns the slash commands the model may call.
pub(crate) fn commands(facts: &PromptFacts<'_>) -> String {
    if facts.commands.is_empty() || !has(facts, ToolName::RunSlashCommand) {
        return String::new();
    }
    let listed = called::listed(facts.commands);
    format!("{}{listed}", include_str!("../../../config/prompts/commands.md"))
}

/// Returns the MCP servers whose tools the model has.
pub(crate) fn servers(facts: &PromptFacts<'_>) -> String {
    if facts.servers.is_empty() {
        return String::new();
    }
    format!(
        "{}{}",
        include_str!("../../../config/prompts/servers.md"),
        servers::listed(facts.servers)
    )
}

/// Returns the language that reports are written in.
pub(crate) fn language(facts: &PromptFacts<'_>) -> String {
    let said = |language: &str| {
        format!(
            "## Language\n\nWrite results, questions and checklists in {language}. Code, names, \
             commit messages and files stay in the language the repository uses.\n"
        )
    };
    facts.language.map(said).unwrap_or_default()
}

/// Returns how to use the tools that are offered. Their schemas go to the model by themselves.
pub(crate) fn tools(facts: &PromptFacts<'_>) -> String {
    // What models were trained on is what they are told to use.
    let edit = if has(facts, ToolName::ApplyPatch) {
        include_str!("../../../config/prompts/edit-patch.md")
    } else {
        include_str!("../../../config/prompts/edit.md")
    };
    let of_tools = [
        (ToolName::UpdateTodoList, include_str!("../../../config/prompts/todo.md")),
        (ToolName::ReadFile, include_str!("../../../config/prompts/read.md")),
        (ToolName::WriteToFile, edit),
        (ToolName::ExecuteCommand, include_str!("../../../config/prompts/command.md")),
        (ToolName::NewTask, include_str!("../../../config/prompts/delegate.md")),
    ];
    let mut text = include_str!("../../../config/prompts/tools.md").to_owned();
    text.extend(of_tools.iter().filter(|(tool, _)| has(facts, *tool)).map(|(_, part)| *part));
    if has(facts, ToolName::NewTask) && facts.parallel {
        text.push_str(include_str!("../../../config/prompts/delegate-parallel.md"));
    }
    if has(facts, ToolName::AskExpertModel) && !facts.experts.is_empty() {
        text.push_str(&listed_experts(facts.experts));
    }
    text
}

/// Returns what the mode and the policy let the model do.
pub(crate) fn capabilities(facts: &PromptFacts<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let limits = [
        (ToolName::ReadFile, "reads", access::read_limits(facts.mode)),
        (ToolName::WriteToFile, "edits", access::edit_limits(facts.mode)),
    ];
    for (_, verb, limits) in limits.into_iter().filter(|(tool, ..)| has(facts, *tool)) {
        lines.extend(limits.into_iter().map(|(limit, pattern, meaning)| {
            let meaning = meaning.map(|text| format!(" ({text})")).unwrap_or_default();
            let which = match limit {
                FileLimit::Only => "only",
                FileLimit::Never => "no",
            };
            format!("- This mode {verb} {which} files whose path matches `{pattern}`{meaning}.\n")
        }));
    }
    lines.extend(
        facts
            .mode
            .permission_maps()
            .into_iter()
            .filter_map(permissions)
            .map(|section| format!("- {section}\n")),
    );
    lines.extend(facts.policy_lines.iter().map(|line| format!("- {line}\n")));
    if lines.is_empty() {
        return String::new();
    }
    let rest =
        if facts.policy_lines.is_empty() { "" } else { "\nWhatever is not listed is refused.\n" };
    format!("## What is allowed\n\n{}{rest}", lines.concat())
}

/// Returns what the permission map of an agent file takes away, in one sentence.
pub fn permissions(permissions: &Permissions) -> Option<String> {
    let line = |rule: &PermissionRule| {
        let what = match rule.permission {
            PermissionKind::Read => "reads",
            PermissionKind::Edit => "edits of",
            PermissionKind::Command => "commands",
            PermissionKind::Mcp => "MCP tools",
            PermissionKind::Delegate => "sub-tasks in",
        };
        let word = match rule.action {
            PermissionAction::Allow | PermissionAction::Ask => "may be allowed",
            PermissionAction::Deny => "denied",
        };
        format!("{what} `{}`: {word}", rule.pattern)
    };
    if permissions.0.iter().all(|rule| rule.action != PermissionAction::Deny) {
        return None;
    }
    let rules: Vec<String> = permissions.0.iter().map(line).collect();
    Some(format!("In this mode, where the last match counts: {}.", rules.join("; ")))
}

/// Returns the modes that sub-tasks may run in, or that the task may go on in.
pub(crate) fn modes(facts: &PromptFacts<'_>) -> String {
    let mut text = String::new();
    if has(facts, ToolName::NewTask) && !facts.delegates.is_empty() {
        let line =
            |(mode, rights): &(&Mode, String)| format!("{}  It may {rights}.\n", mode_line(mode));
        let delegates: String = facts.delegates.iter().map(line).collect();
        text.push_str(&format!("## Modes for sub-tasks\n\n{delegates}"));
    }
    if has(facts, ToolName::SwitchMode) {
        let others: String =
            facts.modes.iter().filter(|mode| mode.slug != facts.mode.slug).map(mode_line).collect();
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}## Modes to switch to\n\n{others}"));
    }
    let others: Vec<String> = facts
        .modes
        .iter()
        .filter(|mode| mode.slug != facts.mode.slug && mode.slug != access::COORDINATOR)
        .map(|mode| format!("`{}`", mode.slug))
        .collect();
    if has(facts, ToolName::RequestModeSwitch) && !others.is_empty() {
        let gap = if text.is_empty() { "## Modes\n\n" } else { "\n" };
        text.push_str(&format!("{gap}`request_mode_switch` may name {}.\n", others.join(", ")));
    }
    text
}

/// Returns where the model works.
pub(crate) fn system(facts: &PromptFacts<'_>) -> String {
    let place = facts.place;
    let date = match place.date.as_str() {
        "" => String::new(),
        date => format!("; today is {date}"),
    };
    let branch = place.branch.as_ref().map(|branch| format!(", on branch `{branch}`"));
    let lines: String = place.lines().iter().map(|line| format!("- {line}\n")).collect();
    format!(
        "## System\n\n- Operating system: {}{date}\n- Mode: {} (`{}`)\n- Working directory: the \
         root of the checkout{}\n{lines}",
        facts.system,
        facts.mode.name,
        facts.mode.slug,
        branch.unwrap_or_default()
    )
}

/// Returns how to end.
pub(crate) fn objective(facts: &PromptFacts<'_>) -> String {
    if has(facts, ToolName::CoordinateMode) {
        return include_str!("../../../config/prompts/finish-decide.md").to_owned();
    }
    let verified = if has(facts, ToolName::ExecuteCommand) {
        include_str!("../../../config/prompts/finish-command.md")
    } else if has(facts, ToolName::ReadFile) || !has(facts, ToolName::NewTask) {
        include_str!("../../../config/prompts/finish-plain.md")
    } else {
        include_str!("../../../config/prompts/finish-delegate.md")
    };
    let title = if may_change(facts) {
        "\nThe first sentence of the result becomes the title of the pull request and commit: at \
         most 70 characters.\n"
    } else {
        ""
    };
    format!(
        "{}{verified}{}{title}{}",
        include_str!("../../../config/prompts/finish.md"),
        include_str!("../../../config/prompts/finish-end.md"),
        checks(facts)
    )
}

/// Whether the model may change files or have them changed.
fn may_change(facts: &PromptFacts<'_>) -> bool {
    [ToolName::WriteToFile, ToolName::ApplyPatch, ToolName::NewTask]
        .iter()
        .any(|tool| has(facts, *tool))
}

/// Returns which commands decide whether the result is ready, for modes that may change files.
fn checks(facts: &PromptFacts<'_>) -> String {
    if facts.checks.is_empty() || !may_change(facts) {
        return String::new();
    }
    let named = |may: Option<bool>| {
        let checks =
            facts.checks.iter().filter(|(_, may_run)| may.is_none_or(|may| may == *may_run));
        code_list(checks.map(|(command, _)| command))
    };
    let barred = match named(Some(false)) {
        barred if has(facts, ToolName::ExecuteCommand) && !barred.is_empty() => {
            format!(" You cannot run {barred} in this mode.")
        }
        _ => String::new(),
    };
    format!(
        "\nIf files changed, the run checks at the end whether the result is ready: {}.{barred}\n",
        named(None)
    )
}

/// Returns what holds in every repository.
pub(crate) fn everywhere(facts: &PromptFacts<'_>) -> String {
    let shown = |text: &str| format!("## Instructions for every repository\n\n{}\n", text.trim());
    facts.everywhere.map(shown).unwrap_or_default()
}

/// Returns the mode's own instructions.
pub(crate) fn instructions(facts: &PromptFacts<'_>) -> String {
    // They say how a task of its own in the mode goes on.
    let decides = has(facts, ToolName::CoordinateMode) && facts.mode.slug == access::COORDINATOR;
    match facts.mode.custom_instructions.as_deref().map(str::trim).filter(|_| !decides) {
        Some(text) if !text.is_empty() => {
            format!("## Instructions for this mode\n\n{}\n", facts.mode.filled(text))
        }
        Some(_) | None => String::new(),
    }
}

/// Returns the mode's own rules and the repository's standing instructions.
pub(crate) fn repository_rules(facts: &PromptFacts<'_>) -> String {
    let own: String = facts
        .mode
        .rules
        .iter()
        .map(|rule| format!("- {}\n", facts.mode.filled(rule.trim())))
        .collect();
    let own = if own.is_empty() { own } else { format!("## Rules of this mode\n\n{own}") };
    let files = rules_files(facts.rules);
    let gap = if own.is_empty() || files.is_empty() { "" } else { "\n" };
    format!("{own}{gap}{files}")
}

fn rules_files(files: &[PromptFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let files: Vec<String> = files
        .iter()
        .map(|file| format!("# Rules from {}\n\n{}\n", file.path, file.text.trim()))
        .collect();
    format!("## Rules of this repository\n\n{}", files.join("\n"))
}

fn has(facts: &PromptFacts<'_>, tool: ToolName) -> bool {
    facts.tools.iter().any(|spec| spec.name == tool.as_str())
}

/// Returns a mode on one line, whatever its file says.
pub(crate) fn mode_line(mode: &Mode) -> String {
    let purpose = [&mode.when_to_use, &mode.description]
        .into_iter()
        .flatten()
        .map(|text| text.trim())
        .find(|text| !text.is_empty());
    let purpose = purpose.unwrap_or(mode.role_definition.trim());
    let words: Vec<&str> = purpose.split_whitespace().collect();
    format!("- `{}` ({}): {}\n", mode.slug, mode.name.trim(), words.join(" "))
}

/// Returns which experts there are, for the prompt.
fn listed_experts(experts: &[&str]) -> String {
    let names: Vec<String> = experts.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "- `ask_expert_model` puts a question to another model: {}. Ask when you are stuck or a \
         decision is costly to get wrong, not for what you can look up.\n",
        names.join(", ")
    )
}
