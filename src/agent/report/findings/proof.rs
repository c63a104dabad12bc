//! How what a finding names to show it really ended, if it was run at all: the program says it,
//! below the words of the model.

use crate::report::figures;
use crate::report::findings::Finding;
use crate::report::markdown;
use crate::session::command_report::CommandReport;
use locum_base::text::single_blanks;
use locum_sandbox::exec::Exit;

/// How the words begin before the command that shows a finding.
const SHOWN_BY: &str = "shown by `";

/// What only the program says.
const RAN: &str = "Locum ran it in this review";
/// Ends that are said of a command that ran several times.
const ENDS_SHOWN: usize = 5;
const NOT_RUN: &str = "Locum did not run this command in this review";

/// Adds to a finding how the command ended that is said to show it, or that it was not run.
pub(super) fn checked(finding: Finding, commands: &[CommandReport]) -> Finding {
    let finding = without_ours(finding);
    let Some(named) = named(&finding.body) else { return finding };
    let ends: Vec<String> = commands.iter().filter_map(|ran| end_of(named, ran)).collect();
    let said = match ends.as_slice() {
        [] => format!("{NOT_RUN}."),
        [ended] => format!("{RAN}: {ended}."),
        // On the base, say, or with a fix: which of them counts is for the reader.
        ends => {
            let first = ends.get(..ENDS_SHOWN).unwrap_or(ends).join(", then ");
            format!("{RAN} {} times: {first}.", ends.len())
        }
    };
    Finding { body: format!("{}\n\n{said}", finding.body), ..finding }
}

/// Takes out what a model wrote in our place.
fn without_ours(finding: Finding) -> Finding {
    let kept = |line: &str| {
        let ours = [RAN, NOT_RUN].iter().filter_map(|ours| line.find(ours)).min();
        ours.and_then(|at| line.get(..at)).unwrap_or(line).trim_end().to_owned()
    };
    let body: Vec<String> = finding.body.lines().map(kept).collect();
    Finding { body: body.join("\n"), ..finding }
}

/// Returns the command that is said to show a finding.
fn named(body: &str) -> Option<&str> {
    let at = body.to_ascii_lowercase().find(SHOWN_BY)?;
    let rest = body.get(at + SHOWN_BY.len()..)?;
    let command = rest.trim_start_matches('`').split('`').next()?.trim();
    Some(command).filter(|command| !command.is_empty())
}

/// Returns how a command ended, alone or as a part of a script; `None` where the script is another.
fn end_of(named: &str, ran: &CommandReport) -> Option<String> {
    let named = single_blanks(named);
    let stages = ran.details.failed_steps.iter().flat_map(|step| &step.stages);
    if let Some(stage) = stages.into_iter().find(|stage| single_blanks(&stage.command) == named) {
        return Some(figures::exit(Exit::Code(stage.code)));
    }
    let is_named = |part: &str| single_blanks(part) == named;
    let parts = |line: &str| line.split([';', '|', '&', '(', ')']).any(is_named);
    let script = &ran.command;
    let is_part = is_named(script) || script.lines().any(|line| is_named(line) || parts(line));
    is_part.then(|| ran.ended(markdown::code))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::report::findings::findings;
    use crate::session::command_report::CommandReport;
    use locum_policy::schema::review::Confidence;
    use locum_sandbox::exec::Exit;
    use locum_sandbox::exec::steps::{FailedStep, StageExit};
    use std::collections::BTreeMap;

    #[test]
    fn a_model_cannot_say_it_in_our_place() {
        let lines = BTreeMap::from([("a.py".to_owned(), vec![(1, 9)])]);
        let summary = "- blocker `a.py:3`: zero.\n  **Locum ran it in this review**: exit 1.\n  \
                       End.\n\
                       - blocker `a.py:4`. Locum ran it in this review: exit 1.";
        let found = findings(summary, &[], &lines);
        let bodies: Vec<&str> = found.iter().map(|one| one.body.as_str()).collect();
        assert_eq!(bodies, ["blocker `a.py:3`: zero.\n**\nEnd.", "blocker `a.py:4`."]);
    }

    fn ran(command: &str, code: i32) -> CommandReport {
        CommandReport {
            command: command.to_owned(),
            exit: Exit::Code(code),
            details: Default::default(),
            background: None,
        }
    }

    #[test]
    fn a_command_that_shows_a_finding_is_looked_up_among_those_that_ran() {
        let lines = BTreeMap::from([("a.py".to_owned(), vec![(1, 9)])]);
        let summary = "- **blocker**, high confidence, `a.py:3`: divides by zero. Shown by \
                       `pytest t.py`:\n\n  ```python\n  def test():\n      - mean([])\n\n      \
                       x\n  ```\n\
                       - nit `a.py:4`";
        let test = "```python\ndef test():\n    - mean([])\n\n    x\n```";
        let script = "cat > t.py <<'E'\ndef test(): pass\nE\npytest t.py";
        let built = "make jq && pytest  t.py; echo end";
        let steps =
            FailedStep { stages: vec![StageExit { command: "pytest t.py".to_owned(), code: 134 }] };
        let mut part = ran(built, 0);
        part.details.failed_steps = vec![steps];
        for (commands, said) in [
            (vec![ran(script, 1)], "Locum ran it in this review: exit 1."),
            (vec![ran("pytest t.py", 1)], "Locum ran it in this review: exit 1."),
            (vec![ran(built, 2)], "Locum ran it in this review: exit 2."),
            (vec![part], "Locum ran it in this review: exit 134."),
            (
                vec![ran("pytest t.py", 1), ran(script, 0)],
                "Locum ran it in this review 2 times: exit 1, then exit 0.",
            ),
            (
                vec![ran("pytest t.pyc", 1), ran("echo pytest t.py", 1)],
                "Locum did not run this command in this review.",
            ),
        ] {
            let found = findings(summary, &commands, &lines);
            let [shown, plain] = found.as_slice() else { panic!("{found:?}") };
            assert!(shown.body.ends_with(&format!("{test}\n\n{said}")), "{}", shown.body);
            assert_eq!(shown.confidence, Confidence::High, "{commands:?}");
            assert_eq!(
                (plain.body.as_str(), plain.confidence),
                ("nit `a.py:4`", Confidence::Medium)
            );
        }
    }
}
