//! The rule of two: whoever steers a run with text of their own must not find both something worth
//! taking and a way to carry it off.
//!
//! In: a policy's settings and rules. Out: the modes in which a run meets strangers' text, reaches
//! secrets or private data, and has a free way out, all three at once. Two of them are fine. It
//! judges what the rules give, for each mode and each way a run may start; it does not know which
//! tools a mode has.

use crate::actors::Tier;
use crate::intent::TriggerKind;
use crate::kind::RuleKind;
use crate::paths::Protection;
use crate::pattern::{Pattern, PatternSubject};
use crate::rule::{LocatedPattern, Rule, TRIGGERS, trigger_word};
use crate::schema::{CommandNetwork, PolicySpec, SandboxSetting, SourceVisibility};
use crate::verdict::Decision;
use crate::words;
use locum_base::path::RepoPath;
use locum_files::position::Position;
use locum_files::rejection::Rejection;
use locum_files::shape::ParsedText;

/// Matches every mode in `modes.accept_risk`.
pub const EVERY_MODE: &str = "*";

/// Fewest words that count as a reason.
const WORDS_LEAST: usize = 4;

/// Variables that only configure how commands run and hold nothing worth taking.
const HARMLESS_VARIABLES: &str = "\
    PATH HOME USER LOGNAME SHELL TERM TZ LANG LANGUAGE TMPDIR CI NO_COLOR FORCE_COLOR \
    CLICOLOR CLICOLOR_FORCE DEBIAN_FRONTEND SOURCE_DATE_EPOCH CARGO_HOME RUSTUP_HOME \
    RUSTUP_TOOLCHAIN CARGO_TARGET_DIR CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_NET_OFFLINE \
    RUSTFLAGS RUST_BACKTRACE RUST_LOG GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS GOTOOLCHAIN \
    JAVA_HOME GRADLE_USER_HOME MAVEN_OPTS NODE_ENV NODE_PATH NVM_DIR PNPM_HOME COREPACK_HOME \
    NPM_CONFIG_CACHE PYTHONPATH PYTHONHASHSEED PYTHONDONTWRITEBYTECODE VIRTUAL_ENV \
    PYENV_ROOT PIP_CACHE_DIR UV_CACHE_DIR UV_OFFLINE CC CXX CFLAGS CXXFLAGS LDFLAGS \
    MAKEFLAGS PKG_CONFIG_PATH";

/// Folders of the machine that hold programs and certificates.
const HARMLESS_FOLDERS: &[&str] = &[
    "usr/",
    "opt/",
    "lib/",
    "lib64/",
    "bin/",
    "sbin/",
    "nix/store/",
    "etc/ssl/certs/",
    "etc/ca-certificates/",
];

/// Modes that have all three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// The modes, by slug.
    pub modes: Vec<String>,
    /// What comes together, as text.
    pub what: String,
    /// Where the way out stands; line 0 where it is in the settings.
    pub place: Position,
}

/// A sentence that accepts a risk.
pub(crate) const REASON: ParsedText<String> = ParsedText {
    parse: |text| {
        let good =
            text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count()
                >= WORDS_LEAST;
        let why = || {
            Rejection::from(format!("`{text}` is not a reason"))
                .hint("write a sentence: why is it fine here, and who looks after it")
        };
        good.then(|| text.to_owned()).ok_or_else(why)
    },
    write: None,
    pattern: r"^\s*(\S+\s+){3,}\S+\s*$",
    example: "the server holds public data only",
};

/// What one mode has in runs that start in one way.
#[derive(Default)]
struct ModeReach {
    hostile: Vec<String>,
    private: Vec<String>,
    ways_out: Vec<(String, Position)>,
}

impl ModeReach {
    fn is_whole(&self) -> bool {
        !self.hostile.is_empty() && !self.private.is_empty() && !self.ways_out.is_empty()
    }
}

/// Returns the modes that have all three, those with the same things together; also those whose
/// risk is accepted.
pub fn exposures(spec: &PolicySpec, rules: &[Rule]) -> Vec<Exposure> {
    let mut found: Vec<Exposure> = Vec::new();
    let effective_rules = effective_rules(rules);
    for mode in &spec.modes.allow {
        let reaches = starts(spec)
            .into_iter()
            .rev()
            .map(|(trigger, text)| (trigger, reach(spec, &effective_rules, mode, trigger, text)));
        // Of several ways to start, the one with the most text of strangers is reported.
        let widest = reaches
            .filter(|(_, reach)| reach.is_whole())
            .max_by_key(|(_, reach)| reach.hostile.len());
        let Some((trigger, reach)) = widest else { continue };
        let what = describe(trigger, &reach);
        match found.iter_mut().find(|one| one.what == what) {
            Some(one) => one.modes.push(mode.clone()),
            None => {
                let place = reach
                    .ways_out
                    .iter()
                    .map(|(_, place)| *place)
                    .find(|place| place.line > 0)
                    .unwrap_or_default();
                found.push(Exposure { modes: vec![mode.clone()], what, place });
            }
        }
    }
    found
}

