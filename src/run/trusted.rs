//! `TrustedConfig`: what judges and shapes a run, read from one trusted commit and from nowhere
//! else: settings, policy, modes, slash commands, skills, jobs, hooks.
//!
//! In: the commit, the user's own files, the environment, flags. Out: what they hold, each file
//! read and checked once, however many runs one event starts. Settings and policy are read at once.
//! The rest is read on first use, so that a mistake stops only what needs the file.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::config::action_inputs::ActionInputs;
use crate::config::environment::Environment;
use crate::config::load::{self, ConfigFile, FlagValue, Layers};
use crate::config::settings::Settings;
use crate::run::checks;
use crate::run::error::RunError;
use crate::run::hooks;
use crate::run::job::{self, Job, JobFiles};
use crate::run::source::FileSource;
use crate::run::user::UserFolder;
use locum_agent::tools::hooks::{HOOKS_FILE, HookDefinition};
use locum_files::diagnostic::Diagnostic;
use locum_modes::ModeSet;
use locum_modes::loader::{ModeErrors, Strictness};
use locum_modes::merge::{self, ModeText};
use locum_modes::prompts::checks::Check;
use locum_modes::prompts::commands::{self, CommandSet};
use locum_modes::prompts::rules::RulesFiles;
use locum_modes::prompts::skills::SkillSet;
use locum_policy::Policy;
use locum_policy::schema::RepositoryHooks;

/// Default path of a repository's policy.
pub const POLICY_FILE: &str = ".locum/policy.yml";
/// Where a repository keeps its settings.
pub const CONFIG_FILE: &str = ".locum/config.yml";

/// Where configuration comes from.
#[derive(Clone)]
pub struct ConfigOrigin<'a> {
    /// Where the repository's files are read.
    pub source: FileSource<'a>,
    /// The user's own files.
    pub user: UserFolder,
    /// Variables that change settings.
    pub environment: &'a Environment,
}

impl ConfigOrigin<'_> {
    /// Returns the settings: user file, the repository's file, environment, flags.
    ///
    /// # Errors
    /// Every mistake of every layer.
    pub fn settings(&self, flags: &[FlagValue]) -> Result<Settings, RunError> {
        SettingsFiles::read(self)?.load(self.environment, flags)
    }

    /// Returns the text of every file that may define modes: the user's, the repository's.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn mode_texts(&self) -> Result<Vec<ModeText>, RunError> {
        let mut texts = self.user.mode_texts()?;
        texts.extend(self.source.mode_texts()?);
        Ok(texts)
    }

    /// Returns every slash command: the repository's, then the user's own.
    ///
    /// # Errors
    /// When a file cannot be read, or there are too many.
    pub fn commands(&self) -> Result<CommandSet, RunError> {
        let mut texts = self.source.texts(commands::FOLDERS, &commands::is_command_file)?;
        texts.extend(self.user.commands()?);
        Ok(CommandSet::read(&texts))
    }

    /// Returns the paths of the repository's files that other agents run as slash commands, and
    /// that are not run here.
    ///
    /// # Errors
    /// When a folder cannot be read, or there are too many files.
    pub fn command_programs(&self) -> Result<Vec<String>, RunError> {
        let mut found = Vec::new();
        for folder in commands::FOLDERS {
            let paths = self.source.paths_below(folder)?;
            found.extend(paths.into_iter().filter(|path| commands::is_program(path)));
        }
        Ok(found)
    }
}

/// The files of settings, read once and merged with the flags of each run.
struct SettingsFiles {
    user: Option<ConfigFile>,
    repository: Option<ConfigFile>,
}

impl SettingsFiles {
    fn read(origin: &ConfigOrigin<'_>) -> Result<Self, RunError> {
        let (user, repository) = (origin.user.settings()?, origin.source.own_file(CONFIG_FILE)?);
        Ok(Self { user, repository })
    }

    fn load(&self, environment: &Environment, flags: &[FlagValue]) -> Result<Settings, RunError> {
        let (user, repository) = (self.user.as_ref(), self.repository.as_ref());
        Ok(load::load(&Layers { user, repository, environment, flags })?)
    }
}

/// Everything that is read from one trusted commit.
pub struct TrustedConfig<'a> {
    /// Where it comes from.
    pub origin: ConfigOrigin<'a>,
    /// Settings of commit, user, environment and flags together.
    pub settings: Settings,
    /// Decides; what the ignore files hide is hidden in it.
    pub policy: Rc<Policy>,
    files: SettingsFiles,
    modes: OnceCell<ModeSet>,
    commands: OnceCell<CommandSet>,
    skills: OnceCell<SkillSet>,
    rules: OnceCell<RulesFiles>,
    jobs: OnceCell<JobFiles>,
    checks: OnceCell<Vec<Check>>,
    hooks: OnceCell<Vec<HookDefinition>>,
}

