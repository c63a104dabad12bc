//! [`ReplyLimits`]: how long the reply of each model of a chain may get, within what is left of a
//! budget.
//!
//! In: a limit for each model, lowered between the attempts of a request. Out: the limit that
//! counts when a model is asked. What is left, the caller knows.

use std::sync::atomic::{AtomicU32, Ordering};

/// How long the reply of one model may get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyLimit {
    /// As long as its profile lets it.
    #[default]
    Profile,
    /// As many tokens, at least one.
    Tokens(u32),
    /// Not even a short one fits what is left of the budget: the model is not asked.
    Unaffordable,
}

/// How long the reply of each model of a chain may get, in the order of the chain.
#[derive(Debug, Default)]
pub struct ReplyLimits(Vec<AtomicU32>);

/// What stands for no limit.
const PROFILE: u32 = u32::MAX;
/// What stands for a model that is not asked.
const UNAFFORDABLE: u32 = 0;

impl ReplyLimits {
    /// Takes the limits in the order of the chain.
    pub fn new(limits: impl IntoIterator<Item = ReplyLimit>) -> Self {
        Self(limits.into_iter().map(|limit| AtomicU32::new(number(limit))).collect())
    }

    /// Returns the limit of the model at a place of the chain; a model beyond the last has none.
    pub fn of(&self, place: usize) -> ReplyLimit {
        match self.0.get(place).map_or(PROFILE, |number| number.load(Ordering::Relaxed)) {
            PROFILE => ReplyLimit::Profile,
            UNAFFORDABLE => ReplyLimit::Unaffordable,
            tokens => ReplyLimit::Tokens(tokens),
        }
    }

    /// Sets the limit of the model at a place of the chain.
    pub fn set(&self, place: usize, limit: ReplyLimit) {
        if let Some(known) = self.0.get(place) {
            known.store(number(limit), Ordering::Relaxed);
        }
    }

    /// Returns every limit, in the order of the chain.
    pub fn each(&self) -> impl Iterator<Item = ReplyLimit> {
        (0..self.0.len()).map(|place| self.of(place))
    }
}

fn number(limit: ReplyLimit) -> u32 {
    match limit {
        ReplyLimit::Profile => PROFILE,
        ReplyLimit::Tokens(tokens) => tokens.clamp(UNAFFORDABLE + 1, PROFILE - 1),
        ReplyLimit::Unaffordable => UNAFFORDABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::{ReplyLimit, ReplyLimits};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_limit_is_read_as_it_was_set_last() {
        let all = [ReplyLimit::Profile, ReplyLimit::Tokens(7), ReplyLimit::Unaffordable];
        let limits = ReplyLimits::new(all);
        assert_eq!(limits.each().collect::<Vec<_>>(), all);
        limits.set(1, ReplyLimit::Unaffordable);
        limits.set(2, ReplyLimit::Tokens(0));
        limits.set(9, ReplyLimit::Unaffordable);
        assert_eq!((limits.of(1), limits.of(2)), (ReplyLimit::Unaffordable, ReplyLimit::Tokens(1)));
        assert_eq!(limits.of(9), ReplyLimit::Profile, "nothing is known of it");
    }
}
