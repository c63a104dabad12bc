//! Reads `triggers`: who may start what, and who decides on held calls.

use crate::actors::Tier;
use crate::schema::{AssignTrigger, CommentTrigger, Forks, LabelTrigger, Triggers};
use crate::settings::events;
use crate::settings::logins::{BOT, LABEL, LOGIN, USER, tiers};
use locum_files::rejection::Rejection;
use locum_files::section::{Mapping, Section};
use locum_files::shape::{AnyText, Boolean, MappingOr, OneOf, OneOrMany, ParsedText};

pub(super) fn triggers(section: &mut Section<'_>) -> Triggers {
    let mut found = Triggers { comment: None, ..Triggers::default() };
    found.comment =
        section.key("comment", "Comments that start with a command.", Mapping("comment", comment));
    found.label =
        section.key("label", "A label put on an issue or pull request.", Mapping("label", label));
    found.assign =
        section.key("assign", "An issue that is assigned to somebody.", Mapping("assign", assign));
    let about = "People that may start runs by comment, label, assignment and hand, whatever \
                 their tier is.";
    found.users = listed(section, "users", about, |users| {
        let about =
            "People by login, `bob`, or better with the number of their account, `bob:583231`.";
        users.key("allow", about, OneOrMany(USER))
    });
    let about = "Runs started by a schedule, and the page that shows them.";
    if let Some((jobs, dashboard)) = section.key("schedule", about, Mapping("schedule", schedule)) {
        (found.schedule_jobs, found.dashboard) = (jobs, dashboard);
    }
    let about = "Runs started by `workflow_dispatch`.";
    found.dispatch_tiers = listed(section, "dispatch", about, |dispatch| Some(tiers(dispatch)));
    found.events = events::rules(section);
    let approve = |section: &mut Section<'_>| {
        let mut tiers = vec![Tier::Maintainer];
        section.set(
            "tiers",
            "Tiers that may approve or deny a held call.",
            OneOrMany(OneOf(APPROVERS)),
            &mut tiers,
        );
        tiers
    };
    section.set(
        "approve",
        "Who decides on held calls, by a comment.",
        Mapping("approve", approve),
        &mut found.approve_tiers,
    );
    found.bots = listed(section, "bots", "Bots that may start runs.", |bots| {
        let about = "Logins of bots that may start runs, such as `renovate[bot]`.";
        bots.key("allow", about, OneOrMany(BOT))
    });
    let forks =
        OneOf(&[("deny", Forks::Deny), ("read-only", Forks::ReadOnly), ("allow", Forks::Allow)]);
    let contained = |section: &mut Section<'_>| {
        let about = "Whether commands that only look are joined by contained ones.";
        let mut forks = Forks::ReadOnly;
        let choices = OneOf(&[("words", Forks::ReadOnly), ("allow", Forks::Contained)]);
        section.set("contained", about, choices, &mut forks);
        forks
    };
    let forks = MappingOr(Mapping("forks", contained), forks);
    section.set("forks", "What pull requests from forks may start.", forks, &mut found.forks);
    found
}

/// No other tier decides on a hold, whatever the policy says of who may ask.
const APPROVERS: &[(&str, Tier)] =
    &[("maintainer", Tier::Maintainer), ("collaborator", Tier::Collaborator)];

/// Reads a mapping that holds one list.
fn listed<T>(
    section: &mut Section<'_>,
    key: &'static str,
    about: &str,
    inner: fn(&mut Section<'_>) -> Option<Vec<T>>,
) -> Vec<T> {
    section.key(key, about, Mapping(key, inner)).flatten().unwrap_or_default()
}

fn comment(section: &mut Section<'_>) -> CommentTrigger {
    let mut prefix = "/locum".to_owned();
    section.set("prefix", "The word a command starts with.", PREFIX, &mut prefix);
    CommentTrigger { prefix, tiers: tiers(section) }
}

fn schedule(section: &mut Section<'_>) -> (Vec<String>, bool) {
    let about = "Jobs the schedule may start, by name.";
    let jobs = section.key("jobs", about, OneOrMany(AnyText)).unwrap_or_default();
    let about = "Whether an issue shows the jobs. Who may start a run by hand (`dispatch`) starts \
                 one by a box there.";
    let mut dashboard = false;
    section.set("dashboard", about, Boolean, &mut dashboard);
    (jobs, dashboard)
}

fn label(section: &mut Section<'_>) -> LabelTrigger {
    let name = section.required("name", "The label's name.", LABEL).unwrap_or_default();
    LabelTrigger { name, tiers: tiers(section) }
}

fn assign(section: &mut Section<'_>) -> AssignTrigger {
    let login = section
        .required("login", "Who the issue has to be assigned to.", LOGIN)
        .unwrap_or_default();
    AssignTrigger { login, tiers: tiers(section) }
}

const PREFIX: ParsedText<String> = ParsedText {
    parse: |text| {
        let good = text.len() > 1
            && text.len() <= 40
            && text.starts_with(['/', '@', '!'])
            && !text.chars().any(char::is_whitespace);
        let why = || {
            Rejection::from(
                "`prefix` is one word that starts with `/`, `@` or `!`, such as `/locum`",
            )
        };
        good.then(|| text.to_owned()).ok_or_else(why)
    },
    write: Some(String::clone),
    pattern: r"^[/@!]\S{1,39}$",
    example: "/locum",
};
