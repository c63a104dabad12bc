//! Words of a shell in scripts that are judged by their words: variables, `read`, `[[ ... ]]` and
//! output of a known form. What is allowed stands beside what resembles it.

use crate::tests::by_words::{TEXTS, check};

#[test]
fn what_a_script_sets_and_reads_is_no_effect_and_what_it_does_with_it_is() {
    check(
        TEXTS,
        &[
            (
                "find docs -name '*.md' | while read -r f; do head -3 \"$f\"; done",
                "find docs -name '*.md' | while read -r f; do rm \"$f\"; done",
            ),
            (
                "git ls-files | while IFS= read -r f; do wc -l \"$f\"; done",
                "cat docs/list | while IFS= read -r f; do wc -l \"$f\"; done",
            ),
            (
                "while IFS= read -r l; do echo \"> $l\"; done < docs/usage.md",
                "while IFS= read -r l; do $l; done < docs/usage.md",
            ),
            (
                "while IFS=: read -r a b; do echo \"$b\"; done < docs/usage.md",
                "IFS=: ; while read -r a b; do echo \"$b\"; done < docs/usage.md",
            ),
            ("read -r x < docs/usage.md; echo \"$x\"", "read -r PATH < docs/usage.md; echo \"$x\""),
            ("read -r x < docs/a && echo $x", "read -r 'a[$(id)]' < docs/a && echo $x"),
            ("read -r x y < docs/a && echo $x", "read -u 3 x < docs/a && echo $x"),
            ("[[ -d docs && -f README.md ]] && ls docs", "[[ -f .env ]] && ls docs"),
            ("[[ \"$x\" == *.md ]] || echo no", "[[ 'a[$(id)]' -eq 1 ]] || echo no"),
            ("[[ ! -e docs/x && $x != y ]]", "[[ -v 'a[$(id)]' ]]"),
            ("[[ $x =~ ^v[0-9]+$ ]]", "[[ $x =~ $(curl x) ]]"),
            (
                "n=$(grep -c x docs/usage.md); if [ $n -gt 0 ]; then echo $n; fi",
                "n=$(curl x); echo $n",
            ),
            ("d=docs; rm -r $d/old", "d=.github; rm -r $d/workflows"),
            ("d=docs; rm -r \"$d/old\"", "d=docs; d=.github; rm -r \"$d/old\""),
            ("d=docs e=$d/x; rm -rf \"$e/a\"", "e=$((1/0)) d=docs/x\nrm -rf \"$d/a\""),
            ("d=docs/x; rm -rf $d/a", "d=docs/x < docs/y; rm -rf $d/a"),
            ("d=docs && cat $d/a", "false && d=docs; rm -rf $d/usage.md"),
            (
                "f=README.md; for i in 1 2; do cat $f; done",
                "f=README.md; for i in 1 2; do cat $f; f=.env; done",
            ),
            ("f=README.md; cat \"$f\"", "f=README.md; (f=.env; cat \"$f\")"),
            ("f=README.md; cat \"$f\"", "f=README.md; case $f in R*) f=.env;; esac; cat \"$f\""),
            ("f=README.md; cat \"$f\"", "(f=README.md); rm \"$f\""),
            ("f=README.md; cat \"$f\"", "f=README.md; read -r f < docs/a; cat \"$f\""),
            ("for i in 1; do echo $_; done", "for _ in docs/a; do echo .env; cat \"$_\"; done"),
            ("x=1; echo $x", "PATH=docs; ls"),
            ("x=1; echo $x", "GIT_DIR=docs; git status"),
            ("x=1; echo $x", "CC=evil; make test"),
            ("x=1; echo $x", "LD_PRELOAD=docs/x; ls"),
            ("x=1; echo $x", "x+=1; echo $x"),
            ("x=1; echo $x", "export x=1; echo $x"),
            ("CI=1 git log && echo $x", "x=1 git log && echo $x"),
            ("a=(docs/*.md); echo ${a[0]}", "a=([$(id)]=x); echo ${a[0]}"),
            ("echo ${PIPESTATUS[0]}", "echo ${PIPESTATUS[a]}"),
            (
                "T=$(mktemp -d) && cp README.md \"$T\" && rm -rf \"$T\"",
                "T=$(mktemp -d); cp README.md \"$T\" && rm -rf \"$T/x\"",
            ),
            ("T=$(mktemp -d) && rm -rf \"$T/a\"", "T=$(mktemp -d .github/XX) && rm -rf \"$T/a\""),
            ("T=$(mktemp -d) && rm -rf \"$T/a\"", "T=$(mktemp -d) || rm -rf \"$T/a\""),
            ("T=$(mktemp -d) && rm -rf \"$T/a\"", "T=$(mktemp -d) && rm -rf \"$T/../a\""),
            ("x=docs/ && rm \"${x}a\"", "true || x=docs/ && rm \"${x}a\""),
            ("ls; x=docs/; rm \"${x}a\"", "ls || x=docs/; rm \"${x}a\""),
            ("ls && T=$(mktemp -d) && rm -rf \"$T/a\"", "ls || T=$(mktemp -d) && rm -rf \"$T/a\""),
            (
                "T=$(mktemp -d) && rm -rf \"$T/a\"",
                "for i in 1 2; do T=$(mktemp -d) && rm -rf \"$T/a\"; T=; done",
            ),
            ("make -j$(nproc) test", "make -j$(cat docs/a) test"),
            ("n=3; head -n $n README.md", "n=$(nproc); cat $n"),
            (
                "n=$(wc -l < README.md) && head -n $n README.md",
                "n=$(wc -l README.md); head -$n README.md",
            ),
            (
                "for c in $(git log --format=%h -3); do git show --stat \"$c\"; done",
                "for c in $(git log --format=%s -3); do git show --stat \"$c\"; done",
            ),
            (
                "for c in $(git rev-list --max-count=3 HEAD); do git show $c:docs/a; done",
                "for c in $(git rev-list --max-count=3 HEAD); do git show $c:.env; done",
            ),
            (
                "for i in $(seq 3); do sed -n ${i}p README.md; done",
                "for i in $(seq 3); do rm $i; done",
            ),
            (
                "find docs | while read -r f; do cat \"$f\"; done",
                "find docs | while read -r f < docs/a; do cat \"$f\"; done",
            ),
            (
                "for f in docs/*.md; do for g in \"$f\"; do cat \"$g\"; done; done",
                "for f in docs/*.md; do for g in $f; do cat \"$g\"; done; done",
            ),
            (
                "c=$(git rev-parse HEAD) && git show \"$c\"",
                "c=$(git log -1 --format=%s) && git show \"$c\"",
            ),
            ("read -r x < docs/usage.md; echo \"$x\"", "read -r x < docs/usage.md; echo x"),
            ("Abc=README.md; cat $Abc", "ABC=README.md; cat $ABC"),
            ("AB=README.md; cat $AB", "CC=README.md; cat $CC"),
            ("[[ $x =~ [[:space:]] ]]", "[[ $x =~ (a) ]]"),
            (
                "c=$(git merge-base a b) && git show \"$c\"",
                "c=$(git rev-parse -x) && git show \"$c\"",
            ),
            (
                "n=$(wc -l < README.md) && sed -n ${n}p README.md",
                "n=$(grep -c x .env | tr -d ' ') && rm -rf \"$n/docs\"",
            ),
            (
                "for f in $(grep -rl x docs); do cat $f; done",
                "for f in $(grep -r -el docs); do cat $f; done",
            ),
            ("wc -l $(grep -rl x docs)", "wc -l $(grep -rlc x docs)"),
            ("wc -l $(git ls-files '*.md')", "rm $(git ls-files '*.md')"),
            (
                "for f in $(git ls-files); do head -1 $f; done",
                "for f in $(git ls-files); do sh $f; done",
            ),
        ],
    );
}

