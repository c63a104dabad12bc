//! The journals of real fixes that were played reply by reply: what `docs/real-tasks.md` says of
//! each is what its journal says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use locum_agent::session::event::{Event, JournalLine};
use locum_agent::session::state::SessionState;
use locum_policy::verdict::Decision;
use pretty_assertions::assert_eq;

fn journals() -> Vec<(String, Vec<JournalLine>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/real_tasks");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), lines)
    };
    files.into_iter().map(read).collect()
}

/// The outcome, the replies, the calls and those that were refused.
fn figures(lines: &[JournalLine]) -> [String; 4] {
    let outcome = SessionState::of(lines).outcome.expect("the session ended");
    let count = |is: fn(&Event) -> bool| lines.iter().filter(|line| is(&line.event)).count();
    let replies = count(|event| matches!(event, Event::Replied { .. }));
    let calls = count(|event| matches!(event, Event::Judged { .. }));
    let refused = count(|event| {
        matches!(event, Event::Judged { verdicts, .. }
            if verdicts.iter().any(|verdict| verdict.decision != Decision::Allow))
    });
    [outcome.word.as_str().to_owned(), replies.to_string(), calls.to_string(), refused.to_string()]
}

#[test]
fn the_table_of_real_tasks_says_what_their_journals_say() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/real-tasks.md"))
            .unwrap();
    // | [name](journal) | .. | mode | outcome | replies | calls | refused | ..
    let mut told: BTreeMap<String, [String; 4]> = BTreeMap::new();
    for row in page.lines().filter(|line| line.starts_with("| [")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let repository = cells[1].trim_start_matches('[').split(']').next().unwrap();
        let name = format!("{}-{}", repository.rsplit('/').next().unwrap(), cells[4]);
        told.insert(name, [5, 6, 7, 8].map(|at| cells[at].trim_matches('`').to_owned()));
    }
    let found: BTreeMap<String, [String; 4]> =
        journals().into_iter().map(|(name, lines)| (name, figures(&lines))).collect();
    assert_eq!(told, found);
}
