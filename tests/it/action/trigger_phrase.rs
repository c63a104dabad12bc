//! The input `trigger-phrase`: whatever names a command, or looks out for one, goes by it and not
//! by the prefix of the policy.

use pretty_assertions::assert_eq;

use crate::action::fixture::{ActionFixture, Ask};

/// The input that sets it.
pub(crate) const INPUTS: &[(&str, &str)] = &[("INPUT_TRIGGER_PHRASE", "!agent")];

fn ask(body: &str) -> Ask<'_> {
    Ask { inputs: INPUTS, ..Ask::comment(body) }
}

#[test]
fn help_names_the_word_that_starts_runs_here() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&ask("/locum help"));
    assert_eq!(step.output("outcome"), "skipped", "the prefix of the policy starts nothing");
    assert_eq!(fixture.server.writes(), Vec::<String>::new());
    fixture.step(&ask("!agent help"));
    let help = fixture.server.comments(7).pop().unwrap();
    assert!(help.contains("`!agent [mode or verb]"), "{help}");
    assert!(!help.contains("`/locum"), "{help}");
}

#[test]
fn words_of_the_model_that_would_be_a_command_are_published_as_none() {
    let none: &[(&str, &str)] = &[];
    for (word, inputs) in [("!agent", INPUTS), ("!other", INPUTS), ("!agent", none)] {
        let fixture = ActionFixture::new();
        let result = format!("Seen.\n\n{word} undo");
        fixture.answer_first("call it off", "call it off", &result);
        let phrase = if inputs.is_empty() { "/locum" } else { "!agent" };
        let body = format!("{phrase} ask call it off");
        let step = fixture.step(&Ask { inputs, ..Ask::comment(&body) });
        assert_eq!(step.output("outcome"), "done", "{step:?}");
        let comment = fixture.server.comments(7).pop().unwrap();
        let is_defused = comment.contains(&format!("\\{word} undo"));
        let is_command = word == phrase;
        assert_eq!(is_defused, is_command, "{word} {inputs:?}: {comment}");
    }
    // Letters stand for a command as well.
    let inputs = &[("INPUT_TRIGGER_PHRASE", "agent")];
    let fixture = ActionFixture::new();
    fixture.answer_first("call it off", "call it off", "Seen.\n\nAgent undo, agent");
    fixture.step(&Ask { inputs, ..Ask::comment("agent ask call it off") });
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(comment.contains("\n\\Agent undo, agent"), "{comment}");
}

#[test]
fn a_run_that_waits_names_decisions_by_the_word_that_starts_runs_here() {
    let fixture = ActionFixture::new();
    let step = fixture.step(&ask("!agent code hold it"));
    assert_eq!(step.output("outcome"), "on-hold", "{step:?}");
    let comment = fixture.server.comments(7).pop().unwrap();
    assert!(comment.contains("!agent approve"), "{comment}");
    assert!(!comment.contains("/locum approve"), "{comment}");
}
