//! The progress comment: how far the session is, posted at most every ten seconds; while a command
//! runs, with how long it has been running.
//!
//! In: the latest progress, through a channel that keeps no other. Out: postings. It never stops
//! the run: a forge that does not answer costs an edit of the comment, not the work.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use crate::run::publish::Publisher;
use crate::run::publish::unpublished::NotPosted;
use locum_agent::report::comment::{self, Progress};
use locum_agent::report::waiting::DecisionChannel;
use locum_base::clock::Clock;

/// Shortest time between two edits of the comment.
const PAUSE: Duration = Duration::from_secs(10);
/// Time between two edits that only say how long a command has been running.
const REFRESH: Duration = Duration::from_secs(30);
/// The same for one that takes long.
const SLOW_REFRESH: Duration = Duration::from_secs(120);
/// From when on it takes long.
const LONG: Duration = Duration::from_secs(300);
/// Failures in a row after which no more is posted: each may wait out of what the result may wait.
const FAILURES_LIMIT: u32 = 3;

/// Posts the progress whenever it changed, until the sender is gone. The final comment is
/// `publish`'s.
pub async fn keep_posting(
    publisher: &Publisher<'_>,
    mut latest: watch::Receiver<Progress>,
    clock: &dyn Clock,
) {
    let Some(number) = publisher.destination.thread else { return };
    let mut failures = PostFailures::default();
    loop {
        let facts = publisher.comment_facts(DecisionChannel::Unneeded);
        let (body, refresh) = {
            let progress = latest.borrow_and_update();
            let now = clock.now();
            (comment::progress(&facts, &progress, now), refresh_after(&progress, now))
        };
        let posting = publisher.comment(number, (&body, None), &facts);
        let failed = publisher.ask_and_post(posting).await.err();
        if let Some(why) = &failed {
            tracing::warn!(%why, "the progress of the run is not posted");
        }
        if failures.are_too_many(failed.as_ref()) {
            return;
        }
        // What was not posted is posted at the next occasion, also where nothing happens meanwhile.
        let refresh = if failed.is_some() { Some(PAUSE) } else { refresh };
        tokio::select! {
            () = clock.sleep(PAUSE) => {}
            () = silence(latest.clone()) => return,
        }
        let again = async {
            match refresh {
                Some(refresh) => clock.sleep(refresh.saturating_sub(PAUSE)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = latest.changed() => if changed.is_err() { return },
            () = again => {}
        }
    }
}

/// How often the comment was not posted, in a row.
#[derive(Debug, Default)]
struct PostFailures(u32);

impl PostFailures {
    /// Counts a posting and why it failed, if it did; returns whether there is no point in posting
    /// more.
    fn are_too_many(&mut self, failed: Option<&NotPosted>) -> bool {
        self.0 = if failed.is_some() { self.0 + 1 } else { 0 };
        self.0 >= FAILURES_LIMIT || failed.is_some_and(|why| !why.may_pass())
    }
}

/// Returns after which time the comment is posted again although nothing happened; `None` where
/// nothing runs.
fn refresh_after(progress: &Progress, now: Timestamp) -> Option<Duration> {
    let since = progress.now.latest()?;
    let elapsed = now.duration_since(since).unsigned_abs();
    Some(if elapsed < LONG { REFRESH } else { SLOW_REFRESH })
}

/// Resolves when the sender is gone.
async fn silence(mut latest: watch::Receiver<Progress>) {
    while latest.changed().await.is_ok() {}
}

#[cfg(test)]
mod tests {
    use super::{LONG, NotPosted, PostFailures, Progress, REFRESH, SLOW_REFRESH, refresh_after};
    use jiff::Timestamp;
    use locum_agent::report::activity::Activities;
    use locum_agent::session::event::{Event, JournalLine};
    use locum_agent::session::state::SessionState;
    use locum_base::id::TaskId;
    use locum_forge::ForgeError;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_posting_that_failed_for_a_moment_is_not_the_last_and_one_that_is_refused_is() {
        let (forge, action) = ("github", "POST /x".to_owned());
        let message = "502".to_owned();
        let busy = NotPosted::Forge(ForgeError::Unavailable {
            forge,
            action: action.clone(),
            message: message.clone(),
        });
        // In a row, and after one that worked.
        let posted = [Some(&busy), Some(&busy), None, Some(&busy), Some(&busy)];
        let mut failures = PostFailures::default();
        assert_eq!(posted.map(|failed| failures.are_too_many(failed)), [false; 5]);
        assert!(failures.are_too_many(Some(&busy)), "the third in a row");
        for refused in [
            ForgeError::Forbidden { forge, action: action.clone(), message },
            ForgeError::NotFound { forge, what: "/x".to_owned() },
            ForgeError::RateLimited { forge, action, retry_after_s: None },
        ] {
            let refused = NotPosted::Forge(refused);
            assert!(PostFailures::default().are_too_many(Some(&refused)), "{refused}");
        }
        assert!(!PostFailures::default().are_too_many(Some(&NotPosted::LeaseOver)));
    }

    #[test]
    fn a_comment_is_refreshed_while_something_runs_and_more_seldom_when_it_takes_long() {
        let at = Timestamp::from_second(1_000).unwrap();
        assert_eq!(refresh_after(&Progress::default(), at), None, "nothing runs");
        let commands = vec!["cargo test".to_owned()];
        let event =
            Event::Checking { task: TaskId(0), call: "c".to_owned(), commands, snapshot: None };
        let mut now = Activities::default();
        now.take_in(&JournalLine { at, event }, &SessionState::default());
        let progress = Progress { now, ..Progress::default() };
        assert_eq!(refresh_after(&progress, at), Some(REFRESH));
        assert_eq!(refresh_after(&progress, at + LONG), Some(SLOW_REFRESH));
    }
}
