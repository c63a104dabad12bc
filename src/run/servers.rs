//! The MCP servers of a run: from settings and files of the trusted ref to what may be started,
//! with the variables the policy gives each.
//! In: settings, files, the policy, the environment. Out: [`PlannedServer`]s by name, and values
//! that must stay secret. Nothing is started.

use std::path::Path;

use crate::config::environment::Environment;
use crate::config::settings::Settings;
use crate::run::error::RunError;
use locum_agent::tools::mcp::definition::endpoint::ServerEndpoint;
use locum_agent::tools::mcp::definition::{SERVERS_LIMIT, ServerDefinition, ServerFile};
use locum_agent::tools::mcp::servers::{McpServers, PlannedServer, ServerStatus};
use locum_base::secret::Secret;
use locum_modes::{ModeSet, ToolGroup};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_sandbox::env::holds_a_secret;

/// Servers that may be started, and the secret values they are given.
#[derive(Clone, Debug, Default)]
pub struct ServerPlan {
    /// The servers, by name.
    pub servers: Vec<PlannedServer>,
    /// Values of variables, headers and the like.
    pub secrets: Vec<Secret>,
}

impl ServerPlan {
    /// Puts definitions together: a later file's takes the place of an earlier one's, and the
    /// settings' of any. A file with mistakes gives the servers that have none.
    ///
    /// # Errors
    /// When a server of the settings is none.
    pub fn make(
        settings: &Settings,
        files: Vec<(String, ServerFile)>,
        policy: &Policy,
        environment: &Environment,
        root: &Path,
    ) -> Result<Self, RunError> {
        let mut definitions: Vec<ServerDefinition> = Vec::new();
        for (path, file) in files {
            if !file.mistakes.is_empty() {
                tracing::warn!(
                    file = path,
                    "some MCP servers have mistakes and are left out; list them with `locum mcp \
                     validate`"
                );
            }
            definitions.extend(file.servers);
        }
        definitions.extend(of_settings(settings)?);
        let mut plan = Self::default();
        for (at, definition) in definitions.iter().enumerate() {
            let replaced = definitions
                .get(at + 1..)
                .unwrap_or_default()
                .iter()
                .any(|later| later.name == definition.name);
            if !replaced && plan.servers.len() < SERVERS_LIMIT {
                plan.add(definition.clone(), policy, environment, root);
            }
        }
        plan.servers.sort_by(|one, other| one.definition.name.cmp(&other.definition.name));
        Ok(plan)
    }

    fn add(
        &mut self,
        definition: ServerDefinition,
        policy: &Policy,
        environment: &Environment,
        root: &Path,
    ) {
        let name = &definition.name;
        let given = policy.settings().mcp.env.get(name).map(Vec::as_slice).unwrap_or_default();
        let value = |variable: &str| match variable {
            "workspaceFolder" => root.to_str().map(str::to_owned),
            _ if given.iter().any(|known| known == variable) => {
                environment.get(variable).map(str::to_owned)
            }
            _ => None,
        };
        let endpoint = definition.filled(&value);
        self.secrets
            .extend(given.iter().filter_map(|variable| environment.get(variable)).map(Secret::new));
        if let Ok(
            ServerEndpoint::Program { env: pairs, .. }
            | ServerEndpoint::Http { headers: pairs, .. },
        ) = &endpoint
        {
            let hidden = pairs.iter().filter(|(name, _)| {
                holds_a_secret(name) || name.eq_ignore_ascii_case("authorization")
            });
            self.secrets.extend(hidden.map(|(_, value)| Secret::new(value.as_str())));
        }
        let hint =
            format!("list it in the policy, `mcp: {{ env: {{ {name}: [...] }} }}`, and set it");
        let endpoint = endpoint.map_err(|why| format!("{why}: {hint}"));
        self.servers.push(PlannedServer { definition, endpoint });
    }
}

fn of_settings(settings: &Settings) -> Result<Vec<ServerDefinition>, RunError> {
    let mut definitions = Vec::new();
    for (name, spec) in &settings.values.mcp {
        let start = format!("mcp.{name}.");
        let place = settings
            .set
            .iter()
            .find(|(key, _)| key.starts_with(&start))
            .map(|(_, set)| set.source.place.clone())
            .unwrap_or_default();
        let definition = spec
            .clone()
            .check(name, &place)
            .map_err(|wrong| RunError::usage(&place, format!("server `{name}`: {wrong}")))?;
        definitions.push(definition);
    }
    Ok(definitions)
}

/// Returns the circumstances of a run in each mode that may call tools of servers.
pub fn facts_of(policy: &Policy, modes: &ModeSet, facts: &Facts) -> Vec<Facts> {
    let runs = |slug: &String| policy.settings().modes.allow.contains(slug);
    let calls = modes.iter().filter(|mode| {
        runs(&mode.slug) && mode.groups.iter().any(|entry| entry.group == ToolGroup::Mcp)
    });
    calls.map(|mode| Facts { mode: mode.slug.clone(), ..facts.clone() }).collect()
}

/// Logs which servers did not start, and why.
pub fn log_missing(servers: &McpServers<'_>) {
    for (definition, instructions, _) in servers.all() {
        match instructions {
            ServerStatus::Ready | ServerStatus::Disabled => {}
            ServerStatus::Refused(why) => {
                tracing::info!(
                    server = definition.name,
                    why,
                    "MCP server not started: the policy refuses it"
                )
            }
            ServerStatus::Failed(why) => {
                tracing::warn!(server = definition.name, why, "MCP server failed to start")
            }
        }
    }
}
