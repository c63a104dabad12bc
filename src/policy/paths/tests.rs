//! What is protected, however it is spelled.

use super::{Protection, protected};
use locum_base::path::RepoPath;

#[test]
fn protects_automation_and_agents_in_every_spelling() {
    for path in [
        ".git",
        ".git/config",
        ".GIT/config",
        "sub/.git/hooks/pre-commit",
        ".git./config",
        ".git /config",
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        "GIT~2/config",
        "github~1/workflows/ci.yml",
        "Locum~1/policy.yml",
        "gitmod~1",
        "GITMOD~4",
        "gi7eba~1",
        "sub/GITATT~1",
        "sub\\.git\\config",
        ".\\.git\\config",
        "x\\..\\.github\\workflows\\x.yml",
        "sub\\CODEOWNERS",
        "sub/x\\.git\\config",
        "..\\.locum/policy.yml",
        ".../.git/config",
        "\u{ff0e}\u{ff0e}/.git/config",
        " . /.git /config",
        ".g\u{200c}it/config",
        "src/gpj.\u{202e}sr",
        "src/ma\u{200b}in.rs",
        "\u{ff0e}git/config",
        ".\u{ff47}it/config",
        ".gıthub/workflows/a.yml",
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".github/actions/x/action.yml",
        ".github/dependabot.yml",
        ".github",
        ".github/ISSUE_TEMPLATE.md",
        ".locum/policy.yml",
        ".LOCUM/modes.yml",
        ".vscode/tasks.json",
        ".husky/pre-commit",
        ".cargo/config.toml",
        "crates/a/.cargo/config.toml",
        ".claude/settings.json",
        ".new-tool/anything",
        "CODEOWNERS",
        "docs/codeowners",
        ".mcp.json",
        ".kode.json",
        ".roomodes",
        "AGENTS.md",
        "sub/CLAUDE.md",
        ".npmrc",
        "web/.npmrc",
        ".envrc",
        ".gitmodules",
        "sub/.gitattributes",
        "Jenkinsfile",
        ".clinerules",
        "web/uv.toml",
        "app/gradle/wrapper/gradle-wrapper.properties",
        "src/.dir-locals.el",
        "mise.toml",
        "crush.json",
    ] {
        assert!(protected(&RepoPath::parse(path).unwrap()).is_some(), "{path}");
    }
}

#[test]
fn the_reason_names_who_runs_or_reads_it() {
    for (path, reason) in [
        (".husky/pre-commit", "is run by git as a hook"),
        (".vscode/tasks.json", "is run by shells and editors when a folder is opened"),
        ("src/husky/pre-commit", ""),
    ] {
        let said = protected(&RepoPath::parse(path).unwrap()).unwrap_or_default();
        assert_eq!(said, reason, "{path}");
    }
}

#[test]
fn leaves_ordinary_files_alone() {
    for path in [
        "src/lib.rs",
        "git/config.txt",
        ".gitignore",
        ".editorconfig",
        "docs/übersicht.md",
        "src/.hidden/x",
        "github/workflows/x.yml",
        "docs\\a.md",
        "run.sh",
        ".",
    ] {
        assert_eq!(protected(&RepoPath::parse(path).unwrap()), None, "{path}");
    }
}

#[test]
fn protects_credentials_from_reading_but_not_their_examples() {
    let protection = Protection::default();
    for path in [
        ".env",
        "a/.ENV",
        ".env.prod",
        ".envrc",
        "conf/prod.pem",
        ".git/config",
        "sub/.git/config",
        ".ssh/id_ed25519",
        "home/.netrc",
        ".git/modules/a/config",
        ".cargo/credentials.toml",
        "home/.config/gcloud/access_tokens.db",
        "deploy/application_default_credentials.json",
        "deploy/kubeconfig",
        ".vault-token",
        ".m2/settings.xml",
    ] {
        assert!(protection.of_read(&RepoPath::parse(path).unwrap()).is_some(), "{path}");
    }
    for path in [
        ".env.example",
        ".gitignore",
        ".cargo/config.toml",
        "src/settings.xml",
        "src/kubeconfig.rs",
        "src/env.rs",
        "README.md",
        ".github/workflows/ci.yml",
        ".git/HEAD",
        "pem/readme",
    ] {
        assert_eq!(protection.of_read(&RepoPath::parse(path).unwrap()), None, "{path}");
    }
}

