//! A run at the command line, from its flags to its exit code: what `run`, `job run`, `demo` and
//! `session resume` share.
//!
//! In: what is to be done and the flags. Out: the outcome on stdout, the run as it happens on
//! stderr, an exit code.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use futures::FutureExt;
use serde::{Deserialize, Serialize};

use crate::cli::args::{OutputFormat, RunOptions};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::cli::place::{named_file, user_commands, user_file, user_modes};
use crate::cli::{Context, ExitStatus};
use crate::config::load::FlagValue;
use crate::config::settings::Publish;
use crate::run::ceilings::Kept;
use crate::run::clock::SystemClock;
use crate::run::execute::{self, Beginning, Execution};
use crate::run::job::Work;
use crate::run::opening::Words;
use crate::run::plan::Subject;
use crate::run::prepare::{self, Cassettes, NamedFile, Order, Prepared, ReplayOrder, UserFiles};
use crate::run::publish::{Destination, Published, Publisher};
use locum_agent::report::comment::Decide;
use locum_agent::report::summary::{self, Diff};
use locum_agent::report::{json, live, markdown};
use locum_agent::session::event::JournalLine;
use locum_agent::session::id::SessionId;
use locum_agent::session::outcome::Outcome;
use locum_agent::session::state::State;
use locum_base::clock::Clock;
use locum_forge::local::Local;
use locum_modes::prompts::commands::expand::parse_invocation;
use locum_policy::intent::Facts;
use locum_workspace::Workspace;
use locum_workspace::checkout::Checkout;
use locum_workspace::git_binary::GitBinary;
use locum_workspace::repo::{CommitId, Repo, RepoError};

/// What is to be run: complete, so that the same run can be prepared again when it was killed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// The checkout.
    pub folder: PathBuf,
    /// What is to be done.
    pub task: String,
    /// Mode asked for.
    pub mode: Option<String>,
    /// Who asks and how.
    pub facts: Facts,
    /// Where results belong.
    pub subject: Subject,
    /// The fixed work of a job.
    pub work: Option<Work>,
    /// Commit that is trusted and that changes are counted from.
    pub base: CommitId,
    /// The revision it was named by; `None` for the checkout's own commit.
    #[serde(default)]
    pub base_revision: Option<String>,
    /// Settings by flag.
    pub flags: Vec<FlagValue>,
    /// A policy instead of the repository's.
    pub policy: Option<NamedFile>,
    /// A script instead of a model.
    pub script: Option<NamedFile>,
    /// What is recorded or played again.
    #[serde(default)]
    pub cassettes: Cassettes,
    /// Folder for what would be posted; `None` publishes nothing.
    pub postings: Option<PathBuf>,
}

/// How a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct Show {
    /// Form of the result.
    pub format: OutputFormat,
    /// Whether the run is followed line by line.
    pub live: Live,
}

/// Whether a run is followed line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// On stderr, beside the result.
    Beside,
    /// On stdout, as a part of the result.
    Within,
    /// Not at all.
    Off,
}

/// What a run was and led to.
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// What was published.
    pub published: Option<Published>,
}

/// Opens the checkout that holds `folder`.
///
/// # Errors
/// When there is none.
pub fn open(folder: &Path) -> Result<Workspace, Failure> {
    let repo = Repo::open(folder).map_err(|error| {
        let is_bare = matches!(error, RepoError::Bare(_));
        let hint = if is_bare {
            "clone it and name the clone"
        } else {
            "start it in a git checkout, or name one with `--repo DIR`"
        };
        Failure::usage("--repo", error.to_string()).hint(hint)
    })?;
    let checkout =
        Checkout::open(repo.root()).map_err(|error| Failure::usage("--repo", error.to_string()))?;
    Ok(Workspace { checkout, repo })
}

