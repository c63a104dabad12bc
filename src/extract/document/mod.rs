//! Documents as text: PDF, DOCX, XLSX and notebooks, with their pages, headings, sheets and cells
//! named.

mod docx;
mod notebook;
mod package;
mod pdf;
mod xlsx;

use serde::{Deserialize, Serialize};

/// Largest document that is read, in bytes.
pub const DOCUMENT_LIMIT_BYTES: u64 = 50 * 1024 * 1024;

/// Most bytes of text taken from one document.
const TEXT_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// What ends a text that is not taken whole.
const CUT: &str = "\n\n(The rest of the document is not shown.)";

/// A kind of document that has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// PDF.
    Pdf,
    /// A document of Word: Office Open XML.
    Docx,
    /// A workbook of Excel: Office Open XML.
    Xlsx,
    /// A notebook of Jupyter.
    Notebook,
}

/// Why a document gives no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is not what it says it is.
    #[error("the document is malformed{0}")]
    Malformed(String),
    /// A part of it is larger than is read.
    #[error("a part of the document unpacks to more than {0} bytes")]
    TooLarge(u64),
    /// It can only be read with a password.
    #[error("the document is encrypted")]
    Encrypted,
}

impl DocumentError {
    /// Returns that the document is malformed, and how where that is known.
    pub(crate) fn malformed(how: impl std::fmt::Display) -> Self {
        let how = how.to_string();
        let gap = if how.is_empty() { "" } else { ": " };
        let how: String = how.chars().take(200).collect();
        Self::Malformed(format!("{gap}{how}"))
    }
}

impl DocumentKind {
    /// Says which kind of document a file is, by its first bytes and, where those leave it open, by
    /// its name; `None` for other files.
    pub fn of(path: &str, start: &[u8]) -> Option<Self> {
        let extension = path.rsplit_once('.').map(|(_, last)| last.to_ascii_lowercase());
        let extension = extension.as_deref().unwrap_or_default();
        let is_package = start.starts_with(b"PK\x03\x04");
        if start.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        match extension {
            "docx" | "docm" if is_package => Some(Self::Docx),
            "xlsx" | "xlsm" if is_package => Some(Self::Xlsx),
            "ipynb" if start.trim_ascii_start().starts_with(b"{") => Some(Self::Notebook),
            _ => None,
        }
    }

    /// Returns what it is called: `PDF document`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "PDF document",
            Self::Docx => "Word document",
            Self::Xlsx => "Excel workbook",
            Self::Notebook => "notebook",
        }
    }

    /// Reads the text of a document. For a process of its own: it may panic, take any time and all
    /// memory.
    ///
    /// # Errors
    /// See [`DocumentError`].
    pub fn text(self, content: &[u8]) -> Result<String, DocumentError> {
        let text = match self {
            Self::Pdf => pdf::text(content),
            Self::Docx => docx::text(content),
            Self::Xlsx => xlsx::text(content),
            Self::Notebook => notebook::text(content),
        }?;
        Ok(text)
    }
}

/// Returns a text up to the limit of texts; one that a reader has cut stays as it is.
pub(crate) fn bounded(text: String) -> String {
    if text.len() <= TEXT_LIMIT_BYTES + CUT.len() {
        return text;
    }
    let mut bounded = BoundedText::default();
    bounded.push(&text);
    bounded.finish()
}

/// A text that grows up to a limit.
#[derive(Debug, Default)]
struct BoundedText {
    text: String,
    is_full: bool,
}

impl BoundedText {
    /// Adds to it, as far as there is room.
    fn push(&mut self, more: &str) {
        let room = TEXT_LIMIT_BYTES.saturating_sub(self.text.len());
        let fits = more.floor_char_boundary(room);
        self.is_full |= fits < more.len();
        self.text.push_str(more.get(..fits).unwrap_or_default());
    }

    fn finish(mut self) -> String {
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        if self.is_full {
            self.text.push_str(CUT);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::{BoundedText, CUT, DocumentKind, TEXT_LIMIT_BYTES};
    use pretty_assertions::assert_eq;

    #[test]
    fn a_document_is_known_by_its_bytes_and_a_package_also_by_its_name() {
        for (path, start, expected) in [
            ("a.txt", b"%PDF-1.7".as_slice(), Some(DocumentKind::Pdf)),
            ("a.pdf", b"plain", None),
            ("x/a.DOCX", b"PK\x03\x04", Some(DocumentKind::Docx)),
            ("a.docx", b"plain", None),
            ("a.zip", b"PK\x03\x04", None),
            ("docx", b"PK\x03\x04", None),
            ("a.xlsm", b"PK\x03\x04", Some(DocumentKind::Xlsx)),
            ("a.ipynb", b" \n{", Some(DocumentKind::Notebook)),
            ("a.ipynb", b"version https://git-lfs", None),
            ("a.json", b"{", None),
        ] {
            assert_eq!(DocumentKind::of(path, start), expected, "{path}");
        }
    }

    #[test]
    fn a_text_has_a_bound() {
        let mut text = BoundedText::default();
        for _ in 0..3 {
            text.push(&"é".repeat(TEXT_LIMIT_BYTES / 4));
        }
        let text = text.finish();
        assert_eq!(text.len(), TEXT_LIMIT_BYTES + CUT.len());
        assert!(text.ends_with(CUT));
    }
}
