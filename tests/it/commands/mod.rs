//! What a command that was allowed really does, beside what it was taken for: real shells, real
//! git, real programs.

mod corpus;
mod differential;
mod entry;
pub(crate) mod generate;
mod git;
mod options;
mod run;
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
