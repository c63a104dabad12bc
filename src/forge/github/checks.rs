//! What failed of the checks of a commit: jobs of a workflow run with the end of their logs, or the
//! checks of an app with what they say; and failed jobs that are run again.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, LOCATION};
use serde::Deserialize;
use url::Url;

use crate::ForgeError;
use crate::checks::{FAILED_LIMIT, FailedCheck, excerpt, is_failure};
use crate::event::EventChecks;
use crate::github::GitHub;
use crate::github::client::{NAME, RestClient};
use crate::posts::Receipt;
use locum_policy::intent::PublicationKind;

/// Of a log the last so many bytes are read.
const LOG_LIMIT_BYTES: usize = 4 * 1024 * 1024;

/// A longer log is not read to its end.
const LOG_WHOLE_LIMIT_BYTES: usize = 256 * 1024 * 1024;

/// Redirects from the API to where logs are stored.
const REDIRECTS_LIMIT: usize = 3;

/// Time for one log.
const TIME_LIMIT: Duration = Duration::from_secs(60);

#[derive(Deserialize)]
struct Jobs {
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    id: u64,
    #[serde(flatten)]
    part: Part,
    html_url: Option<String>,
    #[serde(default)]
    steps: Vec<Part>,
}

/// A job, a step or a check.
#[derive(Deserialize)]
struct Part {
    name: String,
    conclusion: Option<String>,
}

impl Part {
    fn has_failed(&self) -> bool {
        self.conclusion.as_deref().is_some_and(is_failure)
    }
}

#[derive(Deserialize)]
struct CheckRuns {
    check_runs: Vec<CheckRun>,
}

#[derive(Deserialize)]
struct CheckRun {
    #[serde(flatten)]
    part: Part,
    html_url: Option<String>,
    output: Option<CheckOutput>,
}

#[derive(Deserialize)]
struct CheckOutput {
    title: Option<String>,
    summary: Option<String>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct WorkflowRuns {
    total_count: usize,
    workflow_runs: Vec<CheckEnd>,
}

#[derive(Deserialize)]
struct CheckSuites {
    total_count: usize,
    check_suites: Vec<CheckEnd>,
}

/// A workflow run or a suite of an app's checks, and how it ended.
#[derive(Deserialize)]
struct CheckEnd {
    name: Option<String>,
    app: Option<App>,
    conclusion: Option<String>,
    /// Checks of a suite: every app that is installed has one, also where it checks nothing.
    latest_check_runs_count: Option<u64>,
}

#[derive(Deserialize)]
struct App {
    slug: Option<String>,
}

impl CheckEnd {
    fn is_of(&self, checks: &EventChecks) -> bool {
        let name = match &self.app {
            Some(app) => app.slug.as_ref(),
            None => self.name.as_ref(),
        };
        name == Some(&checks.name) && self.latest_check_runs_count != Some(0)
    }
}

impl GitHub {
    /// Asks how the checks of a name ended on a commit.
    pub(super) async fn read_check_ends(
        &self,
        commit: &str,
        checks: &EventChecks,
    ) -> Result<Vec<Option<String>>, ForgeError> {
        let (path, total, ends) = if checks.is_workflow {
            let path = self.path(&format!("actions/runs?head_sha={commit}&per_page=100"));
            let WorkflowRuns { total_count, workflow_runs } = self.client.get(&path).await?;
            (path, total_count, workflow_runs)
        } else {
            let path = self.path(&format!("commits/{commit}/check-suites?per_page=100"));
            let CheckSuites { total_count, check_suites } = self.client.get(&path).await?;
            (path, total_count, check_suites)
        };
        if total > ends.len() {
            let message = format!("{total} are listed, and {} of them were read", ends.len());
            return Err(ForgeError::Failed { forge: NAME, action: format!("GET {path}"), message });
        }
        let ends = ends.into_iter().filter(|end| end.is_of(checks));
        Ok(ends.map(|end| end.conclusion).collect())
    }

