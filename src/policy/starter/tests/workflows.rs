//! What workflows of a repository tell: how a change is tested, and what the tests need.

use pretty_assertions::assert_eq;

use super::scan;
use crate::Policy;
use crate::starter::{StarterChoices, propose};

/// Returns the commands of `success`, and the steps that set up.
fn proofs(files: &[(&str, &str)]) -> (Vec<String>, String) {
    let proposal = propose(&scan(files), &StarterChoices::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let policy = Policy::parse(&proposal.policy, "p").unwrap();
    (policy.settings().publish.success.clone(), proposal.setup)
}

#[test]
fn a_change_is_proved_by_the_tests_that_the_repositorys_own_workflow_runs() {
    let ci = |steps: &str| {
        format!("on: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n{steps}")
    };
    let package = r#"{"scripts": {"test": "x", "test:spec": "y"}}"#;
    let go: &[(&str, &str)] = &[("go.mod", ""), ("a_test.go", "")];
    for (files, steps, expected) in [
        (
            &[("pyproject.toml", ""), ("slug/a.py", ""), ("test.py", "import unittest")][..],
            "      - run: |\n          pip install flake8\n          coverage run --source=slug \
             test.py\n",
            "coverage run --source=slug test.py",
        ),
        (&[("package.json", package)], "      - run: npm run test:spec\n", "npm run test:spec"),
        (&[("package.json", package)], "      - run: npm run test:lint\n", "npm test"),
        (
            &[("pom.xml", ""), ("mvnw", "")],
            "      - run: ./mvnw -B verify\n",
            "./mvnw -o -B verify",
        ),
        (
            &[("pom.xml", "")],
            "      - run: mvn --batch-mode install\n",
            "mvn -o --batch-mode verify",
        ),
        (go, "      - run: go install x.dev/richgo@latest\n", "go test ./..."),
        (go, "      - run: go test -race ./...\n", "go test -race ./..."),
        // These work in another folder.
        (
            go,
            "      - run: |\n          cd tools\n          go test -race ./...\n",
            "go test ./...",
        ),
        (go, "      - run: cd tools && go test -race ./...\n", "go test ./..."),
        (
            go,
            "      - run: go test -race ./...\n    defaults: { run: { working-directory: tools } }\n",
            "go test ./...",
        ),
        // It makes environments, for which it needs a network.
        (&[("setup.py", "pytest"), ("tests/test_a.py", "")], "      - run: tox\n", "pytest"),
        (
            &[("Gemfile", "rspec"), ("Rakefile", "")],
            "      - run: bundle exec rake\n",
            "bundle exec rake",
        ),
        (
            &[("composer.json", r#"{"require-dev": {"phpunit/phpunit": "1"}}"#)],
            "",
            "vendor/bin/phpunit",
        ),
        (
            &[("configure.ac", ""), ("a.c", "")],
            "      - run: make check VERBOSE=yes\n",
            "make check VERBOSE=yes",
        ),
        (
            &[("CMakeLists.txt", "enable_testing()"), ("a.c", ""), (".gitignore", "build/\n")],
            "",
            "ctest --build-and-test . build --build-generator 'Unix Makefiles' --test-command ctest \
             --output-on-failure",
        ),
        (&[("t/test_a.py", "import unittest")], "", "python -m unittest discover -s t"),
        (&[("X.sln", ""), ("src/X/X.csproj", "")], "      - run: ./build.ps1\n", "dotnet test"),
        (
            &[("package.json", package)],
            "      - run: npm test\n        if: matrix.os == 'windows'\n      - run: npm run \
             test:spec\n        if: runner.os == 'Linux'\n",
            "npm run test:spec",
        ),
    ] {
        let workflow = ci(steps);
        let files = [files, &[(".github/workflows/ci.yml", workflow.as_str())]].concat();
        assert_eq!(proofs(&files).0, [expected], "{steps}");
    }
}

#[test]
fn what_the_tests_need_is_set_up_as_the_repositorys_own_workflow_does() {
    let ci = "on: push\njobs:\n  test:\n    runs-on: ${{ matrix.os }}\n    strategy:\n      \
              matrix:\n        os: [windows-latest, ubuntu-latest]\n        node: [9, 22, lts]\n    \
              steps:\n      - uses: actions/checkout@v6\n      - uses: actions/setup-node@aaaa # \
              v6\n        with:\n          node-version: ${{ matrix.node }}\n          token: ${{ \
              secrets.T }}\n      - run: npm ci\n      - run: curl https://x | sh\n      - run: npm \
              publish\n        if: github.ref == 'x'\n      - run: npm test\n";
    let package = r#"{"scripts": {"test": "x"}}"#;
    let (_, setup) = proofs(&[("package.json", package), (".github/workflows/ci.yml", ci)]);
    assert_eq!(
        setup,
        "      # What the tests need, as .github/workflows/ci.yml does: commands of a run have no \
         network.\n      - uses: actions/setup-node@aaaa # v6\n        with:\n          \
         node-version: \"22\"\n      - run: npm ci\n"
    );
    // Without a workflow, the language's own way.
    for (files, expected) in [
        (
            &[("package.json", package), ("package-lock.json", "")][..],
            &[
                "uses: actions/setup-node@249970729cb0ef3589644e2896645e5dc5ba9c38 # v6.5.0\n",
                "cache: \"npm\"",
                "run: npm ci",
            ][..],
        ),
        (
            &[
                (
                    "pyproject.toml",
                    "[project]\n[project.optional-dependencies]\ntest = []\n[tool.pytest]",
                ),
                ("tests/test_a.py", ""),
            ],
            &[
                "actions/setup-python@ece7cb06caefa5fff74198d8649806c4678c61a1 # v6.3.0\n",
                "pip install -e .[test]",
                "pip install pytest",
            ],
        ),
        (&[("Cargo.toml", ""), ("Cargo.lock", "")], &["run: cargo fetch --locked"]),
        (
            &[("pom.xml", "")],
            &[
                "actions/setup-java@b6effb05e454b25005698d916606bdc6ffcbf961 #",
                "mvn -B -ntp dependency:go-offline",
            ],
        ),
        (
            &[("Gemfile", "rspec")],
            &[
                "ruby/setup-ruby@0dafeac902942906541bc140009cdbf32665b601 #",
                "bundler-cache: \"true\"",
            ],
        ),
        (&[("configure.ac", "")], &["- run: autoreconf -i\n", "- run: ./configure\n"]),
    ] {
        let (_, setup) = proofs(files);
        for part in expected {
            assert!(setup.contains(part), "{part}: {setup}");
        }
    }
    assert_eq!(proofs(&[("README.md", "")]), (Vec::new(), String::new()));
}

#[test]
fn documents_name_the_commands_where_no_workflow_tests() {
    let package = r#"{"scripts": {"spec": "x"}}"#;
    let text = "```sh\nnpm install\nnpm run spec\nnpm run lint\n```\n";
    let files = [("package.json", package), ("CONTRIBUTING.md", text)];
    let (success, setup) = proofs(&files);
    assert_eq!(success, ["npm run spec"]);
    assert!(setup.contains("npm install"), "{setup}");
    let proposal = propose(&scan(&files), &StarterChoices::default()).unwrap();
    assert!(proposal.policy.contains("\"npm run spec\" # CONTRIBUTING.md:2 names it"));
    let ci = "on: push\njobs:\n  test:\n    steps:\n      - run: npm run unit\n";
    let files = [files.as_slice(), &[(".github/workflows/ci.yml", ci)]].concat();
    assert_eq!(proofs(&files).0, ["npm run unit"]);
}

#[test]
fn narrow_forms_of_tests_are_allowed_and_what_has_owners_is_held() {
    for (files, command) in [
        (&[("go.mod", "")][..], "go test ./pkg/..."),
        (&[("Cargo.toml", "")], "cargo test -p x -- --nocapture"),
        (&[("package.json", r#"{"scripts": {"test": "x"}}"#)], "npm test -- a.test.js"),
        (&[("pom.xml", "")], "mvn -o test -pl core"),
        (&[("Gemfile", "rspec")], "bundle exec rspec spec/a_spec.rb"),
        (&[("mix.exs", "")], "mix test test/a_test.exs:3"),
        (&[("pyproject.toml", "pytest")], "pytest tests/test_a.py -k b"),
    ] {
        let text = propose(&scan(files), &StarterChoices::default()).unwrap().policy;
        let policy = Policy::parse(&text, "p").unwrap();
        let intent = crate::intent::Intent::Command(crate::command::Script::parse(command));
        let facts = crate::intent::Facts {
            mode: "code".to_owned(),
            sandboxed: true,
            ..crate::intent::Facts::default()
        };
        let verdict = policy.decide(&intent, &facts);
        assert_eq!(verdict.decision, crate::verdict::Decision::Allow, "{command}");
    }
    let owners = "* @all\n/src/auth/ @security\n";
    let files = [("src/auth/a.rs", ""), ("src/b.rs", ""), (".github/CODEOWNERS", owners)];
    let text = propose(&scan(&files), &StarterChoices::default()).unwrap().policy;
    let held =
        "  - hold:\n      - \"edit(src/auth/**)\" # @security\n    reason: its owners decide";
    assert!(text.contains(held), "{text}");
    assert!(text.contains("- \"edit(src/b.rs)\""), "the example is not held: {text}");
}

pub(super) fn ci(steps: &str) -> String {
    format!("on: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n{steps}")
}

fn tested(files: &[(&str, &str)], steps: &str) -> (Vec<String>, String) {
    let workflow = ci(steps);
    proofs(&[files, &[(".github/workflows/ci.yml", workflow.as_str())]].concat())
}

#[test]
fn a_command_that_tests_a_part_counts_where_nothing_tests_the_whole() {
    let go: &[(&str, &str)] = &[("go.mod", ""), ("a.go", ""), ("a_test.go", "")];
    let node: &[(&str, &str)] =
        &[("package.json", r#"{"scripts": {"test": "x", "test:unit": "y"}}"#)];
    let none: &[(&str, &str)] = &[("a.sh", "")];
    for (files, steps, expected) in [
        (
            go,
            "      - run: go test -v -coverprofile=c.out ./...\n      - run: go test -run X ./a\n",
            &["go test -v ./..."][..],
        ),
        (go, "      - run: go test -run X ./...\n", &["go test ./..."]),
        (
            none,
            "      - run: cargo test -p a\n      - run: cargo test -p b\n      - run: cargo test --all-features\n",
            &["cargo test --all-features"],
        ),
        (
            none,
            "      - run: cargo test -p a\n      - run: cargo test -p b\n      - run: cargo test -p a\n",
            &["cargo test -p a", "cargo test -p b"],
        ),
        (node, "      - run: npm run test:unit -- --shard=2/2\n", &["npm run test:unit"]),
        (node, "      - run: npx jest --shard 1/3 --ci\n", &["npx jest --ci"]),
        (none, "      - run: pytest -m slow\n      - run: pytest -q --cov\n", &["pytest -q --cov"]),
    ] {
        assert_eq!(tested(files, steps).0, expected, "{steps}");
    }
}

#[test]
fn tests_of_folders_count_where_nothing_tests_the_whole() {
    let files: &[(&str, &str)] =
        &[("backend/go.mod", ""), ("backend/a_test.go", ""), ("frontend/package.json", "{}")];
    let steps = "      - uses: actions/checkout@v4\n        with: { submodules: recursive, lfs: true, token: x }\n\
                 \x20     - uses: actions/setup-node@v4\n\
                 \x20     - run: npm ci\n        working-directory: frontend\n\
                 \x20     - run: npm test\n        working-directory: ./frontend/\n\
                 \x20     - run: |\n          cd backend\n          go test ./...\n          cd $HOME\n          pytest\n";
    let (success, setup) = tested(files, steps);
    assert_eq!(success, ["cd frontend && npm test", "cd backend && go test ./..."]);
    for part in [
        "      - run: npm ci\n        working-directory: frontend\n",
        "      - run: go mod download\n        working-directory: backend\n",
    ] {
        assert!(setup.contains(part), "{part}: {setup}");
    }
    let everywhere = [files, &[("go.mod", ""), ("a_test.go", "")]].concat();
    assert_eq!(tested(&everywhere, steps).0, ["go test ./..."]);
    // Of what lies elsewhere nothing is known, so that the packages themselves say it.
    let (success, _) = tested(files, "      - run: cd ../x && npm test\n");
    assert_eq!(success, ["cd backend && go test ./..."]);
}

#[test]
fn tests_of_django_are_those_of_its_manage_py() {
    for (line, expected) in [
        ("python manage.py test", &["python manage.py test"][..]),
        ("python -m django test --settings a.b", &["python -m django test --settings a.b"]),
        ("./manage.py test", &["./manage.py test"]),
        ("python manage.py migrate", &["pytest"]),
    ] {
        let files: &[(&str, &str)] =
            &[("requirements.txt", "django\npytest"), ("manage.py", ""), ("tests/test_a.py", "")];
        let (success, setup) = tested(files, &format!("      - run: {line}\n"));
        assert_eq!(success, expected, "{line}");
        assert!(setup.contains("setup-python") && setup.contains("pip install -r"), "{setup}");
    }
}

#[test]
fn what_is_not_read_or_not_copied_is_said() {
    let steps = "      - uses: ./.github/actions/setup\n      - uses: actions/setup-go@v5\n      - run: go test ./...\n      - uses: ./.github/actions/after\n";
    let works = ci(steps);
    let notes = |broken: &str| {
        let files = [
            ("go.mod", ""),
            (".github/workflows/a.yml", broken),
            (".github/workflows/ci.yml", works.as_str()),
            (".github/workflows/locum.yml", "jobs: ["),
        ];
        let proposal = propose(&scan(&files), &StarterChoices::default()).unwrap();
        (proposal.unreadable, proposal.left_out)
    };
    let (unreadable, left_out) = notes("on: [push]\njobs: [\n");
    let begin = "`.github/workflows/a.yml` is passed over: it is not YAML, line 2: ";
    assert!(unreadable.len() == 1 && unreadable[0].starts_with(begin), "{unreadable:?}");
    let own =
        "`uses: ./.github/actions/setup` of .github/workflows/ci.yml:6 is left out of the workflow";
    assert_eq!(left_out, [own]);
    assert_eq!(notes("on: [push]\njobs: {}\n").0, [""; 0]);
    assert_eq!(notes("").0, [""; 0]);
}