impl<'a> TrustedConfig<'a> {
    /// Loads settings and policy: the policy a user named, else the commit's, else the built-in
    /// one.
    ///
    /// # Errors
    /// Every mistake of the first file that has any.
    pub fn load(
        origin: ConfigOrigin<'a>,
        flags: &[FlagValue],
        policy: Option<&ConfigFile>,
    ) -> Result<Self, RunError> {
        let files = SettingsFiles::read(&origin)?;
        let settings = files.load(origin.environment, flags)?;
        let file = match policy {
            Some(named) => Some(named.clone()),
            None => policy_file(&origin.source, &settings)?,
        };
        let named = settings.values.policy.as_deref().filter(|path| *path != POLICY_FILE);
        let policy = match (file, named) {
            (Some(file), _) => Policy::parse(&file.text, &file.origin)?,
            (None, Some(path)) => {
                let message = format!("`policy` names `{path}`: no such file in {}", origin.source);
                return Err(RunError::usage(place_of_policy(&settings), message)
                    .hint("the policy is read from the trusted ref: commit it there"));
            }
            (None, None) => Policy::builtin(),
        };
        Self::with_policy(origin, files, settings, policy)
    }

    /// Loads what an event is judged by, with the triggers that the inputs leave; `None` when the
    /// commit holds no policy: then nothing is started by events.
    ///
    /// # Errors
    /// Every mistake of the first file that has any.
    pub fn load_for_event(
        source: FileSource<'a>,
        environment: &'a Environment,
        inputs: &ActionInputs,
    ) -> Result<Option<Self>, RunError> {
        let origin = ConfigOrigin { source, user: UserFolder::default(), environment };
        let files = SettingsFiles::read(&origin)?;
        let settings = files.load(environment, &[])?;
        let Some(file) = policy_file(&origin.source, &settings)? else { return Ok(None) };
        let policy = Policy::parse(&file.text, &file.origin)?;
        Self::with_policy(origin, files, settings, policy)
            .map(|config| Some(config.tightened_by(inputs)))
    }

    fn with_policy(
        origin: ConfigOrigin<'a>,
        files: SettingsFiles,
        settings: Settings,
        policy: Policy,
    ) -> Result<Self, RunError> {
        let policy = Rc::new(policy.with_ignored(origin.source.ignored()?));
        Ok(Self {
            origin,
            settings,
            policy,
            files,
            modes: OnceCell::new(),
            commands: OnceCell::new(),
            skills: OnceCell::new(),
            rules: OnceCell::new(),
            jobs: OnceCell::new(),
            checks: OnceCell::new(),
            hooks: OnceCell::new(),
        })
    }

    /// Returns the same with the triggers of its policy as the inputs of the Action leave them.
    /// Whoever asks the policy what starts a run, or by which word, has the answer from here.
    #[must_use]
    pub fn tightened_by(mut self, inputs: &ActionInputs) -> Self {
        self.policy = Rc::new(inputs.applied_to(Policy::clone(&self.policy)));
        self
    }

    /// Returns the same with its policy within the bounds of another one, where there is one.
    #[must_use]
    pub fn within(mut self, bounds: Option<&Policy>) -> Self {
        if let Some(bounds) = bounds {
            self.policy = Rc::new(Policy::clone(&self.policy).within(bounds));
        }
        self
    }

