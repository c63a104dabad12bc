//! What the policy refused and what people approved, in folds.

use std::collections::BTreeSet;

use crate::report::figures;
use crate::report::surface::Surface;
use crate::report::waiting::verdict_lines;
use crate::session::outcome::{Outcome, RefusedCall};

/// Most refusals, and most approvals, in a list.
const REFUSAL_LIMIT: usize = 12;

/// Returns every refused call with rule and line, those that are the same as one entry; empty when
/// there are none.
pub(super) fn refused(outcome: &Outcome, surface: Surface) -> String {
    let calls: Vec<RefusedCall> =
        outcome.refusals.iter().filter(|call| !call.performed).cloned().collect();
    let title = format!("Refused{}", figures::refusals(&calls));
    listed(&calls, &title, surface)
}

/// Returns what calls wrote that the policy does not allow, in the same form.
pub(super) fn kept_out(outcome: &Outcome, surface: Surface) -> String {
    let calls: Vec<RefusedCall> =
        outcome.refusals.iter().filter(|call| call.performed).cloned().collect();
    let files: BTreeSet<&str> = calls
        .iter()
        .flat_map(|call| &call.refusal.verdicts)
        .map(|verdict| verdict.intent.as_str())
        .collect();
    let title = format!("Not allowed to be written: {}", figures::count(files.len(), "file"));
    listed(&calls, &title, surface)
}

fn listed(calls: &[RefusedCall], title: &str, surface: Surface) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let groups = figures::grouped(calls);
    let lines =
        surface.listed(&groups, REFUSAL_LIMIT, |(call, count)| refusal(call, *count, surface));
    surface.fold(title, &lines)
}

fn refusal(call: &RefusedCall, count: usize, surface: Surface) -> String {
    let (headline, mode) = (surface.code(&call.headline), surface.words(&call.mode));
    let mut lines = vec![format!("- {headline} in mode {mode}{}", figures::times(count))];
    lines.extend(figures::denied(call).map(|said| format!("  - {}", surface.words(&said))));
    lines.extend(verdict_lines(&call.refusal.verdicts, surface, "  - "));
    let hint = call.refusal.hint.as_ref();
    lines.extend(hint.map(|hint| format!("  - instead: {}", surface.words(hint))));
    lines.join("\n")
}

/// Returns the held calls that were approved, one entry each; empty when there are none.
pub(super) fn approved(outcome: &Outcome, surface: Surface) -> String {
    if outcome.approved.is_empty() {
        return String::new();
    }
    let lines = surface.listed(&outcome.approved, REFUSAL_LIMIT, |call| {
        format!(
            "- {}, approved by {} (hold {})",
            surface.code(&call.headline),
            surface.code(&call.approval.by),
            surface.code(&call.approval.hold)
        )
    });
    let title = format!("Approved by people: {}", figures::count(outcome.approved.len(), "call"));
    surface.fold(&title, &lines)
}
