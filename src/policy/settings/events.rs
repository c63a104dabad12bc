//! Reads what events of the repository start: `triggers.pull_request`, `triggers.push` and their
//! like, each one entry or a list of them.

use crate::glob::PathGlob;
use crate::intent::TriggerKind;
use crate::schema::events::{EventRule, RepairRules, actions_of};
use crate::settings::logins::{LABEL, LOGIN, tiers};
use locum_files::section::{Mapping, Section};
use locum_files::shape::{AnyText, AtLeastOne, Boolean, OneOf, OneOrMany, ParsedText, WholeNumber};

/// Reads every kind of event.
pub(super) fn rules(section: &mut Section<'_>) -> Vec<EventRule> {
    type Read = fn(&mut Section<'_>) -> EventRule;
    let kinds: [(&'static str, &str, Read); 6] = [
        ("pull_request", "Pull requests that are opened, pushed to or labelled.", pull_request),
        ("ci_failure", "Failed checks of Locum's own pull requests, or of labelled ones.", failure),
        ("push", "Branches that are pushed to.", push),
        ("release", "Releases that are published.", release),
        ("merge_group", "Merge queues that ask for checks.", merge_group),
        ("repository_dispatch", "Events that another program sends.", repository_dispatch),
    ];
    let mut rules = Vec::new();
    for (key, about, read) in kinds {
        let about = format!("{about} One entry, or a list: the first that fits counts.");
        rules.extend(section.key(key, &about, OneOrMany(Mapping(key, read))).unwrap_or_default());
    }
    rules
}

/// Reads how failed checks are repaired.
pub(super) fn repairs(section: &mut Section<'_>) -> RepairRules {
    let mut rules = RepairRules::default();
    let about = "Runs that try to repair one pull request; then it is handed over.";
    section.set("attempts", about, WholeNumber { least: 0, most: 20 }, &mut rules.attempts);
    let about = "How often failed jobs of a workflow are run again before a model is asked.";
    section.set("reruns", about, WholeNumber { least: 0, most: 5 }, &mut rules.reruns);
    rules
}

fn pull_request(section: &mut Section<'_>) -> EventRule {
    let mut rule = EventRule { kind: TriggerKind::PullRequest, ..EventRule::default() };
    rule.actions = actions(section, rule.kind);
    rule.branches = branches(section, "Target branches that count.");
    rule.paths = paths(section);
    authors(section, &mut rule);
    section.set("draft", "Whether drafts count as well.", Boolean, &mut rule.drafts);
    let about = "A label that the pull request has; for `labeled`, the one that was put on.";
    rule.label = section.key("label", about, LABEL);
    started(section, &mut rule, "`review` when absent, and nothing where `checks` stands alone.");
    let about = "Checks that it starts, by name: files of `.locum/checks` without their ending, \
                 `all` of them, and `policy` for the policy that a pull request changes.";
    rule.checks = section.key("checks", about, AtLeastOne(AnyText)).unwrap_or_default();
    rule
}

fn failure(section: &mut Section<'_>) -> EventRule {
    let mut rule = EventRule { kind: TriggerKind::CiFailure, ..EventRule::default() };
    let about = "Workflows whose failure counts, by name, or apps by slug; all when absent.";
    rule.workflows = section.key("workflows", about, AtLeastOne(AnyText)).unwrap_or_default();
    rule.branches = branches(section, "Branches of pull requests that count.");
    let about = "A label that lets a pull request of somebody else be repaired; without it only \
                 Locum's own are.";
    rule.label = section.key("label", about, LABEL);
    started(section, &mut rule, "`debug` when absent.");
    rule
}

fn push(section: &mut Section<'_>) -> EventRule {
    let mut rule = EventRule { kind: TriggerKind::Push, ..EventRule::default() };
    rule.branches = branches(section, "Branches that count; the default branch when absent.");
    rule.paths = paths(section);
    with_work(section, &mut rule);
    rule
}

fn release(section: &mut Section<'_>) -> EventRule {
    let mut rule = EventRule { kind: TriggerKind::Release, ..EventRule::default() };
    rule.actions = actions(section, rule.kind);
    with_work(section, &mut rule);
    rule
}

fn merge_group(section: &mut Section<'_>) -> EventRule {
    let mut rule = EventRule { kind: TriggerKind::MergeGroup, ..EventRule::default() };
    rule.branches = branches(section, "Target branches that count.");
    with_work(section, &mut rule);
    rule
}

fn repository_dispatch(section: &mut Section<'_>) -> EventRule {
    let mut rule = EventRule { kind: TriggerKind::RepositoryDispatch, ..EventRule::default() };
    let about = "Types of the event that count; all when absent.";
    rule.actions = section.key("types", about, AtLeastOne(AnyText)).unwrap_or_default();
    let about =
        "Mode of the run; else the event's `client_payload.mode`, else the policy's default.";
    mode(section, &mut rule, about);
    let about = "Work for a model; else the event's `client_payload.task`.";
    rule.task = section.key("task", about, AnyText);
    let about = "Job that is started, by name; else the event's `client_payload.job`.";
    rule.job = section.key("job", about, AnyText);
    rule.tiers = tiers(section);
    rule
}

fn mode(section: &mut Section<'_>, rule: &mut EventRule, about: &str) {
    rule.mode = section.key("mode", about, AnyText);
    rule.mode_place = section.place_of("mode");
}

/// Reads what an event starts on a pull request: a mode, which has its task from the event.
fn started(section: &mut Section<'_>, rule: &mut EventRule, default_mode: &str) {
    mode(section, rule, &format!("Mode of the run; {default_mode}"));
    let about = "Work for a model, in place of what the event says.";
    rule.task = section.key("task", about, AnyText);
    rule.job = section.key("job", "Job that is started, by name, in place of a mode.", AnyText);
    rule.tiers = tiers(section);
}

/// Reads what an event starts that says nothing of what is to be done.
fn with_work(section: &mut Section<'_>, rule: &mut EventRule) {
    section.exactly_one(&["job", "task"]);
    rule.job = section.key("job", "Job that is started, by name.", AnyText);
    rule.task = section.key("task", "Work for a model.", AnyText);
    let about = "Mode of the run; the job's own or the policy's default when absent.";
    mode(section, rule, about);
    rule.tiers = tiers(section);
}

fn actions(section: &mut Section<'_>, kind: TriggerKind) -> Vec<String> {
    let (known, default) = actions_of(kind);
    let words: Vec<(&str, &str)> = known.iter().map(|one| (*one, *one)).collect();
    let default: Vec<&str> = known.iter().take(default).copied().collect();
    let about = format!("Actions that count; {} when absent.", default.join(", "));
    let named = section.key("on", &about, AtLeastOne(OneOf(&words)));
    named.into_iter().flatten().map(str::to_owned).collect()
}

fn authors(section: &mut Section<'_>, rule: &mut EventRule) {
    let about = "Logins of authors whose pull requests count; all when absent.";
    rule.authors = section.key("authors", about, AtLeastOne(LOGIN)).unwrap_or_default();
}

fn branches(section: &mut Section<'_>, about: &str) -> Vec<PathGlob> {
    section.key("branches", about, AtLeastOne(GLOB)).unwrap_or_default()
}

fn paths(section: &mut Section<'_>) -> Vec<PathGlob> {
    let about = "Counts only if one of these paths was changed.";
    section.key("paths", about, AtLeastOne(GLOB)).unwrap_or_default()
}

/// A pattern of paths or branches.
const GLOB: ParsedText<PathGlob> = ParsedText {
    parse: |text| Ok(PathGlob::parse(text)?),
    write: None,
    pattern: "^[^/~].*$",
    example: "src/**",
};
