//! Rules and settings that do nothing are named, those that work are not.

use super::{unknown_jobs, unknown_modes, unused_rules};
use crate::verdict::RuleRef;
use crate::{Policy, lint};
use pretty_assertions::assert_eq;

fn warnings(text: &str) -> Vec<String> {
    let policy = Policy::parse(&format!("version: 1\n{text}"), "p").unwrap();
    lint::warnings(&policy)
        .into_iter()
        .map(|warning| format!("{}: {}", warning.rule.line_number(), warning.message))
        .collect()
}

#[test]
fn what_the_judge_decides_by_a_rule_is_never_called_idle() {
    for rules in [
        // The wide rule leaves to the other what it does not cover by itself.
        "[\"command(ls:*)\", \"command(ls -la /x)\"]",
        "[\"command(python:*)\", \"command(ruff:*)\", \"command(sed:*)\"]",
        "[\"read(**)\", \"command(cat:*)\", \"command(tox:*)\", \"command(npm:*)\"]",
    ] {
        let found = warnings(&format!("rules:\n  - allow: {rules}\n"));
        assert_eq!(found, Vec::<String>::new(), "{rules}");
    }
    // What really allows nothing covers nothing either.
    let found = warnings("rules:\n  - allow: command(zsh:*)\n  - allow: command(zsh mk.sh)\n");
    assert!(found.len() == 1 && found[0].starts_with("3: allows nothing: `zsh`"), "{found:?}");
}

