//! A run at the command line, from its flags to its exit code: what `run`, `job run`, `demo` and
//! `session resume` share.
//!
//! In: what is to be done and the flags. Out: the outcome on stdout, the run as it happens on
//! stderr, an exit code.

use std::path::{Path, PathBuf};

use futures::FutureExt;
use serde::{Deserialize, Serialize};

use crate::cli::live_run::{LiveOutput, LiveRun, RunDisplay};
use crate::cli::output::Output;
use crate::cli::policy_file::{built_in, is_built_in};
use crate::cli::run_args::{OutputFormat, RunOptions};
use crate::cli::stop_signal::{StopSignal, runtime};
use crate::cli::{CommandContext, ExitStatus};
use crate::config::load::{ConfigFile, FlagValue};
use crate::config::settings::Publish;
use crate::run::clock::SystemClock;
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::{RunExecution, SessionOrigin};
use crate::run::prepare::{self, PreparedRun};
use crate::run::publish::destination::PublishDestination;
use crate::run::publish::follow_up::RunEnd;
use crate::run::publish::{Publication, PublishResult, Publisher};
use crate::run::run_request::{Cassettes, Overrides, ReplayRequest, RunRequest};
use crate::run::source::FileSource;
use crate::run::spending::store::RecordStore;
use crate::run::trusted::{ConfigOrigin, POLICY_FILE, TrustedConfig};
use crate::run::user::{UserFolder, named_file};
use locum_agent::report::summary::{self, DiffSection};
use locum_agent::report::waiting::DecisionChannel;
use locum_agent::report::{json, live, markdown};
use locum_agent::session::event::JournalLine;
use locum_agent::session::messages::Inbox;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::SessionState;
use locum_base::clock::Clock;
use locum_forge::local::LocalForge;
use locum_policy::BUILTIN_ORIGIN;
use locum_policy::schema::PublishForm;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::repo::{CommitId, Repo, RepoError};
use locum_workspace::run_lock::{LockError, RunLock};

/// A run at the command line: complete, so that the same run can be prepared again when it was
/// killed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LocalRun {
    /// Root of the checkout.
    pub folder: PathBuf,
    /// Root of the checkout that `folder` is a worktree of; `None` where it is no worktree of the
    /// run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<PathBuf>,
    /// The revision the commit to start from was named by; `None` for the checkout's own commit.
    #[serde(default)]
    pub base_revision: Option<String>,
    /// Folder for what would be posted; `None` publishes nothing.
    pub postings: Option<PathBuf>,
    /// What is run, as it was asked.
    #[serde(flatten)]
    pub request: RunRequest,
}

/// What a run does while another one works in its checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It ends with an error.
    Never,
    /// It waits until the other is over.
    Until,
}

impl From<bool> for Waiting {
    fn from(waits: bool) -> Self {
        if waits { Self::Until } else { Self::Never }
    }
}

/// What a run was and led to.
pub struct LocalRunResult {
    /// How the session ended.
    pub outcome: Outcome,
    /// What was published; `None` where nothing was to be.
    pub publication: Option<Publication>,
}

/// Opens the checkout that holds `folder`.
///
/// # Errors
/// When there is none.
pub fn open(folder: &Path) -> Result<Workspace, RunError> {
    let repo = Repo::open(folder).map_err(|error| no_checkout(&error))?;
    let checkout = Checkout::open(repo.root())
        .map_err(|error| RunError::usage("--repo", error.to_string()))?;
    Ok(Workspace { checkout, repo })
}

/// Returns why a folder cannot be worked in, with what to do about it.
pub fn no_checkout(error: &RepoError) -> RunError {
    let refused = RunError::usage("--repo", error.to_string());
    match error {
        // It names the command itself.
        RepoError::NotTrusted(_) => refused,
        RepoError::Bare(_) => refused.hint("clone it and name the clone"),
        RepoError::Git(_) => refused.hint(
            "it cannot be opened; repositories with SHA-256 objects (`git init \
             --object-format=sha256`) or a reftable are not supported",
        ),
        _ => refused.hint("start it in a git checkout, or name one with `--repo DIR`"),
    }
}

