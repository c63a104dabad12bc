//! `locum policy explain`: what the policy decides on intents and tool calls, by which rule, and
//! why. Nothing is done.
//!
//! In: questions as arguments, or as lines of standard input. Out: an answer each, in their order;
//! lines are answered as they come, and one that cannot be read is answered too. What the questions
//! mean is known to `policy::question`, the answers to `run::explain`.

use std::io::{self, BufRead, BufReader, Read};

use serde::Serialize;
use serde_json::Value;

use crate::cli::colour::Colours;
use crate::cli::inspected::InspectedRepository;
use crate::cli::output::Output;
use crate::cli::policy_args::PolicyExplainArgs;
use crate::cli::policy_file::{chosen, note_uncommitted, parse};
use crate::cli::{CommandContext, ExitStatus, local_run};
use crate::run::error::RunError;
use crate::run::explain::{ExplainedQuery, Explainer};
use crate::run::job;
use crate::run::unknown_job::unknown_job;
use locum_agent::report::json::VerdictReport;
use locum_agent::report::markdown::visible;
use locum_files::diagnostic::Diagnostic;
use locum_files::rejection::Rejection;
use locum_policy::intent::Facts;
use locum_policy::lint::explain::Explanation;
use locum_policy::lint::nearest::NearestRule;
use locum_policy::lint::risks::accepted_risks;
use locum_policy::query::{self, PolicyQuery};
use locum_policy::verdict::Decision;
use locum_sandbox::Sandbox;
use locum_sandbox::level::SandboxLevel;

/// Longest line of standard input, in bytes.
const LINE_LIMIT_BYTES: usize = 1024 * 1024;

/// What to do about an intent that is none.
const INTENT_HINT: &str = "write kind and what it is about in one word, in quotes for the shell: \
                           `'edit(src/x.rs)'`, `'command(cargo test)'`";

/// Bytes of standard input that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Runs the subcommand.
///
/// # Errors
/// Every mistake of the policy file, and of the questions among the arguments.
pub(super) fn run(
    args: &PolicyExplainArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let lines = args.stdin || args.asked == ["-"];
    if !lines && args.asked.iter().any(|asked| asked == "-") {
        return Err(RunError::usage(
            "INTENT",
            "`-` reads standard input, and takes no other arguments",
        )
        .hint("remove the other arguments"));
    }
    let explainer = explainer(args, context, output)?;
    note_uncommitted(context, args.policy.as_deref(), args.inspect.at.as_deref(), output)?;
    if lines {
        return answer_lines(
            &mut BufReader::with_capacity(READ_BYTES, io::stdin().lock()),
            &explainer,
            output,
        );
    }
    let mut answers = Vec::new();
    let mut diagnostics = Vec::new();
    for text in &args.asked {
        match answer(text, &explainer) {
            Ok((_, answer)) => answers.push(answer),
            Err(unread) => diagnostics.push(Diagnostic {
                hint: unread.hint.or_else(|| Some(INTENT_HINT.to_owned())),
                ..Diagnostic::about("INTENT", unread.message)
            }),
        }
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_iter().collect());
    }
    if args.inspect.json {
        output.json(
            &answers
                .iter()
                .filter_map(|answer| ExplainRow::of(answer, None, None))
                .collect::<Vec<_>>(),
        );
    } else {
        let colours = output.colours();
        answers.iter().flat_map(|answer| texts(answer, colours)).for_each(|line| output.line(line));
        let risks = accepted_risks(explainer.policy());
        risks
            .iter()
            .filter(|risk| risk.modes.contains(&explainer.facts().mode))
            .for_each(|risk| output.talk(visible(&risk.to_string())));
    }
    Ok(status(answers.iter().map(ExplainedQuery::decision).max()))
}

