//! Changes of policies, each beside what is like them and must not change.

use pretty_assertions::assert_eq;

use super::{Amendment, AmendmentError, amend};
use crate::actors::Tier;
use crate::intent::{Facts, Restriction, TriggerKind};
use crate::query::parse_intent;
use crate::verdict::Decision;
use crate::{Policy, lint};

const POLICY: &str = r#"# How this project is worked on.
version: 1
modes: { default: code, allow: [code, debug, review] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(cargo test:*)"]   # everyday work
  # Dependencies are looked at.
  - hold: "command(cargo add:*)"
    reason: it adds a dependency   # see the handbook
  - hold: ["edit(Cargo.toml)", "edit(src/held/**)"]
  - hold: "fetch(docs.rs)"
  - hold: "mcp(time/*)"
  - { hold: "expert(careful)", reason: costs }
  - hold: "mode(review)"
  - hold:
      - "delegate(debug)"   # alone
      - "command(make:*)"
    except: "command(make lint)"
  # The end.
"#;

fn facts() -> Facts {
    Facts { mode: "code".to_owned(), sandboxed: true, ..Facts::default() }
}

fn amended(policy: &str, intent: &str, facts: &Facts) -> Result<Amendment, AmendmentError> {
    let read = Policy::parse(policy, "policy.yml").unwrap();
    amend(&read, policy, &[intent.to_owned()], facts)
}

/// The lines that are gone and new.
fn difference(before: &str, after: &str) -> String {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (lines(before), lines(after));
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("-{line}"));
    let added = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+{line}"));
    gone.chain(added).collect::<Vec<_>>().join("\n")
}

fn decide(policy: &Policy, intent: &str, facts: &Facts) -> Decision {
    policy.decide(&parse_intent(intent).unwrap(), facts).decision
}

#[test]
fn names_exactly_what_was_held_and_keeps_every_other_letter() {
    for (intent, expected) in [
        (
            "command(cargo add serde)",
            "+    except: \"command(cargo add serde)\"\n+  - allow: \"command(cargo add serde)\"",
        ),
        (
            "command(cargo test && cargo add serde)",
            "+    except: \"command(cargo add serde)\"\n+  - allow: \"command(cargo add serde)\"",
        ),
        (
            "command(timeout 60 cargo add serde)",
            "+    except: \"command(cargo add serde)\"\n\
             +  - allow: \"command(timeout 60 cargo add serde)\"",
        ),
        // `cargo.toml` is still held, so its pattern stays.
        ("edit(Cargo.toml)", "+    except: \"edit(Cargo.toml)\"\n+  - allow: \"edit(Cargo.toml)\""),
        // Another rule allows it once it is not held.
        ("edit(src/held/a.rs)", "+    except: \"edit(src/held/a.rs)\""),
        (
            "fetch(https://docs.rs/serde/latest)",
            "+    except: \"fetch(docs.rs/serde/latest)\"\n\
             +  - allow: \"fetch(docs.rs/serde/latest)\"",
        ),
        ("mcp(time/now)", "+    except: \"mcp(time/now)\"\n+  - allow: \"mcp(time/now)\""),
        (
            "expert(careful)",
            "-  - { hold: \"expert(careful)\", reason: costs }\n\
             +  - { allow: \"expert(careful)\", reason: costs }",
        ),
        ("mode(review)", "-  - hold: \"mode(review)\"\n+  - allow: \"mode(review)\""),
        (
            "command(make all)",
            "-    except: \"command(make lint)\"\n\
             +    except: [\"command(make lint)\", \"command(make all)\"]\n\
             +  - allow: \"command(make all)\"",
        ),
    ] {
        let change =
            amended(POLICY, intent, &facts()).unwrap_or_else(|why| panic!("{intent}: {why}"));
        assert_eq!(difference(POLICY, &change.text), expected, "{intent}");
        assert_eq!(decide(&change.policy, intent, &facts()), Decision::Allow, "{intent}");
        assert_eq!(idle(&change.policy), idle(&Policy::parse(POLICY, "p").unwrap()), "{intent}");
    }
}

