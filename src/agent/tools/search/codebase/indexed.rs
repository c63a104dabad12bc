//! The words of the files below a folder: of those that were indexed before and did not change as
//! they were kept, of the others from the files themselves.
//!
//! In: an opened folder. Out: files that may be read, each with its words. Files that may not be
//! read are not looked at. The index is kept where the run has a state folder and enough of it is
//! new; without one, it is made for each call.

use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::tools::ToolContext;
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::walk::{FolderWalk, threads};
use locum_base::path::RepoPath;
use locum_index::kept::{
    ContentHash, FileStamp, INDEX_LIMIT_BYTES, IndexedFile, content_hash, parse, render,
};
use locum_index::words::FileWords;
use locum_workspace::index_folder::{IndexFolder, KeptIndex, nanoseconds};

/// Largest file whose words are taken, in bytes; a larger one is generated.
pub(super) const FILE_LIMIT_BYTES: u64 = 1024 * 1024;

/// Most files that are looked at, in the order of their paths.
pub(super) const FILES_LIMIT: usize = 100_000;

/// How many files have to be read again before the index is kept again.
const NEW_FILES: usize = 32;

/// How long before an index was written a file may have changed without its time showing it: a tick
/// of the file system's clock, and some.
const TICK_NS: u64 = 2_000_000_000;

/// A file that was listed.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ListedFile {
    path: RepoPath,
    state: ListedState,
}

/// What is known of a file before it is read.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ListedState {
    Refused,
    TooLarge,
    /// Its size, and when it was changed.
    Seen(u64, u64),
}

/// A file with its words.
pub(super) struct WordsFile<'k> {
    pub(super) path: RepoPath,
    pub(super) stamp: FileStamp,
    pub(super) hash: ContentHash,
    words: KeptWords<'k>,
    /// Whether it was read for that.
    is_read: bool,
}

/// Where the words of a file are.
enum KeptWords<'k> {
    /// In the index.
    Kept(&'k [u8]),
    Own(Vec<u8>),
}

impl WordsFile<'_> {
    /// Returns its words; none of a binary file.
    pub(super) fn words(&self) -> FileWords<'_> {
        self.indexed().file_words()
    }

    fn indexed(&self) -> IndexedFile<'_> {
        let words = match &self.words {
            KeptWords::Kept(words) => words,
            KeptWords::Own(words) => words.as_slice(),
        };
        IndexedFile { path: self.path.as_str(), stamp: self.stamp, hash: self.hash, words }
    }
}

/// Which part of a folder is searched.
pub(super) struct SearchedFiles<'k> {
    /// The files, in the order of their paths.
    pub(super) files: Vec<WordsFile<'k>>,
    /// How many are larger than is searched.
    pub(super) too_large: usize,
    /// Whether there are others that may not be read.
    pub(super) has_refused: bool,
    /// Whether there are more than are looked at.
    pub(super) has_more: bool,
}

/// The place of the index of a run's repository; `None` where nothing is kept.
pub(super) fn index_folder(context: ToolContext<'_>) -> Option<IndexFolder> {
    let git_folder = context.repo.git_folders().pop()?;
    Some(IndexFolder::of(context.run.state_folder?, &git_folder))
}

/// Reads what was kept.
pub(super) fn load(folder: Option<&IndexFolder>) -> KeptIndex {
    folder.and_then(|folder| folder.read(INDEX_LIMIT_BYTES)).unwrap_or_default()
}

/// Finds the words of the files below a folder, and keeps them.
pub(super) fn search<'k>(
    opened: &OpenedFolder<'_>,
    kept: &'k KeptIndex,
    index: Option<&IndexFolder>,
    context: ToolContext<'_>,
) -> SearchedFiles<'k> {
    let known = parse(&kept.bytes).unwrap_or_default();
    let mut listed = list(opened, context);
    let has_more = listed.len() > FILES_LIMIT;
    listed.truncate(FILES_LIMIT);
    let words =
        Indexing { opened, known: &known, sure_ns: kept.written_ns.saturating_sub(TICK_NS) };
    let files = words.of_files(&listed);
    let is_state = |state: ListedState| listed.iter().filter(|file| file.state == state).count();
    let (too_large, refused) = (is_state(ListedState::TooLarge), is_state(ListedState::Refused));
    if let Some(index) = index
        && (known.is_empty() || files.iter().filter(|file| file.is_read).count() >= NEW_FILES)
        && FolderWalk::finds(context.checkout.root(), opened.path())
    {
        let is_gone = |path: &str| {
            let below = opened.path().is_root()
                || RepoPath::parse(path).is_ok_and(|path| path.is_within(opened.path()));
            let place = listed.binary_search_by(|file| file.path.as_str().cmp(path));
            let state = place.ok().and_then(|place| listed.get(place)).map(|file| &file.state);
            // What another run may read stays.
            below && state != Some(&ListedState::Refused)
        };
        keep(index, &known, &files, is_gone);
    }
    SearchedFiles { files, too_large, has_refused: refused > 0, has_more }
}