fn explainer(
    args: &PolicyExplainArgs,
    context: &CommandContext,
    output: &mut Output,
) -> Result<Explainer, RunError> {
    let at = args.inspect.at.as_deref();
    let file = chosen(context, args.policy.as_deref(), "--policy", at)?;
    let from = InspectedRepository::open(context, at)?;
    let policy = parse(file.as_ref())?.with_ignored(from.source().ignored()?);
    if let (Some(name), Ok(jobs)) = (args.job.as_deref(), job::read_all(&from.source()))
        && jobs.iter().all(|job| job.name != name)
    {
        let problem = unknown_job("--job", name, &jobs).report();
        output.talk(format!("note: {}", problem.trim_start_matches("error: ")));
    }
    let policy = policy.of_job(args.job.as_deref());
    let mode = args.mode.clone().unwrap_or_else(|| policy.settings().modes.default.clone());
    let workspace = local_run::open(&context.folder).ok();
    let commands = &policy.settings().commands;
    let sandboxed = SandboxLevel::obtained().is_full();
    let contained = commands.contains_scripts()
        && workspace.as_ref().map(|workspace| workspace.checkout.root()).is_some_and(|root| {
            Sandbox::prepare(commands, context.environment.variables())
                .is_ok_and(|sandbox| sandbox.contains(root))
        });
    let facts = Facts {
        mode: mode.clone(),
        trigger: args.trigger,
        tier: args.tier,
        job: args.job.clone(),
        sandboxed,
        contained,
        ..Facts::default()
    };
    let image_models = from.settings()?.values.models.pointers.image.0;
    let explainer =
        Explainer::new(policy, from.usable_modes(output)?, workspace, facts, image_models);
    match explainer.mode(&mode) {
        Err(what) if args.mode.is_some() => {
            Err(RunError::usage("--mode", what).hint("`locum modes list` shows every mode"))
        }
        Ok(_) if args.mode.is_some() => Ok(explainer.in_named_mode()),
        Ok(_) | Err(_) => Ok(explainer),
    }
}

fn answer(text: &str, explainer: &Explainer) -> Result<(PolicyQuery, ExplainedQuery), Rejection> {
    let question = PolicyQuery::parse(text)?;
    let answer = explainer.answer(&question)?;
    Ok((question, answer))
}

/// Answers lines as they come; what was answered is handed on whenever nothing more has come yet.
fn answer_lines(
    input: &mut BufReader<impl Read>,
    explainer: &Explainer,
    output: &mut Output,
) -> Result<ExitStatus, RunError> {
    let error = |error: io::Error| RunError::internal(format!("standard input: {error}"));
    let mut buffer = Vec::new();
    let (mut number, mut unread, mut worst) = (0, false, None);
    loop {
        buffer.clear();
        let line = read_line(input, &mut buffer).map_err(error)?;
        if line == InputLine::None {
            break;
        }
        number += 1;
        let text = match line {
            InputLine::TooLong => {
                Err(Rejection::from(format!("the line is longer than {LINE_LIMIT_BYTES} bytes")))
            }
            InputLine::Whole | InputLine::None => std::str::from_utf8(&buffer)
                .map_err(|_| Rejection::from("the line is not UTF-8 text")),
        };
        let text = text.map(|text| {
            if number == 1 { text.trim_start_matches('\u{feff}').trim() } else { text.trim() }
        });
        if text.as_ref().is_ok_and(|text| text.is_empty()) {
            continue;
        }
        let id = text.as_ref().ok().and_then(|text| query::id_of(text));
        match text.and_then(|text| answer(text, explainer)) {
            Ok((question, answer)) => {
                worst = worst.max(Some(answer.decision()));
                if let Some(row) = ExplainRow::of(&answer, Some(number), question.id.as_ref()) {
                    output.json_record(&row);
                }
            }
            Err(error) => {
                unread = true;
                output.json_record(&UnreadRow {
                    input_line: number,
                    id,
                    error: &error.message,
                    hint: error.hint.as_deref(),
                });
            }
        }
        let more_has_come = input.buffer().contains(&b'\n');
        if !more_has_come && !output.hand_on() {
            break;
        }
    }
    match (unread, worst) {
        (true, _) => Ok(ExitStatus::Usage),
        (false, None) => Err(RunError::usage("standard input", "no intents")
            .hint("write one intent or tool call a line")),
        (false, worst) => Ok(status(worst)),
    }
}

/// What a question was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputLine {
    /// A line, with or without its end.
    Whole,
    /// A line above the limit; the buffer holds its start.
    TooLong,
    /// The end of the input.
    None,
}