#[test]
fn a_pattern_of_a_list_that_means_nothing_else_is_taken_out() {
    let before = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n";
    for (rule, expected) in [
        (
            "  - hold: [\"command(make)\", \"command(deploy:*)\"]   # two\n",
            "  - hold: [\"command(deploy:*)\"]   # two\n",
        ),
        ("  - hold: [command(deploy:*), command(make)]\n", "  - hold: [command(deploy:*)]\n"),
        (
            "  - hold: ['command(deploy:*)' , 'command(make)', command(ls), ]\n",
            "  - hold: ['command(deploy:*)' , command(ls), ]\n",
        ),
        (
            "  - hold: [\n      \"command(deploy:*)\",  # looked at\n      \"command(make)\"\n    ]\n",
            "  - hold: [\n      \"command(deploy:*)\",  # looked at\n    ]\n",
        ),
        (
            "  - hold: [\n      \"command(make)\",\n      \"command(deploy:*)\",\n    ]\n",
            "  - hold: [\n      \"command(deploy:*)\",\n    ]\n",
        ),
        (
            "  - hold:\n      - command(make)   # builds\n      - command(deploy:*)\n    reason: x\n",
            "  - hold:\n      - command(deploy:*)\n    reason: x\n",
        ),
        (
            "  - reason: x\n    hold:\n    - command(deploy:*)\n    - 'command(make)'\n    # end\n",
            "  - reason: x\n    hold:\n    - command(deploy:*)\n    # end\n",
        ),
        (
            "  - { hold: [command(make), command(deploy:*)], except: command(deploy x) }\n",
            "  - { hold: [command(deploy:*)], except: command(deploy x) }\n",
        ),
    ] {
        let policy = format!("{before}{rule}  - allow: \"read(**)\"\n");
        let read = Policy::parse(&policy, "policy.yml").unwrap();
        assert_eq!(idle(&read), Vec::<String>::new(), "{rule}");
        let change = amended(&policy, "command(make)", &facts()).unwrap();
        let allowed = "  - allow: \"command(make)\"\n  - allow: \"read(**)\"\n";
        // A comment that follows the rule is the next one's.
        let found = change.text.replace("    # end\n", "");
        assert_eq!(found, format!("{before}{expected}{allowed}").replace("    # end\n", ""));
        assert_eq!(idle(&change.policy), Vec::<String>::new(), "{}", change.text);
        for (intent, decision) in [
            ("command(make)", Decision::Allow),
            ("command(make all)", Decision::Deny),
            ("command(deploy now)", Decision::Hold),
        ] {
            assert_eq!(decide(&change.policy, intent, &facts()), decision, "{intent}");
        }
    }
}

#[test]
fn two_patterns_of_one_list_are_taken_out_one_after_the_other() {
    let policy = "version: 1\nmodes: { default: code, allow: [code] }\nrules:\n  - hold:\n      \
                  - command(make)\n      - command(npm ci)\n      - command(deploy:*)\n";
    let read = Policy::parse(policy, "policy.yml").unwrap();
    let change = amend(&read, policy, &["command(make && npm ci)".to_owned()], &facts()).unwrap();
    assert_eq!(
        difference(policy, &change.text),
        "-      - command(make)\n-      - command(npm ci)\n+  - allow: \"command(npm ci)\"\n\
         +  - allow: \"command(make)\""
    );
    assert_eq!(idle(&change.policy), Vec::<String>::new());
}

#[test]
fn a_pattern_of_a_list_is_held_on_for_runs_of_others() {
    for list in ["[command(make), command(deploy:*)]", "command(make)"] {
        let policy = format!(
            "version: 1\nmodes: {{ default: code, allow: [code] }}\ntriggers:\n  comment: {{ \
                  prefix: /locum, tiers: [maintainer, contributor] }}\nrules:\n  - hold: {list}\n"
        );
        let policy = policy.as_str();
        let change = amended(policy, "command(make)", &facts()).unwrap();
        assert_eq!(idle(&change.policy), Vec::<String>::new(), "{}", change.text);
        for (tier, expected) in
            [(Tier::Maintainer, Decision::Allow), (Tier::Contributor, Decision::Hold)]
        {
            let facts = Facts { tier, ..facts() };
            assert_eq!(decide(&change.policy, "command(make)", &facts), expected, "{tier:?}");
        }
    }
}

/// What is said of rules that do nothing.
fn idle(policy: &Policy) -> Vec<String> {
    lint::warnings(policy).into_iter().map(|warning| warning.message).collect()
}

