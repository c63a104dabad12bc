//! `SharedNetwork`: the network of a command in the background, for the commands that are to reach
//! it. It ends at `127.0.0.1`.
//!
//! In: what the first command in it was given. Out: the network for each that follows, and for each
//! a place of its own where it finds its proxy.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The first port of proxies: below those that the kernel gives away, above those of usual servers.
const FIRST_PROXY_PORT: u16 = 21_000;

/// How many ports there are for them. A port that was served a moment ago cannot be had at once.
const PROXY_PORTS: u16 = 10_000;

/// A network that several commands share.
#[derive(Debug)]
pub struct SharedNetwork {
    network: Arc<OwnedFd>,
    used: Cell<u16>,
}

impl SharedNetwork {
    /// Returns the network of a command, for others.
    pub(crate) fn of(network: Arc<OwnedFd>) -> Self {
        Self { network, used: Cell::new(0) }
    }

    /// Returns it for whoever enters it.
    pub(crate) fn network(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.network)
    }

    /// Returns where the next command finds its proxy: each is judged by the rules of its own mode.
    pub(crate) fn next_proxy(&self) -> SocketAddrV4 {
        let used = self.used.get();
        self.used.set((used + 1) % PROXY_PORTS);
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, FIRST_PROXY_PORT + used)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SharedNetwork;

    #[test]
    fn every_command_has_a_proxy_of_its_own() {
        let descriptor = rustix::io::dup(std::io::stdin()).unwrap();
        let network = SharedNetwork::of(Arc::new(descriptor));
        let ports: Vec<u16> = (0..3).map(|_| network.next_proxy().port()).collect();
        assert_eq!(ports, [21_000, 21_001, 21_002]);
        for _ in 3..10_000 {
            network.next_proxy();
        }
        assert_eq!(network.next_proxy().port(), 21_000);
    }
}
