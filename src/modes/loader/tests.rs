//! Mode files of every dialect, and their mistakes.

use super::{ModeErrors, Strictness, parse, parse_file};
use crate::{ModeAppearance, ModeSource, ToolGroup};
use locum_base::tool::ToolName;
use pretty_assertions::assert_eq;

mod peers;

fn source(file: &str) -> ModeSource {
    ModeSource::Project { file: file.to_owned() }
}

/// Reads `fields` as those of one mode in a file; expects the slugs, or each mistake's line,
/// column and path.
fn check(file: &str, text: &str, expected: Result<&[&str], &[&str]>) {
    let found = match parse(text, &source(file)) {
        Ok(modes) => Ok(modes.into_iter().map(|mode| mode.slug).collect::<Vec<_>>()),
        Err(ModeErrors(errors)) => {
            Err(errors.iter().map(|error| format!("{} {}", error.place, error.path)).collect())
        }
    };
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        found,
        expected.map(owned).map_err(owned),
        "{file}: {}",
        text.chars().take(200).collect::<String>()
    );
}

fn mode(fields: &str) -> String {
    format!("customModes:\n  - slug: a\n    name: A\n    roleDefinition: R\n{fields}")
}

#[test]
fn finds_every_mistake_with_its_place() {
    check(
        ".roomodes",
        "customModes:\n  - slug: a b\n    name: ''\n    groups: [read, [edit, {fileRegex: \
         '['}], read]\n  - slug: 7\n    name: B\n    roleDefinition: ~\n    groups: [Edit]\n",
        Err(&[
            "2:5 customModes.0.roleDefinition",
            "2:11 customModes.0.slug",
            "3:11 customModes.0.name",
            "4:39 customModes.0.groups.1.1.fileRegex",
            "4:46 customModes.0.groups",
            "5:11 customModes.1.slug",
            "7:21 customModes.1.roleDefinition",
            "8:14 customModes.1.groups.0",
        ]),
    );
}

#[test]
fn slugs_must_differ_and_case_counts() {
    let two = |other: &str| {
        format!(
            "{}  - {{slug: {other}, name: B, roleDefinition: R, groups: []}}\n",
            mode("    groups: []\n")
        )
    };
    check(".roomodes", &two("A"), Ok(&["a", "A"]));
    check(".roomodes", &two("a"), Err(&["6:5 customModes"]));
}

#[test]
fn knows_the_forms_of_a_group() {
    for groups in [
        "[]",
        "[read, edit]",
        "[[edit, {}]]",
        "[[edit, {fileRegex: '', description: x}], read]",
        "[browser, [browser, {}], modes]",
    ] {
        check(".roomodes", &mode(&format!("    groups: {groups}\n")), Ok(&["a"]));
    }
    for (groups, place) in [
        ("[[edit]]", "5:14 customModes.0.groups.0"),
        ("[[edit, {}, {}]]", "5:14 customModes.0.groups.0"),
        ("[{edit: {}}]", "5:14 customModes.0.groups.0"),
        ("[browser, nope]", "5:23 customModes.0.groups.0"),
        ("[[edit, {fileRegex: 1}]]", "5:21 customModes.0.groups.0"),
        ("read", "5:13 customModes.0.groups"),
        ("[read, [read, {}]]", "5:20 customModes.0.groups"),
    ] {
        check(".roomodes", &mode(&format!("    groups: {groups}\n")), Err(&[place]));
    }
}

