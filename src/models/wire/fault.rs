//! From an error answer to the [`ModelError`] it means.
//!
//! In: status, headers and body of an answer, or the error object inside a stream. Out: whether it
//! passes, how long the provider asks to wait, and its words, clipped and without the key. Times
//! are counted from the answer's own `Date`, so no clock is needed.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::ModelError;
use locum_base::text::head;

/// Most bytes of a provider's words that are passed on.
const WORDS_LIMIT_BYTES: usize = 600;

/// What providers say when a conversation does not fit.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "input length",
    "too many tokens",
    "reduce the length",
    "exceeds the maximum number of tokens",
    "maximum prompt length",
    "string_above_max_length",
];

/// What providers say when there is nothing left to pay with: waiting does not help.
const OUT_OF_MONEY: &[&str] = &[
    "insufficient_quota",
    "insufficient balance",
    "billing_hard_limit",
    "exceeded your current quota",
    "credit balance",
];

/// What providers call a fault inside a stream that another try will not mend.
const LASTING: &[&str] = &[
    "invalid_request",
    "invalid request",
    "not_found",
    "not found",
    "unsupported",
    "invalid_prompt",
    "content_policy",
];

/// Turns an answer with an error status into the error it means.
pub(crate) fn read_status(model: &str, status: u16, headers: &HeaderMap, body: &str) -> ModelError {
    let model = model.to_owned();
    let words = read_words(body);
    let lower = body.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let message = if words.is_empty() { format!("status {status} without words") } else { words };
    match status {
        300..=399 => {
            let to =
                headers.get("location").and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
            let message = format!(
                "the server redirects to `{}`; redirects are not followed with a key, set \
                 `base_url` to the right place",
                head(to, 200)
            );
            ModelError::Rejected { model, status, message }
        }
        401 | 403 => ModelError::Unauthorized { model, message },
        400 | 413 | 422 | 500 if status == 413 || says(TOO_LONG) => {
            ModelError::TooLong { model, message }
        }
        // Where the provider says how long to wait, there is more to come.
        429 if says(OUT_OF_MONEY) && (told_wait(body).is_none() || lower.contains("perday")) => {
            ModelError::Rejected { model, status, message }
        }
        404 | 405 => {
            let message = format!(
                "{message} (is `base_url` right? it mostly ends in `/v1`; and does the model \
                 exist there?)"
            );
            ModelError::Rejected { model, status, message }
        }
        408 | 409 | 425 | 429 | 500 | 502..=504 | 506..=599
            if header(headers, "x-should-retry") != Some("false") =>
        {
            ModelError::Unavailable {
                model,
                message: format!("{message} (status {status})"),
                retry_after: read_wait(headers).or_else(|| told_wait(body)),
            }
        }
        _ => ModelError::Rejected { model, status, message },
    }
}

/// Turns an error object inside an accepted answer into the error it means; most such faults pass.
pub(crate) fn read_reported(model: &str, fault: &Value) -> ModelError {
    let model = model.to_owned();
    let text = fault.to_string();
    let lower = text.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let message = read_words(&text);
    let code = ["code", "status", "status_code"]
        .iter()
        .find_map(|key| fault.get(*key))
        .and_then(Value::as_u64);
    match code {
        _ if says(TOO_LONG) => ModelError::TooLong { model, message },
        Some(401 | 403) => ModelError::Unauthorized { model, message },
        _ if says(&["authentication_error", "invalid_api_key", "permission_error"]) => {
            ModelError::Unauthorized { model, message }
        }
        Some(status @ (400 | 402 | 404 | 422)) => {
            ModelError::Rejected { model, status: u16::try_from(status).unwrap_or(400), message }
        }
        _ if says(OUT_OF_MONEY) || says(LASTING) => {
            ModelError::Rejected { model, status: 200, message }
        }
        Some(_) | None => ModelError::Unavailable { model, message, retry_after: None },
    }
}

