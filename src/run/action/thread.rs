//! What was said before on the thread a run belongs to: earlier comments with the tier of who wrote
//! them, and the result of the last run there, as material.
//!
//! In: an admitted event. Out: texts for the first message. They are data like the issue itself,
//! whoever wrote them: only the comment that asks is an instruction.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::run::action::ActionEnv;
use crate::run::action::admission::{AdmittedEvent, PROGRESS, thread_of};
use crate::run::action::findings;
use crate::run::task_material::TaskMaterial;
use locum_agent::report::comment::hidden_lines_of;
use locum_base::text::ClippedText;
use locum_forge::ThreadComment;
use locum_forge::event::{EventSubject, Trigger};
use locum_modes::prompts::task::seen_of_markdown;
use locum_policy::actors::{ActorFacts, Tier};

/// Latest comments that a run is given.
const COMMENTS_LIMIT: usize = 30;
/// Bytes of one comment that a run is given.
const COMMENT_LIMIT_BYTES: usize = 4 * 1024;
/// Bytes of all comments together; the latest are kept.
const THREAD_LIMIT_BYTES: usize = 24 * 1024;
/// Bytes of the last run's comment that a run is given.
const RESULT_LIMIT_BYTES: usize = 8 * 1024;
/// Authors whose permission is asked for; those of later comments come first.
const AUTHORS_LIMIT: usize = 10;

/// What a thread holds from before the comment that asks.
#[derive(Default)]
pub(super) struct ThreadPast {
    /// The last run's result, then comments, oldest first.
    pub(super) materials: Vec<TaskMaterial>,
    /// What the comments among them say as it was written, oldest first.
    pub(super) written: Vec<WrittenText>,
    /// Our own comments.
    pub(super) own: Vec<ThreadComment>,
}

/// A comment as it was written.
pub(super) struct WrittenText {
    /// Which comment, and whose.
    pub(super) from: String,
    /// Its whole text.
    pub(super) body: String,
}

/// The comments of a thread, as they were read.
pub(super) struct ThreadComments {
    /// Our own.
    pub(super) own: Vec<ThreadComment>,
    /// Those of others from before the comment that asks; `None` where they could not be read.
    others: Option<Vec<ThreadComment>>,
}

/// What a conversation that goes on knows of its thread.
pub(super) struct KnownComments {
    /// The comment that asked for its last run; what was written before that stands in it.
    pub(super) asked: Option<u64>,
    /// When that run began, where no comment asked, or it is gone.
    pub(super) began: Timestamp,
    /// Comments that it was given while it worked.
    pub(super) received: BTreeSet<u64>,
}

/// Reads the comments of a thread.
pub(super) async fn read(env: &ActionEnv<'_>, admitted: &AdmittedEvent<'_>) -> ThreadComments {
    let nothing = ThreadComments { own: Vec::new(), others: Some(Vec::new()) };
    let Some(subject) = &admitted.event.trigger.subject else { return nothing };
    match env.forge.thread_comments(thread_of(subject), None).await {
        Ok(comments) => {
            let comments = before(comments, admitted).into_iter();
            let (own, others) = comments.partition(|comment| comment.is_own);
            ThreadComments { own, others: Some(others) }
        }
        Err(error) => {
            tracing::warn!(%error, "earlier comments are not read");
            ThreadComments { others: None, ..nothing }
        }
    }
}

/// Returns what was said on a thread before the comment that asks; for a conversation that goes on,
/// what it does not know yet.
pub(super) async fn past(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    comments: ThreadComments,
    known: Option<&KnownComments>,
) -> ThreadPast {
    let Some(subject) = &admitted.event.trigger.subject else { return ThreadPast::default() };
    let ThreadComments { own, others } = comments;
    let Some(mut others) = others else {
        let materials = vec![TaskMaterial {
            what: format!("the comments of #{}", subject.number),
            origin: "the forge".to_owned(),
            text: "They could not be read.".to_owned(),
        }];
        return ThreadPast { materials, ..ThreadPast::default() };
    };
    if let Some(KnownComments { asked, began, received }) = known {
        let is_known = |id: u64| Some(id) == *asked || received.contains(&id);
        let asks = others.iter().find(|comment| Some(comment.id) == *asked);
        let since = asks.and_then(|comment| comment.written_at).unwrap_or(*began);
        others.retain(|comment| {
            comment.written_at.is_none_or(|at| at >= since) && !is_known(comment.id)
        });
    }
    let last_run = own.iter().rev().find(|comment| comment.body.starts_with(PROGRESS));
    let last_run = last_run.filter(|_| known.is_none());
    let whole: BTreeMap<u64, String> =
        others.iter().map(|comment| (comment.id, comment.body.clone())).collect();
    let (shown, left_out) = latest(others);
    let tiers = tiers(env, admitted, &shown).await;
    let mut materials: Vec<TaskMaterial> = last_run.map(result).into_iter().collect();
    materials.extend(findings::materials(env, admitted, (subject, &own)).await);
    if left_out > 0 {
        materials.push(TaskMaterial {
            what: format!("the comments of #{}", subject.number),
            origin: "the forge".to_owned(),
            text: format!("{left_out} older ones are left out."),
        });
    }
    let mut written = Vec::new();
    for comment in shown {
        let body = whole.get(&comment.id).cloned().unwrap_or_default();
        let material = material(comment, subject, &tiers);
        written.push(WrittenText { from: format!("{}, {}", material.what, material.origin), body });
        materials.push(material);
    }
    ThreadPast { materials, written, own }
}

