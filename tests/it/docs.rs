//! What people read is true: every example is read by the library, every command line by the
//! binary, every console shows what the binary prints, and every table names what there is, no more
//! and no less.
//!
//! A fenced `yaml` block has a comment on the line before it that says what it is: `<!-- policy
//! -->`, `<!-- modes -->`, `<!-- job -->`, `<!-- script -->`, `<!-- config -->`, `<!-- workflow
//! -->`, `<!-- job-keys -->`, `<!-- steps -->`, or `<!-- example: FILE -->` for the whole of a file
//! of the repository. Lines of a `console` block that start with `$ ` are run in a checkout with
//! those example files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::stage::Stage;
use clap::{CommandFactory, Parser};
use locum::cli::ExitStatus;
use locum::cli::args::Cli;
use locum::config::environment::Environment;
use locum::config::keys::{KEYS, SettingScope};
use locum::config::load::{ConfigFile, Layers, load};
use locum::run::job::Job;
use locum_agent::session::outcome::OutcomeWord;
use locum_files::yaml::YamlDocument;
use locum_models::scripted::script::ModelScript;
use locum_modes::{ModeSource, loader};
use locum_policy::Policy;
use locum_policy::budget::Budget;
use locum_policy::cases::read_cases;
use locum_policy::command::word;
use locum_policy::intent::PUBLICATIONS;
use locum_policy::rule::{TIERS, TRIGGERS};
use pretty_assertions::assert_eq;
use regex::Regex;

/// Files below `config/examples`, and where they stand in a repository.
const EXAMPLES: &[(&str, &str)] = &[
    ("policy.yml", ".locum/policy.yml"),
    ("policy-tests.yml", ".locum/policy-tests.yml"),
    ("modes.yml", ".locum/modes.yml"),
    ("config.yml", ".locum/config.yml"),
    ("jobs/update-dependencies.yml", ".locum/jobs/update-dependencies.yml"),
    ("workflow.yml", ".github/workflows/locum.yml"),
    ("workflow-two-jobs.yml", ".github/workflows/locum.yml"),
];

/// One fenced block of a document.
struct Block {
    /// `README.md:12`.
    place: String,
    language: String,
    /// The comment before it, without its brackets; empty when there is none.
    marker: String,
    text: String,
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the Markdown files below a folder, sorted.
pub(crate) fn pages_below(folder: &str) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(root().join(folder)).build();
    let paths = walk.map(|entry| entry.unwrap().into_path());
    let mut pages: Vec<String> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| path.strip_prefix(root()).unwrap().display().to_string())
        .collect();
    pages.sort();
    pages
}

/// The README and the pages of the book, without the decisions.
pub(crate) fn documents() -> Vec<String> {
    let pages = pages_below("docs").into_iter();
    let pages = pages.filter(|page| !page.starts_with("docs/decisions/"));
    std::iter::once("README.md".to_owned()).chain(pages).collect()
}

fn blocks() -> Vec<Block> {
    documents().iter().flat_map(|document| blocks_of(document)).collect()
}

fn blocks_of(document: &str) -> Vec<Block> {
    let text = read(document);
    let mut blocks = Vec::new();
    let mut before = "";
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (open.as_mut(), line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => block.text.push_str(&format!("{line}\n")),
            (None, Some(language)) => {
                let marker = before
                    .strip_prefix("<!-- ")
                    .and_then(|rest| rest.strip_suffix(" -->"))
                    .unwrap_or_default();
                let place = format!("{document}:{number}");
                open = Some(Block {
                    place,
                    language: language.to_owned(),
                    marker: marker.to_owned(),
                    text: String::new(),
                });
            }
            (None, None) => before = line,
        }
    }
    assert!(open.is_none(), "{document}: a block is not closed");
    blocks
}

