//! Answers that need no run: what can be asked, what ran here, and why something was refused.

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::{ActionEnd, ActionEnv, ForgeEvent, reaction_target, reply_to, status};
use crate::run::error::RunError;
use crate::run::plan::RunPlan;
use crate::run::request::{RefusalNotice, RequestRefusal};
use locum_agent::report::markdown::{code, fenced, inline, marker};
use locum_agent::session::word::OutcomeReaction;
use locum_base::secret::Redactor;
use locum_forge::command::flag::Flag;
use locum_forge::command::verb::Verb;
use locum_forge::event::{EventKind, Trigger};
use locum_forge::posts::Posting;
use locum_forge::sanitise::{self, TextRules};
use locum_policy::Policy;
use locum_policy::intent::Facts;

/// Answers a question about locum itself.
///
/// # Errors
/// When the forge cannot be asked, or configuration has mistakes.
pub(super) async fn question(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    question: Question<'_>,
) -> Result<ActionEnd, RunError> {
    let prefix = admitted.config.policy.settings().triggers.prefix();
    let body = match question {
        Question::Help => help(admitted)?,
        Question::Status => status::of_thread(env, admitted, prefix).await?,
        Question::Stop => status::stopping(env, admitted, prefix).await?,
        Question::Explain(plan) => explained(admitted, plan),
    };
    let AdmittedEvent { event, request, config, .. } = admitted;
    let place = (&*config.policy, &request.facts);
    answer(env, event, place, (&body, OutcomeReaction::Rocket)).await;
    Ok(ActionEnd::Answered { what: question.name().to_owned(), refused: false })
}

/// What is asked about locum itself.
#[derive(Clone, Copy)]
pub(super) enum Question<'a> {
    /// What commands there are.
    Help,
    /// What ran here.
    Status,
    /// What stops now.
    Stop,
    /// What a run may do, by its plan.
    Explain(&'a RunPlan),
}

impl Question<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Status => "status",
            Self::Stop => "stop",
            Self::Explain(_) => "explain",
        }
    }
}

/// Answers a dry run that a comment asks for, with its plan.
pub(super) async fn plan(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>, plan: &RunPlan) {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let body = format!(
        "**locum: dry run**\n\nThis is what would run. No model was asked, and nothing was \
         changed. Write the command without `--dry-run` to start it.\n\n{}",
        fenced(&plan.for_thread(), "text")
    );
    let place = (&*config.policy, &request.facts);
    answer(env, event, place, (&body, OutcomeReaction::Rocket)).await;
}

/// Returns a line on what was done where it was asked.
pub(super) async fn done(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    what: String,
) -> ActionEnd {
    let AdmittedEvent { event, request, config, .. } = admitted;
    let place = (&*config.policy, &request.facts);
    answer(env, event, place, (&what, OutcomeReaction::Rocket)).await;
    ActionEnd::Answered { what, refused: false }
}

/// Posts why something was refused, naming the rule; reports it as an answer.
///
/// # Errors
/// When someone asked where nothing can be posted, with the button of a workflow: the step is all
/// that they look at.
pub(super) async fn refusal_or_failure(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    policy: &Policy,
    refused: &RequestRefusal,
) -> Result<ActionEnd, RunError> {
    let ForgeEvent { trigger, .. } = event;
    let by_hand = matches!(trigger.kind, EventKind::Dispatch | EventKind::Other);
    if by_hand && trigger.subject.is_none() {
        return Err(RunError::usage(refused.rule, &refused.why));
    }
    Ok(refusal(env, event, policy, refused).await)
}

/// Posts why something was refused, naming the rule; reports it as an answer.
pub(super) async fn refusal(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    policy: &Policy,
    refused: &RequestRefusal,
) -> ActionEnd {
    let body = format!("Not started: {} (rule {}).", inline(&refused.why), code(refused.rule));
    let place = (policy, &Facts::default());
    answer(env, event, place, (&body, OutcomeReaction::Confused)).await;
    ActionEnd::Answered { what: refused.to_string(), refused: true }
}

/// Posts why a command was not carried out.
pub(super) async fn refuse(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    why: &str,
) -> ActionEnd {
    let (rule, notice) = ("command", RefusalNotice::Posted);
    let refused = RequestRefusal { why: why.to_owned(), rule, notice };
    refusal(env, &admitted.event, &admitted.config.policy, &refused).await
}

