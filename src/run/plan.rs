//! `RunPlan`: everything that is settled before a run begins, complete and printable; what
//! `--dry-run` shows.
//!
//! In: facts already looked up. Out: the plan as text or JSON. It looks nothing up.

use serde::{Deserialize, Serialize};

use locum_agent::session::id::SessionId;
use locum_modes::prompts::place::RunPlace;
use locum_policy::budget::Budget;
use locum_policy::intent::Facts;
use locum_policy::pull_request::PullRequestOverrides;
use locum_policy::rule::trigger_word;
use locum_policy::schema::{PublishForm, PublishForms};
use locum_policy::spending_limit::SpendingLimits;
use locum_workspace::repo::CommitId;

/// Everything that is settled before a run begins.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunPlan {
    /// Name of the run's session.
    pub session: SessionId,
    /// What is to be done.
    pub task: String,
    /// The slash command that the task calls, with its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The images it comes with, each in one line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
    /// Mode of the root task.
    pub mode: String,
    /// Who asked and how.
    pub facts: Facts,
    /// What it is about.
    pub subject: RunSubject,
    /// Path of the checkout.
    pub checkout: String,
    /// The commit the run starts from and changes are counted from.
    pub base: CommitId,
    /// The commit that policy, modes, settings and rules files are read from.
    pub trusted: CommitId,
    /// The commit that a review compares the checkout with; `None` where it is the trusted one's
    /// branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_base: Option<CommitId>,
    /// Where the policy was read.
    pub policy: PolicyName,
    /// Labels of the models for the root task and for sub-tasks.
    pub models: (String, String),
    /// What may be spent.
    pub budget: Budget,
    /// What runs of a day, and on an issue or pull request, may spend together.
    #[serde(rename = "ceilings")]
    pub spending_limits: SpendingLimits,
    /// Tools the root task is offered.
    pub tools: Vec<String>,
    /// Modes that may run.
    pub modes: Vec<String>,
    /// Rules files, by path.
    pub rules: Vec<String>,
    /// What models are told of the place.
    pub place: RunPlace,
    /// What the policy allows in the root task's mode, in its own words.
    pub allowed: Vec<String>,
    /// What the policy accepts although the rule of two speaks against it, with its reasons.
    pub risks: Vec<String>,
    /// What the user should know before it begins.
    pub notes: Vec<String>,
    /// Those of the notes that are about what whoever asked has written: their comment has them
    /// too.
    #[serde(skip)]
    pub for_asker: Vec<String>,
}

/// Where the policy was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyName {
    /// Its file, or that it is the built-in one.
    pub origin: String,
    /// Hash of its text.
    pub hash: String,
}

/// What a run is about: where its results belong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RunSubject {
    /// Nothing at the forge: a task given by hand.
    #[default]
    Prompt,
    /// An issue of the repository.
    Issue {
        /// Number on the forge.
        number: u64,
        /// Its title at the time of the event.
        title: String,
    },
    /// A discussion of the repository.
    Discussion {
        /// Number on the forge.
        number: u64,
        /// Its title at the time of the event.
        title: String,
    },
    /// A pull request, from the repository or a fork.
    PullRequest {
        /// Number on the forge.
        number: u64,
        /// Title at the time of the event.
        title: String,
        /// Branch it was opened from.
        head_branch: String,
        /// The commit of its branch that the run starts from.
        head_sha: String,
        /// True when its branch lies in another repository.
        is_fork: bool,
        /// True when changes are to become a pull request of their own, against its branch.
        own_pull_request: bool,
    },
    /// A maintenance job of the repository.
    Job {
        /// Name of the job's file, without its ending.
        name: String,
        /// What it is for, in a line; empty in records of before.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        title: String,
        /// What it says of its pull requests in place of the policy.
        #[serde(default, skip_serializing_if = "PullRequestOverrides::is_empty")]
        pull_request: PullRequestOverrides,
    },
}

/// What stands in front of a check's name in the words of a claim.
const CHECK_WORDS: &str = "-check-";

