//! Layers merged: which value wins, where it came from, and every mistake.

use super::{ConfigFile, FlagValue, Layers, load};
use crate::config::environment::Environment;
use crate::config::settings::{Publish, Settings};
use crate::config::source::ConfigErrors;
use locum_agent::session::outcome::OutcomeWord;
use pretty_assertions::assert_eq;
use std::path::PathBuf;

fn file(origin: &str, text: &str) -> ConfigFile {
    ConfigFile { origin: origin.to_owned(), text: text.to_owned() }
}

fn read(
    user: &str,
    repository: &str,
    pairs: &[(&str, &str)],
    flags: &[FlagValue],
) -> Result<Settings, ConfigErrors> {
    let (user, repository) =
        (file("/h/.config/locum/config.yml", user), file(".locum/config.yml", repository));
    let environment = Environment::from_pairs(pairs.iter().copied());
    load(&Layers {
        user: Some(&user),
        repository: Some(&repository),
        environment: &environment,
        flags,
    })
}

fn mistakes_of(result: Result<Settings, ConfigErrors>) -> Vec<String> {
    let hint = |hint: Option<String>| hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    result
        .unwrap_err()
        .0
        .into_iter()
        .map(|error| format!("{}{}", error.headline(), hint(error.hint.clone())))
        .collect()
}

#[test]
fn a_stronger_layer_wins_and_every_value_knows_its_place() {
    let flag =
        FlagValue { flag: "--mode".to_owned(), key: "mode".to_owned(), value: "debug".to_owned() };
    let (user, repository) = (
        "mode: ask\nbudget: {turns: 9, files: 3}\n",
        "# settings\nmode: code\nbudget:\n  turns: 5\n",
    );
    let check = |pairs: &[(&str, &str)], flags: &[FlagValue], mode: &str, place: &str| {
        let settings = read(user, repository, pairs, flags).unwrap();
        assert_eq!(settings.values.mode.as_deref(), Some(mode));
        assert_eq!(settings.source("mode").unwrap().to_string(), place);
        assert_eq!(
            settings.source("budget.turns").unwrap().to_string(),
            "repository .locum/config.yml:4"
        );
        assert_eq!(
            settings.source("budget.files").unwrap().to_string(),
            "user /h/.config/locum/config.yml:2"
        );
    };
    check(&[], &[], "code", "repository .locum/config.yml:2");
    check(&[("INPUT_MODE", "review")], &[], "review", "environment INPUT_MODE");
    check(&[("INPUT_MODE", "review"), ("LOCUM_MODE", "ask")], &[], "ask", "environment LOCUM_MODE");
    check(&[("LOCUM_MODE", "ask")], &[flag], "debug", "flag --mode");
    check(&[("LOCUM_MODE", ""), ("INPUT_MODE", "")], &[], "code", "repository .locum/config.yml:2");
}

#[test]
fn reads_every_kind_from_every_layer() {
    let text = "models:\n  profiles:\n    fast: {model: small, temperature: 0.5, price: \
                {input: 1, output: 2.5}}\n  pointers: {main: fast}\nfail_on: [failed, \
                on-hold]\nbudget: {tokens: 2M}\n";
    let settings = read(
        "",
        text,
        &[
            ("LOCUM_MODELS__PROFILES__FAST__MODEL", "tiny"),
            ("LOCUM_PUBLISH", "none"),
            ("INPUT_MAX-COST-USD", "2"),
        ],
        &[],
    );
    let settings = settings.unwrap();
    let values = &settings.values;
    let fast = values.models.profiles.get("fast").unwrap();
    assert_eq!(
        (fast.model.as_str(), fast.temperature, fast.price.unwrap().output),
        ("tiny", Some(0.5), 2.5)
    );
    assert_eq!(
        (values.publish, values.budget.tokens, values.budget.cost_usd),
        (Some(Publish::None), Some(2_000_000), Some(2.0))
    );
    assert_eq!(values.fail_on, Some(vec![OutcomeWord::Failed, OutcomeWord::OnHold]));
    let by_repository: Vec<String> = settings.models_from_repository().into_iter().collect();
    let expected = [
        "pointers.main",
        "profiles.fast.price.input",
        "profiles.fast.price.output",
        "profiles.fast.temperature",
    ];
    assert_eq!(by_repository, expected);
    let by_variable = read("", "", &[("LOCUM_FAIL_ON", "failed, refused")], &[]).unwrap();
    assert!(
        by_variable.fails_on(OutcomeWord::Refused) && !by_variable.fails_on(OutcomeWord::OnHold)
    );
}

