//! `PolicySpec`: the policy file as written, every key of it, with its defaults. Unknown keys are
//! errors.

pub mod events;
mod publish;
pub mod review;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::actors::Tier;
use crate::budget::Budget;
use crate::edit_command::EditCommand;
use crate::glob::PathGlob;
use crate::intent::{Facts, TriggerKind};
use crate::rule::LocatedPattern;
use crate::schema::events::{EventRule, RepairRules};
use crate::schema::review::ReviewRules;
use crate::spending_limit::SpendingLimits;
use crate::urls::pattern::UrlPattern;
use locum_files::diagnostic::Diagnostic;
use locum_files::fields::Diagnostics;

pub use publish::{CommitSigner, Notify, PublishAs, PublishForm, PublishForms, PublishRules};

/// A policy file's settings, checked; the rules are private to the policy.
#[derive(Clone, Debug, Default)]
pub struct PolicySpec {
    /// Who may start what.
    pub triggers: Triggers,
    /// Which modes may run and how they follow each other.
    pub modes: ModeRules,
    /// Sandbox, network, time and output of commands.
    pub commands: CommandLimits,
    /// How much of the network commands may reach where `commands.network` is `policy`.
    pub network: NetworkRules,
    /// What MCP servers are given.
    pub mcp: McpRules,
    /// What a run may spend.
    pub budget: Budget,
    /// What runs may spend together.
    pub spending_limits: SpendingLimits,
    /// What happens when a rule says hold.
    pub on_hold: OnHold,
    /// What happens when the model asks a question.
    pub questions: OnQuestion,
    /// What is published and how.
    pub publish: PublishRules,
    /// Which part of a review's findings becomes comments.
    pub review: ReviewRules,
    /// Who may see the source; `None` where the policy does not say, which counts as public unless
    /// the forge says otherwise.
    pub source: Option<SourceVisibility>,
}

/// How much of the network commands may reach, and in which runs.
#[derive(Clone, Debug, Default)]
pub struct NetworkRules {
    /// Hosts and ports: `docs.rs`, `*.example.com`, `http://example.com:8080`.
    pub allow: Vec<LocatedPattern<UrlPattern>>,
    /// The jobs whose commands reach them; empty where those of every run do.
    pub jobs: Vec<String>,
}

/// What MCP servers are given, by their names.
#[derive(Clone, Debug, Default)]
pub struct McpRules {
    /// The environment variables that a definition may refer to. Their values count as secrets.
    pub env: BTreeMap<String, Vec<String>>,
    /// The ports of this machine that a service may be at: `127.0.0.1:4040`.
    pub loopback: BTreeMap<String, Vec<LocatedPattern<UrlPattern>>>,
}

impl NetworkRules {
    /// Returns whether commands of a run of this job, or of none, reach the hosts.
    pub fn is_for(&self, job: Option<&str>) -> bool {
        self.jobs.is_empty() || job.is_some_and(|job| self.jobs.iter().any(|name| name == job))
    }
}

/// Who may see the source that a run reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceVisibility {
    /// Everyone: reading it reveals nothing.
    Public,
    /// Not everyone: it is worth taking.
    Private,
}

/// Who may start what. The default: maintainers, by `/locum` in a comment.
#[derive(Clone, Debug)]
pub struct Triggers {
    /// Comment commands; `None` when comments start nothing.
    pub comment: Option<CommentTrigger>,
    /// Labels; `None` when labels start nothing.
    pub label: Option<LabelTrigger>,
    /// Issues assigned to a login; `None` when that starts nothing.
    pub assign: Option<AssignTrigger>,
    /// Users that may start runs in the ways above whatever their tier is, by login.
    pub users: Vec<ListedUser>,
    /// Names of jobs that the schedule may start.
    pub schedule_jobs: Vec<String>,
    /// Whether an issue shows the jobs, and its boxes start them.
    pub dashboard: bool,
    /// Tiers that may start a run by `workflow_dispatch`, or a job by a box of the dashboard.
    pub dispatch_tiers: Vec<Tier>,
    /// What pull requests, pushes, failed checks and their like start, in the order of the file
    /// within each kind.
    pub events: Vec<EventRule>,
    /// How failed checks are repaired.
    pub repairs: RepairRules,
    /// Tiers that may approve or deny held calls.
    pub approve_tiers: Vec<Tier>,
    /// Bots that may start runs, by login. Never a wildcard.
    pub bots: Vec<String>,
    /// What a pull request from a fork may start.
    pub forks: Forks,
}

