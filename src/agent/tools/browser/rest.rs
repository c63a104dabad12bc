//! `Rest`: when a page that never stops asking for things has been waited for long enough.
//!
//! In: what a page has on its way, and that it has been loaded for a while. Out: whether it counts
//! as at rest.

use std::time::Duration;

use crate::tools::browser::page::PageRecord;

/// How long a page that is loaded may go on making requests.
pub(super) const RESTLESS_LIMIT: Duration = Duration::from_secs(2);

/// Requests that were on their way when the time was over, once it was: what a page asks for later
/// is not waited for.
#[derive(Debug, Default)]
pub(super) struct Rest(Option<Vec<String>>);

impl Rest {
    /// Whether the time is still running.
    pub(super) fn is_open(&self) -> bool {
        self.0.is_none()
    }

    /// Notes that a page has been loaded for the whole time.
    pub(super) fn time_is_over(&mut self, page: &PageRecord) {
        self.0 = Some(page.on_their_way().cloned().collect());
    }

    /// Returns true when all that was on its way when the time was over has come or failed.
    pub(super) fn is_enough(&self, page: &PageRecord) -> bool {
        self.0.as_ref().is_some_and(|begun| !page.on_their_way().any(|id| begun.contains(id)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Rest;
    use crate::tools::browser::page::PageRecord;

    #[test]
    fn what_a_page_asks_for_when_the_time_is_over_is_not_waited_for() {
        let (mut page, mut rest) = (PageRecord::default(), Rest::default());
        let sent = |id: &str| json!({ "requestId": id, "request": { "url": "http://h/" } });
        page.take_in("Network.requestWillBeSent", &sent("early"), "M");
        assert!(rest.is_open() && !rest.is_enough(&page));
        rest.time_is_over(&page);
        page.take_in("Network.requestWillBeSent", &sent("late"), "M");
        assert!(!rest.is_open() && !rest.is_enough(&page));
        page.take_in("Network.loadingFinished", &json!({ "requestId": "early" }), "M");
        assert!(page.is_busy() && rest.is_enough(&page));
    }
}
