//! `locum policy`: is the policy file right, and what other tools' settings amount to as one.
//! Offline, nothing is run.

use serde::Serialize;

use crate::cli::colour::Role;
use crate::cli::inspected::InspectedRepository;
use crate::cli::job::mistakes_of_modes;
use crate::cli::output::Output;
use crate::cli::policy_args::{PolicyCheckArgs, PolicyCommand, PolicyImportArgs};
use crate::cli::policy_file::{chosen, given, note_uncommitted, parse};
use crate::cli::session::folder::{find, sessions_folder};
use crate::cli::{CommandContext, ExitStatus};
use crate::cli::{init, policy_explain, policy_test};
use crate::run::checks;
use crate::run::error::RunError;
use crate::run::hooks;
use crate::run::job;
use crate::run::source::JOBS_FOLDER;
use crate::run::trusted::POLICY_FILE;
use locum_agent::report::figures;
use locum_agent::report::markdown::visible;
use locum_agent::session::event::Event;
use locum_agent::session::journal::Journal;
use locum_agent::tools::hooks::HOOKS_FILE;
use locum_files::diagnostic::Diagnostic;
use locum_policy::Policy;
use locum_policy::cases::CASES_FILE;
use locum_policy::import::{ImportSource, Peer, import_all};
use locum_policy::lint::risks::{AcceptedRisk, accepted_risks};
use locum_policy::lint::warning::Warning;
use locum_policy::lint::{self, idle};
use locum_policy::schema::RepositoryHooks;
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
    /// SHA-256 of the policy's text, as journals record it.
    hash: Option<&'a str>,
    errors: Vec<ErrorRow<'a>>,
    warnings: &'a [Warning],
    /// Risks that the policy accepts, with its reasons.
    accepted_risks: &'a [AcceptedRisk],
}

#[derive(Serialize)]
struct ErrorRow<'a> {
    line: u32,
    column: u32,
    message: &'a str,
    hint: Option<&'a str>,
}

fn check(
    args: &PolicyCheckArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let at = args.inspect.at.as_deref();
    let file = chosen(context, args.file.as_deref(), "FILE", at)?;
    note_uncommitted(context, args.file.as_deref(), at, output)?;
    let name = file.as_ref().map(|file| file.origin.as_str());
    let policy = match parse(file.as_ref()) {
        Ok(policy) => policy,
        Err(errors) if args.inspect.json => {
            let errors = errors.0.iter().map(|error| ErrorRow {
                line: error.place.line,
                column: error.place.column,
                message: &error.message,
                hint: error.hint.as_deref(),
            });
            output.json(&PolicyCheckReport {
                file: name,
                ok: false,
                hash: None,
                errors: errors.collect(),
                warnings: &[],
                accepted_risks: &[],
            });
            return Ok(ExitStatus::Usage);
        }
        Err(errors) => return Err(errors.into()),
    };
    let (warnings, accepted) = (warnings(&policy, args, context)?, accepted_risks(&policy));
    // A job with a mistake would fail at night.
    if args.file.is_none() {
        let place = InspectedRepository::open(context, at)?;
        place.source().own_file(CASES_FILE)?;
        checks::read_all(&place.source())?;
        if policy.settings().commands.hooks == RepositoryHooks::On {
            hooks::read(&place.source())?;
        }
        let jobs = job::read_all(&place.source())?;
        let mistakes = mistakes_of_modes(&jobs, context, at)?;
        if !mistakes.is_empty() {
            return Err(mistakes.into_iter().collect());
        }
    }
    let status = if args.deny_warnings && !warnings.is_empty() {
        ExitStatus::Usage
    } else {
        ExitStatus::Done
    };
    if args.inspect.json {
        let ok = status == ExitStatus::Done;
        let hash = Some(policy.hash());
        output.json(&PolicyCheckReport {
            file: name,
            ok,
            hash,
            errors: Vec::new(),
            warnings: &warnings,
            accepted_risks: &accepted,
        });
        return Ok(status);
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

/// Everything there is to warn of: by the policy alone, by the jobs, and by sessions that are
/// named.
fn warnings(
    policy: &Policy,
    args: &PolicyCheckArgs,
    context: &CommandContext,
) -> Result<Vec<Warning>, RunError> {
    let mut warnings = lint::warnings(policy);
    if args.file.is_none() {
        let place = InspectedRepository::open(context, args.inspect.at.as_deref())?;
        let files = place.source().below(JOBS_FOLDER)?;
        let jobs: Vec<String> = files
            .iter()
            .filter_map(|(path, _)| path.as_str().strip_suffix(".yml"))
            .map(str::to_owned)
            .collect();
        warnings.extend(idle::unknown_jobs(policy, &jobs));
        // Their mistakes are errors of their own.
        if let Ok(checks) = checks::read_all(&place.source()) {
            let names: Vec<String> = checks.into_iter().map(|check| check.slug).collect();
            warnings.extend(idle::unknown_checks(policy, &names));
        }
        if policy.settings().commands.hooks == RepositoryHooks::On
            && let Ok(file) = hooks::read(&place.source())
        {
            warnings.extend(file.warnings.iter().map(of_hooks));
            warnings.extend(hooks::unallowed(policy, &file.hooks));
        }
        warnings.extend(place.source().ignored()?.left_out().map(of_ignore_file));
        // Mistakes in files of modes are reported by `locum modes validate` and by every run.
        if let Ok(modes) = place.modes() {
            let slugs: Vec<String> = modes.iter().map(|mode| mode.slug.clone()).collect();
            warnings.extend(idle::unknown_modes(policy, &slugs));
        }
    }
    if args.session.is_empty() {
        return Ok(warnings);
    }
    let sessions = sessions_folder(context, args.session_dir.as_deref())?;
    let mut cited = Vec::new();
    for name in &args.session {
        let folder = find(&sessions, name)?;
        let lines = Journal::read(&folder)
            .map_err(|error| RunError::usage(folder.display().to_string(), error.to_string()))?;
        cited.extend(lines.into_iter().flat_map(|line| cited_rules(line.event)));
    }
    warnings.extend(idle::unused_rules(policy, &cited));
    Ok(warnings)
}

/// A part of the hooks that has no effect.
fn of_hooks(warning: &Diagnostic) -> Warning {
    let rule = RuleRef::at("hooks", HOOKS_FILE, warning.place.line);
    Warning { rule, message: warning.message.clone() }
}

/// A line of an ignore file that hides nothing.
fn of_ignore_file((name, warning): (&str, &Diagnostic)) -> Warning {
    let rule = RuleRef::at(name, name, warning.place.line);
    Warning { rule, message: warning.message.clone() }
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
