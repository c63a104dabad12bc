//! `RequestTerms`: what a request costs at least, and how long its reply may get for what is left,
//! at the price of the model that is asked.
//!
//! In: about how long the request is, a model of a chain, what budget and ceilings leave. Out: what
//! has to be left for a short reply, and a limit for a longer one. Pure arithmetic; what was spent,
//! the session knows.

use crate::session::model::ChainModel;
use locum_base::chat::Usage;
use locum_models::accounting;
use locum_models::reply_limits::ReplyLimit;
use locum_policy::spending_limit::LimitUsage;

/// Tokens of the shortest reply that is worth a request.
const LEAST_REPLY_TOKENS: u32 = 1024;

/// What a request wants of its reply, and what of it is in a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestTerms {
    /// Most tokens of words; as many as its profile lets a model write where absent.
    pub(crate) words_tokens: Option<u32>,
    /// Tokens of the request that its provider has in its cache.
    pub(crate) cached_tokens: u64,
    /// The place in the chain of the model that has them there.
    pub(crate) cached_place: usize,
}

impl RequestTerms {
    /// Returns the terms of a request whose reply has so many tokens of words at most.
    pub(crate) fn of_words(tokens: u32) -> Self {
        Self { words_tokens: Some(tokens), ..Self::default() }
    }

    /// Returns the same for one model of the chain.
    pub(crate) fn for_model(
        self,
        place: usize,
        model: ChainModel,
        input_tokens: u64,
    ) -> PricedRequest {
        let cached_tokens = if place == self.cached_place { self.cached_tokens } else { 0 };
        PricedRequest { model, input_tokens, cached_tokens, words_tokens: self.words_tokens }
    }
}

/// A request as one model of a chain is asked it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PricedRequest {
    model: ChainModel,
    input_tokens: u64,
    cached_tokens: u64,
    words_tokens: Option<u32>,
}

impl PricedRequest {
    /// Returns the request as it is read for what is left: where a lower limit leaves less room to
    /// think, nothing of it comes from the cache.
    pub(crate) fn within(self, left: LimitUsage) -> Self {
        let steady = self.model.reply.steady_limit.unwrap_or_default();
        match self.limit(left) {
            ReplyLimit::Tokens(tokens) if tokens < steady => Self { cached_tokens: 0, ..self },
            ReplyLimit::Tokens(_) | ReplyLimit::Profile | ReplyLimit::Unaffordable => self,
        }
    }

    /// Returns what it takes with a short reply.
    pub(crate) fn least(&self) -> Usage {
        Usage { output: u64::from(self.least_reply()), ..self.input() }
    }

    /// Returns what so many tokens cost, in US dollars.
    pub(crate) fn cost(&self, usage: Usage) -> f64 {
        self.model.price.map_or(0.0, |price| accounting::cost(usage, price))
    }

    /// Returns how long the reply may get for what is left, where that covers a short one.
    pub(crate) fn limit(&self, left: LimitUsage) -> ReplyLimit {
        let covered = self.covered_reply(left).max(u64::from(self.least_reply()));
        let covered_tokens = u32::try_from(covered).unwrap_or(u32::MAX);
        if let Some(wanted) = self.wanted() {
            return ReplyLimit::Tokens(wanted.min(covered_tokens));
        }
        // Servers refuse a limit that passes the window, which ends a reply anyway; and the request
        // may be longer than it was estimated.
        let request = self.input_tokens.saturating_add(self.input_tokens / 8);
        let in_window = u64::from(self.model.context_window).saturating_sub(request);
        let own = self.model.reply.most_tokens.map_or(u64::MAX, u64::from).min(in_window);
        if covered >= own { ReplyLimit::Profile } else { ReplyLimit::Tokens(covered_tokens) }
    }

    /// Returns how many tokens of a reply are covered once the request is paid.
    fn covered_reply(&self, left: LimitUsage) -> u64 {
        let tokens = left.tokens.saturating_sub(self.input_tokens);
        let Some(price) = self.model.price else { return tokens };
        let left_usd = left.cost_usd - self.cost(self.input());
        let per_million = price.of_request(self.input_tokens).output;
        tokens.min(accounting::tokens_for(left_usd, per_million))
    }

    fn input(&self) -> Usage {
        let (input, cached_read) = (self.input_tokens, self.cached_tokens);
        Usage { input, cached_read, ..Usage::default() }
    }

    /// Returns the limit it has without a budget, with room to think; `None` where it leaves that
    /// to the profile.
    fn wanted(&self) -> Option<u32> {
        let ChainModel { context_window, reply, .. } = self.model;
        self.words_tokens.map(|words| reply.with_thinking(words, context_window))
    }

