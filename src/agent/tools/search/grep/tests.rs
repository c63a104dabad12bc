//! Searches: what is found, shown and left out.

use std::future::ready;

use super::{RESULT_LIMIT, WHOLE_LIMIT_BYTES};
use crate::tools::dispatch::CheckedCall;
use crate::tools::fixture::{POLICY, ToolFixture};
use crate::tools::search::opened::OpenedFolder;
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::Policy;
use locum_policy::intent::Facts;
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

#[test]
fn an_expression_that_takes_too_much_is_refused_and_a_usual_one_is_not() {
    let fixture = ToolFixture::new(&[("a", "one::two::three::four9 = aaa7 x\n")]);
    for regex in ["(?:a{0,1000}){0,1000}[0-9]", r"\w{900}", &"(".repeat(60), &"a".repeat(3000)] {
        let text = search(&fixture, ".", regex, None);
        assert!(
            text.starts_with("`regex` of `search_files` is not a valid Rust"),
            "{regex}: {text}"
        );
    }
    for regex in [
        "(?:a{0,9}){0,9}[0-9]",
        r"\w+::\w+::\w+::\w+\s*=\s*\w+",
        r"(?i)\b(?:one|two)\b.*\bx\b",
        r"\p{L}+::[^\s]+",
        r"\b\w{1,64}\b.*\w{3,30}::",
        r".{0,200}three.{0,200}",
    ] {
        let text = search(&fixture, ".", regex, None);
        assert!(text.starts_with("Found 1 result."), "{regex}: {text}");
    }
}

#[test]
fn lines_that_end_with_crlf_end_there_for_an_expression_too() {
    let text = "int main()\r\n{\r\n\r\n  return 0;\r\n}\r\n";
    let fixture = ToolFixture::new(&[("a.c", text), ("b.c", "  return 1;\n\n")]);
    for (regex, lines) in [
        ("return 0;$", vec!["  4 |   return 0;"]),
        ("^  return .;$", vec!["  4 |   return 0;", "  1 |   return 1;"]),
        ("^$", vec!["  3 | ", "  2 | "]),
        ("[^;]$", vec!["  1 | int main()", "  2 | {", "  5 | }"]),
        // What names the sign finds it.
        (r"return .;\r$", vec!["  4 |   return 0;"]),
        (r";\r?$", vec!["  4 |   return 0;", "  1 |   return 1;"]),
        (r"\Aint", vec!["  1 | int main()"]),
        ("return 0$", vec![]),
    ] {
        let found = search(&fixture, ".", regex, None);
        let head = match lines.len() {
            0 => "No results found.".to_owned(),
            1 => "Found 1 result.".to_owned(),
            count => format!("Found {count} results."),
        };
        assert!(found.starts_with(&head), "{regex}: {found}");
        for line in lines {
            assert!(found.lines().any(|found| found == line), "{regex}: {line:?} in {found}");
        }
    }
}

#[test]
fn a_file_with_too_long_a_line_is_named_and_a_large_one_is_searched() {
    let long = format!("needle\n{}\n", "a".repeat(WHOLE_LIMIT_BYTES + 1));
    let large = format!("{}needle\n", "a line\n".repeat(WHOLE_LIMIT_BYTES / 5));
    let mut fixture = ToolFixture::new(&[("hidden", &long), ("large", &large), ("min.js", &long)]);
    fixture.hidden = vec!["hidden"];
    let text = search(&fixture, ".", "needle$", None);
    assert!(text.starts_with("Found 1 result.\n\n# large\n"), "{text}");
    assert!(
        text.ends_with("\n\n(Not searched, as a line of it has more than 1 MiB: `min.js`.)"),
        "{text}"
    );
}

#[test]
fn what_the_time_did_not_suffice_for_is_said() {
    let mut fixture = ToolFixture::new(&[("a", "needle"), ("b", "needle"), ("c", "needle")]);
    fixture.hidden = vec!["a"];
    let arguments = serde_json::json!({ "path": ".", "regex": "needle" }).to_string();
    let call = fixture.parse("search_files", &arguments, ToolName::ALL).unwrap();
    let CheckedCall::SearchFiles(search) = call.clone() else { panic!("another tool") };
    let permit = Policy::parse(POLICY, "policy.yml").unwrap().admit(call, &Facts::default());
    let permit = permit.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let paths: Vec<RepoPath> = ["a", "b", "c"].map(|path| RepoPath::parse(path).unwrap()).to_vec();
    let (late, timely) = fixture.with_context(|context| {
        let super::SearchedPlace::Files(place) = &search.place else { panic!("no files") };
        let folder = OpenedFolder::open("search", place, &permit, context).unwrap();
        let late = search.search(&folder, &paths, context, ready(()));
        let late = runtime.block_on(late);
        let timely = search.search(&folder, &paths, context, std::future::pending());
        (late, runtime.block_on(timely))
    });
    assert_eq!(
        late,
        "No results found.\n\n(Stopped after 60 s: 2 files were not searched, in order of path \
         from `b` on. Search a smaller folder, or for a simpler expression.)"
    );
    assert!(timely.starts_with("Found 2 results.") && !timely.contains("Stopped"), "{timely}");
}
