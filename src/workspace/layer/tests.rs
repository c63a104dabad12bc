//! Layers as overlayfs leaves them, made by hand.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use pretty_assertions::assert_eq;
use rustix::fs::{CWD, FileType, Mode, OFlags, XattrFlags};

use super::{Layer, LayerChange, LayerChanges, OPAQUE};
use crate::fixture::{RepoFixture, path};
use locum_base::path::RepoPath;

mod ignored_files;
mod others;
mod settled;
mod shared_trees;

struct LayerFixture {
    repo: RepoFixture,
    layer: Layer,
    folder: tempfile::TempDir,
}

impl LayerFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let layer = Layer::open(&folder.path().join("layer")).unwrap();
        let fixture = Self { repo: RepoFixture::new(), layer, folder };
        fixture.layer.begin().unwrap();
        fixture
    }

    fn write(&self, file: &str, text: &str) {
        let at = self.layer.folders().upper.join(file);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    fn white_out(&self, file: &str) {
        let at = self.layer.folders().upper.join(file);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        rustix::fs::mknodat(CWD, at, FileType::CharacterDevice, Mode::empty(), 0).unwrap();
    }

    fn make_opaque(&self, folder: &str) {
        let at = self.layer.folders().upper.join(folder);
        std::fs::create_dir_all(&at).unwrap();
        rustix::fs::lsetxattr(at, OPAQUE, b"y", XattrFlags::empty()).unwrap();
    }

    fn changes(&self) -> LayerChanges {
        self.repo.repo.layer_changes(&self.layer).unwrap()
    }

    fn found(&self) -> Vec<(String, LayerChange)> {
        let paths = self.changes().paths.into_iter();
        paths.map(|(path, change)| (path.to_string(), change)).collect()
    }

    fn bring_all(&self) {
        let (removed, made): (BTreeMap<RepoPath, _>, BTreeMap<RepoPath, _>) = self
            .changes()
            .paths
            .into_iter()
            .partition(|(_, change)| *change == LayerChange::Removed);
        for (path, change) in removed.into_iter().chain(made) {
            self.repo.repo.bring(&self.layer, &path, change).unwrap();
        }
        self.repo.repo.settle(&self.layer).unwrap();
        assert_eq!(self.changes(), LayerChanges::default());
    }

    fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.repo.root.join(file)).ok()
    }
}

fn expect(changes: &[(&str, LayerChange)]) -> Vec<(String, LayerChange)> {
    changes.iter().map(|(path, change)| ((*path).to_owned(), *change)).collect()
}

#[test]
fn every_kind_of_change_is_found_and_brought() {
    let fixture = LayerFixture::new();
    fixture.write("new", "1");
    fixture.write("src/lib.rs", "changed");
    fixture.white_out("latin");
    fixture.white_out("old");
    std::os::unix::fs::symlink("new", fixture.layer.folders().upper.join("link")).unwrap();
    std::fs::create_dir_all(fixture.layer.folders().upper.join("empty")).unwrap();
    fixture.write("run.sh/inner", "a file became a folder");
    fixture.write("ignored/build", "stays");
    assert_eq!(
        fixture.found(),
        expect(&[
            ("empty", LayerChange::Folder),
            ("latin", LayerChange::Removed),
            ("link", LayerChange::Written),
            ("new", LayerChange::Written),
            ("old/only", LayerChange::Removed),
            ("run.sh", LayerChange::Removed),
            ("run.sh/inner", LayerChange::Written),
            ("src/lib.rs", LayerChange::Written),
        ])
    );
    fixture.bring_all();
    assert_eq!(fixture.read("src/lib.rs").as_deref(), Some("changed"));
    assert_eq!(fixture.read("run.sh/inner").as_deref(), Some("a file became a folder"));
    assert_eq!(fixture.read("link").as_deref(), Some("1"));
    assert!(fixture.repo.root.join("empty").is_dir() && !fixture.repo.root.join("old").exists());
    assert_eq!(fixture.read("latin"), None);
    // Build output stays where the next command finds it, and out of the checkout.
    assert_eq!(fixture.read("ignored/build"), None);
    assert!(fixture.layer.folders().upper.join("ignored/build").exists());
}

#[test]
fn a_folder_that_was_emptied_stays() {
    let fixture = LayerFixture::new();
    fixture.white_out("old/only");
    fixture.bring_all();
    assert!(fixture.repo.root.join("old").is_dir());
    assert_eq!(fixture.read("old/only"), None);
}

