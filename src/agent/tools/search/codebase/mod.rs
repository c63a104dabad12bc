//! `codebase_search`: finds the places of the checkout that have most of a query's words.
//!
//! In: words, a folder. Out: the best files, each with its best definitions and a few lines. An
//! index of words says which files are looked at, and a model that embeds texts, where the run has
//! one; what is shown is read from the files, and a process of its own finds their definitions. A
//! file that may not be read has no say in any of it.

mod by_meaning;
mod candidates;
mod indexed;
mod shown;

use serde_json::{Value, json};

use crate::tools::arguments::CallFields;
use crate::tools::dispatch::CheckedCall;
use crate::tools::peer_words::{FOLDER, PeerWords};
use crate::tools::resolved_path::ResolvedPath;
use crate::tools::search::codebase::by_meaning::MeaningSearch;
use crate::tools::search::codebase::candidates::{outlines, texts};
use crate::tools::search::codebase::indexed::{index_folder, load, search};
use crate::tools::search::codebase::shown::{SearchAnswer, ShownFile, render};
use crate::tools::search::opened::OpenedFolder;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect};
use crate::tools::{CallError, ModelUse, Observation, ToolContext};
use locum_base::text::counted;
use locum_index::answer::{CandidateFile, found};
use locum_index::meaning::LikeFile;
use locum_index::query::{Query, RankedFile, rank};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// Most files that are looked at for their lines: those whose words fit best.
const CANDIDATES_LIMIT: usize = 30;

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
    const PEERS: PeerWords =
        PeerWords { renames: &[FOLDER], hook_names: &["Grep"], ..PeerWords::NONE };
    const ANSWERS: AnswerTraits = AnswerTraits { shortened: true, ..AnswerTraits::PLAIN };

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
        let by_meaning = match context.run.embedder {
            Some(embedder) => {
                let search = MeaningSearch {
                    embedder,
                    query: &self.text,
                    folder: &folder,
                    index: index.as_ref(),
                    context,
                    room: CANDIDATES_LIMIT,
                };
                Some(search.find(&searched, &ranking.files).await)
            }
            None => None,
        };
        let like = by_meaning.as_ref().map_or(&[][..], |found| found.files.as_slice());
        let texts = texts(&folder, &with_like(&ranking.files, like), &searched);
        let (outlines, no_outlines) = outlines(&texts).await;
        let candidates = texts.iter().zip(&outlines).map(|(text, definitions)| CandidateFile {
            ranked: text.ranked,
            text: &text.text,
            definitions,
        });
        let found = found(&ranking.words, candidates, like);
        let shown = found.iter().filter_map(|found| {
            let text = texts.iter().find(|text| text.ranked.place == found.ranked.place)?;
            Some(ShownFile { path: text.path, text: &text.text, chunks: &found.chunks })
        });
        let answer = SearchAnswer {
            files: shown.collect(),
            words: &ranking.words,
            matched: ranking.matched,
            searched: &searched,
            by_meaning: by_meaning.as_ref(),
            no_outlines: no_outlines.as_deref(),
        };
        let text = render(&answer);
        let sent = by_meaning.filter(|found| found.sent > 0).zip(context.run.embedder);
        let model_use = sent.map(|(found, embedder)| {
            let what = format!("{} embedded", counted(found.sent, "text"));
            Box::new(ModelUse { by: embedder.model().name().to_owned(), what, usage: found.usage })
        });
        Ok(Observation { model_use, ..Observation::said(text) })
    }
}

/// Returns files with words of a query, and behind them those that are only like it.
fn with_like(ranked: &[RankedFile], like: &[LikeFile]) -> Vec<RankedFile> {
    let is_ranked = |file: &&LikeFile| ranked.iter().any(|ranked| ranked.place == file.place);
    let others = like.iter().filter(|file| !is_ranked(file));
    let others = others.map(|file| RankedFile { place: file.place, score: 0.0 });
    ranked.iter().copied().chain(others).collect()
}

#[cfg(test)]
mod tests;
