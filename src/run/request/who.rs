//! Who asks, and whether the policy lets them: tiers by the forge's answer, bots and users by name.
//!
//! In: the trigger, the policy's settings and what the forge answered. Out: the tier, or the rule
//! that refuses.

use crate::run::publish::own_branch::is_ours;
use crate::run::request::ask::Ask;
use crate::run::request::permission::PermissionAnswer;
use crate::run::request::{RefusalNotice, RequestFacts, RequestRefusal, silent};
use locum_forge::command::CommentCommand;
use locum_forge::command::verb::Verb;
use locum_forge::event::{Actor, Trigger};
use locum_forge::{ForgePermission, is_app};
use locum_policy::actors::{ActorFacts, Tier};
use locum_policy::intent::TriggerKind;
use locum_policy::schema::{ListedUser, Triggers};

/// Login of comments made with a workflow's own token: possibly ours, so never to be obeyed.
const WORKFLOW_LOGIN: &str = "github-actions[bot]";

/// What a command is for, as far as it matters who may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandPurpose {
    /// Start something, or ask about it.
    Start,
    /// Say yes or no to a held call.
    Approve,
    /// Answer a question.
    Answer,
}

impl CommandPurpose {
    pub(super) fn of(command: Option<&CommentCommand>) -> Self {
        match command.and_then(CommentCommand::known_verb) {
            Some(Verb::Approve | Verb::Deny) => Self::Approve,
            Some(Verb::Answer) => Self::Answer,
            Some(_) | None => Self::Start,
        }
    }
}

pub(super) fn screen_own(trigger: &Trigger, own_login: Option<&str>) -> Result<(), RequestRefusal> {
    if is_own(trigger, own_login) {
        return Err(silent("own-output", "own output never starts a run"));
    }
    Ok(())
}

/// Returns whether we caused an event ourselves: by the workflow's own token, or by ours.
pub(crate) fn is_own(trigger: &Trigger, own_login: Option<&str>) -> bool {
    let login = trigger.actor.login.as_str();
    is(login, WORKFLOW_LOGIN) || own_login.is_some_and(|own| is(login, own))
}

/// Returns true where nobody asks: by a schedule, where checks of our own pull request failed or
/// those of what we pushed, or where checks passed.
pub(super) fn has_no_actor(ask: &Ask<'_>, trigger: &Trigger, known: &RequestFacts<'_>) -> bool {
    match (ask, ask.kind()) {
        (Ask::Passed(_), _) | (_, TriggerKind::Schedule) => true,
        (_, TriggerKind::CiFailure) => {
            known.pull_request.is_some_and(is_ours) || is_own(trigger, known.own_login)
        }
        _ => false,
    }
}

/// Returns the actor's tier by the forge's answer, never by the event's claim.
pub(super) fn tier_of(
    trigger: &Trigger,
    ask: &Ask<'_>,
    triggers: &Triggers,
    known: &RequestFacts<'_>,
) -> Result<Tier, RequestRefusal> {
    if has_no_actor(ask, trigger, known) {
        // Checks of what we made failed: what goes on is a program's work.
        let is_schedule = ask.kind() == TriggerKind::Schedule;
        return Ok(if is_schedule { Tier::Schedule } else { Tier::Bot });
    }
    let login = &trigger.actor.login;
    let permission = known.permission.of(login)?;
    if !trigger.actor.is_user {
        // The listing names one app, which no user can pass for: their logins do not end so. It
        // acts where it is installed, and with what was granted there. What the forge does say
        // counts.
        let may_act = match known.permission {
            PermissionAnswer::App => is_app(login),
            PermissionAnswer::Known(_) | PermissionAnswer::Unknown(_) => {
                permission >= ForgePermission::Write
            }
        };
        let listed = triggers.bots.iter().any(|bot| is(bot, login));
        return if listed && may_act {
            Ok(Tier::Bot)
        } else {
            Err(silent("triggers.bots.allow", &format!("{login} may not write here")))
        };
    }
    Ok(Tier::of(ActorFacts {
        permission: permission.as_str(),
        is_user: trigger.actor.is_user,
        is_private: trigger.is_private,
        has_contributed: trigger.actor.association == "CONTRIBUTOR",
    }))
}

