//! The first fence: holds every source file to the floors of `docs/ARCHITECTURE.md`, to its length,
//! to the owners of external crates and of effects, and every document to paths that exist.
#![expect(clippy::disallowed_methods, reason = "a test reads the sources")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what cannot be read ends the test"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

/// Floor of each top-level module; a module imports only from floors below its own.
const FLOORS: &[(&str, u8)] = &[
    ("base", 0),
    ("policy", 1),
    ("modes", 2),
    ("prompts", 3),
    ("workspace", 4),
    ("models", 4),
    ("forge", 4),
    ("tools", 5),
    ("session", 6),
    ("report", 7),
    ("config", 7),
    ("run", 8),
    ("cli", 9),
];

/// Lines a file may have before its tests begin.
const FILE_LIMIT_LINES: usize = 500;

/// Floors that only compute: what they may not name.
const PURE: &[&str] = &["base", "policy", "modes", "prompts", "report"];
const IMPURE_WORDS: &[&str] = &[
    "tokio::",
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "reqwest::",
    "git2::",
    "octocrab::",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
];

/// External crates and the modules that may name them.
const OWNERS: &[(&str, &[&str])] = &[
    ("git2", &["src/workspace/"]),
    ("octocrab", &["src/forge/"]),
    ("reqwest", &["src/models/", "src/agent/tools/web/", "src/forge/github"]),
    ("figment", &["src/config/"]),
    ("clap", &["src/cli/"]),
    ("brush_parser", &["src/policy/command/", "src/policy/command.rs"]),
    ("rustls", &["src/cli/", "src/models/", "src/forge/", "src/sandbox/network/"]),
    ("hyper", &["src/sandbox/network/"]),
    ("hyper_util", &["src/sandbox/network/"]),
    ("http_body_util", &["src/sandbox/network/", "src/forge/github"]),
    ("tokio_rustls", &["src/sandbox/network/"]),
    ("rustls_platform_verifier", &["src/sandbox/network/"]),
    ("flate2", &["src/sandbox/network/"]),
    ("tracing_subscriber", &["src/cli/"]),
];

/// Files that may lift the second fence (clippy's disallowed methods and types) for themselves.
const EFFECT_OWNERS: &[&str] = &[
    "src/workspace/",
    "src/agent/session/journal",
    "src/agent/session/attacks",
    "src/config/",
    "src/cli/",
    "src/run/",
    "src/main.rs",
    "src/models/",
    "src/forge/local",
    "src/forge/github",
    "src/agent/tools/",
];

