//! `SystemPrompt`: what a model in one mode is sent besides the conversation: the system prompt and
//! the tools. Made once a mode, so that it stays the same bytes from turn to turn.

use crate::session::model::TaskModel;
use crate::tools::dispatch;
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::mcp::catalogue;
use crate::tools::tool::ToolNeed;
use locum_base::chat::ToolSpec;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_models::accounting;
use locum_models::profile::ToolProtocol;
use locum_models::xml;
use locum_modes::access::{self, TaskPurpose, ToolOffer};
use locum_modes::file_limits::FileLimit;
use locum_modes::prompts::commands::SlashCommand;
use locum_modes::prompts::place::RunPlace;
use locum_modes::prompts::servers::{OfferedPrompt, OfferedServer};
use locum_modes::prompts::skills::Skill;
use locum_modes::prompts::{self, PromptFacts, RepositoryInstructions};
use locum_modes::{Mode, ModeEntry, ModeSet, ToolGroup};
use locum_policy::Policy;
use locum_policy::command::Script;
use locum_policy::intent::{Facts, Intent};
use locum_policy::kind::RuleKind;
use locum_policy::pattern::{PROMPT, RESOURCE};
use locum_policy::schema::OnHold;
use locum_policy::verdict::Decision;

/// Most patterns of a kind that are named of a mode for sub-tasks.
const RIGHTS_NAMED: usize = 6;

/// What a model in one mode is sent besides the conversation.
pub(crate) struct SystemPrompt {
    /// Text of the system prompt.
    pub(crate) system: String,
    /// The tools it is offered, as the model sees them.
    pub(crate) tools: Vec<ToolSpec>,
    /// Names of the tools the model may call.
    pub(crate) offered: Vec<ToolName>,
    /// About how many tokens all of it has: an estimate.
    pub(crate) size_tokens: u64,
}

impl SystemPrompt {
    /// Puts everything together for a model.
    pub(crate) fn of(context: &PromptContext<'_>, model: TaskModel<'_>) -> Self {
        let PromptInputs { sections, tools, offered } = PromptInputs::of(context);
        let sections: Vec<String> = sections.into_iter().map(|(_, text)| text).collect();
        let system = sections.join("\n\n");
        let size_tokens = estimate(&system, &tools, model);
        Self { system, tools, offered, size_tokens }
    }
}

impl SystemPrompt {
    /// Returns whether the model sees a tool.
    pub(crate) fn shows(&self, tool: ToolName) -> bool {
        self.tools.iter().any(|spec| spec.name == tool.as_str())
    }
}

fn estimate(system: &str, tools: &[ToolSpec], model: TaskModel<'_>) -> u64 {
    let described = match model.tool_protocol {
        ToolProtocol::Native => accounting::estimate_tools(model.tokenizer, tools),
        ToolProtocol::Xml => model.tokenizer.tokens(&xml::write::section(tools)),
    };
    accounting::estimate_text(model.tokenizer, system).saturating_add(described)
}

/// What decides what a model in one mode is sent.
#[derive(Clone, Copy)]
pub struct PromptContext<'t> {
    /// Mode of the task.
    pub mode: &'t Mode,
    /// Every mode that tasks may switch to.
    pub modes: &'t ModeSet,
    /// Says what the prompt may promise.
    pub policy: &'t Policy,
    /// Who asked and how, in this mode.
    pub facts: &'t Facts,
    /// Whether the task may start sub-tasks.
    pub may_delegate: bool,
    /// What the task is there for.
    pub purpose: TaskPurpose,
    /// Opt-in tools that the model's profile includes.
    pub included: &'t [ToolName],
    /// What the trusted ref adds to prompts, all modes together.
    pub instructions: &'t RepositoryInstructions,
    /// The MCP servers that answer, with what they have.
    pub servers: &'t [OfferedServer],
    /// Whether the task has had commands in the background.
    pub had_background: bool,
    /// The place the run works in.
    pub place: &'t RunPlace,
}

