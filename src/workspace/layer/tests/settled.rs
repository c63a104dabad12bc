//! What is taken out of a layer once it was judged.

use pretty_assertions::assert_eq;

use super::{LayerFixture, expect};
use crate::fixture::path;
use crate::layer::LayerChange;

#[test]
fn what_git_does_not_ignore_any_more_is_judged_next_and_what_it_ignores_now_was_brought() {
    let fixture = LayerFixture::new();
    fixture.write(".gitignore", "*.log\n");
    fixture.write("ignored/deep/build", "1");
    fixture.write("src/new.log", "1");
    let written = LayerChange::Written;
    assert_eq!(fixture.found(), expect(&[(".gitignore", written), ("src/new.log", written)]));
    let repo = &fixture.repo.repo;
    let staying = repo.staying(&fixture.layer).unwrap();
    for file in [".gitignore", "src/new.log"] {
        repo.bring(&fixture.layer, &path(file), written).unwrap();
    }
    repo.settle_judged(&fixture.layer, Some(&staying), "call").unwrap();
    assert_eq!(fixture.found(), expect(&[("ignored/deep/build", written)]));
    let upper = fixture.layer.folders().upper;
    assert_eq!((upper.join("src").exists(), upper.join(".gitignore").exists()), (false, false));
    assert!(!fixture.layer.kept().exists());
    // Nothing stays of what is thrown away.
    repo.settle(&fixture.layer).unwrap();
    assert!(!upper.join("ignored").exists());
}

#[test]
fn what_no_path_can_express_is_kept_unless_all_is_thrown_away() {
    let fixture = LayerFixture::new();
    let repo = &fixture.repo.repo;
    for label in ["one", "two"] {
        fixture.write("src/n\nx", label);
        fixture.write("src/n\nfolder/inner", label);
        assert_eq!(fixture.changes().unnamed.len(), 2);
        repo.settle_judged(&fixture.layer, None, "call").unwrap();
    }
    let kept = |file: &str| std::fs::read_to_string(fixture.layer.kept().join(file)).unwrap();
    assert_eq!((kept("call/src/n\nx"), kept("call-2/src/n\nx")), ("one".into(), "two".into()));
    assert_eq!(kept("call-2/src/n\nfolder/inner"), "two");
    fixture.write("src/n\ny", "thrown away");
    repo.settle(&fixture.layer).unwrap();
    assert_eq!(fixture.changes().count(), 0);
    assert_eq!(std::fs::read_dir(fixture.layer.kept()).unwrap().count(), 2);
}
