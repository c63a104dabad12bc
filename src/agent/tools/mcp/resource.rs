//! `access_mcp_resource`: reads a resource of an MCP server. In a policy it is
//! `mcp(SERVER/resource:ADDRESS)`. Other agents have tools that list resources: as a call without
//! an address, it names those that servers named when the run began and the policy does not deny.

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, known};
use crate::tools::dispatch::CheckedCall;
use crate::tools::mcp::call::{ask, observed, refuse_absent};
use crate::tools::mcp::catalogue::RESOURCES_SHOWN;
use crate::tools::mcp::content;
use crate::tools::peer_words::{PeerWords, SERVER_NAME};
use crate::tools::shown_text::shown_name;
use crate::tools::tool::{AnswerTraits, Tool, ToolEffect, ToolNeed};
use crate::tools::{CallError, Observation, ToolContext};
use locum_base::tool::ToolName;
use locum_modes::access;
use locum_modes::prompts::servers::listed_resources;
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_policy::pattern::RESOURCE;
use locum_policy::verdict::Decision;

/// Other agents' tools that list resources.
const LISTS: &[&str] =
    &["ListMcpResourcesTool", "list_mcp_resources", "list_mcp_resource_templates"];

/// Longest address of a resource, in bytes.
const URI_LIMIT_BYTES: usize = 1024;

/// A question about resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessMcpResource {
    /// One is about to be read.
    Read {
        /// Name of the server.
        server: String,
        /// The resource's address.
        uri: String,
    },
    /// Those of one server, or of all of them, are to be listed.
    List {
        /// Name of the server.
        server: Option<String>,
    },
}

impl Tool for AccessMcpResource {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "Read a resource of an MCP server.";
    const REQUIRED: &'static [&'static str] = &["server_name", "uri"];
    const PEERS: PeerWords = PeerWords {
        renames: &[SERVER_NAME],
        hook_names: &["ReadMcpResourceTool"],
        ..PeerWords::NONE
    };
    const NEEDS: Option<ToolNeed> = Some(ToolNeed::Resources);
    const ANSWERS: AnswerTraits =
        AnswerTraits { shortened: true, from_outside: true, numbers_count: true };

    fn properties() -> Value {
        json!({
            "server_name": { "type": "string" },
            "uri": { "type": "string", "description": "The resource's address, as the server gives it" }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        if LISTS.iter().any(|name| name.eq_ignore_ascii_case(arguments.name())) {
            let server = arguments.optional_text("server_name", "the server's name")?;
            arguments.finish()?;
            let server = server.map(|name| name.trim().to_owned());
            let server = server.filter(|name| !name.is_empty());
            if let Some(server) = &server {
                check_server(server, context)?;
            }
            return Ok(Self::List { server });
        }
        let server = arguments.words("server_name", "the server's name")?.trim().to_owned();
        let uri = arguments.words("uri", "the resource's address")?.trim().to_owned();
        arguments.finish()?;
        if uri.len() > URI_LIMIT_BYTES || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CallError(format!(
                "`uri` is not an address: at most {URI_LIMIT_BYTES} letters of ASCII, without blanks."
            )));
        }
        check_server(&server, context)?;
        if context.run.redactor.finds_secret(&uri) {
            return Err(CallError(
                "The address holds a secret, or what looks exactly like one. It was not asked for."
                    .to_owned(),
            ));
        }
        Ok(Self::Read { server, uri })
    }

    fn intents(&self) -> Vec<Intent> {
        match self {
            Self::Read { server, uri } => vec![intent(server, uri)],
            Self::List { .. } => vec![Intent::Session],
        }
    }

    fn headline(&self) -> String {
        match self {
            Self::Read { server, uri } => format!("read {}", intent(server, uri)),
            Self::List { server: Some(server) } => format!("list resources of {server}"),
            Self::List { server: None } => "list resources of MCP servers".to_owned(),
        }
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        match self {
            Self::Read { server, uri } => {
                let params = json!({ "uri": uri });
                let request = ("resources/read", &params);
                let answer = ask(permit, &intent(server, uri), request, context).await;
                Ok(observed(server, answer, context, content::of_resource))
            }
            Self::List { server } => Ok(Observation::said(list(server.as_deref(), context))),
        }
    }
}

/// Returns what the policy is asked.
fn intent(server: &str, uri: &str) -> Intent {
    Intent::Mcp { server: server.to_owned(), tool: format!("{RESOURCE}{uri}") }
}

/// Checks that a server has resources, where servers are started.
fn check_server(name: &str, context: ToolContext<'_>) -> Result<(), CallError> {
    refuse_absent(name, context)?;
    let Some(offered) = context.servers.map(|servers| servers.offered()) else { return Ok(()) };
    let names: Vec<&str> = offered
        .iter()
        .filter(|server| server.has_resources)
        .map(|server| server.name.as_str())
        .collect();
    if names.contains(&name) {
        return Ok(());
    }
    Err(CallError(format!(
        "There is no MCP server `{}` with resources. {}",
        shown_name(name),
        known(name, &names, "")
    )))
}

/// Returns the addresses that a task may ask for, of one server or of all of them.
fn list(server: Option<&str>, context: ToolContext<'_>) -> String {
    let mut offered = context.servers.map(|servers| servers.offered()).unwrap_or_default();
    offered.retain(|one| server.is_none_or(|name| one.name == name));
    for server in &mut offered {
        let may_read = |uri: &String| {
            let intent = intent(&server.name, uri);
            access::check_intent(context.mode, ToolName::AccessMcpResource, &intent).is_ok()
                && context.run.policy.decide(&intent, context.facts).decision != Decision::Deny
        };
        server.resources.retain(may_read);
        server.templates.retain(may_read);
    }
    let listed = listed_resources(&offered);
    if listed.is_empty() {
        return "No MCP server here has resources.".to_owned();
    }
    format!(
        "Resources that MCP servers named when the run began, {RESOURCES_SHOWN} of each at most; \
         `access_mcp_resource` reads one by its `uri`:\n{listed}"
    )
}
