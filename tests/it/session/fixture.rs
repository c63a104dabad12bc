//! A checkout with a journal folder beside it, and a run in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use locum_agent::env::RunEnv;
use locum_agent::search_engine::SearchEngine;
use locum_agent::session::event::{Event, JOURNAL_VERSION, JournalLine, SessionStart};
use locum_agent::session::id::SessionId;
use locum_agent::session::journal::Journal;
use locum_agent::session::messages::Inbox;
use locum_agent::session::model::{Fallback, RunModels, TaskModel};
use locum_agent::session::outcome::Outcome;
use locum_agent::session::parts::{CONCURRENT_READS, CheckTiming, SessionParts};
use locum_agent::session::run;
use locum_agent::session::state::SessionState;
use locum_agent::tools::hooks::HookDefinition;
use locum_base::secret::{Redactor, Secret};
use locum_models::Model;
use locum_models::profile::{CONDENSE_PERCENT, Price, ToolProtocol};
use locum_models::reply_bounds::ReplyBounds;
use locum_models::retry::RetryLimits;
use locum_models::scripted::ScriptedModel;
use locum_models::scripted::script::ModelScript;
use locum_models::tokens::Tokenizer;
use locum_modes::prompts::RepositoryInstructions;
use locum_modes::prompts::place::RunPlace;
use locum_modes::{ModeSet, builtin};
use locum_policy::Policy;
use locum_policy::intent::Facts;
use locum_policy::spending_limit::Remaining;
use locum_sandbox::Sandbox;
use locum_sandbox::network::Connector;
use locum_testing::clock::TestClock;
use locum_testing::repository::{commit_all, init};
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::repo::Repo;

pub(crate) const POLICY: &str = r#"
version: 1
modes: { default: code, allow: [orchestrator, architect, code, ask, debug, coordinator, review] }
rules:
  - allow: ["read(**)"]
  - allow: ["edit(src/**)", "edit(notes.md)", "command(touch:*)", "command(sh -c 'cp src/a.txt src/c.txt')", "command(sh -c 'cp src/a.txt src/secret.txt')", "command(sleep:*)", "command(./step.sh)", "command(false)"]
    modes: [code, debug]
  - allow: "edit(**/*.md)"
    modes: [architect]
  - hold: "edit(src/held.txt)"
    reason: a person looks at this one
  - deny: "edit(src/secret.txt)"
    reason: nobody changes this one
"#;

/// A checkout with one commit, and a folder for the journal.
pub(crate) struct Fixture {
    _folder: Option<tempfile::TempDir>,
    pub(crate) root: PathBuf,
    pub(crate) journal: PathBuf,
    pub(crate) policy: Policy,
    pub(crate) script: String,
    pub(crate) mode: String,
    pub(crate) minutes: Option<u32>,
    pub(crate) connector: Connector,
    /// The search engine that may be asked.
    pub(crate) search_engine: Option<SearchEngine>,
    pub(crate) browser: Option<PathBuf>,
    /// Tokens the model can take; no limit when absent.
    pub(crate) window: Option<u32>,
    pub(crate) condense_percent: Option<u32>,
    pub(crate) concurrent_reads: Option<usize>,
    /// What the model costs.
    pub(crate) price: Option<Price>,
    /// The models that may stand in for it.
    pub(crate) fallbacks: Vec<Fallback>,
    /// How often a request is sent at most.
    pub(crate) attempts: u32,
    /// How the model's tokens are estimated.
    pub(crate) tokenizer: Tokenizer,
    meanwhile: Option<Meanwhile>,
    /// The hooks of the trusted ref.
    pub(crate) hooks: Vec<HookDefinition>,
    pub(crate) inbox: Inbox,
}

/// What happens beside a run when it reaches an event.
type Meanwhile = Box<dyn Fn(&Event)>;

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) lines: Vec<JournalLine>,
}

impl Fixture {
    pub(crate) fn new(script: &str) -> Self {
        Self::with_policy(script, POLICY)
    }

