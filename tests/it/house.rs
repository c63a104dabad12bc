//! Holds the sources to what Cargo cannot: layers inside a crate, pure crates, owners of external
//! crates and of effects, lengths of files, and documents to paths that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

/// Modules that share a package, lowest first: each imports only from those before it.
const LAYERS: &[(&str, &[&str])] =
    &[("src/agent/", &["tools", "session", "report"]), ("src/", &["config", "run", "cli"])];

/// Lines a file may have: of code before its tests begin, or of tests.
const FILE_LIMIT_LINES: usize = 500;

/// Folders of `src` that are crates; the root package's own are together in `.`.
const KRATES: &[&str] = &[
    "agent",
    "base",
    "extract",
    "files",
    "forge",
    "index",
    "models",
    "modes",
    "policy",
    "sandbox",
    "workspace",
    ".",
];

/// The table of tools names every tool, and every tool the call that the table makes of it.
const TABLE: &[&str] = &["tools::dispatch", "tools::tool", "tools::command", "tools::skill"];

/// Folders that only compute: what they may not name.
const PURE: &[&str] = &[
    "src/base/",
    "src/extract/",
    "src/files/",
    "src/index/",
    "src/policy/",
    "src/modes/",
    "src/agent/report/",
];
const IMPURE_WORDS: &[&str] = &[
    "tokio::",
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "reqwest::",
    "git2::",
    "octocrab::",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
];

/// External crates and the packages that may depend on them: Cargo holds the rest.
const OWNERS: &[(&str, &[&str])] = &[
    ("git2", &["workspace", "testing"]),
    ("octocrab", &["forge"]),
    ("reqwest", &["models", "forge"]),
    ("figment", &["locum"]),
    ("clap", &["locum"]),
    ("brush-parser", &["policy"]),
    ("hyper", &["sandbox"]),
    ("tokio-rustls", &["sandbox"]),
    ("landlock", &["sandbox"]),
    ("seccompiler", &["sandbox"]),
    ("tracing-subscriber", &["locum"]),
    ("pdf-extract", &["extract"]),
    ("ring", &["agent"]),
    ("encoding_rs", &["agent"]),
    ("calamine", &["extract"]),
    ("zip", &["extract"]),
];

/// Files that still nest one.
const NESTED: &[&str] = &["src/policy/command/examine/sed.rs"];

/// Files that may lift the second fence (clippy's disallowed methods and types) for themselves.
const EFFECT_OWNERS: &[&str] = &[
    "src/sandbox/",
    "src/testing/",
    "src/workspace/",
    "src/agent/embedder.rs",
    "src/agent/session/journal",
    "src/agent/session/messages",
    "src/agent/session/attacks",
    "src/config/",
    "src/cli/",
    "src/run/",
    "src/main.rs",
    "src/models/",
    "src/forge/local",
    "src/forge/github",
    "src/agent/tools/",
];

