//! `FileStamp`: what changes when a file does, without a look at its content.

use rustix::fs::{FileType, RawMode, Stat};

/// What changes when a file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct FileStamp {
    inode: u64,
    pub(crate) mode: RawMode,
    pub(crate) size_bytes: i64,
    pub(crate) modified_ns: i64,
    pub(crate) changed_ns: i64,
}

impl FileStamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            mode: stat.st_mode,
            size_bytes: stat.st_size,
            modified_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            changed_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether it is of the same file or folder, which may have another name and mode by now. A new
    /// file may have got the number of one that is gone, but not its time.
    pub(crate) fn is_same_place(self, other: Self) -> bool {
        let is_folder = FileType::from_raw_mode(self.mode) == FileType::Directory;
        self.of_place() == other.of_place()
            && (is_folder
                || (self.size_bytes, self.modified_ns) == (other.size_bytes, other.modified_ns))
    }

    /// Returns what stays the same while things change in a folder.
    pub(crate) fn of_place(self) -> Self {
        let mode = FileType::from_raw_mode(self.mode).as_raw_mode();
        Self { mode, size_bytes: 0, modified_ns: 0, changed_ns: 0, ..self }
    }
}

/// Returns a time in nanoseconds. Systems differ in the type of what is left of a second.
fn nanoseconds(seconds: i64, rest: impl TryInto<i64>) -> i64 {
    // Wraps in the year 2262 and stays comparable.
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest.try_into().unwrap_or_default())
}