/// Reads an example as the product would; says what is wrong.
fn check_example(kind: &str, text: &str) -> Result<(), String> {
    match kind {
        "policy" => {
            let whole = if text.contains("version:") {
                text.to_owned()
            } else {
                format!("version: 1\n{text}")
            };
            Policy::parse(&whole, "policy").map(drop).map_err(|errors| errors.to_string())
        }
        "policy-tests" => read_cases(text, "tests").map(drop).map_err(|errors| errors.to_string()),
        "modes" => {
            let source = ModeSource::Project { file: ".locum/modes.yml".to_owned() };
            let file = loader::parse_file(text, &source, loader::Strictness::Strict)
                .map_err(|errors| errors.to_string())?;
            let says = !file.modes.is_empty() || !file.prompts.is_empty();
            if file.warnings.is_empty() && says {
                Ok(())
            } else {
                Err(format!("{:?}", file.warnings))
            }
        }
        "job" => Job::parse("example", text).map(drop).map_err(|mistakes| format!("{mistakes:?}")),
        "script" => ModelScript::parse("script", text).map(drop).map_err(|error| error.to_string()),
        "config" => {
            let file = ConfigFile { origin: ".locum/config.yml".to_owned(), text: text.to_owned() };
            let layers = Layers {
                user: None,
                repository: Some(&file),
                environment: &Environment::default(),
                flags: &[],
            };
            load(&layers).map(drop).map_err(|errors| errors.to_string())
        }
        "workflow" => {
            let jobs = Regex::new(r"(?m)^jobs:$").unwrap();
            let pinned = Regex::new(r"uses: \S+@[0-9a-f]{40}\b").unwrap();
            let uses = text.matches("uses: ").count();
            let good = jobs.is_match(text) && uses > 0 && pinned.find_iter(text).count() == uses;
            if good {
                Ok(())
            } else {
                Err("a workflow has jobs, and every action it uses is pinned to a commit"
                    .to_owned())
            }
        }
        // Lines of a job, to put into the workflow that `locum init` wrote.
        "steps" => {
            let pinned = Regex::new(r"^- uses: \S+@[0-9a-f]{40} # v").unwrap();
            let is_good = YamlDocument::parse(text).mistakes.is_empty() && pinned.is_match(text);
            if is_good { Ok(()) } else { Err("a step, pinned to a commit".to_owned()) }
        }
        "job-keys" => {
            let document = YamlDocument::parse(text);
            let keys = Regex::new(r"(?m)^(\w+):").unwrap();
            let known = |key: &str| matches!(key, "permissions" | "env");
            let is_good = document.mistakes.is_empty()
                && text.lines().count() <= 5
                && keys.captures_iter(text).all(|found| known(&found[1]));
            if is_good { Ok(()) } else { Err("at most five lines of a job's keys".to_owned()) }
        }
        other => Err(format!("`{other}` says nothing about what it is")),
    }
}

fn kind_of_example(file: &str) -> &str {
    if file.starts_with("jobs/") {
        return "job";
    }
    file.trim_end_matches(".yml").trim_end_matches("-two-jobs")
}

