//! `RunMachine`: what this machine has for a run: what is around commands, MCP servers, a search
//! engine and a browser. Nothing is started and no one is contacted.

use std::path::PathBuf;

use crate::config::environment::Environment;
use crate::config::settings::Settings;
use crate::config::source::Layer;
use crate::run::browser;
use crate::run::error::RunError;
use crate::run::run_request::RunRequest;
use crate::run::servers::ServerPlan;
use crate::run::settled::SettledRun;
use crate::run::trusted::TrustedConfig;
use locum_agent::search_engine::{SearchEngine, UrlAuthor};
use locum_policy::intent::Facts;
use locum_sandbox::Sandbox;
use locum_workspace::Workspace;

/// What this machine has for a run.
pub(super) struct RunMachine {
    /// What is around commands.
    pub(super) sandbox: Sandbox,
    /// What decisions depend on, with what the machine can hold.
    pub(super) facts: Facts,
    /// The MCP servers there may be.
    pub(super) servers: ServerPlan,
    /// The search engine that may be asked.
    pub(super) search_engine: Option<SearchEngine>,
    /// The browser that pages are opened in; `None` where there is none that a sandbox holds.
    pub(super) browser: Option<PathBuf>,
    /// Why a tool is not offered that the settings name, and why commands are not contained.
    pub(super) notes: Vec<String>,
}

impl RunMachine {
    /// Looks at it.
    ///
    /// # Errors
    /// When the sandbox cannot be prepared, or every mistake of the files that name servers.
    pub(super) fn look(
        request: &RunRequest,
        settled: &SettledRun,
        config: &TrustedConfig<'_>,
        workspace: &Workspace,
    ) -> Result<Self, RunError> {
        let environment = config.origin.environment;
        let SettledRun { policy, settings, .. } = settled;
        let root = workspace.checkout.root();
        let sandbox = Sandbox::prepare(&policy.settings().commands, environment.variables())
            .map_err(RunError::internal)?;
        let contains = policy.settings().commands.contains_scripts();
        let uncontained = contains.then(|| sandbox.uncontained(root)).flatten();
        let facts = Facts {
            mode: settled.first.slug.clone(),
            sandboxed: sandbox.holds(),
            contained: contains && uncontained.is_none(),
            ..request.facts.clone()
        };
        let sandbox = sandbox.with_hosts_of(policy, &facts);
        let server_files = config.origin.source.server_files()?;
        let servers = ServerPlan::make(settings, server_files, policy, environment, root)?;
        let (search_engine, unusable_engine) = search_engine(settings, environment);
        let (browser, no_browser) = browser::usable(
            (policy, &facts),
            || sandbox.holds(),
            || browser::installed(settings, environment),
        );
        let uncontained = uncontained.map(|why| {
            format!("commands are judged by their words, since nothing contains them here: {why}")
        });
        let notes = unusable_engine.into_iter().chain(no_browser).chain(uncontained).collect();
        Ok(Self { sandbox, facts, servers, search_engine, browser, notes })
    }
}

/// Returns the search engine that the settings name, or a note that says why it is not asked.
pub fn search_engine(
    settings: &Settings,
    environment: &Environment,
) -> (Option<SearchEngine>, Option<String>) {
    let is_of = |key: &str, layer| settings.source(key).is_some_and(|source| source.layer == layer);
    let (engine, url) = ("web_search.engine", "web_search.url");
    let url_by = if is_of(url, Layer::Repository) {
        UrlAuthor::Repository
    } else if is_of(engine, Layer::Repository)
        && [url, "web_search.api_key_env"].iter().any(|key| is_of(key, Layer::User))
    {
        UrlAuthor::RepositoryEngine
    } else {
        UrlAuthor::Person
    };
    match SearchEngine::find(&settings.values.web_search, environment.variables(), url_by) {
        Ok(engine) => (engine, None),
        Err(why) => (None, Some(format!("`web_search` is not offered: {why}"))),
    }
}
