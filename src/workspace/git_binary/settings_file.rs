//! `SettingsFile`: git settings that hold a token, where a git that is started can read them and
//! nothing else of this machine is told. On Linux they are in memory. Where a process cannot open
//! its own memory again, they are in a file that only this user reads, until git has ended.

use std::io::{self, Write as _};

/// Settings in a file for git.
#[cfg(target_os = "linux")]
pub(super) type SettingsFile = InMemory;
/// The same, on the disk.
#[cfg(not(target_os = "linux"))]
pub(super) type SettingsFile = OnDisk;

/// Settings in memory. A child that is started while it is open can read it.
#[cfg(target_os = "linux")]
pub(super) struct InMemory(std::fs::File);

#[cfg(target_os = "linux")]
impl InMemory {
    /// Takes the settings.
    ///
    /// # Errors
    /// What the kernel says.
    pub(super) fn of(text: &str) -> io::Result<Self> {
        let flags = rustix::fs::MemfdFlags::empty();
        let mut file = std::fs::File::from(rustix::fs::memfd_create(c"settings", flags)?);
        file.write_all(text.as_bytes())?;
        Ok(Self(file))
    }

    /// Returns where git finds them.
    pub(super) fn path(&self) -> String {
        use std::os::fd::AsRawFd as _;
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }

    /// Called when git was started: nothing else is started while the file is open, so that no
    /// later child gets it.
    pub(super) fn started(self) -> Option<Self> {
        None
    }
}

/// Settings in a file that is removed with this value.
#[cfg(any(not(target_os = "linux"), test))]
pub(super) struct OnDisk(tempfile::NamedTempFile);

#[cfg(any(not(target_os = "linux"), test))]
impl OnDisk {
    /// Takes the settings; the file is readable for its owner alone.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn of(text: &str) -> io::Result<Self> {
        let mut file = tempfile::Builder::new().prefix("locum-settings-").tempfile()?;
        file.write_all(text.as_bytes())?;
        Ok(Self(file))
    }

    /// Returns where git finds them.
    pub(super) fn path(&self) -> String {
        self.0.path().display().to_string()
    }

    /// Called when git was started: it may read the file until it ends.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn started(self) -> Option<Self> {
        Some(self)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test reads what was written")]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::OnDisk;

    #[test]
    fn a_file_on_disk_is_its_owners_alone_and_gone_afterwards() {
        let file = OnDisk::of("[a]\nb = c\n").unwrap();
        let path = file.path();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[a]\nb = c\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        drop(file);
        assert!(!Path::new(&path).exists());
    }
}
