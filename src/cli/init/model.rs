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
    /// The variable, and the secret, that holds its key; `None` where the workflow stores none.
    key: Option<&'static str>,
    /// What stands before a model's name.
    protocol: &'static str,
    /// A model of it that is a good start; empty where only the maintainer can name one.
    model: &'static str,
    /// Where its API starts, where the protocol alone does not say.
    base_url: Option<&'static str>,
    /// How a job shows who it is, in place of a key.
    identity: Option<JobIdentity>,
}

/// What a job needs to show who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JobIdentity {
    /// Variables of the repository.
    variables: &'static [&'static str],
    /// The steps that log in.
    login: &'static str,
}

/// Where GitHub Models answered.
const GITHUB_MODELS: &str = "https://models.github.ai/inference";

/// The variable that holds the workflow's own token.
const OWN_TOKEN: &str = "GITHUB_TOKEN";

/// Logs in at AWS, for an hour. It takes no key where the job has `id-token: write`.
const AWS_LOGIN: &str = "      - uses: \
     aws-actions/configure-aws-credentials@e6de054238d6b7531b4efff3b6587d9aade6a06c # v6.2.3\n        \
     with:\n          role-to-assume: ${{ vars.AWS_ROLE_ARN }}\n          aws-region: ${{ \
     vars.AWS_REGION }}\n";

const fn host(
    key: &'static str,
    protocol: &'static str,
    model: &'static str,
    base_url: Option<&'static str>,
) -> ModelHost {
    ModelHost { key: Some(key), protocol, model, base_url, identity: None }
}

impl ModelHost {
    /// Whether only the maintainer can name a model of it.
    pub(super) fn has_no_usual_model(self) -> bool {
        self.model.is_empty()
    }

    const fn or_identity(self, variables: &'static [&'static str]) -> Self {
        Self { identity: Some(JobIdentity { variables, login: "" }), ..self }
    }
}

/// A cloud: the job's identity is all it takes.
const fn cloud(protocol: &'static str, model: &'static str, identity: JobIdentity) -> ModelHost {
    ModelHost { key: None, protocol, model, base_url: None, identity: Some(identity) }
}

const OPENAI: ModelHost = host("OPENAI_API_KEY", "openai-responses:", "gpt-6.1-terra", None)
    .or_identity(&["OPENAI_IDENTITY_PROVIDER_ID", "OPENAI_SERVICE_ACCOUNT_ID"]);

/// Providers, each with what its workflow needs.
pub(super) const PROVIDERS: &[Word<ModelHost>] = &[
    ("openai", OPENAI, "OpenAI, key in OPENAI_API_KEY"),
    (
        "anthropic",
        host("ANTHROPIC_API_KEY", "anthropic:", "claude-sonnet-5-5", None).or_identity(&[
            "ANTHROPIC_FEDERATION_RULE_ID",
            "ANTHROPIC_ORGANIZATION_ID",
            "ANTHROPIC_SERVICE_ACCOUNT_ID",
        ]),
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
        host("GITHUB_TOKEN", "", "openai/gpt-4.1", Some(GITHUB_MODELS)),
        "GitHub Models, with the workflow's own token; GitHub retired it",
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
    (
        "bedrock",
        cloud(
            "bedrock:",
            "",
            JobIdentity { variables: &["AWS_ROLE_ARN", "AWS_REGION"], login: AWS_LOGIN },
        ),
        "Amazon Bedrock, with the job's identity; needs --model",
    ),
    (
        "vertex",
        cloud(
            "vertex:",
            "gemini-3.8-flash",
            JobIdentity {
                variables: &["GOOGLE_WORKLOAD_IDENTITY_PROVIDER", "GOOGLE_CLOUD_PROJECT"],
                login: "",
            },
        ),
        "Google Vertex AI, with the job's identity",
    ),
    (
        "azure",
        cloud(
            "azure:",
            "",
            JobIdentity {
                variables: &["AZURE_OPENAI_ENDPOINT", "AZURE_TENANT_ID", "AZURE_CLIENT_ID"],
                login: "",
            },
        ),
        "Azure OpenAI, with the job's identity; needs --model, a deployment",
    ),
];

/// What the workflow asks, and the secret that has to be stored for it.
pub(super) struct InitModel {
    pub(super) workflow: WorkflowModel,
    /// `None` where the workflow's own token or the job's identity stands in for it.
    pub(super) secret: Option<&'static str>,
}

impl InitModel {
    /// Says that the provider has ended.
    pub(super) fn retired(&self) -> Option<String> {
        (self.workflow.base_url.as_deref() == Some(GITHUB_MODELS)).then(|| {
            "GitHub retired GitHub Models on 2026-07-30, so the workflow's runs may get no answer"
                .to_owned()
        })
    }
}

/// What is known of the model before the environment is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModelWish<'w> {
    pub(super) provider: Option<ModelHost>,
    pub(super) model: Option<&'w str>,
    /// Whether the job's identity stands in for a key.
    pub(super) no_key: bool,
}

