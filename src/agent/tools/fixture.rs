//! A small checkout with a policy that allows everything, for the tests of tools. Every call takes
//! the same path as in a run.

#![expect(clippy::disallowed_methods, reason = "tests make and look at the files they are about")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::embedder::Embedder;
use crate::env::RunEnv;
use crate::search_engine::SearchEngine;
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::files::known::KnownFiles;
use crate::tools::memory::entry::Memory;
use crate::tools::{CallError, EffectInputs, Observation, ToolContext, VisionSupport};
use locum_base::chat::ToolCall;
use locum_base::path::RepoPath;
use locum_base::secret::{Redactor, Secret};
use locum_base::tool::ToolName;
use locum_modes::prompts::commands::CommandSet;
use locum_modes::prompts::skills::SkillSet;
use locum_modes::{GroupEntry, Mode, ModeSource, ToolGroup};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::checkout::Checkout;
use locum_workspace::layer::Layer;
use locum_workspace::repo::Repo;
use locum_workspace::seed;

/// Allows everything that tests do.
pub(crate) const POLICY: &str = "
version: 1
modes: { delegation: { from: [code] }, switching: direct \
                                 }
rules:
  - allow: [ 'fetch(docs.rs)', 'fetch(http://plain.example)', 'search(**)', \
                                 'read(**)', 'edit(**)', 'command(echo:*)', 'command(sleep:*)', \
                                 'command(cat:*)', 'command(touch:*)', 'command(git log:*)', \
                                 'command(git status:*)', 'command(head:*)', 'command(wc:*)', \
                                 'command(ls:*)', 'delegate(*)', 'mode(*)', \
                                 'expert(*)', 'memory(read/*)', 'memory(write/*)' ]
  - deny: 'memory(read/secret-*)'
";

/// A temporary checkout.
pub(crate) struct ToolFixture {
    folder: tempfile::TempDir,
    checkout: Checkout,
    repo: Repo,
    /// What commands left over the checkout.
    pub(crate) layer: Option<Layer>,
    /// Paths the policy would not let be read, as lists and searches see it.
    pub(crate) hidden: Vec<&'static str>,
    /// The skills there are.
    pub(crate) skills: SkillSet,
    /// The slash commands there are.
    pub(crate) commands: CommandSet,
    /// What connections lead to.
    pub(crate) connector: Connector,
    /// The search engine there is.
    pub(crate) search_engine: Option<SearchEngine>,
    /// The model that embeds texts.
    pub(crate) embedder: Option<Embedder>,
    /// The folder for what is kept between runs.
    pub(crate) state_folder: Option<PathBuf>,
    /// The mode of the calls.
    pub(crate) mode: Mode,
    /// What becomes of images.
    pub(crate) vision: VisionSupport,
    /// The models that generate images.
    pub(crate) image_models: Vec<String>,
    /// What the model that calls knows of files; `None` where no model calls.
    pub(crate) known: Option<KnownFiles>,
    /// The notes there are for later runs.
    pub(crate) memory: Memory,
    /// A value that must not be seen.
    pub(crate) secret: &'static str,
}

impl ToolFixture {
    /// Makes a checkout with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        seed::repository(folder.path(), files, "first").unwrap();
        let (checkout, repo) =
            (Checkout::open(folder.path()).unwrap(), Repo::open(folder.path()).unwrap());
        Self {
            folder,
            checkout,
            repo,
            layer: None,
            hidden: Vec::new(),
            skills: SkillSet::default(),
            commands: CommandSet::default(),
            connector: Connector::default(),
            search_engine: None,
            embedder: None,
            state_folder: None,
            mode: mode(),
            vision: VisionSupport::Shown,
            image_models: vec!["painter".to_owned()],
            known: None,
            memory: Memory::default(),
            secret: "unseen-secret-value",
        }
    }

    /// Returns where the checkout lies.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns what a file holds.
    pub(crate) fn content(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    /// Returns the absolute path of a file.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Checks a call.
    pub(crate) fn parse(
        &self,
        name: &str,
        arguments: &str,
        offered: &[ToolName],
    ) -> Result<CheckedCall, CallError> {
        let call = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() };
        self.with_context(|context| dispatch::parse(&call, offered, context))
    }

    /// Checks, admits and performs a call; a call that is not understood answers with its sentence.
    pub(crate) fn call(&self, name: &str, arguments: &str) -> Observation {
        let call = match self.parse(name, arguments, ToolName::ALL) {
            Ok(call) => call,
            Err(error) => return Observation::failed(error.0),
        };
        let permit = Policy::parse(POLICY, "policy.yml")
            .unwrap()
            .admit(call, &Facts { mode: self.mode.slug.clone(), ..Facts::default() })
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        self.with_context(|context| runtime.block_on(dispatch::perform(permit, context)))
    }

    /// Gives what tools work with.
    pub(crate) fn with_context<T>(&self, body: impl FnOnce(ToolContext<'_>) -> T) -> T {
        let redactor = Redactor::new([Secret::new(self.secret)]);
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let hidden = &self.hidden;
        let visible = |path: &RepoPath| !hidden.contains(&path.as_str());
        let policy = Policy::parse(POLICY, "policy.yml").unwrap();
        let sandbox = Sandbox::prepare(&policy.settings().commands, &env).unwrap();
        let run = RunEnv {
            search_engine: self.search_engine.as_ref(),
            embedder: self.embedder.as_ref(),
            state_folder: self.state_folder.as_deref(),
            ..RunEnv::bare(&policy, &env, &sandbox, &redactor, &self.connector)
        };
        body(ToolContext {
            run,
            skills: Some(&self.skills),
            commands: Some(&self.commands),
            servers: None,
            layer: self.layer.as_ref(),
            git_hidden: false,
            image_models: &self.image_models,
            checkout: &self.checkout,
            repo: &self.repo,
            mode: &self.mode,
            facts: &Facts { mode: self.mode.slug.clone(), ..Facts::default() },
            visible: &visible,
            vision: self.vision,
            given: EffectInputs {
                known: self.known.as_ref(),
                memory: Some(&self.memory),
                ..EffectInputs::default()
            },
        })
    }
}

fn mode() -> Mode {
    let groups = [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Command, ToolGroup::Modes];
    Mode {
        groups: groups
            .map(|group| GroupEntry { group, file_regex: None, description: None })
            .to_vec(),
        ..Mode::new("code", "Code", "You write code", ModeSource::Builtin)
    }
}