#[test]
fn what_git_keeps_of_files_is_not_read_as_a_file() {
    for (path, is_store) in [
        (".git/objects/e3/ac7a", true),
        (".GIT/Objects/pack/x.pack", true),
        (".git/lfs/objects/ab/cd/abcd", true),
        (".git/rr-cache/x/preimage", true),
        (".git/rebase-merge/patch", true),
        (".git/modules/sub/objects/aa/b", true),
        ("sub/.git/objects/aa/b", true),
        (".git/HEAD", false),
        (".git/hooks/pre-commit", false),
        (".git", false),
        ("src/objects/a", false),
        ("lfs/a", false),
    ] {
        assert_eq!(super::of_store(&RepoPath::parse(path).unwrap()).is_some(), is_store, "{path}");
    }
}

#[test]
fn only_files_that_git_keeps_for_administration_are_read_as_files() {
    for (path, is_store) in [
        // What no list names, whatever put it there.
        (".git/subtree-cache", true),
        (".git/subtree-cache/12/ab", true),
        (".git/annex/objects/x/SHA256E-s1--1", true),
        (".git/patches/main/a/new", true),
        (".git/heads", true),
        (".git/config.worktree", true),
        (".git/config.lock", true),
        // The diff of `git commit -v` stays in it.
        (".git/COMMIT_EDITMSG", true),
        (".git/MERGE_MSG", false),
        (".git/packed-refs", false),
        (".git/index.lock", false),
        (".git/info", false),
        (".git/info/exclude", false),
        (".git/info/refs", true),
        (".git/refs/heads/objects", false),
        (".git/logs/HEAD", false),
        ("sub/.Git/Fetch_Head", false),
        ("sub/.Git/Objects", true),
        // A worktree's folder and a submodule's are judged as git's own.
        (".git/worktrees/x", true),
        (".git/worktrees/x/rebase-merge/patch", true),
        (".git/worktrees/x/COMMIT_EDITMSG", true),
        (".git/worktrees/x/HEAD", false),
        (".git/worktrees/x/gitdir", false),
        (".git/worktrees/x/logs/HEAD", false),
        (".git/modules/sub", true),
        (".git/modules/sub/rr-cache/x/preimage", true),
        (".git/modules/sub/HEAD", false),
        (".git/modules/vendor/sub/HEAD", false),
        (".git/modules/vendor/sub/info/exclude", false),
        (".git/modules/sub/modules/inner/ORIG_HEAD", false),
        (".git/modules/sub/modules/inner/objects/aa/b", true),
        (".git/modules/sub/refs/heads/main", false),
        (".git/modules/sub/logs/refs/heads/main", false),
        // Submodules whose names are those of such folders.
        (".git/modules/refs/objects/aa/b", true),
        (".git/modules/vendor/logs/objects/aa/b", true),
        (".git/modules/vendor/hooks/objects/aa/b", true),
        (".git/modules/vendor/refs/lfs/objects/ab/abcd", true),
    ] {
        assert_eq!(super::of_store(&RepoPath::parse(path).unwrap()).is_some(), is_store, "{path}");
    }
}

#[test]
fn every_listed_pattern_is_one() {
    for list in [super::PROTECTED, super::SECRET] {
        let lines = list
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '[']))
            .count();
        assert_eq!(super::read_list(list).len(), lines);
    }
}

#[test]
fn what_is_found_by_name_is_what_the_patterns_say() {
    use crate::glob::LetterCase;
    let protection = Protection::default();
    for paths in [&protection.edits, &protection.reads] {
        let written: Vec<String> = paths.list.iter().map(|(glob, _)| glob.text()).collect();
        let fill = |many: &str, some: &str| {
            let fill = move |text: &String| {
                let parts = text.to_lowercase().replace("**", many).replace('*', some);
                parts.trim_matches('/').replace("//", "/")
            };
            written.iter().map(fill).collect::<Vec<_>>()
        };
        for text in [fill("", "x"), fill("a/b", ""), fill(".git", "x.y"), fill("a", "z")].concat() {
            for text in [text.clone(), format!("{text}/inside"), format!("{text}x")] {
                let Ok(path) = RepoPath::parse(&text) else { continue };
                let mut list = paths.list.iter();
                let first = list.find(|(glob, _)| glob.matches(&path, LetterCase::Ignored));
                assert_eq!(paths.find(&path), first.map(|(_, reason)| *reason), "{text}");
            }
        }
    }
}
