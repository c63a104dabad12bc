//! `locum modes show --prompt`: what a model is told in a mode, as a run on the command line would tell it, and about how long that is.

use std::slice;

use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::inspect_args::InspectArgs;
use crate::cli::output::Output;
use crate::cli::place::Place;
use crate::cli::policy;
use crate::cli::{Context, ExitStatus};
use crate::models::accounting::estimate_tokens;
use crate::modes::access::Purpose;
use crate::modes::{Mode, ModeSet};
use crate::policy::intent::Facts;
use crate::prompts::Standing;
use crate::report::markdown::visible;
use crate::session::brief::{Telling, Told};

/// One section of the prompt.
#[derive(Serialize)]
struct Section {
    name: &'static str,
    bytes: usize,
    /// A quarter of the bytes: an estimate, no count.
    estimated_tokens: u64,
    text: String,
}

/// The whole prompt.
#[derive(Serialize)]
struct Prompt<'a> {
    mode: &'a str,
    sections: Vec<Section>,
    /// The tools shown to the model.
    tools: Vec<String>,
    /// Bytes of the tools' descriptions and schemas.
    tools_bytes: usize,
    /// A quarter of the bytes of sections and tools: an estimate, no count.
    estimated_tokens: u64,
}

/// Shows the prompt of a mode.
///
/// # Errors
/// When a file it is made of cannot be read, or the policy has mistakes.
pub fn show(mode: &Mode, modes: &ModeSet, args: &InspectArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let place = Place::open(context, args.at.as_deref())?;
    let file = policy::repository_file(context, args.at.as_deref())?;
    let policy = policy::parse(file.as_ref())?.with_ignored(place.ignored()?);
    let values = place.settings(&context.environment, &[])?.values;
    let painters = values.models.pointers.image.0.clone();
    let experts = values.models.profiles.into_keys().collect();
    let told = Told::of(&Telling {
        servers: &[],
        mode,
        modes,
        policy: &policy,
        facts: &Facts { mode: mode.slug.clone(), sandboxed: true, ..Facts::default() },
        purpose: Purpose::Work,
        may_delegate: policy.settings().modes.delegation.from.contains(&mode.slug),
        included: &[],
        standing: &Standing {
            rules: place.rules(&mode.slug)?,
            skills: place.skills(slice::from_ref(&mode.slug))?,
            language: values.language,
            experts,
            painters,
        },
    });
    let section =
        |(name, text): (&'static str, String)| Section { name, bytes: text.len(), estimated_tokens: estimate_tokens(text.len()), text };
    let tools_bytes: usize =
        told.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len()).sum();
    let sections: Vec<Section> = told.sections.into_iter().map(section).collect();
    let prompt = Prompt {
        mode: &mode.slug,
        estimated_tokens: sections.iter().map(|section| section.estimated_tokens).sum::<u64>() + estimate_tokens(tools_bytes),
        sections,
        tools: told.tools.into_iter().map(|tool| tool.name).collect(),
        tools_bytes,
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
    output.line(format!("=== tools beside the prompt (about {} tokens): {tools}", estimate_tokens(prompt.tools_bytes)));
    output.line(format!("=== together about {} tokens; an estimate: a quarter of the bytes", prompt.estimated_tokens));
    Ok(ExitStatus::Done)
}
