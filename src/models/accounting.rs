//! What a reply costs and how long a request is: pure arithmetic.
//!
//! In: counted usage and a price, or texts. Out: US dollars, or an estimate of tokens. An estimate is a quarter of the bytes,
//! of letters outside ASCII half of theirs, and must be shown as an estimate; it decides nothing once the provider has counted.

use crate::base::chat::{KeptPart, Message, ToolSpec, Usage};
use crate::models::ModelRequest;
use crate::models::profile::Price;

/// Tokens a price is quoted for.
const PRICED_TOKENS: f64 = 1_000_000.0;
/// Bytes of text that make about one token.
const BYTES_PER_TOKEN: u64 = 4;
/// Tokens a message costs beyond its text: its role and its frame.
const MESSAGE_TOKENS: u64 = 4;

/// Returns the cost in US dollars. Input read from or written to the provider's cache is part of [`Usage::input`] and is priced
/// apart where the price says so.
#[must_use]
pub fn cost(usage: Usage, price: Price) -> f64 {
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

/// Returns about how many tokens a text of `bytes` has: an estimate, rounded up.
#[must_use]
pub fn estimate_tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

/// Returns about how many tokens the model reads for a request: an estimate.
#[must_use]
pub fn estimate_request(request: &ModelRequest<'_>) -> u64 {
    let tools: u64 = request.tools.iter().map(tool_tokens).sum();
    let messages: u64 = request.messages.iter().map(estimate_message).sum();
    estimate_tokens(request.system.len()) + MESSAGE_TOKENS + tools + messages
}

/// Returns about how many tokens one message adds to a request: an estimate.
#[must_use]
pub fn estimate_message(message: &Message) -> u64 {
    match message {
        Message::User { text } => estimate_tokens(text.len()) + MESSAGE_TOKENS,
        Message::Assistant { text, calls, kept, .. } => {
            let kept: usize = kept.iter().flat_map(|kept| &kept.parts).map(KeptPart::size_bytes).sum();
            let calls: u64 = calls.iter().map(|call| estimate_tokens(call.name.len() + call.arguments.len()) + MESSAGE_TOKENS).sum();
            estimate_tokens(text.len() + kept) + MESSAGE_TOKENS + calls
        }
        Message::Tool { results } => results.iter().map(|result| estimate_tokens(result.text.len()) + MESSAGE_TOKENS).sum(),
    }
}

fn tool_tokens(tool: &ToolSpec) -> u64 {
    let parameters = tool.parameters.to_string();
    estimate_tokens(tool.name.len() + tool.description.len() + parameters.len()) + MESSAGE_TOKENS
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^52")]
fn dollars(tokens: u64, per_million: f64) -> f64 {
    tokens as f64 * per_million / PRICED_TOKENS
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{cost, estimate_request, estimate_tokens};
    use crate::base::chat::{Message, Usage};
    use crate::models::ModelRequest;
    use crate::models::profile::Price;

    fn check(usage: Usage, price: Price, dollars: f64) {
        assert!((cost(usage, price) - dollars).abs() < 1e-9, "{usage:?} at {price:?} cost {}", cost(usage, price));
    }

    #[test]
    fn prices_cached_input_apart() {
        let price = Price { input: 2.0, output: 8.0, cached_read: Some(0.5), cached_write: Some(2.5) };
        check(Usage { input: 1_000_000, output: 500_000, ..Usage::default() }, price, 6.0);
        check(Usage { input: 1_000_000, cached_read: 400_000, cached_write: 100_000, ..Usage::default() }, price, 1.0 + 0.2 + 0.25);
        check(Usage { input: 1_000_000, cached_read: 1_000_000, ..Usage::default() }, Price { cached_read: None, ..price }, 2.0);
    }

    #[test]
    fn never_prices_more_cached_tokens_than_were_read() {
        let price = Price { input: 2.0, output: 0.0, cached_read: Some(1.0), cached_write: None };
        check(Usage { input: 1_000_000, cached_read: 9_000_000, cached_write: 9_000_000, ..Usage::default() }, price, 1.0);
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
        assert_eq!(estimate_request(&full) - estimate_request(&bare), 10 + 100 + 4);
    }
}
