//! Commands of Python projects: test runners, tools that are set up, and what their tests need.

use crate::starter::commands::python_tests::{self, TestRunner};
use crate::starter::commands::{RepositoryTools, is_top, listed, python_modules};
use crate::starter::scan::{StarterScan, has, split, text};
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
/// Packages that check, with the commands of their programs.
const CHECKERS: &[(&str, &str)] = &[
    ("ty", "ty check:*"),
    ("pyrefly", "pyrefly check:*"),
    ("basedpyright", "basedpyright:*"),
    ("pytype", "pytype:*"),
    ("deptry", "deptry:*"),
    ("interrogate", "interrogate:*"),
    ("pydoclint", "pydoclint:*"),
    ("refurb", "refurb:*"),
    ("radon", "radon:*"),
];
/// What Ruff shows of itself.
const RUFF: &str = "\
    ruff rule:*, ruff linter:*, ruff config:*, ruff analyze:*, ruff help:*, ruff version, ruff \
    --version";
/// What `pip` shows, and what builds documentation.
const PIP: &str = "\
    pip list:*, pip show:*, pip freeze:*, pip check:*, pip3 list:*, pip3 show:*, pip3 freeze:*, \
    sphinx-build:*, mkdocs build:*";
/// Tools that keep environments, by their lock files, with what they show.
const TOOLS: &[(&str, &str, &str)] = &[
    (
        "uv.lock",
        "uv",
        "uv tree:*, uv pip list:*, uv pip show:*, uv pip check:*, uv pip tree:*, uv pip freeze:*, \
         uv python list:*, uv python find:*, uv python dir, uv cache dir, uv tool list, uv lock \
         --check, uv help:*, uv version, uv --version",
    ),
    (
        "poetry.lock",
        "poetry",
        "poetry check:*, poetry show:*, poetry env list:*, poetry env info:*, poetry about, poetry \
         list, poetry help:*, poetry version, poetry --version",
    ),
    ("pdm.lock", "pdm", "pdm list:*, pdm show:*, pdm info:*, pdm --version"),
];
/// What Pipenv shows, and the tests.
const PIPENV: &str =
    "pipenv graph, pipenv verify, pipenv --venv, pipenv --version, pipenv run pytest";
/// What Hatch tests and shows.
const HATCH: &str = "\
    hatch test:*, hatch fmt --check:*, hatch env show:*, hatch status, hatch version, hatch \
    --version";
/// What Django tests, checks and shows; as words of `python`, any of its commands may run.
const DJANGO: &str = "\
    ./manage.py test:*, ./manage.py check:*, ./manage.py showmigrations:*, ./manage.py \
    sqlmigrate:*, ./manage.py makemigrations --check:*, ./manage.py migrate --plan, ./manage.py \
    migrate --check";
/// Tools that start what the tests need, by their lock files.
const RUNNERS: &[(&str, &str)] =
    &[("uv.lock", "uv run "), ("poetry.lock", "poetry run "), ("pdm.lock", "pdm run ")];
/// Files that describe a Python project.
const PROJECT_FILES: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "tox.ini",
    "noxfile.py",
];
/// Extras and groups of a Python project that its tests need.
const TEST_EXTRAS: &[&str] = &["test", "tests", "testing", "dev"];

/// Lists of packages in a folder of their own, for development and tests; one of them is installed.
const TEST_REQUIREMENTS: &[&str] = &[
    "requirements/dev.txt",
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements/testing.txt",
    "requirements/development.txt",
    "requirements/local.txt",
];
/// The list of what a program needs, in a folder of such lists.
const BASE_REQUIREMENTS: &str = "requirements/base.txt";

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
    let lines = text(scan, "", "pyproject.toml").unwrap_or_default().lines();
    let lines = lines.skip_while(|line| line.trim() != section).skip(1);
    let keys: Vec<&str> = lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim().trim_matches('"')))
        .collect();
    TEST_EXTRAS.iter().copied().filter(|name| keys.contains(name)).collect()
}

/// Returns the packages that the first environment of the top `tox.ini` installs.
pub(in crate::starter) fn tox_requirements(scan: &StarterScan) -> Option<String> {
    let lines =
        text(scan, "", "tox.ini")?.lines().skip_while(|line| line.trim() != "[testenv]").skip(1);
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

/// Returns true for a list of packages that `pip` installs, also in a folder of such lists.
pub(in crate::starter) fn is_requirements_file(path: &RepoPath) -> bool {
    let (folder, name) = split(path);
    let in_folder = folder.rsplit('/').next() == Some("requirements") && name.ends_with(".txt");
    is_requirements(name) || in_folder
}

/// Returns those lists at the top of the folder `requirements` that the tests need: the first for
/// development or tests, and what it builds on; else what the program needs.
pub(in crate::starter) fn requirements_in_folder(scan: &StarterScan) -> Vec<&'static str> {
    let has = |list: &&str| has(scan, "", list);
    let of_tests = TEST_REQUIREMENTS.iter().copied().find(has);
    let of_list = of_tests.and_then(|list| text(scan, "", list));
    let names_base = of_list.is_some_and(|text| text.contains("-r "));
    let base = Some(BASE_REQUIREMENTS).filter(has).filter(|_| !names_base);
    base.into_iter().chain(of_tests).collect()
}

