//! What the confined process makes of a hostile content: the text of a document, or the definitions
//! of source code.
//!
//! In: a request. Out: its answer, or a fragment of a sentence that says why there is none.

use std::path::Path;

use locum_extract::document::DocumentKind;
use locum_extract::request::{ExtractAnswer, ExtractRequest, PROCESS_WORD};
use locum_sandbox::exec::confined::{self, OWN_PROGRAM};

/// Returns the text of a document, which a process of its own reads, or why there is none.
pub(crate) async fn document_text(kind: DocumentKind, content: &[u8]) -> Result<String, String> {
    match extracted(ExtractRequest::Document { kind, content }).await? {
        ExtractAnswer::Text(text) => Ok(text),
        ExtractAnswer::Outline(_) => Err("its reader gives no text".to_owned()),
        ExtractAnswer::Failed(why) => Err(why),
    }
}

/// Asks a process of this program's own.
///
/// # Errors
/// What keeps it from answering, or its own words.
pub(crate) async fn extracted(request: ExtractRequest<'_>) -> Result<ExtractAnswer, String> {
    let (program, limit_bytes) = (Path::new(OWN_PROGRAM), request.answer_limit_bytes());
    let answer = confined::ask(program, PROCESS_WORD, &request.render(), limit_bytes).await;
    let answer = answer.map_err(|error| error.to_string())?;
    match ExtractAnswer::parse(&answer) {
        Some(ExtractAnswer::Failed(why)) => Err(why),
        Some(answer) => Ok(answer),
        None => Err("its reader gives no answer".to_owned()),
    }
}
