//! The address that a profile's requests go to.

use std::collections::BTreeMap;

use url::Url;

use crate::address;
use crate::credentials::{aws_region, vertex_url};
use crate::profile::{Profile, Provider, ProviderApi};
use crate::proxy::variable_value;
use crate::resolve::ProfileError;

/// Returns the profile's address; where it names none, the place the environment names for the
/// provider, for profiles that use the provider's key, or the provider's own.
pub(super) fn base_url(
    profile: &Profile,
    home: ProviderApi,
    env: &BTreeMap<String, String>,
) -> Result<String, String> {
    let own_key = profile.api_key_env.as_deref().is_none_or(|name| name == home.key_variable);
    let from_env = variable_value(env, home.url_variable).filter(|_| own_key);
    let trimmed = |url: &str| url.trim().to_owned();
    if let Some(own) = profile.base_url.as_deref() {
        return Ok(trimmed(own));
    }
    match (profile.provider, from_env) {
        (Provider::Vertex, root) => vertex_url(root, env),
        (Provider::Azure, Some(resource)) => {
            Ok(format!("{}/openai/v1", resource.trim().trim_end_matches('/')))
        }
        (Provider::Azure, None) => Err(format!(
            "{} is not set: it names the resource, as in `https://NAME.openai.azure.com`",
            home.url_variable
        )),
        (_, Some(named)) => Ok(trimmed(named)),
        (Provider::Bedrock, None) => Ok(aws_region(env).map_or_else(
            || home.url.to_owned(),
            |region| format!("https://bedrock-runtime.{region}.amazonaws.com"),
        )),
        (_, None) => Ok(home.url.to_owned()),
    }
}

/// Reads an address that requests may go to.
pub(super) fn parse_base_url(name: &str, address: &str) -> Result<Url, ProfileError> {
    let fault = |problem: String| ProfileError::BaseUrl {
        name: name.to_owned(),
        url: address::shown(address),
        problem,
    };
    let url = Url::parse(address).map_err(|err| fault(format!("is not an address: {err}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fault(format!(
            "has the scheme `{}`; only http and https are supported",
            url.scheme()
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(fault(
            "holds a user name or password; a key belongs in an environment variable".to_owned(),
        ));
    }
    if url.fragment().is_some() {
        return Err(fault("has a `#` part, which no server sees".to_owned()));
    }
    Ok(url)
}
