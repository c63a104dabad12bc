//! The rule of two: which policies break it, and which accept the risk.

use crate::Policy;
use crate::intent::TriggerKind;
use crate::lint::risks::{accepted_risks, exposed_where_private, refuses_text};
use pretty_assertions::assert_eq;

const COMMENTS: &str = "triggers: { comment: { tiers: [maintainer] } }\n";
const LABELS: &str = "triggers: { label: { name: locum, tiers: [maintainer] } }\n";
const PERSON: &str = "triggers: { dispatch: { tiers: [maintainer] }, schedule: { jobs: [a] } }\n";

/// Returns what the rule of two says of a policy: its messages, without the rest.
fn refused(text: &str) -> Vec<String> {
    let errors = Policy::parse(&format!("version: 1\n{text}"), "p")
        .err()
        .map_or_else(Vec::new, |errors| errors.0);
    errors.into_iter().map(|error| format!("{}: {}", error.place.line, error.message)).collect()
}

#[test]
fn all_three_together_are_refused() {
    for (name, text, parts) in [
        (
            "a server of any name, in comments",
            format!("{COMMENTS}rules:\n  - allow: \"mcp(*/*)\"\n"),
            ["4: in mode `orchestrator`", "comments and issues", "`mcp(*/*)`"],
        ),
        (
            "a server and pages of anyone",
            format!("{PERSON}rules:\n  - allow: [\"mcp(issues/*)\", \"fetch(*.example.com)\"]\n"),
            [
                "4: in mode",
                "(`mcp(issues/*)`, `fetch(*.example.com)`)",
                "private data (`mcp(issues/*)`)",
            ],
        ),
        (
            "a server and queries of anyone",
            format!("{PERSON}rules:\n  - allow: [\"mcp(issues/*)\", \"search(rust *)\"]\n"),
            ["4: in mode", "(`mcp(issues/*)`, `search(rust *)`)", "way out (`search(rust *)`)"],
        ),
        (
            "an open network and a variable",
            format!(
                "{LABELS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: open, \
                 env: [PATH, DATABASE_URL] }}\n"
            ),
            ["5: in mode", "`commands.env: DATABASE_URL`", "`commands.network: open`"],
        ),
        (
            "hosts of anyone and a variable",
            format!(
                "{COMMENTS}network: {{ allow: [\"*.example.com\"] }}\nrules:\n  - allow: \
                 \"command(make:*)\"\ncommands: {{ network: policy, env: [DATABASE_URL] }}\n"
            ),
            [
                "3: in mode",
                "`commands.env: DATABASE_URL`",
                "way out (`network.allow: *.example.com`)",
            ],
        ),
        (
            "what only bots start by comment",
            "triggers: { comment: { tiers: [] }, bots: { allow: [\"x[bot]\"] } }\nrules:\n  - \
             allow: \"command(make:*)\"\ncommands: { network: open, env: [DATABASE_URL] }\n"
                .to_owned(),
            ["5: in mode", "comments and issues", "by `comment`"],
        ),
        (
            "an open network and no sandbox",
            format!(
                "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: \
                 open, sandbox: off }}\n"
            ),
            ["5: in mode", "`commands.sandbox: off`", "`commands.network: open`"],
        ),
        (
            "an open network and the home folder",
            format!(
                "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: \
                 open, reads: [\"/home/**\"] }}\n"
            ),
            ["5: in mode", "`commands.reads: /home/**`", "`commands.network: open`"],
        ),
        (
            "a secret file and pages of anyone",
            format!(
                "{PERSON}rules:\n  - allow: \"read(.env)\"\n    protected: true\n  - allow: \
                 \"browse(*)\"\n"
            ),
            ["6: in mode", "private data (`read(.env)`)", "way out (`browse(*)`)"],
        ),
        (
            "private source and pages of anyone",
            format!("{PERSON}source: private\nrules:\n  - allow: \"fetch(*)\"\n"),
            ["5: in mode", "`source: private`", "`fetch(*)`"],
        ),
        (
            "the triggers that count when none are named",
            "rules:\n  - allow: \"mcp(*/*)\"\n".to_owned(),
            ["3: in mode", "", ""],
        ),
    ] {
        let risks = refused(&text);
        assert_eq!(risks.len(), 1, "{name}: {risks:?}");
        assert!(
            parts.iter().all(|part| risks.first().is_some_and(|risk| risk.contains(part))),
            "{name}: {risks:?}"
        );
    }
}

#[test]
fn private_source_counts_where_the_forge_says_so_and_the_policy_does_not() {
    let text = |more: &str| {
        format!(
            "version: 1\n{COMMENTS}{more}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ \
             network: open }}\n"
        )
    };
    let exposed =
        |more: &str| exposed_where_private(&Policy::parse(&text(more), "p.yml").unwrap()).len();
    assert_eq!((exposed(""), exposed("source: public\n")), (1, 0));
    let narrow = format!("version: 1\n{COMMENTS}rules:\n  - allow: \"command(make:*)\"\n");
    assert_eq!(exposed_where_private(&Policy::parse(&narrow, "p.yml").unwrap()), []);
}

