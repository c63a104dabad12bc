//! What workflows of a repository tell, and the workflow that is written for it.

use pretty_assertions::assert_eq;

use super::scan;
use crate::Policy;
use crate::starter::workflow::{ActionReference, WorkflowForm, WorkflowModel, workflow};
use crate::starter::{StarterChoices, propose};
use locum_files::yaml::YamlDocument;

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
fn a_workflow_listens_to_what_the_policy_starts_and_to_nothing_else() {
    let proposal = propose(&scan(&[("Cargo.toml", "")]), &StarterChoices::default()).unwrap();
    let model = model();
    let written = |triggers: &str| {
        let policy = Policy::parse(&format!("version: 1\ntriggers: {triggers}\n"), "p").unwrap();
        workflow(&proposal, policy.settings(), (&model, &action()), WorkflowForm::OneJob)
    };
    let parts = [
        "  issue_comment:",
        "  pull_request_review:",
        "  issues:\n    types: [opened]",
        "  issues:\n    types: [labeled]",
        "  issues:\n    types: [assigned, edited]",
        "  pull_request:\n    types: [labeled]",
        "  pull_request:\n    types: [opened, ready_for_review, reopened]",
        "  pull_request:\n    types: [opened, synchronize]",
        "  workflow_run:",
        "    workflows: [\"CI\"] # name the workflows",
        "    workflows: [\"Tests\", \"Lint\"]",
        "      actions: write # to read the output of failed jobs",
        "  push:\n    branches: [\"**\"]",
        "  push:\n    branches: [\"release/*\"]",
        "  release:\n    types: [published]",
        "  merge_group:\n    types: [checks_requested]",
        "  repository_dispatch:\n    types: [\"tidy\"]",
        "  workflow_dispatch:",
        "  schedule:",
        "  pull_request:\n    types: [opened, labeled]",
        "      checks: read # to see what else failed",
        "      checks: write # to show results as check runs",
    ];
    let at = |places: &[usize]| places.iter().map(|place| parts[*place]).collect::<Vec<_>>();
    for (triggers, expected) in [
        ("{ comment: { prefix: /do, tiers: [maintainer] } }", at(&[0, 1, 2])),
        ("{ label: { name: x, tiers: [maintainer] } }", at(&[3, 5])),
        ("{ assign: { login: x }, schedule: { dashboard: true } }", at(&[4])),
        ("{ pull_request: { tiers: [maintainer] } }", at(&[6])),
        ("{ pull_request: [{ on: opened }, { on: [synchronize, opened] }] }", at(&[7])),
        ("{ label: { name: x }, pull_request: { on: opened } }", at(&[3, 19])),
        ("{ ci_failure: {} }", at(&[8, 9, 11, 20])),
        ("{ ci_failure: {} }\npublish: { allow: [check] }", at(&[8, 9, 11, 21])),
        ("{ push: { job: x } }\npublish: { allow: [comment, check] }", at(&[12, 21])),
        ("{ ci_failure: { workflows: [Tests, Lint] } }", at(&[8, 10, 11, 20])),
        ("{ push: { job: x } }", at(&[12])),
        ("{ push: { job: x, branches: [\"release/*\"] } }", at(&[13])),
        ("{ release: { job: x } }", at(&[14])),
        ("{ merge_group: { job: x } }", at(&[15])),
        ("{ repository_dispatch: { types: [tidy] } }", at(&[16])),
        ("{ dispatch: { tiers: [maintainer] } }", at(&[17])),
        ("{ schedule: { jobs: [nightly] } }", at(&[18])),
    ] {
        let text = written(triggers);
        let document = YamlDocument::parse(&text);
        assert_eq!(document.mistakes, [], "{text}");
        let found: Vec<&str> = parts.into_iter().filter(|part| text.contains(part)).collect();
        assert_eq!(found, expected, "{triggers}: {text}");
        assert!(text.contains("model: ${{ vars.LOCUM_MODEL || 'anthropic:m' }}"), "{text}");
        assert!(text.contains("- run: cargo fetch\n"), "{text}");
    }
    assert!(written("{ comment: { prefix: /do, tiers: [maintainer] } }").contains("'/do'"));
}

/// Locum's own examples know no commit of a release: they are part of it.
fn action() -> ActionReference {
    ActionReference {
        repository: "OWNER/locum".to_owned(),
        commit: "0".repeat(40),
        version: Some("v0.1.0".to_owned()),
    }
}

#[test]
fn an_action_is_named_by_a_whole_commit() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    for name in ["acme/locum", "acme/tools/locum"] {
        let read: ActionReference = format!("{name}@{commit}").parse().unwrap();
        assert_eq!((read.repository.as_str(), read.commit.as_str()), (name, commit));
    }
    for wrong in [
        "acme/locum",
        "acme/locum@v1",
        "acme/locum@0123456",
        "locum@0123456789abcdef0123456789abcdef01234567",
        "acme/@0123456789abcdef0123456789abcdef01234567",
        "a b/locum@0123456789abcdef0123456789abcdef01234567",
        "acme/locum@0123456789ABCDEF0123456789abcdef01234567",
        "acme/locum@0000000000000000000000000000000000000000",
    ] {
        assert!(wrong.parse::<ActionReference>().is_err(), "{wrong}");
    }
}

