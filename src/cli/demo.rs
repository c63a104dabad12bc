//! `locum demo`: a whole run, offline, in a small repository made for it. Only the model's words
//! come from a script; the policy decides, files change, tests run, and what would be posted is
//! written to a folder and shown.

use std::path::{Path, PathBuf};

use crate::cli::live_run::{LiveOutput, RunDisplay};
use crate::cli::local_run::{self, LocalRun, LocalRunResult, LocalSession};
use crate::cli::output::Output;
use crate::cli::programs::is_on_path;
use crate::cli::run_args::OutputFormat;
use crate::cli::{CommandContext, ExitStatus};
use crate::config::load::{ConfigFile, FlagValue};
use crate::run::error::RunError;
use crate::run::execute;
use crate::run::execution::SessionOrigin;
use crate::run::extras::RunExtras;
use crate::run::plan::RunSubject;
use crate::run::run_request::{Overrides, RunRequest};
use crate::run::user::named_file;
use locum_agent::report::figures;
use locum_agent::session::outcome::OutcomeWord;
use locum_policy::actors::Tier;
use locum_policy::intent::{Facts, TriggerKind};
use locum_sandbox::level::SandboxLevel;
use locum_workspace::seed;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../../config/demo/manifest.toml")),
    ("README.md", include_str!("../../config/demo/readme.md")),
    ("src/lib.rs", include_str!("../../config/demo/lib.rs")),
    ("tests/durations.rs", include_str!("../../config/demo/durations.rs")),
    (".gitignore", "/target\nCargo.lock\n"),
];
const POLICY: &str = include_str!("../../config/demo/policy.yml");

/// What the policy says of commands, and what it says where there is no sandbox: the demo runs its
/// own code alone.
const COMMANDS: &str = "commands: { contained: allow } # any other script runs where it has no way out, and each file it writes is judged";
const COMMANDS_WITHOUT_SANDBOX: &str = "commands: { sandbox: off } # this machine has none: each command needs a rule, and nothing holds it";

const SCRIPT: &str = include_str!("../../config/demo/script.yml");
const TASK: &str = "The tests fail. Find out why, repair it, and make sure they pass.";

/// Runs the subcommand.
///
/// # Errors
/// When the repository cannot be made or the run cannot start.
pub fn run(
    dir: Option<&Path>,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    if !is_on_path("cargo", &context.environment) {
        return Err(RunError::usage("PATH", "the demo runs `cargo test`, and there is no `cargo`")
            .hint(
                "install Rust from https://rustup.rs, or see the plan of a run of your own with \
                   `locum run --dry-run \"fix the failing test\"`",
            ));
    }
    let temporary = tempfile::tempdir().map_err(|error| {
        RunError::internal(format!("no temporary folder: {error}"))
            .hint("name one that may be written to with `TMPDIR`")
    })?;
    let kept = dir.map(|folder| context.folder.join(folder));
    let folder = kept.clone().unwrap_or_else(|| temporary.path().join("durations"));
    let level = SandboxLevel::obtained();
    let policy = policy(level);
    let files: Vec<_> =
        FILES.iter().copied().chain([(".locum/policy.yml", policy.as_str())]).collect();
    if level.is_nothing() {
        output.talk(
            "note: this machine has no sandbox, so the demo's policy runs commands without one; \
             they run the demo's own code alone",
        );
    }
    seed::repository(&folder, &files, "A crate that reads durations")
        .map_err(|error| RunError::usage("--dir", error.to_string()))?;
    let postings = folder.join(".git/locum/postings");
    let sessions = temporary.path().join("sessions");
    let ended = play(&folder, (&sessions, &postings), context, output)?;
    show(&ended, &postings, output)?;
    if ended.outcome.word == OutcomeWord::Failed {
        output.talk(
            "hint: the demo expects a usable Rust: check `cargo --version`, and `locum doctor` \
             for what commands see of it",
        );
    }
    match kept {
        Some(folder) => {
            output.line(format_args!("\nThe repository is kept in {}.", folder.display()))
        }
        None => output.line("\nRemoved the repository; `locum demo --dir DIR` keeps it."),
    }
    Ok(ExitStatus::Ended(ended.outcome.word))
}

