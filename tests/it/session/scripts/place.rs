//! Checkouts that scripts run in: one for Locum, and one beside it for a plain shell.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use locum_testing::repository::{commit_all, init};

use super::generate::{self, CANARY, GUARDED, HIDDEN};
use crate::commands::generate::Dice;

/// What a path is, as far as git keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    File { content: Vec<u8>, executable: bool },
    Link(PathBuf),
    Other,
}

impl Entry {
    /// Reads a regular file.
    pub(crate) fn read(at: &Path) -> Self {
        let executable =
            fs::metadata(at).is_ok_and(|facts| facts.permissions().mode() & 0o100 != 0);
        Self::File { content: fs::read(at).unwrap_or_default(), executable }
    }
}

/// Every path below a folder that is no folder.
pub(crate) type Tree = BTreeMap<PathBuf, Entry>;

/// A folder with a checkout, what lies outside of it, and room for a plain shell.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Makes a checkout with files of every kind, all in one commit besides what git ignores.
    pub(crate) fn new(dice: &mut Dice, scripts: &[String]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let checkout = place.checkout();
        let mut files: Vec<(String, String)> = generate::tree(dice);
        files.extend(GUARDED.iter().map(|(path, text)| ((*path).into(), (*text).into())));
        files.extend(HIDDEN.iter().map(|path| ((*path).into(), format!("KEY={CANARY} {path}\n"))));
        let numbered = scripts.iter().enumerate();
        files.extend(numbered.map(|(at, text)| (format!("run/{at}.sh"), text.clone())));
        files.push(("../outside/file".into(), "outside\n".into()));
        for (path, text) in files {
            write(&checkout.join(path), text.as_bytes());
        }
        commit_all(&init(&checkout), "first");
        let config = checkout.join(".git/config");
        let settings = fs::read_to_string(&config).unwrap();
        let token = format!("[http]\n\textraheader = \"AUTHORIZATION: basic {CANARY}\"\n");
        fs::write(config, settings + &token).unwrap();
        place
    }

    /// The folder with the checkout, deep enough that links to `../..` stay in the test's own.
    pub(crate) fn base(&self) -> PathBuf {
        self.folder.path().join("real/x/y")
    }

    pub(crate) fn checkout(&self) -> PathBuf {
        self.base().join("checkout")
    }

    /// The checkout as it is.
    pub(crate) fn tree(&self) -> Tree {
        tree(&self.checkout(), &|path| path == Path::new(".git"))
    }

    /// What no run may change: everything outside of the checkout, and git's folder besides what
    /// Locum keeps there.
    pub(crate) fn outside(&self) -> Tree {
        let base = self.base();
        let mut found =
            tree(&base, &|path| path == Path::new("checkout") || path == Path::new("session"));
        let own = ["objects", "refs/locum", "session"].map(PathBuf::from);
        found.extend(
            tree(&base.join("checkout/.git"), &|path| own.iter().any(|own| own == path))
                .into_iter()
                .map(|(path, entry)| (Path::new("checkout/.git").join(path), entry)),
        );
        found
    }

    /// Runs a script in a copy of the checkout, with nothing around it, and returns what it makes
    /// of the tree.
    pub(crate) fn plain(&self, script: &str) -> Tree {
        let copy = self.folder.path().join("plain");
        let _ = fs::remove_dir_all(&copy);
        let base = copy.join("x/y");
        fs::create_dir_all(&base).unwrap();
        for name in ["checkout", "outside"] {
            let from = self.base().join(name);
            run(Command::new("cp").arg("-a").arg(from).arg(&base), "");
        }
        fs::create_dir(copy.join("tmp")).unwrap();
        let checkout = base.join("checkout");
        let _ = fs::remove_dir_all(checkout.join(".git/session"));
        let mut shell = Command::new("sh");
        shell
            .current_dir(&checkout)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", copy.join("tmp"))
            .env("TMPDIR", copy.join("tmp"))
            .stdin(Stdio::piped());
        run(shell.arg("-c").arg(script), "");
        tree(&checkout, &|path| path == Path::new(".git"))
    }
}

fn write(at: &Path, text: &[u8]) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

fn run(command: &mut Command, input: &str) {
    assert!(input.is_empty());
    // What a script says does not matter, nor how it ends.
    command.stdin(Stdio::null()).output().unwrap();
}

fn tree(root: &Path, left_out: &dyn Fn(&Path) -> bool) -> Tree {
    let mut found = Tree::new();
    collect(root, Path::new(""), left_out, &mut found);
    found
}

fn collect(root: &Path, below: &Path, left_out: &dyn Fn(&Path) -> bool, found: &mut Tree) {
    let Ok(entries) = fs::read_dir(root.join(below)) else { return };
    for entry in entries {
        let path = below.join(entry.unwrap().file_name());
        if left_out(&path) {
            continue;
        }
        let at = root.join(&path);
        let Ok(facts) = fs::symlink_metadata(&at) else { continue };
        if facts.is_dir() {
            collect(root, &path, left_out, found);
            continue;
        }
        let entry = if facts.is_symlink() {
            Entry::Link(fs::read_link(&at).unwrap())
        } else if facts.is_file() {
            Entry::read(&at)
        } else {
            Entry::Other
        };
        found.insert(path, entry);
    }
}

/// Whether a path holds what nobody may see.
pub(crate) fn shows_canary(entry: &Entry) -> bool {
    match entry {
        Entry::File { content, .. } => holds(content),
        Entry::Link(target) => holds(target.as_os_str().as_bytes()),
        Entry::Other => false,
    }
}

fn holds(bytes: &[u8]) -> bool {
    bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
}
