//! The tags of HTML, one after the other, with what is used of their attributes.
//!
//! In: a page's text. Out: tags and plain text. It keeps no tree and mends nothing.

use locum_base::secret::view::entity;

/// How classes name the language of the code in an element.
const LANGUAGE_CLASSES: &[&str] = &["language-", "lang-", "highlight-source-", "highlight-"];

/// Words in the place of a language that name none.
const NO_LANGUAGES: &[&str] = &["default", "none", "text", "plaintext", "notranslate"];

/// Longest name of a language, in bytes.
const LANGUAGE_LIMIT_BYTES: usize = 20;

/// A tag, or a comment (without a name).
#[derive(Default)]
pub(super) struct HtmlTag {
    pub(super) name: String,
    pub(super) closes: bool,
    pub(super) is_empty: bool,
    pub(super) href: Option<String>,
    pub(super) alt: Option<String>,
    /// How a formula is written, in place of its parts.
    pub(super) formula: Option<String>,
    /// The language of code, as classes name it.
    pub(super) language: Option<String>,
    /// The number of a list's first entry, or of an entry.
    pub(super) number: Option<i64>,
    /// Columns and rows that a cell takes.
    pub(super) spans: (usize, usize),
}

/// Reads what begins with `<`; `None` when it is only a sign.
pub(super) fn markup(text: &str) -> Option<(HtmlTag, &str)> {
    let inner = text.strip_prefix('<')?;
    if let Some(comment) = inner.strip_prefix("!--") {
        return Some((
            HtmlTag::default(),
            comment.find("-->").and_then(|at| comment.get(at + 3..)).unwrap_or_default(),
        ));
    }
    if inner.starts_with(['!', '?']) {
        return Some((
            HtmlTag::default(),
            inner.find('>').and_then(|at| inner.get(at + 1..)).unwrap_or_default(),
        ));
    }
    let (closes, named) = inner.strip_prefix('/').map_or((false, inner), |named| (true, named));
    if !named.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return None;
    }
    let end = named
        .find(|letter: char| letter.is_ascii_whitespace() || matches!(letter, '>' | '/'))
        .unwrap_or(named.len());
    let (name, mut rest) = named.split_at(end);
    let mut tag = HtmlTag { name: name.to_ascii_lowercase(), closes, ..HtmlTag::default() };
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_whitespace());
        if let Some(after) = rest.strip_prefix('>') {
            return Some((tag, after));
        }
        if let Some(after) = rest.strip_prefix('/') {
            tag.is_empty = after.starts_with('>');
            rest = after;
            continue;
        }
        if rest.is_empty() {
            return Some((tag, ""));
        }
        let HtmlAttribute { name, value, rest: after } = attribute(rest);
        match name.to_ascii_lowercase().as_str() {
            "href" => tag.href = Some(unescaped(value)),
            "alt" => tag.alt = Some(unescaped(value)),
            "class" => tag.language = tag.language.or_else(|| language(value)),
            "start" if tag.name == "ol" => tag.number = value.trim().parse().ok(),
            "value" if tag.name == "li" => tag.number = value.trim().parse().ok(),
            "colspan" => tag.spans.0 = value.trim().parse().unwrap_or_default(),
            "rowspan" => tag.spans.1 = value.trim().parse().unwrap_or_default(),
            "alttext" if tag.name == "math" => tag.formula = Some(unescaped(value)),
            _ => {}
        }
        rest = after;
    }
}

/// An attribute of a tag.
struct HtmlAttribute<'t> {
    name: &'t str,
    value: &'t str,
    /// Text after the attribute.
    rest: &'t str,
}

/// Reads an attribute. Takes at least one letter.
fn attribute(text: &str) -> HtmlAttribute<'_> {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let stops = |letter: char| letter.is_ascii_whitespace() || matches!(letter, '=' | '>' | '/');
    let end =
        text.get(first..).and_then(|tail| tail.find(stops)).map_or(text.len(), |at| first + at);
    let (name, rest) = text.split_at(end);
    let Some(value) =
        rest.trim_start_matches(|letter: char| letter.is_ascii_whitespace()).strip_prefix('=')
    else {
        return HtmlAttribute { name, value: "", rest };
    };
    let value = value.trim_start_matches(|letter: char| letter.is_ascii_whitespace());
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, rest) = quoted.split_once(quote).unwrap_or((quoted, ""));
            return HtmlAttribute { name, value, rest };
        }
    }
    let end = value
        .find(|letter: char| letter.is_ascii_whitespace() || letter == '>')
        .unwrap_or(value.len());
    let (value, rest) = value.split_at(end);
    HtmlAttribute { name, value, rest }
}

/// Returns what follows the end of an element whose content is not markup.
pub(super) fn after_element<'t>(text: &'t str, name: &str) -> &'t str {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("</")).map(|at| from + at) {
        let tail = text.get(at + 2..).unwrap_or_default();
        if tail.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return tail.split_once('>').map_or("", |(_, after)| after);
        }
        from = at + 2;
    }
    ""
}

pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, tail) = rest.split_at(at);
        plain.push_str(before);
        let (length, letter) = entity(tail).or_else(|| common(tail)).unwrap_or((1, '&'));
        plain.push(letter);
        rest = tail.get(length..).unwrap_or_default();
    }
    plain + rest
}

/// References that pages of documentation are full of, besides those that hide text.
fn common(text: &str) -> Option<(usize, char)> {
    const NAMES: &[(&str, char)] = &[
        ("copy", '©'),
        ("hellip", '…'),
        ("laquo", '«'),
        ("larr", '←'),
        ("ldquo", '“'),
        ("lsquo", '‘'),
        ("mdash", '—'),
        ("middot", '·'),
        ("bull", '•'),
        ("ndash", '–'),
        ("para", '¶'),
        ("raquo", '»'),
        ("rarr", '→'),
        ("rdquo", '”'),
        ("rsquo", '’'),
        ("sect", '§'),
        ("times", '×'),
    ];
    let (name, _) = text
        .strip_prefix('&')?
        .get(..10.min(text.len() - 1))
        .unwrap_or_default()
        .split_once(';')?;
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, letter)| (name.len() + 2, *letter))
}

/// Returns the language that classes name.
fn language(classes: &str) -> Option<String> {
    let is_name = |name: &&str| {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "+#_-".contains(letter);
        (1..=LANGUAGE_LIMIT_BYTES).contains(&name.len())
            && name.chars().all(is_plain)
            && !NO_LANGUAGES.contains(name)
    };
    let named = |class: &'_ str| {
        let name = LANGUAGE_CLASSES.iter().find_map(|start| class.strip_prefix(start));
        name.filter(is_name).map(str::to_owned)
    };
    classes.split_ascii_whitespace().find_map(named)
}
