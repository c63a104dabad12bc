//! What events hold: who decided, what files were, what a reply cost.

use serde::{Deserialize, Serialize};

use locum_base::chat::Usage;
use locum_base::image::Image;
use locum_base::path::RepoPath;
use locum_policy::budget::Budget;
use locum_policy::verdict::Verdict;

/// What a reply of a model cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyCharge {
    /// Tokens as the provider counted them, or estimated.
    pub usage: Usage,
    /// True when the provider did not count them all. Also true when they have no price, except
    /// in a reply of the task's own model, which says so apart.
    pub estimated: bool,
    /// US dollars by the price table; 0 without a price.
    pub cost_usd: f64,
}

/// How a hook of the repository ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HookReport {
    /// Its command, as it was judged.
    pub command: String,
    /// Where it is defined: `.claude/settings.json:5`.
    pub place: String,
    /// Whether it ran to its end.
    pub did_run: bool,
    /// What it said, or why it did not run; empty where it is content.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// What the policy said to its command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

/// A sub-task that is about to be started in parallel with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParallelCall {
    /// The call that asks for it.
    pub call: String,
    /// What it may spend.
    pub budget: Budget,
}

/// The result of a request to an image model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedImage {
    /// The name of the profile that was asked.
    pub by: String,
    /// Identifies the request: a hash of the prompt and of the image it starts from.
    #[serde(rename = "wish")]
    pub request_hash: String,
    /// The image; `None` where only text came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
    /// Text that came with it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// True when it was generated for an earlier call that could not write it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// How a context was shortened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionKind {
    /// A model summed up what was left out.
    Condensed,
    /// What was left out is gone from the context.
    Truncated,
}

/// A maintainer's decision on a hold or a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// The hold or question it is about.
    pub id: String,
    /// Who: a login, or the user at the command line.
    pub by: String,
    /// Yes, no, or words.
    pub word: PersonDecision,
    /// What they say beside a yes; the model reads it before its next turn.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl RecordedDecision {
    /// Returns the reason of a no; empty for anything else.
    pub fn reason(&self) -> &str {
        match &self.word {
            PersonDecision::Deny { reason } => reason,
            PersonDecision::Approve | PersonDecision::Answer { .. } => "",
        }
    }
}

/// Yes, no, or words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonDecision {
    /// The held call may be performed, once.
    Approve,
    /// It may not.
    Deny {
        /// Why, in their words; may be empty.
        reason: String,
    },
    /// The answer to a question.
    Answer {
        /// In their words.
        text: String,
    },
}

/// A path at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchedPath {
    /// Path in the repository.
    pub path: RepoPath,
    /// Lines added and removed since the run's base; `None` when the file is as it was there.
    pub diff_lines: Option<u32>,
    /// Of these, the lines added and those removed. For who follows the run; no journal has it.
    #[serde(skip)]
    pub amount: Option<(u32, u32)>,
}

/// A file as it was before a call that edits it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileBefore {
    /// Path in the repository.
    pub path: RepoPath,
    /// Its content before the edit.
    pub content: ContentBefore,
    /// Its permission bits before the edit, which a file that is moved takes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<u32>,
}

/// What a file held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentBefore {
    /// There was no such file.
    Absent,
    /// This, stored next to the journal under its hash.
    Kept(String),
    /// Something too large or too odd to keep.
    NotKept,
}
