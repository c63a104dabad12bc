//! Commands of Python projects: test runners, tools that are set up, and what their tests need.

use crate::starter::commands::{RepositoryTools, is_top, listed};
use crate::starter::scan::{StarterScan, split};
use locum_base::path::RepoPath;

/// Modules of Python that check.
const PYTHON_MODULES: &[&str] = &[
    "pytest",
    "unittest",
    "ruff check",
    "ruff format",
    "mypy",
    "black",
    "isort",
    "flake8",
    "pycodestyle",
    "pydocstyle",
    "pylint",
    "autopep8",
    "bandit",
    "vulture",
    "pyright",
    "coverage",
];
/// Extras and groups of a Python project that its tests need.
const TEST_EXTRAS: &[&str] = &["test", "tests", "testing", "dev"];

/// Returns true for a list of packages that `pip` installs.
pub(in crate::starter) fn is_requirements(name: &str) -> bool {
    name.ends_with("requirements.txt") || name.starts_with("requirements") && name.ends_with(".txt")
}

/// Returns the extras of the top Python project that its tests need, with commas between them.
pub(in crate::starter) fn test_extras(scan: &StarterScan) -> String {
    keys_of(scan, "[project.optional-dependencies]").join(",")
}

/// Returns the dependency group of the top Python project that its tests need.
pub(in crate::starter) fn test_group(scan: &StarterScan) -> Option<&'static str> {
    keys_of(scan, "[dependency-groups]").first().copied()
}

fn keys_of(scan: &StarterScan, section: &str) -> Vec<&'static str> {
    let text = scan.texts.iter().find(|(path, _)| path.as_str() == "pyproject.toml");
    let text = text.map_or("", |(_, text)| text.as_str());
    let lines = text.lines().skip_while(|line| line.trim() != section).skip(1);
    let keys: Vec<&str> = lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim().trim_matches('"')))
        .collect();
    TEST_EXTRAS.iter().copied().filter(|name| keys.contains(name)).collect()
}

/// Returns the packages that the first environment of the top `tox.ini` installs.
pub(in crate::starter) fn tox_requirements(scan: &StarterScan) -> Option<String> {
    let text = &scan.texts.iter().find(|(path, _)| path.as_str() == "tox.ini")?.1;
    let lines = text.lines().skip_while(|line| line.trim() != "[testenv]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let mut deps = lines.skip_while(|line| !line.starts_with("deps"));
    let (_, first) = deps.next()?.split_once('=')?;
    let more = deps.take_while(|line| line.starts_with([' ', '\t']));
    let is_name = |name: &&str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.[]".contains(&byte))
    };
    let names: Vec<&str> =
        std::iter::once(first).chain(more).map(str::trim).filter(is_name).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

pub(super) fn python(found: &mut RepositoryTools<'_>) {
    let manifests =
        ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "noxfile.py"];
    let tests: Vec<&RepoPath> =
        found.scan.files.iter().filter(|path| is_python_test(path)).collect();
    let manifest = manifests.iter().find_map(|name| found.named(name));
    // Without one, tests of the standard library's own kind need nothing.
    let Some(manifest) = manifest.or_else(|| tests.first().copied()) else { return };
    let runner = [("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run ")]
        .into_iter()
        .find(|(lock, _)| found.has(lock));
    let is_top_project = is_top(manifest) || tests.first() == Some(&manifest);
    let pytest = found.mentions(&manifests, "pytest")
        || found.mentions_in_requirements("pytest")
        || found.has("pytest.ini")
        || found.has("conftest.py");
    match (pytest, tests.first(), runner) {
        (true, _, Some((lock, run))) => {
            found.add(&format!("{run}pytest:*"), is_top_project, lock);
            let why = format!("{manifest}, inside an environment that is set up");
            found.add_set_up("pytest:*", &why);
        }
        (true, _, None) => found.add("pytest:*", is_top_project, &manifest.to_string()),
        (false, Some(test), _) => {
            found.add(&unittest(found.scan, &tests), is_top_project, &test.to_string());
        }
        (false, None, _) => {}
    }
    for module in PYTHON_MODULES {
        let name = module.split(' ').next().unwrap_or_default();
        let is_named = || found.mentions(&manifests, name) || found.mentions_in_requirements(name);
        if name != "unittest" && !is_named() {
            continue;
        }
        let why = format!("{name} is set up");
        for call in ["python -m ", "python3 -m ", runner.map_or("", |(_, run)| run), ""] {
            // There is no program of the standard library's module.
            if call.ends_with("-m ") || name != "unittest" {
                found.add_set_up(&format!("{call}{module}:*"), &why);
            }
        }
    }
    let why = manifest.to_string();
    for program in ["python", "python3"] {
        found.add(&format!("{program}:*"), false, &why);
        for module in listed(
            "json.tool, doctest, tabnanny, site, sysconfig, cProfile, trace, timeit, py_compile, \
             compileall, build",
        ) {
            found.add(&format!("{program} -m {module}:*"), false, &why);
        }
    }
    for looks in
        listed("pip list:*, pip show:*, pip freeze:*, pip check:*, sphinx-build:*, mkdocs build:*")
    {
        found.add(looks, false, &why);
    }
    for (lock, tool) in
        [("uv.lock", "uv run"), ("poetry.lock", "poetry run"), ("pdm.lock", "pdm run")]
    {
        if found.has(lock) {
            found.add(
                &format!("{tool}:*"),
                false,
                &format!("{lock}; what it starts has to be allowed too"),
            );
        }
    }
    if found.has("uv.lock") {
        for looks in ["uv tree:*", "uv pip list:*", "uv pip show:*", "uv --version"] {
            found.add(looks, false, "uv.lock");
        }
    }
    let is_set_up = |found: &RepositoryTools<'_>, file: &str, section: &str| {
        found.has(file) || found.mentions(&["pyproject.toml", "setup.cfg"], section)
    };
    for (program, file, section) in [("tox", "tox.ini", "tox"), ("nox", "noxfile.py", "nox")] {
        if is_set_up(found, file, section) {
            found.add_set_up(&format!("{program}:*"), &format!("{program} is set up"));
        }
    }
    if found.scan.files.iter().any(|path| path.as_str() == ".pre-commit-config.yaml")
        || found.has("uv.lock")
    {
        for program in ["pre-commit run:*", "prek run:*"] {
            found.add(program, false, "hooks that check");
        }
    }
}

fn is_python_test(path: &RepoPath) -> bool {
    let (folder, name) = split(path);
    (name.starts_with("test_") && name.ends_with(".py"))
        || name.ends_with("_test.py")
        || folder.is_empty() && matches!(name, "test.py" | "tests.py")
}

/// Returns how the standard library finds the tests: where their folder is a package, or at the
/// top, by itself.
fn unittest(scan: &StarterScan, tests: &[&RepoPath]) -> String {
    let mut folders: Vec<&str> = tests.iter().map(|path| split(path).0).collect();
    folders.sort_unstable();
    folders.dedup();
    let is_package = |folder: &str| {
        folder.is_empty()
            || scan.files.iter().any(|path| path.as_str() == format!("{folder}/__init__.py"))
    };
    match folders.first().filter(|folder| !is_package(folder)) {
        Some(folder) if is_safe_path(folder) => format!("python -m unittest discover -s {folder}"),
        Some(_) | None => "python -m unittest".to_owned(),
    }
}

fn is_safe_path(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_/".contains(&byte))
}
