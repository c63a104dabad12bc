//! The models of a run: chosen by settings and flags, built with their fallbacks, recorded or
//! replayed.
//!
//! In: a [`RunRequest`], settings, the environment. Out: [`PreparedModels`] that are ready to be
//! asked, or every mistake found. No request is sent yet.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::config::environment::Environment;
use crate::config::load::ConfigFile;
use crate::config::settings::Settings;
use crate::run::error::RunError;
use crate::run::job::JobWork;
use crate::run::model_set::ModelSet;
use crate::run::run_request::{ReplayRequest, RunPurpose, RunRequest};
use crate::run::source::FileSource;
use crate::run::steps::FixedSteps;
use crate::run::trusted::ConfigOrigin;
use locum_agent::embedder::Embedder;
use locum_agent::report::trace::TracedModel;
use locum_agent::session::model::{Fallback, ImageModel, RunModels, TaskModel};
use locum_base::chat::Usage;
use locum_base::secret::{Redactor, Secret};
use locum_models::build;
use locum_models::cassette::record::{CassetteWriter, RecordingModel};
use locum_models::cassette::replay::ReplayModel;
use locum_models::cassette::{Capacities, Capacity};
use locum_models::embedding::EmbeddingModel;
use locum_models::fallback::{FallbackChain, FallbackModel};
use locum_models::profile::{CONDENSE_PERCENT, Price, Profile, Provider, ToolProtocol};
use locum_models::reply_bounds::ReplyBounds;
use locum_models::resolve::{
    self, ChosenModel, ModelFacts, ModelRequirement, ProfileError, RequestedModel, SettingAuthor,
};
use locum_models::retry::RetryLimits;
use locum_models::scripted::ScriptedModel;
use locum_models::scripted::script::ModelScript;
use locum_models::tokens::Tokenizer;
use locum_models::{Model, accounting};
use locum_modes::{Mode, ModelNeed};

/// How requests to models are tried again: the pauses alone take 2.5 to 5 minutes, as outages of
/// providers do. Attempts that end in silence take long themselves.
const RETRY: RetryLimits = RetryLimits {
    attempts: 11,
    base: Duration::from_secs(1),
    longest: Duration::from_secs(60),
    total: Duration::from_secs(15 * 60),
};

/// A model that is ready to be asked.
pub struct PreparedModel {
    pub(super) model: Box<dyn Model>,
    price: Option<Price>,
    reply: ReplyBounds,
    pub(super) capacity: Capacity,
    /// How a trace names it.
    pub(super) traced: TracedModel,
    fallbacks: Vec<Fallback>,
}

impl PreparedModel {
    fn free(model: impl Model + 'static) -> Self {
        Self {
            traced: TracedModel {
                provider: Provider::Scripted.as_str(),
                name: model.label().to_owned(),
            },
            model: Box::new(model),
            price: None,
            reply: ReplyBounds::default(),
            capacity: Capacity {
                window: u32::MAX,
                condense_percent: CONDENSE_PERCENT,
                sees_images: true,
                tool_protocol: ToolProtocol::Native,
                tokenizer: Tokenizer::Bytes,
                included_tools: Vec::new(),
            },
            fallbacks: Vec::new(),
        }
    }

