//! [`RecordStore`]: where the record of what runs spend together is kept.

use locum_workspace::git_binary::GitBinary;
use locum_workspace::remote::Remote;

/// Where the record is kept.
#[derive(Clone, Copy)]
pub enum RecordStore<'a> {
    /// In the state directory, for every run of this repository on this machine.
    Local,
    /// On a ref of the repository at the forge.
    Remote {
        /// The `git` binary.
        git: &'a GitBinary,
        /// Where the ref is fetched from and pushed to.
        remote: &'a Remote,
    },
}
