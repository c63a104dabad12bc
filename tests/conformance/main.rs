//! Runs every set of vectors found under `tests/vectors/{peers,security}` (or under
//! `LOCUM_VECTORS`, same layout) against the library, called the way the product calls it. Prints
//! one line a set and the failing ids; fails when a `must` or `normal` case of a supported set
//! fails. A set without a judge here prints `not run`, never a pass.

#![expect(clippy::disallowed_methods, reason = "a test reads its vectors and where they lie")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a broken vector ends the test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

mod apply_diff;
mod apply_patch;
mod command_approval;
mod commands;
mod events;
mod kode_bash_permissions;
mod mode_tool_access;
mod mode_validation;
mod paths;
mod read_file;
mod rooignore;
mod texts;
mod urls;

/// What a judge says of one case.
pub enum Judged {
    /// As expected.
    Pass,
    /// Not what the peer does, but the safer answer the case names, or a stricter one.
    Safer,
    /// Neither; says what came instead.
    Fail(String),
}

/// Judges one case; the second argument is the whole file (its header holds policies, defaults,
/// fakes).
type Judge = fn(&Value, &Value) -> Judged;

/// Returns the judge of a set, or `None` where the product does not do this yet.
fn judge_of(set: &str) -> Option<Judge> {
    match set {
        "apply_diff" => Some(apply_diff::judge),
        "apply_patch" => Some(apply_patch::judge),
        "command_approval" => Some(command_approval::judge),
        "commands" => Some(commands::judge),
        "events" => Some(events::judge),
        "kode_bash_permissions" => Some(kode_bash_permissions::judge),
        "mode_tool_access" => Some(mode_tool_access::judge),
        "mode_validation" => Some(mode_validation::judge),
        "paths" => Some(paths::judge),
        "read_file" => Some(read_file::judge),
        "rooignore" => Some(rooignore::judge),
        "texts" => Some(texts::judge),
        "urls" => Some(urls::judge),
        _ => None,
    }
}

#[test]
fn every_supported_set_holds() {
    let mut promises_broken = Vec::new();
    for (set, file) in sets() {
        let text = std::fs::read_to_string(&file).unwrap();
        let document: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let Some(judge) = judge_of(&set) else {
            say(&format!("{set}: not run"));
            continue;
        };
        let tally = Tally::count(&document, judge);
        say(&tally.line(&set));
        promises_broken.extend(tally.broken.iter().map(|id| format!("{set} {id}")));
    }
    assert!(promises_broken.is_empty(), "`must` or `normal` cases fail: {promises_broken:#?}");
}

/// The score of one set.
#[derive(Default)]
struct Tally {
    passed: usize,
    total: usize,
    levels: BTreeMap<String, (usize, usize)>,
    safer: Option<usize>,
    failures: Vec<String>,
    broken: Vec<String>,
}

impl Tally {
    fn count(document: &Value, judge: Judge) -> Self {
        let mut tally = Self::default();
        for case in document["cases"].as_array().unwrap() {
            let id = case["id"].as_str().unwrap();
            let level = case["level"].as_str().or_else(|| case["tag"].as_str()).unwrap();
            let judged = judge(case, document);
            let held = !matches!(judged, Judged::Fail(_));
            tally.total += 1;
            tally.passed += usize::from(held);
            let (passed, total) = tally.levels.entry(level.to_owned()).or_default();
            *passed += usize::from(held);
            *total += 1;
            if level == "hole" {
                *tally.safer.get_or_insert(0) += usize::from(matches!(judged, Judged::Safer));
            }
            if let Judged::Fail(what) = judged {
                tally.failures.push(format!("  {id} [{level}] {what}"));
                if level == "must" || level == "normal" {
                    tally.broken.push(id.to_owned());
                }
            }
        }
        tally
    }

    fn line(&self, set: &str) -> String {
        let mut parts: Vec<String> = ["must", "should"]
            .iter()
            .filter_map(|level| {
                self.levels.get(*level).map(|(passed, total)| format!("{level}: {passed}/{total}"))
            })
            .collect();
        parts.extend(self.safer.map(|count| format!("safer: {count}")));
        let mut line = format!("{set}: {}/{}", self.passed, self.total);
        if !parts.is_empty() {
            write!(line, " ({})", parts.join(", ")).unwrap();
        }
        for failure in &self.failures {
            write!(line, "\n{failure}").unwrap();
        }
        line
    }
}

/// Returns every set found, by name.
fn sets() -> BTreeMap<String, PathBuf> {
    let root = std::env::var_os("LOCUM_VECTORS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from);
    let mut sets = BTreeMap::new();
    for folder in ["peers", "security"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for file in entries
            .map(|entry| entry.unwrap().path())
            .filter(|file| file.extension().is_some_and(|ending| ending == "json"))
        {
            sets.insert(file.file_stem().unwrap().to_string_lossy().into_owned(), file);
        }
    }
    assert!(!sets.is_empty(), "no vectors below {}", root.display());
    sets
}

/// Prints past the test runner's capture, so that the scores are seen without flags.
fn say(line: &str) {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{line}").unwrap();
}
