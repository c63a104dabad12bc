//! How long a run rides out an outage of its provider.

use std::time::Duration;

use futures::executor::block_on;
use futures::stream::{self, BoxStream, StreamExt as _};
use locum_base::chat::StopReason;
use locum_base::clock::Clock as _;
use locum_base::id::TaskId;
use locum_models::retry::{StreamObserver, complete};
use locum_models::{Delta, Model, ModelError, ModelRequest};
use locum_testing::clock::TestClock;

use super::RETRY;

/// A model that is away for a while, and asks to be asked again at once.
struct AwayModel<'c> {
    clock: &'c TestClock,
    outage: Duration,
}

impl Model for AwayModel<'_> {
    fn label(&self) -> &'static str {
        "away"
    }

    fn stream<'a>(
        &'a self,
        _request: ModelRequest<'a>,
    ) -> BoxStream<'a, Result<Delta, ModelError>> {
        let items = if self.clock.elapsed() < self.outage {
            let (model, message) = ("away".to_owned(), "overloaded (status 529)".to_owned());
            vec![Err(ModelError::Unavailable { model, message, retry_after: Some(Duration::ZERO) })]
        } else {
            vec![Ok(Delta::Text("back".to_owned())), Ok(Delta::Stop(StopReason::End))]
        };
        stream::iter(items).boxed()
    }
}

#[test]
fn a_run_rides_out_minutes_of_an_outage_and_not_an_hour() {
    for (outage_s, is_ridden_out) in [(30, true), (150, true), (3600, false)] {
        let clock = TestClock::default();
        let model = AwayModel { clock: &clock, outage: Duration::from_secs(outage_s) };
        let request = ModelRequest::new(&[], TaskId(0), "code", 0);
        let observer =
            StreamObserver { watch: &mut |_| {}, lost: &mut Vec::new(), admit: &mut |_| true };
        let reply = block_on(complete(&model, request, RETRY, &clock, observer));
        assert_eq!(reply.is_ok(), is_ridden_out, "{outage_s} s: {reply:?}");
        let waited = clock.elapsed();
        assert!(waited < Duration::from_secs(310), "{outage_s} s: {waited:?}");
    }
}
