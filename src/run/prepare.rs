//! From a [`RunRequest`] to everything a run works with: settings, policy, modes, rules and models,
//! all from the trusted ref.
//!
//! In: the request, the trusted configuration, the open checkout. Out: a [`PreparedRun`], or every
//! mistake found. Nothing is changed and no one is contacted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use crate::config::settings::Settings;
use crate::config::source::Layer;
use crate::config::telemetry::Collector;
use crate::run::error::RunError;
use crate::run::first_message::FirstMessage;
use crate::run::kept_folder::check_outside;
use crate::run::machine::RunMachine;
use crate::run::models::{PreparedModels, WantedModels};
use crate::run::place;
use crate::run::plan::{PolicyName, RunPlan};
use crate::run::run_request::{RunPurpose, RunRequest};
use crate::run::servers::ServerPlan;
use crate::run::settled::SettledRun;
use crate::run::trusted::TrustedConfig;
use locum_agent::env::RunEnv;
use locum_agent::search_engine::SearchEngine;
use locum_agent::session::parts::CheckTiming;
use locum_agent::session::system_prompt::{self, ToolPrerequisites};
use locum_agent::tools::hooks::HookDefinition;
use locum_base::image::Image;
use locum_base::secret::Redactor;
use locum_modes::access::{self, TaskPurpose, ToolOffer};
use locum_modes::prompts::commands::CommandSet;
use locum_modes::prompts::{RepositoryInstructions, rules};
use locum_modes::{Mode, ModeSet};
use locum_policy::Policy;
use locum_policy::lint::risks::accepted_risks;
use locum_sandbox::Sandbox;
use locum_sandbox::env::clean_env;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;

/// Everything a run works with, looked up.
pub struct PreparedRun {
    /// What was settled, as a dry run shows it.
    pub plan: RunPlan,
    /// First message of the root task, before what it names is looked up.
    pub message: FirstMessage,
    /// When the policy's checks run.
    pub checks: CheckTiming,
    /// Settings of the trusted ref, the user and the environment together.
    pub settings: Settings,
    /// Decides on every effect of the run.
    pub policy: Rc<Policy>,
    /// Every mode, as the slash command leaves it.
    pub modes: ModeSet,
    /// What the trusted ref adds to prompts.
    pub instructions: RepositoryInstructions,
    /// The models, built.
    pub models: PreparedModels,
    /// Where a trace of the run goes; `None` where none is wanted.
    pub telemetry: Option<Collector>,
    /// The environment commands get.
    pub command_env: BTreeMap<String, String>,
    /// The hooks of the trusted ref.
    pub hooks: Vec<HookDefinition>,
    /// The MCP servers there may be.
    pub servers: ServerPlan,
    /// What is around commands.
    pub sandbox: Sandbox,
    /// The search engine that may be asked.
    pub search_engine: Option<SearchEngine>,
    /// The browser that pages are opened in; `None` where there is none that a sandbox holds.
    pub browser: Option<PathBuf>,
    /// Takes secrets out.
    pub redactor: Redactor,
}

impl PreparedRun {
    /// Returns whether the model of the root task sees images.
    pub fn sees_images(&self) -> bool {
        self.models.of_mode(&self.plan.mode).capacity.sees_images
    }

    /// Reads an image that a person gives.
    ///
    /// # Errors
    /// Why the bytes are not shown.
    pub fn image(&self, bytes: &[u8]) -> Result<Image, String> {
        let image = Image::parse(bytes).map_err(|error| format!("it {error}"))?;
        match self.redactor.plain_values().hide_bytes(bytes) {
            Cow::Borrowed(_) => Ok(image),
            Cow::Owned(_) => Err("a secret is written in its bytes".to_owned()),
        }
    }

    /// Returns what every effect of the run goes through.
    pub fn env<'a>(&'a self, connector: &'a Connector) -> RunEnv<'a> {
        RunEnv {
            tail: None,
            policy: &self.policy,
            env: &self.command_env,
            sandbox: &self.sandbox,
            connector,
            search_engine: self.search_engine.as_ref(),
            embedder: self.models.embedder.as_ref(),
            browser: self.browser.as_deref(),
            state_folder: self.settings.values.state_dir.as_deref(),
            redactor: &self.redactor,
        }
    }
}

