//! Which mode may use which tool on which file.

use super::{TaskPurpose, ToolOffer, check_edit, check_intent, edit_limits, has_tool, offered};
use crate::{ModeSet, ModeSource, builtin, loader};
use locum_base::path::RepoPath;
use locum_base::tool::ToolName;
use locum_policy::command::Script;
use locum_policy::intent::Intent;
use locum_policy::schema::Switching;
use pretty_assertions::assert_eq;

fn modes() -> ModeSet {
    let text = "customModes:\n  - {slug: tests, name: Tests, roleDefinition: R, groups: \
                    [[edit, {fileRegex: '^tests/'}]]}\n  - {slug: free, name: Free, \
                    roleDefinition: R, groups: [edit, mcp]}\n";
    let custom =
        loader::parse(text, &ModeSource::Project { file: ".locum/modes.yml".to_owned() }).unwrap();
    ModeSet::merge([builtin::modes(), custom])
}

fn has(mode: &str, tool: &str) -> bool {
    let tool = ToolName::find(locum_base::tool::resolve(tool)).unwrap();
    has_tool(modes().find(mode).unwrap(), tool, &[ToolName::ApplyPatch])
}

#[test]
fn a_mode_has_the_tools_of_its_groups_and_the_common_ones() {
    assert!(has("code", "execute_command") && !has("ask", "execute_command"));
    assert!(has("code", "apply_patch") && !has("ask", "apply_patch"));
    assert!(has("orchestrator", "skill") && has("orchestrator", "attempt_completion"));
}

#[test]
fn tools_of_mcp_servers_belong_to_their_group() {
    for tool in ["mcp--time--now", "mcp__time__now", "mcp_time_now", "use_mcp_tool"] {
        assert!(has("free", tool) && !has("tests", tool), "{tool}");
    }
}

#[test]
fn a_restriction_holds_on_the_plain_form_of_a_path() {
    let modes = modes();
    let may = |mode: &str, path: &str| {
        let path = RepoPath::parse(path).unwrap();
        check_edit(modes.find(mode).unwrap(), ToolName::WriteToFile, &path).is_ok()
    };
    assert!(may("tests", "tests/a") && may("tests", "./tests//a") && !may("tests", "src/a"));
    assert!(may("free", "src/a"));
    for path in ["tests/../../tests/a", "/tests/a"] {
        assert!(RepoPath::parse(path).is_err(), "{path}");
    }
}

#[test]
fn check_edit_names_mode_pattern_meaning_and_path() {
    let modes = modes();
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let architect = modes.find("architect").unwrap();
    assert_eq!(check_edit(architect, ToolName::ApplyDiff, &path("docs/plan.md")), Ok(()));
    assert_eq!(
        check_edit(architect, ToolName::ApplyDiff, &path("src/lib.rs")).unwrap_err().to_string(),
        r"Tool 'apply_diff' in mode '🏗️ Architect' can only edit files matching pattern: \.md$ (Markdown files only). Got: src/lib.rs"
    );
    assert_eq!(
        check_edit(modes.find("code").unwrap(), ToolName::ApplyDiff, &path("src/lib.rs")),
        Ok(())
    );
}

#[test]
fn a_meaning_without_words_is_left_out_of_the_message() {
    for (description, shown) in [("''", ""), ("d", " (d)")] {
        let text = format!(
            "customModes:\n  - {{slug: x, name: X, roleDefinition: R, groups: [[edit, {{fileRegex: \
             a, description: {description}}}]]}}\n"
        );
        let source = ModeSource::Project { file: ".roomodes".to_owned() };
        let mode = loader::parse(&text, &source).unwrap().remove(0);
        let path = RepoPath::parse("b").unwrap();
        let error = check_edit(&mode, ToolName::WriteToFile, &path).unwrap_err().to_string();
        let expected = "Tool 'write_to_file' in mode 'X' can only edit files matching pattern: a";
        assert_eq!(error, format!("{expected}{shown}. Got: b"));
    }
}

#[test]
fn what_a_command_would_write_is_held_to_the_mode_too() {
    let modes = modes();
    let said = |slug: &str, path: &str| {
        let mode = modes.find(slug).unwrap();
        let intent = Intent::Edit(RepoPath::parse(path).unwrap());
        check_intent(mode, ToolName::ExecuteCommand, &intent).err().map(|error| error.to_string())
    };
    assert_eq!(said("tests", "tests/a"), None);
    assert_eq!(
        said("tests", "src/a").as_deref(),
        Some(
            "Tool 'execute_command' in mode 'Tests' can only edit files matching pattern: \
                 ^tests/. Got: src/a"
        )
    );
    assert_eq!(said("free", "src/a"), None);
    assert!(said("ask", "src/a").unwrap().contains("cannot change files"));
}

