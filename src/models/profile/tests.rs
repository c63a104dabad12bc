//! What a profile may say.

use super::{Effort, Profile, Provider};

#[test]
fn a_number_of_tokens_to_think_is_for_protocols_that_take_one() {
    let profile = |provider, model: &str, tokens| Profile {
        provider,
        thinking_tokens: Some(tokens),
        ..Profile::new(model)
    };
    let sonnet = profile(Provider::Anthropic, "claude-sonnet-4-5", 9000);
    for (profile, said) in [
        (sonnet.clone(), ""),
        (profile(Provider::Gemini, "gemini-2.5-pro", 1), ""),
        (profile(Provider::Vertex, "claude-sonnet-4-5", 1), "below 1024"),
        (profile(Provider::Openai, "m", 9000), "provider `openai` takes no number"),
        (profile(Provider::OpenaiResponses, "m", 9000), "set `reasoning_effort`"),
        (Profile { reasoning_effort: Some(Effort::Low), ..sonnet.clone() }, "set one"),
        (Profile { max_output_tokens: Some(9500), ..sonnet.clone() }, "no room for words"),
        (Profile { max_output_tokens: Some(16_000), ..sonnet }, ""),
    ] {
        let found = profile.check().err().unwrap_or_default();
        assert!(found.contains(said) && found.is_empty() == said.is_empty(), "{found}");
    }
}
