//! What a command that was allowed really does, beside what it was taken for: real shells, real
//! git, real programs.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken machine ends the test")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make folders and start shells"
)]

#[path = "commands/corpus.rs"]
mod corpus;
#[path = "commands/differential.rs"]
mod differential;
#[path = "commands/generate.rs"]
mod generate;
#[path = "commands/git.rs"]
mod git;
#[path = "commands/options.rs"]
mod options;
#[path = "commands/run.rs"]
mod run;
#[path = "commands/shells.rs"]
mod shells;

/// A few thousand strings a test; `cargo bench --bench differential` asks for 100,000.
#[test]
fn allowed_words_are_the_words_bash_runs() {
    let found = differential::strict(1, 1500);
    assert!(found.allowed > 200, "only {} of {} were allowed", found.allowed, found.asked);
    assert!(
        found.wrong.is_empty(),
        "{} of {}:\n{}",
        found.wrong.len(),
        found.allowed,
        found.wrong.join("\n")
    );
}

#[test]
fn with_expansions_nothing_runs_or_is_written_that_was_not_judged() {
    let found = differential::loose(2, 1500);
    assert!(found.allowed > 200, "only {} of {} were allowed", found.allowed, found.asked);
    assert!(
        found.wrong.is_empty(),
        "{} of {}:\n{}",
        found.wrong.len(),
        found.allowed,
        found.wrong.join("\n")
    );
}
