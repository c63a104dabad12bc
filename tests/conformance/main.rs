//! Runs every set of vectors found under `tests/vectors/{peers,security}` (or under
//! `LOCUM_VECTORS`, same layout) against the library, called the way the product calls it.
//!
//! Prints one line a set and the failing ids; fails when a `must` or `normal` case of a supported
//! set fails. A set without a judge here prints `not run`, never a pass. A case with a field its
//! judge does not know fails, so does one a judge cannot express, and one in which anything panics.

#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "a test reads its vectors and where they lie")]

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;

use field::{Field, Looked};

mod apply_diff;
mod apply_patch;
mod command_approval;
mod commands;
mod events;
mod field;
#[expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_types,
    reason = "a test asks the program from outside, and ends where something is not as expected"
)]
mod friction;
mod kode_bash_permissions;
mod mode_tool_access;
mod mode_validation;
mod paths;
mod read_file;
mod rooignore;
mod texts;
mod urls;

/// What a judge says of one case.
#[derive(Debug, PartialEq, Eq)]
pub enum Judged {
    /// As expected.
    Pass,
    /// Not what the peer does, but the safer answer the case names, or a stricter one.
    Safer,
    /// Neither; says what came instead.
    Fail(String),
}

/// Judges one case; the second argument is the file around it (its header holds policies, defaults,
/// fakes). An error says what of the case cannot be expressed.
type ConformanceJudge = fn(&Field<'_>, &Field<'_>) -> Result<Judged, String>;

/// Levels of a case; a miss of the first two fails the test.
const LEVELS: &[&str] = &["must", "normal", "should", "quirk", "js_regex", "hole"];
const PROMISES: &[&str] = &["must", "normal"];

/// Returns the judge of a set, or `None` where the product does not do this yet.
fn judge_of(set: &str) -> Option<ConformanceJudge> {
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
    let mut broken = Vec::new();
    for (set, file) in sets() {
        let Some(judge) = judge_of(&set) else {
            say(&format!("{set}: not run"));
            continue;
        };
        match read(&file) {
            Ok(document) => {
                let tally = Tally::count(&set, &document, judge);
                say(&tally.line(&set));
                broken.extend(tally.broken.iter().map(|what| format!("{set} {what}")));
            }
            Err(why) => broken.push(format!("{set}: {why}")),
        }
    }
    assert!(broken.is_empty(), "`must` or `normal` cases fail: {broken:#?}");
}

fn read(file: &Path) -> Result<Value, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
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
    fn count(set: &str, document: &Value, judge: ConformanceJudge) -> Self {
        let mut tally = Self::default();
        let looked = Looked::default();
        let header = Field::root(document, &looked);
        header.at("cases").is_prose();
        let cases = document["cases"].as_array().map_or(&[][..], Vec::as_slice);
        for case in cases {
            tally.add(case, judge, &header);
        }
        tally.broken.extend(header_fault(set, cases.len(), &header).err());
        tally.broken.extend(
            looked
                .missed("", document)
                .iter()
                .map(|place| format!("`{place}` of the file is not judged")),
        );
        tally
    }

    fn add(&mut self, case: &Value, judge: ConformanceJudge, header: &Field<'_>) {
        let looked = Looked::default();
        let field = Field::root(case, &looked);
        let id = field.at("id").text().unwrap_or("(no id)");
        let level =
            field.at("level").text().or_else(|_| field.at("tag").text()).unwrap_or("(no level)");
        // The class groups cases, the reason explains them.
        field.at("class").is_prose();
        field.at("reason").is_prose();
        let judged = match judge_safely(judge, &field, header) {
            Judged::Fail(why) => Judged::Fail(why),
            held => match looked.missed("", case).as_slice() {
                [] => held,
                missed => Judged::Fail(format!("not judged: {}", missed.join(", "))),
            },
        };
        let held = !matches!(judged, Judged::Fail(_));
        self.total += 1;
        self.passed += usize::from(held);
        let (passed, total) = self.levels.entry(level.to_owned()).or_default();
        *passed += usize::from(held);
        *total += 1;
        if level == "hole" {
            *self.safer.get_or_insert(0) += usize::from(judged == Judged::Safer);
        }
        if let Judged::Fail(what) = judged {
            self.failures.push(format!("  {id} [{level}] {what}"));
        }
        if !LEVELS.contains(&level) || (!held && PROMISES.contains(&level)) {
            self.broken.push(id.to_owned());
        }
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
            let _ = write!(line, " ({})", parts.join(", "));
        }
        for failure in &self.failures {
            let _ = write!(line, "\n{failure}");
        }
        line
    }
}

