//! How long a task's next request is, before its model has counted it: what the provider counted
//! last, and an estimate of what came since.

use crate::session::Session;
use crate::session::brief::Brief;
use crate::session::stop::Stop;
use locum_base::id::TaskId;
use locum_models::accounting;
use locum_models::tokens::Tokenizer;

/// What of a conversation has been counted, so that no message is counted twice where a provider
/// never counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    since: Since,
    /// Messages that are counted, with those before `since.message`.
    messages: usize,
    /// Tokens of those after it.
    tokens: u64,
}

/// What a count holds for: another conversation, another beginning or another tokenizer begins
/// anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Since {
    tokenizer: Tokenizer,
    shortened: u32,
    message: usize,
}

impl Session<'_> {
    /// Returns about how many tokens a task's next request has.
    pub(crate) fn context_tokens(&mut self, id: TaskId, brief: &Brief) -> Result<u64, Stop> {
        let task = self.task(id)?;
        let tokenizer = self.model_of(task).tokenizer;
        let (counted, bytes, message) = match task.measured {
            Some(measured) => (measured.tokens, measured.bytes, measured.messages),
            None => (brief.size_tokens, 0, 0),
        };
        let estimated = match tokenizer {
            Tokenizer::Bytes => {
                accounting::estimate_tokens(task.context_bytes.saturating_sub(bytes))
            }
            Tokenizer::O200k => {
                let since = Since { tokenizer, shortened: task.shortened, message };
                let known = self.counted.get(&id).copied().filter(|known| known.since == since);
                let known = known.unwrap_or(Counted { since, messages: message, tokens: 0 });
                let new = task.messages.get(known.messages..).unwrap_or_default();
                let tokens = known.tokens
                    + new
                        .iter()
                        .map(|message| accounting::estimate_message(tokenizer, message))
                        .sum::<u64>();
                let messages = task.messages.len();
                self.counted.insert(id, Counted { since, messages, tokens });
                tokens
            }
        };
        Ok(counted.saturating_add(estimated))
    }
}