#[test]
fn every_yaml_example_is_read_by_the_program() {
    let mut wrong = Vec::new();
    for block in blocks().iter().filter(|block| block.language == "yaml") {
        let found = match block.marker.strip_prefix("example: ") {
            Some(file) if read(file) == block.text => Ok(()),
            Some(file) => Err(format!("it is not what `{file}` holds")),
            None => check_example(&block.marker, &block.text),
        };
        wrong.extend(found.err().map(|error| format!("{}: {error}", block.place)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_file_is_read_by_the_program_and_known_here() {
    for (file, _) in EXAMPLES {
        let found = check_example(kind_of_example(file), &read(&format!("config/examples/{file}")));
        assert_eq!(found, Ok(()), "{file}");
    }
    let walk = ignore::WalkBuilder::new(root().join("config/examples"))
        .build()
        .map(|entry| entry.unwrap().into_path());
    let there: BTreeSet<PathBuf> = walk.filter(|path| path.is_file()).collect();
    let known: BTreeSet<PathBuf> =
        EXAMPLES.iter().map(|(file, _)| root().join("config/examples").join(file)).collect();
    assert_eq!(there, known);
}

#[test]
fn every_command_line_is_one_the_program_takes() {
    let mut seen = 0;
    let mut wrong = Vec::new();
    for block in blocks().iter().filter(|block| matches!(block.language.as_str(), "console" | "sh"))
    {
        for line in block.text.lines() {
            let Some(line) = line.trim_start_matches("$ ").strip_prefix("locum ") else { continue };
            seen += 1;
            let words =
                word::split(line).unwrap_or_else(|error| panic!("{}: {error}", block.place));
            let parsed = Cli::try_parse_from(std::iter::once("locum".to_owned()).chain(words));
            let wrongly = parsed.err().filter(clap::Error::use_stderr);
            wrong.extend(wrongly.map(|error| format!("{}: {line}\n{error}", block.place)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 5, "the command lines were not found");
}

#[test]
fn every_console_shows_what_the_program_prints() {
    let files: Vec<(&str, String)> =
        EXAMPLES.iter().map(|(file, at)| (*at, read(&format!("config/examples/{file}")))).collect();
    let stage =
        Stage::with(&files.iter().map(|(at, text)| (*at, text.as_str())).collect::<Vec<_>>());
    for block in blocks().iter().filter(|block| block.language == "console") {
        let mut printed = String::new();
        for line in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let words = word::split(
                line.strip_prefix("locum ").unwrap_or_else(|| panic!("{}: {line}", block.place)),
            )
            .unwrap();
            let ran = stage.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            printed.push_str(&format!("$ {line}\n{}{}", ran.out, ran.err));
        }
        assert_eq!(block.text, printed, "{}", block.place);
    }
}

#[test]
fn the_readme_has_its_two_commands() {
    let readme = read("README.md");
    for command in ["\n```sh\ncargo run --release -- demo\n```\n", "\n```sh\ncargo test\n```\n"] {
        assert!(readme.contains(command), "{command}");
    }
    let rust = format!("Rust {} or newer", env!("CARGO_PKG_RUST_VERSION"));
    assert!(readme.contains(&rust) && read("docs/install.md").contains(&rust), "{rust}");
}

#[test]
fn every_subcommand_is_told_of_and_explains_its_arguments() {
    let page = read("docs/reference-cli.md");
    let mut leaves = 0;
    let mut waiting = vec![("locum".to_owned(), Cli::command())];
    while let Some((name, command)) = waiting.pop() {
        let bare: Vec<String> = command
            .get_arguments()
            .filter(|argument| argument.get_help().is_none())
            .map(ToString::to_string)
            .collect();
        assert!(bare.is_empty() && command.get_about().is_some(), "{name}: {bare:?}");
        waiting.extend(
            command
                .get_subcommands()
                .map(|below| (format!("{name} {}", below.get_name()), below.clone())),
        );
        if !command.has_subcommands() {
            assert!(page.contains(&format!("\n## {name}\n")), "{name} is not in the reference");
            leaves += 1;
        }
    }
    assert!(leaves > 10, "the subcommands were not found");
}

#[test]
fn the_policys_words_and_limits_are_described() {
    let page = read("docs/policy.md") + &read("docs/policy/rules.md");
    let schema = Policy::schema();
    let sections = schema["properties"].as_object().unwrap().keys().map(String::as_str);
    for section in sections.filter(|section| !matches!(*section, "version" | "network")) {
        let heading = Regex::new(&format!(r"(?m)^##+ (.* and )?{section}( and .*)?$")).unwrap();
        assert!(
            heading.is_match(&page) || (section == "rules" && page.contains("\n# Rules\n")),
            "{section}"
        );
    }
    let words = TIERS.iter().map(|(word, _)| word).chain(TRIGGERS.iter().map(|(word, _)| word));
    for word in words.chain(PUBLICATIONS.iter().map(|(word, _)| word)) {
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
    let budget = serde_json::to_value(Budget::default()).unwrap();
    for (key, value) in budget.as_object().unwrap() {
        let row = Regex::new(&format!(r"(?m)^\| `{key}` \| .* \| (.+) \|$")).unwrap();
        let told = row.captures(&page).unwrap_or_else(|| panic!("{key}"))[1].replace('M', "000000");
        assert_eq!(told.parse::<f64>().ok(), value.as_f64(), "{key}");
    }
}

#[test]
fn the_built_in_modes_and_the_keys_of_a_profile_are_described() {
    let page = read("docs/modes.md");
    let table = page.split("\n## ").next().unwrap();
    let row = Regex::new(r"(?m)^\| `([a-z-]+)` \|").unwrap();
    let told: BTreeSet<String> =
        row.captures_iter(table).map(|found| found[1].to_owned()).collect();
    let real: BTreeSet<String> =
        locum_modes::builtin::modes().iter().map(|mode| mode.slug.clone()).collect();
    assert_eq!(told, real);
    let page = read("docs/models.md");
    for key in KEYS.iter().filter_map(|key| key.path.strip_prefix("models.profiles.*.")) {
        let name = key.split('.').next().unwrap();
        assert!(
            page.lines().any(|line| line.starts_with("| `") && line.contains(&format!("`{name}`"))),
            "{name}"
        );
    }
}

#[test]
fn outcomes_and_exit_codes_are_those_of_the_program() {
    let row = Regex::new(r"(?m)^\| `([a-z-]+)` \| .* \| (\d+) \|$").unwrap();
    let page = read("docs/outcomes.md");
    let told: BTreeSet<(String, u8)> = row
        .captures_iter(&page)
        .map(|found| (found[1].to_owned(), found[2].parse().unwrap()))
        .collect();
    let real: BTreeSet<(String, u8)> =
        OutcomeWord::ALL.iter().map(|word| (word.as_str().to_owned(), word.exit_code())).collect();
    assert_eq!(told, real);
    for row in ["| 1 | an internal error", "| 2 | a wrong command line"] {
        assert!(page.contains(row), "{:?} {:?}", ExitStatus::Internal, ExitStatus::Usage);
    }
}

#[test]
fn the_action_is_described_input_by_input_and_output_by_output() {
    let action = read("action.yml");
    let page = read("docs/action-reference.md");
    let key = Regex::new(r"(?m)^  ([a-z-]+):$").unwrap();
    let row = Regex::new(r"(?m)^\| `([a-z-]+)` \|").unwrap();
    for (section, next) in [("inputs", "outputs"), ("outputs", "runs")] {
        let part = action
            .split(&format!("\n{section}:\n"))
            .nth(1)
            .unwrap()
            .split(&format!("\n{next}:\n"))
            .next()
            .unwrap();
        let real: Vec<&str> =
            key.captures_iter(part).map(|found| found.get(1).unwrap().as_str()).collect();
        let heading = format!("\n## {}\n", if section == "inputs" { "Inputs" } else { "Outputs" });
        let told = page.split(&heading).nth(1).unwrap_or_default().split("\n## ").next().unwrap();
        let told: Vec<&str> =
            row.captures_iter(told).map(|found| found.get(1).unwrap().as_str()).collect();
        assert_eq!(told, real, "{section}");
    }
}

#[test]
fn the_actions_exit_codes_are_those_of_the_program() {
    let page = read("docs/action-reference.md");
    let part = page.split("\n## Exit codes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let row = Regex::new(r"(?m)^\| (\d+) \| (.*) \|$").unwrap();
    let word = Regex::new("`([a-z-]+)`").unwrap();
    let mut told = BTreeSet::new();
    for row in row.captures_iter(part) {
        let words = word.captures_iter(&row[2]).map(|word| word[1].to_owned());
        told.extend(words.map(|word| (word, row[1].parse::<u8>().unwrap())));
    }
    let others = [("skipped", 0), ("fail-on", 0)];
    let others = others.map(|(word, code)| (word.to_owned(), code));
    let words = OutcomeWord::ALL.iter().map(|word| (word.as_str().to_owned(), word.exit_code()));
    assert_eq!(told, words.chain(others).collect());
}

/// What a message's `…` stands for differs; the rest is in the code, word for word.
#[test]
fn every_message_of_the_troubleshooting_page_is_one_of_the_program() {
    let code = sources(Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let joined = Regex::new(r"\\\n\s*").unwrap().replace_all(&code, "").to_lowercase();
    let span = Regex::new(r"``(.+?)``|`([^`]+)`").unwrap();
    let page = read("docs/troubleshooting.md");
    let tables = page.split("\n| message | cause | cure |\n").skip(1);
    let rows =
        tables.flat_map(|table| table.lines().skip(1).take_while(|row| row.starts_with('|')));
    let mut count = 0;
    for row in rows {
        let message = row.split(" | ").next().unwrap();
        for found in span.captures_iter(message) {
            let text = found.get(1).or(found.get(2)).unwrap().as_str();
            for part in text.split('…').map(|part| part.trim().to_lowercase()) {
                assert!(joined.contains(&part), "`{part}` of {row}");
            }
            count += 1;
        }
    }
    assert!(count >= 50, "only {count} messages were read");
}

pub(crate) fn sources(folder: PathBuf) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&sources(path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
    text
}

#[test]
fn every_setting_is_described_with_its_variables() {
    let page = read("docs/configuration.md");
    let page = page.split("\n## ").next().unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), KEYS.len());
    for (key, row) in KEYS.iter().zip(rows) {
        assert!(row.starts_with(&format!("| `{}` |", key.path)), "{row}");
        assert!(
            key.variables.iter().all(|variable| row.contains(&format!("`{variable}`"))),
            "{row}"
        );
        assert_eq!(
            row.contains("in no repository"),
            key.scope == SettingScope::NotRepository,
            "{row}"
        );
    }
}
