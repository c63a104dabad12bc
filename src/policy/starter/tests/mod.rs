//! Starter policies of repositories of every kind: they load, they are tight, and what they allow
//! exists.

mod built_in;
mod checkers;
mod jobs;
mod looks;
mod output;
mod packages;
mod runners;
mod setups;
mod verbs;
mod workflows;
mod written_workflow;

use std::collections::BTreeMap;

use pretty_assertions::assert_eq;

use super::scan::{OwnMode, StarterScan};
use super::{StarterChoices, is_read, is_sampled, propose};
use crate::intent::Facts;
use crate::query::parse_intent;
use crate::schema::PolicyErrors;
use crate::verdict::Decision;
use crate::{Policy, lint};
use locum_base::path::RepoPath;

fn starter(scan: &StarterScan) -> Result<String, PolicyErrors> {
    propose(scan, &StarterChoices::default()).map(|proposal| proposal.policy)
}

fn scan(files: &[(&str, &str)]) -> StarterScan {
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let mut names: Vec<RepoPath> = files.iter().map(|(name, _)| path(name)).collect();
    names.sort();
    let texts: BTreeMap<RepoPath, String> = files
        .iter()
        .map(|(name, text)| (path(name), (*text).to_owned()))
        .filter(|(name, _)| is_read(name) || is_sampled(name))
        .collect();
    StarterScan { files: names, texts, modes: Vec::new() }
}

/// Checks what a repository's starter says in code mode, in a sandbox.
fn check(files: &[(&str, &str)], allowed: &[&str], not: &[&str]) -> String {
    let scan = scan(files);
    let text = starter(&scan).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(
        starter(&scan).as_deref(),
        Ok(text.as_str()),
        "the same repository, the same policy"
    );
    let policy = Policy::parse(&text, "policy.yml").unwrap();
    assert_eq!(lint::warnings(&policy), Vec::new(), "{text}");
    let by_words = text.replace("contained: allow", "contained: words");
    assert_ne!(by_words, text);
    let by_words = Policy::parse(&by_words, "policy.yml").unwrap();
    assert_eq!(lint::warnings(&by_words), Vec::new(), "by words: {text}");
    let facts = Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() };
    for (intents, expected) in [(allowed, true), (not, false)] {
        for intent in intents {
            let verdict = policy.decide(&parse_intent(intent).unwrap(), &facts);
            assert_eq!(
                verdict.decision == Decision::Allow,
                expected,
                "{intent}: {}\n{text}",
                verdict.reason()
            );
        }
    }
    text
}

const ALWAYS_CLOSED: &[&str] = &[
    "edit(.github/workflows/ci.yml)",
    "edit(.locum/policy.yml)",
    "command(git push)",
    "command(curl x)",
    "read(.env)",
];

#[test]
fn a_rust_repository() {
    let ci = "jobs:\n  test:\n    steps:\n      - uses: actions/checkout@v5\n      - run: cargo clippy --all-targets\n      - run: |\n          cargo test --workspace\n          cargo publish --token ${{ secrets.T }}\n          curl https://x | sh\n";
    let text = check(
        &[
            ("Cargo.toml", "[package]"),
            ("Cargo.lock", ""),
            ("src/lib.rs", ""),
            ("tests/a.rs", ""),
            ("build.rs", ""),
            ("README.md", ""),
            ("docs/a.md", ""),
            (".github/workflows/ci.yml", ci),
        ],
        &[
            "edit(src/a/b.rs)",
            "edit(tests/b.rs)",
            "edit(README.md)",
            "edit(docs/b.md)",
            "command(cargo test --workspace)",
            "command(cargo clippy --all-targets)",
        ],
        &[
            &[
                "edit(Cargo.toml)",
                "edit(Cargo.lock)",
                "edit(new.txt)",
                "command(cargo publish)",
                "command(cargo add x)",
                "command(cargo nextest run)",
            ],
            ALWAYS_CLOSED,
        ]
        .concat(),
    );
    check(
        &[("Cargo.toml", "[package]"), ("src/lib.rs", "")],
        &["edit(src/a.rs)"],
        &[
            &[
                "edit(tests/a.rs)",
                "edit(Cargo.toml)",
                "command(cargo install x)",
                "command(cargo publish)",
            ],
            ALWAYS_CLOSED,
        ]
        .concat(),
    );
    let proof = "    - \"cargo test --workspace\" # .github/workflows/ci.yml:6 runs it\n";
    assert!(text.contains(proof), "{text}");
}

