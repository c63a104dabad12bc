//! Error responses of providers, and how long they ask to wait.

use std::time::Duration;

use pretty_assertions::assert_eq;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;

use super::{delay_in_headers, error_message, reported_error, status_error};
use crate::ModelError;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        })
        .collect()
}

fn kind(err: &ModelError) -> &'static str {
    match err {
        ModelError::Unauthorized { .. } => "unauthorized",
        ModelError::Rejected { .. } => "rejected",
        ModelError::QuotaExhausted { .. } => "quota",
        ModelError::TooLong { .. } => "too long",
        ModelError::NotConnected { .. } => "not connected",
        ModelError::Unavailable { .. } => "unavailable",
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::Garbled { .. } => "garbled",
        ModelError::Unaffordable { .. } => "unaffordable",
        ModelError::Script { .. } => "script",
    }
}

#[test]
fn tells_passing_faults_from_lasting_ones() {
    let too_long = r#"{"error":{"message":"This model's maximum context length is 10 tokens","code":"context_length_exceeded"}}"#;
    for (status, body, expected) in [
        (400, "bad", "rejected"),
        (400, too_long, "too long"),
        (
            500,
            r#"{"error":{"message":"the request exceeds the available context size"}}"#,
            "too long",
        ),
        (413, "large", "too long"),
        (401, "", "unauthorized"),
        (403, "<html>no</html>", "unauthorized"),
        (402, "pay", "quota"),
        (404, "no such model", "rejected"),
        (422, "{}", "rejected"),
        (408, "", "unavailable"),
        (409, "", "unavailable"),
        (429, "", "unavailable"),
        (429, r#"{"error":{"code":"insufficient_quota"}}"#, "quota"),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","details":[{"retryDelay":"17s"}]}}"#,
            "unavailable",
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","details":[{"quotaId":"X-PerDay"},{"retryDelay":"17s"}]}}"#,
            "quota",
        ),
        (500, "", "unavailable"),
        (501, "", "rejected"),
        (502, "<h1>Bad gateway</h1>", "unavailable"),
        (503, "", "unavailable"),
        (529, "", "unavailable"),
        (302, "", "rejected"),
        (418, "", "rejected"),
    ] {
        assert_eq!(
            kind(&status_error("m", status, &HeaderMap::new(), body)),
            expected,
            "{status} {body}"
        );
    }
    assert_eq!(
        kind(&status_error("m", 503, &headers(&[("x-should-retry", "false")]), "")),
        "rejected"
    );
}

#[test]
fn an_empty_account_is_known_by_its_words_whatever_the_status() {
    let anthropic = "Your credit balance is too low to access the Anthropic API. Please go to \
                     Plans & Billing to upgrade or purchase credits.";
    let xai = "Your newly created team doesn't have any credits yet.";
    for (status, message, expected) in [
        (400, anthropic, "quota"),
        (403, xai, "quota"),
        (403, "Your request was blocked.", "unauthorized"),
        (400, "`credits` is not a field", "rejected"),
        (503, anthropic, "unavailable"),
    ] {
        let error = json!({ "type": "invalid_request_error", "message": message });
        let body = json!({ "type": "error", "error": error }).to_string();
        assert_eq!(kind(&status_error("m", status, &HeaderMap::new(), &body)), expected, "{body}");
    }
    let reported = json!({ "type": "invalid_request_error", "message": anthropic });
    assert_eq!(kind(&reported_error("m", &reported)), "quota");
}

#[test]
fn a_conversation_that_is_too_long_is_known_by_the_words_of_each_host() {
    let id = "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with \
              maximum length 40, but got a string with length 46 instead.";
    let content = "Invalid 'messages[2].content': string too long. Expected a string with maximum \
                   length 10485760, but got a string with length 10485761 instead.";
    for (code, message, expected) in [
        ("", "Your request exceeded model token limit: 262144 (requested: 291351)", "too long"),
        ("1261", "Prompt exceeds max length", "too long"),
        ("", "tokens in request more than max tokens allowed", "too long"),
        ("", "Too many tokens: 300000 of 200000", "too long"),
        ("", "Too many tokens, please wait before trying again.", "rejected"),
        ("string_above_max_length", content, "too long"),
        ("string_above_max_length", id, "rejected"),
        ("1210", "Invalid max_tokens", "rejected"),
    ] {
        let body = json!({ "error": { "code": code, "message": message } }).to_string();
        assert_eq!(kind(&status_error("m", 400, &HeaderMap::new(), &body)), expected, "{body}");
    }
}

#[test]
fn waits_as_long_as_the_words_say() {
    let body = r#"{"error":{"code":429,"details":[{"@type":"RetryInfo","retryDelay": "1.5s"}]}}"#;
    let err = status_error("m", 429, &HeaderMap::new(), body);
    assert!(
        matches!(err, ModelError::Unavailable { retry_after: Some(wait), .. } if wait == Duration::from_millis(1500)),
        "{err}"
    );
}

