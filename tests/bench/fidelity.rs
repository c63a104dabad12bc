//! Replays commits of repositories through each edit tool, as they are and with seeded noise, and
//! counts what came out the same, what was refused and what was wrong. The trees that come of whole
//! commits are compared by their git object ids.
//!
//! `cargo bench --bench fidelity -- [--commits N] REPOSITORY...`, or `FIDELITY_REPOS=dir:dir`;
//! `tests/fidelity.sh` has the list the figures of docs/benchmarks.md were made with. Nothing is
//! fetched here, and what is made of a repository stays in memory.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark is told by a variable what to replay")]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::disallowed_types, reason = "the threads of a benchmark share its work")]

#[path = "../it/fidelity/replay.rs"]
mod replay;

use std::collections::BTreeMap;
use std::process::ExitCode;

use git2::build::TreeUpdateBuilder;
use git2::{Delta, DiffOptions, FileMode, Oid, Repository, Sort, Tree};
use replay::{Fate, FileChange, Noise, Rolls, Tally};

/// Commits of one repository, unless `--commits` says how many.
const COMMITS: usize = 700;

/// Larger files are not replayed, in bytes.
const FILE_LIMIT_BYTES: usize = 256 << 10;

/// Parts into which the commits of a repository are dealt, for threads to take.
const PARTS: usize = 8;

#[derive(Default)]
struct Replayed {
    tally: Tally,
    commits: usize,
    files: usize,
    changes: usize,
    skipped: usize,
    /// Whole commits: how many trees came out the same, were refused in a part, and are others.
    trees: BTreeMap<&'static str, [usize; 3]>,
    wrong: Vec<String>,
}