/// What a model in one mode is sent besides the conversation, by section.
pub struct PromptInputs {
    /// The sections of the system prompt by name.
    pub sections: Vec<(&'static str, String)>,
    /// The tools the model sees: those of the mode that some rule of the policy could let it use.
    pub tools: Vec<ToolSpec>,
    /// The tools of the mode. A call of one that is not shown is judged like any other, so that its
    /// refusal says why.
    pub offered: Vec<ToolName>,
}

impl PromptInputs {
    /// Puts everything together.
    pub fn of(context: &PromptContext<'_>) -> Self {
        let PromptContext {
            mode,
            modes,
            policy,
            facts,
            may_delegate,
            purpose,
            included,
            instructions,
            servers,
            had_background,
            place,
        } = *context;
        let offered = access::offered(
            mode,
            ToolOffer {
                switching: policy.settings().modes.switching,
                may_delegate,
                purpose,
                included,
            },
        );
        let skills = instructions.skills.of_mode(&mode.slug);
        let commands = instructions.commands.callable();
        let experts = askable(&instructions.experts, policy, facts);
        let servers = if offered.contains(&ToolName::UseMcpTool) {
            usable(servers, mode, policy, facts)
        } else {
            Vec::new()
        };
        // A tool of a server is shown under a name of its own.
        let resources = servers.iter().any(|server| server.has_resources);
        let prompts = servers.iter().any(|server| !server.prompts.is_empty());
        let generates_images = may_generate_images(&instructions.image_models, policy, facts);
        let prerequisites = ToolPrerequisites {
            skills: &skills,
            commands: &commands,
            experts: &experts,
            generates_images,
            searches_web: instructions.has_search_engine,
            browses: instructions.has_browser,
            servers: false,
            resources,
            prompts,
            background: had_background,
        };
        let mut tools = dispatch::specs(&shown(&offered, policy, facts, prerequisites));
        if facts.check.is_some() {
            let end = ToolName::AttemptCompletion.as_str();
            let ends = tools.iter_mut().filter(|tool| tool.name == end);
            ends.for_each(|tool| CheckVerdict::add_to(&mut tool.parameters));
        }
        tools.extend(catalogue::specs(&servers));
        let pauses = policy.settings().on_hold == OnHold::Pause;
        let may = |intent: &Intent| match policy.decide(intent, facts).decision {
            Decision::Allow => true,
            Decision::Hold => pauses,
            Decision::Deny => false,
        };
        let delegates = modes
            .iter()
            .filter(|other| {
                may_delegate
                    && other.entry != ModeEntry::NotDelegated
                    && may(&Intent::Delegate(other.slug.clone()))
            })
            .map(|other| (other, rights(policy, facts, other)))
            .collect();
        let allowed = ModeSet::merge([modes
            .iter()
            .filter(|other| {
                other.entry != ModeEntry::Delegated && may(&Intent::Mode(other.slug.clone()))
            })
            .cloned()
            .collect()]);
        let sections = prompts::sections_of(&PromptFacts {
            mode,
            delegates,
            modes: &allowed,
            tools: &tools,
            rules: &prompts::rules::order(instructions.rules.clone(), &mode.slug),
            replacement: prompts::rules::replacement(&instructions.rules.placed, &mode.slug),
            skills: &skills,
            commands: &commands,
            experts: &experts,
            servers: &servers,
            language: instructions.language.as_deref(),
            everywhere: instructions.everywhere.as_deref(),
            policy_lines: &policy.summary_lines(facts, |kind| {
                offered.iter().any(|tool| use_of(*tool) == Some(kind))
            }),
            parallel: policy.settings().modes.delegation.parallel > 1,
            checks: &checks(policy, facts),
            place: &seen_place(place, context),
            system: std::env::consts::OS,
        });
        Self { sections, tools, offered }
    }
}

/// Returns what a sub-task in a mode may do, as part of a sentence.
fn rights(policy: &Policy, facts: &Facts, mode: &Mode) -> String {
    let facts = Facts { mode: mode.slug.clone(), ..facts.clone() };
    let has = |tool: ToolName| mode.tools().contains(&tool);
    let of_kind = |kind: RuleKind| {
        let texts = policy.allowed(kind, &facts);
        let others = texts.len().saturating_sub(RIGHTS_NAMED);
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        let named: Vec<String> = texts.into_iter().take(RIGHTS_NAMED).collect();
        if named.is_empty() { "nothing".to_owned() } else { format!("{}{more}", named.join(", ")) }
    };
    let edits = if has(ToolName::WriteToFile) && policy.may_use(RuleKind::Edit, &facts) {
        let limits = access::edit_limits(mode);
        let limits: Vec<String> = limits
            .iter()
            .map(|(limit, pattern, _)| match limit {
                FileLimit::Only => format!("where the path matches `{pattern}`"),
                FileLimit::Never => format!("but not where the path matches `{pattern}`"),
            })
            .collect();
        [vec![format!("edit {}", of_kind(RuleKind::Edit))], limits].concat().join(" ")
    } else {
        "edit nothing".to_owned()
    };
    let runs = if !has(ToolName::ExecuteCommand) {
        "run nothing".to_owned()
    } else if policy.settings().commands.contains(&facts) {
        "run any script".to_owned()
    } else {
        format!("run {}", of_kind(RuleKind::Command))
    };
    format!("{edits}, and {runs}")
}

/// Returns the commands that decide whether a result is ready, and whether each may be run in the
/// mode of these facts.
fn checks(policy: &Policy, facts: &Facts) -> Vec<(String, bool)> {
    let may_run = |command: &String| {
        let verdict = policy.decide(&Intent::Command(Script::asked(command)), facts);
        (command.clone(), verdict.decision == Decision::Allow)
    };
    policy.settings().publish.success.iter().map(may_run).collect()
}

/// Returns what a mode may see of the place: entries it may read, and the missing ones of the
/// programs it may run.
fn seen_place(place: &RunPlace, context: &PromptContext<'_>) -> RunPlace {
    let PromptContext { mode, policy, facts, .. } = *context;
    let may_be_read = |name: &&String| {
        RepoPath::parse(name.trim_end_matches('/')).is_ok_and(|path| {
            let intent = Intent::Read(path);
            access::check_intent(mode, ToolName::ListFiles, &intent).is_ok()
                && policy.decide(&intent, facts).decision == Decision::Allow
        })
    };
    let runs = mode.tools().contains(&ToolName::ExecuteCommand);
    let here = policy.allowed(RuleKind::Command, facts);
    let is_allowed = |program: &&String| {
        here.iter()
            .any(|text| text.trim_matches('`').split([' ', ':']).next() == Some(program.as_str()))
    };
    RunPlace {
        entries: place.entries.iter().filter(may_be_read).cloned().collect(),
        tools: if runs { place.tools.clone() } else { Vec::new() },
        missing: place.missing.iter().filter(|name| runs && is_allowed(name)).cloned().collect(),
        ..place.clone()
    }
}

/// What there is for tools that need something to be there.
#[derive(Clone, Copy, Debug)]
pub struct ToolPrerequisites<'k> {
    /// The skills of the mode.
    pub skills: &'k [&'k Skill],
    /// The slash commands that models may call.
    pub commands: &'k [&'k SlashCommand],
    /// The models it may ask.
    pub experts: &'k [&'k str],
    /// Whether an image model may be used.
    pub generates_images: bool,
    /// Whether there is a search engine to ask.
    pub searches_web: bool,
    /// Whether there is a browser to open pages in.
    pub browses: bool,
    /// Whether there are MCP servers whose tools have no names of their own yet.
    pub servers: bool,
    /// Whether there are resources of MCP servers.
    pub resources: bool,
    /// Whether there are prompts of MCP servers.
    pub prompts: bool,
    /// Whether there are, or were, commands in the background.
    pub background: bool,
}

