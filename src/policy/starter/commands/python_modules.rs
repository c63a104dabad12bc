//! Modules of the repository that `python -m` runs: packages with a `__main__`, those that scripts
//! of the project name, and command lines by their usual names.
//!
//! Only modules whose files are there count, and none whose name another module has: that one
//! could be run in its place.

use std::collections::BTreeSet;

use crate::starter::commands::{RepositoryTools, is_safe};
use crate::starter::scan::{StarterScan, is_plain, split};
use crate::words;
use locum_base::path::RepoPath;

/// Modules of the standard library: <https://docs.python.org/3/py-modindex.html>.
const STANDARD: &str = "\
    abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 \
    bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs \
    codeop collections colorsys compileall concurrent configparser contextlib contextvars \
    copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis \
    distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp \
    fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob \
    graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib \
    inspect io ipaddress itertools json keyword lib2to3 linecache locale logging lzma \
    mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing \
    netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev \
    pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath \
    pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri \
    random re readline reprlib resource rlcompleter runpy sched secrets select selectors \
    shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 \
    sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct \
    subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile \
    termios textwrap this threading time timeit tkinter token tokenize tomllib trace \
    traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu \
    uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc \
    zipapp zipfile zipimport zlib zoneinfo";
/// Modules that install or publish.
const INSTALLERS: &str = "\
    build flit hatch keyring pdm pip pipenv pipx poetry setuptools twine uv virtualenv wheel";
/// Names of modules that are command lines.
const COMMAND_LINES: &str = "__main__ cli main console commands command_line";
/// Folders whose modules are none of the project's own.
const OTHERS: &str = "\
    node_modules venv site-packages vendor third_party tests test testing docs build dist";
/// Tables of `pyproject.toml` that name functions of modules.
const SCRIPTS: &[&str] = &["[project.scripts]", "[project.gui-scripts]", "[tool.poetry.scripts]"];
/// Most modules with lines of their own.
const MOST: usize = 8;

pub(super) fn modules(found: &mut RepositoryTools<'_>) {
    let mut modules: Vec<(usize, String)> = found
        .scan
        .files
        .iter()
        .filter(|path| is_plain(path.as_str()))
        .filter_map(|path| Some((path.parts().count(), module(path)?)))
        .collect();
    modules.sort();
    let named = scripts(found.scan);
    let is_run = |name: &&String| {
        let last = name.rsplit('.').next().unwrap_or_default();
        words::holds(COMMAND_LINES, last) || named.contains(name.as_str())
    };
    let run: Vec<String> = modules
        .iter()
        .map(|(_, name)| name)
        .filter(is_run)
        .map(|name| name.trim_end_matches(".__main__").to_owned())
        .collect();
    for name in run.iter().take(MOST) {
        for program in ["python", "python3"] {
            found.add(&format!("{program} -m {name}:*"), false, "a module of the repository");
        }
    }
}

/// Returns the name by which a file is imported from the top of the repository, or from `src`.
fn module(path: &RepoPath) -> Option<String> {
    let stem = path.as_str().strip_suffix(".py")?;
    let name = stem.strip_prefix("src/").unwrap_or(stem).replace('/', ".");
    let (folder, _) = split(path);
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let first = name.split('.').next().unwrap_or_default();
    let is_own = name.split('.').all(is_name)
        && !folder.split('/').any(|part| words::holds(OTHERS, part))
        && !words::holds(STANDARD, first)
        && !words::holds(INSTALLERS, first)
        && name != "__main__"
        && name.split('.').all(is_safe);
    is_own.then_some(name)
}

/// Returns the modules whose functions are scripts of the top project.
fn scripts(scan: &StarterScan) -> BTreeSet<&str> {
    let text = scan.texts.iter().find(|(path, _)| path.as_str() == "pyproject.toml");
    let mut found = BTreeSet::new();
    let mut is_inside = false;
    for line in text.map_or("", |(_, text)| text.as_str()).lines().map(str::trim) {
        if line.starts_with('[') {
            is_inside = SCRIPTS.contains(&line);
        } else if is_inside && let Some((_, value)) = line.split_once('=') {
            let value = value.trim().trim_matches(['"', '\'']);
            found.extend(value.split(':').next());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::module;
    use locum_base::path::RepoPath;
    use pretty_assertions::assert_eq;

    #[test]
    fn a_module_has_a_name_that_no_other_one_has() {
        for (path, expected) in [
            ("src/acme/cli.py", Some("acme.cli")),
            ("acme/__main__.py", Some("acme.__main__")),
            ("acme/sub/cli.py", Some("acme.sub.cli")),
            ("cli.py", Some("cli")),
            ("http/server.py", None),
            ("src/pip/__main__.py", None),
            ("tests/cli.py", None),
            ("a-b/cli.py", None),
            ("acme/publish.py", None),
            ("__main__.py", None),
            ("acme/cli.txt", None),
        ] {
            let path = RepoPath::parse(path).unwrap();
            assert_eq!(module(&path).as_deref(), expected, "{path}");
        }
    }
}
