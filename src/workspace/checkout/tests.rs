//! Files of a checkout: read with a permit only, and never outside of it.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use pretty_assertions::{assert_eq, assert_ne};
use rustix::fs::{CWD, FileType, Mode};

use super::{Checkout, CheckoutEntry, EntryKind, FileError, read_limited};
use crate::beneath::{Beneath, PathResolution};
use crate::fixture::path;
use locum_policy::intent::Intent;
use locum_testing::permits::permit;

fn read(checkout: &Checkout, at: &str, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
    let mut content = Vec::new();
    read_limited(checkout.open_regular(&path(at))?, &path(at), limit_bytes, &mut content)
        .map(|()| content)
}

fn make_pipe(file: &Path) {
    rustix::fs::mknodat(CWD, file, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}

#[test]
fn reads_regular_files_up_to_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), b"\xff\x00abc").unwrap();
    std::fs::write(folder.path().join("empty"), b"").unwrap();
    std::fs::File::create(folder.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    assert_eq!(read(&checkout, "file", 5).unwrap(), b"\xff\x00abc");
    assert_eq!(read(&checkout, "empty", 0).unwrap(), b"");
    assert!(matches!(
        read(&checkout, "file", 4),
        Err(FileError::TooLarge { size_bytes: 5, limit_bytes: 4, .. })
    ));
    assert!(matches!(read(&checkout, "sparse", 1 << 20), Err(FileError::TooLarge { .. })));
    assert!(matches!(read(&checkout, "none", 5), Err(FileError::Missing(_))));
}

#[test]
fn refuses_what_is_no_file_without_hanging() {
    let folder = tempfile::tempdir().unwrap();
    make_pipe(&folder.path().join("pipe"));
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    symlink("/dev/zero", folder.path().join("device")).unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for at in ["pipe", "sub", ".", "socket"] {
            sender.send(format!("{:?}", read(&checkout, at, 100).unwrap_err())).unwrap();
        }
        sender.send(format!("{:?}", checkout.resolve(&path("device")).unwrap_err())).unwrap();
    });
    for expected in ["NotAFile", "NotAFile", "NotAFile", "NotAFile", "Outside"] {
        let error =
            receiver.recv_timeout(Duration::from_secs(2)).expect("answers within two seconds");
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn reads_what_the_permit_covers_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("src/deep")).unwrap();
    for file in ["a", "b", "src/c", "src/deep/d"] {
        std::fs::write(folder.path().join(file), file).unwrap();
    }
    let checkout = Checkout::open(folder.path()).unwrap();
    let read = permit(&[Intent::Read(path("a")), Intent::Read(path("src"))]);
    let edit = permit(&[Intent::Edit(path("b"))]);
    assert_eq!(checkout.read(&read, &path("a"), 9).unwrap(), b"a");
    assert_eq!(checkout.read(&edit, &path("b"), 9).unwrap(), b"b");
    for (permit, beside) in [(&read, "b"), (&read, "src/c"), (&edit, "a")] {
        assert!(
            matches!(checkout.read(permit, &path(beside), 9), Err(FileError::NotPermitted(_))),
            "{beside}"
        );
    }
    let source = checkout.folder(&read, &path("src")).unwrap();
    let mut content = b"old".to_vec();
    source.read_into(&path("src/deep/d"), 99, &mut content).unwrap();
    assert_eq!(
        (content.as_slice(), source.absolute()),
        (b"src/deep/d".as_slice(), checkout.root().join("src"))
    );
    for beside in ["a", ".", "srcs/x"] {
        assert!(
            matches!(source.open_file(&path(beside)), Err(FileError::NotPermitted(_))),
            "{beside}"
        );
        assert!(matches!(source.entry(&path(beside)), Err(FileError::NotPermitted(_))), "{beside}");
    }
    for (permit, beside) in [(&read, "."), (&edit, "b"), (&edit, "src")] {
        assert!(
            matches!(checkout.folder(permit, &path(beside)), Err(FileError::NotPermitted(_))),
            "{beside}"
        );
    }
}

#[test]
fn writes_and_removes_what_the_permit_covers_as_an_edit() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    let edit = permit(&[Intent::Edit(path("a")), Intent::Read(path("b"))]);
    checkout.write(&edit, &path("a"), b"x").unwrap();
    for beside in ["b", "c", "a/b"] {
        assert!(
            matches!(checkout.write(&edit, &path(beside), b"x"), Err(FileError::NotPermitted(_))),
            "{beside}"
        );
        assert!(
            matches!(checkout.remove(&edit, &path(beside)), Err(FileError::NotPermitted(_))),
            "{beside}"
        );
    }
    checkout.remove(&edit, &path("a")).unwrap();
    assert_eq!(checkout.entry(&path("a")).unwrap(), None);
}

