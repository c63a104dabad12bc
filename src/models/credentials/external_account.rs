//! An external account's file, as `google-github-actions/auth` and `gcloud` write it.
//!
//! In: the file's text. Out: where its identity is, and the two requests that make a token of it:
//! an exchange at Google's token service, and where the file names one, the impersonation of a
//! service account. Source: google.aip.dev/auth/4117; cloud.google.com/iam/docs,
//! "Workload Identity Federation". The file may lie in the checkout, where others write: it is read
//! once, before anything else happens, and what it says goes to Google alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::exchange::TokenRequest;
use crate::address::is_loopback;
use locum_base::secret::Secret;

/// What a token is for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The file, as far as it is used.
#[derive(Clone, Deserialize)]
pub(super) struct ExternalAccount {
    #[serde(rename = "type")]
    kind: String,
    audience: String,
    subject_token_type: String,
    /// Where the identity is exchanged.
    pub(super) token_url: String,
    /// Where a service account is impersonated.
    #[serde(rename = "service_account_impersonation_url")]
    pub(super) impersonation_url: Option<String>,
    /// Where the identity is.
    #[serde(rename = "credential_source")]
    pub(super) source: IdentitySource,
}

/// Where an identity is.
#[derive(Clone, Deserialize)]
pub(super) struct IdentitySource {
    pub(super) url: Option<String>,
    pub(super) file: Option<PathBuf>,
    /// Of the request for it; their values may be tokens.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    format: SourceFormat,
}

#[derive(Clone, Default, Deserialize)]
struct SourceFormat {
    /// The field that holds it, in JSON.
    #[serde(rename = "subject_token_field_name")]
    field: Option<String>,
}

impl ExternalAccount {
    /// Reads the file.
    ///
    /// # Errors
    /// Says what is wrong with it, and quotes nothing of it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let account: Self = serde_json::from_str(text).map_err(|_| {
            "is not the file of an external account: `google-github-actions/auth` with \
             `workload_identity_provider` writes one"
                .to_owned()
        })?;
        if account.kind != "external_account" {
            return Err(format!(
                "holds credentials of the type `{}`: only `external_account` is \
                                supported, which holds no long-lived key",
                account.kind
            ));
        }
        for address in std::iter::once(&account.token_url).chain(&account.impersonation_url) {
            if !is_googles(address) {
                return Err(format!("names `{address}`, which is not an address of Google's"));
            }
        }
        Ok(account)
    }

    /// Returns what is posted for an identity.
    pub(super) fn exchange(&self, subject: &Secret) -> TokenRequest {
        TokenRequest::form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("audience", &self.audience),
            ("scope", SCOPE),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token_type", &self.subject_token_type),
            ("subject_token", subject.expose()),
        ])
    }

    /// Returns what is posted to be a service account.
    pub(super) fn impersonation(token: &Secret) -> TokenRequest {
        let bearer = ("authorization", format!("Bearer {}", token.expose()));
        TokenRequest::json(vec![bearer], &json!({ "scope": [SCOPE], "lifetime": "3600s" }))
    }
}

impl IdentitySource {
    /// Reads the identity in an answer or a file.
    ///
    /// # Errors
    /// When there is none in it.
    pub(super) fn read(&self, text: &str) -> Result<Secret, String> {
        let found = match &self.format.field {
            None => Some(text.trim().to_owned()),
            Some(field) => serde_json::from_str::<Value>(text)
                .ok()
                .and_then(|answer| answer.get(field)?.as_str().map(str::to_owned)),
        };
        found
            .filter(|token| !token.is_empty())
            .map(Secret::new)
            .ok_or_else(|| "there is no identity token in it".to_owned())
    }
}

