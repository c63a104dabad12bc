//! What is opened below a root, by either way and with links on it.
#![expect(clippy::disallowed_methods, reason = "tests make the files they look at")]

use std::os::unix::fs::symlink;
use std::path::Path;

use pretty_assertions::assert_eq;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Beneath, PathResolution};
use locum_base::path::RepoPath;

/// The ways that this system has.
const WAYS: &[PathResolution] = if cfg!(target_os = "linux") {
    &[PathResolution::Openat2, PathResolution::Walk]
} else {
    &[PathResolution::Walk]
};

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = &folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::write(root.join("a/b/file"), "x").unwrap();
    for (name, target) in [
        ("to-file", "a/b/file"),
        ("to-folder", "a/b"),
        ("out", "/etc/passwd"),
        ("up", "../x"),
        ("a/b/back", "../../a/b/file"),
        ("loop", "loop2"),
        ("loop2", "loop"),
        ("dangling", "a/nothing/here"),
        ("self", "."),
    ] {
        symlink(target, root.join(name)).unwrap();
    }
    symlink(root.join("a"), root.join("absolute")).unwrap();
    folder
}

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

#[test]
fn follows_links_that_stay_inside_and_no_others() {
    let folder = tree();
    let root = folder.path().canonicalize().unwrap();
    let beneath = Beneath::open_root(&root).unwrap();
    let long = format!("{}x", "d/".repeat(2000));
    for (written, expected) in [
        (".", Ok(".")),
        ("a/b/file", Ok("a/b/file")),
        ("a/new/deep/file", Ok("a/new/deep/file")),
        ("to-file", Ok("a/b/file")),
        ("to-folder/file", Ok("a/b/file")),
        ("to-folder/new", Ok("a/b/new")),
        ("to-folder/back", Ok("a/b/file")),
        ("absolute/b/file", Ok("a/b/file")),
        ("self/self/to-file", Ok("a/b/file")),
        ("dangling", Ok("a/nothing/here")),
        (long.as_str(), Ok(long.as_str())),
        ("out", Err(Errno::XDEV)),
        ("up", Err(Errno::XDEV)),
        ("loop", Err(Errno::LOOP)),
        ("a/b/file/below", Err(Errno::NOTDIR)),
    ] {
        assert_eq!(beneath.follow(&path(written), &root), expected.map(path), "{written}");
    }
}

#[test]
fn opens_real_places_only_by_either_way() {
    let folder = tree();
    for resolver in WAYS {
        let beneath = Beneath::open_root_by(folder.path(), *resolver).unwrap();
        for (written, expected) in [
            (".", None),
            ("a/b/file", None),
            ("to-file", Some(Errno::LOOP)),
            ("to-folder/file", Some(Errno::LOOP)),
            ("self/a/b/file", Some(Errno::LOOP)),
            ("out", Some(Errno::LOOP)),
            ("a/none", Some(Errno::NOENT)),
            ("none/file", Some(Errno::NOENT)),
            ("a/b/file/below", Some(Errno::NOTDIR)),
        ] {
            assert_eq!(
                beneath.open(&path(written), OFlags::RDONLY).err(),
                expected,
                "{resolver:?} {written}"
            );
        }
        for (written, expected) in [
            ("a/b", None),
            ("to-folder", Some(Errno::LOOP)),
            ("absolute/b", Some(Errno::LOOP)),
            ("a/b/file", Some(Errno::NOTDIR)),
        ] {
            assert_eq!(beneath.folder(&path(written)).err(), expected, "{resolver:?} {written}");
            assert_eq!(
                beneath.folder_made(&path(written)).err(),
                expected,
                "{resolver:?} {written}"
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_kernel_without_openat2_is_walked() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let folder = tree();
    let root = folder.path().to_owned();
    std::thread::spawn(move || {
        let rules = [(libc::SYS_openat2, Vec::new())].into();
        let answer = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            answer,
            std::env::consts::ARCH.try_into().unwrap(),
        )
        .unwrap();
        seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        let beneath = Beneath::open_root(&root).unwrap();
        assert_eq!(beneath.resolver, PathResolution::Walk);
        assert!(beneath.open(&path("a/b/file"), OFlags::RDONLY).is_ok());
        assert_eq!(beneath.open(&path("to-folder/file"), OFlags::RDONLY).err(), Some(Errno::LOOP));
    })
    .join()
    .unwrap();
}

#[test]
fn makes_missing_folders_but_not_behind_links() {
    let folder = tree();
    for resolver in WAYS {
        let beneath = Beneath::open_root_by(folder.path(), *resolver).unwrap();
        let made = format!("a/{resolver:?}/deep");
        beneath.folder_made(&path(&made)).unwrap();
        assert!(folder.path().join(&made).is_dir());
        assert_eq!(beneath.folder_made(&path("to-folder/new")).err(), Some(Errno::LOOP));
        assert!(!Path::new(&folder.path().join("a/b/new")).exists());
    }
}

#[test]
fn a_walk_finds_a_name_that_is_in_the_folder_and_no_other() {
    let folder = tree();
    std::fs::create_dir(folder.path().join("gr\u{fc}n")).unwrap();
    std::fs::write(folder.path().join("gr\u{fc}n/\u{e4}"), "x").unwrap();
    let beneath = Beneath::open_root_by(folder.path(), PathResolution::Walk).unwrap();
    assert!(beneath.open(&path("gr\u{fc}n/\u{e4}"), OFlags::RDONLY).is_ok());
    // The same letters, composed otherwise: another name on Linux, the same on macOS.
    for other in ["gru\u{308}n/\u{e4}", "gr\u{fc}n/a\u{308}"] {
        let opened = beneath.open(&path(other), OFlags::RDONLY);
        assert_eq!(opened.err(), Some(Errno::NOENT), "{other}");
        assert_eq!(beneath.stat(&path(other)).unwrap().map(|stat| stat.st_size), None, "{other}");
    }
    let root = beneath.folder(&RepoPath::root()).unwrap();
    for (name, expected) in [("gr\u{fc}n", true), ("gru\u{308}n", false), ("a", true)] {
        assert_eq!(super::has_entry(&root, name), Ok(expected), "{name}");
    }
    for (name, expected) in [
        ("gr\u{fc}n", Ok(())),
        ("gru\u{308}n", Ok(())),
        ("new", Ok(())),
        ("a/b/", Err(Errno::NOENT)),
        ("a/b/file/x", Err(Errno::NOTDIR)),
    ] {
        assert_eq!(super::refuse_unlisted(&root, name), expected, "{name}");
    }
    assert_eq!(super::taken(Errno::NOENT), Errno::EXIST);
    assert_eq!(super::taken(Errno::ACCESS), Errno::ACCESS);
}