fn help(admitted: &AdmittedEvent<'_>) -> Result<String, RunError> {
    let prefix = admitted.config.policy.settings().triggers.prefix();
    let allowed = &admitted.config.policy.settings().modes.allow;
    let modes: Vec<String> = admitted
        .config
        .modes()?
        .iter()
        .filter(|mode| allowed.contains(&mode.slug))
        .map(|mode| {
            format!(
                "- {} — {}",
                code(&mode.slug),
                inline(mode.description.as_deref().unwrap_or(&mode.name))
            )
        })
        .collect();
    let verb = |verb: &Verb| format!("- {} — {}", code(verb.as_str()), verb.help());
    let verbs: Vec<String> = Verb::ALL.iter().map(verb).collect();
    let (valued, plain): (Vec<&Flag>, Vec<&Flag>) =
        Flag::ALL.iter().partition(|flag| flag.takes_value());
    let flags = valued.into_iter().chain(plain).map(|flag| format!("`--{}`", flag.as_str()));
    Ok(format!(
        "Write {} at the start of a line.\n\n**Modes**\n\n{}\n\n**Verbs**\n\n{}\n\n**Flags**: \
         {}. They can only tighten the policy.\n\nAn edited comment starts nothing: write a new \
         one.",
        code(&format!("{prefix} [mode or verb] [--flag=value] what to do")),
        modes.join("\n"),
        verbs.join("\n"),
        flags.collect::<Vec<_>>().join(", ")
    ))
}

/// Says what a run here may do, and which rules say so.
fn explained(admitted: &AdmittedEvent<'_>, plan: &RunPlan) -> String {
    let AdmittedEvent { event, request, .. } = admitted;
    let only = match (request.read_only, request.contained) {
        (false, _) => "",
        (true, false) => " It may only read, because the pull request comes from a fork.",
        (true, true) => {
            " It may only read and run contained commands, because the pull request comes from a \
             fork."
        }
    };
    format!(
        "**locum: what a run here may do**\n\nYou are {} with tier {}, and {} lets you start runs \
         by a comment. A run would work in mode {}.{only} Nothing was started.\n\n{}\n\nWhat is \
         not allowed there is denied. `locum policy explain` says it call by call.",
        code(&event.trigger.actor.login),
        code(request.facts.tier.as_str()),
        code(&plan.policy.origin),
        code(&plan.mode),
        fenced(&plan.for_thread(), "text")
    )
}

/// Posts an answer where it was asked, and a reaction on what asked, when the policy lets it.
async fn answer(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    (policy, facts): (&Policy, &Facts),
    (body, reaction): (&str, OutcomeReaction),
) {
    post(env, event, policy, facts, body).await;
    let target = reaction_target(&event.trigger).filter(|_| !env.inputs.writes_bundle());
    if let Some(target) = target {
        env.poster(policy, facts).show(target, reaction.as_str()).await;
    }
}

/// Posts an answer where it was asked, when the policy lets it.
pub(super) async fn post(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    policy: &Policy,
    facts: &Facts,
    body: &str,
) {
    if env.inputs.writes_bundle() {
        // The job that publishes says the same.
        return;
    }
    let trigger = &event.trigger;
    let asked = trigger
        .comment
        .as_ref()
        .map_or_else(|| "label".to_owned(), |comment| comment.id.to_string());
    let marker = marker("answer", &[("comment", &asked), ("run", &env.job.run_id)]);
    if let Some(posting) = posting(env, trigger, policy, (&marker, body))
        && let Err(why) = env.poster(policy, facts).post(posting).await
    {
        tracing::warn!(%why, "the answer was not posted");
    }
}

/// Returns a comment of ours where an event happened, sanitised; `None` where it happened on no
/// thread. The first of its hidden lines names it.
pub(super) fn posting(
    env: &ActionEnv<'_>,
    trigger: &Trigger,
    policy: &Policy,
    (hidden, body): (&str, &str),
) -> Option<Posting> {
    let number = trigger.subject.as_ref()?.number;
    let prefix = policy.settings().triggers.prefix().to_owned();
    let markers: Vec<String> = hidden.lines().map(str::to_owned).collect();
    let marker = markers.first()?.clone();
    let rules = TextRules { markers, prefix, ..TextRules::default() };
    let redactor = Redactor::new(env.environment.secrets());
    let body = sanitise::markdown(&format!("{hidden}\n{body}"), &rules, &redactor);
    Some(match reply_to(trigger) {
        Some(comment) if trigger.kind == EventKind::DiscussionComment => {
            Posting::DiscussionReply { number, comment, marker, body }
        }
        Some(comment) => Posting::Reply { number, comment, marker, body },
        None => Posting::Comment { number, marker, body, replaces: None },
    })
}