/// Returns true for a user the policy names, whom the forge lets read here. A number has to be
/// theirs as well: logins change hands.
pub(super) fn is_listed(trigger: &Trigger, triggers: &Triggers, known: &RequestFacts<'_>) -> bool {
    let Actor { login, id, is_user, .. } = &trigger.actor;
    let may_read =
        known.permission.of(login).is_ok_and(|permission| permission >= ForgePermission::Read);
    let named = |user: &ListedUser| is(&user.login, login) && (user.id.is_none() || user.id == *id);
    *is_user && may_read && triggers.users.iter().any(named)
}

pub(super) fn admit_tier(
    ask: &Ask<'_>,
    tier: Tier,
    listed: bool,
    triggers: &Triggers,
) -> Result<(), RequestRefusal> {
    let purpose = CommandPurpose::of(ask.command());
    let (rule, tiers) = match ask {
        Ask::Command(_) if purpose == CommandPurpose::Approve => {
            ("triggers.approve.tiers", Some(triggers.approve_tiers.as_slice()))
        }
        Ask::Command(_) => {
            ("triggers.comment.tiers", triggers.comment.as_ref().map(|rule| rule.tiers.as_slice()))
        }
        // Nothing runs, and what is edited is our own.
        Ask::Passed(_) => return Ok(()),
        Ask::Rule(rule) => (tiers_key(rule.kind), Some(rule.tiers.as_slice())),
        Ask::Way(TriggerKind::Label) => {
            ("triggers.label.tiers", triggers.label.as_ref().map(|rule| rule.tiers.as_slice()))
        }
        Ask::Way(TriggerKind::Assign) => {
            ("triggers.assign.tiers", triggers.assign.as_ref().map(|rule| rule.tiers.as_slice()))
        }
        Ask::Way(TriggerKind::Schedule) => return Ok(()),
        // A ticked box of the dashboard starts a job by hand, as the workflow's button does; an
        // event for which the workflow says what is to be done starts that.
        Ask::Way(_) => ("triggers.dispatch.tiers", Some(triggers.dispatch_tiers.as_slice())),
    };
    // A bot is admitted by its name, but never in place of a user.
    let in_a_persons_place =
        matches!(purpose, CommandPurpose::Approve | CommandPurpose::Answer) && tier == Tier::Bot;
    if in_a_persons_place {
        return Err(silent("triggers.approve", "only people decide"));
    }
    // Users and bots by name as well, in the ways that are open at all; never to approve a held
    // call.
    let by_hand = matches!(ask, Ask::Way(TriggerKind::Dispatch));
    let open = !by_hand || !triggers.dispatch_tiers.is_empty();
    if listed && open && purpose != CommandPurpose::Approve {
        return Ok(());
    }
    if (tier == Tier::Bot && open) || tiers.is_some_and(|tiers| tiers.contains(&tier)) {
        return Ok(());
    }
    Err(RequestRefusal {
        why: format!("tier `{}` may not start runs this way", tier.as_str()),
        rule,
        notice: RefusalNotice::Silent,
    })
}

fn tiers_key(kind: TriggerKind) -> &'static str {
    match kind {
        TriggerKind::PullRequest => "triggers.pull_request.tiers",
        TriggerKind::CiFailure => "triggers.ci_failure.tiers",
        TriggerKind::Push => "triggers.push.tiers",
        TriggerKind::Release => "triggers.release.tiers",
        TriggerKind::MergeGroup => "triggers.merge_group.tiers",
        _ => "triggers.repository_dispatch.tiers",
    }
}

pub(super) fn screen_restart(known: &RequestFacts<'_>) -> Result<(), RequestRefusal> {
    let Some((login, permission)) = &known.restarted_by else { return Ok(()) };
    if permission.of(login)? < ForgePermission::Write {
        return Err(silent(
            "restart",
            &format!("{login} started the job again and may not write here"),
        ));
    }
    Ok(())
}

/// Logins are the same whatever their case.
pub(super) fn is(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