/// Looks everything up that a run needs.
///
/// # Errors
/// Every mistake of the first place that has any: settings, modes, models.
pub fn prepare(
    request: RunRequest,
    config: &TrustedConfig<'_>,
    workspace: &Workspace,
) -> Result<PreparedRun, RunError> {
    workspace.repo.check_index().map_err(|error| {
        RunError::usage("--repo", error.to_string()).hint(
            "a sparse index becomes a whole one with `git sparse-checkout reapply \
             --no-sparse-index`, a split index with `git update-index --no-split-index`",
        )
    })?;
    let environment = config.origin.environment;
    let mut settled = SettledRun::of(&request, config)?;
    if let Some(folder) = &settled.settings.values.state_dir {
        check_outside("state_dir", folder, workspace.checkout.root())?;
    }
    let skills = config.skills()?;
    settled.message = settled
        .message
        .with_materials(request.materials.clone())
        .with_skill(skills, &settled.first.slug)?;
    for file in skills.files.iter().filter(|file| file.skill.is_err()) {
        tracing::warn!(
            file = file.origin,
            "a skill has mistakes and is left out; list them with `locum skills validate`"
        );
    }
    let mut models = choose_models(&request, &settled, config)?;
    let telemetry =
        Collector::read(settled.settings.values.telemetry, environment).unwrap_or_else(|error| {
            tracing::warn!(%error, "no trace of this run will be sent");
            None
        });
    let machine = RunMachine::look(&request, &settled, config, workspace)?;
    settled.message.check_server(&machine.servers.servers)?;
    let instructions = RepositoryInstructions {
        rules: config.rules()?.clone(),
        skills: skills.clone(),
        commands: offered_commands(config),
        language: settled.settings.values.language.clone(),
        everywhere: settled.settings.values.instructions.clone(),
        experts: models.set.experts.iter().map(|(name, _)| name.clone()).collect(),
        image_models: std::mem::take(&mut models.image_models),
        has_search_engine: machine.search_engine.is_some(),
        has_browser: machine.browser.is_some(),
    };
    let command_env = clean_env(environment.variables(), &settled.policy.settings().commands.env);
    let secrets = std::mem::take(&mut models.keys).into_iter().chain(environment.secrets());
    let secrets =
        secrets.chain(machine.search_engine.as_ref().and_then(SearchEngine::key).cloned());
    let redactor = Redactor::new(secrets.chain(machine.servers.secrets.iter().cloned()));
    let checks = match request.purpose {
        RunPurpose::Check => CheckTiming::Always,
        RunPurpose::Work | RunPurpose::Plan | RunPurpose::Publish => CheckTiming::AfterChanges,
    };
    let notes = std::mem::take(&mut models.notes).into_iter().chain(machine.notes.iter().cloned());
    let notes = notes.collect();
    let parts = PlanParts {
        settled: &settled,
        models: &models,
        machine: &machine,
        instructions: &instructions,
        command_env: &command_env,
        workspace,
    };
    let plan = parts.plan(request, notes)?;
    let SettledRun { policy, settings, message, modes, .. } = settled;
    let RunMachine { sandbox, servers, search_engine, browser, .. } = machine;
    Ok(PreparedRun {
        plan,
        message,
        checks,
        command_env,
        settings,
        policy,
        modes,
        instructions,
        models,
        telemetry,
        hooks: config.hooks()?.to_vec(),
        servers,
        sandbox,
        search_engine,
        browser,
        redactor,
    })
}

/// What a plan is made of.
struct PlanParts<'a> {
    settled: &'a SettledRun,
    models: &'a PreparedModels,
    machine: &'a RunMachine,
    instructions: &'a RepositoryInstructions,
    command_env: &'a BTreeMap<String, String>,
    workspace: &'a Workspace,
}

