//! `OwnNetworks`: networks that end at `127.0.0.1`, kept from command to command. The kernel takes
//! longer to make one, and to take it apart, than for everything else a command gets.
//!
//! In: the network of a command that ended with all its processes. Out: one for the next command.
//! Nothing is left in it: sockets end with the processes that had them. Commands that run at the
//! same time never share one.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

/// Most networks that are kept: that many commands run at the same time and find one.
const KEPT_LIMIT: usize = 8;

/// The networks that no command has.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnNetworks(Rc<RefCell<Vec<Arc<OwnedFd>>>>);

/// The network of one command.
#[derive(Debug)]
pub(crate) struct LentNetwork {
    network: Arc<OwnedFd>,
    kept_in: OwnNetworks,
}

impl OwnNetworks {
    /// Returns a network that no command uses; `None` when all are in use.
    pub(crate) fn lend(&self) -> Option<LentNetwork> {
        let network = self.0.borrow_mut().pop()?;
        Some(LentNetwork { network, kept_in: self.clone() })
    }

    /// Takes up one that a command was the first to have.
    pub(crate) fn take_up(&self, network: OwnedFd) -> LentNetwork {
        LentNetwork { network: Arc::new(network), kept_in: self.clone() }
    }
}

impl LentNetwork {
    /// Returns it for whoever enters it.
    pub(crate) fn network(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.network)
    }

    /// Keeps it for another command. Only to be called once no process is in it any more.
    pub(crate) fn keep(self) {
        let mut kept = self.kept_in.0.borrow_mut();
        if kept.len() < KEPT_LIMIT {
            kept.push(self.network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OwnNetworks;

    #[test]
    fn a_network_is_lent_to_one_command_at_a_time() {
        let networks = OwnNetworks::default();
        assert!(networks.lend().is_none());
        let descriptor = || rustix::io::dup(std::io::stdin()).unwrap();
        let (one, other) = (networks.take_up(descriptor()), networks.take_up(descriptor()));
        assert!(networks.lend().is_none(), "both have commands in them");
        one.keep();
        let again = networks.lend().unwrap();
        assert!(networks.lend().is_none());
        drop(other);
        assert!(networks.lend().is_none(), "one that may still be in use is not kept");
        again.keep();
        assert!(networks.lend().is_some());
    }
}
