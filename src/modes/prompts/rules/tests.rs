//! Which rules files count for a mode, and in which order.

#[test]
fn every_place_holds_rules_files_and_nothing_else_does() {
    let places = super::places(&["code".to_owned()]);
    assert!(
        places.folders.iter().all(|folder| super::is_rules_file(&format!("{folder}/x.md"), "code")),
        "{:?}",
        places.folders
    );
    let is_known = |file: &String| {
        let text = [PromptFile { path: file.clone(), text: "x".to_owned() }];
        super::is_rules_file(file, "code") || super::replacement(&text, "code") == Some("x")
    };
    assert!(places.files.iter().all(is_known), "{:?}", places.files);
    assert!(!super::is_rules_file(".locum/policy.yml", "code"));
    assert_eq!((places.folders.len(), places.files.len()), (8, 13));
}

use super::{PromptFile, RULES_LIMIT_BYTES, RulesFiles, is_rules_file};
use pretty_assertions::assert_eq;

fn order(placed: Vec<PromptFile>, mode: &str) -> Vec<PromptFile> {
    super::order(RulesFiles { placed, named: Vec::new() }, mode)
}

/// Orders files whose text is their path, unless `path=text` says otherwise.
fn check(files: &[&str], expected: &[&str]) {
    let file = |written: &&str| {
        let (path, text) = written.split_once('=').unwrap_or((written, written));
        PromptFile { path: path.to_owned(), text: text.to_owned() }
    };
    let paths: Vec<String> =
        order(files.iter().map(file).collect(), "code").into_iter().map(|file| file.path).collect();
    assert_eq!(paths, expected, "{files:?}");
}

#[test]
fn knows_the_files_of_a_mode() {
    for path in [
        ".locum/rules/a.md",
        ".locum/rules/deep/er/a",
        ".locum/rules-code/a.txt",
        ".roo/rules/a.md",
        ".roo/rules-code/a.md",
        ".roo-code/rules/a.md",
        ".roo-code/rules-code/a.md",
        ".kilocode/rules/a.md",
        ".kilocode/rules-code/a.md",
        ".roorules",
        ".roorules-code",
        ".clinerules",
        ".clinerules-code",
        ".kilocoderules",
        "AGENTS.md",
        "AGENT.md",
        "AGENTS.local.md",
        "CLAUDE.md",
    ] {
        assert!(is_rules_file(path, "code"), "{path}");
    }
}

#[test]
fn leaves_other_files_alone() {
    for path in [
        ".locum/policy.yml",
        ".locum/rules",
        ".locum/rules/",
        ".roo/rulesets/a.md",
        ".roo-code/a.md",
        ".roo/mcp.json",
        ".clinerules/a.md",
        "docs/AGENTS.md",
        "agents.md",
        "x/.roo/rules/a.md",
        ".roo/rules/a.log",
        ".roo/rules/.DS_Store",
        ".roo/rules/a.md~",
    ] {
        assert!(!is_rules_file(path, "code"), "{path}");
    }
    for path in [".roo/rules-ask/a.md", ".roorules-ask", ".clinerules-code2"] {
        assert!(!is_rules_file(path, "code"), "{path}");
    }
    assert!(!is_rules_file(".roo/rules-/a.md", ""));
}

#[test]
fn puts_the_mode_first_and_everyone_last() {
    check(
        &[
            "CLAUDE.md",
            "AGENTS.md",
            ".roo/rules/a.md",
            ".roo/rules-code/a.md",
            ".locum/rules/a.md",
            ".locum/rules-code/a.md",
            ".kilocode/rules/a.md",
            ".roo-code/rules/a.md",
        ],
        &[
            ".locum/rules-code/a.md",
            ".roo/rules-code/a.md",
            "AGENTS.md",
            "CLAUDE.md",
            ".locum/rules/a.md",
            ".roo/rules/a.md",
            ".roo-code/rules/a.md",
            ".kilocode/rules/a.md",
        ],
    );
}

