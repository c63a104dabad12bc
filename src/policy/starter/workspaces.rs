//! Folders below the top of a repository as repositories of their own, and workspaces: folders
//! whose packages share one lock file, so that their dependencies are installed in one place.
//!
//! In: a repository scan and a folder. Out: the scan of that folder, or the folder of its
//! workspace.

use serde_json::Value as Json;

use crate::glob::{LetterCase, PathGlob};
use crate::starter::proof::ToolChain;
use crate::starter::scan::{StarterScan, has, text};
use crate::words;
use locum_base::path::RepoPath;
use locum_files::yaml::{YamlDocument, YamlNode};

/// Lock files of Node.
pub(super) const NODE_LOCKS: &str =
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb";

/// Returns what lies in a folder, by paths from there. The lock file of its workspace counts as its
/// own.
pub(super) fn scan_of(scan: &StarterScan, folder: &str) -> StarterScan {
    let within = |path: &RepoPath| {
        let rest = path.as_str().strip_prefix(folder)?.strip_prefix('/')?;
        RepoPath::parse(rest).ok()
    };
    let mut own = StarterScan {
        files: scan.files.iter().filter_map(within).collect(),
        texts: scan
            .texts
            .iter()
            .filter_map(|(path, text)| Some((within(path)?, text.clone())))
            .collect(),
        modes: Vec::new(),
    };
    for (chain, locks) in
        [(ToolChain::Node, NODE_LOCKS), (ToolChain::Python, "uv.lock"), (ToolChain::Rust, LOCK)]
    {
        let home = home(scan, folder, chain);
        if home != folder {
            let shared = locks.split_ascii_whitespace().filter(|lock| has(scan, &home, lock));
            own.files.extend(shared.filter_map(|lock| RepoPath::parse(lock).ok()));
        }
    }
    own.files.sort();
    own.files.dedup();
    own
}

/// The lock file of Cargo.
const LOCK: &str = "Cargo.lock";

/// Returns where what a package depends on is installed: its folder, or that of its workspace.
pub(super) fn home(scan: &StarterScan, folder: &str, chain: ToolChain) -> String {
    let workspace = match chain {
        ToolChain::Node => of_node(scan, folder),
        ToolChain::Python => of_table(scan, folder, ("pyproject.toml", "[tool.uv.workspace]")),
        ToolChain::Rust => of_table(scan, folder, ("Cargo.toml", "[workspace]")),
        _ => None,
    };
    workspace.unwrap_or_else(|| folder.to_owned())
}

/// Returns the folder of the Node workspace that a package is a member of.
pub(super) fn of_node(scan: &StarterScan, folder: &str) -> Option<String> {
    if NODE_LOCKS.split_ascii_whitespace().any(|lock| has(scan, folder, lock)) {
        return None;
    }
    above(folder).find(|above| is_member(&members(scan, above), above, folder)).map(str::to_owned)
}

/// Whether the globs of a workspace name a folder below it.
fn is_member(globs: &[String], above: &str, folder: &str) -> bool {
    let below = folder.strip_prefix(above).unwrap_or(folder).trim_start_matches('/');
    let Ok(path) = RepoPath::parse(below) else { return false };
    let fits = |glob: &str| {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        PathGlob::parse(glob).is_ok_and(|glob| glob.matches(&path, LetterCase::Exact))
    };
    let (left_out, named): (Vec<&String>, Vec<&String>) =
        globs.iter().partition(|glob| glob.starts_with('!'));
    named.iter().any(|glob| fits(glob))
        && !left_out.iter().any(|glob| fits(glob.trim_start_matches('!')))
}

/// Returns the globs of the packages of the workspace in a folder; none where it is no workspace.
fn members(scan: &StarterScan, folder: &str) -> Vec<String> {
    let package = text(scan, folder, "package.json").unwrap_or_default();
    let package = serde_json::from_str::<Json>(package).unwrap_or_default();
    let listed = package.get("workspaces");
    let listed = listed.map(|list| list.get("packages").unwrap_or(list)).and_then(Json::as_array);
    let mut globs: Vec<String> =
        listed.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
    let pnpm = text(scan, folder, "pnpm-workspace.yaml").map(YamlDocument::parse);
    let listed = pnpm.as_ref().and_then(|document| document.root.as_ref()?.get("packages")?.list());
    globs.extend(listed.into_iter().flatten().filter_map(YamlNode::text).map(str::to_owned));
    globs
}

/// Returns the next folder above whose manifest has a table of a workspace.
fn of_table(scan: &StarterScan, folder: &str, (name, table): (&str, &str)) -> Option<String> {
    let has_table = |folder: &str| {
        text(scan, folder, name)
            .is_some_and(|text| text.lines().any(|line| line.trim_start().starts_with(table)))
    };
    if has_table(folder) {
        return None;
    }
    above(folder).find(|above| has_table(above)).map(str::to_owned)
}

/// The folders above one, the nearest first; the last is the top.
pub(super) fn above(folder: &str) -> impl Iterator<Item = &str> {
    let ends = folder.rmatch_indices('/').filter_map(|(end, _)| folder.get(..end));
    ends.chain((!folder.is_empty()).then_some(""))
}

/// Returns true for a file whose text names the packages of a workspace.
pub(super) fn is_read(name: &str) -> bool {
    words::holds("pnpm-workspace.yaml", name)
}
