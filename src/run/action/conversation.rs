//! A later comment on a thread goes on with the conversation of the last session there.
//!
//! In: a run that is prepared as if it began anew, and our own comments. Out: the run with that
//! conversation, or as it was, with one sentence why. The conversation alone goes on, with the work
//! that was not published: who asks now, by which trigger and for how much is judged anew. It goes
//! on only for the same tier, policy and mode, and in the checkout that it left: at the commit that
//! its changes were published as, or at its base. Work that a run does not go on with stays where
//! it is, and the run says so.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::run::action::admission::AdmittedEvent;
use crate::run::action::carry::CarriedState;
use crate::run::action::declined::Declined;
use crate::run::action::kept::{KEPT_LIMIT_BYTES, KeptSession, head_in};
use crate::run::action::not_resumed::{self, NotResumed};
use crate::run::action::thread::{self, KnownComments, ThreadPast};
use crate::run::action::thread_sessions::{ThreadSession, ThreadSessions};
use crate::run::action::{
    ActionEnv, carry, earlier, going_on, progress_marker, reviewed, work_items,
};
use crate::run::error::RunError;
use crate::run::extras::RunExtras;
use crate::run::plan::RunSubject;
use crate::run::prepare::{self, PreparedRun};
use crate::run::run_request::RunRequest;
use crate::run::settled::SettledRun;
use locum_agent::session::earlier::{EarlierConversation, UnpublishedWork};
use locum_agent::session::go_on;
use locum_agent::session::hold;
use locum_agent::session::journal::{JOURNAL_FILE, Journal};
use locum_agent::session::outcome::OutcomeWord;
use locum_agent::session::state::SessionState;
use locum_base::path::RepoPath;
use locum_policy::intent::Facts;
use locum_workspace::Workspace;
use locum_workspace::repo::CommitId;

/// A run on a thread, prepared.
pub(super) struct ThreadRun {
    /// What it works with.
    pub(super) run: PreparedRun,
    /// What it begins with.
    pub(super) extras: RunExtras,
    /// What it was prepared from.
    pub(super) request: RunRequest,
    /// What was said on the thread that it does not know yet.
    pub(super) past: ThreadPast,
    /// Where the session is kept that ended last here.
    pub(super) before: Option<KeptSession>,
    /// Where sessions are kept that this one takes the place of.
    pub(super) superseded: Vec<KeptSession>,
}

impl ThreadRun {
    /// Prepares a run that needs nothing of its thread.
    ///
    /// # Errors
    /// As [`prepare::prepare`].
    pub(super) fn without(
        admitted: &AdmittedEvent<'_>,
        request: RunRequest,
        workspace: &Workspace,
    ) -> Result<Self, RunError> {
        let run = prepare::prepare(request.clone(), &admitted.config, workspace)?;
        let (extras, past) = (RunExtras::default(), ThreadPast::default());
        Ok(Self { run, extras, request, past, before: None, superseded: Vec::new() })
    }
}

/// Whether a comment may go on with an earlier conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversationWish {
    /// It may.
    GoOn,
    /// It asks for the same again, from the beginning; started again, it goes on with its own.
    Repeat,
    /// It asks for the same again, from the beginning.
    StartOver,
}

