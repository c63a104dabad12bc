//! A session that waits for a decision, carried from one workflow run to the next: its journal as a
//! commit on a private ref of the repository. Parents of the commit are the last checkpoint, the
//! run's base and the trusted commit.
//!
//! What counts is not what the ref holds but what our own comment names: the commit stands in its
//! second, hidden line. Who can push cannot swap the session, who can edit comments cannot make one
//! up. Deciding moves the ref on first, from exactly the commit that was looked at, so that of two
//! decisions one counts. Anyone who reads the repository can read the ref; a journal is redacted as
//! it is written.
//!
//! The line stays in the comment until the run that a decision started has ended, so that a job
//! that is started again finds the session, and so does another decision where that run was killed.

use serde::{Deserialize, Serialize};

use crate::run::action::admission::{PROGRESS, thread_of};
use crate::run::action::declined::Declined;
use crate::run::action::{ActionEnv, ForgeEvent, SessionRun, claim, refs};
use crate::run::error::RunError;
use crate::run::marker::Marker;
use crate::run::prepare::PreparedRun;
use crate::run::publish::destination::PublishDestination;
use crate::run::run_request::RunRequest;
use locum_agent::report::comment::{WORKING, hidden_lines_of};
use locum_agent::report::markdown;
use locum_agent::session::hold;
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::Outcome;
use locum_forge::OwnComment;
use locum_forge::posts::OwnReaction;
use locum_policy::intent::{Act, Facts, Intent, PublicationKind};
use locum_policy::{Permit, Policy};
use locum_workspace::carried::SESSION_REFS;
use locum_workspace::repo::CommitId;

/// A session with a larger journal is not carried.
pub(super) const CARRIED_LIMIT_BYTES: u64 = 20 * 1024 * 1024;

/// How the line of a session begins that waits for a decision.
pub(super) const WAITS: &str = "<!-- locum:v1 kind=session ";

/// Sessions that one workflow run takes away at most.
const SWEPT_AT_ONCE: usize = 10;

/// What the next workflow run needs besides the journal; kept in the journal's first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CarriedState {
    /// The request as it was first prepared.
    #[serde(rename = "order")]
    pub(super) request: RunRequest,
    /// Where results go.
    #[serde(flatten)]
    pub(super) destination: PublishDestination,
    /// The repository, `owner/name`; lists of sessions show it. Empty in sessions of older
    /// versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) repository: String,
    /// Reactions that say that it was seen, until it is over.
    #[serde(default)]
    pub(super) seen: Vec<OwnReaction>,
    /// Addresses of the images it began with: a journal describes them and is carried alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) images: Vec<String>,
}

/// Where a session waits, as our own comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingSession {
    /// Name of the waiting session.
    pub(super) session: SessionId,
    /// The commit that holds it.
    pub(super) commit: CommitId,
    /// What waits: the names of holds and questions.
    pub(super) ids: Vec<String>,
    /// Whether a run that a decision started is at work on it, as the comment says.
    pub(super) is_at_work: bool,
}

impl WaitingSession {
    /// Returns the hidden line.
    pub(super) fn line(&self) -> String {
        markdown::marker(
            "session",
            &[
                ("id", self.session.as_str()),
                ("commit", &self.commit.0),
                ("waits", &self.ids.join(".")),
            ],
        )
    }

    /// Reads the second line of one of our comments; `None` when nothing waits there.
    pub(super) fn parse(comment: &OwnComment) -> Option<Self> {
        let line = comment.body.lines().nth(1)?.trim_end();
        let marker = Marker::parse(line)?;
        let waits = Self {
            session: SessionId::parse(marker.get("id")?)?,
            commit: CommitId(marker.get("commit")?.to_owned()),
            ids: marker.get("waits")?.split('.').map(str::to_owned).collect(),
            is_at_work: says_working(&comment.body),
        };
        // Only a line that we would write ourselves, letter for letter.
        (waits.line() == line).then_some(waits)
    }
}

