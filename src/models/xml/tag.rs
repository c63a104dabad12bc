//! `XmlTag`: one tag in the words of a model, read with the tolerance its writers need.

use std::borrow::Cow;

/// Longest value of an attribute, in bytes: anything longer is not a tag.
const ATTRIBUTE_LIMIT_BYTES: usize = 4096;
/// Backticks around a block of code.
pub(super) const FENCE: &str = "```";
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
const ENTITIES: [(&str, &str); 5] =
    [("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("amp", "&")];

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagKind {
    /// `<name>`
    Open,
    /// `</name>`
    Close,
    /// `<name/>`
    Alone,
}

/// An opening or closing tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct XmlTag<'t> {
    pub(super) kind: TagKind,
    pub(super) name: &'t str,
    pub(super) attributes: Vec<(&'t str, String)>,
    /// Where the text continues after it.
    pub(super) end: usize,
}

impl<'t> XmlTag<'t> {
    /// Reads the tag that begins at a place; `None` where there is none.
    pub(super) fn at(text: &'t str, at: usize) -> Option<Self> {
        let rest = text.get(at..)?.strip_prefix('<')?;
        let closing = rest.strip_prefix('/');
        let (name, mut rest) = split_name(closing.unwrap_or(rest))?;
        let mut attributes = Vec::new();
        loop {
            let next = rest.trim_start_matches(BLANKS);
            let end = |after: &str| text.len() - after.len();
            if let Some(after) = next.strip_prefix('>') {
                let kind = if closing.is_some() { TagKind::Close } else { TagKind::Open };
                return Some(Self { kind, name, attributes, end: end(after) });
            }
            if closing.is_some() {
                return None;
            }
            if let Some(after) = next.strip_prefix("/>") {
                return Some(Self { kind: TagKind::Alone, name, attributes, end: end(after) });
            }
            if next.len() == rest.len() {
                return None;
            }
            let (key, value, after) = split_attribute(next)?;
            attributes.push((key, value));
            rest = after;
        }
    }

    /// Returns true for a closing tag of this name.
    pub(super) fn closes(&self, name: &str) -> bool {
        self.kind == TagKind::Close && self.name == name
    }

    /// Returns true for a tag that begins something.
    pub(super) fn begins(&self) -> bool {
        self.kind != TagKind::Close
    }
}

/// Returns the first place from `at` on that is not a blank.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len() - rest.trim_start_matches(BLANKS).len()
}

/// Returns the next `<` from `at` on.
pub(super) fn next_angle(text: &str, at: usize) -> Option<usize> {
    text.get(at..)?.find('<').map(|found| at + found)
}

/// Takes the five entities of XML and numbered ones out of a text in which every `<` and `&` is
/// written as one: once, so that what was escaped twice stays escaped. Any other text means what it
/// says.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') || text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((letter, after)) =
            part.split_once(';').and_then(|(name, after)| Some((letter(name)?, after)))
        else {
            return Cow::Borrowed(text);
        };
        plain.push_str(&letter);
        plain.push_str(after);
    }
    Cow::Owned(plain)
}

fn letter(name: &str) -> Option<String> {
    if let Some((_, letter)) = ENTITIES.iter().find(|(entity, _)| *entity == name) {
        return Some((*letter).to_owned());
    }
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(code).filter(|letter| *letter != '\0').map(String::from)
}

fn split_name(text: &str) -> Option<(&str, &str)> {
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':');
    let length = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(length)?;
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        .then_some((name, rest))
}

fn split_attribute(text: &str) -> Option<(&str, String, &str)> {
    let (key, rest) = split_name(text)?;
    let rest = rest.trim_start_matches(BLANKS).strip_prefix('=')?.trim_start_matches(BLANKS);
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let rest = rest.strip_prefix(quote)?;
    let length = locum_base::text::head(rest, ATTRIBUTE_LIMIT_BYTES).find(quote)?;
    let (value, rest) = rest.split_at_checked(length)?;
    Some((key, unescaped(value).into_owned(), rest.strip_prefix(quote)?))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{TagKind, XmlTag, unescaped};

    #[test]
    fn reads_tags_and_nothing_else() {
        for (text, kind, name, attributes) in [
            ("<path>", TagKind::Open, "path", vec![]),
            ("</path >", TagKind::Close, "path", vec![]),
            ("<mcp--time--now />", TagKind::Alone, "mcp--time--now", vec![]),
            (
                "<suggest mode=\"code\" a = 'b &lt; c'>",
                TagKind::Open,
                "suggest",
                vec![("mode", "code"), ("a", "b < c")],
            ),
        ] {
            let tag = XmlTag::at(text, 0).unwrap();
            let attributes: Vec<(&str, String)> =
                attributes.into_iter().map(|(key, value)| (key, value.to_owned())).collect();
            assert_eq!(
                (tag.kind, tag.name, tag.attributes, tag.end),
                (kind, name, attributes, text.len()),
                "{text}"
            );
        }
        for text in [
            "path>",
            "< path>",
            "<path",
            "<1>",
            "<a b>",
            "<a b=c>",
            "</a b=\"c\">",
            "<a\"b\">",
            "<ä>",
            "",
            "<",
            "</",
            "<<a>",
        ] {
            assert_eq!(XmlTag::at(text, 0), None, "{text}");
        }
    }

    #[test]
    fn entities_are_taken_out_once_and_only_where_everything_is_written_as_one() {
        for (text, plain) in [
            ("a &amp;&amp; b", "a && b"),
            ("Vec&lt;u8&gt; &#39;x&#x27;", "Vec<u8> 'x'"),
            ("&amp;lt;", "&lt;"),
            ("a && b &lt;", "a && b &lt;"),
            ("<b>&lt;</b>", "<b>&lt;</b>"),
            ("&nbsp;&amp;", "&nbsp;&amp;"),
            ("&#0;&#xd800;", "&#0;&#xd800;"),
            ("plain", "plain"),
        ] {
            assert_eq!(unescaped(text), plain, "{text}");
        }
    }
}
