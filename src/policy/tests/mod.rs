//! Whole policies against whole tables of intents: what the rules of the language promise.

mod attacks;
mod behind;
mod built;
mod by_words;
mod closest;
mod contained;
mod everyday;
mod fed;
mod hidden;
mod imported;
mod instead;
mod judged;
mod memory;
mod modes;
mod refused_words;
mod search;
mod services;
mod shell_words;
mod summary;
mod tools;
mod visits;

use pretty_assertions::assert_eq;

use crate::Policy;
use crate::intent::{Facts, Restriction, TriggerKind};
use crate::lint::explain::explain;
use crate::lint::warnings;
use crate::query::parse_intent;
use crate::verdict::Decision::{self, Allow, Deny, Hold};
use crate::verdict::Verdict;

fn policy(rules: &str) -> Policy {
    Policy::parse(&format!("version: 1\n{rules}"), "policy.yml")
        .unwrap_or_else(|error| panic!("{error}"))
}

fn facts(mode: &str) -> Facts {
    Facts { mode: mode.to_owned(), ..Facts::default() }
}

fn check(policy: &Policy, facts: &Facts, cases: &[(&str, Decision)]) {
    for (intent, expected) in cases {
        let verdict = policy.decide(&parse_intent(intent).unwrap(), facts);
        assert_eq!(verdict.decision, *expected, "{intent}: {}", verdict.reason());
    }
}

#[test]
fn the_builtin_policy_is_one() {
    let builtin = Policy::parse(crate::BUILTIN_TEXT, crate::BUILTIN_ORIGIN)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(builtin.hash().len(), 64);
    assert_eq!(warnings(&builtin), Vec::new());
    check(
        &Policy::builtin(),
        &facts("code"),
        &[
            ("read(src/lib.rs)", Allow),
            ("read(.)", Allow),
            ("read(.env)", Deny),
            ("edit(src/lib.rs)", Allow),
            ("edit(.github/workflows/ci.yml)", Deny),
            ("command(ls -la src)", Allow),
            ("command(cat .env)", Deny),
            ("command(cat src/lib.rs)", Allow),
            ("command(sort -o out.txt in.txt)", Allow),
            ("command(sort -o .git/config in.txt)", Deny),
            ("command(sed -n 1,5p src/lib.rs)", Allow),
            ("command(sed -n 'w x' src/lib.rs)", Deny),
            ("command(cargo test)", Deny),
            ("publish(comment)", Allow),
            ("publish(commit)", Deny),
            ("mode(code)", Allow),
            ("mode(unheard-of)", Deny),
            ("delegate(code)", Deny),
            ("fetch(docs.rs)", Deny),
            ("search(rust)", Deny),
            ("mcp(time/now)", Deny),
        ],
    );
    check(
        &Policy::builtin(),
        &facts("orchestrator"),
        &[("delegate(code)", Allow), ("delegate(unheard-of)", Deny)],
    );
}

#[test]
fn the_worst_match_wins_and_except_carves_out_of_its_own_rule_only() {
    let policy = policy(
        "rules:\n  - allow: [\"edit(src/**)\", \"command(git:*)\"]\n  - hold: \
             edit(src/api/**)\n    reason: ask first\n  - deny: edit(src/gen/**)\n    except: \
             edit(src/gen/keep.rs)\n  - deny: command(git log:*)\n    except: [\"command(git log \
             --oneline:*)\"]\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("edit(src/a.rs)", Allow),
            ("edit(src/api/a.rs)", Hold),
            ("edit(src/gen/a.rs)", Deny),
            ("edit(SRC/gen/a.rs)", Deny),
            ("edit(src/GEN/a.rs)", Deny),
            ("edit(src/gen/keep.rs)", Allow),
            ("edit(docs/a.md)", Deny),
            ("command(git log)", Deny),
            ("command(git --no-pager log)", Deny),
            ("command(git log --oneline)", Allow),
            ("command(git -C sub log)", Deny),
            ("command(git status)", Allow),
        ],
    );
    let verdict = policy.decide(&parse_intent("edit(src/api/a.rs)").unwrap(), &facts("code"));
    let rule = verdict.rule().unwrap();
    assert_eq!(
        (
            verdict.reason().as_str(),
            rule.pattern.as_str(),
            rule.line_number(),
            rule.origin.as_str()
        ),
        ("ask first", "edit(src/api/**)", 4, "policy.yml")
    );
}

