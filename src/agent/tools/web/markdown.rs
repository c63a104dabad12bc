//! HTML as Markdown, for a model to read.
//!
//! In: a page and its address. Out: its title, headings, paragraphs, lists, code, tables and links;
//! scripts, styles and comments are left out. It reads from front to end and keeps no tree: a page
//! cannot make it slow, or nest it too deep. It mends nothing.

use locum_base::secret::view::entity;
use locum_policy::urls::WebUrl;

/// Elements whose whole content is left out; read up to their own end.
const SKIPPED: &[&str] = &[
    "script", "style", "template", "svg", "iframe", "object", "noscript", "canvas", "select",
    "textarea",
];

/// Elements that stand on lines of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "title",
    "tr",
    "ul",
];

/// How deep lists are indented.
const INDENT_LIMIT: usize = 6;

/// Writes a page as Markdown.
pub fn render(html: &str, page: &WebUrl) -> String {
    let mut writer =
        MarkdownWriter { page: page.clone(), out: String::new(), lists: 0, pre: false, link: None };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tail) = rest.split_at(at);
        writer.text(text);
        rest = match markup(tail) {
            Some((tag, after)) => {
                let is_told = SKIPPED.contains(&tag.name.as_str()) || tag.formula.is_some();
                let skipped = is_told && !tag.closes && !tag.is_empty;
                let after = if skipped { after_element(after, &tag.name) } else { after };
                writer.tag(&tag);
                after
            }
            None => {
                writer.text("<");
                tail.get(1..).unwrap_or_default()
            }
        };
    }
    writer.text(rest);
    writer.finish()
}

/// A tag, or a comment (without a name).
#[derive(Default)]
struct HtmlTag {
    name: String,
    closes: bool,
    is_empty: bool,
    href: Option<String>,
    alt: Option<String>,
    /// How a formula is written, in place of its parts.
    formula: Option<String>,
}

/// Reads what begins with `<`; `None` when it is only a sign.
fn markup(text: &str) -> Option<(HtmlTag, &str)> {
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
fn after_element<'t>(text: &'t str, name: &str) -> &'t str {
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

