//! `RunEnv`: what every effect of a run goes through, from the first message to the last command.
//!
//! In: what a run was prepared with. It is copied to whoever needs it: the session, its tools, the
//! MCP servers. What belongs to one task (its checkout, mode and facts) is not in here.

use std::collections::BTreeMap;
use std::path::Path;

use crate::embedder::Embedder;
use crate::search_engine::SearchEngine;
use locum_base::secret::Redactor;
use locum_policy::Policy;
use locum_sandbox::Sandbox;
use locum_sandbox::exec::tail::OutputTail;
use locum_sandbox::network::Connector;

/// What every effect of a run goes through; the same for all its tasks.
#[derive(Clone, Copy)]
pub struct RunEnv<'a> {
    /// Decides on every effect.
    pub policy: &'a Policy,
    /// The whole environment commands get.
    pub env: &'a BTreeMap<String, String>,
    /// Restricts what commands reach.
    pub sandbox: &'a Sandbox,
    /// Opens every outgoing connection.
    pub connector: &'a Connector,
    /// The search engine that may be asked; `None` where there is none.
    pub search_engine: Option<&'a SearchEngine>,
    /// The model that embeds texts; `None` where code is found by words alone.
    pub embedder: Option<&'a Embedder>,
    /// The browser that pages are opened in; `None` where there is none.
    pub browser: Option<&'a Path>,
    /// The folder for what is kept between runs; `None` where nothing is.
    pub state_folder: Option<&'a Path>,
    /// Takes secrets out of what models and maintainers see.
    pub redactor: &'a Redactor,
    /// Who follows the output of commands.
    pub tail: Option<&'a OutputTail>,
}

impl<'a> RunEnv<'a> {
    /// Without what a run may do without: a search engine, an embedding model, a browser, a place
    /// for what is kept, and whoever follows output.
    pub fn bare(
        policy: &'a Policy,
        env: &'a BTreeMap<String, String>,
        sandbox: &'a Sandbox,
        redactor: &'a Redactor,
        connector: &'a Connector,
    ) -> Self {
        Self {
            policy,
            env,
            sandbox,
            connector,
            search_engine: None,
            embedder: None,
            browser: None,
            state_folder: None,
            redactor,
            tail: None,
        }
    }
}
