//! `locum models list`: the models that are configured, which one is used for what, their limits
//! and prices. It contacts no server.

use serde::Serialize;

use crate::cli::inspect_args::InspectArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use locum_models::catalogue::{LimitSource, LimitSources};
use locum_models::profile::{ModelSettings, Price, Profile};
use locum_models::resolve::{
    ChosenModel, ModelFacts, ProfileError, ResolvedModels, resolve, resolve_named,
};
use locum_models::tokens::Tokenizer;

/// A configured model as shown.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ModelRow {
    pub(super) name: String,
    /// `main`, `task`: the pointers that lead here.
    pub(super) used_for: Vec<String>,
    /// Protocol of its server.
    pub(super) provider: &'static str,
    pub(super) model: String,
    pub(super) base_url: Option<String>,
    /// The variable that holds the key; the key itself is never shown.
    pub(super) api_key_env: Option<String>,
    pub(super) has_key: bool,
    context_window: Option<u32>,
    max_output_tokens: Option<u32>,
    price: Option<Price>,
    /// Who said window, limit of a reply and price; `null` where the model cannot be used.
    sources: Option<LimitSources>,
    /// How its tokens are estimated before its provider counts them.
    tokenizer: Tokenizer,
    pub(super) notes: Vec<String>,
    /// Why it cannot be used.
    problem: Option<String>,
}

/// Runs the subcommand.
///
/// # Errors
/// When no model is configured at all, or the settings are wrong.
pub fn list(
    args: &InspectArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let settings = InspectedRepository::open(context, args.at.as_deref())?.settings()?;
    let from_repository = settings.models_from_repository();
    let asked = settings.values.model.as_deref();
    let facts = ModelFacts {
        env: context.environment.variables(),
        asked,
        from_repository: &from_repository,
    };
    let models = &settings.values.models;
    let mut rows: Vec<ModelRow> =
        models.profiles.iter().map(|(name, profile)| row(name, profile, models, &facts)).collect();
    let mut status = ExitStatus::Done;
    match &resolve(models, &facts) {
        Ok(resolved) => {
            mark_used(&mut rows, resolved);
            for error in [&resolved.image, &resolved.embed]
                .into_iter()
                .flatten()
                .flat_map(|chosen| chosen.as_ref().err())
            {
                status = ExitStatus::Usage;
                output.talk(failure(error).report());
            }
        }
        Err(error) if rows.is_empty() => return Err(failure(error)),
        Err(error) => {
            mark_meant(&mut rows, models);
            status = ExitStatus::Usage;
            output.talk(failure(error).report());
        }
    }
    if args.json {
        output.json(&rows);
    } else {
        output.table(
            [
                "NAME",
                "USED FOR",
                "PROVIDER",
                "MODEL",
                "WINDOW",
                "OUTPUT",
                "PRICE IN/OUT",
                "SAID BY",
                "TOKENS BY",
                "KEY",
                "NOTES",
            ],
            rows.iter().map(cells),
        );
    }
    Ok(status)
}

fn row(name: &str, profile: &Profile, models: &ModelSettings, facts: &ModelFacts<'_>) -> ModelRow {
    match resolve_named(models, facts, name) {
        Ok(chosen) => chosen_row(&chosen),
        Err(error) => ModelRow { problem: Some(error.to_string()), ..profile_row(name, profile) },
    }
}

fn chosen_row(chosen: &ChosenModel) -> ModelRow {
    ModelRow {
        has_key: chosen.key.is_some(),
        context_window: Some(chosen.limits.context_window),
        max_output_tokens: Some(chosen.limits.max_output_tokens),
        price: chosen.limits.price,
        sources: Some(chosen.limits.sources),
        tokenizer: chosen.limits.tokenizer,
        notes: chosen.notes.clone(),
        ..profile_row(&chosen.name, &chosen.profile)
    }
}

