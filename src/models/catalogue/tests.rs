//! What the built-in catalogue knows, and what profiles say instead.

use pretty_assertions::assert_eq;

use super::{Catalogue, OutputLimit};
use crate::profile::{Price, Profile};
use crate::tokens::Tokenizer;
use locum_base::tool::ToolName;

fn check(model: &str, listed: Option<&str>) {
    let catalogue = Catalogue::built_in().unwrap();
    assert_eq!(
        catalogue.find(model),
        listed.map(|name| catalogue.models.get(name).unwrap()),
        "{model}"
    );
}

#[test]
fn finds_models_by_the_names_providers_give_them() {
    check("gpt-5", Some("gpt-5"));
    check("gpt-5-2025-08-07", Some("gpt-5"));
    check("openai/gpt-4.1-mini", Some("gpt-4.1-mini"));
    check("claude-haiku-4-5-20251001", Some("claude-haiku-4-5"));
    check("anthropic/claude-sonnet-4.5", Some("claude-sonnet-4-5"));
    check("deepseek/deepseek-chat:free", Some("deepseek-chat"));
    check("codestral-latest", Some("codestral-latest"));
}

#[test]
fn does_not_take_one_model_for_another() {
    check("gpt-5-unheard-of", None);
    check("gpt", None);
    check("claude-sonnet-4-9", None);
    check("", None);
}

#[test]
fn names_a_tokenizer_where_one_was_found_to_be_right_or_near() {
    let catalogue = Catalogue::built_in().unwrap();
    for (model, tokenizer) in [
        ("gpt-5-mini", Tokenizer::O200k),
        ("openai/gpt-oss-120b", Tokenizer::O200k),
        ("deepseek-chat", Tokenizer::O200k),
        ("claude-opus-5", Tokenizer::Bytes),
        ("gemini-2.5-pro", Tokenizer::Bytes),
        ("gpt-6-sol", Tokenizer::Bytes),
    ] {
        assert_eq!(catalogue.find(model).unwrap().tokenizer, tokenizer, "{model}");
        let overridden = Profile { tokenizer: Some(Tokenizer::Bytes), ..Profile::new(model) };
        assert_eq!(catalogue.limits(&overridden).tokenizer, Tokenizer::Bytes, "{model}");
    }
    assert_eq!(catalogue.limits(&Profile::new("nobody-knows-it")).tokenizer, Tokenizer::Bytes);
}

#[test]
fn offers_a_patch_to_models_that_were_trained_on_it_unless_a_profile_says_otherwise() {
    let catalogue = Catalogue::built_in().unwrap();
    let patch = vec![ToolName::ApplyPatch];
    for (model, is_trained) in [
        ("gpt-5-codex", true),
        ("openai/gpt-5-mini-2025-08-07", true),
        ("gpt-6.1-terra", true),
        ("gpt-4.1", true),
        ("gpt-4.1-mini", true),
        ("gpt-4o", false),
        ("o3", false),
        ("claude-opus-5", false),
        ("nobody-knows-it", false),
    ] {
        let profile = Profile::new(model);
        let offered = if is_trained { patch.clone() } else { Vec::new() };
        assert_eq!(catalogue.included_tools(&profile), offered, "{model}");
        for included in [Vec::new(), patch.clone()] {
            let profile = Profile { included_tools: Some(included.clone()), ..profile.clone() };
            assert_eq!(catalogue.included_tools(&profile), included, "{model}");
        }
    }
}

#[test]
fn says_when_it_is_and_dates_every_figure() {
    let catalogue = Catalogue::built_in().unwrap();
    assert!(catalogue.date.len() == 10 && !catalogue.source.is_empty());
    for (name, entry) in &catalogue.models {
        assert!(entry.price.input > 0.0, "{name}");
        // One that embeds texts writes nothing.
        if name.contains("embed") || name.starts_with("voyage-") {
            assert_eq!((entry.max_output_tokens, entry.price.output), (1, 0.0), "{name}");
            continue;
        }
        assert!(entry.context_window >= 8192 && entry.max_output_tokens >= 4096, "{name}");
        assert!(entry.price.output >= entry.price.input, "{name}");
        if let Some(long) = entry.price.above {
            assert!(long.tokens < u64::from(entry.context_window), "{name}");
            assert!(long.input > entry.price.input && long.output > entry.price.output, "{name}");
            assert_eq!(long.cached_read.is_some(), entry.price.cached_read.is_some(), "{name}");
        }
    }
}

#[test]
fn knows_which_models_cost_more_for_long_requests() {
    let catalogue = Catalogue::built_in().unwrap();
    for (model, from) in [
        ("gemini-2.5-pro", Some(200_000)),
        ("gemini-3.1-pro-preview", Some(200_000)),
        ("gpt-5.4", Some(272_000)),
        ("gpt-5.5", Some(272_000)),
        ("claude-haiku-5-5", Some(100_000)),
        ("claude-sonnet-4-5", None),
        ("gemini-2.5-flash", None),
    ] {
        let price = catalogue.limits(&Profile::new(model)).price.unwrap();
        assert_eq!(price.above.map(|long| long.tokens), from, "{model}");
    }
    let own = Price { input: 1.0, output: 2.0, ..Price::default() };
    let own = Profile { price: Some(own), ..Profile::new("gemini-2.5-pro") };
    assert_eq!(catalogue.limits(&own).price.unwrap().above, None, "the profile's word counts");
}

#[test]
fn takes_the_profiles_word_first_and_says_when_it_guesses() {
    let catalogue = Catalogue::built_in().unwrap();
    let known = Profile::new("gpt-5");
    let limits = catalogue.limits(&known);
    assert_eq!((limits.context_window, limits.guessed), (272_000, false));
    let price = Price { input: 1.0, output: 1.0, ..Price::default() };
    let overridden = Profile { context_window: Some(1000), price: Some(price), ..known };
    assert_eq!(
        (catalogue.limits(&overridden).context_window, catalogue.limits(&overridden).price),
        (1000, Some(price))
    );
    let unknown = catalogue.limits(&Profile::new("my-own"));
    assert_eq!(
        (unknown.context_window, unknown.max_output_tokens, unknown.price, unknown.guessed),
        (32_768, 4096, None, true)
    );
    assert!(
        !catalogue.limits(&Profile { context_window: Some(9), ..Profile::new("my-own") }).guessed
    );
}

#[test]
fn knows_the_ways_of_hosts() {
    let catalogue = Catalogue::built_in().unwrap();
    let ways = |host: &str| {
        catalogue
            .host(host)
            .map(|ways| (ways.key.as_str(), ways.output_limit, ways.returns_reasoning))
    };
    assert_eq!(
        ways("api.openai.com"),
        Some(("OPENAI_API_KEY", OutputLimit::MaxCompletionTokens, false))
    );
    assert_eq!(ways("api.deepseek.com"), Some(("DEEPSEEK_API_KEY", OutputLimit::MaxTokens, true)));
    assert_eq!(ways("api.openai.com.evil.example"), None);
}
