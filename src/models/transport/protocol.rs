//! What a protocol says of itself: where its requests go, their bodies, how a refusal changes them.
//!
//! In: a resolved model. Out: its endpoint, and what every protocol takes from its profile. Nothing
//! is sent here.

use url::Url;

use crate::ModelRequest;
use crate::profile::{Effort, Profile, Provider};
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

/// How a server wants the fields on which servers differ: bits that mean what the protocol says,
/// but for [`NO_IMAGES`].
pub(crate) type ServerDialect = u16;

/// Send no images, in every protocol.
pub(crate) const NO_IMAGES: ServerDialect = 1 << 7;

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
    pub(crate) profile: Profile,
    /// See [`identity`]: the provider state of another is not sent to it.
    by: String,
    /// The kinds of images the model is sent.
    pub(crate) images: &'static [ImageKind],
}

/// What a body depends on besides the request's words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestOptions<'a> {
    /// The model's name at the provider.
    pub(crate) model: &'a str,
    /// Whose kept parts are sent back.
    pub(crate) by: &'a str,
    /// Sampling temperature; left out when absent.
    pub(crate) temperature: Option<f64>,
    /// Most tokens of the reply, reasoning included.
    pub(crate) max_output_tokens: Option<u32>,
    /// How hard to think; the provider's default when absent.
    pub(crate) effort: Option<Effort>,
    /// Most tokens to think, where the profile has a number.
    pub(crate) thinking_tokens: Option<u32>,
    /// The kinds of images the model is sent.
    pub(crate) images: &'static [ImageKind],
    /// Whether the reply is to come as events of a stream.
    pub(crate) stream: bool,
    /// How the server wants optional fields.
    pub(crate) dialect: ServerDialect,
}

impl RequestOptions<'_> {
    /// Returns true where the dialect has this bit.
    pub(crate) fn has(self, bit: ServerDialect) -> bool {
        self.dialect & bit != 0
    }
}

impl ModelDefaults {
    pub(crate) fn new(chosen: &ChosenModel, url: &Url) -> Self {
        Self {
            profile: chosen.profile.clone(),
            by: identity(chosen, url),
            images: if chosen.limits.images { &ImageKind::ALL } else { &[] },
        }
    }

    #[cfg(test)]
    pub(crate) fn sample(model: &str, effort: Option<Effort>) -> Self {
        let profile = Profile { reasoning_effort: effort, ..Profile::new(model) };
        Self { profile, by: String::new(), images: &ImageKind::ALL }
    }

    /// Returns the options of a request: its own, else the profile's. No images are sent where the
    /// server has refused them.
    pub(crate) fn options(
        &self,
        request: &ModelRequest<'_>,
        dialect: ServerDialect,
    ) -> RequestOptions<'_> {
        RequestOptions {
            model: &self.profile.model,
            by: &self.by,
            temperature: request.temperature.or(self.profile.temperature),
            max_output_tokens: [request.max_output_tokens, self.profile.max_output_tokens]
                .into_iter()
                .flatten()
                .min(),
            effort: self.profile.reasoning_effort,
            thinking_tokens: self.profile.thinking_tokens,
            images: if dialect & NO_IMAGES == 0 { self.images } else { &[] },
            stream: self.profile.stream,
            dialect,
        }
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
pub(crate) fn openai_key_header(provider: Provider, url: &Url) -> KeyHeader {
    const AZURE: &[&str] =
        &[".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"];
    let host = url.host_str().unwrap_or_default();
    if provider == Provider::Azure || AZURE.iter().any(|end| host.ends_with(end)) {
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
    use super::{KeyHeader, ModelDefaults, NO_IMAGES, openai_key_header};
    use crate::ModelRequest;
    use crate::profile::Provider;
    use locum_base::image::ImageKind;

    #[test]
    fn the_smaller_limit_counts_and_refused_images_are_not_sent() {
        let mut defaults = ModelDefaults::sample("m", None);
        defaults.profile.max_output_tokens = Some(7);
        let request = ModelRequest::with(&[]);
        let options = defaults.options(&request, 0);
        assert_eq!((options.max_output_tokens, options.images), (Some(7), &ImageKind::ALL[..]));
        let request = ModelRequest { max_output_tokens: Some(6), ..request };
        let options = defaults.options(&request, NO_IMAGES);
        assert_eq!((options.max_output_tokens, options.images), (Some(6), &[][..]));
        let request = ModelRequest { max_output_tokens: Some(9), ..request };
        let options = defaults.options(&request, 0);
        assert_eq!(options.max_output_tokens, Some(7), "the profile's limit is not passed");
    }

    #[test]
    fn azure_gets_its_key_where_it_looks_for_it() {
        for (host, expected) in [
            ("https://mine.openai.azure.com/openai/deployments/x", KeyHeader::Named("api-key")),
            ("https://mine.services.ai.azure.com/models", KeyHeader::Named("api-key")),
            ("https://mine.openai.azure.com.evil.example/", KeyHeader::Bearer),
            ("https://api.openai.com/v1", KeyHeader::Bearer),
        ] {
            let header = openai_key_header(Provider::Openai, &host.parse().unwrap());
            assert_eq!(header, expected, "{host}");
        }
    }
}