impl RunSubject {
    /// Returns the words that name it in a branch name.
    pub fn branch_words(&self) -> String {
        match self {
            Self::Prompt => "task".to_owned(),
            Self::Issue { number, .. } => format!("issue-{number}"),
            Self::Discussion { number, .. } => format!("discussion-{number}"),
            Self::PullRequest { number, .. } => format!("pr-{number}"),
            Self::Job { name, .. } => Self::job_words(name),
        }
    }

    /// Returns the words that name a job there.
    pub fn job_words(name: &str) -> String {
        format!("job-{name}")
    }

    /// Returns the words that a claim on it goes by; empty where runs need not be kept apart. A
    /// check of it judges beside whatever else works on it, and has a claim of its own.
    pub fn claim_words(&self, check: Option<&str>) -> String {
        match (self, check) {
            (_, Some(check)) => format!("{}{CHECK_WORDS}{check}", self.branch_words()),
            (Self::Prompt, None) => String::new(),
            (_, None) => self.branch_words(),
        }
    }

    /// Returns whether a claim of these words is on the issue, discussion or pull request of this
    /// number: that of a run about it, or of a check of it.
    pub fn is_claim_on(words: &str, number: u64) -> bool {
        ["issue", "discussion", "pr"].iter().any(|kind| {
            words
                .strip_prefix(&format!("{kind}-{number}"))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(CHECK_WORDS))
        })
    }

    /// Returns what becomes of the change of a run about it, by what the policy says of the run's
    /// mode. The branch of a fork is not ours to change. Asking for a pull request of its own makes
    /// one of what would be a commit, and of nothing else.
    pub fn publish_form(&self, forms: PublishForms) -> PublishForm {
        match self {
            Self::PullRequest { is_fork, own_pull_request, .. } => match forms.pull_requests {
                PublishForm::Commit | PublishForm::PullRequest if *is_fork => PublishForm::Comment,
                PublishForm::Commit if *own_pull_request => PublishForm::PullRequest,
                form => form,
            },
            Self::Prompt | Self::Issue { .. } | Self::Discussion { .. } | Self::Job { .. } => {
                forms.issues
            }
        }
    }

    /// Returns the issue, pull request or discussion comments belong to.
    pub fn thread(&self) -> Option<u64> {
        match self {
            Self::Issue { number, .. }
            | Self::Discussion { number, .. }
            | Self::PullRequest { number, .. } => Some(*number),
            Self::Prompt | Self::Job { .. } => None,
        }
    }

    /// Returns its title, where it has one.
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::Issue { title, .. }
            | Self::Discussion { title, .. }
            | Self::PullRequest { title, .. } => Some(title),
            Self::Job { title, .. } => Some(title.as_str()).filter(|title| !title.is_empty()),
            Self::Prompt => None,
        }
    }
}

impl RunPlan {
    /// Returns the plan without what is of the machine's alone: paths on it, and hashes.
    pub fn for_thread(&self) -> String {
        let mut text = String::new();
        // NOTE: writing to a string does not fail.
        let _ = self.rows(&mut text, PlanReader::Thread);
        text
    }

    fn rows(&self, formatter: &mut dyn std::fmt::Write, reader: PlanReader) -> std::fmt::Result {
        let mut row = |name: &str, value: &str| writeln!(formatter, "{name:<9} {value}");
        row("task", self.task.trim().lines().next().unwrap_or_default())?;
        self.command.iter().try_for_each(|command| row("command", command))?;
        self.images.iter().try_for_each(|image| row("shows", image))?;
        row("mode", &self.mode)?;
        row(
            "asked by",
            &format!("{} by {}", self.facts.tier.as_str(), trigger_word(self.facts.trigger)),
        )?;
        row("about", &self.subject.branch_words())?;
        if reader == PlanReader::Log {
            row("checkout", &self.checkout)?;
            row("base", &self.base.0)?;
        }
        self.place.branch.iter().try_for_each(|branch| row("branch", branch))?;
        let PolicyName { origin, hash } = &self.policy;
        match reader {
            PlanReader::Thread => row("policy", origin)?,
            PlanReader::Log => {
                row("trusted", &self.trusted.0)?;
                let base = self.review_base.as_ref();
                base.map_or(Ok(()), |base| row("review of", &format!("{base}..")))?;
                row("policy", &format!("{origin} ({hash})"))?;
            }
        }
        row("models", &format!("{} · sub-tasks {}", self.models.0, self.models.1))?;
        row("budget", &budget_words(&self.budget))?;
        for (name, ceiling) in
            [("a day", self.spending_limits.daily), ("a thread", self.spending_limits.per_thread)]
        {
            if !ceiling.is_none() {
                row(name, &format!("{ceiling} at most"))?;
            }
        }
        row("modes", &self.modes.join(", "))?;
        row("tools", &self.tools.join(", "))?;
        row(
            "rules",
            &if self.rules.is_empty() { "none".to_owned() } else { self.rules.join(", ") },
        )?;
        self.allowed.iter().try_for_each(|line| row("allowed", line))?;
        if !self.place.missing.is_empty() {
            row("missing", &format!("{} (not installed)", self.place.missing.join(", ")))?;
        }
        self.risks.iter().try_for_each(|risk| row("risk", risk))?;
        self.notes.iter().try_for_each(|note| row("note", note))
    }
}

