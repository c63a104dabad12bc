//! A model that embeds texts: it gives each a vector, and texts that mean the like have vectors of
//! like directions.
//!
//! In: a chosen model, texts. Out: a vector for each, and what the provider counted. What fails is
//! the caller's to do without. It speaks the embeddings of OpenAI, as most servers do
//! (`POST …/embeddings`; OpenAI API reference, "Create embeddings"), and Gemini's
//! (`…:batchEmbedContents`; Gemini API reference, "Embeddings").

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::timeout;

use crate::ModelError;
use crate::accounting::{self, PricedUsage};
use crate::catalogue::ModelLimits;
use crate::gemini::model_path;
use crate::profile::Provider;
use crate::resolve::ChosenModel;
use crate::transport::SetupError;
use crate::transport::connection::{Connection, ServerAnswer};
use crate::transport::json::count_at;
use crate::transport::protocol::{Endpoint, KeyHeader, endpoint_url, identity, openai_key_header};
use locum_base::chat::Usage;

/// Most texts of one request: Gemini takes 100.
pub const REQUEST_LIMIT_TEXTS: usize = 64;

/// Most numbers of a vector.
pub const VECTOR_LIMIT: usize = 8192;

/// Largest answer that is read, in bytes: as many vectors as may be, and more than twice that.
const ANSWER_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// See the module.
#[derive(Debug)]
pub struct EmbeddingModel {
    /// The profile's name.
    name: String,
    model: String,
    /// See [`EmbeddingModel::identity`].
    identity: String,
    connection: Connection,
    protocol: EmbeddingProtocol,
    limits: ModelLimits,
    timeout: Duration,
}

/// How a server is asked for vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EmbeddingProtocol {
    Openai,
    Gemini,
}

/// The vectors of some texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embeddings {
    /// One for each text, in their order; all of one length, and none without a direction.
    pub vectors: Vec<Vec<f32>>,
    /// What the request used up.
    pub usage: PricedUsage,
    /// Whether the provider counted its tokens.
    pub is_counted: bool,
}

impl EmbeddingModel {
    /// Prepares a model.
    ///
    /// # Errors
    /// When the address or a header cannot be used, or the system has no certificates to trust.
    pub fn prepare(chosen: &ChosenModel) -> Result<Self, SetupError> {
        let model = &chosen.profile.model;
        let protocol = match chosen.profile.provider {
            Provider::Gemini => EmbeddingProtocol::Gemini,
            _ => EmbeddingProtocol::Openai,
        };
        let url = endpoint_url(chosen, |path| match protocol {
            EmbeddingProtocol::Openai if path.ends_with("/embeddings") => path.to_owned(),
            EmbeddingProtocol::Openai => format!("{path}/embeddings"),
            EmbeddingProtocol::Gemini => format!("{}:batchEmbedContents", model_path(path, model)),
        })?;
        let key_header = match protocol {
            EmbeddingProtocol::Openai => openai_key_header(chosen.profile.provider, &url),
            EmbeddingProtocol::Gemini => KeyHeader::Named("x-goog-api-key"),
        };
        let identity = identity(chosen, &url);
        let endpoint = Endpoint { url, key_header, headers: &[], dialect: 0 };
        Ok(Self {
            name: chosen.name.clone(),
            model: model.clone(),
            identity,
            connection: Connection::new(chosen, &endpoint)?,
            protocol,
            limits: chosen.limits,
            timeout: chosen.profile.idle_timeout(),
        })
    }

    /// Returns the profile's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what identifies it: vectors of another cannot be compared with its own.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Estimates how many tokens a text has.
    pub fn estimate_tokens(&self, text: &str) -> u64 {
        accounting::estimate_text(self.limits.tokenizer, text)
    }

    /// Returns what tokens cost, by estimate, that were sent and whose answer did not come.
    pub fn unanswered(&self, tokens: u64) -> PricedUsage {
        let usage = Usage { input: tokens, ..Usage::default() };
        PricedUsage { is_estimate: true, ..PricedUsage::of(usage, self.limits.price) }
    }

    /// Returns how many bytes of a text it is sent at most: two for each token of its window.
    pub fn text_limit_bytes(&self) -> usize {
        usize::try_from(self.limits.context_window).unwrap_or(usize::MAX).saturating_mul(2)
    }