#[test]
fn our_own_files_are_read_strictly() {
    let with_extras = mode("    groups: [browser]\n    iconName: x\n    customInstruction: y\n");
    check(".roomodes", &with_extras, Ok(&["a"]));
    check(".locum/modes.yml", &with_extras, Err(&["7:5 customModes.0.customInstruction"]));
    check(".locum/modes.yml", "modes: []\n", Err(&["1:1 modes"]));
    check(".locum/modes.yml", "- slug: a\n", Err(&["1:1 customModes"]));
    check(".locum/modes.yml", "", Ok(&[]));
    let restricted =
        |group: &str| mode(&format!("    groups:\n      - [{group}, {{fileRegex: x}}]\n"));
    check(".locum/modes.yml", &restricted("edit"), Ok(&["a"]));
    check(".locum/modes.yml", &restricted("read"), Ok(&["a"]));
    for group in ["command", "mcp", "modes"] {
        let column = 10 + group.len() + 2;
        let place = format!("6:{column} customModes.0.groups.0.1.fileRegex");
        check(".locum/modes.yml", &restricted(group), Err(&[&place]));
    }
    let errors = parse(&with_extras, &source(".locum/modes.yml")).unwrap_err();
    assert_eq!(errors.0[0].hint.as_deref(), Some("did you mean `customInstructions`?"));
    let expected = "modes `.locum/modes.yml`:7:5: customModes.0.customInstruction: unknown \
                    key `customInstruction`";
    assert_eq!(errors.to_string().lines().next(), Some(expected));
}

#[test]
fn cleans_typography_in_the_peers_files_only() {
    let text = "customModes:\n  - slug: a\u{2013}b\n    \
                name:\u{a0}\u{201c}A\u{200b}\u{201d}\n    roleDefinition: it\u{2019}s\n    \
                groups: []\n";
    let modes = parse(text, &source(".roomodes")).unwrap();
    assert_eq!(
        (modes[0].slug.as_str(), modes[0].name.as_str(), modes[0].role_definition.as_str()),
        ("a-b", "A", "it's")
    );
    let own = mode("    groups: []\n    description: a \u{2013} b\n");
    assert_eq!(
        parse(&own, &source(".locum/modes.yml")).unwrap()[0].description.as_deref(),
        Some("a \u{2013} b")
    );
}

#[test]
fn reads_json_with_tabs_and_still_knows_places() {
    let json = |slug: &str| {
        format!(
            "{{\n\t\"customModes\": [\n\t\t{{\"slug\": \"{slug}\", \"name\": \"N\", \
             \"roleDefinition\": \"R\\u2019\", \"groups\": []}}\n\t]\n}}"
        )
    };
    for file in [".roomodes", "custom_modes.yaml", ".kilocodemodes"] {
        check(file, &json("a"), Ok(&["a"]));
        check(file, &json("a b"), Err(&["3:12 customModes.0.slug"]));
    }
}

#[test]
fn falls_back_to_json_only_where_the_peers_do() {
    let text = "{\"customModes\": [{\"slug\": \"a\", \"name\": \"N\", \"roleDefinition\": \
                \"say \u{201c}x\u{201d}\", \"groups\": []}]}";
    check(".roomodes", text, Ok(&["a"]));
    check("custom_modes.yaml", text, Err(&["1:69 "]));
}

#[test]
fn says_what_has_no_effect() {
    let warnings = |text: &str| -> Vec<String> {
        let file = parse_file(text, &source(".roomodes"), Strictness::Strict).unwrap();
        file.warnings.iter().map(|warning| format!("{} {}", warning.place, warning.path)).collect()
    };
    assert_eq!(warnings(&mode("    groups: []\n    source: global\n")), Vec::<String>::new());
    assert_eq!(
        warnings(&mode("    groups: [browser]\n    model: x\n")),
        ["6:5 customModes.0.model"]
    );
    assert_eq!(warnings("- slug: a\n"), ["1:1 "]);
    assert_eq!(warnings(""), Vec::<String>::new());
}

