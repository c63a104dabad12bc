//! Looks up the place a run works in, for its prompts: what lies at the root of the commit it
//! begins with, as far as the policy lets it be read, its branch, and which programs are missing.
//!
//! In: the repository, the policy, the environment of commands. Out: a [`RunPlace`]. What cannot be
//! found out is left out: no run fails for it.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;

use locum_modes::prompts::place::{ENTRIES_LIMIT, MISSING_LIMIT, RunPlace};
use locum_policy::Policy;
use locum_policy::intent::{Facts, Intent};
use locum_policy::verdict::Decision;
use locum_sandbox::programs;
use locum_workspace::repo::{CommitId, Repo};

/// Folders in which package managers put the programs of a repository.
const TOOL_FOLDERS: &[&str] = &[".venv/bin", "venv/bin", "node_modules/.bin", "vendor/bin"];

/// Looks a place up; the day is known only when the run begins.
pub fn look(
    root: &Path,
    (repo, commit): (&Repo, &CommitId),
    (policy, facts): (&Policy, &Facts),
    env: &BTreeMap<String, String>,
) -> RunPlace {
    let entries = repo.root_entries(commit).unwrap_or_default();
    let may_be_read = |path: &locum_base::path::RepoPath| {
        policy.decide(&Intent::Read(path.clone()), facts).decision == Decision::Allow
    };
    let mut entries: Vec<String> = entries
        .into_iter()
        .filter(|(path, _)| may_be_read(path))
        .map(|(path, is_folder)| format!("{path}{}", if is_folder { "/" } else { "" }))
        .collect();
    let more = entries.len().saturating_sub(ENTRIES_LIMIT);
    entries.truncate(ENTRIES_LIMIT);
    let tools: Vec<String> = TOOL_FOLDERS
        .iter()
        .filter(|folder| root.join(folder).is_dir())
        .map(|folder| (*folder).to_owned())
        .collect();
    let mut missing = programs::missing(env, &policy.programs());
    missing.retain(|name| !tools.iter().any(|folder| root.join(folder).join(name).is_file()));
    missing.truncate(MISSING_LIMIT);
    RunPlace { date: String::new(), branch: repo.branch(), entries, more, tools, missing }
}

/// Returns the place with the day on it.
pub fn dated(place: RunPlace, now: Timestamp) -> RunPlace {
    RunPlace { date: now.strftime("%Y-%m-%d").to_string(), ..place }
}
