//! Lines of a comment that GitHub shows as plain text from their first letter on, and those that it
//! shows as quotes.
//!
//! In: the text of a comment. Out: the numbers of such lines, from 1. What is code, a quote, part
//! of a tag or of a link, struck through or not shown at all is left out; in doubt a line is.

use std::collections::{BTreeMap, BTreeSet};

use comrak::nodes::NodeValue;
use comrak::{Arena, Node, Options, parse_document};

/// Elements whose content is a quote, code, a link or struck through, is not shown or moves
/// elsewhere (`table`), or that keep a quote around them open (`object`).
const NOT_PLAIN: &[&str] = &[
    "a",
    "applet",
    "blockquote",
    "code",
    "del",
    "iframe",
    "kbd",
    "listing",
    "marquee",
    "math",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "plaintext",
    "pre",
    "q",
    "rp",
    "s",
    "samp",
    "script",
    "select",
    "strike",
    "style",
    "svg",
    "table",
    "template",
    "textarea",
    "title",
    "tt",
    "var",
    "xmp",
];

/// Elements that have no end tag.
const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// Elements that keep the end tag of one around them that is none of them from counting, if they
/// are open.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "button",
    "caption",
    "center",
    "colgroup",
    "dd",
    "desc",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "foreignobject",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "html",
    "iframe",
    "li",
    "listing",
    "main",
    "marquee",
    "menu",
    "nav",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "ol",
    "option",
    "p",
    "plaintext",
    "pre",
    "script",
    "search",
    "section",
    "select",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "xmp",
];

/// Those of them that end with the one around them.
const IMPLIED_ENDS: &[&str] =
    &["caption", "dd", "dt", "li", "p", "tbody", "td", "tfoot", "th", "thead", "tr"];

/// Elements that an end tag in a paragraph within them ends.
const FORMATTING: &[&str] = &["code", "s", "strike", "tt"];

/// Most elements that one end tag ends.
const LEFT_OPEN_LIMIT: usize = 64;

/// Returns the lines that begin with plain text, with the first word of each.
pub(super) fn plain_lines(body: &str) -> BTreeMap<usize, String> {
    let arena = Arena::new();
    let mut found = BTreeMap::new();
    let mut open = OpenElements::default();
    for node in parse_document(&arena, body, &options()).descendants() {
        match &node.data.borrow().value {
            NodeValue::HtmlBlock(html) => {
                let first = node.data.borrow().sourcepos.start.line;
                let shown = open.read(&html.literal, holder(node));
                if only_in_lists(node) {
                    let words: Vec<&str> = html.literal.lines().collect();
                    let lines = shown
                        .into_iter()
                        .filter_map(|line| Some((first + line, first_word(words.get(line)?))));
                    found.extend(lines);
                }
            }
            // In the words for an image, tags are only text.
            NodeValue::HtmlInline(html) if !in_image(node) => {
                open.read(html, holder(node));
            }
            NodeValue::Text(text) if open.is_empty() && begins_line(node) => {
                found.insert(line_of(node), first_word(text));
            }
            _ => {}
        }
    }
    found
}

/// Returns the lines of quotes.
pub(super) fn quoted_lines(body: &str) -> BTreeSet<usize> {
    let arena = Arena::new();
    let root = parse_document(&arena, body, &options());
    let quotes =
        root.children().filter(|node| matches!(node.data.borrow().value, NodeValue::BlockQuote));
    let lines = quotes.map(|node| node.data.borrow().sourcepos);
    lines.flat_map(|place| place.start.line..=place.end.line).collect()
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// Markdown as GitHub reads it. Its alerts are quotes here, as they are for other programs.
fn options() -> Options<'static> {
    let mut options = Options::default();
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
    let Some(block) = node.parent() else { return false };
    let in_text = match &block.data.borrow().value {
        NodeValue::Paragraph => true,
        NodeValue::Heading(heading) => heading.setext,
        _ => false,
    };
    first && in_text && only_in_lists(block)
}

/// Whether a block stands in nothing but lists.
fn only_in_lists(block: Node<'_>) -> bool {
    block.ancestors().skip(1).all(|outer| {
        matches!(
            outer.data.borrow().value,
            NodeValue::Document | NodeValue::List(_) | NodeValue::Item(_) | NodeValue::TaskItem(_)
        )
    })
}

/// Returns the block that holds a piece of HTML.
fn holder<'a>(node: Node<'a>) -> Node<'a> {
    node.ancestors().skip(1).find(|outer| outer.data.borrow().value.block()).unwrap_or(node)
}

fn in_image(node: Node<'_>) -> bool {
    node.ancestors().any(|outer| matches!(outer.data.borrow().value, NodeValue::Image(_)))
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

/// What is open from the first of [`NOT_PLAIN`] on, as browsers read HTML, each with the block that
/// holds it. An end tag in another block is not counted, nor one within which something stands open
/// that may not, and nothing ends a comment or a tag that has no end where it stands.
#[derive(Default)]
struct OpenElements<'a>(Vec<(String, Node<'a>)>);

/// Stands for such a comment or tag.
const ENDLESS: &str = "";