#[test]
fn knows_the_second_vocabulary() {
    let text = "customModes:\n  - slug: a\n    name: A\n    role: R of {{ team }}\n    tools: [read, {name: edit, tools: [apply_diff]}, mcp]\n    groupName: G\n    icon: i\n    systemPrompt: S\n    allowedFilePaths: ['^src/']\n    disallowedFilePaths: ['\\.lock$']\n    customRules: [r1, r2]\n    variables: {team: Core, n: 3}\n    apiProvider: openai\n    apiModel: m\n    apiBase: https://a.example/v1\n    highlightRange: [0, 1]\n";
    for file in [".locum/modes.yml", ".roomodes", ".kilocodemodes"] {
        let read = parse_file(text, &source(file), Strictness::Strict).unwrap();
        let mode = &read.modes[0];
        assert_eq!(mode.filled(&mode.role_definition), "R of Core");
        assert_eq!(
            mode.groups.iter().map(|entry| entry.group).collect::<Vec<_>>(),
            [ToolGroup::Read, ToolGroup::Edit, ToolGroup::Mcp]
        );
        let only = mode.tool_limits.only.clone().unwrap();
        assert!(
            only.contains(&ToolName::ApplyDiff)
                && only.contains(&ToolName::ReadFile)
                && !only.contains(&ToolName::WriteToFile)
        );
        assert_eq!((mode.file_limits.allowed.len(), mode.file_limits.disallowed.len()), (1, 1));
        assert_eq!(mode.rules, ["r1", "r2"]);
        assert_eq!(mode.looks, ModeAppearance { group: Some("G".into()), icon: Some("i".into()) });
        let model = mode.model.as_ref().unwrap();
        assert_eq!(
            (model.name.as_str(), model.base_url.as_deref()),
            ("m", Some("https://a.example/v1"))
        );
        assert_eq!(
            read.warnings.iter().map(|warning| warning.place.line).collect::<Vec<_>>(),
            [16],
            "{file}"
        );
    }
}

#[test]
fn a_limit_on_files_is_never_dropped() {
    for (fields, path) in [
        ("allowedFilePaths: '^src/'", "5:23 customModes.0.allowedFilePaths"),
        ("disallowedFilePaths: ['[']", "5:27 customModes.0.disallowedFilePaths.0"),
        ("allowedFilePaths: [7]", "5:24 customModes.0.allowedFilePaths.0"),
    ] {
        check(".roomodes", &mode(&format!("    {fields}\n    groups: []\n")), Err(&[path]));
    }
    check(
        ".roomodes",
        &mode("    groups: []\n    customRules: x\n    variables: [a]\n    icon: 7\n"),
        Ok(&["a"]),
    );
    check(
        ".locum/modes.yml",
        &mode("    groups: []\n    customRules: x\n    variables: [a]\n    icon: 7\n"),
        Err(&[
            "6:18 customModes.0.customRules",
            "7:16 customModes.0.variables",
            "8:11 customModes.0.icon",
        ]),
    );
    check(
        ".locum/modes.yml",
        &mode("    tools: [teleport]\n"),
        Err(&["5:13 customModes.0.tools.0"]),
    );
}

#[test]
fn what_looks_like_a_limit_and_is_not_known_is_a_mistake() {
    for (fields, place) in [
        ("allowedFiles: [x]", "5:5 customModes.0.allowedFiles"),
        ("fileRestriction: [x]", "5:5 customModes.0.fileRestriction"),
        ("readOnly: true", "5:5 customModes.0.readOnly"),
        ("permissions: {edit: deny}", "5:5 customModes.0.permissions"),
        ("deniedCommands: [rm]", "5:5 customModes.0.deniedCommands"),
        ("editable: ['docs/**']", "5:5 customModes.0.editable"),
        ("paths: [docs]", "5:5 customModes.0.paths"),
        ("noEdit: true", "5:5 customModes.0.noEdit"),
    ] {
        for file in [".roomodes", ".kilocodemodes", "custom_modes.yaml"] {
            let text = mode(&format!("    {fields}\n    groups: [read, edit]\n"));
            check(file, &text, Err(&[place]));
        }
    }
    let misspelt = mode("    groups: [[edit, {fileRegexp: x}]]\n");
    check(".roomodes", &misspelt, Err(&["5:22 customModes.0.groups.0.1.fileRegexp"]));
    let in_tools = mode("    tools: [read, {name: edit, fileRegex: '^docs/'}]\n");
    check(".roomodes", &in_tools, Err(&["5:32 customModes.0.tools.1.fileRegex"]));
    let at_top = format!("readOnly: true\n{}", mode("    groups: [read, edit]\n"));
    check(".roomodes", &at_top, Err(&["1:1 readOnly"]));
    let harmless = mode("    model: x\n    createdAt: 2026-01-01\n    groups: [read]\n");
    check(".roomodes", &harmless, Ok(&["a"]));
    let both = mode("    groups: [read, edit]\n    tools: [read]\n");
    check(".roomodes", &both, Err(&["6:12 customModes.0.tools"]));
}

