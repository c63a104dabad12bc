//! Which model a run gets, and where its key may go.

use std::collections::{BTreeMap, BTreeSet};

use pretty_assertions::assert_eq;

use super::{
    ChosenModel, ModelFacts, ModelRequirement, ProfileError, Provider, RequestedModel,
    ResolvedModels, SettingAuthor, resolve, resolve_requested,
};
use crate::profile::ModelSettings;
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

struct ResolveCase<'a> {
    settings: &'a str,
    env: &'a [(&'a str, &'a str)],
    asked: Option<&'a str>,
    from_repository: &'a [&'a str],
}

const REQUIRED: ModelRequirement = ModelRequirement::Required;
const PREFERRED: ModelRequirement = ModelRequirement::Preferred;
const NOTHING: ResolveCase<'static> =
    ResolveCase { settings: "{}", env: &[], asked: None, from_repository: &[] };

impl ResolveCase<'_> {
    fn run(&self) -> Result<ResolvedModels, ProfileError> {
        let settings: ModelSettings = serde_yaml::from_str(self.settings).unwrap();
        let env: BTreeMap<String, String> =
            self.env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let from_repository: BTreeSet<String> =
            self.from_repository.iter().map(|name| (*name).into()).collect();
        resolve(
            &settings,
            &ModelFacts { env: &env, asked: self.asked, from_repository: &from_repository },
        )
    }

    /// Name, address and key of the root task's model.
    fn main(&self) -> (String, String, Option<String>) {
        let main = self.run().unwrap().main;
        (main.name, main.profile.base_url.unwrap(), main.key.map(|key| key.expose().to_owned()))
    }

    fn fault(&self) -> String {
        let err = self.run().unwrap_err();
        format!("{err}; {}", err.hint())
    }
}

fn chosen(name: &str, url: &str, key: Option<&str>) -> (String, String, Option<String>) {
    (name.into(), url.into(), key.map(str::to_owned))
}

#[test]
fn a_key_goes_to_no_host_that_only_the_repository_names() {
    // A host without any tie, and one that another key belongs to.
    for (host, variable, refused) in [
        ("https://evil.example/v1", "OPENAI_API_KEY", "send requests to `https://evil.example`"),
        (
            OPENAI_BASE_URL,
            "DEPLOY_TOKEN",
            "send the key in `DEPLOY_TOKEN` to `https://api.openai.com`",
        ),
    ] {
        let settings = format!(
            "{{profiles: {{p: {{model: m, base_url: '{host}', api_key_env: {variable}}}}}, \
             pointers: {{main: p}}}}"
        );
        let env = [(variable, "the-key")];
        let from_repository = ["profiles.p.base_url", "profiles.p.api_key_env"];
        let by_a_person = ResolveCase { settings: &settings, env: &env, ..NOTHING };
        assert_eq!(by_a_person.main(), chosen("p", host, Some("the-key")));
        let by_the_repository = ResolveCase { from_repository: &from_repository, ..by_a_person };
        let Err(ProfileError::NotTied { what, .. }) = by_the_repository.run() else {
            panic!("{host} gets the key")
        };
        assert_eq!(what, refused);
    }
}