impl<'a> OpenElements<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a piece of HTML; returns its lines, from 0, that begin outside tags, comments and what
    /// is open, and that are shown as the beginning of a line: in HTML, the end of a line is a
    /// blank.
    fn read(&mut self, html: &str, holder: Node<'a>) -> Vec<usize> {
        let (mut shown, mut line, mut rest) = (Vec::new(), 0, html);
        let mut begins = true;
        loop {
            let (text, tag) = rest.split_once('<').unwrap_or((rest, ""));
            for (index, part) in text.split('\n').enumerate() {
                if index > 0 {
                    line += 1;
                    shown.extend((begins && self.is_empty()).then_some(line));
                }
                begins &= part.trim().is_empty();
            }
            if text.len() == rest.len() {
                return shown;
            }
            let is_tag = |letter: char| letter.is_ascii_alphabetic() || "/!?".contains(letter);
            let after = if let Some(comment) = tag.strip_prefix("!--") {
                after_comment(comment)
            } else if tag.starts_with(is_tag) {
                begins |= ends_line(tag);
                self.tag(tag, holder)
            } else {
                begins = false;
                Some(tag)
            };
            let Some(after) = after else {
                self.0.push((ENDLESS.to_owned(), holder));
                return shown;
            };
            let read = tag.len().saturating_sub(after.len());
            line += tag.get(..read).unwrap_or_default().matches('\n').count();
            rest = after;
        }
    }

    /// Ends the innermost element of a name, with what stands open in it and may.
    fn end(&mut self, name: &str, holder: Node<'a>) {
        for (index, (open, held)) in self.0.iter().enumerate().rev().take(LEFT_OPEN_LIMIT) {
            let is_around = || {
                let outer = holder.parent().filter(|_| FORMATTING.contains(&name));
                outer.is_some_and(|outer| outer.same_node(held))
            };
            if open == name && (holder.same_node(held) || is_around()) {
                return self.0.truncate(index);
            }
            let may_stay = !BLOCKS.contains(&open.as_str())
                || (BLOCKS.contains(&name) && IMPLIED_ENDS.contains(&open.as_str()));
            if !may_stay || NOT_PLAIN.contains(&open.as_str()) || open == ENDLESS {
                return;
            }
        }
    }

    /// Reads a tag from its name on; returns what follows it.
    fn tag<'t>(&mut self, tag: &'t str, holder: Node<'a>) -> Option<&'t str> {
        let (name, ends) = tag.strip_prefix('/').map_or((tag, false), |name| (name, true));
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            // To a browser, a declaration and the like is a comment up to the next `>`.
            return tag.split_once('>').map(|(_, after)| after);
        }
        let length =
            name.find(|letter: char| letter.is_ascii_whitespace() || "/>".contains(letter));
        let (name, attributes) = name.split_at_checked(length?)?;
        let name = name.to_ascii_lowercase();
        let is_in = |names: &[&str]| names.contains(&name.as_str());
        if ends {
            self.end(&name, holder);
        } else if is_in(NOT_PLAIN) || !self.is_empty() && !is_in(VOID) {
            self.0.push((name, holder));
        }
        after_attributes(attributes)
    }
}

/// Whether what follows a tag, which is read from its name on, is shown on a line of its own.
fn ends_line(tag: &str) -> bool {
    let name = tag.strip_prefix('/').unwrap_or(tag);
    let length = name.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(name.len());
    let name = name.get(..length).unwrap_or_default().to_ascii_lowercase();
    matches!(name.as_str(), "br" | "hr") || BLOCKS.contains(&name.as_str())
}

/// Returns what follows a comment: browsers end some earlier than Markdown does.
fn after_comment(comment: &str) -> Option<&str> {
    if let Some(after) = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->")) {
        return Some(after);
    }
    let ends = ["-->", "--!>"].iter().filter_map(|end| Some((comment.find(end)?, end.len())));
    let (at, length) = ends.min()?;
    comment.get(at + length..)
}

/// Returns what follows the `>` of a tag. One in quotes, which only stand behind `=`, does not end
/// it.
fn after_attributes(tag: &str) -> Option<&str> {
    /// Where in a tag a letter stands.
    enum Place {
        Between,
        Name,
        Equals,
        Plain,
        Quoted(char),
    }
    let mut place = Place::Between;
    for (at, letter) in tag.char_indices() {
        let blank = letter.is_ascii_whitespace();
        place = match (place, letter) {
            (Place::Quoted(open), letter) if letter == open => Place::Between,
            (Place::Quoted(open), _) => Place::Quoted(open),
            (_, '>') => return tag.get(at + 1..),
            (Place::Equals, '"' | '\'') => Place::Quoted(letter),
            (Place::Equals, _) if blank => Place::Equals,
            (Place::Equals | Place::Plain, _) if !blank => Place::Plain,
            (Place::Name, '=') => Place::Equals,
            // Behind a blank, `=` may still belong to the name before it.
            (Place::Name, _) if blank => Place::Name,
            (Place::Between | Place::Name, '/') => Place::Between,
            (Place::Between | Place::Name, _) if !blank => Place::Name,
            _ => Place::Between,
        };
    }
    None
}