/// Returns the policy of the demo on a machine with this much of a sandbox.
fn policy(level: SandboxLevel) -> String {
    if level.is_nothing() {
        POLICY.replacen(COMMANDS, COMMANDS_WITHOUT_SANDBOX, 1)
    } else {
        POLICY.to_owned()
    }
}

fn play(
    folder: &Path,
    (sessions, postings): (&Path, &Path),
    context: &CommandContext,
    output: &mut Output,
) -> Result<LocalRunResult, RunError> {
    let workspace = local_run::open(folder)?;
    let request = RunRequest {
        facts: Facts { trigger: TriggerKind::Comment, tier: Tier::Maintainer, ..Facts::default() },
        subject: RunSubject::Issue { number: 1, title: "The tests fail".to_owned() },
        overrides: Overrides {
            flags: vec![FlagValue::new("demo", "session_dir", sessions.display())],
            script: Some(ConfigFile {
                origin: "config/demo/script.yml".to_owned(),
                text: SCRIPT.to_owned(),
            }),
            ..Overrides::default()
        },
        ..RunRequest::new(TASK.to_owned(), local_run::base(&workspace, None)?)
    };
    let run = local_run::prepare(&request, &workspace, context)?;
    let local = LocalRun {
        stands_for: None,
        folder: folder.to_owned(),
        base_revision: None,
        postings: Some(postings.to_owned()),
        request,
    };
    output.line(format_args!(
        "# A run on {}, as if a maintainer had written `/locum` on issue #1\n",
        folder.display()
    ));
    output.line(&run.plan);
    output.line("# Every step and the policy's decision on it\n");
    let session_folder = execute::folder_of(sessions, &run.plan.session);
    let show = RunDisplay { format: OutputFormat::Text, live: LiveOutput::Within };
    let extras = RunExtras::default();
    let session = LocalSession {
        local: &local,
        run: &run,
        workspace: &workspace,
        folder: &session_folder,
        beginning: SessionOrigin::Fresh(&extras),
        show,
    };
    local_run::carry_out(session, context, output)
}

/// Shows what changed and what would be posted.
fn show(ended: &LocalRunResult, postings: &Path, output: &mut Output) -> Result<(), RunError> {
    output.line("\n# What changed\n");
    output.line(figures::diff(&ended.outcome.changes).trim_end());
    for receipt in ended.publication.iter().flat_map(|publication| &publication.receipts) {
        let file: PathBuf = receipt
            .url
            .strip_prefix("file://")
            .map_or_else(|| postings.join(&receipt.url), PathBuf::from);
        let name =
            file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = named_file(&file)?.map(|file| file.text).unwrap_or_default();
        output.line(format_args!("\n# Would be posted: {name}\n\n{}", text.trim_end()));
    }
    for note in ended.publication.iter().flat_map(|publication| &publication.notes) {
        output.line(format_args!("\nNot posted: {note}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use locum_policy::Policy;
    use locum_policy::schema::SandboxSetting;
    use locum_sandbox::level::SandboxLevel;

    use super::policy;

    #[test]
    fn commands_run_without_a_sandbox_only_where_there_is_none() {
        let wanted = |level| {
            let policy = Policy::parse(&policy(level), "demo").unwrap();
            policy.settings().commands.sandbox
        };
        assert_eq!(wanted(SandboxLevel::default()), SandboxSetting::Off);
        assert!(!policy(SandboxLevel::default()).contains("no way out"));
        let some = SandboxLevel { syscalls: true, ..SandboxLevel::default() };
        assert_eq!(wanted(some), SandboxSetting::Required);
    }
}
