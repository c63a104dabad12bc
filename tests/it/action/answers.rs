//! What is answered without a run: which question a quote answers, a decision that cannot count any
//! more, and the reaction on what asked.

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask};

#[test]
fn a_command_below_the_quoted_question_alone_answers_it() {
    for (quote, reply, outcome) in [
        ("> Which colour?\n> \n> * red", "/locum blue", "done"),
        ("> Which colour?", "/locum blue, please", "done"),
        // What is quoted is something else, so it is no answer.
        ("> Which shape shall it have?", "/locum blue", "skipped"),
    ] {
        let fixture = ActionFixture::new();
        fixture.step(&Ask::comment("/locum code ask me"));
        let body = format!("{quote}\n\n{reply}");
        let step = fixture.step(&Ask { ids: (56, 4343), ..Ask::comment(&body) });
        assert_eq!(step.output("outcome"), outcome, "{quote}: {step:?}");
    }
}

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
