//! Skill files, their places and their mistakes.

use super::{LISTED_LIMIT, Skill, SkillSet, folders, is_skill_file, listed};
use crate::prompts::PromptFile;
use pretty_assertions::assert_eq;

fn file(path: &str, head: &str) -> PromptFile {
    PromptFile { path: path.to_owned(), text: format!("---\n{head}\n---\n{path}") }
}

fn mistakes(path: &str, text: &str) -> Vec<String> {
    let set = SkillSet::read(&[PromptFile { path: path.to_owned(), text: text.to_owned() }]);
    let found = set.files[0].skill.as_ref().err().cloned().unwrap_or_default();
    found.iter().map(|mistake| format!("{}: {}", mistake.place, mistake.message)).collect()
}

#[test]
fn a_mode_has_its_own_skills_and_those_for_every_mode() {
    let set = SkillSet::read(&[
        file(".locum/skills-code/test/SKILL.md", "name: test\ndescription: Ours"),
        file(".roo/skills/test/SKILL.md", "name: test\ndescription: Theirs"),
        file(".claude/skills/docs/SKILL.md", "name: docs\ndescription: D\nallowed-tools: Read"),
        file(".agents/skills/ask/SKILL.md", "name: ask\ndescription: A\nmodeSlugs: [ask]"),
        file(
            ".kode/skills/hid/SKILL.md",
            "name: hid\ndescription: H\ndisable-model-invocation: true",
        ),
    ]);
    let of =
        |slug: &str| set.of_mode(slug).iter().map(|skill| skill.body.clone()).collect::<Vec<_>>();
    assert_eq!(of("code"), [".claude/skills/docs/SKILL.md", ".locum/skills-code/test/SKILL.md"]);
    assert_eq!(
        of("ask"),
        [
            ".agents/skills/ask/SKILL.md",
            ".claude/skills/docs/SKILL.md",
            ".roo/skills/test/SKILL.md"
        ]
    );
    assert_eq!(set.of_mode("ask")[0].folder(), ".agents/skills/ask");
    assert!(set.own_mistakes().is_empty());
}

#[test]
fn a_skill_lies_in_a_folder_of_its_name() {
    for (path, is) in [
        (".claude/skills/a/SKILL.md", true),
        (".roo/skills-code/a/SKILL.md", true),
        (".claude/skills/a/b/SKILL.md", false),
        (".claude/skills/SKILL.md", false),
        (".claude/skills/a/skill.md", false),
        (".claude/skills-/a/SKILL.md", false),
        ("x/.claude/skills/a/SKILL.md", false),
    ] {
        assert_eq!(is_skill_file(path), is, "{path}");
    }
    assert_eq!(
        folders(&["code".to_owned()])[..3],
        [".locum/skills-code", ".locum/skills", ".roo/skills-code"]
    );
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let path = ".locum/skills/a/SKILL.md";
    assert_eq!(
        mistakes(path, "---\nname: b\ndescription: ''\nfoo: x\n---\nx"),
        [
            "4:1: key `foo` has no effect",
            "2:7: `name` is `b`, and has to be the folder's: `a`",
            "3:14: `description` has 0 characters; it has to have 1 to 1024",
        ]
    );
    assert_eq!(
        mistakes(path, "Text.")[0],
        "0:0: no head with `name` and `description` stands at the start of the file"
    );
    assert!(
        mistakes(".claude/skills/A_b/SKILL.md", "---\nname: A_b\ndescription: d\n---\nx")[0]
            .contains("is no name of a skill")
    );
    assert_eq!(
        mistakes(path, "---\nname: a\ndescription: d\n---\n"),
        ["0:0: no instructions stand below the head"]
    );
    let set = SkillSet::read(&[PromptFile { path: path.to_owned(), text: String::new() }]);
    assert_eq!(set.own_mistakes()[0].0, path);
}

#[test]
fn a_prompt_names_them_shortly() {
    let skill = |index: usize| Skill {
        name: format!("s{index}"),
        origin: String::new(),
        description: "word\n ".repeat(200),
        modes: Vec::new(),
        is_listed: true,
        body: String::new(),
    };
    let all: Vec<Skill> = (0..60).map(skill).collect();
    let lines = listed(&all.iter().collect::<Vec<_>>());
    assert_eq!(lines.lines().count(), LISTED_LIMIT + 1);
    assert!(
        lines.starts_with("- `s0`: word word ")
            && lines.contains(" ...\n- `s1`")
            && lines.ends_with("- and 10 more, which are not named here\n")
    );
    assert!(lines.len() < 25_000);
}
