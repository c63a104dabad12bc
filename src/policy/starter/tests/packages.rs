//! Packages in folders of a repository: which of their tests become success commands, and what sets
//! them up.

use pretty_assertions::assert_eq;

use super::{check, scan};
use crate::Policy;
use crate::starter::{StarterChoices, StarterProposal, propose};

const PACKAGE: &str = r#"{"scripts": {"test": "vitest run", "lint": "eslint ."}}"#;

fn proposed(files: &[(&str, &str)]) -> (Vec<String>, StarterProposal) {
    let proposal = propose(&scan(files), &StarterChoices::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    let policy = Policy::parse(&proposal.policy, "p").unwrap();
    (policy.settings().publish.success.clone(), proposal)
}

const MONOREPO: &[(&str, &str)] = &[
    ("backend/go.mod", "module x\n\ngo 1.22\n"),
    ("backend/go.sum", ""),
    ("backend/a_test.go", ""),
    ("tools/go.mod", "module y\n\ngo 1.24.1\n"),
    ("tools/a.go", ""),
    ("frontend/package.json", PACKAGE),
    ("frontend/package-lock.json", ""),
    ("frontend/src/a.ts", ""),
    ("services/api/pyproject.toml", "[project]\n[tool.pytest.ini_options]"),
    ("services/api/tests/test_a.py", ""),
    ("services/mail/pyproject.toml", "pytest"),
    ("services/mail/uv.lock", ""),
    ("core/Cargo.toml", "[workspace]"),
    ("core/Cargo.lock", ""),
    ("core/crates/a/Cargo.toml", "[package]"),
    ("core/crates/a/src/lib.rs", ""),
];

#[test]
fn each_package_gives_its_test_where_nothing_tests_the_whole() {
    let (success, proposal) = proposed(MONOREPO);
    assert_eq!(
        success,
        [
            "cd backend && go test ./...",
            "cd core && cargo test",
            "cd frontend && npm test",
            "cd tools && go vet ./...",
            "cd services/api && pytest",
            "cd services/mail && uv run pytest",
        ]
    );
    assert_eq!(proposal.untested, [""; 0]);
    assert!(!proposal.policy.contains("was found"), "{}", proposal.policy);
    let allowed: Vec<String> =
        success.iter().map(|command| format!("command({command})")).collect();
    check(
        MONOREPO,
        &allowed.iter().map(String::as_str).collect::<Vec<_>>(),
        &["command(cd frontend && npm publish)", "command(cd backend && go install x)"],
    );
}

#[test]
fn packages_are_set_up_in_their_folders_with_one_tool_chain_for_a_language() {
    let (_, proposal) = proposed(MONOREPO);
    let setup = &proposal.setup;
    for part in [
        "go-version-file: \"tools/go.mod\"\n          cache-dependency-path: \"backend/go.sum\"\n",
        "- run: go mod download\n        working-directory: backend\n",
        "- run: go mod download\n        working-directory: tools\n",
        "- run: cargo fetch --locked\n        working-directory: core\n",
        "cache: \"npm\"\n          cache-dependency-path: \"frontend/package-lock.json\"\n",
        "- run: npm ci\n        working-directory: frontend\n",
        "cache: \"pip\"\n          cache-dependency-path: \"services/api/pyproject.toml\"\n",
        "          pip install -e .\n          pip install pytest\n        working-directory: \
         services/api\n",
        "- run: uv sync --all-extras\n        working-directory: services/mail\n",
    ] {
        assert!(setup.contains(part), "{part}: {setup}");
    }
    assert_eq!(setup.matches("setup-go@").count(), 1, "{setup}");
    for install in ["cd frontend && npm ci", "cd services/api && pip install -e ."] {
        assert!(proposal.installs.iter().any(|own| own == install), "{:?}", proposal.installs);
    }
}

#[test]
fn versions_named_above_a_package_count_where_its_folder_names_none() {
    let managed = "java 17.0.1\nruby 3.2.2\nphp 8.2.1\nerlang 26.2.1\nelixir 1.16.0\n";
    let poetry = ("jobs/pyproject.toml", "[tool.poetry]\n[tool.pytest]");
    let composer = r#"{"scripts": {"test": "phpunit"}}"#;
    let top = [(".tool-versions", managed), (".python-version", "3.11\n")];
    for (files, expected) in [
        (
            &[("app/pom.xml", ""), ("app/src/test/java/ATest.java", "")][..],
            "java-version: \"17\"\n",
        ),
        (&[("app/Gemfile", "gem 'rspec'\n"), ("app/spec/a_spec.rb", "")], "version: \"3.2.2\"\n"),
        (&[("app/composer.json", composer), ("app/a.php", "")], "php-version: \"8.2\"\n"),
        (&[("app/mix.exs", ""), ("app/test/a_test.exs", "")], "otp-version: \"26.2.1\"\n"),
        (&[poetry, ("jobs/poetry.lock", "")], "python-version-file: \".python-version\"\n"),
        // The nearest counts, and the build of another folder says nothing.
        (
            &[("app/pom.xml", ""), ("app/.java-version", "21\n"), ("app/A.java", "")],
            "java-version: \"21\"\n",
        ),
        (
            &[("app/pom.xml", ""), ("old/pom.xml", "<java.version>8</java.version>")],
            "java-version: \"17\"\n",
        ),
    ] {
        let (_, proposal) = proposed(&[files, &top].concat());
        assert!(proposal.setup.contains(expected), "{expected}: {}", proposal.setup);
    }
}

#[test]
fn members_of_a_workspace_are_installed_where_its_lock_file_is() {
    let root = r#"{"private": true, "workspaces": ["packages/*", "!packages/old"]}"#;
    let (success, proposal) = proposed(&[
        ("package.json", root),
        ("pnpm-lock.yaml", ""),
        ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
        ("packages/a/package.json", PACKAGE),
        ("packages/b/package.json", PACKAGE),
        ("site/package.json", PACKAGE),
        ("site/yarn.lock", ""),
        ("py/pyproject.toml", "[tool.uv.workspace]\nmembers = [\"a\"]\n"),
        ("py/uv.lock", ""),
        ("py/a/pyproject.toml", "pytest"),
    ]);
    assert_eq!(
        success,
        [
            "cd py && uv run pytest",
            "cd site && yarn test",
            "cd packages/a && pnpm test",
            "cd packages/b && pnpm test"
        ]
    );
    let setup = &proposal.setup;
    for part in [
        "- run: pnpm install --frozen-lockfile\n",
        "- run: yarn install --frozen-lockfile\n        working-directory: site\n",
        "- run: corepack enable\n",
    ] {
        assert_eq!(setup.matches(part).count(), 1, "{part}: {setup}");
    }
    assert!(!setup.contains("working-directory: packages"), "{setup}");
}

#[test]
fn what_tests_the_top_decides_for_what_it_covers() {
    let workspace = r#"{"workspaces": ["apps/*"], "scripts": {"test": "x"}}"#;
    let go = ("backend/go.mod", "module x");
    for (top, expected, untested) in [
        // Members of a workspace, targets of a Makefile.
        (&[("package.json", workspace)][..], &["npm test"][..], &[][..]),
        (&[("Makefile", "test:\n\tx\n"), go], &["make test"], &[]),
        (&[("Cargo.toml", "[workspace]"), ("apps/web/Cargo.toml", "")], &["cargo test"], &[]),
        // Another language is not covered.
        (&[("package.json", workspace), go], &["npm test", "cd backend && go vet ./..."], &[]),
        // A package that is no member is left to the maintainer.
        (
            &[("package.json", PACKAGE)],
            &["npm test"],
            &["No success command runs `cd apps/web && npm test`"],
        ),
    ] {
        let files = [top, &[("apps/web/package.json", PACKAGE), ("apps/web/a.ts", "")]].concat();
        let files: Vec<_> = if top[0].0 == "Cargo.toml" { top.to_vec() } else { files };
        let (success, proposal) = proposed(&files);
        assert_eq!(success, expected, "{files:?}");
        let is_prepared = top[0].0 == "Makefile" && proposal.setup.contains("go mod download");
        assert_eq!(is_prepared, success == ["make test"], "{}", proposal.setup);
        let fits = proposal.untested.iter().zip(untested).all(|(own, part)| own.contains(part));
        assert!(fits && proposal.untested.len() == untested.len(), "{:?}", proposal.untested);
    }
}

#[test]
fn a_workflow_says_which_packages_are_tested_and_the_others_are_named() {
    let ci = "on: push\njobs:\n  test:\n    steps:\n      - uses: actions/setup-go@a\n      - run: \
              go test ./...\n        working-directory: backend\n";
    let files = [MONOREPO, &[(".github/workflows/ci.yml", ci)]].concat();
    let (success, proposal) = proposed(&files);
    assert_eq!(success, ["cd backend && go test ./..."]);
    let [untested] = proposal.untested.as_slice() else { panic!("{:?}", proposal.untested) };
    assert!(untested.contains("`cd frontend && npm test`"), "{untested}");
    assert!(!untested.contains("backend"), "{untested}");
    // One that only lints says nothing of tests.
    let lint = ci.replace("go test ./...", "go vet ./...");
    let files = [MONOREPO, &[(".github/workflows/ci.yml", lint.as_str())]].concat();
    let (success, proposal) = proposed(&files);
    assert_eq!(success.len(), 6, "{success:?}");
    assert!(proposal.setup.contains("- uses: actions/setup-go@a\n"), "{}", proposal.setup);
}

#[test]
fn a_command_in_a_document_is_not_run_at_the_top_where_packages_alone_have_its_tool_chain() {
    let readme = "```sh\nnpm test\n```\n";
    let files = [("web/package.json", PACKAGE), ("README.md", readme)];
    assert_eq!(proposed(&files).0, ["cd web && npm test"]);
    // Beside another package manager, whose lock file comes first.
    let files = [&files[..], &[("app/package.json", PACKAGE), ("app/pnpm-lock.yaml", "")]].concat();
    assert_eq!(proposed(&files).0, ["cd app && pnpm test", "cd web && npm test"]);
    check(&files, &["command(cd web && npm run lint)"], &["command(cd web && npm ci)"]);
}

#[test]
fn fixtures_and_what_others_wrote_are_no_packages() {
    let mut files = vec![("go.sum", "")];
    for folder in [
        "examples/a",
        "lib/testdata/a",
        "web/fixtures/a",
        "vendor/a",
        "node_modules/a",
        "a/third_party/b",
        ".hidden",
        "sub/module",
    ] {
        files.push((Box::leak(format!("{folder}/package.json").into_boxed_str()), PACKAGE));
    }
    files.push((".gitmodules", "[submodule \"x\"]\n\tpath = sub/module\n\turl = x\n"));
    let (success, proposal) = proposed(&files);
    assert_eq!((success, proposal.untested), (Vec::new(), Vec::new()));
    // The comment does not contradict the lines above it.
    assert!(proposal.policy.contains("\"command(npm test:*)\""), "{}", proposal.policy);
    assert!(!proposal.policy.contains("# No test command was found"), "{}", proposal.policy);
    assert!(proposal.policy.contains("# No command was found that tests the whole repository"));
}

#[test]
fn what_is_over_the_bounds_or_has_no_test_is_named() {
    let names: Vec<String> = (0..10).map(|number| format!("p{number}/package.json")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), PACKAGE)).collect();
    files.push(("a/b/c/d/go.mod", ""));
    files.push(("bare/pyproject.toml", "[project]"));
    let (success, proposal) = proposed(&files);
    assert_eq!(success.len(), 8);
    let [left, unknown] = proposal.untested.as_slice() else { panic!("{:?}", proposal.untested) };
    for command in ["cd p8 && npm test", "cd p9 && npm test", "cd a/b/c/d && go vet ./..."] {
        assert!(left.contains(&format!("`{command}`")), "{left}");
    }
    assert!(unknown.contains("No test was found in `bare`"), "{unknown}");
}

