//! From an order to everything a session works with: settings, policy, modes, rules and models, all from the trusted ref.
//!
//! In: an [`Order`], the open checkout. Out: [`Prepared`], or every mistake found. Nothing is changed and nobody is contacted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::base::id::SessionId;
use crate::base::secret::{Redactor, Secret};
use crate::base::tool::ToolName;
use crate::config::environment::Environment;
use crate::config::load::{self, ConfigFile, FlagValue, Layers};
use crate::config::settings::Settings;
use crate::config::source::Layer;
use crate::models::Model;
use crate::models::build;
use crate::models::cassette::Field;
use crate::models::cassette::record::{Recording, Tape};
use crate::models::cassette::replay::Replay;
use crate::models::chain::{Chain, Link};
use crate::models::profile::Price;
use crate::models::resolve::{self, Author, Chosen, ModelFacts, Need, ProfileError, Wish};
use crate::models::retry::RetryLimits;
use crate::models::scripted::Scripted;
use crate::models::scripted::script::Script;
use crate::modes::WayIn;
use crate::modes::access::{self, Offer, Purpose};
use crate::modes::loader::{ModeError, Strictness};
use crate::modes::merge::{self, ModeText};
use crate::modes::{Mode, ModeModel, ModeSet, ModelNeed};
use crate::policy::Policy;
use crate::policy::budget::Budget;
use crate::policy::intent::Facts;
use crate::prompts::{PromptFile, Standing};
use crate::run::fault::FaultKind;
use crate::run::fault::{Fault, Note};
use crate::run::job::Work;
use crate::run::opening::{Opening, Words};
use crate::run::plan::{PolicyName, RunPlan, Subject};
use crate::run::steps::FixedSteps;
use crate::run::trusted::{CONFIG_FILE, POLICY_FILE, Trusted};
use crate::session::{TaskModel, brief};
use crate::workspace::Workspace;
use crate::workspace::env::clean_env;
use crate::workspace::repo::CommitId;
use crate::workspace::sandbox::Sandbox;

/// How requests to models are tried again.
pub const RETRY: RetryLimits =
    RetryLimits { attempts: 5, base: Duration::from_secs(1), longest: Duration::from_secs(60), total: Duration::from_secs(300) };

/// A file a person named on the command line.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct NamedFile {
    /// Its name in messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What is to be run, before anything is looked up.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Order {
    /// Its name.
    pub session: SessionId,
    /// What is to be done, in the words of who asked.
    pub task: String,
    /// Whose words these are.
    #[serde(default)]
    pub words: Words,
    /// What the task is about, by people who may not be trusted: (what it is, where it is from, text).
    pub materials: Vec<(String, String, String)>,
    /// Mode asked for.
    pub mode: Option<String>,
    /// Who asked and how; the mode is filled in here.
    pub facts: Facts,
    /// Where results belong.
    pub subject: Subject,
    /// The fixed work of a job.
    pub work: Option<Work>,
    /// The commit to start from.
    pub base: CommitId,
    /// The commit that is trusted.
    pub trusted: CommitId,
    /// Settings by flag.
    pub flags: Vec<FlagValue>,
    /// A policy instead of the repository's.
    pub policy: Option<NamedFile>,
    /// A script instead of a model.
    pub script: Option<NamedFile>,
    /// What is recorded or played again.
    #[serde(default)]
    pub cassettes: Cassettes,
}

/// What is recorded or played again.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Cassettes {
    /// Where every reply is written down.
    pub record: Option<PathBuf>,
    /// A cassette instead of a model.
    pub replay: Option<ReplayOrder>,
}

/// A cassette to be played.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReplayOrder {
    /// The cassette.
    pub cassette: NamedFile,
    /// The fields in which requests may differ from the recorded ones, by [`Field::as_str`].
    pub tolerate: Vec<String>,
}

/// Everything a session works with.
pub struct Prepared {
    /// What was settled.
    pub plan: RunPlan,
    /// What the root task is told first, before what it names is looked up.
    pub opening: Opening,
    /// What the task is about, by people who may not be trusted: (what it is, where it is from, text).
    pub materials: Vec<(String, String, String)>,
    /// Settings.
    pub settings: Settings,
    /// Decides.
    pub policy: Policy,
    /// Every mode.
    pub modes: ModeSet,
    /// What the trusted ref adds to prompts.
    pub standing: Standing,
    /// The root task's model.
    pub main: PreparedModel,
    /// The sub-tasks' model.
    pub task: PreparedModel,
    /// The models of modes that have one of their own, by slug.
    pub own: BTreeMap<String, PreparedModel>,
    /// The environment commands get.
    pub command_env: BTreeMap<String, String>,
    /// What is around commands.
    pub sandbox: Sandbox,
    /// Takes secrets out.
    pub redactor: Redactor,
}

