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
        ("```\n> Which colour?\n```", "/locum blue", "skipped"),
        // What names a mode is a task about the quote.
        ("> Which colour?", "/locum code say hello", "done"),
    ] {
        let fixture = ActionFixture::new();
        fixture.step(&Ask::comment("/locum code ask me"));
        let body = format!("{quote}\n\n{reply}");
        let step = fixture.step(&Ask { ids: (56, 4343), ..Ask::comment(&body) });
        assert_eq!(step.output("outcome"), outcome, "{quote}: {step:?}");
    }
}

#[test]
fn a_quote_of_several_questions_is_asked_which_it_means() {
    let fixture = ActionFixture::new();
    for id in [55, 56] {
        fixture.step(&Ask { ids: (id, 4242 + id), ..Ask::comment("/locum code ask me") });
    }
    let body = "> Which colour?\n\n/locum blue";
    let step = fixture.step(&Ask { ids: (57, 4400), ..Ask::comment(body) });
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    assert!(step.output("final-message").contains("2 runs wait here; say which"), "{step:?}");
}

#[test]
fn a_comment_offers_no_decision_that_cannot_count_any_more() {
    let fixture = ActionFixture::new();
    fixture.step(&Ask::comment("/locum code hold it"));
    let hold = fixture.waiting(7);
    // Of what waits nothing changes by a decision on something else.
    let other = "/locum approve 0123456789abcdef";
    fixture.fresh(&Ask { ids: (56, 4343), ..Ask::comment(other) });
    assert_eq!(fixture.waiting(7), hold);
    fixture.set_modes("[code, ask]");
    let approve = format!("/locum approve {hold}");
    let step = fixture.fresh(&Ask { ids: (57, 4344), ..Ask::comment(&approve) });
    let said = step.output("final-message");
    assert!(said.contains("the policy, or an ignore file, is another one since"), "{step:?}");
    assert_eq!(fixture.waiting(7), "");
    let comments = fixture.server.comments(7);
    let closed = comments.iter().find(|text| text.contains("can no longer go on")).unwrap();
    assert!(closed.contains("is another one since") && closed.contains("/locum retry"), "{closed}");
    assert!(!closed.contains("approve"), "{closed}");
    // What it showed of the call stays.
    assert!(closed.contains("<details><summary>Arguments of "), "{closed}");
    let step = fixture.fresh(&Ask { ids: (58, 4345), ..Ask::comment("/locum status") });
    assert_eq!(step.output("outcome"), "skipped", "{step:?}");
    let status = fixture.server.comments(7).pop().unwrap();
    assert!(!status.contains("Waiting for a decision"), "{status}");
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
