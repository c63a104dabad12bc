//! Which commands of a script check the work: tests, builds, linters, scripts of the repository.
//!
//! In: what each command would do. Out: those that run code of the repository, and programs that
//! no table knows, such as a linter, unless they bring packages, talk to a network or only speak.

use crate::command::examine::CommandEffects;
use crate::command::tables::{compilers, verbs};
use crate::command::{Script, SimpleCommand};
use crate::words;

/// Programs that check nothing, whatever they are given.
const NO_CHECKS: &[&str] = &[
    ".", "apk", "apt", "apt-get", "brew", "cd", "curl", "dnf", "exit", "export", "gh", "git",
    "kill", "pip", "pip3", "pipx", "pkill", "rsync", "scp", "set", "sleep", "source", "ssh",
    "unset", "wait", "wget", "yum",
];

/// Programs that check without running anything of the repository, besides compilers.
const CHECKERS: &str = "actionlint codespell cppcheck hadolint shellcheck typos yamllint";

/// Programs with verbs, some of which check.
const PACKAGE_MANAGERS: &[&str] = &[
    "bun", "bundle", "cargo", "composer", "dotnet", "gem", "go", "npm", "pnpm", "poetry", "rustup",
    "uv", "yarn",
];

/// Their verbs that bring, list, format or remove something.
const NO_CHECK_VERBS: &[&str] = &[
    "add",
    "ci",
    "clean",
    "fetch",
    "get",
    "i",
    "info",
    "init",
    "install",
    "list",
    "locate-project",
    "lock",
    "login",
    "metadata",
    "mod",
    "new",
    "pip",
    "pkgid",
    "publish",
    "remove",
    "restore",
    "show",
    "sync",
    "toolchain",
    "tree",
    "uninstall",
    "update",
    "upgrade",
    "version",
];

impl Script {
    /// Returns the words of each command that checks the work.
    pub fn check_commands(&self) -> Vec<&[String]> {
        self.all_examinations()
            .filter(|(simple, effects)| checks(&simple.words, effects))
            .map(|(simple, _)| simple.words.as_slice())
            .collect()
    }

    /// Returns whether a command of it, or one that such a command starts, is the program with one
    /// of these subcommands.
    pub fn calls(&self, program: &str, wanted: &[&str]) -> bool {
        self.all_examinations()
            .any(|(simple, effects)| calls(&simple.words, &effects, program, wanted))
    }

    fn all_examinations(&self) -> impl Iterator<Item = (&SimpleCommand, CommandEffects)> {
        let loose = self.loose_examinations().unwrap_or_default();
        self.examinations().into_iter().chain(loose)
    }
}

fn calls(words: &[String], effects: &CommandEffects, program: &str, wanted: &[&str]) -> bool {
    let called = words.first().is_some_and(|word| word == program);
    called && verbs::verb(words).is_some_and(|verb| wanted.contains(&verb))
        || effects.starts.iter().any(|inner| calls(&inner.words, &inner.effects, program, wanted))
}

fn checks(words: &[String], effects: &CommandEffects) -> bool {
    // What another program starts, such as `timeout`, is what counts.
    if let [started, ..] = effects.starts.as_slice() {
        return checks(&started.words, &started.effects);
    }
    let Some(program) = words.first().map(String::as_str) else { return false };
    let verb = verbs::verb(words);
    let asks =
        matches!(words.get(1).map(String::as_str), Some("--version" | "--help" | "-V" | "-h"));
    let brings = NO_CHECKS.contains(&program)
        || (PACKAGE_MANAGERS.contains(&program)
            && verb.is_none_or(|verb| NO_CHECK_VERBS.contains(&verb)))
        || matches!(words, [_, flag, module, ..] if flag == "-m" && module == "pip");
    let compiles = words::holds(compilers::NAMES, program);
    let looks = compiles || words::holds(CHECKERS, program);
    (effects.runs_code || !effects.is_known || looks) && !brings && !asks
}

#[cfg(test)]
mod tests {
    use crate::command::Script;
    use pretty_assertions::assert_eq;

    #[test]
    fn tests_builds_and_linters_check_and_other_commands_do_not() {
        for (text, expected) in [
            ("pytest -q", true),
            ("python -m pytest -q", true),
            ("flake8 src", true),
            ("cppcheck src", true),
            ("yamllint .", true),
            ("codespell docs", true),
            ("xmllint --noout a.xml", false),
            ("g++ -fsyntax-only a.cpp", true),
            ("g++ --version", false),
            ("nm build/a", false),
            ("timeout 60 cargo test", true),
            ("cd src && make", true),
            ("./step.sh", true),
            ("npm test", true),
            ("npm run lint", true),
            ("for f in src/*.py; do flake8 \"$f\"; done", true),
            ("mkdir -p src/d", false),
            ("ls src", false),
            ("cat a | grep b", false),
            ("npm install", false),
            ("npm ci", false),
            ("python -m pip install x", false),
            ("pip install x", false),
            ("git status", false),
            ("git commit -m x", false),
            ("git push", false),
            ("npm --prefix web install", false),
            ("npm --prefix web run lint", true),
            ("sleep 3", false),
            ("cargo --version", false),
            ("touch x; rm x", false),
            ("cd src", false),
            ("echo pytest", false),
            ("curl -s https://example.com", false),
        ] {
            assert_eq!(!Script::parse(text).check_commands().is_empty(), expected, "{text}");
        }
    }
}
