//! `Conversation`: what a task's model is sent, grown message by message and never rebuilt, so that
//! what was sent stays the prefix of what is sent next. Only a compaction replaces its beginning.

use std::sync::Arc;

use crate::session::earlier::EarlierConversation;
use crate::session::event::Event;
use locum_base::chat::Message;
use locum_models::EarlierTurns;

/// What a task's model is sent.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// Every call in it is answered as soon as no call waits. Shared with the request under way.
    pub messages: Arc<Vec<Message>>,
    /// Bytes of text in `messages`.
    pub size_bytes: usize,
    /// What the provider counted last.
    pub measured: Option<MeasuredConversation>,
    /// The label of the model that gave the last reply, where it stood in for the task's own.
    pub replied_by: Option<String>,
    /// How often its beginning was left out.
    pub compactions: u32,
    /// Which part of it is of earlier sessions.
    pub earlier: EarlierTurns,
}

/// A conversation with its last reply, as its provider counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredConversation {
    /// Its tokens, with the system prompt and tools that were sent.
    pub tokens: u64,
    /// The bytes of text it had then.
    pub bytes: usize,
    /// The messages it had then.
    pub messages: usize,
    /// Of its tokens, those that the provider read from its cache or wrote to it.
    pub cached_tokens: u64,
}

impl Conversation {
    /// Takes in the messages an event adds, then the event.
    pub(crate) fn apply(&mut self, event: &Event, added: Vec<Message>) {
        for message in added {
            self.push(message);
        }
        if let Event::Replied { reply, charge, .. } = event {
            self.replied_by.clone_from(&reply.by);
            self.measured = (!charge.estimated && !reply.fixed).then_some(MeasuredConversation {
                tokens: charge.usage.total(),
                bytes: self.size_bytes,
                messages: self.messages.len(),
                cached_tokens: charge.usage.cached_read.saturating_add(charge.usage.cached_write),
            });
        } else if let Event::Compacted { left_out, text, .. } = event {
            self.compact(*left_out, text.clone());
        }
    }

    /// Returns how many tokens of the next request its provider has in its cache: no more than it
    /// said that it had at the last one.
    pub(crate) fn cached_tokens(&self) -> u64 {
        self.measured.map_or(0, |measured| measured.cached_tokens)
    }

    /// Appends a message.
    pub(crate) fn push(&mut self, message: Message) {
        self.size_bytes = self.size_bytes.saturating_add(message.size_bytes());
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// Puts the conversation of an earlier session before what is there.
    pub(crate) fn follow(&mut self, earlier: &EarlierConversation) {
        let EarlierConversation { messages, turns, .. } = earlier;
        self.earlier = EarlierTurns { messages: messages.len(), turns: *turns };
        let own = std::mem::take(&mut self.messages);
        self.messages = Arc::new(messages.iter().chain(own.iter()).cloned().collect());
        self.size_bytes = self.messages.iter().map(Message::size_bytes).sum();
    }

    /// Leaves out the first messages, for which this text stands.
    fn compact(&mut self, left_out: usize, text: String) {
        let rest = self.messages.get(left_out..).unwrap_or_default().iter().cloned();
        self.messages = Arc::new(std::iter::once(Message::User { text }).chain(rest).collect());
        self.size_bytes = self.messages.iter().map(Message::size_bytes).sum();
        self.measured = None;
        self.earlier.messages = 0;
        self.compactions = self.compactions.saturating_add(1);
    }
}
