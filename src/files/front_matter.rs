//! The head of a Markdown file: `---`, YAML, `---`, and the text below. In: the file's text; out:
//! the head as a tree and the body.
//!
//! Many such heads are written by programs that quote nothing (`description: Use this when: ...`).
//! Where a head is not YAML it is read line by line: `key: the rest as text`, and what does not
//! begin a key belongs to the one before.

use crate::diagnostic::Diagnostic;
use crate::position::Position;
use crate::yaml::{MapEntry, YamlDocument, YamlNode, YamlValue};

/// Most bytes of a head.
pub const HEAD_LIMIT_BYTES: usize = 64 * 1024;

/// A Markdown file with a head.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter<'t> {
    /// The head: a mapping. Places count from the file's first line.
    pub head: YamlNode,
    /// Why the head had to be read line by line, or `None`.
    pub mistake: Option<Diagnostic>,
    /// Text below the header.
    pub body: &'t str,
}

/// Splits a file; `None` where no head stands at its very start.
///
/// # Errors
/// When the head is longer than [`HEAD_LIMIT_BYTES`], or holds neither a mapping nor lines with
/// keys.
pub fn parse(text: &str) -> Result<Option<FrontMatter<'_>>, Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((head, body)) = split(text) else { return Ok(None) };
    if head.len() > HEAD_LIMIT_BYTES {
        let message = format!("the head of {} bytes is longer than {HEAD_LIMIT_BYTES}", head.len());
        return Err(Diagnostic::new(Position { line: 1, column: 1 }, message));
    }
    // The line with `---` becomes an empty one, so that places are those of the file.
    let document = YamlDocument::parse(&format!("\n{head}"));
    let mistake = document.mistakes.into_iter().next();
    let found = document.root.filter(|root| mistake.is_none() && root.entries().is_some());
    if let Some(head) = found {
        return Ok(Some(FrontMatter { head, mistake: None, body }));
    }
    if head.trim().is_empty() {
        let head =
            YamlNode { place: Position { line: 1, column: 1 }, value: YamlValue::Map(Vec::new()) };
        return Ok(Some(FrontMatter { head, mistake: None, body }));
    }
    let mistake = mistake.unwrap_or_else(|| {
        Diagnostic::new(Position { line: 2, column: 1 }, "the head is not a mapping")
    });
    match line_by_line(head) {
        Some(head) => Ok(Some(FrontMatter { head, mistake: Some(mistake), body })),
        None => Err(mistake),
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((rest.get(..length)?, rest.get(length + line.len()..)?));
        }
        length += line.len();
    }
    None
}

fn line_by_line(head: &str) -> Option<YamlNode> {
    let mut entries: Vec<MapEntry> = Vec::new();
    for (number, line) in (2_u32..).zip(head.lines()) {
        let place = |column: usize| Position {
            line: number,
            column: u32::try_from(column).unwrap_or(u32::MAX),
        };
        match line.split_once(':').filter(|(key, _)| is_key(key)) {
            Some((key, _)) if entries.iter().any(|entry| entry.key == key) => return None,
            Some((key, text)) => {
                let node = YamlNode {
                    place: place(key.len() + 3),
                    value: YamlValue::Text(unquoted(text.trim()).to_owned()),
                };
                entries.push(MapEntry { key: key.to_owned(), key_place: place(1), node });
            }
            None => {
                if let YamlValue::Text(text) = &mut entries.last_mut()?.node.value {
                    text.push('\n');
                    text.push_str(line.trim_end());
                }
            }
        }
    }
    for entry in &mut entries {
        if let YamlValue::Text(text) = &mut entry.node.value {
            text.truncate(text.trim_end().len());
        }
    }
    Some(YamlNode { place: Position { line: 2, column: 1 }, value: YamlValue::Map(entries) })
}

fn is_key(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use pretty_assertions::assert_eq;

    fn check(text: &str, expected: Option<(serde_json::Value, bool, &str)>) {
        let found = parse(text)
            .unwrap()
            .map(|found| (found.head.to_json(), found.mistake.is_some(), found.body));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn splits_head_and_body() {
        check(
            "---\nname: a\ntools: [x]\n---\nBody\n---\nmore",
            Some((serde_json::json!({"name": "a", "tools": ["x"]}), false, "Body\n---\nmore")),
        );
        check("---\r\nname: a\r\n---\r\nB", Some((serde_json::json!({"name": "a"}), false, "B")));
        check("\u{feff}---\n---\nB", Some((serde_json::json!({}), false, "B")));
        check("---\nname: a\n", None);
        check("# Title\n---\nname: a\n---\n", None);
        check("", None);
    }

    #[test]
    fn reads_a_head_nobody_quoted() {
        let text = "---\nname: a\ndescription: Use when: x. Example: user: \"hi\"\n  <example>: \
                    y\nmodel: \"opus\"\n---\nB";
        let expected = serde_json::json!({
            "name": "a",
            "description": "Use when: x. Example: user: \"hi\"\n  <example>: y",
            "model": "opus",
        });
        check(text, Some((expected, true, "B")));
        assert_eq!(parse(text).unwrap().unwrap().mistake.unwrap().place.line, 3);
    }

    #[test]
    fn says_what_no_head_can_be() {
        for text in [
            "---\n- a\n- b\n---\n",
            "---\n{\n---\n",
            &format!("---\na: {}\n---\n", "x".repeat(70_000)),
        ] {
            assert!(parse(text).is_err(), "{}", text.chars().take(40).collect::<String>());
        }
        assert!(parse("---\na: b\na: c\n---\n").is_err(), "a key twice");
    }
}