#[test]
fn sorts_a_folder_by_name_whatever_its_case_and_depth() {
    check(
        &[".roo/rules/b.md", ".roo/rules/C.md", ".roo/rules/z/a.md"],
        &[".roo/rules/z/a.md", ".roo/rules/b.md", ".roo/rules/C.md"],
    );
}

#[test]
fn takes_single_files_only_without_a_peers_folder() {
    check(&[".roorules", ".clinerules"], &[".roorules"]);
    check(&[".roorules= ", ".clinerules"], &[".clinerules"]);
    check(&[".roorules", ".roo/rules/a.md"], &[".roo/rules/a.md"]);
    check(&[".roorules", ".roo/rules/a.md= "], &[".roorules"]);
    check(&[".roorules", ".locum/rules/a.md"], &[".locum/rules/a.md", ".roorules"]);
    check(&[".roorules-code", ".roo/rules/a.md"], &[".roorules-code", ".roo/rules/a.md"]);
    check(&[".roorules-code", ".roo/rules-code/a.md"], &[".roo/rules-code/a.md"]);
}

#[test]
fn takes_one_agents_file_and_its_local_one() {
    check(&["AGENT.md", "AGENTS.local.md", "AGENTS.md"], &["AGENTS.md", "AGENTS.local.md"]);
    check(&["AGENT.md", "AGENTS.local.md"], &["AGENT.md", "AGENTS.local.md"]);
    check(&["AGENT.md", "AGENTS.md= "], &["AGENT.md"]);
    check(&["AGENTS.md=same", "CLAUDE.md=same\n"], &["AGENTS.md"]);
}

#[test]
fn cuts_what_is_too_much_and_says_so() {
    let file = |path: &str, size: usize| PromptFile {
        path: path.to_owned(),
        text: path.repeat(size / path.len() + 1),
    };
    let files = vec![
        file("AGENTS.md", 30_000),
        file(".locum/rules/a.md", 5_000),
        file(".locum/rules/b.md", 10),
    ];
    let ordered = order(files.clone(), "code");
    assert_eq!(
        ordered.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["AGENTS.md", ".locum/rules/a.md", ".locum/rules/b.md"]
    );
    assert_eq!(ordered[1..], files[1..], "the short ones are whole");
    assert!(
        ordered[0].text.contains("left out after byte 27") && ordered[0].text.ends_with("...]"),
        "{}",
        ordered[0].text.chars().skip(27_000).collect::<String>()
    );
    let placed = files.clone();
    let told = super::left_out(RulesFiles { placed, named: Vec::new() }, "code");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("`AGENTS.md` is shown to byte 27"), "{told:?}");
    let long: Vec<PromptFile> =
        ["AGENTS.md", ".roo/rules/a.md", ".roo/rules/b.md"].map(|path| file(path, 40_000)).into();
    let shown: Vec<usize> = order(long, "code").iter().map(|file| file.text.len()).collect();
    assert!(shown.iter().all(|size| (10_900..11_100).contains(size)), "{shown:?}");
    assert!(ordered.iter().map(|file| file.text.len()).sum::<usize>() < RULES_LIMIT_BYTES + 200);
    assert_eq!(order(vec![files[1].clone()], "code"), vec![files[1].clone()]);
}

#[test]
fn cuts_a_single_file_between_characters() {
    let ordered =
        order(vec![PromptFile { path: "AGENTS.md".into(), text: "é".repeat(40_000) }], "code");
    assert!(ordered[0].text.starts_with("éé") && ordered[0].text.ends_with("...]"));
}

#[test]
fn named_files_instruct_every_mode_after_all_others() {
    let file = |path: &str, text: &str| PromptFile { path: path.into(), text: text.into() };
    let named = vec![
        file("docs/style.md", "Style."),
        file("AGENTS.md", "Agents."),
        file("docs/empty.md", " \n"),
        file(".locum/rules-ask/x.md", "Of ask."),
    ];
    let placed = vec![file("AGENTS.md", "Agents."), file(".locum/rules/a.md", "All.")];
    let ordered = super::order(RulesFiles { placed, named }, "code");
    let paths: Vec<&str> = ordered.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["AGENTS.md", ".locum/rules/a.md", "docs/style.md", ".locum/rules-ask/x.md"]);
}
