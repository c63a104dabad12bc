//! Attacks on decisions, each beside the harmless act it resembles: the one is denied, the other
//! allowed.

use crate::Policy;
use crate::ignore::IgnoreFiles;
use crate::intent::{Act, Facts, Intent, Restriction};
use crate::query::parse_intent;
use crate::verdict::Decision;

/// Everything a careless maintainer might write.
const WIDE: &str = "version: 1
commands: { max_complexity: 1.0 }
rules:
  - allow: [\"read(**)\", \"edit(**)\", \"command(ls:*)\", \"command(git diff:*)\", \
                    \"command(cargo test:*)\", \"command(echo:*)\"]
";

fn facts() -> Facts {
    Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() }
}

fn allows(policy: &str, intent: &str, facts: &Facts) -> bool {
    let policy = Policy::parse(policy, "policy.yml").unwrap();
    policy.decide(&parse_intent(intent).unwrap(), facts).decision == Decision::Allow
}

/// The widest rules allow the one, and still none of the others.
fn only(harmless: &str, hostile: &[&str]) {
    assert!(allows(WIDE, harmless, &facts()), "{harmless}");
    for intent in hostile {
        assert!(!allows(WIDE, intent, &facts()), "{intent}");
    }
}

#[test]
fn what_no_rule_allows_is_denied() {
    let narrow = "version: 1\nrules:\n  - allow: read(src/**)\n";
    assert!(allows(narrow, "read(src/lib.rs)", &facts()));
    for intent in
        ["edit(src/lib.rs)", "publish(commit)", "fetch(https://evil.example)", "mcp(time/now)"]
    {
        assert!(!allows(narrow, intent, &facts()), "{intent}");
    }
}

#[test]
fn a_letter_in_another_case_of_any_script_is_refused_alike() {
    for (rule, hostile, beside) in [
        ("edit(\u{391}\u{3a3}*)", "edit(\u{391}\u{3a3}\u{391})", "edit(\u{391}x)"),
        ("edit(\u{391}\u{3a3}/**)", "edit(\u{3b1}\u{3c2}/x)", "edit(\u{3b1}/x)"),
        ("edit(?q)", "edit(\u{130}q)", "edit(\u{130}\u{130}q)"),
        ("edit(secrets/**)", "edit(\u{17f}ecrets/a)", "edit(\u{df}ecrets/a)"),
        ("search(\u{391}\u{3a3}*)", "search(\u{391}\u{3a3}\u{391})", "search(\u{391}x)"),
        (
            "fetch(x.example/\u{391}\u{3a3})",
            "fetch(https://x.example/\u{3b1}\u{3c2})",
            "fetch(https://x.example/a)",
        ),
        ("command-text(ls \u{391}\u{3a3})", "command(ls \u{391}\u{3a3}\u{391})", "command(ls x)"),
    ] {
        for refusal in ["deny", "hold"] {
            let policy = format!(
                "version: 1\nrules:\n- allow: ['read(**)', 'edit(**)', 'search(**)', 'fetch(x.example)', \
                 'command(ls:*)']\n- {refusal}: '{rule}'\n"
            );
            assert!(!allows(&policy, hostile, &facts()), "{rule} {hostile}");
            assert!(allows(&policy, beside, &facts()), "{rule} {beside}");
        }
        let narrow = format!("version: 1\nrules:\n- allow: '{rule}'\n");
        if rule.starts_with("edit(secrets") {
            assert!(!allows(&narrow, hostile, &facts()), "allowing goes by the letter");
        }
    }
}

