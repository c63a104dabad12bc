//! The files of a search that are looked at: their texts, and what those define.
//!
//! In: places among the files. Out: texts within a bound, and the definitions that a process of its
//! own finds.

use crate::tools::extracted::extracted;
use crate::tools::search::codebase::indexed::{FILE_LIMIT_BYTES, SearchedFiles};
use crate::tools::search::opened::OpenedFolder;
use locum_extract::outline::language::Language;
use locum_extract::outline::{Definition, TextOutline};
use locum_extract::request::{ExtractAnswer, ExtractRequest};
use locum_index::kept::{ContentHash, content_hash};
use locum_index::query::RankedFile;

/// Most bytes of all of them together.
pub(super) const CANDIDATES_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// The text of a file that is looked at.
pub(super) struct CandidateText<'f> {
    pub(super) ranked: RankedFile,
    pub(super) path: &'f str,
    pub(super) text: String,
    /// Of its bytes.
    pub(super) hash: ContentHash,
}

/// Reads the best files, as far as they are not too large together.
pub(super) fn texts<'f>(
    folder: &OpenedFolder<'_>,
    ranked: &[RankedFile],
    searched: &'f SearchedFiles<'_>,
) -> Vec<CandidateText<'f>> {
    let (mut texts, mut room, mut content) = (Vec::new(), CANDIDATES_LIMIT_BYTES, Vec::new());
    for ranked in ranked {
        let Some(file) = searched.files.get(ranked.place) else { continue };
        let read = folder.read_into(&file.path, FILE_LIMIT_BYTES, &mut content);
        if read.is_err() || content.len() > room || content.contains(&0) {
            continue;
        }
        room -= content.len();
        let text = String::from_utf8_lossy(&content).into_owned();
        let (path, hash) = (file.path.as_str(), content_hash(&content));
        texts.push(CandidateText { ranked: *ranked, path, text, hash });
    }
    texts
}

/// Asks a process of its own what the texts define; returns why it does not say so, too.
pub(super) async fn outlines(
    texts: &[CandidateText<'_>],
) -> (Vec<Vec<Definition>>, Option<String>) {
    let languages: Vec<Option<Language>> =
        texts.iter().map(|text| Language::of(text.path)).collect();
    let code = texts.iter().zip(&languages);
    let code: Vec<(Language, &[u8])> =
        code.filter_map(|(text, language)| Some(((*language)?, text.text.as_bytes()))).collect();
    let count = code.len();
    let answer = match count {
        0 => Ok(Vec::new()),
        _ => match extracted(ExtractRequest::Outline(code)).await {
            Ok(ExtractAnswer::Outline(found)) if found.len() == count => Ok(found),
            Ok(ExtractAnswer::Failed(why)) | Err(why) => Err(why),
            Ok(ExtractAnswer::Outline(_) | ExtractAnswer::Text(_)) => {
                Err("its reader gives no outline".to_owned())
            }
        },
    };
    let (found, why): (Vec<TextOutline>, _) = match answer {
        Ok(found) => (found, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let mut found = found.into_iter();
    // A file that takes too long to parse is cut at its blank lines.
    let of_file = |language: &Option<Language>| {
        language.and_then(|_| found.next()).and_then(Result::ok).unwrap_or_default()
    };
    (languages.iter().map(of_file).collect(), why)
}
