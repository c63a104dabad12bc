//! `RunRequest`: what is to be run, before anything is looked up; complete, so that the same run
//! can be prepared again by whoever resumes it. It stands in the journal's first line.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::load::{ConfigFile, FlagValue};
use crate::run::job::JobWork;
use crate::run::plan::RunSubject;
use crate::run::task_material::{TaskAuthor, TaskMaterial};
use locum_agent::session::id::SessionId;
use locum_models::cassette::RequestField;
use locum_policy::intent::Facts;
use locum_workspace::repo::CommitId;

/// What is to be run, before anything is looked up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRequest {
    /// Name of the session that carries it out.
    pub session: SessionId,
    /// What is to be done, in the words of who asked.
    pub task: String,
    /// Whose words these are.
    #[serde(default)]
    pub words: TaskAuthor,
    /// What the task is about, from authors who may not be trusted.
    #[serde(default)]
    pub materials: Vec<TaskMaterial>,
    /// Mode that was requested.
    pub mode: Option<String>,
    /// Who asked and how; the mode is filled in when the run is prepared.
    pub facts: Facts,
    /// Where results belong.
    pub subject: RunSubject,
    /// The fixed work of a job.
    pub work: Option<JobWork>,
    /// The commit to start from; changes are counted from it.
    pub base: CommitId,
    /// The commit that is trusted.
    pub trusted: CommitId,
    /// The commit that a review compares the checkout with, with what is not committed in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_base: Option<CommitId>,
    /// What was given for this run alone.
    #[serde(flatten)]
    pub overrides: Overrides,
    /// Whether it is carried out.
    #[serde(skip)]
    pub purpose: RunPurpose,
}

/// Whether a run is carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunPurpose {
    /// It is.
    #[default]
    Work,
    /// Only its plan is shown: no model has to be there.
    Plan,
    /// Only the policy's checks are shown: they run although nothing changes.
    Check,
    /// What another job came to is published: nothing is asked of a model.
    Publish,
}

impl RunRequest {
    /// Returns the request of a user at the command line, who trusts the commit to start from.
    pub fn new(task: String, base: CommitId) -> Self {
        Self {
            session: SessionId::fresh(),
            task,
            words: TaskAuthor::Asker,
            materials: Vec::new(),
            mode: None,
            facts: Facts::default(),
            subject: RunSubject::Prompt,
            work: None,
            trusted: base.clone(),
            base,
            review_base: None,
            overrides: Overrides::default(),
            purpose: RunPurpose::default(),
        }
    }
}

/// What was given for one run alone, over settings, policy and models.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Overrides {
    /// Settings by flag.
    pub flags: Vec<FlagValue>,
    /// A policy instead of the repository's.
    pub policy: Option<ConfigFile>,
    /// A script instead of a model.
    pub script: Option<ConfigFile>,
    /// What is recorded or played again.
    #[serde(default)]
    pub cassettes: Cassettes,
}

/// What is recorded or played again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Cassettes {
    /// Where every reply is written down.
    pub record: Option<PathBuf>,
    /// A cassette instead of a model.
    pub replay: Option<ReplayRequest>,
}

/// A cassette to be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRequest {
    /// The cassette's text and where it is from.
    pub cassette: ConfigFile,
    /// The fields in which requests may differ from the recorded ones.
    pub tolerate: Vec<RequestField>,
}