/// Returns what would come together in runs started in a way that brings no strangers' text, if one
/// looked at some all the same. Source that the policy does not mention counts as private.
pub fn with_text(spec: &PolicySpec, rules: &[Rule], trigger: TriggerKind) -> Option<String> {
    if starts(spec).iter().any(|(kind, text)| *kind == trigger && text.is_some()) {
        return None;
    }
    let spec =
        PolicySpec { source: spec.source.or(Some(SourceVisibility::Private)), ..spec.clone() };
    let effective_rules = effective_rules(rules);
    let modes = spec.modes.allow.iter().filter(|mode| accepted(&spec, mode).is_none());
    let mut reaches =
        modes.map(|mode| reach(&spec, &effective_rules, mode, trigger, Some("issues")));
    reaches.find(ModeReach::is_whole).map(|reach| describe(trigger, &reach))
}

/// Returns the reason a mode's risk is accepted for.
pub fn accepted<'s>(spec: &'s PolicySpec, mode: &str) -> Option<&'s str> {
    let accepted = &spec.modes.accept_risk;
    accepted.get(mode).or_else(|| accepted.get(EVERY_MODE)).map(String::as_str)
}

/// Returns how a run may start under this policy, and which of its text strangers write. A user at
/// the command line may always start one.
pub(crate) fn starts(spec: &PolicySpec) -> Vec<(TriggerKind, Option<&'static str>)> {
    let triggers = &spec.triggers;
    let someone = |tiers: &[Tier]| {
        !tiers.is_empty() || !triggers.users.is_empty() || !triggers.bots.is_empty()
    };
    let kinds = TRIGGERS.iter().map(|(_, kind)| match kind {
        TriggerKind::Local => (*kind, true, None),
        TriggerKind::Comment => (
            *kind,
            triggers.comment.as_ref().is_some_and(|comment| someone(&comment.tiers)),
            Some("comments and issues"),
        ),
        TriggerKind::Label => (
            *kind,
            triggers.label.as_ref().is_some_and(|label| someone(&label.tiers)),
            Some("issues"),
        ),
        TriggerKind::Assign => (
            *kind,
            triggers.assign.as_ref().is_some_and(|assign| someone(&assign.tiers)),
            Some("issues"),
        ),
        TriggerKind::Dispatch => (*kind, !triggers.dispatch_tiers.is_empty(), None),
        TriggerKind::Schedule => (*kind, !triggers.schedule_jobs.is_empty(), None),
        TriggerKind::PullRequest
        | TriggerKind::CiFailure
        | TriggerKind::Push
        | TriggerKind::Release
        | TriggerKind::MergeGroup
        | TriggerKind::RepositoryDispatch => (
            *kind,
            // A failed check of our own pull request has no actor.
            triggers
                .rules_for(*kind)
                .any(|rule| *kind == TriggerKind::CiFailure || someone(&rule.tiers)),
            text_of_strangers(*kind),
        ),
    });
    kinds.filter(|(_, starts, _)| *starts).map(|(kind, _, text)| (kind, text)).collect()
}

/// Returns what strangers write of what an event of the repository brings along.
fn text_of_strangers(kind: TriggerKind) -> Option<&'static str> {
    match kind {
        TriggerKind::PullRequest => Some("pull requests"),
        TriggerKind::CiFailure => Some("the output of checks"),
        _ => None,
    }
}

fn reach(
    spec: &PolicySpec,
    effective_rules: &[(&Rule, &LocatedPattern)],
    mode: &str,
    trigger: TriggerKind,
    text: Option<&str>,
) -> ModeReach {
    let mut reach = ModeReach {
        hostile: text.map(str::to_owned).into_iter().collect(),
        ..ModeReach::default()
    };
    if spec.source == Some(SourceVisibility::Private) {
        reach.private.push("`source: private`".to_owned());
    }
    let counts = |rule: &Rule| {
        (rule.narrowing.modes.is_empty() || rule.narrowing.modes.iter().any(|one| one == mode))
            && (rule.narrowing.triggers.is_empty() || rule.narrowing.triggers.contains(&trigger))
    };
    let mut commands = false;
    for (rule, written) in effective_rules.iter().filter(|(rule, _)| counts(rule)) {
        commands |= written.pattern.kind == RuleKind::Command;
        of_pattern(written, rule.protected, &mut reach);
    }
    if commands {
        of_commands(spec, &mut reach);
    }
    reach
}

