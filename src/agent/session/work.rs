//! What takes its time beside the loop: a model's reply, tools at work, a look at the checkout.
//!
//! The loop alone changes a session. Whatever has to be waited for is a [`Work`] that borrows
//! nothing of it, so that those of several tasks go on side by side; what came of it is a [`Done`],
//! which the loop takes in when it comes. One task has at most one work under way.

use std::ops::Deref;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::session::Session;
use crate::session::calls::Permitted;
use crate::session::event::FileBefore;
use crate::session::stop::Stop;
use crate::session::task::WaitingCall;
use crate::tools::mcp::servers::Servers;
use crate::tools::{Observation, Sight, ToolContext};
use locum_base::id::TaskId;
use locum_base::path::RepoPath;
use locum_base::secret::Redactor;
use locum_models::retry::Completed;
use locum_modes::Mode;
use locum_modes::prompts::skills::SkillSet;
use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_workspace::Workspace;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::repo::RepoError;
use locum_workspace::touched::Snapshot;

/// Something a task waits for.
pub(crate) type Work<'a> = LocalBoxFuture<'a, (TaskId, Done)>;

/// What came of it.
pub(crate) enum Done {
    /// The model replied, or did not.
    Replied {
        /// The reply, and what attempts before it used up.
        reply: Completed,
        /// Tokens that the request was taken for.
        estimate_tokens: u64,
    },
    /// The beginning of a conversation was summed up, or not.
    SummedUp {
        /// The summary, and what attempts before it used up.
        summary: Completed,
        /// Messages it stands for.
        left_out: usize,
        /// Tokens that the request was taken for.
        estimate_tokens: u64,
    },
    /// Another model answered a question, or did not.
    Consulted {
        /// The call that put it.
        waiting: Box<WaitingCall>,
        /// The name of the profile that was asked.
        expert: String,
        /// The answer, and what attempts before it used up.
        answer: Completed,
        /// Tokens that the request was taken for.
        estimate_tokens: u64,
    },
    /// Another model drew a picture, or did not.
    Painted {
        /// The call that asks for it.
        permitted: Box<Permitted>,
        /// Tells what was wished for.
        wish: String,
        /// The reply, and what attempts before it used up.
        answer: Completed,
        /// Tokens that the request was taken for.
        estimate_tokens: u64,
    },
    /// Read-only calls were performed.
    Read {
        /// Each call with its answer, in order.
        answers: Vec<(WaitingCall, Observation)>,
        /// The call after them, permitted already.
        then: Option<Box<Permitted>>,
    },
    /// The checkout was looked at before a command.
    LookedBefore {
        /// The command.
        permitted: Box<Permitted>,
        /// What the files it edits by name hold.
        before: Vec<FileBefore>,
        /// The checkout.
        snapshot: Result<Snapshot, RepoError>,
    },
    /// A call with effects was performed.
    Performed {
        /// The call.
        waiting: Box<WaitingCall>,
        /// Its answer.
        observation: Observation,
        /// What it was permitted to do.
        intents: Vec<Intent>,
        /// The checkout before it, for commands.
        snapshot: Option<Snapshot>,
    },
    /// The checkout was looked at after a command that was cut off.
    LookedAfter {
        /// The command.
        waiting: Box<WaitingCall>,
        /// The checkout before it.
        before: Snapshot,
        /// The checkout now.
        after: Result<Snapshot, RepoError>,
    },
    /// The checkout was looked at before sub-tasks get worktrees of it.
    LookedBeforeFork {
        /// The calls that ask for them.
        calls: Vec<WaitingCall>,
        /// The checkout.
        snapshot: Result<Snapshot, RepoError>,
    },
}

/// Where a task works.
#[derive(Clone)]
pub(crate) enum Place<'a> {
    /// In the run's own checkout.
    Own(&'a Workspace),
    /// In a worktree of its own.
    Apart(Rc<Workspace>),
}

impl Deref for Place<'_> {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        match self {
            Self::Own(workspace) => workspace,
            Self::Apart(workspace) => workspace,
        }
    }
}

/// What the tools of a task work with, as a whole of its own.
pub(crate) struct Tools<'a> {
    place: Place<'a>,
    mode: &'a Mode,
    facts: Facts,
    policy: &'a Policy,
    env: &'a std::collections::BTreeMap<String, String>,
    sandbox: &'a Sandbox,
    redactor: &'a Redactor,
    connector: &'a Connector,
    skills: &'a SkillSet,
    sight: Sight,
    painters: &'a [String],
    servers: &'a Servers<'a>,
}

