//! Where requests go, how thinking is requested, what is learned from refusals.

use pretty_assertions::assert_eq;

use super::{
    BARE_THINKING, Effort, LATE_INPUT, Messages, NO_IMAGES, NO_TEMPERATURE, OTHER_THINKING, PLAIN,
    ServerDialect, UNCACHED, always_thinks, thinks_adaptively,
};
use crate::ModelRequest;
use crate::anthropic::request::ThinkingMode;
use crate::transport::protocol::{ModelDefaults, Protocol};

fn messages(model: &str, effort: Option<Effort>) -> Messages {
    Messages {
        defaults: ModelDefaults::sample(model, effort),
        has_token: false,
        host: super::host::MessagesHost::Anthropic,
    }
}

#[test]
fn knows_which_models_take_a_budget_of_thought() {
    for (model, adaptive, always) in [
        ("claude-3-7-sonnet-20250219", false, false),
        ("claude-opus-4-20250514", false, false),
        ("claude-haiku-4-5", false, false),
        ("claude-sonnet-4-5-20250929", false, false),
        ("claude-opus-4-6", true, false),
        ("claude-sonnet-5", true, false),
        ("claude-fable-5-1", true, true),
        ("claude-sonnet-5-5", true, true),
        ("anthropic/claude-opus-5.5", true, true),
        ("claude-next", true, true),
        ("deepseek-chat", false, false),
    ] {
        assert_eq!((thinks_adaptively(model), always_thinks(model)), (adaptive, always), "{model}");
    }
}

#[test]
fn a_model_thinks_as_little_as_it_is_told_and_can() {
    let refused = OTHER_THINKING;
    for (model, effort, dialect, thinks) in [
        ("claude-sonnet-5", None, 0, ThinkingMode::Unsaid),
        ("claude-sonnet-5", Some(Effort::None), 0, ThinkingMode::Off),
        ("claude-fable-5", Some(Effort::None), refused, ThinkingMode::Adaptive(Some(Effort::None))),
        ("claude-opus-5-5", Some(Effort::None), 0, ThinkingMode::Adaptive(Some(Effort::None))),
        ("claude-opus-5-5", None, 0, ThinkingMode::Adaptive(None)),
        ("claude-opus-5-5", Some(Effort::High), 0, ThinkingMode::Adaptive(Some(Effort::High))),
        ("claude-opus-5-5", Some(Effort::High), PLAIN, ThinkingMode::Unsaid),
        ("claude-opus-4-5", Some(Effort::None), 0, ThinkingMode::Unsaid),
        ("claude-opus-4-5", Some(Effort::Low), 0, ThinkingMode::Budget(4096)),
        ("claude-opus-4-5", Some(Effort::Low), refused, ThinkingMode::Adaptive(Some(Effort::Low))),
    ] {
        let messages = messages(model, effort);
        let options = messages.defaults.options(&ModelRequest::with(&[]), dialect);
        assert_eq!(super::thinks(options), thinks, "{model} {effort:?} {dialect}");
    }
}

#[test]
fn a_number_of_tokens_is_the_budget_of_thoughts() {
    let mut messages = messages("claude-opus-4-5", None);
    messages.defaults.profile.thinking_tokens = Some(9000);
    for (dialect, thinks) in [
        (0, ThinkingMode::Budget(9000)),
        (OTHER_THINKING, ThinkingMode::Adaptive(None)),
        (PLAIN, ThinkingMode::Unsaid),
    ] {
        let options = messages.defaults.options(&ModelRequest::with(&[]), dialect);
        assert_eq!(super::thinks(options), thinks, "{dialect}");
    }
}

#[test]
fn bound_thoughts_may_be_dropped_only_where_models_bind_them() {
    let beta = |model: &str, dialect: ServerDialect| messages(model, None).headers(dialect).len();
    assert_eq!((beta("claude-opus-5-5", 0), beta("claude-opus-5", 0)), (1, 0));
    assert_eq!((beta("claude-opus-5-5", BARE_THINKING), beta("claude-opus-5-5", PLAIN)), (0, 0));
}

#[test]
fn learns_from_refusals_what_to_leave_out() {
    let messages = messages("claude-opus-5", Some(Effort::High));
    for (dialect, status, words, learned) in [
        (0, 400, "messages.1.content.0: Invalid `signature` in `thinking` block", Some(PLAIN)),
        (
            0,
            400,
            "messages.3.content.0: the thinking block's prefix binding does not match this \
             request",
            Some(PLAIN),
        ),
        (
            0,
            400,
            "thinking.adaptive.block_binding: Extra inputs are not permitted",
            Some(BARE_THINKING),
        ),
        (
            0,
            400,
            "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the \
             `anthropic-beta` header",
            Some(BARE_THINKING),
        ),
        (
            0,
            400,
            "\"thinking.type.disabled\" is not supported for this model.",
            Some(OTHER_THINKING),
        ),
        (0, 400, "system.0.cache_control: Extra inputs are not permitted", Some(UNCACHED)),
        (
            0,
            400,
            "tools.0.custom.eager_input_streaming: Extra inputs are not permitted",
            Some(LATE_INPUT),
        ),
        (0, 400, "`temperature` is deprecated for this model", Some(NO_TEMPERATURE)),
        (0, 400, "adaptive thinking is not supported on this model", Some(OTHER_THINKING)),
        (OTHER_THINKING, 400, "thinking is not supported", Some(OTHER_THINKING | PLAIN)),
        (0, 400, "messages.2.content.0.tool_result: Could not process image", Some(NO_IMAGES)),
        (PLAIN, 400, "Invalid `signature` in `thinking` block", None),
        (0, 400, "prompt is too long: 9 tokens > 8 maximum", None),
        (0, 429, "thinking too much", None),
    ] {
        assert_eq!(messages.corrected(dialect, status, words), learned, "{words}");
    }
}
