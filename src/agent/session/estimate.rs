//! How long a task's next request is, before its model has counted it: what the provider counted
//! last, and an estimate of what came since.

use crate::session::task::conversation::Conversation;
use locum_models::accounting;
use locum_models::tokens::{Tokenizer, estimate_tokens};

/// Which part of a conversation has been counted, so that no message is counted twice where a
/// provider never counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenCount {
    since: CountBasis,
    /// Messages that are counted, with those before `since.message`.
    messages: usize,
    /// Tokens of those after it.
    tokens: u64,
}

/// What a count holds for: after a compaction, a count by the provider or with another tokenizer,
/// it is restarted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CountBasis {
    tokenizer: Tokenizer,
    compactions: u32,
    message: usize,
}

impl TokenCount {
    /// Returns about how many tokens a task's next request has; `brief_tokens` of them are its
    /// system prompt and tools.
    pub(crate) fn context_tokens(
        &mut self,
        conversation: &Conversation,
        tokenizer: Tokenizer,
        brief_tokens: u64,
    ) -> u64 {
        let (counted, bytes, message) = match conversation.measured {
            Some(measured) => (measured.tokens, measured.bytes, measured.messages),
            None => (brief_tokens, 0, 0),
        };
        let estimated = match tokenizer {
            Tokenizer::Bytes => estimate_tokens(conversation.size_bytes.saturating_sub(bytes)),
            Tokenizer::O200k => {
                let since =
                    CountBasis { tokenizer, compactions: conversation.compactions, message };
                if self.since != since {
                    *self = Self { since, messages: message, tokens: 0 };
                }
                let new = conversation.messages.get(self.messages..).unwrap_or_default().iter();
                let new = new.map(|message| accounting::estimate_message(tokenizer, message));
                self.tokens += new.sum::<u64>();
                self.messages = conversation.messages.len();
                self.tokens
            }
        };
        counted.saturating_add(estimated)
    }
}