fn of_pattern(written: &LocatedPattern, opens_protected: bool, reach: &mut ModeReach) {
    let shown = format!("`{}`", written.text);
    let Pattern { kind, subject } = &written.pattern;
    match subject {
        PatternSubject::Url(pattern) => {
            if pattern.has_wildcard() {
                reach.ways_out.push((shown.clone(), written.place));
            }
            reach.hostile.push(shown);
        }
        PatternSubject::Query(pattern) => {
            if pattern.contains(['*', '?']) {
                reach.ways_out.push((shown.clone(), written.place));
            }
            reach.hostile.push(shown);
        }
        PatternSubject::Name(pattern) if *kind == RuleKind::Mcp => {
            if pattern.split('/').next().is_some_and(|server| server.contains(['*', '?'])) {
                reach.ways_out.push((shown.clone(), written.place));
            }
            reach.hostile.push(shown.clone());
            reach.private.push(shown);
        }
        PatternSubject::Path(glob) if *kind == RuleKind::Read => {
            let secret = RepoPath::parse(&glob.text())
                .is_ok_and(|path| Protection::default().of_read(&path).is_some());
            if opens_protected && secret {
                reach.private.push(shown);
            }
        }
        PatternSubject::Path(_)
        | PatternSubject::Command(_)
        | PatternSubject::Name(_)
        | PatternSubject::Publication(_) => {}
    }
}

fn of_commands(spec: &PolicySpec, reach: &mut ModeReach) {
    let commands = &spec.commands;
    match commands.network {
        CommandNetwork::Off => {}
        CommandNetwork::Listed => {
            for host in &spec.network.allow {
                let shown = format!("`network.allow: {}`", host.text);
                if host.pattern.has_wildcard() {
                    reach.ways_out.push((shown.clone(), host.place));
                }
                reach.hostile.push(shown);
            }
        }
        CommandNetwork::Open => {
            reach.hostile.push("`commands.network: open`".to_owned());
            reach.ways_out.push(("`commands.network: open`".to_owned(), Position::default()));
        }
    }
    let harmless = |name: &str| words::holds(HARMLESS_VARIABLES, name) || name.starts_with("LC_");
    reach.private.extend(
        commands
            .env
            .iter()
            .filter(|name| !harmless(name))
            .map(|name| format!("`commands.env: {name}`")),
    );
    let harmless = |path: &str| HARMLESS_FOLDERS.iter().any(|folder| path.starts_with(folder));
    let folders = commands.reads.iter().map(|glob| glob.text()).filter(|path| !harmless(path));
    reach.private.extend(folders.map(|path| format!("`commands.reads: /{path}`")));
    match commands.sandbox {
        SandboxSetting::Required => {}
        SandboxSetting::BestEffort => {
            reach.private.push("`commands.sandbox: best-effort`".to_owned())
        }
        SandboxSetting::Off => reach.private.push("`commands.sandbox: off`".to_owned()),
    }
}

/// Returns what is allowed and may matter here. A rule that refuses the whole of a pattern, always,
/// takes it away.
fn effective_rules(rules: &[Rule]) -> Vec<(&Rule, &LocatedPattern)> {
    let always = |rule: &&Rule| {
        rule.decision == Decision::Deny && rule.narrowing.is_empty() && rule.except.is_empty()
    };
    let denied: Vec<&LocatedPattern> =
        rules.iter().filter(always).flat_map(|rule| &rule.patterns).collect();
    let matters = |pattern: &Pattern| match pattern.kind {
        RuleKind::Fetch
        | RuleKind::Search
        | RuleKind::Browse
        | RuleKind::Mcp
        | RuleKind::Read
        | RuleKind::Command => true,
        RuleKind::Edit
        | RuleKind::Mode
        | RuleKind::Delegate
        | RuleKind::Expert
        | RuleKind::MemoryRead
        | RuleKind::MemoryWrite
        | RuleKind::Publish => false,
    };
    let allowed = rules.iter().filter(|rule| rule.decision == Decision::Allow);
    let written = allowed.flat_map(|rule| rule.patterns.iter().map(move |written| (rule, written)));
    let stands = |pattern: &Pattern| !denied.iter().any(|denied| denied.pattern.covers(pattern));
    written.filter(|(_, written)| matters(&written.pattern) && stands(&written.pattern)).collect()
}

fn describe(trigger: TriggerKind, reach: &ModeReach) -> String {
    let word = trigger_word(trigger);
    let ways_out: Vec<String> = reach.ways_out.iter().map(|(shown, _)| shown.clone()).collect();
    format!(
        "strangers' text ({}), secrets or private data ({}) and a free way out ({}) come together \
         in runs started by `{word}`",
        listed(&reach.hostile),
        listed(&reach.private),
        listed(&ways_out)
    )
}

/// Names a few of many.
fn listed(all: &[String]) -> String {
    const SHOWN: usize = 3;
    let more = all.len().saturating_sub(SHOWN);
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests;
