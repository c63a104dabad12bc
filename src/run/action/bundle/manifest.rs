//! `Manifest`: what a bundle says it is of. `ReceivedBundle`: one that says what this job knows
//! itself.
//!
//! In: a file. Out: the session's outcome and the commit with its changes; or every mistake, each
//! with what to do. Nothing of it decides anything: who asked, in which mode and under which
//! policy, this job has found out itself.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::run::action::ActionEnv;
use crate::run::action::bundle::PLACE;
use crate::run::action::kept::KEPT_LIMIT_BYTES;
use crate::run::error::RunError;
use crate::run::run_request::RunRequest;
use locum_agent::report::markdown::{code, visible};
use locum_agent::session::event::Event;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::Outcome;
use locum_base::path::RepoPath;
use locum_base::text::{self, single_blanks};
use locum_files::diagnostic::Diagnostic;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::repo::CommitId;

/// Name of the manifest in the bundle's commit.
pub(super) const MANIFEST_FILE: &str = "bundle.json";
/// Largest manifest, in bytes.
const MANIFEST_LIMIT_BYTES: u64 = 64 * 1024;
/// Form of bundles that is written and read.
const VERSION: u32 = 1;
/// Bytes of a value of the manifest that a message shows.
const SHOWN_BYTES: usize = 100;
/// What the comment says beside the result.
const REMARK: &str = "Another job did the work, without rights to write here. What this says of \
     its checks and its cost is that job's account; its changes and words were judged again before \
     they were published.";
/// Digits of a commit that are shown.
const SHOWN_DIGITS: usize = 12;
/// What helps where a bundle is of something else.
const OF_THIS_RUN: &str = "give this job the bundle that the first job of the same workflow run \
                           uploaded, as it is";

/// What a bundle says it is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    version: u32,
    /// `owner/name`.
    repository: String,
    /// Number of the workflow run.
    run: String,
    /// Name of the event.
    event: String,
    /// SHA-256 of what was read from the event's payload.
    trigger: String,
    /// Login of who caused the event.
    actor: String,
    /// What is worked on, in words.
    subject: String,
    /// The commit that policy and modes were read from.
    trusted: CommitId,
    /// The commit the run started from.
    base: CommitId,
    session: SessionId,
    /// SHA-256 of the journal.
    journal: String,
    /// The commit that holds the changes, on the base; `None` where nothing changed.
    work: Option<CommitId>,
}

impl Manifest {
    /// Says what a bundle of this job is of.
    pub(super) fn of(
        env: &ActionEnv<'_>,
        request: &RunRequest,
        (journal, work): (&[u8], Option<&CommitId>),
    ) -> Self {
        Self {
            version: VERSION,
            repository: env.job.repository.clone(),
            run: env.job.run_id.clone(),
            event: env.job.event_name.clone(),
            trigger: hash(env.trigger_text().as_bytes()),
            actor: env.job.actor.clone(),
            subject: request.subject.claim_words(None),
            trusted: request.trusted.clone(),
            base: request.base.clone(),
            session: request.session.clone(),
            journal: hash(journal),
            work: work.cloned(),
        }
    }

    /// Returns everything in which it differs from what this job knows.
    fn mistakes(&self, own: &Self) -> Vec<Diagnostic> {
        let about_run = [
            ("repository", self.repository.as_str(), own.repository.as_str(), OF_THIS_RUN),
            ("workflow run", &self.run, &own.run, OF_THIS_RUN),
            ("event", &self.event, &own.event, OF_THIS_RUN),
            ("payload", &self.trigger, &own.trigger, OF_THIS_RUN),
            ("actor", &self.actor, &own.actor, OF_THIS_RUN),
            ("subject", &self.subject, &own.subject, OF_THIS_RUN),
            (
                "base commit",
                &self.base.0,
                &own.base.0,
                "the branch moved since, or the bundle was changed; ask again, so that the work \
                 starts from what is there now",
            ),
        ];
        let differs = about_run.into_iter().filter(|(_, said, known, _)| said != known);
        differs
            .map(|(what, said, known, hint)| {
                let said = one_line(text::head(said, SHOWN_BYTES));
                let message = format!("the bundle is of {what} `{said}`, this job of `{known}`");
                Diagnostic::about(PLACE, message).hint(hint)
            })
            .collect()
    }
}

/// A bundle that is of this job's own event.
pub(in crate::run::action) struct ReceivedBundle {
    /// Name of the session.
    pub(in crate::run::action) session: SessionId,
    /// How it ended, by its own journal.
    pub(super) outcome: Outcome,
    /// The commit with its changes; nothing of it is judged yet.
    pub(super) work: Option<CommitId>,
    /// The commit that the other job says it read its policy from.
    trusted: CommitId,
}