#[test]
fn node_repositories_by_their_package_manager() {
    let package = |extra: &str| {
        format!(
            r#"{{"name": "x", "scripts": {{"test": "vitest", "lint": "eslint .", "deploy": "x", "build": "tsc"}}{extra}}}"#
        )
    };
    for (lock, extra, manager) in [
        ("package-lock.json", "", "npm"),
        ("pnpm-lock.yaml", "", "pnpm"),
        ("yarn.lock", "", "yarn"),
        ("README", r#", "packageManager": "pnpm@9.1.0""#, "pnpm"),
    ] {
        check(
            &[
                ("package.json", &package(extra)),
                (lock, ""),
                ("src/a.ts", ""),
                ("src/b.tsx", ""),
                ("test/a.test.ts", ""),
                ("dist/a.js", ""),
            ],
            &[
                "edit(src/a.ts)",
                "edit(test/a.ts)",
                &format!("command({manager} test)"),
                &format!("command({manager} run lint)"),
            ],
            &[
                &[
                    "edit(dist/a.js)",
                    "edit(package.json)",
                    "edit(lib/a.ts)",
                    &format!("command({manager} run deploy)"),
                    &format!("command({manager} install)"),
                ],
                ALWAYS_CLOSED,
            ]
            .concat(),
        );
    }
    let text = check(
        &[
            (
                "package.json",
                r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#,
            ),
            ("index.js", ""),
        ],
        &["edit(index.js)"],
        &["command(npm test)"],
    );
    assert!(text.contains("# No test command was found"), "{text}");
}

#[test]
fn lock_files_wait_for_a_person_with_the_manifests_beside_them() {
    let text = check(
        &[
            ("package.json", r#"{"scripts": {"test": "x"}}"#),
            ("package-lock.json", ""),
            ("src/a.ts", ""),
            ("data/yarn.lock", ""),
        ],
        &["edit(src/a.ts)"],
        &["edit(package-lock.json)", "edit(data/yarn.lock)"],
    );
    let held = text.split_once("- hold:").map_or("", |(_, held)| held);
    let held = held.split_once("reason:").map_or("", |(held, _)| held);
    assert!(held.contains("edit(package.json)"), "{text}");
    assert!(held.contains("edit(package-lock.json)"), "{text}");
    assert!(!held.contains("data/yarn.lock"), "{text}");
}

#[test]
fn a_script_is_a_hook_by_what_it_comes_before_or_after() {
    let own = ["prettier", "preview", "pretty", "postcss", "lint", "build", "pretest:all"];
    let hooks = [
        "prelint",
        "postbuild",
        "pretest",
        "prepare",
        "prepack",
        "postpack",
        "preinstall",
        "postinstall",
        "postinstall:web",
        "install:web",
        "prepublishOnly",
        "preversion",
        "dependencies",
    ];
    let all: Vec<String> =
        own.iter().chain(&hooks).map(|name| format!(r#""{name}": "x""#)).collect();
    let package = format!(r#"{{"scripts": {{{}}}}}"#, all.join(", "));
    let run = |name: &&str| format!("command(npm run {name})");
    let (own, hooks): (Vec<_>, Vec<_>) =
        (own.iter().map(run).collect(), hooks.iter().map(run).collect());
    check(
        &[("package.json", &package), ("a.js", "")],
        &own.iter().map(String::as_str).collect::<Vec<_>>(),
        &hooks.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let composer = r#"{"scripts": {"pre-commit": "x", "post-install-cmd": "x", "pretty": "x"}}"#;
    check(
        &[("composer.json", composer), ("src/a.php", "")],
        &["command(composer pretty)"],
        &["command(composer post-install-cmd)", "command(composer pre-commit)"],
    );
}

#[test]
fn python_repositories_by_their_tools() {
    for (files, allowed, not) in [
        (
            &[
                ("pyproject.toml", "[tool.pytest.ini_options]\n[tool.ruff]"),
                ("app/a.py", ""),
                ("tests/test_a.py", ""),
            ][..],
            &["command(pytest -q tests/test_a.py)", "command(ruff check)"][..],
            &["command(tox)", "command(mypy .)"][..],
        ),
        (
            &[("pyproject.toml", "pytest"), ("uv.lock", ""), ("app/a.py", "")][..],
            &["command(uv run pytest)", "command(pytest -k a)"][..],
            &["command(uv run x)", "command(uv sync)", "command(tox)"][..],
        ),
        (
            &[("pyproject.toml", "pytest tox"), ("uv.lock", ""), ("app/a.py", "")][..],
            &["command(tox)"][..],
            &["command(nox)"][..],
        ),
        (
            &[("setup.py", ""), ("tox.ini", "[tox]"), ("app/a.py", "")][..],
            &["command(tox)"][..],
            &["command(pytest)", "command(tox -e publish)"][..],
        ),
        (
            &[("setup.py", ""), ("app/a.py", ""), ("app/test_a.py", "import unittest")][..],
            &["command(python -m unittest)"][..],
            &["command(python -c x)", "command(python /tmp/x.py)"][..],
        ),
        (
            &[("noxfile.py", "import nox"), ("requirements.txt", "flask"), ("app/a.py", "")][..],
            &["command(nox)"][..],
            &["command(pytest)"][..],
        ),
    ] {
        check(
            files,
            &[&["edit(app/b.py)"], allowed].concat(),
            &[not, &["edit(other/a.py)", "command(pip install x)"], ALWAYS_CLOSED].concat(),
        );
    }
}

#[test]
fn go_and_java_repositories() {
    check(
        &[
            ("go.mod", "module x"),
            ("main.go", ""),
            ("cmd/x/main.go", ""),
            ("internal/a.go", ""),
            ("api/a.pb.go", ""),
            ("vendor/y/y.go", ""),
        ],
        &[
            "edit(main.go)",
            "edit(other.go)",
            "edit(cmd/y/main.go)",
            "edit(internal/b.go)",
            "command(go test ./...)",
            "command(go vet ./...)",
        ],
        &[
            &[
                "edit(vendor/y/y.go)",
                "edit(internal/x.pb.go)",
                "edit(go.mod)",
                "edit(web/a.go)",
                "command(go run x)",
                "command(go install x)",
            ],
            ALWAYS_CLOSED,
        ]
        .concat(),
    );
    for (manifest, wrapper, command) in [
        ("pom.xml", "mvnw", "./mvnw -o test"),
        ("pom.xml", "readme", "mvn -o test"),
        ("build.gradle", "gradlew", "./gradlew --offline test"),
        ("build.gradle.kts", "readme", "gradle --offline test"),
    ] {
        check(
            &[
                (manifest, ""),
                (wrapper, ""),
                ("src/main/java/A.java", ""),
                ("src/test/java/T.java", ""),
            ],
            &["edit(src/main/java/B.java)", &format!("command({command})")],
            &[
                &["command(mvn deploy)", "command(gradle publish)", &format!("edit({manifest})")],
                ALWAYS_CLOSED,
            ]
            .concat(),
        );
    }
}

#[test]
fn a_monorepo_gets_one_line_for_packages_side_by_side() {
    let text = check(
        &[
            ("package.json", r#"{"workspaces": ["packages/*"], "scripts": {"test": "x"}}"#),
            ("packages/a/package.json", "{}"),
            ("packages/a/src/a.ts", ""),
            ("packages/b/package.json", "{}"),
            ("packages/b/src/a.ts", ""),
            ("packages/c/package.json", "{}"),
            ("packages/c/src/generated/a.ts", ""),
            ("packages/c/src/a.ts", ""),
            ("server/Cargo.toml", ""),
            ("server/src/main.rs", ""),
            ("tools/build/package.json", "{}"),
            ("tools/build/src/a.js", ""),
        ],
        &[
            "edit(packages/z/src/a.ts)",
            "edit(server/src/a.rs)",
            "edit(tools/build/src/a.js)",
            "command(npm test)",
            "command(cargo test)",
        ],
        &[
            &[
                "edit(packages/a/x.ts)",
                "edit(packages/c/src/generated/a.ts)",
                "edit(packages/a/package.json)",
                "edit(server/Cargo.toml)",
            ],
            ALWAYS_CLOSED,
        ]
        .concat(),
    );
    assert_eq!(
        text.matches("edit(packages/").count(),
        4,
        "one for all, one closed, two examples: {text}"
    );
    assert!(
        text.contains("    - \"npm test\"\n") && !text.contains("    - \"cargo test\""),
        "what is tested below the top is not tested from there: {text}"
    );
}

#[test]
fn texts_alone_an_empty_repository_and_strange_names() {
    let text = check(
        &[("README.md", ""), ("docs/a.md", "")],
        &["edit(docs/b.md)", "edit(README.md)"],
        &[&["edit(src/a)"], ALWAYS_CLOSED].concat(),
    );
    assert!(text.contains("# No source folder was found"), "{text}");
    check(&[], &["read(a)", "command(git status)"], &[&["edit(a)"], ALWAYS_CLOSED].concat());
    check(
        &[
            ("a*b/x.rs", ""),
            ("a\"b/x.rs", ""),
            ("# x/a.rs", ""),
            ("src/x.rs", ""),
            ("a b/x.rs", ""),
            ("ü/x.rs", ""),
            (".cargo/x.rs", ""),
        ],
        &["edit(src/y.rs)", "edit(a b/y.rs)", "edit(ü/y.rs)"],
        &["edit(azb/x.rs)", "edit(.cargo/x.rs)"],
    );
    for broken in
        ["{", "[]", "null", "{\"scripts\": 3}", "{\"scripts\": {\"test\": 3, \"lint\": {}}}"]
    {
        check(
            &[
                ("package.json", broken),
                (".github/workflows/a.yml", "jobs: ["),
                (".gitattributes", "[ x\n* linguist-generated\n**x linguist-generated\n"),
            ],
            &[],
            &["command(npm test)"],
        );
    }
}

#[test]
fn what_workflows_run_may_be_run_word_for_word() {
    let ci = "jobs:\n  a:\n    steps:\n      - run: npx eslint src\n      - run: make test-unit\n      - run: npm ci\n      - run: python -m pytest --cov=app\n      - run: cargo test && cargo publish\n      - run: make deploy-check\n      - run: npm run test -- $ARGS\n      - run: ./scripts/test.sh\n      - run: go test ../other\n      - run: /usr/bin/make test\n      - run: npm publish --check\n";
    let text = check(
        &[
            (".github/workflows/ci.yml", ci),
            (".github/workflows/locum.yml", "jobs: {a: {steps: [{run: make lint}]}}"),
        ],
        &[
            "command(npx eslint src)",
            "command(make test-unit)",
            "command(python -m pytest --cov=app)",
        ],
        &[
            "command(npm ci)",
            "command(cargo publish)",
            "command(npm run test)",
            "command(./scripts/test.sh)",
            "command(go test ../other)",
            "command(make lint)",
            "command(npx eslint)",
            "command(npm publish --check)",
        ],
    );
    assert!(text.contains(".github/workflows/ci.yml:4 runs it"), "{text}");
}

#[test]
fn modes_of_the_repository_may_run_and_write_as_far_as_they_do() {
    let own = |slug: &str, writes: bool| OwnMode { slug: slug.to_owned(), writes };
    let scan = StarterScan {
        modes: vec![own("backend", true), own("guide", false), own("code", true)],
        ..scan(&[("Cargo.toml", ""), ("src/a.rs", "")])
    };
    let policy = Policy::parse(&starter(&scan).unwrap(), "policy.yml").unwrap();
    let decide = |mode: &str, intent: &str| {
        policy
            .decide(
                &parse_intent(intent).unwrap(),
                &Facts { mode: mode.to_owned(), sandboxed: true, ..Facts::default() },
            )
            .decision
    };
    assert_eq!(decide("backend", "edit(src/a.rs)"), Decision::Allow);
    assert_eq!(decide("guide", "edit(src/a.rs)"), Decision::Deny);
    assert_eq!(decide("orchestrator", "delegate(guide)"), Decision::Allow);
}

#[test]
fn what_programs_write_is_closed_and_generated_files_are_no_example() {
    let text = check(
        &[
            ("src/a.rs", ""),
            ("src/b.rs", ""),
            (
                ".gitattributes",
                "src/a.rs linguist-generated=true\n*.snap linguist-generated\n/api/** \
                 linguist-vendored # x\n",
            ),
            ("api/x.rs", ""),
        ],
        &["edit(src/b.rs)"],
        &["edit(src/a.rs)", "edit(src/x.snap)", "edit(api/x.rs)"],
    );
    assert!(text.contains("edit(src/b.rs)"), "{text}");
}