/// Chooses the model: by flag, else by what the environment names, else OpenAI's.
///
/// # Errors
/// When the model's name cannot stand in a workflow, is missing, or the provider wants a key.
pub(super) fn choose(
    wish: ModelWish<'_>,
    environment: &Environment,
) -> Result<InitModel, RunError> {
    let ModelWish { provider, model, no_key } = wish;
    let of_variable =
        || environment.get(MODEL_VARIABLE).map(str::trim).filter(|name| !name.is_empty());
    let named = model.or_else(|| of_variable().filter(|_| provider.is_none()));
    let host = provider
        .or_else(|| named.and_then(of_model))
        .or_else(|| of_key(environment))
        .unwrap_or(OPENAI);
    if let Some((model, owner)) = named.and_then(|name| Some((name, of_model(name)?)))
        && owner != host
        && host.base_url.is_none()
        && host.key.is_some()
    {
        let word =
            |host| PROVIDERS.iter().find(|(_, known, _)| *known == host).map(|(word, ..)| *word);
        let [of, asked] = [owner, host].map(|host| word(host).unwrap_or_default());
        return Err(RunError::usage(
            "--model",
            format!("`{model}` is a model of {of}, not of {asked}"),
        )
        .hint(format!("write `--provider {of}`, or name a model of {asked}")));
    }
    let name = match named {
        // A protocol that is named stays.
        Some(name) if names_protocol(name) => name.to_owned(),
        Some(name) => format!("{}{name}", host.protocol),
        None if host.model.is_empty() => {
            let example = match host.protocol {
                "azure:" => "the name of a deployment",
                _ => "as in `--model eu.anthropic.claude-sonnet-5-5-v1:0`",
            };
            return Err(RunError::usage("--model", "this provider has no usual model")
                .hint(format!("name one: {example}")));
        }
        None => format!("{}{}", host.protocol, host.model),
    };
    if named.is_some_and(|name| !is_model_name(name)) || !is_model_name(&name) {
        let wrong = named.unwrap_or(&name);
        return Err(RunError::usage("--model", format!("`{wrong}` is not the name of a model"))
            .hint("give the name your provider uses, as in `--model claude-sonnet-5-5`"));
    }
    if no_key && host.identity.is_none() {
        let words = PROVIDERS.iter().filter(|(_, host, _)| host.identity.is_some());
        let words: Vec<&str> = words.map(|(word, ..)| *word).collect();
        return Err(RunError::usage("--no-key", "this provider takes no identity of a job")
            .hint(format!("these do: {}", words.join(", "))));
    }
    let key = host.key.filter(|_| !no_key);
    let identity = host.identity.filter(|_| key.is_none());
    let permission = match key {
        Some(OWN_TOKEN) => Some("models: read # to ask GitHub Models"),
        Some(_) => None,
        None => Some("id-token: write # to show the model's provider who the job is"),
    };
    let variables = identity.map(|identity| identity.variables).unwrap_or_default();
    Ok(InitModel {
        workflow: WorkflowModel {
            model: name,
            base_url: host.base_url.map(str::to_owned),
            key: key.map(|key| match key {
                OWN_TOKEN => "${{ github.token }}".to_owned(),
                secret => format!("${{{{ secrets.{secret} }}}}"),
            }),
            permission: permission.map(str::to_owned),
            variables: variables.iter().map(|name| (*name).to_owned()).collect(),
            login: identity.map(|identity| identity.login).unwrap_or_default().to_owned(),
        },
        secret: key.filter(|key| *key != OWN_TOKEN),
    })
}

