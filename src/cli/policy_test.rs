//! `locum policy test`: tries a policy's own examples and files of cases, and says of each whether
//! it came out as it must.
//!
//! In: a policy and files of cases. Out: a line a case, a summary, and an exit code for CI. Cases
//! are answered as `policy explain` answers, in a sandbox whether this machine has one or not, so
//! that they come out alike everywhere.

use serde::Serialize;

use crate::cli::colour::Role;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_args::PolicyTestArgs;
use crate::cli::policy_explain::word;
use crate::cli::policy_file::{chosen, given};
use crate::cli::{CommandContext, ExitStatus, local_run};
use crate::config::load::ConfigFile;
use crate::run::error::RunError;
use crate::run::explain::Explainer;
use locum_agent::report::figures;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_policy::cases::{CASES_FILE, PolicyCase, read_cases};
use locum_policy::example::Example;
use locum_policy::intent::Facts;
use locum_policy::verdict::{Decision, RuleRef, Verdict};
use locum_policy::{BUILTIN_ORIGIN, BUILTIN_TEXT, Policy};

/// The result of one case.
#[derive(Serialize)]
struct CaseRow {
    file: String,
    line: u32,
    /// What the maintainer calls it.
    name: Option<String>,
    /// What was tried, as written.
    case: String,
    expected: Decision,
    passed: bool,
    /// The decision that came out.
    decision: Decision,
    reason: String,
    rule: Option<String>,
    rule_file: Option<String>,
    rule_line: Option<u32>,
}

/// The result for programs.
#[derive(Serialize)]
struct PolicyTestReport<'a> {
    policy: &'a str,
    passed: usize,
    failed: usize,
    cases: &'a [CaseRow],
}

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the policy file and of the files of cases; and when there is nothing to test.
pub(super) fn run(
    args: &PolicyTestArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let at = args.inspect.at.as_deref();
    let file = chosen(context, args.policy.as_deref(), "--policy", at)?;
    let from = InspectedRepository::open(context, at)?;
    let policy = file.as_ref().map_or_else(
        || Policy::parse_untried(BUILTIN_TEXT, BUILTIN_ORIGIN),
        |file| Policy::parse_untried(&file.text, &file.origin),
    )?;
    let mut rows: Vec<CaseRow> = policy
        .examples()
        .iter()
        .map(|example| of_example(&policy, example))
        .collect::<Result<_, _>>()?;
    let facts = Facts {
        mode: policy.settings().modes.default.clone(),
        sandboxed: true,
        contained: true,
        ..Facts::default()
    };
    let policy = policy.with_ignored(from.source().ignored()?);
    let image_models = from.settings()?.values.models.pointers.image.0;
    let workspace = local_run::open(&context.folder).ok();
    let explainer =
        Explainer::new(policy, from.usable_modes(output)?, workspace, facts, image_models);
    rows.extend(of_files(&case_files(args, context, &from)?, &explainer)?);
    if rows.is_empty() {
        let hint = format!("give the policy `examples`, or write `{CASES_FILE}`");
        return Err(
            RunError::usage(explainer.policy().origin(), "there is nothing to test").hint(hint)
        );
    }
    show(&rows, args, explainer.policy().origin(), output);
    Ok(if rows.iter().all(|row| row.passed) { ExitStatus::Done } else { ExitStatus::Failed })
}

fn case_files(
    args: &PolicyTestArgs,
    context: &CommandContext,
    from: &InspectedRepository<'_>,
) -> Result<Vec<ConfigFile>, RunError> {
    if args.files.is_empty() {
        return Ok(from.source().own_file(CASES_FILE)?.into_iter().collect());
    }
    args.files.iter().map(|path| given(context, path, "FILE")).collect()
}

fn of_example(policy: &Policy, example: &Example) -> Result<CaseRow, RunError> {
    let tried = policy
        .try_example(example)
        .map_err(|what| RunError::usage(format!("{}:{}", policy.origin(), example.place), what))?;
    let verdict = tried.verdict.unwrap_or_else(|| no_path(&example.text));
    let case = PolicyCase {
        place: example.place,
        name: None,
        expected: example.expected,
        text: example.text.clone(),
        question: None,
    };
    Ok(row(policy.origin(), &case, verdict))
}

fn of_files(files: &[ConfigFile], explainer: &Explainer) -> Result<Vec<CaseRow>, RunError> {
    let mut rows = Vec::new();
    let mut diagnostics = Vec::new();
    for file in files {
        let cases = match read_cases(&file.text, &file.origin) {
            Ok(cases) => cases,
            Err(errors) => {
                diagnostics.extend(RunError::from(errors).diagnostics);
                continue;
            }
        };
        for case in cases {
            let answered =
                case.question.as_ref().map(|question| explainer.answer(question)).transpose();
            match answered {
                Ok(answer) => {
                    let verdict =
                        answer.and_then(|answer| answer.worst().map(|worst| worst.verdict.clone()));
                    rows.push(row(
                        &file.origin,
                        &case,
                        verdict.unwrap_or_else(|| no_path(&case.text)),
                    ));
                }
                Err(message) => diagnostics
                    .push(Diagnostic::about(format!("{}:{}", file.origin, case.place), message)),
            }
        }
    }
    if diagnostics.is_empty() { Ok(rows) } else { Err(diagnostics.into_iter().collect()) }
}

/// A path that leads out of the repository is denied.
fn no_path(text: &str) -> Verdict {
    Verdict::denied(text.to_owned(), "it is not a path inside the repository".to_owned())
}

fn row(file: &str, case: &PolicyCase, verdict: Verdict) -> CaseRow {
    let rule = verdict.rule();
    CaseRow {
        file: file.to_owned(),
        line: case.place.line,
        name: case.name.clone(),
        case: case.text.clone(),
        expected: case.expected,
        passed: verdict.decision == case.expected,
        decision: verdict.decision,
        reason: verdict.reason(),
        rule_file: rule.map(|rule| rule.origin.clone()),
        rule_line: rule.map(RuleRef::line_number),
        rule: rule.map(|rule| rule.pattern.clone()),
    }
}

fn show(rows: &[CaseRow], args: &PolicyTestArgs, policy: &str, output: &mut Output) {
    let passed = rows.iter().filter(|row| row.passed).count();
    let failed = rows.len() - passed;
    if args.inspect.json {
        return output.json(&PolicyTestReport { policy, passed, failed, cases: rows });
    }
    let colours = output.colours();
    for row in rows {
        let role = if row.passed { Role::Good } else { Role::Bad };
        output.line(colours.first_word(role, &visible(&line(row))));
    }
    let failures = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    output.line(format!("{policy}: {} passed{failures}", figures::count(passed, "case")));
}

/// `pass  file:3 deny edit(x) (.locum/policy.yml:4 edit(**))`
fn line(row: &CaseRow) -> String {
    let mark = if row.passed { "pass" } else { "FAIL" };
    let name = row.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let rule = match (&row.rule, &row.rule_file, row.rule_line) {
        (Some(rule), Some(file), Some(0)) => format!(" ({file} {rule})"),
        (Some(rule), Some(file), Some(line)) => format!(" ({file}:{line} {rule})"),
        (_, _, _) => String::new(),
    };
    let got = if row.passed {
        String::new()
    } else {
        format!(": it is `{}`, {}", word(row.decision), row.reason)
    };
    format!(
        "{mark}  {}:{} {name}{} {}{got}{rule}",
        row.file,
        row.line,
        word(row.expected),
        row.case
    )
}