#[test]
fn what_is_like_the_call_is_decided_as_before() {
    for (intent, neighbours) in [
        (
            "command(cargo add serde)",
            &[
                ("command(cargo add serde tokio)", Decision::Hold),
                ("command(cargo add serde --git=x)", Decision::Hold),
                ("command(cargo add)", Decision::Hold),
                ("command(cargo add serdex)", Decision::Hold),
                ("command(cargo remove serde)", Decision::Deny),
                ("command(cargo add serde && git push)", Decision::Deny),
                ("command(cargo add serde > .locum/policy.yml)", Decision::Deny),
            ][..],
        ),
        (
            "edit(src/held/a.rs)",
            &[
                ("edit(src/held/b.rs)", Decision::Hold),
                ("edit(src/held/A.rs)", Decision::Hold),
                ("edit(src/held)", Decision::Hold),
                ("edit(.locum/policy.yml)", Decision::Deny),
                ("edit(Cargo.toml)", Decision::Hold),
            ],
        ),
        (
            "fetch(https://docs.rs/serde)",
            &[
                ("fetch(https://docs.rs/tokio)", Decision::Hold),
                ("fetch(https://docs.rs/serde_json)", Decision::Hold),
                ("fetch(https://docs.rs:8443/serde)", Decision::Hold),
                ("fetch(https://evil.example/serde)", Decision::Deny),
            ],
        ),
        ("mcp(time/now)", &[("mcp(time/set)", Decision::Hold), ("mcp(other/now)", Decision::Deny)]),
    ] {
        let change = amended(POLICY, intent, &facts()).unwrap();
        let before = Policy::parse(POLICY, "policy.yml").unwrap();
        for (neighbour, expected) in neighbours {
            assert_eq!(decide(&before, neighbour, &facts()), *expected, "before: {neighbour}");
            assert_eq!(decide(&change.policy, neighbour, &facts()), *expected, "{neighbour}");
        }
    }
}

#[test]
fn a_file_that_only_differs_in_case_is_still_held() {
    let policy = r#"version: 1
rules:
  - allow: "edit(src/**)"
  - hold: "edit(src/held.rs)"
"#;
    let change = amended(policy, "edit(src/held.rs)", &facts()).unwrap();
    assert_eq!(difference(policy, &change.text), "+    except: \"edit(src/held.rs)\"");
    for (path, expected) in
        [("edit(src/held.rs)", Decision::Allow), ("edit(src/Held.rs)", Decision::Hold)]
    {
        assert_eq!(decide(&change.policy, path, &facts()), expected, "{path}");
    }
}

#[test]
fn runs_of_others_still_wait() {
    let policy = r#"version: 1
triggers:
  comment: { prefix: /locum, tiers: [maintainer, contributor] }
  schedule: { jobs: [nightly, weekly] }
modes: { default: code, allow: [code, debug] }
rules:
  - allow: "read(**)"
  - hold: "command(cargo add:*)"
    reason: it adds a dependency
"#;
    let change = amended(policy, "command(cargo add serde)", &facts()).unwrap();
    assert_eq!(
        difference(policy, &change.text),
        "+    except: \"command(cargo add serde)\"\n\
         +  - allow: \"command(cargo add serde)\"\n\
         +    tiers: [maintainer]\n\
         +  - hold: \"command(cargo add serde)\"\n\
         +    tiers: [contributor, schedule]\n\
         +    reason: \"it adds a dependency\""
    );
    for (tier, expected) in [
        (Tier::Maintainer, Decision::Allow),
        (Tier::Contributor, Decision::Hold),
        (Tier::Schedule, Decision::Hold),
    ] {
        let facts = Facts { tier, ..facts() };
        let found = decide(&change.policy, "command(cargo add serde)", &facts);
        assert_eq!(found, expected, "{tier:?}");
    }
    let nightly = Facts {
        tier: Tier::Schedule,
        trigger: TriggerKind::Schedule,
        job: Some("nightly".to_owned()),
        ..facts()
    };
    let change = amended(policy, "command(cargo add serde)", &nightly).unwrap();
    for (job, expected) in [("nightly", Decision::Allow), ("weekly", Decision::Hold)] {
        let facts = Facts { job: Some(job.to_owned()), ..nightly.clone() };
        assert_eq!(decide(&change.policy, "command(cargo add serde)", &facts), expected, "{job}");
    }
    assert_eq!(decide(&change.policy, "command(cargo add serde)", &facts()), Decision::Hold);
}

