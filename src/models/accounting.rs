//! What a reply costs and how long a request is: pure arithmetic.
//!
//! In: counted usage and a price, or texts and the tokenizer of their model. Out: US dollars, or an
//! estimate of tokens, which must be shown as one. Once the provider has counted, its count
//! replaces the estimate.

use crate::ModelRequest;
use crate::profile::Price;
use crate::tokens::{Tokenizer, estimate_tokens};
use locum_base::chat::{Message, OpaquePart, Reply, ToolCall, ToolSpec, Usage};
use locum_base::image::Image;

/// What a request used up that is no reply to a task: of a model that embeds texts, or searches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PricedUsage {
    /// Tokens as the provider counted them, or estimated.
    pub usage: Usage,
    /// US dollars by the price table; 0 without a price.
    pub cost_usd: f64,
    /// True when some tokens were not counted, or have no price.
    pub is_estimate: bool,
}

impl PricedUsage {
    /// Returns what counted tokens cost.
    pub fn of(usage: Usage, price: Option<Price>) -> Self {
        let cost_usd = price.map_or(0.0, |price| cost(usage, price));
        Self { usage, cost_usd, is_estimate: price.is_none() }
    }

    /// Adds what another request used up.
    pub fn add(&mut self, other: Self) {
        self.usage.add(other.usage);
        self.cost_usd += other.cost_usd;
        self.is_estimate |= other.is_estimate;
    }
}

/// Tokens a price is quoted for.
const PRICED_TOKENS: f64 = 1_000_000.0;

/// Returns the cost of one request in US dollars. Input read from or written to the provider's
/// cache is part of [`Usage::input`] and is priced separately where the price says so. A long
/// request costs the figures of [`Price::above`].
pub fn cost(usage: Usage, price: Price) -> f64 {
    let price = price.of_request(usage.input);
    let cached_read = usage.cached_read.min(usage.input);
    let cached_write = usage.cached_write.min(usage.input - cached_read);
    let plain = usage.input - cached_read - cached_write;
    let parts = [
        (plain, price.input),
        (cached_read, price.cached_read.unwrap_or(price.input)),
        (cached_write, price.cached_write.unwrap_or(price.input)),
        (usage.output, price.output),
    ];
    parts.iter().map(|(tokens, per_million)| dollars(*tokens, *per_million)).sum()
}

/// Returns how many tokens so many US dollars pay, to the nearest; more than any request has where
/// they cost nothing.
pub fn tokens_for(usd: f64, per_million: f64) -> u64 {
    if per_million <= 0.0 {
        return u64::MAX;
    }
    let tokens = (usd.max(0.0) / per_million * PRICED_TOKENS).round().min(1e15);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 10^15"
    )]
    let tokens = tokens as u64;
    tokens
}

/// Returns about how many tokens the model reads for a request: an estimate.
pub(crate) fn estimate_request(tokenizer: Tokenizer, request: &ModelRequest<'_>) -> u64 {
    let messages: u64 =
        request.messages.iter().map(|message| estimate_message(tokenizer, message)).sum();
    estimate_text(tokenizer, request.system) + estimate_tools(tokenizer, request.tools) + messages
}

/// Returns about how many tokens a text makes that is a message of its own: an estimate.
pub fn estimate_text(tokenizer: Tokenizer, text: &str) -> u64 {
    tokenizer.tokens(text).saturating_add(tokenizer.frame_tokens())
}

/// Returns about how many tokens a question has that is a conversation of its own: an estimate.
pub fn estimate_ask(tokenizer: Tokenizer, system: &str, question: &str) -> u64 {
    estimate_text(tokenizer, system).saturating_add(estimate_text(tokenizer, question))
}

/// Returns about how many tokens tools add to a request: an estimate.
pub fn estimate_tools(tokenizer: Tokenizer, tools: &[ToolSpec]) -> u64 {
    let written =
        |tool: &ToolSpec| format!("{}\n{}\n{}", tool.name, tool.description, tool.parameters);
    tools.iter().map(|tool| estimate_text(tokenizer, &written(tool))).sum()
}

fn tokens_of(images: &[Image]) -> u64 {
    u64::try_from(images.iter().map(Image::tokens).sum::<usize>()).unwrap_or(u64::MAX)
}

/// Returns about how many tokens one message adds to a request: an estimate. What only its provider
/// can read counts by its bytes.
pub fn estimate_message(tokenizer: Tokenizer, message: &Message) -> u64 {
    match message {
        Message::User { text } => estimate_text(tokenizer, text),
        Message::Images { images } => tokens_of(images),
        Message::Assistant { text, calls, opaque, .. } => {
            let opaque: usize =
                opaque.iter().flat_map(|opaque| &opaque.parts).map(OpaquePart::size_bytes).sum();
            estimate_text(tokenizer, text)
                + estimate_tokens(opaque)
                + estimate_calls(tokenizer, calls)
        }
        Message::Tool { results } => results
            .iter()
            .map(|result| {
                estimate_text(tokenizer, &result.text).saturating_add(tokens_of(&result.images))
            })
            .sum(),
    }
}

/// Returns about how many tokens a model wrote: an estimate.
pub fn estimate_reply(tokenizer: Tokenizer, reply: &Reply) -> u64 {
    tokenizer.tokens(&reply.text)
        + tokenizer.tokens(&reply.reasoning)
        + estimate_calls(tokenizer, &reply.calls)
}

