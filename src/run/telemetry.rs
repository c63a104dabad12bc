//! The trace of a run, sent to a collector when the run is over.
//!
//! In: where it goes, the journal's folder. Out: nothing; a collector that is not there, refuses or
//! is slow costs a line in the log and a bounded wait, never the run.

use std::path::Path;

use crate::config::telemetry::Collector;
use crate::run::prepare::PreparedRun;
use locum_agent::report::trace::span::Parent;
use locum_agent::report::trace::{self, TraceFacts, otlp};
use locum_agent::session::journal::Journal;
use locum_base::clock::Clock;
use locum_models::transport::client;

/// Sends the trace of the session whose journal lies in a folder, where the run has a collector.
pub(super) async fn send(run: &PreparedRun, folder: &Path, clock: &dyn Clock) {
    let Some(collector) = &run.telemetry else { return };
    let sent = tokio::select! {
        sent = send_trace(collector, run, folder) => sent,
        () = clock.sleep(collector.timeout) => {
            Err(format!("the collector took longer than {} s", collector.timeout.as_secs_f64()))
        }
    };
    if let Err(error) = sent {
        tracing::warn!(%error, "the trace of this run was not sent");
    }
}

async fn send_trace(collector: &Collector, run: &PreparedRun, folder: &Path) -> Result<(), String> {
    let lines = Journal::read(folder).map_err(|error| error.to_string())?;
    let spans = trace::spans(&lines, &facts(collector, run));
    let hidden = run.redactor.plain_values();
    for body in otlp::bodies(&spans, &collector.resource) {
        let body = hidden.hide(&body).into_owned();
        let status =
            client::post(&collector.url, &collector.headers, body, collector.timeout).await?;
        if !(200..300).contains(&status) {
            return Err(format!("the collector answered with status {status}"));
        }
    }
    tracing::debug!(spans = spans.len(), "the trace of this run was sent");
    Ok(())
}

fn facts(collector: &Collector, run: &PreparedRun) -> TraceFacts {
    let traced = run.models.set.as_ref().map(|model| model.traced.clone());
    TraceFacts {
        main: traced.main,
        task: traced.task,
        condense: traced.condense,
        own: traced.own.into_iter().collect(),
        content: collector.content,
        parent: collector.parent.as_deref().and_then(Parent::parse),
    }
}