/// Whose decision a session goes on by: the comment, and the workflow run that it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TakenBy {
    /// The comment that decides.
    pub(super) comment: u64,
    /// Number of the workflow run.
    pub(super) run: String,
}

impl TakenBy {
    /// Returns what this workflow run takes a session by.
    pub(super) fn of(env: &ActionEnv<'_>, event: &ForgeEvent) -> Self {
        let comment = event.trigger.comment.as_ref().map_or(0, |comment| comment.id);
        Self { comment, run: env.job.run_id.clone() }
    }

    /// Returns the hidden line that names both in the comment of the run.
    pub(super) fn line(&self) -> String {
        markdown::marker("resumed", &[("comment", &self.comment.to_string()), ("run", &self.run)])
    }

    /// Reads the hidden line off a comment of ours; `None` where nobody decided.
    pub(super) fn parse(body: &str) -> Option<Self> {
        hidden_lines_of(body).find_map(|line| {
            let marker = Marker::parse(line)?.of_kind("resumed")?;
            let comment = marker.get("comment")?.parse().ok()?;
            Some(Self { comment, run: marker.get("run")?.to_owned() })
        })
    }

    /// What the commit says that the ref is moved on to. Attempts of one workflow run follow each
    /// other; two runs may go on at once.
    fn words(&self) -> String {
        format!("taken by comment {} in workflow run {}\n", self.comment, self.run)
    }

    fn of_words(words: &str) -> Option<Self> {
        let (comment, run) = words
            .strip_suffix('\n')?
            .strip_prefix("taken by comment ")?
            .split_once(" in workflow run ")?;
        let by = Self { comment: comment.parse().ok()?, run: run.to_owned() };
        (by.words() == words).then_some(by)
    }

    /// Says why no other decision counts.
    pub(super) fn sentence(&self) -> String {
        format!("that was decided already ({})", self.words().trim_end())
    }
}

/// Returns whether a comment of ours says that its run works.
pub(super) fn says_working(body: &str) -> bool {
    body.lines().nth(hidden_lines_of(body).count()).is_some_and(|line| line.starts_with(WORKING))
}

/// Finds what waits on the thread of an event under a name, or all that waits there.
///
/// # Errors
/// When the forge does not answer.
pub(super) async fn waiting(
    env: &ActionEnv<'_>,
    event: &ForgeEvent,
    id: Option<&str>,
) -> Result<Vec<WaitingSession>, RunError> {
    let Some(subject) = &event.trigger.subject else { return Ok(Vec::new()) };
    let ours = env
        .forge
        .own_comments(thread_of(subject), PROGRESS, None)
        .await
        .map_err(RunError::internal)?;
    Ok(ours
        .iter()
        .filter_map(WaitingSession::parse)
        .filter(|waits| id.is_none_or(|id| waits.ids.iter().any(|known| known == id)))
        .collect())
}

/// Puts a session that waits for a decision onto its ref. Returns the hidden line for the run's
/// comment, `None` when it waits for nothing.
///
/// # Errors
/// Why it cannot be carried, as part of a sentence.
pub(super) async fn keep(
    env: &ActionEnv<'_>,
    session: &SessionRun,
    outcome: &Outcome,
    thread: Result<u64, String>,
) -> Result<Option<String>, String> {
    let ids: Vec<String> = outcome.pending().map(|pending| pending.id().to_owned()).collect();
    if ids.is_empty() {
        return Ok(None);
    }
    let thread = thread?;
    let journal =
        Journal::bytes(&session.folder, CARRIED_LIMIT_BYTES).map_err(|error| error.to_string())?;
    let (run, plan) = (&session.run, &session.run.plan);
    let checkpoint = outcome.checkpoint.as_ref().unwrap_or(&outcome.base);
    let parents: Vec<&CommitId> = [checkpoint, &outcome.base, &plan.trusted]
        .into_iter()
        .chain(&outcome.needed_commits)
        .collect();
    let repo = &env.workspace.repo;
    let commit = repo
        .carry(&[(JOURNAL_FILE, &journal)], &parents, &waits_words(&ids, thread))
        .map_err(|error| error.to_string())?;
    let permit = permit(&run.policy, &plan.facts)?;
    let moves = (session.start.claim(), Some(&commit));
    let moved = env.git.push_session(&permit, env.remote, plan.session.as_str(), moves).await;
    moved.map_err(|error| format!("the session cannot be kept in the repository: {error}"))?;
    let session = plan.session.clone();
    Ok(Some(WaitingSession { session, commit, ids, is_at_work: false }.line()))
}