#[test]
fn what_is_the_same_or_none_of_the_checkout_s_is_no_change() {
    let fixture = LayerFixture::new();
    fixture.write("src/lib.rs", "one\ntwo\nthree\n");
    fixture.write("ignored/deep/x", "x");
    fixture.white_out("never/was");
    fixture.write("nested/.git/config", "[core]");
    rustix::fs::mknodat(
        CWD,
        fixture.layer.folders().upper.join("pipe"),
        FileType::Fifo,
        Mode::RWXU,
        0,
    )
    .unwrap();
    assert_eq!(
        fixture.found(),
        expect(&[("nested", LayerChange::Folder), ("never", LayerChange::Folder)])
    );
}

#[test]
fn a_folder_made_anew_hides_what_was_there() {
    let fixture = LayerFixture::new();
    fixture.repo.write("src/other", "of a person");
    fixture.make_opaque("src");
    fixture.write("src/lib.rs", "one\ntwo\nthree\n");
    fixture.write("src/new", "1");
    assert_eq!(
        fixture.found(),
        expect(&[("src/new", LayerChange::Written), ("src/other", LayerChange::Removed)])
    );
    fixture.bring_all();
    assert!(!fixture.layer.folders().upper.join("src").exists());
    assert_eq!(fixture.read("src/other"), None);
    assert!(fixture.read("src/new").is_some() && fixture.read("src/lib.rs").is_some());
}

#[test]
fn what_is_kept_out_never_reaches_the_checkout_and_is_not_lost() {
    let fixture = LayerFixture::new();
    fixture.write("src/lib.rs", "refused");
    fixture.white_out("latin");
    for refused in ["src/lib.rs", "latin"] {
        fixture.layer.keep_out(&path(refused), "call").unwrap();
    }
    fixture.repo.repo.settle(&fixture.layer).unwrap();
    assert_eq!(fixture.found(), []);
    assert_eq!(fixture.read("src/lib.rs").as_deref(), Some("one\ntwo\nthree\n"));
    fixture.layer.discard().unwrap();
    let kept = fixture.folder.path().join("layer/kept/call/src/lib.rs");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "refused");
}

#[test]
fn what_others_changed_since_the_command_began_is_seen() {
    let fixture = LayerFixture::new();
    for file in ["src/lib.rs", "latin", "run.sh"] {
        fixture.write(file, "by the command");
    }
    let of_others = |fixture: &LayerFixture, file: &str| {
        fixture
            .repo
            .repo
            .is_changed_by_others(&fixture.layer, &path(file), LayerChange::Written)
            .unwrap()
    };
    assert!(!of_others(&fixture, "src/lib.rs") && !of_others(&fixture, "new"));
    // The kernel's clock for files moves in steps.
    while !of_others(&fixture, "src/lib.rs") {
        fixture.repo.write("src/lib.rs", "by a person");
        fixture.repo.write("latin", "by the command");
    }
    assert!(!of_others(&fixture, "latin"), "both made it the same");
    assert!(!of_others(&fixture, "run.sh"));
}

#[test]
fn names_that_are_no_text_are_told_and_taken_out() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = LayerFixture::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    std::fs::write(fixture.layer.folders().upper.join(name), "x").unwrap();
    assert_eq!(fixture.changes().unnamed, ["caf\u{fffd}"]);
    fixture.repo.repo.settle(&fixture.layer).unwrap();
    assert_eq!(fixture.changes(), LayerChanges::default());
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_brought() {
    let fixture = LayerFixture::new();
    fixture.write("src/big", "");
    let upper = fixture.layer.folders().upper.to_owned();
    std::fs::File::options()
        .write(true)
        .open(upper.join("src/big"))
        .unwrap()
        .set_len(crate::write::FILE_LIMIT_BYTES + 1)
        .unwrap();
    let mut deep = rustix::fs::open(&upper, OFlags::PATH, Mode::empty()).unwrap();
    for _ in 0..30 {
        let name = "d".repeat(200);
        rustix::fs::mkdirat(&deep, &name, Mode::RWXU).unwrap();
        deep = rustix::fs::openat(&deep, &name, OFlags::PATH, Mode::empty()).unwrap();
    }
    fixture.write("src/ok", "ok\n");
    let changes = fixture.changes();
    let paths: Vec<&str> = changes.paths.keys().map(RepoPath::as_str).collect();
    assert_eq!(paths, ["src/ok"], "{changes:?}");
    assert!(changes.unread[&path("src/big")].contains("more than the 104857600"), "{changes:?}");
    assert_eq!(changes.unread.len() + changes.unnamed.len(), 2, "{changes:?}");
    for unread in changes.unread.keys() {
        fixture.layer.keep_out(unread, "call").unwrap();
    }
    fixture.bring_all();
    assert_eq!(fixture.read("src/ok").as_deref(), Some("ok\n"));
    assert!(fixture.layer.is_kept_out(&path("src/big"), "call"));
    assert_eq!(std::fs::read_dir(&upper).unwrap().count(), 0);
}