#[test]
fn a_mode_gets_the_model_it_asks_for_and_no_key_goes_where_only_the_repository_says() {
    let settings = "{profiles: {fast: {model: small}, big: {model: opus-4, base_url: 'https://tied.example/v1', api_key_env: TIED_KEY}}, pointers: {main: fast}}";
    let settings: ModelSettings = serde_json::from_value(
        locum_files::yaml::YamlDocument::parse(settings).root.unwrap().to_json(),
    )
    .unwrap();
    let env: BTreeMap<String, String> = [("OPENAI_API_KEY", "sk-1"), ("TIED_KEY", "sk-2")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let nothing = BTreeSet::new();
    let facts = ModelFacts { env: &env, asked: None, from_repository: &nothing };
    let found =
        |name: &str, base_url: Option<&str>, need: ModelRequirement, written_by: SettingAuthor| {
            let requested =
                RequestedModel { mode: "m", name, provider: None, base_url, need, written_by };
            resolve_requested(&settings, &facts, requested).map(|chosen| {
                chosen.map(|chosen| {
                    let (profile, has_key) = (chosen.profile, chosen.key.is_some());
                    (profile.model, profile.base_url.unwrap(), has_key)
                })
            })
        };
    let model =
        |name: &str, url: &str, has_key: bool| Ok(Some((name.to_owned(), url.to_owned(), has_key)));
    let (repository, person) = (SettingAuthor::Repository, SettingAuthor::Person);
    assert_eq!(found("fast", None, PREFERRED, repository), model("small", OPENAI_BASE_URL, true));
    assert_eq!(
        found("anthropic/opus-4", None, PREFERRED, repository),
        model("opus-4", "https://tied.example/v1", true)
    );
    assert_eq!(found("sonnet", None, PREFERRED, repository), Ok(None));
    assert_eq!(found("new", None, REQUIRED, repository), model("new", OPENAI_BASE_URL, true));
    for need in [REQUIRED, PREFERRED] {
        let refused = found("new", Some("https://evil.example/v1"), REQUIRED, repository);
        assert!(matches!(refused, Err(ProfileError::NotTied { .. })), "{need:?}: {refused:?}");
    }
    assert_eq!(
        found("new", Some("https://tied.example/v2"), REQUIRED, repository),
        model("new", "https://tied.example/v2", false)
    );
    assert_eq!(
        found("new", Some("https://own.example/v1"), REQUIRED, person),
        model("new", "https://own.example/v1", false)
    );
    let requested = RequestedModel {
        mode: "m",
        name: "x",
        provider: Some("telepathy"),
        base_url: None,
        need: REQUIRED,
        written_by: person,
    };
    assert!(
        resolve_requested(&settings, &facts, requested)
            .unwrap_err()
            .to_string()
            .contains("there is no provider `telepathy`")
    );
}

#[test]
fn three_variables_are_enough() {
    let env = &[
        ("OPENAI_API_KEY", "sk-1"),
        ("OPENAI_BASE_URL", "https://llm.example/v1"),
        ("LOCUM_MODEL", "big"),
    ];
    assert_eq!(
        ResolveCase { env, ..NOTHING }.main(),
        chosen("big", "https://llm.example/v1", Some("sk-1"))
    );
    assert_eq!(
        ResolveCase { env: &[env[0], env[2]], ..NOTHING }.main(),
        chosen("big", "https://api.openai.com/v1", Some("sk-1"))
    );
    assert_eq!(
        ResolveCase { env: &[env[1], env[2]], ..NOTHING }.main(),
        chosen("big", "https://llm.example/v1", None)
    );
    let known = &[
        ("OPENAI_API_KEY", "sk-1"),
        ("OPENAI_BASE_URL", "https://openrouter.ai/api/v1"),
        ("LOCUM_MODEL", "big"),
    ];
    assert_eq!(
        ResolveCase { env: known, ..NOTHING }.main(),
        chosen("big", "https://openrouter.ai/api/v1", Some("sk-1"))
    );
}

#[test]
fn each_provider_has_its_own_place_and_key() {
    let env = &[
        ("OPENAI_API_KEY", "sk-1"),
        ("OPENAI_BASE_URL", "https://llm.example/v1"),
        ("ANTHROPIC_API_KEY", "ant-1"),
    ];
    let asked = ResolveCase { env, asked: Some("anthropic:claude-opus-5"), ..NOTHING };
    assert_eq!(
        asked.main(),
        chosen("claude-opus-5", "https://api.anthropic.com/v1", Some("ant-1"))
    );
    let settings = "{ profiles: { deep: { provider: anthropic, model: claude-opus-5 } } }";
    assert_eq!(
        ResolveCase { settings, env, ..NOTHING }.main(),
        chosen("deep", "https://api.anthropic.com/v1", Some("ant-1"))
    );
    let moved = &[env[0], env[2], ("ANTHROPIC_BASE_URL", "https://gate.example")];
    assert_eq!(
        ResolveCase { settings, env: moved, ..NOTHING }.main(),
        chosen("deep", "https://gate.example", Some("ant-1"))
    );
    assert!(
        ResolveCase { settings, env: &env[..2], ..NOTHING }.fault().contains("ANTHROPIC_API_KEY")
    );
    let tagged = ResolveCase { env, asked: Some("llama3:8b"), ..NOTHING };
    assert_eq!(tagged.main().0, "llama3:8b");
    let stolen = "{ profiles: { deep: { provider: anthropic, model: a, base_url: \
         'https://evil.example' } } }";
    let stolen = ResolveCase {
        settings: stolen,
        env,
        asked: None,
        from_repository: &["profiles.deep.base_url"],
    };
    assert!(matches!(stolen.run(), Err(ProfileError::NotTied { .. })));
}

#[test]
fn names_what_is_missing() {
    let two = "{ profiles: { fast: { model: a }, slow: { model: b } } }";
    for (case, words) in [
        (
            NOTHING,
            "no model is configured; set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY in",
        ),
        (ResolveCase { env: &[("LOCUM_MODEL", " ")], ..NOTHING }, "no model is configured"),
        (
            ResolveCase { env: &[("LOCUM_MODEL", "gpt-5")], ..NOTHING },
            "`OPENAI_API_KEY`, which should hold the key, is not set",
        ),
        (
            ResolveCase { env: &[("LOCUM_MODEL", "gpt-5"), ("OPENAI_API_KEY", "")], ..NOTHING },
            "is empty; set OPENAI_API_KEY",
        ),
        (
            ResolveCase { env: &[("LOCUM_MODEL", "gpt-5"), ("OPENAI_API_KEY", "a b")], ..NOTHING },
            "is not a key",
        ),
        (ResolveCase { settings: two, ..NOTHING }, "several models are configured (fast, slow)"),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a } }, pointers: { main: fats } }",
                ..NOTHING
            },
            "`fats`, which does not exist; did you mean `fast`?",
        ),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a, api_key_env: MINE, base_url: 'http://x.example' } } }",
                ..NOTHING
            },
            "`MINE`, which should",
        ),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a, base_url: 'ftp://x' } } }",
                ..NOTHING
            },
            "only http and https",
        ),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a, base_url: 'x/v1' } } }",
                ..NOTHING
            },
            "is not an address",
        ),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a, base_url: 'https://u:secret@x' } } }",
                ..NOTHING
            },
            "https://***@x",
        ),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a, temperature: 9 } } }",
                ..NOTHING
            },
            "`temperature` is outside",
        ),
        (
            ResolveCase {
                settings: "{ profiles: { fast: { model: a, headers: { Authorization: x } } } }",
                ..NOTHING
            },
            "may not set `Authorization`",
        ),
        (
            ResolveCase { settings: "{ profiles: { fast: { model: '' } } }", ..NOTHING },
            "`model` is empty",
        ),
    ] {
        let fault = case.fault();
        assert!(fault.contains(words) && !fault.contains("secret@"), "{fault}\nshould say {words}");
    }
}

