//! Which engine the settings find, and where its key goes.

use std::collections::BTreeMap;

use super::{EngineApi, EngineKind, SearchEngine, SearchSettings, UrlAuthor};
use pretty_assertions::assert_eq;

const KEYS: [(&str, &str); 2] = [("BRAVE_API_KEY", "b-key"), ("MINE", "m-key")];

fn find(
    engine: EngineKind,
    url: Option<&str>,
    variable: Option<&str>,
    url_by: UrlAuthor,
) -> Result<(String, Option<String>), String> {
    let settings = SearchSettings {
        engine: Some(engine),
        url: url.map(str::to_owned),
        api_key_env: variable.map(str::to_owned),
        model: None,
    };
    let env: BTreeMap<String, String> =
        KEYS.map(|(name, key)| (name.to_owned(), key.to_owned())).into();
    let found = SearchEngine::find(&settings, &env, url_by)?.unwrap();
    Ok((found.url().to_string(), found.key().map(|key| key.expose().to_owned())))
}

#[test]
fn a_key_goes_to_the_engines_own_host_or_where_the_user_says() {
    use EngineKind::{Brave, Searxng, Tavily};
    use UrlAuthor::{Person, Repository, RepositoryEngine};
    let found = |url: &str, key: Option<&str>| Ok((url.to_owned(), key.map(str::to_owned)));
    let brave = "https://api.search.brave.com/res/v1";
    assert_eq!(find(Brave, None, None, Person), found(brave, Some("b-key")));
    assert_eq!(find(Brave, None, Some("MINE"), Person), found(brave, Some("m-key")));
    let other = "https://gate.example.org/brave";
    assert_eq!(find(Brave, Some(other), None, Person), found(other, Some("b-key")));
    let searxng = "https://searx.example.org/";
    assert_eq!(find(Searxng, Some(searxng), None, Repository), found(searxng, None));
    assert_eq!(find(Searxng, Some(searxng), None, RepositoryEngine), found(searxng, None));
    for (refused, why) in [
        (find(Brave, Some(other), None, Repository), "does not decide where a key goes"),
        (find(Brave, None, Some("MINE"), RepositoryEngine), "`LOCUM_WEB_SEARCH__ENGINE`"),
        (find(Brave, Some("http://gate.example.org"), None, Person), "is not encrypted"),
        (find(Brave, None, Some("GONE"), Person), "`GONE` is not set"),
        (find(Tavily, None, None, Person), "`TAVILY_API_KEY` is not set"),
        (find(Searxng, None, None, Person), "`web_search.url` is not set"),
        (find(Searxng, Some(searxng), Some("MINE"), Person), "SearXNG takes no key"),
        (find(Searxng, Some("http://127.0.0.1:8080"), None, Person), "cannot be asked"),
        (find(Searxng, Some("searx.example.org"), None, Person), "write it in full"),
        (find(Brave, Some("https://gate.example/api?t=7"), None, Person), "has a query"),
        (find(Searxng, Some("https://searx.example/#a"), None, Person), "without it"),
    ] {
        let error = refused.unwrap_err();
        assert!(error.contains(why) && !error.contains("-key"), "{error}");
    }
}

#[test]
fn without_an_engine_there_is_none_and_half_of_one_is_a_mistake() {
    let find = |settings: &SearchSettings| {
        SearchEngine::find(settings, &BTreeMap::new(), UrlAuthor::Person)
    };
    assert_eq!(find(&SearchSettings::default()), Ok(None));
    let half = SearchSettings { url: Some("https://x.example.org".into()), ..Default::default() };
    assert_eq!(find(&half), Err("`web_search.engine` is not set".to_owned()));
    let half = SearchSettings { model: Some("m".into()), ..Default::default() };
    assert_eq!(find(&half), Err("`web_search.engine` is not set".to_owned()));
}

#[test]
fn a_providers_search_has_a_model_and_no_other_engine_has() {
    let env = BTreeMap::from([
        ("GEMINI_API_KEY".to_owned(), "g-key".to_owned()),
        ("BRAVE_API_KEY".to_owned(), "b-key".to_owned()),
    ]);
    let find = |engine, model: Option<&str>| {
        let model = model.map(str::to_owned);
        let settings = SearchSettings { engine: Some(engine), model, ..Default::default() };
        let found = SearchEngine::find(&settings, &env, UrlAuthor::Person);
        found.map(|engine| match engine.unwrap().api {
            EngineApi::Model(model) => Some(model.name),
            EngineApi::Brave | EngineApi::Tavily | EngineApi::Searxng => None,
        })
    };
    let usual = find(EngineKind::Gemini, None).unwrap().unwrap();
    assert!(usual.starts_with("gemini-"), "{usual}");
    assert_eq!(find(EngineKind::Gemini, Some("own-1.5")), Ok(Some("own-1.5".to_owned())));
    assert_eq!(find(EngineKind::Brave, None), Ok(None));
    for (engine, model, why) in [
        (EngineKind::Brave, Some("m"), "only an engine with models takes `web_search.model`"),
        (EngineKind::Gemini, Some("../m?x"), "`web_search.model` cannot be `../m?x`"),
        (EngineKind::Openai, None, "`OPENAI_API_KEY` is not set"),
    ] {
        assert!(find(engine, model).unwrap_err().contains(why), "{engine:?}");
    }
}

#[test]
fn a_providers_key_goes_to_the_server_that_the_environment_names_for_it() {
    let found = |engine, variables: &[(&str, &str)]| {
        let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
        let keys = keys.map(|name| (name.to_owned(), "a-key".to_owned()));
        let named = variables.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned()));
        let env: BTreeMap<String, String> = keys.into_iter().chain(named).collect();
        let settings = SearchSettings { engine: Some(engine), ..Default::default() };
        let found = SearchEngine::find(&settings, &env, UrlAuthor::Person);
        found.map(|engine| engine.unwrap().url().to_string())
    };
    use EngineKind::{Anthropic, Gemini, Openai};
    for (engine, variables, url) in [
        (Openai, &[][..], "https://api.openai.com/v1"),
        (
            Openai,
            &[("OPENAI_BASE_URL", "https://gate.example.org/ai")],
            "https://gate.example.org/ai",
        ),
        (
            Openai,
            &[("ANTHROPIC_BASE_URL", "https://gate.example.org")],
            "https://api.openai.com/v1",
        ),
        (
            Anthropic,
            &[("ANTHROPIC_BASE_URL", "https://gate.example.org/")],
            "https://gate.example.org/v1",
        ),
        (
            Anthropic,
            &[("ANTHROPIC_BASE_URL", "https://gate.example.org/v1")],
            "https://gate.example.org/v1",
        ),
        (
            Gemini,
            &[("GOOGLE_GEMINI_BASE_URL", "https://gate.example.org")],
            "https://gate.example.org/v1beta",
        ),
    ] {
        assert_eq!(found(engine, variables), Ok(url.to_owned()));
    }
    let inside = found(Openai, &[("OPENAI_BASE_URL", "http://127.0.0.1:4000/v1")]);
    assert!(inside.unwrap_err().contains("cannot be asked"));
}

#[test]
fn a_key_is_shown_nowhere() {
    let env = BTreeMap::from([("BRAVE_API_KEY".to_owned(), "b-key".to_owned())]);
    let settings = SearchSettings { engine: Some(EngineKind::Brave), ..Default::default() };
    let engine = SearchEngine::find(&settings, &env, UrlAuthor::Person).unwrap().unwrap();
    assert!(!format!("{engine:?}").contains("b-key"));
}
