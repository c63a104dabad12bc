//! Where requests go, how thinking is asked for, what is learned from refusals.

use pretty_assertions::assert_eq;

use super::{Dialect, Effort, Fields, Messages, always_thinks, thinks_adaptively};
use crate::anthropic::request::Thinks;
use crate::transport::Protocol;

fn messages(model: &str, effort: Option<Effort>) -> Messages {
    Messages {
        model: model.into(),
        by: String::new(),
        temperature: Some(0.5),
        max_output_tokens: 9,
        effort,
        sees_images: true,
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
    let refused = Fields::OTHER_THINKING;
    for (model, effort, dialect, thinks) in [
        ("claude-sonnet-5", None, 0, Thinks::Unsaid),
        ("claude-sonnet-5", Some(Effort::None), 0, Thinks::Off),
        ("claude-fable-5", Some(Effort::None), refused, Thinks::Adaptive(Some(Effort::None))),
        ("claude-opus-5-5", Some(Effort::None), 0, Thinks::Adaptive(Some(Effort::None))),
        ("claude-opus-5-5", None, 0, Thinks::Adaptive(None)),
        ("claude-opus-5-5", Some(Effort::High), 0, Thinks::Adaptive(Some(Effort::High))),
        ("claude-opus-5-5", Some(Effort::High), Fields::PLAIN, Thinks::Unsaid),
        ("claude-opus-4-5", Some(Effort::None), 0, Thinks::Unsaid),
        ("claude-opus-4-5", Some(Effort::Low), 0, Thinks::Budget(Effort::Low)),
        ("claude-opus-4-5", Some(Effort::Low), refused, Thinks::Adaptive(Some(Effort::Low))),
    ] {
        assert_eq!(messages(model, effort).thinks(dialect), thinks, "{model} {effort:?} {dialect}");
    }
}

#[test]
fn bound_thoughts_may_be_dropped_only_where_models_bind_them() {
    let beta = |model: &str, dialect: Dialect| messages(model, None).headers(dialect).len();
    assert_eq!((beta("claude-opus-5-5", 0), beta("claude-opus-5", 0)), (1, 0));
    assert_eq!(
        (beta("claude-opus-5-5", Fields::BARE_THINKING), beta("claude-opus-5-5", Fields::PLAIN)),
        (0, 0)
    );
}

#[test]
fn learns_from_refusals_what_to_leave_out() {
    let messages = messages("claude-opus-5", Some(Effort::High));
    for (dialect, status, words, learned) in [
        (
            0,
            400,
            "messages.1.content.0: Invalid `signature` in `thinking` block",
            Some(Fields::PLAIN),
        ),
        (
            0,
            400,
            "messages.3.content.0: the thinking block's prefix binding does not match this \
             request",
            Some(Fields::PLAIN),
        ),
        (
            0,
            400,
            "thinking.adaptive.block_binding: Extra inputs are not permitted",
            Some(Fields::BARE_THINKING),
        ),
        (
            0,
            400,
            "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the \
             `anthropic-beta` header",
            Some(Fields::BARE_THINKING),
        ),
        (
            0,
            400,
            "\"thinking.type.disabled\" is not supported for this model.",
            Some(Fields::OTHER_THINKING),
        ),
        (0, 400, "system.0.cache_control: Extra inputs are not permitted", Some(Fields::UNCACHED)),
        (
            0,
            400,
            "tools.0.custom.eager_input_streaming: Extra inputs are not permitted",
            Some(Fields::LATE_INPUT),
        ),
        (0, 400, "`temperature` is deprecated for this model", Some(Fields::NO_TEMPERATURE)),
        (0, 400, "adaptive thinking is not supported on this model", Some(Fields::OTHER_THINKING)),
        (
            Fields::OTHER_THINKING,
            400,
            "thinking is not supported",
            Some(Fields::OTHER_THINKING | Fields::PLAIN),
        ),
        (
            0,
            400,
            "messages.2.content.0.tool_result: Could not process image",
            Some(Fields::NO_IMAGES),
        ),
        (Fields::PLAIN, 400, "Invalid `signature` in `thinking` block", None),
        (0, 400, "prompt is too long: 9 tokens > 8 maximum", None),
        (0, 429, "thinking too much", None),
    ] {
        assert_eq!(messages.corrected(dialect, status, words), learned, "{words}");
    }
}
