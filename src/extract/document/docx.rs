//! Text of a Word document: paragraphs, headings and lists marked as in Markdown, tables as rows,
//! notes after the text. What was deleted under tracked changes is left out.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use crate::document::package::Package;
use crate::document::{BoundedText, DocumentError};

/// Parts that hold text besides the document itself, each with its headline.
const NOTES: &[(&str, &str)] = &[
    ("word/footnotes.xml", "Footnotes:"),
    ("word/endnotes.xml", "Endnotes:"),
    ("word/comments.xml", "Comments:"),
];

/// Highest level of a heading in Markdown.
const HEADING_LIMIT: usize = 6;

/// Reads the text of a Word document.
pub(super) fn text(content: &[u8]) -> Result<String, DocumentError> {
    let mut package = Package::open(content)?;
    let Some(document) = package.part("word/document.xml")? else {
        return Err(DocumentError::malformed("it has no `word/document.xml`"));
    };
    let mut text = BoundedText::default();
    text.push(&body(&document)?);
    for (name, headline) in NOTES {
        if let Some(part) = package.part(name)? {
            let notes = body(&part)?;
            if !notes.trim().is_empty() {
                text.push(&format!("\n\n{headline}\n\n{}", notes.trim()));
            }
        }
    }
    Ok(text.finish())
}

/// What is known while the parts of a paragraph are read.
#[derive(Default)]
struct BodyReader {
    text: BoundedText,
    paragraph: String,
    /// What stands before the paragraph: marks of a heading, a list.
    mark: String,
    /// How many tables the place is in.
    tables: usize,
    /// Cells of the row so far, where the place is in a table.
    row: Vec<String>,
    cell: String,
    /// Whether the place is in an element whose text is shown.
    in_text: bool,
    /// How many elements around the place hold what is no longer there.
    gone: usize,
    /// Whether the place is in the definition of tab stops.
    in_tab_stops: bool,
}

fn body(part: &[u8]) -> Result<String, DocumentError> {
    let part = String::from_utf8_lossy(part);
    let mut reader = Reader::from_str(&part);
    let mut body = BodyReader::default();
    loop {
        match reader.read_event().map_err(DocumentError::malformed)? {
            Event::Start(element) => body.begin(&element),
            Event::Empty(element) => {
                body.begin(&element);
                body.end(element.local_name().as_ref());
            }
            Event::End(element) => body.end(element.local_name().as_ref()),
            Event::Text(text) if body.shows_text() => body.paragraph.push_str(&text),
            Event::CData(text) if body.shows_text() => body.paragraph.push_str(&text),
            Event::GeneralRef(name) if body.shows_text() => body.reference(&name),
            Event::Eof => break,
            _ => {}
        }
        if body.text.is_full {
            break;
        }
    }
    body.finish_paragraph();
    Ok(body.text.finish())
}

impl BodyReader {
    fn shows_text(&self) -> bool {
        self.in_text && self.gone == 0
    }

    fn begin(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "t" => self.in_text = true,
            // What was deleted, and where what was moved came from.
            "del" | "moveFrom" => self.gone += 1,
            "tabs" => self.in_tab_stops = true,
            "tab" | "br" | "cr" if self.in_tab_stops || self.gone > 0 => {}
            "tab" => self.paragraph.push('\t'),
            "br" | "cr" => self.paragraph.push('\n'),
            "tbl" => self.tables += 1,
            "pStyle" => {
                if let Some(level) = heading_level(&value_of(element)) {
                    self.mark = format!("{} ", "#".repeat(level));
                }
            }
            "numPr" if self.mark.is_empty() => "- ".clone_into(&mut self.mark),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "del" | "moveFrom" => self.gone = self.gone.saturating_sub(1),
            "tabs" => self.in_tab_stops = false,
            "p" => self.finish_paragraph(),
            "tc" if self.tables == 1 => {
                let cell = std::mem::take(&mut self.cell);
                self.row.push(cell.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            "tr" if self.tables == 1 => {
                let row = std::mem::take(&mut self.row).join(" | ");
                self.text.push(&format!("| {row} |\n"));
            }
            "tbl" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 {
                    self.text.push("\n");
                }
            }
            _ => {}
        }
    }

    fn finish_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let mark = std::mem::take(&mut self.mark);
        if paragraph.trim().is_empty() {
            return;
        }
        if self.tables > 0 {
            self.cell.push_str(&paragraph);
            self.cell.push(' ');
            return;
        }
        let gap = if mark == "- " { "\n" } else { "\n\n" };
        self.text.push(&format!("{mark}{paragraph}{gap}"));
    }

    /// Adds what an entity stands for; one that is not predefined is shown by its name, as it
    /// stands there.
    fn reference(&mut self, name: &str) {
        let code = name.strip_prefix('#').and_then(|code| match code.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok(),
            None => code.parse().ok(),
        });
        match (code.and_then(char::from_u32), resolve_predefined_entity(name)) {
            (Some(letter), _) => self.paragraph.push(letter),
            (None, Some(text)) => self.paragraph.push_str(text),
            (None, None) => {
                self.paragraph.push('&');
                self.paragraph.push_str(name);
                self.paragraph.push(';');
            }
        }
    }
}

