//! Which of several files of modes wins.

use super::{ModeText, merge};
use crate::loader::Strictness;
use crate::{ModeSource, builtin};
use pretty_assertions::assert_eq;

fn project(path: &str, text: &str) -> ModeText {
    ModeText { source: ModeSource::Project { file: path.to_owned() }, text: text.to_owned() }
}

fn modes(list: &[(&str, &str)]) -> String {
    let mode = |(slug, name): &(&str, &str)| {
        format!("  - {{slug: {slug}, name: {name}, roleDefinition: R, groups: [read]}}\n")
    };
    format!("customModes:\n{}", list.iter().map(mode).collect::<String>())
}

/// Returns `slug=name` of every mode that is not as built in.
fn own(texts: &[ModeText], strictness: Strictness) -> Vec<String> {
    let merged = merge(texts, strictness).unwrap_or_else(|errors| panic!("{errors}"));
    let builtin = builtin::modes();
    let changed = merged.modes.iter().filter(|mode| !builtin.contains(mode));
    changed.map(|mode| format!("{}={}", mode.slug, mode.name)).collect()
}

#[test]
fn later_places_win_by_slug_whatever_the_order_of_reading() {
    let user = ModeText {
        source: ModeSource::Global { file: "/u/modes.yml".into() },
        text: modes(&[("a", "user"), ("u", "user")]),
    };
    let organization = ModeText {
        source: ModeSource::Organization { file: "/u/organization-modes.yml".into() },
        text: modes(&[("o", "org")]),
    };
    let texts = [
        organization,
        project(".locum/modes.yml", &modes(&[("a", "locum"), ("o", "locum")])),
        project(".roomodes", &modes(&[("a", "roo"), ("b", "roo"), ("x", "roo")])),
        project(".kilocodemodes", &modes(&[("b", "kilo"), ("c", "kilo")])),
        project(".locum/agents/c.md", "---\nname: c\n---\nP"),
        project(".claude/agents/d.md", "---\nname: d\n---\nP"),
        project(".kilo/agent/d.md", "---\ndisplayName: kilo-d\n---\nP"),
        user,
    ];
    let expected = ["a=locum", "u=user", "d=kilo-d", "c=kilo", "b=roo", "x=roo", "o=org"];
    assert_eq!(own(&texts, Strictness::Strict), expected);
    let backwards: Vec<ModeText> = texts.iter().rev().cloned().collect();
    assert_eq!(own(&backwards, Strictness::Strict), expected);
}

#[test]
fn a_kilo_file_says_whose_its_modes_are() {
    let mode = |slug: &str, source: &str| {
        format!("- {{slug: {slug}, name: kilo, roleDefinition: R, groups: [], source: {source}}}\n")
    };
    let kilo = [("a", "organization"), ("b", "project"), ("c", "global")]
        .map(|(slug, source)| mode(slug, source))
        .concat();
    let roo = modes(&[("a", "roo"), ("b", "roo"), ("c", "roo")]);
    let texts = [project(".kilocodemodes", &kilo), project(".roomodes", &roo)];
    assert_eq!(own(&texts, Strictness::Strict), ["c=roo", "b=roo", "a=kilo"]);
    let user = ModeText {
        source: ModeSource::Global { file: "/u/modes.yml".into() },
        text: modes(&[("c", "user")]),
    };
    assert_eq!(
        own(&[project(".kilocodemodes", &kilo), user], Strictness::Strict),
        ["c=user", "b=kilo", "a=kilo"]
    );
}

#[test]
fn a_broken_mode_uncovers_no_weaker_one() {
    let text = format!(
        "{}  - {{slug: code, name: C, roleDefinition: R, groups: [[edit, {{fileRegex: \
         '['}}]]}}\n",
        modes(&[("a", "A")])
    );
    let texts = [project(".locum/modes.yml", &text)];
    assert!(merge(&texts, Strictness::Strict).is_err());
    let merged = merge(&texts, Strictness::Lenient).unwrap();
    assert!(merged.modes.find("a").is_some());
    assert_eq!(merged.modes.find("code"), None);
    assert_eq!(
        merged.warnings.iter().map(|warning| warning.path.as_str()).collect::<Vec<_>>(),
        ["customModes.1.groups.0.1.fileRegex"]
    );
    assert!(
        merge(&[project(".roomodes", "customModes: [")], Strictness::Lenient).is_err(),
        "no YAML at all"
    );
}

