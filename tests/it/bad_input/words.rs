//! Mistakes of a command line and of files: what is said names the cause and what to do.

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::stage::{ACTION, Ran, Stage};

#[test]
fn a_mistyped_word_or_number_is_answered_with_what_was_probably_meant() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    for (words, expected) in [
        (&["rnu"][..], "hint: did you mean `run`?"),
        (&["polcy"], "a similar subcommand exists: 'policy'"),
        (&["session", "sohw"], "a similar subcommand exists: 'show'"),
        (&["run", "x", "--mode", "cdoe"], "hint: did you mean `code`? known: "),
        (&["run", "x", "--mode", "nope"], "hint: known: "),
        (&["run", "x", "--max-cost-usd", "-3"], "'-3' for '--max-cost-usd <USD>': an amount in US"),
        (&["run", "x", "--max-turns", "-3"], "a limit is a whole number such as 400, 20k or 2M"),
        (&["run", "x", "--max-turns", "9999M"], "a limit is a whole number such as"),
        (&["job", "due", "--at", "yesterday"], "`yesterday` is not a time\nhint: write it in UTC"),
    ] {
        let ran = stage.run(words);
        assert!(ran.code == Some(2) && ran.err.contains(expected), "{words:?}: {ran:?}");
    }
    let far = stage.run(&["frobnicate"]);
    assert!(!far.err.contains("did you mean"), "{far:?}");
}

#[test]
fn a_demo_without_cargo_says_so_before_it_begins() {
    let stage = Stage::empty();
    let ran: Ran = stage.locum(&["demo"]).env("PATH", "/nowhere").output().unwrap().into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("there is no `cargo`\nhint: install Rust"), "{ran:?}");
}

#[test]
fn a_mode_file_that_is_markdown_is_told_what_yaml_is() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    for text in ["# Modes\n\nOur modes: `code`\nand others\n", "customModes: []\ntext: a\nfoo\n"] {
        stage.write("checkout/.roomodes", text);
        let ran = stage.run(&["modes", "validate", ".roomodes"]);
        assert!(
            ran.code == Some(2) && ran.out.contains("text such as Markdown goes into a value"),
            "{text}: {ran:?}"
        );
    }
}

#[test]
fn with_logs_in_json_every_line_is_an_object() {
    let script = "version: 1\ntasks: [{ turns: [{ calls: [{ tool: attempt_completion, args: { \
                  result: ok } }] }] }]\n";
    let stage = Stage::with(&[("README.md", "# It\n"), ("script.yml", script)]);
    stage.write("checkout/.locumignore", "x\n");
    for (words, code) in [
        (&["run", "x", "--mode", "code", "--script", "script.yml"][..], 0),
        (&["run", "x", "--mode", "nope", "--script", "script.yml"], 2),
    ] {
        let ran = stage.run(&[&["--log-format", "json"], words].concat());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let lines: Vec<Value> = ran
            .err
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        assert!(
            !lines.is_empty() && lines.iter().all(|line| line["message"].is_string()),
            "{ran:?}"
        );
    }
}

#[test]
fn doctor_judges_the_machine_and_the_repository() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let run = |stage: &Stage| -> Ran {
        let keys = [("LOCUM_MODEL", "gpt-4.1"), ("OPENAI_API_KEY", "k")];
        stage.locum(&["doctor", "--json"]).envs(keys).output().unwrap().into()
    };
    let without = stage.run(&["doctor", "--json"]);
    let laptop = without.json()["laptop"].to_string();
    assert!(without.code == Some(2) && laptop.contains("no model is configured"), "{without:?}");
    let with = run(&stage);
    assert_eq!((with.code, &with.json()["laptop"]), (Some(0), &Value::Array(Vec::new())));
    let code = |place: &str| {
        let keys = [("LOCUM_MODEL", "gpt-4.1"), ("OPENAI_API_KEY", "k")];
        let words = ["doctor", "--for", place];
        stage.locum(&words).envs(keys).output().unwrap().status.code()
    };
    let codes = ["laptop", "action", "both"].map(code);
    assert_eq!(codes, [Some(0), Some(2), Some(2)], "it exits by what is asked for");
    let action = with.json()["action"].to_string();
    for part in ["has no `.locum/policy.yml`", "no workflow that uses Locum: `locum init`"] {
        assert!(action.contains(part), "{part}: {action}");
    }
    let unnamed = stage.run(&["init"]);
    assert!(unnamed.code == Some(2) && unnamed.err.contains("--action OWNER/NAME@COMMIT"));
    assert_eq!(stage.run(&["init", "--action", ACTION]).code, Some(0));
    let file = "checkout/.github/workflows/locum.yml";
    let written = stage.read(file);
    assert!(written.contains(&format!("uses: {ACTION}\n")), "{written}");
    stage.write(file, &written.replace(ACTION, "OWNER/locum@0000000"));
    stage.commit("what a release before wrote");
    let action = run(&stage).json()["action"].to_string();
    assert!(action.contains("holds a placeholder") && !action.contains("has no"), "{action}");
    stage.write(file, &written);
    stage.commit("a pin");
    assert_eq!(run(&stage).json()["action"], Value::Array(Vec::new()));
    stage.write(file, &written.replace("  issue_comment:", "  push:"));
    stage.commit("a workflow that hears less");
    let action = run(&stage).json()["action"].to_string();
    assert!(action.contains("`issue_comment` start something, but `.github/"), "{action}");
}

