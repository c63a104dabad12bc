//! Which folders of a repository hold source, texts, or files that are not edited by hand.
//!
//! In: its paths and manifests. Out: patterns with why, and one path of each kind as an example.

use std::collections::{BTreeMap, BTreeSet};

use crate::glob::LetterCase;
use crate::intent::Intent;
use crate::paths::Protection;
use crate::pattern::Pattern;
use crate::starter::commands::{LOCKS, MANIFESTS};
use crate::starter::scan::{ProposedLine, at, split};
use crate::words;
use locum_base::path::RepoPath;

/// Folders that are not edited by hand.
pub(super) const CLOSED: &str = "\
    vendor third_party third-party node_modules generated __generated__ gen dist build out \
    target coverage Pods site-packages bower_components";
/// Endings of files that programs write.
const WRITTEN_BY_PROGRAMS: &[&str] = &[
    ".pb.go",
    "_pb2.py",
    "_pb2_grpc.py",
    ".g.dart",
    ".generated.ts",
    ".generated.go",
    ".min.js",
    ".min.css",
];
/// Languages by the endings of their files.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("Rust", &["rs"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"]),
    ("Vue", &["vue"]),
    ("Svelte", &["svelte"]),
    ("styles", &["css", "scss", "sass", "less"]),
    ("HTML", &["html"]),
    ("Python", &["py", "pyi"]),
    ("Go", &["go"]),
    ("Java", &["java"]),
    ("Kotlin", &["kt", "kts"]),
    ("Scala", &["scala"]),
    ("Ruby", &["rb"]),
    ("PHP", &["php"]),
    ("C#", &["cs"]),
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "hh", "hpp"]),
    ("Swift", &["swift"]),
    ("Elixir", &["ex", "exs"]),
    ("Haskell", &["hs"]),
    ("OCaml", &["ml", "mli"]),
    ("Zig", &["zig"]),
    ("Lua", &["lua"]),
    ("SQL", &["sql"]),
    ("shell", &["sh", "bash"]),
    ("protocol buffers", &["proto"]),
];
/// Endings of texts.
const TEXTS: &[&str] = &["md", "rst", "adoc", "mdx"];
/// How names of top-level texts begin that may be edited, in any letter case: what a change has to
/// be written down in, and what everybody may read first.
const TOP_TEXTS: &[&str] = &[
    "readme",
    "changelog",
    "changes",
    "history",
    "news",
    "release",
    "upgrad",
    "migrat",
    "contributing",
    "contributors",
    "authors",
];
/// Folders of texts.
const TEXT_FOLDERS: &[&str] = &[
    "docs",
    "doc",
    "documentation",
    "guide",
    "changelog",
    "changelog.d",
    "changes",
    "news",
    "newsfragments",
];
/// Number of sibling folders from which one pattern replaces theirs.
const SIBLINGS: usize = 3;
/// Most patterns of one kind; a repository with more needs a maintainer's hand.
const MOST: usize = 40;
/// Most patterns of sources that are compared with each other.
const COMPARED: usize = 4 * MOST;

/// Folders and files by what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScannedFolders {
    /// Edits of source.
    pub(super) sources: Vec<ProposedLine>,
    /// Globs of sources that stay closed, as there are too many.
    pub(super) unopened: Vec<String>,
    /// Edits of texts.
    pub(super) texts: Vec<ProposedLine>,
    /// Edits that need approval.
    pub(super) manifests: Vec<ProposedLine>,
    /// Edits that wait for the owners of the files.
    pub(super) owned: Vec<ProposedLine>,
    /// Edits of what programs write.
    pub(super) closed: Vec<ProposedLine>,
    /// Files that may be edited.
    candidates: Vec<RepoPath>,
    /// One of them.
    pub(super) example: Option<RepoPath>,
    /// A file that may not.
    pub(super) closed_example: Option<RepoPath>,
}

impl ScannedFolders {
    /// Leaves only what some globs name to be edited, where there are any.
    pub(super) fn restricted(mut self, globs: &[String]) -> Self {
        if globs.is_empty() {
            return self;
        }
        let chosen = |glob: &String| ProposedLine::new(format!("edit({glob})"), "");
        self.sources = globs.iter().filter_map(chosen).collect();
        self.unopened.clear();
        self.texts.clear();
        let allowed =
            |path: &RepoPath| self.sources.iter().any(|line| covers(line, path, LetterCase::Exact));
        self.candidates.retain(allowed);
        self.example = self.candidates.first().cloned();
        self
    }

    /// Lets edits wait for the owners of files, and names an example of what needs none.
    pub(super) fn hold_owned(&mut self, owned: Vec<ProposedLine>) {
        self.owned = owned;
        self.owned.retain(|line| !line.is_covered(&self.manifests));
        self.owned.retain(|line| !line.is_covered(&self.closed));
        let owned = &self.owned;
        self.candidates
            .retain(|path| !owned.iter().any(|line| covers(line, path, LetterCase::Ignored)));
        self.example = self.candidates.first().cloned();
    }
}

