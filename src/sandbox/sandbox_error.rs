//! `SandboxError`: why a command gets no sandbox although the policy wants one.

use std::io;

/// Why a command gets no sandbox although the policy wants one: it is refused.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel does not give what the policy requires.
    #[error(
        "this kernel cannot provide the sandbox that the policy requires: {0}; `commands: {{ \
         sandbox: best-effort }}` runs commands with less"
    )]
    Below(String),
    /// Nothing would restrict commands to the proxy.
    #[error(
        "`commands.network: policy` needs a sandbox with namespaces or seccomp user notification, \
         and this kernel provides neither; use `off` or `open`"
    )]
    NoProxy,
    /// The rules could not be made.
    #[error("cannot set up the sandbox: {0}")]
    Rules(String),
    /// The private folder could not be made.
    #[error("cannot create the private folder of commands: {0}")]
    Folder(#[from] io::Error),
}
