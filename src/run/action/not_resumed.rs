//! Why a run does not resume a session, and what becomes of the changes there that were not
//! published: said in its plan, and to whoever asks where it surprises.
//!
//! In: the sessions that a run does not resume, and those that it removes for their number.
//! Out: sentences; each session is in one of them at most.

use std::collections::BTreeSet;

use crate::run::action::kept::KeptSession;
use crate::run::action::thread_sessions::{KeptChanges, ThreadSession, WORKS_LIMIT};
use locum_agent::session::hold;

/// Why a run does not resume a session.
pub(super) enum NotResumed {
    /// It is started again: that it does not resume its own session surprises nobody.
    SameComment,
    /// It is another request's, and nobody asks to go on.
    NotAsked,
    /// It worked in this mode, which is not the one that is asked for; nothing else is in the way.
    OtherMode(String, String),
    /// For this reason, which is reported to whoever asks.
    Otherwise(String),
}

impl From<String> for NotResumed {
    fn from(why: String) -> Self {
        Self::Otherwise(why)
    }
}

impl From<&str> for NotResumed {
    fn from(why: &str) -> Self {
        Self::Otherwise(why.to_owned())
    }
}

impl NotResumed {
    /// Returns the reason, and the mode that would have to be asked for; `None` where nobody misses
    /// it.
    fn reason(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::NotAsked => None,
            Self::SameComment => Some(("the same comment asked for it", None)),
            Self::OtherMode(mode, why) => Some((why.as_str(), Some(mode.as_str()))),
            Self::Otherwise(why) => Some((why.as_str(), None)),
        }
    }
}

/// A sentence about a session of the thread that a run does not resume.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionNote {
    /// The sentence, without a full stop.
    pub(super) text: String,
    /// Whether whoever asks reads it, besides those who read the plan.
    pub(super) is_for_asker: bool,
}

/// Says why a run does not resume these sessions, the last one first, and which ones are
/// removed; of a session before the last one, only where it may hold what was not published.
/// `prefix` is the word that a command starts with.
pub(super) fn notes(
    refused: &[(Option<ThreadSession>, NotResumed)],
    removed: &[KeptSession],
    (has_resumed, prefix): (bool, &str),
) -> Vec<SessionNote> {
    let removal = format!(
        "is removed once this run has kept or published something: a thread keeps {WORKS_LIMIT} \
         such sessions"
    );
    let mut notes = Vec::new();
    let mut named: Vec<&KeptSession> = Vec::new();
    let mut modes: BTreeSet<&str> = BTreeSet::new();
    for (place, (session, why)) in refused.iter().enumerate() {
        let Some((reason, mode)) = why.reason() else { continue };
        let is_last = place == 0 && !has_resumed;
        let of = match session {
            Some(session) if !is_last && session.has_work() => {
                format!("session {}", session.kept.session)
            }
            Some(_) if !is_last => continue,
            Some(_) | None => "the last run here".to_owned(),
        };
        // Of several in one mode, a command finds the last one.
        let mut go_on = || {
            let mode = mode.filter(|mode| modes.insert(*mode));
            mode.map_or_else(String::new, |mode| format!("; `{prefix} {mode} go on` resumes it"))
        };
        let mut is_removed = false;
        let left = match session.as_ref().map(|session| (&session.kept, session.changes)) {
            None | Some((_, KeptChanges::Nothing)) => String::new(),
            Some((kept, _)) if removed.contains(kept) => {
                is_removed = true;
                named.push(kept);
                format!("; what it changed and did not publish {removal}")
            }
            Some((kept, KeptChanges::Unpublished)) => {
                let (name, days) = (kept.ref_name(), hold::WAIT_LIMIT.as_hours() / 24);
                format!(
                    "; what it changed and did not publish stays in `{name}` for up to {days} \
                     days{}",
                    go_on()
                )
            }
            Some((_, KeptChanges::Unknown)) => format!(
                "; whether it holds changes that were not published is not known{}",
                go_on()
            ),
        };
        notes.push(SessionNote {
            text: format!("the conversation of {of} is not resumed: {reason}{left}"),
            is_for_asker: is_removed || !matches!(why, NotResumed::SameComment),
        });
    }
    let others = removed.iter().filter(|gone| !named.contains(gone));
    notes.extend(others.map(|gone| SessionNote {
        text: format!("what session {} changed and did not publish {removal}", gone.session),
        is_for_asker: true,
    }));
    notes
}

#[cfg(test)]
mod tests {
    use super::{NotResumed, notes};
    use crate::run::action::kept::KeptSession;
    use crate::run::action::thread_sessions::{KeptChanges, ThreadSession};
    use locum_agent::session::id::SessionId;
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    type Refused = (Option<ThreadSession>, NotResumed);

    const REMOVED: &str = "changed and did not publish is removed once this run has kept or \
                           published something: a thread keeps 5 such sessions";

    fn kept(number: usize) -> KeptSession {
        let session = SessionId::parse(&format!("0199aab{number}")).unwrap();
        KeptSession { session, commit: CommitId(format!("{number}")) }
    }

    fn refused(number: usize, changes: KeptChanges, why: impl Into<NotResumed>) -> Refused {
        (Some(ThreadSession { kept: kept(number), is_own: false, changes }), why.into())
    }

    /// What whoever asks reads.
    fn said(refused: &[Refused], removed: &[KeptSession], has_resumed: bool) -> Vec<String> {
        let notes = notes(refused, removed, (has_resumed, "/locum"));
        notes.into_iter().filter(|note| note.is_for_asker).map(|note| note.text).collect()
    }

    #[test]
    fn a_session_that_is_removed_is_named_once_and_others_are_said_to_stay() {
        let in_code = |number| {
            let why = "it worked in mode `code`".to_owned();
            let why = NotResumed::OtherMode("code".to_owned(), why);
            refused(number, KeptChanges::Unpublished, why)
        };
        let not_resumed = |of: &str| {
            format!("the conversation of {of} is not resumed: it worked in mode `code`; what it ")
        };
        let stays = |number: usize| {
            let name = format!("refs/locum/sessions/0199aab{number}");
            format!("changed and did not publish stays in `{name}` for up to 7 days")
        };
        let refused = [in_code(3), in_code(2), in_code(1)];
        let expected = [
            not_resumed("the last run here") + &stays(3) + "; `/locum code go on` resumes it",
            not_resumed("session 0199aab2") + &stays(2),
            not_resumed("session 0199aab1") + REMOVED,
            format!("what session 0199aab0 {REMOVED}"),
        ];
        assert_eq!(said(&refused, &[kept(0), kept(1)], false), expected);
    }

    #[test]
    fn what_is_not_known_is_not_said_to_stay() {
        let of = |changes| said(&[refused(1, changes, "it did not end")], &[], true);
        let unknown = "the conversation of session 0199aab1 is not resumed: it did not end; \
                       whether it holds changes that were not published is not known";
        assert_eq!(of(KeptChanges::Unknown), [unknown]);
        assert_eq!(of(KeptChanges::Nothing), Vec::<String>::new());
    }

    #[test]
    fn whoever_asks_again_reads_only_what_is_removed() {
        for why in [NotResumed::SameComment, NotResumed::NotAsked] {
            let refused = [refused(1, KeptChanges::Unpublished, why)];
            assert_eq!(said(&refused, &[], false), Vec::<String>::new());
            let [removed] = said(&refused, &[kept(1)], false).try_into().unwrap();
            assert!(removed.ends_with(REMOVED), "{removed}");
        }
    }
}