impl Triggers {
    /// Returns the word that commands begin with; empty where comments start nothing.
    pub fn prefix(&self) -> &str {
        self.comment.as_ref().map_or("", |comment| comment.prefix.as_str())
    }

    /// Returns the entries for one kind of event.
    pub fn rules_for(&self, kind: TriggerKind) -> impl Iterator<Item = &EventRule> {
        self.events.iter().filter(move |rule| rule.kind == kind)
    }

    /// Returns the tiers that may start a run by one kind of event.
    pub fn tiers_for(&self, kind: TriggerKind) -> impl Iterator<Item = Tier> {
        self.rules_for(kind).flat_map(|rule| rule.tiers.iter().copied())
    }

    /// Returns the names of jobs that something other than a person starts.
    pub fn started_jobs(&self) -> impl Iterator<Item = &String> {
        self.schedule_jobs.iter().chain(self.events.iter().filter_map(|rule| rule.job.as_ref()))
    }

    /// Whether a run may start on an issue, a pull request or a discussion.
    pub fn start_on_threads(&self) -> bool {
        let kinds = [TriggerKind::PullRequest, TriggerKind::CiFailure];
        self.comment.is_some()
            || self.label.is_some()
            || self.assign.is_some()
            || self.events.iter().any(|rule| kinds.contains(&rule.kind))
    }
}

impl Default for Triggers {
    fn default() -> Self {
        Self {
            comment: Some(CommentTrigger {
                prefix: "/locum".to_owned(),
                tiers: vec![Tier::Maintainer],
            }),
            label: None,
            assign: None,
            users: Vec::new(),
            schedule_jobs: Vec::new(),
            dashboard: false,
            dispatch_tiers: Vec::new(),
            events: Vec::new(),
            repairs: RepairRules::default(),
            approve_tiers: vec![Tier::Maintainer],
            bots: Vec::new(),
            forks: Forks::ReadOnly,
        }
    }
}

/// Comments that start a run.
#[derive(Clone, Debug)]
pub struct CommentTrigger {
    /// The word a command starts with, `/locum`.
    pub prefix: String,
    /// Tiers that may use it.
    pub tiers: Vec<Tier>,
}

/// Labels that start a run.
#[derive(Clone, Debug)]
pub struct LabelTrigger {
    /// The label's name, as the forge has it.
    pub name: String,
    /// Tiers whose label counts.
    pub tiers: Vec<Tier>,
}

/// An issue assigned to a login, which starts a run.
#[derive(Clone, Debug)]
pub struct AssignTrigger {
    /// Who it has to be given to, by login.
    pub login: String,
    /// Tiers whose assignment counts.
    pub tiers: Vec<Tier>,
}

/// An account named in the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUser {
    /// Login as the forge has it.
    pub login: String,
    /// The number of their account: logins change hands, numbers do not.
    pub id: Option<u64>,
}

/// What a pull request from a fork may start, from least to most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forks {
    /// No run at all.
    Deny,
    /// Runs that write nothing and run only commands that look.
    #[default]
    ReadOnly,
    /// The same, and any command where it is contained: `forks: { contained: allow }`.
    Contained,
    /// The same as from the repository itself.
    Allow,
}

