//! Replays commits of repositories through `apply_diff` and `apply_patch`, as they are and with
//! seeded noise, and counts what came out the same, what was refused and what was wrong.
//!
//! `cargo bench --bench fidelity -- [--commits N] REPOSITORY...`; `tests/fidelity.sh` has the list
//! the figures of docs/benchmarks.md were made with. Nothing is fetched here and nothing written.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what goes wrong ends the benchmark"
)]
#![expect(clippy::print_stdout, reason = "the table is the result")]
#![expect(clippy::disallowed_types, reason = "the threads of a benchmark share its work")]

#[path = "../it/fidelity/replay.rs"]
mod replay;

use std::process::ExitCode;

use git2::{Delta, DiffOptions, Oid, Repository, Sort};
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
    wrong: Vec<String>,
}

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
    if folders.is_empty() {
        println!("fidelity: name repositories to replay; tests/fidelity.sh says how");
        return ExitCode::SUCCESS;
    }
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
    if sum.tally.wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Replayed {
    /// Replays a part of the newest commits that have one parent and change a text file.
    fn repository(&mut self, folder: &str, part: usize, limit: usize) {
        let repo = Repository::open(folder).unwrap();
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
            self.tally.add(&change, &mut Rolls::new(seed), |tool, noise, fate| {
                let name = noise.map_or("as committed", Noise::name);
                let is_wrong = match noise {
                    None => !matches!(fate, Fate::Same | Fate::Refused(_) | Fate::LineEnds),
                    Some(_) => *fate == Fate::WrongPlace,
                };
                if is_wrong {
                    wrong.push(format!("{folder} {id} {path}: {tool}, {name}"));
                }
            });
            self.wrong.append(&mut wrong);
        }
        replayed
    }
}
