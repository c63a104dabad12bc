//! What runs left behind on threads: comments that say "working" for ever, and requests that nobody
//! answered.
//!
//! In: comments, of one thread or lately of the whole repository. Out: edits and answers. A run is
//! taken for dead only where its claim is ours now or is not renewed, and the forge does not say
//! that its workflow run is at work; without a claim and such an answer, where nothing is heard of
//! it for longer than a job may take. A request counts as unanswered where its author may ask, and
//! neither a reaction nor a comment of ours names it, other than a 👀 whose run has no claim any
//! more.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::run::action::admission::{self, PROGRESS};
use crate::run::action::carry::{TakenBy, WaitingSession};
use crate::run::action::claim::listed::ClaimList;
use crate::run::action::kept::KeptSession;
use crate::run::action::{ActionEnd, ActionEnv, carry, refs, status, thread};
use crate::run::error::RunError;
use crate::run::publish::SEEN;
use crate::run::publish::own_branch::PullRequestMarker;
use crate::run::source::FileSource;
use crate::run::trusted::{POLICY_FILE, TrustedConfig};
use locum_agent::report::comment::{AbandonedRun, abandoned, hidden_lines_of};
use locum_agent::report::figures;
use locum_agent::report::markdown::{code, fenced, marker};
use locum_agent::session::word::OutcomeReaction;
use locum_base::secret::Redactor;
use locum_base::text;
use locum_forge::command;
use locum_forge::event::Trigger;
use locum_forge::posts::{OwnReaction, Posting, ReactionTarget};
use locum_forge::pull_requests::PullRequestFilter;
use locum_forge::sanitise::{self, TextRules};
use locum_forge::{OwnComment, PlacedComment, Thread, ThreadComment};
use locum_policy::Policy;
use locum_policy::intent::Facts;

/// How far back is looked.
const SINCE: SignedDuration = SignedDuration::from_hours(24);
/// How old a request is before it counts as unanswered: its run may be about to start.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
/// The same for one that Locum has seen: its run may have begun late, and its claim may be renewed
/// for the last time.
const SEEN_PATIENCE: SignedDuration = SignedDuration::from_mins(20);
/// How old a run's comment is before it is given up where nothing else is known: the longest that a
/// job may take on a hosted runner. <https://docs.github.com/en/actions/reference/limits>
const LONGEST_JOB: SignedDuration = SignedDuration::from_hours(6);
/// Comments that one sweep closes at most.
const CLOSED_AT_ONCE: usize = 10;
/// Requests that one sweep answers at most.
const ANSWERED_AT_ONCE: usize = 5;
/// Requests whose author's permission one sweep asks for at most.
const ASKED_AT_ONCE: usize = 10;
/// Bytes of a request that are repeated.
const WORDS_LIMIT_BYTES: usize = 1_000;

/// What is swept, and under which policy.
pub(super) struct SweepScope<'a> {
    /// The policy that lets Locum comment, and says who may ask.
    pub(super) policy: &'a Policy,
    /// What its decision depends on.
    pub(super) facts: &'a Facts,
    /// Hidden line of the run's own comment; empty without one.
    pub(super) own: &'a str,
    /// The comment that the run was started by.
    pub(super) asks: Option<u64>,
    /// Whether only members see the repository.
    pub(super) is_private: bool,
}

/// How it is known that a run is over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Whoever sweeps has the claim on the thread.
    HasClaim,
    /// It has to be asked for.
    Asked,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Swept {
    closed: usize,
    answered: usize,
}

/// Sweeps the thread of a run, before it works there.
pub(super) async fn thread(
    env: &ActionEnv<'_>,
    scope: &SweepScope<'_>,
    (place, has_claim): (Thread, bool),
) {
    let comments = match env.forge.thread_comments(place, None).await {
        Ok(comments) => comments,
        Err(error) => {
            tracing::warn!(%error, "what earlier runs left on the thread is not looked for");
            return;
        }
    };
    let number = place.number;
    let placed: Vec<PlacedComment> =
        comments.into_iter().map(|comment| PlacedComment { number, comment }).collect();
    let evidence = if has_claim { Evidence::HasClaim } else { Evidence::Asked };
    sweep(env, scope, &placed, evidence).await;
}