#[test]
fn rules_that_never_count_are_named() {
    for (text, message) in [
        (
            "rules:\n  - allow: \"edit(src/**)\"\n    modes: [cod]\n",
            "3: never counts: mode `cod` is not in `modes.allow`; did you mean `code`?",
        ),
        (
            "rules:\n  - deny: \"edit(src/**)\"\n    triggers: [schedule]\n",
            "3: never counts: `triggers` lets nothing be started by `schedule`",
        ),
        (
            "rules:\n  - allow: \"edit(src/**)\"\n    tiers: [bot]\n",
            "3: never counts: `triggers` lets no actor of tier `bot` start such a run",
        ),
        (
            "triggers: { dispatch: { tiers: [maintainer] }, bots: { allow: [\"x[bot]\"] } \
             }\nrules:\n  - allow: \"edit(src/**)\"\n    tiers: [collaborator]\n",
            "4: never counts: `triggers` lets no actor of tier `collaborator` start such a run",
        ),
        (
            "rules:\n  - allow: \"delegate(coed)\"\n",
            "3: never counts: mode `coed` is not in `modes.allow`; did you mean `code`?",
        ),
        (
            "modes: { transitions: { ask: [coed] } }\n",
            "0: `modes.transitions` names `coed`, which is not in `modes.allow`; did you mean \
             `code`?",
        ),
        (
            "triggers:\n  pull_request: { tiers: [maintainer], mode: coed }\n",
            "3: `triggers.pull_request` names `coed`, which is not in `modes.allow`; did you mean \
             `code`?",
        ),
        (
            "modes: { delegation: { from: [own] } }\n",
            "0: `modes.delegation` names `own`, which is not in `modes.allow`",
        ),
        (
            "rules:\n  - allow: \"edit(.github/workflows/ci.yml)\"\n",
            "3: allows nothing: protected from edits",
        ),
        ("rules:\n  - allow: \"edit(.github/**)\"\n", "3: allows nothing: protected from edits"),
        ("rules:\n  - allow: \"read(.env)\"\n", "3: allows nothing: protected from reading"),
        ("rules:\n  - allow: \"command(cd:*)\"\n", "3: allows nothing: "),
        ("rules:\n  - allow: \"command(sudo:*)\"\n", "3: allows nothing: `sudo`"),
    ] {
        let found = warnings(text);
        assert!(
            found.len() == 1 && found.iter().all(|found| found.starts_with(message)),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn rules_that_work_are_not_named() {
    for text in [
        "rules:\n  - allow: \"edit(src/**)\"\n    modes: [code]\n    triggers: [comment, \
         local]\n",
        "rules:\n  - allow: \"edit(.github/dependabot.yml)\"\n    protected: true\n",
        "rules:\n  - allow: [\"read(**)\", \"edit(*.md)\", \"edit(docs/)\"]\n",
        "rules:\n  - allow: [\"read(**)\", \"command(env:*)\", \"command(bash \
         scripts/check.sh)\", \"command(cp:*)\"]\n  - allow: \"edit(**)\"\n"
            .replace("\"command(env:*)\", ", "")
            .as_str(),
        "rules:\n  - allow: [\"command(cargo test:*)\", \"command(make:*)\", \"command(npm \
         run build)\", \"command(own-tool:*)\"]\n",
        "triggers: { schedule: { jobs: [a] } }\nrules:\n  - deny: \"edit(src/**)\"\n    \
         triggers: [schedule]\n",
        "triggers: { comment: {}, bots: { allow: [\"x[bot]\"] } }\nrules:\n  - deny: \
         \"edit(src/**)\"\n    triggers: [comment]\n    tiers: [bot]\n",
        "triggers: { label: { name: x }, users: { allow: [bob] } }\nrules:\n  - deny: \
         \"edit(src/**)\"\n    tiers: [stranger]\n",
        "rules:\n  - allow: [\"delegate(co*)\", \"mode(*)\"]\n",
        "rules:\n  - allow: [\"read(**)\", \"command(cd:*)\", \"command(cat:*)\"]\n",
        "modes: { default: code, allow: [code], switching: off }\n",
        "rules:\n  - allow: [\"read(**)\", \"command(cd:*)\", \"command(cat:*)\"]\n",
    ] {
        assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn words_of_the_shell_are_tried_as_they_are_used() {
    let loops = "[\"command(set:*)\", \"command(for:*)\", \"command(while:*)\", \
                 \"command(until:*)\", \"command(case:*)\"]";
    let with = |expansions: &str| {
        let text =
            format!("commands: {{ expansions: {expansions} }}\nrules:\n  - allow: {loops}\n");
        warnings(&text)
    };
    assert_eq!(with("allow"), Vec::<String>::new());
    let denied = with("off");
    let idle = |found: &&String| found.starts_with("4: allows nothing: ");
    assert_eq!(denied.iter().filter(idle).count(), 4, "{denied:?}");
    for rule in ["set -o", "set -e -o history", "while", "for x"] {
        let found = warnings(&format!("rules:\n  - allow: command({rule})\n"));
        assert!(found.len() == 1 && found[0].contains("allows nothing"), "{rule}: {found:?}");
    }
}

#[test]
fn a_dashboard_that_no_run_may_write_is_named() {
    let with = |dashboard: bool, allow: &str| {
        warnings(&format!(
            "triggers: {{ schedule: {{ jobs: [a], dashboard: {dashboard} }} }}\npublish: {{ allow: \
             [{allow}] }}\n"
        ))
    };
    let named = "0: `triggers.schedule.dashboard` shows nothing: the dashboard is an issue, and \
                 `publish.allow` lacks `issue`; add it there";
    assert_eq!(with(true, "comment"), [named]);
    assert_eq!(with(true, "comment, issue"), Vec::<String>::new());
    assert_eq!(with(false, "comment"), Vec::<String>::new());
}

#[test]
fn rules_that_no_verdict_rests_on_are_unused() {
    let text = "version: 1\nrules:\n  - allow: [\"read(**)\", \"edit(src/**)\"]\n  - deny: \
                \"edit(src/b/**)\"\n";
    let policy = Policy::parse(text, "p").unwrap();
    let cited = [RuleRef::at("read(**)", "p", 3)];
    let unused: Vec<_> = unused_rules(&policy, &cited)
        .into_iter()
        .map(|warning| (warning.rule.line_number(), warning.rule.pattern))
        .collect();
    assert_eq!(unused, [(3, "edit(src/**)".to_owned())]);
}

#[test]
fn modes_that_are_not_there_are_named() {
    let policy =
        Policy::parse("version: 1\nmodes: { default: code, allow: [code, docs-writter] }\n", "p")
            .unwrap();
    let known = ["code", "docs-writer"].map(str::to_owned);
    let messages: Vec<_> =
        unknown_modes(&policy, &known).into_iter().map(|warning| warning.message).collect();
    assert_eq!(messages, ["there is no mode `docs-writter`; did you mean `docs-writer`?"]);
}

#[test]
fn jobs_that_are_not_there_are_named() {
    let text = "version: 1\ntriggers: { schedule: { jobs: [update, docs] } }\nrules:\n  - \
                allow: \"edit(src/**)\"\n    jobs: [updat]\n";
    let policy = Policy::parse(text, "p").unwrap();
    let messages: Vec<_> = unknown_jobs(&policy, &["update".to_owned()])
        .into_iter()
        .map(|warning| warning.message)
        .collect();
    assert_eq!(
        messages,
        ["there is no job `updat`; did you mean `update`?", "there is no job `docs`"]
    );
    let text = "version: 1\ntriggers: { schedule: { jobs: [release-notes] } }\n";
    let warnings = unknown_jobs(&Policy::parse(text, "p").unwrap(), &["update".to_owned()]);
    assert!(
        warnings[0].message.ends_with("`locum init --job release-notes` writes it"),
        "{warnings:?}"
    );
}

#[test]
fn commands_of_the_policy_that_no_rule_allows_are_named() {
    let text = |rules: &str| {
        format!(
            "publish: {{ success: [\"make test\"] }}\ncommands: {{ after_edit: [{{ files: \
             \"**/*.py\", run: \"ruff check {{file}}\" }}] }}\nrules:\n{rules}"
        )
    };
    let never = |key: &str, run: &str| format!("0: `{key}` has `{run}`, which no rule allows");
    for (rules, expected) in [
        (
            "  - allow: \"read(**)\"\n",
            vec![
                never("publish.success", "make test"),
                never("commands.after_edit", "ruff check {file}"),
            ],
        ),
        (
            "  - allow: [\"read(**)\", \"command(make test)\"]\n",
            vec![never("commands.after_edit", "ruff check {file}")],
        ),
        ("  - allow: [\"read(**)\", \"command(make test)\", \"command(ruff check:*)\"]\n", vec![]),
        // What is allowed in some runs only may run in them.
        (
            "  - allow: [\"read(**)\", \"command(ruff check:*)\"]\n  - allow: \"command(make \
             test)\"\n    modes: [debug]\n",
            vec![],
        ),
    ] {
        assert_eq!(warnings(&text(rules)), expected, "{rules}");
    }
    assert_eq!(
        warnings(
            &text("  - allow: \"read(**)\"\n")
                .replace("commands: {", "commands: { contained: allow,")
        ),
        Vec::<String>::new()
    );
}
