//! What is found behind the words of commands.

use super::{Behind, behind, runs_printed};
use crate::command::word::split;
use pretty_assertions::assert_eq;

fn shown(text: &str) -> Vec<String> {
    let shown = |found: Behind| match found {
        Behind::Words(words) => words.join(" "),
        Behind::Script(text) => format!("script {text}"),
    };
    behind(&split(text).unwrap(), &mut 10_000).into_iter().map(shown).collect()
}

#[test]
fn commands_behind_others() {
    for (text, expected) in [
        ("env -u A FOO=1 git push", "git push"),
        ("A=1 B=2 git push", "git push"),
        ("/usr/bin/git push", "git push"),
        ("timeout -k 5 60 git push", "git push"),
        ("flock -w 1 /tmp/l git push", "git push"),
        ("nice -n 5 git push", "git push"),
        ("xargs -n 1 -I{} gh pr", "gh pr"),
        ("sudo -u root -- git push", "git push"),
        ("uvx --from x twine upload", "twine upload"),
        ("npx -y npm@latest publish", "npm publish"),
        ("python -m twine upload", "twine upload"),
        ("python3.11 -m twine", "python -m twine"),
        ("find . -name x -exec git push ';'", "git push"),
        ("git rebase -x 'git push' main", "script git push"),
        ("git submodule foreach --recursive git push", "script git push"),
        ("bash -lc 'git push'", "script git push"),
        ("sh -e -c 'git push'", "script git push"),
        ("eval git push", "script git push"),
        ("trap 'git push' EXIT", "script git push"),
        ("alias p='git push'", "script git push"),
        ("env -S 'git push'", "script env git push"),
        ("env -iS 'git push'", "script env git push"),
        ("env -S git a push", "script env git a push"),
        ("command git push", "git push"),
        ("mvn -B -Prelease clean deploy -DskipTests", "mvn deploy"),
        ("./mvnw -ntp deploy@central", "mvn -ntp deploy@central"),
        ("mvn deploy@central", "mvn deploy"),
        ("gradle --no-daemon clean :core:publish", "gradle publish"),
        ("./gradlew publish", "gradle publish"),
        ("make -j4 build publish", "make publish"),
        ("python setup.py sdist upload -r pypi", "python setup.py upload"),
        ("docker build . --push", "docker push"),
        ("make -C x publish", "make publish"),
        ("make -kC x publish", "make publish"),
        ("gmake publish", "make publish"),
        ("gradle -x test publish", "gradle publish"),
        ("rake 'publish[x]'", "rake publish"),
        ("nox --session=publish", "nox publish"),
        ("nox -rspublish", "nox publish"),
        ("nox -s tests publish", "nox publish"),
        ("mvn org.apache.maven.plugins:maven-release-plugin:perform", "mvn release:perform"),
        ("./mvnw.cmd deploy", "mvn deploy"),
        ("gradle.bat publish", "gradle publish"),
        ("pip3.11 install x", "pip install x"),
        ("g++-13 a.cc", "g++ a.cc"),
        ("git-push x", "git push x"),
        ("/usr/lib/git-core/git-push x", "git-push x"),
        ("git -c core.hooksPath=x commit", "git config core.hooksPath x"),
        ("yarn lerna publish", "lerna publish"),
        ("pnpm -r --filter a lerna publish", "lerna publish"),
        ("yarn workspace a publish", "yarn publish"),
        ("yarn workspaces foreach -A run publish", "yarn -A run publish"),
    ] {
        assert!(shown(text).contains(&expected.to_owned()), "{text}: {:?}", shown(text));
    }
}

#[test]
fn options_before_the_inner_command_may_stand_in_one_word() {
    for text in [
        "xargs -0n 1 git push",
        "xargs --max-lines git push",
        "sudo -nu root git push",
        "sudo --unheard x git push",
        "env -iu A git push",
        "env - A=1 git push",
        "strace -fo /tmp/x git push",
        "ltrace -fo /tmp/x git push",
        "timeout -vk 5 60 git push",
        "chrt 5 git push",
        "unshare -r git push",
        "perf stat -d git push",
        "setpriv --nnp git push",
        "toybox git push",
        "busybox git push",
        "entr git push",
        "nsenter -t 1 git push",
        "runuser -u x -- git push",
        "chroot / git push",
        "mise x -- git push",
        "mise exec node -- git push",
        "pipenv run git push",
        "npm --silent exec git push",
        "coproc git push",
        "command -p git push",
        "docker run -it --rm img git push",
        "nix develop -c git push",
        "gdb --args git push",
        "fd -exml -Hx git push",
        "then git push",
    ] {
        assert!(shown(text).contains(&"git push".to_owned()), "{text}: {:?}", shown(text));
    }
    for text in ["coverage run -m twine upload", "python -Im twine upload", "pypy -mtwine upload"] {
        assert!(shown(text).contains(&"twine upload".to_owned()), "{text}: {:?}", shown(text));
    }
    let found = shown("command git push -v");
    assert_eq!(found, ["git push -v"]);
}

