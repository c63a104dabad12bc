//! Which model the workflow of `locum init` asks: the provider a flag names, or what the
//! environment shows.

use crate::cli::words::Word;
use crate::config::environment::Environment;
use crate::run::error::RunError;
use locum_models::profile::Provider;
use locum_models::resolve::MODEL_VARIABLE;
use locum_policy::starter::workflow::WorkflowModel;

/// A host of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelHost {
    /// The variable, and the secret, that holds its key.
    key: &'static str,
    /// What stands before a model's name.
    protocol: &'static str,
    /// A model of it that is a good start.
    model: &'static str,
    /// Where its API starts, where the protocol alone does not say.
    base_url: Option<&'static str>,
}

const fn host(
    key: &'static str,
    protocol: &'static str,
    model: &'static str,
    base_url: Option<&'static str>,
) -> ModelHost {
    ModelHost { key, protocol, model, base_url }
}

const OPENAI: ModelHost = host("OPENAI_API_KEY", "openai-responses:", "gpt-6.1-terra", None);

/// Providers, each with what its workflow needs.
pub(super) const PROVIDERS: &[Word<ModelHost>] = &[
    ("openai", OPENAI, "OpenAI, key in OPENAI_API_KEY"),
    (
        "anthropic",
        host("ANTHROPIC_API_KEY", "anthropic:", "claude-sonnet-5-5", None),
        "Anthropic, key in ANTHROPIC_API_KEY",
    ),
    (
        "gemini",
        host("GEMINI_API_KEY", "gemini:", "gemini-3.8-flash", None),
        "Google, key in GEMINI_API_KEY",
    ),
    (
        "openrouter",
        host(
            "OPENROUTER_API_KEY",
            "",
            "anthropic/claude-opus-5.5",
            Some("https://openrouter.ai/api/v1"),
        ),
        "OpenRouter, key in OPENROUTER_API_KEY",
    ),
    (
        "github",
        host("GITHUB_TOKEN", "", "openai/gpt-4.1", Some("https://models.github.ai/inference")),
        "GitHub Models, with the workflow's own token",
    ),
    (
        "deepseek",
        host("DEEPSEEK_API_KEY", "", "deepseek-v4-pro", Some("https://api.deepseek.com")),
        "DeepSeek, key in DEEPSEEK_API_KEY",
    ),
    (
        "mistral",
        host("MISTRAL_API_KEY", "", "devstral-latest", Some("https://api.mistral.ai/v1")),
        "Mistral, key in MISTRAL_API_KEY",
    ),
    (
        "groq",
        host("GROQ_API_KEY", "", "openai/gpt-oss-120b", Some("https://api.groq.com/openai/v1")),
        "Groq, key in GROQ_API_KEY",
    ),
    (
        "xai",
        host("XAI_API_KEY", "", "grok-4.7", Some("https://api.x.ai/v1")),
        "xAI, key in XAI_API_KEY",
    ),
];

/// What the workflow asks, and the secret that has to be stored for it.
pub(super) struct InitModel {
    pub(super) workflow: WorkflowModel,
    /// `None` where the workflow's own token is the key.
    pub(super) secret: Option<&'static str>,
}

/// Chooses the model: by flag, else by what the environment names, else OpenAI's.
///
/// # Errors
/// When the model's name cannot stand in a workflow.
pub(super) fn choose(
    provider: Option<ModelHost>,
    model: Option<&str>,
    environment: &Environment,
) -> Result<InitModel, RunError> {
    let named = model
        .or_else(|| environment.get(MODEL_VARIABLE).map(str::trim).filter(|_| provider.is_none()));
    let host = provider
        .or_else(|| named.and_then(of_model))
        .or_else(|| of_key(environment))
        .unwrap_or(OPENAI);
    let name = match named {
        // A protocol that is named stays.
        Some(name) if name.contains(':') => name.to_owned(),
        Some(name) => format!("{}{name}", host.protocol),
        None => format!("{}{}", host.protocol, host.model),
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(RunError::usage("--model", format!("`{name}` is not the name of a model"))
            .hint("give the name your provider uses, as in `--model claude-sonnet-5-5`"));
    }
    let own_token = host.key == "GITHUB_TOKEN";
    let key = if own_token {
        "${{ github.token }}".to_owned()
    } else {
        format!("${{{{ secrets.{} }}}}", host.key)
    };
    let permission = own_token.then(|| "models: read # to ask GitHub Models".to_owned());
    let base_url = host.base_url.map(str::to_owned);
    Ok(InitModel {
        workflow: WorkflowModel { model: name, base_url, key, permission },
        secret: (!own_token).then_some(host.key),
    })
}

/// Chooses the model: by flag, else as the workflow that is there, else as [`choose`] does.
///
/// # Errors
/// When the model's name cannot stand in a workflow.
pub(super) fn choose_for(
    (provider, model): (Option<ModelHost>, Option<&str>),
    workflow: Option<&str>,
    environment: &Environment,
) -> Result<InitModel, RunError> {
    let earlier = workflow.and_then(of_workflow);
    match earlier.filter(|(host, _)| provider.is_none_or(|provider| provider == *host)) {
        Some((host, name)) => choose(Some(host), Some(model.unwrap_or(name)), environment),
        None => choose(provider, model, environment),
    }
}

