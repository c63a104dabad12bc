//! Files that are written and removed in one step.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use pretty_assertions::assert_eq;
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Executable, FileMove, is_unsupported, names_git_folder};
use crate::beneath::stat_in;
use crate::checkout::{Checkout, FileError};
use locum_base::path::RepoPath;

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

fn put(checkout: &Checkout, at: &str, content: &str) -> Result<(), FileError> {
    checkout.put_file(&path(at), content.as_bytes(), Executable::AsBefore)
}

fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o7777
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn replaces_a_file_and_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.sh");
    let checkout = Checkout::open(folder.path()).unwrap();
    for (before, after) in
        [(0o755, 0o755), (0o600, 0o600), (0o444, 0o444), (0o4755, 0o755), (0o2711, 0o711)]
    {
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(before)).unwrap();
        put(&checkout, "run.sh", "new").unwrap();
        assert_eq!((std::fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", after));
        std::fs::remove_file(&file).unwrap();
    }
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

#[test]
fn what_an_end_by_force_left_beside_a_file_goes_with_the_next_write() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let checkout = Checkout::open(root.path()).unwrap();
    let folder =
        rustix::fs::open(root.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    let left = root.path().join(super::name_beside(&folder, &path("a")));
    std::fs::write(&left, "half").unwrap();
    put(&checkout, "a", "whole").unwrap();
    assert_eq!(names_in(root.path()), ["a"]);
    symlink(outside.path().join("x"), &left).unwrap();
    put(&checkout, "a", "again").unwrap();
    assert_eq!((names_in(root.path()), names_in(outside.path())), (vec!["a".to_owned()], vec![]));
    std::fs::create_dir(&left).unwrap();
    put(&checkout, "a", "beside a folder").unwrap();
    assert_eq!(names_in(root.path()).len(), 2);
    assert_eq!(std::fs::read_to_string(root.path().join("a")).unwrap(), "beside a folder");
}

#[test]
fn renames_a_file_with_its_mode_over_nothing_and_out_of_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let checkout = Checkout::open(folder.path()).unwrap();
    std::fs::write(at("run.sh"), "\0x").unwrap();
    std::fs::set_permissions(at("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(at("there"), "y").unwrap();
    symlink("there", at("link")).unwrap();
    let rename = |from: &str, to: &str| checkout.give_name(&path(from), &path(to));
    rename("run.sh", "new/folder/go.sh").unwrap();
    assert_eq!(std::fs::read(at("new/folder/go.sh")).unwrap(), b"\0x");
    assert_eq!((mode(&at("new/folder/go.sh")), at("run.sh").exists()), (0o755, false));
    assert!(matches!(rename("run.sh", "b"), Err(FileError::Missing(_))));
    assert!(rename("there", "new/folder/go.sh").is_err());
    assert!(rename("link", "b").is_err() && rename("new", "b").is_err());
    for (from, to) in [(".git/x", "b"), ("there", ".git/hooks/x"), ("there", ".GIT/x")] {
        assert!(matches!(rename(from, to), Err(FileError::GitFolder(_))), "{from} {to}");
    }
    assert_eq!(std::fs::read_to_string(at("there")).unwrap(), "y");
}

#[test]
fn where_renaming_cannot_spare_a_file_linking_or_copying_does() {
    type Way = fn(&FileMove<'_>, &Stat) -> Result<(), std::io::Error>;
    let ways: [Way; 3] = [
        |moved, _| Ok(moved.rename()?),
        |moved, _| Ok(moved.link()?),
        |moved, stat| moved.copy(stat),
    ];
    for (at, way) in ways.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let inside = |name: &str| folder.path().join(name);
        std::fs::create_dir(inside("sub")).unwrap();
        std::fs::write(inside("run.sh"), "x").unwrap();
        std::fs::set_permissions(inside("run.sh"), PermissionsExt::from_mode(0o751)).unwrap();
        std::fs::write(inside("sub/kept"), "y").unwrap();
        symlink("nowhere", inside("sub/link")).unwrap();
        let open = |name: &str| OwnedFd::from(std::fs::File::open(inside(name)).unwrap());
        let (old, new) = (open("."), open("sub"));
        let stat = stat_in(&old, "run.sh").unwrap();
        let moved = |name| FileMove { old: (&old, "run.sh"), new: (&new, name) };
        for name in ["kept", "link"] {
            let error = way(&moved(name), &stat).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{at} {name}");
        }
        assert_eq!(std::fs::read(inside("run.sh")).unwrap(), b"x");
        assert_eq!(std::fs::read(inside("sub/kept")).unwrap(), b"y");
        way(&moved("go.sh"), &stat).unwrap();
        assert_eq!(std::fs::read(inside("sub/go.sh")).unwrap(), b"x");
        assert_eq!((mode(&inside("sub/go.sh")), inside("run.sh").exists()), (0o751, false), "{at}");
        assert!(way(&moved("again.sh"), &stat).is_err() && !inside("sub/again.sh").exists());
    }
    for (errno, expected) in [
        (Errno::INVAL, true),
        (Errno::XDEV, true),
        (Errno::OPNOTSUPP, true),
        (Errno::EXIST, false),
        (Errno::ACCESS, false),
        (Errno::NOENT, false),
    ] {
        assert_eq!(is_unsupported(errno), expected, "{errno}");
    }
}

#[test]
fn makes_parents_and_sets_the_executable_bit_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    put(&checkout, "a/b/plain", "x").unwrap();
    assert_eq!(mode(&folder.path().join("a/b/plain")) & 0o111, 0);
    checkout.put_file(&path("a/b/tool"), b"x", Executable::Set(true)).unwrap();
    assert_ne!(mode(&folder.path().join("a/b/tool")) & 0o100, 0);
    checkout.put_file(&path("a/b/tool"), b"x", Executable::Set(false)).unwrap();
    assert_eq!(mode(&folder.path().join("a/b/tool")) & 0o111, 0);
}

#[test]
fn never_writes_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim");
    std::fs::write(&victim, "kept").unwrap();
    symlink(&victim, folder.path().join("file-link")).unwrap();
    symlink(outside.path(), folder.path().join("folder-link")).unwrap();
    std::fs::hard_link(&victim, folder.path().join("hard")).unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    for at in ["file-link", "folder-link/new", "folder-link/victim", "folder-link/deep/new"] {
        assert!(matches!(put(&checkout, at, "x"), Err(FileError::Link(_))), "{at}");
        if at != "file-link" {
            assert!(matches!(checkout.take_away(&path(at)), Err(FileError::Link(_))), "{at}");
        }
    }
    put(&checkout, "hard", "mine").unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("hard")).unwrap(), "mine");
    checkout.take_away(&path("file-link")).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
    assert_eq!(names_in(outside.path()), ["victim"]);
}

