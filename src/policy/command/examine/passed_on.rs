//! Words behind `--` that a program gives to another one: `cargo fmt -- --check` is `rustfmt
//! --check` for the files of a crate.
//!
//! In: the words of a command that are not options. Out: what is found of those words, as if they
//! stood behind the other program.

use crate::command::examine::CommandEffects;
use crate::command::examine::examiner::Examiner;
use crate::words;

/// Programs that take what is behind `--` of others.
const PASSED_ON: &[(&str, &[&str])] = &[
    ("cargo clippy", &["clippy-driver"]),
    ("cargo fmt", &["rustfmt"]),
    ("cargo rustc", &["rustc"]),
    ("clang-tidy", &["clang", "-fsyntax-only"]),
    // As a rule, tests are what these start.
    ("nox", &["pytest"]),
    ("tox", &["pytest"]),
];

/// Verbs that give what is behind `--` to the tests that they build, with `-` for blanks.
const TESTING: &str = "cargo-hack cargo-insta cargo-miri";

impl Examiner<'_> {
    /// Looks at words that are for another program, and takes them away from the others.
    pub(super) fn passed_on(
        &mut self,
        name: &str,
        operands: &mut Vec<(usize, String)>,
        plain_from: Option<usize>,
    ) {
        let Some(from) = plain_from else { return };
        let program = PASSED_ON.iter().find(|(passing, _)| *passing == name);
        let is_testing = words::holds(TESTING, &name.replace(' ', "-"));
        if program.is_none() && !is_testing {
            return;
        }
        let given = operands.split_off(from.min(operands.len()));
        match program {
            Some((_, program)) => self.given_to(name, program, &given),
            None => self.handed(&given),
        }
    }

    fn given_to(&mut self, name: &str, program: &[&str], given: &[(usize, String)]) {
        let Some((first, _)) = given.first() else { return };
        let words: Vec<String> = program
            .iter()
            .map(|word| (*word).to_owned())
            .chain(given.iter().map(|(_, word)| word.clone()))
            .collect();
        let examined = CommandEffects::of(&words, self.folder);
        if let Some(found) = examined.findings.first() {
            let place = found.index.checked_sub(program.len());
            let own = place.and_then(|place| given.get(place)).map_or(first, |(index, _)| index);
            self.finding(*own, format!("`{name}` passes on what is behind `--`: {}", found.reason));
        }
        self.found.needs_sandbox |= examined.needs_sandbox;
        self.found.reads.extend(examined.reads);
        self.found.edits.extend(examined.edits);
    }
}
