//! Commands where the machine contains them, each beside the same one where it does not.

use pretty_assertions::assert_eq;

use super::{facts, policy};
use crate::Policy;
use crate::command::Script;
use crate::intent::{Facts, Intent};
use crate::schema::Forks;
use crate::verdict::{Decision, Verdict};
use locum_base::path::RepoPath;

const RULES: &str = "commands: { contained: allow }\nrules:\n  - allow: [\"read(**)\", \
                     \"edit(src/**)\", \"command(git status:*)\"]\n  - hold: [\"edit(Cargo.toml)\", \
                     \"command(cargo add:*)\"]\n  - deny: [\"edit(src/generated/**)\", \
                     \"read(notes/**)\", \"command(git push:*)\", \"command(curl:*)\"]\n";

fn contained() -> Facts {
    Facts { contained: true, ..facts("code") }
}

fn asked(policy: &Policy, script: &str, facts: &Facts) -> Verdict {
    let script = Script::parse_in(script, &RepoPath::root()).below("/w/repo");
    policy.decide(&Intent::Command(script), facts)
}

#[test]
fn what_no_rule_allows_by_its_words_runs_where_it_is_contained() {
    let policy = policy(RULES);
    for script in [
        "python -c 'print(1)'",
        "for f in *.py; do echo $f; done",
        "x=$(ls | wc -l); echo $x",
        "awk '{print $1}' src/a > src/b",
        "cat <<'EOF' > new.txt\ntext\nEOF",
        "find . -name '*.rs' | xargs wc -l",
        "find . -name .env",
        "rm -rf ~/.cargo/registry/cache",
        "source venv/bin/activate && pytest",
        "timeout 60 make test 2>&1 | tail -20",
        "f() { echo x; }; f",
        "[[ -f Makefile ]] && make",
        "./run.sh > /tmp/log; tail /tmp/log",
        "black .",
        "ls && git log --oneline | head",
        "echo 'git push' > src/notes",
    ] {
        let verdict = asked(&policy, script, &contained());
        assert!(verdict.is_contained(), "{script}: {}", verdict.reason());
        assert_eq!(asked(&policy, script, &facts("code")).decision, Decision::Deny, "{script}");
    }
    let allowed = asked(&policy, "git status --short", &contained());
    assert_eq!((allowed.decision, allowed.is_contained()), (Decision::Allow, false));
    assert_eq!(asked(&policy, "", &contained()).decision, Decision::Deny);
}

#[test]
fn rules_that_hold_or_deny_and_files_that_are_closed_refuse_by_word_all_the_same() {
    let policy = policy(RULES);
    for (script, expected, reason) in [
        ("git push origin main", Decision::Deny, "denied by `command(git push:*)`"),
        ("make && git push", Decision::Deny, "denied by `command(git push:*)`"),
        ("X=1 git push", Decision::Deny, "denied by `command(git push:*)`"),
        ("if true; then curl x; fi", Decision::Deny, "denied by `command(curl:*)`"),
        ("f() { curl x; }; f", Decision::Deny, "denied by `command(curl:*)`"),
        ("cargo add regex", Decision::Hold, "held by `command(cargo add:*)`"),
        ("f() { cargo add x; }; f", Decision::Hold, "held by `command(cargo add:*)`"),
        ("cargo add x && curl y", Decision::Deny, "denied by `command(curl:*)`"),
        ("echo x >> Cargo.toml", Decision::Hold, "held by `edit(Cargo.toml)`"),
        ("cp a src/generated/b", Decision::Deny, "denied by `edit(src/generated/**)`"),
        ("cat notes/a", Decision::Deny, "denied by `read(notes/**)`"),
        ("cat .env", Decision::Deny, "protected from reading"),
        ("grep -rn x . --include='.env*'", Decision::Deny, "it reads `.env`: protected from"),
        ("find . -name .env -exec cat {} +", Decision::Deny, "protected from reading"),
        ("rg token .git", Decision::Deny, "it reads `.git/config`: protected from reading"),
        ("cat ~/.netrc", Decision::Deny, "protected from reading"),
        ("cp \"$HOME/.npmrc\" x", Decision::Deny, "protected from reading"),
        ("cat /root/.ssh/id_rsa", Decision::Deny, "protected from reading"),
        ("echo x > .github/workflows/ci.yml", Decision::Deny, "protected from edits"),
        ("echo x > /etc/motd", Decision::Deny, "not a path inside the repository"),
        ("echo x > /tmp/../etc/motd", Decision::Deny, "not a path inside the repository"),
        ("rm -rf .", Decision::Deny, "protected files lie there"),
    ] {
        let verdict = asked(&policy, script, &contained());
        assert_eq!(verdict.decision, expected, "{script}: {}", verdict.reason());
        assert!(verdict.reason().contains(reason), "{script}: {}", verdict.reason());
    }
}