/// Sweeps the whole repository: sessions and claims that are over, comments and requests of the
/// last day.
///
/// # Errors
/// When the default branch has no usable policy, or the forge does not answer.
pub(super) async fn repository(env: &ActionEnv<'_>) -> Result<ActionEnd, RunError> {
    let payload: Value = serde_json::from_str(env.payload).unwrap_or_default();
    let default_branch = payload.pointer("/repository/default_branch").and_then(Value::as_str);
    let trigger = Trigger {
        default_branch: default_branch.unwrap_or_default().to_owned(),
        ..Trigger::default()
    };
    let branch = admission::default_branch(env, &trigger);
    let trusted = refs::default_tip(env, &branch).await?;
    let source = FileSource::Commit(&env.workspace.repo, trusted.clone());
    let config =
        TrustedConfig::load_for_event(source, env.environment, env.inputs)?.ok_or_else(|| {
            RunError::usage(POLICY_FILE, format!("there is no policy in commit {trusted}"))
        })?;
    let (policy, facts) = (&*config.policy, Facts::default());
    carry::sweep(env, policy, &facts).await;
    let since = env.clock.now().checked_sub(SINCE).map_err(RunError::internal)?;
    let comments = env.forge.recent_comments(since).await.map_err(RunError::internal)?;
    let is_private = payload.pointer("/repository/private").and_then(Value::as_bool);
    let is_private = is_private.unwrap_or_default();
    let scope = SweepScope { policy, facts: &facts, own: "", asks: None, is_private };
    let Swept { closed, answered } = sweep(env, &scope, &comments, Evidence::Asked).await;
    let what = format!(
        "swept: {} of ended runs closed, {} that nothing had answered got a reply",
        figures::count(closed, "comment"),
        figures::count(answered, "request")
    );
    Ok(ActionEnd::Answered { what, refused: false })
}

async fn sweep(
    env: &ActionEnv<'_>,
    scope: &SweepScope<'_>,
    comments: &[PlacedComment],
    evidence: Evidence,
) -> Swept {
    let mut swept = Swept::default();
    let claims = ClaimList::new(env.kept_at());
    let working = comments.iter().filter(|placed| works(placed, scope.own));
    for placed in working.take(CLOSED_AT_ONCE) {
        let why = match evidence {
            Evidence::HasClaim => {
                Some("The run or its machine was stopped before it could say so.".to_owned())
            }
            Evidence::Asked => why_over(env, &claims, &placed.comment).await,
        };
        if let Some(why) = why
            && close(env, scope, placed, &why).await
        {
            swept.closed += 1;
        }
    }
    for (placed, is_seen) in unanswered(env, scope, &claims, comments).await {
        if answer(env, scope, (placed, is_seen)).await {
            swept.answered += 1;
        }
    }
    swept
}

/// Returns whether a comment is of a run of ours, another than this, that says it works.
fn works(placed: &PlacedComment, own: &str) -> bool {
    let comment = &placed.comment;
    let first = comment.body.lines().next().unwrap_or_default();
    comment.is_own
        && first.starts_with(PROGRESS)
        && first != own
        && carry::says_working(&comment.body)
}

/// Returns how it is known that the run of a comment is over; `None` where it may be at work.
async fn why_over(
    env: &ActionEnv<'_>,
    claims: &ClaimList<'_>,
    comment: &ThreadComment,
) -> Option<String> {
    let body = OwnComment { id: comment.id, body: comment.body.clone() };
    let run = status::run_of(&body).unwrap_or_default();
    if run == env.job.run_id {
        return None;
    }
    let now = env.clock.now();
    let claim = claims.end_of_comment(comment.body.lines().next().unwrap_or_default()).await;
    // While it is renewed, the run is at work, whatever else is said.
    if claim.as_ref().is_ok_and(|ends| ends.is_some_and(|ends| ends > now)) {
        return None;
    }
    if !run.is_empty()
        && let Ok(end) = env.forge.workflow_run_end(&run).await
    {
        let said = |end: String| {
            format!("Its workflow run ended as {} before it could say so.", code(&end))
        };
        return end.map(said);
    }
    match claim {
        Ok(Some(_)) => Some("Nobody renews its claim on this work any more.".to_owned()),
        Ok(None) => is_older(comment, LONGEST_JOB, now)
            .then(|| "Nothing has been heard of it for six hours, and it has no claim.".to_owned()),
        Err(_) => None,
    }
}

fn is_older(comment: &ThreadComment, than: SignedDuration, now: Timestamp) -> bool {
    comment.written_at.is_some_and(|at| now.duration_since(at) >= than)
}

