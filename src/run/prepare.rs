//! From an order to everything a session works with: settings, policy, modes, rules and models, all
//! from the trusted ref.
//!
//! In: an [`Order`], the open checkout. Out: [`Prepared`], or every mistake found. Nothing is
//! changed and nobody is contacted.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::environment::Environment;
use crate::config::load::{self, ConfigFile, FlagValue, Layers};
use crate::config::settings::Settings;
use crate::config::source::Layer;
use crate::config::telemetry::Collector;
use crate::run::fault::FaultKind;
use crate::run::fault::{Fault, Note};
use crate::run::job::Work;
use crate::run::models::{Models, PreparedModel, Wanted};
use crate::run::opening::{Opening, Words};
use crate::run::plan::{PolicyName, RunPlan, Subject};
use crate::run::servers::ServerPlan;
use crate::run::trusted::{CONFIG_FILE, POLICY_FILE, Trusted};
use locum_agent::session::brief::{self, Known};
use locum_agent::session::id::SessionId;
use locum_base::secret::Redactor;
use locum_files::diagnostic::Diagnostic;
use locum_models::retry::RetryLimits;
use locum_modes::WayIn;
use locum_modes::access::{self, Offer, Purpose};
use locum_modes::loader::Strictness;
use locum_modes::merge::{self, ModeText};
use locum_modes::prompts::{PromptFile, Standing};
use locum_modes::{Mode, ModeModel, ModeSet, ModelNeed};
use locum_policy::Policy;
use locum_policy::budget::Budget;
use locum_policy::intent::{Facts, Intent};
use locum_policy::lint::risks::accepted_risks;
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::env::clean_env;
use locum_workspace::Workspace;
use locum_workspace::repo::CommitId;

/// How requests to models are tried again.
pub const RETRY: RetryLimits = RetryLimits {
    attempts: 5,
    base: Duration::from_secs(1),
    longest: Duration::from_secs(60),
    total: Duration::from_secs(300),
};

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
    /// What the task is about, by people who may not be trusted: (what it is, where it is from,
    /// text).
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
    /// What the task is about, by people who may not be trusted: (what it is, where it is from,
    /// text).
    pub materials: Vec<(String, String, String)>,
    /// Settings.
    pub settings: Settings,
    /// Decides.
    pub policy: Policy,
    /// Every mode.
    pub modes: ModeSet,
    /// What the trusted ref adds to prompts.
    pub standing: Standing,
    /// Where a trace of the run goes; `None` where none is wanted.
    pub telemetry: Option<Collector>,
    /// The root task's model.
    pub main: PreparedModel,
    /// The sub-tasks' model.
    pub task: PreparedModel,
    /// The model that sums conversations up, where it is not each task's own.
    pub condense: Option<PreparedModel>,
    /// The models of modes that have one of their own, by slug.
    pub own: BTreeMap<String, PreparedModel>,
    /// The models that may be asked a question, by profile.
    pub experts: BTreeMap<String, PreparedModel>,
    /// The model that draws pictures.
    pub painter: Option<PreparedModel>,
    /// The environment commands get.
    pub command_env: BTreeMap<String, String>,
    /// The MCP servers there may be.
    pub servers: ServerPlan,
    /// What is around commands.
    pub sandbox: Sandbox,
    /// Takes secrets out.
    pub redactor: Redactor,
}

impl Prepared {
    /// Returns true when a model of the run costs something.
    #[must_use]
    pub fn has_price(&self) -> bool {
        [&self.main, &self.task]
            .into_iter()
            .chain(&self.condense)
            .chain(self.own.values())
            .chain(self.experts.values())
            .chain(&self.painter)
            .any(PreparedModel::has_price)
    }
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
    let repository = trusted
        .file(CONFIG_FILE)?
        .map(|file| ConfigFile { origin: CONFIG_FILE.to_owned(), text: file.text });
    load::load(&Layers { user, repository: repository.as_ref(), environment, flags }).map_err(
        |errors| Fault {
            kind: FaultKind::Setup,
            notes: errors
                .0
                .into_iter()
                .map(|error| Note {
                    place: error.place,
                    what: error.message,
                    hint: error.hint,
                    excerpt: error.excerpt,
                })
                .collect(),
        },
    )
}

/// Reads the policy that judges a run: the one a person named, else the trusted ref's, else the
/// built-in one; and what the trusted ref's ignore files hide, which no policy shows.
///
/// # Errors
/// Every mistake of the file, or of the first ignore file that has any.
pub fn policy(
    named: Option<&NamedFile>,
    settings: &Settings,
    trusted: Trusted<'_>,
) -> Result<(Policy, String), Fault> {
    let (policy, origin) = rules(named, settings, trusted)?;
    Ok((policy.with_ignored(trusted.ignored()?), origin))
}

