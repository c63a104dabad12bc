//! What the model can call. Every call takes one path: parse, intents, admit, perform.

mod aliases;
pub mod arguments;
pub mod background;
pub mod browser;
pub mod command;
pub mod command_details;
pub mod command_end;
pub(crate) mod command_remarks;
pub mod dispatch;
pub mod edit_check;
mod extracted;
pub mod files;
#[cfg(test)]
mod fixture;
pub mod flow;
pub mod hooks;
pub mod kept_output;
pub mod mcp;
pub mod memory;
mod peer_words;
mod picture;
mod reach;
mod removed_folders;
pub mod resolved_path;
pub mod search;
pub(crate) mod shown_text;
pub mod skill;
pub mod tool;
pub mod web;

use serde::{Deserialize, Serialize};

use crate::env::RunEnv;
use crate::tools::background::{BackgroundCommands, BackgroundNote};
use crate::tools::command_details::CommandDetails;
use crate::tools::edit_check::EditCheck;
use crate::tools::files::known::{KnownFiles, SeenFile};
use crate::tools::flow::complete::CompletionStatus;
use crate::tools::flow::verdict::CheckVerdict;
use crate::tools::kept_output::KeptOutput;
use crate::tools::mcp::servers::McpServers;
use crate::tools::memory::entry::{Memory, MemoryWrite};
use crate::tools::search::changes::ChangeRange;
use locum_base::image::Image;
use locum_base::path::RepoPath;
use locum_models::accounting::PricedUsage;
use locum_modes::Mode;
use locum_modes::prompts::commands::CommandSet;
use locum_modes::prompts::skills::SkillSet;
use locum_policy::budget::Budget;
use locum_policy::intent::Facts;
use locum_policy::verdict::Refusal;
use locum_workspace::Workspace;
use locum_workspace::checkout::{Checkout, FileError};
use locum_workspace::layer::{Layer, LayerChanges};
use locum_workspace::repo::Repo;
use locum_workspace::touched::Snapshot;

/// Most times that the links on the way to a path lead from the checkout into what it shares with
/// another one, and back.
const CROSSINGS_LIMIT: usize = 40;

/// What tools work with in one task.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// What is the same in every task of the run.
    pub run: RunEnv<'a>,
    /// The skills of the trusted ref; `None` where no model calls.
    pub skills: Option<&'a SkillSet>,
    /// The slash commands of the trusted ref and the user; `None` where no model calls.
    pub commands: Option<&'a CommandSet>,
    /// The MCP servers of the run; `None` where none are started and calls of their tools are only
    /// judged.
    pub servers: Option<&'a McpServers<'a>>,
    /// The models that generate images, by profile: the first is asked, the others are its
    /// fallbacks. Empty where there are none.
    pub image_models: &'a [String],
    /// Files below the root of the task's checkout.
    pub checkout: &'a Checkout,
    /// Its git side: what a command touched is found there.
    pub repo: &'a Repo,
    /// Where commands write instead of the checkout; `None` where they write to it.
    pub layer: Option<&'a Layer>,
    /// Whether git's objects hold files that the task may not read, and are hidden from commands
    /// that are contained.
    pub git_hidden: bool,
    /// The mode the task is in.
    pub mode: &'a Mode,
    /// Under which circumstances the policy decides.
    pub facts: &'a Facts,
    /// Whether the policy lets this real path be read: called for everything a list or a search
    /// would show, from threads.
    pub visible: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    /// What becomes of images.
    pub vision: VisionSupport,
    /// What the caller provides for an effect.
    pub given: EffectInputs<'a>,
}

impl<'a> ToolContext<'a> {
    /// Outside a session: no model calls, and nothing was there before.
    pub fn bare(
        run: RunEnv<'a>,
        workspace: &'a Workspace,
        mode: &'a Mode,
        facts: &'a Facts,
        visible: &'a (dyn Fn(&RepoPath) -> bool + Sync),
    ) -> Self {
        Self {
            run,
            skills: None,
            commands: None,
            servers: None,
            image_models: &[],
            checkout: &workspace.checkout,
            repo: &workspace.repo,
            layer: None,
            git_hidden: false,
            mode,
            facts,
            visible,
            vision: VisionSupport::Blind,
            given: EffectInputs::default(),
        }
    }
}

impl ToolContext<'_> {
    /// Returns the root of the checkout as commands find it.
    pub fn seen_root(&self) -> &std::path::Path {
        let stands_for = self.layer.and_then(Layer::stands_for);
        stands_for.map_or(self.checkout.root(), |other| other.root)
    }

    /// Follows every link on the way to a path, as commands find it.
    pub(crate) fn resolve(&self, path: &RepoPath) -> Result<RepoPath, FileError> {
        let mut real = self.checkout.resolve(path)?;
        let Some(layer) = self.layer else { return Ok(real) };
        for _ in 0..CROSSINGS_LIMIT {
            let next = layer.resolve(&real)?;
            if next == real {
                return Ok(real);
            }
            real = self.checkout.resolve(&next)?;
        }
        Err(FileError::Outside(path.clone()))
    }
}

/// What a caller provides for an effect.
#[derive(Clone, Copy, Default)]
pub struct EffectInputs<'g> {
    /// The checkout as it was just now: what a command touched is found against it.
    pub before: Option<&'g Snapshot>,
    /// The image that was generated for the call.
    pub picture: Option<&'g Image>,
    /// Reads answers that the session keeps whole, by their numbers; `None` outside a session.
    pub outputs: Option<&'g (dyn Fn(u32) -> Option<String> + Sync)>,
    /// What the model that called knows of files; `None` where no model calls, and every edit is
    /// meant.
    pub known: Option<&'g KnownFiles>,
    /// What `show_changes` compares; `None` outside a session.
    pub range: Option<&'g ChangeRange>,
    /// The commands that the task has in the background; `None` where none may be.
    pub background: Option<&'g BackgroundCommands>,
    /// The notes there are for later runs; `None` outside a session.
    pub memory: Option<&'g Memory>,
    /// What is left of the task's budget; `None` outside a session.
    pub rest: Option<Budget>,
    /// What a command reads; what it prints is then in [`Observation::streams`], and its caller
    /// throws away what it writes.
    pub input: Option<&'g str>,
}

