//! `codebase_search`: finds the places of the checkout that have most of a query's words.
//!
//! In: words, a folder. Out: the best files, each with its best definitions and a few lines. An
//! index of words says which files are looked at; what is shown is read from the files, and a
//! process of its own finds their definitions. A file that may not be read has no say in any of it.

mod indexed;
mod shown;

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, ResolvedPath};
use crate::tools::dispatch::CheckedCall;
use crate::tools::extracted::extracted;
use crate::tools::search::codebase::indexed::{SearchedFiles, index_folder, load, search};
use crate::tools::search::codebase::shown::{SearchAnswer, ShownFile, render};
use crate::tools::search::opened::OpenedFolder;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_extract::outline::language::Language;
use locum_extract::outline::{Definition, TextOutline};
use locum_extract::request::{ExtractAnswer, ExtractRequest};
use locum_index::answer::{CandidateFile, found};
use locum_index::query::{Query, RankedFile, rank};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Most files that are looked at for their lines: those whose words fit best.
const CANDIDATES_LIMIT: usize = 30;

/// Most bytes of all of them together.
const CANDIDATES_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// Longest query, in bytes.
const QUERY_LIMIT_BYTES: usize = 4096;

/// A search about to be done.
#[derive(Clone, Debug)]
pub struct CodebaseSearch {
    place: ResolvedPath,
    text: String,
    query: Query,
}

impl Tool for CodebaseSearch {
    const EFFECT: ToolEffect = ToolEffect::Reads;
    const DESCRIPTION: &'static str = "Find code by likely words: the best 10 files.";
    const REQUIRED: &'static [&'static str] = &["query"];

    fn properties() -> Value {
        json!({
            "query": { "type": "string" },
            "path": { "type": "string" }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let text = arguments.words("query", "words that the code is likely to have")?;
        let place = arguments.optional_place(
            "path",
            "the folder, relative to the repository root",
            context,
        )?;
        arguments.finish()?;
        if text.len() > QUERY_LIMIT_BYTES {
            return Err(CallError(
                "`query` of `codebase_search` is longer than 4,096 bytes. Name what you look for \
                 in a few words."
                    .to_owned(),
            ));
        }
        let query = Query::parse(&text).ok_or_else(|| {
            CallError(
                "`query` of `codebase_search` has no word of two letters or more. `search_files` \
                 finds signs."
                    .to_owned(),
            )
        })?;
        Ok(Self { place, text, query })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![Intent::Read(self.place.real.clone())]
    }

    fn headline(&self) -> String {
        format!("search {} for {}", self.place.asked, self.text)
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let folder = OpenedFolder::open("search", &self.place, permit, context)?;
        let index = index_folder(context);
        let kept = load(index.as_ref());
        let searched = search(&folder, &kept, index.as_ref(), context);
        let files = searched.files.iter().map(|file| (file.path.as_str(), file.words()));
        let ranking = rank(&self.query, files, CANDIDATES_LIMIT);
        let texts = texts(&folder, &ranking.files, &searched);
        let (outlines, no_outlines) = outlines(&texts).await;
        let candidates = texts.iter().zip(&outlines).map(|(text, definitions)| CandidateFile {
            ranked: text.ranked,
            text: &text.text,
            definitions,
        });
        let found = found(&ranking.words, candidates);
        let shown = found.iter().filter_map(|found| {
            let text = texts.iter().find(|text| text.ranked.place == found.ranked.place)?;
            Some(ShownFile { path: text.path, text: &text.text, chunks: &found.chunks })
        });
        let answer = SearchAnswer {
            files: shown.collect(),
            words: &ranking.words,
            matched: ranking.matched,
            searched: &searched,
            no_outlines: no_outlines.as_deref(),
        };
        Ok(Observation::said(render(&answer)))
    }
}

/// The text of a file that is looked at.
struct CandidateText<'f> {
    ranked: RankedFile,
    path: &'f str,
    text: String,
}

/// Reads the best files, as far as they are not too large together.
fn texts<'f>(
    folder: &OpenedFolder<'_>,
    ranked: &[RankedFile],
    searched: &'f SearchedFiles<'_>,
) -> Vec<CandidateText<'f>> {
    let (mut texts, mut room, mut content) = (Vec::new(), CANDIDATES_LIMIT_BYTES, Vec::new());
    for ranked in ranked {
        let Some(file) = searched.files.get(ranked.place) else { continue };
        let read = folder.read_into(&file.path, indexed::FILE_LIMIT_BYTES, &mut content);
        if read.is_err() || content.len() > room || content.contains(&0) {
            continue;
        }
        room -= content.len();
        let text = String::from_utf8_lossy(&content).into_owned();
        texts.push(CandidateText { ranked: *ranked, path: file.path.as_str(), text });
    }
    texts
}

/// Asks a process of its own what the texts define; returns why it does not say so, too.
async fn outlines(texts: &[CandidateText<'_>]) -> (Vec<Vec<Definition>>, Option<String>) {
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

#[cfg(test)]
mod tests;
