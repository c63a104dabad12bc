//! Files that git keeps through a filter of `.gitattributes`, such as Git LFS: the checkout has
//! their content, git has a pointer to it or another form.
//!
//! In: what git has of a path, and a checkout. Out: whether the checkout holds what the filter
//! makes of that, and such files for a worktree, which would hold what git has. A filter is a
//! program of the repository and never runs. Git's index says that a file is as git last saw it,
//! and a pointer of Git LFS has the hash of the content.
#![expect(clippy::disallowed_methods, reason = "writes files of a worktree that is being made")]

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use git2::{FileMode, Index, IndexEntry, IndexTime, ObjectType, Oid, Tree};
use sha2::{Digest, Sha256};

use crate::attributes::{Attributes, PathAttributes};
use crate::file_stamp::FileStamp;
use crate::lfs_pointer::LfsPointer;
use crate::repo::{Repo, RepoError};
use crate::stored::{OnDisk, StoredFile};
use crate::write::FILE_LIMIT_BYTES;
use locum_base::path::RepoPath;

/// Most bytes of such files that are copied into one worktree.
const BYTES_LIMIT: u64 = 2 << 30;

/// What names a filter in `.gitattributes`.
const FILTER: &[u8] = b"filter=";

/// Where Git LFS keeps content in git's folder, by its hash.
const LFS_OBJECTS: &str = "lfs/objects";

/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// What git knew of the files of a checkout when it last wrote its index; read once, when it is
/// asked for. Nothing where it cannot be read.
#[derive(Default)]
pub(super) struct SeenFiles(OnceCell<Option<SeenIndex>>);

struct SeenIndex {
    index: Index,
    written_ns: i64,
}

impl Repo {
    /// Returns what git keeps of what lies at a path. Of a file that goes through a filter that is
    /// what a commit has, `before`, as long as nobody changed the file.
    pub(super) fn kept(
        &self,
        path: &RepoPath,
        attributes: &PathAttributes,
        stored: StoredFile,
        before: Option<&StoredFile>,
    ) -> StoredFile {
        self.kept_as_seen(&SeenFiles::default(), (path, attributes), stored, before)
    }

    /// As [`Repo::kept`], for one of several paths.
    pub(super) fn kept_as_seen(
        &self,
        seen: &SeenFiles,
        (path, attributes): (&RepoPath, &PathAttributes),
        stored: StoredFile,
        before: Option<&StoredFile>,
    ) -> StoredFile {
        let same = before.filter(|before| {
            before.mode == stored.mode
                && attributes.is_filtered(before)
                && self.is_filtered_form(seen, path, &before.content)
        });
        same.cloned().unwrap_or_else(|| attributes.kept(stored))
    }

    /// Returns the content of a path that goes through a filter, of which git has `kept`: what lies
    /// there, where the filter makes that of it, else what Git LFS has here. Written over with what
    /// git has, the content would be lost.
    pub(super) fn filtered_form(
        &self,
        path: &RepoPath,
        attributes: &PathAttributes,
        kept: &StoredFile,
    ) -> Option<StoredFile> {
        let is_made_of_it = attributes.is_filtered(kept)
            && self.is_filtered_form(&SeenFiles::default(), path, &kept.content);
        if !is_made_of_it {
            return self.lfs_content(attributes, kept);
        }
        match self.checkout.stored(path) {
            Ok(OnDisk::Stored(there)) => (there.mode == kept.mode).then_some(there),
            Ok(OnDisk::Other | OnDisk::Nothing) | Err(_) => None,
        }
    }

    /// Whether what git has of a path is what a filter made of its content. What a run records is
    /// the content itself, so this is what git's index has.
    pub(super) fn is_unfiltered(
        &self,
        path: &RepoPath,
        attributes: &PathAttributes,
        kept: &StoredFile,
    ) -> bool {
        let seen = SeenFiles::default();
        let has = |seen: &SeenIndex| {
            let entry = seen.index.get_path(Path::new(path.as_str()), 0)?;
            Some(Oid::hash_object(ObjectType::Blob, &kept.content).ok()? == entry.id)
        };
        attributes.is_filtered(kept) && seen.of(self).and_then(has).unwrap_or(false)
    }

