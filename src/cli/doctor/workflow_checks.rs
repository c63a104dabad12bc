//! What keeps workflows that use Locum's Action from starting a run that the policy lets start.
//!
//! In: the workflows, and what the policy and the repository have. Out: problems, each with its
//! file and line. What an expression gives is not known, and is no problem.

use std::collections::BTreeMap;

use crate::cli::action_workflow::{ActionStep, StepInput, TokenRight, Workflow};
use crate::cli::doctor::step_settings::{settings_problems, wrong_values};
use crate::run::job::{Job, JobWork};
use crate::run::spending::two_jobs::some_thread;
use locum_files::fields::nearest;
use locum_files::yaml::{YamlDocument, YamlNode};
use locum_forge::alerts::AlertSource;
use locum_models::profile::Provider;
use locum_policy::intent::{PublicationKind, TriggerKind};
use locum_policy::schema::PolicySpec;

/// The Action's own description.
const ACTION: &str = include_str!("../../../action.yml");

/// What workflows are judged by. What could not be read is `None`, which is a problem of its own.
pub(super) struct ActionFacts<'a> {
    /// The policy.
    pub(super) policy: Option<&'a PolicySpec>,
    /// The jobs of the repository.
    pub(super) jobs: Option<&'a [Job]>,
    /// Slugs of every mode.
    pub(super) modes: Option<&'a [&'a str]>,
    /// Names of the profiles of the settings.
    pub(super) profiles: &'a [&'a str],
}

/// Returns what keeps the workflows from starting runs.
pub(super) fn workflow_problems(workflows: &[Workflow], facts: &ActionFacts<'_>) -> Vec<String> {
    let steps = || workflows.iter().flat_map(|workflow| &workflow.steps);
    let mut problems: Vec<String> = steps().flat_map(|step| step_problems(step, facts)).collect();
    let Some(policy) = facts.policy else { return problems };
    let triggers = &policy.triggers;
    if let Some(comment) = &triggers.comment {
        let asks = |text: &str, word: &str| word.contains(text) || text.starts_with(word);
        problems.extend(IN_COMMENTS.problem(workflows, ("prefix", &comment.prefix), asks));
    }
    if let Some(label) = &triggers.label {
        let is_it = |text: &str, word: &str| text == word;
        problems.extend(AS_LABEL.problem(workflows, ("label", &label.name), is_it));
    }
    for (index, one) in workflows.iter().enumerate() {
        let others = workflows.iter().skip(index + 1);
        problems.extend(others.filter_map(|other| started_twice(one, other, policy)));
    }
    problems
}

/// Says that two workflows start on the same, so that each event starts two runs.
fn started_twice(one: &Workflow, other: &Workflow, policy: &PolicySpec) -> Option<String> {
    let triggers = &policy.triggers;
    let is_shared = |event: &str| {
        [one, other].iter().all(|workflow| workflow.events.iter().any(|own| own == event))
    };
    let mut shared: Vec<&str> = Vec::new();
    for asked in [IN_COMMENTS, IN_REVIEWS, AS_LABEL] {
        let is_used =
            if asked.is_label { triggers.label.is_some() } else { triggers.comment.is_some() };
        let is_alike =
            || steps_of(one).any(|step| steps_of(other).any(|twin| asked.is_alike(step, twin)));
        let events = asked.events.iter().copied().filter(|event| is_used && is_shared(event));
        shared.extend(events.filter(|_| is_alike()));
    }
    let is_due = |workflow| steps_of(workflow).any(starts_on_schedule);
    if !triggers.schedule_jobs.is_empty() && [one, other].into_iter().all(is_due) {
        shared.extend(Some("schedule").filter(|event| is_shared(event)));
    }
    let listed: Vec<String> = shared.iter().map(|event| format!("`{event}`")).collect();
    (!listed.is_empty()).then(|| {
        format!(
            "`{}` and `{}` both start a run on {}: delete one, or let their `if:` ask for \
             different words",
            one.path,
            other.path,
            listed.join(", ")
        )
    })
}

