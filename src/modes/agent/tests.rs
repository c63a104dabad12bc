//! What agent files of every kind come to.

use super::{parse, parse_agents_file};
use crate::permissions::PermissionKind;
use crate::{Mode, ModeSource, ToolGroup, access};
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use pretty_assertions::assert_eq;

fn source() -> ModeSource {
    ModeSource::Project { file: ".claude/agents/a.md".to_owned() }
}

fn agent(head: &str) -> Mode {
    let text = format!("---\nname: a\n{head}\n---\nYou are A.\n");
    parse(&text, "a", &source()).unwrap_or_else(|errors| panic!("{head}: {errors}")).modes.remove(0)
}

fn groups(mode: &Mode) -> Vec<ToolGroup> {
    mode.groups.iter().map(|entry| entry.group).collect()
}

fn has(mode: &Mode, tool: ToolName) -> bool {
    access::tools_of(mode).contains(&tool)
}

fn may_edit(mode: &Mode, path: &str) -> bool {
    access::check_edit(mode, ToolName::ApplyDiff, &RepoPath::parse(path).unwrap()).is_ok()
}

#[test]
fn a_head_and_a_body_become_a_mode() {
    let text = "---\nname: code-reviewer\ndescription: Use it\\nfor changes\nmodel: opus\ntools: \
                Read, Grep\ncolor: red\n---\n\nYou review.\n";
    let file = parse(text, "x", &source()).unwrap();
    let mode = &file.modes[0];
    assert_eq!(
        (mode.slug.as_str(), mode.role_definition.as_str()),
        ("code-reviewer", "You review.")
    );
    assert_eq!(mode.when_to_use.as_deref(), Some("Use it\nfor changes"));
    assert_eq!(mode.model.as_ref().map(|model| model.name.as_str()), Some("opus"));
    assert!(has(mode, ToolName::ReadFile) && has(mode, ToolName::SearchFiles));
    assert!(
        !has(mode, ToolName::ListFiles)
            && !has(mode, ToolName::ApplyDiff)
            && has(mode, ToolName::AttemptCompletion)
    );
    assert_eq!(file.warnings, []);
}

#[test]
fn without_tools_it_has_all_and_with_an_empty_list_none() {
    let all =
        [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Command, ToolGroup::Browser, ToolGroup::Mcp];
    for head in ["", "tools: '*'", "tools:", "tools: [Read, '*']"] {
        assert_eq!(groups(&agent(head)), all, "{head}");
    }
    assert_eq!(groups(&agent("tools: []")), []);
    assert_eq!(groups(&agent("tools: TodoWrite")), []);
}

#[test]
fn parentheses_narrow_a_tool() {
    let mode = agent("tools: Read, Bash(git diff:*), Bash(ls), Edit(docs/**), mcp__time__now");
    assert_eq!(
        groups(&mode),
        [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Command, ToolGroup::Mcp]
    );
    assert!(may_edit(&mode, "docs/a/b.md") && !may_edit(&mode, "src/a.rs"));
    let denied = |text: &str| {
        mode.permissions.denying_script(&locum_policy::command::Script::parse(text)).is_some()
    };
    assert!(!denied("git diff --stat") && !denied("ls") && denied("rm x"));
    assert!(
        mode.permissions.denying(PermissionKind::Mcp, "time/now").is_none()
            && mode.permissions.denying(PermissionKind::Mcp, "time/set").is_some()
    );
    let wide = agent("tools: Bash, Bash(git diff:*)");
    assert!(wide.permissions.0.is_empty());
}

#[test]
fn tools_can_be_taken_away() {
    let mode = agent("disallowedTools: Write, Edit, Bash(rm:*)");
    assert_eq!(
        groups(&mode),
        [ToolGroup::Read, ToolGroup::Command, ToolGroup::Browser, ToolGroup::Mcp]
    );
    assert!(mode.permissions.denying(PermissionKind::Command, "rm -r x").is_some());
    let switched = agent("tools:\n  bash: false\n  write: true");
    assert_eq!(
        groups(&switched),
        [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Browser, ToolGroup::Mcp]
    );
    let only = agent("tools:\n  '*': false\n  read: true");
    assert_eq!(groups(&only), [ToolGroup::Read]);
}

#[test]
fn what_is_taken_away_takes_along_what_does_the_same_in_another_way() {
    use ToolName::{
        ApplyDiff, ApplyPatch, DeleteFile, GenerateImage, InsertContent, MoveFile, MultiEdit,
        NotebookEdit, SearchAndReplace, WriteToFile,
    };
    let edits = [
        ApplyDiff,
        ApplyPatch,
        DeleteFile,
        GenerateImage,
        InsertContent,
        MoveFile,
        MultiEdit,
        NotebookEdit,
        SearchAndReplace,
        WriteToFile,
    ];
    for (head, expected) in [
        ("disallowedTools: []", &edits[..]),
        ("disallowedTools: [apply_diff]", &[DeleteFile, GenerateImage, MoveFile, WriteToFile]),
        ("permission:\n  apply_diff: deny", &[DeleteFile, GenerateImage, MoveFile, WriteToFile]),
        (
            "disallowedTools: [write_to_file]",
            &[ApplyDiff, GenerateImage, InsertContent, MultiEdit, NotebookEdit, SearchAndReplace],
        ),
        (
            "disallowedTools: Write",
            &[ApplyDiff, InsertContent, MultiEdit, NotebookEdit, SearchAndReplace],
        ),
        ("disallowedTools: [write_to_file, apply_diff]", &[GenerateImage]),
        ("tools:\n  write: false\n  apply_diff: false", &[]),
        ("disallowedTools: Edit", &[]),
        (
            "disallowedTools: [delete_file, move_file]",
            &[
                ApplyDiff,
                ApplyPatch,
                GenerateImage,
                InsertContent,
                MultiEdit,
                NotebookEdit,
                SearchAndReplace,
                WriteToFile,
            ],
        ),
        (
            "disallowedTools: [NotebookEdit, insert_content]",
            &[
                ApplyDiff,
                ApplyPatch,
                DeleteFile,
                GenerateImage,
                MoveFile,
                MultiEdit,
                SearchAndReplace,
                WriteToFile,
            ],
        ),
    ] {
        let mode = agent(head);
        let left: Vec<ToolName> =
            edits.into_iter().filter(|tool| access::has_tool(&mode, *tool, &edits)).collect();
        assert_eq!(left, expected, "{head}");
    }
}

