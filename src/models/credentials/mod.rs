//! Credentials that are no long-lived key: a job's own identity, exchanged for a token that lasts
//! minutes.
//!
//! In: a provider, the address of its API, the environment. Out: a [`Credential`], or which variable
//! is missing. Nothing is sent and no file is read here; [`live`] does that when a request needs a
//! token, and asks for a new one before the old one expires.

mod exchange;
pub(crate) mod live;

use std::collections::BTreeMap;
use std::path::PathBuf;

use url::Url;

use crate::address::origin;
use crate::profile::Provider;
use crate::proxy::variable_value;
use locum_base::secret::Secret;

/// Where a job of GitHub Actions asks for its identity, and by which token. Both are there only with
/// `permissions: id-token: write`. Source: docs.github.com, "OpenID Connect reference".
const ACTIONS_URL: &str = "ACTIONS_ID_TOKEN_REQUEST_URL";
const ACTIONS_TOKEN: &str = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

/// A credential that is made anew while a run lasts.
#[derive(Clone, Debug, PartialEq)]
pub enum Credential {
    /// A token that a token endpoint gives for an identity.
    Exchange(TokenExchange),
}

/// An identity and where it is exchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenExchange {
    /// Whose token is given away for it.
    pub(crate) subject: SubjectToken,
    /// Where it is exchanged.
    pub(crate) url: String,
    /// How that is asked.
    pub(crate) grant: Grant,
}

/// The token that says who the job is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SubjectToken {
    /// GitHub Actions gives one for an audience.
    Actions { url: String, token: Secret, audience: String },
    /// A variable holds it.
    Given(Secret),
    /// A file holds it, and is read each time: it may be renewed.
    File(PathBuf),
}

/// How a token endpoint is asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Grant {
    /// Anthropic's `jwt-bearer` grant. Source: platform.claude.com/docs/en/manage-claude/wif-reference
    /// and the constants of github.com/anthropics/anthropic-sdk-python.
    Anthropic {
        rule: String,
        organization: String,
        service_account: Option<String>,
        workspace: Option<String>,
    },
    /// OpenAI's token exchange. Source:
    /// developers.openai.com/api/reference/workload-identity-federation.
    Openai { identity_provider: String, service_account: String },
}

/// Finds the credential that the environment describes for a provider at this address; `None` where
/// it describes none.
///
/// # Errors
/// Says which variable is missing where others of the same credential are set.
pub(crate) fn find(
    provider: Provider,
    url: &Url,
    env: &BTreeMap<String, String>,
) -> Result<Option<Credential>, String> {
    match provider {
        Provider::Anthropic => anthropic(url, env),
        Provider::Openai | Provider::OpenaiResponses => openai(env),
        Provider::Gemini | Provider::Scripted => Ok(None),
    }
    .map(|exchange| exchange.map(Credential::Exchange))
}

fn anthropic(url: &Url, env: &BTreeMap<String, String>) -> Result<Option<TokenExchange>, String> {
    let Some(rule) = text(env, "ANTHROPIC_FEDERATION_RULE_ID") else { return Ok(None) };
    let grant = Grant::Anthropic {
        rule,
        organization: needed(env, "ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_FEDERATION_RULE_ID")?,
        service_account: text(env, "ANTHROPIC_SERVICE_ACCOUNT_ID"),
        workspace: text(env, "ANTHROPIC_WORKSPACE_ID"),
    };
    let subject = subject(env, "ANTHROPIC", "https://api.anthropic.com")?;
    // A token of one deployment is good there and nowhere else.
    Ok(Some(TokenExchange { subject, url: format!("{}/v1/oauth/token", origin(url)), grant }))
}

fn openai(env: &BTreeMap<String, String>) -> Result<Option<TokenExchange>, String> {
    let Some(identity_provider) = text(env, "OPENAI_IDENTITY_PROVIDER_ID") else { return Ok(None) };
    let grant = Grant::Openai {
        identity_provider,
        service_account: needed(env, "OPENAI_SERVICE_ACCOUNT_ID", "OPENAI_IDENTITY_PROVIDER_ID")?,
    };
    let subject = subject(env, "OPENAI", "https://api.openai.com/v1")?;
    let url = text(env, "OPENAI_TOKEN_URL");
    let url = url.unwrap_or_else(|| "https://auth.openai.com/oauth/token".to_owned());
    Ok(Some(TokenExchange { subject, url, grant }))
}

/// Finds the job's own identity: in `{maker}_IDENTITY_TOKEN`, in the file that
/// `{maker}_IDENTITY_TOKEN_FILE` names, else from GitHub Actions for `{maker}_OIDC_AUDIENCE`.
fn subject(
    env: &BTreeMap<String, String>,
    maker: &str,
    audience: &str,
) -> Result<SubjectToken, String> {
    if let Some(token) = text(env, &format!("{maker}_IDENTITY_TOKEN")) {
        return Ok(SubjectToken::Given(Secret::new(token)));
    }
    if let Some(file) = text(env, &format!("{maker}_IDENTITY_TOKEN_FILE")) {
        return Ok(SubjectToken::File(file.into()));
    }
    let audience = text(env, &format!("{maker}_OIDC_AUDIENCE")).unwrap_or(audience.to_owned());
    actions(env, audience)
}

fn actions(env: &BTreeMap<String, String>, audience: String) -> Result<SubjectToken, String> {
    match (text(env, ACTIONS_URL), text(env, ACTIONS_TOKEN)) {
        (Some(url), Some(token)) => {
            Ok(SubjectToken::Actions { url, token: Secret::new(token), audience })
        }
        _ => Err(format!(
            "the job has no identity to exchange: {ACTIONS_URL} and {ACTIONS_TOKEN} are not set; \
             give the workflow's job `permissions: id-token: write`"
        )),
    }
}

fn text(env: &BTreeMap<String, String>, name: &str) -> Option<String> {
    variable_value(env, name).map(|value| value.trim().to_owned())
}

/// Reads a variable that has to be there because another one is.
fn needed(env: &BTreeMap<String, String>, name: &str, because: &str) -> Result<String, String> {
    text(env, name).ok_or_else(|| format!("{because} is set, and {name} is not"))
}