/// What the commit of a session says: it waits on this thread and on no other.
pub(super) fn waits_words(ids: &[String], thread: u64) -> String {
    format!("waits {} on #{thread}\n", ids.join(","))
}

/// Deletes what was kept for longer than anything may be: sessions without a decision or a later
/// comment, and claims whose run was killed.
pub(super) async fn sweep(env: &ActionEnv<'_>, policy: &Policy, facts: &Facts) {
    let Ok(kept) = env.git.own_refs(env.remote).await else { return };
    claim::sweep(env, (policy, facts), &kept).await;
    let now_s = env.clock.now().as_second();
    let is_over = |since_s: i64| now_s - since_s > hold::WAIT_LIMIT.as_secs();
    let sessions = kept
        .into_iter()
        .filter_map(|(name, tip)| Some((name.strip_prefix(SESSION_REFS)?.to_owned(), tip)));
    let old = sessions.filter(|(session, _)| {
        SessionId::parse(session).and_then(|id| id.made_at_s()).is_some_and(is_over)
    });
    for (session, tip) in old.take(SWEPT_AT_ONCE) {
        let name = format!("{SESSION_REFS}{session}");
        let fetched =
            env.git.fetch(env.remote, &format!("+{name}:{name}"), refs::depth_of(env, 1)).await;
        // A session may be older than what it waits for now.
        if fetched.is_err() || !env.workspace.repo.time_of(&tip).is_ok_and(is_over) {
            continue;
        }
        let Ok(permit) = permit(policy, facts) else { return };
        match env.git.push_session(&permit, env.remote, &session, (Some(&tip), None)).await {
            Ok(()) => tracing::info!(session, "removed an expired session from its ref"),
            Err(error) => {
                tracing::warn!(%error, session, "could not remove an expired session from its ref")
            }
        }
    }
}

/// Takes a session off its ref, which held `from`. One that stays does no harm.
///
/// # Errors
/// Why it stays, as part of a sentence.
pub(super) async fn drop_off(
    env: &ActionEnv<'_>,
    run: &PreparedRun,
    (session, from): (&SessionId, &CommitId),
) -> Result<(), String> {
    let permit = permit(&run.policy, &run.plan.facts)?;
    let moves = (Some(from), None);
    let moved = env.git.push_session(&permit, env.remote, session.as_str(), moves).await;
    moved.map_err(|error| error.to_string())
}

/// Fetches the session our comment names, by its name and commit. Returns the commit of the ref,
/// and who took the session where that is not the session's own.
///
/// # Errors
/// Why the session cannot be taken.
pub(super) async fn fetch(
    env: &ActionEnv<'_>,
    (session, commit): (&SessionId, &CommitId),
) -> Result<(CommitId, Option<TakenBy>), Declined> {
    let name = format!("{SESSION_REFS}{session}");
    let depth = refs::depth_of(env, 3);
    let fetched = env.git.fetch(env.remote, &format!("+{name}:{name}"), depth).await;
    if let Err(error) = fetched {
        tracing::info!(%error, %session, "a kept session cannot be fetched");
        let refs = env.git.own_refs(env.remote).await;
        let is_gone = refs.is_ok_and(|refs| refs.iter().all(|(known, _)| *known != name));
        return Err(Declined::refused(if is_gone {
            "the session is no longer kept in the repository"
        } else {
            "the session could not be fetched from the repository"
        }));
    }
    let repo = &env.workspace.repo;
    let tip = repo.commit_of(&name).map_err(RunError::internal)?;
    if tip == *commit {
        return Ok((tip, None));
    }
    let (message, parent) = repo.message_of(&tip).map_err(RunError::internal)?;
    match TakenBy::of_words(&message).filter(|_| parent.as_ref() == Some(commit)) {
        Some(by) => Ok((tip, Some(by))),
        None => Err(Declined::refused(
            "the session in the repository is not the one that the run's comment names",
        )),
    }
}

