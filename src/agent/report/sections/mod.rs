//! The sections of a report, in the one order that every surface has: why it ended so or what it
//! waits for, the result, the checks in one line, where the change went, what a person must do.
//! The rest is folded.
//!
//! In: an outcome and the surface. Out: paragraphs, each bounded by itself. The caller puts its
//! header above and its footer below, and cuts diffs to the room that is left.

pub(crate) mod changed;
pub(crate) mod checks;
pub(crate) mod cost;
mod refused;
pub(crate) mod tasks;

use crate::report::figures;
use crate::report::hindrance;
use crate::report::markdown::{address, code};
use crate::report::surface::{PHRASE_LIMIT_CHARS, Surface, join};
use crate::report::waiting::{self, DecisionChannel, TryAgain};
use crate::session::outcome::{Outcome, RefusedCall};
use crate::session::word::Severity;
use locum_policy::budget::{Budget, Spent};

/// Most notes.
const NOTE_LIMIT: usize = 3;
/// Most characters of one.
const NOTE_LIMIT_CHARS: usize = 240;
/// Fewest characters in which a result is shown, whatever else there is.
const RESULT_LEAST_CHARS: usize = 11_000;

/// The first line of a comment: what state, which mode, how much was spent, where the log is.
pub(crate) struct StateLine<'a> {
    pub(crate) state: &'a str,
    /// Whose no stands out.
    pub(crate) refused: &'a [RefusedCall],
    pub(crate) mode: &'a str,
    pub(crate) spent: &'a Spent,
    /// True when some of it is an estimate.
    pub(crate) is_estimate: bool,
    /// What may be spent, of a run at work.
    pub(crate) budget: Option<&'a Budget>,
    pub(crate) run_url: Option<&'a str>,
}

impl StateLine<'_> {
    pub(crate) fn render(&self) -> String {
        let surface = Surface::Markdown;
        let mut parts = vec![surface.strong(&format!("locum: {}", self.state))];
        parts.extend(figures::stands_out(self.refused).iter().map(|said| surface.words(said)));
        parts.push(format!("mode {}", surface.words(self.mode)));
        let cost = figures::money(self.spent.cost_usd, self.is_estimate);
        parts.extend(
            self.budget.map(|budget| format!("turn {} of {}", self.spent.turns, budget.turns)),
        );
        parts.push(self.budget.map_or_else(
            || cost.clone(),
            |budget| format!("{cost} of {}", figures::money(budget.cost_usd, false)),
        ));
        if self.spent.seconds > 0 {
            parts.push(figures::duration(self.spent.seconds));
        }
        parts.extend(self.run_url.map(|url| format!("[log]({})", address(url))));
        parts.join(" · ")
    }
}

/// Returns who wrote something for whom, and where the log is.
pub(crate) fn written_by(requested_by: Option<&str>, run_url: Option<&str>) -> String {
    let by = requested_by.map_or_else(String::new, |login| {
        format!(", asked by {}", code(&figures::clip(login, 60)))
    });
    let log = run_url.map_or_else(String::new, |url| format!(" ([log]({}))", address(url)));
    format!("Written by locum{by}{log}.")
}

/// What a report says besides the outcome.
pub(crate) struct ReportView<'a> {
    pub(crate) surface: Surface,
    /// How maintainers decide on what the run stopped for.
    pub(crate) decide: DecisionChannel<'a>,
    /// How it is started again on its thread, where that can be.
    pub(crate) again: Option<TryAgain<'a>>,
    /// Where the change went and what else its publication says, rendered; empty where nothing is
    /// known of it.
    pub(crate) published: &'a str,
    /// Most characters of all paragraphs together.
    pub(crate) room_chars: usize,
    /// Where a result that was cut is whole, as a sentence in Markdown.
    pub(crate) whole: &'a str,
}

/// A report without its diffs.
pub(crate) struct ReportParts {
    /// What every reader sees.
    pub(crate) lead: Vec<String>,
    /// What readers unfold.
    pub(crate) folds: Vec<String>,
}

impl ReportParts {
    /// Returns the parts of a report.
    pub(crate) fn of(outcome: &Outcome, view: &ReportView<'_>) -> Self {
        let surface = view.surface;
        let mut before = vec![reason(outcome, surface)];
        before.extend(waiting::waiting(outcome, surface, view.decide));
        let mut after = vec![
            checks::line(outcome, surface),
            view.published.to_owned(),
            hindrance::section(outcome, surface),
            changed::not_merged(outcome, surface),
            notes(outcome, surface),
        ];
        after.extend(waiting::going_on(outcome, surface, view.decide, view.again));
        let used = [&before, &after].into_iter().map(|part| figures::width(&join(part))).sum();
        let room_chars = view.room_chars.saturating_sub(used).max(RESULT_LEAST_CHARS);
        before.push(result(&outcome.summary, (surface, room_chars), view.whole));
        before.extend(after);
        let folds = [
            checks::output(&checks::reported(outcome), surface),
            tasks::tasks(outcome, surface),
            tasks::checklist_at_end(outcome, surface),
            refused::refused(outcome, surface),
            refused::kept_out(outcome, surface),
            refused::approved(outcome, surface),
            checks::commands(&outcome.commands, surface),
            cost::cost(outcome, surface),
        ];
        Self { lead: before, folds: folds.into_iter().filter(|fold| !fold.is_empty()).collect() }
    }
}

/// Returns why the session ended as it did; empty where what waits or the checks say it.
fn reason(outcome: &Outcome, surface: Surface) -> String {
    match figures::reason(outcome) {
        Some(reason) if outcome.word.severity() != Severity::Waits => {
            // The end of a failed step's output is in its end.
            let reason = figures::clip_middle(&reason, 2 * PHRASE_LIMIT_CHARS);
            format!("Why: {}", surface.words_within(&reason, 2 * PHRASE_LIMIT_CHARS))
        }
        Some(_) | None => String::new(),
    }
}

/// Returns the result in the model's words, cut at the end of a line where there is no room for
/// all of it.
fn result(summary: &str, (surface, room_chars): (Surface, usize), whole: &str) -> String {
    let summary = summary.trim();
    let all = surface.said(summary, usize::MAX);
    if surface == Surface::Terminal || figures::width(&all) <= room_chars {
        return all;
    }
    let total = summary.chars().count();
    let cut = |shown: usize| {
        let head: String = summary.chars().take(shown).collect();
        let head = head.rsplit_once('\n').map_or(head.as_str(), |(lines, _)| lines);
        let shown = head.chars().count();
        let note = format!("*Shortened: the first {shown} of {total} characters.* {whole}");
        join(&[surface.said(head, usize::MAX), note.trim_end().to_owned()])
    };
    let mut shown = room_chars;
    loop {
        let text = cut(shown);
        let width = figures::width(&text);
        if width <= room_chars || shown == 0 {
            return text;
        }
        shown = (shown.saturating_mul(room_chars) / width).min(shown - 1);
    }
}

/// Returns what readers have to know besides; empty when there is nothing.
fn notes(outcome: &Outcome, surface: Surface) -> String {
    surface.listed(&outcome.notes, NOTE_LIMIT, |note| {
        format!("- Note: {}", surface.words_within(note, NOTE_LIMIT_CHARS))
    })
}
