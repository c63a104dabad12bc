//! Headers for a trace collector, as the environment gives them, and the secrets they hold.

use locum_base::secret::Secret;

/// Variables that hold headers, the stronger first.
pub(super) const HEADERS: [&str; 2] =
    ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];

/// Returns the values of headers for collectors: none of them may leave but there. What follows the
/// word for a kind of key, as in `Bearer KEY`, is one by itself too.
pub(super) fn secrets<'e>(get: impl Fn(&str) -> Option<&'e str>) -> Vec<Secret> {
    let values =
        HEADERS.iter().filter_map(|name| get(name)).flat_map(headers).map(|(_, value)| value);
    let with_key = |value: Secret| {
        let (kind, key) = value.expose().trim().split_once(char::is_whitespace).unwrap_or_default();
        let is_kind = kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !key.trim().is_empty();
        let key = is_kind.then(|| Secret::new(key.trim()));
        key.into_iter().chain([value])
    };
    values.flat_map(with_key).collect()
}

pub(super) fn headers(text: &str) -> Vec<(String, Secret)> {
    pairs(text).into_iter().map(|(name, value)| (name, Secret::new(value))).collect()
}

/// Reads `key=value,key=value` with values in percent encoding (W3C Baggage); anything that is not
/// a pair is left out.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        let value = percent_decoded(value.trim());
        Some((key.trim().to_owned(), value)).filter(|(key, _)| !key.is_empty())
    };
    text.split(',').filter_map(pair).collect()
}

/// Undoes percent encoding; a `%` that encodes nothing stays as it is.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .filter(|_| *first == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
