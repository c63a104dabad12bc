//! Searches: what is found, shown and left out.

use super::RESULT_LIMIT;
use crate::tools::fixture::ToolFixture;
use pretty_assertions::assert_eq;

fn search(fixture: &ToolFixture, path: &str, regex: &str, files: Option<&str>) -> String {
    let arguments = serde_json::json!({ "path": path, "regex": regex, "file_pattern": files });
    fixture.call("search_files", &arguments.to_string()).text
}

fn project() -> ToolFixture {
    ToolFixture::new(&[
        (".gitignore", "*.log\n/ignored/\n"),
        (".github/ci.yml", "run: needle\n"),
        ("a.log", "needle\n"),
        ("b/two.ts", "needle two"),
        ("b/binary", "needle\0\n"),
        ("ignored/x.rs", "needle\n"),
        ("src/one.rs", "1\n2\nneedle é\r\n4\n5\n6\nneedle\n8\n"),
    ])
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file in git's own folder")]
fn shows_matches_with_context_in_order_of_path() {
    let fixture = project();
    std::fs::write(fixture.at(".git/description"), "needle").unwrap();
    assert_eq!(
        search(&fixture, ".", "n..dle", None),
        "Found 4 results.\n\n# .github/ci.yml\n  1 | run: needle\n----\n\n# b/two.ts\n  1 | \
             needle two\n----\n\n# src/one.rs\n  2 | 2\n  3 | needle é\n  4 | 4\n----\n  6 | 6\n  \
             7 | needle\n  8 | 8\n----\n"
    );
}

#[test]
fn looks_where_it_is_told() {
    let fixture = project();
    let found = |path: &str, files: Option<&str>| {
        let text = search(&fixture, path, "needle", files);
        text.lines()
            .filter_map(|line| line.strip_prefix("# ").map(ToOwned::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("src", None), ["src/one.rs"]);
    assert_eq!(found("src/one.rs", None), ["src/one.rs"]);
    assert_eq!(found("ignored", None), ["ignored/x.rs"]);
    assert_eq!(found("a.log", None), ["a.log"]);
    assert_eq!(found(".", Some("*.{rs,ts}")), ["b/two.ts", "src/one.rs"]);
    assert_eq!(found(".", Some("src/**/*.rs")), ["src/one.rs"]);
    assert_eq!(found("src", Some("./*.ts")), Vec::<String>::new());
    assert_eq!(search(&fixture, "none", "x", None), "Cannot search `none`: it does not exist.");
    assert_eq!(search(&fixture, ".", "absent", None), "No results found.");
}

#[test]
fn leaves_out_what_may_not_be_read() {
    let mut fixture = project();
    fixture.hidden = vec![".github/ci.yml", "src/one.rs"];
    assert_eq!(
        search(&fixture, ".", "needle", None),
        "Found 1 result.\n\n# b/two.ts\n  1 | needle two\n----\n"
    );
}

#[test]
fn stops_at_the_limit_always_with_the_same_results() {
    let many: Vec<(String, String)> =
        (0..200).map(|file| (format!("d{}/f{file}", file % 7), "hit\n".repeat(5))).collect();
    let files: Vec<(&str, &str)> =
        many.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let fixture = ToolFixture::new(&files);
    let first = search(&fixture, ".", "hit", None);
    assert!(
        first.starts_with("Showing first 300 of 300+ results."),
        "{}",
        first.lines().next().unwrap()
    );
    assert_eq!(first.lines().filter(|line| line.ends_with("hit")).count(), RESULT_LIMIT);
    for _ in 0..5 {
        assert_eq!(search(&fixture, ".", "hit", None), first);
    }
}

#[test]
fn cuts_long_lines_and_says_what_is_wrong_with_a_pattern() {
    let long = format!("{}needle{}", "é".repeat(6000), "y".repeat(900));
    let fixture = ToolFixture::new(&[("a", &long), ("b", &format!("needle{}", "x".repeat(600)))]);
    let text = search(&fixture, ".", "needle", None);
    let around = format!("[from character 5901] {}needle{}", "é".repeat(100), "y".repeat(394));
    assert!(text.contains(&format!("  1 | {around} [truncated...]\n----\n")), "{text}");
    let start = format!("  1 | needle{} [truncated...]\n----\n", "x".repeat(494));
    assert!(text.ends_with(&start), "{text}");
    assert!(
        search(&fixture, ".", "(", None)
            .starts_with("`regex` of `search_files` is not a valid Rust regular expression")
    );
    assert!(
        search(&fixture, ".", "a", Some("["))
            .starts_with("`file_pattern` of `search_files` is not a glob")
    );
    assert!(search(&fixture, ".", "", None).contains("is empty"));
}

#[test]
fn does_not_follow_links() {
    let outside = ToolFixture::new(&[("secret", "needle")]);
    let fixture = ToolFixture::new(&[("a", "needle")]);
    std::os::unix::fs::symlink(outside.root(), fixture.at("out")).unwrap();
    std::os::unix::fs::symlink("a", fixture.at("inside")).unwrap();
    assert_eq!(
        search(&fixture, ".", "needle", None),
        "Found 1 result.\n\n# a\n  1 | needle\n----\n"
    );
    assert!(search(&fixture, "out", "needle", None).contains("leads out of the repository"));
    assert!(search(&fixture, "inside", "needle", None).contains("# a\n"));
}