#[test]
fn scripts_behind_others() {
    for text in [
        "su -c 'git push'",
        "su - root -c 'git push'",
        "runuser root -c 'git push'",
        "ssh -p 22 localhost git push",
        "flock -n l -c 'git push'",
        "npx -c 'git push'",
        "npm exec --call 'git push'",
        "script -qc 'git push' /dev/null",
        "script /dev/null -c 'git push'",
        "mise exec -c 'git push'",
        "nix-shell -p git --run 'git push'",
        "trap -- 'git push' EXIT",
        "eval -- git push",
        "watch -tn 1 git push",
        "concurrently ls 'git push'",
        "tmux new -d 'git push'",
        "entr -s 'git push'",
        "parallel git ::: pull push",
        "parallel -j2 ::: ls 'git push'",
        "parallel {1} {2} ::: ls git ::: push",
        "bash -o pipefail -c 'git push'",
        "bash -oc pipefail 'git push'",
        "bash -c +e 'git push'",
        "fish --command 'git push'",
        "git -c alias.x='!git push' x",
        "git -c alias.x=push x",
        "git -c alias.x='!git' x push",
        "git config alias.x '!git push'",
        "git -c core.pager='git push' log",
        "git rebase -ix 'git push'",
    ] {
        let found = shown(text).iter().any(|it| it.trim_end() == "script git push");
        assert!(found, "{text}: {:?}", shown(text));
    }
}

#[test]
fn a_command_is_found_by_every_spelling_of_what_starts_it() {
    let finds = |text: &str| {
        let found = shown(text);
        let plain = |it: &String| it.replacen("script ", "", 1).replacen("env ", "", 1);
        found.iter().any(|it| plain(it).trim_end() == "git push")
    };
    for (text, neighbour) in [
        ("sem git push", "sem git log"),
        ("sem -j2 git ::: pull push", "sem -j2 git ::: pull log"),
        ("parallel 'git push'", "parallel 'git log' ::: push"),
        ("parallel {2} {1} ::: push ::: git", "parallel {1} {2} ::: push ::: git"),
        ("parallel git {} ::: push", "parallel git {x} ::: push"),
        ("dotenv run git push", "dotenv list git push"),
        ("dotenv -f x run -- git push", "dotenv -f x run -- git log"),
        ("env --split='git push'", "env --unset='git push' ls"),
        ("env --spl 'git push'", "env --spl 'git log'"),
        ("su --comm='git push' r", "su --shell='git push' r"),
        ("flock f --comm='git push'", "flock f --wait='git push' ls"),
        ("script --comm 'git push' x", "script --echo 'git push' x"),
        ("mise x node@20 -c 'git push'", "mise x node@20 -- ls -c 'git push'"),
    ] {
        assert!(finds(text), "{text}: {:?}", shown(text));
        assert!(!finds(neighbour), "{neighbour}: {:?}", shown(neighbour));
    }
}

#[test]
fn ordinary_commands_start_what_they_name() {
    assert_eq!(shown("fd -x wc -l"), ["wc -l"]);
    assert_eq!(shown("env A=1 cargo test"), ["cargo test"]);
    let values = ["script echo ::: a b", "script echo a", "script echo b"];
    assert_eq!(shown("parallel echo ::: a b"), values);
}

#[test]
fn nothing_is_copied_when_no_words_are_left() {
    let words = split("nice a b").unwrap();
    for (left, count, left_after) in [(0, 0, 0), (2, 0, 0), (3, 1, 1)] {
        let mut words_left = left;
        assert_eq!(behind(&words, &mut words_left).len(), count, "{left}");
        assert_eq!(words_left, left_after, "{left}");
    }
}

#[test]
fn what_only_names_a_command_starts_none() {
    for text in [
        "git log",
        "grep -rn docker",
        "command -v docker",
        "bash script.sh",
        "find . -name git",
        "python x.py",
        "env",
        "timeout 5",
        "which gh",
        "mvn deploy",
        "make -j4 -k",
        "python x.py sdist upload",
        "docker build .",
        "command -pv docker",
        "git -c user.name=docker log",
        "npx -h",
        "sudo -l",
        "make -C publish -f upload",
        "gradle -x publish",
    ] {
        assert_eq!(shown(text), [""; 0], "{text}");
    }
    for text in [
        "A=1 sh -x",
        "bash -o pipefail",
        "bash -s x",
        "sh /dev/stdin",
        "source /dev/stdin",
        "su root",
        "'$(x /y)' z",
        "'$x'",
    ] {
        assert!(runs_printed(&split(text).unwrap()), "{text}");
    }
    for text in [
        "bash x.sh",
        "bash -c ls",
        "sudo bash x.sh",
        "which bash",
        "command -v bash",
        "source x",
        "'$x/y'",
        "parallel gzip",
    ] {
        assert!(!runs_printed(&split(text).unwrap()), "{text}");
    }
}

#[test]
fn verbs_of_a_package_manager_are_no_programs() {
    for text in ["yarn install", "pnpm rm x", "yarn -s test", "pnpm -r run x", "yarn"] {
        assert_eq!(shown(text), Vec::<String>::new(), "{text}");
    }
}