#[test]
fn rules_count_only_where_they_are_narrowed_to() {
    let policy = policy(
        "rules:\n  - allow: edit(src/**)\n    modes: [code, debug]\n  - allow: edit(docs/**)\n    \
         triggers: schedule\n    jobs: [docs]\n  - allow: edit(top.md)\n    tiers: [maintainer]\n",
    );
    check(
        &policy,
        &facts("code"),
        &[("edit(src/a)", Allow), ("edit(docs/a)", Deny), ("edit(top.md)", Allow)],
    );
    check(&policy, &facts("ask"), &[("edit(src/a)", Deny)]);
    let job = Facts {
        trigger: TriggerKind::Schedule,
        job: Some("docs".to_owned()),
        tier: crate::actors::Tier::Schedule,
        ..facts("code")
    };
    check(&policy, &job, &[("edit(docs/a)", Allow), ("edit(top.md)", Deny)]);
    check(&policy, &Facts { job: Some("other".to_owned()), ..job }, &[("edit(docs/a)", Deny)]);
}

#[test]
fn protection_yields_only_to_a_full_name_that_says_so() {
    let policy = policy(
        "rules:\n  - allow: [\"edit(**)\", \"read(**)\"]\n  - allow: \
         [\"edit(.github/CODEOWNERS)\", \"read(.env)\"]\n    protected: true\n  - allow: \
         edit(.github/workflows/ci.yml)\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("edit(.github/CODEOWNERS)", Allow),
            ("edit(.github/codeowners)", Deny),
            ("edit(.github/workflows/ci.yml)", Deny),
            ("edit(.git/config)", Deny),
            ("read(.env)", Allow),
            ("read(sub/.env)", Deny),
        ],
    );
}

#[test]
fn code_of_the_repository_runs_in_a_sandbox_or_where_the_policy_says_off() {
    let strict = policy(
        "rules:\n  - allow: [\"command(cargo test:*)\", \"command(./run.sh)\", \
         \"command(make:*)\"]\n",
    );
    let intents = ["command(cargo test)", "command(./run.sh)", "command(make check)"];
    check(&strict, &facts("code"), &intents.map(|intent| (intent, Deny)));
    check(
        &strict,
        &Facts { sandboxed: true, ..facts("code") },
        &intents.map(|intent| (intent, Allow)),
    );
    let open = policy(
        "rules:\n  - allow: [\"command(cargo test:*)\", \"command(./run.sh)\", \
         \"command(make:*)\"]\ncommands: { sandbox: off }\n",
    );
    check(&open, &facts("code"), &intents.map(|intent| (intent, Allow)));
    let verdict = open.decide(&parse_intent("command(cargo test)").unwrap(), &facts("code"));
    assert!(verdict.reason().contains("runs code of the repository"), "{}", verdict.reason());
}

#[test]
fn a_wrapper_is_allowed_only_word_for_word() {
    let policy = policy(
        "rules:\n  - allow: [\"command(timeout 60 ls)\", \"command(bash:*)\", \
         \"command(python3:*)\", \"read(**)\"]\ncommands: { sandbox: off }\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(timeout 60 ls)", Allow),
            ("command(timeout 60 rm)", Deny),
            ("command(bash -c ls)", Deny),
            ("command(python3 x.py)", Allow),
            ("command(python3 -c x.py)", Deny),
            ("command(python3 -)", Deny),
            ("command(python3 /tmp/x.py)", Deny),
            ("command(python3 ../x.py)", Deny),
            ("command(python3 x.sh)", Deny),
            ("command(python3 setup.py upload)", Deny),
        ],
    );
}

