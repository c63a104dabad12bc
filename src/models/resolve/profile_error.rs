//! [`ProfileError`]: why a run has no model, and what to do about it.

use super::MODEL_VARIABLE;

/// Why no model could be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing names a model.
    #[error("no model is configured")]
    NoModel {
        /// The variables that hold keys.
        keys: Vec<String>,
        /// True where `OPENAI_BASE_URL` names a server whose models nobody knows.
        moved: bool,
    },
    /// A protocol without a model's name behind it.
    #[error("`{name}` names no model")]
    NoModelName {
        /// What was written.
        name: String,
        /// The provider before the colon.
        provider: &'static str,
        /// A model of that provider.
        model: Option<String>,
    },
    /// Several profiles and nothing that chooses one.
    #[error("several models are configured ({0}) and no pointer says which one to use")]
    NoPointer(String),
    /// A pointer names a profile that is not there.
    #[error("`models.pointers.{pointer}` names the profile `{name}`, which does not exist")]
    UnknownProfile {
        /// Name of the pointer.
        pointer: &'static str,
        /// Name of the missing profile.
        name: String,
        /// The profile that was probably meant.
        near: Option<String>,
    },
    /// The variable that should hold the key is not there or empty.
    #[error(
        "model `{name}`: the environment variable `{variable}`, which should hold the key, is \
         {state}"
    )]
    NoKey {
        /// The profile or model.
        name: String,
        /// Name of the variable.
        variable: String,
        /// `not set`, `empty` or what else is wrong with it.
        state: &'static str,
        /// The only key that is set, and the model it could ask.
        instead: Option<(String, String)>,
    },
    /// An address that is none.
    #[error("model `{name}`: `base_url` `{url}` {problem}")]
    BaseUrl {
        /// The profile or model.
        name: String,
        /// Address as configured.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The repository's configuration would send requests or a key to a host that neither the user
    /// nor the catalogue tied them to.
    #[error("model `{name}`: the repository's configuration may not {what}")]
    NotTied {
        /// The profile or model.
        name: String,
        /// What it tried to do.
        what: String,
    },
    /// A number outside its range, a header that is not allowed.
    #[error("model `{name}`: {problem}")]
    Profile {
        /// The profile or model.
        name: String,
        /// What is wrong with the profile.
        problem: String,
    },
    /// The environment describes a credential in part.
    #[error("model `{name}`: {problem}")]
    Credential {
        /// The profile or model.
        name: String,
        /// What is missing.
        problem: String,
    },
    /// The compiled-in catalogue is broken.
    #[error("{0}")]
    Catalogue(String),
}

impl ProfileError {
    /// Returns true when a model or its key has yet to be named: nothing that is there is wrong.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::NoModel { .. } | Self::NoKey { .. })
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoModel { moved: true, .. } => format!(
                "OPENAI_BASE_URL names a server: set {MODEL_VARIABLE} to the name of one of its \
                 models"
            ),
            Self::NoModel { keys, .. } if keys.len() > 1 => format!(
                "{} are set: say which model to ask, as in {MODEL_VARIABLE}=claude-sonnet-5-5",
                keys.join(" and ")
            ),
            Self::NoModel { keys, .. } if !keys.is_empty() => format!(
                "{} is set: describe a profile of its host under `models.profiles` in the \
                 configuration, with `model` and `base_url`",
                keys.join("")
            ),
            Self::NoModelName { provider, model, .. } => {
                let model = model.as_deref().unwrap_or("MODEL");
                format!("write the model's name after the colon, as in `{provider}:{model}`")
            }
            Self::NoModel { .. } => format!(
                "set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY in the environment; \
                 {MODEL_VARIABLE} names another model than the provider's usual one, \
                 OPENAI_BASE_URL another server; or describe a profile under `models.profiles` in \
                 the configuration; in a workflow, the action's inputs `model` and `api-key` do \
                 the same"
            ),
            Self::NoPointer(_) => {
                format!("set `models.pointers.main`, `--model` or {MODEL_VARIABLE} to one of them")
            }
            Self::UnknownProfile { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownProfile { near: None, .. } => {
                "describe it under `models.profiles`, or take the pointer out".to_owned()
            }
            Self::NoKey { variable, instead: Some((key, model)), .. } => format!(
                "only {key} is set: set {variable}, or ask a model of that key, as in \
                 {MODEL_VARIABLE}={model}; for a gateway that serves both, set OPENAI_BASE_URL and \
                 OPENAI_API_KEY"
            ),
            Self::NoKey { variable, .. } => {
                format!(
                    "set {variable}; in a workflow, the action's input `api-key` or `env: {{ {variable}: \
                     ${{{{ secrets.{variable} }}}} }}` sets it, from a secret that exists: see the \
                     repository's Settings, Secrets and variables, Actions"
                )
            }
            Self::BaseUrl { .. } => {
                "give the address the API starts at, such as `https://api.openai.com/v1`".to_owned()
            }
            Self::NotTied { .. } => "name host and key variable together in the user \
                                     configuration, or set OPENAI_BASE_URL and OPENAI_API_KEY in \
                                     the environment: a repository can use hosts and keys a \
                                     person tied together, and the providers' own"
                .to_owned(),
            Self::Profile { .. } => "correct the profile".to_owned(),
            Self::Credential { .. } => {
                "set what is missing, or the provider's key: docs/models.md has a page a provider"
                    .to_owned()
            }
            Self::Catalogue(_) => "this is a bug: please report it".to_owned(),
        }
    }
}
