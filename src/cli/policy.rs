//! `locum policy check|explain|import`: is the policy file right, and what does it say to one thing or another. Offline, nothing is run.

use serde::Serialize;

use crate::cli::failure::{Failure, Mistake};
use crate::cli::inspect_args::{PolicyArgs, PolicyCheckArgs, PolicyCommand, PolicyExplainArgs, PolicyImportArgs};
use crate::cli::output::Output;
use crate::cli::place::{Place, named_file};
use crate::cli::{Context, ExitStatus};
use crate::config::load::ConfigFile;
use crate::policy::Policy;
use crate::policy::explain::{Explanation, Warning, parse_intent};
use crate::policy::import::import;
use crate::policy::intent::Facts;
use crate::policy::schema::PolicyErrors;
use crate::policy::verdict::{Decision, RuleRef};
use crate::report::figures;
use crate::report::json::VerdictReport;
use crate::report::markdown::visible;
use crate::run::trusted::POLICY_FILE;

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the policy file, and of the intents asked about.
pub fn run(args: &PolicyArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    match &args.command {
        PolicyCommand::Check(args) => check(args, context, output),
        PolicyCommand::Explain(args) => explain(args, context, output),
        PolicyCommand::Import(args) => imported(args, context, output),
    }
}

/// The result of a check for programs.
#[derive(Serialize)]
struct Checked<'a> {
    /// The file; `null` for the built-in policy.
    file: Option<&'a str>,
    ok: bool,
    /// SHA-256 of the policy's text, as journals record it.
    hash: Option<&'a str>,
    errors: Vec<ErrorRow<'a>>,
    warnings: &'a [Warning],
}

#[derive(Serialize)]
struct ErrorRow<'a> {
    line: u32,
    column: u32,
    message: &'a str,
    hint: Option<&'a str>,
}

fn check(args: &PolicyCheckArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let file = match &args.file {
        Some(path) => Some(given(context, path, "FILE")?),
        None => repository_file(context, args.inspect.at.as_deref())?,
    };
    let name = file.as_ref().map(|file| file.origin.as_str());
    match (parse(file.as_ref()), args.inspect.json) {
        (Ok(policy), true) => {
            let warnings = policy.warnings();
            output.json(&Checked { file: name, ok: true, hash: Some(policy.hash()), errors: Vec::new(), warnings: &warnings });
            Ok(ExitStatus::Done)
        }
        (Ok(policy), false) => {
            let warnings = policy.warnings();
            for warning in &warnings {
                output.line(format!("warning: {}: {}", place(&warning.rule), visible(&warning.message)));
            }
            let count = if warnings.is_empty() { String::new() } else { format!(", {}", figures::count(warnings.len(), "warning")) };
            match name {
                Some(name) => output.line(format!("{name}: ok{count}")),
                None => output.line(format!("there is no `{POLICY_FILE}`: the built-in policy applies{count}")),
            }
            Ok(ExitStatus::Done)
        }
        (Err(errors), true) => {
            let row = |error| ErrorRow::from(error);
            output.json(&Checked { file: name, ok: false, hash: None, errors: errors.0.iter().map(row).collect(), warnings: &[] });
            Ok(ExitStatus::Usage)
        }
        (Err(errors), false) => Err(errors.into()),
    }
}

/// One answer for programs.
#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    verdict: VerdictReport<'a>,
    /// The rule that comes nearest to allowing it.
    nearest: Option<&'a RuleRef>,
}

impl<'a> From<&'a Explanation> for Explained<'a> {
    fn from(explanation: &'a Explanation) -> Self {
        Self { verdict: VerdictReport::new(&explanation.verdict), nearest: explanation.nearest.as_ref() }
    }
}

fn explain(args: &PolicyExplainArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let file = match &args.policy {
        Some(path) => Some(given(context, path, "--policy")?),
        None => repository_file(context, args.inspect.at.as_deref())?,
    };
    let policy = parse(file.as_ref())?.with_ignored(Place::open(context, args.inspect.at.as_deref())?.ignored()?);
    let mode = args.mode.clone().unwrap_or_else(|| policy.settings().modes.default.clone());
    let facts = Facts { mode, trigger: args.trigger.into(), tier: args.tier.into(), job: args.job.clone(), ..Facts::default() };
    let mut explanations = Vec::new();
    let mut mistakes = Vec::new();
    for text in &args.intents {
        match parse_intent(text) {
            Ok(intent) => explanations.push(policy.explain(&intent, &facts)),
            Err(what) => mistakes.push(Mistake { place: "INTENT".to_owned(), what, hint: None }),
        }
    }
    if !mistakes.is_empty() {
        return Err(Failure { status: ExitStatus::Usage, mistakes });
    }
    if args.inspect.json {
        output.json(&explanations.iter().map(Explained::from).collect::<Vec<_>>());
    } else {
        explanations.iter().flat_map(lines).for_each(|line| output.line(line));
    }
    let worst = explanations.iter().map(|one| one.verdict.decision).max().unwrap_or(Decision::Deny);
    Ok(match worst {
        Decision::Allow => ExitStatus::Done,
        Decision::Hold => ExitStatus::NeedsPerson,
        Decision::Deny => ExitStatus::Refused,
    })
}