/// Says in the comment of a run that it is over.
async fn close(
    env: &ActionEnv<'_>,
    scope: &SweepScope<'_>,
    placed: &PlacedComment,
    why: &str,
) -> bool {
    let marker = placed.comment.body.lines().next().unwrap_or_default().to_owned();
    let own = OwnComment { id: placed.comment.id, body: placed.comment.body.clone() };
    let run_url = status::run_of(&own).map(|run| env.job.url_of_run(&run));
    let cure = cure(scope.policy.settings().triggers.prefix(), &own);
    // A session is found by them that waited for the decision by which the run went on.
    let hidden: Vec<String> = hidden_lines_of(&own.body).map(str::to_owned).collect();
    let opened = opened_by(env, &own).await;
    let body = abandoned(&AbandonedRun {
        hidden: &hidden.join("\n"),
        run_url: run_url.as_deref(),
        why,
        pull_request: opened.as_ref().map(|(number, url)| (*number, url.as_str())),
        cure: &cure,
    });
    let number = placed.number;
    let body = cleaned(env, scope, hidden, &body);
    let posting = match &placed.comment.place {
        // It is found by its marker, and edited.
        Some(_) => Posting::Reply { number, comment: placed.comment.id, marker, body },
        None => Posting::Comment { number, marker, body, replaces: None },
    };
    let closed = post(env, scope, posting).await;
    if closed {
        let poster = env.poster(scope.policy, scope.facts);
        for id in requests_of(&own) {
            let target = target_of(&placed.comment, id);
            poster.show(target, OutcomeReaction::Confused.as_str()).await;
        }
    }
    closed
}

/// Returns number and page of the open pull request that the run of a comment left, by the hidden
/// line that names what asked for it.
async fn opened_by(env: &ActionEnv<'_>, own: &OwnComment) -> Option<(u64, String)> {
    let of_run = status::value_of(own, "run").map(|run| format!("run-{run}"));
    let of_comment = status::value_of(own, "comment").map(|id| format!("comment-{id}"));
    let asked: Vec<String> = of_comment.into_iter().chain(of_run).collect();
    let open = env.forge.pull_requests(PullRequestFilter::Open).await.ok()?;
    let left = open.into_iter().filter(|pull| pull.is_own).find(|pull| {
        PullRequestMarker::parse(&pull.body)
            .is_some_and(|marker| asked.iter().any(|asked| marker.is_asked_by(asked)))
    });
    left.map(|pull| (pull.number, pull.url))
}

/// Says how the work of a run that ended without a result is done all the same; nothing where
/// comments start none.
fn cure(prefix: &str, own: &OwnComment) -> String {
    if prefix.is_empty() {
        return String::new();
    }
    let [retry, go_on] = ["retry", "go on"].map(|verb| code(&format!("{prefix} {verb}")));
    let Some(waited) = WaitingSession::parse(own) else {
        let kept = KeptSession::parse(&own.body).map_or_else(String::new, |_| {
            format!("What was done before it is kept: {go_on} goes on with that. ")
        });
        return format!("{kept}{retry} starts the last request on this thread again.");
    };
    let names: Vec<String> = waited.ids.iter().map(|id| code(id)).collect();
    format!(
        "To go on from the decision on {}, start its workflow run again, or write {go_on} or the \
         decision again. {retry} starts the last request on this thread from the beginning.",
        names.join(", ")
    )
}

/// Returns the comments that the run of a comment of ours was asked for by: the request, and the
/// decision that it goes on by.
fn requests_of(own: &OwnComment) -> impl Iterator<Item = u64> {
    let asked = status::value_of(own, "comment").and_then(|id| id.parse().ok());
    let decided = TakenBy::parse(&own.body).map(|by| by.comment);
    asked.into_iter().chain(decided)
}