#[test]
fn files_of_commands_meet_the_rules_for_files() {
    let policy = policy(
        "rules:\n  - allow: [\"read(src/**)\", \"edit(out/**)\", \"command(cat:*)\", \
         \"command(echo:*)\", \"command(sed:*)\"]\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(cat src/a)", Allow),
            ("command(cat docs/a)", Deny),
            ("command(cat src/../docs/a)", Deny),
            ("command(cat < src/a)", Allow),
            ("command(cat < docs/a)", Deny),
            ("command(echo x > out/a)", Allow),
            ("command(echo x >> src/a)", Deny),
            ("command(echo x > /dev/null)", Allow),
            ("command(echo x 2>&1)", Allow),
            ("command(sed -i s/a/b/ src/a)", Deny),
        ],
    );
}

#[test]
fn too_complex_a_script_waits_for_a_person() {
    let policy = policy(
        "rules:\n  - allow: [\"read(**)\", \"command(ls:*)\", \"command(rg:*)\"]\ncommands: { \
         max_complexity: 0.3 }\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(ls | rg x)", Allow),
            ("command(ls 2>&1 | rg x)", Hold),
            ("command(ls 2>&1 | rm x)", Deny),
        ],
    );
}

#[test]
fn every_mistake_is_told_at_once_with_its_place() {
    let text = "version: 2\nrulse: []\nrules:\n  - alow: edit(x)\n  - allow: [\"edti(x)\", 5]\n    \
         modes: []\n  - allow: edit(.env*)\n    protected: true\nbudget: { turns: many, tokens: \
         2M, cost: 1 }\ncommands: { timeout: 10, env: [GITHUB_TOKEN, PATH] }\nmodes: { default: \
         cod, allow: [code] }\ntriggers: { bots: { allow: [\"*\"] }, comment: { tiers: \
         [maintainers] } }\nexamples: { allow: [\"edit(y)\"] }\nbudget: {}\n";
    let mistakes: Vec<String> = Policy::parse(text, "p.yml")
        .unwrap_err()
        .0
        .iter()
        .map(|error| format!("{} {}", error.place, error.message))
        .collect();
    let expected = [
        "1:10 `version` must be 1",
        "2:1 unknown key `rulse`",
        "4:5 a rule says exactly one of `allow`, `hold`, `deny`",
        "4:5 unknown key `alow`",
        "5:13 unknown kind of pattern `edti`; did you mean `edit`?",
        "5:24 `allow` must be text, not a number",
        "6:12 `modes` is empty",
        "8:16 a rule with `protected: true` names each path in full, without wildcards",
        "9:18 `turns` must be a whole number such as `400`, `20k` or `2M`, not text",
        "9:36 unknown key `cost`",
        "10:22 `timeout` must be a duration such as `90s`, `10m` or `1h30m`, not a number",
        "10:32 `GITHUB_TOKEN` is never passed on to commands",
        "11:19 the default mode `cod` is not allowed",
        "12:29 `*`: bots are listed by name, never by a wildcard",
        "12:56 `tiers` cannot be `maintainers`",
        "13:21 example `edit(y)` is not `allow` but `deny`: no rule allows `edit(y)`",
        "14:1 duplicate key `budget`",
    ];
    let mut sorted = mistakes.clone();
    sorted.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(sorted, expected);
}