    /// Reads what failed of checks that ended.
    pub(super) async fn read_failed_checks(
        &self,
        checks: &EventChecks,
    ) -> Result<Vec<FailedCheck>, ForgeError> {
        let EventChecks { id, attempt, .. } = checks;
        if !checks.is_workflow {
            let path = self.path(&format!("check-suites/{id}/check-runs?per_page=100"));
            let CheckRuns { check_runs } = self.client.get(&path).await?;
            let failed = check_runs.into_iter().filter(|check| check.part.has_failed());
            return Ok(failed.take(FAILED_LIMIT).map(of_check_run).collect());
        }
        let path = self.path(&format!("actions/runs/{id}/attempts/{attempt}/jobs?per_page=100"));
        let Jobs { jobs } = self.client.get(&path).await?;
        let mut failed = Vec::new();
        for job in jobs.into_iter().filter(|job| job.part.has_failed()).take(FAILED_LIMIT) {
            let log = self.client.log(&self.path(&format!("actions/jobs/{}/logs", job.id))).await;
            let steps = job.steps.into_iter().filter(Part::has_failed).map(|step| step.name);
            failed.push(FailedCheck {
                name: job.part.name,
                url: job.html_url.unwrap_or_default(),
                steps: steps.collect(),
                output: log.map(|log| excerpt(&log)),
            });
        }
        Ok(failed)
    }

    /// Runs the failed jobs of a workflow run again.
    pub(super) async fn rerun(&self, run: u64) -> Result<Receipt, ForgeError> {
        let path = self.path(&format!("actions/runs/{run}/rerun-failed-jobs"));
        self.client.order(&path).await?;
        let publication = PublicationKind::Check;
        Ok(Receipt { publication, id: run, url: String::new(), updated: true })
    }
}

fn of_check_run(check: CheckRun) -> FailedCheck {
    let output = check.output.map(|output| {
        let parts = [output.title, output.summary, output.text];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        excerpt(&parts.join("\n\n"))
    });
    FailedCheck {
        name: check.part.name,
        url: check.html_url.unwrap_or_default(),
        steps: Vec::new(),
        output: output
            .filter(|output| !output.trim().is_empty())
            .ok_or_else(|| "the check says nothing".to_owned()),
    }
}

impl RestClient {
    /// Reads the end of a log. The API redirects to where it is stored, which gets no token.
    async fn log(&self, path: &str) -> Result<String, String> {
        let read = tokio::time::timeout(TIME_LIMIT, self.read_log(path)).await;
        let late = || format!("{NAME} took more than {} seconds for the log", TIME_LIMIT.as_secs());
        read.unwrap_or_else(|_| Err(late()))
    }

    async fn read_log(&self, path: &str) -> Result<String, String> {
        let client = self
            .plain_client()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| error.to_string())?;
        let api = Url::parse(self.base_url()).map_err(|error| error.to_string())?;
        let mut url =
            Url::parse(&format!("{}{path}", self.base_url())).map_err(|error| error.to_string())?;
        for _ in 0..=REDIRECTS_LIMIT {
            let is_api = url.origin() == api.origin();
            if !is_api && url.scheme() != "https" && api.scheme() == "https" {
                return Err("the log is stored at an address without TLS".to_owned());
            }
            let mut request = client.get(url.clone());
            if is_api && let Some(token) = self.authorization()? {
                request = request.header(AUTHORIZATION, token);
            }
            let answer = request.send().await.map_err(|error| error.without_url().to_string())?;
            if answer.status().is_redirection() {
                let to = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok());
                let to = to.ok_or("the log redirects to nowhere")?;
                url = url.join(to).map_err(|error| error.to_string())?;
                continue;
            }
            if !answer.status().is_success() {
                let status = answer.status().as_u16();
                return Err(format!(
                    "{NAME} answers {status} for the log; it needs `actions: read`"
                ));
            }
            return end_of(answer).await;
        }
        Err(format!("the log redirects more than {REDIRECTS_LIMIT} times"))
    }
}

/// Reads an answer and keeps its end.
async fn end_of(mut answer: reqwest::Response) -> Result<String, String> {
    let mut kept: Vec<u8> = Vec::new();
    let mut all = 0;
    while let Some(chunk) = answer.chunk().await.map_err(|error| error.without_url().to_string())? {
        all += chunk.len();
        if all > LOG_WHOLE_LIMIT_BYTES {
            return Err(format!("the log has more than {LOG_WHOLE_LIMIT_BYTES} bytes"));
        }
        kept.extend_from_slice(&chunk);
        if kept.len() > 2 * LOG_LIMIT_BYTES {
            kept.drain(..kept.len() - LOG_LIMIT_BYTES);
        }
    }
    Ok(String::from_utf8_lossy(&kept).into_owned())
}
