//! Limits on requests, by what an answer says: its headers and its message.

use reqwest::header::HeaderMap;

/// What the headers of an answer say about a limit on requests.
pub(super) struct RateLimit {
    pub(super) is_reached: bool,
    /// Seconds to wait, where the forge says.
    pub(super) wait_s: Option<u64>,
}

impl RateLimit {
    /// Distinguishes a limit from a refusal: both come as 403.
    /// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    pub(super) fn of(headers: &HeaderMap, now_s: i64) -> Self {
        let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
        let retry_after = header("retry-after");
        let now_s = u64::try_from(now_s).unwrap_or_default();
        let reset: Option<u64> = header("x-ratelimit-reset").and_then(|end_s| end_s.parse().ok());
        let reset = reset.map(|end_s| end_s.saturating_sub(now_s));
        let is_used_up = header("x-ratelimit-remaining") == Some("0");
        Self {
            is_reached: retry_after.is_some() || is_used_up,
            wait_s: retry_after
                .and_then(|seconds| seconds.parse().ok())
                .or(reset.filter(|_| is_used_up)),
        }
    }
}

/// Returns whether a message says that there is a limit on requests.
pub(super) fn is_about_limit(message: &str) -> bool {
    message.to_ascii_lowercase().contains("rate limit")
}
