//! Asks for the files of real commits by their subjects: how many of the files that a commit
//! changes are among the ten best of `codebase_search`, beside a plain search for the subject's
//! words.
//!
//! `cargo bench --bench recall -- [--commits N] [--embed MODEL@URL] REPOSITORY...`, folders of
//! repositories, bare ones too. What is searched is the tree before the commit, in memory. Nothing
//! is fetched. With `--embed`, a server of OpenAI's embeddings is asked for vectors, and files are
//! found by words and by meaning.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use git2::{Commit, Delta, ObjectType, Oid, Repository, Sort, Tree, TreeWalkMode, TreeWalkResult};
use locum_extract::outline::language::Language;
use locum_extract::outline::outlines;
use locum_index::answer::{CandidateFile, found};
use locum_index::chunk::cut;
use locum_index::kept::{ContentHash, content_hash};
use locum_index::meaning::{LikeFile, nearest};
use locum_index::query::{Query, RankedFile, rank};
use locum_index::vectors::{Direction, HashedChunk, Vectors};
use locum_index::words::FileWords;
use locum_models::embedding::{EmbeddingModel, REQUEST_LIMIT_TEXTS};
use locum_models::profile::{ModelSettings, Pointer, Profile};
use locum_models::resolve::{ModelFacts, resolve};

/// Commits of one repository, unless `--commits` says how many.
const COMMITS: usize = 30;

/// A commit that changes more files is about all of them.
const CHANGED_LIMIT: usize = 20;

/// Largest file that is searched, in bytes, and files looked at for their lines: as in the tool.
const FILE_LIMIT_BYTES: usize = 1024 * 1024;
const CANDIDATES: usize = 30;

/// Files of an answer that count.
const SHOWN: usize = 10;

/// A file's content, and its words.
#[derive(Default)]
struct Content {
    text: String,
    lower: String,
    words: Vec<u8>,
    hash: ContentHash,
}

/// A model that embeds texts, and what it has embedded.
struct Embedding {
    model: EmbeddingModel,
    vectors: Vectors,
    runtime: tokio::runtime::Runtime,
}

