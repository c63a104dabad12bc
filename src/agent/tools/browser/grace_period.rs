//! `GracePeriod`: how long a loaded page that keeps making requests is waited for.
//!
//! In: the requests of a page that have no answer yet, and that the time is over. Out: whether the
//! page counts as idle.

use std::time::Duration;

use crate::tools::browser::page::PageRecord;

/// How long a page that is loaded may go on making requests.
pub(super) const GRACE_LIMIT: Duration = Duration::from_secs(2);

/// The requests that were pending when the period ended, once it has: later ones are not waited
/// for.
#[derive(Debug, Default)]
pub(super) struct GracePeriod(Option<Vec<String>>);

impl GracePeriod {
    /// Whether it still runs.
    pub(super) fn is_running(&self) -> bool {
        self.0.is_none()
    }

    /// Ends it: the page has been loaded for the whole time.
    pub(super) fn end(&mut self, page: &PageRecord) {
        self.0 = Some(page.pending_requests().cloned().collect());
    }

    /// Returns true when it has ended, and all requests that were pending then have ended, too.
    pub(super) fn is_settled(&self, page: &PageRecord) -> bool {
        let pending = |id: &String| page.pending_requests().any(|other| other == id);
        self.0.as_ref().is_some_and(|begun| !begun.iter().any(pending))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::GracePeriod;
    use crate::tools::browser::page::PageRecord;

    #[test]
    fn requests_after_the_period_are_not_waited_for() {
        let (mut page, mut grace) = (PageRecord::default(), GracePeriod::default());
        let sent = |id: &str| json!({ "requestId": id, "request": { "url": "http://h/" } });
        page.take_in("Network.requestWillBeSent", &sent("early"), "M");
        assert!(grace.is_running() && !grace.is_settled(&page));
        grace.end(&page);
        page.take_in("Network.requestWillBeSent", &sent("late"), "M");
        assert!(!grace.is_running() && !grace.is_settled(&page));
        page.take_in("Network.loadingFinished", &json!({ "requestId": "early" }), "M");
        assert!(page.is_busy() && grace.is_settled(&page));
    }
}