    /// Builds a chosen model; a scripted one plays the file in `source`.
    ///
    /// # Errors
    /// When it cannot be reached the way it is configured, or its script is missing or wrong.
    pub fn build(chosen: &ChosenModel, source: &FileSource<'_>) -> Result<Self, RunError> {
        let chain = std::iter::once(chosen).chain(&chosen.fallbacks);
        let entry = |chosen: &ChosenModel| {
            let context_window = chosen.limits.context_window;
            Ok(FallbackModel { model: build(chosen, source)?, context_window })
        };
        let fallback_models = chain.map(entry).collect::<Result<Vec<_>, RunError>>()?;
        let fallback = |(entry, chosen): (&FallbackModel, &ChosenModel)| Fallback {
            label: entry.model.label().to_owned(),
            price: chosen.limits.price,
            tokenizer: chosen.limits.tokenizer,
            context_window: entry.context_window,
            reply: ReplyBounds::of(chosen),
        };
        let fallbacks =
            fallback_models.iter().skip(1).zip(&chosen.fallbacks).map(fallback).collect();
        let chain = FallbackChain::new(fallback_models)
            .ok_or_else(|| RunError::usage("models", "there is no model"))?;
        // Fixed replies have no window unless settings give one.
        let is_remote = chosen.profile.provider.home().is_some();
        let window = if is_remote {
            chosen.limits.context_window
        } else {
            chosen.profile.context_window.unwrap_or(u32::MAX)
        };
        let is_native = chosen.limits.tool_protocol == ToolProtocol::Native;
        let sees_images = is_native
            && if is_remote { chosen.limits.images } else { chosen.profile.images.unwrap_or(true) };
        Ok(Self {
            model: Box::new(chain),
            price: chosen.limits.price,
            reply: ReplyBounds::of(chosen),
            capacity: Capacity {
                window,
                condense_percent: chosen.profile.condense_percent.unwrap_or(CONDENSE_PERCENT),
                sees_images,
                tool_protocol: chosen.limits.tool_protocol,
                tokenizer: chosen.limits.tokenizer,
                included_tools: chosen.included_tools.clone(),
            },
            traced: TracedModel {
                provider: traced_provider(&chosen.profile),
                name: chosen.profile.model.clone(),
            },
            fallbacks,
        })
    }

    /// Returns true when it, or a model that stands in for it, costs something.
    pub(super) fn has_price(&self) -> bool {
        let prices = std::iter::once(&self.price)
            .chain(self.fallbacks.iter().map(|fallback| &fallback.price));
        prices.flatten().any(|price| {
            accounting::cost(Usage { input: 1, output: 1, ..Usage::default() }, *price) > 0.0
        })
    }

    /// Returns it as the session uses it.
    pub fn in_use(&self) -> TaskModel<'_> {
        TaskModel {
            model: self.model.as_ref(),
            price: self.price,
            included_tools: &self.capacity.included_tools,
            context_window: self.capacity.window,
            condense_percent: self.capacity.condense_percent,
            tool_protocol: self.capacity.tool_protocol,
            sees_images: self.capacity.sees_images,
            tokenizer: self.capacity.tokenizer,
            reply: self.reply,
            fallbacks: &self.fallbacks,
        }
    }
}

/// Returns what OpenTelemetry calls a profile's provider: the one its host belongs to, else the one
/// whose protocol it speaks.
fn traced_provider(profile: &Profile) -> &'static str {
    const HOSTS: &[(&str, &str)] = &[
        ("api.deepseek.com", "deepseek"),
        ("api.mistral.ai", "mistral_ai"),
        ("api.groq.com", "groq"),
        ("api.x.ai", "x_ai"),
        ("api.perplexity.ai", "perplexity"),
        (".openai.azure.com", "azure.ai.openai"),
        ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ];
    let url = profile.base_url.as_deref().and_then(|address| Url::parse(address).ok());
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let named = HOSTS.iter().find(|(end, _)| host.ends_with(end)).map(|(_, name)| *name);
    named.unwrap_or(match profile.provider {
        Provider::Openai | Provider::OpenaiResponses => "openai",
        Provider::Anthropic => "anthropic",
        Provider::Gemini => "gcp.gemini",
        Provider::Bedrock => "aws.bedrock",
        Provider::Vertex => "gcp.vertex_ai",
        Provider::Azure => "azure.ai.openai",
        Provider::Scripted => "scripted",
    })
}

/// The models of a run.
pub struct PreparedModels {
    pub(super) set: ModelSet<PreparedModel>,
    /// The names of the image model's profile and of its fallbacks.
    pub(super) image_models: Vec<String>,
    /// The model that embeds texts.
    pub(super) embedder: Option<Embedder>,
    pub(super) keys: Vec<Secret>,
    pub(super) notes: Vec<String>,
}

