//! `locum models test`: one cheap request to a model, and what came of it.
//!
//! In: settings and the environment as a run sees them, perhaps the name of a profile or a model.
//! Out: endpoint, model, latency, tokens and cost, or the error a run would end with. Fallbacks are
//! not asked: what is tested is the model that is named.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use tokio::time::timeout;

use crate::cli::inspect_args::ModelTestArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::stop_signal::runtime;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::settings::Settings;
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::models::build;
use crate::run::source::FileSource;
use locum_agent::report::figures;
use locum_agent::session::stop::advice;
use locum_base::chat::{Message, Usage};
use locum_base::clock::Clock as _;
use locum_base::id::TaskId;
use locum_models::embedding::EmbeddingModel;
use locum_models::resolve::{ChosenModel, ModelFacts, ProfileError, resolve, resolve_named};
use locum_models::retry::{RetryLimits, StreamObserver, complete};
use locum_models::{Delta, ModelError, ModelRequest, accounting};

/// What the model is asked.
const QUESTION: &str = "Reply with the one word: ready";

/// Most tokens of the reply; enough for a model that reasons before a word.
const OUTPUT_LIMIT_TOKENS: u32 = 2_000;

/// One attempt: a model that is slow or busy is worth knowing. Its reply has to be whole within the
/// total, or within the profile's `idle_timeout_s` where that is longer.
const LIMITS: RetryLimits = RetryLimits {
    attempts: 1,
    base: Duration::from_secs(1),
    longest: Duration::from_secs(1),
    total: Duration::from_secs(120),
};

/// What came of one request.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ModelProbe {
    /// The profile's name; the model's where it has none.
    name: String,
    model: String,
    /// Protocol of its server.
    provider: &'static str,
    /// Where its API starts; `null` for a script.
    endpoint: Option<String>,
    /// The variable its key was read from.
    key: Option<String>,
    /// Whether a whole reply came.
    pub(super) answered: bool,
    /// Until the reply was whole, in milliseconds.
    latency_ms: u64,
    /// Until its first piece came.
    first_piece_ms: Option<u64>,
    /// How many numbers a vector has, of a model that embeds texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    vector_length: Option<usize>,
    /// Tokens as the provider counted them; `null` where it does not count.
    usage: Option<Usage>,
    /// US dollars by the price table; `null` where tokens or price are unknown.
    cost_usd: Option<f64>,
    /// Why no reply came, as a run says it.
    pub(super) problem: Option<String>,
    notes: Vec<String>,
}

/// Runs the subcommand.
///
/// # Errors
/// When no model is configured, or the settings or the name are wrong.
pub fn test(
    args: &ModelTestArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let place = InspectedRepository::open(context, args.inspect.at.as_deref())?;
    let (settings, name) = (place.settings()?, args.profile.as_deref());
    let failed =
        |error: ProfileError| RunError::usage("models", error.to_string()).hint(error.hint());
    let embeds = |name: &str| settings.values.models.pointers.embed.0.iter().any(|own| own == name);
    let found = if name.is_some_and(embeds) {
        probe_embedding(&embedding(&settings, context, name).map_err(failed)?)?
    } else {
        probe(&chosen(&settings, context, name).map_err(failed)?, &place.source())?
    };
    if args.inspect.json {
        output.json(&found);
    } else {
        found.lines().into_iter().for_each(|line| output.line(line));
        if let Some(problem) = &found.problem {
            output.talk(format_args!("error: {problem}"));
        }
    }
    Ok(if found.answered { ExitStatus::Done } else { ExitStatus::Failed })
}

/// Returns the profile or model of this name, or a run's own.
fn chosen(
    settings: &Settings,
    context: &CommandContext,
    name: Option<&str>,
) -> Result<ChosenModel, ProfileError> {
    let (models, from_repository) = (&settings.values.models, settings.models_from_repository());
    let facts = facts(settings, context, name, &from_repository);
    match name.filter(|name| models.profiles.contains_key(*name)) {
        Some(profile) => resolve_named(models, &facts, profile),
        None => Ok(resolve(models, &facts)?.main),
    }
}

/// Returns the model that embeds texts, which is also asked for by its name.
fn embedding(
    settings: &Settings,
    context: &CommandContext,
    name: Option<&str>,
) -> Result<ChosenModel, ProfileError> {
    let from_repository = settings.models_from_repository();
    let facts = facts(settings, context, name, &from_repository);
    let resolved = resolve(&settings.values.models, &facts)?;
    resolved.embed.unwrap_or(Ok(resolved.main))
}

fn facts<'f>(
    settings: &'f Settings,
    context: &'f CommandContext,
    name: Option<&'f str>,
    from_repository: &'f BTreeSet<String>,
) -> ModelFacts<'f> {
    ModelFacts {
        env: context.environment.variables(),
        asked: name.or(settings.values.model.as_deref()),
        from_repository,
    }
}