/// Leaves out the comment that asks and what was written after it.
fn before(comments: Vec<ThreadComment>, admitted: &AdmittedEvent<'_>) -> Vec<ThreadComment> {
    let trigger = &admitted.event.trigger;
    let asks = trigger.comment.as_ref().map(|comment| comment.id);
    let later = |comment: &ThreadComment| is_later(comment, trigger).is_some_and(|later| later);
    comments
        .into_iter()
        .filter(|comment| Some(comment.id) != asks && (comment.is_own || !later(comment)))
        .collect()
}

/// Returns whether a comment was written after the event; `None` where that is not known. The forge
/// tells times in seconds: within one, the numbers of comments of the same kind tell.
pub(super) fn is_later(comment: &ThreadComment, trigger: &Trigger) -> Option<bool> {
    let (at, asked) = comment.written_at.zip(trigger.happened_at)?;
    let asks = trigger.comment.as_ref();
    let asks = asks.filter(|asks| asks.place.is_some() == comment.place.is_some());
    let after_it = asks.is_some_and(|asks| comment.id > asks.id);
    Some(at > asked || (at == asked && after_it))
}

/// Returns the latest comments that the limits have room for, oldest first, their texts as readers
/// see them, and how many are left out.
fn latest(comments: Vec<ThreadComment>) -> (Vec<ThreadComment>, usize) {
    let all = comments.len();
    let mut room = THREAD_LIMIT_BYTES;
    let mut shown: Vec<ThreadComment> = Vec::new();
    for comment in comments.into_iter().rev().take(COMMENTS_LIMIT) {
        let seen = seen_of_markdown(&comment.body);
        let body = ClippedText::head_tail(&seen, COMMENT_LIMIT_BYTES).text;
        let Some(rest) = room.checked_sub(body.len()) else { break };
        room = rest;
        shown.push(ThreadComment { body, ..comment });
    }
    shown.reverse();
    let left_out = all - shown.len();
    (shown, left_out)
}

/// Asks the forge for the tiers of who wrote the comments.
async fn tiers(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    comments: &[ThreadComment],
) -> BTreeMap<String, &'static str> {
    let mut tiers = BTreeMap::new();
    for comment in comments.iter().rev() {
        if tiers.len() >= AUTHORS_LIMIT {
            break;
        }
        if tiers.contains_key(&comment.author) {
            continue;
        }
        let tier = tier_of(env, comment, admitted.event.trigger.is_private).await;
        tiers.insert(comment.author.clone(), tier.map_or("tier unknown", Tier::as_str));
    }
    tiers
}

/// Returns the tier of who wrote a comment, by the forge's answer; `None` without one.
pub(super) async fn tier_of(
    env: &ActionEnv<'_>,
    comment: &ThreadComment,
    is_private: bool,
) -> Option<Tier> {
    if !comment.is_user {
        return Some(Tier::Bot);
    }
    let permission = env.forge.permission(&comment.author).await.ok()?;
    Some(Tier::of(ActorFacts {
        permission: permission.as_str(),
        is_user: true,
        is_private,
        has_contributed: comment.has_contributed,
    }))
}

fn material(
    comment: ThreadComment,
    subject: &EventSubject,
    tiers: &BTreeMap<String, &'static str>,
) -> TaskMaterial {
    let place = comment.place.map_or_else(String::new, |place| format!(" at {place}"));
    let tier = tiers.get(&comment.author).copied().unwrap_or("tier unknown");
    let day = comment.written_at.map_or_else(String::new, |at| format!(", {}", at.strftime("%F")));
    TaskMaterial {
        what: format!("comment on #{}{place}", subject.number),
        origin: format!("written by {} ({tier}){day}", comment.author),
        text: comment.body,
    }
}

fn result(comment: &ThreadComment) -> TaskMaterial {
    let hidden = hidden_lines_of(&comment.body).count();
    let seen: Vec<&str> = comment.body.lines().skip(hidden).collect();
    let text = seen_of_markdown(&seen.join("\n"));
    TaskMaterial {
        what: "the result of the last run on this thread".to_owned(),
        origin: "written by Locum".to_owned(),
        text: ClippedText::head_tail(&text, RESULT_LIMIT_BYTES).text,
    }
}