/// Returns the provider that is chosen, by the word of its flag.
///
/// # Errors
/// When the model's name cannot stand in a workflow.
pub(super) fn provider_of(
    provider: Option<ModelHost>,
    workflow: Option<&str>,
    environment: &Environment,
) -> Result<&'static str, RunError> {
    let secret = choose_for((provider, None), workflow, environment)?.secret;
    let host = PROVIDERS.iter().find(|(_, host, _)| host.key == secret.unwrap_or("GITHUB_TOKEN"));
    Ok(host.map_or("openai", |(word, ..)| word))
}

/// Returns the host and the model that a workflow asks.
fn of_workflow(text: &str) -> Option<(ModelHost, &str)> {
    let (_, rest) = text.split_once("vars.LOCUM_MODEL || '")?;
    let (name, _) = rest.split_once('\'')?;
    let (_, rest) = text.split_once("api-key: ${{ ")?;
    let (key, _) = rest.split_once(" }}")?;
    let key = if key == "github.token" { "GITHUB_TOKEN" } else { key.strip_prefix("secrets.")? };
    let host = PROVIDERS.iter().map(|(_, host, _)| *host).find(|host| host.key == key)?;
    Some((host, name))
}

/// Returns the host that a model's name belongs to, where the name says so.
fn of_model(name: &str) -> Option<ModelHost> {
    let provider = Provider::of_name(name)?;
    let protocol = format!("{}:", provider.as_str());
    let mut hosts = PROVIDERS.iter().map(|(_, host, _)| *host);
    match provider {
        Provider::Openai | Provider::OpenaiResponses => Some(OPENAI),
        Provider::Bedrock | Provider::Vertex | Provider::Azure => None,
        Provider::Anthropic | Provider::Gemini | Provider::Scripted => {
            hosts.find(|host| host.protocol == protocol)
        }
    }
}

/// Returns the host whose key is the only one in the environment.
fn of_key(environment: &Environment) -> Option<ModelHost> {
    // A token of GitHub lies in many environments for other reasons.
    let mut set = PROVIDERS
        .iter()
        .map(|(_, host, _)| *host)
        .filter(|host| host.key != "GITHUB_TOKEN" && environment.get(host.key).is_some());
    set.next().filter(|_| set.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::{PROVIDERS, choose, choose_for, provider_of};
    use crate::config::environment::Environment;
    use pretty_assertions::assert_eq;

    fn chosen(provider: Option<&str>, model: Option<&str>, env: &[(&str, &str)]) -> String {
        let host = PROVIDERS.iter().find(|(word, ..)| Some(*word) == provider);
        let environment = Environment::from_pairs(env.iter().copied());
        let model = choose(host.map(|(_, host, _)| *host), model, &environment).unwrap();
        format!("{} {}", model.workflow.model, model.secret.unwrap_or("-"))
    }

    #[test]
    fn the_flag_counts_before_the_environment() {
        let anthropic = &[("ANTHROPIC_API_KEY", "k")];
        for (provider, model, env, expected) in [
            (None, None, &[][..], "openai-responses:gpt-6.1-terra OPENAI_API_KEY"),
            (None, None, anthropic, "anthropic:claude-sonnet-5-5 ANTHROPIC_API_KEY"),
            (Some("gemini"), None, anthropic, "gemini:gemini-3.8-flash GEMINI_API_KEY"),
            (Some("github"), None, &[], "openai/gpt-4.1 -"),
            (None, Some("claude-opus-5-5"), &[], "anthropic:claude-opus-5-5 ANTHROPIC_API_KEY"),
            (
                None,
                None,
                &[("LOCUM_MODEL", "anthropic:claude-opus-5-5")],
                "anthropic:claude-opus-5-5 ANTHROPIC_API_KEY",
            ),
            (Some("mistral"), Some("m"), &[], "m MISTRAL_API_KEY"),
            (
                None,
                None,
                &[("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k")],
                "openai-responses:gpt-6.1-terra OPENAI_API_KEY",
            ),
        ] {
            assert_eq!(chosen(provider, model, env), expected, "{provider:?} {model:?} {env:?}");
        }
    }

    #[test]
    fn the_workflow_that_is_there_counts_before_the_environment() {
        let text = "model: ${{ vars.LOCUM_MODEL || 'anthropic:m' }}\napi-key: ${{ \
                    secrets.ANTHROPIC_API_KEY }}\n";
        let environment = Environment::from_pairs([("GEMINI_API_KEY", "k")]);
        let chosen = |provider: Option<&str>, model: Option<&str>| {
            let host = PROVIDERS.iter().find(|(word, ..)| Some(*word) == provider);
            let given = (host.map(|(_, host, _)| *host), model);
            choose_for(given, Some(text), &environment).unwrap().workflow.model
        };
        assert_eq!(chosen(None, None), "anthropic:m");
        assert_eq!(chosen(Some("anthropic"), None), "anthropic:m");
        assert_eq!(chosen(Some("gemini"), None), "gemini:gemini-3.8-flash");
        assert_eq!(chosen(None, Some("n")), "anthropic:n");
        assert_eq!(provider_of(None, Some(text), &environment).unwrap(), "anthropic");
    }

    #[test]
    fn a_model_that_could_end_the_expression_is_refused() {
        let environment = Environment::from_pairs([("PATH", "/bin")]);
        assert!(choose(None, Some("x' }} y"), &environment).is_err());
    }
}
