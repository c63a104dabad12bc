//! Everyday commands under `:*` rules, and what must not slip through under the same rules.

use pretty_assertions::assert_eq;

use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::query::parse_intent;
use crate::tests::{facts, policy};
use crate::verdict::Decision::{Allow, Deny};
use locum_base::path::RepoPath;

#[test]
fn everyday_commands_pass_and_their_dangerous_neighbours_do_not() {
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(git status)\", \"command(git diff:*)\", \
         \"command(git log:*)\", \"command(git show:*)\", \"command(git branch:*)\", \
         \"command(git grep:*)\", \"command(cargo:*)\", \"command(npm:*)\", \"command(ls:*)\", \
         \"command(cat:*)\", \"command(head:*)\", \"command(tail:*)\", \"command(wc:*)\", \
         \"command(rg:*)\", \"command(grep:*)\", \"command(find:*)\", \"command(echo:*)\", \
         \"command(sed:*)\", \"command(jq:*)\", \"command(sort:*)\", \"command(uniq:*)\", \
         \"command(pytest:*)\", \"command(go test:*)\", \"command(make:*)\", \
         \"command(mytool:*)\", \"command(git push:*)\", \"command(timeout:*)\", \
         \"command(nice:*)\", \"command(env:*)\", \"command(stdbuf:*)\", \
         \"command(command:*)\"]\ncommands: { max_complexity: 1.0 }\n",
    );
    let sandboxed = Facts { sandboxed: true, ..facts("code") };
    let allowed = [
        "ls -la",
        "ls -lah src/",
        "ls --color=never -1",
        "cat -n src/a.rs",
        "head -n 20 a",
        "head -20 a",
        "head -c100 a",
        "tail -n+5 a",
        "wc -l a b",
        "rg -in todo",
        "rg -A3 -B 2 'fn x' src tests",
        "rg -trust 'a|b'",
        "rg -t rust x",
        "rg --files",
        "rg --files -g '*.rs'",
        "rg -l x | wc -l",
        "rg -e a -e b src",
        "rg -F '$x' .",
        "rg 'a(b)' src",
        "rg --json x",
        "grep -rn foo src",
        "grep -rn --include='*.rs' foo .",
        "grep -n 'a\\|b' x.rs",
        "grep -E '^a$' x",
        "grep -c x a",
        "find . -type f -name '*.rs' -not -path './target/*'",
        "find src -newer a -print",
        "find . -maxdepth 1",
        "git diff --stat HEAD~3..HEAD",
        "git diff main...HEAD -- src",
        "git log --oneline -5",
        "git log -n 5 --format='%h %s'",
        "git log -p -1 -- src/a.rs",
        "git show HEAD:src/a.rs",
        "git show --stat",
        "git branch -a",
        "git --no-pager diff",
        "git grep -n x",
        "cargo test -p a --lib",
        "cargo test --workspace --all-features",
        "cargo test a::b -- --exact",
        "cargo check --all-targets",
        "cargo clippy -- -D warnings",
        "cargo build --release",
        "cargo fmt --check",
        "cargo fmt -- --check",
        "cargo nextest run --lib a",
        "cargo nextest list",
        "cargo test --no-run --no-fail-fast --doc",
        "cargo test --bin a --target x86_64-unknown-linux-musl",
        "cargo build -p a --bin b",
        "cargo test -j -1",
        "git diff --ignore-submodules=all",
        "git diff -U3",
        "git diff --unified=3 HEAD",
        "git branch --list 'feature/*'",
        "rg -e -x src",
        "grep -e -x src/a.rs",
        "head -n -5 a",
        "find . -name -delete",
        "npm test -- --watch=false",
        "npm run lint",
        "npm run build --silent",
        "echo hi && ls",
        "echo -n x",
        "sed -n 1,5p a",
        "sed -n '/a/,/b/p' a",
        "jq -r .a a.json",
        "jq '.a[] | .b' a.json",
        "jq --arg a b --argjson c '[1]' '.[$a]' a.json",
        "jq -n --arg a /etc/x '$a'",
        "cd src && ls",
        "cd src/deep && cat ../a | wc -l",
        "RUST_BACKTRACE=1 cargo test",
        "CI=1 NO_COLOR=1 npm test | tail -20",
        "sort a | uniq -c | sort -rn | head",
        "pytest -q tests/test_a.py::test_b -k 'x and y'",
        "go test ./... -run TestX -v",
        "make test",
        "make -j4 check",
        "mytool --any x",
        "git push origin x",
        "cat a 2>/dev/null || echo none",
        "(ls; ls src) | wc -l",
        "if ls a; then cat a; fi",
        "cargo test 2>&1 | tail -n 20",
        "ls >/dev/null 2>&1",
        "cargo +nightly test",
        "timeout 60 cargo test",
        "timeout -k 5s 2m pytest -q | tail -3",
        "env ls",
        "env CI=1 NO_COLOR=1 npm test",
        "nice ls",
        "nice -n 10 stdbuf -oL make test",
        "command ls -la",
    ];
    let mut wrong = Vec::new();
    for command in allowed {
        let verdict =
            policy.decide(&parse_intent(&format!("command({command})")).unwrap(), &sandboxed);
        wrong.extend(
            (verdict.decision != Allow)
                .then(|| format!("not allowed: {command}: {}", verdict.reason())),
        );
    }
    let denied = [
        "ls /",
        "ls ..",
        "cat ../x",
        "cat /etc/hosts",
        "cat .env",
        "cat -- .env",
        "head -n1 .git/config",
        "rg x .env",
        "rg --pre cat x",
        "rg -z x",
        "rg -L x",
        "rg -uuu x",
        "rg -f/etc/passwd x",
        "rg -f ../x y",
        "rg --files /etc",
        "rg -e x /etc",
        "grep -r x /",
        "grep -r x ~",
        "grep -rf /etc/x .",
        "grep -f /etc/passwd x",
        "find . -exec ls ;",
        "find . -fprint x",
        "find . -fls x",
        "find . -ok ls ;",
        "find -D x .",
        "find . -files0-from x",
        "find -delete",
        "git diff --ext-diff",
        "git diff --textconv",
        "git diff -O/etc/x",
        "git log --output=x",
        "git show HEAD:.env",
        "git show HEAD:../x",
        "git diff /etc/a /etc/b",
        "git diff ../a",
        "git -C .. status",
        "git --git-dir=x status",
        "git --exec-path=. status",
        "git -p status",
        "git --paginate diff",
        "git branch new",
        "git branch -D main",
        "git branch -m a b",
        "git grep -O x",
        "git grep --open-files-in-pager=x y",
        "git push --receive-pack=x",
        "git push -f origin x",
        "git status -s",
        "git config -l",
        "git",
        "cargo +nightly publish",
        "cargo +/tmp/x test",
        "cargo test --config x=1",
        "cargo -Z x test",
        "cargo --config a test",
        "cargo test --target-dir=.git",
        "cargo install x",
        "cargo fmt -- --config-path=/x",
        "git log --ext-diff -p",
        "cargo test --test --manifest-path=/tmp/evil/Cargo.toml",
        "cargo test -p --config=x",
        "cargo test --bin --config=x",
        "cargo build -j --target-dir=/x",
        "cargo test --target /x/y.json",
        "cargo nextest self update",
        "cargo nextest -q self update",
        "cargo nextest archive",
        "npm test -w --script-shell=x",
        "git diff --submodule=diff",
        "git diff --submodule",
        "git log -p --submodule=diff",
        "git show --submodule=log HEAD",
        "git diff -U --output=x",
        "git diff --unified --output=x",
        "git diff -U /etc/passwd src/a.rs",
        "git log --format --output=x",
        "git log --format /etc/passwd",
        "git show --min-parents --output=x",
        "git log -S --output=x",
        "git branch --contains -D",
        "git branch --sort --list x",
        "git branch -- --list x",
        "sort -k --output=x a",
        "pytest -k -p evil",
        "pytest @more",
        "go test -run -exec=x",
        "cargo publish",
        "cargo add x",
        "cargo run --manifest-path=/x",
        "cargo test -Zx",
        "cargo",
        "npm install x",
        "npm exec x",
        "npm --prefix=/x test",
        "npm ci",
        "npm test --script-shell=x",
        "npm run-script x --node-options=y",
        "npm config set x y",
        "sed -i s/a/b/ a",
        "sed -f x a",
        "sed 's/a/b/w x' a",
        "sed --in-place=.bak s/a/b/ a",
        "sort -o x a",
        "sort --compress-program=x a",
        "sort -T /tmp a",
        "sort --files0-from=x",
        "uniq a b",
        "jq -L /x . a",
        "jq --arg a b . /etc/x",
        "jq --arg=a b . a",
        "jq --arg a -f /etc/x a",
        "jq --slurpfile a /etc/x . a",
        "RUSTC_WRAPPER=x cargo test",
        "RUST_BACKTRACE=1 LD_PRELOAD=x cargo test",
        "RUST_BACKTRACE=$(id) cargo test",
        "RUST_BACKTRACE+=1 cargo test",
        "CI[0]=1 cargo test",
        "LANG=../x ls",
        "CI=1",
        "CI=1 > a.json",
        "CI=1 sudo ls",
        "jq . /etc/x",
        "pytest -p evil",
        "pytest -c /x",
        "pytest ../x",
        "pytest --rootdir=/x",
        "go test -exec x ./...",
        "go test -toolexec=x",
        "go test -o x",
        "make SHELL=x",
        "make -f ../x",
        "make -C /x",
        "make --eval=x",
        "mytool > x",
        "mytool $x",
        "./mytool",
        "/bin/ls",
        "LS",
        "ls & ls",
        "cd src; cat ../../x",
        "cd src || ls",
        "cd .. && ls",
        "cd ..; ls",
        "cd src && cat ../../x",
        "cd .git && cat config",
        "export A=b; ls",
        "echo x | sh",
        "echo x | tee y",
        "xargs ls",
        "env -i ls",
        "env PATH=. ls",
        "env LD_PRELOAD=a.so ls",
        "timeout 5 curl a",
        "timeout 5 sh -c ls",
        "timeout 5 rg --pre cat x",
        "timeout 5 cat .env",
        "timeout 5 timeout 5 cat /etc/passwd",
        "timeout -s $x 5 ls",
        "nice ./ls",
        "nice sudo ls",
        "stdbuf -oL ls -x /",
        "nohup make SHELL=x",
        "command sudo ls",
        "command cd src",
        "ls | xargs cat",
        "cat < /dev/tcp/a/1",
        "ls > /dev/stderr",
        "ls 2> err.log",
        "exec ls",
        ". ./x",
        "source x",
        "sudo ls",
        "time ls",
    ];
    for command in denied {
        let verdict =
            policy.decide(&parse_intent(&format!("command({command})")).unwrap(), &sandboxed);
        wrong.extend(
            (verdict.decision != Deny)
                .then(|| format!("not denied: {command}: {}", verdict.reason())),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_program_that_names_what_it_runs_is_covered_by_a_rule_that_names_both() {
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(npx vitest:*)\", \"command(python -m mypy:*)\"]\n",
    );
    for (intent, expected) in [
        ("command(npx vitest run --coverage)", Allow),
        ("command(npx vitestx)", Deny),
        ("command(npx --yes vitest)", Deny),
        ("command(npx --no vitest)", Deny),
        ("command(npx eslint)", Deny),
        ("command(npx bash -c x)", Deny),
        ("command(python -m mypy src)", Allow),
        ("command(python -m mypyc src)", Deny),
        ("command(python -c 'print(1)')", Deny),
    ] {
        let facts = Facts { sandboxed: true, ..facts("code") };
        let verdict = policy.decide(&parse_intent(intent).unwrap(), &facts);
        assert_eq!(verdict.decision, expected, "{intent}: {}", verdict.reason());
    }
    let wide =
        crate::tests::policy("rules:\n  - allow: [\"command(npx:*)\", \"command(python:*)\"]\n");
    for intent in ["command(npx vitest)", "command(python -m mypy)"] {
        let facts = Facts { sandboxed: true, ..facts("code") };
        assert_eq!(wide.decide(&parse_intent(intent).unwrap(), &facts).decision, Deny);
    }
}

#[test]
fn an_absolute_path_of_the_repository_is_a_path_of_it() {
    let policy =
        policy("rules:\n  - allow: [\"read(src/**)\", \"command(cat:*)\", \"command(ls:*)\"]\n");
    for (script, folder, expected) in [
        ("cat /w/repo/src/a", "", Allow),
        ("cat /w/repo/src/a", "src/b", Allow),
        ("cat /w/repo/docs/a", "", Deny),
        ("cat /w/repository/src/a", "", Deny),
        ("cat /w/repo/../src/a", "", Deny),
        ("cat /w/repo/.env", "", Deny),
    ] {
        let folder = RepoPath::parse(folder).unwrap_or_else(|_| RepoPath::root());
        let script = Script::parse_in(script, &folder).below("/w/repo");
        let verdict = policy.decide(&Intent::Command(script.clone()), &facts("code"));
        assert_eq!(verdict.decision, expected, "{}: {}", script.text(), verdict.reason());
    }
}

#[test]
fn changing_the_mode_of_a_file_is_an_edit() {
    let policy = policy("rules:\n  - allow: [\"edit(src/**)\", \"command(chmod:*)\"]\n");
    for (intent, expected) in [
        ("command(chmod +x src/run.sh)", Allow),
        ("command(chmod -R u+rwX,go-w src/a src/b)", Allow),
        ("command(chmod 755 docs/run.sh)", Deny),
        ("command(chmod 777 .github/workflows/ci.yml)", Deny),
        ("command(chmod --reference=src/a src/b)", Deny),
        ("command(chmod 755 /etc/passwd)", Deny),
    ] {
        let verdict = policy.decide(&parse_intent(intent).unwrap(), &facts("code"));
        assert_eq!(verdict.decision, expected, "{intent}: {}", verdict.reason());
    }
}

#[test]
fn what_runs_no_program_passes_but_its_redirections_are_judged() {
    let policy = policy(
        "commands: { expansions: allow, max_complexity: 1.0 }\nrules:\n  - allow: [\"read(**)\", \
         \"edit(src/**)\"]\n",
    );
    let decided = |script: &str| {
        let script = Script::parse(script).below("/w/repo");
        policy.decide(&Intent::Command(script), &facts("code")).decision
    };
    for script in ["cd .", "cd /w/repo", "cd . > src/x", "x=1", "files=(a b)", "exit 0"] {
        assert_eq!(decided(script), Allow, "{script}");
    }
    for script in
        ["cd . > .git/x", "cd . > other", "cd . < .env", "x=1 > other", "PATH=/tmp", "x=$(id)"]
    {
        assert_eq!(decided(script), Deny, "{script}");
    }
}
