//! Folders in which tools keep what they found out the last time. Their names begin with a dot, so
//! they are protected like every such folder; tools fail where they exist and cannot be written.
//!
//! In: paths of a checkout. Out: whether a layer may take what is written there, from where it
//! never reaches the checkout. Where there is no layer, tools are told to keep theirs elsewhere.

use std::collections::BTreeMap;

use locum_base::path::RepoPath;

/// Folders in a checkout's root. None holds what another program runs or obeys.
const FOLDERS: &[&str] = &[
    ".angular",
    ".cache",
    ".dart_tool",
    ".gradle",
    ".hypothesis",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".phpunit.cache",
    ".pytest_cache",
    ".ruff_cache",
    ".stack-work",
    ".svelte-kit",
    ".turbo",
];

/// Returns true for such a folder and everything in it.
pub(crate) fn holds(path: &RepoPath) -> bool {
    path.parts().next().is_some_and(|first| FOLDERS.contains(&first))
}

/// Leads the caches of tools to a folder for temporary files; what is set already stays.
pub(crate) fn lead_to(temporary: &str, env: &mut BTreeMap<String, String>) {
    for (name, value) in [
        ("PYTEST_ADDOPTS", format!("-o cache_dir={temporary}/pytest_cache")),
        ("MYPY_CACHE_DIR", format!("{temporary}/mypy_cache")),
        ("RUFF_CACHE_DIR", format!("{temporary}/ruff_cache")),
        ("HYPOTHESIS_STORAGE_DIRECTORY", format!("{temporary}/hypothesis")),
    ] {
        env.entry(name.to_owned()).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{holds, lead_to};
    use locum_base::path::RepoPath;

    #[test]
    fn knows_caches_in_the_root_alone() {
        let holds = |path: &str| holds(&RepoPath::parse(path).unwrap());
        for path in [".pytest_cache", ".pytest_cache/v/cache/nodeids", ".mypy_cache/3.11"] {
            assert!(holds(path), "{path}");
        }
        for path in [".git", ".github/workflows/ci.yml", ".venv/bin/python", "src/.pytest_cache"] {
            assert!(!holds(path), "{path}");
        }
    }

    #[test]
    fn what_the_policy_passes_on_stays_as_it_is() {
        let mut env = BTreeMap::from([("PYTEST_ADDOPTS".to_owned(), "-x".to_owned())]);
        lead_to("/t", &mut env);
        assert_eq!(env["PYTEST_ADDOPTS"], "-x");
        assert_eq!(env["MYPY_CACHE_DIR"], "/t/mypy_cache");
    }
}