/// Prepares a run on a thread: with the conversation of the last session there, or anew.
///
/// # Errors
/// As [`prepare::prepare`], or when the checkout cannot be brought to where it goes on.
pub(super) async fn prepare(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    mut request: RunRequest,
    wish: ConversationWish,
) -> Result<ThreadRun, RunError> {
    let comments = thread::read(env, admitted).await;
    let own = progress_marker(env, &admitted.event.trigger);
    let sessions = ThreadSessions::of(env, &comments, &own).await;
    let Resumption { resumed, refused } =
        choose(env, admitted, &sessions, (&request, wish)).await?;
    let known = resumed.as_ref().map(|resumed| &resumed.known);
    let mut past = thread::past(env, admitted, comments, known).await;
    if resumed.is_some() {
        work_items::forget_subject(admitted, &mut request.materials);
    }
    request.materials.append(&mut past.materials);
    if let Some(commit) = reviewed::since(env, admitted, &past.own, &request.base) {
        request.materials.push(reviewed::material(&commit));
        request.review_base = Some(commit);
    }
    if let Some(ResumedConversation { base, .. }) = &resumed {
        env.workspace.repo.switch_to(base).map_err(RunError::internal)?;
        request.base.clone_from(base);
    }
    let mut run = prepare::prepare(request.clone(), &admitted.config, env.workspace)?;
    let prefix = admitted.config.policy.settings().triggers.prefix();
    let goes_on_with = resumed.as_ref().map(|resumed| &resumed.earlier.session);
    let (before, superseded) = (sessions.newest().cloned(), sessions.superseded(goes_on_with));
    let removed = sessions.too_many(goes_on_with);
    for note in not_resumed::notes(&refused, &removed, (resumed.is_some(), prefix)) {
        run.plan.for_asker.extend(Some(note.text.clone()).filter(|_| note.is_for_asker));
        run.plan.notes.push(note.text);
    }
    let mut extras = RunExtras::default();
    if let Some(ResumedConversation { earlier, .. }) = resumed {
        let note = format!("the conversation of session {} is resumed", earlier.session);
        run.plan.notes.push(note);
        take_up(env, &run, &earlier)?;
        extras.earlier = Some(earlier);
    }
    Ok(ThreadRun { run, extras, request, past, before, superseded })
}

/// What a run goes on with, and what not, the last one first.
#[derive(Default)]
struct Resumption {
    resumed: Option<ResumedConversation>,
    /// `None` where the last run left no session.
    refused: Vec<(Option<ThreadSession>, NotResumed)>,
}

/// Finds the session that a run goes on with. Where nothing else is asked for, one that did all it
/// was to do comes behind one with changes that are not published.
async fn choose(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    sessions: &ThreadSessions,
    (request, wish): (&RunRequest, ConversationWish),
) -> Result<Resumption, RunError> {
    let mut choice = Resumption::default();
    let is_comment = admitted.event.trigger.comment.is_some();
    let asks = |is_own: bool| match wish {
        ConversationWish::GoOn => is_own || is_comment,
        ConversationWish::Repeat => is_own,
        ConversationWish::StartOver => false,
    };
    let candidates = match sessions.candidates() {
        Err(why) if asks(false) => {
            choice.refused.push((None, why.into()));
            return Ok(choice);
        }
        candidates => candidates.unwrap_or_default(),
    };
    let only_goes_on = going_on::is_alone(admitted);
    let mut settled = None;
    let mut over = None;
    for one in candidates.into_iter().filter(|one| asks(one.is_own)) {
        if over.is_some() && !one.has_work() {
            continue;
        }
        let settled = match &mut settled {
            Some(settled) => settled,
            None => settled.insert(SettledRun::of(request, &admitted.config)?),
        };
        let new_run = NewRun { request, settled, may_go_on: asks(false) };
        match resume(env, admitted, &one, &new_run).await {
            Ok(resumed) if only_goes_on && resumed.is_over && !one.is_own => {
                over.get_or_insert(resumed);
            }
            Ok(resumed) => {
                choice.resumed = Some(resumed);
                return Ok(choice);
            }
            // What it published or reported is recreated: nobody has to know.
            Err(NotResumed::SameComment) if one.is_own => return Ok(Resumption::default()),
            Err(why @ NotResumed::SameComment) => {
                choice.refused = vec![(Some(one), why)];
                return Ok(choice);
            }
            Err(why) => choice.refused.push((Some(one), why)),
        }
    }
    choice.resumed = over;
    Ok(choice)
}

/// A conversation that goes on.
struct ResumedConversation {
    earlier: EarlierConversation,
    known: KnownComments,
    /// The commit to go on from.
    base: CommitId,
    /// Whether it did all it was to do, and nothing of it is left to be published.
    is_over: bool,
}

/// Fetches the session that a comment of ours names, and judges whether this run goes on with it.
/// The error says why not.
async fn resume(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    ThreadSession { kept, is_own, .. }: &ThreadSession,
    new_run: &NewRun<'_>,
) -> Result<ResumedConversation, NotResumed> {
    let flags = &admitted.request.flags;
    if !is_own && (flags.new_pull_request || flags.model.is_some()) {
        let flag = if flags.new_pull_request { "--new-pr" } else { "--model" };
        return Err(format!("`{flag}` begins a new one").into());
    }
    let fetched = carry::fetch(env, (&kept.session, &kept.commit)).await;
    fetched.map_err(|error| match error {
        Declined::Refused(why) => why,
        Declined::Failed(error) => error.report(),
    })?;
    let thread = new_run.request.subject.thread().unwrap_or_default();
    let ended = EndedSession::read(env, kept, thread).map_err(|why| format!("it {why}"))?;
    ended.judge(env, admitted, new_run)
}