#[test]
fn the_example_is_what_a_rust_repository_gets() {
    let proposal =
        propose(&scan(&[("Cargo.toml", ""), ("Cargo.lock", "")]), &StarterChoices::default())
            .unwrap();
    let policy = include_str!("../../../../config/examples/policy.yml");
    let policy = Policy::parse(policy, "p").unwrap();
    let model = WorkflowModel {
        model: "openai-responses:gpt-6.1-terra".to_owned(),
        base_url: None,
        key: Some("${{ secrets.OPENAI_API_KEY }}".to_owned()),
        permission: None,
        variables: Vec::new(),
        login: String::new(),
    };
    assert_eq!(
        workflow(&proposal, policy.settings(), (&model, &action()), WorkflowForm::OneJob),
        include_str!("../../../../config/examples/workflow.yml")
    );
    let two = workflow(&proposal, policy.settings(), (&model, &action()), WorkflowForm::TwoJobs);
    assert_eq!(two, include_str!("../../../../config/examples/workflow-two-jobs.yml"));
    let (work, publish) = two.split_once("  publish:\n").unwrap();
    assert!(!work.contains(": write #") && work.contains("secrets."), "{work}");
    assert!(publish.contains("contents: write #") && !publish.contains("secrets."), "{publish}");
    let model = WorkflowModel { permission: Some("models: read # to ask".to_owned()), ..model };
    let text = "version: 1\ntriggers: { ci_failure: {} }\npublish: { allow: [comment] }\n";
    let comments = Policy::parse(text, "p").unwrap();
    let two = workflow(&proposal, comments.settings(), (&model, &action()), WorkflowForm::TwoJobs);
    let (work, publish) = two.split_once("  publish:\n").unwrap();
    assert!(!work.contains(": write #") && work.contains("models: read"), "{work}");
    assert!(work.contains("actions: read # to read the output"), "{work}");
    assert!(publish.contains("contents: read #") && !publish.contains("models:"), "{publish}");
}

#[test]
fn an_identity_in_place_of_a_key_is_the_working_jobs_alone() {
    let proposal =
        propose(&scan(&[("Cargo.toml", ""), ("Cargo.lock", "")]), &StarterChoices::default())
            .unwrap();
    let policy = Policy::parse("version: 1\ntriggers: { dispatch: {} }\n", "p").unwrap();
    let model = WorkflowModel {
        model: "bedrock:m".to_owned(),
        base_url: None,
        key: None,
        permission: Some("id-token: write # to show who it is".to_owned()),
        variables: vec!["AWS_REGION".to_owned()],
        login: "      - uses: a/login@1\n".to_owned(),
    };
    for form in [WorkflowForm::OneJob, WorkflowForm::TwoJobs] {
        let text = workflow(&proposal, policy.settings(), (&model, &action()), form);
        assert_eq!(YamlDocument::parse(&text).mistakes, [], "{text}");
        let (work, publish) = text.split_once("  publish:\n").unwrap_or((&text, ""));
        let parts = [
            "      id-token: write # to show who it is\n",
            "    env: # variables of the repository, no secrets\n      AWS_REGION: ${{ \
             vars.AWS_REGION }}\n",
            "- run: cargo fetch --locked\n      - uses: a/login@1\n",
        ];
        for part in parts {
            assert!(work.contains(part) && !publish.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("api-key"), "{text}");
    }
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

fn model() -> WorkflowModel {
    WorkflowModel {
        model: "anthropic:m".to_owned(),
        base_url: None,
        key: Some("${{ secrets.K }}".to_owned()),
        permission: None,
        variables: Vec::new(),
        login: String::new(),
    }
}

fn ci(steps: &str) -> String {
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
fn the_checkout_has_what_the_tests_need() {
    let steps = "      - uses: actions/checkout@v4\n        with: { submodules: recursive, lfs: true, fetch-depth: 0, token: x }\n\
                 \x20     - run: go test ./...\n";
    let workflow_of_ci = ci(steps);
    let files =
        [("go.mod", ""), ("a.go", ""), (".github/workflows/ci.yml", workflow_of_ci.as_str())];
    let proposal = propose(&scan(&files), &StarterChoices::default()).unwrap();
    let inputs: Vec<&str> = proposal.checkout.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(inputs, ["submodules", "lfs", "fetch-depth"]);
    let policy = Policy::parse(&proposal.policy, "p").unwrap();
    let action: ActionReference = format!("o/locum@{}", "1".repeat(40)).parse().unwrap();
    let model = model();
    let text = workflow(&proposal, policy.settings(), (&model, &action), WorkflowForm::OneJob);
    let lines = "          persist-credentials: false\n          submodules: \"recursive\"\n          lfs: \"true\"\n          fetch-depth: \"0\"\n";
    assert!(text.contains(lines) && !text.contains("token: x"), "{text}");
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
