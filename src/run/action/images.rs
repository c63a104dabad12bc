//! Images of the thread that a run belongs to: those that the issue or pull request, its comments
//! and the comment that asks show, fetched from the forge before the run begins.
//!
//! In: the texts as they were written, each with its author. Out: images with where they are from,
//! and a line for each that is missing. They are data as the texts are, whoever attached them. One
//! that cannot be fetched never ends a run.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;

use crate::run::action::ActionEnv;
use crate::run::action::admission::AdmittedEvent;
use crate::run::action::thread::WrittenText;
use crate::run::extras::RunExtras;
use crate::run::prepare::PreparedRun;
use locum_agent::session::journal::Journal;
use locum_base::image::Image;
use locum_base::text::head;
use locum_forge::attachments::{LinkedImage, images_in};

/// Images that a run is shown of its thread.
const IMAGES_LIMIT: usize = 8;
/// Images that are fetched at once.
const AT_ONCE: usize = 4;
/// Time for all of them together.
const TIME_LIMIT: Duration = Duration::from_secs(45);
/// Bytes of the words that stand for an image.
const ALT_LIMIT_BYTES: usize = 200;

/// Gives a run the images of its thread, or says why it does not see them. Returns their addresses.
pub(super) async fn show(
    env: &ActionEnv<'_>,
    admitted: &AdmittedEvent<'_>,
    written: &[WrittenText],
    run: &mut PreparedRun,
    extras: &mut RunExtras,
) -> Vec<String> {
    let mut shown = Vec::new();
    let linked = linked(admitted, written);
    if linked.is_empty() {
        return shown;
    }
    if !run.sees_images() {
        extras.unseen_images = linked.len();
        run.plan.notes.push(extras.unseen(run));
        return shown;
    }
    let left_out = linked.len().saturating_sub(IMAGES_LIMIT);
    if left_out > 0 {
        run.plan.notes.push(format!(
            "{left_out} images of the thread are not shown: a run is shown {IMAGES_LIMIT}"
        ));
    }
    let fetches = linked.into_iter().take(IMAGES_LIMIT).map(|(from, image)| async move {
        let bytes = env.forge.attachment(&image.address).await;
        (from, image, bytes.map_err(|error| error.to_string()))
    });
    let mut fetched = futures::stream::iter(fetches).buffered(AT_ONCE);
    let late = env.clock.sleep(TIME_LIMIT);
    tokio::pin!(late);
    loop {
        let next = tokio::select! {
            next = fetched.next() => next,
            () = &mut late => {
                let seconds = TIME_LIMIT.as_secs();
                run.plan.notes.push(format!("images took longer than {seconds} seconds"));
                None
            }
        };
        let Some((from, linked, bytes)) = next else { break };
        let alt = head(&linked.alt, ALT_LIMIT_BYTES);
        let alt = if alt.is_empty() { String::new() } else { format!(": {alt}") };
        match bytes.and_then(|bytes| extras.add_image(run, &bytes, format!("{from}{alt}"))) {
            Ok(()) => shown.push(linked.address),
            Err(why) => run.plan.notes.push(missing(&linked, &why)),
        }
    }
    shown
}

/// Fetches the images of a session that was carried here, whose journal describes them. One that is
/// gone or another one by now stays described.
pub(super) async fn bring_back(
    env: &ActionEnv<'_>,
    folder: &Path,
    images: &[Image],
    addresses: &[String],
) {
    for address in addresses.iter().take(IMAGES_LIMIT) {
        let fetched = env.forge.attachment(address).await.map_err(|error| error.to_string());
        let kept = fetched.and_then(|bytes| {
            let found = Image::measure(&bytes).map_err(|error| format!("it {error}"))?;
            if images.iter().all(|image| image.hash != found.hash) {
                return Err("it is another image by now".to_owned());
            }
            Journal::keep_in(folder, &bytes).map_err(|error| error.to_string())
        });
        if let Err(why) = kept {
            tracing::warn!(address, why, "an image of the session is not shown again");
        }
    }
}

fn missing(linked: &LinkedImage, why: &str) -> String {
    let address = linked.address.split(['?', '#']).next().unwrap_or_default();
    format!("the image `{}` is not shown: {why}", head(address, ALT_LIMIT_BYTES))
}

/// Returns every image of the thread once, with whose it is: of the comment that asks, of the issue
/// or pull request, then of comments, the latest first.
fn linked(admitted: &AdmittedEvent<'_>, written: &[WrittenText]) -> Vec<(String, LinkedImage)> {
    let trigger = &admitted.event.trigger;
    let mut texts: Vec<(String, &str)> = Vec::new();
    if let Some(comment) = &trigger.comment {
        let from = format!("in the comment that asks, written by {}", trigger.actor.login);
        texts.push((from, &comment.body));
    }
    if let Some(subject) = &trigger.subject {
        let kind = if subject.is_pull_request { "pull request" } else { "issue" };
        let from = format!("in {kind} #{}, written by {}", subject.number, subject.author);
        texts.push((from, &subject.body));
    }
    texts.extend(
        written.iter().rev().map(|text| (format!("in a {}", text.from), text.body.as_str())),
    );
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (from, text) in texts {
        for image in images_in(text) {
            if seen.insert(image.address.clone()) {
                all.push((from.clone(), image));
            }
        }
    }
    all
}