/// Describes the account of a job of GitHub Actions, as `google-github-actions/auth` would in its
/// file: the pool's provider, and in `GOOGLE_SERVICE_ACCOUNT` a service account to be.
///
/// # Errors
/// When the address of the job's identity is none.
pub(super) fn of_actions(
    provider: &str,
    (url, token): (String, Secret),
    env: &BTreeMap<String, String>,
) -> Result<String, String> {
    let variable = |name: &str| super::text(env, name);
    let exchange = variable("GOOGLE_TOKEN_URL")
        .unwrap_or_else(|| "https://sts.googleapis.com/v1/token".to_owned());
    let impersonation = variable("GOOGLE_SERVICE_ACCOUNT").map(|account| {
        format!(
            "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{account}:\
             generateAccessToken"
        )
    });
    let mut url = Url::parse(&url).map_err(|error| format!("{}: {error}", super::ACTIONS_URL))?;
    let audience = format!("https://iam.googleapis.com/{provider}");
    url.query_pairs_mut().append_pair("audience", &audience);
    let account = json!({
        "type": "external_account",
        "audience": format!("//iam.googleapis.com/{provider}"),
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": exchange,
        "service_account_impersonation_url": impersonation,
        "credential_source": {
            "url": url.as_str(),
            "headers": { "Authorization": format!("Bearer {}", token.expose()) },
            "format": { "type": "json", "subject_token_field_name": "value" },
        },
    });
    Ok(account.to_string())
}

fn is_googles(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| {
        let host = url.host_str().unwrap_or_default();
        is_loopback(&url) || (url.scheme() == "https" && host.ends_with(".googleapis.com"))
    })
}

#[cfg(test)]
mod tests {
    use super::{ExternalAccount, of_actions};
    use locum_base::secret::Secret;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_job_of_actions_needs_no_file() {
        let provider = "projects/1/locations/global/workloadIdentityPools/p/providers/github";
        let request = |url: &str| (url.to_owned(), Secret::new("request-token"));
        let env = [("GOOGLE_SERVICE_ACCOUNT".to_owned(), "locum@acme.example".to_owned())];
        let text = of_actions(provider, request("https://a.example/id?v=2"), &env.into()).unwrap();
        let account = ExternalAccount::parse(&text).unwrap();
        assert_eq!(account.token_url, "https://sts.googleapis.com/v1/token");
        assert_eq!(
            account.impersonation_url.as_deref(),
            Some(
                "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/\
                 locum@acme.example:generateAccessToken"
            )
        );
        let asked = account.source.url.unwrap();
        let end = "providers%2Fgithub";
        assert!(
            asked.starts_with("https://a.example/id?v=2&audience=https%3A%2F%2Fiam"),
            "{asked}"
        );
        assert!(asked.ends_with(end), "{asked}");
        let plain = of_actions(provider, request("https://a.example/id"), &[].into()).unwrap();
        assert_eq!(ExternalAccount::parse(&plain).unwrap().impersonation_url, None);
        assert!(of_actions(provider, request("nowhere"), &[].into()).is_err());
    }

    #[test]
    fn an_identity_goes_to_google_alone() {
        let file = |kind: &str, url: &str, more: &str| {
            format!(
                r#"{{"type":"{kind}","audience":"a","subject_token_type":"t","token_url":"{url}",
                    "credential_source":{{"url":"https://x"}}{more}}}"#
            )
        };
        let good = "https://sts.googleapis.com/v1/token";
        assert!(ExternalAccount::parse(&file("external_account", good, "")).is_ok());
        for (kind, url, more, words) in [
            ("service_account", good, "", "holds no long-lived key"),
            ("external_account", "https://evil.example/v1/token", "", "not an address of Google's"),
            ("external_account", "http://sts.googleapis.com/v1", "", "not an address of Google's"),
            (
                "external_account",
                good,
                r#","service_account_impersonation_url":"https://googleapis.com.evil.example/x""#,
                "not an address of Google's",
            ),
        ] {
            let error = ExternalAccount::parse(&file(kind, url, more)).err().unwrap();
            assert!(error.contains(words), "{error}");
        }
        assert!(ExternalAccount::parse("{}").is_err());
    }
}
