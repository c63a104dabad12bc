//! `locum modes` as a person meets it who keeps modes in a repository: what is written, what stays,
//! what is refused.

use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use crate::cli::{Run, Setup};

const FILE: &str = "# ours\ncustomModes:\n  # the writer\n  - slug: docs\n    name: Docs # \
                    short\n    roleDefinition: You write docs\n    groups: [read, [edit, \
                    {fileRegex: '^docs/'}]]\n";

fn setup() -> Setup {
    Setup::new().file(".locum/modes.yml", FILE)
}

/// Runs with words that may hold blanks.
fn run(setup: &Setup, words: &[&str]) -> Run {
    setup.command("modes").args(words).output().unwrap().into()
}

fn read(setup: &Setup, path: &str) -> String {
    std::fs::read_to_string(setup.0.path().join(path))
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_mode_is_created_changed_and_deleted_and_the_rest_of_the_file_stays() {
    let setup = setup();
    let created = run(
        &setup,
        &[
            "create",
            "tests",
            "--role",
            "You write tests",
            "--groups",
            "read,edit",
            "--edit-only",
            "^tests/",
        ],
    );
    assert_eq!(
        (created.code, created.out.as_str()),
        (Some(0), "created mode `tests` in .locum/modes.yml\n"),
        "{created:?}"
    );
    let shown = setup.run("modes show tests --json").json();
    assert_eq!(shown["groups"], serde_json::json!(["read", ["edit", { "fileRegex": "^tests/" }]]));
    let updated = run(
        &setup,
        &["update", "docs", "--role", "You write: docs", "--set", "variables={team: core}"],
    );
    assert_eq!(updated.code, Some(0), "{updated:?}");
    assert_eq!(setup.run("modes delete tests").code, Some(0));
    let expected =
        FILE.replace("You write docs", "'You write: docs'") + "    variables:\n      team: core\n";
    assert_eq!(read(&setup, ".locum/modes.yml"), expected);
    assert_eq!(setup.run("modes delete docs").code, Some(0));
    assert!(read(&setup, ".locum/modes.yml").starts_with("# ours\ncustomModes:\n"));
}

#[test]
fn what_would_be_a_mistake_is_not_written() {
    let setup = setup();
    for (words, told) in [
        (&["create", "docs", "--role", "x"][..], "there is a mode `docs`"),
        (&["create", "a b", "--role", "x"], "`a b` is not a slug"),
        (&["create", "new"], "`roleDefinition` is required"),
        (&["create", "new", "--role", "x", "--groups", "reed"], "`reed` is not a group"),
        (
            &["create", "new", "--role", "x", "--groups", "read", "--edit-only", "x"],
            "`--groups` does not include `edit`",
        ),
        (
            &["update", "docs", "--groups", "edit", "--edit-only", "["],
            "not a JavaScript regular expression",
        ),
        (&["update", "docs", "--set", "nam=x"], "did you mean `name`?"),
        (&["update", "docs", "--set", "name=["], "is not valid YAML"),
        (&["update", "docs"], "nothing to change"),
        (&["update", "docs", "--unset", "slug"], ""),
        (&["update", "code", "--name", "x"], "mode `code` is built in"),
        (&["delete", "dosc"], "did you mean `docs`?"),
        (&["delete", "docs", "--file", "nowhere.yml"], "there is no mode `docs` in this file"),
        (&["update", "docs", "--file", ".claude/agents/x.md", "--name", "x"], "an agent file"),
        (&["import", "nowhere.yml"], "does not exist"),
        (&["export", "dosc"], "did you mean `docs`?"),
    ] {
        let ran = run(&setup, words);
        assert!(
            ran.code == Some(2) && ran.err.contains(told) && ran.out.is_empty(),
            "{words:?}: {ran:?}"
        );
        assert_eq!(read(&setup, ".locum/modes.yml"), FILE, "{words:?}");
    }
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let setup = setup();
    let ran = run(&setup, &["update", "docs", "--name", "D", "--dry-run"]);
    assert!(ran.out.contains("-    name: Docs # short\n+    name: D\n"), "{ran:?}");
    assert_eq!(
        run(&setup, &["create", "new", "--role", "x", "--user", "--dry-run", "--json"]).json()["written"],
        false
    );
    assert_eq!(read(&setup, ".locum/modes.yml"), FILE);
    assert!(!setup.0.path().join(".config").exists());
}

#[test]
fn modes_travel_with_their_rules_files() {
    let from = setup()
        .file(".roo/rules-docs/a.md", "# A\n")
        .file(".roo/rules-docs/deep/b.md", "b: \"c\"\n");
    for format in ["yaml", "json"] {
        let exported = from.run(&format!("modes export docs --format {format}"));
        assert_eq!((exported.code, exported.err.as_str()), (Some(0), ""), "{exported:?}");
        let to = Setup::new().file("x.yaml", &exported.out).file(".locum/rules-docs/old.md", "old");
        let imported = to.run("modes import x.yaml");
        assert_eq!(
            imported.out,
            "removed .locum/rules-docs/old.md\nimported 1 mode into .locum/modes.yml: docs\n",
            "{imported:?}"
        );
        assert_eq!(read(&to, ".locum/rules-docs/a.md"), "# A\n");
        assert_eq!(read(&to, ".locum/rules-docs/deep/b.md"), "b: \"c\"\n");
        let again = to.run(&format!("modes export docs --format {format}"));
        assert_eq!(again.out, exported.out);
        let before = std::fs::metadata(to.0.path().join(".locum/modes.yml")).unwrap().len();
        assert_eq!(to.run("modes import x.yaml --dry-run").code, Some(0));
        assert_eq!(std::fs::metadata(to.0.path().join(".locum/modes.yml")).unwrap().len(), before);
    }
}

#[test]
fn an_import_writes_nothing_outside_the_folder_of_the_modes_rules() {
    let mode = |path: &str| {
        format!(
            "customModes:\n  - slug: a\n    name: A\n    roleDefinition: R\n    groups: []\n    \
             rulesFiles:\n      - relativePath: {path}\n        content: evil\n"
        )
    };
    for path in [
        "../evil",
        "/tmp/evil",
        "rules-a/../../evil",
        "x/../../../evil",
        ".git/hooks/pre-commit",
        "'..\\evil'",
    ] {
        let setup = Setup::new().file("x.yaml", &mode(path));
        let ran = setup.run("modes import x.yaml");
        assert!(ran.code == Some(2) && ran.err.contains("x.yaml:7:"), "{path}: {ran:?}");
        assert!(!setup.0.path().join(".locum").exists(), "{path}");
    }
    let outside = tempfile::tempdir().unwrap();
    for link in [".locum", ".locum/rules-a", ".locum/rules-a/deep"] {
        let setup = Setup::new().file("x.yaml", &mode("deep/evil"));
        let link = setup.0.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(outside.path(), &link).unwrap();
        let ran = setup.run("modes import x.yaml");
        assert!(ran.code == Some(2) && ran.err.contains("is a symbolic link"), "{ran:?}");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}

#[test]
fn validate_names_every_file_and_ends_with_the_worst() {
    let setup = setup()
        .file(
            ".roomodes",
            "customModes:\n  - slug: a b\n    name: A\n    roleDefinition: R\n    groups: \
             [browser]\n",
        )
        .file(
            ".claude/agents/helper.md",
            "---\nname: helper\ndescription: Use when: asked\ntools: Read, Teleport\n---\nYou \
             help.\n",
        )
        .file(".claude/agents/broken.md", "just words\n");
    let all = setup.run("modes validate");
    assert_eq!(all.code, Some(2));
    for line in [
        "error: .roomodes:2:11: `customModes.0.slug`: `a b` is not a slug",
        ".locum/modes.yml: docs",
        "warning: .claude/agents/helper.md:3:",
        ".claude/agents/helper.md: helper",
        "error: .claude/agents/broken.md: no head",
    ] {
        assert!(all.out.contains(line), "{line}\n{}", all.out);
    }
    let one = setup.run("modes validate .locum/modes.yml --json");
    assert_eq!((one.code, &one.json()[0]["modes"]), (Some(0), &serde_json::json!(["docs"])));
    assert_eq!(setup.run("modes validate .claude/agents/helper.md").code, Some(0));
    let notes = Setup::new().file(".agents/plan.md", "just words\n").file("AGENTS.md", "# Do\n");
    let noted = notes.run("modes validate");
    assert_eq!(noted.code, Some(0), "{noted:?}");
    assert!(noted.out.contains("warning: .agents/plan.md: no head"), "{}", noted.out);
    assert!(!noted.out.contains("AGENTS.md"), "{}", noted.out);
    assert_eq!(Setup::new().run("modes validate").out, "no mode files\n");
    for what in ["modes", "skills", "commands", "mcp"] {
        let ran = |verb: &str| setup.run(&format!("{what} {verb} --json"));
        let (check, validate) = (ran("check"), ran("validate"));
        assert_eq!((check.code, &check.out), (validate.code, &validate.out), "{check:?}");
        assert_eq!(ran("examine").code, Some(2));
    }
}

#[test]
fn a_lenient_setting_keeps_the_good_modes_and_hides_what_broken_ones_would_uncover() {
    let broken = format!("{FILE}  - {{slug: code, name: C, roleDefinition: R, groups: [nope]}}\n");
    let strict = Setup::new().file(".locum/modes.yml", &broken);
    assert_eq!(strict.run("modes list").code, Some(2));
    let lenient = Setup::new()
        .file(".locum/modes.yml", &broken)
        .file(".locum/config.yml", "mode_files: lenient\n");
    let listed = lenient.run("modes list");
    assert!(
        listed.code == Some(0) && listed.out.contains("\ndocs ") && !listed.out.contains("\ncode "),
        "{listed:?}"
    );
    assert!(listed.err.contains("warning: .locum/modes.yml:8:"), "{listed:?}");
}

#[test]
fn everything_a_mode_says_is_shown() {
    let setup = setup();
    std::fs::write(
        setup.0.path().join(".locum/modes.yml"),
        "customModes:\n  - slug: dev\n    name: Dev\n    role: A dev\n    tools: [read_file, \
         write_to_file]\n    systemPrompt: Of team {{team}}.\n    allowedFilePaths: [^src/]\n    \
         disallowedFilePaths: [^src/old/]\n    customRules: [Never guess]\n    variables: {team: \
         blue}\n    apiModel: m-1\n",
    )
    .unwrap();
    let agents = setup.0.path().join(".kilo/agents");
    std::fs::create_dir_all(&agents).unwrap();
    std::fs::write(
        agents.join("planner.md"),
        "---\ndescription: plans\npermission:\n  bash: deny\n---\nYou plan.\n",
    )
    .unwrap();
    let shown = setup.run("modes show dev");
    for told in [
        "reads and edits only: `^src/`",
        "neither reads nor edits: `^src/old/`",
        "model: m-1",
        "variable team: blue",
        "system prompt:\n  Of team {{team}}.",
        "rules:\n  - Never guess",
    ] {
        assert!(shown.out.contains(told), "{told}: {}", shown.out);
    }
    let shown = setup.run("modes show planner").out;
    assert!(shown.contains("where the last match counts: commands `*`: denied"), "{shown}");
    let prompt = setup.run("modes show ask --prompt").out;
    assert!(prompt.contains("You may read: ") && !prompt.contains("You may run: "), "{prompt}");
    assert!(setup.run("modes show code --prompt").out.contains("You may run: "));
}

#[test]
fn validate_keeps_folders_and_reads_what_can_be_imported() {
    let broken =
        "customModes:\n  - slug: a b\n    name: A\n    roleDefinition: R\n    groups: []\n";
    let good = broken.replace("a b", "a").replace("[]", "[read, browser]");
    let setup = Setup::new()
        .file("one/.roomodes", broken)
        .file("two/.roomodes", &good)
        .file("export.yaml", &good)
        .file("other/.roomodes", "modes: []\n")
        .file("list/.kilocodemodes", "{\"modes\": []}\n")
        .file("three/.roo/commands/x.md", "---\nmode: [\n---\n");
    let ran = setup.run("modes validate one/.roomodes two/.roomodes");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.out.contains("error: one/.roomodes:2:11") && ran.out.contains("two/.roomodes: a\n")
    );
    let (checked, imported) =
        (setup.run("modes validate export.yaml"), setup.run("modes import export.yaml --dry-run"));
    assert_eq!((checked.code, imported.code), (Some(0), Some(0)), "{checked:?} {imported:?}");
    for misshapen in ["other/.roomodes", "list/.kilocodemodes"] {
        let ran = setup.run(&format!("modes validate {misshapen}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.out.contains("no `customModes` at the top"), "{ran:?}");
    }
    let command = setup.run("commands validate three/.roo/commands/x.md");
    assert!(command.out.contains("three/.roo/commands/x.md"), "{command:?}");
}

#[test]
fn a_new_mode_says_whose_place_it_takes_and_keeps_its_slug() {
    let kilo = "[\n  {\n    \"slug\": \"k\",\n    \"name\": \"K\",\n    \"role\": \"You k\",\n    \
                \"description\": \"Ks\",\n    \"tools\": [\n      \"read\"\n    ]\n  }\n]\n";
    let setup = setup().file(".kilocodemodes", kilo);
    let over = run(&setup, &["create", "k", "--role", "x"]);
    assert!(
        over.code == Some(0)
            && over.err.contains("takes the place of mode `k` of `.kilocodemodes`"),
        "{over:?}"
    );
    let under = run(&setup, &["create", "docs", "--role", "x", "--file", ".kilocodemodes"]);
    assert!(
        under.err.contains("has no effect: mode `docs` of `.locum/modes.yml` takes its place"),
        "{under:?}"
    );
    let builtin = run(&setup, &["create", "code", "--role", "x"]);
    assert!(
        builtin.err.contains("takes the place of mode `code` of the built-in modes"),
        "{builtin:?}"
    );
    let limited = run(
        &setup,
        &[
            "create",
            "new",
            "--role",
            "You write",
            "--groups",
            "read,edit",
            "--edit-only",
            "^x/",
            "--file",
            ".kilocodemodes",
        ],
    );
    assert_eq!((limited.code, limited.err.as_str()), (Some(0), ""), "{limited:?}");
    let written: serde_json::Value = serde_json::from_str(&read(&setup, ".kilocodemodes")).unwrap();
    assert_eq!(
        written[2],
        serde_json::json!({
            "slug": "new", "name": "new", "role": "You write", "description": "You write",
            "tools": ["read", "edit"], "fileRestrictions": ["^x/"],
        })
    );
    let renamed = run(&setup, &["update", "docs", "--set", "slug=other"]);
    assert!(
        renamed.code == Some(2) && renamed.err.contains("a mode keeps its slug"),
        "{renamed:?}"
    );
    assert_eq!(run(&setup, &["update", "docs", "--set", "slug=docs", "--name", "D"]).code, Some(0));
}