/// Returns the commit that is trusted: `--base`, else the checkout's own.
///
/// # Errors
/// When there is no such commit.
pub fn base(workspace: &Workspace, revision: Option<&str>) -> Result<CommitId, Failure> {
    let place = if revision.is_some() { "--base" } else { "--repo" };
    workspace.repo.commit_of(revision.unwrap_or("HEAD")).map_err(|error| {
        let hint = if matches!(error, RepoError::Empty) {
            "commit something first: a run starts from a commit, and its policy is read there"
        } else {
            "name a commit, branch or tag that is in this checkout; in Actions, `fetch-depth: 0` \
             of actions/checkout fetches them all"
        };
        Failure::usage(place, error.to_string()).hint(hint)
    })
}

/// Reads the file a flag names; `None` without the flag.
///
/// # Errors
/// When it is not there or cannot be read.
pub fn named(
    flag: &str,
    path: Option<&Path>,
    context: &Context,
) -> Result<Option<NamedFile>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let read = named_file(&context.folder.join(path))?;
    let read =
        read.ok_or_else(|| Failure::usage(flag, format!("`{}` does not exist", path.display())))?;
    Ok(Some(NamedFile { name: path.display().to_string(), text: read.text }))
}

/// Reads what the flags say of cassettes.
///
/// # Errors
/// When the cassette to be played is not there or cannot be read.
pub fn cassettes(options: &RunOptions, context: &Context) -> Result<Cassettes, Failure> {
    let replay = named("--replay", options.replay.as_deref(), context)?;
    let tolerate = options.replay_tolerate.iter().map(|field| field.as_str().to_owned()).collect();
    Ok(Cassettes {
        record: options
            .record
            .as_ref()
            .filter(|_| !options.dry_run)
            .map(|path| context.folder.join(path)),
        replay: replay.map(|cassette| ReplayOrder { cassette, tolerate }),
    })
}

/// Prepares a run.
///
/// # Errors
/// Every mistake found on the way.
pub fn prepare(
    launch: &Launch,
    session: SessionId,
    workspace: &Workspace,
    context: &Context,
) -> Result<Prepared, Failure> {
    let environment = &context.environment;
    let calls_command = parse_invocation(&launch.task).is_some();
    let commands = if calls_command { user_commands(environment)? } else { Vec::new() };
    let user = UserFiles {
        config: user_file(environment, "config.yml")?,
        modes: user_modes(environment)?,
        commands,
    };
    let order = Order {
        session,
        task: launch.task.clone(),
        words: if matches!(launch.work, Some(Work::Steps(_))) {
            Words::Program
        } else {
            Words::Asker
        },
        materials: Vec::new(),
        mode: launch.mode.clone(),
        facts: launch.facts.clone(),
        subject: launch.subject.clone(),
        work: launch.work.clone(),
        base: launch.base.clone(),
        trusted: launch.base.clone(),
        flags: launch.flags.clone(),
        policy: launch.policy.clone(),
        script: launch.script.clone(),
        cassettes: launch.cassettes.clone(),
    };
    Ok(prepare::prepare(order, workspace, &user, environment)?)
}

/// Returns the folder for what would be posted; `None` when the settings publish nothing. A run at
/// the command line has no forge: `publish: forge` is for runs that one started.
#[must_use]
pub fn postings(
    options: &RunOptions,
    prepared: &Prepared,
    session_folder: &Path,
    context: &Context,
) -> Option<PathBuf> {
    match prepared.settings.values.publish {
        Some(Publish::Local) => {
            let named = options.publish_dir.as_ref().map(|folder| context.folder.join(folder));
            Some(named.unwrap_or_else(|| session_folder.join("postings")))
        }
        Some(Publish::None | Publish::Forge) | None => None,
    }
}

