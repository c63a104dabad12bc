//! `ListedHosts`: the hosts that a policy lists for commands, and the proxy that holds commands to
//! them.

use std::sync::Arc;

use crate::network::Connector;
use crate::network::proxy::NetworkProxy;
use locum_policy::Policy;
use locum_policy::intent::{Connection, Facts};

/// Who decides what commands reach through the proxy.
pub(crate) struct ListedHosts {
    policy: Arc<Policy>,
    facts: Facts,
}

impl ListedHosts {
    /// Takes the policy of a run.
    pub(crate) fn of(policy: &Policy, facts: &Facts) -> Self {
        Self { policy: Arc::new(policy.clone()), facts: facts.clone() }
    }

    /// Returns the proxy that commands in a mode are held to.
    pub(crate) fn proxy(&self, mode: &str) -> NetworkProxy {
        let (policy, facts) =
            (Arc::clone(&self.policy), Facts { mode: mode.to_owned(), ..self.facts.clone() });
        NetworkProxy::new(
            Connector::default(),
            Arc::new(move |to| policy.admit(Connection::Command(to), &facts)),
        )
    }
}
