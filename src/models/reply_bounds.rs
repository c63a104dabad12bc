//! [`ReplyBounds`]: how long the replies of a chosen model are, and how much of them it may think.
//!
//! In: a [`ChosenModel`]. Out: its limit, where that is known, and room to think. How much of that
//! a budget covers, the caller decides.

use crate::anthropic;
use crate::profile::{Effort, LEAST_THINKING_TOKENS, Provider};
use crate::resolve::ChosenModel;

/// Tokens that a model may think whose profile does not say how hard: many think unasked.
const UNASKED_TOKENS: u32 = 10_000;

/// How long the replies of a model are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyBounds {
    /// Most tokens of one reply, by its profile or the catalogue; `None` where both are silent.
    pub most_tokens: Option<u32>,
    /// Tokens that it may think besides its words.
    pub thinking_tokens: u32,
    /// Fewest tokens of a lower limit under which a request still names the same number of tokens
    /// to think, for protocols that name one. Where that number changes, a conversation in the
    /// provider's cache is read again at full price.
    pub steady_limit: Option<u32>,
}

impl ReplyBounds {
    /// Returns how long the replies of a chosen model are.
    pub fn of(chosen: &ChosenModel) -> Self {
        let profile = &chosen.profile;
        let thinking_tokens = match (profile.thinking_tokens, profile.reasoning_effort) {
            (Some(tokens), _) => tokens,
            (None, Some(effort)) => effort.thinking_tokens(),
            (None, None) => UNASKED_TOKENS,
        };
        Self {
            most_tokens: chosen.limits.known_output(),
            thinking_tokens,
            steady_limit: names_a_number(chosen)
                .then(|| thinking_tokens.saturating_add(LEAST_THINKING_TOKENS)),
        }
    }

    /// Returns the most tokens of a reply of so many tokens of words by a model with this window:
    /// with room to think, and never more than it can write.
    pub fn with_thinking(&self, words_tokens: u32, context_window: u32) -> u32 {
        let words = words_tokens.min(context_window / 4);
        let all = words.saturating_add(self.thinking_tokens.min(context_window / 8));
        self.most_tokens.map_or(all, |most| all.min(most)).max(1)
    }
}

/// Returns true for Anthropic's models that are given a number of tokens to think.
fn names_a_number(chosen: &ChosenModel) -> bool {
    let profile = &chosen.profile;
    let is_claude = match profile.provider {
        Provider::Anthropic | Provider::Bedrock => true,
        Provider::Vertex => profile.model.starts_with("claude-"),
        Provider::Openai
        | Provider::OpenaiResponses
        | Provider::Gemini
        | Provider::Azure
        | Provider::Scripted => false,
    };
    let thinks = match (profile.thinking_tokens, profile.reasoning_effort) {
        (Some(_), _) => true,
        (None, effort) => effort.is_some_and(|effort| effort != Effort::None),
    };
    is_claude && thinks && !anthropic::thinks_adaptively(&profile.model)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pretty_assertions::assert_eq;

    use super::ReplyBounds;
    use crate::profile::{Effort, ModelSettings, Profile, Provider};
    use crate::resolve::{ModelFacts, resolve};

    fn bounds(profile: Profile) -> ReplyBounds {
        let profile = Profile { base_url: Some("http://127.0.0.1:9/v1".into()), ..profile };
        let settings = ModelSettings {
            profiles: BTreeMap::from([("one".to_owned(), profile)]),
            ..ModelSettings::default()
        };
        let facts =
            ModelFacts { env: &BTreeMap::new(), asked: None, from_repository: &BTreeSet::new() };
        ReplyBounds::of(&resolve(&settings, &facts).unwrap().main)
    }

    #[test]
    fn who_thinks_longer_gets_more_room_and_words_keep_theirs() {
        let profile = |effort| Profile { reasoning_effort: effort, ..Profile::new("gpt-5") };
        for (effort, most) in [
            (Some(Effort::None), 4096 + 1024),
            (Some(Effort::Low), 4096 + 4096),
            (Some(Effort::High), 4096 + 20_000),
            (Some(Effort::Max), 4096 + 31_999),
            (None, 4096 + 10_000),
        ] {
            assert_eq!(bounds(profile(effort)).with_thinking(4096, 272_000), most, "{effort:?}");
        }
        let small = Profile { max_output_tokens: Some(3000), ..profile(Some(Effort::High)) };
        assert_eq!(bounds(small).with_thinking(4096, 272_000), 3000, "never above its limit");
    }

    #[test]
    fn a_small_window_is_not_filled_by_thoughts() {
        let own = bounds(Profile::new("my-own"));
        assert_eq!((own.most_tokens, own.steady_limit), (None, None));
        assert_eq!(own.with_thinking(4096, 16_384), 4096 + 2048);
        assert_eq!(own.with_thinking(4096, 8192), 2048 + 1024);
        assert_eq!(own.with_thinking(4096, 1), 1);
    }

    #[test]
    fn only_models_that_are_given_a_number_name_it() {
        let claude = |model: &str, effort| Profile {
            provider: Provider::Anthropic,
            reasoning_effort: effort,
            ..Profile::new(model)
        };
        let high = Some(Effort::High);
        assert_eq!(bounds(claude("claude-sonnet-4-5", high)).steady_limit, Some(21_024));
        assert_eq!(bounds(claude("claude-sonnet-4-5", None)).steady_limit, None);
        assert_eq!(bounds(claude("claude-opus-5-5", high)).steady_limit, None);
        assert_eq!(
            bounds(Profile { reasoning_effort: high, ..Profile::new("gpt-5") }).steady_limit,
            None
        );
    }
}