#[test]
fn the_strongest_word_chooses() {
    let settings = "{ profiles: { fast: { model: a, base_url: 'http://localhost:1' }, slow: { model: b, base_url: 'http://localhost:2' } }, \
                    pointers: { main: slow, task: fast } }";
    let names = |case: ResolveCase<'_>| {
        case.run().map(|resolved| (resolved.main.name, resolved.task.name)).unwrap()
    };
    assert_eq!(names(ResolveCase { settings, ..NOTHING }), ("slow".into(), "fast".into()));
    assert_eq!(
        names(ResolveCase { settings, env: &[("LOCUM_MODEL", "fast")], ..NOTHING }),
        ("fast".into(), "fast".into())
    );
    assert_eq!(
        names(ResolveCase {
            settings,
            env: &[("LOCUM_MODEL", "fast")],
            asked: Some("slow"),
            ..NOTHING
        }),
        ("slow".into(), "fast".into())
    );
    let one = "{ profiles: { only: { model: a, provider: scripted } } }";
    assert_eq!(names(ResolveCase { settings: one, ..NOTHING }), ("only".into(), "only".into()));
}

#[test]
fn a_pointer_names_one_model_or_several() {
    let settings = "{ profiles: { a: { model: x, provider: scripted }, b: { model: y, \
                    provider: scripted } }, pointers: { main: [a, b], task: b, quick: [b] } }";
    let resolved = ResolveCase { settings, ..NOTHING }.run().unwrap();
    let names = |chosen: &ChosenModel| {
        [
            &[chosen.name.clone()][..],
            &chosen.fallbacks.iter().map(|fallback| fallback.name.clone()).collect::<Vec<_>>(),
        ]
        .concat()
    };
    assert_eq!(
        (names(&resolved.main), names(&resolved.task)),
        (vec!["a".to_owned(), "b".into()], vec!["b".to_owned()])
    );
    assert_eq!(
        resolved
            .others
            .iter()
            .map(|(pointer, chosen)| (*pointer, names(chosen)))
            .collect::<Vec<_>>(),
        [("quick", vec!["b".into()])]
    );
    let asked = ResolveCase { settings, asked: Some("a"), ..NOTHING }.run().unwrap();
    assert_eq!(names(&asked.main), ["a"], "who is asked for by flag has nobody to stand in");
    let dangling = "{ profiles: { fast: { model: a, provider: scripted } }, pointers: { main: \
                    [fast, fats] } }";
    assert!(ResolveCase { settings: dangling, ..NOTHING }.fault().contains("did you mean `fast`?"));
    let settings: ModelSettings = serde_yaml::from_str(settings).unwrap();
    let (env, nothing) = (BTreeMap::new(), BTreeSet::new());
    let facts = ModelFacts { env: &env, asked: None, from_repository: &nothing };
    let requested = |name| RequestedModel {
        mode: "m",
        name,
        provider: None,
        base_url: None,
        need: REQUIRED,
        written_by: SettingAuthor::Person,
    };
    let found = |name| {
        resolve_requested(&settings, &facts, requested(name)).unwrap().map(|chosen| names(&chosen))
    };
    assert_eq!(
        (found("main"), found("quick"), found("reasoning")),
        (Some(vec!["a".into(), "b".into()]), Some(vec!["b".into()]), None)
    );
}

