//! `get_mcp_prompt`: gets a prompt of an MCP server, also by its name as a slash command,
//! `/mcp:SERVER:PROMPT` or `/mcp__SERVER__PROMPT`. In a policy it is `mcp(SERVER/prompt:NAME)`.
//!
//! In: server, prompt and arguments, by name or in order. Out: the prompt's messages as data of
//! that server: they are somebody else's words, and no instruction of ours.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, known};
use crate::tools::dispatch::CheckedCall;
use crate::tools::mcp::call::{ask, observed, refuse_absent};
use crate::tools::mcp::content;
use crate::tools::peer_words::{PeerWords, SERVER_NAME};
use crate::tools::shown_text::shown_name;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_modes::prompts::commands::expand::words_of;
use locum_modes::prompts::servers::{OfferedPrompt, OfferedServer};
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_policy::pattern::PROMPT;

/// Longest arguments of a prompt together, in bytes.
const ARGUMENTS_LIMIT_BYTES: usize = 64 * 1024;

/// A prompt about to be got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetMcpPrompt {
    server: String,
    prompt: String,
    arguments: BTreeMap<String, String>,
}

impl Tool for GetMcpPrompt {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "Get a prompt of an MCP server.";
    const REQUIRED: &'static [&'static str] = &["server_name", "prompt_name"];
    const PEERS: PeerWords =
        PeerWords { renames: &[SERVER_NAME, &[("prompt", "prompt_name")]], ..PeerWords::NONE };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::Prompts);
    const ANSWERS: AnswerTraits =
        AnswerTraits { shortened: true, from_outside: true, ..AnswerTraits::PLAIN };

    fn properties() -> Value {
        json!({
            "server_name": { "type": "string" },
            "prompt_name": { "type": "string" },
            "arguments": { "type": ["object", "null"] },
            "args": { "type": ["string", "null"], "description": "Or in order" }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let server = arguments.words("server_name", "the server's name")?.trim().to_owned();
        let prompt = arguments.words("prompt_name", "the prompt's name")?.trim().to_owned();
        let named = arguments.object("arguments", "what it takes, by name")?.into_fields();
        let words = arguments.optional_text("args", "what it takes, in order")?;
        let words = words.unwrap_or_default();
        arguments.finish()?;
        if !named.is_empty() && !words.trim().is_empty() {
            return Err(CallError("Give `arguments` or `args`, not both.".to_owned()));
        }
        let mut given = BTreeMap::new();
        for (name, value) in named {
            let text = match value {
                Value::String(text) => text,
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null => continue,
                Value::Array(_) | Value::Object(_) => {
                    return Err(CallError(format!("The argument `{name}` has to be a text.")));
                }
            };
            given.insert(name, text);
        }
        if let Some(offered) = context.servers.map(|servers| servers.offered()) {
            refuse_absent(&server, context)?;
            let found = find(&server, &prompt, &offered)?;
            given.extend(in_order(found, &words)?);
            check(found, &given)?;
        }
        let length: usize = given.iter().map(|(name, text)| name.len() + text.len()).sum();
        if length > ARGUMENTS_LIMIT_BYTES {
            return Err(CallError(format!(
                "The arguments of a prompt have at most {ARGUMENTS_LIMIT_BYTES} bytes."
            )));
        }
        if context.run.redactor.finds_secret(&json!(given).to_string()) {
            return Err(CallError(
                "The arguments hold a secret, or what looks exactly like one. The prompt was not \
                 asked for."
                    .to_owned(),
            ));
        }
        Ok(Self { server, prompt, arguments: given })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![self.intent()]
    }

    fn headline(&self) -> String {
        format!("get {}", self.intent())
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let params = json!({ "name": self.prompt, "arguments": self.arguments });
        let answer = ask(permit, &self.intent(), ("prompts/get", &params), context).await;
        Ok(observed(&self.server, answer, context, content::of_prompt))
    }
}

impl GetMcpPrompt {
    fn intent(&self) -> Intent {
        Intent::Mcp { server: self.server.clone(), tool: format!("{PROMPT}{}", self.prompt) }
    }
}

/// Finds a prompt by the names of server and prompt.
fn find<'o>(
    server: &str,
    prompt: &str,
    offered: &'o [OfferedServer],
) -> Result<&'o OfferedPrompt, CallError> {
    let with_prompts = offered.iter().filter(|server| !server.prompts.is_empty());
    let Some(found) = with_prompts.clone().find(|other| other.name == server) else {
        let names: Vec<&str> = with_prompts.map(|server| server.name.as_str()).collect();
        let known = known(server, &names, "");
        let server = shown_name(server);
        return Err(CallError(format!("There is no MCP server `{server}` with prompts. {known}")));
    };
    found.prompts.iter().find(|other| other.name == prompt).ok_or_else(|| {
        let names: Vec<&str> = found.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        let known = known(prompt, &names, "");
        let prompt = shown_name(prompt);
        CallError(format!("The MCP server `{server}` has no prompt `{prompt}`. {known}"))
    })
}

/// Gives words to the arguments in their order; the last one takes what is left.
fn in_order(prompt: &OfferedPrompt, words: &str) -> Result<Vec<(String, String)>, CallError> {
    let words = words_of(words);
    let count = prompt.arguments.len();
    if count == 0 && !words.is_empty() {
        return Err(CallError(format!("The prompt `{}` takes no arguments.", prompt.name)));
    }
    let part = |at: usize| match (at + 1 == count, words.get(at..)) {
        (true, Some(rest)) => rest.join(" "),
        (false, Some([word, ..])) => word.clone(),
        (_, _) => String::new(),
    };
    let named = prompt.arguments.iter().enumerate();
    let given = named.map(|(at, argument)| (argument.name.clone(), part(at)));
    Ok(given.filter(|(_, text)| !text.is_empty()).collect())
}

/// Checks that what is needed is given, and nothing that is not known.
fn check(prompt: &OfferedPrompt, given: &BTreeMap<String, String>) -> Result<(), CallError> {
    let names: Vec<&str> = prompt.arguments.iter().map(|one| one.name.as_str()).collect();
    let wrong = |what: String| {
        Err(CallError(format!("{what} of the prompt `{}`. It takes: {names:?}.", prompt.name)))
    };
    if let Some(name) = given.keys().find(|name| !names.contains(&name.as_str())) {
        return wrong(format!("`{name}` is no argument"));
    }
    let needed =
        prompt.arguments.iter().find(|one| one.is_required && !given.contains_key(&one.name));
    match needed {
        Some(argument) => wrong(format!("`{}` is missing, an argument", argument.name)),
        None => Ok(()),
    }
}
