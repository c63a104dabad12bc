//! The progress comment: how far the session is, posted at most every ten seconds; while a command
//! runs, with how long it has been running.
//!
//! In: the latest progress, through a channel that keeps no other. Out: postings. It never stops
//! the run: a forge that does not answer costs the comment, not the work.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use crate::run::publish::{Publication, Publisher};
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

/// Posts the progress whenever it changed, until the sender is gone. The final comment is
/// `publish`'s.
pub async fn keep_posting(
    publisher: &Publisher<'_>,
    mut latest: watch::Receiver<Progress>,
    clock: &dyn Clock,
) {
    let Some(number) = publisher.destination.thread else { return };
    let mut published = Publication::default();
    loop {
        let facts = publisher.comment_facts(DecisionChannel::Unneeded);
        let (body, refresh) = {
            let progress = latest.borrow_and_update();
            let now = clock.now();
            (comment::progress(&facts, &progress, now), refresh_after(&progress, now))
        };
        publisher.post(publisher.comment(number, (&body, None), &facts), &mut published).await;
        if !published.notes.is_empty() {
            // The policy or the forge refused; it will not accept ten seconds later.
            return;
        }
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
    use super::{LONG, Progress, REFRESH, SLOW_REFRESH, refresh_after};
    use jiff::Timestamp;
    use locum_agent::report::activity::Activities;
    use locum_agent::session::event::{Event, JournalLine};
    use locum_agent::session::state::SessionState;
    use locum_base::id::TaskId;
    use pretty_assertions::assert_eq;

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