impl ReceivedBundle {
    /// Reads a bundle; `request` is this job's own.
    ///
    /// # Errors
    /// When it cannot be read, or is of something else.
    pub(in crate::run::action) async fn read(
        env: &ActionEnv<'_>,
        file: &std::path::Path,
        request: &RunRequest,
    ) -> Result<Self, RunError> {
        if !file.exists() {
            let what = format!("there is no bundle at `{}`", file.display());
            return Err(RunError::usage(PLACE, what).hint(
                "the job that works ended without one: its log says why. Where it has one, upload \
                 it there and download it here",
            ));
        }
        GitBinary::check_bundle(file).map_err(unreadable)?;
        // What git says is about files of this machine.
        let commit = env.git.read_bundle(file).await.map_err(|error| {
            tracing::warn!(%error, "git cannot read the bundle");
            unreadable("it is damaged, or no file that the job that works wrote")
        })?;
        let (manifest, journal) = Self::texts(env, &commit)?;
        let manifest: Manifest = serde_json::from_str(&manifest)
            .map_err(|error| unreadable(MANIFEST_FILE.to_owned() + ": " + &error.to_string()))?;
        if manifest.version != VERSION {
            let what = format!("the bundle has form {}, this is {VERSION}", manifest.version);
            return Err(RunError::usage(PLACE, what)
                .hint("let both jobs use the same version of the Action"));
        }
        let own = Manifest::of(env, request, (journal.as_bytes(), None));
        let mut mistakes = manifest.mistakes(&own);
        if manifest.journal != own.journal {
            let what = "the journal in the bundle is not the one that the bundle names";
            mistakes.push(Diagnostic::about(PLACE, what).hint(OF_THIS_RUN));
        }
        if !mistakes.is_empty() {
            return Err(mistakes.into_iter().collect());
        }
        let outcome = outcome_in(&journal, &manifest).map_err(unreadable)?;
        let Manifest { session, work, trusted, .. } = manifest;
        Ok(Self { session, outcome, work, trusted })
    }

    /// Returns what the comment says beside the result.
    pub(in crate::run::action) fn remark(&self, own: &CommitId) -> String {
        if self.trusted == *own {
            return REMARK.to_owned();
        }
        let short = |commit: &CommitId| text::head(&commit.0, SHOWN_DIGITS).to_owned();
        format!(
            "{REMARK} The other job read the policy from commit {}, this one from {}.",
            code(&short(&self.trusted)),
            code(&short(own))
        )
    }

    fn texts(env: &ActionEnv<'_>, commit: &CommitId) -> Result<(String, String), RunError> {
        let repo = &env.workspace.repo;
        let read = |name: &str, limit_bytes: u64| {
            let path = RepoPath::parse(name).map_err(unreadable)?;
            let file = repo.file_at(commit, &path, limit_bytes).map_err(unreadable)?;
            file.map(|file| file.text).ok_or_else(|| unreadable(format!("it has no `{name}`")))
        };
        Ok((read(MANIFEST_FILE, MANIFEST_LIMIT_BYTES)?, read(JOURNAL_FILE, KEPT_LIMIT_BYTES)?))
    }
}

/// Returns what a bundle says it is about; `None` where it cannot be read. Nothing of it is checked
/// yet: it may only choose among what this job would do anyway.
pub(in crate::run::action) async fn subject_of(
    env: &ActionEnv<'_>,
    file: &std::path::Path,
) -> Option<String> {
    let commit = env.git.read_bundle(file).await.ok()?;
    let (manifest, _) = ReceivedBundle::texts(env, &commit).ok()?;
    let manifest: Manifest = serde_json::from_str(&manifest).ok()?;
    Some(manifest.subject)
}

/// Reads how a session ended.
fn outcome_in(journal: &str, manifest: &Manifest) -> Result<Outcome, String> {
    let lines = Journal::lines_in(journal)?;
    let start = Journal::start_in(journal)?;
    let ended = lines.into_iter().rev().find_map(|line| match line.event {
        Event::Ended(outcome) => Some(*outcome),
        _ => None,
    });
    let outcome = ended.ok_or("its session did not end")?;
    if start.id != manifest.session || outcome.session != manifest.session {
        return Err("its journal is of another session".to_owned());
    }
    if outcome.base != manifest.base || start.base != manifest.base {
        return Err("its journal starts from another commit".to_owned());
    }
    if manifest.work.is_none() && !outcome.changes.is_empty() {
        return Err("it names changes and holds none".to_owned());
    }
    Ok(outcome)
}

fn unreadable(why: impl std::fmt::Display) -> RunError {
    let why = one_line(&why.to_string());
    RunError::usage(PLACE, format!("the bundle cannot be read: {why}")).hint(
        "start the job that works again; upload its bundle as one file and download it unchanged",
    )
}

/// Returns words of the other job on one line, with nothing in them that hides.
fn one_line(words: &str) -> String {
    single_blanks(&visible(words))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
