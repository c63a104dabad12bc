//! What a mode lets a task do, in one line: its tools and limits, as far as the policy lets them.
//! For whoever chooses a mode, goes on in one, or approves of one.

use crate::session::live::Session;
use crate::session::outcome::TargetMode;
use crate::session::system_prompt::{self, ToolPrerequisites};
use crate::tools::dispatch;
use crate::tools::tool::ToolEffect;
use locum_base::text::head;
use locum_base::tool::ToolName;
use locum_modes::Mode;
use locum_modes::access;
use locum_modes::file_limits::FileLimit;
use locum_policy::intent::Facts;
use locum_policy::kind::RuleKind;
use locum_policy::schema::{OnQuestion, Switching};
use locum_policy::verdict::Decision;

/// Most patterns of one kind that are named.
const PATTERNS_NAMED: usize = 6;

/// Most bytes of a mode's role that are shown with a hold.
const ROLE_LIMIT_BYTES: usize = 1024;

/// A limit on files: what it is to match the pattern, the pattern, what that means.
type NamedLimit<'m> = (FileLimit, String, Option<&'m str>);

impl Session<'_> {
    /// Returns what a mode lets a task do in this run.
    pub(crate) fn rights(&self, mode: &Mode) -> String {
        let (policy, facts) = (self.parts.run.policy, self.facts(&mode.slug));
        let tools = mode.tools();
        let has = |tool: ToolName| tools.contains(&tool);
        let edits = tools.iter().any(|tool| dispatch::effect(*tool) == ToolEffect::Edits);
        let mut rights = Vec::new();
        let reads = has(ToolName::ReadFile).then(|| self.patterns(RuleKind::Read, &facts));
        rights.push(with_limits("read", reads.flatten(), &access::read_limits(mode)));
        let edited = edits.then(|| self.patterns(RuleKind::Edit, &facts));
        rights.push(with_limits("edit", edited.flatten(), &access::edit_limits(mode)));
        rights.push(if !has(ToolName::ExecuteCommand) {
            "run no commands".to_owned()
        } else if policy.settings().commands.contains(&facts) {
            "run any command".to_owned()
        } else {
            self.patterns(RuleKind::Command, &facts)
                .map_or("run no commands".to_owned(), |patterns| format!("run {patterns}"))
        });
        if has(ToolName::ExecuteCommand) && !edits {
            rights.push("what they write is thrown away".to_owned());
        }
        if has(ToolName::UseMcpTool) && self.parts.servers.is_any() {
            rights.extend(self.patterns(RuleKind::Mcp, &facts).map(|them| format!("call {them}")));
        }
        for kind in [RuleKind::MemoryRead, RuleKind::MemoryWrite] {
            if policy.may_use(kind, &facts) {
                let them = self.patterns(kind, &facts);
                rights.extend(them.map(|them| format!("use the memory {them}")));
            }
        }
        let experts = &self.parts.instructions.experts;
        let experts = system_prompt::askable(experts, policy, &facts);
        rights.extend((!experts.is_empty()).then(|| format!("ask {}", named(&experts))));
        if policy.settings().questions == OnQuestion::Comment {
            rights.push("ask people".to_owned());
        }
        if policy.may_delegate(&facts) {
            rights.push("start sub-tasks".to_owned());
        }
        if mode.coordinates() && policy.settings().modes.switching != Switching::Off {
            rights.push("switch modes".to_owned());
        }
        let own = self.parts.models.own.get(&mode.slug);
        rights.extend(own.map(|own| format!("on the model {}", own.model.label())));
        rights.join("; ")
    }

    /// Returns the tools, of those given, that some rule could let a task in this mode use, and
    /// that there is something for in this run.
    pub(crate) fn usable_tools(&self, mode: &Mode, tools: &[ToolName]) -> Vec<ToolName> {
        let (policy, facts) = (self.parts.run.policy, self.facts(&mode.slug));
        let instructions = self.parts.instructions;
        let (experts, images) = (&instructions.experts, &instructions.image_models);
        let servers = self.parts.servers.is_any();
        let prerequisites = ToolPrerequisites {
            skills: &instructions.skills.of_mode(&mode.slug),
            commands: &instructions.commands.callable(),
            experts: &system_prompt::askable(experts, policy, &facts),
            generates_images: system_prompt::may_generate_images(images, policy, &facts),
            searches_web: instructions.has_search_engine,
            browses: instructions.has_browser,
            servers,
            resources: servers,
            prompts: servers,
            background: false,
        };
        system_prompt::shown(tools, policy, &facts, prerequisites)
    }

    /// Returns what is shown of a mode to whoever approves of it; `None` where there is none.
    pub(crate) fn target_mode(&self, slug: &str) -> Option<TargetMode> {
        let mode = self.parts.modes.find(slug)?;
        Some(TargetMode {
            slug: mode.slug.clone(),
            name: mode.name.clone(),
            description: mode.description.clone(),
            role: head(mode.role_definition.trim(), ROLE_LIMIT_BYTES).to_owned(),
            tools: self
                .usable_tools(mode, &mode.tools())
                .iter()
                // Every mode has the others.
                .filter(|tool| tool.availability().group().is_some())
                .map(ToolName::to_string)
                .collect(),
            rights: self.rights(mode),
            chosen: None,
        })
    }

    /// Returns what rules allow or hold of a kind; `None` when there is nothing.
    fn patterns(&self, kind: RuleKind, facts: &Facts) -> Option<String> {
        let policy = self.parts.run.policy;
        if facts.restriction.read_only && kind == RuleKind::Edit {
            return None;
        }
        let allowed = policy.patterns(kind, Decision::Allow, facts);
        let held = policy.patterns(kind, Decision::Hold, facts);
        let held = (!held.is_empty()).then(|| format!("after approval {}", named(&held)));
        let allowed = (!allowed.is_empty()).then(|| named(&allowed));
        let all: Vec<String> = allowed.into_iter().chain(held).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// Lists patterns; of many, the first are named and the others counted.
fn named(patterns: &[&str]) -> String {
    let told = patterns.iter().take(PATTERNS_NAMED).map(|pattern| format!("`{pattern}`"));
    let told = told.collect::<Vec<_>>().join(", ");
    match patterns.len().saturating_sub(PATTERNS_NAMED) {
        0 => told,
        others => format!("{told} and {others} more"),
    }
}

fn with_limits(verb: &str, patterns: Option<String>, limits: &[NamedLimit<'_>]) -> String {
    let Some(patterns) = patterns else { return format!("{verb} nothing") };
    let limit = |(limit, pattern, _): &NamedLimit<'_>| match limit {
        FileLimit::Only => format!("only paths that match `{pattern}`"),
        FileLimit::Never => format!("no paths that match `{pattern}`"),
    };
    let limits: Vec<String> = limits.iter().map(limit).collect();
    if limits.is_empty() {
        format!("{verb} {patterns}")
    } else {
        format!("{verb} {patterns} ({})", limits.join(", "))
    }
}