#[test]
fn another_mode_that_would_be_decided_otherwise_still_waits() {
    let policy = r#"version: 1
modes: { default: code, allow: [code, debug] }
rules:
  - allow: "command(cargo add:*)"
    modes: [code]
  - hold: "command(cargo add:*)"
"#;
    let change = amended(policy, "command(cargo add serde)", &facts()).unwrap();
    assert_eq!(
        difference(policy, &change.text),
        "+    except: \"command(cargo add serde)\"\n\
         +  - hold: \"command(cargo add serde)\"\n\
         +    modes: [debug]"
    );
}

#[test]
fn says_why_there_is_no_safe_change() {
    let policy = r#"version: 1
commands: { max_complexity: 0.1 }
modes: { default: code, allow: [code] }
rules:
  - allow: ["read(**)", "edit(src/**)", "command(ls:*)", "command(wc:*)", "command(cat:*)"]
  - hold: ["edit(.github/**)", "read(*.pem)", "fetch(docs.rs)", "command(deploy:*)", "edit(src/held.rs)"]
  -
    hold: "command(make:*)"
examples:
  hold: "edit(src/held.rs)"
"#;
    let fork =
        Facts { restriction: Restriction { read_only: true, ..Restriction::default() }, ..facts() };
    for (intent, facts, expected) in [
        ("edit(.github/workflows/ci.yml)", facts(), "without the hold it is denied: protected"),
        ("read(server.pem)", facts(), "without the hold it is denied: protected"),
        ("command(ls | wc | cat)", facts(), "complexity"),
        ("fetch(https://docs.rs/)", facts(), "no pattern names `fetch(https://docs.rs/)`"),
        ("command(deploy ***)", facts(), "secret"),
        ("command(deploy x)", fork, "may only read"),
        ("edit(src/held.rs)", facts(), "would not be accepted: "),
        ("command(make)", facts(), "written in a way that only a person can change"),
        ("edit(src/free.rs)", facts(), "do not hold"),
    ] {
        match amended(policy, intent, &facts) {
            Err(why) => assert!(why.to_string().contains(expected), "{intent}: {why}"),
            Ok(change) => panic!("{intent}: {}", change.text),
        }
    }
    let read = Policy::parse(policy, "policy.yml").unwrap();
    let held = ["command(deploy x)".to_owned()];
    let other = format!("{policy}\n# newer\n");
    assert_eq!(amend(&read, &other, &held, &facts()).unwrap_err(), AmendmentError::OtherPolicy);
}

#[test]
fn every_layout_that_policies_are_written_in_is_understood_or_left_alone() {
    for (rules, expected) in [
        ("rules: [{ allow: read(**) }, { hold: command(make:*) }]\n", true),
        ("rules:\n- hold: command(make:*)", true),
        (
            "rules:\n  - reason: x\n    hold:\n    - command(cmake:*)\n    - command(make:*)\n    # c\n",
            true,
        ),
        (
            "rules:\n  - hold: [ command(make:*),\n      'command(cmake:*)' ] # two\n    modes: [code]\n",
            true,
        ),
        ("rules:\r\n  - hold: \"command(make:*)\"\r\n  - allow: \"read(**)\"\r\n", true),
        (
            "rules:\n  - hold: command(make:*)\n    except:\n      - command(make a)\n      - command(make b)\n",
            true,
        ),
        ("rules:\n  - hold: command(make:*)\n    except: [command(make a)]\n", true),
        ("rules:\n  -\n    hold: command(make:*)\n", false),
        ("rules:\n  - hold: >-\n      command(make:*)\n", true),
        ("rules:\n  - deny: &p \"command(make:*)\"\n    triggers: [label]\n  - hold: *p\n", false),
    ] {
        let policy = format!("version: 1\nmodes: {{ default: code, allow: [code] }}\n{rules}");
        let Ok(read) = Policy::parse(&policy, "policy.yml") else {
            assert!(!expected, "{rules}");
            continue;
        };
        let change = amend(&read, &policy, &["command(make all)".to_owned()], &facts());
        assert_eq!(change.as_ref().err().is_none(), expected, "{rules}");
        if let Ok(change) = change {
            assert_eq!(decide(&change.policy, "command(make x)", &facts()), Decision::Hold);
            assert_eq!(change.text.contains("\r\n"), policy.contains("\r\n"));
            let lone = change.text.matches('\n').count() - change.text.matches("\r\n").count();
            assert!(!policy.contains("\r\n") || lone == 2, "{:?}", change.text);
        }
    }
}
