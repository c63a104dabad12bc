//! `IndexFolder`: where the word indexes of repositories are kept between runs, below the state
//! folder.
//!
//! In: a repository's git folder, bytes. Out: the bytes that were kept last. A file is written
//! beside its place and renamed, so that of two runs at once each finds a whole one, and one that
//! is killed leaves the last. What is in them is not judged here.
#![expect(clippy::disallowed_methods, reason = "its files lie outside the checkout")]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::private::make_private;

/// Most files that are kept: one or two for each repository, those written last.
const FILES_LIMIT: usize = 16;

/// Most bytes of all files together.
const FOLDER_LIMIT_BYTES: u64 = 256 * 1024 * 1024;

/// See the module.
#[derive(Clone, Debug)]
pub struct IndexFolder {
    folder: PathBuf,
    name: String,
}

/// A file that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptIndex {
    /// What it holds.
    pub bytes: Vec<u8>,
    /// When it was written, in nanoseconds since 1970 by the file system's clock.
    pub written_ns: u64,
}

impl IndexFolder {
    /// Returns the folder below a state folder, for the repository whose objects lie in a folder:
    /// its worktrees share an index.
    pub fn of(state: &Path, git_folder: &Path) -> Self {
        let hash =
            git2::Oid::hash_object(git2::ObjectType::Blob, git_folder.as_os_str().as_bytes());
        let name = hash.map_or_else(|_| "index".to_owned(), |hash| hash.to_string());
        Self { folder: state.join("index"), name: format!("{name}.words") }
    }

    /// Returns the place of the vectors of the same repository.
    pub fn vectors(&self) -> Self {
        Self { folder: self.folder.clone(), name: self.name.replace(".words", ".vectors") }
    }

    /// Returns what was kept; `None` where nothing is, where it is larger than the limit, and where
    /// it cannot be read.
    pub fn read(&self, limit_bytes: usize) -> Option<KeptIndex> {
        // Whoever left a named pipe there is not waited for.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(self.folder.join(&self.name), flags, Mode::empty()).ok()?;
        let file = File::from(file);
        let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let size = usize::try_from(about.len()).ok().filter(|size| *size <= limit_bytes)?;
        let mut bytes = Vec::with_capacity(size);
        file.take(about.len()).read_to_end(&mut bytes).ok()?;
        Some(KeptIndex { bytes, written_ns: nanoseconds(about.ctime(), about.ctime_nsec()) })
    }

    /// Keeps an index in the place of the last, and forgets those that were written longest ago
    /// where there are too many.
    ///
    /// # Errors
    /// When the folder cannot be made or written to.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<()> {
        make_private(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.persist(self.folder.join(&self.name)).map_err(|error| error.error)?;
        self.forget()
    }

    /// Removes what is too much: also what a run that was killed left half written.
    fn forget(&self) -> io::Result<()> {
        let entries = std::fs::read_dir(&self.folder)?.flatten().filter_map(|entry| {
            let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let is_own = entry.file_name() == self.name.as_str();
            Some((is_own, about.modified().ok()?, about.len(), entry.path()))
        });
        let mut files: Vec<_> = entries.collect();
        files.sort_by(|left, right| right.cmp(left));
        let mut bytes = 0_u64;
        for (place, (is_own, _, size, path)) in files.into_iter().enumerate() {
            bytes = bytes.saturating_add(size);
            if !is_own && (place >= FILES_LIMIT || bytes > FOLDER_LIMIT_BYTES) {
                // Another run may have removed it meanwhile.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }
}

/// Returns a time of a file in nanoseconds since 1970.
pub fn nanoseconds(seconds: i64, nanoseconds: i64) -> u64 {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    u64::try_from(total).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pretty_assertions::assert_eq;
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::{FILES_LIMIT, FOLDER_LIMIT_BYTES, IndexFolder};

    fn kept(folder: &IndexFolder) -> Option<Vec<u8>> {
        folder.read(100).map(|kept| kept.bytes)
    }

    #[test]
    fn what_was_kept_last_is_found_for_each_repository() {
        let state = tempfile::tempdir().unwrap();
        let one = IndexFolder::of(state.path(), Path::new("/one/.git"));
        let other = IndexFolder::of(state.path(), Path::new("/other/.git"));
        assert_eq!(kept(&one), None);
        one.keep(b"first").unwrap();
        one.keep(b"second").unwrap();
        other.keep(b"other").unwrap();
        assert_eq!(kept(&one).unwrap(), b"second");
        assert_eq!(kept(&other).unwrap(), b"other");
        assert_eq!(one.read(5), None, "larger than is read");
        assert!(one.read(6).unwrap().written_ns > 1_000_000_000_000_000_000);
    }

    #[test]
    fn of_runs_that_write_at_once_a_reader_finds_one_whole() {
        let state = tempfile::tempdir().unwrap();
        let folder = IndexFolder::of(state.path(), Path::new("/one/.git"));
        let content = |writer: u8| vec![writer; 50_000 + 10_000 * usize::from(writer)];
        folder.keep(&content(0)).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = folder.clone();
                scope.spawn(move || {
                    for _ in 0..50 {
                        folder.keep(&content(writer)).unwrap();
                        let found = folder.read(1 << 20).unwrap().bytes;
                        assert!(found == content(found[0]), "{} of {}", found.len(), found[0]);
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(state.path().join("index")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_and_holds_nothing() {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("index"), "a file").unwrap();
        let folder = IndexFolder::of(state.path(), Path::new("/one"));
        assert!(folder.keep(b"x").is_err());
        assert_eq!(kept(&folder), None);
    }

    #[test]
    fn what_is_no_file_is_not_waited_for_and_replaced() {
        let state = tempfile::tempdir().unwrap();
        let folder = IndexFolder::of(state.path(), Path::new("/one/.git"));
        folder.keep(b"first").unwrap();
        let place = state.path().join("index").join(&folder.name);
        std::fs::remove_file(&place).unwrap();
        mknodat(CWD, &place, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(kept(&folder), None);
        folder.keep(b"second").unwrap();
        assert_eq!(kept(&folder).unwrap(), b"second");
    }

    #[test]
    fn old_indexes_and_half_written_ones_are_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let index = state.path().join("index");
        std::fs::create_dir(&index).unwrap();
        let killed = std::fs::File::create(index.join(".tmpKilled")).unwrap();
        killed.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        for number in 0..FILES_LIMIT + 2 {
            IndexFolder::of(state.path(), Path::new(&format!("/{number}"))).keep(b"x").unwrap();
        }
        assert_eq!(std::fs::read_dir(&index).unwrap().count(), FILES_LIMIT);
        assert!(!index.join(".tmpKilled").exists());
        let huge = std::fs::File::create(index.join("huge.words")).unwrap();
        huge.set_len(FOLDER_LIMIT_BYTES).unwrap();
        huge.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let last = IndexFolder::of(state.path(), Path::new("/last"));
        last.keep(b"last").unwrap();
        assert_eq!(kept(&last).unwrap(), b"last");
        assert!(!index.join("huge.words").exists());
    }
}