/// Which modes may run and how they follow each other.
#[derive(Clone, Debug)]
pub struct ModeRules {
    /// The mode of a run that names none.
    pub default: String,
    /// Modes that may run.
    pub allow: Vec<String>,
    /// Who may switch the mode of a running task.
    pub switching: Switching,
    /// For each mode, the modes it may be followed by; a mode not listed may be followed by any
    /// allowed one.
    pub transitions: BTreeMap<String, Vec<String>>,
    /// Modes that may start sub-tasks.
    pub delegation: Delegation,
    /// Why modes may have strangers' text, something worth taking and a way out, all three; by
    /// slug.
    pub accept_risk: BTreeMap<String, String>,
}

impl Default for ModeRules {
    fn default() -> Self {
        let allow = ["orchestrator", "architect", "code", "debug", "ask", "review", "coordinator"]
            .map(str::to_owned)
            .to_vec();
        Self {
            default: "orchestrator".to_owned(),
            allow,
            switching: Switching::Coordinator,
            transitions: BTreeMap::new(),
            delegation: Delegation::default(),
            accept_risk: BTreeMap::new(),
        }
    }
}

/// Who may switch the mode of a running task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switching {
    /// Only the coordinator mode.
    #[default]
    Coordinator,
    /// Every mode, by itself.
    Direct,
    /// No mode.
    Off,
}

/// Limits on sub-tasks.
#[derive(Clone, Debug)]
pub struct Delegation {
    /// Modes that may start sub-tasks.
    pub from: Vec<String>,
    /// How deep sub-tasks may nest; the root task is depth 0.
    pub depth: u32,
    /// How many sub-tasks a run may start.
    pub tasks: u32,
    /// How many sub-tasks may run at once.
    pub parallel: u32,
}

impl Default for Delegation {
    fn default() -> Self {
        Self { from: vec!["orchestrator".to_owned()], depth: 2, tasks: 20, parallel: 1 }
    }
}

/// Limits and surroundings of commands.
#[derive(Clone, Debug)]
pub struct CommandLimits {
    /// Wall time of one command.
    pub timeout: Duration,
    /// Bytes of output kept of one command, both streams together.
    pub output_bytes: usize,
    /// How much of the network commands may reach.
    pub network: CommandNetwork,
    /// Names of environment variables passed on to commands.
    pub env: Vec<String>,
    /// Whether commands that run the repository's own code need a sandbox around them.
    pub sandbox: SandboxSetting,
    /// Complexity, 0 to 1, above which a script is held.
    pub max_complexity: f64,
    /// Whether scripts may hold what a shell works out: variables, globs, substitutions, loops.
    pub expansions: Expansions,
    /// Whether scripts need a rule for their words where all they can do is held and judged.
    pub contained: ContainedCommands,
    /// Whether files that commands write need an edit rule.
    pub edits: CommandEdits,
    /// What git ignores of what commands write to their layer, and is nevertheless in the checkout
    /// when a session ends.
    pub outputs: Vec<PathGlob>,
    /// Fast checks that run after edits.
    pub after_edit: Vec<EditCommand>,
    /// Whether hooks of the repository's settings for Claude Code run, each judged as a command.
    pub hooks: RepositoryHooks,
    /// Folders outside the repository that commands may read, without the leading `/`.
    pub reads: Vec<PathGlob>,
    /// What they may not read of them, and of the repository where it lies there: those with a `!`
    /// before them.
    pub unread: Vec<PathGlob>,
    /// What commands that go through folders leave out: what no rule lets be read. Made
    /// from rules, protected paths and ignore files.
    pub unseen: Arc<[PathGlob]>,
}

