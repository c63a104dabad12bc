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
                "c=$(git log -1 --format=%h) && git show \"$c\"",
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
