//! `OpenedFolder`: the folder, or the one file, that a list or a search looks through.
//!
//! Build output that commands left in the layer over the checkout is seen where what git ignores is
//! seen: in a folder that was named on purpose. So is what a worktree shares with another checkout.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::DirEntry;

use crate::tools::dispatch::CheckedCall;
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::near_names::{WantedEntry, did_you_mean};
use crate::tools::search::walk::{FolderWalk, SkippedFolders};
use crate::tools::{CallError, ToolContext};
use locum_base::path::RepoPath;
use locum_base::text::counted;
use locum_policy::Permit;
use locum_workspace::checkout::{EntryKind, FileError, ReadableFolder};
use locum_workspace::layer::Layer;

/// See the module.
pub(crate) struct OpenedFolder<'c> {
    root: &'c Path,
    checkout: ReadableFolder<'c>,
    /// What commands left there, and what is shared: one or several trees of files, the uppermost
    /// first.
    built: Option<(&'c Layer, Vec<ReadableFolder<'c>>)>,
    kind: EntryKind,
    /// How many entries were come upon whose names are not paths.
    unnamed: Arc<AtomicUsize>,
}

/// An entry of a folder.
pub(crate) struct ListedPath {
    pub(crate) path: RepoPath,
    pub(crate) is_folder: bool,
}