#[test]
fn knows_other_words_for_groups_and_instructions() {
    let read = |file: &str, fields: &str| parse(&mode(fields), &source(file)).unwrap().remove(0);
    for file in [".locum/modes.yml", ".roomodes", ".kilocodemodes", "custom_modes.yaml"] {
        let code = read(file, "    groups: [core, edit, mcp, subtasks, experimental]\n");
        let tools = code.tools();
        for (tool, is_there) in [
            (ToolName::ReadFile, true),
            (ToolName::WebFetch, false),
            (ToolName::WebSearch, false),
            (ToolName::ApplyDiff, true),
            (ToolName::ExecuteCommand, true),
            (ToolName::UseMcpTool, true),
        ] {
            assert_eq!(tools.contains(&tool), is_there, "{file} {tool}");
        }
        let ask = read(file, "    groups: [core, readonly]\n    baseInstructions: Be clear.\n");
        assert_eq!(ask.groups.len(), 1, "{file}");
        assert!(!ask.tools().contains(&ToolName::WriteToFile), "{file}");
        assert_eq!(ask.custom_instructions.as_deref(), Some("Be clear."), "{file}");
        let both = read(
            file,
            "    groups: [core, read]\n    baseInstructions: A\n    customInstructions: B\n",
        );
        assert!(both.tools().contains(&ToolName::WebFetch), "{file}");
        assert_eq!(both.custom_instructions.as_deref(), Some("A\n\nB"), "{file}");
        let own = read(file, "    groups: [read, coordinator]\n");
        assert!(own.coordinates() && !ask.coordinates(), "{file}");
        let limited = read(file, "    groups: [read, edit]\n    fileRestrictions: ['\\.md$']\n");
        assert_eq!(limited.file_limits.edited.len(), 1, "{file}");
        for (fields, place) in [
            ("    groups: [readonly, edit]\n", "5:24 customModes.0.groups"),
            ("    groups: [core, experimental, readonly]\n", "5:20 customModes.0.groups"),
            ("    groups: [core, core]\n", "5:20 customModes.0.groups"),
            ("    groups: [core, [read, {fileRegex: x}]]\n", "5:20 customModes.0.groups"),
            ("    groups: [[read, {fileRegex: x}], command]\n", "5:38 customModes.0.groups"),
        ] {
            check(file, &mode(fields), Err(&[place]));
        }
    }
}

#[test]
fn lengths_are_limited_in_our_own_files_and_noted_in_the_peers() {
    let long = |count: usize| "x".repeat(count);
    let with = |slug: usize, name: usize, role: usize, description: usize| {
        format!(
            "customModes:\n  - slug: {}\n    name: {}\n    roleDefinition: {}\n    description: \
             '{}'\n    groups: []\n",
            long(slug),
            long(name),
            long(role),
            long(description)
        )
    };
    let warned = |file: &str, text: &str| -> Vec<String> {
        let read = parse_file(text, &source(file), Strictness::Strict).unwrap();
        read.warnings.into_iter().map(|warning| warning.path).collect()
    };
    let most = with(50, 100, 1000, 500);
    for file in [".locum/modes.yml", ".roomodes", ".kilocodemodes"] {
        assert_eq!(warned(file, &most), Vec::<String>::new(), "{file}");
    }
    let more = with(51, 101, 1001, 501);
    let (slug, name) = ("customModes.0.slug", "customModes.0.name");
    let (role, description) = ("customModes.0.roleDefinition", "customModes.0.description");
    check(
        ".locum/modes.yml",
        &more,
        Err(&[&format!("2:11 {slug}"), &format!("3:11 {name}"), &format!("5:18 {description}")]),
    );
    for file in [".roomodes", ".kilocodemodes", "custom_modes.yaml"] {
        assert_eq!(warned(file, &more), [slug, name, role, description], "{file}");
    }
    assert_eq!(warned(".locum/modes.yml", &with(1, 1, 1001, 1)), [role]);
    let empty = with(1, 1, 1, 0);
    check(".locum/modes.yml", &empty, Err(&[&format!("5:18 {description}")]));
    assert_eq!(warned(".roomodes", &empty), [description]);
    for (address, is_right) in [
        ("https://a.example/v1", true),
        ("http://localhost:11434", true),
        ("not a url", false),
        ("https://", false),
        ("a.example", false),
        ("ftp://a.example", false),
    ] {
        let text = mode(&format!("    groups: []\n    apiModel: m\n    apiBase: {address}\n"));
        let mistakes = ["7:14 customModes.0.apiBase"];
        check(".roomodes", &text, if is_right { Ok(&["a"]) } else { Err(&mistakes) });
    }
}