#[test]
fn tells_every_mistake_of_every_layer_at_once() {
    let repository = "mod: code\nbudget: {turns: many, diff_lins: 3}\nstate_dir: /tmp\nmodel: \
                      x\nmodels: {profiles: {a b: {}, c: {temperature: 9}}}\nmode: [a]\n";
    let pairs = [
        ("LOCUM_MDOE", "code"),
        ("LOCUM_BUDGET__TURNS", "0.1"),
        ("INPUT_PUBLISH", "locl"),
        ("LOCUM_LOG", "debug"),
        ("LOCUM_X", ""),
    ];
    let flags = [FlagValue {
        flag: "--max-turns".to_owned(),
        key: "budget.turns".to_owned(),
        value: "0".to_owned(),
    }];
    assert_eq!(
        mistakes_of(read("mode: code\nmode: ask\n", repository, &pairs, &flags)),
        [
            "/h/.config/locum/config.yml:2:1: duplicate key `mode`",
            ".locum/config.yml:1:1: unknown key `mod` (did you mean `mode`?)",
            ".locum/config.yml:2:17: `budget.turns` must be a whole number such as `400`, \
             `20k` or `2M`, not text",
            ".locum/config.yml:2:23: unknown key `diff_lins` (did you mean `diff_lines`?)",
            ".locum/config.yml:3:1: a repository may not set `state_dir` (set it in the \
             user's own configuration or in the environment)",
            ".locum/config.yml:4:1: a file may not set `model` (set it with LOCUM_MODEL or a \
             flag)",
            ".locum/config.yml:5:21: `a b` is not a valid name: use letters, digits, `-` and `_`",
            ".locum/config.yml:5:47: `models.profiles.c.temperature` must be a number from 0 \
             to 2",
            ".locum/config.yml:6:7: `mode` must be text, not a list",
            "INPUT_PUBLISH: `publish` cannot be `locl` (did you mean `local`?)",
            "LOCUM_BUDGET__TURNS: `budget.turns` must be a whole number such as `400`, `20k` \
             or `2M`, not `0.1`",
            "LOCUM_MDOE: no setting has this name (did you mean LOCUM_MODE?)",
            "--max-turns: `budget.turns` must be from 1 to 4294967295",
        ]
    );
}

#[test]
fn what_long_requests_cost_is_read_whole_or_not_at_all() {
    let price = |above: &str| {
        format!(
            "models: {{profiles: {{p: {{model: m, price: {{input: 1, output: 2, above: \
             {above}}}}}}}}}"
        )
    };
    let settings = read("", &price("{tokens: 200k, input: 3, output: 4}"), &[], &[]).unwrap();
    let long = settings.values.models.profiles["p"].price.unwrap().above.unwrap();
    assert_eq!((long.tokens, long.input, long.output, long.cached_read), (200_000, 3.0, 4.0, None));
    assert_eq!(
        mistakes_of(read("", &price("{tokens: 200k, input: 3}"), &[], &[])),
        [".locum/config.yml:1: `models.profiles.p.price.above.output` is missing"]
    );
}

#[test]
fn a_profile_needs_a_model_from_some_layer() {
    assert_eq!(
        mistakes_of(read(
            "",
            "models:\n  profiles:\n    fast:\n      temperature: 1\n      price: {input: 1}\n",
            &[],
            &[]
        )),
        [
            ".locum/config.yml:4: `models.profiles.fast.model` is missing",
            ".locum/config.yml:5: `models.profiles.fast.price.output` is missing"
        ]
    );
    let both = read(
        "models: {profiles: {fast: {model: m}}}",
        "models: {profiles: {fast: {temperature: 1}}}",
        &[],
        &[],
    )
    .unwrap();
    let rows = both.rows();
    let from = |key: &str| {
        rows.iter()
            .find(|row| row.key == key)
            .and_then(|row| Some((row.value.clone(), row.source.as_ref()?.to_string())))
    };
    assert_eq!(
        from("models.profiles.fast.model"),
        Some(("m".into(), "user /h/.config/locum/config.yml:1".into()))
    );
    assert_eq!(
        from("models.profiles.fast.temperature"),
        Some((1.0.into(), "repository .locum/config.yml:1".into()))
    );
}

#[test]
fn a_repository_decides_nothing_about_keys_tokens_and_records() {
    for key in [
        "state_dir: /x",
        "session_dir: /x",
        "forge: {api_url: 'https://evil.example'}",
        "forge: {token_env: AWS_KEY}",
    ] {
        assert!(
            mistakes_of(read("", key, &[], &[]))
                .first()
                .is_some_and(|message| message.contains("a repository may not set")),
            "{key}"
        );
        assert!(read(key, "", &[], &[]).is_ok(), "{key}");
    }
}

