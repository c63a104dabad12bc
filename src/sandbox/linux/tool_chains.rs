//! What belongs to the tool chains that `PATH` leads to: a Python environment and the interpreter
//! it comes from, conda, a JDK, Go, Node and others, each known by files that only it has.
//!
//! In: folders of programs, and the home. Out: the entries that each kind of tool chain keeps
//! beside its programs. Everything else in such a folder is somebody's own, and left out: settings
//! with passwords, checkouts, data. So are links that lead out of it.
#![expect(clippy::disallowed_methods, reason = "tool chains lie outside the checkout")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Programs whose links are followed to where their tool chain is.
pub(crate) const PROGRAMS: &[&str] = &[
    "python", "python3", "conda", "node", "npm", "deno", "bun", "java", "javac", "mvn", "gradle",
    "go", "ruby", "bundle", "php", "composer", "perl", "cargo", "rustc", "cmake", "dotnet",
];

/// A kind of tool chain: what it is known by, all of it, and what it keeps besides [`COMMON`].
struct Kind {
    known_by: &'static [&'static str],
    keeps: &'static [&'static str],
}

/// What tool chains of every kind keep.
const COMMON: &[&str] = &["bin", "sbin", "lib", "lib64", "libexec", "include"];

const KINDS: &[Kind] = &[
    Kind { known_by: &["pyvenv.cfg"], keeps: &["pyvenv.cfg", "share"] },
    Kind {
        // `conda-meta/state` may hold variables with secrets.
        known_by: &["conda-meta/history"],
        keeps: &[
            "conda-meta/history",
            "share",
            "ssl",
            "condabin",
            "compiler_compat",
            "x86_64-conda-linux-gnu",
            "aarch64-conda-linux-gnu",
        ],
    },
    Kind { known_by: &["bin/node", "lib/node_modules"], keeps: &["share"] },
    Kind {
        known_by: &["release", "bin/java", "lib"],
        keeps: &["release", "conf", "jmods", "legal", "jre", "man"],
    },
    Kind {
        known_by: &["VERSION", "bin/go", "src/runtime"],
        keeps: &["VERSION", "go.env", "api", "doc", "misc", "pkg", "src", "test"],
    },
    Kind { known_by: &["bin/ruby", "lib/ruby"], keeps: &["share"] },
    Kind {
        known_by: &["bin/php", "include/php"],
        keeps: &["etc/php.ini", "etc/conf.d", "php", "share"],
    },
    Kind { known_by: &["bin/mvn", "boot"], keeps: &["boot", "conf/logging"] },
    Kind { known_by: &["bin/gradle", "lib"], keeps: &["init.d"] },
    Kind { known_by: &["bin/brew", "Cellar"], keeps: &["Cellar", "opt", "share"] },
];

/// What a Python installation keeps besides [`COMMON`].
const PYTHON: &[&str] = &["share"];

/// Bytes that are read of a `pyvenv.cfg`, which has less than a thousand.
const VENV_BYTES: u64 = 16 * 1024;

/// Entries of a folder that are looked at.
const ENTRIES: usize = 4096;

/// Returns what is read of the tool chains whose programs are in these folders.
pub(crate) fn entries<'a>(
    programs: impl Iterator<Item = &'a Path>,
    home: Option<&Path>,
) -> Vec<PathBuf> {
    let (mut roots, mut packages) = (BTreeSet::new(), Vec::new());
    for folder in programs {
        packages.extend(linked_packages(folder));
        roots.extend(above(folder));
        let targets = PROGRAMS.iter().filter_map(|name| folder.join(name).canonicalize().ok());
        roots.extend(targets.filter_map(|program| above(program.parent()?)));
    }
    let bases: Vec<_> = roots.iter().filter_map(|root| base_of(root)).collect();
    roots.extend(bases);
    let whole = roots
        .iter()
        .filter(|root| may_be_one(root, home))
        .flat_map(|root| kept(root).into_iter().map(|name| root.join(name)));
    whole.filter(|entry| entry.exists()).chain(packages).collect()
}

/// Returns the packages of Node that the links of a `node_modules/.bin` lead to.
fn linked_packages(programs: &Path) -> Vec<PathBuf> {
    if !programs.ends_with("node_modules/.bin") {
        return Vec::new();
    }
    let Some(modules) = programs.parent().and_then(|modules| modules.canonicalize().ok()) else {
        return Vec::new();
    };
    let package_of = |link: PathBuf| {
        let real = link.canonicalize().ok()?;
        let mut parts = real.strip_prefix(&modules).ok()?.components();
        let first = Path::new(parts.next()?.as_os_str());
        let is_scope = first.to_str()?.starts_with('@');
        let package = if is_scope { first.join(parts.next()?) } else { first.to_owned() };
        Some(modules.join(package))
    };
    let found: BTreeSet<PathBuf> = listed(programs).filter_map(package_of).collect();
    found.into_iter().filter(|package| package.join("package.json").is_file()).collect()
}

