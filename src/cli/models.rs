//! `locum models list`: the models that are configured, which one is used for what, their limits and prices. Asks nobody.

use serde::Serialize;

use crate::cli::failure::{Failure, Mistake};
use crate::cli::inspect_args::{InspectArgs, ModelsArgs, ModelsCommand};
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::{Context, ExitStatus, table};
use crate::config::settings::Settings;
use crate::models::profile::{Price, Profile};
use crate::models::resolve::{Chosen, ModelFacts, ProfileError, Resolved, resolve};
use crate::models::tokens::Tokenizer;

/// Runs the subcommand.
///
/// # Errors
/// When no model is configured at all, or the settings are wrong.
pub fn run(args: &ModelsArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    match &args.command {
        ModelsCommand::List(args) => list(args, context, output),
    }
}

/// A configured model as shown.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ModelRow {
    pub(super) name: String,
    /// `main`, `task`: the pointers that lead here.
    pub(super) used_for: Vec<String>,
    /// Whose protocol it speaks.
    pub(super) provider: &'static str,
    pub(super) model: String,
    pub(super) base_url: Option<String>,
    /// The variable that holds the key; the key itself is never shown.
    pub(super) api_key_env: Option<String>,
    pub(super) has_key: bool,
    context_window: Option<u32>,
    max_output_tokens: Option<u32>,
    price: Option<Price>,
    /// How its tokens are estimated before its provider counts them.
    tokenizer: Tokenizer,
    pub(super) notes: Vec<String>,
    /// Why it cannot be used.
    problem: Option<String>,
}

fn list(args: &InspectArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let settings = Place::open(context, args.at.as_deref())?.settings(&context.environment, &[])?;
    let in_use = choose(&settings, context, settings.values.model.as_deref());
    let mut rows: Vec<ModelRow> =
        settings.values.models.profiles.iter().map(|(name, profile)| row(name, profile, &settings, context)).collect();
    match &in_use {
        Ok(resolved) => {
            mark_used(&mut rows, resolved);
            if let Some(Err(error)) = &resolved.image {
                output.talk(failure(error));
            }
        }
        Err(error) if rows.is_empty() => return Err(failure(error)),
        Err(error) => output.talk(failure(error)),
    }
    if args.json {
        output.json(&rows);
    } else {
        for line in table::lines(
            ["NAME", "USED FOR", "PROVIDER", "MODEL", "WINDOW", "OUTPUT", "PRICE IN/OUT", "TOKENS BY", "KEY", "NOTES"],
            &rows.iter().map(cells).collect::<Vec<_>>(),
        ) {
            output.line(line);
        }
    }
    Ok(ExitStatus::Done)
}

/// Returns the models a run would use, `asked` standing for a flag.
///
/// # Errors
/// See [`ProfileError`].
fn choose(settings: &Settings, context: &Context, asked: Option<&str>) -> Result<Resolved, ProfileError> {
    let from_repository = settings.models_from_repository();
    let facts = ModelFacts { env: context.environment.variables(), asked, from_repository: &from_repository };
    resolve(&settings.values.models, &facts)
}

fn row(name: &str, profile: &Profile, settings: &Settings, context: &Context) -> ModelRow {
    match choose(settings, context, Some(name)) {
        Ok(resolved) => chosen_row(&resolved.main),
        Err(error) => ModelRow {
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
            tokenizer: profile.tokenizer.unwrap_or_default(),
            notes: Vec::new(),
            problem: Some(error.to_string()),
        },
    }
}

fn chosen_row(chosen: &Chosen) -> ModelRow {
    ModelRow {
        name: chosen.name.clone(),
        used_for: Vec::new(),
        provider: chosen.profile.provider.as_str(),
        model: chosen.profile.model.clone(),
        base_url: chosen.profile.base_url.clone(),
        api_key_env: chosen.profile.api_key_env.clone(),
        has_key: chosen.key.is_some(),
        context_window: Some(chosen.limits.context_window),
        max_output_tokens: Some(chosen.limits.max_output_tokens),
        price: chosen.limits.price,
        tokenizer: chosen.limits.tokenizer,
        notes: chosen.notes.clone(),
        problem: None,
    }
}

/// Marks the rows the pointers lead to; a model named by flag or variable without a profile gets a row of its own.
pub(super) fn mark_used(rows: &mut Vec<ModelRow>, resolved: &Resolved) {
    let image = resolved.image.iter().flatten().map(|chosen| ("image", chosen));
    let others = resolved.others.iter().map(|(pointer, chosen)| (*pointer, chosen)).chain(image);
    for (pointer, first) in [("main", &resolved.main), ("task", &resolved.task)].into_iter().chain(others) {
        for (place, chosen) in std::iter::once(first).chain(&first.spares).enumerate() {
            let use_name = if place == 0 { pointer.to_owned() } else { format!("{pointer} (stands in)") };
            match rows.iter_mut().find(|row| row.name == chosen.name) {
                Some(row) => row.used_for.push(use_name),
                None => rows.push(ModelRow { used_for: vec![use_name], ..chosen_row(chosen) }),
            }
        }
    }
}

fn cells(row: &ModelRow) -> [String; 10] {
    let number = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| crate::report::figures::tokens(u64::from(number)));
    let price = row.price.map_or_else(|| "-".to_owned(), |price| format!("${}/${}", price.input, price.output));
    let notes = row.problem.iter().chain(&row.notes).cloned().collect::<Vec<_>>().join("; ");
    [
        row.name.clone(),
        row.used_for.join(", "),
        row.provider.to_owned(),
        row.model.clone(),
        number(row.context_window),
        number(row.max_output_tokens),
        price,
        row.tokenizer.as_str().to_owned(),
        if row.has_key { "set" } else { "-" }.to_owned(),
        notes,
    ]
}

fn failure(error: &ProfileError) -> Failure {
    let mistake = Mistake { place: "models".to_owned(), what: error.to_string(), hint: Some(error.hint()), excerpt: None };
    Failure { status: ExitStatus::Usage, mistakes: vec![mistake] }
}