/// A folder and its place in a package: `packages/app` and `src`.
type PackageFolder = (String, String);

/// Whether a file at the top is a text that a change may have to be written down in.
fn is_top_text(name: &str, ending: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    (TEXTS.contains(&ending) || ["", "txt"].contains(&ending))
        && TOP_TEXTS.iter().any(|begin| lower.starts_with(begin))
}

/// Sorts a repository's files.
pub(super) fn find(files: &[RepoPath], texts: &BTreeMap<RepoPath, String>) -> ScannedFolders {
    let protection = Protection::default();
    let packages: BTreeSet<&str> = files
        .iter()
        .map(split)
        .filter(|(_, name)| words::holds(MANIFESTS, name))
        .map(|(folder, _)| folder)
        .collect();
    let mut sources: BTreeMap<PackageFolder, BTreeSet<&str>> = BTreeMap::new();
    let mut found = ScannedFolders::default();
    let mut closed: BTreeSet<String> = BTreeSet::new();
    let mut written: BTreeSet<&str> = BTreeSet::new();
    let mut text_folders: BTreeSet<String> = BTreeSet::new();
    let mut manifests: BTreeSet<&str> = BTreeSet::new();
    let mut candidates: Vec<&RepoPath> = Vec::new();
    for path in files.iter().filter(|path| protection.of_edit(path).is_none() && is_plain(path)) {
        if let Some(folder) = closed_folder(path, texts) {
            closed.insert(folder);
            found.closed_example.get_or_insert_with(|| path.clone());
            continue;
        }
        let (folder, name) = split(path);
        if let Some(ending) = WRITTEN_BY_PROGRAMS.iter().find(|ending| name.ends_with(**ending)) {
            written.insert(ending);
            found.closed_example.get_or_insert_with(|| path.clone());
            continue;
        }
        // A change of dependencies is one of both files.
        let is_lock = words::holds(LOCKS, name) && packages.contains(folder);
        if is_lock || commands_manifest(name) {
            manifests.insert(path.as_str());
            continue;
        }
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if let Some((language, _)) = LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending))
        {
            sources.entry(spot(folder, ending, &packages)).or_default().insert(language);
            candidates.push(path);
        } else if folder.is_empty() && is_top_text(name, ending) {
            text_folders.insert(name.to_owned());
        } else if TEXTS.contains(&ending) {
            let first = path.parts().next().unwrap_or_default();
            if !folder.is_empty() && TEXT_FOLDERS.contains(&first) {
                text_folders.insert(format!("{first}/**"));
            }
        }
    }
    found.sources = source_lines(&sources, SharedBelow::Folders);
    if found.sources.len() > MOST {
        found.sources = source_lines(&sources, SharedBelow::Top);
    }
    let beyond = found.sources.split_off(found.sources.len().min(COMPARED));
    let source_patterns: BTreeSet<&str> =
        found.sources.iter().map(|line| line.pattern.as_str()).collect();
    found.texts = text_folders
        .iter()
        .map(|glob| format!("edit({glob})"))
        .filter(|pattern| !source_patterns.contains(pattern.as_str()))
        .filter_map(|pattern| ProposedLine::new(pattern, ""))
        .take(MOST)
        .collect();
    found.manifests = manifest_lines(&manifests);
    found.closed = closed_lines(&closed, &written, texts);
    for lines in [&mut found.sources, &mut found.texts, &mut found.manifests] {
        lines.retain(|line| {
            !found.closed.iter().any(|closed| closed.pattern == line.pattern)
                && !line.is_covered(&found.closed)
        });
    }
    let sources = found.sources.clone();
    found.sources.retain(|line| !line.is_covered(&sources));
    let mut rest = found.sources.split_off(found.sources.len().min(MOST));
    rest.extend(beyond);
    found.unopened = rest.iter().filter_map(ProposedLine::edited).map(str::to_owned).collect();
    let covered = |lines: &[ProposedLine], path: &RepoPath, case: LetterCase| {
        lines.iter().any(|line| covers(line, path, case))
    };
    let refused = |path: &RepoPath| {
        covered(&found.closed, path, LetterCase::Ignored)
            || covered(&found.manifests, path, LetterCase::Ignored)
    };
    found.candidates = candidates
        .into_iter()
        .filter(|path| covered(&found.sources, path, LetterCase::Exact) && !refused(path))
        .cloned()
        .collect();
    found.example = found.candidates.first().cloned();
    found.closed_example =
        found.closed_example.filter(|path| covered(&found.closed, path, LetterCase::Ignored));
    found
}

fn covers(line: &ProposedLine, path: &RepoPath, case: LetterCase) -> bool {
    Pattern::parse(&line.pattern)
        .is_ok_and(|pattern| pattern.matches(&Intent::Edit(path.clone()), case))
}

/// Names with letters that mean something in a pattern are left to the maintainer.
fn is_plain(path: &RepoPath) -> bool {
    !path.as_str().contains(['*', '?', '[', ']', '{', '}', '(', ')', '"', '\\', '#'])
        && !path.as_str().chars().any(char::is_control)
}

