//! [`ProfileError`]: why a run has no model, and what to do about it.

use super::MODEL_VARIABLE;

/// Why no model could be chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing names a model.
    #[error("no model is configured")]
    NoModel,
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
    /// The compiled-in catalogue is broken.
    #[error("{0}")]
    Catalogue(String),
}

impl ProfileError {
    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoModel => format!(
                "set OPENAI_API_KEY and {MODEL_VARIABLE} in the environment (OPENAI_BASE_URL too \
                 for a server other than OpenAI's; {MODEL_VARIABLE}=anthropic:MODEL and \
                 ANTHROPIC_API_KEY for Anthropic's), or describe a profile under \
                 `models.profiles` in the configuration"
            ),
            Self::NoPointer(_) => {
                format!("set `models.pointers.main`, `--model` or {MODEL_VARIABLE} to one of them")
            }
            Self::UnknownProfile { near: Some(near), .. } => format!("did you mean `{near}`?"),
            Self::UnknownProfile { near: None, .. } => {
                "describe it under `models.profiles`, or take the pointer out".to_owned()
            }
            Self::NoKey { variable, .. } => {
                format!(
                    "set {variable}; in a workflow: `env: {{ {variable}: ${{{{ secrets.{variable} \
                     }}}} }}`, from a secret that exists"
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
            Self::Catalogue(_) => "this is a bug: please report it".to_owned(),
        }
    }
}
