//! The set-ups of the pages in docs/models: each is read as it stands there, and runs a turn with
//! a server of its protocol.

use std::collections::{BTreeMap, BTreeSet};

use locum_base::chat::Message;
use locum_models::profile::{ModelSettings, Profile};
use locum_models::resolve::{ModelFacts, resolve};
use pretty_assertions::assert_eq;
use serde::Deserialize;

use crate::docs::read;
use crate::models::protocol::{calls, key, stream, words};
use crate::models::{ask_model, model_of};
use crate::support::model_server::ModelServer;

/// The variables the set-ups take their keys from.
const VARIABLES: &[&str] = &[
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "OPENROUTER_API_KEY",
    "GITHUB_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "MISTRAL_API_KEY",
    "DEEPSEEK_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
    "MOONSHOT_API_KEY",
    "ZAI_API_KEY",
    "LITELLM_KEY",
];

/// The pages of providers, one first set-up each.
const PAGES: &[&str] = &[
    "openai",
    "anthropic",
    "gemini",
    "openrouter",
    "github",
    "azure",
    "mistral",
    "deepseek",
    "other-hosts",
    "ollama",
    "vllm",
    "llama-cpp",
    "litellm",
];

/// Each set-up, the variable of its key, and where its requests go.
const SETUPS: &[(&str, Option<&str>, &str)] = &[
    ("openai", Some("OPENAI_API_KEY"), "https://api.openai.com/v1/responses"),
    ("anthropic", Some("ANTHROPIC_API_KEY"), "https://api.anthropic.com/v1/messages"),
    (
        "gemini",
        Some("GEMINI_API_KEY"),
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    ),
    ("openrouter", Some("OPENROUTER_API_KEY"), "https://openrouter.ai/api/v1/chat/completions"),
    ("github", Some("GITHUB_TOKEN"), "https://models.github.ai/inference/chat/completions"),
    ("azure", Some("AZURE_OPENAI_API_KEY"), "https://acme.openai.azure.com/openai/v1/responses"),
    (
        "azure-dated",
        Some("AZURE_OPENAI_API_KEY"),
        "https://acme.openai.azure.com/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21",
    ),
    ("mistral", Some("MISTRAL_API_KEY"), "https://api.mistral.ai/v1/chat/completions"),
    ("deepseek", Some("DEEPSEEK_API_KEY"), "https://api.deepseek.com/chat/completions"),
    ("groq", Some("GROQ_API_KEY"), "https://api.groq.com/openai/v1/chat/completions"),
    ("xai", Some("XAI_API_KEY"), "https://api.x.ai/v1/chat/completions"),
    ("moonshot", Some("MOONSHOT_API_KEY"), "https://api.moonshot.ai/v1/chat/completions"),
    ("zai", Some("ZAI_API_KEY"), "https://api.z.ai/api/paas/v4/chat/completions"),
    ("ollama", None, "http://localhost:11434/v1/chat/completions"),
    ("vllm", None, "http://localhost:8000/v1/chat/completions"),
    ("llama-cpp", None, "http://localhost:8080/v1/chat/completions"),
    ("litellm", Some("LITELLM_KEY"), "http://localhost:4000/v1/chat/completions"),
];

#[derive(Deserialize)]
struct Config {
    models: ModelSettings,
}

/// The profiles that the pages of providers begin with.
fn profiles() -> BTreeMap<String, Profile> {
    let block = |page: &&str| {
        let text = read(&format!("docs/models/{page}.md"));
        let block = text.split("<!-- config -->\n```yaml\n").nth(1).unwrap();
        serde_yaml::from_str::<Config>(block.split("```").next().unwrap()).unwrap()
    };
    PAGES.iter().flat_map(|page| block(page).models.profiles).collect()
}

#[test]
fn every_set_up_of_the_document_asks_where_its_provider_is_with_its_own_key() {
    let profiles = profiles();
    let told: BTreeSet<&str> = SETUPS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(profiles.keys().map(String::as_str).collect::<BTreeSet<_>>(), told);
    let settings = ModelSettings { profiles: profiles.clone(), ..ModelSettings::default() };
    for (name, variable, address) in SETUPS {
        // Every key is there; the set-up takes its own.
        let env = VARIABLES
            .iter()
            .map(|variable| ((*variable).to_owned(), format!("key-in-{variable}")))
            .collect();
        let facts = ModelFacts { env: &env, asked: Some(name), from_repository: &BTreeSet::new() };
        let chosen = resolve(&settings, &facts).unwrap().main;
        let expected = variable.map(|variable| format!("key-in-{variable}"));
        assert_eq!(chosen.key.as_ref().map(|key| key.expose().to_owned()), expected, "{name}");
        let notes: Vec<&String> =
            chosen.notes.iter().filter(|note| note.contains("window")).collect();
        assert!(
            notes.is_empty() || name.starts_with("azure") || *name == "github",
            "{name}: {notes:?}"
        );

        let base_url = chosen
            .profile
            .base_url
            .clone()
            .unwrap_or_else(|| chosen.profile.provider.home().unwrap().url.to_owned());
        let (origin, path) = base_url.split_at(base_url.find("://").unwrap() + 3);
        let (host, path) = path.split_at(path.find('/').unwrap_or(path.len()));
        let provider = chosen.profile.provider;
        let mut server =
            ModelServer::start(vec![stream(&calls(provider)), stream(&words(provider))]);
        let local = format!("{}{path}", server.base_url.trim_end_matches("/v1"));
        let profile = Profile {
            base_url: Some(local),
            api_key_env: Some("TEST_KEY".into()),
            ..profiles[*name].clone()
        };
        let reply =
            ask_model(&*model_of(&profile), &[Message::User { text: "go".into() }]).0.unwrap();
        assert_eq!(reply.calls.len(), 2, "{name}");
        let asked = &server.asked()[0];
        assert_eq!(format!("{origin}{host}{}", asked.path), *address, "{name}");
        assert!(
            key(provider, asked).is_some_and(|value| value.ends_with("sk-very-secret")),
            "{name}"
        );
    }
}