#[test]
fn refuses_what_is_no_file_and_leaves_nothing_beside() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("sub")).unwrap();
    std::fs::write(folder.path().join("plain"), "x").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    for at in [".", "sub", "socket", "plain/below"] {
        assert!(matches!(put(&checkout, at, "x"), Err(FileError::NotAFile { .. })), "{at}");
    }
    assert!(matches!(checkout.take_away(&path("sub")), Err(FileError::NotAFile { .. })));
    assert!(matches!(checkout.take_away(&path("none")), Err(FileError::Missing(_))));
    assert!(matches!(put(&checkout, &"n".repeat(300), "x"), Err(FileError::Io { .. })));
    assert_eq!(names_in(folder.path()), ["plain", "socket", "sub"]);
}

#[test]
fn knows_every_spelling_of_gits_folder() {
    for name in [
        ".git",
        ".GIT",
        ".Git",
        ".git.",
        ".git ",
        ".git. .",
        ".git::$INDEX_ALLOCATION",
        "git~1",
        "GIT~1",
        ".g\u{200c}it",
    ] {
        assert!(names_git_folder(name), "{name:?}");
    }
    for name in ["git", ".gitignore", ".github", ".gitmodules", "git~10", "x.git", "..git"] {
        assert!(!names_git_folder(name), "{name:?}");
    }
}

#[test]
fn never_writes_inside_gits_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    for at in [".git", ".git/config", ".GIT/config", "sub/.git/hooks/pre-commit", ".git./config"] {
        assert!(matches!(put(&checkout, at, "x"), Err(FileError::GitFolder(_))), "{at}");
        assert!(matches!(checkout.put_link(&path(at), b"x"), Err(FileError::GitFolder(_))), "{at}");
        assert!(matches!(checkout.take_away(&path(at)), Err(FileError::GitFolder(_))), "{at}");
    }
    put(&checkout, ".gitignore", "target").unwrap();
}

#[test]
fn removes_empty_parents_up_to_the_first_that_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    put(&checkout, "a/keep", "x").unwrap();
    put(&checkout, "a/b/c/file", "x").unwrap();
    checkout.take_away(&path("a/b/c/file")).unwrap();
    checkout.take_away_empty_parents(&path("a/b/c/file"), &|_| false);
    assert_eq!(names_in(&folder.path().join("a")), ["keep"]);
}

/// Writes again and again while another thread puts a link out of the checkout in the place of
/// the file, or of its folder.
fn race(swapped: &str, written: &str) {
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let (root, out) = (folder.path().to_path_buf(), outside.path().to_path_buf());
    std::fs::write(out.join("victim"), "kept").unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    std::fs::write(root.join("src/file"), "x").unwrap();
    let target = if swapped == "src" { out.clone() } else { out.join("victim") };
    let done = AtomicBool::new(false);
    let checkout = Checkout::open(&root).unwrap();
    let (mut written_count, mut refused_count) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (link, real, aside) = (root.join("link"), root.join(swapped), root.join("aside"));
            while !done.load(Ordering::Relaxed) {
                let _ = symlink(&target, &link);
                let _ = std::fs::rename(&real, &aside);
                let _ = std::fs::rename(&link, &real);
                let _ = std::fs::remove_file(&real);
                let _ = std::fs::rename(&aside, &real);
            }
        });
        // The swapping thread may have the better of many tries in a row.
        while written_count + refused_count < 1000
            || (written_count == 0 && refused_count < 1_000_000)
        {
            match put(&checkout, written, "mine") {
                Ok(()) => written_count += 1,
                Err(_) => refused_count += 1,
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(std::fs::read_to_string(out.join("victim")).unwrap(), "kept");
    assert_eq!(names_in(&out), ["victim"]);
    assert!(written_count > 0);
}

#[test]
fn a_file_swapped_for_a_link_meanwhile_changes_nothing_outside() {
    race("src/file", "src/file");
}

#[test]
fn a_folder_swapped_for_a_link_meanwhile_changes_nothing_outside() {
    race("src", "src/file");
}
