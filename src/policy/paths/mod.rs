//! Protected paths: what no rule opens by a wildcard, neither for edits (automation, agents, git)
//! nor for reading (credentials).
//!
//! In: a path of the repository. Out: why it is protected. The lists are data under `config/`.
//! Names are compared as the most careless disk would: without case, without invisible characters,
//! without endings that some systems drop.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::glob::{LetterCase, PathGlob};
use locum_base::path::RepoPath;
use locum_base::secret::view;

const PROTECTED: &str = include_str!("../../../config/protected_paths.txt");
const SECRET: &str = include_str!("../../../config/secret_paths.txt");

static EDITS: LazyLock<ProtectedPaths> = LazyLock::new(|| ProtectedPaths::read(PROTECTED));
static READS: LazyLock<ProtectedPaths> = LazyLock::new(|| ProtectedPaths::read(SECRET));

/// The protected paths, whose lists are read once for the whole process.
#[derive(Clone, Copy, Debug)]
pub struct Protection {
    edits: &'static ProtectedPaths,
    reads: &'static ProtectedPaths,
}

impl Default for Protection {
    fn default() -> Self {
        Self { edits: &EDITS, reads: &READS }
    }
}

impl Protection {
    /// Returns why a path is protected from edits, or `None`.
    pub fn of_edit(&self, path: &RepoPath) -> Option<&'static str> {
        if path.as_str().chars().any(deceives) {
            return Some("its name holds characters that nobody sees or that turn others around");
        }
        let plain = plain_spelling(path)?;
        let mut parts = plain.parts();
        let first = parts.next();
        if first.is_some_and(|name| name.starts_with('.')) && parts.next().is_some() {
            return Some(
                self.edits.find(&plain).unwrap_or(
                    "lies in a top-level folder that tools read their configuration from",
                ),
            );
        }
        self.edits.find(&plain)
    }

    /// Returns the patterns of what is protected from reading.
    pub fn unread(&self) -> impl Iterator<Item = &PathGlob> {
        self.reads.list.iter().map(|(glob, _)| glob)
    }

    /// Returns the patterns of what is protected from edits, besides folders at the top whose names
    /// begin with a dot.
    pub fn unedited(&self) -> impl Iterator<Item = &PathGlob> {
        self.edits.list.iter().map(|(glob, _)| glob)
    }

    /// Returns why a path is protected from reading, or `None`.
    pub fn of_read(&self, path: &RepoPath) -> Option<&'static str> {
        self.reads.find(&plain_spelling(path)?)
    }
}

/// Files at the top of a folder of git's that hold names, commits and messages, and no text of
/// other files; in lower case. Not among them: `COMMIT_EDITMSG`, where `git commit -v` leaves a
/// diff.
const ADMINISTRATION: &[&str] = &[
    "bisect_log",
    "cherry_pick_head",
    "commondir",
    "description",
    "fetch_head",
    "gitdir",
    "head",
    // Names and hashes alone.
    "index",
    "index.lock",
    "locked",
    "merge_head",
    "merge_mode",
    "merge_msg",
    "orig_head",
    "packed-refs",
    "rebase_head",
    "revert_head",
    "shallow",
    "squash_msg",
];

/// Kinds of refs, which are folders below `refs`, and the stash.
const REFS: &[&str] =
    &["bisect", "heads", "notes", "original", "pull", "remotes", "replace", "stash", "tags"];

/// Returns why a file of git's own folder is not read as such, or `None`: unless it is known for
/// administration, it may hold the text of a file that may not be read. Git itself reads them all.
pub(crate) fn of_store(path: &RepoPath) -> Option<&'static str> {
    let plain = plain_spelling(path)?;
    let mut parts = plain.parts().skip_while(|part| *part != ".git");
    parts.next()?;
    let below: Vec<&str> = parts.collect();
    (!below.is_empty() && !is_administration(&below))
        .then_some("git may keep the text of files there, also of hidden ones; ask `git show`")
}

/// Whether a path below a folder of git's is known to hold no text of other files.
fn is_administration(below: &[&str]) -> bool {
    match below {
        ["refs" | "logs" | "hooks", ..] => true,
        ["modules", module @ ..] => is_administration_of_module(module),
        ["worktrees", _name, of_worktree @ ..] => is_administration(of_worktree),
        of_any => is_administration_anywhere(of_any),
    }
}

/// The same below `modules`. The name of a submodule may have several parts and look like what git
/// has in its folder, so a folder counts only with what git is known to have in it.
fn is_administration_of_module(module: &[&str]) -> bool {
    (1..module.len()).filter_map(|at| module.get(at..)).any(|below| match below {
        ["logs", "head"] => true,
        ["refs", kind, ..] | ["logs", "refs", kind, ..] => REFS.contains(kind),
        of_any => is_administration_anywhere(of_any),
    })
}

fn is_administration_anywhere(below: &[&str]) -> bool {
    match below {
        ["info"] | ["info", "attributes" | "exclude"] => true,
        [file] => ADMINISTRATION.contains(file),
        _ => false,
    }
}

