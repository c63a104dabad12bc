//! The parts of taking a view, by which a command that did not start says what was refused.

use std::io;

/// A part of taking the view, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ViewStage {
    /// Creating the namespaces.
    Namespaces = 1,
    /// Who the user is inside.
    User,
    /// The first process inside.
    Processes,
    /// The new root and what is in it.
    Root,
    /// A `/proc` of its own.
    Proc,
    /// Leaving the old root.
    Pivot,
    /// The network of its own.
    Network,
    /// A limit on the numbers of processes.
    Pids,
    /// The copy-on-write layer over the checkout.
    Layer,
}

impl ViewStage {
    const ALL: [Self; 9] = [
        Self::Namespaces,
        Self::User,
        Self::Processes,
        Self::Root,
        Self::Proc,
        Self::Pivot,
        Self::Network,
        Self::Pids,
        Self::Layer,
    ];

    /// Returns the part with this number.
    pub(crate) fn numbered(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| *stage as u8 == number)
    }

    /// Adds to an error that this part could not be had.
    pub(crate) fn explain(self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{} for the sandbox: {error}", self.label()))
    }

    /// Returns what could not be done.
    fn label(self) -> &'static str {
        match self {
            Self::Namespaces => "making namespaces",
            Self::User => "becoming the same user inside",
            Self::Processes => "starting the first process inside",
            Self::Root => "making a root",
            Self::Proc => "mounting `/proc`",
            Self::Pivot => "leaving the old root",
            Self::Network => "starting the loopback network",
            Self::Pids => "limiting the number of processes",
            Self::Layer => "laying a copy-on-write layer over the checkout",
        }
    }
}
