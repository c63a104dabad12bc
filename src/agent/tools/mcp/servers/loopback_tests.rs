//! Services on this machine: where they are reached, and what leads there otherwise.

use pretty_assertions::assert_eq;

use super::service_fixture::{ServiceFixture, reply, standings};

const POLICY: &str = "
version: 1
network: { allow: ['http://*.example', 'http://nearby.example:4040'] }
mcp: { loopback: { near: ['127.0.0.1:4040'], named: ['localhost:4041'], six: '[::1]:4042' } }
rules:
  - allow: ['mcp(near/*)', 'mcp(named/*)', 'mcp(six/*)', 'mcp(far/*)', 'mcp(port/*)']
  - allow: ['mcp(other/*)', 'mcp(resolved/*)', 'mcp(wild/*)']
";

#[test]
fn a_service_is_reached_at_the_port_of_this_machine_that_the_policy_lists() {
    let service = ServiceFixture::new(POLICY, |request| request.plain(&["say"]));
    let servers = service.open(
        r#"{ "mcpServers": {
            "near": { "url": "http://127.0.0.1:4040/mcp", "headers": { "X-Key": "${KEY}" } },
            "named": { "url": "http://localhost:4041/mcp" },
            "six": { "url": "http://[::1]:4042/mcp" }
        } }"#,
    );
    assert_eq!(standings(&servers), ["near: ready", "named: ready", "six: ready"]);
    assert_eq!(service.call(&servers, "near", "say").unwrap()["content"][0]["text"], "said");
    let mut connected = service.connected();
    connected.sort();
    connected.dedup();
    assert_eq!(connected, ["127.0.0.1:4040", "127.0.0.1:4041", "[::1]:4042"]);
    let keyed = service.requests().into_iter().filter(|one| !one.header("x-key").is_empty());
    assert!(keyed.map(|one| one.header("host").to_owned()).all(|host| host == "127.0.0.1:4040"));
}

#[test]
fn nothing_else_of_this_machine_is_reached() {
    let service = ServiceFixture::new(POLICY, |request| request.plain(&["say"]));
    let servers = service.open(
        r#"{ "mcpServers": {
            "near": { "url": "http://127.0.0.1:4041/mcp" },
            "named": { "url": "http://127.0.0.1:4041/mcp" },
            "far": { "url": "http://127.0.0.1:4040/mcp" },
            "other": { "url": "http://127.0.0.2:4040/mcp" },
            "six": { "url": "http://[::1]:4040/mcp" },
            "resolved": { "url": "http://nearby.example:4040/mcp" },
            "wild": { "url": "http://localhost.example/mcp", "headers": { "X-Key": "${KEY}" } }
        } }"#,
    );
    let standings = standings(&servers);
    for (standing, wanted) in standings.iter().zip([
        "`http://127.0.0.1:4041` is on this machine, and `mcp.loopback` does not list it for `near`",
        "does not list it for `named`",
        "does not list it for `far`",
        "does not list it for `other`",
        "does not list it for `six`",
        "`nearby.example` resolves to 127.0.0.1, a loopback address",
        "unencrypted",
    ]) {
        assert!(standing.contains(wanted), "{wanted}: {standing}");
    }
    assert_eq!(service.connected(), [""; 0]);
}

#[test]
fn a_redirect_to_this_machine_is_not_followed() {
    let service = ServiceFixture::new(POLICY, |request| {
        let mut response = reply(307, "", String::new());
        let to = format!("http://127.0.0.1:4041{}", request.path);
        response.headers_mut().insert("location", to.parse().unwrap());
        response
    });
    let servers =
        service.open(r#"{ "mcpServers": { "near": { "url": "http://127.0.0.1:4040/" } } }"#);
    assert!(standings(&servers)[0].contains("redirects are not followed"));
    assert_eq!(service.connected(), ["127.0.0.1:4040"]);
}
