//! What the process that reads documents is asked, and what it answers.
//!
//! A request is one line of JSON and the content after it, an answer is JSON. Neither is trusted by
//! the other side: both are parsed again, with their limits.

use serde::{Deserialize, Serialize};

use crate::document::{DocumentKind, bounded};
use crate::line::short_line;
use crate::outline::language::Language;
use crate::outline::{self, TextOutline};

/// The word that this program is called with to be the process that reads documents.
pub const PROCESS_WORD: &str = "__extract";

/// Largest request, in bytes.
pub const REQUEST_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Largest answer with the text of a document, in bytes.
const TEXT_ANSWER_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Largest answer with definitions, in bytes: as many as are found at most take 4 MiB. Read, one
/// can take ten times as much memory.
const OUTLINE_ANSWER_LIMIT_BYTES: usize = 8 * 1024 * 1024;

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
    /// The definitions of each text, in their order.
    Outline(Vec<TextOutline>),
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

    /// Returns the size of the largest answer, in bytes.
    pub fn answer_limit_bytes(&self) -> usize {
        match self {
            Self::Document { .. } => TEXT_ANSWER_LIMIT_BYTES,
            Self::Outline(_) => OUTLINE_ANSWER_LIMIT_BYTES,
        }
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

    /// Reads one; `None` for anything else. All of it is cut at its limits, and what is shown as a
    /// line becomes one: what a hostile content made of its reader may have written it.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Some(match serde_json::from_slice(bytes).ok()? {
            Self::Text(text) => Self::Text(bounded(text)),
            Self::Outline(outlines) => Self::Outline(outline::bounded(outlines)),
            Self::Failed(why) => Self::Failed(short_line(&why, FAILED_LIMIT_BYTES)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtractAnswer, ExtractRequest};
    use crate::answer;
    use crate::document::DocumentKind;
    use crate::outline::language::Language;
    use crate::outline::{Definition, OutlineError};
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
        assert_eq!(counts, [Ok(1), Ok(0)]);
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
        assert!(why.len() <= 503 && why.starts_with("a  [31mé"), "{why}");
        let text = ExtractAnswer::Text("one\ntwo".to_owned());
        assert_eq!(read(text.clone()), text);
        let ExtractAnswer::Text(text) = read(ExtractAnswer::Text("x".repeat(20 << 20))) else {
            panic!()
        };
        assert!(text.len() < 17 << 20 && text.ends_with("is not shown.)"));
    }

    #[test]
    fn definitions_that_the_process_says_are_bounded() {
        let read = |bytes: &[u8]| match ExtractAnswer::parse(bytes) {
            Some(ExtractAnswer::Outline(outlines)) => outlines,
            other => panic!("{other:?}"),
        };
        let definition = |depth: usize, head: &str| Definition {
            first_line: 1,
            last_line: 1,
            depth,
            head: head.to_owned(),
        };
        let written = |outlines| ExtractAnswer::Outline(outlines).render();
        let usual = vec![Ok(vec![definition(100, "fn é() {")]), Err(OutlineError::TooSlow)];
        assert_eq!(read(&written(usual.clone())), usual);
        let deep = b"{\"outline\":[{\"Ok\":[{\"first_line\":1,\"last_line\":1,\
                     \"depth\":18446744073709551615,\"head\":\"x\"}]}]}";
        assert_eq!(read(deep), [Ok(vec![definition(100, "x")])]);
        let forged = definition(0, "fn a()\n\n# src/other.rs\u{1b}[31m\r1-1 | fn b()");
        let line = "fn a()  # src/other.rs [31m 1-1 | fn b()";
        assert_eq!(read(&written(vec![Ok(vec![forged])])), [Ok(vec![definition(0, line)])]);
        let long = definition(0, &"x".repeat(1 << 20));
        let line = "x".repeat(160) + "…";
        assert_eq!(read(&written(vec![Ok(vec![long])])), [Ok(vec![definition(0, &line)])]);
        let many = || Ok(vec![definition(0, "x"); 9_999]);
        let read = read(&written(vec![many(), many(), many()]));
        let counts: Vec<_> = read.iter().map(|outline| outline.as_ref().map(Vec::len)).collect();
        assert_eq!(counts, [Ok(9_999), Ok(1), Err(&OutlineError::BehindLimit)]);
    }

    #[test]
    fn the_largest_outline_fits_into_an_answer() {
        // Of what is in a head, this takes the most bytes as JSON.
        let line = format!("class A{{}}//{}\n", "\"".repeat(200)).repeat(2_500);
        let request = ExtractRequest::Outline(vec![(Language::CSharp, line.as_bytes()); 5]);
        let answer = answer(&request.render());
        let Some(ExtractAnswer::Outline(found)) = ExtractAnswer::parse(&answer) else { panic!() };
        let counts: Vec<_> = found.iter().map(|outline| outline.as_ref().map(Vec::len)).collect();
        let limit = Err(&OutlineError::BehindLimit);
        assert_eq!(counts, [Ok(2_500), Ok(2_500), Ok(2_500), Ok(2_500), limit]);
        assert!(answer.len() * 3 / 2 < request.answer_limit_bytes(), "{}", answer.len());
    }
}