    /// Reads from git's folder the content that a pointer of Git LFS stands for.
    fn lfs_content(&self, attributes: &PathAttributes, kept: &StoredFile) -> Option<StoredFile> {
        if !attributes.is_filtered(kept) {
            return None;
        }
        let pointer = LfsPointer::parse(&kept.content).filter(|pointer| pointer.is_plain)?;
        let is_hash = pointer.hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let levels = pointer.hash.get(..2).zip(pointer.hash.get(2..4)).filter(|_| is_hash)?;
        let place = self.git.commondir().join(LFS_OBJECTS).join(levels.0).join(levels.1);
        let object = File::open(place.join(pointer.hash)).ok()?;
        let mut content = Vec::new();
        object.take(FILE_LIMIT_BYTES).read_to_end(&mut content).ok()?;
        let is_whole = is_content_of(&kept.content, content.as_slice());
        is_whole.then_some(StoredFile { mode: kept.mode, content })
    }

    /// Gives a worktree that is being made the files of this checkout that go through a filter, in
    /// place of what git has of them. What somebody changed here, what is too large and what cannot
    /// be copied, because the disk is full for one, stays as git has it.
    ///
    /// # Errors
    /// When git cannot read what it has, or not even that can be written.
    pub(super) fn copy_filtered(&self, made: &Self, tree: &Tree<'_>) -> Result<(), RepoError> {
        let mut index = made.git.index()?;
        let filtered = made.filtered_files(&index, tree)?;
        if filtered.is_empty() {
            return Ok(());
        }
        let seen = SeenFiles::default();
        let mut room_bytes = BYTES_LIMIT;
        for (path, mut entry) in filtered {
            let kept = made.git.find_blob(entry.id)?;
            if !self.is_filtered_form(&seen, &path, kept.content()) {
                continue;
            }
            let Ok(from) = self.checkout.open_regular(&path) else { continue };
            let to = made.checkout.absolute(&path);
            let copied = copy(from, &to, &mut room_bytes).or_else(|_| {
                room_bytes = 0;
                fs::write(&to, kept.content()).map(|()| None)
            });
            let copied = copied.map_err(|error| RepoError::Worktree {
                folder: to.display().to_string(),
                message: error.to_string(),
            })?;
            // Git sees nothing changed in it.
            if let Some(stamp) = copied {
                entry.mtime = index_time(stamp.modified_ns);
                entry.ctime = index_time(stamp.changed_ns);
                entry.file_size = index_size(stamp.size_bytes);
                index.add(&entry)?;
            }
        }
        Ok(index.write()?)
    }

    /// Returns the files of an index that go through a filter by the attributes of a commit.
    fn filtered_files(
        &self,
        index: &Index,
        tree: &Tree<'_>,
    ) -> Result<Vec<(RepoPath, IndexEntry)>, RepoError> {
        let names_filter = |entry: &IndexEntry| {
            let is_filter = |content: &[u8]| content.windows(FILTER.len()).any(|at| at == FILTER);
            entry.path.ends_with(b".gitattributes")
                && self.git.find_blob(entry.id).is_ok_and(|blob| is_filter(blob.content()))
        };
        let mut found = Vec::new();
        if !index.iter().any(|entry| names_filter(&entry)) {
            return Ok(found);
        }
        let mut attributes = Attributes::new(&self.git, tree);
        let file_modes: [u32; 2] = [FileMode::Blob, FileMode::BlobExecutable].map(u32::from);
        for entry in index.iter().filter(|entry| file_modes.contains(&entry.mode)) {
            let name = std::str::from_utf8(&entry.path).ok();
            let Some(path) = name.and_then(|name| RepoPath::parse(name).ok()) else { continue };
            if attributes.of(&path)?.filter.is_some() {
                found.push((path, entry));
            }
        }
        Ok(found)
    }