impl std::fmt::Display for RunPlan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rows(formatter, PlanReader::Log)
    }
}

/// Who reads a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlanReader {
    /// Whoever sees the machine's log.
    Log,
    /// Whoever sees the thread.
    Thread,
}

fn budget_words(budget: &Budget) -> String {
    format!(
        "{} turns · {} calls · {} tokens · ${:.2} · {} min · {} files · {} diff lines",
        budget.turns,
        budget.tool_calls,
        budget.tokens,
        budget.cost_usd,
        budget.minutes,
        budget.files,
        budget.diff_lines
    )
}

#[cfg(test)]
mod tests {
    use super::RunSubject;
    use locum_policy::schema::{PublishForm, PublishForms};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_change_becomes_what_the_policy_says_and_asking_makes_no_more_of_it() {
        let of_pull_request = |form, is_fork, own_pull_request| {
            let subject = RunSubject::PullRequest {
                number: 8,
                title: String::new(),
                head_branch: "feature".to_owned(),
                head_sha: "c0ffee".to_owned(),
                is_fork,
                own_pull_request,
            };
            let issues = PublishForm::Comment;
            subject.publish_form(PublishForms { issues, pull_requests: form })
        };
        for (form, asked, on_fork) in [
            (PublishForm::PullRequest, PublishForm::PullRequest, PublishForm::Comment),
            (PublishForm::Commit, PublishForm::PullRequest, PublishForm::Comment),
            (PublishForm::Review, PublishForm::Review, PublishForm::Review),
            (PublishForm::Comment, PublishForm::Comment, PublishForm::Comment),
        ] {
            assert_eq!(of_pull_request(form, false, false), form);
            assert_eq!(of_pull_request(form, false, true), asked, "{form:?}");
            assert_eq!(of_pull_request(form, true, true), on_fork, "{form:?}");
            let forms = PublishForms { issues: form, pull_requests: PublishForm::Comment };
            assert_eq!(RunSubject::Prompt.publish_form(forms), form);
        }
    }

    #[test]
    fn a_claim_is_on_the_thread_of_its_number_and_on_no_other() {
        let title = String::new();
        let discussion = RunSubject::Discussion { number: 12, title: title.clone() };
        let pull_request = RunSubject::PullRequest {
            number: 12,
            title: title.clone(),
            head_branch: String::new(),
            head_sha: String::new(),
            is_fork: false,
            own_pull_request: false,
        };
        for subject in [RunSubject::Issue { number: 12, title }, discussion, pull_request] {
            for check in [None, Some("docs-1"), Some("a.b")] {
                let words = subject.claim_words(check);
                for (number, is_on) in [(12, true), (1, false), (2, false), (120, false)] {
                    assert_eq!(RunSubject::is_claim_on(&words, number), is_on, "{words} {number}");
                }
            }
        }
        for words in ["job-docs-12", "job-12", "12", "", "pr-12x", "pr-12-x", "xpr-12", "-check-12"]
        {
            assert!(!RunSubject::is_claim_on(words, 12), "{words}");
        }
    }
}