#[test]
fn doctor_asks_the_model_where_it_is_told_to() {
    let stage = Stage::with(&[("README.md", "# It\n")]);
    let reply = "version: 1\ntasks: [{ turns: [{ say: ready }] }]\n";
    let config = "models:\n  profiles:\n    fixed: { provider: scripted, model: script.yml }\n    \
                  gone: { provider: openai, model: m, base_url: 'http://127.0.0.1:1/v1' }\n  \
                  pointers: { main: fixed }\n";
    stage.write("checkout/script.yml", reply);
    stage.write("checkout/.locum/config.yml", config);
    stage.commit("a model");
    let answers = stage.run(&["doctor", "--probe", "--json"]);
    assert_eq!(answers.code, Some(0), "{answers:?}");
    assert!(answers.json()["probe"]["problem"].is_null(), "{answers:?}");
    stage.write("checkout/.locum/config.yml", &config.replace("main: fixed", "main: gone"));
    stage.commit("a model that is out of reach");
    let silent = stage.run(&["doctor", "--probe", "--json"]);
    let laptop = silent.json()["laptop"].to_string();
    assert!(silent.code == Some(2) && laptop.contains("127.0.0.1:1"), "{silent:?}");
}

#[test]
fn warnings_alike_are_one_line_with_their_number() {
    let agent = |name: &str| {
        format!("---\nname: {name}\ndescription: Helps\ntools: Read, Teleport\n---\nYou help.\n")
    };
    let texts = ["a", "b", "c"].map(agent);
    let stage = Stage::with(&[
        (".claude/agents/a.md", texts[0].as_str()),
        (".claude/agents/b.md", texts[1].as_str()),
        (".claude/agents/c.md", texts[2].as_str()),
        (
            "script.yml",
            "version: 1\ntasks: [{ turns: [{ calls: [{ tool: attempt_completion, args: { result: \
             ok } }] }] }]\n",
        ),
    ]);
    let ran = stage.run(&["run", "x", "--mode", "code", "--script", "script.yml"]);
    let lines: Vec<&str> =
        ran.err.lines().filter(|line| line.contains("part of a mode file has no effect")).collect();
    assert!(lines.len() == 1 && lines[0].contains("count=3"), "{ran:?}");
}

#[test]
fn one_broken_mode_file_stops_nothing_that_is_not_about_modes() {
    let stage = Stage::with(&[
        ("README.md", "# It\n"),
        (".roomodes", "customModes:\n  - slug: bad\n    groups: [teleport]\n"),
        (".roo/skills/look/SKILL.md", "---\nname: look\ndescription: Looks.\n---\nLook.\n"),
    ]);
    let run = stage.run(&["run", "x"]);
    assert!(run.code == Some(2) && run.err.contains("`mode_files: lenient` in"), "{run:?}");
    for (words, code, expected) in [
        (&["skills", "list"][..], 0, "look"),
        (&["skills", "show", "look"], 0, "Look."),
        (&["mcp", "list"], 0, "no MCP servers"),
        (&["policy", "explain", "edit(README.md)"], 0, "allow  edit(README.md)"),
        (&["policy", "init", "--stdout"], 0, "edit(README.md)"),
        (&["init", "--no-check", "--action", ACTION], 0, "wrote .locum/policy.yml"),
        // Whoever asks for modes gets those that can be read, and an exit code.
        (&["modes", "list"], 2, "orchestrator"),
        (&["modes", "list", "--json"], 2, "\"slug\": \"code\""),
        (&["modes", "show", "code"], 2, "from: builtin"),
        (&["modes", "export"], 2, "customModes:"),
    ] {
        let ran = stage.run(words);
        assert!(ran.code == Some(code) && ran.out.contains(expected), "{words:?}: {ran:?}");
        let left = " (and 2 more mistakes): the modes of this file are left out; no run starts \
                    with it\nhint: see `locum modes validate`";
        assert!(ran.err.contains("warning: .roomodes:2:5: `customModes.0"), "{words:?}: {ran:?}");
        assert!(ran.err.contains(left), "{words:?}: {ran:?}");
    }
    let absent = stage.run(&["modes", "show", "bad"]);
    assert!(absent.code == Some(2) && absent.err.contains("(and 2 more mistakes)"), "{absent:?}");
}

#[test]
fn a_group_as_a_mapping_is_told_the_pair() {
    let text = "customModes:\n  - slug: a\n    name: A\n    roleDefinition: R\n    groups:\n      - \
                edit: { fileRegex: x }\n";
    let stage = Stage::with(&[("README.md", "# It\n"), (".roomodes", text)]);
    let ran = stage.run(&["modes", "validate"]);
    let told = ".roomodes:6:9: `customModes.0.groups.0`: expected a group, found a mapping\n  6 \
                |       - edit: { fileRegex: x }\n    |         ^^^^\nhint: write a group with options as a pair: `- [edit, { fileRegex: ... }]`";
    assert!(ran.code == Some(2) && ran.out.contains(told), "{ran:?}");
}

#[test]
fn many_warnings_of_one_kind_are_one_line() {
    let mode = |number| {
        format!(
            "  - slug: m{number}\n    name: M\n    roleDefinition: R\n    groups: [read]\n    colour: red\n"
        )
    };
    let text: String = (0..97).map(mode).collect();
    let text = format!("customModes:\n{text}");
    let stage = Stage::with(&[("README.md", "# It\n"), (".roomodes", text.as_str())]);
    let ran = stage.run(&["modes", "list"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told = "warning: 97 x, first at .roomodes:6:5: `customModes.0.colour`: key `colour` has no effect\n";
    assert!(ran.err.starts_with(told) && ran.err.matches("colour").count() == 2, "{ran:?}");
}