/// Reads the settings of a run: user file, the trusted ref's file, environment, flags.
///
/// # Errors
/// Every mistake of every layer.
pub fn settings(
    user: Option<&ConfigFile>,
    trusted: Trusted<'_>,
    environment: &Environment,
    flags: &[FlagValue],
) -> Result<Settings, Fault> {
    let repository = trusted.file(CONFIG_FILE)?.map(|file| ConfigFile { origin: CONFIG_FILE.to_owned(), text: file.text });
    load::load(&Layers { user, repository: repository.as_ref(), environment, flags }).map_err(|errors| Fault {
        kind: FaultKind::Setup,
        notes: errors
            .0
            .into_iter()
            .map(|error| Note { place: error.place, what: error.message, hint: error.hint, excerpt: error.excerpt })
            .collect(),
    })
}

/// Reads the policy that judges a run: the one a person named, else the trusted ref's, else the built-in one; and what the
/// trusted ref's ignore files hide, which no policy shows.
///
/// # Errors
/// Every mistake of the file, or of the first ignore file that has any.
pub fn policy(named: Option<&NamedFile>, settings: &Settings, trusted: Trusted<'_>) -> Result<(Policy, String), Fault> {
    let (policy, origin) = rules(named, settings, trusted)?;
    Ok((policy.with_ignored(trusted.ignored()?), origin))
}

fn rules(named: Option<&NamedFile>, settings: &Settings, trusted: Trusted<'_>) -> Result<(Policy, String), Fault> {
    let path = settings.values.policy.as_deref().unwrap_or(POLICY_FILE);
    let file = match named {
        Some(named) => Some(named.clone()),
        None => trusted.file(path)?.map(|file| NamedFile { name: path.to_owned(), text: file.text }),
    };
    let Some(file) = file else {
        return match settings.values.policy.as_deref().filter(|path| *path != POLICY_FILE) {
            Some(path) => Err(Fault::setup(path, format!("no such file in commit {}", trusted.commit.0))
                .hint("the policy is read from the trusted ref: commit it there")),
            None => Ok((Policy::builtin(), "built-in policy".to_owned())),
        };
    };
    let policy = Policy::parse(&file.text, &file.name).map_err(|errors| Fault {
        kind: FaultKind::Setup,
        notes: errors
            .0
            .into_iter()
            .map(|error| Note {
                place: format!("{}:{}:{}", error.origin, error.line, error.column),
                what: error.message,
                hint: error.hint,
                excerpt: error.excerpt,
            })
            .collect(),
    })?;
    Ok((policy, file.name))
}

/// Reads every mode: built-in, the user's, the trusted ref's.
///
/// # Errors
/// Every mistake of every file.
pub fn modes(user: &[ModeText], trusted: Trusted<'_>, strictness: Strictness) -> Result<ModeSet, Fault> {
    let mut texts = user.to_vec();
    texts.extend(trusted.mode_files()?);
    let merged = merge::merge(&texts, strictness).map_err(|errors| {
        let note = |error: ModeError| Note {
            place: format!("{}:{}:{}", error.origin, error.line, error.column),
            what: if error.path.is_empty() { error.message } else { format!("{}: {}", error.path, error.message) },
            hint: error.hint,
            excerpt: error.excerpt,
        };
        Fault { kind: FaultKind::Setup, notes: errors.0.into_iter().map(note).collect() }
    })?;
    for warning in merged.warnings {
        tracing::warn!(%warning, "part of a mode file has no effect");
    }
    Ok(merged.modes)
}

/// The user's own files, read by the caller.
#[derive(Clone, Debug, Default)]
pub struct UserFiles {
    /// `config.yml` of the user's configuration folder.
    pub config: Option<ConfigFile>,
    /// The mode files of the user's configuration folder.
    pub modes: Vec<ModeText>,
    /// The slash commands of the user's configuration folder.
    pub commands: Vec<PromptFile>,
}