/// Reads a line without its end. Of one above the limit the rest is passed over.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<InputLine> {
    let most = LINE_LIMIT_BYTES as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(InputLine::None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > LINE_LIMIT_BYTES {
        input.skip_until(b'\n')?;
        return Ok(InputLine::TooLong);
    }
    Ok(InputLine::Whole)
}

fn status(worst: Option<Decision>) -> ExitStatus {
    match worst.unwrap_or(Decision::Deny) {
        Decision::Allow => ExitStatus::Done,
        Decision::Hold => ExitStatus::NeedsPerson,
        Decision::Deny => ExitStatus::Refused,
    }
}

/// One answer as JSON: the strictest verdict and, of a tool call, every one.
#[derive(Serialize)]
struct ExplainRow<'a> {
    /// The line of standard input, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_line: Option<usize>,
    /// The name the asker gave the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    #[serde(flatten)]
    explained: ExplainedVerdict<'a>,
    /// The tool call in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    /// What is said of each thing a call would do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    intents: Vec<ExplainedVerdict<'a>>,
}

#[derive(Serialize)]
struct ExplainedVerdict<'a> {
    #[serde(flatten)]
    verdict: VerdictReport<'a>,
    /// The rule that comes nearest to allowing it, and why it does not.
    nearest: Option<&'a NearestRule>,
}

/// A line that is not a question.
#[derive(Serialize)]
struct UnreadRow<'a> {
    input_line: usize,
    /// The name the asker gave it, where that can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    error: &'a str,
    hint: Option<&'a str>,
}

impl<'a> ExplainRow<'a> {
    fn of(
        answer: &'a ExplainedQuery,
        input_line: Option<usize>,
        id: Option<&'a Value>,
    ) -> Option<Self> {
        let call = answer.call.as_deref();
        let intents = if call.is_some() {
            answer.explanations.iter().map(ExplainedVerdict::from).collect()
        } else {
            Vec::new()
        };
        Some(Self {
            input_line,
            id,
            explained: ExplainedVerdict::from(answer.worst()?),
            call,
            intents,
        })
    }
}

impl<'a> From<&'a Explanation> for ExplainedVerdict<'a> {
    fn from(explanation: &'a Explanation) -> Self {
        Self {
            verdict: VerdictReport::new(&explanation.verdict),
            nearest: explanation.nearest.as_ref(),
        }
    }
}

/// An answer as text: of a tool call, the call and below it what it would do.
fn texts(answer: &ExplainedQuery, colours: Colours) -> Vec<String> {
    let of_intents = answer.explanations.iter().flat_map(|explanation| lines(explanation, colours));
    match &answer.call {
        None => of_intents.collect(),
        Some(call) => {
            let decision = answer.decision();
            let call = visible(&format!("{:<5}  call: {call}", word(decision)));
            let call = colours.first_word(decision.into(), &call);
            std::iter::once(call).chain(of_intents.map(|line| format!("       {line}"))).collect()
        }
    }
}

fn lines(explanation: &Explanation, colours: Colours) -> Vec<String> {
    let verdict = &explanation.verdict;
    let first = visible(&format!("{:<5}  {}", word(verdict.decision), verdict.intent));
    let mut lines = vec![
        colours.first_word(verdict.decision.into(), &first),
        visible(&format!("       {}", verdict.reason())),
    ];
    match verdict.rule() {
        Some(rule) => lines.push(visible(&format!("       {} {}", rule.place(), rule.pattern))),
        None if !verdict.is_by_default() => {}
        None => lines.push("       no rule matched (default: deny)".to_owned()),
    }
    if let Some(nearest) = &explanation.nearest {
        let why = if nearest.why == verdict.reason() {
            String::new()
        } else {
            format!(": {}", nearest.why)
        };
        lines.push(visible(&format!(
            "       nearest rule that allows: {} {}{why}",
            nearest.rule.place(),
            nearest.rule.pattern
        )));
    }
    lines
}

/// Returns a decision in one word.
pub(super) fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Hold => "hold",
        Decision::Deny => "deny",
    }
}
