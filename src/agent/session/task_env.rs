//! `TaskEnv`: what the tools of one task work with: the run's, and the checkout, mode and facts of
//! the task. It borrows nothing of the session, so that calls of several tasks are performed in
//! parallel.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::env::RunEnv;
use crate::tools::background::BackgroundCommands;
use crate::tools::files::known::KnownFiles;
use crate::tools::kept_output::OutputReader;
use crate::tools::mcp::servers::McpServers;
use crate::tools::memory::entry::Memory;
use crate::tools::search::changes::ChangeRange;
use crate::tools::{EffectInputs, ToolContext, VisionSupport};
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_modes::Mode;
use locum_modes::access;
use locum_modes::prompts::commands::CommandSet;
use locum_modes::prompts::skills::SkillSet;
use locum_policy::budget::Budget;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use locum_workspace::Workspace;
use locum_workspace::checkout::EntryKind;
use locum_workspace::layer::Layer;

/// Where a task works.
#[derive(Clone)]
pub(crate) enum TaskCheckout<'a> {
    /// In the run's own checkout.
    Own(&'a Workspace),
    /// In a worktree of its own.
    Isolated(Rc<Workspace>),
}

impl Deref for TaskCheckout<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        match self {
            Self::Own(workspace) => workspace,
            Self::Isolated(workspace) => workspace,
        }
    }
}

/// What the tools of one task work with.
#[derive(Clone)]
pub(crate) struct TaskEnv<'a> {
    /// What its effects go through.
    pub(crate) run: RunEnv<'a>,
    /// Where it works.
    pub(crate) place: TaskCheckout<'a>,
    /// Where its commands write.
    pub(crate) layer: Option<Rc<Layer>>,
    /// Whether git's objects are hidden from commands that are contained.
    pub(crate) git_hidden: bool,
    /// Mode the task is in.
    pub(crate) mode: &'a Mode,
    /// Who asked and how, in this mode.
    pub(crate) facts: Facts,
    /// The skills of the trusted ref.
    pub(crate) skills: &'a SkillSet,
    /// The slash commands of the trusted ref and the user.
    pub(crate) commands: &'a CommandSet,
    /// The profiles that generate images; empty where none may be asked.
    pub(crate) image_models: &'a [String],
    /// MCP servers of the run, already started.
    pub(crate) servers: &'a McpServers<'a>,
    /// What becomes of images.
    pub(crate) vision: VisionSupport,
    /// Reads answers that are kept whole.
    pub(crate) outputs: OutputReader,
    /// What it has in the background.
    pub(crate) background: Rc<BackgroundCommands>,
    /// What the task's model knows of files.
    pub(crate) known: Arc<KnownFiles>,
    /// What the branch and the work so far change.
    pub(crate) range: ChangeRange,
    /// The notes there are for later runs.
    pub(crate) memory: Arc<Memory>,
    /// What is left of its budget.
    pub(crate) rest: Budget,
}

impl TaskEnv<'_> {
    /// Returns whether the policy and its mode let the task read a path.
    pub(crate) fn readable(&self) -> impl Fn(&RepoPath) -> bool + Sync + use<'_> {
        let (policy, facts, mode) = (self.run.policy, &self.facts, self.mode);
        let (limited, checkout) = (access::limits_reading(mode), &self.place.checkout);
        let is_folder = move |path: &RepoPath| {
            let entry = checkout.entry(path);
            entry.is_ok_and(|entry| entry.is_some_and(|entry| entry.kind == EntryKind::Folder))
        };
        // What lies in a folder is asked about one by one.
        let shown = move |path: &RepoPath| {
            access::check_read(mode, ToolName::ReadFile, path).is_ok() || is_folder(path)
        };
        move |path| {
            policy.decide(&Intent::Read(path.clone()), facts).decision == Decision::Allow
                && (!limited || shown(path))
        }
    }

    /// Returns what `use_it` makes of all of it as the tools take it.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(ToolContext<'_>) -> T) -> T {
        use_it(self.context(&self.readable()))
    }

    /// Returns all of it as the tools take it.
    pub(crate) fn context<'c>(
        &'c self,
        visible: &'c (dyn Fn(&RepoPath) -> bool + Sync),
    ) -> ToolContext<'c> {
        ToolContext {
            run: self.run,
            skills: Some(self.skills),
            commands: Some(self.commands),
            servers: Some(self.servers),
            image_models: self.image_models,
            checkout: &self.place.checkout,
            repo: &self.place.repo,
            layer: self.layer.as_deref(),
            git_hidden: self.git_hidden,
            mode: self.mode,
            facts: &self.facts,
            visible,
            vision: self.vision,
            given: EffectInputs {
                outputs: Some(&*self.outputs),
                known: Some(&self.known),
                range: Some(&self.range),
                background: Some(&self.background),
                memory: Some(&self.memory),
                rest: Some(self.rest),
                ..EffectInputs::default()
            },
        }
    }
}