/// Whether a text can be the name of a model, and nothing else to the workflow.
pub(super) fn is_model_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@".contains(letter);
    !name.is_empty() && !name.ends_with(':') && name.chars().all(is_plain)
}

/// Chooses the model: by flag, else as the workflow that is there, else as [`choose`] does.
///
/// # Errors
/// As [`choose`].
pub(super) fn choose_for(
    wish: ModelWish<'_>,
    workflow: Option<&str>,
    environment: &Environment,
) -> Result<InitModel, RunError> {
    let same = |host: &ModelHost| wish.provider.is_none_or(|provider| provider == *host);
    match workflow.and_then(of_workflow).filter(|(host, ..)| same(host)) {
        Some((host, name, no_key)) => choose(
            ModelWish {
                provider: Some(host),
                model: Some(wish.model.unwrap_or(name)),
                no_key: wish.no_key || no_key,
            },
            environment,
        ),
        None => choose(wish, environment),
    }
}

/// Returns the provider that is chosen, by the word of its flag.
pub(super) fn provider_of(
    wish: ModelWish<'_>,
    workflow: Option<&str>,
    environment: &Environment,
) -> &'static str {
    let host = wish
        .provider
        .or_else(|| workflow.and_then(of_workflow).map(|(host, ..)| host))
        .or_else(|| wish.model.or_else(|| environment.get(MODEL_VARIABLE)).and_then(of_model))
        .or_else(|| of_key(environment));
    let found = PROVIDERS.iter().find(|(_, known, _)| Some(*known) == host);
    found.map_or("openai", |(word, ..)| word)
}

/// Returns the host and the model that a workflow asks, and whether it does without a key.
fn of_workflow(text: &str) -> Option<(ModelHost, &str, bool)> {
    let (_, rest) = text.split_once("vars.LOCUM_MODEL || '")?;
    let (name, _) = rest.split_once('\'')?;
    let mut hosts = PROVIDERS.iter().map(|(_, host, _)| *host);
    let Some((_, rest)) = text.split_once("api-key: ${{ ") else {
        let host = hosts.find(|host| host.identity.is_some() && name.starts_with(host.protocol))?;
        return Some((host, name, true));
    };
    let (key, _) = rest.split_once(" }}")?;
    let key = if key == "github.token" { OWN_TOKEN } else { key.strip_prefix("secrets.")? };
    Some((hosts.find(|host| host.key == Some(key))?, name, false))
}

/// Returns true where a model's name begins with a protocol.
fn names_protocol(name: &str) -> bool {
    name.split_once(':').is_some_and(|(first, _)| Provider::named(first).is_some())
}

/// Returns the host that a model's name belongs to, where the name says so.
fn of_model(name: &str) -> Option<ModelHost> {
    let provider = Provider::of_name(name)?;
    let protocol = format!("{}:", provider.as_str());
    match provider {
        Provider::Openai | Provider::OpenaiResponses => Some(OPENAI),
        _ => PROVIDERS.iter().map(|(_, host, _)| *host).find(|host| host.protocol == protocol),
    }
}

