//! Text of a PDF document, page by page. A page whose content breaks the reader is named and leaves
//! the others; of its text, what a simpler reader finds is shown.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use crate::document::{BoundedText, DocumentError};

/// Said of a page without text.
const NO_TEXT: &str = "(no text; the page may be a scanned image)";

/// Stands for a page without readable text, and after one that was read in part.
const UNREADABLE: &str = "(this page cannot be read)";
const PARTLY_READABLE: &str = "(a part of this page cannot be read)";

/// Reads the text of a PDF document.
pub(super) fn text(content: &[u8]) -> Result<String, DocumentError> {
    let mut document = Document::load_mem(content).map_err(DocumentError::malformed)?;
    if document.is_encrypted() {
        // Many are encrypted only so that they are not changed: their password is empty.
        document.decrypt("").map_err(|_| DocumentError::Encrypted)?;
    }
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    if pages.is_empty() {
        return Err(DocumentError::malformed("it has no pages"));
    }
    let mut text = BoundedText::default();
    for page in &pages {
        let shown = page_text(&document, *page);
        text.push(&format!("--- Page {page} of {} ---\n{shown}\n\n", pages.len()));
        if text.is_full {
            break;
        }
    }
    Ok(text.finish())
}

fn page_text(document: &Document, page: u32) -> String {
    let mut text = String::new();
    let read = catch_unwind(AssertUnwindSafe(|| {
        let mut output = PlainTextOutput::new(&mut text);
        output_doc_page(document, &mut output, page).is_ok()
    }));
    let text = text.trim();
    if matches!(read, Ok(true)) {
        return if text.is_empty() { NO_TEXT.to_owned() } else { text.to_owned() };
    }
    // One font that is not understood ends the reading. The other reader leaves its texts out, and
    // lays nothing out.
    let simpler = catch_unwind(AssertUnwindSafe(|| document.extract_text(&[page]).ok()));
    let simpler = simpler.ok().flatten().unwrap_or_default();
    let found = [text, simpler.trim()].into_iter().max_by_key(|found| found.len());
    match found.filter(|found| !found.is_empty()) {
        Some(found) => format!("{found}\n{PARTLY_READABLE}"),
        None => UNREADABLE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::PARTLY_READABLE;
    use crate::document::{DocumentError, DocumentKind};
    use pretty_assertions::assert_eq;

    /// Makes a PDF whose pages have these contents.
    fn pdf(pages: &[&str]) -> Vec<u8> {
        let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + 2 * at)).collect();
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        ];
        for (at, content) in pages.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Resources << /Font << /F1 \
                 3 0 R >> >> /Contents {} 0 R >>",
                5 + 2 * at
            ));
            let length = content.len();
            objects.push(format!("<< /Length {length} >>\nstream\n{content}\nendstream"));
        }
        let (mut file, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
        for (at, object) in objects.iter().enumerate() {
            places.push(file.len());
            file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", at + 1));
        }
        let (start, count) = (file.len(), objects.len() + 1);
        file.push_str(&format!("xref\n0 {count}\n0000000000 65535 f \n"));
        places.iter().for_each(|place| file.push_str(&format!("{place:010} 00000 n \n")));
        file.push_str(&format!(
            "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
        ));
        file.into_bytes()
    }

    #[test]
    fn pages_are_named_and_one_that_breaks_leaves_the_others() {
        let words = "BT /F1 12 Tf 20 200 Td (Hello world) Tj 0 -20 Td (Second line) Tj ET";
        let broken = "BT /None 12 Tf (x) Tj ET";
        let text = DocumentKind::Pdf.text(&pdf(&[words, "", broken, words])).unwrap();
        let page = "Hello world\nSecond line";
        assert_eq!(
            text.replace("\n\n", "\n"),
            format!(
                "--- Page 1 of 4 ---\n{page}\n--- Page 2 of 4 ---\n(no text; the page may be a \
                 scanned image)\n--- Page 3 of 4 ---\n(this page cannot be read)\n--- Page 4 of 4 \
                 ---\n{page}"
            )
        );
    }

    #[test]
    fn what_can_be_read_of_a_page_with_an_unknown_font_is_shown() {
        let page = "BT /F1 12 Tf 20 200 Td (Hello world) Tj /None 12 Tf (x) Tj \
                    /F1 12 Tf 0 -20 Td (Second line) Tj ET";
        let text = DocumentKind::Pdf.text(&pdf(&[page])).unwrap();
        assert!(text.contains("Hello world") && text.ends_with(PARTLY_READABLE), "{text}");
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        let none = pdf(&[]);
        assert_eq!(
            DocumentKind::Pdf.text(&none),
            Err(DocumentError::Malformed(": it has no pages".to_owned()))
        );
        for content in [b"%PDF-1.7\nx\n".to_vec(), b"%PDF-".to_vec(), none[..60].to_vec()] {
            let error = DocumentKind::Pdf.text(&content).unwrap_err().to_string();
            assert!(error.starts_with("the document is malformed"), "{error}");
        }
    }
}
