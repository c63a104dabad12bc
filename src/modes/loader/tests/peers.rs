//! What the programs of others load in their mode files, and what no file may say.

use super::{check, mode, source};
use crate::loader::{Strictness, parse_file, parse_import};
use locum_files::diagnostic::Diagnostic;
use pretty_assertions::assert_eq;

/// Returns a mode of a peer's file with these groups, as mode files have them, and the warnings.
fn peer_groups(file: &str, groups: &str) -> (String, Vec<String>) {
    let text = mode(&format!("    groups: {groups}\n"));
    let read = parse_file(&text, &source(file), Strictness::Strict).unwrap();
    let warned =
        |warning: &Diagnostic| format!("{} {}: {}", warning.place, warning.path, warning.message);
    let warnings = read.warnings.iter().map(warned).collect();
    (serde_json::to_string(&read.modes[0].groups).unwrap(), warnings)
}

#[test]
fn a_pattern_on_a_group_without_files_is_a_warning_in_the_peers_files() {
    for file in [".roomodes", ".kilocodemodes", "custom_modes.yaml"] {
        for group in ["command", "mcp", "modes"] {
            let (groups, warnings) = peer_groups(file, &format!("[[{group}, {{fileRegex: x}}]]"));
            assert_eq!(groups, format!(r#"[["{group}",{{"fileRegex":"x"}}]]"#), "{file}");
            let column = 14 + group.len() + 3;
            let expected = format!(
                "5:{column} customModes.0.groups.0.1.fileRegex: has no effect on `{group}`"
            );
            assert_eq!(warnings, [expected], "{file}");
            // What is no pattern at all is a mistake in those programs, too.
            let broken = mode(&format!("    groups: [[{group}, {{fileRegex: '['}}]]\n"));
            let place = format!("5:{} customModes.0.groups.0.1.fileRegex", column + 12);
            check(file, &broken, Err(&[&place]));
        }
        for group in ["edit", "read"] {
            let (_, warnings) = peer_groups(file, &format!("[[{group}, {{fileRegex: x}}]]"));
            assert_eq!(warnings, Vec::<String>::new(), "{file}");
        }
    }
}

#[test]
fn a_pattern_without_effect_is_left_behind_where_modes_are_taken_over() {
    for (group, expected) in
        [("command", r#"["command"]"#), ("edit", r#"[["edit",{"fileRegex":"x"}]]"#)]
    {
        let text = mode(&format!("    groups: [[{group}, {{fileRegex: x}}]]\n"));
        let (found, _) = parse_import(&text, &source("modes.yaml")).unwrap();
        assert_eq!(serde_json::to_string(&found.modes[0].groups).unwrap(), expected);
        assert_eq!(found.warnings.len(), usize::from(group == "command"));
    }
}

#[test]
fn an_option_that_may_be_no_limit_is_a_warning_in_the_peers_files() {
    for (options, groups, at) in [
        ("{x: y}", r#"["edit"]"#, "5:22 customModes.0.groups.0.1.x: key `x`"),
        (
            "{fileRegex: a, extra: 1}",
            r#"[["edit",{"fileRegex":"a"}]]"#,
            "5:36 customModes.0.groups.0.1.extra: key `extra`",
        ),
    ] {
        let (found, warnings) = peer_groups(".roomodes", &format!("[[edit, {options}]]"));
        assert_eq!((found.as_str(), warnings), (groups, vec![format!("{at} has no effect")]));
        let own = mode(&format!("    groups: [[edit, {options}]]\n"));
        check(".locum/modes.yml", &own, Err(&[at.split_once(": ").unwrap().0]));
    }
    for key in ["fileregex", "file_regex", "fileRegx", "filRegx", "pattern", "filePath", "paths"] {
        for group in ["edit", "read", "command"] {
            let text = mode(&format!("    groups: [[{group}, {{{key}: x, description: d}}]]\n"));
            let place = format!("5:{} customModes.0.groups.0.1.{key}", 18 + group.len());
            check(".roomodes", &text, Err(&[&place]));
        }
    }
}

#[test]
fn options_of_the_group_that_the_peers_have_no_more_are_not_read_in_their_files() {
    for entry in [
        "[browser]",
        "[browser, {fileRegex: a}]",
        "[browser, {fileRegex: '['}]",
        "[browser, {fileregex: a}]",
        "[browser, {description: d}]",
        "[browser, 7]",
        "[browser, {}, {}]",
    ] {
        let (groups, warnings) = peer_groups(".roomodes", &format!("[{entry}, read]"));
        assert_eq!(groups, r#"["browser","read"]"#, "{entry}");
        assert_eq!(warnings.is_empty(), !entry.contains([':', '7']), "{entry}: {warnings:?}");
    }
    for (entry, path) in [("[browser]", "0"), ("[browser, {fileRegex: a}]", "0.1.fileRegex")] {
        let own = mode(&format!("    groups: [{entry}]\n"));
        let column = if path == "0" { 14 } else { 24 };
        let place = format!("5:{column} customModes.0.groups.{path}");
        check(".locum/modes.yml", &own, Err(&[&place]));
    }
    check(".roomodes", &mode("    groups: [[edit]]\n"), Err(&["5:14 customModes.0.groups.0"]));
}