fn rules(
    named: Option<&NamedFile>,
    settings: &Settings,
    trusted: Trusted<'_>,
) -> Result<(Policy, String), Fault> {
    let path = settings.values.policy.as_deref().unwrap_or(POLICY_FILE);
    let file = match named {
        Some(named) => Some(named.clone()),
        None => {
            trusted.file(path)?.map(|file| NamedFile { name: path.to_owned(), text: file.text })
        }
    };
    let Some(file) = file else {
        return match settings.values.policy.as_deref().filter(|path| *path != POLICY_FILE) {
            Some(path) => {
                Err(Fault::setup(path, format!("no such file in commit {}", trusted.commit.0))
                    .hint("the policy is read from the trusted ref: commit it there"))
            }
            None => Ok((Policy::builtin(), "built-in policy".to_owned())),
        };
    };
    let policy = Policy::parse(&file.text, &file.name).map_err(|errors| Fault {
        kind: FaultKind::Setup,
        notes: errors
            .0
            .into_iter()
            .map(|error| Note {
                place: format!("{}:{}", error.origin, error.place),
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
pub fn modes(
    user: &[ModeText],
    trusted: Trusted<'_>,
    strictness: Strictness,
) -> Result<ModeSet, Fault> {
    let mut texts = user.to_vec();
    texts.extend(trusted.mode_files()?);
    let merged = merge::merge(&texts, strictness).map_err(|errors| {
        let note = |error: Diagnostic| Note {
            place: format!("{}:{}", error.origin, error.place),
            what: if error.path.is_empty() {
                error.message
            } else {
                format!("{}: {}", error.path, error.message)
            },
            hint: error.hint,
            excerpt: error.excerpt,
        };
        Fault { kind: FaultKind::Setup, notes: errors.0.into_iter().map(note).collect() }
    })?;
    for warning in merged.warnings {
        let (at, what) = (warning.location(), warning.what());
        tracing::warn!(%at, %what, "part of a mode file has no effect");
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
pub fn prepare(
    order: Order,
    workspace: &Workspace,
    user: &UserFiles,
    environment: &Environment,
) -> Result<Prepared, Fault> {
    let trusted = Trusted { repo: &workspace.repo, commit: &order.trusted };
    let settings = settings(user.config.as_ref(), trusted, environment, &order.flags)?;
    let (policy, origin) = policy(order.policy.as_ref(), &settings, trusted)?;
    let opening = Opening::read(
        &order.task,
        order.words,
        trusted,
        &user.commands,
        &policy.settings().modes.allow,
    )?;
    let modes = modes(&user.modes, trusted, settings.values.mode_files)?;
    let slug = first_mode(&order, &opening, &settings, &policy);
    find_mode(&modes, &slug, &opening)?;
    let modes = as_the_command_leaves(modes, &opening, &slug, &settings);
    let mode = find_mode(&modes, &slug, &opening)?;
    if mode.way_in == WayIn::Delegated {
        let message = format!(
            "mode `{slug}` is for sub-tasks only (`mode: subagent` in `{}`)",
            mode.source.file().unwrap_or_default()
        );
        return Err(Fault::setup("--mode", message)
            .hint("name a mode that starts it as a sub-task, or take that line out"));
    }
    let runnable: Vec<String> = modes
        .iter()
        .map(|mode| mode.slug.clone())
        .filter(|slug| policy.settings().modes.allow.contains(slug))
        .collect();
    let (rules, skills) = (trusted.rules(&runnable)?, trusted.skills(&runnable)?);
    let opening = opening.with_skill(&skills, &slug)?;
    for file in skills.files.iter().filter(|file| file.skill.is_err()) {
        tracing::warn!(
            file = file.origin,
            "a skill has mistakes and is left out; `locum skills validate` tells them"
        );
    }
    let wishes: Vec<&Mode> =
        modes.iter().filter(|mode| runnable.contains(&mode.slug) && mode.model.is_some()).collect();
    let profiles = settings.values.models.profiles.keys();
    let experts: Vec<String> =
        profiles.filter(|name| is_askable(name, &order, &policy, &runnable)).cloned().collect();
    let painters = &settings.values.models.pointers.image.0;
    let painters: &[String] =
        if painters.iter().all(|name| is_askable(name, &order, &policy, &runnable)) {
            painters
        } else {
            &[]
        };
    let wanted = Wanted { modes: &wishes, root: &slug, experts: &experts, painters };
    let models = Models::choose(&order, &settings, environment, trusted, &wanted)?;
    let telemetry =
        Collector::read(settings.values.telemetry, environment).unwrap_or_else(|error| {
            tracing::warn!(%error, "no trace of this run will be sent");
            None
        });
    let sandbox = Sandbox::prepare(&policy.settings().commands, environment.variables())
        .map_err(Fault::machine)?;
    let facts = Facts { mode: slug.clone(), sandboxed: sandbox.holds(), ..order.facts };
    let sandbox = sandbox.with_hosts_of(&policy, &facts);
    let budget: Budget = settings.values.budget.tighten(policy.settings().budget);
    let command_env = clean_env(environment.variables(), &policy.settings().commands.env);
    let may_delegate = policy.settings().modes.delegation.from.contains(&slug);
    let root = models.own.get(&slug).unwrap_or(&models.main);
    let offer = Offer {
        switching: policy.settings().modes.switching,
        may_delegate,
        purpose: Purpose::Work,
        included: &root.included_tools,
    };
    let servers = ServerPlan::make(
        &settings,
        trusted.server_files()?,
        &policy,
        environment,
        workspace.checkout.root(),
    )?;
    let experts: Vec<String> = models.experts.keys().cloned().collect();
    let (painters, painter) = models.painter.unzip();
    let painters = painters.unwrap_or_default();
    let known = Known {
        skills: &skills.of_mode(&slug),
        experts: &brief::askable(&experts, &policy, &facts),
        draws: brief::may_draw(&painters, &policy, &facts),
        servers: !servers.servers.is_empty(),
        resources: false,
    };
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
        ceilings: policy.settings().ceilings,
        command: opening.called(),
        tools: brief::shown(&access::offered(mode, offer), &policy, &facts, known)
            .iter()
            .map(ToString::to_string)
            .collect(),
        modes: runnable,
        rules: rules.iter().map(|rule| rule.path.clone()).collect(),
        allowed: policy.summary_lines(&slug, |_| true),
        risks: accepted_risks(&policy).iter().map(ToString::to_string).collect(),
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
        standing: Standing { rules, skills, language, experts, painters },
        telemetry,
        main: models.main,
        task: models.task,
        condense: models.condense,
        own: models.own,
        experts: models.experts,
        painter,
        command_env,
        sandbox,
        redactor: Redactor::new(
            models
                .keys
                .into_iter()
                .chain(environment.secrets())
                .chain(servers.secrets.iter().cloned()),
        ),
        servers,
        policy,
    })
}

/// Returns whether some allowed mode may ask a profile for something, by the policy.
fn is_askable(name: &str, order: &Order, policy: &Policy, runnable: &[String]) -> bool {
    runnable.iter().any(|mode| {
        let facts = Facts { mode: mode.clone(), ..order.facts.clone() };
        policy.decide(&Intent::Expert(name.to_owned()), &facts).decision != Decision::Deny
    })
}

/// Returns the mode of the root task: the one asked for, the slash command's, the files', the
/// policy's.
fn first_mode(order: &Order, opening: &Opening, settings: &Settings, policy: &Policy) -> String {
    let asked = settings
        .source("mode")
        .is_some_and(|source| matches!(source.layer, Layer::Flag | Layer::Environment));
    let of_settings = settings.values.mode.as_ref();
    let of_command = opening.command.as_ref().and_then(|command| command.mode.as_ref());
    let chosen =
        order.mode.as_ref().or(of_settings.filter(|_| asked)).or(of_command).or(of_settings);
    chosen.unwrap_or(&policy.settings().modes.default).clone()
}

/// Returns the modes as the slash command leaves them: narrowed, and the first one on its model
/// unless a model was asked for.
fn as_the_command_leaves(
    modes: ModeSet,
    opening: &Opening,
    first: &str,
    settings: &Settings,
) -> ModeSet {
    let Some(command) = &opening.command else { return modes };
    let model = command.model.as_ref().filter(|_| settings.values.model.is_none());
    modes.map(|mode| {
        let narrowed =
            command.rights.as_ref().map_or_else(|| mode.clone(), |rights| rights.narrow(&mode));
        match model.filter(|_| mode.slug == first) {
            Some(name) => {
                let need = ModelNeed::Preferred;
                Mode {
                    model: Some(ModeModel {
                        name: name.clone(),
                        provider: None,
                        base_url: None,
                        need,
                    }),
                    ..narrowed
                }
            }
            None => narrowed,
        }
    })
}

fn find_mode<'a>(modes: &'a ModeSet, slug: &str, opening: &Opening) -> Result<&'a Mode, Fault> {
    modes.find(slug).ok_or_else(|| {
        let known: Vec<&str> = modes.iter().map(|mode| mode.slug.as_str()).collect();
        let near = locum_files::fields::nearest(slug, &known).map_or_else(
            || format!("known: {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        let of_command =
            opening.command.as_ref().filter(|command| command.mode.as_deref() == Some(slug));
        Fault::setup(
            of_command.map_or("--mode", |command| &command.origin),
            format!("there is no mode `{slug}`"),
        )
        .hint(near)
    })
}