/// Returns the steps that do what an event asks for, and nothing of their own.
fn steps_of(workflow: &Workflow) -> impl Iterator<Item = &ActionStep> {
    let own = ["job", "prompt", "prompt-file", "allow-users"];
    let is_asked = move |step: &&ActionStep| own.iter().all(|name| step.input(name).is_none());
    workflow.steps.iter().filter(|step| !step.only_publishes()).filter(is_asked)
}

/// Whether a step starts on every schedule of its workflow, as far as the file shows it.
fn starts_on_schedule(step: &ActionStep) -> bool {
    let mut conditions = step.conditions.iter();
    conditions.all(|text| text.contains("schedule") && !text.contains("event.schedule"))
}

/// Which part of an event a job's `if:` may ask for.
struct AskedFor {
    /// The events that start what a word asks for.
    events: &'static [&'static str],
    /// Where they hold it.
    field: &'static str,
    /// The input that stands in for the policy's word.
    input: &'static str,
    /// Whether it is the whole name of a label, and not a word in a text.
    is_label: bool,
}

/// The word that starts runs, in a comment.
const IN_COMMENTS: AskedFor = AskedFor {
    events: &["issue_comment", "pull_request_review_comment"],
    field: "comment.body",
    input: "trigger-phrase",
    is_label: false,
};
/// The same in the text of a review.
const IN_REVIEWS: AskedFor = AskedFor {
    events: &["pull_request_review"],
    field: "review.body",
    input: "trigger-phrase",
    is_label: false,
};
/// The label that starts runs.
const AS_LABEL: AskedFor = AskedFor {
    events: &["issues", "pull_request"],
    field: "event.label.name",
    input: "label-trigger",
    is_label: true,
};

impl AskedFor {
    /// Whether the conditions of two steps let one event start both, as far as the files show it.
    fn is_alike(&self, one: &ActionStep, other: &ActionStep) -> bool {
        // What else separates two of one kind.
        let apart = ["issue.pull_request", "author_association", "github.actor", "sender", "vars."];
        let texts = || one.conditions.iter().chain(&other.conditions);
        if texts().any(|text| apart.iter().any(|word| text.contains(word))) {
            return false;
        }
        let word = |step: &ActionStep| step.input(self.input).map(|own| own.value.to_lowercase());
        let asked = |step: &ActionStep| -> Vec<String> {
            let texts = step.conditions.iter();
            texts.flat_map(|text| literals_behind(&text.to_lowercase(), self.field)).collect()
        };
        let fits = |text: &String, twin: &String| {
            let is_within = || text.contains(twin.as_str()) || twin.contains(text.as_str());
            text == twin || !self.is_label && is_within()
        };
        let (mine, theirs) = (asked(one), asked(other));
        // A condition that does not say it may be about other events.
        let is_said =
            |step: &ActionStep, asked: &[String]| step.conditions.is_empty() || !asked.is_empty();
        let meets = mine.is_empty()
            || theirs.is_empty()
            || mine.iter().any(|text| theirs.iter().any(|twin| fits(text, twin)));
        is_said(one, &mine) && is_said(other, &theirs) && word(one) == word(other) && meets
    }

    /// Says that no job that one of the events starts asks for the policy's word. A job whose `if:`
    /// says nothing of it may.
    fn problem(
        &self,
        workflows: &[Workflow],
        asked: (&str, &str),
        fits: impl Fn(&str, &str) -> bool,
    ) -> Option<String> {
        let problems = self.events.iter().map(|event| {
            let is_heard = |workflow: &&Workflow| workflow.events.iter().any(|one| one == event);
            self.problem_among(workflows.iter().filter(is_heard), asked, &fits)
        });
        problems.flatten().next()
    }

