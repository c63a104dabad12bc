//! What is answered without a run: which question a quote answers, a decision that cannot count any
//! more, and the reaction on what asked.

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask};

#[test]
fn what_is_answered_without_a_run_has_the_reaction_of_its_answer() {
    for (body, reaction) in [
        ("/locum help", "rocket"),
        ("/locum status", "rocket"),
        ("/locum deploy", "confused"),
        ("/locum approve 0123456789abcdef", "confused"),
    ] {
        let fixture = ActionFixture::new();
        fixture.step(&Ask::comment(body));
        let shown = fixture.server.reactions();
        assert_eq!(shown.len(), 1, "{body}: {shown:?}");
        assert!(format!("{shown:?}").contains(reaction), "{body}: {shown:?}");
    }
    // Who may not ask gets neither.
    let fixture = ActionFixture::new();
    fixture.step(&Ask { login: "eve", ..Ask::comment("/locum help") });
    assert_eq!((fixture.server.reactions().len(), fixture.server.comments(7).len()), (0, 0));
}