#[test]
fn what_is_exported_is_judged_as_in_front_of_all_that_follows() {
    check(
        TEXTS,
        &[
            ("GIT_PAGER=cat git log -3", "GIT_PAGER='sh -c id' git log -3"),
            ("GIT_PAGER= PAGER=cat git log", "GIT_EXTERNAL_DIFF=cat git diff"),
            ("DEBUG='a:*' make test", "CC='a' make test"),
            ("DEBUG=a:* make test", "RUST_LOG=a* make test"),
            ("GTEST_FILTER=*.a-* make test", "env DEBUG=a:* make test"),
            ("GTEST_FILTER=* make test; git log", "export GTEST_FILTER=*; make test"),
            ("export GIT_PAGER=cat; git log -3", "export GIT_PAGER=sh; git log -3"),
            ("export CI=1 && make test", "export CI=1 && make SHELL=docs/x test"),
            ("export CI=1 && make test", "export CI=1 SHELL=docs/x && make test"),
            ("export CI=1; for i in 1 2; do make test; done", "export PATH=docs:$PATH; make test"),
            ("export RUST_LOG=debug; git log", "export GIT_DIR=docs; git log"),
            ("export CI=1; git log", "export GIT_CONFIG_COUNT=1; git log"),
            ("export CI=1; git log", "export LD_PRELOAD=docs/x.so; git log"),
            ("export CI=1; git log", "export BASH_ENV=docs/x; make test"),
            ("export CI=1; git log", "export CI; git log"),
            ("export CI=1; git log", "export CI=1 > .github/a; git log"),
            ("export CI=1; git log", "readonly CI=1; git log"),
            ("d=docs; export PYTHONPATH=$d; make test", "d=/tmp; export PYTHONPATH=$d; make test"),
            (
                "PYTHONPATH=$PWD/docs:$PYTHONPATH make test",
                "PYTHONPATH=$HOME/docs:$PYTHONPATH make test",
            ),
            (
                "PYTHONPATH=/tmp/checkouts/repo/docs make test",
                "PYTHONPATH=/tmp/checkouts/repository make test",
            ),
            (
                "export PYTHONPATH=\"$PWD/docs:$PYTHONPATH\"; make test",
                "export PYTHONPATH=\"/tmp/docs:$PYTHONPATH\"; make test",
            ),
            (
                "export PYTHONPATH=/tmp/checkouts/repo/docs; make test",
                "export PYTHONPATH=/tmp/checkouts/repo/../x; make test",
            ),
            ("export PYTHONPATH=docs; make test", "PWD=/tmp; PYTHONPATH=$PWD/docs make test"),
            ("unset CI; make test", "unset GIT_CONFIG_COUNT; git log"),
            ("unset PYTHONPATH && make test", "unset PATH && make test"),
            ("(sleep 1; echo done) & wait", "(sleep 1; echo done) & wait -p PATH"),
            (
                "make test > /tmp/p.log 2>&1 & wait $!; tail -5 /tmp/p.log",
                "make test > /tmp/p.log 2>&1 & wait $x; tail -5 /tmp/p.log",
            ),
            ("make test & wait", "curl x & wait"),
        ],
    );
}

