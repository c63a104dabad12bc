//! `locum mcp add|remove`: one server of a JSON file is added or taken out; the others stay.
//!
//! In: flags. Out: the new text, checked as a run reads it, then written in one step or only shown.
//! Nothing is started: whether a run may is the policy's to say.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cli::inspected::InspectedRepository;
use crate::cli::mcp_args::{AddServerArgs, RemoveServerArgs, ServerFileArgs};
use crate::cli::modes_file::{replace_unchanged, show_change};
use crate::cli::output::Output;
use crate::cli::{CommandContext, ExitStatus};
use crate::run::error::RunError;
use crate::run::user::named_file;
use locum_agent::tools::mcp::definition::{self, ServerFile};
use locum_base::json::field;
use locum_base::secret::name::{Sureness, sureness};
use locum_policy::urls::WebUrl;

/// The key of such a file that holds the servers.
const SERVERS: &str = "mcpServers";

/// Adds a server.
///
/// # Errors
/// When there is one of this name, or the file has a mistake or would have one.
pub(super) fn add(
    args: &AddServerArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let definition = definition_of(args)?;
    let name = definition::plain_name(&args.name).ok_or_else(|| {
        RunError::usage("NAME", format!("`{}` is not the name of a server", args.name))
            .hint("use letters, digits, `-` and `_`")
    })?;
    let mut file = ServersFile::open(&args.file, context)?;
    for place in literal_secrets(&definition) {
        output.talk(format!(
            "warning: the value of `{place}` may be a secret, and {} is committed as it is; name a \
             variable in its place, as in `${{TOKEN}}`",
            file.name
        ));
    }
    let servers = file.servers()?;
    if servers.keys().any(|other| definition::plain_name(other).as_ref() == Some(&name)) {
        let hint = format!("take it out with `locum mcp remove {name}` first");
        let message = format!("there is a server `{name}` in this file");
        return Err(RunError::usage(file.name, message).hint(hint));
    }
    servers.insert(name.clone(), definition);
    file.end(&args.file, output)?;
    if !args.file.dry_run {
        output.line(format!("added server `{name}` to {}", file.name));
        output.talk(format!(
            "A run uses it where the policy allows its tools: `allow: \"mcp({name}/*)\"` (docs/mcp.md)."
        ));
    }
    Ok(ExitStatus::Done)
}

/// Takes a server out.
///
/// # Errors
/// When there is none of this name, or the file has a mistake.
pub(super) fn remove(
    args: &RemoveServerArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let mut file = ServersFile::open(&args.file, context)?;
    let servers = file.servers()?;
    let is_it = |other: &&String| {
        **other == args.name || definition::plain_name(other).as_ref() == Some(&args.name)
    };
    let Some(name) = servers.keys().find(is_it).cloned() else {
        let names: Vec<&str> = servers.keys().map(String::as_str).collect();
        let hint =
            format!("it has: {}", if names.is_empty() { "none".into() } else { names.join(", ") });
        let message = format!("there is no server `{}` in this file", args.name);
        return Err(RunError::usage(file.name, message).hint(hint));
    };
    servers.shift_remove(&name);
    file.end(&args.file, output)?;
    if !args.file.dry_run {
        output.line(format!("removed server `{name}` from {}", file.name));
    }
    Ok(ExitStatus::Done)
}