/// Returns the provider's own words in an error body: JSON in any of its usual shapes, a page
/// without its tags, or plain text.
pub(crate) fn read_words(body: &str) -> String {
    let found = serde_json::from_str::<Value>(body).ok().and_then(|value| find_words(&value, 0));
    let text = found.unwrap_or_else(|| {
        if body.trim_start().starts_with('<') { without_tags(body) } else { body.to_owned() }
    });
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let clipped = head(&text, WORDS_LIMIT_BYTES);
    if clipped.len() < text.len() { format!("{clipped} ...") } else { text }
}

/// Returns how long the provider asks to wait in its words (`"retryDelay": "17s"`).
fn told_wait(body: &str) -> Option<Duration> {
    let (_, after) = body.split_once("\"retryDelay\"")?;
    read_delay(after.split('"').nth(1)?, None)
}

/// Returns how long the provider asks to wait.
fn read_wait(headers: &HeaderMap) -> Option<Duration> {
    let now = header(headers, "date").and_then(read_date);
    let millis = header(headers, "retry-after-ms")
        .and_then(|text| text.parse().ok())
        .map(Duration::from_millis);
    let after = header(headers, "retry-after").and_then(|text| read_delay(text, now));
    let reset = || {
        header(headers, "x-ratelimit-reset")
            .or_else(|| header(headers, "ratelimit-reset"))
            .and_then(|text| read_delay(text, now))
    };
    millis
        .or(after)
        .or_else(|| read_kinds(headers))
        .or_else(|| read_limits(headers, now))
        .or_else(reset)
}

/// Reads the resets of the limits that are used up, as moments.
fn read_limits(headers: &HeaderMap, now: Option<Timestamp>) -> Option<Duration> {
    let until = |kind: &&str| {
        let name = |what: &str| format!("anthropic-ratelimit-{kind}-{what}");
        header(headers, &name("remaining")).filter(|left| *left == "0")?;
        let moment = header(headers, &name("reset"))?.parse::<Timestamp>().ok()?;
        Some(Duration::try_from(moment.duration_since(now?)).unwrap_or_default())
    };
    ["requests", "tokens", "input-tokens", "output-tokens"].iter().filter_map(until).max()
}

/// Reads the resets of requests and of tokens: the longest of the kinds that are used up, the
/// shortest where none says that it is.
fn read_kinds(headers: &HeaderMap) -> Option<Duration> {
    let kinds: Vec<(bool, Duration)> = ["requests", "tokens"]
        .iter()
        .filter_map(|kind| {
            let wait = header(headers, &format!("x-ratelimit-reset-{kind}"))
                .and_then(|text| read_delay(text, None))?;
            Some((header(headers, &format!("x-ratelimit-remaining-{kind}")) == Some("0"), wait))
        })
        .collect();
    let used_up = kinds.iter().filter(|(used_up, _)| *used_up).map(|(_, wait)| *wait).max();
    used_up.or_else(|| kinds.iter().map(|(_, wait)| *wait).min())
}

/// Reads a delay: seconds, `1m30s` and the like, a moment in seconds or milliseconds since 1970, or
/// a date.
fn read_delay(text: &str, now: Option<Timestamp>) -> Option<Duration> {
    const EPOCH_SECONDS: f64 = 1.0e9;
    const EPOCH_MILLIS: f64 = 1.0e12;
    let until = |moment: Timestamp| {
        now.map(|now| Duration::try_from(moment.duration_since(now)).unwrap_or_default())
    };
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() || number < 0.0 => None,
        Ok(number) if number >= EPOCH_MILLIS => until(moment(number / 1000.0)?),
        Ok(number) if number >= EPOCH_SECONDS => until(moment(number)?),
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => read_units(text).or_else(|| read_date(text).and_then(until)),
    }
}