#[test]
fn folders_of_settings_and_variables_are_whole_paths_and_those_of_flags_need_not_be() {
    for folder in ["sess", "~/sess", "./sess", "~"] {
        for key in ["session_dir", "state_dir"] {
            let variable = format!("LOCUM_{}", key.to_ascii_uppercase());
            let cure = "write the whole path, from `/`; `~` is not expanded";
            let file = "/h/.config/locum/config.yml:1:";
            let mistakes = mistakes_of(read(&format!("{key}: {folder:?}\n"), "", &[], &[]));
            assert!(mistakes[0].starts_with(file) && mistakes[0].contains(cure), "{mistakes:?}");
            assert_eq!(
                mistakes_of(read("", "", &[(&variable, folder)], &[])),
                [format!("{variable}: `{key}` is not an absolute path ({cure})")]
            );
        }
    }
    let flag = FlagValue::new("--session-dir", "session_dir", "sess");
    let settings = read("state_dir: /s\n", "", &[], &[flag]).unwrap();
    assert_eq!(settings.session_folder(), Ok(PathBuf::from("sess")));
    assert_eq!(settings.values.state_dir, Some(PathBuf::from("/s")));
}

#[test]
fn a_variable_keeps_the_case_of_a_name_of_the_users_own_at_its_end() {
    let pairs = [
        ("LOCUM_MCP__X__COMMAND", "srv"),
        ("LOCUM_MCP__X__ENV__MY_FLAG", "1"),
        ("LOCUM_MCP__X__ENV__other", "2"),
        ("LOCUM_MCP__Y__URL", "https://y.example"),
        // A header is the same in whatever case: the variable counts in place of the file.
        ("LOCUM_MCP__Y__HEADERS__AUTHORIZATION", "Bearer new"),
    ];
    let file = "mcp: { y: { url: 'https://y.example', headers: { authorization: Bearer old } } }\n";
    let settings = read(file, "", &pairs, &[]).unwrap();
    let of = |group: &str| {
        settings.set.keys().filter(|key| key.contains(group)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(of(".env."), ["mcp.x.env.MY_FLAG", "mcp.x.env.other"]);
    assert_eq!(of(".headers."), ["mcp.y.headers.authorization"]);
}

#[test]
fn finds_a_place_for_sessions() {
    let folder = |pairs: &[(&str, &str)]| read("", "", pairs, &[]).unwrap().session_folder();
    assert_eq!(folder(&[("HOME", "/h")]), Ok(PathBuf::from("/h/.local/state/locum/sessions")));
    assert_eq!(
        folder(&[("HOME", "/h"), ("LOCUM_STATE_DIR", "/s")]),
        Ok(PathBuf::from("/s/sessions"))
    );
    assert_eq!(folder(&[("HOME", "/h"), ("LOCUM_SESSION_DIR", "/e")]), Ok(PathBuf::from("/e")));
    assert!(
        folder(&[])
            .is_err_and(|error| error.hint.is_some_and(|hint| hint.contains("LOCUM_STATE_DIR")))
    );
}

#[test]
fn empty_files_set_nothing_and_secrets_are_not_shown() {
    assert_eq!(read("", "# nothing\n", &[], &[]).unwrap().values.mode, None);
    let text = "models: {profiles: {p: {model: m, base_url: 'https://me:pass@host/', headers: \
                {X-Token: secret}}}}";
    let rows = read(text, "", &[], &[]).unwrap().rows();
    let shown = |key: &str| rows.iter().find(|row| row.key == key).map(|row| row.value.clone());
    assert_eq!(shown("models.profiles.p.headers.X-Token"), Some("***".into()));
    assert_eq!(shown("models.profiles.p.base_url"), Some("***".into()));
    assert_eq!(shown("models.profiles.p.model"), Some("m".into()));
    assert_eq!(shown("mode"), Some(serde_json::Value::Null));
}

#[test]
fn a_server_that_the_user_defines_is_the_users_as_a_whole() {
    let user =
        "mcp: { tickets: { url: 'https://mine.example', headers: { Authorization: key } } }\n";
    let repository = "mcp:\n  tickets: { url: 'https://theirs.example', timeout: 5 }\n  \
                      other: { url: 'https://other.example' }\n";
    let settings = read(user, repository, &[("LOCUM_MCP__TICKETS__TIMEOUT", "7")], &[]).unwrap();
    let source = |key: &str| settings.source(key).map(|source| source.layer.as_str());
    assert_eq!(source("mcp.tickets.url"), Some("user"), "it gets the user's header");
    assert_eq!(source("mcp.tickets.timeout"), Some("environment"));
    assert_eq!(source("mcp.other.url"), Some("repository"));
    let of_repository = read("mode: ask\n", repository, &[], &[]).unwrap();
    let url = of_repository.source("mcp.tickets.url").unwrap();
    assert_eq!(url.layer.as_str(), "repository");
}

#[test]
fn a_compatible_server_has_a_word_and_has_to_be_named() {
    let profile = |more: &str| {
        format!("models: {{ profiles: {{ p: {{ provider: custom-openai, model: m{more} }} }} }}\n")
    };
    let settings = read("", &profile(", base_url: http://h/v1"), &[], &[]).unwrap();
    assert_eq!(settings.values.models.profiles["p"].provider.as_str(), "openai");
    let mistakes = mistakes_of(read("", &profile(""), &[], &[]));
    assert_eq!(mistakes, [".locum/config.yml:1: `models.profiles.p.base_url` is missing"]);
}