    /// The same for the workflows that listen to one event.
    fn problem_among<'w>(
        &self,
        listening: impl Iterator<Item = &'w Workflow>,
        (what, word): (&str, &str),
        fits: impl Fn(&str, &str) -> bool,
    ) -> Option<String> {
        let mut missed = None;
        for step in
            listening.flat_map(|workflow| &workflow.steps).filter(|step| !step.only_publishes())
        {
            let own = step.input(self.input);
            if own.is_some_and(|input| input.value.contains("${{")) {
                return None;
            }
            let word = own.map_or(word, |input| &input.value).to_lowercase();
            let asked: Vec<String> =
                step.conditions.iter().flat_map(|text| literals_behind(text, self.field)).collect();
            if asked.is_empty() || asked.iter().any(|text| fits(&text.to_lowercase(), &word)) {
                return None;
            }
            let found = asked.join("` or `");
            missed.get_or_insert(format!(
                "{}: `if:` of job `{}` asks for the {what} `{found}`, and the policy's is \
                 `{word}`: write the same in both",
                step.place, step.job
            ));
        }
        missed
    }
}

/// Returns the texts that an expression compares a field with: `contains(FIELD, 'text')` and
/// `FIELD == 'text'`.
fn literals_behind(expression: &str, field: &str) -> Vec<String> {
    let literal = |rest: &str| {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix(',').or_else(|| rest.strip_prefix("=="))?.trim_start();
        // Two quotes stand for one.
        let text = rest.strip_prefix('\'')?.replace("''", "\0");
        text.split_once('\'').map(|(text, _)| text.replace('\0', "'"))
    };
    expression.split(field).skip(1).filter_map(literal).collect()
}

fn step_problems(step: &ActionStep, facts: &ActionFacts<'_>) -> Vec<String> {
    let ActionStep { place, job, .. } = step;
    let mut problems = Vec::new();
    if !step.has_checkout {
        problems.push(format!(
            "{place}: no step before it checks the repository out: add `actions/checkout` to job \
             `{job}`"
        ));
    }
    let other = step.runners.iter().find(|label| {
        let label = label.to_lowercase();
        label.starts_with("windows") || label.starts_with("macos")
    });
    if let Some(runner) = other {
        problems.push(format!(
            "{place}: job `{job}` runs on `{runner}`, and the Action runs on Linux: \
             `runs-on: ubuntu-24.04`"
        ));
    }
    problems.extend(unknown_inputs(step));
    problems.extend(unknown_names(step, facts));
    problems.extend(wrong_values(step));
    problems.extend(facts.policy.into_iter().flat_map(|policy| settings_problems(step, policy)));
    problems.extend(
        facts.policy.into_iter().flat_map(|policy| missing_rights(step, policy, facts.jobs)),
    );
    problems.extend(key_problem(step, facts));
    problems
}

/// Names inputs that the Action does not have.
fn unknown_inputs(step: &ActionStep) -> Vec<String> {
    let described = YamlDocument::parse(ACTION).root;
    let known = described.as_ref().and_then(|root| root.get("inputs")).and_then(YamlNode::entries);
    let known: Vec<&str> =
        known.unwrap_or_default().iter().map(|entry| entry.key.as_str()).collect();
    let is_known = |name: &str| known.iter().any(|one| one.eq_ignore_ascii_case(name));
    let unknown = step.inputs.iter().filter(|input| !is_known(&input.name));
    let said = |input: &StepInput| {
        let near = did_you_mean(&input.name, &known);
        format!("{}: `{}` is no input of the Action{near}", input.place, input.name)
    };
    unknown.map(said).collect()
}

