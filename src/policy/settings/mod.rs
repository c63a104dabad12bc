//! Reads everything of a policy file but its rules: triggers, modes, commands, budget, publishing.
//!
//! In: the opened file. Out: a `PolicySpec`; whatever is missing has its default. What is said of
//! each key here is what `locum schema policy` says of it.

mod budget;
mod commands;
mod counts;
mod events;
mod logins;
mod modes;
mod network;
mod publish;
mod review;
mod triggers;
mod variables;

use crate::schema::{OnHold, OnQuestion, PolicySpec, SourceVisibility};
use crate::settings::budget::budget;
use crate::settings::commands::commands;
use crate::settings::events::repairs;
use crate::settings::modes::modes;
use crate::settings::network::{mcp, network};
use crate::settings::publish::publish;
use crate::settings::review::review;
use crate::settings::triggers::triggers;
use locum_files::section::{Mapping, Section};
use locum_files::shape::OneOf;

/// Reads the settings of a policy file.
pub fn read_settings(file: &mut Section<'_>) -> PolicySpec {
    let mut spec = PolicySpec::default();
    let about = "Who may start what; what is not named here starts nothing.";
    file.set("triggers", about, Mapping("triggers", triggers), &mut spec.triggers);
    let about = "How failed checks are repaired, where `triggers.ci_failure` starts that.";
    file.set("ci", about, Mapping("ci", repairs), &mut spec.triggers.repairs);
    file.set(
        "modes",
        "Which modes may run and how they follow each other.",
        Mapping("modes", modes),
        &mut spec.modes,
    );
    file.set("commands", "How commands run.", Mapping("commands", commands), &mut spec.commands);
    let about = "Hosts that commands may reach where `commands.network` is `policy`.";
    file.set("network", about, Mapping("network", network), &mut spec.network);
    file.set("mcp", "What MCP servers are given.", Mapping("mcp", mcp), &mut spec.mcp);
    if let Some((run, together)) = file.key(
        "budget",
        "What a run may spend; every limit is a hard stop.",
        Mapping("budget", budget),
    ) {
        (spec.budget, spec.spending_limits) = (run, together);
    }
    let on_hold = OneOf(&[("pause", OnHold::Pause), ("refuse", OnHold::Refuse)]);
    file.set(
        "on_hold",
        "When a rule says hold: end the run as `on-hold`, or tell the model no and go on.",
        on_hold,
        &mut spec.on_hold,
    );
    let questions = OneOf(&[
        ("comment", OnQuestion::Comment),
        ("first", OnQuestion::First),
        ("fail", OnQuestion::Fail),
    ]);
    let about = "When a model asks: end the run with the question, take the first suggestion, or \
                 end it as failed.";
    file.set("questions", about, questions, &mut spec.questions);
    let source =
        OneOf(&[("public", SourceVisibility::Public), ("private", SourceVisibility::Private)]);
    spec.source = file.key(
        "source",
        "Who may see the source: private source counts as something worth taking.",
        source,
    );
    file.set(
        "publish",
        "What is published and how.",
        Mapping("publish", publish),
        &mut spec.publish,
    );
    let about = "What of a review's findings becomes comments on lines.";
    file.set("review", about, Mapping("review", review), &mut spec.review);
    spec
}
