//! Which files mean what a query means, by the vectors of a model that embeds texts.
//!
//! In: the query, the files of a search, which of them have its words. Out: the files whose chunks
//! are most like it. Chunks that are not known yet are embedded first, those of files with words of
//! the query before others, as many as one search may; the next search continues with the rest.
//! Texts are sent without secrets, and only those of files that the task may read.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::future::ready;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt as _};
use tokio::time::timeout;

use crate::embedder::{Embedder, EmbedderState};
use crate::tools::ToolContext;
use crate::tools::search::codebase::candidates::{
    CANDIDATES_LIMIT_BYTES, CandidateText, outlines, texts,
};
use crate::tools::search::codebase::indexed::{SearchedFiles, WordsFile};
use crate::tools::search::opened::OpenedFolder;
use crate::tools::search::walk::FolderWalk;
use locum_base::text::head;
use locum_index::chunk::{Chunk, cut};
use locum_index::kept::{ContentHash, content_hash};
use locum_index::meaning::{LikeFile, nearest};
use locum_index::query::RankedFile;
use locum_index::vectors::{Direction, HashedChunk, VECTORS_LIMIT_BYTES, Vectors};
use locum_models::ModelError;
use locum_models::accounting::PricedUsage;
use locum_models::embedding::{EmbeddingModel, Embeddings, REQUEST_LIMIT_TEXTS};
use locum_policy::budget::Budget;
use locum_workspace::index_folder::IndexFolder;

/// Most chunks that one search has embedded.
const NEW_CHUNKS: usize = 2048;

/// Most bytes of a chunk that are embedded: a long line may be anything.
const CHUNK_LIMIT_BYTES: usize = 4096;

/// Most bytes of one request.
const REQUEST_LIMIT_BYTES: usize = 96 * 1024;

/// Requests that wait for their answers at once.
const CONCURRENT_REQUESTS: usize = 4;

/// How long one search embeds chunks.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The part of what is left of a budget that the searches of one reply may spend together.
const BUDGET_PARTS: u32 = 10;

/// What was found by meaning.
#[derive(Default)]
pub(super) struct MeaningFound {
    /// The files, best first.
    pub(super) files: Vec<LikeFile>,
    /// How many files are not known yet; `None` where the query itself is not.
    pub(super) unknown: Option<usize>,
    /// Why not more is known, as a fragment.
    pub(super) problem: Option<String>,
    /// How many texts the model was sent.
    pub(super) sent: usize,
    /// What that used up.
    pub(super) usage: PricedUsage,
}

/// A search by meaning.
pub(super) struct MeaningSearch<'s> {
    pub(super) embedder: &'s Embedder,
    pub(super) query: &'s str,
    pub(super) folder: &'s OpenedFolder<'s>,
    pub(super) index: Option<&'s IndexFolder>,
    pub(super) context: ToolContext<'s>,
    /// Most files that are found.
    pub(super) room: usize,
}

/// Texts that are sent, each with its hash.
type SentTexts = Vec<(ContentHash, String)>;

/// What a search sends to a model, within its part of the budget.
struct Sending<'m> {
    model: &'m EmbeddingModel,
    /// Tokens that may still be sent; `None` for any number.
    left_tokens: Option<u64>,
    /// Tokens that were sent, by estimate.
    used: u64,
    sent: usize,
    usage: PricedUsage,
}

impl Sending<'_> {
    /// Takes what texts need out of the budget; false where it is too little.
    fn takes(&mut self, texts: &[&str]) -> bool {
        let needed: u64 = texts.iter().map(|text| self.model.estimate_tokens(text)).sum();
        let used = self.used.saturating_add(needed);
        let fits = self.left_tokens.is_none_or(|left| used <= left);
        if fits {
            self.used = used;
        }
        fits
    }

    fn count(&mut self, embeddings: &Embeddings) {
        self.sent += embeddings.vectors.len();
        self.usage.add(embeddings.usage);
    }
}

