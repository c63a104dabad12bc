//! The conclusion of a check: its verdict if its run completed, else why there is no verdict.
//!
//! In: an outcome. Out: a conclusion and a line. A check passes by its verdict alone.

use crate::report::figures;
use crate::report::markdown::{contained, inline, visible};
use crate::report::surface::join;
use crate::session::outcome::Outcome;
use crate::session::word::Severity;
use crate::tools::flow::verdict::CheckVerdict;
use locum_forge::posts::CheckConclusion;

/// Longest reason in the line, in characters.
const REASON_CHARS: usize = 160;

/// Returns how a check ended. Without a verdict it failed: nobody knows that it passed.
pub fn conclusion(outcome: &Outcome) -> CheckConclusion {
    match counted(outcome) {
        Some(CheckVerdict::Pass) => CheckConclusion::Success,
        Some(CheckVerdict::Neutral) => CheckConclusion::Neutral,
        Some(CheckVerdict::Fail) | None => CheckConclusion::Failure,
    }
}

/// Returns it in a line.
pub fn title(outcome: &Outcome) -> String {
    let (word, reason) = match (counted(outcome), &outcome.reason) {
        (Some(verdict), _) => (verdict.as_str(), outcome.summary.clone()),
        (None, Some(reason)) => ("no verdict", reason.clone()),
        (None, None) if outcome.word.severity() == Severity::Good => {
            ("no verdict", "the model gave none".to_owned())
        }
        (None, None) => ("no verdict", figures::headline(outcome)),
    };
    let reason = visible(&reason);
    let first = reason.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if first.is_empty() {
        word.to_owned()
    } else {
        format!("{word}: {}", figures::clip(first, REASON_CHARS))
    }
}

/// Returns what is said of it, in Markdown.
pub fn body(outcome: &Outcome) -> String {
    let result = contained(&outcome.summary);
    let spent = format!("*{}*", figures::spent(&outcome.spent, outcome.spent_is_estimate));
    let title = match outcome.verdict {
        Some(_) if counted(outcome).is_some() => String::new(),
        Some(_) | None => inline(&title(outcome)),
    };
    join(&[title, result, spent])
}

/// Returns the verdict that counts: of a run that was cut short, only that it failed.
fn counted(outcome: &Outcome) -> Option<CheckVerdict> {
    let is_whole = outcome.word.severity() == Severity::Good;
    outcome.verdict.filter(|verdict| is_whole || *verdict == CheckVerdict::Fail)
}

#[cfg(test)]
mod tests {
    use super::{conclusion, title};
    use crate::report::sample;
    use crate::session::outcome::{Outcome, OutcomeWord};
    use crate::tools::flow::verdict::CheckVerdict::{self, Fail, Neutral, Pass};
    use locum_forge::posts::CheckConclusion::{self, Failure, Success};
    use pretty_assertions::assert_eq;

    #[test]
    fn nothing_passes_without_a_verdict_of_a_whole_run() {
        let check = |word, verdict: Option<CheckVerdict>, reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            let summary = "\nFine.\n\n- more".to_owned();
            let outcome = Outcome { word, verdict, reason, summary, ..sample::outcome() };
            (conclusion(&outcome), title(&outcome))
        };
        let is = |conclusion, title: &str| (conclusion, title.to_owned());
        use OutcomeWord::{BudgetExhausted, Done, Partial};
        assert_eq!(check(Done, Some(Pass), None), is(Success, "pass: Fine."));
        assert_eq!(check(Done, Some(Fail), None), is(Failure, "fail: Fine."));
        assert_eq!(
            check(Done, Some(Neutral), None),
            is(CheckConclusion::Neutral, "neutral: Fine.")
        );
        assert_eq!(check(Done, None, None), is(Failure, "no verdict: the model gave none"));
        let why = Some("half of it is left");
        assert_eq!(check(Partial, Some(Pass), why), is(Failure, "no verdict: half of it is left"));
        assert_eq!(check(Partial, Some(Fail), why), is(Failure, "fail: Fine."));
        let (ended, said) = check(BudgetExhausted, Some(Neutral), None);
        assert!(ended == Failure && said.starts_with("no verdict: "), "{said}");
    }
}
