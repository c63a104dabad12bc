//! `locum config set` through the binary: what is written, what stays, and what is not written.

use pretty_assertions::assert_eq;

use crate::support::stage::{Ran, Stage};

const CONFIG: &str = "# How we work.\nmode: ask # for now\n\nbudget: { turns: 40 } # few\n";

fn set(stage: &Stage, words: &[&str]) -> Ran {
    stage.run(&[&["config", "set"], words].concat())
}

#[test]
fn a_setting_is_set_in_the_repository_or_for_the_user_and_comments_stay() {
    let stage = Stage::with(&[(".locum/config.yml", CONFIG)]);
    let text = || stage.read("checkout/.locum/config.yml");
    let shown = set(&stage, &["mode", "code", "--dry-run"]);
    assert!(shown.out.contains("+mode: code # for now") && text() == CONFIG, "{shown:?}");
    let ran = set(&stage, &["mode", "code"]);
    assert_eq!(ran.out, "set `mode` in .locum/config.yml\n", "{ran:?}");
    set(&stage, &["budget.turns", "50"]);
    set(&stage, &["context_files", "a.md, b.md"]);
    let expected = "# How we work.\nmode: code # for now\n\nbudget: { turns: 50 } # few\n\
                    context_files: [a.md, b.md]\n";
    assert_eq!(text(), expected);
    let found = set(&stage, &["publish", "local", "--json"]).json();
    assert_eq!((&found["set"]["publish"], &found["written"]), (&"local".into(), &true.into()));
    let found = set(&stage, &["mcp.x.url", "https://h/m", "mcp.x.headers.Key", "k", "--json"]);
    assert_eq!(found.json()["set"]["mcp.x.headers.Key"], "***");
    let price = ["models.profiles.p.price.input", "1", "models.profiles.p.price.output", "2.5"];
    let ran = set(&stage, &[&["models.profiles.p.model", "m"], &price[..]].concat());
    assert_eq!(ran.out.lines().count(), 3, "{ran:?}");
    let block = "models:\n  profiles:\n    p:\n      model: m\n      price:\n        input: 1\n        \
                 output: 2.5\n";
    assert!(text().ends_with(block), "{}", text());
    let ran = set(&stage, &["session_retention_days", "30", "--user"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let rows = stage.run(&["config", "show", "--json"]).json();
    let value = |key: &str| rows[key]["value"].clone();
    assert_eq!((value("budget.turns"), value("session_retention_days")), (50.into(), 30.into()));
    assert!(!text().contains("session_retention_days"));
}

#[test]
fn what_no_file_may_say_is_not_written() {
    let stage = Stage::with(&[(".locum/config.yml", CONFIG)]);
    for (words, said) in [
        (&["budget.turn", "4"][..], "did you mean `budget.turns`?"),
        (&["budget.turns", "many"], "`budget.turns`"),
        (&["budget.turns", "4", "mode"], "`mode` has no value"),
        (&["publish", "everywhere"], "`publish`"),
        (&["state_dir", "/tmp/x"], "a repository may not set `state_dir`"),
        (&["model", "m", "--user"], "a file may not set `model`"),
        (&["models.profiles.a b.model", "m"], "no setting is called"),
        (&["models.profiles.a.provider", "openai"], "`models.profiles.a.model` is missing"),
    ] {
        let ran = set(&stage, words);
        assert!(ran.code == Some(2) && ran.err.contains(said), "{words:?}: {ran:?}");
        assert_eq!(stage.read("checkout/.locum/config.yml"), CONFIG, "{words:?}");
    }
    stage.write("checkout/.locum/config.yml", "instructions: &a [\n");
    let broken = set(&stage, &["mode", "code"]);
    assert!(broken.code == Some(2) && broken.err.contains("without harm"), "{broken:?}");
    assert_eq!(stage.read("checkout/.locum/config.yml"), "instructions: &a [\n");
}