fn list(opened: &OpenedFolder<'_>, context: ToolContext<'_>) -> Vec<ListedFile> {
    let visible = context.visible;
    opened.files(|entry, path| {
        let state = if visible(&path) {
            let about = entry.metadata().ok()?;
            if about.len() > FILE_LIMIT_BYTES {
                ListedState::TooLarge
            } else {
                ListedState::Seen(about.len(), nanoseconds(about.ctime(), about.ctime_nsec()))
            }
        } else {
            ListedState::Refused
        };
        Some(ListedFile { path, state })
    })
}

/// Writes the index: what was found, and what was known and not looked for.
fn keep(
    index: &IndexFolder,
    known: &[IndexedFile<'_>],
    files: &[WordsFile<'_>],
    is_gone: impl Fn(&str) -> bool,
) {
    let others = known.iter().filter(|file| !is_gone(file.path)).copied();
    let mut all: Vec<IndexedFile<'_>> =
        others.chain(files.iter().map(WordsFile::indexed)).collect();
    all.sort_unstable_by(|left, right| left.path.cmp(right.path));
    all.dedup_by(|left, right| left.path == right.path);
    let kept = render(all.into_iter()).map(|bytes| index.keep(&bytes));
    if let Some(Err(error)) = kept {
        tracing::debug!(%error, "the index of words is not kept");
    }
}

/// Takes the words of files.
struct Indexing<'f, 'k> {
    opened: &'f OpenedFolder<'f>,
    /// What was kept, in the order of paths.
    known: &'f [IndexedFile<'k>],
    /// A file that changed before this is known by its size and time.
    sure_ns: u64,
}

impl<'k> Indexing<'_, 'k> {
    /// Returns files with their words, in their order; those that cannot be read are left out.
    fn of_files(&self, listed: &[ListedFile]) -> Vec<WordsFile<'k>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut files, mut content) = (Vec::new(), Vec::new());
            while let Some(file) = listed.get(next.fetch_add(1, Ordering::Relaxed)) {
                files.extend(self.of_file(file, &mut content));
            }
            files
        };
        let threads = threads().min(listed.len().div_ceil(16)).max(1);
        let mut files = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut files = work();
            files.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
            files
        });
        files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        files
    }

    fn of_file(&self, listed: &ListedFile, content: &mut Vec<u8>) -> Option<WordsFile<'k>> {
        let ListedState::Seen(size_bytes, modified_ns) = listed.state else { return None };
        let (path, stamp) = (listed.path.clone(), FileStamp { size_bytes, modified_ns });
        let known = self.known.binary_search_by(|file| file.path.cmp(path.as_str()));
        let known = known.ok().and_then(|place| self.known.get(place));
        if let Some(known) = known
            && modified_ns < self.sure_ns
            && known.stamp == stamp
        {
            let words = KeptWords::Kept(known.words);
            return Some(WordsFile { path, stamp, hash: known.hash, words, is_read: false });
        }
        self.opened.read_into(&path, FILE_LIMIT_BYTES, content).ok()?;
        let hash = content_hash(content);
        let words = match known.filter(|known| known.hash == hash) {
            Some(known) => KeptWords::Kept(known.words),
            None => KeptWords::Own(words_of_content(content)),
        };
        Some(WordsFile { path, stamp, hash, words, is_read: true })
    }
}

/// Returns the words of a text, none of a binary content.
fn words_of_content(content: &[u8]) -> Vec<u8> {
    let mut words = Vec::new();
    FileWords::render(if content.contains(&0) { &[] } else { content }, &mut words);
    words
}