impl MeaningSearch<'_> {
    /// Finds the files; those that have words of the query are `ranked`.
    pub(super) async fn find(
        &self,
        searched: &SearchedFiles<'_>,
        ranked: &[RankedFile],
    ) -> MeaningFound {
        let model = self.embedder.model();
        let mut known = self.embedder.known().await;
        let rest = self.context.given.rest;
        let mut sending = Sending {
            model,
            left_tokens: rest.map(|rest| self.may_send(&rest, &known)),
            used: 0,
            sent: 0,
            usage: PricedUsage::default(),
        };
        let mut found = MeaningFound::default();
        match self.direction(&mut sending).await {
            Err(problem) => found.problem = Some(problem),
            Ok(query) => {
                let vectors = known.vectors.get_or_insert_with(|| self.load());
                found.problem =
                    self.embed_missing(vectors, searched, ranked, &mut sending).await.err();
                let is_unknown = |file: &&WordsFile<'_>| !is_known(vectors, file);
                found.unknown = Some(searched.files.iter().filter(is_unknown).count());
                let chunks = searched.files.iter();
                let chunks = chunks.map(|file| vectors.chunks(&file.hash).unwrap_or_default());
                found.files = nearest(&query, chunks, vectors, self.room);
            }
        }
        if let Some(rest) = rest {
            known.note_sent(rest, sending.used);
        }
        (found.sent, found.usage) = (sending.sent, sending.usage);
        found
    }

    /// Asks for the direction of the query.
    ///
    /// # Errors
    /// Why there is none.
    async fn direction(&self, sending: &mut Sending<'_>) -> Result<Direction, String> {
        let query = self.context.run.redactor.redact(self.query);
        if !sending.takes(&[&query]) {
            return Err(USED_UP.to_owned());
        }
        let embeddings = sending.model.embed(&[&query]).await.map_err(|error| error.to_string())?;
        sending.count(&embeddings);
        let direction = embeddings.vectors.first().and_then(|vector| Direction::of(vector));
        direction.ok_or_else(|| "the query has no direction".to_owned())
    }

    /// Returns how many tokens may be sent of what is left of a budget, after what other searches
    /// of the same reply have sent.
    fn may_send(&self, rest: &Budget, known: &EmbedderState) -> u64 {
        let affordable =
            self.embedder.model().affordable_tokens(rest.cost_usd / f64::from(BUDGET_PARTS));
        let tokens = rest.tokens / u64::from(BUDGET_PARTS);
        let tokens = affordable.map_or(tokens, |affordable| affordable.min(tokens));
        tokens.saturating_sub(known.sent_before(rest))
    }

    fn load(&self) -> Vectors {
        let kept = self.index.and_then(|index| index.vectors().read(VECTORS_LIMIT_BYTES));
        let identity = self.embedder.model().identity();
        kept.and_then(|kept| Vectors::parse(&kept.bytes, identity)).unwrap_or_default()
    }

    /// Keeps what is known, where the folder is a part of the repository.
    fn keep(&self, vectors: &Vectors, searched: &SearchedFiles<'_>) {
        let Some(index) = self.index else { return };
        if !FolderWalk::finds(self.context.checkout.root(), self.folder.path()) {
            return;
        }
        let here: BTreeSet<ContentHash> = searched.files.iter().map(|file| file.hash).collect();
        let identity = self.embedder.model().identity();
        let bytes = vectors.render(identity, |file| here.contains(file));
        if let Err(error) = index.vectors().keep(&bytes) {
            tracing::debug!(%error, "the vectors of chunks are not kept");
        }
    }

    /// Has chunks embedded that are not known yet, and keeps them.
    ///
    /// # Errors
    /// Why it ended before its bounds; what came until then is known.
    async fn embed_missing(
        &self,
        vectors: &mut Vectors,
        searched: &SearchedFiles<'_>,
        ranked: &[RankedFile],
        sending: &mut Sending<'_>,
    ) -> Result<(), String> {
        let places = missing(vectors, searched, ranked);
        if places.is_empty() {
            return Ok(());
        }
        let texts = texts(self.folder, &places, searched);
        let (outlines, _) = outlines(&texts).await;
        let (mut wanted, mut seen): (SentTexts, HashSet<ContentHash>) = Default::default();
        for (text, definitions) in texts.iter().zip(&outlines) {
            let (chunks, mut contents) = self.hashed(text, cut(&text.text, definitions));
            contents.retain(|(hash, _)| vectors.direction(hash).is_none() && seen.insert(*hash));
            if !wanted.is_empty() && wanted.len() + contents.len() > NEW_CHUNKS {
                break;
            }
            wanted.extend(contents.into_iter().take(NEW_CHUNKS));
            vectors.add_file(text.hash, chunks);
        }
        let ended = self.embed_all(vectors, &wanted, sending).await;
        self.keep(vectors, searched);
        ended
    }

    /// Returns chunks with the hashes of their texts, and the texts as they are sent. Secrets are
    /// taken out before a text is cut: a part of one is not always known as one. A file with a
    /// secret of several lines has no chunks, because the lines behind it are others then.
    fn hashed(
        &self,
        text: &CandidateText<'_>,
        chunks: Vec<Chunk>,
    ) -> (Vec<HashedChunk>, SentTexts) {
        let clean = self.context.run.redactor.redact(&text.text);
        let lines: Vec<&str> = clean.lines().collect();
        if lines.len() != text.text.lines().count() {
            return (Vec::new(), Vec::new());
        }
        let limit_bytes = CHUNK_LIMIT_BYTES.min(self.embedder.model().text_limit_bytes());
        let hashed = |chunk: Chunk| {
            let of_chunk = lines.get(chunk.first_line - 1..chunk.last_line)?.join("\n");
            let hash = content_hash(of_chunk.as_bytes());
            let line = |line: usize| u32::try_from(line).ok();
            let (first_line, last_line) = (line(chunk.first_line)?, line(chunk.last_line)?);
            let sent = head(&of_chunk, limit_bytes).to_owned();
            Some((HashedChunk { first_line, last_line, hash }, (hash, sent)))
        };
        chunks.into_iter().filter_map(hashed).unzip()
    }

    /// Has texts embedded, several requests at once. What was sent and is not answered in time is
    /// charged by estimate.
    async fn embed_all(
        &self,
        vectors: &mut Vectors,
        wanted: &SentTexts,
        sending: &mut Sending<'_>,
    ) -> Result<(), String> {
        let mut ended = Ok(());
        let mut allowed = Vec::new();
        for request in requests(wanted) {
            let texts: Vec<&str> = request.iter().map(|(_, text)| text.as_str()).collect();
            if !sending.takes(&texts) {
                ended = Err(USED_UP.to_owned());
                break;
            }
            allowed.push((request, texts));
        }
        let model = sending.model;
        let (has_failed, waiting_tokens) = (Cell::new(false), Cell::new(0_u64));
        let allowed = stream::iter(allowed).take_while(|_| ready(!has_failed.get()));
        let asked = allowed.map(async |(request, texts)| {
            let tokens: u64 = texts.iter().map(|text| model.estimate_tokens(text)).sum();
            waiting_tokens.update(|waiting| waiting.saturating_add(tokens));
            let answer = model.embed(&texts).await;
            waiting_tokens.update(|waiting| waiting.saturating_sub(tokens));
            has_failed.set(has_failed.get() || answer.is_err());
            (request, answer)
        });
        let answers = asked.buffer_unordered(CONCURRENT_REQUESTS);
        let taken = timeout(TIME_LIMIT, take(answers, vectors, sending)).await;
        if waiting_tokens.get() > 0 {
            sending.usage.add(model.unanswered(waiting_tokens.get()));
        }
        match taken {
            Ok(taken) => taken.and(ended),
            Err(_) => Err(format!("{} s are over", TIME_LIMIT.as_secs())),
        }
    }
}