/// Locks a checkout for a run; waits for another one where that was asked.
///
/// # Errors
/// When another run works in it.
pub fn lock(
    workspace: &Workspace,
    waiting: Waiting,
    output: &mut Output,
) -> Result<RunLock, RunError> {
    let lock = match workspace.repo.lock_run() {
        Err(LockError::Held { holder }) if waiting == Waiting::Until => {
            output.talk(format_args!("note: {holder} is at work in this checkout; waiting"));
            workspace.repo.wait_for_run()
        }
        lock => lock,
    };
    lock.map_err(|error| {
        let hint = match error {
            LockError::Held { .. } => {
                "wait for it with `--wait`, or work in a worktree with `--worktree`"
            }
            LockError::Io { .. } => {
                "git's folder of this checkout cannot be written to; work in a worktree with \
                 `--worktree`, or in a copy that is yours"
            }
        };
        RunError::usage("--repo", error.to_string()).hint(hint)
    })
}

/// Returns the commit that is trusted: `--base`, else the checkout's own.
///
/// # Errors
/// When that commit does not exist.
pub fn base(workspace: &Workspace, revision: Option<&str>) -> Result<CommitId, RunError> {
    let place = if revision.is_some() { "--base" } else { "--repo" };
    workspace.repo.commit_of(revision.unwrap_or("HEAD")).map_err(|error| {
        let hint = if matches!(error, RepoError::Empty) {
            "commit something first: a run starts from a commit, and its policy is read there"
        } else {
            "name a commit, branch or tag that is in this checkout; in Actions, `fetch-depth: 0` \
             of actions/checkout fetches them all"
        };
        RunError::usage(place, error.to_string()).hint(hint)
    })
}

/// Returns the commit that a review compares the checkout with: where its branch began, apart from
/// `--base` or from the default branch. Where that is not known, it is the checkout's own commit.
///
/// # Errors
/// When the checkout has no commit.
pub fn review_base(
    workspace: &Workspace,
    named: Option<&CommitId>,
    options: &RunOptions,
) -> Result<CommitId, RunError> {
    let repo = &workspace.repo;
    let head = match named {
        // Its own worktree begins with what is named.
        Some(base) if options.worktree => base.clone(),
        Some(_) | None => base(workspace, None)?,
    };
    let Some(other) = named.cloned().or_else(|| repo.default_branch_tip()) else {
        return Ok(head);
    };
    Ok(repo.merge_base(&other, &head).unwrap_or_else(|error| {
        tracing::warn!(%error, "no common commit with {other}: a review sees what is uncommitted");
        head
    }))
}

/// Reads the file a flag names; `None` without the flag.
///
/// # Errors
/// When it is not there or cannot be read.
pub fn named(
    flag: &str,
    path: Option<&Path>,
    context: &CommandContext,
) -> Result<Option<ConfigFile>, RunError> {
    let Some(path) = path else { return Ok(None) };
    let read = named_file(&context.folder.join(path))?;
    let read = read.ok_or_else(|| {
        RunError::usage(flag, format!("`{}` does not exist", path.display()))
            .hint(context.looked_for_in())
    })?;
    Ok(Some(ConfigFile { origin: path.display().to_string(), ..read }))
}

/// Reads what the flags give over settings, policy and models.
///
/// # Errors
/// When a file that is named is not there or cannot be read.
pub fn overrides(
    flags: Vec<FlagValue>,
    options: &RunOptions,
    context: &CommandContext,
) -> Result<Overrides, RunError> {
    let replay = named("--replay", options.replay.as_deref(), context)?;
    let tolerate = options.replay_tolerate.clone();
    let record = options.record.as_ref().filter(|_| !options.dry_run);
    Ok(Overrides {
        flags,
        policy: match options.policy.as_deref() {
            Some(path) if is_built_in(path) => Some(built_in()),
            path => named("--policy", path, context)?,
        },
        script: named("--script", options.script.as_deref(), context)?,
        cassettes: Cassettes {
            record: record.map(|path| context.folder.join(path)),
            replay: replay.map(|cassette| ReplayRequest { cassette, tolerate }),
        },
    })
}

