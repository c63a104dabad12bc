//! From an error answer to the [`ModelError`] it means.
//!
//! In: status, headers and body of an answer, or the error object inside a stream. Out: whether it
//! passes, how long the provider asks to wait, and its words, clipped and without the key. Times
//! are counted from the answer's own `Date`, so no clock is needed.

use std::time::Duration;

use jiff::fmt::rfc2822;
use jiff::{Span, SpanRelativeTo, Timestamp};
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::ModelError;
use locum_base::text::{head, single_blanks};

/// Most bytes of a provider's words that are passed on.
const WORDS_LIMIT_BYTES: usize = 600;

/// What providers say when a conversation does not fit.
const CONTEXT_OVERFLOW: &[&str] = &[
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
    "reduce the length",
    "exceeds the maximum number of tokens",
    "maximum prompt length",
    // Moonshot: "Your request exceeded model token limit: 262144 (requested: 291351)".
    "exceeded model token limit",
    // Z.ai, code 1261.
    "prompt exceeds max length",
    // "tokens in request more than max tokens allowed"
    "more than max tokens allowed",
];

/// What some say of a conversation that does not fit, and others of a limit of tokens a minute.
const TOO_MANY_TOKENS: &str = "too many tokens";

/// What OpenAI calls a text of a request that is too long: a message, or a name or an id in it.
const LONG_TEXT: &str = "string_above_max_length";

/// What providers say when waiting helps.
const THROTTLING: &[&str] = &[
    "throttl",
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "please wait",
    "before trying again",
];

/// What providers say when there is nothing left to pay with: waiting does not help.
const OUT_OF_MONEY: &[&str] = &[
    "insufficient_quota",
    "insufficient balance",
    "billing_hard_limit",
    "exceeded your current quota",
    "credit balance",
    // xAI.
    "doesn't have any credits",
    "used all available credits",
];

/// What providers call a fault inside a stream that a retry will not fix.
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
pub(crate) fn status_error(
    model: &str,
    status: u16,
    headers: &HeaderMap,
    body: &str,
) -> ModelError {
    let model = model.to_owned();
    let words = error_message(body);
    let lower = body.to_ascii_lowercase();
    let message = if words.is_empty() { format!("status {status} with no message") } else { words };
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
        400 | 402 | 403 | 429 if status == 402 || is_out_of_money(body, &lower) => {
            ModelError::QuotaExhausted { model, status, message }
        }
        401 | 403 => ModelError::Unauthorized { model, message },
        400 | 413 | 422 | 500 if status == 413 || is_overflow(&lower) => {
            ModelError::TooLong { model, message }
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
                retry_after: delay_in_headers(headers).or_else(|| delay_in_body(body)),
            }
        }
        _ => ModelError::Rejected { model, status, message },
    }
}

/// Turns an error object inside an accepted answer into the error it means; most such faults pass.
pub(crate) fn reported_error(model: &str, fault: &Value) -> ModelError {
    let model = model.to_owned();
    let text = fault.to_string();
    let lower = text.to_ascii_lowercase();
    let message = error_message(&text);
    let code = ["code", "status", "status_code"]
        .iter()
        .find_map(|key| fault.get(*key))
        .and_then(Value::as_u64);
    match code {
        _ if is_overflow(&lower) => ModelError::TooLong { model, message },
        _ if is_out_of_money(&text, &lower) => {
            ModelError::QuotaExhausted { model, status: 200, message }
        }
        Some(401 | 403) => ModelError::Unauthorized { model, message },
        _ if says(&lower, &["authentication_error", "invalid_api_key", "permission_error"]) => {
            ModelError::Unauthorized { model, message }
        }
        Some(402) => ModelError::QuotaExhausted { model, status: 402, message },
        Some(status @ (400 | 404 | 422)) => {
            ModelError::Rejected { model, status: u16::try_from(status).unwrap_or(400), message }
        }
        _ if says(&lower, LASTING) => ModelError::Rejected { model, status: 200, message },
        Some(_) | None => ModelError::Unavailable { model, message, retry_after: None },
    }
}