#[test]
fn in_a_permission_map_the_last_match_wins() {
    let mode = agent(
        "permission:\n  edit:\n    '*': deny\n    '*.md': allow\n  bash: deny\n  task: ask\n  \
         grep: deny\n",
    );
    assert_eq!(
        groups(&mode),
        [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Browser, ToolGroup::Mcp]
    );
    assert!(may_edit(&mode, "docs/a.md") && !may_edit(&mode, "src/a.rs"));
    assert!(!has(&mode, ToolName::SearchFiles) && has(&mode, ToolName::ListFiles));
    let unlisted = agent("permission:\n  glob: deny\n");
    assert!(!has(&unlisted, ToolName::Glob) && !has(&unlisted, ToolName::ListFiles));
    let nothing = agent("permission:\n  edit:\n    '*.md': allow\n    '*': deny\n");
    assert_eq!(
        groups(&nothing),
        [ToolGroup::Read, ToolGroup::Command, ToolGroup::Browser, ToolGroup::Mcp]
    );
    assert_eq!(groups(&agent("permission: deny")), []);
    assert_eq!(groups(&agent("permission:\n  '*': deny\n  read: allow")), [ToolGroup::Read]);
}

#[test]
fn mistakes_have_their_place() {
    let check = |head: &str, expected: &[&str]| {
        let text = format!("---\n{head}\n---\nYou are A.\n");
        let errors = parse(&text, "a", &source()).unwrap_err();
        let found: Vec<String> =
            errors.0.iter().map(|error| format!("{} {}", error.place, error.path)).collect();
        assert_eq!(found, expected, "{head}");
    };
    check(
        "permission:\n  edit: no\n  bash:\n    '*': [deny]",
        &["3:9 permission.edit", "5:10 permission.bash"],
    );
    check("name: [a]\ntools: 7", &["2:7 name", "3:8 tools"]);
    check("tools:\n  bash: maybe", &["3:9 tools.bash"]);
    check("name: '…'", &["2:7 name"]);
    assert!(parse("---\nname: a\n---\n\n", "a", &source()).is_err(), "no prompt");
    assert!(parse("# Just a text\n", "a", &source()).is_err(), "no head");
}

#[test]
fn a_key_that_looks_like_a_limit_is_a_mistake() {
    let read =
        |head: &str| parse(&format!("---\nname: a\n{head}\n---\nYou are A.\n"), "a", &source());
    for head in [
        "fileRestrictions: ['\\.md$']",
        "allowedFilePaths: ['^docs/']",
        "readOnly: true",
        "fileRegex: '^docs/'",
        "deniedCommands: [rm]",
        "editable: [docs]",
        "paths: docs",
        "noEdit: true",
    ] {
        let errors = read(head).unwrap_err();
        let found: Vec<_> = errors.0.iter().map(|error| error.place.to_string()).collect();
        assert_eq!(found, ["3:1"], "{head}");
    }
    for head in ["iconName: x", "isolation: worktree", "mcpServers: [a]", "target: vscode"] {
        assert_eq!(read(head).map(|file| file.warnings.len()), Ok(1), "{head}");
    }
}

#[test]
fn a_disabled_agent_takes_its_name_away() {
    let file = parse("---\ndisable: true\n---\n", "build/fast", &source()).unwrap();
    assert_eq!((file.modes.len(), file.lost), (0, vec!["build-fast".to_owned()]));
}

#[test]
fn sections_describe_an_agent() {
    let text = "# My Custom Agent\n\n## Instructions\nYou fix *things*.\n```\n# no \
                heading\n```\n\n## Tools\n- file_read\n- `bash`: to run tests\n- teleport\n\n## \
                Context\n- TypeScript\n";
    let file = parse(text, "fixer", &source()).unwrap();
    let mode = &file.modes[0];
    assert_eq!((mode.slug.as_str(), mode.name.as_str()), ("fixer", "My Custom Agent"));
    assert_eq!(
        mode.role_definition,
        "You fix *things*.\n```\n# no heading\n```\n\n## Context\n\n- TypeScript"
    );
    assert_eq!(groups(mode), [ToolGroup::Read, ToolGroup::Command]);
    assert_eq!(file.warnings.iter().map(|warning| warning.place.line).collect::<Vec<_>>(), [12]);
    let agents = parse_agents_file(
        &format!("Words.\n{text}\n# Other\n\n## Instructions\nHow to build.\n"),
        &source(),
    )
    .unwrap();
    assert_eq!(
        agents.modes.iter().map(|mode| mode.slug.as_str()).collect::<Vec<_>>(),
        ["my-custom-agent"]
    );
    assert_eq!(parse_agents_file("# Project\n\n## Build\n", &source()).unwrap().modes, []);
}
