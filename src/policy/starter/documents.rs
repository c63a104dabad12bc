//! Commands that a repository's documents name for people who change it: those in blocks of code of
//! `CONTRIBUTING` and `README`.
//!
//! In: their texts. Out: each document as a job whose steps are its blocks, so that what is looked
//! for in workflows is found here, too. They count only where no workflow tests a change.

use crate::starter::ci::{CiJob, CiStep, plain};
use crate::starter::scan::StarterScan;
use crate::words;
use locum_base::path::RepoPath;

/// Where contributors look, what tells most first.
const PLACES: &str = "\
    CONTRIBUTING.md .github/CONTRIBUTING.md docs/CONTRIBUTING.md CONTRIBUTING.rst CONTRIBUTING \
    DEVELOPMENT.md HACKING.md README.md README.rst README";
/// Most blocks of one document.
const BLOCKS_LIMIT: usize = 100;

/// Returns true for a document that may name commands.
pub(super) fn is_document(path: &RepoPath) -> bool {
    words::holds(PLACES, path.as_str())
}

/// Returns the documents as jobs.
pub(super) fn jobs(scan: &StarterScan) -> Vec<CiJob> {
    let named = PLACES
        .split_ascii_whitespace()
        .filter_map(|place| scan.texts.iter().find(|(path, _)| path.as_str() == place));
    named.map(|(path, text)| CiJob::of_document(path.clone(), blocks(text))).collect()
}

/// Returns the blocks of code: fenced ones, and lines that are indented or begin with a prompt.
fn blocks(text: &str) -> Vec<CiStep> {
    let mut found: Vec<CiStep> = Vec::new();
    let mut is_fenced = false;
    let mut is_in_block = false;
    for (number, line) in (1_u32..).zip(text.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
            is_in_block = false;
            continue;
        }
        let is_code = is_fenced || line.starts_with("    ") || line.starts_with('\t');
        if !is_code || trimmed.is_empty() {
            is_in_block &= is_fenced || trimmed.is_empty();
            continue;
        }
        let bare = trimmed.trim_start_matches(['$', '%', '>']).trim();
        let bare = bare.split(" #").next().unwrap_or_default();
        let commands = plain(bare);
        if !is_in_block && found.len() < BLOCKS_LIMIT {
            found.push(CiStep { line: number, ..CiStep::default() });
            is_in_block = true;
        }
        if let Some(step) = found.last_mut() {
            step.commands.extend(commands);
        }
    }
    found.retain(|step| !step.commands.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::blocks;
    use pretty_assertions::assert_eq;

    #[test]
    fn commands_stand_in_blocks_of_code() {
        let text = "# Tests\n\nRun `make all`.\n\n```console\n$ npm install\n$ npm run spec # all\n```\n\n\
                    or\n\n    pytest tests\n\nnpm test\n";
        let found: Vec<(u32, Vec<String>)> =
            blocks(text).into_iter().map(|step| (step.line, step.commands)).collect();
        let commands = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(
            found,
            [(6, commands(&["npm install", "npm run spec"])), (12, commands(&["pytest tests"]))]
        );
    }
}