    /// Whether a file of the checkout is what its filter makes of what git has, as far as that is
    /// known without the filter.
    fn is_filtered_form(&self, seen: &SeenFiles, path: &RepoPath, kept: &[u8]) -> bool {
        let Ok(file) = self.checkout.open_regular(path) else { return false };
        let id = Oid::hash_object(ObjectType::Blob, kept);
        let (Ok(id), Ok(stat)) = (id, rustix::fs::fstat(&file)) else { return false };
        seen.of(self).is_some_and(|seen| seen.is_unchanged(path, id, FileStamp::of(&stat)))
            || is_content_of(kept, file)
    }
}

impl SeenFiles {
    fn of(&self, repo: &Repo) -> Option<&SeenIndex> {
        self.0.get_or_init(|| SeenIndex::of(repo)).as_ref()
    }
}

impl SeenIndex {
    /// Reads the index; `None` where it has a form that only git itself reads.
    fn of(repo: &Repo) -> Option<Self> {
        let mut index = repo.git.index().ok()?;
        index.read(false).ok()?;
        let written = rustix::fs::stat(index.path()?).ok()?;
        let written_ns = FileStamp::of(&written).modified_ns;
        Some(Self { index, written_ns })
    }

    /// Whether a file is as git saw it when it last had this object of it.
    fn is_unchanged(&self, path: &RepoPath, id: Oid, stamp: FileStamp) -> bool {
        let entry = self.index.get_path(Path::new(path.as_str()), 0);
        entry.is_some_and(|entry| {
            entry.id == id
                // What was written in the same moment as the index may have been changed in it.
                && stamp.modified_ns < self.written_ns
                && is_time(entry.mtime, stamp.modified_ns)
                && is_time(entry.ctime, stamp.changed_ns)
                && entry.file_size == index_size(stamp.size_bytes)
        })
    }
}

/// Copies a file over another with its time of change, where there is room for it.
fn copy(mut from: File, to: &Path, room_bytes: &mut u64) -> io::Result<Option<FileStamp>> {
    let facts = from.metadata()?;
    let Some(left) = room_bytes.checked_sub(facts.len()) else { return Ok(None) };
    *room_bytes = left;
    let mut written = File::create(to)?;
    io::copy(&mut from, &mut written)?;
    written.set_modified(facts.modified()?)?;
    Ok(Some(FileStamp::of(&rustix::fs::fstat(&written)?)))
}

/// Whether what is read is the content that a pointer of Git LFS stands for.
fn is_content_of(pointer: &[u8], content: impl Read) -> bool {
    let pointer = LfsPointer::parse(pointer).filter(|pointer| pointer.is_plain);
    let Some(LfsPointer { hash, size_bytes, .. }) = pointer else { return false };
    let mut hasher = Sha256::new();
    let read = io::copy(&mut content.take(size_bytes.saturating_add(1)), &mut hasher);
    read.is_ok_and(|read_bytes| read_bytes == size_bytes)
        && format!("{:x}", hasher.finalize()) == hash
}

/// Whether the index has a time; it may have it in whole seconds.
fn is_time(time: IndexTime, at_ns: i64) -> bool {
    let rest_ns = i64::from(time.nanoseconds());
    i64::from(time.seconds()) == at_ns.div_euclid(SECOND_NS)
        && (rest_ns == 0 || rest_ns == at_ns.rem_euclid(SECOND_NS))
}

fn index_time(at_ns: i64) -> IndexTime {
    let seconds = i32::try_from(at_ns.div_euclid(SECOND_NS)).unwrap_or_default();
    IndexTime::new(seconds, u32::try_from(at_ns.rem_euclid(SECOND_NS)).unwrap_or_default())
}

