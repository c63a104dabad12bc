//! Floor 6: the loop. Context to the model, its calls through the door, everything into the journal, until there is an outcome.

pub mod event;
pub mod history;
pub mod journal;
pub mod outcome;
pub mod repetition;
pub mod stack;

use std::collections::BTreeMap;

use crate::base::clock::Clock;
use crate::base::secret::Redactor;
use crate::models::Model;
use crate::models::profile::Price;
use crate::models::retry::RetryLimits;
use crate::modes::ModeSet;
use crate::policy::Policy;
use crate::prompts::rules::RuleFile;
use crate::session::event::{Event, SessionStart};
use crate::session::journal::Journal;
use crate::session::outcome::Outcome;
use crate::workspace::Workspace;

/// Everything a session works with. Nothing in it is looked up again later.
pub struct SessionParts<'a> {
    /// What is to be done; the journal's first line.
    pub start: SessionStart,
    /// Decides.
    pub policy: &'a Policy,
    /// Every mode.
    pub modes: &'a ModeSet,
    /// Rules files of the trusted ref, all modes together.
    pub rules: &'a [RuleFile],
    /// The root task's model and its price.
    pub main: (&'a dyn Model, Option<Price>),
    /// The sub-tasks' model and its price.
    pub task: (&'a dyn Model, Option<Price>),
    /// How requests are tried again.
    pub retry: RetryLimits,
    /// The checkout.
    pub workspace: &'a Workspace,
    /// The environment commands get.
    pub env: &'a BTreeMap<String, String>,
    /// Takes secrets out.
    pub redactor: &'a Redactor,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Resolves when the run is to stop (Ctrl-C, SIGTERM).
    pub cancelled: futures::future::BoxFuture<'a, ()>,
    /// Sees every event after it is in the journal.
    pub watch: Box<dyn FnMut(&Event) + 'a>,
}

/// Runs a session to its end. `journal` is new, or one read back by [`Journal::resume`]: then the session continues where it stopped.
pub async fn run(_parts: SessionParts<'_>, _journal: Journal) -> Outcome {
    todo!()
}
