//! `use_mcp_tool`: calls a tool of an MCP server, under its own name (`mcp--time--now`) or with
//! server, tool and arguments.
//!
//! In: what a model wrote. Out: a call of a tool that was listed when the run began, with arguments
//! that fit its schema; then the server's answer as data. Arguments that hold a secret are not
//! sent.

use serde_json::{Map, Value, json};

use crate::tools::aliases::decisive::TRIED_OUT;
use crate::tools::arguments::{CallFields, known};
use crate::tools::dispatch::{self, CheckedCall};
use crate::tools::mcp::catalogue::NameLikeness;
use crate::tools::mcp::servers::ServerFailure;
use crate::tools::mcp::{content, schema};
use crate::tools::peer_words::PeerWords;
use crate::tools::shown_text::shown_name;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::chat::ToolCall;
use locum_base::text::code_list;
use locum_base::tool::{self, ToolName};
use locum_modes::prompts::servers::{OfferedServer, OfferedTool};
use locum_policy::Permit;
use locum_policy::intent::Intent;

/// A call of a server's tool about to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct UseMcpTool {
    server: String,
    tool: String,
    arguments: Value,
}

impl Tool for UseMcpTool {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "Call a tool of an MCP server.";
    const REQUIRED: &'static [&'static str] = &["server_name", "tool_name"];
    const PEERS: PeerWords = PeerWords {
        renames: &[&[
            ("server", "server_name"),
            ("tool", "tool_name"),
            ("args", "arguments"),
            ("params", "arguments"),
            ("parameters", "arguments"),
            ("input", "arguments"),
        ]],
        decisive: &[TRIED_OUT],
        ..PeerWords::NONE
    };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::Servers);
    const ANSWERS: AnswerTraits =
        AnswerTraits { shortened: true, from_outside: true, numbers_count: true };

    fn properties() -> Value {
        json!({
            "server_name": { "type": "string" },
            "tool_name": { "type": "string" },
            "arguments": { "type": ["object", "null"], "description": "What the tool takes" }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let offered = context.servers.map(|servers| servers.offered());
        let call = if arguments.name() == ToolName::UseMcpTool.as_str() {
            let server = arguments.words("server_name", "the server's name")?;
            let tool = arguments.words("tool_name", "the tool's name, as the server has it")?;
            let given = arguments.object("arguments", "what the tool takes")?.into_fields();
            arguments.finish()?;
            Self {
                server: server.trim().to_owned(),
                tool: tool.trim().to_owned(),
                arguments: Value::Object(given),
            }
        } else {
            if let Ok((server, _)) = named(arguments.name(), None) {
                refuse_absent(&server, context)?;
            }
            let (server, tool) = named(arguments.name(), offered.as_deref())?;
            Self { server, tool, arguments: Value::Object(arguments.into_fields()) }
        };
        let Some(offered) = offered else { return call.plain() };
        refuse_absent(&call.server, context)?;
        let tool = find(&call, &offered)?;
        let call = Self { arguments: without_nulls(&tool.schema, call.arguments), ..call };
        if let Some(wrong) = schema::mismatch(&tool.schema, &call.arguments) {
            return Err(CallError(format!(
                "The arguments of `{}` do not fit: {wrong}.",
                tool.called
            )));
        }
        if context.run.redactor.finds_secret(&call.arguments.to_string()) {
            return Err(CallError(
                "The arguments hold a secret, or what looks exactly like one. The tool was not \
                 called."
                    .to_owned(),
            ));
        }
        Ok(call)
    }

    fn intents(&self) -> Vec<Intent> {
        vec![self.intent()]
    }

    fn headline(&self) -> String {
        format!("call {}", self.intent())
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let params = json!({ "name": self.tool, "arguments": self.arguments });
        let answer = ask(permit, &self.intent(), ("tools/call", &params), context).await;
        Ok(observed(&self.server, answer, context, content::of_call))
    }
}

impl UseMcpTool {
    /// Returns what the policy is asked.
    pub fn intent(&self) -> Intent {
        Intent::Mcp { server: self.server.clone(), tool: self.tool.clone() }
    }

    /// Where no server is started, as when a policy is asked, a call is known by its names alone.
    fn plain(self) -> Result<Self, CallError> {
        let wrong = |text: &String| {
            text.is_empty() || text.contains('/') || text.chars().any(char::is_whitespace)
        };
        if wrong(&self.server) || wrong(&self.tool) {
            return Err(CallError(format!(
                "`{}` and `{}` are no names of a server and its tool.",
                shown_name(&self.server),
                shown_name(&self.tool)
            )));
        }
        Ok(self)
    }
}

/// Asks a server for what a permit covers.
///
/// # Errors
/// A sentence for the model when the server did not answer as it should, with what it said.
pub(super) async fn ask(
    permit: &Permit<CheckedCall>,
    asked: &Intent,
    (method, params): (&str, &Value),
    context: ToolContext<'_>,
) -> Result<Value, CallError> {
    let Some(servers) = context.servers else {
        return Err(CallError("There are no MCP servers here.".to_owned()));
    };
    let answer = servers.ask(permit, asked, method, params).await;
    answer.map_err(|failure| match asked {
        Intent::Mcp { server, .. } => worded(server, failure),
        _ => CallError(failure.sentence),
    })
}

/// Returns a failure as the model reads it: what the server said is data.
fn worded(server: &str, failure: ServerFailure) -> CallError {
    let ServerFailure { sentence, said } = failure;
    if said.is_empty() {
        return CallError(sentence);
    }
    CallError(format!("{sentence}\n{}", content::material(server, &said)))
}

/// Refuses a call of a server that is defined and not there, with the reason.
///
/// # Errors
/// A sentence for the model.
pub(super) fn refuse_absent(server: &str, context: ToolContext<'_>) -> Result<(), CallError> {
    let absent = context.servers.and_then(|servers| servers.why_absent(server));
    absent.map_or(Ok(()), |failure| Err(worded(server, failure)))
}

/// Returns what came of a request to a server, with what the server wrote.
pub(super) fn observed(
    server: &str,
    answer: Result<Value, CallError>,
    context: ToolContext<'_>,
    render: impl FnOnce(&str, &Value, ToolContext<'_>) -> Observation,
) -> Observation {
    let observation = match answer {
        Ok(value) => render(server, &value, context),
        Err(error) => Observation::failed(error.0),
    };
    match context.servers.map_or(Ok(None), |servers| servers.changes(server)) {
        Ok(layered) => Observation { layered: layered.map(Box::new), ..observation },
        Err(error) => Observation { unjudged: Some(error.to_string()), ..observation },
    }
}

/// Returns the server that a call asks; `None` where it asks none.
pub(crate) fn server_of(call: &ToolCall, offered: &[OfferedServer]) -> Option<String> {
    let name = call.name.trim();
    match ToolName::find(tool::resolve(name))? {
        ToolName::UseMcpTool if name != ToolName::UseMcpTool.as_str() => {
            let (server, _) = named(name, Some(offered)).or_else(|_| named(name, None)).ok()?;
            Some(server)
        }
        ToolName::UseMcpTool | ToolName::AccessMcpResource => {
            let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
            Some(arguments.get("server_name")?.as_str()?.trim().to_owned())
        }
        // A slash command may be a prompt.
        ToolName::GetMcpPrompt | ToolName::RunSlashCommand => {
            let is_prompt = dispatch::meant(call) == Some(ToolName::GetMcpPrompt);
            let fields = is_prompt.then(|| dispatch::mapped(call))?;
            Some(fields.get("server_name")?.as_str()?.trim().to_owned())
        }
        _ => None,
    }
}

/// Reads server and tool off a name such as `mcp--time--now`.
fn named(name: &str, offered: Option<&[OfferedServer]>) -> Result<(String, String), CallError> {
    if let Some(offered) = offered {
        let tools: Vec<(&OfferedServer, &OfferedTool)> = offered
            .iter()
            .flat_map(|server| server.tools.iter().map(move |tool| (server, tool)))
            .collect();
        let names = |tools: &[(&OfferedServer, &OfferedTool)]| -> Vec<String> {
            tools.iter().map(|(_, tool)| tool.called.clone()).collect()
        };
        let found = NameLikeness::ALL.iter().map(|likeness| -> Vec<_> {
            tools.iter().copied().filter(|(_, tool)| likeness.holds(&tool.called, name)).collect()
        });
        let found = found.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        return match found.as_slice() {
            [(server, tool)] => Ok((server.name.clone(), tool.name.clone())),
            [] => {
                let all = names(&tools);
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                let known = known(name, &all, "");
                Err(CallError(format!("There is no tool `{}`. {known}", shown_name(name))))
            }
            several => Err(CallError(format!(
                "`{name}` can mean several tools: {}. Call one by its name.",
                code_list(names(several))
            ))),
        };
    }
    let rest = name.strip_prefix("mcp--").or_else(|| name.strip_prefix("mcp__"));
    let split = rest.and_then(|rest| rest.split_once("--").or_else(|| rest.split_once("__")));
    let (server, tool) = split.ok_or_else(|| {
        let name = shown_name(name);
        CallError(format!("`{name}` is not of the form `mcp--server--tool`."))
    })?;
    Ok((server.to_owned(), tool.to_owned()))
}

/// Finds the tool of a call by names.
fn find<'o>(call: &UseMcpTool, offered: &'o [OfferedServer]) -> Result<&'o OfferedTool, CallError> {
    let Some(server) = offered.iter().find(|server| server.name == call.server) else {
        let names: Vec<&str> = offered.iter().map(|server| server.name.as_str()).collect();
        return Err(CallError(format!(
            "There is no MCP server `{}`. {}",
            shown_name(&call.server),
            known(&call.server, &names, "")
        )));
    };
    server.tools.iter().find(|tool| tool.name == call.tool).ok_or_else(|| {
        let names: Vec<&str> = server.tools.iter().map(|tool| tool.name.as_str()).collect();
        CallError(format!(
            "The MCP server `{}` has no tool `{}`. {}",
            server.name,
            shown_name(&call.tool),
            known(&call.tool, &names, "")
        ))
    })
}

