//! Lines of a comment that GitHub shows as plain text from their first letter on.
//!
//! In: the text of a comment. Out: the numbers of such lines. What is code, a quote, part of a tag
//! or of a link, struck through or not shown at all is left out; in doubt a line is.

use std::collections::BTreeMap;

use comrak::nodes::NodeValue;
use comrak::{Arena, Node, Options, parse_document};

/// Elements whose content is a quote, code or struck through, or is not shown.
const NOT_PLAIN: &[&str] = &[
    "blockquote",
    "code",
    "del",
    "iframe",
    "kbd",
    "listing",
    "math",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "pre",
    "q",
    "s",
    "samp",
    "script",
    "select",
    "strike",
    "style",
    "svg",
    "template",
    "textarea",
    "title",
    "tt",
    "var",
    "xmp",
];

/// Returns the lines that begin with plain text, from 1, with the first word of each.
pub(super) fn plain_lines(body: &str) -> BTreeMap<usize, String> {
    let arena = Arena::new();
    let mut found = BTreeMap::new();
    let mut open = OpenElements::default();
    for node in parse_document(&arena, body, &options()).descendants() {
        match &node.data.borrow().value {
            NodeValue::HtmlBlock(html) => open.read(&html.literal),
            NodeValue::HtmlInline(html) => open.read(html),
            NodeValue::Text(text) if open.is_empty() && begins_line(node) => {
                let word = text.split_whitespace().next().unwrap_or_default().to_owned();
                found.insert(line_of(node), word);
            }
            _ => {}
        }
    }
    found
}

/// Markdown as GitHub reads it.
fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.alerts = true;
    options.extension.autolink = true;
    options.extension.footnotes = true;
    options.extension.math_code = true;
    options.extension.math_dollars = true;
    options.extension.strikethrough = true;
    options.extension.table = true;
    options.extension.tasklist = true;
    options
}

/// Whether a text is the first of a line in a paragraph, or in a heading that is only underlined,
/// outside everything but lists.
fn begins_line(node: Node<'_>) -> bool {
    let first = node.previous_sibling().is_none_or(|before| {
        matches!(before.data.borrow().value, NodeValue::SoftBreak | NodeValue::LineBreak)
    });
    let mut around = node.ancestors().skip(1);
    let in_block = around.next().is_some_and(|block| match &block.data.borrow().value {
        NodeValue::Paragraph => true,
        NodeValue::Heading(heading) => heading.setext,
        _ => false,
    });
    let only_lists = |outer: Node<'_>| {
        matches!(
            outer.data.borrow().value,
            NodeValue::Document | NodeValue::List(_) | NodeValue::Item(_) | NodeValue::TaskItem(_)
        )
    };
    first && in_block && around.all(only_lists)
}

/// Returns the line that a text begins on. Definitions of links at the start of a paragraph are
/// taken out of it before its lines are counted, so they are counted from its end.
fn line_of(node: Node<'_>) -> usize {
    let last = |node: Node<'_>| node.data.borrow().sourcepos.end.line;
    let taken_out = node.parent().map_or(0, |block| {
        let underline = usize::from(matches!(block.data.borrow().value, NodeValue::Heading(_)));
        let inner = block.last_child().map_or(0, last);
        last(block).saturating_sub(underline).saturating_sub(inner)
    });
    node.data.borrow().sourcepos.start.line + taken_out
}

/// What is open of [`NOT_PLAIN`]; nothing ends a comment or a tag that is not ended where it
/// stands.
#[derive(Default)]
struct OpenElements(Vec<&'static str>);

/// Stands for such a comment or tag.
const ENDLESS: &str = "";

impl OpenElements {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a piece of HTML.
    fn read(&mut self, html: &str) {
        let mut rest = html;
        while let Some((_, tag)) = rest.split_once('<') {
            let begins = |letter: char| letter.is_ascii_alphabetic() || "/!?".contains(letter);
            let after = match tag.strip_prefix("!--") {
                Some(comment) => comment.split_once("-->").map(|(_, after)| after),
                None if tag.starts_with(begins) => {
                    self.tag(tag);
                    after_tag(tag)
                }
                None => Some(tag),
            };
            let Some(after) = after else { return self.0.push(ENDLESS) };
            rest = after;
        }
    }

    fn tag(&mut self, tag: &str) {
        let (name, ends) = tag.strip_prefix('/').map_or((tag, false), |name| (name, true));
        let named = |known: &&&str| {
            let next = name.as_bytes().get(known.len());
            name.get(..known.len()).is_some_and(|head| head.eq_ignore_ascii_case(known))
                && next.is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-')
        };
        let Some(known) = NOT_PLAIN.iter().find(named) else { return };
        match self.0.iter().rposition(|open| open == known) {
            Some(at) if ends => drop(self.0.remove(at)),
            _ if ends => {}
            _ => self.0.push(known),
        }
    }
}

/// Returns what follows a tag; a `>` within quotes does not end it.
fn after_tag(tag: &str) -> Option<&str> {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => return tag.get(at + 1..),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    None
}
