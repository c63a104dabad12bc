//! [`LongPrice`]: what a request costs that is longer than most; and which of two prices is higher.
//!
//! In: prices and how long a request is. Out: the figures that count. What tokens cost is computed
//! elsewhere.

use serde::{Deserialize, Serialize};

use crate::profile::Price;

/// US dollars per million tokens of a request that is longer than most: of all its tokens, and of
/// those of its reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrice {
    /// It counts for requests with more tokens of input than this.
    pub tokens: u64,
    /// Input that was not cached.
    pub input: f64,
    /// Output, of whatever kind.
    pub output: f64,
    /// Input read from the cache; as `input` when absent.
    pub cached_read: Option<f64>,
    /// Input written to the cache; as `input` when absent.
    pub cached_write: Option<f64>,
}

impl LongPrice {
    /// Returns its figures as a price that counts for every request.
    pub(crate) fn figures(self) -> Price {
        let Self { input, output, cached_read, cached_write, .. } = self;
        Price { input, output, cached_read, cached_write, above: None }
    }

    fn of(tokens: u64, figures: Price) -> Self {
        let Price { input, output, cached_read, cached_write, .. } = figures;
        Self { tokens, input, output, cached_read, cached_write }
    }
}

impl Price {
    /// Returns the figures that count for a request with so many tokens of input.
    pub fn of_request(self, input_tokens: u64) -> Self {
        match self.above {
            Some(long) if input_tokens > long.tokens => long.figures(),
            Some(_) | None => Self { above: None, ..self },
        }
    }

    /// Returns this price where none of its figures is below that of another one; else a price with
    /// the higher figure of each.
    pub(crate) fn at_least(self, least: Self) -> Self {
        let short = self.higher(least);
        let long = |price: Self| price.above.map_or(price, LongPrice::figures);
        let tokens = [self.above, least.above].into_iter().flatten().map(|long| long.tokens).min();
        let above = tokens
            .map(|tokens| LongPrice::of(tokens, long(self).higher(long(least))))
            .filter(|above| self.above.is_some() || above.figures() != short);
        let higher = Self { above, ..short };
        if higher == self.spelled_out() { self } else { higher }
    }

    /// Returns the higher figure of each, of requests that are not long.
    fn higher(self, other: Self) -> Self {
        let (one, other) = (self.spelled_out(), other.spelled_out());
        let cached = |one: Option<f64>, other: Option<f64>| one.zip(other).map(|(a, b)| a.max(b));
        Self {
            input: one.input.max(other.input),
            output: one.output.max(other.output),
            cached_read: cached(one.cached_read, other.cached_read),
            cached_write: cached(one.cached_write, other.cached_write),
            above: None,
        }
    }

    /// Returns this price with each figure given that stands for another one.
    fn spelled_out(self) -> Self {
        let given = |cached: Option<f64>, input: f64| Some(cached.unwrap_or(input));
        Self {
            cached_read: given(self.cached_read, self.input),
            cached_write: given(self.cached_write, self.input),
            above: self.above.map(|long| LongPrice {
                cached_read: given(long.cached_read, long.input),
                cached_write: given(long.cached_write, long.input),
                ..long
            }),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LongPrice;
    use crate::profile::Price;
    use pretty_assertions::assert_eq;

    const LONG: LongPrice = LongPrice {
        tokens: 200_000,
        input: 4.0,
        output: 18.0,
        cached_read: Some(0.4),
        cached_write: None,
    };
    const LISTED: Price = Price {
        input: 2.0,
        output: 12.0,
        cached_read: Some(0.2),
        cached_write: Some(2.5),
        above: Some(LONG),
    };

    #[test]
    fn the_price_of_long_requests_counts_above_its_tokens_and_not_at_them() {
        assert_eq!(LISTED.of_request(200_000), Price { above: None, ..LISTED });
        assert_eq!(LISTED.of_request(200_001), LONG.figures());
        let plain = Price { above: None, ..LISTED };
        assert_eq!(plain.of_request(u64::MAX), plain);
    }

    #[test]
    fn a_price_is_raised_where_a_figure_is_below_and_stays_where_none_is() {
        assert_eq!(LISTED.at_least(LISTED), LISTED);
        let dearer = Price { input: 3.0, cached_read: None, cached_write: None, ..LISTED };
        assert_eq!(dearer.at_least(LISTED), dearer, "what is not given costs as much as input");
        assert_eq!(dearer.at_least(Price::default()), dearer);
        let free = Price::default().at_least(LISTED);
        assert_eq!(free.of_request(1), Price { above: None, ..LISTED });
        assert_eq!((free.of_request(200_001).input, free.of_request(200_001).output), (4.0, 18.0));
        let half = Price { output: 1.0, ..LISTED }.at_least(LISTED);
        assert_eq!((half.input, half.output), (2.0, 12.0));
        let short = Price { above: None, ..LISTED }.at_least(LISTED);
        assert_eq!(short.of_request(200_001).input, 4.0, "long requests stay as dear");
        let late = LongPrice { tokens: 900_000, ..LONG };
        let late = Price { above: Some(late), ..LISTED }.at_least(LISTED);
        assert_eq!(late.of_request(200_001).input, 4.0);
    }
}
