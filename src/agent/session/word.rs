//! What an outcome's word means wherever it is shown: one row for each, and nothing else decides
//! it.
//!
//! In: a word. Out: its heading for readers, the exit code, the reaction on what was asked, how red
//! the step is. Which word it is, `ending` decides.

use crate::session::outcome::OutcomeWord;

/// One row of the table.
struct Meaning {
    /// In outputs, JSON and settings.
    name: &'static str,
    /// In the first line of a comment.
    heading: &'static str,
    exit_code: u8,
    reaction: OutcomeReaction,
    severity: Severity,
}

/// What is put on the comment or issue that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeReaction {
    /// It went well.
    Rocket,
    /// It waits for a person: what says that it was seen stays.
    Eyes,
    /// A person has to look at it.
    Confused,
}

/// How bad an outcome is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It is what was asked for.
    Good,
    /// It waits for a person, which is no failure.
    Waits,
    /// It failed, and the step does unless the settings say otherwise.
    Bad,
}

impl OutcomeReaction {
    /// Returns its name at the forge.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rocket => "rocket",
            Self::Eyes => "eyes",
            Self::Confused => "confused",
        }
    }
}

impl OutcomeWord {
    /// Every word.
    pub const ALL: [Self; 12] = [
        Self::Done,
        Self::NothingToDo,
        Self::NotPublished,
        Self::ChecksFailed,
        Self::Partial,
        Self::Failed,
        Self::Refused,
        Self::NeedsInput,
        Self::OnHold,
        Self::BudgetExhausted,
        Self::TimedOut,
        Self::Cancelled,
    ];

    fn meaning(self) -> Meaning {
        use OutcomeReaction::{Confused, Eyes, Rocket};
        use Severity::{Bad, Good, Waits};
        let (name, heading, exit_code, reaction, severity) = match self {
            Self::Done => ("done", "done", 0, Rocket, Good),
            Self::NothingToDo => ("nothing-to-do", "nothing to do", 0, Rocket, Good),
            Self::NotPublished => ("not-published", "not published", 8, Confused, Bad),
            Self::ChecksFailed => {
                ("checks-failed", "done, but its checks failed", 7, Confused, Bad)
            }
            Self::Partial => ("partial", "partly done", 3, Confused, Bad),
            Self::Failed => ("failed", "failed", 3, Confused, Bad),
            Self::Refused => ("refused", "refused", 4, Confused, Bad),
            Self::NeedsInput => ("needs-input", "needs an answer", 5, Eyes, Waits),
            Self::OnHold => ("on-hold", "waits for a person's approval", 5, Eyes, Waits),
            Self::BudgetExhausted => {
                ("budget-exhausted", "stopped, the budget is used up", 6, Confused, Bad)
            }
            Self::TimedOut => ("timed-out", "stopped, out of time", 124, Confused, Bad),
            Self::Cancelled => ("cancelled", "cancelled", 130, Confused, Bad),
        };
        Meaning { name, heading, exit_code, reaction, severity }
    }

    /// Returns the word itself.
    pub fn as_str(self) -> &'static str {
        self.meaning().name
    }

    /// Returns it for readers of a report.
    pub fn heading(self) -> &'static str {
        self.meaning().heading
    }

    /// Returns what the program ends with.
    pub fn exit_code(self) -> u8 {
        self.meaning().exit_code
    }

    /// Returns the reaction that ends a run.
    pub fn reaction(self) -> OutcomeReaction {
        self.meaning().reaction
    }

    /// Returns how bad it is.
    pub fn severity(self) -> Severity {
        self.meaning().severity
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{OutcomeReaction, Severity};
    use crate::session::outcome::OutcomeWord;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_what_went_well_looks_so_anywhere() {
        for word in OutcomeWord::ALL {
            let is_good = word.severity() == Severity::Good;
            assert_eq!(word.exit_code() == 0, is_good, "{word:?}");
            assert_eq!(word.reaction() == OutcomeReaction::Rocket, is_good, "{word:?}");
            let waits = word.severity() == Severity::Waits;
            assert_eq!(word.reaction() == OutcomeReaction::Eyes, waits, "{word:?}");
            // The name is the one in journals and in JSON.
            assert_eq!(serde_json::to_value(word).unwrap(), word.as_str());
        }
        let headings: BTreeSet<&str> = OutcomeWord::ALL.iter().map(|word| word.heading()).collect();
        assert_eq!(headings.len(), OutcomeWord::ALL.len(), "no two look the same");
        let codes: BTreeSet<u8> = OutcomeWord::ALL.iter().map(|word| word.exit_code()).collect();
        assert!(!codes.contains(&1) && !codes.contains(&2), "those are errors: {codes:?}");
    }
}
