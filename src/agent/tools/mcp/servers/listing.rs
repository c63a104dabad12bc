//! What a server has, asked when it begins: its tools, addresses of resources, prompts. Lists come
//! in pages, of which a bounded number is read.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::tools::mcp::catalogue::{self, PROMPTS_LIMIT, RESOURCES_SHOWN, TOOLS_LIMIT};
use crate::tools::mcp::connection::{McpConnection, ServerGreeting};
use crate::tools::mcp::definition::ServerDefinition;
use crate::tools::mcp::mcp_error::McpError;
use locum_base::text::counted;
use locum_modes::prompts::servers::OfferedServer;

/// Most pages of a list that are requested.
const PAGES_LIMIT: usize = 20;

/// Longest name of a page that is sent back, in bytes.
const CURSOR_LIMIT_BYTES: usize = 4 * 1024;

/// Whether more of a list is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListState {
    Open,
    Full,
}

/// What a server has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServerListing {
    pub(super) offered: OfferedServer,
    /// What of its tools is not offered, for people; `None` where all of them are.
    pub(super) left_out: Option<String>,
}

/// Whether a list was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListEnd {
    Whole,
    Cut,
}

/// Asks a server what it has.
pub(super) async fn list(
    connection: &mut McpConnection,
    definition: &ServerDefinition,
    greeting: ServerGreeting,
    patience: Duration,
) -> Result<ServerListing, McpError> {
    let name = definition.name.as_str();
    let mut offered = OfferedServer {
        name: name.to_owned(),
        has_resources: greeting.has_resources,
        ..OfferedServer::default()
    };
    let mut left_out = None;
    if greeting.has_tools {
        let (tools, mut unused) = (&mut offered.tools, 0);
        let end = pages(connection, "tools/list", patience, |page| {
            unused += catalogue::add_tools(name, page, tools);
            state(tools.len(), TOOLS_LIMIT)
        })
        .await?;
        left_out = missing_tools(end, unused);
        offered.tools.retain(|tool| !definition.disabled_tools.contains(&tool.name));
    }
    if greeting.has_resources {
        let uris = &mut offered.resources;
        let listed = pages(connection, "resources/list", patience, |page| {
            catalogue::add_resources(page, uris);
            state(uris.len(), RESOURCES_SHOWN)
        });
        unless_over(listed.await)?;
        let uris = &mut offered.templates;
        let listed = pages(connection, "resources/templates/list", patience, |page| {
            catalogue::add_templates(page, uris);
            state(uris.len(), RESOURCES_SHOWN)
        });
        unless_over(listed.await)?;
    }
    if greeting.has_prompts {
        let prompts = &mut offered.prompts;
        let listed = pages(connection, "prompts/list", patience, |page| {
            catalogue::add_prompts(page, prompts);
            state(prompts.len(), PROMPTS_LIMIT)
        });
        unless_over(listed.await)?;
    }
    Ok(ServerListing { offered, left_out })
}

/// Says which tools are not offered besides those that the definition disables.
fn missing_tools(end: ListEnd, unused: usize) -> Option<String> {
    let more = match end {
        ListEnd::Whole => None,
        ListEnd::Cut => Some(format!(
            "lists more tools than are looked at, which are those of {PAGES_LIMIT} pages and \
             {TOOLS_LIMIT} at most; the others are not offered"
        )),
    };
    let unused = (unused > 0).then(|| {
        let count = counted(unused, "tool");
        format!(
            "lists {count} with a name that is invalid or stands twice, or beyond the first \
             {TOOLS_LIMIT}, which the run does not have"
        )
    });
    match (more, unused) {
        (Some(more), Some(unused)) => Some(format!("{more}; {unused}")),
        (more, unused) => more.or(unused),
    }
}

fn state(known: usize, limit: usize) -> ListState {
    if known < limit { ListState::Open } else { ListState::Full }
}

/// What is only for the prompt may fail: a server that cannot list resources may have them.
fn unless_over(listed: Result<ListEnd, McpError>) -> Result<(), McpError> {
    match listed {
        Err(
            error @ (McpError::Over(_)
            | McpError::NoAnswer { .. }
            | McpError::Forgotten
            | McpError::Restarted),
        ) => Err(error),
        Ok(_) | Err(McpError::Told(_) | McpError::Status { .. } | McpError::TooLate(_)) => Ok(()),
    }
}

/// Reads a list page by page, until it ends, enough of it is known, or it goes in a circle.
async fn pages(
    connection: &mut McpConnection,
    method: &str,
    patience: Duration,
    mut take_in: impl FnMut(&Value) -> ListState,
) -> Result<ListEnd, McpError> {
    let mut params = json!({});
    let mut seen = BTreeSet::new();
    for _ in 0..PAGES_LIMIT {
        let page = connection.ask(method, &params, patience).await?;
        let state = take_in(&page);
        let next = page.get("nextCursor").and_then(Value::as_str);
        let next = next.filter(|next| (1..=CURSOR_LIMIT_BYTES).contains(&next.len()));
        match next {
            Some(_) if state == ListState::Full => return Ok(ListEnd::Cut),
            Some(next) if seen.insert(next.to_owned()) => {
                params = json!({ "cursor": next });
            }
            // It goes in a circle, or is over.
            Some(_) | None => return Ok(ListEnd::Whole),
        }
    }
    Ok(ListEnd::Cut)
}
