//! `Ask`: what an event asks for, and how the run is started by that.

use locum_forge::command::CommentCommand;
use locum_policy::intent::TriggerKind;
use locum_policy::schema::events::EventRule;

/// What an event asks for.
#[derive(Debug)]
pub(super) enum Ask<'t> {
    /// What a command says.
    Command(CommentCommand),
    /// What an entry of the policy says.
    Rule(&'t EventRule),
    /// That checks passed which such an entry of the policy would have repaired.
    Passed(&'t EventRule),
    /// What the way it was started in says: an issue, inputs, a schedule.
    Way(TriggerKind),
}

impl Ask<'_> {
    /// Returns the command, where there is one.
    pub(super) fn command(&self) -> Option<&CommentCommand> {
        if let Self::Command(command) = self { Some(command) } else { None }
    }

    /// Returns how the run is started.
    pub(super) fn kind(&self) -> TriggerKind {
        match self {
            Self::Command(_) => TriggerKind::Comment,
            Self::Rule(rule) | Self::Passed(rule) => rule.kind,
            Self::Way(kind) => *kind,
        }
    }
}