/// Models write `null` for what they leave out; it goes unless the schema knows it.
fn without_nulls(schema: &Value, arguments: Value) -> Value {
    let Value::Object(fields) = arguments else { return arguments };
    let takes_null = |name: &str| {
        let of_field = schema.get("properties").and_then(|properties| properties.get(name));
        of_field.is_some_and(|of_field| schema::mismatch(of_field, &Value::Null).is_none())
    };
    Value::Object(
        fields
            .into_iter()
            .filter(|(name, value)| !value.is_null() || takes_null(name))
            .collect::<Map<_, _>>(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named;
    use crate::tools::mcp::catalogue::add_tools;
    use locum_modes::prompts::servers::OfferedServer;

    fn servers(servers: &[(&str, &[&str])]) -> Vec<OfferedServer> {
        let server = |(name, tools): &(&str, &[&str])| {
            let mut server = OfferedServer { name: (*name).to_owned(), ..OfferedServer::default() };
            let tools: Vec<_> = tools.iter().map(|tool| json!({ "name": tool })).collect();
            add_tools(name, &json!({ "tools": tools }), &mut server.tools);
            server
        };
        servers.iter().map(server).collect()
    }

    #[test]
    fn a_name_with_single_signs_means_the_only_tool_that_it_can_mean() {
        let offered = servers(&[("time", &["now"]), ("a", &["b_c", "d"]), ("a_b", &["c", "d"])]);
        let read = |name: &str| {
            named(name, Some(&offered)).map(|(server, tool)| format!("{server}/{tool}")).ok()
        };
        for (name, expected) in [
            ("mcp_time_now", Some("time/now")),
            ("mcp_a_d", Some("a/d")),
            ("mcp_a_b_d", Some("a_b/d")),
            ("mcp__a__b_c", Some("a/b_c")),
            ("mcp--a_b--c", Some("a_b/c")),
            // Of two servers.
            ("mcp_a_b_c", None),
            ("mcp_time", None),
            ("mcp_time_no", None),
            ("mcp_time_now_", Some("time/now")),
            ("mcp_", None),
        ] {
            assert_eq!(read(name).as_deref(), expected, "{name}");
        }
        let text = named("mcp_a_b_c", Some(&offered)).unwrap_err().0;
        let expected = "`mcp_a_b_c` can mean several tools: `mcp--a--b_c`, `mcp--a_b--c`. Call \
                        one by its name.";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_name_in_one_servers_own_words_is_not_taken_for_anothers() {
        let offered = servers(&[("a_b", &["c"]), ("a-b", &["c"])]);
        let read = |name: &str| named(name, Some(&offered)).map(|(server, _)| server).ok();
        assert_eq!(read("mcp--a_b--c").as_deref(), Some("a_b"));
        assert_eq!(read("mcp--a-b--c").as_deref(), Some("a-b"));
        assert_eq!(read("mcp__a_b__c"), None, "either can be meant");
    }

    #[test]
    fn where_no_server_is_known_single_signs_name_none() {
        let read = |name: &str| named(name, None).ok();
        let time = Some(("time".to_owned(), "now".to_owned()));
        assert_eq!([read("mcp--time--now"), read("mcp__time__now")], [time.clone(), time]);
        for name in ["mcp_time_now", "mcp_time__now", "mcp_"] {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
