//! What is found and shown, and what is not. Where a process of its own cuts files along their
//! definitions is tested with the program.

#![expect(clippy::disallowed_methods, reason = "tests make and look at the files they are about")]

use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::tools::fixture::ToolFixture;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::intent::{Act, Intent};

const PROJECT: &[(&str, &str)] = &[
    (".gitignore", "build/\n"),
    ("README.md", "# Parser\n\nReads headers of requests.\n"),
    (
        "src/header.rs",
        "/// Parses one.\npub fn parse_header(line: &str) -> Header {\n    todo(line)\n}\n",
    ),
    ("src/body.rs", "pub fn read_body(length: usize) {\n    copy(length)\n}\n"),
    (
        "src/retry.py",
        "class RetryPolicy:\n    def backoffSeconds(self):\n        return 2 ** self.n\n",
    ),
    ("docs/old.txt", "nothing here\n"),
];

/// Returns an answer, without the note that a test's process cuts nothing along definitions.
fn answer(fixture: &ToolFixture, query: &str, path: Option<&str>) -> String {
    let arguments = json!({ "query": query, "path": path }).to_string();
    let text = fixture.call("codebase_search", &arguments).text;
    let cut = text.find("\n(Not cut along definitions").unwrap_or(text.len());
    text[..cut].trim_end().to_owned()
}

/// Returns the files of an answer, in their order.
fn found(fixture: &ToolFixture, query: &str, path: Option<&str>) -> Vec<String> {
    let text = answer(fixture, query, path);
    text.lines().filter_map(|line| line.strip_prefix("# ")).map(str::to_owned).collect()
}

