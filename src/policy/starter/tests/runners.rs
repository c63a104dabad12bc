//! Which command shows that a change is ready, by the tests that are there: one that finds none
//! shows nothing.

use pretty_assertions::assert_eq;

use super::{check, scan};
use crate::Policy;
use crate::starter::scan::StarterScan;
use crate::starter::{StarterChoices, StarterProposal, propose};

fn proposed(files: &[(&str, &str)]) -> (Vec<String>, StarterProposal) {
    let proposal = propose(&scan(files), &StarterChoices::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let policy = Policy::parse(&proposal.policy, "p").unwrap();
    (policy.settings().publish.success.clone(), proposal)
}

#[test]
fn tests_of_python_are_run_by_what_they_are_written_for() {
    let pytest = "def test_a():\n    assert 1\n";
    let unittest = "import unittest\n";
    let django = "from django.test import TestCase\n";
    for (files, expected) in [
        // Nothing but the tests shows what runs them.
        (&[("pyproject.toml", ""), ("tests/test_a.py", pytest)][..], &["pytest"][..]),
        (&[("Pipfile", "[dev-packages]\npytest = \"*\"\n"), ("a.py", "")], &["pytest"]),
        (&[("setup.py", ""), ("requirements/test.txt", "pytest\n")], &["pytest"]),
        (&[("setup.py", ""), (".gitlab-ci.yml", "test:\n  script: pytest\n")], &["pytest"]),
        (
            &[("setup.py", ""), ("tests/test_a.py", unittest)],
            &["python -m unittest discover -s tests"],
        ),
        (
            &[("setup.py", ""), ("tests/__init__.py", ""), ("tests/test_a.py", unittest)],
            &["python -m unittest"],
        ),
        // A package in a folder that is none.
        (
            &[("a/tests/__init__.py", ""), ("a/tests/test_a.py", unittest)],
            &["python -m unittest discover -s a"],
        ),
        (
            &[("setup.py", ""), ("a/test_a.py", unittest), ("b/test_b.py", unittest)],
            &["python -m unittest discover -s a", "python -m unittest discover -s b"],
        ),
        (
            &[("setup.py", ""), ("a/b_test.py", unittest)],
            &["python -m unittest discover -s a -p '*_test.py'"],
        ),
        (
            &[("pyproject.toml", ""), ("uv.lock", ""), ("tests/test_a.py", unittest)],
            &["uv run python -m unittest discover -s tests"],
        ),
        (
            &[("requirements.txt", "django"), ("manage.py", ""), ("a/test_a.py", django)],
            &["python manage.py test"],
        ),
        // Django names the tests of an app so; to the other runners the file is none.
        (
            &[("requirements.txt", "django"), ("manage.py", ""), ("shop/tests.py", django)],
            &["python manage.py test"],
        ),
        (&[("manage.py", ""), ("shop/tests.py", django)], &["python manage.py test"]),
        (&[("requirements.txt", "django"), ("shop/tests.py", django)], &[]),
        (&[("setup.py", ""), ("manage.py", ""), ("shop/tests.py", pytest)], &[]),
        (&[("setup.py", ""), ("manage.py", ""), ("shop/tests.py", unittest)], &[]),
        (&[("setup.py", ""), ("tests/test_a.py", "x = 1\n")], &[]),
        (&[("setup.py", "")], &[]),
        // A project below the top has its own.
        (
            &[("pyproject.toml", ""), ("api/pyproject.toml", ""), ("api/tests/test_a.py", pytest)],
            &["cd api && pytest"],
        ),
    ] {
        assert_eq!(proposed(files).0, expected, "{files:?}");
    }
}

#[test]
fn tests_of_python_beyond_the_bound_are_named() {
    let names: Vec<String> = (0..6).map(|number| format!("f{number}/test_a.py")).collect();
    let mut files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), "import unittest\n")).collect();
    files.push(("setup.py", ""));
    let (success, proposal) = proposed(&files);
    assert_eq!(success.len(), 4, "{success:?}");
    let [note] = proposal.untested.as_slice() else { panic!("{:?}", proposal.untested) };
    for folder in ["f4", "f5"] {
        assert!(note.contains(&format!("`python -m unittest discover -s {folder}`")), "{note}");
    }
    assert!(!note.contains("f3"), "{note}");
    assert_eq!(proposed(&files[2..]).1.untested, [""; 0]);
    // One command of the repository's own runs all of them.
    files.push(("pytest.ini", ""));
    let (success, proposal) = proposed(&files);
    assert_eq!((success, proposal.untested), (vec!["pytest".to_owned()], Vec::new()));
    // Those of a package are named as well, and none where the top tests it.
    let below: Vec<String> = names.iter().map(|name| format!("api/{name}")).collect();
    let mut files: Vec<(&str, &str)> =
        below.iter().map(|name| (name.as_str(), "import unittest\n")).collect();
    files.push(("api/setup.py", ""));
    let (success, proposal) = proposed(&files);
    assert_eq!(success.len(), 4, "{success:?}");
    let [note] = proposal.untested.as_slice() else { panic!("{:?}", proposal.untested) };
    for folder in ["f4", "f5"] {
        let command = format!("`cd api && python -m unittest discover -s {folder}`");
        assert!(note.contains(&command), "{note}");
    }
    assert!(!note.contains("f3"), "{note}");
    assert_eq!(proposed(&files[2..]).1.untested, [""; 0]);
    files.extend([("setup.py", ""), ("pytest.ini", "")]);
    let (success, proposal) = proposed(&files);
    assert_eq!((success, proposal.untested), (vec!["pytest".to_owned()], Vec::new()));
}

