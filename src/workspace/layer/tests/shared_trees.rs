//! What commands find in a folder that a worktree shares with the checkout it stands for.

use pretty_assertions::assert_eq;
use rustix::fs::{CWD, FileType, Mode, XattrFlags};

use super::LayerFixture;
use crate::fixture::{RepoFixture, path};
use crate::layer::OPAQUE;

/// A worktree with a layer, the checkout that it stands for, and what commands wrote to the folder
/// that both share.
fn shared() -> (LayerFixture, RepoFixture, std::path::PathBuf) {
    let other = RepoFixture::new();
    for file in ["below", "both", "gone", "lib/inner", "again/old"] {
        other.write(&format!("ignored/{file}"), "of the checkout");
    }
    other.link("lib", "ignored/link");
    other.link("../../elsewhere", "ignored/out");
    let mut fixture = LayerFixture::new();
    fixture.repo.repo.stand_for(&mut fixture.layer, &other.repo, None).unwrap();
    for file in ["own", "both"] {
        fixture.repo.write(&format!("ignored/{file}"), "of the worktree");
    }
    let upper = fixture.layer.shared()[0].upper.clone();
    (fixture, other, upper)
}

#[test]
fn the_uppermost_is_found_and_marks_hide_what_lies_below() {
    let (fixture, _other, upper) = shared();
    std::fs::write(upper.join("written"), "of a command").unwrap();
    let character = FileType::CharacterDevice;
    rustix::fs::mknodat(CWD, upper.join("gone"), character, Mode::empty(), 0).unwrap();
    std::fs::create_dir(upper.join("again")).unwrap();
    rustix::fs::lsetxattr(upper.join("again"), OPAQUE, b"y", XattrFlags::empty()).unwrap();
    for (asked, covered, content) in [
        ("ignored/below", true, Some("of the checkout")),
        ("ignored/lib/inner", true, Some("of the checkout")),
        ("ignored/own", false, Some("of the worktree")),
        ("ignored/both", false, Some("of the worktree")),
        ("ignored/written", true, Some("of a command")),
        ("ignored/gone", true, None),
        ("ignored/again/old", true, None),
        ("ignored/link/inner", true, None),
        ("ignored/none", false, None),
        ("src/lib.rs", false, None),
    ] {
        let found = fixture.layer.found_in(&path(asked));
        let text = found.map(|root| std::fs::read_to_string(root.join(asked)).unwrap());
        let is_covered = fixture.layer.covers(&path(asked));
        assert_eq!((is_covered, text.as_deref()), (covered, content), "{asked}");
    }
    assert!(fixture.layer.has_folder(&path("ignored/lib")));
    assert!(fixture.layer.is_shared(&path("ignored")) && !fixture.layer.is_shared(&path("src")));
}

#[test]
fn links_of_the_checkout_are_followed_and_none_leads_out_of_it() {
    let (fixture, _other, upper) = shared();
    for (target, at) in [("../src/lib.rs", "source"), ("link", "chain"), ("chain", "around")] {
        std::os::unix::fs::symlink(target, upper.join(at)).unwrap();
    }
    std::os::unix::fs::symlink("again/loop", upper.join("loop")).unwrap();
    std::fs::create_dir(upper.join("again")).unwrap();
    std::os::unix::fs::symlink("../loop", upper.join("again/loop")).unwrap();
    for (asked, expected) in [
        ("ignored/link/inner", "ignored/lib/inner"),
        ("ignored/source", "src/lib.rs"),
        // A link that a command made leads to one of the checkout.
        ("ignored/around/inner", "ignored/lib/inner"),
        ("ignored/own", "ignored/own"),
        ("ignored/none/x", "ignored/none/x"),
        ("src/lib.rs", "src/lib.rs"),
    ] {
        assert_eq!(fixture.layer.resolve(&path(asked)).unwrap(), path(expected), "{asked}");
    }
    for asked in ["ignored/out/x", "ignored/loop"] {
        assert!(fixture.layer.resolve(&path(asked)).is_err(), "{asked}");
    }
}