#[test]
fn the_build_output_of_a_package_may_be_removed_where_git_ignores_it() {
    let removed = ["command(cd py && rm -rf dist)"];
    for (ignored, is_allowed) in [
        ((".gitignore", "dist/\n"), true),
        (("py/.gitignore", "/dist\n"), true),
        ((".gitignore", "/dist/\n"), false),
        (("web/.gitignore", "dist\n"), false),
    ] {
        let files = [
            ("py/pyproject.toml", "pytest"),
            ("py/src/a.py", ""),
            ("web/package.json", PACKAGE),
            ignored,
        ];
        let (allowed, not) =
            if is_allowed { (&removed[..], &[][..]) } else { (&[][..], &removed[..]) };
        check(&files, allowed, not);
    }
    let names: Vec<String> = (0..5).map(|number| format!("p/{number}/package.json")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), PACKAGE)).collect();
    files.push((".gitignore", "dist\n"));
    let text = check(&files, &["command(cd p/1 && rm -rf dist)"], &["command(rm -rf p/1/src)"]);
    assert!(text.contains("- \"edit(p/*/dist/**)\" # .gitignore\n"), "{text}");
    files.push(("p/4/dist/a.js", ""));
    check(&files, &["command(cd p/1 && rm -rf dist)"], &["command(cd p/4 && rm -rf dist)"]);
}

#[test]
fn parts_of_a_gradle_build_are_no_packages_of_their_own() {
    let build = "plugins { id 'java' }\n";
    let files = [
        ("settings.gradle.kts", "include(\"app\")\n"),
        ("gradlew", "#!/bin/sh\n"),
        ("app/build.gradle.kts", build),
        ("app/src/test/java/ATest.java", ""),
    ];
    let (success, _) = proposed(&files);
    assert!(success.iter().all(|command| !command.contains("cd app")), "{success:?}");
}