/// What a tool makes of the files of a commit; `None` where it refused one.
type TreeFiles = Option<Vec<(String, String)>>;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench").peekable();
    let (mut commits, mut folders) = (COMMITS, Vec::new());
    while let Some(word) = words.next() {
        if word == "--commits" {
            commits = words.next().and_then(|number| number.parse().ok()).unwrap_or(COMMITS);
        } else if !word.starts_with("--") {
            folders.push(word);
        }
    }
    let named = std::env::var("FIDELITY_REPOS").unwrap_or_default();
    folders.extend(named.split(':').filter(|folder| !folder.is_empty()).map(str::to_owned));
    if folders.is_empty() {
        println!("fidelity: name repositories to replay; tests/fidelity.sh says how");
        return ExitCode::SUCCESS;
    }
    // A snapshot of a repository may lack its largest files; their ids are enough for a tree.
    git2::opts::strict_object_creation(false);
    let parts =
        folders.iter().flat_map(|folder| (0..PARTS).map(move |part| (folder.clone(), part)));
    let queue = std::sync::Mutex::new(parts.collect::<Vec<_>>());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Replayed> = std::thread::scope(|scope| {
        let run = || {
            let mut sum = Replayed::default();
            loop {
                let Some((folder, part)) = queue.lock().unwrap().pop() else { return sum };
                sum.repository(&folder, part, commits);
            }
        };
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut sum = Replayed::default();
    for part in parts {
        sum.tally.merge(part.tally);
        sum.commits += part.commits;
        sum.files += part.files;
        sum.changes += part.changes;
        sum.skipped += part.skipped;
        for (tool, counts) in part.trees {
            let sums = sum.trees.entry(tool).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sum.wrong.extend(part.wrong);
    }
    sum.wrong.iter().for_each(|what| println!("{what}"));
    println!(
        "{} commits, {} changed files, {} changes; {} files not replayed (binary, not UTF-8, large)\n\n{}",
        sum.commits,
        sum.files,
        sum.changes,
        sum.skipped,
        sum.tally.table()
    );
    println!("{:<44} {:>9} {:>9} {:>9}", "trees of whole commits", "same", "refused", "other");
    for (tool, [same, refused, other]) in &sum.trees {
        println!("{tool:<44} {same:>9} {refused:>9} {other:>9}");
    }
    if sum.tally.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Replayed {
    /// Replays a part of the newest commits that have one parent and change a text file.
    fn repository(&mut self, folder: &str, part: usize, limit: usize) {
        let repo = Repository::open(folder).unwrap();
        // What is written goes there, and with it.
        let odb = repo.odb().unwrap();
        let _memory = odb.add_new_mempack_backend(1000).unwrap();
        let mut walk = repo.revwalk().unwrap();
        walk.push_head().unwrap();
        walk.set_sorting(Sort::TOPOLOGICAL).unwrap();
        let single = |id: &Oid| repo.find_commit(*id).unwrap().parent_count() == 1;
        let before = self.commits;
        for id in walk.flatten().filter(single).skip(part).step_by(PARTS) {
            if (self.commits - before) * PARTS >= limit {
                break;
            }
            self.commits += usize::from(self.commit(&repo, folder, id));
        }
    }

    /// Replays the files a commit changes; false where it changes none.
    fn commit(&mut self, repo: &Repository, folder: &str, id: Oid) -> bool {
        let commit = repo.find_commit(id).unwrap();
        let (old, new) = (commit.parent(0).unwrap().tree().unwrap(), commit.tree().unwrap());
        let diff =
            repo.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut DiffOptions::new())).unwrap();
        let mut replayed = false;
        let mut files: BTreeMap<&'static str, TreeFiles> = BTreeMap::new();
        for delta in diff.deltas().filter(|delta| delta.status() == Delta::Modified) {
            let text = |id: Oid| {
                let blob = repo.find_blob(id).ok()?;
                let content = blob.content();
                let is_text = content.len() <= FILE_LIMIT_BYTES && !content.contains(&0);
                String::from_utf8(content.to_vec()).ok().filter(|_| is_text)
            };
            let (Some(before), Some(after)) =
                (text(delta.old_file().id()), text(delta.new_file().id()))
            else {
                self.skipped += 1;
                continue;
            };
            if before == after {
                continue;
            }
            replayed = true;
            let change = FileChange::new(before, after);
            self.files += 1;
            self.changes += change.count();
            let path = delta.new_file().path().unwrap_or(std::path::Path::new("")).display();
            let seed = u64::from_be_bytes(id.as_bytes()[..8].try_into().unwrap());
            let mut wrong = Vec::new();
            let told = |tool: &'static str, noise: Option<Noise>, fate: &Fate| {
                let name = noise.map_or("as committed", Noise::name);
                let is_wrong = match noise {
                    None => !matches!(fate, Fate::Same | Fate::Refused(_) | Fate::LineEnds),
                    Some(_) => *fate == Fate::WrongPlace,
                };
                if is_wrong {
                    wrong.push(format!("{folder} {id} {path}: {tool}, {name}"));
                }
            };
            let replays = change.replayed(&mut self.tally.asked);
            self.tally.add(&change, &replays, &mut Rolls::new(seed), told);
            for (tool, replay) in replays {
                let made = files.entry(tool).or_insert_with(|| Some(Vec::new()));
                match (made, replay) {
                    (Some(made), Ok(text)) => made.push((path.to_string(), text)),
                    (made, Err(_)) => *made = None,
                    (None, Ok(_)) => {}
                }
            }
            self.wrong.append(&mut wrong);
        }
        for (tool, files) in files {
            let fate = match files {
                None => 1,
                Some(files) if tree(repo, &old, &new, &files) == new.id() => 0,
                Some(_) => 2,
            };
            self.trees.entry(tool).or_default()[fate] += 1;
        }
        replayed
    }
}

/// Makes the tree of a commit with these contents of the text files that it changes; what it adds,
/// removes and changes otherwise is taken as it is.
fn tree(repo: &Repository, old: &Tree<'_>, new: &Tree<'_>, files: &[(String, String)]) -> Oid {
    let made: BTreeMap<&str, &str> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let diff = repo.diff_tree_to_tree(Some(old), Some(new), None).unwrap();
    // What becomes a link or a submodule is removed and added.
    let mut entries: BTreeMap<Vec<u8>, Option<(Oid, FileMode)>> = BTreeMap::new();
    for delta in diff.deltas() {
        let path = delta.new_file().path_bytes().or(delta.old_file().path_bytes()).unwrap();
        if delta.status() == Delta::Deleted {
            entries.entry(path.to_vec()).or_insert(None);
            continue;
        }
        let text = std::str::from_utf8(path).ok().and_then(|path| made.get(path));
        let id = text.map_or(delta.new_file().id(), |text| repo.blob(text.as_bytes()).unwrap());
        entries.insert(path.to_vec(), Some((id, delta.new_file().mode())));
    }
    let mut builder = TreeUpdateBuilder::new();
    for (path, entry) in entries {
        match entry {
            Some((id, mode)) => builder.upsert(path, id, mode),
            None => builder.remove(path),
        };
    }
    builder.create_updated(repo, old).unwrap()
}
