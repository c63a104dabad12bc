//! What only looks, at files, at the repository and at which versions there are.

use pretty_assertions::assert_eq;

use super::{scan, starter};
use crate::Policy;
use crate::intent::Facts;
use crate::query::parse_intent;
use crate::verdict::Decision;

const ALLOWED: &[&str] = &[
    "node --version",
    "ruby -v",
    "gcc --version",
    "docker --version",
    "java -version",
    "cargo --help",
    "python3 -V",
    "git help reset",
    "git version",
    "git diff-tree --no-commit-id --name-only -r HEAD",
    "git cherry -v HEAD",
    "git symbolic-ref --short HEAD",
    "git config user.name",
    "git submodule status",
    "git remote get-url origin",
    "getconf _NPROCESSORS_ONLN",
    "groups",
    "hostname",
    "locale",
    "expr 1 + 2",
    "expand -t 4 README.md",
    "sha512sum README.md",
    "unzip -l docs/a.zip",
    "xmllint --noout docs/a.xml",
    "patch -p1 --dry-run",
];

const REFUSED: &[&str] = &[
    "node --version x",
    "node -e x",
    "ruby x.rb",
    "gcc a.c",
    "docker ps",
    "java -jar a.jar",
    "cargo --config x",
    "git help -w reset",
    "git submodule update --init",
    "git symbolic-ref HEAD refs/heads/x",
    "git config user.name x",
    "git config user.signingkey",
    "git remote get-url other",
    "git diff-tree -p HEAD -- .env",
    "hostname other",
    "expand .env",
    "sha512sum .env",
    "unzip docs/a.zip",
    "xmllint --noout .env",
    "patch -p1",
];

#[test]
fn what_only_looks_is_allowed_by_its_words_in_every_mode() {
    let starter = starter(&scan(&[("src/a.rs", "")])).unwrap();
    for policy in [Policy::builtin(), Policy::parse(&starter, "policy.yml").unwrap()] {
        for mode in ["ask", "architect", "code"] {
            let facts = Facts { mode: mode.to_owned(), sandboxed: true, ..Facts::default() };
            for (commands, is_allowed) in [(ALLOWED, true), (REFUSED, false)] {
                for command in commands {
                    let intent = parse_intent(&format!("command({command})")).unwrap();
                    let verdict = policy.decide(&intent, &facts);
                    let decision = verdict.decision == Decision::Allow;
                    assert_eq!(decision, is_allowed, "{mode}: {command}: {}", verdict.reason());
                }
            }
        }
    }
}

#[test]
fn a_program_that_is_only_asked_for_its_version_need_not_be_there() {
    let programs = Policy::builtin().programs();
    let has = |name: &str| programs.iter().any(|program| program == name);
    assert!(has("rg") && has("git") && has("tree"), "{programs:?}");
    assert!(!has("deno") && !has("ruby") && !has("podman"), "{programs:?}");
}
