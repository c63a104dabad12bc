//! What a journal keeps, what it drops, and who may hold it.

use super::{JOURNAL_FILE, Journal, JournalError};
use crate::session::event::{Event, JournalLine};
use crate::session::recorded::ReplyCharge;
use locum_base::chat::Reply;
use locum_base::id::TaskId;
use pretty_assertions::assert_eq;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;

fn line(second: i64, event: Event) -> JournalLine {
    JournalLine { at: jiff::Timestamp::from_second(1_700_000_000 + second).unwrap(), event }
}

fn three_lines() -> Vec<JournalLine> {
    let reply = Reply { text: "two\nlines \u{2028} and \"quotes\"".into(), ..Reply::default() };
    let replied = Event::Replied {
        task: TaskId(0),
        reply,
        charge: ReplyCharge { estimated: true, cost_usd: 0.25, ..ReplyCharge::default() },
        priced: false,
        withheld: vec![],
    };
    let reminded =
        Event::Reminded { task: TaskId(0), text: "call a tool".into(), mistake: true, about: None };
    vec![line(0, Event::Resumed { outside_text: false }), line(1, replied), line(2, reminded)]
}

fn written(folder: &std::path::Path) -> Vec<u8> {
    std::fs::read(folder.join(JOURNAL_FILE)).unwrap()
}

fn journal_of_three(folder: &std::path::Path) {
    let mut journal = Journal::create(folder).unwrap();
    three_lines().iter().for_each(|line| journal.append(line).unwrap());
}

#[test]
fn the_folders_of_a_session_are_the_user_s_alone() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("locum/sessions/one");
    journal_of_three(&folder);
    Journal::keep_in(&folder, b"blob").unwrap();
    let mode = |path: &str| {
        let facts = std::fs::metadata(state.path().join(path)).unwrap();
        facts.permissions().mode() & 0o777
    };
    for made in ["locum/sessions/one", "locum/sessions/one/blobs"] {
        assert_eq!(mode(made), 0o700, "{made}");
    }
    // Those above are as any other: others may keep their sessions beside it.
    std::fs::create_dir(state.path().join("usual")).unwrap();
    assert_eq!((mode("locum"), mode("locum/sessions")), (mode("usual"), mode("usual")));
}

#[test]
fn reads_back_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    journal_of_three(folder.path());
    assert_eq!(Journal::read(folder.path()).unwrap(), three_lines());
    assert_eq!(written(folder.path()).iter().filter(|byte| **byte == b'\n').count(), 3);
}

#[test]
fn drops_a_last_line_cut_at_any_byte_and_goes_on_after_it() {
    let folder = tempfile::tempdir().unwrap();
    journal_of_three(folder.path());
    let whole = written(folder.path());
    let second_ends =
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    for cut in second_ends..whole.len() {
        std::fs::write(folder.path().join(JOURNAL_FILE), &whole[..cut]).unwrap();
        let mut journal = Journal::resume(folder.path()).unwrap();
        assert_eq!(journal.past(), &three_lines()[..2], "cut at {cut}");
        journal.append(&three_lines()[2]).unwrap();
        assert_eq!(written(folder.path()), whole, "cut at {cut}");
    }
}

#[test]
fn refuses_a_broken_line_in_the_middle_and_a_later_format() {
    let folder = tempfile::tempdir().unwrap();
    journal_of_three(folder.path());
    let mut bytes = written(folder.path());
    bytes[3] = b'#';
    std::fs::write(folder.path().join(JOURNAL_FILE), &bytes).unwrap();
    assert!(matches!(Journal::resume(folder.path()), Err(JournalError::Malformed { line: 1, .. })));
    let later = r#"{"at":"2023-11-14T22:13:20Z","event":"started","version":99,"id":"x","task":"","message":"","mode":"","facts":{"mode":"","trigger":"local","tier":"maintainer","job":null},"budget":{},"base":"","policy_hash":"","models":["",""],"caller":null}"#;
    std::fs::write(folder.path().join(JOURNAL_FILE), format!("{later}\n")).unwrap();
    let error = Journal::resume(folder.path()).unwrap_err().to_string();
    assert!(error.contains("format 99 is later than 3"), "{error}");
}

#[test]
fn is_held_by_one_process_at_a_time_and_read_by_any() {
    let folder = tempfile::tempdir().unwrap();
    let held = Journal::create(folder.path()).unwrap();
    assert!(matches!(Journal::resume(folder.path()), Err(JournalError::InUse { .. })));
    assert_eq!(Journal::read(folder.path()).unwrap(), vec![]);
    drop(held);
    Journal::resume(folder.path()).unwrap();
    assert!(
        matches!(Journal::create(folder.path()), Err(JournalError::Io { .. })),
        "an old journal is never overwritten"
    );
}

#[test]
fn a_failing_disk_is_an_error_and_leaves_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    journal_of_three(folder.path());
    let whole = written(folder.path());
    let mut journal = Journal::resume(folder.path()).unwrap();
    let full = std::fs::OpenOptions::new().append(true).open("/dev/full").unwrap();
    let real = std::mem::replace(&mut journal.file, full);
    let error = journal.append(&three_lines()[0]).unwrap_err().to_string();
    assert!(error.contains("No space left"), "{error}");
    // As if the disk had taken half a line before it was full.
    (&real).write_all(b"{\"at\":").unwrap();
    journal.file =
        std::fs::OpenOptions::new().read(true).open(folder.path().join(JOURNAL_FILE)).unwrap();
    assert!(journal.append(&three_lines()[0]).is_err());
    drop((journal, real));
    assert_eq!(Journal::read(folder.path()).unwrap(), three_lines());
    Journal::resume(folder.path()).unwrap();
    assert_eq!(written(folder.path()), whole);
}

#[test]
fn keeps_content_by_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::create(folder.path()).unwrap();
    let hash = journal.keep(b"content \0 of any kind").unwrap();
    assert_eq!(journal.keep(b"content \0 of any kind").unwrap(), hash);
    assert_eq!(journal.kept(&hash).unwrap(), b"content \0 of any kind");
    assert!(journal.kept("../journal.jsonl").is_err());
    assert!(journal.kept("00").is_err());
}