/// What a profile says of itself.
fn profile_row(name: &str, profile: &Profile) -> ModelRow {
    ModelRow {
        name: name.to_owned(),
        used_for: Vec::new(),
        provider: profile.provider.as_str(),
        model: profile.model.clone(),
        base_url: profile.base_url.clone(),
        api_key_env: profile.api_key_env.clone(),
        has_key: false,
        context_window: profile.context_window,
        max_output_tokens: profile.max_output_tokens,
        price: profile.price,
        sources: None,
        tokenizer: profile.tokenizer.unwrap_or_default(),
        notes: Vec::new(),
        problem: None,
    }
}

/// Marks the rows the pointers lead to; a model named by flag or variable without a profile gets a
/// row of its own.
pub(super) fn mark_used(rows: &mut Vec<ModelRow>, resolved: &ResolvedModels) {
    let image = resolved.image.iter().flatten().map(|chosen| ("image", chosen));
    let embed = resolved.embed.iter().flatten().map(|chosen| ("embed", chosen));
    let others = resolved.others.iter().map(|(pointer, chosen)| (*pointer, chosen));
    let others = others.chain(image).chain(embed);
    for (pointer, first) in
        [("main", &resolved.main), ("task", &resolved.task)].into_iter().chain(others)
    {
        for (place, chosen) in std::iter::once(first).chain(&first.fallbacks).enumerate() {
            let use_name = use_name(pointer, place);
            match rows.iter_mut().find(|row| row.name == chosen.name) {
                Some(row) => row.used_for.push(use_name),
                None => rows.push(ModelRow { used_for: vec![use_name], ..chosen_row(chosen) }),
            }
        }
    }
}

/// Marks the rows that pointers name, where not all of them can be followed.
fn mark_meant(rows: &mut [ModelRow], models: &ModelSettings) {
    for (pointer, names) in models.pointers.each() {
        for (place, name) in names.0.iter().enumerate() {
            rows.iter_mut()
                .filter(|row| row.name == *name)
                .for_each(|row| row.used_for.push(use_name(pointer, place)));
        }
    }
}

/// Returns what a model is used for that stands at this place of a pointer's list.
fn use_name(pointer: &str, place: usize) -> String {
    if place == 0 { pointer.to_owned() } else { format!("{pointer} (fallback)") }
}

/// Returns who said window, limit of a reply and price.
fn said_by(sources: LimitSources) -> String {
    let all = [sources.context_window, sources.max_output_tokens, sources.price];
    if all.iter().all(|source| *source == sources.context_window) {
        return sources.context_window.as_str().to_owned();
    }
    all.map(LimitSource::as_str).join(", ")
}

fn cells(row: &ModelRow) -> [String; 11] {
    let number = |number: Option<u32>| {
        number.map_or_else(
            || "-".to_owned(),
            |number| locum_agent::report::figures::tokens(u64::from(number)),
        )
    };
    let price = row.price.map_or_else(|| "-".to_owned(), price_text);
    let notes = row.problem.iter().chain(&row.notes).cloned().collect::<Vec<_>>().join("; ");
    [
        row.name.clone(),
        row.used_for.join(", "),
        row.provider.to_owned(),
        row.model.clone(),
        number(row.context_window),
        number(row.max_output_tokens),
        price,
        row.sources.map_or_else(|| "-".to_owned(), said_by),
        row.tokenizer.as_str().to_owned(),
        if row.has_key { "set" } else { "-" }.to_owned(),
        notes,
    ]
}

/// Returns what input and output cost, and what they cost of long requests where that is more.
fn price_text(price: Price) -> String {
    let short = format!("${}/${}", price.input, price.output);
    let Some(long) = price.above else { return short };
    let from = locum_agent::report::figures::tokens(long.tokens);
    format!("{short}, above {from} ${}/${}", long.input, long.output)
}

fn failure(error: &ProfileError) -> RunError {
    RunError::usage("models", error.to_string()).hint(error.hint())
}
