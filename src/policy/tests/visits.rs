//! Which hosts a browser may connect to: those on which a rule allows at least one page.

use pretty_assertions::assert_eq;

use super::{facts, policy};
use crate::intent::Intent;
use crate::urls::{Destination, WebUrl};
use crate::verdict::Decision::{Allow, Deny, Hold};

const RULES: &str = "
network: { allow: [listed.example] }
rules:
  - allow: ['browse(docs.example/guide/**)', 'browse(*.cdn.example)', 'browse(http://plain.example)',
            'browse(http://localhost:8080)', 'browse(http://10.0.0.1)', 'fetch(read.example)']
  - allow: 'browse(other.example)'
    modes: [debug]
  - deny: ['browse(ads.cdn.example)', 'browse(docs.example/guide/old/**)']
  - hold: 'browse(held.cdn.example)'
";

#[test]
fn a_host_is_reached_where_some_page_of_it_may_be_looked_at() {
    for (destination, expected) in [
        ("docs.example", Allow),
        ("img.cdn.example", Allow),
        ("http://plain.example", Allow),
        // Another scheme or port, a host that is refused or held as a whole, another mode's.
        ("http://docs.example", Deny),
        ("docs.example:8443", Deny),
        ("plain.example", Deny),
        ("cdn.example", Deny),
        ("ads.cdn.example", Deny),
        ("held.cdn.example", Hold),
        ("other.example", Deny),
        // What commands or `web_fetch` may reach.
        ("listed.example", Deny),
        ("read.example", Deny),
        // Not through this machine: a browser finds its own servers without it.
        ("http://localhost:8080", Deny),
        ("http://10.0.0.1", Deny),
        ("unknown.example", Deny),
    ] {
        let asked = Intent::Visit(Destination::parse(destination).unwrap());
        let verdict = policy(RULES).decide(&asked, &facts("code"));
        assert_eq!(verdict.decision, expected, "{destination}: {}", verdict.reason());
    }
    let other = Intent::Visit(Destination::parse("other.example").unwrap());
    assert_eq!(policy(RULES).decide(&other, &facts("debug")).decision, Allow);
}

#[test]
fn a_visit_opens_no_page_that_no_rule_allows() {
    for (address, expected) in [
        ("https://docs.example/guide/a", Allow),
        ("https://docs.example/guide/old/a", Deny),
        ("https://docs.example/private", Deny),
        ("http://localhost:8080/any", Allow),
        ("http://localhost:8081/any", Deny),
    ] {
        let asked = Intent::Browse(WebUrl::parse(address));
        let decision = policy(RULES).decide(&asked, &facts("code")).decision;
        assert_eq!(decision, expected, "{address}");
    }
}