#[test]
fn rules_that_refuse_look_behind_wrappers_and_into_scripts_of_shells() {
    let policy = policy(RULES);
    for script in [
        "/usr/bin/git push",
        "env FOO=1 time git push",
        "sudo -u root git push origin main",
        "xargs -n 1 git push < a",
        "find . -name x -exec git push \\;",
        "bash -c 'ls && git push'",
        "sh -ec \"nice sh -c 'git push'\"",
        "eval 'git push'",
        "trap 'git push' EXIT; make",
        "echo 'git push' | sh",
        "printf 'git push\\n' | tee a | bash -s",
        "bash <<'EOF'\nmake\ngit push\nEOF",
        "git rebase --exec 'git push' main",
        "for f in *; do env A=1 git push; done",
        "npx -y git@latest push",
        "sudo -nu root git push",
        "xargs -0n 1 git push < a",
        "env -iu A git push",
        "env -iS 'git push'",
        "strace -fo /tmp/x git push",
        "perf stat git push",
        "flock l -c 'git push'",
        "npx -c 'git push'",
        "coproc git push",
        "parallel git ::: push",
        "nice nice nice nice nice nice nice nice git push",
        "echo 'git push' | sudo sh",
        "f() { sudo git push; }; f",
        "if ! sudo git push; then ((x)); fi",
        "bash -c \"git push origin $x\"",
    ] {
        let verdict = asked(&policy, script, &contained());
        assert_eq!(verdict.decision, Decision::Deny, "{script}");
        assert!(verdict.reason().contains("denied by `command(git push:*)`"), "{script}");
    }
    let held = asked(&policy, "sh -c 'cargo add x'", &contained());
    assert!(held.decision == Decision::Hold, "{}", held.reason());
    for script in [
        "grep -rn 'git push' docs | sh -c 'wc -l'",
        "bash -c 'git log --grep \"push\"'",
        "xargs grep curl < files",
        "command -v curl",
        "echo 'git push' | tee notes.txt",
        "cat <<'EOF' > run.sh\ngit push\nEOF",
        "git commit -m 'git push'",
        "sudo -nu root git log",
        "xargs -0n 1 grep curl < a",
        "f() { sudo git log; }; f",
        "make -C curl test",
        "which bash; echo 'git push'",
    ] {
        let verdict = asked(&policy, script, &contained());
        assert!(verdict.is_contained(), "{script}: {}", verdict.reason());
    }
    // A rule that spells out what starts it does not help, with or without a sandbox.
    let spelled = "\"command(flock src/l git push)\", \"command(flock src/l git log)\"";
    let wide = super::policy(&RULES.replace("\"command(git status:*)\"", spelled));
    for (script, expected) in
        [("flock src/l git push", Decision::Deny), ("flock src/l git log", Decision::Allow)]
    {
        let verdict = asked(&wide, script, &Facts { sandboxed: true, ..facts("code") });
        assert_eq!(verdict.decision, expected, "{script}: {}", verdict.reason());
    }
}

#[test]
fn what_is_to_show_a_credential_is_refused_by_word() {
    let policy = policy(RULES);
    for (script, expected) in [
        ("printenv GITHUB_TOKEN", "`GITHUB_TOKEN` may hold credentials"),
        ("printenv HOME NPM_PAT", "`NPM_PAT` may hold credentials"),
        ("printenv GPG_PASSPHRASE", "`GPG_PASSPHRASE` may hold credentials"),
        ("printenv SIGNING_PWD", "`SIGNING_PWD` may hold credentials"),
        ("git config --get-regexp 'extraheader|x'", "`extraheader|x` may hold credentials"),
        ("npm config get //registry.npmjs.org/:_authToken", "_authToken` may hold credentials"),
        ("cat /proc/self/environ | tr '\\0' x", "it reads `/proc/self/environ`, which may hold"),
        ("strings /proc/1/environ", "it reads `/proc/1/environ`, which may hold"),
        ("cat /run/secrets/npm", "it reads `/run/secrets/npm`, which may hold"),
    ] {
        let verdict = asked(&policy, script, &contained());
        assert_eq!(verdict.decision, Decision::Deny, "{script}");
        assert!(verdict.reason().contains(expected), "{script}: {}", verdict.reason());
    }
    for script in [
        "printenv",
        "printenv PATH HOME",
        "printenv PWD OLDPWD",
        "git config --get remote.origin.url",
        "git config --get user.signingkey",
        "npm config get registry",
        "cat /proc/self/status",
        "grep -rn GITHUB_TOKEN src",
        "cat /run/lock",
    ] {
        let verdict = asked(&policy, script, &contained());
        assert!(verdict.is_contained(), "{script}: {}", verdict.reason());
    }
}

