//! Commands that are given names of files by other commands, and searches that choose files by a
//! pattern: what is allowed stands beside what resembles it.

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::command::{Script, ScriptExecution};
use crate::intent::{Facts, Intent};
use crate::verdict::Decision;

const RULES: &str = "version: 1
rules:
  - allow: ['read(**)', 'edit(src/**)', 'edit(docs/**)', 'command(for:*)', 'command(while:*)']
  - allow: ['command(basename:*)', 'command(cat:*)', 'command(clang-format:*)', 'command(cp:*)', \
    'command(diff:*)', 'command(echo:*)', 'command(eslint:*)', 'command(find:*)', \
    'command(gofmt:*)', 'command(grep:*)', 'command(head:*)', 'command(javac:*)', \
    'command(jq:*)', 'command(ls:*)', 'command(node:*)', 'command(php:*)', 'command(rg:*)', \
    'command(rm:*)', 'command(rubocop:*)', 'command(ruby:*)', 'command(ruff check:*)', \
    'command(ruff format:*)', 'command(sed:*)', 'command(seq:*)', 'command(sort:*)', \
    'command(wc:*)', 'command(xargs:*)', 'command(python:*)']
  - allow: ['command(bundle exec:*)', 'command(npx:*)', 'command(python -m py_compile:*)', \
    'command(go build:*)', 'command(go list:*)', 'command(go test:*)', 'command(go vet:*)', \
    'command(git diff:*)', 'command(git grep:*)', 'command(git log:*)', 'command(git ls-files:*)', \
    'command(git merge-base:*)', 'command(git rev-list:*)', 'command(git rev-parse:*)', \
    'command(git show:*)']
commands: { expansions: allow, max_complexity: 1.0 }
";

fn decided(rules: &str, text: &str, sandboxed: bool) -> (Decision, String) {
    let policy = Policy::parse(rules, "policy.yml").unwrap();
    let facts = Facts { mode: "code".to_owned(), sandboxed, ..Facts::default() };
    let script = Script::parse(text).below("/w/repo");
    let verdict = policy.decide(&Intent::Command(script), &facts);
    (verdict.decision, verdict.reason())
}