#[test]
fn a_mode_may_only_lose_files_to_its_lists() {
    let text = "customModes:\n  - {slug: x, name: X, roleDefinition: R, groups: [[edit, \
                    {fileRegex: '\\.rs$'}]], allowedFilePaths: ['^src/', '^lib/'], \
                    disallowedFilePaths: ['gen']}\n";
    let mode = loader::parse(text, &ModeSource::Project { file: ".locum/modes.yml".to_owned() })
        .unwrap()
        .remove(0);
    let said = |path: &str| {
        let path = RepoPath::parse(path).unwrap();
        check_edit(&mode, ToolName::WriteToFile, &path).err().map(|error| {
            format!("{} {}", crate::file_limits::phrase(error.limit, error.used), error.pattern)
        })
    };
    assert_eq!(said("src/a.rs"), None);
    assert_eq!(said("lib/a.rs"), None);
    assert_eq!(said("src/a.md").as_deref(), Some(r"can only edit \.rs$"));
    assert_eq!(said("tests/a.rs").as_deref(), Some("can only edit ^src/ or ^lib/"));
    assert_eq!(said("src/gen/a.rs").as_deref(), Some("cannot edit gen"));
    assert_eq!(edit_limits(&mode).len(), 3);
}

#[test]
fn what_a_file_leaves_out_is_not_read_either() {
    let text = "customModes:\n\
                \x20 - {slug: x, name: X, roleDefinition: R, groups: [[read, {fileRegex: \
                '^(src|docs)/'}], edit], disallowedFilePaths: [secret], fileRestrictions: \
                ['\\.md$']}\n\
                \x20 - {slug: y, name: Y, roleDefinition: R, groups: [read, command], \
                allowedFilePaths: ['^src/']}\n";
    let source = ModeSource::Project { file: ".locum/modes.yml".to_owned() };
    let modes = ModeSet::merge([loader::parse(text, &source).unwrap()]);
    let said = |slug: &str, tool: ToolName, intent: Intent| {
        let error = check_intent(modes.find(slug).unwrap(), tool, &intent).err()?;
        Some(error.to_string().split_once(" in mode ").unwrap().1.to_owned())
    };
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let read = |slug: &str, at: &str| said(slug, ToolName::ReadFile, Intent::Read(path(at)));
    let edit = |slug: &str, at: &str| said(slug, ToolName::WriteToFile, Intent::Edit(path(at)));
    assert_eq!((read("x", "src/a.rs"), read("x", "docs/a.md")), (None, None));
    assert_eq!(
        read("x", "README.md").as_deref(),
        Some("'X' can only read files matching pattern: ^(src|docs)/. Got: README.md")
    );
    assert_eq!(
        read("x", "src/secret.rs").as_deref(),
        Some("'X' cannot read files matching pattern: secret. Got: src/secret.rs")
    );
    assert_eq!(said("x", ToolName::ListFiles, Intent::Read(path("src"))), None);
    assert_eq!((edit("x", "README.md"), edit("x", "src/a.md")), (None, None));
    assert!(
        edit("x", "src/a.rs").unwrap().contains("can only edit files matching pattern: \\.md$")
    );
    assert!(edit("x", "docs/secret.md").unwrap().contains("cannot edit"));
    let run =
        |script: &str| said("y", ToolName::ExecuteCommand, Intent::Command(Script::parse(script)));
    assert_eq!((run("cat src/a.rs"), run("true")), (None, None));
    for script in
        ["cat README.md", "cat src/a.rs docs/a.md", "true < README.md", "head README.md | cat"]
    {
        assert!(run(script).is_some_and(|text| text.contains("can only read")), "{script}");
    }
}

