//! The comment of a run that was killed: it says "working" until the next run on the same work says
//! that it ended.

use crate::run::action::ActionEnv;
use crate::run::action::admission::PROGRESS;
use crate::run::publish::{Publication, Publisher};
use locum_agent::report::comment::{WORKING, abandoned};
use locum_forge::Thread;
use locum_forge::posts::Posting;
use locum_forge::sanitise::{self, TextRules};

/// Says in the comment that begins with `marker` that its run ended, if it still says that it works.
/// Anyone who can push can write a claim, so the line has to be one of ours.
pub(in crate::run::action) async fn close(
    env: &ActionEnv<'_>,
    publisher: &Publisher<'_>,
    marker: &str,
) {
    let Some(number) = publisher.destination.thread else { return };
    let is_own = marker.starts_with(PROGRESS) && marker != publisher.destination.marker;
    if !is_own || marker.lines().count() != 1 || !marker.ends_with(" -->") {
        return;
    }
    let thread = Thread { number, is_pull_request: false };
    let Ok(ours) = env.forge.own_comments(thread, marker, None).await else { return };
    let works = ours.iter().any(|comment| {
        let mut lines = comment.body.lines();
        lines.next() == Some(marker) && lines.next().is_some_and(|line| line.starts_with(WORKING))
    });
    if works {
        let rules = TextRules { markers: vec![marker.to_owned()], ..TextRules::default() };
        let body = sanitise::markdown(&abandoned(marker), &rules, &publisher.run.redactor);
        let posting = Posting::Comment { number, marker: marker.to_owned(), body };
        publisher.post(posting, &mut Publication::default()).await;
    }
}