fn moment(seconds: f64) -> Option<Timestamp> {
    #[expect(clippy::cast_possible_truncation, reason = "the fraction of a second does not matter")]
    Timestamp::from_second(seconds as i64).ok()
}

/// Reads `6m0s`, `1.5s`, `20ms`.
fn read_units(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total = total.checked_add(
            Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?,
        )?;
        rest = tail;
    }
    Some(total)
}

fn read_date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn find_words(value: &Value, depth: u8) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(list) if depth < 4 => {
            let words: Vec<String> =
                list.iter().filter_map(|item| find_words(item, depth + 1)).collect();
            Some(words.join("; ")).filter(|words| !words.is_empty())
        }
        Value::Object(object) if depth < 4 => {
            let words = ["error", "message", "detail", "msg", "errors", "error_description"].iter();
            let words = words
                .filter_map(|key| object.get(*key))
                .find_map(|inner| find_words(inner, depth + 1))?;
            let code =
                ["code", "type"].iter().filter_map(|key| object.get(*key)).find_map(Value::as_str);
            Some(
                code.filter(|code| !words.contains(code))
                    .map_or_else(|| words.clone(), |code| format!("{words} [{code}]")),
            )
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

fn without_tags(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tail)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let hidden = ["style", "script"].into_iter().find(|name| {
            tail.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let inside = hidden.map_or(tail, |name| {
            tail.split_once(&format!("</{name}")).map_or("", |(_, after)| after)
        });
        rest = inside.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pretty_assertions::assert_eq;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
    use serde_json::json;

    use super::{read_reported, read_status, read_wait, read_words};
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
            ModelError::TooLong { .. } => "too long",
            ModelError::Unavailable { .. } => "unavailable",
            ModelError::Unreachable { .. } => "unreachable",
            ModelError::Garbled { .. } => "garbled",
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
            (402, "pay", "rejected"),
            (404, "no such model", "rejected"),
            (422, "{}", "rejected"),
            (408, "", "unavailable"),
            (409, "", "unavailable"),
            (429, "", "unavailable"),
            (429, r#"{"error":{"code":"insufficient_quota"}}"#, "rejected"),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","details":[{"retryDelay":"17s"}]}}"#,
                "unavailable",
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","details":[{"quotaId":"X-PerDay"},{"retryDelay":"17s"}]}}"#,
                "rejected",
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
                kind(&read_status("m", status, &HeaderMap::new(), body)),
                expected,
                "{status} {body}"
            );
        }
        assert_eq!(
            kind(&read_status("m", 503, &headers(&[("x-should-retry", "false")]), "")),
            "rejected"
        );
    }

    #[test]
    fn waits_as_long_as_the_words_say() {
        let body =
            r#"{"error":{"code":429,"details":[{"@type":"RetryInfo","retryDelay": "1.5s"}]}}"#;
        let err = read_status("m", 429, &HeaderMap::new(), body);
        assert!(
            matches!(err, ModelError::Unavailable { retry_after: Some(wait), .. } if wait == Duration::from_millis(1500)),
            "{err}"
        );
    }

    #[test]
    fn says_where_a_redirect_points() {
        let err =
            read_status("m", 301, &headers(&[("location", "https://elsewhere.example/v1")]), "");
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
            (json!({ "message": "who are you", "code": 401 }), "unauthorized"),
            (json!({ "type": "invalid_request_error", "message": "x" }), "rejected"),
            (json!({ "message": "x", "code": 402 }), "rejected"),
        ] {
            assert_eq!(kind(&read_reported("m", &fault)), expected, "{fault}");
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
            assert_eq!(read_words(body), words, "{body}");
        }
        let long = read_words(&"word ".repeat(1000));
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
            (
                &[("x-ratelimit-reset-requests", "1m30s"), ("x-ratelimit-reset-tokens", "20ms")],
                Some(seconds(0.02)),
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
            assert_eq!(read_wait(&headers(pairs)), wait, "{pairs:?}");
        }
    }
}