/// Has a model embed one text.
///
/// # Errors
/// When it cannot be set up at all.
fn probe_embedding(chosen: &ChosenModel) -> Result<ModelProbe, RunError> {
    let model = EmbeddingModel::prepare(chosen)
        .map_err(|error| RunError::usage("models", error.to_string()))?;
    let (runtime, clock) = (runtime()?, SystemClock::start());
    let answer = runtime.block_on(model.embed(&["ready"]));
    let probe = ModelProbe { latency_ms: millis(clock.elapsed()), ..ModelProbe::of(chosen) };
    Ok(match answer {
        Ok(answer) => ModelProbe {
            answered: true,
            vector_length: answer.vectors.first().map(Vec::len),
            usage: answer.is_counted.then_some(answer.usage.usage),
            cost_usd: chosen
                .limits
                .price
                .filter(|_| answer.is_counted)
                .map(|_| answer.usage.cost_usd),
            ..probe
        },
        Err(error) => ModelProbe { problem: Some(format!("{error}{}", advice(&error))), ..probe },
    })
}

/// Asks a model one question.
///
/// # Errors
/// When it cannot be set up at all.
pub(super) fn probe(chosen: &ChosenModel, source: &FileSource<'_>) -> Result<ModelProbe, RunError> {
    let (runtime, model) = (runtime()?, build(chosen, source)?);
    let clock = SystemClock::start();
    let (mut first, mut lost) = (None, Vec::new());
    let mut watch = |delta: &Delta| {
        if matches!(delta, Delta::Text(_) | Delta::Reasoning(_) | Delta::Call { .. }) {
            first.get_or_insert_with(|| millis(clock.elapsed()));
        }
    };
    let messages = [Message::User { text: QUESTION.to_owned() }];
    let request = ModelRequest {
        system: "You are asked whether you can be reached.",
        max_output_tokens: Some(OUTPUT_LIMIT_TOKENS),
        ..ModelRequest::new(&messages, TaskId(0), "test", 0)
    };
    let observer = StreamObserver { watch: &mut watch, lost: &mut lost, admit: &mut |_next| true };
    let own = chosen.profile.idle_timeout_s.map(Duration::from_secs);
    let longest = own.map_or(LIMITS.total, |own| own.max(LIMITS.total));
    let replied = runtime.block_on(async {
        let reply = complete(model.as_ref(), request, LIMITS, &clock, observer);
        timeout(longest, reply).await.unwrap_or_else(|_| {
            Err(ModelError::Unavailable {
                model: model.label().to_owned(),
                message: format!("no whole reply came within {} s", longest.as_secs()),
                retry_after: None,
            })
        })
    });
    let latency_ms = millis(clock.elapsed());
    let usage = replied.as_ref().ok().and_then(|reply| reply.usage);
    let price = usage.zip(chosen.limits.price);
    Ok(ModelProbe {
        answered: replied.is_ok(),
        latency_ms,
        first_piece_ms: first,
        usage,
        cost_usd: price.map(|(usage, price)| accounting::cost(usage, price)),
        problem: replied.err().map(|error| format!("{error}{}", advice(&error))),
        ..ModelProbe::of(chosen)
    })
}

impl ModelProbe {
    /// Returns what is known of a model before it is asked.
    fn of(chosen: &ChosenModel) -> Self {
        Self {
            name: chosen.name.clone(),
            model: chosen.profile.model.clone(),
            provider: chosen.profile.provider.as_str(),
            endpoint: chosen.profile.base_url.clone(),
            key: chosen.key_variable.clone(),
            answered: false,
            latency_ms: 0,
            first_piece_ms: None,
            vector_length: None,
            usage: None,
            cost_usd: None,
            problem: None,
            notes: chosen.notes.clone(),
        }
    }

    /// Returns what is shown, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let seconds = |millis: u64| format!("{}.{} s", millis / 1000, millis % 1000 / 100);
        let first = self
            .first_piece_ms
            .filter(|_| self.answered)
            .map(|first| format!(", its first words after {}", seconds(first)))
            .unwrap_or_default();
        let answered = if self.answered { "answered" } else { "no answer" };
        let cost = match (self.cost_usd, self.usage) {
            (Some(cost), _) => format!("${cost:.6}"),
            (None, Some(_)) => "unknown: the model has no known price".to_owned(),
            (None, None) => "unknown: the provider counted nothing".to_owned(),
        };
        let rows = [
            ("model", Some(format!("{} ({})", self.model, self.provider))),
            ("endpoint", self.endpoint.clone()),
            ("key", self.key.as_ref().map(|variable| format!("in {variable}"))),
            (answered, Some(format!("after {}{first}", seconds(self.latency_ms)))),
            ("vector", self.vector_length.map(|length| format!("{length} numbers"))),
            ("usage", self.usage.map(figures::usage)),
            ("cost", self.answered.then_some(cost)),
        ];
        let notes = self.notes.iter().map(|note| format!("note       {note}"));
        rows.into_iter()
            .filter_map(|(title, text)| Some(format!("{title:<10} {}", text?)))
            .chain(notes)
            .collect()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
