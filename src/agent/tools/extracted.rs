//! What the confined process makes of a hostile content: the text of a document, or the definitions
//! of source code.
//!
//! In: a request. Out: its answer, or a fragment of a sentence that says why there is none.

use std::path::Path;

use locum_extract::request::{ExtractAnswer, ExtractRequest, PROCESS_WORD};
use locum_sandbox::exec::confined::{self, OWN_PROGRAM};

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