/// Loads the configuration a run is prepared with, from a commit.
///
/// # Errors
/// Every mistake of the first file that has any.
pub fn config<'a>(
    workspace: &'a Workspace,
    commit: CommitId,
    overrides: &Overrides,
    context: &'a CommandContext,
) -> Result<TrustedConfig<'a>, RunError> {
    let environment = &context.environment;
    let origin = ConfigOrigin {
        source: FileSource::Commit(&workspace.repo, commit),
        user: UserFolder::of(environment),
        environment,
    };
    TrustedConfig::load(origin, &overrides.flags, overrides.policy.as_ref())
}

/// Prepares a run.
///
/// # Errors
/// Every mistake found on the way.
pub fn prepare(
    request: &RunRequest,
    workspace: &Workspace,
    context: &CommandContext,
) -> Result<PreparedRun, RunError> {
    let config = config(workspace, request.trusted.clone(), &request.overrides, context)?;
    let uncommitted = || workspace.checkout.root().join(POLICY_FILE).is_file();
    if config.policy.origin() == BUILTIN_ORIGIN && request.overrides.policy.is_none() {
        FileSource::WorkingTree(workspace.checkout.root().to_owned()).own_file(POLICY_FILE)?;
    }
    if config.policy.origin() == BUILTIN_ORIGIN
        && request.overrides.policy.is_none()
        && uncommitted()
    {
        let commit = locum_base::text::head(&request.trusted.0, 12);
        let message = format!(
            "is not in commit {commit}, which the run reads: the built-in policy would judge it"
        );
        return Err(RunError::usage(POLICY_FILE, message).hint(
            "commit it, or choose for once: `--policy .locum/policy.yml` or `--policy built-in`",
        ));
    }
    prepare::prepare(request.clone(), &config, workspace)
}

/// Returns the folder for what would be posted; `None` when the settings publish nothing. A run at
/// the command line has no forge: `publish: forge` is for runs that one started.
pub fn postings(
    options: &RunOptions,
    run: &PreparedRun,
    session_folder: &Path,
    context: &CommandContext,
) -> Option<PathBuf> {
    match run.settings.values.publish {
        Some(Publish::Local) => {
            let named = options.publish_dir.as_ref().map(|folder| context.folder.join(folder));
            Some(named.unwrap_or_else(|| session_folder.join("postings")))
        }
        Some(Publish::None | Publish::Forge) | None => None,
    }
}

/// A run that is ready to be carried out.
#[derive(Clone, Copy)]
pub struct LocalSession<'a> {
    /// What is to be run.
    pub local: &'a LocalRun,
    /// What it works with.
    pub run: &'a PreparedRun,
    /// The checkout that the run works in.
    pub workspace: &'a Workspace,
    /// Folder of the session's journal.
    pub folder: &'a Path,
    /// Whether the session begins or resumes.
    pub beginning: SessionOrigin<'a>,
    /// How it is shown.
    pub show: RunDisplay,
}

