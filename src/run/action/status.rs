//! What ran on a thread, by the comments that runs left there, and what waits for a decision.
//!
//! In: our own comments. Out: Markdown for an answer. It reads no other thread and changes nothing.

use jiff::{SignedDuration, Timestamp};

use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::{ActionEnv, carry};
use crate::run::error::RunError;
use locum_agent::report::markdown::{code, inline};
use locum_forge::OwnComment;

/// How far back runs are listed.
const LISTED: SignedDuration = SignedDuration::from_hours(24);
/// Runs that are listed; the latest are.
const RUNS_LIMIT: usize = 20;
/// What a run's comment says while it works.
const WORKING: &str = "working";

/// A run, by the comment it left.
struct ListedRun {
    /// Its state, in the comment's words.
    state: String,
    /// Page of its workflow run.
    url: Option<String>,
}

impl ListedRun {
    fn of(env: &ActionEnv<'_>, comment: &OwnComment) -> Option<Self> {
        let state = comment.body.lines().find_map(|line| {
            Some(line.strip_prefix("**locum: ")?.split_once("**")?.0.to_owned())
        })?;
        let url = value_of(comment, "run").map(|run| env.job.url_of_run(run));
        Some(Self { state, url })
    }

    fn line(&self) -> String {
        let log = self.url.as_ref().map_or_else(String::new, |url| format!(" · [log]({url})"));
        format!("- {}{log}", inline(&self.state))
    }
}

/// Returns a value of the hidden first line of one of our comments.
pub(super) fn value_of<'c>(comment: &'c OwnComment, key: &str) -> Option<&'c str> {
    let words = comment.body.lines().next()?.split(' ');
    words.filter_map(|word| word.split_once('=')).find(|(name, _)| *name == key).map(|(_, it)| it)
}

/// Returns what ran here within the last day, how each ended, and what waits.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn of_thread(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<String, RunError> {
    let since = env.clock.now().checked_sub(LISTED).map_err(RunError::internal)?;
    let runs = runs(env, admitted, Some(since)).await?;
    let hidden = runs.len().saturating_sub(RUNS_LIMIT);
    let shown: Vec<String> = runs.iter().skip(hidden).map(ListedRun::line).collect();
    let head = match (runs.len(), hidden) {
        (0, _) => "No run was started here within the last 24 hours.".to_owned(),
        (1, _) => "One run was started here within the last 24 hours:".to_owned(),
        (all, 0) => format!("{all} runs were started here within the last 24 hours:"),
        (all, _) => format!("{all} runs were started here within the last 24 hours, lately:"),
    };
    let waiting = waiting(env, admitted).await?;
    let parts = [head, shown.join("\n"), waiting];
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
}

/// Returns what stops: a run that is at work reads the command on the thread itself.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn stopping(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
) -> Result<String, RunError> {
    let mut working = runs(env, admitted, None).await?;
    working.retain(|run| run.state == WORKING);
    if working.is_empty() {
        let waiting = waiting(env, admitted).await?;
        let head = "Nothing is at work here.".to_owned();
        let parts = [head, waiting];
        return Ok(parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n\n"));
    }
    let lines: Vec<String> = working.iter().map(ListedRun::line).collect();
    Ok(format!(
        "What is at work here looks at this thread every half minute, and stops:\n\n{}\n\nIts \
         comment says `cancelled` then. If it does not, its workflow run is gone.",
        lines.join("\n")
    ))
}

async fn runs(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    since: Option<Timestamp>,
) -> Result<Vec<ListedRun>, RunError> {
    let Some(subject) = &admitted.event.trigger.subject else { return Ok(Vec::new()) };
    let comments = env.forge.own_comments(thread_of(subject), PROGRESS, since).await;
    let comments = comments.map_err(RunError::internal)?;
    Ok(comments.iter().filter_map(|comment| ListedRun::of(env, comment)).collect())
}

/// Returns what waits for a decision here, by name; empty where nothing does.
async fn waiting(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Result<String, RunError> {
    let waiting = carry::waiting(env, &admitted.event, None).await?;
    let names: Vec<String> = waiting.iter().flat_map(|one| &one.ids).map(|id| code(id)).collect();
    Ok(if names.is_empty() {
        String::new()
    } else {
        format!("Waiting for a decision: {}.", names.join(", "))
    })
}
