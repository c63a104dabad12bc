//! Recent events of a repository, examined as if the policy had been there.
//!
//! In: events as GitHub lists them. Out: what each would have started, and what each person could
//! have. Nothing starts.

use std::collections::BTreeMap;

use locum_forge::event::{self, Trigger};
use locum_forge::github::GitHub;
use locum_forge::github::onboarding::RecentEvent;
use locum_forge::{Forge as _, ForgePermission, is_app};

use crate::cli::trigger::{AssumedFacts, NOTHING_ASKED, TriggerFacts, examined};

/// People whose permission is asked for.
const PEOPLE_LIMIT: usize = 30;

/// What came of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplayedEnd {
    /// It is no event of the workflow, or asks nothing of Locum.
    Nothing,
    /// It would have started this.
    Starts(String),
    /// It asked, and the policy refuses; why.
    Refused(String),
}

/// One event and what came of it.
#[derive(Clone, Debug)]
pub(super) struct ReplayedEvent {
    /// The workflow event with its action, such as `issues: opened`.
    pub(super) name: String,
    /// Who caused it.
    pub(super) actor: String,
    /// Number of the issue or pull request.
    pub(super) number: Option<u64>,
    /// What came of it.
    pub(super) end: ReplayedEnd,
}

/// One person of the events.
#[derive(Clone, Debug)]
pub(super) struct ReplayedPerson {
    /// What they may do at GitHub; `None` where GitHub did not say.
    pub(super) permission: Option<ForgePermission>,
    /// How many of the events are theirs.
    pub(super) events: usize,
    /// Whether a command of theirs in a comment would start a run, and why not otherwise.
    pub(super) command: Result<(), String>,
}

/// The events of a repository, replayed.
#[derive(Clone, Debug, Default)]
pub(super) struct Replay {
    /// Latest first.
    pub(super) events: Vec<ReplayedEvent>,
    /// By login.
    pub(super) people: BTreeMap<String, ReplayedPerson>,
}

impl Replay {
    /// Examines the events. Asks GitHub what their people may do.
    pub(super) async fn of(forge: &GitHub, events: Vec<RecentEvent>, facts: &TriggerFacts) -> Self {
        let mut replay = Self::default();
        for RecentEvent { name, actor, payload } in events {
            if !replay.people.contains_key(&actor) && replay.people.len() < PEOPLE_LIMIT {
                let permission = forge.permission(&actor).await.ok();
                let command = could_ask(&actor, permission, facts);
                let person = ReplayedPerson { permission, events: 0, command };
                replay.people.insert(actor.clone(), person);
            }
            let permission = replay.people.get_mut(&actor).and_then(|person| {
                person.events += 1;
                person.permission
            });
            let action = payload.get("action").and_then(|action| action.as_str());
            // It is examined as it was then: an old event starts nothing today.
            let parsed = event::parse(name, &payload.to_string())
                .ok()
                .map(|trigger| Trigger { happened_at: None, ..trigger });
            replay.events.push(ReplayedEvent {
                name: action.map_or_else(|| name.to_owned(), |action| format!("{name}: {action}")),
                number: parsed.as_ref().and_then(|trigger| Some(trigger.subject.as_ref()?.number)),
                end: parsed
                    .map_or(ReplayedEnd::Nothing, |trigger| end(&trigger, permission, facts)),
                actor,
            });
        }
        replay
    }
}

fn end(
    trigger: &Trigger,
    permission: Option<ForgePermission>,
    facts: &TriggerFacts,
) -> ReplayedEnd {
    let standing = standing(&trigger.actor.login, permission);
    match examined(trigger, facts, standing, &AssumedFacts::default()).request {
        Ok(request) => {
            let mode = request.mode.or_else(|| {
                facts.policy.as_ref().map(|policy| policy.settings().modes.default.clone())
            });
            let what = request.job.map(|job| format!("job `{job}`"));
            ReplayedEnd::Starts(
                what.or(mode.map(|mode| format!("mode `{mode}`"))).unwrap_or_default(),
            )
        }
        Err(refused) if NOTHING_ASKED.contains(&refused.rule) => ReplayedEnd::Nothing,
        Err(refused) => ReplayedEnd::Refused(refused.to_string()),
    }
}

/// Returns how somebody stands of whom GitHub says this. Of an app it says nothing, so that its
/// name in the policy decides.
fn standing(login: &str, permission: Option<ForgePermission>) -> (ForgePermission, bool) {
    let unsaid = if is_app(login) { ForgePermission::Write } else { ForgePermission::None };
    (permission.unwrap_or(unsaid), false)
}

/// Whether a command in a comment on an issue would start a run for this person.
fn could_ask(
    actor: &str,
    permission: Option<ForgePermission>,
    facts: &TriggerFacts,
) -> Result<(), String> {
    let prefix = facts
        .policy
        .as_ref()
        .and_then(|policy| Some(policy.settings().triggers.comment.as_ref()?.prefix.clone()))
        .ok_or("comments start nothing")?;
    let kind = if is_app(actor) { "Bot" } else { "User" };
    let user = serde_json::json!({ "login": actor, "type": kind });
    let payload = serde_json::json!({
        "action": "created",
        "repository": { "full_name": "o/r", "default_branch": "main" },
        "issue": { "number": 1, "title": "", "state": "open", "user": user },
        "comment": { "id": 1, "body": format!("{prefix} do it"), "user": user },
        "sender": user,
    });
    let trigger =
        event::parse("issue_comment", &payload.to_string()).map_err(|error| error.to_string())?;
    let standing = standing(actor, permission);
    let examined = examined(&trigger, facts, standing, &AssumedFacts::default());
    examined.request.map(drop).map_err(|refused| refused.to_string())
}