fn commands_manifest(name: &str) -> bool {
    words::holds(MANIFESTS, name)
        && !name.ends_with("rc")
        && name != "Makefile"
        && name != "justfile"
}

/// Returns the folder of a path, up to and with the first that is not edited by hand.
fn closed_folder(path: &RepoPath, texts: &BTreeMap<RepoPath, String>) -> Option<String> {
    let (folder, _) = split(path);
    let parts: Vec<&str> = folder.split('/').collect();
    let at = parts.iter().position(|part| words::holds(CLOSED, part))?;
    let folder = parts.get(..=at)?.join("/");
    // Programs do not write to a package of its own, whatever its name.
    let is_package = MANIFESTS.split_ascii_whitespace().any(|name| {
        RepoPath::parse(&format!("{folder}/{name}")).is_ok_and(|path| texts.contains_key(&path))
    });
    (!is_package || parts.get(at) == Some(&"vendor")).then_some(folder)
}

/// Returns where a source file lies: its package, and the first folder below; for a file beside the
/// manifest, a pattern of its ending.
fn spot(folder: &str, ending: &str, packages: &BTreeSet<&str>) -> PackageFolder {
    let mut package = folder;
    while !packages.contains(package) && !package.is_empty() {
        package = package.rsplit_once('/').map_or("", |(above, _)| above);
    }
    let below = folder.strip_prefix(package).unwrap_or(folder).trim_start_matches('/');
    let first = below.split('/').next().unwrap_or_default();
    let inside = if first.is_empty() { format!("*.{ending}") } else { format!("{first}/**") };
    (package.to_owned(), inside)
}

/// Where packages side by side share a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SharedBelow {
    /// Below folders alone: one at the top opens folders that are not there yet, too.
    Folders,
    /// At the top as well.
    Top,
}

/// One pattern a folder; where many packages lie side by side, one for all of them.
fn source_lines(
    sources: &BTreeMap<PackageFolder, BTreeSet<&str>>,
    shared: SharedBelow,
) -> Vec<ProposedLine> {
    let above = |package: &str| match package.rsplit_once('/') {
        Some((above, _)) => Some(above.to_owned()),
        None => (shared == SharedBelow::Top && !package.is_empty()).then(String::new),
    };
    let mut siblings: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
    for (package, inside) in sources.keys() {
        if let Some(above) = above(package) {
            siblings.entry((above, inside)).or_default().insert(package);
        }
    }
    let mut lines: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for ((package, inside), languages) in sources {
        let shared = above(package).filter(|above| {
            siblings.get(&(above.clone(), inside.as_str())).is_some_and(|all| all.len() >= SIBLINGS)
        });
        let glob = match shared {
            Some(above) => at(&at(&above, "*"), inside),
            None => at(package, inside),
        };
        lines.entry(glob).or_default().extend(languages);
    }
    let line = |(glob, languages): (String, BTreeSet<&str>)| {
        ProposedLine::new(
            format!("edit({glob})"),
            languages.into_iter().collect::<Vec<_>>().join(", "),
        )
    };
    lines.into_iter().filter_map(line).collect()
}

fn manifest_lines(manifests: &BTreeSet<&str>) -> Vec<ProposedLine> {
    let mut globs: BTreeSet<String> = BTreeSet::new();
    for path in manifests {
        let name = path.rsplit_once('/').map_or(*path, |(_, name)| name);
        let nested = manifests.iter().filter(|other| other.ends_with(&format!("/{name}"))).count();
        globs.insert(if nested > 0 { format!("**/{name}") } else { (*path).to_owned() });
    }
    globs
        .into_iter()
        .filter_map(|glob| ProposedLine::new(format!("edit({glob})"), ""))
        .take(MOST)
        .collect()
}

fn closed_lines(
    closed: &BTreeSet<String>,
    written: &BTreeSet<&str>,
    texts: &BTreeMap<RepoPath, String>,
) -> Vec<ProposedLine> {
    let mut lines: Vec<ProposedLine> = closed
        .iter()
        .filter_map(|folder| ProposedLine::new(format!("edit({folder}/**)"), ""))
        .take(MOST)
        .collect();
    lines.extend(
        written.iter().filter_map(|ending| ProposedLine::new(format!("edit(**/*{ending})"), "")),
    );
    let attributes = RepoPath::parse(".gitattributes")
        .ok()
        .and_then(|path| texts.get(&path))
        .map_or("", String::as_str);
    for line in attributes.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut words = line.split_whitespace();
        let Some(glob) = words.next() else { continue };
        let marked = words.any(|word| {
            matches!(
                word,
                "linguist-generated"
                    | "linguist-generated=true"
                    | "linguist-vendored"
                    | "linguist-vendored=true"
            )
        });
        if marked && !glob.contains(['[', ']', '"', '(', ')']) {
            let glob = glob.trim_start_matches('/');
            let glob = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
            lines.extend(ProposedLine::new(format!("edit({glob})"), "marked in .gitattributes"));
        }
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.pattern.clone()));
    lines.truncate(MOST);
    lines
}