/// A run that is ready to be carried out.
#[derive(Clone, Copy)]
pub struct Ready<'a> {
    /// What is to be run.
    pub launch: &'a Launch,
    /// What it was prepared with.
    pub prepared: &'a Prepared,
    /// The checkout.
    pub workspace: &'a Workspace,
    /// The session's folder.
    pub folder: &'a Path,
    /// Whether the session begins or goes on.
    pub beginning: Beginning,
    /// How it is shown.
    pub show: Show,
}

/// Runs what was prepared and publishes it.
///
/// # Errors
/// When the journal cannot be opened or the runtime does not start.
pub fn carry_out(
    ready: Ready<'_>,
    context: &Context,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let Ready { launch, prepared, workspace, folder, beginning, show } = ready;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(error.to_string()))?;
    let clock = SystemClock::start();
    let shown = RefCell::new(output);
    let watch =
        |line: &JournalLine, state: &State| follow(line, state, show, &mut shown.borrow_mut());
    let git = GitBinary::new(&workspace.repo, context.environment.variables());
    let forge = launch.postings.as_ref().map(Local::new);
    let marker = markdown::marker("progress", &[("session", prepared.plan.session.as_str())]);
    let branch = workspace.repo.branch().unwrap_or_else(|| "HEAD".to_owned());
    let destination = forge.as_ref().map(|forge| Destination {
        forge,
        remote: None,
        git: &git,
        base_branch: &branch,
        marker: &marker,
        thread: prepared.plan.subject.thread(),
        reaction: None,
        seen: &[],
        decided: None,
        reply_to: None,
        branch_template: None,
        requested_by: None,
        run_url: None,
        decide: Decide::CommandLine,
    });
    let publisher =
        destination.as_ref().map(|destination| Publisher { prepared, workspace, destination });
    let caller =
        serde_json::to_value(launch).map_err(|error| Failure::internal(error.to_string()))?;
    let execution = Execution {
        prepared,
        workspace,
        folder,
        beginning,
        caller,
        kept: Kept::Here,
        forge: None,
        clock: &clock as &dyn Clock,
    };
    let ended = runtime.block_on(async {
        execute::run_and_publish(&execution, publisher.as_ref(), stop_signal().boxed(), watch).await
    });
    let (outcome, published) = ended?;
    Ok(Ended { outcome, published })
}

/// Shows how a run ended, in the form asked for.
pub fn show_end(ended: &Ended, show: Show, output: &mut Output) -> ExitStatus {
    let status = ExitStatus::of(ended.outcome.word);
    let receipts = ended.published.as_ref().map_or(&[][..], |published| &published.receipts);
    let report = json::Report::new(&ended.outcome, status.code(), receipts);
    match show.format {
        OutputFormat::Json => output.json(&report),
        OutputFormat::StreamJson => output.json_line(&report),
        OutputFormat::Text => {
            output.line(summary::terminal(&ended.outcome, Diff::Shown).trim_end());
            for receipt in receipts {
                output.line(format_args!("published: {}", receipt.url));
            }
            for note in ended.published.iter().flat_map(|published| &published.notes) {
                output.line(format_args!("not published: {note}"));
            }
        }
    }
    status
}

fn follow(line: &JournalLine, state: &State, show: Show, output: &mut Output) {
    if show.format == OutputFormat::StreamJson {
        output.json_line(line);
    }
    let lines = if show.live == Live::Off { Vec::new() } else { live::lines(&line.event, state) };
    for text in lines {
        match show.live {
            Live::Beside => output.talk(text),
            Live::Within => output.line(text),
            Live::Off => {}
        }
    }
}

/// Resolves on Ctrl-C or SIGTERM. Where signals cannot be heard, it never resolves.
pub async fn stop_signal() {
    let mut terminate =
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(terminate) => terminate,
            Err(error) => {
                tracing::warn!(%error, "termination cannot be heard");
                return std::future::pending().await;
            }
        };
    tokio::select! {
        heard = tokio::signal::ctrl_c() => if heard.is_err() { std::future::pending::<()>().await },
        _ = terminate.recv() => {}
    }
}