impl Embedding {
    /// Makes one of `MODEL@URL`.
    fn new(text: &str) -> Self {
        let (model, url) = text.split_once('@').unwrap();
        let profile = Profile { base_url: Some(url.to_owned()), ..Profile::new(model) };
        let mut settings = ModelSettings::default();
        settings.profiles.insert("near".to_owned(), profile.clone());
        settings.profiles.insert("main".to_owned(), profile);
        settings.pointers.embed = Pointer(vec!["near".to_owned()]);
        let env = BTreeMap::new();
        let facts = ModelFacts { env: &env, asked: None, from_repository: &BTreeSet::new() };
        let chosen = resolve(&settings, &facts).unwrap().embed.unwrap().unwrap();
        Self {
            model: EmbeddingModel::prepare(&chosen).unwrap(),
            vectors: Vectors::default(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// Has every chunk of a file embedded that is not known.
    fn add(&mut self, path: &str, content: &Content) {
        if self.vectors.chunks(&content.hash).is_some() {
            return;
        }
        let lines: Vec<&str> = content.text.lines().collect();
        let chunks = cut(&content.text, &definitions(path, &content.text));
        let hashed = |chunk: locum_index::chunk::Chunk| {
            let text = lines[chunk.first_line - 1..chunk.last_line].join("\n");
            let (first_line, last_line) =
                (u32::try_from(chunk.first_line).unwrap(), u32::try_from(chunk.last_line).unwrap());
            let hash = content_hash(text.as_bytes());
            let sent = locum_base::text::head(&text, 4096).to_owned();
            (HashedChunk { first_line, last_line, hash }, (hash, sent))
        };
        let (chunks, mut texts): (Vec<_>, Vec<_>) = chunks.into_iter().map(hashed).unzip();
        texts.retain(|(hash, _)| self.vectors.direction(hash).is_none());
        for request in texts.chunks(REQUEST_LIMIT_TEXTS) {
            let texts: Vec<&str> = request.iter().map(|(_, text)| text.as_str()).collect();
            let found = self.runtime.block_on(self.model.embed(&texts)).unwrap();
            for ((hash, _), vector) in request.iter().zip(found.vectors) {
                self.vectors.add_direction(*hash, Direction::of(&vector).unwrap());
            }
        }
        self.vectors.add_file(content.hash, chunks);
    }

    /// Returns the files of a tree that are most like a question.
    fn like(
        &mut self,
        question: &str,
        tree: &[(String, Oid)],
        contents: &BTreeMap<Oid, Content>,
    ) -> Vec<LikeFile> {
        for (path, id) in tree {
            self.add(path, &contents[id]);
        }
        let query = self.runtime.block_on(self.model.embed(&[question])).unwrap();
        let query = Direction::of(&query.vectors[0]).unwrap();
        let chunks = tree.iter();
        let chunks =
            chunks.map(|(_, id)| self.vectors.chunks(&contents[id].hash).unwrap_or_default());
        nearest(&query, chunks, &self.vectors, CANDIDATES)
    }
}

/// Sums over commits.
#[derive(Clone, Copy, Default)]
struct Sums {
    commits: usize,
    files: usize,
    /// Of the search: the sum of the recalls, and how many commits have a file found.
    search: (f64, usize),
    /// Of plain words.
    plain: (f64, usize),
    /// Of the search with meaning.
    meaning: (f64, usize),
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut commits, mut folders, mut embedding) = (COMMITS, Vec::new(), None);
    while let Some(word) = words.next() {
        if word == "--commits" {
            commits = words.next().and_then(|number| number.parse().ok()).unwrap_or(COMMITS);
        } else if word == "--embed" {
            embedding = words.next().map(|text| Embedding::new(&text));
        } else if !word.starts_with("--") {
            folders.push(word);
        }
    }
    if folders.is_empty() {
        println!("recall: name repositories to ask");
        return;
    }
    println!(
        "{:<34} {:>8} {:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "repository",
        "commits",
        "files",
        "search",
        "words",
        "meaning",
        "search, 1",
        "words, 1",
        "meaning, 1"
    );
    let mut all = Sums::default();
    for folder in &folders {
        let sums = repository(folder, commits, embedding.as_mut());
        row(folder, &sums);
        all.commits += sums.commits;
        all.files += sums.files;
        for (all, one) in [
            (&mut all.search, sums.search),
            (&mut all.plain, sums.plain),
            (&mut all.meaning, sums.meaning),
        ] {
            *all = (all.0 + one.0, all.1 + one.1);
        }
    }
    row("all", &all);
}

fn row(name: &str, sums: &Sums) {
    let commits = sums.commits.max(1) as f64;
    let name: String = name.chars().rev().take(34).collect::<Vec<_>>().into_iter().rev().collect();
    println!(
        "{name:<34} {:>8} {:>7} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>10.3}",
        sums.commits,
        sums.files / sums.commits.max(1),
        sums.search.0 / commits,
        sums.plain.0 / commits,
        sums.meaning.0 / commits,
        sums.search.1 as f64 / commits,
        sums.plain.1 as f64 / commits,
        sums.meaning.1 as f64 / commits,
    );
}

/// Asks for the newest commits that have one parent and change files that were there.
fn repository(folder: &str, limit: usize, mut embedding: Option<&mut Embedding>) -> Sums {
    let repo = Repository::open(folder).unwrap();
    let mut walk = repo.revwalk().unwrap();
    walk.push_head().unwrap();
    walk.set_sorting(Sort::TOPOLOGICAL).unwrap();
    let (mut contents, mut sums) = (BTreeMap::new(), Sums::default());
    for id in walk.flatten() {
        if sums.commits == limit {
            break;
        }
        let commit = repo.find_commit(id).unwrap();
        if commit.parent_count() != 1 {
            continue;
        }
        let question = subject(&commit);
        let answers = answers(&repo, &commit);
        let Some(query) = Query::parse(&question) else { continue };
        if answers.is_empty() || answers.len() > CHANGED_LIMIT {
            continue;
        }
        let tree = files(&commit.parent(0).unwrap().tree().unwrap());
        for (_, id) in &tree {
            contents.entry(*id).or_insert_with(|| content(&repo, *id));
        }
        sums.commits += 1;
        sums.files += tree.len();
        let like = embedding.as_mut().map(|known| known.like(&question, &tree, &contents));
        let like = like.unwrap_or_default();
        for (sum, found) in [
            (&mut sums.search, by_search(&query, &tree, &contents, &[])),
            (&mut sums.meaning, by_search(&query, &tree, &contents, &like)),
            (&mut sums.plain, by_words(&question, &tree, &contents)),
        ] {
            let hits = found.iter().filter(|path| answers.contains(**path)).count();
            sum.0 += hits as f64 / answers.len() as f64;
            sum.1 += usize::from(hits > 0);
        }
    }
    sums
}

/// Returns the subject of a commit without the numbers of issues and pull requests.
fn subject(commit: &Commit<'_>) -> String {
    let subject = commit.summary().ok().flatten().unwrap_or_default();
    let is_word = |word: &&str| {
        let (_, number) = word.split_once('#').unwrap_or_default();
        !number.starts_with(|letter: char| letter.is_ascii_digit())
    };
    subject.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}

/// Returns the files that a commit changes or removes.
fn answers(repo: &Repository, commit: &Commit<'_>) -> BTreeSet<String> {
    let (old, new) = (commit.parent(0).unwrap().tree().unwrap(), commit.tree().unwrap());
    let diff = repo.diff_tree_to_tree(Some(&old), Some(&new), None).unwrap();
    let there = diff.deltas().filter(|delta| delta.status() != Delta::Added);
    there.filter_map(|delta| Some(delta.old_file().path()?.to_str()?.to_owned())).collect()
}

/// Returns the files of a tree, in the order of their paths.
fn files(tree: &Tree<'_>) -> Vec<(String, Oid)> {
    let mut files = Vec::new();
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() == Some(ObjectType::Blob) && entry.filemode() != 0o120_000 {
            files.push((format!("{folder}{}", entry.name().unwrap()), entry.id()));
        }
        TreeWalkResult::Ok
    })
    .unwrap();
    files.sort();
    files
}