fn unescaped(text: &str) -> String {
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

struct MarkdownWriter {
    page: WebUrl,
    out: String,
    lists: usize,
    pre: bool,
    /// Where the text of an open link starts, and where it leads.
    link: Option<(usize, String)>,
}

impl MarkdownWriter {
    fn text(&mut self, text: &str) {
        let text = unescaped(text);
        if self.pre {
            self.out.push_str(&text);
            return;
        }
        for (index, word) in text.split(|letter: char| letter.is_whitespace()).enumerate() {
            if index > 0 && !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
                self.out.push(' ');
            }
            self.out.push_str(word);
        }
    }

    fn tag(&mut self, tag: &HtmlTag) {
        let name = tag.name.as_str();
        let mut waiting = None;
        if BLOCKS.contains(&name) {
            // A link around blocks is the first one's with a text.
            let is_blank =
                |start: usize| self.out.get(start..).is_none_or(|it| it.trim().is_empty());
            waiting = self.link.take_if(|(start, _)| is_blank(*start));
            self.close_link();
            self.paragraph();
        }
        match (name, tag.closes) {
            ("title", false) => self.out.push_str("# "),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                let level =
                    name.strip_prefix('h').and_then(|level| level.parse().ok()).unwrap_or(1);
                self.out.push_str(&"#".repeat(level));
                self.out.push(' ');
            }
            ("ul" | "ol", false) => self.lists += 1,
            ("ul" | "ol", true) => self.lists = self.lists.saturating_sub(1),
            ("li", false) => {
                self.line();
                self.out.push_str(&"  ".repeat(self.lists.saturating_sub(1).min(INDENT_LIMIT)));
                self.out.push_str("- ");
            }
            ("br", _) => self.line(),
            ("hr", _) => self.out.push_str("---\n\n"),
            ("td" | "th", false) => self.out.push_str("| "),
            ("pre", false) => {
                self.out.push_str("```\n");
                self.pre = true;
            }
            ("pre", true) if self.pre => {
                self.pre = false;
                self.line();
                self.out.push_str("```\n\n");
            }
            ("code", _) if !self.pre => self.out.push('`'),
            ("img", false) => self.out.push_str(
                &tag.alt
                    .as_deref()
                    .filter(|alt| !alt.is_empty())
                    .map_or(String::new(), |alt| format!("[image: {alt}]")),
            ),
            ("a", false) => {
                self.close_link();
                let target = tag
                    .href
                    .as_deref()
                    .filter(|href| !href.starts_with('#'))
                    .map(|href| self.page.join(href));
                self.link = target
                    .filter(|target| target.problem().is_none())
                    .map(|target| (self.out.len(), target.to_string()));
            }
            ("a", true) => self.close_link(),
            ("math", false) => {
                if let Some(formula) = &tag.formula {
                    self.out.push_str(&format!("`{}`", formula.trim()));
                }
            }
            _ => {}
        }
        if let Some((_, target)) = waiting {
            self.link = Some((self.out.len(), target));
        }
    }

    fn close_link(&mut self) {
        let Some((start, target)) = self.link.take() else { return };
        let Some(text) = self
            .out
            .get(start..)
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty())
        else {
            return;
        };
        self.out.truncate(start);
        self.out.push_str(&format!("[{text}]({target})"));
    }

    fn line(&mut self) {
        self.trim();
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn paragraph(&mut self) {
        if self.pre {
            return;
        }
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn trim(&mut self) {
        if !self.pre {
            self.out.truncate(self.out.trim_end_matches(' ').len());
        }
    }

    fn finish(mut self) -> String {
        self.close_link();
        self.out.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use locum_policy::urls::WebUrl;
    use pretty_assertions::assert_eq;

    fn check(html: &str, expected: &str) {
        assert_eq!(render(html, &WebUrl::parse("https://docs.rs/a/b")), expected, "{html}");
    }

    #[test]
    fn keeps_what_a_reader_sees() {
        check(
            "<!doctype html><html><head><title>A &amp; \
             B</title><style>p{}</style></head><body><h1>Head</h1><p>One\n two \
             <b>three</b>.<p>Four<br>five",
            "# A & B\n\n# Head\n\nOne two three.\n\nFour\nfive",
        );
        check("<ul><li>a<li>b<ul><li>c</ul></ul>d", "- a\n- b\n\n  - c\n\nd");
        check(
            "<pre><code>fn main() {\n    x &lt; y\n}</code></pre>",
            "```\nfn main() {\n    x < y\n}\n```",
        );
        check(
            "Use <code>cargo</code> &mdash; <a href='../c?d=1&amp;e'>see  this</a>.",
            "Use `cargo` — [see this](https://docs.rs/c?d=1&e).",
        );
        check("<table><tr><th>a<th>b<tr><td>1</td><td>2</td></table>", "| a| b\n\n| 1| 2");
        check(
            "<a href=x><div><img src=y></div><h2>Card</h2><p>More</p></a>",
            "## [Card](https://docs.rs/a/x)\n\nMore",
        );
        check("<a href=x><div> </div></a><p>None</p>", "None");
        check(
            "It is <math alttext='{\\frac 1 2}'><mi>1</mi><mi>2</mi></math>, <math><mi>x</mi></math>.",
            "It is `{\\frac 1 2}`, x.",
        );
        check(
            "<a href=#x>here</a> <a href='javascript:x'>there</a> <img alt=logo src=x>",
            "here there [image: logo]",
        );
    }

    #[test]
    fn leaves_out_what_is_not_text() {
        check("a<!-- <p>hidden -->b", "ab");
        check("a<script>if (1 < 2) '</p>'</script>b<SCRIPT>x</script >c", "abc");
        check("a<!--never closed", "a");
        check("a<style>never closed", "a");
        check("1 < 2 and <3 & x", "1 < 2 and <3 & x");
        check("<p title=\"a > b\" hidden>x</p>", "x");
        check("<a href=\"unclosed>x", "");
    }

    #[test]
    fn long_pages_take_linear_time() {
        for piece in [
            "<div>",
            "<a href=x>",
            "<!--",
            "<",
            "</",
            "<a b=\"",
            "<script>",
            "<script></",
            "&#",
            "<ul><li>",
            "<a =",
            "<pre>",
            "<p ",
            "<math alttext=x>",
            "<a href=x><div>",
        ] {
            let _ =
                render(&piece.repeat(400_000 / piece.len()), &WebUrl::parse("https://docs.rs/"));
        }
    }
}
