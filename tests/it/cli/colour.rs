//! Colours: on terminals alone, unless a flag or a variable says otherwise.

use super::{Run, Setup};
use pretty_assertions::assert_eq;

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let setup = Setup::new();
    for (words, variables, expected) in [
        ("policy explain edit(a)", &[][..], false),
        ("policy explain edit(a)", &[("CLICOLOR", "1")], false),
        ("policy explain edit(a)", &[("CLICOLOR_FORCE", "1")], true),
        ("policy explain edit(a)", &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        ("policy explain edit(a) --color always", &[("NO_COLOR", "1")], true),
        ("--color=never policy explain edit(a)", &[("CLICOLOR_FORCE", "1")], false),
        ("policy explain edit(a) --json --color always", &[], false),
        ("modes list --color always", &[], true),
        ("--color always --help", &[], true),
        ("--help", &[], false),
    ] {
        let run: Run =
            setup.command(words).envs(variables.iter().copied()).output().unwrap().into();
        assert_eq!(run.out.contains(ESCAPE), expected, "{words} {variables:?}: {run:?}");
        assert_eq!(run.err, "", "{words}");
    }
}

#[test]
fn a_mistake_is_coloured_before_the_command_line_is_understood() {
    let setup = Setup::new();
    for (words, expected) in [
        ("rnu --color always", true),
        ("rnu", false),
        ("--repo nowhere modes list --color always", true),
        ("--repo nowhere modes list --color always --log-format json", false),
        ("--repo nowhere modes list", false),
    ] {
        let run = setup.run(words);
        assert_eq!((run.code, run.err.contains(ESCAPE)), (Some(2), expected), "{words}: {run:?}");
    }
}

#[test]
fn a_verdict_is_coloured_as_one_word_and_text_of_others_stays_inert() {
    let setup = Setup::new();
    let run = setup.run("policy explain --color always edit(a) command(x\u{1b}[2J)");
    assert!(run.out.starts_with("\u{1b}[1m\u{1b}[32mallow\u{1b}[0m  edit(a)\n"), "{run:?}");
    assert!(!run.out.contains("\u{1b}[2J"), "{run:?}");
}