/// Returns the `val` of an element.
fn value_of(element: &BytesStart<'_>) -> String {
    let attributes = element.attributes().flatten();
    let mut values = attributes.filter(|attribute| attribute.key.local_name().as_ref() == "val");
    values.next().map(|attribute| attribute.value.into_owned()).unwrap_or_default()
}

/// Returns the level of a style of headings: 2 for `Heading2`, 1 for `Title`.
fn heading_level(style: &str) -> Option<usize> {
    if style.eq_ignore_ascii_case("title") {
        return Some(1);
    }
    let plain = style.to_ascii_lowercase();
    let level = plain.strip_prefix("heading")?.trim().parse::<usize>().ok()?;
    (1..=HEADING_LIMIT).contains(&level).then_some(level)
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::{Cursor, Write as _};

    use pretty_assertions::assert_eq;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use crate::document::{DocumentError, DocumentKind};

    pub(crate) fn package(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in parts {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn headings_lists_tables_and_notes_are_told_apart() {
        let document = r#"<?xml version="1.0"?><w:document><w:body>
<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>
<w:p><w:r><w:t xml:space="preserve">Fish &amp; </w:t></w:r><w:r><w:t>ch&#105;ps</w:t><w:tab/><w:t>x</w:t></w:r>
<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>two</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>
<w:tc><w:p/></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>
</w:body></w:document>"#;
        let notes = "<w:footnotes><w:p><w:r><w:t>See 1.</w:t></w:r></w:p></w:footnotes>";
        let content = package(&[("word/document.xml", document), ("word/footnotes.xml", notes)]);
        assert_eq!(
            DocumentKind::Docx.text(&content).unwrap(),
            "## Plan\n\nFish & chips\tx\n\n- one\n- two\n| a b |  | in |\n\nFootnotes:\n\nSee 1."
        );
    }

    #[test]
    fn what_was_moved_is_shown_once_and_tab_stops_are_no_text() {
        let document = r#"<w:document><w:body>
<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/><w:tab w:val="right" w:pos="900"/></w:tabs></w:pPr>
<w:r><w:t>a</w:t></w:r><w:r><w:tab/><w:t>b</w:t></w:r></w:p>
<w:p><w:pPr><w:rPr><w:moveFrom w:id="1"/></w:rPr></w:pPr><w:moveFromRangeStart w:id="1"/>
<w:moveFrom w:id="2"><w:r><w:tab/><w:t>moved &amp; once</w:t><w:br/></w:r></w:moveFrom></w:p>
<w:p><w:pPr><w:rPr><w:del w:id="3"/></w:rPr></w:pPr><w:del w:id="4"><w:r><w:tab/><w:delText>x</w:delText></w:r></w:del>
<w:moveTo w:id="5"><w:r><w:t>moved &amp; once</w:t></w:r></w:moveTo></w:p>
</w:body></w:document>"#;
        let content = package(&[("word/document.xml", document)]);
        assert_eq!(DocumentKind::Docx.text(&content).unwrap(), "a\tb\n\nmoved & once");
    }

    #[test]
    fn what_is_no_document_or_a_bomb_is_an_error() {
        let text = |content: &[u8]| DocumentKind::Docx.text(content).unwrap_err().to_string();
        assert!(text(b"PK\x03\x04").starts_with("the document is malformed: "));
        assert_eq!(
            text(&package(&[("a", "b")])),
            "the document is malformed: it has no `word/document.xml`"
        );
        let broken = package(&[("word/document.xml", "<w:p><w:t>x</w:p>")]);
        assert!(text(&broken).starts_with("the document is malformed: "));
        let bomb = package(&[("word/document.xml", &"x".repeat(65 << 20))]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(DocumentKind::Docx.text(&bomb), Err(DocumentError::TooLarge(64 * 1024 * 1024)));
    }

    #[test]
    fn deep_elements_and_many_entities_take_no_more_than_their_length() {
        let deep = format!("{}<w:t>x</w:t>", "<w:p>".repeat(200_000));
        let content = package(&[("word/document.xml", &deep)]);
        // Whatever it says of elements that are not closed, it ends.
        let _ = DocumentKind::Docx.text(&content);
        let laughs = "<!DOCTYPE w [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\
                      <w:p><w:t>x&b;y</w:t></w:p>";
        let content = package(&[("word/document.xml", laughs)]);
        assert_eq!(DocumentKind::Docx.text(&content).unwrap(), "x&b;y");
    }
}
