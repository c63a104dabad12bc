//! What the process that reads documents is asked, and what it answers.
//!
//! A request is one line of JSON and the content after it, an answer is JSON. Neither is trusted by
//! the other side: both are parsed again, with their limits.

use serde::{Deserialize, Serialize};

use crate::document::{DocumentKind, bounded};
use crate::outline::Definition;
use crate::outline::language::Language;

/// The word that this program is called with to be the process that reads documents.
pub const PROCESS_WORD: &str = "__extract";

/// Largest request, in bytes.
pub const REQUEST_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Largest answer, in bytes.
pub const ANSWER_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Most bytes taken of why a document gives no text.
const FAILED_LIMIT_BYTES: usize = 500;

/// What is wanted of which content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtractRequest<'c> {
    /// The text of a document.
    Document {
        /// Which one it is.
        kind: DocumentKind,
        /// Its bytes.
        content: &'c [u8],
    },
    /// The definitions of texts.
    Outline(Vec<(Language, &'c [u8])>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractAnswer {
    /// The text of a document.
    Text(String),
    /// The definitions of each text, in their order; `None` for one that takes too long to parse.
    Outline(Vec<Option<Vec<Definition>>>),
    /// Why there is none: a fragment such as `the document is encrypted`.
    Failed(String),
}

/// The first line of a request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Header {
    Document(DocumentKind),
    /// The language of each text, and its length in bytes.
    Outline(Vec<(Language, usize)>),
}

impl<'c> ExtractRequest<'c> {
    /// Writes it.
    pub fn render(&self) -> Vec<u8> {
        let (header, contents) = match self {
            Self::Document { kind, content } => (Header::Document(*kind), vec![*content]),
            Self::Outline(texts) => {
                let lengths = texts.iter().map(|(language, text)| (*language, text.len()));
                let contents = texts.iter().map(|(_, text)| *text).collect();
                (Header::Outline(lengths.collect()), contents)
            }
        };
        let header = serde_json::to_vec(&header).unwrap_or_default();
        [&header, b"\n".as_slice(), &contents.concat()].concat()
    }

    /// Reads one; `None` for anything else.
    pub fn parse(bytes: &'c [u8]) -> Option<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (header, content) = bytes.split_at_checked(end)?;
        let mut content = content.get(1..)?;
        match serde_json::from_slice(header).ok()? {
            Header::Document(kind) => Some(Self::Document { kind, content }),
            Header::Outline(lengths) => {
                let mut texts = Vec::with_capacity(lengths.len());
                for (language, length) in lengths {
                    let (text, rest) = content.split_at_checked(length)?;
                    texts.push((language, text));
                    content = rest;
                }
                Some(Self::Outline(texts))
            }
        }
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
            // What shows it keeps to its own limits.
            Self::Outline(outlines) => Self::Outline(outlines),
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
    use crate::outline::language::Language;
    use pretty_assertions::assert_eq;

    #[test]
    fn requests_and_answers_read_back_and_anything_else_is_none() {
        let content = b"{\n\n\0".as_slice();
        let request = ExtractRequest::Document { kind: DocumentKind::Notebook, content };
        assert_eq!(ExtractRequest::parse(&request.render()), Some(request));
        let texts = vec![(Language::Rust, b"fn a() {}\n".as_slice()), (Language::Go, b"")];
        let request = ExtractRequest::Outline(texts);
        assert_eq!(ExtractRequest::parse(&request.render()), Some(request.clone()));
        let Some(ExtractAnswer::Outline(found)) = ExtractAnswer::parse(&answer(&request.render()))
        else {
            panic!("no outline");
        };
        let counts: Vec<_> = found.iter().map(|found| found.as_ref().map(Vec::len)).collect();
        assert_eq!(counts, [Some(1), Some(0)]);
        for other in [
            b"".as_slice(),
            b"\n",
            b"{\"outline\":[[\"go\",9]]}\nx",
            b"{}\nx",
            b"{\"document\":\"exe\"}\nx",
            b"\xff",
        ] {
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
