//! What variables mean, and which of their values are secret.

use super::Environment;
use pretty_assertions::assert_eq;
use std::path::PathBuf;

#[test]
fn knows_action_inputs_in_every_spelling() {
    for name in ["INPUT_MAX-TURNS", "INPUT_MAX_TURNS", "INPUT_max-turns"] {
        assert_eq!(
            Environment::from_pairs([(name, "3")]).get("INPUT_MAX_TURNS"),
            Some("3"),
            "{name}"
        );
    }
}

#[test]
fn a_key_comes_through_an_open_file() {
    use std::io::{Seek as _, Write as _};
    use std::os::fd::AsRawFd as _;
    let passing = |content: &str| {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file.rewind().unwrap();
        file
    };
    let (key, empty) = (passing("sk-through-a-file\n"), passing("\n"));
    let with = |list: String, more: &[(&str, &str)]| {
        let pairs = more.iter().copied().chain([("LOCUM_KEY_FDS", list.as_str())]);
        Environment::from_pairs(pairs).with_passed_keys()
    };
    let taken = with(format!("MY_KEY={}", key.as_raw_fd()), &[]).unwrap();
    assert_eq!(
        (taken.get("MY_KEY"), taken.get("LOCUM_KEY_FDS")),
        (Some("sk-through-a-file"), None)
    );
    assert!(taken.secrets().iter().any(|secret| secret.expose() == "sk-through-a-file"));
    for (list, more) in [
        (format!("MY_KEY={}", empty.as_raw_fd()), &[][..]),
        (format!("MY_KEY={}", key.as_raw_fd()), &[("MY_KEY", "set")]),
        ("MY_KEY=60000".to_owned(), &[]),
        ("MY_KEY=0".to_owned(), &[]),
        ("MY_KEY".to_owned(), &[]),
        ("MY KEY=9".to_owned(), &[]),
    ] {
        let error = with(list.clone(), more).unwrap_err();
        assert!(
            error.origin == "LOCUM_KEY_FDS" && !error.message.contains("sk-"),
            "{list}: {error:?}"
        );
    }
    assert_eq!(
        Environment::from_pairs([("A", "b")]).with_passed_keys().unwrap().get("A"),
        Some("b")
    );
}

#[test]
fn a_filled_input_stands_in_for_its_variable_and_an_empty_one_does_not() {
    let filled =
        Environment::from_pairs([("INPUT_API-KEY", "given"), ("OPENAI_API_KEY", "ambient")]);
    assert_eq!((filled.get("OPENAI_API_KEY"), filled.get("INPUT_API_KEY")), (Some("given"), None));
    let empty = Environment::from_pairs([("INPUT_API_KEY", ""), ("OPENAI_API_KEY", "ambient")]);
    assert_eq!(empty.get("OPENAI_API_KEY"), Some("ambient"));
}

#[test]
fn the_key_of_the_action_tells_its_provider_where_no_model_is_named() {
    for (key, variable) in [
        ("sk-ant-api03-x", "ANTHROPIC_API_KEY"),
        ("AIzaSyX", "GEMINI_API_KEY"),
        ("sk-proj-x", "OPENAI_API_KEY"),
    ] {
        let environment = Environment::from_pairs([("INPUT_API-KEY", key), ("INPUT_MODEL", "")]);
        assert_eq!(environment.get(variable), Some(key));
    }
    let named = Environment::from_pairs([("INPUT_API-KEY", "sk-ant-x"), ("INPUT_MODEL", "gpt-5")]);
    assert_eq!(named.get("OPENAI_API_KEY"), Some("sk-ant-x"), "a name counts more");
}

#[test]
fn the_key_of_the_action_belongs_to_the_provider_that_the_model_is_named_with() {
    for (model, key, url) in [
        ("anthropic:claude-opus-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("gemini:gemini-3-pro", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
        ("openai-responses:gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("gpt-5", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("llama3:8b", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ] {
        for variable in ["INPUT_MODEL", "LOCUM_MODEL"] {
            let pairs = [
                (variable, model),
                ("INPUT_API-KEY", "given"),
                ("INPUT_BASE-URL", "https://gate.example"),
            ];
            let environment = Environment::from_pairs(pairs);
            let held: Vec<&str> = environment
                .variables()
                .keys()
                .map(String::as_str)
                .filter(|name| *name != variable)
                .collect();
            let mut expected = [key, url];
            expected.sort_unstable();
            assert_eq!(held, expected, "{variable}={model}");
        }
    }
}

#[test]
fn secrets_are_known_by_name_and_none_is_forgotten_for_an_input() {
    let pairs = [
        ("INPUT_GITHUB_TOKEN", "given"),
        ("GITHUB_TOKEN", "ambient"),
        ("MY_PASSWORD", "p"),
        ("LANG", "C"),
        ("EMPTY_TOKEN", ""),
        ("https_proxy", "http://me:a%2Db@proxy:3128"),
        ("ALL_PROXY", "me:pw@proxy:3128"),
        ("HTTP_PROXY", "http://me@proxy:3128"),
    ];
    let mut secrets: Vec<String> = Environment::from_pairs(pairs)
        .secrets()
        .iter()
        .map(|secret| secret.expose().to_owned())
        .collect();
    secrets.sort();
    assert_eq!(secrets, ["a%2Db", "a-b", "ambient", "given", "p", "pw", "pw"]);
}

#[test]
fn an_empty_variable_is_not_set() {
    assert_eq!(Environment::from_pairs([("LOCUM_MODE", "")]).get("LOCUM_MODE"), None);
}

#[test]
fn finds_the_folders() {
    let check = |pairs: &[(&str, &str)], config: Option<&str>, state: Option<&str>| {
        let environment = Environment::from_pairs(pairs.iter().copied());
        assert_eq!(environment.config_folder(), config.map(PathBuf::from), "{pairs:?}");
        assert_eq!(environment.state_folder(), state.map(PathBuf::from), "{pairs:?}");
    };
    check(&[], None, None);
    check(&[("HOME", "/h")], Some("/h/.config/locum"), Some("/h/.local/state/locum"));
    check(
        &[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s")],
        Some("/c/locum"),
        Some("/s/locum"),
    );
    check(
        &[("HOME", "/h"), ("XDG_CONFIG_HOME", "relative")],
        Some("/h/.config/locum"),
        Some("/h/.local/state/locum"),
    );
    check(&[("HOME", "/h"), ("RUNNER_TEMP", "/r")], Some("/h/.config/locum"), Some("/r/locum"));
}

#[test]
fn never_shows_a_value() {
    let shown = format!("{:?}", Environment::from_pairs([("OPENAI_API_KEY", "sk-very-secret")]));
    assert_eq!(shown, "{\"OPENAI_API_KEY\"}");
}
