//! What maintainers write on the thread of a run while it works: the model reads it before its next
//! turn.
//!
//! In: new comments on the thread, looked for every half minute. Out: messages in the session's
//! inbox, from those alone who may start runs by a comment. A comment that is a command starts its
//! own run, so it is left to that.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use jiff::Timestamp;

use crate::run::action::admission::thread_of;
use crate::run::action::{ActionEnv, ForgeEvent, thread};
use locum_agent::session::messages::{Inbox, PersonMessage};
use locum_forge::{ThreadComment, command};
use locum_modes::prompts::task::seen_of_markdown;
use locum_policy::schema::Triggers;

/// Time between two looks at the thread: a token of a workflow may ask 1,000 times an hour.
const PAUSE: Duration = Duration::from_secs(30);

/// The thread of a run, as far as it was read.
pub(super) struct FollowedThread<'a> {
    env: &'a ActionEnv<'a>,
    event: &'a ForgeEvent,
    triggers: Triggers,
    inbox: &'a Inbox,
    since: Timestamp,
    seen: BTreeSet<u64>,
}

impl<'a> FollowedThread<'a> {
    /// Begins with what was written since the event.
    pub(super) fn new(
        env: &'a ActionEnv<'a>,
        event: &'a ForgeEvent,
        triggers: Triggers,
        inbox: &'a Inbox,
    ) -> Self {
        let since = event.trigger.happened_at.unwrap_or_else(|| env.clock.now());
        let seen = event.trigger.comment.iter().map(|comment| comment.id).collect();
        Self { env, event, triggers, inbox, since, seen }
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
        for comment in comments {
            if self.seen.insert(comment.id) && self.is_for_run(&comment).await {
                self.inbox.receive(message(comment));
            }
        }
    }

    /// Goes on looking until it is dropped.
    pub(super) async fn follow(mut self) -> Infallible {
        loop {
            self.env.clock.sleep(PAUSE).await;
            self.look().await;
        }
    }

    /// Returns whether a comment was written to the run by someone who may start runs by comments.
    async fn is_for_run(&self, comment: &ThreadComment) -> bool {
        let Some(rule) = &self.triggers.comment else { return false };
        let asks = command::parse(&comment.body, &rule.prefix).is_some();
        if asks || comment.is_own || !comment.is_user {
            return false;
        }
        let tier = thread::tier_of(self.env, comment, self.event.trigger.is_private).await;
        self.env.inputs.allows_user(&comment.author)
            && tier.is_some_and(|tier| rule.tiers.contains(&tier))
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
    }
}