#[test]
fn says_how_a_path_cannot_be_resolved() {
    let folder = tempfile::tempdir().unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    symlink("../x", folder.path().join("up")).unwrap();
    symlink("real", folder.path().join("inside")).unwrap();
    let checkout = Checkout::open(folder.path()).unwrap();
    assert!(matches!(checkout.resolve(&path("loop")), Err(FileError::Io { .. })));
    assert!(matches!(checkout.resolve(&path("up")), Err(FileError::Outside(_))));
    assert_eq!(checkout.resolve(&path("inside")).unwrap(), path("real"));
    assert_eq!(checkout.resolve_name(&path("inside")).unwrap(), path("inside"));
    assert_eq!(checkout.resolve_name(&path("up")).unwrap(), path("up"));
    assert!(matches!(checkout.resolve_name(&path("up/x")), Err(FileError::Outside(_))));
}

#[test]
fn tells_what_lies_at_a_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "abc").unwrap();
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o640);
    std::fs::set_permissions(folder.path().join("file"), permissions).unwrap();
    symlink("file", folder.path().join("link")).unwrap();
    make_pipe(&folder.path().join("pipe"));
    let checkout = Checkout::open(folder.path()).unwrap();
    let kind = |at: &str| checkout.entry(&path(at)).unwrap().map(|entry| entry.kind);
    assert_eq!(
        checkout.entry(&path("file")).unwrap(),
        Some(CheckoutEntry {
            kind: EntryKind::File,
            size_bytes: 3,
            executable: false,
            permissions: 0o640
        })
    );
    assert_eq!(kind("."), Some(EntryKind::Folder));
    assert_eq!(kind("link"), Some(EntryKind::Link));
    assert_eq!(kind("pipe"), Some(EntryKind::Other));
    assert_eq!(kind("none/deeper"), None);
    assert_eq!(kind("file/below"), None);
}

#[test]
fn a_tree_that_changes_meanwhile_leads_nowhere_else() {
    const SWAPS: usize = 12_000;
    for resolver in [PathResolution::Openat2, PathResolution::Walk] {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("checkout"), folder.path().join("outside"));
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("f"), "outside").unwrap();
        std::fs::write(root.join("a/f"), "inside").unwrap();
        let checkout = Checkout {
            root: root.clone(),
            beneath: Beneath::open_root_by(&root, resolver).unwrap(),
        };
        let target = outside.clone();
        let swapping = std::thread::spawn(move || {
            let at = |name: &str| root.join(name);
            for _ in 0..SWAPS / 4 {
                // The folder becomes a link to another one, then the file in it; what fails is
                // made good in the next round.
                let _ = std::fs::rename(at("a"), at("b"));
                let _ = symlink(&target, at("a"));
                let _ = std::fs::remove_file(at("a"));
                let _ = std::fs::rename(at("b"), at("a"));
                let _ = std::fs::remove_file(at("a/f"));
                let _ = symlink(target.join("f"), at("a/f"));
                let _ = std::fs::remove_file(at("a/f"));
                let _ = std::fs::write(at("a/f"), "inside");
            }
        });
        let edit = permit(&[Intent::Edit(path("a/f")), Intent::Edit(path("a/new"))]);
        let mut done = 0;
        while !swapping.is_finished() {
            done += usize::from(checkout.write(&edit, &path("a/f"), b"inside").is_ok());
            done += usize::from(checkout.write(&edit, &path("a/new"), b"inside").is_ok());
            let _ = checkout.remove(&edit, &path("a/new"));
            if let Ok(content) = checkout.read(&edit, &path("a/f"), 99) {
                assert_ne!(content, b"outside", "{resolver:?}");
            }
        }
        swapping.join().unwrap();
        let left: Vec<_> =
            std::fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(
            (left.len(), std::fs::read_to_string(outside.join("f")).unwrap()),
            (1, "outside".to_owned()),
            "{resolver:?}: {left:?}"
        );
        assert!(done > 10, "{resolver:?}: only {done} writes came between");
    }
}

#[test]
fn opens_no_checkout_that_is_not_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "abc").unwrap();
    assert!(Checkout::open(&folder.path().join("file")).is_err());
    assert!(Checkout::open(&folder.path().join("none")).is_err());
}
