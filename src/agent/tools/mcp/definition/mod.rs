//! `ServerDefinition`: an MCP server as configuration files define it. Our own `config.yml` and the
//! files of other agents say the same in the same words.
//!
//! In: the text of a file, or settings. Out: definitions with file and line, mistakes and warnings.
//! Nothing is started, and no variable is looked up here: [`ServerDefinition::filled`] does it with
//! those the caller allows.

pub mod endpoint;
pub mod oauth;
mod variables;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::tools::mcp::definition::endpoint::{HttpProtocol, ServerEndpoint};
use crate::tools::mcp::definition::oauth::OauthSpec;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::{Diagnostics, nearest};
use locum_files::position::Position;
use locum_files::yaml::{MapEntry, YamlDocument, YamlNode, YamlValue};

/// Where a repository may define servers besides `.locum/config.yml`, the weaker first: a later
/// file's definition takes the place of an earlier one's.
pub const FILES: &[&str] =
    &[".mcprc", SETTINGS_FILE, ".mcp.json", ".kilocode/mcp.json", ".roo/mcp.json"];

/// The one of them that holds settings of another program besides, and perhaps no servers.
const SETTINGS_FILE: &str = ".kode.json";

/// Most servers of one run.
pub const SERVERS_LIMIT: usize = 50;

/// How long a request may take where a definition does not say.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long each request of a start may take where a definition does not say.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest a definition may say, in seconds.
const TIMEOUT_LIMIT_S: u64 = 3600;

/// Longest name of a server, in bytes.
const NAME_LIMIT_BYTES: usize = 100;

/// Keys of a server.
const KEYS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "oauth",
    "disabled",
    "timeout",
    "disabledTools",
    "alwaysAllow",
    "autoApprove",
    "watchPaths",
    "description",
];

/// What a user wrote about one server, before it is checked as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSpec {
    /// Kind of transport, where it is given.
    #[serde(rename = "type")]
    pub transport: Option<String>,
    /// Program that serves over its standard streams.
    pub command: Option<String>,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Variables it gets.
    pub env: BTreeMap<String, String>,
    /// The folder it runs in.
    pub cwd: Option<String>,
    /// Where it is reached.
    pub url: Option<String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Who signs in there.
    pub oauth: Option<OauthSpec>,
    /// Whether it is left alone.
    pub disabled: bool,
    /// Longest wait for an answer, in seconds.
    pub timeout: Option<u64>,
    /// Tools of it that are not offered.
    pub disabled_tools: Vec<String>,
}

/// An MCP server, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerDefinition {
    /// Its name in policies and tools: letters, digits, `-` and `_`.
    pub name: String,
    /// Where it is defined: `.mcp.json:3`.
    pub origin: String,
    /// How it is reached.
    pub endpoint: ServerEndpoint,
    /// Whether it is left alone.
    pub disabled: bool,
    /// Longest wait for an answer.
    pub timeout: Duration,
    /// Longest wait for each answer while it starts.
    pub start_timeout: Duration,
    /// Tools of it that are not offered.
    pub disabled_tools: Vec<String>,
}