    pub(crate) fn with_policy(script: &str, policy: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("checkout");
        let files = [
            ("src/a.txt", "one\ntwo\nthree\n"),
            ("src/secret.txt", "secret\n"),
            ("README.md", "# It\n"),
        ];
        for (path, text) in files {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        std::fs::write(root.join("step.sh"), "#!/bin/sh\necho stepped >> src/steps.txt\n").unwrap();
        std::fs::set_permissions(root.join("step.sh"), std::fs::Permissions::from_mode(0o755))
            .unwrap();
        commit_all(&init(&root), "first");
        Self { _folder: Some(folder), ..Self::of(root.parent().unwrap(), script, policy) }
    }

    /// The same for a checkout that was made before.
    pub(crate) fn of(folder: &Path, script: &str, policy: &str) -> Self {
        Self {
            root: folder.join("checkout"),
            journal: folder.join("session"),
            inbox: Inbox::of(&folder.join("session")),
            _folder: None,
            policy: Policy::parse(policy, "policy.yml").unwrap(),
            script: format!("version: 1\ntasks:\n{script}"),
            mode: "code".to_owned(),
            minutes: None,
            connector: Connector::default(),
            search_engine: None,
            browser: None,
            window: None,
            condense_percent: None,
            concurrent_reads: None,
            price: None,
            fallbacks: Vec::new(),
            attempts: 1,
            tokenizer: Tokenizer::Bytes,
            meanwhile: None,
            hooks: Vec::new(),
        }
    }

    pub(crate) fn in_mode(mut self, mode: &str) -> Self {
        self.mode = mode.to_owned();
        self
    }

    /// Lets commands write to the checkout itself: a session kept in the checkout cannot have a
    /// layer over it.
    pub(crate) fn without_layer(mut self) -> Self {
        self.journal = self.root.join(".git/session");
        self
    }

    /// Lets a person write a file of the checkout when an event is seen.
    pub(crate) fn meanwhile(self, when: fn(&Event) -> bool, written: (&str, &str)) -> Self {
        let (path, text) = (self.root.join(written.0), written.1.to_owned());
        self.watched(move |event| {
            if when(event) {
                std::fs::write(&path, &text).unwrap();
            }
        })
    }

    /// Calls a function at every event, before the run goes on.
    pub(crate) fn watched(mut self, watch: impl Fn(&Event) + 'static) -> Self {
        self.meanwhile = Some(Box::new(watch));
        self
    }

    pub(crate) fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }

    /// Every file of the checkout.
    pub(crate) fn tree(&self) -> BTreeMap<String, String> {
        let mut tree = BTreeMap::new();
        collect(&self.root, &self.root, &mut tree);
        tree
    }

    /// Runs the script from the start.
    pub(crate) fn run(&self) -> Ran {
        self.run_until(usize::MAX, Journal::create(&self.journal).unwrap(), None)
            .expect("the run was not killed")
    }

    /// Goes on after a kill.
    pub(crate) fn resume(&self) -> Ran {
        self.run_until(usize::MAX, Journal::resume(&self.journal).unwrap(), None)
            .expect("the run was not killed")
    }

    /// Goes on and is killed right after the journal has `lines` lines; `None` when it was.
    pub(crate) fn resume_killed_at(&self, lines: usize) -> Option<Ran> {
        self.run_until(lines, Journal::resume(&self.journal).unwrap(), None)
    }

    /// Runs and is killed right after the journal has `lines` lines; `None` when it was.
    pub(crate) fn run_killed_at(&self, lines: usize) -> Option<Ran> {
        self.run_until(lines, Journal::create(&self.journal).unwrap(), None)
    }

    /// Runs until `event` is seen, and is asked to stop then.
    pub(crate) fn run_cancelled_at(&self, event: fn(&Event) -> bool) -> Ran {
        self.run_until(usize::MAX, Journal::create(&self.journal).unwrap(), Some(event))
            .expect("the run was not killed")
    }

    fn run_until(
        &self,
        lines: usize,
        journal: Journal,
        cancel_at: Option<fn(&Event) -> bool>,
    ) -> Option<Ran> {
        let model = ScriptedModel::new(ModelScript::parse("script.yml", &self.script).unwrap());
        self.run_with(&model, lines, journal, cancel_at)
    }