/// Looks everything up that a run needs.
///
/// # Errors
/// Every mistake of the first place that has any: settings, policy, modes, models.
pub fn prepare(order: Order, workspace: &Workspace, user: &UserFiles, environment: &Environment) -> Result<Prepared, Fault> {
    let trusted = Trusted { repo: &workspace.repo, commit: &order.trusted };
    let settings = settings(user.config.as_ref(), trusted, environment, &order.flags)?;
    let (policy, origin) = policy(order.policy.as_ref(), &settings, trusted)?;
    let opening = Opening::read(&order.task, order.words, trusted, &user.commands)?;
    let modes = modes(&user.modes, trusted, settings.values.mode_files)?;
    let slug = first_mode(&order, &opening, &settings, &policy);
    find_mode(&modes, &slug, &opening)?;
    let modes = as_the_command_leaves(modes, &opening, &slug, &settings);
    let mode = find_mode(&modes, &slug, &opening)?;
    if mode.way_in == WayIn::Delegated {
        let message = format!("mode `{slug}` is for sub-tasks only (`mode: subagent` in `{}`)", mode.source.file().unwrap_or_default());
        return Err(Fault::setup("--mode", message).hint("name a mode that starts it as a sub-task, or take that line out"));
    }
    let runnable: Vec<String> =
        modes.iter().map(|mode| mode.slug.clone()).filter(|slug| policy.settings().modes.allow.contains(slug)).collect();
    let (rules, skills) = (trusted.rules(&runnable)?, trusted.skills(&runnable)?);
    for file in skills.files.iter().filter(|file| file.skill.is_err()) {
        tracing::warn!(file = file.origin, "a skill has mistakes and is left out; `locum skills validate` tells them");
    }
    let wishes: Vec<&Mode> = modes.iter().filter(|mode| runnable.contains(&mode.slug) && mode.model.is_some()).collect();
    let models = Models::choose(&order, &settings, environment, trusted, &wishes, &slug)?;
    let sandbox = Sandbox::prepare(&policy.settings().commands, environment.variables()).map_err(Fault::machine)?;
    let facts = Facts { mode: slug.clone(), sandboxed: sandbox.holds(), ..order.facts };
    let sandbox = sandbox.with_hosts_of(&policy, &facts);
    let budget: Budget = settings.values.budget.tighten(policy.settings().budget);
    let command_env = clean_env(environment.variables(), &policy.settings().commands.env);
    let may_delegate = policy.settings().modes.delegation.from.contains(&slug);
    let root = models.own.get(&slug).unwrap_or(&models.main);
    let offer =
        Offer { switching: policy.settings().modes.switching, may_delegate, purpose: Purpose::Work, included: &root.included_tools };
    let plan = RunPlan {
        session: order.session,
        task: order.task.clone(),
        mode: slug.clone(),
        subject: order.subject,
        checkout: workspace.checkout.root().display().to_string(),
        base: order.base,
        trusted: order.trusted.clone(),
        policy: PolicyName { origin, hash: policy.hash().to_owned() },
        models: (root.model.label().to_owned(), models.task.model.label().to_owned()),
        budget,
        command: opening.command.as_ref().map(|command| format!("/{} ({})", command.name, command.origin)),
        tools: brief::shown(&access::offered(mode, offer), &policy, &facts, &skills.of_mode(&slug))
            .iter()
            .map(ToString::to_string)
            .collect(),
        modes: runnable,
        rules: rules.iter().map(|rule| rule.path.clone()).collect(),
        allowed: policy.summary_lines(&slug),
        risks: policy.accepted_risks().iter().map(ToString::to_string).collect(),
        notes: models.notes,
        facts,
    };
    let language = settings.values.language.clone();
    Ok(Prepared {
        opening,
        materials: order.materials,
        plan,
        settings,
        modes,
        standing: Standing { rules, skills, language },
        main: models.main,
        task: models.task,
        own: models.own,
        command_env,
        sandbox,
        redactor: Redactor::new(models.keys.into_iter().chain(environment.secrets())),
        policy,
    })
}

/// Returns the mode of the root task: the one asked for, the slash command's, the files', the policy's.
fn first_mode(order: &Order, opening: &Opening, settings: &Settings, policy: &Policy) -> String {
    let asked = settings.source("mode").is_some_and(|source| matches!(source.layer, Layer::Flag | Layer::Environment));
    let of_settings = settings.values.mode.as_ref();
    let of_command = opening.command.as_ref().and_then(|command| command.mode.as_ref());
    let chosen = order.mode.as_ref().or(of_settings.filter(|_| asked)).or(of_command).or(of_settings);
    chosen.unwrap_or(&policy.settings().modes.default).clone()
}

/// Returns the modes as the slash command leaves them: narrowed, and the first one on its model unless a model was asked for.
fn as_the_command_leaves(modes: ModeSet, opening: &Opening, first: &str, settings: &Settings) -> ModeSet {
    let Some(command) = &opening.command else { return modes };
    let model = command.model.as_ref().filter(|_| settings.values.model.is_none());
    modes.map(|mode| {
        let narrowed = command.rights.as_ref().map_or_else(|| mode.clone(), |rights| rights.narrow(&mode));
        match model.filter(|_| mode.slug == first) {
            Some(name) => {
                let need = ModelNeed::Preferred;
                Mode { model: Some(ModeModel { name: name.clone(), provider: None, base_url: None, need }), ..narrowed }
            }
            None => narrowed,
        }
    })
}