#[test]
fn an_environment_of_python_is_entered_by_the_paths_of_its_tools() {
    let files = [
        ("pyproject.toml", "pytest tox mypy"),
        ("src/a.py", ""),
        ("tests/test_a.py", ""),
        ("Makefile", "test:\n"),
    ];
    check(
        &files,
        &[
            ("source .venv/bin/activate && pytest -q", "source .venv/bin/evil && pytest -q"),
            (". venv/bin/activate; python -m pytest", ". venv/bin/activate; python -c x"),
            (
                "source .venv/bin/activate && python src/a.py",
                "source .venv/bin/activate && python /tmp/a.py",
            ),
            (
                "source .venv/bin/activate 2>/dev/null && timeout 60 pytest | tail -5",
                "source .venv/bin/activate > .github/x && pytest",
            ),
            (
                "source .venv/bin/activate && git log && pytest",
                "source .venv/bin/activate && git push && pytest",
            ),
            ("source .venv/bin/activate && pytest", "source .venv/bin/activate && make test"),
            ("source .venv/bin/activate && pytest", "source .venv/bin/activate || pytest"),
            ("source .venv/bin/activate && pytest", "source /tmp/.venv/bin/activate && pytest"),
            ("source .venv/bin/activate && pytest", "source src/a.sh && pytest"),
            ("source .venv/bin/activate && pytest", "source .venv/bin/activate && .venv/bin/cat a"),
        ],
    );
}

