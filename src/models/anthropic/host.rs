//! `MessagesHost`: who serves Anthropic's models, and what is different there.
//!
//! In: a path and a body as Anthropic takes them. Out: those of the host. At a cloud the model
//! stands in the address and the API's version in the body. Source: platform.claude.com/docs,
//! "Claude on Amazon Bedrock" and "Claude on Vertex AI"; docs.aws.amazon.com/bedrock/latest,
//! "InvokeModelWithResponseStream" and "InvokeModel"; cloud.google.com/vertex-ai, "rawPredict".

use serde_json::{Map, Value};

use crate::profile::{Profile, Provider};

/// Who serves the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessagesHost {
    /// Anthropic, or a server that does as Anthropic does.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
    /// Google Vertex AI.
    Vertex,
}

impl MessagesHost {
    pub(super) fn of(provider: Provider) -> Self {
        match provider {
            Provider::Bedrock => Self::Bedrock,
            Provider::Vertex => Self::Vertex,
            Provider::Openai
            | Provider::OpenaiResponses
            | Provider::Anthropic
            | Provider::Gemini
            | Provider::Azure
            | Provider::Scripted => Self::Anthropic,
        }
    }

    /// Returns the path of a request below the API's own.
    pub(super) fn path(self, path: &str, profile: &Profile) -> String {
        let Profile { model, stream, .. } = profile;
        match self {
            Self::Anthropic if path.ends_with("/messages") => path.to_owned(),
            Self::Anthropic if path.ends_with("/v1") => format!("{path}/messages"),
            Self::Anthropic => format!("{path}/v1/messages"),
            // A profile's ARN holds slashes, and every name a colon.
            Self::Bedrock => {
                let model = model.replace('/', "%2F").replace(':', "%3A");
                let action = if *stream { "invoke-with-response-stream" } else { "invoke" };
                format!("{path}/model/{model}/{action}")
            }
            Self::Vertex => {
                let action = if *stream { "streamRawPredict" } else { "rawPredict" };
                format!("{path}/publishers/anthropic/models/{model}:{action}")
            }
        }
    }

    /// Returns a body that Anthropic would take as this host takes it.
    pub(super) fn body(self, body: Vec<u8>) -> Result<Vec<u8>, serde_json::Error> {
        let (version, streams_by_address) = match self {
            Self::Anthropic => return Ok(body),
            Self::Bedrock => ("bedrock-2023-05-31", true),
            Self::Vertex => ("vertex-2023-10-16", false),
        };
        let mut body: Map<String, Value> = serde_json::from_slice(&body)?;
        // The order of what is cached stays.
        body.shift_remove("model");
        if streams_by_address {
            body.shift_remove("stream");
        }
        let first = [("anthropic_version".to_owned(), Value::from(version))];
        serde_json::to_vec(&first.into_iter().chain(body).collect::<Map<_, _>>())
    }
}
