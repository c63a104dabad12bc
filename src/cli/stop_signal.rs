//! The runtime of a command that runs a task, and the signals that stop it.

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::run::error::RunError;

/// Returns what carries out everything that waits, on this thread.
///
/// # Errors
/// When the system has no room for it.
pub fn runtime() -> Result<Runtime, RunError> {
    Builder::new_current_thread().enable_all().build().map_err(RunError::internal)
}

/// Ctrl-C and SIGTERM, noticed from when it is made on: one that comes before anything waits for it
/// is not lost.
#[derive(Clone)]
pub struct StopSignal(watch::Receiver<bool>);

impl StopSignal {
    /// Installs the handlers. Where that fails, the process ends by the signal as usual.
    pub fn install(runtime: &Runtime) -> Self {
        let (sender, receiver) = watch::channel(false);
        let _context = runtime.enter();
        match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
            (Ok(mut interrupt), Ok(mut terminate)) => {
                runtime.spawn(async move {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    sender.send_replace(true);
                });
            }
            (Err(error), _) | (_, Err(error)) => {
                tracing::warn!(%error, "cannot install handlers of SIGINT and SIGTERM");
            }
        }
        Self(receiver)
    }

    /// Resolves once one was received.
    pub async fn received(mut self) {
        if self.0.wait_for(|received| *received).await.is_err() {
            std::future::pending().await
        }
    }
}
