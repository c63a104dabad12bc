//! What commands made of files that git ignores and that the checkout has.

use pretty_assertions::assert_eq;

use super::LayerFixture;
use crate::layer::ignored::{IgnoredChanges, named};

/// A checkout with dependencies, settings and build output that git ignores.
fn with_ignored_files() -> LayerFixture {
    let fixture = LayerFixture::new();
    fixture.repo.write(".gitignore", "node_modules/\n.env\n*.o\ntarget/\n");
    for file in ["node_modules/a/x", "node_modules/a/y", "node_modules/b/z", ".env", "a.o"] {
        fixture.repo.write(file, "before");
    }
    fixture.repo.write("target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n");
    fixture.repo.write("target/debug/old", "before");
    fixture
}

#[test]
fn ignored_files_of_the_checkout_that_are_gone_or_different_are_named_and_new_ones_are_not() {
    let fixture = with_ignored_files();
    let found = || {
        let found = fixture.repo.repo.ignored_changes(&fixture.layer).unwrap();
        (named(&found.removed), named(&found.changed))
    };
    let text = |(removed, changed): (&str, &str)| (removed.to_owned(), changed.to_owned());
    fixture.write("node_modules/new/x", "after");
    fixture.write("node_modules/b/z", "before");
    fixture.write("target/debug/old", "after");
    fixture.white_out("target/debug/gone");
    fixture.white_out("latin");
    assert_eq!(found(), text(("", "")));
    fixture.white_out("node_modules/a");
    fixture.white_out(".env");
    fixture.write("a.o", "after");
    assert_eq!(found(), text(("`.env`, `node_modules/a` (2 files)", "`a.o`")));
    // A folder that was recreated lacks what is not in it again.
    std::fs::remove_file(fixture.layer.folders().upper.join("node_modules/a")).unwrap();
    fixture.make_opaque("node_modules/a");
    fixture.write("node_modules/a/x", "after");
    assert_eq!(found(), text(("`.env`, `node_modules/a/y`", "`a.o`, `node_modules/a/x`")));
    fixture.white_out("target/CACHEDIR.TAG");
    std::fs::remove_dir_all(fixture.layer.folders().upper.join("target")).unwrap();
    fixture.white_out("target");
    assert_eq!(found().0, "`.env`, `node_modules/a/y`, `target` (2 files)");
}

#[test]
fn removals_are_undone_and_what_was_made_anew_lies_over_what_was_there() {
    let fixture = with_ignored_files();
    let upper = fixture.layer.folders().upper.to_owned();
    let look = || fixture.repo.repo.ignored_changes(&fixture.layer).unwrap();
    fixture.white_out(".env");
    let before = look();
    fixture.make_opaque("node_modules");
    fixture.write("node_modules/a/x", "after");
    fixture.white_out("a.o");
    let new = look().since(&before);
    assert_eq!(named(&new.removed), "`a.o`, `node_modules` (2 files)");
    let left = fixture.layer.undo_removals(&new.removed, &before).unwrap();
    assert!(left.is_empty());
    let now = look();
    assert_eq!(
        (named(&now.removed), named(&now.changed)),
        ("`.env`".into(), "`node_modules/a/x`".into())
    );
    assert!(!upper.join("a.o").exists());
    // What a recreated folder lacked before does not come back with the rest.
    fixture.make_opaque("node_modules");
    fixture.write("node_modules/b/z", "after");
    let before = look();
    std::fs::remove_file(upper.join("node_modules/b/z")).unwrap();
    let new = look().since(&before);
    let left = fixture.layer.undo_removals(&new.removed, &before).unwrap();
    assert_eq!((named(&new.removed), left), ("`node_modules/b/z`".to_owned(), new.removed));
}

#[test]
fn of_very_many_paths_in_a_folder_only_the_first_are_looked_at_and_others_are_known_still() {
    let fixture = with_ignored_files();
    let count = 10_001;
    for file in 0..count {
        fixture.repo.write(&format!("node_modules/many/{file}"), "before");
    }
    let found = || fixture.repo.repo.ignored_changes(&fixture.layer).unwrap();
    fixture.white_out("node_modules/many/0");
    let before = found();
    assert_eq!(before.cut_since(&IgnoredChanges::default()), None);
    for file in 1..count {
        fixture.write(&format!("node_modules/many/{file}"), "after");
    }
    fixture.white_out(".env");
    fixture.write("a.o", "after");
    let now = found();
    assert!(now.changed.len() + now.removed.len() <= 10_002);
    assert_eq!(now.cut_since(&before).as_deref(), Some("`node_modules`"));
    assert_eq!(now.cut_since(&now), None);
    let new = now.since(&before);
    assert_eq!((named(&new.removed), named(&new.changed)), ("`.env`".into(), "`a.o`".into()));
    assert!(fixture.layer.undo_removals(&new.removed, &before).unwrap().is_empty());
    assert!(found().since(&before).removed.is_empty());
}

#[test]
fn of_other_repositories_new_files_are_named_as_well_and_none_is_a_change() {
    let fixture = LayerFixture::new();
    fixture.repo.commit_submodule("sub");
    for file in ["inner/.git/HEAD", "inner/a", "inner/deep/b", "inner/c"] {
        fixture.repo.write(file, "before");
    }
    let look = || fixture.repo.repo.ignored_changes(&fixture.layer).unwrap();
    fixture.write("inner/a", "after");
    fixture.white_out("inner/c");
    fixture.write("inner/.git/index", "after");
    // A submodule that is not checked out.
    fixture.write("sub/new/x", "after");
    let before = look();
    assert_eq!(named(&before.of_others), "`inner` (2 files), `sub/new/x`");
    assert!(before.is_empty(), "{before:?}");
    fixture.write("src/new", "after");
    fixture.write("inner/deep/new", "after");
    assert_eq!(fixture.found(), [("src/new".to_owned(), crate::layer::LayerChange::Written)]);
    fixture.bring_all();
    assert_eq!(named(&look().since(&before).of_others), "`inner/deep/new`");
    // The folder as a whole.
    std::fs::remove_dir_all(fixture.layer.folders().upper.join("inner")).unwrap();
    fixture.white_out("inner");
    fixture.bring_all();
    assert_eq!(named(&look().of_others), "`inner` (4 files), `sub/new/x`");
    assert_eq!(fixture.read("inner/a").as_deref(), Some("before"));
}
