//! Credentials that are no long-lived key: a job's own identity, exchanged for a token that lasts
//! minutes.
//!
//! In: a provider, the address of its API, the environment. Out: a [`Credential`], or which
//! variable is missing. Nothing is sent and no file is read here; [`live`] does that when a request
//! needs a token, and asks for a new one before the old one expires.

mod exchange;
mod external_account;
pub(crate) mod live;
pub mod sigv4;

use std::collections::BTreeMap;
use std::path::PathBuf;

use url::Url;

use crate::address::origin;
use crate::credentials::sigv4::AwsKeys;
use crate::profile::Provider;
use crate::proxy::variable_value;
use locum_base::secret::Secret;

/// Where a job of GitHub Actions asks for its identity, and by which token. Both are there only
/// with `permissions: id-token: write`. Source: docs.github.com, "OpenID Connect reference".
const ACTIONS_URL: &str = "ACTIONS_ID_TOKEN_REQUEST_URL";
const ACTIONS_TOKEN: &str = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

/// A credential that is made again while a run lasts.
#[derive(Clone, Debug, PartialEq)]
pub enum Credential {
    /// A token that a token endpoint gives for an identity.
    Exchange(TokenExchange),
    /// Keys that sign each request.
    Aws(AwsKeys),
    /// An external account at Google.
    Google(AccountSource),
}

/// Where the description of an external account is.
#[derive(Clone, Debug, PartialEq)]
pub enum AccountSource {
    /// A file holds it.
    File(PathBuf),
    /// Variables of the job made it.
    Text(Secret),
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
    /// Anthropic's `jwt-bearer` grant. Source:
    /// platform.claude.com/docs/en/manage-claude/wif-reference and the constants of
    /// github.com/anthropics/anthropic-sdk-python.
    Anthropic {
        rule: String,
        organization: String,
        service_account: Option<String>,
        workspace: Option<String>,
    },
    /// OpenAI's token exchange. Source:
    /// developers.openai.com/api/reference/workload-identity-federation.
    Openai { identity_provider: String, service_account: String },
    /// Microsoft Entra's client credentials with a federated credential. Source:
    /// learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow.
    Entra { client: String },
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
    let exchange = match provider {
        Provider::Anthropic => anthropic(url, env)?,
        Provider::Openai | Provider::OpenaiResponses => openai(env)?,
        Provider::Bedrock => return Ok(Some(Credential::Aws(aws(env)?))),
        Provider::Azure => azure(env)?,
        Provider::Vertex => return google(env).map(Some),
        Provider::Gemini | Provider::Scripted => None,
    };
    Ok(exchange.map(Credential::Exchange))
}

/// Reads the AWS credentials of a job, as `aws-actions/configure-aws-credentials` sets them.
fn aws(env: &BTreeMap<String, String>) -> Result<AwsKeys, String> {
    let access_key_id = text(env, "AWS_ACCESS_KEY_ID").ok_or_else(|| {
        "no AWS credentials are set: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, \
         AWS_SESSION_TOKEN and AWS_REGION, or AWS_BEARER_TOKEN_BEDROCK"
            .to_owned()
    })?;
    Ok(AwsKeys {
        access_key_id,
        secret: Secret::new(needed(env, "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")?),
        session_token: text(env, "AWS_SESSION_TOKEN").map(Secret::new),
        region: aws_region(env).ok_or_else(|| {
            "AWS_REGION is not set: it names the region whose models are asked".to_owned()
        })?,
    })
}

/// Finds the external account that variables describe, or whose file they name.
fn google(env: &BTreeMap<String, String>) -> Result<Credential, String> {
    let file = ["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GHA_CREDS_PATH"]
        .iter()
        .find_map(|name| text(env, name));
    if let Some(file) = file {
        return Ok(Credential::Google(AccountSource::File(file.into())));
    }
    let provider = text(env, "GOOGLE_WORKLOAD_IDENTITY_PROVIDER").ok_or_else(|| {
        "no Google credentials are set: GOOGLE_WORKLOAD_IDENTITY_PROVIDER, \
         GOOGLE_APPLICATION_CREDENTIALS with the file of an external account, or \
         GOOGLE_OAUTH_ACCESS_TOKEN"
            .to_owned()
    })?;
    let account = external_account::of_actions(&provider, actions_request(env)?, env)?;
    Ok(Credential::Google(AccountSource::Text(Secret::new(account))))
}

fn azure(env: &BTreeMap<String, String>) -> Result<Option<TokenExchange>, String> {
    let client = text(env, "AZURE_CLIENT_ID").ok_or_else(|| {
        "no Azure credentials are set: AZURE_CLIENT_ID and AZURE_TENANT_ID, or \
         AZURE_OPENAI_API_KEY"
            .to_owned()
    })?;
    let tenant = needed(env, "AZURE_TENANT_ID", "AZURE_CLIENT_ID")?;
    let authority = text(env, "AZURE_AUTHORITY_HOST")
        .unwrap_or_else(|| "https://login.microsoftonline.com".to_owned());
    let subject = match text(env, "AZURE_FEDERATED_TOKEN_FILE") {
        Some(file) => SubjectToken::File(file.into()),
        None => actions(env, "api://AzureADTokenExchange".to_owned())?,
    };
    let url = format!("{}/{tenant}/oauth2/v2.0/token", authority.trim_end_matches('/'));
    Ok(Some(TokenExchange { subject, url, grant: Grant::Entra { client } }))
}

/// Returns where the models of a Google Cloud project are: `GOOGLE_CLOUD_PROJECT` and
/// `GOOGLE_CLOUD_LOCATION`, `global` where there is none.
pub(crate) fn vertex_url(
    root: Option<&str>,
    env: &BTreeMap<String, String>,
) -> Result<String, String> {
    let project = text(env, "GOOGLE_CLOUD_PROJECT").ok_or_else(|| {
        "GOOGLE_CLOUD_PROJECT is not set: it names the project whose models are asked".to_owned()
    })?;
    let location = text(env, "GOOGLE_CLOUD_LOCATION").unwrap_or_else(|| "global".to_owned());
    let own = match location.as_str() {
        "global" => "https://aiplatform.googleapis.com".to_owned(),
        region => format!("https://{region}-aiplatform.googleapis.com"),
    };
    let root = root.map_or(own, |root| root.trim_end_matches('/').to_owned());
    Ok(format!("{root}/v1/projects/{project}/locations/{location}"))
}

/// Returns the region that the environment names.
pub(crate) fn aws_region(env: &BTreeMap<String, String>) -> Option<String> {
    text(env, "AWS_REGION").or_else(|| text(env, "AWS_DEFAULT_REGION"))
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
    let (url, token) = actions_request(env)?;
    Ok(SubjectToken::Actions { url, token, audience })
}

/// Returns where GitHub Actions gives the job its identity, and the token that asks for it.
fn actions_request(env: &BTreeMap<String, String>) -> Result<(String, Secret), String> {
    match (text(env, ACTIONS_URL), text(env, ACTIONS_TOKEN)) {
        (Some(url), Some(token)) => Ok((url, Secret::new(token))),
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