/// What models are wanted for besides the run's own.
pub(super) struct WantedModels<'w> {
    /// Modes that ask for one.
    pub(super) modes: &'w [&'w Mode],
    /// The mode of the root task.
    pub(super) root: &'w str,
    /// Profiles that may be asked a question.
    pub(super) experts: &'w [String],
    /// Profiles that may generate images: the first, and its fallbacks.
    pub(super) image_models: &'w [String],
    /// Whether they will be asked.
    pub(super) purpose: RunPurpose,
}

impl PreparedModels {
    /// Returns true when a model of the run costs something.
    pub fn has_price(&self) -> bool {
        self.set.each().any(PreparedModel::has_price)
    }

    /// Returns the model of the root task in a mode.
    pub(super) fn of_mode(&self, slug: &str) -> &PreparedModel {
        let own = self.set.own.iter().find(|(own, _)| own == slug);
        own.map_or(&self.set.main, |(_, model)| model)
    }

    /// Returns them as the session uses them.
    pub(super) fn in_use<'a>(&'a self, image_models: &'a [String]) -> RunModels<'a> {
        let used = self.set.as_ref().map(PreparedModel::in_use);
        RunModels {
            main: used.main,
            task: used.task,
            condense: used.condense,
            own: used.own.into_iter().collect(),
            experts: used.experts.into_iter().collect(),
            image_model: used.image.map(|model| ImageModel { names: image_models, model }),
            retry: RETRY,
        }
    }

    pub(super) fn choose(
        request: &RunRequest,
        settings: &Settings,
        origin: &ConfigOrigin<'_>,
        wanted: &WantedModels<'_>,
    ) -> Result<Self, RunError> {
        if wanted.purpose == RunPurpose::Publish {
            return Ok(Self::none());
        }
        let mut models =
            match (&request.overrides.script, &request.overrides.cassettes.replay, &request.work) {
                (Some(script), _, _) => Self::scripted(script, wanted)?,
                (None, Some(replay), _) => Self::replayed(replay)?,
                (None, None, Some(JobWork::Steps(_))) => Self::none(),
                (None, None, _) => Self::configured(settings, origin, wanted)?,
            };
        if let Some(path) = &request.overrides.cassettes.record {
            models = models.recorded(path, origin.environment)?;
        }
        match &request.work {
            None | Some(JobWork::Task(_)) => {}
            Some(JobWork::Steps(steps)) => {
                models.set.main = PreparedModel::free(FixedSteps::alone(steps.clone()));
            }
            Some(JobWork::StepsThenTask(steps, _)) => {
                // What comes after the steps is one conversation with the model that began with
                // them.
                let mut own = std::mem::take(&mut models.set.own).into_iter();
                let after = own.find(|(slug, _)| slug == wanted.root);
                let after = after.map_or(models.set.main, |(_, model)| model);
                models.set.main = PreparedModel {
                    model: Box::new(FixedSteps::before(steps.clone(), after.model)),
                    ..after
                };
            }
        }
        Ok(models)
    }

    /// Models without keys, and with nothing to say of them.
    fn of(set: ModelSet<PreparedModel>, image_models: Vec<String>) -> Self {
        Self { set, image_models, embedder: None, keys: Vec::new(), notes: Vec::new() }
    }

    /// What stands in a plan where no model is configured yet.
    fn missing(error: &ProfileError) -> Self {
        let unused = |()| PreparedModel::free(FixedSteps::missing());
        let set = ModelSet::default().map(unused);
        let note = format!("no run can start yet: {error}; {}", error.hint());
        Self { notes: vec![note], ..Self::of(set, Vec::new()) }
    }

    fn none() -> Self {
        let unused = |()| PreparedModel::free(FixedSteps::alone(Vec::new()));
        Self::of(ModelSet::default().map(unused), Vec::new())
    }