#[test]
fn a_permission_map_names_what_is_left() {
    let text = "---\nname: x\npermission:\n  bash:\n    '*': deny\n    'git diff *': allow\n  \
                    edit:\n    '*': deny\n    'docs/*': ask\n  read:\n    'secret*': deny\n  \
                    task:\n    '*': deny\n---\nP";
    let source = ModeSource::Project { file: ".kilo/agent/x.md".to_owned() };
    let mode = crate::agent::parse(text, "x", &source).unwrap().modes.remove(0);
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let said = |tool: ToolName, intent: Intent| {
        check_intent(&mode, tool, &intent).err().map(|error| error.to_string())
    };
    let command = |text: &str| said(ToolName::ExecuteCommand, Intent::Command(Script::parse(text)));
    assert_eq!(command("git diff --stat"), None);
    assert_eq!(
        command("rm x").as_deref(),
        Some("Tool 'execute_command' in mode 'x' is denied for `*`. Allowed here: `git diff *`.")
    );
    assert_eq!(said(ToolName::ApplyDiff, Intent::Edit(path("docs/a"))), None);
    assert_eq!(
        said(ToolName::ApplyDiff, Intent::Edit(path("src/a"))).as_deref(),
        Some(
            "Tool 'apply_diff' in mode 'x' can only edit files matching pattern: docs/*. Got: \
                 src/a"
        )
    );
    assert_eq!(said(ToolName::ReadFile, Intent::Read(path("src/a"))), None);
    assert!(
        said(ToolName::ReadFile, Intent::Read(path("secret/a"))).unwrap().contains("`secret*`")
    );
    assert!(
        said(ToolName::NewTask, Intent::Delegate("code".into()))
            .unwrap()
            .contains("Nothing like it")
    );
}

#[test]
fn switching_and_delegating_are_offered_as_the_policy_says() {
    let modes = modes();
    let has = |slug: &str, switching: Switching, may_delegate: bool, tool: ToolName| {
        let offer =
            ToolOffer { switching, may_delegate, purpose: TaskPurpose::Work, included: &[] };
        offered(modes.find(slug).unwrap(), offer).contains(&tool)
    };
    assert!(has("code", Switching::Coordinator, false, ToolName::RequestModeSwitch));
    for (mode, switching) in [
        ("coordinator", Switching::Coordinator),
        ("code", Switching::Direct),
        ("code", Switching::Off),
    ] {
        assert!(!has(mode, switching, false, ToolName::RequestModeSwitch), "{mode} {switching:?}");
    }
    assert!(has("coordinator", Switching::Coordinator, false, ToolName::SwitchMode));
    assert!(!has("code", Switching::Coordinator, false, ToolName::SwitchMode));
    assert!(has("code", Switching::Direct, false, ToolName::SwitchMode));
    assert!(!has("coordinator", Switching::Off, false, ToolName::SwitchMode));
    assert!(has("orchestrator", Switching::Off, true, ToolName::NewTask));
    assert!(!has("orchestrator", Switching::Off, false, ToolName::NewTask));
}

#[test]
fn who_decides_for_another_task_steers_nothing_else() {
    let modes = modes();
    let deciding = |slug: &str| {
        let offer = ToolOffer {
            switching: Switching::Coordinator,
            may_delegate: true,
            purpose: TaskPurpose::Decide,
            included: &[],
        };
        offered(modes.find(slug).unwrap(), offer)
    };
    let reads = [
        ToolName::ReadFile,
        ToolName::ListFiles,
        ToolName::Glob,
        ToolName::ListCodeDefinitionNames,
        ToolName::SearchFiles,
        ToolName::CodebaseSearch,
        ToolName::ShowChanges,
        ToolName::WebFetch,
        ToolName::WebSearch,
    ];
    let all = [reads.as_slice(), &[ToolName::AttemptCompletion, ToolName::CoordinateMode]].concat();
    assert_eq!(deciding("coordinator"), all);
    assert!(!deciding("code").contains(&ToolName::CoordinateMode));
}

#[test]
fn the_orchestrator_has_no_tools_of_its_own() {
    let modes = modes();
    let orchestrator = modes.find("orchestrator").unwrap();
    let common = [
        ToolName::Skill,
        ToolName::RunSlashCommand,
        ToolName::AskExpertModel,
        ToolName::ReadMemory,
        ToolName::WriteMemory,
        ToolName::UpdateTodoList,
        ToolName::AskFollowupQuestion,
        ToolName::AttemptCompletion,
        ToolName::NewTask,
    ];
    let offer = ToolOffer {
        switching: Switching::Off,
        may_delegate: true,
        purpose: TaskPurpose::Work,
        included: &[ToolName::ApplyPatch],
    };
    assert_eq!(offered(orchestrator, offer), common);
}

#[test]
fn an_opt_in_tool_needs_the_profile_and_the_modes_group() {
    let modes = modes();
    let has = |slug: &str, included: &[ToolName]| {
        let offer = ToolOffer {
            switching: Switching::Off,
            may_delegate: false,
            purpose: TaskPurpose::Work,
            included,
        };
        offered(modes.find(slug).unwrap(), offer).contains(&ToolName::ApplyPatch)
    };
    assert!(has("code", &[ToolName::ApplyPatch]));
    assert!(!has("code", &[]) && !has("ask", &[ToolName::ApplyPatch]));
}