#[test]
fn a_run_without_strangers_text_meets_none_where_it_would_be_the_third() {
    let both =
        "triggers: { comment: { tiers: [maintainer] }, dispatch: { tiers: [maintainer] } }\n";
    let text = |more: &str| {
        format!(
            "version: 1\n{both}{more}rules:\n  - allow: \"command(make:*)\"\n    triggers: \
             [dispatch]\n"
        )
    };
    let met =
        |more: &str, trigger| refuses_text(&Policy::parse(&text(more), "p.yml").unwrap(), trigger);
    let open = "commands: { network: open }\n";
    assert!(
        met(open, TriggerKind::Dispatch)
            .is_some_and(|risk| risk.contains("in runs started by `dispatch`"))
    );
    assert_eq!(met(&format!("source: public\n{open}"), TriggerKind::Dispatch), None);
    assert_eq!(met("", TriggerKind::Dispatch), None);
    assert_eq!(
        met(open, TriggerKind::Comment),
        None,
        "there it was counted when the file was read"
    );
    let accepted =
        format!("modes: {{ accept_risk: {{ '*': nobody but us writes issues }} }}\n{open}");
    assert_eq!(met(&accepted, TriggerKind::Dispatch), None);
}

#[test]
fn any_two_of_them_pass() {
    for (name, text) in [
        (
            "text and private data",
            format!("{COMMENTS}rules:\n  - allow: [\"mcp(time/*)\", \"fetch(docs.rs)\"]\n"),
        ),
        (
            "text and a secret file",
            format!("{COMMENTS}rules:\n  - allow: \"read(.env)\"\n    protected: true\n"),
        ),
        (
            "text and a variable",
            format!(
                "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ env: \
                 [DATABASE_URL] }}\n"
            ),
        ),
        (
            "text and private source",
            format!("{COMMENTS}source: private\nrules:\n  - allow: \"command(make:*)\"\n"),
        ),
        (
            "hosts that are named and a variable",
            format!(
                "{COMMENTS}network: {{ allow: [docs.rs] }}\nrules:\n  - allow: \
                 \"command(make:*)\"\ncommands: {{ network: policy, env: [DATABASE_URL] }}\n"
            ),
        ),
        (
            "text and a way out",
            format!(
                "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: open \
                 }}\n"
            ),
        ),
        ("text and any page", format!("{COMMENTS}rules:\n  - allow: \"fetch(*)\"\n")),
        (
            "harmless variables and folders are nothing private",
            format!(
                "{COMMENTS}rules:\n  - allow: \"command(make:*)\"\ncommands: {{ network: \
                 open, env: [PATH, CARGO_HOME, LC_ALL], reads: [\"/usr/share/**\"] }}\n"
            ),
        ),
        (
            "no command, so nothing of theirs",
            format!("{COMMENTS}commands: {{ network: open, env: [DATABASE_URL], sandbox: off }}\n"),
        ),
        (
            "a deny takes the way out",
            format!("{COMMENTS}rules:\n  - allow: \"mcp(*/*)\"\n  - deny: \"mcp(*/*)\"\n"),
        ),
        (
            "what is held is not free",
            format!("{COMMENTS}rules:\n  - allow: \"mcp(time/*)\"\n  - hold: \"fetch(*)\"\n"),
        ),
        (
            "not in the same mode",
            format!(
                "{COMMENTS}rules:\n  - allow: \"mcp(time/*)\"\n    modes: [ask]\n  - allow: \
                 \"fetch(*)\"\n    modes: [code]\n"
            ),
        ),
        (
            "not in the same runs",
            format!(
                "{COMMENTS}rules:\n  - allow: \"mcp(time/*)\"\n    triggers: [comment]\n  - \
                 allow: \"fetch(*)\"\n    triggers: [local]\n"
            ),
        ),
        ("the built-in policy", crate::BUILTIN_TEXT.replace("version: 1\n", "")),
    ] {
        assert_eq!(refused(&text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_policy_may_say_why_in_words() {
    let with = |accept: &str| {
        format!(
            "{COMMENTS}modes: {{ accept_risk: {accept} }}\nrules:\n  - allow: \"mcp(*/*)\"\n    modes: [code, ask]\n"
        )
    };
    assert_eq!(
        refused(&with(
            "{ code: the servers hold public data only, ask: the servers hold public data \
             only }"
        )),
        Vec::<String>::new()
    );
    assert_eq!(refused(&with("{ '*': the servers hold public data only }")), Vec::<String>::new());
    let of_one = refused(&with("{ code: the servers hold public data only }"));
    assert!(
        of_one.len() == 1 && of_one.iter().all(|risk| risk.contains("in mode `ask`,")),
        "{of_one:?}"
    );
    for accept in [
        "{ code: yes }",
        "{ code: '' }",
        "{ code: I know it }",
        "{ cod: the servers hold public data only }",
        "{}",
    ] {
        assert!(!refused(&with(accept)).is_empty(), "{accept}");
    }
    let policy = Policy::parse(
        &format!("version: 1\n{}", with("{ '*': the servers hold public data only }")),
        "p",
    )
    .unwrap();
    let accepted: Vec<_> =
        accepted_risks(&policy).into_iter().map(|risk| (risk.modes, risk.reason)).collect();
    assert_eq!(
        accepted,
        [(
            vec!["code".to_owned(), "ask".to_owned()],
            "the servers hold public data only".to_owned()
        )]
    );
}
