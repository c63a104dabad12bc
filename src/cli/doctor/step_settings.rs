//! Inputs and limits of a step with which no run of it would end well, whatever the event.
//!
//! In: a step that uses the Action, and the policy. Out: problems, each with its file and line. The
//! values are read as the Action reads them; those of expressions are not known.

use crate::cli::action_workflow::{ActionStep, StepInput};
use crate::cli::doctor::laptop::said;
use crate::config::action_inputs::ActionInputs;
use crate::config::environment::Environment;
use crate::config::load::{Layers, load};
use crate::run::error::RunError;
use crate::run::spending::two_jobs::uncounted;
use locum_policy::schema::PolicySpec;
use locum_policy::starter::workflow::timeout_minutes;

/// Inputs that stand in for variables, and are checked where those are.
const ADDRESSES: [&str; 3] = ["API_KEY", "BASE_URL", "GITHUB_TOKEN"];

/// Names the inputs whose value the Action cannot take.
pub(super) fn wrong_values(step: &ActionStep) -> Vec<String> {
    let fixed: Vec<(String, &StepInput)> = step
        .inputs
        .iter()
        .filter_map(|input| Some((normalised(&input.name), step.fixed(&input.name)?)))
        .filter(|(name, _)| !ADDRESSES.contains(&name.as_str()))
        .collect();
    let pairs = fixed.iter().map(|(name, input)| (format!("INPUT_{name}"), input.value.clone()));
    let environment = Environment::from_pairs(pairs);
    let (_, of_event) = ActionInputs::read_with_mistakes(&environment);
    let layers = Layers { user: None, repository: None, environment: &environment, flags: &[] };
    let of_settings = load(&layers).err().map(|errors| errors.0).unwrap_or_default();
    let mistakes = of_event.into_iter().chain(of_settings);
    let problems = mistakes.filter_map(|mistake| {
        let named = mistake.origin.strip_prefix("INPUT_")?;
        let (_, input) = fixed.iter().find(|(name, _)| name == named)?;
        let hint = mistake.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
        Some(format!("{}: input `{}`: {}{hint}", input.place, input.name, mistake.what()))
    });
    problems.collect()
}

/// Returns the name of an input as its variable has it.
fn normalised(name: &str) -> String {
    name.to_ascii_uppercase().replace(['-', ' '], "_")
}

/// Says what of the policy the step cannot keep.
pub(super) fn settings_problems(step: &ActionStep, policy: &PolicySpec) -> Vec<String> {
    if step.only_publishes() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if let Some(bundle) = step.input("bundle").filter(|_| step.only_works()) {
        let problem = uncounted(&bundle.place, policy).map(RunError::from);
        problems.extend(problem.iter().flat_map(said));
    }
    problems.extend(too_short(step, policy));
    problems
}

/// Says that GitHub cancels the job before the budget ends a run.
fn too_short(step: &ActionStep, policy: &PolicySpec) -> Option<String> {
    let limit = step.timeout_minutes?;
    let asked = step.fixed("timeout-minutes").and_then(|input| input.value.trim().parse().ok());
    let mut budget = policy.budget;
    budget.minutes = budget.minutes.min(asked.unwrap_or(u32::MAX));
    (limit <= budget.minutes).then(|| {
        format!(
            "{}: `timeout-minutes` of job `{}` is {limit}, and a run may take {} minutes \
             (`budget.minutes` of the policy): GitHub would cancel it, and nothing of it would be \
             published; write {}",
            step.place,
            step.job,
            budget.minutes,
            timeout_minutes(&budget)
        )
    })
}
