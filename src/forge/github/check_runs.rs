//! Check runs of our own: found again by commit, name and our mark, then updated.
//!
//! GitHub takes 50 annotations in one request, and every request adds to those that are there. So
//! only those are sent that are not there yet, and none is sent twice.

use futures::FutureExt as _;
use serde::{Deserialize, Serialize};

use crate::ForgeError;
use crate::github::{GitHub, segment};
use crate::posts::{CheckAnnotation, CheckRun, Receipt};
use locum_base::retry::RetryWaits;
use locum_base::text::head;
use locum_policy::intent::PublicationKind;

/// Annotations that one request may carry.
/// <https://docs.github.com/en/rest/checks/runs#create-a-check-run>
const BATCH: usize = 50;

/// Most annotations of one check run.
const ANNOTATIONS_LIMIT: usize = 200;

/// The longest text of a check run.
const SUMMARY_LIMIT_BYTES: usize = 65_535;

/// What marks a check run as ours, before its name.
const MARK: &str = "locum:v1 ";

#[derive(Deserialize)]
struct CheckRuns {
    check_runs: Vec<KnownCheckRun>,
}

#[derive(Deserialize)]
struct KnownCheckRun {
    id: u64,
    external_id: Option<String>,
    html_url: Option<String>,
}

/// A check run that ended, as it is sent.
#[derive(Serialize)]
struct SentCheckRun<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    head_sha: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    external_id: String,
    status: &'static str,
    conclusion: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details_url: Option<&'a str>,
    output: SentOutput<'a>,
}

#[derive(Serialize)]
struct SentOutput<'a> {
    title: &'a str,
    summary: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    annotations: &'a [CheckAnnotation],
}

impl KnownCheckRun {
    fn receipt(self, updated: bool) -> Receipt {
        let (publication, url) = (PublicationKind::Check, self.html_url.unwrap_or_default());
        Receipt { publication, id: self.id, url, updated }
    }
}

impl GitHub {
    /// Updates our check run with this name on the commit, or makes one.
    pub(super) async fn put_check_run(&self, check: &CheckRun) -> Result<Receipt, ForgeError> {
        let annotations = check.annotations.iter().take(ANNOTATIONS_LIMIT).cloned().collect();
        if let Some(known) = self.own_check_run(check).await? {
            let path = self.path(&format!("check-runs/{}", known.id));
            let changed = self.client.send("PATCH", &path, &SentCheckRun::change(check, &[])).await;
            match changed {
                Ok(changed) => {
                    let changed: KnownCheckRun = changed;
                    let missing = self.missing(changed.id, annotations).await?;
                    self.annotate(check, changed.id, missing).await?;
                    return Ok(changed.receipt(true));
                }
                // GitHub: a check run is changed by the app that made it and by no other.
                Err(ForgeError::Forbidden { .. } | ForgeError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let mut annotations: Vec<CheckAnnotation> = annotations;
        let rest = annotations.split_off(annotations.len().min(BATCH));
        let body = SentCheckRun {
            head_sha: Some(&check.commit),
            name: Some(&check.name),
            ..SentCheckRun::change(check, &annotations)
        };
        let find = || self.own_check_run(check).boxed();
        let made: KnownCheckRun = self.client.create(&self.path("check-runs"), &body, find).await?;
        self.annotate(check, made.id, rest).await?;
        Ok(made.receipt(false))
    }

    /// Finds our latest check run with this name on the commit.
    async fn own_check_run(&self, check: &CheckRun) -> Result<Option<KnownCheckRun>, ForgeError> {
        let (commit, name) = (segment(&check.commit), segment(&check.name));
        let path = self.path(&format!(
            "commits/{commit}/check-runs?check_name={name}&filter=all&per_page=100"
        ));
        let CheckRuns { check_runs } = self.client.get(&path).await?;
        let mark = mark_of(check);
        let ours = check_runs.into_iter().filter(|run| run.external_id.as_ref() == Some(&mark));
        Ok(ours.max_by_key(|run| run.id))
    }

    /// Returns those annotations that a check run does not have.
    async fn missing(
        &self,
        id: u64,
        mut annotations: Vec<CheckAnnotation>,
    ) -> Result<Vec<CheckAnnotation>, ForgeError> {
        if annotations.is_empty() {
            return Ok(annotations);
        }
        let list = self.path(&format!("check-runs/{id}/annotations"));
        let known: Vec<CheckAnnotation> = self.client.list(&list, Some).await?;
        annotations.retain(|annotation| !known.contains(annotation));
        Ok(annotations)
    }

    /// Adds annotations, so many at a time. Where an answer was lost, it is looked up which of them
    /// are there.
    async fn annotate(
        &self,
        check: &CheckRun,
        id: u64,
        mut annotations: Vec<CheckAnnotation>,
    ) -> Result<(), ForgeError> {
        let path = self.path(&format!("check-runs/{id}"));
        let mut waits = RetryWaits::default();
        while !annotations.is_empty() {
            let batch = annotations.get(..annotations.len().min(BATCH)).unwrap_or_default();
            let body = SentCheckRun::change(check, batch);
            match self.client.send_once::<KnownCheckRun>("PATCH", &path, &body).await {
                Ok(_) => {
                    annotations.drain(..annotations.len().min(BATCH));
                }
                Err(error) => {
                    self.client.wait(&mut waits, error).await?;
                    annotations = self.missing(id, annotations).await?;
                }
            }
        }
        Ok(())
    }
}

fn mark_of(check: &CheckRun) -> String {
    format!("{MARK}{}", check.name)
}

impl<'a> SentCheckRun<'a> {
    /// Returns what changes a check run that is there.
    fn change(check: &'a CheckRun, annotations: &'a [CheckAnnotation]) -> Self {
        Self {
            head_sha: None,
            name: None,
            external_id: mark_of(check),
            status: "completed",
            conclusion: check.conclusion.as_str(),
            details_url: check.details_url.as_deref(),
            output: SentOutput {
                title: &check.title,
                summary: head(&check.summary, SUMMARY_LIMIT_BYTES),
                annotations,
            },
        }
    }
}
