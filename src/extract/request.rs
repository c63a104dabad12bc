//! What the process that reads documents is asked, and what it answers.
//!
//! A request is one line of JSON and the content after it, an answer is JSON. Neither is trusted by
//! the other side: both are parsed again, with their limits.

use serde::{Deserialize, Serialize};

use crate::document::{DocumentKind, bounded};

/// The word that this program is called with to be the process that reads documents.
pub const PROCESS_WORD: &str = "__extract";

/// Largest request, in bytes.
pub const REQUEST_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Largest answer, in bytes.
pub const ANSWER_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Most bytes taken of why a document gives no text.
const FAILED_LIMIT_BYTES: usize = 500;

/// What is wanted of which content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractRequest<'c> {
    /// The text of a document.
    Document {
        /// Which one it is.
        kind: DocumentKind,
        /// Its bytes.
        content: &'c [u8],
    },
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractAnswer {
    /// The text of a document.
    Text(String),
    /// Why there is none: a fragment such as `the document is encrypted`.
    Failed(String),
}

/// The first line of a request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Header {
    Document(DocumentKind),
}

impl<'c> ExtractRequest<'c> {
    /// Writes it.
    pub fn render(&self) -> Vec<u8> {
        let Self::Document { kind, content } = self;
        let header = serde_json::to_vec(&Header::Document(*kind)).unwrap_or_default();
        [&header, b"\n".as_slice(), content].concat()
    }

    /// Reads one; `None` for anything else.
    pub fn parse(bytes: &'c [u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (header, content) = bytes.split_at_checked(end)?;
        let content = content.get(1..)?;
        let Header::Document(kind) = serde_json::from_slice(header).ok()?;
        Some(Self::Document { kind, content })
    }
}

impl ExtractAnswer {
    /// Writes it.
    pub fn render(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads one; `None` for anything else. A text is cut at the limit of texts, and why there is
    /// none becomes one short line: what a hostile document made of its reader may have written it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Some(match serde_json::from_slice(bytes).ok()? {
            Self::Text(text) => Self::Text(bounded(text)),
            Self::Failed(why) => {
                let line: String =
                    why.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
                let end = line.floor_char_boundary(FAILED_LIMIT_BYTES);
                Self::Failed(line.get(..end).unwrap_or_default().to_owned())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtractAnswer, ExtractRequest};
    use crate::answer;
    use crate::document::DocumentKind;
    use pretty_assertions::assert_eq;

    #[test]
    fn requests_and_answers_read_back_and_anything_else_is_none() {
        let content = b"{\n\n\0".as_slice();
        let request = ExtractRequest::Document { kind: DocumentKind::Notebook, content };
        assert_eq!(ExtractRequest::parse(&request.render()), Some(request));
        for other in [b"".as_slice(), b"\n", b"{}\nx", b"{\"document\":\"exe\"}\nx", b"\xff"] {
            assert_eq!(ExtractRequest::parse(other), None);
            let failed = ExtractAnswer::Failed("the request is not understood".to_owned());
            assert_eq!(ExtractAnswer::parse(&answer(other)), Some(failed));
        }
        assert_eq!(ExtractAnswer::parse(b"running 0 tests"), None);
    }

    #[test]
    fn what_the_process_says_is_bounded() {
        let read = |answer: ExtractAnswer| ExtractAnswer::parse(&answer.render()).unwrap();
        let short = ExtractAnswer::Failed("the document is encrypted".to_owned());
        assert_eq!(read(short.clone()), short);
        let long = format!("a\n\u{1b}[31m{}", "é".repeat(1000));
        let ExtractAnswer::Failed(why) = read(ExtractAnswer::Failed(long)) else { panic!() };
        assert!(why.len() <= 500 && why.starts_with("a  [31mé"), "{why}");
        let text = ExtractAnswer::Text("one\ntwo".to_owned());
        assert_eq!(read(text.clone()), text);
        let ExtractAnswer::Text(text) = read(ExtractAnswer::Text("x".repeat(20 << 20))) else {
            panic!()
        };
        assert!(text.len() < 17 << 20 && text.ends_with("is not shown.)"));
    }
}
