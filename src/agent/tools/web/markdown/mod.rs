//! HTML as Markdown, for a model to read.
//!
//! In: a page and its address. Out: its title, headings, paragraphs, lists, quotes, code, tables
//! and links; scripts, styles and comments are left out. It reads from front to end and keeps no
//! tree: a page cannot make it slow, or nest it too deep. It mends nothing.

mod table;
mod text;

use crate::tools::web::html::{HtmlTag, after_element, markup, unescaped};
use crate::tools::web::markdown::table::{MarkdownTable, TableContent, holds_data};
use crate::tools::web::markdown::text::{MarkdownText, fence};
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

/// Writes a page as Markdown.
pub fn render(html: &str, page: &WebUrl) -> String {
    let mut writer = MarkdownWriter::of(page);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tail) = rest.split_at(at);
        writer.text(text);
        rest = match markup(tail) {
            Some((tag, after)) => {
                let is_told = SKIPPED.contains(&tag.name.as_str()) || tag.formula.is_some();
                let skipped = is_told && !tag.closes && !tag.is_empty;
                let after = if skipped { after_element(after, &tag.name) } else { after };
                writer.tag(&tag, after);
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

/// Text that keeps its blanks.
#[derive(Default)]
struct Preformatted {
    text: String,
    language: Option<String>,
}

struct MarkdownWriter<'p> {
    page: &'p WebUrl,
    text: MarkdownText,
    /// The table that is open, and the cell in it.
    table: Option<MarkdownTable>,
    cell: Option<MarkdownText>,
    pre: Option<Preformatted>,
    /// The language that an element around the next code names.
    language: Option<String>,
}

impl<'p> MarkdownWriter<'p> {
    fn of(page: &'p WebUrl) -> Self {
        let text = MarkdownText::default();
        Self { page, text, table: None, cell: None, pre: None, language: None }
    }

    /// Returns what is written to.
    fn out(&mut self) -> &mut MarkdownText {
        self.cell.as_mut().unwrap_or(&mut self.text)
    }

    fn text(&mut self, text: &str) {
        let text = unescaped(text);
        if let Some(pre) = &mut self.pre {
            pre.text.push_str(&text);
            return;
        }
        if !text.trim().is_empty() {
            self.language = None;
        }
        self.out().words(&text);
    }

    fn tag(&mut self, tag: &HtmlTag, after: &str) {
        let name = tag.name.as_str();
        if self.pre.is_some() {
            self.pre_tag(tag);
            return;
        }
        if !matches!(name, "pre" | "code") && tag.language.is_some() {
            self.language.clone_from(&tag.language);
        }
        if self.table_tag(tag, after) {
            return;
        }
        let out = self.cell.as_mut().unwrap_or(&mut self.text);
        if BLOCKS.contains(&name) {
            out.paragraph();
        }
        match (name, tag.closes) {
            ("title", false) => out.lead("# "),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
                let level = name.strip_prefix('h').and_then(|level| level.parse().ok());
                out.lead(&format!("{} ", "#".repeat(level.unwrap_or(1))));
            }
            ("ul", false) => out.open_list(None),
            ("ol", false) => out.open_list(Some(tag.number.unwrap_or(1))),
            ("ul" | "ol", true) => out.close_list(),
            ("li", false) => out.open_entry(tag.number),
            ("li", true) => out.close_entry(),
            ("blockquote", false) => out.open_quote(),
            ("blockquote", true) => out.close_quote(),
            ("br", _) => out.line(),
            ("hr", _) => out.block("---"),
            ("td" | "th", false) => out.space(),
            ("pre", false) => {
                let language = tag.language.clone().or_else(|| self.language.take());
                self.pre = Some(Preformatted { language, ..Preformatted::default() });
            }
            ("code", false) => out.open_code(),
            ("code", true) => out.close_code(),
            ("img", false) => {
                if let Some(alt) = tag.alt.as_deref().filter(|alt| !alt.trim().is_empty()) {
                    out.words(&format!("[image: {alt}]"));
                }
            }
            ("a", false) => {
                let href = tag.href.as_deref().filter(|href| !href.starts_with('#'));
                let target = href.map(|href| self.page.join(href));
                let target = target.filter(|target| target.problem().is_none());
                out.open_link(target.map(|target| target.to_string()));
            }
            ("a", true) => out.close_link(),
            ("math", false) => {
                if let Some(formula) = &tag.formula {
                    out.code(formula.trim());
                }
            }
            _ => {}
        }
    }

    /// Takes a tag in text that keeps its blanks.
    fn pre_tag(&mut self, tag: &HtmlTag) {
        let Some(pre) = &mut self.pre else { return };
        match (tag.name.as_str(), tag.closes) {
            ("pre", true) => self.close_pre(),
            ("code", false) if pre.language.is_none() => pre.language.clone_from(&tag.language),
            ("br", _) => pre.text.push('\n'),
            (name, _)
                if (BLOCKS.contains(&name) || name == "li")
                    && !pre.text.is_empty()
                    && !pre.text.ends_with('\n') =>
            {
                pre.text.push('\n');
            }
            _ => {}
        }
    }

    fn close_pre(&mut self) {
        let Some(Preformatted { text, language }) = self.pre.take() else { return };
        let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        if !text.is_empty() {
            let fence = fence(text, 3);
            let language = language.unwrap_or_default();
            self.out().block(&format!("{fence}{language}\n{text}\n{fence}"));
        }
    }

    /// Takes a tag of a table that holds data; returns false for any other.
    fn table_tag(&mut self, tag: &HtmlTag, after: &str) -> bool {
        let name = tag.name.as_str();
        if name == "table" {
            self.close_table();
            self.text.paragraph();
            if !tag.closes && holds_data(after) {
                self.table = Some(MarkdownTable::default());
            }
            return true;
        }
        if !matches!(name, "tr" | "td" | "th" | "thead" | "tbody" | "tfoot" | "caption") {
            return false;
        }
        if self.table.is_none() {
            return name == "caption";
        }
        self.close_cell();
        let Some(table) = &mut self.table else { return false };
        match (name, tag.closes) {
            ("td" | "th", false) => {
                table.open_cell(name == "th", tag.spans);
                self.cell = Some(MarkdownText::default());
            }
            ("td" | "th", true) => {}
            ("caption", _) => self.text.paragraph(),
            ("tr", _) => table.close_row(None),
            _ => table.close_row(Some(name == "thead" && !tag.closes)),
        }
        true
    }

    fn close_cell(&mut self) {
        if let (Some(cell), Some(table)) = (self.cell.take(), &mut self.table) {
            table.cell(cell.finish());
        }
    }

    fn close_table(&mut self) {
        self.close_cell();
        match self.table.take().map(MarkdownTable::finish) {
            Some(TableContent::Rows(rows)) => self.text.block(&rows),
            Some(TableContent::Texts(texts)) => texts.iter().for_each(|text| self.text.block(text)),
            None => {}
        }
    }

    fn finish(mut self) -> String {
        self.close_pre();
        self.close_table();
        self.text.finish()
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
        check("<ul><li>a<li>b<ul><li>c</ul></ul>d", "- a\n- b\n  - c\n\nd");
        check(
            "<pre><code>fn main() {\n    x &lt; y\n}</code></pre>",
            "```\nfn main() {\n    x < y\n}\n```",
        );
        check(
            "Use <code>cargo</code> &mdash; <a href='../c?d=1&amp;e'>see  this</a>.",
            "Use `cargo` — [see this](https://docs.rs/c?d=1&e).",
        );
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
    fn lists_are_numbered_and_nested() {
        check("<ol start=3><li>x<li>y</ol>z", "3. x\n4. y\n\nz");
        check(
            "<ol><li>a<p>b</p><pre>c\n  d</pre></li><li value=9><ul><li>e</ul>f<li>g</ol>",
            "1. a\n\n   b\n\n   ```\n   c\n     d\n   ```\n9. - e\n\n   f\n10. g",
        );
        check("<p>x<ul><li><p>a</p></li><li><div>b</div></li></ul>", "x\n\n- a\n- b");
        check("<li>a<li>b</ul></li><p>c", "- a\n- b\n\nc");
        check("<ul><li></li><li> <li>a</ul>", "- a");
    }

    #[test]
    fn quotes_stand_behind_their_mark() {
        check("a<blockquote>q<p>r<br>s</p></blockquote>b", "a\n\n> q\n>\n> r\n> s\n\nb");
        check(
            "<blockquote><p>a</p><blockquote>b</blockquote><ul><li>c</ul></blockquote>",
            "> a\n>\n> > b\n>\n> - c",
        );
        check("<blockquote></blockquote></blockquote>a", "a");
    }

    #[test]
    fn tables_of_data_have_rows_and_a_line_below_their_head() {
        check(
            "<table><tr><th>a<th>b<tr><td>1|2</td><td>x<br>y</td></table>z",
            "| a | b |\n|---|---|\n| 1\\|2 | x<br>y |\n\nz",
        );
        check(
            "<table><caption>C</caption><tbody><tr><th>n</th><td><a href=x>l</a></td></tr><tr></tr>\
             <tr><td>m</td><td><ul><li>p<li>q</ul></td></tr></table>",
            "C\n\n|  |  |\n|---|---|\n| n | [l](https://docs.rs/a/x) |\n| m | - p<br>- q |",
        );
        check(
            "<table><thead><tr><td>a<td colspan=2>b<tbody><tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5\
             </table>",
            "| a | b |  |\n|---|---|---|\n| 1 | 2 | 3 |\n|  | 4 | 5 |",
        );
        check("<blockquote><table><tr><th>a<th>b</table>", "> | a | b |\n> |---|---|");
    }

    #[test]
    fn tables_that_only_arrange_are_texts() {
        check("<table><tr><td>one</td></tr><tr><td>two</td></tr></table>", "one\n\ntwo");
        check("<table><tr><td><h2>Head</h2>x</td><td>y</td></tr></table>", "## Head\n\nx y");
        check(
            "<table><tr><td>1. <td>a<table><tr><td>b<td>c</table></table>",
            "1. a\n\n|  |  |\n|---|---|\n| b | c |",
        );
        let long = "word ".repeat(1000);
        check(
            &format!("<table><tr><td>menu</td><td>{long}</td></tr></table>"),
            &format!("menu\n\n{}", long.trim()),
        );
    }

    #[test]
    fn code_stands_behind_marks_that_are_not_in_it() {
        check("<code>c`d</code> <code> `e` </code>", "``c`d`` `` `e` ``");
        check(
            "<pre class=x><code class='hljs language-rust'>\nlet a = \"```\";\n</code></pre>",
            "````rust\nlet a = \"```\";\n````",
        );
        check(
            "<div class='highlight-python notranslate'><div><pre>x<br>y</pre></div></div><pre>z</pre>",
            "```python\nx\ny\n```\n\n```\nz\n```",
        );
        check("<pre><div>a</div><div> b</div></pre><pre> \n</pre>", "```\na\n b\n```");
        check("<code>fn <a href=x>A</a>()</code>.", "`fn` [`A`](https://docs.rs/a/x)`()`.");
        check("a<a href=x> b </a>c", "a [b](https://docs.rs/a/x) c");
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
            "<blockquote>",
            "<blockquote>x",
            "x</blockquote></li></ul>",
            "<ol><li>x",
            "<table>",
            "<td>",
            "<table><tr><td>x",
            "<table><tr><td colspan=99 rowspan=99>x</table>",
            "<tr><td colspan=99 rowspan=99>x",
            "<code>`",
            "<code><a href=x>x",
            "<pre>`<br>",
        ] {
            for start in ["", "<table><tr><td rowspan=9999 colspan=9999>"] {
                let page = format!("{start}{}</table>", piece.repeat(400_000 / piece.len()));
                let written = render(&page, &WebUrl::parse("https://docs.rs/"));
                assert!(written.len() < 20 * page.len(), "{piece}: {}", written.len());
            }
        }
    }
}
