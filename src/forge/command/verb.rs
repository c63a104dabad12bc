//! `Verb`: what a command can ask for by its first word, with all that is known of each in one
//! table.
//!
//! In: a word. Out: the verb, what lists say of it, and what other words beside it mean.

/// What a command can ask for by its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A run in the default mode.
    Fix,
    /// A run in the mode for plans.
    Plan,
    /// The last run once more.
    Retry,
    /// The end of the run that is at work.
    Stop,
    /// The last commit taken back.
    Undo,
    /// A branch brought up to its base.
    Rebase,
    /// Yes to a held call.
    Approve,
    /// No to a held call.
    Deny,
    /// Words for a question.
    Answer,
    /// The checks of a pull request.
    Checks,
    /// A list of what ran.
    Status,
    /// What a run may do.
    Explain,
    /// A list of the commands.
    Help,
}

/// What is known of a verb.
struct VerbRow {
    /// The word.
    word: &'static str,
    /// What it does, for lists.
    help: &'static str,
    /// What it is below a question that is quoted.
    below_question: BelowQuestion,
    /// Whether it starts no run, whatever stands beside it.
    starts_nothing: bool,
}

/// What a verb is below a question that is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BelowQuestion {
    /// The beginning of the answer.
    Answer,
    /// Itself where nothing else is said, else the beginning of the answer.
    ItselfAlone,
    /// Itself: it is about what waits, or about the thread.
    Itself,
}

impl Verb {
    /// Every verb, as lists show them.
    pub const ALL: &[Self] = &[
        Self::Fix,
        Self::Plan,
        Self::Retry,
        Self::Stop,
        Self::Undo,
        Self::Rebase,
        Self::Approve,
        Self::Deny,
        Self::Answer,
        Self::Checks,
        Self::Status,
        Self::Explain,
        Self::Help,
    ];

    fn row(self) -> VerbRow {
        use BelowQuestion::{Answer, Itself, ItselfAlone};
        let (word, below_question, starts_nothing, help) = match self {
            Self::Fix => (
                "fix",
                Answer,
                false,
                "starts a run in the default mode; `fix all` mends what reviews found here",
            ),
            Self::Plan => ("plan", Answer, false, "starts a run in mode `architect`"),
            Self::Retry => {
                ("retry", ItselfAlone, false, "starts the last run here again, with the same words")
            }
            Self::Stop => ("stop", ItselfAlone, true, "stops the run that is at work here"),
            Self::Undo => {
                ("undo", ItselfAlone, true, "reverts the last commit of Locum on this pull request")
            }
            Self::Rebase => ("rebase", Answer, false, "brings the branch here up to its base"),
            Self::Approve => (
                "approve",
                Itself,
                false,
                "approves a held call, by its name, or `all`; `always` proposes a rule for it",
            ),
            Self::Deny => ("deny", Itself, false, "denies a held call, by its name, or `all`"),
            Self::Answer => ("answer", Itself, false, "answers a run's question"),
            Self::Checks => (
                "checks",
                Answer,
                false,
                "makes the checks of this pull request, or those that are named",
            ),
            Self::Status => {
                ("status", Itself, true, "lists the runs of the last day and what waits")
            }
            Self::Explain => (
                "explain",
                ItselfAlone,
                false,
                "says what a run here may do, and why; answering a finding, explains that",
            ),
            Self::Help => ("help", Itself, true, "lists modes, verbs and flags"),
        };
        VerbRow { word, help, below_question, starts_nothing }
    }

    /// Reads a word; `cancel` is another one for `stop`.
    pub fn parse(word: &str) -> Option<Self> {
        let word = if word == "cancel" { "stop" } else { word };
        Self::ALL.iter().copied().find(|verb| verb.as_str() == word)
    }

    /// Returns the word.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// Returns what it does, for lists.
    pub fn help(self) -> &'static str {
        self.row().help
    }

    /// Returns what it is below a question that is quoted.
    pub fn below_question(self) -> BelowQuestion {
        self.row().below_question
    }

    /// Returns whether it starts no run, whatever stands beside it.
    pub fn starts_nothing(self) -> bool {
        self.row().starts_nothing
    }

    /// Returns whether it decides on what waits.
    pub fn decides(self) -> bool {
        matches!(self, Self::Approve | Self::Deny | Self::Answer)
    }
}