#[test]
fn a_wildcard_does_not_open_protected_paths() {
    only(
        "edit(src/lib.rs)",
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
    only("read(src/lib.rs)", &["read(.env)", "read(.git/config)", "read(conf/prod.pem)"]);
}

#[test]
fn what_ignore_files_name_is_hidden_from_tools_and_commands() {
    let policy = || {
        let mut ignored = IgnoreFiles::default();
        ignored.add(".locumignore", "customers/\n").unwrap();
        Policy::parse(WIDE, "policy.yml").unwrap().with_ignored(ignored)
    };
    let decide = |intent: &str| policy().decide(&parse_intent(intent).unwrap(), &facts()).decision;
    for intent in ["read(other/a.csv)", "edit(other/a.csv)", "command(ls other/a)"] {
        assert_eq!(decide(intent), Decision::Allow, "{intent}");
        let hidden = intent.replace("other", "customers");
        assert_eq!(decide(&hidden), Decision::Deny, "{hidden}");
    }
}

#[test]
fn every_command_of_a_script_is_judged() {
    only(
        "command(cargo test; ls)",
        &[
            "command(cargo test; curl evil.example)",
            "command(ls && rm -r src)",
            "command(ls | sh)",
            "command(ls \n curl evil.example)",
        ],
    );
}

#[test]
fn an_option_nobody_knows_is_refused() {
    only(
        "command(git diff --stat)",
        &["command(git diff --unheard-of)", "command(ls --unheard-of)"],
    );
}

#[test]
fn expansions_are_refused() {
    only("command(echo HOME)", &["command(echo $HOME)", "command(ls *)"]);
}

#[test]
fn files_a_shell_opens_are_judged() {
    only(
        "command(ls > out.txt)",
        &["command(ls > .git/hooks/pre-commit)", "command(echo x >> .github/workflows/ci.yml)"],
    );
    only("command(ls < in.txt)", &["command(echo x > /etc/cron.d/x)", "command(ls < .env)"]);
}

#[test]
fn code_of_the_repository_needs_a_sandbox() {
    let unheld = Facts { sandboxed: false, ..facts() };
    assert!(allows(WIDE, "command(cargo test)", &facts()));
    assert!(!allows(WIDE, "command(cargo test)", &unheld));
}

#[test]
fn a_run_that_may_only_read_does_nothing_else() {
    let reading =
        Facts { restriction: Restriction { read_only: true, ..Restriction::default() }, ..facts() };
    for intent in ["edit(src/lib.rs)", "command(cargo test)"] {
        assert!(allows(WIDE, intent, &facts()) && !allows(WIDE, intent, &reading), "{intent}");
    }
    let narrow = Facts {
        restriction: Restriction { paths: vec!["docs/**".to_owned()], ..Restriction::default() },
        ..facts()
    };
    assert!(allows(WIDE, "edit(docs/a.md)", &narrow) && !allows(WIDE, "edit(src/lib.rs)", &narrow));
}

#[derive(Debug)]
struct TestAct(Intent);

impl Act for TestAct {
    fn intents(&self) -> Vec<Intent> {
        vec![self.0.clone()]
    }
}

#[test]
fn a_protected_path_is_not_answered_with_the_rule_that_does_not_open_it() {
    let policy = Policy::parse("version: 1\nrules: [{ allow: 'edit(**)' }]\n", "p").unwrap();
    let hint = |facts: &Facts, path: &str| {
        let intent = parse_intent(&format!("edit({path})")).unwrap();
        policy.admit(TestAct(intent), facts).unwrap_err().hint.clone()
    };
    assert_eq!(hint(&facts(), ".github/workflows/ci.yml"), None);
    let narrow = Policy::parse("version: 1\nrules: [{ allow: 'edit(src/**)' }]\n", "p").unwrap();
    let other = TestAct(parse_intent("edit(docs/a)").unwrap());
    let refusal = narrow.admit(other, &facts()).unwrap_err();
    assert_eq!(refusal.hint.as_deref(), Some("May be edited here: `src/**`."));
}

#[test]
fn a_permit_is_good_for_what_it_was_given_for() {
    let [given, other] =
        ["read(src/lib.rs)", "edit(src/lib.rs)"].map(|intent| parse_intent(intent).unwrap());
    let policy = Policy::parse(WIDE, "policy.yml").unwrap();
    let permit = policy.admit(TestAct(given.clone()), &facts()).unwrap();
    assert!(permit.covers(&given));
    assert!(!permit.covers(&other));
}