/// What becomes of the images that a tool comes upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisionSupport {
    /// The model that called is shown them.
    Shown,
    /// The model that called sees none.
    Blind,
    /// They are not shown here; the model that reads this can look at them by calling `read_file`.
    OnCall,
}

/// A call that cannot become an act: a sentence for the model that says what to do instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CallError(pub String);

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What the model reads: redacted and clipped.
    pub text: String,
    /// True when the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Files it wrote or removed; for a command, those that git sees changed by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<RepoPath>,
    /// What it showed of files or wrote to them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<SeenFile>,
    /// The edit it refused, by its hash: sent once more, it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<String>,
    /// What the session is asked to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Control>,
    /// For commands: how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<locum_sandbox::exec::Exit>,
    /// For commands: what explains how they ended.
    #[serde(default, skip_serializing_if = "CommandDetails::is_empty")]
    pub command: CommandDetails,
    /// For commands in the background: that one goes on running, or how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundNote>,
    /// What is kept for later runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Box<MemoryWrite>>,
    /// For edits: the checks that followed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit_checks: Vec<EditCheck>,
    /// Bytes of output in the middle of the text that are kept nowhere.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_bytes: usize,
    /// The whole answer, where the text is only a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<KeptOutput>,
    /// What the model is shown with the text. Their bytes are stored next to the journal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// What it had another model do; the journal records it with the answer.
    #[serde(skip)]
    pub model_use: Option<Box<ModelUse>>,
    /// What the policy refused on the way; the journal records it with the answer.
    #[serde(skip)]
    pub refused: Option<Box<Refusal>>,
    /// True when the call was a mistake of the model; recorded with the answer, too.
    #[serde(skip)]
    pub is_mistake: bool,
    /// For commands: what is in their layer and not yet judged.
    #[serde(skip)]
    pub layered: Option<Box<LayerChanges>>,
    /// Why what it changed cannot be judged.
    #[serde(skip)]
    pub unjudged: Option<String>,
    /// For commands that were given something to read: what they printed.
    #[serde(skip)]
    pub streams: Option<CommandStreams>,
}

/// What a call had another model do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelUse {
    /// The name of the model's profile, or of the model.
    pub by: String,
    /// What it did: `12 texts embedded`.
    pub what: String,
    /// What that used up.
    pub usage: PricedUsage,
}

/// What a command printed, bounded and without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandStreams {
    /// Its output.
    pub output: String,
    /// Bytes in the middle of the output that are left out; 0 where it is whole.
    pub omitted_bytes: usize,
    /// Its errors.
    pub errors: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(bytes: &usize) -> bool {
    *bytes == 0
}

impl Observation {
    /// Whether what it changed is still to be judged.
    pub(crate) fn waits_for_judgement(&self) -> bool {
        self.layered.is_some() || self.unjudged.is_some()
    }

    /// Returns an observation of something that went well.
    pub fn said(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns an observation of something that did not work.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, ..Self::default() }
    }

    /// Returns an answer to what the model should not have written.
    pub fn mistake(text: impl Into<String>) -> Self {
        Self { is_mistake: true, ..Self::failed(text) }
    }

    /// Returns an answer to a call that was not allowed.
    pub fn refused(text: impl Into<String>, refusal: Box<Refusal>) -> Self {
        Self { refused: Some(refusal), ..Self::failed(text) }
    }
}

/// What a call asks of the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "control", rename_all = "snake_case")]
pub enum Control {
    /// Go on in another mode.
    SwitchMode {
        /// Slug of the new mode.
        slug: String,
        /// Why, in the model's words.
        reason: String,
    },
    /// Ask for another mode.
    RequestSwitch {
        /// The mode; left to the coordinator when absent.
        slug: Option<String>,
        /// Why, in the model's words.
        reason: String,
    },
    /// Decide for the task that requested another mode.
    CoordinateMode {
        /// The mode it continues in; `None` when it stays as it is.
        slug: Option<String>,
        /// Why, in the model's words.
        reason: String,
    },
    /// Ask the maintainers behind the task.
    Ask {
        /// The question as the model wrote it.
        question: String,
        /// Suggested answers, best first.
        suggestions: Vec<String>,
    },
    /// End the task.
    Complete {
        /// What was done and found.
        result: String,
        /// How far it came.
        #[serde(default, skip_serializing_if = "CompletionStatus::is_done")]
        status: CompletionStatus,
        /// Why it is not done, in the model's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What a check comes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verdict: Option<CheckVerdict>,
    },
    /// Replace the checklist.
    Todos {
        /// The whole checklist, which replaces the last.
        todos: Vec<Todo>,
    },
}

/// A line of a checklist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

impl Todo {
    /// Returns the line that a model writes for it: `- [x] done`.
    pub fn line(&self) -> String {
        format!("- [{}] {}", self.state.mark(), self.text)
    }
}

impl TodoState {
    /// Returns the mark between the brackets of a line.
    pub fn mark(self) -> char {
        match self {
            Self::Pending => ' ',
            Self::Started => '-',
            Self::Done => 'x',
        }
    }
}

/// How far a line of a checklist is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// `[ ]`
    Pending,
    /// `[-]`
    Started,
    /// `[x]`
    Done,
}