#[test]
fn a_host_nobody_named_a_key_for_gets_none() {
    let env = &[("OPENAI_API_KEY", "sk-1")];
    let settings = "{ profiles: { own: { model: a, base_url: 'https://own.example/v1' } } }";
    assert_eq!(
        ResolveCase { settings, env, ..NOTHING }.main(),
        chosen("own", "https://own.example/v1", None)
    );
    assert!(
        ResolveCase { settings, env, ..NOTHING }
            .run()
            .unwrap()
            .main
            .notes
            .join(" ")
            .contains("no key is sent to `https://own.example`")
    );
    let named = "{ profiles: { own: { model: a, base_url: 'https://own.example/v1', \
                 api_key_env: OPENAI_API_KEY } } }";
    assert_eq!(ResolveCase { settings: named, env, ..NOTHING }.main().2, Some("sk-1".into()));
    let by_env = &[env[0], ("OPENAI_BASE_URL", "https://own.example/other")];
    assert_eq!(ResolveCase { settings, env: by_env, ..NOTHING }.main().2, Some("sk-1".into()));
}

#[test]
fn a_known_host_gets_its_own_key() {
    let settings = "{ profiles: { deep: { model: a, base_url: 'https://api.deepseek.com' } } }";
    let env = &[("OPENAI_API_KEY", "sk-1"), ("DEEPSEEK_API_KEY", "ds-1")];
    assert_eq!(
        ResolveCase { settings, env, ..NOTHING }.main(),
        chosen("deep", "https://api.deepseek.com", Some("ds-1"))
    );
    assert!(
        ResolveCase { settings, env: &env[..1], ..NOTHING }.fault().contains("DEEPSEEK_API_KEY")
    );
}