impl ServerSpec {
    /// Checks a definition as a whole.
    ///
    /// # Errors
    /// A fragment that says what is wrong with it.
    pub fn check(self, name: &str, origin: &str) -> Result<ServerDefinition, String> {
        let plain = plain_name(name).ok_or_else(|| {
            format!(
                "`{name}` is no name: it needs a letter or digit, and at most {NAME_LIMIT_BYTES} \
                 bytes"
            )
        })?;
        let transport = self.transport.as_deref().map(str::to_ascii_lowercase);
        let protocol = match transport.as_deref() {
            None if self.command.is_some() => None,
            None => Some(HttpProtocol::Either),
            Some("stdio" | "local") => None,
            Some("http" | "streamable-http" | "streamablehttp" | "streamable_http" | "remote") => {
                Some(HttpProtocol::Streamable)
            }
            Some("sse") => Some(HttpProtocol::Sse),
            Some(other) => {
                return Err(format!(
                    "`type` cannot be `{other}`; it is `stdio`, `streamable-http` or `sse`"
                ));
            }
        };
        let signs_in = |key: &String| key.eq_ignore_ascii_case("authorization");
        let has_key = self.headers.keys().any(signs_in);
        let endpoint = match (self.command, self.url, protocol) {
            (Some(_), Some(_), _) => {
                return Err(
                    "it has `command` and `url`: a server is a program or an address".to_owned()
                );
            }
            (None, None, _) => return Err("it has neither `command` nor `url`".to_owned()),
            (Some(_), None, Some(_)) => return Err("`command` is for `type: stdio`".to_owned()),
            (None, Some(_), None) => return Err("`url` is for `type: streamable-http`".to_owned()),
            (Some(command), None, None) if self.headers.is_empty() && self.oauth.is_none() => {
                let words = std::iter::once(command).chain(self.args).collect();
                ServerEndpoint::Program { words, env: self.env, cwd: self.cwd }
            }
            (None, Some(_), Some(_)) if has_key && self.oauth.is_some() => {
                return Err(
                    "`oauth` brings the header `Authorization`; write one of the two".to_owned()
                );
            }
            (None, Some(url), Some(protocol))
                if self.args.is_empty() && self.env.is_empty() && self.cwd.is_none() =>
            {
                let oauth = self.oauth.map(OauthSpec::check).transpose()?;
                ServerEndpoint::Http { url, headers: self.headers, protocol, oauth }
            }
            (Some(_), None, None) => {
                return Err("`headers` and `oauth` are for servers with a `url`".to_owned());
            }
            (None, Some(_), Some(_)) => {
                return Err("`args`, `env` and `cwd` are for servers with a `command`".to_owned());
            }
        };
        let timeout =
            self.timeout.map(|seconds| Duration::from_secs(seconds.clamp(1, TIMEOUT_LIMIT_S)));
        Ok(ServerDefinition {
            name: plain,
            origin: origin.to_owned(),
            endpoint,
            disabled: self.disabled,
            timeout: timeout.unwrap_or(TIMEOUT),
            start_timeout: timeout.unwrap_or(START_TIMEOUT),
            disabled_tools: self.disabled_tools,
        })
    }
}

impl ServerDefinition {
    /// Returns how it is reached with every variable filled in.
    ///
    /// # Errors
    /// A fragment that names a variable for which `value` has no answer.
    pub fn filled(&self, value: &dyn Fn(&str) -> Option<String>) -> Result<ServerEndpoint, String> {
        self.endpoint.filled(value)
    }
}

/// Returns the name a server has in policies and tools: blanks are `_`, other letters than those of
/// ASCII, digits, `-` and `_` are left out.
pub fn plain_name(name: &str) -> Option<String> {
    let plain: String = name
        .trim()
        .chars()
        .map(|letter| if letter.is_whitespace() { '_' } else { letter })
        .collect();
    let plain: String = plain
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
        .collect();
    // Two of them part server and tool in the names that models see.
    let plain = plain.split("--").filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let fits = plain.chars().any(|letter| letter.is_ascii_alphanumeric())
        && plain.len() <= NAME_LIMIT_BYTES;
    fits.then_some(plain)
}

/// What one file defines.
#[derive(Clone, Debug, Default)]
pub struct ServerFile {
    /// Its servers, by name.
    pub servers: Vec<ServerDefinition>,
    /// What is wrong with it; a server with a mistake is left out.
    pub mistakes: Vec<Diagnostic>,
    /// Which part of it has no effect.
    pub warnings: Vec<Diagnostic>,
}