impl Default for CommandLimits {
    fn default() -> Self {
        let env = ["PATH", "HOME", "LANG", "CARGO_HOME", "RUSTUP_HOME"].map(str::to_owned).to_vec();
        Self {
            timeout: Duration::from_secs(600),
            output_bytes: 1024 * 1024,
            network: CommandNetwork::Off,
            env,
            sandbox: SandboxSetting::Required,
            max_complexity: 0.8,
            expansions: Expansions::Off,
            contained: ContainedCommands::Words,
            edits: CommandEdits::Ruled,
            reads: Vec::new(),
            unread: Vec::new(),
            outputs: Vec::new(),
            after_edit: Vec::new(),
            hooks: RepositoryHooks::On,
            unseen: Arc::from([]),
        }
    }
}

impl CommandLimits {
    /// Whether a script needs no rule for its words under these facts.
    pub fn contains(&self, facts: &Facts) -> bool {
        facts.contained && self.contains_scripts()
    }

    /// Whether a script needs no rule for its words where the machine contains it. What could
    /// lead out of there, or show what is taken out of an opened folder, keeps judgement by words.
    pub fn contains_scripts(&self) -> bool {
        self.contained == ContainedCommands::Allow
            && self.sandbox != SandboxSetting::Off
            && self.network != CommandNetwork::Open
            && self.unread.is_empty()
    }
}

/// How much of the network commands may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandNetwork {
    /// No host at all.
    #[default]
    Off,
    /// The hosts that `network.allow` lists, through a proxy.
    Listed,
    /// Every host.
    Open,
}

/// Whether scripts may hold what a shell works out when they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expansions {
    /// No: every word is known before anything runs.
    #[default]
    Off,
    /// Yes, where every command at any depth is allowed and the unknown words are harmless to the
    /// programs that get them.
    Allow,
}

/// Whether scripts need a rule for their words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContainedCommands {
    /// Yes: every command of a script is judged by its words.
    #[default]
    Words,
    /// Not where they run in namespaces, without a network, over a layer: every file they write is
    /// judged afterwards, and rules that hold or deny still count.
    Allow,
}

/// Whether hooks of the repository's settings for Claude Code run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RepositoryHooks {
    /// Those of the trusted ref, where the rules let their commands run.
    #[default]
    On,
    /// None; the file is not read.
    Off,
}

/// Whether files that commands write need an edit rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandEdits {
    /// Yes: each file a command writes is judged as an edit.
    #[default]
    Ruled,
    /// No: allowed commands write where they like in the checkout, except protected paths and paths
    /// that a rule refuses.
    Checkout,
}

/// What has to be around commands, above all those that run the repository's own code (tests,
/// builds, scripts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxSetting {
    /// A sandbox that holds files, network and system calls; where there is none, no command runs.
    #[default]
    Required,
    /// As much of a sandbox as the machine gives.
    BestEffort,
    /// No sandbox: the maintainer accepts explicitly that such code runs with the rights of the
    /// run.
    Off,
}

/// What happens when a rule says hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnHold {
    /// Stop the run with outcome `on-hold`.
    #[default]
    Pause,
    /// Report the refusal to the model and continue.
    Refuse,
}

/// What happens when the model asks a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnQuestion {
    /// Post the question and stop with outcome `needs-input`.
    #[default]
    Comment,
    /// Answer with the first suggestion.
    First,
    /// Stop with outcome `failed`.
    Fail,
}

/// Every mistake found in a policy file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(line_of).collect::<Vec<_>>().join("\n"))]
pub struct PolicyErrors(pub Vec<Diagnostic>);

impl PolicyErrors {
    /// Ends the reading of a file.
    ///
    /// # Errors
    /// What was collected, when it is anything.
    pub(crate) fn none_in(mistakes: Diagnostics, text: &str, origin: &str) -> Result<(), Self> {
        if mistakes.0.is_empty() {
            return Ok(());
        }
        Err(Self(Diagnostics(mistakes.finish(text)).in_file(origin)))
    }
}

fn line_of(mistake: &Diagnostic) -> String {
    let Diagnostic { origin, place, message, hint, .. } = mistake;
    let hint = hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("policy `{origin}`:{place}: {message}{hint}")
}