/// Returns what a file holds; nothing of one that is large, binary or not in the snapshot.
fn content(repo: &Repository, id: Oid) -> Content {
    let blob = repo.find_blob(id);
    let bytes = blob.as_ref().map_or(&[][..], |blob| blob.content());
    let is_text = bytes.len() <= FILE_LIMIT_BYTES && !bytes.contains(&0);
    let text = String::from_utf8_lossy(if is_text { bytes } else { &[] }).into_owned();
    let mut words = Vec::new();
    FileWords::render(text.as_bytes(), &mut words);
    Content { lower: text.to_lowercase(), hash: content_hash(bytes), text, words }
}

fn definitions(path: &str, text: &str) -> Vec<locum_extract::outline::Definition> {
    let language = Language::of(path);
    let found = language.and_then(|language| outlines(vec![(language, text.as_bytes())]).pop());
    found.and_then(Result::ok).unwrap_or_default()
}

/// Returns the best files of `codebase_search`.
fn by_search<'t>(
    query: &Query,
    tree: &'t [(String, Oid)],
    contents: &BTreeMap<Oid, Content>,
    like: &[LikeFile],
) -> Vec<&'t str> {
    let words = tree
        .iter()
        .map(|(path, id)| (path.as_str(), FileWords::parse(&contents[id].words).unwrap().0));
    let ranking = rank(query, words, CANDIDATES);
    let is_ranked = |place| ranking.files.iter().any(|file| file.place == place);
    let others = like.iter().map(|file| file.place).filter(|place| !is_ranked(*place));
    let others = others.map(|place| RankedFile { place, score: 0.0 });
    let files: Vec<RankedFile> = ranking.files.iter().copied().chain(others).collect();
    let of_file = |file: &RankedFile| {
        let (path, id) = &tree[file.place];
        definitions(path, &contents[id].text)
    };
    let definitions: Vec<_> = files.iter().map(of_file).collect();
    let candidates = files.iter().zip(&definitions).map(|(file, definitions)| {
        let text = contents[&tree[file.place].1].text.as_str();
        CandidateFile { ranked: *file, text, definitions }
    });
    let found = found(&ranking.words, candidates, like);
    found.iter().take(SHOWN).map(|file| tree[file.ranked.place].0.as_str()).collect()
}

/// Returns the files with most of the words of a subject in them or in their paths, as a careful
/// `grep` finds them: those in which they stand more often first.
fn by_words<'t>(
    question: &str,
    tree: &'t [(String, Oid)],
    contents: &BTreeMap<Oid, Content>,
) -> Vec<&'t str> {
    let question = question.to_lowercase();
    let words = question.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words: BTreeSet<&str> = words.filter(|word| word.len() > 2).collect();
    let mut ranked: Vec<_> = tree
        .iter()
        .map(|(path, id)| {
            let (lower, name) = (contents[id].lower.as_str(), path.to_lowercase());
            let counts = words
                .iter()
                .map(|word| lower.matches(word).count() + usize::from(name.contains(word)));
            let (distinct, total) = counts.fold((0, 0), |(distinct, total), count| {
                (distinct + usize::from(count > 0), total + count)
            });
            (Reverse(distinct), Reverse(total), path.as_str())
        })
        .filter(|(distinct, ..)| distinct.0 > 0)
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().take(SHOWN).map(|(.., path)| path).collect()
}
