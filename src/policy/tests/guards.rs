//! Attacks on decisions, each with and without the one guard that stops it.

use crate::base::guard::{Guard, stops};
use crate::policy::Policy;
use crate::policy::explain::parse_intent;
use crate::policy::ignore::IgnoreFiles;
use crate::policy::intent::{Act, Facts, Intent, Restriction};
use crate::policy::verdict::Decision;

/// Everything a careless maintainer might write.
const WIDE: &str = "version: 1
commands: { max_complexity: 1.0 }
rules:
  - allow: [\"read(**)\", \"edit(**)\", \"command(ls:*)\", \"command(git diff:*)\", \"command(cargo test:*)\", \"command(echo:*)\"]
";

fn facts() -> Facts {
    Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() }
}

fn allows(policy: &str, intent: &str, facts: &Facts) -> bool {
    let policy = Policy::parse(policy, "policy.yml").unwrap();
    policy.decide(&parse_intent(intent).unwrap(), facts).decision == Decision::Allow
}

fn stops_on_wide(guard: Guard, intents: &[&str]) {
    for intent in intents {
        println!("{intent}");
        stops(guard, || allows(WIDE, intent, &facts()));
    }
}

#[test]
fn what_no_rule_allows_is_denied() {
    for intent in ["edit(src/lib.rs)", "publish(commit)", "fetch(https://evil.example)", "mcp(time/now)"] {
        stops(Guard::NoRuleNoEffect, || allows("version: 1\nrules:\n  - allow: read(src/**)\n", intent, &facts()));
    }
}

#[test]
fn a_wildcard_does_not_open_protected_paths() {
    stops_on_wide(
        Guard::ProtectedPaths,
        &[
            "edit(.github/workflows/ci.yml)",
            "edit(.git/hooks/pre-commit)",
            "edit(.LOCUM/policy.yml)",
            "edit(sub/AGENTS.md)",
            "edit(.new/x)",
        ],
    );
}

#[test]
fn a_wildcard_does_not_open_credentials() {
    stops_on_wide(Guard::CredentialPaths, &["read(.env)", "read(.git/config)", "read(conf/prod.pem)"]);
}

#[test]
fn what_ignore_files_name_is_hidden_from_tools_and_commands() {
    let policy = || {
        let mut ignored = IgnoreFiles::default();
        ignored.add(".locumignore", "customers/\n").unwrap();
        Policy::parse(WIDE, "policy.yml").unwrap().with_ignored(ignored)
    };
    for intent in ["read(customers/a.csv)", "edit(customers/a.csv)", "command(ls customers/a)"] {
        stops(Guard::IgnoreFiles, || policy().decide(&parse_intent(intent).unwrap(), &facts()).decision == Decision::Allow);
    }
}

#[test]
fn every_command_of_a_script_is_judged() {
    stops_on_wide(
        Guard::EveryCommand,
        &["command(cargo test; curl evil.example)", "command(ls && rm -r src)", "command(ls | sh)", "command(ls \n curl evil.example)"],
    );
}

#[test]
fn an_option_nobody_knows_is_refused() {
    stops_on_wide(Guard::OptionTables, &["command(git diff --unheard-of)", "command(ls --unheard-of)"]);
}

#[test]
fn expansions_are_refused() {
    stops_on_wide(Guard::Expansions, &["command(echo $HOME)", "command(ls *)"]);
}

#[test]
fn files_a_shell_opens_are_judged() {
    stops_on_wide(Guard::Redirections, &["command(ls > .git/hooks/pre-commit)", "command(echo x >> .github/workflows/ci.yml)"]);
    stops_on_wide(Guard::Redirections, &["command(echo x > /etc/cron.d/x)", "command(ls < .env)"]);
}

#[test]
fn code_of_the_repository_needs_a_sandbox() {
    let unheld = Facts { sandboxed: false, ..facts() };
    stops(Guard::CodeInSandbox, || allows(WIDE, "command(cargo test)", &unheld));
}

#[test]
fn a_run_that_may_only_read_does_nothing_else() {
    let reading = Facts { restriction: Restriction { read_only: true, paths: Vec::new() }, ..facts() };
    for intent in ["edit(src/lib.rs)", "command(cargo test)"] {
        stops(Guard::Restriction, || allows(WIDE, intent, &reading));
    }
    let narrow = Facts { restriction: Restriction { read_only: false, paths: vec!["docs/**".to_owned()] }, ..facts() };
    stops(Guard::Restriction, || allows(WIDE, "edit(src/lib.rs)", &narrow));
}

#[test]
fn a_permit_is_good_for_what_it_was_given_for() {
    struct Look(Intent);
    impl Act for Look {
        fn intents(&self) -> Vec<Intent> {
            vec![self.0.clone()]
        }
    }
    let [given, other] = ["read(src/lib.rs)", "edit(src/lib.rs)"].map(|intent| parse_intent(intent).unwrap());
    let policy = Policy::parse(WIDE, "policy.yml").unwrap();
    let permit = policy.admit(Look(given.clone()), &facts()).unwrap();
    assert!(permit.covers(&given));
    stops(Guard::PermitCovers, || permit.covers(&other));
}
