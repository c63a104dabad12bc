//! `web_search` through the binary: who is offered it, which queries the policy refuses, and that
//! the engine's key is shown nowhere.

use crate::support::stage::{Ran, Stage};
use pretty_assertions::assert_eq;
use serde_json::Value;

const KEY: &str = "brave-key-0123456789";

const POLICY: &str = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: ['read(**)', 'search(rust *)']\n  - deny: 'search(**project x**)'\n";

/// Runs with these settings of the repository and these variables.
fn run(stage: &Stage, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let script = stage.path("script.yml");
    let given = ["run", "Do the task.", "--script", script.to_str().unwrap()];
    let mut command = stage.locum(&[given.as_slice(), arguments].concat());
    let output = command.envs(variables.iter().copied()).output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn stage(policy: &str, config: &str) -> Stage {
    let stage = Stage::with(&[(".locum/policy.yml", policy), (".locum/config.yml", config)]);
    stage.write(
        "script.yml",
        "version: 1\ntasks:\n  - turns:\n      - calls:\n          - { tool: web_search, args: { query: \
         'rust project x' } }\n          - { tool: search_web, args: { query: 'python' } }\n          - \
         { tool: web_search, args: { query: 'rust brave-key-0123456789' } }\n      - calls: [{ tool: \
         attempt_completion, args: { result: ok } }]\n",
    );
    stage
}

/// Returns whether a plan offers the tool, and what it notes about it.
fn planned(policy: &str, config: &str, variables: &[(&str, &str)]) -> (bool, String) {
    plan_of(&stage(policy, config), variables)
}

fn plan_of(stage: &Stage, variables: &[(&str, &str)]) -> (bool, String) {
    let ran = run(stage, variables, &["--dry-run", "--output-format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{ran:?}");
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    let plan = plan.get("plan").unwrap_or(&plan);
    let offered = plan["tools"].as_array().unwrap().iter().any(|tool| tool == "web_search");
    let notes: Vec<&str> = plan["notes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|note| note.contains("web_search"))
        .collect();
    (offered, notes.join("\n"))
}

#[test]
fn the_tool_is_offered_where_an_engine_can_be_asked_and_a_rule_allows_some_query() {
    let key = [("BRAVE_API_KEY", KEY)];
    let brave = "web_search: { engine: brave }\n";
    let none =
        "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - allow: 'read(**)'\n";
    let searxng = "web_search: { engine: searxng, url: 'https://searx.example.org' }\n";
    let inside = "web_search: { engine: searxng, url: 'http://127.0.0.1:8080' }\n";
    let moved = "web_search: { engine: brave, url: 'https://evil.example.org' }\n";
    for (policy, config, variables, offered, note) in [
        (POLICY, brave, key.as_slice(), true, ""),
        (POLICY, searxng, &[], true, ""),
        (none, brave, &key, false, ""),
        (POLICY, "language: German\n", &key, false, ""),
        (POLICY, brave, &[], false, "`BRAVE_API_KEY` is not set"),
        (POLICY, inside, &[], false, "cannot be asked"),
        (POLICY, moved, &key, false, "does not decide where a key goes"),
    ] {
        let (is_offered, noted) = planned(policy, config, variables);
        assert_eq!(is_offered, offered, "{config}{noted}");
        assert!(noted.contains(note) && noted.is_empty() == note.is_empty(), "{config}{noted}");
    }
}

#[test]
fn a_repository_does_not_take_the_key_of_the_users_file_to_another_engine() {
    let tavily = "web_search: { engine: tavily, api_key_env: MY_KEY }\n";
    let gate = "web_search: { engine: tavily, url: 'https://gate.example.org' }\n";
    let brave = "web_search: { engine: brave }\n";
    let plain = "language: German\n";
    let by_variable = |name, value| [("MY_KEY", KEY), ("TAVILY_API_KEY", KEY), (name, value)];
    let key = by_variable("BRAVE_API_KEY", KEY);
    let named = by_variable("LOCUM_WEB_SEARCH__API_KEY_ENV", "MY_KEY");
    let chosen = by_variable("LOCUM_WEB_SEARCH__ENGINE", "tavily");
    let note = "set `LOCUM_WEB_SEARCH__ENGINE` in the workflow instead of `web_search.engine`";
    for (own, config, variables, refused) in [
        (tavily, plain, key, ""),
        (tavily, brave, key, note),
        (tavily, brave, chosen, ""),
        (gate, plain, key, ""),
        (gate, brave, key, note),
        (plain, brave, key, ""),
        (plain, brave, named, ""),
    ] {
        let stage = stage(POLICY, config);
        stage.write("config/locum/config.yml", own);
        let (is_offered, noted) = plan_of(&stage, &variables);
        assert_eq!(is_offered, refused.is_empty(), "{own}{config}{noted}");
        let same = noted.contains(refused) && noted.is_empty() == refused.is_empty();
        assert!(same, "{own}{config}{noted}");
    }
}

#[test]
fn what_the_policy_refuses_is_not_asked_and_the_key_is_shown_nowhere() {
    let stage = stage(POLICY, "web_search: { engine: brave }\n");
    let ran = run(&stage, &[("BRAVE_API_KEY", KEY)], &["--output-format", "json"]);
    let answers = stage.answers();
    let texts: Vec<&str> = answers.iter().map(|(_, text)| text.as_str()).collect();
    let [refused, missing, secret, _] = texts.as_slice().try_into().unwrap();
    assert!(str::contains(refused, "denied by `search(**project x**)`"), "{refused}");
    assert!(str::contains(missing, "no rule allows `search(python)`"), "{missing}");
    assert!(str::contains(secret, "hold a secret"), "{secret}");
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{ran:?}");
    let journal: String = answers.iter().map(|(_, text)| text.as_str()).collect();
    assert!(!journal.contains(KEY), "{journal}");
}

#[test]
fn a_repository_does_not_name_the_variable_of_the_key() {
    let stage = stage(POLICY, "web_search: { engine: brave, api_key_env: GITHUB_TOKEN }\n");
    let ran = run(&stage, &[("GITHUB_TOKEN", KEY)], &["--dry-run"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("web_search.api_key_env"), "{ran:?}");
}