/// Notes what answers say, to the last; returns the first failure.
async fn take<'w>(
    answers: impl Stream<Item = (&'w [(ContentHash, String)], Result<Embeddings, ModelError>)>,
    vectors: &mut Vectors,
    sending: &mut Sending<'_>,
) -> Result<(), String> {
    let (mut answers, mut first_failure) = (std::pin::pin!(answers), Ok(()));
    while let Some((request, answer)) = answers.next().await {
        let embeddings = match answer {
            Ok(embeddings) => embeddings,
            Err(error) => {
                first_failure = first_failure.and(Err(error.to_string()));
                continue;
            }
        };
        sending.count(&embeddings);
        for ((hash, _), vector) in request.iter().zip(&embeddings.vectors) {
            if let Some(direction) = Direction::of(vector) {
                vectors.add_direction(*hash, direction);
            }
        }
    }
    first_failure
}

/// Why no more is sent.
const USED_UP: &str = "searches of one reply may spend a tenth of what is left of the budget";

/// Returns the files that are not known yet, those with words of a query first, as many as one
/// search reads.
fn missing(
    vectors: &Vectors,
    searched: &SearchedFiles<'_>,
    ranked: &[RankedFile],
) -> Vec<RankedFile> {
    let with_words = ranked.iter().map(|file| file.place);
    let (mut missing, mut seen, mut bytes) = (Vec::new(), BTreeSet::new(), 0);
    for place in with_words.chain(0..searched.files.len()) {
        let Some(file) = searched.files.get(place) else { continue };
        if is_known(vectors, file) || !seen.insert(place) {
            continue;
        }
        bytes += file.stamp.size_bytes;
        let is_full = usize::try_from(bytes).is_ok_and(|bytes| bytes > CANDIDATES_LIMIT_BYTES);
        if is_full || missing.len() >= NEW_CHUNKS {
            break;
        }
        missing.push(RankedFile { place, score: 0.0 });
    }
    missing
}

/// Whether every chunk of a file has its vector. A file without words has no chunk.
fn is_known(vectors: &Vectors, file: &WordsFile<'_>) -> bool {
    let has_direction = |chunk: &HashedChunk| vectors.direction(&chunk.hash).is_some();
    let chunks = vectors.chunks(&file.hash);
    file.words().total() == 0 || chunks.is_some_and(|chunks| chunks.iter().all(has_direction))
}

/// Cuts texts into requests.
fn requests(wanted: &SentTexts) -> Vec<&[(ContentHash, String)]> {
    let (mut requests, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (place, (_, text)) in wanted.iter().enumerate() {
        bytes += text.len();
        if place > start && (bytes > REQUEST_LIMIT_BYTES || place - start >= REQUEST_LIMIT_TEXTS) {
            requests.extend(wanted.get(start..place));
            (start, bytes) = (place, text.len());
        }
    }
    requests.extend(wanted.get(start..).filter(|rest| !rest.is_empty()));
    requests
}
