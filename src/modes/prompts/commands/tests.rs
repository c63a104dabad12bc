//! Command files, their names and their mistakes.

use super::{CommandSet, is_command_file};
use crate::prompts::PromptFile;
use crate::{ToolGroup, builtin};
use locum_base::tool::ToolName;
use pretty_assertions::assert_eq;

fn file(path: &str, text: &str) -> PromptFile {
    PromptFile { path: path.to_owned(), text: text.to_owned() }
}

/// Reads one file of ours: the mistakes, else nothing.
fn mistakes(text: &str) -> Vec<String> {
    let set = CommandSet::read(&[file(".locum/commands/x.md", text)]);
    let found = set.files[0].command.as_ref().err().cloned().unwrap_or_default();
    found.iter().map(|mistake| format!("{}: {}", mistake.place, mistake.message)).collect()
}

#[test]
fn names_are_paths_below_the_folder() {
    let paths = [
        ".claude/commands/front end/x.md",
        ".claude/commands/web/test.md",
        ".roo/commands/README.md",
        ".roo/commands/fix.md",
        ".roo/commands/fix.txt",
        ".roo/commands/-x.md",
        "docs/.roo/commands/no.md",
        ".locum/commands/fix.md",
        "/home/u/.config/locum/commands/mine.md",
        ".roo/commands/readme.md",
        ".roo/commands/docs/Readme.md",
    ];
    let files: Vec<PromptFile> = paths.iter().map(|path| file(path, path)).collect();
    let set = CommandSet::read(&[&files[7..], &files[..7]].concat());
    let found: Vec<(&str, &str)> =
        set.files.iter().map(|file| (file.name.as_str(), file.origin.as_str())).collect();
    assert_eq!(
        found,
        [
            ("fix", ".locum/commands/fix.md"),
            ("mine", "/home/u/.config/locum/commands/mine.md"),
            ("readme", ".roo/commands/readme.md"),
            ("web:test", ".claude/commands/web/test.md"),
        ]
    );
    assert!(
        is_command_file(paths[1])
            && !is_command_file(paths[2])
            && !is_command_file(paths[6])
            && !is_command_file(paths[8])
    );
}

#[test]
fn reads_a_head_in_full() {
    let text = "---\ndescription: Fix it\nargument-hint: [issue]\nmode: debug\nmodel: \
                small\nallowed-tools: Read, Bash(git diff:*)\n---\n\nDo it.\n";
    let set = CommandSet::read(&[file(".claude/commands/fix.md", text)]);
    let command = set.find("fix").unwrap().command.as_ref().unwrap();
    let header = [&command.description, &command.argument_hint, &command.mode, &command.model]
        .map(|text| text.as_deref().unwrap());
    assert_eq!(
        (header, command.body.as_str()),
        (["Fix it", "[issue]", "debug", "small"], "Do it.")
    );
    let code = builtin::modes().into_iter().find(|mode| mode.slug == "code").unwrap();
    let narrowed = command.rights.as_ref().unwrap().narrow(&code);
    assert_eq!(
        narrowed.groups.iter().map(|entry| entry.group).collect::<Vec<_>>(),
        [ToolGroup::Read, ToolGroup::Command]
    );
    assert!(
        narrowed.tools().contains(&ToolName::ReadFile)
            && !narrowed.tools().contains(&ToolName::ListFiles)
    );
}

#[test]
fn narrowing_never_gives_what_a_mode_does_not_have() {
    let set = CommandSet::read(&[file(
        ".claude/commands/all.md",
        "---\nallowed-tools: Read, Edit, Write, Bash, mcp__a\n---\nDo it.",
    )]);
    let rights = set.files[0].command.as_ref().unwrap().rights.clone().unwrap();
    for mode in builtin::modes() {
        let narrowed = rights.narrow(&mode);
        assert!(narrowed.tools().iter().all(|tool| mode.tools().contains(tool)), "{}", mode.slug);
        assert_eq!(
            narrowed.groups.iter().map(|entry| &entry.file_regex).collect::<Vec<_>>().is_empty(),
            narrowed.groups.is_empty()
        );
    }
    let all = CommandSet::read(&[file(
        ".claude/commands/all.md",
        "---\nallowed-tools: '*'\n---\nDo it.",
    )]);
    assert_eq!(all.files[0].command.as_ref().unwrap().rights, None);
}

#[test]
fn our_own_files_have_no_mistakes_and_others_are_read_as_there() {
    assert_eq!(mistakes("Do it."), Vec::<String>::new());
    assert_eq!(
        mistakes("---\nmode: [a]\ndescripton: x\n---\nDo it."),
        ["3:1: key `descripton` has no effect", "2:7: `mode` has to be text, found a list"]
    );
    assert_eq!(mistakes("---\nmode: code\n---\n \n"), ["0:0: no text says what the command does"]);
    assert!(mistakes(&"x".repeat(70_000))[0].contains("longer than 65536"));
    let broken = "---\ndescription: \"never closed\n---\n\nFollow @docs/x.md";
    let set = CommandSet::read(&[file(".roo/commands/x.md", broken)]);
    assert_eq!(set.files[0].command.as_ref().unwrap().body, "Follow @docs/x.md");
    assert_eq!(set.files[0].warnings.len(), 1);
    assert_eq!(mistakes(broken).len(), 1);
}

#[test]
fn a_key_that_looks_like_a_limit_is_a_mistake_in_every_command() {
    for (path, key, is_read) in [
        (".claude/commands/x.md", "disallowed-tools: Bash", false),
        (".roo/commands/x.md", "readOnly: true", false),
        (".roo/commands/x.md", "color: red", true),
    ] {
        let set = CommandSet::read(&[file(path, &format!("---\n{key}\n---\nDo it."))]);
        assert_eq!(set.files[0].command.is_ok(), is_read, "{path} {key}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let set = CommandSet::read(&[
        file(".roo/commands/release.md", "x"),
        file(".roo/commands/fix.md", "x"),
    ]);
    assert!(set.find("realease").unwrap_err().starts_with("did you mean `/release`?"));
    assert!(set.find("quite-other").unwrap_err().starts_with("known: /fix, /release;"));
    assert!(
        CommandSet::default()
            .find("x")
            .unwrap_err()
            .starts_with("commands are read from .locum/commands, ")
    );
}

#[test]
fn a_command_is_found_by_its_aliases_unless_another_has_the_name() {
    let set = CommandSet::read(&[
        file(".locum/commands/release.md", "---\naliases: [rel, /ship, fix, web:go]\n---\nGo."),
        file(".roo/commands/fix.md", "---\naliases: mend, rel\n---\nFix."),
    ]);
    let found = |name: &str| set.find(name).map(|file| file.name.as_str());
    for (name, expected) in [
        ("rel", "release"),
        ("ship", "release"),
        ("web:go", "release"),
        ("fix", "fix"),
        ("mend", "fix"),
    ] {
        assert_eq!(found(name), Ok(expected), "{name}");
    }
    assert!(found("mendd").unwrap_err().starts_with("did you mean `/mend`?"));
    let warned: Vec<&str> = set
        .files
        .iter()
        .flat_map(|file| file.warnings.iter().map(|warning| warning.message.as_str()))
        .collect();
    assert_eq!(
        warned,
        [
            "the alias `rel` has no effect: `.locum/commands/release.md` has this name",
            "the alias `fix` has no effect: `.roo/commands/fix.md` has this name",
        ]
    );
    assert_eq!(
        mistakes("---\naliases: [ok, \"a b\", 5]\n---\nGo."),
        ["2:15: `a b` is no name of a command"]
    );
}
