//! Tools that models run in every language: what their options read and write, what is given on to
//! other programs, and words that name what is protected.

use super::examined;
use pretty_assertions::assert_eq;

fn check(cases: &[(&str, &str)]) {
    let found: Vec<_> = cases.iter().map(|(text, _)| (*text, examined(text, "."))).collect();
    let expected: Vec<_> = cases.iter().map(|(text, seen)| (*text, (*seen).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_program_without_a_table_is_given_nothing_that_is_protected() {
    check(&[
        ("flake8 --output-file a src", "deep"),
        ("flake8 --output-file .github/a src", "deep !2"),
        ("flake8 --output-file=.locum/policy.yml src", "deep !1"),
        ("flake8 -o.github/a src", "deep !1"),
        ("flake8 --exclude=.git,build src", "deep"),
        ("flake8 --exclude .git src", "deep"),
        ("isort src", "deep"),
        ("isort .", "deep"),
        ("isort .github", "deep !1"),
        ("isort AGENTS.md", "deep !1"),
        ("mytool .env", "deep !1"),
        ("mytool docs:.git/x", "deep !1"),
        ("mytool src/.githubx", "deep"),
        ("for README.md AGENTS.md", "deep"),
        ("mocha --reporter-option output=.github/x.xml", "deep !2"),
        ("python .github/a.py x", "code deep <.github/a.py"),
        ("python a.py .github/b.yml", "code deep !2 <a.py"),
    ]);
}

#[test]
fn what_writes_is_given_nothing_that_is_protected() {
    check(&[
        ("npm run format -- src", "code"),
        ("npm run format -- .github", "code !4"),
        ("npm run lint -- --ignore-pattern .github", "code"),
        ("cargo test -- --nocapture", "code"),
        ("cargo test -- --logfile .github/a", "code !4"),
        ("cargo bench -- --output .git", "code !4"),
        ("eslint .github/a.js", "code <.github/a.js"),
        ("eslint --fix .", "code <. >!."),
        ("eslint --fix .github", "code <.github >.github"),
        ("go fmt a", "<?a"),
        ("go fmt .github", "!2 <?.github"),
        ("go fmt std", "!2 <?std"),
        ("go clean -cache", ""),
        ("go clean -i -r std", "!2 !3 !4 <?std"),
        ("dotnet format --include src/A.cs", "code"),
        ("dotnet format --include .github/A.cs", "code !3"),
        (
            "golangci-lint run --out-format json:.github/a,colored-line-number:stderr",
            "code >.github/a",
        ),
        ("golangci-lint run --output.json.path=stdout --fix .github", "code !4 <?.github"),
        ("pytest --cov --cov-report=term-missing:skip-covered", "code"),
        ("mvn dependency:tree -DoutputFile=.github/a", "code >.github/a"),
        ("mvn test -Dmaven.compiler.showWarnings=true", "code"),
        ("mvn test -Dmaven.compiler.executable=a", "code !2"),
    ]);
}

#[test]
fn what_only_reads_is_judged_by_what_it_reads() {
    check(&[
        ("jar tf .env", "only <.env"),
        ("javap -p .env", "only <.env"),
        ("yamllint .github/workflows/ci.yml", "only <.github/workflows/ci.yml"),
        ("actionlint -shellcheck= .github/a.yml", "only <.github/a.yml"),
        ("actionlint -shellcheck=./evil .github/a.yml", "only !1 <.github/a.yml"),
        ("codespell -w docs/a.md", "<docs/a.md >docs/a.md"),
        ("codespell docs/a.md", "<docs/a.md"),
        ("unzip -l a.jar", "only <a.jar"),
        ("unzip a.jar", "code deep ?all"),
        ("xmllint --noout a.xml", "only <a.xml"),
        ("xmllint --noent a.xml", "only !1 <a.xml"),
        ("go env GOPATH", "only"),
        ("go build -o=/tmp/a ./cmd/a", "code <?cmd/a >!/tmp/a"),
        ("go build -overlay=a ./cmd/a", "code !2 <?cmd/a"),
        ("go list -modfile=a -m all", "only !2 <?all"),
        ("go vet -vettool=./a ./b", "code !2 <?b"),
        ("go env -u GOPROXY", "only !2"),
        ("go version -m a", "only <a"),
        ("go tool pprof -top /tmp/a", "only held <!/tmp/a"),
        ("go tool pprof /tmp/a", "only held !4 <!/tmp/a"),
        ("go tool pprof -top localhost:6060", "only held !4 <localhost:6060"),
        ("go tool pprof -http=:1 -top a", "only held !3 <a"),
        ("javac -cp a:/tmp/b -d /tmp/o src/A.java", "code <a <!/tmp/b <src/A.java >!/tmp/o"),
        ("javac -processor a.B -d /tmp/o src/A.java", "code !1 <a.B <src/A.java >!/tmp/o"),
        ("javac -Xplugin:A -d /tmp/o src/A.java", "code !1 <src/A.java >!/tmp/o"),
        ("php -m", "only"),
    ]);
}

#[test]
fn words_behind_two_dashes_are_those_of_another_program() {
    check(&[
        ("cargo fmt -- --check --config max_width=100", "code"),
        ("cargo fmt -- src/a.rs", "code <src/a.rs >src/a.rs"),
        ("cargo fmt -- --config-path=/x", "code <!/x"),
        ("cargo fmt src/a.rs", "code !2"),
        ("cargo clippy -- -D warnings -A clippy::pedantic", "code"),
        ("cargo clippy -- -C linker=a", "code !3"),
        ("cargo clippy --no-deps x", "code !3"),
        ("cargo rustc --lib -- --emit=mir", "code"),
        ("cargo rustc -- -o .git/x", "code >.git/x"),
        ("cargo rustc -- -Zcodegen-backend=a.so", "code !3"),
        ("tox -e py312 -- -k parse", "code"),
        ("tox -p auto", "code"),
        ("tox run-parallel -p 4", "code"),
        ("tox exec", "code !1"),
        ("nox -s tests lint -- -x", "code"),
        ("nox -s tests -- -p evil", "code !4"),
        ("nox -s publish", "code !1"),
        ("cargo miri test parser -- --nocapture", "code <?parser"),
        ("cargo miri setup", "code !2"),
        ("go test ./a -args -test.timeout=30s /x", "code !5 <?a"),
    ]);
}

#[test]
fn options_that_are_not_known_are_for_a_script_or_refused() {
    check(&[
        ("yarn test src/a.test.ts -t x", "code <?src/a.test.ts <?-t <?x"),
        ("yarn lint --write", "code <?lint <?--write"),
        ("pnpm run lint --config=/tmp/x", "code !3 <?lint <?--config=/tmp/x"),
        ("pnpm test --reporter=/tmp/x", "code !2"),
        ("npm test --unheard", "code !2"),
        ("cargo insta review --help", "code"),
        ("cargo update --help", "code"),
        ("cargo update", "code !2"),
        ("git log --help", "only deep !2"),
        ("rspec -f documentation", "code"),
        ("rspec -f /tmp/evil.rb", "code !1"),
        ("rspec -r spec_helper", "code"),
        ("rspec -r evil", "code !1"),
        ("jest --config jest.config.js", "code <jest.config.js"),
        ("jest --globalSetup=a.js", "code !1"),
        ("vitest --environment=./evil.js", "code !1"),
        ("dotnet test --collect:Coverage --logger console;verbosity=detailed", "code"),
        ("dotnet test --logger ./evil.dll", "code !2"),
        ("dotnet build -p:CscToolPath=a", "code !2"),
        ("dotnet build -flp:LogFile=/tmp/a", "code !2"),
        ("jest --changedSince=--output=a", "code !1"),
        ("pytest --basetemp=docs", "code !1"),
        ("pytest -c pytest.ini", "code <pytest.ini"),
        ("mypy --install-types src", "code !1 <?src"),
    ]);
}

#[test]
fn a_partial_table_counts_only_where_it_has_every_option() {
    check(&[
        ("phpunit --filter a --log-junit /tmp/a.xml", "code >!/tmp/a.xml"),
        ("phpunit --log-junit .github/a", "code >.github/a"),
        ("phpunit --unheard a", "code deep"),
        ("phpunit --unheard /tmp/a", "code deep ?2"),
        ("phpunit --coverage-text=/tmp/a", "code deep ?1"),
        ("vendor/bin/phpunit --testdox", "code"),
        ("vite build --outDir /tmp/d", "code >!/tmp/d"),
        ("vite build --outDir .github", "code >.github"),
    ]);
}

#[test]
fn make_rake_and_java_are_given_settings_that_start_nothing() {
    check(&[
        ("make CFLAGS=-O0 test", "code <?test"),
        ("make CFLAGS=-fplugin=a.so", "code !1"),
        ("rake spec SPEC=spec/a_spec.rb TESTOPTS=-v", "code <spec/a_spec.rb"),
        ("rake spec TESTOPTS=-r./evil", "code !2"),
        ("java -ea -Xmx1g -cp target/classes a.B x", "code deep <target/classes"),
        ("java src/A.java", "code deep <src/A.java"),
        ("java -XX:OnError=x -cp a B", "code deep ?all"),
        ("java -cp a -Dx=.github B", "code deep !3 <a"),
    ]);
}
