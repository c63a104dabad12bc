//! The progress comment: how far the session is, posted at most every ten seconds.
//!
//! In: the latest progress, through a channel that keeps no other. Out: postings. It never stops
//! the run: a forge that does not answer costs the comment, not the work.

use std::time::Duration;

use tokio::sync::watch;

use crate::run::publish::{Publication, Publisher};
use locum_agent::report::comment::{self, DecisionChannel, Progress};
use locum_base::clock::Clock;

/// Shortest time between two edits of the comment.
const PAUSE: Duration = Duration::from_secs(10);
/// There is nothing to decide on while the run is at work.
pub(crate) const UNDECIDED: DecisionChannel<'static> = DecisionChannel::Nowhere("");

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
        let facts = publisher.comment_facts(UNDECIDED);
        let body = comment::progress(&facts, &latest.borrow_and_update());
        publisher.post(publisher.comment(number, &body, UNDECIDED), &mut published).await;
        if !published.notes.is_empty() {
            // The policy or the forge refused; it will not accept ten seconds later.
            return;
        }
        tokio::select! {
            () = clock.sleep(PAUSE) => {}
            () = silence(latest.clone()) => return,
        }
        if latest.changed().await.is_err() {
            return;
        }
    }
}

/// Resolves when the sender is gone.
async fn silence(mut latest: watch::Receiver<Progress>) {
    while latest.changed().await.is_ok() {}
}