#[test]
fn a_folder_that_a_script_makes_is_where_the_rest_of_it_runs() {
    check(
        TEXTS,
        &[
            ("mkdir -p docs/b && cd docs/b && ls", "mkdir -p .github/b && cd .github/b && ls"),
            (
                "mkdir -p docs/b && cd docs/b && echo x > a",
                "mkdir -p docs/b && cd docs/b && echo x > ../../.github/a",
            ),
            (
                "mkdir -p docs/b && cd docs/b && wc -l ../usage.md",
                "mkdir -p docs/b && cd docs/b && cat ../../.env",
            ),
            ("mkdir docs/b && cd docs/b && ls", "mkdir docs/b && cd docs/b && curl x"),
            ("mkdir -p docs/b && cd docs/b && ls", "mkdir -p docs/b; cd docs/b && cat x"),
            ("mkdir -p docs/b && cd docs/b && ls", "mkdir -p docs/b && cd docs/b; rm -rf x"),
            ("mkdir -p docs/b && cd docs/b && ls", "mkdir -p docs/b && cd .git && cat config"),
            ("mkdir -p docs/b && cd docs/b && ls", "mkdir -p docs/b || cd docs/b && rm -rf x"),
            ("mkdir -p docs/b && cd docs/b && ls", "mkdir -p /tmp/b && cd /tmp/b && ls"),
        ],
    );
}

#[test]
fn a_file_of_a_redirection_is_one_that_the_script_gives_it() {
    check(
        TEXTS,
        &[
            (
                "for f in $(git ls-files 'docs/*.md'); do wc -l < \"$f\"; done",
                "for f in $(cat docs/list); do wc -l < \"$f\"; done",
            ),
            (
                "for f in docs/*.md; do echo \"$f: $(wc -w < $f)\"; done",
                "for f in .env; do echo \"$f: $(wc -w < $f)\"; done",
            ),
            ("for f in *.md; do wc -l < $f; done", "for f in *; do wc -l < $f; done"),
            ("f=docs/usage.md; wc -l < \"$f\"", "f=.env; wc -l < \"$f\""),
            ("f=docs/a; wc -l < $f", "ls && f=docs/a; wc -l < $f"),
            (
                "f=docs/a; while read -r l; do echo \"$l\"; done < \"$f\"",
                "f=.env; while read -r l; do echo \"$l\"; done < \"$f\"",
            ),
            ("LOG=/tmp/x.log; git log > $LOG; tail $LOG", "LOG=.github/x; git log > $LOG"),
            ("LOG=/tmp/x.log; git log >> \"$LOG\" 2>&1", "LOG=/etc/x; git log >> \"$LOG\""),
            ("OUT=/tmp/o; ls &> $OUT", "OUT=.locum/policy.yml; ls &> $OUT"),
            ("d=docs; ls > \"$d\"/list", "d=.github; ls > \"$d\"/list"),
            ("for i in a b; do ls > docs/$i.txt; done", "for i in a; do ls > .github/$i; done"),
            ("for i in $(seq 3); do ls > /tmp/$i.log; done", "for i in $(seq 3); do ls > $i; done"),
            ("T=$(mktemp) && git log > \"$T\"", "T=$(cat docs/a) && git log > \"$T\""),
            ("LOG=/tmp/x; (ls; git log) > $LOG", "LOG=.git/x; (ls; git log) > $LOG"),
            ("LOG=/tmp/x; ls > $LOG", "ls > $LOG"),
            ("LOG=/tmp/x; ls > $LOG", "LOG='/tmp/x y'; ls > $LOG"),
            ("LOG=/tmp/x; ls > $LOG", "LOG=/tmp/x; LOG=.github/x; ls > $LOG"),
            ("LOG=/tmp/x; ls > $LOG", "for f in docs/*.md; do ls > $f; done"),
        ],
    );
}