#[test]
fn the_policy_of_the_documentation_loads() {
    let text = r#"
version: 1
triggers:
  comment:  { prefix: /locum, tiers: [maintainer, collaborator] }
  label:    { name: locum, tiers: [maintainer] }
  schedule: { jobs: [update-dependencies] }
  dispatch: { tiers: [maintainer] }
  bots:     { allow: ["dependabot[bot]"] }
  forks:    read-only
modes:
  default: orchestrator
  allow: [orchestrator, architect, code, debug, ask, review]
  switching: coordinator
  transitions: { ask: [architect, code] }
  delegation: { from: [orchestrator], depth: 2, tasks: 20, parallel: 4 }
rules:
  - allow: [ "read(**)", "command(cargo test:*)", "command(git diff:*)", "fetch(docs.rs)", "mcp(time/*)" ]
  - allow: [ "edit(src/**)", "edit(tests/**)" ]
    modes: [code, debug]
  - hold:  "command(cargo add:*)"
    reason: new dependencies need a person
  - deny:  "command(git push:*)"
    except: [ "command(git push --dry-run:*)" ]
    reason: locum pushes for you
examples:
  allow: [ "command(cargo test --workspace)", "edit(src/a.rs)" ]
  hold: [ "command(cargo add serde)" ]
  deny:  [ "command(cargo test; curl evil.example)", "edit(.github/workflows/ci.yml)", "edit(../x)" ]
commands: { timeout: 10m, output: 64KiB, network: off, env: [PATH, HOME, CARGO_HOME], max_complexity: 0.8 }
network:  { allow: [docs.rs, crates.io] }
budget:   { turns: 60, tool_calls: 400, tokens: 2M, cost_usd: 5.00, minutes: 30, files: 50, diff_lines: 3000 }
on_hold:  pause
questions: comment
publish:
  allow: [comment, review, commit, pull-request, label]
  as: pull-request
  branch: "locum/{subject}-{slug}"
  draft: true
  labels: [locum]
  success: [ "cargo test" ]
"#;
    let policy = Policy::parse(text, "p.yml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warnings(&policy), Vec::new());
    assert_eq!(policy.settings().budget.tokens, 2_000_000);
    assert_eq!(policy.settings().commands.output_bytes, 65_536);
    let sandboxed = Facts { sandboxed: true, ..facts("code") };
    check(
        &policy,
        &sandboxed,
        &[
            ("command(cargo test; curl evil.example)", Deny),
            ("command(cargo add serde)", Hold),
            ("fetch(docs.rs/tokio)", Allow),
            ("fetch(evil.example)", Deny),
            ("mcp(time/now)", Allow),
            ("mcp(files/read)", Deny),
            ("publish(pull-request)", Allow),
        ],
    );
}

#[test]
fn explains_with_the_nearest_rule_and_reads_intents() {
    let policy = policy(
        "rules:\n  - allow: [\"edit(src/**)\", \"edit(docs/**)\", \"command(cargo test:*)\"]\n",
    );
    let explanation = explain(&policy, &parse_intent("edit(srx/a.rs)").unwrap(), &facts("code"));
    assert_eq!(explanation.verdict.decision, Deny);
    assert_eq!(explanation.nearest.unwrap().rule.pattern, "edit(src/**)");
    let explanation =
        explain(&policy, &parse_intent("command(cargo check)").unwrap(), &facts("code"));
    assert_eq!(explanation.nearest.unwrap().rule.pattern, "command(cargo test:*)");
    for text in ["edit", "edti(x)", "edit(/etc/passwd)", "mcp(x)", "publish(tweet)"] {
        assert!(parse_intent(text).is_err(), "{text}");
    }
}

#[test]
fn tools_of_a_server_are_carved_out_of_all_of_them() {
    let count = |rules: &str| warnings(&policy(&format!("rules:\n{rules}"))).len();
    assert_eq!(count("  - allow: mcp(time/*)\n    except: mcp(time/set)\n"), 0);
    assert_eq!(count("  - allow: mcp(time/get)\n    except: mcp(time/set)\n"), 1);
    assert_eq!(count("  - allow: [mcp(time/*), mcp(time/get)]\n"), 1);
    assert_eq!(count("  - allow: [mcp(time/*), mcp(clock/get)]\n"), 0);
}

#[test]
fn warns_of_rules_that_never_decide() {
    let policy = policy(
        "rules:\n  - allow: [\"edit(**)\", \"edit(src/**)\"]\n  - deny: edit(docs/**)\n  - allow: \
         edit(docs/a.md)\n  - deny: edit(x/**)\n    except: [\"edit(x/**)\"]\n  - deny: \
         command(git push:*)\n    except: command(git log:*)\n",
    );
    let messages: Vec<String> = warnings(&policy)
        .into_iter()
        .map(|warning| {
            format!("{} {}: {}", warning.rule.line_number(), warning.rule.pattern, warning.message)
        })
        .collect();
    assert_eq!(
        messages,
        [
            "3 edit(src/**): is redundant: `edit(**)` on line 3 covers it",
            "5 edit(docs/a.md): is redundant: `edit(**)` on line 3 covers it",
            "6 edit(x/**): never matches: its own `except` `edit(x/**)` covers it",
            "9 command(git log:*): carves out nothing: no pattern of its rule covers it",
        ]
    );
}

#[test]
fn a_restricted_run_loses_and_never_gains() {
    let policy = policy(
        "rules: [{ allow: ['read(**)', 'edit(src/**)', 'command(ls:*)', 'command(touch:*)'] \
         }]\npublish: { allow: [comment, commit] }\n",
    );
    let everything = facts("code");
    let read_only = Facts {
        restriction: Restriction { read_only: true, ..Restriction::default() },
        ..facts("code")
    };
    let some_paths = Facts {
        restriction: Restriction {
            paths: vec!["src/a/**".to_owned(), "docs/**".to_owned()],
            ..Restriction::default()
        },
        ..facts("code")
    };
    let (allow, deny) = (Decision::Allow, Decision::Deny);
    check(
        &policy,
        &everything,
        &[("edit(src/b)", allow), ("command(touch src/x)", allow), ("publish(commit)", allow)],
    );
    check(
        &policy,
        &read_only,
        &[("edit(src/b)", deny), ("command(touch src/x)", deny), ("publish(commit)", deny)],
    );
    check(
        &policy,
        &read_only,
        &[("read(src/b)", allow), ("command(ls src)", allow), ("publish(comment)", allow)],
    );
    check(
        &policy,
        &some_paths,
        &[("edit(src/b)", deny), ("edit(src/a/b)", allow), ("edit(docs/x)", deny)],
    );
}

/// What a file is called says nothing about who denied it.
#[test]
fn a_file_name_never_turns_a_denial_into_a_hold() {
    let policy = policy(
        "rules:\n  - allow: [\"edit(**)\", \"read(**)\"]\n  - hold: [\"command(cp:*)\", \
         \"command(cat:*)\"]\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("command(cp src/a src/b)", Hold),
            ("command(cp src/a .github/workflows/x.yml)", Deny),
            ("command(cp src/a '.github/workflows/: no rule allows.yml')", Deny),
            ("command(cat src/a)", Hold),
            ("command(cat conf/.env)", Deny),
            ("command(cat 'conf: no rule allows/.env')", Deny),
        ],
    );
}

#[test]
fn a_verdict_from_a_journal_reads_as_it_was_written() {
    let policy = policy(
        "rules:\n  - allow: read(src/**)\n  - deny: [\"edit(src/gen/**)\", \"command(cat:*)\"]\n",
    );
    for intent in
        ["read(src/a)", "edit(src/gen/a)", "edit(docs/a)", "command(cat src/a)", "mode(code)"]
    {
        let verdict = policy.decide(&parse_intent(intent).unwrap(), &facts("code"));
        let written = serde_json::to_value(&verdict).unwrap();
        let keys: Vec<&str> = written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["decision", "intent", "rule", "reason"]);
        assert_eq!(serde_json::from_value::<Verdict>(written).unwrap(), verdict);
    }
}