/// Of each pair the first is allowed, the second is not.
fn check(pairs: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (harmless, hostile) in pairs {
        let (decision, reason) = decided(RULES, harmless, true);
        if decision != Decision::Allow {
            wrong.push(format!("not allowed: {harmless}: {reason}"));
        }
        let (decision, reason) = decided(RULES, hostile, true);
        if decision == Decision::Allow {
            wrong.push(format!("not refused: {hostile}: {reason}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_search_that_is_about_a_secret_file_reads_it() {
    check(&[
        ("find . -name .env", "find . -name .env -exec cat {} +"),
        ("find . -name '*.md' -exec cat {} +", "find . -name '.env*' -exec cat {} +"),
        ("find src -name '*.rs' -exec head -1 {} ';'", "find . -name .env -exec head -1 {} ';'"),
        ("find . -name '*.md' -print0 | xargs -0 cat", "find . -name .env -print0 | xargs -0 cat"),
        ("find . -not -name .env -exec cat {} +", "find . ! -not -name .env -exec cat {} +"),
        (
            "find . -name .env -prune -o -type f -exec cat {} +",
            "find . -name .env -prune -exec cat {} +",
        ),
        ("find docs -path '*/a/*' | xargs cat", "find . -path '*/.git/*' | xargs cat"),
        (
            "find docs -type f | grep -v '\\.env' | xargs cat",
            "find . -type f | grep '\\.env$' | xargs cat",
        ),
        ("cat $(find docs -name '*.md')", "cat $(find . -name .env)"),
        (
            "for f in $(git ls-files '*.md'); do cat $f; done",
            "for f in $(git ls-files '.env*'); do cat $f; done",
        ),
        (
            "find docs | while read -r f; do cat \"$f\"; done",
            "find . -name '*.pem' | while read -r f; do cat \"$f\"; done",
        ),
        ("grep -rn x . --include='*.md'", "grep -rn SECRET . --include='.env*'"),
        ("grep -rn x . --exclude='.env*'", "grep -rl SECRET --include='*.pem' ."),
        ("rg --hidden -g '!.env' x", "rg --hidden -g '.env*' SECRET"),
        ("rg -g '*.{ts,tsx}' x", "rg -g '*.{ts,key}' x"),
        ("rg --files --hidden -g '.env*'", "rg --files --hidden -g '.env*' | xargs cat"),
        ("git ls-files '.env*'", "git ls-files '.env*' | xargs cat"),
        ("git diff --name-only | xargs cat", "git diff --name-only -- .env | xargs cat"),
        ("cat $(git diff --name-only)", "cat $(git diff --name-only -- .env)"),
        ("git grep x -- '*.md'", "git grep x -- '*.pem'"),
        ("git diff -- '*.md'", "git diff -- '.env*'"),
    ]);
}

#[test]
fn what_goes_through_the_folder_of_git_reads_its_settings() {
    check(&[
        ("ls .git", "grep -r token .git"),
        ("cat .git/HEAD", "rg token .git"),
        ("grep -rn x src", "grep -rn x ./.git/"),
        ("find .git -name config", "find .git -name config -exec cat {} +"),
        ("find .git -type f", "find .git -type f | xargs cat"),
        ("diff -r src docs", "diff -r .git docs"),
        ("cp -r src docs/s", "cp -r .git docs/g"),
        ("git diff --no-index src docs", "git diff --no-index .git docs"),
        ("cp -r . /tmp/all", "cp -r . /tmp/all && cat /tmp/all/.env"),
        ("cat /tmp/all/README.md", "cat /tmp/all/.git/config"),
    ]);
}

#[test]
fn checkers_and_formatters_are_given_names_by_a_pipe() {
    check(&[
        ("find src -name '*.py' | xargs ruff check", "find src | xargs ruff check --unheard"),
        (
            "find src -name '*.py' | xargs -r ruff check --fix",
            "find . -name '*.py' | xargs -r ruff check --fix",
        ),
        (
            "find src -name '*.py' | xargs -r ruff format",
            "find src -name '*.py' | xargs ruff format",
        ),
        (
            "git ls-files '*.py' | xargs ruff check",
            "git ls-files '*.py' | sed s/a/b/ | xargs ruff check",
        ),
        (
            "git diff --name-only | grep '\\.py$' | xargs -r ruff check",
            "git diff --stat | grep '\\.py$' | xargs -r ruff check",
        ),
        (
            "git diff --name-only --diff-filter=ACM | xargs -r npx eslint",
            "git diff --name-only --output=src/x | xargs -r npx eslint",
        ),
        (
            "git diff --name-only -- src | xargs -r ruff format",
            "git diff --name-only | xargs -r ruff format",
        ),
        (
            "git diff --name-only -z -- '*.go' | xargs -0 gofmt -l",
            "git diff --name-only -z -- '*.go' | xargs gofmt -l",
        ),
        (
            "find src -name '*.php' -print0 | xargs -0 -n1 php -l",
            "find src -name '*.php' -print0 | xargs -0 -n1 php -r",
        ),
        ("find src | xargs -n1 ruby -c", "find src | xargs -n1 ruby -e"),
        ("find src -exec ruby -c {} ';'", "find src -exec ruby -e {} ';'"),
        ("find src -exec node --check {} ';'", "find src -exec node {} ';'"),
        ("find src -exec ruff check {} +", "find src -exec ruff check --select {} ';'"),
        ("find src | xargs -I{} ruff check {}", "find src | xargs -I{} ruff check --x={} src"),
        ("find src | xargs python -m py_compile", "find src | xargs python"),
        (
            "git diff --name-only | xargs -r bundle exec rubocop",
            "git diff --name-only | xargs -r bundle exec sh",
        ),
        ("git ls-files '*.json' | xargs jq .", "git ls-files '*.json' | xargs jq"),
        (
            "go list ./... | grep -v cmd | xargs go test",
            "go list -f '{{.Dir}}' ./... | xargs go test",
        ),
        ("go list ./... | xargs -n1 go vet", "go list ./... | xargs rm"),
        ("seq 3 | xargs -I{} echo item-{}", "seq 3 | xargs -I{} cat {}"),
        ("cat docs/list | xargs -n1 basename", "cat docs/list | xargs -n1 cat"),
        ("cat docs/list | xargs echo", "cat docs/list | xargs -I{} {} x"),
        (
            "diff <(ls docs) <(git ls-files docs | xargs -n1 basename)",
            "diff <(ls docs) <(git ls-files docs | xargs -n1 cat)",
        ),
    ]);
}

#[test]
fn checkers_and_formatters_are_given_names_by_a_substitution() {
    check(&[
        ("gofmt -l $(git ls-files '*.go')", "gofmt -l $(cat docs/list)"),
        ("gofmt -w $(git ls-files src)", "gofmt -w $(git ls-files '*.go')"),
        (
            "bundle exec rubocop $(git diff --name-only --diff-filter=d HEAD -- '*.rb')",
            "bundle exec rubocop --require $(git diff --name-only HEAD -- '*.rb')",
        ),
        (
            "javac -d /tmp/out $(find src -name '*.java')",
            "javac -d $(find src -name '*.java') src/A.java",
        ),
        (
            "ruff check $(git ls-files '*.py') --statistics",
            "ruff check $(git ls-files '*.py') --fix",
        ),
        ("ruff check $(find src -name '*.py')", "ruff check $(grep -rl x src)"),
        ("ruff check $(find src)", "rm $(find src)"),
        (
            "for p in $(go list ./...); do go test $p; done",
            "for p in $(go list ./...); do rm -r $p; done",
        ),
        ("go test $(go list ./... | grep -v cmd)", "go build $(go list ./... | grep -v cmd)"),
    ]);
}

#[test]
fn names_that_reach_a_checker_are_words_and_no_options() {
    let shown = |text: &str| match Script::parse(text).execution() {
        Some(ScriptExecution::Shell(shown)) => shown,
        other => panic!("{text}: {other:?}"),
    };
    let pathspecs = "':(exclude)-*' ':(exclude)@*' ':(exclude)* *'";
    for (text, part) in [
        (
            "git diff --name-only | grep py | xargs -r ruff check",
            format!("{pathspecs} | 'grep' '-z' 'py' | 'xargs' '-0' '-r' 'ruff' 'check'"),
        ),
        ("git ls-files -z | xargs -0 gofmt -l", format!("{pathspecs} | 'xargs' '-0' 'gofmt' '-l'")),
        ("gofmt -l $(git ls-files)", format!("{pathspecs}\n)")),
        ("find src | xargs gofmt -l", "'-print0' | 'xargs' '-0' 'gofmt' '-l'".to_owned()),
        ("find src | xargs cat", "'find' 'src' | 'xargs' 'cat'".to_owned()),
        ("cat $(git ls-files)", "'ls-files'\n)".to_owned()),
    ] {
        assert!(shown(text).contains(&part), "{text}: {}", shown(text));
    }
    for text in ["find src | xargs gofmt -l", "gofmt -l $(git ls-files '*.go')"] {
        assert_eq!(decided(RULES, text, false).0, Decision::Deny, "{text} without a sandbox");
    }
}

#[test]
fn a_commit_may_stand_where_it_is_printed() {
    check(&[
        ("git diff $(git merge-base HEAD main)", "cat $(git merge-base HEAD main)"),
        ("git diff \"$(git merge-base HEAD main)\" --stat", "git diff \"$(cat docs/a)\" --stat"),
        ("git show $(git log -1 --format=%h) --stat", "git show $(git log -1 --format=%s) --stat"),
        ("git show $(git rev-parse HEAD)", "cp README.md $(git rev-parse HEAD)"),
        ("git show $(git rev-parse HEAD):docs/a", "git show $(git rev-parse HEAD):.env"),
        ("git log $(git merge-base HEAD main)..HEAD", "git log $(git log -1 --format=%s)..HEAD"),
        (
            "a=$(git merge-base HEAD main) && git diff \"$a\"..HEAD",
            "a=$(cat docs/a) && git diff \"$a\"..HEAD",
        ),
        (
            "git diff $(git rev-list --max-parents=0 HEAD) --stat",
            "git diff $(git rev-list HEAD) --stat",
        ),
        (
            "c=$(git log -1 --format=%h) && git show \"$c\"",
            "c=$(git log -1 --format=%h) && rm \"$c\"",
        ),
        // Without a commit, the second word is a file to write.
        ("sort -o docs/a README.md", "cp README.md Makefile $(git merge-base HEAD main)"),
    ]);
}

#[test]
fn what_tools_keep_in_a_home_is_read_and_nothing_beside_it() {
    check(&[
        ("cat ~/.cargo/registry/src/a/Cargo.toml", "cat ~/.cargo/credentials.toml"),
        ("rg -n x \"$HOME\"/.m2/repository/a", "rg -n x ~/.m2"),
        ("rg -n x ${HOME}/.rustup", "HOME=docs rg -n x ${HOME}/.rustup"),
        ("find ~/.m2 -name 'junit-*.jar' | head -3", "find ~/.m2 -name 'a*' -exec cat {} +"),
        ("find ~/.cargo/registry -name x", "find ~ -name '*.pem'"),
        ("head -5 ~/go/pkg/mod/a@v1/b.go", "cp ~/go/pkg/mod/a@v1/b.go docs/b.go"),
        ("ls ~/.cargo/registry", "rm -r ~/.cargo/registry"),
        ("cat ~/.pyenv/a.py", "python ~/.pyenv/a.py"),
        ("cat ~/.nvm/a", "cat ~/.nvm/../.ssh/id_rsa"),
    ]);
    assert_eq!(decided(RULES, "cat ~/.cargo/registry/a", false).0, Decision::Deny);
}

#[test]
fn a_pattern_is_edited_where_all_that_it_may_match_could_be() {
    check(&[
        ("clang-format -i src/*.c", "clang-format -i lib/*.c"),
        ("clang-format -i src/*.c docs/*.h", "clang-format -i src/*.c .github/*.h"),
        ("sed -i s/a/b/ src/*.c", "sed -i.bak s/a/b/ src/*.c"),
        (
            "for f in src/*.c; do sed -i s/a/b/ \"$f\"; done",
            "for f in docs/*.md; do sed -i s/a/b/ \"$f\"; done",
        ),
        ("rm -f src/x/*.o", "rm -f src/x/*.json"),
        ("rm src/a/x*.c", "rm a*.c"),
        // What is read is not changed.
        ("javac -d /tmp/out src/a/*.java", "javac -d .github src/a/*.java"),
        ("cp docs/*.md /tmp/x", "cp docs/*.md lib"),
        ("cp docs/a.md src", "cp docs/*.md"),
    ]);
    for (rule, expected) in [
        ("deny: edit(src/gen/**)", Decision::Allow),
        ("deny: edit(src/a.c)", Decision::Deny),
        ("deny: 'edit(**/*.c)'", Decision::Deny),
        ("hold: edit(src/a.c)", Decision::Hold),
        ("deny: edit(src/a.h)", Decision::Allow),
    ] {
        let rules = RULES.replace("commands:", &format!("  - {rule}\ncommands:"));
        let (decision, reason) = decided(&rules, "clang-format -i src/*.c", true);
        assert_eq!(decision, expected, "{rule}: {reason}");
    }
}

#[test]
fn a_program_without_a_table_is_given_no_glob_that_may_match_what_is_protected() {
    let rules = "version: 1
rules: [{ allow: ['command(for:*)', 'command(frob:*)', 'command(isort:*)', 'command(echo:*)'] }]
commands: { expansions: allow, max_complexity: 1.0 }
";
    for (harmless, hostile) in [
        ("isort src/*.py", "isort .g*/a.py"),
        ("isort */*.py", "isort AGENTS*"),
        ("frob docs/*.md", "frob AGENTS*"),
        ("frob src/*/ci.yml", "frob .g*/workflows/ci.yml"),
        ("frob a[bc].txt", "frob .[g]ithub/a"),
        ("frob src/\"$x\"", "frob .github/\"$x\""),
        ("frob src/x*", "frob /etc/x*"),
        ("frob certs/*.txt", "frob certs/*.pem"),
        (
            "for f in src/*/*.txt; do frob \"$f\"; done",
            "for f in .g*/workflows/*.yml; do frob \"$f\"; done",
        ),
        (
            "for f in .g*/workflows/*.yml; do echo \"$f\"; done",
            "for f in .g*/workflows/*.yml; do frob \"${f}\"; done",
        ),
        ("frob src/??.py", "frob [A]GENTS.md"),
        ("frob \"$PWD/src/a\"", "frob \"$PWD/AGENTS.md\""),
        ("frob \"$x/src\"", "frob \"$x/.git/config\""),
        (
            "for f in a1 a2 a3; do frob -o\"$f\"; done",
            "for f in a1 .github/a a3; do frob -o\"$f\"; done",
        ),
        (
            "for f in .x*; do for g in $f/*; do echo \"$g\"; done; done",
            "for f in .g*; do for g in $f/*; do frob \"$g\"; done; done",
        ),
        (
            "for f in s1* s2* s3* s4* s5* s6* s7* s8* s9; do frob \"$f\"; done",
            "for f in s1* s2* s3* s4* s5* s6* s7* s8* AGENTS.md; do frob \"$f\"; done",
        ),
        (
            "for f in a.txt src/x*; do frob \"$f\"; done",
            "for f in AGENTS.md src/x*; do frob \"$f\"; done",
        ),
    ] {
        let (decision, reason) = decided(rules, harmless, true);
        assert_eq!(decision, Decision::Allow, "{harmless}: {reason}");
        let (decision, _) = decided(rules, hostile, true);
        assert_ne!(decision, Decision::Allow, "{hostile}");
    }
}