    /// Returns the repository's policy file as the trusted commit has it; `None` where it has none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn policy_file(&self) -> Result<Option<ConfigFile>, RunError> {
        policy_file(&self.origin.source, &self.settings)
    }

    /// Returns the settings of a run with flags of its own.
    ///
    /// # Errors
    /// Every mistake in the flags.
    pub fn settings_with(&self, flags: &[FlagValue]) -> Result<Settings, RunError> {
        self.files.load(self.origin.environment, flags)
    }

    /// Returns every mode: built-in, the user's, the commit's.
    ///
    /// # Errors
    /// Every mistake of every file.
    pub fn modes(&self) -> Result<&ModeSet, RunError> {
        once(&self.modes, || {
            let texts = self.origin.mode_texts()?;
            let merged = merge::merge(&texts, self.settings.values.mode_files);
            let merged = merged.map_err(|errors| with_way_around(errors, &texts))?;
            for (warning, count) in grouped(&merged.warnings) {
                let warning = warning.headline();
                tracing::warn!(%warning, count, "part of a mode file has no effect");
            }
            Ok(merged.modes)
        })
    }

    /// Returns the slugs of the modes that may run.
    ///
    /// # Errors
    /// As [`TrustedConfig::modes`].
    pub fn runnable(&self) -> Result<Vec<String>, RunError> {
        let allowed = &self.policy.settings().modes.allow;
        let slugs = self.modes()?.iter().map(|mode| mode.slug.clone());
        Ok(slugs.filter(|slug| allowed.contains(slug)).collect())
    }

    /// Returns every slash command.
    ///
    /// # Errors
    /// When a file cannot be read, or there are too many.
    pub fn commands(&self) -> Result<&CommandSet, RunError> {
        once(&self.commands, || self.origin.commands())
    }

    /// Returns the skills of every mode that may run.
    ///
    /// # Errors
    /// When a file cannot be read; every mistake of the first of our own files that has any.
    pub fn skills(&self) -> Result<&SkillSet, RunError> {
        once(&self.skills, || {
            let set = self.origin.source.skills(&self.runnable()?)?;
            match set.own_mistakes().first() {
                Some((origin, mistakes)) => Err(RunError::file(origin, mistakes.to_vec())),
                None => Ok(set),
            }
        })
    }

    /// Returns the rules files of every mode that may run.
    ///
    /// # Errors
    /// When a file cannot be read, or one that the settings name is not there.
    pub fn rules(&self) -> Result<&RulesFiles, RunError> {
        let named = &self.settings.values.context_files;
        once(&self.rules, || self.origin.source.rules(&self.runnable()?, named))
    }

    /// Returns every job whose file has no mistakes.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub fn jobs(&self) -> Result<&[Job], RunError> {
        self.job_files().map(|files| files.sound.as_slice())
    }

    /// Returns the names of the other jobs, each with its mistakes.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub fn broken_jobs(&self) -> Result<&[(String, RunError)], RunError> {
        self.job_files().map(|files| files.broken.as_slice())
    }

    fn job_files(&self) -> Result<&JobFiles, RunError> {
        once(&self.jobs, || job::read_files(&self.origin.source))
    }

    /// Returns every hook; none where the policy turns them off.
    ///
    /// # Errors
    /// Every mistake of the file.
    pub fn hooks(&self) -> Result<&[HookDefinition], RunError> {
        once(&self.hooks, || {
            if self.policy.settings().commands.hooks == RepositoryHooks::Off {
                return Ok(Vec::new());
            }
            let read = hooks::read(&self.origin.source)?;
            for (warning, count) in grouped(&read.warnings) {
                let warning = format!("{HOOKS_FILE}{}", warning.headline());
                tracing::warn!(%warning, count, "part of the hooks has no effect");
            }
            Ok(read.hooks)
        })
        .map(Vec::as_slice)
    }

    /// Returns every check.
    ///
    /// # Errors
    /// Every mistake of every file.
    pub fn checks(&self) -> Result<&[Check], RunError> {
        once(&self.checks, || checks::read_all(&self.origin.source)).map(Vec::as_slice)
    }
}

/// Reads the repository's policy file, wherever the settings say it is.
fn policy_file(
    source: &FileSource<'_>,
    settings: &Settings,
) -> Result<Option<ConfigFile>, RunError> {
    let named = settings.values.policy.as_deref().filter(|path| *path != POLICY_FILE);
    let Some(path) = named else { return source.own_file(POLICY_FILE) };
    source.regular_file(path).map_err(|error| {
        let what: Vec<String> = error.diagnostics.iter().map(Diagnostic::what).collect();
        let message = format!("`policy` names `{path}`: {}", what.join("; "));
        RunError::usage(place_of_policy(settings), message)
    })
}

/// Returns where the settings say which file the policy is.
fn place_of_policy(settings: &Settings) -> String {
    settings.source("policy").map(|source| source.place.clone()).unwrap_or_default()
}

/// Returns what a cell holds, loading it the first time.
fn once<T>(cell: &OnceCell<T>, load: impl FnOnce() -> Result<T, RunError>) -> Result<&T, RunError> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = load()?;
    Ok(cell.get_or_init(|| value))
}

/// Adds to mistakes in modes that a run can go without them, where it can.
fn with_way_around(mut errors: ModeErrors, texts: &[ModeText]) -> ModeErrors {
    let can_be_left_out = merge::merge(texts, Strictness::Lenient).is_ok();
    if let Some(last) = errors.0.last_mut().filter(|_| can_be_left_out) {
        let way = "or let runs go without modes that have mistakes: `mode_files: lenient` in \
                   `.locum/config.yml`";
        last.hint = Some(match &last.hint {
            Some(hint) => format!("{hint}; {way}"),
            None => format!("mend it, {way}"),
        });
    }
    errors
}

/// Returns each message once, where it comes first, and how often it comes.
pub fn grouped(warnings: &[Diagnostic]) -> Vec<(&Diagnostic, usize)> {
    let mut groups: Vec<(&Diagnostic, usize)> = Vec::new();
    for warning in warnings {
        match groups.iter_mut().find(|(first, _)| first.message == warning.message) {
            Some((_, count)) => *count += 1,
            None => groups.push((warning, 1)),
        }
    }
    groups
}