    fn replayed(replay: &ReplayRequest) -> Result<Self, RunError> {
        let file = &replay.cassette;
        let play = ReplayModel::parse(&file.origin, &file.text, replay.tolerate.clone()).map_err(
            |problem| {
                RunError::usage(&file.origin, problem).hint(
                    "`--record FILE` of an earlier run writes a cassette; `--script` plays fixed \
                     replies",
                )
            },
        )?;
        let capacities = play.capacities().clone();
        let plain = || PreparedModel::free(play.clone());
        let of = |capacity| PreparedModel { capacity, ..plain() };
        let own = capacities.own.into_iter().map(|(slug, capacity)| (slug, of(capacity)));
        let set = ModelSet {
            main: of(capacities.main),
            task: of(capacities.task),
            condense: capacities.condense.map(of),
            own: own.collect(),
            experts: capacities.experts.into_iter().map(|name| (name, plain())).collect(),
            image: capacities.image_models.first().map(|_| plain()),
        };
        Ok(Self::of(set, capacities.image_models))
    }

    /// Has every reply written to a cassette.
    fn recorded(self, path: &Path, environment: &Environment) -> Result<Self, RunError> {
        let redactor = Redactor::new(self.keys.iter().cloned().chain(environment.secrets()));
        let of = self.set.as_ref().map(|prepared| prepared.capacity.clone());
        let capacities = Capacities {
            main: of.main,
            task: of.task,
            condense: of.condense,
            own: of.own.into_iter().collect(),
            experts: of.experts.into_iter().map(|(name, _)| name).collect(),
            image_models: self.image_models.clone(),
        };
        let tape = CassetteWriter::open(path, redactor, capacities).map_err(|err| {
            RunError::usage("--record", format!("cannot write `{}`: {err}", path.display()))
        })?;
        let tape = Arc::new(tape);
        let record = |prepared: PreparedModel| PreparedModel {
            model: Box::new(RecordingModel::new(prepared.model, Arc::clone(&tape))),
            ..prepared
        };
        Ok(Self { set: self.set.map(record), ..self })
    }

    fn scripted(script: &ConfigFile, wanted: &WantedModels<'_>) -> Result<Self, RunError> {
        let scripted = |()| {
            ModelScript::parse(&script.origin, &script.text)
                .map(|parsed| PreparedModel::free(ScriptedModel::new(parsed)))
                .map_err(|errors| RunError::file(&errors.file, errors.mistakes))
        };
        let set = ModelSet {
            experts: wanted.experts.iter().map(|name| (name.clone(), ())).collect(),
            image: wanted.image_models.first().map(|_| ()),
            ..ModelSet::default()
        };
        Ok(Self::of(set.try_map(scripted)?, wanted.image_models.to_vec()))
    }