#[test]
fn a_broken_agent_stops_only_what_is_ours() {
    let broken = "---\nname: x\n---\n";
    assert!(merge(&[project(".locum/agents/code.md", broken)], Strictness::Strict).is_err());
    for (path, code_is_left) in [(".claude/agents/code.md", true), (".kilo/agent/code.md", false)] {
        let merged = merge(&[project(path, broken)], Strictness::Strict).unwrap();
        assert_eq!(
            (merged.modes.find("code").is_some(), merged.warnings.len()),
            (code_is_left, 1),
            "{path}"
        );
    }
}

#[test]
fn an_agent_whose_limit_is_not_known_uncovers_no_built_in_mode() {
    let agent = "---\nname: code\nreadOnly: true\n---\nP";
    let merged = merge(&[project(".kilo/agents/x.md", agent)], Strictness::Strict).unwrap();
    assert_eq!((merged.modes.find("code"), merged.modes.find("x")), (None, None));
    assert!(merge(&[project(".locum/agents/x.md", agent)], Strictness::Strict).is_err());
}

#[test]
fn an_agent_that_is_no_mode_replaces_no_built_in_mode() {
    let agent = "---\nname: debug\n---\nP";
    for (path, expected) in [
        (".claude/agents/x.md", vec![]),
        (".kilo/agent/x.md", vec!["debug=debug"]),
        (".locum/agents/x.md", vec!["debug=debug"]),
    ] {
        assert_eq!(own(&[project(path, agent)], Strictness::Strict), expected, "{path}");
    }
}

#[test]
fn texts_of_a_mode_change_without_the_mode() {
    let prompts = "customModePrompts:\n  code: { customInstructions: Ours, whenToUse: Always }\n  \
                   review: { customInstructions: \"\" }\n  a: { roleDefinition: Changed }\n";
    let user = ModeText {
        source: ModeSource::Global { file: "/u/modes.yml".into() },
        text: "customModePrompts:\n  code: { customInstructions: Mine, description: Mine }\n"
            .into(),
    };
    let own = format!("{}{prompts}", modes(&[("a", "A")]));
    let roo = project(".roomodes", &modes(&[("a", "roo")]));
    let merged =
        merge(&[project(".locum/modes.yml", &own), roo, user], Strictness::Strict).unwrap();
    assert_eq!(merged.warnings, []);
    let builtin = builtin::modes();
    let find = |slug: &str| merged.modes.find(slug).unwrap();
    let code = builtin.iter().find(|mode| mode.slug == "code").unwrap();
    let expected = crate::Mode {
        custom_instructions: Some("Ours".into()),
        when_to_use: Some("Always".into()),
        description: Some("Mine".into()),
        changed_in: vec!["/u/modes.yml".into(), ".locum/modes.yml".into()],
        ..code.clone()
    };
    assert_eq!(find("code"), &expected);
    assert_eq!(find("review").custom_instructions, None);
    assert_eq!((&*find("a").name, &*find("a").role_definition), ("A", "Changed"));
}

#[test]
fn texts_of_a_mode_that_is_not_there_have_no_effect() {
    let prompts =
        "customModePrompts:\n  coed: { customInstructions: Ours }\n  o: { description: D }\n";
    let organization = ModeText {
        source: ModeSource::Organization { file: "/u/organization-modes.yml".into() },
        text: modes(&[("o", "org")]),
    };
    let texts = [project(".locum/modes.yml", prompts), organization];
    let merged = merge(&texts, Strictness::Strict).unwrap();
    let said = merged.warnings.iter().map(|it| (it.place.line, it.path.as_str()));
    let expected = [(2, "customModePrompts.coed"), (3, "customModePrompts.o")];
    assert_eq!(said.collect::<Vec<_>>(), expected, "a stronger file's mode stays as it is");
    assert_eq!(merged.modes.find("o").unwrap().description, None);
}

#[test]
fn texts_with_mistakes_leave_no_mode_without_them() {
    let prompts = "customModePrompts:\n  code: { groups: [read] }\n  ask: { whenToUse: W }\n";
    let texts = [project(".locum/modes.yml", prompts)];
    assert!(merge(&texts, Strictness::Strict).is_err());
    let merged = merge(&texts, Strictness::Lenient).unwrap();
    assert_eq!(merged.modes.find("code"), None);
    assert_eq!(merged.modes.find("ask").unwrap().when_to_use.as_deref(), Some("W"));
}