/// Returns which part of `/etc` belongs to tool chains whose folders there carry a version.
pub(crate) fn settings(etc: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in listed(etc).filter(|path| name_of(path).starts_with("java-")) {
        // Passwords for remote management lie beside what every program reads.
        found.push(folder.join("management/management.properties"));
        found.extend(listed(&folder).filter(|path| name_of(path) != "management"));
    }
    found.extend(["php.ini", "php.d"].map(|name| etc.join(name)));
    for folder in listed(&etc.join("php")) {
        found.extend(["cli", "mods-available"].map(|name| folder.join(name)));
    }
    found
}

/// Whether a path is what it says, or a link to somewhere in `root`; true where nothing is.
pub(crate) fn stays_in(root: &Path, path: &Path) -> bool {
    match (root.canonicalize(), path.canonicalize()) {
        (Ok(root), Ok(real)) => real.starts_with(root),
        _ => true,
    }
}

/// Returns the folder that a folder of programs belongs to.
pub(crate) fn above(programs: &Path) -> Option<PathBuf> {
    programs.parent().filter(|_| programs.ends_with("bin")).map(Path::to_owned)
}

/// Whether a folder may be a tool chain as a whole: not a home or above one, nor where people's own
/// programs lie beside their data.
fn may_be_one(root: &Path, home: Option<&Path>) -> bool {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let holds_home = home.is_some_and(|home| {
        let real_home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        home.starts_with(root) || real_home.starts_with(&real)
    });
    let is_own = [root, real.as_path()].iter().any(|path| path.ends_with(".local"));
    root.is_absolute() && real.parent().is_some() && !holds_home && !is_own
}

/// Returns the entries that belong to a tool chain; none where it is of no known kind.
fn kept(root: &Path) -> Vec<&'static str> {
    let kinds = KINDS
        .iter()
        .filter(|kind| kind.known_by.iter().all(|mark| root.join(mark).exists()))
        .map(|kind| kind.keeps);
    let mut kinds: Vec<_> = kinds.chain(is_python(root).then_some(PYTHON)).collect();
    if !kinds.is_empty() {
        kinds.push(COMMON);
    }
    let names = kinds.into_iter().flatten().copied();
    names.filter(|name| stays_in(root, &root.join(name))).collect()
}

/// Whether a folder holds Python's own library.
fn is_python(root: &Path) -> bool {
    listed(&root.join("lib"))
        .any(|folder| name_of(&folder).starts_with("py") && folder.join("os.py").is_file())
}

/// Returns the interpreter's folder that an environment of Python names; only where there is one.
fn base_of(root: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    let file = File::open(root.join("pyvenv.cfg")).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(VENV_BYTES).read_to_string(&mut text).ok()?;
    let values = text.lines().filter_map(|line| line.split_once('='));
    let home =
        values.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == "home");
    let base = above(&PathBuf::from(home?.1).canonicalize().ok()?)?;
    is_python(&base).then_some(base)
}

