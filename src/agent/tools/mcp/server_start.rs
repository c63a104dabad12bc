//! [`ServerStart`]: the act of starting a server, or connecting to it.

use locum_policy::intent::{Act, Intent};
use locum_policy::urls::Destination;

/// Starting a server, or connecting to it.
#[derive(Clone, Debug)]
pub(crate) struct ServerStart {
    pub(super) server: String,
    pub(super) destination: Option<Destination>,
}

impl Act for ServerStart {
    fn intents(&self) -> Vec<Intent> {
        let server = &self.server;
        let connection = self.destination.iter().map(|destination| Intent::Service {
            server: server.clone(),
            destination: destination.clone(),
        });
        std::iter::once(Intent::Server(server.clone())).chain(connection).collect()
    }
}
