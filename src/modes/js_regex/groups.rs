//! The capturing groups of a JavaScript pattern, counted before it is translated: whether `\2` is a
//! reference depends on what follows it.

use crate::js_regex::JsRegexError;

/// Counts the capturing groups and finds their names.
pub(super) fn count_groups(chars: &[char]) -> Result<(usize, Vec<(String, usize)>), JsRegexError> {
    let (mut count, mut names): (usize, Vec<(String, usize)>) = (0, Vec::new());
    let (mut at, mut in_class) = (0, false);
    while let Some(char) = chars.get(at) {
        match char {
            '\\' => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => match chars.get(at + 1..).unwrap_or_default() {
                ['?', '<', '=' | '!', ..] => {}
                ['?', '<', rest @ ..] => {
                    count += 1;
                    let name: String = rest.iter().take_while(|char| **char != '>').collect();
                    let is_name = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
                    let bad = name.is_empty()
                        || !name.chars().all(is_name)
                        || name.starts_with(|first: char| first.is_numeric());
                    if bad
                        || rest.len() == name.chars().count()
                        || names.iter().any(|(known, _)| *known == name)
                    {
                        return Err(JsRegexError::Invalid {
                            what: "invalid or repeated group name",
                            at: at + 1,
                        });
                    }
                    names.push((name, count));
                }
                ['?', ..] => {}
                _ => count += 1,
            },
            _ => {}
        }
        at += 1;
    }
    Ok((count, names))
}
