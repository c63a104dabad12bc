//! Definitions of servers: which are read, which refused, and how each fault is named.

use pretty_assertions::assert_eq;

use super::{ServerEndpoint, ServerFile, plain_name};

fn mistakes_in(text: &str) -> Vec<String> {
    ServerFile::parse(".mcp.json", text)
        .mistakes
        .into_iter()
        .map(|mistake| format!("{}: {}", mistake.place, mistake.message))
        .collect()
}

#[test]
fn a_definition_says_one_way_and_what_belongs_to_it() {
    let text = "{\n\t\"mcpServers\": {\n\t\t\"a b\": { \"command\": [\"x\", \"-v\"], \"args\": [1], \"env\": { \"PORT\": 80 }, \"timeout\": 9999, \"alwaysAllow\": [\"y\"] },\n\t\t\"c\": { \"url\": \"https://h.example/mcp\", \"headers\": { \"A\": \"b\" }, \"odd\": 1 }\n\t}\n}";
    let file = ServerFile::parse(".mcp.json", text);
    assert!(file.mistakes.is_empty(), "{:?}", file.mistakes);
    let names: Vec<(&str, &str)> =
        file.servers.iter().map(|server| (server.name.as_str(), server.origin.as_str())).collect();
    assert_eq!(names, [("a_b", ".mcp.json:3"), ("c", ".mcp.json:4")]);
    assert!(
        matches!(&file.servers[0].endpoint, ServerEndpoint::Program { words, env, .. } if *words == ["x", "-v", "1"] && env["PORT"] == "80")
    );
    assert_eq!(file.servers[0].timeout.as_secs(), 3600);
    assert_eq!(file.warnings.len(), 2, "{:?}", file.warnings);
    for (server, wrong) in [
        ("{}", "neither `command` nor `url`"),
        ("{command: x, url: 'https://h.example'}", "`command` and `url`"),
        ("{command: x, headers: {A: b}}", "`headers` are for"),
        ("{url: 'https://h.example', args: [a]}", "are for servers with a `command`"),
        ("{type: sse, url: 'https://h.example'}", "is not spoken any more"),
        ("{type: stdio, url: 'https://h.example'}", "`url` is for"),
        ("{command: x, env: [a]}", "must be a mapping"),
    ] {
        let found = mistakes_in(&format!("mcpServers: {{a: {server}}}"));
        assert!(found.len() == 1 && found[0].contains(wrong), "{server}: {found:?}");
    }
    assert_eq!(mistakes_in("{}"), ["1:1: `mcpServers` is missing"]);
    assert_eq!(
        ServerFile::parse(".mcprc", "{a: {command: x}}").servers.len(),
        1,
        "`.mcprc` may hold the servers alone"
    );
}

#[test]
fn variables_are_those_that_are_given() {
    let text = "mcpServers: {a: {command: x, args: ['${KEY}', '${env:KEY}', '${NONE:-else}', \
                '$KEY']}, b: {command: '${OTHER}'}, c: {command: '${'}}";
    let file = ServerFile::parse(".mcp.json", text);
    let value = |name: &str| (name == "KEY").then(|| "given".to_owned());
    let words = ["x", "given", "given", "else", "$KEY"].map(str::to_owned).to_vec();
    assert_eq!(
        file.servers[0].filled(&value),
        Ok(ServerEndpoint::Program { words, env: [].into(), cwd: None })
    );
    assert_eq!(file.servers[1].filled(&value), Err("`${OTHER}` has no value".to_owned()));
    assert!(file.servers[2].filled(&value).is_err());
}

#[test]
fn names_are_plain() {
    for (name, plain) in [
        ("Figma AI", Some("Figma_AI")),
        ("a--b", Some("a-b")),
        ("@x/y.z", Some("xyz")),
        ("--", None),
        ("\u{202e}", None),
    ] {
        assert_eq!(plain_name(name).as_deref(), plain, "{name}");
    }
    assert_eq!(plain_name(&"x".repeat(101)), None);
}
