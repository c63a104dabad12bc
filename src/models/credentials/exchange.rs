//! What is sent to a token endpoint, and what it answers.
//!
//! In: a grant and the token that says who the job is. Out: a request, and of the answer the token
//! with its lifetime. Nothing is sent here.

use std::time::Duration;

use serde_json::{Value, json};

use super::Grant;
use locum_base::secret::Secret;

/// Lifetime of a token whose endpoint names none.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(300);

/// What is posted to an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TokenRequest {
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl TokenRequest {
    pub(super) fn json(headers: Vec<(&'static str, String)>, body: &Value) -> Self {
        let kind = ("content-type", "application/json".to_owned());
        Self { headers: std::iter::once(kind).chain(headers).collect(), body: body.to_string() }
    }

    pub(super) fn form(pairs: &[(&str, &str)]) -> Self {
        let kind = ("content-type", "application/x-www-form-urlencoded".to_owned());
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        Self { headers: vec![kind], body }
    }
}

impl Grant {
    /// Returns what to post for a job's identity.
    pub(super) fn request(&self, subject: &Secret) -> TokenRequest {
        match self {
            Self::Anthropic { rule, organization, service_account, workspace } => {
                let mut body = serde_json::Map::new();
                for (key, value) in [
                    ("grant_type", Some("urn:ietf:params:oauth:grant-type:jwt-bearer")),
                    ("assertion", Some(subject.expose())),
                    ("federation_rule_id", Some(rule)),
                    ("organization_id", Some(organization)),
                    ("service_account_id", service_account.as_deref()),
                    ("workspace_id", workspace.as_deref()),
                ] {
                    body.extend(value.map(|value| (key.to_owned(), Value::from(value))));
                }
                let beta = "oauth-2025-04-20,oidc-federation-2026-04-01".to_owned();
                TokenRequest::json(vec![("anthropic-beta", beta)], &Value::Object(body))
            }
            Self::Openai { identity_provider, service_account } => TokenRequest::json(
                Vec::new(),
                &json!({
                    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                    "subject_token": subject.expose(),
                    "identity_provider_id": identity_provider,
                    "service_account_id": service_account,
                }),
            ),
            Self::Entra { client } => TokenRequest::form(&[
                ("grant_type", "client_credentials"),
                ("client_id", client),
                ("scope", "https://cognitiveservices.azure.com/.default"),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", subject.expose()),
            ]),
        }
    }

    /// Returns what to look at where an identity is refused.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            Self::Anthropic { .. } => {
                "the federation rule has to match repository, ref and audience; the Claude \
                 Console lists refused exchanges under Workload identity; \
                 ANTHROPIC_WORKSPACE_ID is needed where the rule allows several workspaces"
            }
            Self::Openai { .. } => {
                "a mapping of the workload identity provider has to match repository, ref and \
                 audience, and to name the service account"
            }
            Self::Entra { .. } => {
                "a federated credential of the app registration has to match issuer, subject and \
                 the audience `api://AzureADTokenExchange`"
            }
        }
    }
}

/// Reads the answer of a token endpoint: the token and how long it lasts.
///
/// # Errors
/// When there is no token in it.
pub(super) fn read_token(answer: &str) -> Result<(Secret, Duration), String> {
    let answer: Value =
        serde_json::from_str(answer).map_err(|_| "its answer is not JSON".to_owned())?;
    // The second name is that of an impersonated service account's.
    let token = answer.get("access_token").or_else(|| answer.get("accessToken"));
    let token = token.and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err("its answer holds no token".to_owned());
    }
    let lifetime = answer.get("expires_in").and_then(crate::transport::json::read_number);
    Ok((Secret::new(token), lifetime.map_or(DEFAULT_LIFETIME, Duration::from_secs)))
}

/// Reads the identity that GitHub Actions answers with.
///
/// # Errors
/// When there is none in it.
pub(super) fn read_identity(answer: &str) -> Result<Secret, String> {
    serde_json::from_str::<Value>(answer)
        .ok()
        .as_ref()
        .and_then(|answer| answer.get("value")?.as_str())
        .filter(|token| !token.is_empty())
        .map(Secret::new)
        .ok_or_else(|| "its answer holds no identity token".to_owned())
}
