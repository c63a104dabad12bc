//! Reads `modes`: which may run, how they follow each other, which risks they may take.

use crate::exposure::{EVERY_MODE, REASON};
use crate::schema::{Delegation, ModeRules, Switching};
use locum_files::rejection::Rejection;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{AnyText, MapOf, OneOf, OneOrMany, WholeNumber};

/// Deepest nesting of sub-tasks that a policy can allow.
const DEPTH_LIMIT: u32 = 16;

/// Most sub-tasks of one run that a policy can allow.
const TASKS_LIMIT: u32 = 10_000;

/// Most sub-tasks at once that a policy can allow: each has a worktree and a conversation.
const PARALLEL_LIMIT: u32 = 32;

pub(super) fn modes(section: &mut Section<'_>) -> ModeRules {
    let mut found = ModeRules::default();
    section.set(
        "default",
        "The mode of a run that names none; has to be allowed.",
        AnyText,
        &mut found.default,
    );
    section.set(
        "allow",
        "Modes that may run at all, by slug.",
        OneOrMany(AnyText),
        &mut found.allow,
    );
    if !found.allow.contains(&found.default) {
        let key = if section.has("default") { "default" } else { "allow" };
        let why = Rejection::from(format!("the default mode `{}` is not allowed", found.default));
        section.wrong(
            section.place_of(key),
            why.hint("add it to `modes.allow`, or name another `default`"),
        );
    }
    let switching = OneOf(&[
        ("coordinator", Switching::Coordinator),
        ("direct", Switching::Direct),
        ("off", Switching::Off),
        ("false", Switching::Off),
    ]);
    section.set(
        "switching",
        "Which modes may switch the mode of a task: the coordinator, all, none.",
        switching,
        &mut found.switching,
    );
    let about =
        "For a mode, the modes it may be followed by; any allowed mode for those not named here.";
    found.transitions =
        section.key("transitions", about, MapOf(OneOrMany(AnyText))).unwrap_or_default();
    let about = "For a mode, or `*` for all: why it may have strangers' text, secrets and a free \
                 way out together.";
    found.accept_risk = section.key("accept_risk", about, MapOf(REASON)).unwrap_or_default();
    for mode in
        found.accept_risk.keys().filter(|mode| *mode != EVERY_MODE && !found.allow.contains(mode))
    {
        let why =
            Rejection::from(format!("`accept_risk` names `{mode}`, which is not in `modes.allow`"));
        section.wrong(section.place_of("accept_risk"), why);
    }
    section.set(
        "delegation",
        "Limits on sub-tasks.",
        Mapping("delegation", delegation),
        &mut found.delegation,
    );
    found
}

fn delegation(section: &mut Section<'_>) -> Delegation {
    let mut found = Delegation::default();
    section.set("from", "Modes that may start sub-tasks.", OneOrMany(AnyText), &mut found.from);
    let up_to = |most| WholeNumber { least: 0, most };
    section.set("depth", "How deep sub-tasks nest.", up_to(DEPTH_LIMIT), &mut found.depth);
    section.set("tasks", "Sub-tasks of one run.", up_to(TASKS_LIMIT), &mut found.tasks);
    section.set("parallel", "Sub-tasks at once.", up_to(PARALLEL_LIMIT), &mut found.parallel);
    found
}