impl ServerFile {
    /// Reads a file: `mcpServers` with the servers by name, or (`.mcprc`) the servers alone.
    pub fn parse(origin: &str, text: &str) -> Self {
        let document = YamlDocument::parse(text);
        let mut reading = ServerFileReader {
            origin,
            mistakes: Diagnostics(document.mistakes),
            warnings: Diagnostics::default(),
            servers: Vec::new(),
        };
        match &document.root {
            Some(root) => reading.file(root),
            None if reading.mistakes.0.is_empty() => {
                reading.mistakes.add(Position::default(), "the file is empty")
            }
            None => {}
        }
        let ServerFileReader { mistakes, warnings, servers, .. } = reading;
        Self { servers, mistakes: mistakes.finish(text), warnings: warnings.finish(text) }
    }
}

struct ServerFileReader<'f> {
    origin: &'f str,
    mistakes: Diagnostics,
    warnings: Diagnostics,
    servers: Vec<ServerDefinition>,
}

impl ServerFileReader<'_> {
    fn file(&mut self, root: &YamlNode) {
        let Some(entries) = root.entries() else {
            return self.mistakes.wanted(root, "the file", "a mapping").unwrap_or_default();
        };
        let is_flat = self.origin.ends_with(".mcprc") && root.get("mcpServers").is_none();
        if is_flat {
            return self.servers(entries);
        }
        let is_settings = self.origin.ends_with(SETTINGS_FILE);
        match root.get("mcpServers") {
            None if is_settings => {}
            None => self.mistakes.add_with_hint(
                root.place,
                "`mcpServers` is missing",
                "it holds the servers by name",
            ),
            Some(node) => match node.entries() {
                Some(servers) => self.servers(servers),
                None => self.mistakes.wanted(node, "mcpServers", "a mapping").unwrap_or_default(),
            },
        }
        let is_known = |entry: &&MapEntry| {
            is_settings || matches!(entry.key.as_str(), "mcpServers" | "$schema")
        };
        for entry in entries.iter().filter(|entry| !is_known(entry)) {
            self.warnings.add(entry.key_place, format!("`{}` has no effect", entry.key));
        }
    }

    fn servers(&mut self, entries: &[MapEntry]) {
        if entries.len() > SERVERS_LIMIT {
            self.mistakes.add(
                Position::default(),
                format!("{} servers, {SERVERS_LIMIT} at most", entries.len()),
            );
        }
        for entry in entries.iter().take(SERVERS_LIMIT) {
            let Some(spec) = self.spec(entry) else { continue };
            let origin = format!("{}:{}", self.origin, entry.key_place.line);
            match spec.check(&entry.key, &origin) {
                Ok(server) if self.servers.iter().any(|other| other.name == server.name) => {
                    self.mistakes.add(
                        entry.key_place,
                        format!("another server is called `{}` too", server.name),
                    );
                }
                Ok(server) => self.servers.push(server),
                Err(wrong) => {
                    self.mistakes.add(entry.key_place, format!("server `{}`: {wrong}", entry.key))
                }
            }
        }
    }

    /// Reads one server; `None` when a value of it is of the wrong kind.
    fn spec(&mut self, server: &MapEntry) -> Option<ServerSpec> {
        let before = self.mistakes.0.len();
        let Some(entries) = server.node.entries() else {
            return self.mistakes.wanted(&server.node, &server.key, "a mapping");
        };
        let mut spec = ServerSpec::default();
        for MapEntry { key, key_place, node } in entries {
            match key.as_str() {
                "type" => spec.transport = self.mistakes.text(node, key),
                "command" => spec.command = self.command(node, &mut spec.args),
                "args" => {
                    let more = self.texts(node, key);
                    spec.args.extend(more);
                }
                "env" => spec.env = self.pairs(node, key),
                "cwd" => spec.cwd = self.mistakes.text(node, key),
                "url" => spec.url = self.mistakes.text(node, key),
                "headers" => spec.headers = self.pairs(node, key),
                "oauth" => spec.oauth = self.oauth(node),
                "disabled" => spec.disabled = self.mistakes.flag(node, key).unwrap_or_default(),
                "timeout" => spec.timeout = self.timeout(node),
                "disabledTools" => spec.disabled_tools = self.texts(node, key),
                // The policy decides who may call what, and files are not watched here.
                "alwaysAllow" | "autoApprove" | "watchPaths" | "description" => {}
                _ => {
                    let near = nearest(key, KEYS).map(|near| format!("did you mean `{near}`?"));
                    let warning = Diagnostic {
                        hint: near,
                        ..Diagnostic::new(
                            *key_place,
                            format!("`{key}` of `{}` has no effect", server.key),
                        )
                    };
                    self.warnings.0.push(warning);
                }
            }
        }
        (self.mistakes.0.len() == before).then_some(spec)
    }

    /// Reads the program; written as a list, its arguments with it.
    fn command(&mut self, node: &YamlNode, args: &mut Vec<String>) -> Option<String> {
        if node.list().is_none() {
            return self.mistakes.text(node, "command");
        }
        let mut words = self.texts(node, "command").into_iter();
        let program = words.next();
        args.splice(0..0, words);
        if program.is_none() {
            self.mistakes.add(node.place, "`command` is empty");
        }
        program
    }

    /// Reads who signs in, in the words of other agents or in our own.
    fn oauth(&mut self, node: &YamlNode) -> Option<OauthSpec> {
        let Some(entries) = node.entries() else {
            return self.mistakes.wanted(node, "oauth", "a mapping");
        };
        let mut spec = OauthSpec::default();
        for MapEntry { key, key_place, node } in entries {
            match key.as_str() {
                "clientId" | "client_id" => spec.client_id = self.mistakes.text(node, key),
                "clientSecretEnv" | "client_secret_env" => {
                    spec.client_secret_env = self.mistakes.text(node, key);
                }
                "privateKeyEnv" | "private_key_env" => {
                    spec.private_key_env = self.mistakes.text(node, key);
                }
                "keyId" | "key_id" => spec.key_id = self.mistakes.text(node, key),
                "signingAlgorithm" | "signing_algorithm" => {
                    spec.signing_algorithm = self.mistakes.text(node, key);
                }
                "issuer" => spec.issuer = self.mistakes.text(node, key),
                "scopes" | "scope" if node.list().is_none() => {
                    let scopes = self.mistakes.text(node, key).unwrap_or_default();
                    spec.scopes = scopes.split_whitespace().map(str::to_owned).collect();
                }
                "scopes" | "scope" => spec.scopes = self.texts(node, key),
                _ => self.warnings.add(*key_place, format!("`{key}` of `oauth` has no effect")),
            }
        }
        Some(spec)
    }

    fn timeout(&mut self, node: &YamlNode) -> Option<u64> {
        let seconds = self.mistakes.count(node, "timeout")?;
        if !(1..=TIMEOUT_LIMIT_S).contains(&seconds) {
            self.warnings.add(
                node.place,
                format!(
                    "`timeout` is in seconds, from 1 to {TIMEOUT_LIMIT_S}; the nearer of the two \
                     counts"
                ),
            );
        }
        Some(seconds)
    }

    fn texts(&mut self, node: &YamlNode, what: &str) -> Vec<String> {
        let Some(items) = node.list() else {
            return self.mistakes.wanted(node, what, "a list of texts").unwrap_or_default();
        };
        items.iter().filter_map(|item| self.scalar(item, what)).collect()
    }

    fn pairs(&mut self, node: &YamlNode, what: &str) -> BTreeMap<String, String> {
        let Some(entries) = node.entries() else {
            return self.mistakes.wanted(node, what, "a mapping").unwrap_or_default();
        };
        entries
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), self.scalar(&entry.node, &entry.key)?)))
            .collect()
    }

    /// Numbers and flags are what programs get as text.
    fn scalar(&mut self, node: &YamlNode, what: &str) -> Option<String> {
        match &node.value {
            YamlValue::Text(text) | YamlValue::Number(text) => Some(text.clone()),
            YamlValue::Bool(flag) => Some(flag.to_string()),
            YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => {
                self.mistakes.wanted(node, what, "text")
            }
        }
    }
}

#[cfg(test)]
mod tests;
