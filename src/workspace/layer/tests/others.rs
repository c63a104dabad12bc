//! What others did to the checkout while a command wrote to its layer.

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;

use super::LayerFixture;
use crate::fixture::{path, paths};
use crate::layer::{Layer, LayerChange};

#[test]
fn a_layer_that_is_opened_again_knows_what_others_changed_since_its_command_began() {
    let fixture = LayerFixture::new();
    fixture.write("src/lib.rs", "by the command");
    let of_others = |layer: &Layer| {
        let repo = &fixture.repo.repo;
        repo.is_changed_by_others(layer, &path("src/lib.rs"), LayerChange::Written).unwrap()
    };
    // The kernel's clock for files moves in steps.
    while !of_others(&fixture.layer) {
        fixture.repo.write("src/lib.rs", "by a person");
    }
    let again = Layer::open(&fixture.folder.path().join("layer")).unwrap();
    again.begin_again().unwrap();
    assert!(of_others(&again));
    again.begin().unwrap();
    assert!(!of_others(&again), "the next command sees the change");
}

#[test]
fn files_that_came_with_a_renamed_folder_are_those_of_others() {
    let fixture = LayerFixture::new();
    for file in ["src/gone", "src/same", "src/deep/file", "other/file"] {
        fixture.repo.write(file, "before");
    }
    let base = crate::repo::CommitId(fixture.repo.commit("more"));
    for (file, text) in [
        ("aside/lib.rs", "of a person"),
        ("aside/gone", "of a person"),
        ("aside/new", "of a person"),
        ("aside/deep/file", "of a person"),
        ("aside/same", "before"),
    ] {
        fixture.repo.write(file, text);
    }
    fixture.layer.begin().unwrap();
    let written = ["src/lib.rs", "src/new", "src/deep/file", "src/same", "other/file"];
    for file in written {
        fixture.write(file, "by the command");
    }
    fixture.white_out("src/gone");
    let changes: BTreeMap<_, _> = written
        .iter()
        .map(|file| (path(file), LayerChange::Written))
        .chain([(path("src/gone"), LayerChange::Removed)])
        .collect();
    let removed = || fixture.repo.repo.removed_by_others(&fixture.layer, &base, &changes).unwrap();
    assert!(removed().is_empty());
    let at = |name: &str| fixture.repo.root.join(name);
    std::fs::rename(at("src"), at("src.old")).unwrap();
    std::fs::rename(at("aside"), at("src")).unwrap();
    while removed().is_empty() {
        std::fs::rename(at("src"), at("aside")).unwrap();
        std::fs::rename(at("aside"), at("src")).unwrap();
    }
    // What a commit has as it is would be lost to nobody.
    assert_eq!(removed(), paths(&["src/deep/file", "src/gone", "src/lib.rs", "src/new"]));
}