#[test]
fn files_that_were_not_read_count_where_the_others_show_the_runner() {
    let mut scan = scan(&[
        ("setup.py", ""),
        ("a/test_a.py", "import unittest\n"),
        ("b/test_b.py", ""),
        ("api/setup.py", ""),
        ("api/test_c.py", ""),
        ("venv/test_d.py", ""),
    ]);
    scan.texts.retain(|path, _| {
        !["b/test_b.py", "api/test_c.py", "venv/test_d.py"].contains(&path.as_str())
    });
    let success = |scan: &StarterScan| {
        let proposal = propose(scan, &StarterChoices::default()).unwrap();
        Policy::parse(&proposal.policy, "p").unwrap().settings().publish.success.clone()
    };
    assert_eq!(
        success(&scan),
        ["python -m unittest discover -s a", "python -m unittest discover -s b"]
    );
    scan.texts.retain(|path, _| path.as_str() != "a/test_a.py");
    assert_eq!(success(&scan), [""; 0]);
}

#[test]
fn each_package_manager_of_node_proves_by_the_script_that_tests() {
    let package = r#"{"scripts": {"test": "x", "lint": "y", "deploy": "z"}}"#;
    for (lock, success, install) in [
        ("package-lock.json", "npm test", "npm ci"),
        ("pnpm-lock.yaml", "pnpm test", "pnpm install --frozen-lockfile"),
        ("yarn.lock", "yarn test", "yarn install --frozen-lockfile"),
        ("bun.lock", "bun run test", "bun install --frozen-lockfile"),
        ("bun.lockb", "bun run test", "bun install --frozen-lockfile"),
    ] {
        let files = [("package.json", package), (lock, ""), ("a.test.ts", "")];
        let (found, proposal) = proposed(&files);
        assert_eq!(found, [success], "{lock}");
        assert!(proposal.setup.contains(install), "{lock}: {}", proposal.setup);
        let manager = success.split(' ').next().unwrap();
        check(
            &files,
            &[&format!("command({success})"), &format!("command({manager} run lint)")],
            &[&format!("command({manager} run deploy)"), &format!("command({manager} add x)")],
        );
    }
    // Bun finds tests by itself.
    let files = [("package.json", "{}"), ("bun.lock", ""), ("src/a.test.ts", "")];
    assert_eq!(proposed(&files).0, ["bun test"]);
    check(
        &files,
        &["command(bun test)", "command(bun src/a.ts)", "command(bun pm ls)"],
        &[
            "command(bun x cowsay)",
            "command(bunx cowsay)",
            "command(bun publish)",
            "command(bun pm trust x)",
            "command(bun -e x)",
        ],
    );
    assert_eq!(proposed(&[("package.json", "{}"), ("bun.lock", "")]).0, [""; 0]);
}

