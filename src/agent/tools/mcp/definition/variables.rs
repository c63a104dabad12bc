//! Variables in definitions: `${NAME}`, `${env:NAME}`, `${NAME:-otherwise}`.
//!
//! In: a text, and what the caller allows. Out: the text with values.

/// Returns a text with every variable filled in.
///
/// # Errors
/// A fragment that names a variable for which `value` has no answer.
pub(super) fn filled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (inner, behind) = after
            .split_once('}')
            .ok_or_else(|| format!("`{text}` has a `${{` without its `}}`"))?;
        let (name, otherwise) = inner
            .split_once(":-")
            .map_or((inner, None), |(name, otherwise)| (name, Some(otherwise)));
        let name = name.strip_prefix("env:").unwrap_or(name);
        let found = value(name).or_else(|| otherwise.map(str::to_owned));
        whole.push_str(before);
        whole.push_str(&found.ok_or_else(|| format!("`${{{name}}}` has no value"))?);
        rest = behind;
    }
    Ok(whole + rest)
}
