//! `locum modes show --prompt`: the system prompt and tools of a mode, as a run on the command line
//! would send them, and about how long that is for the model it would have.

use std::slice;

use serde::Serialize;

use crate::cli::inspect_args::InspectArgs;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_file;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::settings::Settings;
use crate::run::browser;
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::machine;
use crate::run::models::model_requested_by;
use crate::run::place;
use locum_agent::report::markdown::visible;
use locum_agent::session::system_prompt::{PromptContext, PromptInputs};
use locum_base::clock::Clock;
use locum_models::accounting::estimate_tools;
use locum_models::resolve::{self, ChosenModel, ModelFacts};
use locum_models::tokens::Tokenizer;
use locum_modes::access::TaskPurpose;
use locum_modes::prompts::RepositoryInstructions;
use locum_modes::{Mode, ModeSet};
use locum_policy::intent::Facts;
use locum_sandbox::Sandbox;
use locum_sandbox::env::clean_env;
use locum_workspace::repo::Repo;

/// One section of the prompt.
#[derive(Serialize)]
struct PromptSection {
    name: &'static str,
    bytes: usize,
    /// An estimate, no count.
    estimated_tokens: u64,
    text: String,
}

/// The whole prompt, with estimates of its length.
#[derive(Serialize)]
struct PromptReport<'a> {
    mode: &'a str,
    sections: Vec<PromptSection>,
    /// The tools shown to the model.
    tools: Vec<String>,
    /// Bytes of the tools' descriptions and schemas.
    tools_bytes: usize,
    /// Of the tools: an estimate, no count.
    tools_estimated_tokens: u64,
    /// What the estimates are made by.
    tokenizer: Tokenizer,
    /// Of sections and tools together: an estimate, no count.
    estimated_tokens: u64,
}

/// Shows the prompt of a mode.
///
/// # Errors
/// When a file it is made of cannot be read, or the policy has mistakes.
pub fn show(
    mode: &Mode,
    modes: &ModeSet,
    args: &InspectArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let place = InspectedRepository::open(context, args.at.as_deref())?;
    let file = policy_file::repository_file(context, args.at.as_deref())?;
    let policy =
        policy_file::parse(file.as_ref())?.with_ignored(place.source().ignored()?).of_job(None);
    let settings = place.settings()?;
    let chosen = model_of(mode, &settings, context);
    let tokenizer = chosen.as_ref().map_or_else(Tokenizer::default, |it| it.limits.tokenizer);
    let (engine, _) = machine::search_engine(&settings, &context.environment);
    let commands = &policy.settings().commands;
    let facts =
        Facts { mode: mode.slug.clone(), sandboxed: true, contained: true, ..Facts::default() };
    let variables = context.environment.variables();
    let (browser, _) = browser::usable(
        (&policy, &facts),
        || Sandbox::prepare(commands, variables).is_ok_and(|sandbox| sandbox.holds()),
        || browser::installed(&settings, &context.environment),
    );
    let values = settings.values;
    let image_models = values.models.pointers.image.0.clone();
    let experts = values.models.profiles.into_keys().collect();
    let env = clean_env(variables, &commands.env);
    let run_place = Repo::open(place.root()).ok().and_then(|repo| {
        let commit = repo.commit_of(args.at.as_deref().unwrap_or("HEAD")).ok()?;
        let now = SystemClock::start().now();
        Some(place::dated(
            place::look(place.root(), (&repo, &commit), (&policy, &facts), &env),
            now,
        ))
    });
    let inputs = PromptInputs::of(&PromptContext {
        place: &run_place.unwrap_or_default(),
        had_background: false,
        servers: &[],
        mode,
        modes,
        policy: &policy,
        facts: &facts,
        purpose: TaskPurpose::Work,
        may_delegate: policy.may_delegate(&facts),
        included: chosen.as_ref().map_or(&[][..], |chosen| &chosen.included_tools),
        instructions: &RepositoryInstructions {
            rules: place.source().rules(slice::from_ref(&mode.slug), &values.context_files)?,
            skills: place.source().skills(slice::from_ref(&mode.slug))?,
            commands: place.origin().commands()?,
            language: values.language,
            everywhere: values.instructions,
            experts,
            image_models,
            has_search_engine: engine.is_some(),
            has_browser: browser.is_some(),
        },
    });
    let section = |(name, text): (&'static str, String)| PromptSection {
        name,
        bytes: text.len(),
        estimated_tokens: tokenizer.tokens(&text),
        text,
    };
    let tools_bytes: usize = inputs
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len())
        .sum();
    let tools_estimated_tokens = estimate_tools(tokenizer, &inputs.tools);
    let sections: Vec<PromptSection> = inputs.sections.into_iter().map(section).collect();
    let prompt = PromptReport {
        mode: &mode.slug,
        estimated_tokens: sections.iter().map(|section| section.estimated_tokens).sum::<u64>()
            + tools_estimated_tokens,
        sections,
        tools: inputs.tools.into_iter().map(|tool| tool.name).collect(),
        tools_bytes,
        tools_estimated_tokens,
        tokenizer,
    };
    if args.json {
        output.json(&prompt);
        return Ok(ExitStatus::Done);
    }
    for section in &prompt.sections {
        output.line(format!("=== {} (about {} tokens)\n", section.name, section.estimated_tokens));
        output.line(format!("{}\n", visible(&section.text)));
    }
    let tools = if prompt.tools.is_empty() { "none".to_owned() } else { prompt.tools.join(", ") };
    output.line(format!(
        "=== tools sent with the prompt (about {} tokens): {tools}",
        prompt.tools_estimated_tokens
    ));
    let how = match prompt.tokenizer {
        Tokenizer::Bytes => "as a quarter of the bytes",
        Tokenizer::O200k => "with the vocabulary o200k",
    };
    output.line(format!("=== total about {} tokens, estimated {how}", prompt.estimated_tokens));
    Ok(ExitStatus::Done)
}

/// Returns the model that a run in this mode would have; `None` where none is configured.
fn model_of(mode: &Mode, settings: &Settings, context: &CommandContext) -> Option<ChosenModel> {
    let asked = settings.values.model.as_deref();
    let from_repository = settings.models_from_repository();
    let facts = ModelFacts {
        env: context.environment.variables(),
        asked,
        from_repository: &from_repository,
    };
    let requested_models = model_requested_by(mode).and_then(|requested| {
        resolve::resolve_requested(&settings.values.models, &facts, requested).ok().flatten()
    });
    requested_models.or_else(|| {
        resolve::resolve(&settings.values.models, &facts).ok().map(|resolved| resolved.main)
    })
}
