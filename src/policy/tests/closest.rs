//! The rule that comes closest to allowing something, and why it does not.

use pretty_assertions::assert_eq;

use super::{facts, policy};
use crate::Policy;
use crate::lint::explain::explain;
use crate::lint::nearest::NearestRule;
use crate::query::parse_intent;

fn nearest(policy: &Policy, intent: &str) -> Option<NearestRule> {
    explain(policy, &parse_intent(intent).unwrap(), &facts("code")).nearest
}

const RULES: &str = "rules:
  - allow: ['read(**)', 'edit(src/**)', 'edit(guide/*.md)', 'edit(Cargo.lock)']
  - allow: ['command(git diff:*)', 'command(rg:*)', 'command(cargo update)', 'mcp(time/now)', \
                     'fetch(docs.rs)', 'fetch(crates.io)', 'search(rust book)']
  - allow: ['command(cargo test:*)', 'edit(tests/**)']
    modes: [debug]
    tiers: [maintainer]
    triggers: [comment]
    jobs: [nightly]
  - deny: 'edit(src/generated/**)'
  - hold: 'command(cargo test --release:*)'
  - allow: 'edit(src/**)'
    except: 'edit(src/old/**)'
commands: { max_complexity: 0.1 }
";

#[test]
fn the_closest_rule_is_of_the_same_kind_and_says_why_it_does_not_do() {
    let policy = policy(RULES);
    let mut wrong = Vec::new();
    for (intent, pattern, line, why) in [
        (
            "edit(src/generated/a.rs)",
            "edit(src/**)",
            3,
            "`edit(src/generated/**)` on line 10 outweighs it",
        ),
        ("edit(Src/a.rs)", "edit(src/**)", 3, "upper and lower case differ"),
        ("edit(srx/a.rs)", "edit(src/**)", 3, "`srx/a.rs` is not below `src`"),
        (
            "edit(guide/a/b.md)",
            "edit(guide/*.md)",
            3,
            "`guide/a/b.md` is not of the form `guide/*.md`",
        ),
        ("edit(Cargo.toml)", "edit(Cargo.lock)", 3, "it names another path"),
        (
            "edit(tests/a.rs)",
            "edit(tests/**)",
            5,
            "it counts only in `debug`, and this is mode `code`; only in runs started by \
             `comment`, and this one is by `local`; only in jobs `nightly`, and this is no job",
        ),
        ("read(.env)", "read(**)", 3, "protected from reading: may hold credentials"),
        (
            "command(cargo update --dry-run)",
            "command(cargo update)",
            4,
            "without `:*` at its end nothing may follow, and `--dry-run` does",
        ),
        (
            "command(cargo add x)",
            "command(cargo update)",
            4,
            "after `cargo` it has `update`, not `add`",
        ),
        ("command(cargo)", "command(cargo update)", 4, "it also has `update`"),
        ("command(git diff && gti diff)", "command(git diff:*)", 4, "it allows `git`, not `gti`"),
        (
            "command(rg --pre x y)",
            "command(rg:*)",
            4,
            "`rg --pre x y`: the option `--pre` of `rg` is not known to be harmless",
        ),
        (
            "command(git diff > guide/x)",
            "edit(guide/*.md)",
            3,
            "`guide/x` is not of the form `guide/*.md`",
        ),
        ("command(git diff | rg x)", "commands.max_complexity", 0, "the script comes to 0.3"),
        ("mcp(time/later)", "mcp(time/now)", 4, "it names another tool of the server"),
        ("mcp(clock/now)", "mcp(time/now)", 4, "it names another server"),
        ("fetch(evil.rs)", "fetch(docs.rs)", 4, "it names another address"),
        (
            "fetch(http://docs.rs/x)",
            "fetch(docs.rs)",
            4,
            "a rule that names no scheme allows `https`, and one that names no port the port of \
             the scheme",
        ),
        ("mcp(Time/now)", "mcp(time/now)", 4, "upper and lower case differ"),
        ("search(rast book)", "search(rust book)", 4, "it is about other queries"),
        ("mode(cod)", "modes.allow", 0, "it does not list `cod`"),
        ("delegate(ask)", "modes.delegation", 0, "`from` does not list `code`"),
        ("publish(label)", "publish.allow", 0, "it does not list `label`"),
    ] {
        let nearest = nearest(&policy, intent).unwrap_or_else(|| panic!("{intent}"));
        let found =
            (nearest.rule.pattern.as_str(), nearest.rule.line_number(), nearest.why.as_str());
        if found != (pattern, line, why) {
            wrong.push(format!("{intent}: {found:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let protected = nearest(&policy, "edit(.github/workflows/ci.yml)").unwrap();
    assert!(protected.why.contains("and it is protected: "), "{protected:?}");
}

#[test]
fn what_is_allowed_has_no_nearest_rule_and_neither_has_a_kind_without_rules() {
    let policy = policy(RULES);
    for intent in ["edit(src/a.rs)", "browse(docs.rs)"] {
        assert_eq!(nearest(&policy, intent), None, "{intent}");
    }
}

#[test]
fn a_rule_that_takes_it_out_itself_says_so() {
    let policy = policy(
        "rules:\n  - allow: 'edit(src/**)'\n    except: ['edit(src/a/**)', 'edit(src/old/**)']\n  \
         - hold: 'command(ls)'\n  - allow: 'command(ls)'\n",
    );
    for (intent, why) in [
        ("edit(src/old/a)", "its own `except` `edit(src/old/**)` takes this out"),
        ("command(ls)", "`command(ls)` on line 5 outweighs it"),
    ] {
        assert_eq!(nearest(&policy, intent).unwrap().why, why, "{intent}");
    }
}

#[test]
fn a_setting_that_outweighs_a_rule_is_named_without_a_line() {
    let policy = policy(
        "rules:\n  - allow: ['read(**)', 'command(cat:*)']\n  - deny: 'command(cat b)'\ncommands: { \
         reads: ['/etc/**', '!/etc/shadow'] }\n",
    );
    for (intent, why) in [
        ("command(cat /etc/shadow)", "`!/etc/shadow` outweighs it"),
        ("command(cat b)", "`command(cat b)` on line 4 outweighs it"),
    ] {
        assert_eq!(nearest(&policy, intent).unwrap().why, why, "{intent}");
    }
    let example = "version: 1\nrules:\n- allow: ['read(**)', 'command(cat:*)']\n\
                   commands: { reads: ['/etc/**', '!/etc/shadow'] }\n\
                   examples: { allow: 'command(cat /etc/shadow)' }\n";
    let mistakes = Policy::parse(example, "p").unwrap_err().to_string();
    assert!(mistakes.contains("(`!/etc/shadow`)"), "{mistakes}");
}