/// A run as it would begin without an earlier conversation.
struct NewRun<'a> {
    request: &'a RunRequest,
    settled: &'a SettledRun,
    /// Whether it may go on with the session of another request.
    may_go_on: bool,
}

/// A session that ended, as its journal tells.
struct EndedSession {
    state: SessionState,
    carried: CarriedState,
    began: Timestamp,
    /// The commit that its changes were published as.
    head: Option<CommitId>,
    /// The commit that holds the changes that it did not publish.
    work: Option<CommitId>,
}

impl EndedSession {
    fn read(env: &ActionEnv<'_>, kept: &KeptSession, thread: u64) -> Result<Self, String> {
        let repo = &env.workspace.repo;
        let unreadable = |error: &dyn std::fmt::Display| format!("cannot be read: {error}");
        let (words, work) = repo.message_of(&kept.commit).map_err(|error| unreadable(&error))?;
        let head = head_in(&words, thread)?;
        let path = RepoPath::parse(JOURNAL_FILE).map_err(|error| unreadable(&error))?;
        let journal = repo
            .file_at(&kept.commit, &path, KEPT_LIMIT_BYTES)
            .map_err(|error| unreadable(&error))?
            .ok_or("has no journal")?;
        let lines = Journal::lines_in(&journal.text).map_err(|error| unreadable(&error))?;
        let began = lines.first().map(|line| line.at).unwrap_or_default();
        let state = SessionState::of(&lines);
        let start = state.start.as_ref().filter(|start| start.id == kept.session);
        let start = start.ok_or("is not the one that the run's comment names")?;
        let carried = serde_json::from_value(start.caller.clone());
        let carried = carried.map_err(|error| unreadable(&error))?;
        Ok(Self { state, carried, began, head, work })
    }

    /// Returns what goes on of it in a run that would begin anew without it.
    fn judge(
        &self,
        env: &ActionEnv<'_>,
        admitted: &AdmittedEvent<'_>,
        NewRun { request, settled, may_go_on }: &NewRun<'_>,
    ) -> Result<ResumedConversation, NotResumed> {
        let (Some(start), Some(outcome)) = (&self.state.start, &self.state.outcome) else {
            return Err("it did not end".into());
        };
        let asked = earlier::asked(env, &admitted.event.trigger);
        // What the same request did not bring to an end is gone on with.
        let is_left = outcome.was_stopped() || !outcome.changes.is_empty();
        let is_own = self.carried.destination.asked == asked;
        if is_own && (self.head.is_some() || !is_left) {
            return Err(NotResumed::SameComment);
        }
        if !is_own && !may_go_on {
            return Err(NotResumed::NotAsked);
        }
        check_age(&self.state, env.clock.now())?;
        let judged = JudgedBy { policy_hash: &start.policy_hash, facts: &start.facts };
        let now = JudgedBy { policy_hash: settled.policy.hash(), facts: &request.facts };
        judged.check_same(&now)?;
        let earlier = go_on::conversation_of(&self.state).ok_or("its model never replied")?;
        let begins = StartCommits { base: &request.base, trusted: &request.trusted };
        let left = LeftCheckout {
            began: StartCommits { base: &start.base, trusted: &self.carried.request.trusted },
            head: self.head.as_ref(),
            is_issue: matches!(
                request.subject,
                RunSubject::Issue { .. } | RunSubject::Discussion { .. }
            ),
            has_changes: !outcome.changes.is_empty(),
            has_approvals: !outcome.approved.is_empty(),
        };
        let (base, has_work) = left.base_after(&begins)?;
        let (mode, wanted) = (&start.mode, &settled.first.slug);
        if mode != wanted {
            let why =
                format!("it worked in mode `{mode}`, and this comment asks for mode `{wanted}`");
            return Err(NotResumed::OtherMode(mode.clone(), why));
        }
        let received = self.state.messages.iter();
        let received = received.filter_map(|message| message.id.strip_prefix("comment "));
        let asked = self.carried.destination.asked.strip_prefix("comment-");
        let work = match (earlier.work.filter(|_| has_work), &self.work) {
            (None, _) => None,
            (Some(work), Some(commit)) => {
                Some(UnpublishedWork { checkpoint: commit.clone(), ..work })
            }
            (Some(_), None) => return Err("its changes are not kept".into()),
        };
        Ok(ResumedConversation {
            is_over: work.is_none()
                && matches!(outcome.word, OutcomeWord::Done | OutcomeWord::NothingToDo),
            earlier: EarlierConversation {
                result: work.as_ref().map(|_| earlier.result).unwrap_or_default(),
                work,
                ..earlier
            },
            known: KnownComments {
                asked: asked.and_then(|id| id.parse().ok()),
                began: self.began,
                received: received.filter_map(|id| id.parse().ok()).collect::<BTreeSet<u64>>(),
            },
            base,
        })
    }
}

