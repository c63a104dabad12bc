//! The binary as a person or a script meets it: results on stdout, talk on stderr, exit codes,
//! every mistake with its place.

mod checkout;
mod colour;
mod help;
mod json;
mod modes;
mod terminal;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use pretty_assertions::assert_eq;
use serde_json::Value;

/// A folder that is home, configuration and repository at once, and one for state beside it.
struct Setup(tempfile::TempDir, tempfile::TempDir);

impl Setup {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap())
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_locum"));
        command
            .args(words.split_whitespace())
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", self.0.path())
            .env("XDG_STATE_HOME", self.1.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &str) -> Run {
        self.command(words).output().unwrap().into()
    }
}

#[derive(Debug)]
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Run {
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

#[test]
fn help_is_a_result_and_a_wrong_flag_is_usage() {
    let setup = Setup::new();
    for words in ["--help", "run --help", "--version"] {
        let run = setup.run(words);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{words}");
        assert!(!run.out.is_empty(), "{words}");
    }
    for words in [
        "--bogus",
        "",
        "modes",
        "modes show",
        "policy explain",
        "--repo nowhere modes list",
        "completions klingon",
    ] {
        let run = setup.run(words);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{words}");
        assert!(!run.err.is_empty(), "{words}");
    }
}

#[test]
fn every_subcommand_with_json_prints_json() {
    let setup = Setup::new().file(
        ".config/locum/config.yml",
        "models: {profiles: {fast: {model: m, base_url: 'http://127.0.0.1:1/v1'}}}\n",
    );
    for words in [
        "config show",
        "modes list",
        "modes show code",
        "models list",
        "session list",
        "policy check",
    ] {
        let run = setup.run(&format!("{words} --json"));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{words}");
        assert!(!run.json().is_null(), "{words}");
        assert_eq!(setup.run(words).code, Some(0), "{words}");
    }
}

#[test]
fn settings_say_where_they_came_from() {
    let setup = Setup::new()
        .file(".config/locum/config.yml", "mode: ask\nbudget: {turns: 5}\n")
        .file(".locum/config.yml", "\nmode: code\n");
    let run: Run = setup
        .command("config show --json")
        .env("LOCUM_BUDGET__TURNS", "3")
        .output()
        .unwrap()
        .into();
    let shown = run.json();
    let pointer = |path: &str| shown.pointer(path).cloned();
    assert_eq!(
        pointer("/mode"),
        Some(serde_json::json!({ "value": "code", "source": "repository .locum/config.yml:2" }))
    );
    assert_eq!(
        pointer("/budget.turns"),
        Some(serde_json::json!({ "value": 3, "source": "environment LOCUM_BUDGET__TURNS" }))
    );
    assert_eq!(pointer("/publish/value"), Some(serde_json::Value::Null));
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let setup = Setup::new().file(".locum/config.yml", "mod: code\nbudget: {turns: many}\n");
    let run: Run =
        setup.command("config show").env("LOCUM_PUBLISH", "everywhere").output().unwrap().into();
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    let expected = [
        "error: .locum/config.yml:1:1: unknown key `mod`",
        "  1 | mod: code",
        "    | ^^^",
        "hint: did you mean `mode`?",
        "error: .locum/config.yml:2:17: `budget.turns` must be a whole number such as `400`, \
         `20k` or `2M`, not text",
        "  2 | budget: {turns: many}",
        "    |                 ^^^^",
        "error: LOCUM_PUBLISH: `publish` cannot be `everywhere`",
        "hint: one of: none, local, forge",
    ];
    assert_eq!(run.err.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_broken_mode_file_is_told_with_its_place_and_the_others_are_listed() {
    let setup = Setup::new().file(
        ".locum/modes.yml",
        "customModes:\n  - slug: Bad Slug\n    name: x\n    roleDefinition: y\n    groups: \
         [read]\n",
    );
    let run = setup.run("modes list");
    assert!(run.code == Some(2) && run.out.contains("code          builtin"), "{run:?}");
    assert!(run.err.starts_with("warning: .locum/modes.yml:2:"), "{}", run.err);
}

#[test]
fn a_mode_of_the_repository_is_listed_with_its_file() {
    let mode = "customModes:\n  - slug: docs\n    name: Docs\n    roleDefinition: You write.\n    \
                groups: [read, [edit, {fileRegex: '\\.md$'}]]\n";
    let setup = Setup::new().file(".locum/modes.yml", mode);
    let shown = setup.run("modes show docs --json").json();
    assert_eq!(shown.pointer("/file"), Some(&".locum/modes.yml".into()));
    let missing = setup.run("modes show dosc");
    assert_eq!(missing.code, Some(2));
    assert_eq!(missing.err, "error: SLUG: there is no mode `dosc`\nhint: did you mean `docs`?\n");
}

#[test]
fn without_a_model_the_three_variables_are_named() {
    let run = Setup::new().run("models list");
    assert_eq!(run.code, Some(2));
    for variable in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "LOCUM_MODEL"] {
        assert!(run.err.contains(variable), "{}", run.err);
    }
}

#[test]
fn a_key_is_used_and_never_shown() {
    let setup = Setup::new();
    for words in [
        "models list",
        "models list --json",
        "config show",
        "config show --json",
        "-vv models list",
    ] {
        let run: Run = setup
            .command(words)
            .env("OPENAI_API_KEY", "sk-very-secret-value")
            .env("LOCUM_MODEL", "gpt-4.1")
            .output()
            .unwrap()
            .into();
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(!run.out.contains("very-secret") && !run.err.contains("very-secret"), "{words}");
    }
}

#[test]
fn models_say_what_they_are_for_and_who_said_so() {
    let config = "models: { profiles: { careful: { model: gpt-5 }, cheap: { model: deepseek-chat, base_url: 'https://api.deepseek.com', price: { input: 1, output: 2 } }, odd: { model: nobody-knows, api_key_env: OPENAI_API_KEY } }, pointers: { main: [careful, cheap], quick: odd } }\n";
    let setup = Setup::new().file(".locum/config.yml", config);
    let keys =
        [("OPENAI_API_KEY", "sk-very-secret-value"), ("DEEPSEEK_API_KEY", "sk-another-secret")];
    let run = |words: &str, keys: &[(&str, &str)]| -> Run {
        setup.command(words).envs(keys.iter().copied()).output().unwrap().into()
    };
    let listed = run("models list --json", &keys).json();
    let used: Vec<_> =
        listed.as_array().unwrap().iter().map(|row| row["used_for"].to_string()).collect();
    assert_eq!(
        used,
        [r#"["main","task"]"#, r#"["main (fallback)","task (fallback)"]"#, r#"["quick"]"#]
    );
    let sources = |row: usize| {
        listed[row]["sources"]
            .as_object()
            .unwrap()
            .values()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(sources(0), ["\"catalogue\""; 3]);
    assert_eq!(sources(1), ["\"catalogue\"", "\"catalogue\"", "\"profile\""]);
    assert_eq!(sources(2), ["\"default\""; 3]);
    assert!(listed[2]["notes"].to_string().contains("is not in the catalogue"), "{listed}");
    // One model without its key is no fault of the others.
    let listed = run("models list --json", &keys[..1]);
    assert!(listed.err.contains("DEEPSEEK_API_KEY"), "{}", listed.err);
    let listed = listed.json();
    assert_eq!(
        (&listed[0]["problem"], &listed[0]["has_key"], listed[1]["problem"].is_string()),
        (&Value::Null, &true.into(), true)
    );
    assert_eq!(listed[1]["used_for"].to_string(), r#"["main (fallback)"]"#);
}

#[test]
fn a_known_model_is_made_cheaper_by_its_user_and_never_by_the_repository() {
    let config = "models: { profiles: { p: { provider: anthropic, model: claude-opus-5-5, price: \
                  { input: 0, output: 0 } } } }\n";
    for (path, input, is_noted) in
        [(".locum/config.yml", 4.0, true), (".config/locum/config.yml", 0.0, false)]
    {
        let setup = Setup::new().file(path, config);
        let mut listed = setup.command("models list --json");
        listed.env("ANTHROPIC_API_KEY", "sk-ant-of-a-test");
        let listed = Run::from(listed.output().unwrap()).json();
        assert_eq!(listed[0]["price"]["input"].as_f64(), Some(input), "{path}: {listed}");
        let notes = listed[0]["notes"].to_string();
        assert_eq!(notes.contains("below the catalogue"), is_noted, "{path}: {notes}");
    }
}

#[test]
fn a_number_of_tokens_to_think_is_an_error_where_a_protocol_takes_none() {
    let listed = |provider: &str, model: &str| {
        let profile = format!("{{ provider: {provider}, model: {model}, thinking_tokens: 9000 }}");
        let config = format!("models: {{ profiles: {{ p: {profile} }} }}\n");
        Setup::new().file(".locum/config.yml", &config).run("models list")
    };
    let taken = listed("anthropic", "claude-sonnet-4-5");
    assert!(!taken.err.contains("thinking_tokens") && taken.out.contains("claude-sonnet-4-5"));
    let refused = listed("openai", "gpt-5");
    let said = "`thinking_tokens`: provider `openai` takes no number of tokens to think";
    assert!(refused.err.contains(said), "{}{}", refused.out, refused.err);
}

#[test]
fn doctor_says_which_models_and_servers_a_run_has() {
    let config = "models: { profiles: { careful: { model: gpt-5 }, odd: { model: nobody-knows } \
                  }, pointers: { main: careful, quick: odd } }\n";
    let servers = r#"{ "mcpServers": { "clock": { "command": "clock-server" }, "other": { "command": "other-server" } } }"#;
    let policy = "version: 1\nrules:\n  - allow: [\"read(**)\", \"mcp(clock/*)\"]\n";
    let setup = Setup::new()
        .file(".locum/config.yml", config)
        .file(".mcp.json", servers)
        .file(".locum/policy.yml", policy);
    let run = |words: &str| -> Run {
        setup.command(words).env("OPENAI_API_KEY", "sk-very-secret-value").output().unwrap().into()
    };
    let found = run("doctor --json").json();
    let models: Vec<_> = found["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str(), &row["has_key"]))
        .collect();
    assert_eq!(models, [(Some("careful"), &Value::Bool(true)), (Some("odd"), &Value::Bool(true))]);
    let states: Vec<_> = found["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str(), row["state"].as_str()))
        .collect();
    assert_eq!(states, [(Some("clock"), Some("allowed")), (Some("other"), Some("refused"))]);
    let shown = run("doctor");
    assert!(
        shown.out.contains("main, task: gpt-5 at https://api.openai.com/v1 (openai); API key set"),
        "{}",
        shown.out
    );
    assert!(
        shown.out.contains("other: no rule is about tools of the server `other`"),
        "{}",
        shown.out
    );
    assert!(!shown.out.contains("very-secret") && !shown.err.contains("very-secret"));
    let without = Setup::new().file(".locum/config.yml", config).run("doctor");
    assert!(
        without.out.contains("`OPENAI_API_KEY`, which should hold the key, is not set"),
        "{}",
        without.out
    );
    let said = without.out.matches("which should hold the key").count();
    assert!(said == 1 && without.out.contains("no model: see above"), "{}", without.out);
}

#[test]
fn tokens_are_estimated_by_what_catalogue_or_profile_say() {
    let profile = |model: &str, more: &str| {
        format!(
            "{{ model: {model}, base_url: 'http://localhost:9/v1', context_window: 9000{more} }}"
        )
    };
    let config = format!(
        "models:\n  profiles:\n    listed: {}\n    told: {}\n    unknown: {}\n    turned: {}\n",
        profile("openai/gpt-5-2025-08-07", ""),
        profile("house-1", ", tokenizer: o200k"),
        profile("house-1", ""),
        profile("gpt-5", ", tokenizer: bytes"),
    );
    let setup = Setup::new().file(".config/locum/config.yml", &config);
    let run = |words: &str, model: &str| {
        Run::from(setup.command(words).env("LOCUM_MODEL", model).output().unwrap())
    };
    let rows = run("models list --json", "told").json();
    let tokenizers: Vec<(&str, &str)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["tokenizer"].as_str().unwrap()))
        .collect();
    assert_eq!(
        tokenizers,
        [("listed", "o200k"), ("told", "o200k"), ("turned", "bytes"), ("unknown", "bytes")]
    );
    let last =
        |model: &str| run("modes show code --prompt", model).out.lines().last().unwrap().to_owned();
    assert!(
        last("listed").starts_with("=== total about ")
            && last("listed").ends_with(", estimated with the vocabulary o200k")
    );
    for model in ["turned", "nobody-knows-it"] {
        assert!(
            last(model).ends_with(", estimated as a quarter of the bytes"),
            "{model}: {}",
            last(model)
        );
    }
    let told = |model: &str| {
        let shown = run("modes show code --prompt --json", model).json();
        // The role is the same for each of them; the tools are not.
        shown["sections"][0]["estimated_tokens"].as_u64().unwrap()
    };
    assert_eq!(told("told"), told("listed"));
    assert!(told("told") != told("unknown"));
    let bad = Setup::new()
        .file(
            ".config/locum/config.yml",
            "models: { profiles: { a: { model: b, tokenizer: o200 } } }\n",
        )
        .run("models list");
    assert_eq!(bad.code, Some(2));
    assert!(bad.err.contains("tokenizer") && bad.err.contains("o200k"), "{}", bad.err);
}

#[test]
fn a_reader_that_goes_away_is_no_fault_and_a_full_disk_is() {
    let setup = Setup::new();
    let mut child = setup
        .command("completions bash")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run: Run = child.wait_with_output().unwrap().into();
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let full = std::fs::OpenOptions::new().write(true).open(Path::new("/dev/full")).unwrap();
    let run: Run = setup
        .command("modes list")
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap()
        .into();
    assert_eq!(run.code, Some(1));
    assert!(run.err.starts_with("error: stdout: "), "{}", run.err);
}

#[test]
fn log_lines_are_json_where_asked_and_a_bad_filter_is_named() {
    let setup = Setup::new();
    let run: Run = setup.command("modes list").env("LOCUM_LOG", "a=b=c").output().unwrap().into();
    assert_eq!(run.code, Some(2));
    assert!(run.err.starts_with("error: LOCUM_LOG: "), "{}", run.err);
}

#[test]
fn the_policy_is_checked_and_explained() {
    let policy = "version: 1\nrules:\n  - allow: \"read(**)\"\n  - deny: \"edit(vendor/**)\"\n    \
                  reason: vendored\n";
    let setup =
        Setup::new().file(".locum/policy.yml", policy).file("bad.yml", "version: 1\nrulez: []\n");
    assert_eq!(setup.run("policy check").out, ".locum/policy.yml: ok\n");
    let bad = setup.run("policy check bad.yml");
    assert_eq!(bad.code, Some(2));
    assert!(
        bad.err.starts_with(
            "error: bad.yml:2:1: unknown key `rulez`\n  2 | rulez: []\n    | ^^^^^\nhint: did you \
             mean `rules`?"
        ),
        "{}",
        bad.err
    );
    let bad = setup.run("policy check bad.yml --json");
    assert_eq!(
        (bad.code, bad.json().pointer("/errors/0/line").cloned()),
        (Some(2), Some(2.into()))
    );
    for (intent, code) in [
        ("read(src/lib.rs)", 0),
        ("edit(vendor/a.c)", 4),
        ("read(src/lib.rs) edit(vendor/a.c)", 4),
        ("nonsense", 2),
    ] {
        assert_eq!(setup.run(&format!("policy explain {intent}")).code, Some(code), "{intent}");
    }
    let denied = setup.run("policy explain edit(vendor/a.c) --json").json();
    let expected = serde_json::json!([{
        "decision": "deny", "intent": "edit(vendor/a.c)", "rule": "edit(vendor/**)", "file": ".locum/policy.yml", "line": 4,
        "reason": "vendored", "nearest": null
    }]);
    assert_eq!(denied, expected);
}

#[test]
fn what_an_ignore_file_hides_no_policy_shows() {
    let policy = "version: 1\nrules:\n  - allow: [\"read(**)\", \"command(cat:*)\"]\n";
    let setup =
        Setup::new().file(".locum/policy.yml", policy).file(".rooignore", "# ours\nsecrets/\n");
    for (intent, code) in [("read(secrets/a)", 4), ("read(src/a)", 0)] {
        assert_eq!(setup.run(&format!("policy explain {intent}")).code, Some(code), "{intent}");
    }
    let denied = setup.run("policy explain read(secrets/a) --json").json();
    let place = ["/0/decision", "/0/file", "/0/line"]
        .map(|pointer| denied.pointer(pointer).unwrap().to_string());
    assert_eq!(place, ["\"deny\"", "\".rooignore\"", "2"]);
    let broken = setup.file(".kilocodeignore", "[z-a]\n").run("policy explain read(a)");
    assert!(
        broken.code == Some(2) && broken.err.starts_with("error: .kilocodeignore:1:1: "),
        "{broken:?}"
    );
}