/// Returns why a path is protected from edits whatever the rules say, or `None`.
pub fn protected(path: &RepoPath) -> Option<&'static str> {
    Protection::default().of_edit(path)
}

/// Patterns in the order they are written, each with the reason; found by a name where a pattern
/// is little more than a name, since every path of a checkout is asked about.
#[derive(Debug, Default)]
struct ProtectedPaths {
    list: Vec<(PathGlob, &'static str)>,
    /// `**/NAME/**` by its name, in lower case: its place in the list.
    folders: HashMap<String, usize>,
    /// `**/NAME` by its name, in lower case.
    names: HashMap<String, usize>,
    /// The places of all others.
    others: Vec<usize>,
}

impl ProtectedPaths {
    fn read(text: &'static str) -> Self {
        let mut paths = Self { list: read_list(text), ..Self::default() };
        for (at, (glob, _)) in paths.list.iter().enumerate() {
            let plain = |part: &String| !part.contains(['*', '?']);
            let known = match glob.parts() {
                [any, name, below] if any == "**" && below == "**" && plain(name) => {
                    Some((&mut paths.folders, name))
                }
                [any, name] if any == "**" && plain(name) => Some((&mut paths.names, name)),
                _ => None,
            };
            match known {
                Some((names, name)) => {
                    names.entry(name.to_lowercase()).or_insert(at);
                }
                None => paths.others.push(at),
            }
        }
        paths
    }

    /// Returns the reason of the first pattern that matches a path of plain spelling.
    fn find(&self, path: &RepoPath) -> Option<&'static str> {
        let folders = path.parts().filter_map(|part| self.folders.get(part));
        let name = path.parts().last().and_then(|name| self.names.get(name));
        let matches = |at: &&usize| {
            self.list.get(**at).is_some_and(|(glob, _)| glob.matches(path, LetterCase::Ignored))
        };
        let other = self.others.iter().find(matches);
        let first = folders.chain(name).chain(other).min()?;
        self.list.get(*first).map(|(_, reason)| *reason)
    }
}

fn read_list(text: &'static str) -> Vec<(PathGlob, &'static str)> {
    let mut reason = "";
    let mut list = Vec::new();
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(next) => reason = next,
            None => list.extend(PathGlob::parse(line).ok().map(|glob| (glob, reason))),
        }
    }
    list
}

/// Returns the path as a disk that ignores case, invisible characters, stream names, and trailing
/// dots and blanks, and to which a backslash ends the name of a folder, would see it.
pub fn plain_spelling(path: &RepoPath) -> Option<RepoPath> {
    if is_plain(path) {
        return Some(path.clone());
    }
    let mut parts: Vec<String> = Vec::new();
    for part in path.parts().flat_map(|part| part.split('\\')) {
        match part {
            ".." => drop(parts.pop()),
            part => parts.extend(Some(plain_name(part)).filter(|name| !name.is_empty())),
        }
    }
    if parts.is_empty() { Some(RepoPath::root()) } else { RepoPath::parse(&parts.join("/")).ok() }
}

/// Whether a path is its own plain spelling, at a glance.
fn is_plain(path: &RepoPath) -> bool {
    let plain = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/');
    path.as_str().bytes().all(plain) && path.parts().all(|part| !part.ends_with('.'))
}

fn plain_name(part: &str) -> String {
    let visible: String =
        part.chars().filter(|letter| !is_invisible(*letter)).map(narrow).collect();
    let folded = visible.to_uppercase().to_lowercase();
    let stream = folded.split(':').next().unwrap_or_default();
    let name = stream.trim_end_matches(['.', ' ']).to_owned();
    match name.as_str() {
        "git~1" | "git~2" => ".git".to_owned(),
        "github~1" => ".github".to_owned(),
        "locum~1" => ".locum".to_owned(),
        "gitmod~1" | "gitmod~2" | "gitmod~3" | "gitmod~4" => ".gitmodules".to_owned(),
        _ if name.starts_with("gi7eba~") => ".gitmodules".to_owned(),
        _ if name.starts_with("gi7d29~") || name.starts_with("gitatt~") => {
            ".gitattributes".to_owned()
        }
        _ => name,
    }
}

/// Brings full-width letters and look-alike full stops to their plain form.
fn narrow(letter: char) -> char {
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        '\u{2024}' | '\u{fe52}' | '\u{3002}' => '.',
        letter => letter,
    }
}

/// Returns true for invisible characters that no script and no emoji needs in a name.
fn deceives(letter: char) -> bool {
    view::is_invisible(letter) && !matches!(letter, '\u{200c}' | '\u{200d}')
}

/// Returns true for characters that show nothing: joiners, direction marks, fillers, byte order
/// marks, tags, and the sign that turns the letter before it into an emoji.
pub fn is_invisible(letter: char) -> bool {
    letter == '\u{fe0f}' || view::is_invisible(letter)
}

#[cfg(test)]
mod tests;
