//! Which commands a repository's workflows run to test and to look: they may be run here as well,
//! word for word.
//!
//! In: the texts of workflows. Out: commands with the file and line they stand in. What installs,
//! publishes or pushes is left out, and so is everything but plain words.

use std::collections::BTreeSet;

use crate::command::Script;
use crate::command::word;
use crate::glob::LetterCase;
use crate::pattern::Pattern;
use crate::starter::commands::ProposedTool;
use crate::starter::scan::StarterScan;
use crate::words;
use locum_files::yaml::{YamlDocument, YamlNode, YamlValue};

/// Programs that build and test.
const PROGRAMS: &str = "\
    cargo npm pnpm yarn bun npx pytest python python3 tox nox uv poetry pdm hatch ruff mypy \
    flake8 black isort pylint go golangci-lint gofmt mvn ./mvnw gradle ./gradlew make just \
    eslint prettier tsc vitest jest bundle rake rspec rubocop composer phpunit phpstan \
    dotnet mix ctest swift deno zig";
/// Words that make a command one that tests or looks; a part of a word counts where a `:` or `-`
/// sets it off.
const TESTING: &str = "\
    test tests lint check clippy vet typecheck pytest tox nox ruff mypy flake8 jest vitest \
    eslint rspec rubocop phpunit phpstan ctest tsc unittest";
/// Words that make it one that does more.
const DOING_MORE: &str = "\
    install publish deploy push login add upload release remove uninstall update upgrade fix \
    run-script exec x dlx -c -e --fix --write";
/// Most commands that are taken over.
const MOST: usize = 20;
/// Deepest place of a `run` in a workflow: jobs, the job, steps, the step.
const RUN_DEPTH: usize = 6;

/// Finds commands that no known pattern allows yet.
pub(super) fn find(scan: &StarterScan, known: &[String]) -> Vec<ProposedTool> {
    let patterns: Vec<Pattern> =
        known.iter().filter_map(|text| Pattern::parse(text).ok()).collect();
    let mut seen = BTreeSet::new();
    let mut tools = Vec::new();
    for (path, text) in
        scan.texts.iter().filter(|(path, _)| path.as_str().starts_with(".github/workflows/"))
    {
        // A workflow that starts locum does not show how the repository is tested.
        let Some(root) =
            YamlDocument::parse(text).root.filter(|_| !path.as_str().ends_with("/locum.yml"))
        else {
            continue;
        };
        let mut runs = Vec::new();
        collect(&root, 0, &mut runs);
        for (script, line) in runs {
            for command in script.lines().filter_map(plain).filter(|command| tests(command)) {
                let covered = word::split(&command).is_ok_and(|words| {
                    patterns
                        .iter()
                        .filter_map(Pattern::command)
                        .any(|pattern| pattern.matches(&words, LetterCase::Exact))
                });
                if !covered && seen.insert(command.clone()) {
                    tools.extend(ProposedTool::new(
                        &command,
                        false,
                        format!("{path}:{line} runs it"),
                    ));
                }
            }
        }
    }
    tools.truncate(MOST);
    tools
}

/// Collects the scripts of all steps with their lines.
fn collect<'n>(node: &'n YamlNode, depth: usize, runs: &mut Vec<(&'n str, u32)>) {
    if depth > RUN_DEPTH {
        return;
    }
    match &node.value {
        YamlValue::Map(entries) => {
            for entry in entries {
                match (entry.key.as_str(), entry.node.text()) {
                    ("run", Some(script)) => runs.push((script, entry.key_place.line)),
                    (_, _) => collect(&entry.node, depth + 1, runs),
                }
            }
        }
        YamlValue::List(nodes) => nodes.iter().for_each(|node| collect(node, depth + 1, runs)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {}
    }
}

/// Returns a line that is one command of plain words.
fn plain(line: &str) -> Option<String> {
    let line = line.trim();
    let letters = |letter: char| letter.is_ascii_alphanumeric() || " -_./:=,+@%".contains(letter);
    if line.is_empty()
        || !line.chars().all(letters)
        || line.contains("..") && !line.contains("/...")
    {
        return None;
    }
    let script = Script::parse(line);
    let [simple] = script.simple_commands().try_into().ok()?;
    (script.problem().is_none() && script.redirects().is_empty()).then(|| simple.words.join(" "))
}

fn tests(command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    let program = words.first().is_some_and(|program| words::holds(PROGRAMS, program));
    let tests = |word: &str| {
        words::holds(TESTING, word)
            || word.split([':', '-']).any(|part| words::holds(TESTING, part))
    };
    let testing = words.iter().any(|word| tests(word));
    program
        && testing
        && !words.iter().skip(1).any(|word| words::holds(DOING_MORE, word) || word.starts_with('/'))
}