    pub(crate) fn run_with(
        &self,
        model: &dyn Model,
        lines: usize,
        journal: Journal,
        cancel_at: Option<fn(&Event) -> bool>,
    ) -> Option<Ran> {
        let modes = ModeSet::merge([builtin::modes()]);
        let workspace = Workspace {
            checkout: Checkout::open(&self.root).unwrap(),
            repo: Repo::open(&self.root).unwrap(),
        };
        let env = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let redactor = Redactor::new([Secret::new("hunter2hunter2")]);
        let clock = TestClock::at(Timestamp::from_second(1_700_000_000).unwrap())
            .ticking(Duration::from_secs(1))
            .sleeping_at_most(Duration::from_secs(59));
        clock.advance(Duration::from_secs(journal.past().len() as u64));
        let mut budget = self.policy.settings().budget;
        budget.minutes = self.minutes.unwrap_or(budget.minutes);
        let facts = Facts { mode: self.mode.clone(), ..Facts::default() };
        let start = SessionStart {
            images: Vec::new(),
            earlier: None,
            version: JOURNAL_VERSION,
            id: SessionId::parse("0123456789abcdef").unwrap(),
            task: "Do the thing.\nAll of it.".to_owned(),
            message: "Do the thing.\nAll of it.".to_owned(),
            mode: self.mode.clone(),
            facts,
            budget,
            base: workspace.repo.commit_of("HEAD").unwrap(),
            policy_hash: self.policy.hash().to_owned(),
            models: ("script".to_owned(), "script".to_owned()),
            mode_models: std::collections::BTreeMap::new(),
            fork: None,
            condense_model: None,
            place: RunPlace::default(),
            caller: serde_json::Value::Null,
        };
        let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
        let (cancel, written) = (RefCell::new(Some(cancel)), RefCell::new(journal.past().len()));
        let watch = |line: &JournalLine, _: &SessionState| {
            let event = &line.event;
            *written.borrow_mut() += 1;
            assert!(*written.borrow() != lines, "killed");
            if let Some(meanwhile) = &self.meanwhile {
                meanwhile(event);
            }
            if cancel_at.is_some_and(|wanted| wanted(event)) {
                let _ = cancel.borrow_mut().take().map(|cancel| cancel.send(()));
            }
        };
        let never = cancel_at.is_none();
        let instructions = RepositoryInstructions {
            has_search_engine: self.search_engine.is_some(),
            has_browser: self.browser.is_some(),
            ..RepositoryInstructions::default()
        };
        let trusted = start.base.clone();
        let main = TaskModel {
            context_window: self.window.unwrap_or(u32::MAX),
            condense_percent: self.condense_percent.unwrap_or(CONDENSE_PERCENT),
            price: self.price,
            fallbacks: &self.fallbacks,
            tokenizer: self.tokenizer,
            ..alone(model)
        };
        let sandbox = Sandbox::prepare(&self.policy.settings().commands, &env).unwrap();
        let parts = SessionParts {
            memory: Default::default(),
            start,
            run: RunEnv {
                search_engine: self.search_engine.as_ref(),
                browser: self.browser.as_deref(),
                ..RunEnv::bare(&self.policy, &env, &sandbox, &redactor, &self.connector)
            },
            modes: &modes,
            instructions: &instructions,
            trusted: &trusted,
            review_base: None,
            concurrent_reads: self.concurrent_reads.unwrap_or(CONCURRENT_READS),
            models: RunModels {
                main,
                task: main,
                condense: None,
                own: BTreeMap::new(),
                experts: BTreeMap::from([("deep".to_owned(), main)]),
                image_model: None,
                retry: RetryLimits {
                    attempts: self.attempts,
                    base: Duration::ZERO,
                    longest: Duration::ZERO,
                    // Each look at the clock takes a second.
                    total: Duration::from_secs(60),
                },
            },
            remaining: Remaining::default(),
            workspace: &workspace,
            stands_for: None,
            checks: CheckTiming::default(),
            hooks: &self.hooks,
            servers: &locum_agent::tools::mcp::servers::McpServers::default(),
            inbox: &self.inbox,
            clock: &clock,
            cancelled: async move {
                if never || cancelled.await.is_err() {
                    std::future::pending().await
                }
            }
            .boxed(),
            watch: Box::new(watch),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let work = std::panic::AssertUnwindSafe(|| runtime.block_on(run(parts, journal)));
        match std::panic::catch_unwind(work) {
            Ok(outcome) => Some(Ran { outcome, lines: Journal::read(&self.journal).unwrap() }),
            Err(panic) if panic.downcast_ref::<&str>().is_some_and(|text| *text == "killed") => {
                None
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

/// A script of one task in any mode.
pub(crate) fn turns(turns: &str) -> String {
    let lines: String =
        turns.trim_matches('\n').lines().map(|line| format!("      {line}\n")).collect();
    format!("  - turns:\n{lines}")
}

impl Ran {
    /// The answers to the calls of a tool, in order.
    pub(crate) fn answers(&self, tool: &str) -> Vec<String> {
        let answer = |line: &JournalLine| match &line.event {
            Event::Answered { tool: name, observation, .. } if name == tool => {
                Some(observation.text.clone())
            }
            _other => None,
        };
        self.lines.iter().filter_map(answer).collect()
    }

    pub(crate) fn reason(&self) -> &str {
        self.outcome.reason.as_deref().unwrap_or_default()
    }

    pub(crate) fn word(&self) -> &'static str {
        self.outcome.word.as_str()
    }

    pub(crate) fn changed(&self) -> Vec<&str> {
        self.outcome.changes.iter().map(|change| change.path.as_str()).collect()
    }
}

fn collect(root: &Path, folder: &Path, tree: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != ".git") {
            collect(root, &path, tree);
        } else if path.is_file() {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            tree.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// A model that costs nothing, stands alone, sees images and has room for everything.
fn alone(model: &dyn Model) -> TaskModel<'_> {
    TaskModel {
        model,
        price: None,
        included_tools: &[],
        context_window: u32::MAX,
        condense_percent: CONDENSE_PERCENT,
        tool_protocol: ToolProtocol::Native,
        sees_images: true,
        tokenizer: Tokenizer::Bytes,
        reply: ReplyBounds::default(),
        fallbacks: &[],
    }
}