/// Checks that a session did not end too long ago: its ref may be gone any time.
fn check_age(state: &SessionState, now: Timestamp) -> Result<(), String> {
    let is_over = |at: Timestamp| now.duration_since(at) > hold::WAIT_LIMIT;
    if state.last_at().is_none_or(is_over) {
        let days = hold::WAIT_LIMIT.as_hours() / 24;
        return Err(format!("it ended more than {days} days ago"));
    }
    Ok(())
}

/// What judges a run.
struct JudgedBy<'a> {
    policy_hash: &'a str,
    facts: &'a Facts,
}

impl JudgedBy<'_> {
    /// Checks that a session was judged as the run is that would go on with it: who asks has
    /// neither more rights than who began it, nor fewer than what stands in it was read with.
    fn check_same(&self, now: &Self) -> Result<(), String> {
        if self.policy_hash != now.policy_hash {
            return Err("the policy, or an ignore file, is another one since".to_owned());
        }
        let limits = |facts: &Facts| (facts.restriction.read_only, facts.restriction.contained);
        if self.facts.tier != now.facts.tier || limits(self.facts) != limits(now.facts) {
            return Err("who asked for it has other rights than who asks now".to_owned());
        }
        Ok(())
    }
}

/// The commits that a run on a thread begins with.
struct StartCommits<'a> {
    /// The one it starts from.
    base: &'a CommitId,
    /// The one that is trusted.
    trusted: &'a CommitId,
}

/// The checkout that a session left.
struct LeftCheckout<'a> {
    began: StartCommits<'a>,
    /// The commit that its changes were published as.
    head: Option<&'a CommitId>,
    /// Whether it worked on an issue, on no branch of others.
    is_issue: bool,
    has_changes: bool,
    has_approvals: bool,
}

impl LeftCheckout<'_> {
    /// Returns the commit that a run goes on from, which would begin anew with these, and whether
    /// the work that was not published comes with it.
    fn base_after(&self, now: &StartCommits<'_>) -> Result<(CommitId, bool), String> {
        let Self { began, head, is_issue, has_changes, has_approvals } = self;
        let is_same = began.base == now.base;
        // Its change is brought onto the tip when it is published.
        let is_default = *is_issue && began.base == began.trusted && now.base == now.trusted;
        match head {
            Some(head) if *head == now.base => Ok((now.base.clone(), false)),
            Some(_) => Err("what it published was changed, merged or closed since".to_owned()),
            None if !has_changes && (is_same || *is_issue) => Ok((now.base.clone(), false)),
            None if !is_same && !is_default => Err("the branch has new commits since".to_owned()),
            None if *has_approvals => {
                Err("a person approved what it did not publish, for that run alone".to_owned())
            }
            None => Ok((began.base.clone(), true)),
        }
    }
}

/// Brings the checkout to where an earlier session left it.
fn take_up(
    env: &ActionEnv<'_>,
    run: &PreparedRun,
    earlier: &EarlierConversation,
) -> Result<(), RunError> {
    let Some(work) = &earlier.work else { return Ok(()) };
    let touched = work.touched.iter().map(|file| file.path.clone()).collect();
    let session = run.plan.session.as_str();
    let taken = env.workspace.repo.take_up(session, &work.checkpoint, &touched);
    taken.map_err(RunError::internal)
}

#[cfg(test)]
mod tests;
