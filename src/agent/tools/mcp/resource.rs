//! `access_mcp_resource`: reads a resource of an MCP server. In a policy it is
//! `mcp(SERVER/resource:ADDRESS)`.

use serde_json::{Value, json};

use crate::tools::arguments::{CallFields, known};
use crate::tools::dispatch::CheckedCall;
use crate::tools::mcp::call::{ask, observed};
use crate::tools::mcp::content;
use crate::tools::tool::{Tool, ToolEffect};
use crate::tools::{CallError, Observation, ToolContext};
use locum_policy::Permit;
use locum_policy::intent::Intent;
use locum_policy::pattern::RESOURCE;

/// Longest address of a resource, in bytes.
const URI_LIMIT_BYTES: usize = 1024;

/// A resource about to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessMcpResource {
    server: String,
    uri: String,
}

impl Tool for AccessMcpResource {
    const EFFECT: ToolEffect = ToolEffect::Runs;
    const DESCRIPTION: &'static str = "Read a resource of an MCP server.";
    const REQUIRED: &'static [&'static str] = &["server_name", "uri"];

    fn properties() -> Value {
        json!({
            "server_name": { "type": "string" },
            "uri": { "type": "string", "description": "The resource's address, as the server gives it" }
        })
    }

    fn parse(mut arguments: CallFields, context: ToolContext<'_>) -> Result<Self, CallError> {
        let server = arguments.words("server_name", "the server's name")?.trim().to_owned();
        let uri = arguments.words("uri", "the resource's address")?.trim().to_owned();
        arguments.finish()?;
        if uri.len() > URI_LIMIT_BYTES || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CallError(format!(
                "`uri` is not an address: at most {URI_LIMIT_BYTES} letters of ASCII, without blanks."
            )));
        }
        if let Some(offered) = context.servers.map(|servers| servers.offered()) {
            let names: Vec<&str> = offered
                .iter()
                .filter(|server| server.has_resources)
                .map(|server| server.name.as_str())
                .collect();
            if !names.contains(&server.as_str()) {
                return Err(CallError(format!(
                    "There is no MCP server `{server}` with resources. {}",
                    known(&server, &names, "")
                )));
            }
        }
        if context.run.redactor.finds_secret(&uri) {
            return Err(CallError(
                "The address holds a secret, or what looks exactly like one. It was not asked for."
                    .to_owned(),
            ));
        }
        Ok(Self { server, uri })
    }

    fn intents(&self) -> Vec<Intent> {
        vec![self.intent()]
    }

    fn headline(&self) -> String {
        format!("read {}", self.intent())
    }

    async fn perform(
        &self,
        permit: &Permit<CheckedCall>,
        context: ToolContext<'_>,
    ) -> Result<Observation, CallError> {
        let params = json!({ "uri": self.uri });
        let answer = ask(permit, &self.intent(), ("resources/read", &params), context).await;
        Ok(observed(&self.server, answer, context, content::of_resource))
    }
}

impl AccessMcpResource {
    /// Returns what the policy is asked.
    pub fn intent(&self) -> Intent {
        Intent::Mcp { server: self.server.clone(), tool: format!("{RESOURCE}{}", self.uri) }
    }
}
