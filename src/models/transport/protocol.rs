//! What a protocol says of itself: where its requests go, their bodies, how a refusal changes them.
//!
//! In: a resolved model. Out: its endpoint, and what every protocol takes from its profile. Nothing
//! is sent here.

use url::Url;

use crate::ModelRequest;
use crate::profile::Effort;
use crate::resolve::ChosenModel;
use crate::transport::SetupError;
use crate::transport::response::ReplyParser;
use locum_base::image::ImageKind;

/// The parts in which one provider's protocol differs from the others.
pub(crate) trait Protocol: Send + Sync {
    /// How its answers are read.
    type Parser: ReplyParser;

    /// Returns the body of a request in a server's dialect.
    fn body(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> Result<Vec<u8>, serde_json::Error>;

    /// Returns headers that belong to a dialect.
    fn headers(&self, _dialect: ServerDialect) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns the dialect to try after a server refused a request with these words; `None` when
    /// they are about something else.
    fn corrected(&self, dialect: ServerDialect, status: u16, words: &str) -> Option<ServerDialect>;
}

/// How a server wants the fields on which servers differ: bits that mean what the protocol says.
pub(crate) type ServerDialect = u8;

/// Where requests go.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// The address, in full.
    pub(crate) url: Url,
    /// The header that carries the key.
    pub(crate) key_header: KeyHeader,
    /// Headers of the protocol; a profile's own win.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// What is known of the server's dialect before it was asked.
    pub(crate) dialect: ServerDialect,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of its own.
    Named(&'static str),
}

/// What every protocol takes from a profile.
#[derive(Clone, Debug)]
pub(crate) struct ModelDefaults {
    /// The model's name at the provider.
    pub(crate) model: String,
    /// See [`identity`]: the provider state of another is not sent to it.
    pub(crate) by: String,
    temperature: Option<f64>,
    max_output_tokens: Option<u32>,
    pub(crate) effort: Option<Effort>,
    sees_images: bool,
}

impl ModelDefaults {
    pub(crate) fn new(chosen: &ChosenModel, url: &Url) -> Self {
        Self {
            model: chosen.profile.model.clone(),
            by: identity(chosen, url),
            temperature: chosen.profile.temperature,
            max_output_tokens: chosen.profile.max_output_tokens,
            effort: chosen.profile.reasoning_effort,
            sees_images: chosen.limits.images,
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(model: &str, effort: Option<Effort>) -> Self {
        Self {
            model: model.to_owned(),
            by: String::new(),
            temperature: None,
            max_output_tokens: None,
            effort,
            sees_images: true,
        }
    }

    /// The request's own, else the profile's.
    pub(crate) fn temperature(&self, request: &ModelRequest<'_>) -> Option<f64> {
        request.temperature.or(self.temperature)
    }

    /// The request's own, else the profile's.
    pub(crate) fn max_output_tokens(&self, request: &ModelRequest<'_>) -> Option<u32> {
        request.max_output_tokens.or(self.max_output_tokens)
    }

    /// The kinds of images the model is sent, of those its protocol takes; none where the server
    /// has refused images.
    pub(crate) fn images(
        &self,
        kinds: &'static [ImageKind],
        are_refused: bool,
    ) -> &'static [ImageKind] {
        if self.sees_images && !are_refused { kinds } else { &[] }
    }
}

/// Returns an address with its path changed; a query stays at the end.
pub(crate) fn endpoint_url(
    chosen: &ChosenModel,
    path: impl FnOnce(&str) -> String,
) -> Result<Url, SetupError> {
    let address = chosen.profile.base_url.as_deref().unwrap_or_default();
    let fault = |_| SetupError {
        model: label(chosen),
        message: format!("`base_url` `{address}` is not an address"),
    };
    let mut url = Url::parse(address).map_err(fault)?;
    let changed = path(url.path().trim_end_matches('/'));
    url.set_path(&changed);
    Ok(url)
}

/// Returns the header OpenAI's protocols carry their key in: Azure's hosts want one of their own.
pub(crate) fn openai_key_header(url: &Url) -> KeyHeader {
    const AZURE: &[&str] =
        &[".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
    let host = url.host_str().unwrap_or_default();
    if AZURE.iter().any(|end| host.ends_with(end)) {
        KeyHeader::Named("api-key")
    } else {
        KeyHeader::Bearer
    }
}

/// Returns what identifies a model: its host, the protocol's path there, its name.
pub(crate) fn identity(chosen: &ChosenModel, url: &Url) -> String {
    format!("{}{} {}", url.host_str().unwrap_or_default(), url.path(), chosen.profile.model)
}

pub(super) fn label(chosen: &ChosenModel) -> String {
    if chosen.name == chosen.profile.model {
        chosen.name.clone()
    } else {
        format!("{} ({})", chosen.name, chosen.profile.model)
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyHeader, ModelDefaults, openai_key_header};
    use crate::ModelRequest;
    use locum_base::image::ImageKind;

    #[test]
    fn a_request_wins_over_its_profile_and_refused_images_are_not_sent() {
        let defaults =
            ModelDefaults { max_output_tokens: Some(7), ..ModelDefaults::sample("m", None) };
        let request = ModelRequest::with(&[]);
        assert_eq!(defaults.max_output_tokens(&request), Some(7));
        let request = ModelRequest { max_output_tokens: Some(9), ..request };
        assert_eq!(defaults.max_output_tokens(&request), Some(9));
        assert_eq!(defaults.images(&ImageKind::ALL, false), ImageKind::ALL);
        assert_eq!(defaults.images(&ImageKind::ALL, true), []);
        let blind = ModelDefaults { sees_images: false, ..defaults };
        assert_eq!(blind.images(&ImageKind::ALL, false), []);
    }

    #[test]
    fn azure_gets_its_key_where_it_looks_for_it() {
        for (host, expected) in [
            ("https://mine.openai.azure.com/openai/deployments/x", KeyHeader::Named("api-key")),
            ("https://mine.services.ai.azure.com/models", KeyHeader::Named("api-key")),
            ("https://mine.openai.azure.com.evil.example/", KeyHeader::Bearer),
            ("https://api.openai.com/v1", KeyHeader::Bearer),
        ] {
            assert_eq!(openai_key_header(&host.parse().unwrap()), expected, "{host}");
        }
    }
}