/// Returns the models that the policy lets be asked under these facts, or holds.
pub fn askable<'e>(experts: &'e [String], policy: &Policy, facts: &Facts) -> Vec<&'e str> {
    let may = |name: &&str| {
        policy.decide(&Intent::Expert((*name).to_owned()), facts).decision != Decision::Deny
    };
    experts.iter().map(String::as_str).filter(may).collect()
}

/// Returns whether the policy allows or holds asking the image models under these facts; false when
/// there is none.
pub fn may_generate_images(image_models: &[String], policy: &Policy, facts: &Facts) -> bool {
    !image_models.is_empty() && askable(image_models, policy, facts).len() == image_models.len()
}

/// Returns the tools that some rule of the policy could let a task use under these facts, of those
/// that there is something for.
pub fn shown(
    offered: &[ToolName],
    policy: &Policy,
    facts: &Facts,
    prerequisites: ToolPrerequisites<'_>,
) -> Vec<ToolName> {
    let is_there = |tool: ToolName| match dispatch::needs(tool) {
        None => true,
        Some(ToolNeed::Skills) => !prerequisites.skills.is_empty(),
        Some(ToolNeed::Commands) => !prerequisites.commands.is_empty(),
        Some(ToolNeed::Experts) => !prerequisites.experts.is_empty(),
        Some(ToolNeed::ImageModel) => prerequisites.generates_images,
        Some(ToolNeed::SearchEngine) => prerequisites.searches_web,
        Some(ToolNeed::Browser) => prerequisites.browses,
        Some(ToolNeed::Servers) => prerequisites.servers,
        Some(ToolNeed::Resources) => prerequisites.resources,
        Some(ToolNeed::Prompts) => prerequisites.prompts,
        Some(ToolNeed::BackgroundCommand) => prerequisites.background,
    };
    // With no other mode there is nothing to ask for.
    let other_mode = policy.settings().modes.allow.iter().any(|slug| *slug != facts.mode);
    let may_be_used = |tool: &ToolName| {
        is_there(*tool)
            && (*tool != ToolName::RequestModeSwitch || other_mode)
            // An expert was asked about by its name already.
                && use_of(*tool)
                    .is_none_or(|kind| kind == RuleKind::Expert || policy.may_use(kind, facts))
    };
    offered.iter().copied().filter(may_be_used).collect()
}