pub(super) fn python(found: &mut RepositoryTools<'_>) {
    let tests = python_tests::files(found.scan);
    let manifest = PROJECT_FILES.iter().find_map(|name| found.named(name));
    // Without one, tests of the standard library's own kind need nothing.
    let Some(manifest) = manifest.or_else(|| tests.first().copied()) else { return };
    let runner = RUNNERS.iter().find(|(lock, _)| found.has(lock)).copied();
    let is_top_project = is_top(manifest) || tests.first() == Some(&manifest);
    let names_pytest = found.mentions(PROJECT_FILES, "pytest")
        || found.mentions(&[".gitlab-ci.yml"], "pytest")
        || found.mentions_in_requirements("pytest")
        || found.has("pytest.ini")
        || found.has("conftest.py");
    let (place, kind) = if names_pytest {
        (manifest, Some(TestRunner::Pytest))
    } else {
        python_tests::runner(found.scan, &tests)
            .map_or((manifest, None), |(path, runner)| (path, Some(runner)))
    };
    let started = runner.map_or("", |(_, run)| run);
    match (kind, runner) {
        (Some(TestRunner::Pytest), Some((lock, run))) => {
            found.add(&format!("{run}pytest:*"), is_top_project, lock);
            let why = format!("{manifest}, inside an environment that is set up");
            found.add_set_up("pytest:*", &why);
        }
        (Some(TestRunner::Pytest), None) => {
            found.add("pytest:*", is_top_project, &place.to_string());
        }
        (Some(TestRunner::Commands(commands)), _) => {
            for command in commands {
                found.add(&format!("{started}{command}"), is_top_project, &place.to_string());
            }
        }
        (None, _) => {}
    }
    for module in PYTHON_MODULES {
        let name = module.split(' ').next().unwrap_or_default();
        let is_named =
            || found.mentions(PROJECT_FILES, name) || found.mentions_in_requirements(name);
        if name != "unittest" && !is_named() {
            continue;
        }
        let why = format!("{name} is set up");
        for call in ["python -m ", "python3 -m ", started, ""] {
            // There is no program of the standard library's module.
            if call.ends_with("-m ") || name != "unittest" {
                found.add_set_up(&format!("{call}{module}:*"), &why);
            }
        }
    }
    for (package, command) in CHECKERS {
        if is_set_up(found, package) {
            found.add_set_up(command, &format!("{package} is set up"));
        }
    }
    if is_set_up(found, "ruff") {
        found.add_all(listed(RUFF), "ruff is set up");
    }
    let why = manifest.to_string();
    python_modules::modules(found);
    for program in ["python", "python3"] {
        found.add(&format!("{program}:*"), false, &why);
        for module in listed(
            "json.tool, doctest, tabnanny, tokenize, site, sysconfig, platform, inspect, ast, dis, \
             pyclbr, pydoc, calendar, zipfile -l, cProfile, trace, timeit, py_compile, compileall, \
             build",
        ) {
            found.add(&format!("{program} -m {module}:*"), false, &why);
        }
        for warnings in ["-Wd", "-W error"] {
            found.add(&format!("{program} {warnings} -m unittest:*"), false, &why);
        }
    }
    found.add_all(listed(PIP), &why);
    for (lock, tool, looks) in TOOLS {
        if found.has(lock) {
            let because = format!("{lock}; what it starts has to be allowed too");
            found.add(&format!("{tool} run:*"), false, &because);
            found.add_all(listed(looks), lock);
        }
    }
    if found.has("Pipfile") {
        found.add_all(listed(PIPENV), "Pipfile");
    }
    if found.mentions(&["pyproject.toml"], "[tool.hatch") {
        found.add_all(listed(HATCH), "pyproject.toml");
    }
    if found.holds("manage.py") {
        found.add_all(listed(DJANGO), "manage.py");
    }
    for (program, file) in [("tox", "tox.ini"), ("nox", "noxfile.py")] {
        if found.has(file) || found.mentions(&["pyproject.toml", "setup.cfg"], program) {
            found.add_set_up(&format!("{program}:*"), &format!("{program} is set up"));
        }
    }
    if found.holds(".pre-commit-config.yaml") || found.has("uv.lock") {
        found.add_all(
            listed("pre-commit run:*, prek run:*, pre-commit validate-config"),
            "hooks that check",
        );
    }
}

/// Whether a manifest or list of packages names a package.
fn is_set_up(found: &RepositoryTools<'_>, package: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let names = |text: &str| {
        let mut words = text.split(|letter: char| !is_part(letter));
        // A table of settings is `tool.NAME`, and may be a part of one.
        words.any(|word| match word.strip_prefix("tool.") {
            Some(table) => table.split('.').next() == Some(package),
            None => word == package,
        })
    };
    found.scan.texts.iter().any(|(path, text)| {
        let is_manifest = path.name().is_some_and(|name| PROJECT_FILES.contains(&name));
        (is_manifest || is_requirements_file(path)) && names(text)
    })
}