/// Moves the ref on, so that no other decision counts: from what was fetched, which somebody may
/// have taken, to what says that this workflow run has it.
///
/// # Errors
/// Why it cannot be claimed.
pub(super) async fn claim(
    env: &ActionEnv<'_>,
    run: &PreparedRun,
    waits: &WaitingSession,
    (tip, taken): &(CommitId, Option<TakenBy>),
    own: &TakenBy,
) -> Result<CommitId, String> {
    if taken.as_ref() == Some(own) {
        // A job that was started again.
        return Ok(tip.clone());
    }
    let claim = env
        .workspace
        .repo
        .remark(&waits.commit, &own.words())
        .map_err(|error| error.to_string())?;
    let permit = permit(&run.policy, &run.plan.facts)?;
    let moved = env
        .git
        .push_session(&permit, env.remote, waits.session.as_str(), (Some(tip), Some(&claim)))
        .await;
    moved.map_err(|error| {
        format!("somebody else has just decided, or the session cannot be moved on: {error}")
    })?;
    Ok(claim)
}

/// The act of keeping a session in the repository: it belongs to the comment that asks.
pub(super) struct KeepSession;

impl Act for KeepSession {
    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Publish(PublicationKind::Comment)]
    }
}

pub(super) fn permit(policy: &Policy, facts: &Facts) -> Result<Permit<KeepSession>, String> {
    policy.admit(KeepSession, facts).map_err(|refusal| refusal.to_string())
}

#[cfg(test)]
mod tests {
    use super::{TakenBy, WaitingSession, says_working};
    use locum_agent::session::id::SessionId;
    use locum_forge::OwnComment;
    use locum_workspace::repo::CommitId;
    use pretty_assertions::assert_eq;

    #[test]
    fn only_the_line_that_we_write_says_where_a_session_waits() {
        let waits = WaitingSession {
            session: SessionId::parse("0199aabb").unwrap(),
            commit: CommitId("0123456789abcdef0123456789abcdef01234567".to_owned()),
            ids: vec!["0123456789abcdef".to_owned(), "fedcba9876543210".to_owned()],
            is_at_work: false,
        };
        let read = |body: String| WaitingSession::parse(&OwnComment { id: 1, body });
        let line = waits.line();
        assert_eq!(
            read(format!("<!-- locum:v1 kind=progress run=1 -->\n{line}\ntext")),
            Some(waits.clone())
        );
        for body in [
            line.clone(),
            format!("<!-- first -->\n> {line}"),
            format!("<!-- first -->\n\n{line}"),
            format!("<!-- first -->\n{}", line.replace("waits=", "waits=x waits=")),
            format!("<!-- first -->\n{}", line.replace("id=0199aabb", "id=../../heads/main")),
        ] {
            assert_eq!(read(body.clone()), None, "{body}");
        }
    }

    #[test]
    fn a_comment_names_whose_decision_its_run_goes_on_by_and_says_whether_it_works() {
        let by = TakenBy { comment: 56, run: "4343".to_owned() };
        let first = "<!-- locum:v1 kind=progress comment=55 run=4242 -->";
        let works = format!("{first}\n{}\n**locum: working** · mode code", by.line());
        assert_eq!((TakenBy::parse(&works), says_working(&works)), (Some(by.clone()), true));
        assert_eq!(TakenBy::of_words(&by.words()), Some(by.clone()));
        let quoted = format!("{first}\n**locum: done**\n\n{}\n**locum: working**", by.line());
        assert_eq!((TakenBy::parse(&quoted), says_working(&quoted)), (None, false));
        for words in ["waits 0123 on #7\n", "taken by comment 5x in workflow run 1\n"] {
            assert_eq!(TakenBy::of_words(words), None, "{words}");
        }
    }
}