/// Returns what kind of rule a tool needs, if any.
pub(crate) fn use_of(tool: ToolName) -> Option<RuleKind> {
    if let Some(kind) = dispatch::own_rule(tool) {
        return Some(kind);
    }
    match tool.availability().group()? {
        ToolGroup::Read => Some(RuleKind::Read),
        ToolGroup::Edit => Some(RuleKind::Edit),
        ToolGroup::Command => Some(RuleKind::Command),
        ToolGroup::Browser => Some(RuleKind::Browse),
        ToolGroup::Mcp => Some(RuleKind::Mcp),
        ToolGroup::Modes | ToolGroup::Coordinator => None,
    }
}

/// Returns which part of the servers a task may use: the tools that neither its mode nor the policy
/// denies.
fn usable(
    servers: &[OfferedServer],
    mode: &Mode,
    policy: &Policy,
    facts: &Facts,
) -> Vec<OfferedServer> {
    let may = |server: &str, tool: &str| {
        let intent = Intent::Mcp { server: server.to_owned(), tool: tool.to_owned() };
        access::check_intent(mode, ToolName::UseMcpTool, &intent).is_ok()
            && policy.decide(&intent, facts).decision != Decision::Deny
    };
    let part = |server: &OfferedServer| {
        let tools =
            server.tools.iter().filter(|tool| may(&server.name, &tool.name)).cloned().collect();
        let readable = |uris: &[String]| -> Vec<String> {
            let may = |uri: &&String| may(&server.name, &format!("{RESOURCE}{uri}"));
            uris.iter().filter(may).cloned().collect()
        };
        let (resources, templates) = (readable(&server.resources), readable(&server.templates));
        // Unlisted resources may be requested as well.
        let has_resources = server.has_resources
            && (!resources.is_empty() || may(&server.name, &format!("{RESOURCE}any")));
        let may_get =
            |prompt: &&OfferedPrompt| may(&server.name, &format!("{PROMPT}{}", prompt.name));
        let prompts: Vec<OfferedPrompt> = server.prompts.iter().filter(may_get).cloned().collect();
        let name = server.name.clone();
        let usable = OfferedServer { name, tools, has_resources, resources, templates, prompts };
        let is_any = !usable.tools.is_empty() || usable.has_resources || !usable.prompts.is_empty();
        is_any.then_some(usable)
    };
    servers.iter().filter_map(part).collect()
}

#[cfg(test)]
mod tests;