/// Returns a size as the index has it: its last 32 bits.
fn index_size(size_bytes: i64) -> u32 {
    u32::try_from(size_bytes & i64::from(u32::MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use git2::Repository;
    use pretty_assertions::assert_eq;
    use sha2::{Digest, Sha256};

    use super::{index_size, index_time, is_content_of};
    use crate::Workspace;
    use crate::file_stamp::FileStamp;
    use crate::fixture::{RepoFixture, path, paths};
    use crate::git_binary::GitBinary;
    use crate::repo::CommitId;

    const CONTENT: &str = "the content of a large file\n";

    fn pointer() -> String {
        let hash = Sha256::digest(CONTENT);
        let head = "version https://git-lfs.github.com/spec/v1";
        format!("{head}\noid sha256:{hash:x}\nsize {}\n", CONTENT.len())
    }

    /// A checkout that has the content of `a.bin`, of which git has another form.
    fn filtered(kept: &str) -> (RepoFixture, CommitId) {
        let fixture = RepoFixture::new();
        fixture.write(".gitattributes", "*.bin filter=x\n");
        fixture.write("a.bin", kept);
        let commit = CommitId(fixture.commit("filtered"));
        fixture.write("a.bin", CONTENT);
        (fixture, commit)
    }

    /// Lets the index say that the content is what the filter made, as git does in a checkout.
    fn note_in_index(fixture: &RepoFixture) {
        let file = fixture.root.join("a.bin");
        let opened = std::fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
        let stamp = FileStamp::of(&rustix::fs::stat(&file).unwrap());
        let git = Repository::open(&fixture.root).unwrap();
        let mut index = git.index().unwrap();
        let mut entry = index.get_path(std::path::Path::new("a.bin"), 0).unwrap();
        entry.mtime = index_time(stamp.modified_ns);
        entry.ctime = index_time(stamp.changed_ns);
        entry.file_size = index_size(stamp.size_bytes);
        index.add(&entry).unwrap();
        index.write().unwrap();
    }

    fn read(workspace: &Workspace) -> String {
        std::fs::read_to_string(workspace.checkout.root().join("a.bin")).unwrap()
    }

    #[tokio::test]
    async fn a_worktree_has_what_a_filter_made_in_the_checkout_and_nothing_is_changed_there() {
        let (fixture, commit) = filtered("another form\n");
        note_in_index(&fixture);
        let outside = tempfile::tempdir().unwrap();
        let make = |name: &str| fixture.repo.worktree(&outside.path().join(name), &commit).unwrap();
        let (made, _) = make("1");
        assert_eq!(read(&made), CONTENT);
        let (nested, _) = made.repo.worktree(&outside.path().join("2"), &commit).unwrap();
        assert_eq!(read(&nested), CONTENT);
        let (file, touched) = (path("a.bin"), paths(&["a.bin"]));
        for repo in [&fixture.repo, &made.repo, &nested.repo] {
            assert!(repo.is_as_in(&commit, &file));
            assert_eq!(repo.changes(&commit, &touched).unwrap(), []);
        }
        assert_eq!(fixture.repo.checkpoint("s1", &commit, &touched, "x").unwrap(), commit);
        fixture.repo.restore(&commit, &touched).unwrap();
        let there = std::fs::read_to_string(fixture.root.join("a.bin")).unwrap();
        assert_eq!(there, CONTENT);
        assert!(fixture.repo.is_as_in(&commit, &file), "it is as git last saw it");
        let search = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        let git = GitBinary::new(&made.repo, &[search].into());
        let seen = made.repo.snapshot(&git).await.unwrap();
        assert!(seen.dirty().next().is_none(), "{seen:?}");

        // What somebody changed is a change, and stays with them.
        fixture.write("a.bin", CONTENT.to_uppercase());
        assert_eq!(read(&make("3").0), "another form\n");
        assert!(!fixture.repo.is_as_in(&commit, &file));
        assert_eq!(fixture.repo.changes(&commit, &touched).unwrap().len(), 1);
        assert!(!fixture.repo.is_as_in(&commit, &path("new.bin")));
    }

    #[test]
    fn the_pointer_of_git_lfs_says_by_itself_what_the_content_is() {
        let (fixture, commit) = filtered(&pointer());
        let touched = paths(&["a.bin"]);
        assert_eq!(fixture.repo.changes(&commit, &touched).unwrap(), []);
        let outside = tempfile::tempdir().unwrap();
        let (made, _) = fixture.repo.worktree(&outside.path().join("1"), &commit).unwrap();
        assert_eq!(read(&made), CONTENT);
        fixture.write("a.bin", CONTENT.to_uppercase());
        assert!(!fixture.repo.is_as_in(&commit, &path("a.bin")));
        // Where no filter is named, content and pointer are two files.
        fixture.write(".gitattributes", "*.bin -text\n");
        fixture.write("a.bin", pointer());
        let plain = CommitId(fixture.commit("plain"));
        fixture.write("a.bin", CONTENT);
        assert!(!fixture.repo.is_as_in(&plain, &path("a.bin")));

        for (pointer, expected) in [
            (pointer(), true),
            (pointer().replace("size 28", "size 27"), false),
            (pointer().replace("size 28", "size 29"), false),
            (pointer().replace("sha256:", "sha256:0"), false),
            (pointer().replace("oid", "ext-0-foo sha256:ab\noid"), false),
            (pointer().replace("v1", "v2"), false),
            (CONTENT.to_owned(), false),
        ] {
            let found = is_content_of(pointer.as_bytes(), CONTENT.as_bytes());
            assert_eq!(found, expected, "{pointer}");
        }
    }

    #[test]
    fn content_that_was_written_over_comes_back_from_git_lfs_or_is_named() {
        let (fixture, commit) = filtered(&pointer());
        let touched = paths(&["a.bin", "src/lib.rs"]);
        fixture.write("a.bin", "a command's\n");
        fixture.write("src/lib.rs", "a command's\n");
        let kept = tempfile::tempdir().unwrap();
        let take_back = || fixture.repo.take_back(&commit, &touched, kept.path()).unwrap();
        let read = || std::fs::read_to_string(fixture.root.join("a.bin")).unwrap();
        assert_eq!((take_back(), read()), (paths(&["a.bin"]), pointer()));

        let hash = format!("{:x}", Sha256::digest(CONTENT));
        let object = format!(".git/lfs/objects/{}/{}/{hash}", &hash[..2], &hash[2..4]);
        fixture.write("a.bin", "a command's\n");
        fixture.write(&object, CONTENT.to_uppercase());
        assert_eq!((take_back(), read()), (paths(&["a.bin"]), pointer()), "of another hash");
        fixture.write("a.bin", "a command's\n");
        fixture.write(&object, CONTENT);
        assert_eq!((take_back(), read()), (paths(&[]), CONTENT.to_owned()));
        assert_eq!(fixture.repo.changes(&commit, &touched).unwrap(), []);
        assert_eq!(fixture.repo.restore(&commit, &touched).unwrap(), paths(&[]));
    }

    #[test]
    fn line_ends_alone_are_no_change_whatever_git_status_says() {
        let fixture = RepoFixture::new();
        fixture.write(".gitattributes", "*.bat text eol=crlf\n");
        fixture.write("a.bat", "a\nb\n");
        let commit = CommitId(fixture.commit("line ends"));
        for (content, expected) in [("a\r\nb\r\n", true), ("a\nb\n", true), ("a\r\nc\r\n", false)] {
            fixture.write("a.bat", content);
            assert_eq!(fixture.repo.is_as_in(&commit, &path("a.bat")), expected, "{content:?}");
        }
        fixture.remove("a.bat");
        assert!(!fixture.repo.is_as_in(&commit, &path("a.bat")));
    }
}
