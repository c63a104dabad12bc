//! Reads `network` and `mcp`: the hosts that commands reach, the variables that servers are given
//! and the ports of this machine that they are at.

use crate::rule::LocatedPattern;
use crate::schema::{McpRules, NetworkRules};
use crate::settings::variables::SERVER_VARIABLE;
use crate::urls::pattern::UrlPattern;
use locum_files::rejection::Rejection;
use locum_files::section::Section;
use locum_files::shape::{AnyText, AtLeastOne, Located, MapOf, OneOrMany, ParsedText};

pub(super) fn network(section: &mut Section<'_>) -> NetworkRules {
    let about = "Hosts, with a port where it is not the usual one: `docs.rs`, \
                 `*.example.com:8443`, `http://example.com`.";
    let listed = section.key("allow", about, OneOrMany(HOST)).unwrap_or_default();
    let about = "The jobs whose commands may reach them; without it those of every run may.";
    let jobs = section.key("jobs", about, AtLeastOne(AnyText)).unwrap_or_default();
    NetworkRules { allow: listed.into_iter().map(LocatedPattern::from).collect(), jobs }
}

const HOST: Located<ParsedText<(UrlPattern, String)>> = Located(ParsedText {
    parse: |text| {
        let pattern = UrlPattern::parse(text)?;
        if pattern.has_path() {
            return Err(format!(
                "`{text}`: commands are held to hosts and ports; leave the path out"
            )
            .into());
        }
        if pattern.is_any_host() {
            let why = Rejection::from(format!("`{text}` lists no host"));
            return Err(why.hint("`commands: { network: open }` means every host"));
        }
        match pattern.forbidden() {
            Some(why) => Err(format!("`{text}` is never reached: {why}").into()),
            None => Ok((pattern, text.to_owned())),
        }
    },
    write: None,
    pattern: r"^(https?://)?[^/?#@\s]+/?(\*\*)?$",
    example: "docs.rs",
});

pub(super) fn mcp(section: &mut Section<'_>) -> McpRules {
    let about =
        "For a server, the environment variables that `${...}` in its definition may stand for.";
    let env = section.key("env", about, MapOf(OneOrMany(SERVER_VARIABLE))).unwrap_or_default();
    let about = "For a server that is a service on this machine, its ports: `127.0.0.1:4040`.";
    let ports = section.key("loopback", about, MapOf(OneOrMany(LOOPBACK))).unwrap_or_default();
    let located = |listed: Vec<_>| listed.into_iter().map(LocatedPattern::from).collect();
    let loopback = ports.into_iter().map(|(server, listed)| (server, located(listed))).collect();
    McpRules { env, loopback }
}

const LOOPBACK: Located<ParsedText<(UrlPattern, String)>> = Located(ParsedText {
    parse: |text| {
        let pattern = UrlPattern::parse(text)?;
        if pattern.is_loopback_port() {
            return Ok((pattern, text.to_owned()));
        }
        let why = Rejection::from(format!("`{text}` is no port of this machine"));
        Err(why.hint(
            "write address and port, such as `127.0.0.1:4040` or `localhost:4040`; other hosts \
             stand in `network.allow`",
        ))
    },
    write: None,
    pattern: r"^(https?://)?[^/?#@*\s]+:[0-9]+$",
    example: "127.0.0.1:4040",
});