impl Tools<'_> {
    /// Returns whether the policy lets the task read a path.
    pub(crate) fn readable(&self) -> impl Fn(&RepoPath) -> bool + Sync + use<'_> {
        let (policy, facts) = (self.policy, &self.facts);
        move |path| policy.decide(&Intent::Read(path.clone()), facts).decision == Decision::Allow
    }

    /// Returns all of it as the tools take it.
    pub(crate) fn context<'c>(
        &'c self,
        visible: &'c (dyn Fn(&RepoPath) -> bool + Sync),
    ) -> ToolContext<'c> {
        ToolContext {
            checkout: &self.place.checkout,
            repo: &self.place.repo,
            mode: self.mode,
            commands: &self.policy.settings().commands,
            env: self.env,
            sandbox: self.sandbox,
            redactor: self.redactor,
            visible,
            policy: self.policy,
            facts: &self.facts,
            connector: self.connector,
            skills: Some(self.skills),
            sight: self.sight,
            painters: self.painters,
            servers: Some(self.servers),
        }
    }
}

impl<'a> Session<'a> {
    /// Returns what the tools of a task work with.
    pub(crate) fn tools(&mut self, id: TaskId) -> Result<Tools<'a>, Stop> {
        let place = self.place(id)?;
        let mode = self.task(id)?.mode.clone();
        Ok(Tools {
            place,
            mode: self.mode(&mode)?,
            facts: self.facts(&mode),
            policy: self.parts.policy,
            env: self.parts.env,
            sandbox: self.parts.sandbox,
            redactor: self.parts.redactor,
            connector: self.parts.connector,
            skills: &self.parts.standing.skills,
            sight: if self.model_of(self.task(id)?).sees_images {
                Sight::Shown
            } else {
                Sight::Blind
            },
            painters: self.parts.painter.map_or(&[], |painter| painter.names),
            servers: self.parts.servers,
        })
    }

    /// Looks at the checkout a task works in, beside the loop.
    pub(crate) fn look(
        &mut self,
        id: TaskId,
        then: impl FnOnce(Result<Snapshot, RepoError>) -> Done + 'a,
    ) -> Result<Work<'a>, Stop> {
        let place = self.place(id)?;
        let git = GitBinary::new(&place.repo, self.parts.env);
        Ok(async move { (id, then(place.repo.snapshot(&git).await)) }.boxed_local())
    }

    /// Takes in what a task waited for; returns what it waits for next, if anything.
    pub(crate) fn complete(&mut self, id: TaskId, done: Done) -> Result<Option<Work<'a>>, Stop> {
        match done {
            Done::Replied { reply, estimate_tokens } => {
                self.replied(id, reply, estimate_tokens).map(|()| None)
            }
            Done::SummedUp { summary, left_out, estimate_tokens } => {
                self.shorten(id, summary, left_out, estimate_tokens).map(|()| None)
            }
            Done::Consulted { waiting, expert, answer, estimate_tokens } => {
                self.consulted(id, &waiting, expert, answer, estimate_tokens).map(|()| None)
            }
            Done::Painted { permitted, wish, answer, estimate_tokens } => {
                self.painted(id, *permitted, wish, answer, estimate_tokens)
            }
            Done::Read { answers, then } => {
                for (waiting, observation) in answers {
                    self.answered(id, &waiting, observation, None, false)?;
                }
                then.map_or(Ok(None), |permitted| self.perform_alone(id, *permitted))
            }
            Done::LookedBefore { permitted, before, snapshot } => {
                self.announce(id, *permitted, before, Some(snapshot?)).map(Some)
            }
            Done::Performed { waiting, observation, intents, snapshot } => {
                self.note_servers()?;
                self.answer_judged(id, &waiting, observation, &intents, snapshot.as_ref())
                    .map(|()| None)
            }
            Done::LookedAfter { waiting, before, after } => {
                self.answer_cut_off(id, &waiting, Some((before, after?))).map(|()| None)
            }
            Done::LookedBeforeFork { calls, snapshot } => {
                self.fork(id, &calls, &snapshot?).map(|()| None)
            }
        }
    }
}