#[test]
fn a_module_of_go_without_tests_is_compiled_and_looked_at() {
    let vet = &["go vet ./..."][..];
    assert_eq!(proposed(&[("go.mod", ""), ("a.go", "")]).0, vet);
    assert_eq!(proposed(&[("go.mod", ""), ("a.go", ""), ("a_test.go", "")]).0, ["go test ./..."]);
    // Those of another module are not run with it.
    let files = [("go.mod", ""), ("a.go", ""), ("b/go.mod", ""), ("b/a_test.go", "")];
    assert_eq!(proposed(&files).0, vet);
}

#[test]
fn an_app_of_several_platforms_is_tested_as_one() {
    let pubspec = "dependencies:\n  flutter:\n    sdk: flutter\n";
    let files = [
        ("pubspec.yaml", pubspec),
        ("lib/main.dart", ""),
        ("test/a_test.dart", ""),
        ("android/build.gradle", ""),
        ("android/app/build.gradle", ""),
        ("linux/CMakeLists.txt", ""),
    ];
    let (success, proposal) = proposed(&files);
    assert_eq!(success, ["flutter test"]);
    let [note] = proposal.untested.as_slice() else { panic!("{:?}", proposal.untested) };
    assert!(note.contains("sets up no `flutter`"), "{note}");
    let ci = "on: push\njobs:\n  test:\n    steps:\n      - uses: subosito/flutter-action@v2\n      \
              - run: flutter test --coverage\n";
    let with_ci = [&files[..], &[(".github/workflows/ci.yml", ci)]].concat();
    let (success, proposal) = proposed(&with_ci);
    assert_eq!(success, ["flutter test --coverage"]);
    assert_eq!(proposal.untested, [""; 0]);
    // A package whose tests a Makefile starts is not one that Dart tests.
    let beside = [&files[..], &[("tools/Makefile", "test:\n\ttrue\n")]].concat();
    assert_eq!(proposed(&beside).0, ["flutter test", "cd tools && make test"]);
    // Beside another language, both count.
    let both = [&files[..], &[("server/go.mod", ""), ("server/a_test.go", "")]].concat();
    assert_eq!(proposed(&both).0, ["flutter test", "cd server && go test ./..."]);
    let package = r#"{"scripts": {"test": "jest"}, "dependencies": {"react-native": "1"}}"#;
    let files = [("package.json", package), ("android/build.gradle", ""), ("a.js", "")];
    let (success, proposal) = proposed(&files);
    assert_eq!((success, proposal.untested), (vec!["npm test".to_owned()], Vec::new()));
    // Without the app, it is a project like any other.
    let files = [("android/build.gradle", ""), ("android/src/test/java/T.java", "")];
    assert_eq!(proposed(&files).0, ["cd android && gradle --offline test"]);
}

#[test]
fn other_languages_prove_a_change_where_they_have_tests() {
    let deno = r#"{"tasks": {"test": "deno test -A", "deploy": "x"}}"#;
    for (files, expected) in [
        (&[("pubspec.yaml", "name: a"), ("test/a_test.dart", "")][..], &["dart test"][..]),
        (&[("pubspec.yaml", "name: a"), ("lib/a.dart", "")], &[]),
        (&[("Package.swift", ""), ("Tests/ATests/A.swift", "")], &["swift test"]),
        (&[("Package.swift", ""), ("Sources/A/A.swift", "")], &[]),
        (&[("deno.json", deno), ("a_test.ts", "")], &["deno task test"]),
        (&[("deno.json", "{}"), ("a_test.ts", "")], &["deno test"]),
        (&[("build.sbt", ""), ("src/main/scala/A.scala", "")], &["sbt test"]),
        (&[("build.zig", "b.step(\"test\", \"\")"), ("src/a.zig", "")], &["zig build test"]),
        (&[("build.zig", ""), ("src/a.zig", "")], &[]),
        (&[("a.cabal", ""), ("src/A.hs", "")], &["cabal test"]),
        (&[("stack.yaml", ""), ("a.cabal", ""), ("src/A.hs", "")], &["stack test"]),
        (&[("dune-project", ""), ("lib/a.ml", "")], &["dune test"]),
        (&[("Taskfile.yml", "version: 3\ntasks:\n  test:\n    cmds: [x]\n")], &["task test"]),
        (&[("justfile", "@test *args:\n  x\n")], &["just test"]),
    ] {
        assert_eq!(proposed(files).0, expected, "{files:?}");
    }
}
