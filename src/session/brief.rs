//! `Brief`: what a model in one mode is told beside the conversation: the system prompt and the tools. Made once a mode, so that
//! it stays the same bytes from turn to turn.

use std::rc::Rc;

use crate::base::chat::ToolSpec;
use crate::base::id::TaskId;
use crate::base::tool::ToolName;
use crate::modes::access::{self, Offer};
use crate::modes::{Mode, ModeSet};
use crate::policy::intent::Intent;
use crate::policy::verdict::Decision;
use crate::prompts::rules::RuleFile;
use crate::prompts::{self, PromptFacts};
use crate::session::outcome::OutcomeWord;
use crate::session::stop::Stop;
use crate::session::task::TaskState;
use crate::session::{Session, TaskModel};
use crate::tools::dispatch;

/// What a model in one mode is told beside the conversation.
pub(crate) struct Brief {
    /// The system prompt.
    pub(crate) system: String,
    /// The tools it is offered, as the model sees them.
    pub(crate) tools: Vec<ToolSpec>,
    /// Their names.
    pub(crate) offered: Vec<ToolName>,
    /// Bytes of all of it.
    pub(crate) size_bytes: usize,
}

impl<'a> Session<'a> {
    /// Returns the brief for a task as it is now.
    pub(crate) fn brief(&mut self, id: TaskId) -> Result<Rc<Brief>, Stop> {
        let task = self.task(id)?;
        let may_delegate = self.may_delegate(task);
        let key = (task.mode.clone(), may_delegate, task.parent.is_none());
        if let Some(brief) = self.briefs.get(&key) {
            return Ok(Rc::clone(brief));
        }
        let included = self.model_of(task).included_tools;
        let brief = Rc::new(self.make_brief(self.mode(&key.0)?, may_delegate, included));
        self.briefs.insert(key, Rc::clone(&brief));
        Ok(brief)
    }

    /// Returns a mode by slug.
    pub(crate) fn mode(&self, slug: &str) -> Result<&'a Mode, Stop> {
        let modes: &'a ModeSet = self.parts.modes;
        modes.find(slug).ok_or_else(|| Stop::session(OutcomeWord::Failed, format!("there is no mode `{slug}`")))
    }

    /// Returns the model a task speaks with.
    pub(crate) fn model_of(&self, task: &TaskState) -> TaskModel<'a> {
        if task.parent.is_none() { self.parts.main } else { self.parts.task }
    }

    fn make_brief(&self, mode: &Mode, may_delegate: bool, included: &[ToolName]) -> Brief {
        let settings = self.parts.policy.settings();
        let offered = access::offered(mode, Offer { switching: settings.modes.switching, may_delegate, included });
        let tools = dispatch::specs(&offered);
        let facts = self.facts(&mode.slug);
        let may_be_given = |other: &&Mode| {
            may_delegate && self.parts.policy.decide(&Intent::Delegate(other.slug.clone()), &facts).decision == Decision::Allow
        };
        let may_follow = |other: &&Mode| self.parts.policy.decide(&Intent::Mode(other.slug.clone()), &facts).decision == Decision::Allow;
        let delegates = self.parts.modes.iter().filter(may_be_given).collect();
        let allowed = ModeSet::merge([self.parts.modes.iter().filter(may_follow).cloned().collect()]);
        let system = prompts::system_prompt(&PromptFacts {
            mode,
            delegates,
            modes: &allowed,
            tools: &tools,
            rules: &self.rules_of(mode),
            policy_lines: &self.parts.policy.summary_lines(&mode.slug),
            system: std::env::consts::OS,
        });
        let tools_bytes =
            tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len()).sum::<usize>();
        let size_bytes = system.len() + tools_bytes;
        Brief { system, tools, offered, size_bytes }
    }

    fn rules_of(&self, mode: &Mode) -> Vec<RuleFile> {
        let files = self.parts.rules.iter().filter(|file| prompts::rules::is_rules_file(&file.path, &mode.slug)).cloned().collect();
        prompts::rules::order(files, &mode.slug)
    }
}