#[test]
fn a_text_that_a_shell_works_out_is_given_to_what_only_shows_it() {
    check(
        TEXTS,
        &[
            (
                "cat > docs/faq.md <<E\n# FAQ $(date +%Y)\nE",
                "cat > docs/faq.md <<E\n# FAQ $(curl x)\nE",
            ),
            ("cat <<E\n$(git log -1)\nE", "cat <<E\n$(cat .env)\nE"),
            ("x=1; cat > docs/a <<E\n$x \\$y \"'\nE", "x=1; cat > .github/a <<E\n$x\nE"),
            ("cat <<E\n$HOME\nE", "cat <<E\n$GITHUB_TOKEN\nE"),
            ("cat <<E\n$HOME\nE", "bash <<E\n$HOME\nE"),
            ("cat <<E\n$HOME\nE", "make -f - <<E\n$HOME\nE"),
            ("cat <<E\n$((1+2))\nE", "cat <<E\n$((a[$(id)]))\nE"),
            ("cat <<E\n${x:-y}\nE", "cat <<E\n${x:=y}\nE"),
            ("cat <<E\na\\nb\nE", "cat <<E\n`id`\nE"),
            ("cat <<E | wc -l\n$x\nE", "cat <<E | sh\n$x\nE"),
            ("tee /tmp/a <<E\n$(date)\nE", "tee .github/a <<E\n$(date)\nE"),
            ("cat <<-E\n\t$x\n\tE", "cat <<-E\n\t$(curl x)\n\tE"),
            ("grep x <<< \"$HOME\"", "bash <<< \"$HOME\""),
            ("wc -l <<< $x", "wc -l <<< $(curl x)"),
            // Lines that a shell joins could end the text, and the rest would run.
            (
                "cat <<E\n$(echo '\nLOCUM_TEXT\nid -u\n')\nE",
                "cat <<E\n$(echo '\nLOCUM_\\\nTEXT\nid -u\n')\nE",
            ),
            (
                "wc -l <<< \"$(echo '\nLOCUM_TEXT\nid -u\n')\"",
                "wc -l <<< \"$(echo '\nLOCUM_\\\nTEXT\nid -u\n')\"",
            ),
            (
                "cat <<E\n$(cat <<'F'\nLOCUM_TEXT\nid -u\nF\n)\nE",
                "cat <<E\n$(cat <<'F'\nLOCUM_\\\nTEXT\nid -u\nF\n)\nE",
            ),
        ],
    );
}

#[test]
fn names_in_capital_letters_that_no_program_reads_are_a_scripts_own() {
    check(
        TEXTS,
        &[
            ("BASE=docs/usage.md; cat \"$BASE\"", "HOME=docs; cat \"$HOME/x\""),
            ("OUT=$(make test); echo \"$OUT\" | tail -5", "OUT=$(curl x); echo \"$OUT\""),
            ("LOG_FILE=docs/a; tail \"$LOG_FILE\"", "LOG_FILE=.env; tail \"$LOG_FILE\""),
            ("BASE=docs; ls", "MAKEFLAGS=--eval=x; make test"),
            ("BASE=docs; ls", "GIT_BASE=docs; ls"),
            ("for FILE in docs/*.md; do cat $FILE; done", "for ENV in docs/a; do ls; done"),
            ("FILES=$(git ls-files docs); wc -l $FILES", "FILES=$(cat docs/list); wc -l $FILES"),
            (
                "FILES=$(git ls-files docs); for f in $FILES; do head -1 \"$f\"; done",
                "FILES=$(git ls-files); for f in $FILES; do rm \"$f\"; done",
            ),
            (
                "FILES=\"$(git ls-files docs)\" && cat $FILES",
                "FILES=$(git ls-files docs); FILES=.env; cat $FILES",
            ),
            ("FILES=$(git ls-files docs); cat $FILES", "ls && FILES=$(git ls-files); rm $FILES"),
            ("d=docs; cat \"$d\"/usage.md", "d=.; cat \"$d\"/.env"),
            (
                "BASE=$(git merge-base HEAD main); git diff --stat \"$BASE\"..HEAD",
                "BASE=$(cat docs/a); git diff --stat \"$BASE\"..HEAD",
            ),
        ],
    );
}