fn find_mode<'a>(modes: &'a ModeSet, slug: &str, opening: &Opening) -> Result<&'a Mode, Fault> {
    modes.find(slug).ok_or_else(|| {
        let known: Vec<&str> = modes.iter().map(|mode| mode.slug.as_str()).collect();
        let near = crate::base::fields::nearest(slug, &known)
            .map_or_else(|| format!("known: {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
        let of_command = opening.command.as_ref().filter(|command| command.mode.as_deref() == Some(slug));
        Fault::setup(of_command.map_or("--mode", |command| &command.origin), format!("there is no mode `{slug}`")).hint(near)
    })
}

/// A model that is ready to be asked.
pub struct PreparedModel {
    model: Box<dyn Model>,
    price: Option<Price>,
    included_tools: Vec<ToolName>,
    spares: Vec<(String, Option<Price>)>,
}

impl PreparedModel {
    fn free(model: impl Model + 'static) -> Self {
        Self { model: Box::new(model), price: None, included_tools: Vec::new(), spares: Vec::new() }
    }

    fn build(chosen: &Chosen, trusted: Trusted<'_>) -> Result<Self, Fault> {
        let included_tools = chosen.profile.included_tools.clone();
        let mut links = Vec::with_capacity(1 + chosen.spares.len());
        for chosen in std::iter::once(chosen).chain(&chosen.spares) {
            links.push(Link { model: build(chosen, trusted)?, context_window: chosen.limits.context_window });
        }
        let prices = chosen.spares.iter().map(|spare| spare.limits.price);
        let spares = links.iter().skip(1).map(|link| link.model.label().to_owned()).zip(prices).collect();
        let chain = Chain::new(links).ok_or_else(|| Fault::setup("models", "there is no model"))?;
        Ok(Self { model: Box::new(chain), price: chosen.limits.price, included_tools, spares })
    }

    /// Returns it as the session uses it.
    #[must_use]
    pub fn in_use(&self) -> TaskModel<'_> {
        TaskModel { model: self.model.as_ref(), price: self.price, included_tools: &self.included_tools, spares: &self.spares }
    }
}

/// The models of a run.
struct Models {
    main: PreparedModel,
    task: PreparedModel,
    /// Of modes that have one of their own.
    own: BTreeMap<String, PreparedModel>,
    keys: Vec<Secret>,
    notes: Vec<String>,
}

impl Models {
    fn choose(
        order: &Order,
        settings: &Settings,
        environment: &Environment,
        trusted: Trusted<'_>,
        wishes: &[&Mode],
        root: &str,
    ) -> Result<Self, Fault> {
        let mut models = match (&order.script, &order.cassettes.replay, &order.work) {
            (Some(script), _, _) => Self::scripted(script)?,
            (None, Some(replay), _) => Self::replayed(replay)?,
            (None, None, Some(Work::Steps(_))) => Self::none(),
            (None, None, _) => Self::configured(settings, environment, trusted, wishes)?,
        };
        if let Some(path) = &order.cassettes.record {
            models = models.recorded(path, environment)?;
        }
        Ok(match &order.work {
            None | Some(Work::Task(_)) => models,
            Some(Work::Steps(steps)) => Self { main: PreparedModel::free(FixedSteps::alone(steps.clone())), ..models },
            Some(Work::StepsThenTask(steps, _)) => {
                // What comes after the steps is one conversation with the model that began with them.
                let after = models.own.remove(root).unwrap_or(models.main);
                let main = PreparedModel { model: Box::new(FixedSteps::before(steps.clone(), after.model)), ..after };
                Self { main, own: BTreeMap::new(), ..models }
            }
        })
    }

    fn none() -> Self {
        let unused = || PreparedModel::free(FixedSteps::alone(Vec::new()));
        Self { main: unused(), task: unused(), own: BTreeMap::new(), keys: Vec::new(), notes: Vec::new() }
    }

    fn replayed(replay: &ReplayOrder) -> Result<Self, Fault> {
        let tolerated: Vec<Field> =
            Field::ALL.into_iter().filter(|field| replay.tolerate.iter().any(|name| name == field.as_str())).collect();
        let file = &replay.cassette;
        let play = Replay::parse(&file.name, &file.text, tolerated).map_err(|problem| Fault::setup(&file.name, problem))?;
        let (main, task) = (PreparedModel::free(play.clone()), PreparedModel::free(play));
        Ok(Self { main, task, own: BTreeMap::new(), keys: Vec::new(), notes: Vec::new() })
    }

