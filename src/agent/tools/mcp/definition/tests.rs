//! Definitions of servers: which are read, which refused, and how each fault is named.

use pretty_assertions::assert_eq;

use super::{ServerFile, plain_name};
use crate::tools::mcp::definition::endpoint::{HttpProtocol, ServerEndpoint};
use locum_base::secret::Secret;

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
        ("{command: x, headers: {A: b}}", "are for servers with a `url`"),
        ("{url: 'https://h.example', args: [a]}", "are for servers with a `command`"),
        ("{type: sse, command: x}", "`command` is for"),
        ("{type: ws, url: 'https://h.example'}", "it is `stdio`, `streamable-http` or `sse`"),
        ("{url: 'https://h.example', oauth: {clientId: x}}", "needs `client_id`, and"),
        ("{url: 'https://h.example', oauth: {client_secret_env: x}}", "needs `client_id`, and"),
        (
            "{url: 'https://h.example', oauth: {clientId: x, clientSecretEnv: 'a b'}}",
            "`client_secret_env` is the name of a variable",
        ),
        (
            "{url: 'https://h.example', oauth: {clientId: x, privateKeyEnv: '-----BEGIN'}}",
            "`private_key_env` is the name of a variable",
        ),
        ("{url: 'https://h.example', oauth: {privateKeyEnv: K}}", "needs `client_id`, and"),
        (
            "{url: 'https://h.example', oauth: {clientId: x, clientSecretEnv: K, privateKeyEnv: K}}",
            "by one of the two",
        ),
        (
            "{url: 'https://h.example', oauth: {clientId: x, clientSecretEnv: K, keyId: a}}",
            "are for `private_key_env`",
        ),
        (
            "{url: 'https://h.example', oauth: {clientId: x, privateKeyEnv: K, signingAlgorithm: \
             HS256}}",
            "cannot be `HS256`; it is one of `ES256`, `RS256`, `PS256`",
        ),
        (
            "{url: 'https://h.example', headers: {authorization: x}, oauth: {clientId: x, \
             clientSecretEnv: K}}",
            "one of the two",
        ),
        ("{command: x, oauth: {clientId: x, clientSecretEnv: K}}", "`headers` and `oauth` are for"),
        ("{url: 'https://h.example', oauth: x}", "must be a mapping"),
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
fn a_file_of_settings_may_hold_servers() {
    for (text, servers) in [
        ("{mcpServers: {a: {type: stdio, command: x, args: [], env: {}}}, allowedTools: []}", 1),
        ("{allowedTools: [], hasTrustDialogAccepted: true}", 0),
    ] {
        let file = ServerFile::parse(".kode.json", text);
        assert_eq!(
            (file.servers.len(), file.mistakes, file.warnings),
            (servers, Vec::new(), Vec::new()),
            "{text}"
        );
    }
    let file = ServerFile::parse(".kode.json", "{mcpServers: {a: {}}, theme: dark}");
    assert_eq!((file.servers.len(), file.mistakes.len(), file.warnings.len()), (0, 1, 0));
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

#[test]
fn a_service_speaks_as_its_type_says() {
    for (kind, expected) in [
        ("", HttpProtocol::Either),
        ("type: http, ", HttpProtocol::Streamable),
        ("type: streamable-http, ", HttpProtocol::Streamable),
        ("type: sse, ", HttpProtocol::Sse),
    ] {
        let text = format!("mcpServers: {{a: {{{kind}url: 'https://h.example'}}}}");
        let file = ServerFile::parse(".mcp.json", &text);
        let [server] = file.servers.as_slice() else { panic!("{text}: {:?}", file.mistakes) };
        let ServerEndpoint::Http { protocol, .. } = server.endpoint else { panic!("{text}") };
        assert_eq!(protocol, expected, "{text}");
    }
}

#[test]
fn a_client_that_signs_in_gets_its_secret_from_the_variable_it_names() {
    let text = "mcpServers: {a: {url: 'https://h.example', oauth: {clientId: 'ci-${env:NAME}', \
                clientSecretEnv: KEY, scopes: 'read write', callbackPort: 1}}}";
    let file = ServerFile::parse(".mcp.json", text);
    assert_eq!((file.mistakes.len(), file.warnings.len()), (0, 1), "{:?}", file.warnings);
    let filled = |known: &[(&str, &str)]| {
        let value = |name: &str| {
            known.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        file.servers[0].filled(&value)
    };
    let Ok(ServerEndpoint::Http { oauth: Some(client), .. }) =
        filled(&[("KEY", " secret\n"), ("NAME", "docs")])
    else {
        panic!("no client");
    };
    assert_eq!((client.id.as_str(), client.secret), ("ci-docs", Secret::new("secret")));
    assert_eq!(client.scopes, ["read", "write"]);
    assert_eq!(filled(&[("NAME", "docs")]), Err("`KEY` has no value".to_owned()));
    assert_eq!(filled(&[("NAME", "docs"), ("KEY", "")]), Err("`KEY` has no value".to_owned()));
}
