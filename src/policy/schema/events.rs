//! What events of the repository start: pull requests, failed checks, pushes, releases and their
//! like, each with filters and the mode or job it starts.

use crate::actors::Tier;
use crate::glob::PathGlob;
use crate::intent::TriggerKind;
use crate::rule::trigger_word;
use locum_files::position::Position;

/// One entry of `triggers.pull_request`, `triggers.push` and their like. The first entry whose
/// filters all fit an event decides what it starts.
#[derive(Clone, Debug, Default)]
pub struct EventRule {
    /// The kind of event it is for.
    pub kind: TriggerKind,
    /// Actions of the event that count: `opened`, `published`; for `repository_dispatch` its type.
    /// Empty means every action that [`actions_of`] lists.
    pub actions: Vec<String>,
    /// Tiers of whoever caused the event.
    pub tiers: Vec<Tier>,
    /// Patterns of branch names: a pull request's target, else the branch the event is about.
    pub branches: Vec<PathGlob>,
    /// Patterns of paths, at least one of which was changed.
    pub paths: Vec<PathGlob>,
    /// Logins of which one wrote the pull request.
    pub authors: Vec<String>,
    /// Whether drafts count as well.
    pub drafts: bool,
    /// A label that the pull request has; for `labeled`, the one that was put on.
    pub label: Option<String>,
    /// Names of the workflows, or slugs of the apps, whose failure counts; empty means all.
    pub workflows: Vec<String>,
    /// The mode it starts.
    pub mode: Option<String>,
    /// Where the policy names the mode.
    pub mode_place: Position,
    /// The job it starts.
    pub job: Option<String>,
    /// What is to be done, in place of what the kind of event says.
    pub task: Option<String>,
    /// Names of the checks it starts.
    pub checks: Vec<String>,
}

/// The name of the check of the policy itself, which no model makes.
pub const POLICY_CHECK: &str = "policy";

/// The name that stands for every check with a file of its own.
pub const ALL_CHECKS: &str = "all";

/// How failed checks are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairRules {
    /// Runs that try it on one pull request; then it is handed over.
    pub attempts: u32,
    /// How often failed jobs are run again before a model is asked.
    pub reruns: u32,
}

impl Default for RepairRules {
    fn default() -> Self {
        Self { attempts: 3, reruns: 1 }
    }
}

/// Returns the actions of an event of this kind that can start something; where an entry
/// names none, the first `default` of them do. Empty when the event has no actions, or takes any
/// word.
pub fn actions_of(kind: TriggerKind) -> (&'static [&'static str], usize) {
    match kind {
        TriggerKind::PullRequest => {
            (&["opened", "reopened", "ready_for_review", "synchronize", "labeled"], 3)
        }
        TriggerKind::Release => (&["published", "released", "prereleased", "created"], 1),
        TriggerKind::Local
        | TriggerKind::Comment
        | TriggerKind::Label
        | TriggerKind::Assign
        | TriggerKind::Dispatch
        | TriggerKind::Schedule
        | TriggerKind::CiFailure
        | TriggerKind::Push
        | TriggerKind::MergeGroup
        | TriggerKind::RepositoryDispatch => (&[], 0),
    }
}

impl EventRule {
    /// Returns the file and line that name its mode, where the policy is the file `origin`.
    pub fn place_of_mode(&self, origin: &str) -> String {
        format!("{origin}:{}", self.mode_place)
    }

    /// Says of its mode that no run can have it, and where it is named.
    pub fn unusable_mode(&self, mode: &str, origin: &str) -> String {
        format!(
            "{}: `triggers.{}` names mode `{mode}`, which does not exist or is not in \
             `modes.allow`",
            self.place_of_mode(origin),
            trigger_word(self.kind)
        )
    }

    /// Returns whether it starts checks and nothing else.
    pub fn has_only_checks(&self) -> bool {
        !self.checks.is_empty()
            && [&self.mode, &self.job, &self.task].into_iter().all(Option::is_none)
    }

    /// Returns whether an action counts.
    pub fn has_action(&self, action: &str) -> bool {
        if !self.actions.is_empty() {
            return self.actions.iter().any(|one| one == action);
        }
        let (actions, default) = actions_of(self.kind);
        actions.is_empty() || actions.iter().take(default).any(|one| *one == action)
    }
}