#[test]
fn a_lenient_reading_keeps_the_good_modes() {
    let good = "  - {slug: b, name: B, roleDefinition: R, groups: []}\n";
    let text =
        format!("{}{good}  - {{slug: c, groups: []}}\n  - 7\n{good}", mode("    groups: [nope]\n"));
    let read = parse_file(&text, &source(".roomodes"), Strictness::Lenient).unwrap();
    assert_eq!(
        read.modes.iter().map(|mode| mode.slug.as_str()).collect::<Vec<_>>(),
        Vec::<&str>::new()
    );
    assert_eq!(read.lost, ["a", "c", "b"]);
    assert_eq!(
        read.warnings.iter().map(|error| error.place.line).collect::<Vec<_>>(),
        [5, 7, 7, 8, 9]
    );
    let once = text.replace(&format!("  - 7\n{good}"), "");
    let read = parse_file(&once, &source(".roomodes"), Strictness::Lenient).unwrap();
    assert_eq!(read.modes.iter().map(|mode| mode.slug.as_str()).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_kilo_file_may_be_a_list() {
    let text = "[{\"slug\": \"a\", \"name\": \"A\", \"roleDefinition\": \"R\", \"groups\": \
                [\"read\"], \"source\": \"organization\"}]";
    check(".kilocodemodes", text, Ok(&["a"]));
    check(".kilocodemodes", &text.replace("\"A\"", "7"), Err(&["1:24 0.name"]));
    check(".roomodes", text, Ok(&[]));
    check(".kilocodemodes", "{\"modes\": []}", Err(&["1:1 "]));
    check(".kilocodemodes", "", Ok(&[]));
    let misshapen = |file: &str, text: &str| {
        parse_file(text, &source(file), Strictness::Strict).unwrap().is_misshapen
    };
    assert!(misshapen(".roomodes", text) && misshapen("custom_modes.yaml", "mcpServers: {}\n"));
    assert!(!misshapen(".roomodes", "") && !misshapen(".roomodes", "customModes:\n"));
}

#[test]
fn a_huge_file_is_a_mistake_and_not_a_crash() {
    check(".roomodes", &"# x\n".repeat(3_000_000), Err(&["0:0 "]));
    check(".roomodes", &format!("customModes: {}", "[".repeat(5_000)), Err(&["1:269 "]));
}

#[test]
fn texts_for_other_modes_are_texts_and_nothing_else() {
    let check = |prompts: &str, expected: &[&str]| {
        let text = format!("customModePrompts:{prompts}\n");
        check(".locum/modes.yml", &text, if expected.is_empty() { Ok(&[]) } else { Err(expected) });
    };
    check("", &["1:18 customModePrompts"]);
    check(" {}", &[]);
    check(" { code: { customInstructions: '', whenToUse: A } }", &[]);
    check(" [code]", &["1:20 customModePrompts"]);
    check(" { code: Text }", &["1:28 customModePrompts.code"]);
    check(" { code: { groups: [] } }", &["1:30 customModePrompts.code.groups"]);
    check(" { code: { roleDefinition: '' } }", &["1:46 customModePrompts.code.roleDefinition"]);
    check(" { code: { description: '' } }", &["1:43 customModePrompts.code.description"]);
    check(" { code: { whenToUse: 7 } }", &["1:41 customModePrompts.code.whenToUse"]);
    let roo =
        parse_file("customModePrompts: {}\n", &source(".roomodes"), Strictness::Strict).unwrap();
    assert!(roo.prompts.is_empty() && !roo.warnings.is_empty(), "only files of ours have them");
}
