//! `locum policy`: is the policy file right, and what other tools' settings amount to as one.
//! Offline, nothing is run.

use serde::Serialize;

use crate::cli::colour::Role;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_args::{PolicyCheckArgs, PolicyCommand, PolicyImportArgs};
use crate::cli::policy_file::{given, note_uncommitted, repository_file};
use crate::cli::session::folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus};
use crate::cli::{init, policy_explain, policy_test};
use crate::run::error::RunError;
use crate::run::policy_check::{self, PolicyExamination};
use crate::run::trusted::POLICY_FILE;
use locum_agent::report::figures;
use locum_agent::report::markdown::visible;
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use locum_files::diagnostic::Diagnostic;
use locum_policy::Policy;
use locum_policy::import::{ImportSource, Peer, import_all};
use locum_policy::lint::idle;
use locum_policy::lint::risks::{AcceptedRisk, accepted_risks};
use locum_policy::lint::warning::Warning;
use locum_policy::verdict::RuleRef;

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the policy file, and of the intents asked about.
pub fn run(
    command: &PolicyCommand,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    match command {
        PolicyCommand::Check(args) => check(args, context, output),
        PolicyCommand::Explain(args) => policy_explain::run(args, context, output),
        PolicyCommand::Test(args) => policy_test::run(args, context, output),
        PolicyCommand::Init(args) => init::policy(args, context, output),
        PolicyCommand::Import(args) => imported(args, context, output),
    }
}

/// The result of a check for programs.
#[derive(Serialize)]
struct PolicyCheckReport<'a> {
    /// The file; `null` for the built-in policy.
    file: Option<&'a str>,
    ok: bool,
    /// SHA-256 of the policy's text, as journals record it; `null` where it has mistakes.
    hash: Option<&'a str>,
    errors: Vec<ErrorRow<'a>>,
    warnings: &'a [Warning],
    /// Risks that the policy accepts, with its reasons.
    accepted_risks: &'a [AcceptedRisk],
}

#[derive(Serialize)]
struct ErrorRow<'a> {
    /// Where the mistake is: the policy, or another file that a run reads.
    file: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> From<&'a Diagnostic> for ErrorRow<'a> {
    fn from(mistake: &'a Diagnostic) -> Self {
        Self {
            file: &mistake.origin,
            line: mistake.place.line,
            column: mistake.place.column,
            message: &mistake.message,
            hint: mistake.hint.as_deref(),
        }
    }
}

fn check(
    args: &PolicyCheckArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let at = args.inspect.at.as_deref();
    let (file, found) = match &args.file {
        Some(path) => {
            let file = given(context, path, "FILE")?;
            let found = policy_check::examine_file(&file)?;
            (Some(file), found)
        }
        None => {
            let file = repository_file(context, at)?;
            let place = InspectedRepository::open(context, at)?;
            (file, policy_check::examine(&place.origin(), &place.settings()?)?)
        }
    };
    note_uncommitted(context, args.file.as_deref(), at, output)?;
    let name = file.as_ref().map(|file| file.origin.as_str());
    let PolicyExamination { policy, mistakes, mut warnings, .. } = found;
    let accepted = policy.as_ref().map(accepted_risks).unwrap_or_default();
    if let Some(policy) = &policy {
        let cited = cited(args, context)?;
        warnings.extend(cited.iter().flat_map(|cited| idle::unused_rules(policy, cited)));
    }
    let is_denied = args.deny_warnings && !warnings.is_empty();
    let status =
        if is_denied || !mistakes.is_empty() { ExitStatus::Usage } else { ExitStatus::Done };
    if args.inspect.json {
        output.json(&PolicyCheckReport {
            file: name,
            ok: status == ExitStatus::Done,
            hash: policy.as_ref().map(Policy::hash),
            errors: mistakes.iter().map(ErrorRow::from).collect(),
            warnings: &warnings,
            accepted_risks: &accepted,
        });
        return Ok(status);
    }
    if !mistakes.is_empty() {
        return Err(mistakes.into_iter().collect());
    }
    for warning in &warnings {
        let message = visible(&warning.message);
        output.message(&format!("warning: {}: {message}", warning.rule.place()));
    }
    for risk in &accepted {
        output.line(visible(&risk.to_string()));
    }
    let count = if warnings.is_empty() {
        String::new()
    } else {
        format!(", {}", figures::count(warnings.len(), "warning"))
    };
    match name {
        Some(name) => {
            let ok = output.colours().paint(Role::Good, "ok");
            output.line(format!("{name}: {ok}{count}"));
        }
        None => {
            output.line(format!("there is no `{POLICY_FILE}`: the built-in policy applies{count}"))
        }
    }
    Ok(status)
}

/// Returns the rules that the verdicts of the named sessions rest on; `None` where none is named.
fn cited(
    args: &PolicyCheckArgs,
    context: &CommandContext,
) -> Result<Option<Vec<RuleRef>>, RunError> {
    if args.session.is_empty() {
        return Ok(None);
    }
    let sessions = sessions_folder(context, args.session_dir.as_deref())?;
    let mut cited = Vec::new();
    for name in &args.session {
        let folder = find(&sessions, name)?;
        let lines = Journal::read(&folder)
            .map_err(|error| RunError::usage(folder.display().to_string(), error.to_string()))?;
        cited.extend(lines.into_iter().flat_map(|line| cited_rules(line.event)));
    }
    Ok(Some(cited))
}

/// The rules that verdicts of an event rest on.
fn cited_rules(event: Event) -> Vec<RuleRef> {
    match event {
        Event::Judged { verdicts, .. } => {
            verdicts.iter().filter_map(|verdict| verdict.rule().cloned()).collect()
        }
        _ => Vec::new(),
    }
}

/// The result of an import for programs.
#[derive(Serialize)]
struct ImportedRow<'a> {
    policy: &'a str,
    /// What could not be carried over.
    notes: &'a [String],
    /// What became something else.
    changes: &'a [String],
}

fn imported(
    args: &PolicyImportArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let files = args
        .files
        .iter()
        .map(|path| given(context, path, "FILE"))
        .collect::<Result<Vec<_>, _>>()?;
    // Absolute paths below the checkout are paths of the repository.
    let place = InspectedRepository::open(context, None)?;
    let sources: Vec<ImportSource<'_>> =
        files.iter().map(|file| ImportSource { origin: &file.origin, text: &file.text }).collect();
    let roots = place.names_of_root(context);
    let roots: Vec<&str> = roots.iter().map(String::as_str).collect();
    let imported = import_all(args.from, &sources, &roots)?;
    if args.json {
        output.json(&ImportedRow {
            policy: &imported.policy,
            notes: &imported.notes,
            changes: &imported.changes,
        });
    } else {
        imported
            .notes
            .iter()
            .for_each(|note| output.talk(format!("not converted: {}", visible(note))));
        imported
            .changes
            .iter()
            .for_each(|change| output.talk(format!("changed: {}", visible(change))));
        imported.policy.lines().for_each(|line| output.line(line.to_owned()));
        if args.from == Peer::Claude {
            output.talk(
                "hint: `locum hook claude --settings` lets Claude Code ask this policy, so that \
                 you can try it there",
            );
        }
    }
    Ok(ExitStatus::Done)
}
