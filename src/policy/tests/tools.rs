//! Options of the tools that a starter policy allows: what a model gives them every day is allowed
//! by its words, and beside it stands what reads, writes or loads something else.

use crate::tests::by_words::check;

#[test]
fn tools_of_python_take_their_options() {
    check(
        &[
            ("pyproject.toml", "pytest tox mypy ruff flake8 isort"),
            ("src/a.py", ""),
            ("tests/test_a.py", ""),
        ],
        &[
            ("ruff check --fix --unsafe-fixes src", "ruff check --output-file=.github/a src"),
            ("ruff check --config pyproject.toml src", "ruff check --config /tmp/a.toml src"),
            ("mypy --warn-unreachable --disallow-untyped-defs src", "mypy --junit-xml .git/a src"),
            ("pytest -q --reuse-db --timeout-method=thread", "pytest -q --basetemp=src"),
            ("pytest -p xdist -n auto", "pytest -p evil -n auto"),
            ("tox -e py312 -- -k parse", "tox -e py312 -- -p evil"),
            ("flake8 --max-complexity=9 src", "flake8 --output-file .git/x src"),
            ("flake8 --exclude=.git src", "flake8 --output-file=.locum/policy.yml src"),
            ("flake8 --exclude .git src", "flake8 --output-file .git/x src"),
            ("isort --check src", "isort .github"),
            ("isort --skip-gitignore src", "isort --skip-gitignore .github/a.py"),
            ("ruff check --config line-length=99 src", "ruff check --config fix=true src"),
            ("ruff check", "ruff check --fix"),
            ("cp tests/a.md src", "cp tests/AGENTS.md src"),
            ("cp -r tests/a src", "cp -r tests/.cargo src"),
            ("cp tests/*.py src", "cp tests/*.md src"),
            ("cp tests/AGENTS.md src/a.md", "cp tests/AGENTS.md src/"),
            ("ruff format src", "ruff format"),
            ("ruff check --config ruff.toml src", "ruff check --config .env src"),
            ("ruff check -q src", "ruff check --config '\"cache-dir\"=\"a\"' src"),
        ],
    );
    check(
        &[("pyproject.toml", "black sphinx"), ("docs/conf.py", ""), ("src/a.py", "")],
        &[
            ("black --config pyproject.toml src", "black --config .env src"),
            ("sphinx-build docs /tmp/out", "sphinx-build docs .github src/a.py"),
        ],
    );
}

#[test]
fn tools_of_javascript_take_their_options() {
    let package = "{\"scripts\": {\"test\": \"x\", \"lint\": \"x\"}, \"devDependencies\": \
                   {\"eslint\": \"9\", \"jest\": \"29\", \"mocha\": \"10\", \"vite\": \"5\"}}";
    check(
        &[("package.json", package), ("src/a.ts", "")],
        &[
            ("npx eslint --fix src", "npx eslint --fix .github"),
            ("npx eslint --fix 'src/**/*.{ts,js}'", "npx eslint --fix '**/*.md'"),
            ("npx eslint --fix 'src/*.ts'", "npx eslint --fix 'src/*.md'"),
            ("npx eslint .", "npx eslint --fix"),
            ("npx eslint src/*.ts", "npx eslint --fix src/*.ts '*.md'"),
            ("npx eslint --fix --no-ignore src", "npx eslint --fix --no-ignore .github/a.js"),
            ("npx eslint -c eslint.config.js src", "npx eslint -c .env src"),
            ("npx jest --config a.config.js", "npx jest --config .env"),
            ("npx jest -c a.config.js", "npx jest -c '{\"runner\":\"./a.js\"}'"),
            ("npx eslint src -f json -o /tmp/a.json", "npx eslint src -f json -o .github/a.json"),
            ("npx eslint --print-config src/a.ts", "npx eslint --print-config /tmp/a.ts"),
            ("npx jest --config jest.config.js", "npx jest --config /tmp/a.js"),
            ("npx jest --ci --silent=false", "npx jest --globalSetup=/tmp/a.js"),
            ("npx vite build --outDir /tmp/dist", "npx vite build --outDir .github"),
            ("npx mocha --reporter dot", "npx mocha --reporter-option output=.github/a"),
            ("npm run lint -- --fix", "npm run lint -- .github"),
        ],
    );
}

#[test]
fn tools_of_rust_and_go_take_their_options() {
    check(
        &[("Cargo.toml", "[package]\nname = \"acme\"\n"), ("src/main.rs", "")],
        &[
            ("cargo clippy --no-deps -- -W clippy::pedantic", "cargo clippy -- -C linker=x"),
            ("cargo rustc --lib -- --emit=mir", "cargo rustc -- -C linker=x"),
            ("cargo fmt -- --check --config max_width=90", "cargo fmt -- --config-path=/x"),
            ("cargo test -- --nocapture", "cargo test -- --logfile .github/a"),
            ("cargo miri test parser", "cargo miri setup"),
            ("rustfmt --emit stdout src/main.rs", "rustfmt --emit stdout .github/a.rs"),
            ("rustfmt --check src/main.rs", "rustfmt --check --config emit_mode=Files a.rs"),
            ("cargo fmt -- --check", "cargo fmt -- --check --print-config default Cargo.toml"),
            ("cargo test -- --skip .github", "cargo test -- --ignored .github/a"),
        ],
    );
    check(
        &[("go.mod", ""), ("main.go", ""), (".golangci.yml", "")],
        &[
            ("go test ./... -args -x", "go test -overlay a ./..."),
            ("go tool pprof -top /tmp/a", "go tool pprof -http=:1 -top /tmp/a"),
            ("go fmt ./...", "go fmt ./.github/..."),
            ("go env GOPATH", "go env -u GOPATH"),
            (
                "golangci-lint run --out-format json:/tmp/a",
                "golangci-lint run --out-format json:.github/a",
            ),
        ],
    );
}

#[test]
fn tools_of_java_and_ruby_take_their_options() {
    check(
        &[("pom.xml", ""), ("mvnw", ""), ("src/main/java/A.java", "")],
        &[
            ("java -ea -cp target/classes a.B", "java -javaagent:a.jar -cp target/classes a.B"),
            ("java src/main/java/A.java", "java /tmp/A.java"),
            ("./mvnw test -DskipITs", "./mvnw test -Dmaven.compiler.executable=x"),
            ("./mvnw dependency:tree -DoutputFile=/tmp/a", "./mvnw test -DoutputFile=.github/a"),
            ("jar tf target/a.jar", "jar tf .env"),
        ],
    );
    check(
        &[("Gemfile", "rspec rubocop"), ("lib/a.rb", "")],
        &[
            ("bundle exec rspec --exclude-pattern 'a/**'", "bundle exec rspec -f /tmp/a.rb"),
            ("bundle exec rubocop --format json", "bundle exec rubocop --format /tmp/A"),
            ("bundle exec rake spec TESTOPTS=-v", "bundle exec rake spec TESTOPTS=-r./evil"),
            ("bundle exec yard doc -o /tmp/y lib", "bundle exec yard doc -o .github lib"),
            ("bundle exec yard list", "bundle exec yard list --query 'system(1)'"),
        ],
    );
}