/// Returns true when an error object inside an answer says that too much was asked of the provider
/// at once: it did not begin to work.
pub(crate) fn is_throttling(fault: &Value) -> bool {
    says(&fault.to_string().to_ascii_lowercase(), THROTTLING)
}

/// Returns true when a body, in lower case, says that the conversation does not fit.
fn is_overflow(lower: &str) -> bool {
    // A name or an id that is too long is not a matter of the conversation's length.
    let is_long_message = lower.contains(LONG_TEXT) && !says(lower, &["id'", "name'"]);
    let is_too_many = lower.contains(TOO_MANY_TOKENS) && !says(lower, THROTTLING);
    says(lower, CONTEXT_OVERFLOW) || is_long_message || is_too_many
}

/// Returns true when a body says that nothing is left to pay with. Where the provider says how long
/// to wait, there is more to come, unless that is the next day.
fn is_out_of_money(body: &str, lower: &str) -> bool {
    says(lower, OUT_OF_MONEY) && (delay_in_body(body).is_none() || lower.contains("perday"))
}

fn says(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// Returns the provider's own words in an error body: JSON in any of its usual shapes, a page
/// without its tags, or plain text.
pub(crate) fn error_message(body: &str) -> String {
    let found = serde_json::from_str::<Value>(body).ok().and_then(|value| find_message(&value, 0));
    let text = found.unwrap_or_else(|| {
        if body.trim_start().starts_with('<') { without_tags(body) } else { body.to_owned() }
    });
    let text = single_blanks(&text);
    let clipped = head(&text, WORDS_LIMIT_BYTES);
    if clipped.len() < text.len() { format!("{clipped} ...") } else { text }
}

/// Returns how long the provider asks to wait in its words (`"retryDelay": "17s"`).
fn delay_in_body(body: &str) -> Option<Duration> {
    let (_, after) = body.split_once("\"retryDelay\"")?;
    read_delay(after.split('"').nth(1)?, None)
}

/// Returns how long the provider asks to wait.
fn delay_in_headers(headers: &HeaderMap) -> Option<Duration> {
    let now = header(headers, "date").and_then(read_date);
    let millis = header(headers, "retry-after-ms")
        .and_then(|text| text.parse().ok())
        .map(Duration::from_millis);
    let after = header(headers, "retry-after").and_then(|text| read_delay(text, now));
    let reset = |prefix: &str| {
        let left = header(headers, &format!("{prefix}ratelimit-remaining"));
        header(headers, &format!("{prefix}ratelimit-reset"))
            .filter(|_| left.is_none_or(|left| left == "0"))
            .and_then(|text| read_delay(text, now))
    };
    millis
        .or(after)
        .or_else(|| read_kinds(headers))
        .or_else(|| read_limits(headers, now))
        .or_else(|| reset("x-"))
        .or_else(|| reset(""))
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

/// Reads the resets of requests and of tokens that are used up, the longest of them. Servers name
/// the others too, and of those a part comes back within milliseconds.
fn read_kinds(headers: &HeaderMap) -> Option<Duration> {
    let wait = |kind: &&str| {
        let name = |what: &str| format!("x-ratelimit-{what}-{kind}");
        header(headers, &name("remaining")).filter(|left| *left == "0")?;
        read_delay(header(headers, &name("reset"))?, None)
    };
    ["requests", "tokens"].iter().filter_map(wait).max()
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
    let span: Span = text.trim().parse().ok()?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?.try_into().ok()
}

fn read_date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn find_message(value: &Value, depth: u8) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(list) if depth < 4 => {
            let words: Vec<String> =
                list.iter().filter_map(|item| find_message(item, depth + 1)).collect();
            Some(words.join("; ")).filter(|words| !words.is_empty())
        }
        Value::Object(object) if depth < 4 => {
            let words = ["error", "message", "detail", "msg", "errors", "error_description"].iter();
            let words = words
                .filter_map(|key| object.get(*key))
                .find_map(|inner| find_message(inner, depth + 1))?;
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
mod tests;