/// Names modes and jobs that do not exist.
fn unknown_names(step: &ActionStep, facts: &ActionFacts<'_>) -> Vec<String> {
    let jobs: Option<Vec<&str>> =
        facts.jobs.map(|jobs| jobs.iter().map(|job| job.name.as_str()).collect());
    let unknown = |name: &str, known: Option<&[&str]>| {
        let (input, known) = (step.fixed(name)?, known?);
        let value = input.value.trim();
        let near = did_you_mean(value, known);
        (!known.contains(&value))
            .then(|| format!("{}: there is no {name} `{value}`{near}", input.place))
    };
    [unknown("mode", facts.modes), unknown("job", jobs.as_deref())].into_iter().flatten().collect()
}

fn did_you_mean(word: &str, known: &[&str]) -> String {
    nearest(word, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Names what the token of the job may not do, although the policy needs it.
fn missing_rights(step: &ActionStep, policy: &PolicySpec, jobs: Option<&[Job]>) -> Vec<String> {
    let own_token = step.input("github-token").is_none_or(|input| {
        input.value.contains("github.token") || input.value.contains("secrets.GITHUB_TOKEN")
    });
    let Some(rights) = step.rights.as_ref().filter(|_| own_token) else { return Vec::new() };
    let publishes = |kinds: &[PublicationKind]| {
        !step.only_works() && policy.publish.allow.iter().any(|kind| kinds.contains(kind))
    };
    let repairs = policy.triggers.rules_for(TriggerKind::CiFailure).next().is_some();
    let reads_alerts = || {
        let started = |job: &&Job| policy.triggers.started_jobs().any(|name| *name == job.name);
        let mut jobs = jobs.unwrap_or_default().iter().filter(started);
        !step.only_publishes() && jobs.any(|job| job.alerts.contains(&AlertSource::CodeScanning))
    };
    let (read, write) = (TokenRight::Read, TokenRight::Write);
    let publication = "`publish.allow` of the policy";
    let mut needed = vec![("contents", read, "the checkout")];
    if publishes(&[PublicationKind::Commit, PublicationKind::PullRequest]) {
        needed.push(("contents", write, publication));
    }
    if publishes(&[PublicationKind::PullRequest, PublicationKind::Review]) {
        needed.push(("pull-requests", write, publication));
    }
    let answers = publishes(&[PublicationKind::Comment, PublicationKind::Label]);
    // What is about pull requests may be written with their right, too.
    let on_issues = policy.triggers.comment.is_some() || rights.of("pull-requests") < write;
    if publishes(&[PublicationKind::Issue]) || (answers && on_issues) {
        needed.push(("issues", write, publication));
    }
    if publishes(&[PublicationKind::Check]) {
        needed.push(("checks", write, publication));
    }
    let counts = !step.only_works() && !step.only_publishes();
    if counts && !policy.spending_limits.is_none(some_thread(policy)) {
        let limits = "`budget.daily` or `budget.per_thread` of the policy";
        needed.push(("contents", write, limits));
    }
    if repairs && !step.only_publishes() {
        needed.push(("actions", read, "`triggers.ci_failure` of the policy"));
        needed.push(("checks", read, "`triggers.ci_failure` of the policy"));
    }
    if reads_alerts() {
        needed.push(("security-events", read, "a job of the policy that reads alerts"));
    }
    let mut most: BTreeMap<&str, (TokenRight, &str)> = BTreeMap::new();
    for (area, right, why) in needed.into_iter().filter(|(area, right, _)| rights.of(area) < *right)
    {
        let kept = most.entry(area).or_insert((right, why));
        *kept = (*kept).max((right, why));
    }
    let said = |(area, (right, why)): (&str, (TokenRight, &str))| {
        let word = if right == TokenRight::Write { "write" } else { "read" };
        format!(
            "{}: `permissions` of job `{}` lack `{area}: {word}`, which {why} needs",
            step.place, step.job
        )
    };
    most.into_iter().map(said).collect()
}

/// Says what is wrong with the key of the model, as far as the file shows it.
fn key_problem(step: &ActionStep, facts: &ActionFacts<'_>) -> Option<String> {
    let place = &step.place;
    let model = step.input("model").and_then(|input| written_model(&input.value));
    let is_profile = model.as_ref().is_some_and(|model| facts.profiles.contains(&model.as_str()));
    let provider =
        model.as_ref().filter(|_| !is_profile).and_then(|model| Provider::of_name(model));
    let Some(key) = step.input("api-key") else {
        let by_variable = step.variables.iter().any(|(name, value)| {
            value.contains("secrets.") || homes().any(|(_, variable)| variable == name)
        });
        let by_identity =
            step.rights.as_ref().is_none_or(|rights| rights.of("id-token") == TokenRight::Write);
        let elsewhere = step.input("base-url").is_some() || !facts.profiles.is_empty();
        let needs_none = by_variable || (by_identity && step.rights.is_some()) || elsewhere;
        if needs_none || !asks_a_model(step, facts) || is_cloud(provider) {
            return None;
        }
        let secret =
            provider.and_then(Provider::home).map_or("OPENAI_API_KEY", |home| home.key_variable);
        return Some(format!(
            "{place}: no key for the model: add the input `api-key: ${{{{ secrets.{secret} }}}}`"
        ));
    };
    if !key.value.contains("${{") {
        return Some(format!(
            "{}: the key stands in the file, for all who can read it: revoke it, keep a new one \
             as a secret, and write `${{{{ secrets.NAME }}}}`",
            key.place
        ));
    }
    let own = provider.and_then(Provider::home)?.key_variable;
    let (_, behind) = key.value.split_once("secrets.")?;
    let secret = behind.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    let (other, _) = homes().find(|(_, variable)| *variable == secret)?;
    let fits = own == secret || step.input("base-url").is_some();
    (!fits).then(|| {
        format!(
            "{}: `secrets.{secret}` is a key of {other}, and the model `{}` takes `secrets.{own}`",
            key.place,
            model.unwrap_or_default()
        )
    })
}

/// Every provider's name, with the variable that holds its key.
fn homes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let home = |provider: Provider| Some((provider.as_str(), provider.home()?.key_variable));
    Provider::ALL.into_iter().filter_map(home)
}

/// Whether a step before it may log in at the provider, in place of a key.
fn is_cloud(provider: Option<Provider>) -> bool {
    matches!(
        provider,
        Some(Provider::Bedrock | Provider::Vertex | Provider::Azure | Provider::Scripted)
    )
}

/// Returns the model that an input names: the one behind `||` where a variable may name another.
fn written_model(value: &str) -> Option<String> {
    if !value.contains("${{") {
        return Some(value.trim().to_owned());
    }
    let (_, otherwise) = value.rsplit_once("||")?;
    let text = otherwise.trim_start().strip_prefix('\'')?;
    text.split_once('\'').map(|(model, _)| model.to_owned())
}

/// Whether what the step starts may ask a model: all but jobs of fixed steps alone.
fn asks_a_model(step: &ActionStep, facts: &ActionFacts<'_>) -> bool {
    if step.only_publishes() {
        return false;
    }
    let is_fixed = |name: &str| {
        let mut jobs = facts.jobs.unwrap_or_default().iter();
        jobs.any(|job| job.name == name && matches!(job.work, JobWork::Steps(_)))
    };
    if let Some(job) = step.fixed("job") {
        return !is_fixed(job.value.trim());
    }
    let Some(policy) = facts.policy else { return true };
    let triggers = &policy.triggers;
    let by_people = triggers.comment.is_some()
        || triggers.label.is_some()
        || triggers.assign.is_some()
        || !triggers.dispatch_tiers.is_empty()
        || step.input("prompt").is_some()
        || step.input("prompt-file").is_some();
    let mut jobs = triggers.started_jobs().peekable();
    by_people
        || jobs.peek().is_none()
        || triggers.events.iter().any(|rule| rule.job.is_none())
        || !jobs.all(|job| is_fixed(job))
}
