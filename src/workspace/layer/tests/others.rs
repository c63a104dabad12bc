//! What others did to the checkout while a command wrote to its layer.

use super::LayerFixture;
use crate::fixture::path;
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
