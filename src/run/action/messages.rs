//! What maintainers write on the thread of a run while it works: the model reads it before its next
//! turn.
//!
//! In: new comments on the thread, looked for every half minute. Out: messages in the session's
//! inbox, and the word that the run is to stop, from those alone who may start runs by a comment.
//! Any other comment that is a command starts its own run, so it is left to that.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, future};
use jiff::Timestamp;
use tokio::sync::oneshot;

use crate::run::action::admission::thread_of;
use crate::run::action::{ActionEnv, ForgeEvent, thread};
use locum_agent::session::messages::{Inbox, PersonMessage};
use locum_forge::ThreadComment;
use locum_forge::command::verb::Verb;
use locum_forge::command::{self, CommentCommand};
use locum_modes::prompts::task::seen_of_markdown;
use locum_policy::schema::Triggers;

/// Time between two looks at the thread: a token of a workflow may ask 1,000 times an hour.
const PAUSE: Duration = Duration::from_secs(30);

/// The thread of a run, as far as it was read.
pub(super) struct FollowedThread<'a> {
    env: &'a ActionEnv<'a>,
    event: &'a ForgeEvent,
    triggers: &'a Triggers,
    inbox: &'a Inbox,
    since: Timestamp,
    seen: BTreeSet<u64>,
    /// A command to stop counts from here on.
    stops_since: Timestamp,
    stop: Option<oneshot::Sender<()>>,
    /// Login of who stopped it.
    stopped_by: Option<String>,
}

impl<'a> FollowedThread<'a> {
    /// Begins with what was written since the event; resolves the future when someone stops the
    /// run.
    pub(super) fn new(
        env: &'a ActionEnv<'a>,
        event: &'a ForgeEvent,
        triggers: &'a Triggers,
        inbox: &'a Inbox,
    ) -> (Self, BoxFuture<'static, ()>) {
        let now = env.clock.now();
        let since = event.trigger.happened_at.unwrap_or(now);
        // What stopped an earlier attempt does not stop the one that a person started since.
        let attempt = env.environment.get("GITHUB_RUN_ATTEMPT").unwrap_or("1");
        let stops_since = if attempt == "1" { since } else { now };
        let seen = event.trigger.comment.iter().map(|comment| comment.id).collect();
        let (stop, stopped) = oneshot::channel();
        let stopped = async move {
            if stopped.await.is_err() {
                future::pending::<()>().await;
            }
        };
        let (stop, stopped_by) = (Some(stop), None);
        let thread =
            Self { env, event, triggers, inbox, since, seen, stops_since, stop, stopped_by };
        (thread, stopped.boxed())
    }

    /// Takes new comments into the inbox.
    pub(super) async fn look(&mut self) {
        let (Some(subject), Some(_)) = (&self.event.trigger.subject, &self.triggers.comment) else {
            return;
        };
        let read = self.env.forge.thread_comments(thread_of(subject), Some(self.since)).await;
        let comments = read.unwrap_or_else(|error| {
            tracing::debug!(%error, "new comments are not read");
            Vec::new()
        });
        let is_new = |comment: &ThreadComment| {
            thread::is_later(comment, &self.event.trigger).is_none_or(|later| later)
        };
        for comment in comments.into_iter().filter(is_new) {
            let command = self.command(&comment);
            let stops = command.as_ref().is_some_and(|command| self.stops(command, &comment));
            let is_for_run = stops || command.is_none();
            if !self.seen.insert(comment.id) || !is_for_run || !self.is_by_asker(&comment).await {
                continue;
            }
            if !stops {
                self.inbox.receive(message(comment));
            } else if let Some(stop) = self.stop.take() {
                tracing::info!(comment = comment.id, "stopped by a comment");
                // NOTE: fails only when the run has ended.
                let _ = stop.send(());
                self.stopped_by = Some(comment.author);
            }
        }
    }

    /// Returns the login of who stopped the run by a comment.
    pub(super) fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    /// Goes on looking until it is dropped.
    pub(super) async fn follow(&mut self) -> Infallible {
        loop {
            self.env.clock.sleep(PAUSE).await;
            self.look().await;
        }
    }

    /// Returns whether someone wrote a comment who may start runs by comments.
    async fn is_by_asker(&self, comment: &ThreadComment) -> bool {
        let Some(rule) = &self.triggers.comment else { return false };
        if comment.is_own || !comment.is_user {
            return false;
        }
        let tier = thread::tier_of(self.env, comment, self.event.trigger.is_private).await;
        self.env.inputs.allows_user(&comment.author)
            && tier.is_some_and(|tier| rule.tiers.contains(&tier))
    }

    fn command(&self, comment: &ThreadComment) -> Option<CommentCommand> {
        let rule = self.triggers.comment.as_ref()?;
        command::parse(&comment.body, &rule.prefix)
    }

    /// Returns whether a command ends this run.
    fn stops(&self, command: &CommentCommand, comment: &ThreadComment) -> bool {
        command.known_verb() == Some(Verb::Stop)
            && command.text.is_empty()
            && comment.written_at.is_none_or(|at| at >= self.stops_since)
    }
}

fn message(comment: ThreadComment) -> PersonMessage {
    let text = seen_of_markdown(&comment.body);
    PersonMessage {
        id: format!("comment {}", comment.id),
        by: comment.author,
        text: match comment.place {
            Some(place) => format!("At {place}:\n\n{text}"),
            None => text,
        },
        images: Vec::new(),
    }
}