#[test]
fn modules_import_only_from_floors_below() {
    let mention = Regex::new(r"\bcrate::(\w+)").unwrap();
    let mut broken = Vec::new();
    for file in sources() {
        let Some(home) = module_of(&file.path) else { continue };
        for (number, line) in file.code() {
            for found in
                mention.captures_iter(line).map(|captures| captures.get(1).unwrap().as_str())
            {
                let known = FLOORS.iter().find(|(name, _)| *name == found);
                let fine = found == home || known.is_some_and(|(_, floor)| *floor < floor_of(home));
                if !fine {
                    broken.push(format!("{}:{number}: {home} imports {found}", file.path));
                }
            }
            if line.contains("use crate::{") || line.contains("super::super") {
                broken.push(format!(
                    "{}:{number}: write one plain `use crate::floor::...` path",
                    file.path
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_module_has_a_floor() {
    let known: BTreeSet<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<String> =
        sources().iter().filter_map(|file| module_of(&file.path).map(str::to_owned)).collect();
    assert!(found.iter().all(|module| known.contains(module.as_str())), "{found:?}");
    assert!(found.len() > 10, "the sources were not found: {found:?}");
}

#[test]
fn pure_floors_have_no_effects() {
    let mut broken = Vec::new();
    for file in sources()
        .iter()
        .filter(|file| module_of(&file.path).is_some_and(|module| PURE.contains(&module)))
    {
        for (number, line) in file.code() {
            broken.extend(
                IMPURE_WORDS
                    .iter()
                    .filter(|word| line.contains(*word))
                    .map(|word| format!("{}:{number}: {word}", file.path)),
            );
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn external_crates_have_one_owner() {
    let mut broken = Vec::new();
    let owned: Vec<_> = OWNERS
        .iter()
        .map(|(name, owners)| (name, owners, Regex::new(&format!(r"(^|[^\w:]){name}::")).unwrap()))
        .collect();
    for file in sources() {
        for (name, owners, mention) in owned
            .iter()
            .filter(|(_, owners, _)| !owners.iter().any(|owner| file.path.starts_with(owner)))
        {
            broken.extend(file.code().filter(|(_, line)| mention.is_match(line)).map(
                |(number, _)| format!("{}:{number}: {name} belongs to {owners:?}", file.path),
            ));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn effects_have_owners() {
    let mut broken = Vec::new();
    for file in sources()
        .iter()
        .filter(|file| !EFFECT_OWNERS.iter().any(|owner| file.path.starts_with(owner)))
    {
        broken.extend(
            file.code()
                .filter(|(_, line)| line.contains("clippy::disallowed_"))
                .map(|(number, line)| format!("{}:{number}: {line}", file.path)),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn only_the_policy_makes_permits() {
    let makes = Regex::new(r"\bPermit\s*(::<[^>]*>)?\s*\{").unwrap();
    let makers: Vec<String> = sources()
        .iter()
        .flat_map(|file| {
            file.code()
                .filter(|(_, line)| {
                    makes.is_match(line) && !line.contains("struct") && !line.contains("impl")
                })
                .map(|(number, _)| format!("{}:{number}", file.path))
                .collect::<Vec<_>>()
        })
        .filter(|place| !place.starts_with("src/policy/"))
        .collect();
    assert!(makers.is_empty(), "{makers:?}");
    let policy = sources().into_iter().find(|file| file.path == "src/policy/lib.rs").unwrap();
    assert!(
        policy.text.contains("pub struct Permit<A> {\n    act: A,"),
        "the fields of `Permit` are private"
    );
}

/// Verdicts have typed causes; what is rendered from them is for people.
#[test]
fn nothing_is_decided_by_the_words_of_a_reason() {
    let read = Regex::new(r"\.reason(\(\))?(\.as_str\(\))?\.(contains|starts_with|ends_with|find|matches|strip_\w+|split\w*)\(").unwrap();
    let code = |file: &Source| {
        let lines = file.code().filter(|(_, line)| read.is_match(line));
        lines
            .map(|(number, line)| format!("{}:{number}: {}", file.path, line.trim()))
            .collect::<Vec<_>>()
    };
    let sources = sources();
    let tests = |file: &&Source| file.path.contains("/tests/") || file.path.ends_with("tests.rs");
    let broken: Vec<String> = sources.iter().filter(|file| !tests(file)).flat_map(code).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut broken = Vec::new();
    for file in sources() {
        let lines = file.code().count();
        if lines > FILE_LIMIT_LINES {
            broken.push(format!(
                "{}: {lines} lines without tests, {FILE_LIMIT_LINES} at most",
                file.path
            ));
        }
        if !file.text.starts_with("//! ") {
            broken.push(format!("{}: does not begin with a `//!` line", file.path));
        }
        broken.extend(
            file.code().filter(|(_, line)| line.contains("[allow(")).map(|(number, _)| {
                format!("{}:{number}: write `#[expect(.., reason)]`", file.path)
            }),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_test_the_security_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let files = files_below(&root.join("src"), "rs")
        .into_iter()
        .chain(files_below(&root.join("tests"), "rs"));
    let code: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let name = Regex::new(r"`([a-z0-9]+_[a-z0-9_]+)`").unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let named: BTreeSet<&str> = rows
        .flat_map(|row| name.captures_iter(row).map(|found| found.get(1).unwrap().as_str()))
        .collect();
    let missing: Vec<&&str> =
        named.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
    assert!(named.len() > 40 && missing.is_empty(), "{missing:?}");
}

#[test]
fn documents_name_only_paths_that_exist() {
    let path = Regex::new(r"`((?:src|tests|docs|config|\.github|\.ci|benches)/[\w./*-]+|action\.yml|Dockerfile|Cargo\.toml)`").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for file in files_below(root, "md")
        .into_iter()
        .chain(sources().into_iter().map(|file| root.join(file.path)))
    {
        let text = std::fs::read_to_string(&file).unwrap();
        for found in
            path.captures_iter(&text).map(|captures| captures.get(1).unwrap().as_str().to_owned())
        {
            let plain = found.split(['*', '{']).next().unwrap();
            if !root.join(plain.trim_end_matches('/')).exists() && !plain.starts_with(".github/") {
                broken.push(format!(
                    "{}: `{found}` does not exist",
                    file.strip_prefix(root).unwrap().display()
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A source file, its path relative to the project.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Returns the lines before the tests that are no comments, numbered from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod tests"))
            .unwrap_or(lines.len());
        let numbered: Vec<(usize, &str)> = lines
            .into_iter()
            .take(tests)
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .collect();
        numbered.into_iter().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    files_below(&root.join("src"), "rs")
        .into_iter()
        .map(|file| Source {
            path: file.strip_prefix(root).unwrap().to_string_lossy().into_owned(),
            text: std::fs::read_to_string(&file).unwrap(),
        })
        .collect()
}

fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    ignore::WalkBuilder::new(folder)
        .build()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

fn module_of(path: &str) -> Option<&str> {
    let below = path.strip_prefix("src/")?;
    let module = below.split('/').next()?.trim_end_matches(".rs");
    (module != "main" && module != "lib").then_some(module)
}

fn floor_of(module: &str) -> u8 {
    FLOORS.iter().find(|(name, _)| *name == module).map_or(u8::MAX, |(_, floor)| *floor)
}
