//! What the written workflow sets up: versions that the repository names, variables and secrets of
//! its own workflows, names that mean nothing else. And sources of repositories with many folders.

use pretty_assertions::assert_eq;

use super::{check, scan};
use crate::starter::{StarterChoices, StarterProposal, propose};

fn proposed(files: &[(&str, &str)]) -> StarterProposal {
    propose(&scan(files), &StarterChoices::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn lines(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

/// The proposal for a repository whose workflow has this job.
fn with_job(files: &[(&str, &str)], job: &str) -> StarterProposal {
    let ci = format!("on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n{job}");
    proposed(&[files, &[(".github/workflows/ci.yml", ci.as_str())]].concat())
}

#[test]
fn the_tool_chain_has_the_version_that_the_repository_names() {
    let poetry = "[tool.poetry.dependencies]\npython = \">=3.9,<3.12\"\n[tool.pytest]\n";
    let test = r#"{"scripts": {"test": "x"}, "engines": {"node": ">=18 <21"}}"#;
    let composer = r#"{"require": {"php": "~8.1.0", "phpunit/phpunit": "1"}}"#;
    for (files, expected) in [
        (
            &[("pyproject.toml", poetry), ("poetry.lock", ""), (".python-version", "3.11\n")][..],
            "python-version-file: \".python-version\"\n",
        ),
        (&[("pyproject.toml", poetry), ("poetry.lock", "")], "python-version: \"3.11\"\n"),
        (&[("pyproject.toml", "[tool.pytest]")], "python-version: \"3.x\"\n"),
        (&[("package.json", test)], "node-version-file: \"package.json\"\n"),
        (
            &[("package.json", test), (".node-version", "20\n")],
            "node-version-file: \".node-version\"\n",
        ),
        (&[("package.json", r#"{"scripts": {"test": "x"}}"#)], "node-version: \"lts/*\"\n"),
        (&[("pom.xml", "<java.version>17</java.version>")], "java-version: \"17\"\n"),
        (&[("pom.xml", "")], "java-version: \"21\"\n"),
        (&[("composer.json", composer)], "php-version: \"8.1\"\n"),
        (&[("Gemfile", "ruby '3.2.2'\ngem 'rspec'\n")], "ruby-version: \"3.2.2\"\n"),
        (&[("Gemfile", "gem 'rspec'\n")], "ruby-version: \"3.4\"\n"),
        (
            &[("mix.exs", ""), (".tool-versions", "erlang 26.2.1\nelixir 1.16.0-otp-26\n")],
            "otp-version: \"26.2.1\"\n          elixir-version: \"1.16.0-otp-26\"\n",
        ),
        (&[("mix.exs", "")], "otp-version: \"28\"\n          elixir-version: \"1.19\"\n"),
    ] {
        let setup = proposed(files).setup;
        assert!(setup.contains(expected), "{expected}: {setup}");
    }
}

#[test]
fn packages_in_a_folder_of_lists_or_a_pipfile_are_installed() {
    let test = ("tests/test_a.py", "import pytest\n");
    let pipfile = ("Pipfile", "[dev-packages]\npytest = \"*\"\n");
    for (files, expected) in [
        (
            &[("requirements/base.txt", "flask"), ("requirements/dev.txt", "-r base.txt\npytest")]
                [..],
            &["pip install -r requirements/dev.txt"][..],
        ),
        (
            &[("requirements/base.txt", "flask"), ("requirements/test.txt", "pytest")],
            &["pip install -r requirements/base.txt", "pip install -r requirements/test.txt"],
        ),
        (
            &[("requirements/base.txt", "flask"), ("requirements/prod.txt", "x")],
            &["pip install -r requirements/base.txt"],
        ),
        (&[pipfile], &["pip install pipenv", "pipenv install --dev --system"]),
        (
            &[pipfile, ("Pipfile.lock", "{}")],
            &["pip install pipenv", "pipenv install --dev --system --deploy"],
        ),
        (&[pipfile, ("requirements.txt", "flask")], &["pip install -r requirements.txt"]),
    ] {
        let setup = proposed(&[files, &[test]].concat()).setup;
        let installs: Vec<&str> = setup
            .lines()
            .map(|line| line.trim().trim_start_matches("- run: "))
            .filter(|line| line.contains("install ") && *line != "pip install pytest")
            .collect();
        assert_eq!(installs, expected, "{setup}");
    }
}

#[test]
fn what_pipenv_runs_is_installed_by_pipenv() {
    let pipfile = ("Pipfile", "[dev-packages]\npytest = \"*\"\n");
    let lock = ("Pipfile.lock", "{}");
    let runs = "    steps:\n      - run: pipenv run pytest -q\n";
    let both = |install: &str| format!("          pip install pipenv\n          {install}\n");
    for (files, install) in
        [(&[pipfile][..], "pipenv install --dev"), (&[pipfile, lock], "pipenv sync --dev")]
    {
        let proposal = with_job(files, runs);
        assert!(proposal.policy.contains("    - \"pipenv run pytest -q\""), "{}", proposal.policy);
        assert!(proposal.setup.contains("actions/setup-python@"), "{}", proposal.setup);
        assert!(proposal.setup.contains(&both(install)), "{}", proposal.setup);
    }
    // Those of a workflow are copied as they stand.
    let own = "    steps:\n      - run: pip install pipenv\n      - run: pipenv install --dev \
               --deploy\n      - run: pipenv run pytest\n";
    let setup = with_job(&[pipfile, lock], own).setup;
    assert!(setup.contains("      - run: pipenv install --dev --deploy\n"), "{setup}");
    assert!(!setup.contains("sync"), "{setup}");
    // What brings Pipenv alone installs nothing with it.
    for brings in ["pipx install pipenv", "python -m pip install -U pip pipenv==2026.1"] {
        let own = format!("    steps:\n      - run: {brings}\n      - run: pipenv run pytest\n");
        let setup = with_job(&[pipfile, lock], &own).setup;
        assert!(setup.contains(&format!("      - run: {brings}\n")), "{setup}");
        assert!(setup.contains("pipenv sync --dev"), "{setup}");
    }
    let own =
        "    steps:\n      - run: pip install pipenv pytest\n      - run: pipenv run pytest\n";
    assert!(!with_job(&[pipfile, lock], own).setup.contains("sync"));
}

#[test]
fn what_is_installed_for_one_tool_chain_does_not_stand_in_for_another() {
    let files = [
        ("package.json", r#"{"scripts": {"test": "x"}}"#),
        ("package-lock.json", ""),
        ("pyproject.toml", "[tool.pytest]"),
        ("uv.lock", ""),
    ];
    // `uv run` installs by itself where it has a network.
    let runs = "      - run: npm test\n      - run: uv run pytest\n";
    let node = "      - uses: actions/setup-node@v6\n      - run: npm ci\n";
    let uv = "      - uses: astral-sh/setup-uv@v7\n";
    let setup = with_job(&files, &format!("    steps:\n{node}{uv}{runs}")).setup;
    assert!(setup.contains("      - run: npm ci\n"), "{setup}");
    assert!(setup.contains("      - run: uv sync --all-extras\n"), "{setup}");
    let sync = "      - run: uv sync --locked\n";
    let setup = with_job(&files, &format!("    steps:\n{node}{uv}{sync}{runs}")).setup;
    assert_eq!(setup.matches("uv sync").count(), 1, "{setup}");
    // So does an action that installs.
    let ruby = "      - uses: ruby/setup-ruby@v1\n        with: { bundler-cache: true }\n";
    let steps = format!("    steps:\n{ruby}      - uses: actions/setup-node@v6\n");
    let setup = with_job(&files[..2], &format!("{steps}      - run: ./test.sh\n")).setup;
    assert!(setup.contains("bundler-cache") && setup.contains("      - run: npm ci\n"), "{setup}");
}

#[test]
fn packages_have_the_versions_that_their_folders_name() {
    let setup = proposed(&[
        ("api/pyproject.toml", "[tool.pytest]"),
        ("api/.python-version", "3.11\n"),
        ("jobs/pyproject.toml", "[tool.poetry]\n[tool.pytest]"),
        ("jobs/poetry.lock", ""),
        ("jobs/.python-version", "3.10\n"),
        ("web/package.json", r#"{"scripts": {"test": "x"}, "engines": {"node": "20"}}"#),
    ])
    .setup;
    for part in [
        "python-version-file: \"api/.python-version\"\n",
        "python-version-file: \"jobs/.python-version\"\n",
        "node-version-file: \"web/package.json\"\n",
    ] {
        assert!(setup.contains(part), "{part}: {setup}");
    }
}

#[test]
fn variables_go_with_the_steps_that_are_copied_and_those_of_the_tests_are_said() {
    let files = [("requirements.txt", "pytest"), ("tests/test_a.py", "import pytest")];
    let job = lines(&[
        "    env: { PIP_INDEX_URL: \"https://x.example/simple\", FORCE_COLOR: 1 }",
        "    steps:",
        "      - uses: actions/setup-python@v5",
        "        env: { HERE: \"${{ github.workspace }}\" }",
        "      - run: |",
        "          pip install a",
        "          pip install b",
        "      - run: pytest",
        "        env: { APP_ENV: test }",
    ]);
    let proposal = with_job(&files, &job);
    let setup = &proposal.setup;
    for part in [
        "      - uses: actions/setup-python@v5\n        env:\n          HERE: \"${{ \
         github.workspace }}\"\n",
        "          pip install b\n        env:\n          PIP_INDEX_URL: \
         \"https://x.example/simple\"\n",
    ] {
        assert!(setup.contains(part), "{part}: {setup}");
    }
    assert!(!setup.contains("COLOR") && !setup.contains("APP_ENV"), "{setup}");
    assert_eq!(proposal.installs, ["pip install a", "pip install b"]);
    let note = "`pytest` has `PIP_INDEX_URL`, `APP_ENV` at .github/workflows/ci.yml:12, and \
                commands of a run do not have them";
    assert_eq!(proposal.left_out, [note]);
}

#[test]
fn a_step_with_a_secret_is_left_out_and_nothing_installs_in_its_place() {
    let files = [
        ("package.json", r#"{"scripts": {"test": "x"}}"#),
        ("package-lock.json", ""),
        ("a.js", ""),
    ];
    let steps = |env: &str| {
        let set_up = lines(&["    steps:", "      - uses: actions/setup-node@v4"]);
        format!("{set_up}      - run: npm ci\n{env}      - run: npm test\n")
    };
    let private = "        env: { NODE_AUTH_TOKEN: \"${{ secrets.NPM_TOKEN }}\" }\n";
    for env in [private, "        env: { TOKEN: \"${{ github.token }}\" }\n"] {
        let proposal = with_job(&files, &steps(env));
        let setup = &proposal.setup;
        assert!(setup.contains("setup-node@v4") && !setup.contains("npm ci"), "{setup}");
        assert!(!setup.contains("secrets.") && !setup.contains("github.token"), "{setup}");
        let [note] = proposal.left_out.as_slice() else { panic!("{:?}", proposal.left_out) };
        let begin = "`npm ci` of .github/workflows/ci.yml:7 is left out of the workflow: `";
        assert!(note.starts_with(begin) && note.contains("holds a secret"), "{note}");
    }
    let plain = with_job(&files, &steps(""));
    assert!(plain.setup.contains("- run: npm ci\n"), "{}", plain.setup);
    assert_eq!(plain.left_out, [""; 0]);
    // What the whole job has is left out of the copy, and said.
    let job = format!("    env: {{ TOKEN: \"${{{{ secrets.T }}}}\" }}\n{}", steps(""));
    let proposal = with_job(&files, &job);
    assert!(proposal.setup.contains("- run: npm ci\n"), "{}", proposal.setup);
    let begins = ["`TOKEN` of .github/workflows/ci.yml is left out", "`npm test` has `TOKEN` at"];
    assert_eq!(proposal.left_out.len(), begins.len(), "{:?}", proposal.left_out);
    for (note, begin) in proposal.left_out.iter().zip(begins) {
        assert!(note.starts_with(begin), "{note}");
    }
}

#[test]
fn what_a_step_has_beside_secrets_comes_along() {
    let files = [("package.json", r#"{"scripts": {"test": "x"}}"#), ("a.js", "")];
    let job = lines(&[
        "    steps:",
        "      - uses: actions/setup-node@v4",
        "        env: { TOKEN: \"${{ secrets.GITHUB_TOKEN }}\" }",
        "        with: { node-version: 18, token: \"${{ env.SECRET }}\" }",
        "      - run: npm ci",
        "        env:",
        "          NODE_OPTIONS: >",
        "            --max-old-space-size=4096",
        "          TITLE: ${{ env.TITLE }}",
        "      - run: npm test",
    ]);
    let setup = with_job(&files, &job).setup;
    assert!(setup.contains("node-version: \"18\"\n"), "{setup}");
    assert!(!setup.contains("npm ci") && !setup.contains("TOKEN"), "{setup}");
    let job = job.replace("          TITLE: ${{ env.TITLE }}\n", "");
    let setup = with_job(&files, &job).setup;
    assert!(
        setup.contains("          NODE_OPTIONS: |\n            --max-old-space-size=4096\n"),
        "{setup}"
    );
    // What an event brings stays out by way of variables, too.
    let event = "${{ github['event']['comment']['body'] }}";
    let ci = format!(
        "on: push\nenv:\n  TITLE: {event}\n  SECRET: ${{{{ secrets['NPM'] }}}}\njobs:\n  test:\n    \
         runs-on: ubuntu-latest\n{job}"
    );
    let setup =
        proposed(&[&files[..], &[(".github/workflows/ci.yml", ci.as_str())]].concat()).setup;
    assert!(setup.contains("npm ci") && !setup.contains("secrets["), "{setup}");
    let ci = ci
        .replace("          NODE_OPTIONS", "          B: ${{ env.TITLE }}\n          NODE_OPTIONS");
    let setup =
        proposed(&[&files[..], &[(".github/workflows/ci.yml", ci.as_str())]].concat()).setup;
    assert!(!setup.contains("github[") && !setup.contains("npm ci"), "{setup}");
}

#[test]
fn actions_that_are_not_known_are_named_and_bun_is_set_up_once() {
    let files = [("go.mod", ""), ("a.go", "")];
    let job = lines(&[
        "    steps:",
        "      - uses: actions/checkout@v5",
        "      - uses: acme/tools@v2",
        "      - uses: jdx/mise-action@v2",
        "      - run: go test ./...",
    ]);
    let proposal = with_job(&files, &job);
    let note = "`uses: acme/tools@v2` of .github/workflows/ci.yml:7 is left out of the workflow";
    assert_eq!(proposal.left_out, [note]);
    assert!(proposal.setup.contains("- uses: jdx/mise-action@v2\n"), "{}", proposal.setup);
    let files = [("package.json", r#"{"scripts": {"unit": "x"}}"#), ("bun.lock", ""), ("a.ts", "")];
    let job = lines(&[
        "    steps:",
        "      - uses: oven-sh/setup-bun@v2",
        "      - run: bun install",
        "      - run: npx vitest",
    ]);
    let setup = with_job(&files, &job).setup;
    assert_eq!(setup.matches("setup-bun@").count(), 1, "{setup}");
}

#[test]
fn a_step_in_one_line_is_copied_without_what_stands_beside_it() {
    let job = lines(&[
        "    steps:",
        "      - { uses: actions/setup-go@v5, with: { go-version: stable } }",
        "      - run: go test ./...",
    ]);
    let setup = with_job(&[("go.mod", ""), ("a.go", "")], &job).setup;
    let step = lines(&[
        "      - uses: actions/setup-go@v5",
        "        with:",
        "          go-version: \"stable\"",
    ]);
    assert!(setup.contains(&step), "{setup}");
}

#[test]
fn the_workflow_that_starts_locum_shows_no_tests_whatever_its_name() {
    let files = [("go.mod", ""), ("a.go", "")];
    let setup = proposed(&files).setup;
    let job = "    steps:\n      - uses: actions/setup-go@v1\n      - run: go test -race ./...\n";
    let of_locum = format!("{job}      - uses: acme/locum@v1\n");
    assert!(with_job(&files, job).setup.contains("setup-go@v1"));
    assert_eq!(with_job(&files, &of_locum).setup, setup);
    let marked = format!("{job}# Written by `locum init` 0; x\n");
    assert_eq!(with_job(&files, &marked).setup, setup);
}

#[test]
fn only_plain_names_of_files_get_into_the_workflow() {
    let names = [
        "requirements $(touch pwned).txt",
        "requirements;id.txt",
        "requirements`id`.txt",
        "requirements${{ github.token }}.txt",
        "requirements'x.txt",
        "requirements&x.txt",
    ];
    let files = [
        ("requirements.txt", "pytest"),
        ("requirements-dev_1.2.txt", ""),
        ("tests/test_a.py", "import pytest"),
    ];
    let (mut top, mut below): (Vec<(String, &str)>, Vec<_>) =
        (Vec::new(), vec![("go.mod".to_owned(), "")]);
    for (name, text) in files.into_iter().chain(names.map(|name| (name, ""))) {
        top.push((name.to_owned(), text));
        below.push((format!("api/{name}"), text));
    }
    let setup = |files: &[(String, &str)]| {
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        proposed(&files).setup
    };
    let (at_top, in_package) = (setup(&top), setup(&below));
    assert!(at_top.contains("pip install -r requirements-dev_1.2.txt\n"), "{at_top}");
    for setup in [at_top, in_package] {
        assert!(setup.contains("requirements.txt"), "{setup}");
        for letter in ["$(", ";", "`", "${{", "'", "&", "pwned"] {
            assert!(!setup.contains(letter), "{letter}: {setup}");
        }
    }
}

#[test]
fn many_packages_at_the_top_share_a_line_and_few_do_not() {
    let package =
        |number: usize| [format!("pk{number}/package.json"), format!("pk{number}/src/a.ts")];
    let files = |count: usize| (0..count).flat_map(package).collect::<Vec<String>>();
    let (many, few) = (files(60), files(5));
    let named = |names: &[String]| -> StarterProposal {
        proposed(&names.iter().map(|name| (name.as_str(), "{}")).collect::<Vec<_>>())
    };
    let many_files: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "{}")).collect();
    check(
        &many_files,
        &["edit(pk59/src/a.ts)", "edit(pk0/src/b.ts)"],
        &["edit(pk59/package.json)", "edit(pk59/x.ts)", "edit(.github/src/a.ts)"],
    );
    assert_eq!(named(&many).edits, ["*/src/**"]);
    assert_eq!(named(&many).unopened, [""; 0]);
    // A line for a few would open what nobody has made yet.
    assert_eq!(named(&few).edits.len(), 5);
}

#[test]
fn source_folders_beyond_the_bound_stay_closed_and_are_named() {
    let names: Vec<String> = (0..45).map(|number| format!("f{number:02}/a.go")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    check(&files, &["edit(f39/a.go)"], &["edit(f40/a.go)", "edit(f44/a.go)"]);
    let proposal = proposed(&files);
    assert_eq!(proposal.edits.len(), 40);
    assert_eq!(proposal.unopened, ["f40/**", "f41/**", "f42/**", "f43/**", "f44/**"]);
    let chosen = StarterChoices { edits: vec!["**/*.go".to_owned()], ..StarterChoices::default() };
    assert_eq!(propose(&scan(&files), &chosen).unwrap().unopened, [""; 0]);
}

#[test]
fn a_step_under_a_condition_is_named_where_it_may_be_needed() {
    let files = [("setup.py", ""), ("tests/test_a.py", "import pytest\n"), ("a.py", "")];
    let job = lines(&[
        "    steps:",
        "      - uses: actions/setup-python@v5",
        "        if: always()",
        "      - if: github.event_name == 'push'",
        "        run: pip install extra",
        "      - if: runner.os == 'Windows'",
        "        run: pip install win",
        "      - if: steps.x.outputs.y == '1' || runner.os == 'Linux'",
        "        uses: acme/prepare@v1",
        "      - if: github.event_name == 'push'",
        "        run: echo hi",
        "      - run: pip install pytest",
        "      - run: pytest tests",
        "      - if: failure()",
        "        run: pip install late",
    ]);
    let proposal = with_job(&files, &job);
    let setup = &proposal.setup;
    assert!(setup.contains("setup-python@v5") && setup.contains("pip install pytest"), "{setup}");
    for absent in ["extra", "win", "prepare", "late"] {
        assert!(!setup.contains(absent), "{absent}: {setup}");
    }
    let [run, uses] = proposal.left_out.as_slice() else { panic!("{:?}", proposal.left_out) };
    assert!(run.starts_with("`pip install extra` of .github/workflows/ci.yml:"), "{run}");
    assert!(run.ends_with("its `if:` holds is known only while the workflow runs"), "{run}");
    assert!(uses.starts_with("`uses: acme/prepare@v1` of "), "{uses}");
}