/// Returns the host whose key is the only one in the environment.
fn of_key(environment: &Environment) -> Option<ModelHost> {
    // A token of GitHub lies in many environments for other reasons.
    let is_set = |key: &&str| *key != OWN_TOKEN && environment.get(key).is_some();
    let mut set = PROVIDERS
        .iter()
        .map(|(_, host, _)| *host)
        .filter(|host| host.key.as_ref().is_some_and(is_set));
    set.next().filter(|_| set.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::{ModelHost, ModelWish, PROVIDERS, choose, choose_for, provider_of};
    use crate::config::environment::Environment;
    use pretty_assertions::assert_eq;

    fn named(provider: Option<&str>) -> Option<ModelHost> {
        let found = PROVIDERS.iter().find(|(word, ..)| Some(*word) == provider);
        found.map(|(_, host, _)| *host)
    }

    fn chosen(provider: Option<&str>, model: Option<&str>, env: &[(&str, &str)]) -> String {
        let environment = Environment::from_pairs(env.iter().copied());
        let wish = ModelWish { provider: named(provider), model, no_key: false };
        let model = choose(wish, &environment).unwrap();
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
            (None, Some("azure:mine"), anthropic, "azure:mine -"),
            (Some("bedrock"), Some("eu.anthropic.m-v1:0"), &[], "bedrock:eu.anthropic.m-v1:0 -"),
            (Some("vertex"), None, &[], "vertex:gemini-3.8-flash -"),
        ] {
            assert_eq!(chosen(provider, model, env), expected, "{provider:?} {model:?} {env:?}");
        }
    }

    #[test]
    fn a_jobs_identity_stands_in_for_a_key_where_the_provider_takes_it() {
        let environment = Environment::from_pairs([("OPENAI_API_KEY", "k")]);
        let wish = |provider, model| ModelWish { provider: named(provider), model, no_key: true };
        let model = choose(wish(None, None), &environment).unwrap();
        assert_eq!((model.secret, model.workflow.key), (None, None));
        let variables = ["OPENAI_IDENTITY_PROVIDER_ID", "OPENAI_SERVICE_ACCOUNT_ID"];
        assert_eq!(model.workflow.variables, variables);
        assert!(model.workflow.permission.unwrap().starts_with("id-token: write"));
        let model = choose(wish(Some("bedrock"), Some("m")), &environment).unwrap();
        assert!(model.workflow.login.contains("role-to-assume: ${{ vars.AWS_ROLE_ARN }}"));
        for (provider, model, words) in [
            ("mistral", None, "this provider takes no identity of a job"),
            ("azure", None, "this provider has no usual model"),
        ] {
            let error = choose(wish(Some(provider), model), &environment).err().unwrap();
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn the_workflow_that_is_there_counts_before_the_environment() {
        let text = "model: ${{ vars.LOCUM_MODEL || 'anthropic:m' }}\napi-key: ${{ \
                    secrets.ANTHROPIC_API_KEY }}\n";
        let environment = Environment::from_pairs([("GEMINI_API_KEY", "k")]);
        let wish = |provider, model| ModelWish { provider: named(provider), model, no_key: false };
        let chosen = |provider, model| {
            choose_for(wish(provider, model), Some(text), &environment).unwrap().workflow.model
        };
        assert_eq!(chosen(None, None), "anthropic:m");
        assert_eq!(chosen(Some("anthropic"), None), "anthropic:m");
        assert_eq!(chosen(Some("gemini"), None), "gemini:gemini-3.8-flash");
        assert_eq!(chosen(None, Some("n")), "anthropic:n");
        assert_eq!(provider_of(wish(None, None), Some(text), &environment), "anthropic");
        // One that stores no key goes on so.
        let text = "id-token: write\nmodel: ${{ vars.LOCUM_MODEL || 'anthropic:m' }}\n";
        let model = choose_for(wish(None, None), Some(text), &environment).unwrap();
        assert_eq!((model.workflow.model.as_str(), model.workflow.key), ("anthropic:m", None));
    }

    #[test]
    fn a_model_that_could_end_the_expression_is_refused() {
        let environment = Environment::from_pairs([("PATH", "/bin")]);
        let wish = ModelWish { model: Some("x' }} y"), ..ModelWish::default() };
        assert!(choose(wish, &environment).is_err());
    }
}