#[test]
fn a_repository_sends_keys_only_where_they_belong() {
    let case = |url: &str, key: &str, env: &[(&str, &str)], extra: &str| {
        let settings = format!(
            "{{ profiles: {{ p: {{ model: a, base_url: '{url}'{key} }}{extra} }}, pointers: \
             {{ main: p }} }}"
        );
        let from_repository = if key.is_empty() {
            &["profiles.p.base_url"][..]
        } else {
            &["profiles.p.base_url", "profiles.p.api_key_env"]
        };
        ResolveCase { settings: &settings, env, asked: None, from_repository }
            .run()
            .map(|resolved| resolved.main.key.map(|key| key.expose().to_owned()))
    };
    let env = &[
        ("OPENAI_API_KEY", "sk-1"),
        ("GITHUB_TOKEN", "gh-1"),
        ("MINE", "m-1"),
        ("OPENAI_BASE_URL", "https://gate.example/v1"),
    ];
    let person = ", mine: { model: b, base_url: 'https://own.example', api_key_env: MINE }";
    for (url, key, extra, sent) in [
        ("https://api.openai.com/v1", "", "", Some("sk-1")),
        ("https://models.github.ai/inference", ", api_key_env: GITHUB_TOKEN", "", Some("gh-1")),
        ("https://gate.example/other", "", "", Some("sk-1")),
        ("https://own.example/v2", ", api_key_env: MINE", person, Some("m-1")),
        ("https://own.example/v2", "", person, None),
    ] {
        assert_eq!(case(url, key, env, extra), Ok(sent.map(str::to_owned)), "{url}{key}");
    }
    for (url, key, extra) in [
        ("https://evil.example/v1", "", ""),
        ("http://localhost:11434/v1", "", ""),
        ("http://api.openai.com/v1", "", ""),
        ("https://api.openai.com:8443/v1", "", ""),
        ("https://api.openai.com.evil.example/v1", "", ""),
        ("https://api.openai.com/v1", ", api_key_env: GITHUB_TOKEN", ""),
        ("https://own.example/v2", ", api_key_env: GITHUB_TOKEN", person),
        ("https://gate.example.evil.example", ", api_key_env: OPENAI_API_KEY", ""),
    ] {
        let refused = case(url, key, env, extra);
        assert!(matches!(refused, Err(ProfileError::NotTied { .. })), "{url}{key}: {refused:?}");
    }
}

#[test]
fn a_key_the_repository_names_does_not_follow_a_persons_address() {
    let settings = "{ profiles: { p: { model: a, base_url: 'https://own.example', \
                    api_key_env: GITHUB_TOKEN } } }";
    let env = &[("GITHUB_TOKEN", "gh-1")];
    assert!(
        ResolveCase { settings, env, from_repository: &["profiles.p.api_key_env"], ..NOTHING }
            .fault()
            .contains("GITHUB_TOKEN")
    );
    assert_eq!(ResolveCase { settings, env, ..NOTHING }.main().2, Some("gh-1".into()));
}

#[test]
fn the_documented_profiles_resolve() {
    let page = include_str!("../../../docs/models.md");
    let example = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let settings = example.strip_prefix("models:\n").unwrap();
    let env = &[("OPENAI_API_KEY", "sk-1"), ("DEEPSEEK_API_KEY", "ds-1")];
    let resolved = ResolveCase { settings, env, ..NOTHING }.run().unwrap();
    assert_eq!((resolved.main.name.as_str(), resolved.task.name.as_str()), ("careful", "cheap"));
    let own = ResolveCase { settings, env, asked: Some("own"), ..NOTHING }.run().unwrap().main;
    assert_eq!((own.limits.context_window, own.notes), (65_536, Vec::<String>::new()));
    let homes = Provider::ALL.into_iter().filter_map(Provider::home);
    for name in
        homes.flat_map(|home| [home.key_variable, home.url_variable]).chain([super::MODEL_VARIABLE])
    {
        assert!(page.contains(&format!("| `{name}` |")), "`{name}` is not explained");
    }
}

#[test]
fn says_what_it_had_to_guess() {
    let env = &[
        ("OPENAI_API_KEY", "sk-1"),
        ("OPENAI_BASE_URL", "http://gate.example/v1"),
        ("LOCUM_MODEL", "my-own"),
    ];
    let notes = ResolveCase { env, ..NOTHING }.run().unwrap().main.notes.join("\n");
    for words in ["32768 tokens", "no known price", "`http://gate.example` unencrypted"] {
        assert!(notes.contains(words), "{notes}");
    }
    assert_eq!(
        ResolveCase { env: &[env[0], ("LOCUM_MODEL", "gpt-5")], ..NOTHING }
            .run()
            .unwrap()
            .main
            .notes,
        Vec::<String>::new()
    );
}