fn kept_files(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state.join("index")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[test]
fn places_are_found_by_the_words_of_names_however_they_are_written() {
    let fixture = ToolFixture::new(PROJECT);
    for (query, path, expected) in [
        ("parseHeader", None, &["src/header.rs", "README.md"][..]),
        ("parsing of headers", None, &["src/header.rs", "README.md"]),
        ("retry backoff", None, &["src/retry.py"]),
        ("RETRY_POLICY", None, &["src/retry.py"]),
        ("backoff_seconds", None, &["src/retry.py"]),
        ("body", None, &["src/body.rs"]),
        ("header", Some("src"), &["src/header.rs"]),
        ("header", Some("docs"), &[]),
        ("header", Some("src/header.rs"), &["src/header.rs"]),
        ("kubernetes", None, &[]),
    ] {
        assert_eq!(found(&fixture, query, path), expected, "{query} {path:?}");
    }
    assert_eq!(
        answer(&fixture, "body length", None),
        "1 file with words of the query, of 6 files. Best first.\n\n# src/body.rs\n1-3\n    1 | pub \
         fn read_body(length: usize) {\n    2 |     copy(length)\n    3 | }"
    );
    assert_eq!(
        answer(&fixture, "kubernetes", None),
        "No word of the query is in any of 6 files that were searched."
    );
}

#[test]
fn a_file_that_may_not_be_read_is_not_shown_and_has_no_say() {
    let secret = ("src/secret.rs", "parse_header parse_header token header header\n");
    let files = [PROJECT, &[secret]].concat();
    let state = tempfile::tempdir().unwrap();
    let mut with = ToolFixture::new(&files);
    with.state_folder = Some(state.path().to_owned());
    assert_eq!(found(&with, "token header", None)[0], "src/secret.rs");
    with.hidden = vec!["src/secret.rs"];
    let without = ToolFixture::new(PROJECT);
    for query in ["token header", "header", "parse", "token"] {
        let expected = answer(&without, query, None);
        let text = answer(&with, query, None);
        let text = text.strip_suffix("\n(Files that may not be read are left out.)").unwrap();
        assert_eq!(text.trim_end(), expected, "{query}");
    }
    // What it holds stays known to a run that may read it.
    with.hidden.clear();
    assert_eq!(found(&with, "token header", None)[0], "src/secret.rs");
}

#[test]
fn edits_and_deletions_are_seen_at_once() {
    let state = tempfile::tempdir().unwrap();
    let mut fixture = ToolFixture::new(PROJECT);
    fixture.state_folder = Some(state.path().to_owned());
    assert_eq!(found(&fixture, "kubernetes", None), [""; 0]);
    assert_eq!(kept_files(state.path()).len(), 1);
    // Of the same size as before.
    std::fs::write(fixture.at("docs/old.txt"), "kubernetes !\n").unwrap();
    fixture.call(
        "write_to_file",
        &json!({ "path": "new.rs", "content": "kubernetes kubernetes kubernetes\n" }).to_string(),
    );
    assert_eq!(found(&fixture, "kubernetes", None), ["new.rs", "docs/old.txt"]);
    std::fs::remove_file(fixture.at("docs/old.txt")).unwrap();
    assert_eq!(found(&fixture, "kubernetes", None), ["new.rs"]);
    std::fs::rename(fixture.at("new.rs"), fixture.at("src/moved.rs")).unwrap();
    assert_eq!(found(&fixture, "kubernetes", None), ["src/moved.rs"]);
}

#[test]
fn binary_large_ignored_and_linked_files_are_left_out() {
    let large = "needle ".repeat(200_000);
    let files = [
        (".gitignore", "build/\n"),
        ("a.rs", "needle\n"),
        ("b.bin", "needle\0needle needle\n"),
        ("build/c.rs", "needle needle\n"),
        ("large.txt", &large),
    ];
    let mut fixture = ToolFixture::new(&files);
    std::os::unix::fs::symlink("a.rs", fixture.at("link.rs")).unwrap();
    let text = answer(&fixture, "needle", None);
    assert!(text.starts_with("1 file with words of the query, of 3 files."), "{text}");
    assert!(text.ends_with("(1 file larger than 1 MiB not searched.)"), "{text}");
    assert_eq!(found(&fixture, "needle", None), ["a.rs"]);
    // A folder that is named on purpose is searched although it is ignored, and not kept.
    let state = tempfile::tempdir().unwrap();
    fixture.state_folder = Some(state.path().to_owned());
    assert_eq!(found(&fixture, "needle", Some("build")), ["build/c.rs"]);
    assert_eq!(kept_files(state.path()).len(), 0);
}

#[test]
fn a_damaged_index_and_a_state_folder_that_is_none_change_nothing() {
    let state = tempfile::tempdir().unwrap();
    let mut fixture = ToolFixture::new(PROJECT);
    let expected = answer(&fixture, "parse header", None);
    fixture.state_folder = Some(state.path().to_owned());
    assert_eq!(answer(&fixture, "parse header", None), expected);
    let kept = kept_files(state.path()).remove(0);
    let whole = std::fs::read(&kept).unwrap();
    let mut changed = whole.clone();
    changed[60] ^= 1;
    for damaged in [&b""[..], b"locum index 1\n", &whole[..whole.len() / 2], &changed] {
        std::fs::write(&kept, damaged).unwrap();
        assert_eq!(answer(&fixture, "parse header", None), expected);
        assert_eq!(std::fs::read(&kept).unwrap().len(), whole.len(), "it was built again");
    }
    // A writer that was killed leaves its file beside the index, half written or whole.
    let left = kept.with_file_name(".tmpKilled");
    for bytes in [&whole[..whole.len() / 2], &whole] {
        std::fs::remove_file(&kept).unwrap();
        std::fs::write(&left, bytes).unwrap();
        assert_eq!(answer(&fixture, "parse header", None), expected);
        assert_eq!(std::fs::read(&kept).unwrap().len(), whole.len(), "it was built again");
        assert_eq!(std::fs::read(&left).unwrap(), bytes, "the other is not taken for it");
    }
    std::fs::remove_dir_all(state.path().join("index")).unwrap();
    std::fs::write(state.path().join("index"), "a file").unwrap();
    assert_eq!(answer(&fixture, "parse header", None), expected);
}

#[test]
fn a_search_below_a_folder_keeps_what_is_known_of_others() {
    let state = tempfile::tempdir().unwrap();
    let many: Vec<(String, String)> =
        (0..40).map(|number| (format!("many/{number}.rs"), format!("word{number}\n"))).collect();
    let files: Vec<(&str, &str)> =
        many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut fixture = ToolFixture::new(&[PROJECT, &files].concat());
    fixture.state_folder = Some(state.path().to_owned());
    assert_eq!(found(&fixture, "word7", None), ["many/7.rs"]);
    let size = || std::fs::metadata(&kept_files(state.path())[0]).unwrap().len();
    let before = size();
    for number in 0..40 {
        std::fs::write(fixture.at(&format!("many/{number}.rs")), "other words\n").unwrap();
    }
    assert_eq!(found(&fixture, "word7", Some("many")), [""; 0]);
    assert!(size() > before, "{} {before}", size());
    assert_eq!(found(&fixture, "backoff", None), ["src/retry.py"]);
}

#[test]
fn an_answer_has_a_bound_and_says_how_many_there_are() {
    let line = format!("needle {}\n", "long words ".repeat(100));
    let files: Vec<(String, String)> =
        (0..60).map(|number| (format!("f{number:02}.rs"), line.repeat(40))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let fixture = ToolFixture::new(&files);
    let text = answer(&fixture, "needle", None);
    assert!(
        text.starts_with("The best 9 of 60 files with words of the query, of 60 files."),
        "{text}"
    );
    assert!(text.len() < super::shown::SHOWN_LIMIT_BYTES + 500, "{}", text.len());
    assert!(text.contains("    1 | needle long words"), "{text}");
}

#[test]
fn it_reads_the_folder_and_says_what_is_wrong() {
    let fixture = ToolFixture::new(PROJECT);
    std::os::unix::fs::symlink("src", fixture.at("link")).unwrap();
    let arguments = json!({ "query": "retry", "path": "link" }).to_string();
    let call = fixture.parse("codebase_search", &arguments, ToolName::ALL).unwrap();
    assert_eq!(call.intents(), [Intent::Read(RepoPath::parse("src").unwrap())]);
    assert_eq!((call.headline().as_str(), call.only_reads()), ("search link for retry", true));
    let long = "word ".repeat(1000);
    for (query, path, expected) in [
        ("retry", Some("none"), "Cannot search `none`: it does not exist."),
        ("retry", Some("../x"), "../x"),
        ("retry", Some("/etc"), "/etc"),
        ("", None, "`query` of `codebase_search` is empty"),
        ("-> !", None, "`query` of `codebase_search` has no word of two letters or more."),
        (long.as_str(), None, "is longer than 4,096 bytes"),
    ] {
        let text = answer(&fixture, query, path);
        assert!(text.contains(expected), "{query} {path:?}: {text}");
    }
}