/// Returns the requests of the last day that nothing answered, and whether Locum had seen each.
async fn unanswered<'c>(
    env: &ActionEnv<'_>,
    scope: &SweepScope<'_>,
    claims: &ClaimList<'_>,
    comments: &'c [PlacedComment],
) -> Vec<(&'c PlacedComment, bool)> {
    let Some(rule) = &scope.policy.settings().triggers.comment else { return Vec::new() };
    let now = env.clock.now();
    let asks = |placed: &&PlacedComment| {
        let comment = &placed.comment;
        comment.is_user
            && !comment.is_own
            && Some(comment.id) != scope.asks
            && is_older(comment, PATIENCE, now)
            && !is_older(comment, SINCE, now)
            && command::parse(&comment.body, &rule.prefix).is_some()
            && !is_named(comments, comment.id)
            && env.inputs.allows_user(&comment.author)
    };
    let mut found = Vec::new();
    for placed in comments.iter().filter(asks).take(ASKED_AT_ONCE) {
        let comment = &placed.comment;
        // What is not known to be unanswered is left alone.
        let Ok(reactions) = env.forge.own_reactions(target_of(comment, comment.id)).await else {
            continue;
        };
        let is_seen = !reactions.is_empty();
        if is_seen && !is_given_up(env, claims, placed, &reactions).await {
            continue;
        }
        let tier = thread::tier_of(env, comment, scope.is_private).await;
        if tier.is_some_and(|tier| rule.tiers.contains(&tier)) {
            found.push((placed, is_seen));
        }
        if found.len() >= ANSWERED_AT_ONCE {
            break;
        }
    }
    found
}

/// Returns whether the run has died that put these reactions on a request and wrote nothing: all it
/// said is that it has seen it, and nobody renews a claim on the thread.
async fn is_given_up(
    env: &ActionEnv<'_>,
    claims: &ClaimList<'_>,
    placed: &PlacedComment,
    reactions: &[(OwnReaction, String)],
) -> bool {
    let now = env.clock.now();
    reactions.iter().all(|(_, content)| content == SEEN)
        && is_older(&placed.comment, SEEN_PATIENCE, now)
        && matches!(claims.is_renewed_on(placed.number, (&env.job.run_id, now)).await, Ok(false))
}

/// Returns where reactions on a comment go that is of the kind of another one.
fn target_of(comment: &ThreadComment, id: u64) -> ReactionTarget {
    match comment.place {
        Some(_) => ReactionTarget::ReviewComment(id),
        None => ReactionTarget::IssueComment(id),
    }
}

/// Returns whether the hidden lines of a comment of ours name a comment.
fn is_named(comments: &[PlacedComment], id: u64) -> bool {
    comments.iter().filter(|placed| placed.comment.is_own).any(|placed| {
        let (comment, body) = (placed.comment.id, placed.comment.body.clone());
        requests_of(&OwnComment { id: comment, body }).any(|named| named == id)
    })
}

/// Says once that a request was not run, with the words to repeat it.
async fn answer(
    env: &ActionEnv<'_>,
    scope: &SweepScope<'_>,
    (placed, is_seen): (&PlacedComment, bool),
) -> bool {
    let comment = &placed.comment;
    let marker = marker("unanswered", &[("comment", &comment.id.to_string())]);
    let written = comment
        .written_at
        .map_or_else(String::new, |at| format!(" of {} UTC", at.strftime("%F %H:%M")));
    let words = text::head(comment.body.trim(), WORDS_LIMIT_BYTES);
    let why = if is_seen {
        "Its run, or the machine of the run, was stopped before it could say anything."
    } else {
        "GitHub did not answer Locum then, the workflow did not run or gave way to a later one, or \
         the command came with an edit, which starts nothing."
    };
    let body = format!(
        "{marker}\n**locum: not run**\n\nNothing has answered the request of {}{written}. {why} If \
         it is still wanted, write it again:\n\n{}",
        code(&comment.author),
        fenced(words, "text")
    );
    let (number, body) = (placed.number, cleaned(env, scope, vec![marker.clone()], &body));
    let posting = match &comment.place {
        Some(_) => Posting::Reply { number, comment: comment.id, marker, body },
        None => Posting::Comment { number, marker, body, replaces: None },
    };
    let answered = post(env, scope, posting).await;
    if answered && is_seen {
        let target = target_of(comment, comment.id);
        let poster = env.poster(scope.policy, scope.facts);
        poster.show(target, OutcomeReaction::Confused.as_str()).await;
    }
    answered
}

fn cleaned(
    env: &ActionEnv<'_>,
    scope: &SweepScope<'_>,
    markers: Vec<String>,
    body: &str,
) -> String {
    let prefix = scope.policy.settings().triggers.prefix().to_owned();
    let rules = TextRules { markers, prefix, ..TextRules::default() };
    sanitise::markdown(body, &rules, &Redactor::new(env.environment.secrets()))
}

/// Posts what the policy lets it; returns whether it did.
async fn post(env: &ActionEnv<'_>, scope: &SweepScope<'_>, posting: Posting) -> bool {
    let poster = env.poster(scope.policy, scope.facts);
    poster.try_to_post(posting, "what a run left behind stays as it is").await.is_some()
}