/// Judges a case; what panics has failed.
fn judge_safely(judge: ConformanceJudge, case: &Field<'_>, header: &Field<'_>) -> Judged {
    match catch_unwind(AssertUnwindSafe(|| judge(case, header))) {
        Ok(Ok(judged)) => judged,
        Ok(Err(why)) => Judged::Fail(why),
        Err(panic) => Judged::Fail(format!("panicked: {}", message(&*panic))),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

/// What every file says of itself: which set it is, in a format known here, and how many cases
/// there are.
fn header_fault(set: &str, cases: usize, header: &Field<'_>) -> Result<(), String> {
    let kind = header.at("kind").given().unwrap_or_else(|| header.at("set"));
    if kind.text()? != set {
        return Err(format!("the file is of the set `{}`", kind.text()?));
    }
    if let Some(format) = header.at("format").given().filter(|format| format.count() != Ok(1)) {
        return Err(format!("`{}` is no format known here", format.whole()));
    }
    if header.at("count").size()? != cases || cases == 0 {
        return Err(format!("there are {cases} cases"));
    }
    // Which of several files of a set, and the program whose answers these are.
    header.at("part").is_prose();
    header.at("reference").is_prose();
    Ok(())
}

/// Returns every set found, by name.
/// Where the vectors lie.
fn vectors() -> PathBuf {
    std::env::var_os("LOCUM_VECTORS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors"), PathBuf::from)
}

fn sets() -> BTreeMap<String, PathBuf> {
    let root = vectors();
    let entries = ["peers", "security"]
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flatten();
    let files = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "json"));
    let sets: BTreeMap<String, PathBuf> = files
        .filter_map(|file| Some((file.file_stem()?.to_string_lossy().into_owned(), file.clone())))
        .collect();
    assert!(!sets.is_empty(), "no vectors below {}", root.display());
    sets
}

/// Prints past the test runner's capture, so that the scores are seen without flags.
fn say(line: &str) {
    // Where nobody listens any more, the scores are not missed.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Every name of `wanted`, and no other, must be in `found`.
fn same_names<'a>(
    what: &str,
    found: impl Iterator<Item = &'a str>,
    wanted: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let (found, wanted): (BTreeSet<&str>, BTreeSet<&str>) = (found.collect(), wanted.collect());
    if found == wanted { Ok(()) } else { Err(format!("{what}: {found:?} instead of {wanted:?}")) }
}

#[cfg(test)]
mod tests {
    use super::{ConformanceJudge, Field, Judged, Tally};
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    fn judge(case: &Field<'_>, header: &Field<'_>) -> Result<Judged, String> {
        match case.at("is").text()? {
            "right" => Ok(Judged::Pass),
            "wrong" => Ok(Judged::Fail("it is wrong".to_owned())),
            "panic" => panic!("out of {}", header.at("of").text()?),
            other => Err(format!("`{other}` cannot be expressed")),
        }
    }

    fn tally(cases: &Value, count: usize) -> Tally {
        let file =
            json!({ "kind": "own", "format": 1, "of": "luck", "count": count, "cases": cases });
        Tally::count("own", &file, judge as ConformanceJudge)
    }

    #[test]
    fn only_a_case_that_is_wholly_judged_passes() {
        let case = |id: &str, level: &str, is: &str| json!({ "id": id, "level": level, "is": is });
        let mut unread = case("unread", "should", "right");
        unread["more"] = json!({ "than": "known" });
        let cases = [
            case("right", "must", "right"),
            case("wrong", "must", "wrong"),
            case("panic", "should", "panic"),
            case("odd", "should", "odd"),
            unread,
            json!({ "level": "must" }),
        ];
        let tally = tally(&json!(cases), cases.len());
        assert_eq!((tally.passed, tally.total), (1, 6));
        assert_eq!(
            tally.line("own").lines().collect::<Vec<_>>(),
            [
                "own: 1/6 (must: 1/3, should: 0/3)",
                "  wrong [must] it is wrong",
                "  panic [should] panicked: out of luck",
                "  odd [should] `odd` cannot be expressed",
                "  unread [should] not judged: more.than",
                "  (no id) [must] `is` is not a text",
            ]
        );
        assert_eq!(tally.broken, ["wrong", "(no id)"]);
    }

    #[test]
    fn a_file_is_held_to_what_it_says_of_itself() {
        let right = json!([{ "id": "a", "level": "must", "is": "right" }, { "id": "b", "level": "must", "is": "panic" }]);
        assert_eq!(tally(&right, 3).broken, ["b", "there are 2 cases"]);
        let unread = json!([{ "id": "a", "level": "must", "is": "right" }]);
        assert_eq!(tally(&unread, 1).broken, ["`of` of the file is not judged"]);
        let odd = json!([{ "id": "a", "level": "perhaps", "is": "right" }, { "id": "b", "level": "should", "is": "panic" }]);
        assert_eq!(tally(&odd, 2).broken, ["a"]);
    }
}