fn listed(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(ENTRIES).map(|entry| entry.path())
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use super::{entries, settings};

    /// Makes empty files, and the folders they are in.
    fn files(root: &Path, names: &[&str]) {
        for name in names {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    /// What is read of the tool chains of this folder of programs.
    fn read(root: &Path, programs: &str) -> Vec<PathBuf> {
        entries([root.join(programs).as_path()].into_iter(), Some(&root.join("home")))
    }

    fn is_read(found: &[PathBuf], path: &Path) -> bool {
        found.iter().any(|place| path.starts_with(place))
    }

    #[test]
    fn a_program_that_a_package_manager_linked_is_read_with_its_package_and_nothing_beside() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        files(
            root,
            &[
                "home/setup/node_modules/pnpm/bin/pnpm.cjs",
                "home/setup/node_modules/pnpm/package.json",
                "home/setup/node_modules/@of/tool/cli.js",
                "home/setup/node_modules/@of/tool/package.json",
                "home/setup/node_modules/other/package.json",
                "home/setup/.npmrc",
                "home/elsewhere/package.json",
                "home/elsewhere/run.js",
                "home/setup/node_modules/.bin/plain",
            ],
        );
        let bin = root.join("home/setup/node_modules/.bin");
        symlink("../pnpm/bin/pnpm.cjs", bin.join("pnpm")).unwrap();
        symlink("../@of/tool/cli.js", bin.join("tool")).unwrap();
        symlink(root.join("home/elsewhere/run.js"), bin.join("far")).unwrap();
        let found = read(root, "home/setup/node_modules/.bin");
        let real = root.canonicalize().unwrap().join("home/setup/node_modules");
        assert_eq!(found, [real.join("@of/tool"), real.join("pnpm")]);
    }

    #[test]
    fn a_python_environment_is_read_with_its_interpreter_and_without_what_lies_beside() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        files(
            root,
            &[
                "venv/bin/pip",
                "venv/lib/python3.12/site-packages/x.py",
                "venv/share/man",
                "venv/pip.conf",
                "venv/.env",
                "venv/src/project/.env",
                "base/bin/python3",
                "base/lib/python3.12/os.py",
                "base/include/python3.12/Python.h",
                "base/.netrc",
            ],
        );
        fs::write(root.join("venv/pyvenv.cfg"), format!("home = {}/base/bin\n", root.display()))
            .unwrap();
        let found = read(root, "venv/bin");
        for seen in [
            "venv/pyvenv.cfg",
            "venv/lib/python3.12/site-packages/x.py",
            "venv/share/man",
            "base/bin/python3",
            "base/lib/python3.12/os.py",
            "base/include/python3.12/Python.h",
        ] {
            assert!(is_read(&found, &root.join(seen)), "{seen}: {found:?}");
        }
        for hidden in ["venv/pip.conf", "venv/.env", "venv/src/project/.env", "base/.netrc"] {
            assert!(!is_read(&found, &root.join(hidden)), "{hidden}: {found:?}");
        }
    }

    #[test]
    fn what_an_environment_names_as_its_interpreter_has_to_be_one() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        files(root, &["venv/bin/pip", "vault/bin/x", "vault/lib/key"]);
        fs::write(root.join("venv/pyvenv.cfg"), format!("home = {}/vault/bin\n", root.display()))
            .unwrap();
        symlink(root.join("vault"), root.join("venv/share")).unwrap();
        let found = read(root, "venv/bin");
        assert!(is_read(&found, &root.join("venv/pyvenv.cfg")));
        assert!(!is_read(&found, &root.join("vault/lib/key")), "{found:?}");
        assert!(!is_read(&found, &root.join("venv/share")), "a link leads out: {found:?}");
    }

    #[test]
    fn a_program_that_is_a_link_leads_to_its_tool_chain() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        files(
            root,
            &[
                "jdk/bin/java",
                "jdk/release",
                "jdk/lib/modules",
                "jdk/conf/security/java.security",
                "jdk/notes/token",
                "other/bin/php",
                "other/share/data",
            ],
        );
        fs::create_dir(root.join("programs")).unwrap();
        symlink(root.join("jdk/bin/java"), root.join("programs/java")).unwrap();
        symlink(root.join("other/bin/php"), root.join("programs/php")).unwrap();
        let found = read(root, "programs");
        for seen in ["jdk/bin/java", "jdk/lib/modules", "jdk/conf/security/java.security"] {
            assert!(is_read(&found, &root.join(seen)), "{seen}: {found:?}");
        }
        for hidden in ["jdk/notes/token", "other/share/data", "jdk"] {
            assert!(!is_read(&found, &root.join(hidden)), "{hidden}: {found:?}");
        }
    }

    #[test]
    fn no_home_and_no_folder_of_own_programs_is_a_tool_chain() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        for folder in ["", "home/", "home/.local/", "home/node/"] {
            let names = ["bin/node", "lib/node_modules/x", "share/x"];
            files(
                root,
                &names.map(|name| format!("{folder}{name}")).each_ref().map(|x| x.as_str()),
            );
        }
        for programs in ["bin", "home/bin", "home/.local/bin"] {
            assert_eq!(read(root, programs), Vec::<PathBuf>::new(), "{programs}");
        }
        let found = read(root, "home/node/bin");
        assert!(is_read(&found, &root.join("home/node/share/x")), "{found:?}");
    }

    #[test]
    fn settings_of_java_and_php_are_read_and_their_passwords_are_not() {
        let etc = tempfile::tempdir().unwrap();
        files(
            etc.path(),
            &[
                "java-17-openjdk/security/java.security",
                "java-17-openjdk/management/management.properties",
                "java-17-openjdk/management/jmxremote.password",
                "php/8.2/cli/php.ini",
                "php/8.2/fpm/pool.d/www.conf",
                "shadow",
            ],
        );
        let found = settings(etc.path());
        for seen in [
            "java-17-openjdk/security/java.security",
            "java-17-openjdk/management/management.properties",
            "php/8.2/cli/php.ini",
        ] {
            assert!(is_read(&found, &etc.path().join(seen)), "{seen}: {found:?}");
        }
        for hidden in [
            "java-17-openjdk/management/jmxremote.password",
            "php/8.2/fpm/pool.d/www.conf",
            "shadow",
        ] {
            assert!(!is_read(&found, &etc.path().join(hidden)), "{hidden}: {found:?}");
        }
    }
}