#[test]
fn says_where_a_redirect_points() {
    let err = status_error("m", 301, &headers(&[("location", "https://elsewhere.example/v1")]), "");
    assert!(
        err.to_string().contains("https://elsewhere.example/v1")
            && err.to_string().contains("not followed"),
        "{err}"
    );
}

#[test]
fn tells_errors_inside_a_stream_apart() {
    for (fault, expected) in [
        (json!("overloaded"), "unavailable"),
        (json!({ "message": "server error", "code": 502 }), "unavailable"),
        (json!({ "message": "rate limit", "code": "rate_limit_exceeded" }), "unavailable"),
        (json!({ "message": "prompt is too long: 9 > 8", "code": 400 }), "too long"),
        (json!({ "type": "validationException", "message": "Too many tokens" }), "too long"),
        (
            json!({
                "type": "throttlingException",
                "message": "Too many tokens, please wait before trying again.",
            }),
            "unavailable",
        ),
        (json!({ "message": "who are you", "code": 401 }), "unauthorized"),
        (json!({ "type": "invalid_request_error", "message": "x" }), "rejected"),
        (json!({ "message": "x", "code": 402 }), "quota"),
    ] {
        assert_eq!(kind(&reported_error("m", &fault)), expected, "{fault}");
    }
}

#[test]
fn passes_on_the_providers_own_words() {
    for (body, words) in [
        (
            r#"{"error":{"message":"no such\n model","type":"invalid","code":null}}"#,
            "no such model [invalid]",
        ),
        (r#"{"error":"plain"}"#, "plain"),
        (r#"{"message":"mistral","code":"1"}"#, "mistral [1]"),
        (
            r#"{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"other"}]}"#,
            "field required; other",
        ),
        (r#"[{"error":{"message":"listed"}}]"#, "listed"),
        (
            "<html><head><style>p { }</style><title>502</title></head><body><p>Bad \
             <b>gateway</b></p></body></html>",
            "502 Bad gateway",
        ),
        ("just text", "just text"),
        ("{}", "{}"),
        ("", ""),
        ("<", ""),
    ] {
        assert_eq!(error_message(body), words, "{body}");
    }
    let long = error_message(&"word ".repeat(1000));
    assert!(long.len() < 620 && long.ends_with(" ..."), "{long}");
}

#[test]
fn reads_every_way_to_say_how_long_to_wait() {
    const DATE: (&str, &str) = ("date", "Sat, 21 Nov 2026 10:00:00 GMT");
    let seconds = Duration::from_secs_f64;
    for (pairs, wait) in [
        (&[("retry-after", "7")][..], Some(seconds(7.0))),
        (&[("retry-after", "1.5")], Some(seconds(1.5))),
        (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(seconds(0.25))),
        (&[DATE, ("retry-after", "Sat, 21 Nov 2026 10:00:30 GMT")], Some(seconds(30.0))),
        (&[DATE, ("retry-after", "Sat, 21 Nov 2026 09:00:00 GMT")], Some(seconds(0.0))),
        (&[("retry-after", "Sat, 21 Nov 2026 10:00:30 GMT")], None),
        (&[("retry-after", "soon")], None),
        (&[("retry-after", "-3")], None),
        (&[("x-ratelimit-reset-requests", "1m30s"), ("x-ratelimit-reset-tokens", "20ms")], None),
        (
            &[
                ("x-ratelimit-reset-requests", "6ms"),
                ("x-ratelimit-remaining-requests", "9999"),
                ("x-ratelimit-reset-tokens", "20ms"),
                ("x-ratelimit-remaining-tokens", "149000"),
            ],
            None,
        ),
        (
            &[
                ("x-ratelimit-reset-requests", "1m30s"),
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-tokens", "20ms"),
            ],
            Some(seconds(90.0)),
        ),
        (&[DATE, ("x-ratelimit-reset", "1795255260")], Some(seconds(60.0))),
        (&[DATE, ("x-ratelimit-reset", "1795255260000")], Some(seconds(60.0))),
        (&[("x-ratelimit-reset", "12")], Some(seconds(12.0))),
        (&[("x-ratelimit-reset", "12"), ("x-ratelimit-remaining", "0")], Some(seconds(12.0))),
        (&[("x-ratelimit-reset", "12"), ("x-ratelimit-remaining", "3")], None),
        (&[("ratelimit-reset", "12")], Some(seconds(12.0))),
        (
            &[
                DATE,
                ("anthropic-ratelimit-tokens-remaining", "0"),
                ("anthropic-ratelimit-tokens-reset", "2026-11-21T10:00:09Z"),
            ],
            Some(seconds(9.0)),
        ),
        (
            &[
                DATE,
                ("anthropic-ratelimit-tokens-remaining", "5"),
                ("anthropic-ratelimit-tokens-reset", "2026-11-21T10:00:09Z"),
            ],
            None,
        ),
        (&[], None),
    ] {
        assert_eq!(delay_in_headers(&headers(pairs)), wait, "{pairs:?}");
    }
}
