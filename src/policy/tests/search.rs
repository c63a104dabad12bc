//! Queries for search engines: which are asked, and which nothing lets out.

use crate::Policy;
use crate::intent::{Facts, Intent, Restriction};
use crate::query_text::SearchQuery;
use crate::tests::{check, facts, policy};
use crate::urls::WebUrl;
use crate::verdict::Decision::{Allow, Deny, Hold};

const RULES: &str = "rules:
  - allow: ['search(rust *)', 'search(serde)']
  - hold: 'search(*licence*)'
  - deny: 'search(**project x**)'
";

#[test]
fn rules_decide_on_the_words_of_a_query() {
    check(
        &policy(RULES),
        &facts("code"),
        &[
            ("search(rust async book)", Allow),
            ("search(  rust   async)", Allow),
            ("search(serde)", Allow),
            ("search(serde json)", Deny),
            ("search(python async)", Deny),
            ("search(Rust async)", Deny),
            ("search(rust Licence of ring)", Hold),
            ("search(rust project x)", Deny),
            ("search(rust PROJECT   X api)", Deny),
            ("search(rust projectx)", Allow),
            ("fetch(rust.example)", Deny),
        ],
    );
    check(
        &policy("rules:\n  - allow: 'search(**)'\n"),
        &facts("code"),
        &[("search(anything at all (really))", Allow), ("search(a*b)", Allow)],
    );
    check(&policy("rules:\n  - allow: 'fetch(*)'\n"), &facts("code"), &[("search(rust)", Deny)]);
}

fn decision(policy: &Policy, text: &str, engine: Option<&str>, facts: &Facts) -> bool {
    let query = SearchQuery::new(text, engine.map(WebUrl::parse));
    policy.decide(&Intent::Search(query), facts).decision == Allow
}

#[test]
fn no_rule_lets_out_what_is_hidden_or_encoded_or_asks_this_machine() {
    let policy = policy("rules:\n  - allow: 'search(**)'\n  - deny: 'search(**token**)'\n");
    let here = facts("code");
    let long = "a".repeat(101);
    assert!(decision(&policy, "rust book", Some("https://engine.example"), &here));
    assert!(decision(&policy, &long[..100], None, &here));
    for text in [
        "",
        "to\u{200b}ken",
        "to\u{ad}ken",
        "to\u{fe0f}ken",
        "to\u{2800}ken",
        "a\u{1b}[0m",
        long.as_str(),
    ] {
        assert!(!decision(&policy, text, None, &here), "{text:?}");
    }
    assert!(!decision(&policy, &"word ".repeat(81), None, &here));
    for engine in ["http://127.0.0.1:8080", "https://engine.internal", "https://u:p@x.example", "x"]
    {
        assert!(!decision(&policy, "rust book", Some(engine), &here), "{engine}");
    }
    let restriction = Restriction { read_only: true, ..Restriction::default() };
    let read_only = Facts { restriction, ..here };
    assert!(!decision(&policy, "rust book", None, &read_only));
}
