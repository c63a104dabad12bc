//! What is taken out of a layer once it was judged.

use pretty_assertions::assert_eq;

use super::LayerFixture;

#[test]
fn what_no_path_can_express_is_kept_unless_all_is_thrown_away() {
    let fixture = LayerFixture::new();
    let repo = &fixture.repo.repo;
    for label in ["one", "two"] {
        fixture.write("src/n\nx", label);
        fixture.write("src/~folder/inner", label);
        assert_eq!(fixture.changes().unnamed.len(), 2);
        repo.settle_judged(&fixture.layer, "call").unwrap();
    }
    let kept = |file: &str| std::fs::read_to_string(fixture.layer.kept().join(file)).unwrap();
    assert_eq!((kept("call/src/n\nx"), kept("call-2/src/n\nx")), ("one".into(), "two".into()));
    assert_eq!(kept("call-2/src/~folder/inner"), "two");
    fixture.write("src/n\ny", "thrown away");
    repo.settle(&fixture.layer).unwrap();
    assert_eq!(fixture.changes().count(), 0);
    assert_eq!(std::fs::read_dir(fixture.layer.kept()).unwrap().count(), 2);
}