    fn configured(
        settings: &Settings,
        origin: &ConfigOrigin<'_>,
        wanted: &WantedModels<'_>,
    ) -> Result<Self, RunError> {
        let source = &origin.source;
        let from_repository = settings.models_from_repository();
        let facts = ModelFacts {
            env: origin.environment.variables(),
            asked: settings.values.model.as_deref(),
            from_repository: &from_repository,
        };
        let failed = |place: &str, error: &ProfileError| {
            RunError::usage(place, error.to_string()).hint(error.hint())
        };
        let resolved = match resolve::resolve(&settings.values.models, &facts) {
            Ok(resolved) => resolved,
            Err(error) if error.is_missing() && wanted.purpose == RunPurpose::Plan => {
                return Ok(Self::missing(&error));
            }
            Err(error) => return Err(failed("models", &error)),
        };
        let mut requested_models: Vec<(String, ChosenModel)> = Vec::new();
        for mode in wanted.modes {
            let Some(requested) = model_requested_by(mode) else { continue };
            let place = mode.source.file().unwrap_or("modes");
            let chosen = resolve::resolve_requested(&settings.values.models, &facts, requested)
                .map_err(|error| failed(place, &error))?;
            requested_models.extend(chosen.map(|chosen| (mode.slug.clone(), chosen)));
        }
        let (mut asked, mut unasked) = (Vec::new(), Vec::new());
        for name in wanted.experts {
            // One that cannot be used here is not asked; the run does without.
            match resolve::resolve_named(&settings.values.models, &facts, name) {
                Ok(chosen) => asked.push((name.clone(), chosen)),
                Err(error) => unasked.push(format!(
                    "the expert `{name}` cannot be asked: {error}; {}",
                    error.hint()
                )),
            }
        }
        let image_model_choice = match &resolved.image {
            Some(Ok(chosen)) if !wanted.image_models.is_empty() => Some(chosen),
            Some(Err(error)) => {
                unasked.push(format!("no images are generated: {error}; {}", error.hint()));
                None
            }
            Some(Ok(_)) | None => None,
        };
        let embedding_model = match &resolved.embed {
            Some(Ok(chosen)) => Some(chosen),
            Some(Err(error)) => {
                unasked.push(format!("code is found by words alone: {error}; {}", error.hint()));
                None
            }
            None => None,
        };
        let set = ModelSet {
            main: &resolved.main,
            task: &resolved.task,
            condense: resolved.others.get("condense"),
            own: requested_models.iter().map(|(slug, chosen)| (slug.clone(), chosen)).collect(),
            experts: asked.iter().map(|(name, chosen)| (name.clone(), chosen)).collect(),
            image: image_model_choice,
        };
        let chosen = || {
            let every = set.each().copied().chain(embedding_model);
            every.flat_map(|chosen| std::iter::once(chosen).chain(&chosen.fallbacks))
        };
        let mut notes: Vec<String> = Vec::new();
        for note in chosen().flat_map(|chosen| &chosen.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes.extend(unasked);
        let keys = chosen().filter_map(|chosen| chosen.key.clone()).collect();
        let set = set.try_map(|chosen| PreparedModel::build(chosen, source))?;
        let image_models = set.image.iter().flat_map(|_| wanted.image_models.to_vec()).collect();
        let embedder = embedding_model
            .map(EmbeddingModel::prepare)
            .transpose()
            .map_err(|error| RunError::usage("models", error.to_string()))?
            .map(Embedder::new);
        Ok(Self { set, image_models, embedder, keys, notes })
    }
}

/// Returns what a mode asks for, and who wrote that.
pub fn model_requested_by(mode: &Mode) -> Option<RequestedModel<'_>> {
    let model = mode.model.as_ref()?;
    let written_by = if mode.source.is_in_repository() {
        SettingAuthor::Repository
    } else {
        SettingAuthor::Person
    };
    let need = match model.need {
        ModelNeed::Required => ModelRequirement::Required,
        ModelNeed::Preferred => ModelRequirement::Preferred,
    };
    let (provider, base_url) = (model.provider.as_deref(), model.base_url.as_deref());
    Some(RequestedModel {
        mode: &mode.slug,
        name: &model.name,
        provider,
        base_url,
        need,
        written_by,
    })
}

/// Builds a chosen model; a scripted one plays the file in `source`.
///
/// # Errors
/// When it cannot be reached the way it is configured, or its script is missing or wrong.
pub fn build(chosen: &ChosenModel, source: &FileSource<'_>) -> Result<Box<dyn Model>, RunError> {
    let script = match chosen.script_file() {
        Some(path) => Some(
            source
                .file(path)?
                .ok_or_else(|| RunError::usage(path, format!("no such script in {source}")))?,
        ),
        None => None,
    };
    build::build(chosen, script.as_ref().map(|file| file.text.as_str()))
        .map_err(|error| RunError::usage(format!("model `{}`", chosen.name), error.to_string()))
}

#[cfg(test)]
mod tests;