    fn least_reply(&self) -> u32 {
        let own = self.wanted().or(self.model.reply.most_tokens).unwrap_or(u32::MAX);
        LEAST_REPLY_TOKENS.min(own)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{PricedRequest, RequestTerms};
    use crate::session::model::ChainModel;
    use locum_models::profile::Price;
    use locum_models::profile::price::LongPrice;
    use locum_models::reply_bounds::ReplyBounds;
    use locum_models::reply_limits::ReplyLimit;
    use locum_policy::spending_limit::LimitUsage;

    const PRICE: Price =
        Price { input: 2.0, output: 10.0, cached_read: Some(0.2), cached_write: None, above: None };
    const MODEL: ChainModel = ChainModel {
        price: Some(PRICE),
        context_window: 200_000,
        reply: ReplyBounds {
            most_tokens: Some(32_000),
            thinking_tokens: 10_000,
            steady_limit: None,
        },
    };

    fn left(tokens: u64, cost_usd: f64) -> LimitUsage {
        LimitUsage { runs: 0, tokens, cost_usd }
    }

    fn request(model: ChainModel, input_tokens: u64) -> PricedRequest {
        RequestTerms::default().for_model(0, model, input_tokens)
    }

    #[test]
    fn a_reply_is_limited_to_what_is_left_and_by_its_profile_where_more_is() {
        let plenty = left(u64::MAX, f64::INFINITY);
        let asked = request(MODEL, 10_000);
        assert_eq!(asked.limit(plenty), ReplyLimit::Profile);
        // The request takes 10,000 tokens and two cents; a cent is a thousand tokens of a reply.
        assert_eq!(asked.limit(left(42_000, 9.0)), ReplyLimit::Profile);
        assert_eq!(asked.limit(left(41_999, 9.0)), ReplyLimit::Tokens(31_999));
        assert_eq!(asked.limit(left(900_000, 0.07)), ReplyLimit::Tokens(5000));
        assert_eq!(asked.limit(left(13_000, 0.07)), ReplyLimit::Tokens(3000), "the least counts");
        let free = ChainModel { price: None, ..MODEL };
        assert_eq!(request(free, 10_000).limit(left(900_000, 0.0)), ReplyLimit::Profile);
        assert_eq!(request(free, 10_000).limit(left(13_000, 0.0)), ReplyLimit::Tokens(3000));
    }

    #[test]
    fn a_request_needs_room_for_a_short_reply() {
        let least = request(MODEL, 10_000).least();
        assert_eq!((least.input, least.output), (10_000, 1024));
        assert!((request(MODEL, 10_000).cost(least) - 0.030_24).abs() < 1e-9);
        let short = ReplyBounds { most_tokens: Some(300), ..MODEL.reply };
        assert_eq!(request(ChainModel { reply: short, ..MODEL }, 10_000).least().output, 300);
    }

    #[test]
    fn a_limit_that_the_window_sets_anyway_is_not_sent() {
        let reply = ReplyBounds { most_tokens: None, ..MODEL.reply };
        let own = ChainModel { context_window: 32_768, reply, ..MODEL };
        // About 14,768 tokens of the window are left, with something to spare.
        assert_eq!(request(own, 16_000).limit(left(31_000, 9.0)), ReplyLimit::Profile);
        assert_eq!(request(own, 16_000).limit(left(30_000, 9.0)), ReplyLimit::Tokens(14_000));
    }

    #[test]
    fn only_the_model_that_has_a_conversation_in_its_cache_reads_it_there() {
        let terms =
            RequestTerms { cached_tokens: 90_000, cached_place: 1, ..RequestTerms::default() };
        let input_usd = |place| {
            let asked = terms.for_model(place, MODEL, 100_000);
            asked.cost(asked.input())
        };
        assert!((input_usd(0) - 0.2).abs() < 1e-9);
        assert!((input_usd(1) - (0.02 + 0.018)).abs() < 1e-9);
    }

    #[test]
    fn words_have_room_for_thoughts_beside_them() {
        let asked = RequestTerms::of_words(4096).for_model(0, MODEL, 10_000);
        assert_eq!(asked.limit(left(u64::MAX, 9.0)), ReplyLimit::Tokens(14_096));
        assert_eq!(asked.limit(left(16_000, 9.0)), ReplyLimit::Tokens(6000));
    }

    #[test]
    fn less_room_to_think_costs_the_cache() {
        let reply = ReplyBounds { steady_limit: Some(21_024), ..MODEL.reply };
        let model = ChainModel { reply, ..MODEL };
        let terms = RequestTerms { cached_tokens: 100_000, ..RequestTerms::default() };
        let asked = terms.for_model(0, model, 100_000);
        // Two cents from the cache, 20 without it.
        let limit = |asked: PricedRequest, usd| {
            let left = left(u64::MAX, usd);
            let asked = asked.within(left);
            (asked.cost(asked.least()) <= usd, asked.limit(left))
        };
        assert_eq!(limit(asked, 0.242), (true, ReplyLimit::Tokens(22_200)));
        assert_eq!(limit(asked, 0.222), (true, ReplyLimit::Tokens(2200)));
        assert!(!limit(asked, 0.2).0, "not even a short reply is covered");
        let plain = terms.for_model(0, MODEL, 100_000);
        assert_eq!(limit(plain, 0.2), (true, ReplyLimit::Tokens(18_000)));
    }

    #[test]
    fn a_long_request_is_paid_at_its_own_price() {
        let long = LongPrice { tokens: 50_000, input: 4.0, output: 20.0, ..LongPrice::default() };
        let model = ChainModel { price: Some(Price { above: Some(long), ..PRICE }), ..MODEL };
        assert_eq!(request(model, 50_000).limit(left(u64::MAX, 0.2)), ReplyLimit::Tokens(10_000));
        assert_eq!(request(model, 60_000).limit(left(u64::MAX, 0.34)), ReplyLimit::Tokens(5000));
    }
}