/// Carries a session out and publishes its outcome.
///
/// # Errors
/// When the journal cannot be opened or the runtime does not start.
pub fn carry_out(
    session: LocalSession<'_>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<LocalRunResult, RunError> {
    let LocalSession { local, run, workspace, folder, beginning, show } = session;
    let runtime = runtime()?;
    let stop = StopSignal::install(&runtime);
    let stands_for = local.stands_for.as_deref().map(open).transpose()?;
    let clock = SystemClock::start();
    let live = LiveRun::new(output, show, &clock, &run.redactor);
    let watch = |line: &JournalLine, state: &SessionState| live.follow(line, state);
    let git = GitBinary::new(&workspace.repo, context.environment.variables());
    let forge = local.postings.as_ref().map(LocalForge::new);
    let thread = run.plan.subject.thread();
    let branch = stands_for.as_ref().unwrap_or(workspace).repo.branch();
    let destination = PublishDestination::local(
        markdown::marker("progress", &[("session", run.plan.session.as_str())]),
        branch.unwrap_or_else(|| "HEAD".to_owned()),
        thread,
    );
    let publisher = forge.as_ref().map(|forge| Publisher {
        run,
        workspace,
        session_folder: folder,
        forge,
        remote: None,
        git: &git,
        destination: &destination,
        reaction: None,
        branch_template: None,
        run_url: None,
        repository_url: None,
        lease: None,
        resumed: None,
        kept_before: None,
        earlier: None,
    });
    let ending = RunEnd { thread, seen: &[], decided: None, decide: DecisionChannel::CommandLine };
    let inbox = Inbox::of(folder);
    let execution = RunExecution {
        inbox: &inbox,
        run,
        workspace,
        stands_for: stands_for.as_ref(),
        folder,
        beginning,
        caller: serde_json::to_value(local).map_err(RunError::internal)?,
        keeps_memory: true,
        record: RecordStore::Local,
        forge: None,
        clock: &clock as &dyn Clock,
        tail: Some(&live.tail),
    };
    let ended = runtime.block_on(live.beside(async {
        let publisher = publisher.as_ref().map(|publisher| (publisher, &ending));
        let stopped = stop.received().boxed();
        execute::run_and_publish(&execution, publisher, stopped, watch).await
    }));
    // A search that the run left is not waited for.
    runtime.shutdown_background();
    let (outcome, mut publication) = ended?;
    match (show.live, show.format) {
        (LiveOutput::Within, _) => output.line(live::outcome(&outcome)),
        (LiveOutput::Beside, OutputFormat::Json | OutputFormat::StreamJson) => {
            output.talk(live::outcome(&outcome));
        }
        // What follows says it.
        (LiveOutput::Beside, OutputFormat::Text) | (LiveOutput::Off, _) => {}
    }
    if let Some(publication) = &mut publication
        && let Some(note) = only_in_a_thread(run, &outcome, publication)
    {
        publication.notes.push(note);
    }
    Ok(LocalRunResult { outcome, publication })
}

/// Says why changes that were to be published went nowhere, and what to do: the policy shows them
/// in a comment or a review, and a run at the command line has no thread for one. What else stands
/// in the way is said where it is met.
fn only_in_a_thread(
    run: &PreparedRun,
    outcome: &Outcome,
    publication: &Publication,
) -> Option<String> {
    let is_silent = publication.receipts.is_empty()
        && publication.notes.is_empty()
        && publication.result == PublishResult::Diff(String::new());
    let forms = run.policy.settings().publish.publish_as.in_mode(&run.plan.mode);
    let is_shown = run.plan.subject.publish_form(forms) == PublishForm::Comment;
    if !is_silent || !is_shown || outcome.changes.is_empty() {
        return None;
    }
    let origin = run.policy.origin();
    let (policy, cure) = if origin == BUILTIN_ORIGIN {
        (origin.to_owned(), "write one that opens pull requests with `locum init`, and commit it")
    } else {
        let cure = "let it say `publish: { allow: [comment, commit, pull-request, label], as: \
             pull-request }`";
        (format!("policy `{origin}`"), cure)
    };
    Some(format!(
        "no branch and no pull request: the {policy} shows changes only in a comment or a review \
         (`publish.as`), and this run is on no issue or pull request; {cure}"
    ))
}

/// Shows how a run ended, in the requested form.
pub fn show_end(ended: &LocalRunResult, show: RunDisplay, output: &mut Output) -> ExitStatus {
    let status = ExitStatus::Ended(ended.outcome.word);
    let receipts = ended.publication.as_ref().map_or(&[][..], |publication| &publication.receipts);
    let report = json::RunReport::new(&ended.outcome, receipts);
    match show.format {
        OutputFormat::Json => output.json(&report),
        OutputFormat::StreamJson => output.json_line(&report),
        OutputFormat::Text => {
            let text = summary::terminal(&ended.outcome, DiffSection::Shown);
            output.line(output.colours().summary(ended.outcome.word, text.trim_end()));
            for receipt in receipts {
                output.line(format_args!("published: {}", receipt.url));
            }
            for note in ended.publication.iter().flat_map(|publication| &publication.notes) {
                output.line(format_args!("not published: {note}"));
            }
        }
    }
    status
}
