//! Scans a repository for a starter policy: which files there are, and what a few of them say.
//!
//! In: a folder. Out: a [`StarterScan`]. What git ignores is passed over, links are not followed,
//! and everything is bounded; nothing is run and nothing written.

#![expect(clippy::disallowed_methods, reason = "reads manifests and workflows of the working tree")]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ignore::WalkBuilder;

use locum_base::path::RepoPath;
use locum_policy::starter::scan::{OwnMode, StarterScan};
use locum_policy::starter::{is_read, is_sampled};

/// Most files looked at.
const FILES_LIMIT: usize = 50_000;
/// Most files read.
const TEXTS_LIMIT: usize = 500;
/// Most files read besides of those that show what tests are written for.
const SAMPLES_LIMIT: usize = 100;
/// Most bytes read of one file.
const TEXT_LIMIT_BYTES: u64 = 1024 * 1024;

/// Scans the folder.
///
/// # Errors
/// When it cannot be read. Single files that cannot be are left out.
pub fn scan(root: &Path, modes: Vec<OwnMode>) -> io::Result<StarterScan> {
    std::fs::read_dir(root)?;
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).parents(false).git_global(false).require_git(false).follow_links(false);
    walk.filter_entry(|entry| entry.file_name() != ".git").sort_by_file_name(Ord::cmp);
    let files = walk
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let mut scanned = StarterScan { modes, ..StarterScan::default() };
    let (mut texts, mut samples) = (0, 0);
    for entry in files.take(FILES_LIMIT) {
        let Some(path) = entry
            .path()
            .strip_prefix(root)
            .ok()
            .and_then(Path::to_str)
            .and_then(|path| RepoPath::parse(path).ok())
        else {
            continue;
        };
        let (count, limit) = if is_read(&path) {
            (&mut texts, TEXTS_LIMIT)
        } else if is_sampled(&path) {
            (&mut samples, SAMPLES_LIMIT)
        } else {
            scanned.files.push(path);
            continue;
        };
        if *count < limit
            && let Some(text) = read(entry.path())
        {
            *count += 1;
            scanned.texts.insert(path.clone(), text);
        }
        scanned.files.push(path);
    }
    scanned.files.sort();
    Ok(scanned)
}

/// Reads a file small enough to be written by hand; `None` for anything else.
fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(TEXT_LIMIT_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}
