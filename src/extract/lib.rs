//! What a file holds, from its bytes: the text of a document, the definitions of source code. Both
//! are hostile and their readers large: nobody but a confined process of its own calls [`answer`].
//!
//! - [`document::DocumentKind`] says whether a file is a document, and which.
//! - [`outline::outlines`] finds what source code defines, and on which lines.
//! - [`request::ExtractRequest`] and [`request::ExtractAnswer`] are what goes into that process and
//!   what comes out of it.

pub mod document;
mod line;
pub mod outline;
pub mod request;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::document::DocumentError;
use crate::request::{ExtractAnswer, ExtractRequest};

/// Answers a request; both are bytes. Never panics.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let answered = catch_unwind(AssertUnwindSafe(|| match ExtractRequest::parse(request) {
        Some(ExtractRequest::Document { kind, content }) => match kind.text(content) {
            Ok(text) => ExtractAnswer::Text(text),
            Err(error) => ExtractAnswer::Failed(error.to_string()),
        },
        Some(ExtractRequest::Outline(texts)) => ExtractAnswer::Outline(outline::outlines(texts)),
        None => ExtractAnswer::Failed("the request is not understood".to_owned()),
    }));
    let answer = answered
        .unwrap_or_else(|_| ExtractAnswer::Failed(DocumentError::malformed("").to_string()));
    answer.render()
}
