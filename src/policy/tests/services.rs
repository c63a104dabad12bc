//! Where MCP services may be: hosts that `network.allow` lists, and ports of this machine that
//! `mcp.loopback` lists for one server; and what rules say about names, such as those of their tools
//! and resources.

use pretty_assertions::assert_eq;

use super::{check, facts, policy};
use crate::Policy;
use crate::intent::Intent;
use crate::urls::Destination;
use crate::verdict::Decision::{self, Allow, Deny};

const LISTED: &str = "
mcp:
  loopback:
    docs: ['127.0.0.1:4040', 'localhost:4041', 'http://127.0.0.1:4042']
    six: '[::1]:4040'
network: { allow: ['*.example.com', 'docs.example'] }
rules:
  - allow: ['mcp(docs/*)', 'mcp(six/*)', 'fetch(docs.example)']
";

fn decide(text: &str, server: &str, destination: &str) -> Decision {
    let destination = Destination::parse(destination).unwrap();
    let asked = Intent::Service { server: server.to_owned(), destination };
    policy(text).decide(&asked, &facts("code")).decision
}

#[test]
fn a_service_on_this_machine_is_reached_at_the_port_that_is_listed_for_it() {
    for (server, destination, expected) in [
        ("docs", "http://127.0.0.1:4040", Allow),
        ("docs", "https://127.0.0.1:4040", Allow),
        ("docs", "http://localhost:4041", Allow),
        ("docs", "http://127.0.0.1:4042", Allow),
        ("six", "http://[::1]:4040", Allow),
        ("docs", "docs.example", Allow),
        // Another scheme where one is written, another port, another spelling of this machine.
        ("docs", "https://127.0.0.1:4042", Deny),
        ("docs", "http://127.0.0.1:4043", Deny),
        ("docs", "http://127.0.0.1:80", Deny),
        ("docs", "http://127.0.0.2:4040", Deny),
        ("docs", "http://localhost:4040", Deny),
        ("docs", "http://127.0.0.1:4041", Deny),
        ("docs", "http://[::1]:4040", Deny),
        ("docs", "http://[::ffff:127.0.0.1]:4040", Deny),
        // Another server, other addresses that are not public.
        ("six", "http://127.0.0.1:4040", Deny),
        ("other", "http://127.0.0.1:4040", Deny),
        ("docs", "http://0.0.0.0:4040", Deny),
        ("docs", "http://10.0.0.1:4040", Deny),
        ("docs", "http://a.localhost:4040", Deny),
    ] {
        assert_eq!(decide(LISTED, server, destination), expected, "{server} {destination}");
    }
    let refused = LISTED.to_owned() + "  - deny: fetch(docs.example)\n";
    assert_eq!(decide(&refused, "docs", "docs.example"), Deny);
}

#[test]
fn a_listed_port_opens_nothing_to_commands_and_pages() {
    super::check(
        &policy(LISTED),
        &facts("code"),
        &[
            ("connect(http://127.0.0.1:4040)", Deny),
            ("fetch(http://127.0.0.1:4040/)", Deny),
            ("connect(x.example.com)", Allow),
        ],
    );
    let nobody = "network: { allow: ['*.example.com'] }\n";
    assert_eq!(decide(nobody, "docs", "http://127.0.0.1:4040"), Deny, "no wildcard means it");
}

#[test]
fn a_port_of_this_machine_is_named_in_full() {
    for listed in [
        "127.0.0.1",
        "localhost",
        "*:4040",
        "*.localhost:4040",
        "10.0.0.1:80",
        "a.b:1",
        "0.0.0.0:4040",
        "127.0.0.1:4040/mcp",
        "127.0.0.1:0",
        "[::ffff:127.0.0.1]:4040",
    ] {
        let text = format!("version: 1\nmcp: {{ loopback: {{ docs: '{listed}' }} }}\n");
        let mistakes = Policy::parse(&text, "p.yml").unwrap_err().0;
        assert_eq!(mistakes[0].place.line, 2, "{listed}");
    }
    let text = "version: 1\nnetwork: { allow: ['http://127.0.0.1:4040'] }\n";
    let mistakes = Policy::parse(text, "p.yml").unwrap_err().0;
    assert!(mistakes[0].message.contains("is never reached"), "{mistakes:?}");
}

#[test]
fn names_are_refused_whatever_their_case_and_resources_by_their_plain_address() {
    let policy = policy(
        "rules:\n  - allow: [\"mcp(s/*)\", \"mcp(o/*)\", \"expert(b*)\", \"mcp(d/resource:file:///docs/**)\"]\n  \
         - deny: [\"mcp(s/delete_all)\", \"expert(big)\"]\n  - deny: \
         \"mcp(s/resource:http://x/secret/**)\"\n",
    );
    check(
        &policy,
        &facts("code"),
        &[
            ("mcp(s/list)", Allow),
            ("mcp(s/delete_all)", Deny),
            ("mcp(s/Delete_All)", Deny),
            ("mcp(S/list)", Deny),
            ("expert(bigger)", Allow),
            ("expert(bIG)", Deny),
            ("mcp(s/resource:http://x/open/1)", Allow),
            ("mcp(s/resource:http://x/secret/1)", Deny),
            ("mcp(s/resource:HTTP://X/Secret/1)", Deny),
            ("mcp(s/resource:http://x/a/../secret/1)", Deny),
            ("mcp(s/resource:http://x//secret/1)", Deny),
            ("mcp(s/resource:http://x/%73ecret/1)", Deny),
            ("mcp(s/resource:http://x/a%2Fb)", Deny),
            ("mcp(d/resource:file:///docs/guide)", Allow),
            ("mcp(o/resource:http://x/a//b)", Allow),
            ("mcp(d/resource:file:///docs/../etc/passwd)", Deny),
            ("mcp(d/resource:file:///docs/%2e%2e/etc/passwd)", Deny),
        ],
    );
    let undivided = super::policy("rules:\n  - allow: [\"mcp(s/res*)\", \"mcp(s/resource:**)\"]\n");
    check(
        &undivided,
        &facts("code"),
        &[("mcp(s/resource:gitlab://projects/a%2Fb)", Allow), ("mcp(s/resource:x/../y)", Allow)],
    );
}