impl PlanParts<'_> {
    /// Describes the run as a dry run shows it; `notes` are what is said of its models and of the
    /// machine.
    fn plan(&self, request: RunRequest, notes: Vec<String>) -> Result<RunPlan, RunError> {
        let SettledRun { first, policy, settings, message, runnable, .. } = self.settled;
        let RunMachine { facts, .. } = self.machine;
        let rules = &self.instructions.rules;
        let root = self.models.of_mode(&first.slug);
        let above = LimitsAbove::of(settings, policy);
        let checkout = self.workspace.checkout.root();
        let place = place::look(
            checkout,
            (&self.workspace.repo, &request.base),
            (policy, facts),
            self.command_env,
        );
        Ok(RunPlan {
            session: request.session,
            task: request.task,
            mode: first.slug.clone(),
            subject: request.subject,
            checkout: checkout.display().to_string(),
            base: request.base,
            trusted: request.trusted,
            review_base: request.review_base,
            policy: PolicyName {
                origin: policy.origin().to_owned(),
                hash: policy.hash().to_owned(),
            },
            models: (root.model.label().to_owned(), self.models.set.task.model.label().to_owned()),
            budget: settings.values.budget.tighten(policy.settings().budget),
            spending_limits: policy.settings().spending_limits,
            command: message.called(),
            images: Vec::new(),
            tools: self.tools()?,
            modes: runnable.clone(),
            rules: rules.placed.iter().chain(&rules.named).map(|file| file.path.clone()).collect(),
            place,
            allowed: policy.summary_lines(facts, |_| true),
            risks: accepted_risks(policy).iter().map(ToString::to_string).collect(),
            notes: notes
                .into_iter()
                .chain(above.all)
                .chain(rules::left_out(rules.clone(), &first.slug))
                .collect(),
            for_asker: above.by_flags,
            facts: facts.clone(),
        })
    }

    /// Returns the tools that the root task is offered.
    fn tools(&self) -> Result<Vec<String>, RunError> {
        let SettledRun { first, policy, .. } = self.settled;
        let RunMachine { facts, servers, .. } = self.machine;
        let given = self.instructions;
        let offer = ToolOffer {
            switching: policy.settings().modes.switching,
            may_delegate: policy.may_delegate(facts),
            purpose: TaskPurpose::Work,
            included: &self.models.of_mode(&first.slug).capacity.included_tools,
        };
        let known = ToolPrerequisites {
            skills: &given.skills.of_mode(&first.slug),
            commands: &given.commands.callable(),
            experts: &system_prompt::askable(&given.experts, policy, facts),
            generates_images: system_prompt::may_generate_images(
                &given.image_models,
                policy,
                facts,
            ),
            searches_web: given.has_search_engine,
            browses: given.has_browser,
            servers: !servers.servers.is_empty(),
            resources: false,
            prompts: false,
            background: false,
        };
        let offered = access::offered(self.settled.mode()?, offer);
        let shown = system_prompt::shown(&offered, policy, facts, known);
        Ok(shown.iter().map(ToString::to_string).collect())
    }
}

/// Chooses the models of the modes that may run, the experts and image models that may be asked.
fn choose_models(
    request: &RunRequest,
    settled: &SettledRun,
    config: &TrustedConfig<'_>,
) -> Result<PreparedModels, RunError> {
    let SettledRun { settings, modes, runnable, .. } = settled;
    let askable = |name: &String| settled.is_askable(name, request);
    let values = &settings.values.models;
    let wanted = WantedModels {
        modes: &modes
            .iter()
            .filter(|mode| runnable.contains(&mode.slug) && mode.model.is_some())
            .collect::<Vec<&Mode>>(),
        root: &settled.first.slug,
        experts: &values
            .profiles
            .keys()
            .filter(|name| askable(name))
            .cloned()
            .collect::<Vec<String>>(),
        image_models: Some(values.pointers.image.0.as_slice())
            .filter(|image_models| image_models.iter().all(askable))
            .unwrap_or_default(),
        purpose: request.purpose,
    };
    PreparedModels::choose(request, settings, &config.origin, &wanted)
}

/// Returns the slash commands that models may call; none where the files cannot be read, which
/// stops only a task that calls one.
fn offered_commands(config: &TrustedConfig<'_>) -> CommandSet {
    config.commands().cloned().unwrap_or_else(|error| {
        tracing::warn!(%error, "models are offered no slash commands");
        CommandSet::default()
    })
}

/// The limits of the settings that the policy does not let pass.
struct LimitsAbove {
    /// Each in a sentence.
    all: Vec<String>,
    /// Those of flags, which whoever asked wrote.
    by_flags: Vec<String>,
}

impl LimitsAbove {
    fn of(settings: &Settings, policy: &Policy) -> Self {
        let mut found = Self { all: Vec::new(), by_flags: Vec::new() };
        for (key, set, holds) in settings.values.budget.above(&policy.settings().budget) {
            let source = settings.source(key);
            let place = source.map(|source| source.place.as_str()).unwrap_or_default();
            let note =
                format!("{place}: {set} is above the policy's `{key}` of {holds}, which holds");
            if source.is_some_and(|source| source.layer == Layer::Flag) {
                found.by_flags.push(note.clone());
            }
            found.all.push(note);
        }
        found
    }
}