    /// Has every reply written to a cassette.
    fn recorded(self, path: &Path, environment: &Environment) -> Result<Self, Fault> {
        let redactor = Redactor::new(self.keys.iter().cloned().chain(environment.secrets()));
        let tape =
            Tape::open(path, redactor).map_err(|err| Fault::setup("--record", format!("cannot write `{}`: {err}", path.display())))?;
        let tape = Arc::new(tape);
        let record =
            |prepared: PreparedModel| PreparedModel { model: Box::new(Recording::new(prepared.model, Arc::clone(&tape))), ..prepared };
        Ok(Self {
            main: record(self.main),
            task: record(self.task),
            own: self.own.into_iter().map(|(slug, prepared)| (slug, record(prepared))).collect(),
            ..self
        })
    }

    fn scripted(script: &NamedFile) -> Result<Self, Fault> {
        let parse = || {
            Script::parse(&script.name, &script.text).map_err(|error| Fault {
                kind: FaultKind::Setup,
                notes: vec![Note {
                    place: format!("{}:{}:{}", error.file, error.line, error.column),
                    what: error.message,
                    hint: None,
                    excerpt: error.excerpt,
                }],
            })
        };
        let (main, task) = (PreparedModel::free(Scripted::new(parse()?)), PreparedModel::free(Scripted::new(parse()?)));
        Ok(Self { main, task, own: BTreeMap::new(), keys: Vec::new(), notes: Vec::new() })
    }

    fn configured(settings: &Settings, environment: &Environment, trusted: Trusted<'_>, wishes: &[&Mode]) -> Result<Self, Fault> {
        let from_repository = settings.models_from_repository();
        let facts = ModelFacts { env: environment.variables(), asked: settings.values.model.as_deref(), from_repository: &from_repository };
        let fault = |place: &str, error: &ProfileError| Fault::setup(place, error.to_string()).hint(error.hint());
        let resolved = resolve::resolve(&settings.values.models, &facts).map_err(|error| fault("models", &error))?;
        let mut wished: Vec<(&Mode, Chosen)> = Vec::new();
        for mode in wishes {
            let Some(wish) = wish_of(mode) else { continue };
            let place = mode.source.file().unwrap_or("modes");
            let chosen = resolve::resolve_wish(&settings.values.models, &facts, wish).map_err(|error| fault(place, &error))?;
            wished.extend(chosen.map(|chosen| (*mode, chosen)));
        }
        let first = || [&resolved.main, &resolved.task].into_iter().chain(wished.iter().map(|(_, chosen)| chosen));
        let chosen = || first().flat_map(|chosen| std::iter::once(chosen).chain(&chosen.spares));
        let mut notes: Vec<String> = Vec::new();
        for note in chosen().flat_map(|chosen| &chosen.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        let keys = chosen().filter_map(|chosen| chosen.key.clone()).collect();
        let own = wished
            .iter()
            .map(|(mode, chosen)| Ok((mode.slug.clone(), PreparedModel::build(chosen, trusted)?)))
            .collect::<Result<_, Fault>>()?;
        let (main, task) = (PreparedModel::build(&resolved.main, trusted)?, PreparedModel::build(&resolved.task, trusted)?);
        Ok(Self { main, task, own, keys, notes })
    }
}

/// Returns what a mode asks for, and who wrote that.
fn wish_of(mode: &Mode) -> Option<Wish<'_>> {
    let model = mode.model.as_ref()?;
    let written_by = if mode.source.is_in_repository() { Author::Repository } else { Author::Person };
    let need = match model.need {
        ModelNeed::Required => Need::Required,
        ModelNeed::Preferred => Need::Preferred,
    };
    let (provider, base_url) = (model.provider.as_deref(), model.base_url.as_deref());
    Some(Wish { mode: &mode.slug, name: &model.name, provider, base_url, need, written_by })
}

fn build(chosen: &Chosen, trusted: Trusted<'_>) -> Result<Box<dyn Model>, Fault> {
    let script = match chosen.script_file() {
        Some(path) => {
            Some(trusted.file(path)?.ok_or_else(|| Fault::setup(path, format!("no such script in commit {}", trusted.commit.0)))?)
        }
        None => None,
    };
    build::build(chosen, script.as_ref().map(|file| file.text.as_str()))
        .map_err(|error| Fault::setup(format!("model `{}`", chosen.name), error.to_string()))
}