#[test]
fn what_could_not_be_read_takes_the_place_of_nothing() {
    let fixture = LayerFixture::new();
    fixture.write("old", "");
    let huge = std::fs::File::options().write(true).open(fixture.layer.upper_at(&path("old")));
    huge.unwrap().set_len(crate::write::FILE_LIMIT_BYTES + 1).unwrap();
    let changes = fixture.changes();
    assert_eq!((changes.paths.len(), changes.unread.len()), (0, 1), "{changes:?}");
    fixture.layer.keep_whole(&path("old"), "call").unwrap();
    fixture.bring_all();
    assert_eq!(fixture.read("old/only").as_deref(), Some("x\n"));
}

#[test]
fn a_file_is_removed_however_large_it_is() {
    let fixture = LayerFixture::new();
    let large = std::fs::File::create(fixture.repo.root.join("src/lib.rs")).unwrap();
    large.set_len(crate::write::FILE_LIMIT_BYTES + 1).unwrap();
    fixture.white_out("src/lib.rs");
    assert_eq!(fixture.found(), expect(&[("src/lib.rs", LayerChange::Removed)]));
    fixture.bring_all();
    assert!(!fixture.repo.root.join("src/lib.rs").exists());
}

#[test]
fn a_folder_is_kept_whole_where_that_is_asked_and_a_link_leads_to_no_other_mode() {
    let fixture = LayerFixture::new();
    fixture.write("new/inner", "x");
    fixture.layer.keep_out(&path("new"), "call").unwrap();
    assert!(!fixture.layer.is_kept_out(&path("new"), "call"));
    fixture.layer.keep_whole(&path("new"), "call").unwrap();
    assert!(fixture.layer.is_kept_out(&path("new/inner"), "call"));
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::set_permissions(elsewhere.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    let link = fixture.layer.folders().upper.join("link");
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    assert!(crate::opened::set_mode(&link, 0o700).is_err());
    let mode = std::fs::metadata(elsewhere.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o500);
}

/// Also as somebody who is not let in where modes say so: an ordinary user.
#[test]
fn what_a_command_closed_is_opened_brought_and_removed() {
    let fixture = LayerFixture::new();
    let close = |at: &str, mode: u32| {
        let at = fixture.layer.folders().upper.join(at);
        std::fs::set_permissions(at, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (file, mode) in [("a/one", 0), ("b/two", 0o555), ("ignored/c/three", 0)] {
        fixture.write(file, "text\n");
        close(file, if mode == 0 { 0 } else { 0o444 });
        close(file.rsplit_once('/').unwrap().0, mode);
    }
    let written = LayerChange::Written;
    assert_eq!(fixture.found(), expect(&[("a/one", written), ("b/two", written)]));
    fixture.bring_all();
    assert_eq!(fixture.read("a/one").as_deref(), Some("text\n"));
    assert!(fixture.layer.folders().upper.join("ignored/c").exists());
    fixture.layer.discard().unwrap();
    assert!(!fixture.folder.path().join("layer/upper").exists());
}

#[test]
fn the_folder_the_kernel_leaves_is_emptied() {
    let fixture = LayerFixture::new();
    let inner = fixture.layer.folders().work.join("work");
    std::fs::create_dir_all(inner.join("incompat/volatile")).unwrap();
    std::fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o0)).unwrap();
    fixture.layer.end().unwrap();
    assert_eq!(std::fs::read_dir(fixture.layer.folders().work).unwrap().count(), 0);
}

#[test]
fn what_the_layer_has_in_the_place_of_something_covers_it() {
    let fixture = LayerFixture::new();
    fixture.write("build/new", "");
    fixture.write("linked", "");
    fixture.white_out("build/gone");
    fixture.make_opaque("build/again");
    for (asked, covered, there) in [
        ("build", false, true),
        ("build/new", true, true),
        ("build/other", false, false),
        ("build/gone", true, false),
        ("build/gone/below", true, false),
        ("build/again", false, true),
        ("build/again/old", true, false),
        ("linked/below", true, false),
        ("elsewhere", false, false),
    ] {
        let layer = &fixture.layer;
        let found = (layer.covers(&path(asked)), layer.entry(&path(asked)).is_some());
        assert_eq!(found, (covered, there), "{asked}");
    }
}

/// A running program's layer and what is taken out of it.
struct LiveFixture {
    live: LayerFixture,
    taken: Layer,
}

impl LiveFixture {
    fn new() -> Self {
        let live = LayerFixture::new();
        let taken = Layer::open(&live.folder.path().join("taken")).unwrap();
        taken.begin().unwrap();
        Self { live, taken }
    }

    /// Takes, and returns what was taken and what is left in the live layer.
    fn take(&self) -> (Vec<(String, LayerChange)>, Vec<String>) {
        let repo = &self.live.repo.repo;
        repo.take(&self.live.layer, &self.taken).unwrap();
        let taken = repo.layer_changes(&self.taken).unwrap().paths.into_iter();
        let mut left = Vec::new();
        let mut ahead = vec![RepoPath::root()];
        while let Some(folder) = ahead.pop() {
            for path in self.live.layer.names(&folder).unwrap().into_iter().flatten() {
                left.push(path.to_string());
                if self.live.layer.facts(&path).unwrap().is_dir() {
                    ahead.push(path);
                }
            }
        }
        left.sort_unstable();
        (taken.map(|(path, change)| (path.to_string(), change)).collect(), left)
    }
}

#[test]
fn what_a_running_program_wrote_is_taken_and_what_git_ignores_stays() {
    let fixture = LiveFixture::new();
    let repo = &fixture.live.repo;
    repo.write(".gitignore", "cache/\n");
    for file in ["src/a", "src/gone", "again/old", "again/deep/old", "file"] {
        repo.write(file, "before");
    }
    repo.commit("first");
    fixture.live.write("src/a", "after");
    fixture.live.write("new/deep/file", "new");
    fixture.live.write("cache/x", "kept");
    fixture.live.white_out("src/gone");
    fixture.live.make_opaque("again");
    fixture.live.write("again/new", "new");
    fixture.live.make_opaque("file");
    std::fs::create_dir(fixture.live.layer.folders().upper.join("empty")).unwrap();
    let (taken, left) = fixture.take();
    let (written, removed) = (LayerChange::Written, LayerChange::Removed);
    assert_eq!(
        taken,
        expect(&[
            ("again/deep/old", removed),
            ("again/new", written),
            ("again/old", removed),
            ("empty", LayerChange::Folder),
            ("file", removed),
            ("new/deep/file", written),
            ("src/a", written),
            ("src/gone", removed),
        ])
    );
    assert_eq!(left, ["again", "cache", "cache/x", "src"], "folders of the checkout may be in use");
    assert!(!fixture.live.layer.is_opaque(&path("again")));
    assert_eq!(fixture.take().0, taken, "taking again takes nothing more");
}

#[test]
fn what_a_program_wrote_unasked_and_somebody_else_changed_since_is_kept_out() {
    let fixture = LiveFixture::new();
    let repo = &fixture.live.repo;
    for file in ["src/stale", "src/fresh", "src/gone"] {
        repo.write(file, "before");
    }
    repo.commit("first");
    fixture.live.write("src/stale", "of the program");
    fixture.live.white_out("src/gone");
    std::fs::create_dir(fixture.live.layer.folders().upper.join("left")).unwrap();
    for file in ["src/stale", "src/gone"] {
        let changed = |facts: std::fs::Metadata| (facts.ctime(), facts.ctime_nsec());
        let of_program = changed(fixture.live.layer.facts(&path(file)).unwrap());
        // The clock of the file system has to go on first.
        while changed(std::fs::metadata(repo.root.join(file)).unwrap()) <= of_program {
            repo.write(file, "of a person");
        }
    }
    fixture.live.write("src/fresh", "of the program");
    let stale = repo.repo.leave_stale(&fixture.live.layer, "unasked").unwrap();
    assert_eq!(stale, [path("src/gone"), path("src/stale")]);
    let kept = fixture.live.layer.kept().join("unasked/src/stale");
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "of the program");
    assert_eq!(
        fixture.take(),
        (expect(&[("src/fresh", LayerChange::Written)]), vec!["src".to_owned()])
    );
}