#[test]
fn modules_of_one_package_import_only_from_layers_below() {
    let mention = Regex::new(r"\bcrate::(\w+)").unwrap();
    let mut broken = Vec::new();
    let mut seen = 0;
    for file in sources() {
        if file.code().any(|(_, line)| line.contains("super::super")) {
            broken.push(format!("{}: write a `crate::` path, not `super::super`", file.path));
        }
        let layer_of = |layers: &[&str], name: &str| layers.iter().position(|layer| *layer == name);
        let found = LAYERS.iter().find_map(|(folder, layers)| {
            let module = file.path.strip_prefix(folder)?.split('/').next()?;
            Some((layers, layer_of(layers, module)?))
        });
        let Some((layers, home)) = found else { continue };
        seen += 1;
        for (number, line) in file.code() {
            let above = mention
                .captures_iter(line)
                .find(|found| layer_of(layers, &found[1]).is_some_and(|layer| layer > home));
            broken.extend(
                above.map(|found| format!("{}:{number}: imports {}", file.path, &found[1])),
            );
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(seen > 100, "the sources were not found");
}

/// Files of one crate import from each other in one direction. What a folder's files take from its
/// own `mod.rs`, which lists them, is left out.
#[test]
fn files_of_one_crate_import_in_no_circle() {
    let mut circles = Vec::new();
    for krate in KRATES {
        let imports = imports_of(krate);
        circles.extend(imports.keys().filter(|file| reaches(&imports, file, file)).filter_map(
            |file| {
                let known = TABLE.iter().any(|of_table| *of_table == file.join("::"));
                (!known).then(|| format!("{krate}: {}", file.join("::")))
            },
        ));
    }
    assert!(
        circles.is_empty(),
        "each of these imports itself through others:\n{}",
        circles.join("\n")
    );
}

#[test]
fn the_way_of_a_comment_names_functions_that_exist_each_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap();
    let row = Regex::new(r"(?m)^\| \d+ \| `([\w/.]+)::(\w+)` \|").unwrap();
    let mut seen = BTreeSet::new();
    for found in row.captures_iter(&page) {
        let (file, function) = (&found[1], &found[2]);
        assert!(seen.insert((file.to_owned(), function.to_owned())), "{file}::{function} twice");
        let text = std::fs::read_to_string(root.join(file)).expect(file);
        assert!(text.contains(&format!("fn {function}")), "{file} has no function {function}");
    }
    assert!(seen.len() > 20, "the table was not found");
}

#[test]
fn pure_code_has_no_effects() {
    let mut broken = Vec::new();
    for file in sources().iter().filter(|file| PURE.iter().any(|pure| file.path.starts_with(pure)))
    {
        for (number, line) in file.code() {
            broken.extend(
                IMPURE_WORDS
                    .iter()
                    .filter(|word| line.contains(*word))
                    .map(|word| format!("{}:{number}: {word}", file.path)),
            );
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn external_crates_have_owners() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for manifest in
        files_below(&root.join("src"), "toml").into_iter().chain([root.join("Cargo.toml")])
    {
        let folder = manifest.parent().unwrap();
        let package =
            if folder == root { "locum" } else { folder.file_name().unwrap().to_str().unwrap() };
        let text = std::fs::read_to_string(&manifest).unwrap();
        // Those of one system count as well.
        let tables = text.split("\n[").filter(|table| {
            table.starts_with("dependencies]") || table.contains(".dependencies]\n")
        });
        let names: Vec<&str> = tables
            .flat_map(|table| table.lines().skip(1).filter_map(|line| line.split('.').next()))
            .collect();
        assert!(!names.is_empty(), "{}: no dependencies", manifest.display());
        let owned = OWNERS
            .iter()
            .filter(|(name, owners)| names.contains(name) && !owners.contains(&package));
        broken.extend(owned.map(|(name, owners)| {
            format!("{package} depends on {name}, which belongs to {owners:?}")
        }));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn effects_have_owners() {
    let mut broken = Vec::new();
    for file in sources()
        .iter()
        .filter(|file| !EFFECT_OWNERS.iter().any(|owner| file.path.starts_with(owner)))
    {
        broken.extend(
            file.code()
                .filter(|(_, line)| line.contains("clippy::disallowed_"))
                .map(|(number, line)| format!("{}:{number}: {line}", file.path)),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn only_the_policy_makes_permits() {
    let makes = Regex::new(r"\bPermit\s*(::<[^>]*>)?\s*\{").unwrap();
    let makers: Vec<String> = sources()
        .iter()
        .flat_map(|file| {
            file.code()
                .filter(|(_, line)| {
                    makes.is_match(line) && !line.contains("struct") && !line.contains("impl")
                })
                .map(|(number, _)| format!("{}:{number}", file.path))
                .collect::<Vec<_>>()
        })
        .filter(|place| !place.starts_with("src/policy/"))
        .collect();
    assert!(makers.is_empty(), "{makers:?}");
    let policy = sources().into_iter().find(|file| file.path == "src/policy/lib.rs").unwrap();
    assert!(
        policy.text.contains("pub struct Permit<A> {\n    act: A,"),
        "the fields of `Permit` are private"
    );
}

/// One error says what went wrong, whoever is told; a third answer has a name.
#[test]
fn no_result_or_option_is_nested_in_one_of_its_kind() {
    let nested = Regex::new(r"\b(Result<\s*Result|Option<\s*Option)\s*<").unwrap();
    let mut broken = Vec::new();
    for file in sources().iter().filter(|file| !NESTED.contains(&file.path.as_str())) {
        let code: Vec<&str> = file.code().map(|(_, line)| line).collect();
        let code = code.join("\n");
        broken.extend(nested.find_iter(&code).map(|found| {
            let line = code[found.start()..].lines().next().unwrap();
            format!("{}: {line}", file.path)
        }));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let mut broken = Vec::new();
    for file in sources() {
        let lines = if file.is_test() { file.text.lines().count() } else { file.code().count() };
        if lines > FILE_LIMIT_LINES {
            broken.push(format!("{}: {lines} lines, {FILE_LIMIT_LINES} at most", file.path));
        }
        if !file.text.starts_with("//! ") {
            broken.push(format!("{}: does not begin with a `//!` line", file.path));
        }
        broken.extend(
            file.code().filter(|(_, line)| line.contains("[allow(")).map(|(number, _)| {
                format!("{}:{number}: write `#[expect(.., reason)]`", file.path)
            }),
        );
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_test_the_security_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |page| std::fs::read_to_string(root.join(page)).unwrap();
    let page = read("docs/security.md") + &read("docs/security-tests.md");
    let files = files_below(&root.join("src"), "rs")
        .into_iter()
        .chain(files_below(&root.join("tests"), "rs"));
    let code: String = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let name = Regex::new(r"`([a-z0-9]+_[a-z0-9_]+)`").unwrap();
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let named: BTreeSet<&str> = rows
        .flat_map(|row| name.captures_iter(row).map(|found| found.get(1).unwrap().as_str()))
        .collect();
    let missing: Vec<&&str> =
        named.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
    assert!(named.len() > 40 && missing.is_empty(), "{missing:?}");
}

#[test]
fn documents_name_only_paths_that_exist() {
    let path = Regex::new(r"`((?:src|tests|docs|config|\.github|\.ci|benches)/[\w./*-]+|action\.yml|Dockerfile|Cargo\.toml)`").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut broken = Vec::new();
    for file in files_below(root, "md")
        .into_iter()
        .chain(sources().into_iter().map(|file| root.join(file.path)))
    {
        let text = std::fs::read_to_string(&file).unwrap();
        for found in
            path.captures_iter(&text).map(|captures| captures.get(1).unwrap().as_str().to_owned())
        {
            let plain = found.split(['*', '{']).next().unwrap();
            if !root.join(plain.trim_end_matches('/')).exists() && !plain.starts_with(".github/") {
                broken.push(format!(
                    "{}: `{found}` does not exist",
                    file.strip_prefix(root).unwrap().display()
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A file as the names of its modules: `tools`, `mcp`, `http`; the root of a crate is empty.
type Modules = Vec<String>;

/// Returns which files of a crate each of its files imports from, tests left out.
fn imports_of(krate: &str) -> BTreeMap<Modules, BTreeSet<Modules>> {
    let path_of = Regex::new(r"\b(crate|super)((?:::\w+)*)(?:::\{([^;]*?)\})?").unwrap();
    let within = Regex::new(r"\w+(?:::\w+)*").unwrap();
    let folder = if krate == "." { "src/".to_owned() } else { format!("src/{krate}/") };
    let own = |path: &str| {
        let rest = path.strip_prefix(&folder)?;
        let of_root = ["cli/", "run/", "config/"].iter().any(|own| rest.starts_with(own));
        let modules = rest.strip_suffix(".rs")?.split('/').map(str::to_owned);
        let mut modules: Modules = modules.collect();
        modules.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
        (krate != "." || of_root).then_some(modules)
    };
    let files: BTreeMap<Modules, Source> = sources()
        .into_iter()
        .filter(|file| !file.is_test())
        .filter_map(|file| Some((own(&file.path)?, file)))
        .collect();
    let nearest = |mut path: Modules| {
        while !path.is_empty() && !files.contains_key(&path) {
            path.pop();
        }
        path
    };
    let imports = |modules: &Modules, file: &Source| {
        let code: Vec<&str> = file.code().map(|(_, line)| line).collect();
        let mut found = BTreeSet::new();
        for path in path_of.captures_iter(&code.join("\n")) {
            let mut start = if &path[1] == "super" { modules.clone() } else { Modules::new() };
            start.pop();
            start.extend(path[2].split("::").filter(|part| !part.is_empty()).map(str::to_owned));
            let names = path.get(3).map_or("", |names| names.as_str());
            let each = within.find_iter(names).map(|name| {
                start.iter().cloned().chain(name.as_str().split("::").map(str::to_owned)).collect()
            });
            found.extend(each.chain([start.clone()]).map(&nearest));
        }
        found.retain(|other| !modules.starts_with(other));
        found
    };
    files.iter().map(|(modules, file)| (modules.clone(), imports(modules, file))).collect()
}

/// Returns true when imports lead from one file to another, over others or at once.
fn reaches(imports: &BTreeMap<Modules, BTreeSet<Modules>>, from: &Modules, to: &Modules) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Modules> = imports.get(from).into_iter().flatten().collect();
    while let Some(file) = open.pop() {
        if file == to {
            return true;
        }
        if seen.insert(file) {
            open.extend(imports.get(file).into_iter().flatten());
        }
    }
    false
}

/// A source file, its path relative to the project.
pub(crate) struct Source {
    /// Where it is.
    pub(crate) path: String,
    text: String,
}

impl Source {
    /// Returns true for a file that holds tests alone.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Returns the lines before the tests that are no comments, numbered from 1.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let tests = lines
            .windows(2)
            .position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].starts_with("mod tests"))
            .unwrap_or(lines.len());
        let tests = if self.is_test() { 0 } else { tests };
        let numbered: Vec<(usize, &str)> = lines
            .into_iter()
            .take(tests)
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .collect();
        numbered.into_iter().filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

pub(crate) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    files_below(&root.join("src"), "rs")
        .into_iter()
        .map(|file| Source {
            path: file.strip_prefix(root).unwrap().to_string_lossy().into_owned(),
            text: std::fs::read_to_string(&file).unwrap(),
        })
        .collect()
}

fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    ignore::WalkBuilder::new(folder)
        .build()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}