    /// Returns how many tokens may be paid with so many US dollars; `None` for any number, where
    /// they cost nothing.
    pub fn affordable_tokens(&self, usd: f64) -> Option<u64> {
        let price = self.limits.price.filter(|price| price.input > 0.0)?;
        let tokens = (usd.max(0.0) / price.input * 1e6).min(1e15);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 10^15"
        )]
        Some(tokens as u64)
    }

    /// Asks for the vectors of texts: at most [`REQUEST_LIMIT_TEXTS`]. After a passing fault it
    /// asks once more, unless the server says how long to wait: servers close connections that are
    /// about to be used again.
    ///
    /// # Errors
    /// When there is no answer, or not the one that was asked for.
    pub async fn embed(&self, texts: &[&str]) -> Result<Embeddings, ModelError> {
        match self.embed_once(texts).await {
            Err(
                ModelError::Unavailable { retry_after: None, .. } | ModelError::NotConnected { .. },
            ) => self.embed_once(texts).await,
            answer => answer,
        }
    }

    async fn embed_once(&self, texts: &[&str]) -> Result<Embeddings, ModelError> {
        let body = self.body(texts).map_err(|err| {
            self.connection.garbled(&format!("the request cannot be written: {err}"))
        })?;
        let response = match self.connection.send(body, &[]).await? {
            ServerAnswer::Accepted(response) => response,
            ServerAnswer::Refused(refused) => return Err(self.connection.refusal(&refused)),
            ServerAnswer::Silent(error) => return Err(error),
        };
        let longest = self.timeout;
        let body = match timeout(longest, self.connection.whole(response, ANSWER_LIMIT_BYTES)).await
        {
            Ok(body) => body?,
            Err(_) => {
                let seconds = longest.as_secs_f64();
                let message = format!("the answer was not complete after {seconds} s");
                return Err(self.connection.unavailable(message));
            }
        };
        let answer: Value = serde_json::from_slice(&body).map_err(|err| {
            self.connection.garbled(&format!("the answer cannot be parsed ({err})"))
        })?;
        if let Some(fault) = answer.get("error").filter(|fault| !fault.is_null()) {
            return Err(self.connection.reported(fault.clone()));
        }
        let vectors =
            self.vectors(&answer, texts.len()).map_err(|why| self.connection.garbled(&why))?;
        let counted = counted(&answer);
        let usage = self.usage(counted, texts);
        Ok(Embeddings { vectors, usage, is_counted: counted.is_some() })
    }

    fn body(&self, texts: &[&str]) -> Result<Vec<u8>, serde_json::Error> {
        match self.protocol {
            EmbeddingProtocol::Openai => serde_json::to_vec(&OpenaiRequest {
                model: &self.model,
                input: texts,
                encoding_format: "float",
            }),
            EmbeddingProtocol::Gemini => {
                let model = self.model.strip_prefix("models/").unwrap_or(&self.model);
                let request = |text: &&str| {
                    serde_json::json!({
                        "model": format!("models/{model}"),
                        "content": { "parts": [{ "text": text }] },
                    })
                };
                let requests: Vec<Value> = texts.iter().map(request).collect();
                serde_json::to_vec(&serde_json::json!({ "requests": requests }))
            }
        }
    }

    /// Reads the vectors of an answer, as many as there are texts.
    fn vectors(&self, answer: &Value, count: usize) -> Result<Vec<Vec<f32>>, String> {
        let read = |key: &str| {
            answer
                .get(key)
                .map(<Vec<EmbeddedText> as Deserialize>::deserialize)
                .ok_or_else(|| format!("the answer has no `{key}`"))?
                .map_err(|err| format!("`{key}` of the answer is not understood ({err})"))
        };
        let mut embedded = match self.protocol {
            EmbeddingProtocol::Openai => read("data")?,
            EmbeddingProtocol::Gemini => read("embeddings")?,
        };
        // Not every server keeps the order; one that gives no numbers does.
        embedded.sort_by_key(|embedded| embedded.index);
        if embedded.len() != count {
            return Err(format!("{} vectors came for {count} texts", embedded.len()));
        }
        let length = embedded.first().map_or(0, |first| first.vector.len());
        if length == 0 || length > VECTOR_LIMIT {
            return Err(format!("its vectors have {length} numbers, not 1 to {VECTOR_LIMIT}"));
        }
        let is_wrong = |embedded: &EmbeddedText| {
            let vector = &embedded.vector;
            vector.len() != length
                || vector.iter().any(|number| !number.is_finite())
                || vector.iter().all(|number| *number == 0.0)
        };
        if embedded.iter().any(is_wrong) {
            return Err("its vectors differ in length, or have no direction".to_owned());
        }
        Ok(embedded.into_iter().map(|embedded| embedded.vector).collect())
    }

    fn usage(&self, counted: Option<u64>, texts: &[&str]) -> PricedUsage {
        let estimate = || texts.iter().map(|text| self.estimate_tokens(text)).sum();
        let usage = Usage { input: counted.unwrap_or_else(estimate), ..Usage::default() };
        let priced = PricedUsage::of(usage, self.limits.price);
        PricedUsage { is_estimate: priced.is_estimate || counted.is_none(), ..priced }
    }
}

/// Returns the tokens that an answer counts.
fn counted(answer: &Value) -> Option<u64> {
    [["usage", "prompt_tokens"], ["usage", "total_tokens"], ["usageMetadata", "promptTokenCount"]]
        .into_iter()
        .map(|path| count_at(answer, &path))
        .find(|count| *count > 0)
}

#[derive(Serialize)]
struct OpenaiRequest<'t> {
    model: &'t str,
    input: &'t [&'t str],
    encoding_format: &'static str,
}

/// A text with its vector, as either protocol has it.
#[derive(Deserialize)]
struct EmbeddedText {
    #[serde(default)]
    index: usize,
    #[serde(alias = "embedding", alias = "values")]
    vector: Vec<f32>,
}

#[cfg(test)]
mod tests;