impl<'c> OpenedFolder<'c> {
    /// Opens what a call looks through; `verb` is what it does there.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(crate) fn open(
        verb: &str,
        place: &ResolvedPath,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'c>,
    ) -> Result<Self, CallError> {
        Self::open_as(WantedEntry::Either, verb, place, (permit, context))
    }

    fn open_as(
        wanted: WantedEntry,
        verb: &str,
        place: &ResolvedPath,
        (permit, context): (&Permit<CheckedCall>, ToolContext<'c>),
    ) -> Result<Self, CallError> {
        let missing = || {
            let near = did_you_mean(&place.asked, wanted, context);
            CallError(format!("Cannot {verb} `{}`: it does not exist.{near}", place.asked))
        };
        let failed = |why: String| CallError(format!("Cannot {verb} `{}`: {why}.", place.asked));
        let path = &place.real;
        let checkout =
            context.checkout.folder(permit, path).map_err(|error| failed(error.to_string()))?;
        let (mut built, mut built_kind) = (None, None);
        if let Some(layer) = context.layer
            && let Some(entry) = layer.entry(path)
            && (layer.is_shared(path) || !FolderWalk::finds(context.checkout.root(), path))
        {
            let folders = layer.readable_folders(permit, path);
            let folders = folders.map_err(|error| failed(error.to_string()))?;
            (built, built_kind) = (Some((layer, folders)), Some(entry.kind));
        }
        let kind = match built_kind {
            Some(kind) => kind,
            None if context.layer.is_some_and(|layer| layer.covers(path)) => {
                return Err(missing());
            }
            None => match checkout.entry(path) {
                Ok(Some(entry)) => entry.kind,
                Ok(None) => return Err(missing()),
                Err(error) => return Err(failed(error.to_string())),
            },
        };
        Ok(Self { root: context.checkout.root(), checkout, built, kind, unnamed: Arc::default() })
    }

    /// As [`OpenedFolder::open`], for a path that has to be a folder.
    ///
    /// # Errors
    /// A sentence for the model.
    pub(crate) fn open_folder(
        verb: &str,
        place: &ResolvedPath,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'c>,
    ) -> Result<Self, CallError> {
        let folder = Self::open_as(WantedEntry::Folder, verb, place, (permit, context))?;
        if folder.is_folder() {
            Ok(folder)
        } else {
            Err(CallError(format!("Cannot {verb} `{}`: it is not a folder.", place.asked)))
        }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &RepoPath {
        self.checkout.path()
    }

    /// Returns the walks through it; what they find that commands do not see is left out by
    /// [`OpenedFolder::is_seen`].
    pub(crate) fn walks(&self, skip: SkippedFolders) -> Vec<FolderWalk> {
        let built = self.built.iter().flat_map(|(_, folders)| folders);
        let built = built.map(|folder| FolderWalk::of_built(folder, skip));
        let all = built.chain(std::iter::once(FolderWalk::new(self.root, &self.checkout, skip)));
        all.map(|walk| walk.counting(&self.unnamed)).collect()
    }

    /// Says, to be put behind an answer, how many files were come upon that no path can name; empty
    /// for none.
    pub(crate) fn unnamed_note(&self) -> String {
        match self.unnamed.load(Ordering::Relaxed) {
            0 => String::new(),
            count => format!(
                "\n\n(Left out: {} with a name that is not a path here, such as one with a control \
                 character or one that is not UTF-8. Commands reach what has such a name.)",
                counted(count, "file")
            ),
        }
    }

    /// Whether what was found in the tree of files at `root` is seen by commands: something in
    /// another tree can lie over it.
    fn is_seen(&self, root: &Path, path: &RepoPath) -> bool {
        let Some((layer, _)) = &self.built else { return true };
        if root == self.root { !layer.covers(path) } else { layer.found_in(path) == Some(root) }
    }

    /// Lists what lies `depth` levels below the folder's own entries, at most `room` of those that
    /// are `kept`, and says whether there are more.
    pub(crate) fn level(
        &self,
        skip: SkippedFolders,
        depth: usize,
        room: usize,
        kept: impl Fn(&ListedPath) -> bool,
    ) -> (Vec<ListedPath>, bool) {
        let mut listed: Vec<ListedPath> = Vec::new();
        for mut walk in self.walks(skip) {
            let (wanted_depth, before) = (walk.first_depth() + depth, listed.len());
            let entries = walk
                .builder()
                .max_depth(Some(wanted_depth))
                .sort_by_file_name(std::ffi::OsStr::cmp)
                .build();
            for entry in entries.flatten().filter(|entry| entry.depth() == wanted_depth) {
                let Some(path) = walk.path_of(&entry) else { continue };
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let found = ListedPath { path, is_folder };
                let of_built = listed.get(..before).unwrap_or_default();
                if !kept(&found)
                    || !self.is_seen(walk.root(), &found.path)
                    || of_built.iter().any(|listed| listed.path == found.path)
                {
                    continue;
                }
                if listed.len() >= room {
                    return (listed, true);
                }
                listed.push(found);
            }
        }
        (listed, false)
    }

    /// Whether it is a folder, and not the one file.
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == EntryKind::Folder
    }

    /// Goes through the files in parallel; returns what `keep` makes of each, sorted.
    pub(crate) fn files<T: Ord + Send>(
        &self,
        keep: impl Fn(&DirEntry, RepoPath) -> Option<T> + Sync,
    ) -> Vec<T> {
        self.walked(self.walks(SkippedFolders::Git), keep)
    }

    /// As [`OpenedFolder::files`], with links, which are not followed.
    pub(crate) fn files_and_links<T: Ord + Send>(
        &self,
        keep: impl Fn(&DirEntry, RepoPath) -> Option<T> + Sync,
    ) -> Vec<T> {
        let walks = self.walks(SkippedFolders::Git).into_iter();
        self.walked(walks.map(FolderWalk::with_links).collect(), keep)
    }

    fn walked<T: Ord + Send>(
        &self,
        walks: Vec<FolderWalk>,
        keep: impl Fn(&DirEntry, RepoPath) -> Option<T> + Sync,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for walk in walks {
            let root = walk.root().to_owned();
            found.extend(walk.files(|entry, path| {
                if self.is_seen(&root, &path) { keep(entry, path) } else { None }
            }));
        }
        found.sort();
        found
    }

    /// Opens a regular file at or below it, as commands see it.
    ///
    /// # Errors
    /// See [`FileError`].
    pub(crate) fn open_file(&self, path: &RepoPath) -> Result<File, FileError> {
        self.folder_of(path).open_file(path)
    }

    /// Reads a regular file at or below it into `content`, which is emptied first and can be used
    /// again and again.
    ///
    /// # Errors
    /// See [`FileError`].
    pub(crate) fn read_into(
        &self,
        path: &RepoPath,
        limit_bytes: u64,
        content: &mut Vec<u8>,
    ) -> Result<(), FileError> {
        self.folder_of(path).read_into(path, limit_bytes, content)
    }

    /// Returns the folder, of those in several trees, in which commands find a path.
    fn folder_of(&self, path: &RepoPath) -> &ReadableFolder<'c> {
        let built = self.built.as_ref().and_then(|(layer, folders)| {
            let root = layer.found_in(path)?;
            folders.iter().find(|folder| folder.root() == root)
        });
        built.unwrap_or(&self.checkout)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes a layer by hand")]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use crate::tools::fixture::ToolFixture;
    use locum_workspace::layer::Layer;

    #[test]
    fn what_has_a_name_that_is_no_path_is_counted() {
        use std::os::unix::ffi::OsStrExt as _;

        let fixture = ToolFixture::new(&[("a", "needle\n"), ("sub/b", "needle\n")]);
        let calls = [
            ("list_files", json!({ "path": "." })),
            ("list_files", json!({ "path": ".", "recursive": true })),
            ("glob", json!({ "pattern": "*" })),
            ("search_files", json!({ "path": ".", "regex": "needle" })),
            ("search_files", json!({ "path": ".", "regex": "nowhere" })),
        ];
        let answers =
            || calls.each_ref().map(|(tool, of)| fixture.call(tool, &of.to_string()).text);
        assert!(answers().iter().all(|text| !text.contains("Left out")), "{:?}", answers());
        std::fs::write(fixture.at("line\nend"), "needle\n").unwrap();
        let latin = std::ffi::OsStr::from_bytes(b"lat\xe9");
        std::fs::write(fixture.root().join(latin), "needle\n").unwrap();
        for text in answers() {
            assert!(
                text.contains("\n\n(Left out: 2 files with a name that is not a path"),
                "{text}"
            );
        }
    }

    #[test]
    fn build_output_in_a_layer_is_seen_where_commands_see_it() {
        let mut fixture = ToolFixture::new(&[
            (".gitignore", "target/\ndist/\n"),
            ("src/a.rs", "needle\n"),
            ("target/old", "needle in the checkout\n"),
            ("target/sub/x", "thread\n"),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::open(&folder.path().join("layer")).unwrap();
        let upper = layer.folders().upper.to_owned();
        for path in ["target/new/out.txt", "target/new/key.pem", "target/old", "dist/a.js"] {
            std::fs::create_dir_all(upper.join(path).parent().unwrap()).unwrap();
            std::fs::write(upper.join(path), format!("needle of {path}\n")).unwrap();
        }
        fixture.layer = Some(layer);
        fixture.hidden = vec!["target/new/key.pem"];
        let call = |tool: &str, arguments: serde_json::Value| {
            fixture.call(tool, &arguments.to_string()).text
        };
        let list = |path: &str, recursive: bool| {
            call("list_files", json!({ "path": path, "recursive": recursive }))
        };
        assert_eq!(
            list("target", true),
            "target/new/\ntarget/new/out.txt\ntarget/old\ntarget/sub/\ntarget/sub/x"
        );
        assert_eq!(list("target", false), "target/new/\ntarget/old\ntarget/sub/");
        assert_eq!(list("target/sub", false), "target/sub/x", "the checkout alone has it");
        assert_eq!(list("dist", true), "dist/a.js");
        assert_eq!(list(".", true), ".gitignore\nsrc/\nsrc/a.rs", "not named on purpose");
        let glob = call("glob", json!({ "pattern": "*", "path": "target" }));
        let mut found: Vec<&str> = glob.lines().collect();
        found.sort_unstable();
        assert_eq!(found, ["target/new/out.txt", "target/old", "target/sub/x"]);
        let search = |path: &str| call("search_files", json!({ "path": path, "regex": "needle" }));
        assert_eq!(
            search("target"),
            "Found 2 results.\n\n# target/new/out.txt\n  1 | needle of target/new/out.txt\n\
             ----\n\n# target/old\n  1 | needle of target/old\n----\n"
        );
        assert!(search("dist/a.js").contains("needle of dist/a.js"), "{}", search("dist/a.js"));
        assert!(search(".").starts_with("Found 1 result.\n\n# src/a.rs\n"), "{}", search("."));
        let read = |path: &str| call("read_file", json!({ "path": path }));
        assert!(read("target/old").contains("needle of target/old"), "{}", read("target/old"));
        assert!(read("target/sub/x").contains("thread"), "{}", read("target/sub/x"));
        assert!(read("target/none").contains("does not exist"), "{}", read("target/none"));
    }
}