/// Returns a definition as files have it.
fn definition_of(args: &AddServerArgs) -> Result<Value, RunError> {
    let pairs = |flag: &str, separator: char, texts: &[String]| {
        let pair = |text: &String| {
            let (name, value) = text
                .split_once(separator)
                .ok_or_else(|| RunError::usage(flag, format!("`{text}` has no `{separator}`")))?;
            Ok((name.trim().to_owned(), json!(value.trim())))
        };
        texts.iter().map(pair).collect::<Result<Map<String, Value>, RunError>>()
    };
    let (env, headers) = (pairs("--env", '=', &args.env)?, pairs("--header", ':', &args.header)?);
    let mut definition = Map::new();
    let mut put = |key: &str, value: Value| {
        let is_empty = value.as_object().is_some_and(Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            definition.insert(key.to_owned(), value);
        }
    };
    match (&args.url, args.command.split_first()) {
        (Some(url), None) if env.is_empty() => {
            if let Some(problem) = WebUrl::parse(url).problem() {
                let message = format!("`{url}` is not the address of a service: {problem}");
                return Err(RunError::usage("--url", message));
            }
            put("type", json!("streamable-http"));
            put("url", json!(url));
            put("headers", Value::Object(headers));
        }
        (None, Some((program, arguments))) if headers.is_empty() => {
            put("command", json!(program));
            put("args", json!(arguments));
            put("env", Value::Object(env));
        }
        (Some(_), None) => {
            return Err(RunError::usage(
                "--env",
                "a service gets no variables; it gets `--header`",
            ));
        }
        (None, Some(_)) => {
            return Err(RunError::usage("--header", "a program gets no headers; it gets `--env`"));
        }
        (url, _) => {
            let hint = "`locum mcp add time -- mcp-server-time`, or \
                        `locum mcp add issues --url https://mcp.example.com/mcp`";
            let what = match url {
                Some(_) => "a server is a program or a service, and both are named",
                None => "name a program or a service",
            };
            return Err(RunError::usage("add", what).hint(hint));
        }
    }
    Ok(Value::Object(definition))
}

/// Returns the variables and headers of a definition whose names suggest a secret and whose values
/// name no variable.
fn literal_secrets(definition: &Value) -> Vec<String> {
    let suggests = |name: &str| {
        let name = name.to_ascii_uppercase().replace('-', "_");
        sureness(&name) == Sureness::Surely || matches!(name.as_str(), "AUTHORIZATION" | "COOKIE")
    };
    let is_literal = |value: &Value| value.as_str().is_some_and(|text| !text.contains("${"));
    let groups = ["env", "headers"].map(|group| field(definition, group));
    let pairs = groups.into_iter().filter_map(Value::as_object).flatten();
    let found = pairs.filter(|(name, value)| suggests(name) && is_literal(value));
    found.map(|(name, _)| name.clone()).collect()
}

/// A file that defines servers and is to be changed.
struct ServersFile {
    /// Its name in messages.
    name: String,
    path: PathBuf,
    before: String,
    root: Value,
}

impl ServersFile {
    /// Opens the file that flags name; one that is not there has no servers.
    fn open(args: &ServerFileArgs, context: &CommandContext) -> Result<Self, RunError> {
        let root = InspectedRepository::open(context, None)?.root().to_owned();
        let path = root.join(&args.file);
        let before = named_file(&path)?.map(|file| file.text).unwrap_or_default();
        let read =
            if before.trim().is_empty() { Ok(json!({})) } else { serde_json::from_str(&before) };
        let root: Value = read.map_err(|error| {
            RunError::usage(
                &args.file,
                format!("{}:{}: not JSON: {error}", error.line(), error.column()),
            )
        })?;
        Ok(Self { name: args.file.clone(), path, before, root })
    }

    /// Returns the servers of the file.
    fn servers(&mut self) -> Result<&mut Map<String, Value>, RunError> {
        if field(&self.root, SERVERS).is_null() && self.root.is_object() {
            locum_base::json::put(&mut self.root, SERVERS, json!({}));
        }
        let servers = self.root.get_mut(SERVERS).and_then(Value::as_object_mut);
        servers.ok_or_else(|| {
            RunError::usage(&self.name, format!("`{SERVERS}` is not a mapping of servers by name"))
        })
    }

    /// Checks the new text, then writes or shows it.
    fn end(&self, args: &ServerFileArgs, output: &mut Output) -> Result<(), RunError> {
        let text = serde_json::to_string_pretty(&self.root).map_err(RunError::internal)? + "\n";
        let read = ServerFile::parse(&self.name, &text);
        if !read.mistakes.is_empty() {
            return Err(RunError::file(&self.name, read.mistakes)
                .hint("not changed, because the file would have this mistake"));
        }
        if args.dry_run {
            show_change(&self.name, &self.before, &text, output);
            return Ok(());
        }
        replace_unchanged(&self.name, &self.path, (&self.before, &text))
    }
}