#[test]
fn the_reason_names_the_hosts_that_a_contained_command_reaches() {
    let listed = RULES
        .replace("{ contained: allow }", "{ contained: allow, network: policy }")
        .replace("rules:", "network: { allow: [github.com, \"*.pypi.org\"] }\nrules:");
    for (policy, expected) in [
        (policy(&listed), "it reaches no host but `github.com`, `*.pypi.org`, and every file"),
        (policy(RULES), "it has no way out, and every file"),
    ] {
        let verdict = asked(&policy, "make", &contained());
        assert!(verdict.reason().contains(expected), "{}", verdict.reason());
    }
}

#[test]
fn what_a_shell_works_out_is_named_as_it_is_written() {
    let policy = policy(&RULES.replace("{ contained: allow }", "{ expansions: allow }"));
    for (script, expected) in [
        ("cat README*", "`command(cat README*)`"),
        ("n=$(make x)", "`command(make x)`"),
        ("PATHS=$(git status)", "the script sets the variable `PATHS`, which may change"),
        ("n=1 git status $x", "`command(n=1 git status $x)`"),
        ("fmt -w \"$f\" x $x", "`command(fmt -w \"$f\" x $x)`"),
        ("git status $HOME", "`git status $HOME`"),
    ] {
        let verdict = asked(&policy, script, &facts("code"));
        assert!(verdict.reason().contains(expected), "{script}: {}", verdict.reason());
    }
}

#[test]
fn what_ends_a_loop_or_the_script_and_what_takes_the_time_needs_no_rule() {
    let rules = RULES.replace("{ contained: allow }", "{ expansions: allow }");
    let policy = policy(
        &rules
            .replace("\"command(git status:*)\"", "\"command(git status:*)\", \"command(for:*)\""),
    );
    for (script, expected) in [
        ("git status || exit 1", Decision::Allow),
        ("for i in 1 2; do git status || break; done", Decision::Allow),
        ("for i in 1 2; do git status && continue; done; exit $?", Decision::Allow),
        ("time git status", Decision::Allow),
        ("git status || exit $(make)", Decision::Deny),
        ("exit > src/generated/x", Decision::Deny),
        ("time make", Decision::Deny),
        ("git status || return 1", Decision::Deny),
        ("exit 1 2 3", Decision::Deny),
    ] {
        let verdict = asked(&policy, script, &Facts { sandboxed: true, ..facts("code") });
        assert_eq!(verdict.decision, expected, "{script}: {}", verdict.reason());
    }
}

#[test]
fn what_leads_out_of_there_is_judged_by_its_words() {
    let script = "python -c 'print(1)'";
    for (commands, expected) in [
        ("contained: allow", Decision::Allow),
        ("contained: allow, sandbox: best-effort", Decision::Allow),
        ("contained: allow, network: policy", Decision::Allow),
        ("contained: words", Decision::Deny),
        ("timeout: 1m", Decision::Deny),
        ("contained: allow, network: open", Decision::Deny),
        ("contained: allow, sandbox: off", Decision::Deny),
        ("contained: allow, reads: [/etc/ssl/**, '!/etc/ssl/private/**']", Decision::Deny),
    ] {
        let text = RULES.replace("contained: allow", commands);
        let accepted = "modes: { accept_risk: { code: \"a test of the judge, looked after by its author\" } }\n";
        let policy = policy(&format!("{accepted}{text}"));
        assert_eq!(asked(&policy, script, &contained()).decision, expected, "{commands}");
    }
}

#[test]
fn a_run_that_may_only_read_still_runs_only_what_reads() {
    let policy = policy(RULES);
    let mut facts = contained();
    facts.restriction.read_only = true;
    assert_eq!(asked(&policy, "python -c 'print(1)'", &facts).decision, Decision::Deny);
    assert_eq!(asked(&policy, "git status", &facts).decision, Decision::Allow);
}

#[test]
fn a_fork_s_code_runs_contained_only_where_the_policy_says_so() {
    let text = "triggers: { forks: { contained: allow } }\n";
    assert_eq!(policy(text).settings().triggers.forks, Forks::Contained);
    let words = "triggers: { forks: { contained: words } }\n";
    assert_eq!(policy(words).settings().triggers.forks, Forks::ReadOnly);
    let wrong = "version: 1\ntriggers: { forks: { contain: allow } }\n";
    assert!(crate::Policy::parse(wrong, "p.yml").unwrap_err().to_string().contains("contained"));

    let policy = policy(RULES);
    let mut facts = contained();
    facts.restriction.read_only = true;
    facts.restriction.contained = true;
    let decided = |facts: &Facts, script: &str| asked(&policy, script, facts).decision;
    assert_eq!(decided(&facts, "python -c 'print(1)'"), Decision::Allow);
    let edit = Intent::Edit(RepoPath::parse("src/a").unwrap());
    assert_eq!(policy.decide(&edit, &facts).decision, Decision::Deny);
    facts.contained = false;
    assert_eq!(decided(&facts, "python -c 'print(1)'"), Decision::Deny, "nothing contains it");
}
