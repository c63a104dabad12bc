//! `CommandEnv`: what the environment of a command gets from the sandbox: a home and a temporary
//! folder of its own, and where the tools of the real home are.
//!
//! In: the environment of this program, and a private folder. Out: variables, over those that the
//! policy passes on (`env`).

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::caches;

/// What the environment of one command gets.
pub(crate) struct CommandEnv {
    /// Variables it gets besides its own.
    pub(crate) variables: BTreeMap<String, String>,
    /// Whether what it writes goes to a layer, which takes the caches of tools as well.
    pub(crate) is_layered: bool,
    /// Root of the checkout, as an absolute path.
    pub(crate) root: String,
}

/// Variables that name a folder of tools, and where it lies in a home when they are not set.
pub(crate) const TOOL_HOMES: &[(&str, &str)] = &[
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("VOLTA_HOME", ".volta"),
    ("COREPACK_HOME", ".cache/node/corepack"),
    ("GOMODCACHE", "go/pkg/mod"),
    ("PYTHONUSERBASE", ".local"),
];

impl CommandEnv {
    /// Changes an environment to that of a command.
    pub(crate) fn adapt(&self, env: &mut BTreeMap<String, String>) {
        env.extend(self.variables.clone());
        if let Some(temporary) = env.get("TMPDIR").filter(|_| !self.is_layered).cloned() {
            caches::lead_to(&temporary, env);
        }
        // Git refuses a folder of another owner, as a container's often is, unless a setting allows
        // it. This comes after settings that already exist.
        let count =
            env.get("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        env.insert(format!("GIT_CONFIG_KEY_{count}"), "safe.directory".to_owned());
        env.insert(format!("GIT_CONFIG_VALUE_{count}"), self.root.clone());
        env.insert("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string());
    }
}

/// Makes the folders that the variables lead to.
///
/// # Errors
/// When one cannot be made.
pub(crate) fn make_folders(own: &Path) -> io::Result<()> {
    std::fs::create_dir(home_in(own))?;
    std::fs::create_dir(temporary_in(own))
}

/// Returns the variables that lead programs to a home and a temporary folder of their own in `own`,
/// and to the tools of the real home.
pub(crate) fn variables(env: &BTreeMap<String, String>, own: &Path) -> BTreeMap<String, String> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut found = BTreeMap::from([
        ("HOME".to_owned(), text(home_in(own))),
        ("TMPDIR".to_owned(), text(temporary_in(own))),
        ("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()),
    ]);
    let home = folder(env, "HOME");
    for (name, place) in TOOL_HOMES {
        let standard = || home.as_ref().map(|home| home.join(place)).filter(|path| path.is_dir());
        found.extend(
            folder(env, name).or_else(standard).map(|path| ((*name).to_owned(), text(path))),
        );
    }
    found.extend(cargo_home(env).map(|path| ("CARGO_HOME".to_owned(), text(path))));
    found
}

/// Returns the home that commands get.
pub(crate) fn home_in(own: &Path) -> PathBuf {
    own.join("home")
}

/// Returns the temporary folder that commands get.
pub(crate) fn temporary_in(own: &Path) -> PathBuf {
    own.join("tmp")
}

/// Returns cargo's own folder, where there is one.
pub(crate) fn cargo_home(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    folder(env, "CARGO_HOME")
        .or_else(|| folder(env, "HOME").map(|home| home.join(".cargo")))
        .filter(|path| path.is_dir())
}

/// Returns the folder that a variable names, which is not the root.
pub(crate) fn folder(env: &BTreeMap<String, String>, name: &str) -> Option<PathBuf> {
    env.get(name).map(PathBuf::from).filter(|path| path.is_absolute() && path.parent().is_some())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::variables;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_home_of_commands_is_their_own() {
        let found = variables(
            &env(&[("HOME", "/home/me"), ("RUSTUP_HOME", "/tools/rustup")]),
            Path::new("/own"),
        );
        assert_eq!(found.get("HOME").map(String::as_str), Some("/own/home"));
        assert_eq!(found.get("RUSTUP_HOME").map(String::as_str), Some("/tools/rustup"));
    }
}