#[test]
fn a_cache_that_says_so_stays_and_a_folder_with_files_of_git_is_none() {
    let fixture = LayerFixture::new();
    for (file, text) in [
        (".tool_cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# more\n"),
        (".tool_cache/v/entry", "x"),
        ("build-env/.gitignore", "# made by a tool\n*\n"),
        ("build-env/lib/x", "x"),
        ("pkg/__pycache__/m.pyc", "x"),
        ("pkg/new.py", "x"),
        // None of these is a cache.
        ("odd/CACHEDIR.TAG", "Signature: other"),
        ("part/.gitignore", "*\n!kept\n"),
        ("old/.gitignore", "*\n"),
        ("old/more", "x"),
    ] {
        fixture.write(file, text);
    }
    let found: Vec<String> = fixture.found().into_iter().map(|(path, _)| path).collect();
    let expected =
        ["odd/CACHEDIR.TAG", "old/.gitignore", "old/more", "part/.gitignore", "pkg/new.py"];
    assert_eq!(found, expected);
    fixture.repo.repo.settle(&fixture.layer).unwrap();
    let upper = fixture.layer.folders().upper;
    assert!(upper.join(".tool_cache/v/entry").exists() && upper.join("build-env/lib/x").exists());
    assert!(!upper.join("pkg/new.py").exists());
}
