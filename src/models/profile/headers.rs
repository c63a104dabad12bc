//! Which headers of its own a profile may send.

/// Headers a profile may not set.
const RESERVED_HEADERS: &[&str] = &[
    "accept",
    "api-key",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
    "x-goog-api-key",
];

/// Checks one of them.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check_header(name: &str, value: &str) -> Result<(), String> {
    let lower = name.to_ascii_lowercase();
    let plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if !plain || value.bytes().any(|byte| byte.is_ascii_control()) {
        return Err(format!(
            "`headers` holds `{name}`, which is not a header with a printable value"
        ));
    }
    if RESERVED_HEADERS.contains(&lower.as_str()) {
        return Err(format!(
            "`headers` may not set `{name}`: the program sets it itself, the key comes from \
             `api_key_env`"
        ));
    }
    Ok(())
}