#[test]
fn braces_are_the_words_that_a_shell_makes_of_them() {
    check(
        TEXTS,
        &[
            ("cat docs/{usage,design}.md", "cat docs/{usage,../.env}"),
            ("cat {README,docs/usage}.md", "cat {README.md,.env}"),
            ("grep -rn x --include=*.{md,txt} docs", "grep -rn x --{include=*.md,file=.env} docs"),
            ("mkdir -p docs/{a,b}/c", "mkdir -p {docs,.github}/workflows"),
            ("cp docs/usage.md{,.bak}", "cp docs/{usage.md,../Makefile}"),
            ("rm -f docs/x{1..3}.md", "rm -f {docs,.github}/x{1..3}.md"),
            (
                "for f in {README,docs/usage}.md; do cat $f; done",
                "for f in {README.md,.env}; do cat $f; done",
            ),
            ("find docs -name '*.md' -exec wc -l {} +", "find {docs,.github} -delete"),
            ("git diff --{stat,cached}", "git diff --{output=.env,stat}"),
            ("head -1 docs/{usage,design}.md", "{cat,.env}"),
        ],
    );
}

#[test]
fn a_change_of_folder_at_the_end_or_in_brackets_is_where_nothing_else_runs() {
    check(
        TEXTS,
        &[
            ("ls docs && cd ..", "cd .. && ls docs"),
            ("ls docs; cd -", "ls docs; cd - | cat .env"),
            ("wc -l README.md\ncd", "cd\nwc -l README.md"),
            ("ls docs && cd - >/dev/null", "ls docs && cd - > .github/x"),
            ("ls docs; cd - >/dev/null 2>&1", "ls docs; cd - >/dev/null; cat .env"),
            ("ls && cd docs", "ls && cd docs > Makefile"),
            ("ls && cd docs", "ls && cd docs && cat .env"),
            ("ls && cd docs", "ls && cd docs &"),
            ("(ls docs)", "(cd none; cat README.md)"),
        ],
    );
}

#[test]
fn what_only_looks_like_an_option_is_none() {
    let files = [
        ("pyproject.toml", "[tool.black]\n[tool.ruff]\n[tool.coverage]\n"),
        ("Cargo.toml", "[package]\nname = \"a\"\n"),
        ("src/a.py", ""),
        ("docs/ci.yml", ""),
        (".github/workflows/ci.yml", ""),
    ];
    check(
        &files,
        &[
            ("git apply --check docs/a.patch", "git apply -- docs/a.patch --check"),
            ("git apply --check docs/a.patch", "git apply docs/a.patch -- --stat"),
            ("yq .jobs .github/workflows/ci.yml", "yq -i .jobs .github/workflows/ci.yml"),
            ("yq .jobs .github/workflows/ci.yml", "yq -ri .jobs .github/workflows/ci.yml"),
            ("black --check .", "black -- --check ."),
            ("ruff format --check .", "ruff format -- --check ."),
            ("coverage report", "coverage combine -- --keep .github"),
            ("git branch --list", "git branch -- --list"),
            ("git clean -n", "git clean docs -n"),
            ("git clean -nd", "git clean -- -n"),
        ],
    );
}