fn estimate_calls(tokenizer: Tokenizer, calls: &[ToolCall]) -> u64 {
    calls
        .iter()
        .map(|call| tokenizer.tokens(&call.name) + estimate_text(tokenizer, &call.arguments))
        .sum()
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
fn dollars(tokens: u64, per_million: f64) -> f64 {
    tokens as f64 * per_million / PRICED_TOKENS
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{cost, estimate_reply, estimate_request, tokens_for};
    use crate::ModelRequest;
    use crate::catalogue::Catalogue;
    use crate::profile::{Price, Profile};
    use crate::tokens::{Tokenizer, estimate_tokens};
    use locum_base::chat::{Message, Reply, ToolCall, ToolResult, Usage};

    fn check(usage: Usage, price: Price, dollars: f64) {
        assert!(
            (cost(usage, price) - dollars).abs() < 1e-9,
            "{usage:?} at {price:?} cost {}",
            cost(usage, price)
        );
    }

    fn priced(input: f64, output: f64) -> Price {
        Price { input, output, ..Price::default() }
    }

    #[test]
    fn a_long_request_costs_more_from_its_first_token_on() {
        // Gemini 2.5 Pro.
        let catalogue = Catalogue::built_in().unwrap();
        let price = catalogue.limits(&Profile::new("gemini-2.5-pro")).price.unwrap();
        let usage = |input| Usage { input, output: 10_000, ..Usage::default() };
        check(usage(200_000), price, 0.25 + 0.1);
        check(usage(500_000), price, 1.25 + 0.15);
        let cached = Usage { cached_read: 400_000, ..usage(500_000) };
        check(cached, price, 0.25 + 0.1 + 0.15);
        check(usage(500_000), Price { above: None, ..price }, 0.625 + 0.1);
    }

    #[test]
    fn dollars_pay_so_many_tokens() {
        for (usd, per_million, tokens) in [
            (0.05, 10.0, 5000),
            (0.07 - 0.02, 10.0, 5000),
            (0.0, 10.0, 0),
            (-1.0, 10.0, 0),
            (0.0, 0.0, u64::MAX),
        ] {
            assert_eq!(tokens_for(usd, per_million), tokens, "{usd} at {per_million}");
        }
        assert!(tokens_for(f64::INFINITY, 10.0) > 1_000_000_000);
    }

    #[test]
    fn prices_cached_input_apart() {
        let price = Price { cached_read: Some(0.5), cached_write: Some(2.5), ..priced(2.0, 8.0) };
        check(Usage { input: 1_000_000, output: 500_000, ..Usage::default() }, price, 6.0);
        check(
            Usage {
                input: 1_000_000,
                cached_read: 400_000,
                cached_write: 100_000,
                ..Usage::default()
            },
            price,
            1.0 + 0.2 + 0.25,
        );
        check(
            Usage { input: 1_000_000, cached_read: 1_000_000, ..Usage::default() },
            Price { cached_read: None, ..price },
            2.0,
        );
    }

    #[test]
    fn never_prices_more_cached_tokens_than_were_read() {
        let price = Price { cached_read: Some(1.0), ..priced(2.0, 0.0) };
        check(
            Usage {
                input: 1_000_000,
                cached_read: 9_000_000,
                cached_write: 9_000_000,
                ..Usage::default()
            },
            price,
            1.0,
        );
    }

    #[test]
    fn estimates_a_token_for_every_four_bytes_begun() {
        for (bytes, tokens) in [(0, 0), (1, 1), (4, 1), (5, 2), (4000, 1000)] {
            assert_eq!(estimate_tokens(bytes), tokens, "{bytes}");
        }
    }

    #[test]
    fn estimates_every_part_of_a_request() {
        let messages = [Message::User { text: "a".repeat(400) }];
        let bare = ModelRequest::with(&[]);
        let full = ModelRequest { system: &"s".repeat(40), messages: &messages, ..bare };
        assert_eq!(
            estimate_request(Tokenizer::Bytes, &full) - estimate_request(Tokenizer::Bytes, &bare),
            10 + 100
        );
    }

    #[test]
    fn counts_by_the_tokenizer_of_the_model_and_adds_frames() {
        let call = ToolCall {
            id: "c".into(),
            name: "read_file".into(),
            arguments: r#"{"path":"src/main.rs"}"#.into(),
        };
        let reply = Reply {
            text: "Hello world".into(),
            reasoning: "hm".into(),
            calls: vec![call],
            ..Reply::default()
        };
        let result = ToolResult {
            call_id: "c".into(),
            text: "fn main() {}".into(),
            ..ToolResult::default()
        };
        let messages = [reply.clone().into_message(), Message::Tool { results: vec![result] }];
        let request = ModelRequest::with(&messages);
        // Of the words 2 tokens, of the reasoning 1, of the call 2 and 7, of the answer 4; and 4
        // for each of a system prompt, words, call and answer.
        assert_eq!(estimate_reply(Tokenizer::O200k, &reply), 2 + 1 + 2 + 7 + 4);
        assert_eq!(estimate_request(Tokenizer::O200k, &request), 2 + 2 + 7 + 4 + 4 * 4);
        assert_eq!(estimate_request(Tokenizer::Bytes, &request), 3 + 3 + 6 + 3);
    }
}