/// The result of an import for programs.
#[derive(Serialize)]
struct ImportedRow<'a> {
    policy: &'a str,
    /// What could not be carried over.
    notes: &'a [String],
}

fn imported(args: &PolicyImportArgs, context: &Context, output: &mut Output) -> Result<ExitStatus, Failure> {
    let file = given(context, &args.file, "FILE")?;
    let imported = import(args.from.into(), &file.text, &file.origin)?;
    if args.json {
        output.json(&ImportedRow { policy: &imported.policy, notes: &imported.notes });
    } else {
        imported.notes.iter().for_each(|note| output.talk(format!("not carried over: {}", visible(note))));
        imported.policy.lines().for_each(|line| output.line(line.to_owned()));
    }
    Ok(ExitStatus::Done)
}

fn lines(explanation: &Explanation) -> Vec<String> {
    let verdict = &explanation.verdict;
    let decision = match verdict.decision {
        Decision::Allow => "allow",
        Decision::Hold => "hold",
        Decision::Deny => "deny",
    };
    let mut lines = vec![visible(&format!("{decision:<5}  {}", verdict.intent)), visible(&format!("       {}", verdict.reason))];
    match &verdict.rule {
        Some(rule) => lines.push(visible(&format!("       {} {}", place(rule), rule.pattern))),
        None => lines.push("       no rule of the file decided".to_owned()),
    }
    lines.extend(
        explanation.nearest.as_ref().map(|rule| visible(&format!("       nearest rule that allows: {} {}", place(rule), rule.pattern))),
    );
    lines
}

fn place(rule: &RuleRef) -> String {
    format!("{}:{}", rule.origin, rule.line)
}

fn parse(file: Option<&ConfigFile>) -> Result<Policy, PolicyErrors> {
    file.map_or_else(|| Ok(Policy::builtin()), |file| Policy::parse(&file.text, &file.origin))
}

/// Reads the policy file a person named; it has to be there.
fn given(context: &Context, path: &std::path::Path, argument: &str) -> Result<ConfigFile, Failure> {
    let file = named_file(&context.folder.join(path))?
        .ok_or_else(|| Failure::usage(argument, format!("there is no file `{}`", path.display())))?;
    Ok(ConfigFile { origin: path.display().to_string(), ..file })
}

fn repository_file(context: &Context, at: Option<&str>) -> Result<Option<ConfigFile>, Failure> {
    let place = Place::open(context, at)?;
    let settings = place.settings(&context.environment, &[])?;
    let named = settings.values.policy.as_deref();
    let file = place.file(named.unwrap_or(POLICY_FILE))?;
    match (file, named) {
        (None, Some(path)) if path != POLICY_FILE => {
            let source = settings.source("policy").map_or_else(String::new, ToString::to_string);
            Err(Failure::usage(source, format!("`policy` names `{path}`, which is not there")))
        }
        (file, _) => Ok(file),
    }
}

impl<'a> From<&'a crate::policy::schema::PolicyError> for ErrorRow<'a> {
    fn from(error: &'a crate::policy::schema::PolicyError) -> Self {
        Self { line: error.line, column: error.column, message: &error.message, hint: error.hint.as_deref() }
    }
}

impl From<PolicyErrors> for Failure {
    fn from(errors: PolicyErrors) -> Self {
        let place = |origin: String, line: u32, column: u32| if line == 0 { origin } else { format!("{origin}:{line}:{column}") };
        let mistake = |error: crate::policy::schema::PolicyError| Mistake {
            place: place(error.origin, error.line, error.column),
            what: error.message,
            hint: error.hint,
        };
        Self { status: ExitStatus::Usage, mistakes: errors.0.into_iter().map(mistake).collect() }
    }
}
