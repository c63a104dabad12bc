//! What ran on a thread, by the comments that runs left there, and what waits for a decision.
//!
//! In: our own comments. Out: Markdown for an answer. It reads no other thread and changes nothing.

use jiff::{SignedDuration, Timestamp};

use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::carry::TakenBy;
use crate::run::action::{ActionEnv, carry};
use crate::run::error::RunError;
use crate::run::marker::Marker;
use locum_agent::report::figures;
use locum_agent::report::markdown::{code, inline};
use locum_forge::{OwnComment, ThreadComment, command};

/// How far back runs are listed.
const LISTED: SignedDuration = SignedDuration::from_hours(24);
/// Runs that are listed; the latest are.
const RUNS_LIMIT: usize = 20;
/// Characters of a request that are shown.
const WORDS_LIMIT_CHARS: usize = 80;
/// What a run's comment says while it works.
const WORKING: &str = "working";

/// A run, by the comment it left.
struct ListedRun {
    /// Its state, in the comment's words.
    state: String,
    /// Page of its workflow run.
    url: Option<String>,
    /// When its comment was written.
    began: Option<Timestamp>,
    /// What asked for it.
    asked: String,
}

impl ListedRun {
    /// Reads a comment of ours; `thread` are those of the thread that could be read.
    fn of(
        env: &ActionEnv<'_>,
        comment: &OwnComment,
        (prefix, thread): (&str, &[ThreadComment]),
    ) -> Option<Self> {
        let state = comment.body.lines().find_map(|line| {
            Some(line.strip_prefix("**locum: ")?.split_once("**")?.0.to_owned())
        })?;
        let url = run_of(comment).map(|run| env.job.url_of_run(&run));
        let written = |id| thread.iter().find(|written| written.id == id);
        let began = written(comment.id).and_then(|written| written.written_at);
        let asked = value_of(comment, "comment").unwrap_or_default();
        let asked = match asked.parse().ok() {
            Some(id) => {
                written(id).map_or_else(String::new, |asks| first_words(&asks.body, prefix))
            }
            None => event_words(asked).to_owned(),
        };
        Some(Self { state, url, began, asked })
    }

    fn line(&self) -> String {
        let Self { state, url, began, asked } = self;
        let began = began.map(|at| format!("{} UTC", at.strftime("%F %H:%M")));
        let log = url.as_ref().map(|url| format!("[log]({url})"));
        let parts = [began, Some(inline(state)), Some(asked.clone()), log];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        format!("- {}", parts.collect::<Vec<_>>().join(" · "))
    }
}

/// Returns the first words of a request, as code: the line of its command, else the first one that
/// is no quote.
fn first_words(body: &str, prefix: &str) -> String {
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = command::line_of(body, prefix)
        .or_else(|| lines.find(|line| !line.starts_with('>')).map(str::to_owned));
    code(&figures::clip(&said.unwrap_or_default(), WORDS_LIMIT_CHARS))
}

/// Says what other than a comment asked, by the word in the hidden line.
fn event_words(word: &str) -> &'static str {
    match word {
        "label" => "the label",
        "assigned" => "the assignment",
        "opened" | "edited" => "the text of the issue",
        "pull-request" => "the pull request",
        "checks" => "failed checks",
        _ => "",
    }
}

/// Returns a value of the hidden first line of one of our comments.
pub(super) fn value_of<'c>(comment: &'c OwnComment, key: &str) -> Option<&'c str> {
    Marker::parse(comment.body.lines().next()?)?.get(key)
}

/// Returns the workflow run that is at work by a comment of ours, or was last: the one that a
/// decision started, else the one that began.
pub(super) fn run_of(comment: &OwnComment) -> Option<String> {
    let began = || value_of(comment, "run").map(str::to_owned);
    TakenBy::parse(&comment.body).map(|by| by.run).or_else(began).filter(|run| !run.is_empty())
}

/// Returns what ran here within the last day, how each ended, and what waits.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn of_thread(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    prefix: &str,
) -> Result<String, RunError> {
    let since = env.clock.now().checked_sub(LISTED).map_err(RunError::internal)?;
    let runs = runs(env, admitted, (prefix, Some(since))).await?;
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
    prefix: &str,
) -> Result<String, RunError> {
    let mut working = runs(env, admitted, (prefix, None)).await?;
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
    (prefix, since): (&str, Option<Timestamp>),
) -> Result<Vec<ListedRun>, RunError> {
    let Some(subject) = &admitted.event.trigger.subject else { return Ok(Vec::new()) };
    let place = thread_of(subject);
    let comments = env.forge.own_comments(place, PROGRESS, since).await;
    let comments = comments.map_err(RunError::internal)?;
    // Without it, the list is as true and says less.
    let thread = env.forge.thread_comments(place, since).await.unwrap_or_default();
    let run = |comment: &OwnComment| ListedRun::of(env, comment, (prefix, &thread));
    Ok(comments.iter().filter_map(run).collect())
}

/// Returns what waits for a decision here, by name; empty where nothing does.
async fn waiting(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> Result<String, RunError> {
    let waiting = carry::waiting(env, &admitted.event, None).await?;
    let waiting = waiting.iter().filter(|one| !one.is_at_work);
    let names: Vec<String> = waiting.flat_map(|one| &one.ids).map(|id| code(id)).collect();
    Ok(if names.is_empty() {
        String::new()
    } else {
        format!("Waiting for a decision: {}.", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::{first_words, run_of};
    use locum_forge::OwnComment;
    use pretty_assertions::assert_eq;

    #[test]
    fn the_workflow_run_that_a_decision_started_is_the_one_at_work() {
        let run = |body: &str| run_of(&OwnComment { id: 1, body: body.to_owned() });
        let began = "<!-- locum:v1 kind=progress comment=55 run=4242 -->";
        let resumed = "<!-- locum:v1 kind=resumed comment=56 run=4343 -->";
        let session = "<!-- locum:v1 kind=session id=1 commit=2 waits=3 -->";
        let works = "**locum: working**";
        assert_eq!(run(&format!("{began}\n{works}")).as_deref(), Some("4242"));
        for body in [
            format!("{began}\n{session}\n{resumed}\n{works}"),
            format!("{began}\n{resumed}\n{works}"),
        ] {
            assert_eq!(run(&body).as_deref(), Some("4343"), "{body}");
        }
        assert_eq!(run(&format!("{began}\n{works}\n{resumed}")).as_deref(), Some("4242"));
        assert_eq!(run("<!-- locum:v1 kind=progress comment=55 run= -->"), None);
    }

    #[test]
    fn a_request_is_shown_by_the_line_of_its_command() {
        for (body, expected) in [
            ("/locum code fix it\nsoon", "`/locum code fix it`"),
            ("Thanks!\n\n/locum fix it", "`/locum fix it`"),
            ("> Which colour?\n\nHm.\n\n/locum blue", "`/locum blue`"),
            ("> Which colour?\n\nblue", "`blue`"),
            ("```\n/locum a\n```\n/locum b", "`/locum b`"),
        ] {
            assert_eq!(first_words(body, "/locum"), expected, "{body}");
        }
    }
}
