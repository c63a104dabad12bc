//! Reads `budget`: what a run, and what runs together may spend.

use crate::budget::Budget;
use crate::settings::counts::ANY_COUNT;
use crate::spending_limit::{SpendingLimit, SpendingLimits};
use locum_files::section::{Mapping, Section};
use locum_files::shape::{NumberWithin, WholeNumber};

pub(super) fn budget(section: &mut Section<'_>) -> (Budget, SpendingLimits) {
    let mut found = Budget::default();
    section.set("turns", "Replies of models.", ANY_COUNT, &mut found.turns);
    section.set("tool_calls", "Tool calls.", ANY_COUNT, &mut found.tool_calls);
    section.set(
        "tokens",
        "Tokens, input and output together.",
        WholeNumber { least: 0, most: u64::MAX },
        &mut found.tokens,
    );
    section.set(
        "cost_usd",
        "US dollars by the price table.",
        NumberWithin { least: 0.0, most: 1_000_000.0 },
        &mut found.cost_usd,
    );
    section.set("minutes", "Minutes of wall time.", ANY_COUNT, &mut found.minutes);
    section.set("files", "Changed files.", ANY_COUNT, &mut found.files);
    section.set(
        "diff_lines",
        "Added and removed lines together.",
        ANY_COUNT,
        &mut found.diff_lines,
    );
    let mut together = SpendingLimits::default();
    let about = "What all runs that begin on one day (UTC) may spend together.";
    section.set("daily", about, Mapping("daily", spending_limit), &mut together.daily);
    let about = "What all runs on one issue or pull request may spend together.";
    section.set(
        "per_thread",
        about,
        Mapping("per_thread", spending_limit),
        &mut together.per_thread,
    );
    (found, together)
}

fn spending_limit(section: &mut Section<'_>) -> SpendingLimit {
    SpendingLimit {
        runs: section.key("runs", "Runs that begin.", WholeNumber { least: 0, most: u64::MAX }),
        tokens: section.key(
            "tokens",
            "Tokens, input and output together.",
            WholeNumber { least: 0, most: u64::MAX },
        ),
        cost_usd: section.key(
            "cost_usd",
            "US dollars by the price table.",
            NumberWithin { least: 0.0, most: 1_000_000.0 },
        ),
    }
}
